/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The journal: which registers running sessions have programmed, and what they held before, kept as
 * a database keeps its rollback journal. It knows no unit, and writes no register.
 *
 * An entry is some bits of a register. Who programs them writes the entry first, then the register;
 * the last who counts by them writes the register back, then clears the entry. So whatever a killed
 * process leaves, there is an entry of it. Nothing that is written tells who counts: each process
 * has a read lock on the byte of each entry that it counts by, which the kernel drops with it.
 *
 * The order is the whole correctness. Under the lock of the node a process takes its lock on the
 * entry, then asks whether anybody else has one, and then believes the entry. Who asks who lives
 * before he takes the lock joins a register that its owner is about to restore.
 *
 * Files, in the folder of the node: `lock`, under which all is done, with whose turn it is and the
 * users that there are; for each user `journal.UID`, which nobody else may write, and so its owner is
 * the kernel's word on who wrote it; and `journal.UID.locks`, which nobody else may open, for who can
 * read a file can have a read lock on it. Entries are joined, restored and cleared by their user
 * alone. Entries of an earlier boot are none. Without a folder the same is kept in memory.
 *
 * Locks are of the open file: a description does not see its own. So sessions of one platform, which
 * have one journal, are counted in memory; and a forked child closes the files, or it would keep the
 * locks of a parent that was killed.
 */
#ifndef UNC_JOURNAL_H
#define UNC_JOURNAL_H

#include "host/process.h"
#include "uncore.h"

struct unc_error;
struct unc_journal;

/* A register, whoever looks: a package, never the number of a CPU or a path. */
struct unc_journal_key {
	uint64_t address;
	uint32_t package, space;
};

struct unc_journal_entry {
	struct unc_journal_key key;
	uint64_t found; /* in the register, before */
	uint64_t value; /* as programmed */
	uint64_t mask;  /* the bits of it that are meant */
	int64_t since;  /* s since 1970 */
	uint64_t start; /* of the process, in clock ticks since boot */
	int32_t pid;    /* of who has programmed it */
	uint32_t space; /* of that number (struct unc_process); 0: the place of the entry is free */
};

enum { UNC_JOURNAL_NONE = 0xffff }; /* in place of the number of an entry */

/* One in memory. NULL: no memory. */
struct unc_journal *unc_journal_new(void);
void unc_journal_free(
	struct unc_journal *); /* NULL too. What is held is as a killed process leaves it */
/*
 * From now on in the files of a folder, unless sessions of this process are in the journal; `make`: the
 * folder may be made. On error it stays in memory: UNC_ERR_NOT_FOUND, UNC_ERR_PERMISSION, UNC_ERR_IO,
 * UNC_ERR_DENIED a folder or file that others could change, UNC_ERR_INVALID another layout, in use.
 */
int unc_journal_open(struct unc_journal *, const char *dir, bool make);
/* Why nobody beside this process is known; "": all are, or there is nobody. */
const char *unc_journal_reason(const struct unc_journal *);

/*
 * The lock of the node, under which all that follows is done, and entries are as the files tell.
 * patience: seconds that one turn may last before UNC_ERR_BUSY names a process that is stopped, where
 * another one has a minute; 0: none is waited for. Of other errors unc_journal_reason() tells.
 */
int unc_journal_lock(struct unc_journal *, unsigned patience, struct unc_error *err);
void unc_journal_unlock(struct unc_journal *);

/* The entries of this user, by number, from 0 to unc_journal_end(); of a register that behind `last`
 * (UNC_JOURNAL_NONE: the first); UNC_JOURNAL_NONE: there is none. */
uint16_t unc_journal_end(const struct unc_journal *);
uint16_t unc_journal_find(struct unc_journal *, const struct unc_journal_key *, uint16_t last);
struct unc_journal_entry *unc_journal_at(struct unc_journal *, uint16_t number);
/* An entry of a register in another user's file that meets `mask` (0: any), and whether somebody may count
 * by it: those by which somebody does come first. */
const struct unc_journal_entry *unc_journal_taken(const struct unc_journal *,
						  const struct unc_journal_key *, uint64_t mask,
						  uint32_t *user, bool *held);

/* Whether anybody counts by an entry. */
bool unc_journal_held(const struct unc_journal *, uint16_t number);
/* Changes by these calls are in the files after unc_journal_write(), or with the end of the turn: before it
 * nothing is programmed. A new entry (pid, start, since and space are filled in), by which a session of this
 * process counts; UNC_JOURNAL_NONE: there is no room. One more session counts by an entry. It was changed. */
uint16_t unc_journal_add(struct unc_journal *, const struct unc_journal_entry *);
void unc_journal_join(struct unc_journal *, uint16_t number);
void unc_journal_put(struct unc_journal *, uint16_t number);
/* UNC_ERR_IO: the files cannot be written, and tell of other sessions of this process. */
int unc_journal_write(struct unc_journal *, struct unc_error *err);
/* Whether only one session counts by it, of this process: where that ends the register is to be restored,
 * and the entry cleared. */
bool unc_journal_last(const struct unc_journal *, uint16_t number);
/* A session ends, and the entry stays as it is. Its place is free. */
void unc_journal_drop(struct unc_journal *, uint16_t number);
void unc_journal_clear(struct unc_journal *, uint16_t number);

#endif
