/* SPDX-License-Identifier: BSD-3-Clause */
/* Which counter of a unit counts which event. Pure. */
#ifndef UNC_SCHEDULE_H
#define UNC_SCHEDULE_H

#include "encode/event.h"

enum { UNC_MAX_CODES = 64, UNC_MAX_OTHERS = 32 }; /* events on one unit at a time */

enum unc_conflict_kind {
	UNC_CONFLICT_COUNTER, /* no counter left among those allowed */
	UNC_CONFLICT_FILTER,  /* the same filter bits with other values */
	UNC_CONFLICT_KIND,    /* the unit counts the one kind of event or the other */
	UNC_CONFLICT_SET,  /* counters that go together count events of one set, with one umask */
	UNC_CONFLICT_LEAD, /* the counter that leads those that could count it is taken */
	UNC_CONFLICT_FOLLOWS, /* it shows what another event counts, and there is none */
	UNC_CONFLICT_FOLLOWED /* what somebody else counts depends on the counter it needs */
};

struct unc_conflict {
	enum unc_conflict_kind kind;
	size_t a, b;  /* indices of the two events; b == a: only others are in the way */
	int beside;   /* index of one of the others, who is in the way; -1: none is */
	uint8_t lead; /* of the lane of LEAD and FOLLOWED, where it is about others */
	uint16_t reg; /* filter register */
};

/* Counters of the unit with which others count. */
struct unc_others {
	size_t n;
	struct unc_other {
		uint64_t ctl;
		uint8_t counter;
	} one[UNC_MAX_OTHERS];
};

/*
 * Assigns programmable counters to n events of one unit, the highest that there are; fixed and
 * free-running ones need none. Beside others (NULL: there are none) the unit counts what they do,
 * and nothing that they count changes; what they lead is not relied on, for they may go at any time.
 * counter[i]: the number, or 0 for fixed ones. Returns 0, or UNC_ERR_CONFLICT with *conflict filled.
 */
int unc_schedule(const struct unc_table *, const struct unc_code *const *code, size_t n,
		 const struct unc_others *others, uint8_t *counter, struct unc_conflict *conflict);

/* Whether an event shows what another one counts, which could be `lead` (NULL: whatever it is). */
bool unc_schedule_follows(const struct unc_table *, const struct unc_code *,
			  const struct unc_code *lead);
/* What an event of UNC_CONFLICT_FOLLOWS needs beside it: "one of A and B on counter 0". */
void unc_schedule_leads(const struct unc_table *, const struct unc_code *, char *buf, size_t size);

/* Passes that n events need when each unit type has one unit, all idle; at least 1 if n > 0. */
int unc_schedule_passes(const struct unc_table *, const struct unc_code *code, size_t n);

#endif
