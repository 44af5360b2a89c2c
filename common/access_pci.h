/* SPDX-License-Identifier: BSD-3-Clause */
/* 64-bit registers that can only be reached as two 32-bit halves. */
#ifndef UNC_ACCESS_PCI_H
#define UNC_ACCESS_PCI_H

#include <stdint.h>

/* Reads (or writes) one half; half 0 is the low one. 0 or an errno value. */
typedef int (*unc_half_read_fn)(void *user, int half, uint32_t *value);
typedef int (*unc_half_write_fn)(void *user, int half, uint32_t value);

/*
 * Reads a counter that goes on counting: high, low, high again, until both highs agree, so
 * that a carry between the halves cannot be seen. 0 or an errno value; EIO if they never do.
 */
int unc_halves_read(unc_half_read_fn read, void *user, uint64_t *value);

/* High half first: it holds what qualifies the event that the low half switches on. 0 or an errno value. */
int unc_halves_write(unc_half_write_fn write, void *user, uint64_t value);

#endif
