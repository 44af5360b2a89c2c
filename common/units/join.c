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

/* A record that a session has made and lets others share, where the register holds it still: one
 * that lives, or one that has left it to the kernel. */
static const struct unc_ledger_record *live(const struct unc_units *s, const struct unc_instance *u,
					    uint16_t reg, bool filter, const struct unc_plan *found)
{
	const struct unc_ledger_record *r = unc_units_record(s, u, reg);
	const uint64_t *now = unc_plan_value(found, u, reg);
	uint64_t tells;

	if (!r || r->role != (filter ? UNC_HELD_FILTER : UNC_HELD_CONTROL) || !now)
		return NULL;
	tells = unc_telling_bits(s->platform->table, u, reg, r->value);
	return (*now ^ r->value) & tells & r->mask ? NULL : r;
}

static bool may_join(const struct unc_units *s, const struct unc_instance *u,
		     const struct unc_code *code, unsigned counter, const struct unc_plan *found)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->type];
	const struct unc_ledger_record *r = live(s, u, unc_type_ctl(type, counter), false, found);

	if (!r || ((r->value ^ code->ctl) & ~unc_once_bits(t, type)))
		return false;
	for (unsigned i = 0; i < code->n_filters; i++) {
		const struct unc_code_filter *f = &code->filter[i];

		r = live(s, u, f->reg, true, found);
		if (!r || (f->mask & ~r->mask) || ((r->value ^ f->value) & f->mask))
			return false;
	}
	return true;
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
		    size_t n, const struct unc_others *others, const struct unc_plan *found,
		    uint8_t *counter)
{
	uint32_t taken = 0;

	memset(counter, UNC_NOT_JOINED, n);
	for (size_t i = 0; i < n; i++) {
		const struct unc_slot *slot = &s->slot[slots[i]];

		if (slot->code.counter != UNC_NONE)
			continue;
		for (size_t k = 0; k < others->n && counter[i] == UNC_NOT_JOINED; k++) {
			unsigned c = others->one[k].counter;

			if ((slot->code.counters & ~taken) >> c & 1 &&
			    may_join(s, u, &slot->code, c, found)) {
				counter[i] = (uint8_t)c;
				taken |= (uint32_t)1 << c;
			}
		}
	}
	check_lanes(s, slots, n, counter);
}

void unc_units_add_cleared(const struct unc_units *s, const struct unc_instance *u,
			   const struct unc_plan *found, struct unc_occupancy *o)
{
	const struct unc_table *t = s->platform->table;

	for (size_t i = 0; i < found->n; i++) {
		uint16_t ctl = found->tag[i].reg;
		const struct unc_ledger_record *r;

		if (t->reg[ctl].role != UNC_ROLE_CTL ||
		    unc_counter_in_use(t, found, i) != UNC_NONE ||
		    !(r = unc_units_shared(s, u, ctl)))
			continue;
		o->n++;
		o->others.one[o->others.n++] =
			(struct unc_other){.ctl = r->value, .counter = t->reg[ctl].number};
	}
}
