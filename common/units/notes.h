/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is noted of registers in the ledger, for all sessions of the node: before they are
 * programmed, and until they are restored. The lock of the node is held.
 */
#ifndef UNC_NOTES_H
#define UNC_NOTES_H

#include "units/claim.h"
#include "units/units.h"

/* The record of a register; that which another session holds that lives; that which is orphaned.
 * NULL: there is none. */
struct unc_ledger_record *unc_units_record(const struct unc_units *, const struct unc_instance *,
					   uint16_t reg);
const struct unc_ledger_record *unc_units_shared(const struct unc_units *,
						 const struct unc_instance *, uint16_t reg);
struct unc_ledger_record *unc_units_orphan(const struct unc_units *, const struct unc_instance *,
					   uint16_t reg);
/* "another session of this program", "pid 123 (stat)", "somebody else" */
const char *unc_units_holder_text(const struct unc_units *, const struct unc_instance *,
				  uint16_t reg, char *buf, size_t size);
/* Notes all settings of claim[first] and those behind it, before they are programmed:
 * setting->restore becomes what the first who holds each found. The set gets its place in the
 * ledger. */
int unc_units_note(struct unc_units *, size_t first, struct unc_error *err);
void unc_units_leave_ledger(struct unc_units *);
/* That nothing drives a unit that was let go. */
int unc_units_note_idle(struct unc_units *, const struct unc_claim *, struct unc_error *err);
/* A control that is about to be written for a moment, and that it is as it was found again. */
int unc_units_note_moment(struct unc_units *, const struct unc_instance *, uint16_t reg,
			  uint64_t found, uint64_t value, struct unc_error *err);
void unc_units_drop_moment(struct unc_units *, const struct unc_instance *, uint16_t reg);
/* Before claim[first] and those behind it are stopped: what another session needs still is not
 * ours; what is restored of the rest. */
void unc_units_settle(struct unc_units *, size_t first);
/* After it: they are not held any more. restored: the writes that did so, what has failed stays
 * orphaned; NULL: nothing could be restored. */
void unc_units_release(struct unc_units *, size_t first, const struct unc_plan *restored);
/* What was found in a register that holds `now`, with the bits that no session has chosen as they
 * are: those are for others to set. */
uint64_t unc_units_as_found(const struct unc_ledger_record *, uint64_t now);
/* reclaim.c: whether a register that holds `now` holds what its record says. */
bool unc_units_recorded(const struct unc_units *, const struct unc_instance *, uint16_t reg,
			const struct unc_ledger_record *, uint64_t now);

#endif
