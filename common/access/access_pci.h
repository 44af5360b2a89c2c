/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the back end of PCI registers shares: 64-bit registers that can only be reached as two
 * 32-bit halves, and why a function's configuration space could not be read.
 */
#ifndef UNC_ACCESS_PCI_H
#define UNC_ACCESS_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct unc_fs;

/* Reads both halves in one access, the low one (half[0]) first, and tells how many ns it took at
 * most. 0 or an errno value. */
typedef int (*unc_halves_read_fn)(void *user, uint32_t half[2], uint64_t *ns);
/* Writes one half, 0 being the low one; or both, the low one first. 0 or an errno value. */
enum { UNC_HALF_LOW, UNC_HALF_HIGH, UNC_HALF_BOTH };
typedef int (*unc_halves_write_fn)(void *user, int half, uint64_t value);

/*
 * Reads a counter that goes on counting, so that a carry between the halves cannot be seen: where
 * the low half is so near to its end that the high one, read behind it, may have one more, both are
 * read again until the high one stands still. 0 or an errno value; EIO if it never does.
 */
int unc_halves_read(unc_halves_read_fn read, void *user, uint64_t *value);

/*
 * High half first: it holds what qualifies the event that the low half switches on. A low half of 0
 * switches on nothing: then both go at once. low_only: the high half need not be written. 0 or an
 * errno value.
 */
int unc_halves_write(unc_halves_write_fn write, void *user, uint64_t value, bool low_only);

/* The path of a function's configuration space; its name (0000:7f:10.0) is to be filled in. */
#define UNC_PCI_CONFIG_PATH "/sys/bus/pci/devices/%s/config"

/* Reads a dword of a function's configuration space: at 0 vendor (low half) and device. address:
 * UNC_PCI(). value NULL: only whether it can be opened. 0, or the errno value of why not. */
int unc_pci_dword(const struct unc_fs *, uint64_t address, uint32_t *value);

/* The sentence for a dword that could not be read, by what unc_read_at() said. address: UNC_PCI().
 */
int unc_pci_fail(const struct unc_fs *, uint64_t address, int errno_value, struct unc_error *err);

#endif
