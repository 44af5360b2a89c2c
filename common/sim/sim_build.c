/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the machine from the table: unit types, blocks, registers. */
#include <stdlib.h>
#include <string.h>

#include "sim/sim_machine.h"

/* ---- unit types */

/* Whether no lead of its lane can count an event: it shows what the lead counts. */
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
static void type_follow(const struct unc_table *table, struct sim_type *type)
{
	const struct unc_tbl_event *event = NULL;

	while (type->code && (event = UNC_NEXT(table, event, type->row->events, event))) {
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
	uint16_t ports;

	type->row = &table->type[unit->type];
	type->number = unit->type;
	type->present = unit->present;
	type->clock = unit->clock_hz;
	type->link = unit->link;
	for (const struct unc_tbl_field *f = NULL;
	     (f = UNC_NEXT(table, field, type->row->fields, f));) {
		/* Only a reset may be in several registers, and is looked for there. */
		type->field[f->role] = f;
		type->bits[f->role] |= unc_field_bits(f, f->reg[0]);
	}
	if (type->row->f_event != UNC_NONE)
		type->code = unc_field_bits(&table->field[type->row->f_event], UNC_NONE);
	if (type->row->f_umask != UNC_NONE)
		type->umask = unc_field_bits(&table->field[type->row->f_umask], UNC_NONE);
	ports = type->row->ports ? unc_find_field(table, type->row, "ch_mask") : UNC_NONE;
	if (ports != UNC_NONE)
		type->ports = unc_field_bits(&table->field[ports], table->field[ports].reg[0]);
	type->modifiers = unc_type_modifiers(table, type->row);
	type_follow(table, type);
	return type_rates(sim, type);
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
			!unc_sim_chosen(sim, SIM_HIDDEN, type->number, i, block->index,
					block->socket) &&
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
	reg->reg.address = unc_reg_at(row, reg->reg.space, reg->reg.address, reg->block->index);
}

/* ---- blocks */

/* Bit number n, from 1 to 64; else none. */
static uint64_t bit(unsigned n)
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
		counter->enabled_by_unit = bit(by_unit->lo[0] + (row ? 0 : number) + 1);
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

		reg->row = &table->reg[row->regs.first + i];
		reg->block = block;
		place_reg(reg, &part[reg->row->part]);
	}
	for (unsigned i = row->first; i < (unsigned)row->first + row->n_counters; i++)
		add_counter(sim, block, unc_sim_reg(block, unc_type_ctr(row, i)),
			    unc_sim_reg(block, unc_type_ctl(row, i)), NULL, i);
	for (const struct unc_tbl_counter *c = NULL;
	     (c = UNC_NEXT(table, counter, row->counters, c));)
		add_counter(sim, block, unc_sim_reg(block, c->ctr),
			    c->ctl == UNC_NONE ? NULL : unc_sim_reg(block, c->ctl), c,
			    (unsigned)(c - table->counter) - row->counters.first);
	if (row->n_global && !sim->global[socket])
		sim->global[socket] = block;
	unc_sim_block_init(block);
}

static int build_blocks(struct unc_sim *sim, struct unc_error *err)
{
	size_t blocks = 0, regs = 0, counters = 0, sockets = sim->options.sockets;
	int rc = 0;

	for (size_t i = 0; i < sim->table->n_type; i++) {
		const struct sim_type *type = &sim->type[i];
		size_t n = (size_t)unc_bits_count(&type->present) * sockets;

		blocks += n;
		regs += n ? n * type->row->regs.n + type->row->presents.n * sockets : 0;
		counters += n ? n * (type->row->n_counters + type->row->counters.n) : 0;
	}
	regs += sim->table->n_map * sockets;
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
	if (sim->options.devices)
		unc_sim_present_maps(sim);
	return rc;
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
	if ((rc = build_blocks(sim, err)) < 0 || (rc = unc_sim_index(sim)) < 0)
		return rc == UNC_ERR_MEMORY ? unc_fail(err, rc, "out of memory") : rc;
	return 0;
}
