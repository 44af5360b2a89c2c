/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event tables in memory. One struct unc_table is one CPU: flat arrays of
 * integers and one pool of strings. Rows refer to each other by index and to
 * names by offset, never by pointer; what points to the arrays is made by who
 * opens a table. So the compiled tables need no relocation and all processes
 * share their pages.
 *
 * scripts/tables makes these arrays from eventtables/, as C, when the library is
 * built; scripts/tables/rows.py has the same structs. The grammar is in
 * eventtables/README.md.
 */
#ifndef UNC_TABLE_H
#define UNC_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/reg.h"

typedef uint32_t unc_str; /* offset into unc_table.strings; 0 is "" */

enum { UNC_TABLE_CPUS = 32 };           /* compiled in */
enum { UNC_MAX_PLACES = UNC_BITS_MAX }; /* units of a type on a socket */
enum { UNC_NONE = 0xffff };             /* "no row" in a 16-bit index */

/* Rows [first, first + n) of another array, of fewer than UNC_NONE. */
struct unc_range {
	uint16_t first;
	uint16_t n;
};

/* Where an instance of a part of a unit is, when no discovery tells it.
 * MSR: base. PCI: devfn and device id; base is the offset that registers count from.
 * MMIO: BAR `bar` (index into bars), element `bar_index`, base added to it. */
struct unc_tbl_where {
	uint64_t base;
	uint16_t device_id;
	uint8_t devfn;
	uint8_t bar;
	uint8_t bar_index;
	uint8_t optional; /* some parts of the CPU have none, or: */
	uint8_t group;    /* a socket has all units of its number or none, of any type; 0: none */
};

enum { UNC_WHERE_LISTED = 2 }; /* there is one only if the discovery table says so */

enum { UNC_MAX_PRESENT = 16 }; /* PCI functions that one statement `present` names */

/* How `present` takes what its registers hold. */
enum unc_tells {
	UNC_TELLS_ONES,   /* a bit for each unit */
	UNC_TELLS_NUMBER, /* how many units */
	UNC_TELLS_ALL     /* not 0: all of them; 0: `none` */
};

/* What tells how many units of a type a socket has, or which: an MSR, registers of a PCI function, or
 * PCI functions by being there. */
struct unc_tbl_present {
	uint64_t mask;      /* bits that tell */
	uint32_t msr;       /* 0: PCI */
	uint16_t id, last;  /* device id; last: of the last of a range, each a unit; 0: one id */
	uint16_t offset[2]; /* registers */
	uint8_t n_offsets;  /* 0: functions tell by being there */
	uint8_t tells;      /* enum unc_tells */
	uint8_t none;
	uint8_t per; /* units of a function */
	uint8_t n_devices;
	uint8_t devfn[UNC_MAX_PRESENT]; /* of a range only the first */
};

enum { UNC_MAX_STACKS = 16, UNC_NO_STACK = 0xff };

/* Where registers tell the root buses of PCIe stacks. */
enum unc_map_tells {
	UNC_MAP_OWN, /* a function on each root bus: the stack's id */
	UNC_MAP_LIST, /* one function a socket: a bit for each id that is valid, a byte with its bus */
	UNC_MAP_BYTES /* a byte for each id: its bus; of an MSR bit 63 says that they are valid */
};

/* The ids by which address decoders know the stacks are not the numbers of their units. */
struct unc_tbl_map {
	uint32_t msr;       /* 0: PCI */
	uint32_t mask;      /* of the id, in the register of UNC_MAP_OWN */
	uint32_t chip_mask; /* where CPUs differ: bits that must be `chip` */
	uint16_t id;        /* device id; of UNC_MAP_BYTES that of the function beside */
	uint16_t offset[2];
	uint16_t valid; /* offset of the bits of UNC_MAP_LIST */
	uint16_t chip_id, chip_offset;
	uint8_t devfn; /* UNC_MAP_BYTES */
	uint8_t tells; /* enum unc_map_tells */
	uint8_t one;   /* one source alone says so */
	uint8_t chip;
	uint8_t ids[UNC_MAX_STACKS]; /* of each unit, or UNC_NO_STACK */
};

static inline unsigned unc_map_id(const struct unc_tbl_map *map, unsigned index)
{
	return index < UNC_MAX_STACKS ? map->ids[index] : UNC_NO_STACK;
}

/* Functions on the root bus of a stack whose ports do not follow from their device number. */
struct unc_tbl_endpoint {
	uint16_t id;   /* device id */
	uint8_t bus;   /* so far behind the stack's */
	uint8_t ports; /* bits of the port mask */
	uint8_t chip;  /* of the map that holds; 0: of any */
};

/* A physical address that PCI configuration registers hold:
 * ((cfg[base_offset] & base_mask) << base_shift) + ((cfg[offset + i*step] & mask) << shift) */
struct unc_tbl_bar {
	unc_str name;
	uint16_t device_id;
	uint8_t devfn;
	uint8_t count;
	uint16_t base_offset, offset, step;
	uint8_t base_shift, shift;
	uint32_t base_mask, mask;
	uint32_t size; /* bytes that may be mapped */
};

/* A part of a unit: a block of registers that has its own place. Part 0 is the
 * one with the counters; others exist where a unit has filters elsewhere. */
struct unc_tbl_part {
	unc_str name;
	uint8_t space;
	struct unc_range where; /* one row per instance */
};

enum unc_role {
	UNC_ROLE_OTHER,    /* filters, match registers */
	UNC_ROLE_UNIT_CTL, /* freeze and reset */
	UNC_ROLE_STATUS,
	UNC_ROLE_CTL, /* control of programmable counter i */
	UNC_ROLE_CTR, /* programmable counter i */
	UNC_ROLE_FIXED_CTL,
	UNC_ROLE_FIXED_CTR,
	UNC_ROLE_FREE /* free-running counter */
};

/* unc_tbl_reg.flags */
enum {
	UNC_REG_WO = 1, /* write-only: reads mean nothing */
	UNC_REG_RO = 2,
	UNC_REG_W1C = 4,     /* write 1 to clear */
	UNC_REG_ABS = 8,     /* offset is the address itself, the same for every instance */
	UNC_REG_SEXT = 16,   /* reads repeat the top bit of the counter */
	UNC_REG_FROZEN = 32, /* defined only while the unit is frozen */
	UNC_REG_EVERY = 64   /* qualifies every event that takes its fields, asked or not */
};

struct unc_tbl_reg {
	unc_str name;
	int32_t offset;      /* from the base of the part */
	int32_t per_unit;    /* added to offset for each further unit at the same place */
	uint64_t write_mask; /* bits that software may set; 0: never written */
	uint64_t base;       /* what a filter holds where no event says otherwise */
	uint64_t busy;       /* any of these found set: somebody else uses it */
	uint8_t part;
	uint8_t role;
	uint8_t number; /* of the array element: the counter number for CTL, CTR */
	uint8_t nth;    /* of its array */
	uint8_t width;  /* bits */
	uint8_t flags;
};

/* unc_tbl_field.flags */
enum {
	UNC_FIELD_USER = 1,    /* every event of the type takes it */
	UNC_FIELD_NODES = 2,   /* a mask of node ids: `local` and `remote` are values */
	UNC_FIELD_DEFAULT = 4, /* default_value where nobody gives it */
	UNC_FIELD_EXCEEDS = 8, /* a threshold that the increment must exceed, not reach */
	UNC_FIELD_ONCE = 16,   /* not set while another counter counts the same event code */
	UNC_FIELD_WO = 32,     /* reads back as 0, whatever was written */
	UNC_FIELD_MASK = 64    /* tells which bits of another field are compared */
};

/* What a field is to the machine, whatever the vendor calls it. */
enum unc_is {
	UNC_IS_NOTHING,       /* a part of what is counted, or of no known meaning */
	UNC_IS_OTHER,         /* known to be none of the following */
	UNC_IS_FREEZE,        /* unit control: the counters of the unit stand still ... */
	UNC_IS_FREEZE_ENABLE, /* ... while this is set too */
	UNC_IS_RESET_CONTROLS,
	UNC_IS_RESET_COUNTERS,
	UNC_IS_ENABLE_COUNTERS, /* unit control: a bit for each programmable counter */
	UNC_IS_ENABLE_FIXED,
	UNC_IS_FREEZE_SOCKET,   /* all units of the socket */
	UNC_IS_UNFREEZE_SOCKET, /* where 0 in the one above does not */
	UNC_IS_RESET,           /* control of a counter: clears the counter */
	UNC_IS_EDGE,
	UNC_IS_INVERT,
	UNC_IS_THRESHOLD,
	UNC_IS_STATES, /* of a line: each bit a share of the counts */
	UNC_IS_BOTH_THREADS,
	UNC_IS_OVERFLOW, /* control of a counter: its carry freezes */
	UNC_N_IS
};

/* A field: bits of the counter's control register (reg == UNC_NONE) or of a
 * shared register. Further pieces take the high bits where a field is split. */
enum { UNC_PIECES = 3 };
struct unc_tbl_field {
	unc_str name, desc;
	uint16_t reg[UNC_PIECES]; /* index into regs; UNC_NONE: the counter's control register */
	uint8_t lo[UNC_PIECES];
	uint8_t width[UNC_PIECES]; /* 0: there is no such piece */
	uint8_t shift; /* low bits of the user's value that are not stored and must be 0 */
	uint8_t flags;
	uint8_t role;      /* enum unc_is */
	uint32_t counters; /* mask of the counters that can do it; 0: all */
	uint32_t max_inc;  /* where it is set, what a threshold compares with; 0: the increment */
	uint16_t needs;    /* field that must not be 0 where this one is not; UNC_NONE */
	uint16_t mask;     /* field that tells which of its bits are compared; UNC_NONE */
	uint16_t like; /* field whose value it takes where an event uses its register; UNC_NONE */
	uint64_t default_value, min;
	struct unc_range with;   /* sets: fields to be set as well where the user does not */
	struct unc_range values; /* named values */
};

/* named value of a field */
struct unc_tbl_value {
	unc_str name, desc;
	uint64_t value;
};

enum unc_given { UNC_GIVEN_VALUE, UNC_GIVEN_USER, UNC_GIVEN_NONE };

/* field = value */
struct unc_tbl_set {
	uint16_t field;
	uint16_t given; /* of a forbid, enum unc_given: has the value, is given, by nobody */
	uint64_t value;
};

enum unc_step_kind {
	UNC_STEP_WRITE,    /* reg = value */
	UNC_STEP_FILTERS,  /* write the filter registers that the events need */
	UNC_STEP_CONTROLS, /* write the control registers of the counters used */
	UNC_STEP_PRELOAD,  /* write half of their range to the counters used */
	UNC_STEP_RESTORE,  /* controls and filters as found */
	UNC_STEP_FOUND     /* reg = what was found in it (unit control) */
};

struct unc_tbl_step {
	uint16_t kind;
	uint16_t reg;
	uint64_t value;
};

/* A counter that counts one thing only. */
struct unc_tbl_counter {
	unc_str name;
	uint16_t ctr;    /* index into regs */
	uint16_t ctl;    /* index into regs; UNC_NONE: free-running */
	uint64_t enable; /* written to ctl to count */
	uint8_t width;
	uint16_t kernel; /* `config` of it for the kernel's driver; 0: that has none */
};

enum { UNC_MAX_LANES = 4 }; /* of a type */

/* Counters of which one, the lead, chooses the set of events that all may count. */
struct unc_tbl_lane {
	unc_str name;
	uint32_t counters; /* mask, the lead included */
	uint8_t lead;
	uint64_t same; /* bits of the control that must agree with the lead's */
};

/* Settings (sets) that may not come together. */
struct unc_tbl_forbid {
	unc_str why;
	struct unc_range sets;
};

/* A PMU of the kernel's own driver (perf_event_open), and what it really carries. */
struct unc_tbl_kernel {
	unc_str name;        /* with {n} for the number of the unit, if there are several */
	unc_str unavailable; /* why it cannot count for our units; 0: it can */
	uint64_t bits;       /* of CTL that get there, */
	uint64_t named;      /* and where format/umask of the kernel that runs names them */
	/* filter registers, 32 bits each: config1 low and high, config2 low and high; UNC_NONE */
	uint16_t config[4];
	uint8_t number[32]; /* 1 + the number of each unit in the name; all 0: its index */
	uint8_t free;       /* of the free-running counters; else of the others */
	uint8_t per; /* units of a socket that each such PMU counts, by the CPUs of its mask; 0: one */
};

/* Bits of config1 and config2 that the driver writes for events with (CTL & mask) == ctl. */
struct unc_tbl_kernel_filter {
	uint64_t ctl, mask;
	uint64_t bits[2];
};

/* Counters on which the driver puts events of a code, where these are not the event's own. */
struct unc_tbl_kernel_counters {
	uint32_t counters;
	uint16_t code;
};

/* Which units of a type belong to which sub-NUMA cluster of their socket. */
struct unc_tbl_nodes {
	uint8_t clusters; /* of a socket; 0: any number, each has as many units, in order */
	uint8_t cluster[UNC_MAX_PLACES]; /* of a unit, + 1; 0: not known */
};

/* Whose accesses the units of a type count. */
enum unc_memory { UNC_MEMORY_NONE, UNC_MEMORY_DDR, UNC_MEMORY_HBM };

struct unc_tbl_type {
	unc_str name, title, desc, public_prefix;
	struct unc_range parts, regs, fields, steps_start, steps_stop;
	struct unc_range steps_freeze, steps_unfreeze;
	struct unc_range counters; /* fixed and free-running */
	struct unc_range lanes, forbids;
	struct unc_range kernels, kernel_filters, kernel_counters;
	struct unc_range events;
	struct unc_range nodes;
	struct unc_range settled; /* sets: fields that events settle where nobody gives them */
	struct unc_range checked; /* sets: those that something must go with, or not */
	uint64_t checked_bits;    /* all, or these have no say where none of them is set in CTL */
	uint16_t pool;     /* 1 + the type whose units and counters a view uses; 0: its own */
	uint16_t partner;  /* 1 + the type of which each unit comes with one of these; 0: none */
	uint16_t unfreeze; /* register that lets a frozen socket go on */
	uint8_t n_global, has_unfreeze; /* n_global: status registers of the socket */
	uint64_t unfreeze_value;
	uint16_t first_ctl, first_ctr; /* index into regs; counter first + i is + i */
	uint16_t unit_ctl, status;     /* index into regs, or UNC_NONE */
	uint16_t f_event, f_umask;     /* fields set by code= and by a umask's value; UNC_NONE */
	uint64_t enable;               /* bits of CTL set while counting */
	uint64_t active;               /* any of these set in CTL: the counter is in use */
	uint64_t exclusive;            /* counters of a unit must agree in these bits of CTL */
	uint32_t max_inc;              /* largest increment per clock where an event does not say */
	int16_t discovery;             /* type id in the PMON discovery table; -1 none */
	struct unc_range presents;     /* what tells how many there are, or which; none: all */
	struct unc_range maps, endpoints;
	uint8_t unlisted;   /* firmware may leave it out of the discovery table */
	uint8_t distrusted; /* its records there are not used */
	uint8_t functions; /* PCI functions of its records there, where types share an id; 0: any */
	uint8_t cpus;      /* one unit for each logical CPU */
	uint8_t share;     /* neighbouring units that count parts of one thing; 0: 1 */
	uint8_t first;     /* number of the first counter */
	uint8_t n_counters;
	uint8_t width;    /* bits of a programmable counter */
	uint8_t memory;   /* enum unc_memory */
	uint8_t channels; /* of a unit */
	/* Of PCIe stacks: */
	uint8_t ports;     /* of a unit; 0: it is none */
	uint8_t port_zero; /* device number of the root port of port 0; 255: they do not follow it */
	uint8_t bus_zero;  /* the unit that is on bus 0; 255: none that is known */
	uint8_t port_dmi;  /* 1 + the port of a root port with device number 0; 0: as the others */
	uint8_t by_kernel; /* known by what the kernel says of its PMU (machine/named.h): it has no registers */
};

/* unc_tbl_umask.flags */
enum {
	UNC_UMASK_EXACT = 1,   /* not to be combined */
	UNC_UMASK_PARTIAL = 2, /* counts nothing alone: needs another umask */
	UNC_UMASK_DEFAULT = 4, /* taken when none is given */
	UNC_UMASK_CHOICE = 8,  /* not to be combined with another of these */
	UNC_UMASK_GUIDE = 16   /* CPUs that share the folder have it of its own one's guide alone */
};

/* What an event does with fields, or a umask. */
struct unc_tbl_fields {
	struct unc_range sets;
	struct unc_range needs;    /* fields (sets[].field) that the user must give */
	struct unc_range uses;     /* fields that the user may give */
	struct unc_range defaults; /* field = value where the user gives none */
};

struct unc_tbl_umask {
	unc_str name, desc, alias;
	unc_str unavailable; /* why it cannot be programmed; 0: it can */
	uint16_t fields;     /* index: most do the same as others, see unc_umask_fields() */
	uint16_t counter;    /* as in struct unc_tbl_event */
	uint8_t flags;
	uint8_t aggregate; /* 1 + UNC_AGGREGATE_*; 0: as the event */
};

struct unc_tbl_event {
	unc_str name, desc, alias;
	struct unc_range umasks;
	struct unc_tbl_fields fields;
	uint32_t counters; /* bit i: programmable counter i may count it */
	uint32_t doubtful; /* those of them that not all sources allow */
	uint16_t counter;  /* fixed or free-running counter (index into counters), or UNC_NONE */
	uint16_t type;
	uint32_t max_inc; /* largest increment per clock */
	uint16_t code;
	uint16_t lane; /* 1 + the first of its lanes (index into lanes); 0: none */
	uint8_t set;   /* in the lane */
	uint8_t aggregate;
	uint8_t clock;    /* counts whenever the unit runs: tells a frozen unit */
	uint8_t stops;    /* while it counts, the clock of its unit stands */
	uint8_t estimate; /* no document tells max_inc */
	uint8_t guide;    /* as UNC_UMASK_GUIDE */
};

/* Where a row of a type, field, event or umask may stand, by its name: unc_find_named(). */
struct unc_tbl_slot {
	uint16_t row; /* 1 + its index; 0: none */
};

struct unc_tbl_metric {
	unc_str name; /* without the type */
	unc_str formula, unit, desc, unavailable;
	uint16_t type; /* UNC_NONE: portable */
	uint8_t kind;  /* enum unc_metric_kind */
};

/* Metrics and events that belong together. */
struct unc_tbl_group {
	unc_str name, desc;
	struct unc_range items;
};

struct unc_tbl_group_item {
	unc_str text;
};

enum unc_discovery { UNC_DISCOVERY_FIXED, UNC_DISCOVERY_TABLE, UNC_DISCOVERY_NONE };

/* Whose socket a bus without a UBox has: that of the next bus with one. */
enum unc_inherit { UNC_INHERIT_HIGHER, UNC_INHERIT_LOWER };

/* How PCI buses are assigned to sockets. */
struct unc_tbl_topology {
	uint16_t ubox_id, nodeid_offset, map_offset;
	uint16_t buses;  /* from the UBox's on: of its socket */
	uint8_t devfn;   /* of the UBox */
	uint8_t inherit; /* enum unc_inherit */
};

/* Which CPUs a line of cpus.tbl is of: CPUID family, models, steppings. */
struct unc_tbl_cpuid {
	uint16_t family;
	uint16_t n_models;
	uint16_t models[8];
	uint16_t steppings; /* mask; 0: all */
	uint16_t unmapped;  /* model to which statements `map` do not apply; 0: none */
};

/* A CPU that is known, and has no tables. */
struct unc_tbl_known {
	unc_str title;
	struct unc_tbl_cpuid cpuid;
};

struct unc_table {
	unc_str name, title;
	unc_str folder; /* of the CPU whose tables it shares; 0: its own */
	unc_str alias;  /* a list */
	uint16_t discovery;
	struct unc_tbl_topology topology;
	uint64_t id; /* of its name and the texts that it was made of */
	const char *strings;
	size_t n_strings;
/* clang-format off */
#define UNC_TABLE_ARRAYS(X) \
	X(cpuid) X(where) X(present) X(map) X(endpoint) X(bar) X(part) X(reg) X(field) X(value) X(set) X(step) X(counter) X(lane) \
	X(forbid) X(kernel) X(kernel_filter) X(kernel_counters) X(nodes) X(type) X(fields) X(umask) X(event) X(slot) X(metric) \
	X(group) X(group_item) X(known)
/* clang-format on */
#define UNC_TABLE_ARRAY(row)                                                                       \
	const struct unc_tbl_##row *row;                                                           \
	size_t n_##row;
	UNC_TABLE_ARRAYS(UNC_TABLE_ARRAY) /* cpuid: one */
	bool extended; /* rows have been added that the index of names does not have */
};

/* ---- the simulated machine: what only the simulator needs (workload.tbl) */

/* A line of workload.tbl: what an event counts, per unit. Its text is encoded when a machine is opened. */
struct unc_tbl_load {
	unc_str event; /* "type.EVENT", among the strings of the workload */
	uint16_t type;
	uint8_t steady, cxl; /* as in struct unc_tbl_rate */
	double per_second, per_clock;
};

/* What control value counts at what rate. */
struct unc_tbl_rate {
	uint16_t type;
	uint16_t counter;    /* fixed or free-running counter, or UNC_NONE */
	uint8_t only_socket; /* 0: every socket; else socket + 1 */
	uint8_t n_filters;
	uint8_t steady; /* whatever the traffic */
	uint8_t shared; /* counts the same on all sockets: a link between them, a bus of them all */
	uint8_t cxl;    /* only where the machine has CXL memory */
	uint64_t ctl, ctl_mask;
	struct unc_tbl_rate_filter {
		uint16_t reg; /* index into regs */
		uint64_t value, mask;
	} filter[4];
	double per_second; /* per unit, at load 1 */
	double per_clock;  /* mean increment per clock of the unit while it counts (occupancy) */
};

/* Simulated machine. */
struct unc_tbl_sim_unit {
	uint16_t type;
	double clock_hz;
	bool link; /* the portable metrics count with it what goes between sockets: when it is opened */
};

struct unc_tbl_machine {
	double tsc_hz;
};

/* Belongs to one table: its rows have indexes of that one's. */
struct unc_workload {
	struct unc_tbl_machine machine; /* of no TSC: there is no workload.tbl */
	uint64_t id;                    /* of the table */
	const char *strings;
	size_t n_strings;
#define UNC_WORKLOAD_ARRAYS(X) X(load) X(sim_unit)
	UNC_WORKLOAD_ARRAYS(UNC_TABLE_ARRAY)
	UNC_TABLE_ARRAY(rate) /* what the lines come to, when a machine has been opened */
};
#undef UNC_TABLE_ARRAY

/* All ones in `width` bits. */
static inline uint64_t unc_ones(unsigned width)
{
	return width >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;
}

static inline const char *unc_tbl_str(const struct unc_table *t, unc_str s)
{
	return t->strings + s;
}

static inline const struct unc_tbl_fields *unc_umask_fields(const struct unc_table *t,
							    const struct unc_tbl_umask *umask)
{
	return &t->fields[umask->fields];
}

/* unc_type_name(table, index) and its kind. */
#define UNC_ROW_NAME(row)                                                                          \
	static inline const char *unc_##row##_name(const struct unc_table *t, unsigned index)      \
	{                                                                                          \
		return unc_tbl_str(t, t->row[index].name);                                         \
	}
UNC_ROW_NAME(type)
UNC_ROW_NAME(event)
UNC_ROW_NAME(umask)
UNC_ROW_NAME(field)
UNC_ROW_NAME(reg)
UNC_ROW_NAME(counter)

/* The type whose units, registers and counters a type uses: itself, unless it is a view. */
static inline unsigned unc_type_pool(const struct unc_table *t, unsigned type)
{
	return t->type[type].pool ? t->type[type].pool - 1u : type;
}

/* Part `part` of a type that has parts: 0 is the main one. */
static inline const struct unc_tbl_part *unc_type_part(const struct unc_table *t, unsigned type,
						       unsigned part)
{
	return &t->part[t->type[type].parts.first + part];
}

/* Where the tables place the unit of a number; NULL: nowhere. */
static inline const struct unc_tbl_where *
unc_part_place(const struct unc_table *t, const struct unc_tbl_part *part, unsigned index)
{
	return index < part->where.n ? &t->where[part->where.first + index] : NULL;
}

/* The address of a register of a unit that is at `base`, encoded as in struct unc_reg. */
static inline uint64_t unc_reg_at(const struct unc_tbl_reg *reg, int space, uint64_t base,
				  unsigned index)
{
	if (!(reg->flags & UNC_REG_ABS))
		return base + (uint64_t)((int64_t)reg->offset + (int64_t)reg->per_unit * index);
	return (space == UNC_SPACE_PCI ? UNC_PCI_FUNCTION(base) : 0) + (uint32_t)reg->offset;
}

/* Control and counter register of counter `number`. */
static inline uint16_t unc_type_ctl(const struct unc_tbl_type *type, unsigned number)
{
	return (uint16_t)(type->first_ctl + number - type->first);
}

static inline uint16_t unc_type_ctr(const struct unc_tbl_type *type, unsigned number)
{
	return (uint16_t)(type->first_ctr + number - type->first);
}

/* Whether a register can be read. */
static inline bool unc_reg_shows(const struct unc_table *t, uint16_t reg)
{
	return reg != UNC_NONE && !(t->reg[reg].flags & UNC_REG_WO);
}

/* ---- questions (table.c) */

/* The row behind `last` (NULL: the first) of a range of one of the arrays; NULL: there is none. */
#define UNC_NEXT(t, row, range, last) unc_next_row((t)->row, sizeof(*(t)->row), range, last)
static inline const void *unc_next_row(const void *rows, size_t size, struct unc_range in,
				       const void *last)
{
	const char *first = (const char *)rows + in.first * size;
	const char *next = last ? (const char *)last + size : first;

	return next < first + in.n * size ? next : NULL;
}

/* The row with this name among some of an array of structs that begin with their name; UNC_NONE:
 * there is none. */
#define UNC_FIND(t, row, range, name) unc_find_row(t, (t)->row, sizeof(*(t)->row), range, name)
uint16_t unc_find_row(const struct unc_table *, const void *rows, size_t size, struct unc_range,
		      const char *name);
/* The same by the index of names, once all events have been read: of types, fields, events of a type,
 * umasks of an event; the latter two also by their alias. The first one, where several have it. */
#define UNC_FIND_NAMED(t, row, range, name, length)                                                \
	unc_find_named(t, (t)->row, sizeof(*(t)->row), range, name, length)
uint16_t unc_find_named(const struct unc_table *, const void *rows, size_t size, struct unc_range,
			const char *name, size_t length);
/* The slot at which one looks for a name among rows first, first + 1 ..., and then in those behind
 * it. */
size_t unc_slot_of(const struct unc_table *, uint32_t first, const char *name, size_t length);
uint16_t unc_find_type(const struct unc_table *, const char *name);
/* The kernel's PMU for the free-running counters of a type, or for its others; NULL: none. */
const struct unc_tbl_kernel *unc_find_kernel(const struct unc_table *, const struct unc_tbl_type *,
					     bool of_free);
/* The map of a type's units to so many clusters of a socket; NULL: none is known. */
const struct unc_tbl_nodes *unc_type_nodes(const struct unc_table *, const struct unc_tbl_type *,
					   unsigned clusters);
/* The name of PMU number `pmu` of a unit of this index, "uncore_cbox_3"; false: it has no such. */
enum {
	UNC_KERNEL_PMUS = 2,
	UNC_KERNEL_NAME = 48
}; /* The unit whose PMU has the number in its name (not negative); -1: there is none. */
int unc_kernel_unit(const struct unc_tbl_kernel *, int number);
/* PMUs of a unit; bytes of a name */
bool unc_kernel_pmu(const struct unc_table *, unsigned type, unsigned pmu, unsigned index,
		    char *buf, size_t size);
/* The name that drivers before Linux 6.8 give the same PMU where they do not know its type, by the type's id
 * in the discovery table: "uncore_type_4_0". They take its event, umask, edge, inv and thresh alone. */
bool unc_kernel_typed(const struct unc_table *, unsigned type, unsigned pmu, unsigned index,
		      char *buf, size_t size);
/* Which CPU of a socket in the mask of such a PMU the unit's is: 0 the first. */
unsigned unc_kernel_nth(const struct unc_table *, unsigned type, unsigned pmu, unsigned index);
/* Where the numbers of PMUs are not the units' indexes: the name of the last. A driver without it numbers
 * them in another way. */
bool unc_kernel_last(const struct unc_table *, unsigned type, unsigned pmu, char *buf, size_t size);
/* Where a filter register is in config1 (0: low half, 1: high half) and config2 (2, 3); -1: nowhere. */
int unc_kernel_place(const struct unc_tbl_kernel *, uint16_t reg);
/* The setting of a field among some; NULL: there is none. */
const struct unc_tbl_set *unc_find_set(const struct unc_table *, const struct unc_range *sets,
				       uint16_t field);
/* Whether the user must or may give a field. */
bool unc_takes_field(const struct unc_table *, const struct unc_tbl_fields *, uint16_t field);
/* The bits that settings make in a register (UNC_NONE: in the control of a counter). */
uint64_t unc_sets_bits(const struct unc_table *, const struct unc_range *sets, uint16_t reg);
/* Whether stopping restores unit control, where nobody else counts. */
bool unc_type_restores(const struct unc_table *, const struct unc_tbl_type *);
/* What unit control, as it was read, says of the counters of a unit: some may run, by the bits in which
 * the steps `freeze` and `unfreeze` differ. A unit without these steps runs. */
enum unc_unit_state { UNC_UNIT_RUNS, UNC_UNIT_PARTLY, UNC_UNIT_FROZEN };
enum unc_unit_state unc_unit_state(const struct unc_table *, const struct unc_tbl_type *,
				   uint64_t unit_ctl);
/* Bits of a field's value, those that are not stored left out; the first bit of a piece. */
unsigned unc_field_width(const struct unc_tbl_field *);
unsigned unc_field_from(const struct unc_tbl_field *, unsigned piece);
/* Largest value of a field, as the user writes it. */
uint64_t unc_field_max(const struct unc_tbl_field *);
/* Bits that a field has in a register; UNC_NONE: in the control of a counter. */
uint64_t unc_field_bits(const struct unc_tbl_field *, uint16_t reg);
/* What a register holds in a field, of which all is in this register. */
uint64_t unc_field_of(const struct unc_tbl_field *, uint64_t value);
/* Bits of the control of a counter that do not choose what is counted: what any event takes, what
 * has a role, and enable bits. */
uint64_t unc_type_modifiers(const struct unc_table *, const struct unc_tbl_type *);
/* Whether the CPU has this name, or this alias. */
bool unc_cpu_is(const struct unc_table *, const char *name);
/* Whether a CPU is one of them; stepping -1: not told. */
bool unc_cpuid_is(const struct unc_tbl_cpuid *, const char *vendor, int family, int model,
		  int stepping);
/* The compiled-in table of this number, for as long as the library is there; false: past the last. */
bool unc_table_built(size_t index, struct unc_table *out);
/* The workload of this number; in the simulator only. */
bool unc_workload_built(size_t index, struct unc_workload *out);
/* The text of a simulated machine, as `uncore gather` writes it, without remarks; NULL: there are no more. */
const char *unc_machine_text(size_t index, const char **name, size_t *size);

#endif
