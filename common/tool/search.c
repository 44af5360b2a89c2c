/* SPDX-License-Identifier: BSD-3-Clause */
#include "search.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* ---- the nearest name */

void nearest_try_words(struct unc_nearest *nearest, const char *name)
{
	const char *dot = strchr(name, '.'); /* behind a unit type */
	char word[UNC_NEAR_MAX];

	unc_nearest_try(nearest, name);
	if (dot)
		unc_nearest_try(nearest, dot + 1);
	while (*name) {
		size_t n = strcspn(name, "._:");

		snprintf(word, sizeof(word), "%.*s", (int)n, name);
		unc_nearest_try(nearest, word);
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

int search_failed(const struct search *search, const char *what, const struct unc_nearest *nearest)
{
	char *all = NULL, near[UNC_NEAR_MAX + 16];

	if (search_missing(search))
		return failure("no %s matches '%s'%s", what, search_missing(search),
			       unc_nearest_text(nearest, near, sizeof(near)));
	for (size_t i = 0; search->word[i]; i++)
		all = must_add(all, "%s'%s'", i ? " and " : "", search->word[i]);
	failure("no %s matches %s together", what, all);
	free(all);
	return EXIT_FAILURE;
}
