/* SPDX-License-Identifier: BSD-3-Clause */
#include "search.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tool.h"

/* ---- the nearest name */

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to change, add, leave out, or to exchange with the next one. Both are shorter than
 * NEAR_MAX. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][NEAR_MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t k = 0; k <= m; k++)
		last[k] = k;
	for (size_t i = 1; i <= n; i++) {
		size_t *free_row = before;

		row[0] = i;
		for (size_t k = 1; k <= m; k++) {
			row[k] = least(last[k - 1] + !same(a[i - 1], b[k - 1]),
				       1 + least(last[k], row[k - 1]));
			if (i > 1 && k > 1 && same(a[i - 1], b[k - 2]) && same(a[i - 2], b[k - 1]))
				row[k] = least(row[k], before[k - 2] + 1);
		}
		before = last;
		last = row;
		row = free_row;
	}
	return last[m];
}

void nearest_try(struct nearest *nearest, const char *candidate, size_t length)
{
	size_t n = strlen(nearest->wanted), distance;
	size_t most = n < 3 ? 0 : n < 8 ? 1 : n / 4; /* more is another word */

	if (n == 0 || n >= NEAR_MAX || length == 0 || length >= NEAR_MAX)
		return;
	distance = edit_distance(nearest->wanted, n, candidate, length);
	if (n > 1 && n < length && strncasecmp(nearest->wanted, candidate, n) == 0)
		distance = most = 1;
	if (distance > most || (nearest->best[0] && distance >= nearest->distance))
		return;
	snprintf(nearest->best, sizeof(nearest->best), "%.*s", (int)length, candidate);
	nearest->distance = distance;
}

void nearest_try_words(struct nearest *nearest, const char *name)
{
	const char *dot = strchr(name, '.'); /* behind a unit type */

	nearest_try(nearest, name, strlen(name));
	if (dot)
		nearest_try(nearest, dot + 1, strlen(dot + 1));
	while (*name) {
		size_t n = strcspn(name, "._:");

		nearest_try(nearest, name, n);
		name += n + (name[n] != '\0');
	}
}

/* ---- search words */

static bool is_pattern(const char *word)
{
	return strpbrk(word, "*?[") != NULL;
}

static bool word_in(const char *word, const char *text)
{
	return is_pattern(word) ? fnmatch(word, text, FNM_CASEFOLD) == 0
				: strcasestr(text, word) != NULL;
}

void search_start(struct search *search, char *const *word)
{
	size_t n = 0;

	while (word && word[n])
		n++;
	search->word = word;
	search->seen = must_alloc(NULL, n, sizeof(*search->seen));
	memset(search->seen, 0, n * sizeof(*search->seen));
}

enum found search_in(struct search *search, const char *name, const char *text)
{
	enum found found = FOUND_IN_NAME;

	for (size_t i = 0; search->word && search->word[i]; i++) {
		const char *word = search->word[i];

		if (word_in(word, name)) {
			search->seen[i] = true;
		} else if (!is_pattern(word) && word_in(word, text)) {
			search->seen[i] = true;
			found = found == FOUND_IN_NAME ? FOUND_IN_TEXT : found;
		} else {
			found = FOUND_NOT;
		}
	}
	return found;
}

const char *search_missing(const struct search *search)
{
	for (size_t i = 0; search->word && search->word[i]; i++)
		if (!search->seen[i])
			return search->word[i];
	return NULL;
}

int search_failed(const struct search *search, const char *what, const struct nearest *nearest)
{
	char *all = NULL;

	if (search_missing(search))
		return failure("no %s matches '%s'%s%s", what, search_missing(search),
			       nearest->best[0] ? "; nearest is " : "", nearest->best);
	for (size_t i = 0; search->word[i]; i++)
		all = must_add(all, "%s'%s'", i ? " and " : "", search->word[i]);
	failure("no %s matches %s together", what, all);
	free(all);
	return EXIT_FAILURE;
}
