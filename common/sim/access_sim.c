/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated machine as the platform sees it: one access method for all spaces, its own bus and clock. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "host/fs.h"
#include "host/machine.h"
#include "machine/simulator.h"
#include "sim/sim_machine.h"

/* ---- registers */

struct unc_backend {
	struct unc_sim *sim;
};

static void open_backend(struct unc_backend *backend, struct unc_machine *machine)
{
	backend->sim = unc_machine_sim(machine);
}

static int fail_absent(const struct unc_reg *reg, struct unc_error *err)
{
	unsigned long long shown = unc_reg_shown(reg);

	if (reg->space == UNC_SPACE_PCI)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the simulated machine has no %u-bit register 0x%llx in pci %s",
				reg->width, shown, unc_pci_name(reg->address).text);
	if (reg->space == UNC_SPACE_MMIO)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the simulated machine has no %u-bit register at physical address "
				"0x%llx",
				reg->width, shown);
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"the simulated machine has no %u-bit %s 0x%llx on cpu %u", reg->width,
			unc_space_name(reg->space), shown, reg->target);
}

static int prepare_op(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	struct sim_reg *reg = unc_sim_find(backend->sim, &op->reg);
	const bool write = op->kind == UNC_OP_WRITE;

	if (reg && reg->file && reg->file->error[write]) {
		op->errno_value = reg->file->error[write];
		return unc_fail(err, unc_fs_error(op->errno_value),
				"/%s of the simulated machine cannot be %s: %s", reg->file->path,
				write ? "written" : "read", unc_fs_reason(op->errno_value));
	}
	if (!reg) {
		op->errno_value = EIO; /* as a real access that faults */
		return fail_absent(&op->reg, err);
	}
	op->handle.sim = reg;
	return 0;
}

static int run_ops(struct unc_backend *backend, struct unc_reg_op *ops, size_t n)
{
	unc_sim_run(backend->sim, ops, n);
	return 0;
}

static const struct unc_access_methods simulated_access = {
	.name = "simulated",
	.spaces = UNC_EVERY_SPACE,
	.direct = true,
	.backend = sizeof(struct unc_backend),
	.open = open_backend,
	.prepare = prepare_op,
	.run = run_ops,
};
static const struct unc_access_methods *const access_list[] = {&simulated_access, NULL};

/* ---- the machine */

static int build_units(struct unc_machine *machine, const struct unc_instances *units,
		       struct unc_error *err)
{
	return unc_sim_build(unc_machine_sim(machine), units, err);
}

static void read_clocks(const struct unc_machine *machine, uint64_t *ns, uint64_t *tsc)
{
	*ns = unc_sim_time(unc_machine_sim(machine));
	if (tsc)
		*tsc = unc_sim_tsc(unc_machine_sim(machine));
}

static bool pause_sim(struct unc_machine *machine, uint64_t ns)
{
	struct unc_sim *sim = unc_machine_sim(machine);

	if (sim->options.clock < SIM_CLOCK_STEP)
		return unc_machine_sleep(machine, ns);
	if (sim->options.clock == SIM_CLOCK_WAIT)
		unc_sim_step(sim, ns);
	return sim->options.clock == SIM_CLOCK_WAIT;
}

static void close_machine(struct unc_machine *machine)
{
	unc_sim_close(unc_machine_sim(machine));
}

/* ---- opening it */

static const struct unc_machine_methods methods = {
	.access = access_list,
	.found = build_units,
	.now = read_clocks,
	.pause = pause_sim,
	.close = close_machine,
};

static int build_machine(struct unc_sim *sim, const char *node,
			 const struct unc_table *const *tables, size_t n, struct unc_error *err)
{
	char *next = NULL, *word = strtok_r(sim->text, ",", &next);
	int rc = unc_sim_options(sim, &next, node, err);

	if (rc < 0 || (rc = unc_sim_files(sim, word ? word : "", tables, n, err)) < 0 ||
	    (rc = unc_sim_rates(sim, err)) < 0 || (rc = unc_sim_types(sim, err)) < 0)
		return rc;
	sim->opened = unc_sim_time(sim);
	sim->machine = (struct unc_machine){
		.methods = &methods,
		.fs = sim->fs,
		.top = &sim->top,
		.table = sim->table,
		.tsc_hz = sim->work->machine.tsc_hz,
		.memory_speed = (unsigned)sim->options.memory,
		.simulated = true,
		.stepped = sim->options.clock >= SIM_CLOCK_STEP,
	};
	return 0;
}

int unc_sim_open(const char *spec, const char *node, const struct unc_table *const *tables,
		 size_t n, struct unc_sim **out, struct unc_error *err)
{
	struct unc_sim *sim = calloc(1, sizeof(*sim));
	int rc;

	if (!sim)
		return unc_no_memory(err);
	pthread_mutex_init(&sim->lock, NULL);
	sim->text = strdup(spec ? spec : "");
	rc = sim->text ? build_machine(sim, node, tables, n, err) : unc_no_memory(err);
	if (rc < 0)
		unc_sim_close(sim);
	else
		*out = sim;
	return rc;
}

void unc_sim_close(struct unc_sim *sim)
{
	if (!sim)
		return;
	for (size_t i = 0; sim->type && i < sim->table->n_type; i++)
		free(sim->type[i].rate);
	for (struct sim_plain *p = sim->plain, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	unc_fs_close(sim->fs);
	free(sim->text);
	free(sim->rate);
	free(sim->unit);
	free(sim->type);
	free(sim->block);
	free(sim->reg);
	free(sim->counter);
	free(sim->index);
	pthread_mutex_destroy(&sim->lock);
	free(sim);
}

static int open_machine(const char *spec, const char *node, const struct unc_table *const *tables,
			size_t n, struct unc_machine **out, struct unc_error *err)
{
	struct unc_sim *sim;
	int rc = unc_sim_open(spec, node, tables, n, &sim, err);

	if (rc == 0)
		*out = &sim->machine;
	return rc;
}

const struct unc_simulator *unc_simulator(void)
{
	static const struct unc_simulator simulator = {
		.version = UNC_SIMULATOR_VERSION, .build = UNC_VERSION, .open = open_machine};

	return &simulator;
}
