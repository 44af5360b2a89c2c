/* SPDX-License-Identifier: BSD-3-Clause */
#include "turns_kit.h"

#include "session/session.h"
#include "sim/sim.h"

void let_time_pass(struct unc_platform *p, struct unc_session *s, unsigned ms)
{
	for (unsigned i = 0; i < ms; i++) {
		unc_sim_step(unc_machine_sim(p->machine), 1000000);
		while (unc_run_turn_left(s->run) == 0)
			unc_run_see_to(s->run);
		unc_run_see_to(s->run);
	}
}
