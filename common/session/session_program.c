/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: start, turns and stop. */
#include "session/session.h"

/* ---- stopping */

/* The lock is held. UNC_ERR_MEMORY: nothing has been done, and it can be tried again. */
static int stop(struct unc_session *s, enum unc_extent extent, struct unc_error *err)
{
	int rc;

	/* Without a counter there is no last look. */
	s->units.read_ns = s->units.n_slots ? 0 : unc_machine_now(s->platform->machine);
	rc = unc_units_stop(&s->units, extent, err);
	unc_units_unlock(&s->units);
	if (s->units.read_ns) /* it came to a last look */
		unc_session_looked(s, extent);
	return rc;
}

/* ---- starting */

/* Which passes an item has to wait for. */
static void find_waits(struct unc_session *s)
{
	for (size_t i = 0; i < s->n_items; i++) {
		struct unc_session_item *item = &s->item[i];

		item->waits = 0;
		item->only = item->expr || item->lacks || s->measure[item->measure[0]].n_slots != 1
				     ? UINT32_MAX
				     : s->measure[item->measure[0]].slot[0];
		for (uint32_t k = 0; k < item->n_measures; k++) {
			const struct unc_measure *m = &s->measure[item->measure[k]];

			for (uint32_t n = 0; n < m->n_slots; n++)
				if (!s->units.wanted[s->units.slot[m->slot[n]].instance].always)
					item->waits |=
						unc_session_waits(&s->units.slot[m->slot[n]]);
		}
	}
}

/* Why nothing can be measured, where units were left out of a start; 0: some item has units left. */
static int check_left(struct unc_session *s, struct unc_error *err)
{
	for (size_t i = 0; i < s->n_items && s->units.failed.code; i++) {
		unc_session_find_without(s, &s->item[i]);
		if (!s->item[i].lacks && !s->item[i].emptied)
			return 0;
	}
	*err = s->units.failed;
	return err->code;
}

/* Values from which the first interval counts. */
static int take_base(struct unc_session *s, enum unc_extent extent, struct unc_error *err)
{
	int rc = unc_units_read(&s->units, extent, err);

	s->begun |= (uint64_t)1 << s->units.turn;
	if (rc == 0)
		unc_units_lose_unread(&s->units, extent);
	s->since_ns = s->units.read_ns;
	if (extent == UNC_ALL) {
		s->units.verified_ns = s->units.shown_ns = s->units.proven_ns = s->since_ns;
		s->wall.time = 0;
		unc_session_began(s);
	}
	return rc;
}

/* Two sessions that start at the same time must not find the same counter free: the lock is held
 * from the look to the base. */
static int begin_turn(struct unc_session *s, enum unc_extent extent, struct unc_error *err)
{
	int rc;

	s->units.n_turns = s->n_passes;
	if ((rc = unc_units_lock(&s->units, UNC_START_PATIENCE, err)) < 0) {
		if (extent == UNC_TURN)
			unc_units_give_up(&s->units);
		return rc;
	}
	rc = unc_units_reclaim(&s->units, false, err);
	if (rc == 0)
		rc = unc_units_start(&s->units, extent, err);
	if (rc == 0 && extent == UNC_ALL)
		find_waits(s);
	if (rc == 0 && extent == UNC_ALL)
		rc = check_left(s, err);
	if (rc == 0)
		rc = take_base(s, extent, err);
	if (rc < 0)
		unc_units_cancel(&s->units);
	unc_units_unlock(&s->units);
	return rc;
}

/* ---- as a whole */

int unc_session_program(struct unc_session *s, unsigned pass)
{
	int rc;

	s->units.turn = pass;
	unc_session_forget(s);
	s->state = UNC_UNMEASURED; /* if it fails, nothing is left to be read */
	rc = begin_turn(s, UNC_ALL, &s->error);
	if (rc == 0)
		s->state = UNC_RUNNING;
	return rc;
}

int unc_session_unprogram(struct unc_session *s, struct unc_error *err)
{
	int rc = unc_units_lock(&s->units, UNC_STOP_PATIENCE, err);

	if (rc < 0) { /* somebody hangs: the next start on the node restores what is left */
		unc_units_give_up(&s->units);
		unc_session_looked(s, UNC_ALL);
		s->state = UNC_STOPPED;
		return rc;
	}
	rc = stop(s, UNC_ALL, err);
	s->state = rc == UNC_ERR_MEMORY ? UNC_RUNNING : UNC_STOPPED;
	return rc;
}

int unc_session_end_pass(struct unc_session *s, struct unc_error *err)
{
	struct unc_error why;
	int rc = unc_units_lock(&s->units, UNC_START_PATIENCE, err);

	if (rc < 0) /* its pass goes on */
		return rc;
	rc = stop(s, UNC_TURN, &why);
	if (rc == UNC_ERR_MEMORY)
		return unc_fail(err, rc, "%s", why.text);
	if (rc < 0) /* what cannot be had in the next turn is left out of it */
		unc_platform_log(s->platform, UNC_LOG_WARNING, "%s", why.text);
	return 0;
}

int unc_session_begin_pass(struct unc_session *s, struct unc_error *err)
{
	s->units.turn = (s->units.turn + 1) % s->n_passes;
	return begin_turn(s, UNC_TURN, err);
}

int unc_session_plan(struct unc_session *s, enum unc_phase phase, unc_operation_fn fn, void *user)
{
	unsigned now = s->units.turn; /* a stopped session still tells its values */
	int rc = unc_session_enter(s);

	if (rc < 0)
		return rc;
	unc_turning_hold(s);
	if ((rc = unc_units_lock(&s->units, UNC_START_PATIENCE, &s->error)) < 0) {
		unc_turning_go_on(s);
		return rc;
	}
	if (s->state != UNC_RUNNING) {
		s->units.turn = 0;
		s->units.n_turns = s->n_passes;
		unc_error_clear(&s->units.failed);
		rc = unc_units_claim(&s->units, UNC_ALL, &s->error);
		if (rc == 0)
			rc = check_left(s, &s->error);
	}
	if (rc == 0)
		rc = unc_units_show(&s->units, phase, fn, user, &s->error);
	s->units.turn = now;
	unc_units_unlock(&s->units);
	unc_turning_go_on(s);
	return rc;
}
