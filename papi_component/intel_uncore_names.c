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
#include <search.h>
#include <stdio.h>
#include <string.h>

#include "intel_uncore.h"

enum { CODE_BASE_BITS = 14, CODE_BASE_MASK = (1 << CODE_BASE_BITS) - 1, CODE_TEXT = 1 << 28 };

struct intel_uncore intel_uncore;

int intel_uncore_code(int error)
{
	static const struct {
		int error, code;
	} codes[] = {
		{UNC_ERR_INVALID, PAPI_EINVAL},   {UNC_ERR_NOT_FOUND, PAPI_ENOEVNT},
		{UNC_ERR_RANGE, PAPI_EINVAL},     {UNC_ERR_CONFLICT, PAPI_ECNFLCT},
		{UNC_ERR_BUSY, PAPI_ECNFLCT},     {UNC_ERR_PERMISSION, PAPI_EPERM},
		{UNC_ERR_UNAVAILABLE, PAPI_ECMP}, {UNC_ERR_MEMORY, PAPI_ENOMEM},
		{UNC_ERR_PASSES, PAPI_EMULPASS},  {UNC_ERR_STATE, PAPI_ENOINIT},
	};
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].error == error)
			return codes[i].code;
	return PAPI_ESYS;
}

int intel_uncore_fail(int error, const char *sentence)
{
	SUBDBG("%s\n", sentence);
	PAPIERROR("intel_uncore: %s", sentence);
	return intel_uncore_code(error);
}

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

/* Marks the base events that can be counted: available metrics, and events with a unit in reach. Returns
 * their number, or an error. */
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

/* The first listed base event from `base` on; n_base: none. */
static unsigned int find_listed(unsigned int base)
{
	while (base < intel_uncore.n_base && !intel_uncore.bases[base].listed)
		base++;
	return base;
}

void intel_uncore_unlist(void)
{
	papi_free(intel_uncore.bases);
	intel_uncore.bases = NULL;
	intel_uncore.n_metrics = intel_uncore.n_base = 0;
}

/* ------------------------------------------------------------ texts; the caller holds the lock */

static int compare_texts(const void *a, const void *b)
{
	return strcmp(((const struct text *)a)->text, ((const struct text *)b)->text);
}

static void free_text(struct text *text)
{
	if (text)
		papi_free(text->text);
	papi_free(text);
}

/* The number of a text; a new text is added. */
static int number_text(const char *text, unsigned int base, unsigned int *number)
{
	struct text key = {.text = (char *)text}, **larger, *added;
	struct text *const *found = tfind(&key, &intel_uncore.tree, compare_texts);

	if (found) {
		*number = (*found)->number;
		return PAPI_OK;
	}
	added = papi_calloc(1, sizeof(*added));
	larger = papi_realloc(intel_uncore.texts, (intel_uncore.n_texts + 1) * sizeof(added));
	intel_uncore.texts = larger ? larger : intel_uncore.texts;
	if (added)
		*added = (struct text){papi_strdup(text), intel_uncore.n_texts, base, 0};
	if (!larger || !added || !added->text ||
	    !tsearch(added, &intel_uncore.tree, compare_texts)) {
		free_text(added);
		return PAPI_ENOMEM;
	}
	*number = intel_uncore.n_texts;
	intel_uncore.texts[intel_uncore.n_texts++] = added;
	return PAPI_OK;
}

void intel_uncore_forget_texts(void)
{
	struct text *text;

	while (intel_uncore.n_texts) {
		text = intel_uncore.texts[--intel_uncore.n_texts];
		tdelete(text, &intel_uncore.tree, compare_texts);
		free_text(text);
	}
	papi_free(intel_uncore.texts);
	intel_uncore.texts = NULL;
}

/* ------------------------------------------------------------ codes */

/* Adds qualifier 1, 2, ... of the base event. PAPI_ENOEVNT past the last. */
static int add_qualifier(struct name *name, unsigned int number)
{
	struct unc_qualifier qualifier = {.size = sizeof(qualifier)};
	size_t used = strlen(name->text), room = sizeof(name->text) - used;

	if (intel_uncore.item_qualifier(intel_uncore.platform, name->text, number - 1, &qualifier))
		return PAPI_ENOEVNT;
	snprintf(name->masks, sizeof(name->masks), "%.*s", (int)sizeof(name->masks) - 1,
		 qualifier.desc);
	return (size_t)snprintf(name->text + used, room, ":%s", qualifier.text) < room ? PAPI_OK
										       : PAPI_EBUF;
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

static int is_qualifier(unsigned int code)
{
	return !(code & CODE_TEXT) && code >> CODE_BASE_BITS;
}

int intel_uncore_name(unsigned int code, struct name *name)
{
	unsigned int base = code & CODE_BASE_MASK, number = code & ~(unsigned int)CODE_TEXT;
	int papi_errno = PAPI_ENOEVNT;

	if (!(code & CODE_TEXT)) {
		if (base >= intel_uncore.n_base)
			return PAPI_ENOEVNT;
		set_base(name, base);
		return code == base ? PAPI_OK : add_qualifier(name, code >> CODE_BASE_BITS);
	}
	_papi_hwi_lock((int)intel_uncore.lock);
	if (number < intel_uncore.n_texts) {
		set_base(name, intel_uncore.texts[number]->base);
		snprintf(name->text, sizeof(name->text), "%s", intel_uncore.texts[number]->text);
		papi_errno = PAPI_OK;
	}
	_papi_hwi_unlock((int)intel_uncore.lock);
	return papi_errno;
}

int intel_uncore_asked(unsigned int code)
{
	return code & CODE_TEXT || (!is_qualifier(code) && intel_uncore.bases[code].asked);
}

int intel_uncore_told(unsigned int code)
{
	int *told, before;

	_papi_hwi_lock((int)intel_uncore.lock);
	told = code & CODE_TEXT ? &intel_uncore.texts[code & ~(unsigned int)CODE_TEXT]->told
				: &intel_uncore.bases[code & CODE_BASE_MASK].told;
	before = *told;
	*told = 1;
	_papi_hwi_unlock((int)intel_uncore.lock);
	return before;
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

/* The code of a text. A text other than a base event must encode; whether it can be measured is checked
 * when it is added to an EventSet. */
static int parse_text(const char *text, struct unc_item *item)
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
	papi_errno = parse_text(text, &item);
	if (papi_errno == PAPI_OK) {
		base = (unsigned int)item.index + (item.event ? intel_uncore.n_metrics : 0);
		if (is_base(&item)) {
			intel_uncore.bases[base].asked = 1;
			*code = base;
		} else {
			papi_errno = number_text(item.name, base, &number);
			if (papi_errno == PAPI_OK)
				*code = CODE_TEXT | number;
		}
	}
	_papi_hwi_unlock((int)intel_uncore.lock);
	/* After PAPI_ECMP, PAPI would search the list of base events itself. */
	return papi_errno == PAPI_ECMP ? PAPI_ENOEVNT : papi_errno;
}

/* The units that the sum of a name lacks, and why; "": none. */
static void partial_text(const struct name *name, char *text, size_t size)
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

/* Notes that a user needs before using the event, in parentheses. */
static void describe_limits(const struct name *name, char *text, size_t size)
{
	char partial[PAPI_2MAX_STR_LEN];
	int used = 0;

	*text = '\0';
	partial_text(name, partial, sizeof(partial));
	if (name->event && name->event->needs_umask)
		used = snprintf(text, size, " (needs a umask)");
	else if (name->metric && name->metric->passes > 1)
		used = snprintf(text, size, " (needs %d passes: multiplexed)",
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
	/* A difference of multiplexed events may be below 0. */
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
