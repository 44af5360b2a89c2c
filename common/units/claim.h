/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is claimed of a unit: the settings that its registers get, and the ordered operations that
 * these become, by the step lists of the tables. Pure.
 */
#ifndef UNC_CLAIM_H
#define UNC_CLAIM_H

#include "encode/schedule.h"
#include "journal/journal.h"
#include "units/plan.h"

struct unc_unit_methods; /* inside.h */
struct unc_driver_claim; /* driver.c */

/* What a register of a unit gets, and what became of it. */
struct unc_setting {
	uint16_t reg;
	uint16_t place; /* of its entry in the journal, UNC_JOURNAL_NONE */
	bool shared;    /* at its end: others count by that, or it stays */
	enum {
		UNC_WRITTEN,
		UNC_JOINED /* another session has programmed it so: it is not written */
	} by;
	enum {
		UNC_PLANNED,  /* nothing is written yet */
		UNC_NOTED,    /* in the journal: it may be written */
		UNC_SHOWN,    /* and was read back: `shown` */
		UNC_NOT_OURS, /* another session needs it so, or somebody has changed it: it stays */
		UNC_UNRESTORED /* what was found could not be written */
	} state;
	uint64_t value;
	uint64_t mask;    /* the bits that were ours to choose */
	uint64_t shown;   /* what was read back once it had been written */
	uint64_t found;   /* what is there now */
	uint64_t restore; /* what was there before any session came */
};

/* What the set does to one unit. */
struct unc_claim {
	const struct unc_instance *instance;
	const struct unc_unit_methods *by;
	size_t n_counters; /* in use; 0: its turn is another */
	struct unc_driver_claim *driver;

	/* by registers, each with the room that all slots of the unit need, in wanted->settings: */
	struct unc_setting *control, *filter;
	struct unc_claim_counter {
		uint16_t reg;
		uint64_t start; /* what it is set to; 0: it is left as it is */
	} * counter;
	size_t n_controls, n_filters, room;
	size_t n_staying;       /* controls that go on while the turn changes, and so does the unit:
				 * they come first, and are not written; 0: all ends and begins */
	size_t check, n_checks; /* what tells whether these are ours: of units.check */
	uint64_t unit_ctl;      /* as found, where it can be read */
	uint16_t place;         /* of its entry in the journal, UNC_JOURNAL_NONE */
	bool shared;            /* as of a setting */
	enum unc_company {
		UNC_ALONE,
		UNC_SHARED, /* somebody else counts on this unit: no freeze */
		UNC_LEFT    /* the kernel's driver may, with what is ours: nothing is restored */
	} company;
	enum {
		UNC_FOUND_GOING,
		UNC_FOUND_IDLE, /* who let it go has found that nothing drives it */
		UNC_FOUND_TAKEN /* later: unit control was changed, and is not restored */
	} found;
};

/* Slots of a unit with their counters. */
struct unc_assignment {
	uint32_t slot[UNC_MAX_CODES];
	uint8_t counter[UNC_MAX_CODES];
	bool joined[UNC_MAX_CODES]; /* it is another session's */
	size_t n, failed;           /* the slot that has found none */
	int beside;                 /* the counter of somebody else that is in the way; -1 */
	struct unc_conflict conflict;
};

/* What n units do: start and stop; freeze and go on, those left out on which somebody else counts.
 * Errors: UNC_ERR_UNAVAILABLE (a part is missing), UNC_ERR_MEMORY. */
enum unc_occasion { UNC_START, UNC_STOP, UNC_LET_GO };
int unc_plan_steps(const struct unc_table *, const struct unc_claim *, size_t n, enum unc_occasion,
		   struct unc_plan *out, struct unc_error *err);
/* Reads of all controls and filters that the units need, in their order: first the controls of a
 * unit, then its filters, then its unit control, those left out that cannot be read
 * (unc_reg_shows()); last the controls that are not ours, where the counters of a unit exclude each
 * other by what they count. */
int unc_plan_look(const struct unc_table *, const struct unc_claim *, size_t n,
		  struct unc_plan *out, struct unc_error *err);
/* The control or filter of a claim; NULL: it is none of ours. */
struct unc_setting *unc_claim_setting(struct unc_claim *, uint16_t reg);
/* What begins and ends with the turn: controls, then filters. The one behind `last`, NULL: the
 * first; NULL: there is none. */
struct unc_setting *unc_claim_next(const struct unc_claim *, const struct unc_setting *last);

#endif
