/* SPDX-License-Identifier: BSD-3-Clause */
#include "encode/schedule.h"

#include <string.h>

#include "base/text.h"

enum { FREE = 0xff, MAX_COUNTERS = 32 };

struct work {
	const struct unc_table *t;
	const struct unc_code *const *code;
	size_t n;
	struct unc_conflict *conflict;
	uint32_t usable; /* counters that are not taken */
	const struct unc_tbl_lane *lane;
	size_t n_lanes;
	size_t leader[UNC_MAX_LANES]; /* the event on the leading counter of each lane; n: none */
	/* during an assignment: */
	uint32_t allowed[UNC_MAX_CODES]; /* allowed counters of each event */
	bool sure;                       /* only counters that all sources allow */
	uint8_t owner[MAX_COUNTERS];     /* event on each counter */
	uint8_t counter[UNC_MAX_CODES];  /* counter of each event */
	/* the best assignment so far: */
	bool found;
	uint32_t best;                 /* its counters */
	uint8_t chosen[UNC_MAX_CODES]; /* counter of each event */
};

/*
 * Finds an event for counter c: the first without a counter, else one whose counter another event
 * can take (augmenting path). Counters that have an event keep one.
 */
static bool assign_counter(struct work *w, unsigned c, uint64_t *tried)
{
	for (int has = 0; has < 2; has++)
		for (size_t i = 0; i < w->n; i++) {
			uint32_t not_now = w->sure ? w->code[i]->doubtful : 0;

			if (!((w->allowed[i] & ~not_now) >> c & 1) || (*tried >> i & 1) ||
			    (w->counter[i] != FREE) != has)
				continue;
			*tried |= (uint64_t)1 << i;
			if (has && !assign_counter(w, w->counter[i], tried))
				continue;
			w->owner[c] = (uint8_t)i;
			w->counter[i] = (uint8_t)c;
			return true;
		}
	return false;
}

/*
 * Gives every event one of its allowed counters, together the highest: the kernel's driver takes
 * the lowest and ignores other programs. Counters that all sources allow come first.
 */
static bool match_all(struct work *w)
{
	uint32_t any = 0; /* counters that some event may have */

	memset(w->owner, FREE, sizeof(w->owner));
	memset(w->counter, FREE, sizeof(w->counter));
	w->sure = true;
	for (size_t i = 0; i < w->n; i++)
		any |= w->allowed[i];
	for (unsigned round = 0; round < 2; round++, w->sure = false)
		for (unsigned c = MAX_COUNTERS; c-- > 0;) {
			uint64_t tried = 0;

			if ((any >> c & 1) && w->owner[c] == FREE)
				assign_counter(w, c, &tried);
		}
	for (size_t i = 0; i < w->n; i++)
		if (w->code[i]->counter == UNC_NONE && w->counter[i] == FREE)
			return false;
	return true;
}

/* Counters that have an event. */
static uint32_t used(const struct work *w)
{
	uint32_t counters = 0;

	for (unsigned c = 0; c < MAX_COUNTERS; c++)
		counters |= (uint32_t)(w->owner[c] != FREE) << c;
	return counters;
}

/* Whether two events of one unit may be counted at the same time. */
static bool may_coincide(const struct unc_code *a, const struct unc_code *b,
			 struct unc_conflict *conflict)
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

/* ---- lanes: counters with a leading counter */

static const struct unc_range *lanes_of(const struct unc_table *t, const struct unc_code *code)
{
	return &t->type[unc_type_pool(t, code->type)].lanes;
}

static bool in_lane(const struct unc_table *t, const struct unc_code *c,
		    const struct unc_tbl_lane *lane)
{
	return c->counter == UNC_NONE && c->lane && t->lane[c->lane - 1].name == lane->name;
}

/* Whether the event can use the leading counter of one of its lanes. */
static bool can_lead(const struct unc_table *t, const struct unc_code *c)
{
	const struct unc_range *lanes = lanes_of(t, c);

	for (uint32_t i = lanes->first; i < lanes->first + lanes->n; i++)
		if (in_lane(t, c, &t->lane[i]) && (c->counters >> t->lane[i].lead & 1))
			return true;
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

/* Whether two events may count in one lane. */
static bool of_one_set(const struct unc_code *a, const struct unc_code *b,
		       const struct unc_tbl_lane *lane)
{
	return a->set == b->set && !((a->ctl ^ b->ctl) & lane->same);
}

/* The counters that an event may use with the chosen leaders. */
static uint32_t allowed_with(const struct work *w, size_t event)
{
	const struct unc_code *code = w->code[event];
	uint32_t allowed = code->counter == UNC_NONE ? code->counters & w->usable : 0;

	for (size_t k = 0; k < w->n_lanes; k++) {
		const struct unc_tbl_lane *lane = &w->lane[k];
		size_t leader = w->leader[k];
		uint32_t lead = (uint32_t)1 << lane->lead;

		if (leader == event)
			return allowed & lead;
		if (leader < w->n)
			allowed &= ~lead;
		if (in_lane(w->t, code, lane) &&
		    (leader == w->n || !of_one_set(code, w->code[leader], lane)))
			allowed &= ~lane->counters;
	}
	return allowed;
}

static bool leads_already(const struct work *w, size_t k, size_t event)
{
	while (k > 0)
		if (w->leader[--k] == event)
			return true;
	return false;
}

/* Tries every event, and none, as the leader of lane k and those after it. */
static void choose_leaders(struct work *w, size_t k)
{
	if (k == w->n_lanes) {
		for (size_t i = 0; i < w->n; i++)
			w->allowed[i] = allowed_with(w, i);
		if (match_all(w) && (!w->found || used(w) > w->best)) {
			w->found = true;
			w->best = used(w);
			memcpy(w->chosen, w->counter, sizeof(w->chosen));
		}
		return;
	}
	for (size_t i = 0; i <= w->n; i++) {
		if (i < w->n &&
		    (!in_lane(w->t, w->code[i], &w->lane[k]) || leads_already(w, k, i) ||
		     !(w->code[i]->counters & w->usable & (uint32_t)1 << w->lane[k].lead)))
			continue;
		w->leader[k] = i;
		choose_leaders(w, k + 1);
	}
}

/* Whether all events get counters, with the first n_lanes lanes in use. */
static bool assign_all(struct work *w, size_t n_lanes)
{
	w->n_lanes = n_lanes;
	w->found = false;
	choose_leaders(w, 0);
	return w->found;
}

/* Whether an event needs a leading event, and there is none. */
static bool lacks_lead(const struct work *w, size_t event)
{
	for (size_t i = 0; i < w->n; i++)
		if (unc_schedule_follows(w->t, w->code[event], w->code[i]))
			return false;
	return unc_schedule_follows(w->t, w->code[event], NULL);
}

/* Whether two events are in one lane that cannot count both. */
static bool disagree(const struct work *w, const struct unc_code *a, const struct unc_code *b)
{
	for (size_t k = 0; k < w->n_lanes; k++)
		if (in_lane(w->t, a, &w->lane[k]) && in_lane(w->t, b, &w->lane[k]) &&
		    !of_one_set(a, b, &w->lane[k]))
			return true;
	return false;
}

static void blame(struct work *w, enum unc_conflict_kind kind, size_t a, size_t b)
{
	w->conflict->kind = kind;
	w->conflict->a = a;
	w->conflict->b = b;
}

/* Names two events that do not fit together; if no pair is to blame, a leading counter is taken. */
static void blame_lanes(struct work *w)
{
	size_t last = w->n - 1;

	for (size_t i = 0; i < w->n; i++)
		if (lacks_lead(w, i)) {
			blame(w, UNC_CONFLICT_FOLLOWS, i, i);
			return;
		}
	for (size_t b = w->n; b-- > 0;)
		for (size_t a = 0; a < b; a++)
			if (disagree(w, w->code[a], w->code[b])) {
				blame(w, UNC_CONFLICT_SET, a, b);
				return;
			}
	for (size_t i = 0; i < w->n; i++)
		if (w->code[i]->lane)
			last = i;
	blame(w, UNC_CONFLICT_LEAD, last, last);
}

/* ---- */

/* Names the first event that gets no counter beside the events before it. */
static void blame_counter(struct work *w)
{
	size_t event;

	for (w->n = 1; match_all(w);)
		w->n++;
	event = w->n - 1;
	blame(w, UNC_CONFLICT_COUNTER, event, event);
	for (unsigned c = 0; c < MAX_COUNTERS; c++)
		if ((w->code[event]->counters >> c & 1) && w->owner[c] != FREE) {
			w->conflict->a = w->owner[c];
			break;
		}
}

static int check_pairs(const struct unc_code *const *code, size_t n, struct unc_conflict *conflict)
{
	for (size_t i = 0; i < n; i++) {
		conflict->b = i;
		for (size_t k = 0; k < i; k++) {
			conflict->a = k;
			if (!may_coincide(code[k], code[i], conflict))
				return UNC_ERR_CONFLICT;
		}
	}
	return 0;
}

int unc_schedule(const struct unc_table *t, const struct unc_code *const *code, size_t n,
		 uint32_t taken, uint8_t *counter, struct unc_conflict *conflict)
{
	struct work w = {.t = t, .code = code, .n = n, .conflict = conflict};
	bool laned = false;

	if (n == 0)
		return 0;
	memset(counter, 0, n);
	if (check_pairs(code, n, conflict) < 0)
		return UNC_ERR_CONFLICT;
	const struct unc_range *lanes = lanes_of(t, code[0]);
	w.lane = &t->lane[lanes->first];
	w.usable = ~taken;
	for (size_t i = 0; i < n; i++)
		laned |= code[i]->lane != 0;
	if (!assign_all(&w, 0))
		blame_counter(&w);
	else if (laned && !assign_all(&w, lanes->n))
		blame_lanes(&w);
	if (!w.found)
		return UNC_ERR_CONFLICT;
	for (size_t i = 0; i < n; i++)
		counter[i] = w.chosen[i] == FREE ? 0 : w.chosen[i];
	return 0;
}

void unc_schedule_leads(const struct unc_table *t, const struct unc_code *code, char *buf,
			size_t size)
{
	const struct unc_tbl_lane *lane = &t->lane[code->lane - 1];
	const struct unc_range *events = &t->type[code->type].events;
	struct unc_buf text = unc_buf(buf, size);

	unc_put(&text, "one of ");
	for (const struct unc_tbl_event *e = NULL; (e = UNC_NEXT(t, event, *events, e));)
		if (e->lane == code->lane && e->set == code->set && (e->counters >> lane->lead & 1))
			unc_put_word(&text, unc_tbl_str(t, e->name));
	unc_put(&text, " on counter %u", lane->lead);
}

/* Whether an event fits into a pass, beside earlier events of the pass and its pool. */
static bool fits_pass(const struct unc_table *t, const struct unc_code *code, const int *pass,
		      size_t event, int number)
{
	const struct unc_code *of[UNC_MAX_CODES];
	uint8_t counter[UNC_MAX_CODES];
	struct unc_conflict conflict;
	unsigned pool = unc_type_pool(t, code[event].type);
	size_t n = 0;

	for (size_t i = 0; i < event; i++)
		if (pass[i] == number && unc_type_pool(t, code[i].type) == pool)
			of[n++] = &code[i];
	of[n++] = &code[event];
	return unc_schedule(t, of, n, 0, counter, &conflict) == 0;
}

int unc_schedule_passes(const struct unc_table *t, const struct unc_code *code, size_t n)
{
	int pass[UNC_MAX_CODES], passes = 0; /* -1: another event counts it, or no pass does */

	for (size_t i = 0; i < n && i < UNC_MAX_CODES; i++) {
		bool have = false;
		int p = 0;

		for (size_t k = 0; k < i; k++)
			have |= pass[k] >= 0 && unc_code_same(&code[k], &code[i]);
		while (!have && p < UNC_MAX_CODES && !fits_pass(t, code, pass, i, p))
			p++;
		pass[i] = have || p == UNC_MAX_CODES ? -1 : p;
		passes = pass[i] >= passes ? pass[i] + 1 : passes;
	}
	return passes;
}
