/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands metrics, groups and eval. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

const struct column metric_columns[] = {{CELL("name", "METRIC")},
					{CELL("unit", "UNIT")},
					{FOLD("text", "WHAT")},
					{BELOW("more", "")},
					{BELOW("formula", "= ")},
					{BELOW("needs", "needs ")},
					{0}};

/* As text, with -v: the formula and its events on lines of their own. */
static void put_metric(struct record *r, size_t index, const struct unc_metric *m, bool verbose)
{
	bool verified = strcmp(m->of, "portable") == 0 &&
			metric_verified(unc_platform_cpu(r->platform)->name, m->name);
	const char *need;

	record_row(r);
	record_text(r, "name", m->name);
	if (m->available && m->passes > 1)
		record_also(r, "text", "%d passes: ", m->passes);
	record_also(r, "text", "%s%s%s",
		    m->available ? "" : "not available: ", m->available ? m->desc : m->reason,
		    verified ? " Verified on this CPU." : "");
	record_text(r, "of", m->of);
	if (verbose && !m->available)
		record_also(r, "more", "%s", m->desc);
	if (r->form == JSON || verbose) {
		record_text(r, "formula", m->formula);
		record_open(r, "needs", '[');
		for (size_t i = 0; (need = unc_metric_need(r->platform, index, i)) != NULL; i++)
			record_text(r, NULL, need);
		record_close(r);
	}
	record_integer(r, "passes", m->passes);
	record_bool(r, "available", m->available);
	record_bool(r, "verified", verified);
	record_known(r, "reason", m->reason);
	record_text(r, "desc", m->desc);
	record_text(r, "unit", m->unit);
	record_text(r, "kind", m->kind == UNC_METRIC_TOTAL ? "total" : "gauge");
}

size_t record_metrics(struct record *r, struct search *search, enum found wanted, bool verbose)
{
	const struct unc_metric *m;
	size_t n = 0;

	for (size_t i = 0; (m = unc_metric_get(r->platform, i)) != NULL; i++)
		if (search_in(search, m->name, m->desc) == wanted) {
			put_metric(r, i, m, verbose);
			n++;
		}
	return n;
}

int cmd_metrics(struct unc_platform *platform, const struct args *args)
{
	struct search search;
	struct record r;
	size_t n;
	int status = EXIT_SUCCESS;

	search_start(&search, args->word);
	record_start(&r, args, platform);
	record_list(&r, NULL, metric_columns);
	n = record_metrics(&r, &search, FOUND_IN_NAME, args->verbose);
	if (n == 0 || !args->json) /* a program that asks for a name wants no other */
		n += record_metrics(&r, &search, FOUND_IN_TEXT, args->verbose);
	record_end(&r);
	if (n == 0 && args->words)
		status = search_failed(&search, platform, IN_METRICS);
	free(search.seen);
	return status;
}

/* ---- groups */

static const struct column group_columns[] = {
	{CELL("group", "GROUP")}, {NUMBER("counted", "PASSES")}, {FOLD("desc", "ITEMS")},
	{BELOW("items", "")},     {BELOW("lacks", "")},          {0}};

static void put_group(struct record *r, const struct unc_group *g)
{
	record_row(r);
	record_text(r, "group", g->name);
	record_also(r, "counted", g->available ? "%d" : "-", g->passes);
	record_text(r, "desc", g->desc);
	record_open(r, "items", '[');
	for (size_t i = 0; i < g->n_items; i++)
		record_text(r, NULL, g->items[i]);
	record_close(r);
	record_integer(r, "passes", g->passes);
	record_bool(r, "available", g->available);
	record_known(r, "reason", g->reason);
	if (g->reason[0])
		record_also(r, "lacks", "%s: %s", g->available ? "not here" : "not available",
			    g->reason);
}

int cmd_groups(struct unc_platform *platform, const struct args *args)
{
	const struct unc_group *g;
	struct record r;
	size_t wanted = 0;

	if (args->words && unc_group_find(platform, args->word[0], &wanted) < 0)
		return bad_input("%s", unc_platform_error(platform));
	record_start(&r, args, platform);
	record_list(&r, NULL, group_columns);
	for (size_t i = wanted; (g = unc_group_get(platform, i)) != NULL; i++) {
		put_group(&r, g);
		if (args->words)
			break;
	}
	record_end(&r);
	return EXIT_SUCCESS;
}

/* ---- eval */

static bool is_variable(const char *name)
{
	static const char *const variables[] = {"TIME", "TSC", "TSC_HZ", "MEMORY_PEAK"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (strcmp(name, variables[i]) == 0)
			return true;
	return false;
}

/* "EVENT=COUNT": an event may hold '=' itself. ARGS_OK, or the exit status. */
static int parse_count(struct unc_platform *platform, const char *text, struct unc_count *out)
{
	struct unc_encoding encoding = {.size = sizeof(encoding)};
	const char *equals = strrchr(text, '=');
	char *name, *end;

	if (!equals || equals == text)
		return bad_input("eval: '%s' is not EVENT=COUNT", text);
	errno = 0;
	out->value = strtod(equals + 1, &end);
	if (end == equals + 1 || *end || errno || !isfinite(out->value) || out->value < 0)
		return bad_input("eval: '%s' is not a count in '%s'", equals + 1, text);
	name = must_print("%.*s", (int)(equals - text), text);
	out->event = name;
	if (is_variable(name))
		return ARGS_OK;
	int rc = unc_event_encode(platform, name, &encoding);

	if (rc < 0)
		return library_error(rc, unc_platform_error(platform));
	out->event = must_print("%s", encoding.name);
	free(name);
	return ARGS_OK;
}

static int parse_counts(struct unc_platform *platform, char **texts, size_t n,
			struct unc_count *counts)
{
	for (size_t i = 0; i < n; i++) {
		int rc = parse_count(platform, texts[i], &counts[i]);

		if (rc != ARGS_OK)
			return rc;
		for (size_t k = 0; k < i; k++)
			if (strcmp(counts[k].event, counts[i].event) == 0)
				return bad_input("eval: %s is given twice", counts[i].event);
	}
	return ARGS_OK;
}

/* A count that the formula does not use is a mistake. ARGS_OK, or the exit status. */
static int check_given_events(struct unc_platform *platform, const char *metric, size_t index,
			      const struct unc_count *counts, size_t n)
{
	const char *need;

	for (size_t i = 0; i < n; i++) {
		bool used = is_variable(counts[i].event);

		for (size_t k = 0; !used && (need = unc_metric_need(platform, index, k)); k++)
			used = strcmp(need, counts[i].event) == 0;
		if (used)
			continue;
		char *needs = NULL;

		for (size_t k = 0; (need = unc_metric_need(platform, index, k)) != NULL; k++)
			needs = must_list(needs, need);
		bad_input("eval: %s does not need %s; it needs %s", metric, counts[i].event,
			  needs ? needs : "no event");
		free(needs);
		return EXIT_BAD_INPUT;
	}
	return ARGS_OK;
}

static const struct column value_columns[] = {{CELL("text", "")}, {0}};

static void put_metric_value(const struct args *args, const struct unc_metric *m, double value)
{
	struct record r;
	char buf[CELL_MAX];

	record_start(&r, args, NULL);
	record_object(&r, value_columns);
	record_text(&r, "metric", m->name);
	record_number(&r, "value", value);
	record_also(&r, "text", "%s = %s", m->name, with_unit(buf, value, m->unit));
	record_end(&r);
}

int cmd_eval(struct unc_platform *platform, const struct args *args)
{
	struct unc_item item = {.size = sizeof(item)};
	size_t n = args->words - 1;
	struct unc_count *counts = must_alloc(NULL, n, sizeof(*counts));
	const char *name = args->word[0];
	double value;
	int status = ARGS_OK, found = unc_item_find(platform, name, &item);
	int rc = unc_metric_eval(platform, name, counts, 0, sizeof(*counts), &value);

	if (found == 0 && item.event)
		status = bad_input(
			"eval: %s is an event, not a metric: 'uncore encode' shows what it is in "
			"registers, 'uncore metrics -v' which events metrics are made of",
			name);
	else if (found < 0)
		status = bad_input("%s", unc_platform_error(platform));
	else if (rc == UNC_ERR_UNAVAILABLE) /* it may need what no unit counts */
		status = library_error(rc, unc_platform_error(platform));
	if (status == ARGS_OK)
		status = parse_counts(platform, args->word + 1, n, counts);
	if (status == ARGS_OK)
		status = check_given_events(platform, name, item.index, counts, n);
	if (status == ARGS_OK) {
		rc = unc_metric_eval(platform, name, counts, n, sizeof(*counts), &value);

		if (rc == UNC_ERR_RANGE) /* the counts are well formed: there is no value */
			status = failure("%s", unc_platform_error(platform));
		else
			status = library_error(rc, unc_platform_error(platform));
		if (rc == 0)
			put_metric_value(args, item.metric, value);
	}
	for (size_t i = 0; i < n; i++)
		free((char *)counts[i].event);
	free(counts);
	return status;
}
