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

/* something that is to be measured, on its way to series of all its places */
struct want {
	struct unc_item what;
	struct item item;
	bool per_unit;
	bool of_group; /* nobody has named it */
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

/* Names become parts of file names and of dotted paths: '.' and ':' turn into '-', '=' into '_'. */
static int set_names(struct item *item, const char *type, const char *text)
{
	value_list_t *vl = &item->vl;

	if (strlen(text) >= sizeof(vl->type_instance))
		return -1;
	snprintf(vl->plugin, sizeof(vl->plugin), NAME);
	snprintf(vl->type, sizeof(vl->type), "%s", type);
	snprintf(vl->type_instance, sizeof(vl->type_instance), "%s", text);
	for (char *c = vl->type_instance; (c = strpbrk(c, ".:=/ ")); c++)
		*c = *c == '.' || *c == ':' ? '-' : '_';
	return 0;
}

static int set_item(struct want *want)
{
	const struct unc_metric *metric = want->what.metric;
	struct item *item = &want->item;
	size_t t = 0;

	*item = (struct item){.scale = 1, .is_total = true, .named = !want->of_group};
	if (!metric)
		return set_names(item, "total_events", want->what.base);
	while (types[t].unit && strcmp(types[t].unit, metric->unit) != 0)
		t++;
	item->scale = types[t].scale;
	item->is_total = metric->kind == UNC_METRIC_TOTAL;
	return set_names(item, item->is_total ? types[t].total : types[t].gauge, want->what.base);
}

static const struct item *same_series(const struct item *item)
{
	for (size_t i = 0; i < self.n_items; i++)
		if (strcmp(item->vl.plugin_instance, self.items[i].vl.plugin_instance) == 0 &&
		    strcmp(item->vl.type_instance, self.items[i].vl.type_instance) == 0)
			return &self.items[i];
	return NULL;
}

/* What was made up says so where it is stored. */
static void set_place(struct want *want, int socket, int index)
{
	char *instance = want->item.vl.plugin_instance;
	const struct unc_item *what = &want->what;
	int n = snprintf(instance, DATA_MAX_NAME_LEN, socket < 0 ? "%snode" : "%ssocket%d",
			 unc_platform_simulated(self.platform) ? "simulated-" : "", socket);

	if (index >= 0)
		snprintf(instance + n, DATA_MAX_NAME_LEN - (size_t)n, "-%s%d",
			 what->event ? what->event->type : what->metric->of, index);
}

static int add_series(struct want *want, int socket, int index)
{
	struct item *more = realloc(self.items, (self.n_items + 1) * sizeof(*more));
	struct unc_target at = {.size = sizeof(at), .socket = socket, .index = index};
	const struct item *same;
	int id, status;

	if (!more)
		return FAIL("out of memory");
	self.items = more;
	set_place(want, socket, index);
	same = same_series(&want->item);
	if (same) {
		if (same->named && want->item.named && !self.blind)
			WARNING(LOG "%s/%s is configured twice; it is sent once",
				want->item.vl.plugin_instance, want->item.vl.type_instance);
		return 0;
	}
	status = unc_session_add_at(self.session, want->what.base, &at, &id);
	if (status == UNC_ERR_UNAVAILABLE)
		return left_out(want->of_group, "", unc_session_error(self.session));
	if (status)
		return wrong(status, unc_session_error(self.session), self.blind);
	self.items[self.n_items++] = want->item;
	intel_uncore_tell_partial(self.n_items - 1);
	return 0;
}

static int add_socket(struct want *want, int socket)
{
	const struct unc_item *what = &want->what;
	const struct unc_unit *unit;
	int status = 0;

	if (what->at.index >= 0 || !want->per_unit || !what->units_of)
		return add_series(want, socket, what->at.index);
	for (size_t i = 0; status == 0 && (unit = unc_unit_get(self.platform, i)); i++)
		if (unit->socket == socket && strcmp(unit->type->name, what->units_of) == 0)
			status = add_series(want, socket, unit->index);
	return status;
}

static int add_text(const char *text, bool per_unit, bool of_group)
{
	struct want want = {.per_unit = per_unit, .of_group = of_group};
	struct unc_item *what = &want.what;
	char why[UNC_SPEC_MAX + 64];
	int status;

	what->size = sizeof(*what);
	status = unc_item_find(self.platform, text, what);
	if (status)
		return wrong(status, unc_platform_error(self.platform), self.told);
	self.n_names++;
	if (what->metric && !what->metric->available)
		return left_out(of_group, what->metric->name, what->metric->reason);
	if (set_item(&want) != 0) {
		snprintf(why, sizeof(why), "%s: the name is too long for collectd", text);
		return wrong(UNC_ERR_RANGE, why, self.told);
	}
	if (what->at.socket >= 0)
		return add_socket(&want, what->at.socket);
	for (int socket = 0; status == 0 && socket < unc_platform_sockets(self.platform); socket++)
		status = add_socket(&want, socket);
	if (status == 0 && self.node_sums && what->at.index < 0)
		status = add_series(&want, -1, -1);
	return status;
}

static int add_group(const char *name, bool per_unit)
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
		status = add_text(group->items[i], per_unit, true);
	return status;
}

/* A CPU that the library does not know is a name that is wrong; its sentence has the nearest. */
static bool is_of_this_cpu(const struct block *block)
{
	struct unc_options options = {.size = sizeof(options), .cpu = block->cpu, .sim = ""};
	const struct unc_cpu *cpu = unc_platform_cpu(self.platform);
	struct unc_platform *other;

	if (strcasecmp(block->cpu, cpu->name) == 0)
		return true;
	for (size_t i = 0; (cpu = unc_cpu_get(self.platform, i)); i++)
		if (strcasecmp(block->cpu, cpu->name) == 0)
			return false;
	if (self.told)
		return false;
	if (unc_platform_open(&options, &other) == 0)
		unc_platform_close(other);
	else
		ERROR(LOG "<Cpu>: %s; the block is left out", unc_open_error());
	return false;
}

static int add_block(const struct block *block, size_t *n_wishes)
{
	bool per_unit = block->says_per_unit ? block->per_unit : self.always.per_unit;
	int status = 0;

	*n_wishes += block->n_wishes;
	for (size_t i = 0; status == 0 && i < block->n_wishes; i++)
		status = block->wishes[i].is_group
				 ? add_group(block->wishes[i].text, per_unit)
				 : add_text(block->wishes[i].text, per_unit, false);
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
		status = add_group(DEFAULT_GROUP, self.always.per_unit);
	self.told = true;
	if (status == 0 && (self.blind ? self.n_names : self.n_items) == 0)
		return FAIL("nothing is left to measure");
	return status;
}
