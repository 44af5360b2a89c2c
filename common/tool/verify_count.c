/* SPDX-License-Identifier: BSD-3-Clause */
/* Verify: what probes count while something is moved. What does not fit into the counters at once is
 * counted in a further run of the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

/* One run: a session, and one beside it. */
struct run {
	struct unc_session *session[2];
	size_t items[2];
	int *first; /* item of each probe; -1: it is not of this run */
};

const struct unc_unit *verify_unit(const struct unc_platform *p, const struct unc_operation *o)
{
	const struct unc_unit *u;

	for (size_t i = 0; (u = unc_unit_get(p, i)); i++)
		if (strcmp(u->type->name, o->unit) == 0 && u->socket == o->socket &&
		    u->index == o->index)
			break;
	return u;
}

static int find_write(void *user, const struct unc_operation *o)
{
	struct probe *p = user;

	if (!o->write || o->value != p->at)
		return 0;
	snprintf(p->held.reg, sizeof(p->held.reg), "%s", o->reg);
	p->held.unit = verify_unit(p->platform, o);
	return 1;
}

static int find_value(void *user, const struct unc_register *r)
{
	struct held *held = user;

	if (strcmp(r->name, held->reg) != 0)
		return 0;
	held->known = r->known;
	held->value = r->value;
	return 1;
}

void verify_register(struct verify *v, struct held *held)
{
	held->known = false;
	if (held->unit)
		unc_register_read(v->platform, held->unit, find_value, held);
}

static int add(struct run *run, struct probe *p, int *first)
{
	struct unc_session *s = run->session[p->beside];
	int rc = unc_session_add_each(s, p->text, p->per, first, &p->n);

	for (int i = 0; i < (int)p->n && rc == 0 && p->chosen; i++)
		rc = unc_session_counter(s, *first + i, p->counter);
	for (int i = 0; i < (int)p->n && rc == 0 && p->at; i++)
		rc = unc_session_begin_at(s, *first + i, p->at);
	if (rc == 0 && p->at) /* where that is, tells the plan, before anything runs */
		unc_session_plan(s, UNC_PHASE_START, find_write, p);
	if (rc == 0)
		run->items[p->beside] += p->n;
	return rc;
}

/* Adds a probe; what does not fit at once is left for another run, and alone there takes passes. */
static void try_probe(struct run *run, struct probe *p, int *first)
{
	struct unc_session **s = &run->session[p->beside];
	bool alone = run->items[p->beside] == 0;
	int rc = *s ? 0 : unc_session_new(p->platform, 0, s);

	if (rc == 0)
		rc = add(run, p, first);
	if (rc == UNC_ERR_PASSES && alone) {
		unc_session_free(*s);
		*s = NULL;
		rc = unc_session_new(p->platform, UNC_SESSION_ROTATE, s);
		if (rc == 0)
			rc = add(run, p, first);
	}
	if (rc == 0)
		return;
	*first = -1;
	p->counted = alone;
	if (alone)
		p->why = must_print("%s",
				    *s ? unc_session_error(*s) : unc_platform_error(p->platform));
}

static void open_run(struct verify *v, struct run *run, struct probe *p, size_t n)
{
	run->first = must_alloc(NULL, n, sizeof(*run->first));
	for (size_t i = 0; i < n; i++) {
		const struct unc_session *s = run->session[p[i].beside];

		run->first[i] = -1;
		p[i].platform = p[i].platform ? p[i].platform : v->platform;
		if (!p[i].counted && (!s || unc_session_passes(s) == 1))
			try_probe(run, &p[i], &run->first[i]);
	}
}

static int fails(struct verify *v, struct unc_session *s, int rc)
{
	if (rc < 0)
		verify_fail(v, "%s", unc_session_error(s));
	return rc;
}

/* What was read: before the flow, after it, and a while later. */
enum { BEFORE, AFTER, LATER, READS_OF_RUN };

static int look(struct verify *v, struct run *run, struct unc_value *value[2])
{
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++)
		if (run->items[i])
			rc = fails(v, run->session[i],
				   unc_session_read(run->session[i], value[i], run->items[i],
						    sizeof(**value)));
	return rc;
}

/* A while of a flow for each pass of the first session: what is scaled is of all of it. */
static int step(struct verify *v, struct run *run, const struct flow *flow, bool first,
		struct moved *sum)
{
	int passes = run->session[0] ? unc_session_passes(run->session[0]) : 1, rc = 0;

	for (int pass = 0; pass < passes && rc == 0; pass++) {
		struct moved one;

		if (passes > 1 && !(first && pass == 0))
			rc = fails(v, run->session[0], unc_session_rotate(run->session[0]));
		if (rc == 0 && !v->mover->move(v, flow, &one))
			rc = UNC_ERR_UNAVAILABLE;
		sum->bytes += rc ? 0 : one.bytes;
		sum->seconds += rc ? 0 : one.seconds;
	}
	return rc;
}

/* The flow, if there is one between two whiles of what others move. */
static int go(struct verify *v, struct run *run, const struct flow *flow, struct moved *sum,
	      struct unc_value *value[READS_OF_RUN][2])
{
	const struct flow idle = {IDLE, 0, 0};
	int first = flow->kind == IDLE ? AFTER : BEFORE, last = 2 * AFTER - first, rc = 0;
	struct moved other = {0, 0};

	for (int i = 0; i < 2 && rc == 0; i++)
		if (run->items[i])
			rc = fails(v, run->session[i], unc_session_start(run->session[i]));
	for (int i = first; i <= last && rc == 0; i++) {
		rc = step(v, run, i == AFTER ? flow : &idle, i == first, i == AFTER ? sum : &other);
		if (rc == 0)
			rc = look(v, run, value[i]);
	}
	return rc;
}

/* How long an interval was, if it was scaled, too. */
static double seconds_of(const struct unc_value *x)
{
	return x->interval_share > 0 ? x->interval_seconds / x->interval_share : NAN;
}

/* Whatever is a rate becomes what it is in its time. */
static struct place place_of(const struct unc_item *item, struct unc_value *value[READS_OF_RUN])
{
	bool rate = item->metric && strcmp(item->metric->unit, "bytes_per_second") == 0;
	double seconds = seconds_of(value[AFTER]);

	return (struct place){
		.socket = item->at.socket,
		.index = item->at.index,
		.value = value[AFTER]->interval * (rate ? seconds : 1),
		.seconds = seconds,
		.total = fmax(value[AFTER]->value, value[LATER]->value),
		.base = {value[BEFORE]->interval / (rate ? 1 : seconds_of(value[BEFORE])),
			 value[LATER]->interval / (rate ? 1 : seconds_of(value[LATER]))}};
}

static void take(struct verify *v, struct unc_session *s, struct probe *p, int first,
		 struct unc_value *value[READS_OF_RUN])
{
	p->place = must_alloc(NULL, p->n, sizeof(*p->place));
	for (int i = 0; i < (int)p->n; i++) {
		struct unc_value *of[READS_OF_RUN] = {value[BEFORE] + first + i,
						      value[AFTER] + first + i,
						      value[LATER] + first + i};
		struct unc_item item = {.size = sizeof(item)};

		unc_session_item(s, first + i, &item);
		p->place[i] = place_of(&item, of);
		if (!(of[AFTER]->flags & UNC_VALUE_VALID))
			p->place[i].why = must_print("%s", unc_session_reason(s, first + i));
		else if (of[AFTER]->flags & UNC_VALUE_PARTIAL)
			p->place[i].why =
				must_print("without %s", unc_session_partial(s, first + i));
	}
	if (p->at)
		verify_register(v, &p->held);
}

static void run_once(struct verify *v, const struct flow *flow, struct probe *p, size_t n)
{
	struct run run = {.first = NULL};
	struct unc_value *value[READS_OF_RUN][2];
	struct moved moved = {0, 0};
	int rc = 0;

	open_run(v, &run, p, n);
	for (int i = 0; i < 2 * READS_OF_RUN; i++)
		value[i / 2][i % 2] = must_alloc(NULL, run.items[i % 2], sizeof(struct unc_value));
	if (run.items[0] || run.items[1])
		rc = go(v, &run, flow, &moved, value);
	for (size_t i = 0; i < n; i++) {
		struct unc_value *of[READS_OF_RUN] = {value[BEFORE][p[i].beside],
						      value[AFTER][p[i].beside],
						      value[LATER][p[i].beside]};

		if (run.first[i] < 0)
			continue;
		p[i].counted = true;
		p[i].moved = moved;
		if (rc < 0)
			p[i].why = must_print("%s", v->why);
		else
			take(v, run.session[p[i].beside], &p[i], run.first[i], of);
	}
	for (int i = 0; i < 2 * READS_OF_RUN; i++)
		free(value[i / 2][i % 2]);
	free(run.first);
	for (int i = 0; i < 2; i++)
		unc_session_free(run.session[i]);
}

bool verify_count(struct verify *v, const struct flow *flow, struct probe *p, size_t n)
{
	const char *why = v->mover->ready(v, flow);
	bool left = true;

	if (why)
		return verify_fail(v, "%s", why);
	while (left && !verify_stopped()) {
		run_once(v, flow, p, n);
		left = false;
		for (size_t i = 0; i < n; i++)
			left |= !p[i].counted;
	}
	return !left || verify_fail(v, "a signal ended it");
}

void verify_free(struct probe *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; p[i].place && k < p[i].n; k++)
			free(p[i].place[k].why);
		free(p[i].place);
		free(p[i].why);
		p[i].place = NULL;
		p[i].why = NULL;
		p[i].counted = false;
	}
}

double verify_value(struct verify *v, const struct probe *p, int socket)
{
	double sum = NAN;

	verify_fail(v, "%s", p->why ? p->why : "there is no such unit");
	for (size_t i = 0; i < p->n && !p->why; i++) {
		const struct place *at = &p->place[i];

		if (at->socket != socket)
			continue;
		if (at->why) {
			verify_fail(v, "%s", at->why);
			return NAN;
		}
		sum = isnan(sum) ? at->value : sum + at->value;
	}
	return sum;
}

double verify_share(struct verify *v, const struct probe *p, int socket, double scale, double *blur)
{
	double value = verify_value(v, p, socket), base[2] = {0, 0};
	double whole = p->moved.bytes / scale;

	for (size_t i = 0; i < p->n && !isnan(value); i++)
		for (int k = 0; k < 2 && p->place[i].socket == socket; k++)
			base[k] += p->place[i].base[k] * p->place[i].seconds / whole;
	*blur = fabs(base[0] - base[1]) + (base[0] + base[1]) / 16;
	if (!isnan(value) && !(*blur < 0.25 && base[0] + base[1] < 1)) {
		verify_fail(v,
			    "this machine is too busy: others move %.0f %% to %.0f %% of what this "
			    "does",
			    100 * fmin(base[0], base[1]), 100 * fmax(base[0], base[1]));
		return NAN;
	}
	return value / whole - (base[0] + base[1]) / 2;
}

struct flow verify_some(struct verify *v)
{
	struct flow flow = {READS, 0, 0};

	if (v->mover->ready(v, &flow))
		flow.kind = IDLE;
	return flow;
}
