/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of the tables as text, from the rows that the reader works by. */
#include "tablec.h"
#include "tables/table.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NEEDED = 1, POSITIVE = 2, PLUS1 = 4, MSR = 8, PCI = 16, MMIO = 32, CPUS = 64 };
enum { ONCE = 1, TYPE = 2, SETTINGS_TOO = 4, SELF = 2 };

#define W(list, words) WORDS_##list,
#define S(...)
#define C(...)
enum word_list {
#include "reader/table_columns.inc"
};
#undef W

#define W(list, words) words,
static const char *const word_list[] = {
#include "reader/table_columns.inc"
};
#undef W
#undef S
#undef C

/* A statement (of == NULL), or one of its columns. */
struct row {
	const char *file, *kind, *name, *help;
	unsigned flags;
	uint64_t limit;
	int fallback;
};

#define W(...)
#define S(file, name, flags, end, help) {#file, NULL, #name, help, flags, 0, 0},
#define C(kind, words, name, member, flags, limit, fallback, help)                                 \
	{NULL, #kind, name, help, flags, limit, fallback},
static const struct row rows[] = {
#include "reader/table_columns.inc"
};
#undef W
#undef S
#undef C

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static const struct {
	const char *name, *file;
} files[] = {{"ANY", "all files"},      {"CPUS", "cpus.tbl"},         {"UNITS", "units.tbl"},
	     {"EVENTS", "TYPE.events"}, {"PORTABLE", "portable.tbl"}, {"METRICS", "metrics.tbl"},
	     {"GROUPS", "groups.tbl"},  {"SITE", "site.tbl"},         {"WORKLOAD", "workload.tbl"}};

static const char *file_name(const char *name)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (strcmp(files[i].name, name) == 0)
			return files[i].file;
	return "";
}

/* ---- for programs */

void tablec_columns(void)
{
	const struct row *statement = rows;

	for (const struct row *c = rows; c < rows + N_ROWS; c++) {
		if (!c->kind)
			statement = c;
		else
			printf("%s %s %s %s %s\n",
			       strcmp(statement->file, "ANY") == 0 ? "*"
								   : file_name(statement->file),
			       statement->name, c->name, c->kind,
			       c->flags & NEEDED ? "needed" : "optional");
	}
}

/* ---- for people */

static bool is_place(const struct row *c)
{
	return c->name[0] < 'a';
}

/* What stands behind `key=`. */
static void print_value(const struct row *c)
{
	static const char *const kinds[][2] = {
		{"NUMBER", "N"},
		{"OFFSET", "N"},
		{"REAL", "X"},
		{"TEXT", "\"...\""},
		{"FIELD", "FIELD"},
		{"FIELDS", "FIELD,.."},
		{"REG", "REG"},
		{"SETTINGS", "FIELD:VALUE,.."},
		{"PART", "PART"},
		{"BAR", "BAR"},
		{"COUNTER", "COUNTER"},
		{"COUNTERS", "LIST"},
		{"MASK", "LIST"},
		{"SET", "LIST"},
		{"BITS", "HIGH:LOW"},
		{"UNIT", "TYPE"},
		{"DEVICE", "DEVICE.FUNCTION"},
		{"RAW", "..."},
		{"CHOICE", "WORD"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(c->kind, kinds[i][0]) == 0)
			printf("=%s", kinds[i][1]);
}

static void print_words(const char *list)
{
	for (; *list; list++)
		fputs(*list == ' ' ? "`, `" : (char[]){*list, '\0'}, stdout);
}

static void print_limits(const struct row *c)
{
	static const struct {
		unsigned flag;
		const char *text;
	} texts[] = {{NEEDED, "needed"}, {POSITIVE, "not 0"}, {MSR, "msr"},
		     {PCI, "pci"},       {MMIO, "mmio"},      {CPUS, "pmu, perf"}};
	const char *comma = "";

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (c->flags & texts[i].flag) {
			printf("%s%s", comma, texts[i].text);
			comma = ", ";
		}
	if (strcmp(c->kind, "NUMBER") == 0 && c->limit)
		printf(c->limit < 1024 ? "%sup to %llu" : "%sup to 0x%llx", comma,
		       (unsigned long long)c->limit);
	if (strcmp(c->kind, "NUMBER") == 0 && c->fallback)
		printf(", default %d", c->fallback);
}

static void print_column(const struct row *c)
{
	printf("| `%s", c->name);
	if (!is_place(c))
		print_value(c);
	printf("` | ");
	print_limits(c);
	printf(" | ");
	if (strcmp(c->kind, "CHOICE") == 0) {
		putchar('`');
		print_words(word_list[c->limit]);
		printf("`%s", c->help[0] ? ": " : "");
	}
	printf("%s |\n", c->help);
}

/* The words of a statement that have a place, in their order; what is quoted stands last. */
static void print_statement(const struct row *s)
{
	printf("| **`%s", s->name);
	for (int quoted = 0; quoted < 2; quoted++)
		for (const struct row *c = s + 1; c < rows + N_ROWS && c->kind; c++)
			if (is_place(c) && (c->name[0] == '"') == quoted)
				printf(c->flags & NEEDED ? " %s" : " [%s]", c->name);
	if (s->flags & SETTINGS_TOO)
		printf(" FIELD=VALUE..");
	printf("`** | %s | %s |\n", s->flags & ONCE ? "once" : "", s->help);
}

void tablec_grammar(void)
{
	const char *file = "";

	for (const struct row *row = rows; row < rows + N_ROWS; row++) {
		if (!row->kind && strcmp(row->file, file) != 0) {
			file = row->file;
			printf("\n### %s\n\n| word | | what |\n|---|---|---|\n", file_name(file));
		}
		if (!row->kind)
			print_statement(row);
		else if (!is_place(row) || row->help[0])
			print_column(row);
	}
}
