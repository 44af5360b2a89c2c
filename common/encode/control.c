/* SPDX-License-Identifier: BSD-3-Clause */
#include "encode/control.h"

#include "encode/event.h"

/* Whether a umask adds to what the event sets in a field. */
static bool added_to(const struct unc_table *t, const struct unc_tbl_event *e, uint16_t field)
{
	for (const struct unc_tbl_umask *u = NULL; (u = UNC_NEXT(t, umask, e->umasks, u));)
		if (unc_sets_field(t, &unc_umask_fields(t, u)->sets, field))
			return true;
	return false;
}

static bool fits(const struct unc_table *t, const struct unc_tbl_event *e, uint64_t ctl,
		 uint64_t ignored)
{
	if (e->counter != UNC_NONE || e->fields.sets.n == 0)
		return false;
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(t, set, e->fields.sets, s));) {
		const struct unc_tbl_field *f = &t->field[s->field];
		uint64_t value;

		if (f->reg[0] != UNC_NONE)
			continue;
		value = unc_field_value(f, ctl, NULL, 0, NULL);
		if (added_to(t, e, s->field))
			value &= s->value;
		if ((value ^ s->value) & ~(ignored >> f->lo[0]))
			return false;
	}
	return true;
}

const struct unc_tbl_event *unc_control_event(const struct unc_table *t, unsigned type,
					      uint64_t ctl, uint64_t ignored, size_t *next)
{
	while (*next < t->n_event) {
		const struct unc_tbl_event *e = &t->event[(*next)++];

		if (unc_type_pool(t, e->type) == unc_type_pool(t, type) && fits(t, e, ctl, ignored))
			return e;
	}
	return NULL;
}

/* An event that a control may stand for. */
struct meaning {
	const struct unc_table *t;
	const struct unc_tbl_type *type;
	uint64_t ctl;
	uint16_t reg;
	uint64_t explained; /* bits of ctl */
	uint64_t looks;     /* bits of reg */
	bool filtered;      /* it looks at some register */
};

/* Whether a field does something: one that comes with a bit of the control does where that is set. */
static bool is_on(struct meaning *m, const struct unc_tbl_field *f)
{
	bool on = true;

	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(m->t, set, f->with, s));) {
		const struct unc_tbl_field *with = &m->t->field[s->field];

		if (with->reg[0] != UNC_NONE)
			continue;
		m->explained |= unc_field_bits(with, UNC_NONE);
		on &= unc_field_of(with, m->ctl) == s->value;
	}
	return on;
}

/* A field that the event takes, with those that go with it. */
static void take_field(struct meaning *m, uint16_t field)
{
	const struct unc_tbl_field *f = &m->t->field[field];
	const uint16_t beside[] = {f->mask, f->needs};

	m->explained |= unc_field_bits(f, UNC_NONE);
	if (f->reg[0] == UNC_NONE || !is_on(m, f))
		return;
	m->filtered = true;
	m->looks |= unc_field_bits(f, m->reg);
	for (uint32_t i = 0; i < f->with.n; i++)
		m->looks |=
			unc_field_bits(&m->t->field[m->t->set[f->with.first + i].field], m->reg);
	for (unsigned i = 0; i < 2; i++)
		if (beside[i] != UNC_NONE)
			m->looks |= unc_field_bits(&m->t->field[beside[i]], m->reg);
}

static void take_fields(struct meaning *m, const struct unc_range *fields)
{
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(m->t, set, *fields, s));)
		take_field(m, s->field);
}

static void take_all(struct meaning *m, const struct unc_tbl_fields *fields)
{
	take_fields(m, &fields->needs);
	take_fields(m, &fields->uses);
	take_fields(m, &fields->defaults);
}

/* Bits of the control that event or umask set; in a filter it is a field that they look at. */
static uint64_t take_sets(struct meaning *m, const struct unc_tbl_event *e,
			  const struct unc_range *sets)
{
	uint64_t bits = 0;

	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(m->t, set, *sets, s));) {
		const struct unc_tbl_field *f = &m->t->field[s->field];

		if (f->reg[0] != UNC_NONE)
			take_field(m, s->field);
		else if (e && !added_to(m->t, e, s->field))
			bits |= unc_field_bits(f, UNC_NONE);
		else
			bits |= s->value << f->lo[0];
	}
	return bits;
}

/* Each umask of which all bits are set may be the one that was meant. */
static void take_umasks(struct meaning *m, const struct unc_tbl_event *e)
{
	for (const struct unc_tbl_umask *row = NULL;
	     (row = UNC_NEXT(m->t, umask, e->umasks, row));) {
		const struct unc_tbl_fields *u = unc_umask_fields(m->t, row);
		struct meaning with = *m;
		uint64_t bits = take_sets(&with, NULL, &u->sets);

		if (bits & ~m->ctl)
			continue;
		*m = with;
		m->explained |= bits;
		take_all(m, u);
	}
}

/*
 * Whether the event explains all of the control; adds what it looks at. A register that qualifies
 * whatever takes its fields works together with others: who takes one of them looks at all.
 */
static bool explain(struct meaning *m, const struct unc_tbl_event *e)
{
	const struct unc_tbl_type *type = m->type;

	m->filtered = false;
	m->explained = unc_type_modifiers(m->t, type) | take_sets(m, e, &e->fields.sets);
	take_all(m, &e->fields);
	for (const struct unc_tbl_field *f = NULL; (f = UNC_NEXT(m->t, field, type->fields, f));)
		if (f->flags & (UNC_FIELD_USER | UNC_FIELD_DEFAULT))
			take_field(m, (uint16_t)(f - m->t->field));
	take_umasks(m, e);
	for (uint32_t i = 0; m->filtered && i < type->regs.n; i++)
		if (m->t->reg[type->regs.first + i].flags & UNC_REG_EVERY)
			m->looks = UINT64_MAX;
	return !(m->ctl & ~m->explained);
}

uint64_t unc_control_looks(const struct unc_table *t, unsigned type, uint64_t ctl, uint16_t reg)
{
	const struct unc_tbl_type *pool = &t->type[unc_type_pool(t, type)];
	const struct unc_tbl_event *e;
	uint64_t looks = 0;
	bool known = false;

	for (size_t i = 0; (e = unc_control_event(t, type, ctl, 0, &i)) != NULL;) {
		struct meaning m = {.t = t, .type = pool, .ctl = ctl, .reg = reg};

		if (!explain(&m, e))
			continue;
		known = true;
		looks |= m.looks;
	}
	return known ? looks : UINT64_MAX;
}

bool unc_control_in_lane(const struct unc_table *t, unsigned type, uint64_t ctl,
			 const struct unc_tbl_lane *lane)
{
	const struct unc_tbl_event *e;
	bool known = false;

	for (size_t i = 0; (e = unc_control_event(t, type, ctl, 0, &i)) != NULL; known = true)
		if (e->lane && t->lane[e->lane - 1].name == lane->name)
			return true;
	return !known;
}
