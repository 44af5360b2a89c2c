/* SPDX-License-Identifier: BSD-3-Clause */
/* Discovery as a whole: PCI functions, their sockets, the units, and units that cannot exist. */
#include "machine/discover.h"

#include <stdio.h>
#include <stdlib.h>

#include "machine/discover_walk.h"

static int compare_functions(const void *pa, const void *pb)
{
	const struct unc_pci_function *a = pa, *b = pb;

	return unc_order(UNC_PCI(a->domain, a->bus, a->devfn, 0),
			 UNC_PCI(b->domain, b->bus, b->devfn, 0));
}

int unc_walk_begin(struct unc_walk *walk, struct unc_error *err)
{
	if (walk->bus) {
		walk->bus->note = walk->note;
		walk->bus->user = walk->user;
		walk->bus->methods->scan(walk->bus, &walk->scan);
		walk->function = walk->bus->function;
		walk->end = walk->function + walk->bus->n_functions;
		if (walk->scan.code == UNC_ERR_MEMORY)
			return unc_fail(err, UNC_ERR_MEMORY, "%s", walk->scan.text);
		if (walk->scan.code)
			unc_walk_note(walk, "no PCI functions: %s", walk->scan.text);
	}
	if (walk->end > walk->function)
		qsort(walk->function, (size_t)(walk->end - walk->function), sizeof(*walk->function),
		      compare_functions);
	return unc_walk_sockets(walk, err);
}

void unc_walk_end(struct unc_walk *walk)
{
	if (walk->no_memory)
		unc_instance_forget(&walk->none);
	free(walk->ubox);
	free(walk->socket);
}

/* A virtual machine lacks the MSRs of the monitors: reading them faults. */
static void refuse_virtual(struct unc_walk *walk)
{
	if (!walk->topo->hypervisor || walk->n_ubox)
		return;
	for (struct unc_instance *unit = walk->unit; unit < walk->unit + walk->n; unit++) {
		/* The hypervisor may pass on counters of the kernel: opening them tells. */
		if (!unit->available || unit->part[0].space == UNC_SPACE_PERF)
			continue;
		unc_instance_refuse(
			unit,
			"virtual machine: the hypervisor does not pass the uncore monitors on");
	}
}

static int compare_units(const void *pa, const void *pb)
{
	const struct unc_instance *a = pa, *b = pb;

	int order = unc_order(a->type, b->type);

	order = order ? order : unc_order(a->socket, b->socket);
	return order ? order : unc_order(a->index, b->index);
}

/* Whether units of a type share one place, each with some registers of its own there. */
static bool shares_place(const struct unc_table *table, const struct unc_tbl_type *type)
{
	for (const struct unc_tbl_reg *r = NULL; (r = UNC_NEXT(table, reg, type->regs, r));)
		if (r->per_unit)
			return true;
	return false;
}

/* Refuses the second of two units at one address: they are one unit, which counts once. */
static void refuse_duplicates(struct unc_walk *walk)
{
	for (size_t i = 0; i < walk->n; i++) {
		struct unc_instance *unit = &walk->unit[i];
		const struct unc_place *place = &unit->part[0];
		const char *name = unc_type_name(walk->table, unit->type);

		if (shares_place(walk->table, &walk->table->type[unit->type]))
			continue;
		for (size_t k = i; unit->available && k-- > 0;) {
			const struct unc_instance *other = &walk->unit[k];

			if (other->type != unit->type)
				break;
			if (!other->available || other->part[0].space != place->space ||
			    other->part[0].base != place->base ||
			    other->part[0].target != place->target)
				continue;
			unit->part[0].exists = false;
			unc_instance_refuse(
				unit,
				"it is at %s, where %s%u of socket %u is: one of the two does "
				"not exist",
				unit->location, name, other->index, other->socket);
		}
	}
}

static int find_all_units(struct unc_walk *walk, struct unc_error *err)
{
	if (walk->table->discovery == UNC_DISCOVERY_TABLE)
		unc_discover_table(walk);
	else
		for (unsigned type = 0; type < walk->table->n_type; type++)
			for (int socket = 0; socket < walk->topo->n_sockets; socket++)
				unc_driver_fixed(walk, type, socket);
	unc_walk_missing(walk);
	return walk->no_memory ? unc_no_memory(err) : 0;
}

int unc_discover(const struct unc_table *table, struct unc_topology *topo, struct unc_bus *bus,
		 unc_note_fn note, void *user, struct unc_instances *out, struct unc_error *err)
{
	struct unc_walk walk = {
		.table = table, .topo = topo, .bus = bus, .note = note, .user = user};
	int rc = unc_walk_begin(&walk, err);

	if (rc == 0)
		rc = find_all_units(&walk, err);
	if (rc == 0) {
		refuse_virtual(&walk);
		if (walk.n)
			qsort(walk.unit, walk.n, sizeof(*walk.unit), compare_units);
		refuse_duplicates(&walk);
		*out = (struct unc_instances){.unit = walk.unit, .n = walk.n};
	} else {
		unc_instances_free(&(struct unc_instances){walk.unit, walk.n});
	}
	unc_walk_end(&walk);
	return rc;
}

int unc_pmon_listed(const struct unc_table *const *any, size_t n, struct unc_topology *topo,
		    struct unc_bus *bus, unc_note_fn note, void *user, struct unc_pmon **out,
		    struct unc_error *err)
{
	static const struct unc_table none = {.name = 0};
	struct unc_walk walk = {
		.table = &none, .topo = topo, .bus = bus, .note = note, .user = user};
	struct unc_pmon *pmon = calloc(1, sizeof(*pmon));
	int rc = pmon ? unc_walk_begin(&walk, err) : unc_no_memory(err);

	if (rc == 0) {
		pmon->walk = &walk;
		pmon->any = any;
		pmon->n_any = n;
		unc_pmon_read(pmon);
		pmon->walk = NULL;
		rc = walk.no_memory ? unc_no_memory(err) : 0;
	}
	if (rc == 0)
		*out = pmon;
	else
		unc_pmon_free(pmon);
	unc_walk_end(&walk);
	return rc;
}
