/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside a session: what is measured, and when. Units are counted by units/ (set.h).
 *
 *   item     what the user added: an event or a metric
 *   measure  an event on all the units it is summed over, in one pass
 *   pass     what is counted at the same time
 *
 * The life of a value. An added name becomes an item: an event is one measure, a metric one for each event of its
 * formula. A measure wants a counter on each of its units, in the first pass where it fits beside earlier measures;
 * units that cannot be read are noted, and make the sum partial. A start gives the session a run; sessions of the
 * program that want the same share it. Totals and times belong to the run. The session keeps their values at its
 * start, and where its last interval began and ended: a value is the sum of differences, scaled if a set has counted
 * for a part of the time, or the result of a formula. One function (marks.c) finds what a value lacks, for its flags
 * and for its sentence.
 *
 * Calls go up in this list only:
 *
 *   session_items.c   what is measured, and whether it fits; session_add.c adds it,
 *   session_series.c  at all its places
 *   times.c           the time of a value, and what was counted in it
 *   marks.c           what a value lacks, and why
 *   values.c          counts become values
 *   session.c         creation, start, read, stop, end
 *   news.c            changes that are reported once
 */
#ifndef UNC_SESSION_H
#define UNC_SESSION_H

#include "session/items.h"
#include "units/set.h"

/* The factor for the counts of a set; the seconds over which it was read, 0: not LATE. */
struct unc_weight {
	double scale, late;
};

struct unc_session {
	struct unc_session *next, **link; /* list of the process (session.c) */
	struct unc_platform *platform;
	unsigned flags;
	unsigned ms;          /* for a round of passes; 0: passes do not change */
	struct unc_pace pace; /* in the run, while the session counts */
	struct unc_error error;
	uint64_t look_at;  /* time of the next look for devices, ns (news.c) */
	bool told_unknown; /* it was reported why devices of a stack are unknown */
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
		UNC_STOPPED, /* the next read ends the last interval */
		UNC_ENDED    /* that read is done */
	} state;
	struct unc_run *run; /* counts for this session */
	void *room;          /* memory of all that follows: */
	/* at the start; the last interval; the last look, which is one of the others or in this room */
	struct unc_totals start, begin, end, last, spare;
	struct unc_stamps stamps; /* their arrays, registered while the session counts */
	struct unc_weight *weight, *interval; /* of each set */
	bool *moved;                          /* of each set: it has moved in an interval */
	bool *without;                        /* of each set: the current item goes without it */
};

/* ---- times.c */

/* The time of a value: since start or reset, or the last interval of an item. */
struct unc_stretch {
	const struct unc_totals *from, *to;
	bool interval;
	bool even;   /* each set was read within a thousandth of the time, and counted all of it */
	bool slow;   /* sets may have been read over more than 1 % of it */
	bool parts;  /* sets may have been measured for a part of it */
	double all;  /* seconds */
	uint64_t ns; /* the same */
};
struct unc_stretch unc_since_start(const struct unc_session *);
struct unc_stretch unc_last_interval(const struct unc_session *, const struct unc_session_item *);
bool unc_takes_turns(const struct unc_session *);
/* The time that a set has counted in a stretch. */
struct unc_time unc_time_of(const struct unc_stretch *, size_t set);
/* Seconds that a set was measured: less than all if it is multiplexed, was lost or time-shared. */
double unc_seconds_of(const struct unc_session *, size_t set, const struct unc_stretch *);
/* Total width of the looks at the begins and ends of a set's counting, ns; if the set was measured
 * for less than half of the time, scaled to all of it. */
uint64_t unc_unsure(const struct unc_stretch *, size_t set);
/* `took` in seconds; 0: no more than 1 % of the time. */
double unc_if_late(uint64_t took, const struct unc_stretch *);
struct unc_weight unc_weigh(const struct unc_session *, size_t set, const struct unc_stretch *);
uint64_t unc_scaled(uint64_t count, double scale);
/* The counts of all units of a measure: each is scaled from its own time to the whole time. *exact:
 * the same with its fraction. */
uint64_t unc_aggregate(const struct unc_session *, const struct unc_measure *,
		       const struct unc_stretch *, double *exact);
/* Evaluates a formula; returns why there is no result, or NULL. */
const char *unc_session_evaluate(struct unc_session *, const struct unc_session_item *,
				 const struct unc_stretch *, double *value);

/* session.c. Calls fn with each unit of an item that cannot be read, until fn returns non-zero, and
 * returns that; or UNC_ERR_NOT_FOUND. */
typedef int (*unc_unit_fn)(void *user, const struct unc_unit *);
int unc_session_missing(struct unc_session *, int id, unc_unit_fn fn, void *user);

/* What a value lacks, and why: bit i is row i of marks.inc. */
struct unc_marks {
	uint32_t which;
	const struct unc_set *set[32];    /* the first set that has the mark */
	bool emptied;                     /* no unit of the sum is left: there is no value */
	unsigned units;                   /* that are left */
	double seconds, interval_seconds; /* measured, of all and of the interval */
	double late, interval_late;
	double value, interval; /* of a formula */
};
/* Finds what an item lacks, and sets s->without for the sets that it goes without. */
void unc_session_marks(struct unc_session *, const struct unc_session_item *, struct unc_marks *);
/* A set of an item on a unit that has no value now; NULL: none. */
struct unc_set *unc_session_flawed(struct unc_session *, const struct unc_session_item *,
				   uint32_t instance);
/* The flags of marks (UNC_VALUE_*). Whether marks leave no value: none at all, none since start, or
 * none of the interval. */
unsigned unc_marks_flags(const struct unc_marks *);
enum unc_mark_scope { UNC_MARK_NOTE, UNC_MARK_INTERVAL, UNC_MARK_TOTAL, UNC_MARK_VALUE };
bool unc_marks_leave(const struct unc_marks *, enum unc_mark_scope none);
/* The sentence of the most important mark that sets one of the flags; 0: of any mark. Valid as long
 * as that of unc_session_reason(). */
const char *unc_session_why(struct unc_session *s, int id, unsigned flags);
/* Passes of an item that were not measured since start or reset. */
uint64_t unc_session_waits_for(const struct unc_session *, const struct unc_session_item *);
/* Whether a pass was measured since the last interval ended, long enough to end one. */
bool unc_session_measured(const struct unc_session *, unsigned pass);
bool unc_session_complete(const struct unc_session *, const struct unc_session_item *);

/* ---- session.c. Begins a call of the program: returns 0, and clears the last sentence; UNC_ERR_STATE with its
 * sentence: the session belongs to the process that this one was forked from; or it runs. */
int unc_session_enter(struct unc_session *);
int unc_session_enter_idle(struct unc_session *);
/* Drops the results: the set of items has changed. */
void unc_session_unmeasure(struct unc_session *);
/* The item with this id; NULL, with the sentence: there is none. */
struct unc_session_item *unc_session_find_item(struct unc_session *, int id);

/* ---- values.c; the caller holds the lock of the run, while it counts */

/* Takes the counts up to the last look into `last`; ends the interval with it, or forgets all earlier counts. */
void unc_session_take(struct unc_session *);
void unc_session_end_interval(struct unc_session *);
void unc_session_forget(struct unc_session *);
/* Asks clocks for sets that have not moved since. */
void unc_session_ask(struct unc_session *, const struct unc_totals *since);
void unc_session_values(struct unc_session *, struct unc_value *values, size_t n, size_t size);
void unc_session_value(struct unc_session *, const struct unc_session_item *, struct unc_value *);
/* Whether counts may be the whole result, without marks; and the counts. False: there may be marks. */
bool unc_session_is_plain(const struct unc_session *);
bool unc_session_plain(struct unc_session *, uint64_t *counts, size_t n);
#endif
