/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectd plugin intel_uncore: from the names of the configuration to series. All names and units
 * come from the library; here they only become values of types.db.
 */
#include "intel_uncore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_GROUP "OVERVIEW"

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

/* What is wrong costs what it names. The log has it once, however often the machine is opened. */
static int wrong(int status, const char *why, bool told)
{
	if (status == UNC_ERR_MEMORY)
		return FAIL("%s", why);
	if (!told)
		ERROR(LOG "%s; it is left out", why);
	return 0;
}

/* What the machine cannot give, so that one configuration serves a mixed cluster. */
static int left_out(bool of_group, const char *name, const char *why)
{
	if (!self.blind)
		plugin_log(of_group ? LOG_INFO : LOG_WARNING, LOG "left out: %s%s%s", name,
			   *name ? ": " : "", why);
	return 0;
}

bool intel_uncore_is_sent(const struct item *item)
{
	return self.partial_sums == PARTIAL_SENT ||
	       (self.partial_sums == PARTIAL_FROM_START && !item->lost);
}

void intel_uncore_tell_partial(struct item *item)
{
	const char *without =
		item->told & UNC_VALUE_PARTIAL ? "" : unc_session_partial(self.session, item->id);

	if (!*without)
		return;
	item->told |= UNC_VALUE_PARTIAL;
	WARNING(LOG "%s/%s: partial sum, without %s%s", item->vl.plugin_instance,
		item->vl.type_instance, without,
		self.partial_sums == PARTIAL_NOT_SENT ? "; not sent (PartialSums false)"
		: !intel_uncore_is_sent(item)         ? "; not sent until it is whole again"
						      : "");
}

/* Names become parts of file names and of dotted paths: '.' and ':' turn into '-', '=' into '_'. */
int intel_uncore_set_names(value_list_t *vl, const char *type, const char *text)
{
	if (strlen(text) >= sizeof(vl->type_instance))
		return -1;
	snprintf(vl->plugin, sizeof(vl->plugin), NAME);
	snprintf(vl->type, sizeof(vl->type), "%s", type);
	snprintf(vl->type_instance, sizeof(vl->type_instance), "%s", text);
	for (char *c = vl->type_instance; (c = strpbrk(c, ".:=/ ")); c++)
		*c = *c == '.' || *c == ':' ? '-' : '_';
	return 0;
}

/* The name of an event or a metric, without the port or the device that it names: these are places. */
static void plain_name(const struct unc_item *what, char out[UNC_SPEC_MAX])
{
	static const char *const places[] = {":port=", ":device="};

	snprintf(out, UNC_SPEC_MAX, "%s", what->base);
	for (size_t i = 0; what->ports && i < sizeof(places) / sizeof(places[0]); i++) {
		char *place = strstr(out, places[i]);
		const char *rest = place ? place + 1 + strcspn(place + 1, ":") : "";

		if (place)
			memmove(place, rest, strlen(rest) + 1);
	}
}

static int set_item(struct item *item, const struct unc_item *what)
{
	const struct unc_metric *metric = what->metric;
	char name[UNC_SPEC_MAX];
	size_t t = 0;

	plain_name(what, name);
	item->scale = 1;
	item->is_total = true;
	if (!metric)
		return intel_uncore_set_names(&item->vl, "total_events", name);
	while (types[t].unit && strcmp(types[t].unit, metric->unit) != 0)
		t++;
	item->scale = types[t].scale;
	item->is_total = metric->kind == UNC_METRIC_TOTAL;
	return intel_uncore_set_names(&item->vl, item->is_total ? types[t].total : types[t].gauge,
				      name);
}

/* Ports are of the units that count, whatever the name is of, and so is a unit of a portable metric. */
static const char *type_of(const struct unc_item *what)
{
	const char *type = what->event ? what->event->type : what->metric->of;

	return what->units_of && (what->ports || strcmp(type, "portable") == 0) ? what->units_of
										: type;
}

/* What was made up says so where it is stored. */
static void set_place(struct item *item, const struct unc_item *what)
{
	char *instance = item->vl.plugin_instance;
	int n = snprintf(instance, DATA_MAX_NAME_LEN, what->at.socket < 0 ? "%snode" : "%ssocket%d",
			 unc_platform_simulated(self.platform) ? "simulated-" : "",
			 what->at.socket);

	if (what->at.index >= 0)
		n += snprintf(instance + n, DATA_MAX_NAME_LEN - (size_t)n, "-%s%d", type_of(what),
			      what->at.index);
	for (int port = 0; what->ports >> port; port++)
		if (what->ports >> port & 1)
			n += snprintf(instance + n, DATA_MAX_NAME_LEN - (size_t)n, "-%s%d",
				      port == what->port ? "port" : "", port);
}

const struct item *intel_uncore_same_series(const struct item *items, size_t n,
					    const struct item *item)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(item->vl.plugin_instance, items[i].vl.plugin_instance) == 0 &&
		    strcmp(item->vl.type_instance, items[i].vl.type_instance) == 0)
			return &items[i];
	return NULL;
}

/* An item of the session becomes a series, unless there is one already or it cannot be counted there. */
static int add_series(int id, bool of_group)
{
	struct item *more = realloc(self.items, (self.n_items + 1) * sizeof(*more));
	struct item item = {.id = id, .named = of_group ? 0 : self.n_names};
	struct unc_item what = {.size = sizeof(what)};
	const struct item *same;

	if (!more)
		return FAIL("out of memory");
	self.items = more;
	if (unc_session_item(self.session, id, &what) != 0)
		return FAIL("%s", unc_session_error(self.session));
	set_item(&item, &what);
	set_place(&item, &what);
	same = intel_uncore_same_series(self.items, self.n_items, &item);
	if (same && same->named && item.named && same->named != item.named && !self.blind)
		WARNING(LOG "%s/%s is configured twice; it is sent once", item.vl.plugin_instance,
			item.vl.type_instance);
	if (same)
		return 0;
	if (what.error == UNC_ERR_UNAVAILABLE)
		return left_out(of_group, "", unc_session_reason(self.session, id));
	if (what.error)
		return wrong(what.error, unc_session_reason(self.session, id), self.blind);
	self.items[self.n_items] = item;
	intel_uncore_tell_partial(&self.items[self.n_items++]);
	return intel_uncore_add_label(&item, &what);
}

static int add_each(const char *name, unsigned per, bool of_group)
{
	size_t n;
	int first, status = unc_session_add_each(self.session, name, per | UNC_EACH_LACKING, &first,
						 &n);

	if (status == UNC_ERR_INVALID && per & UNC_EACH_DEVICE) /* it does not tell ports apart */
		return add_each(name, per & ~(unsigned)UNC_EACH_DEVICE, of_group);
	if (status == UNC_ERR_UNAVAILABLE)
		return left_out(of_group, "", unc_session_error(self.session));
	if (status)
		return wrong(status, unc_session_error(self.session), self.blind);
	if (*unc_session_error(self.session) && !self.told)
		plugin_log(of_group ? LOG_INFO : LOG_WARNING, LOG "%s",
			   unc_session_error(self.session));
	self.n_values += n;
	for (size_t i = 0; status == 0 && i < n; i++)
		status = add_series(first + (int)i, of_group);
	return status;
}

/* A port that is named without a socket is one of each. */
static int add_ports(const char *name, bool of_group)
{
	char there[UNC_SPEC_MAX + 32];
	int status = 0;

	for (int i = 0; status == 0 && i < unc_platform_sockets(self.platform); i++) {
		snprintf(there, sizeof(there), "%s:socket=%d", name, i);
		status = add_each(there, 0, of_group);
	}
	return status;
}

static int add_text(const char *text, unsigned per, bool of_group)
{
	struct unc_item what = {.size = sizeof(what)};
	struct item item = {0};
	char why[UNC_SPEC_MAX + 64];
	int status = unc_item_find(self.platform, text, &what);

	if (status)
		return wrong(status, unc_platform_error(self.platform), self.told);
	self.n_names++;
	if (what.metric && !what.metric->available)
		return left_out(of_group, what.metric->name, what.metric->reason);
	if (set_item(&item, &what) != 0) {
		snprintf(why, sizeof(why), "%s: the name is too long for collectd", text);
		return wrong(UNC_ERR_RANGE, why, self.told);
	}
	if (what.ports && what.at.socket < 0)
		return add_ports(what.name, of_group);
	status = add_each(what.name, UNC_EACH_SOCKET, of_group);
	if (status == 0 && per && what.at.index < 0) /* beside the sum, which dashboards show */
		status = add_each(what.name, per | UNC_EACH_SOCKET, of_group);
	if (status == 0 && self.node_sums && what.at.socket < 0 && what.at.index < 0)
		status = add_each(what.name, 0, of_group);
	return status;
}

static int add_group(const char *name, unsigned per)
{
	const struct unc_group *group;
	char title[64];
	size_t index;
	int status = unc_group_find(self.platform, name, &index);

	if (status)
		return wrong(status, unc_platform_error(self.platform), self.told);
	group = unc_group_get(self.platform, index);
	if (!group)
		return FAIL("out of memory");
	self.n_names++;
	snprintf(title, sizeof(title), "group %s", group->name);
	if (!group->available)
		return left_out(false, title, group->reason);
	if (*group->reason)
		left_out(true, title, group->reason);
	for (size_t i = 0; status == 0 && i < group->n_items; i++)
		status = add_text(group->items[i], per, true);
	return status;
}

/* By its name, or one that people give it. A CPU that the library does not know is a name that is
 * wrong; its sentence has the nearest. */
static bool is_of_this_cpu(const struct block *block)
{
	struct unc_options options = {.size = sizeof(options), .cpu = block->cpu, .sim = ""};
	const char *ours = unc_platform_cpu(self.platform)->name;
	struct unc_platform *named = NULL;
	bool same = strcasecmp(block->cpu, ours) == 0;

	if (!same && unc_platform_open(&options, &named) == 0)
		same = strcmp(unc_platform_cpu(named)->name, ours) == 0;
	else if (!same && !self.told)
		ERROR(LOG "<Cpu>: %s; the block is left out", unc_open_error());
	unc_platform_close(named);
	return same;
}

static int add_block(const struct block *block, size_t *n_wishes)
{
	unsigned per = block->per | (self.always.per & ~block->says_per);
	int status = 0;

	*n_wishes += block->n_wishes;
	for (size_t i = 0; status == 0 && i < block->n_wishes; i++)
		status = block->wishes[i].is_group ? add_group(block->wishes[i].text, per)
						   : add_text(block->wishes[i].text, per, false);
	return status;
}

int intel_uncore_add_all(void)
{
	size_t n_wishes = 0;
	int status = add_block(&self.always, &n_wishes);

	for (size_t i = 0; status == 0 && i < self.n_cpus; i++)
		if (is_of_this_cpu(&self.cpus[i]))
			status = add_block(&self.cpus[i], &n_wishes);
	if (status == 0 && n_wishes == 0)
		status = add_group(DEFAULT_GROUP, self.always.per);
	self.told = true;
	if (status == 0 && (self.blind ? self.n_names : self.n_items) == 0)
		return FAIL("nothing is left to measure");
	return status;
}
