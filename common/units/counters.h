/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of the machine that are switched on, by any program: what is behind
 * unc_counters_walk() and unc_counters_release().
 */
#ifndef UNC_COUNTERS_H
#define UNC_COUNTERS_H

#include "host/process.h"
#include "units/set.h"

struct unc_found {
	const struct unc_instance *instance;
	uint16_t ctl; /* index into table->reg */
	uint16_t ctr;
	uint64_t control;
	enum unc_owner owner;
	int64_t pid; /* 0: not known */
	char command[UNC_COMMAND_MAX];
	uint64_t since; /* ns since 1970; 0: not known */
	uid_t user;     /* who has left it, if it is orphaned, */
	bool believed;  /* and whether it is restored without force */
	char event[UNC_SPEC_MAX];
	struct unc_error why; /* why it was kept */
};

struct unc_counters {
	struct unc_found *row;
	size_t n;
	struct unc_plan *read; /* what was read of each unit of the machine */
	size_t n_read, n_looked;
	struct unc_error failed;           /* the first unit that could not be read */
	const struct unc_instance *hidden; /* the first unit that is out of reach */
	size_t n_hidden;
	char unknown[UNC_ERROR_MAX]; /* why the sessions of other programs are unknown; "" */
};

/* Looks at all units. The caller holds the lock of the node, and frees `out` with unc_counters_free(), after an
 * error as well. Errors: UNC_ERR_MEMORY; UNC_ERR_UNAVAILABLE all units are out of reach. */
int unc_counters_look(struct unc_platform *, struct unc_counters *out, struct unc_error *err);
void unc_counters_free(struct unc_counters *);
/* The same, with the lock held for this look alone. The caller frees `out`, after an error as well. */
int unc_counters_once(struct unc_platform *, struct unc_counters *out, struct unc_error *err);
/* Calls fn with each counter: UNC_RELEASE_FOUND, or _DONE, which becomes _KEPT for counters that were kept. */
int unc_counters_tell(const struct unc_platform *, const struct unc_counters *, enum unc_release,
		      unc_counter_fn fn, void *user);
/* The row of a control; NULL: its counter is off. */
const struct unc_found *unc_counters_find(const struct unc_counters *, const struct unc_instance *,
					  uint16_t ctl);
/* Logs the units that were not looked at, and why sessions are unknown. */
void unc_counters_warn(struct unc_platform *, const struct unc_counters *);

#endif
