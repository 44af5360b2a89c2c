/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: reading. The hot path: no lookup, no parsing, no allocation. */

#include "units/inside.h"

/* ---- one counter */

/* Not in integers: it may be beyond their range. */
double unc_slot_most(const struct unc_slot *slot, uint64_t ns)
{
	uint64_t inc = slot->code.max_inc ? slot->code.max_inc : 1;

	return (double)ns * (double)(UNC_FASTEST_PER_NS * inc);
}

/* Whether the counter may have wrapped in a time, as fast as it can count. */
static bool may_wrap(const struct unc_slot *slot, uint64_t ns)
{
	return unc_slot_most(slot, ns) > (double)slot->mask;
}

/*
 * More than an event can make in the time: it was cleared or set by somebody. Far from what any but
 * a clock can, since what the documents say of increments is not always the last word (nearer where
 * they say it of this event, as those of CPUs with narrower counters do of all); but never more
 * than a quarter of the range, which looks in time (look_seconds()) do not let any counter reach.
 */
static bool too_much(const struct unc_units *s, const struct unc_slot *slot, uint64_t delta,
		     uint64_t ns)
{
	const uint64_t look_ns = 1000000;
	bool clock = s->platform->table->event[slot->code.event].clock;
	bool told = slot->code.max_inc > 1 || !(slot->mask >> 47);
	uint64_t margin = clock ? 4 : told ? 8 : 64;

	return slot->mask != UINT64_MAX &&
	       (delta > slot->mask / 4 ||
		(double)delta > margin * unc_slot_most(slot, ns + look_ns));
}

/*
 * The same, by a later time: the clock was looked at before the counters were read, and the process
 * may have slept in between.
 */
static bool too_much_by_now(const struct unc_units *s, const struct unc_slot *slot, uint64_t delta,
			    uint64_t seen_ns)
{
	return too_much(s, slot, delta, unc_machine_now(s->platform->machine) - seen_ns);
}

/*
 * The first look at a counter that was set: it holds what it was set to and what it has counted
 * since, or somebody else has set it as well. Of one with fewer bits than the table says only the
 * lower ones are there; with less than 40 nothing tells it from one that was cleared.
 */
static void take_start(struct unc_units *s, struct unc_slot *slot, uint64_t value, uint64_t seen_ns)
{
	uint64_t wide = slot->mask, least = unc_ones(40);

	value &= wide;
	if (!slot->start || !too_much_by_now(s, slot, (value - slot->start) & wide, seen_ns))
		return;
	while (slot->mask > least && value <= slot->mask >> 1)
		slot->mask >>= 1;
	if (slot->mask < wide &&
	    !too_much_by_now(s, slot, (value - slot->start) & slot->mask, seen_ns))
		return;
	slot->mask = wide;
	unc_units_lose(s, slot, &(struct unc_loss){UNC_LOST_START, slot->ctr, value});
}

/* A turn of a slot begins. When is not known better than when the one before has ended. */
static void begin_turn(struct unc_slot *slot, struct unc_seen now)
{
	if (!slot->first.ns)
		slot->first = now;
	slot->blur += slot->seen.width + now.width;
}

static uint64_t middle(struct unc_seen seen)
{
	return seen.ns + seen.width / 2;
}

static void take(struct unc_units *s, struct unc_slot *slot, const struct unc_reg_op *op,
		 struct unc_seen now)
{
	const struct unc_unit_methods *by = s->wanted[slot->instance].by;
	uint64_t value = op->value, delta = (value - slot->last) & slot->mask;
	uint64_t seen = slot->seen.ns, since = now.ns + now.width - seen;
	bool begin = slot->begin;

	if (by->timed)
		by->timed(s, slot, op);
	else if (!begin)
		slot->time.ran += middle(now) - middle(slot->seen);
	if (begin)
		begin_turn(slot, now);
	slot->begin = false;
	slot->last = value;
	slot->seen = now;
	if (begin)
		unc_clock_begin(slot);
	slot->unread = 0;
	if (value == UINT64_MAX && slot->mask != UINT64_MAX &&
	    !(s->platform->table->reg[slot->ctr].flags & UNC_REG_SEXT))
		unc_units_lose(s, slot, &(struct unc_loss){UNC_LOST_ONES, slot->ctr, value});
	else if (begin)
		take_start(s, slot, value, seen);
	else if (may_wrap(slot, since) ||
		 (may_wrap(slot, 4 * since) && too_much(s, slot, delta, since)))
		unc_units_lose(s, slot, &(struct unc_loss){UNC_LOST_WRAP, slot->ctr, since});
	else if (too_much(s, slot, delta, since) && too_much_by_now(s, slot, delta, seen))
		unc_units_lose(s, slot, &(struct unc_loss){UNC_LOST_CLEARED, slot->ctr, delta});
	else
		slot->total += delta;
}

/* ---- all of them */

/* Reads one unit after the other, from stamp[k] on, each between two stamps. How many. */
static size_t run_reads(struct unc_units *s, size_t k)
{
	const struct unc_machine *machine = s->platform->machine;
	size_t n = 0;

	for (; s->n_reads && s->stamp[k + n].first < s->n_reads; n++) {
		struct unc_stamp *unit = &s->stamp[k + n];

		unit->ns = unc_machine_now(machine);
		unc_access_run(s->platform->access, s->read + unit->first,
			       unit[1].first - unit->first);
	}
	s->read_ns = unc_machine_now(machine);
	s->read_width = 0;
	if (n) {
		s->stamp[k + n].ns = s->read_ns;
		s->read_ns = s->stamp[k].ns;
		s->read_width = s->stamp[k + n].ns - s->read_ns;
	}
	return n;
}

/* Whether the last look, at n units from stamp[k] on, took more than 1 % of the interval that it
 * ends, and so much longer than others that another may be better. */
static bool is_wide(struct unc_units *s, enum unc_extent extent, size_t k, size_t n)
{
	const uint64_t tolerated = 4; /* times what is usual, or what the fastest unit took */
	uint64_t fastest = UINT64_MAX, usual = s->usual_ns, average = n ? s->read_width / n : 0;
	bool ends = extent == UNC_ALL && s->interval_ns;

	for (size_t i = k; !usual && i < k + n; i++)
		if (s->stamp[i + 1].ns - s->stamp[i].ns < fastest)
			fastest = s->stamp[i + 1].ns - s->stamp[i].ns;
	if (!usual || average < usual)
		s->usual_ns = average;
	if (ends && s->read_width <= (s->read_ns - s->interval_ns) / 100)
		return false;
	return average > tolerated * (usual ? usual : tolerated * fastest);
}

int unc_units_read(struct unc_units *s, enum unc_extent extent, struct unc_error *err)
{
	size_t first = extent == UNC_ALL ? 0 : s->n_always, failed = 0, k = 0, n;
	const struct unc_slot *one;

	s->turn_ns = UINT64_MAX;
	while (first && s->n_reads > first && s->stamp[k].first < first)
		k++;
	n = run_reads(s, k);
	if (is_wide(s, extent, k, n))
		n = run_reads(s, k);
	for (size_t i = first; i < s->n_reads; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		k += i == s->stamp[k + 1].first;
		if (s->read[i].error == 0) {
			uint64_t was = slot->time.ran + slot->time.idle, ns;

			take(s, slot, &s->read[i],
			     (struct unc_seen){s->stamp[k].ns,
					       s->stamp[k + 1].ns - s->stamp[k].ns});
			ns = slot->time.ran + slot->time.idle - was;
			if (i >= s->n_always && ns < s->turn_ns)
				s->turn_ns = ns;
			continue;
		}
		unc_units_unread(s, slot, slot->ctr, &s->read[i]);
		failed++;
	}
	if (!failed || failed < s->n_reads - first)
		return 0;
	one = &s->slot[s->read_slot[first]];
	return s->wanted[one->instance].by->fail_read(s, one, &s->read[first], err);
}

void unc_units_lose_unread(struct unc_units *s, enum unc_extent extent)
{
	for (size_t i = extent == UNC_ALL ? 0 : s->n_always; i < s->n_reads; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		if (slot->unread)
			unc_units_lose(s, slot,
				       &(struct unc_loss){UNC_LOST_UNREAD, slot->unread_reg,
							  (uint64_t)slot->unread});
	}
}
