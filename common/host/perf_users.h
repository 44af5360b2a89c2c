/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The right to open events that count for all processes of a CPU (perf_event_open), as those of uncore
 * PMUs do, and the processes that have such events open, found by their descriptors.
 */
#ifndef UNC_PERF_USERS_H
#define UNC_PERF_USERS_H

#include "host/fs.h"
#include "host/process.h"

struct unc_perf_users {
	unsigned n;  /* processes with open events */
	int64_t pid; /* one of them */
	bool all;    /* every process of the system was inspected */
	char command[UNC_COMMAND_MAX];
};

/* Searches /proc of the root. It cannot fail: a process that cannot be inspected makes `all` false. */
void unc_perf_users_find(const struct unc_fs *, struct unc_perf_users *out);

/* Whether the kernel's driver may count on the uncore for others than this process. */
bool unc_perf_may_count(const struct unc_fs *);

enum unc_perf_right {
	UNC_PERF_EVERYBODY,
	UNC_PERF_PERFMON, /* CAP_PERFMON (Linux 5.8); CAP_SYS_ADMIN includes it */
	UNC_PERF_ADMIN    /* CAP_SYS_ADMIN and nothing less */
};

/* Reads kernel.perf_event_paranoid. Errors as unc_fs_text(); UNC_ERR_IO: it is no number. */
int unc_perf_level(const struct unc_fs *, int *level);
/* Returns the least right that is enough at a level. */
enum unc_perf_right unc_perf_right(int level);
/* Stores the sentence for EACCES or EPERM of perf_event_open(), by the level; UNC_ERR_PERMISSION. */
int unc_perf_refused(const struct unc_fs *, int errno_value, struct unc_error *err);

#endif
