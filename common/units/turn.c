/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: what goes on when the turn changes. An event stays on its counter, and the turn neither
 * ends nor begins for it: of such a unit only what else ends and begins is written, beside it.
 * Those stay that were measured least, as far as they leave counters for what has to count in the
 * next turn. A fixed counter always does. All of a unit begins anew where something of it is lost;
 * and its programmable counters do beside others, who may need them.
 */
#include <string.h>

#include "units/inside.h"

uint32_t unc_units_counter_bit(const struct unc_units *s, const struct unc_slot *slot)
{
	return slot->code.counter == UNC_NONE
		       ? (uint32_t)1 << s->platform->table->reg[slot->ctr].number
		       : 0;
}

/* Where a unit does not tell that it is frozen and has no fixed clock, one is left for a clock. */
size_t unc_units_usable(const struct unc_units *s, uint32_t instance)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[s->platform->instances.unit[instance].type];
	bool told = !type->steps_freeze.n || unc_reg_shows(t, type->unit_ctl);

	for (uint32_t i = type->events.first; i < type->events.first + type->events.n; i++)
		told |= t->event[i].clock && t->event[i].counter != UNC_NONE;
	return type->n_counters - !told;
}

/* Whether what has to count in a turn fits beside what stays. */
static bool leaves_room(const struct unc_units *s, uint32_t instance, unsigned turn)
{
	const struct unc_code *code[UNC_MAX_CODES];
	uint8_t counter[UNC_MAX_CODES];
	struct unc_conflict conflict;
	uint32_t stay = 0;
	size_t n = 0;

	for (int i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next)
		if (s->slot[i].counts == UNC_STAYS)
			stay |= unc_units_counter_bit(s, &s->slot[i]);
		else if ((s->slot[i].turns >> turn & 1) && s->slot[i].code.counter == UNC_NONE &&
			 n < UNC_MAX_CODES)
			code[n++] = &s->slot[i].code;
	return n + (size_t)__builtin_popcount(stay) <= unc_units_usable(s, instance) &&
	       unc_schedule(s->platform->table, code, n, stay, counter, &conflict) == 0;
}

/* Filters are for several events, and a lane is led by one. */
static void mark_slots(struct unc_units *s, struct unc_claim *u, unsigned turn)
{
	uint32_t instance = unc_units_number(s, u->instance);
	struct unc_slot *slot = unc_units_next_short(s, instance, NULL);

	for (; slot; slot = unc_units_next_short(s, instance, slot)) {
		struct unc_setting *setting = unc_claim_setting(u, unc_units_control(s, slot));
		bool fixed = slot->code.counter != UNC_NONE;

		if (!unc_units_active(s, slot) || !setting || setting->state == UNC_NOT_OURS ||
		    slot->code.n_filters || slot->code.lane || (!fixed && u->company))
			continue;
		slot->counts = UNC_STAYS;
		if (!fixed && !leaves_room(s, instance, turn))
			slot->counts = UNC_IN_ITS_TURNS;
	}
}

/* The controls of slots that stay come first, and are counted. */
static void mark_controls(const struct unc_units *s, struct unc_claim *u)
{
	for (size_t k = 0; k < u->n_controls; k++) {
		const struct unc_setting one = u->control[k];
		int i = unc_units_wanted(s, u->instance)->head;

		while (i != UNC_END && (s->slot[i].counts != UNC_STAYS ||
					unc_units_control(s, &s->slot[i]) != one.reg))
			i = s->slot[i].next;
		if (i == UNC_END)
			continue;
		memmove(&u->control[u->n_staying + 1], &u->control[u->n_staying],
			(k - u->n_staying) * sizeof(one));
		u->control[u->n_staying++] = one;
	}
}

/* Of a unit that is left out, or of which something is lost, nothing stays. */
static bool may_go_on(const struct unc_units *s, const struct unc_claim *u)
{
	const struct unc_wanted *wanted = unc_units_wanted(s, u->instance);
	int i = wanted->head;

	while (i != UNC_END && s->slot[i].life != UNC_LOST)
		i = s->slot[i].next;
	return i == UNC_END && wanted->claimed && u->by == &unc_registers;
}

void unc_units_mark_staying(struct unc_units *s, enum unc_extent extent, size_t first)
{
	unc_units_unmark(s, first);
	for (size_t i = first; i < s->n_claims; i++) {
		struct unc_claim *u = &s->claim[i];
		int k = unc_units_wanted(s, u->instance)->head;

		if (extent == UNC_TURN && may_go_on(s, u)) {
			mark_slots(s, u, (s->turn + 1) % s->n_turns);
			mark_controls(s, u);
		}
		for (; k != UNC_END && extent == UNC_TURN; k = s->slot[k].next) {
			s->slot[k].steady &= s->slot[k].counts == UNC_STAYS;
			if (s->slot[k].counts == UNC_SPARE)
				s->slot[k].counts = UNC_IN_ITS_TURNS;
		}
	}
}

void unc_units_unmark(struct unc_units *s, size_t first)
{
	for (size_t i = first; i < s->n_claims; i++) {
		struct unc_claim *u = &s->claim[i];
		int n = unc_units_wanted(s, u->instance)->head;

		u->n_staying = 0;
		for (; n != UNC_END; n = s->slot[n].next)
			if (s->slot[n].counts == UNC_STAYS)
				s->slot[n].counts = UNC_SPARE;
	}
}

void unc_units_drop_ended(struct unc_units *s, size_t first)
{
	size_t n_claims = first;

	for (size_t i = first; i < s->n_claims; i++) {
		struct unc_claim *u = &s->claim[i];

		u->n_controls = u->n_staying;
		u->n_filters = u->n_counters = 0; /* what stays is not set again */
		unc_units_wanted(s, u->instance)->claimed = u->n_staying ? UNC_CLAIMED : UNC_FREE;
		if (u->n_staying)
			s->claim[n_claims++] = *u;
	}
	s->n_claims = n_claims;
}
