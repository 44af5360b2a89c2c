/* SPDX-License-Identifier: BSD-3-Clause */
/* Which counter of a unit counts which event. Pure. */
#ifndef UNC_SCHEDULE_H
#define UNC_SCHEDULE_H

#include "encode/event.h"

enum { UNC_MAX_CODES = 64 }; /* events on one unit at a time */

enum unc_conflict_kind {
	UNC_CONFLICT_COUNTER, /* no counter left among those allowed */
	UNC_CONFLICT_FILTER,  /* the same filter bits with other values */
	UNC_CONFLICT_KIND,    /* the unit counts the one kind of event or the other */
	UNC_CONFLICT_SET,    /* counters that go together count events of one set, with one umask */
	UNC_CONFLICT_LEAD,   /* the counter that leads those that could count it is taken */
	UNC_CONFLICT_FOLLOWS /* it shows what another event counts, and there is none */
};

struct unc_conflict {
	enum unc_conflict_kind kind;
	size_t a, b;  /* indices of the two events; b == a: what is taken is in the way */
	uint16_t reg; /* filter register */
};

/*
 * Assigns programmable counters to n events of one unit, the highest that there are, but those that are
 * `taken` (bits); fixed and free-running ones need none. counter[i]: the number, or 0 for fixed ones.
 * Returns 0, or UNC_ERR_CONFLICT with *conflict filled.
 */
int unc_schedule(const struct unc_table *, const struct unc_code *const *code, size_t n,
		 uint32_t taken, uint8_t *counter, struct unc_conflict *conflict);

/* Whether an event shows what another one counts, which could be `lead` (NULL: whatever it is). */
bool unc_schedule_follows(const struct unc_table *, const struct unc_code *,
			  const struct unc_code *lead);
/* What an event of UNC_CONFLICT_FOLLOWS needs beside it: "one of A and B on counter 0". */
void unc_schedule_leads(const struct unc_table *, const struct unc_code *, char *buf, size_t size);

/* Passes that n events need when each unit type has one unit, all idle; at least 1 if n > 0. */
int unc_schedule_passes(const struct unc_table *, const struct unc_code *code, size_t n);

#endif
