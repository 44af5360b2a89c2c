/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that carry. The unit's status notes the counter, the socket's status the unit. Where
 * the control of the counter says so the carry freezes, at the moment it happens: the unit, or all
 * units of the socket. Nothing freezes again before the bits of both are cleared.
 */
#include "base/text.h"
#include "sim/sim_machine.h"

/* The registers of the socket that note units, and the block they are in. */
static struct sim_block *global_block(const struct sim_block *block)
{
	struct unc_sim *sim = block->sim;

	for (size_t i = 0; i < sim->n_blocks; i++)
		if (sim->block[i].socket == block->socket && sim->block[i].type->row->n_global)
			return &sim->block[i];
	return NULL;
}

/* The register and bit of the socket's status that stand for a position. */
static struct sim_reg *global_status(const struct sim_block *block, int position, uint64_t *bit)
{
	struct sim_block *global = position < 0 ? NULL : global_block(block);
	unsigned width;

	if (!global)
		return NULL;
	const struct unc_tbl_type *type = global->type->row;
	width = block->sim->table->reg[type->global_status[0]].width;
	if ((unsigned)position / width >= type->n_global)
		return NULL;
	*bit = (uint64_t)1 << ((unsigned)position % width);
	return &global->reg[type->global_status[(unsigned)position / width] - type->regs.first];
}

static uint64_t status_bit(const struct sim_block *block, const struct sim_counter *counter)
{
	const struct unc_tbl_type *type = block->type->row;

	if (counter->row)
		return counter->row->status_bit ? (uint64_t)1 << (counter->row->status_bit - 1) : 0;
	return (uint64_t)1 << (type->overflow.bit + counter->number);
}

/* The bit of the socket's status that a carry sets. */
static int position_of(const struct sim_block *block, const struct sim_counter *counter)
{
	return counter->row && counter->row->global_bit ? counter->row->global_bit - 1
							: block->position;
}

void unc_sim_carried(struct sim_block *block, const struct sim_counter *counter)
{
	struct sim_reg *status = unc_sim_status(block), *global;
	uint64_t bit;

	if (status)
		status->value |= status_bit(block, counter);
	/* A unit with a status of its own tells the socket only if its counter is told to freeze.
	 */
	if (status && !unc_sim_arms(block, counter))
		return;
	global = global_status(block, position_of(block, counter), &bit);
	if (global)
		global->value |= bit;
}

bool unc_sim_arms(const struct sim_block *block, const struct sim_counter *counter)
{
	uint64_t bits = counter->row ? counter->row->freeze : block->type->row->overflow.set;

	return bits && counter->ctl && (counter->ctl->value & bits) == bits;
}

/* Its bits are still set: it cannot freeze again. */
static bool noted(const struct sim_block *block, const struct sim_counter *counter)
{
	const struct sim_reg *status = unc_sim_status(block);
	uint64_t bit;
	const struct sim_reg *global = global_status(block, position_of(block, counter), &bit);

	return (status && (status->value & status_bit(block, counter))) ||
	       (global && (global->value & bit));
}

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

void unc_sim_settle_socket(struct unc_sim *sim, unsigned socket, uint64_t now)
{
	for (size_t i = 0; i < sim->n_blocks; i++)
		if (sim->block[i].socket == socket)
			unc_sim_settle(&sim->block[i], now);
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
		block->reg[type->unit_ctl - type->regs.first].value |=
			block->type->bits[UNC_IS_FREEZE];
	block->frozen = true;
	unc_sim_block_run(block);
}

/* The first armed counter that carries up to now; NULL: none. */
static struct sim_counter *next_carry(struct unc_sim *sim, uint64_t now, struct sim_block **owner,
				      uint64_t *at)
{
	struct sim_counter *first = NULL;

	for (size_t i = 0; i < sim->n_blocks; i++)
		for (size_t k = 0; k < sim->block[i].n_counters; k++) {
			struct sim_counter *counter = &sim->block[i].counter[k];

			if (!unc_sim_arms(&sim->block[i], counter) ||
			    noted(&sim->block[i], counter))
				continue;
			uint64_t when = carries_at(counter, now);
			if (!when || (first && when >= *at))
				continue;
			*at = when;
			*owner = &sim->block[i];
			first = counter;
		}
	return first;
}

void unc_sim_overflows(struct unc_sim *sim, uint64_t now)
{
	struct sim_block *block;
	uint64_t at = 0;

	while (sim->armed && next_carry(sim, now, &block, &at))
		freeze(block, at);
}

void unc_sim_freeze_socket(struct sim_block *block, const struct sim_reg *reg, uint64_t value,
			   uint64_t now)
{
	const struct sim_type *type = block->type;
	struct unc_sim *sim = block->sim;
	const struct unc_tbl_field *field = type->field[UNC_IS_FREEZE_SOCKET];
	uint64_t unfreeze = type->bits[UNC_IS_UNFREEZE_SOCKET];
	bool frozen = sim->frozen[block->socket];

	if (reg->row->role == UNC_ROLE_CTL || reg->row->role == UNC_ROLE_FIXED_CTL) {
		bool armed = reg->counter && unc_sim_arms(block, reg->counter);

		if (reg->counter && armed != reg->counter->armed) {
			reg->counter->armed = armed;
			sim->armed += armed ? 1 : (size_t)-1;
		}
		return;
	}
	if (!field || reg != &block->reg[field->reg[0] - type->row->regs.first])
		return;
	if (value & type->bits[UNC_IS_FREEZE_SOCKET])
		frozen = true;
	else if (!unfreeze || (value & unfreeze))
		frozen = false;
	if (frozen != sim->frozen[block->socket])
		freeze_all(sim, block->socket, frozen, now);
}
