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
#include <string.h>

#include "units/units.h"

/* Reads the counters, from read[first] on; leaves those suspects of which none has moved since the
 * last look. One that was not read in it holds what it held in an earlier one. */
static void drop_moving(struct unc_units *s, size_t first, struct unc_suspects *suspects)
{
	size_t kept = 0;

	unc_access_run(s->platform->access, s->read + first, s->n_reads - first);
	for (size_t i = 0; i < s->platform->instances.n; i++)
		s->wanted[i].moves = false;
	for (size_t k = first; k < s->n_reads; k++) {
		const struct unc_slot *slot = &s->slot[s->read_slot[k]];

		if (!s->read[k].error && !slot->unread && s->read[k].value != slot->last)
			s->wanted[slot->instance].moves |= unc_units_control(s, slot) != UNC_NONE;
	}
	for (size_t i = 0; i < suspects->n; i++)
		if (!s->wanted[suspects->unit[i]->instance - s->platform->instances.unit].moves)
			suspects->unit[kept++] = suspects->unit[i];
	suspects->n = kept;
}

static uint8_t *proof_of(const struct unc_units *s, const struct unc_plan_unit *u)
{
	return &s->wanted[u->instance - s->platform->instances.unit].proof;
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
		unc_units_unread_unit(s, suspects->unit[i], slot->ctr, &s->read[k]);
		suspects->unit[i] = suspects->unit[--suspects->n];
	}
}

/* Units from unit[first] on, of which this much is known, that do not count now. Free
 * suspects->unit. */
static int find_still(struct unc_units *s, size_t first, enum unc_proof known,
		      struct unc_suspects *suspects, struct unc_error *err)
{
	size_t reads = first ? s->n_always : 0;

	*suspects = (struct unc_suspects){.unit = calloc(s->n_units + 1, sizeof(*suspects->unit))};
	if (!suspects->unit)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	/* Where the hardware freezes at overflows, nobody may have looked for one yet. */
	if (s->guest && s->guest->freezes(s->host, NULL, 0))
		return 0;
	for (size_t i = first; i < s->n_units; i++) {
		unc_units_renew_clock(s, &s->unit[i]);
		if (s->unit[i].n_controls && s->unit[i].clock.ctr != UNC_NONE &&
		    *proof_of(s, &s->unit[i]) == known)
			suspects->unit[suspects->n++] = &s->unit[i];
	}
	if (suspects->n)
		drop_moving(s, reads, suspects);
	if (suspects->n && unc_platform_pause(s->platform, UNC_PROOF_NS))
		drop_moving(s, reads, suspects);
	drop_unread(s, reads, suspects);
	return suspects->n ? unc_units_run_clocks(s, suspects, err) : 0;
}

/* Lets the sockets of the suspects go on where nobody else counts. *any: some could be. */
static int unfreeze_sockets(struct unc_units *s, const struct unc_suspects *suspects, bool *any,
			    struct unc_error *err)
{
	bool sockets[UNC_MAX_SOCKETS] = {false};

	for (size_t i = 0; i < suspects->n; i++)
		sockets[suspects->unit[i]->instance->socket] = true;
	return unc_units_unfreeze(s, sockets, any, err);
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

void unc_units_lose_all(struct unc_units *s, uint32_t instance)
{
	for (int i = s->wanted[instance].head; i != UNC_END; i = s->slot[i].next)
		if (s->slot[i].code.counter == UNC_NONE ||
		    unc_units_control(s, &s->slot[i]) != UNC_NONE)
			unc_units_lose(s, &s->slot[i], UNC_LOST_FROZEN, UNC_NONE, 0);
}

/* How a unit is told that may be frozen. */
static int describe_doubtful(struct unc_units *s, const struct unc_plan_unit *u,
			     struct unc_error *err)
{
	size_t i = (size_t)(u->instance - s->platform->instances.unit);

	if (!s->doubtful)
		s->doubtful = calloc(s->platform->instances.n, sizeof(*s->doubtful));
	if (!s->doubtful)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	s->doubtful[i] = *unc_unit_get(s->platform, i);
	s->doubtful[i].reason = "it does not count: somebody else who counts there may have frozen "
				"it, or nothing drives its clock";
	return 0;
}

/* A unit with a clock, or without one, of which nothing is known yet. */
static bool is_unproven(const struct unc_units *s, const struct unc_plan_unit *u, bool clock)
{
	return u->n_controls && (u->clock.ctr != UNC_NONE) == clock &&
	       *proof_of(s, u) == UNC_UNPROVEN;
}

static bool all_proven(const struct unc_units *s, size_t first, bool clocks)
{
	for (size_t i = first; i < s->n_units; i++)
		if (is_unproven(s, &s->unit[i], clocks))
			return false;
	return true;
}

/* Who comes later to a unit that stands still is not to take it for frozen. */
static int note_standing(struct unc_units *s, size_t first, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = first; i < s->n_units && rc == 0; i++)
		if (*proof_of(s, &s->unit[i]) == UNC_STANDS && !s->unit[i].shared)
			rc = unc_units_note_standing(s, &s->unit[i], err);
	return rc;
}

/* Units without a clock, from unit[first] on, that do not count now: they are frozen where their
 * socket is. */
static int prove_clockless(struct unc_units *s, size_t first, struct unc_error *err)
{
	struct unc_suspects still = {.unit = calloc(s->n_units + 1, sizeof(*still.unit))};
	bool stands = false;
	int rc = still.unit ? 0 : unc_fail(err, UNC_ERR_MEMORY, "out of memory"), last = -1;

	/* As in find_still(). */
	if (s->guest && s->guest->freezes(s->host, NULL, 0))
		first = s->n_units;
	for (size_t i = first; rc == 0 && i < s->n_units; i++)
		if (is_unproven(s, &s->unit[i], false) &&
		    s->platform->table->type[s->unit[i].instance->type].steps_freeze.n)
			still.unit[still.n++] = &s->unit[i];
	for (size_t i = 0; i < still.n; i++)
		*proof_of(s, still.unit[i]) = UNC_STANDS;
	if (still.n && unc_platform_pause(s->platform, UNC_PROOF_NS))
		drop_moving(s, first ? s->n_always : 0, &still);
	for (size_t i = 0; i < still.n && rc == 0; i++) {
		unsigned socket = still.unit[i]->instance->socket;

		if (last != (int)socket)
			stands = !socket_counts(s, socket);
		if (last != (int)socket && stands)
			rc = unc_units_socket_stands(s, socket, &stands, err);
		if (rc == 0 && stands)
			unc_units_lose_unit(s, still.unit[i], UNC_LOST_FROZEN, UNC_NONE, 0);
		last = (int)socket;
	}
	free(still.unit);
	return rc;
}

static int prove_clocked(struct unc_units *s, size_t first, struct unc_error *err)
{
	struct unc_suspects suspects;
	bool any = false;
	int rc;

	rc = find_still(s, first, UNC_UNPROVEN, &suspects, err);
	if (rc == 0 && suspects.n)
		rc = unfreeze_sockets(s, &suspects, &any, err);
	if (rc == 0 && any)
		rc = unc_units_run_clocks(s, &suspects, err);
	for (size_t i = 0; rc == 0 && i < suspects.n; i++)
		*proof_of(s, suspects.unit[i]) = UNC_DOUBTFUL;
	for (size_t i = first; rc == 0 && i < s->n_units; i++)
		if (is_unproven(s, &s->unit[i], true))
			*proof_of(s, &s->unit[i]) = UNC_COUNTS;
	for (size_t i = 0; rc == 0 && i < suspects.n; i++) {
		struct unc_plan_unit *u = suspects.unit[i];
		bool counts = socket_counts(s, u->instance->socket);

		if (!counts)
			unc_units_lose_all(s,
					   (uint32_t)(u->instance - s->platform->instances.unit));
		if (!counts || !u->shared || u->stands)
			*proof_of(s, u) = UNC_STANDS;
		else
			rc = describe_doubtful(s, u, err);
	}
	if (rc == 0)
		rc = note_standing(s, first, err);
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

int unc_units_prove_again(struct unc_units *s, size_t first, struct unc_error *err)
{
	struct unc_suspects suspects;
	int rc = find_still(s, first, UNC_COUNTS, &suspects, err);

	for (size_t i = 0; rc == 0 && i < suspects.n; i++)
		unc_units_lose_unit(s, suspects.unit[i], UNC_LOST_FROZEN, UNC_NONE, 0);
	free(suspects.unit);
	return rc;
}
