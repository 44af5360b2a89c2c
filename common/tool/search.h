/* SPDX-License-Identifier: BSD-3-Clause */
/* Search words of the user. */
#ifndef UNC_SEARCH_H
#define UNC_SEARCH_H

#include "tool.h"

/* All words must be found, whatever their case. With * ? [ a word is a pattern for the whole of a name. */
struct search {
	char *const *word; /* NULL behind the last; without any, everything is found by its name */
	bool *seen;        /* for each word: something matched it */
};
enum found { FOUND_NOT, FOUND_IN_TEXT, FOUND_IN_NAME };

/* NULL words: everything. free(search->seen) */
void search_start(struct search *, char *const *word);
/* Each word is in the name; or else in name or text. */
enum found search_in(struct search *, const char *name, const char *text);
/* Prints that nothing was found among names of these kinds, and similar names. Returns the exit status. */
enum { IN_EVENTS = 1, IN_METRICS = 2 };
int search_failed(const struct search *, const struct unc_platform *, unsigned kinds);

#endif
