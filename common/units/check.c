/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: is what was read ours, and does it count? A frozen unit gives values like any other, that stand
 * still, and so does one that nothing drives. What moves counts. A set of which nothing has moved gives
 * a true 0 where
 *
 *   its unit control is ours: the start let the unit go, and nobody counts there who is in no journal,
 *   or the control can be read and says that the unit runs; and
 *   a clock of its type on its socket moves: any counter of another set of the type that has moved, else
 *   one that the start programmed for this, on any unit of the type. It counts for nobody, and is read
 *   when it is needed, and whenever controls are compared.
 *
 * A unit that is frozen alone is told by that it stood for a second while all others of its type moved.
 * Where the clock stands the set is lost: it is frozen, or nothing drives it. Where there is no clock the
 * 0 is doubted. Counters without a control need a clock without a control on their unit.
 */
#include <stdlib.h>

#include "units/inside.h"

enum { PROOF_NS = 20000, PROOF_TRIES = 6, MAX_ASKED = 8 };
/* Who reads each second does so a little earlier at times. */
enum { SECOND_NS = 900000000 };

/* ---- whose it is */

/* Whether all was compared in the last look. */
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

static struct unc_set *set_of(struct unc_clock *c)
{
	return c->user ? c->user : &c->set;
}

static bool is_there(const struct unc_clock *c)
{
	return (c->user ? c->user : &c->set)->state == UNC_SET_COUNTS;
}

/* Reads a clock, if it was not read in this look. */
static void read_clock(struct unc_run *run, struct unc_clock *c)
{
	if (!is_there(c) || c->ns == run->read_ns)
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

/* Whether it moves now; what was not read, or while no time passed, is no proof of anything, nor that an event of
 * the kernel stands that has had no counter meanwhile. */
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

static void ask(struct unc_run *run, struct unc_clock *c)
{
	bool told;

	if (c->other && c->other != c) {
		ask(run, c->other);
		c->state = c->other->state;
		return;
	}
	if (!is_there(c)) {
		c->state = UNC_CLOCK_NONE;
		return;
	}
	read_clock(run, c);
	if (c->asked)
		return;
	c->asked = true;
	c->state = UNC_CLOCK_RUNS;
	if ((c->moved && !c->stale) || moves_now(run, set_of(c), &c->op, c->value, &told) ||
	    (!told && c->moved))
		return;
	/* Its control may be another's by now. */
	if (told && set_of(c)->by->compare)
		set_of(c)->by->compare(run, set_of(c));
	c->state = told && is_there(c) ? UNC_CLOCK_STANDS : UNC_CLOCK_NONE;
}

/* Whether a freeze of the socket stops it; by its own control somebody may have frozen it all the same. */
static bool can_be_frozen(const struct unc_run *run, const struct unc_instance *u)
{
	return run->platform->table->type[u->type].steps_freeze.n != 0;
}

static bool has_control(const struct unc_run *run, const struct unc_instance *u)
{
	return run->platform->table->type[u->type].unit_ctl != UNC_NONE;
}

static bool are_kin(const struct unc_instance *a, const struct unc_instance *b)
{
	return a->type == b->type && a->socket == b->socket;
}

struct unc_clock *unc_clock_of(struct unc_run *run, const struct unc_set *set)
{
	bool bare = !unc_set_is_programmed(run->platform, set);

	for (size_t i = 0; i < run->n_clocks; i++) {
		struct unc_clock *c = &run->clock[i];

		if ((c->set.pass == set->pass || c->set.pass == UNC_EVERY_PASS) &&
		    c->bare == bare && (bare ? c->unit == set->unit : are_kin(c->unit, set->unit)))
			return c;
	}
	return NULL;
}

/* ---- whether a set counts */

/* Whether another set of the type has moved: they stand side by side. */
static bool kin_moved(const struct unc_run *run, const struct unc_set *set, const bool *moved)
{
	size_t i = unc_set_number(run, set);

	while (i > 0 && are_kin(run->set[i - 1].unit, set->unit) &&
	       run->set[i - 1].pass == set->pass)
		i--;
	for (; i < run->n_sets && are_kin(run->set[i].unit, set->unit) &&
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

/* Whether a set has moved before, and has stood for a second while all others of its type move; where there
 * are none: while nothing does but a clock that may go on in a frozen unit. */
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

		if (kin == set || kin->pass != set->pass || !are_kin(kin->unit, set->unit) ||
		    kin->state != UNC_SET_COUNTS)
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

/* Whether somebody may have frozen the unit alone. */
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

/* Whether a clock of another type is enough: the counters are ours, and unit control, where it can be read,
 * tells that nobody has frozen the unit. */
static bool is_enough(struct unc_run *run, const struct unc_clock *c, struct unc_set *set)
{
	if (c->other && set->by->compare)
		set->by->compare(run, set);
	return c->state == UNC_CLOCK_RUNS && set->state == UNC_SET_COUNTS && !set->unread;
}

/* Somebody may have taken it as well. */
static void lose_standing_set(struct unc_run *run, struct unc_set *set)
{
	if (set->by->compare)
		set->by->compare(run, set);
	unc_set_lose_frozen(run, set);
}

/* Whether a set has moved since it was read last. */
static bool has_moved(const struct unc_run *run, const struct unc_set *set)
{
	struct unc_reg_op *op = unc_set_ops(run, set);
	bool moved = false;

	unc_access_run(run->platform->access, op, set->n);
	for (size_t i = 0; i < set->n; i++)
		moved |= !op[i].error && op[i].value != set->counter[i].last;
	return moved;
}

/* Of types whose unit control tells that a unit is frozen the first clock of a socket is enough: all of the
 * socket may be. */
static bool tells_freeze(const struct unc_run *run, const struct unc_clock *c)
{
	const struct unc_clock *first = run->clock;

	if (!unc_reg_shows(run->platform->table,
			   run->platform->table->type[c->unit->type].unit_ctl))
		return true;
	while (first != c && (first->unit->socket != c->unit->socket || !is_there(first) ||
			      first->bare || !can_be_frozen(run, first->unit)))
		first++;
	return first == c;
}

static void doubt(struct unc_run *run, struct unc_set *set, uint32_t *times)
{
	++*times;
	set->doubted_ns = run->read_ns;
	run->flawed = true;
}

/* Nothing tells whether sets count for which a clock speaks. */
static void doubt_all(struct unc_run *run, const struct unc_clock *c)
{
	for (size_t i = 0; i < run->n_sets; i++)
		if (run->set[i].state == UNC_SET_COUNTS && unc_clock_of(run, &run->set[i]) == c)
			doubt(run, &run->set[i], &run->set[i].stood);
	run->compared_ns = 0;
}

/* A clock that has moved may stand by now. Then what was counted until it was frozen is not all. */
static void look_again(struct unc_run *run, struct unc_clock *c)
{
	const struct unc_instance *unit = set_of(c)->unit;
	bool told, moves, others = false;

	if (!is_there(c) || c->bare || !(can_be_frozen(run, unit) || has_control(run, unit)) ||
	    !tells_freeze(run, c))
		return;
	for (int tries = 0; tries < 2; tries++) /* once more where it could not be read */
		if ((moves = moves_now(run, set_of(c), &c->op, c->value, &told)) || !c->op.error)
			break;
	if (c->op.error)
		doubt_all(run, c);
	else
		c->value = c->op.value;
	if (moves || !told)
		return;
	if (set_of(c)->by->compare) /* its control may be another's by now */
		set_of(c)->by->compare(run, set_of(c));
	if (!is_there(c))
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

/* A counter of a set, the one that has counted most, that may be frozen though its unit control does not tell;
 * NULL: it is told otherwise. */
static struct unc_reg_op *doubtful(const struct unc_run *run, struct unc_set *set)
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

/* Sets that have moved, and stand now, while the same moves on all other units of the type, of which there are
 * a few: their units may have been frozen alone since. */
static void doubt_standing(struct unc_run *run)
{
	enum { FEW = 3 };

	for (size_t end, i = 0; i < run->n_sets; i = end) {
		size_t others = 0, move = 0, stands = 0;
		struct unc_reg_op *op;
		bool told;

		for (end = i; end < run->n_sets && are_kin(run->set[end].unit, run->set[i].unit) &&
			      run->set[end].pass == run->set[i].pass;
		     end++) {
			if (!(op = doubtful(run, &run->set[end])))
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
		op = doubtful(run, &run->set[stands]);
		if (!moves_now(run, &run->set[stands], op, last_of(run, op), &told) && told)
			doubt(run, &run->set[stands], &run->set[stands].stood);
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
		look_again(run, &run->clock[i]);
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

/* An event without umask or field. NULL: it has none. */
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

/* Whether it counts a clock itself, which stands now. */
static bool stops_its_clock(const struct unc_run *run, const struct unc_set *set)
{
	struct unc_reg_op *op = unc_set_ops(run, set);
	bool stands = false, told;

	for (size_t i = 0; i < set->n && !stands; i++)
		if (set->counter[i].clock)
			stands = !moves_now(run, set, &op[i], set->counter[i].last, &told) && told;
	return stands;
}

static void ask_for(struct unc_run *run, struct unc_set *set, const bool *moved)
{
	bool programmed = unc_set_is_programmed(run->platform, set);
	struct unc_clock *c;

	/* What the kernel hands out with each thread it saves and counts itself. */
	if (set->unit->part[0].space == UNC_SPACE_PERF)
		return;

	c = unc_clock_of(run, set);
	if (set->alone || (programmed && stands_alone(run, set, c))) {
		doubt(run, set, &set->stood);
		return;
	}
	if (set->moved && stops_its_clock(run, set)) {
		lose_standing_set(run, set);
		return;
	}
	if (programmed && may_be_frozen(run, set)) {
		doubt(run, set, &set->doubts);
		return;
	}
	if (set->state != UNC_SET_COUNTS || (programmed && kin_moved(run, set, moved)))
		return;
	if (c)
		ask(run, c);
	if (!c || c->state == UNC_CLOCK_NONE) {
		doubt(run, set, &set->doubts);
	} else if (!is_enough(run, c, set) && c->state == UNC_CLOCK_STANDS) {
		lose_standing_set(run, set);
	}
}

void unc_run_ask(struct unc_run *run, const bool *moved)
{
	for (size_t i = 0; i < run->n_sets; i++)
		if (!moved[i] && run->set[i].state == UNC_SET_COUNTS && !run->set[i].unread)
			ask_for(run, &run->set[i], moved);
}

/* ---- which clock: tried on one unit after the other, where counting begins */

/* How many of the unit's programmable counters the run uses at most in a pass; whether a set of it stops the
 * clock. */
static unsigned used_there(const struct unc_run *run, const struct unc_instance *u, uint8_t pass,
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

/* Whether an event, a clock of its type, may be tried on a unit. before: counters that the run is to take are
 * free still. */
static bool may_try(const struct unc_run *run, const struct unc_clock *c, bool before,
		    const struct unc_tbl_event *event, const struct unc_instance *u)
{
	const struct unc_table *t = run->platform->table;
	bool fixed = event->counter != UNC_NONE, stops;
	unsigned used = used_there(run, u, c->set.pass, &stops);

	if (!event->clock || !u->available || (stops && !before))
		return false;
	if (c->bare)
		return u == c->unit && fixed && t->counter[event->counter].ctl == UNC_NONE;
	if (fixed) /* without a control it goes on in a frozen unit */
		return t->counter[event->counter].ctl != UNC_NONE;
	return before || used < t->type[u->type].n_counters;
}

/* What somebody has changed is left to him. */
static void end(struct unc_run *run, struct unc_clock *c)
{
	struct unc_set *set = &c->set;

	if (set->state == UNC_SET_COUNTS && set->by->compare)
		set->by->compare(run, set);
	(void)unc_sets_stop(run, &(struct unc_batch){&set, 1}, NULL);
	set->state = UNC_SET_OFF;
	c->user = NULL;
}

/* Takes what a clock shows from now on: whether it moves. *stands: it does not. Where no time passes nobody
 * knows. */
static bool take(struct unc_run *run, struct unc_clock *c, bool *stands)
{
	bool told, moves;

	unc_access_run(run->platform->access, &c->op, 1);
	moves = moves_now(run, set_of(c), &c->op, c->op.value, &told) || !told;
	c->value = c->op.value;
	c->ns = run->read_ns;
	*stands |= !moves;
	return moves;
}

/* One that is counted for somebody. */
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
			if (take(run, c, &stands))
				return true;
		}
	}
	c->user = NULL;
	return false;
}

/* Counts a clock on a unit: whether it moves, and then goes on. */
static bool try(struct unc_run *run, struct unc_clock *c, uint32_t event,
		const struct unc_instance *u, bool *stands)
{
	struct unc_set *set = &c->set;

	if (set->by) /* room for another event, maybe */
		set->by->forget(set);
	c->counter = (struct unc_set_counter){.event = plain_of(run, event, u)};
	set->unit = u;
	if (!c->counter.event || unc_sets_start(run, &(struct unc_batch){&set, 1}, NULL) < 0 ||
	    !is_there(c)) {
		end(run, c);
		return false;
	}
	if (take(run, c, stands))
		return true;
	end(run, c);
	return false;
}

/* A clock of these units stands, of another one it moves. Where somebody else counts the start has not let the unit
 * go: its sets stand as well, but those that move. A unit that is ours alone is one that nothing drives. */
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

/* On any unit of the type, clocks with a counter of their own first. */
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

			if (!are_kin(u, c->unit) || !may_try(run, c, before, event, u))
				continue;
			if (try(run, c, number, u, &stood)) {
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

/* On another type of the socket, that a freeze of it stops: a clock that runs already, in all of its time,
 * else one that is tried. */
static bool try_other(struct unc_run *run, struct unc_clock *c)
{
	const struct unc_platform *p = run->platform;
	unsigned asked = 0;
	bool stood;

	for (size_t i = 0; i < run->n_clocks; i++) {
		struct unc_clock *o = &run->clock[i];

		if (!is_there(o) || o->set.unit->socket != c->unit->socket ||
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
			if (try(run, c, i, u, &stood)) {
				c->other = c;
				return true;
			}
			asked += stood;
		}
	}
	return false;
}

/* All clocks of a type stand on a socket: so do its sets, but those that move. */
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

/* A socket where nothing moves that a freeze would stop goes on, where that can be. */
static bool unfreeze(struct unc_run *run, struct unc_clock *c)
{
	bool moves = !can_be_frozen(run, c->unit) || try_other(run, c);

	if (c->other == c)
		end(run, c);
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

static bool is_due(const struct unc_run *run, const struct unc_clock *c, bool every)
{
	return !is_there(c) &&
	       (c->set.pass == run->pass || (every && c->set.pass == UNC_EVERY_PASS));
}

/* Whether no clock of the type will find a counter. */
static bool will_be_full(const struct unc_run *run, const struct unc_clock *c)
{
	const struct unc_platform *p = run->platform;
	const struct unc_range *events = &p->table->type[c->unit->type].events;

	for (size_t k = 0; k < p->instances.n; k++)
		for (uint32_t i = events->first; i < events->first + events->n; i++)
			if (are_kin(&p->instances.unit[k], c->unit) &&
			    may_try(run, c, false, &p->table->event[i], &p->instances.unit[k]))
				return false;
	return true;
}

void unc_clocks_before(struct unc_run *run, bool every)
{
	for (size_t i = 0; i < run->n_clocks; i++) {
		struct unc_clock *c = &run->clock[i];
		bool stands = false;

		if (!is_due(run, c, every) || c->bare || c->ran || !will_be_full(run, c))
			continue;
		c->ran = try_own(run, c, true, &stands);
		if (c->ran)
			end(run, c);
	}
}

/* Whether a set counts for which it speaks. */
static bool is_wanted(struct unc_run *run, const struct unc_clock *c)
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

		if (!is_due(run, c, every))
			continue;
		end(run, c); /* what was lost may hold registers still */
		if (!is_wanted(run, c))
			continue;
		c->other = NULL;
		if (try_user(run, c) || try_own(run, c, false, &stands))
			continue;
		if (stands && unfreeze(run, c)) {
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
			end(run, c);
	}
}
