/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the ledger: ledger.c opens and locks it, ledger_holders.c knows who runs, ledger_records.c has
 * the records. Calls go in this order only. */
#ifndef UNC_LEDGER_INSIDE_H
#define UNC_LEDGER_INSIDE_H

#include <limits.h>

#include "host/ledger.h"

/* ---- layout of the file. Where locks are, and this header, stays the same in every version. */

#define MAGIC 0x4c4544474552554eu
enum { LAYOUT = 1, MAX_RECORDS = 16384, BUCKETS = 1024 };

struct header {
	uint64_t magic;
	uint32_t version, holder_size, record_size, n_holders;
	uint64_t changes;   /* turns in which records were changed */
	uint64_t turn;      /* how often the lock was taken; by whom: */
	uint32_t n_records; /* in use, or free again */
	int32_t pid;
	char command[UNC_COMMAND_MAX];
	uint64_t rest[8];
};

struct slot { /* a holder in the file; pid 0: free */
	int64_t pid;
	uint64_t start, space, since;
	char command[UNC_COMMAND_MAX];
	uint64_t clock; /* 0 in files of earlier versions */
	uint64_t rest;
};

enum { SLOTS_AT = 4096, RECORDS_AT = SLOTS_AT + UNC_LEDGER_HOLDERS * sizeof(struct slot) };

/* Neither crosses a page, so that who is killed in the middle of a write leaves the old or the new
 * one. */
_Static_assert(sizeof(struct slot) == 64 && sizeof(struct unc_ledger_record) == 256 &&
		       sizeof(struct header) == 128,
	       "sizes in the file");

/* Records of one kind, found by their keys. */
struct book {
	struct unc_ledger_record *record;
	uint32_t *next; /* in its bucket: index + 1 */
	size_t n, cap;
	uint32_t bucket[BUCKETS];
};

enum life { UNKNOWN, ALIVE, DEAD };

struct unc_ledger {
	int fd;   /* -1: in memory */
	int turn; /* has the lock, while it is held; else -1 */
	int kept; /* given up while sessions of ours ran, which it still tells of; else -1 */
	char dir[PATH_MAX];
	struct unc_error reason; /* why in memory */
	struct unc_process self;
	struct header header; /* as read when the lock was taken */
	bool changed;         /* in this turn */
	bool lost;            /* broken while sessions of ours ran: what others hold stays theirs */
	struct book node, own; /* `own`: registers that each process has for itself */
	bool mine[UNC_LEDGER_HOLDERS];
	size_t n_mine;
	struct slot slot[UNC_LEDGER_HOLDERS]; /* of those that are mine */
	uint8_t life[UNC_LEDGER_HOLDERS];     /* as found in this turn: enum life */
};

/* ledger_records.c */
void unc_book_free(struct book *);
void unc_book_index(struct book *);
/* Room for n records; false: out of memory, and it is as before. */
bool unc_book_reserve(struct book *, size_t n);
/* Nothing is known of others. */
void unc_ledger_begin_anew(struct unc_ledger *);
/* Gives the lock back, if it is held. */
void unc_ledger_end_turn(struct unc_ledger *);
/* The same; from now on only what is in memory is believed. */
void unc_ledger_give_up(struct unc_ledger *);
/* The sentence for an errno value. */
int unc_ledger_fail(const struct unc_ledger *, const char *what, int error, struct unc_error *err);

#endif
