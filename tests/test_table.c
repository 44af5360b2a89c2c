/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled tables: rows as the made-up ones say, names that formulas, groups and workloads have, texts. What the compiler
 * refuses: integration/tables.sh. */
#include <stdio.h>
#include <stdlib.h>

#include "built.h"
#include "encode/event.h"
#include "encode/metric.h"
#include "encode/name.h"
#include "made.h"
#include "sim_units.h"
#include "suite.h"

/* The workload that the simulator finds for made-up tables; NULL: their own. */
static const struct unc_workload *changed;

bool unc_workload_built(size_t index, struct unc_workload *out)
{
	size_t n = 0;

	while (made_workload_built(n, out) && n < index)
		n++;
	if (changed && index == 0) {
		*out = *changed;
		return true;
	}
	return made_workload_built(index, out) || REAL(unc_workload_built)(index - n, out);
}

static void good_tables(void)
{
	const struct unc_table *t = made_table("testcpu");

	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
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
	CHECK_TEXT(unc_tbl_str(t, t->group_item[1].text), "BOX.mixed:WR");
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
}

/* ---- names, which scripts/tables does not look up */

/* An item as it is stored: canonical, and it can be counted. */
static void check_item(const struct unc_table *t, const char *text)
{
	struct unc_error err = {0};
	char buf[UNC_SPEC_MAX] = "";
	struct unc_name name;
	struct unc_code code;

	if (unc_name_parse(t, text, &name, &err) == 0 && name.metric < 0)
		unc_spec_encode(t, &name.spec, 0, 2, &code, &err);
	if (!err.code)
		CHECK_NUMBER(unc_name_format(t, &name, buf, sizeof(buf)), 0);
	if (err.code || strcmp(buf, text) != 0 || unc_name_placed(&name)) {
		printf("# %s: item %s: %s%s\n", unc_tbl_str(t, t->name), text, err.text, buf);
		CU_FAIL("an item of groups.tbl is not what is to be written there");
	}
}

static void check_formula(const struct unc_table *t, unsigned metric)
{
	struct unc_error err = {0};
	struct unc_expr *expr;

	if (t->metric[metric].unavailable)
		return;
	if (unc_formula_parse(t, metric, NULL, NULL, &expr, &err) < 0) {
		printf("# %s: metric %s: %s\n", unc_tbl_str(t, t->name),
		       unc_tbl_str(t, t->metric[metric].name), err.text);
		CU_FAIL("a formula of metrics.tbl");
		return;
	}
	unc_expr_free(expr);
}

static void check_workload(const struct unc_table *t)
{
	struct unc_workload work;
	struct unc_error err = {0};
	struct unc_sim *sim;

	CU_ASSERT_PTR_NOT_NULL_FATAL(unc_sim_workload(t, &work));
	CU_ASSERT(work.n_load > 0);
	if (unc_sim_open(unc_tbl_str(t, t->name), "node", &t, 1, &sim, &err) < 0) {
		printf("# %s\n", err.text);
		CU_FAIL("workload.tbl");
		return;
	}
	unc_sim_close(sim);
}

static void compiled_names(void)
{
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	CU_ASSERT(n >= 2);
	for (size_t i = 0; i < n; i++) {
		for (unsigned k = 0; k < all[i]->n_metric; k++)
			check_formula(all[i], k);
		for (size_t k = 0; k < all[i]->n_group_item; k++)
			check_item(all[i], unc_tbl_str(all[i], all[i]->group_item[k].text));
		check_workload(all[i]);
	}
}

/* What is wrong in a workload is said when its machine is opened. */
static void wrong_names(void)
{
	static const struct {
		const char *event, *sentence;
	} rows[] = {
		{"box.MIXED:RW", "workload of testcpu: box.MIXED: no umask RW; nearest is RD"},
		{"box.MIXED:PART",
		 "workload of testcpu: box.MIXED: umask PART counts nothing alone; "
		 "add one that does"},
		{"box.MIXED:RD", ""},
	};
	const struct unc_table *t = made_table("testcpu");
	struct unc_tbl_load line = {.event = 1, .type = 0, .per_second = 1};
	struct unc_workload work;
	struct unc_sim *sim;
	char text[64] = "";

	CU_ASSERT_PTR_NOT_NULL_FATAL(unc_sim_workload(t, &work));
	work.strings = text;
	work.load = &line;
	work.n_load = 1;
	changed = &work;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_error err = {0};

		strcpy(text + 1, rows[i].event);
		const char *box = box_machine(t->cpuid->family, t->cpuid->models[0], 2);

		if (unc_sim_open(box, "node", &t, 1, &sim, &err) == 0)
			unc_sim_close(sim);
		unlink(box);
		CHECK_TEXT(err.text, rows[i].sentence);
	}
	changed = NULL;
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

/* What counter 0 of box0 counts in a second of the simulated machine of a made-up CPU. */
static uint64_t counted(const char *cpu, uint64_t control)
{
	struct unc_reg ctl = {.space = UNC_SPACE_MSR, .address = 0x102, .width = 64}, ctr = ctl;
	const struct unc_table *t = made_table(cpu);
	struct unc_error err = {0};
	const char *box;
	struct unc_sim *sim;
	char spec[80];

	ctr.address = 0x108;
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	box = box_machine(t->cpuid->family, t->cpuid->models[0], 2);
	snprintf(spec, sizeof(spec), "%s,clock=step", box);
	CU_ASSERT_EQUAL_FATAL(unc_sim_open(spec, "node", &t, 1, &sim, &err), 0);
	unlink(box);
	CU_ASSERT_EQUAL_FATAL(sim_units(sim, &err), 0);
	unc_sim_write(sim, unc_sim_find(sim, &ctl), control);
	unc_sim_step(sim, 1000000000);
	uint64_t count = unc_sim_read(sim, unc_sim_find(sim, &ctr));
	unc_sim_close(sim);
	return count;
}

/* Fields are known to the model by is=. CLOCKTICKS, code 0, counts 1e9 a second (workload.tbl): the
 * clocks with an increment of 1 are all, of 2 none, and there is no rise between them. */
static void renamed_fields(void)
{
	CHECK_NUMBER(counted("plain", 0x400000), 1000000000);
	CHECK_NUMBER(counted("plain", 0x1400000), 1000000000);
	CHECK_NUMBER(counted("plain", 0x1440000), 0);
	CHECK_NUMBER(counted("renamed", 0x1440000), 0);
	CHECK_NUMBER(counted("other", 0x1440000), 1000000000);
	CHECK_NUMBER(counted("threshold", 0x2400000), 0);
}

/* eventtables/README.md: an event without a row counts at a small rate of its own, code 0 too. */
static void without_a_row(void)
{
	uint64_t n = counted("rowless", 0x400000);

	CU_ASSERT(n > 0 && n <= 10000000);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"good tables are as they stand", good_tables},
		{"names in formulas, groups and workloads of all CPUs", compiled_names},
		{"a wrong name in a workload", wrong_names},
		{"docs/measuring.md defines the portable metrics as the tables do",
		 portable_in_text},
		{"what a field is does not hang on its name", renamed_fields},
		{"an event without a row counts, whatever its code", without_a_row},
		{NULL, NULL},
	};

	return suite_run("table", tests);
}
