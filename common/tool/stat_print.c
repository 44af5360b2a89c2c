/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its report as text, as separated values, as JSON. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "stat.h"

static const char *unit_of(const struct stat_cell *c)
{
	return c->metric ? c->metric->unit : "count";
}

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

/* ---- separated values */

/* A field; in quotes, as RFC 4180 has it, if it could be taken for more than one. */
static void put_field(const struct stat_job *job, const char *text)
{
	if (!strstr(text, job->args->separator) && !strpbrk(text, "\"\r\n")) {
		fputs(text, stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

static void put_fields(const struct stat_job *job, const char *const fields[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			fputs(job->args->separator, stdout);
		put_field(job, fields[i]);
	}
	putchar('\n');
}
#define PUT_FIELDS(job, ...)                                                                       \
	put_fields((job), (const char *const[]){__VA_ARGS__},                                      \
		   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void separated_cell(const struct stat_job *job, const char *time, const struct stat_cell *c)
{
	char number[CELL_MAX] = "-", share[CELL_MAX] = "", units[24] = "", of[24] = "";

	if (!c->reason && c->metric)
		shortest(number, c->value);
	else if (!c->reason)
		snprintf(number, sizeof(number), "%llu", (unsigned long long)c->count);
	if (!c->reason)
		shortest(share, rounded(c->share));
	if (c->id >= 0) {
		snprintf(units, sizeof(units), "%u", c->units);
		snprintf(of, sizeof(of), "%u", c->of);
	}
	PUT_FIELDS(job, time, c->name, number, unit_of(c), share, units, of,
		   c->reason  ? c->reason
		   : c->lacks ? c->lacks
			      : "");
}

static void separated_report(struct stat_job *job)
{
	const struct unc_overflow *o = &job->overflow;
	char time[CELL_MAX], count[24];

	snprintf(time, sizeof(time), "%.6f", job->time);
	if (job->reports == 0 && unc_platform_simulated(job->platform))
		printf("# SIMULATED %s\n", unc_platform_cpu(job->platform)->name);
	if (job->reports == 0)
		PUT_FIELDS(job, "time", "name", "value", "unit", "share", "units", "of", "reason");
	for (const struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;)
		separated_cell(job, time, c);
	if (job->every) {
		char *name = must_print("overflow %s%d:socket=%d", o->unit, o->index, o->socket);

		snprintf(count, sizeof(count), "%llu", (unsigned long long)o->count);
		PUT_FIELDS(job, time, name, count, "count", "1", "1", "1", "");
		free(name);
	}
}

/* ---- JSON */

static void json_cell(struct json *j, const struct stat_cell *c)
{
	if (c->reason)
		json_null(j, c->name);
	else if (c->metric)
		json_number(j, c->name, c->value);
	else
		json_count(j, c->name, c->count);
}

static void json_partial(struct json *j, const struct stat_cell *c)
{
	json_object(j, c->name);
	json_integer(j, "units", c->units);
	json_integer(j, "of", c->of);
	json_text(j, "reason", c->lacks);
	json_end(j);
}

static void json_invalid(struct json *j, const struct stat_cell *c)
{
	json_text(j, c->name, c->reason);
}

static void json_share(struct json *j, const struct stat_cell *c)
{
	json_number(j, c->name, rounded(c->share));
}

static bool is_event(const struct stat_cell *c)
{
	return !c->metric;
}

static bool is_metric(const struct stat_cell *c)
{
	return c->metric;
}

static bool is_partial(const struct stat_cell *c)
{
	return c->lacks;
}

static bool is_invalid(const struct stat_cell *c)
{
	return c->reason;
}

static bool is_scaled(const struct stat_cell *c)
{
	return !c->reason && c->share < 1;
}

/* An object of the numbers that it is about; left out where there are none, unless always there. */
static const struct section {
	const char *key;
	bool (*about)(const struct stat_cell *);
	void (*put)(struct json *, const struct stat_cell *);
	bool always;
} sections[] = {
	{"events", is_event, json_cell, true},        {"metrics", is_metric, json_cell, true},
	{"partial", is_partial, json_partial, false}, {"invalid", is_invalid, json_invalid, false},
	{"share", is_scaled, json_share, false},
};

static void json_section(struct json *j, const struct stat_job *job, const struct section *section)
{
	bool open = section->always;

	if (open)
		json_object(j, section->key);
	for (const struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;) {
		if (!section->about(c))
			continue;
		if (!open)
			json_object(j, section->key);
		open = true;
		section->put(j, c);
	}
	if (open)
		json_end(j);
}

static void json_overflow(struct json *j, const struct unc_overflow *o)
{
	json_object(j, "overflow");
	json_text(j, "unit", o->unit);
	json_integer(j, "socket", o->socket);
	json_integer(j, "index", o->index);
	json_text(j, "counter", o->counter);
	json_count(j, "count", o->count);
	json_integer(j, "others", o->others);
	json_bool(j, "frozen", o->frozen);
	json_end(j);
}

static void json_report(struct stat_job *job)
{
	struct json j;

	json_start(&j, stdout);
	json_object(&j, NULL);
	json_number(&j, "time", rounded(job->time));
	json_number(&j, "interval", rounded(job->seconds));
	json_bool(&j, "simulated", unc_platform_simulated(job->platform));
	json_integer(&j, "passes", job->passes);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		json_section(&j, job, &sections[i]);
	if (job->every)
		json_overflow(&j, &job->overflow);
	json_end(&j);
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
	if (job->args->json)
		json_report(job);
	else if (job->args->separator)
		separated_report(job);
	else
		text_report(job);
	for (struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;)
		remember(c);
	job->reports++;
	if (fflush(stdout) != 0)
		return failure("cannot write the report: %s", strerror(errno));
	return 0;
}
