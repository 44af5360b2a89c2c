/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command verify: traffic that is known, and whether counters tell it.
 *
 *   cmd_verify.c      what is checked in which order, the report
 *   verify_rows.c     the table of what is counted while something is moved
 *   verify_units.c    checks of units: clocks, filters
 *   verify_counters.c checks of counters: two at once, their ends, what a session leaves
 *   verify_count.c    what probes count while something is moved
 *   verify_found.c    what was found
 *   verify_load.c     who moves bytes on hardware
 *   verify_told.c     who tells a simulated machine that they were moved
 */
#ifndef UNC_TOOL_VERIFY_H
#define UNC_TOOL_VERIFY_H

#include "tool.h"

/* ---- what is moved */

struct flow {
	enum flow_kind { IDLE, READS, WRITES, DEVICE /* writes to memory */ } kind;
	int from; /* socket of the threads, or of the device */
	int home; /* socket of the memory, */
	int node; /* and which of its nodes, from 1 on; 0: evenly on all of them */
};

struct moved {
	double bytes, seconds;
};

struct verify;

/* Who moves. Which of them, is decided once. */
struct mover {
	/* Gets ready for such traffic, before anything is counted. Why it cannot be made here;
	 * NULL: it can. Static text. */
	const char *(*ready)(struct verify *, const struct flow *);
	/* Moves for a while, or lets a while pass; false, with v->why: it could not. */
	bool (*move)(struct verify *, const struct flow *, struct moved *);
	/* How many nodes the memory of a socket has; 0: it is not known. */
	int (*nodes)(struct verify *, int socket);
	void (*end)(struct verify *);
};
extern const struct mover verify_load, verify_told;
/* The text of a simulated machine that is told what is moved by the file *fd, of which v->of_mover
 * points to the number later; NULL: there can be no such file. free() it. */
char *verify_told_machine(const char *sim, int *fd);

/* ---- what is found */

struct verify {
	const struct args *args;
	struct unc_platform *platform;
	const struct mover *mover;
	void *of_mover;
	int sockets;
	char *why; /* the sentence of the last thing that could not be had */
	struct finding {
		char *check, *expected, *measured, *reason;
		enum verdict { RIGHT, WRONG, NOT_JUDGED } verdict;
	} * finding;
	size_t n;
};

/* Signals that end a process wait from now on. */
void verify_block_signals(void);
/* The one that asks to end; 0: none does. */
int verify_stopped(void);
/* v->why is this; false. */
bool verify_fail(struct verify *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A finding, which gets `check`: a value in a range. NAN: it is not judged, as v->why says.
 * unit: as of a metric, or "%"; what: a value that is not in it would mean, with the row in
 * doubt; it is freed. */
void verify_judge(struct verify *, char *check, double value, double least, double most,
		  const char *unit, char *what);

/* More about the last finding, whatever it was; it is freed. */
void verify_note(struct verify *, char *text);

/* ---- verify_count.c */

/* An event or a metric that is counted at one place after the other. */
struct probe {
	const char *text;
	unsigned per; /* UNC_EACH_SOCKET, UNC_EACH_UNIT */
	bool beside;  /* in a second session, at the same time */
	bool weighed; /* with what others read of memory in the same run */
	bool chosen;  /* on this counter, */
	int counter;
	uint64_t at;                   /* from this value on; 0: any */
	struct unc_platform *platform; /* NULL: the verify's */
	/* what came out */
	bool counted;       /* it was, in this run or the one before */
	int first;          /* of the session's items in this run; -1: it is not of it */
	char *why;          /* it could not; NULL: it could */
	struct moved moved; /* while it was */
	double others[2]; /* what others moved, before and after, as a share of that: if weighed */
	size_t n;
	struct place {
		int socket, index;
		double value;   /* a count or a metric */
		double seconds; /* in which it was measured */
		double total;   /* since the start */
		double base
			[2]; /* what others make it count in a second, before the flow and after */
		char *why;   /* there is no value; NULL: there is */
	} * place;
	struct held { /* the counter that begins `at`, of place[0], at the end */
		char reg[16];
		const struct unc_unit *unit;
		uint64_t value;
		bool known;
	} held;
};
/* Counts all of them during as many such flows as they need; false: nothing could be moved. */
bool verify_count(struct verify *, const struct flow *, struct probe *, size_t n);
void verify_free(struct probe *, size_t n);
/* Event number i that a metric is made of; NULL: there is none more. */
const char *verify_need(struct verify *, const char *metric, size_t i);
/* Value at a socket, in all its units; NAN, with v->why: there is none. */
double verify_value(struct verify *, const struct probe *, int socket);
/* What others move, from its shares before and after: in the mean, and how far that may be off.
 * false, with v->why: they move too much for anything to be judged. */
bool verify_weigh(struct verify *, const double others[2], double *mean, double *blur);
/* The value without what others have made it count, as a share of the bytes that were moved, of
 * which it counts one in `scale`; *blur: how far others may have changed it. NAN: they move too
 * much. */
double verify_share(struct verify *, const struct probe *, int socket, double scale, double *blur);
/* Such reads on socket 0 as can be made: else none. */
struct flow verify_some(struct verify *);
/* The unit of an operation; NULL: it is not of this machine. */
const struct unc_unit *verify_unit(const struct unc_platform *, const struct unc_operation *);
/* What a register of a unit holds: held->known. */
void verify_register(struct verify *, struct held *);

/* ---- checks */

void verify_rows(struct verify *);
void verify_clocks(struct verify *);
void verify_nodes(struct verify *);
void verify_filters(struct verify *);
void verify_counters(struct verify *);
void verify_restored(struct verify *);
void verify_killed(struct verify *);
/* An event that counts the clock of its unit; at or behind *index. NULL: there is none more. */
const struct unc_event *verify_clock(struct verify *, size_t *index);
/* All units of a socket count the same, within a share. */
void verify_agree(struct verify *, const struct probe *, int socket, double least, double most);

#endif
