/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: programming the counters of a pass, and putting back what was found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "decode.h"
#include "schedule.h"
#include "session.h"
#include "table_build.h"

/* ---- slots and registers */

uint16_t unc_slot_register(const struct unc_table *t, const struct unc_slot *slot, unsigned counter)
{
	if (slot->code.counter != UNC_NONE)
		return t->counter[slot->code.counter].ctr;
	return unc_type_ctr(&t->type[slot->code.type], counter);
}

unsigned unc_slot_width(const struct unc_table *t, const struct unc_slot *slot)
{
	if (slot->code.counter != UNC_NONE)
		return t->counter[slot->code.counter].width;
	return t->type[slot->code.type].width;
}

static const struct unc_instance *instance_of(const struct unc_session *s, uint32_t i)
{
	return &s->platform->instances.unit[i];
}

/* Slots of an instance in the running pass, in the order they were added. */
static size_t slots_of(const struct unc_session *s, uint32_t instance, uint32_t *out)
{
	size_t n = 0;

	for (int i = s->head[instance]; i != UNC_END; i = s->slot[i].next)
		if (s->slot[i].pass == s->now && n < UNC_MAX_CODES)
			out[n++] = (uint32_t)i;
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t swap = out[i];

		out[i] = out[n - 1 - i];
		out[n - 1 - i] = swap;
	}
	return n;
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
	uint8_t role = s->platform->table->reg[reg].role;

	return role == UNC_ROLE_CTL || role == UNC_ROLE_FIXED_CTL ||
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
	if (rc == 0 && plan.n)
		rc = unc_access_prepare(s->platform->access, plan.op, plan.n, err);
	if (rc == 0 && plan.n && unc_access_run(s->platform->access, plan.op, plan.n) < 0)
		rc = unc_fail(err, UNC_ERR_IO, "the controls of %s cannot be read",
			      instance_of(s, instance)->location);
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

static void name_unit(const struct unc_session *s, const struct unc_instance *u, char *buf,
		      size_t size)
{
	snprintf(buf, size, "%s%u (socket %u)",
		 unc_tbl_str(s->platform->table, s->platform->table->type[u->type].name), u->index,
		 u->socket);
}

/* " = cha.TOR_INSERTS:IA", where the control is one of our events; "" where not. */
static const char *event_text(const struct unc_session *s, const struct unc_instance *u,
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

	name_unit(s, u, unit, sizeof(unit));
	for (unsigned i = type->first; i < type->first + type->n_counters; i++) {
		bool own = unc_claimed(s->platform, u, unc_type_ctl(type, i));

		if ((slot->code.counters >> i & 1) && (found->ctl[i] & type->active))
			return unc_fail(err, UNC_ERR_BUSY,
					"%s: counter %u of %s is programmed by %s "
					"(control 0x%llx%s) and no other counter is free for it",
					s->measure[slot->name].name, i, unit,
					own ? "another session of this program" : "somebody else",
					(unsigned long long)found->ctl[i],
					event_text(s, u, found->ctl[i], event, sizeof(event)));
	}
	return unc_fail(err, UNC_ERR_BUSY, "%s: no counter of %s is free",
			s->measure[slot->name].name, unit);
}

static int put_setting(struct unc_setting *list, size_t *n, uint16_t reg, uint64_t value,
		       uint64_t found, struct unc_error *err)
{
	if (*n == UNC_PLAN_SETTINGS)
		return unc_fail(err, UNC_ERR_CONFLICT, "too many settings for one unit");
	list[*n] =
		(struct unc_setting){.reg = reg, .value = value, .found = found, .restore = found};
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

/* Joins the filters of all events; the scheduler has seen that they agree. */
static int set_filters(struct unc_session *s, struct unc_plan_unit *u, const struct unc_slot *slot,
		       const struct found *found, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];

	for (unsigned i = 0; i < slot->code.n_filters; i++) {
		const struct unc_code_filter *f = &slot->code.filter[i];
		uint64_t was = found->other[(f->reg - type->regs.first) % MAX_REGS];
		char unit[64];
		size_t k = 0;
		int rc;

		name_unit(s, u->instance, unit, sizeof(unit));
		if (was & t->reg[f->reg].busy)
			return unc_fail(err, UNC_ERR_BUSY,
					"%s: %s of %s is in use by somebody else (0x%llx)",
					s->measure[slot->name].name,
					unc_tbl_str(t, t->reg[f->reg].name), unit,
					(unsigned long long)was);
		if (!may_set(s, u, f, was))
			return unc_fail(
				err, UNC_ERR_BUSY,
				"%s: %s of %s is set to 0x%llx by somebody else who counts there",
				s->measure[slot->name].name, unc_tbl_str(t, t->reg[f->reg].name),
				unit, (unsigned long long)was);
		while (k < u->n_filters && u->filter[k].reg != f->reg)
			k++;
		if (k == u->n_filters) {
			rc = put_setting(u->filter, &u->n_filters, f->reg,
					 u->shared ? was & t->reg[f->reg].write_mask
						   : t->reg[f->reg].base,
					 was, err);
			if (rc < 0)
				return rc;
		}
		u->filter[k].value = (u->filter[k].value & ~f->mask) | f->value;
	}
	return 0;
}

static int set_slot(struct unc_session *s, struct unc_plan_unit *u, struct unc_slot *slot,
		    unsigned counter, const struct found *found, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[u->instance->type];
	int rc = 0;

	slot->ctr = unc_slot_register(t, slot, counter);
	slot->mask = unc_ones(unc_slot_width(t, slot));
	if (u->n_counters < UNC_PLAN_SETTINGS)
		u->counter[u->n_counters++] = slot->ctr;
	if (slot->code.counter == UNC_NONE) {
		rc = put_setting(u->control, &u->n_controls, unc_type_ctl(type, counter),
				 slot->code.ctl, found->ctl[counter], err);
	} else if (t->counter[slot->code.counter].ctl != UNC_NONE) {
		const struct unc_tbl_counter *c = &t->counter[slot->code.counter];

		rc = put_setting(u->control, &u->n_controls, c->ctl, c->enable,
				 found->other[(c->ctl - type->regs.first) % MAX_REGS], err);
	}
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

static int prepare_unit(struct unc_session *s, uint32_t instance, struct unc_plan_unit *u,
			struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[instance_of(s, instance)->type];
	const struct unc_code *code[UNC_MAX_CODES];
	uint32_t slots[UNC_MAX_CODES];
	uint8_t counter[UNC_MAX_CODES];
	struct unc_conflict conflict;
	struct found found;
	size_t n = slots_of(s, instance, slots);
	int rc = read_found(s, instance, slots, n, &found, err);

	if (rc < 0)
		return rc;
	*u = (struct unc_plan_unit){.instance = instance_of(s, instance)};
	uint32_t busy = busy_counters(type, &found);
	find_others(s, u, busy, &found);
	for (size_t i = 0; i < n; i++)
		code[i] = &s->slot[slots[i]].code;
	if (unc_schedule(t, code, n, busy, counter, &conflict) < 0)
		return fail_busy(s, u->instance, &s->slot[slots[conflict.b]], &found, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = set_slot(s, u, &s->slot[slots[i]], counter[i], &found, err);
	return rc;
}

static int prepare_units(struct unc_session *s, struct unc_error *err)
{
	size_t n_instances = s->platform->instances.n;

	free(s->unit);
	s->n_units = 0;
	s->unit = calloc(n_instances + 1, sizeof(*s->unit));
	if (!s->unit)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	for (uint32_t i = 0; i < n_instances; i++) {
		uint32_t slots[UNC_MAX_CODES];

		if (slots_of(s, i, slots) == 0)
			continue;
		int rc = prepare_unit(s, i, &s->unit[s->n_units], err);
		if (rc < 0)
			return rc;
		s->n_units++;
	}
	return 0;
}

/* ---- the read plan */

static int build_reads(struct unc_session *s, struct unc_plan *plan, uint32_t *slot,
		       struct unc_error *err)
{
	for (size_t k = 0; k < s->n_slots; k++) {
		const struct unc_slot *one = &s->slot[k];
		int rc;

		if (one->pass != s->now)
			continue;
		slot[plan->n] = (uint32_t)k;
		rc = unc_plan_add(s->platform->table, plan, instance_of(s, one->instance), one->ctr,
				  UNC_OP_READ, 0, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int prepare_reads(struct unc_session *s, struct unc_error *err)
{
	struct unc_plan plan = {0};
	uint32_t *slot = calloc(s->n_slots + 1, sizeof(*slot));
	int rc = slot ? build_reads(s, &plan, slot, err)
		      : unc_fail(err, UNC_ERR_MEMORY, "out of memory");

	if (rc == 0 && plan.n)
		rc = unc_access_prepare(s->platform->access, plan.op, plan.n, err);
	if (rc < 0) {
		free(slot);
		unc_plan_free(&plan);
		return rc;
	}
	free(s->read);
	free(s->read_slot);
	s->read = plan.op;
	s->read_slot = slot;
	s->n_reads = plan.n;
	free(plan.tag);
	return 0;
}

/* ---- running plans */

int unc_session_run(struct unc_session *s, struct unc_reg_op *op, size_t n, const char *what,
		    struct unc_error *err)
{
	int code = UNC_ERR_IO;

	if (n == 0 || unc_access_run(s->platform->access, op, n) == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (op[i].error == UNC_ERR_BUSY || op[i].error == UNC_ERR_PERMISSION)
			code = op[i].error;
	if (code == UNC_ERR_BUSY)
		return unc_fail(err, code,
				"%s failed: the kernel has no counter left for one of the events",
				what);
	return unc_fail(err, code, "%s failed: a register could not be accessed", what);
}

/* Somebody may have come to a unit that was ours alone: then it is not to be frozen. */
static int look_for_neighbours(struct unc_session *s, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;

	for (size_t i = 0; i < s->n_units; i++) {
		struct unc_plan_unit *u = &s->unit[i];
		const struct unc_tbl_type *type = &t->type[u->instance->type];
		struct found found;
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

/* ---- stopping and starting */

/* The first error of several steps counts. */
static int also(int first, int rc)
{
	return first ? first : rc;
}

/*
 * Goes on after a failed access: what can be put back is put back. Returns the first error. Where
 * memory has run out nothing is done yet and everything is as before: it can be tried again.
 */
static int unprogram(struct unc_session *s, struct unc_error *err)
{
	struct unc_plan plan = {0};
	int first, rc;

	unc_claim_keep(s->platform, s->unit, s->n_units);
	first = look_for_neighbours(s, err);
	if (first == UNC_ERR_MEMORY)
		return first;
	rc = unc_plan_stop(s->platform->table, s->unit, s->n_units, &plan, first ? NULL : err);
	if (rc == 0 && plan.n)
		rc = unc_access_prepare(s->platform->access, plan.op, plan.n, first ? NULL : err);
	first = also(first, rc);
	if (rc == UNC_ERR_MEMORY) {
		unc_plan_free(&plan);
		return rc;
	}
	if (rc == 0 && plan.go)
		first = also(first,
			     unc_session_run(s, plan.op, plan.go, "stopping", first ? NULL : err));
	/* Frozen where they may be: this is the last look. */
	if (rc == 0 && s->n_reads)
		first = also(first, unc_session_look(s, first ? NULL : err));
	if (rc == 0 && plan.n > plan.go)
		first = also(first, unc_session_run(s, plan.op + plan.go, plan.n - plan.go,
						    "stopping", first ? NULL : err));
	unc_sample_end(s);
	unc_claim_release(s->platform, s->unit, s->n_units);
	unc_plan_free(&plan);
	return first;
}

int unc_session_unprogram(struct unc_session *s, struct unc_error *err)
{
	pthread_mutex_lock(&s->platform->program);
	int rc = unprogram(s, err);
	pthread_mutex_unlock(&s->platform->program);
	return rc;
}

static int program(struct unc_session *s, bool *touched, struct unc_error *err)
{
	struct unc_plan plan;
	int rc = prepare_units(s, err);

	*touched = false;
	if (rc == 0)
		rc = unc_sample_prepare(s, err);
	if (rc == 0)
		rc = prepare_reads(s, err);
	if (rc < 0)
		return rc;
	rc = unc_plan_start(s->platform->table, s->unit, s->n_units, &plan, err);
	if (rc < 0)
		return rc;
	rc = plan.n ? unc_access_prepare(s->platform->access, plan.op, plan.n, err) : 0;
	if (rc == 0)
		rc = unc_claim(s->platform, s->unit, s->n_units, err);
	if (rc == 0) {
		*touched = true;
		rc = unc_sample_begin(s, err);
	}
	if (rc == 0)
		rc = unc_session_run(s, plan.op, plan.n, "programming the counters", err);
	unc_plan_free(&plan);
	return rc;
}

/* Values from which the first interval counts. */
static int take_base(struct unc_session *s, struct unc_error *err)
{
	uint64_t tsc;
	int rc;

	s->interval_ended = false;
	rc = unc_sample_hold(s, err);
	unc_platform_now(s->platform, &s->since_ns, &tsc);
	if (rc == 0)
		rc = unc_session_run(s, s->read, s->n_reads, "reading the counters", err);
	for (size_t i = 0; i < s->n_reads && rc == 0; i++)
		s->slot[s->read_slot[i]].last = s->read[i].value;
	return rc == 0 ? unc_sample_go(s, err) : rc;
}

int unc_session_program(struct unc_session *s, struct unc_error *err)
{
	bool touched;
	int rc;

	/* Two sessions that start at the same time must not find the same counter free. */
	pthread_mutex_lock(&s->platform->program);
	rc = program(s, &touched, err);
	pthread_mutex_unlock(&s->platform->program);
	if (rc == 0)
		rc = take_base(s, err);
	if (rc < 0 && touched) {
		s->n_reads = 0;
		unc_session_unprogram(s, NULL);
	} else if (rc < 0) {
		unc_sample_end(s);
	}
	return rc;
}

/* ---- the public part */

int unc_session_start(struct unc_session *s)
{
	int rc;

	unc_error_clear(&s->error);
	if (s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is running already");
	if (s->n_items == 0)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session has no events");
	if (!s->platform->access)
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
				"the platform was opened for listing only (option cpu)");
	unc_session_forget(s);
	s->now = 0;
	if ((rc = unc_session_program(s, &s->error)) < 0)
		return rc;
	s->running = s->started = true;
	s->final = false;
	rc = unc_session_watch(s, &s->error);
	if (rc < 0) {
		unc_session_unprogram(s, NULL);
		s->running = s->started = false;
	}
	return rc;
}

int unc_session_stop(struct unc_session *s)
{
	unc_error_clear(&s->error);
	if (!s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is not running");
	unc_session_unwatch(s);
	int rc = unc_session_unprogram(s, &s->error);
	s->running = rc == UNC_ERR_MEMORY;
	return rc;
}

int unc_session_rotate(struct unc_session *s)
{
	int rc;

	unc_error_clear(&s->error);
	if (!s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is not running");
	if (s->n_passes < 2)
		return 0;
	pthread_mutex_lock(&s->lock);
	rc = unc_session_unprogram(s, &s->error);
	if (rc == UNC_ERR_MEMORY) { /* nothing has happened */
		pthread_mutex_unlock(&s->lock);
		return rc;
	}
	/* A read just before has ended the interval; the moment since then is not one. */
	if (rc == 0 && !s->interval_ended)
		unc_session_end_interval(s);
	if (rc == 0) {
		s->now = (s->now + 1) % s->n_passes;
		rc = unc_session_program(s, &s->error);
	}
	pthread_mutex_unlock(&s->lock);
	if (rc < 0) {
		unc_session_unwatch(s);
		s->running = false;
		s->final = true; /* its last interval has ended */
	}
	return rc;
}

/* ---- walking */

static int walk(const struct unc_session *s, const struct unc_plan *plan, unc_operation_fn fn,
		void *user)
{
	const struct unc_table *t = s->platform->table;

	for (size_t i = 0; i < plan->n; i++) {
		const struct unc_instance *u = plan->tag[i].instance;
		const struct unc_reg *reg = &plan->op[i].reg;
		struct unc_operation out = {
			.unit = unc_tbl_str(t, t->type[u->type].name),
			.socket = u->socket,
			.index = u->index,
			.reg = unc_tbl_str(t, t->reg[plan->tag[i].reg].name),
			.space = unc_space_name(reg->space),
			.address = reg->space == UNC_SPACE_PCI ? UNC_PCI_OFFSET(reg->address)
							       : reg->address,
			.location = u->location,
			.width = reg->width,
			.write = plan->op[i].kind == UNC_OP_WRITE,
			.value = plan->op[i].value,
		};
		int stop = fn(user, &out);
		if (stop)
			return stop;
	}
	return 0;
}

int unc_session_plan(struct unc_session *s, enum unc_phase phase, unc_operation_fn fn, void *user)
{
	struct unc_plan plan = {0};
	unsigned now = s->now; /* a stopped session still tells its values */
	uint32_t *slot;
	int rc = 0;

	unc_error_clear(&s->error);
	if (!s->running) {
		s->now = 0;
		rc = prepare_units(s, &s->error);
		if (rc == 0 && s->platform->access)
			rc = unc_sample_prepare(s, &s->error);
	}
	if (rc == 0 && phase == UNC_PHASE_READ) {
		slot = calloc(s->n_slots + 1, sizeof(*slot));
		rc = slot ? build_reads(s, &plan, slot, &s->error)
			  : unc_fail(&s->error, UNC_ERR_MEMORY, "out of memory");
		free(slot);
	} else if (rc == 0 && phase == UNC_PHASE_START) {
		rc = unc_plan_start(s->platform->table, s->unit, s->n_units, &plan, &s->error);
	} else if (rc == 0) {
		rc = unc_plan_stop(s->platform->table, s->unit, s->n_units, &plan, &s->error);
	}
	if (rc == 0)
		rc = walk(s, &plan, fn, user);
	unc_plan_free(&plan);
	s->now = now;
	if (!s->running)
		unc_sample_end(s);
	return rc;
}
