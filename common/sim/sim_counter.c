/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of counters, and which counters run. A counter that is not frozen runs while its control has the type's
 * enable bits and any of the bits that mark it as used, and its bit in unit control if that has enables. Free-running
 * counters never stop. An event of a lane needs a lead that counts an event of the same set, else it is a violation.
 */
#include <stdio.h>

#include "base/text.h"
#include "sim/sim_machine.h"

void unc_sim_violation(const struct sim_reg *reg, const char *format, ...)
{
	const struct sim_block *block = reg->block;
	struct unc_sim *sim = block->sim;
	char what[96];

	UNC_FORMAT(what, format);
	snprintf(sim->violation, sizeof(sim->violation), "socket %u %s%u %s: %s", block->socket,
		 unc_tbl_str(sim->table, block->type->row->name), block->index,
		 unc_tbl_str(sim->table, reg->row->name), what);
	sim->violations++;
}

/* ---- what a counter holds */

/* The whole counts gained since `since`; *rest: the fraction left over. */
static uint64_t gained(const struct sim_counter *counter, uint64_t now, double *rest)
{
	const struct unc_sim *sim = counter->ctr->block->sim;
	uint64_t spent[SIM_PHASES];
	double sum = counter->fraction;

	unc_sim_spent(sim, now, spent);
	for (unsigned i = 0; i < unc_sim_phases(sim); i++)
		sum += counter->rate[i] * (double)(spent[i] - counter->spent[i]);
	uint64_t whole = (uint64_t)sum;

	if (rest)
		*rest = sum - (double)whole;
	return whole;
}

uint64_t unc_sim_value(const struct sim_counter *counter, uint64_t now)
{
	return (counter->base + gained(counter, now, NULL)) & unc_ones(counter->width);
}

static void start_at(struct sim_counter *counter, uint64_t now)
{
	counter->since = now;
	unc_sim_spent(counter->ctr->block->sim, now, counter->spent);
}

/* Brings a counter up to date. */
static void settle_counter(struct sim_counter *counter, uint64_t now)
{
	counter->base += gained(counter, now, &counter->fraction);
	counter->base &= unc_ones(counter->width);
	start_at(counter, now);
}

void unc_sim_settle(struct sim_block *block, uint64_t now)
{
	for (size_t i = 0; i < block->n_counters; i++)
		settle_counter(&block->counter[i], now);
}

void unc_sim_settle_socket(struct unc_sim *sim, unsigned socket, uint64_t now)
{
	for (size_t i = 0; i < sim->n_blocks; i++)
		if (sim->block[i].socket == socket)
			unc_sim_settle(&sim->block[i], now);
}

void unc_sim_set(struct sim_counter *counter, uint64_t value, uint64_t now)
{
	counter->base = value & unc_ones(counter->width);
	counter->fraction = 0;
	start_at(counter, now);
}

/* ---- which of them run */

/* Whether an event, or one of its umasks, has this code. */
static bool has_code(const struct unc_table *table, const struct unc_tbl_event *event,
		     uint16_t code_field, uint64_t code)
{
	bool has = event->code == code;

	const struct unc_tbl_umask *umask = NULL;

	while (!has && (umask = UNC_NEXT(table, umask, event->umasks, umask))) {
		const struct unc_tbl_set *s =
			unc_find_set(table, &unc_umask_fields(table, umask)->sets, code_field);

		has = s && (s->value | event->code) == code;
	}
	return has;
}

/* The event that a control selects; NULL if it is no event of a lane. */
static const struct unc_tbl_event *laned_event(const struct sim_block *block, uint64_t ctl)
{
	const struct unc_table *table = block->sim->table;
	const struct unc_tbl_type *type = block->type->row;
	uint64_t code = unc_field_of(&table->field[type->f_event], ctl);

	for (size_t i = 0; i < table->n_event; i++)
		if (table->event[i].lane &&
		    has_code(table, &table->event[i], type->f_event, code) &&
		    unc_type_pool(table, table->event[i].type) == block->type->number)
			return &table->event[i];
	return NULL;
}

/* Whether the lead of the counter's lane counts an event of the same set. */
static bool is_lane_led(const struct sim_block *block, const struct sim_counter *counter)
{
	const struct unc_table *table = block->sim->table;
	const struct unc_tbl_event *event = laned_event(block, counter->ctl->value);
	const struct unc_tbl_lane *lane = NULL;

	while (event && (lane = UNC_NEXT(table, lane, block->type->row->lanes, lane))) {
		const struct sim_counter *lead =
			&block->counter[lane->lead - block->type->row->first];

		if (lane->name != table->lane[event->lane - 1].name ||
		    !(lane->counters >> counter->number & 1))
			continue;
		const struct unc_tbl_event *first = laned_event(block, lead->ctl->value);
		return unc_sim_enabled(block, lead) && first && first->lane == event->lane &&
		       first->set == event->set &&
		       !((lead->ctl->value ^ counter->ctl->value) & lane->same);
	}
	return true;
}

void unc_sim_block_run(struct sim_block *block)
{
	bool frozen = block->frozen || block->sim->frozen[block->socket];

	for (size_t i = 0; i < block->n_counters; i++) {
		struct sim_counter *counter = &block->counter[i];
		bool counting = unc_sim_enabled(block, counter) && !(frozen && counter->ctl);

		if (counting && counter->ctl && !counter->row && block->type->row->lanes.n &&
		    !is_lane_led(block, counter)) {
			unc_sim_violation(counter->ctl, "its lane is led by no event of its set");
			counting = false;
		}
		counting = counting && !block->idle;
		for (unsigned k = 0; k < unc_sim_phases(block->sim); k++)
			counter->rate[k] = counting ? counter->selected[k] * 1e-9 : 0;
	}
}
