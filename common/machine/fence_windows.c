/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds to the fence the places that no table has: memory, from the registers of the CPU that hold its
 * addresses, and units that only the discovery table places. Firmware is not trusted: System RAM, and
 * BARs of other devices, always stay outside.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "access/fence.h"
#include "base/grow.h"
#include "host/fs.h"
#include "machine/discover_walk.h"

enum {
	MEMORY_BAR = 0x200, /* IORESOURCE_MEM */
	IOMEM_MOST = 1 << 20
};

/* Memory with an owner. */
struct owner {
	uint64_t first, last;
	uint64_t reach; /* the greatest `last` up to here, after sorting */
	size_t number;  /* in the order of reading */
	char name[48];
};

struct yard {
	const struct unc_fs *fs;
	struct unc_bus *bus;
	struct unc_fence *fence;
	struct owner *owner;
	size_t n_owners;
	struct unc_error unknown; /* why not all owners are known; code 0: all are */
};

/* ---- the owners of memory */

static void add_owner(struct yard *yard, uint64_t first, uint64_t last, const char *name)
{
	struct owner *o = UNC_ADD_TO(yard->owner, yard->n_owners);

	yard->fence->no_memory |= !o;
	if (!o)
		return;
	*o = (struct owner){.first = first, .last = last, .number = yard->n_owners};
	snprintf(o->name, sizeof(o->name), "%s", name);
}

/* Whether a function, by its name, holds addresses of monitors: its BARs may belong to them. */
static bool is_monitor_function(const struct yard *yard, const char *name)
{
	const struct unc_table *t = yard->fence->table;

	for (size_t i = 0; i < yard->bus->n_functions; i++)
		for (size_t b = 0; b < t->n_bar; b++)
			if (yard->bus->function[i].device == t->bar[b].device_id &&
			    strcmp(unc_function_name(&yard->bus->function[i]).text, name) == 0)
				return true;
	return false;
}

/* Whether a range has no owner: the kernel has reserved it, or forwards it to a bus. */
static bool is_unowned(const struct yard *yard, const char *name)
{
	return strncasecmp(name, "reserved", 8) == 0 || strncmp(name, "PCI Bus ", 8) == 0 ||
	       strncmp(name, "pnp ", 4) == 0 || is_monitor_function(yard, name);
}

static void read_iomem(struct yard *yard)
{
	char *text = malloc(IOMEM_MOST), *save = NULL;
	bool shown = false;
	int rc = text ? unc_fs_text(yard->fs, text, IOMEM_MOST, "/proc/iomem") : UNC_ERR_MEMORY;

	for (char *line = rc == 0 ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct owner o;

		if (sscanf(line, " %" SCNx64 "-%" SCNx64 " : %47[^\n]", &o.first, &o.last,
			   o.name) != 3)
			continue;
		shown |= o.last != 0;
		if (!is_unowned(yard, o.name))
			add_owner(yard, o.first, o.last, o.name);
	}
	free(text);
	yard->fence->no_memory |= rc == UNC_ERR_MEMORY;
	if (!shown)
		unc_fail(&yard->unknown, UNC_ERR_UNAVAILABLE, "/proc/iomem %s",
			 rc ? "cannot be read" : "shows no addresses (CAP_SYS_ADMIN is needed)");
}

/* Reads the memory BARs of a function from its own file. False: it cannot be read. */
static bool read_bars(const struct yard *yard, const char *function,
		      struct unc_pci_bar memory[UNC_PCI_BARS])
{
	char text[4096], *at = text;
	uint64_t first, last, kind;
	int used;

	if (unc_fs_text(yard->fs, text, sizeof(text), "/sys/bus/pci/devices/%s/resource",
			function) < 0)
		return false;
	for (int i = 0; i < UNC_PCI_BARS; i++, at += used) {
		if (sscanf(at, "%" SCNx64 " %" SCNx64 " %" SCNx64 "%n", &first, &last, &kind,
			   &used) != 3)
			break;
		if (kind & MEMORY_BAR)
			memory[i] = (struct unc_pci_bar){first, last};
	}
	return true;
}

/* Adds the memory of a function, from the kernel's data. */
static void add_function(struct yard *yard, const char *function)
{
	const struct unc_pci_noted *row = unc_pci_list_find(&yard->bus->noted, function);
	struct unc_pci_noted own = {.device = 0};
	char name[48];

	if (!row && !read_bars(yard, function, own.memory))
		unc_fail(&yard->unknown, UNC_ERR_UNAVAILABLE, "the BARs of %.20s cannot be read",
			 function);
	snprintf(name, sizeof(name), "a BAR of %.20s", function);
	row = row ? row : &own;
	for (int i = 0; i < UNC_PCI_BARS; i++)
		if (row->memory[i].first)
			add_owner(yard, row->memory[i].first, row->memory[i].last, name);
}

static void read_owners(struct yard *yard)
{
	char **list = unc_fs_list(yard->fs, "/sys/bus/pci/devices");

	read_iomem(yard);
	if (!list)
		unc_fail(&yard->unknown, UNC_ERR_UNAVAILABLE, "the PCI functions cannot be listed");
	for (size_t i = 0; list && list[i]; i++)
		if (list[i][0] != '.' && !is_monitor_function(yard, list[i]))
			add_function(yard, list[i]);
	free(list);
}

static int compare_owners(const void *pa, const void *pb)
{
	const struct owner *a = pa, *b = pb;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static void sort_owners(struct yard *yard)
{
	uint64_t reach = 0;

	if (yard->n_owners)
		qsort(yard->owner, yard->n_owners, sizeof(*yard->owner), compare_owners);
	for (size_t i = 0; i < yard->n_owners; i++) {
		reach = yard->owner[i].last > reach ? yard->owner[i].last : reach;
		yard->owner[i].reach = reach;
	}
}

/* Returns the owner of some of these bytes; of several, the one that begins first. NULL: none. */
static const struct owner *find_owner(const struct yard *yard, uint64_t first, uint64_t last)
{
	const struct owner *found = NULL;
	size_t low = 0, high = yard->n_owners;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (yard->owner[middle].first <= last)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0 && yard->owner[low - 1].reach >= first; low--)
		if (yard->owner[low - 1].last >= first)
			found = &yard->owner[low - 1];
	return found;
}

static const char *owner_of(const struct yard *yard, const struct unc_fence_block *block)
{
	const struct owner *owner;
	uint64_t first, last;

	for (uint32_t i = 0; unc_fence_reg(yard->fence, block, &i, &first, &last);)
		if ((owner = find_owner(yard, first, last)))
			return owner->name;
	return NULL;
}

/* ---- places from registers of the CPU */

/* An element of a BAR, and its address. */
struct window {
	struct yard *yard;
	unsigned bar, element;
	uint64_t address;
};

/* Adds a unit behind the window, unless its memory has another owner. */
static void add_behind(void *user, struct unc_fence_block block, const struct unc_tbl_where *where)
{
	const struct window *w = user;

	block.base = w->address + where->base;
	if (unc_fence_space(w->yard->fence, &block) == UNC_SPACE_MMIO && where->bar == w->bar &&
	    where->bar_index == w->element && !owner_of(w->yard, &block))
		unc_fence_add(w->yard->fence, &block);
}

static void add_bar(struct yard *yard, unsigned number, const struct unc_pci_function *f)
{
	const struct unc_tbl_bar *bar = &yard->fence->table->bar[number];
	struct window w = {.yard = yard, .bar = number};

	if (bar->device_id != f->device || bar->devfn != f->devfn)
		return;
	for (; w.element < bar->count; w.element++)
		if (unc_bar_address(yard->bus, f, bar, w.element, &w.address, NULL) == 0)
			unc_fence_places(yard->fence, add_behind, &w);
}

/* ---- places from the discovery table only */

/* Checks an MSR without regard to sockets: all have the same MSRs. */
static int check_msr_free(const struct yard *yard, const struct unc_fence_block *block,
			  struct unc_error *why)
{
	unsigned owner;

	switch (unc_pmon_msr(yard->fence->table, block->type, block->base, &owner)) {
	case UNC_MSR_APART:
		return unc_fail(why, UNC_ERR_DENIED, "is not among the monitors");
	case UNC_MSR_TAKEN:
		return unc_fail(why, UNC_ERR_DENIED, "belongs to another unit");
	default:
		return 0;
	}
}

static int check_memory_free(const struct yard *yard, const struct unc_fence_block *block,
			     struct unc_error *why)
{
	const char *owner = owner_of(yard, block);

	if (owner)
		return unc_fail(why, UNC_ERR_DENIED, "belongs to %s", owner);
	if (yard->unknown.code)
		return unc_fail(why, UNC_ERR_DENIED, "may have another owner: %s",
				yard->unknown.text);
	return 0;
}

/* Checks a PCI function whose device id is in no table: it must be at a place of such units, and at the
 * address from the discovery table. */
static int check_function(const struct yard *yard, struct unc_fence_block *block, uint64_t base,
			  struct unc_error *why)
{
	const struct unc_table *own = yard->fence->table;
	const struct unc_range *places = &unc_main_part(own, block->type)->where;

	if (yard->bus->methods->scan(yard->bus, why) < 0)
		return why->code;
	for (const struct unc_tbl_where *w = NULL; (w = UNC_NEXT(own, where, *places, w));)
		for (size_t i = 0; i < yard->bus->n_functions; i++) {
			const struct unc_pci_function *f = &yard->bus->function[i];

			if (f->device && w->optional == UNC_WHERE_LISTED && !w->device_id &&
			    w->devfn == f->devfn && w->base == UNC_PCI_OFFSET(base) &&
			    UNC_PCI(f->domain, f->bus, f->devfn, w->base) == base) {
				block->device = f->device;
				block->base = w->base;
				return 0;
			}
		}
	return unc_fail(why, UNC_ERR_DENIED, "is not a place of such units");
}

/* Whether only the discovery table gives a unit's place, or the device there. */
static bool is_placed_by_discovery(const struct unc_table *own, unsigned type)
{
	const struct unc_tbl_part *part = unc_main_part(own, type);

	return !part->where.n ||
	       (part->space == UNC_SPACE_PCI && !own->where[part->where.first].device_id);
}

/*
 * Adds a unit whose place only the discovery table gives. It gives the address of unit control; tables of
 * a folder may number the type differently.
 */
static void add_discovered(struct yard *yard, const struct unc_table *t, struct unc_instance *unit)
{
	const struct unc_table *own = yard->fence->table;
	struct unc_fence_block block = {.index = unit->index, .type = unit->type};
	struct unc_error why = {0};
	int rc;

	for (block.type = 0; block.type < own->n_type; block.type++)
		if (own == t ? block.type == unit->type
			     : own->type[block.type].discovery == t->type[unit->type].discovery)
			break;
	if (block.type == own->n_type || !own->type[block.type].parts.n ||
	    !is_placed_by_discovery(own, block.type) ||
	    unc_fence_space(yard->fence, &block) != unit->part[0].space)
		return;
	block.base = unit->part[0].base + (uint64_t)(unc_control_offset(t, unit->type) -
						     unc_control_offset(own, block.type));
	if (unit->part[0].space == UNC_SPACE_PCI)
		rc = check_function(yard, &block, block.base, &why);
	else
		rc = unit->part[0].space == UNC_SPACE_MSR ? check_msr_free(yard, &block, &why)
							  : check_memory_free(yard, &block, &why);
	if (rc == 0)
		unc_fence_add(yard->fence, &block);
	else
		unc_instance_refuse(unit, "where discovery places it, %s, %s", unit->location,
				    why.text);
}

static bool has_memory(const struct unc_instance *unit)
{
	for (unsigned i = 0; unit->available && i < UNC_MAX_PARTS; i++)
		if (unit->part[i].present && unit->part[i].space == UNC_SPACE_MMIO)
			return true;
	return false;
}

int unc_fence_windows(const struct unc_table *t, const struct unc_instances *units,
		      struct unc_bus *bus, const struct unc_fs *fs, struct unc_access *access,
		      struct unc_error *err)
{
	struct yard yard = {.fs = fs, .bus = bus, .fence = unc_access_fence(access)};
	bool memory = false;
	int rc;

	for (size_t i = 0; i < units->n && yard.fence->table; i++)
		memory |= has_memory(&units->unit[i]);
	if (memory && (rc = bus->methods->scan(bus, err)) < 0)
		return rc;
	if (memory)
		read_owners(&yard);
	sort_owners(&yard);
	for (size_t i = 0; memory && i < bus->n_functions; i++)
		for (unsigned b = 0; b < yard.fence->table->n_bar; b++)
			add_bar(&yard, b, &bus->function[i]);
	for (size_t i = 0; i < units->n && yard.fence->table; i++)
		if (units->unit[i].available && units->unit[i].status_position >= 0)
			add_discovered(&yard, t, &units->unit[i]);
	free(yard.owner);
	return yard.fence->no_memory ? unc_no_memory(err) : 0;
}
