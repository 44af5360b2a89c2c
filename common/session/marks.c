/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: what a value lacks, and why. */
#include <math.h>
#include <string.h>

#include "session/session.h"

#define MARK(name, scope, flags) MARK_##name,
enum {
#include "session/marks.inc"
	N_MARKS
};

static const struct {
	enum unc_mark_scope scope;
	unsigned flags;
} rows[] = {
#define MARK(name, scope, flags) {UNC_MARK_##scope, flags},
#include "session/marks.inc"
};

static const struct unc_mark shown[] = {
#define SHOWN(flag, interval, letter, key, what) {flag, interval, letter, key, what},
#include "session/marks.inc"
};
_Static_assert(sizeof(shown) / sizeof(shown[0]) <= UNC_MAX_MARKS, "uncore.h");

const struct unc_mark *unc_mark_get(size_t number)
{
	return number < sizeof(shown) / sizeof(shown[0]) ? &shown[number] : NULL;
}

unsigned unc_marks_flags(const struct unc_marks *m)
{
	unsigned flags = 0;

	for (int i = 0; i < N_MARKS; i++)
		flags |= m->which >> i & 1 ? rows[i].flags : 0;
	return flags;
}

bool unc_marks_leave(const struct unc_marks *m, enum unc_mark_scope none)
{
	for (int i = 0; i < N_MARKS; i++)
		if (m->which >> i & 1 && rows[i].scope == none)
			return true;
	return false;
}

static void set_mark(struct unc_marks *m, int mark, const struct unc_set *set)
{
	if (!(m->which >> mark & 1))
		m->set[mark] = set;
	m->which |= (uint32_t)1 << mark;
}

/* A value that was measured for less than this share of the time, or of its passes' time, is not given. */
static const double LEAST_SHARE = 0.05;

static bool is_hardly(const struct unc_session *s, double seconds, const struct unc_stretch *of)
{
	return unc_takes_turns(s) && seconds * s->n_passes < LEAST_SHARE * of->all;
}

/* ---- sets of an item */

struct place {
	uint32_t measure, want;
};

/* The next set of an item; false: there is none. */
static bool next_set(const struct unc_session *s, const struct unc_session_item *item,
		     struct place *at, size_t *set)
{
	for (; at->measure < item->n_measures; at->measure++, at->want = 0) {
		const struct unc_measure *m = &s->measure[item->measure[at->measure]];

		if (at->want < m->n_wants) {
			*set = s->run->of[s->run->at[m->want[at->want++]]];
			return true;
		}
	}
	return false;
}

static bool is_idle(const struct unc_stretch *of, size_t set)
{
	struct unc_time time = unc_time_of(of, set);

	return time.idle && !time.ran;
}

/* Whether a set was lost where the last interval began, and has hardly counted again in it. */
static bool is_hardly_back(const struct unc_session *s, size_t set)
{
	const struct unc_stretch of = unc_last_interval(s, NULL);

	return of.from->point[set].lost &&
	       (double)unc_time_of(&of, set).ran < LEAST_SHARE * (double)of.ns;
}

/* The mark that makes the counts of a set useless until now; N_MARKS: none. */
static int flaw_of(const struct unc_session *s, const struct unc_stretch *start, size_t set)
{
	const struct unc_point *now = &start->to->point[set];

	return now->lost || is_hardly_back(s, set) ? MARK_LOST
	       : now->unread                       ? MARK_UNREAD
	       : is_idle(start, set)               ? MARK_IDLE
						   : N_MARKS;
}

/* Finds the sets that the item goes without: all its sets of a flawed unit. Returns their units. */
static unsigned find_without(struct unc_session *s, const struct unc_session_item *item,
			     const struct unc_stretch *start)
{
	const struct unc_run *run = s->run;
	struct place at = {0};
	unsigned n = 0;
	size_t i;

	memset(s->without, 0, run->n_sets * sizeof(*s->without));
	while (s->last.flawed && next_set(s, item, &at, &i)) {
		if (s->without[i] || flaw_of(s, start, i) == N_MARKS)
			continue;
		n++;
		for (size_t k = 0; k < run->n_sets; k++)
			s->without[k] |= run->set[k].unit == run->set[i].unit;
	}
	return n;
}

/* Whether a measure has no unit left: then the item has no value. */
static bool is_emptied(const struct unc_session *s, const struct unc_session_item *item)
{
	for (uint32_t k = 0; k < item->n_measures; k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];
		uint32_t left = 0;

		for (uint32_t i = 0; i < m->n_wants; i++)
			left += !s->without[s->run->of[s->run->at[m->want[i]]]];
		if (!left)
			return true;
	}
	return false;
}

/* Whether nothing proves that a set has counted, in a time in which it has not moved; or it alone
 * did not move for a part of it. */
static bool is_unproven(const struct unc_session *s, const struct unc_stretch *of, size_t i)
{
	const struct unc_set *set = &s->run->set[i];
	size_t first = (size_t)(set->counter - s->run->counter);

	if (of->to->point[i].stood != of->from->point[i].stood)
		return true;
	if (of->to->point[i].doubts == of->from->point[i].doubts)
		return false;
	for (size_t k = first; k < first + set->n; k++)
		if (of->to->count[k] != of->from->count[k])
			return false;
	return true;
}

struct unc_set *unc_session_flawed(struct unc_session *s, const struct unc_session_item *item,
				   uint32_t instance)
{
	const struct unc_stretch start = unc_since_start(s);
	struct place at = {0};
	size_t i;

	while (next_set(s, item, &at, &i))
		if (s->run->set[i].unit == &s->platform->instances.unit[instance] &&
		    flaw_of(s, &start, i) != N_MARKS)
			return &s->run->set[i];
	return NULL;
}

/* ---- marks */

/* Sets the marks that depend on one set. */
static void mark_set(const struct unc_session *s, size_t i, const struct unc_stretch *start,
		     const struct unc_stretch *interval, struct unc_marks *m)
{
	const struct unc_set *set = &s->run->set[i];
	double turns = set->pass == UNC_EVERY_PASS ? 1 : s->n_passes;
	double seconds = unc_seconds_of(s, i, start), more = unc_seconds_of(s, i, interval);

	m->seconds = fmin(m->seconds, seconds);
	m->interval_seconds = fmin(m->interval_seconds, more);
	if (start->to->point[i].lapse && seconds * turns < LEAST_SHARE * start->all)
		set_mark(m, MARK_SCARCE, set);
	if (interval->to->point[i].lapse && more * turns < LEAST_SHARE * interval->all)
		set_mark(m, MARK_INTERVAL_SCARCE, set);
	if (interval->from->point[i].unread)
		set_mark(m, MARK_INTERVAL_UNREAD, set);
	if (is_idle(interval, i))
		set_mark(m, MARK_INTERVAL_IDLE, set);
	if (is_unproven(s, start, i) || is_unproven(s, interval, i))
		set_mark(m, MARK_UNPROVEN, set);
}

static void join_looks(struct unc_look *all, struct unc_look one)
{
	uint64_t end = all->ns == UINT64_MAX ? 0 : all->ns + all->width;

	end = one.ns + one.width > end ? one.ns + one.width : end;
	all->ns = one.ns < all->ns ? one.ns : all->ns;
	all->width = end - all->ns;
}

/* Seconds over which an item's counters were read, where its time began or ended; 0: at most 1 % of it. */
static double lateness(const struct unc_session *s, const struct unc_session_item *item,
		       const struct unc_stretch *of)
{
	struct unc_look began = {.ns = UINT64_MAX}, ended = began;
	struct place at = {0};
	uint64_t late = 0;
	size_t i;

	while (of->slow && next_set(s, item, &at, &i)) {
		uint64_t took = unc_unsure(of, i);

		if (of->parts && s->without[i])
			continue;
		late = took > late ? took : late;
		if (of->from->point[i].begun)
			join_looks(&began, of->from->point[i].look);
		join_looks(&ended, of->to->point[i].look);
	}
	if (s->n_passes == 1 && !s->last.flawed) {
		late = began.width > late ? began.width : late;
		late = ended.width > late ? ended.width : late;
	}
	return unc_if_late(late, of);
}

static void mark_times(struct unc_session *s, const struct unc_session_item *item,
		       const struct unc_stretch *start, const struct unc_stretch *interval,
		       struct unc_marks *m)
{
	struct place at = {0};
	size_t i;

	m->seconds = start->all;
	m->interval_seconds = interval->all;
	while (start->parts && next_set(s, item, &at, &i))
		if (!s->without[i])
			mark_set(s, i, start, interval, m);
	if (unc_session_waits_for(s, item))
		set_mark(m, MARK_WAITS, NULL);
	if (m->seconds <= 0)
		set_mark(m, MARK_SHORT, NULL);
	else if (is_hardly(s, m->seconds, start))
		set_mark(m, MARK_HARDLY, NULL);
	if (m->interval_seconds <= 0 && interval->all > 0)
		set_mark(m, MARK_INTERVAL_SHORT, NULL);
	else if (is_hardly(s, m->interval_seconds, interval))
		set_mark(m, MARK_INTERVAL_HARDLY, NULL);
	m->late = lateness(s, item, start);
	m->interval_late = lateness(s, item, interval);
	if (m->interval_late > 0)
		set_mark(m, MARK_INTERVAL_LATE, NULL);
	if (m->late > 0)
		set_mark(m, MARK_LATE, NULL);
}

void unc_session_marks(struct unc_session *s, const struct unc_session_item *item,
		       struct unc_marks *m)
{
	struct unc_stretch start, interval;
	struct place at = {0};
	size_t i;

	*m = (struct unc_marks){.units = item->units};
	if (item->lacks) {
		set_mark(m, MARK_LACKS, NULL);
		return;
	}
	start = unc_since_start(s);
	interval = unc_last_interval(s, item);
	m->units -= find_without(s, item, &start);
	if (is_emptied(s, item)) {
		m->emptied = true;
		m->units = item->units;
		while (next_set(s, item, &at, &i))
			if (flaw_of(s, &start, i) != N_MARKS)
				set_mark(m, flaw_of(s, &start, i), &s->run->set[i]);
		return;
	}
	mark_times(s, item, &start, &interval, m);
	if (unc_marks_leave(m, UNC_MARK_VALUE) || !item->expr)
		return;
	if (unc_session_evaluate(s, item, &start, &m->value))
		set_mark(m, MARK_FORMULA, NULL);
	if (unc_session_evaluate(s, item, &interval, &m->interval))
		m->interval = NAN;
}

/* ---- sentences */

static void waits_text(const struct unc_session *s, const struct unc_session_item *item,
		       struct unc_error *err)
{
	uint64_t now = (uint64_t)1 << s->run->pass;
	uint64_t begun = (item->waits & ~unc_session_waits_for(s, item)) | (item->waits & now);
	int all = __builtin_popcountll(item->waits), n = __builtin_popcountll(begun);

	if (all == 1)
		unc_fail(err, UNC_ERR_PASSES,
			 "its pass, one of %u, was not measured yet; it has no value before",
			 s->n_passes);
	else
		unc_fail(err, UNC_ERR_PASSES,
			 "measured in %d of %d passes so far; it has no value before all "
			 "were measured",
			 n < all ? n : all - 1, all);
}

static void hardly_text(const struct unc_session *s, double seconds, const struct unc_stretch *of,
			struct unc_error *err)
{
	unc_fail(err, UNC_ERR_PASSES, "measured in only %.2g %% of the %s, instead of %.0f %%",
		 100 * seconds / of->all, of->interval ? "interval" : "time", 100. / s->n_passes);
}

static void scarce_text(const struct unc_session *s, const struct unc_set *set,
			const struct unc_stretch *of, struct unc_error *err)
{
	double seconds = unc_seconds_of(s, unc_set_number(s->run, set), of);

	unc_set_scarce(s->run, set, 100 * seconds / of->all, of->interval ? "interval" : "time",
		       err);
}

static void formula_text(struct unc_session *s, const struct unc_session_item *item,
			 const struct unc_stretch *start, struct unc_error *err)
{
	double value;
	const char *why = unc_session_evaluate(s, item, start, &value);

	unc_fail(err, UNC_ERR_RANGE, "%s", why ? why : "");
}

static void late_text(double late, double all, bool interval, struct unc_error *err)
{
	int digits = late < 0.01 ? 2 : 0, of = all < 0.01 ? 2 : 0; /* as many as are significant */

	unc_fail(err, UNC_ERR_BUSY, "read over %.*f ms of %s%.*f ms", digits, late * 1e3,
		 interval ? "an interval of " : "", of, all * 1e3);
}

/* Writes the sentence of a mark. */
static void write_reason(struct unc_session *s, const struct unc_session_item *item,
			 const struct unc_marks *m, int mark, struct unc_error *err)
{
	const struct unc_set *set = m->set[mark];
	struct unc_stretch start, interval;

	if (mark == MARK_LACKS) {
		*err = *item->lacks;
		return;
	}
	start = unc_since_start(s);
	interval = unc_last_interval(s, item);
	switch (mark) {
	case MARK_LOST:
	case MARK_UNREAD:
		unc_set_reason(s->run, set, err);
		return;
	case MARK_IDLE:
	case MARK_INTERVAL_IDLE:
		unc_set_idle(s->run, set, err);
		return;
	case MARK_WAITS:
		waits_text(s, item, err);
		return;
	case MARK_SHORT:
		unc_fail(err, UNC_ERR_UNAVAILABLE, "not measured: the time was too short");
		return;
	case MARK_HARDLY:
		hardly_text(s, m->seconds, &start, err);
		return;
	case MARK_SCARCE:
		scarce_text(s, set, &start, err);
		return;
	case MARK_INTERVAL_SCARCE:
		scarce_text(s, set, &interval, err);
		return;
	case MARK_INTERVAL_UNREAD:
		unc_set_late(s->run, set, err);
		return;
	case MARK_INTERVAL_SHORT:
		unc_fail(err, UNC_ERR_UNAVAILABLE, "not measured in the interval");
		return;
	case MARK_INTERVAL_HARDLY:
		hardly_text(s, m->interval_seconds, &interval, err);
		return;
	case MARK_FORMULA:
		formula_text(s, item, &start, err);
		return;
	case MARK_UNPROVEN:
		unc_set_unproven(s->run, set, err);
		return;
	case MARK_INTERVAL_LATE:
		late_text(item->interval_late, interval.all, true, err);
		return;
	default: /* as it was at the last read */
		late_text(item->late, start.all, false, err);
	}
}

const char *unc_session_why(struct unc_session *s, int id, unsigned flags)
{
	const struct unc_session_item *item;
	struct unc_marks m;
	int mark = 0;

	if (!unc_platform_here(s->platform))
		return s->error.text;
	unc_error_clear(&s->error);
	if (id < 0 || (size_t)id >= s->n_items || (!s->run && !s->item[id].lacks))
		return "";
	item = &s->item[id];
	if (s->run)
		pthread_mutex_lock(&s->run->lock);
	unc_session_marks(s, item, &m);
	while (mark < N_MARKS && !(m.which >> mark & 1 && (!flags || rows[mark].flags & flags)))
		mark++;
	if (mark < N_MARKS)
		write_reason(s, item, &m, mark, &s->error);
	if (s->run)
		pthread_mutex_unlock(&s->run->lock);
	return s->error.text;
}

const char *unc_session_reason(struct unc_session *s, int id)
{
	return unc_session_why(s, id, 0);
}
