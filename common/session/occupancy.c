/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/occupancy.h"

int unc_occupancy_look(const struct unc_table *t, const struct unc_instance *u,
		       unc_wanted_fn wanted, const void *user, struct unc_plan *plan,
		       struct unc_error *err)
{
	const struct unc_range *regs = &t->type[u->type].regs;
	int rc = 0;

	for (uint32_t i = 0; i < regs->n && rc == 0; i++) {
		uint16_t reg = (uint16_t)(regs->first + i);
		uint8_t role = t->reg[reg].role;

		if (role == UNC_ROLE_CTL || role == UNC_ROLE_FIXED_CTL ||
		    (wanted && wanted(user, reg)))
			rc = unc_plan_add(t, plan, u, reg, UNC_OP_READ, 0, err);
	}
	return rc;
}

uint16_t unc_counter_in_use(const struct unc_table *t, const struct unc_plan *plan, size_t op)
{
	const struct unc_tbl_type *type = &t->type[plan->tag[op].instance->type];
	uint16_t reg = plan->tag[op].reg;
	uint64_t value = plan->op[op].value;

	if (plan->op[op].error)
		return UNC_NONE;
	if (t->reg[reg].role == UNC_ROLE_CTL)
		return value & type->active ? unc_type_ctr(type, t->reg[reg].number) : UNC_NONE;
	for (uint32_t i = 0; i < type->counters.n; i++) {
		const struct unc_tbl_counter *c = &t->counter[type->counters.first + i];

		if (c->ctl == reg && (value & c->enable))
			return c->ctr;
	}
	return UNC_NONE;
}

/* Whether we count with the control, and nobody has taken it from us. */
static bool ours(const struct unc_plan_unit *own, uint16_t reg)
{
	for (size_t i = 0; own && i < own->n_controls; i++)
		if (own->control[i].reg == reg)
			return !own->control[i].keep;
	return false;
}

struct unc_occupancy unc_occupancy(const struct unc_table *t, const struct unc_plan *plan,
				   const struct unc_instance *u, const struct unc_plan_unit *own)
{
	struct unc_occupancy found = {0};

	for (size_t i = 0; i < plan->n; i++) {
		uint16_t ctl = plan->tag[i].reg;

		if (plan->tag[i].instance != u || unc_counter_in_use(t, plan, i) == UNC_NONE ||
		    ours(own, ctl))
			continue;
		found.shared = true;
		if (t->reg[ctl].role == UNC_ROLE_CTL)
			found.others.one[found.others.n++] = (struct unc_other){
				.ctl = plan->op[i].value, .counter = t->reg[ctl].number};
	}
	return found;
}
