/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of the ledger: who may open it, its locks, and its bytes. What is in it comes from
 * whoever may write there, so nothing of it is believed before it is checked (ledger.c).
 */
#ifndef UNC_LEDGER_FILE_H
#define UNC_LEDGER_FILE_H

#include "host/fs.h"

enum { UNC_LEDGER_HOLDERS = 1024 }; /* sessions that run at a time, on the node */

/* Opens DIR/ledger, makes it where that may be done; returns the descriptor. `make`: the folder as
 * well. UNC_ERR_*: what is wrong, and what would be right. */
int unc_ledger_file_open(const char *dir, bool make, struct unc_error *err);
/* The same for a file beside it that this user alone may write. */
int unc_ledger_file_own(const char *dir, const char *name, bool make, struct unc_error *err);
/* Whether somebody has removed it: others make another one. */
bool unc_ledger_file_removed(int fd);
/* Takes a file that cannot be used out of the way, if no session holds anything in it; its lock
 * is held. True: it is gone. */
bool unc_ledger_file_discard(int fd, const char *dir);

/*
 * Locks of the open file description: the kernel gives them back when the last process that has it
 * is gone. 0, or the errno value; EAGAIN: somebody else has it.
 * That of the node is of a description of its own, opened for the turn, so that children that are
 * there already do not keep it when their parent dies: unc_ledger_file_turn() gives one, closed with
 * the lock, or where it cannot that of the file itself.
 */
int unc_ledger_file_turn(int fd);
int unc_ledger_file_lock(int turn);
/* The same, and waits: UNC_LEDGER_PATIENCE seconds while the number at this place of the file stays
 * the same, UNC_LEDGER_MOST in all. EINTR: a signal asks the process to end. */
int unc_ledger_file_await(int turn, uint64_t at);
enum { UNC_LEDGER_PATIENCE = 10, UNC_LEDGER_MOST = 60 };
void unc_ledger_file_unlock(int fd, int turn);
/* One for each holder, as long as it runs. */
int unc_ledger_file_hold(int fd, unsigned holder);
void unc_ledger_file_drop(int fd, unsigned holder);
/* Whether somebody else has that of a holder. */
bool unc_ledger_file_held(int fd, unsigned holder);

/* 0, or the errno value; ENODATA: the file ends before. Never beyond the process's limit of file
 * sizes, which would kill it (EFBIG). */
int unc_ledger_file_get(int fd, void *buf, size_t size, uint64_t at);
int unc_ledger_file_put(int fd, const void *buf, size_t size, uint64_t at);

#endif
