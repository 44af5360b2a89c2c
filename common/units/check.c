/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: does a set still own its registers, and does it count? A frozen unit gives values that do not change, and
 * so does a unit without a clock signal. A counter that changed since the last read proves that its unit counts. If
 * no counter of a set has moved, its 0 is true if
 *
 *   unit control is ours: the start unfroze the unit, and no program without entries counts there; or
 *   unit control can be read and says that the unit runs; and
 *   a clock of its type on its socket moves: any counter of another set of the type that has moved, else
 *   a clock that the start programmed for this, on any unit of the type. No session wants this clock; it
 *   is read when it is needed, and whenever controls are compared.
 *
 * A unit that is frozen alone is found because it does not move for a second while all others of its type do. If the
 * clock does not move, the set is lost: it is frozen, or has no clock signal. If there is no clock, the 0 is
 * doubted. Counters without a control need a clock without a control on their unit.
 */
#include <stdlib.h>

#include "units/inside.h"

enum { PROOF_NS = 20000, PROOF_TRIES = 6, MAX_ASKED = 8 };
/* A reader that reads each second may be a little early. */
enum { SECOND_NS = 900000000 };

/* ---- ownership */

/* Whether all sets were compared in the last look. */
static bool is_compared(const struct unc_run *run)
{
	return run->compared_ns == run->read_ns + run->read_width;
}

void unc_run_accept(struct unc_run *run, bool all)
{
	for (size_t i = 0; i < run->n_sets && (all || is_compared(run)); i++) {
		struct unc_set *set = &run->set[i];

		if (set->state != UNC_SET_COUNTS || set->unread || set->doubted_ns == run->read_ns)
			continue;
		set->good = set->time;
		for (size_t k = 0; k < set->n; k++)
			set->counter[k].good = set->counter[k].total;
	}
}

/* ---- a clock */

static struct unc_set *clock_set(struct unc_clock *c)
{
	return c->user ? c->user : &c->set;
}

static bool clock_counts(const struct unc_clock *c)
{
	return (c->user ? c->user : &c->set)->state == UNC_SET_COUNTS;
}

/* Reads a clock, unless this look has read it. */
static void read_clock(struct unc_run *run, struct unc_clock *c)
{
	if (!clock_counts(c) || c->ns == run->read_ns)
		return;
	c->stale = c->ns < run->before_ns;
	c->ns = run->read_ns;
	c->asked = false;
	if (c->user)
		c->op = unc_set_ops(run, c->user)[c->k];
	else
		unc_access_run(run->platform->access, &c->op, 1);
	c->moved = !c->op.error && c->op.value != c->value;
	c->value = c->op.value;
}

/* Whether a counter moves now. *told is false if it could not be read, if no time passed, or if the
 * kernel gave its event no counter meanwhile: then nothing is proven. */
static bool moves_now(const struct unc_run *run, const struct unc_set *set, struct unc_reg_op *op,
		      uint64_t value, bool *told)
{
	uint64_t ran = set->by->timed ? unc_kernel_ran(op) : 0;
	bool moved = false;

	*told = true;
	for (int k = 0; !moved && *told && k <= PROOF_TRIES; k++) {
		*told = unc_access_run(run->platform->access, op, 1) == 0;
		moved = *told && op->value != value;
		if (!moved && *told && k < PROOF_TRIES)
			*told = unc_platform_pause(run->platform, (uint64_t)PROOF_NS << k);
	}
	*told &= !set->by->timed || unc_kernel_ran(op) != ran;
	return moved;
}

static void ask_clock(struct unc_run *run, struct unc_clock *c)
{
	bool told;

	if (c->other && c->other != c) {
		ask_clock(run, c->other);
		c->state = c->other->state;
		return;
	}
	if (!clock_counts(c)) {
		c->state = UNC_CLOCK_NONE;
		return;
	}
	read_clock(run, c);
	if (c->asked)
		return;
	c->asked = true;
	c->state = UNC_CLOCK_RUNS;
	if ((c->moved && !c->stale) || moves_now(run, clock_set(c), &c->op, c->value, &told) ||
	    (!told && c->moved))
		return;
	/* Another program may have its control by now. */
	if (told && clock_set(c)->by->compare)
		clock_set(c)->by->compare(run, clock_set(c));
	c->state = told && clock_counts(c) ? UNC_CLOCK_STANDS : UNC_CLOCK_NONE;
}

/* Whether a freeze of the socket stops the unit; another program may still freeze it by unit control. */
static bool can_be_frozen(const struct unc_run *run, const struct unc_instance *u)
{
	return run->platform->table->type[u->type].steps_freeze.n != 0;
}

static bool has_control(const struct unc_run *run, const struct unc_instance *u)
{
	return run->platform->table->type[u->type].unit_ctl != UNC_NONE;
}

static bool same_type_and_socket(const struct unc_instance *a, const struct unc_instance *b)
{
	return a->type == b->type && a->socket == b->socket;
}

struct unc_clock *unc_clock_of(struct unc_run *run, const struct unc_set *set)
{
	bool bare = !unc_set_is_programmed(run->platform, set);

	for (size_t i = 0; i < run->n_clocks; i++) {
		struct unc_clock *c = &run->clock[i];

		if ((c->set.pass == set->pass || c->set.pass == UNC_EVERY_PASS) &&
		    c->bare == bare &&
		    (bare ? c->unit == set->unit : same_type_and_socket(c->unit, set->unit)))
			return c;
	}
	return NULL;
}

/* ---- whether a set counts */

/* Whether another set of the type has moved; sets of a type are neighbours in the array. */
static bool another_moved(const struct unc_run *run, const struct unc_set *set, const bool *moved)
{
	size_t i = unc_set_number(run, set);

	while (i > 0 && same_type_and_socket(run->set[i - 1].unit, set->unit) &&
	       run->set[i - 1].pass == set->pass)
		i--;
	for (; i < run->n_sets && same_type_and_socket(run->set[i].unit, set->unit) &&
	       run->set[i].pass == set->pass;
	     i++)
		if (moved[i] && run->set[i].state == UNC_SET_COUNTS &&
		    unc_set_is_programmed(run->platform, &run->set[i]))
			return true;
	return false;
}

bool unc_set_moves(const struct unc_run *run, const struct unc_set *set)
{
	return set->moved_ns + SECOND_NS > run->read_ns;
}

/* Whether a set has moved before, and has not for a second while all others of its type move. If
 * there are no others: while nothing moves but a clock that may go on in a frozen unit. */
static bool stands_alone(const struct unc_run *run, const struct unc_set *set,
			 const struct unc_clock *c)
{
	const struct unc_tbl_type *type = &run->platform->table->type[set->unit->type];
	size_t others = 0, move = 0;

	if (type->unit_ctl == UNC_NONE || unc_reg_shows(run->platform->table, type->unit_ctl) ||
	    !set->moved || unc_set_moves(run, set))
		return false;
	for (size_t i = 0; i < run->n_sets; i++) {
		const struct unc_set *kin = &run->set[i];

		if (kin == set || kin->pass != set->pass ||
		    !same_type_and_socket(kin->unit, set->unit) || kin->state != UNC_SET_COUNTS)
			continue;
		others++;
		move += unc_set_moves(run, kin);
	}
	return others ? move == others
		      : c && (c->other ||
			      (!c->user &&
			       (c->set.unit != set->unit ||
				(c->counter.event && c->counter.event->code.counter != UNC_NONE))));
}

/* Whether another program may have frozen the unit alone. */
static bool may_be_frozen(struct unc_run *run, struct unc_set *set)
{
	const struct unc_table *t = run->platform->table;
	const struct unc_tbl_type *type = &t->type[set->unit->type];

	if (!set->by->compare || !type->steps_freeze.n)
		return false;
	if (unc_reg_shows(t, type->unit_ctl)) {
		if (set->foreign)
			set->by->compare(run, set);
		return false;
	}
	if (is_compared(run))
		set->by->neighbours(run, set);
	return set->foreign;
}

/* Whether a clock of another type is enough: the set owns its counters, and unit control, if it can
 * be read, says that the unit is not frozen. */
static bool clock_is_enough(struct unc_run *run, const struct unc_clock *c, struct unc_set *set)
{
	if (c->other && set->by->compare)
		set->by->compare(run, set);
	return c->state == UNC_CLOCK_RUNS && set->state == UNC_SET_COUNTS && !set->unread;
}

/* Another program may also have taken it. */
static void lose_standing_set(struct unc_run *run, struct unc_set *set)
{
	if (set->by->compare)
		set->by->compare(run, set);
	unc_set_lose_frozen(run, set);
}

/* Whether a set has moved since it was last read. */
static bool has_moved(const struct unc_run *run, const struct unc_set *set)
{
	struct unc_reg_op *op = unc_set_ops(run, set);
	bool moved = false;

	unc_access_run(run->platform->access, op, set->n);
	for (size_t i = 0; i < set->n; i++)
		moved |= !op[i].error && op[i].value != set->counter[i].last;
	return moved;
}

/* Whether a clock must be looked at. If unit control shows a freeze, the first clock of a socket is
 * enough: a freeze of the whole socket stops it. */
static bool must_look_again(const struct unc_run *run, const struct unc_clock *c)
{
	const struct unc_clock *first = run->clock;

	if (!unc_reg_shows(run->platform->table,
			   run->platform->table->type[c->unit->type].unit_ctl))
		return true;
	while (first != c && (first->unit->socket != c->unit->socket || !clock_counts(first) ||
			      first->bare || !can_be_frozen(run, first->unit)))
		first++;
	return first == c;
}

static void doubt_set(struct unc_run *run, struct unc_set *set, uint32_t *times)
{
	++*times;
	set->doubted_ns = run->read_ns;
	run->flawed = true;
}

/* Doubts all sets of a clock that proves nothing. */
static void doubt_all(struct unc_run *run, const struct unc_clock *c)
{
	for (size_t i = 0; i < run->n_sets; i++)
		if (run->set[i].state == UNC_SET_COUNTS && unc_clock_of(run, &run->set[i]) == c)
			doubt_set(run, &run->set[i], &run->set[i].stood);
	run->compared_ns = 0;
}

/* A clock that has moved may be frozen by now. Then the sets lack what came after the freeze. */
static void look_at_clock_again(struct unc_run *run, struct unc_clock *c)
{
	const struct unc_instance *unit = clock_set(c)->unit;
	bool told, moves, others = false;

	if (!clock_counts(c) || c->bare || !(can_be_frozen(run, unit) || has_control(run, unit)) ||
	    !must_look_again(run, c))
		return;
	for (int tries = 0; tries < 2; tries++) /* again if it could not be read */
		if ((moves = moves_now(run, clock_set(c), &c->op, c->value, &told)) || !c->op.error)
			break;
	if (c->op.error)
		doubt_all(run, c);
	else
		c->value = c->op.value;
	if (moves || !told)
		return;
	if (clock_set(c)->by->compare) /* another program may have its control by now */
		clock_set(c)->by->compare(run, clock_set(c));
	if (!clock_counts(c))
		return;
	for (size_t i = 0; i < run->n_sets && !others; i++)
		others = run->set[i].unit != unit && run->set[i].state == UNC_SET_COUNTS &&
			 unc_clock_of(run, &run->set[i]) == c && has_moved(run, &run->set[i]);
	for (size_t i = 0; i < run->n_sets; i++) {
		struct unc_set *set = &run->set[i];

		if (set->state == UNC_SET_COUNTS && unc_clock_of(run, set) == c &&
		    (set->unit == unit || !others))
			lose_standing_set(run, set);
	}
}

/* The counter of a set that has counted most, if its unit may be frozen and unit control does not
 * show it; NULL: another check finds a freeze. */
static struct unc_reg_op *find_counter_to_doubt(const struct unc_run *run, struct unc_set *set)
{
	const struct unc_table *t = run->platform->table;
	const struct unc_tbl_type *type = &t->type[set->unit->type];
	size_t most = 0;

	if (set->state != UNC_SET_COUNTS || set->unread || set->moved_ns != set->to.ns ||
	    !set->by->compare || !type->steps_freeze.n || unc_reg_shows(t, type->unit_ctl))
		return NULL;
	for (size_t k = 1; k < set->n; k++)
		if (set->counter[k].total - set->counter[k].good >
		    set->counter[most].total - set->counter[most].good)
			most = k;
	return unc_set_ops(run, set) + most;
}

static uint64_t last_of(const struct unc_run *run, const struct unc_reg_op *op)
{
	return run->counter[op - run->op].last;
}

/* Doubts a set that has moved before and does not now, while the same counters move on all other
 * units of the type, of which there are a few: its unit may have been frozen alone. */
static void doubt_standing(struct unc_run *run)
{
	enum { FEW = 3 };

	for (size_t end, i = 0; i < run->n_sets; i = end) {
		size_t others = 0, move = 0, stands = 0;
		struct unc_reg_op *op;
		bool told;

		for (end = i; end < run->n_sets &&
			      same_type_and_socket(run->set[end].unit, run->set[i].unit) &&
			      run->set[end].pass == run->set[i].pass;
		     end++) {
			if (!(op = find_counter_to_doubt(run, &run->set[end])))
				continue;
			others++;
			unc_access_run(run->platform->access, op, 1);
			if (op->error || op->value != last_of(run, op))
				move++;
			else
				stands = end;
		}
		if (move < FEW || move + 1 != others)
			continue;
		op = find_counter_to_doubt(run, &run->set[stands]);
		if (!moves_now(run, &run->set[stands], op, last_of(run, op), &told) && told)
			doubt_set(run, &run->set[stands], &run->set[stands].stood);
	}
}

void unc_run_compare(struct unc_run *run, bool last)
{
	uint64_t ns = run->read_ns + run->read_width;
	bool slept;

	if (!last && ns - run->compared_ns < SECOND_NS)
		return;
	run->compared_ns = ns;
	slept = unc_machine_slept(run->platform->machine, &run->slept);
	for (size_t i = 0; i < run->n_sets; i++) {
		struct unc_set *set = &run->set[i];

		if (set->state == UNC_SET_COUNTS && !set->by->timed && slept)
			unc_set_lose_slept(run, set);
		if (set->state == UNC_SET_COUNTS && set->by->compare)
			set->by->compare(run, set);
	}
	for (size_t i = 0; i < run->n_clocks; i++) {
		read_clock(run, &run->clock[i]);
		look_at_clock_again(run, &run->clock[i]);
	}
	if (last)
		doubt_standing(run);
}

void unc_run_compare_since(struct unc_run *run, uint64_t began, bool last)
{
	uint64_t before = run->compared_ns, interval = run->read_ns - began;
	bool own = interval >= SECOND_NS && run->read_ns - before < SECOND_NS &&
		   run->read_ns > before + interval / 100;

	if (own)
		run->compared_ns = 0;
	unc_run_compare(run, last);
	if (own && !last && run->compared_ns)
		run->compared_ns = before;
}

/* An event without umask and field; NULL: it needs one. */
static const struct unc_coded *plain_of(const struct unc_run *run, uint32_t event,
					const struct unc_instance *u)
{
	const struct unc_spec spec = {.type = run->platform->table->event[event].type,
				      .event = (uint16_t)event,
				      .index = -1,
				      .socket = -1};

	return unc_platform_code(run->platform, &spec, u->socket, NULL);
}

bool unc_counts_clock(const struct unc_run *run, const struct unc_set *set, size_t i)
{
	bool programmed = unc_set_is_programmed(run->platform, set);
	const struct unc_code *code = &set->counter[i].event->code;
	const struct unc_table *t = run->platform->table;
	const struct unc_tbl_event *event = &t->event[code->event];
	const struct unc_coded *plain =
		event->clock && (event->counter == UNC_NONE || !programmed ||
				 t->counter[event->counter].ctl != UNC_NONE)
			? plain_of(run, code->event, set->unit)
			: NULL;

	return plain && unc_code_same(&plain->code, code);
}

/* Whether a set counts a clock itself, which does not move now. */
static bool stops_its_clock(const struct unc_run *run, const struct unc_set *set)
{
	struct unc_reg_op *op = unc_set_ops(run, set);
	bool stands = false, told;

	for (size_t i = 0; i < set->n && !stands; i++)
		if (set->counter[i].clock)
			stands = !moves_now(run, set, &op[i], set->counter[i].last, &told) && told;
	return stands;
}

static void ask_for_set(struct unc_run *run, struct unc_set *set, const bool *moved)
{
	bool programmed = unc_set_is_programmed(run->platform, set);
	struct unc_clock *c;

	/* The kernel saves these counters with each thread, and counts them itself. */
	if (set->unit->part[0].space == UNC_SPACE_PERF)
		return;

	c = unc_clock_of(run, set);
	if (set->alone || (programmed && stands_alone(run, set, c))) {
		doubt_set(run, set, &set->stood);
		return;
	}
	if (set->moved && stops_its_clock(run, set)) {
		lose_standing_set(run, set);
		return;
	}
	if (programmed && may_be_frozen(run, set)) {
		doubt_set(run, set, &set->doubts);
		return;
	}
	if (set->state != UNC_SET_COUNTS || (programmed && another_moved(run, set, moved)))
		return;
	if (c)
		ask_clock(run, c);
	if (!c || c->state == UNC_CLOCK_NONE) {
		doubt_set(run, set, &set->doubts);
	} else if (!clock_is_enough(run, c, set) && c->state == UNC_CLOCK_STANDS) {
		lose_standing_set(run, set);
	}
}

void unc_run_ask(struct unc_run *run, const bool *moved)
{
	for (size_t i = 0; i < run->n_sets; i++)
		if (!moved[i] && run->set[i].state == UNC_SET_COUNTS && !run->set[i].unread)
			ask_for_set(run, &run->set[i], moved);
}

/* ---- choice of a clock: units are tried one after the other, where counting begins */

/* The most programmable counters of the unit that the run uses in a pass; *stops: a set of it stops the clock. */
static unsigned counters_used(const struct unc_run *run, const struct unc_instance *u, uint8_t pass,
			      bool *stops)
{
	unsigned most = 0;

	*stops = false;
	for (size_t i = 0; i < run->n_sets; i++) {
		const struct unc_set *set = &run->set[i];
		unsigned n = 0;

		if (set->unit != u ||
		    (set->pass != pass && set->pass != UNC_EVERY_PASS && pass != UNC_EVERY_PASS))
			continue;
		for (size_t k = 0; k < set->n; k++) {
			const struct unc_code *code = &set->counter[k].event->code;

			n += code->counter == UNC_NONE;
			*stops |= run->platform->table->event[code->event].stops != 0;
		}
		most = n > most ? n : most;
	}
	return most;
}

/* Whether an event, a clock of its type, may be tried on a unit. before: the run has not yet taken its counters. */
static bool may_try(const struct unc_run *run, const struct unc_clock *c, bool before,
		    const struct unc_tbl_event *event, const struct unc_instance *u)
{
	const struct unc_table *t = run->platform->table;
	bool fixed = event->counter != UNC_NONE, stops;
	unsigned used = counters_used(run, u, c->set.pass, &stops);

	if (!event->clock || !u->available || (stops && !before))
		return false;
	if (c->bare)
		return u == c->unit && fixed && t->counter[event->counter].ctl == UNC_NONE;
	if (fixed) /* without a control it goes on in a frozen unit */
		return t->counter[event->counter].ctl != UNC_NONE;
	return before || used < t->type[u->type].n_counters;
}

/* Stops a clock. A control that another program has changed is left alone. */
static void stop_clock(struct unc_run *run, struct unc_clock *c)
{
	struct unc_set *set = &c->set;

	if (set->state == UNC_SET_COUNTS && set->by->compare)
		set->by->compare(run, set);
	(void)unc_sets_stop(run, &(struct unc_batch){&set, 1}, NULL);
	set->state = UNC_SET_OFF;
	c->user = NULL;
}

/* Notes the value of a clock, from which it counts; returns whether it moves. *stands: it does not.
 * If no time passes it is taken to move. */
static bool take_clock_value(struct unc_run *run, struct unc_clock *c, bool *stands)
{
	bool told, moves;

	unc_access_run(run->platform->access, &c->op, 1);
	moves = moves_now(run, clock_set(c), &c->op, c->op.value, &told) || !told;
	c->value = c->op.value;
	c->ns = run->read_ns;
	*stands |= !moves;
	return moves;
}

/* Tries the clocks that sessions count. */
static bool try_user(struct unc_run *run, struct unc_clock *c)
{
	bool stands = false;

	for (size_t i = 0; i < run->n_sets; i++) {
		struct unc_set *set = &run->set[i];

		if (set->state != UNC_SET_COUNTS || set->pass != c->set.pass ||
		    unc_clock_of(run, set) != c)
			continue;
		for (size_t k = 0; k < set->n; k++) {
			if (!set->counter[k].clock)
				continue;
			c->user = set;
			c->k = k;
			c->op = unc_set_ops(run, set)[k];
			if (take_clock_value(run, c, &stands))
				return true;
		}
	}
	c->user = NULL;
	return false;
}

/* Counts a clock on a unit. If it moves it goes on, and true is returned. */
static bool try_clock(struct unc_run *run, struct unc_clock *c, uint32_t event,
		      const struct unc_instance *u, bool *stands)
{
	struct unc_set *set = &c->set;

	if (set->by) /* another event may need more room */
		set->by->forget(set);
	c->counter = (struct unc_set_counter){.event = plain_of(run, event, u)};
	set->unit = u;
	if (!c->counter.event || unc_sets_start(run, &(struct unc_batch){&set, 1}, NULL) < 0 ||
	    !clock_counts(c)) {
		stop_clock(run, c);
		return false;
	}
	if (take_clock_value(run, c, stands))
		return true;
	stop_clock(run, c);
	return false;
}

/* A clock did not move on these units, but does on another. If others count on a unit the start has not unfrozen it:
 * its sets are lost, unless they move. A unit without others is not frozen: its clock signal is off. */
static void lose_frozen_alone(struct unc_run *run, const struct unc_clock *c,
			      const struct unc_instance **unit, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		for (size_t i = 0; i < run->n_sets; i++) {
			struct unc_set *set = &run->set[i];

			if (set->state == UNC_SET_COUNTS && set->unit == unit[k] && set->shared &&
			    unc_clock_of(run, set) == c && !has_moved(run, set)) {
				unc_set_lose_frozen(run, set);
				set->alone = true;
			}
		}
}

/* Tries any unit of the type, clocks with a counter of their own first. */
static bool try_own(struct unc_run *run, struct unc_clock *c, bool before, bool *stands)
{
	const struct unc_platform *p = run->platform;
	const struct unc_range *events = &p->table->type[c->unit->type].events;
	const struct unc_instance *stood_on[MAX_ASKED];
	unsigned asked = 0;

	for (uint32_t i = 0; i < 2 * events->n; i++) {
		uint32_t number = events->first + i % events->n;
		const struct unc_tbl_event *event = &p->table->event[number];

		if (!event->clock || (event->counter == UNC_NONE) != (i >= events->n))
			continue;
		for (size_t k = 0; k < p->instances.n && asked < MAX_ASKED; k++) {
			const struct unc_instance *u = &p->instances.unit[k];
			bool stood = false;

			if (!same_type_and_socket(u, c->unit) || !may_try(run, c, before, event, u))
				continue;
			if (try_clock(run, c, number, u, &stood)) {
				lose_frozen_alone(run, c, stood_on, asked);
				return true;
			}
			*stands |= stood;
			if (stood)
				stood_on[asked++] = u;
		}
	}
	return false;
}

/* Tries other types of the socket that a freeze of the socket stops: a clock that runs already, in
 * all of the pass, else a new one. */
static bool try_other(struct unc_run *run, struct unc_clock *c)
{
	const struct unc_platform *p = run->platform;
	unsigned asked = 0;
	bool stood;

	for (size_t i = 0; i < run->n_clocks; i++) {
		struct unc_clock *o = &run->clock[i];

		if (!clock_counts(o) || o->set.unit->socket != c->unit->socket ||
		    o->set.unit->type == c->unit->type || !can_be_frozen(run, o->set.unit) ||
		    (o->set.pass != c->set.pass && o->set.pass != UNC_EVERY_PASS))
			continue;
		c->other = o;
		return true;
	}
	for (size_t k = 0; k < p->instances.n && asked < MAX_ASKED; k++) {
		const struct unc_instance *u = &p->instances.unit[k];
		const struct unc_range *events = &p->table->type[u->type].events;

		if (u->socket != c->unit->socket || u->type == c->unit->type ||
		    !can_be_frozen(run, u))
			continue;
		for (uint32_t i = events->first; i < events->first + events->n; i++) {
			stood = false;
			if (!may_try(run, c, false, &p->table->event[i], u))
				continue;
			if (try_clock(run, c, i, u, &stood)) {
				c->other = c;
				return true;
			}
			asked += stood;
		}
	}
	return false;
}

/* No clock of a type moves on a socket: its sets are lost, unless one moves. */
static void lose_standing(struct unc_run *run, const struct unc_clock *c)
{
	bool moved = false;

	for (size_t i = 0; i < run->n_sets && !moved; i++)
		moved = run->set[i].state == UNC_SET_COUNTS &&
			unc_clock_of(run, &run->set[i]) == c && has_moved(run, &run->set[i]);
	for (size_t i = 0; i < run->n_sets && !moved; i++)
		if (run->set[i].state == UNC_SET_COUNTS && unc_clock_of(run, &run->set[i]) == c)
			unc_set_lose_frozen(run, &run->set[i]);
}

/* Unfreezes a socket, if possible, where no clock moves that a freeze would stop. */
static bool unfreeze_socket(struct unc_run *run, struct unc_clock *c)
{
	bool moves = !can_be_frozen(run, c->unit) || try_other(run, c);

	if (c->other == c)
		stop_clock(run, c);
	c->other = NULL;
	return !moves && unc_socket_go_on(run, c->unit->socket, NULL) > 0;
}

static bool has_clock(const struct unc_run *run, const struct unc_instance *u)
{
	const struct unc_table *t = run->platform->table;
	const struct unc_range *events = &t->type[u->type].events;
	bool any = false;

	for (uint32_t i = 0; i < events->n; i++)
		any |= t->event[events->first + i].clock != 0;
	return any;
}

static bool clock_is_due(const struct unc_run *run, const struct unc_clock *c, bool every)
{
	return !clock_counts(c) &&
	       (c->set.pass == run->pass || (every && c->set.pass == UNC_EVERY_PASS));
}

/* Whether no clock of the type will find a free counter. */
static bool will_be_full(const struct unc_run *run, const struct unc_clock *c)
{
	const struct unc_platform *p = run->platform;
	const struct unc_range *events = &p->table->type[c->unit->type].events;

	for (size_t k = 0; k < p->instances.n; k++)
		for (uint32_t i = events->first; i < events->first + events->n; i++)
			if (same_type_and_socket(&p->instances.unit[k], c->unit) &&
			    may_try(run, c, false, &p->table->event[i], &p->instances.unit[k]))
				return false;
	return true;
}

void unc_clocks_before(struct unc_run *run, bool every)
{
	for (size_t i = 0; i < run->n_clocks; i++) {
		struct unc_clock *c = &run->clock[i];
		bool stands = false;

		if (!clock_is_due(run, c, every) || c->bare || c->ran || !will_be_full(run, c))
			continue;
		c->ran = try_own(run, c, true, &stands);
		if (c->ran)
			stop_clock(run, c);
	}
}

/* Whether a set that counts needs the clock. */
static bool clock_is_wanted(struct unc_run *run, const struct unc_clock *c)
{
	size_t i = 0;

	while (i < run->n_sets &&
	       (run->set[i].state != UNC_SET_COUNTS || unc_clock_of(run, &run->set[i]) != c))
		i++;
	return i < run->n_sets;
}

bool unc_clocks_start(struct unc_run *run, bool every)
{
	bool let_go = false;

	for (size_t i = 0; i < run->n_clocks; i++) {
		struct unc_clock *c = &run->clock[i];
		bool stands = false;

		if (!clock_is_due(run, c, every))
			continue;
		stop_clock(run, c); /* a lost clock may still hold registers */
		if (!clock_is_wanted(run, c))
			continue;
		c->other = NULL;
		if (try_user(run, c) || try_own(run, c, false, &stands))
			continue;
		if (stands && unfreeze_socket(run, c)) {
			let_go = true;
			if (try_own(run, c, false, &stands))
				continue;
		}
		if (stands)
			lose_standing(run, c);
		else if (!c->bare && (c->ran || !has_clock(run, c->unit)))
			(void)try_other(run, c);
	}
	for (size_t i = 0; i < run->n_sets; i++)
		if (run->set[i].alone && run->set[i].state == UNC_SET_COUNTS &&
		    run->set[i].moved_ns == run->set[i].to.ns)
			run->set[i].alone = !has_moved(run, &run->set[i]);
	return let_go;
}

void unc_clocks_stop(struct unc_run *run, bool every)
{
	for (size_t i = 0; i < run->n_clocks; i++) {
		struct unc_clock *c = &run->clock[i];

		if (every || c->set.pass == run->pass)
			stop_clock(run, c);
	}
}
