/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: the thread that looks in before a counter can wrap twice, or a moment in which a unit
 * was frozen is lost in a long time; and lets passes take turns.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "host/process.h"
#include "session/session.h"

enum { SECOND = 1000000000 };    /* ns */
static const double NEVER = 1e7; /* seconds */

/*
 * How often to look in: often enough for the fastest counter of the session not to wrap, and for
 * one that is cleared in the middle of its range to go back by more than it can have counted
 * (too_much); where clocks tell of a unit that was frozen meanwhile, about each second: who reads
 * each second needs no other looks.
 */
static double look_seconds(const struct unc_session *s)
{
	double least = 1e9;

	for (size_t i = 0; i < s->units.n_slots; i++) {
		const struct unc_slot *slot = &s->units.slot[i];
		const struct unc_tbl_event *event = &s->platform->table->event[slot->code.event];
		double range = ldexp(1.0, (int)unc_slot_width(s->platform->table, slot));

		if (event->alike || event->steady)
			least = fmin(least, 18);
		if (slot->mask ==
		    UINT64_MAX) /* it does not wrap, or the kernel looks in by itself */
			continue;
		if (slot->mask) /* it may be narrower than the table says */
			range = fmin(range, (double)slot->mask + 1);
		least = fmin(least, range / unc_slot_most(slot, SECOND));
	}
	return least / 16;
}

/* Of the clock that the condition waits by. */
static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* When to look in next: counted from the last look, whoever took it. */
static void plan_look(struct unc_session *s)
{
	uint64_t often = (uint64_t)(fmin(s->watch_seconds, look_seconds(s)) * SECOND);
	uint64_t ns = unc_machine_now(s->platform->machine) - s->units.read_ns;

	s->look_ns = now_ns() + (ns < often ? often - ns : 0);
	s->looked_ns = s->units.read_ns;
}

/* Does what is due, of no list's lock. When something is again. */
static uint64_t see_to(struct unc_session *s)
{
	uint64_t left, now;

	pthread_mutex_lock(&s->lock);
	left = unc_turning_left(s);
	pthread_mutex_unlock(&s->lock);
	if (left == 0)
		unc_turning_turn(s);
	pthread_mutex_lock(&s->lock);
	if (now_ns() >= s->look_ns) {
		if (s->units.read_ns == s->looked_ns) {
			/* A failed look is tried again; the user's next read reports it. */
			(void)unc_session_look(s, UNC_ALL, NULL);
			unc_units_compare_clocks(&s->units, 0);
		}
		plan_look(s);
	}
	left = unc_turning_left(s);
	now = now_ns();
	pthread_mutex_unlock(&s->lock);
	return left < UINT64_MAX - now && now + left < s->look_ns ? now + left : s->look_ns;
}

/* That to which something is due first. */
static struct unc_session *most_urgent(const struct unc_watch *w)
{
	struct unc_session *best = w->first;

	for (struct unc_session *s = best; s; s = s->next_watched)
		if (s->due_ns < best->due_ns)
			best = s;
	return best;
}

static void *watcher(void *user)
{
	struct unc_watch *w = user;
	struct unc_session *s;

	pthread_mutex_lock(&w->lock);
	while (w->runs && pthread_equal(w->thread, pthread_self())) {
		s = most_urgent(w);
		uint64_t due = s->due_ns;
		struct timespec t = {(time_t)(due / SECOND), (long)(due % SECOND)};

		if (due > now_ns()) {
			pthread_cond_timedwait(&w->wake, &w->lock, &t);
			continue;
		}
		s->due_ns = UINT64_MAX; /* unless it is told meanwhile that it is earlier */
		s->watch = UNC_SEEN_TO;
		pthread_mutex_unlock(&w->lock);
		due = see_to(s);
		pthread_mutex_lock(&w->lock);
		s->due_ns = due < s->due_ns ? due : s->due_ns;
		s->watch = UNC_WATCHED;
		pthread_cond_broadcast(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int unc_session_watch(struct unc_session *s, struct unc_error *err)
{
	struct unc_watch *w = &s->platform->watch;
	int failed = 0;

	/* By what it counts now, and by what: that may not be as before. */
	if (s->watch_seconds == 0 || s->watch_seconds > look_seconds(s))
		s->watch_seconds = look_seconds(s);
	if (s->watch_seconds > NEVER && !unc_turning_wanted(s))
		return 0;
	plan_look(s);
	pthread_mutex_lock(&w->lock);
	s->due_ns = 0;
	s->next_watched = w->first;
	w->first = s;
	s->watch = UNC_WATCHED;
	if (!w->runs)
		failed = unc_thread_new(&w->thread, watcher, w);
	w->runs = failed == 0;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	if (!failed)
		return 0;
	unc_session_unwatch(s);
	return unc_fail(err, UNC_ERR_MEMORY, "no thread could be made to watch for wraps: %s",
			strerror(failed));
}

void unc_session_unwatch(struct unc_session *s)
{
	struct unc_watch *w = &s->platform->watch;
	struct unc_session **link = &w->first;
	pthread_t thread;
	bool last;

	pthread_mutex_lock(&w->lock);
	if (s->watch == UNC_UNWATCHED) {
		pthread_mutex_unlock(&w->lock);
		return;
	}
	while (*link != s)
		link = &(*link)->next_watched;
	*link = s->next_watched;
	thread = w->thread;
	last = !w->first && w->runs; /* nobody needs it any more */
	if (last)
		w->runs = false;
	pthread_cond_broadcast(&w->wake);
	while (s->watch == UNC_SEEN_TO)
		pthread_cond_wait(&w->wake, &w->lock);
	s->watch = UNC_UNWATCHED;
	pthread_mutex_unlock(&w->lock);
	if (last)
		pthread_join(thread, NULL);
}
