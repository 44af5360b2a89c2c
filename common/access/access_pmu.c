/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monitor of an Itanium's hardware thread. Its registers are reached from privileged code only,
 * and the kernel's interface to them, perfmonctl(), went with Linux 5.10, the architecture itself
 * with 6.7: so there is nothing to open, and each register says why. The simulated machine has
 * them.
 */
#include "access/access.h"

static int pmu_prepare(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	(void)backend;
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"cpu %u: Linux has no interface to an Itanium's monitors (perfmonctl() was "
			"removed in 5.10)",
			op->reg.target);
}

static int pmu_run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	(void)backend;
	(void)ops;
	return (int)n; /* none can have been prepared */
}

const struct unc_access_methods unc_access_pmu = {
	.name = "pmu",
	.spaces = 1 << UNC_SPACE_PMU,
	.direct = true,
	.prepare = pmu_prepare,
	.run = pmu_run,
};
