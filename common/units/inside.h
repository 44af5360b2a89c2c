/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside units/. Calls go up in this list only:
 *
 *   plan.c       ordered operations
 *   loss.c       sets that are lost, and the words for units in sentences
 *   look.c       who counts on a unit, by what its controls hold (look.h)
 *   entries.c    registers in the journal of the node (held.h)
 *   unfreeze.c   what lets a unit or a socket go on
 *   reclaim.c    what ended processes have left
 *   claim.c      sets get their counters and settings
 *   registers.c  sets that are counted by registers
 *   driver.c     sets that the kernel's driver counts
 *   read.c       one look at counters
 *   sets.c       sets that start and stop together, each by who counts for us
 *   check.c      whether what was read is ours, and counts
 *   run.c        passes: what begins together, changes, and is tried again
 *   watch.c      what is done in time
 *   counting.c   sessions begin and end to count by a run
 *   counters.c   all that count on the machine, and who (counters.h)
 *   release.c    what nobody needs any more is freed
 */
#ifndef UNC_INSIDE_H
#define UNC_INSIDE_H

#include <errno.h>

#include "units/held.h"

/* Who counts for us on units. A third one is one file, and a row of unc_providers. NULL: nothing is to be
 * done. Work on a batch is on sets that are its own. */
struct unc_provider {
	/* What the set needs on its unit, beside what is there: its counters get registers. */
	int (*claim)(struct unc_run *, struct unc_set *, struct unc_error *);
	/* They begin to count. Those that cannot are left out (unc_set_leave()), and nothing of them is
	 * held; an error is one of all: of memory. */
	int (*start)(struct unc_run *, const struct unc_batch *, struct unc_error *);
	/* Fills in reads of its counters. */
	int (*reads)(struct unc_run *, struct unc_set *, struct unc_reg_op *, struct unc_error *);
	/* After a look: for how long it counted. NULL: from look to look. */
	void (*timed)(struct unc_set *, const struct unc_reg_op *);
	/* Loses a set that is not ours any more. */
	void (*compare)(struct unc_run *, struct unc_set *);
	/* Loses a set beside which somebody has begun to count who may stop it: then it is `shared`. */
	void (*neighbours)(struct unc_run *, struct unc_set *);
	/* Room for all that stopping needs: UNC_ERR_MEMORY, and nothing is done. */
	int (*ready)(struct unc_run *, const struct unc_batch *, struct unc_error *);
	/* They end, and what was found is restored; nothing is held any more. */
	int (*stop)(struct unc_run *, const struct unc_batch *, struct unc_error *);
	/* They end where the lock of the node is not to be had; in a forked process: only memory is given
	 * back. */
	void (*abandon)(struct unc_run *, const struct unc_batch *);
	void (*forget)(struct unc_set *);
	/* Tells what a phase does. */
	int (*show)(struct unc_run *, const struct unc_batch *, enum unc_phase, unc_operation_fn fn,
		    void *user, struct unc_error *err);
	bool (*gone)(int error); /* errno of a read that no later one makes good */
	/* What a read is about; why it failed, for this once and where all did. */
	const char *(*subject)(const struct unc_run *, const struct unc_set *);
	int (*fail_unread)(const struct unc_run *, const struct unc_set *, struct unc_error *err);
	int (*fail_read)(const struct unc_run *, const struct unc_set *, const struct unc_reg_op *,
			 struct unc_error *err);
};

extern const struct unc_provider unc_registers, unc_kernel;
enum { UNC_N_PROVIDERS = 2 };
extern const struct unc_provider *const unc_providers[UNC_N_PROVIDERS];

/* ---- plan.c: prepares and runs a plan; an operation that failed is named. */
int unc_plan_run(struct unc_platform *, struct unc_plan *, const char *what, struct unc_error *err);
/* The same if building it ended well (rc is 0), and frees it either way. */
int unc_plan_run_once(struct unc_platform *, struct unc_plan *, int rc, const char *what,
		      struct unc_error *err);
/* The sentence of the first operation that has failed. */
int unc_plan_fail(const struct unc_platform *, const struct unc_plan *, const char *what,
		  struct unc_error *err);
/* Runs writes that restore. One that fails is tried again, whatever else is there. */
int unc_plan_restore(struct unc_platform *, struct unc_plan *, struct unc_error *err);

/* Bits of a register that show what was written to them: others may be written only, or do something
 * once. */
uint64_t unc_readback_mask(const struct unc_table *, const struct unc_instance *, uint16_t reg,
			   uint64_t value);

/* ---- loss.c */

/* "cbo3 (socket 1)" */
struct unc_unit_name {
	char text[64];
} unc_unit_name(const struct unc_platform *, const struct unc_instance *);
/* " = cha.TOR_INSERTS:IA", where the control (with n filters that are known) is one of our
 * events; "" where not. */
const char *unc_unit_event_text(const struct unc_platform *, const struct unc_instance *,
				uint64_t ctl, const struct unc_code_filter *, size_t n, char *buf,
				size_t size);
/* A set means nothing from now on: its totals go back to the last good comparison. */
void unc_set_lose(struct unc_run *, struct unc_set *, const struct unc_error *why);
/* One that cannot be had, of a start; an error is one of all that start: of memory. */
int unc_set_leave(struct unc_run *, struct unc_set *, const struct unc_error *why,
		  struct unc_error *err);
/* It could not be read, or a control of it, for this once. */
void unc_set_unread(struct unc_run *, struct unc_set *, uint16_t reg, const struct unc_reg_op *);
/* Its unit does not count. */
void unc_set_lose_frozen(struct unc_run *, struct unc_set *);
void unc_set_lose_slept(struct unc_run *, struct unc_set *); /* the machine was suspended */
static inline int unc_op_errno(const struct unc_reg_op *op)
{
	return op->errno_value ? op->errno_value : EIO;
}
/* The control register of a counter; UNC_NONE: it has none. */
uint16_t unc_counter_control(const struct unc_platform *, const struct unc_set_counter *);
unsigned unc_code_width(const struct unc_table *, const struct unc_code *);
/* Whether a set counts by controls, and not always. */
bool unc_set_is_programmed(const struct unc_platform *, const struct unc_set *);
double unc_code_most(const struct unc_code *, uint64_t ns); /* that it can count in a time */

/* ---- unfreeze.c. Lets a unit go on that is frozen, or may be: one that nobody counts on, or whose holder has ended
 * and left this entry; then unit control is restored as well, where nobody else counts. */
int unc_unit_go_on(struct unc_platform *, const struct unc_instance *,
		   const struct unc_journal_entry *orphan, struct unc_error *err);
/* Lets a socket go on where nobody but this run counts. 1: it could be; 0; or an error of memory. */
int unc_socket_go_on(struct unc_run *, unsigned socket, struct unc_error *err);

/* ---- claim.c: an event on a unit, by registers. */
int unc_claim_registers(struct unc_run *, struct unc_set *, struct unc_error *err);

/* ---- read.c: where counting begins, the first look at one set. */
void unc_set_base(struct unc_run *, struct unc_set *);

/* ---- check.c: clocks, the lock of the node held. For sets of the running pass, those of `every` pass
 * too; what stands where it begins is lost. Whether a socket was let go: what counts there begins now. */
bool unc_clocks_start(struct unc_run *, bool every);
/* Before sets of the pass take all counters of a type: whether it has one that moves. */
void unc_clocks_before(struct unc_run *, bool every);
void unc_clocks_stop(struct unc_run *, bool every);
/* The clock that speaks for a set; NULL: there is none. */
struct unc_clock *unc_clock_of(struct unc_run *, const struct unc_set *);
/* Whether counter k of a set counts a clock of its type: with a threshold it is none. */
bool unc_counts_clock(const struct unc_run *, const struct unc_set *, size_t k);

/* ---- sets.c. What cannot be had is left out: its state tells. */
int unc_sets_start(struct unc_run *, struct unc_batch *, struct unc_error *err);
int unc_sets_stop(struct unc_run *, const struct unc_batch *, struct unc_error *err);
/* What a stop needs is prepared: it has no need of memory then. */
int unc_sets_ready(struct unc_run *, const struct unc_batch *, struct unc_error *err);
/* held: they have been claimed. */
int unc_sets_show(struct unc_run *, struct unc_batch *, bool held, enum unc_phase,
		  unc_operation_fn fn, void *user, struct unc_error *err);

/* ---- run.c, the lock of the node and of the run held */

/* Sets that `take` says, in the one array that a run has for them: of use until the next call. */
struct unc_batch unc_run_gather(struct unc_run *,
				bool (*take)(const struct unc_run *, const struct unc_set *));
bool unc_set_begins(const struct unc_run *, const struct unc_set *);  /* in the running pass, now */
bool unc_set_is_held(const struct unc_run *, const struct unc_set *); /* registers may be its */
/* Nothing is known of a start before. */
void unc_run_clear(struct unc_run *);
void unc_run_free(struct unc_run *); /* nobody has it */
int unc_run_begin(struct unc_run *, struct unc_error *err);
/* One more session, of a run that counts. */
int unc_run_join(struct unc_run *, struct unc_error *err);
int unc_run_stop_all(struct unc_run *, struct unc_error *err);

#endif
