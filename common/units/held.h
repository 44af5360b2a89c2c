/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a set holds of the registers of its unit: the settings that they get, and the ordered operations
 * that these become, by the step lists of the tables.
 */
#ifndef UNC_HELD_H
#define UNC_HELD_H

#include "encode/schedule.h"
#include "journal/journal.h"
#include "units/set.h"

/* What a register gets, and what became of it. */
struct unc_setting {
	uint16_t reg;
	uint16_t place; /* of its entry in the journal, UNC_JOURNAL_NONE */
	bool joined;    /* another session has programmed it so: it is not written */
	bool stays;     /* at its end: its entry does, for others or for who restores it later */
	enum {
		UNC_PLANNED, /* nothing is written yet */
		UNC_NOTED,   /* in the journal: it may be written */
		UNC_SHOWN,   /* and was read back: `shown` */
		UNC_NOT_OURS /* another session needs it so, or somebody has changed it: it stays */
	} state;
	uint64_t value;
	uint64_t mask;    /* the bits that were ours to choose */
	uint64_t shown;   /* what was read back once it had been written */
	uint64_t found;   /* what was there right before */
	uint64_t restore; /* what was there before any session came */
};

struct unc_held {
	struct unc_setting *setting; /* controls, those that lead a lane first; then filters */
	size_t n_controls, n_filters, room;
	struct unc_setting unit; /* its control: restored, by the step lists */
	bool taken;              /* that was changed by somebody, and is not restored */
	bool left; /* the kernel's driver may count here, with what is ours: nothing is restored */
	struct unc_plan check; /* reads that tell whether all this is ours */
};

static inline struct unc_held *unc_held(const struct unc_set *set)
{
	return set->held;
}
/* The control or filter of a set; NULL: it is none of its own. */
struct unc_setting *unc_held_find(const struct unc_set *, uint16_t reg);

/* Appends what a set does at its start or its stop; or what lets a unit go on, those left out on which
 * somebody else counts. Errors: UNC_ERR_UNAVAILABLE (a part is missing), UNC_ERR_MEMORY. */
enum unc_occasion { UNC_START, UNC_STOP, UNC_LET_GO };
int unc_plan_steps(const struct unc_table *, const struct unc_set *, enum unc_occasion,
		   struct unc_plan *, struct unc_error *err);
/* Reads of the controls and filters of a set, then its unit control, those left out that cannot be read
 * (unc_reg_shows()); last the controls that are not its own, where the counters of a unit exclude each
 * other by what they count. */
int unc_plan_look(const struct unc_table *, const struct unc_set *, struct unc_plan *,
		  struct unc_error *err);

/* ---- entries.c: registers in the journal, the lock of the node held */

/* The entry of a register that sessions of this user count by, one that meets `mask` (0: any). NULL:
 * there is none. */
const struct unc_journal_entry *unc_entry_held(const struct unc_platform *,
					       const struct unc_instance *, uint16_t reg,
					       uint64_t mask);
/* That of another user who may live; of anybody. */
const struct unc_journal_entry *unc_entry_taken(const struct unc_platform *,
						const struct unc_instance *, uint16_t reg,
						uint64_t mask);
const struct unc_journal_entry *unc_entry_any(const struct unc_platform *,
					      const struct unc_instance *, uint16_t reg);
/* Who has made it: "another session of this program", "pid 123 (stat)", "user 1000", "somebody else" */
const char *unc_entry_holder(const struct unc_platform *, const struct unc_instance *, uint16_t reg,
			     char *buf, size_t size);
/* Entries of all that the sets hold, before they are programmed: setting->restore becomes what the
 * first who holds each found. */
int unc_entries_add(struct unc_run *, const struct unc_batch *, struct unc_error *err);
/* Before sets are stopped: what another session needs still is not theirs; what is restored. */
void unc_entries_settle(struct unc_run *, const struct unc_batch *);
/* After it: they are not held any more. restored: the writes that did so, what has failed stays as a
 * killed process leaves it; NULL: nothing could be restored. */
void unc_entries_end(struct unc_run *, const struct unc_batch *, const struct unc_plan *restored);
/* All is as a killed process leaves it. */
void unc_entries_drop(struct unc_run *, const struct unc_batch *);
/* What was found in a register that holds `now`, with the bits that no session has chosen as they
 * are: those are for others to set. */
uint64_t unc_entry_found(const struct unc_journal_entry *, uint64_t now);
/* Whether a register that holds `now` holds what its entry says. */
bool unc_entry_stands(const struct unc_platform *, const struct unc_instance *, uint16_t reg,
		      const struct unc_journal_entry *, uint64_t now);
/* What a register is called in the journal; false: it has no place, or is none. */
bool unc_entry_key(const struct unc_platform *, const struct unc_instance *, uint16_t reg,
		   struct unc_journal_key *);

#endif
