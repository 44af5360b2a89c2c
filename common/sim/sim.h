/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated machine: what a machine's file says of it (host/dump.h), where the registers that tables call control,
 * counter or status behave as those of a PMON block. It counts with the wall clock, or with a clock that a test steps.
 */
#ifndef UNC_SIM_H
#define UNC_SIM_H

#include "base/reg.h"
#include "host/cpu.h"
#include "machine/discover.h"
#include "tables/table.h"

struct unc_machine;
struct unc_sim;

/* What is behind it, which begins with the machine. */
static inline struct unc_sim *unc_machine_sim(const struct unc_machine *machine)
{
	return (struct unc_sim *)(uintptr_t)machine;
}

/*
 * spec: "MACHINE[,option=value]...", see sim_options.c; MACHINE is the name of a CPU, of one of the machines that are
 * built in, or the path of a file, with a slash. node: its name, from which load=live draws what
 * differs between machines, unless seed= is given. `tables`: where to look the CPU up.
 * Errors: UNC_ERR_INVALID, UNC_ERR_NOT_FOUND with a sentence that lists what is possible.
 */
int unc_sim_open(const char *spec, const char *node, const struct unc_table *const *tables,
		 size_t n, struct unc_sim **out, struct unc_error *err);
void unc_sim_close(struct unc_sim *);

/* The text of a machine that is compiled in; NULL: there is none of this name. */
const char *unc_sim_text(const char *name, size_t *size);
/* The machine of a table and the lines of its workload, in *built; NULL: those compiled in are of another table. */
const struct unc_workload *unc_sim_workload(const struct unc_table *, struct unc_workload *built);

/* Finds the register; NULL if this machine has none there (a real one would fault). */
void *unc_sim_find(struct unc_sim *, const struct unc_reg *);
/* Reads or writes a register found before. */
uint64_t unc_sim_read(struct unc_sim *, void *reg);
void unc_sim_write(struct unc_sim *, void *reg, uint64_t value);

/* Moves the clock of a machine opened with clock=step or wait on by ns. */
void unc_sim_step(struct unc_sim *, uint64_t ns);
/* Time of the machine in ns since it was opened, and its TSC. */
uint64_t unc_sim_time(struct unc_sim *);
uint64_t unc_sim_tsc(const struct unc_sim *);

/* For tests: writes of 1 to reserved bits, reads of write-only registers and the like seen so far. */
unsigned unc_sim_violations(const struct unc_sim *, char *last, size_t size);

#endif
