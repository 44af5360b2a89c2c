/* SPDX-License-Identifier: BSD-3-Clause */
/* Verify: units. Which events tell, is taken from the descriptors and from what portable metrics are
 * made of. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

enum { MOST_PROBES = 64 };

const struct unc_event *verify_clock(struct verify *v, size_t *index)
{
	const struct unc_event *e;
	const struct unc_type *t;

	for (; (e = unc_event_get(v->platform, *index)); ++*index) {
		if (e->aggregate != UNC_AGGREGATE_MAX || e->needs_umask ||
		    !(strcasestr(e->name, "CLOCKTICKS") || strstr(e->name, "CLK")))
			continue;
		for (size_t i = 0; (t = unc_type_get(v->platform, i)); i++)
			if (strcmp(t->name, e->type) == 0 && t->units > 0)
				return e;
	}
	return NULL;
}

/* ---- all units of a type */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The median of the units of a socket, each in a second, and the one that is farthest from it, as a
 * share of it; NAN, with v->why: a unit has no value, or there is none. */
static double median_of(struct verify *v, const struct probe *p, int socket, double *off, int *unit)
{
	double *rate = must_alloc(NULL, p->n, sizeof(*rate)), median = verify_value(v, p, socket);
	size_t n = 0;

	for (size_t i = 0; i < p->n && !isnan(median); i++)
		if (p->place[i].socket == socket)
			rate[n++] = p->place[i].value / p->place[i].seconds;
	qsort(rate, n, sizeof(*rate), compare);
	median = n ? rate[n / 2] : NAN;
	*off = median > 0 || isnan(median) ? 1 : 0;
	for (size_t i = 0; i < p->n && n && median > 0; i++) {
		double share = p->place[i].value / p->place[i].seconds / median;

		if (p->place[i].socket == socket && fabs(share - 1) >= fabs(*off - 1)) {
			*off = share;
			*unit = p->place[i].index;
		}
	}
	free(rate);
	return n ? median : NAN;
}

void verify_agree(struct verify *v, const struct probe *p, int socket, double least, double most)
{
	int unit = 0;
	double off = 1, median = median_of(v, p, socket, &off, &unit);

	verify_judge(
		v,
		must_print("units of %s on socket %d, the one that is farthest off", p->text,
			   socket),
		isnan(median) ? NAN : off, least, most, "%",
		must_print(
			"%s%d does not exist, counts twice, is switched off, or holds less memory "
			"than the others; in doubt: the unit (units.tbl)",
			p->text, unit));
}

/* ---- clocks */

/* A fixed or free-running counter beside a programmed one: one clock, or its half. */
static void judge_fixed(struct verify *v, const struct probe *a, const struct probe *b, int socket)
{
	double off, x, y = median_of(v, b, socket, &off, &(int){0});

	x = median_of(v, a, socket, &off, &(int){0});
	double ratio = x / y, whole = ratio > 1.4 ? 2 : ratio < 0.7 ? 0.5 : 1;

	verify_judge(
		v, must_print("%s against %s on socket %d", a->text, b->text, socket), ratio,
		0.99 * whole, 1.01 * whole, "%",
		must_print("they are of two clocks, or the fixed counter has other bits than the "
			   "table says; in doubt: %s, %s (events)",
			   a->text, b->text));
}

void verify_clocks(struct verify *v)
{
	struct probe p[MOST_PROBES];
	const struct unc_event *event[MOST_PROBES], *e;
	struct flow awake = verify_some(v); /* a package that sleeps stops its clocks */
	size_t n = 0;
	double off;

	for (size_t i = 0; n < MOST_PROBES && (e = verify_clock(v, &i)); i++) {
		event[n] = e;
		p[n++] = (struct probe){.text = e->spec, .per = UNC_EACH_UNIT};
	}
	bool done = verify_count(v, &awake, p, n);

	for (size_t i = 0; i < n && done; i++)
		for (int s = 0; s < v->sockets; s++) {
			verify_judge(
				v, must_print("%s on socket %d, by wall time", p[i].text, s),
				median_of(v, &p[i], s, &off, &(int){0}), 0.1e9, 6e9, "hz",
				must_print(
					"the event is no clock: in doubt: the code of %s (events)",
					p[i].text));
			verify_agree(v, &p[i], s, 0.98, 1.02);
			for (size_t k = 0; k < n && event[i]->free_running; k++)
				if (!event[k]->free_running &&
				    strcmp(event[i]->type, event[k]->type) == 0)
					judge_fixed(v, &p[i], &p[k], s);
		}
	verify_free(p, n);
}

/* ---- nodes of a socket: which units traffic bound to each of them shows at */

enum { MOST_NODES = 8 };

static double per_second(const struct place *at)
{
	return at->why ? 0 : at->value / at->seconds;
}

/* The node whose traffic a place has seen most of, four fifths at least; -1: none. */
static int node_at(const struct probe *p, int nodes, size_t place, double quiet)
{
	double sum = 0;
	int most = 0;

	for (int node = 0; node < nodes; node++) {
		sum += per_second(&p[node].place[place]);
		if (per_second(&p[node].place[place]) > per_second(&p[most].place[place]))
			most = node;
	}
	return sum > quiet && per_second(&p[most].place[place]) > 0.8 * sum ? most : -1;
}

enum { MOST_UNITS = 128 };

/* The line for site.tbl that says of which node each unit is; those of none saw nothing. */
static char *line_of(const struct probe *p, const int node[MOST_UNITS], int units, int socket)
{
	char *line = must_print(
		"for site.tbl: nodes unit=%.*s clusters=", (int)strcspn(p->text, "."), p->text);

	for (int i = 0; i < units; i++)
		line = node[i] < 0 ? must_add(line, "%s-", i ? "," : "")
				   : must_add(line, "%s%d", i ? "," : "", node[i]);
	return must_add(line, " socket=%d", socket);
}

/* What traffic of each node, p, shows of the units of a socket. A unit without memory sees none.
 * tell: their line for the site is still to be told. */
static void judge_nodes(struct verify *v, const struct probe *p, int nodes, int socket, bool tell)
{
	double n[MOST_NODES] = {0}, units = 0, most = 0;
	int of[MOST_UNITS], last = 0;
	bool even = true;

	for (size_t i = 0; i < p->n; i++)
		for (int node = 0; node < nodes && p->place[i].socket == socket; node++)
			most = fmax(most, per_second(&p[node].place[i]));
	memset(of, -1, sizeof(of));
	for (size_t i = 0; i < p->n; i++) {
		int node = p->place[i].socket == socket ? node_at(p, nodes, i, most / 20) : -1;
		int index = p->place[i].index;

		if (node < 0 || index >= MOST_UNITS)
			continue;
		of[index] = node;
		last = index > last ? index : last;
		n[node]++;
		units++;
	}
	for (int node = 0; node < nodes; node++) {
		verify_judge(
			v,
			must_print("units of %s on socket %d that see traffic of its node %d "
				   "alone",
				   p->text, socket, node),
			units > 0 ? n[node] : NAN, units / nodes, units / nodes, "",
			must_print("a unit sees traffic of several nodes, or nodes have not as "
				   "much memory each"));
		even = even && n[node] == units / nodes;
	}
	if (tell && even && units > 0)
		verify_note(v, line_of(p, of, last + 1, socket));
}

static void check_nodes(struct verify *v, const char *need, int nodes, int socket, bool tell)
{
	struct probe p[MOST_NODES] = {{.text = need}};
	bool done = true;

	for (int node = 0; node < nodes; node++) {
		struct flow flow = {READS, socket, socket, node + 1};

		p[node] = (struct probe){.text = need, .per = UNC_EACH_UNIT};
		done = done && verify_count(v, &flow, &p[node], 1) && p[node].place;
	}
	if (done)
		judge_nodes(v, p, nodes, socket, tell);
	else
		verify_judge(v, must_print("units of %s on socket %d, by node", need, socket), NAN,
			     0, 0, "", NULL);
	verify_free(p, (size_t)nodes);
}

void verify_nodes(struct verify *v)
{
	const char *need, *before;

	for (int s = 0; s < v->sockets; s++) {
		int nodes = v->mover->nodes(v, s);

		before = "";
		for (size_t i = 0; nodes > 1 && nodes <= MOST_NODES && !verify_stopped() &&
				   (need = verify_need(v, "memory_read_bytes", i));
		     i++, before = need)
			check_nodes(v, need, nodes, s,
				    strncmp(need, before, strcspn(need, ".") + 1) != 0);
	}
}

/* ---- filters */

/* Whether a field chooses by its bits: with all of them it is as if it were not given. */
static const struct unc_field *chooses(struct verify *v, const char *base, size_t event,
				       const char *name)
{
	struct unc_encoding open = {.size = sizeof(open)}, all = {.size = sizeof(all)};
	const struct unc_field *f;
	char text[2 * UNC_SPEC_MAX];

	for (size_t i = 0; (f = unc_field_get(v->platform, event, i)); i++)
		if (strcmp(f->name, name) == 0)
			break;
	if (!f || f->width < 2)
		return NULL;
	snprintf(text, sizeof(text), "%s:%s=%" PRIu64, base, name, f->max);
	bool same = unc_event_encode(v->platform, base, &open) == 0 &&
		    unc_event_encode(v->platform, text, &all) == 0 && open.ctl == all.ctl &&
		    open.n_filters == all.n_filters;

	for (size_t i = 0; i < open.n_filters && same; i++)
		same = open.filters[i].value == all.filters[i].value;
	return same ? f : NULL;
}

/* Two parts, and the whole of them, in lines of 64 bytes. */
static void check_parts(struct verify *v, enum flow_kind kind, const char *one, const char *two,
			const char *all)
{
	struct probe p[3] = {{.text = one, .per = UNC_EACH_SOCKET},
			     {.text = two, .per = UNC_EACH_SOCKET},
			     {.text = all, .per = UNC_EACH_SOCKET}};
	double share[3] = {NAN, NAN, NAN}, blur = 0, one_blur;

	if (verify_count(v, &(struct flow){kind, 0, 0, 0}, p, 3))
		for (int i = 0; i < 3 && (i == 0 || !isnan(share[i - 1])); i++) {
			share[i] = verify_share(v, &p[i], 0, 64, &one_blur);
			blur += one_blur;
		}
	blur = 0.05 + blur / fmax(share[2], 0.5);
	verify_judge(
		v,
		must_print("%s and %s, of %s, %s", one, two, all,
			   kind == READS ? "reads" : "writes"),
		(share[0] + share[1]) / share[2], 1 - blur, 1 + blur, "%",
		must_print("a filter or a umask does not choose; in doubt: %s (events), its filter "
			   "(units.tbl)",
			   one));
	verify_free(p, 3);
}

/* "E:A:state=1": that and the rest of the states are E:A. */
static void check_filter(struct verify *v, const char *need)
{
	char base[UNC_SPEC_MAX], name[32], rest[2 * UNC_SPEC_MAX];
	const char *equals = strrchr(need, '='), *colon = strrchr(need, ':');
	struct unc_item item = {.size = sizeof(item)};
	const struct unc_field *f;

	if (!equals || equals < colon || strchr(need, '=') != equals ||
	    unc_item_find(v->platform, need, &item) < 0)
		return;
	snprintf(base, sizeof(base), "%.*s", (int)(colon - need), need);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - colon - 1), colon + 1);
	f = chooses(v, base, item.index, name);
	if (!f)
		return;
	snprintf(rest, sizeof(rest), "%s:%s=%" PRIu64, base, name,
		 f->max & ~(uint64_t)strtoull(equals + 1, NULL, 0));
	check_parts(v, READS, need, rest, base);
}

/* What misses of the LLC are made of, where that has a filter; reads and writes of memory, where one
 * event can count both. */
void verify_filters(struct verify *v)
{
	const char *need, *reads = verify_need(v, "memory_read_bytes", 0),
			  *writes = verify_need(v, "memory_write_bytes", 0);
	const char *umask = reads && writes ? strchr(writes, ':') : NULL;
	struct unc_item item = {.size = sizeof(item)};
	char both[2 * UNC_SPEC_MAX];

	for (size_t i = 0; (need = verify_need(v, "llc_misses", i)); i++)
		check_filter(v, need);
	if (!umask || strncmp(reads, writes, (size_t)(umask - writes) + 1) != 0)
		return;
	snprintf(both, sizeof(both), "%.*s:ALL", (int)(umask - writes), writes);
	if (unc_item_find(v->platform, both, &item) < 0)
		return;
	check_parts(v, READS, reads, writes, both);
	check_parts(v, WRITES, reads, writes, both);
}
