/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of the tables as text, from the rows that the reader works by. */
#include "tablec.h"
#include "tables/table.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define F(name, value, text) name = value,
enum {
#include "reader/table_columns.inc"
};

#define F(name, value, text) {name, text},
static const struct {
	unsigned flag;
	const char *text; /* of a flag of columns */
} flags[] = {
#include "reader/table_columns.inc"
};

#define K(kind, value, want) kind,
enum kind {
#include "reader/table_columns.inc"
};

#define K(kind, value, want) {#kind, value},
static const struct {
	const char *name, *value; /* what stands behind `key` */
} kinds[] = {
#include "reader/table_columns.inc"
};

#define W(list, words) WORDS_##list,
enum word_list {
#include "reader/table_columns.inc"
};

#define W(list, words) words,
static const char *const word_list[] = {
#include "reader/table_columns.inc"
};

/* A statement, or one of its columns. */
struct row {
	const char *file; /* of a statement */
	enum kind kind;
	const char *name, *help;
	unsigned flags;
	uint64_t limit;
	int fallback;
};

#define S(file, name, flags, end, help) {#file, STATEMENT, #name, help, flags, 0, 0},
#define C(kind, name, member, flags, limit, fallback, help)                                        \
	{NULL, kind, name, help, flags, limit, fallback},
#define R(kind, name, flags, help) {NULL, kind, name, help, flags, 0, 0},
static const struct row rows[] = {
#include "reader/table_columns.inc"
};

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
		if (c->kind == STATEMENT)
			statement = c;
		else
			printf("%s %s %s %s %s\n",
			       strcmp(statement->file, "ANY") == 0 ? "*"
								   : file_name(statement->file),
			       statement->name, c->name, kinds[c->kind].name,
			       c->flags & NEEDED ? "needed" : "optional");
	}
}

/* ---- for people */

static bool is_place(const struct row *c)
{
	return c->name[0] < 'a';
}

static void print_words(const char *list)
{
	for (; *list; list++)
		fputs(*list == ' ' ? "`, `" : (char[]){*list, '\0'}, stdout);
}

static void print_limits(const struct row *c)
{
	const char *comma = "";

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].text[0] && (c->flags & flags[i].flag)) {
			printf("%s%s", comma, flags[i].text);
			comma = ", ";
		}
	if (c->kind == NUMBER && c->limit)
		printf(c->limit < 1024 ? "%sup to %llu" : "%sup to 0x%llx", comma,
		       (unsigned long long)c->limit);
	if (c->kind == NUMBER && c->fallback)
		printf(", default %d", c->fallback);
}

static void print_column(const struct row *c)
{
	printf("| `%s%s` | ", c->name, is_place(c) ? "" : kinds[c->kind].value);
	print_limits(c);
	printf(" | ");
	if (c->kind == CHOICE) {
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
		for (const struct row *c = s + 1; c < rows + N_ROWS && c->kind != STATEMENT; c++)
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
		if (row->kind == STATEMENT && strcmp(row->file, file) != 0) {
			file = row->file;
			printf("\n### %s\n\n| word | | what |\n|---|---|---|\n", file_name(file));
		}
		if (row->kind == STATEMENT)
			print_statement(row);
		else if (!is_place(row) || row->help[0])
			print_column(row);
	}
}
