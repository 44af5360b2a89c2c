/* SPDX-License-Identifier: BSD-3-Clause */
#include "made.h"

#include <string.h>

const struct unc_table *made_table(const char *cpu)
{
	static struct unc_table all[UNC_TABLE_CPUS];

	for (size_t i = 0; made_table_built(i, &all[i]); i++)
		if (strcmp(unc_tbl_str(&all[i], all[i].name), cpu) == 0)
			return &all[i];
	return NULL;
}
