/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: the clock of a unit, that tells whether it counts: a fixed counter, or one of the
 * session's own that is lent for a moment.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "units/inside.h"

/* ---- which counter */

const struct unc_code *unc_clock_code(struct unc_units *s, const struct unc_tbl_event *event)
{
	const struct unc_table *t = s->platform->table;
	struct unc_spec spec = {.type = event->type,
				.event = (uint16_t)(event - t->event),
				.index = -1,
				.socket = -1};

	/* Units come type by type. */
	if (s->clock.event != event)
		s->clock.failed = unc_spec_encode(t, &spec, 0, 1, &s->clock.code, NULL);
	s->clock.event = event;
	return s->clock.failed ? NULL : &s->clock.code;
}

/* A fixed counter is ours and runs, or may for a moment. What its control holds is looked at
 * before. */
static void fixed_clock(const struct unc_table *t, const struct unc_tbl_event *event,
			struct unc_claim *u)
{
	const struct unc_tbl_counter *c = &t->counter[event->counter];
	bool runs = c->ctl == UNC_NONE || unc_claim_setting(u, c->ctl);

	u->clock = (struct unc_clock){.kind = runs ? UNC_CLOCK_RUNS : UNC_CLOCK_FIXED,
				      .ctr = c->ctr,
				      .ctl = c->ctl,
				      .value = c->enable};
}

/* Whether somebody else has programmed the control meanwhile, or counts by it too. *shown: what it
 * holds. */
static bool taken(const struct unc_units *s, struct unc_claim *u, uint16_t reg, uint64_t *shown)
{
	const struct unc_setting *setting = unc_claim_setting(u, reg);

	if (!setting)
		return true;
	*shown = setting->shown;
	return setting->state == UNC_NOT_OURS || unc_units_shares(s, u->instance, reg);
}

/* One of the session's own counters is lent to the clock. */
static void own_clock(struct unc_units *s, struct unc_claim *u, const struct unc_tbl_event *event,
		      const uint32_t *slots, size_t n)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];
	const struct unc_code *code = unc_clock_code(s, event);
	uint64_t shown;

	for (size_t i = 0; code && i < n && !u->clock.kind; i++) {
		const struct unc_slot *slot = &s->slot[slots[i]];
		unsigned counter = t->reg[slot->ctr].number;
		uint16_t ctl = unc_type_ctl(type, counter);

		/* A counter that leads others is not lent: what they count would change. */
		if (slot->code.counter != UNC_NONE || slot->code.lane ||
		    !(code->counters >> counter & 1) ||
		    ((slot->code.ctl ^ code->ctl) & type->exclusive) || taken(s, u, ctl, &shown))
			continue;
		u->clock = (struct unc_clock){.kind = UNC_CLOCK_LENT,
					      .ctr = slot->ctr,
					      .ctl = ctl,
					      .value = code->ctl,
					      .back = shown & t->reg[ctl].write_mask};
	}
}

/* Whether a control of the unit is used by others as well, and so cannot be lent. */
static bool shares_any(const struct unc_units *s, const struct unc_claim *u)
{
	for (size_t i = 0; i < u->n_controls; i++)
		if (u->control[i].by == UNC_JOINED ||
		    unc_units_shares(s, u->instance, u->control[i].reg))
			return true;
	return false;
}

/* Whether a counter may run for a moment without changing what others count. */
static bool leads_none(const struct unc_table *t, const struct unc_tbl_type *type, unsigned counter)
{
	for (uint32_t i = 0; i < type->lanes.n; i++)
		if (t->lane[type->lanes.first + i].lead == counter)
			return false;
	return true;
}

/* What the control of a clock holds now. */
static int read_control(struct unc_units *s, const struct unc_claim *u, uint16_t ctl, uint64_t *now,
			struct unc_error *err)
{
	return unc_units_read_one(s, u->instance, ctl, "looking at a clock", now, err);
}

/* A counter that nobody uses, nor has used and may read yet: its control is 0. */
static bool is_spare(struct unc_units *s, const struct unc_claim *u, uint16_t ctl)
{
	uint64_t now;

	return !unc_units_record(s, u->instance, ctl) && read_control(s, u, ctl, &now, NULL) == 0 &&
	       now == 0;
}

/* Where all that the session counts is shared, a counter that nobody uses is the clock. */
static void spare_clock(struct unc_units *s, struct unc_claim *u, const struct unc_tbl_event *event)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];
	const struct unc_code *code = s->platform->access ? unc_clock_code(s, event) : NULL;

	if (!code)
		return;
	for (size_t i = 0; i < u->n_controls; i++)
		if (t->reg[u->control[i].reg].role == UNC_ROLE_CTL &&
		    ((u->control[i].value ^ code->ctl) & type->exclusive))
			return;
	for (unsigned c = 32; c-- > 0 && !u->clock.kind;) {
		uint16_t ctl = (code->counters >> c & 1) ? unc_type_ctl(type, c) : UNC_NONE;

		if (ctl != UNC_NONE && leads_none(t, type, c) && is_spare(s, u, ctl))
			u->clock = (struct unc_clock){.kind = UNC_CLOCK_SPARE,
						      .ctr = unc_type_ctr(type, c),
						      .ctl = ctl,
						      .value = code->ctl};
	}
}

/* The first of the table that nobody uses. */
static void find_spare(struct unc_units *s, struct unc_claim *u)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_range *events = &t->type[u->instance->type].events;

	for (uint32_t i = events->first; i < events->first + events->n && !u->clock.kind; i++)
		if (t->event[i].clock && t->event[i].counter == UNC_NONE)
			spare_clock(s, u, &t->event[i]);
}

/* The first clock of the table that can be had. */
void unc_units_find_clock(struct unc_units *s, struct unc_claim *u, const uint32_t *slots, size_t n)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_range *events = &t->type[u->instance->type].events;

	u->clock.kind = UNC_CLOCK_NONE;
	for (uint32_t i = events->first; i < events->first + events->n && !u->clock.kind; i++) {
		const struct unc_tbl_event *event = &t->event[i];

		if (event->clock && event->counter != UNC_NONE)
			fixed_clock(t, event, u);
		else if (event->clock)
			own_clock(s, u, event, slots, n);
	}
	if (!u->clock.kind && shares_any(s, u))
		find_spare(s, u);
}

void unc_units_renew_clock(struct unc_units *s, struct unc_claim *u)
{
	uint32_t slots[UNC_MAX_CODES];
	size_t n = unc_units_slots_of(s, unc_units_number(s, u->instance), UNC_TURN, slots);
	uint64_t shown;

	if (u->clock.kind == UNC_CLOCK_NONE || u->clock.kind == UNC_CLOCK_SPARE ||
	    (u->clock.kind == UNC_CLOCK_LENT && taken(s, u, u->clock.ctl, &shown)))
		unc_units_find_clock(s, u, slots, n);
}

/* ---- watching it */

enum { PROOF_TRIES = 6, MAX_ASKED = 8 };

/* The clock of each suspect: its control is written (`back`: as it was), or its counter read. */
static int clock_plan(const struct unc_units *s, const struct unc_suspects *suspects, bool write,
		      bool back, struct unc_plan *plan, struct unc_error *err)
{
	int rc = 0;

	*plan = (struct unc_plan){0};
	for (size_t i = 0; i < suspects->n && rc == 0; i++) {
		const struct unc_claim *u = suspects->unit[i];
		const struct unc_clock *c = &u->clock;

		if (!write)
			rc = unc_plan_add(s->platform->table, plan, u->instance, c->ctr,
					  UNC_OP_READ, 0, err);
		else if (c->kind >= UNC_CLOCK_FIXED)
			rc = unc_plan_add(s->platform->table, plan, u->instance, c->ctl,
					  UNC_OP_WRITE, back ? c->back : c->value, err);
	}
	if (rc == 0 && plan->n)
		rc = unc_access_prepare(s->platform->access, plan->op, plan->n, err);
	if (rc < 0)
		unc_plan_free(plan);
	return rc;
}

static void take_slot_base(struct unc_units *s, struct unc_slot *slot, const struct unc_reg_op *op,
			   uint64_t ns)
{
	if (op->error) { /* nobody knows how much of it the clock has counted */
		unc_units_lose(s, slot,
			       &(struct unc_loss){UNC_LOST_UNREAD, slot->ctr, unc_op_errno(op)});
		return;
	}
	slot->last = op->value;
	if (!slot->begin) /* else what it was set to is compared with all that it has counted since */
		slot->seen_ns = ns;
}

/* Counters that were lent count their events again from here: read after that time, not before. */
static void take_base(struct unc_units *s, struct unc_plan *read)
{
	uint64_t ns, tsc;

	unc_platform_now(s->platform, &ns, &tsc);
	unc_access_run(s->platform->access, read->op, read->n);
	for (size_t i = 0; i < read->n; i++) {
		int k = s->wanted[unc_units_number(s, read->tag[i].instance)].head;

		for (; k != UNC_END; k = s->slot[k].next)
			if (unc_units_active(s, &s->slot[k]) && s->slot[k].ctr == read->tag[i].reg)
				take_slot_base(s, &s->slot[k], &read->op[i], ns);
	}
}

/* Whether a clock has moved, is noted in frozen[]: those that have not. False: time stands still.
 */
static bool watch_clocks(const struct unc_units *s, struct unc_plan *read, bool *frozen)
{
	uint64_t *first = calloc(read->n + 1, sizeof(*first));
	bool any = true, passes = first != NULL;

	for (size_t i = 0; passes && i < read->n; i++) {
		first[i] = read->op[i].value;
		frozen[i] = !read->op[i].error;
	}
	for (int k = 0; any && passes && k < PROOF_TRIES; k++) {
		any = false;
		passes = unc_platform_pause(s->platform, UNC_PROOF_NS << k);
		unc_access_run(s->platform->access, read->op, read->n);
		for (size_t i = 0; i < read->n; i++) {
			frozen[i] &= !read->op[i].error && read->op[i].value == first[i];
			any |= frozen[i];
		}
	}
	free(first);
	return passes;
}

/* A fixed counter that somebody has begun to use since runs by itself. */
static int look_at_clocks(struct unc_units *s, const struct unc_suspects *suspects,
			  struct unc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < suspects->n && rc == 0; i++) {
		const struct unc_claim *u = suspects->unit[i];
		struct unc_clock *c = &suspects->unit[i]->clock;
		uint64_t now;

		if (c->kind != UNC_CLOCK_FIXED && c->kind != UNC_CLOCK_TAKEN)
			continue;
		rc = read_control(s, u, c->ctl, &now, err);
		c->kind = rc == 0 && ((now & c->value) || unc_units_shares(s, u->instance, c->ctl))
				  ? UNC_CLOCK_TAKEN
				  : UNC_CLOCK_FIXED;
		if (rc == 0)
			c->back = now & s->platform->table->reg[c->ctl].write_mask;
	}
	return rc == UNC_ERR_MEMORY ? rc : 0;
}

/* Whether the control that is to be lent holds still what we have set: to write it back later would
 * hide for good that somebody came in between. */
static bool is_ours(struct unc_units *s, struct unc_claim *u)
{
	uint64_t shown, now;

	return !taken(s, u, u->clock.ctl, &shown) &&
	       read_control(s, u, u->clock.ctl, &now, NULL) == 0 &&
	       !((now ^ shown) & s->platform->table->reg[u->clock.ctl].write_mask);
}

/* Units of which the counter is not ours to lend any more are no suspects: the next comparison of
 * their controls tells why they stand still. */
static void drop_taken(struct unc_units *s, struct unc_suspects *suspects)
{
	size_t kept = 0;

	for (size_t i = 0; i < suspects->n; i++)
		if (suspects->unit[i]->clock.kind != UNC_CLOCK_LENT ||
		    is_ours(s, suspects->unit[i]))
			suspects->unit[kept++] = suspects->unit[i];
	suspects->n = kept;
}

int unc_units_run_clocks(struct unc_units *s, struct unc_suspects *suspects, struct unc_error *err)
{
	struct unc_plan on = {0}, off = {0}, read = {0};
	bool *frozen = calloc(suspects->n + 1, sizeof(*frozen));
	size_t kept = 0;
	int rc = frozen ? look_at_clocks(s, suspects, err)
			: unc_fail(err, UNC_ERR_MEMORY, "out of memory");

	if (rc == 0)
		drop_taken(s, suspects);
	if (rc == 0)
		rc = clock_plan(s, suspects, true, false, &on, err);
	if (rc == 0)
		rc = clock_plan(s, suspects, true, true, &off, err);
	if (rc == 0)
		rc = clock_plan(s, suspects, false, false, &read, err);
	for (size_t i = 0; i < suspects->n && rc == 0; i++)
		rc = unc_units_note_lent(s, suspects->unit[i], err);
	if (rc == 0) {
		/* What fails here is no proof of anything: the next read tells why. */
		unc_access_run(s->platform->access, on.op, on.n);
		unc_access_run(s->platform->access, read.op, read.n);
		if (!watch_clocks(s, &read, frozen))
			memset(frozen, 0, suspects->n * sizeof(*frozen));
		unc_units_restore(s, &off, NULL);
		for (size_t i = 0; i < suspects->n; i++)
			unc_units_drop_lent(s, suspects->unit[i]);
		take_base(s, &read);
		for (size_t i = 0; i < suspects->n; i++)
			if (frozen[i])
				suspects->unit[kept++] = suspects->unit[i];
	}
	suspects->n = kept;
	unc_plan_free(&on);
	unc_plan_free(&off);
	unc_plan_free(&read);
	free(frozen);
	return rc;
}

int unc_units_socket_stands(struct unc_units *s, unsigned socket, struct unc_error *err)
{
	const struct unc_platform *p = s->platform;
	struct unc_claim *unit = calloc(1, sizeof(*unit));
	unsigned last = UNC_NONE, asked = 0;
	int stands = 0, rc = unit ? 0 : unc_fail(err, UNC_ERR_MEMORY, "out of memory");

	for (size_t i = 0; i < p->instances.n && asked < MAX_ASKED && rc == 0; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		struct unc_suspects one = {&unit, 1};

		if (u->socket != socket || !u->direct || u->type == last ||
		    !p->table->type[u->type].steps_freeze.n || unc_units_claimed(s, u))
			continue;
		*unit = (struct unc_claim){.instance = u};
		find_spare(s, unit);
		if (!unit->clock.kind)
			continue;
		last = u->type;
		asked++;
		rc = unc_units_run_clocks(s, &one, err);
		stands = one.n != 0;
		if (!stands)
			break;
	}
	free(unit);
	return rc < 0 ? rc : stands;
}
