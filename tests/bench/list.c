/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a host asks for when it lists everything that can be counted (make bench): milliseconds to open a
 * simulated machine of each CPU, and to look up, describe and encode each name; and what of
 * libuncore.so is private memory of the process then, which all CPUs' tables together must not be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "uncore.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* KiB of the library that are this process' own: "Private_Dirty:" of its mappings. */
static unsigned long private_kb(const char *library)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long sum = 0, kb, from, to;
	char line[4096];
	int inside = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = strstr(line, library) != NULL;
		else if (inside && sscanf(line, "Private_Dirty: %lu kB", &kb) == 1)
			sum += kb;
	}
	if (f)
		fclose(f);
	return sum;
}

/* A text as a host has it: it is found, and encoded if it can be without more. */
static void ask(struct unc_platform *p, const char *text)
{
	struct unc_encoding e = {.size = sizeof(e)};
	struct unc_item item = {.size = sizeof(item)};

	unc_item_find(p, text, &item);
	unc_event_encode(p, text, &e);
}

static unsigned list(struct unc_platform *p)
{
	const struct unc_event *event;
	const struct unc_umask *umask;
	const struct unc_metric *metric;
	char text[512];
	unsigned n = 0;

	for (size_t i = 0; (event = unc_event_get(p, i)) != NULL; i++, n++) {
		ask(p, event->spec);
		for (size_t k = 0; (umask = unc_umask_get(p, i, k)) != NULL; k++, n++) {
			snprintf(text, sizeof(text), "%s:%s", event->spec, umask->name);
			ask(p, text);
		}
	}
	for (size_t i = 0; (metric = unc_metric_get(p, i)) != NULL; i++, n++)
		ask(p, metric->name);
	return n;
}

static void report(const char *cpu)
{
	struct unc_options options = {.size = sizeof(options), .sim = cpu};
	struct unc_platform *p;
	double begin = now(), opened;

	if (unc_platform_open(&options, &p) < 0) {
		fprintf(stderr, "list: %s: %s\n", cpu, unc_open_error());
		exit(1);
	}
	opened = now();
	unsigned n = list(p);
	printf("%-20s %8u %10.1f %10.1f %14lu\n", cpu, n, opened - begin, now() - opened,
	       private_kb("/libuncore.so"));
	unc_platform_close(p);
}

int main(void)
{
	const struct unc_cpu *cpu;

	printf("%-20s %8s %10s %10s %14s\n", "lists", "names", "open, ms", "list, ms",
	       "private, KiB");
	for (size_t i = 0; (cpu = unc_cpu_get(NULL, i)) != NULL; i++)
		report(cpu->name);
	return 0;
}
