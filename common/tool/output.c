/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

struct column {
	const char *title;
	bool right;
	size_t width;
};

struct table {
	char *titles; /* taken apart */
	struct column *column;
	size_t columns;
	char **cells; /* of all lines; NULL: nothing stands there */
	size_t n_cells;
};

struct table *table_new(const char *columns)
{
	struct table *t = must_alloc(NULL, 1, sizeof(*t));
	char *rest, *title;

	*t = (struct table){.titles = must_print("%s", columns)};
	for (rest = t->titles; (title = strsep(&rest, "|")) != NULL; t->columns++) {
		bool right = title[0] == '>';

		t->column = must_grow(t->column, t->columns, sizeof(*t->column));
		t->column[t->columns] = (struct column){.title = title + right, .right = right};
	}
	return t;
}

void table_line(struct table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		t->cells = must_grow(t->cells, t->n_cells, sizeof(*t->cells));
		t->cells[t->n_cells++] = NULL;
	}
}

/* How many lines a cell has, and letters its longest. */
static size_t lines_of(const char *text, size_t *width)
{
	size_t lines = 0;

	*width = 0;
	for (size_t n; text; text = text[n] ? text + n + 1 : NULL) {
		n = strcspn(text, "\n");
		*width = n > *width ? n : *width;
		lines++;
	}
	return lines;
}

void table_put(struct table *t, size_t column, const char *text)
{
	char **cell = &t->cells[t->n_cells - t->columns + column];
	size_t width;

	*cell = must_add(*cell, "%s", text);
	lines_of(*cell, &width);
	if (width > t->column[column].width)
		t->column[column].width = width;
}

void table_titles(struct table *t)
{
	table_line(t);
	for (size_t i = 0; i < t->columns; i++)
		table_put(t, i, t->column[i].title);
}

size_t table_column(const struct table *t, const char *title)
{
	for (size_t i = 0; i < t->columns; i++)
		if (strcmp(t->column[i].title, title) == 0)
			return i;
	abort();
}

/* Lines of the highest cell of a row. */
static size_t height_of(const struct table *t, char *const cells[])
{
	size_t high = 1, width;

	for (size_t i = 0; i < t->columns; i++) {
		size_t lines = lines_of(cells[i], &width);

		high = lines > high ? lines : high;
	}
	return high;
}

/* The line of a row that has `below` more below it. */
static void print_cells(const struct table *t, char *const cells[], size_t below)
{
	int pad = 0; /* blanks due: not printed at the end of a line */

	for (size_t i = 0; i < t->columns; i++) {
		const char *text = cells[i] ? cells[i] : "";
		size_t width, lines = lines_of(cells[i], &width);
		bool right = t->column[i].right;

		for (size_t skip = below + 1; skip < lines; skip++)
			text = strchr(text, '\n') + 1;
		int length = below < lines ? (int)strcspn(text, "\n") : 0;
		int fill = (int)t->column[i].width - length;

		if (t->column[i].width == 0) /* a column that nothing stands in yet */
			continue;
		if (length == 0) {
			pad += fill + 2;
			continue;
		}
		printf("%*s%.*s", pad + (right ? fill : 0), "", length, text);
		pad = 2 + (right ? 0 : fill);
	}
	putchar('\n');
}

void table_print(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i += t->columns)
		for (size_t below = height_of(t, t->cells + i); below-- > 0;)
			print_cells(t, t->cells + i, below);
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	t->n_cells = 0;
}

size_t table_lines(const struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_cells; i += t->columns)
		n += height_of(t, t->cells + i);
	return n;
}

size_t table_width(const struct table *t)
{
	size_t width = 0;

	for (size_t i = 0; i < t->columns; i++)
		if (t->column[i].width)
			width += t->column[i].width + (width ? 2 : 0);
	return width;
}

void table_free(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->column);
	free(t->titles);
	free(t);
}

const char *grouped(char buf[CELL_MAX], uint64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *p = buf;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return buf;
}

const char *scaled(char buf[CELL_MAX], double value, const char *unit)
{
	static const char *const prefix[] = {"", "k", "M", "G", "T", "P", "E"};
	size_t i = 0;

	while (fabs(value) >= 999.995 && i + 1 < sizeof(prefix) / sizeof(prefix[0])) {
		value /= 1000;
		i++;
	}
	snprintf(buf, CELL_MAX, "%.*f %s%s", i == 0 && value == floor(value) ? 0 : 2, value,
		 prefix[i], unit);
	return buf;
}

const char *percent_text(char buf[CELL_MAX], double share)
{
	snprintf(buf, CELL_MAX, share < 0.01 ? "<1" : "%.0f", fmin(round(100 * share), 99));
	return buf;
}

const char *unit_text(const char *unit)
{
	static const char *const text[][2] = {
		{"hz", "Hz"},    {"bytes_per_second", "B/s"}, {"count_per_second", "/s"},
		{"joules", "J"}, {"bytes_per_joule", "B/J"},  {"count", ""}};

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		if (strcmp(unit, text[i][0]) == 0)
			return text[i][1];
	return unit;
}

const char *with_unit(char buf[CELL_MAX], double value, const char *unit)
{
	bool whole = value >= 0 && value < 0x1p63 && value == floor(value);
	char number[CELL_MAX];

	if (strcmp(unit, "ratio") == 0)
		snprintf(buf, CELL_MAX, "%.4f", value);
	else if (strcmp(unit, "hz") == 0 || strstr(unit, "_per_"))
		scaled(buf, value, unit_text(unit));
	else if (strcmp(unit, "count") == 0 && whole)
		grouped(buf, (uint64_t)value);
	else if (strcmp(unit, "bytes") == 0 && value >= 0 && value < 0x1p63)
		snprintf(buf, CELL_MAX, "%s %s", grouped(number, (uint64_t)llround(value)), unit);
	else
		snprintf(buf, CELL_MAX, "%.2f%s%s", value, *unit_text(unit) ? " " : "",
			 unit_text(unit));
	return buf;
}

const char *clock_text(char buf[CELL_MAX], const char *format, const struct timespec *clock)
{
	struct tm local;

	localtime_r(&clock->tv_sec, &local);
	buf[strftime(buf, CELL_MAX, format, &local)] = '\0';
	return buf;
}

const char *bit_list(char buf[CELL_MAX], uint64_t mask)
{
	size_t n = 0;

	snprintf(buf, CELL_MAX, "-");
	for (unsigned i = 0; i < 64; i++) {
		unsigned first = i;

		if (!(mask >> i & 1))
			continue;
		while (i < 63 && mask >> (i + 1) & 1)
			i++;
		n += (size_t)snprintf(buf + n, CELL_MAX - n, n ? ",%u" : "%u", first);
		if (i > first && n < CELL_MAX)
			n += (size_t)snprintf(buf + n, CELL_MAX - n, "-%u", i);
		if (n >= CELL_MAX)
			break;
	}
	return buf;
}
