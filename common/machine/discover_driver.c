/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units for a process without the right to read the discovery tables: the kernel's driver has read them,
 * and has a PMU for each unit, which every user can see.
 *
 * The quality of the driver's list was measured on Linux 6.1. It is that of the first socket: other sockets
 * get the same PMUs, whatever units they have, and a PMU of a missing unit counts nothing without an error.
 * So the list holds for another socket only if everything that may be read shows that the two are alike.
 * Some PMUs of free-running counters have no unit; PMUs of programmable counters are exact.
 */
#include <stdio.h>
#include <string.h>

#include "access/kernel.h"
#include "machine/discover_walk.h"

enum {
	FIRST = 0, /* the socket of the driver's list */
	SYSTEM_PERIPHERAL = 0x0880
};

/* ------------------------------------------------------------------ the driver's list */

/* Whether the driver has a PMU of a unit, for its programmable or its free-running counters. *name: the name
 * of the PMU. */
static bool driver_has_pmu(const struct unc_walk *walk, unsigned type, unsigned index, bool of_free,
			   char name[UNC_KERNEL_NAME])
{
	const struct unc_table *t = walk->table;
	const struct unc_range *rows = &t->type[type].kernels;
	struct unc_kernel_place place;
	unsigned k = 0;
	int rc;

	while (k < rows->n && !t->kernel[rows->first + k].free == of_free)
		k++;
	if (!unc_kernel_pmu(t, type, k, index, name, UNC_KERNEL_NAME))
		return false;
	rc = unc_kernel_find(walk->bus->gate, name, FIRST, 0, &place, NULL);
	if (rc == UNC_ERR_UNAVAILABLE && unc_kernel_typed(t, type, k, index, name, UNC_KERNEL_NAME))
		rc = unc_kernel_find(walk->bus->gate, name, FIRST, 0, &place, NULL);
	return rc == 0 || rc == UNC_ERR_PERMISSION; /* it exists for others */
}

/* Whether the driver lists a unit with programmable counters at the same BAR element as this unit. */
static bool has_counting_sibling(const struct unc_walk *walk, unsigned type, unsigned index)
{
	const struct unc_tbl_where *own = unc_where(walk->table, type, index), *w;
	char name[UNC_KERNEL_NAME];

	for (unsigned other = 0; own && other < walk->table->n_type; other++)
		for (unsigned i = 0; other != type && (w = unc_where(walk->table, other, i)); i++)
			if (unc_main_part(walk->table, other)->space == UNC_SPACE_MMIO &&
			    w->bar == own->bar && w->bar_index == own->bar_index &&
			    driver_has_pmu(walk, other, i, false, name))
				return true;
	return false;
}

enum verdict { NOT_LISTED, LISTED, DOUBTFUL };

/* Returns what the driver's list says about a unit. *name: the name of its PMU. */
static enum verdict judge_unit(const struct unc_walk *walk, unsigned type, unsigned index,
			       char name[UNC_KERNEL_NAME])
{
	const struct unc_table *t = walk->table;

	if (unc_find_kernel(t, &t->type[type], false))
		return driver_has_pmu(walk, type, index, false, name) ? LISTED : NOT_LISTED;
	if (!driver_has_pmu(walk, type, index, true, name))
		return NOT_LISTED;
	return has_counting_sibling(walk, type, index) ? LISTED : DOUBTFUL;
}

static bool any_listed(const struct unc_walk *walk, unsigned type)
{
	char name[UNC_KERNEL_NAME];

	for (unsigned i = 0; i < UNC_MAX_PLACES; i++)
		if (judge_unit(walk, type, i, name) == LISTED)
			return true;
	return false;
}

bool unc_driver_knows(const struct unc_walk *walk)
{
	for (unsigned type = 0; walk->bus && walk->bus->gate && type < walk->table->n_type; type++)
		if (any_listed(walk, type))
			return true;
	return false;
}

/* ----------------------------------------------------------------- sockets that are alike */

/* Whether the tables name a PCI device: one with monitors, or one that describes them. */
static bool is_named(const struct unc_table *t, uint16_t id)
{
	if (id == t->topology.ubox_id || id == UNC_PMON_DEVICE)
		return true;
	for (size_t i = 0; i < t->n_where; i++)
		if (t->where[i].device_id == id)
			return true;
	for (size_t i = 0; i < t->n_bar; i++)
		if (t->bar[i].device_id == id)
			return true;
	for (const struct unc_tbl_present *row = t->present; row < t->present + t->n_present; row++)
		if (!row->msr && id >= row->id && id <= (row->last ? row->last : row->id))
			return true;
	return false;
}

/* Whether a function may be a part of the CPU: these have the class "system peripheral". Plugged-in devices and
 * bridges to them differ between sockets that are alike. */
static bool is_cpu_part(const struct unc_walk *walk, const struct unc_pci_function *f)
{
	unsigned kind = unc_walk_told(walk, f)->kind;

	return !kind || kind == SYSTEM_PERIPHERAL || is_named(walk->table, f->device);
}

static unsigned count_functions_of(const struct unc_walk *walk, int socket, uint16_t id)
{
	unsigned n = 0;

	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++)
		n += f->device == id && unc_walk_socket(walk, f) == socket;
	return n;
}

/* Checks that every function that may be a part of the CPU has a known device and socket. */
static int all_identified(const struct unc_walk *walk, struct unc_error *why)
{
	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++)
		if (is_cpu_part(walk, f) &&
		    (!f->device || unc_walk_socket(walk, f) == UNC_SOCKET_UNKNOWN))
			return unc_fail(why, UNC_ERR_UNAVAILABLE,
					"PCI function %s has no known socket or device",
					unc_function_name(f).text);
	return 0;
}

/* Checks that a socket has as many functions of each device id as the first. A device that only one of them
 * has, and no table names, belongs to the chipset. */
static int same_functions(const struct unc_walk *walk, int socket, struct unc_error *why)
{
	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++) {
		unsigned here = count_functions_of(walk, socket, f->device);
		unsigned there = count_functions_of(walk, FIRST, f->device);

		if (is_cpu_part(walk, f) && here != there &&
		    ((here && there) || is_named(walk->table, f->device)))
			return unc_fail(why, UNC_ERR_UNAVAILABLE,
					"PCI functions 8086:%04x: it has %u, socket %d %u",
					f->device, here, FIRST, there);
	}
	return 0;
}

/* Checks by data that every user may read that a socket has the units of the first one. UNC_ERR_UNAVAILABLE:
 * it has others, or that is not known; the sentence says why. */
static int check_alike(const struct unc_walk *walk, int socket, struct unc_error *why)
{
	int cache = walk->topo->socket[socket].cache, first = walk->topo->socket[FIRST].cache;

	if (socket == FIRST)
		return 0;
	if (walk->scan.code)
		return unc_fail(why, UNC_ERR_UNAVAILABLE, "%s", walk->scan.text);
	if (!cache || !first)
		return unc_fail(why, UNC_ERR_UNAVAILABLE,
				"the size of the L3 of socket %d is not known",
				cache ? FIRST : socket);
	if (cache != first)
		return unc_fail(why, UNC_ERR_UNAVAILABLE, "its L3 has %d KiB, that of socket %d %d",
				cache, FIRST, first);
	if (all_identified(walk, why) < 0)
		return why->code;
	return same_functions(walk, socket, why);
}

/* ------------------------------------------------------------------------------- units */

static void add_driver_unit(struct unc_walk *walk, unsigned type, int socket, unsigned index,
			    const char *name, const struct unc_error *unknown)
{
	struct unc_instance *unit = unc_walk_add(walk, type, socket, index);

	unc_fixed_parts(walk, unit, 0);
	if (!*unit->location)
		snprintf(unit->location, sizeof(unit->location), "%s", name);
	unit->by_driver = unit->part[0].exists = !unknown->code;
	unit->unknown = unknown->code != 0;
	if (!unknown->code)
		return;
	unit->part[0].present = false;
	unc_instance_refuse(unit, "%s", unknown->text);
}

/* Removes units whose PCI function does not exist and that the driver does not list. */
static void drop_unseen(struct unc_walk *walk, size_t from)
{
	char name[UNC_KERNEL_NAME];
	size_t n = from;

	for (struct unc_instance *u = walk->unit + from; u < walk->unit + walk->n; u++) {
		const struct unc_tbl_where *w = unc_where(walk->table, u->type, u->index);

		if (!w || judge_unit(walk, u->type, u->index, name) ||
		    !unc_walk_lacks(walk, u->socket, w->device_id, w->devfn))
			walk->unit[n++] = *u;
		else
			unc_instance_forget(u);
	}
	walk->n = n;
}

/* Whether the units found at the places of the tables are certain: a register that counts them, or their
 * addresses, could be read. */
static bool is_certain(const struct unc_walk *walk, size_t from, const struct unc_tbl_type *row)
{
	for (size_t i = from; i < walk->n; i++)
		if (walk->unit[i].part[0].present &&
		    (row->presents.n || walk->unit[i].part[0].space == UNC_SPACE_MMIO))
			return true;
	return false;
}

/* Marks units of a type that the driver does not list as not proved to exist. */
static void forget_existence(struct unc_walk *walk, size_t from)
{
	for (size_t i = from; i < walk->n; i++)
		if (walk->unit[i].part[0].space != UNC_SPACE_PCI)
			walk->unit[i].part[0].exists = false;
}

bool unc_only_listed(const struct unc_walk *walk, unsigned type)
{
	const struct unc_tbl_type *row = &walk->table->type[type];

	return row->parts.n && row->discovery >= 0 && !unc_where(walk->table, type, 0);
}

void unc_add_untold(struct unc_walk *walk, unsigned type, int socket)
{
	unc_walk_lack(walk, type, socket, 0,
		      "only the discovery tables, which cannot be used, show whether there is one");
}

/* Replaces the units from `from` on by those that the driver lists. */
static void replace_by_driver(struct unc_walk *walk, unsigned type, int socket, size_t from,
			      const struct unc_error *unknown)
{
	static const struct unc_error doubtful = {
		UNC_ERR_UNAVAILABLE,
		"whether it exists is not known: the kernel's driver has a "
		"PMU of free-running counters, as it has for units that do not exist"};
	char name[UNC_KERNEL_NAME];

	while (walk->n > from)
		unc_instance_forget(&walk->unit[--walk->n]);
	for (unsigned i = 0; i < UNC_MAX_PLACES; i++) {
		enum verdict verdict = judge_unit(walk, type, i, name);

		/* The driver also has PMUs of memory controllers that do not exist (Ice Lake-SP). */
		if (verdict != NOT_LISTED && !unc_present_absent(walk, type, i, socket, NULL))
			add_driver_unit(walk, type, socket, i, name,
					verdict == LISTED ? unknown : &doubtful);
	}
}

void unc_driver_type(struct unc_walk *walk, unsigned type, int socket,
		     const struct unc_error *unknown)
{
	const struct unc_tbl_type *row = &walk->table->type[type];
	size_t from = walk->n;

	if (unc_only_listed(walk, type)) {
		unc_add_untold(walk, type, socket);
		return;
	}
	unc_fixed_type(walk, type, socket);
	if (!row->kernels.n || is_certain(walk, from, row))
		return;
	/* The device id of a PCI function proves that the unit exists, on each socket. */
	if (!any_listed(walk, type))
		forget_existence(walk, from);
	else if (unc_main_part(walk->table, type)->space == UNC_SPACE_PCI)
		drop_unseen(walk, from);
	else
		replace_by_driver(walk, type, socket, from, unknown);
}

void unc_driver_unknown(const struct unc_walk *walk, int socket, const char *denied,
			struct unc_error *differ, struct unc_error *unknown)
{
	if (check_alike(walk, socket, differ) < 0)
		unc_fail(unknown, UNC_ERR_UNAVAILABLE,
			 "whether socket %d has it is not known: the kernel's driver tells of "
			 "socket 0, and %.90s; %.110s",
			 socket, differ->text, denied);
}

void unc_driver_fixed(struct unc_walk *walk, unsigned type, int socket)
{
	struct unc_error differ = {0}, unknown = {0};
	const struct unc_tbl_type *row = &walk->table->type[type];
	size_t from = walk->n;
	char denied[UNC_REASON_MAX];

	if (row->pool)
		return;
	unc_fixed_type(walk, type, socket);
	if (!row->kernels.n || !walk->bus || !walk->bus->gate || walk->n == from ||
	    unc_main_part(walk->table, type)->space == UNC_SPACE_PCI)
		return;
	for (size_t i = from; i < walk->n; i++)
		if (walk->unit[i].part[0].present)
			return;
	if (!any_listed(walk, type))
		return;
	snprintf(denied, sizeof(denied), "%s", walk->unit[from].reason);
	unc_driver_unknown(walk, socket, denied, &differ, &unknown);
	replace_by_driver(walk, type, socket, from, &unknown);
}
