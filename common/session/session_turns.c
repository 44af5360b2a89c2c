/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: passes take turns by themselves. Sessions that want the same passes form a group and
 * turn together, for what one of them counts can be counted for the others as well only while all
 * are in the same pass. The first of a group is on duty: its thread, which looks in as well, ends
 * the pass of all, and then begins the next one of all. A session that starts while others turn
 * begins in the pass where they are.
 *
 * Turns are of the machine's time, like all that is measured. The first are short, that a short run
 * is measured in all passes; then each round takes twice as long, that a long one is hardly
 * disturbed. But none is shorter than programming asks for: nothing turns while one pass ends and
 * the next begins, which may take 5 % of a turn. What that costs is measured, round by round. A
 * round that was held up tells nothing of the next one: of two the lesser counts.
 *
 * Locks, in this order: platform->turning.lock, those of sessions, platform->watch.lock, those of
 * registers and journal.
 * The list and the groups are of the first; what a session knows of its turn is of its own as well.
 */
#include "session/session.h"

enum {
	SHORTEST_NS = 1000000,
	NS_OF_MS = 1000000,
	COSTS = 20 /* a turn is at least so many times as long as a change of the pass */
};

static uint64_t time_of(const struct unc_session *s)
{
	return unc_machine_now(s->platform->machine);
}

void unc_turning_hurry(struct unc_session *s)
{
	struct unc_watch *w = &s->platform->watch;

	pthread_mutex_lock(&w->lock);
	s->due_ns = 0;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

/* ---- groups */

/* The first session of a group from `s` on; NULL: there is none. */
static struct unc_session *member(unsigned group, struct unc_session *s)
{
	while (s && s->turning.group != group)
		s = s->turning.next;
	return s;
}

/* Whether two sessions want the same in each pass. */
static bool same_passes(const struct unc_session *a, const struct unc_session *b)
{
	if (a->n_passes != b->n_passes || a->units.n_slots != b->units.n_slots)
		return false;
	for (size_t i = 0; i < a->units.n_slots; i++) {
		const struct unc_slot *x = &a->units.slot[i], *y = &b->units.slot[i];

		if (x->instance != y->instance || x->turns != y->turns ||
		    !unc_code_same(&x->code, &y->code))
			return false;
	}
	return true;
}

/* A session that turns already, with the same passes; NULL: none does. */
static struct unc_session *find_partner(const struct unc_session *s)
{
	struct unc_session *m = s->platform->turning.first;

	while (m && !same_passes(m, s))
		m = m->turning.next;
	return m;
}

/* How long a turn may last: so that in the time that is wanted for a round each pass begins one,
 * wherever that time begins. */
static uint64_t longest_turn(const struct unc_session *first)
{
	uint64_t least = UINT64_MAX;

	for (const struct unc_session *m = first; m;
	     m = member(first->turning.group, m->turning.next)) {
		uint64_t ns = (uint64_t)m->turning.ms * NS_OF_MS / (m->n_passes + 1);

		least = ns < least ? ns : least;
	}
	return least > SHORTEST_NS ? least : SHORTEST_NS;
}

/* As long as is wanted, but no longer than it may be, and no shorter than programming asks for. */
static uint64_t turn_length(const struct unc_session *first, uint64_t wanted)
{
	uint64_t longest = longest_turn(first), shortest = COSTS * first->turning.cost_ns;
	uint64_t length = wanted < longest ? wanted : longest;

	return length > shortest ? length : shortest;
}

/* The turn that goes on is the first again, and as short, of all that turn with the session. */
void unc_turning_begin_anew(struct unc_session *s)
{
	struct unc_session *first = member(s->turning.group, s->platform->turning.first);
	uint64_t length;

	if (!s->turning.group)
		return;
	length = turn_length(first, UNC_FIRST_TURN_NS);
	for (struct unc_session *m = first; m; m = member(first->turning.group, m->turning.next)) {
		pthread_mutex_lock(&m->lock);
		m->turning.length_ns = length;
		if (m == first) {
			m->turning.turns = 0;
			m->turning.spent_ns = 0;
			m->turning.until_ns = time_of(m) + length;
			unc_turning_hurry(m); /* the turn ends earlier than it knows */
		}
		pthread_mutex_unlock(&m->lock);
	}
}

/* The next one of the group is on duty, if this one was. */
static void leave_group(struct unc_session *s)
{
	struct unc_session **link = &s->platform->turning.first, *heir;
	unsigned group = s->turning.group;

	while (*link != s)
		link = &(*link)->turning.next;
	*link = s->turning.next;
	heir = member(group, s->platform->turning.first);
	pthread_mutex_lock(&s->lock);
	struct unc_turning was = s->turning;
	s->turning.group = 0;
	s->turning.until_ns = 0;
	pthread_mutex_unlock(&s->lock);
	if (!heir || !was.until_ns)
		return;
	pthread_mutex_lock(&heir->lock);
	heir->turning.turns = was.turns;
	heir->turning.spent_ns = was.spent_ns;
	heir->turning.change_ns = was.change_ns;
	heir->turning.cost_ns = was.cost_ns;
	heir->turning.until_ns = was.until_ns;
	unc_turning_hurry(heir);
	pthread_mutex_unlock(&heir->lock);
}

/* ---- a session begins and ends */

unsigned unc_turning_pass(const struct unc_session *s)
{
	const struct unc_session *partner = unc_turning_wanted(s) ? find_partner(s) : NULL;

	return partner ? partner->units.turn : 0;
}

void unc_turning_join(struct unc_session *s)
{
	struct unc_session **link = &s->platform->turning.first, *partner;

	if (!unc_turning_wanted(s))
		return;
	partner = find_partner(s);
	while (*link)
		link = &(*link)->turning.next;
	*link = s;
	s->turning.next = NULL;
	s->turning.group = partner ? partner->turning.group : ++s->platform->turning.groups;
	unc_turning_begin_anew(s);
}

void unc_turning_leave(struct unc_session *s)
{
	if (s->turning.group)
		leave_group(s);
}

/* ---- a turn */

uint64_t unc_turning_left(const struct unc_session *s)
{
	uint64_t until = s->turning.until_ns, ns;

	if (!until)
		return UINT64_MAX;
	ns = time_of(s);
	return until > ns ? until - ns : 0;
}

/* What came of a step of the turn of a session. */
static void note_result(struct unc_session *s, int rc, const struct unc_error *err)
{
	if (rc == 0)
		return;
	s->turning.error = *err;
	s->turning.error.code = rc;
}

/* All end their pass before any begins the next: what one had may be what another needs then. */
static void change_passes(struct unc_session *first)
{
	unsigned group = first->turning.group;
	struct unc_session *m;
	struct unc_error err = {0};

	for (m = first; m; m = member(group, m->turning.next))
		note_result(m, unc_session_end_pass(m, &err), &err);
	for (m = first; m; m = member(group, m->turning.next))
		if (m->turning.error.code == 0)
			note_result(m, unc_session_begin_pass(m, &err), &err);
}

/* What changes of the pass cost, by this round and the one before. */
static void end_round(struct unc_session *first)
{
	struct unc_turning *t = &first->turning;
	uint64_t before = t->change_ns;

	t->change_ns = t->spent_ns / first->n_passes;
	t->spent_ns = 0;
	t->cost_ns = t->change_ns < before ? t->change_ns : before;
}

static void end_turn(struct unc_session *first)
{
	uint64_t length = first->turning.length_ns, began;
	unsigned group = first->turning.group;
	struct unc_session *m, *next;

	for (m = first; m; m = member(group, m->turning.next))
		pthread_mutex_lock(&m->lock);
	began = time_of(first);
	change_passes(first);
	first->turning.spent_ns += time_of(first) - began;
	if (++first->turning.turns % first->n_passes == 0) {
		end_round(first);
		length *= 2;
	}
	length = turn_length(first, length);
	for (m = first; m; m = member(group, m->turning.next))
		m->turning.length_ns = length;
	first->turning.until_ns = time_of(first) + first->turning.length_ns;
	for (m = first; m; m = member(group, m->turning.next))
		pthread_mutex_unlock(&m->lock);
	for (m = first; m; m = next) {
		next = member(group, m->turning.next);
		if (m->turning.error.code)
			leave_group(m);
	}
}

void unc_turning_turn(struct unc_session *s)
{
	struct unc_turns *turns = &s->platform->turning;

	pthread_mutex_lock(&turns->lock);
	if (unc_turning_left(s) == 0)
		end_turn(s);
	pthread_mutex_unlock(&turns->lock);
}

/* ---- the public part */

int unc_session_turns(struct unc_session *s, unsigned ms)
{
	struct unc_platform *p = s->platform;
	int rc = ms && !s->turning.ms ? unc_session_enter_idle(s) : unc_session_enter(s);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&p->turning.lock);
	pthread_mutex_lock(&s->lock);
	s->turning.ms = ms;
	pthread_mutex_unlock(&s->lock);
	if (!ms)
		unc_turning_leave(s);
	pthread_mutex_unlock(&p->turning.lock);
	return 0;
}
