/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/ledger_inside.h"

void unc_book_free(struct book *b)
{
	free(b->record);
	free(b->next);
	*b = (struct book){0};
}

/* ---- books */

static uint32_t *bucket_of(struct book *b, const struct unc_ledger_key *key)
{
	uint64_t mixed = (key->address * 31 + key->place) * 31 + key->space;

	return &b->bucket[(mixed * 0x9e3779b97f4a7c15u) >> 54];
}

static void index_record(struct book *b, size_t i)
{
	uint32_t *bucket = bucket_of(b, &b->record[i].key);

	if (!b->record[i].role)
		return;
	b->next[i] = *bucket;
	*bucket = (uint32_t)i + 1;
}

void unc_book_index(struct book *b)
{
	memset(b->bucket, 0, sizeof(b->bucket));
	for (size_t i = b->n; i-- > 0;) /* of several, the first is found */
		index_record(b, i);
}

bool unc_book_reserve(struct book *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 64;
	void *record, *next;

	while (cap < n)
		cap *= 2;
	if (n <= b->cap)
		return true;
	if (!(record = realloc(b->record, cap * sizeof(*b->record))))
		return false;
	b->record = record;
	if (!(next = realloc(b->next, cap * sizeof(*b->next))))
		return false;
	b->next = next;
	b->cap = cap;
	return true;
}

static struct book *book_of(struct unc_ledger *l, const struct unc_ledger_key *key)
{
	return unc_space_of_thread((int)key->space) ? &l->own : &l->node;
}

static bool same_key(const struct unc_ledger_key *a, const struct unc_ledger_key *b)
{
	return a->address == b->address && a->place == b->place && a->space == b->space;
}

struct unc_ledger_key unc_ledger_key(const struct unc_reg *reg, int package)
{
	return (struct unc_ledger_key){.address = reg->address,
				       .place = reg->space == UNC_SPACE_MSR ? (uint32_t)package
						: unc_space_of_thread((int)reg->space) ? reg->target
										       : 0,
				       .space = reg->space};
}

struct unc_ledger_record *unc_ledger_find(struct unc_ledger *l, const struct unc_ledger_key *key)
{
	struct book *b = book_of(l, key);

	for (uint32_t i = *bucket_of(b, key); i; i = b->next[i - 1])
		if (same_key(&b->record[i - 1].key, key))
			return &b->record[i - 1];
	return NULL;
}

size_t unc_ledger_count(const struct unc_ledger *l)
{
	return l->node.n + l->own.n;
}

struct unc_ledger_record *unc_ledger_at(struct unc_ledger *l, size_t i)
{
	return i < l->node.n ? &l->node.record[i] : &l->own.record[i - l->node.n];
}

void unc_ledger_begin_anew(struct unc_ledger *l)
{
	l->lost = false;
	l->node.n = 0;
	unc_book_index(&l->node);
	if (l->kept >= 0)
		close(l->kept);
	l->kept = -1;
}

void unc_ledger_end_turn(struct unc_ledger *l)
{
	if (l->turn >= 0)
		unc_ledger_file_unlock(l->fd, l->turn);
	l->turn = -1;
}

void unc_ledger_give_up(struct unc_ledger *l)
{
	unc_ledger_end_turn(l);
	l->kept = l->fd;
	l->fd = -1;
	if (l->n_mine)
		l->lost = true;
	else
		unc_ledger_begin_anew(l);
}

int unc_ledger_fail(const struct unc_ledger *l, const char *what, int error, struct unc_error *err)
{
	return unc_fail(err, UNC_ERR_IO, "%.200s/ledger could not be %s: %s", l->dir, what,
			error == ENODATA ? "it ends too early" : strerror(error));
}

/* ---- records */

/* The file's changes are told before the first of a turn, so that nobody takes an old one for new. */
static int write_record(struct unc_ledger *l, size_t i, bool grows, struct unc_error *err)
{
	const struct unc_ledger_record *r = &l->node.record[i];
	struct header h = l->header;
	int error = 0;

	if (l->fd < 0)
		return 0;
	if (!l->changed) {
		h.changes++;
		error = unc_ledger_file_put(l->fd, &h, sizeof(h), 0);
	}
	if (!error)
		error = unc_ledger_file_put(l->fd, r, sizeof(*r), RECORDS_AT + i * sizeof(*r));
	if (!error && grows) {
		h.n_records = (uint32_t)i + 1;
		error = unc_ledger_file_put(l->fd, &h, sizeof(h), 0);
	}
	if (error)
		return unc_ledger_fail(l, "written", error, err);
	l->header = h;
	l->changed = true;
	return 0;
}

/* A place for a new record: one that is free again, or behind the last. Where the file has none it
 * is not used any more. */
static int find_place(struct unc_ledger *l, struct book *b, size_t *i, struct unc_error *err)
{
	for (*i = 0; *i < b->n; ++*i)
		if (!b->record[*i].role)
			return 0;
	if (b == &l->node && b->n >= MAX_RECORDS && l->fd >= 0) {
		unc_fail(&l->reason, UNC_ERR_BUSY,
			 "%.200s/ledger has no room for more registers: %d are programmed", l->dir,
			 MAX_RECORDS);
		unc_ledger_give_up(l);
	}
	return unc_book_reserve(b, b->n + 1) ? 0 : unc_fail(err, UNC_ERR_MEMORY, "out of memory");
}

int unc_ledger_put(struct unc_ledger *l, const struct unc_ledger_record *record,
		   struct unc_error *err)
{
	struct book *b = book_of(l, &record->key);
	struct unc_ledger_record *r = unc_ledger_find(l, &record->key), before = {0};
	size_t i = r ? (size_t)(r - b->record) : 0;
	bool grows;
	int rc = r ? 0 : find_place(l, b, &i, err);

	if (rc < 0)
		return rc;
	grows = i == b->n;
	before = grows ? before : b->record[i];
	b->record[i] = *record;
	b->n += grows;
	rc = b == &l->node ? write_record(l, i, grows, err) : 0;
	if (rc < 0) {
		b->record[i] = before;
		b->n -= grows;
	} else if (!r) {
		index_record(b, i);
	}
	return rc;
}

void unc_ledger_remove(struct unc_ledger *l, struct unc_ledger_record *r)
{
	struct book *b = book_of(l, &r->key);

	*r = (struct unc_ledger_record){0};
	unc_book_index(b);
	/* What stays in the file where this fails has no living holder. */
	if (b == &l->node)
		(void)write_record(l, (size_t)(r - b->record), false, NULL);
}
