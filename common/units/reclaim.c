/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: what ended processes have left. A record without a living holder tells what was found in a
 * register: that is restored, where the register holds still what they have programmed. This user
 * and root are believed; what others have left is restored where the user asks for it.
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
	uid_t user;
	unsigned n;
	bool several; /* processes */
};

struct reclaim {
	enum unc_records records;
	struct tale restored, left;
};

/* What is not restored is looked at where counting begins, to tell of it. */
static bool any_orphan(struct unc_ledger *l, enum unc_extent extent)
{
	const size_t n = unc_ledger_any_ended(l) ? unc_ledger_count(l) : 0;

	for (size_t i = 0; i < n; i++) {
		const struct unc_ledger_record *r = unc_ledger_orphan(l, &unc_ledger_at(l, i)->key);

		if (r && (extent == UNC_ALL || unc_ledger_believed(l, r)))
			return true;
	}
	return false;
}

/* Who holds registers of the units that are wanted, and of those that may hold a socket, is asked
 * for; of others some each time. */
static void ask(const struct unc_units *s)
{
	enum { SOME = 4 };
	const struct unc_instances *all = &s->platform->instances;
	const struct unc_table *t = s->platform->table;

	if (unc_ledger_ask(s->platform->ledger, SOME))
		return;
	for (size_t i = 0; i < all->n; i++) {
		const struct unc_tbl_type *type = &t->type[all->unit[i].type];

		if (s->wanted[i].head == UNC_END && !type->n_global)
			continue;
		for (uint32_t k = 0; k < type->regs.n; k++)
			(void)unc_units_record(s, &all->unit[i], (uint16_t)(type->regs.first + k));
	}
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
	default:
		return r->role == UNC_HELD_UNIT && reg == type->unit_ctl;
	}
}

/* The record of a register of the unit, if it is orphaned. */
static struct unc_ledger_record *orphan_of(const struct unc_units *s, const struct unc_instance *u,
					   uint16_t reg)
{
	struct unc_ledger_record *r = unc_units_orphan(s, u, reg);

	return r && is_possible(s->platform->table, u, reg, r) ? r : NULL;
}

/* The same, if what it tells is restored. */
static struct unc_ledger_record *reclaimed(const struct unc_units *s, const struct unc_instance *u,
					   uint16_t reg, const struct reclaim *reclaim)
{
	struct unc_ledger_record *r = orphan_of(s, u, reg);

	return r && (reclaim->records == UNC_BY_FORCE ||
		     unc_ledger_believed(s->platform->ledger, r))
		       ? r
		       : NULL;
}

/* Whether a PCI register of 64 bits holds the high half of one value and the low half of another:
 * the high one is written first (unc_halves_write()), and who wrote them was killed in between. */
static bool is_torn(const struct unc_tbl_reg *reg, const struct unc_ledger_record *r, uint64_t now)
{
	const uint64_t low = UINT32_MAX;
	const uint64_t held[] = {r->found, r->value};
	bool torn = false;

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
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
	       is_torn(&t->reg[reg], r, now);
}

static void tell(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
		 const struct unc_ledger_record *r, struct tale *tale)
{
	const struct unc_table *t = s->platform->table;

	if (tale->n++ == 0) {
		snprintf(tale->first, sizeof(tale->first), "%s: %s", unc_unit_name(s, u).text,
			 unc_reg_name(t, reg));
		tale->pid = r->pid;
		tale->user = unc_ledger_owner(s->platform->ledger, r);
		memcpy(tale->command, r->command, sizeof(tale->command));
	}
	tale->several |= r->pid != tale->pid;
}

/* What is restored in a register that holds `now`; false: it is somebody else's by now. */
static bool restored(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
		     const struct unc_ledger_record *r, const struct unc_plan *reads,
		     uint64_t *value)
{
	const uint64_t *now = unc_plan_value(reads, u, reg);

	if (now && !unc_units_recorded(s, u, reg, r, *now))
		return false;
	*value = unc_units_as_found(r, now ? *now : r->value) &
		 s->platform->table->reg[reg].write_mask;
	return true;
}

/* Reads the controls and filters of a unit that are orphaned; then writes those that are restored,
 * and tells of those that stay. */
static int plan_registers(const struct unc_units *s, const struct unc_instance *u,
			  struct reclaim *reclaim, const struct unc_plan *reads,
			  struct unc_plan *out, struct unc_error *err)
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
		else if (!reads || !restored(s, u, reg, r, reads, &value))
			continue;
		else if (reclaimed(s, u, reg, reclaim))
			rc = unc_plan_add(t, out, u, reg, UNC_OP_WRITE, value, err);
		else
			tell(s, u, reg, r, &reclaim->left);
	}
	return rc;
}

static int restore_registers(struct unc_units *s, const struct unc_instance *u,
			     struct reclaim *reclaim, struct unc_error *err)
{
	struct unc_plan reads = {0}, writes = {0};
	int rc = plan_registers(s, u, reclaim, NULL, &reads, err);

	if (rc == 0)
		rc = unc_units_run_plan(s, &reads, "looking at what ended processes have left",
					err);
	if (rc == 0)
		rc = plan_registers(s, u, reclaim, &reads, &writes, err);
	if (rc == 0 && writes.n)
		rc = unc_access_prepare(s->platform->access, writes.op, writes.n, err);
	if (rc == 0 && writes.n)
		rc = unc_units_restore(s, &writes, err);
	for (size_t i = 0; rc == 0 && i < writes.n; i++)
		tell(s, u, writes.tag[i].reg, orphan_of(s, u, writes.tag[i].reg),
		     &reclaim->restored);
	unc_plan_free(&reads);
	unc_plan_free(&writes);
	return rc;
}

/* First the counters of all units, then what may hold them. */
enum { REGISTERS, UNITS, STAGES };

static int stage_of(const struct unc_ledger_record *r)
{
	return r->role == UNC_HELD_UNIT ? UNITS : REGISTERS;
}

static int reclaim_unit(struct unc_units *s, const struct unc_instance *u, int stage,
			struct reclaim *reclaim, struct unc_error *err)
{
	const struct unc_range *regs = &s->platform->table->type[u->type].regs;
	struct unc_ledger_record *r;
	bool any = false;
	int rc = 0;

	for (uint32_t i = 0; i < regs->n && rc == 0; i++) {
		uint16_t reg = (uint16_t)(regs->first + i);

		/* Of registers that stay is told. */
		r = stage == REGISTERS ? orphan_of(s, u, reg) : reclaimed(s, u, reg, reclaim);
		if (!r || stage_of(r) != stage)
			continue;
		if (stage == UNITS)
			rc = unc_units_go_on(s, u, r, err);
		else if (!any)
			rc = restore_registers(s, u, reclaim, err);
		any = true;
	}
	for (uint32_t i = 0; any && rc == 0 && i < regs->n; i++) {
		r = reclaimed(s, u, (uint16_t)(regs->first + i), reclaim);
		if (r && stage_of(r) == stage)
			unc_ledger_remove(s->platform->ledger, r);
	}
	return rc;
}

/* "imc0 (socket 0): CTL3 and 2 more were" */
static const char *tale_text(const struct tale *tale, char *buf, size_t size)
{
	if (tale->n > 1)
		snprintf(buf, size, "%s and %u more were", tale->first, tale->n - 1);
	else
		snprintf(buf, size, "%s was", tale->first);
	return buf;
}

static void tell_all(const struct unc_units *s, enum unc_extent extent,
		     const struct reclaim *reclaim)
{
	const struct tale *restored = &reclaim->restored, *left = &reclaim->left;
	char text[192];

	if (restored->n)
		unc_platform_log(s->platform, UNC_LOG_WARNING,
				 "%s left behind by pid %lld (%s)%s: restored",
				 tale_text(restored, text, sizeof(text)), (long long)restored->pid,
				 restored->command,
				 restored->several ? " and others, whose sessions have ended"
						   : ", whose session has ended");
	if (left->n && extent == UNC_ALL)
		unc_platform_log(s->platform, UNC_LOG_WARNING,
				 "%s left behind by pid %lld (%s) of user %u: a session of that "
				 "user puts it back, or uncore release --force",
				 tale_text(left, text, sizeof(text)), (long long)left->pid,
				 left->command, (unsigned)left->user);
}

int unc_units_reclaim(struct unc_units *s, enum unc_extent extent, enum unc_records records,
		      struct unc_error *err)
{
	const struct unc_instances *all = &s->platform->instances;
	struct reclaim reclaim = {.records = records};
	struct unc_error why;
	bool kernel;

	ask(s);
	if (!any_orphan(s->platform->ledger, extent))
		return 0;
	kernel = unc_platform_kernel_counts(s->platform);
	for (int stage = 0; stage < STAGES; stage++)
		for (size_t i = 0; i < all->n; i++) {
			if (!all->unit[i].available ||
			    (kernel && unc_platform_has_driver(s->platform, &all->unit[i])))
				continue;
			int rc = reclaim_unit(s, &all->unit[i], stage, &reclaim, &why);

			if (rc == UNC_ERR_MEMORY)
				return unc_fail(err, rc, "out of memory");
			if (rc < 0) /* its record stays for the next */
				unc_platform_log(s->platform, UNC_LOG_WARNING, "%s", why.text);
		}
	tell_all(s, extent, &reclaim);
	return 0;
}
