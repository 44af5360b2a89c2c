/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides whether a record of the discovery table is trusted: by its place, which must be in units.tbl
 * or belong to no other unit, by its layout, and by the other records of its type.
 */
#include <inttypes.h>

#include "machine/discover_walk.h"

enum { MSR_ALIGN = 16, PHYSICAL_BITS = 52 };

/* ----------------------------------------------------------------- one record */

uint64_t unc_pmon_base(const struct unc_walk *walk, const struct unc_pmon_record *record)
{
	uint64_t address = record->address;

	if (unc_main_part(walk->table, record->type)->space == UNC_SPACE_PCI)
		address &= ~(1ull << 31);
	return address - (uint64_t)unc_control_offset(walk->table, record->type);
}

/* Whether some of these MSRs belong to a type, at any place in the table. *low, *high: its first and last
 * place. */
static bool has_msr(const struct unc_table *t, unsigned type, uint64_t first, uint64_t end,
		    uint64_t *low, uint64_t *high)
{
	const struct unc_tbl_type *row = &t->type[type];
	bool has = false;

	for (unsigned part = 0; part < row->parts.n; part++) {
		const struct unc_tbl_part *p = unc_type_part(t, type, part);
		uint64_t extent = unc_part_extent(t, type, part);
		const struct unc_tbl_where *w = NULL;

		while (p->space == UNC_SPACE_MSR && (w = UNC_NEXT(t, where, p->where, w))) {
			has |= w->base < end && first < w->base + extent;
			*low = !part && w->base < *low ? w->base : *low;
			*high = !part && w->base > *high ? w->base : *high;
		}
	}
	for (const struct unc_tbl_reg *r = NULL;
	     row->parts.n && (r = UNC_NEXT(t, reg, row->regs, r));)
		has |= r->flags & UNC_REG_ABS && (uint32_t)r->offset >= first &&
		       (uint32_t)r->offset < end &&
		       unc_type_part(t, type, r->part)->space == UNC_SPACE_MSR;
	return has;
}

enum unc_msr_verdict unc_pmon_msr(const struct unc_table *t, unsigned type, uint64_t base,
				  unsigned *owner)
{
	uint64_t low = UINT64_MAX, high = 0, end = base + unc_part_extent(t, type, 0);
	bool taken = false;

	for (unsigned i = 0; i < t->n_type; i++)
		if (has_msr(t, i, base, end, &low, &high)) {
			*owner = i;
			taken = true;
		}
	if (base % MSR_ALIGN || base < low || base >= high)
		return UNC_MSR_APART;
	return taken ? UNC_MSR_TAKEN : UNC_MSR_FREE;
}

/* Checks an MSR: a broken table must not make the library write other registers of the CPU. */
static int check_msr_place(const struct unc_walk *walk, unsigned type, uint64_t base,
			   struct unc_error *err)
{
	const struct unc_table *t = walk->table;
	const struct unc_range *rows = &unc_main_part(t, type)->where;
	unsigned owner;

	for (uint32_t i = 0; i < rows->n; i++)
		if (t->where[rows->first + i].base == base)
			return 0;
	if (rows->n)
		return unc_fail(err, UNC_ERR_TABLE, "MSR 0x%" PRIx64 " is no place of %s", base,
				unc_type_name(t, type));
	switch (unc_pmon_msr(t, type, base, &owner)) {
	case UNC_MSR_APART:
		return unc_fail(err, UNC_ERR_TABLE,
				"MSR 0x%" PRIx64 " is no multiple of 16 in the monitors' range",
				base);
	case UNC_MSR_TAKEN:
		return unc_fail(err, UNC_ERR_TABLE, "MSR 0x%" PRIx64 " is of %s", base,
				unc_type_name(t, owner));
	default:
		return 0;
	}
}

/* Checks an address in memory against the places in the BARs, if these can be read. */
static int check_mmio_place(const struct unc_walk *walk, const struct unc_pmon_record *record,
			    int socket, struct unc_error *err)
{
	const struct unc_range *rows = &unc_main_part(walk->table, record->type)->where;
	uint64_t base = unc_pmon_base(walk, record), bar;
	struct unc_error unread = {0};

	if (base & 7 || base >> PHYSICAL_BITS)
		return unc_fail(err, UNC_ERR_TABLE, "0x%" PRIx64 " is no address of a unit", base);
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct unc_tbl_where *where =
			&walk->table->where[rows->first + (record->id + i) % rows->n];
		struct unc_error why = {0};
		int rc = unc_fixed_bar(walk, &walk->table->bar[where->bar], where->bar_index,
				       socket, &bar, &why);

		if (rc == 0 && bar + where->base == base)
			return 0;
		if (rc == UNC_ERR_UNAVAILABLE)
			unread = why;
	}
	if (unread.code)
		return unc_fail(err, unread.code, "memory 0x%" PRIx64 " cannot be checked: %s",
				base, unread.text);
	/* If no source names a place, refuse_overlaps() and the fence check the address. */
	return rows->n ? unc_fail(err, UNC_ERR_TABLE, "memory 0x%" PRIx64 " is no place of %s",
				  base, unc_type_name(walk->table, record->type))
		       : 0;
}

/* Renumbers the record by its place: types that share a number in the discovery table also share the numbers
 * of their units. */
static void number_by_place(const struct unc_walk *walk, struct unc_pmon_record *record)
{
	const struct unc_range *rows = &unc_main_part(walk->table, record->type)->where;

	for (uint32_t i = 0; walk->table->type[record->type].functions && i < rows->n; i++)
		if (walk->table->where[rows->first + i].devfn == UNC_PCI_DEVFN(record->address))
			record->id = (uint16_t)i;
}

/* Returns the place of a PCI unit: that of its number, or any that only the discovery table fills. */
static const struct unc_tbl_where *pci_place(const struct unc_walk *walk,
					     const struct unc_pmon_record *record,
					     const struct unc_pci_function *f)
{
	const struct unc_tbl_part *part = unc_main_part(walk->table, record->type);
	const struct unc_tbl_where *where = NULL;

	if (!unc_only_listed(walk, record->type))
		return unc_part_place(walk->table, part, record->id);
	while (f && (where = UNC_NEXT(walk->table, where, part->where, where)))
		if (where->devfn == f->devfn &&
		    (where->device_id ? where->device_id == f->device : f->device))
			return where;
	return NULL;
}

/* Checks that the PCI function exists, on this socket, with the device of units.tbl. Bit 31 of the address is
 * ignored, as in Linux. */
static int check_pci_place(const struct unc_walk *walk, const struct unc_pmon_record *record,
			   int socket, struct unc_error *err)
{
	const struct unc_tbl_part *part = unc_main_part(walk->table, record->type);
	uint64_t address = record->address & ~(1ull << 31);
	const struct unc_tbl_where *where;
	const struct unc_pci_function *f;
	int64_t offset;
	int found;

	if (record->address >> 32)
		return unc_fail(err, UNC_ERR_TABLE, "0x%" PRIx64 " is no PCI address",
				record->address);
	f = unc_walk_address(walk, address, &found);
	where = pci_place(walk, record, f);
	if (!where && unc_only_listed(walk, record->type))
		return unc_fail(err, UNC_ERR_TABLE, "none can be at %s",
				unc_pci_name(address).text);
	if (!where)
		return unc_fail(err, UNC_ERR_TABLE, "its number is beyond the %u there are",
				part->where.n);
	/* If the socket of the bus is not known, that of the table is used. */
	if (!f || (where->device_id && f->device != where->device_id) || f->devfn != where->devfn ||
	    (found != UNC_SOCKET_UNKNOWN && found != socket))
		return unc_fail(err, UNC_ERR_TABLE, "no 8086:%04x of this socket is at %s",
				where->device_id, unc_pci_name(address).text);
	offset = (int64_t)where->base + unc_control_offset(walk->table, record->type);
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
	uint8_t space = unc_main_part(walk->table, record->type)->space;

	if (record->access != access[space])
		return unc_fail(err, UNC_ERR_TABLE, "access type %u, but %s registers are %s",
				record->access, unc_type_name(walk->table, record->type),
				unc_space_name(space));
	if (space == UNC_SPACE_MSR)
		return check_msr_place(walk, record->type, unc_pmon_base(walk, record), err);
	if (space == UNC_SPACE_MMIO)
		return check_mmio_place(walk, record, socket, err);
	return check_pci_place(walk, record, socket, err);
}

static uint8_t distance(const struct unc_table *t, const struct unc_tbl_type *row, uint16_t reg)
{
	int32_t from = row->unit_ctl == UNC_NONE ? 0 : t->reg[row->unit_ctl].offset;

	return (uint8_t)(t->reg[reg].offset - from);
}

/* Checks the layout against units.tbl: fewer or narrower counters would be misread. */
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

/* ------------------------------------------------------- records of a type */

/* Whether most records of the type have another shape. */
static bool is_unlike(const struct unc_pmon_list *list, const struct unc_pmon_record *r)
{
	size_t same = 0, n = 0;

	for (const struct unc_pmon_record *o = list->record; o < list->record + list->n; o++) {
		n += o->type == r->type;
		same += o->type == r->type && o->shape == r->shape;
	}
	return 2 * same < n;
}

/* Whether a record is at the place that the tables have for its number. */
static bool is_home(const struct unc_walk *walk, const struct unc_pmon_record *r)
{
	const struct unc_tbl_where *where =
		unc_part_place(walk->table, unc_main_part(walk->table, r->type), r->id);

	return where && where->base == unc_pmon_base(walk, r);
}

/* Returns another record with the number or the place of this one and a better claim to it; NULL: none. */
static const struct unc_pmon_record *find_rival(const struct unc_walk *walk,
						const struct unc_pmon_list *list,
						const struct unc_pmon_record *r)
{
	for (const struct unc_pmon_record *o = list->record; o < list->record + list->n; o++)
		if (o->type == r->type && (o->id == r->id) != (o->address == r->address) &&
		    (is_home(walk, o) != is_home(walk, r) ? is_home(walk, o) : o < r))
			return o;
	return NULL;
}

int unc_pmon_judge(const struct unc_walk *walk, const struct unc_pmon_list *list,
		   const struct unc_pmon_record *r, int socket, struct unc_error *err)
{
	const struct unc_pmon_record *other;
	const char *name = unc_type_name(walk->table, r->type);

	if (check_place(walk, r, socket, err) < 0)
		return UNC_PMON_NOT_THERE;
	if (check_layout(walk, r, err) < 0)
		return UNC_PMON_ODD;
	if (is_unlike(list, r)) {
		unc_fail(err, UNC_ERR_TABLE,
			 "its record, of %u counters of %u bits at 0x%" PRIx64
			 ", is not like those of other %s",
			 r->n_controls, r->width, unc_pmon_base(walk, r), name);
		return UNC_PMON_ODD;
	}
	if ((other = find_rival(walk, list, r))) {
		unc_fail(err, UNC_ERR_TABLE,
			 "it is listed at 0x%" PRIx64 ", and %s%u at 0x%" PRIx64,
			 unc_pmon_base(walk, r), name, other->id, unc_pmon_base(walk, other));
		return UNC_PMON_ODD;
	}
	return UNC_PMON_USED;
}

size_t unc_pmon_judge_all(const struct unc_walk *walk, const struct unc_pmon_list *list,
			  unsigned type, int socket)
{
	struct unc_error first = {0};
	unsigned first_id = 0;
	size_t n = 0, bad = 0;

	for (struct unc_pmon_record *r = list->record; r < list->record + list->n; r++) {
		struct unc_error why;

		if (r->type != type)
			continue;
		unc_error_clear(&why);
		n++;
		number_by_place(walk, r);
		r->state = (uint8_t)unc_pmon_judge(walk, list, r, socket, &why);
		if (r->state == UNC_PMON_USED || bad++)
			continue;
		first = why;
		first_id = r->id;
	}
	if (bad)
		unc_walk_note(walk, "socket %d: discovery of %zu of %zu %s is broken (%s%u: %s)",
			      socket, bad, n, unc_type_name(walk->table, type),
			      unc_type_name(walk->table, type), first_id, first.text);
	return n;
}
