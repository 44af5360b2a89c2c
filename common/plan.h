/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the settings of units to ordered register operations, by the step lists
 * of the tables. Pure: the lists are run elsewhere, or only shown.
 */
#ifndef UNC_PLAN_H
#define UNC_PLAN_H

#include "discover.h"

struct unc_setting { /* reg = value */
	uint16_t reg;
	bool claimed;     /* noted in platform->claim */
	bool keep;        /* another session needs it so: it is not put back */
	uint64_t value;
	uint64_t found;   /* what is there now */
	uint64_t restore; /* what was there before any session of ours came */
};

enum { UNC_PLAN_SETTINGS = 64 };

/* What a session does to one unit. */
struct unc_plan_unit {
	const struct unc_instance *instance;
	struct unc_setting control[UNC_PLAN_SETTINGS];
	struct unc_setting filter[UNC_PLAN_SETTINGS];
	uint16_t counter[UNC_PLAN_SETTINGS]; /* counter registers in use */
	size_t n_controls, n_filters, n_counters;
	uint64_t unit_ctl;     /* as found, where it can be read */
	bool shared;   /* somebody else counts on this unit: no freeze, no reset */
	bool stranger; /* and he is no session of ours */
};

/* Operations with what each is about. Free with unc_plan_free(). */
struct unc_plan {
	struct unc_reg_op *op;
	struct unc_plan_tag {
		const struct unc_instance *instance;
		uint16_t reg; /* index into table->reg */
	} *tag;
	size_t n, cap;
	size_t go; /* operations before the common point; n if there is none */
};

/* Start and stop of all units. Errors: UNC_ERR_UNAVAILABLE (a part is missing), UNC_ERR_MEMORY. */
int unc_plan_start(const struct unc_table *, const struct unc_plan_unit *units, size_t n,
		   struct unc_plan *out, struct unc_error *err);
int unc_plan_stop(const struct unc_table *, const struct unc_plan_unit *units, size_t n,
		  struct unc_plan *out, struct unc_error *err);
/* The steps of starting or stopping that freeze units and let them go on, those shared left out. */
int unc_plan_freeze(const struct unc_table *, const struct unc_plan_unit *units, size_t n, bool freeze,
		    struct unc_plan *out, struct unc_error *err);
/* Appends one operation. */
int unc_plan_add(const struct unc_table *, struct unc_plan *, const struct unc_instance *,
		 uint16_t reg, enum unc_op_kind kind, uint64_t value, struct unc_error *err);
void unc_plan_free(struct unc_plan *);

#endif
