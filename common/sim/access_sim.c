/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated machine as the platform sees it: one access method for all spaces, its own bus and
 * clock. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "base/nearest.h"
#include "base/text.h"
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

static int prepare(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	void *reg = unc_sim_find(backend->sim, &op->reg);

	if (backend->sim->options.rights > SIM_RIGHTS_ALL)
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
	*out = &unc_machine_sim(machine)->bus.bus;
	return 0;
}

static void now(const struct unc_machine *machine, uint64_t *ns, uint64_t *tsc)
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
	.topology = topology,
	.bus = bus,
	.now = now,
	.pause = pause_sim,
	.close = close_machine,
};

const struct unc_workload *unc_sim_workload(const struct unc_table *table,
					    struct unc_workload *built)
{
	for (size_t i = 0; unc_workload_built(i, built); i++)
		if (built->id == table->id)
			return built;
	return NULL;
}

static int find_table(struct unc_sim *sim, const char *cpu, const struct unc_table *const *tables,
		      size_t n, struct unc_error *err)
{
	char list[400], near[80];
	struct unc_buf names = UNC_BUF(list);
	struct unc_nearest nearest;

	unc_nearest_start(&nearest, cpu);
	for (size_t i = 0; i < n; i++) {
		const char *name = unc_tbl_str(tables[i], tables[i]->name);

		unc_put_word(&names, name);
		unc_nearest_try_short(&nearest, name);
		if (!unc_cpu_is(tables[i], cpu))
			continue;
		sim->table_of = *tables[i];
		sim->table = &sim->table_of;
		sim->work = unc_sim_workload(sim->table, &sim->work_of);
		if (!sim->work)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"the simulator was built with other tables of %s than the "
					"library: install both from one build",
					name);
		return sim->work->machine.sockets
			       ? unc_sim_rates(sim, err)
			       : unc_fail(err, UNC_ERR_UNAVAILABLE,
					  "%s has no simulated machine: its tables have no "
					  "workload.tbl, which scripts/make-workload makes",
					  name);
	}
	return unc_fail(err, UNC_ERR_NOT_FOUND,
			"there is no simulated machine '%s'%s; there are: %s", cpu,
			unc_nearest_text(&nearest, near, sizeof(near)), list);
}

static int build(struct unc_sim *sim, char *text, const char *node,
		 const struct unc_table *const *tables, size_t n, struct unc_error *err)
{
	char *next = NULL, *word = strtok_r(text, ",", &next);
	int rc = find_table(sim, word ? word : "", tables, n, err);

	if (rc == 0)
		rc = unc_sim_options(sim, &next, node, err);
	if (rc == 0)
		rc = unc_sim_build(sim, err);
	if (rc == 0)
		rc = unc_sim_tree_build(sim, err);
	if (rc == 0)
		rc = unc_sim_bus_build(sim, err);
	if (rc < 0)
		return rc;
	sim->opened = unc_sim_time(sim);
	sim->machine = (struct unc_machine){
		.methods = &methods,
		.events = sim->options.kernel == SIM_KERNEL_ON ? &unc_sim_events : NULL,
		.tree = sim->tree,
		.table = sim->table,
		.tsc_hz = sim->work->machine.tsc_hz,
		.memory_speed = (unsigned)sim->options.memory,
		.clusters = sim->options.no_nodes ? 0 : (unsigned)sim->options.clusters,
		.simulated = true,
	};
	return 0;
}

int unc_sim_open(const char *spec, const char *node, const struct unc_table *const *tables,
		 size_t n, struct unc_sim **out, struct unc_error *err)
{
	struct unc_sim *sim = calloc(1, sizeof(*sim));
	char *text = strdup(spec ? spec : "");
	int rc = UNC_ERR_MEMORY;

	if (sim)
		pthread_mutex_init(&sim->lock, NULL);
	if (sim && text)
		rc = build(sim, text, node, tables, n, err);
	else
		unc_fail(err, rc, "out of memory");
	free(text);
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
	unc_sim_kernel_free(sim);
	unc_sim_bus_free(sim);
	unc_sim_tree_free(sim);
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
