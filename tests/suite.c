/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <CUnit/TestRun.h>
#include <stdio.h>

static const char *skipped;

void suite_skip(const char *why)
{
	skipped = why;
}

void suite_text(int line, const char *actual, const char *expected)
{
	if (strcmp(actual, expected) != 0)
		printf("# line %d:\n#   got  \"%s\"\n#   want \"%s\"\n", line, actual, expected);
	CU_assertImplementation(strcmp(actual, expected) == 0, (unsigned)line, "same text",
				"", "", CU_FALSE);
}

void suite_number(int line, unsigned long long actual, unsigned long long expected)
{
	if (actual != expected)
		printf("# line %d: got %llu (0x%llx), want %llu (0x%llx)\n", line, actual, actual,
		       expected, expected);
	CU_assertImplementation(actual == expected, (unsigned)line, "same number", "", "",
				CU_FALSE);
}

static int report(const char *suite, unsigned number, const struct suite_test *test,
		  CU_pSuite unit, CU_pTest handle)
{
	skipped = NULL;
	CU_run_test(unit, handle);
	for (CU_pFailureRecord f = CU_get_failure_list(); f; f = f->pNext)
		if (f->pTest == handle)
			printf("# %s:%u: %s\n", f->strFileName, f->uiLineNumber, f->strCondition);
	/* The counts are of this run of one test. */
	int failed = CU_get_number_of_failures() != 0 || CU_get_number_of_tests_run() == 0;
	if (skipped && !failed)
		printf("ok %u - %s: %s # SKIP %s\n", number, suite, test->name, skipped);
	else
		printf("%s %u - %s: %s\n", failed ? "not ok" : "ok", number, suite, test->name);
	fflush(stdout);
	return failed;
}

int suite_run(const char *suite, const struct suite_test *tests)
{
	unsigned n = 0, failed = 0;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 99;
	CU_pSuite unit = CU_add_suite(suite, NULL, NULL);
	for (; unit && tests[n].name; n++)
		continue;
	printf("1..%u\n", n);
	for (unsigned i = 0; i < n; i++) {
		CU_pTest handle = CU_add_test(unit, tests[i].name, tests[i].run);
		failed += (unsigned)report(suite, i + 1, &tests[i], unit, handle);
	}
	CU_cleanup_registry();
	return failed ? 1 : 0;
}
