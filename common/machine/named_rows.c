/* SPDX-License-Identifier: BSD-3-Clause */
/* PMUs that the kernel names (named.h): a table that grows, and reasons for PMUs left out. */
#include "machine/named_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/text.h"

void unc_named_no_memory(struct unc_naming *m)
{
	m->rc = m->rc ? m->rc : unc_no_memory(m->err);
}

void *unc_named_row(struct unc_naming *m, void *array, size_t *n, size_t size)
{
	void *row = *n < UNC_NONE ? unc_add_to(array, n, size) : NULL;

	if (!row && *n == UNC_NONE)
		m->rc = m->rc ? m->rc
			      : unc_fail(m->err, UNC_ERR_TABLE,
					 UNC_NAMED_FOLDER " has more than a table can hold");
	else if (!row)
		unc_named_no_memory(m);
	_Static_assert(sizeof(struct unc_tbl_type) <= sizeof(m->scrap), "the largest row");
	return row ? row : memset(m->scrap, 0, sizeof(m->scrap));
}

unc_str unc_named_text(struct unc_naming *m, const char *format, ...)
{
	char text[UNC_ERROR_MAX];
	size_t at = m->t->n_strings, size;
	char *all = (char *)(uintptr_t)m->t->strings;

	UNC_FORMAT(text, format);
	size = strlen(text) + 1;
	if (size == 1)
		return 0;
	if (!(all = realloc(all, at + size))) {
		unc_named_no_memory(m);
		return 0;
	}
	memcpy(all + at, text, size);
	m->t->strings = all;
	m->t->n_strings += size;
	return (unc_str)at;
}

void unc_named_leave(struct unc_naming *m, const char *pmu, const char *file, const char *format,
		     ...)
{
	char why[UNC_ERROR_MAX], text[2 * UNC_ERROR_MAX];
	char **line = UNC_ADD_TO(m->out->left, m->out->n_left);

	UNC_FORMAT(why, format);
	snprintf(text, sizeof(text), "%s%s%s: %s", pmu, file ? "." : "", file ? file : "", why);
	if (!line || !(*line = strdup(text)))
		unc_named_no_memory(m);
}

const char *unc_named_left(const struct unc_named *named, const char *text)
{
	for (size_t i = 0; i < named->n_left; i++) {
		size_t n = strcspn(named->left[i], ":");

		if (strncasecmp(text, named->left[i], n) == 0 && !isalnum((unsigned char)text[n]) &&
		    text[n] != '_')
			return named->left[i];
	}
	return NULL;
}

static int order_names(const void *pa, const void *pb)
{
	const char *const *a = pa, *const *b = pb;

	return strverscmp(*a, *b);
}

char **unc_named_list(const struct unc_fs *fs, const char *pmu, const char *folder)
{
	char **names = unc_fs_list(fs, UNC_NAMED_FOLDER "%s%s%s", *pmu ? "/" : "", pmu, folder);
	size_t n = 0;

	while (names && names[n])
		n++;
	if (n)
		qsort(names, n, sizeof(*names), order_names);
	return names;
}

void unc_named_drop(struct unc_named *named)
{
	struct unc_table *t = named->table;

	if (!t)
		return;
#define FREE(row) free((void *)(uintptr_t)t->row);
	UNC_TABLE_ARRAYS(FREE)
#undef FREE
	free((void *)(uintptr_t)t->strings);
	free(t);
	named->table = NULL;
}

void unc_named_free(struct unc_named *named)
{
	unc_named_drop(named);
	for (size_t i = 0; i < named->n_left; i++)
		free(named->left[i]);
	free(named->left);
	free(named->unit);
	*named = (struct unc_named){0};
}
