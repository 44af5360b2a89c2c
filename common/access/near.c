/* SPDX-License-Identifier: BSD-3-Clause */
#include "access/near.h"

#include <sched.h>
#include <stdlib.h>

#include "host/cpu.h"
#include "host/process.h"

void unc_near_begin(struct unc_near *near, const struct unc_machine *machine)
{
	near->machine = machine;
	pthread_mutex_init(&near->lock, NULL);
}

void unc_near_end(struct unc_near *near)
{
	pthread_mutex_destroy(&near->lock);
	if (near->socket)
		pthread_key_delete(near->errand);
	free(near->socket);
}

/* The socket on which the caller runs; -1: not known. */
static int socket_of_caller(const struct unc_near *near)
{
	const struct unc_machine *machine = near->machine;
	int cpu = machine->methods->cpu ? machine->methods->cpu(machine) : -1;

	/* Only a CPU that was online: of another the socket is a guess. */
	return cpu < 0 || cpu >= UNC_MAX_CPUS ? -1 : machine->top->cpu_socket[cpu] - 1;
}

/* Whether the caller runs on another socket. One of the threads waits for no other, which might
 * wait for it. */
static bool is_far(const struct unc_near *near, int socket)
{
	int own = socket >= 0 && unc_near_held(near) ? socket_of_caller(near) : -1;

	return own >= 0 && own != socket && !pthread_getspecific(near->errand);
}

/* ---- the thread */

static int number_of(const struct unc_near_socket *there)
{
	return (int)(there - there->near->socket);
}

/* Binds this thread to the socket: to its CPUs that are online and not to be disturbed by anybody, of
 * which the kernel takes one that is idle. */
static int settle(void *user)
{
	const struct unc_near_socket *there = user;
	const struct unc_topology *top = there->near->machine->top;
	cpu_set_t set[UNC_MAX_CPUS / CPU_SETSIZE];
	int cpu;

	CPU_ZERO_S(sizeof(set), set);
	for (unsigned i = 0; (cpu = unc_topology_cpu(top, number_of(there), i)) >= 0; i++)
		if (!top->cpu_quiet[cpu])
			CPU_SET_S((size_t)cpu, sizeof(set), set);
	return sched_setaffinity(0, sizeof(set), set) == 0 &&
			       socket_of_caller(there->near) == number_of(there)
		       ? 0
		       : UNC_ERR_UNAVAILABLE;
}

static void wait_for(sem_t *what)
{
	while (sem_wait(what) < 0) /* a signal */
		continue;
}

static void *run_errands(void *user)
{
	struct unc_near_socket *there = user;

	pthread_setspecific(there->near->errand, there);
	for (wait_for(&there->begun); there->errand; wait_for(&there->begun)) {
		/* Where all of its CPUs were offline the kernel has moved it. */
		if (there->errand != settle && socket_of_caller(there->near) != number_of(there))
			(void)settle(there);
		there->result = there->errand(there->user);
		sem_post(&there->ended);
	}
	return NULL;
}

/* ---- its callers, who have the socket's turn */

/* They are not to be cancelled here: the errand would go on without them. */
static int give(struct unc_near_socket *there, int (*errand)(void *), void *user)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	there->errand = errand;
	there->user = user;
	sem_post(&there->begun);
	if (errand)
		wait_for(&there->ended);
	else
		pthread_join(there->thread, NULL);
	pthread_setcancelstate(state, NULL);
	return there->result;
}

static void end_thread(struct unc_near_socket *there)
{
	if (there->runs)
		give(there, NULL, NULL);
	there->runs = false;
}

static bool has_thread(struct unc_near_socket *there)
{
	if (there->runs || there->refused)
		return there->runs;
	there->runs = unc_thread_new(&there->thread, run_errands, there) == 0;
	there->refused = !there->runs || give(there, settle, there) < 0;
	if (there->refused)
		end_thread(there);
	return there->runs;
}

int unc_near_run(struct unc_near *near, int socket, int (*errand)(void *), void *user)
{
	struct unc_near_socket *there;
	bool given;
	int result;

	if (!is_far(near, socket))
		return errand(user);
	there = &near->socket[socket];
	pthread_mutex_lock(&there->turn);
	given = unc_near_held(near) && has_thread(there);
	if (given)
		result = give(there, errand, user);
	pthread_mutex_unlock(&there->turn);
	return given ? result : errand(user);
}

/* ---- who needs them */

/* Where memory runs out there are no threads. */
static void make_sockets(struct unc_near *near)
{
	const struct unc_topology *top = near->machine->top;
	struct unc_near_socket *socket;

	if (near->socket || !top || top->n_sockets < 2 ||
	    !(socket = calloc((size_t)top->n_sockets, sizeof(*socket))))
		return;
	if (pthread_key_create(&near->errand, NULL) != 0) {
		free(socket);
		return;
	}
	for (int i = 0; i < top->n_sockets; i++) {
		pthread_mutex_init(&socket[i].turn, NULL);
		sem_init(&socket[i].begun, 0, 0);
		sem_init(&socket[i].ended, 0, 0);
		socket[i].near = near;
	}
	near->socket = socket;
}

void unc_near_hold(struct unc_near *near)
{
	pthread_mutex_lock(&near->lock);
	if (near->held == 0)
		make_sockets(near);
	near->held++;
	pthread_mutex_unlock(&near->lock);
}

void unc_near_let_go(struct unc_near *near)
{
	pthread_mutex_lock(&near->lock);
	bool last = --near->held == 0 && near->socket;

	for (int i = 0; last && i < near->machine->top->n_sockets; i++) {
		struct unc_near_socket *there = &near->socket[i];

		pthread_mutex_lock(&there->turn);
		end_thread(there);
		there->refused = false;
		pthread_mutex_unlock(&there->turn);
	}
	pthread_mutex_unlock(&near->lock);
}
