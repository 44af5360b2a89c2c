/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: sampling. An event ends intervals: its counters start a given number of counts before
 * they carry, and whoever polls finds the carry by the status of the socket and of the unit. Where
 * the hardware freezes at the carry, and nobody else counts there, it is told to.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "session/sample.h"

/* ---- starting and ending */

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

/* An interval that an event ends is one of the units; the kernel's PMU is read later. */
static int check_energy(const struct unc_session *s, struct unc_error *err)
{
	for (size_t i = 0; i < s->n_items; i++)
		if (unc_joules_sockets(s->item[i].joules))
			return unc_fail(err, UNC_ERR_INVALID,
					"%s cannot be told of intervals that an event ends",
					s->item[i].what->metric->name);
	return 0;
}

static int check_set(const struct unc_session *s, struct unc_error *err)
{
	if (check_energy(s, err) < 0)
		return err->code;
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

static void end(void *session)
{
	struct unc_session *s = session;
	struct unc_sample *sample = s->sample;

	if (!sample)
		return;
	for (size_t i = 0; i < sample->n; i++) {
		const struct unc_trigger *t = &sample->trigger[i];

		if (t->freezes == UNC_FREEZES_SOCKET)
			unc_units_drop_socket(&s->units, t->ubox);
	}
	unc_plan_free(&sample->look);
	free(sample->trigger);
	free(sample);
	s->sample = NULL;
}

/* Whether the hardware may freeze at the carry of a trigger: 1 or 0; or an error. looked: sockets
 * where `others` is known. */
static int may_freeze(struct unc_session *s, const struct unc_trigger *t, bool *looked,
		      bool *others, struct unc_error *err)
{
	unsigned socket = t->instance->socket;
	uint8_t freezes = t->type->overflow.freezes;

	if (!t->freeze || freezes == UNC_FREEZES_NOTHING ||
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

		t->freezes = rc > 0 ? t->type->overflow.freezes : UNC_FREEZES_NOTHING;
		if (t->freezes)
			rc = check_times(s, err);
		if (rc < 0)
			return rc;
		if (t->freezes)
			unc_units_add_bits(&s->units, &s->units.slot[t->slot], t->freeze);
	}
	return 0;
}

static int prepare(void *session, struct unc_error *err)
{
	struct unc_session *s = session;
	int rc = check_set(s, err);

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
		rc = unc_trigger_find(s, m->slot[i], &sample->trigger[i]);
	if (rc == 0)
		rc = settle_freezing(s, err);
	if (rc < 0)
		end(s);
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

static int begin(void *session, struct unc_error *err)
{
	struct unc_session *s = session;
	struct unc_sample *sample = s->sample;
	struct unc_plan clear = {0};
	uint64_t bit;
	int rc = 0;

	for (size_t i = 0; i < sample->n && rc == 0; i++) {
		struct unc_trigger *t = &sample->trigger[i];

		/* Where the unit has a status, the socket's notes only carries that freeze. */
		if (t->global >= 0 && (t->freezes || !(t->bit || t->freeze)))
			rc = add_look(s, t->ubox, unc_trigger_global(s, t, &bit), &t->global_op,
				      err);
		if (rc == 0 && t->bit)
			rc = add_look(s, t->instance, t->type->overflow.status, &t->status_op, err);
		/* A status that is kept with the freeze was cleared when counting began. */
		if (rc == 0 && t->type->overflow.clear != t->type->unit_ctl)
			rc = unc_trigger_clear(s, t, &clear, err);
		if (rc == 0 && t->freezes == UNC_FREEZES_SOCKET)
			rc = unc_units_note_socket(&s->units, t->ubox, err);
	}
	if (rc == 0 && sample->look.n)
		rc = unc_access_prepare(s->platform->access, sample->look.op, sample->look.n, err);
	return unc_units_run_once(&s->units, &clear, rc, "clearing the overflow status", err);
}

static bool freezes(const void *session, const struct unc_instance *u, uint64_t control)
{
	const struct unc_session *s = session;

	for (size_t i = 0; i < s->sample->n; i++) {
		const struct unc_trigger *t = &s->sample->trigger[i];
		const struct unc_tbl_overflow *o = &t->type->overflow;

		if (!t->freezes || (u && t->instance != u))
			continue;
		if (!u || (t->freezes == UNC_FREEZES_UNIT &&
			   (o->status != t->type->unit_ctl || control & t->bit)))
			return true;
	}
	return false;
}

/* ---- looking */

/* A counter that has carried is below where it started. */
static int check_values(struct unc_session *s, struct unc_trigger *t, struct unc_error *err)
{
	const struct unc_slot *slot = &s->units.slot[t->slot];
	uint64_t value = 0;
	int rc = unc_units_read_one(&s->units, t->instance, slot->ctr, "reading a counter", &value,
				    err);

	if (rc == 0)
		t->carried = (value & slot->mask) < t->preload;
	return rc;
}

/* How many have carried. The socket's status first: where it has no bit of the unit, the unit is not looked at. */
static int find_carried(struct unc_session *s, struct unc_error *err)
{
	struct unc_sample *sample = s->sample;
	struct unc_reg_op *op = sample->look.op;
	uint64_t bit;
	int rc = 0, n = 0;

	if (sample->look.n && unc_access_run(s->platform->access, op, sample->look.n) < 0)
		rc = unc_units_fail_op(&s->units, &sample->look, "reading the overflow status",
				       err);
	for (size_t i = 0; i < sample->n && rc == 0; i++) {
		struct unc_trigger *t = &sample->trigger[i];

		t->carried = true;
		if (t->global_op != SIZE_MAX) {
			unc_trigger_global(s, t, &bit);
			t->carried = (op[t->global_op].value & bit) != 0;
		}
		if (t->status_op != SIZE_MAX)
			t->carried &= (op[t->status_op].value & t->bit) != 0;
		else if (t->carried)
			rc = check_values(s, t, err);
		n += t->carried;
	}
	return rc < 0 ? rc : n;
}

/* What noted the carry is cleared, sockets that froze go on. */
static int add_release(struct unc_session *s, struct unc_plan *plan, struct unc_error *err)
{
	const struct unc_sample *sample = s->sample;
	uint64_t unfrozen = 0;
	int rc = 0;

	for (size_t i = 0; i < sample->n && rc == 0; i++)
		if (sample->trigger[i].carried)
			rc = unc_trigger_clear(s, &sample->trigger[i], plan, err);
	for (size_t i = 0; i < sample->n && rc == 0; i++) {
		const struct unc_trigger *t = &sample->trigger[i];

		if (!t->carried || !t->freezes || !t->ubox || unfrozen >> t->instance->socket & 1)
			continue;
		unfrozen |= (uint64_t)1 << t->instance->socket;
		rc = unc_plan_unfreeze(s->platform->table, plan, t->ubox, err);
	}
	return rc;
}

/* The counters get what they start from. */
static int add_start(struct unc_session *s, struct unc_plan *plan, struct unc_error *err)
{
	const struct unc_sample *sample = s->sample;
	int rc = 0;

	for (size_t i = 0; i < sample->n && rc == 0; i++) {
		const struct unc_trigger *t = &sample->trigger[i];

		rc = unc_plan_add(s->platform->table, plan, t->instance, s->units.slot[t->slot].ctr,
				  UNC_OP_WRITE, t->preload, err);
	}
	return rc == 0 ? add_release(s, plan, err) : rc;
}

static int start_again(struct unc_session *s, bool frozen, struct unc_error *err)
{
	struct unc_sample *sample = s->sample;
	struct unc_plan plan = {0};
	int rc = add_start(s, &plan, err);

	rc = unc_units_run_once(&s->units, &plan, rc, "starting an interval", err);
	if (rc == 0 && frozen)
		rc = unc_units_freeze(&s->units, UNC_LET_GO, err);
	for (size_t i = 0; i < sample->n; i++)
		s->units.slot[sample->trigger[i].slot].last = sample->trigger[i].preload;
	return rc;
}

static int hold(void *session, struct unc_error *err)
{
	struct unc_session *s = session;

	return unc_units_freeze(&s->units, UNC_FREEZE, err);
}

/* Nobody has looked: any may have carried. */
static void assume_carried(struct unc_sample *sample)
{
	for (size_t i = 0; i < sample->n; i++)
		sample->trigger[i].carried = true;
}

static int go(void *session, struct unc_error *err)
{
	struct unc_session *s = session;

	assume_carried(s->sample); /* since they were programmed */
	return start_again(s, true, err);
}

/* Called when no counter can carry any more: what has frozen since the last look goes on. */
static int release(void *session, struct unc_error *err)
{
	struct unc_session *s = session;
	struct unc_plan plan = {0};

	assume_carried(s->sample);
	return unc_units_run_once(&s->units, &plan, add_release(s, &plan, err), "unfreezing", err);
}

static int add_phase(void *session, enum unc_phase phase, struct unc_plan *plan,
		     struct unc_error *err)
{
	struct unc_session *s = session;

	if (phase == UNC_PHASE_READ)
		return 0;
	assume_carried(s->sample);
	return phase == UNC_PHASE_START ? add_start(s, plan, err) : add_release(s, plan, err);
}

static const struct unc_guest sampling = {
	.prepare = prepare,
	.begin = begin,
	.hold = hold,
	.go = go,
	.release = release,
	.plan = add_phase,
	.end = end,
	.freezes = freezes,
};

/* ---- the public part */

int unc_session_sample(struct unc_session *s, int id, uint64_t every)
{
	const struct unc_session_item *item;
	int rc = unc_session_enter_idle(s);

	if (rc < 0)
		return rc;
	if (every == 0) {
		for (size_t i = 0; i < s->units.n_slots; i++)
			s->units.slot[i].alone = false;
		s->units.guest = NULL;
		return 0;
	}
	if (!(item = unc_session_find_item(s, id)))
		return s->error.code;
	if (item->lacks) {
		s->error = *item->lacks;
		return s->error.code;
	}
	if (item->expr)
		return unc_fail(&s->error, UNC_ERR_INVALID,
				"an event ends intervals, not a metric");
	rc = check_set(s, &s->error);
	if (rc < 0)
		return rc;
	const struct unc_measure *m = &s->measure[item->measure[0]];
	for (uint32_t i = 0; i < m->n_slots; i++) {
		const struct unc_slot *slot = &s->units.slot[m->slot[i]];
		unsigned width = unc_slot_width(s->platform->table, slot);

		if ((rc = unc_trigger_check(s, slot)) < 0)
			return rc;
		if (width < 64 && every > (uint64_t)1 << width)
			return unc_fail(&s->error, UNC_ERR_RANGE,
					"%s: an interval of %" PRIu64
					" does not fit the counter of "
					"%u bits",
					m->name, every, width);
	}
	for (size_t i = 0; i < s->units.n_slots; i++)
		s->units.slot[i].alone = false;
	for (uint32_t i = 0; i < m->n_slots; i++)
		s->units.slot[m->slot[i]].alone = true;
	s->units.guest = &sampling;
	s->sampled = id;
	s->every = every;
	return 0;
}

static void describe(const struct unc_session *s, int others, struct unc_overflow *out)
{
	const struct unc_table *table = s->platform->table;
	const struct unc_sample *sample = s->sample;
	const struct unc_trigger *first = NULL;

	for (size_t i = 0; i < sample->n && !first; i++)
		if (sample->trigger[i].carried)
			first = &sample->trigger[i];
	const struct unc_slot *slot = &s->units.slot[first->slot];
	*out = (struct unc_overflow){
		.size = out->size,
		.id = s->sampled,
		.unit = unc_type_name(table, slot->code.type),
		.socket = first->instance->socket,
		.index = first->instance->index,
		.counter = unc_reg_name(table, slot->ctr),
		.count = s->units.slot[first->slot].delta,
		.others = others,
		.frozen = first->freezes != UNC_FREEZES_NOTHING,
	};
}

/* alone: nobody can come meanwhile, and units may be frozen to be read together. */
static int end_interval(struct unc_session *s, bool alone, int others, struct unc_overflow *out,
			struct unc_value *values, size_t n, size_t size)
{
	int rc = alone ? unc_units_freeze(&s->units, UNC_FREEZE, &s->error) : 0;

	if (rc == 0)
		rc = unc_session_look(s, UNC_ALL, &s->error);
	if (rc < 0)
		return rc;
	unc_session_end_interval(s);
	describe(s, others, out);
	unc_session_values(s, values, n, size);
	rc = start_again(s, alone, &s->error);
	s->since_ns =
		unc_machine_now(s->platform->machine); /* nothing was counted since the look */
	return rc;
}

int unc_session_poll(struct unc_session *s, struct unc_overflow *out, struct unc_value *values,
		     size_t n, size_t size)
{
	struct unc_overflow found = {.size = out->size, .id = -1};
	int rc = unc_session_enter(s);

	if (rc < 0)
		return rc;
	if ((rc = unc_struct_check(out->size, "unc_overflow", &s->error)) < 0 ||
	    (n && (rc = unc_struct_check(size, "unc_value", &s->error)) < 0))
		return rc;
	if (s->state != UNC_RUNNING || !s->sample)
		return unc_fail(&s->error, UNC_ERR_STATE,
				"the session is not running with an event that ends intervals");
	pthread_mutex_lock(&s->lock);
	rc = find_carried(s, &s->error);
	if (rc == 0) {
		rc = unc_units_check_due(&s->units, unc_machine_now(s->platform->machine),
					 &s->error);
	} else if (rc > 0) {
		bool alone = unc_units_try_lock(&s->units) == 0;

		if (alone)
			unc_units_find_company(&s->units);
		rc = end_interval(s, alone, rc - 1, &found, values, n, size);
		if (alone)
			unc_units_unlock(&s->units);
	}
	pthread_mutex_unlock(&s->lock);
	if (rc == 0)
		unc_struct_out(out, out->size, &found, sizeof(found));
	return rc;
}
