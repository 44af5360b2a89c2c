/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes have events of the kernel open (perf_event_open): by their descriptors. */
#ifndef UNC_PERF_USERS_H
#define UNC_PERF_USERS_H

#include "host/fs.h"
#include "host/process.h"

struct unc_perf_users {
	unsigned n;  /* processes that have */
	int64_t pid; /* one of them */
	bool all;    /* every process of the system was looked at */
	char command[UNC_COMMAND_MAX];
};

/* Looks through /proc of the root. It cannot fail: what is not seen makes `all` false. */
void unc_perf_users_find(const struct unc_fs *, struct unc_perf_users *out);

/* Whether the kernel's driver may count on the uncore for others than this process. */
bool unc_perf_may_count(const struct unc_fs *);

#endif
