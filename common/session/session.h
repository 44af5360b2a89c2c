/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside a session.
 *
 *   item     what the user added: an event or a metric
 *   measure  an event on all the units it is summed over, in one pass
 *   slot     one counter of one unit in one pass; equal ones are shared
 *   pass     what is counted at the same time
 *
 * Calls go up in this list only:
 *
 *   session_slot.c    slots and their registers
 *   session_run.c     plans are run
 *   session_loss.c    slots that mean nothing any more
 *   session_ledger.c  what is noted of registers, for all sessions of the node
 *   session_join.c    what another session counts already
 *   session_bury.c    what the dead have left
 *   session_items.c   what is measured, and whether it fits; session_add.c adds it
 *   session_socket.c  what is of a whole socket
 *   session_clock.c   clocks that tell whether units count
 *   session_kernel.c  units that the kernel's driver counts for us
 *   session_frozen.c  whether these count
 *   session_units.c   units are looked at, and get their settings
 *   session_prove.c   whether units count
 *   session_verify.c  whether what was read is ours
 *   session_read.c    counters are read, and become values
 *   session_watch.c   who looks in before they wrap
 *   session_program.c counters are programmed, and what was found is put back
 *   session.c         creation and end
 *   counters.c        all that count on the machine, and who (counters.h)
 *   release.c         what nobody needs any more is freed
 *
 * A guest of a session takes part by hooks: sampling (session_trigger.c, session_sample.c), which
 * ends intervals at overflows.
 */
#ifndef UNC_SESSION_H
#define UNC_SESSION_H

#include <pthread.h>

#include "encode/event.h"
#include "encode/expr.h"
#include "encode/schedule.h"
#include "host/ledger.h"
#include "platform/platform.h"
#include "session/plan.h"

enum { UNC_END = -1, UNC_MEASURE_MEAN = UNC_AGGREGATE_SOCKET + 1 };

/* Whether a unit counts. */
enum unc_proof {
	UNC_UNPROVEN,
	UNC_COUNTS,
	UNC_STANDS,  /* it cannot be frozen: nothing drives it, and 0 is true */
	UNC_DOUBTFUL /* somebody else counts there and may have frozen it */
};

/* Why what a slot has counted means nothing. */
enum unc_loss_kind {
	UNC_LOST_NOT,
	UNC_LOST_CONTROL, /* its control holds `value` */
	UNC_LOST_FILTER,  /* a filter that it looks at does */
	UNC_LOST_UNIT,    /* unit control does */
	UNC_LOST_KIND,    /* the control of another counter does, with which it cannot count */
	UNC_LOST_FROZEN,  /* the unit does not count */
	UNC_LOST_CLEARED, /* it went back, or too far: by `value` */
	UNC_LOST_START,   /* it holds `value` right after it was set to something else */
	UNC_LOST_ONES,    /* it reads as all ones */
	UNC_LOST_UNREAD,  /* it could not be read, errno `value`, where its turn began or ended */
	UNC_LOST_WRAP     /* it was not read for `value` ns, and may have wrapped in them */
};

struct unc_loss {
	uint8_t why;
	uint16_t reg; /* index into table->reg */
	uint64_t value;
};

/* Time in ns of an event that the kernel counts: it did, and others had its counter meanwhile. */
struct unc_kernel_time {
	uint64_t ran, idle;
};

struct unc_slot {
	struct unc_code code;
	uint32_t instance; /* index into platform->instances */
	uint32_t name;     /* the measure that made it, for sentences */
	int next;          /* next slot of the same instance, UNC_END */
	uint16_t pass;
	uint16_t ctr;         /* counter register (index into table->reg), once started */
	uint64_t mask;        /* all ones in the counter's width */
	uint64_t start;       /* what its counter was set to; 0: it was left as it was */
	uint64_t last;        /* as read last */
	uint64_t seen_ns;     /* when */
	uint64_t total;       /* counted since start or reset */
	uint64_t reported;    /* total at the last read by the user */
	uint64_t delta;       /* counted in the last interval */
	bool begin;           /* programmed, and not read since */
	int16_t unread;       /* errno of a read that failed; the next may be right again */
	uint16_t unread_reg;  /* of what: the counter, or what tells whether it is ours */
	bool missed, late;    /* unread at the end of its last interval; at the beginning of it */
	struct unc_loss lost; /* until the session starts anew */
	struct {              /* where the kernel counts it: */
		uint8_t pmu, event;          /* its place in the groups of the unit */
		struct unc_kernel_time last; /* as read last */
		struct unc_kernel_time total, reported, delta; /* as the counts of these names */
		uint64_t shown; /* total, when it was last looked at to see that the unit counts */
	} kernel;
};

/* A unit that belongs to a measure and cannot be read. */
struct unc_missing {
	uint32_t instance;
	struct unc_unit *told; /* for this event alone; NULL: as the platform tells it */
};

struct unc_measure {
	char *name; /* canonical text */
	uint32_t *slot;
	struct unc_missing *missing;
	uint32_t n_slots, n_missing;
	uint16_t pass;
	uint8_t aggregate;   /* UNC_AGGREGATE_* or UNC_MEASURE_MEAN */
	bool stays, rotates; /* slots of it count always; in their pass only */
};

struct unc_session_item {
	int metric;        /* index into table->metric, -1 for an event */
	uint32_t *measure; /* one for an event; one for each reference of a formula */
	uint32_t n_measures;
	struct unc_expr *expr;
	double memory_peak; /* for the formula */
	unsigned units, of; /* that are measured, that it is about */
	unsigned doubtful;  /* of the first: they may be frozen */
	uint64_t passes;    /* bit i: pass i is part of it */
	uint64_t waits;     /* of these, those that it is not measured in always */
	uint64_t seen;      /* of these, those that were measured since the item was complete */
	double complete;    /* wall time when it was */
	double interval;    /* its last interval: from complete to complete, seconds */
	bool fresh;         /* which ended with the last read */
	unsigned last_pass;
};

enum { UNC_MAX_PASSES = 64 };

struct unc_pass {
	double time; /* seconds counted since start or reset */
	double reported;
	double delta; /* of the last interval */
	bool begun;   /* its turn has begun since the last interval ended */
};

struct unc_session;
struct unc_sample; /* sample.h */

/* What a guest does in the life of a session. */
struct unc_session_hooks {
	/* Units are prepared; their settings may still change. On error what it began is left to
	 * `end`. */
	int (*prepare)(struct unc_session *, struct unc_error *);
	/* They are about to be programmed. */
	int (*begin)(struct unc_session *, struct unc_error *);
	/* Around the first look: holds all, and lets the first interval begin for all at once. */
	int (*hold)(struct unc_session *, struct unc_error *);
	int (*go)(struct unc_session *, struct unc_error *);
	/* What was found has been put back. */
	int (*release)(struct unc_session *, struct unc_error *);
	/* Adds what it writes behind the operations of a phase, once units are prepared. */
	int (*plan)(struct unc_session *, enum unc_phase, struct unc_plan *, struct unc_error *);
	/* The last, whatever came of the others. */
	void (*end)(struct unc_session *);
	/* Whether it is of the guest that the unit, whose unit control holds this, has frozen;
	 * NULL: that any unit may freeze. */
	bool (*freezes)(const struct unc_session *, const struct unc_instance *, uint64_t control);
};

struct unc_session {
	struct unc_platform *platform;
	unsigned flags;
	struct unc_error error;
	struct unc_session_item *item;
	size_t n_items;
	struct unc_measure *measure;
	size_t n_measures;
	struct unc_slot *slot;
	size_t n_slots;
	int *head;      /* first slot of each instance, UNC_END */
	uint8_t *proof; /* of each instance: enum unc_proof, since counting began */
	/* of each instance: as unc_session_missing() tells it; NULL: none was */
	struct unc_unit *doubtful;
	bool *always;    /* of each instance: all that it counts fits at once; it takes no part in
			      passes */
	bool *by_kernel; /* of each instance, since counting began: the kernel's driver counts */
	bool *moves;     /* of each instance: a counter of it has moved in the proof under way */
	struct unc_pass pass[UNC_MAX_PASSES];
	unsigned n_passes;
	double *scratch; /* one value for each reference of the largest formula */
	size_t n_scratch;

	const struct unc_session_hooks *hooks; /* NULL: no guest */
	int sampled;                           /* sampling: item */
	uint64_t every;                        /* counts */
	struct unc_sample *sample;             /* while running */

	/* while running */
	pthread_mutex_t lock;
	bool started, running;
	bool programs; /* since the start registers were programmed: others have to know */
	bool holds;    /* it is in the ledger, as: */
	unsigned holder;
	bool flawed;       /* since the start a slot was lost, or could not be read */
	bool final;        /* stopped, and the last interval has been ended */
	bool idled;        /* others of the kernel's users had counters of ours */
	unsigned now;      /* the pass that counts */
	bool begins;       /* no time of the running pass ends with the next look */
	uint64_t since_ns; /* the running pass was looked at last */
	uint64_t start_ns; /* start or reset */
	uint64_t place;    /* where counters begin, by chance; 0: nobody else is on the machine */
	struct unc_pass wall;            /* as of a pass that counts always */
	uint64_t verified_ns, proven_ns; /* its controls were compared, its units shown to count */
	struct unc_plan_unit *unit;      /* programmed units */
	size_t n_units;
	struct unc_reg_op *read; /* the read plan, one operation for each slot that counts: */
	uint32_t *read_slot;     /* first those that count always, then those of the pass */
	size_t n_reads, n_always;
	struct unc_plan check; /* reads of their controls and filters */

	/* the thread that looks in before a counter can wrap twice */
	pthread_t watcher;
	pthread_cond_t wake;
	bool watching, leave;
	double watch_seconds;
};

/* session_slot.c */
/* A call of a program begins: 0, and no sentence is left of the last one; UNC_ERR_STATE with its
 * sentence: the session belongs to the process that this one was forked from. */
int unc_session_enter(struct unc_session *);
/* Counter register and width of a slot, once a programmable one has been assigned. */
uint16_t unc_slot_register(const struct unc_table *, const struct unc_slot *, unsigned counter);
unsigned unc_slot_width(const struct unc_table *, const struct unc_slot *);
/* The control register of an active slot; UNC_NONE: it has none. */
uint16_t unc_session_control(const struct unc_session *, const struct unc_slot *);
/* Whether a slot counts in the running pass. */
bool unc_session_active(const struct unc_session *, const struct unc_slot *);
/* Slots of an instance that count now (or, with `all`, in any pass), in the order they were added:
 * at most UNC_MAX_CODES. Of those that want the same, in several passes, the first stands for all.
 */
size_t unc_session_slots_of(const struct unc_session *, uint32_t instance, bool all, uint32_t *out);
/* The plan unit of an instance; NULL: it is not programmed. */
struct unc_plan_unit *unc_session_unit(const struct unc_session *, const struct unc_instance *);
/* "cbo3 (socket 1)" */
void unc_session_unit_text(const struct unc_session *, const struct unc_instance *, char *buf,
			   size_t size);
/* " = cha.TOR_INSERTS:IA", where the control (with n filters that are known) is one of our events; ""
 * where not. */
const char *unc_session_event_text(const struct unc_session *, const struct unc_instance *,
				   uint64_t ctl, const struct unc_code_filter *, size_t n,
				   char *buf, size_t size);

/* Bits of a control or filter that show what was written to them: others may be written only. */
uint64_t unc_telling_bits(const struct unc_table *, const struct unc_instance *, uint16_t reg,
			  uint64_t value, bool filter);

/* session_run.c: prepares and runs a plan; an operation that failed is named. */
int unc_session_run_plan(struct unc_session *, struct unc_plan *, const char *what,
			 struct unc_error *err);
/* The same, if building it ended well (rc is 0), and frees it either way. */
int unc_session_run_once(struct unc_session *, struct unc_plan *, int rc, const char *what,
			 struct unc_error *err);
/* Runs writes that put back what was found. One that fails is tried again, whatever else is there.
 */
int unc_session_put_back(struct unc_session *, struct unc_plan *, struct unc_error *err);
/* The sentence of the first operation of a plan that has failed. */
int unc_session_fail_op(const struct unc_session *, const struct unc_plan *, const char *what,
			struct unc_error *err);

/* session_loss.c: a slot means nothing from now on. The first cause counts. */
void unc_session_lose(struct unc_session *, struct unc_slot *, enum unc_loss_kind, uint16_t reg,
		      uint64_t value);
/* All slots that count on a unit now. */
void unc_session_lose_unit(struct unc_session *, const struct unc_plan_unit *, enum unc_loss_kind,
			   uint16_t reg, uint64_t value);
/* What tells of a slot could not be read, for this once: `reg`, the counter or a control. */
void unc_session_unread(struct unc_session *, struct unc_slot *, uint16_t reg,
			const struct unc_reg_op *);
/* Of all slots that count on a unit now, but for those that always run. */
void unc_session_unread_unit(struct unc_session *, const struct unc_plan_unit *, uint16_t reg,
			     const struct unc_reg_op *);
/* Why, as a sentence in err. */
void unc_session_loss_text(const struct unc_session *, const struct unc_slot *,
			   struct unc_error *err);
/* Others of the kernel's users had its counter all the time. */
void unc_session_idle_text(const struct unc_session *, const struct unc_slot *,
			   struct unc_error *err);
/* Why its last interval alone means nothing. */
void unc_session_late_text(const struct unc_session *, const struct unc_slot *,
			   struct unc_error *err);

/*
 * session_ledger.c. Held while registers are looked at and programmed: nobody else of the node does
 * so meanwhile. UNC_ERR_BUSY, UNC_ERR_IO.
 */
void unc_session_lock(struct unc_session *);
bool unc_session_try_lock(struct unc_session *); /* false: somebody has it */
void unc_session_unlock(struct unc_session *);
/* The rest needs the lock. The session gets its place in the ledger, and gives it up. */
int unc_session_hold(struct unc_session *, struct unc_error *err);
void unc_session_let_go(struct unc_session *);
/* Where it could not be stopped: what it has programmed is of the dead. Takes the lock itself. */
void unc_session_abandon(struct unc_session *);

/* The record of a register; NULL: there is none. */
bool unc_session_key(const struct unc_session *, const struct unc_instance *, uint16_t reg,
		     struct unc_ledger_key *key);
struct unc_ledger_record *unc_session_record(const struct unc_session *,
					     const struct unc_instance *, uint16_t reg);
/* A session other than this one that lives and holds a record (NULL: none); UNC_LEDGER_NOBODY. */
unsigned unc_session_other(const struct unc_session *, const struct unc_ledger_record *);
bool unc_session_shares(const struct unc_session *, const struct unc_instance *, uint16_t reg);
/* "another session of this program", "pid 123 (stat)", "somebody else" */
const char *unc_session_holder_text(const struct unc_session *, const struct unc_instance *,
				    uint16_t reg, char *buf, size_t size);

/* Notes all settings of n units, before they are programmed: setting->restore becomes what the first
 * who holds each found. */
int unc_session_note(struct unc_session *, struct unc_plan_unit *units, size_t n,
		     struct unc_error *err);
/* That nothing drives a unit that was let go. */
int unc_session_note_standing(struct unc_session *, const struct unc_plan_unit *,
			      struct unc_error *err);
/* The same of the control of a clock that is about to run, and that it does not any more. */
int unc_session_note_lent(struct unc_session *, const struct unc_plan_unit *,
			  struct unc_error *err);
void unc_session_drop_lent(struct unc_session *, const struct unc_plan_unit *);
/* The same of a socket that overflows may freeze; which register stands for that. */
int unc_session_note_socket(struct unc_session *, const struct unc_instance *ubox,
			    struct unc_error *err);
void unc_session_drop_socket(struct unc_session *, const struct unc_instance *ubox);
static inline uint16_t unc_session_socket_reg(const struct unc_tbl_type *type)
{
	return type->has_unfreeze ? type->unfreeze : type->global_status[0];
}
/* Whether the kernel may count on a unit. */
bool unc_session_has_driver(const struct unc_platform *, const struct unc_instance *);
/* Whether others may have the kernel's driver count on the machine. It looks at nobody's controls,
 * and not at its own again: one of ours that it has taken for the same event cannot be told from
 * ours. So nothing is put back on its units, and the records stay, orphaned, for a later start. */
bool unc_session_kernel_counts(const struct unc_session *);
/* Before n units are stopped: sets setting->keep where another session needs it still, and what is
 * put back where none does. */
void unc_session_keep(struct unc_session *, struct unc_plan_unit *units, size_t n);
/* After it: they are not held any more. back: the writes that put them back, what has failed stays
 * as of the dead; NULL: nothing could be put back. */
void unc_session_release(struct unc_session *, struct unc_plan_unit *units, size_t n,
			 const struct unc_plan *back);
/* What was found in a register that holds `now`, with the bits that no session has chosen as they
 * are: those are for strangers to set. */
uint64_t unc_session_as_found(const struct unc_ledger_record *, uint64_t now);

/* session_join.c: counters of other sessions that count what n slots of a unit want; others: who
 * counts there, found: what was read there. */
enum { UNC_NOT_JOINED = 0xff };
void unc_session_join(const struct unc_session *, const struct unc_instance *,
		      const uint32_t *slots, size_t n, const struct unc_others *others,
		      const struct unc_plan *found, uint8_t *counter);
/* A counter that a session lives to read is not free where somebody has cleared its control: set
 * again it would look as if it had counted on. It is added to those of others. */
struct unc_occupancy;
void unc_session_add_cleared(const struct unc_session *, const struct unc_instance *,
			     const struct unc_plan *found, struct unc_occupancy *);
/* Whether only sessions of the ledger count on a unit, of which the first has found that nothing
 * drives it. */
bool unc_session_stands(const struct unc_session *, const struct unc_instance *,
			const struct unc_plan *found);
/* Whether the counter of a slot ends intervals, and is set again each time. */
bool unc_session_sampled(const struct unc_session *, const struct unc_slot *);

/* session_bury.c: puts back what the dead have left, anywhere on the node, as far as it can be
 * reached. */
int unc_session_bury(struct unc_session *, struct unc_error *err);
/* Whether a register that holds `now` holds what its record says: as programmed, or while it was lent. */
bool unc_session_recorded(const struct unc_session *, const struct unc_instance *, uint16_t reg,
			  const struct unc_ledger_record *, uint64_t now);

/* session_items.c */
struct unc_checkpoint {
	size_t items, measures, slots;
	unsigned passes;
};

struct unc_checkpoint unc_session_checkpoint(const struct unc_session *);
void unc_session_roll_back(struct unc_session *, struct unc_checkpoint);
struct unc_session_item *unc_session_new_item(struct unc_session *);
/* An event on its units in one pass. On error the caller rolls back. */
int unc_session_add_measure(struct unc_session *, const struct unc_spec *, unsigned pass,
			    int aggregate, uint32_t *out);
/* Units that an item is about: fn(user, instance, missing) once for each; stops at non-zero.
 * missing: how it is told; NULL: it is not. */
typedef int (*unc_walk_fn)(void *user, uint32_t instance, const struct unc_unit *missing);
int unc_session_walk_units(const struct unc_session *, const struct unc_session_item *,
			   unc_walk_fn fn, void *user);
int unc_session_no_memory(struct unc_session *);

/* session_socket.c: the unit of a socket that has the socket's status; NULL: none. */
const struct unc_instance *unc_session_ubox(const struct unc_session *, unsigned socket);
/* Whether somebody else counts on a unit of the socket: a freeze would be theirs too. */
int unc_session_others(struct unc_session *, unsigned socket, bool *others, struct unc_error *err);
/* Lets those sockets go on where nobody else counts. *any: some could be. */
int unc_session_unfreeze(struct unc_session *, const bool sockets[UNC_MAX_SOCKETS], bool *any,
			 struct unc_error *err);

/* session_clock.c: the first clock of the table that a unit can have, whose slots are given. */
void unc_session_find_clock(struct unc_session *, struct unc_plan_unit *, const uint32_t *slots,
			    size_t n);
/* A unit takes another of its counters, if there is one, where somebody else has taken the one that
 * was to be lent. */
void unc_session_renew_clock(struct unc_session *, struct unc_plan_unit *);

/* Units that have not shown that they count. */
struct unc_suspects {
	struct unc_plan_unit **unit;
	size_t n;
};

enum { UNC_PROOF_NS = 20000 }; /* a clock of 100 MHz makes 2000 steps */
/* Lets a clock run on each suspect for a moment; leaves those where it does not move. */
int unc_session_run_clocks(struct unc_session *, struct unc_suspects *, struct unc_error *err);
/* Whether clocks stand still that other units of a socket, one a type, have to spare: it is frozen. */
int unc_session_socket_stands(struct unc_session *, unsigned socket, bool *stands,
			      struct unc_error *err);

/* session_kernel.c. Chooses by what the units of the session count, each by one method: `by_kernel`.
 * UNC_ERR_UNAVAILABLE: its events need two. */
int unc_session_choose(struct unc_session *, struct unc_error *err);
/* The plan unit of one that the kernel counts: n slots with the counters that they might have. */
int unc_session_kernel_unit(struct unc_session *, struct unc_plan_unit *, const uint32_t *slots,
			    const uint8_t *counter, size_t n, struct unc_error *err);
/* unit[first] and those behind it that the kernel counts begin to; on error none of them does. */
int unc_session_kernel_open(struct unc_session *, size_t first, struct unc_error *err);
/* They end. What was prepared to read them must not be run any more. */
void unc_session_kernel_close(struct unc_session *, size_t first);
/* In a forked process: only memory is given back. */
void unc_session_kernel_forget(struct unc_session *);
/* Appends prepared reads of those that count always, or in their pass: one group after the other.
 * slot[k]: what operation k reads. */
int unc_session_kernel_reads(const struct unc_session *, bool always, struct unc_plan *,
			     uint32_t *slot, struct unc_error *err);
/* What is opened and read, for walking. */
int unc_session_kernel_walk(const struct unc_session *, enum unc_phase, unc_operation_fn fn,
			    void *user);
/* After a read of a slot: for how long it counted. */
void unc_session_kernel_timed(struct unc_session *, struct unc_slot *, const struct unc_reg_op *);

/* session_frozen.c. Whether what the kernel counts on unit[first] and those behind it does count, or
 * their sockets are frozen: then they are lost, but for those that can go on where counting begins. */
int unc_session_kernel_prove(struct unc_session *, size_t first, bool begins,
			     struct unc_error *err);

/* session_units.c: the units that the running pass needs and that are not programmed yet (all,
 * where counting begins) with the settings they need, added to unit[]. */
int unc_session_prepare(struct unc_session *, bool begin, struct unc_error *err);
/* Whether somebody has come since to unit[first] or one behind it that was ours alone, where that
 * matters. */
int unc_session_neighbours(struct unc_session *, size_t first, struct unc_error *err);

/* session_prove.c. After programming: whether unit[first] and those behind it count; sockets that a
 * dead program has left frozen go on. */
int unc_session_prove(struct unc_session *, size_t first, struct unc_error *err);
/* Whether those that did count still do. */
int unc_session_prove_again(struct unc_session *, size_t first, struct unc_error *err);

/* session_verify.c. Before programming: gets ready to read the controls back. */
int unc_session_verify_prepare(struct unc_session *, struct unc_error *err);
/* Right after it: the controls of unit[first] and those behind it are read back; UNC_ERR_BUSY if
 * they do not hold what was written. */
int unc_session_verify_begin(struct unc_session *, size_t first, struct unc_error *err);
/* After a look: marks slots that are not ours any more, or do not count, on unit[first] and those
 * behind it; the latter with `prove`. What is no longer ours is not put back. */
int unc_session_verify(struct unc_session *, size_t first, bool prove, struct unc_error *err);
/* The same, if it was not done a moment ago. */
int unc_session_verify_due(struct unc_session *, struct unc_error *err);

/* session_read.c: one look at the counters, of the running pass alone or of all that count. The
 * lock is held. */
enum unc_look { UNC_LOOK_PASS, UNC_LOOK_ALL };
int unc_session_look(struct unc_session *, enum unc_look, struct unc_error *err);
void unc_session_end_interval(struct unc_session *);
void unc_session_forget(struct unc_session *); /* all that was counted */
/* After a look that no other can make good: what was not read in it, from read[first] on, is lost.
 */
void unc_session_lose_unread(struct unc_session *, size_t first);
/* The most that a slot can count in a time. */
double unc_session_most(const struct unc_slot *, uint64_t ns);
/* What the first n items have counted, in structs of `size` bytes. The lock is held. */
void unc_session_values(struct unc_session *, struct unc_value *values, size_t n, size_t size);

/* session_watch.c: a thread looks in before a counter can wrap twice. */
int unc_session_watch(struct unc_session *, struct unc_error *err);
void unc_session_unwatch(struct unc_session *);

#endif
