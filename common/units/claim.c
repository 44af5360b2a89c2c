/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: which of their counters the slots of a turn get, beside those of others. */
#include <stdlib.h>

#include "units/registers.h"

/* Whether not all that a unit has to count now is lost. */
static bool has_left(const struct unc_units *s, uint32_t instance)
{
	size_t lost = 0;

	for (int i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next) {
		if (!(unc_units_turns(s, &s->slot[i]) >> s->turn & 1))
			continue;
		if (s->slot[i].life != UNC_LOST)
			return true;
		lost++;
	}
	return !lost;
}

static const struct unc_instance *instance_of(const struct unc_units *s, uint32_t i)
{
	return &s->platform->instances.unit[i];
}

/* Whether filters have to be written for an event. */
static bool sets_filter(const struct unc_instance *u, const struct unc_code *code,
			const struct unc_plan *found)
{
	for (unsigned i = 0; i < code->n_filters; i++) {
		const uint64_t *now = unc_plan_value(found, u, code->filter[i].reg);

		if (!now || ((*now ^ code->filter[i].value) & code->filter[i].mask))
			return true;
	}
	return false;
}

/* The counter of somebody else that is in the way: the event needs a filter beside it, or is of another kind
 * than what it counts; -1: none is. */
static int in_the_way(const struct unc_instance *u, const struct unc_code *code,
		      const struct unc_occupancy *o, const struct unc_plan *found)
{
	bool filters = o->foreign && sets_filter(u, code, found);

	for (unsigned c = 0; c < 32 && code->counter == UNC_NONE; c++)
		if (o->taken >> c & 1 && o->ctl[c] &&
		    (((code->ctl ^ o->ctl[c]) & code->exclusive) ||
		     (filters && o->foreign >> c & 1)))
			return (int)c;
	return -1;
}

/* Counters of other sessions where they count the same, free ones for the rest.
 * UNC_ERR_CONFLICT: they do not fit beside others. */
static int schedule(const struct unc_units *s, uint32_t instance, const struct unc_occupancy *o,
		    const struct unc_plan *found, struct unc_assignment *a)
{
	const struct unc_code *code[UNC_MAX_CODES];
	uint8_t counter[UNC_MAX_CODES];
	size_t of[UNC_MAX_CODES] = {0}, n = 0;
	uint32_t taken = o->taken;
	int rc;

	unc_units_join(s, instance_of(s, instance), a->slot, a->n, o->taken, found, a->counter);
	for (size_t i = 0; i < a->n; i++) {
		const struct unc_slot *slot = &s->slot[a->slot[i]];

		a->joined[i] = a->counter[i] != UNC_NOT_JOINED;
		if (slot->counts == UNC_STAYS)
			taken |= unc_units_counter_bit(s, slot);
		if (a->joined[i] || slot->counts == UNC_STAYS)
			continue;
		code[n] = &slot->code;
		of[n++] = i;
	}
	a->beside = -1;
	rc = unc_schedule(s->platform->table, code, n, taken, counter, &a->conflict);
	if (rc < 0)
		a->failed = of[a->conflict.b];
	for (size_t i = 0; i < n && rc == 0; i++) {
		a->counter[of[i]] = counter[i];
		a->failed = of[i];
		if ((a->beside = in_the_way(instance_of(s, instance), code[i], o, found)) >= 0)
			rc = UNC_ERR_CONFLICT;
	}
	return rc;
}

/* Whether all that the session ever counts on the unit fits at once: together, and beside
 * others. */
static bool fits_always(const struct unc_units *s, uint32_t instance, const struct unc_occupancy *o,
			const struct unc_plan *found)
{
	const struct unc_code *code[UNC_MAX_CODES];
	uint8_t counter[UNC_MAX_CODES];
	struct unc_assignment a;

	a.n = unc_units_slots_of(s, instance, UNC_ALL, a.slot);
	for (size_t i = 0; i < a.n; i++)
		code[i] = &s->slot[a.slot[i]].code;
	return a.n < UNC_MAX_CODES &&
	       unc_schedule(s->platform->table, code, a.n, 0, counter, &a.conflict) == 0 &&
	       schedule(s, instance, o, found, &a) == 0;
}

/* Counters that are left get what does not have to count in this turn, first what was measured
 * least. Filters were not looked at for it. The kernel counts all of a group or nothing: one is as
 * small as it can be. */
static void use_spare(struct unc_units *s, uint32_t instance, const struct unc_occupancy *o,
		      const struct unc_plan *found, struct unc_assignment *a)
{
	bool kernel = s->wanted[instance].by != &unc_registers;
	struct unc_slot *slot = unc_units_next_short(s, instance, NULL);
	size_t used = (size_t)__builtin_popcount(o->taken), usable = unc_units_usable(s, instance);

	for (size_t i = 0; i < a->n; i++)
		used += s->slot[a->slot[i]].code.counter == UNC_NONE;
	for (; slot && a->n < UNC_MAX_CODES; slot = unc_units_next_short(s, instance, slot)) {
		struct unc_assignment more = *a;

		if (unc_units_active(s, slot) || slot->life == UNC_LOST || slot->code.n_filters ||
		    (slot->code.counter == UNC_NONE && (kernel || used >= usable)))
			continue;
		more.slot[more.n++] = (uint32_t)(slot - s->slot);
		if (schedule(s, instance, o, found, &more) < 0)
			continue;
		slot->counts = UNC_SPARE;
		used += slot->code.counter == UNC_NONE;
		*a = more;
	}
}

/* What is claimed of a unit on which `found` was found, beside what stays of it; n_counters 0: its
 * turn is another. */
static int claim_unit(struct unc_units *s, uint32_t instance, enum unc_extent extent,
		      const struct unc_plan *found, struct unc_claim *u, struct unc_error *err)
{
	const struct unc_instance *unit = instance_of(s, instance);
	struct unc_wanted *wanted = &s->wanted[instance];
	struct unc_occupancy o = unc_occupancy(s, found, unit, u);
	struct unc_assignment a;

	if (extent == UNC_ALL)
		wanted->always = s->n_turns > 1 && fits_always(s, instance, &o, found);
	a.n = unc_units_slots_of(s, instance, UNC_TURN, a.slot);
	if (a.n && schedule(s, instance, &o, found, &a) < 0)
		return unc_settings_busy(s, unit, &a, &o, found, err);
	use_spare(s, instance, &o, found, &a);
	return a.n ? wanted->by->claim(s, u, &a, &o, found, err) : 0;
}

static int look_and_claim(struct unc_units *s, uint32_t instance, enum unc_extent extent,
			  struct unc_claim *u, struct unc_error *err)
{
	const struct unc_unit_methods *by = s->wanted[instance].by;
	uint32_t slots[UNC_MAX_CODES];
	size_t n = unc_units_slots_of(s, instance, extent, slots);
	struct unc_plan found = {0};
	int rc = by->look ? by->look(s, instance_of(s, instance), slots, n, &found, err) : 0;

	if (rc < 0)
		return rc;
	rc = claim_unit(s, instance, extent, &found, u, err);
	unc_plan_free(&found);
	return rc;
}

/* Whether a unit that counts still would find counters for all that it has to count now. */
static bool would_fit(struct unc_units *s, uint32_t instance)
{
	const struct unc_instance *unit = instance_of(s, instance);
	const struct unc_unit_methods *by = s->wanted[instance].by;
	struct unc_assignment a;
	struct unc_plan found = {0};
	bool fits;

	a.n = 0;
	for (int i = s->wanted[instance].head; i != UNC_END && a.n < UNC_MAX_CODES;
	     i = s->slot[i].next)
		if (unc_units_turns(s, &s->slot[i]) >> s->turn & 1)
			a.slot[a.n++] = (uint32_t)i;
	if (by->look && by->look(s, unit, a.slot, a.n, &found, NULL) < 0)
		return false;
	struct unc_occupancy o = unc_occupancy(s, &found, unit, unc_units_claimed(s, unit));

	fits = schedule(s, instance, &o, &found, &a) == 0;
	unc_plan_free(&found);
	return fits;
}

void unc_units_sort(struct unc_units *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_claims; i++) {
		if (!unc_units_wanted(s, s->claim[i].instance)->always)
			continue;
		struct unc_claim swap = s->claim[n];

		s->claim[n++] = s->claim[i];
		s->claim[i] = swap;
	}
}

/* Nothing is claimed yet. */
static int begin(struct unc_units *s, struct unc_error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < s->platform->instances.n; i++)
		n += s->wanted[i].head != UNC_END;
	free(s->claim);
	s->n_claims = 0;
	s->claim = calloc(n + 1, sizeof(*s->claim));
	if (!s->claim)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	for (size_t i = 0; i < s->platform->instances.n; i++) {
		free(s->wanted[i].settings);
		s->wanted[i] = (struct unc_wanted){
			.head = s->wanted[i].head, .by = &unc_registers, .left = s->wanted[i].left};
	}
	for (size_t i = 0; i < s->n_slots; i++) {
		s->slot[i].counts = UNC_IN_ITS_TURNS;
		if (s->slot[i].mask == UINT64_MAX)
			s->slot[i].mask = 0; /* whoever claims it knows */
	}
	unc_driver_choose(s);
	return 0;
}

/* A new claim, with room for what all slots of the unit need. */
static int new_claim(struct unc_units *s, uint32_t instance, struct unc_claim *u,
		     struct unc_error *err)
{
	struct unc_wanted *wanted = &s->wanted[instance];
	size_t slots = 0, filters = 0, room;

	for (int i = wanted->head; i != UNC_END; i = s->slot[i].next) {
		slots++;
		filters += s->slot[i].code.n_filters;
	}
	room = slots > filters ? slots : filters;
	if (!wanted->settings)
		wanted->settings =
			calloc(room, 2 * sizeof(*u->control) + sizeof(struct unc_claim_counter));
	if (!wanted->settings)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	*u = (struct unc_claim){.instance = instance_of(s, instance),
				.by = wanted->by,
				.control = wanted->settings,
				.filter = wanted->settings + room,
				.counter = (void *)(wanted->settings + 2 * room),
				.place = UNC_JOURNAL_NONE,
				.room = room};
	return 0;
}

/* The unit becomes a claim, if it has something to count, or stays one; or it is left out. */
static int add_claim(struct unc_units *s, uint32_t instance, enum unc_extent extent,
		     struct unc_error *err)
{
	struct unc_claim *stays = unc_units_claimed(s, instance_of(s, instance));
	struct unc_claim *u = stays ? stays : &s->claim[s->n_claims];
	struct unc_wanted *wanted = &s->wanted[instance];
	struct unc_error why;

	if (!stays && new_claim(s, instance, u, err) < 0)
		return err->code;
	wanted->claimed = unc_units_is_due(s, instance) ? UNC_TRIED : UNC_CLAIMED;
	/* What is not lost keeps its doubt. */
	if (wanted->claimed == UNC_TRIED &&
	    (wanted->proof < UNC_UNSHOWN || (s->n_turns == 1 && !has_left(s, instance))))
		wanted->proof = UNC_UNPROVEN;
	if (look_and_claim(s, instance, extent, u, &why) < 0)
		return unc_units_leave_out(s, instance, &why, err);
	if (!stays && !u->n_counters)
		wanted->claimed = UNC_FREE;
	s->n_claims += !stays && wanted->claimed;
	return 0;
}

int unc_units_claim(struct unc_units *s, enum unc_extent extent, struct unc_error *err)
{
	int rc = extent == UNC_ALL ? begin(s, err) : 0;

	for (uint32_t i = 0; i < s->platform->instances.n && rc == 0; i++) {
		if (s->wanted[i].head == UNC_END || (extent == UNC_TURN && s->wanted[i].always))
			continue; /* that one goes on */
		if (has_left(s, i) || unc_units_is_due(s, i))
			rc = add_claim(s, i, extent, err);
	}
	if (rc == 0 && extent == UNC_ALL)
		unc_units_sort(s);
	return rc;
}

void unc_units_free_due(struct unc_units *s)
{
	for (uint32_t i = 0; i < s->platform->instances.n; i++) {
		if (!s->wanted[i].claimed || !unc_units_is_due(s, i))
			continue;
		if (has_left(s, i) && !would_fit(s, i))
			unc_units_put_off(s, i);
		else
			s->wanted[i].claimed = UNC_FREE;
	}
}

int unc_units_claim_again(struct unc_units *s, struct unc_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->platform->instances.n && rc == 0; i++)
		if (!s->wanted[i].claimed && unc_units_is_due(s, i))
			rc = add_claim(s, i, UNC_TURN, err);
	return rc;
}
