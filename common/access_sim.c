/* SPDX-License-Identifier: BSD-3-Clause */
/* Register access to the simulated machine: one back end for all spaces. */
#include <stdlib.h>

#include "access.h"
#include "sim_machine.h"

struct unc_backend {
	struct unc_sim *sim;
};

static int open_sim(struct unc_fs *fs, struct unc_sim *sim, struct unc_backend **out,
		    struct unc_error *err)
{
	struct unc_backend *backend;

	(void)fs;
	if (!sim)
		return unc_fail(err, UNC_ERR_INVALID, "no simulated machine to access");
	backend = malloc(sizeof(*backend));
	if (!backend)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	backend->sim = sim;
	*out = backend;
	return 0;
}

static int fail_absent(const struct unc_reg *reg, struct unc_error *err)
{
	unsigned long long address = reg->address;

	switch (reg->space) {
	case UNC_SPACE_MSR:
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the simulated machine has no %u-bit msr 0x%llx on cpu %u",
				reg->width, address, reg->target);
	case UNC_SPACE_PCI:
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the simulated machine has no %u-bit register 0x%x in "
				"pci %04x:%02x:%02x.%x",
				reg->width, UNC_PCI_OFFSET(address), UNC_PCI_DOMAIN(address),
				UNC_PCI_BUS(address), UNC_PCI_DEVFN(address) >> 3,
				UNC_PCI_DEVFN(address) & 7);
	case UNC_SPACE_PMU:
	case UNC_SPACE_PERF:
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the simulated machine has no %s 0x%x on cpu %u",
				unc_space_name(reg->space), (unsigned)address, reg->target);
	default:
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the simulated machine has no %u-bit register at physical address "
				"0x%llx",
				reg->width, address);
	}
}

static int prepare(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	void *reg = unc_sim_find(backend->sim, &op->reg);

	if (!reg)
		return fail_absent(&op->reg, err);
	op->handle.sim = reg;
	return 0;
}

static int run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	unc_sim_run(backend->sim, ops, n);
	return 0;
}

static void close_sim(struct unc_backend *backend)
{
	free(backend);
}

const struct unc_access_methods unc_access_sim = {
	.name = "simulated",
	.space = UNC_N_SPACES,
	.open = open_sim,
	.prepare = prepare,
	.run = run,
	.close = close_sim,
};
