/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of CPUs that are made up: tests/tables, and testcpu of tests/tables_bad/good. */
#ifndef UNC_TEST_MADE_H
#define UNC_TEST_MADE_H

#include "tables/table.h"

/* NULL: there is no such CPU. */
const struct unc_table *made_table(const char *cpu);

/* As those of the library. */
bool made_table_built(size_t index, struct unc_table *out);
bool made_workload_built(size_t index, struct unc_workload *out);

#endif
