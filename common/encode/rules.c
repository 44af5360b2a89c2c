/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of combinations of an event, its umasks and its fields. */
#include <stdio.h>

#include "encode/encode.h"
#include "tables/table.h"

typedef unsigned long long ull;

static const char *umask_name(const struct unc_work *w, unsigned i)
{
	return unc_tbl_str(w->t, w->umask[i]->name);
}

static const char *field_name(const struct unc_work *w, uint16_t field)
{
	return unc_field_name(w->t, field);
}

void unc_refuse(struct unc_work *w, int code, const char *format, ...)
{
	char text[UNC_ERROR_MAX];

	if (w->rc)
		return;
	UNC_FORMAT(text, format);
	w->rc = unc_fail(w->err, code, "%s.%s: %s", unc_tbl_str(w->t, w->type->name),
			 unc_tbl_str(w->t, w->e->name), text);
}

/* The setting of a field by one of the umasks (from 1 on), or the event (0); NULL: none sets it. */
static const struct unc_tbl_set *set_by(const struct unc_work *w, unsigned from, uint16_t field)
{
	const struct unc_tbl_set *s = NULL;

	for (unsigned i = from; i <= w->n_umasks && !s; i++)
		s = unc_find_set(w->t, &unc_part(w, i)->sets, field);
	return s;
}

bool unc_is_chosen(const struct unc_work *w, uint16_t field)
{
	return unc_user_gave(w->spec, field) || set_by(w, 1, field);
}

bool unc_is_given(const struct unc_work *w, uint16_t field)
{
	return unc_user_gave(w->spec, field) || set_by(w, 0, field);
}

/* ---- umasks */

/*
 * Two umasks that both differ in two fields would count the cross product: READ on port 0 with
 * WRITE on port 1 also counts WRITE on port 0.
 */
static bool cross_product(const struct unc_table *t, const struct unc_tbl_fields *a,
			  const struct unc_tbl_fields *b)
{
	const struct unc_range *ranges[] = {&a->sets, &a->defaults};
	unsigned differ = 0;

	for (unsigned k = 0; k < 2; k++)
		for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(t, set, *ranges[k], s));) {
			const struct unc_tbl_set *other = unc_find_set(t, &b->sets, s->field);

			other = other ? other : unc_find_set(t, &b->defaults, s->field);
			differ += other && s->value && other->value && s->value != other->value;
		}
	return differ > 1;
}

static void check_pair(struct unc_work *w, unsigned a, unsigned b)
{
	const struct unc_tbl_fields *one = unc_part(w, a + 1), *other = unc_part(w, b + 1);

	if (cross_product(w->t, one, other))
		unc_refuse(w, UNC_ERR_INVALID,
			   "umasks %s and %s cannot be combined: the counter would count each kind "
			   "at each place",
			   umask_name(w, a), umask_name(w, b));
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(w->t, set, other->sets, s));) {
		const struct unc_tbl_set *same = unc_find_set(w->t, &one->sets, s->field);

		/* In CTL the bits of umasks add up. */
		if (same && same->value != s->value && w->t->field[s->field].reg[0] != UNC_NONE)
			unc_refuse(w, UNC_ERR_INVALID,
				   "umasks %s and %s need different values of field %s",
				   umask_name(w, a), umask_name(w, b), field_name(w, s->field));
	}
}

/* Checks umasks that cannot be used alone, or not together. */
void unc_check_umasks(struct unc_work *w)
{
	unsigned n = w->n_umasks;
	const char *choice = NULL;
	bool whole = n == 0;

	for (unsigned i = 0; i < n; i++) {
		const struct unc_tbl_umask *u = w->umask[i];
		const char *name = umask_name(w, i);

		if (u->unavailable)
			unc_refuse(w, UNC_ERR_UNAVAILABLE, "umask %s cannot be programmed: %s",
				   name, unc_tbl_str(w->t, u->unavailable));
		if ((u->flags & UNC_UMASK_EXACT) && n > 1)
			unc_refuse(w, UNC_ERR_INVALID, "umask %s cannot be combined with %s", name,
				   umask_name(w, i ? 0 : 1));
		if (u->counter != UNC_NONE && n > 1)
			unc_refuse(w, UNC_ERR_INVALID,
				   "umask %s is a counter of its own and cannot be combined", name);
		if ((u->flags & UNC_UMASK_CHOICE) && choice)
			unc_refuse(w, UNC_ERR_INVALID, "umask %s cannot be combined with %s", name,
				   choice);
		if (u->flags & UNC_UMASK_CHOICE)
			choice = name;
		whole |= !(u->flags & UNC_UMASK_PARTIAL);
	}
	if (!whole)
		unc_refuse(w, UNC_ERR_INVALID, "umask %s counts nothing alone; add one that does",
			   umask_name(w, 0));
	for (unsigned b = 0; b < n; b++)
		for (unsigned a = 0; a < b; a++)
			check_pair(w, a, b);
}

/* ---- fields of the user */

bool unc_may_give(const struct unc_work *w, uint16_t field)
{
	bool takes = w->t->field[field].flags & UNC_FIELD_USER;

	for (unsigned i = 0; i <= w->n_umasks && !takes; i++)
		takes = unc_takes_field(w->t, unc_part(w, i), field);
	return takes;
}

/* Checks that a given field has an effect: only some umasks may take it. */
void unc_check_uses(struct unc_work *w)
{
	for (unsigned i = 0; i < w->spec->n_fields; i++)
		if (!unc_may_give(w, w->spec->field[i].field))
			unc_refuse(w, UNC_ERR_INVALID, "field %s has no effect with %s",
				   field_name(w, w->spec->field[i].field),
				   w->n_umasks ? umask_name(w, 0) : "this event");
}

/* ---- the result */

static uint64_t planned(const struct unc_work *w, uint16_t field)
{
	return unc_field_planned(w->t, w->code, field);
}

static const struct unc_wish *wish_of(const struct unc_work *w, uint16_t field)
{
	for (unsigned i = 0; i < w->n_wishes; i++)
		if (w->wish[i].field == field)
			return &w->wish[i];
	return NULL;
}

/* The bits of a piece of a field, in their register. */
static uint64_t in_place(const struct unc_tbl_field *f, uint64_t value, unsigned piece)
{
	uint64_t rest = value >> f->shift >>
			unc_field_from(f, piece); /* a field of 64 bits has one piece */

	return (rest & unc_ones(f->width[piece])) << f->lo[piece];
}

/*
 * A raw field has a mask that the user gives, and the bits of other fields. If the mask is 0 in all
 * bits of a field that is also given, that field decides.
 */
static uint64_t said_by_others(const struct unc_work *w, const struct unc_wish *raw)
{
	const struct unc_tbl_field *f = &w->t->field[raw->field];
	uint64_t bits = 0;

	if (unc_find_set(w->t, &f->with, f->mask))
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

/* Bits of a field's value that matter: if there is a mask, those it compares. Of a mask all set bits. */
static uint64_t matter(const struct unc_work *w, const struct unc_wish *wish)
{
	const struct unc_tbl_field *f = &w->t->field[wish->field];
	const struct unc_wish *compared = f->mask == UNC_NONE ? NULL : wish_of(w, f->mask);

	if (f->flags & UNC_FIELD_MASK)
		return wish->value;
	return compared ? compared->value & ~said_by_others(w, wish) : ~(uint64_t)0;
}

/* Whether two wishes want different values of a bit. */
static bool collide(const struct unc_work *w, const struct unc_wish *a, const struct unc_wish *b)
{
	const struct unc_tbl_field *fa = &w->t->field[a->field], *fb = &w->t->field[b->field];

	for (unsigned p = 0; p < UNC_PIECES && fa->width[p]; p++)
		for (unsigned q = 0; q < UNC_PIECES && fb->width[q]; q++)
			if (fa->reg[p] == fb->reg[q] &&
			    ((in_place(fa, a->value, p) ^ in_place(fb, b->value, q)) &
			     in_place(fa, matter(w, a), p) & in_place(fb, matter(w, b), q)))
				return true;
	return false;
}

/* Fails for two wishes of the user that exclude each other. */
static void fail_pair(struct unc_work *w, const struct unc_wish *a, const struct unc_wish *b)
{
	if (a->field != b->field)
		unc_refuse(w, UNC_ERR_INVALID, "fields %s and %s contradict each other",
			   field_name(w, a->by), field_name(w, b->by));
	unc_refuse(w, UNC_ERR_INVALID,
		   "%s wants %s=%llu, %s wants %s=%llu: give %s, as both together need it",
		   field_name(w, a->by), field_name(w, a->field), (ull)a->value,
		   field_name(w, b->by), field_name(w, b->field), (ull)b->value,
		   field_name(w, a->field));
}

/* Names what prevents the value of the field: a umask, or else the event. */
static void fail_prevented(struct unc_work *w, const struct unc_wish *wish)
{
	const char *name = field_name(w, wish->by);

	for (unsigned i = 0; i < w->n_umasks; i++) {
		const struct unc_range *sets = &unc_part(w, i + 1)->sets;

		for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(w->t, set, *sets, s));) {
			const struct unc_wish other = {.field = s->field, .value = s->value};

			if (collide(w, wish, &other))
				unc_refuse(w, UNC_ERR_INVALID, "field %s contradicts umask %s",
					   name, umask_name(w, i));
		}
	}
	unc_refuse(w, UNC_ERR_INVALID, "field %s contradicts the event", name);
}

/* A field must hold what was asked for, whatever else sets bits of its register. */
static void check_wishes(struct unc_work *w)
{
	for (unsigned i = 0; i < w->n_wishes; i++) {
		const struct unc_wish *wish = &w->wish[i];
		const struct unc_tbl_set *set = set_by(w, 0, wish->field);

		if (wish->by == wish->field && set && set->value != wish->value)
			fail_prevented(w, wish);
		if (!((planned(w, wish->field) ^ wish->value) & matter(w, wish)))
			continue;
		for (unsigned k = 0; k < w->n_wishes; k++)
			if (k != i && collide(w, wish, &w->wish[k]))
				fail_pair(w, i < k ? wish : &w->wish[k],
					  i < k ? &w->wish[k] : wish);
		fail_prevented(w, wish);
	}
}

/* Checks fields that do nothing without another field. */
static void check_needs(struct unc_work *w)
{
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(w->t, set, w->type->checked, s));) {
		const uint16_t field = s->field;
		const struct unc_tbl_field *f = &w->t->field[field];
		const struct unc_wish *mask = f->mask == UNC_NONE ? NULL : wish_of(w, f->mask);

		if (f->needs != UNC_NONE && planned(w, field) && !planned(w, f->needs))
			unc_refuse(w, UNC_ERR_INVALID, "%s needs %s: give %s=1 or more",
				   field_name(w, field), field_name(w, f->needs),
				   field_name(w, f->needs));
		if (f->mask != UNC_NONE && unc_user_gave(w->spec, field) && (!mask || !mask->value))
			unc_refuse(w, UNC_ERR_INVALID, "%s needs %s, the bits that are compared",
				   field_name(w, field), field_name(w, f->mask));
	}
}

/* A threshold that the increment never reaches would count nothing; with invert it counts each
 * clock, which is right. */
static void check_threshold(struct unc_work *w)
{
	uint64_t max = w->e->estimate ? UINT64_MAX : w->e->max_inc, asked = 0, more = 0;
	uint16_t threshold = 0;

	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(w->t, set, w->type->checked, s));) {
		const struct unc_tbl_field *f = &w->t->field[s->field];

		if (f->role != UNC_IS_INVERT && f->role != UNC_IS_THRESHOLD && !f->max_inc)
			continue;
		uint64_t value = planned(w, s->field);
		if (value && f->role == UNC_IS_INVERT)
			return;
		if (value && f->max_inc)
			max = f->max_inc;
		if (f->role != UNC_IS_THRESHOLD)
			continue;
		threshold = s->field;
		asked = value;
		more = (f->flags & UNC_FIELD_EXCEEDS) != 0;
	}
	if (w->err && asked && asked + more > max)
		unc_refuse(w, UNC_ERR_RANGE,
			   "%s=%llu: the event never exceeds %llu in a clock; %s must %s",
			   field_name(w, threshold), (ull)asked, (ull)max, field_name(w, threshold),
			   more ? "be less" : "not be more");
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

/* Checks settings that exclude each other. */
static void check_forbidden(struct unc_work *w)
{
	const struct unc_tbl_forbid *forbid = NULL;

	while ((forbid = UNC_NEXT(w->t, forbid, w->type->forbids, forbid))) {
		const struct unc_tbl_set *s = NULL;
		bool together = true;

		while (together && (s = UNC_NEXT(w->t, set, forbid->sets, s)))
			together = holds(w, s);
		if (together)
			unc_refuse(w, UNC_ERR_INVALID, "%s", unc_tbl_str(w->t, forbid->why));
	}
}

void unc_check_result(struct unc_work *w)
{
	uint64_t bits = w->type->checked_bits;

	if (w->n_wishes || bits == UINT64_MAX || (w->code->ctl & bits)) {
		check_wishes(w);
		check_needs(w);
		check_threshold(w);
	}
	check_forbidden(w);
}
