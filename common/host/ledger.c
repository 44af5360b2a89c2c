/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "host/fs.h"
#include "host/ledger_inside.h"

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
	unc_book_empty(&l->own);
	drop_users(l, true);
}

struct unc_ledger *unc_ledger_new(void)
{
	struct unc_ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->node = (struct ledger_file){.fd = -1, .user = UNC_LEDGER_NODE};
	l->own.file = l->each.file = (struct ledger_file){.fd = -1, .user = geteuid()};
	l->turn = -1;
	unc_process_self(&l->self);
	return l;
}

void unc_ledger_free(struct unc_ledger *l)
{
	if (!l)
		return;
	unc_ledger_begin_anew(l);
	unc_book_free(&l->own);
	unc_book_free(&l->each);
	free(l->user);
	unc_ledger_file_close(&l->node.fd);
	free(l);
}

const char *unc_ledger_reason(const struct unc_ledger *l)
{
	return l->reason.text;
}

/* ---- the files of all users, as they are now */

/* Our own, if there is one. What cannot be used is made anew, if nobody uses it. */
static int read_own(struct unc_ledger *l, struct unc_error *err)
{
	struct book *b = &l->own;
	int rc;

	b->changed = false;
	if (b->file.fd >= 0) {
		rc = unc_ledger_file_check(&b->file, err);
	} else {
		b->file.user = geteuid();
		rc = unc_ledger_file_open(l, &b->file, false, err);
	}
	if (rc == 0)
		rc = unc_book_read(b, l->n_mine, err);
	if (rc < 0 && l->n_mine)
		return rc;
	if (rc == UNC_ERR_INVALID && unc_ledger_file_reset(b->file.fd))
		rc = unc_book_read(b, false, err);
	if (rc < 0)
		unc_book_empty(b);
	return rc == UNC_ERR_NOT_FOUND ? 0 : rc;
}

static struct book *book_of_user(struct unc_ledger *l, uid_t owner)
{
	struct book *b = NULL, **more;

	for (size_t i = 0; i < l->n_users; i++)
		if (l->user[i]->file.user == owner)
			return l->user[i];
	if ((more = unc_grow(l->user, l->n_users, sizeof(*more))) == NULL)
		return NULL;
	l->user = more;
	if ((b = calloc(1, sizeof(*b))) != NULL) {
		b->file = (struct ledger_file){.fd = -1, .user = owner};
		l->user[l->n_users++] = b;
	}
	return b;
}

/* One that cannot be opened for another reason than that it is not as it should be, which a session
 * must not fail to stop for, is as it was, and those in it are taken to live. */
static void read_user(struct unc_ledger *l, uid_t owner)
{
	struct book *b = book_of_user(l, owner);
	int rc;

	if (!b || b->file.fd >= 0)
		return;
	rc = unc_ledger_file_open(l, &b->file, false, NULL);
	if (rc == 0)
		rc = unc_book_read(b, false, NULL);
	b->seen = rc == 0 || (b->n && (rc == UNC_ERR_IO || rc == UNC_ERR_MEMORY));
}

static int read_all(struct unc_ledger *l, struct unc_error *err)
{
	int rc = unc_ledger_folder(l, false, err);
	const struct dirent *entry;
	unsigned owner;
	char rest;

	if (rc < 0)
		return l->n_mine ? read_own(l, err) : rc;
	for (size_t i = 0; i < l->n_users; i++)
		l->user[i]->seen = false;
	rc = read_own(l, err);
	while ((entry = readdir(l->folder)) != NULL)
		if (sscanf(entry->d_name, "ledger.%u%c", &owner, &rest) == 1 &&
		    owner != l->own.file.user)
			read_user(l, owner);
	drop_users(l, false);
	return rc;
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
	int rc = 0;

	if (l->node.fd < 0 || b->header.magic)
		return 0;
	if (b->file.fd < 0 && (rc = unc_ledger_folder(l, false, err)) == 0)
		rc = unc_ledger_file_open(l, &b->file, true, err);
	if (rc < 0)
		return rc;
	b->header = unc_ledger_new_header;
	b->header.changes = unc_ledger_today();
	rc = unc_ledger_file_put(&b->file, &b->header, sizeof(b->header), 0, err);
	if (rc < 0)
		b->header = (struct header){0};
	return rc;
}

/* ---- turns */

static int fail_locked(const struct unc_ledger *l, bool interrupted, struct unc_error *err)
{
	struct header h = {0};

	(void)unc_read_at(l->node.fd, &h, sizeof(h), 0);
	unc_process_clean(h.command);
	return unc_fail(err, UNC_ERR_BUSY, "%s is locked, last by pid %d (%s)%s", l->node.path,
			(int)h.pid, h.command,
			interrupted ? ", and a signal ended the wait for it"
				    : ", for more than 10 s: it is stopped or hangs; let it go on "
				      "or end it");
}

static int take_lock(struct unc_ledger *l, bool wait, struct unc_error *err)
{
	int error = unc_ledger_file_turn(l->node.fd, wait, &l->turn);

	if (error == EAGAIN && !wait)
		return unc_fail(err, UNC_ERR_BUSY, "%s is locked", l->node.path);
	if (error == EAGAIN || error == EINTR)
		return fail_locked(l, error == EINTR, err);
	if (error == EINVAL)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%s cannot be locked: open-file-description locks need Linux 3.15",
				l->node.path);
	return error ? unc_ledger_fail(&l->node, "locked", error, err) : 0;
}

/* Those who wait for the lock are told who has it. */
static int write_turn(struct unc_ledger *l, struct unc_error *err)
{
	struct header h;
	int rc = unc_ledger_header(&l->node, &h, err);

	if (rc < 0)
		return rc;
	if (!h.magic)
		h = unc_ledger_new_header;
	l->turns = ++h.turn;
	h.pid = (int32_t)l->self.pid;
	memcpy(h.command, l->self.command, sizeof(h.command));
	return unc_ledger_file_put(&l->node, &h, sizeof(h), 0, err);
}

/* Under the lock. A file that cannot be used is made anew, if nobody uses it. */
static int begin_turn(struct unc_ledger *l)
{
	int rc = unc_ledger_file_check(&l->node, &l->reason);

	if (rc == 0)
		rc = write_turn(l, &l->reason);
	if (rc == UNC_ERR_INVALID && !l->n_mine && unc_ledger_file_reset(l->node.fd))
		rc = write_turn(l, &l->reason);
	if (rc == 0)
		rc = read_all(l, &l->reason);
	if (rc == 0)
		unc_error_clear(&l->reason);
	return rc;
}

int unc_ledger_lock(struct unc_ledger *l, bool wait, struct unc_error *err)
{
	int rc;

	memset(l->own.life, UNKNOWN, sizeof(l->own.life));
	for (size_t i = 0; i < l->n_users; i++)
		memset(l->user[i]->life, UNKNOWN, sizeof(l->user[i]->life));
	if (l->node.fd < 0)
		return 0;
	rc = take_lock(l, wait, wait ? &l->reason : err);
	if (rc < 0 && !wait)
		return rc;
	/* What others hold together with sessions of ours stays theirs: as their files tell now. */
	if (rc < 0 && l->n_mine)
		(void)read_all(l, NULL);
	if (rc == 0)
		rc = begin_turn(l);
	if (rc < 0)
		unc_ledger_give_up(l);
	return 0;
}

void unc_ledger_unlock(struct unc_ledger *l)
{
	unc_ledger_file_end(l->node.fd, &l->turn);
	for (size_t i = 0; i < l->n_users; i++)
		unc_ledger_file_close(&l->user[i]->file.fd);
	if (!l->n_mine)
		unc_ledger_file_close(&l->own.file.fd);
	if (l->folder)
		closedir(l->folder);
	l->folder = NULL;
}

void unc_ledger_give_up(struct unc_ledger *l)
{
	unc_ledger_unlock(l);
	unc_ledger_file_close(&l->node.fd);
	l->lost = l->n_mine != 0;
	if (l->lost)
		l->own.header = (struct header){0};
	else
		unc_ledger_begin_anew(l);
}

/* ---- opening */

static int try_open(struct unc_ledger *l, bool make)
{
	int rc = unc_ledger_folder(l, make, &l->reason);

	if (rc == 0)
		rc = unc_ledger_file_open(l, &l->node, true, &l->reason);
	if (rc == 0)
		rc = take_lock(l, true, &l->reason);
	if (rc == 0)
		rc = begin_turn(l);
	unc_ledger_unlock(l);
	if (rc < 0)
		unc_ledger_file_close(&l->node.fd);
	return rc;
}

int unc_ledger_open(struct unc_ledger *l, const char *dir, bool make, struct unc_error *err)
{
	int rc = UNC_ERR_NOT_FOUND;

	if (l->node.fd >= 0 && !l->n_mine && unc_ledger_file_check(&l->node, NULL) < 0)
		unc_ledger_file_close(&l->node.fd);
	if (l->n_mine || l->node.fd >= 0)
		return unc_fail(err, UNC_ERR_STATE, "the ledger is in use");
	snprintf(l->dir, sizeof(l->dir), "%s", dir);
	unc_ledger_begin_anew(l);
	/* One that somebody has removed meanwhile is made again. */
	for (int tries = 0; rc == UNC_ERR_NOT_FOUND && tries < 3; tries++)
		rc = try_open(l, make);
	if (rc < 0 && err)
		*err = l->reason;
	return rc;
}
