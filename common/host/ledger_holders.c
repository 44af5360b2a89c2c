/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "host/ledger_inside.h"

static uint64_t slot_at(unsigned holder)
{
	return SLOTS_AT + holder * sizeof(struct slot);
}

/* What is told of a holder of this process or another. */
static int read_slot(struct unc_ledger *l, unsigned holder, struct slot *out)
{
	if (l->mine[holder]) {
		*out = l->slot[holder];
		return 0;
	}
	if (l->fd < 0)
		return ENOENT;
	return unc_ledger_file_get(l->fd, out, sizeof(*out), slot_at(holder));
}

static struct unc_process process_of(const struct slot *slot)
{
	struct unc_process p = {
		.pid = slot->pid, .start = slot->start, .space = slot->space, .clock = slot->clock};

	memcpy(p.command, slot->command, sizeof(p.command));
	unc_process_clean(p.command);
	return p;
}

/*
 * A lock that is held does not say that its process lives: one that it has forked has the same open
 * file, and cannot use it.
 */
static bool lives(struct unc_ledger *l, unsigned holder)
{
	struct slot slot;
	bool held;

	if (l->mine[holder] || l->lost)
		return true;
	if (l->fd < 0)
		return false;
	if (l->life[holder] == UNKNOWN) {
		held = unc_ledger_file_held(l->fd, holder);
		if (held && read_slot(l, holder, &slot) == 0 && slot.pid) {
			struct unc_process p = process_of(&slot);

			held = !unc_process_ended(&p, &l->self);
		}
		l->life[holder] = held ? ALIVE : DEAD;
	}
	return l->life[holder] == ALIVE;
}

unsigned unc_ledger_living(struct unc_ledger *l, const struct unc_ledger_record *r, unsigned first,
			   unsigned but)
{
	for (unsigned i = first; i < UNC_LEDGER_HOLDERS; i++)
		if (i % 64 == 0 && !r->holder[i / 64])
			i += 63;
		else if (i != but && unc_ledger_holds(r, i) && lives(l, i))
			return i;
	return UNC_LEDGER_NOBODY;
}

int unc_ledger_who(struct unc_ledger *l, unsigned holder, struct unc_ledger_holder *out)
{
	struct slot slot;
	int error = read_slot(l, holder, &slot);

	if (error)
		return unc_fs_error(error);
	*out = (struct unc_ledger_holder){.process = process_of(&slot), .since = slot.since};
	return 0;
}

/* Takes a number out of all records: it is given to the next. */
static int forget_holder(struct unc_ledger *l, unsigned holder, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < unc_ledger_count(l) && rc == 0; i++) {
		struct unc_ledger_record r = *unc_ledger_at(l, i);

		if (!r.role || !unc_ledger_holds(&r, holder))
			continue;
		unc_ledger_set(&r, holder, false);
		rc = unc_ledger_put(l, &r, err);
	}
	return rc;
}

static uint64_t today(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int write_slot(struct unc_ledger *l, unsigned holder, const struct slot *slot)
{
	return l->fd < 0 ? 0 : unc_ledger_file_put(l->fd, slot, sizeof(*slot), slot_at(holder));
}

/* Orphaned records have been reclaimed before by who could: where many are left, they are of no
 * register that is known here, and make room. */
static void prune(struct unc_ledger *l)
{
	for (size_t i = 0; l->node.n > MAX_RECORDS / 2 && i < l->node.n; i++) {
		struct unc_ledger_record *r = &l->node.record[i];

		if (r->role && unc_ledger_living(l, r, 0, UNC_LEDGER_NOBODY) == UNC_LEDGER_NOBODY)
			unc_ledger_remove(l, r);
	}
}

/* Gives a free number to a session of ours. The lock comes first: a name without it is of the dead. */
static int take_slot(struct unc_ledger *l, unsigned holder, struct unc_error *err)
{
	struct slot slot = {.pid = l->self.pid,
			    .start = l->self.start,
			    .space = l->self.space,
			    .clock = l->self.clock,
			    .since = today()};
	int rc = forget_holder(l, holder, err), error;

	prune(l);
	memcpy(slot.command, l->self.command, sizeof(slot.command));
	if (rc == 0 && (error = write_slot(l, holder, &slot)) != 0)
		rc = unc_ledger_fail(l, "written", error, err);
	if (rc < 0)
		return rc;
	l->slot[holder] = slot;
	l->mine[holder] = true;
	l->n_mine++;
	return 0;
}

int unc_ledger_enter(struct unc_ledger *l, unsigned *holder, struct unc_error *err)
{
	for (unsigned i = 0; i < UNC_LEDGER_HOLDERS; i++) {
		if (l->mine[i] || (l->fd >= 0 && unc_ledger_file_hold(l->fd, i) != 0))
			continue;
		int rc = take_slot(l, i, err);

		if (rc < 0 && l->fd >= 0)
			unc_ledger_file_drop(l->fd, i);
		*holder = rc < 0 ? *holder : i;
		return rc;
	}
	bool full = l->fd < 0 || l->n_mine == UNC_LEDGER_HOLDERS;

	unc_fail(full ? err : &l->reason, UNC_ERR_BUSY,
		 "%d sessions run on this node, and no more can", UNC_LEDGER_HOLDERS);
	if (full)
		return UNC_ERR_BUSY;
	unc_ledger_give_up(l);
	return unc_ledger_enter(l, holder, err);
}

void unc_ledger_leave(struct unc_ledger *l, unsigned holder)
{
	static const struct slot free_slot;

	/* What fails is of the dead: its lock is not held any more. */
	(void)forget_holder(l, holder, NULL);
	(void)write_slot(l, holder, &free_slot);
	unc_ledger_abandon(l, holder);
}

void unc_ledger_abandon(struct unc_ledger *l, unsigned holder)
{
	l->mine[holder] = false;
	l->n_mine--;
	if (l->fd >= 0 || l->kept >= 0)
		unc_ledger_file_drop(l->fd >= 0 ? l->fd : l->kept, holder);
	if (l->lost && !l->n_mine)
		unc_ledger_begin_anew(l);
}
