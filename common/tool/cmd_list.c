/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands cpus, list and units. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

static const struct column cpu_columns[] = {
	{CELL("cpu", "CPU")},         {NUMBER("units", "UNITS")},     {NUMBER("events", "EVENTS")},
	{NUMBER("umasks", "UMASKS")}, {NUMBER("metrics", "METRICS")}, {NUMBER("family", "FAMILY")},
	{CELL("models", "MODELS")},   {FOLD("name", "NAME")},         {0}};

static void put_cpu(struct record *r, const struct unc_cpu *cpu)
{
	char steppings[CELL_MAX];

	record_row(r);
	record_text(r, "cpu", cpu->name);
	record_text(r, "name", cpu->title);
	record_integer(r, "family", cpu->family);
	record_open(r, "models", '[');
	for (size_t i = 0; i < cpu->n_models; i++)
		record_hex(r, NULL, (uint64_t)cpu->models[i]);
	record_close(r);
	if (cpu->steppings) /* not of JSON: its members are those that scripts know */
		record_also(r, "models", " stepping %s", bit_list(steppings, cpu->steppings));
	record_count(r, "units", cpu->n_units);
	record_count(r, "events", cpu->n_events);
	record_count(r, "umasks", cpu->n_umasks);
	record_count(r, "metrics", cpu->n_metrics);
}

int cmd_cpus(struct unc_platform *platform, const struct args *args)
{
	const struct unc_cpu *cpu;
	struct record r;

	record_start(&r, args, platform);
	record_list(&r, NULL, cpu_columns);
	for (size_t i = 0; (cpu = unc_cpu_get(platform, i)) != NULL; i++)
		put_cpu(&r, cpu);
	record_end(&r);
	return EXIT_SUCCESS;
}

/* ---- list */

enum { MAX_NEEDS = 16 };

/* A name that can be counted, and how. */
struct row {
	const struct unc_event *event;
	const char *umask; /* NULL: none */
	const char *guide; /* as in struct unc_event */
	char name[UNC_SPEC_MAX];
	char desc[2 * UNC_SPEC_MAX];
	struct unc_encoding encoding;
	const struct unc_field *needs[MAX_NEEDS]; /* the user must give them */
	size_t n_needs;
};

struct list {
	const struct args *args;
	struct unc_platform *platform;
	struct record record;
	struct search search;
	enum found wanted; /* what is listed now */
	size_t n;
};

/* Encodes the row, with what it needs at its least. */
static int encode_row(struct list *list, struct row *row)
{
	char spec[4 * UNC_SPEC_MAX];
	int n = snprintf(spec, sizeof(spec), "%s", row->name);

	for (size_t i = 0; i < row->n_needs && n < (int)sizeof(spec); i++)
		n += snprintf(spec + n, sizeof(spec) - (size_t)n, ":%s=%llu", row->needs[i]->name,
			      (unsigned long long)row->needs[i]->min);
	row->encoding.size = sizeof(row->encoding);
	return unc_event_encode(list->platform, spec, &row->encoding);
}

static const struct column event_columns[] = {{CELL("name", "EVENT")},
					      {CELL("counters", "COUNTERS")},
					      {CELL("counter", "COUNTERS")},
					      {CELL("code", "CODE")},
					      {CELL("ctl", "CONTROL")},
					      {FOLD("desc", "WHAT")},
					      {0}};

static void put_event_row(struct record *r, const struct row *row, bool verbose)
{
	const struct unc_encoding *e = &row->encoding;

	record_row(r);
	record_text(r, "unit", row->event->type);
	record_text(r, "event", row->event->name);
	record_text(r, "umask", row->umask);
	record_text(r, "name", row->name);
	if (r->form == JSON || verbose) {
		record_hex(r, "code", e->event_code);
		record_hex(r, "ctl", e->ctl);
	}
	record_counters(r, e);
	record_open(r, "filters", '{');
	for (size_t i = 0; !row->n_needs && i < e->n_filters; i++) /* else not determined */
		record_hex(r, e->filters[i].reg, e->filters[i].value);
	record_close(r);
	record_open(r, "needs", '[');
	for (size_t i = 0; i < row->n_needs; i++) {
		record_text(r, NULL, row->needs[i]->name);
		record_also(r, "name", ":%s=..", row->needs[i]->name);
	}
	record_close(r);
	record_text(r, "desc", row->desc);
	record_known(r, "guide", row->guide);
	if (verbose && *row->guide)
		record_also(r, "desc", " (by the guide of %s alone)", row->guide);
}

/* The event, and the umask behind a colon. What an event says beyond its first sentence is for the
 * event itself and would only repeat in each row. */
static void put_description(struct row *row, const struct unc_umask *umask)
{
	const char *event = row->event->desc, *end = strstr(event, ". ");
	size_t n = umask && end ? (size_t)(end - event) : strlen(event);

	snprintf(row->desc, sizeof(row->desc), "%.*s%s%s", (int)n, event,
		 umask && umask->desc[0] ? ": " : "", umask ? umask->desc : "");
}

/* With umask number `number`, or without any (-1). */
static int list_row(struct list *list, size_t index, int number)
{
	const struct unc_umask *umask =
		number < 0 ? NULL : unc_umask_get(list->platform, index, (size_t)number);
	struct row row = {.event = unc_event_get(list->platform, index)};
	const struct unc_field *need;
	int rc;

	snprintf(row.name, sizeof(row.name), "%s%s%s", row.event->spec, umask ? ":" : "",
		 umask ? umask->name : "");
	put_description(&row, umask);
	if (search_in(&list->search, row.name, row.desc) != list->wanted)
		return 0;
	row.umask = umask ? umask->name : NULL;
	row.guide = umask ? umask->guide : row.event->guide;
	while (row.n_needs < MAX_NEEDS &&
	       (need = unc_event_need(list->platform, index, number, row.n_needs)))
		row.needs[row.n_needs++] = need;
	rc = encode_row(list, &row);
	if (rc < 0)
		return rc;
	list->n++;
	put_event_row(&list->record, &row, list->args->verbose);
	return 0;
}

/* For people: one row where what is said of the event itself is found, and no name of it. */
static bool list_whole(struct list *list, const struct unc_event *event)
{
	struct record *r = &list->record;

	if (list->wanted != FOUND_IN_TEXT || list->args->json || event->n_umasks == 0 ||
	    search_in(&list->search, event->spec, event->desc) != FOUND_IN_TEXT)
		return false;
	list->n++;
	record_row(r);
	record_also(r, "name", "%s:..", event->spec);
	record_also(r, "desc", "%s", event->desc);
	return true;
}

static int list_event(struct list *list, size_t index, const struct unc_event *event)
{
	const struct unc_umask *umask;
	int rc = 0;

	if (list_whole(list, event))
		return 0;
	if (!event->needs_umask)
		rc = list_row(list, index, -1);
	for (int i = 0; rc == 0 && (umask = unc_umask_get(list->platform, index, (size_t)i)); i++)
		if (umask->standalone && !umask->reason[0]) /* countable */
			rc = list_row(list, index, i);
	return rc;
}

/* Events that are found as `wanted`. */
static int list_events(struct list *list, enum found wanted)
{
	const struct unc_event *event;
	int rc = 0;

	list->wanted = wanted;
	for (size_t i = 0; rc == 0 && (event = unc_event_get(list->platform, i)) != NULL; i++)
		rc = list_event(list, i, event);
	return rc;
}

/* For programs: events alone, and only those with such a name if there are any. */
static int list_for_programs(struct list *list)
{
	int rc;

	record_list(&list->record, NULL, event_columns);
	rc = list_events(list, FOUND_IN_NAME);
	if (rc == 0 && list->n == 0)
		rc = list_events(list, FOUND_IN_TEXT);
	record_end(&list->record);
	return rc;
}

/* Metrics, then events; of both those whose names are found first. */
static int list_for_people(struct list *list)
{
	static const enum found order[] = {FOUND_IN_NAME, FOUND_IN_TEXT};
	struct record *r = &list->record;
	size_t metrics = 0;
	int rc = 0;

	record_list(r, NULL, metric_columns);
	for (size_t i = 0; i < 2; i++)
		metrics += record_metrics(r, &list->search, order[i], list->args->verbose);
	record_end(r);
	record_list(r, "events", event_columns);
	for (size_t i = 0; rc == 0 && i < 2; i++)
		rc = list_events(list, order[i]);
	if (metrics && list->n)
		putchar('\n');
	record_end(r);
	list->n += metrics;
	return rc;
}

int cmd_list(struct unc_platform *platform, const struct args *args)
{
	struct list list = {.args = args, .platform = platform};
	int rc, status;

	if (args->raw)
		return list_raw(platform, args);
	search_start(&list.search, args->word);
	record_start(&list.record, args, platform);
	rc = args->json ? list_for_programs(&list) : list_for_people(&list);
	status = library_error(rc, unc_platform_error(platform));
	if (rc == 0 && list.n == 0 && args->words)
		status = search_failed(&list.search, platform, /* metrics are no rows of -j */
				       args->json ? IN_EVENTS : IN_EVENTS | IN_METRICS);
	free(list.search.seen);
	return status;
}

/* ---- units */

static const struct column unit_columns[] = {
	{CELL("unit", "UNIT")},       {CELL("index", "UNIT")},
	{NUMBER("socket", "SOCKET")}, {CELL("location", "LOCATION")},
	{CELL("access", "ACCESS")},   {FOLD("reason", "STATE")},
	{BELOW("below", "")},         {0}};

static int put_device_row(void *user, const struct unc_device *device)
{
	struct record *r = user;
	char port[CELL_MAX] = "port ?";

	if (device->ports & (device->ports - 1))
		snprintf(port, sizeof(port), "ports 0x%x together", device->ports);
	else if (device->port >= 0)
		snprintf(port, sizeof(port), "port %d", device->port);
	record_open(r, NULL, '{');
	if (device->port < 0)
		record_null(r, "port");
	else
		record_integer(r, "port", device->port);
	record_text(r, "address", device->address);
	record_words(r, "names", device->names, ",");
	record_bits(r, "ports", device->ports);
	record_close(r);
	record_also(r, "below", "%s  %s%s%s%s%s%s%s%s", port, device->address,
		    *device->names ? "  " : "", device->names, *device->model ? "  " : "",
		    device->model, *device->function_of ? "  (virtual function of " : "",
		    device->function_of, *device->function_of ? ")" : "");
	return 0;
}

/* Of a PCIe stack: its bus and what is below. */
static void put_stack(struct record *r, struct unc_platform *platform, const struct unc_unit *unit,
		      bool verbose)
{
	struct unc_stack stack = {.size = sizeof(stack)};
	int rc = unc_unit_stack(platform, unit, &stack);

	if (rc == UNC_ERR_NOT_FOUND || (r->form == TEXT && !verbose))
		return;
	record_known(r, "bus", rc == 0 ? stack.bus : "");
	if (rc == 0)
		record_also(r, "below", "bus %s, %s", stack.bus, stack.from);
	else
		record_also(r, "below", "%s", unc_platform_error(platform));
	record_open(r, "devices", '[');
	if (rc == 0)
		unc_unit_devices(platform, unit, put_device_row, r);
	record_close(r);
}

static void put_unit_row(struct record *r, struct unc_platform *platform,
			 const struct unc_unit *unit, bool verbose)
{
	record_row(r);
	record_integer(r, "socket", unit->socket);
	record_text(r, "unit", unit->type->name);
	record_integer(r, "index", unit->index);
	record_text(r, "location", unit->location);
	record_known(r, "access", unit->access);
	record_bool(r, "available", unit->available);
	if (unit->available)
		record_also(r, "reason", *unit->reason ? "ok: " : "ok");
	record_known(r, "reason", unit->reason);
	put_stack(r, platform, unit, verbose);
	record_bool(r, "simulated", unc_platform_simulated(platform));
}

int cmd_units(struct unc_platform *platform, const struct args *args)
{
	int sockets = unc_platform_sockets(platform);
	const struct unc_unit *unit;
	size_t n = 0, available = 0;
	struct record r;

	record_start(&r, args, platform);
	record_list(&r, NULL, unit_columns);
	for (; (unit = unc_unit_get(platform, n)) != NULL; n++) {
		put_unit_row(&r, platform, unit, args->verbose);
		available += unit->available != 0;
	}
	record_end(&r);
	if (sockets == 0)
		record_line(&r, "\n%zu units of a socket, by the tables", n);
	else
		record_line(&r, "\n%zu units on %d socket%s, %zu of them can be read", n, sockets,
			    sockets > 1 ? "s" : "", available);
	return EXIT_SUCCESS;
}
