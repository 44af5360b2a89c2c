/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Register access. One gate for every operation: it is checked against the
 * allowlist (the registers of the discovered units, with a write mask each)
 * and the fence (what can be a monitor's register at all, whatever the tables
 * say) when it is prepared, all or nothing; then lists of prepared operations
 * run without any lookup.
 */
#ifndef UNC_ACCESS_H
#define UNC_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/reg.h"

struct unc_machine;

/* One register that may be touched. */
struct unc_allowed {
	struct unc_reg reg;
	uint64_t write_mask; /* 0: read only */
	bool readable;       /* false: write-only register */
};

struct unc_backend;

enum { UNC_EVERY_SPACE = (1 << UNC_N_SPACES) - 1 };

/* What a back end (access_msr.c, access_pci.c, ...) offers. One const table per file. */
struct unc_access_methods {
	const char *name;
	uint32_t
		spaces; /* those that it serves: bits 1 << UNC_SPACE_*; 0: units (kernel.h), without
			    prepare */
	bool direct;    /* one of those that "direct" stands for, in a list of names */
	/* May be NULL: always worth a try. 0, or why the method is not there at all. */
	int (*detect)(struct unc_machine *, struct unc_error *err);
	/* Its struct unc_backend; 0: it has none, and gets NULL everywhere. */
	size_t backend;
	/* May be NULL. Begins with a back end of zeros; nothing is opened yet. */
	void (*open)(struct unc_backend *, struct unc_machine *);
	/*
	 * May be NULL: a unit is served if one register can be read and its control prepared for
	 * writing, which is tried in any case. Whether all these registers of a unit can be
	 * reached, with all that may be written to each. Nothing is written.
	 */
	int (*serves)(struct unc_backend *, const struct unc_allowed *regs, size_t n,
		      struct unc_error *err);
	/* Opens (once, kept) what the register needs, tries to read it (if it is not op->tried),
	 * and fills op->handle. */
	int (*prepare)(struct unc_backend *, struct unc_reg_op *op, struct unc_error *err);
	/* Runs n prepared operations of this space; op->value, op->error. Returns the number that
	 * failed. */
	int (*run)(struct unc_backend *, struct unc_reg_op *ops, size_t n);
	/* May be NULL: nothing but its memory is to be freed. */
	void (*close)(struct unc_backend *);
};

extern const struct unc_access_methods unc_access_kernel, unc_access_broker, unc_access_msr,
	unc_access_msr_safe, unc_access_pci, unc_access_mmio, unc_access_pmu, unc_access_perf;
/* Those of hardware, in the order in which they are tried; NULL ends the list. */
extern const struct unc_access_methods *const unc_access_hardware[];

struct unc_access;
struct unc_fence;
struct unc_ways; /* access_ways.h */

/* The gate to a machine, which must stay until the gate is closed. order, errors: unc_ways_open().
 */
int unc_access_open(struct unc_machine *, const char *order, struct unc_access **out,
		    struct unc_error *err);
const struct unc_ways *unc_access_ways(const struct unc_access *);
/* The name of the method that a way stands for; "" for 0. */
const char *unc_access_name(const struct unc_access *, unsigned way);
void unc_access_close(struct unc_access *);

/* Empty until it is filled, before the gate is used (fence.h). */
struct unc_fence *unc_access_fence(struct unc_access *);

/* Adds registers to the allowlist. Called by discovery only. */
int unc_access_allow(struct unc_access *, const struct unc_allowed *regs, size_t n,
		     struct unc_error *err);

/* Whether all these registers can be reached a way, with all that may be written to each; they are
 * checked as operations are. Nothing is written. */
int unc_access_serves(struct unc_access *, unsigned way, const struct unc_allowed *regs, size_t n,
		      struct unc_error *err);

/*
 * Checks every operation against the allowlist and, where registers are real, against the fence
 * (fence.h), which the allowlist cannot widen; then prepares every one, by the method that reg.way
 * tells. Errors:
 * UNC_ERR_DENIED names the register and the value; UNC_ERR_PERMISSION, UNC_ERR_UNAVAILABLE (no msr
 * driver, no such device), UNC_ERR_IO.
 */
int unc_access_prepare(struct unc_access *, struct unc_reg_op *ops, size_t n,
		       struct unc_error *err);

/*
 * Prepares reads and runs them, at once: each register is read one time, where preparing alone would
 * try it first. Errors as unc_access_prepare(), with what trying the registers tells; UNC_ERR_IO
 * without a sentence if one could be read when it was tried, and not when all were (see op->error).
 */
int unc_access_read(struct unc_access *, struct unc_reg_op *ops, size_t n, struct unc_error *err);

/* Runs prepared operations in order. 0, or UNC_ERR_IO if any failed (see op->error). */
int unc_access_run(struct unc_access *, struct unc_reg_op *ops, size_t n);

#endif
