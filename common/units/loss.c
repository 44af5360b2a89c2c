/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: slots that mean nothing any more, and why. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/cpu.h"
#include "units/inside.h"

void unc_units_lose(struct unc_units *s, struct unc_slot *slot, const struct unc_loss *loss)
{
	s->flawed = true;
	if (slot->lost.why == UNC_LOST_NOT)
		slot->lost = *loss;
}

void unc_units_unread(struct unc_units *s, struct unc_slot *slot, uint16_t reg,
		      const struct unc_reg_op *op)
{
	int gone = s->wanted[slot->instance].by->gone;

	if (gone && op->errno_value == gone)
		unc_units_lose(s, slot, &(struct unc_loss){UNC_LOST_UNREAD, reg, (uint64_t)gone});
	s->flawed = true;
	slot->unread = (int16_t)unc_op_errno(op);
	slot->unread_reg = reg;
}

void unc_slot_idle(const struct unc_units *s, const struct unc_slot *slot, struct unc_error *err)
{
	char unit[64];

	unc_unit_text(s, &s->platform->instances.unit[slot->instance], unit, sizeof(unit));
	unc_fail(err, UNC_ERR_BUSY,
		 "%s: not measured: others of the kernel's users had the counters of %s all the "
		 "time",
		 slot->name, unit);
}

void unc_slot_late(const struct unc_units *s, const struct unc_slot *slot, struct unc_error *err)
{
	char unit[64];

	unc_unit_text(s, &s->platform->instances.unit[slot->instance], unit, sizeof(unit));
	unc_fail(err, UNC_ERR_IO, "%s of %s could not be read where the interval began",
		 s->wanted[slot->instance].by->subject(s, slot), unit);
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
			unc_unit_event_text(s, u, value, NULL, 0, event, sizeof(event)));
	else if (slot->lost.why == UNC_LOST_KIND)
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: somebody else has programmed %s of %s with an event of another kind "
			 "(0x%" PRIx64 "%s), and the unit counts one kind at a time",
			 name, reg, unit, value,
			 unc_unit_event_text(s, u, value, NULL, 0, event, sizeof(event)));
	else
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: somebody else has changed %s of %s while it was counting: it holds "
			 "0x%" PRIx64,
			 name, reg, unit, value);
}

void unc_slot_loss(const struct unc_units *s, const struct unc_slot *slot, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const char *name = slot->name;
	const char *reg =
		slot->lost.reg < t->n_reg ? unc_tbl_str(t, t->reg[slot->lost.reg].name) : "";
	const struct unc_instance *u = &s->platform->instances.unit[slot->instance];
	char unit[64];
	bool lost = slot->lost.why == UNC_LOST_UNREAD;

	if (lost || slot->lost.why == UNC_LOST_NOT) {
		s->wanted[slot->instance].by->fail_unread(
			s, slot, lost ? slot->lost.reg : slot->unread_reg,
			lost ? (int)slot->lost.value : slot->unread, err);
		return;
	}
	unc_unit_text(s, u, unit, sizeof(unit));
	switch (slot->lost.why) {
	case UNC_LOST_FROZEN:
		unc_fail(err, UNC_ERR_BUSY,
			 "%s: %s does not count: it is frozen, by a program that was killed or one "
			 "that froze the socket (LIKWID, PCM, an old kernel's perf), or nothing "
			 "drives its "
			 "clock",
			 name, unit);
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

void unc_slot_unproven(const struct unc_units *s, const struct unc_slot *slot,
		       struct unc_error *err)
{
	char unit[64];

	unc_unit_text(s, &s->platform->instances.unit[slot->instance], unit, sizeof(unit));
	unc_fail(err, UNC_ERR_BUSY,
		 "no counter of %s has moved for a while, and none is free for a clock: "
		 "nothing shows whether somebody has frozen it",
		 unit);
}

/* Whether a slot counts by a control, and not always. */
static bool is_programmed(const struct unc_units *s, const struct unc_slot *slot)
{
	return slot->code.counter == UNC_NONE ||
	       s->platform->table->counter[slot->code.counter].ctl != UNC_NONE;
}

void unc_units_lose_unit(struct unc_units *s, uint32_t instance, enum unc_extent extent,
			 const struct unc_loss *loss)
{
	for (int i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next)
		if (is_programmed(s, &s->slot[i]) &&
		    (extent == UNC_ALL || unc_units_active(s, &s->slot[i])))
			unc_units_lose(s, &s->slot[i], loss);
}

void unc_units_unread_unit(struct unc_units *s, uint32_t instance, uint16_t reg,
			   const struct unc_reg_op *op)
{
	for (int i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next)
		if (is_programmed(s, &s->slot[i]) && unc_units_active(s, &s->slot[i]) &&
		    !s->slot[i].unread)
			unc_units_unread(s, &s->slot[i], reg, op);
}

void unc_units_lose_frozen(struct unc_units *s, uint32_t instance, enum unc_extent extent)
{
	unc_units_lose_unit(s, instance, extent, &(struct unc_loss){.why = UNC_LOST_FROZEN});
}
