/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of tests/metrics/CPU.cases that have a value: "METRIC ; COUNT,COUNT ; VALUE ; SOURCE". */
#ifndef UNC_TEST_METRIC_ROWS_H
#define UNC_TEST_METRIC_ROWS_H

#include <stdlib.h>
#include <string.h>

#include "encode/event.h"
#include "encode/metric.h"
#include "platform/platform.h"

enum { ROW_COUNTS = 16 };

struct row_counts {
	struct unc_count count[ROW_COUNTS];
	int aggregate[ROW_COUNTS]; /* UNC_EXPR_*: as the row says */
	size_t n;
};

/* "sum(EVENT)" and "mean(EVENT)" become EVENT. */
static inline int row_aggregate(char **event)
{
	static const struct {
		const char *word;
		int aggregate;
	} words[] = {{"sum(", UNC_EXPR_SUM}, {"mean(", UNC_EXPR_MEAN}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i].word), end = strlen(*event);

		if (strncmp(*event, words[i].word, n) == 0 && (*event)[end - 1] == ')') {
			(*event)[end - 1] = '\0';
			*event += n;
			return words[i].aggregate;
		}
	}
	return UNC_EXPR_AS_EVENT;
}

/* "EVENT=COUNT,sum(EVENT)=COUNT": the count stands behind the last '=', events have some too. 0, or -1. */
static inline int row_read(char *text, struct row_counts *row)
{
	char *next = NULL;

	row->n = 0;
	for (char *one = strtok_r(text, ",", &next); one; one = strtok_r(NULL, ",", &next)) {
		char *value = strrchr(one, '='), *end;

		if (!value || row->n == ROW_COUNTS)
			return -1;
		*value++ = '\0';
		row->aggregate[row->n] = row_aggregate(&one);
		row->count[row->n].event = one;
		row->count[row->n].value = strtod(value, &end);
		if (end == value || *end)
			return -1;
		row->n++;
	}
	return row->n == 0 ? -1 : 0;
}

/* To the twelve digits or more that a row has. */
static inline bool row_equals(double got, double want)
{
	return got - want <= want * 1e-12 && want - got <= want * 1e-12;
}

/*
 * The first event of a row that the formula puts together over its units otherwise than the row says; NULL: none.
 * The row of a portable metric says it of each event, that of another one where it wants to.
 */
static inline const char *row_misread(const struct unc_table *t, unsigned metric,
				      const struct row_counts *row)
{
	const char *misread = NULL;
	struct unc_expr *expr;
	struct unc_error err = {0};

	if (unc_formula_parse(t, metric, NULL, NULL, &expr, &err) < 0)
		return "all";
	for (size_t i = 0; i < row->n && !misread; i++) {
		char event[UNC_SPEC_MAX];

		if (unc_spec_canonical(t, row->count[i].event, event, sizeof(event), &err) < 0)
			continue; /* TIME and its like */
		for (size_t k = 0; k < unc_expr_refs(expr); k++) {
			const struct unc_expr_ref *ref = unc_expr_ref(expr, k);
			bool said = t->metric[metric].type == UNC_NONE ||
				    row->aggregate[i] != UNC_EXPR_AS_EVENT;

			if (said && strcmp(ref->event, event) == 0 &&
			    ref->aggregate != row->aggregate[i])
				misread = row->count[i].event;
		}
	}
	unc_expr_free(expr);
	return misread;
}

#endif
