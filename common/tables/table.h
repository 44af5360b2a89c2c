/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event tables in memory. One struct unc_table is one CPU: flat arrays of
 * integers and one pool of strings. Rows refer to each other by index and to
  * names by offset, never by pointer; unc_table_built() sets those to the
 * arrays. So the compiled tables need no relocation and all processes share
 * their pages.
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

/* The place of an instance of a part of a unit, for CPUs without discovery.
 * MSR: base. PCI: devfn and device id; base is the offset that registers count from.
 * MMIO: BAR `bar` (index into bars), element `bar_index`, base added to it. */
struct unc_tbl_where {
	uint64_t base;
	uint16_t device_id;
	uint8_t devfn;
	uint8_t bar;
	uint8_t bar_index;
	uint8_t optional; /* some models of the CPU lack it, or: */
	uint8_t group; /* a socket has all units with this group number, of any type, or none; 0: no group */
};

enum { UNC_WHERE_LISTED = 2 }; /* exists only if the discovery table lists it */

enum { UNC_MAX_PRESENT = 16 }; /* PCI functions of a statement `present` */

/* How `present` interprets its registers. */
enum unc_tells {
	UNC_TELLS_ONES,   /* a bit for each unit */
	UNC_TELLS_NUMBER, /* how many units */
	UNC_TELLS_ALL     /* not 0: all of them; 0: `none` */
};

/* The source for how many units of a type a socket has, or which: an MSR, registers of a PCI function, or
 * the existence of PCI functions. */
struct unc_tbl_present {
	uint64_t mask;      /* bits that count */
	uint32_t msr;       /* 0: PCI */
	uint16_t id, last;  /* device id; last: end of a range of ids, one a unit; 0: one id */
	uint16_t offset[2]; /* registers */
	uint8_t n_offsets;  /* 0: the existence of functions counts */
	uint8_t tells;      /* enum unc_tells */
	uint8_t none;
	uint8_t per; /* units per function */
	uint8_t n_devices;
	uint8_t devfn[UNC_MAX_PRESENT]; /* for a range only the first */
};

enum { UNC_MAX_STACKS = 16, UNC_NO_STACK = 0xff };

/* The registers that hold the root buses of PCIe stacks. */
enum unc_map_tells {
	UNC_MAP_OWN,  /* a function on each root bus: the stack's id */
	UNC_MAP_LIST, /* one function a socket: a bit for each valid id, a byte with its bus */
	UNC_MAP_BYTES /* a byte for each id: its bus; in an MSR, bit 63 set means valid */
};

/* Maps units to stack ids: address decoders number the stacks differently from the units. */
struct unc_tbl_map {
	uint32_t msr;       /* 0: PCI */
	uint32_t mask;      /* of the id, in the register of UNC_MAP_OWN */
	uint32_t chip_mask; /* if CPUs differ: bits that must equal `chip` */
	uint16_t id;        /* device id; for UNC_MAP_BYTES that of the adjacent function */
	uint16_t offset[2];
	uint16_t valid; /* offset of the bits of UNC_MAP_LIST */
	uint16_t chip_id, chip_offset;
	uint8_t devfn; /* UNC_MAP_BYTES */
	uint8_t tells; /* enum unc_map_tells */
	uint8_t one;   /* only one source documents it */
	uint8_t chip;
	uint8_t ids[UNC_MAX_STACKS]; /* id of each unit, or UNC_NO_STACK */
};

static inline unsigned unc_map_id(const struct unc_tbl_map *map, unsigned index)
{
	return index < UNC_MAX_STACKS ? map->ids[index] : UNC_NO_STACK;
}

/* Functions on the root bus of a stack whose ports do not follow from their device number. */
struct unc_tbl_endpoint {
	uint16_t id;   /* device id */
	uint8_t bus;   /* offset from the bus of the stack */
	uint8_t ports; /* bits of the port mask */
	uint8_t chip;  /* `chip` of the map that applies; 0: any */
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

/* A part of a unit: a block of registers with its own place. Part 0 has the
 * counters; other parts exist if a unit has filters elsewhere. */
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
	UNC_REG_WO = 1, /* write-only: reads return no meaningful value */
	UNC_REG_RO = 2,
	UNC_REG_W1C = 4,     /* write 1 to clear */
	UNC_REG_ABS = 8,     /* offset is the address itself, the same for every instance */
	UNC_REG_SEXT = 16,   /* reads repeat the top bit of the counter */
	UNC_REG_FROZEN = 32, /* defined only while the unit is frozen */
	UNC_REG_EVERY = 64   /* qualifies every event with its fields, given or not */
};

struct unc_tbl_reg {
	unc_str name;
	int32_t offset;      /* from the base of the part */
	int32_t per_unit;    /* added to offset for each further unit at the same place */
	uint64_t write_mask; /* bits that software may set; 0: never written */
	uint64_t base;       /* value of a filter if no event sets it */
	uint64_t busy;       /* if any of these bits is set, another program uses the register */
	uint8_t part;
	uint8_t role;
	uint8_t number; /* number of the array element: the counter for CTL, CTR */
	uint8_t nth;    /* index in its array */
	uint8_t width;  /* bits */
	uint8_t flags;
};

/* unc_tbl_field.flags */
enum {
	UNC_FIELD_USER = 1,    /* every event of the type takes it */
	UNC_FIELD_NODES = 2,   /* a mask of node ids: `local` and `remote` are values */
	UNC_FIELD_DEFAULT = 4, /* default_value if the user gives none */
	UNC_FIELD_EXCEEDS = 8, /* a threshold that the increment must exceed, not reach */
	UNC_FIELD_ONCE = 16,   /* not set while another counter counts the same event code */
	UNC_FIELD_WO = 32,     /* always reads back as 0 */
	UNC_FIELD_MASK = 64    /* selects which bits of another field are compared */
};

/* The function of a field in hardware, independent of the vendor's name. */
enum unc_is {
	UNC_IS_NOTHING,       /* a part of the event code, or of unknown meaning */
	UNC_IS_OTHER,         /* known to be none of the following */
	UNC_IS_FREEZE,        /* unit control: stops the counters of the unit ... */
	UNC_IS_FREEZE_ENABLE, /* ... if this bit is set too */
	UNC_IS_RESET_CONTROLS,
	UNC_IS_RESET_COUNTERS,
	UNC_IS_ENABLE_COUNTERS, /* unit control: a bit for each programmable counter */
	UNC_IS_ENABLE_FIXED,
	UNC_IS_FREEZE_SOCKET,   /* all units of the socket */
	UNC_IS_UNFREEZE_SOCKET, /* if 0 in UNC_IS_FREEZE_SOCKET does not */
	UNC_IS_RESET,           /* control of a counter: clears the counter */
	UNC_IS_EDGE,
	UNC_IS_INVERT,
	UNC_IS_THRESHOLD,
	UNC_IS_STATES, /* states of a cache line: each bit adds a part of the counts */
	UNC_IS_BOTH_THREADS,
	UNC_IS_OVERFLOW, /* control of a counter: its carry freezes */
	UNC_N_IS
};

/* A field: bits of the counter's control register (reg == UNC_NONE) or of a
 * shared register. Further pieces hold the high bits of a split field. */
enum { UNC_PIECES = 3 };
struct unc_tbl_field {
	unc_str name, desc;
	uint16_t reg[UNC_PIECES]; /* index into regs; UNC_NONE: the counter's control register */
	uint8_t lo[UNC_PIECES];
	uint8_t width[UNC_PIECES]; /* 0: there is no such piece */
	uint8_t shift; /* low bits of the user's value that are not stored and must be 0 */
	uint8_t flags;
	uint8_t role;      /* enum unc_is */
	uint32_t counters; /* mask of the counters that have it; 0: all */
	uint32_t max_inc;  /* if set: what a threshold compares with; 0: the increment */
	uint16_t needs;    /* field that must not be 0 if this one is not 0; UNC_NONE */
	uint16_t mask;     /* field that selects which of its bits are compared; UNC_NONE */
	uint16_t like;     /* field whose value it copies if an event uses its register; UNC_NONE */
	uint64_t default_value, min;
	struct unc_range with;   /* sets: other fields to set unless the user does */
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
	uint16_t given; /* in a forbid, enum unc_given: has the value, given, not given */
	uint64_t value;
};

enum unc_step_kind {
	UNC_STEP_WRITE,    /* reg = value */
	UNC_STEP_FILTERS,  /* write the filter registers that the events need */
	UNC_STEP_CONTROLS, /* write the control registers of the counters used */
	UNC_STEP_PRELOAD,  /* write half of their range to the counters used */
	UNC_STEP_RESTORE,  /* controls and filters as found */
	UNC_STEP_FOUND     /* reg = its value before (unit control) */
};

struct unc_tbl_step {
	uint16_t kind;
	uint16_t reg;
	uint64_t value;
};

/* A counter with one fixed event. */
struct unc_tbl_counter {
	unc_str name;
	uint16_t ctr;    /* index into regs */
	uint16_t ctl;    /* index into regs; UNC_NONE: free-running */
	uint64_t enable; /* written to ctl to count */
	uint8_t width;
	uint16_t kernel; /* its `config` for the kernel's driver; 0: the driver lacks it */
};

enum { UNC_MAX_LANES = 4 }; /* of a type */

/* Counters that share a set of events; the lead counter selects the set. */
struct unc_tbl_lane {
	unc_str name;
	uint32_t counters; /* mask, the lead included */
	uint8_t lead;
	uint64_t same; /* bits of the control that must agree with the lead's */
};

/* Settings (sets) that must not be combined. */
struct unc_tbl_forbid {
	unc_str why;
	struct unc_range sets;
};

/* A PMU of the kernel's driver (perf_event_open), and the settings that it passes on. */
struct unc_tbl_kernel {
	unc_str name;        /* with {n} for the number of the unit, if there are several */
	unc_str unavailable; /* why it cannot count on our units; 0: it can */
	uint64_t bits;       /* bits of CTL that it accepts, */
	uint64_t named;      /* and those only if the kernel's format/umask names them */
	/* filter registers, 32 bits each: config1 low and high, config2 low and high; UNC_NONE */
	uint16_t config[4];
	uint8_t number[32]; /* 1 + the number of each unit in the name; all 0: its index */
	uint8_t free;       /* for free-running counters; 0: for the others */
	uint8_t per;        /* units of a socket per PMU, one for each CPU of its mask; 0: one */
};

/* Bits of config1 and config2 that the driver writes for events with (CTL & mask) == ctl. */
struct unc_tbl_kernel_filter {
	uint64_t ctl, mask;
	uint64_t bits[2];
};

/* The counters that the driver uses for an event code, if they differ from the event's. */
struct unc_tbl_kernel_counters {
	uint32_t counters;
	uint16_t code;
};

/* The sub-NUMA cluster of each unit of a type. */
struct unc_tbl_nodes {
	uint8_t clusters; /* per socket; 0: any number, with equally many units each, in order */
	uint8_t cluster[UNC_MAX_PLACES]; /* cluster of a unit, + 1; 0: not known */
};

/* The memory whose accesses the units of a type count. */
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
	struct unc_range settled; /* sets: fields that events set if the user gives none */
	struct unc_range checked; /* sets: those with a rule on what they may be combined with */
	uint64_t checked_bits;    /* if none of these is set in CTL, `checked` does not apply */
	uint16_t pool;     /* 1 + the type whose units and counters a view uses; 0: its own */
	uint16_t partner;  /* 1 + the type whose every unit comes with one of these; 0: none */
	uint16_t unfreeze; /* register that unfreezes the socket */
	uint8_t n_global, has_unfreeze; /* n_global: status registers of the socket */
	uint64_t unfreeze_value;
	uint16_t first_ctl, first_ctr; /* index into regs; counter first + i is + i */
	uint16_t unit_ctl, status;     /* index into regs, or UNC_NONE */
	uint16_t f_event, f_umask;     /* fields set by code= and by a umask's value; UNC_NONE */
	uint64_t enable;               /* bits of CTL set while counting */
	uint64_t active;               /* any of these set in CTL: the counter is in use */
	uint64_t exclusive;            /* counters of a unit must agree in these bits of CTL */
	uint32_t max_inc;              /* largest increment per clock, if the event has none */
	int16_t discovery;             /* type id in the PMON discovery table; -1 none */
	struct unc_range presents; /* sources for how many units exist, or which; none: all exist */
	struct unc_range maps, endpoints;
	uint8_t unlisted;   /* firmware may leave it out of the discovery table */
	uint8_t distrusted; /* its records there are not used */
	uint8_t functions;  /* PCI functions of its records there, if types share an id; 0: any */
	uint8_t cpus;       /* one unit for each logical CPU */
	uint8_t share;      /* adjacent units that count parts of one thing; 0: 1 */
	uint8_t first;      /* number of the first counter */
	uint8_t n_counters;
	uint8_t width;    /* bits of a programmable counter */
	uint8_t memory;   /* enum unc_memory */
	uint8_t channels; /* per unit */
	/* For PCIe stacks: */
	uint8_t ports; /* per unit; 0: it is no PCIe stack */
	uint8_t port_zero; /* device number of the root port of port 0; 255: ports do not follow device numbers */
	uint8_t bus_zero; /* the unit on bus 0; 255: not known */
	uint8_t port_dmi; /* 1 + the port of a root port with device number 0; 0: like other devices */
	uint8_t by_kernel; /* described by the kernel's PMU (machine/named.h), without registers */
};

/* unc_tbl_umask.flags */
enum {
	UNC_UMASK_EXACT = 1,   /* must stand alone */
	UNC_UMASK_PARTIAL = 2, /* counts nothing without another umask */
	UNC_UMASK_DEFAULT = 4, /* used if none is given */
	UNC_UMASK_CHOICE = 8,  /* excludes other umasks with this flag */
	UNC_UMASK_GUIDE = 16   /* for other CPUs of the folder: from its own CPU's guide */
};

/* The fields of an event or umask. */
struct unc_tbl_fields {
	struct unc_range sets;
	struct unc_range needs;    /* fields (sets[].field) that the user has to give */
	struct unc_range uses;     /* fields that the user may give */
	struct unc_range defaults; /* field = value if the user gives none */
};

struct unc_tbl_umask {
	unc_str name, desc, alias;
	unc_str unavailable; /* why it cannot be programmed; 0: it can */
	uint16_t fields;     /* index: many umasks share a row, see unc_umask_fields() */
	uint16_t counter;    /* as in struct unc_tbl_event */
	uint8_t flags;
	uint8_t aggregate; /* 1 + UNC_AGGREGATE_*; 0: that of the event */
};

struct unc_tbl_event {
	unc_str name, desc, alias;
	struct unc_range umasks;
	struct unc_tbl_fields fields;
	uint32_t counters; /* bit i: programmable counter i may count it */
	uint32_t doubtful; /* those of them that some source does not allow */
	uint16_t counter;  /* fixed or free-running counter (index into counters), or UNC_NONE */
	uint16_t type;
	uint32_t max_inc; /* largest increment per clock */
	uint16_t code;
	uint16_t lane; /* 1 + the first of its lanes (index into lanes); 0: none */
	uint8_t set;   /* in the lane */
	uint8_t aggregate;
	uint8_t clock;    /* counts whenever the unit runs, so it shows a frozen unit */
	uint8_t stops;    /* while it counts, the clock of its unit is stopped */
	uint8_t estimate; /* max_inc is in no document */
	uint8_t guide;    /* as UNC_UMASK_GUIDE */
};

/* A slot of the hash table of names of types, fields, events and umasks: unc_find_named(). */
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

/* The socket of a bus without a UBox: that of the next bus with one, higher or lower. */
enum unc_inherit { UNC_INHERIT_HIGHER, UNC_INHERIT_LOWER };

/* How PCI buses are assigned to sockets. */
struct unc_tbl_topology {
	uint16_t ubox_id, nodeid_offset, map_offset;
	uint16_t buses;  /* buses of the socket, from that of the UBox on */
	uint8_t devfn;   /* of the UBox */
	uint8_t inherit; /* enum unc_inherit */
};

/* The CPUs of a line of cpus.tbl: CPUID family, models, steppings. */
struct unc_tbl_cpuid {
	uint16_t family;
	uint16_t n_models;
	uint16_t models[8];
	uint16_t steppings; /* mask; 0: all */
	uint16_t unmapped;  /* model to which statements `map` do not apply; 0: none */
};

/* A known CPU without tables. */
struct unc_tbl_known {
	unc_str title;
	struct unc_tbl_cpuid cpuid;
};

struct unc_table {
	unc_str name, title;
	unc_str folder; /* folder of the CPU whose tables it shares; 0: its own */
	unc_str alias;  /* a list */
	uint16_t discovery;
	struct unc_tbl_topology topology;
	uint64_t id; /* a hash of its name and its source texts */
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
	bool extended;                    /* rows were added that are not in the index of names */
};

/* ---- the simulated machine: for the simulator only (workload.tbl) */

/* A line of workload.tbl: the rate of an event per unit. Opening a machine encodes the event. */
struct unc_tbl_load {
	unc_str event; /* "type.EVENT", among the strings of the workload */
	uint16_t type;
	uint8_t steady, cxl; /* as in struct unc_tbl_rate */
	double per_second, per_clock;
};

/* The rate at which a control value counts. */
struct unc_tbl_rate {
	uint16_t type;
	uint16_t counter;    /* fixed or free-running counter, or UNC_NONE */
	uint8_t only_socket; /* 0: every socket; else socket + 1 */
	uint8_t n_filters;
	uint8_t steady; /* independent of the traffic */
	uint8_t shared; /* counts the same on all sockets: a link between them, a common bus */
	uint8_t cxl;    /* only if the machine has CXL memory */
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
	bool link; /* portable metrics count traffic between sockets with it; set when a machine is opened */
};

struct unc_tbl_machine {
	double tsc_hz;
};

/* A workload of one table, with indexes into its rows. */
struct unc_workload {
	struct unc_tbl_machine machine; /* tsc_hz 0: there is no workload.tbl */
	uint64_t id;                    /* of the table */
	const char *strings;
	size_t n_strings;
#define UNC_WORKLOAD_ARRAYS(X) X(load) X(sim_unit)
	UNC_WORKLOAD_ARRAYS(UNC_TABLE_ARRAY)
	UNC_TABLE_ARRAY(rate) /* the encoded lines, once a machine is open */
};
#undef UNC_TABLE_ARRAY

/* Returns a mask of the low `width` bits. */
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

/* unc_type_name(table, index), unc_event_name() ... */
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

/* Returns the type whose units, registers and counters a type uses: itself, unless it is a view. */
static inline unsigned unc_type_pool(const struct unc_table *t, unsigned type)
{
	return t->type[type].pool ? t->type[type].pool - 1u : type;
}

/* Returns part `part` of a type that has parts; 0 is the main one. */
static inline const struct unc_tbl_part *unc_type_part(const struct unc_table *t, unsigned type,
						       unsigned part)
{
	return &t->part[t->type[type].parts.first + part];
}

/* Returns the place of a unit in the tables; NULL: none. */
static inline const struct unc_tbl_where *
unc_part_place(const struct unc_table *t, const struct unc_tbl_part *part, unsigned index)
{
	return index < part->where.n ? &t->where[part->where.first + index] : NULL;
}

/* Returns the address of a register of a unit at `base`, encoded as in struct unc_reg. */
static inline uint64_t unc_reg_at(const struct unc_tbl_reg *reg, int space, uint64_t base,
				  unsigned index)
{
	if (!(reg->flags & UNC_REG_ABS))
		return base + (uint64_t)((int64_t)reg->offset + (int64_t)reg->per_unit * index);
	return (space == UNC_SPACE_PCI ? UNC_PCI_FUNCTION(base) : 0) + (uint32_t)reg->offset;
}

/* Return the control and the counter register of counter `number`. */
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

/* ---- lookups (table.c) */

/* Returns the row after `last` (NULL: the first) in a range of an array; NULL: no more. */
#define UNC_NEXT(t, row, range, last) unc_next_row((t)->row, sizeof(*(t)->row), range, last)
static inline const void *unc_next_row(const void *rows, size_t size, struct unc_range in,
				       const void *last)
{
	const char *first = (const char *)rows + in.first * size;
	const char *next = last ? (const char *)last + size : first;

	return next < first + in.n * size ? next : NULL;
}

/* Returns the row with this name in a range of an array whose structs begin with their name; UNC_NONE:
 * none. */
#define UNC_FIND(t, row, range, name) unc_find_row(t, (t)->row, sizeof(*(t)->row), range, name)
uint16_t unc_find_row(const struct unc_table *, const void *rows, size_t size, struct unc_range,
		      const char *name);
/* The same by the index of names, after all events have been read: for types, fields, events of a type and
 * umasks of an event; events and umasks also by alias. Returns the first of several matches. */
#define UNC_FIND_NAMED(t, row, range, name, length)                                                \
	unc_find_named(t, (t)->row, sizeof(*(t)->row), range, name, length)
uint16_t unc_find_named(const struct unc_table *, const void *rows, size_t size, struct unc_range,
			const char *name, size_t length);
/* Returns the slot at which the search for a name among rows first, first + 1 ... begins; it continues in
 * the slots after it. */
size_t unc_slot_of(const struct unc_table *, uint32_t first, const char *name, size_t length);
uint16_t unc_find_type(const struct unc_table *, const char *name);
/* Returns the kernel's PMU for the free-running counters of a type, or for the others; NULL: none. */
const struct unc_tbl_kernel *unc_find_kernel(const struct unc_table *, const struct unc_tbl_type *,
					     bool of_free);
/* Returns the map of a type's units to `clusters` clusters of a socket; NULL: not known. */
const struct unc_tbl_nodes *unc_type_nodes(const struct unc_table *, const struct unc_tbl_type *,
					   unsigned clusters);
enum { UNC_KERNEL_PMUS = 2, UNC_KERNEL_NAME = 48 }; /* PMUs of a unit; bytes of a name */
/* Returns the unit whose PMU has the number in its name (not negative); -1: none. */
int unc_kernel_unit(const struct unc_tbl_kernel *, int number);
/* Writes the name of PMU number `pmu` of a unit, "uncore_cbox_3"; false: no such PMU. */
bool unc_kernel_pmu(const struct unc_table *, unsigned type, unsigned pmu, unsigned index,
		    char *buf, size_t size);
/* Writes the name of the same PMU in drivers before Linux 6.8 that do not know its type, by the type's id in
 * the discovery table: "uncore_type_4_0". They accept only event, umask, edge, inv and thresh. */
bool unc_kernel_typed(const struct unc_table *, unsigned type, unsigned pmu, unsigned index,
		      char *buf, size_t size);
/* Returns which CPU of a socket in the PMU's mask belongs to the unit; 0: the first. */
unsigned unc_kernel_nth(const struct unc_table *, unsigned type, unsigned pmu, unsigned index);
/* Writes the name of the last PMU, if PMU numbers are not unit indexes. A driver without that PMU numbers
 * them in another way. */
bool unc_kernel_last(const struct unc_table *, unsigned type, unsigned pmu, char *buf, size_t size);
/* Returns the place of a filter register: config1 (0: low half, 1: high half), config2 (2, 3); -1: none. */
int unc_kernel_place(const struct unc_tbl_kernel *, uint16_t reg);
/* Returns the setting of a field in a range of settings; NULL: none. */
const struct unc_tbl_set *unc_find_set(const struct unc_table *, const struct unc_range *sets,
				       uint16_t field);
/* Whether the user must or may give a field. */
bool unc_takes_field(const struct unc_table *, const struct unc_tbl_fields *, uint16_t field);
/* Returns the bits that settings set in a register (UNC_NONE: in the control of a counter). */
uint64_t unc_sets_bits(const struct unc_table *, const struct unc_range *sets, uint16_t reg);
/* Whether stopping restores unit control, if no other session counts. */
bool unc_type_restores(const struct unc_table *, const struct unc_tbl_type *);
/* Returns the state of a unit's counters from the value of unit control, by the bits in which the steps
 * `freeze` and `unfreeze` differ; some counters may run. A unit without these steps runs. */
enum unc_unit_state { UNC_UNIT_RUNS, UNC_UNIT_PARTLY, UNC_UNIT_FROZEN };
enum unc_unit_state unc_unit_state(const struct unc_table *, const struct unc_tbl_type *,
				   uint64_t unit_ctl);
/* Return the number of stored bits of a field's value, and the first bit of a piece. */
unsigned unc_field_width(const struct unc_tbl_field *);
unsigned unc_field_from(const struct unc_tbl_field *, unsigned piece);
/* Returns the largest value of a field, as the user writes it. */
uint64_t unc_field_max(const struct unc_tbl_field *);
/* Returns the bits of a field in a register; UNC_NONE: in the control of a counter. */
uint64_t unc_field_bits(const struct unc_tbl_field *, uint16_t reg);
/* Extracts a field, all of whose pieces are in one register, from the value of that register. */
uint64_t unc_field_of(const struct unc_tbl_field *, uint64_t value);
/* Returns the bits of a counter's control that do not select the event: fields that any event takes,
 * fields with a role, and enable bits. */
uint64_t unc_type_modifiers(const struct unc_table *, const struct unc_tbl_type *);
/* Whether a word of so many letters says where an event counts, as "socket": no field has such a name. */
bool unc_is_place(const char *word, size_t length);
/* Whether the CPU has this name, or this alias. */
bool unc_cpu_is(const struct unc_table *, const char *name);
/* Whether a CPU is in a line of cpus.tbl; stepping -1: not known. */
bool unc_cpuid_is(const struct unc_tbl_cpuid *, const char *vendor, int family, int model,
		  int stepping);
/* Gives compiled-in table `index`, valid while the library is loaded; false: past the last. */
bool unc_table_built(size_t index, struct unc_table *out);
/* Gives workload `index`; in the simulator only. */
bool unc_workload_built(size_t index, struct unc_workload *out);
/* Returns the text of a simulated machine, as `uncore gather` writes it, without remarks; NULL: no more. */
const char *unc_machine_text(size_t index, const char **name, size_t *size);

#endif
