/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that nobody needs any more are freed: orphaned ones, and foreign ones on request. A
 * counter is freed only if it was shown before and still holds what was shown.
 */
#include <inttypes.h>

#include "units/counters.h"
#include "units/inside.h"

struct release {
	struct unc_platform *platform;
	bool force;
	struct unc_counters shown, now;
	struct unc_error failed; /* why the first one could not be freed */
};

/* ---- counters that are kept */

/* Why a counter is not freed; 0: it is freed. */
static int check_kept(const struct release *r, const struct unc_found *f, struct unc_error *why)
{
	switch (f->owner) {
	case UNC_OWNER_LIBUNCORE:
		if (f->pid)
			return unc_fail(why, UNC_ERR_BUSY, "pid %" PRId64 " (%s) counts with it",
					f->pid, f->command);
		return unc_fail(why, UNC_ERR_BUSY, "a session of user %u counts with it",
				(unsigned)f->user);
	case UNC_OWNER_KERNEL:
		return unc_fail(why, UNC_ERR_BUSY,
				"it may be the kernel's: end the program that counts with perf "
				"events");
	case UNC_OWNER_FOREIGN:
		return r->force ? 0
				: unc_fail(why, UNC_ERR_BUSY, "it is foreign: freed by force only");
	default:
		return f->believed || r->force
			       ? 0
			       : unc_fail(why, UNC_ERR_BUSY,
					  "it was left behind by user %u, whose sessions restore "
					  "it: switched off by force only",
					  (unsigned)f->user);
	}
}

/* ---- foreign counters */

/* Writes 0 to a control. */
static int clear_control(struct release *r, const struct unc_found *f, struct unc_error *err)
{
	struct unc_plan plan = {0};
	int rc = unc_plan_add(r->platform->table, &plan, f->instance, f->ctl, UNC_OP_WRITE, 0, err);

	return unc_plan_run_once(r->platform, &plan, rc, "freeing a counter", err);
}

static void note_failure(struct release *r, const struct unc_error *why)
{
	if (!r->failed.code)
		r->failed = *why;
}

/* Whether a counter is cleared: it is foreign, or another user left it, who alone can restore it. */
static bool is_cleared(const struct unc_found *f)
{
	return f->owner == UNC_OWNER_FOREIGN || (f->owner == UNC_OWNER_ORPHANED && !f->believed);
}

/* Clears counters that still hold what was shown, and are still foreign. */
static void clear_foreign(struct release *r)
{
	const struct unc_instance *last = NULL;
	struct unc_error why;

	for (size_t i = r->shown.n; i-- > 0;) {
		struct unc_found *f = &r->shown.row[i];
		const struct unc_found *now = unc_counters_find(&r->now, f->instance, f->ctl);

		if (!is_cleared(f) || !now || check_kept(r, now, &f->why) < 0)
			continue;
		if (now->control != f->control || now->owner != f->owner)
			unc_fail(&f->why, UNC_ERR_BUSY,
				 "it was programmed anew after it was shown");
		else if (clear_control(r, f, &f->why) < 0)
			note_failure(r, &f->why);
	}
	for (size_t i = 0; i < r->shown.n; i++) {
		const struct unc_found *f = &r->shown.row[i];

		if (!is_cleared(f) || f->instance == last || f->why.code)
			continue;
		last = f->instance;
		if (unc_unit_go_on(r->platform, last, NULL, &why) < 0)
			note_failure(r, &why);
	}
}

/* ---- all counters */

/* Notes the outcome for one counter, once all is done. */
static void note_outcome(struct release *r, struct unc_found *f)
{
	const struct unc_found *now = unc_counters_find(&r->now, f->instance, f->ctl);

	if (!now || f->why.code || check_kept(r, f, &f->why) < 0 || now->control != f->control ||
	    now->owner != f->owner)
		return;
	unc_fail(&f->why, UNC_ERR_IO,
		 "%s of %s could not be restored: it holds 0x%" PRIx64 " still",
		 unc_tbl_str(r->platform->table, r->platform->table->reg[f->ctl].name),
		 unc_unit_name(r->platform, f->instance).text, f->control);
	note_failure(r, &f->why);
}

static int look_at_counters(struct release *r, struct unc_error *err)
{
	unc_counters_free(&r->now);
	return unc_counters_look(r->platform, &r->now, err);
}

/* Refuses a forced release if sessions of other programs are unknown, because they would look foreign. */
static int lock_node(struct release *r, struct unc_error *err)
{
	const char *reason;
	int rc = unc_node_lock(r->platform, UNC_START_PATIENCE, err);

	reason = unc_journal_reason(r->platform->journal);
	if (rc < 0 || !r->force || !*reason)
		return rc;
	unc_node_unlock(r->platform);
	return unc_fail(
		err, UNC_ERR_UNAVAILABLE,
		"foreign counters cannot be told from those of other programs' sessions: %.300s",
		reason);
}

/* The caller holds the lock. */
static int free_counters(struct release *r, struct unc_error *err)
{
	int rc = unc_node_reclaim(r->platform, NULL, true, err);

	if (rc == 0)
		rc = look_at_counters(r, err);
	if (rc == 0 && r->force) {
		clear_foreign(r);
		rc = look_at_counters(r, err);
	}
	for (size_t i = 0; rc == 0 && i < r->shown.n; i++)
		note_outcome(r, &r->shown.row[i]);
	if (rc == 0 && r->now.failed.code)
		note_failure(r, &r->now.failed);
	return rc;
}

static int release(struct release *r, unc_counter_fn fn, void *user, struct unc_error *err)
{
	struct unc_platform *p = r->platform;
	int rc;

	if (!p->access)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "the platform is for listing only");
	if ((rc = lock_node(r, err)) < 0)
		return rc;
	rc = unc_counters_look(p, &r->shown, err);
	unc_node_unlock(p);
	if (rc < 0)
		return rc;
	unc_counters_warn(p, &r->shown);
	rc = unc_counters_tell(p, &r->shown, UNC_RELEASE_FOUND, fn, user);
	if (rc != 0 || (rc = lock_node(r, err)) < 0)
		return rc;
	rc = free_counters(r, err);
	unc_node_unlock(p);
	if (rc == 0)
		rc = unc_counters_tell(p, &r->shown, UNC_RELEASE_DONE, fn, user);
	if (rc == 0 && r->failed.code)
		*err = r->failed;
	return rc;
}

int unc_counters_release(struct unc_platform *p, unsigned flags, unc_counter_fn fn, void *user)
{
	struct release r = {.platform = p, .force = flags & UNC_RELEASE_FORCE};
	struct unc_error err = {0};
	int rc;

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;           /* a thread that is not here may hold its lock */
	unc_platform_fail(p, UNC_OK, "%s", ""); /* clears the error of the call before */
	if (flags & ~(unsigned)UNC_RELEASE_FORCE)
		rc = unc_fail(&err, UNC_ERR_INVALID, "unknown flags 0x%x for a release",
			      flags & ~(unsigned)UNC_RELEASE_FORCE);
	else
		rc = release(&r, fn, user, &err);
	unc_counters_free(&r.shown);
	unc_counters_free(&r.now);
	return err.code ? unc_platform_keep(p, &err) : rc;
}
