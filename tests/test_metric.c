/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas. Expected values follow from arithmetic alone. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "encode/expr.h"
#include "suite.h"
#include "base/text.h"

static const struct {
	const char *name, *formula;
} metrics[] = {
	{"lines", "1.2e8"},
	{"imc.MEM_BW_READS", "imc.CAS_COUNT:RD * 64"},
	{"memory_read_bytes", "imc.MEM_BW_READS"},
	{"both", "memory_read_bytes + imc.CAS_COUNT:WR * 64"},
	{"self", "1 + self"},
	{"a", "b + 1"},
	{"b", "2 * c"},
	{"c", "a"},
	{"broken", "1 +"},
	{"holds_broken", "2 * broken"},
	{"unknown_event", "2 + imc.NOTHING"},
	{"g0", "1+1"},
	{"g1", "g0+g0+g0+g0"},
	{"g2", "g1+g1+g1+g1"},
	{"g3", "g2+g2+g2+g2"},
	{"g4", "g3+g3+g3+g3"},
	{"g5", "g4+g4+g4+g4"},
	{"g6", "g5+g5+g5+g5"},
	{"g7", "g6+g6+g6+g6"},
};

/* d1 names d2, that d3 and so on; d65 is a number. */
static const char *next_deeper(const char *name)
{
	static char text[66][16];
	int n = atoi(name + 1);

	if (n < 1 || n >= 65)
		return "1";
	snprintf(text[n], sizeof(text[n]), "d%d", n + 1);
	return text[n];
}

static const char *formula(void *user, const char *name)
{
	(void)user;
	if (name[0] == 'd' && name[1] >= '0' && name[1] <= '9')
		return next_deeper(name);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		if (unc_same(metrics[i].name, name))
			return metrics[i].formula;
	return NULL;
}

/* Events known here, each in the spelling that is canonical. */
static int canonical(void *user, const char *text, char *buf, size_t size, struct unc_error *err)
{
	static const char *const events[] = {
		"imc.CAS_COUNT:RD",
		"imc.CAS_COUNT:WR",
		"imc.DCLK",
		"imc3.CAS_COUNT:RD:socket=0",
		"cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182:nid=local",
		"cha.TOR_OCCUPANCY:IA_MISS_DRD:thresh=1",
	};

	(void)user;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (unc_same(events[i], text)) {
			snprintf(buf, size, "%s", events[i]);
			return 0;
		}
	return unc_fail(err, UNC_ERR_NOT_FOUND, "%s: no such event", text);
}

static const struct unc_expr_env env = {.formula = formula, .canonical = canonical};
static const struct unc_expr_vars vars = {.time = 2.5, .tsc = 5e9, .tsc_hz = 2e9};

/* Parses and evaluates with counts 10, 20, ... for the references in order. */
static int evaluate(const char *text, double *out, struct unc_error *err)
{
	static const double counts[] = {10, 20, 30, 40};
	struct unc_expr *e = NULL;
	int rc = unc_expr_parse(text, &env, &e, err);

	if (rc == 0)
		rc = unc_expr_eval(e, counts, &vars, out) ? UNC_ERR_RANGE : 0;
	unc_expr_free(e);
	return rc;
}

static void check_value(const char *text, double want)
{
	struct unc_error err = {0, ""};
	double got = -12345;
	int rc = evaluate(text, &got, &err);

	if (rc != 0 || got != want)
		printf("# %s: got %d, %.17g (%s), want %.17g\n", text, rc, got, err.text, want);
	CU_ASSERT(rc == 0 && got == want);
}

static void check_error(const char *text, int code, const char *sentence)
{
	struct unc_error err = {0, ""};
	double got = -12345;
	int rc = evaluate(text, &got, &err);

	if (rc != code)
		printf("# %s: got %d, want %d\n", text, rc, code);
	CU_ASSERT(rc == code);
	CU_ASSERT(got == -12345);
	CHECK_TEXT(err.text, sentence);
}

static void test_arithmetic(void)
{
	check_value("7", 7);
	check_value("1 + 2 * 3", 7);
	check_value("(1 + 2) * 3", 9);
	check_value("10 - 4 - 3", 3);
	check_value("100 / 5 / 2", 10);
	check_value("2 * 3 / 4", 1.5);
	check_value("8 / 4 * 2", 4);
	check_value("-3 + 5", 2);
	check_value("2 - -3", 5);
	check_value("2 * -(1 + 2)", -6);
	check_value("--4", 4);
	check_value(" \t1\n+1 ", 2);
}

static void test_numbers(void)
{
	check_value("0x10", 16);
	check_value("0XfF", 255);
	check_value("1.5", 1.5);
	check_value(".25", .25);
	check_value("3.", 3);
	check_value("1.2e8", 1.2e8);
	check_value("5E-3", 5e-3);
	check_value("2e+2", 200);
	check_value("1e3-1", 999);
	check_value("010", 10);
	check_value("0", 0);
}

static void test_functions(void)
{
	check_value("round(2.5)", 3);
	check_value("round(-2.5)", -3);
	check_value("round(2.4 + 0.05)", 2);
	check_value("max(2, 3)", 3);
	check_value("max(3, 2)", 3);
	check_value("min(2, 1 + 3) + 1", 3);
	check_value("max(min(9, 4), (2))", 4);
	check_value("max (1, 2)", 2);
	check_value("positive(2 - 1) * 3", 3);
	check_value("positive(1 - 1)", 0);
}

static void test_variables(void)
{
	check_value("TIME", 2.5);
	check_value("TSC / TSC_HZ", 2.5);
	check_value("TSC / TIME", 2e9);
}

static void test_events(void)
{
	check_value("imc.CAS_COUNT:RD * 64", 640);
	check_value("imc.cas_count:rd*64/TIME", 256);
	check_value("imc3.CAS_COUNT:RD:socket=0/imc.DCLK", 0.5);
	check_value("cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182:nid=local+1", 11);
	check_value("cha.TOR_OCCUPANCY:IA_MISS_DRD:thresh=1-1", 9);
	check_value("imc.CAS_COUNT:RD + imc.CAS_COUNT:WR * imc.CAS_COUNT:RD", 10 + 20 * 10);
	check_value("mean(imc.DCLK) + sum(imc.DCLK) + imc.DCLK", 60);
}

static void test_metrics(void)
{
	check_value("lines / 16", 1.2e8 / 16);
	check_value("imc.MEM_BW_READS", 640);
	check_value("2 * MEMORY_READ_BYTES", 1280);
	check_value("both", 640 + 20 * 64);
	check_value("both / both", 1);
	check_value("g4", 2 * 256);
}

/* Equal references are one; an aggregate makes another. */
static void test_references(void)
{
	static const struct unc_expr_ref want[] = {
		{"imc.CAS_COUNT:RD", UNC_EXPR_AS_EVENT},
		{"imc.DCLK", UNC_EXPR_SUM},
		{"imc.DCLK", UNC_EXPR_MEAN},
		{"imc.DCLK", UNC_EXPR_AS_EVENT},
	};
	struct unc_expr *e = NULL;
	int rc = unc_expr_parse("imc.cas_count:rd / sum(imc.dclk) + memory_read_bytes + "
				"mean( imc.DCLK ) + imc.Dclk - sum(imc.DCLK)",
				&env, &e, NULL);

	CU_ASSERT_FATAL(rc == 0);
	CHECK_NUMBER(unc_expr_refs(e), 4);
	for (size_t i = 0; i < 4 && i < unc_expr_refs(e); i++) {
		CHECK_TEXT(unc_expr_ref(e, i)->event, want[i].event);
		CU_ASSERT(unc_expr_ref(e, i)->aggregate == want[i].aggregate);
	}
	CU_ASSERT(unc_expr_ref(e, 4) == NULL);
	unc_expr_free(e);
	unc_expr_free(NULL);
}

static void test_bad_syntax(void)
{
	static const struct {
		const char *text, *sentence;
	} rows[] = {
		{"", "column 1: a value is missing at the end"},
		{"  ", "column 3: a value is missing at the end"},
		{"1 +", "column 4: a value is missing at the end"},
		{"1 + * 2", "column 5: a value is missing before '* 2'"},
		{"+1", "column 1: a value is missing before '+1'"},
		{"(1 + 2", "column 7: ')' is missing at the end"},
		{"(1 + 2 3)", "column 8: ')' is missing before '3)'"},
		{"1 2", "column 3: unexpected '2'"},
		{"1)", "column 2: unexpected ')'"},
		{"2 % 3", "column 3: unexpected '% 3'"},
		{"()", "column 2: a value is missing before ')'"},
		{"2x", "column 1: '2x' is not a number"},
		{"1 + 0x", "column 5: '0x' is not a number"},
		{"0xg", "column 1: '0xg' is not a number"},
		{"1e", "column 1: '1e' is not a number"},
		{"1.2.3", "column 1: '1.2.3' is not a number"},
		{".", "column 1: '.' is not a number"},
		{"2 * 1e999", "column 5: number 1e999 is too large"},
		{"max(1)", "column 6: ',' is missing before ')'"},
		{"max(1, 2, 3)", "column 9: ')' is missing before ', 3)'"},
		{"round()", "column 7: a value is missing before ')'"},
		{"sum(1)", "column 5: sum() takes the name of an event"},
		{"mean()", "column 6: mean() takes the name of an event"},
		{"sum(imc.DCLK + 1)", "column 14: ')' is missing before '+ 1)'"},
		{"1 + sqrt(2)", "column 5: no function sqrt; there are round, max, min, positive, "
				"sum, mean and optional"},
		{"1 + holds_broken",
		 "column 5: metric holds_broken: column 5: metric broken: column 4: "
		 "a value is missing at the end"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_error(rows[i].text, UNC_ERR_INVALID, rows[i].sentence);
}

static void test_unknown_names(void)
{
	check_error("1 + nothing", UNC_ERR_NOT_FOUND, "column 5: nothing: no such event");
	check_error("sum(lines)", UNC_ERR_NOT_FOUND, "column 5: lines: no such event");
	check_error("2 * unknown_event", UNC_ERR_NOT_FOUND,
		    "column 5: metric unknown_event: column 5: imc.NOTHING: no such event");
	check_error("time", UNC_ERR_NOT_FOUND, "column 1: time: no such event");
}

/* A formula needs the C locale, and memory for it. */
static bool no_locale;
locale_t newlocale(int mask, const char *name, locale_t base)
{
	return no_locale ? (locale_t)0 : REAL(newlocale)(mask, name, base);
}

static void test_no_memory(void)
{
	no_locale = true;
	check_error("1", UNC_ERR_MEMORY, "out of memory");
	no_locale = false;
	check_value("1", 1);
}

static void test_cycles(void)
{
	check_error("1 + self", UNC_ERR_INVALID, "column 5: metric self refers to itself");
	check_error("a", UNC_ERR_INVALID, "column 1: metric a refers to itself through c");
	check_error("3 * c", UNC_ERR_INVALID, "column 5: metric c refers to itself through b");
}

/* `head` n times, then "1", then `tail` n times. */
static char *nest(const char *head, const char *tail, size_t n)
{
	char *text = malloc(n * (strlen(head) + strlen(tail)) + 2);
	char *p = text;

	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, head);
	p = stpcpy(p, "1");
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, tail);
	return text;
}

static void check_nest(const char *head, const char *tail, size_t n, const char *sentence)
{
	char *text = nest(head, tail, n);

	if (sentence)
		check_error(text, UNC_ERR_INVALID, sentence);
	else
		check_value(text, 1);
	free(text);
}

static void test_limits(void)
{
	char name[600];

	check_nest("(", ")", 64, NULL);
	check_nest("(", ")", 65, "column 65: nested too deeply (at most 64 levels)");
	check_nest("(", "", 100000, "column 65: nested too deeply (at most 64 levels)");
	check_nest("-", "", 64, NULL);
	check_nest("-", "", 100000, "column 65: nested too deeply (at most 64 levels)");
	check_nest("round(", ")", 65, "column 390: nested too deeply (at most 64 levels)");
	check_nest("1*(", ")", 63, NULL);
	check_nest("1*(", ")", 64, "column 193: too many values at once (at most 64)");
	check_nest("0+1*(", ")", 40, "column 161: too many values at once (at most 64)");
	check_nest("0+", "", 8191, NULL);
	check_nest("0+", "", 8192,
		   "column 16386: too long with the metrics it names put in "
		   "(at most 16384 operations)");
	check_value("d2", 1);
	struct unc_error err = {0, ""};
	double x;
	CU_ASSERT(evaluate("d1", &x, &err) ==
		  UNC_ERR_INVALID); /* the 65th level; no room for its sentence */
	/* g6 needs 8191 operations, four of them in g7 are too many. */
	check_value("g6", 2 * 4096);
	CU_ASSERT(evaluate("g7", &x, &err) == UNC_ERR_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "too long with the metrics"));
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	check_error(name, UNC_ERR_INVALID, "column 1: name longer than 255 characters");
}

/* A result that is no number is an error, also where a later operation would hide it. */
static void test_not_a_number(void)
{
	check_error("1 / 0", UNC_ERR_RANGE, "");
	check_error("0 / (2 - 2)", UNC_ERR_RANGE, "");
	check_error("max(1, 0 / 0)", UNC_ERR_RANGE, "");
	check_error("1 / (1 / 0)", UNC_ERR_RANGE, "");
	check_error("imc.DCLK / (imc.CAS_COUNT:RD - 20)", UNC_ERR_RANGE, "");
	check_error("1e300 * 1e300", UNC_ERR_RANGE, "");
	check_error("positive(1 - 2)", UNC_ERR_RANGE, "");
	check_error("max(positive(1 - 2), 3)", UNC_ERR_RANGE, "");
}

/* Why there is no value: the first reason in the formula. */
static void test_why(void)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"1 / 2", NULL},
		{"1 / (imc.DCLK - 10)", "the denominator is 0"},
		{"0 / 0", "the denominator is 0"},
		{"1e300 * 1e300", "the result overflows"},
		{"1e300 / 1e-300", "the result overflows"},
		{"1e300 * 1e300 / 0", "the result overflows"},
		{"positive(imc.DCLK - 11)",
		 "the result is negative, which is impossible for counts of one time"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_error err = {0, ""};
		static const double counts[] = {10};
		struct unc_expr *e = NULL;

		CU_ASSERT_FATAL(unc_expr_parse(rows[i].text, &env, &e, &err) == 0);
		double value;
		const char *why = unc_expr_eval(e, counts, &vars, &value);

		CHECK_TEXT(why ? why : "-", rows[i].why ? rows[i].why : "-");
		unc_expr_free(e);
	}
}

/* Which variables a formula uses, wherever they stand. */
static void test_uses(void)
{
	struct unc_error err = {0, ""};
	struct unc_expr *e = NULL;

	CU_ASSERT_FATAL(unc_expr_parse("imc.DCLK / max(TIME, TSC * 2)", &env, &e, &err) == 0);
	CHECK_NUMBER(unc_expr_uses(e), UNC_EXPR_TIME | UNC_EXPR_TSC);
	unc_expr_free(e);
	CU_ASSERT_FATAL(unc_expr_parse("TSC_HZ", &env, &e, &err) == 0);
	CHECK_NUMBER(unc_expr_uses(e), UNC_EXPR_TSC_HZ);
	unc_expr_free(e);
	CU_ASSERT_FATAL(unc_expr_parse("imc.DCLK", &env, &e, &err) == 0);
	CHECK_NUMBER(unc_expr_uses(e), 0);
	unc_expr_free(e);
}

/* The host program may have set a locale with a decimal comma. */
static void test_locale(void)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "da_DK.UTF-8"};
	const char *set = NULL;

	for (size_t i = 0; !set && i < sizeof(names) / sizeof(names[0]); i++)
		set = setlocale(LC_NUMERIC, names[i]);
	if (!set) {
		suite_skip("no locale with a decimal comma is installed");
		return;
	}
	check_value("max(1.5, 1)", 1.5);
	setlocale(LC_NUMERIC, "C");
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"precedence, signs, parentheses", test_arithmetic},
		{"numbers", test_numbers},
		{"functions", test_functions},
		{"TIME, TSC, TSC_HZ", test_variables},
		{"events", test_events},
		{"metrics within metrics", test_metrics},
		{"references", test_references},
		{"malformed formulas", test_bad_syntax},
		{"unknown names", test_unknown_names},
		{"metrics that refer to themselves", test_cycles},
		{"out of memory", test_no_memory},
		{"depth and length are bounded", test_limits},
		{"a denominator of 0 is an error", test_not_a_number},
		{"why there is no value", test_why},
		{"the variables of a formula", test_uses},
		{"decimal point in every locale", test_locale},
		{NULL, NULL},
	};

	return suite_run("metric", tests);
}
