/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What work costs: CPU time and accesses, with uncore.h alone, so that other versions of the library
 * can be measured by the same program (tests/bench/bench builds it for each). Lines "NAME VALUE".
 * Rows of reads are measured in both worlds (machine.h).
 *
 *   rows NAME...      rows of this list; without a name all of them
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

/* ---- the list */

static const struct row {
	const char *name;
	void (*run)(const char *name);
	bool reads;
} rows[] = {
	{"memory", row_memory, false}, {"read", row_read, true},
	{"own", row_own, true},        {"pci", row_pci, true},
	{"mmio", row_mmio, true},      {"software", row_software, true},
	{"start", row_start, false},   {"beside", row_beside, false},
	{"remote", row_remote, true},  {"threads", row_threads, false},
	{"open", row_open, false},     {"kernel", row_kernel, true},
	{"encode", row_encode, false}, {"growth", row_growth, false},
	{NULL, NULL, false},
};

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc == 1;
}

/* In a process of its own, which has opened nothing before. */
static int run(const struct row *row, bool in_changing)
{
	int status;

	if (fork() == 0) {
		changes = in_changing;
		row->run(row->name);
		exit(0);
	}
	wait(&status);
	return status != 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (const struct row *row = rows; row->name; row++) {
		if (!wanted(row->name, argc, argv))
			continue;
		failed |= run(row, false);
		if (row->reads)
			failed |= run(row, true);
	}
	return failed;
}
