/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "host/fs.h"
#include "host/ledger_inside.h"

/* ---- one book */

static uint32_t *bucket_of(struct book *b, const struct unc_ledger_key *key)
{
	uint64_t mixed = (key->address * 31 + key->place) * 31 + key->space;

	return &b->bucket[(mixed * 0x9e3779b97f4a7c15u) >> 54];
}

void unc_book_add(struct book *b, size_t i)
{
	uint32_t *bucket = bucket_of(b, &b->record[i].key);

	b->next[i] = *bucket;
	*bucket = (uint32_t)i + 1;
}

static void index_book(struct book *b)
{
	memset(b->bucket, 0, sizeof(b->bucket));
	for (size_t i = b->n; i-- > 0;) /* of several, the first is found */
		if (b->record[i].role)
			unc_book_add(b, i);
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

void unc_book_erase(struct book *b, size_t i)
{
	uint32_t *at = bucket_of(b, &b->record[i].key);

	while (*at && *at != i + 1)
		at = &b->next[*at - 1];
	*at = *at ? b->next[i] : 0;
	b->record[i] = (struct unc_ledger_record){0};
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

static void empty_book(struct book *b)
{
	unc_ledger_file_close(&b->fd);
	b->header = (struct header){0};
	b->n = 0;
	index_book(b);
}

void unc_book_free(struct book *b)
{
	unc_ledger_file_close(&b->fd);
	free(b->record);
	free(b->next);
}

/* Forgets users, but those of whom a file was seen. */
static void drop_users(struct unc_ledger *l, bool all)
{
	for (size_t i = l->n_users; i-- > 0;) {
		if (l->user[i]->seen && !all)
			continue;
		unc_book_free(l->user[i]);
		free(l->user[i]);
		l->user[i] = l->user[--l->n_users];
	}
}

void unc_ledger_begin_anew(struct unc_ledger *l)
{
	l->lost = false;
	empty_book(&l->own);
	drop_users(l, true);
}

/* ---- headers */

int unc_ledger_fail(const struct unc_ledger *l, int64_t user, const char *what, int error,
		    struct unc_error *err)
{
	char name[UNC_LEDGER_NAME];

	return unc_fail(err, UNC_ERR_IO, "%.200s/%s could not be %s: %s", l->dir,
			unc_ledger_file_name(name, user), what,
			error == ENODATA ? "it ends too early" : strerror(error));
}

static const struct header new_header = {.magic = MAGIC,
					 .version = LAYOUT,
					 .holder_size = sizeof(struct unc_ledger_holder),
					 .record_size = sizeof(struct unc_ledger_record),
					 .n_holders = UNC_LEDGER_HOLDERS};

/* *h is as it is in the file; all 0: nothing has been written there yet. */
static int read_header(const struct unc_ledger *l, int fd, int64_t user, struct header *h,
		       struct unc_error *err)
{
	static const struct header zero;
	const size_t layout = offsetof(struct header, changes);
	int error = unc_read_at(fd, h, sizeof(*h), 0);
	char name[UNC_LEDGER_NAME];

	if (error == ENODATA)
		*h = zero;
	else if (error)
		return unc_ledger_fail(l, user, "read", error, err);
	if (memcmp(h, &zero, sizeof(zero)) == 0 ||
	    (memcmp(h, &new_header, layout) == 0 && h->n_records <= MAX_RECORDS))
		return 0;
	return unc_fail(err, UNC_ERR_INVALID,
			"%.200s/%s is not a ledger of this version: remove it when nobody measures",
			l->dir, unc_ledger_file_name(name, user));
}

/* Who has the lock is told to those who wait. */
int unc_ledger_write_turn(const struct unc_ledger *l, struct unc_error *err)
{
	struct header h;
	int rc = read_header(l, l->fd, UNC_LEDGER_NODE, &h, err), error;

	if (rc < 0)
		return rc;
	if (!h.magic)
		h = new_header;
	h.turn++;
	h.pid = (int32_t)l->self.pid;
	memcpy(h.command, l->self.command, sizeof(h.command));
	error = unc_ledger_file_put(l->fd, &h, sizeof(h), 0);
	return error ? unc_ledger_fail(l, UNC_LEDGER_NODE, "written", error, err) : 0;
}

int unc_ledger_fail_removed(const struct unc_ledger *l, int64_t user, struct unc_error *err)
{
	char name[UNC_LEDGER_NAME];

	return unc_fail(err, UNC_ERR_IO,
			"%.200s/%s was removed while sessions ran: who came since is not known",
			l->dir, unc_ledger_file_name(name, user));
}

/* ---- records of users */

/* What no session of ours can have written is no record: its place is free. */
static void clean(struct unc_ledger_record *r)
{
	bool setting = r->role == UNC_HELD_CONTROL || r->role == UNC_HELD_FILTER;
	bool events = r->role == UNC_HELD_EVENTS;

	unc_process_clean(r->command);
	if (r->role >= UNC_HELD_ROLES || r->key.space > UNC_KEY_EVENTS ||
	    events != (r->key.space == UNC_KEY_EVENTS) || unc_space_of_thread((int)r->key.space) ||
	    (setting && !r->mask))
		r->role = 0;
	for (size_t i = 0; i < sizeof(r->rest) / sizeof(*r->rest); i++)
		if (r->rest[i])
			r->role = 0;
}

/* In a file that was cut off zeros are no records, and half of one is none either. */
static int read_records(struct unc_ledger *l, struct book *b, size_t n, struct unc_error *err)
{
	const size_t size = sizeof(*b->record);
	struct stat st = {.st_size = 0};
	size_t there;
	int error;

	if (!unc_book_reserve(b, n))
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	(void)fstat(b->fd, &st);
	there = st.st_size < (off_t)RECORDS_AT ? 0 : ((size_t)st.st_size - RECORDS_AT) / size;
	there = there < n ? there : n;
	error = there ? unc_read_at(b->fd, b->record, there * size, RECORDS_AT) : 0;
	if (error)
		return unc_ledger_fail(l, b->owner, "read", error, err);
	if (there < n)
		memset(b->record + there, 0, (n - there) * size);
	b->n = n;
	for (size_t i = 0; i < n; i++)
		clean(&b->record[i]);
	index_book(b);
	return 0;
}

static int read_book(struct unc_ledger *l, struct book *b, struct unc_error *err)
{
	struct header h;
	int rc = read_header(l, b->fd, b->owner, &h, err);

	if (rc == 0 && !h.magic && b == &l->own && l->n_mine)
		rc = unc_ledger_fail(l, b->owner, "read", ENODATA, err);
	if (rc == 0 && (b->header.changes != h.changes || b->n != h.n_records))
		rc = read_records(l, b, h.n_records, err);
	b->header = rc == 0 ? h : (struct header){0};
	return rc;
}

/* Our own file, if there is one. What cannot be used is made anew, if nobody uses it. */
static int read_own(struct unc_ledger *l, int folder, struct unc_error *err)
{
	struct book *b = &l->own;
	int rc = 0;

	if (b->fd < 0) {
		b->owner = geteuid();
		rc = b->fd = unc_ledger_file_open(folder, l->dir, b->owner, false, err);
	} else if (unc_ledger_file_removed(b->fd)) {
		return unc_ledger_fail_removed(l, b->owner, err);
	}
	if (rc >= 0)
		rc = read_book(l, b, err);
	if (rc == UNC_ERR_INVALID && !l->n_mine && unc_ledger_file_reset(b->fd))
		rc = read_book(l, b, err);
	if (rc < 0 && !l->n_mine)
		empty_book(b);
	if (rc == 0 || rc == UNC_ERR_NOT_FOUND)
		unc_error_clear(err);
	return rc == UNC_ERR_NOT_FOUND ? 0 : rc;
}

uint64_t unc_ledger_today(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int unc_ledger_own_file(struct unc_ledger *l, struct unc_error *err)
{
	struct book *b = &l->own;
	int error, folder;

	if (l->fd < 0 || b->header.magic)
		return 0;
	if (b->fd < 0) {
		if ((folder = unc_ledger_folder(l->dir, false, err)) < 0)
			return folder;
		b->fd = unc_ledger_file_open(folder, l->dir, b->owner, true, err);
		close(folder);
		if (b->fd < 0)
			return b->fd;
	}
	b->header = new_header;
	b->header.changes = unc_ledger_today();
	error = unc_ledger_file_put(b->fd, &b->header, sizeof(b->header), 0);
	if (error)
		b->header = (struct header){0};
	return error ? unc_ledger_fail(l, b->owner, "written", error, err) : 0;
}

static struct book *book_of_user(struct unc_ledger *l, uid_t owner)
{
	struct book *b = NULL, **more;

	for (size_t i = 0; i < l->n_users; i++)
		if (l->user[i]->owner == owner)
			return l->user[i];
	if ((more = unc_grow(l->user, l->n_users, sizeof(*more))) == NULL)
		return NULL;
	l->user = more;
	if ((b = calloc(1, sizeof(*b))) != NULL) {
		b->owner = owner;
		b->fd = -1;
		l->user[l->n_users++] = b;
	}
	return b;
}

/* One that cannot be opened for another reason than that it is not as it should be, which a session
 * must not fail to stop for, is as it was, and those in it are taken to live. */
static void read_user(struct unc_ledger *l, int folder, uid_t owner)
{
	struct book *b = book_of_user(l, owner);
	int rc;

	if (!b)
		return;
	b->fd = rc = unc_ledger_file_open(folder, l->dir, owner, false, NULL);
	if (rc >= 0)
		rc = read_book(l, b, NULL);
	b->seen = rc >= 0 || (b->n && (rc == UNC_ERR_IO || rc == UNC_ERR_MEMORY));
}

/* The files of all users, as they are now. */
int unc_ledger_read(struct unc_ledger *l, struct unc_error *err)
{
	int folder = unc_ledger_folder(l->dir, false, err), rc;
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);
	uid_t owner;

	if (folder >= 0 && !entries) {
		close(folder);
		folder = unc_ledger_fail(l, UNC_LEDGER_NODE, "read", errno, err);
	}
	if (folder < 0)
		return l->n_mine ? read_own(l, folder, err) : folder;
	for (size_t i = 0; i < l->n_users; i++)
		l->user[i]->seen = false;
	rc = read_own(l, folder, err);
	while (unc_ledger_folder_next(entries, &owner))
		if (owner != l->own.owner)
			read_user(l, folder, owner);
	closedir(entries);
	drop_users(l, false);
	return rc;
}

/* ---- the end of a turn, and of all */

void unc_ledger_unlock(struct unc_ledger *l)
{
	unc_ledger_file_end(l->fd, &l->turn);
	for (size_t i = 0; i < l->n_users; i++)
		unc_ledger_file_close(&l->user[i]->fd);
	if (!l->n_mine)
		unc_ledger_file_close(&l->own.fd);
}

void unc_ledger_give_up(struct unc_ledger *l)
{
	unc_ledger_unlock(l);
	unc_ledger_file_close(&l->fd);
	l->lost = l->n_mine != 0;
	if (!l->lost)
		unc_ledger_begin_anew(l);
}
