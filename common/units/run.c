/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: a run, and the order of its start, its stop, and a change of the pass. Each step is done for all sets at
 * once, of all providers: the lock of the node is held from the first look at a unit to the first look at its
 * counters. Locks, in this order: platform->runs.lock, the node's, the run's, platform->watch.lock.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "units/inside.h"
#include "units/look.h"

/* ---- wants become sets */

struct place {
	uint32_t pass, instance, want;
};

static int compare_places(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	if (a->pass != b->pass) /* sets that always count come first */
		return a->pass == UNC_EVERY_PASS   ? -1
		       : b->pass == UNC_EVERY_PASS ? 1
		       : a->pass < b->pass         ? -1
						   : 1;
	if (a->instance != b->instance)
		return a->instance < b->instance ? -1 : 1;
	return a->want < b->want ? -1 : a->want > b->want;
}

/* Whether all that is wanted of a unit, in all passes, fits at once: n places of it. */
static bool fits_always(const struct unc_run *run, const struct place *place, size_t n)
{
	const struct unc_code *code[UNC_MAX_CODES];
	uint8_t counter[UNC_MAX_CODES];
	struct unc_conflict conflict;
	size_t codes = 0, k;

	for (size_t i = 0; i < n; i++) {
		const struct unc_code *one = &run->want[place[i].want].event->code;

		for (k = 0; k < codes && !unc_code_same(code[k], one); k++)
			;
		if (k == UNC_MAX_CODES)
			return false;
		code[k] = one;
		codes = k == codes ? codes + 1 : codes;
	}
	return unc_schedule(run->platform->table, code, codes, 0, counter, &conflict) == 0;
}

/* Events of a unit that fit at once always count. Places are sorted by unit here. */
static void find_passes(const struct unc_run *run, struct place *place)
{
	for (size_t i = 0, end; i < run->n_wants; i = end) {
		bool always = run->n_passes == 1;

		for (end = i + 1; end < run->n_wants && place[end].instance == place[i].instance;)
			end++;
		always = always || fits_always(run, &place[i], end - i);
		for (size_t k = i; k < end && always; k++)
			place[k].pass = UNC_EVERY_PASS;
	}
}

static void make_sets(struct unc_run *run, const struct place *place)
{
	struct unc_set *set = NULL;

	for (size_t i = 0; i < run->n_wants; i++) {
		const struct unc_coded *event = run->want[place[i].want].event;
		const struct unc_instance *unit = &run->platform->instances.unit[place[i].instance];
		size_t k = 0;

		if (!set || set->unit != unit || set->pass != place[i].pass) {
			set = &run->set[run->n_sets++];
			*set = (struct unc_set){.unit = unit,
						.pass = (uint8_t)place[i].pass,
						.counter = run->counter + run->n_counters};
		}
		while (k < set->n && !unc_code_same(&set->counter[k].event->code, &event->code))
			k++;
		if (k == set->n) {
			set->counter[set->n++].event = event;
			run->of[run->n_counters++] = (uint32_t)unc_set_number(run, set);
		}
		run->at[place[i].want] = (uint32_t)(set->counter + k - run->counter);
	}
	for (size_t i = 0; i < run->n_sets; i++)
		for (size_t k = 0; k < run->set[i].n; k++)
			run->set[i].counter[k].clock = unc_counts_clock(run, &run->set[i], k);
}

/* Makes a clock for each type and socket, in each pass unless one always counts; and for each unit
 * with counters that have no control. */
static bool make_clocks(struct unc_run *run)
{
	struct unc_clock *most = calloc(run->n_sets + 1, sizeof(*most));

	if (!(run->clock = most))
		return false;
	for (size_t i = 0; i < run->n_sets; i++) {
		const struct unc_set *set = &run->set[i];
		bool bare = !unc_set_is_programmed(run->platform, set);
		struct unc_clock *c;

		/* The kernel saves these counters with each thread, and counts them itself. */
		if (unc_clock_of(run, set) || set->unit->part[0].space == UNC_SPACE_PERF)
			continue;
		c = &run->clock[run->n_clocks++];
		*c = (struct unc_clock){.unit = set->unit, .bare = bare};
		c->set = (struct unc_set){.unit = set->unit,
					  .counter = &c->counter,
					  .n = 1,
					  .pass = set->pass,
					  .clock = true};
	}
	run->clock = calloc(run->n_clocks + 1, sizeof(*most));
	for (size_t i = 0; i < run->n_clocks && run->clock; i++) {
		run->clock[i] = most[i];
		run->clock[i].set.counter = &run->clock[i].counter;
	}
	free(most);
	run->n_clocks = run->clock ? run->n_clocks : 0;
	return run->clock;
}

void unc_run_free(struct unc_run *run)
{
	bool here = unc_platform_here(run->platform);

	for (size_t i = 0; i < run->n_sets + run->n_clocks; i++) {
		struct unc_set *set = unc_run_set(run, i);

		if (set->by)
			set->by->forget(set);
		free(set->left);
	}
	if (here)
		pthread_mutex_destroy(&run->lock);
	unc_plan_free(&run->restore);
	free(run->want);
	free(run->at);
	free(run->set);
	free(run->batch);
	free(run->counter);
	free(run->op);
	free(run->of);
	free(run->passed);
	free(run->clock);
	free(run->group);
	free(run);
}

static int build_run(struct unc_run *run, const struct unc_want *want, size_t n,
		     struct unc_error *err)
{
	struct place *place = calloc(n + 1, sizeof(*place));
	size_t n_sets = 0;

	run->want = calloc(n + 1, sizeof(*want));
	run->at = calloc(n + 1, sizeof(*run->at));
	run->counter = calloc(n + 1, sizeof(*run->counter));
	run->op = calloc(n + 1, sizeof(*run->op));
	run->of = calloc(n + 1, sizeof(*run->of));
	run->passed = calloc(run->n_passes, sizeof(*run->passed));
	if (!place || !run->want || !run->at || !run->counter || !run->op || !run->of ||
	    !run->passed) {
		free(place);
		return unc_no_memory(err);
	}
	memcpy(run->want, want, n * sizeof(*want));
	run->n_wants = n;
	for (uint32_t i = 0; i < n; i++)
		place[i] = (struct place){.pass = 0, .instance = want[i].instance, .want = i};
	qsort(place, n, sizeof(*place), compare_places);
	for (size_t i = 0; i < n; i++)
		place[i].pass = want[place[i].want].pass;
	find_passes(run, place);
	qsort(place, n, sizeof(*place), compare_places);
	for (size_t i = 0; i < n; i++)
		n_sets += i == 0 || place[i].pass != place[i - 1].pass ||
			  place[i].instance != place[i - 1].instance;
	run->set = calloc(n_sets + 1, sizeof(*run->set));
	run->batch = calloc(n_sets + 1, sizeof(*run->batch));
	run->group = calloc(n_sets + 1, sizeof(*run->group));
	if (run->set && run->batch && run->group)
		make_sets(run, place);
	free(place);
	return run->set && run->batch && run->group && make_clocks(run) ? 0 : unc_no_memory(err);
}

static bool same_wants(const struct unc_run *run, const struct unc_want *want, size_t n,
		       unsigned n_passes)
{
	if (run->n_wants != n || run->n_passes != n_passes)
		return false;
	for (size_t i = 0; i < n; i++)
		if (run->want[i].event != want[i].event || run->want[i].pass != want[i].pass ||
		    run->want[i].instance != want[i].instance)
			return false;
	return true;
}

int unc_run_get(struct unc_platform *p, const struct unc_want *want, size_t n, unsigned n_passes,
		struct unc_run **out, struct unc_error *err)
{
	struct unc_run *run;
	int rc = 0;

	pthread_mutex_lock(&p->runs.lock);
	for (run = p->runs.first; run && !same_wants(run, want, n, n_passes);)
		run = run->next;
	if (!run && !(run = calloc(1, sizeof(*run)))) {
		rc = unc_no_memory(err);
	} else if (!run->users) {
		run->platform = p;
		run->n_passes = n_passes;
		pthread_mutex_init(&run->lock, NULL);
		rc = build_run(run, want, n, err);
		if (rc == 0) {
			run->next = p->runs.first;
			p->runs.first = run;
		} else {
			unc_run_free(run);
		}
	}
	if (rc == 0) {
		run->users++;
		*out = run;
	}
	pthread_mutex_unlock(&p->runs.lock);
	return rc;
}

/* ---- batches */

struct unc_batch unc_run_gather(struct unc_run *run,
				bool (*take)(const struct unc_run *, const struct unc_set *))
{
	struct unc_batch b = {run->batch, 0};

	for (size_t i = 0; i < run->n_sets; i++)
		if (take(run, &run->set[i]))
			b.set[b.n++] = &run->set[i];
	return b;
}

/* Loses sets that could not be read where they begin. */
static void lose_unread(struct unc_run *run)
{
	struct unc_error why;

	for (size_t i = 0; i < run->n_sets; i++) {
		struct unc_set *set = &run->set[i];

		if (set->state != UNC_SET_COUNTS || !set->unread || !set->begins)
			continue;
		set->by->fail_unread(run, set, &why);
		unc_set_lose(run, set, &why);
	}
}

/* Notes when a lost set counts again. */
static void note_back(struct unc_run *run, const struct unc_batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->set[i]->state == UNC_SET_COUNTS && b->set[i]->wait_ns)
			b->set[i]->retry_ns = unc_machine_now(run->platform->machine);
}

bool unc_set_begins(const struct unc_run *run, const struct unc_set *set)
{
	if (set->state == UNC_SET_LOST && set->retry_ns > unc_machine_now(run->platform->machine))
		return false;
	return set->state != UNC_SET_COUNTS && unc_set_is_due(run, set);
}

/* A socket was unfrozen: sets that have not moved did not count until now. */
static void begin_again(struct unc_run *run)
{
	for (size_t i = 0; i < run->n_sets; i++) {
		struct unc_set *set = &run->set[i];

		if (set->state == UNC_SET_COUNTS && set->by->compare)
			set->begins |= set->moved_ns == set->to.ns;
	}
	run->rebase = true;
}

/* Starts what the running pass lacks; takes the first look at it, and starts its clocks. */
static int start_pass(struct unc_run *run, bool every, struct unc_error *err)
{
	struct unc_batch b;
	int rc = 0;

	unc_clocks_before(run, every);
	run->changed = true;
	/* If a program changed a control meanwhile, another counter is claimed. */
	for (int tries = 0; tries < 4 && rc == 0 && run->changed; tries++) {
		run->changed = false;
		b = unc_run_gather(run, unc_set_begins);
		rc = b.n ? unc_sets_start(run, &b, err) : 0;
		note_back(run, &b);
	}
	if (rc == 0) {
		run->rebase = true;
		rc = unc_run_look(run, err);
		lose_unread(run);
	}
	if (rc == 0 && unc_clocks_start(run, every)) {
		begin_again(run);
		rc = unc_run_look(run, err);
	}
	return rc;
}

/* ---- a run starts */

/* A simulated machine has no other process. */
static uint64_t choose_start_value(const struct unc_platform *p)
{
	uint64_t place;

	if (p->machine->simulated || !p->access)
		return 0;
	if (getrandom(&place, sizeof(place), GRND_NONBLOCK) != sizeof(place))
		place = (unc_machine_now(p->machine) ^ (uint64_t)getpid()) * 0x9E3779B97F4A7C15;
	return place | 1;
}

/* Forgets an earlier start. */
void unc_run_clear(struct unc_run *run)
{
	for (size_t i = 0; i < run->n_sets; i++) {
		struct unc_set *set = &run->set[i];

		set->state = UNC_SET_OFF;
		set->gap = set->lapse = set->alone = false;
		set->unread = 0;
		set->doubts = set->stood = 0;
		set->doubted_ns = UINT64_MAX;
		set->retry_ns = set->wait_ns = 0;
		set->time = set->good = (struct unc_time){0};
		set->begun = false;
		set->moved = false;
		set->to = (struct unc_look){0};
		for (size_t k = 0; k < set->n; k++)
			set->counter[k].total = set->counter[k].good = 0;
	}
	for (size_t i = 0; i < run->n_clocks; i++)
		run->clock[i].set.state = UNC_SET_OFF;
	memset(run->passed, 0, run->n_passes * sizeof(*run->passed));
	run->flawed = run->programs = run->changed = false;
	run->apart = true;
	run->pass = 0;
	run->look_ns = UINT64_MAX;
	run->usual_ns = run->read_ns = run->before_ns = run->read_width = 0;
	unc_error_clear(&run->failed);
	unc_error_clear(&run->ended);
	run->place = choose_start_value(run->platform);
	run->slept = 0;
	(void)unc_machine_slept(run->platform->machine, &run->slept);
}

bool unc_set_is_held(const struct unc_run *run, const struct unc_set *set)
{
	(void)run;
	return set->state != UNC_SET_OFF && set->by;
}

/* Stops all sets; clocks first, because a batch may have only one set of a unit. */
int unc_run_stop_all(struct unc_run *run, struct unc_error *err)
{
	struct unc_batch b;

	unc_clocks_stop(run, true);
	b = unc_run_gather(run, unc_set_is_held);
	return unc_sets_stop(run, &b, err);
}

int unc_run_begin(struct unc_run *run, struct unc_error *err)
{
	int rc;

	unc_run_clear(run);
	rc = unc_node_reclaim(run->platform, run, false, err);
	if (rc == 0)
		rc = start_pass(run, true, err);
	run->compared_ns = run->read_ns + run->read_width;
	if (rc < 0)
		(void)unc_run_stop_all(run, NULL);
	return rc;
}

static void retry_sets(struct unc_run *run);

/* Adds a session to a run that counts; the caller holds the lock of the node. Lost sets are retried at once. */
int unc_run_join(struct unc_run *run, struct unc_error *err)
{
	int rc = run->ended.code ? unc_fail(err, run->ended.code, "%s", run->ended.text)
				 : unc_run_look(run, err);

	if (rc < 0)
		return rc;
	unc_run_compare(run, true);
	unc_run_accept(run, false);
	for (size_t i = 0; i < run->n_sets; i++)
		run->set[i].retry_ns = 0;
	if (unc_run_retry_ns(run) == 0)
		retry_sets(run);
	run->counting++;
	return 0;
}

/* ---- the pass changes */

static bool ends_with_pass(const struct unc_run *run, const struct unc_set *set)
{
	return unc_set_is_held(run, set) && (set->pass == run->pass || set->state == UNC_SET_LOST);
}

/* Asks for sets of the pass that have not moved since they were compared. */
static void ask_ending_sets(struct unc_run *run, bool *moved)
{
	for (size_t i = 0; i < run->n_sets; i++) {
		const struct unc_set *set = &run->set[i];

		moved[i] = set->pass != run->pass;
		for (size_t k = 0; k < set->n && unc_set_moves(run, set); k++)
			moved[i] |= set->counter[k].total != set->counter[k].good;
	}
	unc_run_compare(run, true);
	unc_run_ask(run, moved);
	unc_run_accept(run, false);
}

static int end_pass(struct unc_run *run, struct unc_error *err)
{
	bool *moved = calloc(run->n_sets + 1, sizeof(*moved));
	struct unc_error why = {0};
	struct unc_batch b = unc_run_gather(run, ends_with_pass);
	int rc = moved ? unc_sets_ready(run, &b, err) : unc_no_memory(err);

	if (rc == 0) {
		(void)unc_run_look(run, NULL);
		ask_ending_sets(run, moved);
		unc_clocks_stop(run, false);
		b = unc_run_gather(run, ends_with_pass);
		/* What cannot be claimed in the next turn is left out of it. */
		if (unc_sets_stop(run, &b, &why) < 0)
			unc_platform_log(run->platform, UNC_LOG_WARNING, "%s", why.text);
	}
	free(moved);
	return rc;
}

int unc_run_turn(struct unc_run *run, struct unc_error *err)
{
	int rc = unc_node_lock(run->platform, UNC_START_PATIENCE, err);

	if (rc < 0) /* its pass goes on */
		return rc;
	pthread_mutex_lock(&run->lock);
	if (run->counting && !run->ended.code && (rc = end_pass(run, err)) == 0) {
		run->pass = (run->pass + 1) % run->n_passes;
		rc = unc_node_reclaim(run->platform, run, false, err);
		if (rc == 0)
			rc = start_pass(run, false, err);
		if (rc < 0) {
			(void)unc_run_stop_all(run, NULL);
			run->ended = *err;
		}
	}
	pthread_mutex_unlock(&run->lock);
	unc_node_unlock(run->platform);
	return rc;
}

/* ---- retries */

static bool is_lost_and_due(const struct unc_run *run, const struct unc_set *set)
{
	return set->state == UNC_SET_LOST && unc_set_is_due(run, set);
}

uint64_t unc_run_retry_ns(const struct unc_run *run)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < run->n_sets + run->n_clocks && run->flawed; i++) {
		const struct unc_set *set = unc_run_set(run, i);

		if (is_lost_and_due(run, set) && set->retry_ns < first)
			first = set->retry_ns;
	}
	return first;
}

static bool is_retried_now(const struct unc_run *run, const struct unc_set *set)
{
	return is_lost_and_due(run, set) &&
	       set->retry_ns <= unc_machine_now(run->platform->machine);
}

/* Stops the lost sets that still hold something, then starts them. */
static void retry_sets(struct unc_run *run)
{
	struct unc_batch b = unc_run_gather(run, is_retried_now);

	if (b.n) {
		(void)unc_sets_stop(run, &b, NULL);
		for (size_t i = 0; i < b.n; i++) /* if it is lost again the pause grows */
			b.set[i]->retry_ns = unc_machine_now(run->platform->machine);
		struct unc_error why = {0};

		if (unc_sets_start(run, &b, &why) < 0)
			for (size_t i = 0; i < run->n_sets; i++)
				if (run->set[i].state == UNC_SET_OFF && run->set[i].lapse &&
				    unc_set_is_due(run, &run->set[i]))
					unc_set_lose(run, &run->set[i], &why);
		note_back(run, &b);
		for (size_t i = 0; i < run->n_sets; i++)
			if (run->set[i].state == UNC_SET_COUNTS && run->set[i].begins)
				unc_set_base(run, &run->set[i]);
		lose_unread(run);
	}
	unc_clocks_start(run, true);
}

void unc_run_retry(struct unc_run *run)
{
	if (unc_node_lock(run->platform, 0, NULL) < 0)
		return;
	pthread_mutex_lock(&run->lock);
	if (run->counting && !run->ended.code &&
	    unc_run_retry_ns(run) <= unc_machine_now(run->platform->machine)) {
		(void)unc_node_reclaim(run->platform, run, false, NULL);
		retry_sets(run);
	}
	pthread_mutex_unlock(&run->lock);
	unc_node_unlock(run->platform);
}
