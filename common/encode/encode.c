/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as register values. */
#include "encode/encode.h"

#include <string.h>

#include "base/text.h"
#include "tables/table.h"

static struct unc_code_filter *find_filter(struct unc_code *c, uint16_t reg)
{
	const struct unc_code_filter *f = unc_filter_of(c->filter, c->n_filters, reg);

	return f ? &c->filter[f - c->filter] : NULL;
}

/* The register's filter, existing or new; NULL: there is no room, and the error is set. */
static struct unc_code_filter *get_filter(struct unc_work *w, uint16_t reg)
{
	struct unc_code_filter *f = find_filter(w->code, reg);

	if (f)
		return f;
	if (w->code->n_filters == UNC_MAX_FILTERS) {
		unc_refuse(w, UNC_ERR_RANGE, "more than 8 filter registers");
		return NULL;
	}
	f = &w->code->filter[w->code->n_filters++];
	*f = (struct unc_code_filter){.reg = reg};
	return f;
}

/*
 * Adds a value to its bits. Bits that are already set stay: rules.c checks whether the result is
 * what was asked for. `meant` has the bits of filters that were given: defaults leave those alone.
 */
static void add_bits(struct unc_work *w, uint16_t field, uint64_t value, const uint64_t *meant)
{
	const struct unc_tbl_field *f = &w->t->field[field];
	uint64_t rest = value >> f->shift;

	for (unsigned p = 0; p < UNC_PIECES && f->width[p]; p++) {
		uint64_t mask = unc_ones(f->width[p]) << f->lo[p];
		uint64_t bits = (rest << f->lo[p]) & mask;

		rest = f->width[p] < 64 ? rest >> f->width[p] : 0;
		if (f->reg[p] == UNC_NONE) {
			w->code->ctl |= bits;
			continue;
		}
		struct unc_code_filter *filter = get_filter(w, f->reg[p]);

		if (!filter)
			return;
		filter->value |= meant ? bits & ~meant[filter - w->code->filter] : bits;
		filter->mask |= mask;
	}
}

/* Records a wish of the user, or one that comes with it. */
static void add_wish(struct unc_work *w, uint16_t field, uint16_t by, uint64_t value)
{
	if (w->n_wishes == UNC_MAX_WISHES) {
		unc_refuse(w, UNC_ERR_RANGE, "more fields than can be kept together");
		return;
	}
	w->wish[w->n_wishes++] = (struct unc_wish){field, by, value};
	add_bits(w, field, value, NULL);
}

/* Records a field that the user gives, and the fields that come with it unless user or umask give them. */
static void wish_with(struct unc_work *w, uint16_t field, uint64_t value)
{
	const struct unc_range *with = &w->t->field[field].with;

	add_wish(w, field, field, value);
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(w->t, set, *with, s));)
		if (!unc_is_chosen(w, s->field))
			add_wish(w, s->field, field, s->value);
}

/* Adds the fields of event or umask, or (meant) the defaults of fields that nobody gives. */
static void deposit_all(struct unc_work *w, const struct unc_range *sets, const uint64_t *meant)
{
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(w->t, set, *sets, s));)
		if (!meant || !unc_is_given(w, s->field))
			add_bits(w, s->field, s->value, meant);
}

/* Checks for fields that must be given; adds defaults of those that are not, in bits that nobody gave. */
static void add_defaults(struct unc_work *w, const struct unc_tbl_fields *fields, const char *what,
			 const uint64_t *meant)
{
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(w->t, set, fields->needs, s));)
		if (!unc_user_gave(w->spec, s->field))
			unc_refuse(w, UNC_ERR_INVALID, "%s needs a value of field %s", what,
				   unc_field_name(w->t, s->field));
	deposit_all(w, &fields->defaults, meant);
}

/* Adds defaults of fields of every event, and fields that copy the value of another field. */
static void add_type_defaults(struct unc_work *w, const uint64_t *meant)
{
	const struct unc_range *settled = &w->type->settled;
	const struct unc_tbl_field *field = w->t->field, *f;

	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(w->t, set, *settled, s));)
		if ((field[s->field].flags & UNC_FIELD_DEFAULT) && !unc_is_given(w, s->field))
			add_bits(w, s->field, field[s->field].default_value, meant);
	for (const struct unc_tbl_set *s = NULL; (s = UNC_NEXT(w->t, set, *settled, s));) {
		f = &field[s->field];
		if (f->like != UNC_NONE && find_filter(w->code, f->reg[0]))
			add_bits(w, s->field,
				 unc_field_value(&field[f->like], w->code->ctl, NULL, 0, NULL),
				 meant);
	}
}

/*
 * A register that qualifies every event which takes its fields qualifies this one too. If the user
 * gives none of them, it must hold its value at rest.
 */
static void add_neutral(struct unc_work *w)
{
	for (uint32_t i = 0; i < UNC_PIECES * w->type->settled.n; i++) {
		uint16_t field = w->t->set[w->type->settled.first + i / UNC_PIECES].field;
		const struct unc_tbl_field *f = &w->t->field[field];
		uint16_t number = f->reg[i % UNC_PIECES];
		struct unc_code_filter *filter;

		if (!f->width[i % UNC_PIECES] || number == UNC_NONE || !unc_may_give(w, field) ||
		    !(w->t->reg[number].flags & UNC_REG_EVERY) || find_filter(w->code, number) ||
		    !(filter = get_filter(w, number)))
			continue;
		filter->value = w->t->reg[number].base;
		filter->mask = w->t->reg[number].write_mask;
	}
}

static void fail_no_umask(struct unc_work *w)
{
	char names[300];
	struct unc_buf list = UNC_BUF(names);

	for (const struct unc_tbl_umask *u = NULL; (u = UNC_NEXT(w->t, umask, w->e->umasks, u));)
		if (!(u->flags & UNC_UMASK_PARTIAL))
			unc_put_few(&list, unc_tbl_str(w->t, u->name));
	unc_refuse(w, UNC_ERR_INVALID, "a umask is needed: %s", names);
}

/* Finds the umasks: those given, or the default one; they may replace bits of the event. */
static void choose_umasks(struct unc_work *w)
{
	const struct unc_range *umasks = &w->e->umasks;

	while (w->n_umasks < w->spec->n_umasks) {
		w->umask[w->n_umasks] = &w->t->umask[w->spec->umask[w->n_umasks]];
		w->n_umasks++;
	}
	for (uint32_t i = 0; w->n_umasks == 0 && i < umasks->n; i++)
		if (w->t->umask[umasks->first + i].flags & UNC_UMASK_DEFAULT)
			w->umask[w->n_umasks++] = &w->t->umask[umasks->first + i];
	if (w->n_umasks == 0 && umasks->n)
		fail_no_umask(w);
	unc_check_umasks(w);
	for (unsigned i = 0; i < w->n_umasks; i++) {
		if (w->umask[i]->counter != UNC_NONE)
			w->code->counter = w->umask[i]->counter;
		if (w->umask[i]->aggregate)
			w->code->aggregate = (uint8_t)(w->umask[i]->aggregate - 1);
	}
}

/* Checks limits of a value that do not follow from the width of its field. */
static void check_limits(struct unc_work *w, const struct unc_tbl_field *f, uint64_t value)
{
	if (value < f->min)
		unc_refuse(w, UNC_ERR_RANGE,
			   value < 10 && f->min < 10 ? "%s=%llu: the least is %llu"
						     : "%s=0x%llx: the least is 0x%llx",
			   unc_tbl_str(w->t, f->name), (unsigned long long)value,
			   (unsigned long long)f->min);
	if (f->counters)
		w->code->counters &= f->counters;
	w->code->whole |= f->role == UNC_IS_BOTH_THREADS && value;
}

static void user_fields(struct unc_work *w, int socket, int n_sockets)
{
	for (unsigned i = 0; i < w->spec->n_fields; i++) {
		const struct unc_spec_field *f = &w->spec->field[i];
		const struct unc_tbl_field *row = &w->t->field[f->field];
		uint64_t value = f->value;

		if (f->node) { /* a mask of nodes: node number = socket number */
			const uint64_t own = (uint64_t)1 << socket;

			w->code->by_socket = true;
			value = f->node == UNC_NODE_LOCAL ? own
							  : unc_ones((unsigned)n_sockets) & ~own;
			if (value & ~unc_field_max(row))
				unc_refuse(w, UNC_ERR_RANGE,
					   "field %s has no bit for so many sockets",
					   unc_tbl_str(w->t, row->name));
		}
		check_limits(w, row, value);
		wish_with(w, f->field, value);
	}
}

/* A fixed or free-running counter takes no fields. */
static void encode_fixed(struct unc_work *w)
{
	struct unc_code *code = w->code;

	if (w->spec->n_fields)
		unc_refuse(w, UNC_ERR_INVALID,
			   "it has a counter of its own, which takes no field %s",
			   unc_field_name(w->t, w->spec->field[0].field));
	code->counters = 0;
	code->ctl = w->t->counter[code->counter].enable;
}

static void all_defaults(struct unc_work *w)
{
	uint64_t meant[UNC_MAX_FILTERS] = {0};

	for (unsigned i = 0; i < w->code->n_filters; i++)
		meant[i] = w->code->filter[i].mask;
	for (unsigned i = 0; i <= w->n_umasks; i++)
		add_defaults(w, unc_part(w, i), i ? unc_tbl_str(w->t, w->umask[i - 1]->name) : "it",
			     meant);
	add_type_defaults(w, meant);
}

static void encode_counted(struct unc_work *w, int socket, int n_sockets)
{
	struct unc_code *code = w->code;

	code->ctl = w->type->enable;
	code->exclusive = w->type->exclusive;
	code->lane = w->e->lane;
	code->set = w->e->set;
	for (unsigned i = 0; i <= w->n_umasks; i++)
		deposit_all(w, &unc_part(w, i)->sets, NULL);
	unc_check_uses(w);
	user_fields(w, socket, n_sockets);
	all_defaults(w);
	add_neutral(w);
	if (w->rc == 0)
		unc_check_result(w);
	if (code->counters == 0)
		unc_refuse(w, UNC_ERR_INVALID, "no counter can count these umasks together");
}

int unc_spec_encode(const struct unc_table *t, const struct unc_spec *spec, int socket,
		    int n_sockets, struct unc_code *out, struct unc_error *err)
{
	const struct unc_tbl_event *e = &t->event[spec->event];
	const struct unc_tbl_umask *umask[UNC_SPEC_UMASKS];
	struct unc_wish wish[UNC_MAX_WISHES];
	struct unc_work w = {.t = t,
			     .type = &t->type[spec->type],
			     .e = e,
			     .spec = spec,
			     .code = out,
			     .err = err,
			     .umask = umask,
			     .wish = wish};

	memset(out, 0, offsetof(struct unc_code, filter));
	out->type = spec->type;
	out->event = spec->event;
	out->counter = e->counter;
	out->aggregate = e->aggregate;
	out->counters = e->counters;
	out->doubtful = e->doubtful;
	out->max_inc = e->max_inc;
	choose_umasks(&w);
	if (w.rc == 0 && out->counter != UNC_NONE)
		encode_fixed(&w);
	else if (w.rc == 0)
		encode_counted(&w, socket, n_sockets);
	return w.rc;
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
