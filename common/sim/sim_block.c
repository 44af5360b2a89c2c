/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the registers of a PMON block do.
 *
 * Unit control, by the roles of its fields: freeze (where freeze_enable exists only together with
 * it) stops the counters of the block, reset_controls clears its controls, the fixed one included,
 * reset_counters its counters. Blocks without unit control, and free-running counters, never stop.
 * A counter counts while its control has the enable bits of the type and any of those that mark it
 * as used; where unit control has enables of its own, while its bit there is set too. Filters keep
 * what they hold through all resets. A register that is defined only while the unit is frozen reads
 * as poison while it is not. An event of a lane counts only where the lane's lead counts one of
 * the same set: else that is a violation.
 */
#include <stdio.h>
#include <string.h>

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

/* What the counter has gained since `since`; *rest is the fraction left over. */
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

static uint64_t value_of(const struct sim_counter *counter, uint64_t now)
{
	return (counter->base + gained(counter, now, NULL)) & unc_ones(counter->width);
}

struct sim_reg *unc_sim_status(const struct sim_block *block)
{
	const struct unc_tbl_type *type = block->type->row;
	uint16_t status = type->overflow.known ? type->overflow.status : type->status;

	return status == UNC_NONE ? NULL : &block->reg[status - type->regs.first];
}

bool unc_sim_carries(const struct sim_counter *counter, uint64_t now)
{
	return gained(counter, now, NULL) > unc_ones(counter->width) - counter->base;
}

static void start_at(struct sim_counter *counter, uint64_t now)
{
	counter->since = now;
	unc_sim_spent(counter->ctr->block->sim, now, counter->spent);
}

/* Brings a counter up to date. */
static void settle(struct sim_block *block, struct sim_counter *counter, uint64_t now)
{
	if (unc_sim_carries(counter, now))
		unc_sim_carried(block, counter);
	counter->base += gained(counter, now, &counter->fraction);
	counter->base &= unc_ones(counter->width);
	start_at(counter, now);
}

void unc_sim_settle(struct sim_block *block, uint64_t now)
{
	for (size_t i = 0; i < block->n_counters; i++)
		settle(block, &block->counter[i], now);
}

static void set_counter(struct sim_counter *counter, uint64_t value, uint64_t now)
{
	counter->base = value & unc_ones(counter->width);
	counter->fraction = 0;
	start_at(counter, now);
}

/* Whether an event, or one of its umasks, has this code. */
static bool has_code(const struct unc_table *table, const struct unc_tbl_event *event,
		     uint16_t code_field, uint64_t code)
{
	bool has = event->code == code;

	for (uint32_t i = 0; i < event->umasks.n && !has; i++) {
		const struct unc_range *sets = &table->umask[event->umasks.first + i].sets;

		for (uint32_t k = 0; k < sets->n; k++)
			has |= table->set[sets->first + k].field == code_field &&
			       (table->set[sets->first + k].value | event->code) == code;
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
static bool led(const struct sim_block *block, const struct sim_counter *counter)
{
	const struct unc_table *table = block->sim->table;
	const struct unc_tbl_event *event = laned_event(block, counter->ctl->value);
	const struct unc_range *lanes = &block->type->row->lanes;

	for (uint32_t i = 0; event && i < lanes->n; i++) {
		const struct unc_tbl_lane *lane = &table->lane[lanes->first + i];
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
		    !led(block, counter)) {
			unc_sim_violation(counter->ctl, "its lane is led by no event of its set");
			counting = false;
		}
		counting = counting && !unc_sim_idle(block);
		for (unsigned k = 0; k < unc_sim_phases(block->sim); k++)
			counter->rate[k] = counting ? counter->selected[k] * 1e-9 : 0;
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
	const uint64_t *bits = block->type->bits;
	uint64_t enable = bits[UNC_IS_FREEZE_ENABLE];

	for (size_t i = 0; i < block->n_counters; i++) {
		struct sim_counter *counter = &block->counter[i];

		if ((value & bits[UNC_IS_RESET_CONTROLS]) && counter->ctl)
			counter->ctl->value = 0;
		if ((value & bits[UNC_IS_RESET_COUNTERS]) && counter->ctl)
			set_counter(counter, 0, now);
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

	for (uint32_t i = 0; i < type->fields.n; i++) {
		const struct unc_tbl_field *field = &table->field[type->fields.first + i];

		if (field->role == UNC_IS_RESET && field->reg[0] == at)
			return unc_field_bits(field, at);
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
		mask &= unc_ones(reg->row->width);
	if (!mask)
		unc_sim_violation(reg, "is read-only, 0x%llx was written",
				  (unsigned long long)value);
	else if (value & ~mask)
		unc_sim_violation(reg, "reserved bits 0x%llx were written as 1",
				  (unsigned long long)(value & ~mask));
	return value & mask;
}

/* What a register that is neither a control nor a counter holds after a write. */
static void write_other(struct sim_reg *reg, uint64_t value)
{
	struct sim_block *block = reg->block;
	const struct unc_tbl_type *type = block->type->row;
	struct sim_reg *status = unc_sim_status(block);

	reg->value = reg->row->flags & UNC_REG_W1C ? reg->value & ~value : value;
	if (type->overflow.known && status && type->overflow.clear != UNC_NONE &&
	    reg == &block->reg[type->overflow.clear - type->regs.first] && reg != status)
		status->value &= ~value;
	if (reg->row->role == UNC_ROLE_OTHER)
		select_all(block);
}

void unc_sim_reg_write(struct sim_reg *reg, uint64_t value, uint64_t now)
{
	struct sim_block *block = reg->block;

	value = accepted(reg, value);
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
			set_counter(reg->counter, value, now);
		break;
	default:
		write_other(reg, value);
	}
	unc_sim_block_run(block);
	unc_sim_freeze_socket(block, reg, value, now);
}

/* A counter of fewer bits than its register may repeat its top bit. */
static uint64_t extended(const struct sim_reg *reg, uint64_t value)
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
	if ((reg->row->flags & UNC_REG_FROZEN) && !block->frozen)
		return poison;
	if (reg->counter && reg->counter->ctr == reg)
		return extended(reg, value_of(reg->counter, now));
	if (reg == unc_sim_status(block))
		unc_sim_settle(block, now);
	for (unsigned i = 0; i < block->type->row->n_global; i++)
		if (reg ==
		    &block->reg[block->type->row->global_status[i] - block->type->row->regs.first])
			unc_sim_settle_socket(block->sim, block->socket, now);
	return reg->value;
}

void unc_sim_block_init(struct sim_block *block)
{
	const struct unc_tbl_type *type = block->type->row;

	block->position = (int16_t)unc_type_global(type, block->index);
	block->weight = unc_sim_weight(block);
	for (uint32_t i = 0; i < type->regs.n; i++)
		block->reg[i].value = block->reg[i].row->base;
	for (size_t i = 0; i < block->n_counters; i++) {
		struct sim_counter *counter = &block->counter[i];

		if (block->sim->options.wrap_soon)
			counter->base = unc_ones(counter->width) - 999999;
		unc_sim_select(block, counter);
	}
	unc_sim_block_run(block);
}
