/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PMON discovery table of a socket, as firmware leaves it in memory (Intel 817509-001,
 * section 1.9, tables 1-13 and 1-14; access type in bits 63:62 as its code has it):
 *
 *   record 0    global: word 0 type 7:0, stride in words 15:8, number of unit records 25:16,
 *               access type 63:62; word 1 address of global control; word 2 offset of the
 *               first global status 7:0, number of status bits 23:8
 *   record 1..  units: word 0 controls 7:0, offset of control 0 15:8, counter width 23:16,
 *               offset of counter 0 31:24, offset of status 39:32, access type 63:62;
 *               word 1 address of unit control; word 2 type 15:0, id 31:16, position in
 *               the global status 47:32
 *
 * Access types: 0 MSR, 1 MMIO, 2 PCI. A PCI address is domain 30:28, bus 27:20, device 19:15,
 * function 14:12, offset 11:0, with bit 31 set (Linux uncore_discovery.h). Among the records
 * are holes, as on real machines: all zeros and all ones.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim_machine.h"

enum {
	STRIDE = 4,         /* words of a record */
	MAP_SIZE = 0x80000, /* what the guide tells software to map */
	FIRST_POSITION = 2, /* 0 and 1 are not given to units in the guide's table 1-2 */
	HOLE_EVERY = 12,    /* records */
	TYPE_DOMAIN = 1
};

struct writer {
	struct unc_sim *sim;
	unsigned socket;
	uint64_t *word;
	size_t room; /* records */
	size_t n;    /* records written, the global one included */
	unsigned position;
	bool ones_next;
};

static const uint64_t access_type[UNC_N_SPACES] = {
	[UNC_SPACE_MSR] = 0, [UNC_SPACE_MMIO] = 1, [UNC_SPACE_PCI] = 2};

static uint64_t distance(const struct unc_table *table, uint16_t reg, uint16_t from)
{
	if (reg == UNC_NONE)
		return 0;
	return (uint64_t)(table->reg[reg].offset - table->reg[from].offset) & 0xff;
}

static void put(struct writer *w, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t *record = &w->word[w->n * STRIDE];

	if (w->n == w->room)
		return;
	record[0] = a;
	record[1] = b;
	record[2] = c;
	if (a == ~(uint64_t)0)
		record[3] = a;
	w->n++;
}

static void put_hole(struct writer *w)
{
	uint64_t fill = w->ones_next ? ~(uint64_t)0 : 0;

	put(w, fill, fill, fill);
	w->ones_next = !w->ones_next;
}

static bool listed(const struct unc_sim *sim, const struct sim_type *type)
{
	const struct unc_tbl_type *row = type->row;

	if (!unc_bits_count(&type->present) || row->discovery < 0 || row->unit_ctl == UNC_NONE ||
	    row->n_counters == 0)
		return false;
	if (sim->options.discovery == SIM_DISCOVERY_NOUPI && row->unlisted)
		return false;
	/* Firmware that hides a PCI function still lists the unit; what is fused off is not. */
	return !unc_sim_chosen(sim, SIM_HIDDEN, type->number, 0, -1, -1) ||
	       unc_type_part(sim->table, type->number, 0)->space == UNC_SPACE_PCI;
}

/* Types that share a number share those of their units: each goes on behind the places of the last. */
static unsigned first_number(const struct unc_table *table, const struct unc_tbl_type *row)
{
	unsigned first = 0;

	for (const struct unc_tbl_type *other = table->type; other < row; other++)
		if (!other->pool && other->parts.n && other->discovery == row->discovery)
			first += table->part[other->parts.first].where.n;
	return first;
}

static void put_unit(struct writer *w, const struct sim_type *type, unsigned index)
{
	const struct unc_table *table = w->sim->table;
	const struct unc_tbl_type *row = type->row;
	struct unc_reg place;

	if (unc_sim_chosen(w->sim, SIM_UNLISTED, type->number, 0, (int)index, (int)w->socket)) {
		put(w, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0);
		return;
	}
	if (!unc_sim_place(w->sim, type, 0, index, w->socket, &place))
		return;
	uint64_t address = place.address + (uint64_t)(int64_t)table->reg[row->unit_ctl].offset;
	if (place.space == UNC_SPACE_PCI)
		address |= (uint64_t)1 << 31;
	uint64_t layout =
		(uint64_t)row->n_counters | distance(table, row->first_ctl, row->unit_ctl) << 8 |
		(uint64_t)row->width << 16 | distance(table, row->first_ctr, row->unit_ctl) << 24 |
		distance(table, row->status, row->unit_ctl) << 32 | access_type[place.space] << 62;
	const struct sim_hidden *lie =
		unc_sim_chosen(w->sim, SIM_MISLISTED, type->number, 0, (int)index, (int)w->socket);
	address = lie ? lie->address : address;
	put(w, layout, address,
	    (uint64_t)row->discovery | (uint64_t)(first_number(table, row) + index) << 16 |
		    (uint64_t)w->position++ << 32);
	if (w->n % HOLE_EVERY == 0)
		put_hole(w);
}

/* MSR numbers of global control and status, in the type that holds them. */
static void put_global(struct writer *w)
{
	const struct unc_table *table = w->sim->table;
	const struct sim_block *global = w->sim->global[w->socket];
	const struct unc_tbl_field *freeze =
		global ? global->type->field[UNC_IS_FREEZE_SOCKET] : NULL;
	uint64_t control = 0, status = 0;

	if (freeze) {
		control = (uint32_t)table->reg[freeze->reg[0]].offset;
		status = (uint32_t)table->reg[global->type->row->global_status[0]].offset;
	}
	w->word[0] = TYPE_DOMAIN | STRIDE << 8 | (uint64_t)(w->n - 1) << 16;
	w->word[1] = control;
	w->word[2] = ((status - control) & 0xff) | (uint64_t)w->position << 8;
}

static void fill_garbage(struct sim_memory *memory)
{
	for (size_t i = 0; i < memory->size / 8; i++)
		memory->word[i] = unc_sim_mix(i);
}

/* Units are dealt out to the tables of a socket, which all begin at another position. */
int unc_sim_discovery_build(struct unc_sim *sim, unsigned socket, unsigned number,
			    struct sim_memory *memory, struct unc_error *err)
{
	struct writer w = {.sim = sim, .socket = socket, .n = 1};
	unsigned units = 0, tables = sim->options.tables ? (unsigned)sim->options.tables : 1;

	for (size_t i = 0; i < sim->table->n_type; i++)
		units += unc_bits_count(&sim->type[i].present);
	w.position = FIRST_POSITION + number * units;
	w.room = 1 + units + units / (HOLE_EVERY - 1) + 1;
	w.word = calloc(w.room, STRIDE * sizeof(*w.word));
	if (!w.word)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	for (size_t i = 0; i < sim->table->n_type; i++)
		for (unsigned index = 0; index < UNC_MAX_PLACES; index++)
			if (index % tables == number &&
			    unc_bits_has(&sim->type[i].present, index) &&
			    listed(sim, &sim->type[i]))
				put_unit(&w, &sim->type[i], index);
	put_global(&w);
	memory->word = w.word;
	memory->size = w.n * STRIDE * 8;
	memory->backed = MAP_SIZE;
	if (sim->options.discovery == SIM_DISCOVERY_GARBAGE)
		fill_garbage(memory);
	if (sim->options.discovery == SIM_DISCOVERY_TRUNCATED)
		memory->backed = (1 + (w.n - 1) / 2) * STRIDE * 8 + 8;
	return 0;
}
