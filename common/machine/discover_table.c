/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units by the PMON discovery tables.
 *
 * What a table says is believed only as far as it agrees with units.tbl: MSR numbers within the
 * monitors' range, memory within the BARs of the guide, PCI functions that exist and have the
 * right device id, registers at the distances known. A table that is broken as a whole is not
 * used at all: the places of units.tbl are, and a note says so. The encoding of PCI addresses:
 * Linux uncore_discovery.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/discover_walk.h"

enum {
	MSR_SLACK = 0x100, /* units behind the last that units.tbl knows */
	PHYSICAL_BITS = 52
};

/* ----------------------------------------------------------------- one record */

static const struct unc_tbl_part *main_part(const struct unc_walk *walk, unsigned type)
{
	return &walk->table->part[walk->table->type[type].parts.first];
}

/* Offset of unit control in its part. */
static int64_t control_offset(const struct unc_walk *walk, unsigned type)
{
	uint16_t reg = walk->table->type[type].unit_ctl;

	return reg == UNC_NONE ? 0 : walk->table->reg[reg].offset;
}

/* MSRs: a broken table must not make us write any register of the CPU. */
static int check_msr(const struct unc_walk *walk, uint64_t address, struct unc_error *err)
{
	const struct unc_table *t = walk->table;
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < t->n_part; i++) {
		for (uint32_t k = 0; t->part[i].space == UNC_SPACE_MSR && k < t->part[i].where.n;
		     k++) {
			uint64_t base = t->where[t->part[i].where.first + k].base;

			low = base < low ? base : low;
			high = base > high ? base : high;
		}
	}
	if (address >= low && address < high + MSR_SLACK)
		return 0;
	return unc_fail(err, UNC_ERR_TABLE, "MSR 0x%" PRIx64 " is outside of the monitors' range",
			address);
}

/* Bytes from the unit's control to the end of its last register. */
static uint64_t extent(const struct unc_table *t, const struct unc_tbl_type *row)
{
	int64_t end = 8;

	for (uint32_t i = 0; i < row->regs.n; i++) {
		const struct unc_tbl_reg *reg = &t->reg[row->regs.first + i];
		int64_t last = (int64_t)reg->offset + reg->width / 8;

		if (reg->part == 0 && !(reg->flags & UNC_REG_ABS) && last > end)
			end = last;
	}
	return (uint64_t)end;
}

/* Memory: within the BARs of the guide, where these can be read. */
static int check_mmio(const struct unc_walk *walk, unsigned type, int socket, uint64_t address,
		      struct unc_error *err)
{
	const struct unc_tbl_part *part = main_part(walk, type);
	uint64_t size = extent(walk->table, &walk->table->type[type]);
	unsigned readable = 0;

	if (address & 7 || address >> PHYSICAL_BITS)
		return unc_fail(err, UNC_ERR_TABLE, "0x%" PRIx64 " is no address of a unit",
				address);
	for (uint32_t i = 0; i < part->where.n; i++) {
		const struct unc_tbl_where *where = &walk->table->where[part->where.first + i];
		const struct unc_tbl_bar *bar = &walk->table->bar[where->bar];
		uint64_t base;

		if (unc_fixed_bar(walk, bar, where->bar_index, socket, &base, NULL) < 0)
			continue;
		readable++;
		if (address >= base && address - base < bar->size &&
		    bar->size - (address - base) >= size)
			return 0;
	}
	if (!readable)
		return 0;
	return unc_fail(err, UNC_ERR_TABLE, "memory 0x%" PRIx64 " is outside of its BARs", address);
}

/* Types that share a number in the discovery table share the numbers of their units, too: there the
 * unit at the place of the tables has the place's number. */
static void number_by_place(const struct unc_walk *walk, struct unc_pmon_record *record)
{
	const struct unc_range *rows = &main_part(walk, record->type)->where;

	for (uint32_t i = 0; walk->table->type[record->type].functions && i < rows->n; i++)
		if (walk->table->where[rows->first + i].devfn == UNC_PCI_DEVFN(record->address))
			record->id = (uint16_t)i;
}

/* PCI: the function exists, on this socket, and is what units.tbl expects there. */
static int check_pci(const struct unc_walk *walk, const struct unc_pmon_record *record, int socket,
		     struct unc_error *err)
{
	const struct unc_tbl_part *part = main_part(walk, record->type);
	uint64_t address = record->address & ~(1ull << 31);
	const struct unc_tbl_where *where;
	const struct unc_pci_function *f;
	int64_t offset;
	int found;

	if (!(record->address >> 31 & 1))
		return unc_fail(err, UNC_ERR_TABLE, "its PCI address is not enabled (bit 31)");
	if (record->address >> 32)
		return unc_fail(err, UNC_ERR_TABLE, "0x%" PRIx64 " is no PCI address",
				record->address);
	if (record->id >= part->where.n)
		return unc_fail(err, UNC_ERR_TABLE, "its number is beyond the %u there are",
				part->where.n);
	where = &walk->table->where[part->where.first + record->id];
	f = unc_walk_address(walk, address, &found);
	/* Where the bus does not tell its socket, the table does. */
	if (!f || f->device != where->device_id || f->devfn != where->devfn ||
	    (found != UNC_SOCKET_UNKNOWN && found != socket))
		return unc_fail(err, UNC_ERR_TABLE, "no 8086:%04x of this socket is at %s",
				where->device_id, unc_pci_name(address).text);
	offset = (int64_t)where->base + control_offset(walk, record->type);
	if (UNC_PCI_OFFSET(address) != offset)
		return unc_fail(err, UNC_ERR_TABLE, "unit control at 0x%x, not at 0x%llx",
				UNC_PCI_OFFSET(address), (long long)offset);
	return 0;
}

static int check_place(const struct unc_walk *walk, const struct unc_pmon_record *record,
		       int socket, struct unc_error *err)
{
	static const uint8_t access[UNC_N_SPACES] = {
		[UNC_SPACE_MSR] = UNC_PMON_MSR,
		[UNC_SPACE_PCI] = UNC_PMON_PCI,
		[UNC_SPACE_MMIO] = UNC_PMON_MMIO,
	};
	uint8_t space = main_part(walk, record->type)->space;

	if (record->access != access[space])
		return unc_fail(err, UNC_ERR_TABLE, "access type %u, but %s registers are %s",
				record->access, unc_type_name(walk->table, record->type),
				unc_space_name(space));
	if (space == UNC_SPACE_MSR)
		return check_msr(walk, record->address, err);
	if (space == UNC_SPACE_MMIO)
		return check_mmio(walk, record->type, socket, record->address, err);
	return check_pci(walk, record, socket, err);
}

static uint8_t distance(const struct unc_table *t, const struct unc_tbl_type *row, uint16_t reg)
{
	int32_t from = row->unit_ctl == UNC_NONE ? 0 : t->reg[row->unit_ctl].offset;

	return (uint8_t)(t->reg[reg].offset - from);
}

/* Does the unit look as units.tbl says? Fewer or narrower counters would be misread. */
static int check_layout(const struct unc_walk *walk, const struct unc_pmon_record *record,
			struct unc_error *err)
{
	const struct unc_tbl_type *row = &walk->table->type[record->type];

	if (!row->n_counters)
		return 0;
	if (record->n_controls < row->n_counters)
		return unc_fail(err, UNC_ERR_TABLE, "discovery says %u counters, the guide %u",
				record->n_controls, row->n_counters);
	if (record->width < row->width)
		return unc_fail(err, UNC_ERR_TABLE,
				"discovery says counters of %u bits, the guide %u", record->width,
				row->width);
	if (record->ctl != distance(walk->table, row, row->first_ctl) ||
	    record->ctr != distance(walk->table, row, row->first_ctr))
		return unc_fail(err, UNC_ERR_TABLE,
				"discovery says controls at +0x%x and counters at +0x%x, the guide "
				"+0x%x and +0x%x",
				record->ctl, record->ctr,
				distance(walk->table, row, row->first_ctl),
				distance(walk->table, row, row->first_ctr));
	return 0;
}

/* ------------------------------------------------------- one type on a socket */

/* An earlier record of the same unit, or another unit at the same place. */
static const struct unc_instance *twin(const struct unc_walk *walk, size_t from,
				       const struct unc_pmon_record *record, uint64_t base)
{
	for (size_t i = from; i < walk->n; i++)
		if (walk->unit[i].index == record->id || walk->unit[i].part[0].base == base)
			return &walk->unit[i];
	return NULL;
}

/* Has a unit been refused already? One note is enough for a type. */
static bool refused(const struct unc_walk *walk, size_t from)
{
	for (size_t i = from; i < walk->n; i++)
		if (!walk->unit[i].part[0].present)
			return true;
	return false;
}

/* More or wider counters than the guide knows do no harm. */
static void note_surplus(const struct unc_walk *walk, const struct unc_pmon_list *list,
			 unsigned type, int socket)
{
	const struct unc_tbl_type *row = &walk->table->type[type];

	for (size_t i = 0; i < list->n; i++) {
		const struct unc_pmon_record *r = &list->record[i];

		if (r->type != type || !r->used ||
		    (r->n_controls <= row->n_counters && r->width <= row->width))
			continue;
		unc_walk_note(walk,
			      "socket %d: discovery gives %s%u %u counters of %u bits; "
			      "%u of %u bits are used",
			      socket, unc_type_name(walk->table, type), r->id, r->n_controls,
			      r->width, row->n_counters, row->width);
		return;
	}
}

static uint64_t base_of(const struct unc_walk *walk, const struct unc_pmon_record *record)
{
	uint64_t address = record->address;

	if (main_part(walk, record->type)->space == UNC_SPACE_PCI)
		address &= ~(1ull << 31);
	return address - (uint64_t)control_offset(walk, record->type);
}

static int add_unit(struct unc_walk *walk, const struct unc_pmon_record *record, int socket,
		    size_t from, struct unc_error *err)
{
	const char *name = unc_type_name(walk->table, record->type);
	uint64_t base = base_of(walk, record);
	const struct unc_instance *other = twin(walk, from, record, base);
	struct unc_error why = {0};
	struct unc_instance *unit;
	bool unreached;

	if (other) {
		unc_walk_note(walk,
			      "socket %d: discovery lists %s%u at 0x%" PRIx64
			      " a second time (%s%u at 0x%" PRIx64 "); ignored",
			      socket, name, record->id, base, name, other->index,
			      other->part[0].base);
		return 0;
	}
	unit = unc_walk_add(walk, record->type, socket, record->id, err);
	if (!unit)
		return UNC_ERR_MEMORY;
	unit->status_position = (int16_t)record->position;
	unit->part[0] = (struct unc_place){
		.base = base,
		.space = main_part(walk, record->type)->space,
		.present = true,
		.exists = true,
	};
	unreached = unit->part[0].space == UNC_SPACE_MSR &&
		    unc_walk_cpu(walk, socket, &unit->part[0], &why) < 0;
	if (unreached) {
		unit->part[0].present = false;
		snprintf(unit->reason, sizeof(unit->reason), "%.*s", UNC_REASON_MAX - 1, why.text);
	}
	unc_fixed_parts(walk, unit, 1);
	if (!unreached && check_layout(walk, record, &why) < 0) {
		if (!refused(walk, from))
			unc_walk_note(walk, "socket %d: %s%u is not used: %s", socket, name,
				      record->id, why.text);
		unit->available = unit->part[0].present = unit->part[0].exists = false;
		snprintf(unit->reason, sizeof(unit->reason), "%.*s", UNC_REASON_MAX - 1, why.text);
	}
	return 0;
}

/* Checks the places of all records of a type. Returns how many records there are, and in *bad
 * how many of them are broken. */
static size_t check_records(const struct unc_walk *walk, const struct unc_pmon_list *list,
			    unsigned type, int socket, bool fixed, size_t *bad)
{
	struct unc_error first = {0};
	unsigned first_id = 0;
	size_t n = 0;

	*bad = 0;
	for (size_t i = 0; i < list->n; i++) {
		struct unc_pmon_record *record = &list->record[i];
		struct unc_error why = {0};

		if (record->type != type)
			continue;
		n++;
		number_by_place(walk, record);
		record->used = check_place(walk, record, socket, &why) == 0;
		if (record->used || (*bad)++)
			continue;
		first = why;
		first_id = record->id;
	}
	if (*bad)
		unc_walk_note(walk, "socket %d: discovery of %zu of %zu %s is broken (%s%u: %s)%s",
			      socket, *bad, n, unc_type_name(walk->table, type),
			      unc_type_name(walk->table, type), first_id, first.text,
			      fixed ? "; all are taken from their device ids" : "");
	return n;
}

/* The highest number among the first n of a type, each number once. */
static int last_of(const struct unc_pmon_list *list, unsigned type, unsigned n)
{
	int last = -1;

	for (unsigned i = 0; i < n; i++) {
		int next = UINT16_MAX + 1;

		for (size_t k = 0; k < list->n; k++)
			if (list->record[k].type == type && list->record[k].id > last &&
			    list->record[k].id < next)
				next = list->record[k].id;
		if (next > UINT16_MAX)
			break;
		last = next;
	}
	return last;
}

/* Firmware has listed slices that the part does not have. What counts them is believed, and the first
 * of the list are taken, as in Linux uncore_snbep.c (spr_uncore_cpu_init). Returns how many there may
 * be. */
static unsigned drop_surplus(struct unc_walk *walk, struct unc_pmon_list *list, unsigned type,
			     int socket)
{
	unsigned most = UNC_NONE, dropped = 0;
	const struct unc_tbl_present *by;
	struct unc_error why = {0};
	int last;

	if (unc_present_count(walk, type, socket, &most, &by, &why) < 0 || !by)
		return UNC_NONE;
	last = last_of(list, type, most);
	for (size_t i = 0; i < list->n; i++)
		if (list->record[i].type == type && list->record[i].id > last) {
			list->record[i].type = UNC_NONE;
			dropped++;
		}
	if (dropped)
		unc_walk_note(walk,
			      "socket %d: %s%04x tells of %u %s: %u more of the discovery table, "
			      "numbered above %d, are not used",
			      socket,
			      by->msr ? "msr 0x" : "PCI device 8086:", by->msr ? by->msr : by->id,
			      most, unc_type_name(walk->table, type), dropped, last);
	return most;
}

/* Lists a unit whose record is broken, so that it is not missed without a reason. */
static int add_broken(struct unc_walk *walk, const struct unc_pmon_record *record, int socket,
		      size_t from, struct unc_error *err)
{
	struct unc_error why = {0};
	struct unc_instance *unit;

	if (twin(walk, from, record, UINT64_MAX) ||
	    unc_fixed_empty(walk, record->type, record->id, socket, &why))
		return 0;
	unit = unc_walk_add(walk, record->type, socket, record->id, err);
	if (!unit)
		return UNC_ERR_MEMORY;
	check_place(walk, record, socket, &why);
	snprintf(unit->reason, sizeof(unit->reason), "its discovery is broken: %.220s", why.text);
	return 0;
}

/* Whether another table of the socket, that of another die, has given the number to a unit elsewhere. */
static bool is_taken(const struct unc_pmon_list *list, const struct unc_pmon_record *record)
{
	for (const struct unc_pmon_record *r = list->record; r < record; r++)
		if (r->type == record->type && r->id == record->id && r->table != record->table &&
		    r->address != record->address)
			return true;
	return false;
}

/* A unit whose number is taken would be missing from each sum: it is listed under a free number, as one
 * that cannot be used. */
static int add_taken(struct unc_walk *walk, const struct unc_pmon_list *list,
		     const struct unc_pmon_record *record, int socket, size_t from,
		     struct unc_error *err)
{
	struct unc_pmon_record other = *record;
	struct unc_instance *unit;

	for (size_t i = 0; i < list->n; i++)
		if (list->record[i].type == other.type && list->record[i].id >= other.id)
			other.id = (uint16_t)(list->record[i].id + 1);
	while (twin(walk, from, &other, UINT64_MAX))
		other.id++;
	unit = unc_walk_add(walk, record->type, socket, other.id, err);
	if (!unit)
		return UNC_ERR_MEMORY;
	snprintf(unit->reason, sizeof(unit->reason),
		 "two discovery tables of the socket list %s%u: the one at 0x%" PRIx64
		 " is not used",
		 unc_type_name(walk->table, record->type), record->id, base_of(walk, record));
	return 0;
}

static int type_of_socket(struct unc_pmon *pmon, unsigned type, int socket, struct unc_error *err)
{
	struct unc_walk *walk = pmon->walk;
	struct unc_pmon_list *list = &pmon->socket[socket];
	const struct unc_tbl_part *part = main_part(walk, type);
	/* A PCI function proves by its device id that it is there; an MSR does not. */
	bool fixed = part->space == UNC_SPACE_PCI && part->where.n;
	unsigned most = drop_surplus(walk, list, type, socket);
	size_t from = walk->n, bad, n;
	int rc = 0;

	n = check_records(walk, list, type, socket, fixed, &bad);
	/* So does a register that says so: with it, none in the list is no answer. */
	fixed = n ? fixed && bad : fixed || unc_present_all(walk, type, socket);
	if (fixed)
		rc = unc_fixed_type(walk, type, socket, err);
	/* What has no place by the tables (CXL), or is optional (HBM), may well be absent. */
	if (!n && most && (fixed ? walk->n > from : part->where.n > 0))
		unc_walk_note(walk, "socket %d: discovery lists no %s%s", socket,
			      unc_type_name(walk->table, type),
			      !fixed                         ? ""
			      : part->space == UNC_SPACE_PCI ? "; taken from their device ids"
							     : "; taken from their places");
	if ((!fixed || (!n && walk->n == from)) && type < UNC_BITS_MAX)
		unc_bits_add(&walk->listed[socket], type);
	if (fixed)
		return rc;
	note_surplus(walk, list, type, socket);
	for (size_t i = 0; i < list->n && rc == 0; i++)
		if (list->record[i].type == type && list->record[i].used &&
		    !is_taken(list, &list->record[i]))
			rc = add_unit(walk, &list->record[i], socket, from, err);
	for (size_t i = 0; i < list->n && rc == 0; i++)
		if (list->record[i].type == type && list->record[i].used &&
		    is_taken(list, &list->record[i]))
			rc = add_taken(walk, list, &list->record[i], socket, from, err);
	for (size_t i = 0; i < list->n && rc == 0; i++)
		if (list->record[i].type == type && !list->record[i].used)
			rc = add_broken(walk, &list->record[i], socket, from, err);
	return rc;
}

static bool is_listed(const struct unc_walk *walk, const struct unc_pmon_list *list, unsigned type,
		      uint64_t base)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->record[i].type == type && base_of(walk, &list->record[i]) == base)
			return true;
	return false;
}

/* The units of a type whose records are not believed. That they are wrong is told where they are. */
static int distrusted_type(struct unc_pmon *pmon, unsigned type, int socket, struct unc_error *err)
{
	struct unc_walk *walk = pmon->walk;
	const struct unc_pmon_list *list = &pmon->socket[socket];
	size_t from = walk->n, n = 0, right = 0;
	int rc = unc_fixed_type(walk, type, socket, err);

	for (size_t i = 0; i < list->n; i++)
		n += list->record[i].type == type;
	for (size_t k = from; k < walk->n; k++)
		right += is_listed(walk, list, type, walk->unit[k].part[0].base);
	if (n && (n != right || n != walk->n - from))
		unc_walk_note(
			walk,
			"socket %d: discovery of %zu %s is not used, which is known to be wrong "
			"on some %s; taken from their places",
			socket, n, unc_type_name(walk->table, type),
			unc_tbl_str(walk->table, walk->table->title));
	return rc;
}

/* The units of a socket whose tables this process may not read. */
static int units_by_driver(struct unc_pmon *pmon, int socket, struct unc_error *err)
{
	struct unc_walk *walk = pmon->walk;
	struct unc_error differ = {0}, unknown = {0};
	int rc = 0;

	unc_driver_unknown(walk, socket, pmon->denied.text, &differ, &unknown);
	unc_walk_note(walk, "socket %d: the discovery tables are not read (%s); %s%s", socket,
		      pmon->denied.text,
		      unknown.code ? "the kernel's driver tells of socket 0, and "
				   : "which units exist is what the kernel's driver says",
		      differ.text);
	for (unsigned type = 0; type < walk->table->n_type && rc == 0; type++)
		rc = unc_driver_type(walk, type, socket, &unknown, err);
	return rc;
}

static int units_of_socket(struct unc_pmon *pmon, int socket, struct unc_error *err)
{
	struct unc_walk *walk = pmon->walk;
	struct unc_pmon_list *list = &pmon->socket[socket];
	bool trusted = list->tables && !list->broken;
	int rc = 0;

	if (!trusted && pmon->denied.code && unc_driver_knows(walk))
		return units_by_driver(pmon, socket, err);
	if (!trusted)
		unc_walk_note(walk,
			      "socket %d: %s discovery table; the places of the guide are used",
			      socket, list->tables ? "no usable" : "no");
	for (unsigned type = 0; type < walk->table->n_type && rc == 0; type++) {
		if (!walk->table->type[type].parts.n)
			continue;
		if (trusted && walk->table->type[type].distrusted)
			rc = distrusted_type(pmon, type, socket, err);
		else if (trusted && walk->table->type[type].discovery >= 0)
			rc = type_of_socket(pmon, type, socket, err);
		else if (unc_only_listed(walk, type))
			rc = unc_add_untold(walk, type, socket, err);
		else
			rc = unc_fixed_type(walk, type, socket, err);
	}
	return rc;
}

int unc_discover_table(struct unc_walk *walk, struct unc_error *err)
{
	struct unc_pmon *pmon = calloc(1, sizeof(*pmon));
	int rc;

	if (!pmon)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	pmon->walk = walk;
	rc = unc_pmon_read(pmon, err);
	for (int socket = 0; socket < walk->topo->n_sockets && rc == 0; socket++)
		rc = units_of_socket(pmon, socket, err);
	unc_pmon_free(pmon);
	return rc;
}
