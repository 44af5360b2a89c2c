/* SPDX-License-Identifier: BSD-3-Clause */
/* The discovered units: their registers, and tests whether they can be read. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access_ways.h"
#include "base/text.h"
#include "machine/discover.h"

enum { MAX_OFFSET = 4096 }; /* of PCI configuration space */

uint64_t unc_part_extent(const struct unc_table *t, unsigned type, unsigned part)
{
	bool msr = unc_type_part(t, type, part)->space == UNC_SPACE_MSR;
	int64_t end = msr ? 1 : 8;

	for (const struct unc_tbl_reg *r = NULL; (r = UNC_NEXT(t, reg, t->type[type].regs, r));) {
		int64_t last = (int64_t)r->offset + (msr ? 1 : r->width / 8);

		if (r->part == part && !(r->flags & UNC_REG_ABS) && last > end)
			end = last;
	}
	return (uint64_t)end;
}

/* Reasons that are not allocated. */
static const char no_memory[] = "out of memory";
static const char told_by_table[] = "only the machine's discovery table has its place";

void unc_instance_forget(struct unc_instance *unit)
{
	if (*unit->reason && unit->reason != no_memory && unit->reason != told_by_table)
		free((void *)(uintptr_t)unit->reason);
	unit->reason = "";
}

void unc_instances_free(struct unc_instances *instances)
{
	for (size_t i = 0; i < instances->n; i++)
		unc_instance_forget(&instances->unit[i]);
	free(instances->unit);
	*instances = (struct unc_instances){0};
}

/* Sets the reason to a text, which may be the old one. */
static void set_reason(struct unc_instance *unit, const char *text)
{
	const char *own = *text ? strdup(text) : "";

	unc_instance_forget(unit);
	unit->reason = own ? own : no_memory;
}

void unc_instance_reason(struct unc_instance *unit, const char *format, ...)
{
	char text[UNC_REASON_MAX];

	UNC_FORMAT(text, format);
	set_reason(unit, text);
}

void unc_instance_refuse(struct unc_instance *unit, const char *format, ...)
{
	char text[UNC_REASON_MAX];

	UNC_FORMAT(text, format);
	unit->available = false;
	set_reason(unit, text);
}

void unc_instance_also(struct unc_instance *unit, const char *format, ...)
{
	char text[UNC_REASON_MAX], both[UNC_ERROR_MAX];

	UNC_FORMAT(text, format);
	if (!*text)
		return;
	snprintf(both, sizeof(both), "%s%s%s", unit->reason, *unit->reason ? "; " : "", text);
	set_reason(unit, both);
}

/* Returns the register of part 0 to test a unit with: a control, else the first readable one; -1: none. */
static int probe_register(const struct unc_table *table, const struct unc_tbl_type *type)
{
	if (type->n_counters)
		return type->first_ctl;
	for (const struct unc_tbl_reg *r = NULL; (r = UNC_NEXT(table, reg, type->regs, r));)
		if (!r->part && !(r->flags & UNC_REG_WO))
			return (int)(r - table->reg);
	return -1;
}

/* Tests whether a unit can be read and, if it has programmable counters, may be written. Writes
 * nothing. */
static int try_unit(const struct unc_table *table, struct unc_instance *unit,
		    struct unc_access *access, struct unc_error *err)
{
	const struct unc_tbl_type *type = &table->type[unit->type];
	struct unc_reg_op op = {.kind = UNC_OP_READ}, control = op;
	int reg = probe_register(table, type), rc;

	if (reg < 0)
		return 0;
	rc = unc_instance_reg(table, unit, (unsigned)reg, &op.reg, err);
	if (rc == 0)
		rc = unc_access_read(access, &op, 1, err);
	if (op.errno_value == EIO) /* the CPU does not know the register */
		unit->part[0].exists = false;
	if (rc < 0 && op.error)
		return unc_fail(err, op.error, "%s: %s", unit->location,
				unc_fs_reason(op.errno_value));
	if (rc < 0)
		return rc;
	/* A control has reserved bits that are 0, and a counter has fewer than 64 bits: all ones mean
	 * that nothing answers. */
	if ((type->n_counters || op.reg.width == 64) && !unc_space_of_thread(op.reg.space) &&
	    op.value == (op.reg.width == 64 ? UINT64_MAX : UINT32_MAX)) {
		unit->part[0].exists = false;
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%s reads as all ones: hidden by the BIOS, or switched off",
				unit->location);
	}
	if (!type->n_counters)
		return 0;
	/* A session cannot start without unit control. */
	if (unc_reg_shows(table, type->unit_ctl) && !unc_space_of_thread(op.reg.space) &&
	    ((rc = unc_instance_reg(table, unit, type->unit_ctl, &control.reg, err)) < 0 ||
	     (rc = unc_access_prepare(access, &control, 1, err)) < 0))
		return rc;
	op = (struct unc_reg_op){.reg = op.reg, .kind = UNC_OP_WRITE};
	return unc_access_prepare(access, &op, 1, err);
}

static void set_method(struct unc_instance *unit, int space, unsigned way)
{
	for (unsigned i = 0; i < UNC_MAX_PARTS; i++)
		if (unit->part[i].present && unit->part[i].space == space)
			unit->part[i].way = (uint8_t)way;
}

/* Whether the CPU knows no register of a unit: reading each of them faults. */
static bool is_unknown_to_cpu(const struct unc_table *table, const struct unc_instance *unit,
			      struct unc_access *access)
{
	const struct unc_range *regs = &table->type[unit->type].regs;

	for (uint32_t i = 0; i < regs->n; i++) {
		const struct unc_tbl_reg *reg = &table->reg[regs->first + i];
		struct unc_reg_op op = {.kind = UNC_OP_READ};

		if (reg->part || reg->flags & (UNC_REG_WO | UNC_REG_ABS))
			continue;
		if (unc_instance_reg(table, unit, regs->first + i, &op.reg, NULL) < 0 ||
		    unc_access_prepare(access, &op, 1, NULL) == 0 || op.errno_value != EIO)
			return false;
	}
	return true;
}

/* The same, if any access method shows it: a method that refuses unknown registers shows nothing. */
static bool is_unknown_by_all(const struct unc_table *table, struct unc_instance *unit,
			      struct unc_access *access)
{
	const struct unc_ways *ways = unc_access_ways(access);
	int space = unit->part[0].space;

	for (unsigned way = 0; (way = unc_ways_next(ways, space, way));) {
		set_method(unit, space, way);
		if (is_unknown_to_cpu(table, unit, access))
			return true;
	}
	return false;
}

/* Returns a doubtful unit of the same type and socket: if numbers may have gaps, any unit can be the missing one.
 * NULL: no register counts the units, and another socket has this one, or its partner exists. */
static struct unc_instance *find_spare(const struct unc_table *table,
				       struct unc_instances *instances,
				       const struct unc_instance *unit)
{
	struct unc_instance *found = NULL;

	for (struct unc_instance *u = instances->unit; u < instances->unit + instances->n; u++) {
		if (u->type == unit->type && u->socket == unit->socket && u->doubtful)
			found = u;
		if (u->index == unit->index && u->available &&
		    (u->type == unit->type || unc_type_partners(table, u->type, unit->type)) &&
		    !table->type[unit->type].presents.n)
			return NULL;
	}
	return found;
}

/* Drops the remaining doubtful units: if all answer and a register counts fewer, the last do not exist. */
static void drop_surplus_units(const struct unc_table *table, struct unc_instances *instances)
{
	size_t n = 0;

	for (size_t i = 0; i < instances->n; i++) {
		struct unc_instance *unit = &instances->unit[i];

		if (!unit->doubtful || !unc_type_gaps(table, unit->type) ||
		    !table->type[unit->type].presents.n)
			instances->unit[n++] = *unit;
		else
			unc_instance_forget(unit);
	}
	instances->n = n;
}

/* Drops doubtful units that do not exist from the end of their type and socket. A unit before another one
 * that answers stays, because it should exist, unless numbers may have gaps. Missing units in memory read as
 * all ones. */
static void drop_unknown(const struct unc_table *table, struct unc_instances *instances,
			 struct unc_access *access)
{
	const struct unc_instance *next = NULL; /* the unit after this one, if it stays */

	for (size_t i = instances->n; i-- > 0;) {
		struct unc_instance *unit = &instances->unit[i], *doubtful = unit;
		bool ones = unit->part[0].space == UNC_SPACE_MMIO && !unit->part[0].exists;

		if (unc_type_gaps(table, unit->type))
			doubtful = find_spare(table, instances, unit);
		else if (!ones && next && next->type == unit->type && next->socket == unit->socket)
			doubtful = NULL;
		if (!unit->available && doubtful && doubtful->doubtful &&
		    (ones || is_unknown_by_all(table, unit, access))) {
			doubtful->doubtful = unit->doubtful;
			unc_instance_forget(unit);
			memmove(unit, unit + 1, (--instances->n - i) * sizeof(*unit));
			continue;
		}
		next = unit;
	}
	drop_surplus_units(table, instances);
}

/* ---- the access method of a unit */

size_t unc_instance_allowed(const struct unc_table *table, const struct unc_instance *unit,
			    int space, struct unc_allowed *out)
{
	const struct unc_range *regs = &table->type[unit->type].regs;
	size_t n = 0;

	for (uint32_t i = regs->first; i < regs->first + regs->n; i++) {
		const struct unc_tbl_reg *row = &table->reg[i];
		struct unc_allowed *allowed = &out[n];

		/* A missing part has no registers. */
		if (unc_instance_reg(table, unit, i, &allowed->reg, NULL) < 0 ||
		    (space >= 0 && allowed->reg.space != space))
			continue;
		allowed->write_mask = row->write_mask;
		allowed->readable = !(row->flags & UNC_REG_WO);
		n++;
	}
	return n;
}

/* Checks that the method reaches all registers of the unit in a space, by what it knows, and one register by
 * reading it. regs: room for all of them. */
static int check_method(const struct unc_table *table, struct unc_instance *unit, int space,
			unsigned way, struct unc_access *access, struct unc_allowed *regs,
			struct unc_error *err)
{
	size_t n = unc_instance_allowed(table, unit, space, regs);
	int rc = unc_access_serves(access, way, regs, n, err);

	return rc < 0 || unit->part[0].space != space ? rc : try_unit(table, unit, access, err);
}

/* Chooses the first method that reaches all registers of a unit in a space. If none does, the last one tried
 * stays. */
static int choose_method(const struct unc_table *table, struct unc_instance *unit, int space,
			 struct unc_access *access, struct unc_allowed *regs, struct unc_error *err)
{
	const struct unc_ways *ways = unc_access_ways(access);
	unsigned way = unc_ways_next(ways, space, 0), tried = 0;
	char text[UNC_REASON_MAX];
	struct unc_buf passed = UNC_BUF(text);
	struct unc_error why = {0};

	if (!way)
		return unc_ways_none(ways, space, err);
	for (; way; way = unc_ways_next(ways, space, way)) {
		unc_error_clear(&why);
		set_method(unit, space, way);
		if (check_method(table, unit, space, way, access, regs, &why) == 0) {
			unc_instance_also(unit, "%s", text);
			return 0;
		}
		unc_put(&passed, "%s%s: %s", tried++ ? "; " : "", unc_access_name(access, way),
			why.text);
	}
	return unc_fail(err, why.code, "%s", tried > 1 ? text : why.text);
}

static void probe_unit(const struct unc_table *table, struct unc_instance *unit,
		       struct unc_access *access, struct unc_allowed *regs)
{
	struct unc_error why = {0};

	if (choose_method(table, unit, unit->part[0].space, access, regs, &why) < 0) {
		unc_instance_refuse(unit, "%s", why.text);
		return;
	}
	for (unsigned i = 1; i < UNC_MAX_PARTS; i++)
		if (unit->part[i].present && !unit->part[i].way &&
		    choose_method(table, unit, unit->part[i].space, access, regs, &why) < 0)
			unc_instance_also(unit, "%s", why.text);
}

int unc_instances_probe(const struct unc_table *table, struct unc_instances *instances,
			struct unc_access *access, struct unc_error *err)
{
	struct unc_allowed *regs;
	size_t most = 1;
	int rc = 0;

	for (size_t i = 0; i < table->n_type; i++)
		if (table->type[i].regs.n > most)
			most = table->type[i].regs.n;
	regs = calloc(most, sizeof(*regs));
	if (!regs)
		return unc_no_memory(err);
	for (size_t i = 0; i < instances->n && rc == 0; i++)
		if (instances->unit[i].available)
			rc = unc_access_allow(
				access, regs,
				unc_instance_allowed(table, &instances->unit[i], -1, regs), err);
	for (size_t i = 0; i < instances->n && rc == 0; i++)
		if (instances->unit[i].available)
			probe_unit(table, &instances->unit[i], access, regs);
	free(regs);
	if (rc < 0)
		return rc;
	drop_unknown(table, instances, access);
	for (size_t i = 0; i < instances->n; i++)
		instances->unit[i].direct = instances->unit[i].available;
	return 0;
}

static void locate_nominal(const struct unc_table *table, const struct unc_tbl_where *where,
			   struct unc_instance *unit)
{
	char *text = unit->location;

	if (unc_space_of_thread(unit->part[0].space))
		snprintf(text, sizeof(unit->location), "%s", unc_space_name(unit->part[0].space));
	else if (unit->part[0].space == UNC_SPACE_MSR)
		snprintf(text, sizeof(unit->location), "msr 0x%" PRIx64, where->base);
	else if (unit->part[0].space == UNC_SPACE_PCI)
		snprintf(text, sizeof(unit->location), "pci %02x.%x", where->devfn >> 3,
			 where->devfn & 7);
	else
		snprintf(text, sizeof(unit->location), "mmio %.20s%u+0x%" PRIx64,
			 unc_tbl_str(table, table->bar[where->bar].name), where->bar_index,
			 where->base);
}

void unc_instance_nominal(const struct unc_table *table, unsigned type, unsigned index,
			  struct unc_instance *out)
{
	const struct unc_tbl_type *row = &table->type[type];
	struct unc_instance unit = {
		.type = (uint16_t)type,
		.index = (uint16_t)index,
		.status_position = -1,
		.reason = "",
	};

	for (unsigned i = 0; i < row->parts.n && i < UNC_MAX_PARTS; i++) {
		const struct unc_tbl_part *part = unc_type_part(table, type, i);
		const struct unc_tbl_where *where = unc_part_place(table, part, index);
		struct unc_place *place = &unit.part[i];

		place->space = part->space;
		if (!where)
			continue;
		place->present = true;
		place->base = where->base;
		if (part->space == UNC_SPACE_PCI)
			place->base = UNC_PCI(0, 0, where->devfn, where->base);
		if (i == 0)
			locate_nominal(table, where, &unit);
	}
	unit.available = unit.part[0].present;
	if (!unit.available)
		unit.reason = told_by_table;
	*out = unit;
}

int unc_instance_reg(const struct unc_table *table, const struct unc_instance *unit, unsigned reg,
		     struct unc_reg *out, struct unc_error *err)
{
	const struct unc_tbl_reg *row = &table->reg[reg];
	const struct unc_place *place = &unit->part[row->part];
	uint64_t address = unc_reg_at(row, place->space, place->base, unit->index);
	/* a PCI register must lie in its function */
	int64_t offset = (int64_t)(address - UNC_PCI_FUNCTION(place->base));

	if (!place->present)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s%u: register %s: %s",
				unc_type_name(table, unit->type), unit->index,
				unc_tbl_str(table, row->name),
				*unit->reason ? unit->reason : "its place is not known");
	if (place->space == UNC_SPACE_PCI && (offset < 0 || offset + row->width / 8 > MAX_OFFSET))
		return unc_fail(err, UNC_ERR_TABLE, "%s%u: register %s: offset %lld",
				unc_type_name(table, unit->type), unit->index,
				unc_tbl_str(table, row->name), (long long)offset);
	*out = (struct unc_reg){
		.address = address,
		.target = place->target,
		.space = place->space,
		.width = row->width,
		.way = place->way,
	};
	return 0;
}
