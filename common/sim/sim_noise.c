/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers of the simulated machine: functions of what they are for, the same everywhere. */
#include "sim/sim_machine.h"

uint64_t unc_sim_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

double unc_sim_noise(const char *name, uint64_t number)
{
	uint64_t hash = 0;

	for (; *name; name++)
		hash = unc_sim_mix(hash ^ (unsigned char)*name);
	return (double)(unc_sim_mix(hash ^ unc_sim_mix(number)) >> 11) / 9007199254740992.0;
}
