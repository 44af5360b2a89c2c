/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The journal records which registers running sessions have programmed, and their values before, like
 * the rollback journal of a database. It knows no unit, and writes no register.
 *
 * An entry is some bits of a register. A process writes the entry first, then the register. The last
 * process that uses the entry restores the register, then clears the entry. So everything that a killed
 * process leaves behind has an entry. The files do not say which processes count: each process holds a
 * read lock on the byte of each entry that it uses, and the kernel drops the lock when the process ends.
 *
 * Correctness depends on the order. Under the lock of the node a process locks the entry, then looks for
 * locks of other processes, and only then trusts the entry. A process that looked before it locked could
 * join a register that its owner is about to restore.
 *
 * Files in the folder of the node: `lock` is held during all work; it names the process that has the turn,
 * and all users. Each user has `journal.UID`, which no other user may write, so its owner proves who
 * wrote it; and `journal.UID.locks`, which no other user may open, because a user who can read a file
 * can lock it for reading. Only their user joins, restores and clears entries. Entries of an earlier
 * boot are void. Without a folder the journal is in memory.
 *
 * Locks belong to the open file description, which does not see its own locks. So sessions of one
 * platform, which share a journal, are counted in memory; and a forked child closes the files, or it
 * would keep the locks of a killed parent.
 */
#ifndef UNC_JOURNAL_H
#define UNC_JOURNAL_H

#include "host/process.h"
#include "uncore.h"

struct unc_error;
struct unc_journal;

/* A register, named alike by all processes: by its package, never by the number of a CPU or a path. */
struct unc_journal_key {
	uint64_t address;
	uint32_t package, space;
};

struct unc_journal_entry {
	struct unc_journal_key key;
	uint64_t found; /* value of the register before */
	uint64_t value; /* value as programmed */
	uint64_t mask;  /* the bits of this entry */
	int64_t since;  /* s since 1970 */
	uint64_t start; /* start of the process, in clock ticks since boot */
	int32_t pid;    /* the process that programmed it */
	uint32_t space; /* pid namespace (struct unc_process); 0: the entry is free */
};

enum { UNC_JOURNAL_NONE = 0xffff }; /* no entry */

/* Makes a journal in memory. NULL: out of memory. */
struct unc_journal *unc_journal_new(void);
void unc_journal_free(
	struct unc_journal *); /* may be NULL; used entries are left as by a killed process */
/*
 * Moves the journal to the files of a folder, unless sessions of this process are in it; `make`: the folder
 * may be created. On error the journal stays in memory: UNC_ERR_NOT_FOUND, UNC_ERR_PERMISSION, UNC_ERR_IO,
 * UNC_ERR_DENIED: other users could change the folder or a file, UNC_ERR_INVALID: another layout, in use.
 */
int unc_journal_open(struct unc_journal *, const char *dir, bool make);
/* Returns why entries of other processes are unknown; "": they are known, or there are none. */
const char *unc_journal_reason(const struct unc_journal *);

/*
 * Takes the lock of the node and reads the files. The caller holds it for all calls below.
 * patience: seconds before UNC_ERR_BUSY names an owner of the lock that is stopped; any other owner has a
 * minute; 0: does not wait. Other errors are not returned: unc_journal_reason() has them.
 */
int unc_journal_lock(struct unc_journal *, unsigned patience, struct unc_error *err);
void unc_journal_unlock(struct unc_journal *);

/* The entries of this user have the numbers below unc_journal_end(). unc_journal_find() returns the next
 * entry of a register after `last` (UNC_JOURNAL_NONE: the first); UNC_JOURNAL_NONE: no more. */
uint16_t unc_journal_end(const struct unc_journal *);
uint16_t unc_journal_find(struct unc_journal *, const struct unc_journal_key *, uint16_t last);
struct unc_journal_entry *unc_journal_at(struct unc_journal *, uint16_t number);
/* Returns an entry of a register in another user's file that overlaps `mask` (0: any); *held: a process may
 * be using it. An entry in use comes before an unused one. */
const struct unc_journal_entry *unc_journal_taken(const struct unc_journal *,
						  const struct unc_journal_key *, uint64_t mask,
						  uint32_t *user, bool *held);

/* Whether any process uses an entry. */
bool unc_journal_held(const struct unc_journal *, uint16_t number);
/* These calls add an entry (pid, start, since and space are filled in) that a session of this process uses,
 * add a session to an entry, and note that an entry was changed. UNC_JOURNAL_NONE: the journal is full. The
 * files change with unc_journal_write() or unlocking: program nothing before. */
uint16_t unc_journal_add(struct unc_journal *, const struct unc_journal_entry *);
void unc_journal_join(struct unc_journal *, uint16_t number);
void unc_journal_put(struct unc_journal *, uint16_t number);
/* UNC_ERR_IO: the files cannot be written, and other sessions of this process are in them. */
int unc_journal_write(struct unc_journal *, struct unc_error *err);
/* Whether one session of this process is the only user of an entry: when it ends, the caller restores the
 * register and clears the entry. */
bool unc_journal_last(const struct unc_journal *, uint16_t number);
/* Ends the use of an entry by a session; unc_journal_clear() also deletes the entry. */
void unc_journal_drop(struct unc_journal *, uint16_t number);
void unc_journal_clear(struct unc_journal *, uint16_t number);

#endif
