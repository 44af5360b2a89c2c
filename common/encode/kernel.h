/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codes for the kernel's own driver (perf_event_open), by a positive list: the rows `kernel` of units.tbl name the
 * PMU of a unit, and the bits that its driver really passes on. A successful open proves nothing, and format/ in
 * sysfs only if a row says so (`named`; the caller that gives a code to the kernel reads format/). Pure: no I/O.
 */
#ifndef UNC_ENCODE_KERNEL_H
#define UNC_ENCODE_KERNEL_H

#include "encode/event.h"

/* The arguments of perf_event_open() for a code on a unit. */
struct unc_kernel_code {
	bool known;  /* false, as in zeros: not encoded yet */
	uint8_t pmu; /* number of the unit's PMU: unc_kernel_pmu() */
	uint64_t config, config1, config2;
};

/*
 * UNC_ERR_UNAVAILABLE with the reason: the kernel has no PMU for such units, or its driver drops
 * bits or filters that the code needs, or may put the event on a counter that cannot count it.
 *
 * This function does not know the unit: the driver also drops, without an error, filters in a PCI
 * function that the machine hides. A caller that gives a code with filters to the kernel must have
 * found the parts of the unit that hold them (unc_tbl_reg.part).
 */
int unc_kernel_encode(const struct unc_table *, const struct unc_code *,
		      struct unc_kernel_code *out, struct unc_error *err);

#endif
