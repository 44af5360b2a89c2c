/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands metrics, groups and eval. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

/* As text, with -v: the formula and its events on lines of their own. */
static void print_metric(struct printer *p, size_t index, const struct unc_metric *m, bool verbose)
{
	const char *more = verbose ? "WHAT" : NULL, *need;
	bool verified = strcmp(m->of, "portable") == 0 &&
			metric_verified(unc_platform_cpu(p->platform)->name, m->name);

	print_row(p);
	print_text(p, "name", "METRIC", m->name);
	print_also(p, "UNIT", "%s", m->unit);
	if (m->available && m->passes > 1)
		print_also(p, "WHAT", "%d passes: ", m->passes);
	print_also(p, "WHAT", m->available ? "%s" : "not available: %s",
		   m->available ? m->desc : m->reason);
	if (verified)
		print_also(p, "WHAT", " Verified on this CPU.");
	print_text(p, "of", NULL, m->of);
	if (verbose && !m->available) {
		print_line(p);
		print_also(p, more, "%s", m->desc);
	}
	if (verbose)
		print_line(p);
	print_also(p, more, "= ");
	print_text(p, "formula", more, m->formula);
	print_open(p, "needs", '[');
	for (size_t i = 0; (need = unc_metric_need(p->platform, index, i)) != NULL; i++) {
		if (verbose)
			print_line(p);
		print_also(p, more, i ? "      " : "needs ");
		print_text(p, NULL, more, need);
	}
	print_close(p);
	print_integer(p, "passes", NULL, m->passes);
	print_bool(p, "available", m->available);
	print_bool(p, "verified", verified);
	print_known(p, "reason", NULL, m->reason);
	print_text(p, "desc", NULL, m->desc);
	print_text(p, "unit", NULL, m->unit);
	print_text(p, "kind", NULL, m->kind == UNC_METRIC_TOTAL ? "total" : "gauge");
}

size_t print_metrics(struct printer *p, struct search *search, enum found wanted, bool verbose)
{
	const struct unc_metric *m;
	size_t n = 0;

	for (size_t i = 0; (m = unc_metric_get(p->platform, i)) != NULL; i++)
		if (search_in(search, m->name, m->desc) == wanted) {
			print_metric(p, i, m, verbose);
			n++;
		}
	return n;
}

int cmd_metrics(struct unc_platform *platform, const struct args *args)
{
	struct search search;
	struct printer p;
	size_t n;
	int status = EXIT_SUCCESS;

	search_start(&search, args->word);
	print_start(&p, args, platform);
	print_list(&p, NULL, NO_TITLES, "METRIC|UNIT|WHAT");
	n = print_metrics(&p, &search, FOUND_IN_NAME, args->verbose);
	if (n == 0 || !args->json) /* a program that asks for a name wants no other */
		n += print_metrics(&p, &search, FOUND_IN_TEXT, args->verbose);
	print_end(&p);
	if (n == 0 && args->words)
		status = search_failed(&search, platform, IN_METRICS);
	free(search.seen);
	return status;
}

/* ---- groups */

static void print_group(struct printer *p, const struct unc_group *g)
{
	print_row(p);
	print_text(p, "group", "GROUP", g->name);
	if (g->available)
		print_also(p, "PASSES", "%d", g->passes);
	else
		print_also(p, "PASSES", "-");
	print_text(p, "desc", "ITEMS", g->desc);
	print_open(p, "items", '[');
	for (size_t i = 0; i < g->n_items; i++) {
		print_line(p);
		print_also(p, "ITEMS", "  ");
		print_text(p, NULL, "ITEMS", g->items[i]);
	}
	print_close(p);
	print_integer(p, "passes", NULL, g->passes);
	print_bool(p, "available", g->available);
	if (g->reason[0]) {
		print_line(p);
		print_also(p, "ITEMS", g->available ? "  not here: " : "  not available: ");
	}
	print_known(p, "reason", "ITEMS", g->reason);
}

int cmd_groups(struct unc_platform *platform, const struct args *args)
{
	const struct unc_group *g;
	struct printer p;
	size_t wanted = 0;

	if (args->words && unc_group_find(platform, args->word[0], &wanted) < 0)
		return bad_input("%s", unc_platform_error(platform));
	print_start(&p, args, platform);
	print_list(&p, NULL, TITLES, "GROUP|>PASSES|ITEMS");
	for (size_t i = wanted; (g = unc_group_get(platform, i)) != NULL; i++) {
		print_group(&p, g);
		if (args->words)
			break;
	}
	print_end(&p);
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
static int check_needed(struct unc_platform *platform, const char *metric, size_t index,
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

static void print_value(const struct args *args, const struct unc_metric *m, double value)
{
	struct printer p;
	char buf[CELL_MAX];

	print_start(&p, args, NULL);
	print_open(&p, NULL, '{');
	print_text(&p, "metric", NULL, m->name);
	print_number(&p, "value", value);
	print_also(&p, "", "%s = %s", m->name, with_unit(buf, value, m->unit));
	print_close(&p);
}

/* A text that is no metric may be an event. Returns the exit status. */
static int not_metric(struct unc_platform *platform, const char *text)
{
	struct unc_encoding e = {.size = sizeof(e)};
	size_t index;

	if (unc_event_find(platform, text, &index) == 0 ||
	    unc_event_encode(platform, text, &e) == 0)
		return bad_input("eval: %s is an event, not a metric: 'uncore encode' shows what "
				 "it is in registers, 'uncore metrics -v' which events metrics are "
				 "made of",
				 text);
	unc_metric_find(platform, text, &index, NULL); /* once more, for its sentence */
	return bad_input("%s", unc_platform_error(platform));
}

int cmd_eval(struct unc_platform *platform, const struct args *args)
{
	size_t index, n = args->words - 1;
	struct unc_count *counts = must_alloc(NULL, n, sizeof(*counts));
	const char *name = args->word[0];
	double value;
	int status = ARGS_OK;

	if (unc_metric_find(platform, name, &index, NULL) < 0)
		status = not_metric(platform, name);
	else if (unc_metric_eval(platform, name, counts, 0, sizeof(*counts), &value) ==
		 UNC_ERR_UNAVAILABLE) /* it may need what no unit counts */
		status = library_error(UNC_ERR_UNAVAILABLE, unc_platform_error(platform));
	if (status == ARGS_OK)
		status = parse_counts(platform, args->word + 1, n, counts);
	if (status == ARGS_OK)
		status = check_needed(platform, name, index, counts, n);
	if (status == ARGS_OK) {
		int rc = unc_metric_eval(platform, name, counts, n, sizeof(*counts), &value);

		if (rc == UNC_ERR_RANGE) /* the counts are well formed: there is no value */
			status = failure("%s", unc_platform_error(platform));
		else
			status = library_error(rc, unc_platform_error(platform));
		if (rc == 0)
			print_value(args, unc_metric_get(platform, index), value);
	}
	for (size_t i = 0; i < n; i++)
		free((char *)counts[i].event);
	free(counts);
	return status;
}
