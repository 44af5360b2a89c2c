/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of cases: one row a line, fields separated by " ; ", # comments. */
#ifndef UNC_TEST_CASES_H
#define UNC_TEST_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unc_table;

enum { CASES_FIELDS = 8 };

struct cases_row {
	const char *file;
	unsigned line;
	char *field[CASES_FIELDS]; /* without blanks around; "" beyond n */
	size_t n;
};

typedef void (*cases_fn)(void *user, const struct cases_row *);

/*
 * Calls fn for each row of the file `name`, which is below $UNCORE_TESTS, or else below
 * tests/ of the source tree $SRCDIR (default: the current folder). Returns the number of
 * rows, or -1 with a line on stdout.
 */
int cases_read(const char *name, cases_fn fn, void *user);

/*
 * The CPUs there are: those of the built-in tables. The name of the i-th, or NULL past the end.
 */
const char *cases_cpu(size_t i);
const struct unc_table *cases_table(size_t i);

/* A case file belongs to a CPU by its name: folder "encode", ending ".cases". */
bool cases_has(const char *folder, const char *cpu, const char *ending);

/* Files in the folder that belong to no CPU: a line on stdout each, and how many. -1: no folder. */
int cases_of_no_cpu(const char *folder, const char *ending);

/* 1 if text has the leading part `pattern`, in which "..." stands for any text. */
int cases_match(const char *text, const char *pattern);

/* A list of bits, "0-3,5". False: it is none. */
bool cases_mask(const char *text, uint64_t *mask);

#endif
