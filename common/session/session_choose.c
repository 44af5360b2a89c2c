/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: an event is counted on a counter of the program's choice, from a value of its choice. */
#include <inttypes.h>

#include "session/session.h"

/* What an item counts, which has to be one event by registers; NULL, with the sentence. */
static const struct unc_measure *event_of(struct unc_session *s, int id)
{
	const struct unc_session_item *item = unc_session_find_item(s, id);
	const struct unc_measure *m;

	if (!item)
		return NULL;
	if (item->lacks)
		s->error = *item->lacks;
	else if (item->expr)
		unc_fail(&s->error, UNC_ERR_INVALID,
			 "a counter is chosen for an event, and item %d is a metric", id);
	if (s->error.code)
		return NULL;
	m = &s->measure[item->measure[0]];
	for (uint32_t i = 0; i < m->n_slots; i++) {
		const struct unc_slot *slot = &s->units.slot[m->slot[i]];
		struct unc_error why = {0};

		if (s->platform->access &&
		    !(unc_platform_methods(s->platform, slot->instance, &slot->code, NULL, &why) &
		      UNC_BY_REGISTERS)) {
			unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				 "%s: a counter is chosen by the registers of its units: %s",
				 m->name, why.text);
			return NULL;
		}
	}
	return m;
}

static uint32_t allowed(const struct unc_slot *slot)
{
	return slot->allowed ? slot->allowed : slot->code.counters;
}

/* counter: -1: whichever is free */
static void choose(struct unc_slot *slot, int counter)
{
	slot->code.counters = allowed(slot);
	slot->allowed = counter < 0 ? 0 : slot->code.counters;
	if (counter >= 0)
		slot->code.counters = (uint32_t)1 << counter;
}

/* Whether all that is counted on the units still fits, in each pass. */
static int check(struct unc_session *s, const struct unc_measure *m)
{
	int rc = 0;

	for (uint32_t i = 0; i < m->n_slots; i++)
		for (unsigned pass = 0; pass < s->n_passes && rc == 0; pass++)
			rc = unc_session_check_unit(s, s->units.slot[m->slot[i]].instance, pass);
	return rc;
}

int unc_session_counter(struct unc_session *s, int id, int counter)
{
	int rc = unc_session_enter_idle(s);
	const struct unc_measure *m = rc < 0 ? NULL : event_of(s, id);

	if (!m)
		return s->error.code;
	const struct unc_slot *first = &s->units.slot[m->slot[0]];
	int before = first->allowed ? __builtin_ctz(first->code.counters) : -1;

	if (first->code.counter != UNC_NONE || counter < -1 || counter > 31 ||
	    (counter >= 0 && !(allowed(first) >> counter & 1)))
		return unc_fail(&s->error, UNC_ERR_RANGE, "%s: no counter %d can count it", m->name,
				counter);
	for (uint32_t i = 0; i < m->n_slots; i++)
		choose(&s->units.slot[m->slot[i]], counter);
	rc = check(s, m);
	for (uint32_t i = 0; i < m->n_slots && rc < 0; i++)
		choose(&s->units.slot[m->slot[i]], before);
	return rc;
}

int unc_session_begin_at(struct unc_session *s, int id, uint64_t value)
{
	const struct unc_table *t = s->platform->table;
	int rc = unc_session_enter_idle(s);
	const struct unc_measure *m = rc < 0 ? NULL : event_of(s, id);

	if (!m)
		return s->error.code;
	const struct unc_slot *first = &s->units.slot[m->slot[0]];
	unsigned width = unc_slot_width(t, first);
	uint16_t fixed = first->code.counter;

	if (width < 64 && value >> width)
		return unc_fail(&s->error, UNC_ERR_RANGE,
				"%s: a counter of %u bits does not hold %" PRIu64, m->name, width,
				value);
	if (fixed != UNC_NONE &&
	    (t->counter[fixed].ctl == UNC_NONE || !t->reg[t->counter[fixed].ctr].write_mask))
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"%s: its counter always runs and cannot be set", m->name);
	for (uint32_t i = 0; i < m->n_slots; i++)
		s->units.slot[m->slot[i]].at = value;
	return 0;
}
