/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated machine: a machine's file (host/dump.h), with registers that behave as those of PMON blocks where tables
 * call them control, counter or status. It counts with the wall clock, or with a clock that a test steps.
 */
#ifndef UNC_SIM_H
#define UNC_SIM_H

#include "base/reg.h"
#include "host/cpu.h"
#include "machine/discover.h"
#include "tables/table.h"

struct unc_machine;
struct unc_sim;

/* The simulator of a machine: the machine is its first member. */
static inline struct unc_sim *unc_machine_sim(const struct unc_machine *machine)
{
	return (struct unc_sim *)(uintptr_t)machine;
}

/*
 * spec: "MACHINE[,option=value]...", see sim_options.c; MACHINE is the name of a CPU or of a built-in machine, or
 * the path of a file, with a slash. node: the node's name, the seed of load=live unless seed= is given.
 * `tables`: those in which the CPU is looked up.
 * Errors: UNC_ERR_INVALID, UNC_ERR_NOT_FOUND with a sentence that lists what is possible.
 */
int unc_sim_open(const char *spec, const char *node, const struct unc_table *const *tables,
		 size_t n, struct unc_sim **out, struct unc_error *err);
void unc_sim_close(struct unc_sim *);

/* The text of a built-in machine; NULL: none has this name. */
const char *unc_sim_text(const char *name, size_t *size);
/* The built-in workload of a table, in *built; NULL: the simulator was built with other tables. */
const struct unc_workload *unc_sim_workload(const struct unc_table *, struct unc_workload *built);

/* Finds the register; NULL if this machine has none there (a real one would fault). */
void *unc_sim_find(struct unc_sim *, const struct unc_reg *);
/* Reads or writes a register found before. */
uint64_t unc_sim_read(struct unc_sim *, void *reg);
void unc_sim_write(struct unc_sim *, void *reg, uint64_t value);

/* Advances the clock of a machine opened with clock=step or wait by ns. */
void unc_sim_step(struct unc_sim *, uint64_t ns);
/* Time of the machine in ns since it was opened, and its TSC. */
uint64_t unc_sim_time(struct unc_sim *);
uint64_t unc_sim_tsc(const struct unc_sim *);

/* For tests: the number of violations so far (1 written to reserved bits, reads of write-only registers, ...). */
unsigned unc_sim_violations(const struct unc_sim *, char *last, size_t size);

#endif
