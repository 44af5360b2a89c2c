/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as register values. */
#include "event.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "table_build.h"

/* What is encoded, for sentences. */
struct work {
	const struct unc_table *t;
	const struct unc_spec *spec;
	struct unc_code *code;
	struct unc_error *err;
	uint16_t umask[UNC_SPEC_UMASKS]; /* those given, or the default one */
	unsigned n_umasks;
};

static int refuse(struct work *w, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct work *w, int code, const char *format, ...)
{
	char text[UNC_ERROR_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return unc_fail(w->err, code, "%s.%s: %s",
			unc_tbl_str(w->t, w->t->type[w->spec->type].name),
			unc_tbl_str(w->t, w->t->event[w->spec->event].name), text);
}

static struct unc_code_filter *filter_of(struct work *w, uint16_t reg)
{
	struct unc_code *c = w->code;

	for (unsigned i = 0; i < c->n_filters; i++)
		if (c->filter[i].reg == reg)
			return &c->filter[i];
	if (c->n_filters == UNC_MAX_FILTERS)
		return NULL;
	c->filter[c->n_filters] = (struct unc_code_filter){.reg = reg};
	return &c->filter[c->n_filters++];
}

static bool user_gave(const struct unc_spec *spec, uint16_t field)
{
	for (unsigned i = 0; i < spec->n_fields; i++)
		if (spec->field[i].field == field)
			return true;
	return false;
}

/* Whether the user or a umask says what a field is to be. */
static bool is_chosen(const struct work *w, uint16_t field)
{
	bool given = user_gave(w->spec, field);

	for (unsigned i = 0; i < w->n_umasks && !given; i++)
		given = unc_sets_field(w->t, &w->t->umask[w->umask[i]].sets, field);
	return given;
}

/* Or the event. */
static bool is_given(const struct work *w, uint16_t field)
{
	return is_chosen(w, field) ||
	       unc_sets_field(w->t, &w->t->event[w->spec->event].sets, field);
}

static int deposit(struct work *w, uint16_t field, uint64_t value, bool own);

/* What comes with a field that the user gives, unless he, or a umask, gives it too. */
static int deposit_with(struct work *w, const struct unc_tbl_field *f)
{
	for (uint32_t i = 0; i < f->with.n; i++) {
		const struct unc_tbl_set *s = &w->t->set[f->with.first + i];
		int rc = is_chosen(w, s->field) ? 0 : deposit(w, s->field, s->value, false);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Puts a value into its bits. `own`: a value of the user, which must not contradict the event. */
static int deposit(struct work *w, uint16_t field, uint64_t value, bool own)
{
	const struct unc_tbl_field *f = &w->t->field[field];
	uint64_t rest = value >> f->shift;

	for (unsigned p = 0; p < 2 && f->width[p]; p++) {
		uint64_t mask = unc_ones(f->width[p]) << f->lo[p];
		uint64_t bits = (rest << f->lo[p]) & mask;

		rest = f->width[p] < 64 ? rest >> f->width[p] : 0;
		if (f->reg[p] != UNC_NONE) {
			struct unc_code_filter *filter = filter_of(w, f->reg[p]);

			if (!filter)
				return refuse(w, UNC_ERR_RANGE, "more than 8 filter registers");
			/* Where the event or a raw field has 0, a field may add its bits. */
			if (filter->value & filter->mask & mask & ~bits)
				return refuse(w, UNC_ERR_INVALID,
					      "field %s contradicts another field of the same bits",
					      unc_tbl_str(w->t, f->name));
			filter->value |= bits;
			filter->mask |= mask;
			continue;
		}
		if (own && (w->code->ctl & mask) && (w->code->ctl & mask) != bits)
			return refuse(w, UNC_ERR_INVALID, "field %s contradicts the event or umask",
				      unc_tbl_str(w->t, f->name));
		w->code->ctl |= bits;
	}
	return own ? deposit_with(w, f) : 0;
}

static int deposit_all(struct work *w, const struct unc_range *sets)
{
	for (uint32_t i = 0; i < sets->n; i++) {
		const struct unc_tbl_set *s = &w->t->set[sets->first + i];
		int rc = deposit(w, s->field, s->value, false);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Fields that must be given, and defaults for those that are not. */
static int complete(struct work *w, const struct unc_range *needs, const struct unc_range *defaults,
		    const char *umask)
{
	for (uint32_t i = 0; i < needs->n; i++) {
		uint16_t field = w->t->set[needs->first + i].field;

		if (!user_gave(w->spec, field))
			return refuse(w, UNC_ERR_INVALID, "%s needs a value of field %s",
				      umask ? umask : "it",
				      unc_tbl_str(w->t, w->t->field[field].name));
	}
	for (uint32_t i = 0; i < defaults->n; i++) {
		const struct unc_tbl_set *s = &w->t->set[defaults->first + i];
		int rc = is_given(w, s->field) ? 0 : deposit(w, s->field, s->value, false);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Fields of every event that have a default. */
static int type_defaults(struct work *w)
{
	const struct unc_range *fields = &w->t->type[w->spec->type].fields;

	for (uint32_t i = 0; i < fields->n; i++) {
		uint16_t field = (uint16_t)(fields->first + i);
		const struct unc_tbl_field *f = &w->t->field[field];
		int rc = 0;

		if ((f->flags & UNC_FIELD_DEFAULT) && !is_given(w, field))
			rc = deposit(w, field, f->default_value, false);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The user may give a field that only some umasks take. */
static int check_uses(struct work *w)
{
	const uint16_t *umask = w->umask;
	unsigned n = w->n_umasks;
	const struct unc_tbl_event *e = &w->t->event[w->spec->event];

	for (unsigned i = 0; i < w->spec->n_fields; i++) {
		uint16_t field = w->spec->field[i].field;
		bool takes = w->t->field[field].flags & UNC_FIELD_USER;
		const struct unc_range *ranges[2 + 2 * UNC_SPEC_UMASKS] = {&e->needs, &e->uses};
		unsigned n_ranges = 2;

		for (unsigned k = 0; k < n; k++) {
			ranges[n_ranges++] = &w->t->umask[umask[k]].needs;
			ranges[n_ranges++] = &w->t->umask[umask[k]].uses;
		}
		for (unsigned k = 0; k < n_ranges && !takes; k++)
			takes = unc_sets_field(w->t, ranges[k], field);
		if (!takes)
			return refuse(w, UNC_ERR_INVALID, "field %s has no effect with %s",
				      unc_tbl_str(w->t, w->t->field[field].name),
				      n ? unc_tbl_str(w->t, w->t->umask[umask[0]].name)
					: "this event");
	}
	return 0;
}

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

static int check_pairs(struct work *w, const uint16_t *umask, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++) {
			const struct unc_tbl_umask *a = &w->t->umask[umask[k]],
						   *b = &w->t->umask[umask[i]];

			if (cross_product(w->t, a, b))
				return refuse(
					w, UNC_ERR_INVALID,
					"umasks %s and %s cannot be combined: the counter would "
					"count each kind at each place",
					unc_tbl_str(w->t, a->name), unc_tbl_str(w->t, b->name));
		}
	return 0;
}

/* Umasks that cannot stand alone, or not together. */
static int check_umasks(struct work *w, const uint16_t *umask, unsigned n)
{
	bool whole = false;

	for (unsigned i = 0; i < n; i++) {
		const struct unc_tbl_umask *u = &w->t->umask[umask[i]];

		if (u->unavailable)
			return refuse(w, UNC_ERR_UNAVAILABLE, "umask %s cannot be programmed: %s",
				      unc_tbl_str(w->t, u->name),
				      unc_tbl_str(w->t, u->unavailable));
		if ((u->flags & UNC_UMASK_EXACT) && n > 1)
			return refuse(w, UNC_ERR_INVALID, "umask %s cannot be combined with %s",
				      unc_tbl_str(w->t, u->name),
				      unc_tbl_str(w->t, w->t->umask[umask[i ? 0 : 1]].name));
		if ((u->counter != UNC_NONE) && n > 1)
			return refuse(w, UNC_ERR_INVALID,
				      "umask %s is a counter of its own and cannot be combined",
				      unc_tbl_str(w->t, u->name));
		whole |= !(u->flags & UNC_UMASK_PARTIAL);
	}
	if (n && !whole)
		return refuse(w, UNC_ERR_INVALID,
			      "umask %s counts nothing alone; add one that does",
			      unc_tbl_str(w->t, w->t->umask[umask[0]].name));
	return check_pairs(w, umask, n);
}

static int fail_no_umask(struct work *w, const struct unc_tbl_event *e)
{
	char names[300] = "";

	for (uint32_t i = 0, n = 0; i < e->umasks.n && n < 9; i++) {
		const struct unc_tbl_umask *u = &w->t->umask[e->umasks.first + i];
		size_t at = strlen(names);

		if (u->flags & UNC_UMASK_PARTIAL)
			continue;
		snprintf(names + at, sizeof(names) - at, "%s%s", n ? ", " : "",
			 n == 8 ? "..." : unc_tbl_str(w->t, u->name));
		n++;
	}
	return refuse(w, UNC_ERR_INVALID, "a umask is needed: %s", names);
}

/* The umasks given, or the default one. */
static int choose_umasks(struct work *w)
{
	const struct unc_tbl_event *e = &w->t->event[w->spec->event];

	w->n_umasks = w->spec->n_umasks;
	memcpy(w->umask, w->spec->umask, w->n_umasks * sizeof(w->umask[0]));
	for (uint32_t i = 0; w->n_umasks == 0 && i < e->umasks.n; i++)
		if (w->t->umask[e->umasks.first + i].flags & UNC_UMASK_DEFAULT)
			w->umask[w->n_umasks++] = (uint16_t)(e->umasks.first + i);
	if (w->n_umasks == 0 && e->umasks.n)
		return fail_no_umask(w, e);
	return check_umasks(w, w->umask, w->n_umasks);
}

/* A mask of nodes: node number = socket number. */
static uint64_t node_mask(int node, int socket, int n_sockets)
{
	uint64_t own = (uint64_t)1 << socket;

	return node == UNC_NODE_LOCAL ? own : unc_ones((unsigned)n_sockets) & ~own;
}

/* Limits of a value that do not follow from the width of its field. */
static int check_limits(struct work *w, const struct unc_tbl_field *f, uint64_t value)
{
	const char *name = unc_tbl_str(w->t, f->name);
	uint32_t max = w->code->max_inc;

	if (value < f->min)
		return refuse(w, UNC_ERR_RANGE, "%s=%llu: the least is %llu", name,
			      (unsigned long long)value, (unsigned long long)f->min);
	if ((f->flags & UNC_FIELD_BELOW_MAX) && value && value >= max)
		return refuse(w, UNC_ERR_RANGE,
			      "%s=%llu: the event never exceeds %u in a clock; %s must be less",
			      name, (unsigned long long)value, max, name);
	if (f->counters)
		w->code->counters &= f->counters;
	w->code->whole |= (f->flags & UNC_FIELD_WHOLE) && value;
	return 0;
}

static int user_fields(struct work *w, int socket, int n_sockets)
{
	for (unsigned i = 0; i < w->spec->n_fields; i++) {
		const struct unc_spec_field *f = &w->spec->field[i];
		const struct unc_tbl_field *row = &w->t->field[f->field];
		uint64_t value = f->value;
		int rc;

		if (f->node) {
			w->code->by_socket = true;
			value = node_mask(f->node, socket, n_sockets);
			if (value & ~unc_field_max(row))
				return refuse(w, UNC_ERR_RANGE,
					      "field %s has no bit for so many sockets",
					      unc_tbl_str(w->t, row->name));
		}
		if ((rc = check_limits(w, row, value)) < 0 ||
		    (rc = deposit(w, f->field, value, true)) < 0)
			return rc;
	}
	return 0;
}

/* What a field will hold: what the event makes of it, else what its register holds at rest. */
static uint64_t planned(const struct work *w, const struct unc_tbl_field *f)
{
	const struct unc_code *c = w->code;
	uint64_t reg = c->ctl;

	if (f->reg[0] != UNC_NONE)
		reg = w->t->reg[f->reg[0]].base;
	for (unsigned i = 0; i < c->n_filters; i++)
		if (c->filter[i].reg == f->reg[0])
			reg = c->filter[i].value | (reg & ~c->filter[i].mask);
	return (reg >> f->lo[0]) & unc_ones(f->width[0]);
}

/* Settings that may not come together. */
static int check_forbidden(struct work *w)
{
	const struct unc_range *all = &w->t->type[w->spec->type].forbids;

	for (uint32_t i = 0; i < all->n; i++) {
		const struct unc_tbl_forbid *forbid = &w->t->forbid[all->first + i];
		bool together = true;

		for (uint32_t k = 0; k < forbid->sets.n && together; k++) {
			const struct unc_tbl_set *s = &w->t->set[forbid->sets.first + k];

			together = planned(w, &w->t->field[s->field]) == s->value;
		}
		if (together)
			return refuse(w, UNC_ERR_INVALID, "%s", unc_tbl_str(w->t, forbid->why));
	}
	return 0;
}

/* A fixed or free-running counter takes no fields. */
static int encode_fixed(struct work *w)
{
	struct unc_code *code = w->code;

	if (w->spec->n_fields)
		return refuse(w, UNC_ERR_INVALID,
			      "it has a counter of its own, which takes no field %s",
			      unc_tbl_str(w->t, w->t->field[w->spec->field[0].field].name));
	code->counters = 0;
	code->ctl = w->t->counter[code->counter].enable;
	return 0;
}

static int encode_counted(struct work *w, int socket, int n_sockets)
{
	const struct unc_table *t = w->t;
	const struct unc_tbl_event *e = &t->event[w->spec->event];
	struct unc_code *code = w->code;
	int rc;

	code->ctl = t->type[w->spec->type].enable;
	code->exclusive = t->type[w->spec->type].exclusive;
	code->lane = e->lane;
	code->set = e->set;
	if ((rc = deposit_all(w, &e->sets)) < 0)
		return rc;
	for (unsigned i = 0; i < w->n_umasks; i++)
		if ((rc = deposit_all(w, &t->umask[w->umask[i]].sets)) < 0)
			return rc;
	if ((rc = check_uses(w)) < 0 || (rc = user_fields(w, socket, n_sockets)) < 0 ||
	    (rc = complete(w, &e->needs, &e->defaults, NULL)) < 0)
		return rc;
	for (unsigned i = 0; i < w->n_umasks; i++) {
		const struct unc_tbl_umask *u = &t->umask[w->umask[i]];

		if ((rc = complete(w, &u->needs, &u->defaults, unc_tbl_str(t, u->name))) < 0)
			return rc;
	}
	if ((rc = type_defaults(w)) < 0 || (rc = check_forbidden(w)) < 0)
		return rc;
	if (code->counters == 0)
		return refuse(w, UNC_ERR_INVALID, "no counter can count these umasks together");
	return 0;
}

int unc_spec_encode(const struct unc_table *t, const struct unc_spec *spec, int socket,
		    int n_sockets, struct unc_code *out, struct unc_error *err)
{
	const struct unc_tbl_event *e = &t->event[spec->event];
	struct unc_code code = {.type = spec->type,
				.event = spec->event,
				.counter = e->counter,
				.aggregate = e->aggregate,
				.counters = e->counters,
				.max_inc = e->max_inc};
	struct work w = {.t = t, .spec = spec, .code = &code, .err = err};
	int rc;

	if ((rc = choose_umasks(&w)) < 0)
		return rc;
	for (unsigned i = 0; i < w.n_umasks; i++) {
		const struct unc_tbl_umask *u = &t->umask[w.umask[i]];

		if (u->counter != UNC_NONE)
			code.counter = u->counter;
		if (u->counters)
			code.counters &= u->counters;
		if (u->aggregate)
			code.aggregate = (uint8_t)(u->aggregate - 1);
	}
	rc = code.counter != UNC_NONE ? encode_fixed(&w) : encode_counted(&w, socket, n_sockets);
	if (rc == 0)
		*out = code;
	return rc;
}

bool unc_code_same(const struct unc_code *a, const struct unc_code *b)
{
	if (a->type != b->type || a->counter != b->counter || a->ctl != b->ctl ||
	    a->n_filters != b->n_filters)
		return false;
	for (unsigned i = 0; i < a->n_filters; i++)
		if (a->filter[i].reg != b->filter[i].reg ||
		    a->filter[i].value != b->filter[i].value ||
		    a->filter[i].mask != b->filter[i].mask)
			return false;
	return true;
}
