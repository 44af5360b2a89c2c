/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: prints a report, in whatever form. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

/* Microseconds are as fine as it makes sense. */
static double rounded(double seconds)
{
	return round(seconds * 1e6) / 1e6;
}

/* A number, or that there is none. */
static void print_value(struct printer *p, const char *key, const struct number *c)
{
	if (!c->valid)
		print_null(p, key);
	else if (c->item.metric || c->mean.n)
		print_number(p, key, c->value);
	else
		print_count(p, key, NULL, c->count);
}

/* "2026-11-22T20:24:01.123456+01:00": ISO 8601, local time. */
static const char *iso_clock(char buf[CELL_MAX], const struct timespec *clock)
{
	char zone[CELL_MAX];
	size_t n = strlen(clock_text(buf, "%Y-%m-%dT%H:%M:%S", clock));

	clock_text(zone, "%z", clock);
	snprintf(buf + n, CELL_MAX - n, ".%06ld%.3s:%s", clock->tv_nsec / 1000, zone, zone + 3);
	return buf;
}

/* ---- rows: one for each number, separated or JSON */

static void print_if(struct printer *p, const char *key, bool there, double value)
{
	if (there)
		print_number(p, key, value);
	else
		print_text(p, key, NULL, NULL);
}

/* Why there is no value, or what its marks stand for. */
static void print_reason(struct printer *p, const struct stat_job *job, const struct number *c)
{
	const char *first = c->valid ? c->said[PARTIAL] : stat_reason(job, c);
	char *text = first ? must_print("%s", first) : NULL;

	for (enum mark k = UNPROVEN; k <= LATE; k++)
		if (c->mark[k])
			text = must_add(text, "%s%s", text ? "; " : "", c->said[k]);
	print_text(p, "reason", NULL, text);
	free(text);
}

/* "0000_17_00_0" as lspci and sysfs have it. */
static void address_text(char out[CELL_MAX], const char *device)
{
	char *sign;

	snprintf(out, CELL_MAX, "%s", device);
	for (const char *with = ":\0:\0."; (sign = strchr(out, '_')) != NULL; with += 2)
		*sign = *with;
}

/* Names of JSON are an array; of separated values, a field with blanks. */
static void print_device(struct printer *p, const struct number *c)
{
	bool there = c->id >= 0 && c->item.port >= 0;
	const char *names = c->device ? c->device : "";
	char name[CELL_MAX], address[CELL_MAX];

	address_text(address, c->item.device);
	if (p->form == SEPARATED) {
		print_text(p, "address", NULL, address[0] ? address : NULL);
		print_text(p, "names", NULL, names[0] ? names : NULL);
		print_if(p, "port", there, c->item.port);
		print_if(p, "stack", there, c->item.at.index);
		return;
	}
	if (!there) {
		print_null(p, "device");
		return;
	}
	print_open(p, "device", '{');
	print_known(p, "address", NULL, address);
	print_open(p, "names", '[');
	for (; *names; names += strcspn(names, " ") + (names[strcspn(names, " ")] != '\0')) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(names, " "), names);
		print_text(p, NULL, NULL, name);
	}
	print_close(p);
	print_integer(p, "port", NULL, c->item.port);
	print_bits(p, "ports", c->item.ports);
	print_integer(p, "stack", NULL, c->item.at.index);
	print_close(p);
}

static void print_one(struct printer *p, const struct stat_job *job, const struct number *c)
{
	const struct unc_target *at = &c->item.at;
	bool counted = c->id >= 0 && !c->item.error;
	bool at_node = c->id >= 0 && c->item.node >= 0;
	char clock[CELL_MAX], unit[CELL_MAX];

	snprintf(unit, sizeof(unit), "%s%d", c->item.units_of ? c->item.units_of : "", at->index);
	print_row(p);
	print_number(p, "time", rounded(job->time));
	print_text(p, "clock", NULL, iso_clock(clock, &job->series.clock));
	print_number(p, "interval", rounded(job->seconds));
	if (p->form == JSON)
		print_bool(p, "simulated", unc_platform_simulated(job->platform));
	print_if(p, "socket", at->socket >= 0, at->socket);
	print_text(p, "unit", NULL, at->index >= 0 ? unit : NULL);
	print_text(p, "name", NULL, c->item.base);
	print_value(p, "value", c);
	print_text(p, "measure", NULL, c->item.metric ? c->item.metric->unit : "count");
	print_if(p, "share", c->valid, rounded(c->share));
	print_if(p, "units", counted, c->units);
	print_if(p, "of", counted, c->of);
	print_reason(p, job, c);
	if (job->repeat) {
		print_integer(p, "runs", NULL, (int64_t)job->runs);
		print_if(p, "spread", isfinite(c->spread), rounded(c->spread));
	}
	if (job->args->per_node || (p->form == JSON && at_node))
		print_if(p, "node", at_node, c->item.node);
	if (job->args->per_device || (p->form == JSON && c->item.device[0]))
		print_device(p, c);
}

static void print_rows(const struct stat_job *job, struct printer *p)
{
	if (p->form == SEPARATED && job->reports == 0) {
		if (unc_platform_simulated(job->platform))
			printf("# SIMULATED %s\n", unc_platform_cpu(job->platform)->name);
		p->keys = true;
		print_one(p, job, &(struct number){.id = -1});
		p->keys = false;
	}
	for (const struct number *c = job->series.number; c < stat_end(job); c++)
		print_one(p, job, c);
	print_end(p);
}

/* ---- one object of JSON */

/* Objects of numbers: of those with a mark, and more. */
enum { EVENTS = MARKS, METRICS, SPREAD };

static bool is_about(int section, const struct number *c)
{
	switch (section) {
	case EVENTS:
		return !c->item.metric;
	case METRICS:
		return c->item.metric;
	case PARTIAL:
		return c->said[PARTIAL];
	case SCALED:
		return c->valid && c->share < 1;
	case SPREAD:
		return c->valid && c->mean.n && isfinite(c->spread);
	default:
		return number_marked(c, (enum mark)section);
	}
}

static void json_member(struct printer *p, const struct stat_job *job, int section,
			const struct number *c)
{
	const char *name = c->item.name;

	switch (section) {
	case EVENTS:
	case METRICS:
		print_value(p, name, c);
		break;
	case PARTIAL:
		print_open(p, name, '{');
		print_integer(p, "units", NULL, c->units);
		print_integer(p, "of", NULL, c->of);
		print_text(p, "reason", NULL, c->said[PARTIAL]);
		print_close(p);
		break;
	case SCALED:
	case SPREAD:
		print_number(p, name, rounded(section == SCALED ? c->share : c->spread));
		break;
	default:
		print_text(p, name, NULL,
			   section == NO_VALUE ? stat_reason(job, c) : c->said[section]);
	}
}

/* Left out where there are no such numbers, unless it is always there. */
static void json_section(struct printer *p, const struct stat_job *job, int section)
{
	static const char *const keys[] = {"events", "metrics", "spread"};
	const char *key = section < MARKS ? mark_words[section].key : keys[section - MARKS];
	bool open = section == EVENTS || section == METRICS;

	if (open)
		print_open(p, key, '{');
	for (const struct number *c = job->series.number; c < stat_end(job); c++) {
		if (!is_about(section, c))
			continue;
		if (!open)
			print_open(p, key, '{');
		open = true;
		json_member(p, job, section, c);
	}
	if (open)
		print_close(p);
}

static void print_object(const struct stat_job *job, struct printer *p)
{
	static const int sections[] = {EVENTS, METRICS,  PARTIAL, UNPROVEN,
				       LATE,   NO_VALUE, SCALED,  SPREAD};

	print_open(p, NULL, '{');
	print_number(p, "time", rounded(job->time));
	print_number(p, "interval", rounded(job->seconds));
	print_bool(p, "simulated", unc_platform_simulated(job->platform));
	print_integer(p, "passes", NULL, job->passes);
	if (job->repeat)
		print_integer(p, "runs", NULL, (int64_t)job->runs);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		json_section(p, job, sections[i]);
	if (*unc_session_unprotected(job->series.session))
		print_text(p, "unprotected", NULL, unc_session_unprotected(job->series.session));
	print_close(p);
}

/* ---- */

/* Whether all of it is where it should be. Who reads no more has seen enough: that is no error to
 * tell. */
static int end_report(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return errno == EPIPE ? BY_SIGNAL + SIGPIPE
			      : failure("cannot write the report: %s", strerror(errno));
}

int stat_report(struct stat_job *job)
{
	struct printer p;

	if (!job->repeat)
		stat_remember(job);
	print_start(&p, job->args, job->platform);
	if (job->args->json_lines)
		p.form = JSON;
	errno = 0; /* that of a write is to be seen, wherever it was */
	if (job->args->json_lines || p.form == SEPARATED)
		print_rows(job, &p);
	else if (p.form == JSON)
		print_object(job, &p);
	else
		stat_text(job);
	job->reports++;
	return end_report();
}
