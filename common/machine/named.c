/* SPDX-License-Identifier: BSD-3-Clause */
/* PMUs that the kernel names (named.h): which are used, where they are, and the table that they extend. */
#include "machine/named.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/text.h"
#include "host/events.h"
#include "machine/named_rows.h"
#include "uncore.h"

/* ---- which PMUs */

/* "uncore_imc_3" is number 3 of uncore_imc, "cxl_pmu_mem1.0" 1 of cxl_pmu_mem; one of several on a device,
 * "cxl_pmu_mem1.2", of a type of its own. */
static void split_pmu_name(struct unc_named_pmu *pmu)
{
	static const char cxl[] = "cxl_pmu_mem";
	size_t n = strlen(pmu->name);
	int number = -1, which = -1, end = -1;

	while (n && pmu->name[n - 1] >= '0' && pmu->name[n - 1] <= '9')
		n--;
	snprintf(pmu->stem, sizeof(pmu->stem), "%s", pmu->name);
	snprintf(pmu->pattern, sizeof(pmu->pattern), "%s", pmu->name);
	pmu->number = -1;
	if (strncmp(pmu->name, cxl, sizeof(cxl) - 1) == 0 &&
	    sscanf(pmu->name + sizeof(cxl) - 1, "%4d.%4d%n", &number, &which, &end) == 2 &&
	    !pmu->name[sizeof(cxl) - 1 + (size_t)end]) {
		snprintf(pmu->stem, sizeof(pmu->stem), which ? "%s_%d" : "%s", cxl, which);
		snprintf(pmu->pattern, sizeof(pmu->pattern), "%s{n}.%d", cxl, which);
		pmu->number = number;
	} else if (n > 1 && pmu->name[n] && pmu->name[n - 1] == '_' && strlen(pmu->name + n) < 5) {
		pmu->stem[n - 1] = '\0';
		snprintf(pmu->pattern, sizeof(pmu->pattern), "%.*s{n}", (int)n, pmu->name);
		pmu->number = atoi(pmu->name + n);
	}
}

/* Whether the tables have the units of a PMU, by its name or by their type in the discovery table, even if the
 * tables do not let the kernel count on them. */
static bool is_known(const struct unc_table *t, const struct unc_named_pmu *pmu)
{
	int id = -1;

	(void)sscanf(pmu->stem, "uncore_type_%d", &id);
	for (const struct unc_tbl_type *type = t->type; type < t->type + t->n_type; type++) {
		const char *name = unc_tbl_str(t, type->name);

		if ((id >= 0 && type->discovery == id) ||
		    (strncmp(pmu->stem, "uncore_", 7) == 0 && unc_same(pmu->stem + 7, name)))
			return true;
		for (const struct unc_tbl_kernel *k = NULL;
		     (k = UNC_NEXT(t, kernel, type->kernels, k));)
			if (strcmp(unc_tbl_str(t, k->name), pmu->pattern) == 0 ||
			    strcmp(unc_tbl_str(t, k->name), pmu->name) == 0)
				return true;
	}
	return false;
}

static void choose_pmus(struct unc_naming *m, char **names, const struct unc_table *base)
{
	for (; *names && !m->rc; names++) {
		struct unc_named_pmu pmu = {.number = -1}, *row;

		if (!unc_events_pmu(*names) || strlen(*names) >= sizeof(pmu.name))
			continue;
		snprintf(pmu.name, sizeof(pmu.name), "%s", *names);
		split_pmu_name(&pmu);
		if (base && is_known(base, &pmu))
			continue;
		if ((row = UNC_ADD_TO(m->pmu, m->n_pmus)) != NULL)
			*row = pmu;
		else
			unc_named_no_memory(m);
	}
}

/* ---- what one is */

static bool read_type(const struct unc_naming *m, const char *pmu, uint64_t *type)
{
	char text[32];

	return unc_fs_text(m->fs, text, sizeof(text), UNC_NAMED_FOLDER "/%s/type", pmu) == 0 &&
	       unc_parse_number(text, type);
}

/* Reads the types of the PMUs that are not used, once for all. */
static void read_others(struct unc_naming *m, char *const *names)
{
	struct unc_named_other other, *row;

	for (; *names && !m->rc; names++) {
		if (unc_events_pmu(*names) || !read_type(m, *names, &other.type))
			continue;
		other.name = *names;
		if ((row = UNC_ADD_TO(m->other, m->n_others)) != NULL)
			*row = other;
		else
			unc_named_no_memory(m);
	}
}

/* Returns another PMU, which is not used, with the same type number; NULL: none. */
static const char *same_type(const struct unc_naming *m, uint64_t type)
{
	for (size_t i = 0; i < m->n_others; i++)
		if (m->other[i].type == type)
			return m->other[i].name;
	return NULL;
}

static bool read_cpus(struct unc_naming *m, struct unc_named_pmu *pmu)
{
	bool cpus[UNC_MAX_CPUS] = {false};
	unsigned of[UNC_MAX_SOCKETS] = {0};
	char mask[4096];

	if (unc_fs_text(m->fs, mask, sizeof(mask), UNC_NAMED_FOLDER "/%s/cpumask", pmu->name) < 0) {
		unc_named_leave(m, pmu->name, NULL, "its cpumask cannot be read: %s",
				unc_fs_reason(errno));
		return false;
	}
	if (!unc_cpu_list(mask, cpus)) {
		unc_named_leave(m, pmu->name, NULL,
				"its cpumask, '%.40s', is not a list of CPUs like 0,8", mask);
		return false;
	}
	for (int cpu = 0; cpu < UNC_MAX_CPUS; cpu++) {
		int socket = cpus[cpu] ? (int)m->top->cpu_socket[cpu] - 1 : -1;
		uint16_t *row = socket < 0 ? NULL : UNC_ADD_TO(pmu->socket, pmu->n_cpus);

		if (socket < 0)
			continue;
		if (!row) {
			unc_named_no_memory(m);
			return false;
		}
		*row = (uint16_t)socket;
		pmu->per = ++of[socket] > pmu->per ? of[socket] : pmu->per;
	}
	if (!pmu->n_cpus)
		unc_named_leave(m, pmu->name, NULL,
				"its cpumask, '%.40s', has no CPU that is online", mask);
	return pmu->n_cpus > 0;
}

/* Reads the formats as one text, "event=config:0-7\n...", in the order of their names. */
static bool read_format(struct unc_naming *m, struct unc_named_pmu *pmu)
{
	char **names = unc_named_list(m->fs, pmu->name, "/format"), text[8192], bits[80];
	struct unc_buf all = UNC_BUF(text);

	for (char **name = names; name && *name; name++)
		if (unc_fs_text(m->fs, bits, sizeof(bits), UNC_NAMED_FOLDER "/%s/format/%s",
				pmu->name, *name) == 0)
			unc_put(&all, "%s=%s\n", *name, bits);
	free(names);
	if (!all.n || all.n >= all.size)
		unc_named_leave(m, pmu->name, NULL, "its format/ %s",
				all.n ? "is longer than 8191 bytes" : "has no fields");
	else if (!(pmu->format = strdup(text)))
		unc_named_no_memory(m);
	return pmu->format != NULL;
}

static bool is_sound(struct unc_naming *m, struct unc_named_pmu *pmu)
{
	const char *other;
	uint64_t type;

	if (!read_type(m, pmu->name, &type) || type > UINT32_MAX)
		unc_named_leave(m, pmu->name, NULL, "its type is not a number");
	else if (!unc_events_type((uint32_t)type))
		unc_named_leave(m, pmu->name, NULL,
				"its type, %llu, is one of the kernel's own events or of a core",
				(unsigned long long)type);
	else if ((other = same_type(m, type)) != NULL)
		unc_named_leave(m, pmu->name, NULL, "its type, %llu, is that of %s, too",
				(unsigned long long)type, other);
	else if (pmu->number >= UNC_MAX_PLACES)
		unc_named_leave(m, pmu->name, NULL, "its number is above %d", UNC_MAX_PLACES - 1);
	else
		return read_cpus(m, pmu) && read_format(m, pmu);
	return false;
}

/* ---- the table */

static void *copy_rows(struct unc_naming *m, const void *rows, size_t n, size_t size)
{
	size_t room = 1;
	void *copy;

	while (room < n)
		room *= 2; /* as unc_grow() takes it to be */
	if (!n)
		return NULL;
	if (!(copy = malloc(room * size)))
		unc_named_no_memory(m);
	return copy ? memcpy(copy, rows, n * size) : NULL;
}

/* Copies a table with all its arrays. */
static void copy_table(struct unc_naming *m, const struct unc_table *base)
{
	struct unc_table *t = m->t;

	*t = *base;
#define COPY(row)                                                                                  \
	t->row = copy_rows(m, base->row, base->n_##row, sizeof(*t->row));                          \
	t->n_##row = t->row ? base->n_##row : 0;
	UNC_TABLE_ARRAYS(COPY)
#undef COPY
	t->strings = copy_rows(m, base->strings, base->n_strings, 1);
	t->n_strings = t->strings ? base->n_strings : 0;
}

/* Returns what a portable metric means on all CPUs: the shortest description, because the others add details of
 * their CPU. */
static const char *definition(const char *name)
{
	const char *shortest = "";
	struct unc_table t;

	for (size_t i = 0; unc_table_built(i, &t); i++)
		for (const struct unc_tbl_metric *row = t.metric; row < t.metric + t.n_metric;
		     row++) {
			const char *desc = unc_tbl_str(&t, row->desc);

			if (row->type == UNC_NONE &&
			    strcmp(unc_tbl_str(&t, row->name), name) == 0 &&
			    (!*shortest || strlen(desc) < strlen(shortest)))
				shortest = desc;
		}
	return shortest;
}

/* Makes a table for a CPU without one: it has all portable metrics, none available so far. */
static void new_table(struct unc_naming *m)
{
	struct unc_table any, *t = m->t;
	struct unc_tbl_cpuid *cpuid = UNC_NAMED_ROW(m, cpuid);

	cpuid->family = (uint16_t)m->top->family;
	cpuid->models[0] = (uint16_t)m->top->model;
	cpuid->n_models = 1;
	t->discovery = UNC_DISCOVERY_NONE;
	t->strings = calloc(1, 1); /* "" */
	t->n_strings = t->strings != NULL;
	if (!t->strings)
		unc_named_no_memory(m);
	t->name = unc_named_text(m, UNC_CPU_KERNEL);
	t->title = unc_named_text(m, "PMUs that the kernel names");
	for (size_t i = 0; unc_table_built(0, &any) && i < any.n_metric && !m->rc; i++) {
		const struct unc_tbl_metric *from = &any.metric[i];
		const char *name = unc_tbl_str(&any, from->name);
		struct unc_tbl_metric *metric;

		if (from->type != UNC_NONE)
			continue;
		metric = UNC_NAMED_ROW(m, metric);
		*metric = (struct unc_tbl_metric){.type = UNC_NONE, .kind = from->kind};
		metric->name = unc_named_text(m, "%s", name);
		metric->unit = unc_named_text(m, "%s", unc_tbl_str(&any, from->unit));
		metric->desc = unc_named_text(m, "%s", definition(name));
		metric->formula = unc_named_text(m, "0");
		metric->unavailable = unc_named_text(
			m, "this CPU has no tables, and the kernel names no events that tell it");
	}
}

/* ---- all of it */

/* Whether the table has all of a list, "uncore_imc.data_reads,uncore_imc.data_writes". */
static bool has_events(const struct unc_table *t, const char *list)
{
	char text[2 * UNC_KERNEL_NAME], *name;

	while (list && unc_list_next(&list, text, sizeof(text))) {
		uint16_t type, event = UNC_NONE;

		*(name = strchr(text, '.')) = '\0';
		if ((type = unc_find_type(t, text)) != UNC_NONE)
			event = UNC_FIND(t, event, t->type[type].events, name + 1);
		if (event == UNC_NONE)
			return false;
	}
	return true;
}

static void add_named_group(struct unc_naming *m, const char *name, const char *desc,
			    const char *items)
{
	struct unc_tbl_group group = {.items = {(uint16_t)m->t->n_group_item, 0}};
	char item[UNC_KERNEL_NAME];

	while (items && unc_list_next(&items, item, sizeof(item))) {
		for (size_t i = 0; i < m->t->n_metric; i++)
			if (m->t->metric[i].unavailable &&
			    strcmp(unc_tbl_str(m->t, m->t->metric[i].name), item) == 0)
				return;
		UNC_NAMED_ROW(m, group_item)->text = unc_named_text(m, "%s", item);
		group.items.n++;
	}
	group.name = unc_named_text(m, "%s", name);
	group.desc = unc_named_text(m, "%s", desc);
	*UNC_NAMED_ROW(m, group) = group;
}

/* Metrics of the CPU's own tables stay as they are. */
static void add_portable(struct unc_naming *m)
{
	static const struct {
		const char *name, *events, *formula;
	} rows[] = {
#define METRIC(name, events, formula) {name, events, formula},
#define GROUP(name, desc, items)
#include "machine/named.inc"
#undef METRIC
#undef GROUP
	};
	struct unc_table *t = m->t;

	for (size_t i = 0; i < t->n_metric && !m->rc; i++) {
		struct unc_tbl_metric *metric = (struct unc_tbl_metric *)(uintptr_t)&t->metric[i];

		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
			if (metric->type == UNC_NONE && metric->unavailable &&
			    strcmp(unc_tbl_str(t, metric->name), rows[k].name) == 0 &&
			    has_events(t, rows[k].events)) {
				metric->formula = unc_named_text(m, "%s", rows[k].formula);
				metric->unavailable = 0;
			}
	}
}

static void add_groups(struct unc_naming *m)
{
#define METRIC(name, events, formula)
#define GROUP(name, desc, items) add_named_group(m, name, desc, items);
#include "machine/named.inc"
#undef METRIC
#undef GROUP
}

static int compare_found(const void *pa, const void *pb)
{
	const struct unc_named_unit *a = pa, *b = pb;

	return a->type != b->type       ? a->type - b->type
	       : a->socket != b->socket ? a->socket - b->socket
					: a->index - b->index;
}

/* Adds the rows of the PMUs to the table. */
static void make_rows(struct unc_naming *m, char *const *names, const struct unc_table *base)
{
	size_t before;

	if (!(m->t = calloc(1, sizeof(*m->t)))) {
		unc_named_no_memory(m);
		return;
	}
	m->out->table = m->t;
	if (base)
		copy_table(m, base);
	else
		new_table(m);
	before = m->t->n_type;
	read_others(m, names);
	for (size_t i = 0; i < m->n_pmus && !m->rc; i++)
		m->pmu[i].done = !is_sound(m, &m->pmu[i]);
	for (size_t i = 0; i < m->n_pmus && !m->rc; i++)
		if (!m->pmu[i].done)
			unc_named_type(m, i);
	if (m->out->n_units)
		qsort(m->out->unit, m->out->n_units, sizeof(*m->out->unit), compare_found);
	if (!m->rc && m->t->n_type > before) {
		m->t->extended = 1;
		add_portable(m);
		if (!base)
			add_groups(m);
	} else {
		unc_named_drop(m->out);
	}
}

int unc_named_read(const struct unc_fs *fs, const struct unc_topology *top,
		   const struct unc_table *base, struct unc_named *out, struct unc_error *err)
{
	char **names = unc_named_list(fs, "", "");
	struct unc_naming own = {.fs = fs, .top = top, .out = out, .err = err}, *m = &own;

	*out = (struct unc_named){0};
	if (!names)
		return 0; /* a kernel without events */
	choose_pmus(m, names, base);
	if (m->n_pmus && !m->rc)
		make_rows(m, names, base);
	for (size_t i = 0; i < m->n_pmus; i++) {
		free(m->pmu[i].socket);
		free(m->pmu[i].format);
	}
	free(m->pmu);
	free(m->other);
	free(names);
	if (m->rc < 0)
		unc_named_free(out);
	return m->rc;
}

int unc_named_add(const struct unc_named *named, struct unc_instances *instances,
		  struct unc_error *err)
{
	struct unc_instance *all = realloc(instances->unit, (instances->n + named->n_units + 1) *
								    sizeof(*instances->unit));

	if (!all)
		return unc_no_memory(err);
	instances->unit = all;
	for (size_t i = 0; i < named->n_units; i++) {
		const struct unc_named_unit *from = &named->unit[i];
		struct unc_instance *u = &all[instances->n++];

		*u = (struct unc_instance){.type = from->type,
					   .socket = from->socket,
					   .index = from->index,
					   .status_position = -1,
					   .reason = ""};
		for (unsigned part = 0; part < UNC_MAX_PARTS; part++)
			u->part[part].space = UNC_SPACE_NONE;
		u->part[0].exists = true;
		snprintf(u->location, sizeof(u->location), "%s", from->pmu);
		unc_instance_refuse(
			u, "no table knows its registers: access method kernel alone counts it");
	}
	return 0;
}
