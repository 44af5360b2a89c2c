/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: adds events and metrics, each to the passes in which it fits. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "encode/metric.h"
#include "encode/name.h"
#include "encode/schedule.h"
#include "session/session.h"

/* ---- passes */

static unsigned last_pass(const struct unc_session *s)
{
	if (s->n_passes == 0)
		return 0;
	return s->flags & UNC_SESSION_ROTATE ? s->n_passes : s->n_passes - 1;
}

/* a measure to be added */
struct want {
	struct unc_spec spec;
	int aggregate;
	int node; /* -1: all */
};

/* Adds all of these measures to one pass. On error nothing is left behind. */
static int fit_together(struct unc_session *s, const struct want *want, size_t n, unsigned pass,
			uint32_t *measure)
{
	struct unc_checkpoint before = unc_session_checkpoint(s);

	for (size_t i = 0; i < n; i++) {
		measure[i] = (uint32_t)s->n_measures;
		int rc = unc_session_add_measure(s, &want[i].spec, want[i].node, pass,
						 want[i].aggregate);

		if (rc < 0) {
			unc_session_roll_back(s, before);
			return rc;
		}
	}
	if (pass >= s->n_passes)
		s->n_passes = pass + 1;
	return 0;
}

/* Finds the first pass in which they fit together. */
static int first_fit(struct unc_session *s, const struct want *want, size_t n, uint32_t *measure)
{
	int rc = UNC_ERR_CONFLICT;

	for (unsigned pass = 0;
	     rc == UNC_ERR_CONFLICT && pass <= last_pass(s) && pass < UNC_MAX_PASSES; pass++)
		rc = fit_together(s, want, n, pass, measure);
	return rc;
}

/* If they do not fit together and passes may be added, each is added by itself. */
static int fit_passes(struct unc_session *s, const struct want *want, size_t n, uint32_t *measure)
{
	int rc = first_fit(s, want, n, measure);

	if (rc != UNC_ERR_CONFLICT)
		return rc;
	if (s->flags & UNC_SESSION_ROTATE) {
		rc = 0;
		for (size_t i = 0; i < n && rc == 0; i++)
			rc = first_fit(s, &want[i], 1, &measure[i]);
		if (rc == UNC_ERR_CONFLICT && s->n_passes == UNC_MAX_PASSES)
			unc_fail(&s->error, rc, "the set needs more than %d passes",
				 UNC_MAX_PASSES);
		return rc;
	}
	/* Is the metric too large by itself, or only together with earlier items? */
	struct unc_error first = s->error;
	struct unc_checkpoint before = unc_session_checkpoint(s);
	if (n > 1 && fit_together(s, want, n, s->n_passes, measure) == UNC_ERR_CONFLICT) {
		rc = UNC_ERR_PASSES;
		unc_error_prefix(&s->error, "needs several passes");
	} else {
		s->error = first;
	}
	unc_session_roll_back(s, before);
	return rc;
}

/* Whether measure `lead` counts, on a unit of `follower`, what the follower shows. */
static bool may_lead(const struct unc_session *s, const struct unc_measure *follower,
		     const struct unc_measure *lead)
{
	for (uint32_t i = 0; i < follower->n_wants; i++)
		for (uint32_t k = 0; k < lead->n_wants; k++) {
			const struct unc_want *a = &s->want[follower->want[i]],
					      *b = &s->want[lead->want[k]];

			if (a->instance == b->instance &&
			    unc_schedule_follows(s->platform->table, &a->event->code,
						 &b->event->code))
				return true;
		}
	return false;
}

static bool is_event(const struct unc_session_item *item)
{
	return !item->expr && !item->lacks;
}

/* An event that shows what another event counts needs exactly one such event beside it, in any
 * pass. In a metric it is beside the one of the metric. */
static int check_leads(struct unc_session *s)
{
	for (size_t f = 0; f < s->n_items && s->platform->table->n_lane; f++) {
		const struct unc_measure *lead = NULL, *follower;

		if (!is_event(&s->item[f]))
			continue;
		follower = &s->measure[s->item[f].measure[0]];
		if (!unc_schedule_follows(s->platform->table, &follower->event->code, NULL))
			continue;
		for (size_t i = 0; i < s->n_items; i++) {
			const struct unc_measure *m;

			if (!is_event(&s->item[i]))
				continue;
			m = &s->measure[s->item[i].measure[0]];
			if (!may_lead(s, follower, m) || (lead && lead->event == m->event))
				continue;
			if (lead)
				return unc_fail(&s->error, UNC_ERR_CONFLICT,
						"%s would show what %s counts, or %s: it needs "
						"exactly one of them in the set",
						follower->event->name, lead->event->name,
						m->event->name);
			lead = m;
		}
	}
	return 0;
}

/* On error the caller rolls back. */
static int add_measured_item(struct unc_session *s, const struct want *want, size_t n,
			     struct unc_expr *expr)
{
	struct unc_session_item *item = unc_session_new_item(s);
	struct unc_item_unit unit = {0};

	if (!item || !(item->measure = calloc(n + 1, sizeof(*item->measure))))
		return unc_no_memory(&s->error);
	item->n_measures = (uint32_t)n;
	int rc = fit_passes(s, want, n, item->measure);
	if (rc == 0 && !expr)
		rc = check_leads(s);
	if (rc < 0)
		return rc;
	item->expr = expr;
	for (; unc_session_next_unit(s, item, &unit); item->of++)
		item->units += !unit.missing;
	return 0;
}

static int add_event_item(struct unc_session *s, const struct unc_name *name)
{
	struct want want = {.spec = name->spec, .aggregate = UNC_EXPR_AS_EVENT, .node = name->node};
	int rc = unc_place_put(s->platform, name, &want.spec, &s->error);

	return rc < 0 ? rc : add_measured_item(s, &want, 1, NULL);
}

/* ---- metrics */

static int find_wants(struct unc_session *s, const struct unc_expr *expr,
		      const struct unc_name *name, struct want *want)
{
	const struct unc_table *t = s->platform->table;
	int socket = name->spec.socket, index = name->spec.index;
	uint16_t type = index < 0 ? UNC_NONE : unc_describe_type(s->platform, name);

	if (index >= 0 && type == UNC_NONE)
		return unc_fail(&s->error, UNC_ERR_INVALID,
				"it is of no single unit type: it has no unit %d", index);
	for (size_t i = 0; i < unc_expr_refs(expr); i++) {
		const struct unc_expr_ref *ref = unc_expr_ref(expr, i);
		int rc = unc_spec_parse(t, ref->event, &want[i].spec, &s->error);

		if (rc < 0)
			return rc;
		want[i].aggregate = ref->aggregate;
		if (socket >= 0)
			want[i].spec.socket = socket;
		if (index >= 0 && want[i].spec.type == type)
			want[i].spec.index = index;
		want[i].node = name->node;
		rc = unc_place_put(s->platform, name, &want[i].spec, &s->error);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Reserves room for the values of a formula's references, so that reading allocates nothing. */
static bool reserve_scratch(struct unc_session *s, size_t n)
{
	if (n <= s->n_scratch)
		return true;
	double *larger = realloc(s->scratch, n * sizeof(*larger));
	if (!larger)
		return false;
	s->scratch = larger;
	s->n_scratch = n;
	return true;
}

/* Refuses values known only per socket for a name that selects less than a socket. */
static int check_whole_socket(struct unc_session *s, const struct unc_name *name,
			      const struct unc_expr *expr)
{
	if (!(unc_expr_uses(expr) & UNC_EXPR_MEMORY_PEAK))
		return 0;
	if (unc_name_ports(name) || name->spec.index >= 0)
		return unc_fail(&s->error, UNC_ERR_INVALID,
				"it is computed for sockets, not for units or ports");
	if (name->node >= 0 && unc_numa_clustered(s->platform))
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"it is known for sockets only, and node %d is a part of socket %d",
				name->node, name->at.socket);
	return 0;
}

static int add_metric_item(struct unc_session *s, const struct unc_name *name, const char *text)
{
	int socket = name->at.socket >= 0 ? name->at.socket : name->spec.socket;
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_metric *metric = &t->metric[name->metric];
	struct unc_expr *expr;
	double peak = 0;
	int rc;

	if (metric->unavailable)
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "%s cannot be computed: %s", text,
				unc_tbl_str(t, metric->unavailable));
	rc = unc_formula_parse(t, (unsigned)name->metric, unc_platform_lacks, s->platform, &expr,
			       &s->error);
	if (rc < 0)
		return rc;
	size_t n = unc_expr_refs(expr);
	struct want *want = calloc(n + 1, sizeof(*want));
	if (!want || !reserve_scratch(s, n))
		rc = unc_no_memory(&s->error);
	if (rc == 0)
		rc = check_whole_socket(s, name, expr);
	if (rc == 0)
		rc = find_wants(s, expr, name, want);
	if (rc == 0 && (unc_expr_uses(expr) & UNC_EXPR_MEMORY_PEAK) && s->platform->access)
		rc = unc_peak_of(s->platform, socket, &peak, &s->error);
	if (rc == 0 && (rc = add_measured_item(s, want, n, expr)) == 0)
		s->item[s->n_items - 1].memory_peak = peak;
	free(want);
	if (rc < 0) {
		unc_error_prefix(&s->error, "%s", text);
		unc_expr_free(expr);
	}
	return rc;
}

/* ---- both */

static int add_lacking(struct unc_session *s, const struct unc_error *lacks)
{
	struct unc_session_item *item = unc_session_new_item(s);

	if (!item || !(item->lacks = malloc(sizeof(*lacks))))
		return unc_no_memory(&s->error);
	*item->lacks = *lacks;
	return 0;
}

static int add_counted(struct unc_session *s, const struct unc_name *name, const char *text)
{
	const struct unc_platform *p = s->platform;
	int rc = p->access ? unc_name_check(name, text, p->topology.n_sockets, &s->error) : 0;

	if (rc < 0)
		return rc;
	return name->metric < 0 ? add_event_item(s, name) : add_metric_item(s, name, text);
}

int unc_session_add_name(struct unc_session *s, const struct unc_name *name, const char *text,
			 const struct unc_error *lacks)
{
	struct unc_checkpoint before = unc_session_checkpoint(s);
	struct unc_item *what = calloc(1, sizeof(*what));
	int rc;

	if (!what)
		return unc_no_memory(&s->error);
	rc = unc_describe_item(s->platform, name, text, what, &s->error);
	if (rc == 0)
		rc = lacks ? add_lacking(s, lacks) : add_counted(s, name, what->name);
	if (rc < 0) {
		free(what);
		unc_session_roll_back(s, before);
		return rc;
	}
	what->error = lacks ? lacks->code : 0;
	s->item[s->n_items - 1].what = what;
	return 0;
}
