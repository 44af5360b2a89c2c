/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Register access. One gate checks every operation when it is prepared, all or
 * nothing: against the allowlist (the registers of the discovered units, each
 * with a write mask) and against the fence (the registers that can belong to a
 * monitor at all, whatever the tables say). Prepared operations then run
 * without any lookup.
 */
#ifndef UNC_ACCESS_H
#define UNC_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/reg.h"

struct unc_machine;

/* One register that may be accessed. */
struct unc_allowed {
	struct unc_reg reg;
	uint64_t write_mask; /* 0: read only */
	bool readable;       /* false: write-only register */
};

struct unc_backend;

enum { UNC_EVERY_SPACE = (1 << UNC_N_SPACES) - 1 };

/* The functions of a back end (access_msr.c, access_pci.c, ...). One const table per file. */
struct unc_access_methods {
	const char *name;
	uint32_t
		spaces; /* those that it serves: bits 1 << UNC_SPACE_*; 0: units (kernel.h), without
			    prepare */
	bool direct;    /* "direct" in a list of names includes it */
	/* Returns 0, or why the method does not exist on this machine. May be NULL: always exists. */
	int (*detect)(struct unc_machine *, struct unc_error *err);
	/* Size of its struct unc_backend; 0: it has none, and gets NULL everywhere. */
	size_t backend;
	/* Initializes a back end of zeros; opens nothing yet. May be NULL. */
	void (*open)(struct unc_backend *, struct unc_machine *);
	/*
	 * Whether all these registers of a unit can be reached, with all bits that may be written.
	 * Writes nothing. May be NULL: the test that is always made, reading one register and
	 * preparing its control for writing, is enough.
	 */
	int (*serves)(struct unc_backend *, const struct unc_allowed *regs, size_t n,
		      struct unc_error *err);
	/* Opens what the register needs (once), reads it for a test unless op->tried, and fills
	 * op->handle. */
	int (*prepare)(struct unc_backend *, struct unc_reg_op *op, struct unc_error *err);
	/* Runs n prepared operations of this space; op->value, op->error. Returns the number that
	 * failed. */
	int (*run)(struct unc_backend *, struct unc_reg_op *ops, size_t n);
	/* Closes a back end, whose memory the caller frees. May be NULL. */
	void (*close)(struct unc_backend *);
};

extern const struct unc_access_methods unc_access_kernel, unc_access_broker, unc_access_msr,
	unc_access_msr_safe, unc_access_pci, unc_access_mmio, unc_access_pmu, unc_access_perf;
/* The methods of hardware, in the order of trying; NULL ends the list. */
extern const struct unc_access_methods *const unc_access_hardware[];

struct unc_access;
struct unc_fence;
struct unc_ways; /* access_ways.h */

/* Opens the gate to a machine, which must outlive the gate. order, errors: unc_ways_open(). */
int unc_access_open(struct unc_machine *, const char *order, struct unc_access **out,
		    struct unc_error *err);
const struct unc_ways *unc_access_ways(const struct unc_access *);
/* Returns the name of access method number `way`; "" for 0. */
const char *unc_access_name(const struct unc_access *, unsigned way);
void unc_access_close(struct unc_access *);

/* Returns the fence, which is empty. The caller fills it before the gate is used (fence.h). */
struct unc_fence *unc_access_fence(struct unc_access *);

/* Adds registers to the allowlist. For discovery only. */
int unc_access_allow(struct unc_access *, const struct unc_allowed *regs, size_t n,
		     struct unc_error *err);

/* Checks these registers like operations, and whether method `way` reaches all of them, with all bits that
 * may be written. Writes nothing. */
int unc_access_serves(struct unc_access *, unsigned way, const struct unc_allowed *regs, size_t n,
		      struct unc_error *err);

/*
 * Checks every operation against the allowlist and, if registers are real, against the fence (fence.h),
 * which the allowlist cannot widen; then prepares every one, by method reg.way. Errors:
 * UNC_ERR_DENIED names the register and the value; UNC_ERR_PERMISSION, UNC_ERR_UNAVAILABLE (no msr
 * driver, no such device), UNC_ERR_IO.
 */
int unc_access_prepare(struct unc_access *, struct unc_reg_op *ops, size_t n,
		       struct unc_error *err);

/*
 * Prepares and runs reads in one step, so that each register is read once; preparing alone would read it
 * for a test first. If a read fails, the registers are prepared with that test and run again. Errors as
 * unc_access_prepare(); UNC_ERR_IO without a sentence: a register failed only in that run (see op->error).
 */
int unc_access_read(struct unc_access *, struct unc_reg_op *ops, size_t n, struct unc_error *err);

/* Runs prepared operations in order. 0, or UNC_ERR_IO if any failed (see op->error). */
int unc_access_run(struct unc_access *, struct unc_reg_op *ops, size_t n);

#endif
