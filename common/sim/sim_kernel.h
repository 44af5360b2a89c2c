/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the simulated kernel: sim_kernel.c has the calls, who counts when, and what a program
 * gets; sim_driver.c what the driver does to a unit.
 */
#ifndef UNC_SIM_KERNEL_H
#define UNC_SIM_KERNEL_H

#include "sim/sim_machine.h"

enum sim_state { SIM_STOPPED, SIM_WAITING, SIM_COUNTING, SIM_FAILED };

/* A box is a unit of one socket: events of one PMU and block share its counters. */
struct sim_event {
	struct sim_block *block;
	const struct unc_tbl_kernel *pmu;
	uint64_t config;
	uint32_t filter[4], mask[4]; /* of the registers pmu->config */
	uint32_t slots;              /* positions in block->counter that the driver knows for it */
	int slot, wanted;            /* that it has, and is to have; -1: none now */
	uint64_t last, count;
	struct sim_event *leader, *next; /* of its group */
	/* Of the group, with its leader. */
	bool pinned;
	enum sim_state state;
	uint64_t enabled, running, at; /* ns, up to then */
};

/* What the driver makes of config, config1 and config2; false: it knows no such event. */
bool unc_sim_event_take(struct sim_event *, const uint64_t config[3]);
/* A counter for each: the choosiest first, what it has, else the lowest. False: they do not fit. */
bool unc_sim_event_assign(struct sim_event *const *, size_t n, int *slot);
void unc_sim_event_start(struct sim_event *, int slot, uint64_t now);
void unc_sim_event_stop(struct sim_event *, uint64_t now);
/* Brings the count of one that has a slot up to date. */
void unc_sim_event_count(struct sim_event *, uint64_t now);
/* Freezes the box of an event, or lets it run. */
void unc_sim_event_freeze(const struct sim_event *, bool frozen, uint64_t now);

#endif
