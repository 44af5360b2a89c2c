/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the back end of PCI registers shares: 64-bit registers that can only be reached as two
 * 32-bit halves, and why a function's configuration space could not be read.
 */
#ifndef UNC_ACCESS_PCI_H
#define UNC_ACCESS_PCI_H

#include <stdint.h>

#include "base/error.h"

struct unc_fs;

/* Reads (or writes) one half; half 0 is the low one. 0 or an errno value. */
typedef int (*unc_half_read_fn)(void *user, int half, uint32_t *value);
typedef int (*unc_half_write_fn)(void *user, int half, uint32_t value);

/*
 * Reads a counter that goes on counting: high, low, high again, until both highs agree, so
 * that a carry between the halves cannot be seen. 0 or an errno value; EIO if they never do.
 */
int unc_halves_read(unc_half_read_fn read, void *user, uint64_t *value);

/* High half first: it holds what qualifies the event that the low half switches on. 0 or an errno
 * value. */
int unc_halves_write(unc_half_write_fn write, void *user, uint64_t value);

/* The path of a function's configuration space; its name (0000:7f:10.0) is to be filled in. */
#define UNC_PCI_CONFIG_PATH "/sys/bus/pci/devices/%s/config"

/* Vendor (low half) and device of a function, UNC_PCI(). 0, or the errno value of why it does not
 * tell. */
int unc_pci_identity(const struct unc_fs *, uint64_t function, uint32_t *identity);

/* The sentence for a dword that could not be read, by what unc_read_at() said. address: UNC_PCI().
 */
int unc_pci_fail(const struct unc_fs *, uint64_t address, int errno_value, struct unc_error *err);

#endif
