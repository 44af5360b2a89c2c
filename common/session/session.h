/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside a session: what is measured, and when. What it needs of units, it wants of units/ (set.h).
 *
 *   item     what the user added: an event or a metric
 *   measure  an event on all the units it is summed over, in one pass
 *   pass     what is counted at the same time
 *
 * The life of a value. A name that is added becomes an item: an event is one measure, a metric one
 * for each event of its formula. A measure wants a counter of each of its units, in the first pass where
 * it fits beside what was added before; units that cannot be read are noted, and make the sum partial. A
 * start gives the session a run, which sessions of the program share that want the same. Totals and times
 * are the run's. The session keeps what they were where it began, and where its last interval began and
 * ended: a value is the sum of differences, scaled where a set has counted for a part of the time, or the
 * result of a formula. What a value lacks is found by one function (marks.c), for its flags and for its
 * sentence.
 *
 * Calls go up in this list only:
 *
 *   session_items.c   what is measured, and whether it fits; session_add.c adds it,
 *   session_series.c  at all its places
 *   times.c           the time that a value is about, and what was counted in it
 *   marks.c           what a value lacks, and why
 *   values.c          what the units have counted becomes values
 *   session.c         creation, start, read, stop, end
 *   news.c            what of it is told once
 */
#ifndef UNC_SESSION_H
#define UNC_SESSION_H

#include "session/items.h"
#include "units/set.h"

/* By what is multiplied that a set has counted; over how many seconds it was read, 0: not LATE. */
struct unc_weight {
	double scale, late;
};

struct unc_session {
	struct unc_session *next, **link; /* of the process (session.c) */
	struct unc_platform *platform;
	unsigned flags;
	unsigned ms;          /* for a round of passes; 0: they do not take turns */
	struct unc_pace pace; /* of the run, while it counts */
	struct unc_error error;
	uint64_t look_at;  /* for devices next, ns (news.c) */
	bool told_unknown; /* and why those of a stack are not known */
	struct unc_session_item *item;
	size_t n_items;
	struct unc_measure *measure;
	size_t n_measures;
	struct unc_want *want;
	size_t n_wants;
	int *newest; /* of each instance: its last want; -1: none */
	unsigned n_passes;
	double *scratch; /* one value for each reference of the largest formula */
	size_t n_scratch;

	enum {
		UNC_UNMEASURED, /* not started, or its start failed: there is nothing to read */
		UNC_RUNNING,
		UNC_STOPPED, /* and a read ends the last interval */
		UNC_ENDED    /* so one did */
	} state;
	struct unc_run *run; /* what its values are of */
	void *room;          /* of all that follows: */
	/* since; the last interval; the last look, which is one of the others or in this room */
	struct unc_totals start, begin, end, last, spare;
	struct unc_stamps stamps;             /* their arrays, while it counts */
	struct unc_weight *weight, *interval; /* of each set */
	bool *moved;                          /* each set, in an interval */
	bool *without;                        /* each set means nothing now: for the item at hand */
};

/* ---- times.c */

/* A time that values are about: since start or reset, or the last interval of an item. */
struct unc_stretch {
	const struct unc_totals *from, *to;
	bool interval;
	bool even;   /* each set was read as soon as the others, within a thousandth of it, and
		     * counted all of it: its own time is that of all, and need not be asked for */
	bool slow;   /* sets may have been read over more than 1 % of it */
	bool parts;  /* sets may have been measured for a part of it */
	double all;  /* seconds */
	uint64_t ns; /* the same */
};
struct unc_stretch unc_since_start(const struct unc_session *);
struct unc_stretch unc_last_interval(const struct unc_session *, const struct unc_session_item *);
bool unc_takes_turns(const struct unc_session *);
/* What a set has counted in a time. */
struct unc_time unc_time_of(const struct unc_stretch *, size_t set);
/* For how long a set was measured: less where it takes turns, was lost, or others had its counters. */
double unc_seconds_of(const struct unc_session *, size_t set, const struct unc_stretch *);
/* How long looks took between which a set was measured, ns; as a part of all the time where it was measured for
 * less than half of that. */
uint64_t unc_unsure(const struct unc_stretch *, size_t set);
/* What took so long, in seconds; 0: no more than 1 % of the time. */
double unc_if_late(uint64_t took, const struct unc_stretch *);
struct unc_weight unc_weigh(const struct unc_session *, size_t set, const struct unc_stretch *);
uint64_t unc_scaled(uint64_t count, double scale);
/* What the units of a measure have counted, together: each in its own time, scaled to all of it. *exact is the same
 * with what is behind the point. */
uint64_t unc_aggregate(const struct unc_session *, const struct unc_measure *,
		       const struct unc_stretch *, double *exact);
/* The result of a formula with what was counted; else why there is none. */
const char *unc_session_evaluate(struct unc_session *, const struct unc_session_item *,
				 const struct unc_stretch *, double *value);

/* session.c. Walks the units that an item is about and that cannot be read. Stops at the first non-zero return of fn
 * and returns it; or UNC_ERR_NOT_FOUND. */
typedef int (*unc_unit_fn)(void *user, const struct unc_unit *);
int unc_session_missing(struct unc_session *, int id, unc_unit_fn fn, void *user);

/* What a value lacks, and why: bit i is row i of marks.inc. */
struct unc_marks {
	uint32_t which;
	const struct unc_set *set[32];    /* of a mark: the first set that has it */
	bool emptied;                     /* nothing is left of the sum: it is none */
	unsigned units;                   /* that are left */
	double seconds, interval_seconds; /* measured, of all and of the interval */
	double late, interval_late;
	double value, interval; /* of a formula */
};
/* What an item lacks. Which sets it goes without is in s->without. */
void unc_session_marks(struct unc_session *, const struct unc_session_item *, struct unc_marks *);
/* A set of an item on a unit that means nothing now; NULL: there is none. */
struct unc_set *unc_session_flawed(struct unc_session *, const struct unc_session_item *,
				   uint32_t instance);
/* Flags of the marks (UNC_VALUE_*); whether they leave no value at all, none since start, none of the
 * interval. */
unsigned unc_marks_flags(const struct unc_marks *);
enum unc_mark_scope { UNC_MARK_NOTE, UNC_MARK_INTERVAL, UNC_MARK_TOTAL, UNC_MARK_VALUE };
bool unc_marks_leave(const struct unc_marks *, enum unc_mark_scope none);
/* The sentence of the most important of its marks, of those that set a flag; 0: of all. Valid as
 * unc_session_reason()'s is. */
const char *unc_session_why(struct unc_session *s, int id, unsigned flags);
/* Passes of an item that have not had their turn since start or reset. */
uint64_t unc_session_waits_for(const struct unc_session *, const struct unc_session_item *);
/* A pass was measured since the last interval ended, long enough to end one. */
bool unc_session_measured(const struct unc_session *, unsigned pass);
bool unc_session_complete(const struct unc_session *, const struct unc_session_item *);

/* ---- session.c. A call of a program begins: 0, and no sentence is left of the last one; UNC_ERR_STATE with
 * its sentence: the session belongs to the process that this one was forked from; or it runs. */
int unc_session_enter(struct unc_session *);
int unc_session_enter_idle(struct unc_session *);
/* What was measured before is not of this set. */
void unc_session_unmeasure(struct unc_session *);
/* The item that a program means; NULL, with the sentence: there is none. */
struct unc_session_item *unc_session_find_item(struct unc_session *, int id);

/* ---- values.c; the lock of the run is held, where it counts */

/* What the units have counted up to the last look is taken: `last`. With it the interval ends, or all
 * that was counted before is forgotten. */
void unc_session_take(struct unc_session *);
void unc_session_end_interval(struct unc_session *);
void unc_session_forget(struct unc_session *);
/* Asks clocks for sets of which nothing has moved since. */
void unc_session_ask(struct unc_session *, const struct unc_totals *since);
void unc_session_values(struct unc_session *, struct unc_value *values, size_t n, size_t size);
void unc_session_value(struct unc_session *, const struct unc_session_item *, struct unc_value *);
/* Whether counts may be all that is to be told of its values; and these. False: marks may be. */
bool unc_session_is_plain(const struct unc_session *);
bool unc_session_plain(struct unc_session *, uint64_t *counts, size_t n);
#endif
