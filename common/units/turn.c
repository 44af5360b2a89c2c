/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: what goes on when the turn changes. An event stays on its counter, and the turn neither
 * ends nor begins for it: of such a unit only what else ends and begins is written, beside it.
 * Those stay that were measured least, as far as they leave counters for what has to count in the
 * next turn. A fixed counter always does. All of a unit begins anew where something of it is lost;
 * and its programmable counters do beside others, who may need them.
 */
#include "units/inside.h"

void unc_units_add_other(const struct unc_units *s, const struct unc_slot *slot,
			 struct unc_others *others)
{
	if (slot->code.counter == UNC_NONE && others->n < UNC_MAX_OTHERS)
		others->one[others->n++] =
			(struct unc_other){.ctl = slot->code.ctl,
					   .counter = s->platform->table->reg[slot->ctr].number};
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
	struct unc_others stay = {0};
	size_t n = 0;

	for (int i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next)
		if (s->slot[i].stays)
			unc_units_add_other(s, &s->slot[i], &stay);
		else if ((s->slot[i].turns >> turn & 1) && s->slot[i].code.counter == UNC_NONE &&
			 n < UNC_MAX_CODES)
			code[n++] = &s->slot[i].code;
	return n + stay.n <= unc_units_usable(s, instance) &&
	       unc_schedule(s->platform->table, code, n, &stay, counter, &conflict) == 0;
}

/* Filters are for several events, and a lane is led by one. */
static void mark_claim(struct unc_units *s, struct unc_claim *u, unsigned turn)
{
	uint32_t instance = unc_units_number(s, u->instance);
	struct unc_slot *slot = unc_units_next_short(s, instance, NULL);

	for (; slot; slot = unc_units_next_short(s, instance, slot)) {
		struct unc_setting *setting = unc_claim_setting(u, unc_units_control(s, slot));
		bool fixed = slot->code.counter != UNC_NONE;

		if (!unc_units_active(s, slot) || !setting || setting->state == UNC_NOT_OURS ||
		    slot->code.n_filters || slot->code.lane || (!fixed && u->company))
			continue;
		slot->stays = true;
		slot->stays = fixed || leaves_room(s, instance, turn);
		setting->stays = slot->stays;
		u->stays |= slot->stays;
	}
}

/* Of a unit that is left out, or of which something is lost, nothing stays. */
static bool may_go_on(const struct unc_units *s, const struct unc_claim *u)
{
	const struct unc_wanted *wanted = &s->wanted[unc_units_number(s, u->instance)];
	int i = wanted->head;

	while (i != UNC_END && !unc_slot_lost(&s->slot[i]))
		i = s->slot[i].next;
	return i == UNC_END && wanted->claimed && u->by == &unc_registers && !s->guest;
}

void unc_units_mark_staying(struct unc_units *s, enum unc_extent extent, size_t first)
{
	unc_units_unmark(s, first);
	for (size_t i = first; i < s->n_claims; i++) {
		struct unc_claim *u = &s->claim[i];
		int k = s->wanted[unc_units_number(s, u->instance)].head;

		if (extent == UNC_TURN && may_go_on(s, u))
			mark_claim(s, u, (s->turn + 1) % s->n_turns);
		for (; k != UNC_END && extent == UNC_TURN; k = s->slot[k].next) {
			s->slot[k].spare = s->slot[k].stays;
			s->slot[k].steady &= s->slot[k].stays;
		}
	}
}

void unc_units_unmark(struct unc_units *s, size_t first)
{
	for (size_t i = first; i < s->n_claims; i++) {
		struct unc_claim *u = &s->claim[i];
		int n = s->wanted[unc_units_number(s, u->instance)].head;

		u->stays = false;
		for (size_t k = 0; k < u->n_controls; k++)
			u->control[k].stays = false;
		for (; n != UNC_END; n = s->slot[n].next)
			s->slot[n].stays = false;
	}
}

void unc_units_drop_ended(struct unc_units *s, size_t first)
{
	size_t n_claims = first;

	for (size_t i = first; i < s->n_claims; i++) {
		struct unc_claim *u = &s->claim[i];
		size_t n = 0;

		for (size_t k = 0; k < u->n_controls; k++)
			if (u->control[k].stays)
				u->control[n++] = u->control[k];
		u->n_controls = n;
		u->n_filters = u->n_counters = 0; /* what stays is not set again */
		s->wanted[unc_units_number(s, u->instance)].claimed = u->stays;
		if (u->stays)
			s->claim[n_claims++] = *u;
	}
	s->n_claims = n_claims;
}
