/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside units/: who counts for us there. Calls go up in this list only:
 *
 *   plan.c         ordered operations
 *   units.c        slots and their registers, and the words for units in sentences
 *   run.c          plans are run
 *   occupancy.c    who counts on a unit, by what its controls hold (occupancy.h)
 *   entries.c      registers in the journal of the node
 *   loss.c         slots that mean nothing any more (loss.h)
 *   join.c         what another session counts already
 *   frozen.c       whether a unit or a socket is frozen, and what lets it go on
 *   reclaim.c      what ended processes have left
 *   settings.c     settings of registers for slots (this and the next three: registers.h)
 *   witness.c      whether units count
 *   verify.c       whether what was read is ours
 *   clocks.c       whether units were frozen meanwhile
 *   registers.c    units that are counted by their registers
 *   driver_check.c whether units count that the kernel's driver counts for us
 *   driver.c       these
 *   turn.c         what goes on when the turn changes
 *   claim.c        units are looked at, and slots get their counters
 *   read.c         counters are read
 *   verbs.c        a start and a stop, step by step
 *   counters.c     all that count on the machine, and who (counters.h)
 *   release.c      what nobody needs any more is freed
 */
#ifndef UNC_INSIDE_H
#define UNC_INSIDE_H

#include <errno.h>

#include "units/claim.h"
#include "units/loss.h"
#include "units/entries.h"

struct unc_occupancy;
enum { UNC_FASTEST_PER_NS = 5 }; /* no uncore clock is faster */
/* What is compared: some controls, in turn; those of suspects, too; and these have to show that
 * they count; all, for the last time, and all have to, as where counting begins. */
enum unc_check_kind { UNC_IN_TURN, UNC_SUSPECTS, UNC_PROVE, UNC_LAST, UNC_FIRST };

/* What units have to do at a start and at a stop, in this order (verbs.c). */
enum unc_step {
	UNC_OPEN,    /* what has to be there before they can be read; on error nothing of it is */
	UNC_BEGIN,   /* they begin to count */
	UNC_SHOW,    /* and show that they do */
	UNC_READY,   /* room for all that stopping needs, before anything is done */
	UNC_SETTLE,  /* after the last look: what is restored, and what is not ours to restore */
	UNC_END_ALL, /* they end, and what was found is restored; nothing is held any more */
	UNC_STEPS
};

/* Each but look and claim works on claim[first] and those behind it that are its own. NULL:
 * nothing is to be done. */
struct unc_unit_methods {
	/* Reads a unit before it is touched: its controls, and the filters of n slots. */
	int (*look)(struct unc_units *, const struct unc_instance *, const uint32_t *slots,
		    size_t n, struct unc_plan *found, struct unc_error *);
	/* What its slots need there, beside those of `o`. */
	int (*claim)(struct unc_units *, struct unc_claim *, const struct unc_assignment *,
		     const struct unc_occupancy *o, const struct unc_plan *found,
		     struct unc_error *);
	/* Appends prepared reads of what counts always, or what takes turns; slot[k]: what
	 * operation k reads. */
	int (*read)(struct unc_units *, enum unc_extent, struct unc_plan *, uint32_t *slot,
		    struct unc_error *);
	/* After a read: for how long the slot counted. */
	void (*timed)(struct unc_units *, struct unc_slot *, const struct unc_reg_op *);
	/* Marks slots that are not ours any more, or, from UNC_PROVE on, do not count. */
	int (*check)(struct unc_units *, size_t first, enum unc_check_kind, struct unc_error *);
	/* Of a start and of a stop: enum unc_step. */
	int (*take[UNC_STEPS])(struct unc_units *, size_t first, struct unc_error *);
	/* In a forked process: only memory is given back. */
	void (*forget)(struct unc_units *);
	/* Tells what a phase does. */
	int (*show)(struct unc_units *, enum unc_phase, unc_operation_fn fn, void *user,
		    struct unc_error *);

	bool (*gone)(int error); /* errno of a read that no later one makes good; NULL: none */
	/* What a read of a slot is about; why it failed, once and where all did. */
	const char *(*subject)(const struct unc_units *, const struct unc_slot *);
	int (*fail_unread)(const struct unc_units *, const struct unc_slot *, uint16_t reg,
			   int error, struct unc_error *);
	int (*fail_read)(const struct unc_units *, const struct unc_slot *,
			 const struct unc_reg_op *, struct unc_error *);
};

extern const struct unc_unit_methods unc_registers, unc_driver;

/* ---- units.c */

/* The span of a slot is its own from now on; what is read between two stamps has one, where nothing
 * takes turns. */
void unc_slot_part(struct unc_units *, struct unc_slot *);
void unc_units_find_leaders(struct unc_units *);
/* What is read between other stamps than its leader now, or before it, parts from it. */
void unc_units_part_reads(struct unc_units *);
/* Behind the last read of the unit that read[first] is of. */
size_t unc_units_reads_end(const struct unc_units *, size_t first);

static inline uint32_t unc_units_number(const struct unc_units *s, const struct unc_instance *u)
{
	return (uint32_t)(u - s->platform->instances.unit);
}
static inline struct unc_wanted *unc_units_wanted(const struct unc_units *s,
						  const struct unc_instance *u)
{
	return &s->wanted[unc_units_number(s, u)];
}
static inline const struct unc_instance *unc_slot_unit(const struct unc_units *s,
						       const struct unc_slot *slot)
{
	return &s->platform->instances.unit[slot->instance];
}
static inline int unc_op_errno(const struct unc_reg_op *op)
{
	return op->errno_value ? op->errno_value : EIO;
}
/* Counter register of a slot, once a programmable one has been assigned. */
uint16_t unc_slot_register(const struct unc_table *, const struct unc_slot *, unsigned counter);
/* Bit i: a slot has to count in turn i. */
static inline uint64_t unc_units_turns(const struct unc_units *s, const struct unc_slot *slot)
{
	return s->wanted[slot->instance].always ? UINT64_MAX : slot->turns;
}
/* What a slot needs of a filter; NULL: it does not look at it. */
const struct unc_code_filter *unc_slot_filter(const struct unc_slot *, uint16_t reg);
/* Slots of an instance that count now, or in any turn, in the order they were added: at most
 * UNC_MAX_CODES. */
size_t unc_units_slots_of(const struct unc_units *, uint32_t instance, enum unc_extent,
			  uint32_t *out);
/* Slots of an instance, those first that were measured least: the one behind `last`, or NULL. */
struct unc_slot *unc_units_next_short(struct unc_units *, uint32_t instance,
				      const struct unc_slot *last);
/* " = cha.TOR_INSERTS:IA", where the control (with n filters that are known) is one of our
 * events; "" where not. */
const char *unc_unit_event_text(const struct unc_units *, const struct unc_instance *, uint64_t ctl,
				const struct unc_code_filter *, size_t n, char *buf, size_t size);
/* Bits of a register that show what was written to them: others may be written only. */
uint64_t unc_telling_bits(const struct unc_table *, const struct unc_instance *, uint16_t reg,
			  uint64_t value);

/* ---- run.c: prepares and runs a plan; an operation that failed is named. */
int unc_units_run_plan(struct unc_units *, struct unc_plan *, const char *what,
		       struct unc_error *err);
/* The same if building the plan ended well (rc is 0), and frees it either way. */
int unc_units_run_once(struct unc_units *, struct unc_plan *, int rc, const char *what,
		       struct unc_error *err);
/* Reads one register. */
int unc_units_read_one(struct unc_units *, const struct unc_instance *, uint16_t reg,
		       const char *what, uint64_t *value, struct unc_error *err);
/* The sentence of the first operation of a plan that has failed. */
int unc_units_fail_op(const struct unc_units *, const struct unc_plan *, const char *what,
		      struct unc_error *err);
/* Runs writes that restore. One that fails is tried again, whatever else is there. */
int unc_units_restore(struct unc_units *, struct unc_plan *, struct unc_error *err);

/* ---- join.c: bits of a control that do something once, when they are written. */
uint64_t unc_once_bits(const struct unc_table *, const struct unc_tbl_type *);

/* ---- frozen.c: lets a unit go on that is frozen, or may be: one that nobody counts on, or
 * whose holder has ended and left this entry; then unit control is restored as well, where
 * nobody else counts. */
int unc_units_go_on(struct unc_units *, const struct unc_instance *,
		    const struct unc_journal_entry *orphan, struct unc_error *err);
/* Lets those sockets (bits) go on where nobody else counts. 1: some could be; 0; or an error. */
int unc_units_unfreeze(struct unc_units *, uint64_t sockets, struct unc_error *err);

/* ---- claim.c: the claim on an instance; NULL: there is none. */
struct unc_claim *unc_units_claimed(const struct unc_units *, const struct unc_instance *);
/* Units that go on when the turn changes come first. */
void unc_units_sort(struct unc_units *);
/* Those of which something is lost that is due become claims once more. Before, what counts still
 * there is freed, to be claimed anew with the rest: it misses the moment between. */
void unc_units_free_due(struct unc_units *);
int unc_units_claim_again(struct unc_units *, struct unc_error *err);

/* ---- turn.c: the programmable counter of a slot, as a bit; 0: it has another. */
uint32_t unc_units_counter_bit(const struct unc_units *, const struct unc_slot *);
/* How many counters may be used by what does not have to count in a turn, and all beside it. */
size_t unc_units_usable(const struct unc_units *, uint32_t instance);
/* The turn ends, or all: marks what stays of claim[first] and those behind it, and takes what does
 * not out of the claims; the marks of claims are forgotten where the next one has begun. */
void unc_units_mark_staying(struct unc_units *, enum unc_extent, size_t first);
void unc_units_drop_ended(struct unc_units *, size_t first);
void unc_units_unmark(struct unc_units *, size_t first);

/* ---- the kernel's driver: by what the units count, each by one owner. */
void unc_driver_choose(struct unc_units *);
/* driver_check.c: whether what it (`self`) counts on claim[first] and those behind it has moved, or
 * their sockets or types stand: then they are lost, but where they begin to count those go on that
 * can. Before: those that leave no counter for a clock. */
void unc_driver_prove_full(struct unc_units *, const struct unc_unit_methods *self, size_t first);
int unc_driver_prove(struct unc_units *, const struct unc_unit_methods *self, size_t first,
		     enum unc_check_kind);

#endif
