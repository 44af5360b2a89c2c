/* SPDX-License-Identifier: BSD-3-Clause */
/* The strict reader: a good folder is read as it stands, broken ones are refused with the place. */
#include <stdio.h>
#include <stdlib.h>

#include "built.h"
#include "encode/metric.h"
#include "sim/sim.h"
#include "suite.h"
#include "reader/table_build.h"

enum { MAX_TEXT = 16384 };

static const char *const files[] = {
	"cpus.tbl",           "portable.tbl",        "groups.tbl",          "testcpu/units.tbl",
	"testcpu/box.events", "testcpu/metrics.tbl", "testcpu/workload.tbl"};

static void path_of(const char *name, char *buf, size_t size)
{
	const char *dir = getenv("SRCDIR");

	snprintf(buf, size, "%s/tests/tables_bad/%s", dir ? dir : ".", name);
}

static void read_text(const char *name, char *text)
{
	char path[1024];

	path_of(name, path, sizeof(path));
	FILE *f = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	text[fread(text, 1, MAX_TEXT - 1, f)] = '\0';
	fclose(f);
}

static const char *base_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* "\n" in a case stands for the end of a line. */
static void unescape(char *text)
{
	char *p = strstr(text, "\\n");

	if (p) {
		*p = '\n';
		memmove(p + 1, p + 2, strlen(p + 2) + 1);
	}
}

static void change(char *text, const char *find, const char *replace)
{
	char result[MAX_TEXT + 1024];
	char *at = find[0] ? strstr(text, find) : text + strlen(text);

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	snprintf(result, sizeof(result), "%.*s%s%s", (int)(at - text), text, replace,
		 at + strlen(find));
	strcpy(text, result);
}

/* Gives the good tables, with one change, to a reader. */
static struct unc_table_reader *reader_of(const char *file, const char *find, const char *replace)
{
	struct unc_table_reader *r;
	struct unc_error err = {0};
	char text[MAX_TEXT];

	CU_ASSERT_EQUAL_FATAL(unc_table_reader_new("testcpu", &r, &err), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char name[64];

		snprintf(name, sizeof(name), "good/%s", files[i]);
		read_text(name, text);
		if (strcmp(base_name(name), file) == 0)
			change(text, find, replace);
		CU_ASSERT_EQUAL(unc_table_reader_file(r, base_name(name), text, strlen(text), &err),
				0);
	}
	return r;
}

/* The sentence of the error with one change, or "". */
static void read_changed(const char *file, const char *find, const char *replace, char *sentence)
{
	struct unc_table_reader *r = reader_of(file, find, replace);
	const struct unc_table *t;
	struct unc_error err = {0};
	int rc = unc_table_reader_finish(r, &t, &err);

	strcpy(sentence, rc < 0 ? err.text : "");
	unc_table_reader_free(r);
}

static void good_tables(void)
{
	struct unc_table_set set;
	struct unc_error err = {0};
	char path[1024];

	path_of("good", path, sizeof(path));
	CHECK_NUMBER(unc_table_set_load(path, &set, &err), 0);
	CHECK_TEXT(err.text, "");
	const struct unc_table *t = set.table[0];
	CHECK_NUMBER(set.n, 1);
	CHECK_TEXT(unc_tbl_str(t, t->title), "Test CPU");
	CHECK_NUMBER(t->cpuid->n_models, 2);
	CHECK_NUMBER(t->n_type, 1);
	CHECK_NUMBER(t->n_event, 6); /* ELSEWHERE is of other CPUs, and so is its umask */
	CHECK_NUMBER(t->n_umask, 8);
	CHECK_NUMBER(t->n_metric, 5); /* BIT0 and BIT1 of one line */
	CHECK_TEXT(unc_tbl_str(t, t->metric[0].name), "llc_lookups"); /* portable: first */
	CHECK_TEXT(unc_tbl_str(t, t->metric[0].unit), "count");
	CHECK_TEXT(unc_tbl_str(t, t->metric[0].desc), "Reads that looked it up. Writes too.");
	CHECK_TEXT(unc_tbl_str(t, t->metric[1].name), "RATIO");
	CHECK_NUMBER(t->n_group, 2); /* one is of other CPUs, with its item; `!`: all but these */
	CHECK_TEXT(unc_tbl_str(t, t->group[0].name), "BOX");
	CHECK_NUMBER(t->group[0].items.n, 2);
	CHECK_TEXT(unc_tbl_str(t, t->group_item[1].text), "box.MIXED:WR");
	CHECK_TEXT(unc_tbl_str(t, t->group[1].desc), "and the rest");
	CHECK_NUMBER(t->group[1].items.first, 2);
	CHECK_NUMBER(t->group[1].items.n, 1);
	CHECK_TEXT(unc_tbl_str(t, t->group_item[2].text), "box.RATIO");
	CHECK_NUMBER(t->where[1].base, 0x120);
	CHECK_NUMBER(t->reg[t->type[0].first_ctl].write_mask, 0xff44ffff); /* fields and enable */
	CHECK_NUMBER(t->reg[t->type[0].first_ctr].write_mask, 0xfffffffffff);
	CHECK_NUMBER(t->bar[0].base_mask, 0x1fffffff);
	CHECK_NUMBER(t->bar[0].mask, 0x7ff);
	/* RD of MIXED and A of CHOICE do the same, and so do WR and B. */
	CHECK_NUMBER(t->umask[6].fields, t->umask[0].fields);
	CHECK_NUMBER(t->umask[7].fields, t->umask[1].fields);
	CHECK_NUMBER(t->set[t->fields[t->umask[6].fields].sets.first].value, 1);
	CHECK_NUMBER(t->set[t->fields[t->umask[7].fields].sets.first].value, 2);
	CHECK_NUMBER(t->n_fields, 6); /* of eight umasks */
	unc_table_set_free(&set);
}

/* Splits a line of the cases at " ;; "; an empty column is allowed. */
static int split_case(char *line, char *column[4])
{
	for (int i = 0; i < 4; i++) {
		char *end = strstr(line, ";;");

		column[i] = line;
		if (i < 3 && !end)
			return 0;
		if (i == 3)
			end = line + strlen(line);
		line = *end ? end + 2 : end;
		*end = '\0';
		while (*column[i] == ' ')
			column[i]++;
		while (end > column[i] && (end[-1] == ' ' || end[-1] == '\n'))
			*--end = '\0';
	}
	return 1;
}

/* What a program reads of the same: a metric or a group that is wrong cannot be had and says why, the
 * others are as they were. */
static void check_left_out(const char *file, const char *find, const char *replace,
			   const char *sentence)
{
	struct unc_table_reader *r = reader_of(file, find, replace);
	struct unc_wrong wrong = {.n = 0};
	const struct unc_table *t;
	struct unc_error err = {0};
	unsigned metrics = 0, groups = 0, say = 0;

	r->wrong = &wrong;
	CHECK_NUMBER(unc_table_reader_finish(r, &t, &err), 0);
	CHECK_TEXT(wrong.first.text, sentence);
	for (size_t i = 0; i < t->n_metric; i++) {
		metrics += !t->metric[i].unavailable;
		say += strcmp(unc_tbl_str(t, t->metric[i].unavailable), sentence) == 0;
	}
	for (size_t i = 0; i < t->n_group; i++) {
		groups += t->group[i].items.n > 0;
		say += strcmp(unc_tbl_str(t, t->group[i].unavailable), sentence) == 0;
		CU_ASSERT(!t->group[i].unavailable == (t->group[i].items.n > 0));
	}
	/* Of 4 metrics a line of two is wrong at most, or one and what another one computes with it. */
	CU_ASSERT(metrics >= 2 && metrics <= 4);
	/* Of two groups of one name neither may be what was meant. */
	bool fine = strcmp(file, "groups.tbl") != 0
			    ? groups == 2
			    : metrics == 4 && (groups >= 1 || strstr(sentence, "described twice"));

	if (!fine)
		printf("# %s: %u metrics, %u groups\n", sentence, metrics, groups);
	CU_ASSERT(fine);
	/* Without a name, or one that could be a metric's or a group's, nothing is there to say it. */
	CU_ASSERT(say == 1 || (say == 0 && (strstr(sentence, "no such unit type") ||
					    strstr(sentence, "group: ") ||
					    strstr(sentence, "letters, digits") ||
					    strstr(sentence, "before the first group") ||
					    strstr(sentence, "is not a statement"))));
	unc_table_reader_free(r);
}

static void broken_tables(void)
{
	char path[1024], line[1024], before[1024], sentence[UNC_ERROR_MAX], *column[4];
	unsigned rows = 0, left_out = 0;

	path_of("cases", path, sizeof(path));
	FILE *f = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	while (fgets(line, sizeof(line), f)) {
		strcpy(before, line);
		if (line[0] == '#' || line[0] == '\n')
			continue;
		CU_ASSERT_FATAL(split_case(line, column));
		unescape(column[1]);
		unescape(column[2]);
		read_changed(column[0], column[1], column[2], sentence);
		if (strcmp(sentence, column[3]) != 0)
			printf("# case: %s", before);
		CHECK_TEXT(sentence, column[3]);
		rows++;
		if (strcmp(column[0], "metrics.tbl") != 0 && strcmp(column[0], "groups.tbl") != 0)
			continue;
		check_left_out(column[0], column[1], column[2], column[3]);
		left_out++;
	}
	fclose(f);
	CU_ASSERT(rows >= 60);
	CU_ASSERT(left_out >= 36);
}

static void missing_file(void)
{
	struct unc_table_reader *r;
	const struct unc_table *t;
	struct unc_error err = {0};
	static const char cpus[] = "cpu testcpu \"T\" family=6 models=1 discovery=none\n";

	CU_ASSERT_EQUAL_FATAL(unc_table_reader_new("testcpu", &r, &err), 0);
	unc_table_reader_file(r, "cpus.tbl", cpus, sizeof(cpus) - 1, &err);
	CU_ASSERT_EQUAL(unc_table_reader_finish(r, &t, &err), UNC_ERR_TABLE);
	CHECK_TEXT(err.text, "testcpu: the file units.tbl is missing");
	CU_ASSERT_EQUAL(unc_table_reader_file(r, "x/cpus.tbl", cpus, 1, &err), UNC_ERR_TABLE);
	CHECK_TEXT(err.text, "x/cpus.tbl: given twice");
	unc_table_reader_free(r);
}

/* The sentence of the good tables with so many bars before their own, or "". */
static void read_bars(size_t n, char *sentence)
{
	static const char bar[] = "bar m id=1 device=0.1 base=0 base_bits=1:0 base_shift=0 at=0 "
				  "step=0 bits=1:0 shift=0 count=1 size=1\n";
	char *text = malloc(n * (sizeof(bar) - 1) + MAX_TEXT);
	struct unc_table_reader *r = reader_of("", "", "");
	const struct unc_table *t;
	struct unc_error err = {0};

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	for (size_t i = 0; i < n; i++)
		memcpy(text + i * (sizeof(bar) - 1), bar, sizeof(bar) - 1);
	read_text("good/testcpu/units.tbl", text + n * (sizeof(bar) - 1));
	free(r->file[3].text);
	r->file[3].text = text;
	r->file[3].size = strlen(text);
	strcpy(sentence, unc_table_reader_finish(r, &t, &err) < 0 ? err.text : "");
	unc_table_reader_free(r);
}

/* Indexes have 16 bits, of which the last number says "none". */
static void too_many_rows(void)
{
	char sentence[UNC_ERROR_MAX];

	read_bars(65533, sentence);
	CHECK_TEXT(sentence, "");
	read_bars(65534, sentence);
	CHECK_TEXT(sentence, "testcpu: more than 65534 rows of a kind");
}

static void unreadable_folder(void)
{
	struct unc_table_set set;
	struct unc_error err = {0};

	CU_ASSERT_EQUAL(unc_table_set_load("/nonexistent", &set, &err), UNC_ERR_IO);
	CHECK_TEXT(err.text, "/nonexistent/cpus.tbl: No such file or directory");
	unc_table_set_free(&set);
}

/* Every compiled-in table passes its own checks (tablec has run them; this is the data as linked).
 */
static void compiled_tables(void)
{
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	CU_ASSERT(n >= 2);
	for (size_t i = 0; i < n; i++) {
		for (unsigned k = 0; k < all[i]->n_metric; k++) {
			struct unc_expr *expr;

			if (all[i]->metric[k].unavailable)
				continue;
			CHECK_NUMBER(unc_formula_parse(all[i], k, NULL, NULL, &expr, NULL), 0);
			unc_expr_free(expr);
		}
	}
}

/* The README of the tables ends in what the compiler prints of the reader's rows. */
static void grammar_in_readme(void)
{
	const char *source = getenv("SRCDIR"), *build = getenv("BUILD");
	char command[4096], line[4096], printed[4096];
	unsigned lines = 0;

	snprintf(command, sizeof(command), "%s/eventtables/README.md", source ? source : ".");
	FILE *readme = fopen(command, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(readme);
	while (fgets(line, sizeof(line), readme) && strcmp(line, "<!-- grammar -->\n") != 0)
		;
	snprintf(command, sizeof(command), "%s/common/tool/tablec --grammar", build ? build : ".");
	FILE *grammar = popen(command, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(grammar);
	while (fgets(printed, sizeof(printed), grammar)) {
		CHECK_TEXT(fgets(line, sizeof(line), readme) ? line : "", printed);
		lines++;
	}
	CU_ASSERT(!fgets(line, sizeof(line), readme)); /* and in nothing else */
	CHECK_NUMBER(pclose(grammar), 0);
	CU_ASSERT(lines > 100);
	fclose(readme);
}

static const struct unc_tbl_metric *portable(const struct unc_table *t, const char *name)
{
	for (size_t i = 0; i < t->n_metric; i++)
		if (t->metric[i].type == UNC_NONE &&
		    strcmp(unc_tbl_str(t, t->metric[i].name), name) == 0)
			return &t->metric[i];
	return NULL;
}

/* What docs/measuring.md says of a portable metric, against a CPU, which may add to the definition. */
static void check_definition(const struct unc_table *t, const char *name, const char *unit,
			     const char *definition)
{
	const struct unc_tbl_metric *m = portable(t, name);
	size_t length = strlen(definition);

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	CHECK_TEXT(unc_tbl_str(t, m->unit), unit);
	const char *desc = unc_tbl_str(t, m->desc);
	if (strncmp(desc, definition, length) != 0 || (desc[length] && desc[length] != ' ')) {
		printf("# %s of %s: %s\n", name, unc_tbl_str(t, t->name), desc);
		CU_FAIL("docs/measuring.md says something else");
	}
}

/* Appends the words of a line, which goes on for an item of a list, to what stands in text. */
static void join_line(char *text, size_t size, const char *line)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%.*s", used > 0 ? " " : "", (int)strcspn(line, "\n"),
		 line);
}

/* The next item of a list, in one line: "- " begins one, two blanks go on with it. Empty behind the last. */
static void next_item(FILE *page, char *line, size_t line_size, char *item, size_t size)
{
	item[0] = '\0';
	if (strncmp(line, "- ", 2) != 0)
		return;
	do {
		join_line(item, size, line + 2);
		line[0] = '\0'; /* at the end of the page */
	} while (fgets(line, (int)line_size, page) && strncmp(line, "  ", 2) == 0);
}

static void portable_in_text(void)
{
	const char *source = getenv("SRCDIR");
	char path[1024], line[1024], item[1024], name[64], unit[64], definition[512];
	size_t n_tables, rows = 0;
	const struct unc_table *const *tables = built_tables(&n_tables);

	snprintf(path, sizeof(path), "%s/docs/measuring.md", source ? source : ".");
	FILE *page = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(page);
	while (fgets(line, sizeof(line), page) && strncmp(line, "- `", 3) != 0)
		;
	for (;; rows++) {
		next_item(page, line, sizeof(line), item, sizeof(item));
		if (!item[0])
			break;
		CHECK_NUMBER(sscanf(item, "`%63[^`]` (%63[^)]): %511[^\n]", name, unit, definition),
			     3);
		for (size_t i = 0; i < n_tables; i++)
			check_definition(tables[i], name, unit, definition);
	}
	fclose(page);
	CU_ASSERT(n_tables > 0);
	for (size_t i = 0; i < n_tables; i++) {
		size_t n = 0;

		for (size_t k = 0; k < tables[i]->n_metric; k++)
			n += tables[i]->metric[k].type == UNC_NONE;
		CHECK_NUMBER(rows, n);
	}
}

/* What counter 0 of box0 counts in a second of the simulated machine, by the changed tables. */
static uint64_t counted(const char *file, const char *find, const char *replace, uint64_t control)
{
	struct unc_table_reader *r = reader_of(file, find, replace);
	struct unc_reg ctl = {.space = UNC_SPACE_MSR, .address = 0x102, .width = 64}, ctr = ctl;
	const struct unc_table *t;
	struct unc_error err = {0};
	struct unc_sim *sim;

	ctr.address = 0x108;
	CU_ASSERT_EQUAL_FATAL(unc_table_reader_finish(r, &t, &err), 0);
	CU_ASSERT_EQUAL_FATAL(unc_sim_open("testcpu,clock=step", "node", &t, 1, &sim, &err), 0);
	unc_sim_write(sim, unc_sim_find(sim, &ctl), control);
	unc_sim_step(sim, 1000000000);
	uint64_t count = unc_sim_read(sim, unc_sim_find(sim, &ctr));
	unc_sim_close(sim);
	unc_table_reader_free(r);
	return count;
}

/* Fields are known to the model by is=. CLOCKTICKS, code 0, counts 1e9 a second (workload.tbl): the
 * clocks with an increment of 1 are all, of 2 none, and there is no rise between them. */
static void renamed_fields(void)
{
	static const char none[] = "field en CTL";

	CHECK_NUMBER(counted("units.tbl", none, none, 0x400000), 1000000000);
	CHECK_NUMBER(counted("units.tbl", none, none, 0x1400000), 1000000000);
	CHECK_NUMBER(counted("units.tbl", none, none, 0x1440000), 0);
	CHECK_NUMBER(counted("units.tbl", "field edge", "field rises", 0x1440000), 0);
	CHECK_NUMBER(counted("units.tbl", "user is=edge", "user is=other", 0x1440000), 1000000000);
	CHECK_NUMBER(counted("units.tbl", "is=threshold", "is=threshold default=1", 0x2400000), 0);
}

/* eventtables/README.md: an event without a row counts at a small rate of its own, code 0 too. */
static void without_a_row(void)
{
	uint64_t n = counted("workload.tbl", "rate box CLOCKTICKS \"clock\"", "", 0x400000);

	CU_ASSERT(n > 0 && n <= 10000000);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"good tables are read as they stand", good_tables},
		{"broken tables are refused with file, line and reason, or go without it",
		 broken_tables},
		{"a missing or repeated file", missing_file},
		{"more rows than indexes", too_many_rows},
		{"a folder that cannot be read", unreadable_folder},
		{"compiled tables", compiled_tables},
		{"the README has the grammar (renewed by make grammar)", grammar_in_readme},
		{"docs/measuring.md defines the portable metrics as the tables do",
		 portable_in_text},
		{"what a field is does not hang on its name", renamed_fields},
		{"an event without a row counts, whatever its code", without_a_row},
		{NULL, NULL},
	};

	return suite_run("table", tests);
}
