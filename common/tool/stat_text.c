/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its report as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

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

void stat_text(struct stat_job *job)
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
