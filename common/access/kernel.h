/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of the kernel's own driver: access method "kernel", and "broker" for who may not open its
 * events himself. It serves units, not registers: the
 * kernel owns these, chooses the counters and shares them with its other users. Events of one PMU
 * are opened as one group and read with one read().
 */
#ifndef UNC_ACCESS_KERNEL_H
#define UNC_ACCESS_KERNEL_H

#include "access/access.h"
#include "host/events.h"

struct unc_kernel_group;

/* Whether "kernel" is among the access methods that were chosen, and how it stands to those that
 * serve a space: before (true) or behind them. */
bool unc_kernel_chosen(const struct unc_access *);
bool unc_kernel_before(const struct unc_access *, int space);

/* What the broker of the site allows, once it was asked; false: it was not, or was not chosen. */
bool unc_kernel_told(const struct unc_access *, char *buf, size_t size);

struct unc_wire_answer; /* host/wire.h */
/* What the broker of the node has given out, from the row `first` on; errors: as unc_broker_list(). */
int unc_kernel_passed(struct unc_access *, uint32_t first, struct unc_wire_answer *,
		      struct unc_error *err);

/*
 * Finds a PMU by its name in sysfs (which must be one of host/pmus.inc: no other is ever opened), and
 * of the CPUs of the socket in its cpumask number `nth`, from 0 on. The first that is found is opened once, not counting, to see
 * whether the right is there. UNC_ERR_UNAVAILABLE: no such PMU, or no CPU of the socket in its mask;
 * UNC_ERR_PERMISSION: with what is missing, by the level of perf_event_paranoid.
 */
int unc_kernel_find(struct unc_access *, const char *pmu, unsigned socket, unsigned nth,
		    struct unc_kernel_place *out, struct unc_error *err);

/*
 * Opens events of one PMU, each once, as one group; they count from now on. A group of this process
 * that has them all already is shared. They are
 * pinned: they count always; where other users of the kernel leave too few counters they are opened
 * again to take turns with these (unc_kernel_idle()).
 * Errors: UNC_ERR_CONFLICT the driver does not count them together, UNC_ERR_BUSY, UNC_ERR_PERMISSION,
 * UNC_ERR_MEMORY; UNC_ERR_UNAVAILABLE it refuses the event, has gone, or no CPU of the socket is
 * online; or out of descriptors, with how many are needed (the soft limit is raised first).
 * Ends with unc_kernel_close(), before the gate is closed.
 */
int unc_kernel_open(struct unc_access *, const struct unc_kernel_place *,
		    const struct unc_kernel_event *, size_t n, struct unc_kernel_group **out,
		    struct unc_error *err);
void unc_kernel_close(struct unc_kernel_group *); /* NULL: nothing */

/* A prepared read of one of those events, for unc_access_run(): value is what it has
 * counted, 64 bits, since the group was opened, maybe by somebody before. Neighbouring reads of one
 * group are one system call. errno_value: ENODEV: it has ended, since all CPUs of its socket went offline;
 * EBUSY: it has lost its counter; ERANGE, ENOLINK: somebody who has the same descriptors has set the
 * counts to 0, or closed some of the events. */
void unc_kernel_op(struct unc_kernel_group *, const struct unc_kernel_event *,
		   struct unc_reg_op *out);

/* For how many ns, since the group was opened and up to its last read, the event did not count though
 * it should have: others had its counter, or the kernel took it to another CPU. */
uint64_t unc_kernel_idle(const struct unc_reg_op *);
/* For how many ns it did. */
uint64_t unc_kernel_ran(const struct unc_reg_op *);

#endif
