/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers of units in the journal of the node: their entries are written before they are
 * programmed, and stay until what was found is restored. The lock of the node is held.
 */
#ifndef UNC_ENTRIES_H
#define UNC_ENTRIES_H

#include "journal/journal.h"
#include "units/claim.h"
#include "units/units.h"

/* The entry of a register that sessions of this user count by, one that meets `mask` (0: any). NULL:
 * there is none. */
const struct unc_journal_entry *
unc_units_held(const struct unc_units *, const struct unc_instance *, uint16_t reg, uint64_t mask);
/* That of another user who may live; of anybody. */
const struct unc_journal_entry *
unc_units_taken(const struct unc_units *, const struct unc_instance *, uint16_t reg, uint64_t mask);
const struct unc_journal_entry *unc_units_entry(const struct unc_units *,
						const struct unc_instance *, uint16_t reg);
/* Who has made it: "another session of this program", "pid 123 (stat)", "user 1000", "somebody else" */
const char *unc_units_holder_text(const struct unc_units *, const struct unc_instance *,
				  uint16_t reg, char *buf, size_t size);
/* Entries of all settings of claim[first] and those behind it, before they are programmed:
 * setting->restore becomes what the first who holds each found. */
int unc_units_note(struct unc_units *, size_t first, struct unc_error *err);
/* That nothing drives a unit that was let go. */
int unc_units_note_idle(struct unc_units *, const struct unc_claim *, struct unc_error *err);
/* A control that is about to be written for a moment, and that it is as it was found again. */
int unc_units_note_moment(struct unc_units *, const struct unc_instance *, uint16_t reg,
			  uint64_t found, uint64_t value, uint16_t *place, struct unc_error *err);
/* Before claim[first] and those behind it are stopped: what another session needs still is not
 * ours; what is restored of the rest. */
void unc_units_settle(struct unc_units *, size_t first);
/* After it: they are not held any more. restored: the writes that did so, what has failed stays as
 * a killed process leaves it; NULL: nothing could be restored. */
void unc_units_release(struct unc_units *, size_t first, const struct unc_plan *restored);
/* What was found in a register that holds `now`, with the bits that no session has chosen as they
 * are: those are for others to set. */
uint64_t unc_units_as_found(const struct unc_journal_entry *, uint64_t now);
/* Whether a register that holds `now` holds what its entry says. */
bool unc_units_recorded(const struct unc_units *, const struct unc_instance *, uint16_t reg,
			const struct unc_journal_entry *, uint64_t now);
/* What a register is called in the journal; false: it has no place, or is none. */
bool unc_units_key(const struct unc_units *, const struct unc_instance *, uint16_t reg,
		   struct unc_journal_key *);

#endif
