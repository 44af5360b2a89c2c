/* SPDX-License-Identifier: BSD-3-Clause */
#include "units/claim.h"

#include <stdlib.h>
#include <string.h>

int unc_plan_append(struct unc_plan *plan, const struct unc_instance *instance, uint16_t reg,
		    const struct unc_reg_op *op, struct unc_error *err)
{
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
	plan->op[plan->n] = *op;
	plan->tag[plan->n].instance = instance;
	plan->tag[plan->n].reg = reg;
	plan->n++;
	return 0;
}

int unc_plan_add(const struct unc_table *t, struct unc_plan *plan,
		 const struct unc_instance *instance, uint16_t reg, enum unc_op_kind kind,
		 uint64_t value, struct unc_error *err)
{
	struct unc_reg_op op = {.kind = (uint8_t)kind, .value = value};
	int rc = unc_instance_reg(t, instance, reg, &op.reg, err);

	return rc < 0 ? rc : unc_plan_append(plan, instance, reg, &op, err);
}

const uint64_t *unc_plan_value(const struct unc_plan *plan, const struct unc_instance *u,
			       uint16_t reg)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->tag[i].instance == u && plan->tag[i].reg == reg && !plan->op[i].error)
			return &plan->op[i].value;
	return NULL;
}

void unc_plan_free(struct unc_plan *plan)
{
	free(plan->op);
	free(plan->tag);
	*plan = (struct unc_plan){0};
}

static int add_settings(const struct unc_table *t, struct unc_plan *plan, const struct unc_claim *u,
			const struct unc_setting *s, size_t n, bool found, struct unc_error *err)
{
	for (size_t k = 0; k < n; k++) {
		size_t i = found ? n - 1 - k : k; /* restored in the other order */

		/* Bits found set that are not ours to write stay out: the gate would refuse all. */
		uint64_t restore = s[i].restore & t->reg[s[i].reg].write_mask;

		/* What somebody else has set as we need it is not ours to write. */
		if (found ? s[i].state == UNC_NOT_OURS || u->company == UNC_LEFT ||
				    (u->company && s[i].by == UNC_WRITTEN &&
				     s[i].value == s[i].found && restore == s[i].shown)
			  : s[i].by == UNC_JOINED || (u->company && s[i].value == s[i].found))
			continue;
		int rc = unc_plan_add(t, plan, u->instance, s[i].reg, UNC_OP_WRITE,
				      found ? restore : s[i].value, err);
		if (rc < 0)
			return rc;
		/* What it holds now: what was found, until we write; then what it has shown. */
		plan->op[plan->n - 1].low_only =
			unc_reg_shows(t, s[i].reg) &&
			!((found ? restore ^ s[i].shown : s[i].value ^ s[i].found) >> 32);
	}
	return 0;
}

static int add_step(const struct unc_table *t, struct unc_plan *plan, const struct unc_claim *u,
		    const struct unc_tbl_step *step, struct unc_error *err)
{
	int rc = 0;

	switch (step->kind) {
	case UNC_STEP_WRITE:
		return u->n_staying || u->company != UNC_ALONE
			       ? 0
			       : unc_plan_add(t, plan, u->instance, step->reg, UNC_OP_WRITE,
					      step->value, err);
	case UNC_STEP_FOUND:
		return u->n_staying || u->company != UNC_ALONE || u->found == UNC_FOUND_TAKEN
			       ? 0
			       : unc_plan_add(t, plan, u->instance, step->reg, UNC_OP_WRITE,
					      u->unit_ctl & t->reg[step->reg].write_mask, err);
	case UNC_STEP_FILTERS:
		return add_settings(t, plan, u, u->filter, u->n_filters, false, err);
	case UNC_STEP_CONTROLS:
		return add_settings(t, plan, u, u->control + u->n_staying,
				    u->n_controls - u->n_staying, false, err);
	case UNC_STEP_RESTORE:
		rc = add_settings(t, plan, u, u->control + u->n_staying,
				  u->n_controls - u->n_staying, true, err);
		return rc < 0 ? rc : add_settings(t, plan, u, u->filter, u->n_filters, true, err);
	case UNC_STEP_PRELOAD:
		for (size_t i = 0; i < u->n_counters && rc == 0; i++)
			if (u->counter[i].start)
				rc = unc_plan_add(t, plan, u->instance, u->counter[i].reg,
						  UNC_OP_WRITE, u->counter[i].start, err);
		return rc;
	default:
		return 0;
	}
}

/* Beside somebody else those of them that are about the unit are not taken. */
static const struct unc_range *steps_of(const struct unc_tbl_type *type, enum unc_occasion what)
{
	return what == UNC_START  ? &type->steps_start
	       : what == UNC_STOP ? &type->steps_stop
				  : &type->steps_unfreeze;
}

/* What was begun is freed where something went wrong. */
static int finish(struct unc_plan *plan, int rc)
{
	if (rc < 0)
		unc_plan_free(plan);
	return rc;
}

int unc_plan_steps(const struct unc_table *t, const struct unc_claim *u, size_t n,
		   enum unc_occasion what, struct unc_plan *out, struct unc_error *err)
{
	int rc = 0;

	*out = (struct unc_plan){0};
	for (size_t i = 0; i < n; i++) {
		const struct unc_range *steps = steps_of(&t->type[u[i].instance->type], what);

		/* Where only free-running counters are read nothing is written. */
		for (uint32_t k = 0; k < steps->n && u[i].n_controls && rc == 0; k++)
			rc = add_step(t, out, &u[i], &t->step[steps->first + k], err);
	}
	return finish(out, rc);
}

static int look_at(const struct unc_table *t, const struct unc_claim *u, uint16_t reg,
		   struct unc_plan *out, struct unc_error *err)
{
	return unc_reg_shows(t, reg) ? unc_plan_add(t, out, u->instance, reg, UNC_OP_READ, 0, err)
				     : 0;
}

struct unc_setting *unc_claim_setting(struct unc_claim *u, uint16_t reg)
{
	for (size_t i = 0; i < u->n_controls; i++)
		if (u->control[i].reg == reg)
			return &u->control[i];
	for (size_t i = 0; i < u->n_filters; i++)
		if (u->filter[i].reg == reg)
			return &u->filter[i];
	return NULL;
}

struct unc_setting *unc_claim_next(const struct unc_claim *u, const struct unc_setting *last)
{
	size_t next = last ? (size_t)(last - u->control) + 1 : u->n_staying;

	/* Both are in one row. */
	if (next >= u->n_controls && next < u->room)
		next = u->room;
	return next < u->room + u->n_filters ? &u->control[next] : NULL;
}

static bool is_ours(const struct unc_claim *u, uint16_t reg)
{
	for (size_t i = 0; i < u->n_controls; i++)
		if (u->control[i].reg == reg)
			return true;
	return false;
}

/* Controls that are not ours. */
static int look_at_others(const struct unc_table *t, const struct unc_claim *u,
			  struct unc_plan *out, struct unc_error *err)
{
	const struct unc_tbl_type *type = &t->type[u->instance->type];
	unsigned n = type->exclusive && u->n_controls ? type->n_counters : 0;
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++)
		if (!is_ours(u, (uint16_t)(type->first_ctl + i)))
			rc = look_at(t, u, (uint16_t)(type->first_ctl + i), out, err);
	return rc;
}

int unc_plan_look(const struct unc_table *t, const struct unc_claim *units, size_t n,
		  struct unc_plan *out, struct unc_error *err)
{
	int rc = 0;

	*out = (struct unc_plan){0};
	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct unc_claim *u = &units[i];

		for (size_t k = 0; k < u->n_controls && rc == 0; k++)
			rc = look_at(t, u, u->control[k].reg, out, err);
		for (size_t k = 0; k < u->n_filters && rc == 0; k++)
			rc = look_at(t, u, u->filter[k].reg, out, err);
		if (rc == 0 && u->n_controls)
			rc = look_at(t, u, t->type[u->instance->type].unit_ctl, out, err);
		if (rc == 0)
			rc = look_at_others(t, u, out, err);
	}
	return finish(out, rc);
}
