/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters whose carry freezes, as their control says: at the moment it happens, the unit, or all
 * units of the socket. Nothing freezes again before the bits that note it are cleared.
 */
#include "sim/sim_machine.h"

/* The first ns at which a counter has carried, of those up to now; 0: it has not. Counts only grow,
 * however they do. */
static uint64_t carries_at(const struct sim_counter *counter, uint64_t now)
{
	uint64_t before = counter->since, after = now;

	if (!unc_sim_carries(counter, now))
		return 0;
	while (after - before > 1) {
		uint64_t middle = before + (after - before) / 2;

		if (unc_sim_carries(counter, middle))
			after = middle;
		else
			before = middle;
	}
	return after;
}

static void freeze_all(struct unc_sim *sim, unsigned socket, bool frozen, uint64_t at)
{
	unc_sim_settle_socket(sim, socket, at);
	sim->frozen[socket] = frozen;
	for (size_t i = 0; i < sim->n_blocks; i++)
		if (sim->block[i].socket == socket)
			unc_sim_block_run(&sim->block[i]);
}

static void freeze(struct sim_block *block, uint64_t at)
{
	const struct unc_tbl_type *type = block->type->row;

	if (type->overflow.freezes == UNC_FREEZES_SOCKET) {
		freeze_all(block->sim, block->socket, true, at);
		return;
	}
	unc_sim_settle(block, at);
	if (type->unit_ctl != UNC_NONE)
		unc_sim_reg(block, type->unit_ctl)->value |= block->type->bits[UNC_IS_FREEZE];
	block->frozen = true;
	unc_sim_block_run(block);
}

/* The first armed counter that carries up to now; NULL: none. */
static const struct sim_counter *next_carry(const struct unc_sim *sim, uint64_t now, uint64_t *at)
{
	const struct sim_counter *first = NULL;

	for (const struct sim_counter *c = sim->counter; c < sim->counter + sim->n_counters; c++) {
		if (!unc_sim_arms(c) || unc_sim_noted(c))
			continue;
		uint64_t when = carries_at(c, now);
		if (when && (!first || when < *at)) {
			*at = when;
			first = c;
		}
	}
	return first;
}

void unc_sim_overflows(struct unc_sim *sim, uint64_t now)
{
	const struct sim_counter *counter;
	uint64_t at = 0;

	while (sim->armed && (counter = next_carry(sim, now, &at)))
		freeze(counter->ctr->block, at);
}

void unc_sim_freeze_socket(struct sim_block *block, const struct sim_reg *reg, uint64_t value,
			   uint64_t now)
{
	const struct sim_type *type = block->type;
	struct unc_sim *sim = block->sim;
	const struct unc_tbl_field *field = type->field[UNC_IS_FREEZE_SOCKET];
	uint64_t unfreeze = type->bits[UNC_IS_UNFREEZE_SOCKET];
	bool frozen = sim->frozen[block->socket];

	if (!field || reg != unc_sim_reg(block, field->reg[0]))
		return;
	if (value & type->bits[UNC_IS_FREEZE_SOCKET])
		frozen = true;
	else if (!unfreeze || (value & unfreeze))
		frozen = false;
	if (frozen != sim->frozen[block->socket])
		freeze_all(sim, block->socket, frozen, now);
}
