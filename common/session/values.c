/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: counts become values. No lookup, no parsing, no allocation. */
#include <math.h>
#include <string.h>

#include "base/abi.h"
#include "session/session.h"

/* ---- totals of the run */

void unc_session_take(struct unc_session *s)
{
	const struct unc_run *run = s->run;
	struct unc_totals *t = &s->spare;

	for (size_t i = 0; i < run->n_counters; i++)
		t->count[i] = run->counter[i].total;
	for (size_t i = 0; i < run->n_sets; i++) {
		const struct unc_set *set = &run->set[i];

		t->point[i] = (struct unc_point){.time = set->time,
						 .look = set->to,
						 .doubts = set->doubts,
						 .stood = set->stood,
						 .lost = set->state == UNC_SET_LOST,
						 .unread = set->unread != 0,
						 .begun = set->begun,
						 .gap = set->gap,
						 .lapse = set->lapse};
	}
	for (unsigned i = 0; i < run->n_passes; i++)
		t->passed[i] = run->passed[i];
	t->ns = run->read_ns;
	t->width = run->read_width;
	t->flawed = run->flawed;
	s->last = *t;
}

static void copy_totals(const struct unc_run *run, struct unc_totals *to,
			const struct unc_totals *from)
{
	memcpy(to->count, from->count, run->n_counters * sizeof(*to->count));
	memcpy(to->point, from->point, run->n_sets * sizeof(*to->point));
	memcpy(to->passed, from->passed, run->n_passes * sizeof(*to->passed));
	to->ns = from->ns;
	to->width = from->width;
	to->flawed = from->flawed;
}

void unc_session_forget(struct unc_session *s)
{
	copy_totals(s->run, &s->start, &s->last);
	copy_totals(s->run, &s->begin, &s->last);
	copy_totals(s->run, &s->end, &s->last);
	for (size_t i = 0; i < s->n_items; i++) {
		struct unc_session_item *item = &s->item[i];

		item->seen = item->complete = item->interval = 0;
		item->late = item->interval_late = 0;
	}
}

void unc_session_ask(struct unc_session *s, const struct unc_totals *since)
{
	struct unc_run *run = s->run;
	bool all = true;

	for (size_t i = 0; i < run->n_sets; i++) {
		const struct unc_set *set = &run->set[i];
		size_t first = (size_t)(set->counter - run->counter);
		bool moved = set->time.ran == since->point[i].time.ran || !unc_set_is_due(run, set);

		for (size_t k = 0; k < set->n && !moved && unc_set_moves(run, set); k++)
			moved = set->counter[k].total != since->count[first + k];
		s->moved[i] = moved;
		all &= moved;
	}
	if (!all)
		unc_run_ask(run, s->moved);
}

/* ---- an interval ends */

/* Ends the interval for sets of passes that were measured; sets of others keep theirs. */
static void end_passes(struct unc_session *s)
{
	const struct unc_run *run = s->run;
	uint64_t measured = 0;

	for (unsigned i = 0; i < s->n_passes; i++)
		if (unc_session_measured(s, i)) {
			measured |= (uint64_t)1 << i;
			s->end.passed[i] = s->last.passed[i];
		}
	for (size_t i = 0; i < run->n_sets; i++) {
		const struct unc_set *set = &run->set[i];
		size_t first = (size_t)(set->counter - run->counter);

		if (set->pass != UNC_EVERY_PASS && !(measured >> set->pass & 1))
			continue;
		s->begin.point[i] = s->end.point[i];
		s->end.point[i] = s->last.point[i];
		for (size_t k = first; k < first + set->n; k++) {
			s->begin.count[k] = s->end.count[k];
			s->end.count[k] = s->last.count[k];
		}
	}
	s->begin.ns = s->end.ns;
	s->begin.width = s->end.width;
	s->end.ns = s->last.ns;
	s->end.width = s->last.width;
	for (size_t i = 0; i < s->n_items; i++) {
		struct unc_session_item *item = &s->item[i];
		uint64_t wall = s->last.ns - s->start.ns;

		if (unc_session_complete(s, item)) /* the next one begins */
			item->seen = 0;
		item->seen |= measured & item->waits;
		if (!unc_session_complete(s, item))
			continue;
		item->interval = wall - item->complete;
		item->complete = wall;
	}
}

void unc_session_end_interval(struct unc_session *s)
{
	struct unc_totals old = s->begin;

	if (s->n_passes > 1) {
		end_passes(s);
		return;
	}
	s->begin = s->end;
	s->end = s->last;
	s->spare = old;
}

/* ---- values */

static double share_of(double part, double all)
{
	return part < all ? part / all : 1;
}

/* The value of an item, in full. */
static void item_value(struct unc_session *s, const struct unc_session_item *item,
		       const struct unc_stretch *start, struct unc_value *v)
{
	const struct unc_stretch interval = unc_last_interval(s, item);
	struct unc_marks m;

	unc_session_marks(s, item, &m);
	*v = (struct unc_value){.units = m.units,
				.of = item->of,
				.lacked = item->lacked,
				.flags = unc_marks_flags(&m) |
					 (m.units < item->of ? UNC_VALUE_PARTIAL : 0)};
	if (unc_marks_leave(&m, UNC_MARK_VALUE))
		return;
	v->flags |= unc_session_complete(s, item) ? UNC_VALUE_FRESH : 0;
	v->interval_seconds = m.interval_seconds;
	v->interval_share = share_of(m.interval_seconds, interval.all);
	v->interval_late = m.interval_late;
	v->value = m.value;
	v->interval = m.interval;
	if (!item->expr) {
		v->count = unc_aggregate(s, &s->measure[item->measure[0]], start, &v->value);
		v->delta = unc_aggregate(s, &s->measure[item->measure[0]], &interval, &v->interval);
	}
	if (unc_marks_leave(&m, UNC_MARK_INTERVAL)) {
		v->delta = 0;
		v->interval = NAN;
	}
	v->flags |= share_of(m.seconds, start->all) < 1 ? UNC_VALUE_ESTIMATED : 0;
	if (unc_marks_leave(&m, UNC_MARK_TOTAL)) { /* the interval may still have one */
		v->flags &= ~(unsigned)UNC_VALUE_LATE;
		v->count = 0;
		v->value = 0;
		return;
	}
	v->seconds = m.seconds;
	v->share = share_of(m.seconds, start->all);
	v->late = m.late;
	v->flags |= UNC_VALUE_VALID;
}

void unc_session_value(struct unc_session *s, const struct unc_session_item *item,
		       struct unc_value *v)
{
	const struct unc_stretch start = unc_since_start(s);

	item_value(s, item, &start, v);
}

static inline uint64_t plain_count(const struct unc_session *s, uint32_t counter, bool even)
{
	uint64_t count = s->last.count[counter] - s->start.count[counter];

	return even ? count : unc_scaled(count, s->weight[s->run->of[counter]].scale);
}

/* The value of one counter without marks: most of what is read often. */
static inline void plain_value(const struct unc_session *s, uint32_t counter, bool even,
			       struct unc_value *v)
{
	uint64_t count = plain_count(s, counter, even);
	uint64_t delta = s->last.count[counter] - s->begin.count[counter];
	uint32_t set = s->run->of[counter];

	if (!even) {
		const struct unc_weight *total = &s->weight[set], *interval = &s->interval[set];

		delta = unc_scaled(delta, interval->scale);
		v->late = total->late;
		v->interval_late = interval->late;
		v->flags |= (total->late > 0 ? UNC_VALUE_LATE : 0) |
			    (interval->late > 0 ? UNC_VALUE_INTERVAL_LATE : 0);
	}
	v->count = count;
	v->delta = delta;
	v->value = (double)count;
	v->interval = (double)delta;
}

/* Computes the weights of sets, once for all their counters. */
static void weigh_sets(struct unc_session *s, const struct unc_stretch *start,
		       const struct unc_stretch *interval)
{
	for (size_t i = 0; i < s->run->n_sets; i++) {
		s->weight[i] = unc_weigh(s, i, start);
		s->interval[i] = unc_weigh(s, i, interval);
	}
}

bool unc_session_is_plain(const struct unc_session *s)
{
	bool plain = s->n_passes == 1 && !s->run->flawed && !s->last.flawed;

	for (size_t i = 0; i < s->n_items && plain; i++)
		plain = !s->item[i].expr && !s->item[i].lacks && s->item[i].units == s->item[i].of;
	return plain;
}

bool unc_session_plain(struct unc_session *s, uint64_t *counts, size_t n)
{
	const struct unc_stretch start = unc_since_start(s);
	double exact;

	if (start.parts || start.slow || start.all <= 0)
		return false;
	for (size_t i = 0; i < s->run->n_sets && !start.even; i++)
		s->weight[i] = unc_weigh(s, i, &start);
	for (size_t i = 0; i < n && i < s->n_items; i++) {
		const struct unc_session_item *item = &s->item[i];

		counts[i] =
			item->only != UINT32_MAX
				? plain_count(s, item->only, start.even)
				: unc_aggregate(s, &s->measure[item->measure[0]], &start, &exact);
	}
	return true;
}

void unc_session_values(struct unc_session *s, struct unc_value *values, size_t n, size_t size)
{
	const struct unc_stretch start = unc_since_start(s), interval = unc_last_interval(s, NULL);
	const struct unc_value plain = {.seconds = start.all,
					.interval_seconds = interval.all,
					.share = 1,
					.interval_share = 1,
					.units = 1,
					.of = 1,
					.flags = UNC_VALUE_VALID | UNC_VALUE_FRESH};
	bool even = start.even && interval.even;
	struct unc_value v, *out = &v;

	if (!even && !start.parts)
		weigh_sets(s, &start, &interval);
	for (size_t i = 0; i < n && i < s->n_items; i++) {
		struct unc_session_item *item = &s->item[i];

		if (size == sizeof(v))
			out = &values[i];
		if (item->only != UINT32_MAX && !start.parts && start.all > 0) {
			*out = plain;
			plain_value(s, item->only, even, out);
		} else {
			item_value(s, item, &start, out);
		}
		item->late = out->late;
		item->interval_late = out->interval_late;
		if (size != sizeof(v))
			unc_struct_out((char *)values + i * size, size, &v, sizeof(v));
	}
}
