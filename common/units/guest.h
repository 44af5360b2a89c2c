/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a guest of a session does in the life of its units, and what it may do with them. Sampling
 * is one: it ends intervals at overflows.
 */
#ifndef UNC_GUEST_H
#define UNC_GUEST_H

#include "units/claim.h"
#include "units/units.h"

/* What a guest of the session does in the life of its units; its settings are of registers. */
struct unc_guest {
	/* Units are claimed; their settings may still change. On error what it began is left to
	 * `end`. */
	int (*prepare)(void *host, struct unc_error *);
	/* They are about to be programmed. */
	int (*begin)(void *host, struct unc_error *);
	/* Around the first look: holds all, and lets the first interval begin for all at once. */
	int (*hold)(void *host, struct unc_error *);
	int (*go)(void *host, struct unc_error *);
	/* What was found has been restored. */
	int (*release)(void *host, struct unc_error *);
	/* Adds what it writes behind the operations of a phase, once units are prepared. */
	int (*plan)(void *host, enum unc_phase, struct unc_plan *, struct unc_error *);
	/* The last, whatever came of the others. */
	void (*end)(void *host);
	/* Whether it is of the guest that the unit, whose unit control holds this, has frozen;
	 * NULL: that any unit may freeze. */
	bool (*freezes)(const void *host, const struct unc_instance *, uint64_t control);
};

/* socket.c: the unit of a socket that has the socket's status; NULL: none. */
const struct unc_instance *unc_units_ubox(const struct unc_units *, unsigned socket);
/* Whether somebody else counts on a unit of the socket, and a freeze would be his too: 1 or 0;
 * or an error. */
int unc_units_others(struct unc_units *, unsigned socket, struct unc_error *err);
/* Appends what lets a socket go on, by the unit that has its status, where it has a register for
 * that. */
int unc_plan_unfreeze(const struct unc_table *, struct unc_plan *, const struct unc_instance *ubox,
		      struct unc_error *err);
/* Notes that overflows may freeze a socket, and that they do not any more. */
int unc_units_note_socket(struct unc_units *, const struct unc_instance *ubox,
			  struct unc_error *err);
void unc_units_drop_socket(struct unc_units *, const struct unc_instance *ubox);

/* The claim on an instance; NULL: there is none. */
struct unc_claim *unc_units_claimed(const struct unc_units *, const struct unc_instance *);
/* registers.c. Adds bits to the control of a slot that is claimed, before it is written. */
void unc_units_add_bits(struct unc_units *, const struct unc_slot *, uint64_t bits);
/* Who else counts on a unit that is claimed. */
enum unc_company unc_units_company(const struct unc_units *, const struct unc_instance *);
/* Units to which others have come since they were claimed are not ours to freeze any more. */
void unc_units_find_company(struct unc_units *);
/* Freezes the units (UNC_FREEZE), or lets them go on (UNC_LET_GO), those left out on which somebody
 * else counts. */
int unc_units_freeze(struct unc_units *, enum unc_occasion, struct unc_error *err);

/* run.c: runs a plan if building it ended well (rc is 0), and frees it either way. */
int unc_units_run_once(struct unc_units *, struct unc_plan *, int rc, const char *what,
		       struct unc_error *err);
/* Reads one register. */
int unc_units_read_one(struct unc_units *, const struct unc_instance *, uint16_t reg,
		       const char *what, uint64_t *value, struct unc_error *err);
/* The sentence of the first operation of a plan that has failed. */
int unc_units_fail_op(const struct unc_units *, const struct unc_plan *, const char *what,
		      struct unc_error *err);

#endif
