/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: the thread that looks before a counter can wrap twice, changes passes, and retries lost sets. A run that
 * needs none of this is not in its list; without a list there is no thread.
 *
 * Turns are measured in the machine's time, like everything else. The first turns are short, so that a short run is
 * measured in all passes; each round takes twice as long as the one before, so that a long run is hardly disturbed.
 * But a turn is never shorter than the change of the pass allows: nothing counts while one pass ends and the next
 * begins, which may take 5 % of a turn. This cost is measured, round by round. A round that was delayed proves
 * nothing about the next one: the lesser of two rounds counts.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "host/process.h"
#include "units/inside.h"

enum {
	SECOND = 1000000000, /* ns */
	NS_OF_MS = 1000000,
	FIRST_TURN_NS = 2 * NS_OF_MS,
	SHORTEST_NS = NS_OF_MS,
	COSTS = 20 /* shortest turn, in changes of the pass */
};
static const double NEVER = 1e7; /* seconds */

/* The clock of the condition's waits. */
static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static uint64_t machine_ns(const struct unc_run *run)
{
	return unc_machine_now(run->platform->machine);
}

static uint64_t ns_until(uint64_t then, uint64_t now)
{
	return then > now ? then - now : 0;
}

/* ---- looks */

/*
 * The longest time between looks, in seconds: the fastest counter must not wrap, and one that is
 * cleared in the middle of its range must go back by more than it can have counted.
 */
static double look_seconds(const struct unc_run *run)
{
	double least = 1e9;

	for (size_t i = 0; i < run->n_counters; i++) {
		const struct unc_set_counter *c = &run->counter[i];
		const struct unc_code *code = &c->event->code;
		double range = ldexp(1.0, (int)unc_code_width(run->platform->table, code));

		if (c->mask == UINT64_MAX) /* the kernel looks by itself */
			continue;
		if (c->mask) /* it may be narrower than the table says */
			range = fmin(range, (double)c->mask + 1);
		least = fmin(least, range / unc_code_most(code, SECOND));
	}
	return least / 16;
}

/* ---- turns */

static bool takes_turns(const struct unc_run *run)
{
	return run->ms && run->n_passes > 1;
}

uint64_t unc_run_turn_left(const struct unc_run *run)
{
	return takes_turns(run) && run->counting && !run->ended.code
		       ? ns_until(run->until_ns, machine_ns(run))
		       : UINT64_MAX;
}

/* As long as wanted, but each pass must begin a turn within the time of a round, wherever that
 * starts; and no shorter than the change of the pass allows. */
static uint64_t turn_length(const struct unc_run *run, uint64_t wanted)
{
	uint64_t longest = (uint64_t)run->ms * NS_OF_MS / (run->n_passes + 1);
	uint64_t shortest = COSTS * run->cost_ns, length;

	longest = longest > SHORTEST_NS ? longest : SHORTEST_NS;
	length = wanted < longest ? wanted : longest;
	return length > shortest ? length : shortest;
}

void unc_run_pace(struct unc_run *run, struct unc_pace *pace, unsigned ms)
{
	struct unc_pace **link = &run->pace;

	while (*link && *link != pace)
		link = &(*link)->next;
	if (ms && !*link)
		*pace = (struct unc_pace){.next = NULL};
	if (ms)
		*link = pace;
	else if (*link)
		*link = pace->next;
	pace->ms = ms;
	run->ms = 0;
	for (pace = run->pace; pace; pace = pace->next)
		if (!run->ms || pace->ms < run->ms)
			run->ms = pace->ms;
	if (!run->ms)
		run->until_ns = 0;
}

void unc_run_short_turns(struct unc_run *run)
{
	run->turns = 0;
	run->spent_ns = 0;
	run->turn_ns = turn_length(run, FIRST_TURN_NS);
	run->until_ns = machine_ns(run) + run->turn_ns;
}

/* The cost of a change of the pass, by this round and the one before. */
static void end_round(struct unc_run *run)
{
	uint64_t before = run->change_ns;

	run->change_ns = run->spent_ns / run->n_passes;
	run->spent_ns = 0;
	run->cost_ns = run->change_ns < before ? run->change_ns : before;
}

static void change_pass(struct unc_run *run)
{
	uint64_t began = machine_ns(run), length;
	struct unc_error err;

	(void)unc_run_turn(run, &err);
	pthread_mutex_lock(&run->lock);
	length = run->turn_ns;
	run->spent_ns += machine_ns(run) - began;
	if (++run->turns % run->n_passes == 0) {
		end_round(run);
		length *= 2;
	}
	run->turn_ns = turn_length(run, length);
	run->until_ns = machine_ns(run) + run->turn_ns;
	pthread_mutex_unlock(&run->lock);
}

/* ---- what is due */

/* ns until something is due, the lock held; UINT64_MAX: nothing is. */
static uint64_t time_left(const struct unc_run *run)
{
	uint64_t now = machine_ns(run), left = unc_run_turn_left(run),
		 retry = unc_run_retry_ns(run);
	uint64_t look = run->look_ns == UINT64_MAX ? UINT64_MAX
						   : ns_until(run->read_ns + run->look_ns, now);

	if (!run->counting || run->ended.code)
		return UINT64_MAX;
	left = left < look ? left : look;
	return retry != UINT64_MAX && ns_until(retry, now) < left ? ns_until(retry, now) : left;
}

void unc_run_see_to(struct unc_run *run)
{
	uint64_t left, retry;

	pthread_mutex_lock(&run->lock);
	left = unc_run_turn_left(run);
	retry = unc_run_retry_ns(run);
	pthread_mutex_unlock(&run->lock);
	if (left == 0)
		change_pass(run);
	else if (retry <= machine_ns(run))
		unc_run_retry(run);
	pthread_mutex_lock(&run->lock);
	/* A failed look is retried; the user's next read reports it. */
	if (run->counting && !run->ended.code && run->look_ns != UINT64_MAX &&
	    machine_ns(run) - run->read_ns >= run->look_ns)
		(void)unc_run_look(run, NULL);
	pthread_mutex_unlock(&run->lock);
}

/* When something is due again, by monotonic_ns(). If another process has the lock of the node, a
 * pause comes first. */
static uint64_t next_due(struct unc_run *run)
{
	const uint64_t pause = NS_OF_MS, now = monotonic_ns();
	uint64_t left;

	pthread_mutex_lock(&run->lock);
	left = time_left(run);
	pthread_mutex_unlock(&run->lock);
	if (left >= UINT64_MAX - now)
		return UINT64_MAX;
	return now + (left > pause ? left : pause);
}

/* ---- the thread */

/* The run that is due first. */
static struct unc_run *most_urgent(const struct unc_watch *w)
{
	struct unc_run *best = w->first;

	for (struct unc_run *run = best; run; run = run->next_watched)
		if (run->due_ns < best->due_ns)
			best = run;
	return best;
}

static void *watcher(void *user)
{
	struct unc_watch *w = user;
	struct unc_run *run;

	pthread_mutex_lock(&w->lock);
	while (w->runs && pthread_equal(w->thread, pthread_self())) {
		if (!w->first) { /* an end is not over yet: this thread goes on, or is joined */
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		run = most_urgent(w);
		uint64_t due = run->due_ns;
		struct timespec t = {(time_t)(due / SECOND), (long)(due % SECOND)};

		if (due == UINT64_MAX) {
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		if (due > monotonic_ns()) {
			pthread_cond_timedwait(&w->wake, &w->lock, &t);
			continue;
		}
		run->due_ns = UINT64_MAX; /* unless another thread sets an earlier time */
		run->watch = UNC_SEEN_TO;
		pthread_mutex_unlock(&w->lock);
		unc_run_see_to(run);
		due = next_due(run);
		pthread_mutex_lock(&w->lock);
		run->due_ns = due < run->due_ns ? due : run->due_ns;
		run->watch = UNC_WATCHED;
		pthread_cond_broadcast(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int unc_run_watch(struct unc_run *run, struct unc_error *err)
{
	struct unc_watch *w = &run->platform->watch;
	double seconds = look_seconds(run);
	uint64_t left, now = monotonic_ns(), due;
	int failed = 0;

	run->look_ns = seconds > NEVER ? UINT64_MAX : (uint64_t)(seconds * SECOND);
	if (run->platform->machine->stepped)
		return 0;
	if ((left = time_left(run)) == UINT64_MAX)
		return 0;
	due = left < UINT64_MAX - now ? now + left : UINT64_MAX;
	pthread_mutex_lock(&w->lock);
	if (run->watch == UNC_UNWATCHED) {
		run->next_watched = w->first;
		w->first = run;
		run->watch = UNC_WATCHED;
		run->due_ns = due;
	} else if (due < run->due_ns) {
		run->due_ns = due;
	}
	/* No run is listed while an end waits for the one it took off; it lists it for a new session. */
	if (!w->runs && w->first) {
		failed = unc_thread_new(&w->thread, watcher, w);
		w->runs = failed == 0;
	}
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	if (!failed)
		return 0;
	unc_run_unwatch(run);
	return unc_fail(err, UNC_ERR_MEMORY, "no thread could be made to watch for wraps: %s",
			strerror(failed));
}

void unc_run_unwatch(struct unc_run *run)
{
	struct unc_watch *w = &run->platform->watch;
	struct unc_run **link = &w->first;
	pthread_t thread;
	bool last;

	pthread_mutex_lock(&w->lock);
	if (run->watch == UNC_UNWATCHED) {
		pthread_mutex_unlock(&w->lock);
		return;
	}
	while (*link != run)
		link = &(*link)->next_watched;
	*link = run->next_watched;
	thread = w->thread;
	last = !w->first && w->runs; /* no run needs the thread any more */
	if (last)
		w->runs = false;
	pthread_cond_broadcast(&w->wake);
	while (run->watch == UNC_SEEN_TO)
		pthread_cond_wait(&w->wake, &w->lock);
	run->watch = UNC_UNWATCHED;
	pthread_mutex_unlock(&w->lock);
	if (last)
		pthread_join(thread, NULL);
}
