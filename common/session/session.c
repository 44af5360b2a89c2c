/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: creation, start, read, stop and end. */
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/abi.h"
#include "journal/journal.h"

/* ---- begin of a program's call */

int unc_session_enter(struct unc_session *s)
{
	if (unc_platform_here(s->platform)) {
		unc_error_clear(&s->error);
		return 0;
	}
	return unc_fail(&s->error, UNC_ERR_STATE,
			"the session belongs to the process that this one was forked from; open a "
			"platform of its own");
}

int unc_session_enter_idle(struct unc_session *s)
{
	int rc = unc_session_enter(s);

	if (rc == 0 && s->state == UNC_RUNNING)
		rc = unc_fail(&s->error, UNC_ERR_STATE, "the session is running; stop it first");
	return rc;
}

static int enter_running(struct unc_session *s)
{
	int rc = unc_session_enter(s);

	if (rc == 0 && s->state != UNC_RUNNING)
		rc = unc_fail(&s->error, UNC_ERR_STATE, "the session is not running");
	return rc;
}

static int enter_measured(struct unc_session *s)
{
	int rc = unc_session_enter(s);

	if (rc == 0 && s->state == UNC_UNMEASURED)
		rc = unc_fail(&s->error, UNC_ERR_STATE,
			      "the session was not started, or its start failed");
	return rc;
}

struct unc_session_item *unc_session_find_item(struct unc_session *s, int id)
{
	if (id >= 0 && (size_t)id < s->n_items)
		return &s->item[id];
	unc_fail(&s->error, UNC_ERR_NOT_FOUND, "the session has no item %d", id);
	return NULL;
}

/* ---- sessions of the process */

/* Sessions that count: what a process has programmed is restored when it ends. */
static struct {
	pthread_mutex_t lock;
	struct unc_session *first;
} sessions = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* In a forked child no session of its parent counts. */
static void forget_sessions(void)
{
	pthread_mutex_init(&sessions.lock, NULL);
	sessions.first = NULL;
}

static void __attribute__((constructor)) watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, forget_sessions);
}

static void list_session(struct unc_session *s)
{
	pthread_mutex_lock(&sessions.lock);
	s->next = sessions.first;
	s->link = &sessions.first;
	if (s->next)
		s->next->link = &s->next;
	sessions.first = s;
	pthread_mutex_unlock(&sessions.lock);
}

/* Before a session stops or changes. While the process ends, this waits until all are stopped. */
static void unlist_session(struct unc_session *s)
{
	if (!unc_platform_here(s->platform))
		return;
	pthread_mutex_lock(&sessions.lock);
	if (s->link) {
		*s->link = s->next;
		if (s->next)
			s->next->link = s->link;
		s->link = NULL;
	}
	pthread_mutex_unlock(&sessions.lock);
}

/* Waits a second for a lock: the thread that ends the process, in a signal handler, may hold it itself. */
static bool wait_until_free(pthread_mutex_t *lock)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_mutex_timedlock(lock, &until))
		return false;
	pthread_mutex_unlock(lock);
	return true;
}

static int stop_session(struct unc_session *s);

/* Stops all sessions of a program that ends while it counts. If a lock does not become free, what
 * was found is not restored, as after a killed process. */
static void __attribute__((destructor)) stop_all(void)
{
	if (pthread_mutex_trylock(&sessions.lock))
		return;
	for (struct unc_session *s = sessions.first; s; s = s->next)
		if (unc_platform_here(s->platform) && wait_until_free(&s->platform->program) &&
		    wait_until_free(&s->run->lock))
			(void)stop_session(s);
	pthread_mutex_unlock(&sessions.lock);
}

/* ---- creation */

void unc_session_unmeasure(struct unc_session *s)
{
	unlist_session(s);
	unc_run_put(s->run);
	free(s->room);
	s->run = NULL;
	s->room = NULL;
	s->state = UNC_UNMEASURED;
}

int unc_session_new(struct unc_platform *p, unsigned flags, struct unc_session **out)
{
	struct unc_session *s;

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;           /* a thread that is not here may hold its lock */
	unc_platform_fail(p, UNC_OK, "%s", ""); /* clears the error of the call before */
	if (flags & ~(unsigned)UNC_SESSION_ROTATE)
		return unc_platform_fail(p, UNC_ERR_INVALID, "unknown flags 0x%x for a session",
					 flags & ~(unsigned)UNC_SESSION_ROTATE);
	s = calloc(1, sizeof(*s));
	if (!s || !(s->newest = malloc((p->instances.n + 1) * sizeof(*s->newest)))) {
		free(s);
		return unc_platform_fail(p, UNC_ERR_MEMORY, "out of memory");
	}
	memset(s->newest, -1, (p->instances.n + 1) * sizeof(*s->newest));
	s->platform = p;
	s->flags = flags;
	*out = s;
	return 0;
}

/* ---- starting */

/* Whether no item can be counted. */
static bool is_empty(const struct unc_session *s)
{
	size_t n = 0;

	while (n < s->n_items && s->item[n].lacks)
		n++;
	return n == s->n_items;
}

/* The next part of the room. */
static void *next_room(char **at, size_t n, size_t size)
{
	void *part = *at;

	*at += (n * size + 7) & ~(size_t)7;
	return part;
}

/* Allocates what a session keeps of its run. */
static int allocate_room(struct unc_session *s)
{
	const size_t counters = s->run->n_counters, sets = s->run->n_sets;
	struct unc_totals *const totals[] = {&s->start, &s->begin, &s->end, &s->spare};
	size_t each = counters * sizeof(*s->start.count) + sets * sizeof(*s->start.point) +
		      s->n_passes * sizeof(*s->start.passed);
	char *at;

	free(s->room);
	s->room = calloc(1, 4 * each + 2 * sets * (sizeof(*s->weight) + 8) + 16);
	if (!(at = s->room))
		return unc_no_memory(&s->error);
	for (int i = 0; i < 4; i++)
		*totals[i] = (struct unc_totals){
			.count = next_room(&at, counters, sizeof(*s->start.count)),
			.point = next_room(&at, sets, sizeof(*s->start.point)),
			.passed = next_room(&at, s->n_passes, sizeof(*s->start.passed))};
	for (int i = 0; i < 4; i++)
		s->stamps.of[i] = *totals[i];
	s->last = s->spare; /* what it had taken was freed */
	s->weight = next_room(&at, sets, sizeof(*s->weight));
	s->interval = next_room(&at, sets, sizeof(*s->interval));
	s->moved = next_room(&at, sets, sizeof(*s->moved));
	s->without = next_room(&at, sets, sizeof(*s->without));
	return 0;
}

/* Gets a run for what is wanted now. */
static int get_run(struct unc_session *s)
{
	struct unc_run *run;
	int rc = unc_run_get(s->platform, s->want, s->n_wants, (unsigned)unc_session_passes(s),
			     &run, &s->error);

	if (rc < 0)
		return rc;
	unc_run_put(s->run);
	s->run = run;
	if ((rc = allocate_room(s)) < 0)
		unc_session_unmeasure(s);
	return rc;
}

/* Finds the passes for which an item waits, and the counter that is its whole value. */
static void find_waits(struct unc_session *s)
{
	for (size_t i = 0; i < s->n_items; i++) {
		struct unc_session_item *item = &s->item[i];

		item->waits = 0;
		item->only = UINT32_MAX;
		for (uint32_t k = 0; k < item->n_measures; k++) {
			const struct unc_measure *m = &s->measure[item->measure[k]];

			for (uint32_t n = 0; n < m->n_wants; n++) {
				uint32_t counter = s->run->at[m->want[n]];
				unsigned pass = s->run->set[s->run->of[counter]].pass;

				item->waits |= pass == UNC_EVERY_PASS ? 0 : (uint64_t)1 << pass;
				if (!item->expr && m->n_wants == 1 && item->of == 1)
					item->only = counter;
			}
		}
	}
}

/* Begins counting: all earlier counts are forgotten. Fails if sets could not be claimed and no item
 * has anything left. */
static int begin_counting(struct unc_session *s)
{
	const struct unc_error *failed = &s->run->failed;
	bool any = !failed->code;
	struct unc_marks m;

	unc_session_take(s);
	unc_session_forget(s);
	for (size_t i = 0; i < s->n_items; i++) {
		struct unc_session_item *item = &s->item[i];

		m = (struct unc_marks){.units = item->units};
		if (failed->code || s->last.flawed)
			unc_session_marks(s, item, &m);
		item->lacked = item->of - m.units;
		any |= !item->lacks && !m.emptied;
	}
	return any ? 0 : unc_fail(&s->error, failed->code, "%s", failed->text);
}

/* A session that cannot be stopped for want of memory leaves everything as a killed process does. */
static void abandon_run(struct unc_session *s)
{
	unc_run_unwatch(s->run);
	pthread_mutex_lock(&s->run->lock);
	unc_run_keep_no_more(s->run, &s->stamps);
	unc_run_pace(s->run, &s->pace, 0);
	(void)unc_run_end(s->run, UNC_GIVES_UP, NULL);
}

int unc_session_start(struct unc_session *s)
{
	enum unc_ending how;
	int rc = unc_session_enter(s);

	if (rc < 0)
		return rc;
	if (s->state == UNC_RUNNING)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is running already");
	if (is_empty(s))
		return unc_fail(&s->error, UNC_ERR_STATE, "the session has no events");
	if (unc_fs_replayed(s->platform->fs) && !s->platform->machine->simulated)
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"the machine is a dump (%s), where nothing counts",
				unc_fs_root(s->platform->fs));
	if (!s->platform->access)
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"the platform was opened for listing only (option cpu)");
	unlist_session(s);
	s->state = UNC_UNMEASURED; /* a failed start leaves nothing to be read */
	if ((rc = get_run(s)) < 0)
		return rc;
	find_waits(s);
	if ((rc = unc_run_start(s->run, &s->error)) < 0)
		return rc;
	if ((rc = begin_counting(s)) == 0) {
		unc_run_keep(s->run, &s->stamps);
		unc_run_pace(s->run, &s->pace, s->ms);
		if (s->ms)
			unc_run_short_turns(s->run);
		if ((rc = unc_run_watch(s->run, &s->error)) == 0) {
			s->state = UNC_RUNNING;
			pthread_mutex_unlock(&s->run->lock);
			list_session(s);
			return 0;
		}
	}
	unc_run_pace(s->run, &s->pace, 0);
	unc_run_keep_no_more(s->run, &s->stamps);
	pthread_mutex_unlock(&s->run->lock);
	(void)unc_run_last(s->run, &how, NULL);
	if (how == UNC_STAYS)
		abandon_run(s);
	else
		(void)unc_run_end(s->run, how, NULL);
	return rc;
}

/* ---- reading */

/* Looks, compares, and asks clocks for sets that have not moved since `since`. Lock held. */
static int look_and_check(struct unc_session *s, const struct unc_totals *since, bool all)
{
	struct unc_run *run = s->run;
	int rc;

	if (run->ended.code)
		return unc_fail(&s->error, run->ended.code, "%s", run->ended.text);
	rc = unc_run_look(run, &s->error);
	if (since == &s->end)
		unc_run_compare_since(run, s->end.ns, all);
	else
		unc_run_compare(run, all);
	unc_session_ask(s, since);
	unc_run_accept(run, false);
	if (run->flawed)
		(void)unc_run_watch(run, NULL); /* lost sets are retried */
	return rc;
}

int unc_session_read(struct unc_session *s, struct unc_value *values, size_t n, size_t size)
{
	int rc = enter_measured(s);

	if (rc == 0 && n)
		rc = unc_struct_check(size, "unc_value", &s->error);
	if (rc < 0)
		return rc;
	pthread_mutex_lock(&s->run->lock);
	if (s->state == UNC_RUNNING && (rc = look_and_check(s, &s->end, false)) == 0)
		unc_session_take(s);
	if (rc == 0 && s->state != UNC_ENDED)
		unc_session_end_interval(s); /* or what came between the last read and the stop */
	if (s->state == UNC_STOPPED)
		s->state = UNC_ENDED;
	if (rc == 0)
		unc_session_values(s, values, n, size);
	pthread_mutex_unlock(&s->run->lock);
	return rc;
}

int unc_session_counts(struct unc_session *s, uint64_t *counts, size_t n)
{
	int rc = enter_measured(s);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&s->run->lock);
	if (!unc_session_is_plain(s))
		rc = 1;
	else if (s->state == UNC_RUNNING && (rc = look_and_check(s, &s->start, false)) == 0)
		unc_session_take(s);
	if (rc == 0)
		rc = unc_session_plain(s, counts, n) ? 0 : 1;
	pthread_mutex_unlock(&s->run->lock);
	return rc;
}

int unc_session_time(struct unc_session *s, double *since_start, double *interval)
{
	if (enter_measured(s) < 0)
		return UNC_ERR_STATE;
	if (since_start)
		*since_start = (double)(int64_t)(s->last.ns - s->start.ns) * 1e-9;
	if (interval)
		*interval = (double)(int64_t)(s->end.ns - s->begin.ns) * 1e-9;
	return 0;
}

int unc_session_reset(struct unc_session *s)
{
	int rc = enter_measured(s);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&s->run->lock);
	if (s->state == UNC_RUNNING && (rc = look_and_check(s, &s->end, s->run->counting > 1)) == 0)
		unc_session_take(s);
	if (rc == 0)
		unc_session_forget(s);
	if (rc == 0 && s->state == UNC_RUNNING)
		unc_run_accept(s->run, s->run->counting == 1);
	if (rc == 0 && s->state == UNC_RUNNING && s->run->ms) {
		unc_run_short_turns(s->run);
		(void)unc_run_watch(s->run, NULL);
	}
	pthread_mutex_unlock(&s->run->lock);
	return rc;
}

int unc_session_turns(struct unc_session *s, unsigned ms)
{
	int rc = ms && !s->ms ? unc_session_enter_idle(s) : unc_session_enter(s);

	if (rc < 0)
		return rc;
	s->ms = ms;
	if (s->state != UNC_RUNNING)
		return 0;
	pthread_mutex_lock(&s->run->lock);
	unc_run_pace(s->run, &s->pace, ms);
	(void)unc_run_watch(s->run, NULL);
	pthread_mutex_unlock(&s->run->lock);
	return 0;
}

/* ---- stopping */

static int stop_session(struct unc_session *s)
{
	enum unc_ending how;
	int rc, failed;

	rc = unc_run_last(s->run, &how, &s->error);
	if (how == UNC_STAYS)
		return rc;
	if (!s->run->ended.code)
		unc_session_ask(s, &s->end);
	unc_session_take(s);
	unc_run_keep_no_more(s->run, &s->stamps);
	unc_run_pace(s->run, &s->pace, 0);
	s->state = UNC_STOPPED;
	failed = unc_run_end(s->run, how, rc < 0 ? NULL : &s->error);
	return rc < 0 ? rc : failed;
}

int unc_session_stop(struct unc_session *s)
{
	int rc;

	unlist_session(s);
	rc = enter_running(s);
	if (rc < 0)
		return rc;
	rc = stop_session(s);
	if (s->state == UNC_RUNNING) /* no memory */
		list_session(s);
	return rc;
}

int unc_session_plan(struct unc_session *s, enum unc_phase phase, unc_operation_fn fn, void *user)
{
	struct unc_run *run = s->run;
	int rc = unc_session_enter(s);

	if (rc < 0)
		return rc;
	if (s->state == UNC_RUNNING)
		return unc_run_show(run, true, phase, fn, user, &s->error);
	rc = unc_run_get(s->platform, s->want, s->n_wants, (unsigned)unc_session_passes(s), &run,
			 &s->error);
	if (rc < 0)
		return rc;
	rc = unc_run_show(run, false, phase, fn, user, &s->error);
	unc_run_put(run);
	return rc;
}

const char *unc_session_unprotected(struct unc_session *s)
{
	if (unc_session_enter(s) < 0)
		return s->error.text;
	pthread_mutex_lock(&s->platform->program);
	unc_fail(&s->error, UNC_OK, "%s",
		 s->run && s->run->programs ? unc_journal_reason(s->platform->journal) : "");
	pthread_mutex_unlock(&s->platform->program);
	return s->error.text;
}

/* ---- end and properties */

const char *unc_session_error(const struct unc_session *s)
{
	return s->error.text;
}

void unc_session_free(struct unc_session *s)
{
	if (!s)
		return;
	unlist_session(s);
	/* In a forked process only memory is freed: counters and threads belong to the parent. */
	if (unc_platform_here(s->platform) && s->state == UNC_RUNNING) {
		(void)stop_session(s);
		if (s->state == UNC_RUNNING)
			abandon_run(s);
	}
	unc_session_roll_back(s, (struct unc_checkpoint){0});
	unc_run_put(s->run);
	free(s->item);
	free(s->measure);
	free(s->want);
	free(s->newest);
	free(s->scratch);
	free(s->room);
	free(s);
}

int unc_session_passes(const struct unc_session *s)
{
	return s->n_passes ? (int)s->n_passes : 1;
}

/* ---- missing units */

/* The next unit that the item goes without; NULL: there is none. */
static const struct unc_unit *next_missing(struct unc_session *s, struct unc_session_item *item,
					   struct unc_item_unit *unit)
{
	const struct unc_unit *missing = NULL;
	struct unc_marks m = {.units = item->units};
	struct unc_set *set;

	if (s->room) {
		pthread_mutex_lock(&s->run->lock);
		unc_session_marks(s, item, &m);
	}
	while (!missing && unc_session_next_unit(s, item, unit)) {
		missing = unit->missing;
		if (!missing && m.units < item->units &&
		    (set = unc_session_flawed(s, item, unit->instance)) != NULL)
			missing = unc_set_tell(s->run, set);
	}
	if (s->room)
		pthread_mutex_unlock(&s->run->lock);
	return missing;
}

int unc_session_missing(struct unc_session *s, int id, unc_unit_fn fn, void *user)
{
	struct unc_session_item *item;
	const struct unc_unit *missing;
	struct unc_item_unit unit = {0};
	int rc = 0;

	if (unc_session_enter(s) < 0)
		return UNC_ERR_STATE;
	if (!(item = unc_session_find_item(s, id)))
		return s->error.code;
	while (rc == 0 && (missing = next_missing(s, item, &unit)) != NULL)
		rc = fn(user, missing);
	return rc;
}

const char *unc_session_partial(struct unc_session *s, int id)
{
	struct unc_session_item *item;
	const struct unc_unit *first;
	struct unc_item_unit unit = {0};
	char more[32] = "";
	unsigned others = 0;

	if (unc_session_enter(s) < 0 || !(item = unc_session_find_item(s, id)))
		return "";
	first = next_missing(s, item, &unit);
	while (next_missing(s, item, &unit))
		others++;
	if (!first)
		return "";
	if (others)
		snprintf(more, sizeof(more), " and %u more", others);
	unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "%s%d (socket %d)%s: %s", first->type->name,
		 first->index, first->socket, more, first->reason);
	return s->error.text;
}
