/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units by the PMON discovery tables.
 *
 * A listed unit exists. Its place is trusted only if it agrees with units.tbl: a place that sources name, a
 * PCI function that exists and has the right device id, registers at the known distances, and a record like
 * those of its type; without a place in units.tbl, registers that no other unit has. A unit that does not
 * agree is listed as missing. A unit that is not listed, but exists by its device id or address, is added,
 * too; if another register counts more units, a note says so. If a table is broken as a whole, the places of
 * units.tbl are used instead, and a note says so. The encoding of PCI addresses: Linux uncore_discovery.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "machine/discover_walk.h"

/* A count of a type's units from another source than the list, and that source; n UNC_NONE: no source. */
struct told {
	unsigned n;
	char by[40];
};

static struct told count_otherwise(const struct unc_walk *walk, unsigned type, int socket)
{
	const struct unc_range *rows = &walk->table->type[type].presents;
	const struct unc_tbl_present *by;
	const struct unc_pci_function *f;
	struct told told = {.n = UNC_NONE};
	struct unc_error why = {0};

	if (unc_present_count(walk, type, socket, &told.n, &by, &why) == 0 && by) {
		snprintf(told.by, sizeof(told.by), "%s%04x",
			 by->msr ? "msr 0x" : "PCI device 8086:", by->msr ? by->msr : by->id);
		return told;
	}
	told.n = UNC_NONE;
	/* Count the visible functions that units belong to. */
	for (by = &walk->table->present[rows->first];
	     by < &walk->table->present[rows->first + rows->n]; by++) {
		if (by->msr || by->n_offsets || by->last)
			continue;
		snprintf(told.by, sizeof(told.by), "PCI functions 8086:%04x", by->id);
		told.n = 0;
		for (unsigned k = 0; k < by->n_devices; k++)
			if (unc_walk_function(walk, socket, by->id, by->devfn[k], &f, NULL) == 0)
				told.n += by->per;
	}
	return told;
}

/* Drops records of slices that the CPU lacks but firmware lists. The other count is trusted, and the first
 * records are used, as in Linux uncore_snbep.c (spr_uncore_cpu_init). */
static void drop_surplus_records(struct unc_walk *walk, struct unc_pmon_list *list, unsigned type,
				 int socket, const struct told *told)
{
	unsigned dropped = 0;

	for (size_t i = list->n; i-- > 0;) {
		struct unc_pmon_record *r = &list->record[i];
		unsigned before = 0;

		for (size_t k = 0; r->type == type && k < list->n; k++)
			before += list->record[k].type == type && list->record[k].id < r->id;
		if (r->type == type && before >= told->n) {
			r->type = UNC_NONE;
			dropped++;
		}
	}
	if (dropped)
		unc_walk_note(walk,
			      "socket %d: by %s there are %u %s: the last %u of the discovery "
			      "table are not used",
			      socket, told->by, told->n, unc_type_name(walk->table, type), dropped);
}

/* ------------------------------------------------------- units of a type on a socket */

static unsigned units_of(const struct unc_walk *walk, unsigned type, int socket)
{
	return unc_walk_count(walk, type, socket, UNC_ANY_INDEX);
}

static void add_recorded_unit(struct unc_walk *walk, const struct unc_pmon_record *record,
			      int socket)
{
	struct unc_instance *unit = unc_walk_add(walk, record->type, socket, record->id);
	struct unc_error why = {0};

	unit->status_position = (int16_t)record->position;
	unit->part[0] = (struct unc_place){
		.base = unc_pmon_base(walk, record),
		.space = unc_main_part(walk->table, record->type)->space,
		.present = true,
		.exists = true,
	};
	if (unit->part[0].space == UNC_SPACE_MSR &&
	    unc_walk_cpu(walk, socket, &unit->part[0], &why) < 0) {
		unit->part[0].present = false;
		unc_instance_reason(unit, "%s", why.text);
	}
	unc_fixed_parts(walk, unit, 1);
}

/* Returns the index for an unusable unit: after all others, if it has no number (UNC_NONE) or another unit
 * has that number. */
static unsigned index_for(const struct unc_walk *walk, unsigned type, int socket, unsigned index)
{
	if (index != UNC_NONE && !unc_walk_count(walk, type, socket, (int)index))
		return index;
	index = 0;
	for (size_t i = 0; i < walk->n; i++)
		if (walk->unit[i].type == type && walk->unit[i].socket == socket &&
		    walk->unit[i].index >= index)
			index = walk->unit[i].index + 1u;
	return index;
}

/* Adds a unit of which only a count is known. */
static void add_doubtful(struct unc_walk *walk, unsigned type, int socket, unsigned index,
			 const char *why)
{
	unc_walk_lack(walk, type, socket, index_for(walk, type, socket, index),
		      "cannot tell whether it exists: %s", why);
}

/* Adds units that exist but are not listed at their place: the device id of a PCI function proves it; a unit
 * at the address of a BAR is doubtful until it is read. Returns how many. */
static int add_unlisted(struct unc_walk *walk, unsigned type, int socket, unsigned most)
{
	bool pci = unc_main_part(walk->table, type)->space == UNC_SPACE_PCI;
	unsigned n = units_of(walk, type, socket);
	int added = 0;

	for (unsigned i = 0; i < unc_main_part(walk->table, type)->where.n && n < most; i++) {
		struct unc_place place;
		struct unc_instance *unit;

		if (unc_walk_count(walk, type, socket, (int)i) ||
		    unc_fixed_empty(walk, type, i, socket, NULL) ||
		    (unc_fixed_place(walk, type, 0, i, socket, &place, NULL) < 0 && !place.exists))
			continue;
		unit = unc_walk_add(walk, type, socket, i);
		unit->doubtful = !pci;
		unc_fixed_parts(walk, unit, 0);
		added++;
		n++;
	}
	if (added)
		unc_walk_note(walk,
			      "socket %d: %d of %u %s are not listed by discovery where they are: "
			      "taken from their %s",
			      socket, added, n, unc_type_name(walk->table, type),
			      pci ? "device ids" : "places");
	return added;
}

/* Adds a doubtful unit for each one that is counted but not listed. */
static void add_doubted(struct unc_walk *walk, struct unc_pmon_list *list, unsigned type,
			int socket, const struct told *told)
{
	unsigned n = units_of(walk, type, socket);
	char text[160];

	if (told->n == UNC_NONE || told->n <= n)
		return;
	snprintf(text, sizeof(text), "discovery lists %u %s, by %s there are %u", n,
		 unc_type_name(walk->table, type), told->by, told->n);
	if (!*list->lacks)
		snprintf(list->lacks, sizeof(list->lacks), "%s", text);
	unc_walk_note(walk, "socket %d: %s", socket, text);
	for (; n < told->n; n++)
		add_doubtful(walk, type, socket, UNC_NONE, text);
}

/* Adds units with wrong records as unusable. A PCI function found at its place is not missing. */
static void add_broken(struct unc_walk *walk, const struct unc_pmon_list *list, unsigned type,
		       int socket, int state)
{
	bool pci = unc_main_part(walk->table, type)->space == UNC_SPACE_PCI;

	for (const struct unc_pmon_record *r = list->record; r < list->record + list->n; r++) {
		struct unc_error why;

		if (r->type != type || r->state != state ||
		    unc_fixed_empty(walk, type, r->id, socket, NULL) ||
		    (pci && state == UNC_PMON_NOT_THERE &&
		     unc_walk_count(walk, type, socket, r->id)))
			continue;
		unc_error_clear(&why);
		unc_pmon_judge(walk, list, r, socket, &why);
		unc_walk_lack(walk, type, socket, index_for(walk, type, socket, r->id),
			      "discovery lists it, but %s", why.text);
	}
}

static void add_type(struct unc_pmon *pmon, unsigned type, int socket)
{
	struct unc_walk *walk = pmon->walk;
	struct unc_pmon_list *list = &pmon->socket[socket];
	const struct unc_tbl_type *row = &walk->table->type[type];
	bool pci = unc_main_part(walk->table, type)->space == UNC_SPACE_PCI;
	bool msr = unc_main_part(walk->table, type)->space == UNC_SPACE_MSR;
	struct told told = count_otherwise(walk, type, socket);
	size_t n;

	/* A channel whose function is invisible is no surplus: the BIOS may hide it. */
	if (!unc_only_listed(walk, type))
		drop_surplus_records(walk, list, type, socket, &told);
	n = unc_pmon_judge_all(walk, list, type, socket);
	/* A PCI device id, or a register, can prove that a unit exists: then an empty list proves
	 * nothing. */
	bool fixed =
		!n && !unc_only_listed(walk, type) && (pci || unc_present_all(walk, type, socket));
	int added = 0;

	if (fixed)
		unc_fixed_type(walk, type, socket);
	/* A unit without a place in the tables (CXL), or an optional one (HBM), may be absent. */
	if (!n && told.n && !unc_only_listed(walk, type) &&
	    (!fixed || units_of(walk, type, socket)))
		unc_walk_note(walk, "socket %d: discovery lists no %s%s", socket,
			      unc_type_name(walk->table, type),
			      !fixed ? ""
			      : pci  ? "; taken from their device ids"
				     : "; taken from their places");
	/* An empty list proves nothing if another socket has units, except links and options. */
	if ((n || pci || unc_only_listed(walk, type)) && type < UNC_BITS_MAX &&
	    (!fixed || !units_of(walk, type, socket)))
		unc_bits_add(&walk->listed[socket], type);
	if (fixed)
		return;
	for (size_t i = 0; i < list->n; i++)
		if (list->record[i].type == type && list->record[i].state == UNC_PMON_USED)
			add_recorded_unit(walk, &list->record[i], socket);
	add_broken(walk, list, type, socket, UNC_PMON_ODD);
	if (!pci)
		add_broken(walk, list, type, socket, UNC_PMON_NOT_THERE);
	if (!msr && !unc_only_listed(walk, type))
		added = add_unlisted(walk, type, socket, told.n);
	if (added > 0 && pci && !row->unlisted && !*list->lacks)
		snprintf(list->lacks, sizeof(list->lacks), "discovery does not list %d %s", added,
			 unc_type_name(walk->table, type));
	if (pci)
		add_broken(walk, list, type, socket, UNC_PMON_NOT_THERE);
	add_doubted(walk, list, type, socket, &told);
}

/* A list that lacks units of one type may lack units of other types, which no other source counts. */
static void add_doubtful_type(struct unc_pmon *pmon, unsigned type, int socket)
{
	struct unc_walk *walk = pmon->walk;
	const struct unc_tbl_type *row = &walk->table->type[type];
	bool listed = unc_only_listed(walk, type);

	if (row->discovery < 0 || row->distrusted || !row->parts.n || row->presents.n)
		return;
	if (listed || (unc_main_part(walk->table, type)->space == UNC_SPACE_MSR &&
		       units_of(walk, type, socket) < unc_main_part(walk->table, type)->where.n))
		add_doubtful(walk, type, socket, UNC_NONE, pmon->socket[socket].lacks);
}

static bool is_recorded(const struct unc_walk *walk, const struct unc_pmon_list *list,
			unsigned type, uint64_t base)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->record[i].type == type && unc_pmon_base(walk, &list->record[i]) == base)
			return true;
	return false;
}

/* Adds the units of a type whose records are not trusted. A note says if they are wrong. */
static void add_distrusted_type(struct unc_pmon *pmon, unsigned type, int socket)
{
	struct unc_walk *walk = pmon->walk;
	const struct unc_pmon_list *list = &pmon->socket[socket];
	size_t from = walk->n, n = 0, right = 0, there;
	char text[160];

	unc_fixed_type(walk, type, socket);
	there = walk->n - from;
	for (size_t i = 0; i < list->n; i++)
		n += list->record[i].type == type;
	for (size_t k = from; k < walk->n; k++)
		right += is_recorded(walk, list, type, walk->unit[k].part[0].base);
	if (n && (n != right || n != there))
		unc_walk_note(walk,
			      "socket %d: discovery of %zu %s is not used, because it is known to "
			      "be wrong on some %s; taken from their places",
			      socket, n, unc_type_name(walk->table, type),
			      unc_tbl_str(walk->table, walk->table->title));
	snprintf(text, sizeof(text), "discovery lists %zu %s, %zu PCI functions are visible", n,
		 unc_type_name(walk->table, type), there);
	/* If no function is visible, the machine has no such units: it has one socket. */
	for (size_t k = there; there && k < n; k++)
		add_doubtful(walk, type, socket, 0, text);
}

/* Adds the units of a socket whose tables this process may not read. */
static void units_by_driver(struct unc_pmon *pmon, int socket)
{
	struct unc_walk *walk = pmon->walk;
	struct unc_error differ = {0}, unknown = {0};

	unc_driver_unknown(walk, socket, pmon->denied.text, &differ, &unknown);
	unc_walk_note(walk, "socket %d: the discovery tables are not read (%s); %s%s", socket,
		      pmon->denied.text,
		      unknown.code ? "the kernel's driver tells of socket 0, and "
				   : "which units exist is what the kernel's driver says",
		      differ.text);
	for (unsigned type = 0; type < walk->table->n_type; type++)
		unc_driver_type(walk, type, socket, &unknown);
}

static void units_of_socket(struct unc_pmon *pmon, int socket)
{
	struct unc_walk *walk = pmon->walk;
	struct unc_pmon_list *list = &pmon->socket[socket];
	bool trusted = list->n_tables && !list->broken;

	if (!trusted && pmon->denied.code && unc_driver_knows(walk)) {
		units_by_driver(pmon, socket);
		return;
	}
	if (!trusted)
		unc_walk_note(walk,
			      "socket %d: %s discovery table; the places of the guide are used",
			      socket, list->broken ? "no usable" : "no");
	for (unsigned type = 0; type < walk->table->n_type; type++) {
		if (!walk->table->type[type].parts.n)
			continue;
		if (trusted && walk->table->type[type].distrusted)
			add_distrusted_type(pmon, type, socket);
		else if (trusted && walk->table->type[type].discovery >= 0)
			add_type(pmon, type, socket);
		else if (unc_only_listed(walk, type))
			unc_add_untold(walk, type, socket);
		else
			unc_fixed_type(walk, type, socket);
	}
	for (unsigned type = 0; *list->lacks && type < walk->table->n_type; type++)
		add_doubtful_type(pmon, type, socket);
	if (*list->lacks) /* the list does not prove that a unit is absent */
		walk->listed[socket] = (struct unc_bits){{0}};
}

/* ------------------------------------------------------- all units */

/* Whether the registers of two units overlap; MSRs only on the same socket. */
static bool registers_overlap(const struct unc_walk *walk, const struct unc_instance *a,
			      const struct unc_instance *b)
{
	const struct unc_place *first = &a->part[0], *second = &b->part[0];

	return a != b && second->base && first->space == second->space &&
	       (first->space != UNC_SPACE_MSR || a->socket == b->socket) &&
	       first->base < second->base + unc_part_extent(walk->table, b->type, 0) &&
	       second->base < first->base + unc_part_extent(walk->table, a->type, 0);
}

/* Returns the nearest unit whose registers overlap; NULL: none. */
static const struct unc_instance *find_overlap(const struct unc_walk *walk,
					       const struct unc_instance *unit)
{
	const struct unc_instance *found = NULL;
	uint64_t base = unit->part[0].base, best = UINT64_MAX;

	for (const struct unc_instance *u = walk->unit; u < walk->unit + walk->n; u++) {
		uint64_t at = u->part[0].base, far = at < base ? base - at : at - base;

		if (far < best && registers_overlap(walk, unit, u)) {
			found = u;
			best = far;
		}
	}
	return found;
}

/* Refuses overlapping units of types whose place no source names. */
static void refuse_overlaps(struct unc_walk *walk)
{
	for (struct unc_instance *unit = walk->unit; unit < walk->unit + walk->n; unit++) {
		const struct unc_instance *other;

		if (!unit->part[0].present || unc_main_part(walk->table, unit->type)->where.n ||
		    !(other = find_overlap(walk, unit)))
			continue;
		unit->part[0].present = unit->part[0].exists = false;
		unc_instance_refuse(unit,
				    "discovery lists it, but its registers would be those of %s%u "
				    "of socket %u at %s",
				    unc_type_name(walk->table, other->type), other->index,
				    other->socket, other->location);
	}
}

void unc_discover_table(struct unc_walk *walk)
{
	struct unc_pmon *pmon = calloc(1, sizeof(*pmon));

	walk->no_memory |= !pmon;
	if (!pmon)
		return;
	pmon->walk = walk;
	unc_pmon_read(pmon);
	for (int socket = 0; socket < walk->topo->n_sockets; socket++)
		units_of_socket(pmon, socket);
	refuse_overlaps(walk);
	unc_pmon_free(pmon);
}
