/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: is what was read ours? Others program counters and clear them without asking, and the
 * values look like any others. So the controls are read back after programming and compared from
 * then on: in turn, each once a second or at every read that comes later, and all at the end.
 * Whether a unit counts at all: witness.c.
 */
#include <inttypes.h>

#include "units/registers.h"

/* ---- who depends on a setting */

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
		    (unc_slot_filter(slot, reg) || unc_units_control(s, slot) == reg ||
		     is_led(s, slot, reg)))
			break;
	}
	return i;
}

/* ---- one register */

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
static void compare(struct unc_units *s, const struct unc_claim *u, struct unc_setting *setting,
		    const struct unc_reg_op *op)
{
	const struct unc_table *t = s->platform->table;
	bool shown = setting->state == UNC_SHOWN; /* else a start has failed: nobody has looked */
	uint64_t now = op->value, mask = telling_bits(s, u, setting);
	int i = unc_units_wanted(s, u->instance)->head;
	const struct unc_loss loss = {
		t->reg[setting->reg].role == UNC_ROLE_OTHER ? UNC_LOST_FILTER : UNC_LOST_CONTROL,
		setting->reg, now};

	if (shown)
		mask = setting->mask & t->reg[setting->reg].write_mask;
	if (!op->error && !((now ^ setting->shown) & mask)) {
		if (shown)
			keep_other_bits(s, setting, now);
		return;
	}
	if (!op->error)
		setting->state = UNC_NOT_OURS;
	for (; (i = next_user(s, i, setting->reg)) != UNC_END; i = s->slot[i].next)
		if (op->error)
			unc_units_unread(s, &s->slot[i], setting->reg, op);
		else
			unc_units_lose(s, &s->slot[i], &loss);
}

/* Where unit control can be read it tells whether the unit is frozen, or the counter disabled. */
static void check_unit_control(struct unc_units *s, struct unc_claim *u, uint16_t reg, uint64_t now)
{
	if (unc_unit_frozen(s->platform->table, u->instance, &now) <= 0)
		return;
	u->found = UNC_FOUND_TAKEN;
	unc_units_lose_unit(s, unc_units_number(s, u->instance), UNC_TURN,
			    &(struct unc_loss){UNC_LOST_UNIT, reg, now});
}

/* Who has come since may count what excludes what we count: then neither can be relied on. */
static void check_kind(struct unc_units *s, const struct unc_claim *u, uint16_t reg, uint64_t now)
{
	const struct unc_tbl_type *type = &s->platform->table->type[u->instance->type];

	if ((now & type->active) && ((now ^ u->control[0].value) & type->exclusive))
		unc_units_lose_unit(s, unc_units_number(s, u->instance), UNC_TURN,
				    &(struct unc_loss){UNC_LOST_KIND, reg, now});
}

static void check_one(struct unc_units *s, struct unc_claim *u, uint16_t reg,
		      const struct unc_reg_op *op)
{
	const struct unc_tbl_type *type = &s->platform->table->type[u->instance->type];
	struct unc_setting *setting = unc_claim_setting(u, reg);

	if (op->error)
		s->verified_ns = 0; /* it is due again */
	if (setting)
		compare(s, u, setting, op);
	else if (reg == type->unit_ctl && !type->steps_freeze.n)
		return;
	else if (op->error)
		unc_units_unread_unit(s, unc_units_number(s, u->instance), reg, op);
	else if (reg == type->unit_ctl)
		check_unit_control(s, u, reg, op->value);
	else
		check_kind(s, u, reg, op->value);
}

/* ---- units */

int unc_units_verify_prepare(struct unc_units *s, struct unc_error *err)
{
	struct unc_plan check;
	size_t k = 0;
	int rc = unc_plan_look(s->platform->table, s->claim, s->n_claims, &check, err);

	if (rc == 0)
		rc = unc_units_prepare(s, &check, 0, err);
	if (rc < 0) {
		unc_plan_free(&check);
		return rc;
	}
	unc_plan_free(&s->check);
	s->check = check;
	for (size_t i = 0; i < s->n_claims; i++) {
		s->claim[i].check = k;
		while (k < check.n && check.tag[k].instance == s->claim[i].instance)
			k++;
		s->claim[i].n_checks = k - s->claim[i].check;
	}
	return 0;
}

/* What tells of a unit, read now. */
static struct unc_plan look_at(const struct unc_units *s, const struct unc_claim *u)
{
	struct unc_plan look = {
		.op = s->check.op + u->check, .tag = s->check.tag + u->check, .n = u->n_checks};

	if (look.n)
		unc_access_run(s->platform->access, look.op, look.n);
	return look;
}

/* What a setting shows right after it was written. */
static int take_shown(struct unc_units *s, struct unc_claim *u, struct unc_setting *setting,
		      uint64_t now, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	char event[UNC_SPEC_MAX] = "";

	setting->shown = now;
	setting->state = UNC_SHOWN;
	if (!((now ^ setting->value) & telling_bits(s, u, setting)))
		return 0;
	setting->state = UNC_NOT_OURS;
	if (t->reg[setting->reg].role != UNC_ROLE_OTHER)
		unc_unit_event_text(s, u->instance, now, NULL, 0, event, sizeof(event));
	return unc_fail(err, UNC_ERR_BUSY,
			"%s of %s holds 0x%" PRIx64 "%s right after 0x%" PRIx64
			" was written: somebody else programs it at the same time",
			unc_reg_name(t, setting->reg), unc_unit_name(s, u->instance).text, now,
			event, setting->value);
}

int unc_units_verify_found(struct unc_units *s, struct unc_plan *writes, size_t first,
			   struct unc_error *err)
{
	struct unc_error why;
	size_t n = 0;
	int rc = 0;

	for (size_t i = first; i < s->n_claims && rc == 0; i++) {
		struct unc_claim *u = &s->claim[i];
		struct unc_plan now = look_at(s, u);

		for (size_t k = 0; k < now.n && rc == 0; k++) {
			struct unc_setting *setting = unc_claim_setting(u, now.tag[k].reg);

			if (!setting || setting->state != UNC_NOTED || now.op[k].error ||
			    !((now.op[k].value ^ setting->found) & telling_bits(s, u, setting)))
				continue;
			setting->state = UNC_NOT_OURS;
			unc_fail(&why, UNC_ERR_BUSY,
				 "%s of %s holds 0x%" PRIx64 " in place of 0x%" PRIx64
				 " by now: somebody else programs it at the same time",
				 unc_reg_name(s->platform->table, setting->reg),
				 unc_unit_name(s, u->instance).text, now.op[k].value,
				 setting->found);
			rc = unc_units_leave_out(s, unc_units_number(s, u->instance), &why, err);
			unc_units_wanted(s, u->instance)->again_ns = 0; /* on another counter */
			s->changed = true;
		}
	}
	for (size_t i = 0; i < writes->n; i++)
		if (unc_units_wanted(s, writes->tag[i].instance)->claimed) {
			writes->op[n] = writes->op[i];
			writes->tag[n++] = writes->tag[i];
		}
	writes->n = n;
	return rc;
}

int unc_units_verify_begin(struct unc_units *s, size_t first, struct unc_error *err)
{
	struct unc_error why;
	int rc = 0;

	for (size_t i = first; i < s->n_claims && rc == 0; i++) {
		struct unc_claim *u = &s->claim[i];
		struct unc_plan back = look_at(s, u);

		rc = unc_units_leave_failed(s, &back, "reading the controls back", err);
		for (size_t k = 0; k < back.n && rc == 0; k++) {
			struct unc_setting *setting = unc_claim_setting(u, back.tag[k].reg);

			if (setting && setting->state != UNC_SHOWN && !back.op[k].error &&
			    take_shown(s, u, setting, back.op[k].value, &why) < 0)
				rc = unc_units_leave_out(s, unc_units_number(s, u->instance), &why,
							 err);
		}
	}
	return rc;
}

static void verify(struct unc_units *s, struct unc_claim *u)
{
	struct unc_plan look = look_at(s, u);

	for (size_t k = 0; k < look.n; k++)
		check_one(s, u, look.tag[k].reg, &look.op[k]);
}

/* claim[from] up to claim[to], this one not included. */
static void verify_range(struct unc_units *s, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		verify(s, &s->claim[i]);
}

void unc_units_verify(struct unc_units *s, size_t first)
{
	verify_range(s, first, s->n_claims);
}

void unc_units_verify_suspects(struct unc_units *s)
{
	for (size_t i = 0; i < s->n_claims; i++)
		if (unc_units_wanted(s, s->claim[i].instance)->suspect)
			verify(s, &s->claim[i]);
}

void unc_units_verify_unit(struct unc_units *s, uint32_t instance)
{
	struct unc_claim *u = unc_units_claimed(s, &s->platform->instances.unit[instance]);

	if (u)
		verify(s, u);
}

/* So many that each is compared again within a second, the time until the next read included, if
 * that takes as long as it did to this one. */
void unc_units_verify_due(struct unc_units *s, uint64_t ns)
{
	const uint64_t second = 1000000000;
	uint64_t since = ns - s->verified_ns, rest = second - since;

	if (since >= second / 2) {
		s->verified_ns = ns;
		unc_units_verify(s, 0);
		return;
	}
	size_t from = s->n_claims ? s->next_check % s->n_claims : 0, n = 0;

	for (; n < s->n_claims && s->check.n; n++) {
		struct unc_claim *u = &s->claim[(from + n) % s->n_claims];
		uint64_t cost = u->n_checks * rest / s->check.n;

		if (ns - s->verified_ns < cost)
			break;
		s->verified_ns += cost;
	}
	s->next_check = from + n;
	verify_range(s, from, from + n < s->n_claims ? from + n : s->n_claims);
	if (from + n > s->n_claims)
		verify_range(s, 0, from + n - s->n_claims);
}
