/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "host/fs.h"
#include "host/ledger_inside.h"

struct unc_ledger *unc_ledger_new(void)
{
	struct unc_ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->fd = l->turn = l->own.fd = l->each.fd = -1;
	l->own.owner = l->each.owner = geteuid();
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
	unc_ledger_file_close(&l->fd);
	free(l);
}

const char *unc_ledger_reason(const struct unc_ledger *l)
{
	return l->reason.text;
}

/* ---- the lock */

static int fail_locked(const struct unc_ledger *l, bool interrupted, struct unc_error *err)
{
	struct header h = {0};

	(void)unc_read_at(l->fd, &h, sizeof(h), 0);
	unc_process_clean(h.command);
	return unc_fail(err, UNC_ERR_BUSY, "%.200s/ledger is locked, last by pid %d (%s)%s", l->dir,
			(int)h.pid, h.command,
			interrupted ? ", and a signal ended the wait for it"
				    : ", for more than 10 s: it is stopped or hangs; let it go on "
				      "or end it");
}

static int take_turn(struct unc_ledger *l, bool wait, struct unc_error *err)
{
	int error = unc_ledger_file_turn(l->fd, wait, &l->turn);

	if (error == EAGAIN && !wait)
		return unc_fail(err, UNC_ERR_BUSY, "%.200s/ledger is locked", l->dir);
	if (error == EAGAIN || error == EINTR)
		return fail_locked(l, error == EINTR, err);
	if (error == EINVAL)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%.200s/ledger cannot be locked: open-file-description locks need "
				"Linux 3.15",
				l->dir);
	return error ? unc_ledger_fail(l, UNC_LEDGER_NODE, "locked", error, err) : 0;
}

int unc_ledger_lock(struct unc_ledger *l, bool wait, struct unc_error *err)
{
	int rc;

	l->changed = false;
	memset(l->own.life, UNKNOWN, sizeof(l->own.life));
	for (size_t i = 0; i < l->n_users; i++)
		memset(l->user[i]->life, UNKNOWN, sizeof(l->user[i]->life));
	if (l->fd < 0)
		return 0;
	rc = take_turn(l, wait, wait ? &l->reason : err);
	if (rc < 0 && !wait)
		return rc;
	/* What others hold together with sessions of ours stays theirs: as their files tell now. */
	if (rc < 0 && l->n_mine)
		(void)unc_ledger_read(l, NULL);
	else if (rc == 0 && unc_ledger_file_removed(l->fd))
		rc = unc_ledger_fail_removed(l, UNC_LEDGER_NODE, &l->reason);
	else if (rc == 0 && (rc = unc_ledger_write_turn(l, &l->reason)) == 0)
		rc = unc_ledger_read(l, &l->reason);
	if (rc < 0)
		unc_ledger_give_up(l);
	return 0;
}

/* ---- opening */

/* One that cannot be used is made anew, if nobody uses it; one that somebody has removed meanwhile
 * is not open then. */
static int try_open(struct unc_ledger *l, int folder, struct unc_error *err)
{
	int rc = unc_ledger_file_open(folder, l->dir, UNC_LEDGER_NODE, true, err);
	bool there;

	if (rc < 0)
		return rc;
	l->fd = rc;
	rc = take_turn(l, true, err);
	there = !unc_ledger_file_removed(l->fd);
	if (rc == 0 && there)
		rc = unc_ledger_write_turn(l, err);
	if (rc == UNC_ERR_INVALID && unc_ledger_file_reset(l->fd))
		rc = unc_ledger_write_turn(l, err);
	if (rc == 0 && there)
		rc = unc_ledger_read(l, err);
	unc_ledger_unlock(l);
	if (rc < 0 || !there)
		unc_ledger_file_close(&l->fd);
	return rc;
}

int unc_ledger_open(struct unc_ledger *l, const char *dir, bool make, struct unc_error *err)
{
	int folder, rc;

	if (l->fd >= 0 && !l->n_mine && unc_ledger_file_removed(l->fd))
		unc_ledger_file_close(&l->fd);
	if (l->n_mine || l->fd >= 0)
		return unc_fail(err, UNC_ERR_STATE, "the ledger is in use");
	snprintf(l->dir, sizeof(l->dir), "%s", dir);
	unc_ledger_begin_anew(l);
	rc = folder = unc_ledger_folder(dir, make, &l->reason);
	for (int tries = 0; rc >= 0 && l->fd < 0 && tries < 3; tries++)
		rc = try_open(l, folder, &l->reason);
	unc_ledger_file_close(&folder);
	if (rc == 0 && l->fd < 0)
		rc = unc_fail(&l->reason, UNC_ERR_BUSY, "%.200s/ledger is removed again and again",
			      dir);
	if (rc == 0)
		unc_error_clear(&l->reason);
	else if (err)
		*err = l->reason;
	return rc;
}
