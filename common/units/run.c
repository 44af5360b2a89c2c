/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: running plans. */
#include <string.h>

#include "units/inside.h"

int unc_units_fail_op(const struct unc_units *s, const struct unc_plan *plan, const char *what,
		      struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;

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
				unc_reg_name(t, tag->reg), unc_unit_name(s, tag->instance).text,
				tag->instance->location,
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

int unc_units_run_plan(struct unc_units *s, struct unc_plan *plan, const char *what,
		       struct unc_error *err)
{
	struct unc_access *access = s->platform->access;
	struct unc_error why = {0};
	int rc;

	if (!plan->n)
		return 0;
	if (only_reads(plan))
		rc = unc_access_read(access, plan->op, plan->n, &why);
	else if ((rc = unc_access_prepare(access, plan->op, plan->n, &why)) == 0)
		rc = unc_access_run(access, plan->op, plan->n);
	if (why.code)
		return unc_fail(err, rc, "%s", why.text);
	return rc < 0 ? unc_units_fail_op(s, plan, what, err) : 0;
}

int unc_units_run_once(struct unc_units *s, struct unc_plan *plan, int rc, const char *what,
		       struct unc_error *err)
{
	if (rc == 0)
		rc = unc_units_run_plan(s, plan, what, err);
	unc_plan_free(plan);
	return rc;
}

int unc_units_read_one(struct unc_units *s, const struct unc_instance *u, uint16_t reg,
		       const char *what, uint64_t *value, struct unc_error *err)
{
	struct unc_plan plan = {0};
	int rc = unc_plan_add(s->platform->table, &plan, u, reg, UNC_OP_READ, 0, err);

	if (rc == 0)
		rc = unc_units_run_plan(s, &plan, what, err);
	if (rc == 0)
		*value = plan.op[0].value;
	unc_plan_free(&plan);
	return rc;
}

int unc_units_restore(struct unc_units *s, struct unc_plan *plan, struct unc_error *err)
{
	enum { TRIES = 3 };
	bool failed = plan->n && unc_access_run(s->platform->access, plan->op, plan->n) < 0;

	for (int k = 0; failed && k < TRIES; k++) {
		failed = false;
		for (size_t i = 0; i < plan->n; i++)
			if (plan->op[i].error)
				failed |= unc_access_run(s->platform->access, &plan->op[i], 1) < 0;
	}
	return failed ? unc_units_fail_op(s, plan, "putting back what was found", err) : 0;
}
