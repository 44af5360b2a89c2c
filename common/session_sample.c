/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: sampling. An event ends intervals: its counters start a given number of counts before
 * they carry, and whoever polls finds the carry by the status of the socket and of the unit. Where
 * the hardware freezes at the carry, and nobody else counts there, it is told to.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "table_build.h"

/* One counter that is watched. */
struct trigger {
	uint32_t slot;
	const struct unc_instance *instance;
	uint64_t preload;
	int global;                      /* bit in the status of the socket, -1: none */
	const struct unc_instance *ubox; /* has the status of the socket */
	uint64_t bit;                    /* in the status of the unit; 0: has none */
	bool freezes;                    /* the hardware freezes at its carry */
	bool carried;
	size_t global_op, status_op; /* among sample.look; SIZE_MAX: none */
};

struct unc_sample {
	struct trigger *trigger;
	size_t n;
	struct unc_plan look; /* reads of the status registers */
};

/* ---- what a unit type says of overflows */

static const struct unc_tbl_type *type_of(const struct unc_session *s, const struct trigger *t)
{
	return &s->platform->table->type[t->instance->type];
}

static const struct unc_tbl_counter *fixed_of(const struct unc_session *s, const struct trigger *t)
{
	uint16_t counter = s->slot[t->slot].code.counter;

	return counter == UNC_NONE ? NULL : &s->platform->table->counter[counter];
}

/* The unit of a socket that has the socket's status. */
static const struct unc_instance *ubox_of(const struct unc_platform *p, unsigned socket)
{
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];

		if (u->socket == socket && u->available && p->table->type[u->type].n_global)
			return u;
	}
	return NULL;
}

static void find_global(const struct unc_session *s, struct trigger *t)
{
	const struct unc_table *table = s->platform->table;
	const struct unc_tbl_overflow *o = &type_of(s, t)->overflow;
	const struct unc_tbl_counter *fixed = fixed_of(s, t);

	t->ubox = ubox_of(s->platform, t->instance->socket);
	t->global = fixed && fixed->global_bit ? fixed->global_bit - 1
		    : o->global >= 0           ? o->global + t->instance->index
					       : t->instance->status_position;
	if (!t->ubox || t->global < 0)
		t->global = -1;
	else if ((unsigned)t->global /
			 table->reg[table->type[t->ubox->type].global_status[0]].width >=
		 table->type[t->ubox->type].n_global)
		t->global = -1;
}

/* Which bit of the unit's status the counter has; 0 if there is none. */
static uint64_t status_bit(const struct unc_session *s, const struct trigger *t, unsigned counter)
{
	const struct unc_tbl_overflow *o = &type_of(s, t)->overflow;
	const struct unc_tbl_counter *fixed = fixed_of(s, t);

	if (o->status == UNC_NONE)
		return 0;
	if (fixed)
		return fixed->status_bit ? (uint64_t)1 << (fixed->status_bit - 1) : 0;
	return (uint64_t)1 << (o->bit + counter);
}

/* Whether a counter of the type can be sampled at all, for a sentence before anything runs. */
static int check_type(struct unc_session *s, const struct unc_slot *slot)
{
	const struct unc_table *table = s->platform->table;
	const struct unc_tbl_type *type = &table->type[unc_type_pool(table, slot->code.type)];
	const struct unc_tbl_counter *fixed =
		slot->code.counter == UNC_NONE ? NULL : &table->counter[slot->code.counter];
	const char *name = s->measure[slot->name].name;

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

int unc_session_sample(struct unc_session *s, int id, uint64_t every)
{
	unc_error_clear(&s->error);
	if (s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is running; stop it first");
	if (every == 0) {
		s->sampled = -1;
		return 0;
	}
	if (id < 0 || (size_t)id >= s->n_items)
		return unc_fail(&s->error, UNC_ERR_NOT_FOUND, "the session has no item %d", id);
	if (s->item[id].metric >= 0)
		return unc_fail(&s->error, UNC_ERR_INVALID,
				"an event ends intervals, not a metric");
	if (s->n_passes > 1)
		return unc_fail(
			&s->error, UNC_ERR_INVALID,
			"the set needs %u passes: an event can end intervals only if all is "
			"counted at once",
			s->n_passes);
	const struct unc_measure *m = &s->measure[s->item[id].measure[0]];
	for (uint32_t i = 0; i < m->n_slots; i++) {
		const struct unc_slot *slot = &s->slot[m->slot[i]];
		unsigned width = unc_slot_width(s->platform->table, slot);
		int rc = check_type(s, slot);

		if (rc < 0)
			return rc;
		if (width < 64 && every > (uint64_t)1 << width)
			return unc_fail(&s->error, UNC_ERR_RANGE,
					"%s: an interval of %" PRIu64
					" does not fit the counter of "
					"%u bits",
					m->name, every, width);
	}
	s->sampled = id;
	s->every = every;
	return 0;
}

/* ---- who else counts on a socket */

static struct unc_plan_unit *plan_unit(const struct unc_session *s, const struct unc_instance *u)
{
	for (size_t i = 0; i < s->n_units; i++)
		if (s->unit[i].instance == u)
			return &s->unit[i];
	return NULL;
}

/* Reads the controls of all units of a socket that are not ours, and whether any is in use. */
static int look_around(struct unc_session *s, unsigned socket, bool *others, struct unc_error *err)
{
	const struct unc_table *table = s->platform->table;
	struct unc_plan plan = {0};
	int rc = 0;

	*others = false;
	for (size_t i = 0; i < s->platform->instances.n && rc == 0; i++) {
		const struct unc_instance *u = &s->platform->instances.unit[i];
		const struct unc_tbl_type *type = &table->type[u->type];
		const struct unc_plan_unit *own = plan_unit(s, u);

		if (own)
			*others |= own->shared && own->instance->socket == socket;
		if (own || u->socket != socket || !u->available || !type->overflow.known)
			continue;
		for (unsigned k = 0; k < type->n_counters && rc == 0; k++)
			rc = unc_plan_add(table, &plan, u, (uint16_t)(type->first_ctl + k),
					  UNC_OP_READ, 0, err);
	}
	if (rc == 0 && plan.n && !*others)
		rc = unc_access_prepare(s->platform->access, plan.op, plan.n, err);
	if (rc == 0 && !*others)
		rc = unc_session_run(s, plan.op, plan.n, "looking for others who count", err);
	for (size_t i = 0; i < plan.n && rc == 0 && !*others; i++)
		*others = (plan.op[i].value & table->type[plan.tag[i].instance->type].active) != 0;
	unc_plan_free(&plan);
	return rc;
}

/* ---- starting */

static int add_trigger(struct unc_session *s, uint32_t slot, struct trigger *t)
{
	const struct unc_table *table = s->platform->table;
	unsigned width = unc_slot_width(table, &s->slot[slot]);
	unsigned counter = table->reg[s->slot[slot].ctr].number;

	*t = (struct trigger){
		.slot = slot,
		.instance = &s->platform->instances.unit[s->slot[slot].instance],
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
			s->measure[s->slot[slot].name].name,
			unc_tbl_str(table, type_of(s, t)->name), t->instance->socket);
	return 0;
}

/* The bits of the control that make the carry freeze. */
static uint64_t freeze_bits(const struct unc_session *s, const struct trigger *t)
{
	const struct unc_tbl_counter *fixed = fixed_of(s, t);

	return fixed ? fixed->freeze : type_of(s, t)->overflow.set;
}

static uint16_t control_of(const struct unc_session *s, const struct trigger *t)
{
	const struct unc_table *table = s->platform->table;
	const struct unc_tbl_counter *fixed = fixed_of(s, t);

	return fixed ? fixed->ctl
		     : unc_type_ctl(type_of(s, t), table->reg[s->slot[t->slot].ctr].number);
}

static void set_control(struct unc_session *s, const struct trigger *t, uint64_t bits)
{
	struct unc_plan_unit *u = plan_unit(s, t->instance);

	for (size_t i = 0; i < u->n_controls; i++)
		if (u->control[i].reg == control_of(s, t))
			u->control[i].value |= bits;
}

/* Decides whether the hardware may freeze, and says so in the settings of the units. */
static int settle_freezing(struct unc_session *s, struct unc_error *err)
{
	struct unc_sample *sample = s->sample;
	bool others[UNC_MAX_SOCKETS], looked[UNC_MAX_SOCKETS] = {false};

	for (size_t i = 0; i < sample->n; i++) {
		struct trigger *t = &sample->trigger[i];
		unsigned socket = t->instance->socket;
		uint64_t bits = freeze_bits(s, t);
		struct unc_plan_unit *u = plan_unit(s, t->instance);

		u->preloaded = true;
		u->preload_reg = s->slot[t->slot].ctr;
		u->preload = t->preload;
		if (!bits || type_of(s, t)->overflow.freezes == UNC_FREEZES_NOTHING || u->shared)
			continue;
		if (type_of(s, t)->overflow.freezes == UNC_FREEZES_SOCKET && !looked[socket]) {
			int rc = look_around(s, socket, &others[socket], err);

			if (rc < 0)
				return rc;
			looked[socket] = true;
			if (others[socket])
				unc_platform_log(
					s->platform, UNC_LOG_INFO,
					"socket %u is not frozen at overflows: somebody else "
					"counts there",
					socket);
		}
		if (looked[socket] && (others[socket] || !t->ubox))
			continue;
		t->freezes = true;
		set_control(s, t, bits);
	}
	return 0;
}

/* Sampling freezes a socket: nobody else of this process may count there, nor be frozen. */
static int check_sockets(struct unc_session *s, struct unc_error *err)
{
	for (size_t i = 0; i < s->n_units; i++)
		if (s->platform->sampled[s->unit[i].instance->socket])
			return unc_fail(err, UNC_ERR_BUSY,
					"another session of this program samples on socket %u and "
					"freezes it at overflows",
					s->unit[i].instance->socket);
	return 0;
}

int unc_sample_prepare(struct unc_session *s, struct unc_error *err)
{
	int rc = check_sockets(s, err);

	if (rc < 0 || s->sampled < 0)
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
static uint16_t global_reg(const struct unc_session *s, const struct trigger *t, uint64_t *bit)
{
	const struct unc_table *table = s->platform->table;
	const struct unc_tbl_type *type = &table->type[t->ubox->type];
	unsigned width = table->reg[type->global_status[0]].width;

	*bit = (uint64_t)1 << ((unsigned)t->global % width);
	return type->global_status[(unsigned)t->global / width];
}

/* What clears the unit's status: ones where it is W1C or a register of its own, else 0 for all. */
static int add_clear(struct unc_session *s, const struct trigger *t, struct unc_plan *plan,
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
		uint16_t reg = global_reg(s, t, &bit);

		rc = unc_plan_add(table, plan, t->ubox, reg, UNC_OP_WRITE, bit, err);
	}
	return rc;
}

static int run_plan(struct unc_session *s, struct unc_plan *plan, const char *what,
		    struct unc_error *err)
{
	int rc = plan->n ? unc_access_prepare(s->platform->access, plan->op, plan->n, err) : 0;

	if (rc == 0)
		rc = unc_session_run(s, plan->op, plan->n, what, err);
	unc_plan_free(plan);
	return rc;
}

int unc_sample_begin(struct unc_session *s, struct unc_error *err)
{
	struct unc_sample *sample = s->sample;
	struct unc_plan clear = {0};
	uint64_t bit;
	int rc = 0;

	if (!sample)
		return 0;
	for (size_t i = 0; i < sample->n && rc == 0; i++) {
		struct trigger *t = &sample->trigger[i];

		if (t->global >= 0)
			rc = add_look(s, t->ubox, global_reg(s, t, &bit), &t->global_op, err);
		if (rc == 0 && t->bit)
			rc = add_look(s, t->instance, type_of(s, t)->overflow.status, &t->status_op,
				      err);
		/* A status that is kept with the freeze was cleared when counting began. */
		if (rc == 0 && type_of(s, t)->overflow.clear != type_of(s, t)->unit_ctl)
			rc = add_clear(s, t, &clear, err);
		if (t->freezes && type_of(s, t)->overflow.freezes == UNC_FREEZES_SOCKET)
			s->platform->sampled[t->instance->socket] = true;
	}
	if (rc == 0 && sample->look.n)
		rc = unc_access_prepare(s->platform->access, sample->look.op, sample->look.n, err);
	if (rc == 0)
		return run_plan(s, &clear, "clearing the overflow status", err);
	unc_plan_free(&clear);
	return rc;
}

void unc_sample_end(struct unc_session *s)
{
	struct unc_sample *sample = s->sample;

	if (!sample)
		return;
	for (size_t i = 0; i < sample->n; i++)
		if (sample->trigger[i].freezes)
			s->platform->sampled[sample->trigger[i].instance->socket] = false;
	unc_plan_free(&sample->look);
	free(sample->trigger);
	free(sample);
	s->sample = NULL;
}

/* ---- looking */

/* A counter that has carried is below where it started. */
static int check_values(struct unc_session *s, struct trigger *t, struct unc_error *err)
{
	const struct unc_slot *slot = &s->slot[t->slot];
	struct unc_plan plan = {0};
	int rc = unc_plan_add(s->platform->table, &plan, t->instance, slot->ctr, UNC_OP_READ, 0,
			      err);

	if (rc == 0)
		rc = unc_access_prepare(s->platform->access, plan.op, 1, err);
	if (rc == 0)
		rc = unc_session_run(s, plan.op, 1, "reading a counter", err);
	if (rc == 0)
		t->carried = (plan.op[0].value & slot->mask) < t->preload;
	unc_plan_free(&plan);
	return rc;
}

/* The socket's status first: where it has no bit of the unit, the unit is not looked at. */
static int find_carried(struct unc_session *s, size_t *n, struct unc_error *err)
{
	struct unc_sample *sample = s->sample;
	struct unc_reg_op *op = sample->look.op;
	int rc = unc_session_run(s, op, sample->look.n, "reading the overflow status", err);
	uint64_t bit;

	*n = 0;
	for (size_t i = 0; i < sample->n && rc == 0; i++) {
		struct trigger *t = &sample->trigger[i];

		t->carried = true;
		if (t->global_op != SIZE_MAX) {
			global_reg(s, t, &bit);
			t->carried = (op[t->global_op].value & bit) != 0;
		}
		if (t->status_op != SIZE_MAX)
			t->carried &= (op[t->status_op].value & t->bit) != 0;
		else if (t->carried)
			rc = check_values(s, t, err);
		*n += t->carried;
	}
	return rc;
}

static int set_frozen(struct unc_session *s, bool frozen, struct unc_error *err)
{
	struct unc_plan plan;
	int rc = unc_plan_freeze(s->platform->table, s->unit, s->n_units, frozen, &plan, err);

	return rc < 0 ? rc : run_plan(s, &plan, frozen ? "freezing" : "unfreezing", err);
}

/* The counters start again, what noted the carry is cleared, sockets that froze go on. */
static int start_again(struct unc_session *s, struct unc_error *err)
{
	const struct unc_table *table = s->platform->table;
	struct unc_sample *sample = s->sample;
	bool unfrozen[UNC_MAX_SOCKETS] = {false};
	struct unc_plan plan = {0};
	int rc = 0;

	for (size_t i = 0; i < sample->n && rc == 0; i++) {
		struct trigger *t = &sample->trigger[i];

		rc = unc_plan_add(table, &plan, t->instance, s->slot[t->slot].ctr, UNC_OP_WRITE,
				  t->preload, err);
		if (rc == 0 && t->carried)
			rc = add_clear(s, t, &plan, err);
	}
	for (size_t i = 0; i < sample->n && rc == 0; i++) {
		const struct trigger *t = &sample->trigger[i];
		const struct unc_tbl_type *ubox = t->ubox ? &table->type[t->ubox->type] : NULL;

		if (!t->carried || !t->freezes || !ubox || !ubox->has_unfreeze ||
		    unfrozen[t->instance->socket])
			continue;
		unfrozen[t->instance->socket] = true;
		rc = unc_plan_add(table, &plan, t->ubox, ubox->unfreeze, UNC_OP_WRITE,
				  ubox->unfreeze_value, err);
	}
	if (rc == 0)
		rc = run_plan(s, &plan, "starting an interval", err);
	else
		unc_plan_free(&plan);
	if (rc == 0)
		rc = set_frozen(s, false, err);
	for (size_t i = 0; i < sample->n; i++)
		s->slot[sample->trigger[i].slot].last = sample->trigger[i].preload;
	return rc;
}

int unc_sample_hold(struct unc_session *s, struct unc_error *err)
{
	return s->sample ? set_frozen(s, true, err) : 0;
}

int unc_sample_go(struct unc_session *s, struct unc_error *err)
{
	/* Some may have carried since they were programmed. */
	for (size_t i = 0; s->sample && i < s->sample->n; i++)
		s->sample->trigger[i].carried = true;
	return s->sample ? start_again(s, err) : 0;
}

static void describe(const struct unc_session *s, size_t n, struct unc_overflow *out)
{
	const struct unc_table *table = s->platform->table;
	const struct unc_sample *sample = s->sample;
	const struct trigger *first = NULL;

	for (size_t i = 0; i < sample->n && !first; i++)
		if (sample->trigger[i].carried)
			first = &sample->trigger[i];
	const struct unc_slot *slot = &s->slot[first->slot];
	*out = (struct unc_overflow){
		.size = out->size,
		.id = s->sampled,
		.unit = unc_tbl_str(table, table->type[slot->code.type].name),
		.socket = first->instance->socket,
		.index = first->instance->index,
		.counter = unc_tbl_str(table, table->reg[slot->ctr].name),
		.count = slot->delta,
		.others = (int)n - 1,
		.frozen = first->freezes,
	};
}

static int end_interval(struct unc_session *s, size_t n_carried, struct unc_overflow *out,
			struct unc_value *values, size_t n)
{
	uint64_t tsc;
	int rc = set_frozen(s, true, &s->error);

	if (rc == 0)
		rc = unc_session_look(s, &s->error);
	if (rc < 0)
		return rc;
	unc_session_end_interval(s);
	describe(s, n_carried, out);
	for (size_t i = 0; i < n && i < s->n_items; i++)
		unc_session_value(s, &s->item[i], &values[i]);
	rc = start_again(s, &s->error);
	unc_platform_now(s->platform, &s->since_ns, &tsc); /* nothing was counted since the look */
	return rc;
}

int unc_session_poll(struct unc_session *s, struct unc_overflow *out, struct unc_value *values,
		     size_t n)
{
	struct unc_overflow found = {.size = sizeof(found), .id = -1};
	size_t carried;

	s->error.text[0] = '\0';
	if (out->size < sizeof(*out))
		return unc_fail(&s->error, UNC_ERR_INVALID,
				"size is not sizeof(struct unc_overflow)");
	if (!s->running || !s->sample)
		return unc_fail(&s->error, UNC_ERR_STATE,
				"the session is not running with an event that ends intervals");
	pthread_mutex_lock(&s->lock);
	int rc = find_carried(s, &carried, &s->error);
	if (rc == 0 && carried)
		rc = end_interval(s, carried, &found, values, n);
	pthread_mutex_unlock(&s->lock);
	if (rc == 0)
		*out = found;
	return rc;
}
