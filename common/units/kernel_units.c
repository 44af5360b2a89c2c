/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: units on which the kernel's own driver counts for us. It chooses the counters, shares
 * them with its other users and takes them back from the dead: nothing of such a unit is looked at,
 * written, compared or put back here.
 */
#include <stdio.h>

#include "encode/schedule.h"
#include "units/units.h"

static uint32_t number_of(const struct unc_units *s, const struct unc_instance *u)
{
	return (uint32_t)(u - s->platform->instances.unit);
}

/* ---- by what a unit counts */

/* Whether other sessions count on a unit by its registers: the kernel would overwrite them. */
static bool is_claimed(const struct unc_units *s, const struct unc_instance *u)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_range *regs = &t->type[u->type].regs;

	for (uint32_t i = regs->first; i < regs->first + regs->n; i++)
		if (t->reg[i].role == UNC_ROLE_CTL && unc_units_shares(s, u, (uint16_t)i))
			return true;
	return false;
}

/* Sampling needs registers, and the unit is served by the kernel alone. */
static int fail_sampling(struct unc_units *s, uint32_t instance, struct unc_error *err)
{
	const struct unc_slot *slot = &s->slot[s->wanted[instance].head];
	struct unc_error why = {0};
	char unit[64];

	unc_units_unit_text(s, &s->platform->instances.unit[instance], unit, sizeof(unit));
	unc_platform_methods(s->platform, instance, &slot->code, &why);
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"%s: an event that ends intervals needs the registers of %s: %s",
			slot->name, unit, why.text);
}

/* *unloaded: its driver is not there any more, so registers count. */
static int choose(struct unc_units *s, uint32_t instance, bool *unloaded, struct unc_error *err)
{
	const struct unc_platform *p = s->platform;
	const struct unc_instance *u = &p->instances.unit[instance];
	/* What ends intervals freezes and sets counters. */
	unsigned by = s->guest ? UNC_BY_REGISTERS : UNC_BY_REGISTERS | UNC_BY_KERNEL;

	/* Registers count all that was added, where they can be reached. */
	for (int i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next)
		by &= unc_platform_methods(p, instance, &s->slot[i].code, NULL);
	if (!by)
		return fail_sampling(s, instance, err);
	s->wanted[instance].by_kernel =
		by == UNC_BY_KERNEL ||
		(by & UNC_BY_KERNEL && p->kernel[instance].before && !is_claimed(s, u));
	if (by != UNC_BY_KERNEL && s->wanted[instance].by_kernel && !unc_units_has_driver(p, u)) {
		s->wanted[instance].by_kernel = false;
		*unloaded = true;
	}
	return 0;
}

int unc_units_choose(struct unc_units *s, struct unc_error *err)
{
	bool unloaded = false;
	int rc = 0;

	for (uint32_t i = 0; s->platform->kernel && i < s->platform->instances.n && rc == 0; i++)
		if (s->wanted[i].head != UNC_END)
			rc = choose(s, i, &unloaded, err);
	if (unloaded)
		unc_platform_log(s->platform, UNC_LOG_WARNING,
				 "the kernel's driver was unloaded: registers count instead");
	return rc;
}

/* ---- its events */

int unc_units_kernel_unit(struct unc_units *s, struct unc_plan_unit *u, const uint32_t *slots,
			  const uint8_t *counter, size_t n, struct unc_error *err)
{
	uint8_t events[UNC_KERNEL_PMUS] = {0};
	struct unc_kernel_code code;

	u->by_kernel = true;
	u->clock.ctr = UNC_NONE;
	u->n_counters = n;
	for (size_t i = 0; i < n; i++) {
		struct unc_slot *slot = &s->slot[slots[i]];
		int rc = unc_kernel_encode(s->platform->table, &slot->code, &code, err);

		if (rc < 0)
			return rc;
		slot->ctr = unc_slot_register(s->platform->table, slot, counter[i]);
		slot->mask = UINT64_MAX; /* the kernel adds up */
		slot->begin = true;
		slot->kernel.pmu = code.pmu;
		slot->kernel.event = events[code.pmu]++;
	}
	return 0;
}

/* The events of a unit that count now on one of its PMUs, as they are opened. */
static size_t events_of(const struct unc_units *s, const struct unc_plan_unit *u, unsigned pmu,
			struct unc_kernel_event *out)
{
	uint32_t slots[UNC_MAX_CODES];
	size_t n = unc_units_slots_of(s, number_of(s, u->instance), false, slots), found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct unc_slot *slot = &s->slot[slots[i]];
		struct unc_kernel_code code;

		if (slot->kernel.pmu != pmu ||
		    unc_kernel_encode(s->platform->table, &slot->code, &code, NULL) < 0)
			continue;
		out[slot->kernel.event] =
			(struct unc_kernel_event){code.config, code.config1, code.config2};
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
	if ((rc = unc_kernel_find(p->access, name, u->socket, &now, err)) == 0)
		place->type = now.type;
	return rc;
}

static int open_unit(struct unc_units *s, struct unc_plan_unit *u, struct unc_error *err)
{
	const struct unc_kernel_unit *kernel = &s->platform->kernel[number_of(s, u->instance)];
	char unit[64];
	int rc = 0;

	for (unsigned pmu = 0; pmu < UNC_KERNEL_PMUS && rc == 0; pmu++) {
		struct unc_kernel_event event[UNC_MAX_CODES] = {{0}};
		struct unc_kernel_place place = kernel->place[pmu];
		size_t n = events_of(s, u, pmu, event);

		if (n && (rc = find_now(s, u->instance, pmu, &place, err)) == 0)
			rc = unc_kernel_open(s->platform->access, &place, event, n, &u->group[pmu],
					     err);
	}
	if (rc == 0)
		return 0;
	unc_units_unit_text(s, u->instance, unit, sizeof(unit));
	unc_error_prefix(err, "%s", unit);
	return rc;
}

int unc_units_kernel_open(struct unc_units *s, size_t first, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = first; i < s->n_units && rc == 0; i++)
		if (s->unit[i].by_kernel)
			rc = open_unit(s, &s->unit[i], err);
	if (rc < 0)
		unc_units_kernel_close(s, first);
	return rc;
}

void unc_units_kernel_close(struct unc_units *s, size_t first)
{
	for (size_t i = first; i < s->n_units; i++)
		for (unsigned pmu = 0; pmu < UNC_KERNEL_PMUS; pmu++) {
			unc_kernel_close(s->unit[i].group[pmu]);
			s->unit[i].group[pmu] = NULL;
		}
}

void unc_units_kernel_forget(struct unc_units *s)
{
	for (size_t i = 0; i < s->n_units; i++)
		for (unsigned pmu = 0; pmu < UNC_KERNEL_PMUS; pmu++)
			unc_kernel_forget(s->unit[i].group[pmu]);
}

/* ---- reading */

static int read_pmu(const struct unc_units *s, const struct unc_plan_unit *u, unsigned pmu,
		    struct unc_plan *plan, uint32_t *slot, struct unc_error *err)
{
	int i = s->wanted[number_of(s, u->instance)].head, rc = 0;

	for (; i != UNC_END && rc == 0; i = s->slot[i].next) {
		struct unc_reg_op op;

		if (s->slot[i].kernel.pmu != pmu || !unc_units_active(s, &s->slot[i]))
			continue;
		unc_kernel_op(u->group[pmu], s->slot[i].kernel.event, &op);
		slot[plan->n] = (uint32_t)i;
		rc = unc_plan_append(plan, u->instance, s->slot[i].ctr, &op, err);
	}
	return rc;
}

int unc_units_kernel_reads(const struct unc_units *s, bool always, struct unc_plan *plan,
			   uint32_t *slot, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < s->n_units && rc == 0; i++) {
		const struct unc_plan_unit *u = &s->unit[i];

		if (!u->by_kernel || s->wanted[number_of(s, u->instance)].always != always)
			continue;
		for (unsigned pmu = 0; pmu < UNC_KERNEL_PMUS && rc == 0; pmu++)
			rc = read_pmu(s, u, pmu, plan, slot, err);
	}
	return rc;
}

void unc_units_kernel_timed(struct unc_units *s, struct unc_slot *slot, const struct unc_reg_op *op)
{
	struct unc_kernel_time now = {unc_kernel_ran(op), unc_kernel_idle(op)};

	if (!slot->begin) {
		slot->kernel.total.ran += now.ran - slot->kernel.last.ran;
		slot->kernel.total.idle += now.idle - slot->kernel.last.idle;
		s->idled |= slot->kernel.total.idle != 0;
	}
	slot->kernel.last = now;
}

/* ---- walking */

/* What is told of an event: its numbers when it is opened, its count when it is read. */
static int walk_event(const struct unc_plan_unit *u, unsigned cpu, const char *pmu,
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

static int walk_pmu(const struct unc_units *s, const struct unc_plan_unit *u, unsigned pmu,
		    enum unc_phase phase, unc_operation_fn fn, void *user)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_instance *unit = u->instance;
	struct unc_operation op = {.unit = unc_tbl_str(t, t->type[unit->type].name)};
	struct unc_kernel_event event[UNC_MAX_CODES] = {{0}};
	char name[UNC_KERNEL_NAME];
	size_t n = events_of(s, u, pmu, event);
	unsigned cpu = s->platform->kernel[number_of(s, unit)].place[pmu].cpu;
	int stop = 0;

	if (n && !unc_kernel_pmu(t, unit->type, pmu, unit->index, name, sizeof(name)))
		return 0;
	for (size_t i = 0; i < n && !stop; i++)
		stop = walk_event(u, cpu, name, &op, &event[i], phase, fn, user);
	return stop;
}

int unc_units_kernel_walk(const struct unc_units *s, enum unc_phase phase, unc_operation_fn fn,
			  void *user)
{
	int stop = 0;

	for (size_t i = 0; i < s->n_units && phase != UNC_PHASE_STOP; i++)
		for (unsigned pmu = 0; pmu < UNC_KERNEL_PMUS && s->unit[i].by_kernel && !stop;
		     pmu++)
			stop = walk_pmu(s, &s->unit[i], pmu, phase, fn, user);
	return stop;
}
