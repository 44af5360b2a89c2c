/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands encode, decode and registers. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

/* Collects what the start sequence writes to the first unit that counts the event. */
struct writes {
	const char *type;
	int socket, index; /* -1: none has been found */
	struct printer *printer;
};

static int take_write(void *user, const struct unc_operation *op)
{
	struct writes *w = user;
	struct printer *p = w->printer;

	if (!op->write || strcmp(op->unit, w->type) != 0)
		return 0;
	if (w->socket < 0) {
		w->socket = op->socket;
		w->index = op->index;
	}
	if (op->socket != w->socket || op->index != w->index)
		return 0;
	print_row(p);
	print_also(p, "", "  write");
	print_text(p, "unit", NULL, op->unit);
	print_text(p, "register", "register", op->reg);
	print_text(p, "space", "space", op->space);
	print_hex(p, "address", "address", op->address);
	print_integer(p, "width", "bits", op->width);
	print_hex(p, "value", "value", op->value);
	return 0;
}

static void print_encoding(struct printer *p, struct unc_session *session,
			   const struct unc_encoding *e, const char *note)
{
	struct writes writes = {.type = e->units_of, .socket = -1, .printer = p};

	print_open(p, NULL, '{');
	print_text(p, "name", "", e->name);
	print_text(p, "unit", NULL, e->type);
	print_hex(p, "ctl", "control", e->ctl);
	print_counters(p, "counters", e);
	print_open(p, "filters", '{');
	for (const struct unc_filter *f = e->filters; f < e->filters + e->n_filters; f++) {
		print_hex(p, f->reg, NULL, f->value);
		print_also(p, "filter", "%s = 0x%" PRIx64 " (bits 0x%" PRIx64 ")", f->reg, f->value,
			   f->mask);
	}
	print_close(p);
	print_list(p, "writes", TITLES, "|register|space|>address|>bits|>value");
	unc_session_plan(session, UNC_PHASE_START, take_write, &writes);
	print_end(p);
	if (note)
		print_text(p, "note", "note", note);
	print_close(p);
}

/* A text that is no event may be a metric. Returns the exit status. */
static int not_encoded(struct unc_platform *platform, const char *text, int error)
{
	struct unc_encoding encoding = {.size = sizeof(encoding)};
	struct unc_target place = {.size = sizeof(place)};
	size_t index;

	if (error == UNC_ERR_NOT_FOUND && unc_metric_find(platform, text, &index, &place) == 0)
		return bad_input("%s is a metric, not an event: 'uncore metrics -v %s' shows the "
				 "events that it is made of",
				 text, unc_metric_get(platform, index)->name);
	unc_event_encode(platform, text, &encoding); /* once more, for its sentence */
	return library_error(error, unc_platform_error(platform));
}

int cmd_encode(struct unc_platform *platform, const struct args *args)
{
	struct unc_encoding encoding = {.size = sizeof(encoding)};
	const char *spec = args->word[0];
	struct unc_session *session = NULL;
	struct printer p;
	int id, status = EXIT_SUCCESS, rc = unc_event_encode(platform, spec, &encoding);

	if (rc < 0)
		return not_encoded(platform, spec, rc);
	rc = unc_session_new(platform, 0, &session);
	if (rc < 0)
		return library_error(rc, unc_platform_error(platform));
	rc = unc_session_add(session, spec, &id);
	/* One that only counts beside another event is encoded, but is no set by itself. */
	char *note = rc == UNC_ERR_CONFLICT ? must_print("%s", unc_session_error(session)) : NULL;

	print_start(&p, args, platform);
	if (rc < 0 && !note)
		status = library_error(rc, unc_session_error(session));
	else
		print_encoding(&p, session, &encoding, note);
	free(note);
	unc_session_free(session);
	return status;
}

/* ---- decode: from register values back to the event and its fields */

struct fields {
	struct printer *printer;
	const char *reg;
};

static int print_field(void *user, const struct unc_field *field, uint64_t value)
{
	const struct fields *f = user;

	print_row(f->printer);
	print_also(f->printer, "register", "  ");
	print_text(f->printer, "register", "register", f->reg);
	print_text(f->printer, "field", "field", field->name);
	print_hex(f->printer, "value", "value", value);
	print_text(f->printer, "desc", "desc", field->desc);
	return 0;
}

/* REGISTER=VALUE, taken apart in place. */
static int parse_value(char *text, struct unc_register_value *out)
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

static int decode(struct unc_platform *platform, const struct args *args,
		  const struct unc_register_value *values, size_t n)
{
	char name[UNC_SPEC_MAX];
	const char *type = args->word[0];
	struct printer p;
	int rc;

	for (size_t i = 0; i < n; i++) /* before anything is printed */
		if ((rc = unc_register_decode(platform, type, values[i].reg, 0, NULL, NULL)) < 0)
			return library_error(rc, unc_platform_error(platform));
	rc = unc_event_decode(platform, type, values, n, sizeof(*values), name, sizeof(name));
	if (rc < 0 && rc != UNC_ERR_NOT_FOUND && rc != UNC_ERR_INVALID)
		return library_error(rc, unc_platform_error(platform));
	print_start(&p, args, platform);
	print_open(&p, NULL, '{');
	print_known(&p, "name", "", name);
	print_text(&p, "note", "", rc == 0 ? NULL : unc_platform_error(platform));
	print_list(&p, "fields", NO_TITLES, "register|field|>value|desc");
	for (size_t i = 0; i < n; i++) {
		struct fields f = {.printer = &p, .reg = values[i].reg};

		unc_register_decode(platform, type, values[i].reg, values[i].value, print_field,
				    &f);
	}
	print_end(&p);
	print_close(&p);
	return rc == UNC_ERR_NOT_FOUND ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_decode(struct unc_platform *platform, const struct args *args)
{
	size_t n = args->words - 1;
	struct unc_register_value *values = must_alloc(NULL, n, sizeof(*values));
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = parse_value(args->word[i + 1], &values[i]);
	if (rc == 0)
		rc = decode(platform, args, values, n);
	free(values);
	return rc;
}

/* ---- registers */

static int print_register(void *user, const struct unc_register *reg)
{
	struct printer *p = user;

	print_row(p);
	print_text(p, "unit", "UNIT", reg->unit);
	print_integer(p, "index", "UNIT", reg->index);
	print_text(p, "register", "REGISTER", reg->name);
	print_text(p, "space", "SPACE", reg->space);
	print_hex(p, "address", "ADDRESS", reg->address);
	print_integer(p, "width", "BITS", reg->width);
	if (reg->device)
		print_text(p, "device", "PLACE", reg->device);
	if (reg->device && reg->device_id) { /* of some only the machine tells */
		char id[8];

		snprintf(id, sizeof(id), "0x%04x",
			 reg->device_id & 0xffff); /* as lspci prints it */
		print_text(p, "device_id", NULL, id);
		print_also(p, "PLACE", " (8086:%s)", id + 2);
	} else if (reg->device) {
		print_null(p, "device_id");
	}
	if (reg->bar)
		print_text(p, "bar", "PLACE", reg->bar);
	return 0;
}

/* What the registers of this machine hold. */
static int print_value(void *user, const struct unc_register *reg)
{
	struct printer *p = user;

	print_register(p, reg);
	print_integer(p, "socket", "SOCKET", reg->socket);
	if (reg->known)
		print_hex(p, "value", "VALUE", reg->value);
	else
		print_null(p, "value");
	print_known(p, "reason", "VALUE", reg->reason);
	return 0;
}

static int print_values(struct unc_platform *platform, struct printer *p)
{
	const struct unc_unit *unit;

	for (size_t i = 0; (unit = unc_unit_get(platform, i)); i++) {
		int rc = unc_register_read(platform, unit, print_value, p);

		if (rc != UNC_ERR_UNAVAILABLE)
			continue;
		/* None of its registers: it cannot be used. */
		print_row(p);
		print_text(p, "unit", "UNIT", unit->type->name);
		print_integer(p, "index", "UNIT", unit->index);
		print_null(p, "register");
		print_integer(p, "socket", "SOCKET", unit->socket);
		print_null(p, "value");
		print_known(p, "reason", "VALUE", unc_platform_error(platform));
	}
	return 0;
}

int cmd_registers(struct unc_platform *platform, const struct args *args)
{
	struct printer p;
	int rc;

	if (args->values && args->cpu)
		return bad_input("registers: --values are those of this machine: without -c");
	print_start(&p, args, platform);
	print_list(&p, NULL, TITLES,
		   args->values ? "UNIT|REGISTER|SPACE|PLACE|>ADDRESS|>BITS|>SOCKET|VALUE"
				: "UNIT|REGISTER|SPACE|PLACE|>ADDRESS|>BITS");
	rc = args->values ? print_values(platform, &p)
			  : unc_register_walk(platform, print_register, &p);
	print_end(&p);
	return library_error(rc, unc_platform_error(platform));
}
