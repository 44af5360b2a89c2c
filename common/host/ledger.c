/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/ledger_inside.h"

struct unc_ledger *unc_ledger_new(void)
{
	struct unc_ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->fd = l->turn = l->kept = -1;
	unc_process_self(&l->self);
	return l;
}

void unc_ledger_free(struct unc_ledger *l)
{
	if (!l)
		return;
	unc_ledger_begin_anew(l);
	unc_book_free(&l->node);
	unc_book_free(&l->own);
	if (l->fd >= 0)
		close(l->fd);
	free(l);
}

const char *unc_ledger_reason(const struct unc_ledger *l)
{
	return l->reason.text;
}

/* ---- the file */

static bool is_new(const struct header *h)
{
	static const struct header zero;

	return memcmp(h, &zero, sizeof(zero)) == 0;
}

/* Whoever has the lock first writes the header of a new file. */
static int write_header(struct unc_ledger *l, struct unc_error *err)
{
	static const char zero[SLOTS_AT];
	struct slot last = {0};
	int error;

	l->header = (struct header){.magic = MAGIC,
				    .version = LAYOUT,
				    .holder_size = sizeof(struct slot),
				    .record_size = sizeof(struct unc_ledger_record),
				    .n_holders = UNC_LEDGER_HOLDERS};
	error = unc_ledger_file_put(l->fd, zero, sizeof(zero), 0);
	if (!error)
		error = unc_ledger_file_put(l->fd, &last, sizeof(last),
					    RECORDS_AT - sizeof(struct slot));
	if (!error)
		error = unc_ledger_file_put(l->fd, &l->header, sizeof(l->header), 0);
	return error ? unc_ledger_fail(l, "written", error, err) : 0;
}

/* The header as it is now. */
static int read_header(struct unc_ledger *l, struct header *h, struct unc_error *err)
{
	int error = unc_ledger_file_get(l->fd, h, sizeof(*h), 0);

	if (error == ENODATA || (!error && is_new(h))) {
		int rc =
			l->n_mine ? unc_ledger_fail(l, "read", ENODATA, err) : write_header(l, err);

		*h = l->header;
		return rc;
	}
	if (error)
		return unc_ledger_fail(l, "read", error, err);
	if (h->magic != MAGIC || h->version != LAYOUT || h->holder_size != sizeof(struct slot) ||
	    h->record_size != sizeof(struct unc_ledger_record) ||
	    h->n_holders != UNC_LEDGER_HOLDERS || h->n_records > MAX_RECORDS)
		return unc_fail(err, UNC_ERR_INVALID,
				"%.200s/ledger is not a ledger of this version: remove it when "
				"nobody measures",
				l->dir);
	return 0;
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

/* A file that was cut off: zeros are no records, and half of one is none either. */
static int lengthen(const struct unc_ledger *l, size_t n)
{
	const struct unc_ledger_record none = {.role = 0};
	struct unc_ledger_record r;
	size_t whole = 0;
	int error = 0;

	while (unc_ledger_file_get(l->fd, &r, sizeof(r), RECORDS_AT + whole * sizeof(r)) == 0)
		whole++;
	for (size_t i = 0; i < 2 && error == 0; i++)
		error = unc_ledger_file_put(l->fd, &none, sizeof(none),
					    RECORDS_AT + (i ? n - 1 : whole) * sizeof(none));
	return error;
}

static int read_records(struct unc_ledger *l, const struct header *h, struct unc_error *err)
{
	struct book *b = &l->node;
	size_t size = h->n_records * sizeof(*b->record);
	int error;

	if (l->header.changes == h->changes && b->n == h->n_records)
		return 0;
	if (!unc_book_reserve(b, h->n_records))
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	error = size ? unc_ledger_file_get(l->fd, b->record, size, RECORDS_AT) : 0;
	if (error == ENODATA && l->turn >= 0 && (error = lengthen(l, h->n_records)) == 0)
		error = unc_ledger_file_get(l->fd, b->record, size, RECORDS_AT);
	if (error)
		return unc_ledger_fail(l, "read", error, err);
	b->n = h->n_records;
	for (size_t i = 0; i < b->n; i++)
		clean(&b->record[i]);
	unc_book_index(b);
	return 0;
}

/* Who has the lock is told to those who wait. */
static int load(struct unc_ledger *l, struct unc_error *err)
{
	struct header h;
	int rc = read_header(l, &h, err), error;

	if (rc == 0)
		rc = read_records(l, &h, err);
	if (rc < 0)
		return rc;
	h.turn++;
	h.pid = (int32_t)l->self.pid;
	memcpy(h.command, l->self.command, sizeof(h.command));
	error = unc_ledger_file_put(l->fd, &h, sizeof(h), 0);
	if (error)
		return unc_ledger_fail(l, "written", error, err);
	l->header = h;
	return 0;
}

/* ---- the lock */

static int fail_locked(const struct unc_ledger *l, bool interrupted, struct unc_error *err)
{
	struct header h = {0};

	(void)unc_ledger_file_get(l->fd, &h, sizeof(h), 0);
	unc_process_clean(h.command);
	return unc_fail(err, UNC_ERR_BUSY, "%.200s/ledger is locked, last by pid %d (%s)%s", l->dir,
			(int)h.pid, h.command,
			interrupted ? ", and a signal ended the wait for it"
				    : ", for more than 10 s: it is stopped or hangs; let it go on "
				      "or end it");
}

static int take_file(struct unc_ledger *l, bool wait, struct unc_error *err)
{
	int error;

	l->turn = unc_ledger_file_turn(l->fd);
	error = wait ? unc_ledger_file_await(l->turn, offsetof(struct header, turn))
		     : unc_ledger_file_lock(l->turn);
	if (error)
		unc_ledger_end_turn(l);
	if (error == EAGAIN && !wait)
		return unc_fail(err, UNC_ERR_BUSY, "%.200s/ledger is locked", l->dir);
	if (error == EAGAIN || error == EINTR)
		return fail_locked(l, error == EINTR, err);
	if (error == EINVAL)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%.200s/ledger cannot be locked: open-file-description locks need "
				"Linux 3.15",
				l->dir);
	return error ? unc_ledger_fail(l, "locked", error, err) : 0;
}

int unc_ledger_lock(struct unc_ledger *l, bool wait, struct unc_error *err)
{
	struct header h;
	int rc;

	l->changed = false;
	memset(l->life, UNKNOWN, sizeof(l->life));
	if (l->fd < 0)
		return 0;
	rc = take_file(l, wait, wait ? &l->reason : err);
	if (rc < 0 && !wait)
		return rc;
	/* What others hold together with sessions of ours stays theirs: as the file tells now. */
	if (rc < 0 && l->n_mine && read_header(l, &h, NULL) == 0)
		(void)read_records(l, &h, NULL);
	if (rc == 0 && unc_ledger_file_removed(l->fd))
		rc = unc_fail(&l->reason, UNC_ERR_IO,
			      "%.200s/ledger was removed while sessions ran: who came since is not "
			      "known",
			      l->dir);
	else if (rc == 0)
		rc = load(l, &l->reason);
	if (rc < 0) {
		unc_ledger_give_up(l);
	}
	return 0;
}

void unc_ledger_unlock(struct unc_ledger *l)
{
	unc_ledger_end_turn(l);
}

/* ---- opening */

/* One that cannot be used is taken away once, if nobody uses it. */
static int try_open(struct unc_ledger *l, bool make, bool *again, struct unc_error *err)
{
	int rc = unc_ledger_file_open(l->dir, make, err);

	*again = false;
	if (rc < 0)
		return rc;
	l->fd = rc;
	l->header = (struct header){0};
	if ((rc = take_file(l, true, err)) == 0) {
		if (unc_ledger_file_removed(l->fd))
			*again = true;
		else if ((rc = load(l, err)) == UNC_ERR_INVALID)
			*again = unc_ledger_file_discard(l->fd, l->dir);
		unc_ledger_end_turn(l);
	}
	if (rc < 0 || *again) {
		close(l->fd);
		l->fd = -1;
	}
	return rc;
}

int unc_ledger_open(struct unc_ledger *l, const char *dir, bool make, struct unc_error *err)
{
	bool again = true;
	int rc = 0;

	if (l->fd >= 0 && !l->n_mine && unc_ledger_file_removed(l->fd)) {
		close(l->fd);
		l->fd = -1;
	}
	if (l->n_mine || l->fd >= 0)
		return unc_fail(err, UNC_ERR_STATE, "the ledger is in use");
	snprintf(l->dir, sizeof(l->dir), "%s", dir);
	unc_ledger_begin_anew(l);
	unc_error_clear(&l->reason);
	for (int tries = 0; again && tries < 3; tries++)
		rc = try_open(l, make, &again, &l->reason);
	if (rc == 0 && l->fd < 0)
		rc = unc_fail(&l->reason, UNC_ERR_BUSY, "%.200s/ledger is removed again and again",
			      dir);
	if (rc == 0)
		unc_error_clear(&l->reason);
	else if (err)
		*err = l->reason;
	return rc;
}
