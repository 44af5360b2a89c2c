/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its report as one object of JSON. */
#include <math.h>

#include "stat.h"

/* An object of the numbers that it is about; left out where there are none, unless always there. */
enum section { EVENTS, METRICS, PARTIAL, INVALID, SHARE, SPREAD, SECTIONS };

static bool is_about(enum section section, const struct stat_cell *c)
{
	switch (section) {
	case EVENTS:
		return !c->metric;
	case METRICS:
		return c->metric;
	case PARTIAL:
		return c->lacks;
	case INVALID:
		return c->reason;
	case SHARE:
		return !c->reason && c->share < 1;
	default:
		return !c->reason && c->mean.n && isfinite(c->spread);
	}
}

static void json_cell(struct printer *p, enum section section, const struct stat_cell *c)
{
	if (section == PARTIAL) {
		print_open(p, c->name, '{');
		print_integer(p, "units", NULL, c->units);
		print_integer(p, "of", NULL, c->of);
		print_text(p, "reason", NULL, c->lacks);
		print_close(p);
	} else if (section == INVALID) {
		print_text(p, c->name, NULL, c->reason);
	} else if (section == SHARE) {
		print_number(p, c->name, stat_rounded(c->share));
	} else if (section == SPREAD) {
		print_number(p, c->name, stat_rounded(c->spread));
	} else {
		stat_value(p, c->name, c);
	}
}

static void json_section(struct printer *p, const struct stat_job *job, enum section section)
{
	static const char *const keys[SECTIONS] = {"events",  "metrics", "partial",
						   "invalid", "share",   "spread"};
	bool open = section <= METRICS;

	if (open)
		print_open(p, keys[section], '{');
	for (const struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;) {
		if (!is_about(section, c))
			continue;
		if (!open)
			print_open(p, keys[section], '{');
		open = true;
		json_cell(p, section, c);
	}
	if (open)
		print_close(p);
}

static void json_overflow(struct printer *p, const struct unc_overflow *o)
{
	print_open(p, "overflow", '{');
	print_text(p, "unit", NULL, o->unit);
	print_integer(p, "socket", NULL, o->socket);
	print_integer(p, "index", NULL, o->index);
	print_text(p, "counter", NULL, o->counter);
	print_count(p, "count", NULL, o->count);
	print_integer(p, "others", NULL, o->others);
	print_bool(p, "frozen", o->frozen);
	print_close(p);
}

void stat_object(const struct stat_job *job, struct printer *p)
{
	print_open(p, NULL, '{');
	print_number(p, "time", stat_rounded(job->time));
	print_number(p, "interval", stat_rounded(job->seconds));
	print_bool(p, "simulated", unc_platform_simulated(job->platform));
	print_integer(p, "passes", NULL, job->passes);
	if (job->repeat)
		print_integer(p, "runs", NULL, (int64_t)job->runs);
	for (enum section section = 0; section < SECTIONS; section++)
		json_section(p, job, section);
	if (*unc_session_unprotected(job->session))
		print_text(p, "unprotected", NULL, unc_session_unprotected(job->session));
	if (job->every)
		json_overflow(p, &job->overflow);
	print_close(p);
}
