/* SPDX-License-Identifier: BSD-3-Clause */
/* Verify: what must be counted while a known number of bytes is moved, and what readings say of it. */
#ifndef UNC_TOOL_VERDICT_H
#define UNC_TOOL_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

enum traffic_kind { IDLE, READS, WRITES, DEVICE /* writes to memory */, KINDS };

/* One check. */
struct row {
	const char *name; /* a metric; NULL: clocks of unit types */
	enum traffic_kind kind;
	bool remote;                    /* the memory is that of another socket */
	enum { FROM, HOME, OTHERS } at; /* the socket that must have counted so */
	enum row_of {
		BYTES, /* a share of what was moved */
		LINES, /* the same, of 64 bytes each */
		RATIO, /* from 0 to 1; others have one of their own */
		VALUE, /* in its own unit, whatever is moved and by whom */
		RATE,  /* of a clock: counts in a second */
		UNITS, /* units of the socket by their median: the one that is farthest off */
		PAIR   /* the first value by the second */
	} of;
	double least, most;
	const char *unit;  /* of the values; "%": they are shares */
	const char *means; /* what a value out of bounds would mean */
};
extern const struct row verify_rows[];
extern const size_t verify_n_rows;
/* Clocks by wall time, units by each other, a clock by another of its type. */
extern const struct row verify_clock, verify_units, verify_pair;

/* The values read for a row at one socket during the traffic. */
struct reading {
	const double *value; /* one of the socket; of RATE and UNITS those of its units, sorted */
	size_t n;
	double seconds;   /* that they are of */
	double bytes;     /* that were moved in them */
	double others[2]; /* what others count in the same time, before and after, as a share of
	                     * what was moved */
	const char *why;  /* why there is no value; NULL: there is one */
};

struct verdict {
	enum { RIGHT, WRONG, NOT_JUDGED } is;
	double value, least, most; /* in the row's unit; of BYTES and LINES, what was moved */
	const char *why;           /* why the row is not judged */
};
/* Pure. BYTES, LINES, RATIO and VALUE beside others that move too much, or whose traffic changes, are
 * not judged; else the bounds are wider by as much as it changed. */
struct verdict verify_judge(const struct row *, const struct reading *);

#endif
