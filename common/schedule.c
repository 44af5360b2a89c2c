/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule.h"

#include <string.h>

enum { FREE = 0xff, MAX_COUNTERS = 32 };

struct matching {
	const struct unc_code *const *code;
	uint8_t owner[MAX_COUNTERS]; /* event on each counter */
	uint32_t usable;
};

/* Finds a counter for event i, moving others where needed (augmenting path). */
static bool match(struct matching *m, size_t i, uint32_t *tried)
{
	uint32_t allowed = m->code[i]->counters & m->usable;

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

int unc_schedule(const struct unc_code *const *code, size_t n, uint32_t busy, uint8_t *counter,
		 struct unc_conflict *conflict)
{
	struct matching m = {.code = code, .usable = ~busy};

	memset(m.owner, FREE, sizeof(m.owner));
	memset(counter, 0, n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!agree(code[k], code[i], conflict)) {
				conflict->a = k;
				conflict->b = i;
				return UNC_ERR_CONFLICT;
			}
	for (size_t i = 0; i < n; i++) {
		uint32_t tried = 0;

		if (code[i]->counter != UNC_NONE || match(&m, i, &tried))
			continue;
		conflict->kind = UNC_CONFLICT_COUNTER;
		conflict->a = conflict->b = i;
		for (unsigned c = 0; c < MAX_COUNTERS; c++)
			if ((code[i]->counters >> c & 1) && m.owner[c] != FREE) {
				conflict->a = m.owner[c];
				break;
			}
		return UNC_ERR_CONFLICT;
	}
	for (unsigned c = 0; c < MAX_COUNTERS; c++)
		if (m.owner[c] != FREE)
			counter[m.owner[c]] = (uint8_t)c;
	return 0;
}

/* Passes of the events of one type, first fit. */
static int passes_of_type(const struct unc_code *code, size_t n, uint16_t type)
{
	const struct unc_code *pass[UNC_MAX_CODES][UNC_MAX_CODES];
	size_t in_pass[UNC_MAX_CODES] = {0};
	int passes = 0;

	for (size_t i = 0; i < n; i++) {
		if (code[i].type != type)
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
			if (unc_schedule(pass[p], in_pass[p] + 1, 0, counter, &conflict) == 0) {
				in_pass[p]++;
				passes = p + 1 > passes ? p + 1 : passes;
				break;
			}
		}
	}
	return passes;
}

int unc_schedule_passes(const struct unc_code *code, size_t n)
{
	int passes = 0;

	if (n > UNC_MAX_CODES)
		n = UNC_MAX_CODES;
	for (size_t i = 0; i < n; i++) {
		int own = passes_of_type(code, n, code[i].type);

		passes = own > passes ? own : passes;
	}
	return passes;
}
