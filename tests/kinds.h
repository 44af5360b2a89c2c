/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds of units. A test that tries something on every unit type of every CPU tries the same code
 * ten times over: types differ in places and numbers, and few of them in what the code branches on.
 * The kinds are drawn from the tables, so that a new one is taken by itself. With ALL=1 in the
 * environment each type stands for itself alone.
 */
#ifndef UNC_TEST_KINDS_H
#define UNC_TEST_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "cases.h"
#include "tables/table.h"
#include "uncore.h"

enum { KINDS_MAX = 512, KINDS_TEXT = 256 };

/* A unit type that stands for others. */
struct kinds_type {
	size_t cpu; /* number of its table: cases_table() */
	unsigned type;
	unsigned stands_for;   /* types, itself included */
	char text[KINDS_TEXT]; /* what these have in common */
};

bool kinds_all(void); /* ALL=1 */

/* What a type is to the code in units/ and session/: types with the same text are one kind. */
const char *kinds_text(const struct unc_table *, unsigned type, char text[KINDS_TEXT]);

/* What of an event, as encoded, makes the code go other ways, whatever it counts: its kind of unit,
 * counters, filters, lane, clock. Hashed; and more can be mixed into a hash. */
#define KINDS_HASH 14695981039346656037u
uint64_t kinds_mixed(uint64_t hash, const void *data, size_t n);
uint64_t kinds_shape(const struct unc_table *, const struct unc_encoding *);

/*
 * A type for each kind, and one for each value of each property that is no part of the kind, among
 * types that have units of their own and suit (NULL: all). In the order of the tables; always the
 * same. Returns how many there are, and says on stdout which stands for how many.
 */
size_t kinds_pick(bool (*suits)(const struct unc_table *, unsigned type),
		  struct kinds_type out[KINDS_MAX]);

/* Whether the simulated machine has units of a type; and the kernel's driver counts there. */
bool kinds_simulated(const struct unc_table *, unsigned type);
bool kinds_driven(const struct unc_table *, unsigned type);

/*
 * Whether the kinds have all that the code branches on: each member of the rows of a table and each
 * constant that sources in units/ and session/ (below $SRCDIR/common) name. How many are missing, or
 * tell nothing apart, with a line on stdout each.
 */
unsigned kinds_unknown(void);

/* The first CPU of each folder of tables, or with ALL=1 every CPU. */
bool kinds_cpu(size_t cpu);

#endif
