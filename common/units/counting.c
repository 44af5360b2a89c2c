/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: sessions begin and end to count by a run. */
#include <stdlib.h>
#include <string.h>

#include "units/inside.h"

void unc_run_put(struct unc_run *run)
{
	struct unc_platform *p = run ? run->platform : NULL;
	struct unc_run **link;

	if (!run)
		return;
	if (!unc_platform_here(p)) { /* threads that are not here may hold its locks */
		if (!--run->users)
			unc_run_free(run);
		return;
	}
	pthread_mutex_lock(&p->runs.lock);
	if (!--run->users) {
		for (link = &p->runs.first; *link != run;)
			link = &(*link)->next;
		*link = run->next;
		unc_run_unwatch(
			run); /* a session that came and went during a stop has it watched */
		unc_run_free(run);
	}
	pthread_mutex_unlock(&p->runs.lock);
}

int unc_run_start(struct unc_run *run, struct unc_error *err)
{
	struct unc_platform *p = run->platform;
	uint64_t began;
	int rc;

	if ((rc = unc_node_lock(p, UNC_START_PATIENCE, err)) < 0)
		return rc;
	pthread_mutex_lock(&run->lock);
	began = unc_machine_now(p->machine);
	if (run->counting) {
		rc = unc_run_join(run, err);
	} else if ((rc = unc_run_begin(run, err)) == 0) {
		run->counting = 1;
		/* Until a change of the pass is measured, it is taken to cost as much as the start. */
		run->change_ns = run->cost_ns = run->read_ns - began;
		if ((rc = unc_run_watch(run, err)) < 0) {
			(void)unc_run_stop_all(run, NULL);
			run->counting = 0;
		}
	}
	unc_node_unlock(p);
	if (rc < 0)
		pthread_mutex_unlock(&run->lock);
	return rc;
}

static int prepare_stop(struct unc_run *run, struct unc_error *err)
{
	struct unc_batch b = unc_run_gather(run, unc_set_is_held);

	return unc_sets_ready(run, &b, err);
}

static int look_last(struct unc_run *run, struct unc_error *err)
{
	int rc;

	if (run->ended.code) /* nothing counts: the run's time has ended as well */
		return unc_fail(err, run->ended.code, "%s", run->ended.text);
	rc = run->n_groups || run->regroup ? unc_run_look(run, err) : 0;
	unc_run_compare(run, true);
	return rc;
}

int unc_run_last(struct unc_run *run, enum unc_ending *how, struct unc_error *err)
{
	int rc;

	pthread_mutex_lock(&run->lock);
	*how = UNC_LEAVES;
	if (run->counting > 1)
		return look_last(run, err);
	pthread_mutex_unlock(&run->lock);
	unc_run_unwatch(run);
	rc = unc_node_lock(run->platform, UNC_STOP_PATIENCE, err);
	pthread_mutex_lock(&run->lock);
	*how = rc < 0 ? UNC_GIVES_UP : UNC_STOPS;
	if (rc < 0) { /* another process hangs: the next start on the node restores what is left */
		(void)look_last(run, NULL);
		return rc;
	}
	if (run->ended.code)
		return unc_fail(err, run->ended.code, "%s", run->ended.text);
	if (run->counting > 1) /* another session has come meanwhile */
		*how = UNC_LEAVES;
	else if ((rc = prepare_stop(run, err)) < 0)
		*how = UNC_STAYS;
	if (*how == UNC_STOPS)
		return look_last(run, err);
	unc_node_unlock(run->platform);
	(void)unc_run_watch(run, NULL);
	if (*how == UNC_LEAVES)
		return look_last(run, err);
	pthread_mutex_unlock(&run->lock);
	return rc;
}

/* Leaves what could not be stopped as a killed process does. */
static void abandon_all(struct unc_run *run)
{
	for (size_t i = 0; i < run->n_sets + run->n_clocks; i++) {
		struct unc_set *set = unc_run_set(run, i);
		const struct unc_batch one = {&set, 1};

		if (unc_set_is_held(run, set))
			set->by->abandon(run, &one);
		if (set->state == UNC_SET_COUNTS)
			set->state = UNC_SET_OFF;
	}
}

int unc_run_end(struct unc_run *run, enum unc_ending how, struct unc_error *err)
{
	int rc = 0;

	run->counting -= how != UNC_GIVES_UP;
	if (how == UNC_STOPS) {
		rc = unc_run_stop_all(run, err);
		unc_node_unlock(run->platform);
	} else if (how == UNC_GIVES_UP) {
		pthread_mutex_unlock(&run->lock);
		pthread_mutex_lock(&run->platform->program);
		pthread_mutex_lock(&run->lock);
		if (--run->counting == 0)
			abandon_all(run);
		else /* a session has come before the run was unwatched */
			(void)unc_run_watch(run, NULL);
		pthread_mutex_unlock(&run->platform->program);
	}
	pthread_mutex_unlock(&run->lock);
	return rc;
}

int unc_run_show(struct unc_run *run, bool counts, enum unc_phase phase, unc_operation_fn fn,
		 void *user, struct unc_error *err)
{
	struct unc_batch b;
	int rc = unc_node_lock(run->platform, UNC_START_PATIENCE, err);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&run->lock);
	if (run->counting > counts && phase != UNC_PHASE_READ) {
		pthread_mutex_unlock(&run->lock);
		unc_node_unlock(run->platform);
		return 0;
	}
	if (!run->counting)
		unc_run_clear(run);
	b = unc_run_gather(run, run->counting ? unc_set_is_held : unc_set_begins);
	rc = unc_sets_show(run, &b, run->counting, phase, fn, user, err);
	pthread_mutex_unlock(&run->lock);
	unc_node_unlock(run->platform);
	return rc;
}
