/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside a session: what is measured, and when. What it needs of units, it wants of units/.
 *
 *   item     what the user added: an event or a metric
 *   measure  an event on all the units it is summed over, in one pass
 *   pass     what is counted at the same time: a turn of the units
 *
 * The life of a value. A name that is added becomes an item: an event is one measure, a metric one
 * for each event of its formula. A measure wants a counter of each of its units (a slot), in the
 * first pass where it fits beside what was added before; units that cannot be read are noted, and
 * make the sum partial. A start claims the units of the first pass (units/), and counting begins
 * with one look at all counters. Each later look adds what they have counted since to the total of
 * their slots, and the time to the pass that is running; a thread looks in before a counter can
 * wrap twice. A rotation ends a turn and starts the next. A read ends the interval: what was
 * counted since the read before. A value is the sum over the slots of an item, scaled where its pass had a
 * part of the time only, or the result of its formula; it is none, with a reason, where a slot was
 * lost or could not be read. All of this is done under the session's lock.
 *
 * Calls go up in this list only:
 *
 *   session_enter.c   a call of a program begins
 *   session_items.c   what is measured, and whether it fits; session_add.c adds it,
 *   session_series.c  at all its places
 *   session_read.c    what the units have counted becomes values
 *   session_program.c units are programmed for a pass, and restored
 *   session_turns.c   passes take turns by themselves
 *   session_watch.c   the thread that lets them, and looks in before counters wrap
 *   session.c         creation, start, stop, end
 */
#ifndef UNC_SESSION_H
#define UNC_SESSION_H

#include <pthread.h>

#include "session/items.h"
#include "units/units.h"

enum { UNC_MAX_PASSES = 64 };

struct unc_pass {
	double time; /* seconds counted since start or reset */
	double reported;
	double delta; /* of the last interval */
};

struct unc_session;

/* That passes take turns by themselves: session_turns.c. */
struct unc_turning {
	unsigned ms; /* for a round; 0: they do not */
	/* while they do: */
	unsigned group; /* of sessions that turn together; 0: none */
	struct unc_session *next;
	uint64_t length_ns;     /* of this turn */
	uint64_t until_ns;      /* end of this turn, where the session is on duty; else 0 */
	unsigned turns;         /* that have ended since turns were short */
	uint64_t spent_ns;      /* on changes of the pass, in this round */
	uint64_t change_ns;     /* that one took in the last round, or the start */
	uint64_t cost_ns;       /* that one takes */
	struct unc_error error; /* of a turn: the session counts no more */
};
enum { UNC_FIRST_TURN_NS = 2000000 };

struct unc_session {
	struct unc_platform *platform;
	unsigned flags;
	struct unc_error error;
	struct unc_session_item *item;
	size_t n_items;
	struct unc_measure *measure;
	size_t n_measures;
	struct unc_units units; /* what is wanted of them */
	uint64_t asked;         /* units.wanted[].without is this: the item goes without the unit */
	struct unc_pass pass[UNC_MAX_PASSES];
	unsigned n_passes;
	double *scratch; /* one value for each reference of the largest formula */
	size_t n_scratch;

	pthread_mutex_t lock;
	enum {
		UNC_UNMEASURED, /* not started, or its start failed: there is nothing to read */
		UNC_RUNNING,
		UNC_STOPPED, /* and a read ends the last interval */
		UNC_ENDED    /* so one did */
	} state;
	uint64_t since_ns;    /* the running pass was looked at last */
	uint64_t start_ns;    /* start or reset */
	uint64_t begun;       /* passes whose turn has begun since the last interval ended */
	struct unc_pass wall; /* as of a pass that counts always */
	/* how long looks took, ns: where counting began, and at both ends of the last interval */
	uint64_t base_width, from_width, to_width;

	/* of platform->watch.lock: */
	enum {
		UNC_UNWATCHED, /* not in the list of sessions */
		UNC_WATCHED,   /* in it, from a start that needs it to the stop */
		UNC_SEEN_TO    /* now, without the lock: then it is UNC_WATCHED again */
	} watch;
	struct unc_session *next_watched;
	uint64_t due_ns; /* when something is to be done, of CLOCK_MONOTONIC */
	/* of the session's lock: when to look in, and the look before */
	uint64_t look_ns, looked_ns;
	double watch_seconds;
	struct unc_turning turning;
};

/* session_enter.c. A call of a program begins: 0, and no sentence is left of the last one;
 * UNC_ERR_STATE with its sentence: the session belongs to the process that this one was forked
 * from; or it runs and has to be idle, does not run, or has measured nothing that could be read. */
int unc_session_enter(struct unc_session *);
int unc_session_enter_idle(struct unc_session *);
int unc_session_enter_running(struct unc_session *);
int unc_session_enter_measured(struct unc_session *);
/* The item that a program means; NULL, with the sentence: there is none. */
struct unc_session_item *unc_session_find_item(struct unc_session *, int id);

/* session_read.c. Finds the units that an item goes without now; a slot of it on one of them that
 * means nothing, NULL: there is none. The lock is held. */
void unc_session_find_without(struct unc_session *, struct unc_session_item *);
const struct unc_slot *unc_session_flawed(const struct unc_session *,
					  const struct unc_session_item *, uint32_t instance);
/* One look at the counters. The lock is held. */
int unc_session_look(struct unc_session *, enum unc_extent, struct unc_error *err);
/* If it counts; or why it does not any more. */
int unc_session_look_now(struct unc_session *);
/* The pass that what a slot counts has to wait for: the first in which it has to count. */
static inline uint64_t unc_session_waits(const struct unc_slot *slot)
{
	return slot->turns & -slot->turns;
}
/* After a verb that has looked at the counters: the time until then is of the running pass. */
void unc_session_looked(struct unc_session *, enum unc_extent);
/* What was looked at last is where counting begins. */
void unc_session_began(struct unc_session *);
void unc_session_end_interval(struct unc_session *);
void unc_session_forget(struct unc_session *); /* all that was counted */
/* What the first n items have counted, in structs of `size` bytes. The lock is held. */
void unc_session_values(struct unc_session *, struct unc_value *values, size_t n, size_t size);

/* Whether passes take turns by themselves. */
bool unc_turning_wanted(const struct unc_session *);
/* No turn begins until it goes on. */
void unc_turning_hold(struct unc_session *);
void unc_turning_go_on(struct unc_session *);

/* session_program.c. A pass is programmed and begins to count, where nothing counts yet; all that
 * counts is read and ends. Where memory runs out nothing is done, and it runs still. */
int unc_session_program(struct unc_session *, unsigned pass);
int unc_session_unprogram(struct unc_session *, struct unc_error *err);
/* The running pass ends, and the next begins: two steps, the lock is held. UNC_ERR_MEMORY of the
 * first: all is as it was. After an error of the second nothing counts any more. */
int unc_session_end_pass(struct unc_session *, struct unc_error *err);
int unc_session_begin_pass(struct unc_session *, struct unc_error *err);

/* session_turns.c. platform->turning.lock is held: the pass in which the session has to start; it
 * has started; it was reset, and turns are short again; it is about to stop. */
unsigned unc_turning_pass(const struct unc_session *);
void unc_turning_join(struct unc_session *);
void unc_turning_begin_anew(struct unc_session *);
void unc_turning_leave(struct unc_session *);
/* Its turn ends earlier than the thread may know. Any lock of the others may be held. */
void unc_turning_hurry(struct unc_session *);
/* The lock of the session is held: ns until its thread has to see to the turns; UINT64_MAX: it has
 * not. */
uint64_t unc_turning_left(const struct unc_session *);
/* No lock is held: it sees to them. */
void unc_turning_turn(struct unc_session *);

/* session_watch.c: a thread of all sessions of the platform looks in before a counter can wrap
 * twice, if it can, and lets passes take turns. */
int unc_session_watch(struct unc_session *, struct unc_error *err);
void unc_session_unwatch(struct unc_session *);

#endif
