/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CPU this is, and which logical CPU stands for each socket. */
#ifndef UNC_CPU_H
#define UNC_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "host/fs.h"

/* Of a socket whose MSRs no CPU reaches. */
#define UNC_NO_CPU "no CPU of the socket is online"
#define UNC_QUIET_CPU                                                                              \
	"all CPUs of the socket are isolated or nohz_full, and reading an MSR interrupts one: "    \
	"bind "                                                                                    \
	"the program to CPUs with one of them (taskset -c) to read there"

enum { UNC_MAX_SOCKETS = 64, UNC_MAX_CPUS = 4096 };

struct unc_socket {
	int package; /* physical_package_id */
	int cpu;     /* the online CPU that its MSRs are read on; -1: none is online */
	bool quiet;  /* none may be: each is isolated or nohz_full, and not asked for */
	int cores;   /* distinct core ids online */
	int cpus;    /* online logical CPUs */
	int first;   /* of its CPUs in unc_topology.order */
	int cache;   /* KiB of its last level (L3); 0: not told */
	int dies;
};

struct unc_topology {
	char vendor[16];
	char model_name[64];
	int family, model, stepping; /* stepping -1: not told */
	bool hypervisor;
	int hidden; /* CPUs that are there, offline, and not the other threads of cores that are online */
	int n_sockets;
	/* in order of package id; socket number = position */
	struct unc_socket socket[UNC_MAX_SOCKETS];
	/* online CPUs by socket, die, core: threads of a core are neighbours */
	uint16_t order[UNC_MAX_CPUS];
	uint8_t cpu_socket[UNC_MAX_CPUS]; /* socket number + 1 of an online CPU; 0 unknown */
	/* Kept free of interruptions (isolated, nohz_full): to read an MSR there is to interrupt it.
	 * Not those that were asked for: the program has been bound to CPUs that include them. */
	bool cpu_quiet[UNC_MAX_CPUS];
};

/* From /proc/cpuinfo and /sys/devices/system/cpu. UNC_ERR_UNAVAILABLE if they cannot be read or understood;
 * with *out as far as it goes if there are too many sockets: what CPU it is may be told first. */
int unc_topology_read(const struct unc_fs *, struct unc_topology *out, struct unc_error *err);
/* Adds a package of which no CPU is online, in its place: sockets of greater packages move up.
 * Nothing changes if it is there. UNC_ERR_RANGE: there are too many. */
int unc_topology_add(struct unc_topology *, int package, struct unc_error *err);
/* How many sockets the hidden CPUs would fill. */
int unc_topology_unseen(const struct unc_topology *);
/* Socket number of a package, or -1. */
int unc_topology_package(const struct unc_topology *, int package);
/* Socket number of a CPU, or -1. */
int unc_topology_socket(const struct unc_topology *, int cpu);
/* The i-th online CPU of a socket, threads of a core next to each other; -1 past the end. */
int unc_topology_cpu(const struct unc_topology *, int socket, unsigned i);
/* The i-th CPU of the socket of `cpu`, itself included; -1 past the end, or without a topology. */
int unc_topology_sibling(const struct unc_topology *, uint32_t cpu, unsigned i);
/* The CPUs of a list like "0-3,8" of the kernel's. False: it is malformed. */
bool unc_cpu_list(const char *text, bool cpus[UNC_MAX_CPUS]);
/* Kernel lockdown mode from /sys/kernel/security/lockdown: "none", "integrity", "confidentiality", or "" if unknown. */
void unc_lockdown_read(const struct unc_fs *, char mode[32]);

#endif
