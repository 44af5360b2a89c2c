/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: ordered register operations, made and run. */
#include <stdlib.h>
#include <string.h>

#include "units/inside.h"

/* ---- a list */

int unc_plan_add(const struct unc_table *t, struct unc_plan *plan, const struct unc_instance *unit,
		 uint16_t reg, enum unc_op_kind kind, uint64_t value, struct unc_error *err)
{
	struct unc_reg_op op = {.kind = (uint8_t)kind, .value = value};
	int rc = unc_instance_reg(t, unit, reg, &op.reg, err);

	if (rc < 0)
		return rc;
	if (plan->n == plan->cap) {
		size_t cap = plan->cap ? 2 * plan->cap : 8;
		void *ops = realloc(plan->op, cap * sizeof(*plan->op));

		if (ops)
			plan->op = ops;
		void *tags = realloc(plan->tag, cap * sizeof(*plan->tag));
		if (tags)
			plan->tag = tags;
		if (!ops || !tags)
			return unc_no_memory(err);
		plan->cap = cap;
	}
	plan->op[plan->n] = op;
	plan->tag[plan->n].instance = unit;
	plan->tag[plan->n++].reg = reg;
	return 0;
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

/* ---- the steps of a set */

struct unc_setting *unc_held_find(const struct unc_set *set, uint16_t reg)
{
	struct unc_held *h = unc_held(set);

	for (size_t i = 0; i < h->n_controls + h->n_filters; i++)
		if (h->setting[i].reg == reg)
			return &h->setting[i];
	return NULL;
}

/* Whether a register is written: a value that another program has set as we need it is not ours to write. */
static bool is_written(const struct unc_set *set, const struct unc_setting *s, bool restored,
		       uint64_t restore)
{
	if (!restored)
		return !s->joined && !(set->shared && s->value == s->found);
	return s->state != UNC_NOT_OURS && !unc_held(set)->left &&
	       !(set->shared && !s->joined && s->value == s->found && restore == s->shown);
}

/* Appends writes of n settings; they are restored in reverse order. */
static int add_settings(const struct unc_table *t, struct unc_plan *plan, const struct unc_set *set,
			const struct unc_setting *first, size_t n, bool restored,
			struct unc_error *err)
{
	int rc = 0;

	for (size_t k = 0; k < n && rc == 0; k++) {
		const struct unc_setting *s = &first[restored ? n - 1 - k : k];
		/* Bits that were found set but that we may not write are dropped: the gate would refuse all. */
		uint64_t restore = s->restore & t->reg[s->reg].write_mask;

		if (!is_written(set, s, restored, restore))
			continue;
		rc = unc_plan_add(t, plan, set->unit, s->reg, UNC_OP_WRITE,
				  restored ? restore : s->value, err);
		/* The register holds what was found, until we write it; afterwards what it has shown. */
		if (rc == 0)
			plan->op[plan->n - 1].low_only =
				unc_reg_shows(t, s->reg) &&
				!((restored ? restore ^ s->shown : s->value ^ s->found) >> 32);
	}
	return rc;
}

static int add_step(const struct unc_table *t, struct unc_plan *plan, const struct unc_set *set,
		    const struct unc_tbl_step *step, struct unc_error *err)
{
	const struct unc_held *h = unc_held(set);
	const struct unc_setting *filters = h->setting + h->n_controls;
	bool alone = !set->shared && !h->left;
	int rc = 0;

	switch (step->kind) {
	case UNC_STEP_WRITE: /* beside others nothing is written that concerns the whole unit */
		return alone ? unc_plan_add(t, plan, set->unit, step->reg, UNC_OP_WRITE,
					    step->value, err)
			     : 0;
	case UNC_STEP_FOUND:
		return alone && !h->taken
			       ? unc_plan_add(t, plan, set->unit, step->reg, UNC_OP_WRITE,
					      h->unit.restore & t->reg[step->reg].write_mask, err)
			       : 0;
	case UNC_STEP_FILTERS:
		return add_settings(t, plan, set, filters, h->n_filters, false, err);
	case UNC_STEP_CONTROLS:
		return add_settings(t, plan, set, h->setting, h->n_controls, false, err);
	case UNC_STEP_RESTORE:
		rc = add_settings(t, plan, set, h->setting, h->n_controls, true, err);
		return rc < 0 ? rc : add_settings(t, plan, set, filters, h->n_filters, true, err);
	case UNC_STEP_PRELOAD:
		for (size_t i = 0; i < set->n && rc == 0; i++)
			if (set->counter[i].start)
				rc = unc_plan_add(t, plan, set->unit, set->counter[i].ctr,
						  UNC_OP_WRITE, set->counter[i].start, err);
		return rc;
	default:
		return 0;
	}
}

int unc_plan_steps(const struct unc_table *t, const struct unc_set *set, enum unc_occasion what,
		   struct unc_plan *plan, struct unc_error *err)
{
	const struct unc_tbl_type *type = &t->type[set->unit->type];
	const struct unc_range *steps = what == UNC_START  ? &type->steps_start
					: what == UNC_STOP ? &type->steps_stop
							   : &type->steps_unfreeze;
	int rc = 0;

	/* If only free-running counters are read, nothing is written. */
	for (uint32_t k = 0; k < steps->n && unc_held(set)->n_controls && rc == 0; k++)
		rc = add_step(t, plan, set, &t->step[steps->first + k], err);
	return rc;
}

static int add_readable(const struct unc_table *t, const struct unc_set *set, uint16_t reg,
			struct unc_plan *out, struct unc_error *err)
{
	return unc_reg_shows(t, reg) ? unc_plan_add(t, out, set->unit, reg, UNC_OP_READ, 0, err)
				     : 0;
}

int unc_plan_look(const struct unc_table *t, const struct unc_set *set, struct unc_plan *out,
		  struct unc_error *err)
{
	const struct unc_tbl_type *type = &t->type[set->unit->type];
	const struct unc_held *h = unc_held(set);
	unsigned others = type->exclusive && h->n_controls ? type->n_counters : 0;
	int rc = 0;

	for (size_t k = 0; k < h->n_controls + h->n_filters && rc == 0; k++)
		rc = add_readable(t, set, h->setting[k].reg, out, err);
	if (rc == 0 && h->n_controls)
		rc = add_readable(t, set, type->unit_ctl, out, err);
	for (unsigned i = 0; i < others && rc == 0; i++)
		if (!unc_held_find(set, (uint16_t)(type->first_ctl + i)))
			rc = add_readable(t, set, (uint16_t)(type->first_ctl + i), out, err);
	return rc;
}

/* ---- running a plan */

int unc_plan_fail(const struct unc_platform *p, const struct unc_plan *plan, const char *what,
		  struct unc_error *err)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct unc_reg_op *op = &plan->op[i];
		const struct unc_plan_tag *tag = &plan->tag[i];

		if (!op->error)
			continue;
		if (op->error == UNC_ERR_BUSY)
			return unc_fail(err, op->error,
					"%s failed: the kernel has no counter left for one of the "
					"events",
					what);
		return unc_fail(err, op->error, "%s failed: %s of %s at %s: %s", what,
				unc_reg_name(p->table, tag->reg),
				unc_unit_name(p, tag->instance).text, tag->instance->location,
				op->errno_value ? strerror(op->errno_value)
						: unc_error_name(op->error));
	}
	return 0;
}

static bool only_reads(const struct unc_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->op[i].kind != UNC_OP_READ)
			return false;
	return true;
}

int unc_plan_run(struct unc_platform *p, struct unc_plan *plan, const char *what,
		 struct unc_error *err)
{
	struct unc_error why = {0};
	int rc;

	if (!plan->n)
		return 0;
	if (only_reads(plan))
		rc = unc_access_read(p->access, plan->op, plan->n, &why);
	else if ((rc = unc_access_prepare(p->access, plan->op, plan->n, &why)) == 0)
		rc = unc_access_run(p->access, plan->op, plan->n);
	if (why.code)
		return unc_fail(err, rc, "%s", why.text);
	return rc < 0 ? unc_plan_fail(p, plan, what, err) : 0;
}

int unc_plan_run_once(struct unc_platform *p, struct unc_plan *plan, int rc, const char *what,
		      struct unc_error *err)
{
	if (rc == 0)
		rc = unc_plan_run(p, plan, what, err);
	unc_plan_free(plan);
	return rc;
}

int unc_plan_restore(struct unc_platform *p, struct unc_plan *plan, struct unc_error *err)
{
	enum { TRIES = 3 };
	bool failed = plan->n && unc_access_run(p->access, plan->op, plan->n) < 0;

	for (int k = 0; failed && k < TRIES; k++) {
		failed = false;
		for (size_t i = 0; i < plan->n; i++)
			if (plan->op[i].error)
				failed |= unc_access_run(p->access, &plan->op[i], 1) < 0;
	}
	return failed ? unc_plan_fail(p, plan, "restoring what was found", err) : 0;
}

/* ---- bits that read back as written */

/* Bits of a control that decide what is counted. Other bits may be write-only, or act once. */
static uint64_t deciding_bits(const struct unc_table *t, const struct unc_tbl_type *type,
			      uint16_t reg)
{
	uint64_t bits = type->enable | type->active;

	if (t->reg[reg].role != UNC_ROLE_CTL)
		return UINT64_MAX;
	for (int i = 0; i < 2; i++) {
		uint16_t at = i ? type->f_umask : type->f_event;
		const struct unc_tbl_field *f = at == UNC_NONE ? NULL : &t->field[at];

		for (int k = 0; f && k < 2 && f->width[k]; k++)
			if (f->reg[k] == UNC_NONE)
				bits |= unc_ones(f->width[k]) << f->lo[k];
	}
	return bits;
}

uint64_t unc_readback_mask(const struct unc_table *t, const struct unc_instance *u, uint16_t reg,
			   uint64_t value)
{
	return t->reg[reg].write_mask & ~(value & ~deciding_bits(t, &t->type[u->type], reg));
}
