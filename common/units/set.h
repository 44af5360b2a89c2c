/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a counter.
 *
 * A session wants events of units, each in a pass. The counters that count at the same time on one unit are a set:
 * it is claimed, started, compared, lost, retried and stopped as a whole. All sets of a session are a run. Sessions
 * of a program that want the same events share a run: each session keeps the totals of its own begin.
 *
 *   start    The lock of the node is taken. What ended processes have left is restored (reclaim.c).
 *            look.c reads each unit of the pass: which counters are in use, and what is frozen. The
 *            scheduler gives each event a free counter, or one with which another session of this user
 *            counts the same event (claim.c). The value found in a register gets an entry in the journal
 *            (entries.c), then the register is written, then it is read back (registers.c). For each
 *            type and socket a clock begins to count, so that a 0 can be believed later (check.c). The
 *            first look at the counters is the base, and the lock is released (run.c).
 *   read     One array of prepared reads (read.c). A counter adds to its total what it has counted
 *            since the look before. Each set has its own time: between the stamps before and after its
 *            reads. A counter that makes an impossible step loses its set.
 *   check    Controls that were compared more than a second ago are compared again, before a value is
 *            given. A set none of whose counters has moved asks the clock of its type (check.c).
 *   loss     A set whose registers another program took, froze or cleared, or that is gone, is lost:
 *            its totals and its time go back to the last good comparison, and it has a sentence
 *            (loss.c). Sums go on without it. A thread retries it after a second, then after twice the
 *            time before, at most 64 s (watch.c). Later counts are added to its totals, and the gap is
 *            no part of its time.
 *   pass     If all events of a unit fit at once, they count in every pass. On other units the sets of
 *            a pass stop, and those of the next start.
 *   stop     Counters are read, controls are compared, clocks are asked for a last time. What was found
 *            is restored, except what another session needs and what another program changed; then the
 *            entries are cleared (registers.c, entries.c).
 *   killed   The next start on the node finds entries that no running session has, and restores them.
 *
 * A provider counts the sets: registers (registers.c), or the kernel's own driver (driver.c), which owns the
 * registers and gets the event itself. No other file knows which.
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
/* Patience with a stopped process that has the node's lock, in seconds: unc_journal_lock(). */
enum { UNC_START_PATIENCE = 1, UNC_STOP_PATIENCE = 5 };

/* A session wants an event of a unit, in one pass. */
struct unc_want {
	const struct unc_coded *event;
	uint32_t instance; /* index into platform->instances */
	uint32_t pass;
	int next; /* of the same unit, added before; -1: none. For session_add.c alone */
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
	double rate;    /* counts in a ns that are more than it can count */
	uint64_t good;  /* total at the last good comparison */
	uint64_t start; /* what it was set to; 0: it was not set */
	const struct unc_coded *event;
	uint16_t ctr; /* counter register (index into table->reg), once it is claimed */
	bool clock;   /* it counts a clock of its type */
};

/* The time that a set has counted, ns. */
struct unc_time {
	uint64_t ran, idle; /* idle: the kernel's other users had its counters */
	uint64_t blur;      /* widths of the looks at its begins and ends, but the last */
};

struct unc_provider;

/* The counters that count at once on one unit, in one pass. */
struct unc_set {
	const struct unc_instance *unit;
	const struct unc_provider *by; /* who counts for us there */
	struct unc_set_counter *counter;
	uint16_t n;
	uint8_t pass; /* UNC_EVERY_PASS: always */
	bool clock;   /* it counts a clock of its type, for check.c */
	enum { UNC_SET_OFF, UNC_SET_COUNTS, UNC_SET_LOST } state;
	bool begins;    /* it was programmed, and not read since */
	bool gap;       /* it began more than once, and did not count in between */
	bool lapse;     /* it was lost since the run began */
	bool shared;    /* other sessions or programs count on its unit, as far as known */
	bool foreign;   /* a program without entries counts there: it may freeze the unit */
	int16_t unread; /* errno of the last look; 0: it was read */
	uint16_t unread_reg;
	uint32_t doubts; /* looks without proof that it counted, though it moved before or after, */
	uint32_t stood;  /* or in which it alone did not move: its total may lack counts; */
	uint64_t doubted_ns;        /* the last of them */
	uint64_t retry_ns, wait_ns; /* UNC_SET_LOST: time of the next retry; the pause before it */
	struct unc_time time, good; /* since the run began; the same at the last good comparison */
	bool begun;                 /* it has counted since the run began */
	struct unc_look to;         /* the last look */
	uint64_t before_ns;         /* the look before that, or when it was programmed */
	uint64_t moved_ns; /* the last look in which one of its counters had moved, or its begin */
	bool moved;        /* a counter has moved since the run began */
	bool alone;        /* none has, since the others of its type moved and it did not */
	struct unc_left *left; /* once it was lost: its unit and the sentence */
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

/* A clock proves that the units of a type count on a socket, in one pass. If a unit has only
 * counters without a control, its clock is one of these. */
struct unc_clock {
	const struct unc_instance *unit; /* the first unit of them that is wanted */
	bool bare;                       /* only of that unit, and without a control */
	bool ran; /* one of them moved, before the run took all counters of the type: */
	struct unc_clock *other; /* then a clock of another type there, maybe this one; NULL */
	enum {
		UNC_CLOCK_NONE, /* no clock can be counted */
		UNC_CLOCK_RUNS,
		UNC_CLOCK_STANDS
	} state;              /* as asked last */
	struct unc_set *user; /* a set that counts a clock anyway, by its counter k; NULL: */
	size_t k;
	struct unc_set set; /* this set does */
	struct unc_set_counter counter;
	struct unc_reg_op op;
	uint64_t value, ns; /* as read last, in the look that began then */
	bool moved;         /* between its last two reads, */
	bool stale;         /* the first of them was before the last look but one */
	bool asked;         /* in this look */
};

/* The state of a set at a look. */
struct unc_point {
	struct unc_time time;
	struct unc_look look;
	uint32_t doubts, stood;
	bool lost, unread;
	bool begun;      /* it had counted before */
	bool gap, lapse; /* as of the set */
};

/* The state of all that a run counts, at a look. */
struct unc_totals {
	uint64_t *count;         /* of each counter */
	struct unc_point *point; /* of each set */
	uint64_t *passed;        /* ns that each pass had been measured */
	uint64_t ns, width;      /* of the look */
	bool flawed;             /* as of the run */
};

/* Totals that a session keeps: a loss that goes back behind them corrects them as well. */
struct unc_stamps {
	struct unc_totals of[4];
	struct unc_stamps *next;
};

/* The round of passes that a session wants of its run. */
struct unc_pace {
	unsigned ms;
	struct unc_pace *next;
};

/* All sets that equal sessions of a process want together. */
struct unc_run {
	struct unc_platform *platform;
	struct unc_run *next; /* of the platform's */
	unsigned users;       /* sessions that have it */
	unsigned counting;    /* of these, those that count by it */
	pthread_mutex_t lock; /* protects all that follows, while the run counts */

	struct unc_want *want; /* as the session wants it */
	size_t n_wants;
	uint32_t *at; /* counter of each want */
	struct unc_set *set;
	struct unc_set **batch; /* sets that are started or stopped now */
	size_t n_sets;
	struct unc_set_counter *counter;
	struct unc_reg_op *op; /* prepared reads, one for each counter */
	size_t n_counters;
	uint32_t *of; /* set of each counter */
	unsigned pass, n_passes;
	uint64_t *passed; /* ns that each has been measured */

	struct unc_clock *clock;
	size_t n_clocks;
	struct unc_stamps *stamps; /* kept by the sessions that count by it */

	struct unc_stamp { /* counters that are read between two stamps */
		size_t first, n;
		uint64_t ns;
	} * group; /* behind the last: the end of the reads */
	size_t n_groups;
	bool regroup;            /* sets have come or gone */
	bool apart;              /* each set is read between stamps of its own */
	bool rebase;             /* the next look is where a pass begins */
	bool flawed;             /* a set was lost, unread, doubted, or shared its counters */
	bool programs;           /* registers were programmed: other sessions must be told */
	bool changed;            /* another program changed a control after the look at it */
	struct unc_error failed; /* why the first set could not be claimed */
	uint64_t place; /* start value of counters, random; 0: nobody else is on the machine */
	uint64_t read_ns, read_width; /* the last look */
	uint64_t before_ns;           /* the one before */
	uint64_t usual_ns;            /* the shortest time of a group; 0: not known */
	uint64_t compared_ns;         /* controls were compared, */
	uint64_t slept;               /* and unc_machine_slept() asked */
	struct unc_plan restore;      /* the writes of a stop */

	/* watch.c */
	struct unc_run *next_watched;
	enum { UNC_UNWATCHED, UNC_WATCHED, UNC_SEEN_TO } watch; /* of platform->watch.lock */
	uint64_t due_ns;                                        /* the same: of CLOCK_MONOTONIC */
	uint64_t look_ns;                                       /* longest time between two looks */
	struct unc_pace *pace;
	unsigned ms;       /* for a round of passes; 0: passes do not change */
	uint64_t turn_ns;  /* length of this turn */
	uint64_t until_ns; /* its end; 0: there is none */
	unsigned turns;    /* that have ended since turns were short */
	uint64_t spent_ns, change_ns,
		cost_ns;        /* on changes of the pass: this round; the last; one */
	struct unc_error ended; /* by an error in a change of the pass: nothing counts any more */
};

/* Set i of a run; the sets of its clocks come last. */
static inline struct unc_set *unc_run_set(const struct unc_run *run, size_t i)
{
	return i < run->n_sets ? &run->set[i] : &run->clock[i - run->n_sets].set;
}
static inline size_t unc_set_number(const struct unc_run *run, const struct unc_set *set)
{
	return (size_t)(set - run->set);
}
/* Whether a set is of the running pass. */
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

/* ---- run.c. The caller does not hold the lock of the node, unless a comment says so. */

/* The run of these wants: an equal one of the platform, or a new one. want: copied. UNC_ERR_MEMORY.
 * Takes the lock of platform->runs. */
int unc_run_get(struct unc_platform *, const struct unc_want *want, size_t n, unsigned n_passes,
		struct unc_run **out, struct unc_error *err);
void unc_run_put(struct unc_run *); /* NULL: nothing */
/* Counts one more session: the first starts the run, later ones look at it. Without an error the
 * caller holds the lock of the run afterwards. */
int unc_run_start(struct unc_run *, struct unc_error *err);
/* Ends a session's counting in two steps: unc_run_last() takes a last look, after which all is compared; once the
 * session has copied it, unc_run_end() ends it, except UNC_STAYS. The last session stops the run. The first takes
 * the locks, the second releases them. Returns the first error. */
enum unc_ending {
	UNC_STAYS,  /* nothing was done, for want of memory: it counts on */
	UNC_LEAVES, /* others count on */
	UNC_STOPS,
	UNC_GIVES_UP /* the lock of the node cannot be taken */
};
int unc_run_last(struct unc_run *, enum unc_ending *, struct unc_error *err);
int unc_run_end(struct unc_run *, enum unc_ending, struct unc_error *err);
/* Ends the pass and begins the next. After an error either run->ended is set and nothing counts any
 * more, or all is as before. */
int unc_run_turn(struct unc_run *, struct unc_error *err);
/* Retries the sets that are due, unless another process has the lock of the node. */
void unc_run_retry(struct unc_run *);
/* The machine's time of the first retry; UINT64_MAX: none is due. */
uint64_t unc_run_retry_ns(const struct unc_run *);
/* Calls fn with the operations of a phase, for a session that counts by the run or does not yet. While other
 * sessions count a start and a stop write nothing. If the run does not count, its units are looked at first. */
int unc_run_show(struct unc_run *, bool counts, enum unc_phase, unc_operation_fn fn, void *user,
		 struct unc_error *err);

/* ---- loss.c; the caller holds the lock of the run */

void unc_run_keep(struct unc_run *, struct unc_stamps *);
void unc_run_keep_no_more(struct unc_run *, struct unc_stamps *);

/* ---- read.c; the same lock */

/* Looks at all that counts; an error if nothing could be read. */
int unc_run_look(struct unc_run *, struct unc_error *err);
/* ---- check.c; the same lock */

/* Compares controls that were not compared for a second; last: all of them. */
void unc_run_compare(struct unc_run *, bool last);
/* The same for an interval that began at `began`: another session, or the end of a turn, may have compared in it. An
 * interval of a second or more is compared at its own end, if the last comparison is more than 1 % of it ago; a loss
 * then goes back to where all sessions have compared. */
void unc_run_compare_since(struct unc_run *, uint64_t began, bool last);
/* Marks totals as good that were compared and proven in this look: later losses go back to them.
 * all: also those that were not, if nobody needs what was counted before. */
void unc_run_accept(struct unc_run *, bool all);
/* Whether a set has moved in the last second. */
bool unc_set_moves(const struct unc_run *, const struct unc_set *);
/* Sets that have not moved (moved[i] is false) ask the clocks of their types. A set without a clock
 * is doubted; a set whose clock does not move is lost. */
void unc_run_ask(struct unc_run *, const bool *moved);

/* ---- loss.c: why a set has no value now, as a sentence; in err */
void unc_set_reason(const struct unc_run *, const struct unc_set *, struct unc_error *err);
void unc_set_idle(const struct unc_run *, const struct unc_set *, struct unc_error *err);
void unc_set_late(const struct unc_run *, const struct unc_set *, struct unc_error *err);
void unc_set_unproven(const struct unc_run *, const struct unc_set *, struct unc_error *err);
void unc_set_scarce(const struct unc_run *, const struct unc_set *, double percent, const char *of,
		    struct unc_error *err);
/* The unit of a lost set, with the reason; the run owns it. NULL: out of memory. */
const struct unc_unit *unc_set_tell(struct unc_run *, struct unc_set *);

/* ---- watch.c: a platform thread looks before a counter can wrap twice, changes passes, retries lost sets. */

/* Watches a run that counts, from the first time that something is due. The caller holds the lock
 * of the run. UNC_ERR_MEMORY: no thread. */
int unc_run_watch(struct unc_run *, struct unc_error *err);
/* Ends it, and waits until the thread has left the run. The caller does not hold the lock. */
void unc_run_unwatch(struct unc_run *);
/* Sets the ms for a round of passes that a counting session wants from now on: the fastest holds for all. 0: the
 * session has no wish, or counts no more. Turns are short again. The caller holds the lock. */
void unc_run_pace(struct unc_run *, struct unc_pace *, unsigned ms);
void unc_run_short_turns(struct unc_run *);
/* ns until the turn ends; UINT64_MAX: it does not end. */
uint64_t unc_run_turn_left(const struct unc_run *);
/* Does what is due by the machine's time. The caller holds no lock. */
void unc_run_see_to(struct unc_run *);

/* unfreeze.c: the state of a unit whose unit control holds this (NULL: it was not read): enum
 * unc_unit_state; -1: unknown. */
int unc_unit_frozen(const struct unc_table *, const struct unc_instance *, const uint64_t *control);

/* ---- the node (entries.c, reclaim.c) */

/* The folder in which processes of the node know of each other, and whether it may be made; false:
 * a simulated machine has no other process. */
bool unc_node_folder(const struct unc_platform *, char dir[PATH_MAX], bool *make);
/* The lock is held while registers are looked at and programmed: no other process of the node does
 * so meanwhile. patience: as unc_journal_lock(). */
int unc_node_lock(struct unc_platform *, unsigned patience, struct unc_error *err);
void unc_node_unlock(struct unc_platform *);
/* Restores what ended processes of this user have left, anywhere on the node: what is in the way of
 * a run (NULL: none) at once, and the rest soon; all: all at once. The caller holds the lock. */
int unc_node_reclaim(struct unc_platform *, const struct unc_run *, bool all,
		     struct unc_error *err);

#endif
