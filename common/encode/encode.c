/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as register values. */
#include "encode/encode.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tables/table.h"

static struct unc_code_filter *find_filter(struct unc_code *c, uint16_t reg)
{
	for (unsigned i = 0; i < c->n_filters; i++)
		if (c->filter[i].reg == reg)
			return &c->filter[i];
	return NULL;
}

static struct unc_code_filter *filter_of(struct unc_code *c, uint16_t reg)
{
	struct unc_code_filter *f = find_filter(c, reg);

	if (f || c->n_filters == UNC_MAX_FILTERS)
		return f;
	c->filter[c->n_filters] = (struct unc_code_filter){.reg = reg};
	return &c->filter[c->n_filters++];
}

/*
 * Adds a value to its bits. What others have put there stays: rules.c looks whether what came out
 * is what was asked for. Filters know which bits are `meant`; only those are left alone.
 */
static int deposit(struct unc_work *w, uint16_t field, uint64_t value, const uint64_t *meant)
{
	const struct unc_tbl_field *f = &w->t->field[field];
	uint64_t rest = value >> f->shift;

	for (unsigned p = 0; p < 2 && f->width[p]; p++) {
		uint64_t mask = unc_ones(f->width[p]) << f->lo[p];
		uint64_t bits = (rest << f->lo[p]) & mask;

		rest = f->width[p] < 64 ? rest >> f->width[p] : 0;
		if (f->reg[p] == UNC_NONE) {
			w->code->ctl |= bits;
			continue;
		}
		struct unc_code_filter *filter = filter_of(w->code, f->reg[p]);

		if (!filter)
			return unc_refuse(w, UNC_ERR_RANGE, "more than 8 filter registers");
		filter->value |= meant ? bits & ~meant[filter - w->code->filter] : bits;
		filter->mask |= mask;
	}
	return 0;
}

/* What the user asks for, and what comes with it. */
static int wish(struct unc_work *w, uint16_t field, uint16_t by, uint64_t value)
{
	if (w->n_wishes == UNC_MAX_WISHES)
		return unc_refuse(w, UNC_ERR_RANGE, "more fields than can be kept together");
	w->wish[w->n_wishes++] = (struct unc_wish){field, by, value};
	return deposit(w, field, value, NULL);
}

/* What comes with a field that the user gives, unless user or umask give it too. */
static int wish_with(struct unc_work *w, uint16_t field, uint64_t value)
{
	const struct unc_range *with = &w->t->field[field].with;
	int rc = wish(w, field, field, value);

	for (uint32_t i = 0; i < with->n && rc == 0; i++) {
		const struct unc_tbl_set *s = &w->t->set[with->first + i];

		if (!unc_is_chosen(w, s->field))
			rc = wish(w, s->field, field, s->value);
	}
	return rc;
}

static int deposit_all(struct unc_work *w, const struct unc_range *sets)
{
	for (uint32_t i = 0; i < sets->n; i++) {
		const struct unc_tbl_set *s = &w->t->set[sets->first + i];
		int rc = deposit(w, s->field, s->value, NULL);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Fields that must be given. */
static int check_needed(struct unc_work *w, const struct unc_range *needs, const char *umask)
{
	for (uint32_t i = 0; i < needs->n; i++) {
		uint16_t field = w->t->set[needs->first + i].field;

		if (!unc_user_gave(w->spec, field))
			return unc_refuse(w, UNC_ERR_INVALID, "%s needs a value of field %s",
					  umask ? umask : "it",
					  unc_tbl_str(w->t, w->t->field[field].name));
	}
	return 0;
}

/* Defaults of those that are not: of the event or of a umask, in bits that nobody has named. */
static int defaults(struct unc_work *w, const struct unc_range *sets, const uint64_t *meant)
{
	for (uint32_t i = 0; i < sets->n; i++) {
		const struct unc_tbl_set *s = &w->t->set[sets->first + i];
		int rc = unc_is_given(w, s->field) ? 0 : deposit(w, s->field, s->value, meant);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Fields of every event that have a default, and those that take the value of another one. */
static int type_defaults(struct unc_work *w, const uint64_t *meant)
{
	const struct unc_range *fields = &w->t->type[w->spec->type].fields;
	int rc = 0;

	for (uint32_t i = 0; i < fields->n && rc == 0; i++) {
		uint16_t field = (uint16_t)(fields->first + i);
		const struct unc_tbl_field *f = &w->t->field[field];

		if ((f->flags & UNC_FIELD_DEFAULT) && !unc_is_given(w, field))
			rc = deposit(w, field, f->default_value, meant);
	}
	for (uint32_t i = 0; i < fields->n && rc == 0; i++) {
		uint16_t field = (uint16_t)(fields->first + i);
		const struct unc_tbl_field *f = &w->t->field[field];
		bool known;

		if (f->like != UNC_NONE && find_filter(w->code, f->reg[0]))
			rc = deposit(w, field,
				     unc_field_value(&w->t->field[f->like], w->code->ctl, NULL, 0,
						     &known),
				     meant);
	}
	return rc;
}

/*
 * A register that qualifies every event which takes its fields qualifies this one too, whatever it
 * happens to hold: what nobody names must be what it holds at rest.
 */
static int neutral_register(struct unc_work *w, uint16_t number)
{
	const struct unc_tbl_reg *reg = &w->t->reg[number];

	if (!(reg->flags & UNC_REG_EVERY) || find_filter(w->code, number))
		return 0;
	struct unc_code_filter *filter = filter_of(w->code, number);

	if (!filter)
		return unc_refuse(w, UNC_ERR_RANGE, "more than 8 filter registers");
	filter->value = reg->base;
	filter->mask = reg->write_mask;
	return 0;
}

static int neutral(struct unc_work *w)
{
	const struct unc_range *fields = &w->t->type[w->spec->type].fields;
	int rc = 0;

	for (uint32_t i = 0; i < fields->n && rc == 0; i++) {
		const struct unc_tbl_field *f = &w->t->field[fields->first + i];

		if (f->reg[0] == UNC_NONE || !unc_takes_field(w, (uint16_t)(fields->first + i)))
			continue;
		rc = neutral_register(w, f->reg[0]);
		if (rc == 0 && f->width[1])
			rc = neutral_register(w, f->reg[1]);
	}
	return rc;
}

static int fail_no_umask(struct unc_work *w, const struct unc_tbl_event *e)
{
	char names[300];
	struct unc_buf list = UNC_BUF(names);

	for (uint32_t i = 0; i < e->umasks.n; i++) {
		const struct unc_tbl_umask *u = &w->t->umask[e->umasks.first + i];

		if (!(u->flags & UNC_UMASK_PARTIAL))
			unc_put_few(&list, unc_tbl_str(w->t, u->name));
	}
	return unc_refuse(w, UNC_ERR_INVALID, "a umask is needed: %s", names);
}

/* The umasks given, or the default one. */
static int choose_umasks(struct unc_work *w)
{
	const struct unc_tbl_event *e = &w->t->event[w->spec->event];

	w->n_umasks = w->spec->n_umasks;
	memcpy(w->umask, w->spec->umask, w->n_umasks * sizeof(w->umask[0]));
	for (uint32_t i = 0; w->n_umasks == 0 && i < e->umasks.n; i++)
		if (w->t->umask[e->umasks.first + i].flags & UNC_UMASK_DEFAULT)
			w->umask[w->n_umasks++] = (uint16_t)(e->umasks.first + i);
	if (w->n_umasks == 0 && e->umasks.n)
		return fail_no_umask(w, e);
	return unc_check_umasks(w);
}

/* A mask of nodes: node number = socket number. */
static uint64_t node_mask(int node, int socket, int n_sockets)
{
	uint64_t own = (uint64_t)1 << socket;

	return node == UNC_NODE_LOCAL ? own : unc_ones((unsigned)n_sockets) & ~own;
}

/* Limits of a value that do not follow from the width of its field. */
static int check_limits(struct unc_work *w, const struct unc_tbl_field *f, uint64_t value)
{
	const char *name = unc_tbl_str(w->t, f->name);

	if (value < f->min)
		return unc_refuse(w, UNC_ERR_RANGE,
				  value < 10 && f->min < 10 ? "%s=%llu: the least is %llu"
							    : "%s=0x%llx: the least is 0x%llx",
				  name, (unsigned long long)value, (unsigned long long)f->min);
	if (f->counters)
		w->code->counters &= f->counters;
	w->code->whole |= f->role == UNC_IS_BOTH_THREADS && value;
	return 0;
}

static int user_fields(struct unc_work *w, int socket, int n_sockets)
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
				return unc_refuse(w, UNC_ERR_RANGE,
						  "field %s has no bit for so many sockets",
						  unc_tbl_str(w->t, row->name));
		}
		if ((rc = check_limits(w, row, value)) < 0 ||
		    (rc = wish_with(w, f->field, value)) < 0)
			return rc;
	}
	return 0;
}

/* A fixed or free-running counter takes no fields. */
static int encode_fixed(struct unc_work *w)
{
	struct unc_code *code = w->code;

	if (w->spec->n_fields)
		return unc_refuse(w, UNC_ERR_INVALID,
				  "it has a counter of its own, which takes no field %s",
				  unc_tbl_str(w->t, w->t->field[w->spec->field[0].field].name));
	code->counters = 0;
	code->ctl = w->t->counter[code->counter].enable;
	return 0;
}

static int all_defaults(struct unc_work *w)
{
	const struct unc_tbl_event *e = &w->t->event[w->spec->event];
	uint64_t meant[UNC_MAX_FILTERS] = {0};
	int rc;

	for (unsigned i = 0; i < w->code->n_filters; i++)
		meant[i] = w->code->filter[i].mask;
	if ((rc = check_needed(w, &e->needs, NULL)) < 0 ||
	    (rc = defaults(w, &e->defaults, meant)) < 0)
		return rc;
	for (unsigned i = 0; i < w->n_umasks; i++) {
		const struct unc_tbl_umask *u = &w->t->umask[w->umask[i]];

		if ((rc = check_needed(w, &u->needs, unc_tbl_str(w->t, u->name))) < 0 ||
		    (rc = defaults(w, &u->defaults, meant)) < 0)
			return rc;
	}
	return type_defaults(w, meant);
}

static int encode_counted(struct unc_work *w, int socket, int n_sockets)
{
	const struct unc_table *t = w->t;
	const struct unc_tbl_event *e = &t->event[w->spec->event];
	struct unc_code *code = w->code;
	int rc;

	code->ctl = t->type[w->spec->type].enable;
	code->exclusive = t->type[w->spec->type].exclusive;
	code->lane = e->lane;
	code->set = e->set;
	if ((rc = unc_check_sets(w)) < 0 || (rc = deposit_all(w, &e->sets)) < 0)
		return rc;
	for (unsigned i = 0; i < w->n_umasks; i++)
		if ((rc = deposit_all(w, &t->umask[w->umask[i]].sets)) < 0)
			return rc;
	if ((rc = unc_check_uses(w)) < 0 || (rc = user_fields(w, socket, n_sockets)) < 0 ||
	    (rc = all_defaults(w)) < 0 || (rc = neutral(w)) < 0 || (rc = unc_check_result(w)) < 0)
		return rc;
	if (code->counters == 0)
		return unc_refuse(w, UNC_ERR_INVALID, "no counter can count these umasks together");
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
				.doubtful = e->doubtful,
				.max_inc = e->max_inc};
	struct unc_work w = {.t = t, .spec = spec, .code = &code, .err = err};
	int rc;

	if ((rc = choose_umasks(&w)) < 0)
		return rc;
	for (unsigned i = 0; i < w.n_umasks; i++) {
		const struct unc_tbl_umask *u = &t->umask[w.umask[i]];

		if (u->counter != UNC_NONE)
			code.counter = u->counter;
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
