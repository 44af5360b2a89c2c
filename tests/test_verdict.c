/* SPDX-License-Identifier: BSD-3-Clause */
/* What readings say of a row: verdict.c of the command, which needs nothing of the library. Numbers are
 * worked out by hand: 1e9 bytes moved are 15625000 lines of 64 bytes. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../common/tool/verdict.c"
#include "suite.h"

static const struct row *row_of(const char *name, enum traffic_kind kind, bool remote, int of)
{
	for (size_t i = 0; i < verify_n_rows; i++)
		if (strcmp(verify_rows[i].name, name) == 0 && verify_rows[i].kind == kind &&
		    verify_rows[i].remote == remote && (int)verify_rows[i].of == of)
			return &verify_rows[i];
	CU_FAIL_FATAL("no such row");
	return NULL;
}

static struct verdict one(const struct row *row, double value, double before, double after)
{
	return verify_judge(row, &(struct reading){.value = &value,
						   .n = 1,
						   .seconds = 0.25,
						   .bytes = 1e9,
						   .others = {before, after}});
}

static void test_bytes(void)
{
	const struct row *row = row_of("memory_read_bytes", READS, false, BYTES);

	CHECK_NUMBER(one(row, 1.00e9, 0, 0).is, RIGHT);
	CHECK_NUMBER(one(row, 0.971e9, 0, 0).is, RIGHT);
	CHECK_NUMBER(one(row, 0.969e9, 0, 0).is, WRONG);
	CHECK_NUMBER(one(row, 1.079e9, 0, 0).is, RIGHT);
	CHECK_NUMBER(one(row, 1.081e9, 0, 0).is, WRONG);
	CHECK_NUMBER(one(row, 2e9, 0, 0).is, WRONG);
	CHECK_NUMBER(one(row, 0.5e9, 0, 0).is, WRONG);
	CHECK_NUMBER(one(row, 0, 0, 0).is, WRONG);
	/* Others move a tenth: it is taken off, and an eighth of it is blur. */
	CHECK_NUMBER(one(row, 1.1e9, 0.1, 0.1).is, RIGHT);
	CHECK_NUMBER((uint64_t)(one(row, 1.1e9, 0.1, 0.1).value + 0.5), 1000000000);
	CHECK_NUMBER(one(row, 1.1e9, 0, 0).is, WRONG);
	/* Between 0.97 - 0.0125 and 1.08 + 0.0125. */
	CHECK_NUMBER(one(row, 1.19e9, 0.1, 0.1).is, RIGHT);
	CHECK_NUMBER(one(row, 1.20e9, 0.1, 0.1).is, WRONG);
	CHECK_NUMBER(one(row, 1.056e9, 0.1, 0.1).is, WRONG);
	/* They change by a tenth: so much wider. */
	CHECK_NUMBER(one(row, 1.2e9, 0.05, 0.15).is, RIGHT);
}

static void test_lines(void)
{
	const struct row *row = row_of("llc_misses", READS, false, LINES);

	CHECK_NUMBER(one(row, 15625000, 0, 0).is, RIGHT);
	CHECK_NUMBER((uint64_t)(one(row, 15625000, 0, 0).value + 0.5), 1000000000);
	CHECK_NUMBER(one(row, 0.81 * 15625000, 0, 0).is, RIGHT);
	CHECK_NUMBER(one(row, 0.79 * 15625000, 0, 0).is, WRONG);
	CHECK_NUMBER(one(row, 1.16 * 15625000, 0, 0).is, WRONG);
	CHECK_NUMBER(one(row, 1e9, 0, 0).is, WRONG); /* bytes */
}

static void test_busy(void)
{
	const struct row *row = row_of("memory_read_bytes", READS, false, BYTES);

	CHECK_NUMBER(one(row, 1.5e9, 0.5, 0.5).is, NOT_JUDGED);
	CHECK_NUMBER(one(row, 1.1e9, 0.0, 0.25).is, NOT_JUDGED);
	CHECK_NUMBER(one(row, 1.1e9, NAN, NAN).is, NOT_JUDGED);
	CU_ASSERT_PTR_NOT_NULL(strstr(one(row, 1, 0.5, 0.5).why, "too busy"));
	/* A clock is one beside any traffic. */
	CHECK_NUMBER(one(&verify_clock, 0.5e9, 5, 9).is, RIGHT);
}

static void test_ratios(void)
{
	const struct row *local = row_of("remote_access_ratio", READS, false, RATIO),
			 *remote = row_of("remote_access_ratio", READS, true, RATIO);

	CHECK_NUMBER(one(local, 0.01, 0, 0).is, RIGHT);
	CHECK_NUMBER(one(local, 0.99, 0, 0).is, WRONG);
	CHECK_NUMBER(one(remote, 0.99, 0, 0).is, RIGHT);
	CHECK_NUMBER(one(remote, 0.01, 0, 0).is, WRONG);
	/* Others, a fifth of what is moved, all remote: (0.35 + 0.2) / 1.2 = 0.458, and 0.025 of blur. */
	CHECK_NUMBER(one(local, 0.47, 0.2, 0.2).is, RIGHT);
	CHECK_NUMBER(one(local, 0.47, 0, 0).is, WRONG);
	CHECK_NUMBER(one(local, 0.49, 0.2, 0.2).is, WRONG);
	CHECK_NUMBER(one(row_of("memory_read_latency_ns", READS, false, VALUE), 100, 0, 0).is,
		     RIGHT);
	CHECK_NUMBER(one(row_of("memory_read_latency_ns", READS, false, VALUE), 5, 0, 0).is, WRONG);
}

static struct verdict units(const struct row *row, const double *value, size_t n)
{
	return verify_judge(row, &(struct reading){.value = value, .n = n, .seconds = 0.25});
}

static void test_units(void)
{
	const struct row *row = row_of("memory_read_bytes", READS, false, UNITS);

	CHECK_NUMBER(units(row, (double[]){90, 100, 110, 120}, 4).is, RIGHT);
	CHECK_NUMBER(units(row, (double[]){50, 100, 100, 100}, 4).is, WRONG);
	CHECK_NUMBER(units(row, (double[]){100, 100, 100, 160}, 4).is, WRONG);
	CHECK_NUMBER(units(row, (double[]){0, 100, 100, 100}, 4).is, WRONG);
	CHECK_NUMBER(units(row, (double[]){100}, 1).is, RIGHT);
	CHECK_NUMBER(units(row, (double[]){0, 0, 0}, 3).is, NOT_JUDGED);
	CHECK_NUMBER(units(&verify_units, (double[]){99, 100, 101}, 3).is, RIGHT);
	CHECK_NUMBER(units(&verify_units, (double[]){97, 100, 101}, 3).is, WRONG);
	/* The median, in a second: 2 GHz; a clock of 50 MHz or 8 GHz is none. */
	CHECK_NUMBER(units(&verify_clock, (double[]){0, 0.5e9, 9e9}, 3).is, RIGHT);
	CHECK_NUMBER((uint64_t)units(&verify_clock, (double[]){0, 0.5e9, 9e9}, 3).value,
		     2000000000);
	CHECK_NUMBER(units(&verify_clock, (double[]){0.0125e9}, 1).is, WRONG);
	CHECK_NUMBER(units(&verify_clock, (double[]){2e9}, 1).is, WRONG);
	CHECK_NUMBER(units(&verify_pair, (double[]){1000, 1005}, 2).is, RIGHT);
	CHECK_NUMBER(units(&verify_pair, (double[]){1000, 1020}, 2).is, WRONG);
}

static void test_missing(void)
{
	struct reading r = {.why = "it cannot be had"};

	CHECK_NUMBER(verify_judge(&verify_clock, &r).is, NOT_JUDGED);
	CHECK_TEXT(verify_judge(&verify_clock, &r).why, "it cannot be had");
	r.why = NULL;
	CHECK_NUMBER(verify_judge(&verify_clock, &r).is, NOT_JUDGED);
	CHECK_TEXT(verify_judge(&verify_clock, &r).why, "there is no such unit");
}

/* Each row can be right, and can be wrong. */
static void test_rows(void)
{
	for (size_t i = 0; i < verify_n_rows; i++) {
		const struct row *row = &verify_rows[i];
		double whole = row->of == BYTES ? 1e9 : row->of == LINES ? 15625000 : 1;
		double middle = (row->least + row->most) / 2 * whole,
		       width = row->most - row->least;

		if (row->of == UNITS)
			continue;
		CHECK_NUMBER(one(row, middle, 0, 0).is, RIGHT);
		CHECK_NUMBER(one(row, (row->most + width) * whole, 0, 0).is, WRONG);
		CHECK_NUMBER(one(row, (row->least - width) * whole, 0, 0).is, WRONG);
		CU_ASSERT(row->means && *row->means && row->unit && *row->unit);
	}
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"bytes", test_bytes},
		{"lines", test_lines},
		{"others", test_busy},
		{"ratios and values", test_ratios},
		{"units, clocks, pairs", test_units},
		{"no value", test_missing},
		{"each row", test_rows},
		{NULL, NULL},
	};

	return suite_run("verdict", tests);
}
