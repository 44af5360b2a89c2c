/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside the simulated machine. Only sim*.c and access_sim.c include this.
 *
 *   access_sim.c     opening and closing, what the platform sees
 *   sim_options.c    what the text that opens it may say
 *   sim_socket.c     what each socket has on its buses
 *   sim_build.c      table -> unit types, blocks, registers
 *   sim.c            clock, the calls of sim.h
 *   sim_place.c      where units and registers are
 *   sim_block.c      what reads and writes of a block's registers do
 *   sim_counter.c    what counters hold, and which of them run
 *   sim_rate.c       how fast a control value counts
 *   sim_live.c       what the machine does, over time; random numbers
 *   sim_present.c    what tells which units there are
 *   sim_bus.c        PCI functions, configuration space, physical memory
 *   sim_discovery.c  the PMON discovery table in memory
 *   sim_devices.c    PCIe stacks, their buses and devices
 *   sim_tree.c       the files of /sys that tell of devices
 *   sim_kernel.c     the events of its kernel, and sim_driver.c the driver (sim_kernel.h)
 */
#ifndef UNC_SIM_MACHINE_H
#define UNC_SIM_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "host/machine.h"
#include "sim/sim.h"

enum {
	SIM_MAX_SOCKETS = 8,
	SIM_MAX_HIDDEN = 8,
	SIM_PHASES = 7,
	SIM_MAX_TABLES = 8,
	SIM_MAX_CLUSTERS = 4
};

/* Words of options; 0: nothing was said, which is the first. */
enum sim_clock { SIM_CLOCK_WALL = 1, SIM_CLOCK_STEP, SIM_CLOCK_WAIT };
enum sim_kernels { SIM_KERNEL_OFF = 1, SIM_KERNEL_ON };
enum sim_rights { SIM_RIGHTS_ALL = 1, SIM_RIGHTS_PERF, SIM_RIGHTS_NONE };
enum sim_discovery {
	SIM_DISCOVERY_OK = 1,
	SIM_DISCOVERY_NONE,      /* no discovery device */
	SIM_DISCOVERY_TRUNCATED, /* memory ends in the middle of the unit records */
	SIM_DISCOVERY_GARBAGE,   /* noise where the table should be */
	SIM_DISCOVERY_NOUPI      /* no records of types that firmware may leave out */
};

/* What becomes of chosen units: hidden, without a clock; their record reads as ones, names
 * `address`; what is wrong with them, for those who look whether that is seen. */
enum sim_choice { SIM_HIDDEN, SIM_IDLE, SIM_UNLISTED, SIM_MISLISTED };

struct sim_hidden {
	uint16_t type;
	int part, index, socket; /* -1: all */
	enum sim_choice what;
	uint64_t address;
};

/* By what the text says; sim_options.c tells what it means. */
struct sim_options {
	uint64_t sockets, live, seed, memory, clock, discovery, tables, frozen, wrap_soon, base,
		kernel, clusters, cxl, devices, no_nodes, rights;
	double load; /* constant, if not live */
	bool seeded;
	struct sim_hidden hidden[SIM_MAX_HIDDEN];
	int n_hidden;
};

/* A unit type as the model needs it. Masks are those of the control register or of unit control. */
struct sim_type {
	const struct unc_tbl_type *row;
	uint16_t number;                             /* index into table->type */
	struct unc_bits present;                     /* which instances exist */
	double clock;                                /* Hz */
	uint64_t bits[UNC_N_IS];                     /* of each role, in its register */
	const struct unc_tbl_field *field[UNC_N_IS]; /* that has the role; NULL: none */
	uint64_t code, umask;
	uint64_t ports;     /* of PCIe stacks, the mask of ports */
	uint64_t modifiers; /* bits that do not choose what is counted */
	uint64_t follow;    /* code (in place) of the event that counts what counter 0 holds */
	bool has_follow;
	bool link; /* counts what goes between sockets */
	const struct unc_tbl_rate **rate;
	size_t n_rates;
};

struct sim_block;
struct sim_counter;

struct sim_reg {
	struct unc_reg reg; /* MSR: target is the socket */
	const struct unc_tbl_reg *row;
	struct sim_block *block;
	struct sim_counter *counter; /* the counter that this register is, or controls */
	uint64_t value;              /* not of counters */
	bool exists;                 /* its part is there and visible */
};

/*
 * value(t) = base + floor(fraction + sum over phases of rate * (time in the phase since `since`)),
 * modulo 2^width. Reads change nothing, so what is counted does not depend on how often it is read.
 */
struct sim_counter {
	const struct unc_tbl_counter *row; /* fixed and free-running; NULL: programmable */
	struct sim_reg *ctr, *ctl;         /* ctl NULL: free-running */
	/* It counts with all of these bits in its control and, where there are any, with one of
	 * those, and with that of unit control. */
	uint64_t enable, active, enabled_by_unit;
	uint64_t base;
	uint64_t since;             /* ns, */
	uint64_t spent[SIM_PHASES]; /* ns by then in each phase */
	double fraction;
	double rate[SIM_PHASES];     /* per ns, 0 while stopped */
	double selected[SIM_PHASES]; /* per s: what the control selects, modifiers applied */
	double raw[SIM_PHASES];      /* the same before modifiers */
	uint8_t width;
	uint8_t number;
};

/* One unit. */
struct sim_block {
	const struct sim_type *type;
	struct unc_sim *sim;
	struct sim_reg *reg;         /* one for each of the type's, in the table's order */
	struct sim_counter *counter; /* programmable ones first */
	size_t n_counters;
	uint16_t socket, index;
	double weight; /* of its traffic among the units of its socket; 1 on average */
	bool frozen;
	unsigned turn;   /* of the groups of the kernel's events, */
	uint64_t turned; /* and since when, ns */
};

/* A dword of configuration space that is not a monitor's register. */
struct sim_config {
	uint32_t value;
	uint16_t offset;
	uint8_t bus, devfn;
};

/* A discovery table of a socket. */
struct sim_memory {
	uint64_t address;
	uint64_t *word;
	size_t size;   /* bytes filled */
	size_t backed; /* bytes that can be read; zero beyond `size` */
};

struct sim_bus {
	struct unc_bus bus; /* first: the methods get a pointer to it */
	struct unc_sim *sim;
	struct sim_config *config;
	size_t n_configs;
	bool lacks; /* functions or configuration: memory has run out */
	struct sim_memory memory[SIM_MAX_SOCKETS * SIM_MAX_TABLES];
};

struct unc_dump;
struct sim_event;

/* Events of the simulated kernel; a descriptor is a position. */
struct sim_kernel {
	struct sim_event **event; /* NULL: closed */
	size_t n;
};

struct unc_sim {
	struct unc_machine machine; /* first: its methods get a pointer to it */
	struct unc_table table_of;  /* what it points to is the platform's */
	const struct unc_table *table;
	struct unc_workload work_of;
	const struct unc_workload *work;
	struct unc_tbl_rate *rate; /* of its lines; NULL: it has rates already */
	struct unc_tbl_sim_unit *unit;
	struct sim_options options;
	uint64_t opened;              /* CLOCK_MONOTONIC, ns */
	atomic_uint_fast64_t stepped; /* ns */
	pthread_mutex_t lock;         /* everything below that changes */
	struct sim_type *type;        /* one for each of the table's; present == 0: none here */
	struct sim_block *block;
	size_t n_blocks;
	struct sim_reg *reg;
	size_t n_regs;
	struct sim_counter *counter;
	size_t n_counters;
	struct sim_reg **index; /* registers that exist, by place */
	size_t n_index;
	struct sim_block *global[SIM_MAX_SOCKETS]; /* whose status tells of all units; NULL: none */
	bool frozen[SIM_MAX_SOCKETS];              /* all units of the socket */
	struct sim_bus bus;
	struct unc_fs *tree; /* what /sys tells of devices and nodes, in memory */
	struct sim_kernel kernel;
	unsigned violations;
	char violation[160];
};

/* ---- sim.c */
/* Takes the lock, and what happened up to now; returns ns since the machine was switched on. */
uint64_t unc_sim_enter(struct unc_sim *);
/* Runs operations whose handles unc_sim_find() filled, all at one point in time. */
void unc_sim_run(struct unc_sim *, struct unc_reg_op *ops, size_t n);
/* ns since the machine was switched on. */
uint64_t unc_sim_uptime(const struct unc_sim *);
/* A register of a block, by its number in the table. */
static inline struct sim_reg *unc_sim_reg(const struct sim_block *block, uint16_t reg)
{
	return &block->reg[reg - block->type->row->regs.first];
}
/* Logical CPUs of a socket. */
static inline int unc_sim_cpus(const struct unc_sim *sim)
{
	const struct unc_tbl_machine *machine = &sim->work->machine;

	return machine->cores * (machine->threads ? machine->threads : 1);
}

/* ---- sim_options.c */
/* Takes the words "option=value" of a text that strtok_r() has begun; node: as unc_sim_open(). */
int unc_sim_options(struct unc_sim *, char **text, const char *node, struct unc_error *err);

/* ---- sim_rows.c */
/* Gives the workload its rates: what its lines come to with the table. */
int unc_sim_rates(struct unc_sim *, struct unc_error *err);

/* ---- sim_build.c */
int unc_sim_build(struct unc_sim *, struct unc_error *err);

/* ---- sim_place.c */
/* Finds the registers by their places; UNC_ERR_MEMORY. */
int unc_sim_index(struct unc_sim *);
/* The register at a place; MSR: target is the socket. */
struct sim_reg *unc_sim_at(const struct unc_sim *, const struct unc_reg *);
/* A unit; NULL: there is none. */
struct sim_block *unc_sim_block(const struct unc_sim *, unsigned type, unsigned index,
				unsigned socket);
/* The choice that is made for a part of a unit (index or socket -1: of all units); NULL: none. */
const struct sim_hidden *unc_sim_chosen(const struct unc_sim *, enum sim_choice, unsigned type,
					unsigned part, int index, int socket);
/* Whether that choice is made for a whole unit. */
bool unc_sim_is(const struct sim_block *, enum sim_choice);
/* Where part `part` of an instance is: its base, encoded as in struct unc_reg. False: nowhere. */
bool unc_sim_place(const struct unc_sim *, const struct sim_type *, unsigned part, unsigned index,
		   unsigned socket, struct unc_reg *place);
/* Buses of a socket. */
unsigned unc_sim_bus_range(const struct unc_sim *);
/* The PCI bus of a socket that holds the monitors. */
unsigned unc_sim_bus_number(const struct unc_sim *, unsigned socket);
/* What the configuration registers of a BAR hold, and the address that follows. */
uint32_t unc_sim_bar_base(const struct unc_tbl_bar *, unsigned socket);
uint32_t unc_sim_bar_element(const struct unc_tbl_bar *, unsigned element);
uint64_t unc_sim_bar_address(const struct unc_tbl_bar *, unsigned socket, unsigned element);

/* ---- sim_block.c: the lock is held; now: ns since the machine was switched on */
uint64_t unc_sim_reg_read(struct sim_reg *, uint64_t now);
void unc_sim_reg_write(struct sim_reg *, uint64_t value, uint64_t now);
/* First state of a block. */
void unc_sim_block_init(struct sim_block *);

/* ---- sim_counter.c */
void unc_sim_violation(const struct sim_reg *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What it holds by then. */
uint64_t unc_sim_value(const struct sim_counter *, uint64_t now);
void unc_sim_set(struct sim_counter *, uint64_t value, uint64_t now);
/* Brings counters of a block, or of all units of a socket, up to date. */
void unc_sim_settle(struct sim_block *, uint64_t now);
void unc_sim_settle_socket(struct unc_sim *, unsigned socket, uint64_t now);
/* Sets the speed of all counters of a settled block. */
void unc_sim_block_run(struct sim_block *);

/* ---- sim_live.c */
/* Of SIM_PHASES, how many there are. */
unsigned unc_sim_phases(const struct unc_sim *);
/* How long the machine has been in each phase, ns: together all of its time. */
void unc_sim_spent(const struct unc_sim *, uint64_t now, uint64_t spent[SIM_PHASES]);
/* What traffic at a unit is in a phase, of that in the tables; shared: the same at all sockets. */
double unc_sim_factor(const struct sim_block *, unsigned phase, bool shared);
/* For its block. */
double unc_sim_weight(const struct sim_block *);

/* A hash, and 0 .. 1 from a name and a number. */
uint64_t unc_sim_mix(uint64_t);
double unc_sim_noise(const char *name, uint64_t number);

/* ---- sim_rate.c */
/* Does its control let it count (freezing aside)? */
bool unc_sim_enabled(const struct sim_block *, const struct sim_counter *);
/* Sets raw and selected of a counter by the registers of its block. */
void unc_sim_select(struct sim_block *, struct sim_counter *);

/* ---- sim_socket.c */
int unc_sim_bus_build(struct unc_sim *, struct unc_error *err);

/* ---- sim_bus.c */
extern const struct unc_bus_methods unc_sim_bus_methods;
void unc_sim_bus_free(struct unc_sim *);
/* Adds a function to a bus, if it is not there yet. That memory has run out is told at the end. */
void unc_sim_bus_function(struct unc_sim *, unsigned bus, unsigned devfn, unsigned id,
			  unsigned socket);
/* Sets bits of a dword of configuration space; the same. */
void unc_sim_bus_config(struct unc_sim *, unsigned bus, unsigned devfn, unsigned offset,
			uint32_t value);

/* ---- sim_present.c */
/* The PCI functions that tell of the units of a type on a socket. UNC_ERR_TABLE: they cannot. */
int unc_sim_present_bus(struct unc_sim *, size_t type, unsigned socket, struct unc_error *err);
/* The same of the MSRs of a block's socket; room for them is behind the registers. */
int unc_sim_present_msr(struct unc_sim *, struct sim_block *, struct unc_error *err);

/* ---- sim_devices.c */
/* Adds functions to the bus, and files. UNC_ERR_INVALID: there is no room for them. */
int unc_sim_devices(struct unc_sim *, struct unc_dump *files, struct unc_error *err);

/* ---- sim_tree.c */
int unc_sim_tree_build(struct unc_sim *, struct unc_error *err);
void unc_sim_tree_free(struct unc_sim *);

/* The MSRs of statements `map`, still empty; the same. */
void unc_sim_present_maps(struct unc_sim *);

/* ---- sim_kernel.c */
extern const struct unc_machine_events unc_sim_events;
void unc_sim_kernel_free(struct unc_sim *);

/* ---- sim_discovery.c */
int unc_sim_discovery_build(struct unc_sim *, unsigned socket, unsigned number, struct sim_memory *,
			    struct unc_error *err);

#endif
