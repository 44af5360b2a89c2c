/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: portable.tbl and metrics.tbl. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "encode/metric.h"
#include "reader/table_build.h"

enum { MAX_TEXT = 1024, MAX_WORD = 24 };

/* Replaces {x} by a number or word. */
static bool expand(const char *text, const char *x, char *out, size_t size)
{
	size_t n = 0;

	while (*text && n + MAX_WORD < size) {
		if (strncmp(text, "{x}", 3) == 0) {
			n += (size_t)snprintf(out + n, size - n, "%s", x);
			text += 3;
		} else {
			out[n++] = *text++;
		}
	}
	out[n] = '\0';
	return *text == '\0';
}

static int check_unit(struct unc_table_reader *r, const char *unit)
{
	const char *units = "bytes,count,ratio,ns,clocks,hz,bytes_per_second,count_per_second";
	char one[24];

	while (units && unc_list_next(&units, one, sizeof(one)))
		if (strcmp(unit, one) == 0)
			return 0;
	return unc_bad(r, "unit=%s is not a known unit", unit);
}

/* ---- portable.tbl */

static const struct unc_tbl_metric *find_portable(const struct unc_table_reader *r,
						  const char *name)
{
	for (size_t i = 0; i < r->n_portable; i++)
		if (unc_same(unc_tbl_str(&r->t, r->portable[i].name), name))
			return &r->portable[i];
	return NULL;
}

int unc_end_portable(struct unc_table_reader *r)
{
	const char *name = unc_given(r, "NAME"), *unit = unc_given(r, "unit");
	int rc = check_unit(r, unit);

	if (rc < 0)
		return rc;
	if (strchr(name, '.'))
		return unc_bad(r, "portable %s: a metric of a unit type is not portable", name);
	if (find_portable(r, name))
		return unc_bad(r, "portable %s is described twice", name);
	if (r->n_portable == UNC_MAX_PORTABLE)
		return unc_bad(r, "more than %d portable metrics", UNC_MAX_PORTABLE);
	r->w.metric.unit = unc_add_string(r, unit);
	r->portable[r->n_portable++] = r->w.metric;
	return 0;
}

int unc_check_portable(struct unc_table_reader *r)
{
	for (size_t i = 0; i < r->n_portable; i++) {
		const char *name = unc_tbl_str(&r->t, r->portable[i].name);

		if (unc_metric_index(&r->t, name) >= 0)
			continue;
		unc_bad(r,
			"%s: metrics.tbl lacks %s of portable.tbl: give a formula, or why there is "
			"none by unavailable=",
			r->cpu, name);
		snprintf(r->metric, sizeof(r->metric), "%s", name);
		unc_lose_metric(r);
		int rc = unc_note_wrong(r);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Moves a row to a place before it. */
static void move_up(struct unc_tbl_metric *row, size_t from, size_t to)
{
	struct unc_tbl_metric moved = row[from];

	memmove(&row[to + 1], &row[to], (from - to) * sizeof(*row));
	row[to] = moved;
}

void unc_sort_metrics(struct unc_table_reader *r)
{
	struct unc_tbl_metric *row = r->t.n_metric ? UNC_ROW(r, t, metric, 0) : NULL;

	for (size_t to = 0; to < r->n_portable; to++)
		for (size_t i = to; i < r->t.n_metric; i++)
			if (row[i].type == UNC_NONE && row[i].name == r->portable[to].name) {
				move_up(row, i, to);
				break;
			}
}

/* ---- metrics.tbl */

/* What portable.tbl says of a metric, and what the CPU adds to it. */
static int take_portable(struct unc_table_reader *r, const char *particular,
			 struct unc_tbl_metric *m)
{
	const struct unc_tbl_metric *p = find_portable(r, unc_tbl_str(&r->t, m->name));
	char desc[2 * MAX_TEXT];
	struct unc_buf buf = UNC_BUF(desc);

	if (!p)
		return unc_bad(r,
			       "metric %s: portable.tbl has no such name; others begin with a unit "
			       "type",
			       unc_given(r, "NAME"));
	if (unc_given(r, "unit") || unc_given(r, "kind"))
		return unc_bad(r, "metric %s: portable.tbl has its unit and kind",
			       unc_given(r, "NAME"));
	unc_put(&buf, "%s%s%s", unc_tbl_str(&r->t, p->desc), *particular ? " " : "", particular);
	m->unit = p->unit;
	m->kind = p->kind;
	m->desc = unc_add_string(r, desc);
	return 0;
}

static int take_own(struct unc_table_reader *r, const char *desc, struct unc_tbl_metric *m)
{
	const char *unit = unc_given(r, "unit");
	int rc;

	if ((rc = unc_need(r, "unit")) < 0 || (rc = check_unit(r, unit)) < 0 ||
	    (rc = unc_need(r, "kind")) < 0)
		return rc;
	if (!*desc)
		return unc_bad(r, "metric: \"DESCRIPTION\" is missing");
	m->unit = unc_add_string(r, unit);
	m->kind = r->w.metric.kind;
	m->desc = unc_add_string(r, desc);
	return 0;
}

bool unc_lose_metric(struct unc_table_reader *r)
{
	const char *name = r->metric[0] ? r->metric : r->statement ? unc_given(r, "NAME") : NULL;
	struct unc_tbl_metric m = {.unavailable = unc_add_string(r, r->err->text)};
	int found = name ? unc_metric_index(&r->t, name) : -1;

	if (found >= 0 && r->t.metric[found].unavailable)
		return false;
	if (found >= 0)
		UNC_ROW(r, t, metric, found)->unavailable = m.unavailable;
	else if (!name || !(name = unc_metric_split(&r->t, name, &m.type)))
		return false;
	m.name = unc_add_string(r, name);
	if (found < 0)
		*UNC_ADD(r, t, metric) = m;
	return true;
}

/* What single lines cannot show: a formula may have metrics that come behind it. */
static int check_formula(struct unc_table_reader *r)
{
	int i = unc_metric_index(&r->t, r->metric);
	struct unc_expr *expr;

	if (i < 0 || r->t.metric[i].unavailable)
		return 0;
	if (unc_formula_parse(&r->t, (unsigned)i, NULL, NULL, &expr, r->err) < 0) {
		unc_error_prefix(r->err, "metric %s", r->metric);
		return r->err->code = UNC_ERR_TABLE;
	}
	unc_expr_free(expr);
	return 0;
}

static int add_metric(struct unc_table_reader *r, const char *x)
{
	const char *given = unc_given(r, "NAME"), *why = unc_given(r, "unavailable");
	const char *words = unc_given(r, "\"DESCRIPTION\"");
	struct unc_tbl_metric m = {0};
	char *name = r->metric, formula[MAX_TEXT], desc[MAX_TEXT];

	if (!expand(given, x, name, sizeof(r->metric)) ||
	    !expand(unc_given(r, "formula"), x, formula, sizeof(formula)) ||
	    !expand(words ? words : "", x, desc, sizeof(desc)))
		return unc_bad(r, "metric %s: a text is too long", given);
	const char *own = unc_metric_split(&r->t, name, &m.type);
	if (!own || !*own)
		return unc_bad(r, "metric %s: no such unit type", name);
	if (r->checking)
		return check_formula(r);
	if (unc_metric_index(&r->t, name) >= 0)
		return unc_bad(r, "metric %s is described twice", name);
	m.name = unc_add_string(r, own);
	m.formula = unc_add_string(r, formula);
	m.unavailable = unc_add_string(r, why ? why : "");
	int rc = m.type == UNC_NONE ? take_portable(r, desc, &m) : take_own(r, desc, &m);
	if (rc == 0)
		*UNC_ADD(r, t, metric) = m;
	return rc;
}

/* x=: numbers and ranges, or words. */
static int add_metrics(struct unc_table_reader *r, const char *list)
{
	char word[MAX_WORD];
	uint64_t numbers;
	int rc = 0;

	if (unc_parse_mask(list, &numbers)) {
		for (unsigned x = 0; x < 64 && rc == 0; x++) {
			snprintf(word, sizeof(word), "%u", x);
			if (numbers >> x & 1)
				rc = add_metric(r, word);
		}
		return rc;
	}
	while (list && *list && rc == 0) {
		const char *rest = list;

		if (!unc_list_next(&list, word, sizeof(word)) || !word[0] ||
		    (word[0] >= '0' && word[0] <= '9'))
			return unc_bad(r, "x=%s is neither numbers up to 63 nor a list of words",
				       rest);
		rc = add_metric(r, word);
	}
	return rc;
}

int unc_end_metric(struct unc_table_reader *r)
{
	const char *x = unc_given(r, "x");

	if ((strstr(unc_given(r, "NAME"), "{x}") != NULL) != (x != NULL))
		return unc_bad(r, "x= and {x} in the name belong together");
	return x ? add_metrics(r, x) : add_metric(r, "");
}
