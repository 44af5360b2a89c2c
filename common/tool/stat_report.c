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
static void put_number(struct record *r, const char *key, const struct number *c)
{
	if (!c->valid)
		record_null(r, key);
	else if (c->item.metric || c->mean.n)
		record_number(r, key, c->value);
	else
		record_count(r, key, c->count);
}

/* ---- rows: one for each number, separated or JSON */

static void put_if(struct record *r, const char *key, bool there, double value)
{
	if (there)
		record_number(r, key, value);
	else
		record_text(r, key, NULL);
}

/* "2026-11-22T20:24:01.123456+01:00": ISO 8601, local time. */
static void put_clock(struct record *r, const struct timespec *clock)
{
	char buf[CELL_MAX], zone[CELL_MAX];
	size_t n = strlen(clock_text(buf, "%Y-%m-%dT%H:%M:%S", clock));

	clock_text(zone, "%z", clock);
	snprintf(buf + n, CELL_MAX - n, ".%06ld%.3s:%s", clock->tv_nsec / 1000, zone, zone + 3);
	record_text(r, "clock", buf);
}

/* Why there is no value, or what its marks stand for. */
static void put_reason(struct record *r, const struct stat_job *job, const struct number *c)
{
	const char *first = c->valid ? c->said[PARTIAL] : stat_reason(job, c);
	char *text = first ? must_print("%s", first) : NULL;

	for (enum mark k = DOUBTS; mark_words(k) && k < SCALED; k++)
		if (c->mark[k])
			text = must_add(text, "%s%s", text ? "; " : "", c->said[k]);
	record_text(r, "reason", text);
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
static void put_device_cells(struct record *r, const struct number *c)
{
	bool there = c->id >= 0 && c->item.port >= 0;
	const char *names = c->device ? c->device : "";
	char address[CELL_MAX];

	address_text(address, c->item.device);
	if (r->form == SEPARATED) {
		record_known(r, "address", address);
		record_known(r, "names", names);
		put_if(r, "port", there, c->item.port);
		put_if(r, "stack", there, c->item.at.index);
		return;
	}
	if (!there) {
		record_null(r, "device");
		return;
	}
	record_open(r, "device", '{');
	record_known(r, "address", address);
	record_words(r, "names", names, " ");
	record_integer(r, "port", c->item.port);
	record_bits(r, "ports", c->item.ports);
	record_integer(r, "stack", c->item.at.index);
	record_close(r);
}

static void put_row(struct record *r, const struct stat_job *job, const struct number *c)
{
	const struct unc_target *at = &c->item.at;
	bool counted = c->id >= 0 && !c->item.error;
	bool at_node = c->id >= 0 && c->item.node >= 0;
	char unit[CELL_MAX];

	snprintf(unit, sizeof(unit), "%s%d", c->item.units_of ? c->item.units_of : "", at->index);
	record_row(r);
	record_number(r, "time", rounded(job->time));
	put_clock(r, &job->series.clock);
	record_number(r, "interval", rounded(job->seconds));
	if (r->form == JSON)
		record_bool(r, "simulated", unc_platform_simulated(job->platform));
	put_if(r, "socket", at->socket >= 0, at->socket);
	record_text(r, "unit", at->index >= 0 ? unit : NULL);
	record_text(r, "name", c->item.base);
	put_number(r, "value", c);
	record_text(r, "measure", c->item.metric ? c->item.metric->unit : "count");
	put_if(r, "share", c->valid, rounded(c->share));
	put_if(r, "units", counted, c->units);
	put_if(r, "of", counted, c->of);
	put_reason(r, job, c);
	if (job->repeat) {
		record_integer(r, "runs", (int64_t)job->runs);
		put_if(r, "spread", isfinite(c->spread), rounded(c->spread));
	}
	if (job->args->per_node || (r->form == JSON && at_node))
		put_if(r, "node", at_node, c->item.node);
	if (job->args->per_device || (r->form == JSON && c->item.device[0]))
		put_device_cells(r, c);
}

static void put_rows(struct record *r, const struct stat_job *job)
{
	if (r->form == SEPARATED && job->reports == 0) {
		if (unc_platform_simulated(job->platform))
			printf("# SIMULATED %s\n", unc_platform_cpu(job->platform)->name);
		r->keys = true;
		put_row(r, job, &(struct number){.id = -1});
		r->keys = false;
	}
	for (const struct number *c = job->series.number; c < stat_end(job); c++)
		put_row(r, job, c);
	record_end(r);
}

/* ---- one object of JSON */

/* Objects of numbers: of those with a mark, and more. */
enum { EVENTS = MARKS, METRICS, SPREAD };

static bool is_about(int section, const struct number *c)
{
	switch (section) {
	case EVENTS:
	case METRICS:
		return (section == METRICS) == (c->item.metric != NULL);
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

static void put_member(struct record *r, const struct stat_job *job, int section,
		       const struct number *c)
{
	const char *name = c->item.name;

	if (section == EVENTS || section == METRICS) {
		put_number(r, name, c);
	} else if (section == PARTIAL) {
		record_open(r, name, '{');
		record_integer(r, "units", c->units);
		record_integer(r, "of", c->of);
		record_text(r, "reason", c->said[PARTIAL]);
		record_close(r);
	} else if (section == SCALED || section == SPREAD) {
		record_number(r, name, rounded(section == SCALED ? c->share : c->spread));
	} else {
		record_text(r, name, section == NO_VALUE ? stat_reason(job, c) : c->said[section]);
	}
}

/* Left out where there are no such numbers, unless it is always there. */
static void put_section(struct record *r, const struct stat_job *job, int section, const char *key)
{
	bool open = section == EVENTS || section == METRICS;

	if (open)
		record_open(r, key, '{');
	for (const struct number *c = job->series.number; c < stat_end(job); c++) {
		if (!is_about(section, c))
			continue;
		if (!open)
			record_open(r, key, '{');
		open = true;
		put_member(r, job, section, c);
	}
	if (open)
		record_close(r);
}

static void put_object(struct record *r, const struct stat_job *job)
{

	record_open(r, NULL, '{');
	record_number(r, "time", rounded(job->time));
	record_number(r, "interval", rounded(job->seconds));
	record_bool(r, "simulated", unc_platform_simulated(job->platform));
	record_integer(r, "passes", job->passes);
	if (job->repeat)
		record_integer(r, "runs", (int64_t)job->runs);
	put_section(r, job, EVENTS, "events");
	put_section(r, job, METRICS, "metrics");
	put_section(r, job, PARTIAL, mark_words(PARTIAL)->key);
	for (enum mark k = DOUBTS; mark_words(k) && k < SCALED; k++)
		put_section(r, job, k, mark_words(k)->key);
	put_section(r, job, NO_VALUE, mark_words(NO_VALUE)->key);
	put_section(r, job, SCALED, mark_words(SCALED)->key);
	put_section(r, job, SPREAD, "spread");
	if (*unc_session_unprotected(job->series.session))
		record_text(r, "unprotected", unc_session_unprotected(job->series.session));
	record_close(r);
}

/* ---- text: a line for each number */

static const struct column stat_columns[] = {
	{CELL("name", "")}, {NUMBER("number", "")}, {NUMBER("rate", "")}, {FOLD("more", "")}, {0}};

/* How sure a mean is; "" of one run. */
static const char *spread_text(char buf[CELL_MAX], uint64_t runs, double spread)
{
	snprintf(buf, CELL_MAX, isfinite(spread) ? "+- %.2f %%" : "+- -", 100 * spread);
	return runs < 2 ? "" : buf;
}

/* What stands behind others, with `between` before it. */
static char *append_part(char *text, const char *between, const char *more)
{
	return *more ? must_add(text, "%s%s", text ? between : "", more) : text;
}

/* The marks of a number: "7 of 8 units, 33 %". */
static char *mark_text(const struct number *c)
{
	char *text = c->said[PARTIAL] ? must_print("%u of %u units", c->units, c->of) : NULL;
	char share[CELL_MAX];

	if (c->valid && c->share < 1)
		text = must_add(text, "%s%s %%", text ? ", " : "", percent_text(share, c->share));
	for (enum mark k = DOUBTS; mark_words(k) && k < SCALED; k++)
		text = append_part(text, ", ", c->mark[k] ? mark_words(k)->key : "");
	return text;
}

/* *peak: the peak that the line before named: the same peak is not repeated. */
static void put_number_line(struct record *r, const struct stat_job *job, const struct number *c,
			    double *peak)
{
	const char *unit = c->item.metric ? c->item.metric->unit : "count",
		   *below = series_below(c);
	double rate = number_rate(c, job->seconds);
	char buf[CELL_MAX], *text = NULL, *marks = mark_text(c);

	record_row(r);
	record_also(r, "name", "%s%s", job->interval > 0 ? "  " : "", c->item.name);
	if (!c->valid)
		record_also(r, "number", "-");
	else if (!c->item.metric)
		record_also(r, "number", "%s", grouped(buf, c->count));
	else if (!strstr(unit, "_per_second")) /* it stands among rates */
		record_also(r, "number", "%s", with_unit(buf, c->value, unit));
	if (c->valid && !isnan(rate))
		record_also(r, "rate", "%s", rate_text(buf, rate, unit));
	text = append_part(text, "", share_text(buf, c, job->seconds, peak));
	if (c->valid)
		text = append_part(text, "  ", spread_text(buf, job->runs, c->spread));
	text = append_part(text, "  ", marks ? marks : "");
	if (below)
		text = must_add(text, "%s(%s)", text ? "  " : "", below);
	record_text(r, "more", text);
	free(marks);
	free(text);
}

/* "21:34:45.250  2.250 s", with the day if that is another. */
static void put_time(struct record *r, struct stat_job *job)
{
	const struct timespec *clock = &job->series.clock;
	char day[CELL_MAX], time[CELL_MAX], ms[CELL_MAX] = "";

	if (fmod(job->interval, 1) != 0)
		snprintf(ms, sizeof(ms), ".%03ld", clock->tv_nsec / 1000000);
	if (strcmp(clock_text(day, "%F ", clock), job->day) == 0)
		day[0] = '\0';
	else
		clock_text(job->day, "%F ", clock);
	record_line(r, "%s%s%s  %.3f s", day, clock_text(time, "%H:%M:%S", clock), ms, job->time);
}

#define DATE_AND_TIME "%Y-%m-%d %H:%M:%S %z"

static void put_number_lines(struct record *r, struct stat_job *job)
{
	char sure[CELL_MAX], date[CELL_MAX];
	const struct number **line;
	double peak = 0;

	clock_text(date, DATE_AND_TIME, &job->began);
	if (job->reports == 0)
		record_list(r, NULL, stat_columns);
	if (job->reports == 0 && job->interval > 0) {
		record_line(r, "from %s\n", date);
		clock_text(job->day, "%F ", &job->began);
	}
	if (job->interval > 0)
		put_time(r, job);
	line = series_lines(&job->series, job->args->per_device);
	for (size_t i = 0; i < job->series.n; i++)
		put_number_line(r, job, line[i], &peak);
	free(line);
	record_flush(r);
	spread_text(sure, job->runs, job->length_spread);
	if (job->repeat)
		record_line(r, "\n%llu run%s of %.3f s%s%s, from %s", (unsigned long long)job->runs,
			    job->runs == 1 ? "" : "s", job->seconds, job->runs > 1 ? " " : "",
			    job->runs > 1 ? sure : "", date);
	else if (job->interval == 0)
		record_line(r, "\n%.3f s measured, from %s", job->time, date);
}

/* ---- */

/* Whether the whole report was written. A reader that closed its pipe has seen enough: no message for
 * that. */
static int end_report(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return errno == EPIPE ? BY_SIGNAL + SIGPIPE
			      : failure("cannot write the report: %s", strerror(errno));
}

int stat_report(struct stat_job *job)
{
	struct record *r = &job->record;

	if (!job->repeat)
		stat_remember(job);
	if (job->reports == 0)
		record_start(r, job->args, job->platform);
	errno = 0; /* that of a write is to be seen, wherever it was */
	if (r->form == TEXT)
		put_number_lines(r, job);
	else if (job->args->json)
		put_object(r, job);
	else
		put_rows(r, job);
	job->reports++;
	return end_report();
}
