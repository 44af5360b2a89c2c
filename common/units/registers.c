/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: sets that are counted by registers. Nothing is written before it has an entry in the
 * journal; each write is read back, and what was found is restored, by the step lists of the
 * tables. Other programs set and clear counters without asking, and the values look like any
 * others: so the controls are compared, from then on, with what was read back.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/cpu.h"
#include "units/inside.h"
#include "units/look.h"

/* Each unit of a plan has its set in the batch of the plan. */
static struct unc_set *set_of_unit(const struct unc_batch *b, const struct unc_instance *unit)
{
	size_t i = 0;

	while (b->set[i]->unit != unit)
		i++;
	return b->set[i];
}

static bool is_left(const struct unc_set *set)
{
	return set->state == UNC_SET_LOST;
}

/* ---- starting */

/* Drops the operations of sets that are left out. */
static void drop_left(const struct unc_batch *b, struct unc_plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n; i++)
		if (!is_left(set_of_unit(b, plan->tag[i].instance))) {
			plan->op[n] = plan->op[i];
			plan->tag[n++] = plan->tag[i];
		}
	plan->n = n;
}

/* Leaves out sets whose operations cannot be prepared. */
static int prepare_plan(struct unc_run *run, const struct unc_batch *b, struct unc_plan *plan,
			struct unc_error *err)
{
	struct unc_access *access = run->platform->access;
	struct unc_error why;
	int rc = 0;

	if (!plan->n || unc_access_prepare(access, plan->op, plan->n, &why) == 0)
		return 0;
	for (size_t i = 0; i < plan->n && rc == 0; i++) {
		struct unc_set *set = set_of_unit(b, plan->tag[i].instance);

		if (!is_left(set) && unc_access_prepare(access, &plan->op[i], 1, &why) < 0)
			rc = unc_set_leave(run, set, &why, err);
	}
	drop_left(b, plan);
	return rc;
}

static int leave_failed(struct unc_run *run, const struct unc_batch *b, struct unc_plan *plan,
			const char *what, struct unc_error *err)
{
	struct unc_error why;
	int rc = 0;

	for (size_t i = 0; i < plan->n && rc == 0; i++) {
		const struct unc_plan one = {.op = plan->op + i, .tag = plan->tag + i, .n = 1};
		struct unc_set *set = set_of_unit(b, plan->tag[i].instance);

		if (!plan->op[i].error || is_left(set))
			continue;
		unc_plan_fail(run->platform, &one, what, &why);
		rc = unc_set_leave(run, set, &why, err);
	}
	return rc;
}

/* Prepares the reads that compare the registers of the sets. */
static int prepare_checks(struct unc_run *run, const struct unc_batch *b, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i++) {
		struct unc_plan *check = &unc_held(b->set[i])->check;
		const struct unc_batch one = {&b->set[i], 1};

		check->n = 0;
		rc = unc_plan_look(run->platform->table, b->set[i], check, err);
		if (rc == 0)
			rc = prepare_plan(run, &one, check, err);
	}
	return rc;
}

/* Reads now what a set is compared by. */
static struct unc_plan *read_check(const struct unc_run *run, const struct unc_set *set)
{
	struct unc_plan *check = &unc_held(set)->check;

	if (check->n)
		unc_access_run(run->platform->access, check->op, check->n);
	return check;
}

/* Bits of a setting that read back as they were written. */
static uint64_t readback_bits(const struct unc_run *run, const struct unc_set *set,
			      const struct unc_setting *s)
{
	return s->mask & unc_readback_mask(run->platform->table, set->unit, s->reg, s->value);
}

/* Right before the writes: if a program has changed a control of the unit since the look, nothing
 * is written there; the set gets another counter. */
static int check_found(struct unc_run *run, struct unc_set *set, struct unc_error *err)
{
	const struct unc_plan *now = read_check(run, set);
	struct unc_error why;
	int rc = 0;

	for (size_t k = 0; k < now->n && !is_left(set); k++) {
		struct unc_setting *s = unc_held_find(set, now->tag[k].reg);

		if (!s || s->state != UNC_NOTED || now->op[k].error ||
		    !((now->op[k].value ^ s->found) & readback_bits(run, set, s)))
			continue;
		s->state = UNC_NOT_OURS;
		unc_fail(&why, UNC_ERR_BUSY,
			 "%s of %s holds 0x%" PRIx64 " instead of 0x%" PRIx64
			 ": somebody else programs it at the same time",
			 unc_reg_name(run->platform->table, s->reg),
			 unc_unit_name(run->platform, set->unit).text, now->op[k].value, s->found);
		rc = unc_set_leave(run, set, &why, err);
		set->retry_ns = 0;
		run->changed = true;
	}
	return rc;
}

/* Notes what a setting shows right after its write. */
static int take_shown(struct unc_run *run, struct unc_set *set, struct unc_setting *s, uint64_t now,
		      struct unc_error *err)
{
	const struct unc_table *t = run->platform->table;
	char event[UNC_SPEC_MAX] = "";
	struct unc_error why;

	s->shown = now;
	s->state = UNC_SHOWN;
	if (!((now ^ s->value) & readback_bits(run, set, s)))
		return 0;
	s->state = UNC_NOT_OURS;
	if (t->reg[s->reg].role != UNC_ROLE_OTHER)
		unc_unit_event_text(run->platform, set->unit, now, NULL, 0, event, sizeof(event));
	unc_fail(&why, UNC_ERR_BUSY,
		 "%s of %s holds 0x%" PRIx64 "%s right after 0x%" PRIx64
		 " was written: somebody else programs it at the same time",
		 unc_reg_name(t, s->reg), unc_unit_name(run->platform, set->unit).text, now, event,
		 s->value);
	return unc_set_leave(run, set, &why, err);
}

/* Right after the writes: leaves out a unit whose control does not hold what was written. */
static int read_back(struct unc_run *run, struct unc_set *set, struct unc_error *err)
{
	const struct unc_batch one = {&set, 1};
	struct unc_plan *back = read_check(run, set);
	int rc = leave_failed(run, &one, back, "reading the controls back", err);

	for (size_t k = 0; k < back->n && rc == 0 && !is_left(set); k++) {
		struct unc_setting *s = unc_held_find(set, back->tag[k].reg);

		if (s && s->state != UNC_SHOWN && !back->op[k].error)
			rc = take_shown(run, set, s, back->op[k].value, err);
	}
	return rc;
}

static int plan_batch(struct unc_run *run, const struct unc_batch *b, enum unc_occasion what,
		      struct unc_plan *plan, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i++)
		rc = unc_plan_steps(run->platform->table, b->set[i], what, plan, err);
	return rc;
}

/* Ends the sets that are left out, one by one as at a stop, but without a read. The others come
 * first afterwards; *n is their number. */
static int end_left(struct unc_run *run, const struct unc_batch *b, size_t *n,
		    struct unc_error *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < *n; i++) {
		struct unc_set *set = b->set[i];
		const struct unc_batch one = {&set, 1};

		if (!is_left(set)) {
			b->set[i] = b->set[kept];
			b->set[kept++] = set;
		} else if (unc_registers.stop(run, &one, NULL) == UNC_ERR_MEMORY) {
			rc = unc_no_memory(err);
		}
	}
	*n = kept;
	return rc;
}

/* A failed write leaves what was found in the register, unless it may be half written. */
static void note_unwritten(const struct unc_batch *b, const struct unc_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct unc_reg *reg = &plan->op[i].reg;
		struct unc_setting *s =
			unc_held_find(set_of_unit(b, plan->tag[i].instance), plan->tag[i].reg);

		if (plan->op[i].error && s && !(reg->space == UNC_SPACE_PCI && reg->width == 64))
			s->state = UNC_PLANNED;
	}
}

/* Writes once everything is prepared and has an entry. */
static int write_settings(struct unc_run *run, struct unc_batch *b, struct unc_plan *plan,
			  struct unc_error *err)
{
	uint64_t ns;
	int rc = unc_entries_add(run, b, err);

	for (size_t i = 0; i < b->n && rc == 0; i++)
		rc = check_found(run, b->set[i], err);
	if (rc < 0)
		return rc;
	drop_left(b, plan);
	ns = unc_machine_now(run->platform->machine);
	for (size_t i = 0; i < b->n; i++)
		b->set[i]->before_ns = b->set[i]->to.ns = ns;
	if (unc_access_run(run->platform->access, plan->op, plan->n) < 0) {
		note_unwritten(b, plan);
		rc = leave_failed(run, b, plan, "programming the counters", err);
	}
	for (size_t i = 0; i < b->n && rc == 0; i++)
		if (!is_left(b->set[i]))
			rc = read_back(run, b->set[i], err);
	return rc;
}

static int registers_start(struct unc_run *run, const struct unc_batch *all, struct unc_error *err)
{
	struct unc_batch b = *all;
	struct unc_plan plan = {0};
	int rc = prepare_checks(run, &b, err);

	if (rc == 0)
		rc = plan_batch(run, &b, UNC_START, &plan, err);
	if (rc == 0)
		rc = prepare_plan(run, &b, &plan, err);
	if (rc == 0)
		rc = end_left(run, &b, &b.n, err);
	if (rc == 0 && b.n)
		rc = write_settings(run, &b, &plan, err);
	if (rc == 0)
		rc = end_left(run, &b, &b.n, err);
	unc_plan_free(&plan);
	return rc;
}

static int registers_reads(struct unc_run *run, struct unc_set *set, struct unc_reg_op *ops,
			   struct unc_error *err)
{
	for (size_t i = 0; i < set->n; i++) {
		struct unc_reg_op *op = &ops[i];
		int rc;

		*op = (struct unc_reg_op){.kind = UNC_OP_READ};
		rc = unc_instance_reg(run->platform->table, set->unit, set->counter[i].ctr,
				      &op->reg, err);
		if (rc < 0)
			return rc;
	}
	return unc_access_prepare(run->platform->access, ops, set->n, err);
}

/* ---- comparing */

static void lose_changed(struct unc_run *run, struct unc_set *set, uint16_t reg, uint64_t now,
			 const char *name)
{
	const struct unc_platform *p = run->platform;
	const struct unc_unit_name unit = unc_unit_name(p, set->unit);
	const char *text = unc_reg_name(p->table, reg);
	char event[UNC_SPEC_MAX];
	struct unc_error why;

	if (p->table->reg[reg].role == UNC_ROLE_OTHER ||
	    p->table->reg[reg].role == UNC_ROLE_UNIT_CTL)
		unc_fail(&why, UNC_ERR_BUSY,
			 "%s: somebody else has changed %s of %s while it was counting: it holds "
			 "0x%" PRIx64,
			 name, text, unit.text, now);
	else if (!now)
		unc_fail(&why, UNC_ERR_BUSY,
			 "%s: somebody else has cleared %s of %s while it was counting", name, text,
			 unit.text);
	else
		unc_fail(
			&why, UNC_ERR_BUSY,
			"%s: somebody else has programmed %s of %s while it was counting: it holds "
			"0x%" PRIx64 "%s",
			name, text, unit.text, now,
			unc_unit_event_text(p, set->unit, now, NULL, 0, event, sizeof(event)));
	unc_set_lose(run, set, &why);
}

/* The name of the event that needs this control or filter. */
static const char *event_that_needs(const struct unc_run *run, const struct unc_set *set,
				    uint16_t reg)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct unc_set_counter *c = &set->counter[i];

		if (unc_counter_control(run->platform, c) == reg ||
		    unc_filter_of(c->event->code.filter, c->event->code.n_filters, reg))
			return c->event->name;
	}
	return set->counter[0].event->name;
}

/* Bits of a filter that are not ours may be set by other programs: they are not restored as found. */
static void keep_other_bits(const struct unc_run *run, struct unc_setting *s, uint64_t now)
{
	uint64_t others =
		(now ^ s->shown) & ~s->mask & run->platform->table->reg[s->reg].write_mask;

	s->restore = (s->restore & ~others) | (now & others);
	s->shown ^= others;
}

/* A control or filter that holds another value is no longer ours to restore. */
static void compare_setting(struct unc_run *run, struct unc_set *set, struct unc_setting *s,
			    uint64_t now)
{
	/* After a failed start nobody has read what it shows. */
	bool shown = s->state == UNC_SHOWN;
	uint64_t mask = shown ? s->mask & run->platform->table->reg[s->reg].write_mask
			      : readback_bits(run, set, s);

	if (s->state == UNC_NOT_OURS)
		return;
	if (!((now ^ s->shown) & mask)) {
		if (shown)
			keep_other_bits(run, s, now);
		return;
	}
	s->state = UNC_NOT_OURS;
	lose_changed(run, set, s->reg, now, event_that_needs(run, set, s->reg));
}

/* A newcomer may count a kind that excludes ours: then neither count is reliable. */
static void compare_kind(struct unc_run *run, struct unc_set *set, uint16_t reg, uint64_t now)
{
	const struct unc_platform *p = run->platform;
	const struct unc_tbl_type *type = &p->table->type[set->unit->type];
	char event[UNC_SPEC_MAX];
	struct unc_error why;

	if (!(now & type->active) || !((now ^ unc_held(set)->setting[0].value) & type->exclusive))
		return;
	unc_fail(&why, UNC_ERR_BUSY,
		 "%s: somebody else has programmed %s of %s with an event of another kind "
		 "(0x%" PRIx64 "%s), and the unit counts one kind at a time",
		 set->counter[0].event->name, unc_reg_name(p->table, reg),
		 unc_unit_name(p, set->unit).text, now,
		 unc_unit_event_text(p, set->unit, now, NULL, 0, event, sizeof(event)));
	unc_set_lose(run, set, &why);
}

static void registers_compare(struct unc_run *run, struct unc_set *set)
{
	const struct unc_table *t = run->platform->table;
	const struct unc_tbl_type *type = &t->type[set->unit->type];
	const struct unc_plan *look = read_check(run, set);

	for (size_t k = 0; k < look->n; k++) {
		uint16_t reg = look->tag[k].reg;
		struct unc_setting *s = unc_held_find(set, reg);
		const struct unc_reg_op *op = &look->op[k];

		if (!s && reg == type->unit_ctl && !type->steps_freeze.n)
			continue;
		if (op->error) { /* ownership is not known: compare again soon */
			run->compared_ns = 0;
			unc_set_unread(run, set, reg, op);
		} else if (s) {
			compare_setting(run, set, s, op->value);
		} else if (reg != type->unit_ctl) {
			compare_kind(run, set, reg, op->value);
		} else if (unc_unit_frozen(t, set->unit, &op->value) > 0) {
			/* Unit control, if it can be read, shows whether the unit is frozen. */
			unc_held(set)->taken = true;
			lose_changed(run, set, reg, op->value, set->counter[0].event->name);
		}
	}
}

/* ---- stopping */

static int registers_ready(struct unc_run *run, const struct unc_batch *b, struct unc_error *err)
{
	int rc = plan_batch(run, b, UNC_STOP, &run->restore, err);

	run->restore.n = 0;
	return rc == UNC_ERR_MEMORY ? rc : 0;
}

/* Looks for others on a unit that was ours alone: settings that they also need are not restored. */
static void registers_neighbours(struct unc_run *run, struct unc_set *set)
{
	const struct unc_table *t = run->platform->table;
	struct unc_plan found = {0};

	if (unc_look_at(t, set->unit, UNC_LOOK_STATE, NULL, &found, NULL) == 0 &&
	    unc_plan_run(run->platform, &found, "looking at the controls", NULL) == 0) {
		struct unc_occupancy o = unc_occupancy(run->platform, &found, set->unit, set);

		set->shared = o.n != 0;
		set->foreign = o.foreigner != UNC_NONE;
	}
	unc_plan_free(&found);
}

/* If the kernel's driver may count with our registers, nothing is restored. */
static void leave_to_driver(struct unc_run *run, const struct unc_batch *b)
{
	bool counts = false;

	for (size_t i = 0; i < b->n; i++) {
		unc_held(b->set[i])->left = false;
		if (!unc_held(b->set[i])->n_controls ||
		    !unc_platform_has_driver(run->platform, b->set[i]->unit))
			continue;
		if (!counts && !unc_platform_kernel_counts(run->platform))
			return;
		counts = true;
		unc_held(b->set[i])->left = true;
	}
}

/* Restores the registers, except those that others need or have changed, and releases the entries.
 * Sets without entries come last, and nothing is done for them. */
static int registers_stop(struct unc_run *run, const struct unc_batch *all, struct unc_error *err)
{
	const struct unc_table *t = run->platform->table;
	struct unc_batch noted = {all->set, 0}, *b = &noted;
	int rc, failed;

	for (size_t i = 0; i < all->n; i++) {
		struct unc_set *set = all->set[i];

		if (unc_held(set) && unc_held(set)->unit.state != UNC_PLANNED) {
			all->set[i] = b->set[b->n];
			b->set[b->n++] = set;
		}
	}
	if (!b->n)
		return 0;
	for (size_t i = 0; i < b->n; i++)
		if (is_left(b->set[i])) /* the others were compared just now */
			registers_compare(run, b->set[i]);
	unc_entries_settle(run, b);
	for (size_t i = 0; i < b->n; i++)
		if (unc_type_restores(t, &t->type[b->set[i]->unit->type]))
			registers_neighbours(run, b->set[i]);
	leave_to_driver(run, b);
	run->restore.n = 0;
	rc = plan_batch(run, b, UNC_STOP, &run->restore, err);
	if (rc == 0 && run->restore.n)
		rc = unc_access_prepare(run->platform->access, run->restore.op, run->restore.n,
					err);
	failed = rc;
	if (rc == 0)
		rc = unc_plan_restore(run->platform, &run->restore, err);
	unc_entries_end(run, b, failed ? NULL : &run->restore);
	return rc;
}

static void registers_abandon(struct unc_run *run, const struct unc_batch *b)
{
	unc_entries_drop(run, b);
}

static void registers_forget(struct unc_set *set)
{
	if (set->held)
		unc_plan_free(&unc_held(set)->check);
	free(set->held);
	set->held = NULL;
}

/* ---- reporting */

static int tell_plan(const struct unc_platform *p, const struct unc_plan *plan, unc_operation_fn fn,
		     void *user)
{
	int stop = 0;

	for (size_t i = 0; i < plan->n && !stop; i++) {
		const struct unc_instance *u = plan->tag[i].instance;
		const struct unc_reg *reg = &plan->op[i].reg;
		struct unc_operation out = {
			.unit = unc_type_name(p->table, u->type),
			.socket = u->socket,
			.index = u->index,
			.reg = unc_reg_name(p->table, plan->tag[i].reg),
			.space = unc_space_name(reg->space),
			.address = unc_reg_shown(reg),
			.location = u->location,
			.width = reg->width,
			.write = plan->op[i].kind == UNC_OP_WRITE,
			.value = plan->op[i].value,
		};

		stop = fn(user, &out);
	}
	return stop;
}

static int registers_show(struct unc_run *run, const struct unc_batch *b, enum unc_phase phase,
			  unc_operation_fn fn, void *user, struct unc_error *err)
{
	struct unc_plan plan = {0};
	int rc = 0;

	if (phase == UNC_PHASE_START || phase == UNC_PHASE_STOP)
		rc = plan_batch(run, b, phase == UNC_PHASE_START ? UNC_START : UNC_STOP, &plan,
				err);
	else
		for (size_t i = 0; i < b->n; i++)
			for (size_t k = 0; k < b->set[i]->n && rc == 0; k++)
				rc = unc_plan_add(run->platform->table, &plan, b->set[i]->unit,
						  b->set[i]->counter[k].ctr, UNC_OP_READ, 0, err);
	if (rc == 0)
		rc = tell_plan(run->platform, &plan, fn, user);
	unc_plan_free(&plan);
	return rc;
}

static const char *registers_subject(const struct unc_run *run, const struct unc_set *set)
{
	return unc_reg_name(run->platform->table, set->counter[0].ctr);
}

static int registers_fail_unread(const struct unc_run *run, const struct unc_set *set,
				 struct unc_error *err)
{
	return unc_fail(err, UNC_ERR_IO, "%s of %s at %s could not be read: %s",
			unc_reg_name(run->platform->table, set->unread_reg),
			unc_unit_name(run->platform, set->unit).text, set->unit->location,
			set->unread == ENXIO    ? UNC_NO_CPU
			: set->unread == ENODEV ? "its CPU is offline"
						: strerror(set->unread));
}

static int registers_fail_read(const struct unc_run *run, const struct unc_set *set,
			       const struct unc_reg_op *op, struct unc_error *err)
{
	return unc_fail(err, UNC_ERR_IO, "no counter could be read: %s of %s: %s",
			registers_subject(run, set), unc_unit_name(run->platform, set->unit).text,
			op->errno_value ? strerror(op->errno_value) : unc_error_name(op->error));
}

const struct unc_provider unc_registers = {
	.claim = unc_claim_registers,
	.start = registers_start,
	.reads = registers_reads,
	.compare = registers_compare,
	.neighbours = registers_neighbours,
	.ready = registers_ready,
	.stop = registers_stop,
	.abandon = registers_abandon,
	.forget = registers_forget,
	.show = registers_show,
	.subject = registers_subject,
	.fail_unread = registers_fail_unread,
	.fail_read = registers_fail_read,
};
