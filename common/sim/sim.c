/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated machine: its clock, its registers. See sim_machine.h for the rest. */
#include "sim/sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/sim_machine.h"

static const uint64_t second = 1000000000;

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

/* Whether a register overlaps one of a monitor. */
static bool overlaps_monitor(const struct unc_sim *sim, const struct unc_reg *reg)
{
	const bool msr = reg->space == UNC_SPACE_MSR;

	for (int at = msr ? 0 : -4; at < (msr ? 1 : reg->width / 8); at += 4)
		for (unsigned width = 32; width <= 64; width += 32) {
			struct unc_reg other = *reg;

			other.address += (uint64_t)at;
			other.width = (uint8_t)width;
			if (at + (int)width / 8 > 0 && unc_sim_at(sim, &other))
				return true;
		}
	return false;
}

/* A register outside of the monitors, kept for later operations on it. NULL: none is there. */
static struct sim_reg *find_plain(struct unc_sim *sim, const struct unc_reg *reg)
{
	static const struct unc_tbl_reg row = {.width = 64, .flags = UNC_REG_RO};
	const struct unc_dump_entry *file;
	struct sim_plain *added;
	uint64_t value;

	for (struct sim_plain *p = sim->plain; p; p = p->next)
		if (p->reg.reg.space == reg->space && p->reg.reg.address == reg->address &&
		    p->reg.reg.target == reg->target && p->reg.reg.width == reg->width)
			return &p->reg;
	if (!unc_sim_place(sim, reg, &file, &value) || !file ||
	    !(added = calloc(1, sizeof(*added))))
		return NULL;
	added->reg = (struct sim_reg){
		.reg = *reg, .row = &row, .value = value, .file = file, .exists = true};
	added->next = sim->plain;
	sim->plain = added;
	return &added->reg;
}

void *unc_sim_find(struct unc_sim *sim, const struct unc_reg *reg)
{
	struct unc_reg place = *reg;
	struct sim_reg *found;

	if (reg->space == UNC_SPACE_MSR)
		place.target = (uint32_t)unc_topology_socket(&sim->top, (int)reg->target);
	if ((found = unc_sim_at(sim, &place)))
		return found;
	if (overlaps_monitor(sim, &place))
		return NULL;
	pthread_mutex_lock(&sim->lock);
	found = find_plain(sim, reg);
	pthread_mutex_unlock(&sim->lock);
	return found;
}

uint64_t unc_sim_enter(struct unc_sim *sim)
{
	pthread_mutex_lock(&sim->lock);
	return unc_sim_uptime(sim); /* under the lock: time never runs backwards */
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
