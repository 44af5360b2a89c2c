/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each factor of each portable metric is noticed by a row of tests/metrics/CPU.cases, whose value is worked out by a source.
 *
 * Of the formulas of the portable metrics, and of those that they name, one thing is changed at a time: a number, an event or a
 * metric is halved or doubled, a term of a sum is dropped, sum() or mean() is taken away. A row of that metric must then fail: one
 * of the CPU, or of one that it is `like` and shares the formula with.
 */
#include "cases.h"
#include "metric_rows.h"
#include "suite.h"

#include <ctype.h>
#include <stdio.h>

enum {
	CPUS = 64,
	ROWS = 512,
	ALIKE = 4,
	PARTS = 64,
	TERMS = 32,
	FORMULA = 4096,
	SPARE = 2 * FORMULA
};

struct example {
	char *metric, *counts;
	double value;
};

/* A CPU, its rows, and a copy of its table of which one formula is another one. */
struct world {
	const char *cpu;
	struct unc_platform *platform;
	struct unc_table table; /* the platform's is this one */
	struct unc_tbl_metric *metric;
	char *strings;
	size_t spare; /* where the changed formula stands */
	struct example row[ROWS];
	size_t n_rows;
	char *like[ALIKE];
	size_t n_like;
	bool tried[ROWS]; /* metrics */
	unsigned changes, missed;
};

static struct world world[CPUS];
static size_t n_worlds;

static struct world *world_of(const char *cpu)
{
	for (size_t i = 0; i < n_worlds; i++)
		if (strcmp(world[i].cpu, cpu) == 0)
			return &world[i];
	return NULL;
}

static const char *formula_of(const struct world *w, unsigned metric)
{
	return unc_tbl_str(&w->table, w->metric[metric].formula);
}

/* ---- the parts of a formula */

struct part {
	size_t begin, end;
};

struct formula {
	const char *text;
	const char *at;
	struct part factor[PARTS];
	size_t n_factors;
	struct sum {
		struct part term[TERMS];
		size_t n;
	} sum[PARTS];
	size_t n_sums;
};

static void read_sum(struct formula *);

static char peek(struct formula *f)
{
	while (isspace((unsigned char)*f->at))
		f->at++;
	return *f->at;
}

static bool accept(struct formula *f, char c)
{
	if (peek(f) != c)
		return false;
	f->at++;
	return true;
}

static void add_factor(struct formula *f, const char *begin)
{
	CU_ASSERT_FATAL(f->n_factors < PARTS);
	f->factor[f->n_factors++] =
		(struct part){(size_t)(begin - f->text), (size_t)(f->at - f->text)};
}

static bool takes_event(const char *name)
{
	return strncmp(name, "sum", 3) == 0 || strncmp(name, "mean", 4) == 0 ||
	       strncmp(name, "optional", 8) == 0;
}

/* The parenthesis has been taken. What takes an event is one factor with it. */
static void read_arguments(struct formula *f, const char *name)
{
	if (takes_event(name)) {
		f->at += strcspn(f->at, ")") + 1;
		add_factor(f, name);
		return;
	}
	do {
		read_sum(f);
	} while (accept(f, ','));
	CU_ASSERT_FATAL(accept(f, ')'));
}

static void read_value(struct formula *f)
{
	char c = peek(f), *end;
	const char *begin = f->at;

	if (accept(f, '-')) {
		read_value(f);
	} else if (accept(f, '(')) {
		read_sum(f);
		CU_ASSERT_FATAL(accept(f, ')'));
	} else if (isdigit((unsigned char)c)) {
		strtod(begin, &end);
		f->at = end;
		add_factor(f, begin);
	} else {
		while (isalnum((unsigned char)*f->at) || (*f->at && strchr("_.:=|[]", *f->at)))
			f->at++;
		CU_ASSERT_FATAL(f->at > begin);
		if (accept(f, '('))
			read_arguments(f, begin);
		else
			add_factor(f, begin);
	}
}

/* A term begins with its sign, but for the first. */
static void read_sum(struct formula *f)
{
	struct sum sum = {.n = 0};
	const char *begin = f->at;

	peek(f);
	begin = f->at;
	do {
		read_value(f);
		while (accept(f, '*') || accept(f, '/'))
			read_value(f);
		CU_ASSERT_FATAL(sum.n < TERMS);
		sum.term[sum.n++] =
			(struct part){(size_t)(begin - f->text), (size_t)(f->at - f->text)};
		peek(f);
		begin = f->at;
	} while (accept(f, '+') || accept(f, '-'));
	if (sum.n > 1) {
		CU_ASSERT_FATAL(f->n_sums < PARTS);
		f->sum[f->n_sums++] = sum;
	}
}

static void read_formula(struct formula *f, const char *text)
{
	*f = (struct formula){.text = text, .at = text};
	read_sum(f);
	CU_ASSERT_FATAL(peek(f) == '\0');
}

/* ---- what the rows say of a changed formula */

static bool row_fails(struct world *w, unsigned metric, const struct example *row)
{
	char *counts = strdup(row->counts);
	struct row_counts c;
	double got;
	bool fails = row_read(counts, &c) < 0 ||
		     unc_metric_eval(w->platform, row->metric, c.count, c.n, sizeof(*c.count),
				     &got) < 0 ||
		     !row_equals(got, row->value) || row_misread(&w->table, metric, &c) != NULL;

	free(counts);
	return fails;
}

/* NULL for `changed`: the formula as it is. */
static bool notices(struct world *w, unsigned metric, const char *name, const char *changed)
{
	unc_str kept = w->metric[metric].formula;
	const char *formula = formula_of(w, metric);
	bool found = false;

	if (changed) {
		CU_ASSERT_FATAL(strlen(changed) < SPARE);
		strcpy(w->strings + w->spare, changed);
		w->metric[metric].formula = (unc_str)w->spare;
	}
	for (size_t i = 0; i < w->n_rows && !found; i++)
		found = strcmp(w->row[i].metric, name) == 0 && row_fails(w, metric, &w->row[i]);
	w->metric[metric].formula = kept;
	for (size_t i = 0; i < w->n_like && !found; i++) {
		struct world *other = world_of(w->like[i]);
		int its = other ? unc_metric_index(&other->table, name) : -1;

		found = its >= 0 && !other->metric[its].unavailable &&
			strcmp(formula_of(other, (unsigned)its), formula) == 0 &&
			notices(other, (unsigned)its, name, changed);
	}
	return found;
}

struct trial {
	struct world *world;
	unsigned metric;
	const char *name;
	struct formula formula;
};

static void must_notice(struct trial *t, const char *what, const struct part *part,
			const char *changed)
{
	t->world->changes++;
	if (notices(t->world, t->metric, t->name, changed))
		return;
	t->world->missed++;
	printf("# %s: no row of it in metrics/%s.cases notices that '%.*s' is %s\n", t->name,
	       t->world->cpu, (int)(part->end - part->begin), t->formula.text + part->begin, what);
}

/* The formula with another text in place of a part. */
static void replace(struct trial *t, const char *what, const struct part *part, const char *by)
{
	char changed[SPARE];

	snprintf(changed, sizeof(changed), "%.*s%s%s", (int)part->begin, t->formula.text, by,
		 t->formula.text + part->end);
	must_notice(t, what, part, changed);
}

static void change_factor(struct trial *t, const struct part *part)
{
	const char *text = t->formula.text + part->begin;
	int n = (int)(part->end - part->begin);
	char by[FORMULA];

	snprintf(by, sizeof(by), "(%.*s / 2)", n, text);
	replace(t, "halved", part, by);
	snprintf(by, sizeof(by), "(%.*s * 2)", n, text);
	replace(t, "doubled", part, by);
	if (strncmp(text, "sum(", 4) != 0 && strncmp(text, "mean(", 5) != 0)
		return;
	const char *event = memchr(text, '(', (size_t)n);
	snprintf(by, sizeof(by), "%.*s", (int)(text + n - event) - 2, event + 1);
	replace(t, "as its event says", part, by);
}

/* Of the first term the sign of the second stays, if it is a minus. */
static void drop_term(struct trial *t, const struct sum *sum, size_t term)
{
	struct part part = sum->term[term];

	if (term == 0) {
		part.end = sum->term[1].begin;
		part.end += t->formula.text[part.end] == '+';
	}
	replace(t, "dropped", &part, "");
}

/* ---- the CPUs */

static void try_metric(struct world *w, unsigned metric, const char *name)
{
	struct trial t = {w, metric, name, {NULL}};

	if (w->tried[metric] || w->metric[metric].unavailable)
		return;
	w->tried[metric] = true;
	read_formula(&t.formula, formula_of(w, metric));
	for (size_t i = 0; i < t.formula.n_factors; i++) {
		const struct part *part = &t.formula.factor[i];
		char other[FORMULA];

		change_factor(&t, part);
		snprintf(other, sizeof(other), "%.*s", (int)(part->end - part->begin),
			 t.formula.text + part->begin);
		int named = unc_metric_index(&w->table, other);
		if (named >= 0)
			try_metric(w, (unsigned)named, other);
	}
	for (size_t i = 0; i < t.formula.n_sums; i++)
		for (size_t k = 0; k < t.formula.sum[i].n; k++)
			drop_term(&t, &t.formula.sum[i], k);
	if (notices(w, metric, name, NULL)) {
		printf("# %s: a row of it fails as it is\n", name);
		w->missed++;
	}
}

static void test_factors(const void *user)
{
	struct world *w = world_of(user);
	unsigned portable = 0;

	for (unsigned i = 0; i < w->table.n_metric; i++)
		if (w->metric[i].type == UNC_NONE) {
			try_metric(w, i, unc_tbl_str(&w->table, w->metric[i].name));
			portable += !w->metric[i].unavailable;
		}
	printf("# %s: %u portable metrics, %u changes\n", w->cpu, portable, w->changes);
	CHECK_NUMBER(w->missed, 0);
	CU_ASSERT(portable >= 8 && w->changes >= 4 * portable);
}

static void keep_row(void *user, const struct cases_row *row)
{
	struct world *w = user;
	char *end;

	if (strcmp(row->field[0], "like") == 0 && w->n_like < ALIKE)
		w->like[w->n_like++] = strdup(row->field[1]);
	double value = strtod(row->field[2], &end);
	if (row->n < 4 || end == row->field[2] || *end)
		return;
	if (w->n_rows == ROWS)
		abort();
	w->row[w->n_rows++] = (struct example){strdup(row->field[0]), strdup(row->field[1]), value};
}

static void open_world(const char *cpu)
{
	struct unc_options options = {.size = sizeof(options), .cpu = cpu, .sim = ""};
	struct world *w = &world[n_worlds++];
	char file[64];

	w->cpu = cpu;
	snprintf(file, sizeof(file), "metrics/%s.cases", cpu);
	if (n_worlds == CPUS || unc_platform_open(&options, &w->platform) != 0 ||
	    cases_read(file, keep_row, w) < 0)
		abort();
	w->table = *w->platform->table;
	w->spare = w->table.n_strings;
	w->strings = malloc(w->spare + SPARE);
	w->metric = malloc(w->table.n_metric * sizeof(*w->metric));
	if (!w->strings || !w->metric || w->table.n_metric > ROWS)
		abort();
	memcpy(w->strings, w->table.strings, w->spare);
	memcpy(w->metric, w->table.metric, w->table.n_metric * sizeof(*w->metric));
	w->table.strings = w->strings;
	w->table.metric = w->metric;
	w->platform->table = &w->table;
	suite_add(test_factors, cpu, "factors of %s", cpu);
}

static void close_world(struct world *w)
{
	unc_platform_close(w->platform);
	for (size_t i = 0; i < w->n_rows; i++) {
		free(w->row[i].metric);
		free(w->row[i].counts);
	}
	for (size_t i = 0; i < w->n_like; i++)
		free(w->like[i]);
	free(w->strings);
	free(w->metric);
}

int main(void)
{
	const char *cpu;

	for (size_t i = 0; (cpu = cases_cpu(i)) != NULL; i++)
		open_world(cpu);
	int status = suite_run("factors", NULL);
	for (size_t i = 0; i < n_worlds; i++)
		close_world(&world[i]);
	return status;
}
