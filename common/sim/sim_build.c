/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit types, blocks and registers of the units that discovery has found. */
#include <stdlib.h>
#include <string.h>

#include "sim/sim_machine.h"

/* ---- unit types */

/* Whether an event shows what the lead of its lane counts: no lead of the lane can count it. */
static bool shows_lead(const struct unc_table *table, const struct unc_tbl_type *type,
		       const struct unc_tbl_event *event)
{
	const struct unc_tbl_lane *lane = NULL;

	while (event->lane && (lane = UNC_NEXT(table, lane, type->lanes, lane)))
		if (lane->name == table->lane[event->lane - 1].name &&
		    (event->counters >> lane->lead & 1))
			return false;
	return event->lane != 0;
}

/* The event by which other counters show what the lead, counter 0, holds: thresholds on it. */
static void find_follow_event(const struct unc_table *table, struct sim_type *type)
{
	const struct unc_tbl_event *event = NULL;

	while (type->code && (event = UNC_NEXT(table, event, type->row->events, event))) {
		if (!shows_lead(table, type->row, event))
			continue;
		type->follow = (uint64_t)event->code << table->field[type->row->f_event].lo[0];
		type->has_follow = true;
	}
}

static int collect_rates(const struct unc_sim *sim, struct sim_type *type)
{
	const struct unc_table *table = sim->table;
	const struct unc_workload *work = sim->work;

	for (size_t i = 0; i < work->n_rate; i++) /* rates of the type's views, too */
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
	uint16_t ports;

	type->row = &table->type[unit->type];
	type->number = unit->type;
	type->clock = unit->clock_hz;
	type->link = unit->link;
	for (const struct unc_tbl_field *f = NULL;
	     (f = UNC_NEXT(table, field, type->row->fields, f));) {
		/* Only a reset may be in several registers; reset_bits() handles that. */
		type->field[f->role] = f;
		type->bits[f->role] |= unc_field_bits(f, f->reg[0]);
	}
	if (type->row->f_event != UNC_NONE)
		type->code = unc_field_bits(&table->field[type->row->f_event], UNC_NONE);
	if (type->row->f_umask != UNC_NONE)
		type->umask = unc_field_bits(&table->field[type->row->f_umask], UNC_NONE);
	ports = type->row->ports ? UNC_FIND(table, field, type->row->fields, "ch_mask") : UNC_NONE;
	if (ports != UNC_NONE)
		type->ports = unc_field_bits(&table->field[ports], table->field[ports].reg[0]);
	type->modifiers = unc_type_modifiers(table, type->row);
	find_follow_event(table, type);
	return collect_rates(sim, type);
}

int unc_sim_types(struct unc_sim *sim, struct unc_error *err)
{
	sim->type = calloc(sim->table->n_type + 1, sizeof(*sim->type));
	if (!sim->type)
		return unc_no_memory(err);
	for (size_t i = 0; i < sim->work->n_sim_unit; i++)
		if (build_type(sim, &sim->work->sim_unit[i]) < 0)
			return unc_no_memory(err);
	return 0;
}

/* ---- registers */

static void place_reg(struct unc_sim *sim, struct sim_reg *reg, const struct unc_instance *unit)
{
	const struct unc_tbl_reg *row = reg->row;
	const struct unc_place *place = &unit->part[row->part];
	uint64_t held;

	reg->value = row->base;
	reg->reg =
		(struct unc_reg){.address = unc_reg_at(row, place->space, place->base, unit->index),
				 .target = place->target,
				 .space = place->space,
				 .width = row->width};
	if (!place->present || row->flags & UNC_REG_WO)
		return;
	reg->exists = unc_sim_place(sim, &reg->reg, &reg->file, &held);
	/* A value that is defined only while the unit is frozen is meaningless here. */
	if (reg->file && !(row->flags & UNC_REG_FROZEN))
		reg->value = held;
	if (reg->reg.space == UNC_SPACE_MSR)
		reg->reg.target = unit->socket;
}

/* A write-only register exists if others of its part do. */
static void place_unreadable(struct sim_block *block)
{
	const size_t n = block->type->row->regs.n;

	for (struct sim_reg *reg = block->reg; reg < block->reg + n; reg++)
		for (const struct sim_reg *other = block->reg;
		     (reg->row->flags & UNC_REG_WO) && !reg->exists && other < block->reg + n;
		     other++)
			if (other->exists && other->row->part == reg->row->part &&
			    !((reg->row->flags ^ other->row->flags) & UNC_REG_ABS)) {
				reg->file = other->file;
				reg->exists = true;
				reg->reg.target = other->reg.target;
			}
}

/* ---- blocks */

/* Bit number n, counted from 1 to 64; other n: 0. */
static uint64_t bit_from_1(unsigned n)
{
	return n && n <= 64 ? (uint64_t)1 << (n - 1) : 0;
}

static void add_counter(struct unc_sim *sim, struct sim_block *block, struct sim_reg *ctr,
			struct sim_reg *ctl, const struct unc_tbl_counter *row, unsigned number)
{
	const struct unc_tbl_type *type = block->type->row;
	const struct unc_tbl_field *by_unit =
		block->type->field[row ? UNC_IS_ENABLE_FIXED : UNC_IS_ENABLE_COUNTERS];
	struct sim_counter *counter = &sim->counter[sim->n_counters++];

	*counter = (struct sim_counter){
		.row = row,
		.ctr = ctr,
		.ctl = ctl,
		.enable = row ? row->enable : type->enable,
		.active = row ? 0 : type->active,
		.width = row ? row->width : type->width,
		.number = (uint8_t)number,
	};
	if (by_unit)
		counter->enabled_by_unit = bit_from_1(by_unit->lo[0] + (row ? 0 : number) + 1);
	ctr->counter = counter;
	if (ctl)
		ctl->counter = counter;
	block->n_counters++;
}

static void build_block(struct unc_sim *sim, const struct unc_instance *unit)
{
	const struct unc_table *table = sim->table;
	struct sim_type *type = &sim->type[unit->type];
	const struct unc_tbl_type *row = type->row;
	struct sim_block *block = &sim->block[sim->n_blocks++];

	*block = (struct sim_block){
		.type = type,
		.sim = sim,
		.socket = unit->socket,
		.index = unit->index,
		.reg = &sim->reg[sim->n_regs],
		.counter = &sim->counter[sim->n_counters],
	};
	for (uint32_t i = 0; i < row->regs.n; i++) {
		struct sim_reg *reg = &sim->reg[sim->n_regs++];

		reg->row = &table->reg[row->regs.first + i];
		reg->block = block;
		place_reg(sim, reg, unit);
	}
	place_unreadable(block);
	for (unsigned i = row->first; i < (unsigned)row->first + row->n_counters; i++)
		add_counter(sim, block, unc_sim_reg(block, unc_type_ctr(row, i)),
			    unc_sim_reg(block, unc_type_ctl(row, i)), NULL, i);
	for (const struct unc_tbl_counter *c = NULL;
	     (c = UNC_NEXT(table, counter, row->counters, c));)
		add_counter(sim, block, unc_sim_reg(block, c->ctr),
			    c->ctl == UNC_NONE ? NULL : unc_sim_reg(block, c->ctl), c,
			    (unsigned)(c - table->counter) - row->counters.first);
}

/* Whether a unit is simulated: its type is in the workload. */
static bool is_simulated(const struct unc_sim *sim, const struct unc_instance *unit)
{
	return sim->type[unit->type].row != NULL;
}

static int allocate_blocks(struct unc_sim *sim, const struct unc_instances *found)
{
	size_t blocks = 0, regs = 0, counters = 0;

	for (const struct unc_instance *u = found->unit; u < found->unit + found->n; u++) {
		const struct sim_type *type = &sim->type[u->type];

		if (!is_simulated(sim, u))
			continue;
		blocks++;
		regs += type->row->regs.n;
		counters += type->row->n_counters + type->row->counters.n;
	}
	sim->block = calloc(blocks + 1, sizeof(*sim->block));
	sim->reg = calloc(regs + 1, sizeof(*sim->reg));
	sim->counter = calloc(counters + 1, sizeof(*sim->counter));
	sim->index = calloc(regs + 1, sizeof(struct sim_reg *));
	return sim->block && sim->reg && sim->counter && sim->index ? 0 : UNC_ERR_MEMORY;
}

/* ---- places */

static int compare_place(const struct unc_reg *a, const struct unc_reg *b)
{
	bool of_socket = a->space != UNC_SPACE_PCI && a->space != UNC_SPACE_MMIO;
	int order = unc_order(a->space, b->space);

	order = order ? order : unc_order(a->address, b->address);
	order = order ? order : unc_order(a->width, b->width);
	return order || !of_socket ? order : unc_order(a->target, b->target);
}

/* A register of several units (one address) sorts by unit: unc_sim_at() finds the first. */
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

int unc_sim_build(struct unc_sim *sim, const struct unc_instances *found, struct unc_error *err)
{
	int rc;

	if (allocate_blocks(sim, found) < 0)
		return unc_no_memory(err);
	for (size_t i = 0; i < found->n; i++)
		if (is_simulated(sim, &found->unit[i]))
			build_block(sim, &found->unit[i]);
	for (size_t i = 0; i < sim->n_regs; i++)
		if (sim->reg[i].exists)
			sim->index[sim->n_index++] = &sim->reg[i];
	qsort(sim->index, sim->n_index, sizeof(struct sim_reg *), compare_entry);
	if ((rc = unc_sim_choices(sim, err)) < 0)
		return rc;
	for (size_t i = 0; i < sim->n_blocks; i++) /* after all exist: some depend on others */
		unc_sim_block_init(&sim->block[i]);
	return 0;
}
