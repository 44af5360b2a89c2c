/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a counter.
 *
 * A session wants events of units, each in a pass. What counts at the same time on one unit is a set:
 * it is claimed, started, compared, lost, tried again and stopped as a whole. All sets of a session are
 * a run. Sessions of a program that want the same share a run: each keeps the totals where it began.
 *
 *   start    The lock of the node is taken. What ended processes have left is restored (reclaim.c).
 *            Each unit of the pass is looked at (look.c): who counts there, and what is frozen. The
 *            scheduler gives each event a counter that nobody has, or that another session of this user
 *            counts it with (claim.c). What was found in a register gets an entry in the journal
 *            (entries.c), then the register is written, then it is read back (registers.c). For each
 *            type and socket a clock begins to count, so that a 0 can be believed later (check.c). The
 *            first look at the counters is the base, and the lock is given up (run.c).
 *   read     One array of prepared reads (read.c). A counter adds to its total what it has counted
 *            since the look before. Each set has its own time: between the stamps before and after its
 *            reads. A counter that makes an impossible step loses its set.
 *   check    Controls that were compared more than a second ago are compared again, before a value is
 *            given. A set of which nothing has moved asks the clock of its type (check.c).
 *   loss     What is taken, frozen, cleared or gone loses the set: its totals and its time go back to
 *            the last good comparison, and it has a sentence (loss.c). Sums go on without it. A thread
 *            tries it again, after a second, then after twice the time each, at most 64 (watch.c).
 *            What it counts then is added to what it had, and the gap is no part of its time.
 *   pass     What fits a unit at once counts in every pass. Of other units the sets of a pass stop, and
 *            those of the next start.
 *   stop     Counters are read, controls are compared, clocks are asked for a last time. What was found
 *            is restored, but for what another session needs and for what is no longer ours; then the
 *            entries are cleared (registers.c, entries.c).
 *   killed   The next start on the node finds entries by which nobody counts, and restores them.
 *
 * Who counts for us is a provider: registers (registers.c), or the kernel's own driver (driver.c),
 * which owns the registers and gets the event itself. Nobody else knows which.
 */
#ifndef UNC_SET_H
#define UNC_SET_H

#include <limits.h>
#include <pthread.h>
#include <stddef.h>

#include "platform/platform.h"
#include "units/plan.h"

enum { UNC_EVERY_PASS = 0xff, UNC_MAX_PASSES = 64 };
/* No uncore clock is faster. */
enum { UNC_FASTEST_PER_NS = 5 };
/* Seconds that an unfinished turn at the node's lock may last. */
enum { UNC_START_PATIENCE = 1, UNC_STOP_PATIENCE = 5 };

/* An event that is wanted of a unit, in one pass. */
struct unc_want {
	const struct unc_coded *event;
	uint32_t instance; /* index into platform->instances */
	uint32_t pass;
	int next; /* of the same unit, added before; -1: none. For who adds alone */
};

/* A counter was read between ns and ns + width. */
struct unc_look {
	uint64_t ns, width;
};

/* One counter of a set. What a read needs comes first. */
struct unc_set_counter {
	uint64_t last;  /* as read last */
	uint64_t total; /* counted since the run began */
	uint64_t mask;  /* all ones in its width; UINT64_MAX: the kernel adds up */
	double rate;    /* more in a ns than it can count */
	uint64_t good;  /* total at the last good comparison */
	uint64_t start; /* what it was set to; 0: it was left as it was */
	const struct unc_coded *event;
	uint16_t ctr; /* counter register (index into table->reg), once it is claimed */
	bool clock;   /* it counts a clock of its type */
};

/* The time that a set has counted, ns. */
struct unc_time {
	uint64_t ran, idle; /* idle: the kernel's other users had its counters */
	uint64_t blur;      /* widths of the looks where it began and ended, but the last */
};

struct unc_provider;

/* What counts at once on one unit, in one pass. */
struct unc_set {
	const struct unc_instance *unit;
	const struct unc_provider *by; /* who counts for us there */
	struct unc_set_counter *counter;
	uint16_t n;
	uint8_t pass; /* UNC_EVERY_PASS: always */
	bool clock;   /* it counts a clock of its type, for check.c */
	enum { UNC_SET_OFF, UNC_SET_COUNTS, UNC_SET_LOST } state;
	bool begins;    /* it was programmed, and not read since */
	bool gap;       /* it has begun more than once, and did not count in between */
	bool lapse;     /* it was lost since the run began */
	bool shared;    /* somebody else counts on its unit, as far as is known */
	bool foreign;   /* one who is in no journal: he may freeze it */
	int16_t unread; /* errno of the last look; 0: it was read */
	uint16_t unread_reg;
	uint32_t
		doubts; /* looks that nothing has shown it to count in, though it moved before or after, */
	uint32_t
		stood; /* or that it stood in alone: what it counted before and after lacks that; */
	uint64_t doubted_ns; /* the last of them */
	uint64_t retry_ns,
		wait_ns; /* UNC_SET_LOST: when it is tried again; what was waited for it */
	struct unc_time time, good; /* since the run began; the same at the last good comparison */
	bool begun;                 /* it has counted since the run began */
	struct unc_look to;         /* the last look */
	uint64_t before_ns;         /* the look before that, or when it was programmed */
	uint64_t moved_ns;     /* the last look that found one of its counters moved, or it began */
	bool moved;            /* one has, since the run began */
	bool alone;            /* none has, since it stood where others of its type moved */
	struct unc_left *left; /* once it was lost: how that is told */
	void *held;            /* the provider's */
};

struct unc_left {
	struct unc_unit told;
	struct unc_error why;
	struct unc_error reason; /* of told */
};

/* Sets that are started or stopped together. */
struct unc_batch {
	struct unc_set **set;
	size_t n;
};

/* What tells that units of a type count on a socket, in one pass: a clock on one of them. Of a unit that
 * has counters without a control alone: one of these that is a clock. */
struct unc_clock {
	const struct unc_instance *unit; /* the first of them that is wanted */
	bool bare;                       /* it is of that unit, and without a control */
	bool ran; /* one of them moved, before the run took all counters of the type: */
	struct unc_clock *other; /* then one of another type of the socket, maybe this one; NULL */
	enum {
		UNC_CLOCK_NONE, /* none is to be had */
		UNC_CLOCK_RUNS,
		UNC_CLOCK_STANDS
	} state;              /* as asked last */
	struct unc_set *user; /* a set that counts one anyway, by its counter k; NULL: */
	size_t k;
	struct unc_set set; /* this one does */
	struct unc_set_counter counter;
	struct unc_reg_op op;
	uint64_t value, ns; /* as read last, in the look that began then */
	bool moved;         /* between the last two reads of it, */
	bool stale;         /* the first of which was before the last look but one */
	bool asked;         /* in this look */
};

/* What a set had at a look. */
struct unc_point {
	struct unc_time time;
	struct unc_look look;
	uint32_t doubts, stood;
	bool lost, unread;
	bool begun;      /* it had counted before */
	bool gap, lapse; /* as of the set */
};

/* What all that a run counts had at a look. */
struct unc_totals {
	uint64_t *count;         /* of each counter */
	struct unc_point *point; /* of each set */
	uint64_t *passed;        /* ns that each pass had been measured */
	uint64_t ns, width;      /* of the look */
	bool flawed;             /* as of the run */
};

/* What a session that counts by a run keeps of it: a loss that goes back behind it takes it along. */
struct unc_stamps {
	struct unc_totals of[4];
	struct unc_stamps *next;
};

/* What a session wants of the turns of its run. */
struct unc_pace {
	unsigned ms;
	struct unc_pace *next;
};

/* All sets that are wanted together, of equal sessions of a process. */
struct unc_run {
	struct unc_platform *platform;
	struct unc_run *next; /* of the platform's */
	unsigned users;       /* sessions that have it */
	unsigned counting;    /* of these, those that count by it */
	pthread_mutex_t lock; /* of all that follows, while it counts */

	struct unc_want *want; /* as wanted */
	size_t n_wants;
	uint32_t *at; /* counter of each */
	struct unc_set *set;
	struct unc_set **batch; /* those that are started or stopped now */
	size_t n_sets;
	struct unc_set_counter *counter;
	struct unc_reg_op *op; /* prepared reads, one for each counter */
	size_t n_counters;
	uint32_t *of; /* set of each counter */
	unsigned pass, n_passes;
	uint64_t *passed; /* ns that each has been measured */

	struct unc_clock *clock;
	size_t n_clocks;
	struct unc_stamps *stamps; /* of the sessions that count by it */

	struct unc_stamp { /* counters that are read between two stamps */
		size_t first, n;
		uint64_t ns;
	} * group; /* behind the last: when it ended */
	size_t n_groups;
	bool regroup;            /* sets have come or gone */
	bool apart;              /* each set is read between stamps of its own */
	bool rebase;             /* the next look is where a pass begins */
	bool flawed;             /* one was lost, not read, doubted, or others had its counters */
	bool programs;           /* registers were programmed: others have to know */
	bool changed;            /* so was a control by somebody else, after the look at it */
	struct unc_error failed; /* of the first set that could not be had */
	uint64_t place; /* where counters begin, by chance; 0: nobody else is on the machine */
	uint64_t read_ns, read_width; /* the last look */
	uint64_t before_ns;           /* the one before */
	uint64_t usual_ns;            /* that one takes for a group: the shortest; 0: not known */
	uint64_t compared_ns;         /* controls were compared, */
	uint64_t slept;               /* and unc_machine_slept() asked */
	struct unc_plan restore;      /* what a stop writes */

	/* watch.c */
	struct unc_run *next_watched;
	enum { UNC_UNWATCHED, UNC_WATCHED, UNC_SEEN_TO } watch; /* of platform->watch.lock */
	uint64_t due_ns;                                        /* the same: of CLOCK_MONOTONIC */
	uint64_t look_ns;                                       /* how often to look in, at least */
	struct unc_pace *pace;
	unsigned ms;       /* for a round of passes; 0: they do not take turns */
	uint64_t turn_ns;  /* length of this turn */
	uint64_t until_ns; /* its end; 0: there is none */
	unsigned turns;    /* that have ended since turns were short */
	uint64_t spent_ns, change_ns,
		cost_ns;        /* on changes of the pass: this round; the last; one */
	struct unc_error ended; /* of a change of the pass: nothing counts any more */
};

/* Set i of a run, and behind them those of its clocks. */
static inline struct unc_set *unc_run_set(const struct unc_run *run, size_t i)
{
	return i < run->n_sets ? &run->set[i] : &run->clock[i - run->n_sets].set;
}
static inline size_t unc_set_number(const struct unc_run *run, const struct unc_set *set)
{
	return (size_t)(set - run->set);
}
/* Whether it is of the running pass. */
static inline bool unc_set_is_due(const struct unc_run *run, const struct unc_set *set)
{
	return set->pass == UNC_EVERY_PASS || set->pass == run->pass;
}
static inline struct unc_reg_op *unc_set_ops(const struct unc_run *run, const struct unc_set *set)
{
	return set->clock
		       ? &((struct unc_clock *)((char *)set - offsetof(struct unc_clock, set)))->op
		       : run->op + (set->counter - run->counter);
}

/* ---- run.c. The lock of the node is not held, but where it is said. */

/* The run of these wants: one of the platform that has the same, or a new one. want: copied.
 * UNC_ERR_MEMORY. Of the lock of platform->runs. */
int unc_run_get(struct unc_platform *, const struct unc_want *want, size_t n, unsigned n_passes,
		struct unc_run **out, struct unc_error *err);
void unc_run_put(struct unc_run *); /* NULL: nothing */
/* One more session counts by it: the first starts it, the others look at it. Where there is no error the
 * lock of the run is held afterwards. */
int unc_run_start(struct unc_run *, struct unc_error *err);
/* A session counts by it no more. First a last look, after which all was compared; then, once the session
 * has taken it, the end, but of what stays: the last session stops it. Locks that are needed are taken
 * by the one and given back by the other. The first error. */
enum unc_ending {
	UNC_STAYS,  /* nothing was done, for want of memory: it counts on */
	UNC_LEAVES, /* others count on */
	UNC_STOPS,
	UNC_GIVES_UP /* the lock of the node is not to be had */
};
int unc_run_last(struct unc_run *, enum unc_ending *, struct unc_error *err);
int unc_run_end(struct unc_run *, enum unc_ending, struct unc_error *err);
/* The pass ends and the next begins. After an error run->ended tells that nothing counts any more; or
 * all is as before. */
int unc_run_turn(struct unc_run *, struct unc_error *err);
/* Tries sets again that are due, if nobody has the lock of the node. */
void unc_run_retry(struct unc_run *);
/* When the first is due, of the machine's time; UINT64_MAX: none is. */
uint64_t unc_run_retry_ns(const struct unc_run *);
/* Tells what a phase does for a session that counts by it, or does not yet: a start and a stop write nothing
 * while others count. For a run that does not count, after a look at its units. */
int unc_run_show(struct unc_run *, bool counts, enum unc_phase, unc_operation_fn fn, void *user,
		 struct unc_error *err);

/* ---- loss.c, the lock of the run held */

void unc_run_keep(struct unc_run *, struct unc_stamps *);
void unc_run_keep_no_more(struct unc_run *, struct unc_stamps *);

/* ---- read.c, the same */

/* One look at all that counts: an error if nothing could be read. */
int unc_run_look(struct unc_run *, struct unc_error *err);
/* ---- check.c, the same */

/* Compares controls that were not compared for a second; all of them where it is the last time. */
void unc_run_compare(struct unc_run *, bool last);
/* The same for an interval that began then: another session, or the end of a turn, may have compared in it. One of a
 * second is compared at its own end, if that was more than 1 % of it ago; what is lost then goes back to where all
 * have compared. */
void unc_run_compare_since(struct unc_run *, uint64_t began, bool last);
/* What was compared and asked for in this look is good: what is lost later goes back to it. all: where nobody
 * minds what was counted before, also what was not. */
void unc_run_accept(struct unc_run *, bool all);
/* Whether a set was seen to move in the last second. */
bool unc_set_moves(const struct unc_run *, const struct unc_set *);
/* Sets that have not moved (moved[i]: set i has) ask the clocks of their types. What no clock speaks for is
 * doubted, what a clock speaks against is lost. */
void unc_run_ask(struct unc_run *, const bool *moved);

/* ---- loss.c: why a set has no value now, as a sentence; in err */
void unc_set_reason(const struct unc_run *, const struct unc_set *, struct unc_error *err);
void unc_set_idle(const struct unc_run *, const struct unc_set *, struct unc_error *err);
void unc_set_late(const struct unc_run *, const struct unc_set *, struct unc_error *err);
void unc_set_unproven(const struct unc_run *, const struct unc_set *, struct unc_error *err);
void unc_set_scarce(const struct unc_run *, const struct unc_set *, double percent, const char *of,
		    struct unc_error *err);
/* How its unit is told; stays with the run. NULL: out of memory. */
const struct unc_unit *unc_set_tell(struct unc_run *, struct unc_set *);

/* ---- watch.c: a thread of the platform looks in before a counter can wrap twice, lets passes take
 * turns, and tries again what was lost. */

/* It sees to a run that counts, when the first of this is due, if anything is. The lock of the run is held.
 * UNC_ERR_MEMORY: no thread. */
int unc_run_watch(struct unc_run *, struct unc_error *err);
/* It does not any more, and is not about to. The lock is not held. */
void unc_run_unwatch(struct unc_run *);
/* ms for a round of passes, as a session that counts wants it from now on: the fastest is for all. 0: it does
 * not mind, or counts no more. Turns are short again. The lock is held. */
void unc_run_pace(struct unc_run *, struct unc_pace *, unsigned ms);
void unc_run_short_turns(struct unc_run *);
/* ns until the turn ends; UINT64_MAX: it does not. */
uint64_t unc_run_turn_left(const struct unc_run *);
/* No lock is held. What is due by the machine's time is done. */
void unc_run_see_to(struct unc_run *);

/* unfreeze.c: what unit control says that holds this (NULL: it was not read): enum unc_unit_state;
 * -1: that cannot be known. */
int unc_unit_frozen(const struct unc_table *, const struct unc_instance *, const uint64_t *control);

/* ---- the node (entries.c, reclaim.c) */

/* Where processes of the node know of each other, and whether that may be made; false: a simulated
 * machine has nobody beside this process. */
bool unc_node_folder(const struct unc_platform *, char dir[PATH_MAX], bool *make);
/* Held while registers are looked at and programmed: nobody else of the node does so meanwhile.
 * patience: as unc_journal_lock(). */
int unc_node_lock(struct unc_platform *, unsigned patience, struct unc_error *err);
void unc_node_unlock(struct unc_platform *);
/* The lock is held. Restores what ended processes of this user have left, anywhere on the node: what is
 * in the way of a run (NULL: none) at once, and the rest soon; or all at once. */
int unc_node_reclaim(struct unc_platform *, const struct unc_run *, bool all,
		     struct unc_error *err);

#endif
