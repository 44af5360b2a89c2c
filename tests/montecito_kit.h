/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated Montecito and the registers of its threads, for tests. */
#ifndef UNC_TEST_MONTECITO_KIT_H
#define UNC_TEST_MONTECITO_KIT_H

#include "session_kit.h"

#define MONT "montecito,clock=step"

/* PMC4 to 15, figure 3-11: all levels, privileged, instruction set 2. */
#define CONTROL(es, umask) (0x0200004Fu | (es) << 8 | (umask) << 16)
enum { CYCLES = 0x12, ALL = 1 << 26, LEVELS = 0xf, OI = 0x20 };

/* A thread is in the foreground half of the time (workload.tbl): half of 1.6 GHz. */
static const double cycles_per_second = 0.8e9;

static inline void *reg(struct unc_platform *p, unsigned unit, const char *name)
{
	void *found = reg_of(p, "core", unit, 0, name);

	if (!found)
		printf("# no register %s\n", name);
	CU_ASSERT_FATAL(found != NULL);
	return found;
}

static inline uint64_t get(struct unc_platform *p, unsigned unit, const char *name)
{
	return unc_sim_read(unc_machine_sim(p->machine), reg(p, unit, name));
}

static inline void put(struct unc_platform *p, unsigned unit, const char *name, uint64_t value)
{
	unc_sim_write(unc_machine_sim(p->machine), reg(p, unit, name), value);
}

/* "PMD" and 4 -> PMD4. Static storage. */
static inline const char *numbered(const char *name, unsigned n)
{
	static char text[16];

	snprintf(text, sizeof(text), "%s%u", name, n);
	return text;
}

#endif
