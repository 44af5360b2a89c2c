/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: what the units have counted becomes values. No lookup, no parsing, no allocation. */
#include <math.h>
#include <string.h>

#include "base/abi.h"
#include "session/session.h"

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

	unc_fail(err, UNC_ERR_PASSES,
		 "measured in %d of %d passes so far; it has no value before all have had their "
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

static void end_time(struct unc_pass *pass)
{
	pass->delta = pass->time - pass->reported;
	pass->reported = pass->time;
}

/* What was counted in other passes as well is of the interval that ends with this one. */
static void end_slot(struct unc_session *s, size_t i, uint64_t measured)
{
	struct unc_slot *slot = &s->units.slot[i];
	struct unc_interval *v = &s->interval[i];

	if (!(measured & unc_session_waits(slot)) && !s->units.wanted[slot->instance].always)
		return;
	if (slot->back && !slot->lost.why) { /* it has begun at 0 again */
		*v = (struct unc_interval){0};
		slot->back = false;
	}
	v->from = v->to.ns ? v->to : slot->first;
	v->to = slot->seen;
	v->blur = slot->blur - v->reported_blur + v->from.width + v->to.width;
	v->reported_blur = slot->blur;
	v->delta = slot->total - v->reported;
	v->reported = slot->total;
	v->time.ran = slot->time.ran - v->reported_time.ran;
	v->time.idle = slot->time.idle - v->reported_time.idle;
	v->reported_time = slot->time;
	v->late = v->reported_unread;
	v->reported_unread = slot->unread;
}

/* All of the time: with one pass, that of the pass. */
static const struct unc_pass *wall(const struct unc_session *s)
{
	return s->n_passes > 1 ? &s->wall : &s->pass[0];
}

/* An item is complete when each of its passes has had its turn: its interval ended then. */
static bool is_complete(const struct unc_session_item *item)
{
	return item->seen == item->waits;
}

static void end_item(const struct unc_session *s, struct unc_session_item *item, uint64_t measured)
{
	if (is_complete(item)) /* the next one begins */
		item->seen = 0;
	item->seen |= measured & item->waits;
	if (!is_complete(item))
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
	/* Without a rotation since the last end, what is read is all that can have counted. */
	bool only = s->state == UNC_RUNNING && measured == (uint64_t)1 << s->units.turn;
	for (size_t i = 0; i < s->units.n_reads && only; i++)
		end_slot(s, s->units.read_slot[i], measured);
	for (size_t i = 0; i < s->units.n_slots && !only; i++)
		end_slot(s, i, measured);
	for (size_t i = 0; i < s->n_items; i++)
		end_item(s, &s->item[i], measured);
}

/* ---- values */

/* When a slot has counted, and others of the kernel's users had its counter meanwhile. */
static struct unc_run_time run_time(const struct unc_session *s, uint32_t slot, bool interval)
{
	return interval ? s->interval[slot].time : s->units.slot[slot].time;
}

/* Whether a slot counts only in its turn. */
static bool takes_turns(const struct unc_session *s, const struct unc_slot *slot)
{
	return s->n_passes > 1 && !slot->steady;
}

/* Whether a unit was taken up again since the start or the reset. */
static bool began_later(const struct unc_session *s, uint32_t slot)
{
	return s->units.slot[slot].first.ns > s->start_ns + s->base_width;
}

/* Whether times differ by no more than a thousandth. */
static bool is_whole(uint64_t ran, double all)
{
	return fabs((double)ran * 1e-9 - all) <= all * 1e-3;
}

/* For how long of `all` the time a slot was measured: less where it takes turns, or others had its
 * counter. */
static double slot_time(const struct unc_session *s, uint32_t i, double all, bool interval)
{
	struct unc_run_time run = run_time(s, i, interval);

	if (takes_turns(s, &s->units.slot[i]) || (began_later(s, i) && !is_whole(run.ran, all)))
		return fmin(all, (double)run.ran * 1e-9);
	return run.idle ? all * (double)run.ran / (double)(run.ran + run.idle) : all;
}

/* All of the time that a value of the item is about. */
static double all_time(const struct unc_session *s, const struct unc_session_item *item,
		       bool interval)
{
	return interval ? item->interval : wall(s)->time;
}

/* Whether each slot was read as soon as the others, within a thousandth of the time, and counted
 * all of it: so its own time is that of all, and need not be asked for. */
static bool is_even(const struct unc_session *s, double all, bool interval)
{
	uint64_t width =
		interval ? s->from_width + s->to_width : s->base_width + s->units.read_width;

	return s->units.guest ||
	       (s->n_passes == 1 && !s->units.flawed && (double)width * 1e-9 <= all * 1e-3);
}

/* What was counted in a time of its own, of the time that a value is about. What differs by less
 * than a thousandth stays as it was counted. */
static uint64_t scaled(uint64_t count, uint64_t ran, double all)
{
	if (!ran || is_whole(ran, all))
		return count;
	return (uint64_t)((double)count * all / ((double)ran * 1e-9) + 0.5);
}

/*
 * What the units of a measure have counted, together: each in its own time, scaled to `all`. *exact
 * is the same with what is behind the point.
 */
static uint64_t aggregate(const struct unc_session *s, const struct unc_measure *m, double all,
			  bool interval, double *exact)
{
	bool even = is_even(s, all, interval);
	uint64_t sum = 0, max = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_slots; i++) {
		uint32_t slot = m->slot[i];
		uint64_t value = interval ? s->interval[slot].delta : s->units.slot[slot].total;

		if (s->units.flawed && unc_session_without(s, slot))
			continue;
		n++;
		if (!even)
			value = scaled(value, run_time(s, slot, interval).ran, all);
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
				 bool interval)
{
	struct unc_expr_vars vars = {.tsc_hz = unc_platform_tsc_hz(s->platform),
				     .time = all_time(s, item, interval),
				     .memory_peak = item->memory_peak};

	vars.tsc = vars.time * vars.tsc_hz;
	for (uint32_t i = 0; i < item->n_measures; i++)
		aggregate(s, &s->measure[item->measure[i]], vars.time, interval, &s->scratch[i]);
	return vars;
}

static int evaluate(struct unc_session *s, const struct unc_session_item *item, bool interval,
		    double *value)
{
	struct unc_expr_vars vars = fill(s, item, interval);

	return unc_expr_eval(item->expr, s->scratch, &vars, value) ? UNC_ERR_RANGE : 0;
}

enum flaw {
	LOST,     /* for good */
	UNREAD,   /* for this once */
	IDLE,     /* others had its counter all the time */
	UNPROVEN, /* nothing has shown whether its unit counts */
	/* of the interval alone: */
	LATE,      /* what was not read where it began is in it */
	IDLE_IN_IT /* others had its counter all of it */
};

static bool has_flaw(const struct unc_session *s, uint32_t slot, enum flaw flaw)
{
	struct unc_run_time run = run_time(s, slot, flaw == IDLE_IN_IT);

	switch (flaw) {
	case LOST:
		return s->units.slot[slot].lost.why != 0;
	case UNREAD:
		return s->units.slot[slot].unread != 0;
	case UNPROVEN:
		return s->units.wanted[s->units.slot[slot].instance].proof == UNC_UNSHOWN;
	case LATE:
		return s->interval[slot].late != 0;
	default:
		return run.idle && !run.ran;
	}
}

/* The first slot of an item that has it. */
static const struct unc_slot *find_slot(const struct unc_session *s,
					const struct unc_session_item *item, enum flaw flaw)
{
	bool gone = flaw <= IDLE; /* it matters where no other unit is left */

	for (uint32_t k = 0; k < item->n_measures && s->units.flawed && item->none >= gone; k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];

		for (uint32_t i = 0; i < m->n_slots; i++)
			if (unc_session_without(s, m->slot[i]) == gone &&
			    has_flaw(s, m->slot[i], flaw))
				return &s->units.slot[m->slot[i]];
	}
	return NULL;
}

/* How long the item was measured: as long as that of its slots which was measured least. */
static double measured(const struct unc_session *s, const struct unc_session_item *item,
		       bool interval)
{
	double all = all_time(s, item, interval), least = all;

	for (uint32_t k = 0; k < item->n_measures && (s->n_passes > 1 || s->units.flawed); k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];

		for (uint32_t i = 0; i < m->n_slots; i++)
			if (!unc_session_without(s, m->slot[i]))
				least = fmin(least, slot_time(s, m->slot[i], all, interval));
	}
	return least;
}

/* ---- looks that took long */

/* How long the looks took between which a slot was measured; as a part of all the time where it was
 * measured for less than half of that. */
static double unsure(const struct unc_session *s, uint32_t i, double all, bool interval)
{
	const struct unc_slot *slot = &s->units.slot[i];
	uint64_t blur = interval ? s->interval[i].blur : slot->blur + slot->seen.width;
	double ns = (double)blur, ran = (double)run_time(s, i, interval).ran;

	if (ran <= 0)
		return all;
	return ran * 1e-9 < all / 2 ? all * ns / ran : ns * 1e-9;
}

/* Over how many seconds the counters of an item were read, where its time began or where it ended;
 * 0: no more than 1 % of it. */
static double lateness(const struct unc_session *s, const struct unc_session_item *item,
		       bool interval)
{
	double all = all_time(s, item, interval), most = 0;
	uint64_t begin = interval ? s->from_width : s->base_width, end = s->units.read_width;
	struct unc_seen began = unc_unseen, ended = unc_unseen;
	bool turns = s->n_passes > 1;

	if (s->units.guest || (!turns && (double)(begin > end ? begin : end) * 1e-9 <= all / 100))
		return 0;
	for (uint32_t k = 0; k < item->n_measures; k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];

		for (uint32_t i = 0; i < m->n_slots; i++) {
			const struct unc_slot *slot = &s->units.slot[m->slot[i]];
			const struct unc_interval *v = &s->interval[m->slot[i]];

			if (unc_session_without(s, m->slot[i]))
				continue;
			if (interval || !began_later(s, m->slot[i]))
				unc_seen_join(&began, interval ? v->from : slot->first);
			unc_seen_join(&ended, interval ? v->to : slot->seen);
			most = fmax(most, unsure(s, m->slot[i], all, interval));
		}
	}
	if (!turns)
		most = fmax(most,
			    (double)(began.width > ended.width ? began.width : ended.width) * 1e-9);
	return most > all / 100 ? most : 0;
}

static double share(double part, double all)
{
	return part < all ? part / all : 1;
}

/* Of the last interval, though it has a length: a pass whose turn was over before it began. */
static bool unmeasured(const struct unc_session *s, const struct unc_session_item *item,
		       double seconds)
{
	return seconds <= 0 && all_time(s, item, true) > 0;
}

/* Of what its turns promise, too little for a value. */
static bool hardly_measured(const struct unc_session *s, const struct unc_session_item *item,
			    bool interval)
{
	return unc_turning_wanted(s) &&
	       measured(s, item, interval) * s->n_passes < 0.05 * all_time(s, item, interval);
}

static void hardly_text(const struct unc_session *s, const struct unc_session_item *item,
			bool interval, struct unc_error *err)
{
	unc_fail(err, UNC_ERR_PASSES, "measured in %.2g %% of the %s, where its turn is %.0f %%",
		 100 * measured(s, item, interval) / all_time(s, item, interval),
		 interval ? "interval" : "time", 100. / s->n_passes);
}

static void set_times(const struct unc_session *s, const struct unc_session_item *item,
		      struct unc_value *v)
{
	v->seconds = measured(s, item, false);
	v->interval_seconds = measured(s, item, true);
	v->share = share(v->seconds, all_time(s, item, false));
	v->interval_share = share(v->interval_seconds, all_time(s, item, true));
	if (is_complete(item))
		v->flags |= UNC_VALUE_FRESH;
	if (v->share < 1)
		v->flags |= UNC_VALUE_ESTIMATED;
	if ((v->late = lateness(s, item, false)) > 0)
		v->flags |= UNC_VALUE_LATE;
	if ((v->interval_late = lateness(s, item, true)) > 0)
		v->flags |= UNC_VALUE_INTERVAL_LATE;
}

/* What `item` has counted. */
static void item_value(struct unc_session *s, struct unc_session_item *item, struct unc_value *v)
{
	unsigned units;

	unc_session_find_without(s, item);
	units = item->units - item->without;
	*v = (struct unc_value){
		.units = units, .of = item->of, .flags = units < item->of ? UNC_VALUE_PARTIAL : 0};
	if (item->lacks)
		return;
	if (find_slot(s, item, LOST))
		v->flags |= UNC_VALUE_LOST;
	else if (waits_for(s, item) || hardly_measured(s, item, false))
		v->flags |= UNC_VALUE_WAITS;
	if (v->flags & (UNC_VALUE_LOST | UNC_VALUE_WAITS) || item->none ||
	    measured(s, item, false) <= 0)
		return;
	set_times(s, item, v);
	if (!item->expr) {
		const struct unc_measure *m = &s->measure[item->measure[0]];

		v->count = aggregate(s, m, all_time(s, item, false), false, &v->value);
		v->delta = aggregate(s, m, all_time(s, item, true), true, &v->interval);
		v->flags |= UNC_VALUE_VALID;
	} else {
		if (evaluate(s, item, false, &v->value) == 0)
			v->flags |= UNC_VALUE_VALID;
		if (evaluate(s, item, true, &v->interval) < 0)
			v->interval = NAN;
	}
	if (find_slot(s, item, UNPROVEN))
		v->flags |= UNC_VALUE_UNPROVEN;
	if (find_slot(s, item, LATE) || unmeasured(s, item, v->interval_seconds) ||
	    hardly_measured(s, item, true)) {
		v->delta = 0;
		v->interval = NAN;
	}
	if (!(v->flags & UNC_VALUE_VALID))
		*v = (struct unc_value){.units = v->units, .of = v->of, .flags = v->flags};
}

/* As many as matter. */
static int digits(double seconds)
{
	return seconds < 0.01 ? 2 : 0;
}

static void late_text(const struct unc_session *s, const struct unc_session_item *item,
		      struct unc_error *err)
{
	bool interval = lateness(s, item, true) > 0;
	double late = lateness(s, item, interval), all = all_time(s, item, interval);

	if (late > 0)
		unc_fail(err, UNC_ERR_BUSY, "read over %.*f ms of %s%.*f ms", digits(late),
			 late * 1e3, interval ? "an interval of " : "", digits(all), all * 1e3);
}

const char *unc_session_reason(struct unc_session *s, int id)
{
	const struct unc_slot *slot;
	struct unc_session_item *item;
	struct unc_expr_vars vars;
	const char *why;
	double value;

	if (unc_session_enter(s) < 0)
		return s->error.text;
	if (id < 0 || (size_t)id >= s->n_items)
		return "";
	item = &s->item[id];
	pthread_mutex_lock(&s->lock);
	unc_session_find_without(s, item);
	if (item->lacks)
		s->error = *item->lacks;
	else if ((slot = find_slot(s, item, LOST)) || (slot = find_slot(s, item, UNREAD)))
		unc_slot_loss(&s->units, slot, &s->error);
	else if ((slot = find_slot(s, item, IDLE)))
		unc_slot_idle(&s->units, slot, &s->error);
	else if (waits_for(s, item))
		waits_text(s, item, &s->error);
	else if (measured(s, item, false) <= 0)
		unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "not measured: the time was too short");
	else if (hardly_measured(s, item, false))
		hardly_text(s, item, false, &s->error);
	else if ((slot = find_slot(s, item, LATE)))
		unc_slot_late(&s->units, slot, &s->error);
	else if ((slot = find_slot(s, item, IDLE_IN_IT)))
		unc_slot_idle(&s->units, slot, &s->error);
	else if (unmeasured(s, item, measured(s, item, true)))
		unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "not measured in the interval");
	else if (hardly_measured(s, item, true))
		hardly_text(s, item, true, &s->error);
	else if (item->expr) {
		vars = fill(s, item, false);
		why = unc_expr_eval(item->expr, s->scratch, &vars, &value);
		unc_fail(&s->error, UNC_ERR_RANGE, "%s", why ? why : "");
	}
	if (!*s->error.text && (slot = find_slot(s, item, UNPROVEN)))
		unc_slot_unproven(&s->units, slot, &s->error);
	if (!*s->error.text)
		late_text(s, item, &s->error);
	pthread_mutex_unlock(&s->lock);
	return s->error.text;
}

void unc_session_values(struct unc_session *s, struct unc_value *values, size_t n, size_t size)
{
	struct unc_value v;

	for (size_t i = 0; i < n && i < s->n_items; i++) {
		item_value(s, &s->item[i], &v);
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

int unc_session_read(struct unc_session *s, struct unc_value *values, size_t n, size_t size)
{
	int rc = unc_session_enter_measured(s);

	if (rc == 0 && n)
		rc = unc_struct_check(size, "unc_value", &s->error);
	if (rc < 0)
		return rc;
	/* The watcher must not look in between the counters and their values. */
	pthread_mutex_lock(&s->lock);
	rc = unc_session_look_now(s);
	unc_units_tell_back(&s->units);
	if (rc == 0 && s->state == UNC_RUNNING)
		rc = unc_units_check_due(&s->units, &s->error);
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
	if (s->interval)
		memset(s->interval, 0, s->units.n_slots * sizeof(*s->interval));
	for (size_t i = 0; i < s->n_items; i++) {
		struct unc_session_item *item = &s->item[i];

		item->seen = 0;
		item->complete = item->interval = 0;
	}
	memset(s->pass, 0, sizeof(s->pass));
	s->begun = (uint64_t)1 << s->units.turn;
	s->wall = (struct unc_pass){0};
	unc_session_began(s);
}
