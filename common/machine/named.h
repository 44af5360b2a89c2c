/* SPDX-License-Identifier: BSD-3-Clause */
/*
  * PMUs that the kernel names and no table has: those of a CPU without tables, or of devices behind a CPU with
  * tables (CXL). /sys/bus/event_source/devices has their fields (format/), events and CPUs (cpumask). They
  * become rows of a table like any other; only the kernel counts on their units, because no register is known.
  *
  * A type is the name of a PMU without the number after its last '_'; each CPU of its cpumask is a unit. Each
  * type has the event RAW, which takes all fields, and the events of events/. An event with a .scale and a
  * .unit also becomes a metric: data_read in 6.1e-5 MiB gives data_read_bytes.
  */
#ifndef UNC_NAMED_H
#define UNC_NAMED_H

#include "host/cpu.h"
#include "machine/discover.h"
#include "tables/table.h"

struct unc_named {
	struct unc_table *
		table; /* the rows of the one that was given, and those made; NULL: none was made */
	struct unc_named_unit {
		uint16_t type, socket, index;
		char pmu[UNC_KERNEL_NAME];
	} * unit;
	size_t n_units;
	char **left; /* PMUs and events left out: "uncore_imc_0: SENTENCE" */
	size_t n_left;
};

/* Reads the PMUs. base: the table of the CPU, whose PMUs are skipped; NULL: none. Errors: UNC_ERR_MEMORY;
 * UNC_ERR_TABLE: more rows than a table can have. The caller calls unc_named_free(). */
int unc_named_read(const struct unc_fs *, const struct unc_topology *, const struct unc_table *base,
		   struct unc_named *out, struct unc_error *err);
/* Adds the units of these PMUs to those of the machine. */
int unc_named_add(const struct unc_named *, struct unc_instances *, struct unc_error *err);
void unc_named_free(struct unc_named *);
/* Returns the entry of `left` for the PMU or event that a text begins with ("uncore_imc.data_read", "amd_df");
 * NULL: none. */
const char *unc_named_left(const struct unc_named *, const char *text);

#endif
