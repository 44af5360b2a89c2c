/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: is what was read ours? Others program counters and clear them without asking, and the
 * values look like any others. So the controls are read back after programming and compared from
 * then on. Whether a unit counts at all: prove.c.
 */
#include <inttypes.h>

#include "units/inside.h"

/* ---- who depends on a setting */

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

/* The first slot from `i` on that needs a control or filter to hold what was programmed. */
static int next_user(const struct unc_units *s, int i, uint16_t reg)
{
	for (; i != UNC_END; i = s->slot[i].next) {
		const struct unc_slot *slot = &s->slot[i];

		if (unc_units_active(s, slot) &&
		    (looks_at(slot, reg) || unc_units_control(s, slot) == reg ||
		     is_led(s, slot, reg)))
			break;
	}
	return i;
}

/* ---- one register */

/* What was read of a claim. */
struct shown {
	struct unc_claim *u;
	uint16_t reg;
	const struct unc_reg_op *op;
};

/* Bits of a setting that show what was written to them. */
static uint64_t telling_bits(const struct unc_units *s, const struct unc_claim *u,
			     const struct unc_setting *setting)
{
	return setting->mask &
	       unc_telling_bits(s->platform->table, u->instance, setting->reg, setting->value);
}

/* Bits of a filter that we do not look at are for others to set: they are not restored as found. */
static void keep_other_bits(const struct unc_units *s, struct unc_setting *setting, uint64_t now)
{
	uint64_t others = (now ^ setting->shown) & ~setting->mask &
			  s->platform->table->reg[setting->reg].write_mask;

	setting->restore = (setting->restore & ~others) | (now & others);
	setting->shown ^= others;
}

/* A control or filter: where it holds something else it is no longer ours to restore. What
 * cannot be read does not tell whether the counters are ours. */
static void compare(struct unc_units *s, const struct shown *read, struct unc_setting *setting)
{
	const struct unc_table *t = s->platform->table;
	bool shown = setting->state == UNC_SHOWN; /* else a start has failed: nobody has looked */
	uint64_t now = read->op->value, mask = telling_bits(s, read->u, setting);
	int i = s->wanted[unc_units_number(s, read->u->instance)].head;
	const struct unc_loss loss = {
		t->reg[setting->reg].role == UNC_ROLE_OTHER ? UNC_LOST_FILTER : UNC_LOST_CONTROL,
		setting->reg, now};

	if (shown)
		mask = setting->mask & t->reg[setting->reg].write_mask;
	if (!read->op->error && !((now ^ setting->shown) & mask)) {
		if (shown)
			keep_other_bits(s, setting, now);
		return;
	}
	if (!read->op->error)
		setting->state = UNC_NOT_OURS;
	for (; (i = next_user(s, i, setting->reg)) != UNC_END; i = s->slot[i].next)
		if (read->op->error)
			unc_units_unread(s, &s->slot[i], setting->reg, read->op);
		else
			unc_units_lose(s, &s->slot[i], &loss);
}

/* Where unit control can be read it tells whether the unit is frozen, or the counter disabled. */
static void check_unit_control(struct unc_units *s, const struct shown *read)
{
	const struct unc_instance *u = read->u->instance;
	uint64_t control = read->op->value;

	if (read->op->error) {
		unc_units_unread_unit(s, unc_units_number(s, u), read->reg, read->op);
	} else if (unc_unit_frozen(s->platform->table, u, &control) > 0 &&
		   !(s->guest && s->guest->freezes(s->host, u, control))) {
		read->u->found = UNC_FOUND_TAKEN;
		unc_units_lose_unit(s, unc_units_number(s, u), UNC_TURN,
				    &(struct unc_loss){UNC_LOST_UNIT, read->reg, control});
	}
}

/* Who has come since may count what excludes what we count: then neither can be relied on. */
static void check_kind(struct unc_units *s, const struct shown *read)
{
	const struct unc_instance *u = read->u->instance;
	const struct unc_tbl_type *type = &s->platform->table->type[u->type];
	uint64_t now = read->op->value;

	if (read->op->error)
		unc_units_unread_unit(s, unc_units_number(s, u), read->reg, read->op);
	else if ((now & type->active) && ((now ^ read->u->control[0].value) & type->exclusive))
		unc_units_lose_unit(s, unc_units_number(s, u), UNC_TURN,
				    &(struct unc_loss){UNC_LOST_KIND, read->reg, now});
}

static void check_one(struct unc_units *s, const struct shown *read)
{
	const struct unc_tbl_type *type = &s->platform->table->type[read->u->instance->type];
	struct unc_setting *setting = unc_claim_setting(read->u, read->reg);

	if (setting)
		compare(s, read, setting);
	else if (read->reg != type->unit_ctl)
		check_kind(s, read);
	else if (type->steps_freeze.n)
		check_unit_control(s, read);
}

/* ---- all */

/* The claim that read k of s->check is about, given that of an earlier one. */
static size_t claim_of(const struct unc_units *s, size_t k, size_t claim)
{
	while (s->claim[claim].instance != s->check.tag[k].instance)
		claim = (claim + 1) % s->n_claims;
	return claim;
}

/* Where the reads of claim[first] and those behind it begin. */
static size_t checks_from(const struct unc_units *s, size_t first)
{
	size_t k = 0;

	for (size_t claim = 0; k < s->check.n; k++)
		if ((claim = claim_of(s, k, claim)) >= first)
			break;
	return k;
}

int unc_units_verify_prepare(struct unc_units *s, struct unc_error *err)
{
	struct unc_plan check;
	int rc = unc_plan_look(s->platform->table, s->claim, s->n_claims, &check, err);

	if (rc == 0)
		rc = unc_units_prepare(s, &check, 0, err);
	if (rc < 0) {
		unc_plan_free(&check);
		return rc;
	}
	unc_plan_free(&s->check);
	s->check = check;
	return 0;
}

/* What a setting shows right after it was written. */
static int take_shown(struct unc_units *s, struct unc_claim *u, struct unc_setting *setting,
		      uint64_t now, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	char unit[64], event[UNC_SPEC_MAX] = "";

	setting->shown = now;
	setting->state = UNC_SHOWN;
	if (!((now ^ setting->value) & telling_bits(s, u, setting)))
		return 0;
	setting->state = UNC_NOT_OURS;
	unc_unit_text(s, u->instance, unit, sizeof(unit));
	if (t->reg[setting->reg].role != UNC_ROLE_OTHER)
		unc_unit_event_text(s, u->instance, now, NULL, 0, event, sizeof(event));
	return unc_fail(err, UNC_ERR_BUSY,
			"%s of %s holds 0x%" PRIx64 "%s right after 0x%" PRIx64
			" was written: somebody else programs it at the same time",
			unc_tbl_str(t, t->reg[setting->reg].name), unit, now, event,
			setting->value);
}

int unc_units_verify_begin(struct unc_units *s, size_t first, struct unc_error *err)
{
	size_t from = checks_from(s, first), claim = first;
	struct unc_plan back = {
		.op = s->check.op + from, .tag = s->check.tag + from, .n = s->check.n - from};
	struct unc_error why;
	int rc = 0;

	if (!back.n)
		return 0;
	if (unc_access_run(s->platform->access, back.op, back.n) < 0)
		rc = unc_units_leave_failed(s, &back, "reading the controls back", err);
	for (size_t k = from; k < s->check.n && rc == 0; k++) {
		struct unc_setting *setting;

		claim = claim_of(s, k, claim);
		setting = unc_claim_setting(&s->claim[claim], s->check.tag[k].reg);
		if (setting && !setting->stays && !s->check.op[k].error &&
		    take_shown(s, &s->claim[claim], setting, s->check.op[k].value, &why) < 0)
			rc = unc_units_leave_out(s, unc_units_number(s, s->claim[claim].instance),
						 &why, err);
	}
	return rc;
}

size_t unc_units_verify(struct unc_units *s, size_t first)
{
	size_t from = checks_from(s, first), claim = first;

	if (from >= s->check.n)
		return 0;
	unc_access_run(s->platform->access, s->check.op + from, s->check.n - from);
	for (size_t k = from; k < s->check.n; k++) {
		claim = claim_of(s, k, claim);
		check_one(s,
			  &(struct shown){&s->claim[claim], s->check.tag[k].reg, &s->check.op[k]});
	}
	return s->check.n - from;
}
