/* SPDX-License-Identifier: BSD-3-Clause */
/* The items of a session as numbers of a report or a frame, with the results of the last read. */
#ifndef UNC_TOOL_SERIES_H
#define UNC_TOOL_SERIES_H

#include <time.h>

#include "record.h"

/* What a number is less than it should be, the gravest first. Of a doubt the
 * library has a sentence: the number may be off, nobody knows how far (unc_mark_get()). */
enum mark { NO_VALUE, PARTIAL, DOUBTS, SCALED = DOUBTS + UNC_MAX_MARKS, MARKS };
/* Key, letter and words of a mark; for doubts those of the library; NULL: no such mark. */
const struct unc_mark *mark_words(enum mark);

/* Mean of several runs, and the sum of their squared deviations from it. */
struct mean {
	unsigned long n;
	double mean, squares;
};

/* A number: an event or a metric of the machine, a socket or a unit. */
struct number {
	struct unc_item item;
	unsigned per;   /* kind of its place: UNC_EACH_* */
	size_t text;    /* index of the first number of its text */
	int id;         /* of the session; -1: the library knows no such name here, and `why` */
	char *device;   /* devices below its port, "mlx5_0 mlx5_1"; NULL: none known */
	unsigned below; /* number of these devices */
	size_t last;    /* where the last of them stands in `device`, */
	unsigned alike; /* which is so many of one model */
	char link[32];  /* of its port, "gen5 x16" */
	double peak;    /* bytes per second that the memory or the link can move; 0: not known */

	/* what the last read gave */
	bool valid;
	bool mark[MARKS]; /* except NO_VALUE */
	bool lost;        /* until the session counts with its units again */
	uint64_t count;
	double value, share;
	double seconds; /* length of its time: with several passes perhaps more than the interval */
	unsigned units, of;

	/* what stat says beside it, and of all its reports */
	bool told; /* a note has said that it has, or will have, a mark */
	/* The sentence of a mark. PARTIAL: the units that it goes without, NULL: none. NO_VALUE: of
	 * the first report without one, or of the loss; NULL: each had one. Else of the last report
	 * with the mark. */
	char *said[MARKS];
	unsigned long reports[MARKS]; /* number of reports with the mark */
	bool was_lost;    /* it had no value, because the session had lost its counter */
	struct mean mean; /* with -r: of the runs; the sum of their shares; */
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

/* Prints the error of a call for its session; returns the exit status. */
int series_error(const struct series *, int rc);
/* Opens an empty session. 0, or the exit status. */
int series_open(struct series *, struct unc_platform *, unsigned flags);
/* Adds a text at its places (UNC_EACH_*), as numbers behind those before. 0, or an error of the
 * session. */
int series_add(struct series *, const char *text, unsigned per);
/* Adds a number that is no item of the session. */
void series_add_unknown(struct series *, const char *name, const char *reason);
/* Looks up the devices of all numbers again, every few seconds; false: a label has changed, of *which. */
bool series_devices(struct series *, const struct number **which);
/* The devices of a number, or, if it is of a stack (UNC_EACH_DEVICE), why it has none; NULL: it is
 * of no device. */
const char *series_below(const struct number *);
/* Ends the interval. From here on no memory is needed. 0, or an error of the session. */
int series_read(struct series *);
/* Whether a number got the mark from the last read. */
bool number_marked(const struct number *, enum mark);
/* Replaces a sentence by another; both may be NULL. */
void number_say(char **text, const char *sentence);
/* The rate of a number per second; NAN: it has none, and is none. */
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
