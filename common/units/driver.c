/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units on which the kernel's own driver counts for us. It chooses the counters, shares them with
 * its other users and takes them back from processes that have ended: nothing of such a unit is
 * looked at, written, compared or restored here.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units/inside.h"

/* Its groups, while they are open: of each PMU, NULL where it is not needed. */
struct unc_driver_claim {
	struct unc_kernel_group *group[UNC_KERNEL_PMUS];
};

/* ---- by what a unit counts */

/* Whether other sessions count on a unit by its registers: the kernel would overwrite them. */
static bool is_claimed(const struct unc_units *s, const struct unc_instance *u)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_range *regs = &t->type[u->type].regs;

	for (uint32_t i = regs->first; i < regs->first + regs->n; i++)
		if (t->reg[i].role == UNC_ROLE_CTL && unc_units_entry(s, u, (uint16_t)i))
			return true;
	return false;
}

/* *unloaded: its driver is not there any more, so registers count. */
static void choose(struct unc_units *s, uint32_t instance, bool *unloaded)
{
	const struct unc_platform *p = s->platform;
	const struct unc_instance *u = &p->instances.unit[instance];
	unsigned by = UNC_BY_REGISTERS | UNC_BY_KERNEL;
	int i;

	/* Registers count all that was added, where they can be reached. */
	for (i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next)
		by &= unc_platform_methods(p, instance, &s->slot[i].code, &s->slot[i].driver.code,
					   NULL);
	if (by == UNC_BY_REGISTERS ||
	    (by != UNC_BY_KERNEL && (!p->kernel[instance].before || is_claimed(s, u))))
		return;
	if (by != UNC_BY_KERNEL && !unc_platform_has_driver(p, u)) {
		*unloaded = true;
		return;
	}
	s->wanted[instance].by = &unc_driver;
	for (i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next)
		s->slot[i].mask = UINT64_MAX; /* the kernel adds up */
}

void unc_driver_choose(struct unc_units *s)
{
	bool unloaded = false;

	for (uint32_t i = 0; s->platform->kernel && i < s->platform->instances.n; i++)
		if (s->wanted[i].head != UNC_END)
			choose(s, i, &unloaded);
	if (unloaded)
		unc_platform_log(s->platform, UNC_LOG_WARNING,
				 "the kernel's driver was unloaded: registers count instead");
}

/* ---- its events */

static int driver_claim(struct unc_units *s, struct unc_claim *u, const struct unc_assignment *a,
			const struct unc_occupancy *o, const struct unc_plan *found,
			struct unc_error *err)
{
	unsigned events[UNC_KERNEL_PMUS] = {0};

	(void)o;
	(void)found;
	(void)err;
	u->n_counters = a->n;
	for (size_t i = 0; i < a->n; i++) {
		struct unc_slot *slot = &s->slot[a->slot[i]];

		slot->ctr = unc_slot_register(s->platform->table, slot, a->counter[i]);
		slot->start = 0;
		slot->begin = true;
		slot->pace = NAN;
		slot->driver.place = events[slot->driver.code.pmu]++;
	}
	return 0;
}

/* The events of a unit that count now on one of its PMUs, as they are opened. */
static size_t events_of(const struct unc_units *s, const struct unc_claim *u, unsigned pmu,
			struct unc_kernel_event *out)
{
	uint32_t slots[UNC_MAX_CODES];
	size_t n = unc_units_slots_of(s, unc_units_number(s, u->instance), UNC_TURN, slots),
	       found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct unc_slot *slot = &s->slot[slots[i]];
		const struct unc_kernel_code *code = &slot->driver.code;

		if (code->pmu != pmu)
			continue;
		out[slot->driver.place] =
			(struct unc_kernel_event){code->config, code->config1, code->config2};
		found++;
	}
	return found;
}

/* Its driver may have been unloaded since the platform was opened, or loaded again: the number of
 * the PMU is another one then, or another PMU's. */
static int find_now(const struct unc_units *s, const struct unc_instance *u, unsigned pmu,
		    struct unc_kernel_place *place, struct unc_error *err)
{
	const struct unc_platform *p = s->platform;
	char name[UNC_KERNEL_NAME] = "";
	struct unc_kernel_place now;
	int rc;

	unc_kernel_pmu(p->table, u->type, pmu, u->index, name, sizeof(name));
	if ((rc = unc_kernel_find(p->access, name, u->socket, &now, err)) < 0)
		return rc;
	if (!now.passed) /* others share groups by the CPU that was found first */
		now.cpu = place->cpu;
	*place = now;
	return 0;
}

static int open_unit(struct unc_units *s, struct unc_claim *u, struct unc_error *err)
{
	const struct unc_kernel_unit *kernel =
		&s->platform->kernel[unc_units_number(s, u->instance)];
	int rc = 0;

	u->driver = calloc(1, sizeof(*u->driver));
	if (!u->driver)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	for (unsigned pmu = 0; pmu < UNC_KERNEL_PMUS && rc == 0; pmu++) {
		struct unc_kernel_event event[UNC_MAX_CODES] = {{0}};
		struct unc_kernel_place place = kernel->place[pmu];
		size_t n = events_of(s, u, pmu, event);

		if (n && (rc = find_now(s, u->instance, pmu, &place, err)) == 0)
			rc = unc_kernel_open(s->platform->access, &place, event, n,
					     &u->driver->group[pmu], err);
	}
	if (rc == 0)
		return 0;
	unc_error_prefix(err, "%s", unc_unit_name(s, u->instance).text);
	return rc;
}

/* What was prepared to read them must not be run any more. */
static int driver_stop(struct unc_units *s, size_t first, struct unc_error *err)
{
	(void)err;
	for (size_t i = first; i < s->n_claims; i++) {
		struct unc_claim *u = &s->claim[i];

		for (unsigned pmu = 0; u->driver && pmu < UNC_KERNEL_PMUS; pmu++)
			unc_kernel_close(u->driver->group[pmu]);
		free(u->driver);
		u->driver = NULL;
	}
	return 0;
}

static int driver_open(struct unc_units *s, size_t first, struct unc_error *err)
{
	struct unc_error why;
	int rc = 0;

	unc_driver_prove_full(s, &unc_driver, first);
	for (size_t i = first; i < s->n_claims && rc == 0; i++)
		if (s->claim[i].by == &unc_driver && open_unit(s, &s->claim[i], &why) < 0)
			rc = unc_units_leave_out(s, unc_units_number(s, s->claim[i].instance), &why,
						 err);
	if (rc < 0)
		driver_stop(s, first, NULL);
	return rc;
}

static void driver_forget(struct unc_units *s)
{
	for (size_t i = 0; i < s->n_claims; i++) {
		struct unc_claim *u = &s->claim[i];

		for (unsigned pmu = 0; u->driver && pmu < UNC_KERNEL_PMUS; pmu++)
			unc_kernel_forget(u->driver->group[pmu]);
		free(u->driver);
		u->driver = NULL;
	}
}

/* ---- reading */

static int read_pmu(const struct unc_units *s, const struct unc_claim *u, unsigned pmu,
		    struct unc_plan *plan, uint32_t *slot, struct unc_error *err)
{
	int i = unc_units_wanted(s, u->instance)->head, rc = 0;

	for (; i != UNC_END && rc == 0; i = s->slot[i].next) {
		struct unc_reg_op op;

		if (s->slot[i].driver.code.pmu != pmu || !unc_units_active(s, &s->slot[i]))
			continue;
		unc_kernel_op(u->driver->group[pmu], s->slot[i].driver.place, &op);
		slot[plan->n] = (uint32_t)i;
		rc = unc_plan_append(plan, u->instance, s->slot[i].ctr, &op, err);
	}
	return rc;
}

/* One group after the other. */
static int driver_read(struct unc_units *s, enum unc_extent extent, struct unc_plan *plan,
		       uint32_t *slot, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < s->n_claims && rc == 0; i++) {
		const struct unc_claim *u = &s->claim[i];
		bool always = unc_units_wanted(s, u->instance)->always;

		if (u->by != &unc_driver || always != (extent == UNC_ALL) ||
		    !unc_units_wanted(s, u->instance)->claimed)
			continue;
		for (unsigned pmu = 0; pmu < UNC_KERNEL_PMUS && rc == 0; pmu++)
			rc = read_pmu(s, u, pmu, plan, slot, err);
	}
	return rc;
}

static void driver_timed(struct unc_units *s, struct unc_slot *slot, const struct unc_reg_op *op)
{
	struct unc_run_time now = {unc_kernel_ran(op), unc_kernel_idle(op)};

	if (!slot->begin) {
		slot->span.total.time.ran += now.ran - slot->driver.last.ran;
		slot->span.total.time.idle += now.idle - slot->driver.last.idle;
		s->flawed |= slot->span.total.time.idle != 0;
	}
	slot->driver.last = now;
}

static const char *subject(const struct unc_units *s, const struct unc_slot *slot)
{
	(void)s;
	return slot->name;
}

static int fail_unread(const struct unc_units *s, const struct unc_slot *slot, uint16_t reg,
		       int error, struct unc_error *err)
{

	(void)reg;
	return unc_fail(err, UNC_ERR_IO, "%s: what the kernel counts on %s could not be read: %s",
			slot->name, unc_unit_name(s, unc_slot_unit(s, slot)).text,
			error == ENODEV    ? "all CPUs of its socket went offline, or another "
					     "process of this user has stopped it"
			: error == ERANGE  ? "another process of this user has set it to 0"
			: error == ENOLINK ? "another process of this user has ended a part of it"
			: error == EBUSY   ? "others of the kernel's users have its counters"
					   : strerror(error));
}

static int fail_read(const struct unc_units *s, const struct unc_slot *slot,
		     const struct unc_reg_op *op, struct unc_error *err)
{
	struct unc_error why = {0};

	(void)op;
	unc_slot_loss(s, slot, &why);
	return unc_fail(err, UNC_ERR_IO, "nothing could be read: %s", why.text);
}

/* ---- walking */

/* What is told of an event: its numbers when it is opened, its count when it is read. */
static int walk_event(const struct unc_claim *u, unsigned cpu, const char *pmu,
		      struct unc_operation *op, const struct unc_kernel_event *event,
		      enum unc_phase phase, unc_operation_fn fn, void *user)
{
	static const char *const member[] = {"config", "config1", "config2", "count"};
	const uint64_t value[] = {event->config, event->config1, event->config2, 0};
	char name[UNC_KERNEL_NAME + 16], location[24];
	int stop = 0;

	snprintf(location, sizeof(location), "cpu %u", cpu);
	op->socket = u->instance->socket;
	op->index = u->instance->index;
	op->reg = name;
	op->space = "kernel";
	op->location = location;
	op->width = 64;
	op->write = phase == UNC_PHASE_START;
	for (unsigned i = op->write ? 0 : 3; i < (op->write ? 3u : 4u) && !stop; i++) {
		if (i > 0 && i < 3 && !value[i])
			continue;
		snprintf(name, sizeof(name), "%s/%s", pmu, member[i]);
		op->value = value[i];
		stop = fn(user, op);
	}
	return stop;
}

static int walk_pmu(const struct unc_units *s, const struct unc_claim *u, unsigned pmu,
		    enum unc_phase phase, unc_operation_fn fn, void *user)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_instance *unit = u->instance;
	struct unc_operation op = {.unit = unc_type_name(t, unit->type)};
	struct unc_kernel_event event[UNC_MAX_CODES] = {{0}};
	char name[UNC_KERNEL_NAME];
	size_t n = events_of(s, u, pmu, event);
	unsigned cpu = s->platform->kernel[unc_units_number(s, unit)].place[pmu].cpu;
	int stop = 0;

	if (n && !unc_kernel_pmu(t, unit->type, pmu, unit->index, name, sizeof(name)))
		return 0;
	for (size_t i = 0; i < n && !stop; i++)
		stop = walk_event(u, cpu, name, &op, &event[i], phase, fn, user);
	return stop;
}

static int driver_show(struct unc_units *s, enum unc_phase phase, unc_operation_fn fn, void *user,
		       struct unc_error *err)
{
	int stop = 0;

	(void)err;
	for (size_t i = 0; i < s->n_claims && phase != UNC_PHASE_STOP; i++)
		for (unsigned pmu = 0;
		     pmu < UNC_KERNEL_PMUS && s->claim[i].by == &unc_driver && !stop; pmu++)
			stop = walk_pmu(s, &s->claim[i], pmu, phase, fn, user);
	return stop;
}

static int driver_start(struct unc_units *s, size_t first, struct unc_error *err)
{
	(void)err;
	return unc_driver_prove(s, &unc_driver, first, UNC_FIRST);
}

static int driver_check(struct unc_units *s, size_t first, enum unc_check_kind kind,
			struct unc_error *err)
{
	(void)err;
	return kind >= UNC_PROVE ? unc_driver_prove(s, &unc_driver, first, kind) : 0;
}

/* An event whose socket went offline has ended for good, even if its CPUs come back. */
static bool gone(int error)
{
	return error == ENODEV || error == ERANGE || error == ENOLINK;
}

const struct unc_unit_methods unc_driver = {
	.claim = driver_claim,
	.read = driver_read,
	.timed = driver_timed,
	.check = driver_check,
	.take = {[UNC_OPEN] = driver_open, [UNC_SHOW] = driver_start, [UNC_END_ALL] = driver_stop},
	.forget = driver_forget,
	.show = driver_show,
	.gone = gone,
	.subject = subject,
	.fail_unread = fail_unread,
	.fail_read = fail_read,
};
