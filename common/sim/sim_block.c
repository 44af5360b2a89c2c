/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Behaviour of the registers of a PMON block.
 *
 * Unit control, by the roles of its fields: freeze (where freeze_enable exists only together with
 * it) stops the counters of the block, reset_controls clears its controls, the fixed one included,
 * reset_counters its counters. Blocks without unit control never stop. Filters keep what they hold
 * through all resets. A register that is defined only while the unit is frozen reads as poison
 * while it is not.
 */
#include "sim/sim_machine.h"

static void select_all(struct sim_block *block)
{
	for (size_t i = 0; i < block->n_counters; i++)
		unc_sim_select(block, &block->counter[i]);
}

static void write_unit_ctl(struct sim_reg *reg, uint64_t value, uint64_t now)
{
	struct sim_block *block = reg->block;
	const uint64_t *bits = block->type->bits;
	uint64_t enable = bits[UNC_IS_FREEZE_ENABLE];

	for (struct sim_counter *c = block->counter; c < block->counter + block->n_counters; c++) {
		if ((value & bits[UNC_IS_RESET_CONTROLS]) && c->ctl)
			c->ctl->value = 0;
		if ((value & bits[UNC_IS_RESET_COUNTERS]) && c->ctl)
			unc_sim_set(c, 0, now);
	}
	if (value & bits[UNC_IS_RESET_CONTROLS])
		select_all(block);
	reg->value = value & ~(bits[UNC_IS_RESET_CONTROLS] | bits[UNC_IS_RESET_COUNTERS]);
	block->frozen = (value & bits[UNC_IS_FREEZE]) && (!enable || (value & enable));
}

/* Bits of a control register that reset its counter and are not stored. */
static uint64_t reset_bits(const struct sim_reg *reg)
{
	const struct unc_table *table = reg->block->sim->table;
	const struct unc_tbl_type *type = reg->block->type->row;
	uint16_t at = reg->counter->row ? (uint16_t)(reg->row - table->reg) : UNC_NONE;

	for (const struct unc_tbl_field *f = NULL; (f = UNC_NEXT(table, field, type->fields, f));)
		if (f->role == UNC_IS_RESET && f->reg[0] == at)
			return unc_field_bits(f, at);
	return 0;
}

static void write_control(struct sim_reg *reg, uint64_t value, uint64_t now)
{
	uint64_t reset = reset_bits(reg);

	if (value & reset)
		unc_sim_set(reg->counter, 0, now);
	if (reg->value == (value & ~reset))
		return;
	reg->value = value & ~reset;
	if (reg->block->type->has_follow && reg->counter->number == 0)
		select_all(reg->block);
	else
		unc_sim_select(reg->block, reg->counter);
}

/* The writable bits of a written value; records a violation for other bits. */
static uint64_t writable_part(const struct sim_reg *reg, uint64_t value)
{
	uint64_t mask = reg->row->flags & UNC_REG_RO ? 0 : reg->row->write_mask;

	if (reg->row->width < 64)
		mask &= unc_ones(reg->row->width);
	if (!mask)
		unc_sim_violation(reg, "is read-only, 0x%llx was written",
				  (unsigned long long)value);
	else if (value & ~mask)
		unc_sim_violation(reg, "reserved bits 0x%llx were written as 1",
				  (unsigned long long)(value & ~mask));
	return value & mask;
}

/* Writes a register that is neither a control nor a counter. */
static void write_other(struct sim_reg *reg, uint64_t value)
{
	struct sim_block *block = reg->block;

	reg->value = reg->row->flags & UNC_REG_W1C ? reg->value & ~value : value;
	if (reg->row->role == UNC_ROLE_OTHER)
		select_all(block);
}

static void freeze_all(struct unc_sim *sim, unsigned socket, bool frozen, uint64_t at)
{
	unc_sim_settle_socket(sim, socket, at);
	sim->frozen[socket] = frozen;
	for (size_t i = 0; i < sim->n_blocks; i++)
		if (sim->block[i].socket == socket)
			unc_sim_block_run(&sim->block[i]);
}

/* Freezes or unfreezes all units of a socket, if the value has the bits for that. */
static void freeze_socket(struct sim_block *block, const struct sim_reg *reg, uint64_t value,
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

void unc_sim_reg_write(struct sim_reg *reg, uint64_t value, uint64_t now)
{
	struct sim_block *block = reg->block;

	if (!block) {
		reg->value = value; /* a register outside of the monitors */
		return;
	}
	value = writable_part(reg, value);
	if ((reg->row->flags & UNC_REG_RO) || !reg->row->write_mask)
		return;
	unc_sim_settle(block, now);
	switch (reg->row->role) {
	case UNC_ROLE_UNIT_CTL:
		write_unit_ctl(reg, value, now);
		break;
	case UNC_ROLE_CTL:
	case UNC_ROLE_FIXED_CTL:
		if (reg->counter)
			write_control(reg, value, now);
		break;
	case UNC_ROLE_CTR:
	case UNC_ROLE_FIXED_CTR:
		if (reg->counter)
			unc_sim_set(reg->counter, value, now);
		break;
	default:
		write_other(reg, value);
	}
	unc_sim_block_run(block);
	freeze_socket(block, reg, value, now);
}

/* Repeats the top bit of a counter that is narrower than its register, if the table says so. */
static uint64_t sign_extended(const struct sim_reg *reg, uint64_t value)
{
	unsigned width = reg->counter->width;

	if ((reg->row->flags & UNC_REG_SEXT) && (value >> (width - 1) & 1))
		value |= ~unc_ones(width);
	return value;
}

uint64_t unc_sim_reg_read(struct sim_reg *reg, uint64_t now)
{
	static const uint64_t poison = 0xDEADDEADDEADDEAD;
	struct sim_block *block = reg->block;

	if (reg->row->flags & UNC_REG_WO) {
		unc_sim_violation(reg, "is write-only and was read");
		return 0;
	}
	if ((reg->row->flags & UNC_REG_FROZEN) && block && !block->frozen)
		return poison;
	if (reg->counter && reg->counter->ctr == reg)
		return sign_extended(reg, unc_sim_value(reg->counter, now));
	return reg->value;
}

void unc_sim_block_init(struct sim_block *block)
{
	block->weight = unc_sim_weight(block);
	for (struct sim_counter *c = block->counter; c < block->counter + block->n_counters; c++) {
		c->base = c->ctr->value & unc_ones(c->width);
		if (block->sim->options.wrap_soon)
			c->base = unc_ones(c->width) - 999999;
		/* A counter with an empty control that needs bits set in it does not count yet. */
		if (!c->ctl || c->ctl->value || !(c->enable | c->active))
			unc_sim_select(block, c);
	}
	unc_sim_block_run(block);
}
