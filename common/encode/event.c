/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as text: parsing. format.c writes them, encode.c makes register values of them, spec.c
 * tells what they hold. */
#include "encode/event.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "tables/table.h"

enum { TOO_LARGE = 0x10000 }; /* larger than any index or socket */

#define WANT "want [type[index].]EVENT[:UMASK]...[:field=value]...[:socket=N]"

/* ---- sentences */

/* A sentence that begins with the event. */
static int refuse(const struct unc_table *t, const struct unc_spec *spec, struct unc_error *err,
		  int code, const char *format, ...) __attribute__((format(printf, 5, 6)));

static int refuse(const struct unc_table *t, const struct unc_spec *spec, struct unc_error *err,
		  int code, const char *format, ...)
{
	char text[UNC_ERROR_MAX];

	UNC_FORMAT(text, format);
	return unc_fail(err, code, "%s.%s: %s", unc_type_name(t, spec->type),
			unc_event_name(t, spec->event), text);
}

static int fail_type(const struct unc_table *t, const char *text, const char *name,
		     struct unc_error *err)
{
	char types[200];
	struct unc_buf list = UNC_BUF(types);

	for (unsigned i = 0; i < t->n_type; i++)
		unc_put_word(&list, unc_type_name(t, i));
	return unc_fail(err, UNC_ERR_NOT_FOUND, "%s: no unit type %s; %s has %s", text, name,
			unc_tbl_str(t, t->name), types);
}

static int fail_event(const struct unc_table *t, unsigned type, const char *name,
		      struct unc_error *err)
{
	const struct unc_range *events = &t->type[type].events;
	struct unc_nearest nearest;
	char buf[100];

	unc_nearest_start(&nearest, name);
	for (uint32_t i = 0; i < events->n; i++)
		unc_nearest_try(&nearest, unc_event_name(t, events->first + i));
	return unc_fail(err, UNC_ERR_NOT_FOUND, "%s.%s: no event %s in %s%s",
			unc_type_name(t, type), name, name, unc_type_name(t, type),
			unc_nearest_text(&nearest, buf, sizeof(buf)));
}

/* ---- parts of the text */

static bool same_part(const char *text, size_t length, const char *name)
{
	char word[UNC_SPEC_MAX];

	if (length >= sizeof(word))
		return false;
	memcpy(word, text, length);
	word[length] = '\0';
	return unc_same(word, name);
}

/* Whether an event has the umask that begins the text, up to a colon. */
static bool has_umask(const struct unc_table *t, const struct unc_tbl_event *e, const char *text)
{
	char word[UNC_SPEC_MAX];
	uint16_t umask;

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, ":"), text);
	return unc_umask_find(t, e, word, &umask);
}

/* The first of a type's names that is not before a word. */
static uint32_t first_name(const struct unc_table *t, const struct unc_range *names,
			   const char *word)
{
	uint32_t low = names->first, high = names->first + names->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (unc_compare(unc_tbl_str(t, t->event_name[middle].name), word) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The event of a name. Of two that share an alias, the one that has the umask behind it. */
static bool event_of_name(const struct unc_table *t, unsigned type, const char *word,
			  const char *umask, uint16_t *event)
{
	const struct unc_range *names = &t->type[type].names;
	uint32_t first = first_name(t, names, word), end = names->first + names->n;

	uint32_t i = first;

	for (; i < end && unc_same(unc_tbl_str(t, t->event_name[i].name), word); i++)
		if (i == first || has_umask(t, &t->event[t->event_name[i].event], umask))
			*event = t->event_name[i].event;
	return i > first;
}

/*
 * The event whose name, or whose name and a dot, begin the text; the longest one. A umask stands
 * after the dot, or else after the colon.
 */
static bool find_event(const struct unc_table *t, unsigned type, const char *text,
		       const char *after, uint16_t *event, size_t *used)
{
	char word[UNC_SPEC_MAX];

	*used = strlen(text);
	if (*used >= sizeof(word))
		return false;
	memcpy(word, text, *used + 1);
	while (*used &&
	       !event_of_name(t, type, word, text[*used] ? text + *used + 1 : after, event)) {
		char *dot = strrchr(word, '.');

		*used = dot ? (size_t)(dot - word) : 0;
		word[*used] = '\0';
	}
	return *used > 0;
}

/* The type whose public prefix begins the text ("UNC_M_..."); the longest one. */
static uint16_t public_type(const struct unc_table *t, const char *text, size_t *used)
{
	uint16_t found = UNC_NONE;

	*used = 0;
	for (unsigned i = 0; i < t->n_type; i++) {
		const char *p = unc_tbl_str(t, t->type[i].public_prefix);

		while (*p) {
			size_t length = strcspn(p, ",");
			char prefix[32];

			if (length < sizeof(prefix)) {
				memcpy(prefix, p, length);
				prefix[length] = '\0';
				if (length > *used && length < strlen(text) &&
				    same_part(text, length, prefix)) {
					found = (uint16_t)i;
					*used = length;
				}
			}
			p += length + (p[length] == ',');
		}
	}
	return found;
}

/* "cha3" -> type and index; "cha" -> type and -1; the name of a type may end in a digit itself. */
static int parse_type(const struct unc_table *t, const char *text, char *word,
		      struct unc_spec *spec, struct unc_error *err)
{
	size_t length = strlen(word);
	uint64_t index;

	spec->type = unc_find_type(t, word);
	if (spec->type != UNC_NONE)
		return 0;
	while (spec->type == UNC_NONE && length > 1 && word[length - 1] >= '0' &&
	       word[length - 1] <= '9') {
		char digit = word[--length];

		word[length] = '\0';
		spec->type = unc_find_type(t, word);
		word[length] = digit;
	}
	if (spec->type == UNC_NONE) {
		/* The sentence is about the name, not about the number. */
		if (word[length])
			word[length] = '\0';
		return fail_type(t, text, word, err);
	}
	spec->index = unc_parse_number(word + length, &index) && index < TOO_LARGE ? (int)index
										   : TOO_LARGE;
	return 0;
}

/* An event without its type: fine if only one type has it. */
static int type_of_event(const struct unc_table *t, const char *text, struct unc_spec *spec,
			 struct unc_error *err)
{
	char types[200];
	struct unc_buf list = UNC_BUF(types);
	unsigned common = 0;
	uint16_t event;
	size_t used;

	for (unsigned i = 0; i < t->n_type; i++) {
		if (!find_event(t, i, text, "", &event, &used))
			continue;
		/* A unit that only discovery can place (HBM, CXL) is not what most machines have.
		 */
		if (unc_type_instances(t, i) || !list.words)
			spec->type = (uint16_t)i;
		common += unc_type_instances(t, i) != 0;
		unc_put_few(&list, unc_type_name(t, i));
	}
	if (list.words == 1 || common == 1)
		return 0;
	if (list.words)
		return unc_fail(err, UNC_ERR_INVALID,
				"%s: several unit types have it (%s); "
				"name one, as in %s.%s",
				text, types, unc_type_name(t, spec->type), text);
	return unc_fail(err, UNC_ERR_NOT_FOUND, "%s: no unit type of %s has such an event; " WANT,
			text, unc_tbl_str(t, t->name));
}

/* ---- umasks and fields */

static int fail_umask(const struct unc_table *t, const struct unc_spec *spec, const char *name,
		      struct unc_error *err)
{
	const struct unc_tbl_event *e = &t->event[spec->event];
	struct unc_nearest nearest;
	char buf[100], event[160];

	snprintf(event, sizeof(event), "%s.%s", unc_type_name(t, spec->type),
		 unc_tbl_str(t, e->name));
	if (e->umasks.n == 0)
		return unc_fail(err, UNC_ERR_NOT_FOUND, "%s: no umask %s; the event has none",
				event, name);
	unc_nearest_start(&nearest, name);
	for (uint32_t i = 0; i < e->umasks.n; i++)
		unc_nearest_try(&nearest, unc_tbl_str(t, t->umask[e->umasks.first + i].name));
	return unc_fail(err, UNC_ERR_NOT_FOUND, "%s: no umask %s%s", event, name,
			unc_nearest_text(&nearest, buf, sizeof(buf)));
}

/* "REQUEST.RESPONSE": two umasks with a dot between them, as vendors write. */
static int add_two_umasks(const struct unc_table *t, struct unc_spec *spec, const char *name,
			  size_t first, struct unc_error *err);

static int add_umask(const struct unc_table *t, struct unc_spec *spec, const char *name,
		     struct unc_error *err)
{
	uint16_t umask;

	if (!unc_umask_find(t, &t->event[spec->event], name, &umask))
		return strchr(name, '.') ? add_two_umasks(t, spec, name, strcspn(name, "."), err)
					 : fail_umask(t, spec, name, err);
	if (unc_spec_has_umask(spec, umask))
		return refuse(t, spec, err, UNC_ERR_INVALID, "umask %s is given twice", name);
	if (spec->n_umasks == UNC_SPEC_UMASKS)
		return refuse(t, spec, err, UNC_ERR_INVALID, "more than %d umasks",
			      UNC_SPEC_UMASKS);
	unc_spec_add_umask(spec, umask);
	return 0;
}

static int add_two_umasks(const struct unc_table *t, struct unc_spec *spec, const char *name,
			  size_t first, struct unc_error *err)
{
	char word[UNC_SPEC_MAX];
	uint16_t umask;

	snprintf(word, sizeof(word), "%.*s", (int)first, name);
	if (!unc_umask_find(t, &t->event[spec->event], word, &umask))
		return fail_umask(t, spec, name, err);
	int rc = add_umask(t, spec, word, err);
	return rc < 0 ? rc : add_umask(t, spec, name + first + 1, err);
}

static int fail_field(const struct unc_table *t, const struct unc_spec *spec, const char *name,
		      struct unc_error *err)
{
	char names[200];
	struct unc_buf list = UNC_BUF(names);
	uint16_t field;
	bool needed;

	for (unsigned i = 0; (field = unc_event_field(t, spec->event, i, &needed)) != UNC_NONE; i++)
		unc_put_few(&list, unc_tbl_str(t, t->field[field].name));
	return refuse(t, spec, err, UNC_ERR_NOT_FOUND, "no field %s; it takes %s", name,
		      names[0] ? names : "none");
}

static bool takes_field(const struct unc_table *t, const struct unc_spec *spec, uint16_t field)
{
	uint16_t f;
	bool needed;

	for (unsigned i = 0; (f = unc_event_field(t, spec->event, i, &needed)) != UNC_NONE; i++)
		if (f == field)
			return true;
	return false;
}

static int field_value(const struct unc_table *t, const struct unc_spec *spec,
		       struct unc_spec_field *out, const char *text, struct unc_error *err)
{
	const struct unc_tbl_field *f = &t->field[out->field];
	const char *name = unc_tbl_str(t, f->name);
	uint64_t max = unc_field_max(f);

	if (f->flags & UNC_FIELD_NODES) {
		out->node = unc_same(text, "local")    ? UNC_NODE_LOCAL
			    : unc_same(text, "remote") ? UNC_NODE_REMOTE
						       : UNC_NODE_NONE;
		if (out->node)
			return 0;
	}
	for (uint32_t i = 0; i < f->values.n; i++)
		if (unc_same(unc_tbl_str(t, t->value[f->values.first + i].name), text)) {
			out->value = t->value[f->values.first + i].value;
			return 0;
		}
	if (!unc_parse_number(text, &out->value) && !unc_is_number(text))
		return refuse(t, spec, err, UNC_ERR_INVALID, "%s=%s is not a number%s", name, text,
			      f->values.n ? " or a name of the table" : "");
	if (!unc_parse_number(text, &out->value) || out->value > max)
		return refuse(t, spec, err, UNC_ERR_RANGE, "%s=%s does not fit; the limit is %llu",
			      name, text, (unsigned long long)max);
	if (out->value & ~max)
		return refuse(t, spec, err, UNC_ERR_RANGE,
			      "%s=%s is not a multiple of %llu, as the register needs", name, text,
			      1ull << f->shift);
	return 0;
}

static int add_field(const struct unc_table *t, struct unc_spec *spec, const char *name,
		     const char *value, struct unc_error *err)
{
	struct unc_spec_field f = {0};
	unsigned at = spec->n_fields;

	f.field = unc_find_field(t, &t->type[spec->type], name);
	if (f.field == UNC_NONE || !takes_field(t, spec, f.field))
		return fail_field(t, spec, name, err);
	int rc = field_value(t, spec, &f, value, err);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < spec->n_fields; i++)
		if (spec->field[i].field == f.field)
			return refuse(t, spec, err, UNC_ERR_INVALID, "%s is given twice", name);
	if (spec->n_fields == UNC_SPEC_FIELDS)
		return refuse(t, spec, err, UNC_ERR_INVALID, "more than %d fields",
			      UNC_SPEC_FIELDS);
	for (; at > 0 && spec->field[at - 1].field > f.field; at--)
		spec->field[at] = spec->field[at - 1];
	spec->field[at] = f;
	spec->n_fields++;
	return 0;
}

static int place_number(const struct unc_table *t, struct unc_spec *spec, const char *name,
			const char *value, int *out, struct unc_error *err)
{
	uint64_t v;

	if (*out >= 0)
		return refuse(t, spec, err, UNC_ERR_INVALID, "%s is given twice", name);
	if (!unc_is_number(value))
		return refuse(t, spec, err, UNC_ERR_INVALID, "%s=%s is not a number", name, value);
	/* unc_spec_check() refuses what is too large */
	*out = unc_parse_number(value, &v) && v < TOO_LARGE ? (int)v : TOO_LARGE;
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

/* What stands between two colons. */
static int parse_item(const struct unc_table *t, struct unc_spec *spec, char *item,
		      struct unc_error *err)
{
	char *value = strchr(item, '=');
	uint16_t umask, field;

	if (item[0] == '\0' || (value && value[1] == '\0') || value == item)
		return unc_fail(err, UNC_ERR_INVALID, "%s.%s: '%s' is empty or has no value; " WANT,
				unc_type_name(t, spec->type), unc_event_name(t, spec->event), item);
	if (value) {
		*value++ = '\0';
		if (unc_same(item, "socket"))
			return place_number(t, spec, "socket", value, &spec->socket, err);
		if (unc_same(item, "unit"))
			return place_number(t, spec, "unit", value, &spec->index, err);
		return add_field(t, spec, long_name(item), value, err);
	}
	if (unc_umask_find(t, &t->event[spec->event], item, &umask))
		return add_umask(t, spec, item, err);
	field = unc_find_field(t, &t->type[spec->type], long_name(item));
	if (field != UNC_NONE && takes_field(t, spec, field)) {
		if (unc_field_max(&t->field[field]) == 1)
			return add_field(t, spec, long_name(item), "1", err);
		return refuse(t, spec, err, UNC_ERR_INVALID, "field %s needs a value, as in %s=1",
			      item, item);
	}
	return fail_umask(t, spec, item, err);
}

/* An alias of two events and a umask that both have: which is meant? */
static int check_shared(const struct unc_table *t, const struct unc_spec *spec, const char *umask,
			struct unc_error *err)
{
	const struct unc_range *events = &t->type[spec->type].events;
	const struct unc_tbl_event *own = &t->event[spec->event];

	for (uint32_t i = 0; i < events->n; i++) {
		const struct unc_tbl_event *e = &t->event[events->first + i];

		if (e != own && unc_same(unc_tbl_str(t, e->alias), unc_tbl_str(t, own->alias)) &&
		    has_umask(t, e, umask) && has_umask(t, own, umask))
			return unc_fail(err, UNC_ERR_INVALID,
					"%s.%s: both %s and %s have %.*s; name one of them",
					unc_type_name(t, spec->type), unc_tbl_str(t, own->alias),
					unc_tbl_str(t, own->name), unc_tbl_str(t, e->name),
					(int)strcspn(umask, ":"), umask);
	}
	return 0;
}

/* The part before the first colon: type, index, event, and umask after a dot. */
static int parse_head(const struct unc_table *t, const char *text, char *head, const char *after,
		      struct unc_spec *spec, struct unc_error *err)
{
	size_t used;
	char *rest = head, *dot = strchr(head, '.');
	int rc;

	if (head[0] == '\0' || dot == head || (dot && dot[1] == '\0'))
		return unc_fail(err, UNC_ERR_INVALID,
				"%s: the unit type or the event is empty; " WANT, text);
	spec->type = public_type(t, head, &used);
	if (spec->type != UNC_NONE) {
		rest = head + used;
	} else if (unc_find_type(t, head) != UNC_NONE || !dot) {
		if ((rc = type_of_event(t, head, spec, err)) < 0)
			return rc;
	} else {
		*dot = '\0';
		rest = dot + 1;
		rc = parse_type(t, text, head, spec, err);
		if (rc < 0)
			return rc;
	}
	if (!find_event(t, spec->type, rest, after ? after : "", &spec->event, &used)) {
		rest[strcspn(rest, ".")] = '\0';
		return fail_event(t, spec->type, rest, err);
	}
	const char *umask = rest[used] ? rest + used + 1 : after;
	if (umask && same_part(rest, used, unc_tbl_str(t, t->event[spec->event].alias)) &&
	    (rc = check_shared(t, spec, umask, err)) < 0)
		return rc;
	return rest[used] ? add_umask(t, spec, umask, err) : 0;
}

/*
 * Some documents write a umask as two: EQ_128BYTE:SELF is EQ_128BYTE_SELF. True, with *next moved
 * on, if the item and the one behind it are that.
 */
static bool join_items(const struct unc_table *t, const struct unc_spec *spec, const char *item,
		       char **next, char *word, size_t size)
{
	const struct unc_tbl_event *e = &t->event[spec->event];
	uint16_t umask;

	if (!*next || strchr(item, '=') || unc_umask_find(t, e, item, &umask))
		return false;
	size_t length = strcspn(*next, ":");
	int n = snprintf(word, size, "%s_%.*s", item, (int)length, *next);
	if (n < 0 || (size_t)n >= size || !unc_umask_find(t, e, word, &umask))
		return false;
	*next = (*next)[length] ? *next + length + 1 : NULL;
	return true;
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
	struct unc_spec spec = {.index = -1, .socket = -1};
	char copy[UNC_SPEC_MAX], word[UNC_SPEC_MAX], *colon, *next;
	int rc;

	if (text[0] == '\0')
		return unc_fail(err, UNC_ERR_INVALID, "the event is empty; " WANT);
	if (strlen(text) >= sizeof(copy))
		return unc_fail(err, UNC_ERR_INVALID,
				"the event '%.40s...' is longer than %d letters", text,
				UNC_SPEC_MAX - 1);
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			return unc_fail(err, UNC_ERR_INVALID,
					"'%s': a blank or unprintable letter "
					"in an event; " WANT,
					text);
	strcpy(copy, text);
	colon = strchr(copy, ':');
	if (colon && colon[1] == ':' && !memchr(copy, '.', (size_t)(colon - copy)) &&
	    strncmp(copy, "UNC_", 4) != 0) { /* type::EVENT is type.EVENT */
		*colon = '.';
		memmove(colon + 1, colon + 2, strlen(colon + 2) + 1);
		colon = strchr(copy, ':');
	}
	if (colon)
		*colon++ = '\0';
	if ((rc = parse_head(t, text, copy, colon, &spec, err)) < 0)
		return rc;
	for (; colon; colon = next) {
		next = strchr(colon, ':');
		if (next)
			*next++ = '\0';
		if (join_items(t, &spec, colon, &next, word, sizeof(word)))
			colon = word;
		if ((rc = parse_item(t, &spec, colon, err)) < 0)
			return rc;
	}
	if ((rc = unc_spec_check(t, text, &spec, err)) < 0)
		return rc;
	*out = spec;
	return 0;
}
