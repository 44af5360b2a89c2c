/* SPDX-License-Identifier: BSD-3-Clause */
#include "encode/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/abi.h"
#include "base/nearest.h"
#include "base/text.h"
#include "encode/metric.h"

/* ---- metrics */

/* imc3.MEM_BW_READS: removes the index before the dot from the name. */
static void remove_index(char *name, int *index)
{
	char *dot = strchr(name, '.'), *digit = dot;

	while (digit && digit > name && digit[-1] >= '0' && digit[-1] <= '9')
		digit--;
	if (digit == dot || digit == name || strtoul(digit, NULL, 10) >= UNC_MAX_PLACES)
		return;
	*index = (int)strtoul(digit, NULL, 10);
	memmove(digit, dot, strlen(dot) + 1);
}

/* Tries a name of the table as a candidate, by its own part or in full. */
static void try_name(struct unc_nearest *nearest, const char *type, const char *own, bool in_full)
{
	char full[UNC_SPEC_MAX];

	snprintf(full, sizeof(full), "%s%s%s", type, *type ? "." : "", own);
	/* Portable: its first words are near (memory_read). */
	if (*type ? unc_nearest_try(nearest, in_full ? full : own)
		  : unc_nearest_try_short(nearest, own))
		snprintf(nearest->best, sizeof(nearest->best), "%s", full);
}

/* Tries the metrics of a type, or of all types (UNC_NONE). */
static void try_metrics(const struct unc_table *t, uint16_t type, bool in_full,
			struct unc_nearest *nearest)
{
	for (const struct unc_tbl_metric *m = t->metric; m < t->metric + t->n_metric; m++)
		if (type == UNC_NONE || m->type == type)
			try_name(nearest, m->type == UNC_NONE ? "" : unc_type_name(t, m->type),
				 unc_tbl_str(t, m->name), in_full);
}

/* The name before any colon, without an index; and the type that it begins with, or UNC_NONE.
 * False: it has no dot, so no type. */
static bool split_name(const struct unc_table *t, const char *text, char name[UNC_SPEC_MAX],
		       uint16_t *type)
{
	int index;

	snprintf(name, UNC_SPEC_MAX, "%.*s", (int)strcspn(text, ":"), text);
	remove_index(name, &index);
	return unc_metric_split(t, name, type) != name;
}

int unc_name_no_metric(const struct unc_table *t, const char *name, struct unc_error *err)
{
	char buf[UNC_SPEC_MAX + 16];
	struct unc_nearest nearest;

	unc_nearest_start(&nearest, name);
	try_metrics(t, UNC_NONE, true, &nearest);
	return unc_fail(err, UNC_ERR_NOT_FOUND, "no metric %.80s in %s%s", name,
			unc_tbl_str(t, t->name), unc_nearest_text(&nearest, buf, sizeof(buf)));
}

/* ---- where */

bool unc_name_placed(const struct unc_name *name)
{
	return name->spec.socket >= 0 || name->spec.index >= 0 || name->node >= 0 ||
	       name->port >= 0 || name->device[0];
}

unsigned unc_name_ports(const struct unc_name *name)
{
	return name->at.ports ? name->at.ports : name->port >= 0 ? 1u << name->port : 0;
}

bool unc_name_address(const char *text, char out[UNC_DEVICE_MAX])
{
	unsigned domain, bus, device, function;
	int used = 0;
	bool is = sscanf(text, "%8x%*1[:_]%2x%*1[:_]%2x%*1[._]%1x%n", &domain, &bus, &device,
			 &function, &used) == 4 &&
		  !text[used];

	if (!is) { /* of the first domain */
		domain = 0;
		is = sscanf(text, "%2x%*1[:_]%2x%*1[._]%1x%n", &bus, &device, &function, &used) ==
			     3 &&
		     !text[used];
	}
	if (!is || device >= 32 || function >= 8)
		return false;
	snprintf(out, UNC_DEVICE_MAX, "%04x_%02x_%02x_%x", domain, bus, device, function);
	return true;
}

/* Parses a place that has a number. */
static int parse_number(const char *text, const char *item, const char *what, unsigned most,
			int *out, struct unc_error *err)
{
	uint64_t value;

	if (*out >= 0)
		return unc_fail(err, UNC_ERR_INVALID, "%s: %s is given twice", text, what);
	if (!unc_parse_number(item, &value) || value > most)
		return unc_fail(err, UNC_ERR_INVALID, "%.*s: '%s=%s' is not %s=N with N up to %u",
				(int)strcspn(text, ":"), text, what, item, what, most);
	*out = (int)value;
	return 0;
}

/* Parses what follows "device="; an address has colons itself. Returns the rest of the text. */
static const char *parse_device(const char *value, char out[UNC_DEVICE_MAX])
{
	char word[UNC_DEVICE_MAX];

	for (size_t end = strlen(value); end; end--) {
		if (value[end] && value[end] != ':')
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)end, value);
		if (end < sizeof(word) && unc_name_address(word, out))
			return value + end;
	}
	snprintf(out, UNC_DEVICE_MAX, "%.*s", (int)strcspn(value, ":"), value);
	return value + strcspn(value, ":");
}

static const char node[] = ":node=", device[] = ":device=";

static bool is_place(const char *item, const char *place)
{
	return (item[1] | 0x20) == place[1] && strncasecmp(item, place, strlen(place)) == 0;
}

/*
 * node= and device= are places of the machine, for events and metrics: they go to *name, and the
 * text without them to `rest`. *text is parsed further.
 */
static int parse_places(const char **text, char rest[UNC_SPEC_MAX], struct unc_name *name,
			struct unc_error *err)
{
	struct unc_buf o;
	const char *whole = *text, *item = strchr(whole, '=') ? strchr(whole, ':') : NULL, *next;
	char number[24];
	int rc = 0;

	/* The caller fills in the rest of `spec`: every name passes here, so time matters. */
	name->metric = name->node = name->port = -1;
	name->spec.index = name->spec.socket = -1;
	name->at.socket = name->at.index = -1;
	name->at.ports = 0;
	name->device[0] = '\0';
	while (item && !is_place(item, node) && !is_place(item, device))
		item = strchr(item + 1, ':');
	if (!item) /* as in most texts */
		return 0;
	o = unc_buf(rest, UNC_SPEC_MAX);
	unc_put(&o, "%.*s", (int)(item - whole), whole);
	for (; rc == 0 && *item; item = next) {
		next = item + 1 + strcspn(item + 1, ":");
		if (is_place(item, node)) {
			item += sizeof(node) - 1;
			snprintf(number, sizeof(number), "%.*s", (int)(next - item), item);
			rc = parse_number(whole, number, "node", 4095, &name->node, err);
		} else if (is_place(item, device)) {
			item += sizeof(device) - 1;
			if (name->device[0] || !*item)
				rc = unc_fail(err, UNC_ERR_INVALID, "%s: device= is %s", whole,
					      *item ? "given twice" : "empty");
			next = parse_device(item, name->device);
		} else {
			unc_put(&o, "%.*s", (int)(next - item), item);
		}
	}
	if (rc == 0 && o.n >= UNC_SPEC_MAX)
		rc = unc_fail(err, UNC_ERR_INVALID, "'%.40s...' is longer than %d letters", whole,
			      UNC_SPEC_MAX - 1);
	*text = rest;
	return rc;
}

/* A mask of several ports, "0xe". */
static int parse_ports(const char *text, const char *item, struct unc_name *out,
		       struct unc_error *err)
{
	int mask = out->port;
	int rc = parse_number(text, item, "ports", (1u << UNC_MAX_PORTS) - 1, &mask, err);

	if (rc == 0 && mask == 0)
		rc = unc_fail(err, UNC_ERR_INVALID, "%s: ports=0 names no port", text);
	if (rc == 0) {
		out->port = __builtin_ctz((unsigned)mask);
		out->at.ports = (unsigned)mask;
	}
	return rc;
}

/* Parses an item of a metric, which has no fields. */
static int parse_metric_item(const char *text, char *item, struct unc_name *out,
			     struct unc_error *err)
{
	if (strncasecmp(item, "port=", 5) == 0)
		return parse_number(text, item + 5, "port", UNC_MAX_PORTS - 1, &out->port, err);
	if (strncasecmp(item, "ports=", 6) == 0)
		return parse_ports(text, item + 6, out, err);
	if (strncasecmp(item, "unit=", 5) == 0)
		return parse_number(text, item + 5, "unit", UNC_MAX_PLACES - 1, &out->spec.index,
				    err);
	if (strncasecmp(item, "socket=", 7) == 0)
		return parse_number(text, item + 7, "socket", 63, &out->spec.socket, err);
	return unc_fail(err, UNC_ERR_INVALID,
			"%.*s: '%s' is no place of a metric: socket=N, node=N, port=N, unit=N or "
			"device=NAME",
			(int)strcspn(text, ":"), text, item);
}

/* UNC_ERR_NOT_FOUND has no sentence. */
static int find_metric(const struct unc_table *t, const char *text, struct unc_name *out,
		       struct unc_error *err)
{
	struct unc_name found = *out;
	char name[UNC_SPEC_MAX], *colon, *next;
	int rc = 0;

	if (strlen(text) >= sizeof(name) || text[0] == '\0')
		return unc_fail(err, UNC_ERR_INVALID,
				"'%.60s' is not a metric; want NAME[:socket=N]", text);
	strcpy(name, text);
	colon = strchr(name, ':');
	if (colon)
		*colon++ = '\0';
	found.metric = unc_metric_index(t, name);
	if (found.metric < 0) {
		remove_index(name, &found.spec.index);
		found.metric = unc_metric_index(t, name);
	}
	if (found.metric < 0)
		return UNC_ERR_NOT_FOUND;
	for (; colon && rc == 0; colon = next) {
		if ((next = strchr(colon, ':')) != NULL)
			*next++ = '\0';
		rc = parse_metric_item(text, colon, &found, err);
	}
	if (rc == 0)
		*out = found;
	return rc;
}

/* ---- either */

/* Fails for a name that is neither event nor metric. If its unit type is known, or it names none,
 * the nearest of both is suggested; of equals the first metric. */
static int fail_unknown(const struct unc_table *t, const char *text, struct unc_error *err)
{
	char name[UNC_SPEC_MAX], buf[UNC_SPEC_MAX + 16];
	struct unc_nearest nearest;
	uint16_t type;
	bool in_full = split_name(t, text, name, &type);

	if (!in_full && unc_find_type(t, name) != UNC_NONE)
		return unc_fail(err, UNC_ERR_NOT_FOUND,
				"%s is a unit type, no metric or event; want %s.EVENT", name, name);
	unc_nearest_start(&nearest, name);
	try_metrics(t, type, in_full, &nearest);
	for (size_t i = 0; i < t->n_event; i++)
		if (type == UNC_NONE || t->event[i].type == type)
			try_name(&nearest, unc_type_name(t, t->event[i].type),
				 unc_event_name(t, (unsigned)i), in_full);
	return unc_fail(err, UNC_ERR_NOT_FOUND, "no metric or event %.80s in %s%s", name,
			unc_tbl_str(t, t->name), unc_nearest_text(&nearest, buf, sizeof(buf)));
}

/* Whether an unknown text was meant as an event: its unit type is unknown, or it has a form that
 * metrics never have. */
static bool is_meant_as_event(const struct unc_table *t, const char *text)
{
	char name[UNC_SPEC_MAX];
	uint16_t type;

	return strstr(text, "::") || strncmp(text, "UNC_", 4) == 0 ||
	       (split_name(t, text, name, &type) && type == UNC_NONE);
}

int unc_name_parse(const struct unc_table *t, const char *text, struct unc_name *out,
		   struct unc_error *err)
{
	char rest[UNC_SPEC_MAX];
	int rc = parse_places(&text, rest, out, err);

	if (rc < 0)
		return rc;
	rc = unc_spec_parse(t, text, &out->spec, NULL);
	if (rc == UNC_ERR_NOT_FOUND) {
		struct unc_name metric = *out;

		metric.spec.index = metric.spec.socket = -1;
		rc = find_metric(t, text, &metric, err);
		if (rc == 0)
			*out = metric;
		if (rc != UNC_ERR_NOT_FOUND)
			return rc;
		if (!err) /* the search is long */
			return rc;
		if (out->spec.event == UNC_NONE && !is_meant_as_event(t, text))
			return fail_unknown(t, text, err);
	}
	/* Parses again for the sentence: the one about the event is better. */
	return rc < 0 ? unc_spec_parse(t, text, &out->spec, err) : 0;
}

int unc_name_event(const struct unc_table *t, const char *text, struct unc_name *out,
		   struct unc_error *err)
{
	char rest[UNC_SPEC_MAX];
	int rc = parse_places(&text, rest, out, err);

	return rc < 0 ? rc : unc_spec_parse(t, text, &out->spec, err);
}

/* ---- places */

int unc_name_check(const struct unc_name *name, const char *text, int n_sockets,
		   struct unc_error *err)
{
	if (name->spec.socket < n_sockets)
		return 0;
	return unc_fail(err, UNC_ERR_RANGE, "%s: this machine has sockets 0 to %d", text,
			n_sockets - 1);
}

/* ---- the text */

static void append_place(struct unc_buf *o, const char *what, int number)
{
	if (number >= 0)
		unc_put(o, ":%s=%d", what, number);
}

static void put_ports(struct unc_buf *o, const struct unc_name *name)
{
	if (name->port >= 0 && name->at.ports & (name->at.ports - 1))
		unc_put(o, ":ports=0x%x", name->at.ports);
	else
		append_place(o, "port", name->port);
}

int unc_name_format(const struct unc_table *t, const struct unc_name *name, char *buf, size_t size)
{
	const struct unc_tbl_metric *m;
	struct unc_buf o = unc_buf(buf, size);

	if (name->metric < 0) {
		if (unc_spec_format(t, &name->spec, buf, size) < 0)
			return UNC_ERR_RANGE;
		o.n = strlen(buf);
		put_ports(&o, name);
	} else {
		m = &t->metric[name->metric];
		if (m->type != UNC_NONE)
			unc_put(&o, "%s", unc_tbl_str(t, t->type[m->type].name));
		if (name->spec.index >= 0 && m->type != UNC_NONE)
			unc_put(&o, "%d", name->spec.index);
		unc_put(&o, "%s%s", m->type != UNC_NONE ? "." : "", unc_tbl_str(t, m->name));
		put_ports(&o, name);
		append_place(&o, "unit", m->type == UNC_NONE ? name->spec.index : -1);
		append_place(&o, "socket", name->spec.socket);
	}
	append_place(&o, "node", name->node);
	if (name->device[0])
		unc_put(&o, ":device=%s", name->device);
	return o.n < size ? 0 : UNC_ERR_RANGE;
}
