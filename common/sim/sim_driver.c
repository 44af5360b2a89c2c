/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The uncore driver of Linux at a simulated unit, as measured on a kernel 6.1. It acts through the
 * registers, and like the real one without asking whether anybody else does:
 *
 *   - which bits of an event arrive, and which filters are written for it, say the rows `kernel` of
 *     the table; the rest is dropped without an error, and a filter keeps what the last event left;
 *   - events get the lowest free counter of those on which the driver puts them, the choosiest first;
 *   - the unit is frozen while it is programmed. An event that stops leaves its counter as it is,
 *     and its control without the enable bit where there is one of its own, else 0.
 */
#include "sim/sim_kernel.h"

enum { FIXED_EVENT = 0xff };

/* Positions in block->counter on which the driver puts an event; 0: it knows none. */
static uint32_t slots_of(const struct sim_event *e)
{
	const struct unc_table *t = e->block->sim->table;
	const struct unc_tbl_type *type = e->block->type->row;
	uint64_t config = e->config & (e->pmu->free ? 0xffff : 0xff);
	uint32_t counters = 0;

	for (const struct unc_tbl_counter *c = NULL; (c = UNC_NEXT(t, counter, type->counters, c));)
		if (c->kernel == config && (c->ctl == UNC_NONE) == e->pmu->free)
			return (uint32_t)1
			       << (type->n_counters + (c - t->counter) - type->counters.first);
	if (e->pmu->free || config == FIXED_EVENT)
		return 0;
	uint64_t code = unc_field_of(&t->field[type->f_event], e->config);
	for (const struct unc_tbl_event *row = NULL; (row = UNC_NEXT(t, event, type->events, row));)
		if (row->code == code)
			counters |= row->counters;
	for (const struct unc_tbl_kernel_counters *row = NULL;
	     (row = UNC_NEXT(t, kernel_counters, type->kernel_counters, row));)
		counters = row->code == code ? row->counters : counters;
	return counters ? counters >> type->first : (uint32_t)unc_ones(type->n_counters);
}

static void take_filters(struct sim_event *e, const uint64_t config[2])
{
	const struct unc_range *rows = &e->block->type->row->kernel_filters;
	const struct unc_tbl_kernel_filter *row = NULL;

	while ((row = UNC_NEXT(e->block->sim->table, kernel_filter, *rows, row)))
		for (unsigned k = 0; k < 4 && (e->config & row->mask) == row->ctl; k++)
			e->mask[k] |= (uint32_t)(row->bits[k / 2] >> k % 2 * 32);
	for (unsigned k = 0; k < 4; k++)
		e->filter[k] = (uint32_t)(config[k / 2] >> k % 2 * 32) & e->mask[k];
}

bool unc_sim_event_take(struct sim_event *e, const uint64_t config[3])
{
	e->config = config[0];
	e->slots = slots_of(e);
	take_filters(e, config + 1);
	return e->slots != 0;
}

static struct sim_counter *counter_of(const struct sim_event *e)
{
	return &e->block->counter[e->slot];
}

static void write_reg(struct sim_reg *reg, uint64_t value, uint64_t now)
{
	if (reg->exists)
		unc_sim_reg_write(reg, value, now);
}

void unc_sim_event_count(struct sim_event *e, uint64_t now)
{
	struct sim_counter *counter = counter_of(e);
	uint64_t value = counter->ctr->exists ? unc_sim_reg_read(counter->ctr, now) : 0;

	e->count += (value - e->last) & unc_ones(counter->width);
	e->last = value;
}

void unc_sim_event_start(struct sim_event *e, int slot, uint64_t now)
{
	const struct unc_tbl_type *type = e->block->type->row;
	struct sim_counter *counter = &e->block->counter[slot];

	e->slot = slot;
	e->last = counter->ctr->exists ? unc_sim_reg_read(counter->ctr, now) : 0;
	for (unsigned k = 0; k < 4; k++)
		if (e->mask[k]) {
			struct sim_reg *reg = unc_sim_reg(e->block, e->pmu->config[k]);

			write_reg(reg, (reg->value & ~(uint64_t)e->mask[k]) | e->filter[k], now);
		}
	if (counter->ctl)
		write_reg(counter->ctl,
			  counter->row
				  ? counter->row->enable
				  : (e->config & (e->pmu->bits | e->pmu->named)) | type->enable,
			  now);
}

void unc_sim_event_stop(struct sim_event *e, uint64_t now)
{
	const struct sim_type *type = e->block->type;
	struct sim_counter *counter = counter_of(e);
	bool keeps = type->row->enable && !type->field[UNC_IS_ENABLE_COUNTERS] && !counter->row;

	if (counter->ctl)
		write_reg(counter->ctl, keeps ? e->config & (e->pmu->bits | e->pmu->named) : 0,
			  now);
	for (unsigned k = 0; k < 4 && !type->row->enable; k++)
		if (e->mask[k])
			write_reg(unc_sim_reg(e->block, e->pmu->config[k]), 0, now);
	unc_sim_event_count(e, now);
	e->slot = -1;
}

void unc_sim_event_freeze(const struct sim_event *e, bool frozen, uint64_t now)
{
	const struct sim_type *type = e->block->type;
	const uint64_t *bits = type->bits;
	uint64_t enables = bits[UNC_IS_ENABLE_COUNTERS] | bits[UNC_IS_ENABLE_FIXED];

	if (type->row->unit_ctl == UNC_NONE || e->pmu->free)
		return;
	struct sim_reg *reg = unc_sim_reg(e->block, type->row->unit_ctl);
	uint64_t value =
		(reg->value | bits[UNC_IS_FREEZE_ENABLE]) & ~(bits[UNC_IS_FREEZE] | enables);
	write_reg(reg, value | (frozen ? bits[UNC_IS_FREEZE] : enables), now);
}

static bool filters_agree(const struct sim_event *a, const struct sim_event *b)
{
	for (unsigned k = 0; k < 4; k++)
		if (a->mask[k] & b->mask[k] & (a->filter[k] ^ b->filter[k]))
			return false;
	return true;
}

bool unc_sim_event_assign(struct sim_event *const *list, size_t n, int *slot)
{
	uint32_t taken = 0;

	for (int weight = 1; weight <= 32; weight++)
		for (size_t i = 0; i < n; i++) {
			const struct sim_event *e = list[i];
			uint32_t left = e->slots & ~(e->pmu->free ? 0 : taken);

			if (__builtin_popcount(e->slots) != weight)
				continue;
			if (!left)
				return false;
			slot[i] = e->slot >= 0 && (left >> e->slot & 1) ? e->slot
									: __builtin_ctz(left);
			taken |= (uint32_t)1 << slot[i];
		}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!filters_agree(list[i], list[k]))
				return false;
	return true;
}
