/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine that this is. */
#ifndef UNC_HARDWARE_H
#define UNC_HARDWARE_H

#include "host/machine.h"

/* The hardware (or the dump of one) under a root. *out: unc_machine_close(). */
int unc_machine_hardware(struct unc_fs *, struct unc_machine **out, struct unc_error *err);

#endif
