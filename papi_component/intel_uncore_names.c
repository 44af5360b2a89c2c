/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore_names.c
 * @ingroup papi_components
 * @brief   Names and codes of the events of component intel_uncore.
 *
 * A base event has as code its index in the library, the metrics behind the events. Its qualifiers
 * (umasks, socket, unit, fields) are numbered from 1 in the bits above. A text that is none of
 * these is an entry of a table; PAPI keeps codes, so the table only grows.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "intel_uncore.h"

enum { CODE_BASE_BITS = 14, CODE_BASE_MASK = (1 << CODE_BASE_BITS) - 1, CODE_TEXT = 1 << 28 };

struct text {
	char *text;
	unsigned int base;
};

static const char *base_text(unsigned int base)
{
	return base < intel_uncore.n_events
		       ? intel_uncore.event_get(intel_uncore.platform, base)->spec
		       : intel_uncore
				 .metric_get(intel_uncore.platform, base - intel_uncore.n_events)
				 ->name;
}

/* The base event of which a text is the name, without anything behind it. */
static int find_base(const char *text, unsigned int *base)
{
	size_t index;

	if (!intel_uncore.event_find(intel_uncore.platform, text, &index))
		*base = (unsigned int)index;
	else if (!intel_uncore.metric_find(intel_uncore.platform, text, &index, NULL))
		*base = intel_uncore.n_events + (unsigned int)index;
	else
		return PAPI_ENOEVNT;
	return PAPI_OK;
}

/* The unit type of an event. That of a view has no units of its own: type->units_of has them. */
static const struct unc_type *type_of(const struct unc_event *event)
{
	size_t index;

	return intel_uncore.type_find(intel_uncore.platform, event->type, &index)
		       ? NULL
		       : intel_uncore.type_get(intel_uncore.platform, index);
}

static int can_count(const struct unc_event *event)
{
	const struct unc_type *type = type_of(event);

	return type && type->units > 0;
}

/* Marks what can be counted: events with a unit in reach, metrics of one pass. How many there are,
 * or an error. */
int intel_uncore_list(void)
{
	struct unc_platform *platform = intel_uncore.platform;
	const struct unc_metric *metric;
	const struct unc_event *event;
	const struct unc_unit *unit;
	unsigned int i, m, listed = 0;

	for (i = 0; (unit = intel_uncore.unit_get(platform, i)) && unit->available; i++)
		;
	intel_uncore.incomplete = unit != NULL;
	for (i = 0; intel_uncore.event_get(platform, i); i++)
		;
	for (m = 0; intel_uncore.metric_get(platform, m); m++)
		;
	intel_uncore.n_events = i;
	intel_uncore.n_base = i + m;
	intel_uncore.listed = papi_calloc(intel_uncore.n_base + 1, 1);
	if (!intel_uncore.listed || intel_uncore.n_base > CODE_BASE_MASK)
		return PAPI_ENOMEM;
	for (i = 0; (event = intel_uncore.event_get(platform, i)); i++)
		listed += intel_uncore.listed[i] = (unsigned char)can_count(event);
	for (m = 0; (metric = intel_uncore.metric_get(platform, m)); m++)
		listed += intel_uncore.listed[i + m] = metric->available && metric->passes == 1;
	return (int)listed;
}

void intel_uncore_unlist(void)
{
	papi_free(intel_uncore.listed);
	intel_uncore.listed = NULL;
	intel_uncore.n_events = intel_uncore.n_base = 0;
}

void intel_uncore_forget(void)
{
	while (intel_uncore.n_texts)
		papi_free(intel_uncore.texts[--intel_uncore.n_texts].text);
	papi_free(intel_uncore.texts);
	papi_free(intel_uncore.told);
	intel_uncore.texts = NULL;
	intel_uncore.told = NULL;
	intel_uncore.n_told = 0;
}

static int unit_qualifier(const struct unc_event *event, char *masks, size_t size)
{
	static const char *const all[] = {
		[UNC_AGGREGATE_SUM] = "the sum of all",
		[UNC_AGGREGATE_MAX] = "the largest of all",
		[UNC_AGGREGATE_ONE] = "one of them",
		[UNC_AGGREGATE_SOCKET] = "one of each socket",
	};
	const struct unc_type *type = type_of(event);
	const struct unc_unit *unit;
	int first = -1, last = -1;
	size_t i;

	for (i = 0; (unit = intel_uncore.unit_get(intel_uncore.platform, i)); i++) {
		if (!unit->available || !type || strcmp(unit->type->name, type->units_of))
			continue;
		if (first < 0 || unit->index < first)
			first = unit->index;
		if (unit->index > last)
			last = unit->index;
	}
	snprintf(masks, size, "Unit of the socket [%d-%d]; without it %s", first, last,
		 all[event->aggregate]);
	return first < 0 ? 0 : first;
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
		umask = intel_uncore.umask_get(platform, name->base, number - 1);
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
				  unit_qualifier(name->event, name->masks, sizeof(name->masks)));
	} else if (name->event &&
		   (field = intel_uncore.field_get(platform, name->base, number - n_umasks - 3))) {
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
	unsigned int n_events = intel_uncore.n_events;

	memset(name, 0, sizeof(*name));
	name->base = base;
	if (base < n_events)
		name->event = intel_uncore.event_get(intel_uncore.platform, base);
	else
		name->metric = intel_uncore.metric_get(intel_uncore.platform, base - n_events);
	snprintf(name->text, sizeof(name->text), "%s", base_text(base));
}

int intel_uncore_name(unsigned int code, struct name *name)
{
	unsigned int base = code & CODE_BASE_MASK, index = code & ~(unsigned int)CODE_TEXT;
	int papi_errno = PAPI_ENOEVNT;

	if (!(code & CODE_TEXT)) {
		if (base >= intel_uncore.n_base)
			return PAPI_ENOEVNT;
		set_base(name, base);
		return code == base ? PAPI_OK : add_qualifier(name, code >> CODE_BASE_BITS);
	}
	_papi_hwi_lock((int)intel_uncore.lock);
	if (index < intel_uncore.n_texts) {
		set_base(name, intel_uncore.texts[index].base);
		snprintf(name->text, sizeof(name->text), "%s", intel_uncore.texts[index].text);
		papi_errno = PAPI_OK;
	}
	_papi_hwi_unlock((int)intel_uncore.lock);
	return papi_errno;
}

int intel_uncore_ntv_enum_events(unsigned int *code, int modifier)
{
	int papi_errno = intel_uncore_check_n_initialize();
	unsigned int next = 0;
	struct name name;

	if (papi_errno != PAPI_OK)
		return papi_errno;
	if (modifier != PAPI_ENUM_FIRST && (*code & CODE_TEXT))
		return PAPI_ENOEVNT;
	switch (modifier) {
	case PAPI_ENUM_EVENTS:
		next = (*code & CODE_BASE_MASK) + 1;
		/* fall through */
	case PAPI_ENUM_FIRST:
		while (next < intel_uncore.n_base && !intel_uncore.listed[next])
			next++;
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
		*base = intel_uncore.n_events + (unsigned int)index;
		return PAPI_OK;
	}
	if (!error)
		error = intel_uncore.event_encode(platform, canonical, &encoding);
	if (error)
		return intel_uncore_fail(error, intel_uncore.platform_error(platform));
	*base = (unsigned int)encoding.event;
	return PAPI_OK;
}

static int code_of(unsigned int base, const char *text, const char *canonical, unsigned int *code)
{
	struct name name;
	struct text *texts;
	unsigned int i;

	for (i = 1; set_base(&name, base), add_qualifier(&name, i) == PAPI_OK; i++) {
		if (!strcasecmp(name.text, text) || !strcasecmp(name.text, canonical)) {
			*code = base | i << CODE_BASE_BITS;
			return PAPI_OK;
		}
	}
	for (i = 0; i < intel_uncore.n_texts && strcmp(intel_uncore.texts[i].text, canonical); i++)
		;
	if (i == intel_uncore.n_texts) {
		texts = papi_realloc(intel_uncore.texts, (i + 1) * sizeof(*texts));
		if (!texts)
			return PAPI_ENOMEM;
		intel_uncore.texts = texts;
		texts[i].base = base;
		texts[i].text = papi_strdup(canonical);
		if (!texts[i].text)
			return PAPI_ENOMEM;
		intel_uncore.n_texts++;
	}
	*code = CODE_TEXT | i;
	return PAPI_OK;
}

int intel_uncore_ntv_name_to_code(const char *text, unsigned int *code)
{
	int papi_errno = intel_uncore_check_n_initialize();
	char canonical[UNC_SPEC_MAX];
	unsigned int base = 0;

	if (papi_errno != PAPI_OK)
		return papi_errno;
	/* A base event has a code even if it cannot be counted without a qualifier. */
	if (find_base(text, code) == PAPI_OK)
		return PAPI_OK;
	_papi_hwi_lock((int)intel_uncore.lock);
	papi_errno = parse(text, &base, canonical, sizeof(canonical));
	if (papi_errno == PAPI_OK)
		papi_errno = code_of(base, text, canonical, code);
	_papi_hwi_unlock((int)intel_uncore.lock);
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

int intel_uncore_ntv_code_to_info(unsigned int code, PAPI_event_info_t *info)
{
	int papi_errno = intel_uncore_check_n_initialize();
	char partial[PAPI_2MAX_STR_LEN];
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
	intel_uncore_partial(&name, partial, sizeof(partial));
	snprintf(info->long_descr, sizeof(info->long_descr), "%s%s%.440s%s%s%s%s%s%s", simulated,
		 *simulated ? ": " : "", desc,
		 name.event && name.event->needs_umask ? " (needs a umask)" : "",
		 *partial ? " (partial sum, without " : "", partial, *partial ? ")" : "",
		 *name.masks ? " masks:" : "", name.masks);
	snprintf(info->units, sizeof(info->units), "%.32s%s%s",
		 name.event ? "count" : name.metric->unit, *simulated ? " " : "", simulated);
	info->data_type = PAPI_DATATYPE_UINT64;
	info->value_type = PAPI_VALUETYPE_RUNNING_SUM;
	info->timescope = PAPI_TIMESCOPE_SINCE_START;
	info->update_type = PAPI_UPDATETYPE_PULL;
	if (name.metric && name.metric->kind == UNC_METRIC_GAUGE) {
		info->data_type = PAPI_DATATYPE_FP64;
		info->value_type = PAPI_VALUETYPE_ABSOLUTE;
	}
	return PAPI_OK;
}
