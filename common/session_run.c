/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: programming the counters of a pass, and putting back what was found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "session.h"

/* ---- slots and registers */

uint16_t unc_slot_register(const struct unc_table *t, const struct unc_slot *slot, unsigned counter)
{
	if (slot->code.counter != UNC_NONE)
		return t->counter[slot->code.counter].ctr;
	return unc_type_ctr(&t->type[slot->code.type], counter);
}

unsigned unc_slot_width(const struct unc_table *t, const struct unc_slot *slot)
{
	if (slot->code.counter != UNC_NONE)
		return t->counter[slot->code.counter].width;
	return t->type[slot->code.type].width;
}

/* ---- the read plan */

static int build_reads(struct unc_session *s, struct unc_plan *plan, uint32_t *slot,
		       struct unc_error *err)
{
	for (size_t k = 0; k < s->n_slots; k++) {
		const struct unc_slot *one = &s->slot[k];
		int rc;

		if (one->pass != s->now)
			continue;
		slot[plan->n] = (uint32_t)k;
		rc = unc_plan_add(s->platform->table, plan,
				  &s->platform->instances.unit[one->instance], one->ctr,
				  UNC_OP_READ, 0, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int prepare_reads(struct unc_session *s, struct unc_error *err)
{
	struct unc_plan plan = {0};
	uint32_t *slot = calloc(s->n_slots + 1, sizeof(*slot));
	int rc = slot ? build_reads(s, &plan, slot, err)
		      : unc_fail(err, UNC_ERR_MEMORY, "out of memory");

	if (rc == 0 && plan.n)
		rc = unc_access_prepare(s->platform->access, plan.op, plan.n, err);
	if (rc < 0) {
		free(slot);
		unc_plan_free(&plan);
		return rc;
	}
	free(s->read);
	free(s->read_slot);
	s->read = plan.op;
	s->read_slot = slot;
	s->n_reads = plan.n;
	free(plan.tag);
	return 0;
}

/* ---- running plans */

int unc_session_run(struct unc_session *s, struct unc_reg_op *op, size_t n, const char *what,
		    struct unc_error *err)
{
	int code = UNC_ERR_IO;

	if (n == 0 || unc_access_run(s->platform->access, op, n) == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (op[i].error == UNC_ERR_BUSY || op[i].error == UNC_ERR_PERMISSION)
			code = op[i].error;
	if (code == UNC_ERR_BUSY)
		return unc_fail(err, code,
				"%s failed: the kernel has no counter left for one of the events",
				what);
	return unc_fail(err, code, "%s failed: a register could not be accessed", what);
}

/* ---- stopping and starting */

/* The first error of several steps counts. */
static int also(int first, int rc)
{
	return first ? first : rc;
}

/*
 * Goes on after a failed access: what can be put back is put back. Returns the first error. Where
 * memory has run out nothing is done yet and everything is as before: it can be tried again.
 */
static int unprogram(struct unc_session *s, struct unc_error *err)
{
	struct unc_plan plan = {0};
	int first, rc;

	unc_claim_keep(s->platform, s->unit, s->n_units);
	first = unc_session_neighbours(s, err);
	if (first == UNC_ERR_MEMORY)
		return first;
	rc = unc_plan_stop(s->platform->table, s->unit, s->n_units, &plan, first ? NULL : err);
	if (rc == 0 && plan.n)
		rc = unc_access_prepare(s->platform->access, plan.op, plan.n, first ? NULL : err);
	first = also(first, rc);
	if (rc == UNC_ERR_MEMORY) {
		unc_plan_free(&plan);
		return rc;
	}
	if (rc == 0 && plan.go)
		first = also(first,
			     unc_session_run(s, plan.op, plan.go, "stopping", first ? NULL : err));
	/* Frozen where they may be: this is the last look. */
	if (rc == 0 && s->n_reads)
		first = also(first, unc_session_look(s, first ? NULL : err));
	if (rc == 0 && plan.n > plan.go)
		first = also(first, unc_session_run(s, plan.op + plan.go, plan.n - plan.go,
						    "stopping", first ? NULL : err));
	first = also(first, unc_sample_release(s, first ? NULL : err));
	unc_sample_end(s);
	unc_claim_release(s->platform, s->unit, s->n_units);
	unc_plan_free(&plan);
	return first;
}

int unc_session_unprogram(struct unc_session *s, struct unc_error *err)
{
	pthread_mutex_lock(&s->platform->program);
	int rc = unprogram(s, err);
	pthread_mutex_unlock(&s->platform->program);
	return rc;
}

static int program(struct unc_session *s, bool *touched, struct unc_error *err)
{
	struct unc_plan plan;
	int rc = unc_session_prepare(s, err);

	*touched = false;
	if (rc == 0)
		rc = unc_sample_prepare(s, err);
	if (rc == 0)
		rc = prepare_reads(s, err);
	if (rc < 0)
		return rc;
	rc = unc_plan_start(s->platform->table, s->unit, s->n_units, &plan, err);
	if (rc < 0)
		return rc;
	rc = plan.n ? unc_access_prepare(s->platform->access, plan.op, plan.n, err) : 0;
	if (rc == 0)
		rc = unc_claim(s->platform, s->unit, s->n_units, err);
	if (rc == 0) {
		*touched = true;
		rc = unc_sample_begin(s, err);
	}
	if (rc == 0)
		rc = unc_session_run(s, plan.op, plan.n, "programming the counters", err);
	unc_plan_free(&plan);
	return rc;
}

/* Values from which the first interval counts. */
static int take_base(struct unc_session *s, struct unc_error *err)
{
	uint64_t tsc;
	int rc;

	s->interval_ended = false;
	rc = unc_sample_hold(s, err);
	unc_platform_now(s->platform, &s->since_ns, &tsc);
	if (rc == 0)
		rc = unc_session_run(s, s->read, s->n_reads, "reading the counters", err);
	for (size_t i = 0; i < s->n_reads && rc == 0; i++)
		s->slot[s->read_slot[i]].last = s->read[i].value;
	return rc == 0 ? unc_sample_go(s, err) : rc;
}

int unc_session_program(struct unc_session *s, struct unc_error *err)
{
	bool touched;
	int rc;

	/* Two sessions that start at the same time must not find the same counter free. */
	pthread_mutex_lock(&s->platform->program);
	rc = program(s, &touched, err);
	pthread_mutex_unlock(&s->platform->program);
	if (rc == 0)
		rc = take_base(s, err);
	if (rc < 0 && touched) {
		s->n_reads = 0;
		unc_session_unprogram(s, NULL);
	} else if (rc < 0) {
		unc_sample_end(s);
	}
	return rc;
}

/* ---- the public part */

int unc_session_start(struct unc_session *s)
{
	int rc;

	unc_error_clear(&s->error);
	if (s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is running already");
	if (s->n_items == 0)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session has no events");
	if (!s->platform->access)
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"the platform was opened for listing only (option cpu)");
	unc_session_forget(s);
	s->now = 0;
	if ((rc = unc_session_program(s, &s->error)) < 0)
		return rc;
	s->running = s->started = true;
	s->final = false;
	rc = unc_session_watch(s, &s->error);
	if (rc < 0) {
		unc_session_unprogram(s, NULL);
		s->running = s->started = false;
	}
	return rc;
}

int unc_session_stop(struct unc_session *s)
{
	unc_error_clear(&s->error);
	if (!s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is not running");
	unc_session_unwatch(s);
	int rc = unc_session_unprogram(s, &s->error);
	s->running = rc == UNC_ERR_MEMORY;
	return rc;
}

int unc_session_rotate(struct unc_session *s)
{
	int rc;

	unc_error_clear(&s->error);
	if (!s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is not running");
	if (s->n_passes < 2)
		return 0;
	pthread_mutex_lock(&s->lock);
	rc = unc_session_unprogram(s, &s->error);
	if (rc == UNC_ERR_MEMORY) { /* nothing has happened */
		pthread_mutex_unlock(&s->lock);
		return rc;
	}
	/* A read just before has ended the interval; the moment since then is not one. */
	if (rc == 0 && !s->interval_ended)
		unc_session_end_interval(s);
	if (rc == 0) {
		s->now = (s->now + 1) % s->n_passes;
		rc = unc_session_program(s, &s->error);
	}
	pthread_mutex_unlock(&s->lock);
	if (rc < 0) {
		unc_session_unwatch(s);
		s->running = false;
		s->final = true; /* its last interval has ended */
	}
	return rc;
}

/* ---- walking */

static int walk(const struct unc_session *s, const struct unc_plan *plan, unc_operation_fn fn,
		void *user)
{
	const struct unc_table *t = s->platform->table;

	for (size_t i = 0; i < plan->n; i++) {
		const struct unc_instance *u = plan->tag[i].instance;
		const struct unc_reg *reg = &plan->op[i].reg;
		struct unc_operation out = {
			.unit = unc_tbl_str(t, t->type[u->type].name),
			.socket = u->socket,
			.index = u->index,
			.reg = unc_tbl_str(t, t->reg[plan->tag[i].reg].name),
			.space = unc_space_name(reg->space),
			.address = unc_reg_shown(reg),
			.location = u->location,
			.width = reg->width,
			.write = plan->op[i].kind == UNC_OP_WRITE,
			.value = plan->op[i].value,
		};
		int stop = fn(user, &out);
		if (stop)
			return stop;
	}
	return 0;
}

int unc_session_plan(struct unc_session *s, enum unc_phase phase, unc_operation_fn fn, void *user)
{
	struct unc_plan plan = {0};
	unsigned now = s->now; /* a stopped session still tells its values */
	uint32_t *slot;
	int rc = 0;

	unc_error_clear(&s->error);
	if (!s->running) {
		s->now = 0;
		rc = unc_session_prepare(s, &s->error);
		if (rc == 0 && s->platform->access)
			rc = unc_sample_prepare(s, &s->error);
	}
	if (rc == 0 && phase == UNC_PHASE_READ) {
		slot = calloc(s->n_slots + 1, sizeof(*slot));
		rc = slot ? build_reads(s, &plan, slot, &s->error)
			  : unc_fail(&s->error, UNC_ERR_MEMORY, "out of memory");
		free(slot);
	} else if (rc == 0 && phase == UNC_PHASE_START) {
		rc = unc_plan_start(s->platform->table, s->unit, s->n_units, &plan, &s->error);
	} else if (rc == 0) {
		rc = unc_plan_stop(s->platform->table, s->unit, s->n_units, &plan, &s->error);
	}
	if (rc == 0)
		rc = walk(s, &plan, fn, user);
	unc_plan_free(&plan);
	s->now = now;
	if (!s->running)
		unc_sample_end(s);
	return rc;
}
