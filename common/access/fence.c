/* SPDX-License-Identifier: BSD-3-Clause */
#include "access/fence.h"

#include <linux/perf_event.h>
#include <string.h>

#include "tables/table.h"

/* ---- documented servers that have no table yet, and units that only discovery places */

static const struct {
	uint16_t first, last;
} msr_block[] = {
	{0x0700, 0x075f}, /* Haswell-EP to Ice Lake-SP: UBox, PCU, SBo (Linux uncore_snbep.c) */
	{0x0a40, 0x0bcf}, /* Skylake-SP, Ice Lake-SP: IIO, IRP, M2PCIe, free running, CHA 34 on */
	{0x0e00, 0x0fff}, /* Haswell-EP to Ice Lake-SP: CBo, CHA */
	{0x2000, 0x3fff}, /* Sapphire Rapids on (Intel 817509-001) */
};

static const struct {
	uint16_t mask, id; /* of device ids */
	uint16_t first, last;
} pci_block[] = {
	/* Haswell-EP 2fxx, Broadwell-EP 6fxx: HA, iMC, QPI and its match and link, R2PCIe, R3QPI,
	   IRP */
	{0xbff7, 0x2f30, 0x040, 0x0ff},
	{0xbffa, 0x2fb0, 0x0a0, 0x0ff},
	{0xbffa, 0x2fd0, 0x0a0, 0x0ff},
	{0xbffe, 0x2f32, 0x0a0, 0x0ff},
	{0xbfff, 0x2f3a, 0x0a0, 0x0ff},
	{0xbfef, 0x2f86, 0x200, 0x23f},
	{0xffff, 0x6f46, 0x200, 0x23f},
	{0xbfef, 0x2f80, 0x0c8, 0x0d7},
	{0xbfff, 0x2f40, 0x0c8, 0x0d7},
	{0xbfff, 0x2f34, 0x0a0, 0x0ff},
	{0xbffe, 0x2f36, 0x0a0, 0x0ff},
	{0xbfff, 0x2f3e, 0x0a0, 0x0ff},
	{0xbfff, 0x2f39, 0x0a0, 0x0ff},
	/* Skylake-SP: iMC, M2M, UPI, M3UPI, M2PCIe */
	{0xffff, 0x2042, 0x0a0, 0x0ff},
	{0xffff, 0x2046, 0x0a0, 0x0ff},
	{0xffff, 0x204a, 0x0a0, 0x0ff},
	{0xffff, 0x2066, 0x200, 0x267},
	{0xffff, 0x2058, 0x318, 0x37f},
	{0xffff, 0x204d, 0x0a0, 0x0ff},
	{0xffff, 0x204e, 0x0a0, 0x0ff},
	{0xffff, 0x2088, 0x0a0, 0x0ff},
	/* Ice Lake-SP: M2M, UPI, M3UPI */
	{0xffff, 0x344a, 0x438, 0x4af},
	{0xffff, 0x3441, 0x318, 0x37f},
	{0xffff, 0x3446, 0x0a0, 0x0ff},
};

/* ---- MSRs */

/* Whether a register of the type, in this part at base, is the MSR. */
static bool type_has_msr(const struct unc_table *t, const struct unc_tbl_type *type, uint32_t part,
			 uint64_t base, uint32_t index, uint64_t number)
{
	for (uint32_t i = 0; i < type->regs.n; i++) {
		const struct unc_tbl_reg *reg = &t->reg[type->regs.first + i];
		int64_t offset = reg->offset + (int64_t)reg->per_unit * index;

		if (reg->part == part &&
		    number == (reg->flags & UNC_REG_ABS ? (uint32_t)reg->offset
							: base + (uint64_t)offset))
			return true;
	}
	return false;
}

static bool table_has_msr(const struct unc_table *t, uint64_t number)
{
	for (size_t i = 0; i < t->n_type; i++)
		for (uint32_t p = 0; p < t->type[i].parts.n; p++) {
			const struct unc_tbl_part *part = &t->part[t->type[i].parts.first + p];

			for (uint32_t k = 0; part->space == UNC_SPACE_MSR && k < part->where.n; k++)
				if (type_has_msr(t, &t->type[i], p,
						 t->where[part->where.first + k].base, k, number))
					return true;
		}
	return false;
}

bool unc_fence_msr(uint64_t number)
{
	const struct unc_table *const *tables;
	size_t n;

	for (size_t i = 0; i < sizeof(msr_block) / sizeof(msr_block[0]); i++)
		if (number >= msr_block[i].first && number <= msr_block[i].last)
			return true;
	tables = unc_tables(&n);
	for (size_t i = 0; i < n; i++)
		if (table_has_msr(tables[i], number))
			return true;
	return false;
}

/* ---- PCI */

/* Whether the bits are within what the type's registers span in this part at base. */
static bool type_spans(const struct unc_table *t, const struct unc_tbl_type *type, uint32_t part,
		       uint64_t base, int64_t first, int64_t end)
{
	int64_t low = INT64_MAX, high = 0;

	for (uint32_t i = 0; i < type->regs.n; i++) {
		const struct unc_tbl_reg *reg = &t->reg[type->regs.first + i];
		int64_t at = reg->offset + (reg->flags & UNC_REG_ABS ? 0 : (int64_t)base);

		if (reg->part != part)
			continue;
		low = at < low ? at : low;
		high = at + reg->width / 8 > high ? at + reg->width / 8 : high;
	}
	return first >= low && end <= high;
}

static bool table_has_pci(const struct unc_table *t, uint16_t device, int64_t first, int64_t end)
{
	for (size_t i = 0; i < t->n_type; i++)
		for (uint32_t p = 0; p < t->type[i].parts.n; p++) {
			const struct unc_tbl_part *part = &t->part[t->type[i].parts.first + p];

			for (uint32_t k = 0; part->space == UNC_SPACE_PCI && k < part->where.n;
			     k++) {
				const struct unc_tbl_where *where =
					&t->where[part->where.first + k];

				if (where->device_id == device &&
				    type_spans(t, &t->type[i], p, where->base, first, end))
					return true;
			}
		}
	return false;
}

bool unc_fence_pci(uint16_t device, unsigned offset, unsigned width)
{
	unsigned end = offset + width / 8;
	const struct unc_table *const *tables;
	size_t n;

	for (size_t i = 0; i < sizeof(pci_block) / sizeof(pci_block[0]); i++)
		if ((device & pci_block[i].mask) == pci_block[i].id &&
		    offset >= pci_block[i].first && end <= pci_block[i].last + 1u)
			return true;
	tables = unc_tables(&n);
	for (size_t i = 0; i < n; i++)
		if (table_has_pci(tables[i], device, offset, end))
			return true;
	return false;
}

bool unc_fence_perf(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_RAW;
}

/* ---- PMUs of the kernel: the name is part of a path as well */

bool unc_fence_pmu(const char *name)
{
	static const char begin[] = "uncore", rest[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	return strncmp(name, begin, sizeof(begin) - 1) == 0 && !name[strspn(name, rest)];
}

bool unc_fence_pmu_type(uint32_t type)
{
	return type >= PERF_TYPE_MAX;
}
