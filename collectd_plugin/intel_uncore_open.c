/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectd plugin intel_uncore: the machine, and what is configured there. All names and units come
 * from the library; here they only become values of types.db.
 */
#include "intel_uncore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types of types.db as collectd 5.12 has it. Rates are `gauge`: memory_bandwidth is a DERIVE there
 * and bitrate ends at 2^32. */
static const struct {
	const char *unit;
	const char *total; /* DERIVE */
	const char *gauge;
	double scale;
} types[] = {
	{"bytes", "total_bytes", "bytes", 1}, {"count", "total_events", "count", 1},
	{"ratio", "derive", "percent", 100},  {"ns", "derive", "latency", 1},
	{"hz", "derive", "frequency", 1},     {NULL, "derive", "gauge", 1},
};

static void log_text(void *user, enum unc_log_level level, const char *text)
{
	static const int severity[] = {LOG_DEBUG, LOG_INFO, LOG_WARNING};

	(void)user;
	plugin_log(severity[level], LOG "%s", text);
}

void intel_uncore_wait(const char *why)
{
	c_complain_once(LOG_ERR, &self.complaint, LOG "%s%s; tried again in each interval", why,
			self.simulate ? "" : "; uncore doctor says more");
}

static int wait_for_cause(void *user, const struct unc_check *check)
{
	(void)user;
	if (!check->ok)
		c_complain_once(
			LOG_ERR, &self.complaint,
			LOG "no counter can be read: %s; remedy: %s; tried again in each interval",
			check->detail, check->remedy);
	return !check->ok; /* the first is the cause of the others */
}

static struct unc_options options(void)
{
	return (struct unc_options){.size = sizeof(struct unc_options),
				    .sim = self.simulate,
				    .access = self.access,
				    .log = log_text};
}

/* A wrong name or option, or a CPU without tables, stays so; an access that failed may not. */
static int open_platform(void)
{
	struct unc_options wanted = options();
	int status = unc_platform_open(&wanted, &self.platform);

	if (status == UNC_ERR_IO || status == UNC_ERR_PERMISSION || status == UNC_ERR_MEMORY)
		return intel_uncore_wait(unc_open_error()), NOT_NOW;
	return status ? FAIL("%s", unc_open_error()) : 0;
}

static bool any_unit(void)
{
	const struct unc_unit *unit;
	size_t i = 0;

	while ((unit = unc_unit_get(self.platform, i)) && !unit->available)
		i++;
	return unit != NULL;
}

/* Why no unit can be read, and what to do about it. */
static void wait_for_units(void)
{
	struct unc_options wanted = options();

	wanted.log = NULL;
	if (!c_would_release(&self.complaint) && unc_doctor(&wanted, wait_for_cause, NULL) <= 0)
		intel_uncore_wait("no counter can be read");
}

/* Names become parts of file names and of dotted paths: '.' and ':' turn into '-', '=' into '_'. */
static int set_names(struct item *item, const char *type, const char *text)
{
	value_list_t *vl = &item->vl;

	if (strlen(text) >= sizeof(vl->type_instance))
		return FAIL("%s: the name is too long for collectd", text);
	snprintf(vl->plugin, sizeof(vl->plugin), NAME);
	snprintf(vl->type, sizeof(vl->type), "%s", type);
	snprintf(vl->type_instance, sizeof(vl->type_instance), "%s", text);
	for (char *c = vl->type_instance; (c = strpbrk(c, ".:=/ ")); c++)
		*c = *c == '.' || *c == ':' ? '-' : '_';
	return 0;
}

void intel_uncore_tell_partial(size_t id)
{
	struct item *item = &self.items[id];
	const char *without = item->partial ? "" : unc_session_partial(self.session, (int)id);

	if (!*without)
		return;
	item->partial = true;
	WARNING(LOG "%s/%s: partial sum, without %s%s", item->vl.plugin_instance,
		item->vl.type_instance, without,
		self.whole_only ? "; not sent (PartialSums false)" : "");
}

/* Adds what `base` names, at a unit of type `type` or at all of a socket. What the machine cannot give
 * is left out with a warning, so that one configuration serves a mixed cluster; any other error is the
 * configuration's fault. */
static int add_item(struct item *item, const char *base, const char *type, int socket, int index)
{
	struct item *more = realloc(self.items, (self.n_items + 1) * sizeof(*more));
	struct unc_target at = {.size = sizeof(at), .socket = socket, .index = index};
	char *instance = item->vl.plugin_instance, name[UNC_SPEC_MAX];
	int id, status;

	if (!more)
		return FAIL("out of memory");
	self.items = more;
	if (unc_name_at(self.platform, base, &at, name, sizeof(name)) != 0)
		return FAIL("%s", unc_platform_error(self.platform));
	snprintf(instance, DATA_MAX_NAME_LEN, index < 0 ? "%ssocket%d" : "%ssocket%d-%s%d",
		 unc_platform_simulated(self.platform) ? "simulated-" : "", socket, type, index);
	for (size_t i = 0; i < self.n_items; i++)
		if (strcmp(instance, more[i].vl.plugin_instance) == 0 &&
		    strcmp(item->vl.type_instance, more[i].vl.type_instance) == 0)
			return FAIL("%s is configured twice", name);
	status = unc_session_add_at(self.session, base, &at, &id);
	if (status == 0) {
		more[self.n_items++] = *item;
		intel_uncore_tell_partial(self.n_items - 1);
		return 0;
	}
	if (status != UNC_ERR_UNAVAILABLE)
		return FAIL("%s", unc_session_error(self.session));
	if (!self.blind)
		WARNING(LOG "left out: %s", unc_session_error(self.session));
	return 0;
}

static int add_metric(const struct unc_metric *metric)
{
	struct item item = {.is_total = metric->kind == UNC_METRIC_TOTAL};
	int status = 0;
	size_t t = 0;

	if (!metric->available && !self.blind)
		WARNING(LOG "left out: %s: %s", metric->name, metric->reason);
	if (!metric->available)
		return 0;
	while (types[t].unit && strcmp(types[t].unit, metric->unit) != 0)
		t++;
	item.scale = types[t].scale;
	if (set_names(&item, item.is_total ? types[t].total : types[t].gauge, metric->name) != 0)
		return -1;
	for (int socket = 0; socket < unc_platform_sockets(self.platform); socket++)
		status |= add_item(&item, metric->name, "", socket, -1);
	return status;
}

static int add_metric_text(const char *text)
{
	struct unc_target place = {.size = sizeof(place)};
	size_t index;

	if (unc_metric_find(self.platform, text, &index, &place) != 0)
		return FAIL("%s", unc_platform_error(self.platform));
	if (place.socket >= 0 || place.index >= 0)
		return FAIL("%s: give the name of the metric alone; each socket gets a series",
			    text);
	return add_metric(unc_metric_get(self.platform, index));
}

static int add_event_socket(struct item *item, const struct unc_encoding *enc, int socket)
{
	const struct unc_unit *unit;
	int status = 0;

	if (enc->index >= 0 || !self.per_unit)
		return add_item(item, enc->base, enc->type, socket, enc->index);
	for (size_t i = 0; (unit = unc_unit_get(self.platform, i)); i++)
		if (unit->socket == socket && strcmp(unit->type->name, enc->units_of) == 0)
			status |= add_item(item, enc->base, enc->type, socket, unit->index);
	return status;
}

static int add_event(const char *text)
{
	struct item item = {.is_total = true};
	struct unc_encoding enc = {.size = sizeof(enc)};
	int status = 0;

	if (unc_event_encode(self.platform, text, &enc) != 0)
		return FAIL("%s", unc_platform_error(self.platform));
	if (set_names(&item, "total_events", enc.base) != 0)
		return -1;
	if (enc.socket >= 0)
		return add_event_socket(&item, &enc, enc.socket);
	for (int socket = 0; socket < unc_platform_sockets(self.platform); socket++)
		status |= add_event_socket(&item, &enc, socket);
	return status;
}

/* Without a Metric or Event: the portable set. Reports every wrong name, not only the first. */
static int add_all(void)
{
	const struct unc_metric *metric;
	int status = 0;

	for (size_t i = 0; !self.n_wishes && (metric = unc_metric_get(self.platform, i)); i++)
		if (strcmp(metric->of, "portable") == 0)
			status |= add_metric(metric);
	for (size_t i = 0; i < self.n_wishes; i++)
		status |= self.wishes[i].is_event ? add_event(self.wishes[i].text)
						  : add_metric_text(self.wishes[i].text);
	if (status == 0 && self.n_items == 0 && !self.blind)
		return FAIL("nothing is left to measure");
	return status;
}

/* What could not be opened is left as it is: intel_uncore_close(). */
static int open_session(void)
{
	int status = open_platform();

	if (status)
		return status;
	self.blind = !any_unit(); /* but names can be wrong all the same */
	if (unc_session_new(self.platform, UNC_SESSION_ROTATE, &self.session) != 0)
		return FAIL("%s", unc_platform_error(self.platform));
	if (add_all() != 0)
		return -1;
	if (self.blind)
		return wait_for_units(), NOT_NOW;
	self.values = calloc(self.n_items, sizeof(*self.values));
	return self.values ? 0 : FAIL("out of memory");
}

static void forget_session(void)
{
	self.platform = NULL;
	self.session = NULL;
	self.items = NULL;
	self.values = NULL;
	self.n_items = 0;
}

void intel_uncore_close(void)
{
	unc_session_free(self.session);
	unc_platform_close(self.platform);
	free(self.items);
	free(self.values);
	forget_session();
}

int intel_uncore_open(void)
{
	int status = open_session();
	const struct unc_cpu *cpu;

	if (status) {
		intel_uncore_close();
		return status;
	}
	cpu = unc_platform_cpu(self.platform);
	if (unc_platform_simulated(self.platform))
		NOTICE(LOG "SIMULATED %s: the values are not of this machine", cpu->title);
	INFO(LOG "%s, %d sockets: %zu series, passes: %d", cpu->title,
	     unc_platform_sockets(self.platform), self.n_items, unc_session_passes(self.session));
	return 0;
}

/* A series goes on from what was sent last. */
static void keep_totals(const struct intel_uncore *old)
{
	for (size_t i = 0; i < self.n_items; i++) {
		struct item *item = &self.items[i];

		for (size_t k = 0; k < old->n_items; k++) {
			const struct item *was = &old->items[k];

			if (strcmp(item->vl.plugin_instance, was->vl.plugin_instance) != 0 ||
			    strcmp(item->vl.type_instance, was->vl.type_instance) != 0)
				continue;
			item->total = was->total;
			item->begun = was->begun;
			item->complaint = was->complaint;
		}
	}
}

void intel_uncore_reopen(void)
{
	struct intel_uncore old = self;
	int passes = unc_session_passes(old.session);

	forget_session();
	/* The calls of an interval are as many as passes. */
	if (open_session() == 0 && unc_session_passes(self.session) == passes) {
		struct intel_uncore now = self;

		keep_totals(&old);
		self = old;
		intel_uncore_close();
		self = now;
	} else {
		intel_uncore_close();
		old.complaint = self.complaint;
		self = old;
	}
	self.reopened = true;
}
