/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: what another session counts already is counted once. Its counter is read, from a base
 * of our own, and nothing is written.
 */
#include <string.h>

#include "units/inside.h"
#include "units/occupancy.h"

uint64_t unc_once_bits(const struct unc_table *t, const struct unc_tbl_type *type)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < type->fields.n; i++) {
		const struct unc_tbl_field *f = &t->field[type->fields.first + i];

		if (f->flags & UNC_FIELD_ONCE)
			bits |= unc_ones(f->width[0]) << f->lo[0];
	}
	return bits;
}

/* The bits of a register, of these, that sessions of this user have made hold this value, and which do
 * so still. */
static uint64_t held_bits(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
			  uint64_t value, uint64_t bits, const struct unc_plan *found)
{
	const uint64_t *now = unc_plan_value(found, u, reg);
	const struct unc_journal_entry *e;
	uint64_t held = 0;

	while (now && bits && (e = unc_units_held(s, u, reg, bits)) != NULL) {
		if (((e->value ^ value) & e->mask & bits) ||
		    ((*now ^ e->value) & e->mask &
		     unc_telling_bits(s->platform->table, u, reg, e->value)))
			break;
		held |= e->mask & bits;
		bits &= ~e->mask;
	}
	return held;
}

static bool may_join(const struct unc_units *s, const struct unc_instance *u,
		     const struct unc_code *code, unsigned counter, const struct unc_plan *found)
{
	const struct unc_tbl_type *type = &s->platform->table->type[u->type];
	uint64_t bits = ~unc_once_bits(s->platform->table, type);
	bool all = held_bits(s, u, unc_type_ctl(type, counter), code->ctl, bits, found) == bits;

	for (unsigned i = 0; i < code->n_filters && all; i++) {
		const struct unc_code_filter *f = &code->filter[i];

		all = held_bits(s, u, f->reg, f->value, f->mask, found) == f->mask;
	}
	return all;
}

/* Whether an event that is led may have the counter: what leads it is joined as well, and so
 * stays. */
static bool is_led(const struct unc_units *s, const uint32_t *slots, size_t n,
		   const uint8_t *counter, size_t i)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_code *code = &s->slot[slots[i]].code;
	const struct unc_range *lanes = &t->type[unc_type_pool(t, code->type)].lanes;

	for (uint32_t k = 0; k < lanes->n; k++) {
		const struct unc_tbl_lane *lane = &t->lane[lanes->first + k];
		bool led = counter[i] == lane->lead || !(lane->counters >> counter[i] & 1);

		for (size_t j = 0; j < n && !led; j++)
			led = counter[j] == lane->lead && s->slot[slots[j]].code.set == code->set &&
			      s->slot[slots[j]].code.lane &&
			      !((s->slot[slots[j]].code.ctl ^ code->ctl) & lane->same);
		if (!led)
			return false;
	}
	return true;
}

/* Events of lanes join all together, or none. */
static void check_lanes(const struct unc_units *s, const uint32_t *slots, size_t n,
			uint8_t *counter)
{
	bool all = true;

	for (size_t i = 0; i < n; i++)
		if (s->slot[slots[i]].code.lane)
			all &= counter[i] != UNC_NOT_JOINED && is_led(s, slots, n, counter, i);
	for (size_t i = 0; i < n && !all; i++)
		if (s->slot[slots[i]].code.lane)
			counter[i] = UNC_NOT_JOINED;
}

void unc_units_join(const struct unc_units *s, const struct unc_instance *u, const uint32_t *slots,
		    size_t n, uint32_t taken, const struct unc_plan *found, uint8_t *counter)
{
	memset(counter, UNC_NOT_JOINED, n);
	for (size_t i = 0; i < n; i++) {
		const struct unc_code *code = &s->slot[slots[i]].code;

		for (unsigned c = 0; c < 32 && code->counter == UNC_NONE; c++)
			if ((code->counters & taken) >> c & 1 && may_join(s, u, code, c, found)) {
				counter[i] = (uint8_t)c;
				taken &= ~((uint32_t)1 << c);
				break;
			}
	}
	check_lanes(s, slots, n, counter);
}
