/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tablec: the build-time compiler of event tables. Reads and checks a folder and prints C.
 *   tablec DIR > table_data.c     compiles
 *   tablec --check DIR            only reads, prints what there is
 *   tablec --grammar              the grammar of the tables, as eventtables/README.md has it
 *   tablec --columns              the same for programs: FILE STATEMENT COLUMN KIND needed|optional
 */
#include <stdio.h>
#include <string.h>

#include "table_load.h"
#include "tablec.h"

typedef unsigned long long ull;

#define ROWS(kind, ...)                                                                            \
	do {                                                                                       \
		printf("static const struct unc_tbl_" #kind " " #kind "_%zu[] = {\n", n);          \
		for (size_t i = 0; i < t->n_##kind; i++) {                                         \
			const struct unc_tbl_##kind *row = &t->kind[i];                            \
			printf(__VA_ARGS__);                                                       \
		}                                                                                  \
		if (t->n_##kind == 0)                                                              \
			printf("{0}\n");                                                           \
		printf("};\n");                                                                    \
	} while (0)

static void print_strings(const struct unc_table *t, size_t n)
{
	printf("static const char strings_%zu[] =\n", n);
	for (size_t at = 0; at < t->n_strings; at += strlen(t->strings + at) + 1) {
		putchar('"');
		for (const char *p = t->strings + at; *p; p++) {
			if (*p == '"' || *p == '\\')
				putchar('\\');
			if (*p == '?')
				fputs("\\077", stdout);
			else if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
				printf("\\%03o", (unsigned char)*p);
			else
				putchar(*p);
		}
		/* the last one is terminated by the compiler */
		printf(at + strlen(t->strings + at) + 1 < t->n_strings ? "\\0\"\n" : "\"");
	}
	printf(";\n");
}

#define R(range) (range).first, (range).n

static void print_places(const struct unc_table *t, size_t n)
{
	ROWS(where, "{0x%llxull,0x%x,%u,%u,%u,%u},\n", (ull)row->base, row->device_id, row->devfn,
	     row->bar, row->bar_index, row->optional);
	ROWS(bar, "{%u,0x%x,%u,%u,%u,%u,%u,%u,%u,0x%xu,0x%xu,0x%xu},\n", row->name, row->device_id,
	     row->devfn, row->count, row->base_offset, row->offset, row->step, row->base_shift,
	     row->shift, row->base_mask, row->mask, row->size);
	ROWS(part, "{%u,%u,{%u,%u}},\n", row->name, row->space, R(row->where));
	ROWS(reg, "{%u,%d,%d,0x%llxull,0x%llxull,0x%llxull,%u,%u,%u,%u,%u,%u},\n", row->name,
	     row->offset, row->per_unit, (ull)row->write_mask, (ull)row->base, (ull)row->busy,
	     row->part, row->role, row->number, row->nth, row->width, row->flags);
	ROWS(field,
	     "{%u,%u,{%u,%u},{%u,%u},{%u,%u},%u,%u,%u,0x%xu,%u,%u,%u,0x%llxull,0x%llxull,"
	     "{%u,%u},{%u,%u}},\n",
	     row->name, row->desc, row->reg[0], row->reg[1], row->lo[0], row->lo[1], row->width[0],
	     row->width[1], row->shift, row->flags, row->role, row->counters, row->needs, row->mask, row->like,
	     (ull)row->default_value, (ull)row->min, R(row->with), R(row->values));
	ROWS(value, "{%u,%u,0x%llxull},\n", row->name, row->desc, (ull)row->value);
	ROWS(set, "{%u,%u,0x%llxull},\n", row->field, row->given, (ull)row->value);
	ROWS(step, "{%u,%u,0x%llxull},\n", row->kind, row->reg, (ull)row->value);
	ROWS(counter, "{%u,%u,%u,0x%llxull,0x%llxull,%u,%u,%u},\n", row->name, row->ctr, row->ctl,
	     (ull)row->enable, (ull)row->freeze, row->status_bit, row->global_bit, row->width);
	ROWS(lane, "{%u,0x%xu,%u,0x%llxull},\n", row->name, row->counters, row->lead,
	     (ull)row->same);
	ROWS(forbid, "{%u,{%u,%u}},\n", row->why, R(row->sets));
	ROWS(bundle, "{%u,{%u,%u}},\n", row->name, R(row->sets));
}

static void print_events(const struct unc_table *t, size_t n)
{
	ROWS(type,
	     "{%u,%u,%u,%u,{%u,%u},{%u,%u},{%u,%u},{%u,%u},{%u,%u},{%u,%u},{%u,%u},{%u,%u},"
	     "{%u,%u},{%u,%u},{%u,%u},{%u,%u},{%u,%u},{%u,%u},%u,{%u,%u},%u,%u,%u,0x%llxull,"
	     "{0x%llxull,%u,%u,%d,%u,%u,%u,%u,%u},"
	     "%u,%u,%u,%u,%u,%u,0x%llxull,0x%llxull,0x%llxull,%u,%d,0x%x,0x%x,"
	     "{0x%x,0x%x},%u,%u,%u,%u,%u,%u},\n",
	     row->name, row->title, row->desc, row->public_prefix, R(row->parts), R(row->regs),
	     R(row->fields), R(row->steps_start), R(row->steps_join), R(row->steps_stop),
	     R(row->steps_leave), R(row->steps_freeze), R(row->steps_unfreeze), R(row->counters),
	     R(row->lanes), R(row->forbids), R(row->bundles), R(row->events), row->pool,
	     row->global_status[0], row->global_status[1], row->unfreeze, row->n_global,
	     row->has_unfreeze, (ull)row->unfreeze_value, (ull)row->overflow.set,
	     row->overflow.status, row->overflow.clear, row->overflow.global, row->overflow.units,
	     row->overflow.per, row->overflow.bit, row->overflow.freezes, row->overflow.known,
	     row->first_ctl, row->first_ctr, row->unit_ctl, row->status, row->f_event, row->f_umask,
	     (ull)row->enable, (ull)row->active, (ull)row->exclusive, row->max_inc, row->discovery,
	     row->present_id, row->present_last, row->present_offset[0], row->present_offset[1],
	     row->cpus, row->share, row->first, row->n_counters, row->width, row->aggregate);
	ROWS(umask, "{%u,%u,%u,{%u,%u},{%u,%u},{%u,%u},{%u,%u},%u,%u,%u,%u,0x%xu},\n", row->name,
	     row->desc, row->alias, R(row->sets), R(row->needs), R(row->uses), R(row->defaults),
	     row->unavailable, row->counter, row->flags, row->aggregate, row->counters);
	ROWS(event,
	     "{%u,%u,%u,{%u,%u},{%u,%u},{%u,%u},{%u,%u},{%u,%u},0x%xu,%u,%u,%u,0x%x,"
	     "%u,%u,%u,%u},\n",
	     row->name, row->desc, row->alias, R(row->umasks), R(row->sets), R(row->needs),
	     R(row->uses), R(row->defaults), row->counters, row->counter, row->type, row->max_inc,
	     row->code, row->lane, row->set, row->aggregate, row->clock);
	ROWS(metric, "{%u,%u,%u,%u,%u,%u,%u},\n", row->name, row->formula, row->unit, row->desc,
	     row->unavailable, row->type, row->kind);
#define F(i) row->filter[i].reg, (ull)row->filter[i].value, (ull)row->filter[i].mask
	ROWS(rate,
	     "{%u,%u,%u,%u,0x%llxull,0x%llxull,{{%u,0x%llxull,0x%llxull},{%u,0x%llxull,0x%llxull},"
	     "{%u,0x%llxull,0x%llxull},{%u,0x%llxull,0x%llxull}},%.17g,%.17g},\n",
	     row->type, row->counter, row->only_socket, row->n_filters, (ull)row->ctl,
	     (ull)row->ctl_mask, F(0), F(1), F(2), F(3), row->per_second, row->per_clock);
	ROWS(sim_unit, "{%u,0x%llxull,%.17g},\n", row->type, (ull)row->present, row->clock_hz);
}

static void print_table(const struct unc_table *t, size_t n)
{
	print_strings(t, n);
	print_places(t, n);
	print_events(t, n);
	printf("static const struct unc_table table_%zu = {\n.name = %u, .title = %u, .family = "
	       "%u, "
	       ".n_models = %u,\n.models = {",
	       n, t->name, t->title, t->family, t->n_models);
	for (unsigned i = 0; i < t->n_models; i++)
		printf("0x%x,", t->models[i]);
	printf("},\n.discovery = %u, .topology = {0x%x, 0x%x, 0x%x, %u},\n"
	       ".machine = {%u, 0x%x, %u, %u, %.17g, %u},\n.strings = strings_%zu, .n_strings = "
	       "%zu,\n",
	       t->discovery, t->topology.ubox_id, t->topology.nodeid_offset, t->topology.map_offset,
	       t->topology.buses, t->machine.sockets, t->machine.model, t->machine.cores,
	       t->machine.threads, t->machine.tsc_hz, t->machine.title, n, t->n_strings);
#define ARRAY(kind) printf("." #kind " = " #kind "_%zu, .n_" #kind " = %zu,\n", n, t->n_##kind);
	UNC_TABLE_ARRAYS(ARRAY)
	printf("};\n");
}

static void print_all(const struct unc_table_set *set)
{
	printf("/* Made by tablec from eventtables/; do not edit. */\n#include \"table.h\"\n");
	for (size_t n = 0; n < set->n; n++)
		print_table(set->table[n], n);
	printf("const struct unc_table *const *unc_tables(size_t *n)\n{\n"
	       "\tstatic const struct unc_table *const all[] = {");
	for (size_t n = 0; n < set->n; n++)
		printf("&table_%zu, ", n);
	printf("};\n\n\t*n = %zu;\n\treturn all;\n}\n", set->n);
}

static void print_counts(const struct unc_table_set *set)
{
	for (size_t n = 0; n < set->n; n++) {
		const struct unc_table *t = set->table[n];

		printf("%s: %zu types, %zu events, %zu umasks, %zu metrics, %zu rates, %zu bytes "
		       "of text\n",
		       unc_tbl_str(t, t->name), t->n_type, t->n_event, t->n_umask, t->n_metric,
		       t->n_rate, t->n_strings);
	}
}

int main(int argc, char **argv)
{
	struct unc_table_set set;
	struct unc_error err = {0};
	int check = argc == 3 && strcmp(argv[1], "--check") == 0;
	bool grammar = argc == 2 && strcmp(argv[1], "--grammar") == 0;
	bool columns = argc == 2 && strcmp(argv[1], "--columns") == 0;

	if (argc != 2 + check) {
		fprintf(stderr, "usage: tablec [--check] DIR, tablec --grammar or --columns\n");
		return 2;
	}
	if (grammar || columns) {
		(grammar ? tablec_grammar : tablec_columns)();
		return fflush(stdout) ? 1 : 0;
	}
	int rc = unc_table_set_load(argv[1 + check], &set, &err);
	if (rc < 0)
		fprintf(stderr, "tablec: %s\n", err.text);
	else if (check)
		print_counts(&set);
	else
		print_all(&set);
	unc_table_set_free(&set);
	return rc < 0 || ferror(stdout) || fflush(stdout) ? 1 : 0;
}
