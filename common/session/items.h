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
	struct unc_unit *told; /* for this event alone; NULL: as the platform tells it */
};

struct unc_measure {
	const struct unc_coded *event; /* of its first unit */
	uint32_t *want;                /* of each unit */
	struct unc_missing *missing;
	uint32_t n_wants, n_missing;
	uint16_t pass;
	uint8_t aggregate; /* UNC_AGGREGATE_* or UNC_MEASURE_MEAN */
};

struct unc_session_item {
	struct unc_item *what; /* as it is told */
	struct unc_error
		*lacks;    /* why it cannot be counted there: it has no measures; NULL: it can */
	uint32_t *measure; /* one for an event; one for each reference of a formula */
	uint32_t n_measures;
	struct unc_expr *expr; /* NULL: it is an event */
	double memory_peak;    /* for the formula */
	unsigned units, of;    /* that are measured, that it is about */
	uint32_t only;         /* counter that is all of it: an event of one unit; UINT32_MAX */
	uint64_t waits;        /* bit i: it is measured in pass i, and not always */
	uint64_t seen;     /* of these, those of its interval; all: the last read has ended it */
	uint64_t complete; /* wall time when it was, ns */
	uint64_t interval; /* its last interval: from complete to complete */
	double late, interval_late; /* of its value at the last read */
	unsigned lacked;            /* units that were missing where counting began */
	/* news.c: bit i: UNC_NEWS_* i is told; units that it lacked then; until when it is known to have a mark, ns */
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
/* An event on its units in one pass; node: on those of a NUMA node (-1: of all). On error the caller
 * rolls back. */
int unc_session_add_measure(struct unc_session *, const struct unc_spec *, int node, unsigned pass,
			    int aggregate);
/* The units that an item is about, each once. */
struct unc_item_unit {
	uint32_t instance;
	const struct unc_unit *missing; /* how it is told; NULL: it is measured */
	uint32_t measure, at;           /* the next is looked for from here on */
};
/* The next, of {0} the first; false: there is none. */
bool unc_session_next_unit(const struct unc_session *, const struct unc_session_item *,
			   struct unc_item_unit *);

/* session_add.c. What is named in a text, as an item. Where it cannot be counted (lacks, not NULL)
 * it is there all the same. On error the session is as before. */
int unc_session_add_name(struct unc_session *, const struct unc_name *, const char *text,
			 const struct unc_error *lacks);

#endif
