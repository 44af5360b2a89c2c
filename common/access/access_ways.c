/* SPDX-License-Identifier: BSD-3-Clause */
#include "access/access_ways.h"

#include <stdlib.h>

#include "base/text.h"
#include "host/events.h"

const struct unc_access_methods *const unc_access_hardware[] = {
	&unc_access_kernel,   &unc_access_broker, &unc_access_msr,
	&unc_access_msr_safe, &unc_access_pci,    &unc_access_mmio,
	&unc_access_pmu,      &unc_access_perf,   NULL,
};

enum { MAX_NAME = 32 };

static const char direct[] = "direct";

static const struct unc_access_methods *find_method(const struct unc_access_methods *const *list,
						    const char *name)
{
	for (; *list; list++)
		if (unc_same((*list)->name, name))
			return *list;
	return NULL;
}

/* Lists methods that serve one of `spaces`; UNC_EVERY_SPACE: all methods. */
static void list_names(struct unc_buf *buf, const struct unc_access_methods *const *list,
		       uint32_t spaces, bool only_direct)
{
	for (; *list; list++)
		if ((spaces == UNC_EVERY_SPACE || (*list)->spaces & spaces) &&
		    ((*list)->direct || !only_direct))
			unc_put_word(buf, (*list)->name);
}

static int add_method(struct unc_ways *ways, struct unc_machine *machine,
		      const struct unc_access_methods *methods, bool named, struct unc_error *err)
{
	struct unc_way *way = &ways->way[ways->n + 1];

	if (unc_ways_find(ways, methods))
		return 0;
	if (methods->detect)
		methods->detect(machine, &way->absent);
	way->methods = methods;
	way->named = named;
	way->backend = methods->backend ? calloc(1, methods->backend) : NULL;
	if (methods->backend && !way->backend)
		return unc_no_memory(err);
	if (methods->open)
		methods->open(way->backend, machine);
	ways->n++;
	return 0;
}

static int add_all_methods(struct unc_ways *ways, struct unc_machine *machine, bool only_direct,
			   struct unc_error *err)
{
	int rc = 0;

	for (unsigned i = 0; ways->all[i] && rc == 0; i++)
		if (ways->all[i]->direct || !only_direct)
			rc = add_method(ways, machine, ways->all[i], false, err);
	return rc;
}

static int fail_method_name(const char *name, struct unc_error *err)
{
	char all[200], some[200];
	struct unc_buf all_names = UNC_BUF(all), direct_names = UNC_BUF(some);

	list_names(&all_names, unc_access_hardware, UNC_EVERY_SPACE, false);
	list_names(&direct_names, unc_access_hardware, UNC_EVERY_SPACE, true);
	return unc_fail(err, UNC_ERR_INVALID,
			"no access method '%.40s'; there are %s, and %s for %s", name, all, direct,
			some);
}

static int add_named_methods(struct unc_ways *ways, struct unc_machine *machine, const char *order,
			     struct unc_error *err)
{
	const char *list = order;
	char name[MAX_NAME];
	int rc = 0;

	while (list && rc == 0) {
		const struct unc_access_methods *methods;
		const char *word = list;

		if (!unc_list_next(&list, name, sizeof(name)))
			return fail_method_name(word, err);
		methods = find_method(ways->all, name);
		if (unc_same(name, direct))
			rc = add_all_methods(ways, machine, true, err);
		else if (methods)
			rc = add_method(ways, machine, methods, true, err);
		else if (!find_method(unc_access_hardware, name))
			return fail_method_name(name, err);
	}
	return rc;
}

/* Lists the methods of a machine; those of the kernel come first, if its kernel counts at all. */
static int list_methods(struct unc_ways *ways, const struct unc_machine *machine)
{
	const struct unc_access_methods *const *list = machine->methods->access;
	unsigned n = 0;

	while (list[n])
		n++;
	ways->all = calloc(n + 3, sizeof(struct unc_access_methods *));
	ways->way = calloc(n + 3, sizeof(*ways->way));
	if (!ways->all || !ways->way)
		return UNC_ERR_MEMORY;
	n = 0;
	if (machine->events)
		ways->all[n++] = &unc_access_kernel;
	if (machine->events == &unc_events_system)
		ways->all[n++] = &unc_access_broker;
	for (; *list; list++)
		if (*list != &unc_access_kernel && *list != &unc_access_broker)
			ways->all[n++] = *list;
	return 0;
}

int unc_ways_open(struct unc_ways *ways, struct unc_machine *machine, const char *order,
		  struct unc_error *err)
{
	char text[200];
	struct unc_buf names = UNC_BUF(text);
	int rc;

	if (list_methods(ways, machine) < 0)
		return unc_no_memory(err);
	rc = order && *order ? add_named_methods(ways, machine, order, err)
			     : add_all_methods(ways, machine, false, err);
	if (rc < 0 || ways->n)
		return rc;
	list_names(&names, ways->all, UNC_EVERY_SPACE, false);
	return unc_fail(err, UNC_ERR_INVALID, "access '%.40s': this machine is reached by %s only",
			order, text);
}

void unc_ways_close(struct unc_ways *ways)
{
	for (const struct unc_way *way = ways->way + 1; way <= ways->way + ways->n; way++) {
		if (way->methods->close)
			way->methods->close(way->backend);
		free(way->backend);
	}
	free(ways->way);
	free(ways->all);
}

unsigned unc_ways_find(const struct unc_ways *ways, const struct unc_access_methods *methods)
{
	for (unsigned i = 1; i <= ways->n; i++)
		if (ways->way[i].methods == methods)
			return i;
	return 0;
}

unsigned unc_ways_next(const struct unc_ways *ways, int space, unsigned way)
{
	for (unsigned i = way + 1; i <= ways->n; i++)
		if (ways->way[i].methods->spaces >> space & 1 &&
		    (!ways->way[i].absent.code || ways->way[i].named))
			return i;
	return 0;
}

int unc_ways_none(const struct unc_ways *ways, int space, struct unc_error *err)
{
	char text[200];
	struct unc_buf names = UNC_BUF(text);

	list_names(&names, ways->all, 1u << space, false);
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"no chosen access method reaches %s registers; others do: %s",
			unc_space_name(space), text);
}

int unc_ways_lead(const struct unc_ways *ways, struct unc_reg *reg, struct unc_error *err)
{
	if (!reg->way)
		reg->way = (uint8_t)unc_ways_next(ways, reg->space, 0);
	if (!reg->way)
		return unc_ways_none(ways, reg->space, err);
	if (reg->way <= ways->n && ways->way[reg->way].methods->spaces >> reg->space & 1)
		return 0;
	return unc_fail(err, UNC_ERR_DENIED, "access method %u does not reach %s registers",
			reg->way, unc_space_name(reg->space));
}
