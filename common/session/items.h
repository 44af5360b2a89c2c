/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside a session: what is measured, and how it is added. */
#ifndef UNC_ITEMS_H
#define UNC_ITEMS_H

#include "encode/expr.h"
#include "encode/name.h"
#include "encode/schedule.h"
#include "platform/platform.h"

struct unc_session;

enum { UNC_MEASURE_MEAN = UNC_AGGREGATE_SOCKET + 1 };

/* A unit that belongs to a measure and cannot be read. */
struct unc_missing {
	uint32_t instance;
	struct unc_unit *told; /* with the reason of this event; NULL: the platform's unit */
};

struct unc_measure {
	const struct unc_coded *event; /* the code of its first unit */
	uint32_t *want;                /* the want of each unit */
	struct unc_missing *missing;
	uint32_t n_wants, n_missing;
	uint16_t pass;
	uint8_t aggregate; /* UNC_AGGREGATE_* or UNC_MEASURE_MEAN */
};

struct unc_session_item {
	struct unc_item *what; /* its description */
	struct unc_error
		*lacks;    /* why it cannot be counted there: it has no measures; NULL: it can */
	uint32_t *measure; /* one for an event; one for each reference of a formula */
	uint32_t n_measures;
	struct unc_expr *expr; /* NULL: it is an event */
	double memory_peak;    /* for the formula */
	unsigned units, of;    /* units that are measured; units of the item */
	uint32_t only;         /* its only counter: an event of one unit; UINT32_MAX */
	uint64_t waits;        /* bit i: it is measured in pass i, and not in every pass */
	uint64_t seen;         /* of these, those of its interval; all: the last read ended it */
	uint64_t complete;     /* wall time of the end of its last interval, ns */
	uint64_t interval;     /* length of its last interval, ns */
	double late, interval_late; /* lateness of its value at the last read */
	unsigned lacked;            /* units that were missing at the start */
	/* news.c: bit i: UNC_NEWS_* i was reported; units missing then; no new report of a mark before, ns */
	unsigned told, told_lacking;
	uint64_t marked_until[UNC_MAX_MARKS];
};

/* session_items.c */
struct unc_checkpoint {
	size_t items, measures, wants;
	unsigned passes;
};

struct unc_checkpoint unc_session_checkpoint(const struct unc_session *);
void unc_session_roll_back(struct unc_session *, struct unc_checkpoint);
struct unc_session_item *unc_session_new_item(struct unc_session *);
/* Adds an event on its units in one pass; node: of this NUMA node (-1: all). On error the caller rolls back. */
int unc_session_add_measure(struct unc_session *, const struct unc_spec *, int node, unsigned pass,
			    int aggregate);
/* A unit of an item; each unit occurs once. */
struct unc_item_unit {
	uint32_t instance;
	const struct unc_unit *missing; /* its description; NULL: it is measured */
	uint32_t measure, at;           /* where the search for the next unit begins */
};
/* Finds the next unit; the first, if all members are 0; false: there is none. */
bool unc_session_next_unit(const struct unc_session *, const struct unc_session_item *,
			   struct unc_item_unit *);

/* session_add.c. Adds what a text names as an item, even if it cannot be counted there (lacks is
 * not NULL). On error the session is as before. */
int unc_session_add_name(struct unc_session *, const struct unc_name *, const char *text,
			 const struct unc_error *lacks);

#endif
