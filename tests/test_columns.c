/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every column of the tables' grammar decides something. What the reader needs, it must miss. Of
 * what may be left out, columns.cases says what is done with a CPU and what comes out: without the
 * column the same must come out no more, or the reader must refuse. The columns are those of
 * `tablec --columns`.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "columns_act.h"
#include "columns_strip.h"
#include "suite.h"

enum { TEXT = 8192, MAX_ROWS = 512, MAX_COLUMNS = 512 };

struct row {
	unsigned line;
	char item[128], machine[128], action[512], expected[512], without[512];
};

/* A line of `tablec --columns`. */
struct column {
	char statement[32];
	char name[33]; /* as in a line: "at=", "ro", "NAME", "\"TITLE\"" */
	char kind[16];
	bool needed;
	unsigned place; /* of the words that have one */
};

static struct row rows[MAX_ROWS];
static struct column columns[MAX_COLUMNS];
static size_t n_rows, n_columns;

static void __attribute__((format(printf, 2, 3)))
wrong(const struct row *row, const char *format, ...)
{
	va_list args;

	printf("# columns.cases:%u: %s: ", row->line, row->item);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	CU_FAIL("row");
}

/* ---- the grammar */

/* A word in capitals stands in a place. */
static bool has_place(const char *name)
{
	return isupper((unsigned char)name[0]) || name[0] == '=';
}

static bool read_columns(void)
{
	const char *build = getenv("BUILD");
	char command[512], line[256], needed[16], file[16];

	snprintf(command, sizeof(command), "'%s/common/tool/tablec' --columns",
		 build ? build : ".");
	FILE *f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f) && n_columns < MAX_COLUMNS) {
		struct column *c = &columns[n_columns], *before = n_columns ? c - 1 : NULL;

		if (sscanf(line, "%15s %31s %31s %15s %15s", file, c->statement, c->name, c->kind,
			   needed) != 5)
			break;
		if (strcmp(file, "site.tbl") == 0) /* of no folder: test_peak.c */
			continue;
		c->needed = strcmp(needed, "needed") == 0;
		if (!has_place(c->name) && c->name[0] != '"' && strcmp(c->kind, "FLAG") != 0)
			strcat(c->name, "=");
		if (before && strcmp(before->statement, c->statement) == 0)
			c->place = before->place;
		c->place += has_place(c->name);
		n_columns++;
	}
	return f && pclose(f) == 0 && n_columns > 100;
}

/* How the column is found in a line. */
static void look_of(const struct column *c, struct columns_item *item)
{
	if (c->name[0] == '"')
		strcpy(item->column, "\"");
	else if (has_place(c->name))
		item->place = strcmp(c->kind, "STEPS") == 0 ? COLUMNS_ALL_PLACES : c->place;
	else
		strcpy(item->column, c->name);
}

/* ---- what is needed */

static bool names(const char *sentence, const struct column *c)
{
	char name[33];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(c->name, "="), c->name);
	return !islower((unsigned char)*name) || strstr(sentence, name);
}

/* Of the first CPU that has it; the sentence must name it. */
static void check_needed(const struct column *c)
{
	struct columns_item item = {.column = ""};
	char got[TEXT] = "";
	const char *cpu, *folder = NULL;
	unsigned n = 0;

	look_of(c, &item);
	strcpy(item.statement, c->statement);
	for (size_t i = 0; n == 0 && (cpu = cases_cpu(i)) != NULL; i++) {
		n = columns_copy(cpu, &item, &folder);
		if (n)
			columns_act(cpu, folder, "-", got, sizeof(got));
	}
	if (strncmp(got, "tables: ", 8) != 0 || !names(got, c)) {
		printf("# %s without %s: %s\n", c->statement, c->name,
		       n ? *got ? got : "the tables are read all the same" : "no table has it");
		CU_FAIL("needed");
	}
}

static void needed_columns(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < n_columns; i++)
		if (columns[i].needed) {
			check_needed(&columns[i]);
			n++;
		}
	CU_ASSERT(n > 50);
}

/* ---- what may be left out */

/* Statements that take the columns of another one. */
static const char *as_for(const char *statement)
{
	static const char *const same[][2] = {{"part", "where"}, {"occupancy", "rate"}};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (strcmp(statement, same[i][0]) == 0)
			return same[i][1];
	return NULL;
}

static const struct column *find_column(const char *statement, const char *name)
{
	for (size_t i = 0; i < n_columns; i++)
		if (strcmp(columns[i].statement, statement) == 0 &&
		    strcmp(columns[i].name, name) == 0)
			return &columns[i];
	return as_for(statement) ? find_column(as_for(statement), name) : NULL;
}

/* The column of "STATEMENT.COLUMN ...", NULL: none of the grammar. */
static const struct column *column_of(const char *item)
{
	char statement[32], name[33];

	if (sscanf(item, "%31[^. ].%32s", statement, name) != 2)
		return NULL;
	return find_column(statement, name);
}

static void optional_columns(void)
{
	unsigned missing = 0;

	for (size_t i = 0; i < n_columns; i++) {
		bool found = columns[i].needed;

		for (size_t k = 0; k < n_rows && !found; k++) {
			const struct column *c = column_of(rows[k].item);

			found = c && strcmp(c->statement, columns[i].statement) == 0 &&
				strcmp(c->name, columns[i].name) == 0;
		}
		if (!found)
			printf("# columns.cases has no row for %s.%s\n", columns[i].statement,
			       columns[i].name);
		missing += !found;
	}
	CHECK_NUMBER(missing, 0);
}

/* "STATEMENT[.COLUMN] [as WORD] [with WORD] [of TYPE]" */
static bool read_item(const char *text, struct columns_item *item)
{
	char copy[128], *rest = NULL, *word, *value;
	const struct column *c = column_of(text);

	memset(item, 0, sizeof(*item));
	if (c)
		look_of(c, item);
	snprintf(copy, sizeof(copy), "%s", text);
	char *name = strtok_r(copy, " ", &rest), *dot = name ? strchr(name, '.') : NULL;
	if (!name || (dot && !c))
		return false;
	if (dot)
		*dot = '\0';
	snprintf(item->statement, sizeof(item->statement), "%s", name);
	while ((word = strtok_r(NULL, " ", &rest)) && (value = strtok_r(NULL, " ", &rest))) {
		if (strcmp(word, "with") == 0)
			snprintf(item->word, sizeof(item->word), "%s", value);
		else if (strcmp(word, "of") == 0)
			snprintf(item->type, sizeof(item->type), "%s", value);
		else if (strcmp(word, "as") == 0)
			snprintf(item->column, sizeof(item->column), "%s", value);
		else
			return false;
	}
	return !word;
}

/* What comes out with the tables as they are: what the document says. */
static void check_with(const struct row *row)
{
	char got[TEXT] = "";

	columns_act(row->machine, "", row->action, got, sizeof(got));
	if (!cases_match(got, row->expected))
		wrong(row, "got\n#  \"%s\"\n# want\n#  \"%s\"", got, row->expected);
}

/* Without the column: what the row says, or anything else that is no refusal of the tables. */
static void check_without(const struct row *row, const struct columns_item *item)
{
	char got[TEXT] = "", cpu[64];
	const char *folder;
	bool differs = strcmp(row->without, "-") == 0;

	snprintf(cpu, sizeof(cpu), "%.*s", (int)strcspn(row->machine, ","), row->machine);
	if (columns_copy(cpu, item, &folder) == 0) {
		wrong(row, "the tables of %s have no such thing", cpu);
		return;
	}
	columns_act(row->machine, folder, row->action, got, sizeof(got));
	bool refused = strncmp(got, "tables: ", 8) == 0;
	if (differs && (refused || cases_match(got, row->expected)))
		wrong(row, "without it\n#  \"%s\"\n# comes out%s", got,
		      refused ? ": the row must say so" : ", as with it");
	if (!differs && !cases_match(got, row->without))
		wrong(row, "without it\n#  \"%s\"\n# comes out, want\n#  \"%s\"", got,
		      row->without);
}

/* Nothing reads it: the tables are taken without it. */
static void check_comment(const struct row *row, const struct columns_item *item)
{
	char got[TEXT] = "";
	const char *folder;

	if (columns_copy(row->machine, item, &folder) == 0)
		wrong(row, "the tables of %s have no such thing", row->machine);
	columns_act(row->machine, folder, "-", got, sizeof(got));
	if (*got)
		wrong(row, "it is read: %s", got);
}

static void run_row(const void *user)
{
	const struct row *row = user;
	struct columns_item item;

	if (!read_item(row->item, &item)) {
		wrong(row, "is no statement or column of the grammar");
	} else if (strcmp(row->action, "comment") == 0) {
		check_comment(row, &item);
	} else if (strcmp(row->action, "-") == 0 && strncmp(row->without, "tables: ", 8) != 0) {
		wrong(row, "an action is missing");
	} else {
		if (strcmp(row->action, "-") != 0)
			check_with(row);
		check_without(row, &item);
	}
}

static void take_row(void *user, const struct cases_row *c)
{
	(void)user;
	if (n_rows == MAX_ROWS)
		return;
	struct row *row = &rows[n_rows++];

	row->line = c->line;
	snprintf(row->item, sizeof(row->item), "%s", c->field[0]);
	snprintf(row->machine, sizeof(row->machine), "%s", c->field[1]);
	snprintf(row->action, sizeof(row->action), "%s", c->field[2]);
	snprintf(row->expected, sizeof(row->expected), "%s", c->field[3]);
	snprintf(row->without, sizeof(row->without), "%s", c->field[4]);
	suite_add(run_row, row, "%s, %s", row->item, row->machine);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"what is needed is missed", needed_columns},
		{"what may be left out has a row", optional_columns},
		{NULL, NULL},
	};

	if (!read_columns() || cases_read("columns.cases", take_row, NULL) < 0) {
		printf("Bail out! tablec --columns says nothing, or there are no cases\n");
		return 99;
	}
	int status = suite_run("columns", tests);
	columns_end();
	return status;
}
