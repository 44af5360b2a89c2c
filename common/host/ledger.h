/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger: which register was programmed by which running sessions, and what was found there.
 * One file of the node, for all processes that may write it; in memory where there is none. Sessions
 * of one process use it in the same way.
 *
 * A session is a holder, with a lock that the kernel drops when its process dies: one lock tells of
 * all its registers, and a name beside it who it was. A record names a register by its address, so
 * that processes with different tables agree. It is written before the register is, and goes after
 * what was found is back: whenever a process dies, there is a record of what it has left.
 *
 * Everything but opening and closing is done under the lock. What the file holds comes from whoever
 * may write it: it leads to no write that the gate (access.h) would not let pass.
 */
#ifndef UNC_LEDGER_H
#define UNC_LEDGER_H

#include "base/reg.h"
#include "host/process.h"
#include "host/ledger_file.h"

struct unc_ledger;

/* A register, whoever looks. */
struct unc_ledger_key {
	uint64_t address;
	uint32_t place; /* MSR: the package; of a space of threads: the CPU; else 0 */
	uint32_t space; /* enum unc_space */
};

enum unc_ledger_role {
	UNC_HELD_CONTROL = 1,
	UNC_HELD_FILTER,
	UNC_HELD_UNIT,   /* unit control: the unit was let go, or frozen */
	UNC_HELD_SOCKET, /* what lets a socket go on: its holder may freeze it */
	UNC_HELD_ROLES
};

struct unc_ledger_record {
	struct unc_ledger_key key;
	uint32_t role;  /* enum unc_ledger_role; 0: no record */
	uint32_t alone; /* it is not for others to share */
	uint64_t found; /* by the first holder */
	uint64_t value; /* as programmed */
	uint64_t mask;  /* of a filter: the bits that were chosen */
	uint64_t since; /* programmed, ns since 1970 */
	int64_t pid;    /* of who has programmed it: */
	char command[UNC_COMMAND_MAX];
	uint64_t lent;    /* what it holds for moments; 0: nothing else */
	uint64_t rest[5]; /* 0 */
	uint64_t holder[UNC_LEDGER_HOLDERS / 64];
};

/* A holder, as far as it is known. */
struct unc_ledger_holder {
	struct unc_process process;
	uint64_t since; /* ns since 1970 */
};

/* One in memory; NULL: out of memory. Nobody beside this process is known. */
struct unc_ledger *unc_ledger_new(void);
void unc_ledger_free(struct unc_ledger *);
/*
 * From now on the file of DIR; `make`: the folder may be made. No session of ours may run. On error
 * it stays in memory, and unc_ledger_reason() is the sentence.
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
/* It ends. Records that it holds still are of the dead. */
void unc_ledger_leave(struct unc_ledger *, unsigned holder);
/* The same, without the lock: as if its process had died. */
void unc_ledger_abandon(struct unc_ledger *, unsigned holder);

/* package: physical id of the socket. */
struct unc_ledger_key unc_ledger_key(const struct unc_reg *, int package);
/* NULL: there is none. It stays until a record is added, or the lock is given up. */
struct unc_ledger_record *unc_ledger_find(struct unc_ledger *, const struct unc_ledger_key *);
/* Writes a record that was changed, or a new one. Before this returns nothing may be programmed by
 * it. Where the file has no room only sessions of ours are known from then on. UNC_ERR_IO. */
int unc_ledger_put(struct unc_ledger *, const struct unc_ledger_record *, struct unc_error *err);
/* Takes it away. */
void unc_ledger_remove(struct unc_ledger *, struct unc_ledger_record *);
/* Record i; *n: how many there are. One of role 0 is none. */
struct unc_ledger_record *unc_ledger_at(struct unc_ledger *, size_t i);
size_t unc_ledger_count(const struct unc_ledger *);

enum { UNC_LEDGER_NOBODY = UNC_LEDGER_HOLDERS };
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
/* The first living holder of a record from number `first` on, other than `but`;
 * UNC_LEDGER_NOBODY. */
unsigned unc_ledger_living(struct unc_ledger *, const struct unc_ledger_record *, unsigned first,
			   unsigned but);
/* Who that is. */
int unc_ledger_who(struct unc_ledger *, unsigned holder, struct unc_ledger_holder *out);

#endif
