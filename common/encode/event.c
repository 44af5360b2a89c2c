/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as text: parsing. format.c writes texts, encode.c makes register values, spec.c lists umasks and fields. */
#include "encode/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/text.h"
#include "tables/table.h"

enum { TOO_LARGE = 0x10000 }; /* larger than any index or socket */

#define WANT "want [type[index].]EVENT[:UMASK]...[:field=value]...[:socket=N]"

struct parse {
	const struct unc_table *t;
	const char *text;      /* the whole text */
	struct unc_spec *spec; /* what was parsed so far */
	struct unc_error *err;
};

/* ---- errors: those about umasks and fields begin with the event, see unc_spec_parse() */

static int fail_type(const struct parse *p, const char *name)
{
	char types[200];
	struct unc_buf list = UNC_BUF(types);

	for (unsigned i = 0; i < p->t->n_type; i++)
		unc_put_word(&list, unc_type_name(p->t, i));
	return unc_fail(p->err, UNC_ERR_NOT_FOUND, "%s: no unit type %s; %s has %s", p->text, name,
			unc_tbl_str(p->t, p->t->name), types);
}

static int fail_event(const struct parse *p, const char *name)
{
	const struct unc_range *events = &p->t->type[p->spec->type].events;
	const char *type = unc_type_name(p->t, p->spec->type);
	struct unc_nearest nearest;
	char buf[100];

	if (!p->err) /* the search is long */
		return UNC_ERR_NOT_FOUND;
	unc_nearest_start(&nearest, name);
	for (uint32_t i = 0; i < events->n; i++)
		unc_nearest_try(&nearest, unc_event_name(p->t, events->first + i));
	return unc_fail(p->err, UNC_ERR_NOT_FOUND, "%s.%s: no event %s in %s%s", type, name, name,
			type, unc_nearest_text(&nearest, buf, sizeof(buf)));
}

static int fail_umask(const struct parse *p, const char *name)
{
	const struct unc_range *umasks = &p->t->event[p->spec->event].umasks;
	struct unc_nearest nearest;
	char buf[100];

	if (!p->err)
		return UNC_ERR_NOT_FOUND;
	if (umasks->n == 0)
		return unc_fail(p->err, UNC_ERR_NOT_FOUND, "no umask %s; the event has none", name);
	unc_nearest_start(&nearest, name);
	for (uint32_t i = 0; i < umasks->n; i++)
		unc_nearest_try(&nearest, unc_umask_name(p->t, umasks->first + i));
	return unc_fail(p->err, UNC_ERR_NOT_FOUND, "no umask %s%s", name,
			unc_nearest_text(&nearest, buf, sizeof(buf)));
}

static int fail_field(const struct parse *p, const char *name)
{
	char names[200];
	struct unc_buf list = UNC_BUF(names);
	uint16_t field;
	bool needed;

	for (unsigned i = 0;
	     (field = unc_event_field(p->t, p->spec->event, i, &needed)) != UNC_NONE; i++)
		unc_put_few(&list, unc_field_name(p->t, field));
	return unc_fail(p->err, UNC_ERR_NOT_FOUND, "no field %s; it takes %s", name,
			names[0] ? names : "none");
}

/* ---- parts of the text */

/* Whether an event has the umask that begins the text, up to a colon. */
static bool has_umask(const struct unc_table *t, const struct unc_tbl_event *e, const char *text)
{
	char word[UNC_SPEC_MAX];
	uint16_t umask;

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, ":"), text);
	return unc_umask_find(t, e, word, &umask);
}

/* Finds the event of a name. If several share an alias, it is the one with the umask that follows;
 * event[1]: another one that has the umask, or UNC_NONE. */
static bool event_of_name(const struct unc_table *t, unsigned type, const char *word, size_t length,
			  const char *umask, uint16_t event[2])
{
	const struct unc_range *events = &t->type[type].events;
	bool has;

	event[0] = UNC_FIND_NAMED(t, event, *events, word, length);
	event[1] = UNC_NONE;
	if (event[0] == UNC_NONE || !t->event[event[0]].alias ||
	    unc_same(unc_event_name(t, event[0]), word))
		return event[0] != UNC_NONE;
	has = has_umask(t, &t->event[event[0]], umask);
	for (uint32_t i = event[0] + 1u; i < events->first + events->n; i++) {
		if (!unc_same(unc_tbl_str(t, t->event[i].alias), word) ||
		    !has_umask(t, &t->event[i], umask))
			continue;
		if (has && event[1] == UNC_NONE)
			event[1] = event[0];
		event[0] = (uint16_t)i;
		has = true;
	}
	return true;
}

/*
 * Finds the event whose name, or name and a dot, begin the text; the longest one. A umask follows
 * the dot, or else the colon.
 */
static bool find_event(const struct unc_table *t, unsigned type, char *text, const char *after,
		       uint16_t event[2], size_t *used)
{
	bool found = false;

	for (*used = strlen(text); *used;) {
		char end = text[*used], *dot;

		text[*used] = '\0';
		found = event_of_name(t, type, text, *used, end ? text + *used + 1 : after, event);
		dot = found ? NULL : strrchr(text, '.');
		text[*used] = end;
		if (found)
			break;
		*used = dot ? (size_t)(dot - text) : 0;
	}
	return found;
}

/* The type whose public prefix begins the text ("UNC_M_..."); the longest one. */
static uint16_t public_type(const struct unc_table *t, const char *text, size_t *used)
{
	uint16_t found = UNC_NONE;
	size_t length, whole = strlen(text);

	*used = 0;
	for (unsigned i = 0; i < t->n_type; i++)
		for (const char *p = unc_tbl_str(t, t->type[i].public_prefix); *p;
		     p += length + (p[length] == ',')) {
			length = strcspn(p, ",");
			if (length <= *used || length >= whole || strncasecmp(text, p, length) != 0)
				continue;
			found = (uint16_t)i;
			*used = length;
		}
	return found;
}

/* "cha3" -> type and index; "cha" -> type and -1; the name of a type may end in a digit itself.
 * *length: of the name without the number. */
static bool find_type(struct parse *p, char *word, size_t *length)
{
	const struct unc_range all = {0, p->t->n_type};
	struct unc_spec *spec = p->spec;
	uint64_t index;

	*length = strlen(word);
	spec->type = UNC_FIND_NAMED(p->t, type, all, word, *length);
	if (spec->type != UNC_NONE)
		return true;
	while (spec->type == UNC_NONE && *length > 1 && word[*length - 1] >= '0' &&
	       word[*length - 1] <= '9') {
		char digit = word[--*length];

		word[*length] = '\0';
		spec->type = UNC_FIND_NAMED(p->t, type, all, word, *length);
		word[*length] = digit;
	}
	if (spec->type != UNC_NONE)
		spec->index = unc_parse_number(word + *length, &index) && index < TOO_LARGE
				      ? (int)index
				      : TOO_LARGE;
	return spec->type != UNC_NONE;
}

/* An event without its type: allowed if only one type has it. */
static int type_of_event(struct parse *p, char *text)
{
	char types[200];
	struct unc_buf list = UNC_BUF(types);
	unsigned common = 0;
	uint16_t event[2];
	size_t used;

	for (unsigned i = 0; i < p->t->n_type; i++) {
		if (!find_event(p->t, i, text, "", event, &used))
			continue;
		/* A unit that only discovery can place (HBM, CXL) is not what most machines have.
		 */
		if (unc_type_instances(p->t, i) || !list.words)
			p->spec->type = (uint16_t)i;
		common += unc_type_instances(p->t, i) != 0;
		unc_put_few(&list, unc_type_name(p->t, i));
	}
	if (list.words == 1 || common == 1)
		return 0;
	if (list.words)
		return unc_fail(p->err, UNC_ERR_INVALID,
				"%s: several unit types have it (%s); name one, as in %s.%s", text,
				types, unc_type_name(p->t, p->spec->type), text);
	return unc_fail(p->err, UNC_ERR_NOT_FOUND,
			"%s: no unit type of %s has such an event; " WANT, text,
			unc_tbl_str(p->t, p->t->name));
}

/* ---- umasks and fields */

static int add_umask(struct parse *p, const char *name, uint16_t umask)
{
	if (unc_spec_has_umask(p->spec, umask))
		return unc_fail(p->err, UNC_ERR_INVALID, "umask %s is given twice", name);
	if (p->spec->n_umasks == UNC_SPEC_UMASKS)
		return unc_fail(p->err, UNC_ERR_INVALID, "more than %d umasks", UNC_SPEC_UMASKS);
	unc_spec_add_umask(p->spec, umask);
	return 0;
}

/* Parses what follows a dot. "REQUEST.RESPONSE": two umasks with a dot between them, as vendors write. */
static int add_dotted(struct parse *p, char *name)
{
	const struct unc_tbl_event *e = &p->t->event[p->spec->event];
	char *dot = strchr(name, '.');
	uint16_t umask;
	int rc;

	if (unc_umask_find(p->t, e, name, &umask))
		return add_umask(p, name, umask);
	if (dot)
		*dot = '\0';
	bool two = dot && unc_umask_find(p->t, e, name, &umask);
	if (!two && dot)
		*dot = '.';
	if (!two)
		return fail_umask(p, name);
	rc = add_umask(p, name, umask);
	return rc < 0 ? rc : add_dotted(p, dot + 1);
}

/* The field of a name, if the event takes it; else UNC_NONE. */
static uint16_t find_field(const struct parse *p, const char *name)
{
	const struct unc_range *fields = &p->t->type[p->spec->type].fields;
	uint16_t field = UNC_FIND_NAMED(p->t, field, *fields, name, strlen(name));

	return field != UNC_NONE && unc_event_takes(p->t, p->spec->event, field) ? field : UNC_NONE;
}

static int field_value(const struct parse *p, struct unc_spec_field *out, const char *text)
{
	const struct unc_tbl_field *f = &p->t->field[out->field];
	const char *name = unc_tbl_str(p->t, f->name);
	uint64_t max = unc_field_max(f);
	uint16_t value = UNC_FIND(p->t, value, f->values, text);

	if (f->flags & UNC_FIELD_NODES)
		out->node = unc_same(text, "local")    ? UNC_NODE_LOCAL
			    : unc_same(text, "remote") ? UNC_NODE_REMOTE
						       : UNC_NODE_NONE;
	if (out->node)
		return 0;
	if (value != UNC_NONE) {
		out->value = p->t->value[value].value;
		return 0;
	}
	bool number = unc_parse_number(text, &out->value);
	if (!number && errno != ERANGE)
		return unc_fail(p->err, UNC_ERR_INVALID, "%s=%s is not a number%s", name, text,
				f->values.n ? " or a name of the table" : "");
	if (!number || out->value > max)
		return unc_fail(p->err, UNC_ERR_RANGE, "%s=%s does not fit; the limit is %llu",
				name, text, (unsigned long long)max);
	if (out->value & ~max)
		return unc_fail(p->err, UNC_ERR_RANGE,
				"%s=%s is not a multiple of %llu, as the register needs", name,
				text, 1ull << f->shift);
	return 0;
}

/* Adds a field in table order, like all parts of an event. */
static int add_field_value(struct parse *p, const char *name, const struct unc_spec_field *f)
{
	struct unc_spec *spec = p->spec;
	unsigned at = spec->n_fields;

	if (unc_user_gave(spec, f->field))
		return unc_fail(p->err, UNC_ERR_INVALID, "%s is given twice", name);
	if (spec->n_fields == UNC_SPEC_FIELDS)
		return unc_fail(p->err, UNC_ERR_INVALID, "more than %d fields", UNC_SPEC_FIELDS);
	for (; at > 0 && spec->field[at - 1].field > f->field; at--)
		spec->field[at] = spec->field[at - 1];
	spec->field[at] = *f;
	spec->n_fields++;
	return 0;
}

static int add_field(struct parse *p, const char *name, const char *value)
{
	struct unc_spec_field f = {.field = find_field(p, name)};

	if (f.field == UNC_NONE)
		return fail_field(p, name);
	int rc = field_value(p, &f, value);
	return rc < 0 ? rc : add_field_value(p, name, &f);
}

static int fail_port(struct unc_error *err, uint64_t port, unsigned ports)
{
	return unc_fail(err, UNC_ERR_RANGE,
			"port=%" PRIu64 " does not fit: a stack has ports 0 to %u", port,
			ports - 1);
}

static unsigned ports_of(const struct unc_table *t, const struct unc_spec *spec)
{
	unsigned ports = t->type[spec->type].ports;

	return ports ? ports : UNC_MAX_PORTS;
}

int unc_spec_set_ports(const struct unc_table *t, struct unc_spec *spec, unsigned mask,
		       struct unc_error *err)
{
	struct parse p = {t, "", spec, err};
	struct unc_spec_field f = {.field = find_field(&p, "ch_mask"), .value = mask};
	unsigned ports = ports_of(t, spec), all = (1u << ports) - 1;

	if (f.field == UNC_NONE)
		return unc_fail(err, UNC_ERR_INVALID,
				"port= is of events of PCIe stacks that have a mask of ports");
	if (mask & ~all)
		return fail_port(err, 31 - (unsigned)__builtin_clz(mask), ports);
	for (unsigned i = 0; i < spec->n_fields; i++)
		if (spec->field[i].field == f.field && (spec->field[i].value & all) == all) {
			spec->field[i].value = mask; /* of all, as formulas have them */
			return 0;
		}
	if (unc_user_gave(spec, f.field))
		return unc_fail(err, UNC_ERR_INVALID,
				"port= and ch_mask= are both given: one says it");
	return add_field_value(&p, "ch_mask", &f);
}

static int add_port(struct parse *p, const char *value, bool mask)
{
	uint64_t port;

	if (!unc_parse_number(value, &port) && errno != ERANGE)
		return unc_fail(p->err, UNC_ERR_INVALID, "port=%s is not a number", value);
	if (mask && port && port < 1u << UNC_MAX_PORTS)
		return unc_spec_set_ports(p->t, p->spec, (unsigned)port, p->err);
	if (port >= UNC_MAX_PORTS || mask)
		return fail_port(p->err, port, ports_of(p->t, p->spec));
	return unc_spec_set_ports(p->t, p->spec, 1u << port, p->err);
}

static int place_number(const struct parse *p, const char *name, const char *value, int *out)
{
	uint64_t v;

	if (*out >= 0)
		return unc_fail(p->err, UNC_ERR_INVALID, "%s is given twice", name);
	bool number = unc_parse_number(value, &v);
	if (!number && errno != ERANGE)
		return unc_fail(p->err, UNC_ERR_INVALID, "%s=%s is not a number", name, value);
	/* unc_spec_check() refuses what is too large */
	*out = number && v < TOO_LARGE ? (int)v : TOO_LARGE;
	return 0;
}

/* libpfm4's short modifiers. */
static const char *long_name(const char *name)
{
	return unc_same(name, "e")   ? "edge"
	       : unc_same(name, "i") ? "inv"
	       : unc_same(name, "t") ? "thresh"
				     : name;
}

/*
 * Some documents split a umask: EQ_128BYTE:SELF is EQ_128BYTE_SELF. Returns true, with *next moved
 * on, if the item and the next one are that.
 */
static bool join_items(const struct parse *p, const char *item, char **next, char *word,
		       size_t size, uint16_t *umask)
{
	size_t length = *next ? strcspn(*next, ":") : 0;
	int n = *next ? snprintf(word, size, "%s_%.*s", item, (int)length, *next) : -1;

	if (n < 0 || (size_t)n >= size ||
	    !unc_umask_find(p->t, &p->t->event[p->spec->event], word, umask))
		return false;
	*next = (*next)[length] ? *next + length + 1 : NULL;
	return true;
}

/* Parses the text between two colons. */
static int parse_item(struct parse *p, char *item, char **next)
{
	char word[UNC_SPEC_MAX], *value = strchr(item, '=');
	uint16_t umask, field;

	if (item[0] == '\0' || (value && value[1] == '\0') || value == item)
		return unc_fail(p->err, UNC_ERR_INVALID, "'%s' is empty or has no value; " WANT,
				item);
	if (value) {
		*value++ = '\0';
		if (unc_same(item, "socket"))
			return place_number(p, "socket", value, &p->spec->socket);
		if (unc_same(item, "unit"))
			return place_number(p, "unit", value, &p->spec->index);
		if (unc_same(item, "port") || unc_same(item, "ports"))
			return add_port(p, value, unc_same(item, "ports"));
		return add_field(p, long_name(item), value);
	}
	if (unc_umask_find(p->t, &p->t->event[p->spec->event], item, &umask))
		return add_umask(p, item, umask);
	if (join_items(p, item, next, word, sizeof(word), &umask))
		return add_umask(p, word, umask);
	field = find_field(p, long_name(item));
	if (field == UNC_NONE)
		return fail_umask(p, item);
	if (unc_field_max(&p->t->field[field]) == 1)
		return add_field(p, long_name(item), "1");
	return unc_fail(p->err, UNC_ERR_INVALID, "field %s needs a value, as in %s=1", item, item);
}

/* Parses the part before the first colon: type, index, event. A umask after a dot is left. */
static int parse_head(struct parse *p, char *head, char *after, char **with)
{
	struct unc_spec *spec = p->spec;
	size_t used, with_prefix;
	uint16_t event[2];
	char *rest = head, *dot = strchr(head, '.');
	int rc = 0;

	if (head[0] == '\0' || dot == head || (dot && dot[1] == '\0'))
		return unc_fail(p->err, UNC_ERR_INVALID,
				"%s: the unit type or the event is empty; " WANT, p->text);
	if (dot)
		*dot = '\0';
	bool typed = dot && find_type(p, head, &used);
	if (dot && !typed)
		*dot = '.';
	if (typed) {
		rest = dot + 1;
	} else if ((spec->type = public_type(p->t, head, &with_prefix)) != UNC_NONE) {
		rest = head + with_prefix;
	} else if (dot) {
		head[used] = '\0'; /* The sentence is about the name, not about the number. */
		rc = fail_type(p, head);
	} else {
		rc = type_of_event(p, head);
	}
	if (rc < 0)
		return rc;
	if (!find_event(p->t, spec->type, rest, after ? after : "", event, &used)) {
		rest[strcspn(rest, ".")] = '\0';
		return fail_event(p, rest);
	}
	spec->event = event[0];
	char *umask = rest[used] ? rest + used + 1 : after;
	if (event[1] != UNC_NONE) /* both have the umask: the user must choose */
		return unc_fail(p->err, UNC_ERR_INVALID,
				"%s.%s: both %s and %s have %.*s; name one of them",
				unc_type_name(p->t, spec->type),
				unc_tbl_str(p->t, p->t->event[event[0]].alias),
				unc_event_name(p->t, event[0]), unc_event_name(p->t, event[1]),
				(int)strcspn(umask, ":"), umask);
	if (rest[used])
		*with = umask;
	return 0;
}

int unc_spec_check(const struct unc_table *t, const char *text, const struct unc_spec *spec,
		   struct unc_error *err)
{
	unsigned n = unc_type_instances(t, spec->type);

	if (n == 0)
		n = UNC_MAX_PLACES; /* known to discovery only */
	if (spec->index >= (int)n)
		return unc_fail(err, UNC_ERR_RANGE,
				"%s: no such unit; a socket has at most %s0 to %s%u", text,
				unc_type_name(t, spec->type), unc_type_name(t, spec->type), n - 1);
	if (spec->socket >= 64)
		return unc_fail(err, UNC_ERR_RANGE, "%s: the socket does not fit; the limit is 63",
				text);
	return 0;
}

int unc_spec_parse(const struct unc_table *t, const char *text, struct unc_spec *out,
		   struct unc_error *err)
{
	struct parse p = {t, text, out, err};
	char copy[UNC_SPEC_MAX], *colon, *next, *umask = NULL;
	const char *end = text;
	int rc;

	out->type = out->event = UNC_NONE;
	out->index = out->socket = -1;
	out->n_umasks = out->n_fields = 0;
	if (text[0] == '\0')
		return unc_fail(err, UNC_ERR_INVALID, "the event is empty; " WANT);
	if (strlen(text) >= sizeof(copy))
		return unc_fail(err, UNC_ERR_INVALID,
				"the event '%.40s...' is longer than %d letters", text,
				UNC_SPEC_MAX - 1);
	while ((unsigned char)(*end - '!') <= '~' - '!')
		end++;
	if (*end)
		return unc_fail(err, UNC_ERR_INVALID,
				"'%s': a blank or unprintable letter in an event; " WANT, text);
	memcpy(copy, text, (size_t)(end - text) + 1);
	colon = strchr(copy, ':');
	if (colon && colon[1] == ':' && !memchr(copy, '.', (size_t)(colon - copy)) &&
	    strncmp(copy, "UNC_", 4) != 0) { /* type::EVENT is type.EVENT */
		*colon = '.';
		memmove(colon + 1, colon + 2, strlen(colon + 2) + 1);
		colon = strchr(copy, ':');
	}
	if (colon)
		*colon++ = '\0';
	rc = parse_head(&p, copy, colon, &umask);
	if (rc < 0)
		return rc;
	rc = umask ? add_dotted(&p, umask) : 0;
	for (; colon && rc == 0; colon = next) {
		next = strchr(colon, ':');
		if (next)
			*next++ = '\0';
		rc = parse_item(&p, colon, &next);
	}
	if (rc == 0)
		return unc_spec_check(t, text, out, err);
	unc_error_prefix(err, "%s.%s", unc_type_name(t, out->type), unc_event_name(t, out->event));
	return rc;
}
