/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What work costs: CPU time and accesses, with uncore.h alone, so that other versions of the library
 * can be measured by the same program (tests/bench/bench builds it for each). Lines "NAME VALUE".
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
} rows[] = {
	{"memory", row_memory},     {"read", row_read},
	{"pci", row_pci},           {"mmio", row_mmio},
	{"software", row_software}, {"start", row_start},
	{"beside", row_beside},     {"remote", row_remote},
	{"threads", row_threads},   {"open", row_open},
	{"kernel", row_kernel},     {"encode", row_encode},
	{"growth", row_growth},     {NULL, NULL},
};

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc == 1;
}

/* Each in a process of its own, which has opened nothing before. */
int main(int argc, char **argv)
{
	int status, failed = 0;

	for (const struct row *row = rows; row->name; row++) {
		if (!wanted(row->name, argc, argv))
			continue;
		if (fork() == 0) {
			row->run(row->name);
			exit(0);
		}
		wait(&status);
		failed |= status != 0;
	}
	return failed;
}
