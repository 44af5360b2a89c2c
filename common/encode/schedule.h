/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns the counters of a unit to events. Pure. */
#ifndef UNC_SCHEDULE_H
#define UNC_SCHEDULE_H

#include "encode/event.h"

enum { UNC_MAX_CODES = 64 }; /* events on one unit at a time */

enum unc_conflict_kind {
	UNC_CONFLICT_COUNTER, /* no allowed counter is left */
	UNC_CONFLICT_FILTER,  /* both need the same filter bits with other values */
	UNC_CONFLICT_KIND,    /* the unit counts one kind of event at a time */
	UNC_CONFLICT_SET,     /* counters of a lane count events of one set, with one umask */
	UNC_CONFLICT_LEAD,    /* the leading counter of their lane is taken */
	UNC_CONFLICT_FOLLOWS  /* it shows what another event counts, and that event is missing */
};

struct unc_conflict {
	enum unc_conflict_kind kind;
	size_t a, b;  /* indices of the two events; b == a: `taken` is in the way */
	uint16_t reg; /* filter register */
};

/*
 * Assigns programmable counters to n events of one unit: the highest that are not `taken` (bits);
 * fixed and free-running ones need none. counter[i]: the number, or 0 for fixed ones. Returns 0, or
 * UNC_ERR_CONFLICT with *conflict filled.
 */
int unc_schedule(const struct unc_table *, const struct unc_code *const *code, size_t n,
		 uint32_t taken, uint8_t *counter, struct unc_conflict *conflict);

/* Whether an event shows what another event counts, and that may be `lead` (NULL: any event). */
bool unc_schedule_follows(const struct unc_table *, const struct unc_code *,
			  const struct unc_code *lead);
/* The events that an event of UNC_CONFLICT_FOLLOWS needs: "one of A and B on counter 0". */
void unc_schedule_leads(const struct unc_table *, const struct unc_code *, char *buf, size_t size);

/* Passes that n events need when each unit type has one unit, all idle; at least 1 if n > 0. */
int unc_schedule_passes(const struct unc_table *, const struct unc_code *code, size_t n);

#endif
