/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside the simulated machine. Only sim*.c and access_sim.c include this.
 *
 *   access_sim.c     opening and closing, what the platform sees
 *   sim_options.c    what the text that opens it may say
 *   sim_files.c      the machine's files: which one, and what a place in them holds
 *   sim_build.c      units that were found -> unit types, blocks, registers
 *   sim.c            clock, the calls of sim.h
 *   sim_block.c      what reads and writes of a block's registers do
 *   sim_counter.c    what counters hold, and which of them run
 *   sim_rows.c       what the lines of workload.tbl come to
 *   sim_rate.c       how fast a control value counts
 *   sim_live.c       what the machine does, over time; random numbers
 */
#ifndef UNC_SIM_MACHINE_H
#define UNC_SIM_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "host/dump.h"
#include "host/machine.h"
#include "sim/sim.h"

enum { SIM_MAX_IDLE = 8, SIM_PHASES = 7 };

/* Words of options; 0: option not given, same as the first word. */
enum sim_clock { SIM_CLOCK_WALL = 1, SIM_CLOCK_STEP, SIM_CLOCK_WAIT };

/* Options by the text that opened the machine; see sim_options.c. */
struct sim_options {
	uint64_t sockets, live, seed, memory, clock, frozen, wrap_soon, base;
	double load; /* constant, if not live */
	bool seeded;
	const char *idle[SIM_MAX_IDLE]; /* texts that name units without a clock */
	unsigned n_idle;
};

/* A unit type as the model needs it. Masks are those of the control register or of unit control. */
struct sim_type {
	const struct unc_tbl_type *row;
	uint16_t number;                             /* index into table->type */
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
	struct sim_counter *counter;       /* the counter that this register is, or controls */
	uint64_t value;                    /* not of counters */
	const struct unc_dump_entry *file; /* file that has it; NULL: none */
	bool exists;
};

/* A register outside of the monitors: its first value is that of the file. */
struct sim_plain {
	struct sim_reg reg; /* first */
	struct sim_plain *next;
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
	double weight;     /* of its traffic among the units of its socket; 1 on average */
	bool frozen, idle; /* idle: nothing drives its clock */
};

struct unc_sim {
	struct unc_machine machine;  /* first: its methods get a pointer to it */
	char *text;                  /* the text that opened it */
	struct unc_fs *fs;           /* its files */
	const struct unc_dump *dump; /* the same */
	struct unc_topology top;
	struct unc_table table_of; /* its arrays belong to the platform */
	const struct unc_table *table;
	struct unc_workload work_of;
	const struct unc_workload *work;
	struct unc_tbl_rate
		*rate; /* computed from its lines; NULL: the workload has rates already */
	struct unc_tbl_sim_unit *unit;
	struct sim_options options;
	uint64_t opened;              /* CLOCK_MONOTONIC, ns */
	atomic_uint_fast64_t stepped; /* ns */
	pthread_mutex_t lock;         /* everything below that changes */
	struct sim_type *type;        /* one for each of the table's; row NULL: none here */
	struct sim_block *block;
	size_t n_blocks;
	struct sim_reg *reg;
	size_t n_regs;
	struct sim_counter *counter;
	size_t n_counters;
	struct sim_reg **index; /* registers that exist, by place */
	size_t n_index;
	struct sim_plain *plain;
	struct {
		const struct unc_dump_entry *entry;
		uint64_t key;
		int space;
	} file;                       /* the file looked up last */
	bool frozen[UNC_MAX_SOCKETS]; /* all units of the socket */
	bool cxl;                     /* it has memory behind its CXL links */
	unsigned violations;
	char violation[160];
};

/* ---- sim.c */
/* Takes the lock; returns ns since the machine was switched on. */
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
/* ---- sim_options.c */
/* Takes the words "option=value" of a text that strtok_r() has begun; node: as unc_sim_open(). */
int unc_sim_options(struct unc_sim *, char **text, const char *node, struct unc_error *err);
/* Applies the options about sockets and units, once these are known. */
int unc_sim_choices(struct unc_sim *, struct unc_error *err);

/* ---- sim_rows.c */
/* Computes the rates of the workload's lines with the table. */
int unc_sim_rates(struct unc_sim *, struct unc_error *err);

/* ---- sim_files.c */
/* Opens the files of a machine: `name` is that of a CPU or machine, or a path. */
int unc_sim_files(struct unc_sim *, const char *name, const struct unc_table *const *tables,
		  size_t n, struct unc_error *err);
/* Finds the file of a register (NULL: its space has none), and the value that the file holds. False: the machine has
 * no such register. MSR: target is a CPU. */
bool unc_sim_place(struct unc_sim *, const struct unc_reg *, const struct unc_dump_entry **file,
		   uint64_t *value);

/* ---- sim_build.c */
/* Unit types, before any unit was found. */
int unc_sim_types(struct unc_sim *, struct unc_error *err);
/* Builds blocks, registers and counters of the units found. */
int unc_sim_build(struct unc_sim *, const struct unc_instances *, struct unc_error *err);
/* The register at a place; MSR: target is the socket. */
struct sim_reg *unc_sim_at(const struct unc_sim *, const struct unc_reg *);
/* ---- sim_block.c: the lock is held; now: ns since the machine was switched on */
uint64_t unc_sim_reg_read(struct sim_reg *, uint64_t now);
void unc_sim_reg_write(struct sim_reg *, uint64_t value, uint64_t now);
/* First state of a block. */
void unc_sim_block_init(struct sim_block *);

/* ---- sim_counter.c */
void unc_sim_violation(const struct sim_reg *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The value of a counter at a time. */
uint64_t unc_sim_value(const struct sim_counter *, uint64_t now);
void unc_sim_set(struct sim_counter *, uint64_t value, uint64_t now);
/* Brings counters of a block, or of all units of a socket, up to date. */
void unc_sim_settle(struct sim_block *, uint64_t now);
void unc_sim_settle_socket(struct unc_sim *, unsigned socket, uint64_t now);
/* Sets the speed of all counters of a settled block. */
void unc_sim_block_run(struct sim_block *);

/* ---- sim_live.c */
/* The number of phases in use, up to SIM_PHASES. */
unsigned unc_sim_phases(const struct unc_sim *);
/* How long the machine has been in each phase, ns: together all of its time. */
void unc_sim_spent(const struct unc_sim *, uint64_t now, uint64_t spent[SIM_PHASES]);
/* Traffic of a unit in a phase, as a share of that in the tables; shared: the same at all sockets. */
double unc_sim_factor(const struct sim_block *, unsigned phase, bool shared);
/* The weight of a block (struct sim_block). */
double unc_sim_weight(const struct sim_block *);

/* A hash, and 0 .. 1 from a name and a number. */
uint64_t unc_sim_mix(uint64_t);
double unc_sim_noise(const char *name, uint64_t number);

/* ---- sim_rate.c */
/* Whether the control of a counter lets it count, freezing aside. */
bool unc_sim_enabled(const struct sim_block *, const struct sim_counter *);
/* Sets raw and selected of a counter by the registers of its block. */
void unc_sim_select(struct sim_block *, struct sim_counter *);

#endif
