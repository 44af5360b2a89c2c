/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: what it counts, how long, and how it reports. */
#ifndef UNC_TOOL_STAT_H
#define UNC_TOOL_STAT_H

#include <time.h>

#include "record.h"
#include "series.h"
#include "tool.h"

struct stat_job {
	const struct args *args;
	double interval; /* seconds between reports; 0: one report at the end */
	double duration; /* seconds; 0: no limit */
	uint64_t repeat; /* measure so often, for one report; 0: once */

	struct unc_platform *platform;
	struct series series;
	int passes;
	char **given; /* names of all counted items, each once */
	size_t n_given;

	struct record record;  /* the report */
	char day[CELL_MAX];    /* the day that was shown last */
	unsigned long reports; /* printed */
	uint64_t runs;         /* gathered */
	struct mean length;    /* of these, in seconds */
	double length_spread;
	bool harmed;           /* the session has lost a value at any time */
	double started;        /* seconds between the first start of the session and its last */
	struct timespec began; /* wall-clock time of that */
	double time,
		seconds; /* of the next report: seconds since the first start, and its length */
};

/* stat_items.c: each part of a list with commas becomes lines of the report. 0, or the exit
 * status. */
int stat_add(struct stat_job *, const struct wish *);

/* stat_run.c: counts and reports. Returns the exit status. */
int stat_run(struct stat_job *);

/* stat_collect.c: from the session to the numbers of the report. 0, or the exit status. */

/* The end of the numbers: one past the last. */
struct number *stat_end(const struct stat_job *);
/* Why the next report has no such value; NULL: it has one. */
const char *stat_reason(const struct stat_job *, const struct number *);
/* Prints on stderr the units and items that the running session lacks. */
int stat_announce(struct stat_job *);
/* Ends the interval. */
int stat_collect(struct stat_job *);
/* Notes which numbers are missing or doubtful, for what the report says of them and what is said
 * behind the last one; tells on stderr what is doubtful for the first time. */
void stat_remember(struct stat_job *);
/* Whether every collected number belongs to the interval. */
bool stat_complete(const struct stat_job *);
/* Prints on stderr that a value was lost. */
void stat_lament(const struct stat_job *);
/* Prints on stderr which numbers are missing, and why. */
void stat_close(const struct stat_job *);

/* Adds the collected numbers as a run; stat_sum_up() then makes the report of all runs. */
void stat_gather(struct stat_job *);
void stat_sum_up(struct stat_job *);

/* stat_report.c: prints what was collected. 0, or the exit status. */
int stat_report(struct stat_job *);

#endif
