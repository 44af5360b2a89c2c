/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's uncore driver, of a simulated machine. */
#ifndef UNC_TEST_DRIVER_H
#define UNC_TEST_DRIVER_H

#include "host/machine.h"

/* The machine's kernel has PMUs for its units from now on; refuses: it lets the caller open no event. */
void driver_attach(struct unc_machine *, bool refuses);
/* Groups take turns of so many ns by the clock, as the kernel's timer has it; else at reads. */
void driver_turns(struct unc_machine *, uint64_t ns);
/* PERF_EVENT_IOC_DISABLE of the event's group, PERF_EVENT_IOC_RESET. */
void driver_stop(struct unc_machine *, int fd);
void driver_reset(struct unc_machine *, int fd);
/* All CPUs of a CPU's socket go offline, which its events do not outlive, or come back. */
void driver_offline(struct unc_machine *, int cpu, bool offline);

#endif
