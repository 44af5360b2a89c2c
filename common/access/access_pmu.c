/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monitor of an Itanium hardware thread. Only privileged code reaches its registers. Linux 5.10
 * removed the kernel's interface to them, perfmonctl(), and 6.7 the architecture: so nothing can be
 * opened, and each register gives the reason. The simulated machine has these registers.
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
	return (int)n; /* not reached: pmu_prepare() always fails */
}

const struct unc_access_methods unc_access_pmu = {
	.name = "pmu",
	.spaces = 1 << UNC_SPACE_PMU,
	.direct = true,
	.prepare = pmu_prepare,
	.run = pmu_run,
};
