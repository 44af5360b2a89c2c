/* SPDX-License-Identifier: BSD-3-Clause */
/* Small text helpers: numbers, lists, names. Pure. */
#ifndef UNC_TEXT_H
#define UNC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Parses a whole text as an unsigned number, decimal or 0x. False: no number, or (errno ERANGE) too large. */
bool unc_parse_number(const char *text, uint64_t *value);
/* Parses a whole text as a decimal floating point number. */
bool unc_parse_double(const char *text, double *value);
/* Parses the next number or range of a list such as "0-3,5", all below `limit`, and moves *list past
 * it. False: it is no range. The caller checks the next character: a comma, or the end. */
bool unc_range_next(const char **list, unsigned limit, unsigned *first, unsigned *last);
/* Copies the next word of a list separated by commas and moves *list past the comma; NULL after the
 * last word. False: the word does not fit. */
bool unc_list_next(const char **list, char *word, size_t size);
/* Whether a list contains a word; case does not matter. */
bool unc_list_has(const char *list, const char *word);

/* A text that is built in a buffer of the caller. It is always terminated; an end that does not fit is lost. */
struct unc_buf {
	char *text;
	size_t size;
	size_t n; /* length of the whole text; if it is >= size, the end is missing */
	unsigned words;
};
/* Begins an empty text in an array. */
#define UNC_BUF(array) unc_buf((array), sizeof(array))
struct unc_buf unc_buf(char *text, size_t size);
void unc_put(struct unc_buf *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Append a text, or a number in base 10 or 16; faster than a format. */
void unc_put_text(struct unc_buf *, const char *text);
void unc_put_number(struct unc_buf *, uint64_t number, unsigned base);
/* Append the next word of a list, "a, b, c"; unc_put_few() stops after eight: "a, b, ...". */
void unc_put_word(struct unc_buf *, const char *word);
void unc_put_few(struct unc_buf *, const char *word);
/* Appends the numbers of the bits of a mask: "0-3,5". */
void unc_put_bits(struct unc_buf *, uint64_t mask);

/* Whether two names are the same; ASCII case does not matter. */
bool unc_same(const char *a, const char *b);

#endif
