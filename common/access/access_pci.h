/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared parts of the back end for PCI registers: access to 64-bit registers as two 32-bit halves, and
 * the reason why a function's configuration space could not be read.
 */
#ifndef UNC_ACCESS_PCI_H
#define UNC_ACCESS_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct unc_fs;

/* Reads both halves in one access, the low one (half[0]) first. *ns: the longest time that it may have
 * taken. Returns 0 or an errno value. */
typedef int (*unc_halves_read_fn)(void *user, uint32_t half[2], uint64_t *ns);
/* Writes one half, or both, the low one first. Returns 0 or an errno value. */
enum { UNC_HALF_LOW, UNC_HALF_HIGH, UNC_HALF_BOTH };
typedef int (*unc_halves_write_fn)(void *user, int half, uint64_t value);

/*
 * Reads a counter while it counts. A carry between the two reads would give a wrong value: if the low
 * half is so near to its end that a carry is possible, both halves are read again until the high half
 * does not change. Returns 0 or an errno value; EIO: the high half changed every time.
 */
int unc_halves_read(unc_halves_read_fn read, void *user, uint64_t *value);

/*
 * Writes the high half first: it qualifies the event that the low half enables. A low half of 0 enables
 * nothing, so both are then written at once. low_only: the high half need not be written. Returns 0 or
 * an errno value.
 */
int unc_halves_write(unc_halves_write_fn write, void *user, uint64_t value, bool low_only);

/* A format for the path of a function's configuration space; the argument is its name (0000:7f:10.0). */
#define UNC_PCI_CONFIG_PATH "/sys/bus/pci/devices/%s/config"

/* Reads a dword of a function's configuration space; offset 0 has vendor (low half) and device. address:
 * UNC_PCI(). value NULL: only tests whether it can be opened. Returns 0 or an errno value. */
int unc_pci_dword(const struct unc_fs *, uint64_t address, uint32_t *value);

/* Stores the sentence for a dword that could not be read. errno_value: from unc_read_at(). */
int unc_pci_fail(const struct unc_fs *, uint64_t address, int errno_value, struct unc_error *err);

#endif
