/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Controls that others have programmed: all that they may stand for by the tables, where decode.c
 * looks for the one name that fits best. What is not known counts as the worst. Pure.
 */
#ifndef UNC_CONTROL_H
#define UNC_CONTROL_H

#include "tables/table.h"

/*
 * Bits of a register of the unit, which is no control, that may have a part in what is counted by
 * this control. All of them, where no event of the tables explains all bits of the control.
 */
uint64_t unc_control_looks(const struct unc_table *, unsigned type, uint64_t ctl, uint16_t reg);

/* Whether the control may be of an event that counts in the lane. */
bool unc_control_in_lane(const struct unc_table *, unsigned type, uint64_t ctl,
			 const struct unc_tbl_lane *);

/* The next event of the type, or of a view of it, whose own bits of a control are set so, those left
 * out that are `ignored`; *next is 0 before the first. NULL: there is none more. */
const struct unc_tbl_event *unc_control_event(const struct unc_table *, unsigned type, uint64_t ctl,
					      uint64_t ignored, size_t *next);

#endif
