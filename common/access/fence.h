/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fence: the registers that can belong to a monitor at all, and the bits that may be written. It
 * comes from the compiled-in table of the CPU, so that a table from a folder, a broken discovery table
 * or a bug cannot make a privileged program access any other register: only registers of units at
 * places that the table has are inside. Units that only discovery places are added one by one, if
 * their place can be checked (fence_windows.c). For a CPU without a compiled table no register is
 * inside.
 */
#ifndef UNC_FENCE_H
#define UNC_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "tables/table.h"

struct unc_access;
struct unc_bus;
struct unc_fs;
struct unc_instances;

/* One part of a unit at a place. */
struct unc_fence_block {
	uint64_t base;
	uint32_t index;
	uint16_t type, part; /* of the table */
	uint16_t device;     /* PCI: the id of its function; else 0 */
};

/* One register of a block: an MSR number, bytes of a PCI function, or bytes of memory. */
struct unc_fence_row {
	uint64_t at, mask; /* mask: bits that may be written */
	uint16_t device;
	uint8_t space, width; /* width 0: any */
};

struct unc_fence {
	const struct unc_table *table; /* NULL: no register is inside */
	struct unc_fence_row *row;     /* registers of blocks, sorted by the first lookup */
	size_t n;
	bool sorted;
	bool no_memory; /* a row is missing, so its register is not inside; the adder reports it */
};

/* Adds the fixed places of a compiled table; NULL: none. UNC_ERR_MEMORY. */
int unc_fence_begin(struct unc_fence *, const struct unc_table *, struct unc_error *err);
void unc_fence_add(struct unc_fence *, const struct unc_fence_block *);
void unc_fence_end(struct unc_fence *);
/* Calls fn with each place of the table. */
typedef void (*unc_fence_fn)(void *user, struct unc_fence_block, const struct unc_tbl_where *);
void unc_fence_places(const struct unc_fence *, unc_fence_fn, void *user);
int unc_fence_space(const struct unc_fence *, const struct unc_fence_block *);
/* Returns the next register of a block from *i on, and its place: an MSR number, bytes of a PCI function or
 * of memory. NULL: no more. */
const struct unc_tbl_reg *unc_fence_reg(const struct unc_fence *, const struct unc_fence_block *,
					uint32_t *i, uint64_t *first, uint64_t *last);
/* Whether a register is inside, and which bits of it may be written. device: the id of its Intel PCI
 * function, else 0. A register whose row is missing for lack of memory is not inside. */
bool unc_fence_has(struct unc_fence *, const struct unc_reg *, uint16_t device, uint64_t *mask);

/*
 * In fence_windows.c. Adds the units in memory, at the places from the CPU's own registers, and the units
 * that only the discovery table of the machine places. A unit of the latter kind that cannot be checked, or
 * whose place belongs to another owner, is marked unavailable, with the reason.
 */
int unc_fence_windows(const struct unc_table *, const struct unc_instances *, struct unc_bus *,
		      const struct unc_fs *, struct unc_access *, struct unc_error *err);

#endif
