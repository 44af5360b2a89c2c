/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: what is found on the units of a pass, and the settings that it needs there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "decode.h"
#include "schedule.h"
#include "session.h"
#include "table.h"

static const struct unc_instance *instance_of(const struct unc_session *s, uint32_t i)
{
	return &s->platform->instances.unit[i];
}

bool unc_session_active(const struct unc_session *s, const struct unc_slot *slot)
{
	return slot->pass == s->now || s->always[slot->instance];
}

/*
 * Slots of an instance that count now (or, with `all`, in any pass), in the order they were added.
 * Of those that want the same, in several passes, the first stands for all.
 */
static size_t slots_of(const struct unc_session *s, uint32_t instance, bool all, uint32_t *out)
{
	size_t n = 0;

	/* The list has the newest first. */
	for (int i = s->head[instance]; i != UNC_END; i = s->slot[i].next) {
		size_t k = 0;

		if (!all && !unc_session_active(s, &s->slot[i]))
			continue;
		while (k < n && !unc_code_same(&s->slot[out[k]].code, &s->slot[i].code))
			k++;
		if (k == UNC_MAX_CODES)
			break;
		memmove(out + 1, out, (k < n ? k : n) * sizeof(*out));
		out[0] = (uint32_t)i;
		n += k == n;
	}
	return n;
}

void unc_session_unit_text(const struct unc_session *s, const struct unc_instance *u, char *buf,
			   size_t size)
{
	snprintf(buf, size, "%s%u (socket %u)",
		 unc_tbl_str(s->platform->table, s->platform->table->type[u->type].name), u->index,
		 u->socket);
}

/* ---- what is there */

enum { MAX_REGS = 96 }; /* of a unit type */

/* Registers of a unit as they are before we touch it. */
struct found {
	uint64_t ctl[32];         /* programmable controls */
	uint64_t other[MAX_REGS]; /* by register of the type: filters, fixed controls */
};

static bool wanted_filter(const struct unc_session *s, const uint32_t *slots, size_t n,
			  uint16_t reg)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < s->slot[slots[i]].code.n_filters; k++)
			if (s->slot[slots[i]].code.filter[k].reg == reg)
				return true;
	return false;
}

static bool look_at(const struct unc_session *s, const uint32_t *slots, size_t n, uint16_t reg)
{
	const struct unc_tbl_reg *row = &s->platform->table->reg[reg];

	return row->role == UNC_ROLE_CTL || row->role == UNC_ROLE_FIXED_CTL ||
	       (row->role == UNC_ROLE_UNIT_CTL && !(row->flags & UNC_REG_WO)) ||
	       wanted_filter(s, slots, n, reg);
}

/* Reads the controls of a unit and the filters that will be written. */
static int read_found(struct unc_session *s, uint32_t instance, const uint32_t *slots, size_t n,
		      struct found *found, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[instance_of(s, instance)->type];
	struct unc_plan plan = {0};
	int rc = 0;

	memset(found, 0, sizeof(*found));
	if (!s->platform->access)
		return 0;
	for (uint32_t i = 0; i < type->regs.n && rc == 0; i++) {
		uint16_t reg = (uint16_t)(type->regs.first + i);

		if (look_at(s, slots, n, reg))
			rc = unc_plan_add(t, &plan, instance_of(s, instance), reg, UNC_OP_READ, 0,
					  err);
	}
	if (rc == 0)
		rc = unc_session_run_plan(s, &plan, "looking at the controls", err);
	for (size_t i = 0; i < plan.n && rc == 0; i++) {
		const struct unc_tbl_reg *reg = &t->reg[plan.tag[i].reg];

		if (reg->role == UNC_ROLE_CTL)
			found->ctl[reg->number] = plan.op[i].value;
		else if (plan.tag[i].reg - type->regs.first < MAX_REGS)
			found->other[plan.tag[i].reg - type->regs.first] = plan.op[i].value;
	}
	unc_plan_free(&plan);
	return rc;
}

/* Counters that somebody else has programmed. */
static uint32_t busy_counters(const struct unc_tbl_type *type, const struct found *found)
{
	uint32_t busy = 0;

	for (unsigned i = type->first; i < type->first + type->n_counters; i++)
		if (found->ctl[i] & type->active)
			busy |= (uint32_t)1 << i;
	return busy;
}

/* ---- settings of one unit */

/* " = cha.TOR_INSERTS:IA", where the control is one of our events; "" where not. */
const char *unc_session_event_text(const struct unc_session *s, const struct unc_instance *u,
				   uint64_t ctl, char *buf, size_t size)
{
	struct unc_spec spec;

	snprintf(buf, size, " = ");
	if (unc_code_decode(s->platform->table, u->type, ctl, NULL, 0, &spec, NULL) < 0 ||
	    unc_spec_format(s->platform->table, &spec, buf + 3, size - 3) < 0)
		buf[0] = '\0';
	return buf;
}

static int fail_busy(struct unc_session *s, const struct unc_instance *u,
		     const struct unc_slot *slot, const struct found *found, struct unc_error *err)
{
	const struct unc_tbl_type *type = &s->platform->table->type[u->type];
	char unit[64], event[UNC_SPEC_MAX];

	unc_session_unit_text(s, u, unit, sizeof(unit));
	for (unsigned i = type->first; i < type->first + type->n_counters; i++) {
		bool own = unc_claimed(s->platform, u, unc_type_ctl(type, i));

		if ((slot->code.counters >> i & 1) && (found->ctl[i] & type->active))
			return unc_fail(err, UNC_ERR_BUSY,
					"%s: counter %u of %s is programmed by %s "
					"(control 0x%llx%s) and no other counter is free for it",
					s->measure[slot->name].name, i, unit,
					own ? "another session of this program" : "somebody else",
					(unsigned long long)found->ctl[i],
					unc_session_event_text(s, u, found->ctl[i], event, sizeof(event)));
	}
	return unc_fail(err, UNC_ERR_BUSY, "%s: no counter of %s is free",
			s->measure[slot->name].name, unit);
}

static int put_setting(struct unc_setting *list, size_t *n, uint16_t reg, uint64_t value,
		       uint64_t found, struct unc_error *err)
{
	if (*n == UNC_PLAN_SETTINGS)
		return unc_fail(err, UNC_ERR_CONFLICT, "too many settings for one unit");
	list[*n] = (struct unc_setting){.reg = reg,
					.value = value,
					.mask = UINT64_MAX,
					.shown = value,
					.found = found,
					.restore = found};
	++*n;
	return 0;
}

/* Whether the bits of a filter may be set: not if somebody else relies on what is there. A session
 * of ours that does has claimed the register; of a stranger we do not know. */
static bool may_set(const struct unc_session *s, const struct unc_plan_unit *u,
		    const struct unc_code_filter *f, uint64_t was)
{
	return !u->shared || !((was ^ f->value) & f->mask) ||
	       !(u->stranger || unc_claimed(s->platform, u->instance, f->reg));
}

static int fail_filter(const struct unc_session *s, const struct unc_plan_unit *u,
		       const struct unc_slot *slot, uint16_t reg, uint64_t was,
		       struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const char *name = s->measure[slot->name].name, *filter = unc_tbl_str(t, t->reg[reg].name);
	char unit[64];

	unc_session_unit_text(s, u->instance, unit, sizeof(unit));
	if (was & t->reg[reg].busy)
		return unc_fail(err, UNC_ERR_BUSY, "%s: %s of %s is in use by somebody else (0x%llx)",
				name, filter, unit, (unsigned long long)was);
	return unc_fail(err, UNC_ERR_BUSY,
			"%s: %s of %s is set to 0x%llx by somebody else who counts there", name,
			filter, unit, (unsigned long long)was);
}

/* Joins the filters of all events; the scheduler has seen that they agree. */
static int set_filters(struct unc_session *s, struct unc_plan_unit *u, const struct unc_slot *slot,
		       const struct found *found, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];

	for (unsigned i = 0; i < slot->code.n_filters; i++) {
		const struct unc_code_filter *f = &slot->code.filter[i];
		uint64_t was = found->other[(f->reg - type->regs.first) % MAX_REGS];
		size_t k = 0;
		int rc;

		if ((was & t->reg[f->reg].busy) || !may_set(s, u, f, was))
			return fail_filter(s, u, slot, f->reg, was, err);
		while (k < u->n_filters && u->filter[k].reg != f->reg)
			k++;
		if (k == u->n_filters) {
			rc = put_setting(u->filter, &u->n_filters, f->reg,
					 u->shared ? was & t->reg[f->reg].write_mask
						   : t->reg[f->reg].base,
					 was, err);
			if (rc < 0)
				return rc;
			u->filter[k].mask = 0;
		}
		u->filter[k].value = (u->filter[k].value & ~f->mask) | f->value;
		u->filter[k].mask |= f->mask;
		u->filter[k].shown = u->filter[k].value;
	}
	return 0;
}

/*
 * The control without what is done once: the queue that somebody counts by the same event is not
 * emptied under him; he has done it.
 */
static uint64_t control_value(const struct unc_session *s, const struct unc_plan_unit *u,
			      uint64_t ctl, const struct found *found)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];
	const struct unc_tbl_field *code = &t->field[type->f_event];
	uint64_t code_bits = unc_ones(code->width[0]) << code->lo[0];
	bool counted = false;

	for (unsigned i = type->first; i < type->first + type->n_counters; i++)
		counted |= (found->ctl[i] & type->active) && !((found->ctl[i] ^ ctl) & code_bits);
	for (uint32_t i = 0; counted && i < type->fields.n; i++) {
		const struct unc_tbl_field *f = &t->field[type->fields.first + i];

		if (f->flags & UNC_FIELD_ONCE)
			ctl &= ~(unc_ones(f->width[0]) << f->lo[0]);
	}
	return ctl;
}

/*
 * A counter begins in the middle of its range, as far as possible from both ends: whoever clears it
 * makes it go back. One that somebody else counts with is left as it is.
 */
static void set_counter(const struct unc_session *s, struct unc_plan_unit *u,
			const struct unc_slot *slot, bool running)
{
	const struct unc_table *t = s->platform->table;
	uint64_t half = (uint64_t)1 << (unc_slot_width(t, slot) - 1);
	bool writable = (t->reg[slot->ctr].write_mask & half) != 0;

	if (u->n_counters < UNC_PLAN_SETTINGS)
		u->counter[u->n_counters++] = (struct unc_plan_counter){
			.reg = slot->ctr, .half = writable && !running ? half : 0};
}

static int set_slot(struct unc_session *s, struct unc_plan_unit *u, struct unc_slot *slot,
		    unsigned counter, const struct found *found, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];
	bool running = false;
	uint16_t control;
	int rc = 0;

	slot->ctr = unc_slot_register(t, slot, counter);
	slot->mask = unc_ones(unc_slot_width(t, slot));
	slot->begin = true;
	control = unc_session_control(s, slot);
	if (slot->code.counter == UNC_NONE) {
		rc = put_setting(u->control, &u->n_controls, control,
				 control_value(s, u, slot->code.ctl, found), found->ctl[counter],
				 err);
	} else if (control != UNC_NONE) {
		uint64_t was = found->other[(control - type->regs.first) % MAX_REGS];

		running = (was & t->counter[slot->code.counter].enable) != 0;
		rc = put_setting(u->control, &u->n_controls, control,
				 t->counter[slot->code.counter].enable, was, err);
	}
	set_counter(s, u, slot, running);
	return rc < 0 ? rc : set_filters(s, u, slot, found, err);
}

/* Whether the session has the register for itself. */
static bool ours(const struct unc_plan_unit *u, uint16_t reg)
{
	for (size_t i = 0; i < u->n_controls; i++)
		if (u->control[i].reg == reg)
			return !u->control[i].keep;
	return false;
}

/* Looks for others who count on the unit: their programmable counters are `busy`. */
static void find_others(const struct unc_session *s, struct unc_plan_unit *u, uint32_t busy,
			const struct found *found)
{
	const struct unc_platform *p = s->platform;
	const struct unc_tbl_type *type = &p->table->type[u->instance->type];

	u->shared = busy != 0;
	u->stranger = false;
	for (unsigned i = type->first; i < type->first + type->n_counters; i++)
		if (busy >> i & 1)
			u->stranger |= !unc_claimed(p, u->instance, unc_type_ctl(type, i));
	for (uint32_t i = 0; i < type->counters.n; i++) {
		const struct unc_tbl_counter *c = &p->table->counter[type->counters.first + i];

		if (c->ctl == UNC_NONE || ours(u, c->ctl) ||
		    !(found->other[(c->ctl - type->regs.first) % MAX_REGS] & c->enable))
			continue;
		u->shared = true;
		u->stranger |= !unc_claimed(p, u->instance, c->ctl);
	}
}

/* Whether an event is on the lead of a lane of its own. */
static bool is_lead(const struct unc_table *t, const struct unc_tbl_type *type,
		    const struct unc_code *code, unsigned counter)
{
	for (uint32_t i = 0; i < type->lanes.n && code->lane; i++) {
		const struct unc_tbl_lane *lane = &t->lane[type->lanes.first + i];

		if (lane->lead == counter && lane->name == t->lane[code->lane - 1].name)
			return true;
	}
	return false;
}

/* ---- a clock, to tell whether the unit counts at all */

/* A fixed counter is ours and runs, or may for a moment. What its control holds is looked at before. */
static void fixed_clock(const struct unc_table *t, const struct unc_tbl_event *event,
			struct unc_plan_unit *u)
{
	const struct unc_tbl_counter *c = &t->counter[event->counter];
	bool ours = false;

	for (size_t i = 0; i < u->n_controls; i++)
		ours |= u->control[i].reg == c->ctl;
	u->clock = (struct unc_plan_clock){.ctr = c->ctr,
					   .ctl = ours ? UNC_NONE : c->ctl,
					   .value = c->enable};
}

/* Whether somebody else has programmed the control meanwhile. *shown: what it holds. */
static bool taken(const struct unc_plan_unit *u, uint16_t reg, uint64_t *shown)
{
	for (size_t i = 0; i < u->n_controls; i++)
		if (u->control[i].reg == reg) {
			*shown = u->control[i].shown;
			return u->control[i].keep;
		}
	return true;
}

/* One of the session's own counters is lent to the clock. */
static void own_clock(const struct unc_session *s, struct unc_plan_unit *u,
		      const struct unc_tbl_event *event, uint32_t *slots, size_t n)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];
	struct unc_spec spec = {.type = event->type,
				.event = (uint16_t)(event - t->event),
				.index = -1,
				.socket = -1};
	struct unc_code code;
	uint64_t shown;

	if (unc_spec_encode(t, &spec, 0, 1, &code, NULL) < 0)
		return;
	for (size_t i = 0; i < n && u->clock.ctr == UNC_NONE; i++) {
		const struct unc_slot *slot = &s->slot[slots[i]];
		unsigned counter = t->reg[slot->ctr].number;

		/* A counter that leads others is not lent: what they count would change. */
		if (slot->code.counter != UNC_NONE || slot->code.lane ||
		    !(code.counters >> counter & 1) ||
		    ((slot->code.ctl ^ code.ctl) & type->exclusive) ||
		    taken(u, unc_type_ctl(type, counter), &shown))
			continue;
		u->clock = (struct unc_plan_clock){.ctr = slot->ctr,
						   .own = true,
						   .ctl = unc_type_ctl(type, counter),
						   .value = code.ctl};
		u->clock.back = shown & t->reg[u->clock.ctl].write_mask;
	}
}

/* The first clock of the table that can be had. */
static void find_clock(const struct unc_session *s, struct unc_plan_unit *u, uint32_t *slots, size_t n)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];

	u->clock.ctr = UNC_NONE;
	for (uint32_t i = 0; i < type->events.n && u->clock.ctr == UNC_NONE; i++) {
		const struct unc_tbl_event *event = &t->event[type->events.first + i];

		if (event->clock && event->counter != UNC_NONE)
			fixed_clock(t, event, u);
		else if (event->clock)
			own_clock(s, u, event, slots, n);
	}
}

void unc_session_renew_clock(const struct unc_session *s, struct unc_plan_unit *u)
{
	uint32_t slots[UNC_MAX_CODES];
	size_t n = slots_of(s, (uint32_t)(u->instance - s->platform->instances.unit), false, slots);
	uint64_t shown;

	if (u->clock.ctr != UNC_NONE && u->clock.own && taken(u, u->clock.ctl, &shown))
		find_clock(s, u, slots, n);
}

/* ---- one unit */

/* Gives the slots of a unit their counters. UNC_ERR_CONFLICT: they do not fit beside those busy. */
static int schedule(const struct unc_session *s, const uint32_t *slots, size_t n, uint32_t busy,
		    uint8_t *counter, struct unc_conflict *conflict)
{
	const struct unc_code *code[UNC_MAX_CODES];

	for (size_t i = 0; i < n; i++)
		code[i] = &s->slot[slots[i]].code;
	return unc_schedule(s->platform->table, code, n, busy, counter, conflict);
}

/* Whether all that the session ever counts on the unit fits at once. */
static bool fits_always(const struct unc_session *s, uint32_t instance, uint32_t busy)
{
	uint32_t slots[UNC_MAX_CODES];
	uint8_t counter[UNC_MAX_CODES];
	struct unc_conflict conflict;
	size_t n = slots_of(s, instance, true, slots);

	return n < UNC_MAX_CODES && schedule(s, slots, n, busy, counter, &conflict) == 0;
}

/* Those that want the same as an earlier slot have its counter. */
static void join_twins(struct unc_session *s, uint32_t instance)
{
	for (int i = s->head[instance]; i != UNC_END; i = s->slot[i].next) {
		struct unc_slot *slot = &s->slot[i];
		int first = i;

		for (int k = slot->next; k != UNC_END && unc_session_active(s, slot);
		     k = s->slot[k].next)
			if (unc_session_active(s, &s->slot[k]) &&
			    unc_code_same(&slot->code, &s->slot[k].code))
				first = k;
		slot->ctr = s->slot[first].ctr;
		slot->mask = s->slot[first].mask;
		slot->begin |= first != i;
	}
}

static int set_unit(struct unc_session *s, struct unc_plan_unit *u, uint32_t *slots, size_t n,
		    const uint8_t *counter, const struct found *found, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];
	int rc = 0;

	/* Who leads a lane is set first, and put back last. */
	for (int leads = 1; leads >= 0; leads--)
		for (size_t i = 0; i < n && rc == 0; i++)
			if (is_lead(t, type, &s->slot[slots[i]].code, counter[i]) == leads)
				rc = set_slot(s, u, &s->slot[slots[i]], counter[i], found, err);
	find_clock(s, u, slots, n);
	return rc;
}

static int prepare_unit(struct unc_session *s, uint32_t instance, bool begin,
			struct unc_plan_unit *u, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[instance_of(s, instance)->type];
	uint32_t slots[UNC_MAX_CODES];
	uint8_t counter[UNC_MAX_CODES];
	struct unc_conflict conflict;
	struct found found;
	size_t n = slots_of(s, instance, begin, slots);
	int rc = read_found(s, instance, slots, n, &found, err);

	if (rc < 0)
		return rc;
	*u = (struct unc_plan_unit){.instance = instance_of(s, instance)};
	if (type->unit_ctl != UNC_NONE)
		u->unit_ctl = found.other[(type->unit_ctl - type->regs.first) % MAX_REGS];
	uint32_t busy = busy_counters(type, &found);
	find_others(s, u, busy, &found);
	if (begin)
		s->always[instance] = s->n_passes > 1 && fits_always(s, instance, busy);
	n = slots_of(s, instance, false, slots);
	if (n == 0) /* its turn is in another pass */
		return 0;
	if (schedule(s, slots, n, busy, counter, &conflict) < 0)
		return fail_busy(s, u->instance, &s->slot[slots[conflict.b]], &found, err);
	rc = set_unit(s, u, slots, n, counter, &found, err);
	join_twins(s, instance);
	return rc;
}

/* Units that go on when the pass changes come first. */
static void sort_always(struct unc_session *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_units; i++) {
		if (!s->always[s->unit[i].instance - s->platform->instances.unit])
			continue;
		struct unc_plan_unit swap = s->unit[n];

		s->unit[n++] = s->unit[i];
		s->unit[i] = swap;
	}
}

int unc_session_prepare(struct unc_session *s, bool begin, struct unc_error *err)
{
	size_t n_instances = s->platform->instances.n;

	if (begin) {
		free(s->unit);
		s->n_units = 0;
		s->unit = calloc(n_instances + 1, sizeof(*s->unit));
		if (!s->unit)
			return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
		memset(s->always, 0, n_instances * sizeof(*s->always));
		memset(s->proof, 0, n_instances * sizeof(*s->proof));
	}
	for (uint32_t i = 0; i < n_instances; i++) {
		if (s->head[i] == UNC_END || (!begin && s->always[i])) /* that one goes on */
			continue;
		int rc = prepare_unit(s, i, begin, &s->unit[s->n_units], err);
		if (rc < 0)
			return rc;
		s->n_units += s->unit[s->n_units].n_counters != 0;
	}
	if (begin)
		sort_always(s);
	return 0;
}

/* Whether stopping does more where nobody else counts. */
static bool stop_differs(const struct unc_table *t, const struct unc_tbl_type *type)
{
	for (uint32_t i = 0; i < type->steps_stop.n; i++)
		if (t->step[type->steps_stop.first + i].kind == UNC_STEP_FOUND)
			return true;
	return false;
}

/* Somebody may have come to a unit that was ours alone: then what is theirs too is not put back. */
int unc_session_neighbours(struct unc_session *s, size_t first, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;

	for (size_t i = first; i < s->n_units; i++) {
		struct unc_plan_unit *u = &s->unit[i];
		const struct unc_tbl_type *type = &t->type[u->instance->type];
		struct found found;

		if (!stop_differs(t, type))
			continue;
		int rc = read_found(s, (uint32_t)(u->instance - s->platform->instances.unit), NULL,
				    0, &found, err);

		if (rc < 0)
			return rc;
		uint32_t busy = busy_counters(type, &found);
		for (size_t k = 0; k < u->n_controls; k++)
			if (t->reg[u->control[k].reg].role == UNC_ROLE_CTL)
				busy &= ~((uint32_t)1 << t->reg[u->control[k].reg].number);
		find_others(s, u, busy, &found);
	}
	return 0;
}
