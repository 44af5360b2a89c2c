/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside the ledger. ledger_file.c opens files and locks their bytes, ledger_book.c has what stands
 * in that of one user, ledger.c takes turns and knows the books of all users, ledger_records.c what
 * the records tell and who lives. Calls go to those before.
 */
#ifndef UNC_LEDGER_INSIDE_H
#define UNC_LEDGER_INSIDE_H

#include <dirent.h>
#include <limits.h>

#include "host/ledger.h"

/* ---- layout of the files. Where locks are, and this header, stays the same in every version. */

#define MAGIC 0x4c4544474552554eu
enum { LAYOUT = 2, MAX_RECORDS = 16384, PER_PAGE = 16, BUCKETS = 1024 };

struct header {
	uint64_t magic;
	uint32_t version, holder_size, record_size, n_holders;
	uint64_t changes; /* of a user's file: turns in which records were changed, from the time on
			       when it was made */
	uint64_t turn;    /* of the node's file: how often the lock was taken; by whom: */
	uint32_t n_records; /* in use, or free again */
	int32_t pid;
	char command[UNC_COMMAND_MAX];
	uint64_t rest[8];
};

enum {
	SLOTS_AT = 4096,
	RECORDS_AT = SLOTS_AT + UNC_LEDGER_HOLDERS * sizeof(struct unc_ledger_holder),
};

/* Bytes that are locked: of the node's file, by whose turn it is, and by all who use it; of a
 * user's file one for each holder, as long as it runs. */
enum { LOCK_TURN, LOCK_HOLDERS };

/* None crosses a page, so that who is killed in the middle of a write leaves the old or the new
 * one. */
_Static_assert(sizeof(struct unc_ledger_holder) == 64 && sizeof(struct unc_ledger_record) == 256 &&
		       sizeof(struct header) == 128,
	       "sizes in the file");

enum { UNC_LEDGER_NODE = -1 }; /* in place of a user */
enum { UNC_LEDGER_NAME = 20 };
struct ledger_file {
	int fd; /* -1: not open */
	int64_t user;
	char path[200 + 1 + UNC_LEDGER_NAME]; /* for sentences; where it was opened last */
};

enum life { UNKNOWN, ALIVE, ENDED };

/* The records of one user, found by their keys. */
struct book {
	struct ledger_file file; /* open in a turn; that of this user as long as sessions run */
	bool seen;               /* in this turn */
	bool changed;            /* by us, in this turn */
	bool gathers;            /* what is changed is written later, by unc_book_write(); */
	bool dirty;              /* something is */
	struct header header; /* as read in the last turn; all 0: what is here stands in no file */
	struct unc_ledger_record *record;
	uint32_t *next; /* in its bucket: index + 1 */
	size_t n, cap;
	size_t free; /* no place before is */
	/* Those that a record may have, and whether one may have none. */
	uint64_t holders[UNC_LEDGER_HOLDERS / 64];
	unsigned end; /* none from this number on */
	bool unheld;
	uint32_t bucket[BUCKETS];
	bool unwritten[MAX_RECORDS / PER_PAGE]; /* of each page: records there were changed */
	uint8_t life[UNC_LEDGER_HOLDERS];       /* as found in this turn: enum life */
};

struct unc_ledger {
	struct ledger_file node; /* not open: in memory */
	int turn;                /* has the lock, while it is held; else -1 */
	uint64_t turns;          /* of the node, with this one */
	char dir[PATH_MAX];
	DIR *folder;             /* in a turn */
	struct unc_error reason; /* why in memory */
	struct unc_process self;
	bool lost;          /* broken while sessions of ours ran: what others hold stays theirs */
	struct book own;    /* of this user */
	struct book each;   /* registers that each process has for itself: in no file */
	struct book **user; /* other users */
	size_t n_users;
	uint64_t since[UNC_LEDGER_HOLDERS]; /* as holders of ours are told; 0: it is none */
	size_t n_mine;
};

/* ---- ledger_file.c */

/* Opens the folder, made if `make`, for the turn. */
int unc_ledger_folder(struct unc_ledger *, bool make, struct unc_error *err);
/* Opens DIR/ledger, which all of its group may write, or the file of a user, which others may read;
 * `make`: it may be made. */
int unc_ledger_file_open(const struct unc_ledger *, struct ledger_file *, bool make,
			 struct unc_error *err);
void unc_ledger_file_close(int *fd);
/* UNC_ERR_NOT_FOUND: somebody has removed it, and others make another one. */
int unc_ledger_file_check(const struct ledger_file *, struct unc_error *err);
/* Empties a file that cannot be used, if no session holds anything in it; the lock of the node is
 * held. */
bool unc_ledger_file_reset(int fd);

/*
 * Locks of the open file description: the kernel gives them back when the last process that has it
 * is gone. 0, or the errno value: EAGAIN: somebody else has it; EINTR: a signal asks the process to
 * end, which waits. That of the node is of a description of its own, opened for the turn, so that
 * children that are there already do not keep it when their parent dies.
 */
int unc_ledger_file_turn(int fd, bool wait, int *turn);
void unc_ledger_file_end(int fd, int *turn);
int unc_ledger_file_lock(int fd, unsigned i, short type);
/* Whether somebody else has that of a holder: only who may write the file can. */
bool unc_ledger_file_held(int fd, unsigned holder);

/* Never beyond the process's limit of file sizes, which would kill it (EFBIG). */
int unc_ledger_file_put(const struct ledger_file *, const void *buf, size_t size, uint64_t at,
			struct unc_error *err);
/* The sentence for an errno value. */
int unc_ledger_fail(const struct ledger_file *, const char *what, int error, struct unc_error *err);

/* ---- ledger_book.c */

extern const struct header unc_ledger_new_header;
/* *h is as it is in the file; all 0: nothing has been written there yet. */
int unc_ledger_header(const struct ledger_file *, struct header *h, struct unc_error *err);
/* What stands in a file that is open; `made`: there is a header. */
int unc_book_read(struct book *, bool made, struct unc_error *err);
/* Things of one size from a place on: 0 where the file has not all of one. 0, or the errno value. */
int unc_book_read_all(const struct book *, void *things, size_t n, size_t size, uint64_t at);
struct unc_ledger_record *unc_book_find(struct book *, const struct unc_ledger_key *);
/* Whether a record of another key has a place. */
bool unc_book_has_place(struct book *);
/* Writes a record, or a new one; a book that gathers only keeps it. UNC_ERR_IO, UNC_ERR_MEMORY: it
 * is as before. */
int unc_book_put(struct book *, const struct unc_ledger_record *, struct unc_error *err);
void unc_book_erase(struct book *, struct unc_ledger_record *);
/* Writes all that was changed; it gathers no more. UNC_ERR_IO. */
int unc_book_write(struct book *, struct unc_error *err);
/* Closes it, and knows nothing of it. */
void unc_book_empty(struct book *);
void unc_book_free(struct book *);

/* ---- ledger.c */

/* The file of this user, made anew where there is none. */
int unc_ledger_own_file(struct unc_ledger *, struct unc_error *err);
/* Gives the lock back, if it is held. From now on only what is in memory is believed. */
void unc_ledger_give_up(struct unc_ledger *);
/* Nothing is known of others. */
void unc_ledger_begin_anew(struct unc_ledger *);

/* ---- ledger_records.c */

/* The first of some holders of a book from number i on that lives, or, if nobody `asks`, of which
 * that is not known; UNC_LEDGER_HOLDERS: none. */
unsigned unc_book_living(struct unc_ledger *, struct book *, const uint64_t *holders, unsigned i,
			 bool asks);

#endif
