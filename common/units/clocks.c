/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: was one frozen for a while, and let go, between two looks? It has counted too little then,
 * and nothing stands still any more. Clocks tell, where the session counts any. Those that tables
 * call alike count the same on all units of a socket. Those that are steady never change their
 * frequency: where none of a socket counts what it did before, it was frozen, or asleep.
 *
 * A counter was read between two stamps. So clocks are compared over the same looks, and may lack
 * what the fastest of all clocks counts while these took. From a look that took long no comparison
 * begins: the last one goes on.
 */
#include <math.h>
#include <string.h>

#include "units/registers.h"

enum {
	MAX_GROUPS = 96,
	NO_GROUP,      /* of what is no clock, or one for which there is no room */
	HANDFUL = 100, /* counts that clocks may differ by, however short the time */
	SHARP = 256
};

/* Clocks that have to agree. */
struct group {
	struct key {
		uint32_t socket, event, instance; /* UINT32_MAX: UCLK; several */
		uint32_t always;                  /* they count in every turn */
	} key;
	struct unc_seen from, to; /* where it begins and ends */
	uint64_t most;            /* one of them has counted so much */
	double best;              /* that they have counted in a ns before, where they are steady */
	unsigned n;
	bool begins; /* with one of them, and so with all */
};

struct groups {
	struct group one[MAX_GROUPS];
	size_t n;
};

static bool is_clock(struct unc_units *s, struct unc_slot *slot)
{
	const struct unc_tbl_event *event = &s->platform->table->event[slot->code.event];
	const struct unc_code *plain;

	if (!event->alike && !event->steady)
		return false;
	if (slot->clock.state == UNC_CLOCK_UNASKED) { /* with a threshold it is none */
		plain = unc_clock_code(s, event);
		slot->clock.state = plain && unc_code_same(plain, &slot->code) ? UNC_CLOCK_WAITS
									       : UNC_CLOCK_NONE;
	}
	return slot->clock.state != UNC_CLOCK_NONE;
}

void unc_clock_begin(struct unc_units *s, struct unc_slot *slot)
{
	if (!is_clock(s, slot))
		return;
	slot->clock.state = UNC_CLOCK_BEGUN;
	slot->clock.total = slot->total;
	slot->clock.seen = unc_slot_span(s, slot)->total.to;
}

/* Whether a slot is a clock that was read, and had its counter all of the time, as it was. */
static bool tells(struct unc_units *s, struct unc_slot *slot)
{
	return is_clock(s, slot) && !unc_units_stops_clock(s, unc_slot_unit(s, slot)) &&
	       !slot->unread && !slot->lost.why && !unc_slot_span(s, slot)->total.time.idle &&
	       s->wanted[slot->instance].proof != UNC_STANDS;
}

/* Finds that of what is read in this place; NULL: there are too many. One that is alike none has its
 * own. */
static struct group *find_group(const struct unc_units *s, struct groups *groups, size_t read)
{
	struct unc_slot *slot = &s->slot[s->read_slot[read]];
	unsigned alike = s->platform->table->event[slot->code.event].alike;
	struct key key = {s->platform->instances.unit[slot->instance].socket,
			  alike == UNC_ALIKE_UCLK ? UINT32_MAX : slot->code.event,
			  alike ? UINT32_MAX : slot->instance, read < s->n_always};

	for (size_t i = groups->n; i-- > 0 && alike;) /* mostly it is the last */
		if (memcmp(&groups->one[i].key, &key, sizeof(key)) == 0) {
			slot->clock.group = (uint8_t)i;
			return &groups->one[i];
		}
	if (groups->n == MAX_GROUPS)
		return NULL;
	slot->clock.group = (uint8_t)groups->n;
	groups->one[groups->n] = (struct group){.key = key, .from = unc_unseen, .to = unc_unseen};
	return &groups->one[groups->n++];
}

static uint64_t counted(const struct unc_slot *slot)
{
	return slot->total - slot->clock.total;
}

static void join(struct unc_units *s, struct groups *groups, size_t read)
{
	struct unc_slot *slot = &s->slot[s->read_slot[read]];
	struct group *g = NULL;

	slot->clock.group = NO_GROUP;
	if (tells(s, slot))
		g = find_group(s, groups, read);
	else if (slot->clock.state == UNC_CLOCK_BEGUN)
		slot->clock.state = UNC_CLOCK_WAITS;
	if (!g)
		return;
	g->n++;
	g->begins |= slot->clock.state != UNC_CLOCK_BEGUN;
	g->best = fmax(g->best, slot->clock.best);
	if (slot->clock.state != UNC_CLOCK_BEGUN)
		return;
	unc_seen_join(&g->from, slot->clock.seen);
	unc_seen_join(&g->to, unc_slot_span(s, slot)->total.to);
	g->most = counted(slot) > g->most ? counted(slot) : g->most;
}

static int percent(double part, double all)
{
	return (int)(100 * part / all + 0.5);
}

/* Nothing shows whether a unit, or all of its socket, have counted all of the time. */
static void doubt(struct unc_units *s, const struct unc_instance *unit, bool all, int slow)
{
	const struct unc_tbl_type *types = s->platform->table->type;

	for (size_t i = 0; i < s->n_claims; i++) {
		const struct unc_instance *u = s->claim[i].instance;
		struct unc_wanted *w = unc_units_wanted(s, u);
		bool with_it = all && u->socket == unit->socket && types[u->type].steps_freeze.n;

		if ((u == unit || with_it) && w->proof != UNC_STANDS) {
			w->proof = UNC_UNSHOWN;
			w->slow = slow;
			s->flawed = true;
		}
	}
}

/* One that has never counted has nothing that drives it. */
static void judge(struct unc_units *s, const struct group *g, struct unc_slot *slot)
{
	const struct unc_instance *u = unc_slot_unit(s, slot);
	uint64_t looks = g->from.width + g->to.width, begun = g->from.ns + g->from.width;
	uint64_t span = g->to.ns > begun ? g->to.ns - begun : 0;
	double most = (double)g->most, before = g->best * (double)span;
	double count = (double)counted(slot);
	double at_most = count + HANDFUL + UNC_FASTEST_PER_NS * (double)looks;
	bool told = slot->clock.state == UNC_CLOCK_BEGUN && slot->total;

	if (told && at_most < 0.99 * fmax(most, before)) /* its control may be another's by now */
		unc_units_verify_unit(s, slot->instance);
	if (slot->lost.why)
		return;
	if (told && at_most < 0.99 * most)
		unc_units_lose_unit(
			s, slot->instance, UNC_TURN,
			&(struct unc_loss){UNC_LOST_FROZEN, 0, (uint64_t)percent(count, most)});
	else if (told && at_most < 0.99 * before)
		doubt(s, u, g->n > 1, percent(count, before));
	if (!g->begins && SHARP * g->to.width > span)
		return;
	if (!g->begins && s->platform->table->event[slot->code.event].steady)
		slot->clock.best =
			fmax(g->best, most / (double)(g->to.ns + g->to.width - g->from.ns));
	unc_clock_begin(s, slot);
}

void unc_units_compare_clocks(struct unc_units *s, size_t first)
{
	struct groups groups;

	groups.n = 0;
	for (size_t i = first; i < s->n_reads; i++)
		join(s, &groups, i);
	for (size_t i = first; i < s->n_reads; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		if (slot->clock.group != NO_GROUP && !slot->unread && !slot->lost.why)
			judge(s, &groups.one[slot->clock.group], slot);
	}
}
