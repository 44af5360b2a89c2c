/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: what it counts, how long, and how it reports. */
#ifndef UNC_TOOL_STAT_H
#define UNC_TOOL_STAT_H

#include "output.h"
#include "tool.h"

/* A number of the report. With several passes, counts are scaled to the whole time. */
struct stat_number {
	enum { NUMBER_NOT_MEASURED, NUMBER_WITHOUT_VALUE, NUMBER_PRESENT } state;
	double value, seconds; /* seconds: how long it was measured */
	uint64_t count;        /* an event's */
};

/* An event or metric: one line of the report. */
struct stat_item {
	char *label;
	const struct unc_metric *metric; /* NULL: an event */
	int *id;                         /* session's item for each column; -1: none */
	char **name;                     /* its full name */
	struct stat_number *number;      /* what the next report shows, for each column */
	bool missed, without_value;      /* why numbers were not shown, if any were not */
};

struct stat_job {
	struct args args;
	bool per_socket, per_unit;
	const char *separator; /* NULL: text for people, or JSON */
	const char *output;    /* file; NULL: stdout */
	double interval;       /* seconds between reports; 0: one report at the end */
	uint64_t every;        /* a report whenever the first event has counted so much; 0: none */
	bool freeze;           /* the hardware may freeze sockets then */
	double duration;       /* seconds; 0: no limit */
	char **command;        /* NULL: none */

	struct unc_platform *platform;
	struct unc_session *session;
	int passes;
	size_t columns; /* sockets, or 1 */
	struct stat_item *item;
	size_t n_items;
	struct unc_value *value;
	size_t n_values;
	struct table *table;
	struct unc_overflow overflow; /* what ended the interval of the next report; id -1: nothing */
	bool started;    /* a report has been printed */
	double reported; /* time of the last report, seconds since start */
};

/* stat_run.c: counts and reports. Returns the exit status. */
int stat_run(struct stat_job *);

/* stat_print.c: reads what the running pass has counted. 0, or the exit status. */
int stat_collect(struct stat_job *);
/* Looks whether the interval of `every` has ended, and if so collects it (job->overflow). */
int stat_poll(struct stat_job *);
/* Prints what was collected since the last report. 0, or the exit status. */
int stat_report(struct stat_job *);
/* What stands behind the last report: why values are missing. */
void stat_close_report(struct stat_job *);

#endif
