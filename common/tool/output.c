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

void table_put(struct table *t, size_t column, const char *text)
{
	char **cell = &t->cells[t->n_cells - t->columns + column];
	size_t width;

	*cell = must_add(*cell, "%s", text);
	width = strlen(*cell);
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

static void print_line(const struct table *t, char *const cells[])
{
	int pad = 0; /* blanks due: not printed at the end of a line */

	for (size_t i = 0; i < t->columns; i++) {
		int length = cells[i] ? (int)strlen(cells[i]) : 0;
		int fill = (int)t->column[i].width - length;
		bool right = t->column[i].right;

		if (t->column[i].width == 0) /* a column that nothing stands in yet */
			continue;
		if (length == 0) {
			pad += fill + 2;
			continue;
		}
		printf("%*s%s", pad + (right ? fill : 0), "", cells[i]);
		pad = 2 + (right ? 0 : fill);
	}
	putchar('\n');
}

void table_print(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i += t->columns)
		print_line(t, t->cells + i);
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	t->n_cells = 0;
}

size_t table_lines(const struct table *t)
{
	return t->n_cells / t->columns;
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

/* How a unit of metrics is written behind numbers: "B/s" for "bytes_per_second". */
static const char *unit_text(const char *unit)
{
	static const char *const text[][2] = {{"hz", "Hz"},
					      {"bytes_per_second", "B/s"},
					      {"count_per_second", "/s"},
					      {"count", ""}};

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
