/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine that this is. */
#ifndef UNC_HARDWARE_H
#define UNC_HARDWARE_H

#include "host/machine.h"

/* Events of the kernel that runs (events_system.c). */
extern const struct unc_machine_events unc_events_system;
/* Those of one that a dump tells of. */
extern const struct unc_machine_events unc_events_replayed;

/* The hardware (or the dump of one) under a root. *out: unc_machine_close(). */
int unc_machine_hardware(struct unc_fs *, struct unc_machine **out, struct unc_error *err);

#endif
