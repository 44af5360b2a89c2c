/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: does a unit count at all? A frozen one gives values like any other, that stand still.
 * So each has to prove that it counts: by its counters, else by a clock that one of them counts for
 * a moment. A clock that does not move while time passes is proof of the contrary.
 *
 * Units that nothing drives (an empty memory channel, an unused link) stand still as well, and
 * their 0 is true: a unit that is ours alone, and was let go by the start, cannot be frozen by
 * itself, and its socket is not where another unit counts. Of a unit that has no clock, and stands
 * still, clocks of others of its socket tell.
 */
#include <stdlib.h>

#include "units/inside.h"

static struct unc_wanted *wanted_of(const struct unc_units *s, const struct unc_claim *u)
{
	return &s->wanted[unc_units_number(s, u->instance)];
}

static void lose_frozen(struct unc_units *s, const struct unc_claim *u)
{
	unc_units_lose_unit(s, unc_units_number(s, u->instance), UNC_TURN,
			    &(struct unc_loss){.why = UNC_LOST_FROZEN});
}

/* ---- suspects */

/* Reads the counters, from read[first] on; leaves those suspects of which none has moved since the
 * last look. One that was not read in it holds what it held in an earlier one. */
static void drop_moving(struct unc_units *s, size_t first, struct unc_suspects *suspects)
{
	size_t kept = 0;

	unc_access_run(s->platform->access, s->read + first, s->n_reads - first);
	s->proofs++;
	for (size_t k = first; k < s->n_reads; k++) {
		const struct unc_slot *slot = &s->slot[s->read_slot[k]];

		if (!s->read[k].error && !slot->unread && s->read[k].value != slot->last &&
		    unc_units_control(s, slot) != UNC_NONE)
			s->wanted[slot->instance].moved = s->proofs;
	}
	for (size_t i = 0; i < suspects->n; i++)
		if (wanted_of(s, suspects->unit[i])->moved != s->proofs)
			suspects->unit[kept++] = suspects->unit[i];
	suspects->n = kept;
}

/* A counter that may move is not lent to a clock: where it was not read, from read[first] on,
 * nothing on its unit has a value for this once. */
static void drop_unread(struct unc_units *s, size_t first, struct unc_suspects *suspects)
{
	for (size_t k = first; k < s->n_reads; k++) {
		const struct unc_slot *slot = &s->slot[s->read_slot[k]];
		const struct unc_instance *unit = &s->platform->instances.unit[slot->instance];
		size_t i = 0;

		if (!s->read[k].error && !slot->unread)
			continue;
		while (i < suspects->n && (suspects->unit[i]->instance != unit ||
					   suspects->unit[i]->clock.ctr != slot->ctr))
			i++;
		if (i == suspects->n)
			continue;
		unc_units_unread_unit(s, slot->instance, slot->ctr, &s->read[k]);
		suspects->unit[i] = suspects->unit[--suspects->n];
	}
}

/* Units from claim[first] on, with a clock or without, of which this much is known. Free
 * suspects->unit. */
static int find_suspects(struct unc_units *s, size_t first, enum unc_proof known, bool clocks,
			 struct unc_suspects *suspects, struct unc_error *err)
{
	const struct unc_table *t = s->platform->table;

	*suspects = (struct unc_suspects){.unit = calloc(s->n_claims + 1, sizeof(*suspects->unit))};
	if (!suspects->unit)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	/* Where the hardware freezes at overflows, nobody may have looked for one yet. */
	if (s->guest && s->guest->freezes(s->host, NULL, 0))
		return 0;
	for (size_t i = first; i < s->n_claims; i++) {
		struct unc_claim *u = &s->claim[i];

		if (clocks && u->n_controls)
			unc_units_renew_clock(s, u);
		if (u->n_controls && (u->clock.kind != UNC_CLOCK_NONE) == clocks &&
		    wanted_of(s, u)->proof == known &&
		    (clocks || t->type[u->instance->type].steps_freeze.n))
			suspects->unit[suspects->n++] = u;
	}
	return 0;
}

/* Units with a clock that do not count now. */
static int find_still(struct unc_units *s, size_t first, enum unc_proof known,
		      struct unc_suspects *suspects, struct unc_error *err)
{
	size_t reads = first ? s->n_always : 0;
	int rc = find_suspects(s, first, known, true, suspects, err);

	if (rc < 0)
		return rc;
	if (suspects->n)
		drop_moving(s, reads, suspects);
	if (suspects->n && unc_platform_pause(s->platform, UNC_PROOF_NS))
		drop_moving(s, reads, suspects);
	drop_unread(s, reads, suspects);
	return suspects->n ? unc_units_run_clocks(s, suspects, err) : 0;
}

/* ---- what is known */

/* Lets the sockets of the suspects go on where nobody else counts: 1: some could be. */
static int unfreeze_sockets(struct unc_units *s, const struct unc_suspects *suspects,
			    struct unc_error *err)
{
	uint64_t sockets = 0;

	for (size_t i = 0; i < suspects->n; i++)
		sockets |= (uint64_t)1 << suspects->unit[i]->instance->socket;
	return sockets ? unc_units_unfreeze(s, sockets, err) : 0;
}

/* Whether a unit of the socket is known to count: then nobody has frozen the socket. One that has
 * no freeze proves nothing: that of the socket may not stop it either. */
static bool socket_counts(const struct unc_units *s, unsigned socket)
{
	const struct unc_table *t = s->platform->table;

	for (size_t i = 0; i < s->platform->instances.n; i++) {
		const struct unc_instance *u = &s->platform->instances.unit[i];

		if (u->socket == socket && s->wanted[i].proof == UNC_COUNTS &&
		    t->type[u->type].steps_freeze.n)
			return true;
	}
	return false;
}

/* How a unit is told that may be frozen. */
static int describe_doubtful(struct unc_units *s, uint32_t i, struct unc_error *err)
{
	if (!s->doubtful)
		s->doubtful = calloc(s->platform->instances.n, sizeof(*s->doubtful));
	if (!s->doubtful)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	s->doubtful[i] = *unc_unit_get(s->platform, i);
	s->doubtful[i].reason = "it does not count: somebody else who counts there may have frozen "
				"it, or nothing drives its clock";
	s->n_doubtful++;
	return 0;
}

/* A unit with a clock, or without one, of which nothing is known yet. */
static bool is_unproven(const struct unc_units *s, const struct unc_claim *u, bool clock)
{
	return u->n_controls && (u->clock.kind != UNC_CLOCK_NONE) == clock &&
	       wanted_of(s, u)->proof == UNC_UNPROVEN;
}

static bool all_proven(const struct unc_units *s, size_t first, bool clocks)
{
	for (size_t i = first; i < s->n_claims; i++)
		if (is_unproven(s, &s->claim[i], clocks))
			return false;
	return true;
}

/* Who comes later to a unit that stands still is not to take it for frozen. */
static int note_idle(struct unc_units *s, size_t first, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = first; i < s->n_claims && rc == 0; i++)
		if (wanted_of(s, &s->claim[i])->proof == UNC_STANDS && !s->claim[i].company)
			rc = unc_units_note_idle(s, &s->claim[i], err);
	return rc;
}

/* ---- where counting begins */

/* Units without a clock that do not count now: they are frozen where their socket is. */
static int prove_clockless(struct unc_units *s, size_t first, struct unc_error *err)
{
	struct unc_suspects still;
	int stands = 0, rc = find_suspects(s, first, UNC_UNPROVEN, false, &still, err), last = -1;

	for (size_t i = 0; i < still.n; i++)
		wanted_of(s, still.unit[i])->proof = UNC_STANDS;
	if (still.n && unc_platform_pause(s->platform, UNC_PROOF_NS))
		drop_moving(s, first ? s->n_always : 0, &still);
	for (size_t i = 0; i < still.n && rc == 0; i++) {
		unsigned socket = still.unit[i]->instance->socket;

		if (last != (int)socket)
			stands = socket_counts(s, socket) ? 0
							  : unc_units_socket_stands(s, socket, err);
		last = (int)socket;
		rc = stands < 0 ? stands : 0;
		if (stands > 0)
			lose_frozen(s, still.unit[i]);
	}
	free(still.unit);
	return rc;
}

/* What a unit is whose clock stands: with its socket frozen, of another who has frozen it, or
 * idle. */
static int judge(struct unc_units *s, struct unc_claim *u, struct unc_error *err)
{
	bool counts = socket_counts(s, u->instance->socket);
	uint32_t i = unc_units_number(s, u->instance);

	if (!counts)
		unc_units_lose_all(s, i);
	if (counts && u->company && u->found != UNC_FOUND_IDLE)
		return describe_doubtful(s, i, err);
	s->wanted[i].proof = UNC_STANDS;
	return 0;
}

static int prove_clocked(struct unc_units *s, size_t first, struct unc_error *err)
{
	struct unc_suspects suspects;
	int any = 0, rc = find_still(s, first, UNC_UNPROVEN, &suspects, err);

	if (rc == 0)
		rc = any = unfreeze_sockets(s, &suspects, err);
	if (any > 0)
		rc = unc_units_run_clocks(s, &suspects, err);
	for (size_t i = 0; rc == 0 && i < suspects.n; i++)
		wanted_of(s, suspects.unit[i])->proof = UNC_DOUBTFUL;
	for (size_t i = first; rc == 0 && i < s->n_claims; i++)
		if (is_unproven(s, &s->claim[i], true))
			wanted_of(s, &s->claim[i])->proof = UNC_COUNTS;
	for (size_t i = 0; rc == 0 && i < suspects.n; i++)
		rc = judge(s, suspects.unit[i], err);
	if (rc == 0)
		rc = note_idle(s, first, err);
	free(suspects.unit);
	return rc;
}

int unc_units_prove(struct unc_units *s, size_t first, struct unc_error *err)
{
	size_t reads = first ? s->n_always : 0;
	int rc = 0;

	if (all_proven(s, first, true) && all_proven(s, first, false))
		return 0;
	/* What the counters held before the proof. */
	unc_access_run(s->platform->access, s->read + reads, s->n_reads - reads);
	for (size_t i = reads; i < s->n_reads; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		if (s->read[i].error)
			unc_units_unread(s, slot, slot->ctr, &s->read[i]);
		slot->last = s->read[i].value;
	}
	if (!all_proven(s, first, true))
		rc = prove_clocked(s, first, err);
	return rc < 0 || all_proven(s, first, false) ? rc : prove_clockless(s, first, err);
}

/* ---- later */

int unc_units_prove_again(struct unc_units *s, size_t first, struct unc_error *err)
{
	struct unc_suspects suspects;
	int rc = find_still(s, first, UNC_COUNTS, &suspects, err);

	for (size_t i = 0; rc == 0 && i < suspects.n; i++)
		lose_frozen(s, suspects.unit[i]);
	free(suspects.unit);
	return rc;
}
