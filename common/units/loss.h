/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is lost, left out, or could not be read, and when it is tried again.
 */
#ifndef UNC_LOSS_H
#define UNC_LOSS_H

#include "units/units.h"

/* A slot means nothing from now on: the first cause counts. */
void unc_units_lose(struct unc_units *, struct unc_slot *, const struct unc_loss *);
/* All slots of a unit that do not always run: now, or in each turn. */
void unc_units_lose_unit(struct unc_units *, uint32_t instance, enum unc_extent,
			 const struct unc_loss *);
void unc_units_lose_frozen(struct unc_units *, uint32_t instance, enum unc_extent);
/* Something that a unit has to count now is lost and may be tried again: a second after it was
 * lost, then after twice the time each, at most 64; where it has counted for longer than that,
 * after a second again. */
bool unc_units_is_due(const struct unc_units *, uint32_t instance);
void unc_units_put_off(struct unc_units *, uint32_t instance);
/* What was tried, and not lost again, counts from 0. */
void unc_units_take_up(struct unc_units *, uint32_t instance);
/* A unit that cannot be had is left out of the running turn: nothing that it was to count is. An
 * error is one of all that start: of memory. */
int unc_units_leave_out(struct unc_units *, uint32_t instance, const struct unc_error *why,
			struct unc_error *err);
/* Prepares a plan, from one operation on. 1: units of which that cannot be done are left out, and
 * taken out of the plan. */
int unc_units_prepare(struct unc_units *, struct unc_plan *, size_t from, struct unc_error *err);
/* Units of which an operation of a plan has failed are left out. */
int unc_units_leave_failed(struct unc_units *, struct unc_plan *, const char *what,
			   struct unc_error *err);
/* What tells of a slot could not be read, for this once: `reg`, the counter or a control. */
void unc_units_unread(struct unc_units *, struct unc_slot *, uint16_t reg,
		      const struct unc_reg_op *);
/* The same of those that count on a unit now. */
void unc_units_unread_unit(struct unc_units *, uint32_t instance, uint16_t reg,
			   const struct unc_reg_op *);

/* Why a slot is lost or was not read, as a sentence in err; others of the kernel's users had its
 * counter all the time; why its last interval alone means nothing; its unit is UNC_UNSHOWN. */
void unc_slot_loss(const struct unc_units *, const struct unc_slot *, struct unc_error *err);
void unc_slot_idle(const struct unc_units *, const struct unc_slot *, struct unc_error *err);
void unc_slot_late(const struct unc_units *, const struct unc_slot *, struct unc_error *err);
void unc_slot_unproven(const struct unc_units *, const struct unc_slot *, struct unc_error *err);
/* Its unit was lost, and taken up again so short a part of the time ago that there is no value. */
void unc_slot_scarce(const struct unc_units *, const struct unc_slot *, double percent,
		     const char *of, struct unc_error *err);
/* How its unit is told, of which a slot means nothing now; it stays there until unc_units_free().
 * NULL: out of memory. */
const struct unc_unit *unc_units_tell_lost(struct unc_units *, const struct unc_slot *);

#endif
