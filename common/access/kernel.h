/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of the kernel's driver: access method "kernel", and "broker" for users who may not open events
 * themselves. The methods serve units, not registers: the kernel owns the registers, chooses the counters
 * and shares them with its other users. Events of one PMU are opened as one group and read with one read().
 */
#ifndef UNC_ACCESS_KERNEL_H
#define UNC_ACCESS_KERNEL_H

#include "access/access.h"
#include "host/events.h"

struct unc_kernel_group;

/* Whether "kernel" or "broker" is a chosen access method, and whether it comes before the methods that
 * serve a space. */
bool unc_kernel_chosen(const struct unc_access *);
bool unc_kernel_before(const struct unc_access *, int space);

/* Writes what the broker of the site allows; false: it was not asked yet, or not chosen. */
bool unc_kernel_told(const struct unc_access *, char *buf, size_t size);

struct unc_wire_answer; /* host/wire.h */
/* Lists the events that the broker has opened, from row `first` on; errors: as unc_broker_list(). */
int unc_kernel_passed(struct unc_access *, uint32_t first, struct unc_wire_answer *,
		      struct unc_error *err);

/*
 * Finds a PMU by its name in sysfs (which must be in host/pmus.inc: no other is ever opened), and CPU number
 * `nth`, from 0 on, of the socket's CPUs in its cpumask. An event of the first PMU found is opened once, without
 * counting, to test for the right. UNC_ERR_UNAVAILABLE: no such PMU, or no CPU of the socket in its mask;
 * UNC_ERR_PERMISSION: with the missing right, by the level of perf_event_paranoid.
 */
int unc_kernel_find(struct unc_access *, const char *pmu, unsigned socket, unsigned nth,
		    struct unc_kernel_place *out, struct unc_error *err);

/*
 * Opens events of one PMU, each once, as one group; they count from now on. If a group of this process has
 * all of them, it is shared. The events are pinned, so they always count; if other users of the kernel leave
 * too few counters, they are opened again time-shared (unc_kernel_idle()).
 * Errors: UNC_ERR_CONFLICT: the driver does not count them together; UNC_ERR_BUSY, UNC_ERR_PERMISSION,
 * UNC_ERR_MEMORY; UNC_ERR_UNAVAILABLE: the driver refuses the event or was unloaded, no CPU of the socket is
 * online, or descriptors ran out, with how many are needed (the soft limit is raised first).
 * The caller calls unc_kernel_close() before it closes the gate.
 */
int unc_kernel_open(struct unc_access *, const struct unc_kernel_place *,
		    const struct unc_kernel_event *, size_t n, struct unc_kernel_group **out,
		    struct unc_error *err);
void unc_kernel_close(struct unc_kernel_group *); /* may be NULL */

/* Makes a prepared read of one of those events, for unc_access_run(). value: its count, 64 bits, since the
 * group was opened, maybe by an earlier user. Adjacent reads of one group are one system call. errno_value:
 * ENODEV: the group has ended, all CPUs of its socket went offline; EBUSY: it lost its counter; ERANGE,
 * ENOLINK: another process with the same descriptors set the counts to 0, or closed some events. */
void unc_kernel_op(struct unc_kernel_group *, const struct unc_kernel_event *,
		   struct unc_reg_op *out);

/* Returns for how many ns, from opening the group to its last read, the event did not count although
 * enabled: others had its counter, or the kernel moved it to another CPU. */
uint64_t unc_kernel_idle(const struct unc_reg_op *);
/* Returns for how many ns it did count. */
uint64_t unc_kernel_ran(const struct unc_reg_op *);

#endif
