/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectd plugin intel_uncore: metrics and events of libuncore, a series for each socket.
 * All names and units come from the library; here they only become values of types.db.
 */
#include "intel_uncore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FAIL(...) (plugin_log(LOG_ERR, LOG __VA_ARGS__), -1)

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

struct intel_uncore self;

static int config_names(const oconfig_item_t *ci, bool is_event)
{
	int i;

	for (i = 0; i < ci->values_num && ci->values[i].type == OCONFIG_TYPE_STRING; i++) {
		struct wish wish = {is_event, strdup(ci->values[i].value.string)};
		struct wish *more = realloc(self.wishes, (self.n_wishes + 1) * sizeof(*more));

		self.wishes = more ? more : self.wishes;
		if (!more || !wish.text) {
			free(wish.text);
			return FAIL("out of memory");
		}
		self.wishes[self.n_wishes++] = wish;
	}
	return i > 0 && i == ci->values_num ? 0 : FAIL("%s takes names in quotes", ci->key);
}

static int config_partial(const oconfig_item_t *ci)
{
	bool wanted = true;
	int status = cf_util_get_boolean(ci, &wanted);

	self.whole_only = !wanted;
	return status;
}

/* Always 0: collectd exits when a config callback fails. init() fails instead. */
static int config(oconfig_item_t *ci)
{
	for (int i = 0; i < ci->children_num; i++) {
		const oconfig_item_t *child = &ci->children[i];
		int status;

		if (strcasecmp(child->key, "Simulate") == 0)
			status = cf_util_get_string(child, &self.simulate);
		else if (strcasecmp(child->key, "Metric") == 0)
			status = config_names(child, false);
		else if (strcasecmp(child->key, "Event") == 0)
			status = config_names(child, true);
		else if (strcasecmp(child->key, "PerUnit") == 0)
			status = cf_util_get_boolean(child, &self.per_unit);
		else if (strcasecmp(child->key, "PartialSums") == 0)
			status = config_partial(child);
		else
			status = FAIL("no option %s; options are Simulate, Metric, Event, PerUnit, "
				      "PartialSums",
				      child->key);
		self.broken |= status != 0;
	}
	return 0;
}

static void log_text(void *user, enum unc_log_level level, const char *text)
{
	static const int severity[] = {LOG_DEBUG, LOG_INFO, LOG_WARNING};

	(void)user;
	plugin_log(severity[level], LOG "%s", text);
}

/* The library's sentence says why this machine's counters cannot be used, and what to do about it.
 */
static int fail_machine(const char *why)
{
	return FAIL("%s%s", why, self.simulate ? "" : "; uncore doctor says more");
}

static int log_failure(void *user, const struct unc_check *check)
{
	(void)user;
	if (!check->ok)
		ERROR(LOG "no counter can be read: %s; remedy: %s", check->detail, check->remedy);
	return !check->ok; /* the first is the cause of the others */
}

static int open_platform(void)
{
	struct unc_options options = {
		.size = sizeof(options), .sim = self.simulate, .log = log_text};
	const struct unc_unit *unit;

	if (unc_platform_open(&options, &self.platform) != 0)
		return fail_machine(unc_open_error());
	for (size_t i = 0; (unit = unc_unit_get(self.platform, i)); i++)
		if (unit->available)
			return 0;
	options.log = NULL;
	if (unc_doctor(&options, log_failure, NULL) <= 0)
		fail_machine("no counter can be read");
	return -1;
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
	snprintf(instance, DATA_MAX_NAME_LEN, index < 0 ? "socket%d" : "socket%d-%s%d", socket,
		 type, index);
	for (size_t i = 0; i < self.n_items; i++)
		if (strcmp(instance, more[i].vl.plugin_instance) == 0 &&
		    strcmp(item->vl.type_instance, more[i].vl.type_instance) == 0)
			return FAIL("%s is configured twice", name);
	status = unc_session_add_at(self.session, base, &at, &id);
	if (status == 0) {
		more[self.n_items++] = *item;
		intel_uncore_tell_partial(self.n_items - 1);
	} else if (status == UNC_ERR_UNAVAILABLE) {
		WARNING(LOG "left out: %s", unc_session_error(self.session));
	} else {
		return FAIL("%s", unc_session_error(self.session));
	}
	return 0;
}

static int add_metric(const struct unc_metric *metric)
{
	struct item item = {.is_total = metric->kind == UNC_METRIC_TOTAL};
	int status = 0;
	size_t t = 0;

	if (!metric->available) {
		WARNING(LOG "left out: %s: %s", metric->name, metric->reason);
		return 0;
	}
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
	return status == 0 && self.n_items == 0 ? FAIL("nothing is left to measure") : status;
}

static int open_session(void)
{
	if (open_platform() != 0)
		return -1;
	if (unc_session_new(self.platform, UNC_SESSION_ROTATE, &self.session) != 0)
		return FAIL("%s", unc_platform_error(self.platform));
	if (add_all() != 0)
		return -1;
	self.values = calloc(self.n_items, sizeof(*self.values));
	return self.values ? 0 : FAIL("out of memory");
}

static void close_session(void)
{
	unc_session_free(self.session);
	unc_platform_close(self.platform);
	free(self.items);
	free(self.values);
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

	self.platform = NULL;
	self.session = NULL;
	self.items = NULL;
	self.values = NULL;
	self.n_items = 0;
	/* The calls of an interval are as many as passes. */
	if (open_session() == 0 && unc_session_passes(self.session) == passes) {
		struct intel_uncore now = self;

		keep_totals(&old);
		self = old;
		close_session();
		self = now;
	} else {
		close_session();
		self = old;
	}
	self.reopened = true;
}

/* Undoes config and init, as far as they came. */
static int teardown(void)
{
	if (self.running && unc_session_stop(self.session) != 0)
		ERROR(LOG "%s", unc_session_error(self.session));
	close_session();
	for (size_t i = 0; i < self.n_wishes; i++)
		free(self.wishes[i].text);
	free(self.wishes);
	free(self.simulate);
	memset(&self, 0, sizeof(self));
	return 0;
}

/* Who uses the counters now may be gone at the next read. */
static int start(void)
{
	int status = intel_uncore_start();

	if (status == UNC_ERR_BUSY)
		c_complain(LOG_ERR, &self.complaint, LOG "%s; tried again in each interval",
			   unc_session_error(self.session));
	else if (status != 0)
		return fail_machine(unc_session_error(self.session));
	return 0;
}

static int set_up(void)
{
	unsigned version = unc_api_version();

	if (!UNC_API_SERVES(version))
		return FAIL("libuncore %s has interface %u.%u, the plugin was compiled for %u.%u: "
			    "install those that belong together",
			    unc_version(), version >> 16, version & 0xffff, UNC_API_VERSION >> 16,
			    UNC_API_VERSION & 0xffff);
	if (self.broken)
		return FAIL("disabled by the errors in its configuration");
	return open_session() == 0 ? start() : -1;
}

static int init(void)
{
	int passes;

	if (set_up() != 0)
		return teardown(), -1;
	if (unc_platform_simulated(self.platform))
		NOTICE(LOG "SIMULATED %s: the values are not of this machine",
		       unc_platform_cpu(self.platform)->title);
	passes = unc_session_passes(self.session);
	INFO(LOG "%s, %d sockets: %zu series, passes: %d", unc_platform_cpu(self.platform)->title,
	     unc_platform_sockets(self.platform), self.n_items, passes);
	self.interval = plugin_get_interval();
	self.step = self.interval / (cdtime_t)passes;
	return plugin_register_complex_read(NULL, NAME, intel_uncore_read, self.step, NULL);
}

__attribute__((visibility("default"))) void module_register(void)
{
	plugin_register_complex_config(NAME, config);
	plugin_register_init(NAME, init);
	plugin_register_shutdown(NAME, teardown);
}
