/* SPDX-License-Identifier: BSD-3-Clause */
/* What all parts of the table reader do: rows and strings are added, words of a line taken. */
#include "reader/table_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* ---- rows and strings */

void *unc_add_row(struct unc_table_reader *r, void *rows, size_t *n, size_t size)
{
	void *row = unc_add_to(rows, n, size);

	r->out_of_memory |= !row;
	return row ? row : memset(&r->scratch, 0, size);
}

static size_t hash_text(const char *text)
{
	size_t h = 5381;

	while (*text)
		h = h * 33 + (unsigned char)*text++;
	return h % UNC_POOL_CHAINS;
}

/* Room for a text of this length behind the first n bytes. */
static bool has_room(struct unc_pool *pool, size_t n, size_t length)
{
	char *larger;

	if (n + length <= pool->cap)
		return true;
	if (!(larger = realloc(pool->text, 2 * (pool->cap + length))))
		return false;
	pool->text = larger;
	pool->cap = 2 * (pool->cap + length);
	return true;
}

unc_str unc_add_string(struct unc_table_reader *r, const char *text)
{
	struct unc_pool *pool = &r->strings;
	uint32_t *chain = &pool->chain[hash_text(text)];
	size_t length = strlen(text) + 1;

	if (length == 1)
		return 0;
	for (uint32_t i = *chain; i; i = pool->texts[i - 1].next)
		if (strcmp(pool->text + pool->texts[i - 1].at, text) == 0)
			return pool->texts[i - 1].at;
	struct unc_pool_text *texts = unc_grow(pool->texts, pool->n, sizeof(*texts));

	pool->texts = texts ? texts : pool->texts;
	if (!texts || !has_room(pool, r->t.n_strings, length)) {
		r->out_of_memory = true;
		return 0;
	}
	memcpy(pool->text + r->t.n_strings, text, length);
	r->t.strings = pool->text;
	texts[pool->n++] = (struct unc_pool_text){(unc_str)r->t.n_strings, *chain};
	*chain = (uint32_t)pool->n;
	r->t.n_strings += length;
	return texts[pool->n - 1].at;
}

void unc_table_reader_share(struct unc_table_reader *r, struct unc_table_reader *with)
{
	free(r->strings.text);
	r->strings = with->strings;
	with->strings = (struct unc_pool){NULL};
	r->t.strings = r->strings.text;
	r->t.n_strings = with->t.n_strings;
}

/* ---- words */

static bool is_kind(const struct unc_word *w, enum unc_word_kind kind, const char *key)
{
	switch (kind) {
	case UNC_WORD_KEY:
		return w->key && (!key || strcmp(w->key, key) == 0);
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

const char *unc_given_nth(const struct unc_table_reader *r, const char *column, unsigned n)
{
	for (const struct unc_word *w = r->line->word; w < r->line->word + r->line->n; w++)
		if (w->used && w->key && strcmp(w->key, column) == 0 && n-- == 0)
			return w->value;
	return NULL;
}

const char *unc_given(const struct unc_table_reader *r, const char *column)
{
	return unc_given_nth(r, column, 0);
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
	return UNC_ROW(r, t, type, r->type);
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

int unc_read_list(const char *list, bool (*parse)(const char *, uint64_t *), uint64_t limit,
		  uint64_t *out, int max)
{
	char word[24];
	int n = 0;

	for (; list; n++)
		if (n == max || !unc_list_next(&list, word, sizeof(word)) ||
		    !parse(word, &out[n]) || out[n] > limit)
			return -1;
	return n;
}

bool unc_read_pair(const char *text, char name[64], uint64_t *number)
{
	size_t length = strcspn(text, ":");

	snprintf(name, 64, "%.*s", (int)length, text);
	return length < 64 && text[length] && unc_parse_number(text + length + 1, number);
}

int unc_read_regs(struct unc_table_reader *r, const char *column, uint16_t *out, int max)
{
	const char *list = unc_given(r, column);
	char word[64];
	int n = 0;

	for (const char *p = list; p; n++) {
		if (n == max || !unc_list_next(&p, word, sizeof(word)))
			return unc_bad(r, "%s=%s is not one or two registers", column, list);
		out[n] = unc_find_reg(&r->t, unc_current_type(r), word);
		if (out[n] == UNC_NONE)
			return unc_bad(r, "%s=%s is not a register above", column, word);
	}
	return n;
}
