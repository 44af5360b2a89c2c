/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    intel_uncore_turn.c
 * @ingroup papi_components
 * @brief   The thread that lets the passes of a running EventSet take turns.
 *
 * Only an EventSet that needs several passes has one, and only while it runs. It takes no signals,
 * and lets the session rotate; nothing else. All that the EventSet's own thread does with the session
 * meanwhile is between intel_uncore_turn_lock() and intel_uncore_turn_unlock().
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "intel_uncore.h"

/* The first turns are short, that a short region is measured in all passes; then each round takes
 * twice as long, that a long one is hardly disturbed. */
enum { FIRST_TURN_MS = 2, LONGEST_TURN_MS = 64 };

struct turner {
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t wake;
	struct unc_session *session;
	pid_t pid;             /* a child that was forked off has no such thread */
	int passes;            /* of the session */
	int turns;             /* since start or reset */
	int length;            /* of a turn, ms */
	struct timespec until; /* end of this turn */
	int ends;
	int error; /* the session is stopped, because of this */
	char sentence[PAPI_HUGE_STR_LEN];
};

unsigned long intel_uncore_turn_length(void)
{
	return LONGEST_TURN_MS * 1000000UL;
}

static void start_turn(struct turner *turner)
{
	struct timespec *until = &turner->until;

	clock_gettime(CLOCK_MONOTONIC, until);
	until->tv_nsec += turner->length * 1000000L;
	until->tv_sec += until->tv_nsec / 1000000000L;
	until->tv_nsec %= 1000000000L;
}

/* The turn that goes on is the first, and as short. */
static void start_round(struct turner *turner)
{
	turner->turns = 0;
	turner->length = FIRST_TURN_MS;
	start_turn(turner);
}

static int is_over(const struct timespec *until)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec != until->tv_sec ? now.tv_sec > until->tv_sec
					   : now.tv_nsec >= until->tv_nsec;
}

/* 1 when the turn is over, 0 when the thread shall end. */
static int wait_for_turn(struct turner *turner)
{
	while (!turner->ends && !is_over(&turner->until))
		pthread_cond_timedwait(&turner->wake, &turner->lock, &turner->until);
	return !turner->ends;
}

static void *take_turns(void *argument)
{
	struct turner *turner = argument;

	pthread_mutex_lock(&turner->lock);
	while (!turner->error && wait_for_turn(turner)) {
		turner->error = intel_uncore.session_rotate(turner->session);
		if (turner->error)
			snprintf(turner->sentence, sizeof(turner->sentence), "%s",
				 intel_uncore.session_error(turner->session));
		if (++turner->turns % turner->passes == 0 && turner->length < LONGEST_TURN_MS)
			turner->length *= 2;
		start_turn(turner);
	}
	pthread_mutex_unlock(&turner->lock);
	return NULL;
}

/* Signals are for the threads of the program. */
static int start_thread(struct turner *turner)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&turner->thread, NULL, take_turns, turner);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

int intel_uncore_turn_begin(struct unc_session *session, struct turner **out)
{
	struct turner *turner = papi_calloc(1, sizeof(*turner));
	pthread_condattr_t attributes;

	if (!turner)
		return PAPI_ENOMEM;
	turner->session = session;
	turner->pid = getpid();
	turner->passes = intel_uncore.session_passes(session);
	start_round(turner);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&turner->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&turner->lock, NULL);
	if (start_thread(turner)) {
		pthread_cond_destroy(&turner->wake);
		pthread_mutex_destroy(&turner->lock);
		papi_free(turner);
		intel_uncore_fail(UNC_ERR_IO, "no thread can be started that lets several passes "
					      "take turns; raise the limit of threads");
		return PAPI_ESYS;
	}
	*out = turner;
	return PAPI_OK;
}

/* Of another process: what its thread held when this one was forked off is not touched. */
static int is_ours(const struct turner *turner)
{
	return turner && turner->pid == getpid();
}

void intel_uncore_turn_lock(struct turner *turner)
{
	if (is_ours(turner))
		pthread_mutex_lock(&turner->lock);
}

void intel_uncore_turn_unlock(struct turner *turner)
{
	if (is_ours(turner))
		pthread_mutex_unlock(&turner->lock);
}

const char *intel_uncore_turn_failed(const struct turner *turner)
{
	return is_ours(turner) && turner->error ? turner->sentence : NULL;
}

int intel_uncore_turn_missing(const struct turner *turner, char *text, size_t size)
{
	if (!is_ours(turner) || turner->turns >= turner->passes - 1)
		return 0;
	snprintf(text, size,
		 "measured in %d of %d passes so far; it has no value before all have had "
		 "their turn",
		 turner->turns + 1, turner->passes);
	return 1;
}

void intel_uncore_turn_anew(struct turner *turner)
{
	if (!is_ours(turner))
		return;
	start_round(turner);
	pthread_cond_signal(&turner->wake); /* the turn ends earlier than the thread knows */
}

int intel_uncore_turn_end(struct turner **at)
{
	struct turner *turner = *at;
	int error = 0;

	if (is_ours(turner)) {
		pthread_mutex_lock(&turner->lock);
		turner->ends = 1;
		pthread_cond_signal(&turner->wake);
		pthread_mutex_unlock(&turner->lock);
		pthread_join(turner->thread, NULL);
		error = turner->error;
		if (error)
			intel_uncore_fail(error, turner->sentence);
		pthread_cond_destroy(&turner->wake);
		pthread_mutex_destroy(&turner->lock);
	}
	papi_free(turner);
	*at = NULL;
	return error;
}
