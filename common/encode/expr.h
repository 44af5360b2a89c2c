/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas of metrics: parser and evaluator. Pure: no I/O, knows no CPU. */
#ifndef UNC_EXPR_H
#define UNC_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct unc_expr;

/* Looks up the names in a formula. */
struct unc_expr_env {
	/* The formula of a metric (or number), which replaces its name; NULL: no such metric. */
	const char *(*formula)(void *user, const char *name);
	/* Canonical text of an event; 0 or UNC_ERR_* with the sentence in err. */
	int (*canonical)(void *user, const char *text, char *buf, size_t size,
			 struct unc_error *err);
	/* Whether this machine has no unit that could count an event (canonical text), so that
	 * optional(EVENT) is 0; NULL: there is no machine. */
	bool (*lacks)(void *user, const char *event);
	void *user;
};

enum { UNC_EXPR_AS_EVENT = -1, UNC_EXPR_SUM, UNC_EXPR_MEAN };

struct unc_expr_ref {
	const char *event; /* canonical text */
	int aggregate;     /* UNC_EXPR_*: over the units of the event */
};

struct unc_expr_vars {
	double time; /* seconds */
	double tsc;  /* ticks */
	double tsc_hz;
	double memory_peak; /* bytes per second */
};

/*
 * Parses a formula (grammar: eventtables/README.md, metrics.tbl). A metric named in it is
 * put in; a metric that names itself, directly or not, is an error. Equal references
 * (same event, same aggregate) are one.
 * Errors: UNC_ERR_INVALID "column N: ..."; what env->canonical returns; UNC_ERR_MEMORY.
 */
int unc_expr_parse(const char *text, const struct unc_expr_env *env, struct unc_expr **out,
		   struct unc_error *err);
void unc_expr_free(struct unc_expr *);

size_t unc_expr_refs(const struct unc_expr *);
const struct unc_expr_ref *unc_expr_ref(const struct unc_expr *, size_t index);

/* The variables that a formula uses. */
enum { UNC_EXPR_TIME = 1, UNC_EXPR_TSC = 2, UNC_EXPR_TSC_HZ = 4, UNC_EXPR_MEMORY_PEAK = 8 };
unsigned unc_expr_uses(const struct unc_expr *);

/* Evaluates; refs[i] is the count of reference i. Returns NULL, or why there is no value (denominator 0, overflow,
 * an impossible negative result), as words after "NAME: ". Allocates nothing. */
const char *unc_expr_eval(const struct unc_expr *, const double *refs, const struct unc_expr_vars *,
			  double *out);

#endif
