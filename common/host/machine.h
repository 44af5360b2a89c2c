/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine behind a platform: the hardware under a root, or a simulated one. Data and methods hide
 * the difference: no code above asks which kind it is.
 */
#ifndef UNC_MACHINE_H
#define UNC_MACHINE_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"

struct unc_access_methods;
struct unc_fs;
struct unc_instances;
struct unc_machine;
struct unc_table;
struct unc_topology;

struct perf_event_attr;

/* The kernel's performance events of uncore PMUs. */
struct unc_machine_events {
	/* Reads type and cpumask (as text) of a PMU from sysfs. Returns 0 or errno. */
	int (*find)(struct unc_machine *, const char *pmu, uint32_t *type, char *mask, size_t size);
	/* Returns the bits of config that format/umask names. NULL: all. */
	uint64_t (*umask)(struct unc_machine *, const char *pmu);
	/* perf_event_open() for all processes, ioctl(PERF_EVENT_IOC_ENABLE), read() and close(). They
	 * set errno. */
	int (*open)(struct unc_machine *, const struct perf_event_attr *, int cpu, int group_fd);
	int (*enable)(struct unc_machine *, int fd);
	long (*read)(struct unc_machine *, int fd, void *buf, size_t size);
	void (*close)(struct unc_machine *, int fd);
};

struct unc_machine_methods {
	/* The access methods for its registers, in the order of trying; NULL ends the list. */
	const struct unc_access_methods *const *access;
	/* Receives the units that discovery found, before any is tried; may be NULL. */
	int (*found)(struct unc_machine *, const struct unc_instances *, struct unc_error *err);
	/* Reads its time in ns, and its TSC if `tsc` is not NULL. */
	void (*now)(const struct unc_machine *, uint64_t *ns, uint64_t *tsc);
	/* Whether the machine was suspended since the last call with this *since (first 0), which is
	 * updated: its registers have lost their values. NULL: never. */
	bool (*slept)(const struct unc_machine *, uint64_t *since);
	/* Lets that time pass; false: it did not pass. */
	bool (*pause)(struct unc_machine *, uint64_t ns);
	void (*close)(struct unc_machine *);
	/* Returns the CPU of the machine on which the caller runs; -1: none. NULL: no process runs on it. */
	int (*cpu)(const struct unc_machine *);
};

/* Every kind of machine begins with this struct. */
struct unc_machine {
	const struct unc_machine_methods *methods;
	const struct unc_machine_events *events; /* NULL: the kernel has none */
	void *library;     /* the shared object of the methods; NULL: this library */
	struct unc_fs *fs; /* the root; stays until the machine is closed */
	/* Its CPUs: if one goes offline, another of the socket replaces it. They stay valid until the
	 * machine is closed; NULL: not known yet. */
	const struct unc_topology *top;
	const struct unc_table *table; /* the only table it can have; NULL: that of its CPU */
	double tsc_hz;                 /* of its TSC; 0: must be measured */
	unsigned memory_speed;         /* of a simulated machine's DRAM, MT/s; 0: not known */
	bool fenced;    /* registers are real: only those of monitors may be accessed */
	bool simulated; /* must be shown with every number */
	bool stepped;   /* its clock moves only on request; who moves it calls unc_run_see_to() */
};

/* machine may be NULL. */
static inline void unc_machine_close(struct unc_machine *machine)
{
	void *library = machine ? machine->library : NULL;

	if (machine)
		machine->methods->close(machine);
	if (library)
		dlclose(library);
}

static inline bool unc_machine_slept(const struct unc_machine *machine, uint64_t *since)
{
	return machine->methods->slept && machine->methods->slept(machine, since);
}

static inline uint64_t unc_machine_now(const struct unc_machine *machine)
{
	uint64_t ns;

	machine->methods->now(machine, &ns, NULL);
	return ns;
}

/* Waits by the clock of this process; false: the machine's clock moved less than half of it (a signal). */
static inline bool unc_machine_sleep(struct unc_machine *machine, uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u),
			     .tv_nsec = (long)(ns % 1000000000u)};
	uint64_t before = unc_machine_now(machine);

	nanosleep(&t, NULL);
	return unc_machine_now(machine) - before >= ns / 2;
}

#endif
