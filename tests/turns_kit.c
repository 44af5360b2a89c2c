/* SPDX-License-Identifier: BSD-3-Clause */
#include "turns_kit.h"

#include <stdlib.h>
#include <time.h>

#include "session/session.h"
#include "sim/sim.h"

/* The thread waits by the real clock: it is told to look at the machine's. */
static bool turn_is_due(struct unc_session *s)
{
	bool due;

	pthread_mutex_lock(&s->lock);
	due = unc_turning_left(s) == 0;
	if (due)
		unc_turning_hurry(s);
	pthread_mutex_unlock(&s->lock);
	return due;
}

void let_time_pass(struct unc_platform *p, struct unc_session *s, unsigned ms)
{
	enum { PATIENCE = 60000 };

	for (unsigned i = 0; i < ms; i++) {
		unc_sim_step(unc_machine_sim(p->machine), 1000000);
		for (long k = 0; turn_is_due(s); k++) {
			if (k == PATIENCE)
				abort();
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		}
	}
}
