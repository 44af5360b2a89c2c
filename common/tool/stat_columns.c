/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its report of an interval as a row of text, with a column for each number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

enum { CLOCK, TIME, FIRST };         /* columns */
enum { NUMBER, PEAK, MARK, SHARES }; /* of each number */

/* ---- titles */

/* Letters of the next part of a name: up to a ':', or with the '.' or '_' behind it. */
static size_t part_length(const char *name)
{
	size_t n = 1 + strcspn(name + 1, ":._");

	return n + (name[n] == '.' || name[n] == '_');
}

/* The name in lines of at most `most` letters, where its parts are not longer than that. */
static char *wrapped(const char *name, size_t most)
{
	size_t n = part_length(name), used = n;
	char *text = must_print("%.*s", (int)n, name);

	while (*(name += n)) {
		n = part_length(name);
		bool fits = used + n <= most;

		text = must_add(text, "%s%.*s", fits ? "" : "\n", (int)n, name);
		used = fits ? used + n : n;
	}
	return text;
}

static size_t lines_of(const char *text)
{
	size_t n = 1;

	while ((text = strchr(text, '\n')) != NULL) {
		text++;
		n++;
	}
	return n;
}

/* Line `n` from 0 into a cell; past the end: nothing. */
static void put_line_of(struct table *t, size_t column, const char *text, size_t n)
{
	while (n && (text = strchr(text, '\n')) != NULL) {
		text++;
		n--;
	}
	if (!text)
		return;
	char *line = must_print("%.*s", (int)strcspn(text, "\n"), text);

	table_put(t, column, line);
	free(line);
}

/* The names stand on the last line of their titles, whatever the lines of the others. */
static void put_names(const struct stat_job *job, struct table *t, size_t most)
{
	char **title = must_alloc(NULL, job->n_lines, sizeof(*title));
	size_t high = 1;

	for (size_t i = 0; i < job->n_lines; i++) {
		title[i] = wrapped(job->label[i], most);
		if (lines_of(title[i]) > high)
			high = lines_of(title[i]);
	}
	for (size_t row = 0; row < high; row++) {
		size_t column = FIRST;

		table_line(t);
		if (row + 1 == high) {
			table_put(t, CLOCK, "clock");
			table_put(t, TIME, "time");
		}
		for (size_t i = 0; i < job->n_lines; i++)
			for (size_t k = 0; k < job->columns; k++, column += SHARES)
				if (row + lines_of(title[i]) >= high)
					put_line_of(t, column + NUMBER, title[i],
						    row + lines_of(title[i]) - high);
	}
	for (size_t i = 0; i < job->n_lines; i++)
		free(title[i]);
	free(title);
}

static void put_sockets(const struct stat_job *job, struct table *t)
{
	size_t column = FIRST;
	char text[CELL_MAX];

	table_line(t);
	for (size_t i = 0; i < job->n_lines; i++)
		for (size_t k = 0; k < job->columns; k++, column += SHARES) {
			snprintf(text, sizeof(text), "socket %zu", k);
			table_put(t, column + NUMBER, text);
		}
}

/* What the numbers are, as wide as any of them. */
static void put_measures(const struct stat_job *job, struct table *t)
{
	size_t column = FIRST;
	char text[CELL_MAX], measure[CELL_MAX];

	table_line(t);
	table_put(t, TIME, "       s"); /* a quarter of an hour */
	for (size_t i = 0; i < job->n_lines * job->columns; i++, column += SHARES) {
		snprintf(text, sizeof(text), "%8s", stat_measure(measure, &job->cell[i]));
		table_put(t, column + NUMBER, text);
		if (job->cell[i].peak > 0 && !job->cell[i].lacks)
			table_put(t, column + PEAK, "of peak");
	}
}

void stat_columns_titles(struct stat_job *job)
{
	put_names(job, job->table, job->title_width);
	if (job->per_socket)
		put_sockets(job, job->table);
	put_measures(job, job->table);
}

/* ---- numbers */

void stat_columns_row(struct stat_job *job)
{
	struct table *t = job->table;
	size_t column = FIRST;
	char text[CELL_MAX];
	double share;

	table_line(t);
	table_put(t, CLOCK, stat_time_of_day(text, job));
	snprintf(text, sizeof(text), "%.3f", job->time);
	table_put(t, TIME, text);
	for (size_t i = 0; i < job->n_lines * job->columns; i++, column += SHARES) {
		const struct stat_cell *c = &job->cell[i];

		if (!c->name)
			continue;
		table_put(t, column + NUMBER, stat_short(text, c, job->seconds));
		if (stat_of_peak(c, job->seconds, &share)) {
			snprintf(text, sizeof(text), "%.1f %%", 100 * share);
			table_put(t, column + PEAK, text);
		}
		table_put(t, column + MARK, stat_mark(text, c, true));
	}
}

/* ---- */

static struct table *new_table(const struct stat_job *job)
{
	char *columns = must_print(">clock|>time");

	for (size_t i = 0; i < job->n_lines * job->columns; i++)
		columns = must_add(columns, "|>|>|");
	struct table *t = table_new(columns);

	free(columns);
	return t;
}

bool stat_columns(struct stat_job *job, size_t width)
{
	static const size_t widths[] = {11, 8}; /* of names: fewer letters, more lines */

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		job->title_width = widths[i];
		job->table = new_table(job);
		stat_columns_titles(job);
		stat_columns_row(job);
		bool fits = table_width(job->table) <= width;

		table_free(job->table);
		job->table = fits ? new_table(job) : NULL;
		if (fits)
			return true;
	}
	return false;
}
