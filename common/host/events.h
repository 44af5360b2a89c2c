/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening events of the kernel (perf_event_open): their attributes, and the PMUs that may be used. */
#ifndef UNC_EVENTS_H
#define UNC_EVENTS_H

#include <linux/perf_event.h>

#include "host/machine.h"

/* A PMU of the kernel, for the units of one socket. */
struct unc_kernel_place {
	uint32_t type; /* type of perf_event_attr */
	uint32_t cpu;  /* a CPU of the socket, from the PMU's cpumask */
	bool passed;   /* the broker opens the events, by the name `pmu`, and passes descriptors */
	char pmu[48];
};

struct unc_kernel_event {
	uint64_t config, config1, config2;
};

/* Events of the running kernel, and those of a dump. */
extern const struct unc_machine_events unc_events_system, unc_events_replayed;

/* Returns how many events of a PMU count at once at least (pmus.inc); 0: the PMU is not used. The
 * title says what a used PMU counts. */
unsigned unc_events_counters(const char *name);
const char *unc_events_title(const char *name);
/* Whether a PMU can be outside the cores: by its name, which becomes part of a path, and by its type, which
 * is above those of the kernel's own PMUs. No other PMU is ever opened. */
bool unc_events_pmu(const char *name);
bool unc_events_type(uint32_t type);

/* Returns the attributes of a counting event. Its group is read as a whole, with time enabled and time
 * running; the leader is disabled until it is enabled. */
struct perf_event_attr unc_events_attr(uint32_t type, const struct unc_kernel_event *, bool leads,
				       bool pinned);

/* Opens n events as one disabled group and enables it, so that the kernel programs the unit once. fd[0]
 * is the leader. Returns 0, or an errno value with nothing open; *refused: the event that failed. */
int unc_events_open(struct unc_machine *, const struct unc_kernel_place *,
		    const struct unc_kernel_event *, size_t n, bool pinned, int *fd,
		    size_t *refused);
void unc_events_close(struct unc_machine *, const int *fd, size_t n);

/* Reads the bits of config, config1 and config2 that a PMU's `format` names: the kernel ignores all
 * others silently. Returns 0, or errno. */
int unc_events_format(const struct unc_fs *, const char *pmu, struct unc_kernel_event *bits);

#endif
