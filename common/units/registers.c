/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that are counted by their registers. Nothing is written before it is in the journal;
 * what was written is read back, and what was found is restored, by the step lists of the tables.
 */
#include <errno.h>
#include <string.h>

#include "host/cpu.h"
#include "units/registers.h"

static bool is_ours(const struct unc_claim *u)
{
	return u->by == &unc_registers;
}

/* ---- reading */

/* What counts now of a unit, from slot i of its list on, which has the newest first. */
static int add_slots(const struct unc_units *s, int i, struct unc_plan *plan, uint32_t *slot,
		     struct unc_error *err)
{
	const struct unc_slot *one;
	int rc;

	if (i == UNC_END)
		return 0;
	one = &s->slot[i];
	rc = add_slots(s, one->next, plan, slot, err);
	if (rc < 0 || !unc_units_active(s, one))
		return rc;
	if (slot)
		slot[plan->n] = (uint32_t)i;
	return unc_plan_add(s->platform->table, plan, &s->platform->instances.unit[one->instance],
			    one->ctr, UNC_OP_READ, 0, err);
}

/* One unit of a socket after the other. */
static int build_socket(const struct unc_units *s, enum unc_extent extent, int socket,
			struct unc_plan *plan, uint32_t *slot, struct unc_error *err)
{
	int rc = 0;

	for (size_t k = 0; k < s->n_claims && rc == 0; k++) {
		const struct unc_wanted *wanted = unc_units_wanted(s, s->claim[k].instance);

		if (s->claim[k].instance->socket == socket && is_ours(&s->claim[k]) &&
		    wanted->claimed && wanted->always == (extent == UNC_ALL))
			rc = add_slots(s, wanted->head, plan, slot, err);
	}
	return rc;
}

static int build_reads(const struct unc_units *s, enum unc_extent extent, struct unc_plan *plan,
		       uint32_t *slot, struct unc_error *err)
{
	int rc = 0;

	for (int i = 0; i < s->platform->topology.n_sockets && rc == 0; i++)
		rc = build_socket(s, extent, i, plan, slot, err);
	return rc;
}

static int registers_read(struct unc_units *s, enum unc_extent extent, struct unc_plan *plan,
			  uint32_t *slot, struct unc_error *err)
{
	size_t first = plan->n;
	int rc;

	do {
		plan->n = first;
		rc = build_reads(s, extent, plan, slot, err);
		if (rc == 0)
			rc = unc_units_prepare(s, plan, first, err);
	} while (rc > 0);
	return rc;
}

static const char *subject(const struct unc_units *s, const struct unc_slot *slot)
{
	const struct unc_table *t = s->platform->table;

	return unc_reg_name(t, slot->ctr);
}

static int fail_unread(const struct unc_units *s, const struct unc_slot *slot, uint16_t reg,
		       int error, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_instance *u = unc_slot_unit(s, slot);

	return unc_fail(err, UNC_ERR_IO, "%s of %s at %s could not be read: %s",
			unc_reg_name(t, reg), unc_unit_name(s, u).text, u->location,
			error == ENXIO    ? UNC_NO_CPU
			: error == ENODEV ? "its CPU is offline"
					  : strerror(error));
}

static int fail_read(const struct unc_units *s, const struct unc_slot *slot,
		     const struct unc_reg_op *op, struct unc_error *err)
{

	return unc_fail(err, UNC_ERR_IO, "no counter could be read: %s of %s: %s", subject(s, slot),
			unc_unit_name(s, unc_slot_unit(s, slot)).text,
			op->errno_value ? strerror(op->errno_value) : unc_error_name(op->error));
}

/* ---- starting */

/* Once all is prepared, noted and begun it is written. */
static int write_settings(struct unc_units *s, struct unc_plan *plan, size_t first,
			  struct unc_error *err)
{
	uint64_t ns;
	int rc = unc_units_prepare(s, plan, 0, err);

	if (rc >= 0)
		rc = unc_units_note(s, first, err);
	if (rc >= 0) {
		s->state = UNC_TOUCHED;
		rc = unc_units_verify_found(s, plan, first, err);
	}
	ns = unc_machine_now(s->platform->machine);
	for (size_t i = 0; i < s->n_slots; i++)
		if (s->slot[i].begin) {
			unc_slot_part(s, &s->slot[i]);
			s->slot[i].span.total.to.ns = ns;
		}
	if (rc == 0 && unc_access_run(s->platform->access, plan->op, plan->n) < 0)
		rc = unc_units_leave_failed(s, plan, "programming the counters", err);
	return rc;
}

static int registers_start(struct unc_units *s, size_t first, struct unc_error *err)
{
	struct unc_plan plan;
	int rc = unc_units_verify_prepare(s, err);

	if (rc == 0)
		rc = unc_units_prove_full(s, first, err);
	if (rc == 0)
		rc = unc_plan_steps(s->platform->table, s->claim + first, s->n_claims - first,
				    UNC_START, &plan, err);
	if (rc < 0)
		return rc;
	rc = write_settings(s, &plan, first, err);
	unc_plan_free(&plan);
	return rc < 0 ? rc : unc_units_verify_begin(s, first, err);
}

static int registers_prove(struct unc_units *s, size_t first, struct unc_error *err)
{
	return unc_units_prove(s, &unc_registers, first, err);
}

static int registers_check(struct unc_units *s, size_t first, enum unc_check_kind kind,
			   struct unc_error *err)
{
	if (kind == UNC_LAST)
		unc_units_verify(s, first);
	else
		unc_units_verify_due(s, s->check_ns);
	if (kind == UNC_SUSPECTS || kind == UNC_PROVE)
		unc_units_verify_suspects(s);
	return kind < UNC_PROVE ? 0 : unc_units_prove_again(s, &unc_registers, first, kind, err);
}

/* ---- stopping */

/* Where memory runs out the plan is empty. */
static int plan_restoring(struct unc_units *s, size_t first, struct unc_error *err)
{
	int rc = unc_plan_steps(s->platform->table, s->claim + first, s->n_claims - first, UNC_STOP,
				&s->restore, err);

	if (rc == 0 && s->restore.n)
		rc = unc_access_prepare(s->platform->access, s->restore.op, s->restore.n, err);
	if (rc == UNC_ERR_MEMORY)
		unc_plan_free(&s->restore);
	return rc;
}

static int registers_ready(struct unc_units *s, size_t first, struct unc_error *err)
{
	int rc = plan_restoring(s, first, err), failed;

	unc_plan_free(&s->restore);
	if (rc == UNC_ERR_MEMORY)
		return rc;
	/* Where a start failed half way nothing is ready to be compared, or in another order. */
	failed = unc_units_verify_prepare(s, rc ? NULL : err);
	return rc ? rc : failed;
}

/* Somebody may have come to a unit that was ours alone: then what is theirs too is not restored. */
static int find_neighbours(struct unc_units *s, size_t first, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;

	for (size_t i = first; i < s->n_claims; i++) {
		struct unc_claim *u = &s->claim[i];
		struct unc_plan found;

		if (!is_ours(u) || !unc_type_restores(t, &t->type[u->instance->type]))
			continue;
		int rc = unc_settings_look(s, u->instance, NULL, 0, &found, err);

		if (rc < 0)
			return rc;
		u->company = unc_occupancy(s, &found, u->instance, u).n ? UNC_SHARED : UNC_ALONE;
		unc_plan_free(&found);
	}
	return 0;
}

static void leave_to_driver(struct unc_units *s, size_t first)
{
	bool counts = false;

	for (size_t i = first; i < s->n_claims; i++) {
		if (!s->claim[i].n_controls ||
		    !unc_platform_has_driver(s->platform, s->claim[i].instance))
			continue;
		if (!counts && !unc_platform_kernel_counts(s->platform))
			return;
		counts = true;
		s->claim[i].company = UNC_LEFT;
	}
}

static int registers_settle(struct unc_units *s, size_t first, struct unc_error *err)
{
	int failed;

	unc_units_settle(s, first);
	failed = find_neighbours(s, first, err);
	if (failed == UNC_ERR_MEMORY)
		return failed;
	leave_to_driver(s, first);
	s->unrestored = plan_restoring(s, first, failed ? NULL : err);
	return failed && s->unrestored != UNC_ERR_MEMORY ? failed : s->unrestored;
}

/* What was found is restored, and nothing is held any more. */
static int registers_stop(struct unc_units *s, size_t first, struct unc_error *err)
{
	int rc = s->unrestored ? 0 : unc_units_restore(s, &s->restore, err);

	unc_units_release(s, first, s->unrestored ? NULL : &s->restore);
	unc_plan_free(&s->restore);
	return rc;
}

/* ---- walking */

static int tell(const struct unc_units *s, const struct unc_plan *plan, unc_operation_fn fn,
		void *user)
{
	const struct unc_table *t = s->platform->table;
	int stop = 0;

	for (size_t i = 0; i < plan->n && !stop; i++) {
		const struct unc_instance *u = plan->tag[i].instance;
		const struct unc_reg *reg = &plan->op[i].reg;
		struct unc_operation out = {
			.unit = unc_type_name(t, u->type),
			.socket = u->socket,
			.index = u->index,
			.reg = unc_reg_name(t, plan->tag[i].reg),
			.space = unc_space_name(reg->space),
			.address = unc_reg_shown(reg),
			.location = u->location,
			.width = reg->width,
			.write = plan->op[i].kind == UNC_OP_WRITE,
			.value = plan->op[i].value,
		};

		stop = fn(user, &out);
	}
	return stop;
}

static int registers_show(struct unc_units *s, enum unc_phase phase, unc_operation_fn fn,
			  void *user, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;
	struct unc_plan plan = {0};
	int rc;

	if (phase == UNC_PHASE_START)
		rc = unc_plan_steps(t, s->claim, s->n_claims, UNC_START, &plan, err);
	else if (phase == UNC_PHASE_STOP)
		rc = unc_plan_steps(t, s->claim, s->n_claims, UNC_STOP, &plan, err);
	else if ((rc = build_reads(s, UNC_ALL, &plan, NULL, err)) == 0)
		rc = build_reads(s, UNC_TURN, &plan, NULL, err);
	if (rc == 0)
		rc = tell(s, &plan, fn, user);
	unc_plan_free(&plan);
	return rc;
}

const struct unc_unit_methods unc_registers = {
	.look = unc_settings_look,
	.claim = unc_settings_claim,
	.read = registers_read,
	.check = registers_check,
	.take = {[UNC_BEGIN] = registers_start,
		 [UNC_SHOW] = registers_prove,
		 [UNC_READY] = registers_ready,
		 [UNC_SETTLE] = registers_settle,
		 [UNC_END_ALL] = registers_stop},
	.show = registers_show,
	.subject = subject,
	.fail_unread = fail_unread,
	.fail_read = fail_read,
};
