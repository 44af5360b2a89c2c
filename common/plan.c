/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

int unc_plan_add(const struct unc_table *t, struct unc_plan *plan,
		 const struct unc_instance *instance, uint16_t reg, enum unc_op_kind kind,
		 uint64_t value, struct unc_error *err)
{
	struct unc_reg_op op = {.kind = (uint8_t)kind, .value = value};
	int rc = unc_instance_reg(t, instance, reg, &op.reg, err);

	if (rc < 0)
		return rc;
	if (plan->n == plan->cap) {
		size_t cap = plan->cap ? 2 * plan->cap : 64;
		void *ops = realloc(plan->op, cap * sizeof(*plan->op));

		if (ops)
			plan->op = ops;
		void *tags = realloc(plan->tag, cap * sizeof(*plan->tag));
		if (tags)
			plan->tag = tags;
		if (!ops || !tags)
			return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
		plan->cap = cap;
	}
	plan->op[plan->n] = op;
	plan->tag[plan->n].instance = instance;
	plan->tag[plan->n].reg = reg;
	plan->n++;
	return 0;
}

void unc_plan_free(struct unc_plan *plan)
{
	free(plan->op);
	free(plan->tag);
	*plan = (struct unc_plan){0};
}

static int add_settings(const struct unc_table *t, struct unc_plan *plan,
			const struct unc_plan_unit *u, const struct unc_setting *s, size_t n,
			bool found, struct unc_error *err)
{
	for (size_t k = 0; k < n; k++) {
		size_t i = found ? n - 1 - k : k; /* put back in the other order */

		/* What somebody else has set as we need it is not ours to write. */
		if (found ? s[i].keep : u->shared && s[i].value == s[i].found)
			continue;
		/* Bits found set that are not ours to write stay out: the gate would refuse all. */
		uint64_t restore = s[i].restore & t->reg[s[i].reg].write_mask;
		int rc = unc_plan_add(t, plan, u->instance, s[i].reg, UNC_OP_WRITE,
				      found ? restore : s[i].value, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_step(const struct unc_table *t, struct unc_plan *plan, const struct unc_plan_unit *u,
		    const struct unc_tbl_step *step, struct unc_error *err)
{
	int rc = 0;

	switch (step->kind) {
	case UNC_STEP_WRITE:
		return unc_plan_add(t, plan, u->instance, step->reg, UNC_OP_WRITE, step->value,
				    err);
	case UNC_STEP_FOUND:
		return unc_plan_add(t, plan, u->instance, step->reg, UNC_OP_WRITE,
				    u->unit_ctl & t->reg[step->reg].write_mask, err);
	case UNC_STEP_FILTERS:
		return add_settings(t, plan, u, u->filter, u->n_filters, false, err);
	case UNC_STEP_CONTROLS:
		return add_settings(t, plan, u, u->control, u->n_controls, false, err);
	case UNC_STEP_RESTORE:
		rc = add_settings(t, plan, u, u->control, u->n_controls, true, err);
		return rc < 0 ? rc : add_settings(t, plan, u, u->filter, u->n_filters, true, err);
	case UNC_STEP_CLEAR:
		for (size_t i = 0; i < u->n_counters && rc == 0; i++)
			if (t->reg[u->counter[i]].write_mask)
				rc = unc_plan_add(t, plan, u->instance, u->counter[i], UNC_OP_WRITE,
						  0, err);
		return rc;
	default: /* UNC_STEP_GO */
		return 0;
	}
}

/* The steps of all units before `go`, then those after it. */
static int plan_steps(const struct unc_table *t, const struct unc_plan_unit *units, size_t n,
		      bool start, struct unc_plan *out, struct unc_error *err)
{
	int rc = 0;

	*out = (struct unc_plan){0};
	for (int after = 0; after < 2; after++) {
		for (size_t i = 0; i < n; i++) {
			const struct unc_tbl_type *type = &t->type[units[i].instance->type];
			const struct unc_range *steps =
				start ? (units[i].shared ? &type->steps_join : &type->steps_start)
				      : (units[i].shared ? &type->steps_leave : &type->steps_stop);
			bool behind = false;

			/* Where only free-running counters are read nothing is frozen or reset. */
			if (units[i].n_controls == 0)
				continue;
			for (uint32_t k = 0; k < steps->n && rc == 0; k++) {
				const struct unc_tbl_step *step = &t->step[steps->first + k];

				if (behind == (after == 1))
					rc = add_step(t, out, &units[i], step, err);
				behind |= step->kind == UNC_STEP_GO;
			}
		}
		if (!after)
			out->go = out->n;
	}
	if (rc < 0)
		unc_plan_free(out);
	return rc;
}

int unc_plan_freeze(const struct unc_table *t, const struct unc_plan_unit *units, size_t n,
		    bool freeze, struct unc_plan *out, struct unc_error *err)
{
	int rc = 0;

	*out = (struct unc_plan){0};
	for (size_t i = 0; i < n; i++) {
		const struct unc_tbl_type *type = &t->type[units[i].instance->type];
		const struct unc_range *steps = freeze ? &type->steps_stop : &type->steps_start;
		bool behind = false;

		if (units[i].shared || units[i].n_controls == 0)
			continue;
		for (uint32_t k = 0; k < steps->n && rc == 0; k++) {
			const struct unc_tbl_step *step = &t->step[steps->first + k];

			if (step->kind == UNC_STEP_WRITE && behind != freeze)
				rc = add_step(t, out, &units[i], step, err);
			behind |= step->kind == UNC_STEP_GO;
		}
	}
	if (rc < 0)
		unc_plan_free(out);
	return rc;
}

int unc_plan_start(const struct unc_table *t, const struct unc_plan_unit *units, size_t n,
		   struct unc_plan *out, struct unc_error *err)
{
	return plan_steps(t, units, n, true, out, err);
}

int unc_plan_stop(const struct unc_table *t, const struct unc_plan_unit *units, size_t n,
		  struct unc_plan *out, struct unc_error *err)
{
	return plan_steps(t, units, n, false, out, err);
}
