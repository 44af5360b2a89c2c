/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: reading. The hot path: no lookup, no parsing, no allocation. */

#include <math.h>

#include "units/registers.h"

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
 * Far from what any but a clock can, since what the documents say of increments is not always the
 * last word (nearer where they say it of this event, as those of CPUs with narrower counters do of
 * all).
 */
static double rate_of(const struct unc_units *s, const struct unc_slot *slot)
{
	bool clock = s->platform->table->event[slot->code.event].clock;
	bool told = slot->code.max_inc > 1 || !(slot->mask >> 47);

	return unc_slot_most(slot, 1) * (clock ? 4 : told ? 8 : 64);
}

static const double look_ns = 1000000;

/*
 * More than an event can make in the time: it was cleared or set by somebody. Never more than a
 * quarter of the range, which looks in time (look_seconds()) do not let any counter reach.
 */
static bool too_much(const struct unc_slot *slot, uint64_t delta, uint64_t ns)
{
	return slot->mask != UINT64_MAX &&
	       (delta > slot->mask / 4 || (double)delta > slot->rate * ((double)ns + look_ns));
}

/*
 * The same, by a later time: the clock was looked at before the counters were read, and the process
 * may have slept in between.
 */
static bool too_much_by_now(const struct unc_units *s, const struct unc_slot *slot, uint64_t delta,
			    uint64_t seen_ns)
{
	return too_much(slot, delta, unc_machine_now(s->platform->machine) - seen_ns);
}

/* Fewer bits count than the table says. */
static void narrow(const struct unc_units *s, struct unc_slot *slot, uint64_t mask)
{
	slot->mask = mask;
	slot->rate = rate_of(s, slot);
	slot->sure_ns = (uint64_t)fmin((double)mask / slot->rate, INT64_MAX);
}

/*
 * The first look at a counter that was set: it holds what it was set to and what it has counted
 * since, or somebody else has set it as well. Of one with fewer bits than the table says only the
 * lower ones are there; with less than 40 nothing tells it from one that was cleared.
 */
static void take_start(struct unc_units *s, struct unc_slot *slot, uint64_t value, uint64_t seen_ns)
{
	uint64_t wide = slot->mask, least = unc_ones(40);

	narrow(s, slot, wide);
	value &= wide;
	if (!slot->start || !too_much_by_now(s, slot, (value - slot->start) & wide, seen_ns))
		return;
	while (slot->mask > least && value <= slot->mask >> 1)
		narrow(s, slot, slot->mask >> 1);
	if (slot->mask < wide &&
	    !too_much_by_now(s, slot, (value - slot->start) & slot->mask, seen_ns))
		return;
	narrow(s, slot, wide);
	unc_units_lose(s, slot, &(struct unc_loss){UNC_LOST_START, slot->ctr, value});
}

/* What is hardly so, or begins: in full. */
static void take_rarely(struct unc_units *s, struct unc_slot *slot, uint64_t value, uint64_t delta,
			uint64_t since)
{
	uint64_t before = unc_slot_span(s, slot)->before;
	bool begin = slot->begin;

	slot->begin = false;
	if (begin)
		unc_clock_begin(s, slot);
	if (value == UINT64_MAX && slot->mask != UINT64_MAX &&
	    !(s->platform->table->reg[slot->ctr].flags & UNC_REG_SEXT))
		unc_units_lose(s, slot, &(struct unc_loss){UNC_LOST_ONES, slot->ctr, value});
	else if (begin)
		take_start(s, slot, value, before);
	else if (may_wrap(slot, since) ||
		 (may_wrap(slot, 4 * since) && too_much(slot, delta, since)))
		unc_units_lose(s, slot, &(struct unc_loss){UNC_LOST_WRAP, slot->ctr, since});
	else if (too_much(slot, delta, since) && too_much_by_now(s, slot, delta, before))
		unc_units_lose(s, slot, &(struct unc_loss){UNC_LOST_CLEARED, slot->ctr, delta});
	else
		slot->total += delta;
}

/* Times and what is counted in them fit into signed integers, from which it is one step to a
 * double. */
static inline void take(struct unc_units *s, struct unc_slot *slot, uint64_t value, uint64_t since)
{
	uint64_t delta = (value - slot->last) & slot->mask;

	slot->last = value;
	slot->unread = 0;
	if (!slot->begin && value != UINT64_MAX && delta <= slot->mask / 4 &&
	    since <= slot->sure_ns && (double)(int64_t)delta <= (double)(int64_t)since * slot->rate)
		slot->total += delta;
	else
		take_rarely(s, slot, value, delta, since);
}

/* ---- its time */

static uint64_t middle(struct unc_seen seen)
{
	return seen.ns + seen.width / 2;
}

/* The slots that a slot leads were looked at. Of a turn that begins it is not known better when
 * than when the one before has ended. */
static void look(struct unc_units *s, struct unc_slot *slot, const struct unc_reg_op *op,
		 struct unc_seen now, bool turns)
{
	const struct unc_unit_methods *by = s->wanted[slot->instance].by;
	struct unc_spell *total = &slot->span.total;
	uint64_t was = total->time.ran + total->time.idle, more;

	if (by->timed)
		by->timed(s, slot, op);
	else if (!slot->begin)
		total->time.ran += middle(now) - middle(total->to);
	if (slot->begin && total->from.ns)
		slot->span.again = true;
	else if (slot->begin)
		total->from = now;
	if (slot->begin)
		total->blur += total->to.width + now.width;
	slot->span.before = total->to.ns;
	total->to = now;
	more = total->time.ran + total->time.idle - was;
	if (turns && more < s->turn_ns)
		s->turn_ns = more;
}

/* ---- all of them */

/* Reads one unit, or a few, after the other, from stamp[k] on, between two stamps each. How often. */
static size_t run_reads(struct unc_units *s, size_t k, bool *failed)
{
	const struct unc_machine *machine = s->platform->machine;
	size_t n = 0;

	*failed = false;
	for (; s->n_reads && s->stamp[k + n].first < s->n_reads; n++) {
		struct unc_stamp *unit = &s->stamp[k + n];

		unit->ns = unc_machine_now(machine);
		*failed |= unc_access_run(s->platform->access, s->read + unit->first,
					  unit[1].first - unit->first) < 0;
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

/* Whether the last look, with n stamps from stamp[k] on, took more than 1 % of the interval that it
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

/* What was read between two stamps. */
static void take_unit(struct unc_units *s, const struct unc_stamp *unit)
{
	const struct unc_seen now = {unit->ns, unit[1].ns - unit->ns};
	const struct unc_span *span = NULL;
	uint64_t since = 0;
	uint32_t leader = 0;

	for (size_t i = unit->first; i < unit[1].first; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		if (s->read[i].error)
			continue;
		if (slot->leader == s->read_slot[i])
			look(s, slot, &s->read[i], now, i >= s->n_always);
		if (!span || slot->leader != leader) {
			leader = slot->leader;
			span = unc_slot_span(s, slot);
			since = span->total.to.ns + span->total.to.width - span->before;
		}
		take(s, slot, s->read[i].value, since);
	}
}

int unc_units_read(struct unc_units *s, enum unc_extent extent, struct unc_error *err)
{
	size_t first = extent == UNC_ALL ? 0 : s->n_always, unread = 0, k = 0, n;
	const struct unc_slot *one;
	bool failed;

	s->turn_ns = UINT64_MAX;
	while (first && s->n_reads > first && s->stamp[k].first < first)
		k++;
	n = run_reads(s, k, &failed);
	if (is_wide(s, extent, k, n))
		n = run_reads(s, k, &failed);
	/* Before the others are looked at: their time is not of these. */
	for (size_t i = first; i < s->n_reads && failed; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		if (!s->read[i].error)
			continue;
		unc_units_unread(s, slot, slot->ctr, &s->read[i]);
		unread += slot->life != UNC_LOST; /* what is lost is taken up again */
	}
	for (size_t i = k; i < k + n; i++)
		take_unit(s, &s->stamp[i]);
	unc_units_light_up(s);
	if (!unread || unread < s->n_reads - first)
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
