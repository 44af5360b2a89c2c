/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its report as rows, one for each number, separated or JSON. */
#include <math.h>

#include "stat.h"

static void integer_if(struct printer *p, const char *key, bool there, int64_t value)
{
	if (there)
		print_integer(p, key, NULL, value);
	else
		print_text(p, key, NULL, NULL);
}

static void number_if(struct printer *p, const char *key, bool there, double value)
{
	if (there)
		print_number(p, key, value);
	else
		print_text(p, key, NULL, NULL);
}

/* What all rows of a report have in common. */
static void start_row(struct printer *p, const struct stat_job *job)
{
	char clock[CELL_MAX];

	if (p->form == JSON)
		print_open(p, NULL, '{');
	else
		print_row(p);
	print_number(p, "time", stat_rounded(job->time));
	print_text(p, "clock", NULL, stat_clock(clock, &job->clock));
	print_number(p, "interval", stat_rounded(job->seconds));
	if (p->form == JSON)
		print_bool(p, "simulated", unc_platform_simulated(job->platform));
}

static void print_cell(struct printer *p, const struct stat_job *job, const struct stat_cell *c)
{
	start_row(p, job);
	integer_if(p, "socket", c->socket >= 0, c->socket);
	print_text(p, "unit", NULL, c->unit);
	print_text(p, "name", NULL, c->base);
	stat_value(p, "value", c);
	print_text(p, "measure", NULL, c->metric ? c->metric->unit : "count");
	number_if(p, "share", !c->reason, stat_rounded(c->share));
	integer_if(p, "units", c->id >= 0, c->units);
	integer_if(p, "of", c->id >= 0, c->of);
	print_text(p, "reason", NULL, c->reason ? c->reason : c->lacks);
	if (job->repeat) {
		print_integer(p, "runs", NULL, (int64_t)job->runs);
		number_if(p, "spread", isfinite(c->spread), stat_rounded(c->spread));
	}
	if (p->form == JSON)
		print_close(p);
}

static void titles(struct printer *p, const struct stat_job *job)
{
	static const char *const title[] = {"time", "clock",  "interval", "socket", "unit",
					    "name", "value",  "measure",  "share",  "units",
					    "of",   "reason", "runs",     "spread"};
	size_t n = sizeof(title) / sizeof(title[0]) - (job->repeat ? 0 : 2);

	if (unc_platform_simulated(job->platform))
		printf("# SIMULATED %s\n", unc_platform_cpu(job->platform)->name);
	for (size_t i = 0; i < n; i++)
		print_text(p, NULL, NULL, title[i]);
}

void stat_rows(const struct stat_job *job, struct printer *p)
{
	const struct unc_overflow *o = &job->overflow;

	if (p->form == SEPARATED && job->reports == 0)
		titles(p, job);
	for (const struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;)
		print_cell(p, job, c);
	if (job->every) {
		char base[] = "overflow", unit[CELL_MAX];

		snprintf(unit, sizeof(unit), "%s%d", o->unit, o->index);
		print_cell(p, job,
			   &(struct stat_cell){.base = base,
					       .socket = o->socket,
					       .unit = unit,
					       .count = o->count,
					       .share = 1,
					       .units = 1,
					       .of = 1});
	}
	if (p->form == SEPARATED)
		print_end(p);
}
