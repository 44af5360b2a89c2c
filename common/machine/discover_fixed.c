/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units by the places of units.tbl: MSR numbers; device and function on the buses of a socket;
 * addresses that configuration registers hold.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "machine/discover_walk.h"

static unsigned limit_to(unsigned n, int limit)
{
	return limit >= 0 && (unsigned)limit < n ? (unsigned)limit : n;
}

static int place_pci(const struct unc_walk *walk, unsigned type, unsigned part,
		     const struct unc_tbl_where *where, int socket, struct unc_place *out,
		     struct unc_error *err)
{
	unsigned device = where->devfn >> 3, function = where->devfn & 7;
	const struct unc_pci_function *f;
	struct unc_error why = {0};
	uint32_t value;
	int rc = unc_walk_function(walk, socket, where->device_id, where->devfn, &f, &why);

	if (rc == UNC_ERR_NOT_FOUND)
		return unc_fail(
			err, UNC_ERR_UNAVAILABLE,
			"PCI function %02x.%x (8086:%04x) is not visible: hidden by the BIOS, "
			"or this machine has none",
			device, function, where->device_id);
	if (rc < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", why.text);
	out->base = UNC_PCI(f->domain, f->bus, f->devfn, where->base);
	if (unc_bus_config(walk->bus, f, 0, &value, &why) < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", why.text);
	if (value == UINT32_MAX)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"PCI function %02x.%x (8086:%04x) reads as all ones: hidden by the "
				"BIOS",
				device, function, where->device_id);
	out->exists = true;
	rc = 0;
	if (where->base + unc_part_extent(walk->table, type, part) > UNC_PCI_EXTENDED)
		rc = unc_bus_config(walk->bus, f, UNC_PCI_EXTENDED, &value, &why);
	if (rc == UNC_ERR_RANGE)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"PCI function %02x.%x (8086:%04x): registers beyond 0xff are not "
				"reachable",
				device, function, where->device_id);
	if (rc < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", why.text);
	out->present = true;
	return 0;
}

int unc_fixed_bar(const struct unc_walk *walk, const struct unc_tbl_bar *bar, unsigned element,
		  int socket, uint64_t *address, struct unc_error *err)
{
	const struct unc_pci_function *f;
	struct unc_error why = {0};
	int rc = unc_walk_function(walk, socket, bar->device_id, bar->devfn, &f, &why);

	if (rc == UNC_ERR_NOT_FOUND)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"PCI function %02x.%x (8086:%04x), which holds the address, is not "
				"visible",
				bar->devfn >> 3u, bar->devfn & 7u, bar->device_id);
	if (rc < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", why.text);
	return unc_bar_address(walk->bus, f, bar, element, address, err);
}

int unc_fixed_place(const struct unc_walk *walk, unsigned type, unsigned part, unsigned index,
		    int socket, struct unc_place *out, struct unc_error *err)
{
	const struct unc_tbl_part *p = unc_type_part(walk->table, type, part);
	const struct unc_tbl_where *where = unc_part_place(walk->table, p, index);
	uint64_t address;
	int rc;

	*out = (struct unc_place){.space = p->space};
	if (!where)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "its place is not known");
	if (p->space == UNC_SPACE_PCI)
		return place_pci(walk, type, part, where, socket, out, err);
	if (unc_space_of_thread(p->space)) {
		out->base = where->base;
		out->target = (uint32_t)unc_topology_cpu(walk->topo, socket, index);
	} else if (p->space == UNC_SPACE_MSR) {
		out->base = where->base;
		if (unc_walk_cpu(walk, socket, out, err) < 0)
			return UNC_ERR_UNAVAILABLE;
	} else {
		rc = unc_fixed_bar(walk, &walk->table->bar[where->bar], where->bar_index, socket,
				   &address, err);
		if (rc < 0)
			return rc;
		out->base = address + where->base;
	}
	out->present = out->exists = true;
	return 0;
}

void unc_fixed_parts(const struct unc_walk *walk, struct unc_instance *unit, unsigned first)
{
	const struct unc_tbl_type *row = &walk->table->type[unit->type];

	for (unsigned i = first; i < row->parts.n && i < UNC_MAX_PARTS; i++) {
		const struct unc_tbl_part *part = unc_type_part(walk->table, unit->type, i);
		struct unc_error why = {0};
		int rc = unc_fixed_place(walk, unit->type, i, unit->index, unit->socket,
					 &unit->part[i], &why);

		if (rc == 0 || *unit->reason)
			continue;
		if (i == 0)
			unc_instance_reason(unit, "%s", why.text);
		else
			unc_instance_reason(unit, "part %s: %s",
					    unc_tbl_str(walk->table, part->name), why.text);
	}
	unit->available = unit->part[0].present;
	if (unit->part[0].present || unit->part[0].base)
		unc_instance_locate(unit);
}

/* Whether a unit is optional and its PCI function does not exist: this CPU model lacks the unit. */
static bool lacks_function(const struct unc_walk *walk, unsigned type, unsigned index, int socket)
{
	const struct unc_tbl_part *part = unc_main_part(walk->table, type);
	const struct unc_tbl_where *where = unc_part_place(walk->table, part, index);

	return where && where->optional && part->space == UNC_SPACE_PCI &&
	       unc_walk_lacks(walk, socket, where->device_id, where->devfn);
}

/* Whether the address of a unit is not filled in: a memory controller that is fused off. */
bool unc_fixed_unfilled(const struct unc_walk *walk, unsigned type, unsigned index, int socket,
			struct unc_error *why)
{
	const struct unc_tbl_where *where = unc_where(walk->table, type, index);
	uint64_t address;

	return where && unc_main_part(walk->table, type)->space == UNC_SPACE_MMIO &&
	       unc_fixed_bar(walk, &walk->table->bar[where->bar], where->bar_index, socket,
			     &address, why) == UNC_ERR_NOT_FOUND;
}

bool unc_fixed_empty(const struct unc_walk *walk, unsigned type, unsigned index, int socket,
		     struct unc_error *why)
{
	return unc_present_absent(walk, type, index, socket, why) ||
	       unc_fixed_unfilled(walk, type, index, socket, why);
}

/* Adds the units 0 to n - 1 that this machine has, those from `certain` on as doubtful. */
static void add_fixed_units(struct unc_walk *walk, unsigned type, int socket, unsigned n,
			    unsigned certain)
{
	struct unc_error why = {0};
	struct unc_instance *unit;
	unsigned empty = 0;

	for (unsigned index = 0; index < n; index++) {
		if (lacks_function(walk, type, index, socket))
			continue;
		if (unc_fixed_empty(walk, type, index, socket, &why)) {
			empty++;
			continue;
		}
		unit = unc_walk_add(walk, type, socket, index);
		unit->doubtful = index >= certain;
		unc_fixed_parts(walk, unit, 0);
	}
	if (empty)
		unc_walk_note(walk, "socket %d: %u of %u %s do not exist: %s", socket, empty, n,
			      unc_type_name(walk->table, type), why.text);
}

/* Counts the PCI functions on a socket that each belong to one unit; *more: functions that may be such. */
static unsigned count_functions(const struct unc_walk *walk, const struct unc_tbl_present *row,
				int socket, unsigned *more)
{
	unsigned n = 0;

	*more = 0;
	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++) {
		bool is = f->device >= row->id && f->device <= row->last;
		int its = is || !f->device ? unc_walk_socket(walk, f) : UNC_MAX_SOCKETS;

		n += is && its == socket;
		*more += its == UNC_SOCKET_UNKNOWN || (its == socket && !f->device);
	}
	return n;
}

/*
 * Adds units of which there are as many as PCI functions of a kind, and at least one for each core: if a
 * core is switched off, its unit stays on. If the functions cannot be counted, further units are added as
 * doubtful, and probing shows which exist.
 */
static void add_by_functions(struct unc_walk *walk, unsigned type, int socket,
			     const struct unc_tbl_present *row, unsigned places)
{
	unsigned cores = limit_to(places, walk->topo->socket[socket].cores), more, most;
	unsigned functions = count_functions(walk, row, socket, &more);
	unsigned certain = functions > cores ? limit_to(places, (int)functions) : cores;

	most = functions + more ? limit_to(places, (int)(functions + more)) : places;
	if (most <= certain || walk->topo->hypervisor) {
		add_fixed_units(walk, type, socket, certain, certain);
		return;
	}
	unc_walk_note(walk,
		      "socket %d: the PCI functions 8086:%04x to %04x, which tell how many %s "
		      "there are, cannot be counted: of %u to %u, those that answer are taken",
		      socket, row->id, row->last, unc_type_name(walk->table, type), certain, most);
	add_fixed_units(walk, type, socket, most, certain);
}

/* Whether PCI functions that every user can see show that none of the places has a unit. */
static bool all_places_empty(const struct unc_walk *walk, unsigned type, int socket,
			     unsigned places)
{
	for (unsigned index = 0; index < places; index++)
		if (!lacks_function(walk, type, index, socket) &&
		    !unc_fixed_empty(walk, type, index, socket, NULL))
			return false;
	return true;
}

void unc_fixed_type(struct unc_walk *walk, unsigned type, int socket)
{
	const struct unc_tbl_type *row = &walk->table->type[type];
	const struct unc_tbl_present *range = unc_present_range(walk, type), *by;
	int cpus = walk->topo->socket[socket].cpus;
	struct unc_error why = {0};
	unsigned n, places;

	if (!row->parts.n)
		return;
	n = places = unc_main_part(walk->table, type)->where.n;
	if (row->cpus && (unsigned)cpus > n)
		unc_walk_note(
			walk,
			"socket %d has %d logical CPUs, the table places for %u: the others are "
			"not counted",
			socket, cpus, n);
	if (row->cpus)
		n = limit_to(n, cpus);
	if (n && unc_present_count(walk, type, socket, &n, &by, &why) < 0) {
		/* The number of units is not known: a sum over them would be a guess. */
		if (!all_places_empty(walk, type, socket, n))
			unc_walk_lack(walk, type, socket, 0, "their number is not known: %s",
				      why.text);
	} else if (n && range) {
		add_by_functions(walk, type, socket, range, n);
	} else if (unc_type_gaps(walk->table, type) && !walk->topo->hypervisor) {
		add_fixed_units(walk, type, socket, places, row->presents.n ? n : 0);
	} else {
		add_fixed_units(walk, type, socket, n, n);
	}
}
