/* SPDX-License-Identifier: BSD-3-Clause */
/* Small text helpers: numbers, lists, names. Pure. */
#ifndef UNC_TEXT_H
#define UNC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A whole text as an unsigned number, decimal or 0x. False: it is none, or (errno ERANGE) too large. */
bool unc_parse_number(const char *text, uint64_t *value);
/* A whole text as a decimal floating point number. */
bool unc_parse_double(const char *text, double *value);
/* Takes the next of a list of numbers and ranges below `limit`, "0-3,5", off *list: *first to
 * *last. False: it is none. What stands behind it is the caller's to look at: a comma, or the
 * end. */
bool unc_range_next(const char **list, unsigned limit, unsigned *first, unsigned *last);
/* Copies the next of a list of words with commas between them; *list is what follows the comma, NULL
 * after the last word. False: the word does not fit. */
bool unc_list_next(const char **list, char *word, size_t size);
/* Whether one of them is the word, without regard to case. */
bool unc_list_has(const char *list, const char *word);

/* Text that is put together in a buffer of the caller. What does not fit is left out; it is terminated. */
struct unc_buf {
	char *text;
	size_t size;
	size_t n; /* length of the whole; from size on: the end is missing */
	unsigned words;
};
/* An empty text in an array. */
#define UNC_BUF(array) unc_buf((array), sizeof(array))
struct unc_buf unc_buf(char *text, size_t size);
void unc_put(struct unc_buf *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A text, or a number in decimal or hexadecimal digits (10, 16), without a format to be read. */
void unc_put_text(struct unc_buf *, const char *text);
void unc_put_number(struct unc_buf *, uint64_t number, unsigned base);
/* The next word of a list: "a, b, c"; the latter stops after eight: "a, b, ...". */
void unc_put_word(struct unc_buf *, const char *word);
void unc_put_few(struct unc_buf *, const char *word);
/* The numbers of the bits of a mask: "0-3,5". */
void unc_put_bits(struct unc_buf *, uint64_t mask);

/* Whether two names are the same, without regard to (ASCII) case. */
bool unc_same(const char *a, const char *b);

#endif
