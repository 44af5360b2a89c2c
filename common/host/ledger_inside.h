/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside the ledger. ledger_file.c opens files and locks their bytes, ledger_books.c has what
 * stands in those of all users, ledger.c locks the node, ledger_records.c knows what the records
 * tell and who lives, ledger_events.c notes the kernel's events. Calls go to those before: each of
 * the last three to the first two, ledger_events.c to ledger_records.c.
 */
#ifndef UNC_LEDGER_INSIDE_H
#define UNC_LEDGER_INSIDE_H

#include <dirent.h>
#include <limits.h>

#include "host/ledger.h"

/* ---- layout of the files. Where locks are, and this header, stays the same in every version. */

#define MAGIC 0x4c4544474552554eu
enum { LAYOUT = 2, MAX_RECORDS = 16384, BUCKETS = 1024 };

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

/* Behind the records each of them has a block for what is told of a group of the kernel's events:
 * the events, and a row of descriptors for each holder. Most of it is a hole. */
enum {
	SLOTS_AT = 4096,
	RECORDS_AT = SLOTS_AT + UNC_LEDGER_HOLDERS * sizeof(struct unc_ledger_holder),
	BLOCKS_AT = RECORDS_AT + MAX_RECORDS * sizeof(struct unc_ledger_record),
	ROW = 64,
	ROWS_AT = 512, /* in a block */
	BLOCK = ROWS_AT + UNC_LEDGER_HOLDERS * ROW
};

/* None crosses a page, so that who is killed in the middle of a write leaves the old or the new
 * one. */
_Static_assert(sizeof(struct unc_ledger_holder) == 64 && sizeof(struct unc_ledger_record) == 256 &&
		       sizeof(struct header) == 128,
	       "sizes in the file");

enum life { UNKNOWN, ALIVE, ENDED };

/* The records of one user, found by their keys. */
struct book {
	int fd; /* of the user's file, in a turn; -1: not open */
	uid_t owner;
	bool seen;            /* in this turn */
	struct header header; /* as read in the last turn; all 0: never */
	struct unc_ledger_record *record;
	uint32_t *next; /* in its bucket: index + 1 */
	size_t n, cap;
	uint32_t bucket[BUCKETS];
	uint8_t life[UNC_LEDGER_HOLDERS]; /* as found in this turn: enum life */
};

struct unc_ledger {
	int fd;   /* of the node's file; -1: in memory */
	int turn; /* has the lock, while it is held; else -1 */
	char dir[PATH_MAX];
	struct unc_error reason; /* why in memory */
	struct unc_process self;
	bool changed;       /* our file, in this turn */
	bool lost;          /* broken while sessions of ours ran: what others hold stays theirs */
	struct book own;    /* of this user: its file is open as long as sessions of ours run */
	struct book each;   /* registers that each process has for itself: in no file */
	struct book **user; /* other users, root first */
	size_t n_users;
	bool mine[UNC_LEDGER_HOLDERS];
	size_t n_mine;
	struct unc_ledger_holder holder[UNC_LEDGER_HOLDERS]; /* those that are mine */
	size_t n_events; /* groups of the kernel's events that are noted, */
	unsigned keeper; /* as those of this holder */
};

/* ---- ledger_file.c. All have the sentence, or return 0 or the errno value. */

enum { UNC_LEDGER_NODE = -1 }; /* in place of a user */
enum { UNC_LEDGER_NAME = 20 };
const char *unc_ledger_file_name(char name[UNC_LEDGER_NAME], int64_t user);

/* The folder, made if `make`, and the next user in it that has a file. */
int unc_ledger_folder(const char *dir, bool make, struct unc_error *err);
bool unc_ledger_folder_next(DIR *, uid_t *user);
/* Opens DIR/ledger, which all of its group may write, or the file of a user, which others may read;
 * `make`: it may be made. Returns the descriptor. */
int unc_ledger_file_open(int folder, const char *dir, int64_t user, bool make,
			 struct unc_error *err);
void unc_ledger_file_close(int *fd);
/* Whether somebody has removed it: others make another one. */
bool unc_ledger_file_removed(int fd);
/* Empties a file that cannot be used, if no session holds anything in it; the lock of the node is
 * held. */
bool unc_ledger_file_reset(int fd);

/*
 * Locks of the open file description: the kernel gives them back when the last process that has it
 * is gone. EAGAIN: somebody else has it; EINTR: a signal asks the process to end, which waits.
 * That of the node is of a description of its own, opened for the turn, so that children that are
 * there already do not keep it when their parent dies.
 */
int unc_ledger_file_turn(int fd, bool wait, int *turn);
void unc_ledger_file_end(int fd, int *turn);
/* That the node's file is in use, so that nobody discards it. */
void unc_ledger_file_use(int fd, bool uses);
/* One for each holder, as long as it runs. */
int unc_ledger_file_hold(int fd, unsigned holder);
void unc_ledger_file_drop(int fd, unsigned holder);
/* Whether somebody else has that of a holder: only who may write the file can. */
bool unc_ledger_file_held(int fd, unsigned holder);

/* Never beyond the process's limit of file sizes, which would kill it (EFBIG). */
int unc_ledger_file_put(int fd, const void *buf, size_t size, uint64_t at);

/* ---- ledger_books.c */

/* Room for n records; false: out of memory, and it is as before. */
bool unc_book_reserve(struct book *, size_t n);
/* Record i is found by its key from now on, or is none any more. */
void unc_book_add(struct book *, size_t i);
void unc_book_erase(struct book *, size_t i);
struct unc_ledger_record *unc_book_find(struct book *, const struct unc_ledger_key *);
void unc_book_free(struct book *);

/* The files of all users, as they are now. */
int unc_ledger_read(struct unc_ledger *, struct unc_error *err);
/* Tells those who wait for the lock who has it. */
int unc_ledger_write_turn(const struct unc_ledger *, struct unc_error *err);
/* The file of this user, made anew where there is none. */
int unc_ledger_own_file(struct unc_ledger *, struct unc_error *err);
/* Gives the lock back, if it is held. From now on only what is in memory is believed. */
void unc_ledger_give_up(struct unc_ledger *);
/* Nothing is known of others. */
void unc_ledger_begin_anew(struct unc_ledger *);
/* The sentence for an errno value, and for a file that is not there any more. */
int unc_ledger_fail(const struct unc_ledger *, int64_t user, const char *what, int error,
		    struct unc_error *err);
int unc_ledger_fail_removed(const struct unc_ledger *, int64_t user, struct unc_error *err);

/* ---- ledger_records.c */

/* The first living holder of a record of a book from number `first` on; UNC_LEDGER_HOLDERS:
 * none. */
unsigned unc_book_living(struct unc_ledger *, struct book *, const struct unc_ledger_record *,
			 unsigned first);

#endif
