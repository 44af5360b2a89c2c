/* SPDX-License-Identifier: BSD-3-Clause */
/* Verify: what probes count while something is moved. What does not fit into the counters at once is
 * counted in a further run of the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

/* What was read: before the flow, after it, and a while later. */
enum { BEFORE, AFTER, LATER, LOOKS };

/* A session, and what was read of it. */
struct lane {
	struct unc_session *session;
	size_t items;
	struct unc_value *value[LOOKS];
};

/* One run: a session, and one beside it. */
struct run {
	struct verify *verify;
	const struct flow *flow;
	struct lane lane[2];
	bool filled[2];       /* with a probe */
	struct probe traffic; /* of others, beside the probes that are weighed by it */
	struct moved moved;
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

const char *verify_need(struct verify *v, const char *metric, size_t i)
{
	size_t index;

	return unc_metric_find(v->platform, metric, &index, NULL) == 0
		       ? unc_metric_need(v->platform, index, i)
		       : NULL;
}

/* ---- which probes are of a run */

static int add(struct lane *lane, struct probe *p)
{
	struct unc_session *s = lane->session;
	int first, rc = unc_session_add_each(s, p->text, p->per, &first, &p->n);

	for (int i = 0; i < (int)p->n && rc == 0 && p->chosen; i++)
		rc = unc_session_counter(s, first + i, p->counter);
	for (int i = 0; i < (int)p->n && rc == 0 && p->at; i++)
		rc = unc_session_begin_at(s, first + i, p->at);
	if (rc == 0 && p->at) /* where that is, tells the plan, before anything runs */
		unc_session_plan(s, UNC_PHASE_START, find_write, p);
	p->first = rc == 0 ? first : -1;
	if (rc == 0)
		lane->items += p->n;
	return rc;
}

/* Opens the session of a lane for its first probe, and adds that. */
static int open_lane(struct run *run, struct probe *p, unsigned flags)
{
	struct lane *lane = &run->lane[p->beside];
	int rc;

	unc_session_free(lane->session);
	*lane = (struct lane){.session = NULL};
	rc = unc_session_new(p->platform, flags, &lane->session);
	if (rc == 0 && p->weighed) /* where it cannot be had nothing is weighed */
		add(lane, &run->traffic);
	return rc == 0 ? add(lane, p) : rc;
}

/* Adds a probe; what does not fit at once is left for another run, and alone there takes passes. */
static void try_probe(struct run *run, struct probe *p)
{
	struct lane *lane = &run->lane[p->beside];
	bool alone = !run->filled[p->beside];
	int rc;

	p->platform = p->platform ? p->platform : run->verify->platform;
	rc = alone ? open_lane(run, p, 0) : add(lane, p);
	if (rc == UNC_ERR_PASSES && alone)
		rc = open_lane(run, p, UNC_SESSION_ROTATE);
	run->filled[p->beside] |= rc == 0;
	p->counted = rc == 0 || alone;
	if (rc < 0 && alone)
		p->why = must_print("%s", lane->session ? unc_session_error(lane->session)
							: unc_platform_error(p->platform));
}

/* ---- one run */

static int fails(struct verify *v, struct unc_session *s, int rc)
{
	if (rc < 0)
		verify_fail(v, "%s", unc_session_error(s));
	return rc;
}

/* A while of a flow for each pass of the first session: what is scaled is of all of it. */
static int step(struct run *run, const struct flow *flow, bool first, struct moved *sum)
{
	struct verify *v = run->verify;
	struct unc_session *s = run->lane[0].session;
	int passes = s ? unc_session_passes(s) : 1, rc = 0;

	for (int pass = 0; pass < passes && rc == 0; pass++) {
		struct moved one;

		if (passes > 1 && !(first && pass == 0))
			rc = fails(v, s, unc_session_rotate(s));
		if (rc == 0 && !v->mover->move(v, flow, &one))
			rc = UNC_ERR_UNAVAILABLE;
		sum->bytes += rc ? 0 : one.bytes;
		sum->seconds += rc ? 0 : one.seconds;
	}
	return rc;
}

/* The flow, if there is one between two whiles of what others move. */
static int go(struct run *run)
{
	const struct flow idle = {IDLE, 0, 0, 0};
	int first = run->flow->kind == IDLE ? AFTER : BEFORE, last = 2 * AFTER - first, rc = 0;
	struct moved other = {0, 0};

	for (struct lane *l = run->lane; l < run->lane + 2 && rc == 0; l++)
		if (l->items)
			rc = fails(run->verify, l->session, unc_session_start(l->session));
	for (int i = first; i <= last && rc == 0; i++) {
		rc = step(run, i == AFTER ? run->flow : &idle, i == first,
			  i == AFTER ? &run->moved : &other);
		for (struct lane *l = run->lane; l < run->lane + 2 && rc == 0; l++)
			if (l->items)
				rc = fails(run->verify, l->session,
					   unc_session_read(l->session, l->value[i], l->items,
							    sizeof(*l->value[i])));
	}
	return rc;
}

/* ---- what came out */

/* How long an interval was, if it was scaled, too. */
static double seconds_of(const struct unc_value *x)
{
	return x->interval_share > 0 ? x->interval_seconds / x->interval_share : NAN;
}

/* Whatever is a rate becomes what it is in its time. */
static struct place place_of(const struct lane *lane, int id)
{
	const struct unc_value *before = &lane->value[BEFORE][id], *after = &lane->value[AFTER][id],
			       *later = &lane->value[LATER][id];
	struct unc_item item = {.size = sizeof(item)};

	unc_session_item(lane->session, id, &item);
	bool rate = item.metric && strcmp(item.metric->unit, "bytes_per_second") == 0;
	struct place place = {.socket = item.at.socket,
			      .index = item.at.index,
			      .value = after->interval * (rate ? seconds_of(after) : 1),
			      .seconds = seconds_of(after),
			      .total = fmax(after->value, later->value),
			      .base = {before->interval / (rate ? 1 : seconds_of(before)),
				       later->interval / (rate ? 1 : seconds_of(later))}};

	if (!(after->flags & UNC_VALUE_VALID))
		place.why = must_print("%s", unc_session_reason(lane->session, id));
	else if (after->flags & UNC_VALUE_PARTIAL)
		place.why = must_print("without %s", unc_session_partial(lane->session, id));
	return place;
}

static void take(struct run *run, struct probe *p)
{
	p->place = must_alloc(NULL, p->n, sizeof(*p->place));
	for (int i = 0; i < (int)p->n; i++)
		p->place[i] = place_of(&run->lane[p->beside], p->first + i);
	p->moved = run->moved;
	if (p->at)
		verify_register(run->verify, &p->held);
}

/* What others make a probe count at a socket, as a share of what is moved. */
static void shares(const struct probe *p, int socket, double whole, double others[2])
{
	others[0] = others[1] = 0;
	for (size_t i = 0; i < p->n; i++)
		for (int k = 0; k < 2 && p->place[i].socket == socket; k++)
			others[k] += p->place[i].base[k] * p->place[i].seconds / whole;
}

static void take_all(struct run *run, int rc, struct probe *p, size_t n)
{
	double others[2] = {NAN, NAN};

	if (rc == 0 && run->traffic.first >= 0) {
		take(run, &run->traffic);
		shares(&run->traffic, run->flow->home, run->moved.bytes, others);
	}
	for (size_t i = 0; i < n; i++) {
		if (p[i].first < 0)
			continue;
		memcpy(p[i].others, others, sizeof(others));
		if (rc < 0)
			p[i].why = must_print("%s", run->verify->why);
		else
			take(run, &p[i]);
	}
	verify_free(&run->traffic, 1);
}

/* Whether a probe is left for another run. */
static bool run_once(struct verify *v, const struct flow *flow, struct probe *p, size_t n)
{
	struct run run = {
		.verify = v,
		.flow = flow,
		.traffic = {.text = "memory_read_bytes", .first = -1, .per = UNC_EACH_SOCKET}};
	bool left = false;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		const struct unc_session *s = run.lane[p[i].beside].session;

		p[i].first = -1;
		if (!p[i].counted && (!s || unc_session_passes(s) == 1))
			try_probe(&run, &p[i]);
		left |= !p[i].counted;
	}
	for (int i = 0; i < 2 * LOOKS; i++)
		run.lane[i % 2].value[i / 2] =
			must_alloc(NULL, run.lane[i % 2].items, sizeof(struct unc_value));
	if (run.lane[0].items || run.lane[1].items)
		rc = go(&run);
	take_all(&run, rc, p, n);
	for (int i = 0; i < 2 * LOOKS; i++)
		free(run.lane[i % 2].value[i / 2]);
	unc_session_free(run.lane[0].session);
	unc_session_free(run.lane[1].session);
	return left;
}

bool verify_count(struct verify *v, const struct flow *flow, struct probe *p, size_t n)
{
	const char *why = v->mover->ready(v, flow);
	bool left = true;

	if (why)
		return verify_fail(v, "%s", why);
	while (left && !verify_stopped())
		left = run_once(v, flow, p, n);
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

/* ---- what that tells */

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

bool verify_weigh(struct verify *v, const double others[2], double *mean, double *blur)
{
	*mean = (others[0] + others[1]) / 2;
	*blur = fabs(others[0] - others[1]) + *mean / 8;
	return (*blur < 0.25 && *mean < 0.5) ||
	       verify_fail(v,
			   "this machine is too busy: others move %.0f %% to %.0f %% of what this "
			   "does",
			   100 * fmin(others[0], others[1]), 100 * fmax(others[0], others[1]));
}

double verify_share(struct verify *v, const struct probe *p, int socket, double scale, double *blur)
{
	double value = verify_value(v, p, socket), whole = p->moved.bytes / scale, others[2], mean;

	*blur = 0;
	if (isnan(value))
		return NAN;
	shares(p, socket, whole, others);
	return verify_weigh(v, others, &mean, blur) ? value / whole - mean : NAN;
}

struct flow verify_some(struct verify *v)
{
	struct flow flow = {READS, 0, 0, 0};

	if (v->mover->ready(v, &flow))
		flow.kind = IDLE;
	return flow;
}
