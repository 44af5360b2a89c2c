/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the units of a machine. */
#ifndef UNC_DISCOVER_H
#define UNC_DISCOVER_H

#include "access/access.h"
#include "host/cpu.h"
#include "machine/pci_list.h"
#include "tables/table.h"

enum { UNC_MAX_PARTS = 3, UNC_REASON_MAX = 256 };

/* where one part of a unit is */
struct unc_place {
	uint64_t base; /* address that offsets of registers add to; encoded as unc_reg.address */
	uint32_t target;
	uint8_t space;
	uint8_t way; /* access method (access_ways.h), after probing; 0: none yet */
	bool present;
	bool exists; /* the unit is there, though its registers may be out of reach */
};

/* One unit of this machine. */
struct unc_instance {
	uint16_t type; /* index into table->type */
	uint16_t socket;
	uint16_t index;          /* id within type and socket, as the hardware numbers it */
	bool direct;             /* the registers of part 0 can be used */
	bool available;          /* the unit can be used, by registers or otherwise */
	bool doubtful;           /* probing has to show whether it exists */
	bool by_driver;          /* it exists according to the kernel's driver */
	bool unknown;            /* no source that may be read says whether it exists */
	int16_t status_position; /* bit in the global status, -1 unknown */
	struct unc_place part[UNC_MAX_PARTS];
	char location[48];
	/* Why the unit is not available, a part is missing, or earlier access methods did not reach it.
	 * "", or set by the functions below. */
	const char *reason;
};

struct unc_instances {
	struct unc_instance *unit; /* sorted by type, socket, index */
	size_t n;
};

/*
 * PCI functions and physical memory as discovery sees them: read only. The
 * real one is sysfs and /dev/mem under a root; the simulated machine brings its own.
 */
struct unc_pci_function {
	uint16_t domain;
	uint8_t bus, devfn;
	uint16_t vendor, device;
	int16_t errno_value;       /* why it could not be identified (device is 0) */
	bool told;                 /* the members below are valid: unc_walk_told() */
	uint16_t kind;             /* base class and sub-class; 0: not known */
	int numa_node;             /* -1 unknown */
	int local_cpu, local_last; /* first and last CPU of local_cpulist, -1 unknown */
};

static inline struct unc_pci_name unc_function_name(const struct unc_pci_function *f)
{
	return unc_pci_name(UNC_PCI(f->domain, f->bus, f->devfn, 0));
}

/* Receives sentences about odd facts that are no errors: broken discovery entries, fallbacks used. */
typedef void (*unc_note_fn)(void *user, const char *text);

struct unc_bus;
struct unc_bus_methods {
	/* Lists all functions that are or may be of vendor 8086, in any order; once. It uses the
	 * kernel's data and opens no function. */
	int (*scan)(struct unc_bus *, struct unc_error *err);
	/* Reads class and place of a function. NULL: the scan did. */
	void (*tell)(struct unc_bus *, struct unc_pci_function *);
	/* Reads a configuration dword. UNC_ERR_RANGE if the function has no extended space. */
	int (*config)(struct unc_bus *, const struct unc_pci_function *, unsigned offset,
		      uint32_t *value, struct unc_error *err);
	/* Copies physical memory, in aligned 8-byte reads. UNC_ERR_PERMISSION, UNC_ERR_UNAVAILABLE. */
	int (*memory)(struct unc_bus *, uint64_t address, void *buf, size_t size,
		      struct unc_error *err);
	void (*close)(struct unc_bus *);
};
enum { UNC_BAR_WORDS = 64 };
struct unc_bus {
	const struct unc_bus_methods *methods;
	struct unc_pci_function *function; /* NULL: none, or not scanned yet */
	size_t n_functions;
	struct unc_pci_list noted; /* functions of all vendors; empty before the scan */
	unc_note_fn note;          /* NULL: notes are dropped */
	void *user;
	/* Reads MSRs that show which units exist; its method kernel is asked if the right to read
	 * them is missing; NULL: none. */
	struct unc_access *gate;
	bool closed; /* unknown CPU: only functions with discovery tables are read */
	/* A cache of registers that hold addresses of units: all units behind them need the values. */
	struct {
		uint64_t at; /* UNC_PCI() */
		uint32_t value;
	} word[UNC_BAR_WORDS];
	unsigned n_words;
};

int unc_bus_open_system(struct unc_fs *, struct unc_bus **out,
			struct unc_error *err); /* bus_system.c */

/*
 * Finds the units. Free out->unit with unc_instances_free(). A unit that exists, or may exist, but cannot
 * be reached is in the list with a reason. If PCI functions show sockets without online CPUs, these are
 * added to the topology: the numbers of other sockets may change.
 */
int unc_discover(const struct unc_table *, struct unc_topology *, struct unc_bus *,
		 unc_note_fn note, void *user, struct unc_instances *out, struct unc_error *err);
/* Returns part 0 of a type that has parts. */
static inline const struct unc_tbl_part *unc_main_part(const struct unc_table *t, unsigned type)
{
	return unc_type_part(t, type, 0);
}
/* Whether the numbers of a type's units may have gaps, because its MSRs are `optional`. */
static inline bool unc_type_gaps(const struct unc_table *t, unsigned type)
{
	const struct unc_tbl_part *part = unc_main_part(t, type);

	return part->space == UNC_SPACE_MSR && part->where.n &&
	       unc_part_place(t, part, 0)->optional;
}
/* Whether units of two types come together. */
static inline bool unc_type_partners(const struct unc_table *t, unsigned a, unsigned b)
{
	return t->type[a].partner == b + 1 || t->type[b].partner == a + 1;
}
/* Returns the offset of unit control in its part; 0: the type has none. */
static inline int64_t unc_control_offset(const struct unc_table *t, unsigned type)
{
	return t->type[type].unit_ctl == UNC_NONE ? 0 : t->reg[t->type[type].unit_ctl].offset;
}
/* instance.c */
/* Returns the extent of a part's registers from its base, without absolute ones: a number of MSRs, or
 * of bytes. */
uint64_t unc_part_extent(const struct unc_table *, unsigned type, unsigned part);
/* The first offset of the extended configuration space of a PCI function. */
enum { UNC_PCI_EXTENDED = 0x100 };
void unc_instances_free(struct unc_instances *);
/* Frees the reason of a unit that is to be removed from a list. */
void unc_instance_forget(struct unc_instance *);
/* Set why a unit, or a part of it, cannot be used; unc_instance_refuse() makes the unit unavailable. */
void unc_instance_reason(struct unc_instance *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void unc_instance_refuse(struct unc_instance *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends to the reason; "": nothing. */
void unc_instance_also(struct unc_instance *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Allows the registers of the available units at the gate, and chooses the access method of each unit: the
 * first that reaches all its registers of a space; one register is read. A unit that cannot be read (no
 * permission, no driver, does not exist) or reads as all ones is marked unavailable, with the reason; a
 * doubtful unit without an answer is removed. Writes nothing.
 */
int unc_instances_probe(const struct unc_table *, struct unc_instances *, struct unc_access *,
			struct unc_error *err);

/* Makes a unit at its place in the tables, on socket 0, for listings. PCI bus and BAR base are 0. */
void unc_instance_nominal(const struct unc_table *, unsigned type, unsigned index,
			  struct unc_instance *out);

/* Lists the registers of a unit in a space (-1: all), with their write masks. out: room for all registers of
 * the type. Returns how many. */
size_t unc_instance_allowed(const struct unc_table *, const struct unc_instance *, int space,
			    struct unc_allowed *out);

/* Makes register `reg` (index into table->reg) of a unit. UNC_ERR_UNAVAILABLE: its part is missing. */
int unc_instance_reg(const struct unc_table *, const struct unc_instance *, unsigned reg,
		     struct unc_reg *out, struct unc_error *err);

#endif
