/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands encode, decode and registers. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

void record_counters(struct record *r, const struct unc_encoding *e)
{
	char buf[CELL_MAX];

	record_bits(r, "counters", e->counters);
	record_text(r, "counter", e->counter);
	if (!e->counter)
		record_also(r, "counters", "%s", bit_list(buf, e->counters));
}

static const struct column encoding_columns[] = {{CELL("name", "")},
						 {CELL("ctl", "control")},
						 {CELL("counters", "counters")},
						 {CELL("counter", "counters")},
						 {CELL("filters", "filter")},
						 {CELL("note", "note")},
						 {0}};
static const struct column write_columns[] = {{CELL("verb", "")},
					      {CELL("register", "register")},
					      {CELL("space", "space")},
					      {NUMBER("address", "address")},
					      {NUMBER("width", "bits")},
					      {NUMBER("value", "value")},
					      {0}};

/* Collects what the start sequence writes to the first unit that counts the event. */
struct writes {
	const char *type;
	int socket, index; /* -1: none has been found */
	struct record *record;
};

static int put_write(void *user, const struct unc_operation *op)
{
	struct writes *w = user;
	struct record *r = w->record;

	if (!op->write || strcmp(op->unit, w->type) != 0)
		return 0;
	if (w->socket < 0) {
		w->socket = op->socket;
		w->index = op->index;
	}
	if (op->socket != w->socket || op->index != w->index)
		return 0;
	record_row(r);
	record_also(r, "verb", "  write");
	record_text(r, "unit", op->unit);
	record_text(r, "register", op->reg);
	record_text(r, "space", op->space);
	record_hex(r, "address", op->address);
	record_integer(r, "width", op->width);
	record_hex(r, "value", op->value);
	return 0;
}

static void put_encoding(struct record *r, struct unc_session *session,
			 const struct unc_encoding *e, const char *note)
{
	struct writes writes = {.type = e->units_of, .socket = -1, .record = r};

	record_object(r, encoding_columns);
	record_text(r, "name", e->name);
	record_text(r, "unit", e->type);
	record_hex(r, "ctl", e->ctl);
	record_counters(r, e);
	record_open(r, "filters", '{');
	for (const struct unc_filter *f = e->filters; f < e->filters + e->n_filters; f++) {
		record_hex(r, f->reg, f->value);
		record_also(r, "filters", "%s%s = 0x%" PRIx64 " (bits 0x%" PRIx64 ")",
			    f > e->filters ? ", " : "", f->reg, f->value, f->mask);
	}
	record_close(r);
	record_list(r, "writes", write_columns);
	unc_session_plan(session, UNC_PHASE_START, put_write, &writes);
	record_end(r);
	if (note)
		record_text(r, "note", note);
	record_end(r);
}

/* A text that is no event may be a metric. Returns the exit status. */
static int not_encoded(struct unc_platform *platform, const char *text, int error)
{
	struct unc_encoding encoding = {.size = sizeof(encoding)};
	struct unc_item item = {.size = sizeof(item)};

	if (error == UNC_ERR_NOT_FOUND && unc_item_find(platform, text, &item) == 0 && item.metric)
		return bad_input("%s is a metric, not an event: 'uncore metrics -v %s' shows the "
				 "events that it is made of",
				 text, item.metric->name);
	unc_event_encode(platform, text, &encoding); /* once more, for its sentence */
	return library_error(error, unc_platform_error(platform));
}

int cmd_encode(struct unc_platform *platform, const struct args *args)
{
	struct unc_encoding encoding = {.size = sizeof(encoding)};
	const char *spec = args->word[0];
	struct unc_session *session = NULL;
	struct record r;
	int id, status = EXIT_SUCCESS, rc = unc_event_encode(platform, spec, &encoding);

	if (rc < 0)
		return not_encoded(platform, spec, rc);
	rc = unc_session_new(platform, 0, &session);
	if (rc < 0)
		return library_error(rc, unc_platform_error(platform));
	rc = unc_session_add(session, spec, &id);
	/* One that only counts beside another event is encoded, but is no set by itself. */
	char *note = rc == UNC_ERR_CONFLICT ? must_print("%s", unc_session_error(session)) : NULL;

	record_start(&r, args, platform);
	if (rc < 0 && !note)
		status = library_error(rc, unc_session_error(session));
	else
		put_encoding(&r, session, &encoding, note);
	free(note);
	unc_session_free(session);
	return status;
}

/* ---- decode: from register values back to the event and its fields */

static const struct column decoded_columns[] = {{CELL("name", "")}, {CELL("note", "")}, {0}};
static const struct column field_columns[] = {{CELL("register", "")},
					      {CELL("field", "")},
					      {NUMBER("value", "")},
					      {FOLD("desc", "")},
					      {0}};

struct fields {
	struct record *record;
	const char *reg;
};

static int put_bits(void *user, const struct unc_field *field, uint64_t value)
{
	const struct fields *f = user;

	record_row(f->record);
	record_also(f->record, "register", "  ");
	record_text(f->record, "register", f->reg);
	record_text(f->record, "field", field->name);
	record_hex(f->record, "value", value);
	record_text(f->record, "desc", field->desc);
	return 0;
}

/* REGISTER=VALUE, taken apart in place. */
static int parse_register_value(char *text, struct unc_register_value *out)
{
	char *equals = strchr(text, '='), *end;

	if (!equals || equals == text || !equals[1])
		return bad_input("decode: '%s' is not REGISTER=VALUE", text);
	*equals = '\0';
	errno = 0;
	*out = (struct unc_register_value){.reg = text, .value = strtoull(equals + 1, &end, 0)};
	if (*end || errno || equals[1] == '-')
		return bad_input("decode: the value of %s is not a number of 64 bits: '%s'", text,
				 equals + 1);
	return 0;
}

static int decode_values(struct unc_platform *platform, const struct args *args,
			 const struct unc_register_value *values, size_t n)
{
	char name[UNC_SPEC_MAX];
	const char *type = args->word[0];
	struct record r;
	int rc;

	for (size_t i = 0; i < n; i++) /* before anything is printed */
		if ((rc = unc_register_decode(platform, type, values[i].reg, 0, NULL, NULL)) < 0)
			return library_error(rc, unc_platform_error(platform));
	rc = unc_event_decode(platform, type, values, n, sizeof(*values), name, sizeof(name));
	if (rc < 0 && rc != UNC_ERR_NOT_FOUND && rc != UNC_ERR_INVALID)
		return library_error(rc, unc_platform_error(platform));
	record_start(&r, args, platform);
	record_object(&r, decoded_columns);
	record_known(&r, "name", name);
	record_text(&r, "note", rc == 0 ? NULL : unc_platform_error(platform));
	record_list(&r, "fields", field_columns);
	for (size_t i = 0; i < n; i++) {
		struct fields f = {.record = &r, .reg = values[i].reg};

		unc_register_decode(platform, type, values[i].reg, values[i].value, put_bits, &f);
	}
	record_end(&r);
	record_end(&r);
	return rc == UNC_ERR_NOT_FOUND ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_decode(struct unc_platform *platform, const struct args *args)
{
	size_t n = args->words - 1;
	struct unc_register_value *values = must_alloc(NULL, n, sizeof(*values));
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = parse_register_value(args->word[i + 1], &values[i]);
	if (rc == 0)
		rc = decode_values(platform, args, values, n);
	free(values);
	return rc;
}

/* ---- registers */

static const struct column register_columns[] = {
	{CELL("unit", "UNIT")},         {CELL("index", "UNIT")},   {CELL("register", "REGISTER")},
	{CELL("space", "SPACE")},       {CELL("device", "PLACE")}, {CELL("bar", "PLACE")},
	{NUMBER("address", "ADDRESS")}, {NUMBER("width", "BITS")}, {NUMBER("socket", "SOCKET")},
	{FOLD("value", "VALUE")},       {FOLD("reason", "VALUE")}, {0}};

static int put_register(void *user, const struct unc_register *reg)
{
	struct record *r = user;

	record_row(r);
	record_text(r, "unit", reg->unit);
	record_integer(r, "index", reg->index);
	record_text(r, "register", reg->name);
	record_text(r, "space", reg->space);
	record_hex(r, "address", reg->address);
	record_integer(r, "width", reg->width);
	if (reg->device)
		record_text(r, "device", reg->device);
	if (reg->device && reg->device_id) { /* of some only the machine tells */
		char id[8];

		snprintf(id, sizeof(id), "0x%04x",
			 reg->device_id & 0xffff); /* as lspci prints it */
		record_text(r, "device_id", id);
		record_also(r, "device", " (8086:%s)", id + 2);
	} else if (reg->device) {
		record_null(r, "device_id");
	}
	if (reg->bar)
		record_text(r, "bar", reg->bar);
	return 0;
}

/* What the registers of this machine hold. */
static int put_register_value(void *user, const struct unc_register *reg)
{
	struct record *r = user;

	put_register(r, reg);
	record_integer(r, "socket", reg->socket);
	if (reg->known)
		record_hex(r, "value", reg->value);
	else
		record_null(r, "value");
	record_known(r, "reason", reg->reason);
	return 0;
}

static int put_values(struct unc_platform *platform, struct record *r)
{
	const struct unc_unit *unit;

	for (size_t i = 0; (unit = unc_unit_get(platform, i)); i++) {
		int rc = unc_register_read(platform, unit, put_register_value, r);

		if (rc != UNC_ERR_UNAVAILABLE)
			continue;
		/* None of its registers: it cannot be used. */
		record_row(r);
		record_text(r, "unit", unit->type->name);
		record_integer(r, "index", unit->index);
		record_null(r, "register");
		record_integer(r, "socket", unit->socket);
		record_null(r, "value");
		record_known(r, "reason", unc_platform_error(platform));
	}
	return 0;
}

int cmd_registers(struct unc_platform *platform, const struct args *args)
{
	struct record r;
	int rc;

	if (args->values && args->cpu)
		return bad_input("registers: --values reads this machine: omit -c");
	record_start(&r, args, platform);
	record_list(&r, NULL, register_columns);
	rc = args->values ? put_values(platform, &r)
			  : unc_register_walk(platform, put_register, &r);
	record_end(&r);
	return library_error(rc, unc_platform_error(platform));
}
