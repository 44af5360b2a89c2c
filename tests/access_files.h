/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate on a root of files, for tests: test_access.c, test_access_mmio.c, test_fence.c. */
#ifndef UNC_TEST_ACCESS_FILES_H
#define UNC_TEST_ACCESS_FILES_H

#include "access_kit.h"
#include "fake_root.h"

static struct fake_root root;

static inline void open_root(void)
{
	fake_new(&root);
	begin(root.path);
}

static inline void close_root(void)
{
	end();
	fake_free(&root);
}

static inline struct unc_reg msr(uint64_t number, unsigned cpu)
{
	return (struct unc_reg){number, cpu, UNC_SPACE_MSR, 64, 0};
}

/* Register of function 7f:10.0. */
static inline struct unc_reg pci(unsigned offset, unsigned width)
{
	return (struct unc_reg){UNC_PCI(0, 0x7f, UNC_DEVFN(0x10, 0), offset), 0, UNC_SPACE_PCI,
				(uint8_t)width, 0};
}

/* Register of function 7f:08.6, the match registers of a QPI link. */
static inline struct unc_reg match(unsigned offset, unsigned width)
{
	return (struct unc_reg){UNC_PCI(0, 0x7f, UNC_DEVFN(8, 6), offset), 0, UNC_SPACE_PCI,
				(uint8_t)width, 0};
}

static inline struct unc_reg mmio(uint64_t address, unsigned width)
{
	return (struct unc_reg){address, 0, UNC_SPACE_MMIO, (uint8_t)width, 0};
}

#endif
