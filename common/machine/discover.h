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
	uint64_t base; /* registers count from here; encoded as unc_reg.address */
	uint32_t target;
	uint8_t space;
	uint8_t way; /* to it (access_ways.h), once it is probed; 0: none yet */
	bool present;
	bool exists; /* the unit is there, though its registers may be out of reach */
};

/* One unit of this machine. */
struct unc_instance {
	uint16_t type; /* index into table->type */
	uint16_t socket;
	uint16_t index;          /* id within type and socket, as the hardware numbers it */
	bool direct;             /* its registers can be used: those of part 0 */
	bool available;          /* it can be used, by them or otherwise */
	bool doubtful;           /* until it is probed: reading tells whether it exists */
	bool by_driver;          /* that it exists is what the kernel's driver says */
	bool unknown;            /* whether it does nobody says whom we may ask */
	int16_t status_position; /* bit in the global status, -1 unknown */
	struct unc_place part[UNC_MAX_PARTS];
	char location[48];
	/* Why not available, why a part is missing, why ways before the one that serves it did not reach
	 * it. "", or set by the functions below. */
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
	int16_t errno_value;       /* it does not tell who it is, device is 0: why */
	bool told;                 /* what follows was asked for: unc_walk_told() */
	uint16_t kind;             /* base class and sub-class; 0: not told */
	int numa_node;             /* -1 unknown */
	int local_cpu, local_last; /* first and last CPU of local_cpulist, -1 unknown */
};

static inline struct unc_pci_name unc_function_name(const struct unc_pci_function *f)
{
	return unc_pci_name(UNC_PCI(f->domain, f->bus, f->devfn, 0));
}

/* Gets sentences about what is odd but no error: broken discovery entries, fallbacks taken. */
typedef void (*unc_note_fn)(void *user, const char *text);

struct unc_bus;
struct unc_bus_methods {
	/* Lists all functions of vendor 8086, in any order, and those that may be; once. What the
	 * kernel has noted of them tells: none is opened for it. */
	int (*scan)(struct unc_bus *, struct unc_error *err);
	/* What kind a function is, and where: NULL: the scan has told. */
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
	struct unc_pci_function *function; /* NULL: there is none, or it is not scanned yet */
	size_t n_functions;
	struct unc_pci_list noted; /* of all vendors; empty until it is scanned */
	unc_note_fn note;          /* NULL: nobody listens */
	void *user;
	/* MSRs that tell which units exist are read through it, and its method kernel is asked where
	 * the right is missing to find out; NULL: none. */
	struct unc_access *gate;
	bool closed; /* the CPU is not known: only configuration space of discovery is read */
	/* Registers that hold addresses of units, as they were read: all units behind them ask. */
	struct {
		uint64_t at; /* UNC_PCI() */
		uint32_t value;
	} word[UNC_BAR_WORDS];
	unsigned n_words;
};

int unc_bus_open_system(struct unc_fs *, struct unc_bus **out,
			struct unc_error *err); /* bus_system.c */

/*
 * Finds the units. Free out->unit with unc_instances_free(). A unit that is known to exist, or may
 * exist, but cannot be reached is in the list with a reason. Sockets of which no CPU is online are
 * added to the topology where PCI functions tell of them: the numbers of others may change.
 */
int unc_discover(const struct unc_table *, struct unc_topology *, struct unc_bus *,
		 unc_note_fn note, void *user, struct unc_instances *out, struct unc_error *err);
/* Part 0 of a type that has parts. */
static inline const struct unc_tbl_part *unc_main_part(const struct unc_table *t, unsigned type)
{
	return unc_type_part(t, type, 0);
}
/* Whether units of a type are not numbered one by one, as its MSRs are `optional`. */
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
/* Offset of unit control in its part; 0: the type has none. */
static inline int64_t unc_control_offset(const struct unc_table *t, unsigned type)
{
	return t->type[type].unit_ctl == UNC_NONE ? 0 : t->reg[t->type[type].unit_ctl].offset;
}
/* instance.c */
/* Room of the registers of a part, from its base on, but for absolute ones: numbers of MSRs, or
 * bytes. */
uint64_t unc_part_extent(const struct unc_table *, unsigned type, unsigned part);
/* First offset of the extended configuration space of a PCI function. */
enum { UNC_PCI_EXTENDED = 0x100 };
void unc_instances_free(struct unc_instances *);
/* Before it is taken out of a list. */
void unc_instance_forget(struct unc_instance *);
/* Says why a unit, or a part of it, cannot be used; the latter that the unit cannot. */
void unc_instance_reason(struct unc_instance *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void unc_instance_refuse(struct unc_instance *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Says it behind what is said already; "": nothing. */
void unc_instance_also(struct unc_instance *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Allows the registers of the available units at the gate, and chooses the way to each: the first
 * that reaches all its registers of a space, of which one is read. A unit that cannot be read (no
 * permission, no driver, not there after all) or answers with all ones is marked as not available,
 * with the reason; where nobody answers it does not exist. Nothing is written.
 */
int unc_instances_probe(const struct unc_table *, struct unc_instances *, struct unc_access *,
			struct unc_error *err);

/* The place a unit would have by the tables alone, on socket 0: for listings. PCI bus and BAR base are 0. */
void unc_instance_nominal(const struct unc_table *, unsigned type, unsigned index,
			  struct unc_instance *out);

/* The registers of a unit in a space (-1: all), with what may be written to them; room for those of its
 * type. Returns how many. */
size_t unc_instance_allowed(const struct unc_table *, const struct unc_instance *, int space,
			    struct unc_allowed *out);

/* Register `reg` (index into table->reg) of a unit. UNC_ERR_UNAVAILABLE if its part is missing. */
int unc_instance_reg(const struct unc_table *, const struct unc_instance *, unsigned reg,
		     struct unc_reg *out, struct unc_error *err);

#endif
