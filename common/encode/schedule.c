/* SPDX-License-Identifier: BSD-3-Clause */
#include "encode/schedule.h"

#include <string.h>

#include "base/text.h"
#include "encode/control.h"

enum { FREE = 0xff, MAX_COUNTERS = 32 };

struct matching {
	const struct unc_code *const *code;
	size_t n;
	const uint32_t *allowed;        /* counters of each event */
	bool sure;                      /* of these, those that all sources allow */
	uint8_t owner[MAX_COUNTERS];    /* event on each counter */
	uint8_t counter[UNC_MAX_CODES]; /* of each event */
};

/*
 * Finds an event for counter c: the first that has none yet, else one whose counter another can
 * have (augmenting path). Counters that have an event keep one.
 */
static bool serve(struct matching *m, unsigned c, uint64_t *tried)
{
	for (int has = 0; has < 2; has++)
		for (size_t i = 0; i < m->n; i++) {
			uint32_t not_now = m->sure ? m->code[i]->doubtful : 0;

			if (!((m->allowed[i] & ~not_now) >> c & 1) || (*tried >> i & 1) ||
			    (m->counter[i] != FREE) != has)
				continue;
			*tried |= (uint64_t)1 << i;
			if (has && !serve(m, m->counter[i], tried))
				continue;
			m->owner[c] = (uint8_t)i;
			m->counter[i] = (uint8_t)c;
			return true;
		}
	return false;
}

/*
 * Gives every event one of its allowed counters, and all together the highest there are: the
 * kernel's driver takes the lowest, and looks at nobody. First those that all sources allow.
 */
static bool match_all(struct matching *m)
{
	memset(m->owner, FREE, sizeof(m->owner));
	memset(m->counter, FREE, sizeof(m->counter));
	m->sure = true;
	for (unsigned round = 0; round < 2; round++, m->sure = false)
		for (unsigned c = MAX_COUNTERS; c-- > 0;) {
			uint64_t tried = 0;

			if (m->owner[c] == FREE)
				serve(m, c, &tried);
		}
	for (size_t i = 0; i < m->n; i++)
		if (m->code[i]->counter == UNC_NONE && m->counter[i] == FREE)
			return false;
	return true;
}

/* Counters that have an event. */
static uint32_t used(const struct matching *m)
{
	uint32_t counters = 0;

	for (unsigned c = 0; c < MAX_COUNTERS; c++)
		counters |= (uint32_t)(m->owner[c] != FREE) << c;
	return counters;
}

/* Two events of one unit: whether they may be counted at the same time at all. */
static bool agree(const struct unc_code *a, const struct unc_code *b, struct unc_conflict *conflict)
{
	bool counted = a->counter == UNC_NONE && b->counter == UNC_NONE;

	conflict->kind = UNC_CONFLICT_KIND;
	if (counted && ((a->ctl ^ b->ctl) & a->exclusive))
		return false;
	conflict->kind = UNC_CONFLICT_FILTER;
	for (unsigned i = 0; i < a->n_filters; i++)
		for (unsigned k = 0; k < b->n_filters; k++) {
			const struct unc_code_filter *x = &a->filter[i], *y = &b->filter[k];

			if (x->reg != y->reg || !((x->value ^ y->value) & x->mask & y->mask))
				continue;
			conflict->reg = x->reg;
			return false;
		}
	return true;
}

/* ---- lanes: counters of which one leads */

/* Whether one of the lanes of an event is led by a counter that can count it. */
static bool can_lead(const struct unc_table *t, const struct unc_code *c)
{
	const struct unc_range *lanes = &t->type[c->type].lanes;

	for (uint32_t i = 0; i < lanes->n; i++) {
		const struct unc_tbl_lane *lane = &t->lane[lanes->first + i];

		if (lane->name == t->lane[c->lane - 1].name && (c->counters >> lane->lead & 1))
			return true;
	}
	return false;
}

bool unc_schedule_follows(const struct unc_table *t, const struct unc_code *code,
			  const struct unc_code *lead)
{
	if (code->counter != UNC_NONE || !code->lane || can_lead(t, code))
		return false;
	return !lead || (lead->counter == UNC_NONE && lead->lane == code->lane &&
			 lead->set == code->set && can_lead(t, lead));
}

struct lanes {
	const struct unc_table *t;
	const struct unc_tbl_lane *lane;
	size_t n_lanes;
	const struct unc_code *const *code;
	size_t n;
	uint32_t usable;
	size_t leader[UNC_MAX_LANES]; /* event on the lead of each lane; n: none */
	struct matching *m;
	uint32_t *allowed;
	uint32_t best;                  /* counters of the best choice so far; 0: none fits */
	uint8_t counter[UNC_MAX_CODES]; /* of each event in it */
};

static bool in_lane(const struct lanes *l, size_t event, const struct unc_tbl_lane *lane)
{
	const struct unc_code *c = l->code[event];

	return c->counter == UNC_NONE && c->lane && l->t->lane[c->lane - 1].name == lane->name;
}

/* Whether two events may count in one lane. */
static bool of_one_set(const struct unc_code *a, const struct unc_code *b,
		       const struct unc_tbl_lane *lane)
{
	return a->set == b->set && !((a->ctl ^ b->ctl) & lane->same);
}

/* Counters of an event when the lanes are led as chosen. */
static uint32_t allowed_with(const struct lanes *l, size_t event)
{
	uint32_t allowed = l->code[event]->counters & l->usable;

	for (size_t k = 0; k < l->n_lanes; k++) {
		const struct unc_tbl_lane *lane = &l->lane[k];
		size_t leader = l->leader[k];
		uint32_t lead = (uint32_t)1 << lane->lead;

		if (leader == event)
			return allowed & lead;
		if (leader < l->n)
			allowed &= ~lead;
		if (in_lane(l, event, lane) &&
		    (leader == l->n || !of_one_set(l->code[event], l->code[leader], lane)))
			allowed &= ~lane->counters;
	}
	return allowed;
}

static bool leads_already(const struct lanes *l, size_t k, size_t event)
{
	while (k > 0)
		if (l->leader[--k] == event)
			return true;
	return false;
}

/* Tries every event, and none, as the leader of lane k and those after it. */
static void choose_leaders(struct lanes *l, size_t k)
{
	if (k == l->n_lanes) {
		for (size_t i = 0; i < l->n; i++)
			l->allowed[i] = allowed_with(l, i);
		if (match_all(l->m) && used(l->m) > l->best) {
			l->best = used(l->m);
			memcpy(l->counter, l->m->counter, sizeof(l->counter));
		}
		return;
	}
	for (size_t i = 0; i <= l->n; i++) {
		if (i < l->n &&
		    (!in_lane(l, i, &l->lane[k]) || leads_already(l, k, i) ||
		     !(l->code[i]->counters & l->usable & (uint32_t)1 << l->lane[k].lead)))
			continue;
		l->leader[k] = i;
		choose_leaders(l, k + 1);
	}
}

/* A follower without an event that could lead it. */
static bool lacks_lead(const struct lanes *l, size_t event)
{
	for (size_t i = 0; i < l->n; i++)
		if (unc_schedule_follows(l->t, l->code[event], l->code[i]))
			return false;
	return unc_schedule_follows(l->t, l->code[event], NULL);
}

/* Names two events that do not go together; if no pair is to blame, a leading counter is taken. */
static void blame_lanes(const struct lanes *l, struct unc_conflict *conflict)
{
	for (size_t i = 0; i < l->n; i++)
		if (lacks_lead(l, i)) {
			conflict->kind = UNC_CONFLICT_FOLLOWS;
			conflict->a = conflict->b = i;
			return;
		}
	conflict->kind = UNC_CONFLICT_SET;
	for (size_t b = l->n; b-- > 0;)
		for (size_t a = 0; a < b; a++)
			for (size_t k = 0; k < l->n_lanes; k++)
				if (in_lane(l, a, &l->lane[k]) && in_lane(l, b, &l->lane[k]) &&
				    !of_one_set(l->code[a], l->code[b], &l->lane[k])) {
					conflict->a = a;
					conflict->b = b;
					return;
				}
	conflict->kind = UNC_CONFLICT_LEAD;
	conflict->a = conflict->b = l->n - 1;
	for (size_t i = 0; i < l->n; i++)
		if (l->code[i]->lane)
			conflict->a = conflict->b = i;
}

/* ---- beside others */

static const struct unc_range *lanes_of(const struct unc_table *t, const struct unc_code *code)
{
	return &t->type[unc_type_pool(t, code->type)].lanes;
}

/* Whether somebody else counts in a lane, on whose lead nothing may be put then: what he counts
 * would change. */
static bool follows(const struct unc_table *t, const struct unc_code *code,
		    const struct unc_other *other, const struct unc_tbl_lane *lane)
{
	return other->counter != lane->lead && (lane->counters >> other->counter & 1) &&
	       unc_control_in_lane(t, code->type, other->ctl, lane);
}

/* Counters that others leave. */
static uint32_t usable(const struct unc_table *t, const struct unc_code *code,
		       const struct unc_others *others)
{
	const struct unc_range *lanes = lanes_of(t, code);
	uint32_t counters = UINT32_MAX;

	for (size_t i = 0; i < others->n; i++) {
		const struct unc_other *other = &others->one[i];

		counters &= ~((uint32_t)1 << other->counter);
		for (uint32_t k = 0; k < lanes->n; k++) {
			const struct unc_tbl_lane *lane = &t->lane[lanes->first + k];

			if (follows(t, code, other, lane))
				counters &= ~((uint32_t)1 << lane->lead);
		}
	}
	return counters;
}

/* Whether an event may be counted beside what others count. */
static bool agree_with(const struct unc_code *code, const struct unc_others *others,
		       struct unc_conflict *conflict)
{
	for (size_t i = 0; i < others->n && code->counter == UNC_NONE; i++)
		if ((code->ctl ^ others->one[i].ctl) & code->exclusive) {
			conflict->kind = UNC_CONFLICT_KIND;
			conflict->beside = (int)i;
			return false;
		}
	return true;
}

static bool has_counter(const struct unc_others *others, unsigned counter)
{
	for (size_t i = 0; i < others->n; i++)
		if (others->one[i].counter == counter)
			return true;
	return false;
}

/* Whether one of the others is in the way of an event, as `kind` says. */
static bool in_the_way(const struct unc_table *t, const struct unc_code *code,
		       const struct unc_others *others, size_t one, struct unc_conflict *conflict)
{
	const struct unc_other *other = &others->one[one];
	const struct unc_range *lanes = lanes_of(t, code);

	if (conflict->kind == UNC_CONFLICT_COUNTER)
		return code->counters >> other->counter & 1;
	for (uint32_t i = 0; i < lanes->n; i++) {
		const struct unc_tbl_lane *lane = &t->lane[lanes->first + i];
		bool own = code->lane && lane->name == t->lane[code->lane - 1].name;
		uint32_t lead = (uint32_t)1 << lane->lead;

		conflict->lead = lane->lead;
		if (conflict->kind == UNC_CONFLICT_LEAD
			    ? own && lane->lead == other->counter && (code->counters & ~lead)
			    : (code->counters & lead) && !has_counter(others, lane->lead) &&
				      follows(t, code, other, lane))
			return true;
	}
	return false;
}

/* Names one of the others, if they are to blame that an event has no counter. */
static void blame_others(const struct unc_table *t, const struct unc_code *code,
			 const struct unc_others *others, struct unc_conflict *conflict)
{
	static const enum unc_conflict_kind kinds[] = {UNC_CONFLICT_LEAD, UNC_CONFLICT_FOLLOWED,
						       UNC_CONFLICT_COUNTER};
	const enum unc_conflict_kind ours = conflict->kind;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (size_t i = 0; i < others->n; i++) {
			conflict->kind = kinds[k];
			if (!in_the_way(t, code, others, i, conflict))
				continue;
			conflict->beside = (int)i;
			return;
		}
	conflict->kind = ours;
}

/* ---- */

/* The first event for which there is no counter when those before it have theirs. */
static void blame_counter(struct matching *m, struct unc_conflict *conflict)
{
	size_t event;

	for (m->n = 1; match_all(m);)
		m->n++;
	event = m->n - 1;
	conflict->kind = UNC_CONFLICT_COUNTER;
	conflict->a = conflict->b = event;
	for (unsigned c = 0; c < MAX_COUNTERS; c++)
		if ((m->code[event]->counters >> c & 1) && m->owner[c] != FREE) {
			conflict->a = m->owner[c];
			break;
		}
}

static int check_pairs(const struct unc_code *const *code, size_t n,
		       const struct unc_others *others, struct unc_conflict *conflict)
{
	for (size_t i = 0; i < n; i++) {
		conflict->a = conflict->b = i;
		if (!agree_with(code[i], others, conflict))
			return UNC_ERR_CONFLICT;
		for (size_t k = 0; k < i; k++) {
			conflict->a = k;
			if (!agree(code[k], code[i], conflict))
				return UNC_ERR_CONFLICT;
		}
	}
	return 0;
}

/* Where one of the events is of a lane. */
static bool match_lanes(const struct unc_table *t, struct matching *m, uint32_t *allowed,
			uint32_t free, struct unc_conflict *conflict)
{
	const struct unc_range *rows = lanes_of(t, m->code[0]);
	struct lanes l = {.t = t,
			  .lane = &t->lane[rows->first],
			  .n_lanes = rows->n,
			  .code = m->code,
			  .n = m->n,
			  .usable = free,
			  .m = m,
			  .allowed = allowed};

	choose_leaders(&l, 0);
	if (!l.best)
		blame_lanes(&l, conflict);
	memcpy(m->counter, l.counter, sizeof(l.counter));
	return l.best != 0;
}

int unc_schedule(const struct unc_table *t, const struct unc_code *const *code, size_t n,
		 const struct unc_others *others, uint8_t *counter, struct unc_conflict *conflict)
{
	static const struct unc_others none = {0};
	uint32_t allowed[UNC_MAX_CODES], free = UINT32_MAX;
	struct matching m = {.code = code, .n = n, .allowed = allowed};
	bool laned = false, fits;

	others = others ? others : &none;
	conflict->beside = -1;
	memset(counter, 0, n);
	if (check_pairs(code, n, others, conflict) < 0)
		return UNC_ERR_CONFLICT;
	free = n ? usable(t, code[0], others) : 0;
	for (size_t i = 0; i < n; i++) {
		allowed[i] = code[i]->counter == UNC_NONE ? code[i]->counters & free : 0;
		laned |= code[i]->lane != 0;
	}
	fits = match_all(&m);
	if (!fits)
		blame_counter(&m, conflict);
	else if (laned)
		fits = match_lanes(t, &m, allowed, free, conflict);
	if (!fits) {
		blame_others(t, code[conflict->b], others, conflict);
		return UNC_ERR_CONFLICT;
	}
	for (size_t i = 0; i < n; i++)
		counter[i] = m.counter[i] == FREE ? 0 : m.counter[i];
	return 0;
}

void unc_schedule_leads(const struct unc_table *t, const struct unc_code *code, char *buf,
			size_t size)
{
	const struct unc_tbl_lane *lane = &t->lane[code->lane - 1];
	const struct unc_range *events = &t->type[code->type].events;
	struct unc_buf text = unc_buf(buf, size);

	unc_put(&text, "one of ");
	for (uint32_t i = 0; i < events->n; i++) {
		const struct unc_tbl_event *e = &t->event[events->first + i];

		if (e->lane == code->lane && e->set == code->set && (e->counters >> lane->lead & 1))
			unc_put_word(&text, unc_tbl_str(t, e->name));
	}
	unc_put(&text, " on counter %u", lane->lead);
}

/* Passes of the events of one pool of counters, first fit. */
static int passes_of_pool(const struct unc_table *t, const struct unc_code *code, size_t n,
			  unsigned pool)
{
	const struct unc_code *pass[UNC_MAX_CODES][UNC_MAX_CODES];
	size_t in_pass[UNC_MAX_CODES] = {0};
	int passes = 0;

	for (size_t i = 0; i < n; i++) {
		if (unc_type_pool(t, code[i].type) != pool)
			continue;
		for (int p = 0; p < UNC_MAX_CODES; p++) {
			uint8_t counter[UNC_MAX_CODES];
			struct unc_conflict conflict;
			bool have = false;

			for (size_t k = 0; k < in_pass[p]; k++)
				have |= unc_code_same(pass[p][k], &code[i]);
			if (have)
				break;
			pass[p][in_pass[p]] = &code[i];
			if (unc_schedule(t, pass[p], in_pass[p] + 1, NULL, counter, &conflict) ==
			    0) {
				in_pass[p]++;
				passes = p + 1 > passes ? p + 1 : passes;
				break;
			}
		}
	}
	return passes;
}

int unc_schedule_passes(const struct unc_table *t, const struct unc_code *code, size_t n)
{
	int passes = 0;

	if (n > UNC_MAX_CODES)
		n = UNC_MAX_CODES;
	for (size_t i = 0; i < n; i++) {
		int own = passes_of_pool(t, code, n, unc_type_pool(t, code[i].type));

		passes = own > passes ? own : passes;
	}
	return passes;
}
