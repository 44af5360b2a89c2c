/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated machine as the platform sees it: one access method for all spaces, its own bus and
 * clock. */
#include <errno.h>
#include <stdlib.h>

#include "access/access.h"
#include "host/machine.h"
#include "machine/simulator.h"
#include "sim/sim_machine.h"

/* ---- registers */

struct unc_backend {
	struct unc_sim *sim;
};

static void open_sim(struct unc_backend *backend, struct unc_machine *machine)
{
	backend->sim = unc_machine_sim(machine);
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
				"the simulated machine has no %u-bit register 0x%x in pci %s",
				reg->width, UNC_PCI_OFFSET(address), unc_pci_name(address).text);
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

	if (!backend->sim->options.registers)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"registers of the simulated machine: permission denied");
	if (!reg) {
		op->errno_value = EIO; /* it faults */
		return fail_absent(&op->reg, err);
	}
	op->handle.sim = reg;
	return 0;
}

static int run(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	unc_sim_run(backend->sim, ops, n);
	return 0;
}

static const struct unc_access_methods simulated_access = {
	.name = "simulated",
	.spaces = UNC_EVERY_SPACE,
	.direct = true,
	.backend = sizeof(struct unc_backend),
	.open = open_sim,
	.prepare = prepare,
	.run = run,
};
static const struct unc_access_methods *const access_list[] = {&simulated_access, NULL};

/* ---- the machine */

static int topology(struct unc_machine *machine, struct unc_topology *out, struct unc_error *err)
{
	(void)err;
	unc_sim_topology(unc_machine_sim(machine), out);
	return 0;
}

static int bus(struct unc_machine *machine, struct unc_bus **out, struct unc_error *err)
{
	(void)err;
	*out = unc_sim_bus(unc_machine_sim(machine));
	return 0;
}

static void now(const struct unc_machine *machine, uint64_t *ns, uint64_t *tsc)
{
	*ns = unc_sim_time(unc_machine_sim(machine));
	*tsc = unc_sim_tsc(unc_machine_sim(machine));
}

static bool pause_sim(struct unc_machine *machine, uint64_t ns)
{
	struct unc_sim *sim = unc_machine_sim(machine);

	if (!sim->options.step)
		return unc_machine_sleep(machine, ns);
	if (sim->options.wait)
		unc_sim_step(sim, ns);
	return sim->options.wait;
}

static void close_machine(struct unc_machine *machine)
{
	unc_sim_kernel_free(unc_machine_sim(machine));
	unc_sim_close(unc_machine_sim(machine));
}

/* ---- opening it */

static const struct unc_machine_methods methods = {
	.access = access_list,
	.topology = topology,
	.bus = bus,
	.now = now,
	.pause = pause_sim,
	.close = close_machine,
};

static int open_machine(const char *spec, const char *node, const struct unc_table *const *tables,
			size_t n, struct unc_machine **out, struct unc_error *err)
{
	struct unc_sim *sim;
	int rc = unc_sim_open(spec, node, tables, n, &sim, err);

	if (rc < 0)
		return rc;
	sim->machine = (struct unc_machine){
		.methods = &methods,
		.events = sim->options.kernel ? &unc_sim_events : NULL,
		.table = sim->table,
		.tsc_hz = sim->work->machine.tsc_hz,
		.memory_speed = sim->options.memory,
		.simulated = true,
	};
	*out = &sim->machine;
	return 0;
}

const struct unc_simulator *unc_simulator(void)
{
	static const struct unc_simulator simulator = {
		.version = UNC_SIMULATOR_VERSION, .build = UNC_VERSION, .open = open_machine};

	return &simulator;
}
