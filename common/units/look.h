/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters that are in use on a unit, by what its controls hold. The caller runs the reads: one
 * plan may hold several units.
 */
#ifndef UNC_LOOK_H
#define UNC_LOOK_H

#include "units/set.h"

/* What is read of a unit beside its controls, if it can be read. */
enum unc_look_at {
	UNC_LOOK_CONTROLS, /* nothing */
	UNC_LOOK_STATE,    /* whether it is frozen */
	UNC_LOOK_EVENTS    /* and the registers that qualify its events */
};
/* Appends reads of the controls of a unit, of what `unc_look_at` says, and of the filters of a set
 * (NULL: none), in the order of the table. Errors: as unc_plan_add(). */
int unc_look_at(const struct unc_table *, const struct unc_instance *, enum unc_look_at,
		const struct unc_set *, struct unc_plan *, struct unc_error *err);

/* The counter that an operation of such a plan shows to be in use; UNC_NONE: none. */
uint16_t unc_counter_in_use(const struct unc_table *, const struct unc_plan *, size_t op);

/* The event of a counter in use (unc_counter_in_use() of an operation), as far as the reads tell.
 * UNC_ERR_NOT_FOUND, UNC_ERR_INVALID: as unc_code_decode(); UNC_ERR_RANGE. */
int unc_counter_event(const struct unc_table *, const struct unc_plan *, size_t op, char *buf,
		      size_t size);

struct unc_occupancy {
	size_t n;           /* counters of others, fixed ones too; 0: none */
	uint32_t taken;     /* programmable ones in use by others, and leads of their lanes */
	uint32_t foreign;   /* those of them that have no entry in the journal */
	uint16_t foreigner; /* the control of the first foreign one, fixed ones too; UNC_NONE */
	uint64_t ctl[32];   /* what the controls of taken counters hold */
};

/* own: the set of ours on the unit; NULL: none. A counter with an entry of a running session is taken, even if
 * another program cleared its control: programmed again, it would look as if it had counted on. */
struct unc_occupancy unc_occupancy(const struct unc_platform *, const struct unc_plan *,
				   const struct unc_instance *, const struct unc_set *own);

/* Bits of a control that act once, when they are written. */
uint64_t unc_self_clearing_bits(const struct unc_table *, const struct unc_tbl_type *);
/* A taken counter that counts the same code, filters included, for another session of this user.
 * found: what was read of the unit. UNC_NOT_JOINED: none. */
enum { UNC_NOT_JOINED = 0xff };
uint8_t unc_look_for(const struct unc_platform *, const struct unc_instance *,
		     const struct unc_code *, uint32_t taken, const struct unc_plan *found);

#endif
