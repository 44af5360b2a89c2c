/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore_names.c
 * @ingroup papi_components
 * @brief   Names and codes of the events of component intel_uncore.
 *
 * A base event has as code its index in the library, the events behind the metrics; so they are
 * listed. Its qualifiers (umasks, socket, unit, fields) are numbered from 1 in the bits above: such a
 * code comes from an enumeration alone. A text with qualifiers that a program names is an entry of
 * a table, with a code of its own: the listing shows units on base events only, while what a program
 * measures has one always.
 */
#include <stdio.h>
#include <string.h>

#include "intel_uncore.h"

enum { CODE_BASE_BITS = 14, CODE_BASE_MASK = (1 << CODE_BASE_BITS) - 1, CODE_TEXT = 1 << 28 };

/* ------------------------------------------------------------ what can be listed */

static const struct unc_type *find_type(const char *name)
{
	const struct unc_type *type;
	size_t i;

	for (i = 0; (type = intel_uncore.type_get(intel_uncore.platform, i)); i++)
		if (!strcmp(type->name, name))
			break;
	return type;
}

/* Marks what can be counted: metrics that are available, events with a unit in reach. How many there
 * are, or an error. */
int intel_uncore_list(void)
{
	struct unc_platform *platform = intel_uncore.platform;
	const struct unc_cpu *cpu = intel_uncore.platform_cpu(platform);
	const struct unc_type *type = NULL;
	const struct unc_event *event;
	const struct unc_unit *unit;
	unsigned int i, listed = 0;
	struct base *base;

	for (i = 0; (unit = intel_uncore.unit_get(platform, i)) && unit->available; i++)
		;
	intel_uncore.incomplete = unit != NULL;
	intel_uncore.n_metrics = (unsigned int)cpu->n_metrics;
	intel_uncore.n_base = (unsigned int)(cpu->n_metrics + cpu->n_events);
	intel_uncore.bases = papi_calloc(intel_uncore.n_base + 1, sizeof(*base));
	if (!intel_uncore.bases || intel_uncore.n_base > CODE_BASE_MASK)
		return PAPI_ENOMEM;
	base = intel_uncore.bases;
	for (i = 0; i < cpu->n_metrics; i++, base++) {
		base->listed = intel_uncore.metric_get(platform, i)->available != 0;
		listed += base->listed;
	}
	for (i = 0; i < cpu->n_events; i++, base++) {
		event = intel_uncore.event_get(platform, i);
		if (!type || strcmp(type->name, event->type) != 0) /* they come type by type */
			type = find_type(event->type);
		base->listed = type->units > 0;
		listed += base->listed;
	}
	return (int)listed;
}

/* The first from `base` on that is listed; n_base if there is none. */
static unsigned int find_listed(unsigned int base)
{
	while (base < intel_uncore.n_base && !intel_uncore.bases[base].listed)
		base++;
	return base;
}

void intel_uncore_unlist(void)
{
	papi_free(intel_uncore.bases);
	papi_free(intel_uncore.devices);
	intel_uncore.bases = NULL;
	intel_uncore.devices = NULL;
	intel_uncore.n_metrics = intel_uncore.n_base = 0;
}

/* ------------------------------------------------------------ qualifiers */

/* The least index of a unit that can be read and counts the event; *last: the greatest, -1: none can. */
static int find_units(const struct unc_event *event, int *last)
{
	const char *units_of = find_type(event->type)->units_of;
	const struct unc_unit *unit;
	int first = 0;
	size_t i;

	*last = -1;
	for (i = 0; (unit = intel_uncore.unit_get(intel_uncore.platform, i)); i++) {
		if (!unit->available || strcmp(unit->type->name, units_of) != 0)
			continue;
		if (*last < 0 || unit->index < first)
			first = unit->index;
		if (unit->index > *last)
			*last = unit->index;
	}
	return first;
}

static int unit_qualifier(const struct name *name, char *masks, size_t size)
{
	static const char *const all[] = {
		[UNC_AGGREGATE_SUM] = "the sum of all",
		[UNC_AGGREGATE_MAX] = "the largest of all",
		[UNC_AGGREGATE_ONE] = "one of them",
		[UNC_AGGREGATE_SOCKET] = "one of each socket",
	};
	int last, first = find_units(name->event, &last);

	if (last >= 0)
		snprintf(masks, size, "Unit of the socket [%d-%d]; without it %s", first, last,
			 all[name->event->aggregate]);
	else
		snprintf(masks, size, "Unit of the socket: none can be read");
	return first;
}

/* The type whose units alone count it; NULL: there is none. */
static const struct unc_type *type_of(const struct name *name)
{
	struct unc_item item = {.size = sizeof(item)};
	char text[UNC_SPEC_MAX + 16];

	if (name->event)
		return find_type(name->event->type);
	if (strcmp(name->metric->of, "portable") != 0)
		return find_type(name->metric->of);
	snprintf(text, sizeof(text), "%s:unit=0", name->metric->name);
	if (intel_uncore.item_find(intel_uncore.platform, text, &item) || !item.units_of)
		return NULL;
	return find_type(item.units_of);
}

/* The devices of all stacks as a text; the ports of the last one, of the stack that is walked. */
struct devices {
	char *list;
	unsigned int ports;
};

/* Its first name, or its address: "mlx5_0 + mlx5_1, nvme0", with a '+' if it shares the port of the one
 * before. */
static int take_device(void *user, const struct unc_device *device)
{
	struct devices *devices = user;
	const char *name = *device->names ? device->names : device->address;
	const char *between = device->ports & devices->ports ? " + " : ", ";
	size_t used = devices->list ? strlen(devices->list) : 0, length = strcspn(name, ",");
	char *c, *longer;

	longer = device->ports ? papi_realloc(devices->list, used + length + 4) : NULL;
	if (longer) {
		snprintf(longer + used, length + 4, "%s%.*s", used ? between : "", (int)length,
			 name);
		for (c = longer + used; *device->names == '\0' && (c = strpbrk(c, ":.")); c++)
			*c = '_'; /* as in the names of events */
		devices->list = longer;
		devices->ports = device->ports;
	}
	return 0;
}

/* What is below the PCIe stacks, once for all listings; "" if nothing is known. */
static const char *find_devices(void)
{
	struct devices devices = {NULL, 0};
	const struct unc_unit *unit;
	size_t i;

	_papi_hwi_lock((int)intel_uncore.lock);
	for (i = 0;
	     !intel_uncore.devices && (unit = intel_uncore.unit_get(intel_uncore.platform, i)); i++)
		if (unit->type->ports && unit->available) {
			devices.ports = 0;
			intel_uncore.unit_devices(intel_uncore.platform, unit, take_device,
						  &devices);
		}
	if (!intel_uncore.devices)
		intel_uncore.devices = devices.list ? devices.list : papi_strdup("");
	_papi_hwi_unlock((int)intel_uncore.lock);
	return intel_uncore.devices ? intel_uncore.devices : "";
}

enum place { SOCKET, UNIT, NODE, PORT, DEVICE, PLACES };

static unsigned int count_nodes(void)
{
	unsigned int n = 0;

	while (intel_uncore.node_get(intel_uncore.platform, n))
		n++;
	return n;
}

/* Whether a session takes the base event on a node, with one of its umasks if it needs one. What else
 * it may need (a field) is told when it is missing. */
static int takes_node(struct unc_session *session, const struct name *name, int node)
{
	const char *umask = "", *colon = "";
	char spec[UNC_SPEC_MAX + PAPI_MIN_STR_LEN];
	const struct unc_umask *next = NULL;
	int id, error;
	size_t i = 0;

	do {
		snprintf(spec, sizeof(spec), "%s%s%s:node=%d", name->text, colon, umask, node);
		error = intel_uncore.session_add(session, spec, &id);
		next = error && error != UNC_ERR_UNAVAILABLE && name->event
			       ? intel_uncore.umask_get(intel_uncore.platform, name->index, i++)
			       : NULL;
		colon = ":";
		umask = next ? next->name : "";
	} while (next);
	return error != UNC_ERR_UNAVAILABLE;
}

/* How many nodes the base event can be counted on; these, "0, 2", and the first of them. */
static unsigned int find_nodes(const struct name *name, char *list, size_t size, int *first)
{
	const struct unc_node *node;
	struct unc_session *session;
	unsigned int n = 0;
	size_t i, used = 0;

	if (intel_uncore.session_new(intel_uncore.platform, UNC_SESSION_ROTATE, &session))
		return 0;
	for (i = 0; (node = intel_uncore.node_get(intel_uncore.platform, i)); i++) {
		if (!takes_node(session, name, node->number))
			continue;
		if (n++ == 0)
			*first = node->number;
		if (used < size)
			used += (size_t)snprintf(list + used, size - used, "%s%d",
						 n > 1 ? ", " : "", node->number);
	}
	intel_uncore.session_free(session);
	return n;
}

/* Whether the base event can be counted at such a place of this machine. Without sub-NUMA clusters
 * nodes are sockets. */
static int has_place(const struct name *name, enum place place)
{
	const struct unc_type *type;
	int sockets = intel_uncore.platform_sockets(intel_uncore.platform), node;
	char list[PAPI_MIN_STR_LEN];

	switch (place) {
	case UNIT:
		return name->event != NULL;
	case NODE:
		return count_nodes() > (unsigned int)sockets &&
		       find_nodes(name, list, sizeof(list), &node) > 0;
	case PORT:
	case DEVICE:
		type = type_of(name);
		return type && type->ports && (place == PORT || *find_devices());
	default:
		return 1;
	}
}

/* The place as a qualifier, with the first that there is as an example. */
static void put_place(struct name *name, enum place place, char *item, size_t size)
{
	const struct unc_type *type = place == PORT ? type_of(name) : NULL;
	char nodes[PAPI_MIN_STR_LEN];
	const char *devices;
	int node = 0;

	switch (place) {
	case SOCKET:
		snprintf(item, size, ":socket=0");
		snprintf(name->masks, sizeof(name->masks), "Socket [0-%d]; without it all",
			 intel_uncore.platform_sockets(intel_uncore.platform) - 1);
		break;
	case UNIT:
		snprintf(item, size, ":unit=%d",
			 unit_qualifier(name, name->masks, sizeof(name->masks)));
		break;
	case NODE:
		if (find_nodes(name, nodes, sizeof(nodes), &node) < count_nodes())
			snprintf(name->masks, sizeof(name->masks), "NUMA node (%s); without it all",
				 nodes);
		else
			snprintf(name->masks, sizeof(name->masks),
				 "NUMA node, of %u; without it all", count_nodes());
		snprintf(item, size, ":node=%d", node);
		break;
	case PORT:
		snprintf(item, size, ":port=0");
		snprintf(name->masks, sizeof(name->masks),
			 "Port of the PCIe stacks [0-%d]; without it all",
			 type ? type->ports - 1 : 0);
		break;
	default:
		devices = find_devices();
		snprintf(item, size, ":device=%.*s", (int)strcspn(devices, " ,"), devices);
		snprintf(name->masks, sizeof(name->masks),
			 "PCIe device, by name or address; without it all. With + they share a "
			 "port and its number. There are %s",
			 devices);
	}
}

/* Adds qualifier 1, 2, ... of the base event: umasks, places, fields. PAPI_ENOEVNT past the last. */
static int add_qualifier(struct name *name, unsigned int number)
{
	struct unc_platform *platform = intel_uncore.platform;
	unsigned int n_umasks = name->event ? (unsigned int)name->event->n_umasks : 0;
	size_t used = strlen(name->text), room = sizeof(name->text) - used;
	char *end = name->text + used;
	const struct unc_umask *umask;
	const struct unc_field *field;
	int length, place = -1;

	if (number <= n_umasks) {
		umask = intel_uncore.umask_get(platform, name->index, number - 1);
		if (!umask)
			return PAPI_ENOEVNT;
		length = snprintf(end, room, ":%s", umask->name);
		snprintf(name->masks, sizeof(name->masks), "%s%s%s%s", umask->desc,
			 umask->standalone ? "" : " (only with another umask)",
			 umask->reason[0] ? " - not available: " : "", umask->reason);
		return length < 0 || (size_t)length >= room ? PAPI_EBUF : PAPI_OK;
	}
	number -= n_umasks;
	while (number && ++place < PLACES)
		number -= (unsigned int)has_place(name, (enum place)place);
	if (!number) {
		put_place(name, (enum place)place, end, room);
		return strlen(end) + 1 < room ? PAPI_OK : PAPI_EBUF;
	}
	field = name->event ? intel_uncore.field_get(platform, name->index, number - 1) : NULL;
	if (!field)
		return PAPI_ENOEVNT;
	length = snprintf(end, room, ":%s=%llu", field->name, (unsigned long long)field->min);
	snprintf(name->masks, sizeof(name->masks),
		 field->max < 1024 ? "%s%.160s [%llu-%llu]" : "%s%.160s [%#llx-%#llx]",
		 field->needed ? "Mandatory: " : "", field->desc, (unsigned long long)field->min,
		 (unsigned long long)field->max);
	return length < 0 || (size_t)length >= room ? PAPI_EBUF : PAPI_OK;
}

static void set_base(struct name *name, unsigned int base)
{
	unsigned int n_metrics = intel_uncore.n_metrics;
	const char *text;

	memset(name, 0, sizeof(*name));
	name->base = base;
	name->index = base < n_metrics ? base : base - n_metrics;
	if (base < n_metrics) {
		name->metric = intel_uncore.metric_get(intel_uncore.platform, name->index);
		text = name->metric->name;
	} else {
		name->event = intel_uncore.event_get(intel_uncore.platform, name->index);
		text = name->event->spec;
	}
	snprintf(name->text, sizeof(name->text), "%s", text);
}

/* ------------------------------------------------------------ codes */

static int is_qualifier(unsigned int code)
{
	return !(code & CODE_TEXT) && code >> CODE_BASE_BITS;
}

int intel_uncore_name(unsigned int code, struct name *name)
{
	unsigned int base = code & CODE_BASE_MASK;
	int papi_errno = PAPI_ENOEVNT;
	const char *text;

	if (!(code & CODE_TEXT)) {
		if (base >= intel_uncore.n_base)
			return PAPI_ENOEVNT;
		set_base(name, base);
		return code == base ? PAPI_OK : add_qualifier(name, code >> CODE_BASE_BITS);
	}
	_papi_hwi_lock((int)intel_uncore.lock);
	text = intel_uncore_text_get(code & ~(unsigned int)CODE_TEXT, &base);
	if (text) {
		set_base(name, base);
		snprintf(name->text, sizeof(name->text), "%s", text);
		papi_errno = PAPI_OK;
	}
	_papi_hwi_unlock((int)intel_uncore.lock);
	return papi_errno;
}

int intel_uncore_asked(unsigned int code)
{
	return code & CODE_TEXT || (!is_qualifier(code) && intel_uncore.bases[code].asked);
}

int intel_uncore_enum(unsigned int *code, int modifier)
{
	unsigned int next, base;
	struct name name;
	int papi_errno;

	if (modifier != PAPI_ENUM_FIRST && (*code & CODE_TEXT))
		return PAPI_ENOEVNT;
	switch (modifier) {
	case PAPI_ENUM_FIRST:
		next = find_listed(0);
		break;
	case PAPI_ENUM_EVENTS:
		base = *code & CODE_BASE_MASK;
		if (base >= intel_uncore.n_base)
			return PAPI_ENOEVNT;
		next = find_listed(base + 1);
		break;
	case PAPI_NTV_ENUM_UMASKS:
		next = *code + (1u << CODE_BASE_BITS);
		break;
	default:
		return PAPI_EINVAL;
	}
	papi_errno = intel_uncore_name(next, &name);
	if (papi_errno != PAPI_OK)
		return papi_errno;
	/* So that PAPI finds the code again instead of making a new one in every listing. */
	_papi_hwi_set_papi_event_string(name.text);
	*code = next;
	return PAPI_OK;
}

/* Whether the text is that of a base event: that has a code even if it cannot be counted without a
 * qualifier. */
static int is_base(const struct unc_item *item)
{
	return strcmp(item->name, item->metric ? item->metric->name : item->event->spec) == 0;
}

/* What a text names. Others than base events must encode; whether they can be measured is asked when
 * they are added. */
static int parse(const char *text, struct unc_item *item)
{
	struct unc_encoding encoding = {.size = sizeof(encoding)};
	struct unc_platform *platform = intel_uncore.platform;
	int error = intel_uncore.item_find(platform, text, item);

	if (!error && item->event && !is_base(item))
		error = intel_uncore.event_encode(platform, item->name, &encoding);
	return error ? intel_uncore_fail(error, intel_uncore.platform_error(platform)) : PAPI_OK;
}

int intel_uncore_find(const char *text, unsigned int *code)
{
	struct unc_item item = {.size = sizeof(item)};
	unsigned int base, number;
	int papi_errno;

	_papi_hwi_lock((int)intel_uncore.lock);
	papi_errno = parse(text, &item);
	if (papi_errno == PAPI_OK) {
		base = (unsigned int)item.index + (item.event ? intel_uncore.n_metrics : 0);
		if (is_base(&item)) {
			intel_uncore.bases[base].asked = 1;
			*code = base;
		} else {
			papi_errno = intel_uncore_text_number(item.name, base, &number);
			if (papi_errno == PAPI_OK)
				*code = CODE_TEXT | number;
		}
	}
	_papi_hwi_unlock((int)intel_uncore.lock);
	/* After PAPI_ECMP, PAPI would search the list of base events itself. */
	return papi_errno == PAPI_ECMP ? PAPI_ENOEVNT : papi_errno;
}

/* Which units a sum of that name is without, and why; "" if it is whole. */
static void tell_partial(const struct name *name, char *text, size_t size)
{
	struct unc_platform *platform = intel_uncore.platform;
	char spec[UNC_SPEC_MAX + PAPI_MIN_STR_LEN];
	struct unc_session *session;
	const struct unc_umask *umask;
	int id, error;
	size_t i;

	*text = '\0';
	if (!intel_uncore.incomplete || /* the usual case costs nothing */
	    intel_uncore.session_new(platform, UNC_SESSION_ROTATE, &session))
		return;
	error = intel_uncore.session_add(session, name->text, &id);
	/* An event that needs a umask is counted by the same units with any. */
	for (i = 0; error && name->event && name->event->needs_umask &&
		    (umask = intel_uncore.umask_get(platform, name->index, i));
	     i++) {
		snprintf(spec, sizeof(spec), "%s:%s", name->text, umask->name);
		error = intel_uncore.session_add(session, spec, &id);
	}
	if (!error)
		snprintf(text, size, "%s", intel_uncore.session_partial(session, id));
	intel_uncore.session_free(session);
}

/* What is to be known of it before it is used, in parentheses. */
static void describe_limits(const struct name *name, char *text, size_t size)
{
	char partial[PAPI_2MAX_STR_LEN];
	int used = 0;

	*text = '\0';
	tell_partial(name, partial, sizeof(partial));
	if (name->event && name->event->needs_umask)
		used = snprintf(text, size, " (needs a umask)");
	else if (name->metric && name->metric->passes > 1)
		used = snprintf(text, size, " (needs %d passes: measured in turn)",
				name->metric->passes);
	if (*partial)
		snprintf(text + used, size - (size_t)used, " (partial sum, without %.255s)",
			 partial);
}

int intel_uncore_describe(unsigned int code, PAPI_event_info_t *info)
{
	char limits[PAPI_HUGE_STR_LEN];
	const char *simulated, *desc;
	struct name name;
	int papi_errno = intel_uncore_name(code, &name);

	if (papi_errno != PAPI_OK)
		return papi_errno;
	desc = name.event ? name.event->desc : name.metric->desc;
	simulated = "";
	if (intel_uncore.platform_simulated(intel_uncore.platform))
		simulated = INTEL_UNCORE_SIMULATED;
	snprintf(info->symbol, sizeof(info->symbol), "%s", name.text);
	snprintf(info->short_descr, sizeof(info->short_descr), "%s", desc);
	describe_limits(&name, limits, sizeof(limits));
	snprintf(info->long_descr, sizeof(info->long_descr), "%s%s%.420s%.320s%s%s", simulated,
		 *simulated ? ": " : "", desc, limits, *name.masks ? " masks:" : "", name.masks);
	if (!is_qualifier(code)) /* the listing has told it of the base event */
		snprintf(info->units, sizeof(info->units), "%.32s%s%s",
			 name.event ? "count" : name.metric->unit, *simulated ? " " : "",
			 simulated);
	info->data_type = PAPI_DATATYPE_UINT64;
	/* A difference of what was measured in turn may come out below 0. */
	if (name.metric && name.metric->passes > 1)
		info->data_type = PAPI_DATATYPE_INT64;
	info->value_type = PAPI_VALUETYPE_RUNNING_SUM;
	info->timescope = PAPI_TIMESCOPE_SINCE_START;
	info->update_type = PAPI_UPDATETYPE_PULL;
	if (name.metric && name.metric->kind == UNC_METRIC_GAUGE) {
		info->data_type = PAPI_DATATYPE_FP64;
		info->value_type = PAPI_VALUETYPE_ABSOLUTE;
	}
	return PAPI_OK;
}
