/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: the counters that end intervals, and what their units say of overflows. */

#include "session/sample.h"
#include "tables/table.h"

/* ---- what a unit type says of overflows */

/* The row of the slot's counter; NULL if it is programmable. */
static const struct unc_tbl_counter *fixed_of(const struct unc_session *s,
					      const struct unc_slot *slot)
{
	uint16_t counter = slot->code.counter;

	return counter == UNC_NONE ? NULL : &s->platform->table->counter[counter];
}

static void find_global(const struct unc_session *s, struct unc_trigger *t)
{
	const struct unc_table *table = s->platform->table;
	const struct unc_tbl_counter *fixed = fixed_of(s, &s->units.slot[t->slot]);
	int by_table = unc_type_global(t->type, t->instance->index);

	t->ubox = unc_units_ubox(&s->units, t->instance->socket);
	t->global = fixed && fixed->global_bit ? fixed->global_bit - 1
		    : by_table >= 0            ? by_table
					       : t->instance->status_position;
	if (!t->ubox || t->global < 0)
		t->global = -1;
	else if ((unsigned)t->global /
			 table->reg[table->type[t->ubox->type].global_status[0]].width >=
		 table->type[t->ubox->type].n_global)
		t->global = -1;
}

/* Which bit of the unit's status the counter has; 0 if there is none. */
static uint64_t status_bit(const struct unc_session *s, const struct unc_trigger *t,
			   unsigned counter)
{
	const struct unc_tbl_overflow *o = &t->type->overflow;
	const struct unc_tbl_counter *fixed = fixed_of(s, &s->units.slot[t->slot]);

	if (o->status == UNC_NONE)
		return 0;
	if (fixed)
		return fixed->status_bit ? (uint64_t)1 << (fixed->status_bit - 1) : 0;
	return (uint64_t)1 << (o->bit + counter);
}

/* Whether a counter of the type can be sampled at all, for a sentence before anything runs. */
int unc_trigger_check(struct unc_session *s, const struct unc_slot *slot)
{
	const struct unc_table *table = s->platform->table;
	const struct unc_tbl_type *type = &table->type[unc_type_pool(table, slot->code.type)];
	const struct unc_tbl_counter *fixed = fixed_of(s, slot);
	const char *name = slot->name;
	struct unc_error why = {0};

	if (s->platform->access &&
	    !(unc_platform_methods(s->platform, slot->instance, &slot->code, NULL, &why) &
	      UNC_BY_REGISTERS))
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"%s cannot end intervals, which needs the registers of its units: "
				"%s",
				name, why.text);
	if (fixed && (fixed->ctl == UNC_NONE || !table->reg[fixed->ctr].write_mask))
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"%s: its counter always runs and cannot be set to carry soon",
				name);
	if (!type->overflow.known || (fixed && !fixed->status_bit && !fixed->global_bit))
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"%s: %s %s%s has no overflow status: nothing tells that a counter "
				"has carried, so it cannot end intervals",
				name, unc_tbl_str(table, table->title),
				fixed ? "the fixed counter of " : "",
				unc_tbl_str(table, type->name));
	return 0;
}

/* ---- one counter */

int unc_trigger_find(struct unc_session *s, uint32_t slot, struct unc_trigger *t)
{
	const struct unc_table *table = s->platform->table;
	const struct unc_instance *u = &s->platform->instances.unit[s->units.slot[slot].instance];
	const struct unc_tbl_counter *fixed = fixed_of(s, &s->units.slot[slot]);
	unsigned width = unc_slot_width(table, &s->units.slot[slot]);
	unsigned counter = table->reg[s->units.slot[slot].ctr].number;

	*t = (struct unc_trigger){
		.slot = slot,
		.instance = u,
		.type = &table->type[u->type],
		.freeze = fixed ? fixed->freeze : table->type[u->type].overflow.set,
		.preload = (0 - s->every) & unc_ones(width),
		.global_op = SIZE_MAX,
		.status_op = SIZE_MAX,
	};
	find_global(s, t);
	t->bit = status_bit(s, t, counter);
	if (t->global < 0 && !t->bit)
		return unc_fail(
			&s->error, UNC_ERR_UNAVAILABLE,
			"%s: nothing tells that a counter of %s on socket %u has carried: the "
			"machine's discovery table does not say where",
			s->units.slot[slot].name, unc_tbl_str(table, t->type->name),
			t->instance->socket);
	return 0;
}

/* Which register of the socket's status, and the bit there. */
uint16_t unc_trigger_global(const struct unc_session *s, const struct unc_trigger *t, uint64_t *bit)
{
	const struct unc_table *table = s->platform->table;
	const struct unc_tbl_type *type = &table->type[t->ubox->type];
	unsigned width = table->reg[type->global_status[0]].width;

	*bit = (uint64_t)1 << ((unsigned)t->global % width);
	return type->global_status[(unsigned)t->global / width];
}

/* What clears the unit's status: ones where it is W1C or a register of its own, else 0 for all. */
int unc_trigger_clear(struct unc_session *s, const struct unc_trigger *t, struct unc_plan *plan,
		      struct unc_error *err)
{
	const struct unc_table *table = s->platform->table;
	const struct unc_tbl_overflow *o = &t->type->overflow;
	uint64_t bit;
	int rc = 0;

	if (t->bit && o->clear != UNC_NONE) {
		bool ones = o->clear != o->status || (table->reg[o->clear].flags & UNC_REG_W1C);

		rc = unc_plan_add(table, plan, t->instance, o->clear, UNC_OP_WRITE,
				  ones ? t->bit : 0, err);
	}
	if (rc == 0 && t->global >= 0) {
		uint16_t reg = unc_trigger_global(s, t, &bit);

		rc = unc_plan_add(table, plan, t->ubox, reg, UNC_OP_WRITE, bit, err);
	}
	return rc;
}
