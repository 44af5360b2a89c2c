/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore_texts.c
 * @ingroup papi_components
 * @brief   Texts that programs have named, by number and by text.
 *
 * PAPI keeps the codes that stand for them, so the table only grows. The caller holds the lock.
 */
#include <search.h>
#include <string.h>

#include "intel_uncore.h"

struct text {
	char *text;
	unsigned int number, base;
	int told;
};

struct texts {
	void *tree;          /* by the text */
	struct text **texts; /* by the number */
	unsigned int n;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct text *)a)->text, ((const struct text *)b)->text);
}

static void forget(struct text *text)
{
	if (text)
		papi_free(text->text);
	papi_free(text);
}

/* NULL: no memory. */
static struct text *add(struct texts *texts, const char *text, unsigned int base)
{
	struct text *added = papi_calloc(1, sizeof(*added));
	struct text **larger = papi_realloc(texts->texts, (texts->n + 1) * sizeof(added));

	texts->texts = larger ? larger : texts->texts;
	if (added)
		*added = (struct text){papi_strdup(text), texts->n, base, 0};
	if (!larger || !added || !added->text || !tsearch(added, &texts->tree, compare)) {
		forget(added);
		return NULL;
	}
	return texts->texts[texts->n++] = added;
}

/* The text, which is added if it is new; NULL: no memory. */
static struct text *find(const char *text, unsigned int base)
{
	struct text key = {.text = (char *)text}, **found;

	if (!intel_uncore.texts)
		intel_uncore.texts = papi_calloc(1, sizeof(*intel_uncore.texts));
	if (!intel_uncore.texts)
		return NULL;
	found = tfind(&key, &intel_uncore.texts->tree, compare);
	return found ? *found : add(intel_uncore.texts, text, base);
}

int intel_uncore_text_number(const char *text, unsigned int base, unsigned int *number)
{
	const struct text *found = find(text, base);

	if (found)
		*number = found->number;
	return found ? PAPI_OK : PAPI_ENOMEM;
}

const char *intel_uncore_text_get(unsigned int number, unsigned int *base)
{
	const struct texts *texts = intel_uncore.texts;

	if (!texts || number >= texts->n)
		return NULL;
	*base = texts->texts[number]->base;
	return texts->texts[number]->text;
}

int intel_uncore_text_tell(const char *text, unsigned int base)
{
	struct text *found = find(text, base);
	int told = found && found->told;

	if (found)
		found->told = 1;
	return !told;
}

void intel_uncore_texts_forget(void)
{
	struct texts *texts = intel_uncore.texts;

	while (texts && texts->n) {
		tdelete(texts->texts[--texts->n], &texts->tree, compare);
		forget(texts->texts[texts->n]);
	}
	if (texts)
		papi_free(texts->texts);
	papi_free(texts);
	intel_uncore.texts = NULL;
}
