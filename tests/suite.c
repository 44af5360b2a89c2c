/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <CUnit/TestRun.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *skipped;

/* A test that was made at run time. */
struct added {
	char *name;
	void (*run)(const void *user);
	const void *user;
};

static struct {
	struct added *test;
	size_t n, now; /* now: the one that runs */
} added;

void suite_add(void (*run)(const void *user), const void *user, const char *name, ...)
{
	struct added *more = realloc(added.test, (added.n + 1) * sizeof(*more));
	char text[256];
	va_list args;

	va_start(args, name);
	vsnprintf(text, sizeof(text), name, args);
	va_end(args);
	char *copy = strdup(text);
	if (!more || !copy)
		abort();
	added.test = more;
	added.test[added.n++] = (struct added){.name = copy, .run = run, .user = user};
}

/* CUnit's functions take nothing. */
static void run_added(void)
{
	added.test[added.now].run(added.test[added.now].user);
}

static void free_added(void)
{
	for (size_t i = 0; i < added.n; i++)
		free(added.test[i].name);
	free(added.test);
	memset(&added, 0, sizeof(added));
}

void suite_skip(const char *why)
{
	skipped = why;
}

void suite_text(int line, const char *actual, const char *expected)
{
	if (strcmp(actual, expected) != 0)
		printf("# line %d:\n#   got  \"%s\"\n#   want \"%s\"\n", line, actual, expected);
	CU_assertImplementation(strcmp(actual, expected) == 0, (unsigned)line, "same text", "", "",
				CU_FALSE);
}

void suite_number(int line, unsigned long long actual, unsigned long long expected)
{
	if (actual != expected)
		printf("# line %d: got %llu (0x%llx), want %llu (0x%llx)\n", line, actual, actual,
		       expected, expected);
	CU_assertImplementation(actual == expected, (unsigned)line, "same number", "", "",
				CU_FALSE);
}

static unsigned report(const char *suite, unsigned number, const char *name, CU_pSuite unit,
		       CU_pTest handle)
{
	skipped = NULL;
	CU_run_test(unit, handle);
	for (CU_pFailureRecord f = CU_get_failure_list(); f; f = f->pNext)
		if (f->pTest == handle)
			printf("# %s:%u: %s\n", f->strFileName, f->uiLineNumber, f->strCondition);
	/* The counts are of this run of one test. */
	unsigned failed =
		!handle || CU_get_number_of_failures() != 0 || CU_get_number_of_tests_run() == 0;
	if (skipped && !failed)
		printf("ok %u - %s: %s # SKIP %s\n", number, suite, name, skipped);
	else
		printf("%s %u - %s: %s\n", failed ? "not ok" : "ok", number, suite, name);
	fflush(stdout);
	return failed;
}

int suite_run(const char *suite, const struct suite_test *tests)
{
	unsigned n = 0, failed = 0;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 99;
	CU_pSuite unit = CU_add_suite(suite, NULL, NULL);
	while (tests && tests[n].name)
		n++;
	if (!unit || n + added.n == 0) {
		printf("Bail out! %s: there are no tests\n", suite);
		return 99;
	}
	printf("1..%zu\n", n + added.n);
	for (unsigned i = 0; i < n; i++)
		failed += report(suite, i + 1, tests[i].name, unit,
				 CU_add_test(unit, tests[i].name, tests[i].run));
	for (added.now = 0; added.now < added.n; added.now++) {
		const char *name = added.test[added.now].name;

		failed += report(suite, n + (unsigned)added.now + 1, name, unit,
				 CU_add_test(unit, name, run_added));
	}
	CU_cleanup_registry();
	free_added();
	return failed ? 1 : 0;
}

pid_t suite_process(bool (*does)(const void *user), const void *user)
{
	int ready[2];
	pid_t pid = -1;
	char byte = 0;

	fflush(stdout);
	CU_ASSERT_FATAL(pipe(ready) == 0 && (pid = fork()) >= 0);
	if (pid == 0) {
		if (!does(user) || write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	CU_ASSERT_FATAL(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	return pid;
}
