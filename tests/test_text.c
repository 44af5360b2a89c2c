/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of files in sections, numbers, nearest names, registers as they are shown. */
#include <errno.h>

#include "suite.h"
#include "base/nearest.h"
#include "base/reg.h"
#include "base/text.h"

/* The lines of a text as "SECTION|KEY|VALUE;", and what is wrong with one. */
static void read_lines(const char *text, char *out, size_t size)
{
	static char copy[512];
	struct unc_conf conf = {.next = copy, .end = copy + strlen(text)};
	struct unc_conf_line line;
	struct unc_error err = {0};
	size_t n = 0;
	int rc;

	strcpy(copy, text);
	out[0] = '\0';
	while ((rc = unc_conf_next(&conf, &line, &err)) != 0) {
		if (rc < 0)
			n += (size_t)snprintf(out + n, size - n, "%u: %s;", line.number, err.text);
		else
			n += (size_t)snprintf(out + n, size - n, "%s|%s|%s;", line.section,
					      line.key ? line.key : "", line.key ? line.value : "");
	}
}

static void conf_lines(void)
{
	static const struct {
		const char *text, *lines;
	} rows[] = {
		{"\n# note\n a = b # end\n[ s x ]\n\tk=v w=x\r\nn =\n",
		 "|a|b;s x||;s x|k|v w=x;s x|n|;"},
		{"k = a#b = c", "|k|a#b = c;"}, /* no blank before it */
		{"", ""},
		{"#", ""},
		{"[]\n[ a\nb\n= c\nd = e",
		 "1: '[]' is not [SECTION];2: '[ a' is not [SECTION];"
		 "3: 'b' is not KEY = VALUE, nor [SECTION];4: '= c' is not KEY = VALUE, nor "
		 "[SECTION];|d|e;"},
	};
	char got[1024];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		read_lines(rows[i].text, got, sizeof(got));
		CHECK_TEXT(got, rows[i].lines);
	}
	char text[] = "a = b\n\0\nc = d";
	struct unc_conf conf = {.next = text, .end = text + sizeof(text) - 1};
	struct unc_conf_line line;
	struct unc_error err = {0};
	CHECK_NUMBER(unc_conf_next(&conf, &line, &err), 1);
	CHECK_NUMBER(unc_conf_next(&conf, &line, &err), UNC_ERR_TABLE);
	CHECK_TEXT(err.text, "a NUL byte in the text");
	CHECK_NUMBER(unc_conf_next(&conf, &line, &err), 1);
	CHECK_TEXT(line.value, "d");
}

static void conf_words(void)
{
	char value[] = "upi2 socket=1  cpu=a,b", text[8];

	CU_ASSERT(!unc_conf_word(value, "upi2", text, sizeof(text)));
	CU_ASSERT(unc_conf_word(value, "socket", text, sizeof(text)));
	CHECK_TEXT(text, "1");
	CHECK_TEXT(value, "upi2   cpu=a,b");
	CU_ASSERT(!unc_conf_word(value, "cpu", text, 3)); /* it does not fit: it stays */
	CU_ASSERT(unc_conf_word(value, "cpu", text, 4));
	CHECK_TEXT(text, "a,b");
	CHECK_TEXT(value, "upi2");
	CU_ASSERT(!unc_conf_word(value, "cpu", text, sizeof(text)));
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

static void bits(void)
{
	unsigned high, low;
	struct unc_bits set;
	uint64_t mask;

	CU_ASSERT(unc_parse_bits("31:24", &high, &low) && high == 31 && low == 24);
	CU_ASSERT(unc_parse_bits("18", &high, &low) && high == 18 && low == 18);
	CU_ASSERT_FALSE(unc_parse_bits("24:31", &high, &low));
	CU_ASSERT_FALSE(unc_parse_bits("64:0", &high, &low));
	CU_ASSERT_FALSE(unc_parse_bits("3:", &high, &low));
	CU_ASSERT_FALSE(unc_parse_bits("0001", &high, &low)); /* three digits at most */
	CU_ASSERT(unc_parse_mask("0-3,5", &mask) && mask == 0x2f);
	CU_ASSERT(unc_parse_mask("63", &mask) && mask == (uint64_t)1 << 63);
	CU_ASSERT_FALSE(unc_parse_mask("0,0", &mask));
	CU_ASSERT_FALSE(unc_parse_mask("3-1", &mask));
	CU_ASSERT_FALSE(unc_parse_mask("1,", &mask));
	CU_ASSERT_FALSE(unc_parse_mask("64", &mask));
	CU_ASSERT(unc_parse_set("0,62-65,127", &set) && set.word[0] == 0xc000000000000001 &&
		  set.word[1] == 0x8000000000000003);
	CU_ASSERT_FALSE(unc_parse_set("128", &set));
	CU_ASSERT_FALSE(unc_parse_set("65,60-70", &set));
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
		{"lines of a file in sections", conf_lines},
		{"words of a value", conf_words},
		{"numbers", numbers},
		{"numbers of bits", masks},
		{"floating point numbers", doubles},
		{"bits and masks", bits},
		{"lists with commas", lists},
		{"the nearest name", nearest},
		{"a sentence is one line", one_line},
		{"a register as it is shown", shown},
		{NULL, NULL},
	};

	return suite_run("text", tests);
}
