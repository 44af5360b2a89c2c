/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside units/. Calls go up in this list only:
 *
 *   plan.c       ordered operations
 *   loss.c       lost sets, and the names of units in sentences
 *   look.c       counters in use on a unit, by what its controls hold (look.h)
 *   entries.c    registers in the journal of the node (held.h)
 *   unfreeze.c   unfreezes a unit or a socket
 *   reclaim.c    restores what ended processes have left
 *   claim.c      sets get their counters and settings
 *   registers.c  sets that are counted by registers
 *   driver.c     sets that the kernel's driver counts
 *   read.c       one look at counters
 *   sets.c       sets that start and stop together, each by its provider
 *   check.c      whether a set still owns its registers, and counts
 *   run.c        passes: start, change and retry
 *   watch.c      the thread that does what is due
 *   counting.c   sessions begin and end to count by a run
 *   counters.c   all counters in use on the machine, and their owners (counters.h)
 *   release.c    frees counters that nobody needs any more
 */
#ifndef UNC_INSIDE_H
#define UNC_INSIDE_H

#include <errno.h>

#include "units/held.h"

/* A provider counts the sets of some units. A third one is one file, and a row of unc_providers.
 * NULL: nothing is to be done. Each batch holds sets of this provider only. */
struct unc_provider {
	/* Gives the counters of a set registers, beside those of others on its unit. */
	int (*claim)(struct unc_run *, struct unc_set *, struct unc_error *);
	/* Starts the sets. A set that cannot start is left out (unc_set_leave()) and holds nothing;
	 * an error concerns all of them: memory. */
	int (*start)(struct unc_run *, const struct unc_batch *, struct unc_error *);
	/* Fills in reads of its counters. */
	int (*reads)(struct unc_run *, struct unc_set *, struct unc_reg_op *, struct unc_error *);
	/* Adds the time that a set counted, after a look. NULL: the time from look to look. */
	void (*timed)(struct unc_set *, const struct unc_reg_op *);
	/* Loses a set that no longer owns its registers. */
	void (*compare)(struct unc_run *, struct unc_set *);
	/* Looks for other programs on the unit of a set that may freeze it: sets `shared` and `foreign`. */
	void (*neighbours)(struct unc_run *, struct unc_set *);
	/* Allocates all that a stop needs: UNC_ERR_MEMORY, and nothing is done. */
	int (*ready)(struct unc_run *, const struct unc_batch *, struct unc_error *);
	/* Stops the sets and restores what was found; they hold nothing afterwards. */
	int (*stop)(struct unc_run *, const struct unc_batch *, struct unc_error *);
	/* Ends the sets without the lock of the node. In a forked process: frees their memory, no more. */
	void (*abandon)(struct unc_run *, const struct unc_batch *);
	void (*forget)(struct unc_set *);
	/* Calls fn with the operations of a phase. */
	int (*show)(struct unc_run *, const struct unc_batch *, enum unc_phase, unc_operation_fn fn,
		    void *user, struct unc_error *err);
	bool (*gone)(int error); /* whether this errno of a read is final */
	/* What a read is about; why it failed, this time and where all failed. */
	const char *(*subject)(const struct unc_run *, const struct unc_set *);
	int (*fail_unread)(const struct unc_run *, const struct unc_set *, struct unc_error *err);
	int (*fail_read)(const struct unc_run *, const struct unc_set *, const struct unc_reg_op *,
			 struct unc_error *err);
};

extern const struct unc_provider unc_registers, unc_kernel;
enum { UNC_N_PROVIDERS = 2 };
extern const struct unc_provider *const unc_providers[UNC_N_PROVIDERS];

/* ---- plan.c: Prepares and runs a plan; the sentence names the operation that failed. */
int unc_plan_run(struct unc_platform *, struct unc_plan *, const char *what, struct unc_error *err);
/* The same if building the plan succeeded (rc is 0). Frees the plan in any case. */
int unc_plan_run_once(struct unc_platform *, struct unc_plan *, int rc, const char *what,
		      struct unc_error *err);
/* Fails with the sentence of the first failed operation. */
int unc_plan_fail(const struct unc_platform *, const struct unc_plan *, const char *what,
		  struct unc_error *err);
/* Runs writes that restore. Retries each failed one, whatever happens to the others. */
int unc_plan_restore(struct unc_platform *, struct unc_plan *, struct unc_error *err);

/* Bits of a register that read back as they were written: other bits may be write-only, or act once. */
uint64_t unc_readback_mask(const struct unc_table *, const struct unc_instance *, uint16_t reg,
			   uint64_t value);

/* ---- loss.c */

/* "cbo3 (socket 1)" */
struct unc_unit_name {
	char text[64];
} unc_unit_name(const struct unc_platform *, const struct unc_instance *);
/* " = cha.TOR_INSERTS:IA", if the control (with n known filters) is one of our events; else "". */
const char *unc_unit_event_text(const struct unc_platform *, const struct unc_instance *,
				uint64_t ctl, const struct unc_code_filter *, size_t n, char *buf,
				size_t size);
/* Loses a set: its totals go back to the last good comparison. */
void unc_set_lose(struct unc_run *, struct unc_set *, const struct unc_error *why);
/* Leaves a set out of a start. Returns an error only if it concerns all sets of the start: memory. */
int unc_set_leave(struct unc_run *, struct unc_set *, const struct unc_error *why,
		  struct unc_error *err);
/* Notes that a set, or one of its controls, could not be read this time. */
void unc_set_unread(struct unc_run *, struct unc_set *, uint16_t reg, const struct unc_reg_op *);
/* Loses a set whose unit does not count. */
void unc_set_lose_frozen(struct unc_run *, struct unc_set *);
void unc_set_lose_slept(struct unc_run *, struct unc_set *); /* the machine was suspended */
static inline int unc_op_errno(const struct unc_reg_op *op)
{
	return op->errno_value ? op->errno_value : EIO;
}
/* The control register of a counter; UNC_NONE: it has none. */
uint16_t unc_counter_control(const struct unc_platform *, const struct unc_set_counter *);
unsigned unc_code_width(const struct unc_table *, const struct unc_code *);
/* Whether a set has a control, so that it does not always count. */
bool unc_set_is_programmed(const struct unc_platform *, const struct unc_set *);
double unc_code_most(const struct unc_code *,
		     uint64_t ns); /* the most that it can count in a time */

/* ---- unfreeze.c. Unfreezes a unit that is, or may be, frozen. Nobody may count on it, or it has `orphan`, the
 * entry of an ended session; then unit control is restored as well, if nobody else counts. */
int unc_unit_go_on(struct unc_platform *, const struct unc_instance *,
		   const struct unc_journal_entry *orphan, struct unc_error *err);
/* Unfreezes a socket if only this run counts there. Returns 1: it was unfrozen; 0: not; or an error of memory. */
int unc_socket_go_on(struct unc_run *, unsigned socket, struct unc_error *err);

/* ---- claim.c: claims counters of a unit by registers. */
int unc_claim_registers(struct unc_run *, struct unc_set *, struct unc_error *err);

/* ---- read.c: the first look at one set, where its counting begins. */
void unc_set_base(struct unc_run *, struct unc_set *);

/* ---- check.c: clocks; the lock of the node is held. Starts clocks for sets of the running pass,
 * and with `every` for those of UNC_EVERY_PASS; loses sets that do not count at their start.
 * Returns whether a socket was unfrozen: its counting begins now. */
bool unc_clocks_start(struct unc_run *, bool every);
/* Before sets of the pass take all counters of a type: notes whether it has a clock that moves. */
void unc_clocks_before(struct unc_run *, bool every);
void unc_clocks_stop(struct unc_run *, bool every);
/* The clock that proves that a set counts; NULL: there is none. */
struct unc_clock *unc_clock_of(struct unc_run *, const struct unc_set *);
/* Whether counter k of a set counts a clock of its type; with a threshold it does not. */
bool unc_counts_clock(const struct unc_run *, const struct unc_set *, size_t k);

/* ---- sets.c. Sets that cannot start are left out, as their state shows. */
int unc_sets_start(struct unc_run *, struct unc_batch *, struct unc_error *err);
int unc_sets_stop(struct unc_run *, const struct unc_batch *, struct unc_error *err);
/* Allocates what a stop needs, so that the stop cannot fail for want of memory. */
int unc_sets_ready(struct unc_run *, const struct unc_batch *, struct unc_error *err);
/* held: the sets are claimed already. */
int unc_sets_show(struct unc_run *, struct unc_batch *, bool held, enum unc_phase,
		  unc_operation_fn fn, void *user, struct unc_error *err);

/* ---- run.c, the lock of the node and of the run held */

/* The sets for which `take` is true, in the one array of the run: valid until the next call. */
struct unc_batch unc_run_gather(struct unc_run *,
				bool (*take)(const struct unc_run *, const struct unc_set *));
bool unc_set_begins(const struct unc_run *, const struct unc_set *);  /* in the running pass, now */
bool unc_set_is_held(const struct unc_run *, const struct unc_set *); /* it may hold registers */
/* Forgets an earlier start. */
void unc_run_clear(struct unc_run *);
void unc_run_free(struct unc_run *); /* nobody has the run */
int unc_run_begin(struct unc_run *, struct unc_error *err);
/* One more session joins a run that counts. */
int unc_run_join(struct unc_run *, struct unc_error *err);
int unc_run_stop_all(struct unc_run *, struct unc_error *err);

#endif
