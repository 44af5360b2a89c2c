/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files discover*.c share while the units are searched. */
#ifndef UNC_DISCOVER_WALK_H
#define UNC_DISCOVER_WALK_H

#include "machine/discover.h"

enum { UNC_ANY_DEVFN = 0x100 };

enum { UNC_SOCKET_UNKNOWN = -1, UNC_SOCKET_UNASKED = -2 }; /* in place of a socket */

/* A bus that tells its socket, or ought to. */
struct unc_ubox {
	uint16_t domain;
	uint8_t bus;
	int package; /* -1: it does not tell */
	bool denied; /* for want of a right */
	int socket;
	char why[160]; /* it does not */
};

struct unc_walk {
	const struct unc_table *table;
	struct unc_topology *topo;
	struct unc_bus *bus; /* NULL: no PCI */
	unc_note_fn note;
	void *user;
	struct unc_error scan;                   /* why there are no functions; code 0: there are */
	struct unc_pci_function *function, *end; /* of the bus, sorted by address */
	int *socket;                             /* of each function, for unc_walk_socket() */
	struct unc_ubox *ubox;                   /* sorted by domain and bus */
	size_t n_ubox;
	struct unc_instance *unit;
	size_t n;
	unsigned *count; /* of each socket, of each type: for discover_missing.c */
	/* Memory has run out, which is told at the end; then this stands for a unit. */
	bool no_memory;
	struct unc_instance none;
	/* Types of which the hardware's list of a socket, whole and believed, tells what exists. */
	struct unc_bits listed[UNC_MAX_SOCKETS];
};

/* ---- discover_walk.c */
void unc_walk_note(const struct unc_walk *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends an empty unit. */
struct unc_instance *unc_walk_add(struct unc_walk *, unsigned type, int socket, unsigned index);
/* Appends one that cannot be used, so that it is not missed without a reason. */
void unc_walk_lack(struct unc_walk *, unsigned type, int socket, unsigned index, const char *format,
		   ...) __attribute__((format(printf, 5, 6)));
/* How many units of a type, and of an index, a socket has so far. */
enum { UNC_ANY_INDEX = -1 };
unsigned unc_walk_count(const struct unc_walk *, unsigned type, int socket, int index);
/* A function, with all that the kernel has noted of it. */
const struct unc_pci_function *unc_walk_told(const struct unc_walk *,
					     const struct unc_pci_function *);
/* Reads a configuration dword of a function that was found, where that is not closed. */
int unc_bus_config(struct unc_bus *, const struct unc_pci_function *, unsigned offset,
		   uint32_t *value, struct unc_error *err);
/* The CPU of an MSR on a socket. UNC_ERR_UNAVAILABLE: none is online, or none is to be disturbed. */
int unc_walk_cpu(const struct unc_walk *, int socket, struct unc_place *out, struct unc_error *err);
/* An MSR that tells of units, of a socket; allow: the gate is to be told first that it may be read. */
int unc_walk_msr(const struct unc_walk *, uint32_t number, int socket, bool allow, uint64_t *value,
		 struct unc_error *err);
/* discover.c. Finds the functions and what tells their sockets; for unc_walk_end() in any case.
 * UNC_ERR_MEMORY, or UNC_ERR_RANGE: more sockets than there may be. */
int unc_walk_begin(struct unc_walk *, struct unc_error *err);
void unc_walk_end(struct unc_walk *);
/* The place that units.tbl has for a unit, on any socket; NULL: none, or only where it is listed. */
static inline const struct unc_tbl_where *unc_where(const struct unc_table *t, unsigned type,
						    unsigned index)
{
	const struct unc_tbl_where *where =
		t->type[type].parts.n ? unc_part_place(t, unc_main_part(t, type), index) : NULL;

	return where && where->optional != UNC_WHERE_LISTED ? where : NULL;
}
/* Fills the unit's location from its part 0. */
void unc_instance_locate(struct unc_instance *);
/* The address of an element of a BAR. `function` holds it; its registers are read once.
 * UNC_ERR_NOT_FOUND: the element is empty; UNC_ERR_UNAVAILABLE: it cannot be read. */
int unc_bar_address(struct unc_bus *, const struct unc_pci_function *, const struct unc_tbl_bar *,
		    unsigned element, uint64_t *address, struct unc_error *err);

/* ---- discover_socket.c */
/* Finds what tells the sockets of functions, and the sockets that no CPU tells. UNC_ERR_MEMORY, or
 * UNC_ERR_RANGE: more sockets than there may be. */
int unc_walk_sockets(struct unc_walk *, struct unc_error *err);
/* The socket of a function, found out when it is first asked for, or UNC_SOCKET_UNKNOWN. */
int unc_walk_socket(const struct unc_walk *, const struct unc_pci_function *);
/* The function at an address as UNC_PCI() makes it, its socket in *socket; NULL if none. */
const struct unc_pci_function *unc_walk_address(const struct unc_walk *, uint64_t address,
						int *socket);
/*
 * The one function of this device id at a place of a socket (devfn UNC_ANY_DEVFN: anywhere on it).
 * UNC_ERR_NOT_FOUND: there is none; UNC_ERR_UNAVAILABLE: there are two, or there may be one, and
 * the sentence tells why it cannot be used.
 */
int unc_walk_function(const struct unc_walk *, int socket, unsigned device, unsigned devfn,
		      const struct unc_pci_function **out, struct unc_error *err);
/* Whether there is none. */
bool unc_walk_lacks(const struct unc_walk *, int socket, unsigned device, unsigned devfn);

/* ---- discover_fixed.c */
/*
 * Where part `part` of unit `index` is by the tables, on a socket. UNC_ERR_UNAVAILABLE with the
 * reason if it cannot be used, UNC_ERR_NOT_FOUND if this machine has no such unit; the place is
 * filled as far as it is known.
 */
int unc_fixed_place(const struct unc_walk *, unsigned type, unsigned part, unsigned index,
		    int socket, struct unc_place *out, struct unc_error *err);
/* Physical address of an element of a BAR on a socket. UNC_ERR_NOT_FOUND: the element is empty,
 * what it is for does not exist; UNC_ERR_UNAVAILABLE: it cannot be read. */
int unc_fixed_bar(const struct unc_walk *, const struct unc_tbl_bar *, unsigned element, int socket,
		  uint64_t *address, struct unc_error *err);
/* Fills the parts of a unit from `first` on and sets available, reason and location. */
void unc_fixed_parts(const struct unc_walk *, struct unc_instance *, unsigned first);
/* Whether the machine has no such unit: no address, or no PCI function that it hangs on; *why says
 * where that would be. */
bool unc_fixed_empty(const struct unc_walk *, unsigned type, unsigned index, int socket,
		     struct unc_error *why);
/* Whether the address is not filled in: a memory controller that is fused off. */
bool unc_fixed_unfilled(const struct unc_walk *, unsigned type, unsigned index, int socket,
			struct unc_error *why);
/* Adds the units of a type on a socket by the places of the tables. */
void unc_fixed_type(struct unc_walk *, unsigned type, int socket);

/* ---- discover_present.c */
/* Lowers *n, the places of a type, to the units that a socket has by the registers that tell; *by:
 * the statement that has lowered it, or NULL. UNC_ERR_UNAVAILABLE: there are such registers, and none
 * of them tells. */
int unc_present_count(const struct unc_walk *, unsigned type, int socket, unsigned *n,
		      const struct unc_tbl_present **by, struct unc_error *err);
/* Whether a register says that all units of a type exist. */
bool unc_present_all(const struct unc_walk *, unsigned type, int socket);
/* The statement by which each unit of a type has a PCI function, of a range of ids; NULL: none. */
const struct unc_tbl_present *unc_present_range(const struct unc_walk *, unsigned type);
/* Whether a PCI function that a unit hangs on is not there. */
bool unc_present_absent(const struct unc_walk *, unsigned type, unsigned index, int socket,
			struct unc_error *why);

/* ---- discover_driver.c */
/* Whether the kernel's own driver is there, may be asked, and knows units of this CPU. */
bool unc_driver_knows(const struct unc_walk *);
/*
 * Adds the units of a type on a socket of which the tables cannot be read for want of a right: those
 * that may be found without it, else those of which the driver has PMUs. unknown: why these may not
 * exist on this socket; code 0: they do.
 */
void unc_driver_type(struct unc_walk *, unsigned type, int socket, const struct unc_error *unknown);
/* Why the units that the driver lists may not exist on a socket, for who was denied the registers that
 * tell; *differ: how the sockets differ. Codes 0: they do exist. */
void unc_driver_unknown(const struct unc_walk *, int socket, const char *denied,
			struct unc_error *differ, struct unc_error *unknown);
/* Adds the units of a type on a socket by the places of the tables; where none of them can be found so,
 * those of which the driver has PMUs. */
void unc_driver_fixed(struct unc_walk *, unsigned type, int socket);
/* A type of which only the discovery tables tell whether there are units; one that may be, where they
 * cannot be used: that there is none is not known. */
bool unc_only_listed(const struct unc_walk *, unsigned type);
void unc_add_untold(struct unc_walk *, unsigned type, int socket);

/* ---- discover_missing.c */
/* Lists what is missing as such, once all is found. */
void unc_walk_missing(struct unc_walk *);

/* ---- discover_pmon.c */
enum { UNC_PMON_MSR, UNC_PMON_MMIO, UNC_PMON_PCI }; /* access types */
enum { UNC_PMON_TABLES = 8 };                       /* of a socket, which is up to five dies */
enum { UNC_PMON_DEVICE = 0x09a7 }; /* Linux uncore_discovery.h: generic id of what has the table */

struct unc_pmon_record {
	uint16_t type; /* index into table->type (but see unc_pmon.any); UNC_NONE: it is not used */
	uint16_t id;
	uint16_t position; /* in the global status */
	uint8_t n_controls, ctl, ctr, width, access, state;
	uint64_t address; /* of unit control */
	uint64_t
		shape; /* of its registers: bits of the record that units of a type have in common */
};

/* What the discovery tables of a socket say. */
struct unc_pmon_list {
	struct unc_pmon_record *record;
	size_t n;
	uint64_t table[UNC_PMON_TABLES]; /* where they are */
	unsigned n_tables;
	bool broken;     /* one of them: none is to be trusted */
	char lacks[160]; /* what shows that they do not list all units; "": nothing */
};

enum { UNC_PMON_ANY_SHIFT = 8 };
struct unc_pmon {
	struct unc_walk *walk;
	struct unc_pmon_list socket[UNC_MAX_SOCKETS];
	struct unc_error denied; /* why one cannot be read, for want of a right; code 0: all can */
	/* No table is of this CPU: the first of these that has the type gives its own number and,
	 * shifted, its place among them. */
	const struct unc_table *const *any;
	size_t n_any;
};

/* Reads all tables. What is wrong with one is a note. */
void unc_pmon_read(struct unc_pmon *);
void unc_pmon_free(struct unc_pmon *); /* allocated with calloc() */
/* The type of a record with this number; -1: none. *known: a type has the number, if not at this PCI
 * function. */
int unc_pmon_type(const struct unc_table *, unsigned number, const struct unc_pmon_record *,
		  bool *known);
/* discover.c. What the discovery tables of a machine that no table is for list of types that any of
 * these n tables has. Nothing else is read if the bus is closed. *out: unc_pmon_free(). */
int unc_pmon_listed(const struct unc_table *const *, size_t n, struct unc_topology *,
		    struct unc_bus *, unc_note_fn note, void *user, struct unc_pmon **out,
		    struct unc_error *err);

/* ---- discover_record.c */
/* Where a record says that the unit's registers begin. */
uint64_t unc_pmon_base(const struct unc_walk *, const struct unc_pmon_record *);
/* Whether a unit whose place no source names can be at an MSR: among those of the monitors, and
 * where the table knows no other register; *owner: the type that has it. */
enum unc_msr_verdict { UNC_MSR_FREE, UNC_MSR_APART, UNC_MSR_TAKEN };
enum unc_msr_verdict unc_pmon_msr(const struct unc_table *, unsigned type, uint64_t base,
				  unsigned *owner);
/* What becomes of a record, and why it is not used: it is not where it says; it is not as it should
 * be; it is right. */
enum { UNC_PMON_NOT_THERE, UNC_PMON_ODD, UNC_PMON_USED };
int unc_pmon_judge(const struct unc_walk *, const struct unc_pmon_list *,
		   const struct unc_pmon_record *, int socket, struct unc_error *err);
/* Judges all records of a type. Returns how many there are. */
size_t unc_pmon_judge_all(const struct unc_walk *, const struct unc_pmon_list *, unsigned type,
			  int socket);

/* ---- discover_table.c */
/* Adds the units of all types by the PMON discovery tables, and by the places of units.tbl
 * where these say nothing or cannot be trusted. */
void unc_discover_table(struct unc_walk *);

#endif
