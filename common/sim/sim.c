/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated machine: what it is, its clock, its registers. See sim_machine.h for the rest. */
#include "sim/sim.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "sim/sim_machine.h"

static const uint64_t second = 1000000000;

enum { SLICE_KB = 2560 };

/* ---- what it is */

/* Whether units of a type are counted one by one: those that have a slice of the cache. */
static bool has_slices(const struct unc_table *t, const struct unc_tbl_type *type)
{
	for (const struct unc_tbl_present *r = NULL; (r = UNC_NEXT(t, present, type->presents, r));)
		if (r->last || ((r->msr || r->n_offsets) && r->tells != UNC_TELLS_ALL))
			return true;
	return false;
}

/* KiB of the last level cache of a socket. */
static int cache_of(const struct unc_sim *sim, int socket)
{
	int n = 0;

	for (size_t i = 0; i < sim->n_blocks; i++)
		n += sim->block[i].socket == socket &&
		     has_slices(sim->table, sim->block[i].type->row) && sim->block[i].reg[0].exists;
	return n * SLICE_KB;
}

static int lowest_stepping(const struct unc_table *t)
{
	return t->cpuid->steppings ? __builtin_ctz(t->cpuid->steppings) : 0;
}

void unc_sim_topology(const struct unc_sim *sim, struct unc_topology *out)
{
	const struct unc_tbl_machine *machine = &sim->work->machine;

	*out = (struct unc_topology){.vendor = "GenuineIntel",
				     .family = sim->table->cpuid->family,
				     .model = machine->model,
				     .stepping = lowest_stepping(sim->table),
				     .n_sockets = (int)sim->options.sockets};
	snprintf(out->model_name, sizeof(out->model_name), "%s",
		 sim->work->strings + machine->title);
	int cpus = unc_sim_cpus(sim);
	for (int i = 0; i < out->n_sockets; i++)
		out->socket[i] = (struct unc_socket){.package = i,
						     .cpu = i * cpus,
						     .cores = machine->cores,
						     .cpus = cpus,
						     .cache = cache_of(sim, i),
						     .dies = 1,
						     .first = i * cpus};
	for (int i = 0; i < cpus * out->n_sockets && i < UNC_MAX_CPUS; i++) {
		out->order[i] = (uint16_t)i;
		out->cpu_socket[i] = (uint8_t)(i / cpus + 1);
	}
}

/* ---- time */

static uint64_t monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * second + (uint64_t)t.tv_nsec;
}

static uint64_t clock_of(const struct unc_sim *sim)
{
	return sim->options.clock >= SIM_CLOCK_STEP ? atomic_load(&sim->stepped)
						    : monotonic() - sim->opened;
}

uint64_t unc_sim_time(struct unc_sim *sim)
{
	return clock_of(sim);
}

uint64_t unc_sim_uptime(const struct unc_sim *sim)
{
	return sim->options.base * second + clock_of(sim);
}

uint64_t unc_sim_tsc(const struct unc_sim *sim)
{
	return (uint64_t)((double)unc_sim_uptime(sim) * 1e-9 * sim->work->machine.tsc_hz);
}

void unc_sim_step(struct unc_sim *sim, uint64_t ns)
{
	if (sim->options.clock >= SIM_CLOCK_STEP)
		atomic_fetch_add(&sim->stepped, ns);
}

/* ---- registers */

void *unc_sim_find(struct unc_sim *sim, const struct unc_reg *reg)
{
	struct unc_reg place = *reg;

	if (reg->space == UNC_SPACE_MSR)
		place.target = reg->target / (unsigned)unc_sim_cpus(sim);
	return unc_sim_at(sim, &place);
}

uint64_t unc_sim_enter(struct unc_sim *sim)
{
	pthread_mutex_lock(&sim->lock);
	return unc_sim_uptime(sim); /* under the lock: time does not run backwards */
}

void unc_sim_run(struct unc_sim *sim, struct unc_reg_op *ops, size_t n)
{
	uint64_t now = unc_sim_enter(sim);

	for (size_t i = 0; i < n; i++) {
		if (ops[i].kind == UNC_OP_READ)
			ops[i].value = unc_sim_reg_read(ops[i].handle.sim, now);
		else
			unc_sim_reg_write(ops[i].handle.sim, ops[i].value, now);
		unc_op_done(&ops[i], 0);
	}
	pthread_mutex_unlock(&sim->lock);
}

uint64_t unc_sim_read(struct unc_sim *sim, void *reg)
{
	struct unc_reg_op op = {.kind = UNC_OP_READ, .handle.sim = reg};

	unc_sim_run(sim, &op, 1);
	return op.value;
}

void unc_sim_write(struct unc_sim *sim, void *reg, uint64_t value)
{
	struct unc_reg_op op = {.kind = UNC_OP_WRITE, .value = value, .handle.sim = reg};

	unc_sim_run(sim, &op, 1);
}

/* ---- violations */

unsigned unc_sim_violations(const struct unc_sim *sim, char *last, size_t size)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&sim->lock;

	pthread_mutex_lock(lock);
	unsigned n = sim->violations;
	if (last && size)
		snprintf(last, size, "%s", sim->violation);
	pthread_mutex_unlock(lock);
	return n;
}
