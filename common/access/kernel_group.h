/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of access method kernel (kernel.h): a group of events that is open, and those of a machine. */
#ifndef UNC_KERNEL_GROUP_H
#define UNC_KERNEL_GROUP_H

#include <pthread.h>
#include <stdatomic.h>

#include "access/kernel.h"

struct unc_broker; /* broker.h */

/* As read, with PERF_FORMAT_GROUP and the times. */
enum { UNC_GROUP_N, UNC_GROUP_ENABLED, UNC_GROUP_RUNNING, UNC_GROUP_VALUE };

/* Those who want the same events share it. */
struct unc_kernel_group {
	struct unc_backend *backend;
	uint8_t way;
	unsigned call;                 /* the connection over which a broker has passed it */
	struct unc_kernel_group *next; /* of those that are open */
	unsigned users;
	struct unc_kernel_place place;
	size_t n;
	struct unc_kernel_event *event;
	int *fd; /* of the events; the first leads */

	pthread_mutex_t lock; /* of what follows: its users may be in several threads */
	int ended; /* errno, for good: ENODEV, ERANGE, ENOLINK (unc_kernel_op()); 0: it has not */
	bool lost; /* its counters, for good */
	bool timed;
	uint64_t enabled; /* ns, as the kernel told at */
	uint64_t seen;    /* this time of the machine's, if it is timed */
	uint64_t gaps;    /* ns in which it was not even enabled */
	atomic_uint_fast64_t idle, ran;
	uint64_t *data; /* UNC_GROUP_* */
	uint64_t *last; /* its values before */
};

/* Of access method kernel, or of broker. */
struct unc_backend {
	struct unc_machine *machine;
	pthread_mutex_t lock; /* of what follows */
	struct unc_kernel_group *first;
	struct unc_broker *broker; /* that opens events for it; NULL: it opens them itself */
	bool passed;               /* of access method broker */
	bool tried;                /* whether there is the right */
	struct unc_error refused;
};

/* ---- kernel_group.c */

/* Adds one to those that are open, with the lock held. Errors: as unc_kernel_open(). */
int unc_kernel_group_open(struct unc_backend *, const struct unc_kernel_place *,
			  const struct unc_kernel_event *, size_t n, struct unc_kernel_group **out,
			  struct unc_error *err);
/* broker: to whom they are given back; NULL: to nobody. */
void unc_kernel_group_close(struct unc_kernel_group *, struct unc_broker *broker);
/* Which of its events this is; n: none. */
size_t unc_kernel_group_find(const struct unc_kernel_group *, const struct unc_kernel_event *);
/* Whether it counts, at this place, all of these. */
bool unc_kernel_group_has(struct unc_kernel_group *, const struct unc_kernel_place *,
			  const struct unc_kernel_event *, size_t n);
/* Brings its data up to date, the lock held; errno. */
int unc_kernel_group_read(struct unc_kernel_group *);

#endif
