/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the machine from the table: unit types, blocks, registers and the index of places. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
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

bool unc_sim_hidden(const struct unc_sim *sim, unsigned type, unsigned part, int index, int socket)
{
	return unc_sim_chosen(sim, SIM_HIDDEN, type, part, index, socket) != NULL;
}

bool unc_sim_idle(const struct sim_block *block)
{
	return unc_sim_chosen(block->sim, SIM_IDLE, block->type->number, 0, block->index,
			      block->socket) != NULL;
}

/* ---- unit types */

/* Fields are found by their role; only a reset may be in several registers, and is looked for
 * there. */
static void type_field(struct sim_type *type, const struct unc_tbl_field *field)
{
	type->field[field->role] = field;
	type->bits[field->role] |= unc_field_bits(field, field->reg[0]);
}

/* Whether no lead of its lane can count an event: it shows what the lead counts. */
static bool shows_lead(const struct unc_table *table, const struct unc_tbl_type *type,
		       const struct unc_tbl_event *event)
{
	for (uint32_t i = 0; event->lane && i < type->lanes.n; i++) {
		const struct unc_tbl_lane *lane = &table->lane[type->lanes.first + i];

		if (lane->name == table->lane[event->lane - 1].name &&
		    (event->counters >> lane->lead & 1))
			return false;
	}
	return event->lane != 0;
}

/* The event by which other counters show what the lead, counter 0, holds: thresholds on it. */
static void type_follow(const struct unc_table *table, struct sim_type *type)
{
	for (uint32_t i = 0; i < type->row->events.n && type->code; i++) {
		const struct unc_tbl_event *event = &table->event[type->row->events.first + i];

		if (!shows_lead(table, type->row, event))
			continue;
		type->follow = (uint64_t)event->code << table->field[type->row->f_event].lo[0];
		type->has_follow = true;
	}
}

static int type_rates(const struct unc_sim *sim, struct sim_type *type)
{
	const struct unc_table *table = sim->table;
	const struct unc_workload *work = sim->work;

	for (size_t i = 0; i < work->n_rate; i++) /* those of its views too */
		type->n_rates += unc_type_pool(table, work->rate[i].type) == type->number;
	type->rate = calloc(type->n_rates + 1, sizeof(*type->rate));
	if (!type->rate)
		return UNC_ERR_MEMORY;
	for (size_t i = 0, n = 0; i < work->n_rate; i++)
		if (unc_type_pool(table, work->rate[i].type) == type->number)
			type->rate[n++] = &work->rate[i];
	return 0;
}

static int build_type(struct unc_sim *sim, const struct unc_tbl_sim_unit *unit)
{
	const struct unc_table *table = sim->table;
	struct sim_type *type = &sim->type[unit->type];

	type->row = &table->type[unit->type];
	type->number = unit->type;
	type->present = unit->present;
	type->clock = unit->clock_hz;
	type->link = unit->link;
	for (uint32_t i = 0; i < type->row->fields.n; i++)
		type_field(type, &table->field[type->row->fields.first + i]);
	if (type->row->f_event != UNC_NONE)
		type->code = unc_field_bits(&table->field[type->row->f_event], UNC_NONE);
	if (type->row->f_umask != UNC_NONE)
		type->umask = unc_field_bits(&table->field[type->row->f_umask], UNC_NONE);
	type->modifiers = unc_type_modifiers(table, type->row);
	type_follow(table, type);
	return type_rates(sim, type);
}

/* ---- places */

/* The first place of the tables from an MSR on. */
static uint64_t next_msr(const struct unc_table *table, uint64_t from)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < table->n_part; i++) {
		const struct unc_tbl_part *part = &table->part[i];

		for (uint32_t k = 0; part->space == UNC_SPACE_MSR && k < part->where.n; k++) {
			uint64_t base = table->where[part->where.first + k].base;

			next = base >= from && base < next ? base : next;
		}
	}
	return next;
}

/* Between the units that the tables place, the place of one that they do not: types take turns. */
static uint64_t further_msr(const struct unc_table *table, unsigned type, unsigned index)
{
	unsigned types = 0, turn = 0;
	uint64_t base = next_msr(table, 0), next = base;

	for (unsigned i = 0; i < table->n_type; i++) {
		const struct unc_tbl_part *part = &table->part[table->type[i].parts.first];

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
	const struct unc_tbl_part *row = &table->part[type->row->parts.first + part];
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
	if (index >= row->where.n)
		return false;
	const struct unc_tbl_where *where = &table->where[row->where.first + index];
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

/* A part of a unit: nothing of it exists where it is nowhere, or hidden. */
struct part {
	struct unc_reg place;
	bool exists;
};

static void place_parts(const struct unc_sim *sim, const struct sim_block *block,
			struct part part[UNC_MAX_PARTS])
{
	const struct sim_type *type = block->type;

	for (unsigned i = 0; i < UNC_MAX_PARTS; i++)
		part[i].exists =
			!unc_sim_hidden(sim, type->number, i, block->index, block->socket) &&
			unc_sim_place(sim, type, i, block->index, block->socket, &part[i].place);
}

static void place_reg(struct sim_reg *reg, const struct part *part)
{
	const struct unc_tbl_reg *row = reg->row;

	reg->exists = part->exists;
	if (!part->exists)
		return;
	reg->reg = part->place;
	reg->reg.width = row->width;
	if (!(row->flags & UNC_REG_ABS))
		reg->reg.address += (uint64_t)((int64_t)row->offset +
					       (int64_t)row->per_unit * reg->block->index);
	else if (reg->reg.space == UNC_SPACE_PCI)
		reg->reg.address = UNC_PCI_FUNCTION(reg->reg.address) | (uint32_t)row->offset;
	else
		reg->reg.address = (uint32_t)row->offset;
}

/* ---- blocks */

static void add_counter(struct unc_sim *sim, struct sim_block *block, struct sim_reg *ctr,
			struct sim_reg *ctl, const struct unc_tbl_counter *row, unsigned number)
{
	struct sim_counter *counter = &sim->counter[sim->n_counters++];

	counter->row = row;
	counter->ctr = ctr;
	counter->ctl = ctl;
	counter->width = row ? row->width : block->type->row->width;
	counter->number = (uint8_t)number;
	ctr->counter = counter;
	if (ctl)
		ctl->counter = counter;
	block->n_counters++;
}

static void build_block(struct unc_sim *sim, const struct sim_type *type, unsigned socket,
			unsigned index)
{
	const struct unc_table *table = sim->table;
	const struct unc_tbl_type *row = type->row;
	struct sim_block *block = &sim->block[sim->n_blocks++];
	uint32_t first = row->regs.first;
	struct part part[UNC_MAX_PARTS];

	*block = (struct sim_block){
		.type = type,
		.sim = sim,
		.socket = (uint16_t)socket,
		.index = (uint16_t)index,
		.reg = &sim->reg[sim->n_regs],
		.counter = &sim->counter[sim->n_counters],
	};
	place_parts(sim, block, part);
	for (uint32_t i = 0; i < row->regs.n; i++) {
		struct sim_reg *reg = &sim->reg[sim->n_regs++];

		reg->row = &table->reg[first + i];
		reg->block = block;
		place_reg(reg, &part[reg->row->part]);
	}
	for (unsigned i = row->first; i < (unsigned)row->first + row->n_counters; i++)
		add_counter(sim, block, &block->reg[unc_type_ctr(row, i) - first],
			    &block->reg[unc_type_ctl(row, i) - first], NULL, i);
	for (uint32_t i = 0; i < row->counters.n; i++) {
		const struct unc_tbl_counter *fixed = &table->counter[row->counters.first + i];

		add_counter(sim, block, &block->reg[fixed->ctr - first],
			    fixed->ctl == UNC_NONE ? NULL : &block->reg[fixed->ctl - first], fixed,
			    i);
	}
	unc_sim_block_init(block);
}

static int build_blocks(struct unc_sim *sim, struct unc_error *err)
{
	size_t blocks = 0, regs = 0, counters = 0, sockets = (size_t)sim->options.sockets;
	int rc = 0;

	for (size_t i = 0; i < sim->table->n_type; i++) {
		const struct sim_type *type = &sim->type[i];
		size_t n = (size_t)unc_bits_count(&type->present) * sockets;

		blocks += n;
		regs += n ? n * type->row->regs.n + type->row->presents.n * sockets : 0;
		counters += n ? n * (type->row->n_counters + type->row->counters.n) : 0;
	}
	sim->block = calloc(blocks + 1, sizeof(*sim->block));
	sim->reg = calloc(regs + 1, sizeof(*sim->reg));
	sim->counter = calloc(counters + 1, sizeof(*sim->counter));
	if (!sim->block || !sim->reg || !sim->counter)
		return UNC_ERR_MEMORY;
	for (size_t i = 0; i < sim->table->n_type; i++)
		for (unsigned socket = 0; socket < sockets; socket++)
			for (unsigned index = 0; index < UNC_MAX_PLACES; index++)
				if (unc_bits_has(&sim->type[i].present, index))
					build_block(sim, &sim->type[i], socket, index);
	/* Behind the registers of all blocks; the first of a type on a socket stands for all. */
	for (size_t i = 0; i < sim->n_blocks && rc == 0; i++)
		if (i == 0 || sim->block[i - 1].type != sim->block[i].type ||
		    sim->block[i - 1].socket != sim->block[i].socket)
			rc = unc_sim_present_msr(sim, &sim->block[i], err);
	return rc;
}

/* ---- index */

static int compare_place(const struct unc_reg *a, const struct unc_reg *b)
{
	if (a->space != b->space)
		return a->space < b->space ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->width != b->width)
		return a->width < b->width ? -1 : 1;
	if (a->space != UNC_SPACE_PCI && a->space != UNC_SPACE_MMIO && a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return 0;
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

static int build_index(struct unc_sim *sim)
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

int unc_sim_build(struct unc_sim *sim, struct unc_error *err)
{
	int rc;

	sim->type = calloc(sim->table->n_type + 1, sizeof(*sim->type));
	if (!sim->type)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	for (size_t i = 0; i < sim->work->n_sim_unit; i++)
		if ((rc = build_type(sim, &sim->work->sim_unit[i])) < 0)
			return unc_fail(err, rc, "out of memory");
	if ((rc = build_blocks(sim, err)) < 0 || (rc = build_index(sim)) < 0)
		return rc == UNC_ERR_MEMORY ? unc_fail(err, rc, "out of memory") : rc;
	return 0;
}
