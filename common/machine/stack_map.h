/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the root bus of a PCIe stack by the registers of the statements `map`. */
#ifndef UNC_STACK_MAP_H
#define UNC_STACK_MAP_H

#include "machine/discover.h"

struct unc_stack_bus {
	uint16_t domain;
	uint8_t bus;
	const struct unc_tbl_map *map; /* the source of the bus; NULL: the kernel */
};

/* Lets the gate of the bus read the MSRs of maps; nothing is read. UNC_ERR_MEMORY. */
int unc_stack_allow(const struct unc_table *, const struct unc_topology *, struct unc_access *,
		    struct unc_error *err);

/*
 * Finds the bus of one of `units`; searches the functions again.
 * Errors, with a sentence: UNC_ERR_PERMISSION: the right to read is missing; UNC_ERR_UNAVAILABLE: the
 * register does not exist, or has no such stack, or two of them.
 */
int unc_stack_by_registers(const struct unc_table *, const struct unc_topology *, struct unc_bus *,
			   const struct unc_instances *units, const struct unc_instance *,
			   struct unc_stack_bus *out, struct unc_error *err);

#endif
