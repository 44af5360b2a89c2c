/* SPDX-License-Identifier: BSD-3-Clause */
/* A CUnit suite that reports in TAP, one line a test. */
#ifndef UNC_TEST_SUITE_H
#define UNC_TEST_SUITE_H

#include <CUnit/CUnit.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

/*
 * A test stands in for a function of the library or of the C library by defining it: the library is
 * a shared object here (tests/libtested.la), whose calls to another file then reach the program.
 * REAL(f) is the function behind it.
 */
#define REAL(f) ((__typeof__(&(f)))dlsym(RTLD_NEXT, #f))

struct suite_test {
	const char *name;
	void (*run)(void);
};

/*
 * Adds a test that is made at run time: one for each CPU, each file. `name` is a format; `user`
 * must live until suite_run() is done.
 */
void __attribute__((format(printf, 3, 4)))
suite_add(void (*run)(const void *user), const void *user, const char *name, ...);

/*
 * Runs the tests (the last row has name NULL; tests may be NULL), and behind them those that were
 * added. Returns the exit status. No test at all is a failure.
 */
int suite_run(const char *suite, const struct suite_test *tests);

/* Called in a test: this test is skipped, and why. */
void suite_skip(const char *why);

/* Called in a test: a process that has done this, and waits to be killed. False: it could not, and the test fails. */
pid_t suite_process(bool (*does)(const void *user), const void *user);

/* Compares texts and shows both when they differ. */
#define CHECK_TEXT(actual, expected) suite_text(__LINE__, (actual), (expected))
void suite_text(int line, const char *actual, const char *expected);

/* Compares numbers and shows both when they differ. */
#define CHECK_NUMBER(actual, expected)                                                             \
	suite_number(__LINE__, (unsigned long long)(actual), (unsigned long long)(expected))
void suite_number(int line, unsigned long long actual, unsigned long long expected);

#endif
