/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: what it counts, how long, and how it reports. */
#ifndef UNC_TOOL_STAT_H
#define UNC_TOOL_STAT_H

#include <stdio.h>
#include <time.h>

#include "output.h"
#include "print.h"
#include "tool.h"

enum { BY_SIGNAL = 128 }; /* exit status of who is ended by signal N: 128 + N, as of a shell */

/* Of runs: their mean, and the sum of the squares of what they deviate from it. */
struct stat_mean {
	unsigned long n;
	double mean, squares;
};

/* A number of the report: an event or metric, of the machine, a socket or a unit. */
struct stat_cell {
	char *name;                      /* NULL: nothing stands here */
	char *base;                      /* ... without its place, which is: */
	int socket;                      /* -1: all */
	char *unit;                      /* "imc3"; NULL: all */
	const struct unc_metric *metric; /* NULL: an event */
	double peak; /* what the memory that it is about can move in a second; 0: no such thing */
	int id;      /* session's item; negative: the error of adding it */
	char *lacks; /* the units that the sum goes without; NULL: none */

	/* what the next report shows */
	char *reason; /* why there is no number; NULL: there is one */
	uint64_t count;
	double value, share;
	unsigned units, of;
	double spread; /* with -r: standard deviation of the mean, as a share of it; NAN: it has none */

	struct stat_mean mean; /* of the runs, with -r */
	double shares;         /* ... their sum */

	/* what is said behind the last one */
	char *why; /* why there was no number, if once there was none */
	bool lost; /* ... because the counter was no longer ours */
	bool told; /* that it is, or will be, less than whole */
	unsigned long without;
};

struct stat_job {
	const struct args *args;
	bool per_socket, per_unit;
	double interval; /* seconds between reports; 0: one report at the end */
	uint64_t every;  /* a report whenever the first event has counted so much; 0: none */
	double duration; /* seconds; 0: no limit */
	uint64_t repeat; /* measure so often, for one report; 0: once */

	struct unc_platform *platform;
	struct unc_session *session;
	int passes;
	size_t columns; /* sockets, or 1 */
	char **label;   /* of each line */
	size_t n_lines;
	bool of_group;          /* what is added is of a group: it need not be there, */
	bool lacking;           /* ... and cannot be counted here, which has been told */
	struct stat_cell *cell; /* of each line, `columns` of them */
	struct unc_value *value;
	size_t n_values; /* items of the session */
	struct table *table;
	bool wide;           /* with intervals: it has a column for each number, */
	size_t title_width;  /* ... and the titles are wrapped at this width */
	size_t width, shown; /* of the terminal, and lines there since the titles */
	int day;             /* when these were shown */
	/* what ended the interval of the next report; id -1: nothing */
	struct unc_overflow overflow;
	unsigned long reports;   /* printed */
	uint64_t runs;           /* gathered */
	struct stat_mean length; /* of these, in seconds */
	double length_spread;
	bool lost;      /* the next report has values that the session has lost */
	bool harmed;    /* so had one at any time */
	double started; /* seconds between the first start of the session and its last */
	struct timespec began, clock; /* wall-clock time of the first start, of the next report */
	double time, seconds;         /* of the next report: since the first start, and how long */
};

/* stat_items.c: each part of a list with commas becomes lines of the report. 0, or the exit status. */
int stat_add(struct stat_job *, const struct wish *);

/* stat_run.c: counts and reports. Returns the exit status. */
int stat_run(struct stat_job *);

/* stat_collect.c: from the session to the numbers of the report. 0, or the exit status. */

/* The number behind `cell` (NULL: the first); NULL: there is none. */
struct stat_cell *stat_next(const struct stat_job *, const struct stat_cell *cell);
/* The number of a line and a socket, or of all; NULL: there is none. */
const struct stat_cell *stat_at(const struct stat_job *, size_t line, size_t column);
/* Tells on stderr what the running session goes without. */
int stat_announce(struct stat_job *);
/* Ends the interval. */
int stat_collect(struct stat_job *);
/* Looks whether the interval of `every` has ended, and if so collects it (job->overflow). */
int stat_poll(struct stat_job *);
/* A number that is missing: for what is said behind the last report. */
void stat_remember(struct stat_cell *);
/* Every number that was collected is one of the interval. */
bool stat_complete(const struct stat_job *);
/* Tells on stderr that values were lost and the session starts anew. */
void stat_lament(const struct stat_job *);
/* Tells on stderr which numbers are missing, and why. */
void stat_close(const struct stat_job *);

/* stat_repeat.c: notes what was collected as a run, and at the end makes the report of all of them. */
void stat_gather(struct stat_job *);
void stat_sum_up(struct stat_job *);

/* stat_print.c: prints what was collected. 0, or the exit status. */
int stat_report(struct stat_job *);

/* stat_text.c: as text. */
void stat_text(struct stat_job *);
/* stat_number.c: numbers and times as text. "": there is none to tell. */

const char *stat_number(char buf[CELL_MAX], const struct stat_cell *);
const char *stat_rate(char buf[CELL_MAX], const struct stat_cell *, double seconds);
/* "99.43 G": as a rate, if it can be one; what it is measured in. */
const char *stat_short(char buf[CELL_MAX], const struct stat_cell *, double seconds);
const char *stat_measure(char buf[CELL_MAX], const struct stat_cell *);
/* Of what the memory can move: "32.4 % of 307.20 GB/s"; "32.4 %" */
const char *stat_peak(char buf[CELL_MAX], const struct stat_cell *, double seconds);
const char *stat_percent(char buf[CELL_MAX], const struct stat_cell *, double seconds);
/* How sure a mean is. */
const char *stat_spread(char buf[CELL_MAX], uint64_t runs, double spread);
/* What the number is less than it should be: "7 of 8 units, 33 %"; brief: "7/8 33%". */
const char *stat_mark(char buf[CELL_MAX], const struct stat_cell *, bool brief);
/* "2026-11-22 20:24:01 +0100" */
const char *stat_date(char buf[CELL_MAX], const struct timespec *);
const char *stat_time_of_day(char buf[CELL_MAX], const struct stat_job *);

#endif
