/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator in programs that have the library linked in. */
#include "machine/simulator.h"

int unc_machine_simulated(const char *spec, const char *node, const struct unc_table *const *tables,
			  size_t n, struct unc_machine **out, struct unc_error *err)
{
	return unc_simulator()->open(spec, node, tables, n, out, err);
}
