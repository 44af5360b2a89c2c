/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the kernel (perf_event_open) as they are opened: what is asked for, and on which PMUs. */
#ifndef UNC_EVENTS_H
#define UNC_EVENTS_H

#include <linux/perf_event.h>

#include "host/machine.h"

/* A PMU of the kernel, for the units of one socket. */
struct unc_kernel_place {
	uint32_t type; /* of perf_event_attr */
	uint32_t cpu;  /* of the socket, from the PMU's cpumask */
	bool passed;   /* the broker opens its events, by the name that follows, and passes them */
	char pmu[48];
};

struct unc_kernel_event {
	uint64_t config, config1, config2;
};

/* Those of the kernel that runs; and of one that a dump tells of. */
extern const struct unc_machine_events unc_events_system, unc_events_replayed;

/* Events of a PMU that count at once, at least, by the rows of pmus.inc; 0: it is not
 * taken. What one that is counts. */
unsigned unc_events_counters(const char *name);
const char *unc_events_title(const char *name);
/* Whether a PMU can be one of something outside the cores: by its name, which becomes part of a path, and by
 * its type, which is above those that the kernel itself serves. No other is ever opened. */
bool unc_events_pmu(const char *name);
bool unc_events_type(uint32_t type);

/* An event that counts, in a group that is read as a whole with its times; the one that leads does
 * not count before it is enabled. */
struct perf_event_attr unc_events_attr(uint32_t type, const struct unc_kernel_event *, bool leads,
				       bool pinned);

/* Opens n events as one group, stopped, and starts it: the kernel programs the unit once. fd[0]
 * leads. 0, or an errno value with nothing open; *refused: the event that the kernel refused. */
int unc_events_open(struct unc_machine *, const struct unc_kernel_place *,
		    const struct unc_kernel_event *, size_t n, bool pinned, int *fd,
		    size_t *refused);
void unc_events_close(struct unc_machine *, const int *fd, size_t n);

/* The bits of config, config1 and config2 that a PMU's `format` names: the kernel drops others
 * without a word. 0, or errno. */
int unc_events_format(const struct unc_fs *, const char *pmu, struct unc_kernel_event *bits);

#endif
