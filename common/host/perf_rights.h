/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may open events that count for all processes of a CPU, as those of uncore PMUs do. */
#ifndef UNC_PERF_RIGHTS_H
#define UNC_PERF_RIGHTS_H

#include "host/fs.h"

enum unc_perf_right {
	UNC_PERF_EVERYBODY,
	UNC_PERF_PERFMON, /* CAP_PERFMON (Linux 5.8), of which CAP_SYS_ADMIN is the greater one */
	UNC_PERF_ADMIN    /* CAP_SYS_ADMIN and nothing less */
};

/* kernel.perf_event_paranoid; as unc_fs_text(), UNC_ERR_IO if it is no number. */
int unc_perf_level(const struct unc_fs *, int *level);
/* The least right that is enough at a level. */
enum unc_perf_right unc_perf_right(int level);
/* "CAP_PERFMON or CAP_SYS_ADMIN", "CAP_SYS_ADMIN", "no right". */
const char *unc_perf_right_name(enum unc_perf_right);

#endif
