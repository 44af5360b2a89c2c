/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: what ended processes have left. A record without a living holder tells what was found in a
 * register: that is restored, where the register holds still what they have programmed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units/inside.h"

/* What is told of it, once. */
struct tale {
	char first[128]; /* "imc0 (socket 0): CTL3" */
	int64_t pid;
	char command[UNC_COMMAND_MAX];
	unsigned n;
	bool several; /* processes */
};

static bool is_orphan(struct unc_ledger *l, const struct unc_ledger_record *r)
{
	return r->role && unc_ledger_living(l, r, 0, UNC_LEDGER_NOBODY) == UNC_LEDGER_NOBODY;
}

static bool any_orphan(struct unc_ledger *l)
{
	for (size_t i = 0; i < unc_ledger_count(l); i++)
		if (is_orphan(l, unc_ledger_at(l, i)))
			return true;
	return false;
}

/* Whether a session may have held the register as the record says. */
static bool is_possible(const struct unc_table *t, const struct unc_instance *u, uint16_t reg,
			const struct unc_ledger_record *r)
{
	const struct unc_tbl_type *type = &t->type[u->type];

	switch (r->role) {
	case UNC_HELD_CONTROL:
		return t->reg[reg].role == UNC_ROLE_CTL || t->reg[reg].role == UNC_ROLE_FIXED_CTL;
	case UNC_HELD_FILTER:
		return t->reg[reg].role == UNC_ROLE_OTHER;
	case UNC_HELD_UNIT:
		return reg == type->unit_ctl;
	default:
		return type->n_global && reg == unc_socket_reg(type);
	}
}

/* The record of a register of the unit, if it is orphaned. */
static struct unc_ledger_record *orphan_of(const struct unc_units *s, const struct unc_instance *u,
					   uint16_t reg)
{
	struct unc_ledger_record *r = unc_units_record(s, u, reg);

	return r && is_possible(s->platform->table, u, reg, r) && is_orphan(s->platform->ledger, r)
		       ? r
		       : NULL;
}

/* Whether a PCI register of 64 bits holds the high half of one value and the low half of another:
 * the high one is written first (unc_halves_write()), and who wrote them was killed in between. */
static bool is_torn(const struct unc_tbl_reg *reg, const struct unc_ledger_record *r, uint64_t now)
{
	const uint64_t low = UINT32_MAX;
	const uint64_t held[] = {r->found, r->value, r->lent ? r->lent : r->value};
	bool torn = false;

	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			torn |= (held[i] & low) &&
				!((now ^ ((held[i] & ~low) | (held[k] & low))) & reg->write_mask);
	return torn && r->key.space == UNC_SPACE_PCI && reg->width == 64 &&
	       ((now ^ r->found) & reg->write_mask);
}

bool unc_units_recorded(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
			const struct unc_ledger_record *r, uint64_t now)
{
	const struct unc_table *t = s->platform->table;

	return !((now ^ r->value) & r->mask & unc_telling_bits(t, u, reg, r->value)) ||
	       (r->lent && !((now ^ r->lent) & unc_telling_bits(t, u, reg, r->lent))) ||
	       is_torn(&t->reg[reg], r, now);
}

static void tell(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
		 const struct unc_ledger_record *r, struct tale *tale)
{
	const struct unc_table *t = s->platform->table;
	char unit[64];

	if (tale->n++ == 0) {
		unc_unit_text(s, u, unit, sizeof(unit));
		snprintf(tale->first, sizeof(tale->first), "%s: %s", unit,
			 unc_tbl_str(t, t->reg[reg].name));
		tale->pid = r->pid;
		memcpy(tale->command, r->command, sizeof(tale->command));
	}
	tale->several |= r->pid != tale->pid;
}

/* What is restored in a register that holds `now`; false: it is somebody else's by now. */
static bool restored(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
		     const struct unc_ledger_record *r, const struct unc_plan *reads,
		     uint64_t *value)
{
	uint64_t now = r->value;

	if (unc_plan_value(reads, u, reg, &now) && !unc_units_recorded(s, u, reg, r, now))
		return false;
	*value = unc_units_as_found(r, now) & s->platform->table->reg[reg].write_mask;
	return true;
}

/* Reads, or writes, the controls and filters of a unit that are orphaned. */
static int plan_registers(const struct unc_units *s, const struct unc_instance *u,
			  const struct unc_plan *reads, struct unc_plan *out, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_range *regs = &t->type[u->type].regs;
	int rc = 0;

	for (uint32_t i = 0; i < regs->n && rc == 0; i++) {
		uint16_t reg = (uint16_t)(regs->first + i);
		const struct unc_ledger_record *r = orphan_of(s, u, reg);
		uint64_t value = 0;

		if (!r || (r->role != UNC_HELD_CONTROL && r->role != UNC_HELD_FILTER))
			continue;
		if (!reads && unc_reg_shows(t, reg))
			rc = unc_plan_add(t, out, u, reg, UNC_OP_READ, 0, err);
		else if (reads && restored(s, u, reg, r, reads, &value))
			rc = unc_plan_add(t, out, u, reg, UNC_OP_WRITE, value, err);
	}
	return rc;
}

static int restore_registers(struct unc_units *s, const struct unc_instance *u, struct tale *tale,
			     struct unc_error *err)
{
	struct unc_plan reads = {0}, writes = {0};
	int rc = plan_registers(s, u, NULL, &reads, err);

	if (rc == 0)
		rc = unc_units_run_plan(s, &reads, "looking at what the dead have left", err);
	if (rc == 0)
		rc = plan_registers(s, u, &reads, &writes, err);
	if (rc == 0 && writes.n)
		rc = unc_access_prepare(s->platform->access, writes.op, writes.n, err);
	if (rc == 0 && writes.n)
		rc = unc_units_restore(s, &writes, err);
	for (size_t i = 0; rc == 0 && i < writes.n; i++)
		tell(s, u, writes.tag[i].reg, orphan_of(s, u, writes.tag[i].reg), tale);
	unc_plan_free(&reads);
	unc_plan_free(&writes);
	return rc;
}

static int restore_socket(struct unc_units *s, const struct unc_instance *u, struct unc_error *err)
{
	struct unc_plan plan = {0};
	int rc = unc_plan_unfreeze(s->platform->table, &plan, u, err);

	return unc_units_run_once(s, &plan, rc, "letting a socket go on", err);
}

/* First the counters of all units, then what may hold them. */
enum { REGISTERS, UNITS, SOCKETS, STAGES };

static int stage_of(const struct unc_ledger_record *r)
{
	return r->role == UNC_HELD_SOCKET ? SOCKETS : r->role == UNC_HELD_UNIT ? UNITS : REGISTERS;
}

static int reclaim_unit(struct unc_units *s, const struct unc_instance *u, int stage,
			struct tale *tale, struct unc_error *err)
{
	const struct unc_range *regs = &s->platform->table->type[u->type].regs;
	struct unc_ledger_record *r;
	bool any = false;
	int rc = 0;

	for (uint32_t i = 0; i < regs->n && rc == 0; i++) {
		r = orphan_of(s, u, (uint16_t)(regs->first + i));
		if (!r || stage_of(r) != stage)
			continue;
		if (stage == UNITS)
			rc = unc_units_go_on(s, u, r, err);
		else if (stage == SOCKETS)
			rc = restore_socket(s, u, err);
		else if (!any)
			rc = restore_registers(s, u, tale, err);
		any = true;
	}
	for (uint32_t i = 0; any && rc == 0 && i < regs->n; i++) {
		r = orphan_of(s, u, (uint16_t)(regs->first + i));
		if (r && stage_of(r) == stage)
			unc_ledger_remove(s->platform->ledger, r);
	}
	return rc;
}

int unc_units_reclaim(struct unc_units *s, struct unc_error *err)
{
	const struct unc_instances *all = &s->platform->instances;
	struct tale tale = {.n = 0};
	struct unc_error why;
	bool kernel;
	char more[48];

	if (!any_orphan(s->platform->ledger))
		return 0;
	kernel = unc_units_kernel_counts(s);
	for (int stage = 0; stage < STAGES; stage++)
		for (size_t i = 0; i < all->n; i++) {
			if (!all->unit[i].available ||
			    (kernel && unc_units_has_driver(s->platform, &all->unit[i])))
				continue;
			int rc = reclaim_unit(s, &all->unit[i], stage, &tale, &why);

			if (rc == UNC_ERR_MEMORY)
				return unc_fail(err, rc, "out of memory");
			if (rc < 0) /* its record stays for the next */
				unc_platform_log(s->platform, UNC_LOG_WARNING, "%s", why.text);
		}
	snprintf(more, sizeof(more), " was");
	if (tale.n > 1)
		snprintf(more, sizeof(more), " and %u more were", tale.n - 1);
	if (tale.n)
		unc_platform_log(s->platform, UNC_LOG_WARNING,
				 "%s%s left behind by pid %lld (%s)%s: put back", tale.first, more,
				 (long long)tale.pid, tale.command,
				 tale.several ? " and others, which are dead" : ", which is dead");
	return 0;
}
