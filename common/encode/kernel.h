/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codes for the kernel's own driver (perf_event_open), by a positive list: the rows `kernel` of
 * units.tbl tell which PMU counts for a unit, and what its driver really carries. A successful open
 * proves nothing, and format/ in sysfs only where a row says so (`named`; whoever gives a code to
 * the kernel asks for that). Pure: no I/O.
 */
#ifndef UNC_ENCODE_KERNEL_H
#define UNC_ENCODE_KERNEL_H

#include "encode/event.h"

/* What perf_event_open() takes for a code on a unit. */
struct unc_kernel_code {
	bool known;  /* false, as in zeros: it has not been encoded yet */
	uint8_t pmu; /* which of the PMUs of the unit: unc_kernel_pmu() */
	uint64_t config, config1, config2;
};

/*
 * UNC_ERR_UNAVAILABLE with the reason: the kernel has no PMU for such units, or its driver drops
 * bits or filters that the code needs, or may put the event on a counter that cannot count it.
 *
 * Of the unit this cannot know: the driver also leaves out, without an error, filters that are in a
 * PCI function which the machine hides. Whoever gives a code with filters to the kernel has found
 * the parts of the unit that these are in (unc_tbl_reg.part).
 */
int unc_kernel_encode(const struct unc_table *, const struct unc_code *,
		      struct unc_kernel_code *out, struct unc_error *err);

#endif
