/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: what ended processes have left. An entry without a running session holds what was found in
 * a register. It is restored if the register still holds what the session programmed, and no entry
 * of another user names it. Entries of other users are restored by their users.
 */
#include <stdio.h>
#include <string.h>

#include "units/inside.h"
#include "units/look.h"

struct tale {
	char first[128]; /* "imc0 (socket 0): CTL3" */
	int32_t pid;
	unsigned n;
};

static bool is_orphan(const struct unc_platform *p, uint16_t number)
{
	struct unc_journal *j = p->journal;

	return unc_journal_at(j, number)->space && !unc_journal_held(j, number);
}

/* The first, or next, entry of a register without a running session; UNC_JOURNAL_NONE. */
static uint16_t next_orphan(const struct unc_platform *p, const struct unc_instance *u,
			    uint16_t reg, uint16_t last)
{
	struct unc_journal *j = p->journal;
	struct unc_journal_key key;

	if (!unc_entry_key(p, u, reg, &key) || unc_entry_taken(p, u, reg, 0))
		return UNC_JOURNAL_NONE;
	do
		last = unc_journal_find(j, &key, last);
	while (last != UNC_JOURNAL_NONE && !is_orphan(p, last));
	return last;
}

static bool is_wanted_unit(const struct unc_run *run, const struct unc_instance *u)
{
	for (size_t i = 0; run && i < run->n_sets; i++)
		if (run->set[i].unit == u)
			return true;
	return false;
}

/* Whether a session has left anything. Among many entries: whether it is in the way of this run, or
 * in a sample that changes each time. */
static bool any_orphan(const struct unc_platform *p, const struct unc_run *run, bool all)
{
	enum { MANY = 64, SOME = 16 };
	const uint16_t n = unc_journal_end(p->journal), some = all || n <= MANY ? n : SOME;
	const uint64_t first = some < n ? unc_machine_now(p->machine) / 1000 : 0;

	for (uint16_t i = 0; i < some; i++)
		if (is_orphan(p, (uint16_t)((first + i) % n)))
			return true;
	for (const struct unc_instance *u = p->instances.unit;
	     some < n && u < p->instances.unit + p->instances.n; u++) {
		const struct unc_range *regs = &p->table->type[u->type].regs;

		for (uint32_t k = 0; k < regs->n && is_wanted_unit(run, u); k++)
			if (next_orphan(p, u, (uint16_t)(regs->first + k), UNC_JOURNAL_NONE) !=
			    UNC_JOURNAL_NONE)
				return true;
	}
	return false;
}

static void note_restored(const struct unc_platform *p, const struct unc_plan_tag *tag,
			  struct tale *tale)
{
	uint16_t number = next_orphan(p, tag->instance, tag->reg, UNC_JOURNAL_NONE);

	if (tale->n++)
		return;
	snprintf(tale->first, sizeof(tale->first), "%s: %s", unc_unit_name(p, tag->instance).text,
		 unc_reg_name(p->table, tag->reg));
	tale->pid = unc_journal_at(p->journal, number)->pid;
}

/* The value to restore in a register; false: another program has it by now. A register that cannot
 * be read is taken to hold what was written last. */
static bool find_restored(const struct unc_platform *p, const struct unc_instance *u, uint16_t reg,
			  const uint64_t *now, uint64_t *value)
{
	struct unc_journal *j = p->journal;
	uint16_t i = UNC_JOURNAL_NONE;
	struct unc_journal_key key;
	uint64_t needed = 0, was = 0;
	bool any = false;

	if (!unc_entry_key(p, u, reg, &key))
		return false;
	while ((i = unc_journal_find(j, &key, i)) != UNC_JOURNAL_NONE) {
		const struct unc_journal_entry *e = unc_journal_at(j, i);

		if (unc_journal_held(j, i)) { /* bits that running sessions need */
			needed |= e->mask;
			continue;
		}
		if (!any)
			*value = was = now ? *now : e->value;
		if (!unc_entry_stands(p, u, reg, e, *value))
			continue;
		any = true;
		*value = unc_entry_found(e, *value);
	}
	*value = ((*value & ~needed) | (was & needed)) & p->table->reg[reg].write_mask;
	return any;
}

static bool is_setting(const struct unc_table *t, uint16_t reg)
{
	return t->reg[reg].role == UNC_ROLE_CTL || t->reg[reg].role == UNC_ROLE_FIXED_CTL ||
	       t->reg[reg].role == UNC_ROLE_OTHER;
}

/* Without reads: reads the controls and filters that were left; with them: writes what is restored. */
static int plan_registers(const struct unc_platform *p, const struct unc_instance *u,
			  const struct unc_plan *reads, struct unc_plan *out, struct unc_error *err)
{
	const struct unc_table *t = p->table;
	const struct unc_range *regs = &t->type[u->type].regs;
	int rc = 0;

	for (uint32_t i = 0; i < regs->n && rc == 0; i++) {
		uint16_t reg = (uint16_t)(regs->first + i);
		uint64_t value = 0;

		if (!is_setting(t, reg) ||
		    next_orphan(p, u, reg, UNC_JOURNAL_NONE) == UNC_JOURNAL_NONE)
			continue;
		if (!reads && unc_reg_shows(t, reg))
			rc = unc_plan_add(t, out, u, reg, UNC_OP_READ, 0, err);
		else if (reads && find_restored(p, u, reg, unc_plan_value(reads, u, reg), &value))
			rc = unc_plan_add(t, out, u, reg, UNC_OP_WRITE, value, err);
	}
	return rc;
}

static int restore_registers(struct unc_platform *p, const struct unc_instance *u,
			     struct tale *tale, struct unc_error *err)
{
	struct unc_plan reads = {0}, writes = {0};
	int rc = plan_registers(p, u, NULL, &reads, err);

	if (rc == 0)
		rc = unc_plan_run(p, &reads, "looking at what ended processes have left", err);
	if (rc == 0)
		rc = plan_registers(p, u, &reads, &writes, err);
	if (rc == 0 && writes.n)
		rc = unc_access_prepare(p->access, writes.op, writes.n, err);
	if (rc == 0 && writes.n)
		rc = unc_plan_restore(p, &writes, err);
	for (size_t i = 0; rc == 0 && i < writes.n; i++)
		note_restored(p, &writes.tag[i], tale);
	unc_plan_free(&reads);
	unc_plan_free(&writes);
	return rc;
}

/* Counters of all units are restored first, then what may freeze them. */
static int reclaim_unit(struct unc_platform *p, const struct unc_instance *u, bool counters,
			struct tale *tale, struct unc_error *err)
{
	const struct unc_table *t = p->table;
	const struct unc_tbl_type *type = &t->type[u->type];
	struct unc_journal *j = p->journal;
	int rc = 0;
	uint16_t n;

	if (counters) {
		rc = restore_registers(p, u, tale, err);
	} else if (type->steps_freeze.n &&
		   (n = next_orphan(p, u, type->unit_ctl, UNC_JOURNAL_NONE)) != UNC_JOURNAL_NONE) {
		rc = unc_unit_go_on(p, u, unc_journal_at(j, n), err);
	}
	for (uint32_t i = 0; rc == 0 && i < type->regs.n; i++) {
		uint16_t reg = (uint16_t)(type->regs.first + i);

		if (counters ? is_setting(t, reg) : reg == type->unit_ctl)
			while ((n = next_orphan(p, u, reg, UNC_JOURNAL_NONE)) != UNC_JOURNAL_NONE)
				unc_journal_clear(j, n);
	}
	return rc;
}

static void log_restored(const struct unc_platform *p, const struct tale *tale)
{
	char more[40] = "was";

	if (tale->n > 1)
		snprintf(more, sizeof(more), "and %u more were", tale->n - 1);
	if (tale->n)
		unc_platform_log(p, UNC_LOG_WARNING,
				 "%s %s left behind by pid %d, whose session has ended: restored",
				 tale->first, more, (int)tale->pid);
}

int unc_node_reclaim(struct unc_platform *p, const struct unc_run *run, bool all,
		     struct unc_error *err)
{
	const struct unc_instances *units = &p->instances;
	struct tale tale = {.n = 0};
	struct unc_error why;
	bool kernel;

	if (!any_orphan(p, run, all))
		return 0;
	kernel = unc_platform_kernel_counts(p);
	for (int counters = 1; counters >= 0; counters--)
		for (size_t i = 0; i < units->n; i++) {
			if (!units->unit[i].available ||
			    (kernel && unc_platform_has_driver(p, &units->unit[i])))
				continue;
			int rc = reclaim_unit(p, &units->unit[i], counters, &tale, &why);

			if (rc == UNC_ERR_MEMORY)
				return unc_no_memory(err);
			if (rc < 0) /* its entry stays for the next start */
				unc_platform_log(p, UNC_LOG_WARNING, "%s", why.text);
		}
	log_restored(p, &tale);
	return 0;
}
