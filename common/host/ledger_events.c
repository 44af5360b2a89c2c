/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/ledger_events.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "host/fs.h"
#include "host/ledger_inside.h"

_Static_assert(sizeof(struct unc_note) <= ROWS_AT && UNC_NOTED_EVENTS * sizeof(int32_t) <= ROW,
	       "sizes in the file");

static uint64_t block_at(size_t i)
{
	return BLOCKS_AT + (uint64_t)i * BLOCK;
}

static uint64_t row_at(size_t i, unsigned holder)
{
	return block_at(i) + ROWS_AT + (uint64_t)holder * ROW;
}

static struct unc_ledger_key key_of(uint32_t type, uint32_t cpu, uint64_t id)
{
	return (struct unc_ledger_key){.address = (uint64_t)type << 32 | cpu,
				       .place = (uint32_t)id,
				       .space = UNC_KEY_EVENTS};
}

/* What was opened before a fork is the parent's. */
bool unc_notes_shared(const struct unc_ledger *l)
{
	return l && l->node.fd >= 0 && l->turn >= 0 && l->self.pid == getpid();
}

bool unc_notes_next(struct unc_ledger *l, uint32_t type, uint32_t cpu, size_t *i,
		    struct unc_note *out)
{
	for (; *i < l->own.n; ++*i) {
		const struct unc_ledger_record *r = &l->own.record[*i];

		if (r->role == UNC_HELD_EVENTS && r->key.address == key_of(type, cpu, 0).address &&
		    unc_read_at(l->own.file.fd, out, sizeof(*out), block_at(*i)) == 0 &&
		    out->n <= UNC_NOTED_EVENTS && out->type == type && out->cpu == cpu)
			return true;
	}
	return false;
}

void unc_notes_remove(struct unc_ledger *l, size_t i)
{
	unc_ledger_remove(l, &l->own.record[i]);
}

void unc_notes_drop(struct unc_ledger *l, size_t i, unsigned holder)
{
	unc_ledger_release(l, &l->own.record[i], holder, false);
}

/* A process of another namespace has no number by which it can be asked. */
static bool read_holder(struct unc_ledger *l, size_t i, struct unc_note_holder *out)
{
	struct unc_ledger_holder who;

	if (unc_ledger_who(l, out->number, &who) < 0 || who.process.pid <= 0 ||
	    who.process.pid > INT_MAX || !who.process.space || who.process.space != l->self.space ||
	    unc_read_at(l->own.file.fd, out->fd, sizeof(out->fd), row_at(i, out->number)) != 0)
		return false;
	out->pid = who.process.pid;
	return true;
}

/* Those that have ended are forgotten. */
bool unc_notes_holder(struct unc_ledger *l, size_t i, struct unc_note_holder *out)
{
	for (; out->number < UNC_LEDGER_HOLDERS; out->number++) {
		const struct unc_ledger_record *r = &l->own.record[i];

		if (r->role != UNC_HELD_EVENTS || !unc_ledger_holds(r, out->number))
			continue;
		if (unc_book_living(l, &l->own, r->holder, out->number, true) != out->number)
			unc_notes_drop(l, i, out->number);
		else if (read_holder(l, i, out))
			return true;
	}
	return false;
}

/* Whether there is room for one more, and for registers beside it. */
static bool has_room(const struct unc_ledger *l)
{
	size_t used = 0;

	for (size_t i = 0; i < l->own.n; i++)
		used += l->own.record[i].role != 0;
	return l->node.fd >= 0 && used < MAX_RECORDS / 2;
}

/* The record comes first without a holder, then what it leads to. */
static bool write_note(struct unc_ledger *l, const struct unc_note *note, const int *fd)
{
	struct unc_ledger_record r = {.key = key_of(note->type, note->cpu, note->event[0].id),
				      .role = UNC_HELD_EVENTS};
	const struct unc_ledger_record *old = unc_book_find(&l->own, &r.key);
	int32_t row[ROW / sizeof(int32_t)] = {0};
	size_t i;

	if (!has_room(l))
		return false;
	r = old ? *old : r;
	if (!old && unc_ledger_put(l, &r, NULL) < 0)
		return false;
	memcpy(row, fd, note->n * sizeof(*fd));
	i = (size_t)(unc_book_find(&l->own, &r.key) - l->own.record);
	if (unc_ledger_file_put(&l->own.file, note, sizeof(*note), block_at(i), NULL) < 0 ||
	    unc_ledger_file_put(&l->own.file, row, sizeof(row), row_at(i, l->keeper), NULL) < 0)
		return false;
	unc_ledger_set(&r, l->keeper, true);
	return unc_ledger_put(l, &r, NULL) == 0;
}

static void end_note(struct unc_ledger *l)
{
	if (--l->n_events == 0)
		unc_ledger_leave(l, l->keeper);
}

bool unc_notes_add(struct unc_ledger *l, const struct unc_note *note, const int *fd)
{
	if (!l->n_events && unc_ledger_enter(l, &l->keeper, NULL) < 0)
		return false;
	l->n_events++;
	if (write_note(l, note, fd))
		return true;
	end_note(l);
	return false;
}

void unc_notes_leave(struct unc_ledger *l, uint32_t type, uint32_t cpu, uint64_t id)
{
	const struct unc_ledger_key key = key_of(type, cpu, id);
	struct unc_ledger_record *r = unc_ledger_own(l, &key);

	if (l->self.pid != getpid())
		return;
	if (r && unc_ledger_holds(r, l->keeper))
		unc_ledger_release(l, r, l->keeper, false);
	end_note(l);
}
