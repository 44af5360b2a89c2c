/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands cpus, list and units. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "output.h"
#include "tool.h"

static void cpu_json(struct json *j, const struct unc_cpu *cpu)
{
	json_object(j, NULL);
	json_text(j, "cpu", cpu->name);
	json_text(j, "name", cpu->title);
	json_integer(j, "family", cpu->family);
	json_array(j, "models");
	for (size_t i = 0; i < cpu->n_models; i++)
		json_hex(j, NULL, (uint64_t)cpu->models[i]);
	json_end(j);
	json_count(j, "units", cpu->n_units);
	json_count(j, "events", cpu->n_events);
	json_count(j, "umasks", cpu->n_umasks);
	json_count(j, "metrics", cpu->n_metrics);
	json_end(j);
}

static void cpu_text(struct table *t, const struct unc_cpu *cpu)
{
	char numbers[4][CELL_MAX], models[CELL_MAX];
	int n = snprintf(models, sizeof(models), "family %d model", cpu->family);

	for (size_t i = 0; i < cpu->n_models && n < (int)sizeof(models); i++)
		n += snprintf(models + n, sizeof(models) - (size_t)n, " 0x%02x", cpu->models[i]);
	TABLE_ROW(t, cpu->name, cpu->title, models, grouped(numbers[0], cpu->n_units),
		  grouped(numbers[1], cpu->n_events), grouped(numbers[2], cpu->n_umasks),
		  grouped(numbers[3], cpu->n_metrics));
}

int cmd_cpus(int argc, char **argv)
{
	struct unc_cpu cpu;
	int models[8];
	struct args args;
	int rc = args_parse(&args, argc, argv, false, 0, 0);

	if (rc != ARGS_OK)
		return rc;
	if (args.tables)
		return bad_input("cpus takes no option '--tables': it lists what is compiled in");
	if (args.json) {
		struct json j;

		json_start(&j, stdout);
		json_array(&j, NULL);
		for (size_t i = 0; unc_cpu_get(i, &cpu, models) == 0; i++)
			cpu_json(&j, &cpu);
		json_end(&j);
		return EXIT_SUCCESS;
	}
	struct table *t = table_new("lllrrrr");

	TABLE_ROW(t, "CPU", "NAME", "", "UNIT TYPES", "EVENTS", "UMASKS", "METRICS");
	for (size_t i = 0; unc_cpu_get(i, &cpu, models) == 0; i++)
		cpu_text(t, &cpu);
	table_print(t);
	table_free(t);
	return EXIT_SUCCESS;
}

/* ---- list */

enum { MAX_FIELDS = 64 };

/* A name that can be counted, and how. */
struct row {
	const struct unc_event *event;
	const char *umask; /* NULL: none */
	char name[UNC_SPEC_MAX];
	char desc[2 * UNC_SPEC_MAX];
	struct unc_encoding encoding;
	struct unc_field field[MAX_FIELDS];
	size_t n_fields;
	bool needed[MAX_FIELDS]; /* the user must give it */
	bool open;               /* any is needed: filters are not determined */
};

struct list {
	const struct args *args;
	struct unc_platform *platform;
	const char *pattern;
	struct json json;
	struct table *table;
	size_t n;
};

static int try_fields(struct list *list, struct row *row)
{
	char spec[4 * UNC_SPEC_MAX];
	int n = snprintf(spec, sizeof(spec), "%s", row->name);

	for (size_t i = 0; i < row->n_fields && n < (int)sizeof(spec); i++)
		if (row->needed[i])
			n += snprintf(spec + n, sizeof(spec) - (size_t)n, ":%s=%llu",
				      row->field[i].name, (unsigned long long)row->field[i].min);
	row->encoding.size = sizeof(row->encoding);
	return unc_event_encode(list->platform, spec, &row->encoding);
}

/* Fields a and b are needed as well (a == b: one field). */
static int try_with(struct list *list, struct row *row, size_t a, size_t b)
{
	bool had_a = row->needed[a], had_b = row->needed[b];
	int rc;

	row->needed[a] = row->needed[b] = true;
	rc = try_fields(list, row);
	if (rc < 0) {
		row->needed[a] = had_a;
		row->needed[b] = had_b;
	}
	return rc;
}

/*
 * Encodes the row. Some names count nothing until fields are given. Which ones an umask
 * needs, one or two, is found by trying.
 */
static int encode_row(struct list *list, struct row *row)
{
	int rc = try_fields(list, row);

	for (size_t a = 0; rc < 0 && a < row->n_fields; a++)
		rc = try_with(list, row, a, a);
	for (size_t a = 0; rc < 0 && a < row->n_fields; a++)
		for (size_t b = a + 1; rc < 0 && b < row->n_fields; b++)
			rc = try_with(list, row, a, b);
	for (size_t i = 0; i < row->n_fields; i++)
		row->open |= row->needed[i];
	return rc < 0 ? try_fields(list, row) : 0; /* for the sentence */
}

static void row_json(struct list *list, const struct row *row)
{
	const struct unc_encoding *e = &row->encoding;
	struct json *j = &list->json;

	json_object(j, NULL);
	json_text(j, "unit", row->event->type);
	json_text(j, "event", row->event->name);
	json_text(j, "umask", row->umask);
	json_text(j, "name", row->name);
	json_hex(j, "code", e->event_code);
	json_hex(j, "ctl", e->ctl);
	json_counters(j, e);
	json_filters(j, e, !row->open);
	json_array(j, "needs");
	for (size_t i = 0; i < row->n_fields; i++)
		if (row->needed[i])
			json_text(j, NULL, row->field[i].name);
	json_end(j);
	json_text(j, "desc", row->desc);
	json_end(j);
}

static void row_text(struct list *list, const struct row *row)
{
	char counters[CELL_MAX], code[CELL_MAX], ctl[CELL_MAX];
	char *name = must_print("%s", row->name);

	for (size_t i = 0; i < row->n_fields; i++)
		if (row->needed[i]) {
			char *longer = must_print("%s:%s=..", name, row->field[i].name);

			free(name);
			name = longer;
		}
	if (row->encoding.counter)
		snprintf(counters, sizeof(counters), "%s", row->encoding.counter);
	else
		bit_list(counters, row->encoding.counters);
	if (list->args->verbose)
		TABLE_ROW(list->table, name, counters, hex(code, row->encoding.event_code),
			  hex(ctl, row->encoding.ctl), row->desc);
	else
		TABLE_ROW(list->table, name, counters, row->desc);
	free(name);
}

/* The event, and the umask behind a colon. What an event says beyond its first sentence is for the
 * event itself and would only repeat in each row. */
static void describe(struct row *row, const struct unc_umask *umask)
{
	const char *event = row->event->desc, *end = strstr(event, ". ");
	size_t n = umask && end ? (size_t)(end - event) : strlen(event);

	snprintf(row->desc, sizeof(row->desc), "%.*s%s%s", (int)n, event,
		 umask && umask->desc[0] ? ": " : "", umask ? umask->desc : "");
}

static int list_row(struct list *list, size_t index, const struct unc_umask *umask)
{
	struct row row = {.event = unc_event_get(list->platform, index)};
	int rc;

	snprintf(row.name, sizeof(row.name), "%s%s%s", row.event->spec, umask ? ":" : "",
		 umask ? umask->name : "");
	if (!name_matches(list->pattern, row.name))
		return 0;
	row.umask = umask ? umask->name : NULL;
	describe(&row, umask);
	while (row.n_fields < MAX_FIELDS &&
	       unc_field_get(list->platform, index, row.n_fields, &row.field[row.n_fields]) == 0) {
		row.needed[row.n_fields] = row.field[row.n_fields].needed;
		row.n_fields++;
	}
	rc = encode_row(list, &row);
	if (rc < 0)
		return rc;
	if (list->args->json)
		row_json(list, &row);
	else
		row_text(list, &row);
	list->n++;
	return 0;
}

static int list_event(struct list *list, size_t index, const struct unc_event *event)
{
	struct unc_umask umask;
	int rc = 0;

	if (!event->needs_umask)
		rc = list_row(list, index, NULL);
	for (size_t i = 0; rc == 0 && unc_umask_get(list->platform, index, i, &umask) == 0; i++)
		if (umask.standalone && !umask.reason[0]) /* countable */
			rc = list_row(list, index, &umask);
	return rc;
}

static int list_all(struct list *list)
{
	const struct unc_event *event;
	int rc = 0;

	if (list->args->json) {
		json_start(&list->json, stdout);
		json_array(&list->json, NULL);
	} else {
		print_label(list->platform);
		list->table = table_new(list->args->verbose ? "lllll" : "lll");
	}
	for (size_t i = 0; rc == 0 && (event = unc_event_get(list->platform, i)) != NULL; i++)
		rc = list_event(list, i, event);
	if (list->args->json) {
		json_end(&list->json);
	} else {
		table_print(list->table);
		table_free(list->table);
	}
	if (rc < 0)
		return library_error(rc, unc_platform_error(list->platform));
	if (list->n == 0 && list->pattern)
		return failure("no event matches '%s'", list->pattern);
	return EXIT_SUCCESS;
}

int cmd_list(int argc, char **argv)
{
	struct args args;
	struct list list = {.args = &args};
	int rc = args_parse(&args, argc, argv, true, 0, 1);

	if (rc == ARGS_OK)
		rc = open_tables(&args, &list.platform);
	if (rc != ARGS_OK)
		return rc;
	list.pattern = argv[optind];
	rc = list_all(&list);
	unc_platform_close(list.platform);
	return rc;
}

/* ---- units */

static void units_json(const struct unc_platform *platform)
{
	const struct unc_unit *unit;
	struct json j;

	json_start(&j, stdout);
	json_array(&j, NULL);
	for (size_t i = 0; (unit = unc_unit_get(platform, i)) != NULL; i++) {
		json_object(&j, NULL);
		json_integer(&j, "socket", unit->socket);
		json_text(&j, "unit", unit->type->name);
		json_integer(&j, "index", unit->index);
		json_text(&j, "location", unit->location);
		json_bool(&j, "available", unit->available);
		json_text_or_null(&j, "reason", unit->reason);
		json_bool(&j, "simulated", unc_platform_simulated(platform));
		json_end(&j);
	}
	json_end(&j);
}

static void units_text(const struct unc_platform *platform)
{
	struct table *t = table_new("lrll");
	const struct unc_unit *unit;
	size_t n = 0, available = 0;

	print_label(platform);
	TABLE_ROW(t, "UNIT", "SOCKET", "LOCATION", "");
	for (; (unit = unc_unit_get(platform, n)) != NULL; n++) {
		char *name = must_print("%s%d", unit->type->name, unit->index);
		char socket[CELL_MAX];

		TABLE_ROW(t, name, grouped(socket, (uint64_t)unit->socket), unit->location,
			  unit->available ? "ok" : unit->reason);
		free(name);
		available += unit->available != 0;
	}
	table_print(t);
	table_free(t);
	if (unc_platform_sockets(platform) == 0)
		printf("\n%zu units of a socket, by the tables\n", n);
	else
		printf("\n%zu units on %d socket%s, %zu of them can be read\n", n,
		       unc_platform_sockets(platform),
		       unc_platform_sockets(platform) > 1 ? "s" : "", available);
}

int cmd_units(int argc, char **argv)
{
	struct unc_platform *platform;
	struct args args;
	int rc = args_parse(&args, argc, argv, true, 0, 0);

	if (rc == ARGS_OK)
		rc = args.cpu ? open_tables(&args, &platform) : open_machine(&args, &platform);
	if (rc != ARGS_OK)
		return rc;
	if (args.json)
		units_json(platform);
	else
		units_text(platform);
	unc_platform_close(platform);
	return EXIT_SUCCESS;
}
