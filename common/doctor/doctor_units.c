/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doctor: checks by registers: missing units, counters in use and their events, frozen units, and
 * whether a control can be written.
 *
 * The doctor writes one register only: a control of a unit on which nothing counts, with the value
 * just read from it, through the gate. It uses the highest counter: other programs begin at the lowest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "units/counters.h"

enum { STAND_STILL_MS = 20 };

/* ------------------------------------------------------------------- missing units */

/* Whether a missing unit is a fault; available: the type has other units. If it has none, only if portable metrics
 * need the type; units of cores are left to the check "kernel". On one socket a missing link is no fault. */
static bool is_fault(const struct doctor *d, const struct unc_instance *missing, bool available)
{
	const char *name = unc_type_name(d->table, missing->type), *need;
	bool links = false, wanted = available;
	const struct unc_metric *m;
	size_t n = strlen(name);

	for (size_t i = 0; (m = unc_metric_get(d->platform, i)); i++)
		for (size_t k = 0; (need = unc_metric_need(d->platform, i, k)); k++) {
			if (strcmp(m->of, "portable") != 0 || strncmp(need, name, n) != 0 ||
			    need[n] != '.')
				continue;
			links |= strncmp(m->name, "link_", 5) == 0;
			wanted |= !m->available && !unc_space_of_thread(missing->part[0].space);
		}
	return wanted && !(links && d->platform->topology.n_sockets == 1);
}

/* A type that lacks some of its units gives partial sums; a type that lacks all gives none. Of the
 * latter types only the first fault is shown: "; 0 of 8 imc units: imc3 of socket 0: REASON". */
void unc_doctor_units(struct doctor *d)
{
	const struct unc_instances *all = &d->platform->instances;
	char some[UNC_ERROR_MAX], first[UNC_ERROR_MAX - 100], others[40];
	struct unc_buf partial = UNC_BUF(some), absent = UNC_BUF(first), more = UNC_BUF(others);
	bool ok = true, missed = false;
	unsigned none = 0;

	for (size_t i = 0, next; i < all->n; i = next) {
		const struct unc_instance *missing = NULL;
		unsigned available = 0;

		for (next = i; next < all->n && all->unit[next].type == all->unit[i].type; next++) {
			available += all->unit[next].available;
			if (!all->unit[next].available && !missing)
				missing = &all->unit[next];
		}
		if (!missing)
			continue;
		bool fault = is_fault(d, missing, available);

		ok &= !fault;
		none += !available;
		if (!available && none > 1 && (!fault || missed))
			continue;
		missed |= fault && !available;
		if (!available)
			absent = UNC_BUF(first);
		unc_put(available ? &partial : &absent, "; %u of %zu %s units: %s: %s", available,
			next - i, unc_type_name(d->table, missing->type),
			unc_doctor_unit(d, missing).text, missing->reason);
	}
	if (none > 1)
		unc_put(&more, "; none of %u more type%s", none - 1, none == 2 ? "" : "s");
	unc_report(d, "units", d->units.available > 0 && ok,
		   partial.n ? "sums over a type that lacks some of its units are partial: see the "
			       "reason and the checks above"
			     : "see the reason and the checks above",
		   "%u of %zu units available%s%s%s", d->units.available, all->n, partial.text,
		   absent.text, others);
}

/* ------------------------------------------------------------------- controls, read once */

/* Controls that are in use, and whether their counters moved within STAND_STILL_MS. */
struct looks {
	struct unc_counters found;
	struct use {
		bool fixed, read, still; /* read: it could be read; still: it did not move */
		uint64_t value;
	} * use; /* one for each row of `found` */
	struct unit_use {
		unsigned programmable, fixed, read, fixed_still; /* counters */
	} * unit;                                                /* of each unit of the machine */
};

static bool read_counter(const struct doctor *d, const struct unc_found *f, uint64_t *value)
{
	struct unc_reg_op op = {.kind = UNC_OP_READ};

	if (d->table->reg[f->ctr].flags & (UNC_REG_WO | UNC_REG_FROZEN) ||
	    unc_instance_reg(d->table, f->instance, f->ctr, &op.reg, NULL) < 0 ||
	    unc_access_read(d->platform->access, &op, 1, NULL) < 0)
		return false;
	*value = op.value;
	return true;
}

static bool inspect_counters(struct doctor *d, struct looks *looks)
{
	const struct unc_counters *found = &looks->found;
	const struct unc_instances *all = &d->platform->instances;
	int rc = unc_counters_once(d->platform, &looks->found, NULL);
	bool again = false;

	looks->use = calloc(found->n + 1, sizeof(*looks->use));
	looks->unit = calloc(all->n + 1, sizeof(*looks->unit));
	if (!looks->use || !looks->unit || rc == UNC_ERR_MEMORY) {
		unc_report(d, "counters", false, "free some memory", "out of memory");
		return false;
	}
	for (size_t i = 0; i < found->n; i++) {
		looks->use[i].read = read_counter(d, &found->row[i], &looks->use[i].value);
		again |= looks->use[i].read;
	}
	again = again && unc_platform_pause(d->platform, STAND_STILL_MS * 1000000);
	for (size_t i = 0; i < found->n; i++) {
		struct unit_use *unit = &looks->unit[found->row[i].instance - all->unit];
		struct use *use = &looks->use[i];
		uint64_t now;

		use->fixed = d->table->reg[found->row[i].ctr].role != UNC_ROLE_CTR;
		use->still = again && use->read && read_counter(d, &found->row[i], &now) &&
			     now == use->value;
		unit->programmable += !use->fixed;
		unit->fixed += use->fixed;
		unit->fixed_still += use->fixed && use->still;
		unit->read += use->read;
	}
	return found->n_looked > 0;
}

/* ------------------------------------------------------------------ counters in use */

static const char *put_owner(const struct unc_found *f, char *buf, size_t size)
{
	if (f->owner == UNC_OWNER_FOREIGN)
		snprintf(buf, size, "the program that uses it is not known");
	else if (f->owner == UNC_OWNER_LIBUNCORE)
		snprintf(buf, size, "pid %" PRId64 " (%s) counts with it", f->pid, f->command);
	else if (f->owner == UNC_OWNER_ORPHANED)
		snprintf(buf, size, "pid %" PRId64 " (%s), whose session has ended, left it behind",
			 f->pid, f->command);
	else if (f->pid)
		snprintf(buf, size, "it may be the kernel's, for pid %" PRId64 " (%s)", f->pid,
			 f->command);
	else
		snprintf(buf, size, "it may be the kernel's");
	return buf;
}

/* Reports the number of counters in use, and units without a free counter. */
static void report_taken(struct doctor *d, const struct looks *looks)
{
	const struct unc_instances *all = &d->platform->instances;
	const struct unc_instance *first = NULL;
	unsigned used = 0, units = 0, full = 0, left = 0;
	char text[160];
	struct unc_buf more = UNC_BUF(text);

	for (size_t i = 0; i < all->n; i++) {
		unsigned n = looks->unit[i].programmable;

		used += n;
		units += n != 0;
		if (n && n == d->table->type[all->unit[i].type].n_counters && full++ == 0)
			first = &all->unit[i];
	}
	for (size_t i = 0; i < looks->found.n; i++)
		left += looks->found.row[i].owner == UNC_OWNER_ORPHANED;
	if (full > 1)
		unc_put(&more, ", as are those of %u more unit%s", full - 1, full == 2 ? "" : "s");
	if (left)
		unc_put(&more,
			"; %u of those in use %s left by programs that have ended: run uncore "
			"release",
			left, left == 1 ? "was" : "were");
	if (first)
		unc_report(d, "counters", false,
			   "end the programs that count there (perf, PCM, LIKWID, others of this "
			   "library), or events of these units cannot be counted",
			   "all %u counters of %s are in use%s",
			   d->table->type[first->type].n_counters, unc_doctor_unit(d, first).text,
			   text);
	else if (used)
		unc_note(d, "counters",
			 "%u programmable counters of %u units are in use; each unit has free "
			 "ones%s",
			 used, units, text);
	else
		unc_note(d, "counters", "no programmable counter is in use%s", text);
}

/* Whether one sentence covers both: fixed counters of a type, or the same event of one owner. */
static bool share_a_sentence(const struct unc_found *a, const struct unc_found *b, bool fixed)
{
	return a->instance->type == b->instance->type &&
	       (fixed || (a->ctl == b->ctl && a->control == b->control && a->owner == b->owner &&
			  a->pid == b->pid && strcmp(a->event, b->event) == 0 &&
			  strcmp(a->command, b->command) == 0));
}

/* Reports one control: its unit, and the number of other units with the same one. */
static void report_use(struct doctor *d, const struct looks *looks, size_t number)
{
	const struct unc_found *row = looks->found.row, *f = &row[number];
	const struct unc_instance *last = f->instance;
	const bool fixed = looks->use[number].fixed;
	char more[40] = "", owner[80];
	unsigned others = 0, still = looks->use[number].still;

	for (size_t i = 0; i < looks->found.n; i++) {
		if (i == number || looks->use[i].fixed != fixed ||
		    !share_a_sentence(f, &row[i], fixed))
			continue;
		if (i < number)
			return; /* reported with that one */
		still += looks->use[i].still;
		others += row[i].instance != last; /* a unit with several fixed counters: once */
		last = row[i].instance;
	}
	put_owner(f, owner, sizeof(owner));
	if (others)
		snprintf(more, sizeof(more), ", and %sof %u more units,", fixed ? "those " : "",
			 others);
	if (fixed)
		unc_note(d, "in use", "the fixed counter of %s%s is switched on; %s",
			 unc_doctor_unit(d, f->instance).text, more, owner);
	else
		unc_note(d, "in use", "counter %u of %s%s counts %s (control 0x%" PRIx64 "); %s%s",
			 d->table->reg[f->ctr].number, unc_doctor_unit(d, f->instance).text, more,
			 *f->event ? f->event : "an event that is not in the tables", f->control,
			 owner,
			 still > others ? "; it does not move: nothing to count, or frozen"
			 : still        ? "; some do not move: nothing to count, or frozen"
					: "");
}

/* --------------------------------------------------------------------------- frozen */

/* Whether a unit is frozen; buf: by what: the bit that freezes its socket, as in "frz_all of
 * GLOBAL_CTL of ubox0 of socket 0 is set (0x1)", its unit control, or a clock that is switched on
 * and does not move. */
static bool is_frozen(const struct doctor *d, const struct looks *looks, size_t i, char *buf,
		      size_t size)
{
	const struct unc_table *t = d->table;
	const struct unc_instance *u = &d->platform->instances.unit[i];
	const struct unc_tbl_type *type = &t->type[u->type];
	const struct unc_plan *read = &looks->found.read[i];
	const struct unc_doctor_unit unit = unc_doctor_unit(d, u);
	const uint64_t *value;

	for (const struct unc_tbl_field *f = NULL; (f = UNC_NEXT(t, field, type->fields, f));) {
		if (f->role != UNC_IS_FREEZE_SOCKET ||
		    !(value = unc_plan_value(read, u, f->reg[0])) || !(*value >> f->lo[0] & 1))
			continue;
		snprintf(buf, size, "%s of %s of %s is set (0x%" PRIx64 ")",
			 unc_tbl_str(t, f->name), unc_reg_name(t, f->reg[0]), unit.text, *value);
		return true;
	}
	value = unc_plan_value(read, u, type->unit_ctl);
	if (looks->unit[i].read && value && unc_unit_frozen(t, u, value) == UNC_UNIT_FROZEN)
		snprintf(buf, size, "%s of %s stops all counters (0x%" PRIx64 ")",
			 unc_reg_name(t, type->unit_ctl), unit.text, *value);
	else if (looks->unit[i].fixed_still)
		snprintf(buf, size, "the clock of %s is switched on, but does not move", unit.text);
	else
		return false;
	return true;
}

static void report_frozen(struct doctor *d, const struct looks *looks)
{
	char text[300], first[300] = "";
	unsigned frozen = 0;

	for (size_t i = 0; i < d->platform->instances.n; i++)
		if (is_frozen(d, looks, i, text, sizeof(text)) && frozen++ == 0)
			memcpy(first, text, sizeof(first));
	if (!frozen)
		unc_note(d, "frozen", "nothing is, as far as the readable registers show");
	else
		unc_report(d, "frozen", false,
			   "a program that froze it was killed, or still runs (perf, PCM, LIKWID): "
			   "end the programs that count there; a count on the idle unit then "
			   "unfreezes it, else a reboot does",
			   "counters are stopped%s: %s", frozen > 1 ? " in several places" : "",
			   first);
}

/* ---------------------------------------------------------------------------- a write */

/* The highest control that holds only bits that the gate permits. -1: none, or the unit is in use. */
static int free_control(const struct doctor *d, const struct looks *looks, size_t i)
{
	const struct unc_instance *u = &d->platform->instances.unit[i];
	const struct unc_tbl_type *type = &d->table->type[u->type];

	if (looks->unit[i].programmable || looks->unit[i].fixed)
		return -1;
	for (unsigned k = type->first + type->n_counters; k-- > type->first;) {
		uint16_t reg = unc_type_ctl(type, k);
		const uint64_t *value = unc_plan_value(&looks->found.read[i], u, reg);

		if (value && !(*value & ~d->table->reg[reg].write_mask))
			return reg;
	}
	return -1;
}

/* Reads a control again, and writes the value back if the control is still free. */
static int rewrite(struct doctor *d, const struct unc_instance *u, uint16_t reg,
		   struct unc_error *err)
{
	struct unc_access *access = d->platform->access;
	struct unc_reg_op op[2] = {{.kind = UNC_OP_READ}, {.kind = UNC_OP_WRITE}};
	int rc = unc_instance_reg(d->table, u, reg, &op[0].reg, err);

	op[1].reg = op[0].reg;
	if (rc < 0 || (rc = unc_access_prepare(access, op, 2, err)) < 0 ||
	    unc_access_run(access, op, 1) < 0 || op[0].value & d->table->type[u->type].active)
		return rc;
	op[1].value = op[0].value;
	rc = unc_access_prepare(access, op + 1, 1, err);
	if (rc == 0 && unc_access_run(access, op + 1, 1) < 0)
		rc = unc_fail(err, op[1].error, "%s of %s (%s) does not accept its own value: %s",
			      unc_reg_name(d->table, reg), unc_doctor_unit(d, u).text, u->location,
			      unc_error_name(op[1].error));
	return rc;
}

static void report_refused(struct doctor *d, uint8_t space, const char *check,
			   const struct unc_error *err)
{
	const char *module = "if PCI functions or memory can be written, the msr module refuses "
			     "the writes: echo on >/sys/module/msr/parameters/allow_writes, or "
			     "boot with msr.allow_writes=on; else ";
	const char *remedy = "the machine does not accept writes there: a firmware or a hypervisor "
			     "that protects its registers";

	/* The file was opened for writing, but the write was refused: user rights do not help. */
	if (err->code == UNC_ERR_PERMISSION)
		remedy = unc_or_kernel(d,
				       "%sthe kernel is locked down: switch Secure Boot off, or "
				       "boot without lockdown= on the kernel's command line",
				       space == UNC_SPACE_MSR && !d->writes_told ? module : "");
	unc_report(d, check, false, remedy, "%s", err->text);
}

/* Writes one control on each socket with an idle unit. Discovery has probed the files of all units. */
static void check_write(struct doctor *d, const struct looks *looks, uint8_t space,
			const char *check)
{
	const struct unc_platform *p = d->platform;
	bool tried[UNC_MAX_SOCKETS] = {false};
	unsigned n = 0, units = 0;
	struct unc_error err = {0};
	int rc = 0;

	for (size_t i = 0; i < p->instances.n && rc == 0; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		int reg;

		/* Not on units with a kernel PMU: their registers may belong to the driver. */
		if (!u->direct || u->part[0].space != space || (p->kernel && p->kernel[i].pmus) ||
		    !d->table->type[u->type].n_counters)
			continue;
		units++;
		if (tried[u->socket] || (reg = free_control(d, looks, i)) < 0)
			continue;
		tried[u->socket] = true;
		n++;
		rc = rewrite(d, u, (uint16_t)reg, &err);
	}
	if (rc < 0)
		report_refused(d, space, check, &err);
	else if (n)
		unc_note(d, check,
			 "a control that nobody uses accepted its own value on %u socket%s", n,
			 n == 1 ? "" : "s");
	else if (units)
		unc_note(d, check, "not tried: every unit is in use");
}

void unc_doctor_counters(struct doctor *d)
{
	struct looks looks = {0};

	if (inspect_counters(d, &looks)) {
		report_taken(d, &looks);
		for (int fixed = 0; fixed < 2; fixed++)
			for (size_t i = 0; i < looks.found.n; i++)
				if (looks.use[i].fixed == fixed)
					report_use(d, &looks, i);
		report_frozen(d, &looks);
		if (!d->locked && !d->writes_off)
			check_write(d, &looks, UNC_SPACE_MSR, "msr write");
		if (!d->locked) {
			check_write(d, &looks, UNC_SPACE_PCI, "pci write");
			check_write(d, &looks, UNC_SPACE_MMIO, "memory write");
		}
	}
	unc_counters_free(&looks.found);
	free(looks.use);
	free(looks.unit);
}
