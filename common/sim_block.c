/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the registers of a PMON block do.
 *
 * Unit control: frz (where frz_en exists only together with it) stops the counters of the
 * block, rst_ctrl clears its controls, the fixed one included, rst_ctrs its counters. Blocks
 * without unit control, and free-running counters, never stop. A counter counts while its
 * control has the enable bits of the type; where the type has none, while any of the bits that
 * mark it as used is set. Filters keep what they hold through all resets.
 */
#include <string.h>

#include "sim_machine.h"

static uint64_t ones(unsigned width)
{
	return width >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;
}

/* What the counter has gained since `since`; *rest is the fraction left over. */
static uint64_t gained(const struct sim_counter *counter, uint64_t now, double *rest)
{
	double sum = counter->fraction + counter->rate * (double)(now - counter->since);
	uint64_t whole = (uint64_t)sum;

	if (rest)
		*rest = sum - (double)whole;
	return whole;
}

static uint64_t value_of(const struct sim_counter *counter, uint64_t now)
{
	return (counter->base + gained(counter, now, NULL)) & ones(counter->width);
}

static struct sim_reg *status_of(const struct sim_block *block)
{
	const struct unc_tbl_type *type = block->type->row;

	return type->status == UNC_NONE ? NULL : &block->reg[type->status - type->regs.first];
}

/* Brings a counter up to date; a carry out of its top bit is noted in the unit status. */
static void settle(struct sim_block *block, struct sim_counter *counter, uint64_t now)
{
	uint64_t room = ones(counter->width) - counter->base;
	uint64_t gain = gained(counter, now, &counter->fraction);
	struct sim_reg *status = status_of(block);

	if (gain > room && status && !counter->row)
		status->value |= (uint64_t)1 << counter->number;
	counter->base = (counter->base + gain) & ones(counter->width);
	counter->since = now;
}

static void settle_all(struct sim_block *block, uint64_t now)
{
	for (size_t i = 0; i < block->n_counters; i++)
		settle(block, &block->counter[i], now);
}

static void set_counter(struct sim_counter *counter, uint64_t value, uint64_t now)
{
	counter->base = value & ones(counter->width);
	counter->fraction = 0;
	counter->since = now;
}

bool unc_sim_enabled(const struct sim_block *block, const struct sim_counter *counter)
{
	const struct unc_tbl_type *type = block->type->row;

	if (!counter->ctl)
		return true;
	if (counter->row)
		return (counter->ctl->value & counter->row->enable) == counter->row->enable;
	if (type->enable)
		return (counter->ctl->value & type->enable) == type->enable;
	return (counter->ctl->value & type->active) != 0;
}

/* Sets the speed of all counters of a settled block. */
static void run(struct sim_block *block)
{
	for (size_t i = 0; i < block->n_counters; i++) {
		struct sim_counter *counter = &block->counter[i];
		bool counting = unc_sim_enabled(block, counter) && !(block->frozen && counter->ctl);

		counter->rate = counting ? counter->selected * 1e-9 : 0;
	}
}

static void select_all(struct sim_block *block)
{
	for (size_t i = 0; i < block->n_counters; i++)
		unc_sim_select(block, &block->counter[i]);
}

static void write_unit_ctl(struct sim_reg *reg, uint64_t value, uint64_t now)
{
	struct sim_block *block = reg->block;
	const struct sim_type *type = block->type;

	for (size_t i = 0; i < block->n_counters; i++) {
		struct sim_counter *counter = &block->counter[i];

		if ((value & type->rst_ctrl) && counter->ctl)
			counter->ctl->value = 0;
		if ((value & type->rst_ctrs) && counter->ctl)
			set_counter(counter, 0, now);
	}
	if (value & type->rst_ctrl)
		select_all(block);
	reg->value = value & ~(type->rst_ctrl | type->rst_ctrs);
	block->frozen = (value & type->frz) && (!type->frz_en || (value & type->frz_en));
}

/* Bits of a control register that reset its counter and are not stored. */
static uint64_t reset_bits(const struct sim_reg *reg)
{
	const struct sim_block *block = reg->block;
	const struct unc_table *table = block->sim->table;
	const struct unc_tbl_type *type = block->type->row;

	if (!reg->counter->row)
		return block->type->rst;
	for (uint32_t i = 0; i < type->fields.n; i++) {
		const struct unc_tbl_field *field = &table->field[type->fields.first + i];
		const char *name = unc_tbl_str(table, field->name);
		size_t length = strlen(name);

		if (field->reg[0] == (uint16_t)(reg->row - table->reg) && length >= 3 &&
		    strcmp(name + length - 3, "rst") == 0)
			return unc_sim_field_mask(field);
	}
	return 0;
}

static void write_control(struct sim_reg *reg, uint64_t value, uint64_t now)
{
	uint64_t reset = reset_bits(reg);

	if (value & reset)
		set_counter(reg->counter, 0, now);
	if (reg->value == (value & ~reset))
		return;
	reg->value = value & ~reset;
	if (reg->block->type->has_follow && reg->counter->number == 0)
		select_all(reg->block);
	else
		unc_sim_select(reg->block, reg->counter);
}

/* What of a written value arrives, after complaints about the rest. */
static uint64_t accepted(const struct sim_reg *reg, uint64_t value)
{
	uint64_t mask = reg->row->flags & UNC_REG_RO ? 0 : reg->row->write_mask;

	if (reg->row->width < 64)
		mask &= ones(reg->row->width);
	if (!mask)
		unc_sim_violation(reg, "is read-only, 0x%llx was written",
				  (unsigned long long)value);
	else if (value & ~mask)
		unc_sim_violation(reg, "reserved bits 0x%llx were written as 1",
				  (unsigned long long)(value & ~mask));
	return value & mask;
}

void unc_sim_reg_write(struct sim_reg *reg, uint64_t value, uint64_t now)
{
	struct sim_block *block = reg->block;

	value = accepted(reg, value);
	if ((reg->row->flags & UNC_REG_RO) || !reg->row->write_mask)
		return;
	settle_all(block, now);
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
			set_counter(reg->counter, value, now);
		break;
	default:
		reg->value = reg->row->flags & UNC_REG_W1C ? reg->value & ~value : value;
		if (reg->row->role == UNC_ROLE_OTHER)
			select_all(block);
	}
	run(block);
}

uint64_t unc_sim_reg_read(struct sim_reg *reg, uint64_t now)
{
	if (reg->row->flags & UNC_REG_WO) {
		unc_sim_violation(reg, "is write-only and was read");
		return 0;
	}
	if (reg->counter && reg->counter->ctr == reg)
		return value_of(reg->counter, now);
	if (reg->row->role == UNC_ROLE_STATUS)
		settle_all(reg->block, now);
	return reg->value;
}

void unc_sim_block_init(struct sim_block *block)
{
	for (size_t i = 0; i < block->n_counters; i++) {
		struct sim_counter *counter = &block->counter[i];

		if (block->sim->options.wrap_soon)
			counter->base = ones(counter->width) - 999999;
		unc_sim_select(block, counter);
	}
	run(block);
}
