/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: is what was read ours? Others program counters and clear them without asking, and the
 * values look like any others. So the controls are read back after programming and compared from
 * then on. Whether a unit counts at all: prove.c.
 */
#include <inttypes.h>

#include "units/units.h"

static bool looks_at(const struct unc_slot *slot, uint16_t filter)
{
	for (unsigned i = 0; i < slot->code.n_filters; i++)
		if (slot->code.filter[i].reg == filter)
			return true;
	return false;
}

/* Whether a slot counts in a lane that the counter of this control leads. */
static bool is_led(const struct unc_units *s, const struct unc_slot *slot, uint16_t control)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[unc_type_pool(t, slot->code.type)];
	uint8_t counter = t->reg[slot->ctr].number;

	for (uint32_t i = 0; i < type->lanes.n && slot->code.lane; i++) {
		const struct unc_tbl_lane *lane = &t->lane[type->lanes.first + i];

		if (lane->name == t->lane[slot->code.lane - 1].name &&
		    (lane->counters >> counter & 1) && unc_type_ctl(type, lane->lead) == control)
			return true;
	}
	return false;
}

static bool depends(const struct unc_units *s, const struct unc_slot *slot,
		    const struct unc_setting *setting, bool filter)
{
	if (!unc_units_active(s, slot))
		return false;
	if (filter)
		return looks_at(slot, setting->reg);
	return unc_units_control(s, slot) == setting->reg || is_led(s, slot, setting->reg);
}

/* A control or filter no longer holds what was programmed: it is not ours to put back. */
static void lose_setting(struct unc_units *s, const struct unc_plan_unit *u,
			 struct unc_setting *setting, bool filter, uint64_t now)
{
	int i = s->wanted[u->instance - s->platform->instances.unit].head;

	setting->keep = true;
	for (; i != UNC_END; i = s->slot[i].next)
		if (depends(s, &s->slot[i], setting, filter))
			unc_units_lose(s, &s->slot[i], filter ? UNC_LOST_FILTER : UNC_LOST_CONTROL,
				       setting->reg, now);
}

/* What cannot be read does not tell whether the counters are ours. */
static void doubt(struct unc_units *s, const struct unc_plan_unit *u,
		  const struct unc_setting *setting, bool filter, const struct unc_reg_op *op)
{
	int i = s->wanted[u->instance - s->platform->instances.unit].head;

	for (; i != UNC_END; i = s->slot[i].next)
		if (depends(s, &s->slot[i], setting, filter))
			unc_units_unread(s, &s->slot[i], setting->reg, op);
}

/* ---- reading back */

/* Bits of a setting that show what was written to them. */
static uint64_t telling_bits(const struct unc_units *s, const struct unc_plan_unit *u,
			     const struct unc_setting *setting, bool filter)
{
	return setting->mask & unc_telling_bits(s->platform->table, u->instance, setting->reg,
						setting->value, filter);
}

/* Bits of a filter that we do not look at are for others to set: they are not put back as found. */
static void keep_other_bits(const struct unc_units *s, struct unc_setting *setting, uint64_t now)
{
	uint64_t others = (now ^ setting->shown) & ~setting->mask &
			  s->platform->table->reg[setting->reg].write_mask;

	setting->restore = (setting->restore & ~others) | (now & others);
	setting->shown ^= others;
}

static int compare(struct unc_units *s, struct unc_plan_unit *u, struct unc_setting *setting,
		   bool filter, uint64_t now, struct unc_error *err)
{
	/* Where a start has failed nobody has looked yet what it shows. */
	uint64_t mask = telling_bits(s, u, setting, filter);

	if (setting->seen)
		mask = setting->mask & s->platform->table->reg[setting->reg].write_mask;
	(void)err;
	if ((now ^ setting->shown) & mask)
		lose_setting(s, u, setting, filter, now);
	else if (setting->seen)
		keep_other_bits(s, setting, now);
	return 0;
}

/* What a setting shows right after it was written. */
static int take_shown(struct unc_units *s, struct unc_plan_unit *u, struct unc_setting *setting,
		      bool filter, uint64_t now, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	char unit[64], event[UNC_SPEC_MAX];

	setting->shown = now;
	setting->seen = true;
	if (setting->reg == u->clock.ctl)
		u->clock.back = now & t->reg[setting->reg].write_mask;
	if (!((now ^ setting->value) & telling_bits(s, u, setting, filter)))
		return 0;
	setting->keep = true;
	unc_units_unit_text(s, u->instance, unit, sizeof(unit));
	return unc_fail(
		err, UNC_ERR_BUSY,
		"%s of %s holds 0x%" PRIx64 "%s right after 0x%" PRIx64
		" was written: somebody else programs it at the same time",
		unc_tbl_str(t, t->reg[setting->reg].name), unit, now,
		filter ? ""
		       : unc_units_event_text(s, u->instance, now, NULL, 0, event, sizeof(event)),
		setting->value);
}

typedef int (*setting_fn)(struct unc_units *, struct unc_plan_unit *, struct unc_setting *,
			  bool filter, uint64_t now, struct unc_error *);

/* The reads of s->check that are of a unit. */
static size_t checks_of(const struct unc_units *s, const struct unc_plan_unit *u)
{
	const struct unc_table *t = s->platform->table;
	size_t n = u->n_controls && unc_plan_shows(t, t->type[u->instance->type].unit_ctl);

	for (size_t k = 0; k < u->n_controls; k++)
		n += unc_plan_shows(t, u->control[k].reg);
	for (size_t k = 0; k < u->n_filters; k++)
		n += unc_plan_shows(t, u->filter[k].reg);
	return n + unc_plan_watched(t, u);
}

/* Calls fn for each setting of unit[first] and those behind it with what it holds, as far as it
 * could be read; op: where their reads begin. */
static int each_setting(struct unc_units *s, size_t first, const struct unc_reg_op *op,
			setting_fn fn, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	int rc = 0;

	for (size_t i = first; i < s->n_units && rc == 0; i++) {
		struct unc_plan_unit *u = &s->unit[i];

		for (size_t k = 0; k < u->n_controls + u->n_filters; k++) {
			bool filter = k >= u->n_controls;
			struct unc_setting *setting =
				filter ? &u->filter[k - u->n_controls] : &u->control[k];

			if (!unc_plan_shows(t, setting->reg))
				continue;
			if (op->error)
				doubt(s, u, setting, filter, op);
			else if (rc == 0)
				rc = fn(s, u, setting, filter, op->value, err);
			op++;
		}
		op += u->n_controls && unc_plan_shows(t, t->type[u->instance->type].unit_ctl);
		op += unc_plan_watched(t, u);
	}
	return rc;
}

static void take_unit(struct unc_units *s, struct unc_plan_unit *u, uint16_t reg, uint64_t now)
{
	u->unit_taken = true;
	unc_units_lose_unit(s, u, UNC_LOST_UNIT, reg, now);
}

/* Where unit control can be read it tells whether the unit is frozen, or the counter disabled. */
static void check_unit_controls(struct unc_units *s, size_t first, const struct unc_reg_op *op)
{
	const struct unc_table *t = s->platform->table;

	for (size_t i = first; i < s->n_units; i++) {
		struct unc_plan_unit *u = &s->unit[i];
		const struct unc_tbl_type *type = &t->type[u->instance->type];

		op += checks_of(s, u);
		if (!u->n_controls || !unc_plan_shows(t, type->unit_ctl) || !type->steps_freeze.n)
			continue;
		/* It is the last of what is ours. */
		const struct unc_reg_op *control = op - unc_plan_watched(t, u) - 1;

		if (control->error) {
			unc_units_unread_unit(s, u, type->unit_ctl, control);
			continue;
		}
		if (unc_unit_state(t, type, control->value) != UNC_UNIT_RUNS &&
		    !(s->guest && s->guest->freezes(s->host, u->instance, control->value)))
			take_unit(s, u, type->unit_ctl, control->value);
	}
}

/* Who has come since may count what excludes what we count: then neither can be relied on. */
static void check_kinds(struct unc_units *s, size_t first, const struct unc_plan *check,
			size_t from)
{
	const struct unc_table *t = s->platform->table;

	for (size_t i = first; i < s->n_units; i++) {
		struct unc_plan_unit *u = &s->unit[i];
		const struct unc_tbl_type *type = &t->type[u->instance->type];
		size_t n = unc_plan_watched(t, u);

		from += checks_of(s, u);
		for (size_t k = from - n; k < from; k++) {
			const struct unc_reg_op *op = &check->op[k];

			if (op->error)
				unc_units_unread_unit(s, u, check->tag[k].reg, op);
			else if ((op->value & type->active) &&
				 ((op->value ^ u->control[0].value) & type->exclusive))
				unc_units_lose_unit(s, u, UNC_LOST_KIND, check->tag[k].reg,
						    op->value);
		}
	}
}

int unc_units_verify_prepare(struct unc_units *s, struct unc_error *err)
{
	int rc;

	unc_plan_free(&s->check);
	rc = unc_plan_look(s->platform->table, s->unit, s->n_units, &s->check, err);
	if (rc == 0 && s->check.n)
		rc = unc_access_prepare(s->platform->access, s->check.op, s->check.n, err);
	return rc;
}

/* Where the reads of unit[first] begin. */
static size_t checks_before(const struct unc_units *s, size_t first)
{
	size_t n = 0;

	for (size_t i = 0; i < first; i++)
		n += checks_of(s, &s->unit[i]);
	return n;
}

int unc_units_verify_begin(struct unc_units *s, size_t first, struct unc_error *err)
{
	size_t from = checks_before(s, first);

	if (!s->check.n)
		return 0;
	if (unc_access_run(s->platform->access, s->check.op + from, s->check.n - from) < 0)
		return unc_units_fail_op(s, &s->check, "reading the controls back", err);
	return each_setting(s, first, s->check.op + from, take_shown, err);
}

/* ---- at intervals */

int unc_units_verify_due(struct unc_units *s, struct unc_error *err)
{
	/* ns: it costs as much as a read; a clock that is lent takes time from what is counted. */
	const uint64_t often = 1000000, prove_often = 50000000;
	uint64_t ns, tsc;
	bool prove;
	int rc;

	unc_platform_now(s->platform, &ns, &tsc);
	if (ns - s->verified_ns < often)
		return 0;
	/* Who starts meanwhile must not find a clock that is lent; nobody is waited for. */
	prove = ns - s->proven_ns >= prove_often && unc_units_try_lock(s);
	rc = unc_units_verify(s, 0, prove, err);
	if (prove)
		unc_units_unlock(s);
	return rc;
}

int unc_units_verify(struct unc_units *s, size_t first, bool prove, struct unc_error *err)
{
	size_t from = checks_before(s, first);
	uint64_t ns, tsc;
	int rc;

	unc_platform_now(s->platform, &ns, &tsc);
	if (first == 0)
		s->verified_ns = ns;
	if (first == 0 && prove)
		s->proven_ns = ns;
	if (prove && (rc = unc_units_kernel_prove(s, first, false, err)) < 0)
		return rc;
	if (from >= s->check.n)
		return 0;
	unc_access_run(s->platform->access, s->check.op + from, s->check.n - from);
	each_setting(s, first, s->check.op + from, compare, NULL);
	check_unit_controls(s, first, s->check.op + from);
	check_kinds(s, first, &s->check, from);
	return prove ? unc_units_prove_again(s, first, err) : 0;
}
