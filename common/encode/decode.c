/* SPDX-License-Identifier: BSD-3-Clause */
#include "encode/decode.h"

#include <string.h>

#include "encode/event.h"
#include "tables/table.h"

struct decode {
	const struct unc_table *t;
	uint64_t ctl;
	uint64_t ignored; /* bits of ctl that may hold anything */
	const struct unc_code_filter *filter;
	size_t n_filters;
	const char *missing;  /* a needed filter register that is not known */
	struct unc_spec best; /* the best so far, if found */
	bool found;
};

static bool encodes_to_code(const struct decode *d, const struct unc_spec *spec)
{
	struct unc_code code;

	if (unc_spec_encode(d->t, spec, 0, 2, &code, NULL) < 0 ||
	    ((code.ctl ^ d->ctl) & ~d->ignored))
		return false;
	for (unsigned i = 0; i < code.n_filters; i++)
		for (size_t k = 0; k < d->n_filters; k++)
			if (d->filter[k].reg == code.filter[i].reg &&
			    ((d->filter[k].value ^ code.filter[i].value) & code.filter[i].mask))
				return false;
	return true;
}

static const struct unc_tbl_fields *umask_fields(const struct decode *d,
						 const struct unc_spec *spec, unsigned k)
{
	return unc_umask_fields(d->t, &d->t->umask[spec->umask[k]]);
}

/* The value of a field that is not given: its default, else its register's value at rest. */
static uint64_t value_at_rest(const struct decode *d, const struct unc_spec *spec, uint16_t field)
{
	const struct unc_tbl_field *f = &d->t->field[field];
	const struct unc_tbl_set *s =
		unc_find_set(d->t, &d->t->event[spec->event].fields.defaults, field);
	const struct unc_code none = {0};

	for (unsigned k = 0; k < spec->n_umasks && !s; k++)
		s = unc_find_set(d->t, &umask_fields(d, spec, k)->defaults, field);
	if (s)
		return s->value;
	return f->flags & UNC_FIELD_DEFAULT ? f->default_value
					    : unc_field_planned(d->t, &none, field);
}

/* Gives the event the fields that it takes and whose value differs from that of a field not given. */
static void give_fields(struct decode *d, struct unc_spec *spec)
{
	uint16_t field;
	bool needed, known;

	spec->n_fields = 0;
	for (size_t i = 0; (field = unc_event_field(d->t, spec->event, i, &needed)) != UNC_NONE;
	     i++) {
		const struct unc_tbl_field *f = &d->t->field[field];
		uint64_t value = unc_field_value(f, d->ctl, d->filter, d->n_filters, &known);

		for (unsigned k = 0; k < spec->n_umasks; k++)
			needed = needed ||
				 unc_find_set(d->t, &umask_fields(d, spec, k)->needs, field);
		bool says = needed || (value != value_at_rest(d, spec, field) &&
				       (value || !(f->flags & UNC_FIELD_WO)));

		if (!known && needed)
			d->missing = unc_reg_name(d->t, f->reg[0]);
		if (!known || !says || spec->n_fields == UNC_SPEC_FIELDS)
			continue;
		spec->field[spec->n_fields++] =
			(struct unc_spec_field){.field = field, .value = value};
	}
}

static void drop_field(struct unc_spec *spec, unsigned i)
{
	memmove(&spec->field[i], &spec->field[i + 1],
		(spec->n_fields - i - 1) * sizeof(spec->field[0]));
	spec->n_fields--;
}

/* Whether all values that come with a field are there, unless another field gives them. */
static bool has_with(const struct decode *d, const struct unc_spec *spec, uint16_t field)
{
	const struct unc_range *with = &d->t->field[field].with;
	bool has = true, known;

	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(d->t, set, *with, s));) {
		uint64_t value = unc_field_value(&d->t->field[s->field], d->ctl, d->filter,
						 d->n_filters, &known);

		has = has && (!known || value == s->value || unc_user_gave(spec, s->field));
	}
	return has;
}

static bool drop_one(const struct decode *d, struct unc_spec *spec)
{
	for (unsigned i = 0; i < spec->n_fields; i++) {
		struct unc_spec less = *spec;

		drop_field(&less, i);
		if (encodes_to_code(d, &less)) {
			*spec = less;
			return true;
		}
	}
	return false;
}

/* Completes an event with umasks by the fields that it needs, and no more. */
static bool complete_fields(struct decode *d, struct unc_spec *spec)
{
	give_fields(d, spec);
	struct unc_spec plain = *spec;
	plain.n_fields = 0; /* a umask may give all the bits, and then takes no fields */
	if (encodes_to_code(d, &plain)) {
		*spec = plain;
		return true;
	}
	/* Another field gives them: msg has the bits of opc, but only some of its mask. */
	for (unsigned i = spec->n_fields; i-- > 0;)
		if (!has_with(d, spec, spec->field[i].field))
			drop_field(spec, i);
	if (!encodes_to_code(d, spec))
		return false;
	while (drop_one(d, spec))
		continue;
	return true;
}

/* Bits of CTL that a umask sets. */
static uint64_t umask_bits(const struct decode *d, const struct unc_tbl_umask *u)
{
	return unc_sets_bits(d->t, &unc_umask_fields(d->t, u)->sets, UNC_NONE);
}

/* How much of the registers a umask explains: bits of CTL in `left`, whole filter fields. */
static int explains(const struct decode *d, const struct unc_tbl_umask *u, uint64_t left)
{
	const struct unc_range *sets = &unc_umask_fields(d->t, u)->sets;
	uint64_t bits = umask_bits(d, u);
	int n = __builtin_popcountll(bits);

	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(d->t, set, *sets, s));) {
		const struct unc_tbl_field *f = &d->t->field[s->field];
		bool known;

		if (f->reg[0] == UNC_NONE)
			continue;
		if (unc_field_value(f, 0, d->filter, d->n_filters, &known) != s->value || !known)
			return 0;
		n++;
	}
	return bits & ~left ? 0 : n;
}

/* Combines umasks, those that explain most first, while they explain anything. */
static void combine_umasks(const struct decode *d, struct unc_spec *spec)
{
	const struct unc_tbl_event *e = &d->t->event[spec->event];
	uint64_t left = d->ctl;

	spec->n_umasks = 0;
	while (spec->n_umasks < UNC_SPEC_UMASKS) {
		int best = -1, most = 0;

		for (uint32_t i = 0; i < e->umasks.n; i++) {
			const struct unc_tbl_umask *u = &d->t->umask[e->umasks.first + i];
			int n = u->flags & UNC_UMASK_EXACT ? 0 : explains(d, u, left);

			if (n <= most || unc_spec_has_umask(spec, e->umasks.first + i))
				continue;
			most = n;
			best = (int)(e->umasks.first + i);
		}
		if (best < 0)
			break;
		left &= ~umask_bits(d, &d->t->umask[best]);
		unc_spec_add_umask(spec, (uint16_t)best);
	}
}

/* The length of a name: the shortest is the best. */
static unsigned words(const struct unc_spec *spec)
{
	return spec->n_fields * UNC_SPEC_UMASKS + spec->n_umasks;
}

/* Keeps an event with umasks if it can be completed, and its name is shorter than the best. */
static void try_umasks(struct decode *d, struct unc_spec spec)
{
	if (!complete_fields(d, &spec) || (d->found && words(&spec) >= words(&d->best)))
		return;
	d->best = spec;
	d->found = true;
}

static void try_with_umasks(struct decode *d, struct unc_spec spec)
{
	const struct unc_tbl_event *e = &d->t->event[spec.event];

	if (e->umasks.n == 0)
		try_umasks(d, spec);
	for (uint32_t i = 0; i < e->umasks.n; i++) {
		spec.n_umasks = 1;
		spec.umask[0] = (uint16_t)(e->umasks.first + i);
		if (!(umask_bits(d, &d->t->umask[spec.umask[0]]) & ~(d->ctl | d->ignored)))
			try_umasks(d, spec);
	}
	combine_umasks(d, &spec);
	if (spec.n_umasks)
		try_umasks(d, spec);
}

/* Whether a umask adds to what the event sets in a field. */
static bool added_to(const struct unc_table *t, const struct unc_tbl_event *e, uint16_t field)
{
	for (const struct unc_tbl_umask *u = NULL; (u = UNC_NEXT(t, umask, e->umasks, u));)
		if (unc_find_set(t, &unc_umask_fields(t, u)->sets, field))
			return true;
	return false;
}

/* Whether the control holds the event's own bits, apart from ignored ones. */
static bool has_event_bits(const struct decode *d, const struct unc_tbl_event *e)
{
	if (e->counter != UNC_NONE || e->fields.sets.n == 0)
		return false;
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(d->t, set, e->fields.sets, s));) {
		const struct unc_tbl_field *f = &d->t->field[s->field];
		uint64_t value;

		if (f->reg[0] != UNC_NONE)
			continue;
		value = unc_field_value(f, d->ctl, NULL, 0, NULL);
		if (added_to(d->t, e, s->field))
			value &= s->value;
		if ((value ^ s->value) & ~(d->ignored >> f->lo[0]))
			return false;
	}
	return true;
}

/* Tries all events of a pool of counters, of every view on it. */
static bool try_events(struct decode *d, unsigned type)
{
	for (size_t i = 0; i < d->t->n_event; i++) {
		const struct unc_tbl_event *e = &d->t->event[i];

		if (unc_type_pool(d->t, e->type) == unc_type_pool(d->t, type) &&
		    has_event_bits(d, e))
			try_with_umasks(d, (struct unc_spec){.type = e->type,
							     .event = (uint16_t)i,
							     .index = -1,
							     .socket = -1});
	}
	return d->found;
}

/* Bits of CTL that do not depend on the event: those that read back as 0 whatever was written, and
 * those by which an overflow freezes. */
static uint64_t silent_bits(const struct unc_table *t, unsigned type)
{
	const struct unc_tbl_type *pool = &t->type[unc_type_pool(t, type)];
	uint64_t bits = 0;

	for (const struct unc_tbl_field *f = NULL; (f = UNC_NEXT(t, field, pool->fields, f));)
		if (f->reg[0] == UNC_NONE &&
		    ((f->flags & UNC_FIELD_WO) || f->role == UNC_IS_OVERFLOW))
			bits |= unc_ones(f->width[0]) << f->lo[0];
	return bits;
}

int unc_code_decode(const struct unc_table *t, unsigned type, uint64_t ctl,
		    const struct unc_code_filter *filters, size_t n, struct unc_spec *out,
		    struct unc_error *err)
{
	struct decode d = {.t = t, .ctl = ctl, .filter = filters, .n_filters = n};

	if (!try_events(&d, type) && (d.ignored = silent_bits(t, type)))
		try_events(&d, type);
	if (!d.found && d.missing)
		return unc_fail(
			err, UNC_ERR_INVALID,
			"what %s counts by control 0x%llx depends on %s, which is not given",
			unc_type_name(t, type), (unsigned long long)ctl, d.missing);
	if (!d.found)
		return unc_fail(err, UNC_ERR_NOT_FOUND, "no event of %s has control 0x%llx",
				unc_type_name(t, type), (unsigned long long)ctl);
	*out = d.best;
	return 0;
}
