/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulator of another build than the library's. */
#include "machine/simulator.h"

const struct unc_simulator *unc_simulator(void)
{
	static const struct unc_simulator other = {.version = UNC_SIMULATOR_VERSION + 1,
						   .build = UNC_VERSION};

	return &other;
}
