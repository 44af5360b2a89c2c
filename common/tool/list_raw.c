/* SPDX-License-Identifier: BSD-3-Clause */
/* list --raw: names for the scripts of completion, one a line. One that ends in . : or = is not whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static void print_cpus(struct unc_platform *p)
{
	const struct unc_cpu *cpu;

	for (size_t i = 0; (cpu = unc_cpu_get(p, i)) != NULL; i++)
		puts(cpu->name);
}

static void print_groups(struct unc_platform *p)
{
	const struct unc_group *group;

	for (size_t i = 0; (group = unc_group_get(p, i)) != NULL; i++)
		puts(group->name);
}

static void print_types(struct unc_platform *p)
{
	const struct unc_type *type;

	for (size_t i = 0; (type = unc_type_get(p, i)) != NULL; i++)
		puts(type->name);
}

static void print_metrics(struct unc_platform *p)
{
	const struct unc_metric *metric;

	for (size_t i = 0; (metric = unc_metric_get(p, i)) != NULL; i++)
		puts(metric->name);
}

static void print_events(struct unc_platform *p)
{
	const struct unc_event *e;

	for (size_t i = 0; (e = unc_event_get(p, i)) != NULL; i++) {
		if (!e->needs_umask)
			printf("%s.%s\n", e->type, e->name);
		if (e->n_umasks)
			printf("%s.%s:\n", e->type, e->name);
	}
}

/* What may follow a name, behind a colon. */
static void print_qualifiers(struct unc_platform *p, const char *name)
{
	struct unc_qualifier q = {.size = sizeof(q)};

	for (size_t i = 0; unc_item_qualifier(p, name, i, &q) == 0; i++)
		if (!q.unavailable)
			printf("%s%s\n", q.key, q.kind == UNC_QUALIFIER_UMASK ? "" : "=");
}

static void print_needs(struct unc_platform *p, size_t metric)
{
	const char *need;

	for (size_t i = 0; (need = unc_metric_need(p, metric, i)) != NULL; i++)
		printf("%s=\n", need);
	puts("TIME=\nTSC=\nTSC_HZ=\nMEMORY_PEAK=");
}

static int print_register(void *type, const struct unc_register *reg)
{
	if (reg->index == 0 && strcmp(reg->unit, type) == 0)
		printf("%s=\n", reg->name);
	return 0;
}

int list_raw(struct unc_platform *p, const struct args *args)
{
	static const struct {
		const char *name;
		void (*print)(struct unc_platform *);
	} lists[] = {{"cpus", print_cpus},
		     {"groups", print_groups},
		     {"types", print_types},
		     {"metrics", print_metrics},
		     {"events", print_events}};
	struct unc_item item = {.size = sizeof(item)};

	if (!args->words) {
		print_metrics(p);
		print_events(p);
	}
	for (size_t i = 0; i < args->words; i++) {
		char *word = args->word[i];
		size_t k = 0, n = strlen(word);
		bool begun = n && word[n - 1] == ':'; /* what follows the name */

		if (begun)
			word[n - 1] = '\0';

		while (k < sizeof(lists) / sizeof(lists[0]) && strcmp(lists[k].name, word) != 0)
			k++;
		if (k < sizeof(lists) / sizeof(lists[0]))
			lists[k].print(p);
		else if (unc_item_find(p, word, &item) < 0)
			unc_register_walk(p, print_register, word);
		else if (item.event || begun)
			print_qualifiers(p, word);
		else
			print_needs(p, item.index);
	}
	return EXIT_SUCCESS;
}
