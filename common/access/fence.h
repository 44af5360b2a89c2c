/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fence: which registers can be a monitor's at all. It is compiled in, from the built-in tables
 * of all CPUs and from a short list of documented servers that have no table yet, so that a table
 * from a folder, a broken discovery table or a mistake of ours cannot make a privileged program
 * touch anything else: no other MSR, no configuration register but those of monitors in a function
 * that has their device id, no memory but behind the BARs of monitors.
 */
#ifndef UNC_FENCE_H
#define UNC_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct unc_access;
struct unc_bus;
struct unc_instances;
struct unc_table;

/* Whether an MSR can be one of a monitor. */
bool unc_fence_msr(uint64_t number);
/* Whether the registers of monitors in an Intel function with this device id include the bits. */
bool unc_fence_pci(uint16_t device, unsigned offset, unsigned width);
/* Whether the kernel's events of this type are hardware's or the kernel's own (perf_event_open). */
bool unc_fence_perf(uint32_t type);
/* Whether a PMU can be one of the kernel's uncore driver, by its name and by its type: the driver's
 * are numbered behind those that are fixed. */
bool unc_fence_pmu(const char *name);
bool unc_fence_pmu_type(uint32_t type);

/*
 * fence_windows.c: tells the gate the memory behind the BARs of monitors that `bus` shows, and that
 * of the units which the machine's own discovery table lists.
 */
int unc_fence_windows(const struct unc_table *, const struct unc_instances *, struct unc_bus *,
		      struct unc_access *, struct unc_error *err);

#endif
