/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units by the places of units.tbl: MSR numbers; device and function on the buses of a socket;
 * addresses that configuration registers hold.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "discover_walk.h"

enum { EXTENDED = 0x100 }; /* first offset of the extended configuration space */

static unsigned limit_to(unsigned n, int limit)
{
	return limit >= 0 && (unsigned)limit < n ? (unsigned)limit : n;
}

/* Largest offset that the registers of a part need. */
static unsigned last_offset(const struct unc_walk *walk, unsigned type, unsigned part,
			    uint64_t base)
{
	const struct unc_tbl_type *row = &walk->table->type[type];
	int64_t last = 0;

	for (uint32_t i = 0; i < row->regs.n; i++) {
		const struct unc_tbl_reg *reg = &walk->table->reg[row->regs.first + i];
		int64_t at = reg->offset + (reg->flags & UNC_REG_ABS ? 0 : (int64_t)base);

		if (reg->part == part && at > last)
			last = at;
	}
	return (unsigned)last;
}

static int place_pci(const struct unc_walk *walk, unsigned type, unsigned part,
		     const struct unc_tbl_where *where, int socket, struct unc_place *out,
		     struct unc_error *err)
{
	const struct unc_pci_function *f =
		unc_walk_function(walk, socket, where->device_id, where->devfn);
	unsigned device = where->devfn >> 3, function = where->devfn & 7;
	struct unc_error why = {0};
	uint32_t value;

	if (!f)
		return unc_fail(
			err, UNC_ERR_UNAVAILABLE,
			"PCI function %02x.%x (8086:%04x) is not visible: hidden by the BIOS, "
			"or this machine has none",
			device, function, where->device_id);
	out->base = UNC_PCI(f->domain, f->bus, f->devfn, where->base);
	if (unc_walk_config(walk, f, 0, &value, &why) < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", why.text);
	if (value == UINT32_MAX)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"PCI function %02x.%x (8086:%04x) reads as all ones: hidden by the "
				"BIOS",
				device, function, where->device_id);
	if (last_offset(walk, type, part, where->base) >= EXTENDED &&
	    unc_walk_config(walk, f, EXTENDED, &value, &why) < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"PCI function %02x.%x (8086:%04x): registers beyond 0xff are not "
				"reachable",
				device, function, where->device_id);
	out->present = true;
	return 0;
}

int unc_fixed_bar(const struct unc_walk *walk, const struct unc_tbl_bar *bar, unsigned element,
		  int socket, uint64_t *address, struct unc_error *err)
{
	const struct unc_pci_function *f =
		unc_walk_function(walk, socket, bar->device_id, bar->devfn);
	unsigned offset = bar->offset + element * bar->step;
	struct unc_error why = {0};
	uint32_t base, part;
	uint64_t sum;

	if (!f)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"PCI function %02x.%x (8086:%04x), which holds the address, is not "
				"visible",
				bar->devfn >> 3, bar->devfn & 7, bar->device_id);
	if (unc_walk_config(walk, f, bar->base_offset, &base, &why) < 0 ||
	    unc_walk_config(walk, f, offset, &part, &why) < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", why.text);
	sum = ((uint64_t)(base & bar->base_mask) << bar->base_shift) +
	      ((uint64_t)(part & bar->mask) << bar->shift);
	if (base == UINT32_MAX || part == UINT32_MAX || !(base & bar->base_mask) || !sum)
		return unc_fail(
			err, UNC_ERR_UNAVAILABLE,
			"PCI function %02x.%x (8086:%04x) holds no address at 0x%x and 0x%x",
			bar->devfn >> 3, bar->devfn & 7, bar->device_id, bar->base_offset, offset);
	*address = sum;
	return 0;
}

int unc_fixed_place(const struct unc_walk *walk, unsigned type, unsigned part, unsigned index,
		    int socket, struct unc_place *out, struct unc_error *err)
{
	const struct unc_tbl_type *row = &walk->table->type[type];
	const struct unc_tbl_part *p = &walk->table->part[row->parts.first + part];
	const struct unc_tbl_where *where = &walk->table->where[p->where.first + index];
	uint64_t address;
	int rc;

	*out = (struct unc_place){.space = p->space};
	if (index >= p->where.n)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "its place is not known");
	if (p->space == UNC_SPACE_PCI)
		return place_pci(walk, type, part, where, socket, out, err);
	if (unc_space_of_thread(p->space)) {
		out->base = where->base;
		out->target = (uint32_t)unc_topology_cpu(walk->topo, socket, index);
	} else if (p->space == UNC_SPACE_MSR) {
		out->base = where->base;
		out->target = (uint32_t)walk->topo->socket[socket].cpu;
	} else {
		rc = unc_fixed_bar(walk, &walk->table->bar[where->bar], where->bar_index, socket,
				   &address, err);
		if (rc < 0)
			return rc;
		out->base = address + where->base;
	}
	out->present = true;
	return 0;
}

void unc_fixed_parts(const struct unc_walk *walk, struct unc_instance *unit, unsigned first)
{
	const struct unc_tbl_type *row = &walk->table->type[unit->type];

	for (unsigned i = first; i < row->parts.n && i < UNC_MAX_PARTS; i++) {
		const struct unc_tbl_part *part = &walk->table->part[row->parts.first + i];
		struct unc_error why = {0};
		int rc = unc_fixed_place(walk, unit->type, i, unit->index, unit->socket,
					 &unit->part[i], &why);

		if (rc == 0 || *unit->reason)
			continue;
		if (i == 0)
			snprintf(unit->reason, sizeof(unit->reason), "%.159s", why.text);
		else
			snprintf(unit->reason, sizeof(unit->reason), "part %.20s: %.120s",
				 unc_tbl_str(walk->table, part->name), why.text);
	}
	unit->available = unit->part[0].present;
	if (unit->part[0].present || unit->part[0].base)
		unc_instance_locate(unit);
}

/*
 * How many units of a type a socket has: the bits set in registers of device `present`.
 * -1 if they cannot be read.
 */
static int count_present(const struct unc_walk *walk, const struct unc_tbl_type *row, int socket)
{
	const struct unc_pci_function *f = NULL;
	uint32_t bits;
	int n = 0;

	for (size_t i = 0; i < walk->n_functions && !f; i++)
		if (walk->function[i].device == row->present_id && walk->socket[i] == socket)
			f = &walk->function[i];
	/* All ones may be a full socket: only the identity tells a device that is switched off. */
	if (!f || unc_walk_config(walk, f, 0, &bits, NULL) < 0 || bits == UINT32_MAX)
		return -1;
	for (int i = 0; i < 2; i++) {
		if (i && !row->present_offset[i])
			break;
		if (unc_walk_config(walk, f, row->present_offset[i], &bits, NULL) < 0)
			return -1;
		n += __builtin_popcount(bits);
	}
	return n ? n : -1;
}

/* At least one unit exists, but not how many: none can be summed without guessing. */
static int add_uncounted(struct unc_walk *walk, unsigned type, int socket, struct unc_error *err)
{
	struct unc_instance *unit = unc_walk_add(walk, type, socket, 0, err);

	if (!unit)
		return UNC_ERR_MEMORY;
	snprintf(unit->reason, sizeof(unit->reason),
		 "how many there are cannot be told: PCI device 8086:%04x is not readable",
		 walk->table->type[type].present_id);
	return 0;
}

/* An optional unit whose PCI function is not there: this part of the CPU has none. */
static bool is_absent(const struct unc_walk *walk, const struct unc_tbl_type *row, unsigned index,
		      int socket)
{
	const struct unc_tbl_part *part = &walk->table->part[row->parts.first];
	const struct unc_tbl_where *where = &walk->table->where[part->where.first + index];

	return where->optional && part->space == UNC_SPACE_PCI &&
	       !unc_walk_function(walk, socket, where->device_id, where->devfn);
}

int unc_fixed_type(struct unc_walk *walk, unsigned type, int socket, struct unc_error *err)
{
	const struct unc_tbl_type *row = &walk->table->type[type];
	unsigned n;

	if (!row->parts.n)
		return 0;
	n = walk->table->part[row->parts.first].where.n;
	if (row->cpus && (unsigned)walk->topo->socket[socket].cpus > n)
		unc_walk_note(
			walk,
			"socket %d has %d logical CPUs, the table places for %u: the others are "
			"not counted",
			socket, walk->topo->socket[socket].cpus, n);
	if (row->cpus)
		n = limit_to(n, walk->topo->socket[socket].cpus);
	if (row->limit_cores)
		n = limit_to(n, walk->topo->socket[socket].cores);
	if (n && row->present_id) {
		int present = count_present(walk, row, socket);

		if (present < 0)
			return add_uncounted(walk, type, socket, err);
		n = limit_to(n, present);
	}
	for (unsigned index = 0; index < n; index++) {
		if (is_absent(walk, row, index, socket))
			continue;
		struct unc_instance *unit = unc_walk_add(walk, type, socket, index, err);

		if (!unit)
			return UNC_ERR_MEMORY;
		unc_fixed_parts(walk, unit, 0);
	}
	return 0;
}
