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

static int find_write(void *user, const struct unc_operation *o)
{
	struct probe *p = user;
	const struct unc_unit *u;

	if (!o->write || o->value != p->at)
		return 0;
	snprintf(p->held.reg, sizeof(p->held.reg), "%s", o->reg);
	for (size_t i = 0; (u = unc_unit_get(p->platform, i)); i++)
		if (strcmp(u->type->name, o->unit) == 0 && u->socket == o->socket &&
		    u->index == o->index)
			p->held.unit = u;
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

static void open_run(struct verify *v, struct run *run, struct probe *p, size_t n)
{
	run->first = must_alloc(NULL, n, sizeof(*run->first));
	for (size_t i = 0; i < n; i++) {
		struct unc_session **s = &run->session[p[i].beside];

		run->first[i] = -1;
		p[i].platform = p[i].platform ? p[i].platform : v->platform;
		if (!*s && unc_session_new(p[i].platform, UNC_SESSION_ROTATE, s) < 0) {
			p[i].counted = true;
			p[i].why = must_print("%s", unc_platform_error(p[i].platform));
		}
		/* What makes a second pass is the last of a run. */
		if (p[i].counted || unc_session_passes(*s) > 1)
			continue;
		if (add(run, &p[i], &run->first[i]) < 0) {
			p[i].counted = true;
			p[i].why = must_print("%s", unc_session_error(*s));
			run->first[i] = -1;
		}
	}
}

static int fails(struct verify *v, struct unc_session *s, int rc)
{
	if (rc < 0)
		verify_fail(v, "%s", unc_session_error(s));
	return rc;
}

/* The flow once for each pass of the first session: a value that is scaled is of all of it. */
static int go(struct verify *v, struct run *run, const struct flow *flow, struct moved *sum)
{
	int passes = run->session[0] ? unc_session_passes(run->session[0]) : 1, rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++)
		if (run->items[i])
			rc = fails(v, run->session[i], unc_session_start(run->session[i]));
	for (int pass = 0; pass < passes && rc == 0; pass++) {
		struct moved one;

		if (pass)
			rc = fails(v, run->session[0], unc_session_rotate(run->session[0]));
		if (rc == 0 && !v->mover->move(v, flow, &one))
			return UNC_ERR_UNAVAILABLE;
		sum->bytes += rc ? 0 : one.bytes;
		sum->seconds += rc ? 0 : one.seconds;
	}
	return rc;
}

static void take(struct verify *v, struct unc_session *s, struct probe *p, int first,
		 const struct unc_value *value)
{
	p->place = must_alloc(NULL, p->n, sizeof(*p->place));
	for (int i = 0; i < (int)p->n; i++) {
		const struct unc_value *x = &value[first + i];
		struct unc_item item = {.size = sizeof(item)};

		unc_session_item(s, first + i, &item);
		p->place[i] =
			(struct place){item.at.socket, item.at.index, x->value, x->seconds, NULL};
		if (!(x->flags & UNC_VALUE_VALID))
			p->place[i].why = must_print("%s", unc_session_reason(s, first + i));
		else if (x->flags & UNC_VALUE_PARTIAL)
			p->place[i].why =
				must_print("without %s", unc_session_partial(s, first + i));
	}
	if (p->at)
		verify_register(v, &p->held);
}

static void end_run(struct verify *v, struct run *run, struct probe *p, size_t n, int rc,
		    const struct moved *moved)
{
	for (int side = 0; side < 2; side++) {
		struct unc_session *s = run->session[side];
		struct unc_value *value = must_alloc(NULL, run->items[side], sizeof(*value));

		if (rc == 0 && run->items[side])
			rc = fails(v, s,
				   unc_session_read(s, value, run->items[side], sizeof(*value)));
		for (size_t i = 0; i < n; i++) {
			if (run->first[i] < 0 || p[i].beside != (side == 1))
				continue;
			p[i].counted = true;
			p[i].moved = *moved;
			if (rc < 0)
				p[i].why = must_print("%s", v->why);
			else
				take(v, s, &p[i], run->first[i], value);
		}
		free(value);
	}
	free(run->first);
	for (int side = 0; side < 2; side++)
		unc_session_free(run->session[side]);
}

bool verify_count(struct verify *v, const struct flow *flow, struct probe *p, size_t n)
{
	const char *why = v->mover->ready(v, flow);
	bool left = true;

	if (why)
		return verify_fail(v, "%s", why);
	while (left && !verify_stopped()) {
		struct run run = {.first = NULL};
		struct moved moved = {0, 0};

		open_run(v, &run, p, n);
		int rc = run.items[0] || run.items[1] ? go(v, &run, flow, &moved) : 0;

		end_run(v, &run, p, n, rc, &moved);
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

struct flow verify_some(struct verify *v)
{
	struct flow flow = {READS, 0, 0};

	if (v->mover->ready(v, &flow))
		flow.kind = IDLE;
	return flow;
}
