/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared data and functions of the files discover*.c. */
#ifndef UNC_DISCOVER_WALK_H
#define UNC_DISCOVER_WALK_H

#include "machine/discover.h"

enum { UNC_ANY_DEVFN = 0x100 };

enum { UNC_SOCKET_UNKNOWN = -1, UNC_SOCKET_UNASKED = -2 }; /* in place of a socket */

/* A bus with a UBox, which should give its socket. */
struct unc_ubox {
	uint16_t domain;
	uint8_t bus;
	int package; /* -1: not known */
	bool denied; /* the right to read it is missing */
	int socket;
	char why[160]; /* why the package is not known */
};

struct unc_walk {
	const struct unc_table *table;
	struct unc_topology *topo;
	struct unc_bus *bus; /* NULL: no PCI */
	unc_note_fn note;
	void *user;
	struct unc_error scan; /* why functions could not be listed; code 0: they were */
	struct unc_pci_function *function, *end; /* of the bus, sorted by address */
	int *socket;                             /* of each function, for unc_walk_socket() */
	struct unc_ubox *ubox;                   /* sorted by domain and bus */
	size_t n_ubox;
	struct unc_instance *unit;
	size_t n;
	unsigned *count; /* units per socket and type: for discover_missing.c */
	/* Memory ran out, which is reported at the end; `none` then replaces a unit. */
	bool no_memory;
	struct unc_instance none;
	/* Types whose units are known from a complete and trusted list of the socket. */
	struct unc_bits listed[UNC_MAX_SOCKETS];
};

/* ---- discover_walk.c */
void unc_walk_note(const struct unc_walk *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends an empty unit. */
struct unc_instance *unc_walk_add(struct unc_walk *, unsigned type, int socket, unsigned index);
/* Appends a unit that cannot be used, with the reason. */
void unc_walk_lack(struct unc_walk *, unsigned type, int socket, unsigned index, const char *format,
		   ...) __attribute__((format(printf, 5, 6)));
/* Counts the units of a type, and of an index, on a socket so far. */
enum { UNC_ANY_INDEX = -1 };
unsigned unc_walk_count(const struct unc_walk *, unsigned type, int socket, int index);
/* Returns a function with its class, node and local CPUs. */
const struct unc_pci_function *unc_walk_told(const struct unc_walk *,
					     const struct unc_pci_function *);
/* Reads a configuration dword of a function, unless the bus is closed for it. */
int unc_bus_config(struct unc_bus *, const struct unc_pci_function *, unsigned offset,
		   uint32_t *value, struct unc_error *err);
/* Sets the CPU that reads MSRs of a socket. UNC_ERR_UNAVAILABLE: none is online, or all are quiet. */
int unc_walk_cpu(const struct unc_walk *, int socket, struct unc_place *out, struct unc_error *err);
/* Reads an MSR of a socket that describes units; allow: adds it to the gate's allowlist first. */
int unc_walk_msr(const struct unc_walk *, uint32_t number, int socket, bool allow, uint64_t *value,
		 struct unc_error *err);
/* In discover.c. Finds the functions and their sockets; unc_walk_end() is needed in any case.
 * UNC_ERR_MEMORY, or UNC_ERR_RANGE: more sockets than there may be. */
int unc_walk_begin(struct unc_walk *, struct unc_error *err);
void unc_walk_end(struct unc_walk *);
/* Returns the place of a unit in units.tbl, on any socket; NULL: none, or only the discovery table has it. */
static inline const struct unc_tbl_where *unc_where(const struct unc_table *t, unsigned type,
						    unsigned index)
{
	const struct unc_tbl_where *where =
		t->type[type].parts.n ? unc_part_place(t, unc_main_part(t, type), index) : NULL;

	return where && where->optional != UNC_WHERE_LISTED ? where : NULL;
}
/* Fills the unit's location from its part 0. */
void unc_instance_locate(struct unc_instance *);
/* Reads the address of an element of a BAR from a function, whose registers are read once.
 * UNC_ERR_NOT_FOUND: the element is empty; UNC_ERR_UNAVAILABLE: it cannot be read. */
int unc_bar_address(struct unc_bus *, const struct unc_pci_function *, const struct unc_tbl_bar *,
		    unsigned element, uint64_t *address, struct unc_error *err);

/* ---- discover_socket.c */
/* Finds the UBoxes, and sockets without online CPUs. UNC_ERR_MEMORY, or
 * UNC_ERR_RANGE: more sockets than there may be. */
int unc_walk_sockets(struct unc_walk *, struct unc_error *err);
/* Returns the socket of a function (found at the first call), or UNC_SOCKET_UNKNOWN. */
int unc_walk_socket(const struct unc_walk *, const struct unc_pci_function *);
/* Returns the function at an address made by UNC_PCI(), and its socket; NULL: none. */
const struct unc_pci_function *unc_walk_address(const struct unc_walk *, uint64_t address,
						int *socket);
/*
 * Finds the only function with this device id at a place of a socket (devfn UNC_ANY_DEVFN: anywhere on it).
 * UNC_ERR_NOT_FOUND: none; UNC_ERR_UNAVAILABLE: there are two, or there may be one; the sentence says why
 * it cannot be used.
 */
int unc_walk_function(const struct unc_walk *, int socket, unsigned device, unsigned devfn,
		      const struct unc_pci_function **out, struct unc_error *err);
/* Whether a socket certainly has no such function. */
bool unc_walk_lacks(const struct unc_walk *, int socket, unsigned device, unsigned devfn);

/* ---- discover_fixed.c */
/*
 * Finds the place of part `part` of unit `index` by the tables, on a socket. UNC_ERR_UNAVAILABLE: it cannot
 * be used; UNC_ERR_NOT_FOUND: this machine has no such unit. The place is filled as far as it is known.
 */
int unc_fixed_place(const struct unc_walk *, unsigned type, unsigned part, unsigned index,
		    int socket, struct unc_place *out, struct unc_error *err);
/* Reads the physical address of an element of a BAR on a socket. UNC_ERR_NOT_FOUND: the element is empty,
 * so its units do not exist; UNC_ERR_UNAVAILABLE: it cannot be read. */
int unc_fixed_bar(const struct unc_walk *, const struct unc_tbl_bar *, unsigned element, int socket,
		  uint64_t *address, struct unc_error *err);
/* Fills the parts of a unit from `first` on and sets available, reason and location. */
void unc_fixed_parts(const struct unc_walk *, struct unc_instance *, unsigned first);
/* Whether the machine has no such unit: its address, or the PCI function it belongs to, is missing; *why says
 * which. */
bool unc_fixed_empty(const struct unc_walk *, unsigned type, unsigned index, int socket,
		     struct unc_error *why);
/* Whether the address is not filled in: a memory controller that is fused off. */
bool unc_fixed_unfilled(const struct unc_walk *, unsigned type, unsigned index, int socket,
			struct unc_error *why);
/* Adds the units of a type on a socket by the places of the tables. */
void unc_fixed_type(struct unc_walk *, unsigned type, int socket);

/* ---- discover_present.c */
/* Lowers *n, the places of a type, to the units that a socket has by the registers that count them; *by: the
 * statement that lowered it, or NULL. UNC_ERR_UNAVAILABLE: such registers exist, but none can be
 * read. */
int unc_present_count(const struct unc_walk *, unsigned type, int socket, unsigned *n,
		      const struct unc_tbl_present **by, struct unc_error *err);
/* Whether a register says that all units of a type exist. */
bool unc_present_all(const struct unc_walk *, unsigned type, int socket);
/* Returns the statement that gives each unit of a type a PCI function, of a range of ids; NULL: none. */
const struct unc_tbl_present *unc_present_range(const struct unc_walk *, unsigned type);
/* Whether the PCI function that a unit belongs to does not exist. */
bool unc_present_absent(const struct unc_walk *, unsigned type, unsigned index, int socket,
			struct unc_error *why);

/* ---- discover_driver.c */
/* Whether the kernel's driver is loaded, may be asked, and knows units of this CPU. */
bool unc_driver_knows(const struct unc_walk *);
/*
 * Adds the units of a type on a socket whose tables this process has no right to read: units that can be
 * found without it, else units with a PMU of the driver. unknown: why the latter may not exist on this
 * socket; code 0: they exist.
 */
void unc_driver_type(struct unc_walk *, unsigned type, int socket, const struct unc_error *unknown);
/* Finds why units that the driver lists may not exist on a socket. denied: why the registers could not be
 * read; *differ: how the sockets differ. Codes 0: they exist. */
void unc_driver_unknown(const struct unc_walk *, int socket, const char *denied,
			struct unc_error *differ, struct unc_error *unknown);
/* Adds the units of a type on a socket by the places of the tables; if none is found so, units with a PMU
 * of the driver. */
void unc_driver_fixed(struct unc_walk *, unsigned type, int socket);
/* Whether only the discovery tables show the units of a type. If the tables cannot be used,
 * unc_add_untold() adds one unit that may exist. */
bool unc_only_listed(const struct unc_walk *, unsigned type);
void unc_add_untold(struct unc_walk *, unsigned type, int socket);

/* ---- discover_missing.c */
/* Adds missing units, after all others were found. */
void unc_walk_missing(struct unc_walk *);

/* ---- discover_pmon.c */
enum { UNC_PMON_MSR, UNC_PMON_MMIO, UNC_PMON_PCI }; /* access types */
enum { UNC_PMON_TABLES = 8 };                       /* per socket, which has up to five dies */
enum { UNC_PMON_DEVICE = 0x09a7 }; /* Linux uncore_discovery.h: generic id of its functions */

struct unc_pmon_record {
	uint16_t type; /* index into table->type (but see unc_pmon.any); UNC_NONE: it is not used */
	uint16_t id;
	uint16_t position; /* in the global status */
	uint8_t n_controls, ctl, ctr, width, access, state;
	uint64_t address; /* of unit control */
	uint64_t shape;   /* bits of the record that are the same for all units of a type */
};

/* The records of all discovery tables of a socket. */
struct unc_pmon_list {
	struct unc_pmon_record *record;
	size_t n;
	uint64_t table[UNC_PMON_TABLES]; /* addresses of the tables */
	unsigned n_tables;
	bool broken;     /* a table is broken: no record is trusted */
	char lacks[160]; /* the proof that units are not listed; "": none */
};

enum { UNC_PMON_ANY_SHIFT = 8 };
struct unc_pmon {
	struct unc_walk *walk;
	struct unc_pmon_list socket[UNC_MAX_SOCKETS];
	struct unc_error denied; /* why a table may not be read; code 0: all may */
	/* For a CPU without a table: the first of these tables with the type gives its type number
	 * and, shifted, its own index. */
	const struct unc_table *const *any;
	size_t n_any;
};

/* Reads all tables. A fault of a table becomes a note. */
void unc_pmon_read(struct unc_pmon *);
void unc_pmon_free(struct unc_pmon *); /* allocated with calloc() */
/* Returns the type of a record with this number; -1: none. *known: a type has the number, but not at this PCI
 * function. */
int unc_pmon_type(const struct unc_table *, unsigned number, const struct unc_pmon_record *,
		  bool *known);
/* In discover.c. For a CPU without a table: lists the units in its discovery tables whose types any of these
 * n tables has. If the bus is closed, nothing else is read. *out: unc_pmon_free(). */
int unc_pmon_listed(const struct unc_table *const *, size_t n, struct unc_topology *,
		    struct unc_bus *, unc_note_fn note, void *user, struct unc_pmon **out,
		    struct unc_error *err);

/* ---- discover_record.c */
/* Returns the address at which the unit's registers begin, by its record. */
uint64_t unc_pmon_base(const struct unc_walk *, const struct unc_pmon_record *);
/* Whether a unit whose place no source names can be at an MSR: in the range of the monitors, and not at
 * another register of the table; *owner: the type that has that register. */
enum unc_msr_verdict { UNC_MSR_FREE, UNC_MSR_APART, UNC_MSR_TAKEN };
enum unc_msr_verdict unc_pmon_msr(const struct unc_table *, unsigned type, uint64_t base,
				  unsigned *owner);
/* Decides on a record, with the reason: its unit is not at that place; the record is wrong otherwise; or the
 * record is used. */
enum { UNC_PMON_NOT_THERE, UNC_PMON_ODD, UNC_PMON_USED };
int unc_pmon_judge(const struct unc_walk *, const struct unc_pmon_list *,
		   const struct unc_pmon_record *, int socket, struct unc_error *err);
/* Judges all records of a type. Returns how many there are. */
size_t unc_pmon_judge_all(const struct unc_walk *, const struct unc_pmon_list *, unsigned type,
			  int socket);

/* ---- discover_table.c */
/* Adds the units of all types by the PMON discovery tables, or by the places of units.tbl if the
 * tables are silent or cannot be trusted. */
void unc_discover_table(struct unc_walk *);

#endif
