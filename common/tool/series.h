/* SPDX-License-Identifier: BSD-3-Clause */
/* The items of a session as numbers of a report or a frame: what they are, and what the last read said of them. */
#ifndef UNC_TOOL_SERIES_H
#define UNC_TOOL_SERIES_H

#include <time.h>

#include "record.h"

/* What a number is less than it should be, the gravest first. Of a doubt the
 * library has a sentence: the number may be off, nobody knows how far (unc_mark_get()). */
enum mark { NO_VALUE, PARTIAL, DOUBTS, SCALED = DOUBTS + UNC_MAX_MARKS, MARKS };
/* Key, letter and words of a mark; of doubts the library's; NULL: there is no such mark. */
const struct unc_mark *mark_words(enum mark);

/* Of several runs: their mean, and the sum of the squares of what they deviate from it. */
struct mean {
	unsigned long n;
	double mean, squares;
};

/* An event or a metric, of the machine, a socket or a unit. */
struct number {
	struct unc_item item;
	unsigned per;   /* places of which it is one: UNC_EACH_* */
	size_t text;    /* where the numbers of its text begin */
	int id;         /* of the session; -1: the library knows no such name here, and `why` */
	char *device;   /* what is below its port, "mlx5_0 mlx5_1"; NULL: nothing that is known */
	unsigned below; /* how many devices these are */
	size_t last;    /* where the last of them stands in `device`, */
	unsigned alike; /* which is so many of one model */
	char link[32];  /* of its port, "gen5 x16" */
	double peak;    /* bytes per second that the memory or the link can move; 0: not known */

	/* what the last read gave */
	bool valid;
	bool mark[MARKS]; /* but for NO_VALUE */
	bool lost;        /* until the session has taken up its units again */
	uint64_t count;
	double value, share;
	double seconds; /* that it is of: with several passes perhaps more than the interval */
	unsigned units, of;

	/* what stat says beside it, and of all its reports */
	bool told; /* that it is, or will be, less than whole */
	/* The sentence of a mark. PARTIAL: the units that it goes without, NULL: none. NO_VALUE: of
	 * the first report without one, or of the loss; NULL: each had one. Else of the last report
	 * with the mark. */
	char *said[MARKS];
	unsigned long reports[MARKS]; /* with it */
	bool was_lost;                /* it has no value because the counter was no longer ours */
	struct mean mean;             /* with -r: of the runs; the sum of their shares; */
	double shares;
	double spread; /* ... standard deviation of the mean, as a share of it; NAN: it has none */
};

struct series {
	struct unc_platform *platform;
	struct unc_session *session;
	bool quiet; /* no notes: the terminal shows something else */
	bool whole; /* numbers are of all the time since the start, not of the interval */
	struct number *number;
	size_t n;
	struct unc_value *value; /* of the session's items */
	size_t n_values;
	/* of the last read: seconds since the start, seconds that the numbers are of, time of the day */
	double time, seconds;
	double looked; /* when devices were looked up, as `time` */
	struct timespec clock;
};

/* What a call for its session returned, told: the exit status. */
int series_error(const struct series *, int rc);
/* An empty session. 0, or the exit status. */
int series_open(struct series *, struct unc_platform *, unsigned flags);
/* Adds a text at its places (UNC_EACH_*), as numbers behind those before. 0, or an error of the
 * session. */
int series_add(struct series *, const char *text, unsigned per);
/* A number that is no item of the session. */
void series_add_unknown(struct series *, const char *name, const char *reason);
/* Looks up the devices of all numbers again, every few seconds; false: a label has changed, of *which. */
bool series_devices(struct series *, const struct number **which);
/* The devices of a number, or, if it is of a stack (UNC_EACH_DEVICE), why it has none; NULL: it is
 * of no device. */
const char *series_below(const struct number *);
/* Ends the interval. From here on no memory is needed. 0, or an error of the session. */
int series_read(struct series *);
/* Whether the last read has given it the mark. */
bool number_marked(const struct number *, enum mark);
/* Puts a sentence in the place of another; both may be NULL. */
void number_say(char **text, const char *sentence);
/* What it is in a second; NAN: it has no rate, nor is it one. */
double number_rate(const struct number *, double seconds);
/* "32.4 % of 281.6 GB/s" of its peak; what the line before was of (*told) is not told again. "": it
 * has none, or goes without units. */
const char *share_text(char buf[CELL_MAX], const struct number *, double seconds, double *told);
/* All numbers; sorted: those of a text by what they are, the largest first. free() it. */
const struct number **series_lines(const struct series *, bool sorted);
/* Why a number is not valid, is doubtful, or cannot be counted; until the next call for the
 * session. */
const char *series_reason(const struct series *, const struct number *);
/* The first number that the last read has found lost; NULL: none. */
const struct number *series_lost(const struct series *);
void series_close(struct series *);

#endif
