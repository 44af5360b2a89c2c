/* SPDX-License-Identifier: BSD-3-Clause */
/* Ordered register operations, each with its unit and register. Others run them, or only show them. */
#ifndef UNC_PLAN_H
#define UNC_PLAN_H

#include "machine/discover.h"

/* Free with unc_plan_free(). */
struct unc_plan {
	struct unc_reg_op *op;
	struct unc_plan_tag {
		const struct unc_instance *instance;
		uint16_t reg; /* index into table->reg */
	} * tag;
	size_t n, cap;
};

/* Appends one operation on a register of the unit. */
int unc_plan_add(const struct unc_table *, struct unc_plan *, const struct unc_instance *,
		 uint16_t reg, enum unc_op_kind kind, uint64_t value, struct unc_error *err);
/* What was read from a register of the unit; NULL: it was not read. */
const uint64_t *unc_plan_value(const struct unc_plan *, const struct unc_instance *, uint16_t reg);
void unc_plan_free(struct unc_plan *);

#endif
