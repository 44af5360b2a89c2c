/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding what the user means: search words, and the nearest of what there is. */
#ifndef UNC_SEARCH_H
#define UNC_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/nearest.h"

/* A name, and each word of it, as a candidate: what stands between its . : and _ */
void nearest_try_words(struct unc_nearest *, const char *name);

/* All words must be found, whatever their case. With * ? [ a word is a pattern for the whole of a
 * name. */
struct search {
	char *const *word; /* NULL behind the last; without any, everything is found by its name */
	bool *seen;        /* of each word: something had it */
};
enum found { FOUND_NOT, FOUND_IN_TEXT, FOUND_IN_NAME };

/* NULL words: everything. free(search->seen) */
void search_start(struct search *, char *const *word);
/* Each word is in the name; or else in name or text. */
enum found search_in(struct search *, const char *name, const char *text);
/* The first word that nothing had; NULL: there is none. */
const char *search_missing(const struct search *);
/* Nothing was found where `what` could have been ("event"). nearest: to search_missing(), which
 * the names that there are have been tried against. Returns the exit status. */
int search_failed(const struct search *, const char *what, const struct unc_nearest *);

#endif
