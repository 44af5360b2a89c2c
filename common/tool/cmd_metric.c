/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands metrics and eval. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "output.h"
#include "tool.h"

static void metric_json(struct json *j, const struct unc_platform *platform, size_t index,
			const struct unc_metric *m)
{
	const char *need;

	json_object(j, NULL);
	json_text(j, "name", m->name);
	json_text(j, "of", m->of);
	json_text(j, "formula", m->formula);
	json_array(j, "needs");
	for (size_t i = 0; (need = unc_metric_need(platform, index, i)) != NULL; i++)
		json_text(j, NULL, need);
	json_end(j);
	json_integer(j, "passes", m->passes);
	json_bool(j, "available", m->available);
	json_text_or_null(j, "reason", m->reason);
	json_text(j, "desc", m->desc);
	json_text(j, "unit", m->unit);
	json_text(j, "kind", m->kind == UNC_METRIC_TOTAL ? "total" : "gauge");
	json_end(j);
}

static void metric_text(struct table *t, const struct unc_metric *m)
{
	char *passes = m->passes > 1 ? must_print("%d passes: ", m->passes) : must_print("%s", "");
	char *desc = m->available ? must_print("%s%s", passes, m->desc)
				  : must_print("not available: %s", m->reason);

	TABLE_ROW(t, m->name, m->unit, desc);
	free(passes);
	free(desc);
}

/* With -v: a paragraph for each. */
static void metric_verbose(const struct unc_platform *platform, size_t index,
			   const struct unc_metric *m)
{
	const char *need;

	printf("%s  [%s]  %s\n  = %s\n", m->name, m->unit, m->desc, m->formula);
	for (size_t i = 0; (need = unc_metric_need(platform, index, i)) != NULL; i++)
		printf("  %s  %s\n", i ? "     " : "needs", need);
	if (!m->available)
		printf("  not available: %s\n", m->reason);
	else if (m->passes > 1)
		printf("  %d passes\n", m->passes);
}

static size_t metrics_print(const struct unc_platform *platform, const struct args *args,
			    const char *pattern)
{
	const struct unc_metric *m;
	struct table *t = table_new("lll");
	struct json j;
	size_t n = 0;

	json_start(&j, stdout);
	if (args->json)
		json_array(&j, NULL);
	else
		print_label(platform);
	for (size_t i = 0; (m = unc_metric_get(platform, i)) != NULL; i++) {
		if (!name_matches(pattern, m->name))
			continue;
		if (args->json)
			metric_json(&j, platform, i, m);
		else if (args->verbose)
			metric_verbose(platform, i, m);
		else
			metric_text(t, m);
		n++;
	}
	if (args->json)
		json_end(&j);
	table_print(t);
	table_free(t);
	return n;
}

int cmd_metrics(int argc, char **argv)
{
	struct unc_platform *platform;
	struct args args;
	int rc = args_parse(&args, argc, argv, true, 0, 1);

	if (rc == ARGS_OK)
		rc = open_tables(&args, &platform);
	if (rc != ARGS_OK)
		return rc;
	rc = EXIT_SUCCESS;
	if (metrics_print(platform, &args, argv[optind]) == 0 && argv[optind])
		rc = failure("no metric matches '%s'", argv[optind]);
	unc_platform_close(platform);
	return rc;
}

/* ---- eval */

static bool is_variable(const char *name)
{
	static const char *const variables[] = {"TIME", "TSC", "TSC_HZ"};

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
	char needs[1000] = "";
	const char *need;

	for (size_t i = 0; i < n; i++) {
		bool used = is_variable(counts[i].event);

		for (size_t k = 0; !used && (need = unc_metric_need(platform, index, k)); k++)
			used = strcmp(need, counts[i].event) == 0;
		if (used)
			continue;
		for (size_t k = 0, at = 0;
		     at < sizeof(needs) && (need = unc_metric_need(platform, index, k)); k++)
			at += (size_t)snprintf(needs + at, sizeof(needs) - at, "%s%s",
					       k ? ", " : "", need);
		return bad_input("eval: %s does not need %s; it needs %s", metric, counts[i].event,
				 needs[0] ? needs : "no event");
	}
	return ARGS_OK;
}

static void print_value(const struct unc_metric *m, double value, bool as_json)
{
	char buf[CELL_MAX];
	struct json j;

	if (!as_json) {
		printf("%s = %s\n", m->name, with_unit(buf, value, m->unit));
		return;
	}
	json_start(&j, stdout);
	json_object(&j, NULL);
	json_text(&j, "metric", m->name);
	json_number(&j, "value", value);
	json_end(&j);
}

static int eval(struct unc_platform *platform, const struct args *args, char **texts, size_t n)
{
	struct unc_count *counts = must_alloc(NULL, n, sizeof(*counts));
	const char *name = texts[0];
	double value;
	size_t index;
	int status;

	memset(counts, 0, n * sizeof(*counts));
	status = parse_counts(platform, texts + 1, n - 1, counts);
	if (status == ARGS_OK && find_metric(platform, name, &index) == 0)
		status = check_needed(platform, name, index, counts, n - 1);
	if (status == ARGS_OK) {
		int rc = unc_metric_eval(platform, name, counts, n - 1, &value);

		status = EXIT_SUCCESS;
		if (rc == UNC_ERR_RANGE) /* the counts are well formed: there is no value */
			status = failure("%s", unc_platform_error(platform));
		else if (rc < 0)
			status = library_error(rc, unc_platform_error(platform));
		else if (find_metric(platform, name, &index) < 0)
			status = failure("eval: %s is not in the list of metrics", name);
		else
			print_value(unc_metric_get(platform, index), value, args->json);
	}
	for (size_t i = 0; i < n; i++)
		free((char *)counts[i].event);
	free(counts);
	return status;
}

int cmd_eval(int argc, char **argv)
{
	struct unc_platform *platform;
	struct args args;
	int rc = args_parse(&args, argc, argv, true, 1, argc);

	if (rc == ARGS_OK)
		rc = open_tables(&args, &platform);
	if (rc != ARGS_OK)
		return rc;
	rc = eval(platform, &args, argv + optind, (size_t)(argc - optind));
	unc_platform_close(platform);
	return rc;
}
