/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who counts on a unit, by what its controls hold. The reads are run by who asks: a plan of them
 * may be of several units.
 */
#ifndef UNC_OCCUPANCY_H
#define UNC_OCCUPANCY_H

#include "encode/schedule.h"
#include "units/claim.h"
#include "units/units.h"

/* What is read of a unit beside its controls, as far as it can be read. */
enum unc_look {
	UNC_LOOK_CONTROLS, /* nothing */
	UNC_LOOK_STATE,    /* whether it is frozen */
	UNC_LOOK_EVENTS    /* and what qualifies what it counts */
};
/* Appends reads of the controls of a unit, of what is asked for, and of the filters of n slots, in
 * the order of the table. Errors: as unc_plan_add(). */
int unc_occupancy_look(const struct unc_units *, const struct unc_instance *, enum unc_look,
		       const uint32_t *slots, size_t n, struct unc_plan *, struct unc_error *err);

/* The counter that an operation of such a plan shows to be in use; UNC_NONE: none. */
uint16_t unc_counter_in_use(const struct unc_table *, const struct unc_plan *, size_t op);

struct unc_occupancy {
	size_t n;       /* counters of others, fixed ones too; 0: nobody else counts */
	uint32_t taken; /* programmable ones that others count with, or lead what they may count */
	uint32_t foreign;   /* those of them that are in no journal */
	uint16_t foreigner; /* the control of the first of these, fixed ones too; UNC_NONE */
	uint64_t ctl[32];   /* what controls of taken ones hold */
};

/* The event that a counter in use (unc_counter_in_use() of an operation) counts, as far as what was
 * read tells. UNC_ERR_NOT_FOUND, UNC_ERR_INVALID: as unc_code_decode(); UNC_ERR_RANGE. */
int unc_occupancy_event(const struct unc_table *, const struct unc_plan *, size_t op, char *buf,
			size_t size);

/* own: what is ours there; NULL: nothing. A counter that a session lives to read is taken also where
 * somebody has cleared its control: set again it would look as if it had counted on. */
struct unc_occupancy unc_occupancy(const struct unc_units *, const struct unc_plan *,
				   const struct unc_instance *, const struct unc_claim *own);

/* join.c: taken counters that count what n slots of a unit want for other sessions of this user;
 * found: what was read there. */
enum { UNC_NOT_JOINED = 0xff };
void unc_units_join(const struct unc_units *, const struct unc_instance *, const uint32_t *slots,
		    size_t n, uint32_t taken, const struct unc_plan *found, uint8_t *counter);

#endif
