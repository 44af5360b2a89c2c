/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The record of the node: which register was programmed by which running sessions, and what was
 * found there. In memory where nobody else can be known. Sessions of one process use it in the same
 * way.
 *
 * One file of the node has the lock under which everything but opening and closing is done. What
 * sessions of a user have programmed stands in a file of that user, which nobody else may write:
 * its owner is the kernel's only word on who has written it. All members of the group read all of
 * them.
 *
 * A session is a holder, with a lock that the kernel drops when its process ends: one lock tells of
 * all its registers, and a name beside it who it was. A record names a register by its address, so
 * that processes with different tables agree. It is written before the register is, and goes after
 * what was found is back: whenever a process ends, there is a record of what it has left.
 *
 * Anybody's records are good for sharing and showing: whoever can write them can keep others from
 * counters, or have what others left stay, no more. What is restored in a register is believed of
 * this user's own records and of root's alone. And none leads to a write that the gate (access.h)
 * would not let pass.
 */
#ifndef UNC_LEDGER_H
#define UNC_LEDGER_H

#include <sys/types.h>

#include "base/error.h"
#include "base/reg.h"
#include "host/process.h"

struct unc_ledger;

enum { UNC_LEDGER_HOLDERS = 1024 }; /* sessions of a user that run at a time, on the node */

/* A register, whoever looks. */
struct unc_ledger_key {
	uint64_t address;
	uint32_t place; /* MSR: the package; of a space of threads: the CPU; else 0 */
	uint32_t space; /* enum unc_space */
};

enum unc_ledger_role {
	UNC_HELD_CONTROL = 1,
	UNC_HELD_FILTER,
	UNC_HELD_UNIT,     /* unit control: the unit was let go, or frozen */
	UNC_HELD_GONE = 5, /* by nobody: what others have recorded of it before is done with */
	UNC_HELD_ROLES
};

struct unc_ledger_record {
	struct unc_ledger_key key;
	uint32_t role;  /* enum unc_ledger_role; 0: no record */
	uint32_t pad;   /* 0 */
	uint64_t found; /* by the first holder */
	uint64_t value; /* as programmed */
	uint64_t mask;  /* of a filter: the bits that were chosen */
	uint64_t since; /* programmed, ns since 1970 */
	int64_t pid;    /* of who has programmed it: */
	char command[UNC_COMMAND_MAX];
	uint64_t rest[6]; /* 0 */
	uint64_t holder[UNC_LEDGER_HOLDERS / 64];
};

/* A holder, as far as it is known; as it stands in the file, where pid 0 is nobody. */
struct unc_ledger_holder {
	struct unc_process process;
	uint64_t since; /* ns since 1970 */
	uint64_t rest;  /* 0 */
};

/* One in memory; NULL: out of memory. Nobody beside this process is known. */
struct unc_ledger *unc_ledger_new(void);
void unc_ledger_free(struct unc_ledger *);
/*
 * From now on the files of DIR; `make`: the folder may be made. No session of ours may run. On
 * error it stays in memory, and unc_ledger_reason() is the sentence.
 */
int unc_ledger_open(struct unc_ledger *, const char *dir, bool make, struct unc_error *err);
/* Why nobody else is known; "": all are, or there is nobody. */
const char *unc_ledger_reason(const struct unc_ledger *);

/*
 * Nobody looks at registers, or programs them, while another one does. Waits for others, as long as
 * they take turns and not for ever, or until the process is asked to end. Not `wait`: UNC_ERR_BUSY
 * at once. What was waited for in vain, or is found to be broken, is said by unc_ledger_reason(),
 * and only sessions of ours are known from then on.
 */
int unc_ledger_lock(struct unc_ledger *, bool wait, struct unc_error *err);
void unc_ledger_unlock(struct unc_ledger *);

/* A session begins: *holder is its number. UNC_ERR_BUSY: too many of this process run. */
int unc_ledger_enter(struct unc_ledger *, unsigned *holder, struct unc_error *err);
/* It ends. Records that it holds still are orphaned. */
void unc_ledger_leave(struct unc_ledger *, unsigned holder);
/* The same, without the lock: as if its process had died. */
void unc_ledger_abandon(struct unc_ledger *, unsigned holder);

/* ns since 1970 */
uint64_t unc_ledger_today(void);
/* package: physical id of the socket. */
struct unc_ledger_key unc_ledger_key(const struct unc_reg *, int package);
/* What is known best of a register: the record of somebody who lives before one that is orphaned,
 * one that is believed before others. NULL: there is none. It stays until a record is added, or the
 * lock is given up. */
struct unc_ledger_record *unc_ledger_find(struct unc_ledger *, const struct unc_ledger_key *);
/* That of this user's sessions. */
struct unc_ledger_record *unc_ledger_own(struct unc_ledger *, const struct unc_ledger_key *);
/* Whether what a record tells of a register may be restored; else only if the user asks for it, who
 * is to be told whose it is. */
bool unc_ledger_believed(struct unc_ledger *, const struct unc_ledger_record *);
uid_t unc_ledger_owner(struct unc_ledger *, const struct unc_ledger_record *);
/*
 * Asks which holders of records live, until `most` of each user were found that do: others each
 * time, so that what ended processes have left is found soon by those who start, however many run.
 * Whether all were asked.
 */
bool unc_ledger_ask(struct unc_ledger *, unsigned most);
/* Whether there may be records of sessions that are known to have ended: asked or found. */
bool unc_ledger_any_ended(const struct unc_ledger *);
/* The record of a register that is left of such, and of which nobody else has one; NULL. */
struct unc_ledger_record *unc_ledger_orphan(struct unc_ledger *, const struct unc_ledger_key *);
/* Writes a record of this user that was changed, or a new one. Before this returns nothing may be
 * programmed by it. Where the file has no room only sessions of ours are known from then on.
 * UNC_ERR_IO. */
int unc_ledger_put(struct unc_ledger *, const struct unc_ledger_record *, struct unc_error *err);
/* What is put and taken away from now on is written by unc_ledger_write(), all at once, before
 * which nothing may be programmed by it. UNC_ERR_IO: not all was. */
void unc_ledger_gather(struct unc_ledger *);
int unc_ledger_write(struct unc_ledger *, struct unc_error *err);
/* Takes it away, or notes of one of another user that it tells nothing any more. */
void unc_ledger_remove(struct unc_ledger *, struct unc_ledger_record *);
/* A session of ours holds it no more. It stays, orphaned, if what was found there could not be
 * restored (`left`), or if nobody of those who hold it still will do so. */
void unc_ledger_release(struct unc_ledger *, struct unc_ledger_record *, unsigned holder,
			bool left);
/* Record i of all; one of role 0 is none. */
struct unc_ledger_record *unc_ledger_at(struct unc_ledger *, size_t i);
size_t unc_ledger_count(const struct unc_ledger *);

/* Those of this user have numbers below UNC_LEDGER_HOLDERS; others while the lock is held. */
enum { UNC_LEDGER_NOBODY = INT32_MAX };
static inline bool unc_ledger_holds(const struct unc_ledger_record *r, unsigned holder)
{
	return r->holder[holder / 64] >> holder % 64 & 1;
}
static inline void unc_ledger_set(struct unc_ledger_record *r, unsigned holder, bool holds)
{
	uint64_t bit = (uint64_t)1 << holder % 64;

	r->holder[holder / 64] =
		holds ? r->holder[holder / 64] | bit : r->holder[holder / 64] & ~bit;
}
/* The first living holder of the register of a record from number `first` on, other than `but`, in
 * anybody's records; UNC_LEDGER_NOBODY. */
unsigned unc_ledger_living(struct unc_ledger *, const struct unc_ledger_record *, unsigned first,
			   unsigned but);
/* Who that is. */
int unc_ledger_who(struct unc_ledger *, unsigned holder, struct unc_ledger_holder *out);

#endif
