/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: slots that mean nothing any more, and why. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cpu.h"
#include "units/inside.h"

/* ---- lost, and taken up again */

static void wait_longer(struct unc_wanted *wanted, uint64_t ns)
{
	const uint64_t first = 1000000000, most = 64 * first;

	wanted->wait_ns = wanted->wait_ns ? 2 * wanted->wait_ns : first;
	if (wanted->wait_ns > most)
		wanted->wait_ns = most;
	wanted->again_ns = ns + wanted->wait_ns;
}

void unc_units_lose(struct unc_units *s, struct unc_slot *slot, const struct unc_loss *loss)
{
	struct unc_wanted *wanted = &s->wanted[slot->instance];
	uint64_t ns = unc_machine_now(s->platform->machine);

	s->flawed = true;
	if (wanted->claimed == UNC_TRIED) {
		wait_longer(wanted, ns);
		wanted->claimed = UNC_CLAIMED;
	}
	if (slot->life == UNC_LOST)
		return;
	slot->lost = *loss;
	slot->life = UNC_LOST;
	if (ns < wanted->again_ns)
		return;
	if (ns - wanted->again_ns > wanted->wait_ns)
		wanted->wait_ns = 0; /* it has counted for longer than was waited for it */
	wait_longer(wanted, ns);
}

bool unc_units_is_due(const struct unc_units *s, uint32_t instance)
{
	int i = s->wanted[instance].head;

	while (i != UNC_END &&
	       !(s->slot[i].life == UNC_LOST && unc_units_turns(s, &s->slot[i]) >> s->turn & 1))
		i = s->slot[i].next;
	return i != UNC_END &&
	       unc_machine_now(s->platform->machine) >= s->wanted[instance].again_ns;
}

void unc_units_put_off(struct unc_units *s, uint32_t instance)
{
	wait_longer(&s->wanted[instance], unc_machine_now(s->platform->machine));
}

void unc_units_take_up(struct unc_units *s, uint32_t instance)
{
	struct unc_wanted *wanted = &s->wanted[instance];

	for (int i = wanted->head; i != UNC_END && wanted->claimed == UNC_TRIED;
	     i = s->slot[i].next) {
		struct unc_slot *slot = &s->slot[i];

		if (!unc_units_active(s, slot) || slot->life != UNC_LOST)
			continue;
		slot->life = UNC_TAKEN_UP;
		slot->total = slot->reported = slot->delta = 0;
		slot->reported_unread = slot->late = 0;
		slot->span = (struct unc_span){.before = slot->span.before,
					       .taken_up = true,
					       .total.to = slot->span.total.to};
	}
	if (wanted->claimed == UNC_TRIED) {
		wanted->again_ns = unc_machine_now(s->platform->machine);
		wanted->claimed = UNC_CLAIMED;
	}
}

void unc_units_tell_back(struct unc_units *s)
{
	for (size_t i = 0; i < s->n_slots && s->flawed; i++) {
		const struct unc_run_time *time = &s->slot[i].span.total.time;

		if (s->slot[i].life != UNC_TAKEN_UP || !(time->ran + time->idle))
			continue;
		s->slot[i].lost = (struct unc_loss){.why = UNC_LOST_NOT};
		s->slot[i].life = UNC_SOUND;
	}
}

static struct unc_left *left_of(struct unc_units *s, uint32_t instance)
{
	struct unc_wanted *wanted = &s->wanted[instance];

	if (!wanted->left && (wanted->left = calloc(1, sizeof(*wanted->left))) != NULL)
		wanted->left->told = *unc_unit_get(s->platform, instance);
	return wanted->left;
}

int unc_units_leave_out(struct unc_units *s, uint32_t instance, const struct unc_error *why,
			struct unc_error *err)
{
	struct unc_left *left = left_of(s, instance);

	if (why->code == UNC_ERR_MEMORY || why->code == UNC_ERR_STATE)
		return unc_fail(err, why->code, "%s", why->text);
	if (!left)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	if (!s->failed.code)
		s->failed = *why;
	left->out = *why;
	for (int i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next) {
		s->slot[i].counts =
			UNC_IN_ITS_TURNS; /* what does not have to count now has its own turn */
		if (unc_units_active(s, &s->slot[i]))
			unc_units_lose(s, &s->slot[i], &(struct unc_loss){.why = UNC_LOST_OUT});
	}
	s->wanted[instance].claimed = UNC_FREE;
	return 0;
}

int unc_units_prepare(struct unc_units *s, struct unc_plan *plan, size_t from,
		      struct unc_error *err)
{
	struct unc_error why;
	size_t n = from;
	int rc = plan->n > from ? unc_access_prepare(s->platform->access, plan->op + from,
						     plan->n - from, &why)
				: 0;

	if (rc == 0)
		return 0;
	for (size_t i = from; i < plan->n; i++) {
		uint32_t instance = unc_units_number(s, plan->tag[i].instance);

		if (s->wanted[instance].claimed &&
		    unc_access_prepare(s->platform->access, &plan->op[i], 1, &why) < 0 &&
		    (rc = unc_units_leave_out(s, instance, &why, err)) < 0)
			return rc;
	}
	for (size_t i = from; i < plan->n; i++) {
		if (!unc_units_wanted(s, plan->tag[i].instance)->claimed)
			continue;
		plan->op[n] = plan->op[i];
		plan->tag[n++] = plan->tag[i];
	}
	plan->n = n;
	return 1;
}

int unc_units_leave_failed(struct unc_units *s, struct unc_plan *plan, const char *what,
			   struct unc_error *err)
{
	struct unc_error why;
	int rc = 0;

	for (size_t i = 0; i < plan->n && rc == 0; i++) {
		const struct unc_plan one = {.op = plan->op + i, .tag = plan->tag + i, .n = 1};
		uint32_t instance = unc_units_number(s, plan->tag[i].instance);

		if (plan->op[i].error && s->wanted[instance].claimed) {
			unc_units_fail_op(s, &one, what, &why);
			rc = unc_units_leave_out(s, instance, &why, err);
		}
	}
	return rc;
}

void unc_units_unread(struct unc_units *s, struct unc_slot *slot, uint16_t reg,
		      const struct unc_reg_op *op)
{
	bool (*gone)(int) = s->wanted[slot->instance].by->gone;

	if (gone && gone(op->errno_value))
		unc_units_lose(s, slot,
			       &(struct unc_loss){UNC_LOST_UNREAD, reg, (uint64_t)op->errno_value});
	s->flawed = true;
	unc_slot_part(s, slot);
	slot->unread = (int16_t)unc_op_errno(op);
	slot->unread_reg = reg;
}

void unc_slot_idle(const struct unc_units *s, const struct unc_slot *slot, struct unc_error *err)
{

	unc_fail(err, UNC_ERR_BUSY,
		 "%s: not measured: others of the kernel's users had the counters of %s all the "
		 "time",
		 slot->name, unc_unit_name(s, unc_slot_unit(s, slot)).text);
}

void unc_slot_late(const struct unc_units *s, const struct unc_slot *slot, struct unc_error *err)
{

	unc_fail(err, UNC_ERR_IO, "%s of %s could not be read where the interval began",
		 s->wanted[slot->instance].by->subject(s, slot),
		 unc_unit_name(s, unc_slot_unit(s, slot)).text);
}

void unc_slot_scarce(const struct unc_units *s, const struct unc_slot *slot, double percent,
		     const char *of, struct unc_error *err)
{

	unc_fail(err, UNC_ERR_BUSY, "%s was lost, and has counted again for only %.2g %% of the %s",
		 unc_unit_name(s, unc_slot_unit(s, slot)).text, percent, of);
}

static void changed_text(const struct unc_units *s, const struct unc_slot *slot, const char *unit,
			 const char *reg, struct unc_error *err)
{
	const struct unc_instance *u = unc_slot_unit(s, slot);
	const char *name = slot->name;
	uint64_t value = slot->lost.value;
	char event[UNC_SPEC_MAX];

	if (slot->lost.why == UNC_LOST_CONTROL && value == 0)
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: somebody else has cleared %s of %s while it was counting", name, reg,
			 unit);
	else if (slot->lost.why == UNC_LOST_CONTROL)
		unc_fail(
			err, UNC_ERR_BUSY,
			"%s: somebody else has programmed %s of %s while it was counting: it holds "
			"0x%" PRIx64 "%s",
			name, reg, unit, value,
			unc_unit_event_text(s, u, value, NULL, 0, event, sizeof(event)));
	else if (slot->lost.why == UNC_LOST_KIND)
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: somebody else has programmed %s of %s with an event of another kind "
			 "(0x%" PRIx64 "%s), and the unit counts one kind at a time",
			 name, reg, unit, value,
			 unc_unit_event_text(s, u, value, NULL, 0, event, sizeof(event)));
	else
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: somebody else has changed %s of %s while it was counting: it holds "
			 "0x%" PRIx64,
			 name, reg, unit, value);
}

void unc_slot_loss(const struct unc_units *s, const struct unc_slot *slot, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const char *name = slot->name;
	const char *reg = slot->lost.reg < t->n_reg ? unc_reg_name(t, slot->lost.reg) : "";
	const struct unc_instance *u = unc_slot_unit(s, slot);
	const struct unc_unit_name unit = unc_unit_name(s, u);
	bool lost = slot->lost.why == UNC_LOST_UNREAD;

	if (slot->lost.why == UNC_LOST_OUT) {
		*err = s->wanted[slot->instance].left->out;
		return;
	}
	if (lost || slot->lost.why == UNC_LOST_NOT) {
		s->wanted[slot->instance].by->fail_unread(
			s, slot, lost ? slot->lost.reg : slot->unread_reg,
			lost ? (int)slot->lost.value : slot->unread, err);
		return;
	}
	switch (slot->lost.why) {
	case UNC_LOST_FROZEN:
		if (slot->lost.value) {
			unc_fail(err, UNC_ERR_BUSY,
				 "%s: the clock of %s counted %" PRIu64 " %% of what the others of "
				 "socket %u did: it was frozen for a while",
				 name, unit.text, slot->lost.value, u->socket);
			return;
		}
		/* fall through */
	case UNC_LOST_DOUBTFUL:
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: %s does not count: it is frozen, by a program that was killed or one "
			 "that froze the socket (LIKWID, PCM, an old kernel's perf), or nothing "
			 "drives its "
			 "clock",
			 name, unit.text);
		return;
	case UNC_LOST_CLEARED:
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: somebody else has written to %s of %s while it was counting", name,
			 reg, unit.text);
		return;
	case UNC_LOST_START:
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: %s of %s holds 0x%" PRIx64 " right after 0x%" PRIx64
			 " was written: somebody else programs it at the same time, or it cannot "
			 "be set",
			 name, reg, unit.text, slot->lost.value, slot->start);
		return;
	case UNC_LOST_ONES:
		unc_fail(err, UNC_ERR_IO, "%s: %s of %s reads as all ones: nobody answers", name,
			 reg, unit.text);
		return;
	case UNC_LOST_WRAP:
		unc_fail(err, UNC_ERR_RANGE,
			 "%s: %s of %s was not read for %.0f s and may have wrapped meanwhile",
			 name, reg, unit.text, (double)slot->lost.value * 1e-9);
		return;
	default:
		changed_text(s, slot, unit.text, reg, err);
	}
}

void unc_slot_unproven(const struct unc_units *s, const struct unc_slot *slot,
		       struct unc_error *err)
{
	const struct unc_instance *u = unc_slot_unit(s, slot);
	int slow = s->wanted[slot->instance].slow;

	if (slow >= 0) {
		unc_fail(err, UNC_ERR_BUSY,
			 "a clock of socket %u that never changes counted %d %% of what it did "
			 "before: %s was frozen for a while, or asleep",
			 u->socket, slow, unc_unit_name(s, u).text);
		return;
	}
	unc_fail(err, UNC_ERR_BUSY,
		 "no counter of %s has moved for a while, and none is free for a clock: "
		 "nothing shows whether somebody has frozen it",
		 unc_unit_name(s, u).text);
}

/* Whether a slot counts by a control, and not always. */
static bool is_programmed(const struct unc_units *s, const struct unc_slot *slot)
{
	return slot->code.counter == UNC_NONE ||
	       s->platform->table->counter[slot->code.counter].ctl != UNC_NONE;
}

void unc_units_lose_unit(struct unc_units *s, uint32_t instance, enum unc_extent extent,
			 const struct unc_loss *loss)
{
	for (int i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next)
		if (is_programmed(s, &s->slot[i]) &&
		    (extent == UNC_ALL || unc_units_active(s, &s->slot[i])))
			unc_units_lose(s, &s->slot[i], loss);
}

void unc_units_unread_unit(struct unc_units *s, uint32_t instance, uint16_t reg,
			   const struct unc_reg_op *op)
{
	for (int i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next)
		if (is_programmed(s, &s->slot[i]) && unc_units_active(s, &s->slot[i]) &&
		    !s->slot[i].unread)
			unc_units_unread(s, &s->slot[i], reg, op);
}

void unc_units_lose_frozen(struct unc_units *s, uint32_t instance, enum unc_extent extent)
{
	unc_units_lose_unit(s, instance, extent, &(struct unc_loss){.why = UNC_LOST_FROZEN});
}

const struct unc_unit *unc_units_tell_lost(struct unc_units *s, const struct unc_slot *slot)
{
	struct unc_left *left = left_of(s, slot->instance);

	if (!left)
		return NULL;
	if (slot->lost.why == UNC_LOST_DOUBTFUL)
		unc_fail(&left->reason, UNC_ERR_BUSY,
			 "it does not count: somebody else who counts there may have frozen it, or "
			 "nothing drives its clock");
	else if (slot->lost.why == UNC_LOST_NOT && !slot->unread)
		unc_slot_idle(s, slot, &left->reason);
	else
		unc_slot_loss(s, slot, &left->reason);
	left->told.reason = left->reason.text;
	return &left->told;
}
