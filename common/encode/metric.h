/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of a table: finding them, and their formulas with the names of that table. Pure. */
#ifndef UNC_METRIC_H
#define UNC_METRIC_H

#include "encode/expr.h"
#include "tables/table.h"

/* "cha.LLC_MPI" -> type cha, LLC_MPI; without a dot UNC_NONE and the whole name; NULL: no such type. */
const char *unc_metric_split(const struct unc_table *, const char *name, uint16_t *type);
/* Index of the metric with that full name ("imc.MEM_BW_READS", "llc_misses"); -1 if there is none. */
int unc_metric_index(const struct unc_table *, const char *name);
/* Whether a machine has no unit of a type. */
typedef bool (*unc_lacks_fn)(const void *machine, unsigned type);
/* Parses the metric's formula, even if the metric is unavailable. `lacks` decides whether
 * optional(EVENT) is 0; NULL: there is no machine, and the event is needed like any other. */
int unc_formula_parse(const struct unc_table *, unsigned metric, unc_lacks_fn lacks,
		      const void *machine, struct unc_expr **out, struct unc_error *err);

#endif
