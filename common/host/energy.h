/* SPDX-License-Identifier: BSD-3-Clause */
/* Energy of a socket by the kernel's PMU "power", which takes it from the CPU's RAPL domains. */
#ifndef UNC_ENERGY_H
#define UNC_ENERGY_H

#include "host/machine.h"

struct unc_topology;

enum unc_energy_domain { UNC_ENERGY_PACKAGE, UNC_ENERGY_DRAM, UNC_N_ENERGY };

/* An event that counts. */
struct unc_energy {
	int fd;
	double scale;              /* joules of a count, as sysfs has it */
	uint64_t enabled, seen_ns; /* at the last read, which `joules` is of */
	uint64_t count;            /* of 2^32 a joule: it goes round in weeks */
	double joules;
	int error; /* why the last read failed, an errno value; ENODEV: its CPU went offline */
};

/*
 * Begins to count a domain of a socket, on the first of its CPUs in the PMU's cpumask: kernels list
 * one CPU a package there, or all, which give the same. UNC_ERR_UNAVAILABLE: the kernel has no such
 * PMU or domain; UNC_ERR_PERMISSION: it does not let us.
 */
int unc_energy_open(struct unc_machine *, const struct unc_topology *, int socket,
		    enum unc_energy_domain, struct unc_energy *out, struct unc_error *err);
/* Takes the joules since it was opened, or `error`. */
void unc_energy_read(struct unc_machine *, struct unc_energy *);
void unc_energy_close(struct unc_machine *, struct unc_energy *);

#endif
