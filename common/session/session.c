/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: creation, start, stop and end. */
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "encode/schedule.h"
#include "units/loss.h"

/* ---- creation */

int unc_session_new(struct unc_platform *p, unsigned flags, struct unc_session **out)
{
	struct unc_session *s;
	int rc;

	if (!unc_platform_here(p))
		return UNC_ERR_STATE; /* its lock may be held by a thread that is not here */
	unc_platform_fail(p, UNC_OK, "%s", ""); /* what the call before has left */
	if (flags & ~(unsigned)UNC_SESSION_ROTATE)
		return unc_platform_fail(p, UNC_ERR_INVALID, "unknown flags 0x%x for a session",
					 flags & ~(unsigned)UNC_SESSION_ROTATE);
	s = calloc(1, sizeof(*s));
	if (!s)
		return unc_platform_fail(p, UNC_ERR_MEMORY, "out of memory");
	if ((rc = unc_units_init(&s->units, p)) < 0) {
		free(s);
		return rc;
	}
	s->platform = p;
	s->flags = flags;
	pthread_mutex_init(&s->lock, NULL);
	*out = s;
	return 0;
}

/* ---- start, turns by hand, stop */

/* Where its passes turn by themselves nobody may turn before it is one of them. */
static int begin(struct unc_session *s)
{
	uint64_t began;
	int rc;

	s->turning.error = (struct unc_error){0};
	began = unc_machine_now(s->platform->machine);
	rc = unc_session_program(s, unc_turning_pass(s));
	if (rc < 0)
		return rc;
	/* Until it is known better, a change of the pass costs as much as the start. */
	s->turning.change_ns = s->turning.cost_ns = s->start_ns - began;
	rc = unc_session_watch(s, &s->error);
	if (rc == 0) {
		unc_turning_join(s);
		return 0;
	}
	unc_session_unprogram(s, NULL);
	s->state = UNC_UNMEASURED;
	return rc;
}

/* Whether nothing of it can be counted. */
static bool is_empty(const struct unc_session *s)
{
	size_t n = 0;

	while (n < s->n_items && s->item[n].lacks)
		n++;
	return n == s->n_items;
}

int unc_session_start(struct unc_session *s)
{
	int rc = unc_session_enter(s);

	if (rc < 0)
		return rc;
	if (s->state == UNC_RUNNING)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is running already");
	if (is_empty(s))
		return unc_fail(&s->error, UNC_ERR_STATE, "the session has no events");
	if (unc_fs_replayed(s->platform->fs) && !s->platform->machine->simulated)
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"the machine is a dump (%s), where nothing counts",
				unc_fs_root(s->platform->fs));
	if (!s->platform->access)
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"the platform was opened for listing only (option cpu)");
	pthread_mutex_lock(&s->platform->turning.lock);
	rc = begin(s);
	pthread_mutex_unlock(&s->platform->turning.lock);
	return rc;
}

int unc_session_rotate(struct unc_session *s)
{
	int rc = unc_session_enter_running(s);
	bool ended;

	if (rc < 0 || s->n_passes < 2)
		return rc;
	if (unc_turning_wanted(s))
		return unc_fail(&s->error, UNC_ERR_STATE, "its passes take turns by themselves");
	pthread_mutex_lock(&s->lock);
	rc = unc_session_end_pass(s, &s->error);
	ended = rc != UNC_ERR_MEMORY;
	if (rc == 0)
		rc = unc_session_begin_pass(s, &s->error);
	pthread_mutex_unlock(&s->lock);
	if (rc < 0 && ended) {
		unc_session_unwatch(s);
		s->state = UNC_STOPPED;
	}
	return rc;
}

int unc_session_reset(struct unc_session *s)
{
	int rc = unc_session_enter_measured(s);

	if (rc < 0)
		return rc;
	unc_turning_hold(s);
	pthread_mutex_lock(&s->lock);
	rc = unc_session_look_now(s);
	if (rc == 0 && s->state == UNC_RUNNING)
		unc_units_lose_unread(&s->units, UNC_ALL);
	if (rc == 0)
		unc_session_forget(s);
	pthread_mutex_unlock(&s->lock);
	if (rc == 0)
		unc_turning_begin_anew(s);
	unc_turning_go_on(s);
	return rc;
}

int unc_session_stop(struct unc_session *s)
{
	int rc = unc_session_enter_running(s);

	if (rc < 0)
		return rc;
	unc_session_unwatch(s);
	pthread_mutex_lock(&s->platform->turning.lock);
	unc_turning_leave(s);
	pthread_mutex_lock(&s->lock);
	rc = unc_session_unprogram(s, &s->error); /* before the others want other counters */
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&s->platform->turning.lock);
	if (s->turning.error.code) {
		s->error = s->turning.error;
		rc = s->error.code;
	}
	return rc;
}

/* ---- its end, and what it is */

const char *unc_session_error(const struct unc_session *s)
{
	return s->error.text;
}

int unc_session_clear(struct unc_session *s)
{
	if (unc_session_enter_idle(s) < 0)
		return UNC_ERR_STATE;
	unc_session_roll_back(s, (struct unc_checkpoint){0});
	s->state = UNC_UNMEASURED;
	return 0;
}

void unc_session_free(struct unc_session *s)
{
	if (!s)
		return;
	/* In a forked process only memory is given back: counters and threads are the other's. */
	bool here = unc_platform_here(s->platform);

	if (here && s->state == UNC_RUNNING)
		unc_session_stop(s);
	if (here)
		unc_units_abandon(&s->units);
	unc_session_roll_back(s, (struct unc_checkpoint){0});
	free(s->item);
	free(s->measure);
	free(s->scratch);
	unc_units_free(&s->units);
	if (here)
		pthread_mutex_destroy(&s->lock);
	free(s);
}

int unc_session_passes(const struct unc_session *s)
{
	return s->n_passes ? (int)s->n_passes : 1;
}

/* How the next unit is told that the item goes without; NULL: there is none. */
static const struct unc_unit *next_missing(struct unc_session *s, struct unc_session_item *item,
					   struct unc_item_unit *unit)
{
	const struct unc_unit *missing = NULL;
	const struct unc_slot *slot;

	pthread_mutex_lock(&s->lock);
	unc_session_find_without(s, item);
	while (!missing && unc_session_next_unit(s, item, unit)) {
		missing = unit->missing;
		if (!missing && !item->emptied &&
		    (slot = unc_session_flawed(s, item, unit->instance)) != NULL)
			missing = unc_units_tell_lost(&s->units, slot);
	}
	pthread_mutex_unlock(&s->lock);
	return missing;
}

int unc_session_missing(struct unc_session *s, int id, unc_unit_fn fn, void *user)
{
	struct unc_session_item *item;
	const struct unc_unit *missing;
	struct unc_item_unit unit = {0};
	int rc = 0;

	if (unc_session_enter(s) < 0)
		return UNC_ERR_STATE;
	if (!(item = unc_session_find_item(s, id)))
		return s->error.code;
	unc_turning_hold(s);
	while (rc == 0 && (missing = next_missing(s, item, &unit)) != NULL)
		rc = fn(user, missing);
	unc_turning_go_on(s);
	return rc;
}

const char *unc_session_partial(struct unc_session *s, int id)
{
	struct unc_session_item *item;
	const struct unc_unit *first;
	struct unc_item_unit unit = {0};
	char more[32] = "";
	unsigned others = 0;

	if (unc_session_enter(s) < 0 || !(item = unc_session_find_item(s, id)))
		return "";
	unc_turning_hold(s);
	first = next_missing(s, item, &unit);
	while (next_missing(s, item, &unit))
		others++;
	unc_turning_go_on(s);
	if (!first)
		return "";
	if (others)
		snprintf(more, sizeof(more), " and %u more", others);
	unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "%s%d (socket %d)%s: %s", first->type->name,
		 first->index, first->socket, more, first->reason);
	return s->error.text;
}
