/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors for listing: CPU, unit types, units, events, umasks, fields, metrics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode/event.h"
#include "encode/metric.h"
#include "encode/name.h"
#include "encode/schedule.h"
#include "platform/platform.h"
#include "tables/table.h"

struct unc_metric_row {
	struct unc_metric pub;
	char *name, *reason; /* NULL: there is none */
	char **need;         /* canonical texts */
	size_t n_needs;
	bool known; /* needs, passes and availability are known */
};

/* ---- CPUs */

static struct unc_cpu describe_cpu(const struct unc_table *t)
{
	size_t n_kernel = 0;

	for (size_t i = 0; i < t->n_type; i++)
		n_kernel += t->type[i].by_kernel;
	return (struct unc_cpu){
		.name = unc_tbl_str(t, t->name),
		.title = unc_tbl_str(t, t->title),
		.family = t->cpuid->family,
		.models = t->cpuid->models,
		.n_models = t->cpuid->n_models,
		.n_units = t->n_type,
		.n_events = t->n_event,
		.n_umasks = t->n_umask,
		.n_metrics = t->n_metric,
		.steppings = t->cpuid->steppings,
		.n_kernel = n_kernel,
	};
}

/* The compiled-in CPUs, in static storage; described once, for all threads. */
static struct unc_cpu *built_cpu(size_t index)
{
	static struct unc_cpu all[UNC_TABLE_CPUS];

	return &all[index];
}

static void describe_built(void)
{
	struct unc_table table;

	for (size_t i = 0; unc_table_built(i, &table); i++)
		*built_cpu(i) = describe_cpu(&table);
}

const struct unc_cpu *unc_cpu_get(const struct unc_platform *p, size_t index)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)p;
	pthread_once(&once, describe_built);
	return index < UNC_TABLE_CPUS && built_cpu(index)->name ? built_cpu(index) : NULL;
}

/* ---- types and units */

static int describe_types(struct unc_platform *p)
{
	const struct unc_table *t = p->table;

	p->type = calloc(t->n_type + 1, sizeof(*p->type));
	if (!p->type)
		return UNC_ERR_MEMORY;
	for (size_t i = 0; i < t->n_type; i++) {
		const struct unc_tbl_type *type = &t->type[i];

		p->type[i] = (struct unc_type){
			.counters = type->n_counters,
			.name = unc_tbl_str(t, type->name),
			.title = unc_tbl_str(t, type->title),
			.desc = unc_tbl_str(t, type->desc),
			.counter_width = type->width,
			.units_of = unc_type_name(t, unc_type_pool(t, (unsigned)i)),
			.ports = type->ports,
		};
		for (uint32_t k = 0; k < type->counters.n && !type->n_counters; k++)
			p->type[i].counter_width = t->counter[type->counters.first + k].width;
	}
	return 0;
}

static int describe_units(struct unc_platform *p)
{
	p->unit = calloc(p->instances.n + 1, sizeof(*p->unit));
	if (!p->unit)
		return UNC_ERR_MEMORY;
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];

		p->unit[i] = (struct unc_unit){
			.type = &p->type[u->type],
			.socket = u->socket,
			.index = u->index,
			.location = u->location,
			.available = p->access && u->available,
			.reason =
				p->access ? u->reason : "the platform was opened for listing only",
			.access = unc_platform_served(p, i),
		};
		for (unsigned k = 0; k < p->table->n_type; k++) /* the type, and views of it */
			p->type[k].units +=
				p->access && u->available && unc_type_pool(p->table, k) == u->type;
	}
	return 0;
}

/* ---- events: described at the first request */

/* The base event as text, without the arguments that the event needs. */
static size_t base_text(const struct unc_table *t, size_t event, char *buf, size_t size)
{
	const struct unc_tbl_event *e = &t->event[event];

	return (size_t)snprintf(buf, size, "%s.%s", unc_type_name(t, e->type),
				unc_tbl_str(t, e->name)) +
	       1;
}

static bool needs_umask(const struct unc_table *t, const struct unc_tbl_event *e)
{
	for (uint32_t i = 0; i < e->umasks.n; i++)
		if (t->umask[e->umasks.first + i].flags & UNC_UMASK_DEFAULT)
			return false;
	return e->umasks.n > 0;
}

static struct unc_event *describe_event(const struct unc_table *t, size_t i)
{
	const struct unc_tbl_event *e = &t->event[i];
	size_t size = base_text(t, i, NULL, 0);
	struct unc_event *event = malloc(sizeof(*event) + size);
	char *text = (char *)(event + 1);

	if (!event)
		return NULL;
	base_text(t, i, text, size);
	*event = (struct unc_event){
		.type = unc_type_name(t, e->type),
		.name = unc_tbl_str(t, e->name),
		.spec = text,
		.desc = unc_tbl_str(t, e->desc),
		.n_umasks = e->umasks.n,
		.needs_umask = needs_umask(t, e),
		.aggregate = (enum unc_aggregate)e->aggregate,
		.free_running = e->counters == 0,
		.guide = e->guide ? unc_tbl_str(t, t->folder) : "",
	};
	return event;
}

/* Thread safe: if two threads race, one description is kept and the other freed. */
const struct unc_event *unc_event_get(const struct unc_platform *p, size_t index)
{
	struct unc_event *event, *none = NULL;

	if (index >= p->table->n_event)
		return NULL;
	event = atomic_load(&p->event[index]);
	if (event || !(event = describe_event(p->table, index)))
		return event;
	if (atomic_compare_exchange_strong(&p->event[index], &none, event))
		return event;
	free(event);
	return none;
}

/* ---- umasks and fields: described at the first request */

static struct unc_umask *describe_umasks(const struct unc_table *t)
{
	struct unc_umask *all = calloc(t->n_umask + 1, sizeof(*all));

	for (size_t i = 0; all && i < t->n_umask; i++) {
		const struct unc_tbl_umask *u = &t->umask[i];

		all[i] = (struct unc_umask){
			.name = unc_tbl_str(t, u->name),
			.desc = unc_tbl_str(t, u->desc),
			.standalone = !(u->flags & UNC_UMASK_PARTIAL),
			.combinable = !(u->flags & UNC_UMASK_EXACT),
			.reason = unc_tbl_str(t, u->unavailable),
			.guide = u->flags & UNC_UMASK_GUIDE ? unc_tbl_str(t, t->folder) : "",
		};
	}
	return all;
}

/* Makes two for each field: for events that can do without it, and for events that need it. */
static struct unc_field *describe_fields(const struct unc_table *t)
{
	struct unc_field *all = calloc(2 * t->n_field + 1, sizeof(*all));

	for (size_t i = 0; all && i < 2 * t->n_field; i++) {
		const struct unc_tbl_field *f = &t->field[i / 2];

		all[i] = (struct unc_field){
			.name = unc_tbl_str(t, f->name),
			.desc = unc_tbl_str(t, f->desc),
			.max = unc_field_max(f),
			.min = f->min,
			.width = (uint8_t)unc_field_width(f),
			.needed = i % 2,
		};
	}
	return all;
}

/* Describes lazily, so it changes a platform that is constant to the caller. In a forked process a
 * thread that is not there may hold the lock: nothing is described there. */
static bool described(const struct unc_platform *constant)
{
	struct unc_platform *p = (struct unc_platform *)(uintptr_t)constant;
	bool done;

	if (!unc_platform_here(p))
		return p->umask && p->field;
	pthread_mutex_lock(&p->lock);
	if (!p->umask)
		p->umask = describe_umasks(p->table);
	if (!p->field)
		p->field = describe_fields(p->table);
	done = p->umask && p->field;
	pthread_mutex_unlock(&p->lock);
	return done;
}

const struct unc_field *unc_describe_field(const struct unc_platform *p, uint16_t field,
					   bool needed)
{
	return described(p) ? &p->field[2 * field + needed] : NULL;
}

/* ---- metrics */

static int describe_metrics(struct unc_platform *p)
{
	const struct unc_table *t = p->table;

	p->metric = calloc(t->n_metric + 1, sizeof(*p->metric));
	if (!p->metric)
		return UNC_ERR_MEMORY;
	for (unsigned i = 0; i < t->n_metric; i++) {
		const struct unc_tbl_metric *m = &t->metric[i];
		const struct unc_name name = UNC_NAME_ALL((int)i);
		struct unc_metric_row *row = &p->metric[i];
		char text[UNC_SPEC_MAX];

		unc_name_format(t, &name, text, sizeof(text));
		if (!(row->name = strdup(text)))
			return UNC_ERR_MEMORY;
		row->pub = (struct unc_metric){
			.name = row->name,
			.of = m->type == UNC_NONE ? "portable" : unc_type_name(t, m->type),
			.formula = unc_tbl_str(t, m->formula),
			.unit = unc_tbl_str(t, m->unit),
			.kind = (enum unc_metric_kind)m->kind,
			.desc = unc_tbl_str(t, m->desc),
			.reason = "",
		};
	}
	return 0;
}

int unc_describe_counts(const struct unc_platform *p, const struct unc_code *code,
			struct unc_error *err)
{
	const char *name = unc_type_name(p->table, code->type);
	struct unc_error first = {0}, why = {0};
	struct unc_kernel_code kernel = {0};

	if (!p->access)
		return 0;
	for (size_t i = 0; i < p->instances.n; i++) {
		if (p->instances.unit[i].type != unc_type_pool(p->table, code->type))
			continue;
		if (unc_platform_methods(p, i, code, &kernel, &why))
			return 0;
		first = first.code ? first : why;
	}
	return unc_fail(err, UNC_ERR_UNAVAILABLE, "no %s unit can be read: %.400s", name,
			first.code ? first.text : "the machine has none");
}

/* Encodes the events of the formula; fills needs and passes, or the reason. */
static int study_formula(struct unc_platform *p, struct unc_metric_row *row,
			 const struct unc_expr *expr, struct unc_code *code, struct unc_error *why)
{
	size_t n = unc_expr_refs(expr);
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		const char *event = unc_expr_ref(expr, i)->event;
		struct unc_spec spec;
		bool twice = false;

		if (unc_spec_parse(p->table, event, &spec, why) < 0 ||
		    unc_spec_encode(p->table, &spec, 0, unc_platform_nodes(p), &code[i], why) < 0)
			return why->code;
		/* The same event may occur with two aggregates. */
		for (size_t k = 0; k < row->n_needs; k++)
			twice |= strcmp(row->need[k], event) == 0;
		if (!twice && (row->need[row->n_needs] = strdup(event)))
			row->n_needs++;
		if (rc == 0) /* the other events are needed as well */
			rc = unc_describe_counts(p, &code[i], why);
	}
	if (rc == 0)
		row->pub.passes = n ? unc_schedule_passes(p->table, code, n) : 1;
	return rc;
}

static void study_metric(struct unc_platform *p, unsigned i, struct unc_error *why)
{
	struct unc_metric_row *row = &p->metric[i];
	const struct unc_tbl_metric *m = &p->table->metric[i];
	struct unc_code *code;
	struct unc_expr *expr;
	double peak;
	int rc;

	if (m->unavailable)
		unc_fail(why, UNC_ERR_UNAVAILABLE, "%s", unc_tbl_str(p->table, m->unavailable));
	if (why->code || unc_formula_parse(p->table, i, unc_platform_lacks, p, &expr, why) < 0)
		return;
	code = calloc(unc_expr_refs(expr) + 1, sizeof(*code));
	row->need = calloc(unc_expr_refs(expr) + 1, sizeof(*row->need));
	rc = code && row->need ? study_formula(p, row, expr, code, why) : unc_no_memory(why);
	if (rc == 0 && p->access && unc_expr_uses(expr) & UNC_EXPR_MEMORY_PEAK)
		rc = unc_peak_of(p, -1, &peak, why);
	row->pub.available = rc == 0;
	row->pub.passes = rc == 0 ? row->pub.passes : 0;
	free(code);
	unc_expr_free(expr);
}

/* Studies a metric at the first request: listing events does not pay for it. */
static void know_metric(struct unc_platform *p, unsigned i)
{
	struct unc_metric_row *row = &p->metric[i];
	struct unc_error why = {0};

	study_metric(p, i, &why);
	if (why.code && (row->reason = strdup(why.text)))
		row->pub.reason = row->reason;
	else if (why.code)
		row->pub.reason = "out of memory";
	row->known = true;
}

static struct unc_metric_row *known_metric(const struct unc_platform *p, size_t index)
{
	struct unc_platform *own = (struct unc_platform *)(uintptr_t)p;

	if (index >= p->table->n_metric)
		return NULL;
	if (!unc_platform_here(p)) /* as in described() */
		return p->metric[index].known ? &own->metric[index] : NULL;
	pthread_mutex_lock(&own->lock);
	if (!own->metric[index].known)
		know_metric(own, (unsigned)index);
	pthread_mutex_unlock(&own->lock);
	return &own->metric[index];
}

/* ---- */

int unc_describe(struct unc_platform *p, struct unc_error *err)
{
	p->event = calloc(p->table->n_event + 1, sizeof(*p->event));
	p->cpu = describe_cpu(p->table);
	if (!p->event || describe_types(p) < 0 || describe_units(p) < 0 || describe_metrics(p) < 0)
		return unc_no_memory(err);
	return 0;
}

void unc_describe_free(struct unc_platform *p)
{
	for (size_t i = 0; p->metric && i < p->table->n_metric; i++) {
		for (size_t k = 0; k < p->metric[i].n_needs; k++)
			free(p->metric[i].need[k]);
		free(p->metric[i].need);
		free(p->metric[i].name);
		free(p->metric[i].reason);
	}
	free(p->metric);
	free(p->field);
	free(p->umask);
	for (size_t i = 0; p->event && i < p->table->n_event; i++)
		free(atomic_load(&p->event[i]));
	free(p->event);
	free(p->unit);
	free(p->type);
}

const struct unc_cpu *unc_platform_cpu(const struct unc_platform *p)
{
	return &p->cpu;
}

const struct unc_type *unc_type_get(const struct unc_platform *p, size_t index)
{
	return index < p->table->n_type ? &p->type[index] : NULL;
}

const struct unc_unit *unc_unit_get(const struct unc_platform *p, size_t index)
{
	return index < p->instances.n ? &p->unit[index] : NULL;
}

const struct unc_umask *unc_umask_get(const struct unc_platform *p, size_t event, size_t index)
{
	const struct unc_table *t = p->table;

	if (event >= t->n_event || index >= t->event[event].umasks.n || !described(p))
		return NULL;
	return &p->umask[t->event[event].umasks.first + index];
}

const struct unc_field *unc_field_get(const struct unc_platform *p, size_t event, size_t index)
{
	bool needed;
	uint16_t field;

	if (event >= p->table->n_event)
		return NULL;
	field = unc_event_field(p->table, (unsigned)event, index, &needed);
	return field == UNC_NONE ? NULL : unc_describe_field(p, field, needed);
}

const struct unc_field *unc_event_need(const struct unc_platform *p, size_t event, int umask,
				       size_t index)
{
	const struct unc_table *t = p->table;
	uint16_t with = UNC_NONE, field;
	bool needed;

	if (event >= t->n_event || umask >= (int)t->event[event].umasks.n)
		return NULL;
	if (umask >= 0)
		with = (uint16_t)(t->event[event].umasks.first + (unsigned)umask);
	for (size_t i = 0; (field = unc_event_field(t, (unsigned)event, i, &needed)) != UNC_NONE;
	     i++)
		if (unc_event_needs(t, (unsigned)event, with, field) && index-- == 0)
			return unc_describe_field(p, field, true);
	return NULL;
}

const struct unc_metric *unc_metric_get(const struct unc_platform *p, size_t index)
{
	struct unc_metric_row *row = known_metric(p, index);

	return row ? &row->pub : NULL;
}

const char *unc_metric_need(const struct unc_platform *p, size_t metric, size_t index)
{
	struct unc_metric_row *row = known_metric(p, metric);

	return row && index < row->n_needs ? row->need[index] : NULL;
}
