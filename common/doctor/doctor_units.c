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
#include "units/counters.h"

enum { STAND_STILL_MS = 20 };

/* Counters that are switched on, each once. */
struct looks {
	struct unc_counters found;
	struct use {
		const struct unc_found *f; /* its first holder */
		bool read, still;          /* the counter could be, and did not move */
		uint64_t value;
	} * use;
	size_t n;
	unsigned orphaned;
};

/* ------------------------------------------------------------------- missing units */

struct kind {
	const struct unc_instance *missing; /* the first that is */
	unsigned n, available;
};

static struct kind kind_of(const struct doctor *d, unsigned type)
{
	const struct unc_instances *all = &d->platform->instances;
	struct kind kind = {0};

	for (const struct unc_instance *u = all->unit; u < all->unit + all->n; u++) {
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
		unc_type_name(d->table, u->type), unc_type_name(d->table, u->type), u->index,
		u->socket, u->reason);
}

/* Whether it is a fault that a type lacks some of its units, or all. One socket has no links. Of all
 * units those are missed that portable metrics want; of cores the check of the kernel tells. */
static bool is_missed(const struct doctor *d, const struct kind *kind)
{
	const char *name = unc_type_name(d->table, kind->missing->type), *need;
	bool links = false, wanted = kind->available;
	const struct unc_metric *m;
	size_t n = strlen(name);

	for (size_t i = 0; (m = unc_metric_get(d->platform, i)); i++)
		for (size_t k = 0; (need = unc_metric_need(d->platform, i, k)); k++) {
			if (strcmp(m->of, "portable") != 0 || strncmp(need, name, n) != 0 ||
			    need[n] != '.')
				continue;
			links |= strncmp(m->name, "link_", 5) == 0;
			wanted |=
				!m->available && !unc_space_of_thread(kind->missing->part[0].space);
		}
	return wanted && !(links && d->platform->topology.n_sockets == 1);
}

/* A type that lacks some of its units gives wrong sums; one that lacks all gives none. */
void unc_doctor_units(struct doctor *d)
{
	char some[UNC_ERROR_MAX], all[UNC_ERROR_MAX - 100], others[40];
	struct unc_buf partial = UNC_BUF(some), absent = UNC_BUF(all), more = UNC_BUF(others);
	unsigned n = 0, available = 0, none = 0;
	struct kind shown = {0}; /* of those that lack all: the first that is missed */
	bool ok = true, missed = false;

	for (unsigned type = 0; type < d->table->n_type; type++) {
		struct kind kind = kind_of(d, type);
		bool fault = kind.missing && is_missed(d, &kind);

		n += kind.n;
		available += kind.available;
		ok &= !fault;
		if (kind.missing && kind.available)
			add_kind(d, &kind, &partial);
		else if (kind.missing && (none++ == 0 || (fault && !missed)))
			shown = kind;
		missed |= fault && !kind.available;
	}
	if (shown.missing)
		add_kind(d, &shown, &absent);
	if (none > 1)
		unc_put(&more, "; none of %u more type%s", none - 1, none == 2 ? "" : "s");
	unc_report(d, "units", available > 0 && ok,
		   partial.n ? "sums over a type that lacks some of its units are partial: see the "
			       "reason and the checks above"
			     : "see the reason and the checks above",
		   "%u of %u units available%s%s%s", available, n, partial.text, absent.text,
		   others);
}

/* ------------------------------------------------------------------- a look around */

static bool programmable(const struct doctor *d, const struct use *use)
{
	return d->table->reg[use->f->ctr].role == UNC_ROLE_CTR;
}

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

/* A counter has a row for each of its holders. */
static void add_row(const struct doctor *d, struct looks *looks, const struct unc_found *f)
{
	struct use *use = &looks->use[looks->n];

	looks->orphaned += f->owner == UNC_OWNER_ORPHANED;
	if (looks->n && use[-1].f->instance == f->instance && use[-1].f->ctl == f->ctl)
		return;
	use->f = f;
	use->read = read_counter(d, f, &use->value);
	looks->n++;
}

static bool look_around(struct doctor *d, struct looks *looks)
{
	const uint64_t meanwhile = STAND_STILL_MS * 1000000;
	bool in_use = false;
	int rc = unc_counters_once(d->platform, &looks->found, NULL);

	looks->use = calloc(looks->found.n + 1, sizeof(*looks->use));
	if (!looks->use || rc == UNC_ERR_MEMORY) {
		unc_report(d, "counters", false, "free some memory", "out of memory");
		return false;
	}
	for (size_t i = 0; i < looks->found.n; i++)
		add_row(d, looks, &looks->found.row[i]);
	for (size_t i = 0; i < looks->n; i++)
		in_use |= looks->use[i].read;
	if (!in_use || !unc_platform_pause(d->platform, meanwhile))
		return looks->found.n_looked > 0;
	for (struct use *use = looks->use; use < looks->use + looks->n; use++) {
		uint64_t now;

		use->still = use->read && read_counter(d, use->f, &now) && now == use->value;
	}
	return looks->found.n_looked > 0;
}

/* How many counters of a unit are in use. */
struct unit_use {
	unsigned programmable, fixed, read, fixed_still;
};

static struct unit_use use_of(const struct doctor *d, const struct looks *looks,
			      const struct unc_instance *u)
{
	struct unit_use sum = {0};

	for (const struct use *use = looks->use; use < looks->use + looks->n; use++) {
		if (use->f->instance != u)
			continue;
		sum.programmable += programmable(d, use);
		sum.fixed += !programmable(d, use);
		sum.fixed_still += !programmable(d, use) && use->still;
		sum.read += use->read;
	}
	return sum;
}

static bool value_of(const struct doctor *d, const struct looks *looks,
		     const struct unc_instance *u, uint16_t reg, uint64_t *value)
{
	const uint64_t *found =
		unc_plan_value(&looks->found.read[u - d->platform->instances.unit], u, reg);

	if (found)
		*value = *found;
	return found != NULL;
}

/* ------------------------------------------------------------------ counters in use */

static const char *owner_text(const struct unc_found *f, char *buf, size_t size)
{
	if (f->owner == UNC_OWNER_FOREIGN)
		snprintf(buf, size, "who programmed it is not known");
	else if (f->owner == UNC_OWNER_LIBUNCORE)
		snprintf(buf, size, "pid %" PRId64 " (%s) counts with it", f->pid, f->command);
	else if (f->owner == UNC_OWNER_ORPHANED)
		snprintf(buf, size,
			 "pid %" PRId64 " (%s), whose session has ended, has left it behind",
			 f->pid, f->command);
	else if (f->pid)
		snprintf(buf, size, "it may be the kernel's, for pid %" PRId64 " (%s)", f->pid,
			 f->command);
	else
		snprintf(buf, size, "it may be the kernel's");
	return buf;
}

/* Units without a free counter. */
static void report_taken(struct doctor *d, const struct looks *looks)
{
	const struct unc_instances *all = &d->platform->instances;
	unsigned used = 0, units = 0, full = 0;
	const struct unc_instance *first = NULL;
	char others[64] = "", orphaned[100] = "";

	if (looks->orphaned)
		snprintf(orphaned, sizeof(orphaned),
			 "; %u of those in use %s programmed by nobody who lives: run uncore "
			 "release",
			 looks->orphaned, looks->orphaned == 1 ? "is" : "are");
	for (size_t i = 0; i < all->n; i++) {
		unsigned n = use_of(d, looks, &all->unit[i]).programmable;

		used += n;
		units += n != 0;
		if (n && n == d->table->type[all->unit[i].type].n_counters && full++ == 0)
			first = &all->unit[i];
	}
	if (full > 1)
		snprintf(others, sizeof(others), ", as are those of %u more unit%s", full - 1,
			 full == 2 ? "" : "s");
	if (first)
		unc_report(d, "counters", false,
			   "end what counts there (perf, PCM, LIKWID, another program of this "
			   "library), or events of these units cannot be counted",
			   "all %u counters of %s%u of socket %u are in use%s%s",
			   d->table->type[first->type].n_counters,
			   unc_type_name(d->table, first->type), first->index, first->socket,
			   others, orphaned);
	else if (used)
		unc_note(d, "counters",
			 "%u programmable counters of %u units are in use; each unit has free "
			 "ones%s",
			 used, units, orphaned);
	else
		unc_note(d, "counters", "no programmable counter is in use%s", orphaned);
}

/* Whether one sentence tells of both: fixed counters of a type, or the same event. */
static bool alike(const struct doctor *d, const struct use *a, const struct use *b)
{
	char one[80], other[80];

	if (a->f->instance->type != b->f->instance->type ||
	    programmable(d, a) != programmable(d, b))
		return false;
	return !programmable(d, a) || (a->f->ctl == b->f->ctl && a->f->control == b->f->control &&
				       strcmp(a->f->event, b->f->event) == 0 &&
				       strcmp(owner_text(a->f, one, sizeof(one)),
					      owner_text(b->f, other, sizeof(other))) == 0);
}

/* One control: the unit where it was found, and on how many more. */
static void report_use(struct doctor *d, const struct looks *looks, const struct use *use)
{
	const struct unc_found *f = use->f;
	const struct unc_instance *u = f->instance, *last = u;
	char unit[80], more[40] = "", owner[80];
	unsigned others = 0, still = use->still;

	for (const struct use *other = looks->use; other < looks->use + looks->n; other++) {
		if (other == use || !alike(d, use, other))
			continue;
		if (other < use)
			return; /* told with that one */
		still += other->still;
		others += other->f->instance != last; /* of fixed counters each unit once */
		last = other->f->instance;
	}
	snprintf(unit, sizeof(unit), "%.40s%u of socket %u", unc_type_name(d->table, u->type),
		 u->index, u->socket);
	owner_text(f, owner, sizeof(owner));
	if (others)
		snprintf(more, sizeof(more), ", and %sof %u more units,",
			 programmable(d, use) ? "" : "those ", others);
	if (!programmable(d, use))
		unc_note(d, "in use", "the fixed counter of %s%s is switched on; %s", unit, more,
			 owner);
	else
		unc_note(d, "in use", "counter %u of %s%s counts %s (control 0x%" PRIx64 "); %s%s",
			 d->table->reg[f->ctr].number, unit, more,
			 *f->event ? f->event : "what is no event of the tables", f->control, owner,
			 still > others ? "; it stands still: nothing to count, or frozen"
			 : still        ? "; some stand still: nothing to count, or frozen"
					: "");
}

/* --------------------------------------------------------------------------- frozen */

/* Unit control lets nothing run of what somebody has programmed. */
static bool frozen_by_unit(const struct doctor *d, const struct looks *looks,
			   const struct unc_instance *u, char *buf, size_t size)
{
	const struct unc_table *t = d->table;
	const struct unc_tbl_type *type = &t->type[u->type];
	uint64_t value;

	if (!use_of(d, looks, u).read || type->unit_ctl == UNC_NONE ||
	    !value_of(d, looks, u, type->unit_ctl, &value) ||
	    unc_unit_frozen(t, u, &value) != UNC_UNIT_FROZEN)
		return false;
	snprintf(buf, size, "%s of %s%u of socket %u lets no counter run (0x%" PRIx64 ")",
		 unc_reg_name(t, type->unit_ctl), unc_type_name(d->table, u->type), u->index,
		 u->socket, value);
	return true;
}

/* Where the bit that freezes the socket is set: "frz_all of GLOBAL_CTL of ubox0 of socket 0 is
 * set". */
static bool frozen_by_bit(const struct doctor *d, const struct looks *looks,
			  const struct unc_instance *u, char *buf, size_t size)
{
	const struct unc_table *t = d->table;
	const struct unc_range *fields = &t->type[u->type].fields;

	for (const struct unc_tbl_field *f = NULL; (f = UNC_NEXT(t, field, *fields, f));) {
		uint64_t value;

		if (f->role != UNC_IS_FREEZE_SOCKET || !value_of(d, looks, u, f->reg[0], &value) ||
		    !(value >> f->lo[0] & 1))
			continue;
		snprintf(buf, size, "%s of %s of %s%u of socket %u is set (0x%" PRIx64 ")",
			 unc_tbl_str(t, f->name), unc_reg_name(t, f->reg[0]),
			 unc_type_name(d->table, u->type), u->index, u->socket, value);
		return true;
	}
	return false;
}

static void report_frozen(struct doctor *d, const struct looks *looks)
{
	char text[300], first[300] = "";
	unsigned frozen = 0;

	for (size_t i = 0; i < d->platform->instances.n; i++) {
		const struct unc_instance *u = &d->platform->instances.unit[i];

		if (!frozen_by_bit(d, looks, u, text, sizeof(text)) &&
		    !frozen_by_unit(d, looks, u, text, sizeof(text))) {
			if (!use_of(d, looks, u).fixed_still)
				continue;
			snprintf(text, sizeof(text),
				 "the clock of %s%u of socket %u is switched on and stands still",
				 unc_type_name(d->table, u->type), u->index, u->socket);
		}
		if (frozen++ == 0)
			memcpy(first, text, sizeof(first));
	}
	if (!frozen)
		unc_note(d, "frozen", "nothing is, as far as registers that can be read tell");
	else
		unc_report(d, "frozen", false,
			   "a program that froze it was killed, or is at work (perf, PCM, LIKWID): "
			   "end what counts there; a count on the idle unit lets it go on, else a "
			   "reboot does",
			   "counters stand still%s: %s", frozen > 1 ? " in several places" : "",
			   first);
}

/* ---------------------------------------------------------------------------- a write */

/* The control that may be written: of the highest counter, with nothing that the gate refuses. */
static int free_control(const struct doctor *d, const struct looks *looks,
			const struct unc_instance *u)
{
	const struct unc_tbl_type *type = &d->table->type[u->type];
	const struct unit_use use = use_of(d, looks, u);
	uint64_t value;

	if (use.programmable || use.fixed)
		return -1;
	for (unsigned i = type->first + type->n_counters; i-- > type->first;) {
		uint16_t reg = unc_type_ctl(type, i);

		if (value_of(d, looks, u, reg, &value) && !(value & ~d->table->reg[reg].write_mask))
			return reg;
	}
	return -1;
}

/* The value that is there now is the one to write, if the control is still free. */
static int rewrite(struct doctor *d, const struct unc_instance *u, uint16_t reg,
		   struct unc_error *err)
{
	const struct unc_table *t = d->table;
	struct unc_access *access = d->platform->access;
	struct unc_reg_op op[2] = {{.kind = UNC_OP_READ}, {.kind = UNC_OP_WRITE}};
	int rc = unc_instance_reg(t, u, reg, &op[0].reg, err);

	op[1].reg = op[0].reg;
	if (rc < 0 || (rc = unc_access_prepare(access, op, 2, err)) < 0 ||
	    unc_access_run(access, op, 1) < 0 || op[0].value & t->type[u->type].active)
		return rc;
	op[1].value = op[0].value;
	rc = unc_access_prepare(access, op + 1, 1, err);
	if (rc == 0 && unc_access_run(access, op + 1, 1) < 0)
		rc = unc_fail(err, op[1].error,
			      "%s of %s%u of socket %u (%s) does not take its own value: %s",
			      unc_reg_name(t, reg), unc_type_name(d->table, u->type), u->index,
			      u->socket, u->location, unc_error_name(op[1].error));
	return rc;
}

static void report_refused(struct doctor *d, uint8_t space, const char *check,
			   const struct unc_error *err)
{
	bool module = space == UNC_SPACE_MSR && !d->writes_told;

	/* Opened for writing, and not permitted all the same: no right of a user changes that. */
	unc_report(d, check, false,
		   err->code == UNC_ERR_PERMISSION
			   ? unc_or_kernel(
				     d,
				     "%sthe kernel is locked down: switch Secure Boot off, or "
				     "boot without lockdown= on the kernel's command line",
				     module ? "where PCI functions or memory take writes it is the "
					      "msr module that refuses them: echo on "
					      ">/sys/module/msr/parameters/allow_writes, or boot "
					      "with msr.allow_writes=on; else "
					    : "")
			   : "the machine does not take writes there: a firmware or a hypervisor "
			     "that protects its registers",
		   "%s", err->text);
}

static bool is_kernels(const struct doctor *d, const struct unc_instance *u)
{
	return d->platform->kernel && d->platform->kernel[u - d->platform->instances.unit].pmus;
}

/* One control on each socket that has an idle unit in the space. That the files of all units may be
 * written the probe of discovery has seen. */
static void try_write(struct doctor *d, const struct looks *looks, uint8_t space, const char *check)
{
	const struct unc_instances *all = &d->platform->instances;
	bool tried[UNC_MAX_SOCKETS] = {false};
	unsigned n = 0, units = 0;
	struct unc_error err = {0};
	int rc = 0;

	for (const struct unc_instance *u = all->unit; u < all->unit + all->n && rc == 0; u++) {
		int reg;

		/* Where the kernel counts for us nothing is written, and its driver may be at it. */
		if (!u->direct || u->part[0].space != space || is_kernels(d, u) ||
		    !d->table->type[u->type].n_counters)
			continue;
		units++;
		if (tried[u->socket] || (reg = free_control(d, looks, u)) < 0)
			continue;
		tried[u->socket] = true;
		n++;
		rc = rewrite(d, u, (uint16_t)reg, &err);
	}
	if (rc < 0)
		report_refused(d, space, check, &err);
	else if (n)
		unc_note(d, check, "a control that nobody uses took its own value on %u socket%s",
			 n, n == 1 ? "" : "s");
	else if (units)
		unc_note(d, check, "not tried: somebody counts on each unit");
}

void unc_doctor_counters(struct doctor *d)
{
	bool locked = *d->lockdown && strcmp(d->lockdown, "none") != 0;
	struct looks looks = {0};

	if (d->platform->access && look_around(d, &looks)) {
		report_taken(d, &looks);
		for (int fixed = 0; fixed < 2; fixed++)
			for (size_t i = 0; i < looks.n; i++)
				if (programmable(d, &looks.use[i]) == !fixed)
					report_use(d, &looks, &looks.use[i]);
		report_frozen(d, &looks);
		if (!locked && !d->writes_off)
			try_write(d, &looks, UNC_SPACE_MSR, "msr write");
		if (!locked) {
			try_write(d, &looks, UNC_SPACE_PCI, "pci write");
			try_write(d, &looks, UNC_SPACE_MMIO, "memory write");
		}
	}
	unc_counters_free(&looks.found);
	free(looks.use);
}
