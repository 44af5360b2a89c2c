/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of CPUs that are made up: tests/tables, and testcpu of tests/tables_bad/good. */
#ifndef UNC_TEST_MADE_H
#define UNC_TEST_MADE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tables/table.h"

/* NULL: there is no such CPU. */
const struct unc_table *made_table(const char *cpu);

/* As those of the library. */
bool made_table_built(size_t index, struct unc_table *out);
bool made_workload_built(size_t index, struct unc_workload *out);

/*
 * A simulated machine of the made-up CPUs that have boxes (tests/tables/box, testcpu): two sockets of four CPUs, and
 * so many boxes a socket. Where their registers are is written here again, not taken from the tables: two controls at
 * 2, two counters at 8, a filter at 14 and a free-running counter at 15, every 0x20 MSRs from 0x100 on.
 */
static inline void box_cpu(FILE *out, unsigned cpu, unsigned family, unsigned model)
{
	fprintf(out, " processor : %u\n", cpu);
	if (cpu == 0)
		fprintf(out,
			" vendor_id : GenuineIntel\n cpu family : %u\n model : %u\n model name : "
			"Box\n stepping : 0\n",
			family, model);
	fprintf(out, " physical id : %u\n core id : %u\n", cpu / 4, cpu % 4);
}

/* The text by which the machine is opened: to be removed behind that. Static storage. */
static inline const char *box_machine(unsigned family, unsigned model, unsigned boxes)
{
	static const unsigned at[] = {0x2, 0x3, 0x8, 0x9, 0xe, 0xf};
	static char path[64];
	FILE *out;

	strcpy(path, "/tmp/uncore-box-XXXXXX");
	if (!(out = fdopen(mkstemp(path), "w")))
		abort();
	fprintf(out, "uncore machine 2\nfile proc/cpuinfo\n");
	for (unsigned cpu = 0; cpu < 8; cpu++)
		box_cpu(out, cpu, family, model);
	fprintf(out, "dir sys/bus/pci/devices\n");
	for (unsigned cpu = 0; cpu < 8; cpu += 4) {
		fprintf(out, "device dev/cpu/%u/msr 0\n", cpu);
		for (unsigned i = 0; i < boxes * 6; i++)
			fprintf(out, " 0x%x 0x0\n", 0x100 + i / 6 * 0x20 + at[i % 6]);
	}
	fprintf(out, "end\n");
	fclose(out);
	return path;
}

#endif
