/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: counters in use, by what the controls hold. */
#include "units/look.h"

#include "encode/decode.h"
#include "units/inside.h"

/* Whether a register qualifies what the unit counts, or shows that it is frozen, and can be read. */
static bool tells_events(const struct unc_table *t, const struct unc_instance *u, uint16_t reg)
{
	const struct unc_tbl_type *type = &t->type[u->type];
	const struct unc_tbl_reg *row = &t->reg[reg];

	if ((row->flags & (UNC_REG_WO | UNC_REG_W1C | UNC_REG_FROZEN)) ||
	    !u->part[row->part].present)
		return false;
	if (row->role == UNC_ROLE_UNIT_CTL)
		return true;
	for (uint32_t i = 0; i < type->fields.n; i++)
		if (t->field[type->fields.first + i].reg[0] == reg)
			return row->role == UNC_ROLE_OTHER;
	return false;
}

static bool is_looked_at(const struct unc_table *t, const struct unc_instance *u, uint16_t reg,
			 enum unc_look_at what)
{
	switch (t->reg[reg].role) {
	case UNC_ROLE_CTL:
	case UNC_ROLE_FIXED_CTL:
		return true;
	default:
		if (what == UNC_LOOK_STATE)
			return t->reg[reg].role == UNC_ROLE_UNIT_CTL && unc_reg_shows(t, reg);
		return what == UNC_LOOK_EVENTS && tells_events(t, u, reg);
	}
}

static bool is_filter(const struct unc_set *set, uint16_t reg)
{
	for (size_t i = 0; set && i < set->n; i++) {
		const struct unc_code *code = &set->counter[i].event->code;

		if (unc_filter_of(code->filter, code->n_filters, reg))
			return true;
	}
	return false;
}

int unc_look_at(const struct unc_table *t, const struct unc_instance *u, enum unc_look_at what,
		const struct unc_set *set, struct unc_plan *plan, struct unc_error *err)
{
	const struct unc_range *regs = &t->type[u->type].regs;
	int rc = 0;

	for (uint32_t i = 0; i < regs->n && rc == 0; i++) {
		uint16_t reg = (uint16_t)(regs->first + i);

		if (is_looked_at(t, u, reg, what) || is_filter(set, reg))
			rc = unc_plan_add(t, plan, u, reg, UNC_OP_READ, 0, err);
	}
	return rc;
}

uint16_t unc_counter_in_use(const struct unc_table *t, const struct unc_plan *plan, size_t op)
{
	const struct unc_tbl_type *type = &t->type[plan->tag[op].instance->type];
	uint16_t reg = plan->tag[op].reg;
	uint64_t value = plan->op[op].value;

	if (plan->op[op].error)
		return UNC_NONE;
	if (t->reg[reg].role == UNC_ROLE_CTL)
		return value & type->active ? unc_type_ctr(type, t->reg[reg].number) : UNC_NONE;
	for (uint32_t i = 0; i < type->counters.n; i++) {
		const struct unc_tbl_counter *c = &t->counter[type->counters.first + i];

		if (c->ctl == reg && (value & c->enable))
			return c->ctr;
	}
	return UNC_NONE;
}

/* The event of a fixed counter. */
static int fixed_event(const struct unc_table *t, unsigned type, uint16_t ctr, struct unc_spec *out)
{
	for (size_t i = 0; i < t->n_event; i++) {
		const struct unc_tbl_event *e = &t->event[i];

		if (unc_type_pool(t, e->type) != type || e->counter == UNC_NONE ||
		    t->counter[e->counter].ctr != ctr)
			continue;
		*out = (struct unc_spec){
			.type = e->type, .event = (uint16_t)i, .index = -1, .socket = -1};
		return 0;
	}
	return UNC_ERR_NOT_FOUND;
}

int unc_counter_event(const struct unc_table *t, const struct unc_plan *plan, size_t op, char *buf,
		      size_t size)
{
	enum { MAX_FILTERS = 32 };
	struct unc_code_filter filter[MAX_FILTERS];
	const struct unc_instance *u = plan->tag[op].instance;
	struct unc_spec spec;
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < plan->n && n < MAX_FILTERS; i++)
		if (plan->tag[i].instance == u && t->reg[plan->tag[i].reg].role == UNC_ROLE_OTHER &&
		    plan->op[i].error == 0)
			filter[n++] = (struct unc_code_filter){.reg = plan->tag[i].reg,
							       .value = plan->op[i].value,
							       .mask = UINT64_MAX};
	if (t->reg[plan->tag[op].reg].role == UNC_ROLE_CTL)
		rc = unc_code_decode(t, u->type, plan->op[op].value, filter, n, &spec, NULL);
	else
		rc = fixed_event(t, u->type, unc_counter_in_use(t, plan, op), &spec);
	return rc < 0 ? rc : unc_spec_format(t, &spec, buf, size);
}

/* Whether this set counts with the control, and no program has taken it. */
static bool is_own_control(const struct unc_set *own, uint16_t reg)
{
	const struct unc_setting *s = own && own->held ? unc_held_find(own, reg) : NULL;

	return s && s->state != UNC_NOT_OURS;
}

/* Whether a control may be of an event that follows the leading counter of a lane. */
static bool may_follow(const struct unc_table *t, unsigned type, uint64_t ctl,
		       const struct unc_tbl_lane *lane)
{
	const struct unc_tbl_event *e;
	struct unc_spec spec;

	if (unc_code_decode(t, type, ctl, NULL, 0, &spec, NULL) < 0)
		return true;
	e = &t->event[spec.event];
	return e->lane && t->lane[e->lane - 1].name == lane->name;
}

/* Counters that lead lanes of foreign counters. */
static uint32_t leads_of_foreign(const struct unc_table *t, unsigned type,
				 const struct unc_occupancy *o)
{
	uint32_t leads = 0;

	for (const struct unc_tbl_lane *lane = NULL;
	     o->foreign && (lane = UNC_NEXT(t, lane, t->type[type].lanes, lane));)
		for (unsigned c = 0; c < 32; c++)
			if (c != lane->lead && (o->foreign & lane->counters) >> c & 1 &&
			    may_follow(t, type, o->ctl[c], lane))
				leads |= (uint32_t)1 << lane->lead;
	return leads;
}

struct unc_occupancy unc_occupancy(const struct unc_platform *p, const struct unc_plan *plan,
				   const struct unc_instance *u, const struct unc_set *own)
{
	const struct unc_table *t = p->table;
	struct unc_occupancy o = {.foreigner = UNC_NONE};

	for (size_t i = 0; i < plan->n; i++) {
		uint16_t ctl = plan->tag[i].reg;
		bool in_use = unc_counter_in_use(t, plan, i) != UNC_NONE, foreign;
		const struct unc_journal_entry *e;

		if (plan->tag[i].instance != u || is_own_control(own, ctl) ||
		    (!in_use && t->reg[ctl].role != UNC_ROLE_CTL) ||
		    (!in_use && !unc_entry_any(p, u, ctl)))
			continue;
		e = unc_entry_held(p, u, ctl, 0);
		foreign = in_use && !(e && unc_entry_stands(p, u, ctl, e, plan->op[i].value));
		o.n++;
		if (foreign && o.foreigner == UNC_NONE)
			o.foreigner = ctl;
		if (t->reg[ctl].role != UNC_ROLE_CTL)
			continue;
		o.taken |= (uint32_t)1 << t->reg[ctl].number;
		o.foreign |= (uint32_t)foreign << t->reg[ctl].number;
		o.ctl[t->reg[ctl].number] = in_use || !e ? plan->op[i].value : e->value;
	}
	o.taken |= leads_of_foreign(t, u->type, &o);
	return o;
}

uint64_t unc_self_clearing_bits(const struct unc_table *t, const struct unc_tbl_type *type)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < type->fields.n; i++) {
		const struct unc_tbl_field *f = &t->field[type->fields.first + i];

		if (f->flags & UNC_FIELD_ONCE)
			bits |= unc_ones(f->width[0]) << f->lo[0];
	}
	return bits;
}

/* ---- joining: if another session already counts an event, its counter is read, from a base of our
 * own, and nothing is written */

/* The bits of a register, among `bits`, that sessions of this user have set to this value, and that
 * still hold it. */
static uint64_t held_bits(const struct unc_platform *p, const struct unc_instance *u, uint16_t reg,
			  uint64_t value, uint64_t bits, const struct unc_plan *found)
{
	const uint64_t *now = unc_plan_value(found, u, reg);
	const struct unc_journal_entry *e;
	uint64_t held = 0;

	while (now && bits && (e = unc_entry_held(p, u, reg, bits)) != NULL) {
		if (((e->value ^ value) & e->mask & bits) ||
		    ((*now ^ e->value) & e->mask & unc_readback_mask(p->table, u, reg, e->value)))
			break;
		held |= e->mask & bits;
		bits &= ~e->mask;
	}
	return held;
}

static bool counts_the_same(const struct unc_platform *p, const struct unc_instance *u,
			    const struct unc_code *code, unsigned counter,
			    const struct unc_plan *found)
{
	const struct unc_tbl_type *type = &p->table->type[u->type];
	uint64_t bits = ~unc_self_clearing_bits(p->table, type);
	bool all = held_bits(p, u, unc_type_ctl(type, counter), code->ctl, bits, found) == bits;

	for (unsigned i = 0; i < code->n_filters && all; i++) {
		const struct unc_code_filter *f = &code->filter[i];

		all = held_bits(p, u, f->reg, f->value, f->mask, found) == f->mask;
	}
	return all;
}

uint8_t unc_look_for(const struct unc_platform *p, const struct unc_instance *u,
		     const struct unc_code *code, uint32_t taken, const struct unc_plan *found)
{
	for (unsigned c = 0; c < 32 && code->counter == UNC_NONE; c++)
		if ((code->counters & taken) >> c & 1 && counts_the_same(p, u, code, c, found))
			return (uint8_t)c;
	return UNC_NOT_JOINED;
}
