/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine behind a platform: the hardware under a root, or a simulated one. What differs
 * between them is said here, as data and methods; nobody above asks which it is.
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

/* The kernel's performance events, as far as the PMUs of its uncore driver go. */
struct unc_machine_events {
	/* Type and cpumask of a PMU, as sysfs has them, the mask as text; errno. */
	int (*find)(struct unc_machine *, const char *pmu, uint32_t *type, char *mask, size_t size);
	/* Bits of config that its format/umask names. NULL: all. */
	uint64_t (*umask)(struct unc_machine *, const char *pmu);
	/* As perf_event_open() for all processes, ioctl(PERF_EVENT_IOC_ENABLE), read() and close();
	 * they set errno. */
	int (*open)(struct unc_machine *, const struct perf_event_attr *, int cpu, int group_fd);
	int (*enable)(struct unc_machine *, int fd);
	long (*read)(struct unc_machine *, int fd, void *buf, size_t size);
	void (*close)(struct unc_machine *, int fd);
};

struct unc_machine_methods {
	/* The ways to its registers, in the order in which they are tried; NULL ends the list. */
	const struct unc_access_methods *const *access;
	/* NULL: nobody wants to know. The units that discovery has found, before any is tried. */
	int (*found)(struct unc_machine *, const struct unc_instances *, struct unc_error *err);
	/* Its time in ns, and ticks of its TSC, if that is not NULL. */
	void (*now)(const struct unc_machine *, uint64_t *ns, uint64_t *tsc);
	/* NULL: never. Whether it was suspended since the last call with this *since (at first: 0), which is
	 * renewed: registers have lost what they held. */
	bool (*slept)(const struct unc_machine *, uint64_t *since);
	/* Lets that time pass; false where it did not. */
	bool (*pause)(struct unc_machine *, uint64_t ns);
	void (*close)(struct unc_machine *);
	/* NULL: nobody runs on it. Its CPU on which the caller runs; -1: the caller does not. */
	int (*cpu)(const struct unc_machine *);
};

/* A machine of some kind begins with this. */
struct unc_machine {
	const struct unc_machine_methods *methods;
	const struct unc_machine_events *events; /* NULL: its kernel has none */
	void *library;                           /* that they are in; NULL: this one */
	struct unc_fs *fs;                       /* the root; stays until the machine is closed */
	/* Its CPUs, of which one stands in for another of its socket that goes offline. They stay
	 * until the machine is closed; NULL: not known yet. */
	const struct unc_topology *top;
	const struct unc_table *table; /* the only one that it can have; NULL: that of its CPU */
	double tsc_hz;                 /* of its TSC; 0: has to be observed */
	unsigned memory_speed;         /* of a simulated machine's DRAM, MT/s; 0: not known */
	bool fenced;                   /* registers are real: only a monitor's may be touched */
	bool simulated;                /* to be said wherever numbers are shown */
	bool stepped; /* its clock moves when it is told: who does so lets runs be seen to (unc_run_see_to()) */
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

/* Its time in ns. */
static inline uint64_t unc_machine_now(const struct unc_machine *machine)
{
	uint64_t ns;

	machine->methods->now(machine, &ns, NULL);
	return ns;
}

/* Waits by the clock of this process; false if the machine's own did not move as far (a signal). */
static inline bool unc_machine_sleep(struct unc_machine *machine, uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u),
			     .tv_nsec = (long)(ns % 1000000000u)};
	uint64_t before = unc_machine_now(machine);

	nanosleep(&t, NULL);
	return unc_machine_now(machine) - before >= ns / 2; /* a signal may end it early */
}

#endif
