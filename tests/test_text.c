/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of files in sections, numbers, nearest names, registers as they are shown. */
#include <errno.h>

#include "suite.h"
#include "base/nearest.h"
#include "base/reg.h"
#include "base/sections.h"
#include "base/text.h"

/* What the sections of a text are: "name argument:key=value,key=value;", or what is wrong. */
static const char *sections_of(const char *text)
{
	static const struct unc_section_rule rules[] = {
		{"one", true, {{.name = "a", .needed = true}, {.name = "b", .often = true}}},
		{"two", false, {{.name = "c"}}},
		{.name = NULL}};
	static const struct unc_section_old old[] = {{NULL, NULL}};
	static struct unc_sections f;
	static char copy[8192], seen[512];
	struct unc_buf out = UNC_BUF(seen);
	struct unc_error err = {0};
	int rc;

	strcpy(copy, text);
	f = (struct unc_sections){
		.path = "f", .has = "HAS", .rules = rules, .old = old, .next = copy};
	while ((rc = unc_section_next(&f, &err)) != 0) {
		unc_put(&out, rc < 0 ? "%.80s" : "%s %s:", rc < 0 ? err.text : f.rule->name,
			f.argument);
		for (size_t i = 0; rc > 0 && i < f.n; i++)
			unc_put(&out, "%s%s=%s", i ? "," : "", f.set[i].key, f.set[i].value);
		unc_put(&out, ";");
	}
	return seen;
}

static void sections(void)
{
	static const char *const rows[][2] = {
		{"", ""},
		{"\n # only\n\t\n", ""},
		{"[one x]\na=1", "one x:a=1;"},
		{" [ two ]\r\n\tc = d = e#f # g\r\n", "f:1: '[ two ]' begins no section; HAS;"},
		{" [two] # x\r\n\tc = d = e#f # g\r\n", "two :c=d = e#f;"},
		{"[one x  y]\nb = 1\na = 2\nb = 1\n[two]\nc = 3\n",
		 "one x  y:b=1,a=2,b=1;two :c=3;"},
		{"[two]\nc = 1\nd = 2\nc\n[two]\nc = 3\n",
		 "f:3: 'd' is not a key of [two]; its keys are c;two :c=3;"},
		{"c = 1\n[two]\nc = 3\n", "f:1: 'c = 1' begins no section; HAS;two :c=3;"},
		{"[one x]\nb = 1\n\n[two]\n",
		 "f:1: [one] has no line a = ...;f:4: [two] has no line;"},
		{"[on x]\n[ones x]\n[One x]",
		 "f:1: '[on x]' begins no section; HAS;f:2: '[ones x]' begins "
		 "no section; HAS;f:3: '[One x]' begins no section; HAS;"},
	};
	char many[8192] = "[one x]\na = 1\n";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_TEXT(sections_of(rows[i][0]), rows[i][1]);
	for (unsigned i = 1; i <= UNC_SECTION_LINES; i++)
		strcat(many, "b = 1\n");
	CHECK_TEXT(sections_of(many), "f:258: a section has 256 lines at most;");
}

static void numbers(void)
{
	static const char *const bad[] = {"",    "-1",  " 1",  "1 ", "0x",
					  "0xg", "12a", "1.5", "+1", "18446744073709551616"};
	uint64_t v;

	CU_ASSERT(unc_parse_number("0", &v) && v == 0);
	CU_ASSERT(unc_parse_number("010", &v) && v == 10); /* decimal, not octal */
	CU_ASSERT(unc_parse_number("0x1fF", &v) && v == 511);
	CU_ASSERT(unc_parse_number("18446744073709551615", &v) && v == UINT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_FALSE(unc_parse_number(bad[i], &v));
	CHECK_NUMBER(errno, ERANGE); /* the last one */
	CU_ASSERT_FALSE(unc_parse_number("18446744073709551616x", &v));
	CU_ASSERT(errno != ERANGE);
}

static void masks(void)
{
	static const struct {
		uint64_t mask;
		const char *text;
	} rows[] = {{0, ""},
		    {0x2f, "0-3,5"},
		    {0x21, "0,5"},
		    {0x8000000000000001, "0,63"},
		    {UINT64_MAX, "0-63"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[32];
		struct unc_buf buf = UNC_BUF(text);

		unc_put_bits(&buf, rows[i].mask);
		CHECK_TEXT(text, rows[i].text);
	}
}

static void doubles(void)
{
	static const char *const bad[] = {"",     " 1",  "1 ",    "nan", "inf",
					  "0x10", "1,5", "1e999", "1e"};
	double v;

	CU_ASSERT(unc_parse_double("2.5e9", &v) && v == 2.5e9);
	CU_ASSERT(unc_parse_double("-0.25", &v) && v == -0.25);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_FALSE(unc_parse_double(bad[i], &v));
}

static void ranges(void)
{
	static const char *const bad[] = {"", "3-1", "1-", "64", "0001"}; /* three digits at most */
	const char *list = "0-3,63";
	unsigned first, last;

	CU_ASSERT(unc_range_next(&list, 64, &first, &last) && first == 0 && last == 3);
	CU_ASSERT(*list++ == ',');
	CU_ASSERT(unc_range_next(&list, 64, &first, &last) && first == 63 && last == 63);
	CU_ASSERT(*list == '\0');
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		list = bad[i];
		CU_ASSERT_FALSE(unc_range_next(&list, 64, &first, &last));
	}
}

static void one_line(void)
{
	struct unc_error err = {0};

	CHECK_NUMBER(unc_fail(&err, UNC_ERR_NOT_FOUND, "no event %s", "A\nB\tC"),
		     UNC_ERR_NOT_FOUND);
	CHECK_TEXT(err.text, "no event A?B?C");
	unc_error_prefix(&err, "a\rb");
	CHECK_TEXT(err.text, "a?b: no event A?B?C");
}

static void lists(void)
{
	const char *list = "ab,,cde";
	char word[4];

	CU_ASSERT(unc_list_next(&list, word, sizeof(word)));
	CHECK_TEXT(word, "ab");
	CU_ASSERT(unc_list_next(&list, word, sizeof(word)));
	CHECK_TEXT(word, "");
	CU_ASSERT(unc_list_next(&list, word, sizeof(word)));
	CHECK_TEXT(word, "cde");
	CU_ASSERT_PTR_NULL(list);
	list = "abcd,e"; /* no room for its end */
	CU_ASSERT_FALSE(unc_list_next(&list, word, sizeof(word)));
	list = "a,";
	CU_ASSERT(unc_list_next(&list, word, sizeof(word)));
	CHECK_TEXT(list, "");
}

static void nearest(void)
{
	static const char *const names[] = {"CAS_COUNT", "ACT_COUNT", "PRE_COUNT"};
	struct unc_nearest n;
	char buf[64];

	unc_nearest_start(&n, "cas_cont");
	for (size_t i = 0; i < 3; i++)
		unc_nearest_try(&n, names[i]);
	CHECK_TEXT(unc_nearest_text(&n, buf, sizeof(buf)), "; nearest is CAS_COUNT");
	unc_nearest_start(&n, "PER_CUONT"); /* letters exchanged: one mistake each */
	for (size_t i = 0; i < 3; i++)
		unc_nearest_try(&n, names[i]);
	CHECK_TEXT(unc_nearest_text(&n, buf, sizeof(buf)), "; nearest is PRE_COUNT");
	CHECK_NUMBER(n.distance, 2);
	unc_nearest_start(&n, "CAR_RAM"); /* a third of the letters, not more */
	CU_ASSERT_FALSE(unc_nearest_try(&n, "CAS_COUNT"));
	unc_nearest_start(&n, "XYZZY_QQ");
	for (size_t i = 0; i < 3; i++)
		unc_nearest_try(&n, names[i]);
	CHECK_TEXT(unc_nearest_text(&n, buf, sizeof(buf)), "");
	unc_nearest_start(&n, "ab"); /* names of one letter are names too */
	unc_nearest_try(&n, "a");
	CHECK_TEXT(unc_nearest_text(&n, buf, sizeof(buf)), "; nearest is a");
	unc_nearest_start(&n, "cas");
	unc_nearest_try_short(&n, "CLS");           /* a letter away */
	unc_nearest_try_short(&n, "Cylinder_Axis"); /* its letters in their order */
	unc_nearest_try_short(&n, "CAS_COUNT");
	unc_nearest_try_short(&n, "CASE");
	CHECK_TEXT(unc_nearest_text(&n, buf, sizeof(buf)), "; nearest is CAS_COUNT");
	unc_nearest_start(&n, "memory");
	unc_nearest_try_short(&n, "energy");
	unc_nearest_try_short(&n, "mem");
	CHECK_TEXT(unc_nearest_text(&n, buf, sizeof(buf)), "; nearest is mem");
}

/* A number; an offset in the function (base/reg.h: 11:0 of the address); of the kernel's events what is
 * behind their type (31:0); else an address in memory, whole. */
static void shown(void)
{
	struct unc_reg msr = {.space = UNC_SPACE_MSR, .address = 0xd10},
		       pci = {.space = UNC_SPACE_PCI,
			      .address = UNC_PCI(1, 0x7f, UNC_DEVFN(16, 0), 0xd8)},
		       perf = {.space = UNC_SPACE_PERF,
			       .address = (uint64_t)4 << 32 | (UNC_PERF_COUNT + 1)},
		       mmio = {.space = UNC_SPACE_MMIO, .address = 0x3f8c001022800};

	CHECK_NUMBER(unc_reg_shown(&msr), 0xd10);
	CHECK_NUMBER(unc_reg_shown(&pci), 0xd8);
	CHECK_NUMBER(unc_reg_shown(&perf), 0x11);
	CHECK_NUMBER(unc_reg_shown(&mmio), 0x3f8c001022800);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"sections", sections},
		{"numbers", numbers},
		{"numbers of bits", masks},
		{"floating point numbers", doubles},
		{"bits and masks", ranges},
		{"lists with commas", lists},
		{"the nearest name", nearest},
		{"a sentence is one line", one_line},
		{"a register as it is shown", shown},
		{NULL, NULL},
	};

	return suite_run("text", tests);
}
