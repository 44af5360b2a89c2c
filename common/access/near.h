/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MSRs of a socket are accessed from a CPU of it: from another socket each access interrupts one.
 * A caller who runs elsewhere gives an errand, as much work as there is at a time, to a thread that
 * is bound to the CPUs of the socket, and waits for it: so an errand costs two changes of the
 * thread and no interrupt by an access, where a list of the module msr-safe costs one for each list
 * and socket, and single registers of the msr driver one each.
 *
 * There is a thread for each socket on which sessions count that run, as soon as one of them is
 * wanted there. The caller's own socket needs none, nor does a machine that has one. Where there is
 * none to be had (no memory, CPUs that the process may not use) the caller does the work from afar.
 *
 * Who gives an errand holds no lock that an errand waits for: the gate's, and those of methods.
 */
#ifndef UNC_NEAR_H
#define UNC_NEAR_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "host/machine.h"

/* A socket and its thread. */
struct unc_near_socket {
	pthread_mutex_t turn; /* of all this: one errand at a time */
	sem_t begun, ended;   /* an errand, or the thread */
	pthread_t thread;
	bool runs, refused; /* refused: none can be had, until sessions begin anew */
	struct unc_near *near;
	int (*errand)(void *user); /* NULL: the thread is to end */
	void *user;
	int result;
};

struct unc_near {
	const struct unc_machine *machine;
	pthread_mutex_t lock;           /* of held */
	struct unc_near_socket *socket; /* of machine->top; NULL: nobody has held it yet */
	atomic_uint held;               /* how often */
	pthread_key_t errand;           /* not NULL: the caller is one of the threads */
};

void unc_near_begin(struct unc_near *, const struct unc_machine *);
/* Threads are another process's, or have ended: sessions let go of them. */
void unc_near_end(struct unc_near *);

/* While somebody holds it threads are made where they are wanted; the last one to let go ends
 * them. */
void unc_near_hold(struct unc_near *);
void unc_near_let_go(struct unc_near *);

/* Whether somebody holds it, on a machine of several sockets. */
static inline bool unc_near_held(const struct unc_near *near)
{
	return atomic_load_explicit(&near->held, memory_order_acquire) && near->socket;
}
/* What errand(user) returns, by whoever is near to the MSRs of the socket; by the caller where
 * socket is -1. */
int unc_near_run(struct unc_near *, int socket, int (*errand)(void *user), void *user);

#endif
