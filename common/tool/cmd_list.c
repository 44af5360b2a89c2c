/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands cpus, list and units. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

static void print_cpu(struct printer *p, const struct unc_cpu *cpu)
{
	char steppings[CELL_MAX];

	print_row(p);
	print_text(p, "cpu", "CPU", cpu->name);
	print_text(p, "name", "NAME", cpu->title);
	print_also(p, "", "family ");
	print_integer(p, "family", "", cpu->family);
	print_also(p, "", " model");
	print_open(p, "models", '[');
	for (size_t i = 0; i < cpu->n_models; i++) {
		print_hex(p, NULL, NULL, (uint64_t)cpu->models[i]);
		print_also(p, "", " 0x%02x", cpu->models[i]);
	}
	print_close(p);
	if (cpu->steppings) /* not of JSON: its members are those that scripts know */
		print_also(p, "", " stepping %s", bit_list(steppings, cpu->steppings));
	print_count(p, "units", "UNIT TYPES", cpu->n_units);
	print_count(p, "events", "EVENTS", cpu->n_events);
	print_count(p, "umasks", "UMASKS", cpu->n_umasks);
	print_count(p, "metrics", "METRICS", cpu->n_metrics);
}

int cmd_cpus(struct unc_platform *platform, const struct args *args)
{
	const struct unc_cpu *cpu;
	struct printer p;

	print_start(&p, args, platform);
	print_list(&p, NULL, TITLES, "CPU|NAME||>UNIT TYPES|>EVENTS|>UMASKS|>METRICS");
	for (size_t i = 0; (cpu = unc_cpu_get(platform, i)) != NULL; i++)
		print_cpu(&p, cpu);
	print_end(&p);
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
	struct printer printer;
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

static void show_row(struct printer *p, const struct row *row, bool verbose)
{
	const struct unc_encoding *e = &row->encoding;

	print_row(p);
	print_text(p, "unit", NULL, row->event->type);
	print_text(p, "event", NULL, row->event->name);
	print_text(p, "umask", NULL, row->umask);
	print_text(p, "name", "EVENT", row->name);
	print_hex(p, "code", verbose ? "CODE" : NULL, e->event_code);
	print_hex(p, "ctl", verbose ? "CONTROL" : NULL, e->ctl);
	print_counters(p, "COUNTERS", e);
	print_open(p, "filters", '{');
	for (size_t i = 0; !row->n_needs && i < e->n_filters; i++) /* else not determined */
		print_hex(p, e->filters[i].reg, NULL, e->filters[i].value);
	print_close(p);
	print_open(p, "needs", '[');
	for (size_t i = 0; i < row->n_needs; i++) {
		print_text(p, NULL, NULL, row->needs[i]->name);
		print_also(p, "EVENT", ":%s=..", row->needs[i]->name);
	}
	print_close(p);
	print_text(p, "desc", "WHAT", row->desc);
	print_known(p, "guide", NULL, row->guide);
	if (verbose && *row->guide)
		print_also(p, "WHAT", " (by the guide of %s alone)", row->guide);
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
	describe(&row, umask);
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
	show_row(&list->printer, &row, list->args->verbose);
	return 0;
}
/* For people: one row where what is said of the event itself is found, and no name of it. */
static bool list_whole(struct list *list, const struct unc_event *event)
{
	struct printer *p = &list->printer;

	if (list->wanted != FOUND_IN_TEXT || list->args->json || event->n_umasks == 0 ||
	    search_in(&list->search, event->spec, event->desc) != FOUND_IN_TEXT)
		return false;
	list->n++;
	print_row(p);
	print_also(p, "EVENT", "%s:..", event->spec);
	print_also(p, "WHAT", "%s", event->desc);
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

	print_list(&list->printer, NULL, NO_TITLES, "");
	rc = list_events(list, FOUND_IN_NAME);
	if (rc == 0 && list->n == 0)
		rc = list_events(list, FOUND_IN_TEXT);
	print_end(&list->printer);
	return rc;
}

/* Metrics, then events; of both those whose names are found first. */
static int list_for_people(struct list *list)
{
	static const enum found order[] = {FOUND_IN_NAME, FOUND_IN_TEXT};
	struct printer *p = &list->printer;
	size_t metrics = 0;
	int rc = 0;

	print_label(list->platform);
	print_list(p, "metrics", TITLES_OF_ROWS, "METRIC|UNIT|WHAT");
	for (size_t i = 0; i < 2; i++)
		metrics += print_metrics(p, &list->search, order[i], list->args->verbose);
	print_end(p);
	print_list(p, "events", TITLES_OF_ROWS,
		   list->args->verbose ? "EVENT|COUNTERS|CODE|CONTROL|WHAT"
				       : "EVENT|COUNTERS|WHAT");
	for (size_t i = 0; rc == 0 && i < 2; i++)
		rc = list_events(list, order[i]);
	if (metrics && list->n)
		putchar('\n');
	print_end(p);
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
	print_start(&list.printer, args, platform);
	rc = args->json ? list_for_programs(&list) : list_for_people(&list);
	status = library_error(rc, unc_platform_error(platform));
	if (rc == 0 && list.n == 0 && args->words)
		status = search_failed(&list.search, platform, /* metrics are no rows of -j */
				       args->json ? IN_EVENTS : IN_EVENTS | IN_METRICS);
	free(list.search.seen);
	return status;
}

/* ---- units */

static int print_device(void *user, const struct unc_device *device)
{
	struct printer *p = user;
	char name[64];

	print_line(p);
	print_open(p, NULL, '{');
	if (device->port < 0)
		print_null(p, "port");
	else
		print_integer(p, "port", NULL, device->port);
	if (device->ports & (device->ports - 1))
		print_also(p, "LOCATION", "  ports 0x%x together", device->ports);
	else
		print_also(p, "LOCATION", device->port < 0 ? "  port ?" : "  port %d",
			   device->port);
	print_text(p, "address", NULL, device->address);
	print_also(p, "LOCATION", "  %s", device->address);
	print_also(p, "LOCATION", *device->names ? "  %s" : "", device->names);
	print_also(p, "LOCATION", *device->model ? "  %s" : "", device->model);
	print_also(p, "LOCATION", *device->function_of ? "  (virtual function of %s)" : "",
		   device->function_of);
	print_open(p, "names", '[');
	for (const char *list = device->names; *list;
	     list += strcspn(list, ",") + (list[strcspn(list, ",")] == ',')) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(list, ","), list);
		print_text(p, NULL, NULL, name);
	}
	print_close(p);
	print_bits(p, "ports", device->ports);
	print_close(p);
	return 0;
}

/* Of a PCIe stack: its bus and what is below. */
static void print_stack(struct printer *p, struct unc_platform *platform,
			const struct unc_unit *unit, bool verbose)
{
	struct unc_stack stack = {.size = sizeof(stack)};
	int rc = unc_unit_stack(platform, unit, &stack);

	if (rc == UNC_ERR_NOT_FOUND || (p->form == TEXT && !verbose))
		return;
	print_known(p, "bus", NULL, rc == 0 ? stack.bus : "");
	print_line(p);
	if (rc == 0)
		print_also(p, "LOCATION", "  bus %s, %s", stack.bus, stack.from);
	else
		print_also(p, "LOCATION", "  %s", unc_platform_error(platform));
	print_open(p, "devices", '[');
	if (rc == 0)
		unc_unit_devices(platform, unit, print_device, p);
	print_close(p);
}

static void print_unit(struct printer *p, struct unc_platform *platform,
		       const struct unc_unit *unit, bool verbose)
{
	print_row(p);
	print_integer(p, "socket", "SOCKET", unit->socket);
	print_text(p, "unit", "UNIT", unit->type->name);
	print_integer(p, "index", "UNIT", unit->index);
	print_text(p, "location", "LOCATION", unit->location);
	print_known(p, "access", "ACCESS", unit->access);
	print_bool(p, "available", unit->available);
	if (unit->available)
		print_also(p, "", *unit->reason ? "ok: " : "ok");
	print_known(p, "reason", "", unit->reason);
	print_stack(p, platform, unit, verbose);
	print_bool(p, "simulated", unc_platform_simulated(p->platform));
}

int cmd_units(struct unc_platform *platform, const struct args *args)
{
	int sockets = unc_platform_sockets(platform);
	const struct unc_unit *unit;
	size_t n = 0, available = 0;
	struct printer p;

	print_start(&p, args, platform);
	print_list(&p, NULL, TITLES, "UNIT|>SOCKET|LOCATION|ACCESS|");
	for (; (unit = unc_unit_get(platform, n)) != NULL; n++) {
		print_unit(&p, platform, unit, args->verbose);
		available += unit->available != 0;
	}
	print_end(&p);
	if (sockets == 0)
		print_also(&p, "", "\n%zu units of a socket, by the tables", n);
	else
		print_also(&p, "", "\n%zu units on %d socket%s, %zu of them can be read", n,
			   sockets, sockets > 1 ? "s" : "", available);
	return EXIT_SUCCESS;
}
