/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/event_notes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/process.h"

/*
 * Layout of the file, which has its version in its name; zeros are an empty one. Notes are found by
 * a hash of their place, for each of them there is a row of descriptors for each holder: most of the
 * file is a hole.
 */
enum { HOMES = 2048, NOTES = HOMES + UNC_NOTES_OF_PLACE };

struct slot { /* a holder */
	int64_t pid;
	uint64_t space; /* of its number */
	uint64_t rest[6];
};

struct row { /* what a holder calls the events of a note */
	int32_t fd[UNC_NOTED_EVENTS];
	int32_t rest[5];
};

/* None crosses a page: who is killed in the middle of a write leaves the old or the new one. */
_Static_assert(sizeof(struct slot) == 64 && sizeof(struct row) == 64 &&
		       sizeof(struct unc_note) == 512,
	       "sizes in the file");

#define NOTES_AT (UNC_LEDGER_HOLDERS * sizeof(struct slot))
#define ROWS_AT (NOTES_AT + NOTES * sizeof(struct unc_note))

struct unc_notes {
	char dir[PATH_MAX];
	char name[32];
	bool make;
	bool useless; /* somebody does not give the lock back */
	int fd;       /* -1: not open */
	int turn;     /* as long as it is locked */
	unsigned holder;
	struct unc_process self;
	size_t first; /* of these notes in the file */
	struct unc_note note[UNC_NOTES_OF_PLACE];
};

struct unc_notes *unc_notes_new(const char *dir, bool make)
{
	struct unc_notes *notes = calloc(1, sizeof(*notes));

	if (!notes)
		return NULL;
	notes->fd = -1;
	notes->make = make;
	snprintf(notes->dir, sizeof(notes->dir), "%s", dir);
	snprintf(notes->name, sizeof(notes->name), "events-1.%u", (unsigned)geteuid());
	unc_process_self(&notes->self);
	return notes;
}

void unc_notes_free(struct unc_notes *notes)
{
	if (notes && notes->fd >= 0)
		close(notes->fd);
	free(notes);
}

/* ---- the file */

static uint64_t slot_at(unsigned holder)
{
	return holder * sizeof(struct slot);
}

static uint64_t row_at(const struct unc_notes *notes, const struct unc_note *note, unsigned holder)
{
	size_t i = notes->first + (size_t)(note - notes->note);

	return ROWS_AT + (i * UNC_LEDGER_HOLDERS + holder) * sizeof(struct row);
}

/* What cannot be written leads to no event: each is asked for its id. */
static void write_note(const struct unc_notes *notes, const struct unc_note *note)
{
	size_t i = notes->first + (size_t)(note - notes->note);

	(void)unc_ledger_file_put(notes->fd, note, sizeof(*note), NOTES_AT + i * sizeof(*note));
}

/* What stands there of a holder of this number before is of no process that lives. */
static bool take_number(struct unc_notes *notes)
{
	const struct slot self = {notes->self.pid, notes->self.space, {0}};

	for (unsigned i = 0; i < UNC_LEDGER_HOLDERS; i++) {
		if (unc_ledger_file_hold(notes->fd, i) != 0)
			continue;
		notes->holder = i;
		return unc_ledger_file_put(notes->fd, &self, sizeof(self), slot_at(i)) == 0;
	}
	return false;
}

/* Notes are read by several at once: the file has to reach beyond the last. */
static bool reach_end(const struct unc_notes *notes)
{
	static const struct unc_note end; /* used by none */

	return unc_ledger_file_put(notes->fd, &end, sizeof(end), ROWS_AT - sizeof(end)) == 0;
}

/* ---- the lock */

/* One that does not end its turn is not waited for again. */
static bool take_turn(struct unc_notes *notes)
{
	const uint64_t nowhere = (uint64_t)1 << 62; /* turns are not numbered */
	int error;

	notes->turn = unc_ledger_file_turn(notes->fd);
	error = unc_ledger_file_await(notes->turn, nowhere);
	if (error)
		unc_ledger_file_unlock(notes->fd, notes->turn);
	notes->useless = error != 0;
	return error == 0;
}

static void close_file(struct unc_notes *notes)
{
	close(notes->fd);
	notes->fd = -1;
}

bool unc_notes_lock(struct unc_notes *notes)
{
	errno = 0;
	/* What was opened before a fork is the parent's. */
	if (!notes || notes->useless || notes->self.pid != getpid())
		return false;
	for (int tries = 0; tries < 3; tries++) {
		bool first = notes->fd < 0;

		if (first)
			notes->fd = unc_ledger_file_own(notes->dir, notes->name, notes->make, NULL);
		if (notes->fd < 0)
			return false;
		if (!take_turn(notes)) {
			if (first)
				close_file(notes);
			return false;
		}
		/* One that somebody has removed is known to this process alone. */
		if (!unc_ledger_file_removed(notes->fd) &&
		    (!first || (take_number(notes) && reach_end(notes))))
			return true;
		unc_ledger_file_unlock(notes->fd, notes->turn);
		close_file(notes);
	}
	return false;
}

void unc_notes_unlock(struct unc_notes *notes)
{
	unc_ledger_file_unlock(notes->fd, notes->turn);
}

/* ---- notes */

struct unc_note *unc_notes_at(struct unc_notes *notes, uint32_t type, uint32_t cpu)
{
	uint64_t place = (uint64_t)type << 32 | cpu;

	notes->first = (size_t)((place * 0x9e3779b97f4a7c15u >> 32) % HOMES);
	if (unc_ledger_file_get(notes->fd, notes->note, sizeof(notes->note),
				NOTES_AT + notes->first * sizeof(notes->note[0])) != 0)
		return NULL;
	for (size_t i = 0; i < UNC_NOTES_OF_PLACE; i++)
		if (notes->note[i].n > UNC_NOTED_EVENTS)
			notes->note[i].n = 0;
	return notes->note;
}

static bool holds(const struct unc_note *note, unsigned holder)
{
	return note->holder[holder / 64] >> holder % 64 & 1;
}

void unc_notes_remove(struct unc_notes *notes, struct unc_note *note)
{
	memset(note, 0, sizeof(*note));
	write_note(notes, note);
}

void unc_notes_drop(struct unc_notes *notes, struct unc_note *note, unsigned holder)
{
	static const struct unc_note none;

	note->holder[holder / 64] &= ~((uint64_t)1 << holder % 64);
	if (memcmp(note->holder, none.holder, sizeof(none.holder)) == 0)
		unc_notes_remove(notes, note);
	else
		write_note(notes, note);
}

/* What is told of a holder. A process of another namespace has no number by which it can be asked. */
static bool read_holder(const struct unc_notes *notes, const struct unc_note *note, unsigned holder,
			struct unc_note_holder *out, bool *dead)
{
	struct slot slot;
	struct row row;

	*dead = true;
	if (holder != notes->holder && !unc_ledger_file_held(notes->fd, holder))
		return false;
	if (unc_ledger_file_get(notes->fd, &slot, sizeof(slot), slot_at(holder)) != 0 ||
	    unc_ledger_file_get(notes->fd, &row, sizeof(row), row_at(notes, note, holder)) != 0 ||
	    slot.pid <= 0 || slot.pid > INT_MAX)
		return false;
	*dead = false;
	out->number = holder;
	out->pid = slot.pid;
	memcpy(out->fd, row.fd, sizeof(out->fd));
	return slot.space && slot.space == notes->self.space;
}

bool unc_notes_next(struct unc_notes *notes, struct unc_note *note, struct unc_note_holder *out)
{
	bool dead;

	for (unsigned i = out->number; i < UNC_LEDGER_HOLDERS && note->n; i++) {
		if (!holds(note, i))
			continue;
		if (read_holder(notes, note, i, out, &dead))
			return true;
		if (dead)
			unc_notes_drop(notes, note, i);
	}
	return false;
}

void unc_notes_hold(struct unc_notes *notes, struct unc_note *note, const int *fd)
{
	struct row row = {.rest = {0}};

	memcpy(row.fd, fd, note->n * sizeof(*fd));
	if (unc_ledger_file_put(notes->fd, &row, sizeof(row), row_at(notes, note, notes->holder)) !=
	    0)
		return;
	note->holder[notes->holder / 64] |= (uint64_t)1 << notes->holder % 64;
	write_note(notes, note);
}

/* Of those that only the dead hold, each is free. */
static struct unc_note *find_free(struct unc_notes *notes, struct unc_note *note)
{
	for (size_t i = 0; i < UNC_NOTES_OF_PLACE; i++)
		if (!note[i].n)
			return &note[i];
	for (size_t i = 0; i < UNC_NOTES_OF_PLACE; i++) {
		struct unc_note_holder first = {0};

		if (!unc_notes_next(notes, &note[i], &first) && !note[i].n)
			return &note[i];
	}
	return NULL;
}

void unc_notes_add(struct unc_notes *notes, const struct unc_note *note, const int *fd)
{
	struct unc_note *all = unc_notes_at(notes, note->type, note->cpu);
	struct unc_note *place = all ? find_free(notes, all) : NULL;

	if (!place)
		return;
	*place = *note;
	unc_notes_hold(notes, place, fd);
}

void unc_notes_leave(struct unc_notes *notes, uint32_t type, uint32_t cpu, uint64_t id)
{
	struct unc_note *note;

	if (!unc_notes_lock(notes))
		return;
	note = unc_notes_at(notes, type, cpu);
	for (size_t i = 0; note && i < UNC_NOTES_OF_PLACE; i++)
		if (note[i].n && note[i].event[0].id == id)
			unc_notes_drop(notes, &note[i], notes->holder);
	unc_notes_unlock(notes);
}
