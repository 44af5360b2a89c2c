/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs of columns.cases that need no machine: what is listed. */
#include <stdlib.h>

#include "columns_world.h"
#include "encode/kernel.h"
#include "suite.h"

void world_refuse(struct world *w, const char *sentence)
{
	unc_put(&w->out, "refused: %s", sentence);
	w->failed = true;
}

/* A blank, but at the beginning of what a command says. */
void world_blank(struct world *w)
{
	if (w->out.n && w->out.n < w->out.size && w->out.text[w->out.n - 1] != ' ')
		unc_put(&w->out, " ");
}

void world_say_word(struct world *w, const char *word)
{
	world_blank(w);
	unc_put(&w->out, "%s", word);
}

void world_say_number(struct world *w, const char *name, uint64_t value)
{
	world_blank(w);
	unc_put(&w->out, "%s=%s%llx", name, value > 9 ? "0x" : "", (unsigned long long)value);
}

static const char *aggregate_name(enum unc_aggregate a)
{
	static const char *const names[] = {"sum", "max", "one", "socket"};

	return names[a];
}

/* encode SPEC */
void world_encode(struct world *w)
{
	struct unc_encoding e = {.size = sizeof(e)};

	if (unc_event_encode(w->p, w->word[1], &e) < 0) {
		world_refuse(w, unc_platform_error(w->p));
		return;
	}
	unc_put(&w->out, "%s", e.name);
	world_say_number(w, "ctl", e.ctl);
	if (e.counter)
		unc_put(&w->out, " counter=%s", e.counter);
	else
		world_say_number(w, "counters", e.counters);
	for (size_t i = 0; i < e.n_filters; i++)
		world_say_number(w, e.filters[i].reg, e.filters[i].value);
	unc_put(&w->out, " aggregate=%s", aggregate_name(e.aggregate));
}

/* kernel SPEC: what the kernel's driver is given */
void world_kernel(struct world *w)
{
	const struct unc_table *t = w->p->table;
	struct unc_kernel_code k;
	struct unc_error err = {0};
	struct unc_spec spec;
	struct unc_code code;
	char name[UNC_KERNEL_NAME];

	if (unc_spec_parse(t, w->word[1], &spec, &err) < 0 ||
	    unc_spec_encode(t, &spec, 0, 2, &code, &err) < 0 ||
	    unc_kernel_encode(t, &code, &k, &err) < 0) {
		world_refuse(w, err.text);
		return;
	}
	bool found = unc_kernel_pmu(t, code.type, k.pmu, spec.index < 0 ? 0 : (unsigned)spec.index,
				    name, sizeof(name));
	unc_put(&w->out, "%s", found ? name : "no PMU");
	world_say_number(w, "config", k.config);
	world_say_number(w, "config1", k.config1);
	world_say_number(w, "config2", k.config2);
}

/* decode TYPE REG=VALUE... */
void world_decode(struct world *w)
{
	struct unc_register_value value[MAX_WORDS];
	char text[UNC_SPEC_MAX];
	size_t n = 0;

	for (size_t i = 2; i < MAX_WORDS && *w->word[i]; i++) {
		char *equals = strchr(w->word[i], '=');

		CU_ASSERT_PTR_NOT_NULL_FATAL(equals);
		*equals = '\0';
		value[n++] = (struct unc_register_value){w->word[i], strtoull(equals + 1, NULL, 0)};
	}
	if (unc_event_decode(w->p, w->word[1], value, n, sizeof(*value), text, sizeof(text)) < 0)
		world_refuse(w, unc_platform_error(w->p));
	else
		unc_put(&w->out, "%s", text);
}

static int say_field(void *user, const struct unc_field *f, uint64_t value)
{
	world_say_number(user, f->name, value);
	return 0;
}

/* fields TYPE REG VALUE */
void world_fields(struct world *w)
{
	if (unc_register_decode(w->p, w->word[1], w->word[2], strtoull(w->word[3], NULL, 0),
				say_field, w) < 0)
		world_refuse(w, unc_platform_error(w->p));
}

static int say_register(void *user, const struct unc_register *r)
{
	struct world *w = user;

	if (strcmp(r->unit, w->word[1]) != 0 || strcmp(r->name, w->word[3]) != 0 ||
	    (unsigned)r->index != strtoul(w->word[2], NULL, 10))
		return 0;
	unc_put(&w->out, "%s 0x%llx %d", r->space, (unsigned long long)r->address, r->width);
	if (r->device)
		unc_put(&w->out, " %s %04x", r->device, r->device_id);
	if (r->bar)
		unc_put(&w->out, " %s", r->bar);
	return 1;
}

/* register TYPE INDEX REG */
void world_register(struct world *w)
{
	if (unc_register_walk(w->p, say_register, w) == 0)
		world_refuse(w, "no such register");
}

static const struct unc_type *type_of(struct world *w)
{
	const struct unc_type *t;

	for (size_t i = 0; (t = unc_type_get(w->p, i)) != NULL; i++)
		if (strcmp(t->name, w->word[1]) == 0)
			return t;
	world_refuse(w, "no such type");
	return NULL;
}

/* type TYPE */
void world_type(struct world *w)
{
	const struct unc_type *t = type_of(w);

	if (t)
		unc_put(&w->out, "%s: %s; %d counters of %d bits of %s", t->title, t->desc,
			t->counters, t->counter_width, t->units_of);
}

/* event TYPE.EVENT: its text, what it takes, its umasks */
void world_event(struct world *w)
{
	const struct unc_event *e;
	const struct unc_umask *u;
	const struct unc_field *f;
	size_t i = 0;

	while ((e = unc_event_get(w->p, i)) != NULL && strcmp(e->spec, w->word[1]) != 0)
		i++;
	if (!e) {
		world_refuse(w, "no such event");
		return;
	}
	unc_put(&w->out, "%s; takes", e->desc);
	for (size_t k = 0; (f = unc_field_get(w->p, i, k)) != NULL; k++)
		unc_put(&w->out, " %s (%s, %s%llu to %llu)", f->name, f->desc,
			f->needed ? "needed, " : "", (unsigned long long)f->min,
			(unsigned long long)f->max);
	if (*e->guide)
		unc_put(&w->out, "; by the guide of %s", e->guide);
	for (size_t k = 0; (u = unc_umask_get(w->p, i, k)) != NULL; k++)
		unc_put(&w->out, "; %s (%s%s%s%s%s%s)", u->name, u->desc,
			u->combinable ? "" : ", alone", u->standalone ? "" : ", not alone",
			u->reason, *u->guide ? ", by the guide of " : "", u->guide);
}

/* metric NAME */
void world_metric(struct world *w)
{
	const struct unc_metric *m;
	const char *name;

	for (size_t i = 0; (m = unc_metric_get(w->p, i)) != NULL; i++) {
		if (strcmp(m->name, w->word[1]) != 0)
			continue;
		unc_put(&w->out, "%s, %s %s: %s", m->desc,
			m->kind == UNC_METRIC_TOTAL ? "total" : "gauge", m->unit, m->reason);
		for (size_t k = 0; (name = unc_metric_need(w->p, i, k)) != NULL; k++)
			unc_put(&w->out, " %s", name);
		return;
	}
	world_refuse(w, "no such metric");
}

/* eval METRIC EVENT=VALUE... */
void world_eval(struct world *w)
{
	struct unc_count count[MAX_WORDS];
	size_t n = 0;
	double value;

	for (size_t i = 2; i < MAX_WORDS && *w->word[i]; i++) {
		char *equals = strrchr(w->word[i], '=');

		CU_ASSERT_PTR_NOT_NULL_FATAL(equals);
		*equals = '\0';
		count[n++] = (struct unc_count){w->word[i], strtod(equals + 1, NULL)};
	}
	if (unc_metric_eval(w->p, w->word[1], count, n, sizeof(*count), &value) < 0)
		world_refuse(w, unc_platform_error(w->p));
	else
		unc_put(&w->out, "%.10g", value);
}

/* cpu */
void world_cpu(struct world *w)
{
	const struct unc_cpu *c = unc_platform_cpu(w->p);

	unc_put(&w->out, "%s, family %d, models", c->title, c->family);
	for (size_t i = 0; i < c->n_models; i++)
		unc_put(&w->out, " 0x%x", (unsigned)c->models[i]);
}

/* name CPU: which CPU is called so */
void world_name(struct world *w)
{
	struct unc_options options = {
		.size = sizeof(options), .tables = w->tables, .cpu = w->word[1]};
	struct unc_platform *p;

	if (unc_platform_open(&options, &p) < 0) {
		world_refuse(w, unc_open_error());
		return;
	}
	unc_put(&w->out, "%s", unc_platform_cpu(p)->title);
	unc_platform_close(p);
}

/* open FAMILY MODEL STEPPING: which CPU this is */
void world_open(struct world *w)
{
	struct unc_options options = {.size = sizeof(options), .tables = w->tables, .sim = ""};
	struct unc_platform *p;
	char text[256];

	fake_new(&w->root);
	snprintf(text, sizeof(text),
		 "processor : 0\nvendor_id : GenuineIntel\ncpu family : %s\nmodel : %ld\n"
		 "stepping : %s\nphysical id : 0\ncore id : 0\n",
		 w->word[1], strtol(w->word[2], NULL, 0), w->word[3]);
	fake_text(fake_path(&w->root, "/proc/cpuinfo"), text);
	options.sysroot = w->root.path;
	if (unc_platform_open(&options, &p) < 0) {
		world_refuse(w, unc_open_error());
		return;
	}
	unc_put(&w->out, "%s", unc_platform_cpu(p)->title);
	unc_platform_close(p);
}
