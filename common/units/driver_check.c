/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets that are frozen while the kernel counts there for us. Its driver lets a unit go when it
 * begins, but not a socket, and what it gives then stands still like that of a unit without work.
 * So where nothing on a socket has moved, clocks of some of its units are opened for a moment.
 */
#include <limits.h>

#include "units/registers.h"

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

/* One of a unit of the socket, if it can be had: one that cannot proves nothing. */
static bool open_clock(struct unc_units *s, size_t i, unsigned socket,
		       struct unc_kernel_group **group, struct unc_reg_op *op)
{
	const struct unc_platform *p = s->platform;
	const struct unc_instance *u = &p->instances.unit[i];
	struct unc_kernel_code code;

	if (u->socket != socket || !p->kernel[i].pmus || !find_clock(s, u->type, &code) ||
	    !(p->kernel[i].pmus >> code.pmu & 1))
		return false;
	struct unc_kernel_event event = {code.config, code.config1, code.config2};
	if (unc_kernel_open(p->access, &p->kernel[i].place[code.pmu], &event, 1, group, NULL) < 0)
		return false;
	unc_kernel_op(*group, 0, op);
	return true;
}

/* Whether a clock of the socket had a counter, and none moved. */
static bool clocks_stand(struct unc_units *s, unsigned socket)
{
	struct unc_kernel_group *group[MAX_CLOCKS];
	struct unc_reg_op op[MAX_CLOCKS];
	uint64_t before[MAX_CLOCKS], ran[MAX_CLOCKS];
	bool stands = false, moves = false, passes;
	size_t n = 0;

	for (size_t i = 0; i < s->platform->instances.n && n < MAX_CLOCKS; i++)
		n += open_clock(s, i, socket, &group[n], &op[n]);
	unc_access_run(s->platform->access, op, n);
	for (size_t i = 0; i < n; i++) {
		before[i] = op[i].value;
		ran[i] = unc_kernel_ran(&op[i]);
	}
	passes = unc_platform_pause(s->platform, UNC_PROOF_NS);
	unc_access_run(s->platform->access, op, n);
	for (size_t i = 0; i < n; i++) {
		if (!op[i].error && unc_kernel_ran(&op[i]) != ran[i])
			*(op[i].value == before[i] ? &stands : &moves) = true;
		unc_kernel_close(group[i]);
	}
	return passes && stands && !moves;
}

/* Those of the sockets of which the clocks stand. */
static uint64_t run_clocks(struct unc_units *s, uint64_t sockets)
{
	uint64_t still = 0;

	for (unsigned i = 0; i < UNC_MAX_SOCKETS; i++)
		if ((sockets >> i & 1) && clocks_stand(s, i))
			still |= (uint64_t)1 << i;
	return still;
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
	int rc = 0;

	if (!s->platform->kernel)
		return 0;
	if (kind == UNC_FIRST)
		unc_units_stand_first(s, self);
	if (kind != UNC_PROVE)
		unc_units_stand(s, self, reads, UINT_MAX, kind);
	if (!find_still(s, self, reads) || !unc_platform_pause(s->platform, UNC_PROOF_NS))
		return 0;
	unc_units_stand(s, self, reads, UINT_MAX, UNC_SUSPECTS);
	still = run_clocks(s, find_still(s, self, reads));
	if (still && kind == UNC_FIRST && (rc = unc_units_unfreeze(s, still, err)) > 0)
		still = run_clocks(s, still);
	lose_sockets(s, self, first, still);
	return rc < 0 ? rc : 0;
}
