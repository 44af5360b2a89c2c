/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: what they note in the ledger of the node before they program it, and take out after. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/perf_users.h"
#include "host/trust.h"
#include "units/units.h"

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

/* The file is tried again whenever no session of ours runs. Nobody may take descriptors of a process
 * with raised rights: it takes none either. */
static void open_ledger(struct unc_platform *p)
{
	char dir[PATH_MAX];
	bool make;

	if (!run_folder(p, dir, &make))
		return;
	(void)unc_ledger_open(p->ledger, dir, make, NULL);
	if (!p->raised)
		unc_kernel_share(p->access, dir, make);
}

void unc_units_lock(struct unc_units *s)
{
	pthread_mutex_lock(&s->platform->program);
	open_ledger(s->platform);
	(void)unc_ledger_lock(s->platform->ledger, true, NULL);
}

bool unc_units_try_lock(struct unc_units *s)
{
	struct unc_platform *p = s->platform;

	if (pthread_mutex_trylock(&p->program) != 0)
		return false;
	if (unc_ledger_lock(p->ledger, false, NULL) == 0)
		return true;
	pthread_mutex_unlock(&p->program);
	return false;
}

void unc_units_unlock(struct unc_units *s)
{
	unc_ledger_unlock(s->platform->ledger);
	pthread_mutex_unlock(&s->platform->program);
}

int unc_units_hold(struct unc_units *s, struct unc_error *err)
{
	int rc = s->holds ? 0 : unc_ledger_enter(s->platform->ledger, &s->holder, err);

	s->holds |= rc == 0;
	return rc;
}

void unc_units_let_go(struct unc_units *s)
{
	if (s->holds)
		unc_ledger_leave(s->platform->ledger, s->holder);
	s->holds = false;
}

void unc_units_abandon(struct unc_units *s)
{
	pthread_mutex_lock(&s->platform->program);
	if (s->holds)
		unc_ledger_abandon(s->platform->ledger, s->holder);
	s->holds = false;
	pthread_mutex_unlock(&s->platform->program);
}

/* ---- records */

bool unc_units_key(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
		   struct unc_ledger_key *key)
{
	const struct unc_platform *p = s->platform;
	struct unc_reg place;

	if (unc_instance_reg(p->table, u, reg, &place, NULL) < 0)
		return false;
	*key = unc_ledger_key(&place, p->topology.socket[u->socket].package);
	return true;
}

struct unc_ledger_record *unc_units_record(const struct unc_units *s, const struct unc_instance *u,
					   uint16_t reg)
{
	struct unc_ledger_key key;

	if (reg == UNC_NONE || !unc_units_key(s, u, reg, &key))
		return NULL;
	return unc_ledger_find(s->platform->ledger, &key);
}

unsigned unc_units_other(const struct unc_units *s, const struct unc_ledger_record *r)
{
	return r ? unc_ledger_living(s->platform->ledger, r, 0,
				     s->holds ? s->holder : UNC_LEDGER_NOBODY)
		 : UNC_LEDGER_NOBODY;
}

bool unc_units_shares(const struct unc_units *s, const struct unc_instance *u, uint16_t reg)
{
	return unc_units_other(s, unc_units_record(s, u, reg)) != UNC_LEDGER_NOBODY;
}

const char *unc_units_holder_text(const struct unc_units *s, const struct unc_instance *u,
				  uint16_t reg, char *buf, size_t size)
{
	unsigned other = unc_units_other(s, unc_units_record(s, u, reg));
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

static uint64_t today(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The record of a register that this session is about to hold: the one that is there, or a new one. */
static bool begin_record(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
			 enum unc_ledger_role role, uint64_t found, struct unc_ledger_record *r)
{
	const struct unc_ledger_record *old = unc_units_record(s, u, reg);

	if (old) {
		*r = *old;
	} else {
		*r = (struct unc_ledger_record){.role = role, .found = found};
		if (!unc_units_key(s, u, reg, &r->key))
			return false;
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
	r->since = today();
	if (unc_ledger_who(s->platform->ledger, s->holder, &self) < 0)
		return;
	r->pid = self.process.pid;
	memcpy(r->command, self.process.command, sizeof(r->command));
}

static int note_setting(struct unc_units *s, const struct unc_plan_unit *u,
			struct unc_setting *setting, bool filter, struct unc_error *err)
{
	struct unc_ledger_record r;
	int rc;

	if (!begin_record(s, u->instance, setting->reg, filter ? UNC_HELD_FILTER : UNC_HELD_CONTROL,
			  setting->found, &r))
		return 0;
	if (!setting->joined) {
		if (!r.mask) /* all of it is written, though not all was chosen */
			r.value = setting->value;
		set_value(s, &r, setting->value, setting->mask);
		r.alone = setting->alone;
		r.lent = u->clock.ctl == setting->reg ? u->clock.value : 0;
	}
	rc = unc_ledger_put(s->platform->ledger, &r, err);
	setting->noted = rc == 0;
	setting->restore = r.found;
	return rc;
}

/* Unit control, where the start lets the unit go, or who did so is there still. */
static int note_unit(struct unc_units *s, struct unc_plan_unit *u, struct unc_error *err)
{
	const struct unc_tbl_type *type = &s->platform->table->type[u->instance->type];
	struct unc_ledger_record r;
	int rc;

	if (!u->n_controls || type->unit_ctl == UNC_NONE || !type->steps_freeze.n ||
	    (u->shared && !unc_units_record(s, u->instance, type->unit_ctl)) ||
	    !begin_record(s, u->instance, type->unit_ctl, UNC_HELD_UNIT, u->unit_ctl, &r))
		return 0;
	if (!u->shared)
		set_value(s, &r, 0, 0);
	rc = unc_ledger_put(s->platform->ledger, &r, err);
	u->noted = rc == 0;
	u->unit_ctl = r.found;
	return rc;
}

int unc_units_note_standing(struct unc_units *s, const struct unc_plan_unit *u,
			    struct unc_error *err)
{
	const struct unc_tbl_type *type = &s->platform->table->type[u->instance->type];
	struct unc_ledger_record r;

	if (!u->noted || !begin_record(s, u->instance, type->unit_ctl, UNC_HELD_UNIT, 0, &r))
		return 0;
	r.value = UNC_STANDS;
	return unc_ledger_put(s->platform->ledger, &r, err);
}

int unc_units_note(struct unc_units *s, struct unc_plan_unit *units, size_t n,
		   struct unc_error *err)
{
	int rc = unc_units_hold(s, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		struct unc_plan_unit *u = &units[i];

		s->programs |= u->n_controls != 0;
		rc = note_unit(s, u, err);
		for (size_t k = 0; k < u->n_controls && rc == 0; k++)
			rc = note_setting(s, u, &u->control[k], false, err);
		for (size_t k = 0; k < u->n_filters && rc == 0; k++)
			rc = note_setting(s, u, &u->filter[k], true, err);
	}
	return rc;
}

int unc_units_note_lent(struct unc_units *s, const struct unc_plan_unit *u, struct unc_error *err)
{
	const struct unc_plan_clock *c = &u->clock;
	struct unc_ledger_record r;

	if (c->ctl == UNC_NONE || c->runs ||
	    !begin_record(s, u->instance, c->ctl, UNC_HELD_CONTROL, c->back, &r) ||
	    r.lent == c->value)
		return 0;
	if (!c->own)
		set_value(s, &r, c->value, UINT64_MAX);
	r.lent = c->value;
	return unc_ledger_put(s->platform->ledger, &r, err);
}

void unc_units_drop_lent(struct unc_units *s, const struct unc_plan_unit *u)
{
	struct unc_ledger_record *r = unc_units_record(s, u->instance, u->clock.ctl);

	if (r && !u->clock.own && !u->clock.runs)
		unc_ledger_remove(s->platform->ledger, r);
}

int unc_units_note_socket(struct unc_units *s, const struct unc_instance *ubox,
			  struct unc_error *err)
{
	const struct unc_tbl_type *type = &s->platform->table->type[ubox->type];
	struct unc_ledger_record r;

	if (!begin_record(s, ubox, unc_units_socket_reg(type), UNC_HELD_SOCKET, 0, &r))
		return 0;
	set_value(s, &r, 0, 0);
	r.alone = true;
	return unc_ledger_put(s->platform->ledger, &r, err);
}

void unc_units_drop_socket(struct unc_units *s, const struct unc_instance *ubox)
{
	const struct unc_tbl_type *type = &s->platform->table->type[ubox->type];
	struct unc_ledger_record *r = unc_units_record(s, ubox, unc_units_socket_reg(type));

	if (r && s->holds && unc_ledger_holds(r, s->holder))
		unc_ledger_remove(s->platform->ledger, r);
}

/* ---- leaving */

static bool has_pmu(const struct unc_platform *p, const char *name)
{
	const struct unc_machine_events *events = p->machine->events;
	char mask[256];
	uint32_t type;

	if (events)
		return events->find(p->machine, name, &type, mask, sizeof(mask)) == 0;
	return !p->machine->simulated &&
	       unc_fs_exists(p->fs, "/sys/bus/event_source/devices/%s", name);
}

bool unc_units_has_driver(const struct unc_platform *p, const struct unc_instance *u)
{
	char name[UNC_KERNEL_NAME];
	bool has = false;

	for (unsigned k = 0; k < UNC_KERNEL_PMUS && !has; k++)
		has = unc_kernel_pmu(p->table, u->type, k, u->index, name, sizeof(name)) &&
		      has_pmu(p, name);
	return has;
}

bool unc_units_kernel_counts(const struct unc_units *s)
{
	const struct unc_platform *p = s->platform;

	return p->access && !p->machine->simulated && unc_perf_may_count(p->fs);
}

uint64_t unc_units_as_found(const struct unc_ledger_record *r, uint64_t now)
{
	uint64_t others = (now ^ r->value) & ~r->mask;

	return (r->found & ~others) | (now & others);
}

static void keep_setting(const struct unc_units *s, const struct unc_plan_unit *u,
			 struct unc_setting *setting)
{
	const struct unc_ledger_record *r = unc_units_record(s, u->instance, setting->reg);

	/* Where noting came to an end before it, nothing has been written. */
	if (!setting->noted || unc_units_other(s, r) != UNC_LEDGER_NOBODY)
		setting->keep = true;
	else if (r)
		setting->restore = setting->seen ? unc_units_as_found(r, setting->shown) : r->found;
	else
		setting->keep |= setting->joined; /* nobody knows any more what it held */
}

void unc_units_keep(struct unc_units *s, struct unc_plan_unit *units, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct unc_plan_unit *u = &units[i];

		for (size_t k = 0; k < u->n_controls; k++)
			keep_setting(s, u, &u->control[k]);
		for (size_t k = 0; k < u->n_filters; k++)
			keep_setting(s, u, &u->filter[k]);
	}
}

/* left: it could not be put back; the record is of the dead from now on. */
static void release_record(struct unc_units *s, const struct unc_instance *u, uint16_t reg,
			   bool left)
{
	struct unc_ledger_record *r = unc_units_record(s, u, reg), now;

	if (!r)
		return;
	if (!left && unc_units_other(s, r) == UNC_LEDGER_NOBODY) {
		unc_ledger_remove(s->platform->ledger, r);
		return;
	}
	now = *r;
	unc_ledger_set(&now, s->holder, false);
	/* Where this cannot be written its number tells that it is gone. */
	(void)unc_ledger_put(s->platform->ledger, &now, NULL);
}

static void release_setting(struct unc_units *s, const struct unc_plan_unit *u,
			    struct unc_setting *setting, const struct unc_plan *back)
{
	bool left = u->left || (!back && !setting->joined);

	for (size_t i = 0; back && i < back->n && !left; i++)
		left = back->tag[i].instance == u->instance && back->tag[i].reg == setting->reg &&
		       back->op[i].error != 0;
	if (setting->noted)
		release_record(s, u->instance, setting->reg, left);
	setting->noted = setting->keep = false;
}

void unc_units_release(struct unc_units *s, struct unc_plan_unit *units, size_t n,
		       const struct unc_plan *back)
{
	for (size_t i = 0; i < n; i++) {
		struct unc_plan_unit *u = &units[i];

		for (size_t k = 0; k < u->n_controls; k++)
			release_setting(s, u, &u->control[k], back);
		for (size_t k = 0; k < u->n_filters; k++)
			release_setting(s, u, &u->filter[k], back);
		if (u->noted)
			release_record(s, u->instance,
				       s->platform->table->type[u->instance->type].unit_ctl,
				       u->left);
		u->noted = false;
	}
}
