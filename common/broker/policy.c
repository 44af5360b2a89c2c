/* SPDX-License-Identifier: BSD-3-Clause */
/* What a site allows: which events, on which units, and how much of them a user may have. */
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>

#include "base/sections.h"
#include "base/text.h"
#include "broker/broker.h"
#include "encode/expr.h"
#include "encode/kernel.h"
#include "encode/metric.h"
#include "encode/name.h"
#include "host/trust.h"

enum { ALLOW, CONNECT, LIMIT };
static const struct unc_section_rule rules[] = {
	[ALLOW] = {"allow", false, {{"groups"}, {"units", true}}},
	[CONNECT] = {"connect", false, {{"groups"}}},
	[LIMIT] = {"limit", false, {{"descriptors"}, {"connections"}, {"requests"}, {"sets"}}},
	{0},
};
static const struct unc_section_old old_lines[] = {
	{"allow", "[allow], groups = GROUP,.., units = TYPE,.."},
	{"connect", "[connect], groups = NAME,.."},
	{"limit", "[limit], descriptors = N, connections = N, requests = N"},
	{0},
};

static const char defaults[] =
	"[allow]\ngroups = MEM,LINK,PCIE\nunits = imc,mc,mchbm,qpi,upi,iio\n";
static const char of_fields[] = "only root may choose the values of filters";

enum { LONGEST_NAME = 64 };

struct reading {
	const struct unc_table *t;
	int sockets;
	struct policy *out;
	struct unc_buf told;
	bool allows; /* the file has a section [allow] */
};

/* ---- events of the tables */

/* Whether the words contain an event (NULL: any event) of a PMU; ignored: bits not compared. */
static bool is_among(const struct policy *p, uint16_t type, unsigned pmu,
		     const struct unc_kernel_event *e, uint64_t ignored)
{
	for (const struct word *w = p->word; w < p->word + p->n_words; w++)
		if (w->type == type && w->pmu == pmu &&
		    (!e || (!((w->event.config ^ e->config) & ~ignored) &&
			    w->event.config1 == e->config1 && w->event.config2 == e->config2)))
			return true;
	return false;
}

/* Adds an event on each socket, if the driver has it. filtered: only if it sets a filter, or has its own counter. */
static int add_spec(struct reading *r, const struct unc_spec *spec, bool filtered,
		    struct unc_error *err)
{
	struct unc_kernel_code k;
	struct unc_code code;

	for (int socket = 0; socket < r->sockets; socket++) {
		if (unc_spec_encode(r->t, spec, socket, r->sockets, &code, NULL) < 0 ||
		    unc_kernel_encode(r->t, &code, &k, NULL) < 0 ||
		    (filtered && !k.config1 && !k.config2 && code.counter == UNC_NONE))
			continue;
		const struct unc_kernel_event e = {k.config, k.config1, k.config2};

		if (is_among(r->out, spec->type, k.pmu, &e, 0))
			continue;
		if (r->out->n_words == MAX_WORDS)
			return unc_fail(err, UNC_ERR_TABLE, "more than %d events", MAX_WORDS);
		r->out->word[r->out->n_words++] = (struct word){spec->type, k.pmu, e};
	}
	return 0;
}

/* Adds the events of a metric that belong to these types. */
static int add_metric_events(struct reading *r, unsigned metric, const bool *types, bool filtered,
			     struct unc_error *err)
{
	struct unc_expr *formula;
	struct unc_spec spec;
	int rc = 0;

	if (unc_formula_parse(r->t, metric, NULL, NULL, &formula, NULL) < 0)
		return 0; /* this CPU lacks the metric */
	for (size_t i = 0; i < unc_expr_refs(formula) && rc == 0; i++)
		if (unc_spec_parse(r->t, unc_expr_ref(formula, i)->event, &spec, NULL) == 0 &&
		    types[spec.type])
			rc = add_spec(r, &spec, filtered, err);
	unc_expr_free(formula);
	return rc;
}

static int add_group_events(struct reading *r, const struct unc_tbl_group *g, const bool *types,
			    struct unc_error *err)
{
	struct unc_name name;
	int rc = 0;

	for (uint32_t i = g->items.first; i < g->items.first + g->items.n && rc == 0; i++)
		if (unc_name_parse(r->t, unc_tbl_str(r->t, r->t->group_item[i].text), &name, NULL))
			continue;
		else if (name.metric >= 0)
			rc = add_metric_events(r, (unsigned)name.metric, types, false, err);
		else if (types[name.spec.type])
			rc = add_spec(r, &name.spec, false, err);
	return rc;
}

/* Adds events whose filters the tables set: each event alone and with each umask, and those of metrics. */
static int add_filtered(struct reading *r, const bool *types, struct unc_error *err)
{
	const struct unc_table *t = r->t;
	int rc = 0;

	for (size_t i = 0; i < t->n_event && rc == 0; i++) {
		const struct unc_tbl_event *e = &t->event[i];
		struct unc_spec spec = {
			.type = e->type, .event = (uint16_t)i, .index = -1, .socket = -1};

		for (uint32_t u = 0; u <= e->umasks.n && types[e->type] && rc == 0; u++) {
			spec.n_umasks = u > 0;
			spec.umask[0] = (uint16_t)(e->umasks.first + u - 1);
			rc = add_spec(r, &spec, true, err);
		}
	}
	for (size_t i = 0; i < t->n_metric && rc == 0; i++)
		rc = add_metric_events(r, (unsigned)i, types, true, err);
	return rc;
}

/* ---- sections */

/* The row of a unit type, or of a group, in the tables of a CPU. */
static uint16_t find_row(const struct unc_table *t, const char *name, bool group)
{
	return group ? UNC_FIND(t, group, ((struct unc_range){0, (uint16_t)t->n_group}), name)
		     : unc_find_type(t, name);
}

/* Reads the next unit type or group. *row: UNC_NONE if only another CPU has it: a site has one file for all. */
static int next_row(const struct reading *r, const char **list, bool group, uint16_t *row,
		    struct unc_error *err)
{
	char name[LONGEST_NAME] = "";
	struct unc_table t;
	bool known = false;

	if (unc_list_next(list, name, sizeof(name)))
		known = find_row(r->t, name, group) != UNC_NONE || (!group && unc_events_pmu(name));
	if (*name)
		for (size_t i = 0; !known && unc_table_built(i, &t); i++)
			known = find_row(&t, name, group) != UNC_NONE;
	*row = find_row(r->t, name, group);
	if (known)
		return 0;
	return unc_fail(
		err, UNC_ERR_TABLE,
		"%s = %s: the tables of no CPU have such %s; 'uncore %s' lists those of this CPU",
		group ? "groups" : "units", name, group ? "a group" : "units",
		group ? "groups" : "list");
}

static int read_allow(struct reading *r, struct unc_sections *f, struct unc_error *err)
{
	const char *units = unc_section_value(f, "units"), *groups, *list = units;
	bool types[MAX_TYPES] = {false};
	uint16_t row;
	int rc = 0;

	r->allows = true;
	while (list && rc == 0)
		if ((rc = next_row(r, &list, false, &row, err)) == 0 && row < MAX_TYPES)
			types[row] = true;
	if (rc < 0)
		return rc;
	groups = list = unc_section_value(f, "groups");
	while (list && rc == 0)
		if ((rc = next_row(r, &list, true, &row, err)) == 0 && row != UNC_NONE)
			rc = add_group_events(r, &r->t->group[row], types, err);
	for (size_t i = 0; !groups && i < MAX_TYPES; i++)
		r->out->all[i] |= types[i];
	unc_put(&r->told, "%s%s%s%s", r->told.n ? "; " : "", groups ? groups : "all events", " on ",
		units);
	return rc < 0 || groups ? rc : add_filtered(r, types, err);
}

static int read_connect(struct reading *r, struct unc_sections *f, struct unc_error *err)
{
	const char *list = unc_section_value(f, "groups");
	char name[LONGEST_NAME] = "";
	struct group *group;

	while (list) {
		if (!unc_list_next(&list, name, sizeof(name)) || !(group = getgrnam(name)))
			return unc_fail(err, UNC_ERR_TABLE,
					"groups = %s: there is no such group of users", name);
		if (r->out->n_groups == MAX_GROUPS)
			return unc_fail(err, UNC_ERR_TABLE, "more than %d groups", MAX_GROUPS);
		r->out->group[r->out->n_groups++] = group->gr_gid;
	}
	return 0;
}

static int read_limits(struct unc_sections *f, struct policy *p, struct unc_error *err)
{
	const struct {
		const char *key;
		uint32_t most, *out;
	} limits[] = {{"descriptors", 65536, &p->descriptors},
		      {"connections", MAX_CONNECTIONS / SHARE, &p->connections},
		      {"requests", 1000000, &p->requests},
		      {"sets", 64, &p->sets}};
	uint64_t value;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const char *text = unc_section_value(f, limits[i].key);

		if (!text)
			continue;
		if (!unc_parse_number(text, &value) || !value || value > limits[i].most)
			return unc_fail(err, UNC_ERR_TABLE, "%s = %s is not a number from 1 to %u",
					limits[i].key, text, limits[i].most);
		*limits[i].out = (uint32_t)value;
	}
	return 0;
}

static int read_text(struct reading *r, const char *path, char *text, struct unc_error *err)
{
	struct unc_sections f = {.path = path,
				 .has = "a policy has [allow], [connect], [limit]",
				 .rules = rules,
				 .old = old_lines,
				 .next = text};
	int rc;

	while ((rc = unc_section_next(&f, err)) > 0) {
		rc = f.rule == &rules[ALLOW]   ? read_allow(r, &f, err)
		     : f.rule == &rules[LIMIT] ? read_limits(&f, r->out, err)
					       : read_connect(r, &f, err);
		if (rc < 0)
			return unc_section_wrong(&f, err);
	}
	return rc;
}

int policy_read(const char *path, const struct unc_table *t, int sockets, struct policy *out,
		struct unc_error *err)
{
	static struct policy read;
	struct reading r = {.t = t, .sockets = sockets, .out = &read};
	char text[sizeof(defaults)], *file;
	int rc;

	read = (struct policy){.descriptors = 2048,
			       .connections = MAX_CONNECTIONS / SHARE,
			       .requests = 2000,
			       .sets = 2};
	r.told = UNC_BUF(read.told);
	rc = unc_trust_read(path, O_NOFOLLOW, true, &file, err);
	if (rc == 0) {
		rc = read_text(&r, path, file, err);
		free(file);
	} else if (rc == UNC_ERR_NOT_FOUND) {
		unc_error_clear(err);
		rc = 0;
	}
	if (rc == 0 && !r.allows)
		rc = read_text(&r, "defaults", strcpy(text, defaults), err);
	if (rc == 0)
		*out = read;
	return rc;
}

/* ---- questions */

/* Whether a unit of a type has this PMU. */
static bool is_pmu_of_type(const struct unc_table *t, unsigned type, unsigned pmu, const char *name)
{
	const char *pattern = unc_tbl_str(t, t->kernel[t->type[type].kernels.first + pmu].name);
	char buf[UNC_KERNEL_NAME];

	if (strncmp(name, pattern, strcspn(pattern, "{")) != 0 &&
	    strncmp(name, "uncore_type_", 12) != 0)
		return false;
	for (unsigned index = 0; index < UNC_MAX_PLACES; index++)
		if ((unc_kernel_pmu(t, type, pmu, index, buf, sizeof(buf)) &&
		     strcmp(buf, name) == 0) ||
		    (unc_kernel_typed(t, type, pmu, index, buf, sizeof(buf)) &&
		     strcmp(buf, name) == 0))
			return true;
	return false;
}

/* Bits of a control that switch a filter on: with such a bit, even a filter of 0 selects. */
static uint64_t filter_switches(const struct unc_table *t, const struct unc_tbl_type *type)
{
	uint64_t bits = 0;

	for (const struct unc_tbl_field *f = NULL; (f = UNC_NEXT(t, field, type->fields, f));)
		if (f->reg[0] != UNC_NONE)
			bits |= unc_sets_bits(t, &f->with, UNC_NONE);
	return bits;
}

/* Whether a PMU carries these bits, and users may choose them. */
static int check_bits(const struct unc_table *t, uid_t uid, uint16_t type, unsigned pmu,
		      const struct unc_kernel_event *e, struct unc_error *err)
{
	const struct unc_tbl_kernel *k = &t->kernel[t->type[type].kernels.first + pmu];

	if (k->free)
		return unc_fail(err, UNC_ERR_PERMISSION, "no such free-running counter is known");
	if (e->config & ~(k->bits | k->named))
		return unc_fail(err, UNC_ERR_INVALID,
				"config=0x%llx has bits that its driver does not carry",
				(unsigned long long)e->config);
	if (uid && (e->config1 || e->config2 || e->config & filter_switches(t, &t->type[type])))
		return unc_fail(err, UNC_ERR_PERMISSION, "%s", of_fields);
	return 0;
}

int policy_allows(const struct policy *p, const struct unc_table *t, uid_t uid, const char *name,
		  const struct unc_kernel_event *e, const struct unc_kernel_event *known,
		  uint16_t *type, struct unc_error *err)
{
	bool found = false, all = false;

	if (e && ((e->config & ~known->config) || (e->config1 & ~known->config1) ||
		  (e->config2 & ~known->config2)))
		return unc_fail(err, UNC_ERR_INVALID,
				"config=0x%llx,config1=0x%llx,config2=0x%llx has bits that the "
				"kernel's format of the PMU does not name",
				(unsigned long long)e->config, (unsigned long long)e->config1,
				(unsigned long long)e->config2);
	for (uint16_t i = 0; i < t->n_type; i++)
		for (unsigned pmu = 0; pmu < t->type[i].kernels.n; pmu++) {
			if (!is_pmu_of_type(t, i, pmu, name))
				continue;
			found = true;
			*type = i;
			if (is_among(p, i, pmu, e,
				     p->all[i] ? unc_type_modifiers(t, &t->type[i]) : 0) ||
			    (p->all[i] && (!e || check_bits(t, uid, i, pmu, e, err) == 0))) {
				unc_error_clear(err);
				return 0;
			}
			all |= p->all[i];
		}
	if (all)
		return err->code;
	if (!found)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "the tables of %s name no such PMU",
				unc_tbl_str(t, t->name));
	return unc_fail(err, UNC_ERR_PERMISSION,
			"the broker of this site allows %s; an administrator allows more in its "
			"policy (uncored(8))",
			p->told);
}
