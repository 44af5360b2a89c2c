/* SPDX-License-Identifier: BSD-3-Clause */
/* The perfmon interface of Linux on Itanium, behind functions that a test replaces. */
#ifndef UNC_ACCESS_PMU_H
#define UNC_ACCESS_PMU_H

#include <stdbool.h>
#include <stdint.h>

/* Commands of perfmonctl(2) that are used (linux/arch/ia64, perfmon.h). */
enum {
	UNC_PFM_WRITE_PMCS = 0x01,
	UNC_PFM_WRITE_PMDS = 0x02,
	UNC_PFM_READ_PMDS = 0x03,
	UNC_PFM_STOP = 0x04,
	UNC_PFM_START = 0x05,
	UNC_PFM_CREATE_CONTEXT = 0x08,
	UNC_PFM_LOAD_CONTEXT = 0x10,
	UNC_PFM_UNLOAD_CONTEXT = 0x11,
	UNC_PFM_WRITE_IBRS = 0x20,
	UNC_PFM_WRITE_DBRS = 0x21
};
enum { UNC_PFM_SYSTEM_WIDE = 0x02 };

/* The arguments as the kernel lays them out. */
struct unc_pfm_context {
	uint8_t buffer_id[16];
	uint64_t flags;
	uint16_t extra_sets, reserved1;
	int32_t fd; /* out */
	uint64_t buffer; /* out */
	uint64_t reserved2[11];
};

struct unc_pfm_reg {
	uint32_t number;
	uint16_t set, reserved1;
	uint64_t value;
	uint64_t flags;
	uint64_t long_reset, short_reset;
	uint64_t reset_pmds[4];
	uint64_t random_seed, random_mask, last_reset;
	uint64_t sample_pmds[4], sample_id;
	uint64_t reserved2[3];
};

struct unc_pfm_load {
	int32_t pid;
	uint16_t set, reserved1;
	uint64_t reserved2[3];
};

struct unc_pfm_breakpoint { /* IBR, DBR */
	uint32_t number;
	uint16_t set, reserved1;
	uint64_t value;
	uint64_t flags;
	uint64_t reserved2;
};

struct unc_pfm_kernel {
	/* perfmonctl(2): 0, or -1 with errno. fd is not looked at by CREATE_CONTEXT. */
	int (*call)(void *user, int fd, int command, void *arguments, int n);
	/* Runs the calling thread on one CPU (system-wide contexts are used on their own CPU); -1: where
	 * it may run as before. 0, or -1 with errno. */
	int (*pin)(void *user, int cpu);
	void *user;
};

/* The back end uses this kernel from now on, one of its own if NULL. */
struct unc_backend;
void unc_pmu_use(struct unc_backend *, const struct unc_pfm_kernel *);

#endif
