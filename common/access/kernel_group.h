/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of access method kernel (kernel.h): an open group of events, and all groups of a machine. */
#ifndef UNC_KERNEL_GROUP_H
#define UNC_KERNEL_GROUP_H

#include <pthread.h>
#include <stdatomic.h>

#include "access/kernel.h"

struct unc_broker; /* broker.h */

/* The data of a read, with PERF_FORMAT_GROUP and both times. */
enum { UNC_GROUP_N, UNC_GROUP_ENABLED, UNC_GROUP_RUNNING, UNC_GROUP_VALUE };

/* Users of the same events share a group. */
struct unc_kernel_group {
	struct unc_backend *backend;
	uint8_t way;
	unsigned call;                 /* number of the broker's connection that passed it */
	struct unc_kernel_group *next; /* next open group */
	unsigned users;
	struct unc_kernel_place place;
	size_t n;
	struct unc_kernel_event *event;
	int *fd; /* descriptors of the events; the first is the leader */

	pthread_mutex_t lock; /* for the members below: users may be in several threads */
	int ended; /* final errno: ENODEV, ERANGE, ENOLINK (unc_kernel_op()); 0: not ended */
	bool lost; /* it has lost its counters for good */
	bool timed;
	uint64_t enabled; /* ns of time enabled, read at `seen` */
	uint64_t seen;    /* time of the machine, valid if `timed` */
	uint64_t gaps;    /* ns in which it was not enabled */
	atomic_uint_fast64_t idle, ran;
	uint64_t *data; /* UNC_GROUP_* */
	uint64_t *last; /* values of the last read */
};

/* The back end of access method kernel, or of broker. */
struct unc_backend {
	struct unc_machine *machine;
	pthread_mutex_t lock; /* for the members below */
	struct unc_kernel_group *first;
	struct unc_broker *broker; /* opens the events; NULL: this process opens them itself */
	bool passed;               /* it is access method broker */
	bool tried;                /* the right has been tested */
	struct unc_error refused;
};

/* ---- kernel_group.c */

/* Opens a group and adds it to the list; the caller holds the lock. Errors: as unc_kernel_open(). */
int unc_kernel_group_open(struct unc_backend *, const struct unc_kernel_place *,
			  const struct unc_kernel_event *, size_t n, struct unc_kernel_group **out,
			  struct unc_error *err);
/* broker: is told that the group is closed; NULL: no broker. */
void unc_kernel_group_close(struct unc_kernel_group *, struct unc_broker *broker);
/* Returns the index of an event in the group; n: not in it. */
size_t unc_kernel_group_find(const struct unc_kernel_group *, const struct unc_kernel_event *);
/* Whether the group counts all of these events at this place. */
bool unc_kernel_group_has(struct unc_kernel_group *, const struct unc_kernel_place *,
			  const struct unc_kernel_event *, size_t n);
/* Reads the group; the caller holds the lock. Returns 0 or errno. */
int unc_kernel_group_read(struct unc_kernel_group *);

#endif
