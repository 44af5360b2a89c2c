/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads site.conf, which describes the machines of a site (docs/measuring.md). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sections.h"
#include "base/text.h"
#include "encode/event.h"
#include "encode/name.h"
#include "host/trust.h"
#include "platform/platform.h"

enum { MAX_CLUSTERS = 8, MAX_NAME = 31 };

enum { GROUP, MEMORY, NODES, ABSENT };
static const struct unc_section_rule rules[] = {
	[GROUP] = {"group", true, {{"cpu"}, {"title", true}, {"item", true, true}}},
	[MEMORY] = {"memory", false, {{"cpu"}, {"socket"}, {"peak", true}}},
	[NODES] = {"nodes", true, {{"cpu"}, {"socket"}, {"clusters", true}}},
	[ABSENT] = {"absent", false, {{"cpu"}, {"socket"}, {"unit", true, true}}},
	{0},
};
static const struct unc_section_old old_lines[] = {
	{"group", "[group NAME], title = TEXT, item = NAME"},
	{"memory_peak", "[memory], peak = BYTES_PER_SECOND"},
	{"nodes", "[nodes TYPE], clusters = LIST"},
	{"absent", "[absent], unit = UNIT"},
	{0},
};

struct reading {
	struct unc_sections f;
	struct unc_platform *p;
	struct unc_site *site;
	int socket;   /* of the section; -1: each */
	bool renamed; /* the file has its former name */
};

/* Fails with UNC_ERR_TABLE and this sentence. */
#define WRONG(...) unc_fail(err, UNC_ERR_TABLE, __VA_ARGS__)

/* cpu = NAME,..: the section is for these CPUs only; cpu = !NAME,..: for all others. */
static bool of_other_cpu(struct reading *r)
{
	const struct unc_table *t = r->p->table;
	const char *list = unc_section_value(&r->f, "cpu");
	bool but = list && list[0] == '!';

	return list && unc_list_has(list + but, unc_tbl_str(t, t->name)) == but;
}

static bool is_name(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-");

	return length && length <= MAX_NAME && !text[length];
}

/* ---- groups */

/* The group of the section, existing or new; NULL: its name is not allowed, or there is no memory. */
static struct unc_site_group *group_of_section(struct reading *r)
{
	const struct unc_table *t = r->p->table;
	const struct unc_range all = {0, (uint16_t)t->n_group};
	struct unc_site *site = r->site;
	struct unc_site_group *g;

	for (size_t i = 0; i < site->n_groups; i++)
		if (unc_same(site->group[i].name, r->f.argument))
			return &site->group[i];
	if (!is_name(r->f.argument) || UNC_FIND(t, group, all, r->f.argument) != UNC_NONE ||
	    !(g = UNC_ADD_TO(site->group, site->n_groups)))
		return NULL;
	g->name = r->f.argument;
	g->title = "";
	return g;
}

/* An item is kept as its canonical text. Items of other CPUs are found, and reported, when the group is used. */
static int add_site_item(struct reading *r, struct unc_site_group *g, const char *text,
			 struct unc_error *err)
{
	const struct unc_table *t = r->p->table;
	struct unc_error why = {.text = "it is too long"};
	char item[UNC_SPEC_MAX];
	struct unc_code code;
	struct unc_name name;
	int rc = unc_name_parse(t, text, &name, &why);

	if (rc == 0 && unc_name_placed(&name))
		return WRONG("item = %.100s: a group names no place", text);
	if (rc == 0 && name.metric < 0)
		rc = unc_spec_encode(t, &name.spec, 0, 2, &code, &why);
	if (rc == UNC_ERR_NOT_FOUND && strlen(text) < sizeof(item))
		strcpy(item, text);
	else if (rc < 0 || unc_name_format(t, &name, item, sizeof(item)) < 0)
		return WRONG("item = %.100s: %s", text, why.text);
	for (size_t i = 0; i < g->n_items; i++)
		if (strcmp(g->item[i], item) == 0)
			return WRONG("item = %s is given twice", item);
	if (!UNC_ADD_TO(g->item, g->n_items))
		return unc_no_memory(err);
	strcpy(g->item[g->n_items - 1], item);
	return 0;
}

static int read_group(struct reading *r, struct unc_error *err)
{
	size_t before = r->site->n_groups;
	struct unc_site_group *g = group_of_section(r);
	int rc = 0;

	if (!g)
		return WRONG("[group %.40s] needs a name that none of the library's has, of up to "
			     "%d letters, digits, _ and -",
			     r->f.argument, MAX_NAME);
	if (r->site->n_groups == before)
		return WRONG("[group %s] is given twice", g->name);
	g->title = unc_section_value(&r->f, "title");
	for (size_t i = 0; i < r->f.n && rc == 0; i++) {
		r->f.at = r->f.set[i].line;
		if (strcmp(r->f.set[i].key, "item") == 0)
			rc = add_site_item(r, g, r->f.set[i].value, err);
	}
	return rc;
}

/* ---- memory and units */

static int read_memory(struct reading *r, struct unc_error *err)
{
	struct unc_site_peaks *peaks = &r->site->peaks;
	double *peak = r->socket < 0 ? &peaks->each : &peaks->of[r->socket], value;
	const char *text = unc_section_value(&r->f, "peak");

	if (*peak > 0)
		return WRONG("peak is given twice for a socket");
	if (!unc_parse_double(text, &value) || !(value >= 1e8 && value <= 1e14))
		return WRONG("peak = %.40s is none that a socket can have: 1e8 to 1e14 (bytes a "
			     "second, not MB or GB)",
			     text);
	*peak = value;
	return 0;
}

static int add_units(struct reading *r, const char *unit, const struct unc_tbl_nodes *map,
		     struct unc_error *err)
{
	struct unc_site *site = r->site;

	if (!is_name(unit))
		return WRONG("'%.40s' is no unit, like upi2, and no type", unit);
	for (size_t i = 0; i < site->n_units; i++)
		if (unc_same(site->units[i].unit, unit) && site->units[i].socket == r->socket &&
		    site->units[i].map.clusters == map->clusters)
			return WRONG("%s is given twice", unit);
	if (!UNC_ADD_TO(site->units, site->n_units))
		return unc_no_memory(err);
	site->units[site->n_units - 1] = (struct unc_site_units){unit, r->socket, *map};
	return 0;
}

/* 0,0,-,1 */
static int read_nodes(struct reading *r, struct unc_error *err)
{
	const char *list = unc_section_value(&r->f, "clusters"), *rest = list;
	struct unc_tbl_nodes map = {0};
	uint64_t value, seen = 0;
	char word[8];

	for (unsigned i = 0; rest; i++) {
		if (i == UNC_MAX_PLACES)
			return WRONG("clusters = has more than %d units", UNC_MAX_PLACES);
		if (!unc_list_next(&rest, word, sizeof(word)) ||
		    (strcmp(word, "-") != 0 &&
		     (!unc_parse_number(word, &value) || value >= MAX_CLUSTERS)))
			return WRONG("clusters = %.200s is not a list of clusters 0 to %d, or -",
				     list, MAX_CLUSTERS - 1);
		if (strcmp(word, "-") == 0)
			continue;
		map.cluster[i] = (uint8_t)(value + 1);
		map.clusters = value >= map.clusters ? (uint8_t)(value + 1) : map.clusters;
		seen |= (uint64_t)1 << value;
	}
	if (map.clusters < 2 || seen != unc_ones(map.clusters))
		return WRONG("clusters = %.200s: a map has two clusters or more, and units of each",
			     list);
	return add_units(r, r->f.argument, &map, err);
}

static int read_absent(struct reading *r, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < r->f.n && rc == 0; i++) {
		r->f.at = r->f.set[i].line;
		if (strcmp(r->f.set[i].key, "unit") == 0)
			rc = add_units(r, r->f.set[i].value, &(struct unc_tbl_nodes){0}, err);
	}
	return rc;
}

/* ---- the file */

static int read_section(struct reading *r, struct unc_error *err)
{
	static int (*const read[])(struct reading *, struct unc_error *) = {
		read_group, read_memory, read_nodes, read_absent};
	size_t units = r->site->n_units;
	unsigned begins = r->f.at;
	uint64_t socket = 0;
	const char *text;
	int rc;

	if (r->renamed)
		return WRONG("this file is site.conf now: rename it");
	if (of_other_cpu(r))
		return 0;
	text = unc_section_value(&r->f, "socket");
	if (text && (!unc_parse_number(text, &socket) || socket >= UNC_MAX_SOCKETS))
		return WRONG("socket = %.40s is not a number up to %d; without the line it is each",
			     text, UNC_MAX_SOCKETS - 1);
	r->socket = text ? (int)socket : -1;
	r->f.at = begins;
	if ((rc = read[r->f.rule - rules](r, err)) < 0)
		r->site->n_units = units;
	return rc;
}

/* A mistake is reported once, and its section is ignored. */
static void leave_out(struct reading *r, struct unc_error *err)
{
	const struct unc_section_rule *rule = of_other_cpu(r) ? NULL : r->f.rule;
	struct unc_site_group *g = rule == &rules[GROUP] ? group_of_section(r) : NULL;

	if (!r->site->wrong.n++)
		r->site->wrong.first = *err;
	if (g && !g->why[0])
		strcpy(g->why, err->text);
	if (g)
		g->n_items = 0;
	if ((!r->site->text || r->f.outside || rule == &rules[MEMORY]) && !r->site->peaks.why.code)
		r->site->peaks.why = *err;
	unc_error_clear(err);
}

int unc_site_read(struct unc_platform *p, bool other, struct unc_error *err)
{
	const char *named = unc_variable(p->raised, "UNCORE_SITE");
	struct reading r = {.f = {.has = "site.conf has [group NAME], [memory], [nodes TYPE], "
					 "[absent]",
				  .rules = rules,
				  .old = old_lines},
			    .p = p,
			    .site = &p->site};
	char path[PATH_MAX], old[PATH_MAX];
	int rc;

	if (unc_fs_path(p->fs, path, sizeof(path), "/etc/libuncore/site.conf") < 0 ||
	    unc_fs_path(p->fs, old, sizeof(old), "/etc/libuncore/site.tbl") < 0)
		return unc_fail(err, UNC_ERR_RANGE, "the path of the root is too long");
	r.renamed = !named && access(path, F_OK) < 0 && access(old, F_OK) == 0;
	r.f.path = named ? named : r.renamed ? old : path;
	rc = unc_trust_read(r.f.path, 0, p->raised, &p->site.text, err);
	if (rc == UNC_ERR_NOT_FOUND && !named)
		unc_error_clear(err);
	else if (rc < 0 && rc != UNC_ERR_MEMORY)
		leave_out(&r, err);
	r.f.next = p->site.text;
	while (p->site.text && rc != UNC_ERR_MEMORY && (rc = unc_section_next(&r.f, err)) != 0) {
		if (rc > 0 && (rc = read_section(&r, err)) == UNC_ERR_TABLE)
			unc_section_wrong(&r.f, err);
		if (rc == UNC_ERR_TABLE)
			leave_out(&r, err);
	}
	if (other && !named) { /* the file describes other machines */
		p->site.peaks = (struct unc_site_peaks){.each = 0};
		p->site.n_units = 0;
	}
	return rc == UNC_ERR_MEMORY ? rc : 0;
}

void unc_site_free(struct unc_site *site)
{
	for (size_t i = 0; i < site->n_groups; i++)
		free(site->group[i].item);
	free(site->group);
	free(site->units);
	free(site->text);
}
