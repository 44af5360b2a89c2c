/* SPDX-License-Identifier: BSD-3-Clause */
/* Units that are counted by their registers: what is found there, and the settings that slots
 * need. */
#include <math.h>
#include <stdio.h>

#include "units/registers.h"

/* ---- what is there */

/* Reads a unit before we touch it: its controls, and the filters of n slots. Where the platform is
 * for listing only nothing is read. Free with unc_plan_free(). */
int unc_settings_look(struct unc_units *s, const struct unc_instance *u, const uint32_t *slots,
		      size_t n, struct unc_plan *found, struct unc_error *err)
{
	int rc = 0;

	*found = (struct unc_plan){0};
	if (s->platform->access)
		rc = unc_occupancy_look(s, u, UNC_LOOK_STATE, slots, n, found, err);
	if (rc == 0)
		rc = unc_units_run_plan(s, found, "looking at the controls", err);
	if (rc < 0)
		unc_plan_free(found);
	return rc;
}

/* What a register of the unit held then. */
static uint64_t held(const struct unc_plan *found, const struct unc_instance *u, uint16_t reg)
{
	const uint64_t *value = unc_plan_value(found, u, reg);

	return value ? *value : 0;
}

/* ---- settings of one unit */

/* "counter 2 of cbo0 (socket 0) is programmed by somebody else (control 0x400135 =
 * cbo.TOR_INSERTS)". *found: what was read of the unit, filters too, by which an event may be
 * told. */
static const char *other_text(const struct unc_units *s, const struct unc_instance *u,
			      unsigned counter, uint64_t control, const struct unc_plan *found,
			      char *buf, size_t size)
{
	const struct unc_table *t = s->platform->table;
	uint16_t ctl = unc_type_ctl(&t->type[u->type], counter);
	char who[64];
	struct unc_code_filter filter[UNC_MAX_FILTERS];
	char event[UNC_SPEC_MAX];
	size_t n = 0;

	for (size_t i = 0; i < found->n && n < UNC_MAX_FILTERS; i++)
		if (t->reg[found->tag[i].reg].role == UNC_ROLE_OTHER && !found->op[i].error)
			filter[n++] = (struct unc_code_filter){.reg = found->tag[i].reg,
							       .value = found->op[i].value};
	snprintf(buf, size, "counter %u of %s is programmed by %s (control 0x%llx%s)", counter,
		 unc_unit_name(s, u).text, unc_units_holder_text(s, u, ctl, who, sizeof(who)),
		 (unsigned long long)control,
		 unc_unit_event_text(s, u, control, filter, n, event, sizeof(event)));
	return buf;
}

int unc_settings_busy(struct unc_units *s, const struct unc_instance *u,
		      const struct unc_assignment *a, const struct unc_occupancy *o,
		      const struct unc_plan *found, struct unc_error *err)
{
	const struct unc_slot *slot = &s->slot[a->slot[a->failed]];
	const struct unc_tbl_type *type = &s->platform->table->type[u->type];
	uint32_t in_use = 0, way;
	char other[UNC_ERROR_MAX];
	int c = a->beside;

	for (unsigned i = 0; i < type->n_counters; i++)
		in_use |= (uint32_t)(o->ctl[i] != 0) << i;
	way = slot->code.counters & o->taken & in_use;
	if (c < 0)
		c = __builtin_ffs((int)(way ? way : o->foreign)) - 1;
	if (c < 0 || !(slot->code.counters & o->taken))
		return unc_fail(err, UNC_ERR_BUSY, "%s: no counter of %s is free", slot->name,
				unc_unit_name(s, u).text);
	other_text(s, u, (unsigned)c, o->ctl[c], found, other, sizeof(other));
	if (a->beside < 0)
		return unc_fail(err, UNC_ERR_BUSY, "%s: %s and %s", slot->name, other,
				way ? "no other counter is free for it"
				    : "may depend on the only one left for it");
	if ((slot->code.ctl ^ o->ctl[c]) & slot->code.exclusive)
		return unc_fail(err, UNC_ERR_BUSY,
				"%s: %s with an event of another kind, and the unit counts one "
				"kind at a time",
				slot->name, other);
	return unc_fail(err, UNC_ERR_BUSY, "%s: %s, and beside it no filter is set", slot->name,
			other);
}

static int put_setting(const struct unc_claim *u, struct unc_setting *list, size_t *n, uint16_t reg,
		       uint64_t value, uint64_t found, struct unc_error *err)
{
	if (*n == u->room)
		return unc_fail(err, UNC_ERR_CONFLICT, "too many settings for one unit");
	list[*n] = (struct unc_setting){.reg = reg,
					.place = UNC_JOURNAL_NONE,
					.value = value,
					.mask = UINT64_MAX,
					.shown = value,
					.found = found,
					.restore = found};
	++*n;
	return 0;
}

static int fail_filter(const struct unc_units *s, const struct unc_claim *u,
		       const struct unc_slot *slot, uint16_t reg, uint64_t was,
		       struct unc_error *err)
{
	char who[64];

	return unc_fail(err, UNC_ERR_BUSY, "%s: %s of %s is in use by %s (0x%llx)", slot->name,
			unc_reg_name(s->platform->table, reg), unc_unit_name(s, u->instance).text,
			unc_units_holder_text(s, u->instance, reg, who, sizeof(who)),
			(unsigned long long)was);
}

/* Whether bits of a filter may be given this value: what entries tell of them agrees, and is there; no
 * foreign program uses the rest, and no other user. */
static bool may_set(const struct unc_units *s, const struct unc_instance *u,
		    const struct unc_code_filter *f, uint64_t was)
{
	const struct unc_journal_entry *e;
	uint64_t rest = f->mask;

	if (unc_units_taken(s, u, f->reg, rest))
		return false;
	while (rest && (e = unc_units_held(s, u, f->reg, rest)) != NULL) {
		if (((e->value ^ f->value) | (e->value ^ was)) & e->mask & rest)
			return false;
		rest &= ~e->mask;
	}
	return rest != f->mask || !(was & s->platform->table->reg[f->reg].busy);
}

/* Joins the filters of all events; the scheduler has seen that they agree. */
static int set_filters(struct unc_units *s, struct unc_claim *u, const struct unc_slot *slot,
		       const struct unc_plan *found, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;

	for (unsigned i = 0; i < slot->code.n_filters; i++) {
		const struct unc_code_filter *f = &slot->code.filter[i];
		uint64_t was = held(found, u->instance, f->reg);
		size_t k = 0;
		int rc;

		if (!may_set(s, u->instance, f, was))
			return fail_filter(s, u, slot, f->reg, was, err);
		while (k < u->n_filters && u->filter[k].reg != f->reg)
			k++;
		if (k == u->n_filters) {
			rc = put_setting(u, u->filter, &u->n_filters, f->reg,
					 u->company ? was & t->reg[f->reg].write_mask
						    : t->reg[f->reg].base,
					 was, err);
			if (rc < 0)
				return rc;
			u->filter[k].mask = 0;
		}
		u->filter[k].value = (u->filter[k].value & ~f->mask) | f->value;
		u->filter[k].mask |= f->mask;
		u->filter[k].shown = u->filter[k].value;
	}
	return 0;
}

/* The control without what is done once: whoever counts a queue by the same event has emptied it,
 * and it is not emptied under that count. */
static uint64_t control_value(const struct unc_units *s, const struct unc_claim *u, uint64_t ctl,
			      const struct unc_plan *found)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];
	const struct unc_tbl_field *code = &t->field[type->f_event];
	uint64_t code_bits = unc_ones(code->width[0]) << code->lo[0];
	bool counted = false;

	for (size_t i = 0; i < found->n; i++)
		counted |= t->reg[found->tag[i].reg].role == UNC_ROLE_CTL &&
			   unc_counter_in_use(t, found, i) != UNC_NONE &&
			   !((found->op[i].value ^ ctl) & code_bits);
	return counted ? ctl & ~unc_once_bits(t, type) : ctl;
}

/*
 * A counter begins far from both ends of its range: whoever clears it makes it go back. Where
 * others may count that are not in the journal, each session begins at a place of its own, from 1/16
 * to 11/16 of the range: if two set the same counter it leaps. One bit is always set, to show how
 * wide a counter is that is narrower than the table says, and the next one is clear, so that it
 * begins far from its end as well; the low half is 0, which costs no write. One that somebody else
 * counts with is left as it is.
 */
static void set_counter(const struct unc_units *s, struct unc_claim *u, struct unc_slot *slot,
			bool running)
{
	const struct unc_table *t = s->platform->table;
	uint64_t half = (uint64_t)1 << (unc_slot_width(t, slot) - 1);
	bool writable = (t->reg[slot->ctr].write_mask & half) != 0;

	slot->start = !writable || running ? 0
		      : s->place ? ((half / 8 + s->place % (half + half / 4)) | half >> 4) &
					   ~(half >> 5 | UINT32_MAX)
				 : half;
	if (u->n_counters < u->room)
		u->counter[u->n_counters++] =
			(struct unc_claim_counter){.reg = slot->ctr, .start = slot->start};
}

/* Another session counts with it, and it cannot be shared. */
static int fail_held(const struct unc_units *s, const struct unc_claim *u,
		     const struct unc_slot *slot, uint16_t control, const char *why,
		     struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	char who[64];

	return unc_fail(err, UNC_ERR_BUSY, "%s: %s of %s is used by %s, and %s", slot->name,
			unc_reg_name(t, control), unc_unit_name(s, u->instance).text,
			unc_units_holder_text(s, u->instance, control, who, sizeof(who)), why);
}

/* The control of a fixed counter, which there is one of. */
static int set_fixed(struct unc_units *s, struct unc_claim *u, const struct unc_slot *slot,
		     uint16_t control, uint64_t was, struct unc_error *err)
{
	const struct unc_tbl_counter *c = &s->platform->table->counter[slot->code.counter];

	if (!(was & c->enable) && unc_units_entry(s, u->instance, control))
		/* Set again, it would look to who uses it as if it had counted on. */
		return fail_held(s, u, slot, control,
				 "somebody has cleared it: it is free when that one stops", err);
	return put_setting(u, u->control, &u->n_controls, control, c->enable, was, err);
}

/* Slot i of an assignment. */
static int set_slot(struct unc_units *s, struct unc_claim *u, const struct unc_assignment *a,
		    size_t i, const struct unc_plan *found, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	struct unc_slot *slot = &s->slot[a->slot[i]];
	bool running = a->joined[i];
	uint16_t control;
	int rc = 0;

	slot->ctr = unc_slot_register(t, slot, a->counter[i]);
	slot->mask = unc_ones(unc_slot_width(t, slot));
	slot->begin = true;
	slot->pace = NAN;
	control = unc_units_control(s, slot);
	if (slot->code.counter == UNC_NONE) {
		rc = put_setting(u, u->control, &u->n_controls, control,
				 control_value(s, u, slot->code.ctl, found),
				 held(found, u->instance, control), err);
	} else if (control != UNC_NONE) {
		uint64_t was = held(found, u->instance, control);

		running = (was & t->counter[slot->code.counter].enable) != 0;
		rc = set_fixed(s, u, slot, control, was, err);
	}
	if (rc == 0 && control != UNC_NONE) {
		struct unc_setting *setting = &u->control[u->n_controls - 1];

		if (a->joined[i] || (running && setting->value == setting->found))
			setting->by = UNC_JOINED;
	}
	set_counter(s, u, slot, running);
	return rc < 0 ? rc : set_filters(s, u, slot, found, err);
}

/* Whether an event is on the lead of a lane of its own. */
static bool is_lead(const struct unc_table *t, const struct unc_tbl_type *type,
		    const struct unc_code *code, unsigned counter)
{
	for (uint32_t i = 0; i < type->lanes.n && code->lane; i++) {
		const struct unc_tbl_lane *lane = &t->lane[type->lanes.first + i];

		if (lane->lead == counter && lane->name == t->lane[code->lane - 1].name)
			return true;
	}
	return false;
}

/* Whether only sessions of this user count on a unit, of which the first has found that nothing
 * drives it. */
static bool is_idle(const struct unc_units *s, const struct unc_instance *u,
		    const struct unc_occupancy *o)
{
	const struct unc_journal_entry *e =
		unc_units_held(s, u, s->platform->table->type[u->type].unit_ctl, 0);

	return o->foreigner == UNC_NONE && e && e->value == UNC_STANDS;
}

/* Unit control is not written beside a foreign counter, and stops what would count here. */
static int fail_stopped(const struct unc_units *s, const struct unc_instance *u,
			const struct unc_occupancy *o, uint64_t control,
			const struct unc_plan *found, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	char event[UNC_SPEC_MAX];

	return unc_fail(
		err, UNC_ERR_BUSY,
		"%s of %s holds 0x%llx, which does not let all of it count, and %s counts for "
		"somebody else (0x%llx%s)",
		unc_reg_name(t, t->type[u->type].unit_ctl), unc_unit_name(s, u).text,
		(unsigned long long)control, unc_reg_name(t, o->foreigner),
		(unsigned long long)held(found, u, o->foreigner),
		unc_unit_event_text(s, u, held(found, u, o->foreigner), NULL, 0, event,
				    sizeof(event)));
}

int unc_settings_claim(struct unc_units *s, struct unc_claim *u, const struct unc_assignment *a,
		       const struct unc_occupancy *o, const struct unc_plan *found,
		       struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];
	uint64_t control = held(found, u->instance, type->unit_ctl);
	int rc = 0;

	u->company = o->n ? UNC_SHARED : UNC_ALONE;
	if (!u->n_staying)
		u->unit_ctl = control;
	if (!u->n_staying && o->n && is_idle(s, u->instance, o))
		u->found = UNC_FOUND_IDLE;
	if (!u->n_staying && o->foreigner != UNC_NONE &&
	    unc_unit_frozen(t, u->instance, &control) > 0)
		return fail_stopped(s, u->instance, o, control, found, err);
	/* Who leads a lane is set first, and restored last. */
	for (int leads = 1; leads >= 0; leads--)
		for (size_t i = 0; i < a->n && rc == 0; i++)
			if (s->slot[a->slot[i]].counts != UNC_STAYS &&
			    is_lead(t, type, &s->slot[a->slot[i]].code, a->counter[i]) == leads)
				rc = set_slot(s, u, a, i, found, err);
	return rc;
}
