/* SPDX-License-Identifier: BSD-3-Clause */
/* One of the crowd: sessions that start, read and stop at random; a foreign one. See crowd.c. */
#include "crowd.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "uncore.h"

/* All act at multiples of this, many at the same moment; controls are verified each 50 ms. */
static const double quantum = 0.1;

enum { HANDS = 2, MOST_EVENTS = 3, PATIENCE = 8 };

/* A session of the two that a process may have at a time. */
struct hand {
	struct unc_session *session;
	const struct party_event *event[MAX_EVENTS];
	unsigned n;
	double before, started; /* the clock when its start began and ended */
	double looked;          /* when it was read last */
	unsigned reads;
	bool stopped;
	double late[MAX_EVENTS]; /* the clock at the first number that was; 0: none was */
};

static void sleep_quanta(struct party *c, unsigned n)
{
	double now = crowd_time(c), until = (floor(now / quantum + 1e-6) + n) * quantum;
	double whole;
	double part = modf(until - now, &whole);
	struct timespec t = {.tv_sec = (time_t)whole, .tv_nsec = lround(part * 1e9)};

	if (n)
		nanosleep(&t, NULL);
}

static void log_line(void *user, enum unc_log_level level, const char *text)
{
	if (level >= UNC_LOG_WARNING)
		crowd_say(user, "log: %s", text);
}

static struct unc_platform *open_platform(struct party *c)
{
	struct unc_options options = {
		.size = sizeof(options), .sysroot = c->root, .log = log_line, .log_user = c};
	struct unc_platform *platform = NULL;

	if (unc_platform_open(&options, &platform) < 0) {
		crowd_say(c, "failed: %s", unc_open_error());
		c->tally->failed++;
	}
	return platform;
}

/* ---- numbers */

static bool near(const struct party *c, double count, double seconds, double rate)
{
	return fabs(count - rate * seconds) <= c->grain + 2e-9 * count;
}

/* Controls are compared in a read if that was not done for a second: what a foreign process has taken may
 * come as a number for as long; not after the stop. */
static bool is_late(const struct party *c, struct hand *h, unsigned i, double now)
{
	if (!c->foreign || h->stopped)
		return false;
	if (!h->late[i])
		h->late[i] = now;
	return now - h->late[i] <= 1;
}

/* What a number is worth: it is what the event counts in the time that the library says, and that
 * is the time that has passed, as far as it can be known from outside. */
static void judge(struct party *c, struct hand *h, unsigned i, const struct unc_value *v,
		  double before, double after)
{
	const struct party_event *e = h->event[i];
	double least = before - h->started, most = after - h->before;

	if (!(v->flags & UNC_VALUE_VALID)) {
		const char *why = unc_session_reason(h->session, (int)i);

		c->tally->marked += *why != '\0';
		c->tally->wrong += *why == '\0';
		crowd_say(c, "%s: %s: %s", *why ? "marked" : "wrong", e->spec, why);
	} else if (v->flags & UNC_VALUE_PARTIAL || v->share < 1) {
		c->tally->marked++;
		crowd_say(c, "marked: %s: partial", e->spec);
	} else if (near(c, v->value, v->seconds, e->rate) &&
		   near(c, v->interval, v->interval_seconds, e->rate) &&
		   v->seconds >= least - 1e-6 && v->seconds <= most + 1e-6) {
		c->tally->right++;
	} else if (is_late(c, h, i, after)) {
		c->tally->marked++;
		crowd_say(c, "marked: %s: late: %.17g in %.9g s", e->spec, v->interval,
			  v->interval_seconds);
	} else {
		c->tally->wrong++;
		crowd_say(c,
			  "wrong: %s: %.17g in %.9g s of %.9g to %.9g, true %.17g; "
			  "%.17g in the last %.9g s",
			  e->spec, v->value, v->seconds, least, most, e->rate * v->seconds,
			  v->interval, v->interval_seconds);
	}
}

static void read_hand(struct party *c, struct hand *h, double before)
{
	struct unc_value values[MAX_EVENTS];
	int rc = unc_session_read(h->session, values, h->n, sizeof(*values));
	double after = crowd_time(c);

	if (rc < 0) {
		c->tally->failed++;
		crowd_say(c, "failed: read: %s", unc_session_error(h->session));
	}
	for (unsigned i = 0; rc == 0 && i < h->n; i++)
		judge(c, h, i, &values[i], before, after);
	h->looked = after;
	h->reads++;
}

/* ---- a session */

static void end_hand(struct hand *h)
{
	unc_session_free(h->session);
	*h = (struct hand){0};
}

static bool add(struct party *c, struct hand *h, const struct party_event *e)
{
	int id;

	for (unsigned i = 0; i < h->n; i++)
		if (h->event[i] == e)
			return true;
	h->event[h->n++] = e;
	if (unc_session_add(h->session, e->spec, &id) == 0)
		return true;
	c->tally->failed++;
	crowd_say(c, "failed: add: %s", unc_session_error(h->session));
	return false;
}

static bool start(struct party *c, struct hand *h)
{
	int rc;

	h->before = crowd_time(c);
	rc = unc_session_start(h->session);
	h->started = h->looked = crowd_time(c);
	if (rc == 0) {
		c->tally->sessions++;
		return true;
	}
	c->tally->refused += rc == UNC_ERR_BUSY;
	c->tally->failed += rc != UNC_ERR_BUSY;
	crowd_say(c, "%s: start: %s", rc == UNC_ERR_BUSY ? "refused" : "failed",
		  unc_session_error(h->session));
	return false;
}

/* The first event is everybody's: half of the sessions have no other. */
static void begin_hand(struct party *c, struct hand *h, struct unc_platform *platform)
{
	unsigned wanted = crowd_draw(c, 2) ? 1 + crowd_draw(c, MOST_EVENTS) : 0;
	bool ok = unc_session_new(platform, 0, &h->session) == 0;

	if (!wanted && ok)
		ok = add(c, h, &c->event[0]);
	for (unsigned i = 0; i < wanted && ok; i++)
		ok = add(c, h, &c->event[crowd_draw(c, c->n_events)]);
	if (!ok || !start(c, h))
		end_hand(h);
}

static void stop_hand(struct party *c, struct hand *h)
{
	double before = crowd_time(c);

	if (unc_session_stop(h->session) < 0) {
		c->tally->failed++;
		crowd_say(c, "failed: stop: %s", unc_session_error(h->session));
	}
	h->stopped = true;
	read_hand(c, h, before);
	end_hand(h);
}

/* The room kills at an access to come, whoever makes it; or this process ends here. */
static void be_killed(struct party *c)
{
	switch (crowd_draw(c, 3)) {
	case 0:
		crowd_control(c, "after %u write * signal KILL", 1 + crowd_draw(c, 20));
		break;
	case 1:
		crowd_control(c, "before %u read * signal KILL", 1 + crowd_draw(c, 60));
		break;
	default:
		kill(getpid(), SIGKILL);
	}
}

static void act(struct party *c, struct hand *h, struct unc_platform *platform)
{
	/* A read compares the controls if that was not done in the millisecond before: a foreign
	 * process that has come in it is seen by the next. */
	const double since = c->foreign ? 1.1e-3 : 0;

	if (crowd_draw(c, 100) < c->kills)
		be_killed(c);
	if (!h->session)
		begin_hand(c, h, platform);
	else if (crowd_time(c) <= h->started || crowd_time(c) < h->looked + since)
		return; /* nothing was counted yet, or nothing compared */
	else if (crowd_draw(c, PATIENCE) > h->reads)
		read_hand(c, h, crowd_time(c));
	else
		stop_hand(c, h);
}

int crowd_work(struct party *c)
{
	struct unc_platform *platform = open_platform(c);
	struct hand hand[HANDS] = {{0}};

	while (platform && crowd_time(c) < c->seconds) {
		act(c, &hand[crowd_draw(c, HANDS)], platform);
		sleep_quanta(c, crowd_draw(c, 4));
	}
	sleep_quanta(c, 1);
	for (int i = 0; i < HANDS; i++)
		if (hand[i].session)
			stop_hand(c, &hand[i]);
	unc_platform_close(platform);
	return platform ? 0 : 1;
}

int crowd_last(struct party *c)
{
	struct unc_platform *platform = open_platform(c);
	struct hand h = {0};
	bool ok = platform && unc_session_new(platform, 0, &h.session) == 0;

	for (unsigned i = 0; i < c->n_events && ok; i++)
		ok = add(c, &h, &c->event[i]);
	if (ok && start(c, &h)) {
		sleep_quanta(c, 10);
		stop_hand(c, &h);
	}
	end_hand(&h);
	unc_platform_close(platform);
	return ok ? 0 : 1;
}

/* A rank of a job: counts all events all of its time, and reads them each second. */
int crowd_rank(struct party *c)
{
	struct unc_platform *platform = open_platform(c);
	struct party_tally tally = {0};
	struct hand h = {0};

	c->tally = &tally;
	bool ok = platform && unc_session_new(platform, 0, &h.session) == 0;

	for (unsigned i = 0; i < c->n_events && ok; i++)
		ok = add(c, &h, &c->event[i]);
	if (ok && start(c, &h)) {
		for (double s = 0; s < c->seconds; s++) {
			sleep_quanta(c, (unsigned)lround(1 / quantum));
			read_hand(c, &h, crowd_time(c));
		}
		stop_hand(c, &h);
	}
	end_hand(&h);
	unc_platform_close(platform);
	printf("right=%u marked=%u wrong=%u refused=%u failed=%u\n", tally.right, tally.marked,
	       tally.wrong, tally.refused, tally.failed + !ok);
	return 0;
}

/* ---- a foreign process */

/* Now and then he looks whether somebody uses the control; in the end he clears it. */
int crowd_foreign(struct party *c)
{
	while (crowd_time(c) < c->seconds) {
		const struct party_control *control = &c->control[crowd_draw(c, c->n_controls)];
		bool looks = crowd_draw(c, 2);
		uint64_t value;

		if (!crowd_get(c, control, &value) || (looks && value)) {
			sleep_quanta(c, 1);
			continue;
		}
		crowd_set(c, control, control->value);
		c->tally->foreign++;
		sleep_quanta(c, 1 + crowd_draw(c, 4));
		crowd_set(c, control, 0);
		sleep_quanta(c, crowd_draw(c, 4));
	}
	return 0;
}
