/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: sockets that are frozen while the kernel counts there for us. Its driver lets a unit go
 * when it begins, but not a socket, and what it gives then stands still like that of a unit without
 * work. So where nothing on a socket has moved, clocks of some of its units are opened for a moment.
 */
#include <stdlib.h>

#include "units/units.h"

enum { MAX_CLOCKS = 8 }; /* of a socket: some of its units may have nothing that drives them */

/* ---- what has moved */

/* Whether a freeze of the socket stops a counter: none that always runs, nor those of a unit that has
 * no freeze. */
static bool stops(const struct unc_table *t, const struct unc_code *code)
{
	return t->type[unc_type_pool(t, code->type)].steps_freeze.n &&
	       (code->counter == UNC_NONE || t->counter[code->counter].ctl != UNC_NONE);
}

static bool tells(const struct unc_units *s, const struct unc_slot *slot)
{
	return s->wanted[slot->instance].by_kernel && stops(s->platform->table, &slot->code);
}

/* What the events held before the proof. */
static void take_first(struct unc_units *s, size_t first)
{
	size_t from = first ? s->n_always : 0;

	unc_access_run(s->platform->access, s->read + from, s->n_reads - from);
	for (size_t i = from; i < s->n_reads; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		if (!s->wanted[slot->instance].by_kernel)
			continue;
		slot->last = s->read[i].value;
		slot->kernel.shown = slot->total;
	}
}

/* Sockets on which the kernel counts for unit[first] or one behind it, and nothing has moved since
 * that was asked last. False: there are none. */
static bool find_still(struct unc_units *s, size_t first, bool *still)
{
	size_t from = first ? s->n_always : 0;
	bool moves[UNC_MAX_SOCKETS] = {false}, any = false;

	for (size_t i = 0; i < UNC_MAX_SOCKETS; i++)
		still[i] = false;
	unc_access_run(s->platform->access, s->read + from, s->n_reads - from);
	for (size_t i = from; i < s->n_reads; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];
		unsigned socket = s->platform->instances.unit[slot->instance].socket;

		if (!tells(s, slot) || s->read[i].error)
			continue;
		still[socket] = true;
		moves[socket] |=
			s->read[i].value != slot->last || slot->total != slot->kernel.shown;
		slot->kernel.shown = slot->total;
	}
	for (size_t i = 0; i < UNC_MAX_SOCKETS; i++) {
		still[i] &= !moves[i];
		any |= still[i];
	}
	return any;
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
static bool find_clock(const struct unc_table *t, unsigned type, struct unc_kernel_code *out)
{
	const struct unc_range *events = &t->type[type].events;

	for (uint32_t i = events->first; i < events->first + events->n; i++) {
		struct unc_spec spec = {
			.type = (uint16_t)type, .event = (uint16_t)i, .index = -1, .socket = -1};
		struct unc_code code;

		if (t->event[i].clock && unc_spec_encode(t, &spec, 0, 1, &code, NULL) == 0 &&
		    stops(t, &code) && unc_kernel_encode(t, &code, out, NULL) == 0)
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

		if (u->socket != socket || !p->kernel[i].pmus ||
		    !find_clock(p->table, u->type, &code) || !(p->kernel[i].pmus >> code.pmu & 1))
			continue;
		struct unc_kernel_event event = {code.config, code.config1, code.config2};
		if (unc_kernel_open(p->access, &p->kernel[i].place[code.pmu], &event, 1, group,
				    NULL) < 0)
			continue;
		unc_kernel_op(*group, 0, &clocks->op[clocks->n]);
		clocks->socket[clocks->n++] = socket;
	}
}

/* Leaves the sockets where a clock had a counter, and none moved. False: there are none. */
static bool watch(struct unc_units *s, struct clocks *clocks, bool *still)
{
	bool stands[UNC_MAX_SOCKETS] = {false}, moves[UNC_MAX_SOCKETS] = {false}, any = false;

	unc_access_run(s->platform->access, clocks->op, clocks->n);
	for (size_t i = 0; i < clocks->n; i++) {
		clocks->before[i] = clocks->op[i].value;
		clocks->ran[i] = unc_kernel_ran(&clocks->op[i]);
	}
	bool passes = unc_platform_pause(s->platform, UNC_PROOF_NS);
	unc_access_run(s->platform->access, clocks->op, clocks->n);
	for (size_t i = 0; i < clocks->n; i++) {
		const struct unc_reg_op *op = &clocks->op[i];

		if (op->error || unc_kernel_ran(op) == clocks->ran[i])
			continue;
		stands[clocks->socket[i]] |= op->value == clocks->before[i];
		moves[clocks->socket[i]] |= op->value != clocks->before[i];
	}
	for (size_t i = 0; i < UNC_MAX_SOCKETS; i++) {
		still[i] &= passes && stands[i] && !moves[i];
		any |= still[i];
	}
	return any;
}

/* ---- both */

static void lose_socket(struct unc_units *s, size_t first, unsigned socket)
{
	for (size_t i = first; i < s->n_units; i++)
		if (s->unit[i].by_kernel && s->unit[i].instance->socket == socket)
			unc_units_lose_unit(s, &s->unit[i], UNC_LOST_FROZEN, UNC_NONE, 0);
}

/* Leaves the sockets of which the clocks stand. *any: there are some. */
static int run_clocks(struct unc_units *s, bool *still, bool *any, struct unc_error *err)
{
	struct clocks *clocks = calloc(1, sizeof(*clocks));

	if (!clocks)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	for (unsigned i = 0; i < UNC_MAX_SOCKETS; i++)
		if (still[i])
			open_clocks(s, i, clocks);
	*any = watch(s, clocks, still);
	for (size_t i = 0; i < clocks->n; i++)
		unc_kernel_close(clocks->group[i]);
	free(clocks);
	return 0;
}

int unc_units_kernel_prove(struct unc_units *s, size_t first, bool begins, struct unc_error *err)
{
	bool still[UNC_MAX_SOCKETS], frozen = false, unfrozen = false;
	int rc;

	if (!s->platform->kernel || !s->n_reads)
		return 0;
	if (begins)
		take_first(s, first);
	if (!find_still(s, first, still) || !unc_platform_pause(s->platform, UNC_PROOF_NS) ||
	    !find_still(s, first, still))
		return 0;
	rc = run_clocks(s, still, &frozen, err);
	if (rc == 0 && frozen && begins)
		rc = unc_units_unfreeze(s, still, &unfrozen, err);
	if (rc == 0 && unfrozen)
		rc = run_clocks(s, still, &frozen, err);
	for (unsigned i = 0; i < UNC_MAX_SOCKETS && frozen; i++)
		if (still[i])
			lose_socket(s, first, i);
	return rc;
}
