/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables without one of their columns. */
#ifndef UNC_TEST_COLUMNS_STRIP_H
#define UNC_TEST_COLUMNS_STRIP_H

#include <stdbool.h>

enum { COLUMNS_ALL_PLACES = 99 }; /* every word behind the statement */

/* What is taken away; "" where it does not matter. */
struct columns_item {
	char statement[32]; /* "reg"; "any": of whatever statement */
	char column[40];    /* "at=": each at=VALUE; "ro": this word; "\"": a text */
	unsigned place; /* where column is "": this plain word, from 1; 0: the whole statement */
	char word[64];  /* only where this is a word of the statement */
	char type[16];  /* only for this type */
};

/*
 * A copy of the tables of one CPU without the item, in *folder, which is the same at each call; how
 * often the item was there. Fails the test where it cannot be made.
 */
unsigned columns_copy(const char *cpu, const struct columns_item *, const char **folder);

/* Removes the folder. */
void columns_end(void);

#endif
