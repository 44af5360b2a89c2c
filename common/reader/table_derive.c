/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table reader: the simulated machine of a CPU without workload.tbl, in the same rows. It has all
 * units that the tables have places for. Clocks count the clock of their unit, and the events of the
 * portable metrics so much that these come out as load= of portable.tbl says for a socket; all other
 * events keep the small rates of those without a row.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode/event.h"
#include "encode/metric.h"
#include "reader/solve.h"
#include "reader/table_build.h"

/* Where no table tells it: sockets, threads of a core, cores of a socket without slices, units of a
 * type that only discovery places; a clock, and what an event counts per second before it is solved
 * for. Clocks move only where nothing else can. */
enum { SOCKETS = 2, THREADS = 2, CORES = 4, DISCOVERED = 2 };
static const double usual_clock = 2e9, usual_rate = 1e7, clock_ease = 1e-4, near = 1e-6;

/* An event that formulas name. */
struct thing {
	char text[UNC_SPEC_MAX];
	struct unc_code code;
	size_t unit;  /* of the workload */
	bool indexed; /* one unit of them */
	bool clock;
	bool covered; /* counts what its pieces count together */
	double now;   /* what it counts per second and unit while loads are solved for */
	double rate;  /* the same in the end; 0: none was found */
};

struct want {
	struct unc_expr *expr;
	const struct unc_table_portable *portable;
	size_t *thing; /* for each reference */
	double *count;
	bool left; /* cannot be solved for */
};

struct derive {
	struct unc_table_reader *r;
	struct thing *thing;
	size_t n_things;
	bool *part; /* [whole * n_things + piece] */
	struct want want[UNC_MAX_PORTABLE];
	size_t n_wants;
	size_t solved[UNC_MAX_PORTABLE]; /* those of the wants that are not left */
	size_t n_solved;
};

/* ---- the machine and its units */

/* How many units a statement `present` can tell of, of n. */
static unsigned most_of(const struct unc_tbl_present *row, unsigned n)
{
	unsigned bits = (unsigned)__builtin_popcountll(row->mask);
	uint64_t most = n;

	if (row->last)
		most = row->last - row->id + 1u;
	else if (!row->msr && !row->n_offsets)
		most = (uint64_t)row->n_devices * row->per;
	else if (row->tells != UNC_TELLS_ALL)
		most = row->tells == UNC_TELLS_ONES ? bits : unc_ones(bits);
	return most < n ? (unsigned)most : n;
}

static unsigned places_of(const struct unc_table *t, const struct unc_tbl_type *type)
{
	const struct unc_tbl_part *part = &t->part[type->parts.first];
	unsigned n = part->where.n;

	if (!n && type->discovery >= 0 && part->space == UNC_SPACE_MMIO)
		n = DISCOVERED;
	for (uint32_t i = 0; i < type->presents.n; i++)
		n = most_of(&t->present[type->presents.first + i], n);
	return n;
}

/* A core has a slice of the LLC, and there is nothing that a socket has more of. */
static unsigned cores_of(const struct unc_table *t)
{
	unsigned cores = CORES;

	for (size_t i = 0; i < t->n_type; i++)
		if (!t->type[i].pool && !t->type[i].cpus && places_of(t, &t->type[i]) > cores)
			cores = places_of(t, &t->type[i]);
	return cores;
}

static void derive_machine(struct unc_table_reader *r)
{
	struct unc_tbl_machine *m = &r->work.machine;
	char title[64];

	snprintf(title, sizeof(title), "%s (simulated)", unc_tbl_str(&r->t, r->t.title));
	*m = (struct unc_tbl_machine){.sockets = SOCKETS,
				      .model = (uint8_t)r->t.cpuid.models[0],
				      .cores = (uint16_t)cores_of(&r->t),
				      .threads = THREADS,
				      .tsc_hz = usual_clock,
				      .title = unc_add_string(r, title)};
}

static void add_unit(struct unc_table_reader *r, size_t type, unsigned n)
{
	struct unc_tbl_sim_unit *unit = unc_add_sim_unit(r);

	unit->type = (uint16_t)type;
	unit->clock_hz = usual_clock;
	for (unsigned i = 0; i < n; i++)
		unc_bits_add(&unit->present, i);
}

static void derive_units(struct unc_table_reader *r)
{
	for (size_t i = 0; i < r->t.n_type; i++) {
		const struct unc_tbl_type *type = &r->t.type[i];
		unsigned n = type->pool ? 0 : places_of(&r->t, type);
		unsigned cpus = (unsigned)r->work.machine.cores * THREADS;

		if (type->cpus && n > cpus)
			n = cpus;
		if (n)
			add_unit(r, i, n);
	}
}

static bool find_unit(const struct unc_table_reader *r, unsigned type, size_t *unit)
{
	for (size_t i = 0; i < r->work.n_sim_unit; i++)
		if (r->work.sim_unit[i].type == unc_type_pool(&r->t, type)) {
			*unit = i;
			return true;
		}
	return false;
}

/* ---- what formulas name */

/* Settings that make something else of a count, which the simulator works out from the count: no rate
 * can be given for them. */
static bool is_modified(const struct unc_table *t, const struct unc_code *code)
{
	const struct unc_tbl_type *type = &t->type[code->type];

	for (uint32_t i = 0; i < type->fields.n; i++) {
		const struct unc_tbl_field *f = &t->field[type->fields.first + i];

		uint64_t bits = unc_field_bits(f, UNC_NONE), set = code->ctl & bits;

		/* All states together are the whole count. */
		if ((set && (f->role == UNC_IS_THRESHOLD || f->role == UNC_IS_BOTH_THREADS)) ||
		    (set && set != bits && f->role == UNC_IS_STATES))
			return true;
	}
	return false;
}

static bool make_thing(const struct unc_table_reader *r, const char *text, struct thing *thing)
{
	const struct unc_tbl_event *event;
	struct unc_spec spec;

	*thing = (struct thing){.rate = 0};
	if (strlen(text) >= sizeof(thing->text) || unc_spec_parse(&r->t, text, &spec, NULL) < 0 ||
	    unc_spec_encode(&r->t, &spec, 0, SOCKETS, &thing->code, NULL) < 0 ||
	    is_modified(&r->t, &thing->code) || !find_unit(r, spec.type, &thing->unit))
		return false;
	strcpy(thing->text, text);
	event = &r->t.event[spec.event];
	thing->indexed = spec.index >= 0;
	thing->clock = event->clock || thing->code.aggregate == UNC_AGGREGATE_MAX;
	return true;
}

/* Adds it unless it is there; false: it cannot be given a rate. */
static bool add_thing(struct derive *d, const char *text, size_t *at)
{
	struct thing thing, *larger;

	for (*at = 0; *at < d->n_things; ++*at)
		if (strcmp(d->thing[*at].text, text) == 0)
			return true;
	if (!make_thing(d->r, text, &thing))
		return false;
	larger = realloc(d->thing, (d->n_things + 1) * sizeof(*larger));
	if (!larger) {
		d->r->out_of_memory = true;
		return false;
	}
	d->thing = larger;
	d->thing[d->n_things++] = thing;
	return true;
}

/* For unc_formula_parse(). */
static bool lacks(const void *reader, unsigned type)
{
	size_t unit;

	return !find_unit(reader, type, &unit);
}

static void add_want(struct derive *d, unsigned metric, const struct unc_table_portable *portable)
{
	struct want *want = &d->want[d->n_wants];

	/* A formula that is wrong is refused by unc_table_check(). */
	if (d->r->t.metric[metric].unavailable ||
	    unc_formula_parse(&d->r->t, metric, lacks, d->r, &want->expr, NULL) < 0)
		return;
	size_t n = unc_expr_refs(want->expr);
	want->portable = portable;
	want->thing = calloc(n + 1, sizeof(*want->thing));
	want->count = calloc(n + 1, sizeof(*want->count));
	d->n_wants++;
	if (!want->thing || !want->count)
		d->r->out_of_memory = want->left = true;
	for (size_t i = 0; i < n && !want->left; i++)
		want->left = !add_thing(d, unc_expr_ref(want->expr, i)->event, &want->thing[i]);
}

static void find_wants(struct derive *d)
{
	const struct unc_table_reader *r = d->r;

	for (size_t i = 0; i < r->n_portable; i++) {
		int metric = unc_metric_index(&r->t, unc_tbl_str(&r->t, r->portable[i].name));

		if (r->portable[i].load > 0 && metric >= 0)
			add_want(d, (unsigned)metric, &r->portable[i]);
	}
}

/* ---- events that are parts of others */

static uint64_t umask_of(const struct derive *d, const struct thing *thing)
{
	uint16_t field = d->r->t.type[thing->code.type].f_umask;

	return field == UNC_NONE ? 0 : unc_field_bits(&d->r->t.field[field], UNC_NONE);
}

/* Whether the umasks of one are some of those of the other, and all else is the same. */
static bool within(const struct derive *d, const struct thing *piece, const struct thing *whole)
{
	const struct unc_code *a = &piece->code, *b = &whole->code;
	uint64_t umask = umask_of(d, whole), some = a->ctl & umask, all = b->ctl & umask;

	return a->type == b->type && a->counter == UNC_NONE && b->counter == UNC_NONE &&
	       !piece->clock && !whole->clock && ((a->ctl ^ b->ctl) & ~umask) == 0 && some &&
	       some != all && (some & ~all) == 0 && a->n_filters == b->n_filters &&
	       memcmp(a->filter, b->filter, a->n_filters * sizeof(*a->filter)) == 0;
}

/* The largest pieces of each event; where they have all of its umasks, it counts what they do together.
 * Where they have not, nothing is known: a umask more may also mean less (a filter). */
static bool find_parts(struct derive *d)
{
	size_t n = d->n_things;

	d->part = calloc(n * n + 1, sizeof(*d->part));
	for (size_t whole = 0; whole < n && d->part; whole++) {
		struct thing *w = &d->thing[whole];
		uint64_t rest = w->code.ctl & umask_of(d, w), umasks = rest;

		for (size_t piece = 0; piece < n; piece++) {
			bool is = within(d, &d->thing[piece], w);

			for (size_t other = 0; other < n && is; other++)
				is = !within(d, &d->thing[other], w) ||
				     !within(d, &d->thing[piece], &d->thing[other]);
			d->part[whole * n + piece] = is;
			rest &= is ? ~d->thing[piece].code.ctl : ~(uint64_t)0;
		}
		w->covered = umasks && !rest;
	}
	return d->part != NULL;
}

/* ---- what metrics come to */

/* The first piece of an event from `i` on; n_things: there is none. */
static size_t next_part(const struct derive *d, size_t whole, size_t i)
{
	const bool *row = &d->part[whole * d->n_things];
	const bool *at = memchr(row + i, true, d->n_things - i);

	return at ? (size_t)(at - row) : d->n_things;
}

/* Each is worked out once: there may be more ways from an event to its smallest parts than time. */
static double rate_of(struct derive *d, const double *x, size_t at)
{
	struct thing *thing = &d->thing[at];

	if (thing->now > 0)
		return thing->now;
	if (thing->clock)
		return thing->now = exp(x[d->n_things + thing->unit]);
	if (!thing->covered)
		return thing->now = exp(x[at]);
	for (size_t i = next_part(d, at, 0); i < d->n_things; i = next_part(d, at, i + 1))
		thing->now += rate_of(d, x, i);
	return thing->now;
}

/* x: what each thing counts, then the clocks of the units. */
static void set_rates(struct derive *d, const double *x)
{
	for (size_t i = 0; i < d->n_things; i++)
		d->thing[i].now = 0;
	for (size_t i = 0; i < d->n_things; i++)
		rate_of(d, x, i);
}

/* How many units of a socket are added up. */
static double units_of(const struct derive *d, const struct thing *thing, int aggregate)
{
	const struct unc_tbl_sim_unit *unit = &d->r->work.sim_unit[thing->unit];
	const struct unc_tbl_type *type = &d->r->t.type[unit->type];
	unsigned n = unc_bits_count(&unit->present);
	unsigned share = type->share > 1 ? type->cpus ? THREADS : type->share : 1;

	if (aggregate == UNC_EXPR_MEAN || thing->indexed)
		return 1;
	if (aggregate == UNC_EXPR_AS_EVENT && thing->code.aggregate == UNC_AGGREGATE_MAX)
		return 1;
	if (aggregate == UNC_EXPR_AS_EVENT && thing->code.aggregate != UNC_AGGREGATE_SUM)
		n = share;
	return thing->code.whole ? (n + share - 1) / share : n;
}

/* 0 if a metric is, with the rates of now, what portable.tbl says. It grows as the logarithm, so that
 * what is far away can be reached in few steps, and goes on below 0, where differences may begin. */
static double miss_of(const struct derive *d, const struct want *want)
{
	struct unc_expr_vars vars = {1, usual_clock, usual_clock, NAN}; /* a second */
	double value;

	for (size_t i = 0; i < unc_expr_refs(want->expr); i++)
		want->count[i] = d->thing[want->thing[i]].now *
				 units_of(d, &d->thing[want->thing[i]],
					  unc_expr_ref(want->expr, i)->aggregate);
	if (unc_expr_eval(want->expr, want->count, &vars, &value) < 0)
		return NAN;
	value /= want->portable->load;
	return value > 1 ? log(value) : value - 1;
}

static void miss(void *user, const double *x, double *out)
{
	struct derive *d = user;

	set_rates(d, x);
	for (size_t i = 0; i < d->n_solved; i++)
		out[i] = miss_of(d, &d->want[d->solved[i]]);
}

/* What to begin with; what has no value there is left. */
static void begin(struct derive *d, double *x, double *ease)
{
	for (size_t i = 0; i < d->n_things; i++) {
		x[i] = log(usual_rate);
		ease[i] = 1;
	}
	for (size_t i = 0; i < d->r->work.n_sim_unit; i++) {
		x[d->n_things + i] = log(usual_clock);
		ease[d->n_things + i] = clock_ease;
	}
	set_rates(d, x);
	d->n_solved = 0;
	for (size_t i = 0; i < d->n_wants; i++) {
		struct want *want = &d->want[i];

		want->left = want->left || !isfinite(miss_of(d, want));
		if (!want->left)
			d->solved[d->n_solved++] = i;
	}
}

/* Leaves the metric that is farthest from its load; false: all are near. */
static bool leave_worst(struct derive *d, const double *x)
{
	struct want *worst = NULL;
	double most = near;

	set_rates(d, x);
	for (size_t i = 0; i < d->n_solved; i++) {
		struct want *want = &d->want[d->solved[i]];
		double off = fabs(miss_of(d, want));

		if (off > most) {
			most = off;
			worst = want;
		}
	}
	if (worst)
		worst->left = true;
	return worst != NULL;
}

/* A metric that cannot be solved for would spoil the others: they are solved for again without it. */
static bool solve_all(struct derive *d, const struct unc_solve *s)
{
	struct unc_solve one = *s;

	do {
		begin(d, s->x, s->ease);
		one.m = d->n_solved;
		if (!unc_solve(&one))
			return false;
	} while (leave_worst(d, s->x));
	return true;
}

static void use(struct derive *d, size_t at)
{
	if (d->thing[at].rate > 0)
		return;
	d->thing[at].rate = d->thing[at].now;
	for (size_t i = next_part(d, at, 0); d->thing[at].covered && i < d->n_things;
	     i = next_part(d, at, i + 1))
		use(d, i);
}

/* Gives what the metrics name its rates; what is left is noted by name. */
static void take(struct derive *d, const double *x)
{
	char text[1024] = "";
	struct unc_buf names = UNC_BUF(text);

	set_rates(d, x);
	for (size_t i = 0; i < d->n_wants; i++) {
		const struct want *want = &d->want[i];

		for (size_t k = 0; k < unc_expr_refs(want->expr) && !want->left; k++)
			use(d, want->thing[k]);
		if (want->left)
			unc_put_word(&names, unc_tbl_str(&d->r->t, want->portable->name));
	}
	for (size_t i = 0; i < d->r->work.n_sim_unit; i++)
		UNC_WORK_ROW(d->r, sim_unit, i)->clock_hz = exp(x[d->n_things + i]);
	d->r->work.missed = unc_add_string(d->r, text);
}

static bool solve(struct derive *d)
{
	size_t n = d->n_things + d->r->work.n_sim_unit;
	double *x = calloc(2 * n + 1, sizeof(*x));
	struct unc_solve s = {.n = n, .x = x, .ease = x + n, .miss = miss, .user = d};
	bool done = x && find_parts(d) && solve_all(d, &s);

	if (done)
		take(d, x);
	free(x);
	return done;
}

/* ---- rows */

static int add_rates(struct derive *d)
{
	int rc = 0;

	for (size_t i = 0; i < d->n_things && rc == 0; i++)
		if (!d->thing[i].clock && d->thing[i].rate > 0)
			rc = unc_add_event_rate(d->r, d->thing[i].text, d->thing[i].rate, 0, false);
	return rc;
}

/* Events that are clocks by what the tables say, unless they need more than their name. */
static int add_clocks(struct unc_table_reader *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->t.n_event && rc == 0; i++) {
		const struct unc_tbl_event *event = &r->t.event[i];
		char text[UNC_SPEC_MAX];
		struct thing thing;

		if (!event->clock && event->aggregate != UNC_AGGREGATE_MAX)
			continue;
		snprintf(text, sizeof(text), "%s.%s", unc_type_name(&r->t, event->type),
			 unc_event_name(&r->t, (unsigned)i));
		if (make_thing(r, text, &thing))
			rc = unc_add_event_rate(r, text, r->work.sim_unit[thing.unit].clock_hz, 0,
						true);
	}
	return rc;
}

int unc_derive_workload(struct unc_table_reader *r)
{
	struct derive *d = calloc(1, sizeof(*d));
	int rc = 0;

	if (!d)
		return unc_fail(r->err, UNC_ERR_MEMORY, "out of memory");
	d->r = r;
	derive_machine(r);
	derive_units(r);
	find_wants(d);
	if (!solve(d))
		rc = unc_fail(r->err, UNC_ERR_MEMORY, "out of memory");
	if (rc == 0)
		rc = add_clocks(r);
	if (rc == 0)
		rc = add_rates(d);
	for (size_t i = 0; i < d->n_wants; i++) {
		unc_expr_free(d->want[i].expr);
		free(d->want[i].thing);
		free(d->want[i].count);
	}
	free(d->thing);
	free(d->part);
	free(d);
	return rc;
}
