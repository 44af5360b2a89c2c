/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that are wanted, and who owns them.
 *
 * A session wants counters of units: slots, each in some of those that take turns. It claims
 * the units of a turn, starts them, reads and checks them, and stops them again; `struct unc_units`
 * is all that it wants. What the counts mean, and how long a turn is, the session knows alone.
 *
 * The life of a counter. Under the lock of the node (unc_units_lock) first comes what ended
 * processes have left (unc_units_reclaim). Then each wanted unit is looked at: who else counts
 * there, and what another session of this user counts already, which is joined. The scheduler gives each slot its counter, and the unit its settings: that is
 * its claim (unc_units_claim). What was found in each register gets an entry in the journal of the node
 * before anything is written, so that whoever comes after a process that was killed can restore it.
 * Then the registers are written in the order that the tables tell, and read back; each unit has to
 * show that it counts, for a frozen one gives values like any other (unc_units_start). The first
 * look at the counters is where counting begins, and the lock is given up.
 *
 * A read runs one flat array of operations (unc_units_read). Each slot has what it counted, when it
 * was read and for how long it ran, and that it was read, or was not for this once (unread), or
 * means nothing any more (lost), and why. From time to time the controls are compared with what was
 * written, and the units show again that they count (unc_units_check): who takes a counter from us,
 * or freezes it, makes its slots lost. At the end (unc_units_stop) counters are read and compared
 * for a last time, and what was found is restored, but for what another session needs still, what
 * is no longer ours, and what the kernel's driver may have taken meanwhile.
 *
 * Who counts for us on a unit is one of two owners (struct unc_unit_methods): its registers
 * (registers.c), or the kernel's own driver (driver.c), which owns the registers and gets the event
 * itself. Nobody but its own files knows which.
 *
 * Private to session/ and doctor/: what is behind it is in inside.h.
 */
#ifndef UNC_UNITS_H
#define UNC_UNITS_H

#include <limits.h>

#include "platform/platform.h"
#include "units/plan.h"
#include "units/slot.h"

struct unc_claim;
struct unc_setting; /* claim.h */
struct unc_unit_methods;

enum { UNC_END = -1 };
enum unc_extent { UNC_TURN, UNC_ALL }; /* what takes turns alone, or all that counts */

/* A unit of the machine, as far as it is wanted. */
struct unc_wanted {
	int head;                          /* first slot, UNC_END */
	const struct unc_unit_methods *by; /* who counts for us there, since counting began */
	bool always;         /* all that is wanted there fits at once: it takes no turns */
	enum {               /* whether it is ours to count on now: */
	       UNC_FREE = 0, /* no: left out, its turn is over, or something of it is due */
	       UNC_CLAIMED,  /* yes */
	       UNC_TRIED     /* yes, and what was lost there is tried again: until it is taken up,
			      * or something is lost once more; then UNC_CLAIMED */
	} claimed;
	enum unc_proof { /* whether it counts, since counting began */
			 UNC_UNPROVEN,
			 UNC_COUNTS,
			 UNC_STANDS,  /* nothing drives it, others of its type count: 0 is true */
			 UNC_UNSHOWN, /* for a while nothing has shown whether it counts */
			 UNC_DARK     /* nothing has yet: all of its type may stand */
	} proof;
	int slow; /* the last two: per cent that a clock of the socket counted; -1: none tells */
	bool ran; /* its clock did, before its counters were all taken */
	bool suspect; /* nothing of it has moved, or not as fast as before: witness.c */
	uint64_t again_ns, wait_ns;   /* when it may be; that was waited for it */
	struct unc_left *left;        /* once something was lost there: how that is told */
	struct unc_setting *settings; /* room of its claim */
	uint64_t without;             /* for the session alone: session->asked */
};

struct unc_left {
	struct unc_unit told;
	struct unc_error reason; /* of told */
	struct unc_error out;    /* why it is left out of a turn */
};

/* What one session wants of the units of its machine. */
struct unc_units {
	struct unc_platform *platform;
	struct unc_wanted *wanted; /* of each instance */
	struct unc_slot *slot;
	size_t n_slots;
	unsigned turn, n_turns; /* the one that counts */

	/* since the start: */
	bool programs; /* registers were programmed: others have to know */
	bool changed;  /* so was a control by somebody else, after the look at it */
	bool flawed;   /* a slot was lost, not read, not proven, or others had its counter */
	struct unc_error failed; /* of the first unit that was left out */
	uint64_t place; /* where counters begin, by chance; 0: nobody else is on the machine */
	enum { UNC_IDLE, UNC_TOUCHED } state; /* whether there is something to be stopped */
	uint64_t read_ns, read_width;         /* the last look at counters: how long it took */
	uint64_t turn_ns;  /* by which all that takes turns was measured more; UINT64_MAX: none */
	uint64_t usual_ns; /* that one took for each unit: the shortest; 0: not known */
	uint64_t interval_ns; /* where the interval began that the next one ends; 0: none did */
	uint64_t verified_ns, shown_ns, proven_ns; /* controls were compared, counters, units */
	uint64_t check_ns;       /* that a check is about: the last look, or now */
	size_t next_check;       /* whose controls are compared next */
	struct unc_claim *claim; /* those that go on when the turn changes come first */
	size_t n_claims;
	struct unc_reg_op *read; /* the read plan, one operation for each slot that counts: */
	uint32_t *read_slot;     /* first those that count always, then those of the turn */
	size_t n_reads, n_always;
	struct unc_stamp {    /* of a look: when operations of a unit, or of a few, began, */
		size_t first; /* the first of which is this */
		uint64_t ns;
	} * stamp; /* behind the last: when it ended */
	struct {   /* of a type, as encoded last: for witness.c alone */
		const struct unc_tbl_event *event;
		struct unc_code code;
		int failed; /* why it is none */
	} clock;
	struct unc_plan check;   /* reads of controls and filters */
	struct unc_plan restore; /* what a stop writes, once it is known: */
	int unrestored;          /* why nothing of it can be */
};

static inline struct unc_span *unc_slot_span(const struct unc_units *s, const struct unc_slot *slot)
{
	return &s->slot[slot->leader].span;
}

/* units.c. Nothing is wanted yet. UNC_ERR_MEMORY; UNC_ERR_STATE: of another process. */
int unc_units_init(struct unc_units *, struct unc_platform *);
unsigned unc_slot_width(const struct unc_table *, const struct unc_slot *);
double unc_slot_most(const struct unc_slot *, uint64_t ns); /* that it can count in a time */
/* The control register of an active slot; UNC_NONE: it has none. */
uint16_t unc_units_control(const struct unc_units *, const struct unc_slot *);
/* Whether a slot counts in the running turn. */
bool unc_units_active(const struct unc_units *, const struct unc_slot *);
/* "cbo3 (socket 1)" */
struct unc_unit_name {
	char text[64];
} unc_unit_name(const struct unc_units *, const struct unc_instance *);
/* frozen.c: what unit control says that holds this (NULL: it was not read): enum unc_unit_state;
 * -1: that cannot be known. */
int unc_unit_frozen(const struct unc_table *, const struct unc_instance *, const uint64_t *control);

/* entries.c. Where processes of the node know of each other, and whether that may be made; false: a
 * simulated machine has nobody beside this process. */
bool unc_units_run_folder(const struct unc_platform *, char dir[PATH_MAX], bool *make);
/* Held while registers are looked at and programmed: nobody else of the node does so
 * meanwhile. patience: as unc_journal_lock(). */
enum { UNC_START_PATIENCE = 1, UNC_STOP_PATIENCE = 5 };
int unc_units_lock(struct unc_units *, unsigned patience, struct unc_error *err);
void unc_units_unlock(struct unc_units *);
/* Where it could not be stopped: what it has programmed is as a killed process leaves it. Without the
 * lock. */
void unc_units_abandon(struct unc_units *);
/* The same under the lock. */
void unc_units_drop(struct unc_units *);

/* reclaim.c, the lock held. Restores what ended processes of this user have left, anywhere on the node,
 * as far as it can be reached: what is in the way of what is wanted at once, and the rest soon; or all at once. */
int unc_units_reclaim(struct unc_units *, bool all, struct unc_error *);

/* verbs.c. The lock is held for the first four. Units of the turn that are not claimed yet, or
 * all where counting begins, are looked at and get their settings. */
int unc_units_claim(struct unc_units *, enum unc_extent, struct unc_error *err);
/* They are claimed, programmed, and have shown that they count. A unit that fails is left out: what
 * it had to count in this turn is lost. UNC_ERR_MEMORY, UNC_ERR_STATE. */
int unc_units_start(struct unc_units *, enum unc_extent, struct unc_error *err);
/* What a start has begun that has failed, or the look behind it, is ended. */
void unc_units_cancel(struct unc_units *);
/* Goes on after a failed access: what can be restored is. The first error. UNC_ERR_MEMORY:
 * nothing is done, and all is as before: it can be tried again. */
int unc_units_stop(struct unc_units *, enum unc_extent, struct unc_error *err);
/* Where the lock is not to be had: after a last look what it has programmed is as a killed process leaves
 * it. */
void unc_units_give_up(struct unc_units *);
/* Tells what a phase does. */
int unc_units_show(struct unc_units *, enum unc_phase, unc_operation_fn fn, void *user,
		   struct unc_error *err);
/* Reads what read[first] and those behind it stand for, and takes what they have counted. An
 * error if none could be read. */
int unc_units_read(struct unc_units *, enum unc_extent, struct unc_error *err);
/* Takes up again what was lost, of units where that is due and which can be had, if nobody has the
 * lock. Whether the next look is where some begin to count. */
bool unc_units_take_again(struct unc_units *);
/* What was taken up again is not lost any more. */
void unc_units_tell_back(struct unc_units *);
/* What was not read in the last look, which no other can make good, is lost. */
void unc_units_lose_unread(struct unc_units *, enum unc_extent);
/* clocks.c, after a look at read[first] and those behind it: marks units whose clocks show that
 * they did not count all of the time. */
void unc_units_compare_clocks(struct unc_units *, size_t first);
/* Marks what is not ours any more, or does not count, if that was not done a moment ago. ns: the last
 * look, or now. */
int unc_units_check_due(struct unc_units *, uint64_t ns, struct unc_error *err);
/* All that was counted; the next look counts from the last one. */
void unc_units_forget(struct unc_units *);
/* In a forked process as well: there only memory is given back. */
void unc_units_free(struct unc_units *);

#endif
