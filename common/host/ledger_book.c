/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/fs.h"
#include "host/ledger_inside.h"

/* ---- records in memory, by their keys */

static uint32_t *bucket_of(struct book *b, const struct unc_ledger_key *key)
{
	uint64_t mixed = (key->address * 31 + key->place) * 31 + key->space;

	return &b->bucket[(mixed * 0x9e3779b97f4a7c15u) >> 54];
}

static void add(struct book *b, size_t i)
{
	uint32_t *bucket = bucket_of(b, &b->record[i].key);

	b->next[i] = *bucket;
	*bucket = (uint32_t)i + 1;
}

static void note_holders(struct book *b, const struct unc_ledger_record *r)
{
	uint64_t any = 0;

	for (size_t i = 0; i < UNC_LEDGER_HOLDERS / 64; i++) {
		b->holders[i] |= r->holder[i];
		any |= r->holder[i];
		if (b->holders[i] && b->end <= i * 64)
			b->end = (unsigned)i * 64 + 64;
	}
	b->unheld |= !any && r->role != UNC_HELD_GONE;
}

static void index_book(struct book *b)
{
	memset(b->bucket, 0, sizeof(b->bucket));
	memset(b->unwritten, 0, sizeof(b->unwritten));
	memset(b->holders, 0, sizeof(b->holders));
	b->unheld = b->dirty = false;
	b->free = b->end = 0;
	for (size_t i = b->n; i-- > 0;) /* of several, the first is found */
		if (b->record[i].role) {
			add(b, i);
			note_holders(b, &b->record[i]);
		}
}

/* Room for n records; if memory has run out it is as before. */
static int reserve(struct book *b, size_t n, struct unc_error *err)
{
	size_t cap = b->cap ? b->cap : 64;
	void *record, *next;

	while (cap < n)
		cap *= 2;
	if (n <= b->cap)
		return 0;
	if ((record = realloc(b->record, cap * sizeof(*b->record))))
		b->record = record;
	if ((next = realloc(b->next, cap * sizeof(*b->next))))
		b->next = next;
	if (!record || !next)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	b->cap = cap;
	return 0;
}

struct unc_ledger_record *unc_book_find(struct book *b, const struct unc_ledger_key *key)
{
	for (uint32_t i = *bucket_of(b, key); i; i = b->next[i - 1]) {
		const struct unc_ledger_key *other = &b->record[i - 1].key;

		if (other->address == key->address && other->place == key->place &&
		    other->space == key->space)
			return &b->record[i - 1];
	}
	return NULL;
}

void unc_book_empty(struct book *b)
{
	unc_ledger_file_close(&b->file.fd);
	b->header = (struct header){0};
	b->n = 0;
	index_book(b);
}

void unc_book_free(struct book *b)
{
	unc_ledger_file_close(&b->file.fd);
	free(b->record);
	free(b->next);
}

/* ---- reading */

const struct header unc_ledger_new_header = {.magic = MAGIC,
					     .version = LAYOUT,
					     .holder_size = sizeof(struct unc_ledger_holder),
					     .record_size = sizeof(struct unc_ledger_record),
					     .n_holders = UNC_LEDGER_HOLDERS};

int unc_ledger_header(const struct ledger_file *f, struct header *h, struct unc_error *err)
{
	static const struct header zero;
	const size_t layout = offsetof(struct header, changes);
	int error = unc_read_at(f->fd, h, sizeof(*h), 0);

	if (error == ENODATA)
		*h = zero;
	else if (error)
		return unc_ledger_fail(f, "read", error, err);
	if (memcmp(h, &zero, sizeof(zero)) == 0 ||
	    (memcmp(h, &unc_ledger_new_header, layout) == 0 && h->n_records <= MAX_RECORDS))
		return 0;
	return unc_fail(err, UNC_ERR_INVALID,
			"%s is not a ledger of this version: remove it when nobody measures",
			f->path);
}

/* What no session of ours can have written is no record: its place is free. */
static void clean(struct unc_ledger_record *r)
{
	bool setting = r->role == UNC_HELD_CONTROL || r->role == UNC_HELD_FILTER;

	unc_process_clean(r->command);
	if (r->role >= UNC_HELD_ROLES || r->key.space >= UNC_N_SPACES ||
	    unc_space_of_thread((int)r->key.space) || (setting && !r->mask))
		r->role = 0;
	for (size_t i = 0; i < sizeof(r->rest) / sizeof(*r->rest); i++)
		if (r->rest[i])
			r->role = 0;
}

int unc_book_read_all(const struct book *b, void *things, size_t n, size_t size, uint64_t at)
{
	struct stat st = {.st_size = 0};
	uint64_t there;

	(void)fstat(b->file.fd, &st);
	there = (uint64_t)st.st_size < at ? 0 : ((uint64_t)st.st_size - at) / size;
	there = there < n ? there : n;
	memset((char *)things + there * size, 0, (n - there) * size);
	return there ? unc_read_at(b->file.fd, things, there * size, at) : 0;
}

/* In a file that was cut off zeros are no records, and half of one is none either. */
static int read_records(struct book *b, size_t n, struct unc_error *err)
{
	int rc = reserve(b, n, err), error;

	if (rc < 0)
		return rc;
	error = n ? unc_book_read_all(b, b->record, n, sizeof(*b->record), RECORDS_AT) : 0;
	if (error)
		return unc_ledger_fail(&b->file, "read", error, err);
	b->n = n;
	for (size_t i = 0; i < n; i++)
		clean(&b->record[i]);
	index_book(b);
	return 0;
}

int unc_book_read(struct book *b, bool made, struct unc_error *err)
{
	struct header h;
	int rc = unc_ledger_header(&b->file, &h, err);

	if (rc == 0 && !h.magic && made)
		rc = unc_ledger_fail(&b->file, "read", ENODATA, err);
	if (rc == 0 && (b->header.changes != h.changes || b->n != h.n_records))
		rc = read_records(b, h.n_records, err);
	b->header = rc == 0 ? h : (struct header){0};
	return rc;
}

/* ---- writing */

static int put_header(struct book *b, const struct header *h, struct unc_error *err)
{
	int rc = unc_ledger_file_put(&b->file, h, sizeof(*h), 0, err);

	if (rc == 0)
		b->header = *h;
	return rc;
}

/* Page by page: a disk that is full takes one or does not. */
static int put_records(struct book *b, struct unc_error *err)
{
	const size_t size = sizeof(*b->record);
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i += PER_PAGE) {
		size_t n = b->n - i < PER_PAGE ? b->n - i : PER_PAGE;

		if (b->unwritten[i / PER_PAGE])
			rc = unc_ledger_file_put(&b->file, &b->record[i], n * size,
						 RECORDS_AT + i * size, err);
		b->unwritten[i / PER_PAGE] &= rc != 0;
	}
	return rc;
}

/* The file's changes are told before the first of a turn, so that nobody takes an old one for new;
 * and that there are more records once they stand there. */
int unc_book_write(struct book *b, struct unc_error *err)
{
	struct header h = b->header;
	int rc = 0;

	b->gathers = false;
	if (!h.magic || !b->dirty)
		return 0;
	h.changes += !b->changed;
	if (!b->changed)
		rc = put_header(b, &h, err);
	b->changed |= rc == 0;
	if (rc == 0)
		rc = put_records(b, err);
	h.n_records = (uint32_t)b->n;
	if (rc == 0 && b->header.n_records != h.n_records)
		rc = put_header(b, &h, err);
	b->dirty = rc < 0;
	return rc;
}

/* In memory there is no end to them. */
static void note_changed(struct book *b, size_t i)
{
	if (i < MAX_RECORDS)
		b->unwritten[i / PER_PAGE] = true;
	b->dirty = true;
}

/* A place for a new record: one that is free again, or behind the last. */
static size_t find_place(struct book *b)
{
	while (b->free < b->n && b->record[b->free].role)
		b->free++;
	return b->free;
}

bool unc_book_has_place(struct book *b)
{
	return !b->header.magic || b->n < MAX_RECORDS || find_place(b) < b->n;
}

int unc_book_put(struct book *b, const struct unc_ledger_record *record, struct unc_error *err)
{
	const struct unc_ledger_record *r = unc_book_find(b, &record->key);
	struct unc_ledger_record before = {0};
	size_t i = r ? (size_t)(r - b->record) : find_place(b);
	bool grows = i == b->n;
	int rc = reserve(b, i + 1, err);

	if (rc < 0)
		return rc;
	if (!grows)
		before = b->record[i];
	b->n += grows;
	b->record[i] = *record;
	note_holders(b, record);
	note_changed(b, i);
	if (!b->gathers && (rc = unc_book_write(b, err)) < 0) {
		b->record[i] = before;
		b->n -= grows;
		note_changed(b, i);
	} else if (!r) {
		add(b, i);
	}
	return rc;
}

void unc_book_erase(struct book *b, struct unc_ledger_record *r)
{
	uint32_t *at = bucket_of(b, &r->key);
	size_t i = (size_t)(r - b->record);

	while (*at && *at != i + 1)
		at = &b->next[*at - 1];
	*at = *at ? b->next[i] : 0;
	*r = (struct unc_ledger_record){0};
	b->free = i < b->free ? i : b->free;
	note_changed(b, i);
	/* What stays in the file where this fails has no living holder. */
	if (!b->gathers)
		(void)unc_book_write(b, NULL);
}
