/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU model, the sockets, and the logical CPU that reads the MSRs of each socket. */
#ifndef UNC_CPU_H
#define UNC_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "host/fs.h"

/* Why no CPU can read the MSRs of a socket. */
#define UNC_NO_CPU "no CPU of the socket is online"
#define UNC_QUIET_CPU                                                                              \
	"all CPUs of the socket are isolated or nohz_full, and reading an MSR interrupts one: "    \
	"bind "                                                                                    \
	"the program to CPUs with one of them (taskset -c) to read there"

enum { UNC_MAX_SOCKETS = 64, UNC_MAX_CPUS = 4096 };

struct unc_socket {
	int package; /* physical_package_id */
	int cpu;     /* the online CPU that its MSRs are read on; -1: none is online */
	bool quiet; /* no CPU may read: all are isolated or nohz_full, and the program is bound to none of them */
	int cores; /* distinct core ids online */
	int cpus;  /* online logical CPUs */
	int first; /* index of its first CPU in unc_topology.order */
	int cache; /* KiB of its last level (L3); 0: not known */
	int dies;
};

struct unc_topology {
	char vendor[16];
	char model_name[64];
	int family, model, stepping; /* stepping -1: not known */
	bool hypervisor;
	int hidden; /* CPUs that are present but offline, without the sibling threads of online cores */
	int n_sockets;
	/* in order of package id; socket number = position */
	struct unc_socket socket[UNC_MAX_SOCKETS];
	/* online CPUs by socket, die, core: threads of a core are neighbours */
	uint16_t order[UNC_MAX_CPUS];
	uint8_t cpu_socket[UNC_MAX_CPUS]; /* socket number + 1 of an online CPU; 0 unknown */
	/* Isolated or nohz_full CPUs: reading an MSR interrupts them. CPUs that the program is bound to
	 * are not quiet. */
	bool cpu_quiet[UNC_MAX_CPUS];
};

/* Reads /proc/cpuinfo and /sys/devices/system/cpu. UNC_ERR_UNAVAILABLE: they cannot be read or parsed.
 * If there are too many sockets, *out still has the CPU model, so that the caller can name it first. */
int unc_topology_read(const struct unc_fs *, struct unc_topology *out, struct unc_error *err);
/* Inserts a package without online CPUs; sockets with greater package ids move up. A known package
 * changes nothing. UNC_ERR_RANGE: too many sockets. */
int unc_topology_add(struct unc_topology *, int package, struct unc_error *err);
/* Returns how many sockets the hidden CPUs would fill. */
int unc_topology_unseen(const struct unc_topology *);
/* Socket number of a package, or -1. */
int unc_topology_package(const struct unc_topology *, int package);
/* Socket number of a CPU, or -1. */
int unc_topology_socket(const struct unc_topology *, int cpu);
/* Returns the i-th online CPU of a socket; threads of a core are adjacent. -1: past the end. */
int unc_topology_cpu(const struct unc_topology *, int socket, unsigned i);
/* Returns the i-th online CPU of the socket of `cpu`, which counts too. -1: past the end, or no topology. */
int unc_topology_sibling(const struct unc_topology *, uint32_t cpu, unsigned i);
/* Parses a list of CPUs of the kernel, such as "0-3,8". False: it is malformed. */
bool unc_cpu_list(const char *text, bool cpus[UNC_MAX_CPUS]);
/* Kernel lockdown mode from /sys/kernel/security/lockdown: "none", "integrity", "confidentiality", or "" if unknown. */
void unc_lockdown_read(const struct unc_fs *, char mode[32]);

#endif
