/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: programming the counters of a pass, and putting back what was found. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "session/session.h"

/* A hook, where there is a guest. */
#define HOOK(s, hook, err) ((s)->units.guest ? (s)->units.guest->hook((s), (err)) : 0)

static void end_guest(struct unc_session *s)
{
	if (s->units.guest)
		s->units.guest->end(s);
}

/* ---- the read plan */

/* Of counters that we have programmed ourselves. */
static int build_reads(const struct unc_session *s, bool always, struct unc_plan *plan,
		       uint32_t *slot, struct unc_error *err)
{
	for (size_t k = 0; k < s->units.n_slots; k++) {
		const struct unc_slot *one = &s->units.slot[k];
		int rc;

		if (!unc_units_active(&s->units, one) ||
		    s->units.wanted[one->instance].always != always ||
		    s->units.wanted[one->instance].by_kernel)
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

/* Prepared, with those of counters that the kernel has programmed for us. */
static int add_reads(const struct unc_session *s, bool always, struct unc_plan *plan,
		     uint32_t *slot, struct unc_error *err)
{
	size_t first = plan->n;
	int rc = build_reads(s, always, plan, slot, err);

	if (rc == 0 && plan->n > first)
		rc = unc_access_prepare(s->platform->access, plan->op + first, plan->n - first,
					err);
	return rc < 0 ? rc : unc_units_kernel_reads(&s->units, always, plan, slot, err);
}

static int prepare_reads(struct unc_session *s, struct unc_error *err)
{
	struct unc_plan plan = {0};
	uint32_t *slot = calloc(s->units.n_slots + 1, sizeof(*slot));
	size_t n_always;
	int rc = slot ? add_reads(s, true, &plan, slot, err)
		      : unc_fail(err, UNC_ERR_MEMORY, "out of memory");

	n_always = plan.n;
	if (rc == 0)
		rc = add_reads(s, false, &plan, slot, err);
	if (rc < 0) {
		free(slot);
		unc_plan_free(&plan);
		return rc;
	}
	free(s->units.read);
	free(s->units.read_slot);
	s->units.read = plan.op;
	s->units.read_slot = slot;
	s->units.n_reads = plan.n;
	s->units.n_always = n_always;
	free(plan.tag);
	return 0;
}

/* ---- stopping */

/* The first error of several steps counts. */
static int also(int first, int rc)
{
	return first ? first : rc;
}

/* How many units go on when the pass changes: they come first. */
static size_t count_always(const struct unc_session *s)
{
	size_t n = 0;

	while (n < s->units.n_units &&
	       s->units.wanted[s->units.unit[n].instance - s->platform->instances.unit].always)
		n++;
	return n;
}

/* Where memory runs out *plan is empty. */
static int prepare_stop(const struct unc_session *s, const struct unc_plan_unit *units, size_t n,
			struct unc_plan *plan, struct unc_error *err)
{
	int rc = unc_plan_stop(s->platform->table, units, n, plan, err);

	if (rc == 0 && plan->n)
		rc = unc_access_prepare(s->platform->access, plan->op, plan->n, err);
	if (rc == UNC_ERR_MEMORY)
		unc_plan_free(plan);
	return rc;
}

static void leave_to_kernel(const struct unc_session *s, struct unc_plan_unit *units, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		units[i].left =
			units[i].n_controls && unc_units_has_driver(s->platform, units[i].instance);
		any |= units[i].left;
	}
	any = any && unc_units_kernel_counts(&s->units);
	for (size_t i = 0; i < n; i++) {
		units[i].left &= any;
		units[i].shared |= units[i].left;
	}
}

/*
 * Goes on after a failed access: what can be put back is put back. Returns the first error. Where
 * memory has run out nothing is done yet and everything is as before: it can be tried again.
 */
static int unprogram(struct unc_session *s, bool all, struct unc_error *err)
{
	size_t keep = all ? 0 : count_always(s), n = s->units.n_units - keep;
	struct unc_plan_unit *units = s->units.unit + keep;
	struct unc_plan plan = {0};
	int first = 0, rc;

	/* Room for all that may be put back, before anything is done. */
	rc = prepare_stop(s, units, n, &plan, err);
	unc_plan_free(&plan);
	if (rc == UNC_ERR_MEMORY)
		return rc;
	first = rc;
	/* Where rotating failed half way nothing is ready to be compared. */
	if (!s->units.check.n)
		first = also(first, unc_units_verify_prepare(&s->units, first ? NULL : err));
	if (s->units.n_reads)
		first = also(first, unc_session_look(s, all ? UNC_LOOK_ALL : UNC_LOOK_PASS,
						     first ? NULL : err));
	rc = unc_units_verify(&s->units, keep, true, first ? NULL : err);
	if (rc == UNC_ERR_MEMORY)
		return unc_fail(err, rc, "out of memory");
	first = also(first, rc);
	if (!all) /* where all stop, what is unread remains so */
		unc_units_lose_unread(&s->units, s->units.n_always);
	unc_units_keep(&s->units, units, n);
	rc = unc_units_neighbours(&s->units, keep, first ? NULL : err);
	if (rc == UNC_ERR_MEMORY)
		return unc_fail(err, rc, "out of memory");
	first = also(first, rc);
	leave_to_kernel(s, units, n);
	rc = prepare_stop(s, units, n, &plan, first ? NULL : err);
	if (rc == UNC_ERR_MEMORY)
		return unc_fail(err, rc, "out of memory");
	first = also(first, rc);
	if (rc == 0)
		first = also(first, unc_units_put_back(&s->units, &plan, first ? NULL : err));
	first = also(first, HOOK(s, release, first ? NULL : err));
	end_guest(s);
	unc_units_release(&s->units, units, n, rc == 0 ? &plan : NULL);
	if (all)
		unc_units_let_go(&s->units);
	unc_units_kernel_close(&s->units, keep);
	s->units.n_reads =
		all ? 0 : s->units.n_always; /* those of the kernel cannot be run any more */
	unc_plan_free(&plan);
	unc_plan_free(&s->units.check);
	s->units.n_units = keep;
	return first;
}

/* *nothing: nothing has been done, and it can be tried again. */
static int unprogram_locked(struct unc_session *s, bool all, bool *nothing, struct unc_error *err)
{
	int rc;

	unc_units_lock(&s->units);
	rc = unprogram(s, all, err);
	*nothing = rc == UNC_ERR_MEMORY;
	unc_units_unlock(&s->units);
	return rc;
}

/* ---- starting */

/* Which passes an item has to wait for. */
static void find_waits(struct unc_session *s)
{
	for (size_t i = 0; i < s->n_measures; i++) {
		struct unc_measure *m = &s->measure[i];

		m->stays = m->rotates = false;
		for (uint32_t k = 0; k < m->n_slots; k++)
			*(s->units.wanted[s->units.slot[m->slot[k]].instance].always
				  ? &m->stays
				  : &m->rotates) = true;
	}
	for (size_t i = 0; i < s->n_items; i++) {
		struct unc_session_item *item = &s->item[i];

		item->waits = 0;
		for (uint32_t k = 0; k < item->n_measures; k++) {
			const struct unc_measure *m = &s->measure[item->measure[k]];

			if (m->rotates)
				item->waits |= (uint64_t)1 << m->pass;
		}
	}
}

static int count_doubtful(void *user, uint32_t instance, const struct unc_unit *missing)
{
	struct unc_session *s = ((void **)user)[0];
	struct unc_session_item *item = ((void **)user)[1];

	item->doubtful += !missing && s->units.wanted[instance].proof == UNC_DOUBTFUL;
	return 0;
}

static int lose_doubtful(void *user, uint32_t instance, const struct unc_unit *missing)
{
	struct unc_session *s = user;

	if (!missing)
		unc_units_lose_all(&s->units, instance);
	return 0;
}

/* A sum without doubtful units is partial; one of nothing else is none. */
static void mark_items(struct unc_session *s)
{
	for (size_t k = 0; k < s->n_items; k++) {
		struct unc_session_item *item = &s->item[k];
		void *user[] = {s, item};

		item->doubtful = 0;
		unc_session_walk_units(s, item, count_doubtful, user);
		if (item->doubtful == 0 || item->doubtful < item->units)
			continue;
		item->doubtful = 0;
		unc_session_walk_units(s, item, lose_doubtful, s);
	}
}

/* A session that freezes a socket is alone on it. */
static int check_sockets(struct unc_session *s, struct unc_error *err)
{
	for (size_t i = 0; i < s->units.n_units; i++) {
		unsigned socket = s->units.unit[i].instance->socket;
		const struct unc_instance *ubox = unc_units_ubox(&s->units, socket);
		uint16_t reg;
		char who[64];

		if (!ubox)
			continue;
		reg = unc_units_socket_reg(&s->platform->table->type[ubox->type]);
		if (unc_units_shares(&s->units, ubox, reg))
			return unc_fail(
				err, UNC_ERR_BUSY,
				"%s samples on socket %u and freezes it at overflows",
				unc_units_holder_text(&s->units, ubox, reg, who, sizeof(who)),
				socket);
	}
	return 0;
}

/* The units of the running pass with their settings. */
static int prepare(struct unc_session *s, bool begin, struct unc_error *err)
{
	int rc;

	s->units.n_turns = s->n_passes;
	rc = unc_units_prepare(&s->units, begin, err);

	if (rc == 0 && s->platform->access && (rc = check_sockets(s, err)) == 0)
		rc = HOOK(s, prepare, err);
	return rc;
}

static int program(struct unc_session *s, bool begin, bool *touched, struct unc_error *err)
{
	static const struct unc_plan nothing; /* has been written */
	size_t kept = begin ? 0 : s->units.n_units;
	struct unc_plan plan;
	uint64_t ns, tsc;
	int rc = prepare(s, begin, err);

	*touched = false;
	if (begin)
		find_waits(s);
	if (rc == 0)
		rc = unc_units_kernel_open(&s->units, kept, err);
	if (rc == 0)
		rc = prepare_reads(s, err);
	if (rc == 0)
		rc = unc_units_verify_prepare(&s->units, err);
	if (rc < 0)
		return rc;
	rc = unc_plan_start(s->platform->table, s->units.unit + kept, s->units.n_units - kept,
			    &plan, err);
	if (rc < 0)
		return rc;
	rc = plan.n ? unc_access_prepare(s->platform->access, plan.op, plan.n, err) : 0;
	if (rc == 0) {
		rc = unc_units_note(&s->units, s->units.unit + kept, s->units.n_units - kept, err);
		if (rc < 0)
			unc_units_release(&s->units, s->units.unit + kept, s->units.n_units - kept,
					  &nothing);
	}
	if (rc == 0) {
		*touched = true;
		rc = HOOK(s, begin, err);
	}
	unc_platform_now(s->platform, &ns, &tsc);
	for (size_t i = 0; i < s->units.n_slots; i++)
		if (s->units.slot[i].begin)
			s->units.slot[i].seen_ns = ns;
	if (rc == 0)
		rc = unc_units_run_plan(&s->units, &plan, "programming the counters", err);
	unc_plan_free(&plan);
	if (rc == 0)
		rc = unc_units_verify_begin(&s->units, kept, err);
	if (rc == 0)
		rc = unc_units_prove(&s->units, kept, err);
	if (rc == 0)
		mark_items(s);
	return rc < 0 ? rc : unc_units_kernel_prove(&s->units, kept, true, err);
}

/* Values from which the first interval counts. */
static int take_base(struct unc_session *s, bool begin, struct unc_error *err)
{
	int rc = HOOK(s, hold, err);

	s->begins = s->pass[s->units.turn].begun = true;
	if (rc == 0)
		rc = unc_session_look(s, begin ? UNC_LOOK_ALL : UNC_LOOK_PASS, err);
	if (rc == 0)
		unc_units_lose_unread(&s->units, begin ? 0 : s->units.n_always);
	if (begin) {
		s->start_ns = s->units.verified_ns = s->units.proven_ns = s->since_ns;
		s->wall.time = 0;
	}
	return rc == 0 ? HOOK(s, go, err) : rc;
}

/* Two sessions that start at the same time must not find the same counter free: the lock is held
 * from the look to the base. */
static int program_pass(struct unc_session *s, bool begin, struct unc_error *err)
{
	bool touched = false;
	int rc;

	unc_units_lock(&s->units);
	rc = unc_units_bury(&s->units, err);
	if (rc == 0)
		rc = program(s, begin, &touched, err);
	if (rc == 0)
		rc = take_base(s, begin, err);
	if (rc < 0 && (touched || !begin)) {
		s->units.n_reads = 0;
		unprogram(s, true, NULL);
	} else if (rc < 0) {
		unc_units_kernel_close(&s->units, 0);
		end_guest(s);
		unc_units_let_go(&s->units);
	}
	unc_units_unlock(&s->units);
	return rc;
}

/* ---- the public part */

/* A simulated machine has nobody beside this process. */
static uint64_t choose_place(const struct unc_session *s)
{
	uint64_t place, ns, tsc;

	if (s->platform->machine->simulated)
		return 0;
	if (getrandom(&place, sizeof(place), GRND_NONBLOCK) != sizeof(place)) {
		unc_platform_now(s->platform, &ns, &tsc);
		place = (ns ^ (uint64_t)getpid()) * 0x9E3779B97F4A7C15;
	}
	return place | 1;
}

int unc_session_start(struct unc_session *s)
{
	bool nothing;
	int rc = unc_session_enter(s);

	if (rc < 0)
		return rc;
	if (s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is running already");
	if (s->n_items == 0)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session has no events");
	if (!s->platform->access)
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"the platform was opened for listing only (option cpu)");
	unc_session_forget(s);
	for (size_t i = 0; i < s->units.n_slots; i++) {
		s->units.slot[i].lost = (struct unc_loss){0};
		s->units.slot[i].unread = 0;
	}
	s->units.flawed = s->units.programs = false;
	s->units.place = choose_place(s);
	s->units.turn = 0;
	s->started = false; /* if it fails, nothing is left to be read */
	if ((rc = program_pass(s, true, &s->error)) < 0)
		return rc;
	s->running = s->started = true;
	s->final = false;
	rc = unc_session_watch(s, &s->error);
	if (rc < 0) {
		unprogram_locked(s, true, &nothing, NULL);
		s->running = s->started = false;
	}
	return rc;
}

int unc_session_stop(struct unc_session *s)
{
	bool nothing;
	int rc = unc_session_enter(s);

	if (rc < 0)
		return rc;
	if (!s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is not running");
	unc_session_unwatch(s);
	rc = unprogram_locked(s, true, &nothing, &s->error);
	s->running = nothing;
	return rc;
}

int unc_session_rotate(struct unc_session *s)
{
	bool nothing;
	int rc = unc_session_enter(s);

	if (rc < 0)
		return rc;
	if (!s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is not running");
	if (s->n_passes < 2)
		return 0;
	pthread_mutex_lock(&s->lock);
	rc = unprogram_locked(s, false, &nothing, &s->error);
	if (nothing) {
		pthread_mutex_unlock(&s->lock);
		return rc;
	}
	if (rc == 0) {
		s->units.turn = (s->units.turn + 1) % s->n_passes;
		rc = program_pass(s, false, &s->error);
	} else {
		unprogram_locked(s, true, &nothing, NULL);
	}
	pthread_mutex_unlock(&s->lock);
	if (rc < 0) {
		unc_session_unwatch(s);
		s->running = false;
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
	unsigned now = s->units.turn; /* a stopped session still tells its values */
	uint32_t *slot;
	int rc = 0;

	if ((rc = unc_session_enter(s)) < 0)
		return rc;
	unc_units_lock(&s->units);
	if (!s->running) {
		s->units.turn = 0;
		rc = prepare(s, true, &s->error);
	}
	if (rc == 0 && phase == UNC_PHASE_READ) {
		slot = calloc(s->units.n_slots + 1, sizeof(*slot));
		rc = slot ? build_reads(s, true, &plan, slot, &s->error)
			  : unc_fail(&s->error, UNC_ERR_MEMORY, "out of memory");
		if (rc == 0)
			rc = build_reads(s, false, &plan, slot, &s->error);
		free(slot);
	} else if (rc == 0 && phase == UNC_PHASE_START) {
		rc = unc_plan_start(s->platform->table, s->units.unit, s->units.n_units, &plan,
				    &s->error);
	} else if (rc == 0) {
		rc = unc_plan_stop(s->platform->table, s->units.unit, s->units.n_units, &plan,
				   &s->error);
	}
	if (rc == 0 && s->sample)
		rc = s->units.guest->plan(s, phase, &plan, &s->error);
	if (rc == 0)
		rc = walk(s, &plan, fn, user);
	if (rc == 0)
		rc = unc_units_kernel_walk(&s->units, phase, fn, user);
	unc_plan_free(&plan);
	s->units.turn = now;
	if (!s->running)
		end_guest(s);
	unc_units_unlock(&s->units);
	return rc;
}
