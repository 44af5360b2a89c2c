/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the settings of units to ordered register operations, by the step lists
 * of the tables. Pure: the lists are run elsewhere, or only shown.
 */
#ifndef UNC_PLAN_H
#define UNC_PLAN_H

#include "encode/kernel.h"
#include "machine/discover.h"

struct unc_kernel_group; /* access/kernel.h */

/* reg = value */
struct unc_setting {
	uint16_t reg;
	bool noted;  /* in the ledger */
	bool joined; /* another session has programmed it so: it is not written */
	bool alone;  /* not for others to share */
	bool keep;   /* it is not put back: another session needs it so, or it is no longer ours */
	bool seen;   /* shown was read back */
	uint64_t value;
	uint64_t mask;    /* the bits that were ours to choose */
	uint64_t shown;   /* what was read back once it had been written */
	uint64_t found;   /* what is there now */
	uint64_t restore; /* what was there before any session came */
};

enum { UNC_PLAN_SETTINGS = 48 }; /* 32 programmable counters, fixed ones, filters of the largest */

/* A register of a unit that counts whenever the unit is not frozen. */
struct unc_plan_clock {
	uint16_t ctl;   /* control that is written for a moment; UNC_NONE: it is ours and runs */
	bool own;       /* ctl is of a counter of the session, which lends it */
	bool spare;     /* ctl is of a counter that nobody uses */
	bool runs;      /* somebody has it running: ctl is not written */
	uint16_t ctr;   /* UNC_NONE: the unit has no such counter, or none is free for it */
	uint64_t value; /* of ctl, to count clocks */
	uint64_t back;  /* of ctl, afterwards */
};

/* What a session does to one unit. */
struct unc_plan_unit {
	const struct unc_instance *instance;
	struct unc_setting control[UNC_PLAN_SETTINGS];
	struct unc_setting filter[UNC_PLAN_SETTINGS];
	struct unc_plan_counter { /* in use */
		uint16_t reg;
		uint64_t start; /* what it is set to; 0: it is left as it is */
	} counter[UNC_PLAN_SETTINGS];
	size_t n_controls, n_filters, n_counters;
	struct unc_plan_clock clock;
	uint64_t unit_ctl; /* as found, where it can be read */
	bool unit_taken;   /* somebody has changed unit control: it is not put back */
	bool shared;       /* somebody else counts on this unit: no freeze */
	bool stands;       /* and who let it go has found that nothing drives it */
	bool stopped;      /* somebody has stopped it under sessions of ours: it is not let go */
	bool noted;        /* unit control is, in the ledger */
	bool left; /* the kernel's driver may count with what is ours: nothing is put back */
	/* The kernel's driver counts there: the unit has counters, but no settings of ours. */
	bool by_kernel;
	struct unc_kernel_group *group[UNC_KERNEL_PMUS]; /* NULL: not open, or not needed */
};

/* Operations with what each is about. Free with unc_plan_free(). */
struct unc_plan {
	struct unc_reg_op *op;
	struct unc_plan_tag {
		const struct unc_instance *instance;
		uint16_t reg; /* index into table->reg */
	} * tag;
	size_t n, cap;
};

/* Start and stop of all units. Errors: UNC_ERR_UNAVAILABLE (a part is missing), UNC_ERR_MEMORY. */
int unc_plan_start(const struct unc_table *, const struct unc_plan_unit *units, size_t n,
		   struct unc_plan *out, struct unc_error *err);
int unc_plan_stop(const struct unc_table *, const struct unc_plan_unit *units, size_t n,
		  struct unc_plan *out, struct unc_error *err);
/* Freezes units or lets them go on, those left out on which somebody else counts. */
int unc_plan_freeze(const struct unc_table *, const struct unc_plan_unit *units, size_t n,
		    bool freeze, struct unc_plan *out, struct unc_error *err);
/* Reads of all controls and filters that the units need, in their order: first the controls of a
 * unit, then its filters, then its unit control, those left out that cannot be read
 * (unc_plan_shows()); last the controls that others may use (unc_plan_watched()). */
int unc_plan_look(const struct unc_table *, const struct unc_plan_unit *units, size_t n,
		  struct unc_plan *out, struct unc_error *err);
/* Whether stopping puts unit control back as found, where nobody else counts. */
bool unc_plan_puts_back(const struct unc_table *, const struct unc_tbl_type *);
bool unc_plan_shows(const struct unc_table *, uint16_t reg);
/* How many controls are read that are not ours: all, where the counters of a unit exclude each other
 * by what they count. */
size_t unc_plan_watched(const struct unc_table *, const struct unc_plan_unit *);
/* Appends one operation, of which all is known, or that is on a register of the unit. */
int unc_plan_append(struct unc_plan *, const struct unc_instance *, uint16_t reg,
		    const struct unc_reg_op *, struct unc_error *err);
int unc_plan_add(const struct unc_table *, struct unc_plan *, const struct unc_instance *,
		 uint16_t reg, enum unc_op_kind kind, uint64_t value, struct unc_error *err);
/* What was read from a register of the unit; false: it was not read. */
bool unc_plan_value(const struct unc_plan *, const struct unc_instance *, uint16_t reg,
		    uint64_t *value);
void unc_plan_free(struct unc_plan *);

#endif
