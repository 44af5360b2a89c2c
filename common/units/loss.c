/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: slots that mean nothing any more, and why. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/cpu.h"
#include "units/units.h"

void unc_units_lose(struct unc_units *s, struct unc_slot *slot, enum unc_loss_kind why,
		    uint16_t reg, uint64_t value)
{
	s->flawed = true;
	if (slot->lost.why == UNC_LOST_NOT)
		slot->lost = (struct unc_loss){.why = (uint8_t)why, .reg = reg, .value = value};
}

void unc_units_unread(struct unc_units *s, struct unc_slot *slot, uint16_t reg,
		      const struct unc_reg_op *op)
{
	/* An event whose socket went offline is dead for good, even if its CPUs come back. */
	if (s->wanted[slot->instance].by_kernel && op->errno_value == ENODEV)
		unc_units_lose(s, slot, UNC_LOST_UNREAD, reg, ENODEV);
	s->flawed = true;
	slot->unread = op->errno_value ? op->errno_value : EIO;
	slot->unread_reg = reg;
}

void unc_units_unread_unit(struct unc_units *s, const struct unc_plan_unit *u, uint16_t reg,
			   const struct unc_reg_op *op)
{
	int i = s->wanted[u->instance - s->platform->instances.unit].head;

	for (; i != UNC_END; i = s->slot[i].next)
		if (unc_units_active(s, &s->slot[i]) && !s->slot[i].unread &&
		    unc_units_control(s, &s->slot[i]) != UNC_NONE)
			unc_units_unread(s, &s->slot[i], reg, op);
}

static void unread_text(const struct unc_units *s, const struct unc_slot *slot, const char *unit,
			struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	bool lost = slot->lost.why == UNC_LOST_UNREAD;
	uint16_t reg = lost ? slot->lost.reg : slot->unread_reg;
	int error = lost ? (int)slot->lost.value : slot->unread;

	if (s->wanted[slot->instance].by_kernel) {
		unc_fail(err, UNC_ERR_IO, "%s: what the kernel counts on %s could not be read: %s",
			 slot->name, unit,
			 error == ENODEV  ? "all CPUs of its socket went offline"
			 : error == EBUSY ? "others of the kernel's users have its counters"
					  : strerror(error));
		return;
	}
	unc_fail(err, UNC_ERR_IO, "%s of %s at %s could not be read: %s",
		 unc_tbl_str(t, t->reg[reg].name), unit,
		 s->platform->instances.unit[slot->instance].location,
		 error == ENXIO    ? UNC_NO_CPU
		 : error == ENODEV ? "its CPU is offline"
				   : strerror(error));
}

void unc_units_idle_text(const struct unc_units *s, const struct unc_slot *slot,
			 struct unc_error *err)
{
	char unit[64];

	unc_units_unit_text(s, &s->platform->instances.unit[slot->instance], unit, sizeof(unit));
	unc_fail(err, UNC_ERR_BUSY,
		 "%s: not measured: others of the kernel's users had the counters of %s all the "
		 "time",
		 slot->name, unit);
}

void unc_units_late_text(const struct unc_units *s, const struct unc_slot *slot,
			 struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	char unit[64];

	unc_units_unit_text(s, &s->platform->instances.unit[slot->instance], unit, sizeof(unit));
	unc_fail(err, UNC_ERR_IO, "%s of %s could not be read where the interval began",
		 s->wanted[slot->instance].by_kernel ? slot->name
						     : unc_tbl_str(t, t->reg[slot->ctr].name),
		 unit);
}

static void changed_text(const struct unc_units *s, const struct unc_slot *slot, const char *unit,
			 const char *reg, struct unc_error *err)
{
	const struct unc_instance *u = &s->platform->instances.unit[slot->instance];
	const char *name = slot->name;
	uint64_t value = slot->lost.value;
	char event[UNC_SPEC_MAX];

	if (slot->lost.why == UNC_LOST_CONTROL && value == 0)
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: somebody else has cleared %s of %s while it was counting", name, reg,
			 unit);
	else if (slot->lost.why == UNC_LOST_CONTROL)
		unc_fail(
			err, UNC_ERR_BUSY,
			"%s: somebody else has programmed %s of %s while it was counting: it holds "
			"0x%" PRIx64 "%s",
			name, reg, unit, value,
			unc_units_event_text(s, u, value, NULL, 0, event, sizeof(event)));
	else
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: somebody else has changed %s of %s while it was counting: it holds "
			 "0x%" PRIx64,
			 name, reg, unit, value);
}

void unc_units_loss_text(const struct unc_units *s, const struct unc_slot *slot,
			 struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const char *name = slot->name;
	const char *reg =
		slot->lost.reg < t->n_reg ? unc_tbl_str(t, t->reg[slot->lost.reg].name) : "";
	const struct unc_instance *u = &s->platform->instances.unit[slot->instance];
	char unit[64], event[UNC_SPEC_MAX];

	unc_units_unit_text(s, u, unit, sizeof(unit));
	switch (slot->lost.why) {
	case UNC_LOST_NOT:
	case UNC_LOST_UNREAD:
		unread_text(s, slot, unit, err);
		return;
	case UNC_LOST_FROZEN:
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: %s does not count: it is frozen, by a program that was killed or one "
			 "that froze the socket (LIKWID, PCM, an old kernel's perf), or nothing "
			 "drives its "
			 "clock",
			 name, unit);
		return;
	case UNC_LOST_KIND:
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: somebody else has programmed %s of %s with an event of another kind "
			 "(0x%" PRIx64 "%s), and the unit counts one kind at a time",
			 name, reg, unit, slot->lost.value,
			 unc_units_event_text(s, u, slot->lost.value, NULL, 0, event,
					      sizeof(event)));
		return;
	case UNC_LOST_CLEARED:
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: somebody else has written to %s of %s while it was counting", name,
			 reg, unit);
		return;
	case UNC_LOST_START:
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: %s of %s holds 0x%" PRIx64 " right after 0x%" PRIx64
			 " was written: somebody else programs it at the same time, or it cannot "
			 "be set",
			 name, reg, unit, slot->lost.value, slot->start);
		return;
	case UNC_LOST_ONES:
		unc_fail(err, UNC_ERR_IO, "%s: %s of %s reads as all ones: nobody answers", name,
			 reg, unit);
		return;
	case UNC_LOST_WRAP:
		unc_fail(err, UNC_ERR_RANGE,
			 "%s: %s of %s was not read for %.0f s and may have wrapped meanwhile",
			 name, reg, unit, (double)slot->lost.value * 1e-9);
		return;
	default:
		changed_text(s, slot, unit, reg, err);
	}
}

void unc_units_lose_unit(struct unc_units *s, const struct unc_plan_unit *u, enum unc_loss_kind why,
			 uint16_t reg, uint64_t value)
{
	int i = s->wanted[u->instance - s->platform->instances.unit].head;

	for (; i != UNC_END; i = s->slot[i].next) {
		struct unc_slot *slot = &s->slot[i];
		bool programmed = slot->code.counter == UNC_NONE ||
				  s->platform->table->counter[slot->code.counter].ctl != UNC_NONE;

		if (programmed && unc_units_active(s, slot))
			unc_units_lose(s, slot, why, reg, value);
	}
}
