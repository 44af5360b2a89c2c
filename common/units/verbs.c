/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: a start and a stop, step by step. Each step is done for all units at once, whoever counts
 * on them: all is prepared or nothing, and one lock of the node is held from the first look at a
 * unit to the first look at its counters.
 */
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "units/inside.h"

/* Who may count. What comes first is prepared, written and read first. */
static const struct unc_unit_methods *const owners[] = {&unc_registers, &unc_driver};
enum { OWNERS = sizeof(owners) / sizeof(owners[0]) };

/* ---- starting */

static int add_reads(struct unc_units *s, enum unc_extent extent, struct unc_plan *plan,
		     uint32_t *slot, struct unc_error *err)
{
	int rc = 0;

	for (int i = 0; i < OWNERS && rc == 0; i++)
		rc = owners[i]->read(s, extent, plan, slot, err);
	return rc;
}

static int prepare_reads(struct unc_units *s, struct unc_error *err)
{
	struct unc_plan plan = {0};
	uint32_t *slot = calloc(s->n_slots + 1, sizeof(*slot));
	size_t n_always;
	int rc = slot ? add_reads(s, UNC_ALL, &plan, slot, err)
		      : unc_fail(err, UNC_ERR_MEMORY, "out of memory");

	n_always = plan.n;
	if (rc == 0)
		rc = add_reads(s, UNC_TURN, &plan, slot, err);
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
	s->n_always = n_always;
	free(plan.tag);
	return 0;
}

/* A simulated machine has nobody beside this process. */
static uint64_t choose_place(const struct unc_units *s)
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

/* Nothing is known of a run before. */
static void begin(struct unc_units *s)
{
	for (size_t i = 0; i < s->n_slots; i++) {
		s->slot[i].lost = (struct unc_loss){0};
		s->slot[i].unread = 0;
	}
	s->flawed = s->programs = false;
	s->place = choose_place(s);
}

int unc_units_start(struct unc_units *s, enum unc_extent extent, struct unc_error *err)
{
	size_t first = extent == UNC_ALL ? 0 : s->n_claims;
	int rc;

	if (extent == UNC_ALL)
		begin(s);
	rc = unc_units_claim(s, extent, err);

	for (int i = 0; i < OWNERS && rc == 0; i++)
		rc = owners[i]->open ? owners[i]->open(s, first, err) : 0;
	if (rc == 0)
		rc = prepare_reads(s, err);
	for (int i = 0; i < OWNERS && rc == 0; i++)
		rc = owners[i]->start(s, first, err);
	return rc;
}

void unc_units_cancel(struct unc_units *s)
{
	s->n_reads = 0; /* they may not be ready */
	if (s->state == UNC_TOUCHED) {
		unc_units_stop(s, UNC_ALL, NULL);
		return;
	}
	unc_driver.stop(s, 0, NULL);
	if (s->guest)
		s->guest->end(s->host);
	unc_units_leave_ledger(s);
}

/* ---- looking again */

/* Marks what is not ours any more on claim[first] and those behind it; with `prove`, what does
 * not count, too. */
static int check(struct unc_units *s, size_t first, bool prove, struct unc_error *err)
{
	uint64_t ns, tsc;
	int rc = 0;

	unc_platform_now(s->platform, &ns, &tsc);
	if (first == 0)
		s->verified_ns = ns;
	if (first == 0 && prove)
		s->proven_ns = ns;
	/* Registers last: a clock that is lent changes what they count. */
	for (int i = OWNERS; i-- > 0 && rc == 0;)
		rc = owners[i]->check(s, first, prove, err);
	return rc;
}

int unc_units_check_due(struct unc_units *s, struct unc_error *err)
{
	/* ns: it costs as much as a read; a clock that is lent takes time from what is counted. */
	const uint64_t often = 1000000, prove_often = 50000000;
	uint64_t ns, tsc;
	bool prove;
	int rc;

	unc_platform_now(s->platform, &ns, &tsc);
	if (ns - s->verified_ns < often)
		return 0;
	/* Who starts meanwhile must not find a clock that is lent; nobody is waited for. */
	prove = ns - s->proven_ns >= prove_often && unc_units_try_lock(s);
	rc = check(s, 0, prove, err);
	if (prove)
		unc_units_unlock(s);
	return rc;
}

/* ---- stopping */

struct stop {
	struct unc_units *s;
	enum unc_extent extent;
	size_t first; /* claim */
};

/* Room for all that may be restored, before anything is done. */
static int make_ready(struct stop *stop, struct unc_error *err)
{
	int rc = 0;

	for (int i = 0; i < OWNERS && rc == 0; i++)
		rc = owners[i]->ready ? owners[i]->ready(stop->s, stop->first, err) : 0;
	return rc;
}

/* What was counted up to now. */
static int read_last(struct stop *stop, struct unc_error *err)
{
	return stop->s->n_reads ? unc_units_read(stop->s, stop->extent, err) : 0;
}

/* Whether it was ours, and counted, until now. */
static int check_last(struct stop *stop, struct unc_error *err)
{
	return check(stop->s, stop->first, true, err);
}

/* What was not read is lost with the turn; where all stop it remains unread. */
static int end_turn(struct stop *stop, struct unc_error *err)
{
	(void)err;
	if (stop->extent == UNC_TURN)
		unc_units_lose_unread(stop->s, UNC_TURN);
	return 0;
}

/* What is restored: not what somebody else needs, or has changed. */
static int settle(struct stop *stop, struct unc_error *err)
{
	int rc = 0;

	for (int i = 0; i < OWNERS && rc == 0; i++)
		rc = owners[i]->settle ? owners[i]->settle(stop->s, stop->first, err) : 0;
	return rc;
}

/* It is restored; nothing is held any more, and what the kernel counted for us is closed. */
static int release(struct stop *stop, struct unc_error *err)
{
	int first = 0;

	for (int i = 0; i < OWNERS; i++) {
		int rc = owners[i]->stop(stop->s, stop->first, first ? NULL : err);

		first = first ? first : rc;
	}
	return first;
}

/* What is gone is not read any more; the read plan of the kernel's events is gone with them. */
static int forget(struct stop *stop, struct unc_error *err)
{
	struct unc_units *s = stop->s;

	(void)err;
	s->n_reads = stop->extent == UNC_ALL ? 0 : s->n_always;
	s->n_claims = stop->first;
	if (stop->extent == UNC_ALL) {
		unc_units_leave_ledger(s);
		s->state = UNC_IDLE;
	}
	return 0;
}

/* The order of a stop is a contract: see what each step says. Until it is released nothing is
 * written, and where memory runs out all is as before; whatever else fails, the steps behind it
 * are taken. */
static const struct {
	int (*take)(struct stop *, struct unc_error *);
	enum { AS_BEFORE, DONE } memory;
} steps[] = {
	{make_ready, AS_BEFORE}, {read_last, AS_BEFORE}, {check_last, AS_BEFORE},
	{end_turn, AS_BEFORE},   {settle, AS_BEFORE},    {release, DONE},
	{forget, DONE},
};

/* How many units go on when the turn changes: they come first. */
static size_t count_always(const struct unc_units *s)
{
	size_t n = 0;

	while (n < s->n_claims && s->wanted[unc_units_number(s, s->claim[n].instance)].always)
		n++;
	return n;
}

int unc_units_stop(struct unc_units *s, enum unc_extent extent, struct unc_error *err)
{
	struct stop stop = {s, extent, extent == UNC_ALL ? 0 : count_always(s)};
	int first = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int rc = steps[i].take(&stop, first ? NULL : err);

		if (rc == UNC_ERR_MEMORY && steps[i].memory == AS_BEFORE)
			return unc_fail(err, rc, "out of memory");
		if (!first) /* which would mean that nothing is done */
			first = rc == UNC_ERR_MEMORY ? UNC_ERR_IO : rc;
	}
	return first;
}

/* ---- all */

void unc_units_forget(struct unc_units *s)
{
	for (size_t i = 0; i < s->n_slots; i++) {
		s->slot[i].total = s->slot[i].driver.shown = 0;
		s->slot[i].time = (struct unc_run_time){0};
	}
	s->idled = false;
}

int unc_units_show(struct unc_units *s, enum unc_phase phase, unc_operation_fn fn, void *user,
		   struct unc_error *err)
{
	int rc = 0;

	for (int i = 0; i < OWNERS && rc == 0; i++)
		rc = owners[i]->show(s, phase, fn, user, err);
	return rc;
}

void unc_units_free(struct unc_units *s)
{
	for (int i = 0; i < OWNERS; i++)
		if (owners[i]->forget && !unc_platform_here(s->platform))
			owners[i]->forget(s);
	free(s->wanted);
	free(s->doubtful);
	free(s->slot);
	free(s->claim);
	free(s->read);
	free(s->read_slot);
	unc_plan_free(&s->check);
	unc_plan_free(&s->restore);
}
