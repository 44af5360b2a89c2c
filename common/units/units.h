/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that a session wants, and who owns them.
 *
 *   wanted   a unit of the machine on which the set counts
 *   slot     one counter of it that is wanted, in one turn; equal ones are shared
 *   turn     what is counted at the same time
 *
 * Private to session/ and doctor/: what is behind it, inside.h.
 */
#ifndef UNC_UNITS_H
#define UNC_UNITS_H

#include "encode/event.h"
#include "encode/schedule.h"
#include "host/ledger.h"
#include "platform/platform.h"
#include "units/plan.h"

enum { UNC_END = -1 };

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
	const char *name;  /* of who wants it, for sentences */
	int next;          /* next slot of the same instance, UNC_END */
	uint16_t turn;
	bool alone;           /* its counter ends intervals, and is set again each time */
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

/* A unit of the machine, as far as the set wants it. */
struct unc_wanted {
	int head;       /* first slot, UNC_END */
	uint8_t proof;  /* enum unc_proof, since counting began */
	bool always;    /* all that it counts fits at once; it takes no part in turns */
	bool by_kernel; /* since counting began: the kernel's driver counts */
	bool moves;     /* a counter of it has moved in the proof under way */
};

/* What a guest of the session does in the life of its units. */
struct unc_guest {
	/* Units are prepared; their settings may still change. On error what it began is left to
	 * `end`. */
	int (*prepare)(void *host, struct unc_error *);
	/* They are about to be programmed. */
	int (*begin)(void *host, struct unc_error *);
	/* Around the first look: holds all, and lets the first interval begin for all at once. */
	int (*hold)(void *host, struct unc_error *);
	int (*go)(void *host, struct unc_error *);
	/* What was found has been put back. */
	int (*release)(void *host, struct unc_error *);
	/* Adds what it writes behind the operations of a phase, once units are prepared. */
	int (*plan)(void *host, enum unc_phase, struct unc_plan *, struct unc_error *);
	/* The last, whatever came of the others. */
	void (*end)(void *host);
	/* Whether it is of the guest that the unit, whose unit control holds this, has frozen;
	 * NULL: that any unit may freeze. */
	bool (*freezes)(const void *host, const struct unc_instance *, uint64_t control);
};

struct unc_units {
	struct unc_platform *platform;
	const struct unc_guest *guest; /* NULL: none */
	void *host;                    /* of the guest */
	struct unc_wanted *wanted;     /* of each instance */
	struct unc_unit
		*doubtful; /* of each instance: how it is told; NULL: none is UNC_DOUBTFUL */
	struct unc_slot *slot;
	size_t n_slots;
	unsigned turn, n_turns; /* the one that counts */

	bool programs; /* since the start registers were programmed: others have to know */
	bool holds;    /* it is in the ledger, as: */
	unsigned holder;
	bool flawed;    /* since the start a slot was lost, or could not be read */
	bool idled;     /* others of the kernel's users had counters of ours */
	uint64_t place; /* where counters begin, by chance; 0: nobody else is on the machine */
	uint64_t verified_ns, proven_ns; /* its controls were compared, its units shown to count */
	struct unc_plan_unit *unit;      /* programmed units */
	size_t n_units;
	struct unc_reg_op *read; /* the read plan, one operation for each slot that counts: */
	uint32_t *read_slot;     /* first those that count always, then those of the turn */
	size_t n_reads, n_always;
	struct unc_plan check; /* reads of their controls and filters */
};

/* units.c. Nothing is wanted yet. UNC_ERR_MEMORY. */
int unc_units_init(struct unc_units *, struct unc_platform *);
void unc_units_free(struct unc_units *);
/* Counter register and width of a slot, once a programmable one has been assigned. */
uint16_t unc_slot_register(const struct unc_table *, const struct unc_slot *, unsigned counter);
unsigned unc_slot_width(const struct unc_table *, const struct unc_slot *);
/* The control register of an active slot; UNC_NONE: it has none. */
uint16_t unc_units_control(const struct unc_units *, const struct unc_slot *);
/* Whether a slot counts in the running turn. */
bool unc_units_active(const struct unc_units *, const struct unc_slot *);
/* Slots of an instance that count now (or, with `all`, in any turn), in the order they were added:
 * at most UNC_MAX_CODES. Of those that want the same, in several turns, the first stands for all.
 */
size_t unc_units_slots_of(const struct unc_units *, uint32_t instance, bool all, uint32_t *out);
/* The plan unit of an instance; NULL: it is not programmed. */
struct unc_plan_unit *unc_units_unit(const struct unc_units *, const struct unc_instance *);
/* "cbo3 (socket 1)" */
void unc_units_unit_text(const struct unc_units *, const struct unc_instance *, char *buf,
			 size_t size);
/* " = cha.TOR_INSERTS:IA", where the control (with n filters that are known) is one of our events; ""
 * where not. */
const char *unc_units_event_text(const struct unc_units *, const struct unc_instance *,
				 uint64_t ctl, const struct unc_code_filter *, size_t n, char *buf,
				 size_t size);

/* Bits of a control or filter that show what was written to them: others may be written only. */
uint64_t unc_telling_bits(const struct unc_table *, const struct unc_instance *, uint16_t reg,
			  uint64_t value, bool filter);

/* run.c: prepares and runs a plan; an operation that failed is named. */
int unc_units_run_plan(struct unc_units *, struct unc_plan *, const char *what,
		       struct unc_error *err);
/* The same, if building it ended well (rc is 0), and frees it either way. */
int unc_units_run_once(struct unc_units *, struct unc_plan *, int rc, const char *what,
		       struct unc_error *err);
/* Runs writes that put back what was found. One that fails is tried again, whatever else is there.
 */
int unc_units_put_back(struct unc_units *, struct unc_plan *, struct unc_error *err);
/* The sentence of the first operation of a plan that has failed. */
int unc_units_fail_op(const struct unc_units *, const struct unc_plan *, const char *what,
		      struct unc_error *err);

/* loss.c: a slot means nothing from now on. The first cause counts. */
void unc_units_lose(struct unc_units *, struct unc_slot *, enum unc_loss_kind, uint16_t reg,
		    uint64_t value);
/* All slots that count on a unit now. */
void unc_units_lose_unit(struct unc_units *, const struct unc_plan_unit *, enum unc_loss_kind,
			 uint16_t reg, uint64_t value);
/* What tells of a slot could not be read, for this once: `reg`, the counter or a control. */
void unc_units_unread(struct unc_units *, struct unc_slot *, uint16_t reg,
		      const struct unc_reg_op *);
/* Of all slots that count on a unit now, but for those that always run. */
void unc_units_unread_unit(struct unc_units *, const struct unc_plan_unit *, uint16_t reg,
			   const struct unc_reg_op *);
/* Why, as a sentence in err. */
void unc_units_loss_text(const struct unc_units *, const struct unc_slot *, struct unc_error *err);
/* Others of the kernel's users had its counter all the time. */
void unc_units_idle_text(const struct unc_units *, const struct unc_slot *, struct unc_error *err);
/* Why its last interval alone means nothing. */
void unc_units_late_text(const struct unc_units *, const struct unc_slot *, struct unc_error *err);

/*
 * notes.c. Held while registers are looked at and programmed: nobody else of the node does
 * so meanwhile. UNC_ERR_BUSY, UNC_ERR_IO.
 */
void unc_units_lock(struct unc_units *);
bool unc_units_try_lock(struct unc_units *); /* false: somebody has it */
void unc_units_unlock(struct unc_units *);
/* The rest needs the lock. The session gets its place in the ledger, and gives it up. */
int unc_units_hold(struct unc_units *, struct unc_error *err);
void unc_units_let_go(struct unc_units *);
/* Where it could not be stopped: what it has programmed is of the dead. Takes the lock itself. */
void unc_units_abandon(struct unc_units *);

/* The record of a register; NULL: there is none. */
bool unc_units_key(const struct unc_units *, const struct unc_instance *, uint16_t reg,
		   struct unc_ledger_key *key);
struct unc_ledger_record *unc_units_record(const struct unc_units *, const struct unc_instance *,
					   uint16_t reg);
/* A session other than this one that lives and holds a record (NULL: none); UNC_LEDGER_NOBODY. */
unsigned unc_units_other(const struct unc_units *, const struct unc_ledger_record *);
bool unc_units_shares(const struct unc_units *, const struct unc_instance *, uint16_t reg);
/* "another session of this program", "pid 123 (stat)", "somebody else" */
const char *unc_units_holder_text(const struct unc_units *, const struct unc_instance *,
				  uint16_t reg, char *buf, size_t size);

/* Notes all settings of n units, before they are programmed: setting->restore becomes what the first
 * who holds each found. */
int unc_units_note(struct unc_units *, struct unc_plan_unit *units, size_t n,
		   struct unc_error *err);
/* That nothing drives a unit that was let go. */
int unc_units_note_standing(struct unc_units *, const struct unc_plan_unit *,
			    struct unc_error *err);
/* The same of the control of a clock that is about to run, and that it does not any more. */
int unc_units_note_lent(struct unc_units *, const struct unc_plan_unit *, struct unc_error *err);
void unc_units_drop_lent(struct unc_units *, const struct unc_plan_unit *);
/* The same of a socket that overflows may freeze; which register stands for that. */
int unc_units_note_socket(struct unc_units *, const struct unc_instance *ubox,
			  struct unc_error *err);
void unc_units_drop_socket(struct unc_units *, const struct unc_instance *ubox);
static inline uint16_t unc_units_socket_reg(const struct unc_tbl_type *type)
{
	return type->has_unfreeze ? type->unfreeze : type->global_status[0];
}
/* Whether the kernel may count on a unit. */
bool unc_units_has_driver(const struct unc_platform *, const struct unc_instance *);
/* Whether others may have the kernel's driver count on the machine. It looks at nobody's controls,
 * and not at its own again: one of ours that it has taken for the same event cannot be told from
 * ours. So nothing is put back on its units, and the records stay, orphaned, for a later start. */
bool unc_units_kernel_counts(const struct unc_units *);
/* Before n units are stopped: sets setting->keep where another session needs it still, and what is
 * put back where none does. */
void unc_units_keep(struct unc_units *, struct unc_plan_unit *units, size_t n);
/* After it: they are not held any more. back: the writes that put them back, what has failed stays
 * as of the dead; NULL: nothing could be put back. */
void unc_units_release(struct unc_units *, struct unc_plan_unit *units, size_t n,
		       const struct unc_plan *back);
/* What was found in a register that holds `now`, with the bits that no session has chosen as they
 * are: those are for strangers to set. */
uint64_t unc_units_as_found(const struct unc_ledger_record *, uint64_t now);

/* join.c: counters of other sessions that count what n slots of a unit want; others: who
 * counts there, found: what was read there. */
enum { UNC_NOT_JOINED = 0xff };
void unc_units_join(const struct unc_units *, const struct unc_instance *, const uint32_t *slots,
		    size_t n, const struct unc_others *others, const struct unc_plan *found,
		    uint8_t *counter);
/* A counter that a session lives to read is not free where somebody has cleared its control: set
 * again it would look as if it had counted on. It is added to those of others. */
struct unc_occupancy;
void unc_units_add_cleared(const struct unc_units *, const struct unc_instance *,
			   const struct unc_plan *found, struct unc_occupancy *);
/* Whether only sessions of the ledger count on a unit, of which the first has found that nothing
 * drives it. */
bool unc_units_stands(const struct unc_units *, const struct unc_instance *,
		      const struct unc_plan *found);

/* reclaim.c: puts back what the dead have left, anywhere on the node, as far as it can be
 * reached. */
int unc_units_bury(struct unc_units *, struct unc_error *err);
/* Whether a register that holds `now` holds what its record says: as programmed, or while it was lent. */
bool unc_units_recorded(const struct unc_units *, const struct unc_instance *, uint16_t reg,
			const struct unc_ledger_record *, uint64_t now);

/* socket.c: the unit of a socket that has the socket's status; NULL: none. */
const struct unc_instance *unc_units_ubox(const struct unc_units *, unsigned socket);
/* Whether somebody else counts on a unit of the socket: a freeze would be theirs too. */
int unc_units_others(struct unc_units *, unsigned socket, bool *others, struct unc_error *err);
/* Lets those sockets go on where nobody else counts. *any: some could be. */
int unc_units_unfreeze(struct unc_units *, const bool sockets[UNC_MAX_SOCKETS], bool *any,
		       struct unc_error *err);

/* clock.c: the first clock of the table that a unit can have, whose slots are given. */
void unc_units_find_clock(struct unc_units *, struct unc_plan_unit *, const uint32_t *slots,
			  size_t n);
/* A unit takes another of its counters, if there is one, where somebody else has taken the one that
 * was to be lent. */
void unc_units_renew_clock(struct unc_units *, struct unc_plan_unit *);

/* Units that have not shown that they count. */
struct unc_suspects {
	struct unc_plan_unit **unit;
	size_t n;
};

enum { UNC_PROOF_NS = 20000 }; /* a clock of 100 MHz makes 2000 steps */
/* Lets a clock run on each suspect for a moment; leaves those where it does not move. */
int unc_units_run_clocks(struct unc_units *, struct unc_suspects *, struct unc_error *err);
/* Whether clocks stand still that other units of a socket, one a type, have to spare: it is frozen. */
int unc_units_socket_stands(struct unc_units *, unsigned socket, bool *stands,
			    struct unc_error *err);

/* kernel_units.c. Chooses by what the units of the session count, each by one method: `by_kernel`.
 * UNC_ERR_UNAVAILABLE: its events need two. */
int unc_units_choose(struct unc_units *, struct unc_error *err);
/* The plan unit of one that the kernel counts: n slots with the counters that they might have. */
int unc_units_kernel_unit(struct unc_units *, struct unc_plan_unit *, const uint32_t *slots,
			  const uint8_t *counter, size_t n, struct unc_error *err);
/* unit[first] and those behind it that the kernel counts begin to; on error none of them does. */
int unc_units_kernel_open(struct unc_units *, size_t first, struct unc_error *err);
/* They end. What was prepared to read them must not be run any more. */
void unc_units_kernel_close(struct unc_units *, size_t first);
/* In a forked process: only memory is given back. */
void unc_units_kernel_forget(struct unc_units *);
/* Appends prepared reads of those that count always, or in their pass: one group after the other.
 * slot[k]: what operation k reads. */
int unc_units_kernel_reads(const struct unc_units *, bool always, struct unc_plan *, uint32_t *slot,
			   struct unc_error *err);
/* What is opened and read, for walking. */
int unc_units_kernel_walk(const struct unc_units *, enum unc_phase, unc_operation_fn fn,
			  void *user);
/* After a read of a slot: for how long it counted. */
void unc_units_kernel_timed(struct unc_units *, struct unc_slot *, const struct unc_reg_op *);

/* kernel_check.c. Whether what the kernel counts on unit[first] and those behind it does count, or
 * their sockets are frozen: then they are lost, but for those that can go on where counting begins. */
int unc_units_kernel_prove(struct unc_units *, size_t first, bool begins, struct unc_error *err);

/* claim.c: the units that the running pass needs and that are not programmed yet (all,
 * where counting begins) with the settings they need, added to unit[]. */
int unc_units_prepare(struct unc_units *, bool begin, struct unc_error *err);
/* Whether somebody has come since to unit[first] or one behind it that was ours alone, where that
 * matters. */
int unc_units_neighbours(struct unc_units *, size_t first, struct unc_error *err);

/* prove.c. After programming: whether unit[first] and those behind it count; sockets that a
 * dead program has left frozen go on. */
int unc_units_prove(struct unc_units *, size_t first, struct unc_error *err);
/* What a unit counts that does not begin to, in each of its turns: it is not asked again. */
void unc_units_lose_all(struct unc_units *, uint32_t instance);
/* Whether those that did count still do. */
int unc_units_prove_again(struct unc_units *, size_t first, struct unc_error *err);

/* verify.c. Before programming: gets ready to read the controls back. */
int unc_units_verify_prepare(struct unc_units *, struct unc_error *err);
/* Right after it: the controls of unit[first] and those behind it are read back; UNC_ERR_BUSY if
 * they do not hold what was written. */
int unc_units_verify_begin(struct unc_units *, size_t first, struct unc_error *err);
/* After a look: marks slots that are not ours any more, or do not count, on unit[first] and those
 * behind it; the latter with `prove`. What is no longer ours is not put back. */
int unc_units_verify(struct unc_units *, size_t first, bool prove, struct unc_error *err);
/* The same, if it was not done a moment ago. */
int unc_units_verify_due(struct unc_units *, struct unc_error *err);

/* read.c. Reads what read[first] and those behind it stand for, and takes what they have counted. ns:
 * the time. An error if none could be read. */
int unc_units_read(struct unc_units *, size_t first, uint64_t ns, struct unc_error *err);
/* After a look that no other can make good: what was not read in it, from read[first] on, is lost.
 */
void unc_units_lose_unread(struct unc_units *, size_t first);
/* The most that a slot can count in a time. */
double unc_slot_most(const struct unc_slot *, uint64_t ns);

#endif
