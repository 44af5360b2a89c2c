/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectd plugin intel_uncore: metrics and events of libuncore, a series for each socket. All names, places and
 * sentences come from the library; here they become values of types.db, and lines of the log.
 */
#include "collectd.h"
#include "plugin.h"
#include "utils_complain.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "uncore.h"

#define NAME "intel_uncore"
#define LOG NAME " plugin: "
#define FAIL(...) (plugin_log(LOG_ERR, LOG __VA_ARGS__), -1)
#define DEFAULT_GROUP "OVERVIEW"

/* a name of the configuration */
struct wish {
	bool is_group;
	char *text;
};

/* what the configuration asks for, of all CPUs or in the block of one */
struct block {
	char *cpu;         /* NULL: all */
	unsigned per;      /* UNC_EACH_UNIT, UNC_EACH_DEVICE */
	unsigned says_per; /* those that the block does not say are as outside */
	struct wish *wishes;
	size_t n_wishes;
};

/* one series */
struct item {
	int id; /* of the session */
	value_list_t vl;
	value_t value;
	double scale;
	bool is_total;
	size_t named; /* number of its name in the configuration; 0: a group has it */
	bool going;   /* the interval before had a value: total goes on */
	bool begun;   /* a value was sent */
	char *label;  /* devices below its port; NULL: it has no port, or they are not known yet */
	double total;
};

static struct {
	char *simulate;
	char *access;
	char *map; /* file of the devices below ports */
	enum {
		PARTIAL_FROM_START, /* those that lacked the units where counting began */
		PARTIAL_SENT,
		PARTIAL_NOT_SENT
	} partial_sums; /* which of them are sent */
	bool node_sums; /* a series of all sockets, too */
	bool broken;    /* the configuration */
	struct block always;
	struct block *cpus;
	size_t n_cpus;
	bool told;      /* the log has the names that are wrong */
	bool blind;     /* no unit of the machine can be read */
	size_t n_names; /* of the configuration, that name something */
	struct unc_platform *platform;
	struct unc_session *session; /* NULL: it could not be opened yet */
	struct item *items;
	size_t n_items;
	struct unc_value *values; /* of the session's items */
	size_t n_values;
	cdtime_t interval;
	cdtime_t begun; /* when the interval did */
	bool running;
	c_complain_t complaint;
} self;

/* ---- configuration */

static int config_names(const oconfig_item_t *ci, struct block *block, bool is_group)
{
	int i;

	for (i = 0; i < ci->values_num && ci->values[i].type == OCONFIG_TYPE_STRING; i++) {
		struct wish wish = {is_group, strdup(ci->values[i].value.string)};
		struct wish *more = realloc(block->wishes, (block->n_wishes + 1) * sizeof(*more));

		block->wishes = more ? more : block->wishes;
		if (!more || !wish.text) {
			free(wish.text);
			return FAIL("out of memory");
		}
		block->wishes[block->n_wishes++] = wish;
	}
	return i > 0 && i == ci->values_num ? 0 : FAIL("%s takes names in quotes", ci->key);
}

static int config_partial(const oconfig_item_t *ci)
{
	bool wanted = true;
	int status = cf_util_get_boolean(ci, &wanted);

	self.partial_sums = wanted ? PARTIAL_SENT : PARTIAL_NOT_SENT;
	return status;
}

enum { OTHER = 1 };

/* Options PerUnit and PerDevice: the places that have a series. OTHER: not such an option. */
static int config_per(const oconfig_item_t *ci, struct block *block)
{
	unsigned per = strcasecmp(ci->key, "PerUnit") == 0     ? UNC_EACH_UNIT
		       : strcasecmp(ci->key, "PerDevice") == 0 ? UNC_EACH_DEVICE
							       : 0;
	bool wanted = false;
	int status;

	if (!per)
		return OTHER;
	status = cf_util_get_boolean(ci, &wanted);
	block->says_per |= per;
	block->per = wanted ? block->per | per : block->per & ~per;
	return status;
}

/* Options that may stand inside and outside of blocks. OTHER: not such an option. */
static int config_wish(const oconfig_item_t *ci, struct block *block)
{
	if (ci->children_num > 0 && strcasecmp(ci->key, "Cpu") != 0)
		return FAIL("<%s> is no block; the only one is <Cpu>", ci->key);
	if (strcasecmp(ci->key, "Metric") == 0 || strcasecmp(ci->key, "Event") == 0)
		return config_names(ci, block, false);
	if (strcasecmp(ci->key, "Group") == 0)
		return config_names(ci, block, true);
	return config_per(ci, block);
}

static int config_cpu(const oconfig_item_t *ci)
{
	struct block *more = realloc(self.cpus, (self.n_cpus + 1) * sizeof(*more)), *block;
	int status;

	if (!more)
		return FAIL("out of memory");
	self.cpus = more;
	block = &more[self.n_cpus++];
	*block = (struct block){0};
	status = cf_util_get_string(ci, &block->cpu);
	for (int i = 0; i < ci->children_num; i++) {
		int one = config_wish(&ci->children[i], block);

		if (one == OTHER)
			one = FAIL("no option %s in <Cpu>; options are Metric, Event, Group, "
				   "PerUnit, PerDevice",
				   ci->children[i].key);
		status |= one;
	}
	return status;
}

static int config_option(const oconfig_item_t *ci)
{
	int status = config_wish(ci, &self.always);

	if (status != OTHER)
		return status;
	if (strcasecmp(ci->key, "Simulate") == 0)
		return cf_util_get_string(ci, &self.simulate);
	if (strcasecmp(ci->key, "Access") == 0)
		return cf_util_get_string(ci, &self.access);
	if (strcasecmp(ci->key, "DeviceMap") == 0)
		return cf_util_get_string(ci, &self.map);
	if (strcasecmp(ci->key, "PartialSums") == 0)
		return config_partial(ci);
	if (strcasecmp(ci->key, "NodeSums") == 0)
		return cf_util_get_boolean(ci, &self.node_sums);
	if (strcasecmp(ci->key, "Cpu") == 0)
		return config_cpu(ci);
	return FAIL("no option %s; options are Metric, Event, Group, PerUnit, PerDevice, Cpu, "
		    "NodeSums, PartialSums, DeviceMap, Access, Simulate",
		    ci->key);
}

/* Always 0: collectd exits when a config callback fails. init() fails instead. */
static int config(oconfig_item_t *ci)
{
	for (int i = 0; i < ci->children_num; i++)
		self.broken |= config_option(&ci->children[i]) != 0;
	return 0;
}

/* ---- series */

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

/* Names become parts of file names and of dotted paths: '.' and ':' turn into '-', '=' into '_'. */
static int set_names(value_list_t *vl, const char *type, const char *text)
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
		return set_names(&item->vl, "total_events", name);
	while (types[t].unit && strcmp(types[t].unit, metric->unit) != 0)
		t++;
	item->scale = types[t].scale;
	item->is_total = metric->kind == UNC_METRIC_TOTAL;
	return set_names(&item->vl, item->is_total ? types[t].total : types[t].gauge, name);
}

/* Ports are of the units that count, whatever the name is of, and so is a unit of a portable metric. */
static const char *type_of(const struct unc_item *what)
{
	const char *type = what->event ? what->event->type : what->metric->of;

	return what->units_of && (what->ports || strcmp(type, "portable") == 0) ? what->units_of
										: type;
}

/* The place of a simulated machine says so, for it is stored with the values. */
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

static const struct item *same_series(const struct item *item)
{
	for (size_t i = 0; i < self.n_items; i++)
		if (strcmp(item->vl.plugin_instance, self.items[i].vl.plugin_instance) == 0 &&
		    strcmp(item->vl.type_instance, self.items[i].vl.type_instance) == 0)
			return &self.items[i];
	return NULL;
}

/* Ignores a wrong name only, and logs it once, however often the machine is opened. */
static int ignore_wrong(int status, const char *why, bool told)
{
	if (status == UNC_ERR_MEMORY)
		return FAIL("%s", why);
	if (!told)
		ERROR(LOG "%s; it is ignored", why);
	return 0;
}

/* Ignores a name that this machine cannot count, so that one configuration serves a mixed cluster. */
static int ignore_absent(bool of_group, const char *name, const char *why)
{
	if (!self.blind)
		plugin_log(of_group ? LOG_INFO : LOG_WARNING, LOG "ignored: %s%s%s", name,
			   *name ? ": " : "", why);
	return 0;
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
	same = same_series(&item);
	if (same && same->named && item.named && same->named != item.named && !self.blind)
		WARNING(LOG "%s/%s is configured twice; it is sent once", item.vl.plugin_instance,
			item.vl.type_instance);
	if (same)
		return 0;
	if (what.error == UNC_ERR_UNAVAILABLE)
		return ignore_absent(of_group, "", unc_session_reason(self.session, id));
	if (what.error)
		return ignore_wrong(what.error, unc_session_reason(self.session, id), self.blind);
	self.items[self.n_items++] = item;
	return 0;
}

static int add_each(const char *name, unsigned per, bool of_group)
{
	size_t n;
	int first, status = unc_session_add_each(self.session, name, per | UNC_EACH_LACKING, &first,
						 &n);

	if (status == UNC_ERR_INVALID && per & UNC_EACH_DEVICE) /* it does not tell ports apart */
		return add_each(name, per & ~(unsigned)UNC_EACH_DEVICE, of_group);
	if (status == UNC_ERR_UNAVAILABLE)
		return ignore_absent(of_group, "", unc_session_error(self.session));
	if (status)
		return ignore_wrong(status, unc_session_error(self.session), self.blind);
	if (*unc_session_error(self.session) && !self.told)
		plugin_log(of_group ? LOG_INFO : LOG_WARNING, LOG "%s",
			   unc_session_error(self.session));
	self.n_values += n;
	for (size_t i = 0; status == 0 && i < n; i++)
		status = add_series(first + (int)i, of_group);
	return status;
}

/* A port that is named without a socket means that port on each socket. */
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
		return ignore_wrong(status, unc_platform_error(self.platform), self.told);
	self.n_names++;
	if (what.metric && !what.metric->available)
		return ignore_absent(of_group, what.metric->name, what.metric->reason);
	if (set_item(&item, &what) != 0) {
		snprintf(why, sizeof(why), "%s: the name is too long for collectd", text);
		return ignore_wrong(UNC_ERR_RANGE, why, self.told);
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
		return ignore_wrong(status, unc_platform_error(self.platform), self.told);
	group = unc_group_get(self.platform, index);
	if (!group)
		return FAIL("out of memory");
	self.n_names++;
	snprintf(title, sizeof(title), "group %s", group->name);
	if (!group->available)
		return ignore_absent(false, title, group->reason);
	if (*group->reason)
		ignore_absent(true, title, group->reason);
	for (size_t i = 0; status == 0 && i < group->n_items; i++)
		status = add_text(group->items[i], per, true);
	return status;
}

/* Accepts all names of a CPU. An unknown CPU is a wrong name; the library's sentence has the nearest. */
static bool is_of_this_cpu(const struct block *block)
{
	struct unc_options options = {.size = sizeof(options), .cpu = block->cpu, .sim = ""};
	const char *ours = unc_platform_cpu(self.platform)->name;
	struct unc_platform *named = NULL;
	bool same = strcasecmp(block->cpu, ours) == 0;

	if (!same && strcasecmp(block->cpu, UNC_CPU_KERNEL) == 0)
		return false;
	if (!same && unc_platform_open(&options, &named) == 0)
		same = strcmp(unc_platform_cpu(named)->name, ours) == 0;
	else if (!same && !self.told)
		ERROR(LOG "<Cpu>: %s; the block is ignored", unc_open_error());
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

static int add_all(void)
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
/* ---- log lines about values */

static bool is_sent(const struct item *item)
{
	const struct unc_value *value = &self.values[item->id];

	return self.partial_sums == PARTIAL_SENT || (self.partial_sums == PARTIAL_FROM_START &&
						     value->of - value->units <= value->lacked);
}

/* Several items with the same mark share one line. */
struct lines {
	const struct item *marked[UNC_MAX_MARKS], *changed; /* the first */
	size_t n_marked[UNC_MAX_MARKS], n_changed;
	bool labels;
};

static bool is_first_of_place(const struct item *item)
{
	const struct item *first = self.items;

	while (strcmp(first->vl.plugin_instance, item->vl.plugin_instance) != 0)
		first++;
	return first == item;
}

/* The devices below a port are metadata of its values. */
static void set_label(struct item *item, const char *names, struct lines *lines)
{
	bool changed = self.running && is_first_of_place(item); /* not what was found first */

	meta_data_destroy(item->vl.meta);
	free(item->label);
	item->label = strdup(names);
	item->vl.meta = *names ? meta_data_create() : NULL;
	if (item->vl.meta)
		meta_data_add_string(item->vl.meta, "device", names);
	if (changed && lines->n_changed++ == 0)
		lines->changed = item;
	lines->labels = true;
}

static void log_partial(const struct item *item, const char *text)
{
	WARNING(LOG "%s/%s: partial sum, without %s%s", item->vl.plugin_instance,
		item->vl.type_instance, text,
		self.partial_sums == PARTIAL_NOT_SENT ? "; not sent (PartialSums false)"
		: !is_sent(item)                      ? "; not sent until it is whole again"
						      : "");
}

static int collect_news(void *user, const struct unc_news *news)
{
	struct lines *lines = user;
	struct item *item = self.items;
	const char *place, *name;
	size_t mark = 0;

	while (item < self.items + self.n_items && item->id != news->id)
		item++;
	if (item == self.items + self.n_items) /* it is no series */
		return 0;
	place = item->vl.plugin_instance;
	name = item->vl.type_instance;
	if (news->kind == UNC_NEWS_NO_VALUE && news->begins)
		WARNING(LOG "%s/%s: no value: %s", place, name, news->text);
	else if (news->kind == UNC_NEWS_NO_VALUE)
		INFO(LOG "%s/%s: values again", place, name);
	else if (news->kind == UNC_NEWS_PARTIAL && news->begins)
		log_partial(item, news->text);
	else if (news->kind == UNC_NEWS_PARTIAL)
		INFO(LOG "%s/%s: whole again", place, name);
	else if (news->kind == UNC_NEWS_DEVICES)
		set_label(item, news->text, lines);
	else if (!(self.values[item->id].flags & UNC_VALUE_PARTIAL) || is_sent(item)) {
		while (unc_mark_get(mark) != news->mark)
			mark++;
		if (lines->n_marked[mark]++ == 0)
			lines->marked[mark] = item;
	}
	return 0;
}

static void put_string(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			fprintf(f, "\\u%04x", *text);
		else
			putc(*text, f);
	putc('"', f);
}

/* A JSON object of places with the devices below each, for programs that draw series of ports; written anew, whole. */
static void write_map(void)
{
	char path[PATH_MAX];
	const char *before = "{\n";
	bool failed;
	FILE *f;

	snprintf(path, sizeof(path), "%s.new", self.map);
	f = fopen(path, "w");
	for (const struct item *item = self.items; f && item < self.items + self.n_items; item++)
		if (item->label && is_first_of_place(item)) {
			fputs(before, f);
			put_string(f, item->vl.plugin_instance);
			fputs(": ", f);
			put_string(f, item->label);
			before = ",\n";
		}
	if (f)
		fprintf(f, "\n}\n");
	failed = !f || ferror(f);
	if (f)
		failed |= fclose(f) != 0;
	if (failed || rename(path, self.map) != 0)
		WARNING(LOG "DeviceMap: %s cannot be written: %s", self.map, strerror(errno));
}

static void log_news(void)
{
	const struct unc_mark *mark;
	struct lines lines = {0};
	char more[32];

	unc_session_news(self.session, collect_news, &lines);
	snprintf(more, sizeof(more), " (and %zu more)", lines.n_changed - 1);
	if (lines.changed)
		NOTICE(LOG "%s%s: the devices below it have changed: now %s",
		       lines.changed->vl.plugin_instance, lines.n_changed > 1 ? more : "",
		       lines.changed->label && *lines.changed->label ? lines.changed->label
								     : "none");
	for (size_t i = 0; (mark = unc_mark_get(i)) != NULL; i++) {
		const struct item *item = lines.marked[i];

		snprintf(more, sizeof(more), " and %zu more", lines.n_marked[i] - 1);
		if (item)
			WARNING(LOG "%s/%s%s: %s: %s", item->vl.plugin_instance,
				item->vl.type_instance, lines.n_marked[i] > 1 ? more : "",
				mark->what, unc_session_reason(self.session, item->id));
	}
	if (lines.labels && self.map)
		write_map();
}

/* ---- the machine */

enum { NOT_NOW = 1 }; /* beside 0 and -1: it may work later, and the log says why not yet */

static void log_text(void *user, enum unc_log_level level, const char *text)
{
	static const int severity[] = {LOG_DEBUG, LOG_INFO, LOG_WARNING};

	(void)user;
	plugin_log(severity[level], LOG "%s", text);
}

static void wait_because(const char *why)
{
	c_complain_once(LOG_ERR, &self.complaint, LOG "%s%s; retried in each interval", why,
			self.simulate ? "" : "; uncore doctor says more");
}

static int wait_for_cause(void *user, const struct unc_check *check)
{
	(void)user;
	if (!check->ok)
		c_complain_once(LOG_ERR, &self.complaint,
				LOG
				"no counter can be read: %s; remedy: %s; retried in each interval",
				check->detail, check->remedy);
	return !check->ok; /* the first failed check is the cause of later ones */
}

static struct unc_options options(void)
{
	return (struct unc_options){.size = sizeof(struct unc_options),
				    .sim = self.simulate,
				    .access = self.access,
				    .log = log_text};
}

/* NOT_NOW: an access failed, and may work later. A wrong name or option, or a CPU without tables, stays wrong. */
static int open_platform(void)
{
	struct unc_options wanted = options();
	int status = unc_platform_open(&wanted, &self.platform);

	if (status == UNC_ERR_IO || status == UNC_ERR_PERMISSION || status == UNC_ERR_MEMORY)
		return wait_because(unc_open_error()), NOT_NOW;
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
		wait_because("no counter can be read");
}

/* A failure leaves what is open already: close_session() closes it. */
static int open_session(void)
{
	int status = open_platform();

	if (status)
		return status;
	self.blind = !any_unit(); /* names are checked nevertheless */
	if (unc_session_new(self.platform, UNC_SESSION_ROTATE, &self.session) != 0)
		return FAIL("%s", unc_platform_error(self.platform));
	if (add_all() != 0)
		return -1;
	if (self.blind)
		return wait_for_units(), NOT_NOW;
	unc_session_turns(self.session, (unsigned)CDTIME_T_TO_MS(self.interval));
	self.values = calloc(self.n_values, sizeof(*self.values));
	return self.values ? 0 : FAIL("out of memory");
}

static void close_session(void)
{
	unc_session_free(self.session);
	unc_platform_close(self.platform);
	for (size_t i = 0; i < self.n_items; i++)
		meta_data_destroy(self.items[i].vl.meta), free(self.items[i].label);
	free(self.items);
	free(self.values);
	self.session = NULL;
	self.platform = NULL;
	self.items = NULL;
	self.values = NULL;
	self.n_items = self.n_values = self.n_names = 0;
}

static int open_all(void)
{
	int status = open_session();
	const struct unc_cpu *cpu;

	if (status) {
		close_session();
		return status;
	}
	cpu = unc_platform_cpu(self.platform);
	if (unc_platform_simulated(self.platform))
		NOTICE(LOG "SIMULATED %s: the values are not of this machine", cpu->title);
	INFO(LOG "%s, %d sockets: %zu series, passes: %d", cpu->title,
	     unc_platform_sockets(self.platform), self.n_items, unc_session_passes(self.session));
	log_news();
	return 0;
}

/* ---- an interval */

static int start(void)
{
	int status = unc_session_start(self.session);

	self.running = status == 0;
	self.begun = cdtime();
	return status;
}

/* A total grows by the count of each interval, so it never shrinks and its rate is the measured one.
 * After an interval without a value it restarts, below the last value sent: collectd and its back
 * ends then show a gap, not a rate over both. */
static void dispatch(struct item *item, double interval, cdtime_t now)
{
	if (item->going)
		item->total += fmax(interval, 0);
	else if (item->begun)
		item->total = floor(fmin(item->total, 1)) - 1;
	item->begun = item->going = true;
	if (item->is_total)
		item->value.derive = (derive_t)fmod(item->total, 0x1p63);
	else
		item->value.gauge = interval * item->scale;
	item->vl.values = &item->value;
	item->vl.values_len = 1;
	item->vl.time = now;
	item->vl.interval = self.interval;
	plugin_dispatch_values(&item->vl);
}

/* Sends the value if there is one: since the start there may be none, and one of the interval. */
static void send_item(struct item *item, cdtime_t now)
{
	const struct unc_value *value = &self.values[item->id];

	if ((value->flags & UNC_VALUE_VALID || value->interval_seconds > 0) &&
	    value->flags & UNC_VALUE_FRESH && !isnan(value->interval) &&
	    (!(value->flags & UNC_VALUE_PARTIAL) || is_sent(item)))
		dispatch(item, value->interval, now);
	else
		item->going = false;
}

/* The next call starts a new session. Not reported to collectd as a failure: it would double its wait each time. */
static int read_failed(void)
{
	wait_because(unc_session_error(self.session));
	for (size_t i = 0; i < self.n_items; i++)
		self.items[i].going = false;
	self.running = false;
	return 0;
}

/* When the counters were read: a busy machine may take long before or after it, but the library
 * knows how long the interval was. */
static cdtime_t time_of_look(cdtime_t called)
{
	cdtime_t now = cdtime(), look;
	double interval = 0;

	unc_session_time(self.session, NULL, &interval);
	look = self.begun + DOUBLE_TO_CDTIME_T(interval);
	return look < called ? called : look > now ? now : look;
}

static int end_interval(void)
{
	cdtime_t called = cdtime(), now;

	if (unc_session_read(self.session, self.values, self.n_values, sizeof(*self.values)) != 0)
		return read_failed();
	c_release(LOG_INFO, &self.complaint, LOG "counting again");
	self.begun = now = time_of_look(called);
	log_news();
	for (size_t i = 0; i < self.n_items; i++)
		send_item(&self.items[i], now);
	return 0;
}

/* If collectd has just begun or was late, calls follow each other at once, and some are skipped: with several passes,
 * not each has had its turn yet. With one pass such a call counts, so that the next interval has its value, too. */
static bool is_too_soon(void)
{
	return cdtime() - self.begun <
	       self.interval / (unc_session_passes(self.session) > 1 ? 8 : 100);
}

static int read_all(user_data_t *user)
{
	int status = self.session ? 0 : open_all(); /* it could not be opened yet */

	(void)user;
	if (status < 0) /* an error of the configuration that shows only now is the end */
		plugin_unregister_read(NAME);
	if (status != 0)
		return 0;
	if (!self.running) {
		unc_session_stop(self.session);
		return start() != 0 ? read_failed() : 0;
	}
	return is_too_soon() ? 0 : end_interval();
}
/* ---- start and end */

static void free_block(const struct block *block)
{
	for (size_t i = 0; i < block->n_wishes; i++)
		free(block->wishes[i].text);
	free(block->wishes);
	free(block->cpu);
}

/* Undoes config and init, even if these have failed halfway. */
static int teardown(void)
{
	if (self.running && unc_session_stop(self.session) != 0)
		ERROR(LOG "%s", unc_session_error(self.session));
	close_session();
	free_block(&self.always);
	for (size_t i = 0; i < self.n_cpus; i++)
		free_block(&self.cpus[i]);
	free(self.cpus);
	free(self.simulate);
	free(self.access);
	free(self.map);
	memset(&self, 0, sizeof(self));
	return 0;
}

static int set_up(void)
{
	unsigned version = unc_api_version();
	int status;

	if (!UNC_API_SERVES(version))
		return FAIL("libuncore %s has interface %u.%u, the plugin was compiled for %u.%u: "
			    "install those that belong together",
			    unc_version(), version >> 16, version & 0xffff, UNC_API_VERSION >> 16,
			    UNC_API_VERSION & 0xffff);
	if (self.broken)
		return FAIL("disabled by the errors in its configuration");
	status = open_all();
	if (status == 0 && start() != 0)
		wait_because(unc_session_error(self.session));
	return status == NOT_NOW ? 0 : status;
}

/* Only a wrong configuration makes init fail: other obstacles may pass. */
static int init(void)
{
	self.interval = plugin_get_interval();
	if (set_up() != 0)
		return teardown(), -1;
	return plugin_register_complex_read(NULL, NAME, read_all, self.interval, NULL);
}

__attribute__((visibility("default"))) void module_register(void)
{
	plugin_register_complex_config(NAME, config);
	plugin_register_init(NAME, init);
	plugin_register_shutdown(NAME, teardown);
}
