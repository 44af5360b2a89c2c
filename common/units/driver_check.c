/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets and types of units that stand while the kernel counts there for us. Its driver lets a unit
 * go when it begins, but not a socket, and may have failed to start a type; what it gives then stands
 * still like that of a unit without work. So where nothing of a type on a socket has moved, clocks of
 * its units are opened for a moment, one after the other.
 */
#include <limits.h>

#include "units/registers.h"

enum { MAX_CLOCKS = 8 }; /* of a socket: some of its units may have nothing that drives them */

/* ---- clocks */

/* A clock of the type that the kernel counts. */
static bool find_clock(struct unc_units *s, unsigned type, struct unc_kernel_code *out)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_range *events = &t->type[type].events;

	for (uint32_t i = events->first; i < events->first + events->n; i++) {
		const struct unc_code *code =
			t->event[i].clock ? unc_clock_code(s, &t->event[i]) : NULL;

		if (code && unc_kernel_encode(t, code, out, NULL) == 0)
			return true;
	}
	return false;
}

/* That of unit i, if it can be had: one that cannot proves nothing. */
static bool open_clock(struct unc_units *s, size_t i, struct unc_kernel_group **group,
		       struct unc_reg_op *op)
{
	const struct unc_platform *p = s->platform;
	struct unc_kernel_code code;

	if (!p->kernel[i].pmus || unc_units_stops_clock(s, &p->instances.unit[i]) ||
	    !find_clock(s, p->instances.unit[i].type, &code) ||
	    !(p->kernel[i].pmus >> code.pmu & 1))
		return false;
	struct unc_kernel_event event = {code.config, code.config1, code.config2};
	if (unc_kernel_open(p->access, &p->kernel[i].place[code.pmu], &event, 1, group, NULL) < 0)
		return false;
	unc_kernel_op(*group, 0, op);
	return true;
}

/* UNC_COUNTS; UNC_STANDS; UNC_DARK: it cannot be had, or had no counter. */
static enum unc_proof run_clock(struct unc_units *s, size_t i)
{
	enum unc_proof proof = UNC_DARK;
	struct unc_kernel_group *group;
	uint64_t before, ran;
	struct unc_reg_op op;

	if (!open_clock(s, i, &group, &op))
		return proof;
	unc_access_run(s->platform->access, &op, 1);
	before = op.value;
	ran = unc_kernel_ran(&op);
	if (unc_platform_pause(s->platform, UNC_PROOF_NS) &&
	    unc_access_run(s->platform->access, &op, 1) == 0 && unc_kernel_ran(&op) != ran)
		proof = op.value == before ? UNC_STANDS : UNC_COUNTS;
	unc_kernel_close(group);
	return proof;
}

/* What clocks of a socket show: of all units of a type; or (UNC_NONE) of some that a freeze stops, as
 * far as they can be had. */
static enum unc_proof run_clocks(struct unc_units *s, unsigned socket, unsigned type)
{
	const struct unc_instances *all = &s->platform->instances;
	size_t stand = 0, dark = 0;
	unsigned last = UNC_NONE; /* of a socket, one a type that stands */

	for (size_t i = 0; i < all->n && (type == UNC_NONE ? stand : dark) < MAX_CLOCKS; i++) {
		const struct unc_instance *u = &all->unit[i];
		enum unc_proof proof;

		if (u->socket != socket ||
		    (type != UNC_NONE ? u->type != type
				      : u->type == last ||
						!s->platform->table->type[u->type].steps_freeze.n))
			continue;
		if ((proof = run_clock(s, i)) == UNC_COUNTS)
			return proof;
		last = proof == UNC_STANDS ? u->type : last;
		stand += proof == UNC_STANDS;
		dark += proof == UNC_DARK;
	}
	return stand && (type == UNC_NONE || !dark) ? UNC_STANDS : UNC_DARK;
}

/* ---- types */

/* Whether a claim is the first of its type on its socket: most stand side by side. */
static bool is_first(const struct unc_units *s, size_t first, size_t i)
{
	return i == first || !unc_units_are_kin(s->claim[i - 1].instance, s->claim[i].instance);
}

/* Whether nothing has moved that counts on units of a type on a socket, `self` for some of them. */
static bool type_stands(const struct unc_units *s, const struct unc_unit_methods *self,
			const struct unc_instance *unit, enum unc_check_kind kind)
{
	bool asked = false;

	for (size_t i = 0; i < s->n_claims; i++) {
		const struct unc_wanted *w = unc_units_wanted(s, s->claim[i].instance);
		bool ours = s->claim[i].by == self;

		if (!unc_units_are_kin(s->claim[i].instance, unit))
			continue;
		if (ours ? !w->suspect || (w->ran && kind == UNC_FIRST) : w->proof == UNC_COUNTS)
			return false;
		asked |= ours;
	}
	return asked;
}

/* What clocks of such a type show, or of its socket, which goes on where counting begins, if it can.
 * Without a clock nothing does. */
static enum unc_proof prove_type(struct unc_units *s, const struct unc_instance *u,
				 enum unc_check_kind kind)
{
	const struct unc_table *t = s->platform->table;
	enum unc_proof proof = run_clocks(s, u->socket, u->type);

	if (proof != UNC_COUNTS && t->type[u->type].steps_freeze.n &&
	    run_clocks(s, u->socket, UNC_NONE) == UNC_STANDS) {
		proof = UNC_STANDS;
		if (kind == UNC_FIRST && unc_units_unfreeze(s, (uint64_t)1 << u->socket, NULL) > 0)
			proof = run_clocks(s, u->socket, u->type);
	}
	return unc_type_has_clock(t, u->type) || proof == UNC_STANDS ? proof : UNC_COUNTS;
}

static bool is_passed(const struct unc_kernel_unit *unit)
{
	return unit->place[unit->pmus & 1 ? 0 : 1].passed;
}

void unc_driver_prove_full(struct unc_units *s, const struct unc_unit_methods *self, size_t first)
{
	for (size_t i = first; i < s->n_claims; i++) {
		const struct unc_claim *u = &s->claim[i];
		struct unc_wanted *w = unc_units_wanted(s, u->instance);

		/* What the broker opens keeps its counter from the events that come next. */
		if (u->by == self && is_first(s, first, i) && !w->ran &&
		    !is_passed(&s->platform->kernel[unc_units_number(s, u->instance)]) &&
		    u->n_counters >= s->platform->table->type[u->instance->type].n_counters)
			w->ran =
				run_clocks(s, u->instance->socket, u->instance->type) == UNC_COUNTS;
	}
}

int unc_driver_prove(struct unc_units *s, const struct unc_unit_methods *self, size_t first,
		     enum unc_check_kind kind)
{
	size_t reads = first ? s->n_always : 0;
	enum unc_proof proof = UNC_COUNTS;

	if (!s->platform->kernel)
		return 0;
	if (kind == UNC_FIRST)
		unc_units_stand_first(s, self);
	if (!unc_units_stand(s, self, reads, UINT_MAX, kind) ||
	    !unc_platform_pause(s->platform, UNC_PROOF_NS) ||
	    !unc_units_stand(s, self, reads, UINT_MAX, UNC_SUSPECTS))
		return 0;
	for (size_t i = first; i < s->n_claims; i++) {
		const struct unc_instance *u = s->claim[i].instance;

		if (is_first(s, first, i))
			proof = type_stands(s, self, u, kind) ? prove_type(s, u, kind) : UNC_COUNTS;
		if (s->claim[i].by == self && proof == UNC_STANDS)
			unc_units_lose_frozen(s, unc_units_number(s, u), UNC_TURN);
		else if (s->claim[i].by == self && proof == UNC_DARK && kind == UNC_FIRST)
			unc_units_set_unshown(s, u, UNC_DARK);
	}
	return 0;
}
