/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory within the fence, as this machine has it. */
#include <stdlib.h>

#include "access/access.h"
#include "access/fence.h"
#include "machine/discover.h"

enum { LISTED_BLOCK = 0x1000 /* of a unit of the discovery table, from its control on */ };

/* Ice Lake-SP: the memory controllers. */
static const struct unc_tbl_bar more_bars[] = {
	{.device_id = 0x3451,
	 .devfn = UNC_DEVFN(0, 1),
	 .count = 4,
	 .base_offset = 0xd0,
	 .offset = 0xd8,
	 .step = 4,
	 .base_shift = 23,
	 .shift = 12,
	 .base_mask = 0x1fffffff,
	 .mask = 0x7ff,
	 .size = 0x40000},
};

static int bar_windows(const struct unc_tbl_bar *bar, struct unc_bus *bus,
		       const struct unc_pci_function *f, struct unc_access *access,
		       struct unc_error *err)
{
	uint32_t base, part;
	int rc = 0;

	if (bar->device_id != f->device || bar->devfn != f->devfn ||
	    bus->methods->config(bus, f, bar->base_offset, &base, NULL) < 0 || base == UINT32_MAX ||
	    !(base & bar->base_mask))
		return 0;
	for (unsigned i = 0; i < bar->count && rc == 0; i++) {
		uint64_t address = (uint64_t)(base & bar->base_mask) << bar->base_shift;

		if (bus->methods->config(bus, f, bar->offset + i * bar->step, &part, NULL) < 0 ||
		    part == UINT32_MAX || !(part & bar->mask))
			continue;
		address += (uint64_t)(part & bar->mask) << bar->shift;
		rc = unc_access_window(access, address, bar->size, err);
	}
	return rc;
}

static int function_windows(struct unc_bus *bus, const struct unc_pci_function *f,
			    struct unc_access *access, struct unc_error *err)
{
	size_t n;
	const struct unc_table *const *tables = unc_tables(&n);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		for (size_t k = 0; k < tables[i]->n_bar && rc == 0; k++)
			rc = bar_windows(&tables[i]->bar[k], bus, f, access, err);
	for (size_t i = 0; i < sizeof(more_bars) / sizeof(more_bars[0]) && rc == 0; i++)
		rc = bar_windows(&more_bars[i], bus, f, access, err);
	return rc;
}

static bool has_memory(const struct unc_instance *unit)
{
	for (unsigned i = 0; i < UNC_MAX_PARTS; i++)
		if (unit->part[i].present && unit->part[i].space == UNC_SPACE_MMIO)
			return true;
	return false;
}

/* A unit that the machine's discovery table lists: the table gives the address of its control. */
static int listed_window(const struct unc_table *t, const struct unc_instance *unit,
			 struct unc_access *access, struct unc_error *err)
{
	uint16_t control = t->type[unit->type].unit_ctl;
	uint64_t offset = control == UNC_NONE ? 0 : (uint64_t)(int64_t)t->reg[control].offset;

	if (unit->status_position < 0 || unit->part[0].space != UNC_SPACE_MMIO)
		return 0;
	return unc_access_window(access, unit->part[0].base + offset, LISTED_BLOCK, err);
}

int unc_fence_windows(const struct unc_table *t, const struct unc_instances *units,
		      struct unc_bus *bus, struct unc_access *access, struct unc_error *err)
{
	struct unc_pci_function *list = NULL;
	size_t n = 0;
	bool any = false;
	int rc = 0;

	for (size_t i = 0; i < units->n && rc == 0; i++) {
		if (!units->unit[i].available || !has_memory(&units->unit[i]))
			continue;
		any = true;
		rc = listed_window(t, &units->unit[i], access, err);
	}
	if (rc < 0 || !any)
		return rc;
	rc = bus->methods->scan(bus, &list, &n, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = function_windows(bus, &list[i], access, err);
	free(list);
	return rc;
}
