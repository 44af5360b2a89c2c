/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a set holds of the registers of its unit: their settings, and the ordered operations that
 * the step lists of the tables make of these.
 */
#ifndef UNC_HELD_H
#define UNC_HELD_H

#include "encode/schedule.h"
#include "journal/journal.h"
#include "units/set.h"

/* The setting of a register, and its state. */
struct unc_setting {
	uint16_t reg;
	uint16_t place; /* of its entry in the journal; or UNC_JOURNAL_NONE */
	bool joined;    /* another session has programmed this value: it is not written */
	bool stays;     /* the entry outlives the set: others need it, or restore it later */
	enum {
		UNC_PLANNED, /* nothing is written yet */
		UNC_NOTED,   /* it has an entry: it may be written */
		UNC_SHOWN,   /* it was written and read back: `shown` */
		UNC_NOT_OURS /* another session needs it, or another program changed it: it stays */
	} state;
	uint64_t value;
	uint64_t mask;    /* the bits that this set chooses */
	uint64_t shown;   /* what was read back after the write */
	uint64_t found;   /* what was read right before the write */
	uint64_t restore; /* what it held before any session */
};

struct unc_held {
	struct unc_setting *setting; /* controls, leaders of lanes first; then filters */
	size_t n_controls, n_filters, room;
	struct unc_setting unit; /* unit control: restored by the step lists */
	bool taken;              /* another program changed unit control: not restored */
	bool left;               /* the kernel's driver may count with it: nothing is restored */
	struct unc_plan check;   /* reads that show whether the set still owns all this */
};

static inline struct unc_held *unc_held(const struct unc_set *set)
{
	return set->held;
}
/* The control or filter of a set; NULL: the set has none of this register. */
struct unc_setting *unc_held_find(const struct unc_set *, uint16_t reg);

/* Appends the operations of a set's start or stop; or those that unfreeze its unit, without the ones that would
 * disturb others who count there. Errors: UNC_ERR_UNAVAILABLE (a part is missing), UNC_ERR_MEMORY. */
enum unc_occasion { UNC_START, UNC_STOP, UNC_LET_GO };
int unc_plan_steps(const struct unc_table *, const struct unc_set *, enum unc_occasion,
		   struct unc_plan *, struct unc_error *err);
/* Appends reads of the controls and filters of a set, then of its unit control, as far as they can
 * be read (unc_reg_shows()); where the counters of a unit exclude each other by what they count, at
 * the end of the controls that are not its own. */
int unc_plan_look(const struct unc_table *, const struct unc_set *, struct unc_plan *,
		  struct unc_error *err);

/* ---- entries.c: registers in the journal; the caller holds the lock of the node */

/* The entry of a register that running sessions of this user have, with bits of `mask` (0: any). NULL: none. */
const struct unc_journal_entry *unc_entry_held(const struct unc_platform *,
					       const struct unc_instance *, uint16_t reg,
					       uint64_t mask);
/* The entry of another user whose session may run; of any user. */
const struct unc_journal_entry *unc_entry_taken(const struct unc_platform *,
						const struct unc_instance *, uint16_t reg,
						uint64_t mask);
const struct unc_journal_entry *unc_entry_any(const struct unc_platform *,
					      const struct unc_instance *, uint16_t reg);
/* The session that made the entry: "another session of this program", "pid 123 (stat)", "user
 * 1000", "somebody else" */
const char *unc_entry_holder(const struct unc_platform *, const struct unc_instance *, uint16_t reg,
			     char *buf, size_t size);
/* Adds entries for all registers of the sets, before they are programmed: setting->restore becomes
 * the value that the first session found. */
int unc_entries_add(struct unc_run *, const struct unc_batch *, struct unc_error *err);
/* Decides, before sets are stopped, what is restored: registers that another session needs are left out. */
void unc_entries_settle(struct unc_run *, const struct unc_batch *);
/* Releases the entries after the stop. restored: the writes; the entry of a failed one stays, as
 * after a killed process. NULL: nothing could be restored. */
void unc_entries_end(struct unc_run *, const struct unc_batch *, const struct unc_plan *restored);
/* Leaves all entries as a killed process does. */
void unc_entries_drop(struct unc_run *, const struct unc_batch *);
/* What was found in a register that holds `now`. Bits that no session has chosen keep their value
 * of now: other programs may set them. */
uint64_t unc_entry_found(const struct unc_journal_entry *, uint64_t now);
/* Whether a register that holds `now` still holds the value of its entry. */
bool unc_entry_stands(const struct unc_platform *, const struct unc_instance *, uint16_t reg,
		      const struct unc_journal_entry *, uint64_t now);
/* The key of a register in the journal; false: it has no address, or is UNC_NONE. */
bool unc_entry_key(const struct unc_platform *, const struct unc_instance *, uint16_t reg,
		   struct unc_journal_key *);

#endif
