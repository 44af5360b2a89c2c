/* SPDX-License-Identifier: BSD-3-Clause */
/* Where units are, which of them the firmware hides, and what is at a place. */
#include <stdlib.h>

#include "sim/sim_machine.h"

/*
 * Units that only discovery tells the place of get, in memory, pages of a window of their own, one
 * window for each socket and type, below the BARs and above 4 GB; MSRs between the known ones.
 */
enum { WINDOW_PAGE = 0x1000, MSR_BLOCK = 0x10 };
static const uint64_t window_base = 0x3a0000000000, window_socket = 0x100000000,
		      window_type = 0x1000000;

const struct sim_hidden *unc_sim_chosen(const struct unc_sim *sim, enum sim_choice what,
					unsigned type, unsigned part, int index, int socket)
{
	for (int i = 0; i < sim->options.n_hidden; i++) {
		const struct sim_hidden *hidden = &sim->options.hidden[i];

		if (hidden->what == what && hidden->type == type &&
		    (hidden->part < 0 || hidden->part == (int)part) &&
		    (hidden->index < 0 || hidden->index == index) &&
		    (hidden->socket < 0 || hidden->socket == socket))
			return hidden;
	}
	return NULL;
}

bool unc_sim_is(const struct sim_block *block, enum sim_choice what)
{
	return unc_sim_chosen(block->sim, what, block->type->number, 0, block->index,
			      block->socket) != NULL;
}

struct sim_block *unc_sim_block(const struct unc_sim *sim, unsigned type, unsigned index,
				unsigned socket)
{
	for (size_t i = 0; i < sim->n_blocks; i++)
		if (sim->block[i].type->number == type && sim->block[i].index == index &&
		    sim->block[i].socket == socket)
			return &sim->block[i];
	return NULL;
}

/* ---- buses and BARs */

unsigned unc_sim_bus_range(const struct unc_sim *sim)
{
	return sim->options.sockets <= 2 ? 128 : sim->options.sockets <= 4 ? 64 : 32;
}

unsigned unc_sim_bus_number(const struct unc_sim *sim, unsigned socket)
{
	unsigned last = (socket + 1) * unc_sim_bus_range(sim) - 1;

	return sim->table->discovery == UNC_DISCOVERY_TABLE ? last - 1 : last;
}

/* Far above 4 GB: an implementation that shifts 32-bit values loses it. */
uint32_t unc_sim_bar_base(const struct unc_tbl_bar *bar, unsigned socket)
{
	uint32_t unit = bar->base_mask & -bar->base_mask;
	uint32_t high = (bar->base_mask >> 5) + unit;

	return (high + socket * 2 * unit) & bar->base_mask;
}

uint32_t unc_sim_bar_element(const struct unc_tbl_bar *bar, unsigned element)
{
	uint32_t unit = bar->mask & -bar->mask;
	uint32_t pages = bar->size >> bar->shift;

	return ((element + 1) * 2 * (pages > unit ? pages : unit)) & bar->mask;
}

uint64_t unc_sim_bar_address(const struct unc_tbl_bar *bar, unsigned socket, unsigned element)
{
	return ((uint64_t)unc_sim_bar_base(bar, socket) << bar->base_shift) +
	       ((uint64_t)unc_sim_bar_element(bar, element) << bar->shift);
}

/* ---- places */

/* The first place of the tables from an MSR on. */
static uint64_t next_msr(const struct unc_table *table, uint64_t from)
{
	uint64_t next = UINT64_MAX;

	for (const struct unc_tbl_part *p = table->part; p < table->part + table->n_part; p++) {
		const struct unc_tbl_where *w = NULL;

		while (p->space == UNC_SPACE_MSR && (w = UNC_NEXT(table, where, p->where, w)))
			next = w->base >= from && w->base < next ? w->base : next;
	}
	return next;
}

/* Between the units that the tables place, the place of one that they do not: types take turns. */
static uint64_t further_msr(const struct unc_table *table, unsigned type, unsigned index)
{
	unsigned types = 0, turn = 0;
	uint64_t base = next_msr(table, 0), next = base;

	for (unsigned i = 0; i < table->n_type; i++) {
		const struct unc_tbl_part *part = unc_type_part(table, i, 0);

		turn = i == type ? types : turn;
		types += !table->type[i].pool && part->space == UNC_SPACE_MSR && !part->where.n;
	}
	for (turn += index * types;; base += MSR_BLOCK) {
		next = next < base ? next_msr(table, base) : next;
		if (next - base >= MSR_BLOCK && !turn--)
			return base;
	}
}

bool unc_sim_place(const struct unc_sim *sim, const struct sim_type *type, unsigned part,
		   unsigned index, unsigned socket, struct unc_reg *place)
{
	const struct unc_table *table = sim->table;

	if (part >= type->row->parts.n)
		return false;
	const struct unc_tbl_part *row = unc_type_part(table, type->number, part);
	const struct unc_tbl_where *where = unc_part_place(table, row, index);
	*place = (struct unc_reg){.space = row->space};
	if (row->where.n == 0 && row->space == UNC_SPACE_MMIO) {
		place->address = window_base + socket * window_socket + type->number * window_type +
				 (uint64_t)index * WINDOW_PAGE;
		return true;
	}
	if (row->where.n == 0 && row->space == UNC_SPACE_MSR) {
		place->address = further_msr(table, type->number, index);
		place->target = socket;
		return true;
	}
	if (!where)
		return false;
	switch (row->space) {
	case UNC_SPACE_MSR:
		place->address = where->base;
		place->target = socket;
		break;
	case UNC_SPACE_PMU:
	case UNC_SPACE_PERF:
		place->address = where->base;
		place->target = socket * (unsigned)unc_sim_cpus(sim) + index;
		break;
	case UNC_SPACE_PCI:
		place->address =
			UNC_PCI(0, unc_sim_bus_number(sim, socket), where->devfn, where->base);
		break;
	default:
		place->address =
			unc_sim_bar_address(&table->bar[where->bar], socket, where->bar_index) +
			where->base;
	}
	return true;
}

/* ---- index */

static int compare_place(const struct unc_reg *a, const struct unc_reg *b)
{
	bool of_socket = a->space != UNC_SPACE_PCI && a->space != UNC_SPACE_MMIO;
	int order = unc_order(a->space, b->space);

	order = order ? order : unc_order(a->address, b->address);
	order = order ? order : unc_order(a->width, b->width);
	return order || !of_socket ? order : unc_order(a->target, b->target);
}

/* Registers that units share (one address, several units) are found at the first of them. */
static int compare_entry(const void *a, const void *b)
{
	const struct sim_reg *x = *(struct sim_reg *const *)a, *y = *(struct sim_reg *const *)b;
	int order = compare_place(&x->reg, &y->reg);

	return order ? order : (x > y) - (x < y);
}

struct sim_reg *unc_sim_at(const struct unc_sim *sim, const struct unc_reg *reg)
{
	size_t low = 0, high = sim->n_index;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_place(&sim->index[middle]->reg, reg) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == sim->n_index || compare_place(&sim->index[low]->reg, reg) != 0)
		return NULL;
	return sim->index[low];
}

int unc_sim_index(struct unc_sim *sim)
{
	sim->index = calloc(sim->n_regs + 1, sizeof(struct sim_reg *));
	if (!sim->index)
		return UNC_ERR_MEMORY;
	for (size_t i = 0; i < sim->n_regs; i++)
		if (sim->reg[i].exists)
			sim->index[sim->n_index++] = &sim->reg[i];
	qsort(sim->index, sim->n_index, sizeof(*sim->index), compare_entry);
	return 0;
}
