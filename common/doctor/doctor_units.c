/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the doctor finds out by registers: which units are missing, which counters are taken and
 * what they count, what is frozen, and whether a control can be written at all.
 *
 * The one thing that is written is a control of a unit on which nobody counts, with the value that
 * was just read from it, through the gate. The highest counter is taken: others begin at the
 * lowest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "session/occupancy.h"

enum { STAND_STILL_MS = 20 };

/* A unit with what its registers held when they were looked at. */
struct look {
	const struct unc_table *table;
	const struct unc_instance *unit;
	struct unc_plan plan;  /* reads of controls and filters */
	uint32_t busy;         /* programmable counters in use */
	bool clock;            /* a fixed counter is in use */
	struct unc_plan count; /* reads of the counters in use */
	uint32_t still;        /* of busy: those that did not move */
	bool clock_still;
};

struct looks {
	struct look *look;
	size_t n;
	struct doctor_owners owners;
};

static const char *type_name(const struct doctor *d, const struct unc_instance *u)
{
	return unc_tbl_str(d->table, d->table->type[u->type].name);
}

/* ------------------------------------------------------------------- missing units */

struct kind {
	const struct unc_instance *missing; /* the first that is */
	unsigned n, available;
};

static struct kind kind_of(const struct doctor *d, unsigned type)
{
	const struct unc_instances *all = &d->platform->instances;
	struct kind kind = {0};

	for (size_t i = 0; i < all->n; i++) {
		const struct unc_instance *u = &all->unit[i];

		if (u->type != type)
			continue;
		kind.n++;
		kind.available += u->available;
		if (!u->available && !kind.missing)
			kind.missing = u;
	}
	return kind;
}

/* "; 7 of 8 imc units: imc3 of socket 0: REASON" */
static void add_kind(const struct doctor *d, const struct kind *kind, struct unc_buf *text)
{
	const struct unc_instance *u = kind->missing;

	unc_put(text, "; %u of %u %s units: %s%u of socket %u: %s", kind->available, kind->n,
		type_name(d, u), type_name(d, u), u->index, u->socket, u->reason);
}

/* A type that lacks some of its units gives wrong sums; one that lacks all gives none. */
void unc_doctor_units(struct doctor *d)
{
	char some[UNC_ERROR_MAX], all[UNC_ERROR_MAX - 100], others[40];
	struct unc_buf partial = UNC_BUF(some), absent = UNC_BUF(all), more = UNC_BUF(others);
	unsigned n = 0, available = 0, none = 0;

	for (unsigned type = 0; type < d->table->n_type; type++) {
		struct kind kind = kind_of(d, type);

		n += kind.n;
		available += kind.available;
		if (kind.missing && kind.available)
			add_kind(d, &kind, &partial);
		else if (kind.missing && none++ == 0)
			add_kind(d, &kind, &absent);
	}
	if (none > 1)
		unc_put(&more, "; none of %u more type%s", none - 1, none == 2 ? "" : "s");
	unc_report(d, "units", available > 0 && !partial.n,
		   partial.n ? "sums over a type that lacks some of its units are partial: see the "
			       "reason and the checks above"
			     : "see the reason and the checks above",
		   "%u of %u units available%s%s%s", available, n, partial.text, absent.text,
		   others);
}

/* ------------------------------------------------------------------- a look around */

static bool value_of(const struct look *look, uint16_t reg, uint64_t *value)
{
	return unc_plan_value(&look->plan, look->unit, reg, value);
}

static void find_users(struct look *look)
{
	const struct unc_table *t = look->table;

	for (size_t i = 0; i < look->plan.n; i++) {
		uint16_t ctr = unc_counter_in_use(t, &look->plan, i);

		if (ctr == UNC_NONE)
			continue;
		if (t->reg[ctr].role == UNC_ROLE_CTR)
			look->busy |= (uint32_t)1 << t->reg[ctr].number;
		else
			look->clock = true;
		if (!(t->reg[ctr].flags & (UNC_REG_WO | UNC_REG_FROZEN)))
			unc_plan_add(t, &look->count, look->unit, ctr, UNC_OP_READ, 0, NULL);
	}
}

/* Reads a list; one that cannot be prepared is emptied. The probe has said more. */
static void read_all(const struct doctor *d, struct unc_plan *plan)
{
	if (plan->n && unc_access_prepare(d->platform->access, plan->op, plan->n, NULL) < 0) {
		unc_plan_free(plan);
		*plan = (struct unc_plan){0};
	}
	if (plan->n)
		unc_access_run(d->platform->access, plan->op, plan->n);
}

static void look_at(const struct doctor *d, const struct unc_instance *u, struct look *look)
{
	const struct unc_occupancy_unit unit = {d->table, u};

	*look = (struct look){.table = d->table, .unit = u};
	unc_occupancy_look(d->table, u, unc_occupancy_tells, &unit, &look->plan, NULL);
	read_all(d, &look->plan);
	find_users(look);
	read_all(d, &look->count);
}

/* Reads the counters in use once more: which have moved? */
static void look_again(const struct doctor *d, struct look *look)
{
	for (size_t i = 0; i < look->count.n; i++) {
		const struct unc_tbl_reg *reg = &d->table->reg[look->count.tag[i].reg];
		struct unc_reg_op *op = &look->count.op[i];
		uint64_t before = op->value;

		if (op->error || unc_access_run(d->platform->access, op, 1) < 0 ||
		    op->value != before)
			continue;
		if (reg->role == UNC_ROLE_FIXED_CTR)
			look->clock_still = true;
		else
			look->still |= (uint32_t)1 << reg->number;
	}
}

static bool look_around(struct doctor *d, struct looks *looks)
{
	const uint64_t meanwhile = STAND_STILL_MS * 1000000;
	const struct unc_instances *all = &d->platform->instances;
	bool in_use = false;

	looks->look = calloc(all->n + 1, sizeof(*looks->look));
	if (!looks->look) {
		unc_report(d, "counters", false, "free some memory", "out of memory");
		return false;
	}
	for (size_t i = 0; i < all->n; i++) {
		if (!all->unit[i].direct || unc_space_of_thread(all->unit[i].part[0].space))
			continue;
		look_at(d, &all->unit[i], &looks->look[looks->n]);
		in_use |= looks->look[looks->n++].count.n != 0;
	}
	if (!in_use || !unc_platform_pause(d->platform, meanwhile))
		return true;
	for (size_t i = 0; i < looks->n; i++)
		look_again(d, &looks->look[i]);
	return true;
}

/* ------------------------------------------------------------------ counters in use */

/* Units without a free counter. */
static void report_taken(struct doctor *d, const struct looks *looks)
{
	unsigned used = 0, units = 0, full = 0;
	const struct look *first = NULL;
	char others[64] = "", dead[100];

	unc_doctor_dead(&looks->owners, dead, sizeof(dead));
	for (size_t i = 0; i < looks->n; i++) {
		const struct look *look = &looks->look[i];
		uint32_t all = unc_type_counters(&d->table->type[look->unit->type]);

		used += (unsigned)__builtin_popcount(look->busy);
		units += look->busy != 0;
		if (all && look->busy == all && full++ == 0)
			first = look;
	}
	if (full > 1)
		snprintf(others, sizeof(others), ", as are those of %u more unit%s", full - 1,
			 full == 2 ? "" : "s");
	if (first)
		unc_report(d, "counters", false,
			   "end what counts there (perf, PCM, LIKWID, another program of this "
			   "library), or events of these units cannot be counted",
			   "all %u counters of %s%u of socket %u are in use%s%s",
			   d->table->type[first->unit->type].n_counters, type_name(d, first->unit),
			   first->unit->index, first->unit->socket, others, dead);
	else if (used)
		unc_report(d, "counters", true, "",
			   "%u programmable counters of %u units are in use; each unit has free "
			   "ones%s",
			   used, units, dead);
	else
		unc_report(d, "counters", true, "", "no programmable counter is in use%s", dead);
}

/* "counts imc.CAS_COUNT:RD", or what can be said of the control. */
static void event_text(const struct doctor *d, const struct look *look, uint16_t reg, char *buf,
		       size_t size)
{
	char name[UNC_SPEC_MAX];

	snprintf(buf, size, "counts what is no event of the tables");
	for (size_t i = 0; i < look->plan.n; i++)
		if (look->plan.tag[i].reg == reg &&
		    unc_occupancy_event(d->table, &look->plan, i, name, sizeof(name)) == 0)
			snprintf(buf, size, "counts %s", name);
}

/* Whether a counter is programmed alike on two units, the filters that qualify it included. */
static bool alike(const struct doctor *d, const struct look *a, const struct look *b, uint16_t ctl)
{
	uint64_t x, y;

	if (a->unit->type != b->unit->type || a->plan.n != b->plan.n || !value_of(a, ctl, &x) ||
	    !value_of(b, ctl, &y) || x != y)
		return false;
	for (size_t i = 0; i < a->plan.n; i++)
		if (d->table->reg[a->plan.tag[i].reg].role == UNC_ROLE_OTHER &&
		    a->plan.op[i].value != b->plan.op[i].value)
			return false;
	return true;
}

/* One control: the unit where it was found, and on how many more. */
static void report_use(struct doctor *d, const struct looks *looks, size_t i, unsigned counter)
{
	const struct look *look = &looks->look[i];
	uint16_t reg = unc_type_ctl(&d->table->type[look->unit->type], counter);
	char text[UNC_SPEC_MAX + 40], others[40] = "", owner[80], other[80];
	unsigned more = 0, still = look->still >> counter & 1;
	uint64_t ctl;

	if (!value_of(look, reg, &ctl))
		return;
	unc_doctor_owner(d, &looks->owners, look->unit, (int)counter, owner, sizeof(owner));
	for (size_t k = 0; k < looks->n; k++) {
		const struct look *l = &looks->look[k];

		if (k == i || !(l->busy >> counter & 1) || !alike(d, look, l, reg) ||
		    strcmp(unc_doctor_owner(d, &looks->owners, l->unit, (int)counter, other,
					    sizeof(other)),
			   owner) != 0)
			continue;
		if (k < i)
			return; /* told with that one */
		still += l->still >> counter & 1;
		more++;
	}
	if (more)
		snprintf(others, sizeof(others), ", and of %u more units,", more);
	event_text(d, look, reg, text, sizeof(text));
	unc_report(d, "in use", true, "",
		   "counter %u of %s%u of socket %u%s %s (control 0x%" PRIx64 "); %s%s", counter,
		   type_name(d, look->unit), look->unit->index, look->unit->socket, others, text,
		   ctl, owner,
		   still > more ? "; it stands still: nothing to count, or frozen"
		   : still      ? "; some stand still: nothing to count, or frozen"
				: "");
}

/* Fixed counters of a type: the first unit where one is switched on, and how many more. */
static void report_clocks(struct doctor *d, const struct looks *looks, unsigned type)
{
	const struct look *first = NULL;
	char others[40] = "", owner[80];
	unsigned n = 0;

	for (size_t i = 0; i < looks->n; i++)
		if (looks->look[i].unit->type == type && looks->look[i].clock && n++ == 0)
			first = &looks->look[i];
	if (!first)
		return;
	if (n > 1)
		snprintf(others, sizeof(others), ", and those of %u more units,", n - 1);
	unc_report(d, "in use", true, "",
		   "the fixed counter of %s%u of socket %u%s is switched on; %s",
		   type_name(d, first->unit), first->unit->index, first->unit->socket, others,
		   unc_doctor_owner(d, &looks->owners, first->unit, -1, owner, sizeof(owner)));
}

/* --------------------------------------------------------------------------- frozen */

/* Unit control lets nothing run of what somebody has programmed. */
static bool frozen_by_unit(const struct doctor *d, const struct look *look, char *buf, size_t size)
{
	const struct unc_table *t = d->table;
	const struct unc_tbl_type *type = &t->type[look->unit->type];
	uint64_t value;

	if (look->count.n == 0 || type->unit_ctl == UNC_NONE ||
	    !value_of(look, type->unit_ctl, &value) ||
	    unc_unit_state(t, type, value) != UNC_UNIT_FROZEN)
		return false;
	snprintf(buf, size, "%s of %s%u of socket %u lets no counter run (0x%" PRIx64 ")",
		 unc_tbl_str(t, t->reg[type->unit_ctl].name), type_name(d, look->unit),
		 look->unit->index, look->unit->socket, value);
	return true;
}

/* Where the bit that freezes the socket is set: "frz_all of GLOBAL_CTL of ubox0 of socket 0 is
 * set". */
static bool frozen_by_bit(const struct doctor *d, const struct look *look, char *buf, size_t size)
{
	const struct unc_table *t = d->table;
	const struct unc_tbl_type *type = &t->type[look->unit->type];

	for (uint32_t i = 0; i < type->fields.n; i++) {
		const struct unc_tbl_field *f = &t->field[type->fields.first + i];
		uint64_t value;

		if (f->role != UNC_IS_FREEZE_SOCKET || !value_of(look, f->reg[0], &value) ||
		    !(value >> f->lo[0] & 1))
			continue;
		snprintf(buf, size, "%s of %s of %s%u of socket %u is set (0x%" PRIx64 ")",
			 unc_tbl_str(t, f->name), unc_tbl_str(t, t->reg[f->reg[0]].name),
			 type_name(d, look->unit), look->unit->index, look->unit->socket, value);
		return true;
	}
	return false;
}

static void report_frozen(struct doctor *d, const struct looks *looks)
{
	char text[300], first[300] = "";
	unsigned frozen = 0;

	for (size_t i = 0; i < looks->n; i++) {
		const struct look *look = &looks->look[i];

		if (!frozen_by_bit(d, look, text, sizeof(text)) &&
		    !frozen_by_unit(d, look, text, sizeof(text))) {
			if (!look->clock_still)
				continue;
			snprintf(text, sizeof(text),
				 "the clock of %s%u of socket %u is switched on and stands still",
				 type_name(d, look->unit), look->unit->index, look->unit->socket);
		}
		if (frozen++ == 0)
			memcpy(first, text, sizeof(first));
	}
	if (!frozen)
		unc_report(d, "frozen", true, "",
			   "nothing is, as far as registers that can be read tell");
	else
		unc_report(d, "frozen", false,
			   "a program that froze it was killed, or is at work (perf, PCM, LIKWID, "
			   "uncore stat --freeze): end what counts there; a count on the idle unit "
			   "lets it go on, else a reboot does",
			   "counters stand still%s: %s", frozen > 1 ? " in several places" : "",
			   first);
}

/* ---------------------------------------------------------------------------- a write */

/* The control that may be written: of the highest counter, with nothing that the gate refuses. */
static int free_control(const struct unc_table *t, const struct look *look, uint64_t *value)
{
	const struct unc_tbl_type *type = &t->type[look->unit->type];

	if (look->busy || look->clock)
		return -1;
	for (unsigned i = type->first + type->n_counters; i-- > type->first;) {
		uint16_t reg = unc_type_ctl(type, i);

		if (value_of(look, reg, value) && !(*value & ~t->reg[reg].write_mask))
			return reg;
	}
	return -1;
}

/* The value that is there now is the one to write, if the control is still free. */
static int rewrite(struct doctor *d, const struct look *look, uint16_t reg, struct unc_error *err)
{
	const struct unc_table *t = d->table;
	struct unc_access *access = d->platform->access;
	struct unc_plan plan = {0};
	int rc = unc_plan_add(t, &plan, look->unit, reg, UNC_OP_READ, 0, err);

	if (rc == 0)
		rc = unc_plan_add(t, &plan, look->unit, reg, UNC_OP_WRITE, 0, err);
	if (rc == 0)
		rc = unc_access_prepare(access, plan.op, plan.n, err);
	if (rc == 0 && unc_access_run(access, plan.op, 1) == 0 &&
	    !(plan.op[0].value & t->type[look->unit->type].active)) {
		plan.op[1].value = plan.op[0].value;
		rc = unc_access_prepare(access, plan.op + 1, 1, err);
		if (rc == 0 && unc_access_run(access, plan.op + 1, 1) < 0)
			rc = unc_fail(err, plan.op[1].error,
				      "%s of %s%u of socket %u (%s) does not take its own value: "
				      "%s",
				      unc_tbl_str(t, t->reg[reg].name), type_name(d, look->unit),
				      look->unit->index, look->unit->socket, look->unit->location,
				      unc_error_name(plan.op[1].error));
	}
	unc_plan_free(&plan);
	return rc;
}

static void report_refused(struct doctor *d, uint8_t space, const char *check,
			   const struct unc_error *err)
{
	bool module = space == UNC_SPACE_MSR && !d->writes_told;
	char remedy[600], perf[200];

	/* Opened for writing, and not permitted all the same: no right of a user changes that. */
	if (err->code == UNC_ERR_PERMISSION)
		snprintf(remedy, sizeof(remedy),
			 "%sthe kernel is locked down: switch Secure Boot off, or boot without "
			 "lockdown= on the kernel's command line%s",
			 module ? "where PCI functions or memory take writes it is the msr module "
				  "that refuses them: echo on "
				  ">/sys/module/msr/parameters/allow_writes, or boot with "
				  "msr.allow_writes=on; else "
				: "",
			 unc_doctor_perf(d, perf, sizeof(perf)));
	else
		snprintf(remedy, sizeof(remedy),
			 "the machine does not take writes there: a firmware or a hypervisor that "
			 "protects its registers");
	unc_report(d, check, false, remedy, "%s", err->text);
}

static bool is_kernels(const struct doctor *d, const struct unc_instance *u)
{
	return d->platform->kernel && d->platform->kernel[u - d->platform->instances.unit].pmus;
}

/* One control on each socket that has an idle unit in the space. That the files of all units may be
 * written the probe of discovery has seen. */
static void try_write(struct doctor *d, const struct looks *looks, uint8_t space, const char *check)
{
	bool tried[UNC_MAX_SOCKETS] = {false};
	unsigned n = 0, units = 0;
	struct unc_error err = {0};
	int rc = 0;

	for (size_t i = 0; i < looks->n && rc == 0; i++) {
		const struct look *look = &looks->look[i];
		uint64_t value;
		int reg;

		/* Where the kernel counts for us nothing is written, and its driver may be at it. */
		if (look->unit->part[0].space != space || is_kernels(d, look->unit) ||
		    !d->table->type[look->unit->type].n_counters)
			continue;
		units++;
		if (tried[look->unit->socket] || (reg = free_control(d->table, look, &value)) < 0)
			continue;
		tried[look->unit->socket] = true;
		n++;
		rc = rewrite(d, look, (uint16_t)reg, &err);
	}
	if (rc < 0)
		report_refused(d, space, check, &err);
	else if (n)
		unc_report(d, check, true, "",
			   "a control that nobody uses took its own value on %u socket%s", n,
			   n == 1 ? "" : "s");
	else if (units)
		unc_report(d, check, true, "", "not tried: somebody counts on each unit");
}

void unc_doctor_counters(struct doctor *d)
{
	bool locked = *d->lockdown && strcmp(d->lockdown, "none") != 0;
	struct looks looks = {0};

	if (!d->platform->access || !look_around(d, &looks))
		return;
	if (looks.n) {
		unc_doctor_owners(d, &looks.owners);
		report_taken(d, &looks);
		for (size_t i = 0; i < looks.n; i++)
			for (unsigned k = 0; k < 32; k++)
				if (looks.look[i].busy >> k & 1)
					report_use(d, &looks, i, k);
		for (unsigned type = 0; type < d->table->n_type; type++)
			report_clocks(d, &looks, type);
		report_frozen(d, &looks);
		if (!locked && !d->writes_off)
			try_write(d, &looks, UNC_SPACE_MSR, "msr write");
		if (!locked) {
			try_write(d, &looks, UNC_SPACE_PCI, "pci write");
			try_write(d, &looks, UNC_SPACE_MMIO, "memory write");
		}
	}
	for (size_t i = 0; i < looks.n; i++) {
		unc_plan_free(&looks.look[i].plan);
		unc_plan_free(&looks.look[i].count);
	}
	free(looks.owners.row);
	free(looks.look);
}
