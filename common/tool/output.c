/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

enum { MAX_COLUMNS = 160 };

struct table {
	char *align;
	size_t columns;
	size_t width[MAX_COLUMNS];
	char **cells;
	size_t n_cells, room;
};

struct table *table_new(const char *align)
{
	struct table *t = must_alloc(NULL, 1, sizeof(*t));

	*t = (struct table){.align = must_print("%s", align), .columns = strlen(align)};
	if (t->columns > MAX_COLUMNS)
		abort();
	return t;
}

void table_row(struct table *t, const char *const cells[])
{
	if (t->n_cells + t->columns > t->room) {
		t->room = 2 * (t->room + t->columns);
		t->cells = must_alloc(t->cells, t->room, sizeof(*t->cells));
	}
	for (size_t i = 0; i < t->columns; i++) {
		size_t width = strlen(cells[i]);

		t->cells[t->n_cells++] = must_print("%s", cells[i]);
		if (width > t->width[i])
			t->width[i] = width;
	}
}

static void print_row(const struct table *t, char *const cells[])
{
	size_t last = t->columns;
	int pad = 0; /* blanks due: not printed at the end of a line */

	while (last && cells[last - 1][0] == '\0')
		last--;
	for (size_t i = 0; i < last; i++) {
		int fill = (int)(t->width[i] - strlen(cells[i]));

		if (t->width[i] == 0) /* a column that nothing stands in yet */
			continue;
		if (t->align[i] == 'r') {
			printf("%*s%s", pad + fill, "", cells[i]);
			pad = 2;
		} else {
			printf("%*s%s", pad, "", cells[i]);
			pad = fill + 2;
		}
	}
	putchar('\n');
}

void table_print(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i += t->columns)
		print_row(t, t->cells + i);
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	t->n_cells = 0;
}

void table_free(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->align);
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

const char *with_unit(char buf[CELL_MAX], double value, const char *unit)
{
	bool whole = value >= 0 && value < 0x1p63 && value == floor(value);
	char number[CELL_MAX];

	if (strcmp(unit, "ratio") == 0)
		snprintf(buf, CELL_MAX, "%.4f", value);
	else if (strcmp(unit, "hz") == 0)
		scaled(buf, value, "Hz");
	else if (strcmp(unit, "bytes_per_second") == 0)
		scaled(buf, value, "B/s");
	else if (strcmp(unit, "count_per_second") == 0)
		scaled(buf, value, "/s");
	else if (strcmp(unit, "count") == 0 && whole)
		grouped(buf, (uint64_t)value);
	else if (strcmp(unit, "bytes") == 0 && value >= 0 && value < 0x1p63)
		snprintf(buf, CELL_MAX, "%s %s", grouped(number, (uint64_t)llround(value)), unit);
	else
		snprintf(buf, CELL_MAX, "%.2f%s%s", value, strcmp(unit, "count") ? " " : "",
			 strcmp(unit, "count") ? unit : "");
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

const char *shortest(char buf[CELL_MAX], double value)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buf, CELL_MAX, "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	return buf;
}

const char *hex(char buf[CELL_MAX], uint64_t value)
{
	snprintf(buf, CELL_MAX, "0x%" PRIx64, value);
	return buf;
}
