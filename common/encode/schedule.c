/* SPDX-License-Identifier: BSD-3-Clause */
#include "encode/schedule.h"

#include <string.h>

#include "base/text.h"

enum { FREE = 0xff, MAX_COUNTERS = 32 };

struct matching {
	const struct unc_code *const *code;
	const uint32_t *allowed;     /* counters of each event */
	uint8_t owner[MAX_COUNTERS]; /* event on each counter */
};

/* Finds a counter for event i, moving others where needed (augmenting path). */
static bool match(struct matching *m, size_t i, uint32_t *tried)
{
	uint32_t allowed = m->allowed[i];

	for (unsigned c = 0; c < MAX_COUNTERS; c++) {
		if (!(allowed >> c & 1) || (*tried >> c & 1))
			continue;
		*tried |= (uint32_t)1 << c;
		if (m->owner[c] == FREE || match(m, m->owner[c], tried)) {
			m->owner[c] = (uint8_t)i;
			return true;
		}
	}
	return false;
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

/* Gives every event one of its allowed counters. On failure *unmatched is the first without. */
static bool match_all(struct matching *m, size_t n, size_t *unmatched)
{
	memset(m->owner, FREE, sizeof(m->owner));
	for (size_t i = 0; i < n; i++) {
		uint32_t tried = 0;

		if (m->code[i]->counter == UNC_NONE && !match(m, i, &tried)) {
			*unmatched = i;
			return false;
		}
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
static bool choose_leaders(struct lanes *l, size_t k)
{
	size_t unmatched;

	if (k == l->n_lanes) {
		for (size_t i = 0; i < l->n; i++)
			l->allowed[i] = allowed_with(l, i);
		return match_all(l->m, l->n, &unmatched);
	}
	for (size_t i = 0; i <= l->n; i++) {
		if (i < l->n &&
		    (!in_lane(l, i, &l->lane[k]) || leads_already(l, k, i) ||
		     !(l->code[i]->counters & l->usable & (uint32_t)1 << l->lane[k].lead)))
			continue;
		l->leader[k] = i;
		if (choose_leaders(l, k + 1))
			return true;
	}
	return false;
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

/* ---- */

static int fail_counter(const struct matching *m, size_t event, struct unc_conflict *conflict)
{
	conflict->kind = UNC_CONFLICT_COUNTER;
	conflict->a = conflict->b = event;
	for (unsigned c = 0; c < MAX_COUNTERS; c++)
		if ((m->code[event]->counters >> c & 1) && m->owner[c] != FREE) {
			conflict->a = m->owner[c];
			break;
		}
	return UNC_ERR_CONFLICT;
}

int unc_schedule(const struct unc_table *t, const struct unc_code *const *code, size_t n,
		 uint32_t busy, uint8_t *counter, struct unc_conflict *conflict)
{
	uint32_t allowed[UNC_MAX_CODES];
	struct matching m = {.code = code, .allowed = allowed};
	size_t unmatched;
	bool laned = false;

	memset(counter, 0, n);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			if (!agree(code[k], code[i], conflict)) {
				conflict->a = k;
				conflict->b = i;
				return UNC_ERR_CONFLICT;
			}
		allowed[i] = code[i]->counters & ~busy;
		laned |= code[i]->lane != 0;
	}
	if (!match_all(&m, n, &unmatched))
		return fail_counter(&m, unmatched, conflict);
	if (laned) {
		const struct unc_range *rows = &t->type[code[0]->type].lanes;
		struct lanes l = {.t = t,
				  .lane = &t->lane[rows->first],
				  .n_lanes = rows->n,
				  .code = code,
				  .n = n,
				  .usable = ~busy,
				  .m = &m,
				  .allowed = allowed};

		if (!choose_leaders(&l, 0)) {
			blame_lanes(&l, conflict);
			return UNC_ERR_CONFLICT;
		}
	}
	for (unsigned c = 0; c < MAX_COUNTERS; c++)
		if (m.owner[c] != FREE)
			counter[m.owner[c]] = (uint8_t)c;
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
			if (unc_schedule(t, pass[p], in_pass[p] + 1, 0, counter, &conflict) == 0) {
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
