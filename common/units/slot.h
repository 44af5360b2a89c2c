/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slot: one counter of one unit that is wanted, what it has counted, and in which time.
 */
#ifndef UNC_SLOT_H
#define UNC_SLOT_H

#include "encode/kernel.h"

/* Time in ns: a counter ran, and others had it meanwhile. */
struct unc_run_time {
	uint64_t ran, idle;
};

/* A counter was read between ns and ns + width; or several were, from the first to the last. */
struct unc_seen {
	uint64_t ns, width;
};
static const struct unc_seen unc_unseen = {.ns = UINT64_MAX};

static inline void unc_seen_join(struct unc_seen *all, struct unc_seen one)
{
	uint64_t end = all->ns == UINT64_MAX ? 0 : all->ns + all->width;

	end = one.ns + one.width > end ? one.ns + one.width : end;
	all->ns = one.ns < all->ns ? one.ns : all->ns;
	all->width = end - all->ns;
}

/* A time in which a slot counted: between which looks, for how long of it. */
struct unc_spell {
	struct unc_seen from, to;
	uint64_t blur; /* widths of the looks where turns in it began and ended, but of `to`, ns */
	struct unc_run_time time;
	double scale, late; /* for the session alone: as it ended the last interval */
};

/* When a slot counted. Slots that count always, and are read between the same two stamps, have it
 * in common: that of the first of them, their leader. */
struct unc_span {
	struct unc_spell total; /* since start or reset */
	uint64_t before;        /* where the look before the last one began, or a turn */
	bool again;             /* it has begun more than once, and did not count in between */
	bool taken_up;          /* it was lost before, and total is of the time since then */
	struct unc_spell interval;
	uint64_t reported_blur; /* of total, where the last interval ended */
	struct unc_run_time reported_time;
};

/* Why what a slot has counted means nothing. */
enum unc_loss_kind {
	UNC_LOST_NOT,
	UNC_LOST_CONTROL,  /* its control holds `value` */
	UNC_LOST_FILTER,   /* a filter that it looks at does */
	UNC_LOST_UNIT,     /* unit control does */
	UNC_LOST_KIND,     /* the control of another counter does, with which it cannot count */
	UNC_LOST_OUT,      /* its unit is left out of the turn */
	UNC_LOST_FROZEN,   /* the unit does not count; or for `value` per cent of a time */
	UNC_LOST_DOUBTFUL, /* the same, and somebody else counts there, or nothing drives it */
	UNC_LOST_CLEARED,  /* it went back, or too far: by `value` */
	UNC_LOST_START,    /* it holds `value` right after it was set to something else */
	UNC_LOST_ONES,     /* it reads as all ones */
	UNC_LOST_UNREAD,   /* it could not be read, errno `value`, where its turn began or ended */
	UNC_LOST_WRAP      /* it was not read for `value` ns, and may have wrapped in them */
};

/* One counter of one unit that is wanted; equal ones are shared. What a read needs comes first. */
struct unc_slot {
	uint64_t last;           /* as read last */
	uint64_t shown;          /* the same when it was last asked whether its unit counts */
	double pace;             /* counts in a ns up to then; NAN: not known */
	uint64_t mask;           /* all ones in the counter's width */
	uint64_t total;          /* counted since start or reset */
	uint64_t reported;       /* of it, where the last interval ended */
	uint64_t delta;          /* counted in the last interval */
	double rate;             /* more in a ns than it can count */
	uint64_t sure_ns;        /* in which it cannot wrap, at that rate */
	uint32_t leader;         /* slot whose span is its own, too */
	uint32_t n_led;          /* others, whose leader it is */
	uint32_t instance;       /* index into platform->instances */
	bool begin;              /* programmed, and not read since */
	int16_t unread;          /* errno of a read that failed; the next may be right again */
	int16_t reported_unread; /* of the one where the last interval ended */
	int16_t late;            /* of the one where it began */
	uint16_t unread_reg;     /* of what: the counter, or what tells whether it is ours */
	uint16_t ctr;            /* counter register (index into table->reg), once started */
	struct unc_loss {
		uint8_t why;  /* enum unc_loss_kind; 0: it is not lost */
		uint16_t reg; /* index into table->reg */
		uint64_t value;
	} lost;               /* why, while it is UNC_LOST or UNC_TAKEN_UP */
	enum {                /* whether what it counts means something; what is lost goes round: */
	       UNC_SOUND,     /* it does; so it is where counting begins */
	       UNC_LOST,      /* it does not (unc_units_lose) */
	       UNC_TAKEN_UP   /* its unit counts again, and it from 0 on (unc_units_take_up); */
	} life;               /* once it was measured it is told so (unc_units_tell_back) */
	struct unc_span span; /* of those that it leads; else it means nothing */

	struct unc_code code;
	const char *name;        /* of who wants it, for sentences */
	int next;                /* next slot of the same instance, UNC_END */
	uint64_t turns;          /* bit i: it has to count in turn i */
	enum {                   /* whether it counts when it does not have to: */
	       UNC_IN_ITS_TURNS, /* no; so it is where counting begins */
	       UNC_SPARE,        /* a counter was left for it in this turn, until that ends */
	       UNC_STAYS /* the turn changes, and it goes on, on its counter; then UNC_SPARE */
	} counts;
	bool steady;    /* it has counted since the start */
	uint64_t start; /* what its counter was set to; 0: it was left as it was */
	struct {        /* for clocks.c alone: */
		enum {
			UNC_CLOCK_UNASKED, /* whether it is one: then one of the others */
			UNC_CLOCK_NONE,
			UNC_CLOCK_WAITS, /* what it counts is not compared, for now */
			UNC_CLOCK_BEGUN  /* it is from where it had counted so much: */
		} state;
		uint8_t group; /* of a comparison that is made */
		uint64_t total;
		struct unc_seen seen; /* when */
		double best;          /* counts in a ns, at its fastest */
	} clock;
	struct { /* for driver.c alone: */
		struct unc_kernel_code code;
		unsigned place;           /* of the event in the group of its PMU */
		struct unc_run_time last; /* as read last */
	} driver;
};

#endif
