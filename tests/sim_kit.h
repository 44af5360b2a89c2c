/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated machine and its registers by address, for tests of the simulator. */
#ifndef UNC_TEST_SIM_KIT_H
#define UNC_TEST_SIM_KIT_H

#include <stdio.h>

#include "built.h"
#include "sim_units.h"
#include "suite.h"

#define SNB "sandybridge-ep,clock=step"
#define EMR "emerald-rapids,clock=step"
#define ONES(n) (((uint64_t)1 << (n)) - 1)

static const uint64_t ms = 1000000; /* ns */

/* MSRs of CBo 0 of Sandy Bridge-EP, distance to the next CBo, and bits of its registers. */
enum { BOX = 0xD04, CTL = 0xD10, FILTER = 0xD14, CTR = 0xD16, NEXT_BOX = 0x20 };
enum { EN = 0x400000, RST = 0x20000, EDGE = 0x40000, INV = 0x800000, EXT = 0x200000 };
enum { FRZ_EN = 0x10000, FRZ = 0x100, RST_CTRS = 2, RST_CTRL = 1 };
#define THRESH(t) ((uint64_t)(t) << 24)
/* DRd, in BOX_FILTER.opc */
#define DRD ((uint64_t)0x182 << 23)

/* Opens the machine of a node. */
static inline struct unc_sim *machine_of(const char *spec, const char *node)
{
	struct unc_sim *sim = NULL;
	struct unc_error err = {0};
	size_t n;
	const struct unc_table *const *tables = built_tables(&n);
	int rc = unc_sim_open(spec, node, tables, n, &sim, &err);

	if (rc == 0)
		rc = sim_units(sim, &err);
	if (rc < 0) {
		printf("# %s: %s\n", spec, err.text);
		CU_FAIL_FATAL("the machine opens");
	}
	return sim;
}

static inline struct unc_sim *machine(const char *spec)
{
	return machine_of(spec, "node");
}

/* A register, which must exist. */
static inline void *need(struct unc_sim *sim, int space, unsigned cpu, uint64_t address,
			 unsigned width)
{
	struct unc_reg place = {.address = address,
				.target = cpu,
				.space = (uint8_t)space,
				.width = (uint8_t)width};
	void *reg = unc_sim_find(sim, &place);

	if (!reg)
		printf("# no %u-bit register 0x%llx\n", width, (unsigned long long)address);
	CU_ASSERT_PTR_NOT_NULL_FATAL(reg);
	return reg;
}

static inline void *msr32(struct unc_sim *sim, uint64_t address)
{
	return need(sim, UNC_SPACE_MSR, 0, address, 32);
}

static inline void *msr64(struct unc_sim *sim, uint64_t address)
{
	return need(sim, UNC_SPACE_MSR, 0, address, 64);
}

/* A register of Sandy Bridge-EP in configuration space. */
static inline void *pci(struct unc_sim *sim, unsigned socket, unsigned devfn, unsigned offset,
			unsigned width)
{
	return need(sim, UNC_SPACE_PCI, 0, UNC_PCI(0, socket ? 0xff : 0x7f, devfn, offset), width);
}

static inline unsigned violations(const struct unc_sim *sim)
{
	return unc_sim_violations(sim, NULL, 0);
}

/* What a counter counts in the next ns. */
static inline uint64_t counted(struct unc_sim *sim, void *ctr, uint64_t ns)
{
	uint64_t before = unc_sim_read(sim, ctr);

	unc_sim_step(sim, ns);
	return unc_sim_read(sim, ctr) - before;
}

#endif
