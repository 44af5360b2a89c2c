/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: what is noted in the ledger of the node before it is programmed, and taken out after. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/trust.h"
#include "units/inside.h"

/* ---- the lock */

/* Where processes of the node know of each other, and whether that may be made; false: a simulated
 * machine has nobody beside this process. */
static bool run_folder(const struct unc_platform *p, char dir[PATH_MAX], bool *make)
{
	const char *given = unc_variable(p->raised, "UNCORE_RUN");

	if (p->machine->simulated || !p->access)
		return false;
	*make = given || (unc_fs_is_real(p->fs) && !geteuid());
	if (!given)
		return unc_fs_path(p->fs, dir, PATH_MAX, "/run/libuncore") == 0;
	snprintf(dir, PATH_MAX, "%s", given);
	return true;
}

/* The file is tried again whenever no session of ours runs. */
static void open_ledger(struct unc_platform *p)
{
	char dir[PATH_MAX];
	bool make;

	if (!run_folder(p, dir, &make))
		return;
	(void)unc_ledger_open(p->ledger, dir, make, NULL);
}

void unc_units_lock(struct unc_units *s)
{
	pthread_mutex_lock(&s->platform->program);
	open_ledger(s->platform);
	(void)unc_ledger_lock(s->platform->ledger, true, NULL);
}

int unc_units_try_lock(struct unc_units *s)
{
	struct unc_platform *p = s->platform;

	if (pthread_mutex_trylock(&p->program) != 0)
		return UNC_ERR_BUSY;
	if (unc_ledger_lock(p->ledger, false, NULL) == 0)
		return 0;
	pthread_mutex_unlock(&p->program);
	return UNC_ERR_BUSY;
}

void unc_units_unlock(struct unc_units *s)
{
	unc_ledger_unlock(s->platform->ledger);
	pthread_mutex_unlock(&s->platform->program);
}

/* Its place in the ledger. */
static int enter_ledger(struct unc_units *s, struct unc_error *err)
{
	return s->holder != UNC_LEDGER_NOBODY
		       ? 0
		       : unc_ledger_enter(s->platform->ledger, &s->holder, err);
}

void unc_units_leave_ledger(struct unc_units *s)
{
	if (s->holder != UNC_LEDGER_NOBODY)
		unc_ledger_leave(s->platform->ledger, s->holder);
	s->holder = UNC_LEDGER_NOBODY;
}

void unc_units_abandon(struct unc_units *s)
{
	pthread_mutex_lock(&s->platform->program);
	if (s->holder != UNC_LEDGER_NOBODY)
		unc_ledger_abandon(s->platform->ledger, s->holder);
	s->holder = UNC_LEDGER_NOBODY;
	pthread_mutex_unlock(&s->platform->program);
}

/* ---- records */

/* What a register is called in the ledger; false: it has no place, or is none. */
static bool find_key(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
		     struct unc_ledger_key *key)
{
	const struct unc_platform *p = s->platform;
	struct unc_reg place;

	if (reg == UNC_NONE || unc_instance_reg(p->table, u, reg, &place, NULL) < 0)
		return false;
	*key = unc_ledger_key(&place, p->topology.socket[u->socket].package);
	return true;
}

struct unc_ledger_record *unc_units_record(const struct unc_units *s, const struct unc_instance *u,
					   uint16_t reg)
{
	struct unc_ledger_key key;

	return find_key(s, u, reg, &key) ? unc_ledger_find(s->platform->ledger, &key) : NULL;
}

struct unc_ledger_record *unc_units_orphan(const struct unc_units *s, const struct unc_instance *u,
					   uint16_t reg)
{
	struct unc_ledger_key key;

	return find_key(s, u, reg, &key) ? unc_ledger_orphan(s->platform->ledger, &key) : NULL;
}

/* That of sessions of this user: by it alone a register is restored, and only its holders have the
 * numbers of sessions of this user. */
static struct unc_ledger_record *own_record(const struct unc_units *s, const struct unc_instance *u,
					    uint16_t reg)
{
	struct unc_ledger_key key;

	return find_key(s, u, reg, &key) ? unc_ledger_own(s->platform->ledger, &key) : NULL;
}

/* The same, if this session holds it. */
static struct unc_ledger_record *held_record(const struct unc_units *s,
					     const struct unc_instance *u, uint16_t reg)
{
	struct unc_ledger_record *r = own_record(s, u, reg);

	return r && s->holder != UNC_LEDGER_NOBODY && unc_ledger_holds(r, s->holder) ? r : NULL;
}

/* A session other than this one that lives and holds a record (NULL: none); UNC_LEDGER_NOBODY. */
static unsigned other_holder(const struct unc_units *s, const struct unc_ledger_record *r)
{
	return r ? unc_ledger_living(s->platform->ledger, r, 0, s->holder) : UNC_LEDGER_NOBODY;
}

const struct unc_ledger_record *unc_units_shared(const struct unc_units *s,
						 const struct unc_instance *u, uint16_t reg)
{
	const struct unc_ledger_record *r = unc_units_record(s, u, reg);

	return other_holder(s, r) != UNC_LEDGER_NOBODY ? r : NULL;
}

const char *unc_units_holder_text(const struct unc_units *s, const struct unc_instance *u,
				  uint16_t reg, char *buf, size_t size)
{
	unsigned other = other_holder(s, unc_units_record(s, u, reg));
	struct unc_ledger_holder who;

	if (other == UNC_LEDGER_NOBODY || unc_ledger_who(s->platform->ledger, other, &who) < 0)
		snprintf(buf, size, "somebody else");
	else if (who.process.pid == getpid())
		snprintf(buf, size, "another session of this program");
	else
		snprintf(buf, size, "pid %lld (%s)", (long long)who.process.pid,
			 who.process.command);
	return buf;
}

/*
 * The record of a register that this session is about to hold: the one that is there, or a new one.
 * It tells the same as that of another user with whom it is shared (`joined`: it is, though that
 * one has ended); what that user found there is believed, or not.
 */
static bool begin_record(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
			 enum unc_ledger_role role, bool joined, uint64_t found,
			 struct unc_ledger_record *r)
{
	struct unc_ledger *l = s->platform->ledger;
	const struct unc_ledger_record *own, *others;

	*r = (struct unc_ledger_record){.role = role, .found = found};
	/* One that has left the ledger would not take out what it notes. */
	if (s->holder == UNC_LEDGER_NOBODY || !find_key(s, u, reg, &r->key))
		return false;
	if ((own = unc_ledger_own(l, &r->key)) != NULL) {
		*r = *own;
	} else if ((others = unc_ledger_find(l, &r->key)) != NULL &&
		   (joined || other_holder(s, others) != UNC_LEDGER_NOBODY)) {
		*r = *others;
		memset(r->holder, 0, sizeof(r->holder));
		if (!unc_ledger_believed(l, others))
			r->found = found;
	}
	unc_ledger_set(r, s->holder, true);
	return true;
}

/* This session programs these bits of it. */
static void set_value(const struct unc_units *s, struct unc_ledger_record *r, uint64_t value,
		      uint64_t mask)
{
	struct unc_ledger_holder self;

	r->value = (r->value & ~mask) | (value & mask);
	r->mask |= mask;
	r->since = unc_ledger_today();
	if (unc_ledger_who(s->platform->ledger, s->holder, &self) < 0)
		return;
	r->pid = self.process.pid;
	memcpy(r->command, self.process.command, sizeof(r->command));
}

static int note_setting(struct unc_units *s, const struct unc_claim *u, struct unc_setting *setting,
			struct unc_error *err)
{
	bool filter = s->platform->table->reg[setting->reg].role == UNC_ROLE_OTHER;
	enum unc_ledger_role role = filter ? UNC_HELD_FILTER : UNC_HELD_CONTROL;
	struct unc_ledger_record r;
	int rc;

	if (!begin_record(s, u->instance, setting->reg, role, setting->by == UNC_JOINED,
			  setting->found, &r))
		return 0;
	if (setting->by != UNC_JOINED) {
		if (!r.mask) /* all of it is written, though not all was chosen */
			r.value = setting->value;
		set_value(s, &r, setting->value, setting->mask);
	}
	rc = unc_ledger_put(s->platform->ledger, &r, err);
	if (rc == 0)
		setting->state = UNC_NOTED;
	setting->restore = r.found;
	return rc;
}

/* Unit control, where the start lets the unit go, or who did so is there still. */
static int note_unit(struct unc_units *s, struct unc_claim *u, struct unc_error *err)
{
	const struct unc_tbl_type *type = &s->platform->table->type[u->instance->type];
	struct unc_ledger_record r;
	int rc;

	if (!u->n_controls || u->n_staying || type->unit_ctl == UNC_NONE || !type->steps_freeze.n ||
	    (u->company && !unc_units_record(s, u->instance, type->unit_ctl)) ||
	    !begin_record(s, u->instance, type->unit_ctl, UNC_HELD_UNIT, false, u->unit_ctl, &r))
		return 0;
	if (!u->company)
		set_value(s, &r, 0, 0);
	rc = unc_ledger_put(s->platform->ledger, &r, err);
	u->unit_ctl = r.found;
	return rc;
}

int unc_units_note_idle(struct unc_units *s, const struct unc_claim *u, struct unc_error *err)
{
	const struct unc_tbl_type *type = &s->platform->table->type[u->instance->type];
	const struct unc_ledger_record *held = held_record(s, u->instance, type->unit_ctl);
	struct unc_ledger_record r;

	if (!held)
		return 0;
	r = *held;
	r.value = UNC_STANDS;
	return unc_ledger_put(s->platform->ledger, &r, err);
}

int unc_units_note(struct unc_units *s, size_t first, struct unc_error *err)
{
	int rc = enter_ledger(s, err), failed;

	unc_ledger_gather(s->platform->ledger);
	for (size_t i = first; i < s->n_claims && rc == 0; i++) {
		struct unc_claim *u = &s->claim[i];
		struct unc_setting *one = NULL;

		s->programs |= u->n_controls != 0;
		rc = note_unit(s, u, err);
		while (rc == 0 && (one = unc_claim_next(u, one)) != NULL)
			rc = note_setting(s, u, one, err);
	}
	failed = unc_ledger_write(s->platform->ledger, rc ? NULL : err);
	return rc ? rc : failed;
}

int unc_units_note_moment(struct unc_units *s, const struct unc_instance *u, uint16_t reg,
			  uint64_t found, uint64_t value, struct unc_error *err)
{
	struct unc_ledger_record r;

	if (!begin_record(s, u, reg, UNC_HELD_CONTROL, false, found, &r))
		return 0;
	set_value(s, &r, value, UINT64_MAX);
	return unc_ledger_put(s->platform->ledger, &r, err);
}

void unc_units_drop_moment(struct unc_units *s, const struct unc_instance *u, uint16_t reg)
{
	struct unc_ledger_record *r = held_record(s, u, reg);

	if (r)
		unc_ledger_remove(s->platform->ledger, r);
}

/* ---- leaving */

uint64_t unc_units_as_found(const struct unc_ledger_record *r, uint64_t now)
{
	uint64_t others = (now ^ r->value) & ~r->mask;

	return (r->found & ~others) | (now & others);
}

static void settle_setting(const struct unc_units *s, const struct unc_claim *u,
			   struct unc_setting *setting)
{
	const struct unc_ledger_record *r = own_record(s, u->instance, setting->reg);

	/* Where noting came to an end before it, nothing has been written. */
	if (setting->state == UNC_PLANNED || other_holder(s, r) != UNC_LEDGER_NOBODY)
		setting->state = UNC_NOT_OURS;
	else if (r)
		setting->restore = setting->state == UNC_NOTED
					   ? r->found
					   : unc_units_as_found(r, setting->shown);
	else if (setting->by == UNC_JOINED)
		setting->state = UNC_NOT_OURS; /* nobody knows any more what it held */
}

void unc_units_settle(struct unc_units *s, size_t first)
{
	for (size_t i = first; i < s->n_claims; i++) {
		struct unc_setting *one = NULL;

		while ((one = unc_claim_next(&s->claim[i], one)) != NULL)
			settle_setting(s, &s->claim[i], one);
	}
}

/* orphaned: it could not be restored; the record is for whoever reclaims it. */
static void release_record(struct unc_units *s, const struct unc_instance *u, uint16_t reg,
			   bool orphaned)
{
	struct unc_ledger_record *r = held_record(s, u, reg);

	if (r)
		unc_ledger_release(s->platform->ledger, r, s->holder, orphaned);
}

static void release_setting(struct unc_units *s, const struct unc_claim *u,
			    struct unc_setting *setting, bool restored)
{
	bool orphaned = u->company == UNC_LEFT || setting->state == UNC_UNRESTORED ||
			(!restored && setting->by != UNC_JOINED);

	release_record(s, u->instance, setting->reg, orphaned);
	setting->state = UNC_PLANNED;
}

static void mark_unrestored(struct unc_units *s, const struct unc_plan *restored)
{
	for (size_t i = 0; i < restored->n; i++) {
		struct unc_setting *setting =
			restored->op[i].error
				? unc_claim_setting(unc_units_claimed(s, restored->tag[i].instance),
						    restored->tag[i].reg)
				: NULL;

		if (setting)
			setting->state = UNC_UNRESTORED;
	}
}

void unc_units_release(struct unc_units *s, size_t first, const struct unc_plan *restored)
{
	const struct unc_table *t = s->platform->table;

	if (restored)
		mark_unrestored(s, restored);
	unc_ledger_gather(s->platform->ledger);
	for (size_t i = first; i < s->n_claims; i++) {
		const struct unc_claim *u = &s->claim[i];
		struct unc_setting *one = NULL;

		while ((one = unc_claim_next(u, one)) != NULL)
			release_setting(s, u, one, restored != NULL);
		if (u->n_controls && !u->n_staying)
			release_record(s, u->instance, t->type[u->instance->type].unit_ctl,
				       u->company == UNC_LEFT);
	}
	/* What stays in the file where this fails is orphaned as soon as the session has left. */
	(void)unc_ledger_write(s->platform->ledger, NULL);
}
