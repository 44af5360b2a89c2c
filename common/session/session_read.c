/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: what the units have counted becomes values. No lookup, no parsing, no allocation. */
#include <math.h>
#include <string.h>

#include "base/abi.h"
#include "session/session.h"
#include "units/loss.h"

/* ---- turns */

bool unc_turning_wanted(const struct unc_session *s)
{
	return s->turning.ms && s->n_passes > 1;
}

void unc_turning_hold(struct unc_session *s)
{
	if (s->state == UNC_RUNNING && unc_turning_wanted(s))
		pthread_mutex_lock(&s->platform->turning.lock);
}

void unc_turning_go_on(struct unc_session *s)
{
	if (s->state == UNC_RUNNING && unc_turning_wanted(s))
		pthread_mutex_unlock(&s->platform->turning.lock);
}

/* How long a pass has to have been measured, in seconds, for that to stand for all of the time:
 * since start or reset, or of an interval. */
static double least_measured(const struct unc_session *s, bool interval)
{
	double length = (double)s->turning.length_ns * 1e-9;

	if (!unc_turning_wanted(s))
		return 0;
	return (interval ? length : fmin(length, UNC_FIRST_TURN_NS * 1e-9)) / 2;
}

/* What has been counted in a pass since the last interval is enough for one. */
static bool was_measured(const struct unc_session *s, unsigned pass)
{
	const struct unc_pass *p = &s->pass[pass];

	if (unc_turning_wanted(s))
		return p->time - p->reported >= least_measured(s, true);
	/* Of a pass that ended since, and began before, a moment is left: it goes to its next turn.
	 */
	return pass == s->units.turn || (s->begun >> pass & 1);
}

/* The passes of an item that have not had their turn since start or reset. */
static uint64_t waits_for(const struct unc_session *s, const struct unc_session_item *item)
{
	double least = least_measured(s, false);
	uint64_t passes = 0;

	for (unsigned i = 0; i < s->n_passes && s->n_passes > 1; i++)
		if (s->pass[i].time <= least)
			passes |= (uint64_t)1 << i;
	return passes & item->waits;
}

static void waits_text(const struct unc_session *s, const struct unc_session_item *item,
		       struct unc_error *err)
{
	uint64_t begun =
		(item->waits & ~waits_for(s, item)) | (item->waits & (uint64_t)1 << s->units.turn);
	int all = __builtin_popcountll(item->waits), n = __builtin_popcountll(begun);

	if (all == 1)
		unc_fail(err, UNC_ERR_PASSES,
			 "its pass, one of %u, has not had its turn yet; it has no value before",
			 s->n_passes);
	else
		unc_fail(err, UNC_ERR_PASSES,
			 "measured in %d of %d passes so far; it has no value before all have had "
			 "their "
			 "turn",
			 n < all ? n : all - 1, all);
}

/* ---- one look */

void unc_session_looked(struct unc_session *s, enum unc_extent extent)
{
	uint64_t ns = s->units.read_ns, more = s->units.turn_ns;

	/* Of several, as long as the unit that was measured least. */
	if (s->n_passes == 1 || more == UINT64_MAX)
		more = ns - s->since_ns;
	s->pass[s->units.turn].time += (double)more * 1e-9;
	s->since_ns = ns;
	if (extent == UNC_ALL)
		s->wall.time = (double)(ns - s->start_ns) * 1e-9;
}

int unc_session_look(struct unc_session *s, enum unc_extent extent, struct unc_error *err)
{
	int rc = unc_units_read(&s->units, extent, err);

	unc_session_looked(s, extent);
	return rc;
}

void unc_session_began(struct unc_session *s)
{
	s->start_ns = s->units.interval_ns = s->since_ns;
	s->base_width = s->to_width = s->units.read_width;
}

/* ---- the time that values are about */

/* A time that values are about: since start or reset, or the last interval. */
struct stretch {
	bool interval;
	bool even;   /* each slot was read as soon as the others, within a thousandth of it, and
		      * counted all of it: its own time is that of all, and need not be asked for */
	bool slow;   /* slots may have been read over more than 1 % of it */
	bool parts;  /* slots may have been measured for a part of it */
	double all;  /* seconds */
	uint64_t ns; /* the same, */
	uint64_t whole, late; /* a thousandth and a hundredth of it */
};

static struct stretch stretch_of(const struct unc_session *s, double all, bool interval)
{
	uint64_t begin = interval ? s->from_width : s->base_width, end = s->to_width;
	uint64_t ns = (uint64_t)(int64_t)(all * 1e9);
	bool turns = s->n_passes > 1, parts = turns || s->units.flawed;

	return (struct stretch){
		.interval = interval,
		.even = !parts && begin + end <= ns / 1000,
		.slow = parts || begin > ns / 100 || end > ns / 100,
		.parts = parts,
		.all = all,
		.ns = ns,
		.whole = ns / 1000,
		.late = ns / 100,
	};
}

/* All of the time: with one pass, that of the pass. */
static const struct unc_pass *wall(const struct unc_session *s)
{
	return s->n_passes > 1 ? &s->wall : &s->pass[0];
}

/* All of the time, and the last interval of an item: with one pass, that of all. */
static struct stretch since_start(const struct unc_session *s)
{
	return stretch_of(s, wall(s)->time, false);
}

static struct stretch last_interval(const struct unc_session *s,
				    const struct unc_session_item *item)
{
	return stretch_of(s, s->n_passes > 1 ? item->interval : wall(s)->delta, true);
}

/* When a slot has counted. */
static inline const struct unc_spell *spell_of(const struct unc_session *s, uint32_t slot,
					       bool interval)
{
	const struct unc_span *span = unc_slot_span(&s->units, &s->units.slot[slot]);

	return interval ? &span->interval : &span->total;
}

/* Whether a slot counts only in its turn. */
static bool takes_turns(const struct unc_session *s, const struct unc_slot *slot)
{
	return s->n_passes > 1 && !slot->steady;
}

/* Whether a unit was taken up again since the start or the reset. */
static bool began_later(const struct unc_session *s, uint32_t slot)
{
	return spell_of(s, slot, false)->from.ns > s->start_ns + s->base_width;
}

/* Whether a time differs from all by no more than a thousandth. */
static bool is_whole(uint64_t ran, const struct stretch *of)
{
	return ran - of->ns + of->whole <= 2 * of->whole;
}

/* For how long a slot was measured: less where it takes turns, or others had its counter. */
static double slot_time(const struct unc_session *s, uint32_t i, const struct stretch *of)
{
	struct unc_run_time run = spell_of(s, i, of->interval)->time;

	if (takes_turns(s, &s->units.slot[i]) || (began_later(s, i) && !is_whole(run.ran, of)))
		return fmin(of->all, (double)run.ran * 1e-9);
	return run.idle ? of->all * (double)run.ran / (double)(run.ran + run.idle) : of->all;
}

/* By what is multiplied that was counted in a time of its own, of the time that a value is about.
 * A count whose time differs by less than a thousandth stays as it is, but where counting was interrupted, or
 * began in it (`again`). */
static double scale_of(const struct unc_spell *spell, bool again, const struct stretch *of)
{
	uint64_t ran = spell->time.ran;
	bool exact = !again && (of->even || is_whole(ran, of));

	return exact || !ran ? 1 : of->all * 1e9 / (double)ran;
}

static uint64_t scaled(uint64_t count, double scale)
{
	return scale == 1 ? count : (uint64_t)((double)count * scale + 0.5);
}

/* How long looks took between which a slot was measured; as a part of all the time where it was
 * measured for less than half of that. In ns. */
static uint64_t unsure(const struct unc_spell *spell, uint64_t all)
{
	uint64_t ns = spell->blur + spell->to.width, ran = spell->time.ran;

	if (ran >= all / 2)
		return ns;
	return ran ? (uint64_t)((double)all * (double)ns / (double)ran) : all;
}

/* What took so long, in seconds; 0: no more than 1 % of the time. */
static double if_late(uint64_t took, const struct stretch *of)
{
	return of->slow && took > of->late ? (double)took * 1e-9 : 0;
}

/* ---- an interval ends */

static void end_time(struct unc_pass *pass)
{
	pass->delta = pass->time - pass->reported;
	pass->reported = pass->time;
}

/* What values need of a spell, once for all slots that have it in common. */
static inline void weigh(struct unc_spell *spell, bool again, const struct stretch *of)
{
	spell->scale = scale_of(spell, again, of);
	spell->late = of->slow ? if_late(unsure(spell, of->ns), of) : 0;
}

/* The interval of the slots that a slot leads ends. */
static void end_span(struct unc_span *span, const struct stretch *start,
		     const struct stretch *interval)
{
	struct unc_spell *v = &span->interval;
	const struct unc_spell *total = &span->total;
	bool begins = span->taken_up && !span->reported_time.ran;

	v->from = v->to.ns ? v->to : total->from;
	v->to = total->to;
	v->blur = total->blur - span->reported_blur + v->from.width;
	span->reported_blur = total->blur;
	v->time.ran = total->time.ran - span->reported_time.ran;
	v->time.idle = total->time.idle - span->reported_time.idle;
	span->reported_time = total->time;
	weigh(&span->total, span->again, start);
	weigh(v, span->again || begins, interval);
}

/* What was counted in other passes as well is of the interval that ends with this one. */
static void end_slot(struct unc_session *s, size_t i, uint64_t measured,
		     const struct stretch *start, const struct stretch *interval)
{
	struct unc_slot *slot = &s->units.slot[i];

	if (s->n_passes > 1 && !(measured & unc_session_waits(slot)) &&
	    !s->units.wanted[slot->instance].always)
		return;
	if (slot->leader == i)
		end_span(&slot->span, start, interval);
	slot->delta = slot->total - slot->reported;
	slot->reported = slot->total;
	slot->late = slot->reported_unread;
	slot->reported_unread = slot->unread;
}

/* An item is complete when each of its passes has had its turn: its interval ended then. Of one
 * pass, each read ends it. */
static bool is_complete(const struct unc_session *s, const struct unc_session_item *item)
{
	return s->n_passes == 1 || item->seen == item->waits;
}

static void end_item(const struct unc_session *s, struct unc_session_item *item, uint64_t measured)
{
	if (is_complete(s, item)) /* the next one begins */
		item->seen = 0;
	item->seen |= measured & item->waits;
	if (!is_complete(s, item))
		return;
	item->interval = wall(s)->time - item->complete;
	item->complete = wall(s)->time;
}

/* Ends the interval: what was counted since the last end. What was not measured keeps what it had.
 */
void unc_session_end_interval(struct unc_session *s)
{
	uint64_t measured = 0;

	for (unsigned i = 0; i < s->n_passes; i++)
		if (was_measured(s, i)) {
			end_time(&s->pass[i]);
			measured |= (uint64_t)1 << i;
		}
	s->begun &= ~measured;
	end_time(&s->wall);
	s->from_width = s->to_width;
	s->to_width = s->units.read_width;
	s->units.interval_ns = s->units.read_ns;
	const struct stretch start = since_start(s);
	const struct stretch interval = stretch_of(s, wall(s)->delta, true);
	/* Without a rotation since the last end, what is read is all that can have counted. */
	bool only = s->state == UNC_RUNNING && measured == (uint64_t)1 << s->units.turn;
	for (size_t i = 0; i < (only ? s->units.n_reads : s->units.n_slots); i++)
		end_slot(s, only ? s->units.read_slot[i] : i, measured, &start, &interval);
	for (size_t i = 0; i < s->n_items && s->n_passes > 1; i++)
		end_item(s, &s->item[i], measured);
}

/* ---- units that an item goes without */

enum flaw {
	LOST,     /* for good */
	UNREAD,   /* for this once */
	IDLE,     /* others had its counter all the time */
	UNPROVEN, /* nothing has shown whether its unit counts */
	/* of the interval alone: */
	LATE,      /* what was not read where it began is in it */
	IDLE_IN_IT /* others had its counter all of it */
};

static bool has_flaw(const struct unc_session *s, uint32_t i, enum flaw flaw)
{
	const struct unc_slot *slot = &s->units.slot[i];
	struct unc_run_time run = spell_of(s, i, flaw == IDLE_IN_IT)->time;

	switch (flaw) {
	case LOST:
		return slot->lost.why != 0;
	case UNREAD:
		return slot->unread != 0;
	case UNPROVEN:
		return s->units.wanted[slot->instance].proof >= UNC_UNSHOWN;
	case LATE:
		return slot->late != 0;
	default:
		return run.idle && !run.ran;
	}
}

/* What a slot has counted up to now is nothing that a value could be made of. */
static bool means_nothing(const struct unc_session *s, uint32_t i)
{
	return has_flaw(s, i, LOST) || has_flaw(s, i, UNREAD) || has_flaw(s, i, IDLE);
}

static bool is_without(const struct unc_session *s, uint32_t slot)
{
	return s->units.wanted[s->units.slot[slot].instance].without == s->asked;
}

/* How many slots of a measure are left without them. */
static uint32_t count_left(const struct unc_session *s, const struct unc_measure *m)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < m->n_slots; i++)
		left += !is_without(s, m->slot[i]);
	return left;
}

void unc_session_find_without(struct unc_session *s, struct unc_session_item *item)
{
	s->asked++;
	item->without = item->emptied = 0;
	for (uint32_t k = 0; k < item->n_measures && s->units.flawed; k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];

		for (uint32_t i = 0; i < m->n_slots; i++) {
			if (!means_nothing(s, m->slot[i]) || is_without(s, m->slot[i]))
				continue;
			s->units.wanted[s->units.slot[m->slot[i]].instance].without = s->asked;
			item->without++;
		}
	}
	for (uint32_t k = 0; k < item->n_measures && item->without; k++)
		item->emptied += count_left(s, &s->measure[item->measure[k]]) == 0;
	if (item->emptied) /* it is no sum over others */
		item->without = 0;
}

const struct unc_slot *unc_session_flawed(const struct unc_session *s,
					  const struct unc_session_item *item, uint32_t instance)
{
	for (uint32_t k = 0; k < item->n_measures; k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];

		for (uint32_t i = 0; i < m->n_slots; i++)
			if (s->units.slot[m->slot[i]].instance == instance &&
			    means_nothing(s, m->slot[i]))
				return &s->units.slot[m->slot[i]];
	}
	return NULL;
}

/* ---- values */

/* Of one pass that is known since the interval ended: its time is that of all items. */
static inline double scale_at(const struct unc_session *s, uint32_t slot, const struct stretch *of)
{
	const struct unc_span *span = unc_slot_span(&s->units, &s->units.slot[slot]);
	const struct unc_spell *spell = of->interval ? &span->interval : &span->total;

	return s->n_passes > 1 ? scale_of(spell, span->again, of) : spell->scale;
}

/*
 * What the units of a measure have counted, together: each in its own time, scaled to all of it.
 * *exact is the same with what is behind the point.
 */
static uint64_t aggregate(const struct unc_session *s, const struct unc_measure *m,
			  const struct stretch *of, double *exact)
{
	uint64_t sum = 0, max = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_slots; i++) {
		const struct unc_slot *slot = &s->units.slot[m->slot[i]];
		uint64_t value = of->interval ? slot->delta : slot->total;

		if (s->units.flawed && is_without(s, m->slot[i]))
			continue;
		n++;
		if (!of->even)
			value = scaled(value, scale_at(s, m->slot[i], of));
		sum += value;
		max = value > max ? value : max;
	}
	if (m->aggregate == UNC_AGGREGATE_MAX)
		sum = max;
	*exact = m->aggregate == UNC_MEASURE_MEAN ? (double)sum / n : (double)sum;
	return sum;
}

/* What a formula needs: its references in scratch, and its variables. */
static struct unc_expr_vars fill(struct unc_session *s, const struct unc_session_item *item,
				 const struct stretch *of)
{
	struct unc_expr_vars vars = {.tsc_hz = unc_platform_tsc_hz(s->platform),
				     .time = of->all,
				     .memory_peak = item->memory_peak};

	vars.tsc = vars.time * vars.tsc_hz;
	for (uint32_t i = 0; i < item->n_measures; i++)
		aggregate(s, &s->measure[item->measure[i]], of, &s->scratch[i]);
	return vars;
}

static int evaluate(struct unc_session *s, const struct unc_session_item *item,
		    const struct stretch *of, double *value)
{
	struct unc_expr_vars vars = fill(s, item, of);

	return unc_expr_eval(item->expr, s->scratch, &vars, value) ? UNC_ERR_RANGE : 0;
}

/* The first slot of an item that has it. */
static const struct unc_slot *find_slot(const struct unc_session *s,
					const struct unc_session_item *item, enum flaw flaw)
{
	bool gone = flaw <= IDLE; /* it matters where no other unit is left */

	for (uint32_t k = 0; k < item->n_measures && (item->emptied || !gone); k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];

		for (uint32_t i = 0; i < m->n_slots; i++)
			if (is_without(s, m->slot[i]) == gone && has_flaw(s, m->slot[i], flaw))
				return &s->units.slot[m->slot[i]];
	}
	return NULL;
}

static bool is_flawed(const struct unc_session *s, const struct unc_session_item *item,
		      enum flaw flaw)
{
	return s->units.flawed && find_slot(s, item, flaw);
}

/* For how many seconds an item was measured: as long as that of its slots which was measured least.
 */
static double measured(const struct unc_session *s, const struct unc_session_item *item,
		       const struct stretch *of)
{
	double least = of->all;

	for (uint32_t k = 0; k < item->n_measures && of->parts; k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];

		for (uint32_t i = 0; i < m->n_slots; i++)
			if (!is_without(s, m->slot[i]))
				least = fmin(least, slot_time(s, m->slot[i], of));
	}
	return least;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Over how many seconds the counters of an item were read, where its time began or where it ended;
 * 0: no more than 1 % of it. */
static double lateness(const struct unc_session *s, const struct unc_session_item *item,
		       const struct stretch *of)
{
	struct unc_seen began = unc_unseen, ended = unc_unseen;
	uint64_t late = 0;
	uint32_t leader = UINT32_MAX;

	for (uint32_t k = 0; k < item->n_measures && of->slow; k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];

		for (uint32_t i = 0; i < m->n_slots; i++) {
			const struct unc_spell *spell;

			if (of->parts && is_without(s, m->slot[i]))
				continue;
			if (s->units.slot[m->slot[i]].leader == leader) /* the same once more */
				continue;
			leader = s->units.slot[m->slot[i]].leader;
			spell = spell_of(s, m->slot[i], of->interval);
			late = longer(late, unsure(spell, of->ns));
			if (of->interval || !of->parts || !began_later(s, m->slot[i]))
				unc_seen_join(&began, spell->from);
			unc_seen_join(&ended, spell->to);
		}
	}
	if (s->n_passes == 1)
		late = longer(late, longer(began.width, ended.width));
	return if_late(late, of);
}

static double share(double part, double all)
{
	return part < all ? part / all : 1;
}

/* Of the last interval, though it has a length: a pass whose turn was over before it began. */
static bool unmeasured(double seconds, const struct stretch *interval)
{
	return seconds <= 0 && interval->all > 0;
}

/* Of the time, or of what its turns promise: what was measured for less has no value. */
static const double LEAST_SHARE = 0.05;

/* Of what its turns promise, too little for a value. */
static bool hardly_measured(const struct unc_session *s, double seconds, const struct stretch *of)
{
	return unc_turning_wanted(s) && seconds * s->n_passes < LEAST_SHARE * of->all;
}

static void hardly_text(const struct unc_session *s, double seconds, const struct stretch *of,
			struct unc_error *err)
{
	unc_fail(err, UNC_ERR_PASSES, "measured in %.2g %% of the %s, where its turn is %.0f %%",
		 100 * seconds / of->all, of->interval ? "interval" : "time", 100. / s->n_passes);
}

/* A slot of a unit that was taken up again, and since then was measured for too little of the time
 * for a value; NULL: there is none. */
static const struct unc_slot *find_scarce(const struct unc_session *s,
					  const struct unc_session_item *item,
					  const struct stretch *of)
{
	for (uint32_t k = 0; k < item->n_measures && of->parts; k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];

		for (uint32_t i = 0; i < m->n_slots; i++) {
			const struct unc_slot *slot = &s->units.slot[m->slot[i]];
			double turns = takes_turns(s, slot) ? s->n_passes : 1;

			if (!is_without(s, m->slot[i]) &&
			    unc_slot_span(&s->units, slot)->taken_up &&
			    slot_time(s, m->slot[i], of) * turns < LEAST_SHARE * of->all)
				return slot;
		}
	}
	return NULL;
}

static void scarce_text(const struct unc_session *s, const struct unc_slot *slot,
			const struct stretch *of, struct unc_error *err)
{
	double seconds = slot_time(s, (uint32_t)(slot - s->units.slot), of);

	unc_slot_scarce(&s->units, slot, 100 * seconds / of->all,
			of->interval ? "interval" : "time", err);
}

static void set_flags(const struct unc_session *s, const struct unc_session_item *item,
		      struct unc_value *v)
{
	if (is_complete(s, item))
		v->flags |= UNC_VALUE_FRESH;
	if (v->share < 1)
		v->flags |= UNC_VALUE_ESTIMATED;
	if (v->late > 0)
		v->flags |= UNC_VALUE_LATE;
	if (v->interval_late > 0)
		v->flags |= UNC_VALUE_INTERVAL_LATE;
}

/* One counter, of which all is known: most of what is read often. */
static void plain_value(const struct unc_session *s, const struct unc_session_item *item,
			const struct stretch *start, const struct stretch *interval,
			struct unc_value *v)
{
	const struct unc_slot *slot = &s->units.slot[item->only];
	const struct unc_span *span = unc_slot_span(&s->units, slot);
	uint64_t count = scaled(slot->total, span->total.scale);
	uint64_t delta = scaled(slot->delta, span->interval.scale);

	*v = (struct unc_value){
		.count = count,
		.delta = delta,
		.value = (double)count,
		.interval = (double)delta,
		.seconds = start->all,
		.interval_seconds = interval->all,
		.share = 1,
		.interval_share = 1,
		.units = item->units,
		.of = item->of,
		.flags = UNC_VALUE_VALID | (item->units < item->of ? UNC_VALUE_PARTIAL : 0),
		.late = span->total.late,
		.interval_late = span->interval.late,
	};
	set_flags(s, item, v);
}

/* Since start or reset there is no value; of the interval there is. */
static void drop_total(struct unc_value *v)
{
	v->flags &= ~(unsigned)(UNC_VALUE_VALID | UNC_VALUE_LATE);
	v->count = 0;
	v->value = v->seconds = v->share = v->late = 0;
}

/* What `item` has counted. */
static void item_value(struct unc_session *s, struct unc_session_item *item,
		       const struct stretch *start, const struct stretch *interval,
		       struct unc_value *v)
{
	unsigned units;

	if (start->parts || item->without || item->emptied)
		unc_session_find_without(s, item);
	units = item->units - item->without;
	*v = (struct unc_value){
		.units = units, .of = item->of, .flags = units < item->of ? UNC_VALUE_PARTIAL : 0};
	if (item->lacks)
		return;
	v->seconds = start->parts ? measured(s, item, start) : start->all;
	if (is_flawed(s, item, LOST))
		v->flags |= UNC_VALUE_LOST;
	else if (waits_for(s, item) || hardly_measured(s, v->seconds, start))
		v->flags |= UNC_VALUE_WAITS;
	if (v->flags & (UNC_VALUE_LOST | UNC_VALUE_WAITS) || item->emptied || v->seconds <= 0) {
		v->seconds = 0;
		return;
	}
	v->interval_seconds = interval->parts ? measured(s, item, interval) : interval->all;
	v->share = share(v->seconds, start->all);
	v->interval_share = share(v->interval_seconds, interval->all);
	v->late = lateness(s, item, start);
	v->interval_late = lateness(s, item, interval);
	set_flags(s, item, v);
	if (!item->expr) {
		const struct unc_measure *m = &s->measure[item->measure[0]];

		v->count = aggregate(s, m, start, &v->value);
		v->delta = aggregate(s, m, interval, &v->interval);
		v->flags |= UNC_VALUE_VALID;
	} else {
		if (evaluate(s, item, start, &v->value) == 0)
			v->flags |= UNC_VALUE_VALID;
		if (evaluate(s, item, interval, &v->interval) < 0)
			v->interval = NAN;
	}
	if (is_flawed(s, item, UNPROVEN))
		v->flags |= UNC_VALUE_UNPROVEN;
	if (is_flawed(s, item, LATE) || unmeasured(v->interval_seconds, interval) ||
	    hardly_measured(s, v->interval_seconds, interval) || find_scarce(s, item, interval)) {
		v->delta = 0;
		v->interval = NAN;
	}
	if (!(v->flags & UNC_VALUE_VALID))
		*v = (struct unc_value){.units = v->units, .of = v->of, .flags = v->flags};
	else if (find_scarce(s, item, start))
		drop_total(v);
}

/* As many as matter. */
static int digits(double seconds)
{
	return seconds < 0.01 ? 2 : 0;
}

static void late_text(double late, double all, bool interval, struct unc_error *err)
{
	unc_fail(err, UNC_ERR_BUSY, "read over %.*f ms of %s%.*f ms", digits(late), late * 1e3,
		 interval ? "an interval of " : "", digits(all), all * 1e3);
}

const char *unc_session_reason(struct unc_session *s, int id)
{
	const struct unc_slot *slot;
	struct unc_session_item *item;
	struct unc_expr_vars vars;
	const char *why;
	struct stretch start, interval;
	double value;

	if (unc_session_enter(s) < 0)
		return s->error.text;
	if (id < 0 || (size_t)id >= s->n_items)
		return "";
	item = &s->item[id];
	pthread_mutex_lock(&s->lock);
	unc_session_find_without(s, item);
	start = since_start(s);
	interval = last_interval(s, item);
	if (item->lacks)
		s->error = *item->lacks;
	else if ((slot = find_slot(s, item, LOST)) || (slot = find_slot(s, item, UNREAD)))
		unc_slot_loss(&s->units, slot, &s->error);
	else if ((slot = find_slot(s, item, IDLE)))
		unc_slot_idle(&s->units, slot, &s->error);
	else if (waits_for(s, item))
		waits_text(s, item, &s->error);
	else if (measured(s, item, &start) <= 0)
		unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "not measured: the time was too short");
	else if (hardly_measured(s, measured(s, item, &start), &start))
		hardly_text(s, measured(s, item, &start), &start, &s->error);
	else if ((slot = find_scarce(s, item, &start)))
		scarce_text(s, slot, &start, &s->error);
	else if ((slot = find_scarce(s, item, &interval)))
		scarce_text(s, slot, &interval, &s->error);
	else if ((slot = find_slot(s, item, LATE)))
		unc_slot_late(&s->units, slot, &s->error);
	else if ((slot = find_slot(s, item, IDLE_IN_IT)))
		unc_slot_idle(&s->units, slot, &s->error);
	else if (unmeasured(measured(s, item, &interval), &interval))
		unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "not measured in the interval");
	else if (hardly_measured(s, measured(s, item, &interval), &interval))
		hardly_text(s, measured(s, item, &interval), &interval, &s->error);
	else if (item->expr) {
		vars = fill(s, item, &start);
		why = unc_expr_eval(item->expr, s->scratch, &vars, &value);
		unc_fail(&s->error, UNC_ERR_RANGE, "%s", why ? why : "");
	}
	if (!*s->error.text && (slot = find_slot(s, item, UNPROVEN)))
		unc_slot_unproven(&s->units, slot, &s->error);
	/* As it was at the last read: the thread may have looked since. */
	if (!*s->error.text && item->interval_late > 0)
		late_text(item->interval_late, interval.all, true, &s->error);
	if (!*s->error.text && item->late > 0)
		late_text(item->late, wall(s)->reported, false, &s->error);
	pthread_mutex_unlock(&s->lock);
	return s->error.text;
}

void unc_session_values(struct unc_session *s, struct unc_value *values, size_t n, size_t size)
{
	const struct stretch start = since_start(s);
	struct stretch interval;
	struct unc_value v, *out = &v;

	for (size_t i = 0; i < n && i < s->n_items; i++) {
		if (i == 0 || s->n_passes > 1)
			interval = last_interval(s, &s->item[i]);
		if (size == sizeof(v))
			out = &values[i];
		if (s->item[i].only != UINT32_MAX && !start.parts && start.all > 0)
			plain_value(s, &s->item[i], &start, &interval, out);
		else
			item_value(s, &s->item[i], &start, &interval, out);
		s->item[i].late = out->late;
		s->item[i].interval_late = out->interval_late;
		if (size != sizeof(v))
			unc_struct_out((char *)values + i * size, size, &v, sizeof(v));
	}
}

/* A turn has failed: nothing has been counted since. */
static int turn_error(struct unc_session *s)
{
	if (s->turning.error.code)
		s->error = s->turning.error;
	return s->turning.error.code;
}

int unc_session_look_now(struct unc_session *s)
{
	int rc = turn_error(s);

	return rc == 0 && s->state == UNC_RUNNING ? unc_session_look(s, UNC_ALL, &s->error) : rc;
}

/* A look, and what it asks for. */
static int look_and_check(struct unc_session *s)
{
	int rc = unc_session_look_now(s);

	unc_units_tell_back(&s->units);
	if (rc == 0 && s->state == UNC_RUNNING)
		rc = unc_units_check_due(&s->units, s->units.read_ns + s->units.read_width,
					 &s->error);
	return rc;
}

int unc_session_read(struct unc_session *s, struct unc_value *values, size_t n, size_t size)
{
	int rc = unc_session_enter_measured(s);

	if (rc == 0 && n)
		rc = unc_struct_check(size, "unc_value", &s->error);
	if (rc < 0)
		return rc;
	/* The watcher must not look in between the counters and their values. */
	pthread_mutex_lock(&s->lock);
	rc = look_and_check(s);
	if (rc == 0 && s->state != UNC_ENDED)
		unc_session_end_interval(s); /* or what came between the last read and the stop */
	if (s->state == UNC_STOPPED)
		s->state = UNC_ENDED;
	if (rc == 0)
		unc_session_values(s, values, n, size);
	if (rc == 0 && s->state == UNC_RUNNING && unc_units_take_again(&s->units))
		unc_session_look(s, UNC_ALL, NULL);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

int unc_session_time(struct unc_session *s, double *since_start, double *interval)
{
	if (unc_session_enter_measured(s) < 0)
		return UNC_ERR_STATE;
	pthread_mutex_lock(&s->lock);
	if (since_start)
		*since_start = wall(s)->time;
	if (interval)
		*interval = wall(s)->delta;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

void unc_session_forget(struct unc_session *s)
{
	unc_units_forget(&s->units);
	for (size_t i = 0; i < s->n_items; i++) {
		struct unc_session_item *item = &s->item[i];

		item->seen = 0;
		item->complete = item->interval = item->late = item->interval_late = 0;
	}
	memset(s->pass, 0, sizeof(s->pass));
	s->begun = (uint64_t)1 << s->units.turn;
	s->wall = (struct unc_pass){0};
	unc_session_began(s);
}
