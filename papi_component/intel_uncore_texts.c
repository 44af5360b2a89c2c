/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore_texts.c
 * @ingroup papi_components
 * @brief   Texts that programs have named, by number and by text.
 *
 * PAPI keeps the codes that stand for them, so the table only grows. The caller holds the lock.
 */
#include <string.h>

#include "intel_uncore.h"

struct text {
	char *text;
	unsigned int base;
	int told;
};

struct texts {
	struct text *text;
	unsigned int *slot; /* by the sum of the text: its number from 1, 0 if nothing is there */
	unsigned int n, room;
};

static unsigned int sum_of(const char *text)
{
	unsigned int sum = 2166136261u; /* Fowler, Noll, Vo: FNV-1a of 32 bits */

	while (*text)
		sum = (sum ^ (unsigned char)*text++) * 16777619u;
	return sum;
}

/* Where the text is, or would be. There are twice as many slots as texts. */
static unsigned int *find_slot(const struct texts *texts, unsigned int *slots, unsigned int room,
			       const char *text)
{
	unsigned int at = sum_of(text) % (2 * room);

	while (slots[at] && strcmp(texts->text[slots[at] - 1].text, text) != 0)
		at = (at + 1) % (2 * room);
	return &slots[at];
}

static int grow(struct texts *texts)
{
	unsigned int i, room = texts->room ? 2 * texts->room : 64;
	unsigned int *slot = papi_calloc(2 * room, sizeof(*slot));
	struct text *text = slot ? papi_realloc(texts->text, room * sizeof(*text)) : NULL;

	if (!text) {
		papi_free(slot);
		return PAPI_ENOMEM;
	}
	texts->text = text;
	for (i = 0; i < texts->n; i++)
		*find_slot(texts, slot, room, text[i].text) = i + 1;
	papi_free(texts->slot);
	texts->slot = slot;
	texts->room = room;
	return PAPI_OK;
}

int intel_uncore_text_number(const char *text, unsigned int base, unsigned int *number)
{
	struct texts *texts = intel_uncore.texts;
	unsigned int *slot;

	if (!texts)
		texts = intel_uncore.texts = papi_calloc(1, sizeof(*texts));
	if (!texts || (texts->n == texts->room && grow(texts) != PAPI_OK))
		return PAPI_ENOMEM;
	slot = find_slot(texts, texts->slot, texts->room, text);
	if (!*slot) {
		struct text added = {papi_strdup(text), base, 0};

		if (!added.text)
			return PAPI_ENOMEM;
		texts->text[texts->n++] = added;
		*slot = texts->n;
	}
	*number = *slot - 1;
	return PAPI_OK;
}

const char *intel_uncore_text_get(unsigned int number, unsigned int *base)
{
	const struct texts *texts = intel_uncore.texts;

	if (!texts || number >= texts->n)
		return NULL;
	*base = texts->text[number].base;
	return texts->text[number].text;
}

int intel_uncore_text_tell(const char *text, unsigned int base)
{
	unsigned int number;
	int told;

	if (intel_uncore_text_number(text, base, &number) != PAPI_OK)
		return 1;
	told = intel_uncore.texts->text[number].told;
	intel_uncore.texts->text[number].told = 1;
	return !told;
}

void intel_uncore_texts_forget(void)
{
	struct texts *texts = intel_uncore.texts;

	while (texts && texts->n)
		papi_free(texts->text[--texts->n].text);
	if (texts) {
		papi_free(texts->text);
		papi_free(texts->slot);
	}
	papi_free(texts);
	intel_uncore.texts = NULL;
}
