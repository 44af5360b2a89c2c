/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: the thread that looks in before a counter can wrap twice, or a moment in which a unit
 * was frozen is lost in a long time; and lets passes take turns.
 */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "session/session.h"

enum { SECOND = 1000000000 }; /* ns */

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

/* Counted from the last look, whoever took it. */
static uint64_t next_look(const struct unc_session *s)
{
	uint64_t often = (uint64_t)(fmin(s->watch_seconds, look_seconds(s)) * SECOND);
	uint64_t ns = unc_machine_now(s->platform->machine) - s->units.read_ns;

	return now_ns() + (ns < often ? often - ns : 0);
}

/* Waits for something to do until the next look is due: the turn of the next pass, or an end. */
static void wait_for(struct unc_session *s, uint64_t look)
{
	uint64_t left = unc_turning_left(s), now = now_ns();
	uint64_t until = now < look && left < look - now ? now + left : look;
	struct timespec t = {(time_t)(until / SECOND), (long)(until % SECOND)};

	if (left)
		pthread_cond_timedwait(&s->wake, &s->lock, &t);
}

static void *watcher(void *user)
{
	struct unc_session *s = user;
	uint64_t look, last;

	pthread_mutex_lock(&s->lock);
	look = next_look(s);
	last = s->units.read_ns;
	while (s->watch == UNC_WATCHED) {
		wait_for(s, look);
		if (unc_turning_left(s) == 0 && s->watch == UNC_WATCHED) {
			pthread_mutex_unlock(&s->lock);
			unc_turning_turn(s);
			pthread_mutex_lock(&s->lock);
		}
		if (now_ns() < look || s->watch != UNC_WATCHED)
			continue;
		if (s->units.read_ns == last) {
			/* A failed look is tried again; the user's next read reports it. */
			(void)unc_session_look(s, UNC_ALL, NULL);
			unc_units_compare_clocks(&s->units, 0);
		}
		look = next_look(s);
		last = s->units.read_ns;
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int unc_session_watch(struct unc_session *s, struct unc_error *err)
{
	sigset_t all, old;
	int failed;

	/* By what it counts now, and by what: that may not be as before. */
	if (s->watch_seconds == 0 || s->watch_seconds > look_seconds(s))
		s->watch_seconds = look_seconds(s);
	s->watch = UNC_WATCHED;
	/* The thread takes no signals: they are the program's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&s->watcher, NULL, watcher, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed == 0)
		return 0;
	s->watch = UNC_UNWATCHED;
	return unc_fail(err, UNC_ERR_MEMORY, "no thread could be made to watch for wraps: %s",
			strerror(failed));
}

void unc_session_unwatch(struct unc_session *s)
{
	if (s->watch == UNC_UNWATCHED)
		return;
	pthread_mutex_lock(&s->lock);
	s->watch = UNC_LEAVING;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->watcher, NULL);
	s->watch = UNC_UNWATCHED;
}
