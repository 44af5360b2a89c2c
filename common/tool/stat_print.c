/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its report as text, as separated values, as JSON. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "stat.h"

/* What is shown of a value that has been read, or why nothing is. */
static void collect(const struct stat_job *job, struct stat_number *n, const struct unc_value *v)
{
	bool all = job->interval == 0;

	if (!all && !(v->flags & UNC_VALUE_FRESH))
		return; /* its turn was, or will be, in another pass */
	*n = (struct stat_number){.state = NUMBER_WITHOUT_VALUE};
	if (!(v->flags & UNC_VALUE_VALID) || !isfinite(all ? v->value : v->interval))
		return;
	n->state = NUMBER_PRESENT;
	n->count = all ? v->count : v->delta;
	n->value = all ? v->value : v->interval;
	n->seconds = all ? v->seconds : v->interval_seconds;
}

static void collect_all(struct stat_job *job)
{
	for (size_t i = 0; i < job->n_items; i++)
		for (size_t k = 0; k < job->columns; k++) {
			struct stat_item *item = &job->item[i];

			if (item->id[k] >= 0)
				collect(job, &item->number[k], &job->value[item->id[k]]);
		}
}

int stat_collect(struct stat_job *job)
{
	int rc = unc_session_read(job->session, job->value, job->n_values);

	if (rc < 0)
		return library_error(rc, unc_session_error(job->session));
	collect_all(job);
	return 0;
}

int stat_poll(struct stat_job *job)
{
	job->overflow.size = sizeof(job->overflow);
	int rc = unc_session_poll(job->session, &job->overflow, job->value, job->n_values);

	if (rc < 0)
		return library_error(rc, unc_session_error(job->session));
	if (job->overflow.id >= 0)
		collect_all(job);
	return 0;
}

/* Ready to be shown: counts of a pass are scaled to the whole time. */
static void complete(const struct stat_job *job, struct stat_item *item, struct stat_number *n,
		     double seconds)
{
	bool total = !item->metric || item->metric->kind == UNC_METRIC_TOTAL;

	item->missed |= n->state == NUMBER_NOT_MEASURED;
	item->without_value |= n->state == NUMBER_WITHOUT_VALUE;
	if (n->state == NUMBER_PRESENT && job->passes > 1 && total && n->seconds > 0) {
		n->value = round(n->value * seconds / n->seconds);
		n->count = (uint64_t)n->value;
	}
}

static const char *unit_of(const struct stat_item *item)
{
	return item->metric ? item->metric->unit : "count";
}

/* Microseconds are as fine as it makes sense. */
static double rounded(double seconds)
{
	return round(seconds * 1e6) / 1e6;
}

/* ---- text */

static void cell_text(char buf[CELL_MAX], const struct stat_item *item, size_t column,
		      double seconds)
{
	char rate[CELL_MAX];

	buf[0] = '\0';
	if (item->id[column] < 0)
		return;
	const struct stat_number *n = &item->number[column];

	if (n->state != NUMBER_PRESENT) {
		snprintf(buf, CELL_MAX, "-");
	} else if (!item->metric) {
		grouped(buf, n->count);
	} else {
		with_unit(buf, n->value, item->metric->unit);
		if (strcmp(item->metric->unit, "bytes") == 0 && seconds > 0) {
			size_t used = strlen(buf);

			snprintf(buf + used, CELL_MAX - used, "  %11s",
				 scaled(rate, n->value / seconds, "B/s"));
		}
	}
}

/* The columns are the time (with intervals), the name, the numbers. */
static void text_row(struct stat_job *job, const char *time, const char *label,
		     char numbers[][CELL_MAX])
{
	const char **cells = must_alloc(NULL, job->columns + 2, sizeof(*cells));
	size_t n = 0;

	if (job->interval > 0)
		cells[n++] = time;
	cells[n++] = label;
	for (size_t i = 0; i < job->columns; i++)
		cells[n++] = numbers[i];
	table_row(job->table, cells);
	free(cells);
}

static void start_text(struct stat_job *job, char numbers[][CELL_MAX])
{
	char *align = must_alloc(NULL, job->columns + 3, 1);
	size_t n = 0;

	print_label(job->platform);
	if (job->interval > 0)
		align[n++] = 'r';
	align[n++] = 'l';
	memset(align + n, 'r', job->columns);
	align[n + job->columns] = '\0';
	job->table = table_new(align);
	free(align);
	for (size_t i = 0; i < job->columns; i++)
		if (job->per_socket)
			snprintf(numbers[i], CELL_MAX, "socket %zu", i);
		else
			snprintf(numbers[i], CELL_MAX, "value");
	if (job->interval > 0 || job->per_socket)
		text_row(job, "time s", "", numbers);
}

static void text_report(struct stat_job *job, double time, double seconds)
{
	char(*numbers)[CELL_MAX] = must_alloc(NULL, job->columns, sizeof(*numbers));
	char when[CELL_MAX];

	if (!job->started)
		start_text(job, numbers);
	snprintf(when, sizeof(when), "%.3f", time);
	for (size_t i = 0; i < job->n_items; i++) {
		for (size_t k = 0; k < job->columns; k++)
			cell_text(numbers[k], &job->item[i], k, seconds);
		text_row(job, when, job->item[i].label, numbers);
	}
	if (job->every) {
		const struct unc_overflow *o = &job->overflow;
		char *label = must_print("  ended by %s%d %s, socket %d%s", o->unit, o->index,
					 o->counter, o->socket, o->frozen ? ", frozen" : "");

		for (size_t k = 0; k < job->columns; k++)
			grouped(numbers[k], o->count);
		text_row(job, "", label, numbers);
		free(label);
	}
	table_print(job->table);
	if (job->interval == 0)
		printf("\n%.3f s measured\n", time);
	free(numbers);
}

/* ---- separated values */

static void separated_report(struct stat_job *job, double time)
{
	const char *sep = job->separator;
	char buf[CELL_MAX];

	if (!job->started && unc_platform_simulated(job->platform))
		printf("# SIMULATED %s\n", unc_platform_cpu(job->platform)->name);
	if (!job->started)
		printf("time%sname%svalue%sunit\n", sep, sep, sep);
	for (size_t i = 0; i < job->n_items; i++) {
		struct stat_item *item = &job->item[i];

		for (size_t k = 0; k < job->columns; k++) {
			if (item->id[k] < 0)
				continue;
			const struct stat_number *n = &item->number[k];

			printf("%.6f%s%s%s", time, sep, item->name[k], sep);
			if (n->state != NUMBER_PRESENT)
				putchar('-');
			else if (item->metric)
				fputs(shortest(buf, n->value), stdout);
			else
				printf("%llu", (unsigned long long)n->count);
			printf("%s%s\n", sep, unit_of(item));
		}
	}
	if (job->every)
		printf("%.6f%soverflow %s%d:socket=%d%s%llu%scount\n", time, sep,
		       job->overflow.unit, job->overflow.index, job->overflow.socket, sep,
		       (unsigned long long)job->overflow.count, sep);
}

/* ---- JSON */

static void json_items(struct json *j, struct stat_job *job, bool metrics)
{
	json_object(j, metrics ? "metrics" : "events");
	for (size_t i = 0; i < job->n_items; i++) {
		struct stat_item *item = &job->item[i];

		for (size_t k = 0; k < job->columns; k++) {
			if (item->id[k] < 0 || (item->metric != NULL) != metrics)
				continue;
			const struct stat_number *n = &item->number[k];

			if (n->state != NUMBER_PRESENT)
				json_null(j, item->name[k]);
			else if (metrics)
				json_number(j, item->name[k], n->value);
			else
				json_count(j, item->name[k], n->count);
		}
	}
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

static void json_report(struct stat_job *job, double time, double seconds)
{
	struct json j;

	json_start(&j, stdout);
	json_object(&j, NULL);
	json_number(&j, "time", rounded(time));
	json_number(&j, "interval", rounded(seconds));
	json_bool(&j, "simulated", unc_platform_simulated(job->platform));
	json_integer(&j, "passes", job->passes);
	json_items(&j, job, false);
	json_items(&j, job, true);
	if (job->every)
		json_overflow(&j, &job->overflow);
	json_end(&j);
}

int stat_report(struct stat_job *job)
{
	double time = 0, seconds;
	int rc = unc_session_time(job->session, &time, NULL);

	if (rc < 0)
		return library_error(rc, unc_session_error(job->session));
	seconds = time - job->reported;
	for (size_t i = 0; i < job->n_items; i++)
		for (size_t k = 0; k < job->columns; k++)
			if (job->item[i].id[k] >= 0)
				complete(job, &job->item[i], &job->item[i].number[k], seconds);
	if (job->args.json)
		json_report(job, time, seconds);
	else if (job->separator)
		separated_report(job, time);
	else
		text_report(job, time, seconds);
	for (size_t i = 0; i < job->n_items; i++)
		for (size_t k = 0; k < job->columns; k++)
			job->item[i].number[k].state = NUMBER_NOT_MEASURED;
	job->started = true;
	job->reported = time;
	if (fflush(stdout) != 0)
		return failure("cannot write the report: %s", strerror(errno));
	return 0;
}

void stat_close_report(struct stat_job *job)
{
	if (job->every && !job->started)
		fprintf(stderr,
			"uncore: note: no interval has ended: %s counted less than %llu on every "
			"unit\n",
			job->item[0].label, (unsigned long long)job->every);
	if (job->args.json || job->separator)
		return;
	for (size_t i = 0; i < job->n_items; i++) {
		const struct stat_item *item = &job->item[i];

		if (item->missed)
			printf("- %s: not measured: the time was too short for its pass\n",
			       item->label);
		if (item->without_value && item->metric)
			printf("- %s: no value: the denominator counted 0%s\n", item->label,
			       job->passes > 1 ? ", or the time was too short for its passes" : "");
		else if (item->without_value)
			printf("- %s: %s\n", item->label,
			       job->passes > 1 ? "not measured: the time was too short for its pass"
					       : "a counter could not be read");
	}
	fflush(stdout); /* before the command, if it still runs, writes more */
}
