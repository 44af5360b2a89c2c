/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMUs that the kernel names and no table knows: of a CPU without tables, or of what sits behind one that
 * has them (CXL). /sys/bus/event_source/devices has their fields (format/), events and CPUs (cpumask). They
 * become rows of a table like any other, whose units only the kernel counts: no register is known of them.
 *
 * A type is the name of a PMU without the number behind its last '_', a unit each CPU of its cpumask. Each
 * type has the event RAW, which takes all fields, those of events/, and where these have a .scale and a .unit
 * a metric: data_read of 6.1e-5 MiB is data_read_bytes, too.
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

/* Reads them. base: the table of the CPU, whose PMUs are not taken again; NULL: it has none. Errors:
 * UNC_ERR_MEMORY; UNC_ERR_TABLE there are more rows than a table can have. Ends with unc_named_free(). */
int unc_named_read(const struct unc_fs *, const struct unc_topology *, const struct unc_table *base,
		   struct unc_named *out, struct unc_error *err);
/* Adds the units of these PMUs to those of the machine. */
int unc_named_add(const struct unc_named *, struct unc_instances *, struct unc_error *err);
void unc_named_free(struct unc_named *);
/* What was left out of what a text begins with, "uncore_imc.data_read" or "amd_df"; NULL: nothing was. */
const char *unc_named_left(const struct unc_named *, const char *text);

#endif
