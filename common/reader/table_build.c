/* SPDX-License-Identifier: BSD-3-Clause */
/* What all parts of the table reader do: rows and strings are added, words of a line taken. */
#include "reader/table_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* ---- rows and strings */

/* A zeroed row more in an array of n; where memory has run out, the one that is thrown away. */
static void *add_row(struct unc_table_reader *r, const void **rows, size_t *n, size_t size)
{
	char *larger = unc_grow((void *)(uintptr_t)*rows, *n, size);

	if (larger)
		*rows = larger;
	else
		r->out_of_memory = true;
	return memset(larger ? larger + (*n)++ * size : (char *)&r->scratch, 0, size);
}

#define UNC_ADD_DEFINE(of, kind)                                                                   \
	struct unc_tbl_##kind *unc_add_##kind(struct unc_table_reader *r)                          \
	{                                                                                          \
		const void *rows = r->of.kind;                                                     \
		void *row = add_row(r, &rows, &r->of.n_##kind, sizeof(*r->of.kind));               \
                                                                                                   \
		r->of.kind = rows;                                                                 \
		return row;                                                                        \
	}
#define UNC_ADD_TO_TABLE(kind) UNC_ADD_DEFINE(t, kind)
#define UNC_ADD_TO_WORKLOAD(kind) UNC_ADD_DEFINE(work, kind)
UNC_TABLE_ARRAYS(UNC_ADD_TO_TABLE)
UNC_WORKLOAD_ARRAYS(UNC_ADD_TO_WORKLOAD)

static size_t hash_text(const char *text)
{
	size_t h = 5381;

	while (*text)
		h = h * 33 + (unsigned char)*text++;
	return h;
}

static bool rehash(struct unc_table_reader *r)
{
	size_t n = r->n_hash ? 2 * r->n_hash : 1024;
	uint32_t *hash = calloc(n, sizeof(*hash));

	if (!hash)
		return false;
	for (size_t i = 0; i < r->n_hash; i++) {
		if (!r->hash[i])
			continue;
		size_t slot = hash_text(r->strings + r->hash[i]) % n;
		while (hash[slot])
			slot = (slot + 1) % n;
		hash[slot] = r->hash[i];
	}
	free(r->hash);
	r->hash = hash;
	r->n_hash = n;
	return true;
}

unc_str unc_add_string(struct unc_table_reader *r, const char *text)
{
	size_t length = strlen(text) + 1;

	if (length == 1)
		return 0;
	if (2 * r->used_hash >= r->n_hash && !rehash(r)) {
		r->out_of_memory = true;
		return 0;
	}
	size_t slot = hash_text(text) % r->n_hash;
	for (; r->hash[slot]; slot = (slot + 1) % r->n_hash)
		if (strcmp(r->strings + r->hash[slot], text) == 0)
			return r->hash[slot];
	if (r->t.n_strings + length > r->cap_strings) {
		size_t cap = 2 * (r->cap_strings + length);
		char *larger = realloc(r->strings, cap);

		if (!larger) {
			r->out_of_memory = true;
			return 0;
		}
		r->strings = larger;
		r->cap_strings = cap;
		r->t.strings = larger;
	}
	unc_str at = (unc_str)r->t.n_strings;
	memcpy(r->strings + at, text, length);
	r->t.n_strings += length;
	r->hash[slot] = at;
	r->used_hash++;
	return at;
}

int unc_table_reader_share(struct unc_table_reader *r, const struct unc_table_reader *with,
			   struct unc_error *err)
{
	char *strings = malloc(with->cap_strings);
	uint32_t *hash = malloc((with->n_hash + 1) * sizeof(*hash));

	if (!strings || !hash) {
		free(strings);
		free(hash);
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	}
	memcpy(strings, with->strings, with->t.n_strings);
	memcpy(hash, with->hash, with->n_hash * sizeof(*hash));
	free(r->strings);
	free(r->hash);
	r->strings = strings;
	r->cap_strings = with->cap_strings;
	r->hash = hash;
	r->n_hash = with->n_hash;
	r->used_hash = with->used_hash;
	r->t.strings = strings;
	r->t.n_strings = with->t.n_strings;
	return 0;
}

/* ---- words */

static bool is_kind(const struct unc_word *w, enum unc_word_kind kind, const char *key)
{
	switch (kind) {
	case UNC_WORD_KEY:
		return w->key && strcmp(w->key, key) == 0;
	case UNC_WORD_FLAG:
		return !w->key && !w->quoted && strcmp(w->value, key) == 0;
	case UNC_WORD_PLAIN:
		return !w->key && !w->quoted;
	case UNC_WORD_ANY:
		return !w->quoted;
	default:
		return w->quoted;
	}
}

struct unc_word *unc_take(struct unc_line *line, enum unc_word_kind kind, const char *key)
{
	for (struct unc_word *w = line->word; w < line->word + line->n; w++)
		if (!w->used && is_kind(w, kind, key)) {
			w->used = true;
			return w;
		}
	return NULL;
}

int unc_words_done(struct unc_table_reader *r)
{
	for (const struct unc_word *w = r->line->word; w < r->line->word + r->line->n; w++) {
		if (w->used)
			continue;
		if (w->quoted)
			return unc_bad(r, "text left over: \"%s\"", w->value);
		return unc_bad(r, "unknown or repeated word '%s%s%s'", w->key ? w->key : "",
			       w->key ? "=" : "", w->value);
	}
	return 0;
}

const char *unc_given(const struct unc_table_reader *r, const char *column)
{
	for (const struct unc_word *w = r->line->word; w < r->line->word + r->line->n; w++)
		if (w->used && w->key && strcmp(w->key, column) == 0)
			return w->value;
	return NULL;
}

int unc_need(struct unc_table_reader *r, const char *key)
{
	return unc_given(r, key) ? 0 : unc_bad(r, "%s= is missing", key);
}

int unc_bad(struct unc_table_reader *r, const char *format, ...)
{
	char text[UNC_ERROR_MAX];

	UNC_FORMAT(text, format);
	return unc_fail(r->err, UNC_ERR_TABLE, "%s", text);
}

int unc_note_wrong(struct unc_table_reader *r)
{
	if (!r->wrong)
		return r->err->code;
	if (!r->wrong->n++)
		r->wrong->first = *r->err;
	unc_error_clear(r->err);
	return 0;
}

struct unc_tbl_type *unc_current_type(struct unc_table_reader *r)
{
	return UNC_ROW(r, type, r->type);
}

/* "0c.1" */
bool unc_parse_devfn(const char *text, uint64_t *devfn)
{
	unsigned device, function;
	int end = 0;

	if (sscanf(text, "%2x.%1u%n", &device, &function, &end) != 2 || text[end] || device > 31 ||
	    function > 7)
		return false;
	*devfn = UNC_DEVFN(device, function);
	return true;
}
