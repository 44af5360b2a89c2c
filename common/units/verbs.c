/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: a start and a stop, step by step. Each step is done for all units at once, whoever counts
 * on them: all is prepared or nothing, and one lock of the node is held from the first look at a
 * unit to the first look at its counters.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "units/registers.h"

/* Who may count. What comes first is prepared, written and read first. */
static const struct unc_unit_methods *const owners[] = {&unc_registers, &unc_driver};
enum { OWNERS = sizeof(owners) / sizeof(owners[0]) };

/* A step of each owner, up to the first that fails; all end, whatever comes of it. */
static int each(struct unc_units *s, enum unc_step step, size_t first, struct unc_error *err)
{
	int failed = 0;

	for (int i = 0; i < OWNERS && (!failed || step == UNC_END_ALL); i++) {
		int rc = owners[i]->take[step]
				 ? owners[i]->take[step](s, first, failed ? NULL : err)
				 : 0;

		failed = failed ? failed : rc;
	}
	return failed;
}

/* ---- looking again */

/* Marks what is not ours any more on claim[first] and those behind it, or does not count. */
static int check(struct unc_units *s, size_t first, enum unc_check_kind kind, struct unc_error *err)
{
	int rc = 0;

	for (int i = 0; i < OWNERS && rc == 0; i++)
		rc = owners[i]->check(s, first, kind, err);
	return rc;
}

int unc_units_check_due(struct unc_units *s, uint64_t ns, struct unc_error *err)
{
	/* ns: it is an access for each counter; where nothing moves clocks are asked. */
	const uint64_t often = 1000000, prove_often = 50 * often;
	bool prove = ns - s->proven_ns >= prove_often;
	size_t suspects;
	int rc;

	s->check_ns = ns;
	if (ns - s->shown_ns < often)
		return check(s, 0, UNC_IN_TURN, err);
	suspects = unc_units_suspect(s, ns, prove ? UNC_PROVE : UNC_SUSPECTS);
	/* Who starts meanwhile must not find a counter that is a witness; nobody is waited for. */
	if (!suspects)
		rc = check(s, 0, UNC_IN_TURN, err);
	else if (prove && unc_units_lock(s, 0, NULL) == 0) {
		rc = check(s, 0, UNC_PROVE, err);
		unc_units_unlock(s);
	} else {
		rc = check(s, 0, UNC_SUSPECTS, err);
		prove = false;
	}
	if (prove)
		s->proven_ns = ns;
	if (rc == 0 && (prove || suspects))
		unc_units_compare_clocks(s, 0);
	return rc;
}

/* ---- stopping */

static int read_last(struct unc_units *s, enum unc_extent extent, size_t first,
		     struct unc_error *err)
{
	(void)first;
	return s->n_reads ? unc_units_read(s, extent, err) : 0;
}

static int check_last(struct unc_units *s, enum unc_extent extent, size_t first,
		      struct unc_error *err)
{
	int rc = check(s, first, UNC_LAST, err);

	(void)extent;
	if (rc == 0)
		unc_units_compare_clocks(s, first ? s->n_always : 0);
	return rc;
}

static int end_turn(struct unc_units *s, enum unc_extent extent, size_t first,
		    struct unc_error *err)
{
	(void)err;
	if (extent == UNC_TURN)
		unc_units_lose_unread(s, UNC_TURN);
	unc_units_mark_staying(s, extent, first);
	return 0;
}

/* A stamp for the reads of each unit. Registers in memory are read faster than the clock: of units that
 * have a few of them together one stamp tells as much. */
static void set_stamps(struct unc_units *s)
{
	enum { FEW = 16 };
	size_t n = 0, end;

	for (size_t i = 0; i < s->n_reads; i = end) {
		bool together = n && i != s->n_always && s->read[i].reg.space == UNC_SPACE_MMIO &&
				s->read[i - 1].reg.space == UNC_SPACE_MMIO;

		end = unc_units_reads_end(s, i);
		if (!together || end - s->stamp[n - 1].first > FEW)
			s->stamp[n++].first = i;
	}
	if (s->stamp)
		s->stamp[n].first = s->n_reads;
}

/* What is not claimed any more is not read. Others are read between other stamps then. */
static void keep_claimed(struct unc_units *s)
{
	size_t n = 0, always = 0;

	for (size_t i = 0; i < s->n_reads; i++) {
		if (!s->wanted[s->slot[s->read_slot[i]].instance].claimed)
			continue;
		always += i < s->n_always;
		s->read[n] = s->read[i];
		s->read_slot[n++] = s->read_slot[i];
	}
	s->n_reads = n;
	s->n_always = always;
	set_stamps(s);
	unc_units_part_reads(s);
}

static int forget(struct unc_units *s, enum unc_extent extent, size_t first, struct unc_error *err)
{
	(void)err;
	for (size_t i = first; i < s->n_claims; i++)
		unc_units_wanted(s, s->claim[i].instance)->claimed = UNC_FREE;
	keep_claimed(s);
	unc_units_drop_ended(s, first);
	if (extent == UNC_ALL)
		s->state = UNC_IDLE;
	return 0;
}

/* The order of a stop is a contract. Until units end nothing is written, and where memory runs out
 * all is as before; whatever else fails, the steps behind it are taken. */
static const struct {
	int (*take)(struct unc_units *, enum unc_extent, size_t first, struct unc_error *);
	enum unc_step owners; /* where take is NULL: what each of them does */
} steps[] = {
	{NULL, UNC_READY}, /* room for all that may be restored */
	{read_last, 0},    /* what was counted up to now */
	{check_last, 0},   /* whether it was ours, and counted, until now */
	{end_turn, 0},     /* what is unread no later turn makes good; where all stop it stays so */
	{NULL, UNC_SETTLE},  /* what is restored: not what somebody else needs, or has changed */
	{NULL, UNC_END_ALL}, /* it is restored, and then released; the kernel's events are closed */
	{forget, 0},         /* what is gone is read no more, and held by nobody */
};

/* How many units go on when the turn changes: they come first. */
static size_t count_always(const struct unc_units *s)
{
	size_t n = 0;

	while (n < s->n_claims && unc_units_wanted(s, s->claim[n].instance)->always)
		n++;
	return n;
}

/* claim[first] and those behind it end. */
static int end(struct unc_units *s, enum unc_extent extent, size_t first, struct unc_error *err)
{
	bool ended = false;
	int failed = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct unc_error *why = failed ? NULL : err;
		int rc = steps[i].take ? steps[i].take(s, extent, first, why)
				       : each(s, steps[i].owners, first, why);

		ended |= steps[i].owners == UNC_END_ALL;
		if (rc == UNC_ERR_MEMORY && !ended)
			return unc_fail(err, rc, "out of memory");
		if (!failed) /* memory that ran out later does not mean that nothing is done */
			failed = rc == UNC_ERR_MEMORY ? UNC_ERR_IO : rc;
	}
	return failed;
}

int unc_units_stop(struct unc_units *s, enum unc_extent extent, struct unc_error *err)
{
	return end(s, extent, extent == UNC_ALL ? 0 : count_always(s), err);
}

void unc_units_give_up(struct unc_units *s)
{
	(void)read_last(s, UNC_ALL, 0, NULL);
	unc_units_verify(s, 0);
	unc_units_lose_unread(s, UNC_ALL);
	unc_driver.take[UNC_END_ALL](s, 0, NULL);
	unc_units_abandon(s);
	(void)forget(s, UNC_ALL, 0, NULL);
}

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
	struct unc_stamp *stamp = calloc(s->n_slots + 1, sizeof(*stamp));
	size_t n_always;
	int rc = slot && stamp ? add_reads(s, UNC_ALL, &plan, slot, err)
			       : unc_fail(err, UNC_ERR_MEMORY, "out of memory");

	n_always = plan.n;
	if (rc == 0)
		rc = add_reads(s, UNC_TURN, &plan, slot, err);
	if (rc < 0) {
		free(slot);
		free(stamp);
		unc_plan_free(&plan);
		return rc;
	}
	free(s->read);
	free(s->read_slot);
	free(s->stamp);
	s->read = plan.op;
	s->read_slot = slot;
	s->n_reads = plan.n;
	s->n_always = n_always;
	s->stamp = stamp;
	set_stamps(s);
	free(plan.tag);
	return 0;
}

/* A simulated machine has nobody beside this process. */
static uint64_t choose_place(const struct unc_units *s)
{
	uint64_t place;

	if (s->platform->machine->simulated)
		return 0;
	if (getrandom(&place, sizeof(place), GRND_NONBLOCK) != sizeof(place))
		place = (unc_machine_now(s->platform->machine) ^ (uint64_t)getpid()) *
			0x9E3779B97F4A7C15;
	return place | 1;
}

/* Nothing is known of a run before. */
static void begin(struct unc_units *s)
{
	for (size_t i = 0; i < s->n_slots; i++) {
		s->slot[i].lost = (struct unc_loss){0};
		s->slot[i].life = UNC_SOUND;
		s->slot[i].n_led = 0;
		s->slot[i].unread = 0;
		s->slot[i].span = (struct unc_span){0};
		s->slot[i].leader = (uint32_t)i;
	}
	s->flawed = s->programs = s->changed = false;
	unc_error_clear(&s->failed);
	s->usual_ns = s->interval_ns = 0;
	s->state = UNC_IDLE;
	s->place = choose_place(s);
}

/* Units that are left out come last. Where they begin. */
static size_t move_left(struct unc_units *s, size_t first)
{
	size_t end = s->n_claims;

	for (size_t i = first; i < end;) {
		struct unc_claim one;

		if (unc_units_wanted(s, s->claim[i].instance)->claimed) {
			i++;
			continue;
		}
		one = s->claim[i];
		memmove(&s->claim[i], &s->claim[i + 1], (s->n_claims - i - 1) * sizeof(one));
		s->claim[s->n_claims - 1] = one;
		end--;
	}
	return end;
}

/* What was begun on units that are left out by now is ended, unit by unit, as all is at a stop: but
 * nothing is read. */
static int end_left(struct unc_units *s, size_t first, struct unc_error *err)
{
	size_t kept = move_left(s, first), n_reads = s->n_reads, n_always = s->n_always;
	int rc = kept < s->n_claims ? unc_units_verify_prepare(s, err) : 0;

	s->n_reads = s->n_always = 0;
	while (rc == 0 && s->n_claims > kept)
		if (end(s, UNC_TURN, s->n_claims - 1, NULL) == UNC_ERR_MEMORY)
			rc = unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	s->n_reads = n_reads;
	s->n_always = n_always;
	keep_claimed(s);
	return rc;
}

/* claim[first] and those behind it, those left out that cannot be had. */
static int start(struct unc_units *s, size_t first, struct unc_error *err)
{
	static const enum unc_step begins[] = {UNC_OPEN, UNC_BEGIN, UNC_SHOW};
	int rc = 0;

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]) && rc == 0; i++) {
		rc = each(s, begins[i], first, err);
		if (rc == 0 && begins[i] == UNC_OPEN)
			rc = prepare_reads(s, err);
		if (rc == 0)
			rc = end_left(s, first, err);
	}
	for (size_t i = first; i < s->n_claims && rc == 0; i++)
		unc_units_take_up(s, unc_units_number(s, s->claim[i].instance));
	return rc;
}

/* The lock is held. */
static bool take_again(struct unc_units *s)
{
	size_t first;
	bool any;
	int rc = unc_units_reclaim(s, false, NULL);

	unc_units_free_due(s);
	if (rc == 0)
		rc = end_left(s, 0, NULL);
	first = s->n_claims;
	if (rc == 0)
		rc = unc_units_claim_again(s, NULL);
	if (rc == 0)
		rc = start(s, first, NULL);
	for (size_t i = first; i < s->n_claims && rc < 0; i++)
		unc_units_wanted(s, s->claim[i].instance)->claimed = UNC_FREE;
	if (rc < 0)
		end_left(s, 0, NULL);
	any = s->n_claims > first;
	unc_units_sort(s);
	return any;
}

bool unc_units_take_again(struct unc_units *s)
{
	bool due = false, any;

	for (uint32_t i = 0; i < s->platform->instances.n && s->flawed; i++)
		due |= s->wanted[i].head != UNC_END && unc_units_is_due(s, i);
	if (!due || unc_units_lock(s, 0, NULL) < 0)
		return false;
	any = take_again(s);
	unc_units_unlock(s);
	return any;
}

int unc_units_start(struct unc_units *s, enum unc_extent extent, struct unc_error *err)
{
	size_t first = extent == UNC_ALL ? 0 : count_always(s);
	int rc;

	if (extent == UNC_ALL)
		begin(s);
	rc = unc_units_claim(s, extent, err);
	if (rc == 0)
		rc = start(s, first, err);
	for (int tries = 0; tries < 3 && rc == 0 && s->changed; tries++) {
		s->changed = false;
		(void)take_again(s);
	}
	for (size_t i = 0; i < s->n_slots && extent == UNC_ALL; i++)
		if (s->slot[i].life == UNC_TAKEN_UP) { /* nothing has been counted yet */
			s->slot[i].life = UNC_SOUND;
			s->slot[i].lost = (struct unc_loss){.why = UNC_LOST_NOT};
			s->slot[i].span.taken_up = false;
		}
	for (size_t i = 0; i < s->n_slots && extent == UNC_ALL; i++)
		s->slot[i].steady =
			s->wanted[s->slot[i].instance].claimed && unc_units_active(s, &s->slot[i]);
	if (rc == 0)
		unc_units_unmark(s, 0);
	if (rc == 0 && extent == UNC_ALL)
		unc_units_find_leaders(s);
	return rc;
}

void unc_units_cancel(struct unc_units *s)
{
	s->n_reads = 0; /* they may not be ready */
	if (s->state == UNC_TOUCHED) {
		if (unc_units_stop(s, UNC_ALL, NULL) == UNC_ERR_MEMORY)
			unc_units_drop(s);
		return;
	}
	unc_driver.take[UNC_END_ALL](s, 0, NULL);
}

/* ---- all */

void unc_units_forget(struct unc_units *s)
{
	for (size_t i = 0; i < s->n_slots; i++) {
		struct unc_seen seen = s->slot[i].span.total.to;

		s->slot[i].total = 0;
		s->slot[i].reported = s->slot[i].delta = 0;
		s->slot[i].reported_unread = s->slot[i].late = 0;
		s->slot[i].span =
			(struct unc_span){.total = {.from = seen, .to = seen, .blur = seen.width},
					  .before = s->slot[i].span.before};
		unc_clock_begin(s, &s->slot[i]);
	}
	for (size_t i = 0; i < s->platform->instances.n; i++)
		if (s->wanted[i].proof == UNC_UNSHOWN)
			s->wanted[i].proof = UNC_COUNTS;
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
	for (size_t i = 0; s->wanted && i < s->platform->instances.n; i++) {
		free(s->wanted[i].left);
		free(s->wanted[i].settings);
	}
	for (int i = 0; i < OWNERS; i++)
		if (owners[i]->forget && !unc_platform_here(s->platform))
			owners[i]->forget(s);
	free(s->wanted);
	free(s->slot);
	free(s->claim);
	free(s->read);
	free(s->read_slot);
	free(s->stamp);
	unc_plan_free(&s->check);
	unc_plan_free(&s->restore);
}
