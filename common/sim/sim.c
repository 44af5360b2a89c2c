/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated machine: opening it, its clock, and the calls of sim.h. See sim_machine.h for the
 * rest. */
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/nearest.h"
#include "base/text.h"
#include "sim/sim_machine.h"

static const uint64_t second = 1000000000;

enum { SLICE_KB = 2560 };

/* ---- opening and closing */

const struct unc_workload *unc_sim_workload(const struct unc_table *table)
{
	const char *name = unc_tbl_str(table, table->name);
	size_t n;
	const struct unc_workload *const *all = unc_workloads(&n);

	if (table->workload)
		return table->workload;
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i]->cpu, name) == 0 && all[i]->id == table->id)
			return all[i];
	return NULL;
}

static int find_table(struct unc_sim *sim, const char *cpu, const struct unc_table *const *tables,
		      size_t n, struct unc_error *err)
{
	char list[256], near[80];
	struct unc_buf names = UNC_BUF(list);
	struct unc_nearest nearest;

	unc_nearest_start(&nearest, cpu);
	for (size_t i = 0; i < n; i++) {
		const char *name = unc_tbl_str(tables[i], tables[i]->name);

		unc_put_word(&names, name);
		unc_nearest_try_short(&nearest, name);
		if (strcmp(name, cpu) != 0)
			continue;
		sim->table = tables[i];
		sim->work = unc_sim_workload(sim->table);
		if (!sim->work)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"the simulator was built with other tables of %s than the "
					"library: install both from one build",
					name);
		return sim->work->machine.sockets
			       ? 0
			       : unc_fail(err, UNC_ERR_UNAVAILABLE,
					  "%s has no simulated machine: its tables have no "
					  "workload.tbl, which scripts/make-workload makes",
					  name);
	}
	return unc_fail(err, UNC_ERR_NOT_FOUND,
			"there is no simulated machine '%s'%s; there are: %s", cpu,
			unc_nearest_text(&nearest, near, sizeof(near)), list);
}

static uint64_t monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * second + (uint64_t)t.tv_nsec;
}

static int open_machine(struct unc_sim *sim, char *text, const char *node,
			const struct unc_table *const *tables, size_t n, struct unc_error *err)
{
	char *next = NULL, *word = strtok_r(text, ",", &next);
	int rc = find_table(sim, word ? word : "", tables, n, err);

	if (rc == 0)
		rc = unc_sim_options(sim, &next, node, err);
	if (rc == 0)
		rc = unc_sim_build(sim, err);
	return rc < 0 ? rc : unc_sim_bus_build(sim, err);
}

int unc_sim_open(const char *spec, const char *node, const struct unc_table *const *tables,
		 size_t n, struct unc_sim **out, struct unc_error *err)
{
	struct unc_sim *sim = calloc(1, sizeof(*sim));
	char *text = strdup(spec ? spec : "");
	int rc = UNC_ERR_MEMORY;

	if (!sim || !text) {
		unc_fail(err, rc, "out of memory");
		free(sim);
		free(text);
		return rc;
	}
	pthread_mutex_init(&sim->lock, NULL);
	rc = open_machine(sim, text, node, tables, n, err);
	free(text);
	if (rc < 0) {
		unc_sim_close(sim);
		return rc;
	}
	sim->opened = monotonic();
	*out = sim;
	return 0;
}

void unc_sim_close(struct unc_sim *sim)
{
	if (!sim)
		return;
	for (size_t i = 0; sim->type && i < sim->table->n_type; i++)
		free(sim->type[i].rate);
	unc_sim_bus_free(sim);
	free(sim->type);
	free(sim->block);
	free(sim->reg);
	free(sim->counter);
	free(sim->index);
	pthread_mutex_destroy(&sim->lock);
	free(sim);
}

/* ---- what it is */

const struct unc_table *unc_sim_table(const struct unc_sim *sim)
{
	return sim->table;
}

/* Whether units of a type are counted one by one: those that have a slice of the cache. */
static bool has_slices(const struct unc_table *t, const struct unc_tbl_type *type)
{
	for (uint32_t i = 0; i < type->presents.n; i++) {
		const struct unc_tbl_present *row = &t->present[type->presents.first + i];

		if (row->last || ((row->msr || row->n_offsets) && row->tells != UNC_TELLS_ALL))
			return true;
	}
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
	return t->cpuid.steppings ? __builtin_ctz(t->cpuid.steppings) : 0;
}

void unc_sim_topology(const struct unc_sim *sim, struct unc_topology *out)
{
	const struct unc_tbl_machine *machine = &sim->work->machine;

	*out = (struct unc_topology){.vendor = "GenuineIntel",
				     .family = sim->table->cpuid.family,
				     .model = machine->model,
				     .stepping = lowest_stepping(sim->table),
				     .n_sockets = sim->options.sockets};
	snprintf(out->model_name, sizeof(out->model_name), "%s",
		 unc_tbl_str(sim->table, machine->title));
	int cpus = unc_sim_cpus(sim);
	for (int i = 0; i < sim->options.sockets; i++)
		out->socket[i] = (struct unc_socket){.package = i,
						     .cpu = i * cpus,
						     .cores = machine->cores,
						     .cpus = cpus,
						     .cache = cache_of(sim, i),
						     .dies = 1,
						     .first = i * cpus};
	for (int i = 0; i < cpus * sim->options.sockets && i < UNC_MAX_CPUS; i++)
		out->order[i] = (uint16_t)i;
}

int unc_sim_cpus(const struct unc_sim *sim)
{
	return sim->work->machine.cores *
	       (sim->work->machine.threads ? sim->work->machine.threads : 1);
}

struct unc_bus *unc_sim_bus(struct unc_sim *sim)
{
	return &sim->bus.bus;
}

/* ---- time */

uint64_t unc_sim_time(const struct unc_sim *sim)
{
	return sim->options.step ? atomic_load(&sim->stepped) : monotonic() - sim->opened;
}

uint64_t unc_sim_uptime(const struct unc_sim *sim)
{
	return sim->options.base + unc_sim_time(sim);
}

uint64_t unc_sim_tsc(const struct unc_sim *sim)
{
	return (uint64_t)((double)unc_sim_uptime(sim) * 1e-9 * sim->work->machine.tsc_hz);
}

void unc_sim_step(struct unc_sim *sim, uint64_t ns)
{
	if (sim->options.step)
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

void unc_sim_run(struct unc_sim *sim, struct unc_reg_op *ops, size_t n)
{
	pthread_mutex_lock(&sim->lock);
	uint64_t now = unc_sim_uptime(sim); /* under the lock: time does not run backwards */
	unc_sim_overflows(sim, now);
	for (size_t i = 0; i < n; i++) {
		if (ops[i].kind == UNC_OP_READ)
			ops[i].value = unc_sim_reg_read(ops[i].handle.sim, now);
		else
			unc_sim_reg_write(ops[i].handle.sim, ops[i].value, now);
		ops[i].error = ops[i].errno_value = 0;
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

bool unc_sim_counts(const void *reg)
{
	const struct sim_reg *r = reg;

	return r->counter && r->counter->ctr == r;
}

/* ---- violations */

void unc_sim_violation(const struct sim_reg *reg, const char *format, ...)
{
	const struct sim_block *block = reg->block;
	struct unc_sim *sim = block->sim;
	char what[96];

	UNC_FORMAT(what, format);
	snprintf(sim->violation, sizeof(sim->violation), "socket %u %s%u %s: %s", block->socket,
		 unc_tbl_str(sim->table, block->type->row->name), block->index,
		 unc_tbl_str(sim->table, reg->row->name), what);
	sim->violations++;
}

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
