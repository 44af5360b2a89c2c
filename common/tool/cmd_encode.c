/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands encode and registers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "output.h"
#include "tool.h"

void json_counters(struct json *j, const struct unc_encoding *e)
{
	json_array(j, "counters");
	for (unsigned i = 0; i < 64; i++)
		if (e->counters >> i & 1)
			json_integer(j, NULL, i);
	json_end(j);
	json_text(j, "counter", e->counter);
}

void json_filters(struct json *j, const struct unc_encoding *e, bool determined)
{
	json_object(j, "filters");
	for (size_t i = 0; determined && i < e->n_filters; i++)
		json_hex(j, e->filters[i].reg, e->filters[i].value);
	json_end(j);
}

/* Collects what the start sequence writes to the first unit that counts the event. */
struct writes {
	const char *type;
	bool found;
	int socket, index;
	struct json *json; /* one of these two */
	struct table *table;
};

static int take_write(void *user, const struct unc_operation *op)
{
	struct writes *w = user;
	char address[CELL_MAX], width[CELL_MAX], value[CELL_MAX];

	if (!op->write || strcmp(op->unit, w->type) != 0)
		return 0;
	if (!w->found) {
		w->found = true;
		w->socket = op->socket;
		w->index = op->index;
	}
	if (op->socket != w->socket || op->index != w->index)
		return 0;
	if (w->json) {
		json_object(w->json, NULL);
		json_text(w->json, "unit", op->unit);
		json_text(w->json, "register", op->reg);
		json_text(w->json, "space", op->space);
		json_hex(w->json, "address", op->address);
		json_integer(w->json, "width", op->width);
		json_hex(w->json, "value", op->value);
		json_end(w->json);
	} else {
		TABLE_ROW(w->table, "  write", op->reg, op->space, hex(address, op->address),
			  grouped(width, (uint64_t)op->width), hex(value, op->value));
	}
	return 0;
}

static void encode_json(struct unc_session *session, const struct unc_encoding *e, const char *note)
{
	struct json j;
	struct writes writes = {.type = e->units_of, .json = &j};

	json_start(&j, stdout);
	json_object(&j, NULL);
	json_text(&j, "name", e->name);
	json_text(&j, "unit", e->type);
	json_hex(&j, "ctl", e->ctl);
	json_counters(&j, e);
	json_filters(&j, e, true);
	json_array(&j, "writes");
	unc_session_plan(session, UNC_PHASE_START, take_write, &writes);
	json_end(&j);
	if (note)
		json_text(&j, "note", note);
	json_end(&j);
}

static void encode_text(struct unc_session *session, const struct unc_encoding *e, const char *note)
{
	struct writes writes = {.type = e->units_of, .table = table_new("lllrrr")};
	char buf[CELL_MAX];

	printf("%s\n", e->name);
	printf("  control   %s\n", hex(buf, e->ctl));
	printf("  counters  %s\n", e->counter ? e->counter : bit_list(buf, e->counters));
	for (size_t i = 0; i < e->n_filters; i++) {
		printf("  filter    %s = %s", e->filters[i].reg, hex(buf, e->filters[i].value));
		printf(" (bits %s)\n", hex(buf, e->filters[i].mask));
	}
	TABLE_ROW(writes.table, "", "register", "space", "address", "bits", "value");
	unc_session_plan(session, UNC_PHASE_START, take_write, &writes);
	table_print(writes.table);
	table_free(writes.table);
	if (note)
		printf("  note      %s\n", note);
}

static int encode(struct unc_platform *platform, const struct args *args, const char *spec)
{
	struct unc_encoding encoding = {.size = sizeof(encoding)};
	struct unc_session *session = NULL;
	int id, status = EXIT_SUCCESS, rc = unc_event_encode(platform, spec, &encoding);

	if (rc == 0)
		rc = unc_session_new(platform, 0, &session);
	if (rc < 0)
		return library_error(rc, unc_platform_error(platform));
	rc = unc_session_add(session, spec, &id);
	/* One that only counts beside another event is encoded, but is no set by itself. */
	char *note = rc == UNC_ERR_CONFLICT ? must_print("%s", unc_session_error(session)) : NULL;

	if (rc < 0 && !note)
		status = library_error(rc, unc_session_error(session));
	else if (args->json)
		encode_json(session, &encoding, note);
	else
		encode_text(session, &encoding, note);
	free(note);
	unc_session_free(session);
	return status;
}

int cmd_encode(int argc, char **argv)
{
	struct unc_platform *platform;
	struct args args;
	char *name = NULL;
	int rc = args_parse(&args, argc, argv, true, 1, 1);

	if (rc == ARGS_OK)
		rc = open_tables(&args, &platform);
	if (rc != ARGS_OK)
		return rc;
	if (!args.cpu) {
		/* The same answer for every machine with this CPU: by the tables alone. */
		name = must_print("%s", unc_platform_cpu(platform)->name);
		unc_platform_close(platform);
		args.cpu = name;
		rc = open_tables(&args, &platform);
	}
	if (rc == ARGS_OK) {
		rc = encode(platform, &args, argv[optind]);
		unc_platform_close(platform);
	}
	free(name);
	return rc;
}

/* ---- registers */

static int register_json(void *user, const struct unc_register *reg)
{
	struct json *j = user;

	json_object(j, NULL);
	json_text(j, "unit", reg->unit);
	json_integer(j, "index", reg->index);
	json_text(j, "register", reg->name);
	json_text(j, "space", reg->space);
	json_hex(j, "address", reg->address);
	json_integer(j, "width", reg->width);
	if (reg->device) {
		char id[8];

		snprintf(id, sizeof(id), "0x%04x",
			 reg->device_id & 0xffff); /* as lspci prints it */
		json_text(j, "device", reg->device);
		json_text(j, "device_id", id);
	}
	if (reg->bar)
		json_text(j, "bar", reg->bar);
	json_end(j);
	return 0;
}

static int register_text(void *user, const struct unc_register *reg)
{
	char address[CELL_MAX], width[CELL_MAX], place[CELL_MAX] = "";
	char *unit = must_print("%s%d", reg->unit, reg->index);

	if (reg->device)
		snprintf(place, sizeof(place), "%s (8086:%04x)", reg->device, reg->device_id);
	else if (reg->bar)
		snprintf(place, sizeof(place), "%s", reg->bar);
	TABLE_ROW(user, unit, reg->name, reg->space, place, hex(address, reg->address),
		  grouped(width, (uint64_t)reg->width));
	free(unit);
	return 0;
}

static int registers_print(const struct unc_platform *platform, bool as_json)
{
	int rc;

	if (as_json) {
		struct json j;

		json_start(&j, stdout);
		json_array(&j, NULL);
		rc = unc_register_walk(platform, register_json, &j);
		json_end(&j);
	} else {
		struct table *t = table_new("llllrr");

		print_label(platform);
		TABLE_ROW(t, "UNIT", "REGISTER", "SPACE", "PLACE", "ADDRESS", "BITS");
		rc = unc_register_walk(platform, register_text, t);
		table_print(t);
		table_free(t);
	}
	return rc;
}

int cmd_registers(int argc, char **argv)
{
	struct unc_platform *platform;
	struct args args;
	int rc = args_parse(&args, argc, argv, true, 0, 0);

	if (rc == ARGS_OK)
		rc = open_tables(&args, &platform);
	if (rc != ARGS_OK)
		return rc;
	rc = registers_print(platform, args.json);
	if (rc < 0)
		rc = library_error(rc, unc_platform_error(platform));
	unc_platform_close(platform);
	return rc;
}
