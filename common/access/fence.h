/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fence: which registers can be a monitor's at all, and what may be written to them. It is that
 * of the CPU at hand, by the table of it that is compiled in, so that a table from a folder, a
 * broken discovery table or a mistake of ours cannot make a privileged program touch anything else:
 * only the very registers of units at places that the table knows. Units that only discovery places
 * are added one by one, where that can be checked (fence_windows.c). A CPU without a compiled table
 * has nothing within it.
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

/* One register of a block: a number, bytes in a function, or of memory. */
struct unc_fence_row {
	uint64_t at, mask; /* what may be written */
	uint16_t device;
	uint8_t space, width; /* width 0: any */
};

struct unc_fence {
	const struct unc_table *table; /* NULL: nothing is within */
	struct unc_fence_row *row;     /* registers of blocks, sorted when one is asked for */
	size_t n;
	bool sorted;
	bool no_memory; /* a register is missing, and not within: told by who has added it */
};

/* The places that a compiled table knows by itself; NULL: none. UNC_ERR_MEMORY. */
int unc_fence_begin(struct unc_fence *, const struct unc_table *, struct unc_error *err);
void unc_fence_add(struct unc_fence *, const struct unc_fence_block *);
void unc_fence_end(struct unc_fence *);
/* Calls fn with each place of the table. */
typedef void (*unc_fence_fn)(void *user, struct unc_fence_block, const struct unc_tbl_where *);
void unc_fence_places(const struct unc_fence *, unc_fence_fn, void *user);
int unc_fence_space(const struct unc_fence *, const struct unc_fence_block *);
/* The next register of a block from *i on, and where it is: a number, bytes in a function or of
 * memory. NULL: there is none. */
const struct unc_tbl_reg *unc_fence_reg(const struct unc_fence *, const struct unc_fence_block *,
					uint32_t *i, uint64_t *first, uint64_t *last);
/* Whether a register is within, of a PCI function of Intel's with this id (else 0), and which bits
 * of it may be written. Where memory has run out nothing is. */
bool unc_fence_has(struct unc_fence *, const struct unc_reg *, uint16_t device, uint64_t *mask);

/*
 * fence_windows.c: adds the units in memory, at the places that the CPU's own registers tell, and
 * the units that only the machine's discovery table places. Those of the latter that cannot be
 * checked, or that are somebody's, are marked as not available, with the reason.
 */
int unc_fence_windows(const struct unc_table *, const struct unc_instances *, struct unc_bus *,
		      const struct unc_fs *, struct unc_access *, struct unc_error *err);

#endif
