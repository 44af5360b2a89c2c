/* SPDX-License-Identifier: BSD-3-Clause */
#include "search.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

static bool is_word_pattern(const char *word)
{
	return strpbrk(word, "*?[") != NULL;
}

/* Synonyms: a word that users try, and the word that names and descriptions use. */
static const struct {
	const char *theirs, *ours;
} known_as[] = {{"ddio", ":IO_"}, {"optane", "PMM"}, {"pmem", "PMM"}, {"numa", "remote"}};

static bool word_in(const char *word, const char *text)
{
	if (is_word_pattern(word))
		return fnmatch(word, text, FNM_CASEFOLD) == 0;
	for (size_t i = 0; i < sizeof(known_as) / sizeof(known_as[0]); i++)
		if (strcasecmp(word, known_as[i].theirs) == 0 && strstr(text, known_as[i].ours))
			return true;
	return strcasestr(text, word) != NULL;
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
		} else if (!is_word_pattern(word) && word_in(word, text)) {
			search->seen[i] = true;
			found = found == FOUND_IN_NAME ? FOUND_IN_TEXT : found;
		} else {
			found = FOUND_NOT;
		}
	}
	return found;
}

/* The first word that nothing matched; NULL: none. */
static const char *missing_word(const struct search *search)
{
	for (size_t i = 0; search->word && search->word[i]; i++)
		if (!search->seen[i])
			return search->word[i];
	return NULL;
}

/* ---- nothing was found */

static int not_together(const struct search *search, const char *what)
{
	char *all = NULL;

	for (size_t i = 0; search->word[i]; i++)
		all = must_add(all, "%s'%s'", i ? " and " : "", search->word[i]);
	failure("no %s matches %s together", what, all);
	free(all);
	return EXIT_FAILURE;
}

/* A name, and each word of it: what stands between its . : and _ */
static void try_words(struct unc_nearest *nearest, const char *name)
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

int search_failed(const struct search *search, const struct unc_platform *platform, unsigned kinds)
{
	const char *what = kinds == IN_EVENTS    ? "event"
			   : kinds == IN_METRICS ? "metric"
						 : "metric or event";
	const char *word = missing_word(search);
	struct unc_nearest nearest = {.wanted = word};
	char near[UNC_NEAR_MAX + 16];
	const struct unc_metric *m;
	const struct unc_event *e;

	if (!word)
		return not_together(search, what);
	for (size_t i = 0; (m = unc_metric_get(platform, i)) != NULL; i++)
		if (kinds & IN_METRICS)
			try_words(&nearest, m->name);
		else if (strcasestr(m->name, word))
			return failure(
				"no event matches '%s', but metrics do: see 'uncore metrics'",
				word);
	for (size_t i = 0; (e = unc_event_get(platform, i)) != NULL; i++)
		if (kinds & IN_EVENTS)
			try_words(&nearest, e->spec);
		else if (strcasestr(e->spec, word))
			return failure("no metric matches '%s', but events do: see 'uncore list'",
				       word);
	return failure("no %s matches '%s'%s", what, word,
		       unc_nearest_text(&nearest, near, sizeof(near)));
}
