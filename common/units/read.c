/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: reading. The hot path: no lookup, no parsing, no allocation. */

#include <math.h>

#include "units/inside.h"

/* ---- one counter */

/*
 * Counts in a ns that are more than the counter can count. The factor is large, except for clocks,
 * because documents are not always right about increments; it is smaller if they state the
 * increment of this event, or of all events, as for CPUs with narrower counters.
 */
static double impossible_rate(const struct unc_table *t, const struct unc_set_counter *c)
{
	const struct unc_code *code = &c->event->code;
	bool told = code->max_inc > 1 || !(c->mask >> 47);

	return unc_code_most(code, 1) * (t->event[code->event].clock ? 4 : told ? 8 : 64);
}

/* Whether the counter may have wrapped in a time, at its fastest. */
static bool may_wrap(const struct unc_set_counter *c, uint64_t ns)
{
	return unc_code_most(&c->event->code, ns) > (double)c->mask;
}

/*
 * Whether a program cleared or set the counter: the delta is more than its event can make in the
 * time. Deltas stay below a quarter of the range, because watch.c looks in time.
 */
static bool exceeds_rate(const struct unc_set_counter *c, uint64_t delta, uint64_t ns)
{
	const double look_ns = 1000000;

	return c->mask != UINT64_MAX &&
	       (delta > c->mask / 4 || (double)delta > c->rate * ((double)ns + look_ns));
}

/* The same by the time of now: the clock was read before the counters, and the process may have slept in between. */
static bool exceeds_rate_now(const struct unc_run *run, const struct unc_set_counter *c,
			     uint64_t delta, uint64_t since_ns)
{
	return exceeds_rate(c, delta, unc_machine_now(run->platform->machine) - since_ns);
}

/*
 * The first look at a counter that was set: it holds its start value and what it has counted since,
 * or another program has set it as well. If the counter has fewer bits than the table says, only
 * the lower ones are there; below 40 bits it cannot be told from one that was cleared.
 */
static void check_start(struct unc_run *run, struct unc_set *set, struct unc_set_counter *c,
			uint64_t programmed_ns)
{
	uint64_t wide = c->mask, least = unc_ones(40), value = c->last & wide;
	struct unc_error why;

	c->rate = impossible_rate(run->platform->table, c);
	if (!c->start || !exceeds_rate_now(run, c, (value - c->start) & wide, programmed_ns))
		return;
	while (c->mask > least && value <= c->mask >> 1)
		c->mask >>= 1;
	c->rate = impossible_rate(run->platform->table, c);
	if (c->mask < wide &&
	    !exceeds_rate_now(run, c, (value - c->start) & c->mask, programmed_ns))
		return;
	c->mask = wide;
	unc_fail(&why, UNC_ERR_BUSY,
		 "%s: %s of %s holds 0x%llx right after 0x%llx was written: somebody else programs "
		 "it "
		 "at the same time, or it cannot be set",
		 c->event->name, unc_reg_name(run->platform->table, c->ctr),
		 unc_unit_name(run->platform, set->unit).text, (unsigned long long)value,
		 (unsigned long long)c->start);
	unc_set_lose(run, set, &why);
}

static bool is_ones(const struct unc_run *run, const struct unc_set_counter *c, uint64_t value)
{
	return value == UINT64_MAX && c->mask != UINT64_MAX &&
	       !(run->platform->table->reg[c->ctr].flags & UNC_REG_SEXT);
}

/* Handles the rare cases in full. */
static void add_rare_delta(struct unc_run *run, struct unc_set *set, struct unc_set_counter *c,
			   uint64_t value, uint64_t delta, uint64_t since)
{
	const char *name = c->event->name, *reg = unc_reg_name(run->platform->table, c->ctr);
	const struct unc_unit_name unit = unc_unit_name(run->platform, set->unit);
	struct unc_error why = {0};

	if (is_ones(run, c, value))
		unc_fail(&why, UNC_ERR_IO,
			 "%s: %s of %s reads as all ones: the unit does not answer", name, reg,
			 unit.text);
	else if (may_wrap(c, since) || (may_wrap(c, 4 * since) && exceeds_rate(c, delta, since)))
		unc_fail(&why, UNC_ERR_RANGE,
			 "%s: %s of %s was not read for %.0f s and may have wrapped meanwhile",
			 name, reg, unit.text, (double)since * 1e-9);
	else if (exceeds_rate(c, delta, since) && exceeds_rate_now(run, c, delta, set->before_ns))
		unc_fail(&why, UNC_ERR_BUSY,
			 "%s: somebody else has written to %s of %s while it was counting", name,
			 reg, unit.text);
	else
		c->total += delta;
	if (why.code)
		unc_set_lose(run, set, &why);
}

/* ---- one set */

static uint64_t look_middle(struct unc_look look)
{
	return look.ns + look.width / 2;
}

/* Whether all counters could be read; else the set is unread this time. */
static bool was_read(struct unc_run *run, struct unc_set *set, const struct unc_reg_op *op)
{
	for (size_t i = 0; i < set->n; i++)
		if (op[i].error) {
			unc_set_unread(run, set, set->counter[i].ctr, &op[i]);
			return false;
		}
	set->unread = 0;
	return true;
}

/* Notes where counting begins. For a pass that begins no better time is known than that of its programming. */
static void take_base(struct unc_run *run, struct unc_set *set, const struct unc_reg_op *op,
		      struct unc_look now)
{
	if (set->by->timed)
		set->by->timed(set, op);
	set->gap |= set->begun && set->time.ran > 0;
	set->begun = true;
	set->time.blur += set->to.width + now.width;
	set->to = now;
	set->moved_ns = now.ns;
	set->begins = false;
	for (size_t i = 0; i < set->n && set->state == UNC_SET_COUNTS; i++) {
		struct unc_set_counter *c = &set->counter[i];

		c->last = op[i].value;
		if (is_ones(run, c, c->last))
			add_rare_delta(run, set, c, c->last, 0, 0);
		else
			check_start(run, set, c, set->before_ns);
	}
	set->good = set->time;
	for (size_t i = 0; i < set->n; i++)
		set->counter[i].good = set->counter[i].total;
}

/* Adds what was read between two stamps. */
static void take_reads(struct unc_run *run, struct unc_set *set, const struct unc_reg_op *op,
		       struct unc_look now)
{
	uint64_t since = now.ns + now.width - set->to.ns;
	double ns = (double)(int64_t)since;
	uint64_t moved = 0;

	if (!was_read(run, set, op))
		return;
	set->before_ns = set->to.ns;
	if (set->begins) {
		take_base(run, set, op, now);
		return;
	}
	if (set->by->timed) {
		set->by->timed(set, op);
		run->flawed |= set->time.idle != 0;
	} else {
		set->time.ran += look_middle(now) - look_middle(set->to);
	}
	set->to = now;
	for (size_t i = 0; i < set->n; i++) {
		struct unc_set_counter *c = &set->counter[i];
		uint64_t value = op[i].value, delta = (value - c->last) & c->mask;
		double most = ns * c->rate;

		moved |= delta;

		c->last = value;
		/* Times and deltas fit into signed integers, which take one instruction to become a double. */
		if (value != UINT64_MAX && delta <= c->mask / 4 && most <= (double)c->mask &&
		    (double)(int64_t)delta <= most)
			c->total += delta;
		else
			add_rare_delta(run, set, c, value, delta, since);
		if (set->state == UNC_SET_LOST)
			break;
	}
	if (moved) {
		if (set->alone) { /* it did not move for a part of the time */
			set->stood++;
			set->doubted_ns = run->read_ns;
			run->flawed = true;
		}
		set->moved_ns = now.ns;
		set->moved = true;
		set->alone = false;
	}
}

/* ---- all sets */

/* Whether a set is read between the stamps of the set before: a stamp costs as much as a few fast reads. */
static bool joins_group(const struct unc_run *run, const struct unc_set *set,
			const struct unc_stamp *last)
{
	enum { LOADS = 16, READS = 8 };
	size_t first = (size_t)(set->counter - run->counter);
	const struct unc_reg_op *op = &run->op[first];
	bool loads = op->reg.space == UNC_SPACE_MMIO;

	return last->first + last->n == first && op[-1].reg.space == op->reg.space &&
	       !set->by->timed && (loads || !run->apart) &&
	       last->n + set->n <= (loads ? LOADS : READS);
}

/* Groups the sets that count now, in their order. */
static void group_sets(struct unc_run *run)
{
	struct unc_stamp *last = NULL;

	run->n_groups = 0;
	for (size_t i = 0; i < run->n_sets; i++) {
		const struct unc_set *set = &run->set[i];

		if (set->state != UNC_SET_COUNTS)
			continue;
		if (last && joins_group(run, set, last)) {
			last->n += set->n;
			continue;
		}
		last = &run->group[run->n_groups++];
		*last = (struct unc_stamp){.first = (size_t)(set->counter - run->counter),
					   .n = set->n};
	}
	run->regroup = false;
	run->usual_ns = 0;
}

/* Reads one set, or a few, between two stamps each. Returns whether any read failed. */
static bool run_reads(struct unc_run *run)
{
	const struct unc_machine *machine = run->platform->machine;
	bool failed = false;

	for (size_t i = 0; i < run->n_groups; i++) {
		struct unc_stamp *g = &run->group[i];

		g->ns = unc_machine_now(machine);
		failed |= unc_access_run(run->platform->access, run->op + g->first, g->n) < 0;
	}
	run->group[run->n_groups].ns = unc_machine_now(machine);
	run->read_ns = run->group[0].ns;
	run->read_width = run->group[run->n_groups].ns - run->read_ns;
	return failed;
}

/* Whether the last look took more than 1 % of the time since the one before, and so much longer
 * than others that another look may be better. */
static bool is_wide(struct unc_run *run)
{
	const uint64_t tolerated = 4; /* times the usual, or what the fastest group took */
	uint64_t fastest = UINT64_MAX, usual = run->usual_ns;
	uint64_t average = run->n_groups ? run->read_width / run->n_groups : 0;

	for (size_t i = 0; !usual && i < run->n_groups; i++)
		if (run->group[i + 1].ns - run->group[i].ns < fastest)
			fastest = run->group[i + 1].ns - run->group[i].ns;
	if (!usual || average < usual)
		run->usual_ns = average;
	if (!run->rebase && run->read_width <= (run->read_ns - run->before_ns) / 100)
		return false;
	return average > tolerated * (usual ? usual : tolerated * fastest);
}

/* Fails if nothing could be read. */
static int fail_if_unread(const struct unc_run *run, struct unc_error *err)
{
	const struct unc_set *first = NULL;

	for (const struct unc_set *set = run->set; set < run->set + run->n_sets; set++) {
		if (set->state == UNC_SET_COUNTS && !set->unread)
			return 0;
		if (!first && set->state == UNC_SET_COUNTS)
			first = set;
	}
	return first ? first->by->fail_read(run, first, unc_set_ops(run, first), err) : 0;
}

/* Reads sets together while that is fast (unknown if no time passes). After a slow look all
 * are read again, each between stamps of its own. */
static bool read_all(struct unc_run *run)
{
	const uint64_t fast = 1000; /* ns, for a counter */
	bool failed;

	if (run->regroup)
		group_sets(run);
	failed = run_reads(run);
	if (is_wide(run)) {
		if (!run->apart) {
			run->apart = true;
			group_sets(run);
		}
		failed = run_reads(run);
	} else if (run->apart && run->read_width && run->read_width <= fast * run->n_counters) {
		run->apart = false;
		run->regroup = true;
	}
	return failed;
}

int unc_run_look(struct unc_run *run, struct unc_error *err)
{
	bool failed;

	run->before_ns = run->read_ns;
	failed = read_all(run);
	for (size_t i = 0; i < run->n_groups; i++) {
		const struct unc_stamp *g = &run->group[i];
		const struct unc_look now = {g->ns, g[1].ns - g->ns};
		size_t end = g->first + g->n;

		for (size_t k = g->first; k < end; k += run->set[run->of[k]].n)
			take_reads(run, &run->set[run->of[k]], &run->op[k], now);
	}
	if (!run->rebase)
		run->passed[run->pass] += run->read_ns - run->before_ns;
	run->rebase = false;
	return failed ? fail_if_unread(run, err) : 0;
}

void unc_set_base(struct unc_run *run, struct unc_set *set)
{
	const struct unc_machine *machine = run->platform->machine;
	struct unc_reg_op *op = unc_set_ops(run, set);
	struct unc_look now = {.ns = unc_machine_now(machine)};

	unc_access_run(run->platform->access, op, set->n);
	now.width = unc_machine_now(machine) - now.ns;
	take_reads(run, set, op, now);
}
