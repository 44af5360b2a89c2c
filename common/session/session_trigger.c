/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: the counters that end intervals, what their units say of overflows. */
#include <stdlib.h>
#include <string.h>

#include "session/sample.h"
#include "tables/table.h"

/* ---- what a unit type says of overflows */

static const struct unc_tbl_type *type_of(const struct unc_session *s, const struct unc_trigger *t)
{
	return &s->platform->table->type[t->instance->type];
}

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
	int by_table = unc_type_global(type_of(s, t), t->instance->index);

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
	const struct unc_tbl_overflow *o = &type_of(s, t)->overflow;
	const struct unc_tbl_counter *fixed = fixed_of(s, &s->units.slot[t->slot]);

	if (o->status == UNC_NONE)
		return 0;
	if (fixed)
		return fixed->status_bit ? (uint64_t)1 << (fixed->status_bit - 1) : 0;
	return (uint64_t)1 << (o->bit + counter);
}

/* Frozen counters stand still for a part of each interval, and nothing tells how long: what is
 * counted a second, or compared with the time, would be too small. */
static int check_times(const struct unc_session *s, struct unc_error *err)
{
	for (size_t i = 0; i < s->n_items; i++) {
		const struct unc_session_item *item = &s->item[i];

		if (item->expr && unc_expr_uses(item->expr) & (UNC_EXPR_TIME | UNC_EXPR_TSC))
			return unc_fail(err, UNC_ERR_INVALID,
					"%s is about time, and frozen counters stand still for a "
					"part of it: ask for counts, or sample without a freeze",
					item->what->metric->name);
	}
	return 0;
}

int unc_sample_check(const struct unc_session *s, struct unc_error *err)
{
	if (s->flags & UNC_SESSION_FREEZE) {
		int rc = check_times(s, err);

		if (rc < 0)
			return rc;
	}
	if (s->n_passes > 1)
		return unc_fail(
			err, UNC_ERR_INVALID,
			"the set needs %u passes: an event can end intervals only if all is "
			"counted at once",
			s->n_passes);
	return 0;
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

/* ---- starting and ending */

static int add_trigger(struct unc_session *s, uint32_t slot, struct unc_trigger *t)
{
	const struct unc_table *table = s->platform->table;
	unsigned width = unc_slot_width(table, &s->units.slot[slot]);
	unsigned counter = table->reg[s->units.slot[slot].ctr].number;

	*t = (struct unc_trigger){
		.slot = slot,
		.instance = &s->platform->instances.unit[s->units.slot[slot].instance],
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
			s->units.slot[slot].name, unc_tbl_str(table, type_of(s, t)->name),
			t->instance->socket);
	return 0;
}

/* The bits of the control that make the carry freeze. */
static uint64_t freeze_bits(const struct unc_session *s, const struct unc_trigger *t)
{
	const struct unc_tbl_counter *fixed = fixed_of(s, &s->units.slot[t->slot]);

	return fixed ? fixed->freeze : type_of(s, t)->overflow.set;
}

/* Whether the hardware may freeze at the carry of a trigger: 1 or 0; or an error. looked: sockets where `others` is
 * known. */
static int may_freeze(struct unc_session *s, const struct unc_trigger *t, bool *looked,
		      bool *others, struct unc_error *err)
{
	unsigned socket = t->instance->socket;
	uint8_t freezes = type_of(s, t)->overflow.freezes;

	if (!freeze_bits(s, t) || freezes == UNC_FREEZES_NOTHING ||
	    unc_units_company(&s->units, t->instance) != UNC_ALONE)
		return 0;
	if (freezes != UNC_FREEZES_SOCKET)
		return 1;
	if (!(s->flags & UNC_SESSION_FREEZE) || !t->ubox)
		return 0;
	if (!looked[socket]) {
		int rc = unc_units_others(&s->units, socket, err);

		if (rc < 0)
			return rc;
		others[socket] = rc;
		looked[socket] = true;
		if (others[socket])
			unc_platform_log(
				s->platform, UNC_LOG_WARNING,
				"socket %u is not frozen at overflows: somebody else counts "
				"there",
				socket);
	}
	return !others[socket];
}

/* Whether the hardware freezes becomes a setting of the units. */
static int settle_freezing(struct unc_session *s, struct unc_error *err)
{
	struct unc_sample *sample = s->sample;
	bool others[UNC_MAX_SOCKETS] = {false}, looked[UNC_MAX_SOCKETS] = {false};

	for (size_t i = 0; i < sample->n; i++) {
		struct unc_trigger *t = &sample->trigger[i];
		int rc = may_freeze(s, t, looked, others, err);

		t->freezes = rc > 0;
		if (t->freezes)
			rc = check_times(s, err);
		if (rc < 0)
			return rc;
		if (t->freezes)
			unc_units_add_bits(&s->units, &s->units.slot[t->slot], freeze_bits(s, t));
	}
	return 0;
}

int unc_sample_prepare(void *session, struct unc_error *err)
{
	struct unc_session *s = session;
	int rc = unc_sample_check(s, err);

	if (rc < 0)
		return rc;
	const struct unc_measure *m = &s->measure[s->item[s->sampled].measure[0]];
	struct unc_sample *sample = calloc(1, sizeof(*sample));

	if (!sample || !(sample->trigger = calloc(m->n_slots + 1, sizeof(*sample->trigger)))) {
		free(sample);
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	}
	s->sample = sample;
	for (uint32_t i = 0; i < m->n_slots && rc == 0; i++, sample->n++)
		rc = add_trigger(s, m->slot[i], &sample->trigger[i]);
	if (rc == 0)
		rc = settle_freezing(s, err);
	if (rc < 0)
		unc_sample_end(s);
	return rc;
}

/* One read of a register for all triggers that need it. */
static int add_look(struct unc_session *s, const struct unc_instance *u, uint16_t reg, size_t *op,
		    struct unc_error *err)
{
	struct unc_plan *look = &s->sample->look;

	for (size_t i = 0; i < look->n; i++)
		if (look->tag[i].instance == u && look->tag[i].reg == reg) {
			*op = i;
			return 0;
		}
	*op = look->n;
	return unc_plan_add(s->platform->table, look, u, reg, UNC_OP_READ, 0, err);
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
	const struct unc_tbl_overflow *o = &type_of(s, t)->overflow;
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

int unc_sample_begin(void *session, struct unc_error *err)
{
	struct unc_session *s = session;
	struct unc_sample *sample = s->sample;
	struct unc_plan clear = {0};
	uint64_t bit;
	int rc = 0;

	for (size_t i = 0; i < sample->n && rc == 0; i++) {
		struct unc_trigger *t = &sample->trigger[i];

		/* Where the unit has a status, the socket's notes only carries that freeze. */
		if (t->global >= 0 && (t->freezes || !(t->bit || freeze_bits(s, t))))
			rc = add_look(s, t->ubox, unc_trigger_global(s, t, &bit), &t->global_op,
				      err);
		if (rc == 0 && t->bit)
			rc = add_look(s, t->instance, type_of(s, t)->overflow.status, &t->status_op,
				      err);
		/* A status that is kept with the freeze was cleared when counting began. */
		if (rc == 0 && type_of(s, t)->overflow.clear != type_of(s, t)->unit_ctl)
			rc = unc_trigger_clear(s, t, &clear, err);
		if (rc == 0 && t->freezes && type_of(s, t)->overflow.freezes == UNC_FREEZES_SOCKET)
			rc = unc_units_note_socket(&s->units, t->ubox, err);
	}
	if (rc == 0 && sample->look.n)
		rc = unc_access_prepare(s->platform->access, sample->look.op, sample->look.n, err);
	return unc_units_run_once(&s->units, &clear, rc, "clearing the overflow status", err);
}

void unc_sample_end(void *session)
{
	struct unc_session *s = session;
	struct unc_sample *sample = s->sample;

	if (!sample)
		return;
	for (size_t i = 0; i < sample->n; i++) {
		const struct unc_trigger *t = &sample->trigger[i];

		if (t->freezes && type_of(s, t)->overflow.freezes == UNC_FREEZES_SOCKET)
			unc_units_drop_socket(&s->units, t->ubox);
	}
	unc_plan_free(&sample->look);
	free(sample->trigger);
	free(sample);
	s->sample = NULL;
}

bool unc_sample_freezes(const void *session, const struct unc_instance *u, uint64_t control)
{
	const struct unc_session *s = session;

	for (size_t i = 0; i < s->sample->n; i++) {
		const struct unc_trigger *t = &s->sample->trigger[i];
		const struct unc_tbl_type *type = type_of(s, t);

		if (!t->freezes || (u && t->instance != u))
			continue;
		if (!u || (type->overflow.freezes == UNC_FREEZES_UNIT &&
			   (type->overflow.status != type->unit_ctl || control & t->bit)))
			return true;
	}
	return false;
}
