/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore_names.c
 * @ingroup papi_components
 * @brief   Names and codes of the events of component intel_uncore.
 *
 * A base event has as code its index in the library, the events behind the metrics. Listed are the
 * portable metrics first, then the CPU's own, then the events. Its qualifiers (umasks, socket, unit, fields) are numbered from 1 in the bits above: such
 * a code comes from an enumeration alone. A text with qualifiers that a program names is an entry of
 * a table, with a code of its own: the listing shows units on base events only, while what a program
 * measures has one always.
 */
#include <stdio.h>
#include <string.h>

#include "intel_uncore.h"

enum { CODE_BASE_BITS = 14, CODE_BASE_MASK = (1 << CODE_BASE_BITS) - 1, CODE_TEXT = 1 << 28 };

/* In the order of the listing. */
enum { PORTABLE_METRICS, OTHER_METRICS, EVENTS, N_GROUPS };

/* Of a unit type: its units that can be read. That of a view has none of its own: it has those of
 * the type that it is a view of. */
struct type {
	const char *name;
	int units, first, last;
};

static const char *base_text(unsigned int base)
{
	unsigned int n_metrics = intel_uncore.n_metrics;

	return base < n_metrics
		       ? intel_uncore.metric_get(intel_uncore.platform, base)->name
		       : intel_uncore.event_get(intel_uncore.platform, base - n_metrics)->spec;
}

/* The base event of which a text is the name, without anything behind it. */
static int find_base(const char *text, unsigned int *base)
{
	size_t index;

	if (!intel_uncore.event_find(intel_uncore.platform, text, &index))
		*base = intel_uncore.n_metrics + (unsigned int)index;
	else if (!intel_uncore.metric_find(intel_uncore.platform, text, &index, NULL))
		*base = (unsigned int)index;
	else
		return PAPI_ENOEVNT;
	return PAPI_OK;
}

/* ------------------------------------------------------------ what can be listed */

static void count_units(struct type *type, const char *units_of)
{
	const struct unc_unit *unit;
	unsigned int i;

	for (i = 0; (unit = intel_uncore.unit_get(intel_uncore.platform, i)); i++) {
		if (!unit->available || strcmp(unit->type->name, units_of) != 0)
			continue;
		if (!type->units++ || unit->index < type->first)
			type->first = unit->index;
		if (unit->index > type->last)
			type->last = unit->index;
	}
}

static int list_types(void)
{
	struct unc_platform *platform = intel_uncore.platform;
	const struct unc_type *type;
	unsigned int n;

	for (n = 0; intel_uncore.type_get(platform, n); n++)
		;
	intel_uncore.types = papi_calloc(n + 1, sizeof(*intel_uncore.types));
	for (n = 0; intel_uncore.types && (type = intel_uncore.type_get(platform, n)); n++) {
		intel_uncore.types[n].name = type->name;
		count_units(&intel_uncore.types[n], type->units_of);
	}
	return intel_uncore.types ? PAPI_OK : PAPI_ENOMEM;
}

static void list_metrics(void)
{
	const struct unc_metric *metric;
	unsigned int i;

	for (i = 0; (metric = intel_uncore.metric_get(intel_uncore.platform, i)); i++) {
		intel_uncore.bases[i].group =
			strcmp(metric->of, "portable") ? OTHER_METRICS : PORTABLE_METRICS;
		intel_uncore.bases[i].listed = metric->available != 0;
	}
}

/* Events of a type come one after the other. */
static void list_events(void)
{
	struct unc_platform *platform = intel_uncore.platform;
	const struct unc_event *event;
	struct base *base = intel_uncore.bases + intel_uncore.n_metrics;
	const struct type *type = intel_uncore.types;
	size_t i;

	for (i = 0; (event = intel_uncore.event_get(platform, i)); i++, base++) {
		if (strcmp(type->name, event->type) != 0)
			for (type = intel_uncore.types; strcmp(type->name, event->type);)
				type++;
		base->type = type;
		base->group = EVENTS;
		base->listed = base->type->units > 0;
	}
}

/* Marks what can be counted: events with a unit in reach, metrics that are available. How many there
 * are, or an error. */
int intel_uncore_list(void)
{
	struct unc_platform *platform = intel_uncore.platform;
	unsigned int i, m, listed = 0;
	const struct unc_unit *unit;

	for (i = 0; (unit = intel_uncore.unit_get(platform, i)) && unit->available; i++)
		;
	intel_uncore.incomplete = unit != NULL;
	for (m = 0; intel_uncore.metric_get(platform, m); m++)
		;
	for (i = 0; intel_uncore.event_get(platform, i); i++)
		;
	intel_uncore.n_metrics = m;
	intel_uncore.n_base = m + i;
	intel_uncore.bases = papi_calloc(m + i + 1, sizeof(*intel_uncore.bases));
	if (!intel_uncore.bases || m + i > CODE_BASE_MASK || list_types() != PAPI_OK)
		return PAPI_ENOMEM;
	list_metrics();
	list_events();
	for (i = 0; i < intel_uncore.n_base; i++)
		listed += intel_uncore.bases[i].listed;
	return (int)listed;
}

/* The first base event of the listing that is of this group or a later one, and of this group has
 * that number at least; n_base if there is none. */
static unsigned int find_listed(int group, unsigned int base)
{
	for (; group < N_GROUPS; group++, base = 0)
		for (; base < intel_uncore.n_base; base++)
			if (intel_uncore.bases[base].listed &&
			    intel_uncore.bases[base].group == group)
				return base;
	return intel_uncore.n_base;
}

void intel_uncore_unlist(void)
{
	papi_free(intel_uncore.bases);
	papi_free(intel_uncore.types);
	intel_uncore.bases = NULL;
	intel_uncore.types = NULL;
	intel_uncore.n_metrics = intel_uncore.n_base = 0;
}

/* ------------------------------------------------------------ qualifiers */

static int unit_qualifier(const struct name *name, char *masks, size_t size)
{
	static const char *const all[] = {
		[UNC_AGGREGATE_SUM] = "the sum of all",
		[UNC_AGGREGATE_MAX] = "the largest of all",
		[UNC_AGGREGATE_ONE] = "one of them",
		[UNC_AGGREGATE_SOCKET] = "one of each socket",
	};
	const struct type *type = intel_uncore.bases[name->base].type;

	if (type->units)
		snprintf(masks, size, "Unit of the socket [%d-%d]; without it %s", type->first,
			 type->last, all[name->event->aggregate]);
	else
		snprintf(masks, size, "Unit of the socket: none can be read");
	return type->first;
}

/* Adds qualifier 1, 2, ... of the base event; PAPI_ENOEVNT past the last. */
static int add_qualifier(struct name *name, unsigned int number)
{
	struct unc_platform *platform = intel_uncore.platform;
	unsigned int n_umasks = name->event ? (unsigned int)name->event->n_umasks : 0;
	size_t used = strlen(name->text), room = sizeof(name->text) - used;
	char *end = name->text + used;
	const struct unc_umask *umask;
	const struct unc_field *field;
	int length;

	if (number <= n_umasks) {
		umask = intel_uncore.umask_get(platform, name->index, number - 1);
		if (!umask)
			return PAPI_ENOEVNT;
		length = snprintf(end, room, ":%s", umask->name);
		snprintf(name->masks, sizeof(name->masks), "%s%s%s%s", umask->desc,
			 umask->standalone ? "" : " (only with another umask)",
			 umask->reason[0] ? " - not available: " : "", umask->reason);
	} else if (number == n_umasks + 1) {
		length = snprintf(end, room, ":socket=0");
		snprintf(name->masks, sizeof(name->masks), "Socket [0-%d]; without it all",
			 intel_uncore.platform_sockets(platform) - 1);
	} else if (name->event && number == n_umasks + 2) {
		length = snprintf(end, room, ":unit=%d",
				  unit_qualifier(name, name->masks, sizeof(name->masks)));
	} else if (name->event &&
		   (field = intel_uncore.field_get(platform, name->index, number - n_umasks - 3))) {
		length = snprintf(end, room, ":%s=%llu", field->name,
				  (unsigned long long)field->min);
		snprintf(name->masks, sizeof(name->masks),
			 field->max < 1024 ? "%s%.160s [%llu-%llu]" : "%s%.160s [%#llx-%#llx]",
			 field->needed ? "Mandatory: " : "", field->desc,
			 (unsigned long long)field->min, (unsigned long long)field->max);
	} else {
		return PAPI_ENOEVNT;
	}
	return length < 0 || (size_t)length >= room ? PAPI_EBUF : PAPI_OK;
}

static void set_base(struct name *name, unsigned int base)
{
	unsigned int n_metrics = intel_uncore.n_metrics;

	memset(name, 0, sizeof(*name));
	name->base = base;
	name->index = base < n_metrics ? base : base - n_metrics;
	if (base < n_metrics)
		name->metric = intel_uncore.metric_get(intel_uncore.platform, name->index);
	else
		name->event = intel_uncore.event_get(intel_uncore.platform, name->index);
	snprintf(name->text, sizeof(name->text), "%s", base_text(base));
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

int intel_uncore_ntv_enum_events(unsigned int *code, int modifier)
{
	int papi_errno = intel_uncore_check_n_initialize();
	unsigned int next, base;
	struct name name;

	if (papi_errno != PAPI_OK)
		return papi_errno;
	if (modifier != PAPI_ENUM_FIRST && (*code & CODE_TEXT))
		return PAPI_ENOEVNT;
	switch (modifier) {
	case PAPI_ENUM_FIRST:
		next = find_listed(PORTABLE_METRICS, 0);
		break;
	case PAPI_ENUM_EVENTS:
		base = *code & CODE_BASE_MASK;
		if (base >= intel_uncore.n_base)
			return PAPI_ENOEVNT;
		next = find_listed(intel_uncore.bases[base].group, base + 1);
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

/* The base event of a text, and its canonical form. Whether it can be measured is asked when it is
 * added. */
static int parse(const char *text, unsigned int *base, char *canonical, size_t size)
{
	struct unc_encoding encoding = {.size = sizeof(encoding)};
	struct unc_target place = {.size = sizeof(place)};
	struct unc_platform *platform = intel_uncore.platform;
	size_t index;
	int error = intel_uncore.name_at(platform, text, NULL, canonical, size);

	if (!error && !intel_uncore.metric_find(platform, canonical, &index, &place)) {
		*base = (unsigned int)index;
		return PAPI_OK;
	}
	if (!error)
		error = intel_uncore.event_encode(platform, canonical, &encoding);
	if (error)
		return intel_uncore_fail(error, intel_uncore.platform_error(platform));
	*base = intel_uncore.n_metrics + (unsigned int)encoding.event;
	return PAPI_OK;
}

int intel_uncore_ntv_name_to_code(const char *text, unsigned int *code)
{
	int papi_errno = intel_uncore_check_n_initialize();
	char canonical[UNC_SPEC_MAX];
	unsigned int base = 0, number = 0;

	if (papi_errno != PAPI_OK)
		return papi_errno;
	/* A base event has a code even if it cannot be counted without a qualifier. */
	if (find_base(text, code) == PAPI_OK) {
		intel_uncore.bases[*code].asked = 1;
		return PAPI_OK;
	}
	_papi_hwi_lock((int)intel_uncore.lock);
	papi_errno = parse(text, &base, canonical, sizeof(canonical));
	if (papi_errno == PAPI_OK)
		papi_errno = intel_uncore_text_number(canonical, base, &number);
	_papi_hwi_unlock((int)intel_uncore.lock);
	if (papi_errno == PAPI_OK)
		*code = CODE_TEXT | number;
	/* After PAPI_ECMP, PAPI would search the list of base events itself. */
	return papi_errno == PAPI_ECMP ? PAPI_ENOEVNT : papi_errno;
}

int intel_uncore_ntv_code_to_name(unsigned int code, char *text, int size)
{
	int papi_errno = intel_uncore_check_n_initialize();
	struct name name;

	if (papi_errno == PAPI_OK)
		papi_errno = intel_uncore_name(code, &name);
	if (papi_errno != PAPI_OK)
		return papi_errno;
	return snprintf(text, (size_t)size, "%s", name.text) < size ? PAPI_OK : PAPI_EBUF;
}

/* What is to be known of it before it is used, in parentheses. */
static void describe_limits(const struct name *name, char *text, size_t size)
{
	char partial[PAPI_2MAX_STR_LEN];
	int used = 0;

	*text = '\0';
	intel_uncore_partial(name, partial, sizeof(partial));
	if (name->event && name->event->needs_umask)
		used = snprintf(text, size, " (needs a umask)");
	else if (name->metric && name->metric->passes > 1)
		used = snprintf(text, size, " (needs %d passes: measured in turn)",
				name->metric->passes);
	if (*partial)
		snprintf(text + used, size - (size_t)used, " (partial sum, without %.255s)",
			 partial);
}

int intel_uncore_ntv_code_to_info(unsigned int code, PAPI_event_info_t *info)
{
	int papi_errno = intel_uncore_check_n_initialize();
	char limits[PAPI_HUGE_STR_LEN];
	const char *simulated, *desc;
	struct name name;

	if (papi_errno == PAPI_OK)
		papi_errno = intel_uncore_name(code, &name);
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
