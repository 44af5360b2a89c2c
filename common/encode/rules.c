/* SPDX-License-Identifier: BSD-3-Clause */
/* What an event, its umasks and its fields may not be together. */
#include <stdio.h>
#include <string.h>

#include "encode/encode.h"
#include "tables/table.h"

typedef unsigned long long ull;

static const char *umask_name(const struct unc_work *w, unsigned i)
{
	return unc_tbl_str(w->t, w->t->umask[w->umask[i]].name);
}

static const char *field_name(const struct unc_work *w, uint16_t field)
{
	return unc_tbl_str(w->t, w->t->field[field].name);
}

int unc_refuse(struct unc_work *w, int code, const char *format, ...)
{
	char text[UNC_ERROR_MAX];

	UNC_FORMAT(text, format);
	return unc_fail(w->err, code, "%s.%s: %s",
			unc_tbl_str(w->t, w->t->type[w->spec->type].name),
			unc_tbl_str(w->t, w->t->event[w->spec->event].name), text);
}

bool unc_user_gave(const struct unc_spec *spec, uint16_t field)
{
	for (unsigned i = 0; i < spec->n_fields; i++)
		if (spec->field[i].field == field)
			return true;
	return false;
}

bool unc_is_chosen(const struct unc_work *w, uint16_t field)
{
	bool given = unc_user_gave(w->spec, field);

	for (unsigned i = 0; i < w->n_umasks && !given; i++)
		given = unc_sets_field(w->t, &w->t->umask[w->umask[i]].sets, field);
	return given;
}

bool unc_is_given(const struct unc_work *w, uint16_t field)
{
	return unc_is_chosen(w, field) ||
	       unc_sets_field(w->t, &w->t->event[w->spec->event].sets, field);
}

/* ---- umasks */

/* The value that an umask gives a field, by itself or as a default; 0 if none. */
static uint64_t umask_value(const struct unc_table *t, const struct unc_tbl_umask *u,
			    uint16_t field)
{
	const struct unc_range *ranges[] = {&u->sets, &u->defaults};

	for (unsigned k = 0; k < 2; k++)
		for (uint32_t i = 0; i < ranges[k]->n; i++)
			if (t->set[ranges[k]->first + i].field == field)
				return t->set[ranges[k]->first + i].value;
	return 0;
}

/*
 * Two umasks that both differ in two fields would count the cross product: READ on port 0 with
 * WRITE on port 1 also counts WRITE on port 0.
 */
static bool cross_product(const struct unc_table *t, const struct unc_tbl_umask *a,
			  const struct unc_tbl_umask *b)
{
	const struct unc_range *ranges[] = {&a->sets, &a->defaults};
	unsigned differ = 0;

	for (unsigned k = 0; k < 2; k++)
		for (uint32_t i = 0; i < ranges[k]->n; i++) {
			const struct unc_tbl_set *s = &t->set[ranges[k]->first + i];
			uint64_t other = umask_value(t, b, s->field);

			differ += s->value && other && s->value != other;
		}
	return differ > 1;
}

static int check_pairs(struct unc_work *w, const uint16_t *umask, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++) {
			const struct unc_tbl_umask *a = &w->t->umask[umask[k]],
						   *b = &w->t->umask[umask[i]];

			if (cross_product(w->t, a, b))
				return unc_refuse(
					w, UNC_ERR_INVALID,
					"umasks %s and %s cannot be combined: the counter would "
					"count each kind at each place",
					unc_tbl_str(w->t, a->name), unc_tbl_str(w->t, b->name));
		}
	return 0;
}

/* Umasks that cannot stand alone, or not together. */
int unc_check_umasks(struct unc_work *w)
{
	const uint16_t *umask = w->umask;
	unsigned n = w->n_umasks;
	int choice = -1;
	bool whole = false;

	for (unsigned i = 0; i < n; i++) {
		const struct unc_tbl_umask *u = &w->t->umask[umask[i]];

		if (u->unavailable)
			return unc_refuse(
				w, UNC_ERR_UNAVAILABLE, "umask %s cannot be programmed: %s",
				unc_tbl_str(w->t, u->name), unc_tbl_str(w->t, u->unavailable));
		if ((u->flags & UNC_UMASK_EXACT) && n > 1)
			return unc_refuse(w, UNC_ERR_INVALID, "umask %s cannot be combined with %s",
					  unc_tbl_str(w->t, u->name),
					  unc_tbl_str(w->t, w->t->umask[umask[i ? 0 : 1]].name));
		if ((u->counter != UNC_NONE) && n > 1)
			return unc_refuse(w, UNC_ERR_INVALID,
					  "umask %s is a counter of its own and cannot be combined",
					  unc_tbl_str(w->t, u->name));
		if ((u->flags & UNC_UMASK_CHOICE) && choice >= 0)
			return unc_refuse(w, UNC_ERR_INVALID, "umask %s cannot be combined with %s",
					  unc_tbl_str(w->t, u->name),
					  umask_name(w, (unsigned)choice));
		if (u->flags & UNC_UMASK_CHOICE)
			choice = (int)i;
		whole |= !(u->flags & UNC_UMASK_PARTIAL);
	}
	if (n && !whole)
		return unc_refuse(w, UNC_ERR_INVALID,
				  "umask %s counts nothing alone; add one that does",
				  unc_tbl_str(w->t, w->t->umask[umask[0]].name));
	return check_pairs(w, umask, n);
}

/* ---- settings of event and umasks */

/* The setting of a field in a range; NULL if there is none. */
static const struct unc_tbl_set *set_of(const struct unc_table *t, const struct unc_range *sets,
					uint16_t field)
{
	for (uint32_t i = 0; i < sets->n; i++)
		if (t->set[sets->first + i].field == field)
			return &t->set[sets->first + i];
	return NULL;
}

int unc_check_sets(struct unc_work *w)
{
	for (unsigned b = 0; b < w->n_umasks; b++)
		for (unsigned a = 0; a < b; a++) {
			const struct unc_range *sets = &w->t->umask[w->umask[b]].sets;

			for (uint32_t i = 0; i < sets->n; i++) {
				const struct unc_tbl_set *s = &w->t->set[sets->first + i];
				const struct unc_tbl_set *other =
					set_of(w->t, &w->t->umask[w->umask[a]].sets, s->field);

				/* In CTL the bits of umasks add up. */
				if (other && other->value != s->value &&
				    w->t->field[s->field].reg[0] != UNC_NONE)
					return unc_refuse(w, UNC_ERR_INVALID,
							  "umasks %s and %s need different values "
							  "of field %s",
							  umask_name(w, a), umask_name(w, b),
							  field_name(w, s->field));
			}
		}
	return 0;
}

bool unc_takes_field(const struct unc_work *w, uint16_t field)
{
	const struct unc_tbl_event *e = &w->t->event[w->spec->event];
	bool takes = (w->t->field[field].flags & UNC_FIELD_USER) ||
		     unc_sets_field(w->t, &e->needs, field) ||
		     unc_sets_field(w->t, &e->uses, field);

	for (unsigned i = 0; i < w->n_umasks && !takes; i++) {
		const struct unc_tbl_umask *u = &w->t->umask[w->umask[i]];

		takes = unc_sets_field(w->t, &u->needs, field) ||
			unc_sets_field(w->t, &u->uses, field);
	}
	return takes;
}

/* The user may give a field that only some umasks take. */
int unc_check_uses(struct unc_work *w)
{
	for (unsigned i = 0; i < w->spec->n_fields; i++)
		if (!unc_takes_field(w, w->spec->field[i].field))
			return unc_refuse(w, UNC_ERR_INVALID, "field %s has no effect with %s",
					  field_name(w, w->spec->field[i].field),
					  w->n_umasks ? umask_name(w, 0) : "this event");
	return 0;
}

/* ---- what came out */

/* What a field will hold: what the event makes of it, else what its register holds at rest. */
static uint64_t planned(const struct unc_work *w, uint16_t field)
{
	const struct unc_tbl_field *f = &w->t->field[field];
	struct unc_code_filter reg[2] = {{.reg = f->reg[0]}, {.reg = f->reg[1]}};
	bool known;

	for (unsigned p = 0; p < 2; p++) {
		if (reg[p].reg == UNC_NONE)
			continue;
		reg[p].value = w->t->reg[reg[p].reg].base;
		for (unsigned i = 0; i < w->code->n_filters; i++) {
			const struct unc_code_filter *c = &w->code->filter[i];

			if (c->reg == reg[p].reg)
				reg[p].value = c->value | (reg[p].value & ~c->mask);
		}
	}
	return unc_field_value(f, w->code->ctl, reg, 2, &known);
}

/* Whether a field tells which bits of another one are compared. */
static bool is_mask(const struct unc_work *w, uint16_t field)
{
	const struct unc_range *fields = &w->t->type[w->spec->type].fields;

	for (uint32_t i = 0; i < fields->n; i++)
		if (w->t->field[fields->first + i].mask == field)
			return true;
	return false;
}

static const struct unc_wish *wish_of(const struct unc_work *w, uint16_t field)
{
	for (unsigned i = 0; i < w->n_wishes; i++)
		if (w->wish[i].field == field)
			return &w->wish[i];
	return NULL;
}

/* Bits of a piece of a field in its register. */
static uint64_t in_place(const struct unc_tbl_field *f, uint64_t value, unsigned piece)
{
	uint64_t rest = value >> f->shift;

	if (piece)
		rest = f->width[0] < 64 ? rest >> f->width[0] : 0;
	return (rest & unc_ones(f->width[piece])) << f->lo[piece];
}

/*
 * A raw field has a mask that the user gives, and the bits of other fields. Where it is 0 in all
 * bits of one that is given too, that one says what is meant.
 */
static uint64_t said_by_others(const struct unc_work *w, const struct unc_wish *raw)
{
	const struct unc_tbl_field *f = &w->t->field[raw->field];
	uint64_t bits = 0;

	if (set_of(w->t, &f->with, f->mask))
		return 0;
	for (unsigned i = 0; i < w->n_wishes; i++) {
		const struct unc_tbl_field *other = &w->t->field[w->wish[i].field];
		uint64_t place = in_place(other, ~(uint64_t)0, 0);

		if (w->wish[i].field != raw->field && other->reg[0] == f->reg[0] &&
		    !(in_place(f, raw->value, 0) & place))
			bits |= (place >> f->lo[0]) << f->shift;
	}
	return bits;
}

/* Bits of a field's value that matter: those compared, if a mask tells. Of a mask all that is set.
 */
static uint64_t matter(const struct unc_work *w, const struct unc_wish *wish)
{
	uint16_t mask = w->t->field[wish->field].mask;
	const struct unc_wish *compared = mask == UNC_NONE ? NULL : wish_of(w, mask);

	if (is_mask(w, wish->field))
		return wish->value;
	return compared ? compared->value & ~said_by_others(w, wish) : ~(uint64_t)0;
}

/* Whether two wishes want different values of a bit. */
static bool collide(const struct unc_work *w, const struct unc_wish *a, const struct unc_wish *b)
{
	const struct unc_tbl_field *fa = &w->t->field[a->field], *fb = &w->t->field[b->field];

	for (unsigned p = 0; p < 2 && fa->width[p]; p++)
		for (unsigned q = 0; q < 2 && fb->width[q]; q++)
			if (fa->reg[p] == fb->reg[q] &&
			    ((in_place(fa, a->value, p) ^ in_place(fb, b->value, q)) &
			     in_place(fa, matter(w, a), p) & in_place(fb, matter(w, b), q)))
				return true;
	return false;
}

/* Two wishes of the user that exclude each other. */
static int fail_pair(struct unc_work *w, const struct unc_wish *a, const struct unc_wish *b)
{
	if (a->field == b->field)
		return unc_refuse(w, UNC_ERR_INVALID,
				  "%s wants %s=%llu, %s wants %s=%llu: give %s, as both together "
				  "need it",
				  field_name(w, a->by), field_name(w, a->field), (ull)a->value,
				  field_name(w, b->by), field_name(w, b->field), (ull)b->value,
				  field_name(w, a->field));
	return unc_refuse(w, UNC_ERR_INVALID, "fields %s and %s contradict each other",
			  field_name(w, a->by), field_name(w, b->by));
}

/* Names who has set what the field cannot then be: a umask, or else the event. */
static int fail_field(struct unc_work *w, const struct unc_wish *wish)
{
	for (unsigned i = 0; i < w->n_umasks; i++) {
		const struct unc_range *sets = &w->t->umask[w->umask[i]].sets;

		for (uint32_t k = 0; k < sets->n; k++) {
			const struct unc_tbl_set *s = &w->t->set[sets->first + k];
			const struct unc_wish other = {.field = s->field, .value = s->value};

			if (collide(w, wish, &other))
				return unc_refuse(w, UNC_ERR_INVALID,
						  "field %s contradicts umask %s",
						  field_name(w, wish->by), umask_name(w, i));
		}
	}
	return unc_refuse(w, UNC_ERR_INVALID, "field %s contradicts the event",
			  field_name(w, wish->by));
}

/* Whether the event or a umask sets the field, and not so. */
static bool set_otherwise(const struct unc_work *w, const struct unc_wish *wish)
{
	const struct unc_tbl_set *s = set_of(w->t, &w->t->event[w->spec->event].sets, wish->field);

	for (unsigned i = 0; i < w->n_umasks && !s; i++)
		s = set_of(w->t, &w->t->umask[w->umask[i]].sets, wish->field);
	return s && s->value != wish->value;
}

/* A field must hold what it was asked to, whatever else has set bits of its register. */
static int check_wishes(struct unc_work *w)
{
	for (unsigned i = 0; i < w->n_wishes; i++) {
		const struct unc_wish *wish = &w->wish[i];

		if (wish->by == wish->field && set_otherwise(w, wish))
			return fail_field(w, wish);
		if (!((planned(w, wish->field) ^ wish->value) & matter(w, wish)))
			continue;
		for (unsigned k = 0; k < w->n_wishes; k++)
			if (k != i && collide(w, wish, &w->wish[k]))
				return fail_pair(w, i < k ? wish : &w->wish[k],
						 i < k ? &w->wish[k] : wish);
		return fail_field(w, wish);
	}
	return 0;
}

/* Fields that do nothing without another one. */
static int check_needs(struct unc_work *w)
{
	const struct unc_range *fields = &w->t->type[w->spec->type].fields;

	for (uint32_t i = 0; i < fields->n; i++) {
		uint16_t field = (uint16_t)(fields->first + i);
		const struct unc_tbl_field *f = &w->t->field[field];
		const struct unc_wish *mask = f->mask == UNC_NONE ? NULL : wish_of(w, f->mask);

		if (f->needs != UNC_NONE && planned(w, field) && !planned(w, f->needs))
			return unc_refuse(w, UNC_ERR_INVALID, "%s needs %s: give %s=1 or more",
					  field_name(w, field), field_name(w, f->needs),
					  field_name(w, f->needs));
		if (f->mask != UNC_NONE && unc_user_gave(w->spec, field) && (!mask || !mask->value))
			return unc_refuse(w, UNC_ERR_INVALID,
					  "%s needs %s, the bits that are compared",
					  field_name(w, field), field_name(w, f->mask));
	}
	return 0;
}

/* What the increment never reaches would count nothing; with invert, each clock, as it should. */
static int check_threshold(struct unc_work *w)
{
	const struct unc_tbl_event *e = &w->t->event[w->spec->event];
	const struct unc_range *fields = &w->t->type[w->spec->type].fields;
	uint64_t max = e->estimate ? UINT64_MAX : e->max_inc, asked = 0, more = 0;
	uint16_t threshold = 0;

	for (uint32_t i = 0; i < fields->n; i++) {
		const struct unc_tbl_field *f = &w->t->field[fields->first + i];
		uint64_t value = planned(w, (uint16_t)(fields->first + i));

		if (value && f->role == UNC_IS_INVERT)
			return 0;
		if (value && f->max_inc)
			max = f->max_inc;
		if (f->role != UNC_IS_THRESHOLD)
			continue;
		threshold = (uint16_t)(fields->first + i);
		asked = value;
		more = (f->flags & UNC_FIELD_EXCEEDS) != 0;
	}
	return !w->err || !asked || asked + more <= max
		       ? 0
		       : unc_refuse(w, UNC_ERR_RANGE,
				    "%s=%llu: the event never exceeds %llu in a clock; %s must %s",
				    field_name(w, threshold), (ull)asked, (ull)max,
				    field_name(w, threshold), more ? "be less" : "not be more");
}

static bool holds(const struct unc_work *w, const struct unc_tbl_set *condition)
{
	switch (condition->given) {
	case UNC_GIVEN_USER:
		return unc_user_gave(w->spec, condition->field);
	case UNC_GIVEN_NONE:
		return !unc_is_given(w, condition->field);
	default:
		return planned(w, condition->field) == condition->value;
	}
}

/* Settings that may not come together. */
static int check_forbidden(struct unc_work *w)
{
	const struct unc_range *all = &w->t->type[w->spec->type].forbids;

	for (uint32_t i = 0; i < all->n; i++) {
		const struct unc_tbl_forbid *forbid = &w->t->forbid[all->first + i];
		bool together = true;

		for (uint32_t k = 0; k < forbid->sets.n && together; k++)
			together = holds(w, &w->t->set[forbid->sets.first + k]);
		if (together)
			return unc_refuse(w, UNC_ERR_INVALID, "%s", unc_tbl_str(w->t, forbid->why));
	}
	return 0;
}

int unc_check_result(struct unc_work *w)
{
	int rc = check_wishes(w);

	if (rc == 0 && (rc = check_needs(w)) == 0)
		rc = check_threshold(w);
	return rc == 0 ? check_forbidden(w) : rc;
}
