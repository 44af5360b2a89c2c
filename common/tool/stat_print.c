/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its report as text, as separated values, as JSON. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "stat.h"

/* Microseconds are as fine as it makes sense. */
static double rounded(double seconds)
{
	return round(seconds * 1e6) / 1e6;
}

/* ---- text */

static const char *number_text(char buf[CELL_MAX], const struct stat_cell *c, double seconds)
{
	char rate[CELL_MAX];

	if (c->reason) {
		snprintf(buf, CELL_MAX, "-");
	} else if (!c->metric) {
		grouped(buf, c->count);
	} else {
		with_unit(buf, c->value, c->metric->unit);
		if (strcmp(c->metric->unit, "bytes") == 0 && seconds > 0) {
			size_t used = strlen(buf);

			snprintf(buf + used, CELL_MAX - used, "  %11s",
				 scaled(rate, c->value / seconds, "B/s"));
		}
	}
	return buf;
}

/* "7 of 8 units, 33 %": what the number is less than it should be. */
static const char *mark_text(char buf[CELL_MAX], const struct stat_cell *c)
{
	int used = 0;

	buf[0] = '\0';
	if (c->lacks)
		used = snprintf(buf, CELL_MAX, "%u of %u units", c->units, c->of);
	if (!c->reason && c->share < 1)
		snprintf(buf + used, CELL_MAX - (size_t)used, "%s%.0f %%", used ? ", " : "",
			 fmin(round(100 * c->share), 99));
	return buf;
}

/* The columns are the time (with intervals), the name, the numbers with their marks. */
static void start_text(struct stat_job *job)
{
	char *columns = must_print("%s", job->interval > 0 ? ">time s|" : "");

	print_label(job->platform);
	for (size_t i = 0; i < job->columns; i++)
		columns = job->per_socket ? must_add(columns, "|>socket %zu|", i)
					  : must_add(columns, "|>value|");
	job->table = table_new(columns);
	free(columns);
	if (job->interval > 0 || job->per_socket)
		table_titles(job->table);
}

static void text_line(struct stat_job *job, const char *time, const char *label)
{
	table_line(job->table);
	if (job->interval > 0)
		table_put(job->table, 0, time);
	table_put(job->table, job->interval > 0, label);
}

/* The number of a socket, or of all, and its mark. */
static void text_number(struct stat_job *job, size_t i, const char *number, const char *mark)
{
	size_t column = (job->interval > 0) + 1 + 2 * i;

	table_put(job->table, column, number);
	table_put(job->table, column + 1, mark);
}

static void overflow_text(struct stat_job *job)
{
	const struct unc_overflow *o = &job->overflow;
	char *label = must_print("  ended by %s%d %s, socket %d%s", o->unit, o->index, o->counter,
				 o->socket, o->frozen ? ", frozen" : "");
	char number[CELL_MAX];

	text_line(job, "", label);
	text_number(job, 0, grouped(number, o->count), "");
	free(label);
}

static void text_report(struct stat_job *job)
{
	char when[CELL_MAX], number[CELL_MAX], mark[CELL_MAX];

	if (job->reports == 0)
		start_text(job);
	snprintf(when, sizeof(when), "%.3f", job->time);
	for (size_t i = 0; i < job->n_lines; i++) {
		text_line(job, when, job->label[i]);
		for (size_t k = 0; k < job->columns; k++) {
			const struct stat_cell *c = &job->cell[i * job->columns + k];

			if (c->name)
				text_number(job, k, number_text(number, c, job->seconds),
					    mark_text(mark, c));
		}
	}
	if (job->every)
		overflow_text(job);
	table_print(job->table);
	if (job->interval == 0)
		printf("\n%.3f s measured\n", job->time);
}

/* ---- for programs */

static void print_value(struct printer *p, const char *key, const struct stat_cell *c)
{
	if (c->reason)
		print_null(p, key);
	else if (c->metric)
		print_number(p, key, c->value);
	else
		print_count(p, key, NULL, c->count);
}

/* A number, or nothing. */
static void print_if(struct printer *p, const char *key, bool there, double value)
{
	if (there)
		print_number(p, key, value);
	else
		print_text(p, key, NULL, NULL);
}

static void separated_cell(struct printer *p, const char *time, const struct stat_cell *c)
{
	print_row(p);
	print_text(p, "time", NULL, time);
	print_text(p, "name", NULL, c->name);
	print_value(p, "value", c);
	print_text(p, "unit", NULL, c->metric ? c->metric->unit : "count");
	print_if(p, "share", !c->reason, rounded(c->share));
	print_if(p, "units", c->id >= 0, c->units);
	print_if(p, "of", c->id >= 0, c->of);
	print_text(p, "reason", NULL, c->reason ? c->reason : c->lacks);
}

static void separated_report(const struct stat_job *job, struct printer *p)
{
	static const char *const titles[] = {"time",  "name",  "value", "unit",
					     "share", "units", "of",    "reason"};
	const struct unc_overflow *o = &job->overflow;
	char time[CELL_MAX];

	snprintf(time, sizeof(time), "%.6f", job->time);
	if (job->reports == 0 && unc_platform_simulated(job->platform))
		printf("# SIMULATED %s\n", unc_platform_cpu(job->platform)->name);
	for (size_t i = 0; job->reports == 0 && i < sizeof(titles) / sizeof(titles[0]); i++)
		print_text(p, NULL, NULL, titles[i]);
	for (const struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;)
		separated_cell(p, time, c);
	if (job->every) {
		char *name = must_print("overflow %s%d:socket=%d", o->unit, o->index, o->socket);
		struct stat_cell cell = {
			.name = name, .count = o->count, .share = 1, .units = 1, .of = 1};

		separated_cell(p, time, &cell);
		free(name);
	}
	print_end(p);
}

/* An object of the numbers that it is about; left out where there are none, unless always there. */
enum section { EVENTS, METRICS, PARTIAL, INVALID, SHARE, SECTIONS };

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
	default:
		return !c->reason && c->share < 1;
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
		print_number(p, c->name, rounded(c->share));
	} else {
		print_value(p, c->name, c);
	}
}

static void json_section(struct printer *p, const struct stat_job *job, enum section section)
{
	static const char *const keys[SECTIONS] = {"events", "metrics", "partial", "invalid",
						   "share"};
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

static void json_report(const struct stat_job *job, struct printer *p)
{
	print_open(p, NULL, '{');
	print_number(p, "time", rounded(job->time));
	print_number(p, "interval", rounded(job->seconds));
	print_bool(p, "simulated", unc_platform_simulated(job->platform));
	print_integer(p, "passes", NULL, job->passes);
	for (enum section section = 0; section < SECTIONS; section++)
		json_section(p, job, section);
	if (*unc_session_unprotected(job->session))
		print_text(p, "unprotected", NULL, unc_session_unprotected(job->session));
	if (job->every)
		json_overflow(p, &job->overflow);
	print_close(p);
}

/* ---- */

/* For what is said behind the last report. */
static void remember(struct stat_cell *c)
{
	if (!c->reason)
		return;
	c->without++;
	if (!c->why)
		c->why = must_print("%s", c->reason);
}

int stat_report(struct stat_job *job)
{
	struct printer p;

	print_start(&p, job->args, job->platform);
	if (p.form == JSON)
		json_report(job, &p);
	else if (p.form == SEPARATED)
		separated_report(job, &p);
	else
		text_report(job);
	for (struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;)
		remember(c);
	job->reports++;
	if (fflush(stdout) != 0)
		return failure("cannot write the report: %s", strerror(errno));
	return 0;
}
