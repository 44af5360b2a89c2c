/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets that are frozen while the kernel counts there for us. Its driver lets a unit go when it
 * begins, but not a socket, and what it gives then stands still like that of a unit without work.
 * So where nothing on a socket has moved, clocks of some of its units are opened for a moment.
 */
#include <limits.h>
#include <stdlib.h>

#include "units/inside.h"

enum { MAX_CLOCKS = 8 }; /* of a socket: some of its units may have nothing that drives them */

/* ---- what has moved */

/* Whether a freeze of the socket stops a counter: none that always runs, nor those of a unit
 * that has no freeze. */
static bool stops(const struct unc_table *t, const struct unc_code *code)
{
	return t->type[unc_type_pool(t, code->type)].steps_freeze.n &&
	       (code->counter == UNC_NONE || t->counter[code->counter].ctl != UNC_NONE);
}

/* Sockets, as bits, where `self`, the driver, counts, and nothing it counts has moved. */
static uint64_t find_still(const struct unc_units *s, const struct unc_unit_methods *self,
			   size_t first)
{
	uint64_t asked = 0, moved = 0;

	for (size_t i = first; i < s->n_reads; i++) {
		const struct unc_slot *slot = &s->slot[s->read_slot[i]];
		uint64_t socket = (uint64_t)1 << s->platform->instances.unit[slot->instance].socket;

		if (s->wanted[slot->instance].by != self ||
		    !stops(s->platform->table, &slot->code) || s->read[i].error)
			continue;
		asked |= socket;
		moved |= s->wanted[slot->instance].suspect ? 0 : socket;
	}
	return asked & ~moved;
}

/* ---- clocks */

struct clocks {
	unsigned socket[UNC_MAX_SOCKETS * MAX_CLOCKS];
	struct unc_kernel_group *group[UNC_MAX_SOCKETS * MAX_CLOCKS];
	struct unc_reg_op op[UNC_MAX_SOCKETS * MAX_CLOCKS];
	uint64_t before[UNC_MAX_SOCKETS * MAX_CLOCKS], ran[UNC_MAX_SOCKETS * MAX_CLOCKS];
	size_t n;
};

/* A clock of the unit's type that the kernel counts. */
static bool find_clock(struct unc_units *s, unsigned type, struct unc_kernel_code *out)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_range *events = &t->type[type].events;

	for (uint32_t i = events->first; i < events->first + events->n; i++) {
		const struct unc_code *code =
			t->event[i].clock ? unc_clock_code(s, &t->event[i]) : NULL;

		if (code && stops(t, code) && unc_kernel_encode(t, code, out, NULL) == 0)
			return true;
	}
	return false;
}

/* Those of the socket that can be had: one that cannot proves nothing. */
static void open_clocks(struct unc_units *s, unsigned socket, struct clocks *clocks)
{
	const struct unc_platform *p = s->platform;
	size_t end = clocks->n + MAX_CLOCKS;

	for (size_t i = 0; i < p->instances.n && clocks->n < end; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		struct unc_kernel_group **group = &clocks->group[clocks->n];
		struct unc_kernel_code code;

		if (u->socket != socket || !p->kernel[i].pmus || !find_clock(s, u->type, &code) ||
		    !(p->kernel[i].pmus >> code.pmu & 1))
			continue;
		struct unc_kernel_event event = {code.config, code.config1, code.config2};
		if (unc_kernel_open(p->access, &p->kernel[i].place[code.pmu], &event, 1, group,
				    NULL) < 0)
			continue;
		unc_kernel_op(*group, 0, &clocks->op[clocks->n]);
		clocks->socket[clocks->n++] = socket;
	}
}

/* The sockets where a clock had a counter, and none moved. */
static uint64_t watch(struct unc_units *s, struct clocks *clocks)
{
	uint64_t stands = 0, moves = 0;

	unc_access_run(s->platform->access, clocks->op, clocks->n);
	for (size_t i = 0; i < clocks->n; i++) {
		clocks->before[i] = clocks->op[i].value;
		clocks->ran[i] = unc_kernel_ran(&clocks->op[i]);
	}
	bool passes = unc_platform_pause(s->platform, UNC_PROOF_NS);
	unc_access_run(s->platform->access, clocks->op, clocks->n);
	for (size_t i = 0; i < clocks->n; i++) {
		const struct unc_reg_op *op = &clocks->op[i];
		uint64_t socket = (uint64_t)1 << clocks->socket[i];

		if (!op->error && unc_kernel_ran(op) != clocks->ran[i])
			*(op->value == clocks->before[i] ? &stands : &moves) |= socket;
	}
	return passes ? stands & ~moves : 0;
}

/* Leaves the sockets of which the clocks stand. */
static int run_clocks(struct unc_units *s, uint64_t *still, struct unc_error *err)
{
	struct clocks *clocks = calloc(1, sizeof(*clocks));

	if (!clocks)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	for (unsigned i = 0; i < UNC_MAX_SOCKETS; i++)
		if (*still >> i & 1)
			open_clocks(s, i, clocks);
	*still &= watch(s, clocks);
	for (size_t i = 0; i < clocks->n; i++)
		unc_kernel_close(clocks->group[i]);
	free(clocks);
	return 0;
}

/* ---- both */

static void lose_sockets(struct unc_units *s, const struct unc_unit_methods *self, size_t first,
			 uint64_t sockets)
{
	for (size_t i = first; i < s->n_claims; i++)
		if (s->claim[i].by == self && sockets >> s->claim[i].instance->socket & 1)
			unc_units_lose_frozen(s, unc_units_number(s, s->claim[i].instance),
					      UNC_TURN);
}

int unc_driver_prove(struct unc_units *s, const struct unc_unit_methods *self, size_t first,
		     enum unc_check_kind kind, struct unc_error *err)
{
	size_t reads = first ? s->n_always : 0;
	uint64_t still;
	int rc;

	if (!s->platform->kernel)
		return 0;
	if (kind == UNC_FIRST)
		unc_units_stand_first(s, self);
	if (kind != UNC_PROVE)
		unc_units_stand(s, self, reads, UINT_MAX, true);
	if (!find_still(s, self, reads) || !unc_platform_pause(s->platform, UNC_PROOF_NS))
		return 0;
	unc_units_stand(s, self, reads, UINT_MAX, false);
	if (!(still = find_still(s, self, reads)))
		return 0;
	if ((rc = run_clocks(s, &still, err)) < 0)
		return rc;
	if (still && kind == UNC_FIRST && (rc = unc_units_unfreeze(s, still, err)) > 0)
		rc = run_clocks(s, &still, err);
	lose_sockets(s, self, first, still);
	return rc;
}
