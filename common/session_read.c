/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: reading. The hot path: no lookup, no parsing, no allocation. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "session.h"

int unc_session_look(struct unc_session *s, struct unc_error *err)
{
	struct unc_pass *pass = &s->pass[s->now];
	uint64_t ns, tsc;

	unc_platform_now(s->platform, &ns, &tsc);
	if (unc_access_run(s->platform->access, s->read, s->n_reads) < 0)
		return unc_fail(err, UNC_ERR_IO, "a counter could not be read");
	for (size_t i = 0; i < s->n_reads; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];
		uint64_t value = s->read[i].value;

		slot->total += (value - slot->last) & slot->mask;
		slot->last = value;
	}
	pass->time += (double)(ns - s->since_ns) * 1e-9;
	s->since_ns = ns;
	return 0;
}

/* Ends the interval of the running pass: what was counted since the last end. */
void unc_session_end_interval(struct unc_session *s)
{
	struct unc_pass *pass = &s->pass[s->now];

	for (size_t i = 0; i < s->n_reads; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		slot->delta = slot->total - slot->reported;
		slot->reported = slot->total;
	}
	pass->delta = pass->time - pass->reported;
	pass->reported = pass->time;
	s->interval_ended = true;
}

/* ---- values */

static uint64_t aggregate(const struct unc_session *s, const struct unc_measure *m, bool interval,
			  double *exact)
{
	uint64_t sum = 0, max = 0;

	for (uint32_t i = 0; i < m->n_slots; i++) {
		const struct unc_slot *slot = &s->slot[m->slot[i]];
		uint64_t value = interval ? slot->delta : slot->total;

		sum += value;
		max = value > max ? value : max;
	}
	if (m->aggregate == UNC_AGGREGATE_MAX)
		sum = max;
	*exact = m->aggregate == UNC_MEASURE_MEAN ? (double)sum / m->n_slots : (double)sum;
	return sum;
}

static double pass_time(const struct unc_session *s, unsigned pass, bool interval)
{
	return interval ? s->pass[pass].delta : s->pass[pass].time;
}

/* Evaluates a formula. With several passes each count is scaled to the time of all of them. */
static bool evaluate(struct unc_session *s, const struct unc_item *item, bool interval,
		     double *value)
{
	struct unc_expr_vars vars = {.tsc_hz = unc_platform_tsc_hz(s->platform)};

	for (unsigned pass = 0; pass < s->n_passes; pass++)
		if (item->passes >> pass & 1)
			vars.time += pass_time(s, pass, interval);
	vars.tsc = vars.time * vars.tsc_hz;
	for (uint32_t i = 0; i < item->n_measures; i++) {
		const struct unc_measure *m = &s->measure[item->measure[i]];
		double own = pass_time(s, m->pass, interval);

		aggregate(s, m, interval, &s->scratch[i]);
		if (own > 0 && own < vars.time)
			s->scratch[i] *= vars.time / own;
	}
	return unc_expr_eval(item->expr, s->scratch, &vars, value) == 0;
}

static bool all_measured(const struct unc_session *s, const struct unc_item *item)
{
	for (unsigned pass = 0; pass < s->n_passes; pass++)
		if ((item->passes >> pass & 1) && s->pass[pass].time <= 0)
			return false;
	return true;
}

void unc_session_value(struct unc_session *s, const struct unc_item *item, struct unc_value *v)
{
	unsigned partial = item->units < item->of ? UNC_VALUE_PARTIAL : 0;

	*v = (struct unc_value){.units = item->units, .of = item->of, .flags = partial};
	if (!all_measured(s, item))
		return;
	v->share = v->interval_share = 1;
	v->flags |= item->last_pass == s->now ? UNC_VALUE_FRESH : 0;
	if (item->passes & (item->passes - 1))
		v->flags |= UNC_VALUE_ESTIMATED;
	for (unsigned pass = 0; pass < s->n_passes; pass++)
		if (item->passes >> pass & 1) {
			v->seconds += pass_time(s, pass, false);
			v->interval_seconds += pass_time(s, pass, true);
		}
	if (item->metric < 0) {
		const struct unc_measure *m = &s->measure[item->measure[0]];

		v->count = aggregate(s, m, false, &v->value);
		v->delta = aggregate(s, m, true, &v->interval);
		v->flags |= UNC_VALUE_VALID;
		return;
	}
	if (evaluate(s, item, false, &v->value))
		v->flags |= UNC_VALUE_VALID;
	if (!evaluate(s, item, true, &v->interval))
		v->interval = NAN;
	if (!(v->flags & UNC_VALUE_VALID))
		*v = (struct unc_value){.units = v->units, .of = v->of, .flags = v->flags};
}

const char *unc_session_reason(struct unc_session *s, int id)
{
	struct unc_value v = {0};

	s->error.text[0] = '\0';
	if (id < 0 || (size_t)id >= s->n_items)
		return "";
	unc_session_value(s, &s->item[id], &v);
	if (!(v.flags & UNC_VALUE_VALID))
		unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "%s",
			 all_measured(s, &s->item[id]) ? "the denominator counted 0"
						       : "its pass has not been measured yet");
	return s->error.text;
}

int unc_session_read(struct unc_session *s, struct unc_value *values, size_t n)
{
	int rc = 0;

	s->error.text[0] = '\0';
	if (!s->started)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session was never started");
	/* The watcher must not look in between the counters and their values. */
	pthread_mutex_lock(&s->lock);
	if (s->running)
		rc = unc_session_look(s, &s->error);
	if (rc == 0 && !s->final)
		unc_session_end_interval(s); /* or what came between the last read and the stop */
	s->final = !s->running;
	for (size_t i = 0; rc == 0 && i < n && i < s->n_items; i++)
		unc_session_value(s, &s->item[i], &values[i]);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

int unc_session_time(const struct unc_session *s, double *since_start, double *interval)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&s->lock;
	double total = 0, delta = 0;

	if (!s->started)
		return UNC_ERR_STATE;
	pthread_mutex_lock(lock);
	for (unsigned i = 0; i < s->n_passes; i++) {
		total += s->pass[i].time;
		delta += i == s->now ? s->pass[i].delta : 0;
	}
	pthread_mutex_unlock(lock);
	if (since_start)
		*since_start = total;
	if (interval)
		*interval = delta;
	return 0;
}

void unc_session_forget(struct unc_session *s)
{
	for (size_t i = 0; i < s->n_slots; i++)
		s->slot[i].total = s->slot[i].reported = s->slot[i].delta = 0;
	memset(s->pass, 0, sizeof(s->pass));
}

int unc_session_reset(struct unc_session *s)
{
	int rc = 0;

	unc_error_clear(&s->error);
	if (!s->started)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session was never started");
	pthread_mutex_lock(&s->lock);
	if (s->running)
		rc = unc_session_look(s, &s->error);
	if (rc == 0)
		unc_session_forget(s);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/* ---- looking in */

/* No uncore clock is faster than this. */
static const double fastest_clock_hz = 5e9;

/* Half the time in which the fastest counter of the session could wrap. */
static double half_wrap_seconds(const struct unc_session *s)
{
	double least = 1e9;

	for (size_t i = 0; i < s->n_slots; i++) {
		const struct unc_code *code = &s->slot[i].code;
		unsigned width = unc_slot_width(s->platform->table, &s->slot[i]);
		double wrap = ldexp(1.0, (int)width) /
			      (fastest_clock_hz * (code->max_inc ? code->max_inc : 1));

		least = wrap < least ? wrap : least;
	}
	return least / 2;
}

static void add_seconds(struct timespec *t, double seconds)
{
	double whole = floor(seconds);

	t->tv_sec += (time_t)whole;
	t->tv_nsec += (long)((seconds - whole) * 1e9);
	if (t->tv_nsec >= 1000000000) {
		t->tv_nsec -= 1000000000;
		t->tv_sec++;
	}
}

static void *watcher(void *user)
{
	struct unc_session *s = user;
	struct timespec until;

	pthread_mutex_lock(&s->lock);
	while (!s->leave) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		add_seconds(&until, s->watch_seconds);
		/* A failed look is tried again; the user's next read reports it. */
		if (pthread_cond_timedwait(&s->wake, &s->lock, &until) == ETIMEDOUT && !s->leave)
			(void)unc_session_look(s, NULL);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int unc_session_watch(struct unc_session *s, struct unc_error *err)
{
	sigset_t all, old;
	int failed;

	if (s->watch_seconds == 0)
		s->watch_seconds = half_wrap_seconds(s);
	s->leave = false;
	/* The thread takes no signals: they are the program's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&s->watcher, NULL, watcher, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed)
		return unc_fail(err, UNC_ERR_MEMORY,
				"no thread could be made to watch for wraps: %s", strerror(failed));
	s->watching = true;
	return 0;
}

void unc_session_unwatch(struct unc_session *s)
{
	if (!s->watching)
		return;
	pthread_mutex_lock(&s->lock);
	s->leave = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->watcher, NULL);
	s->watching = false;
}
