/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: their registers in the journal of the node, from before they are programmed until they are
 * restored. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "host/trust.h"
#include "units/inside.h"

/* ---- the lock */

bool unc_units_run_folder(const struct unc_platform *p, char dir[PATH_MAX], bool *make)
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

int unc_units_lock(struct unc_units *s, unsigned patience, struct unc_error *err)
{
	struct unc_platform *p = s->platform;
	char dir[PATH_MAX];
	bool make;
	int rc;

	if (patience)
		pthread_mutex_lock(&p->program);
	else if (pthread_mutex_trylock(&p->program) != 0)
		return UNC_ERR_BUSY;
	if (unc_units_run_folder(p, dir, &make)) /* tried again whenever no session of ours runs */
		(void)unc_journal_open(p->journal, dir, make);
	if ((rc = unc_journal_lock(p->journal, patience, err)) < 0)
		pthread_mutex_unlock(&p->program);
	return rc;
}

void unc_units_unlock(struct unc_units *s)
{
	unc_journal_unlock(s->platform->journal);
	pthread_mutex_unlock(&s->platform->program);
}

/* ---- entries */

bool unc_units_key(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
		   struct unc_journal_key *key)
{
	const struct unc_platform *p = s->platform;
	struct unc_reg place;

	if (reg == UNC_NONE || unc_instance_reg(p->table, u, reg, &place, NULL) < 0)
		return false;
	*key = (struct unc_journal_key){.address = place.address, .space = place.space};
	if (place.space == UNC_SPACE_MSR)
		key->package = (uint32_t)p->topology.socket[u->socket].package;
	else if (unc_space_of_thread(place.space))
		key->package = place.target;
	return true;
}

const struct unc_journal_entry *
unc_units_held(const struct unc_units *s, const struct unc_instance *u, uint16_t reg, uint64_t mask)
{
	struct unc_journal *j = s->platform->journal;
	struct unc_journal_key key;
	uint16_t i = UNC_JOURNAL_NONE;

	if (!unc_units_key(s, u, reg, &key))
		return NULL;
	while ((i = unc_journal_find(j, &key, i)) != UNC_JOURNAL_NONE)
		if ((unc_journal_at(j, i)->mask & mask || !mask) && unc_journal_held(j, i))
			return unc_journal_at(j, i);
	return NULL;
}

const struct unc_journal_entry *unc_units_taken(const struct unc_units *s,
						const struct unc_instance *u, uint16_t reg,
						uint64_t mask)
{
	const struct unc_journal_entry *e = NULL;
	struct unc_journal_key key;
	bool held = false;
	uint32_t user;

	if (unc_units_key(s, u, reg, &key))
		e = unc_journal_taken(s->platform->journal, &key, mask, &user, &held);
	return held ? e : NULL;
}

const struct unc_journal_entry *unc_units_entry(const struct unc_units *s,
						const struct unc_instance *u, uint16_t reg)
{
	struct unc_journal *j = s->platform->journal;
	struct unc_journal_key key;
	uint16_t i;

	if (!unc_units_key(s, u, reg, &key))
		return NULL;
	i = unc_journal_find(j, &key, UNC_JOURNAL_NONE);
	return i == UNC_JOURNAL_NONE ? unc_units_taken(s, u, reg, 0) : unc_journal_at(j, i);
}

/* Whether a PCI register of 64 bits holds the high half of one value and the low half of another:
 * the high one is written first (unc_halves_write()), and who wrote them was killed in between. */
static bool is_torn(const struct unc_tbl_reg *reg, const struct unc_journal_entry *e, uint64_t now)
{
	const uint64_t low = UINT32_MAX;
	const uint64_t held[] = {e->found, e->value};
	bool torn = false;

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			torn |= (held[i] & low) &&
				!((now ^ ((held[i] & ~low) | (held[k] & low))) & reg->write_mask);
	return torn && e->key.space == UNC_SPACE_PCI && reg->width == 64 &&
	       ((now ^ e->found) & reg->write_mask);
}

bool unc_units_recorded(const struct unc_units *s, const struct unc_instance *u, uint16_t reg,
			const struct unc_journal_entry *e, uint64_t now)
{
	const struct unc_table *t = s->platform->table;

	return !((now ^ e->value) & e->mask & unc_telling_bits(t, u, reg, e->value)) ||
	       is_torn(&t->reg[reg], e, now);
}

const char *unc_units_holder_text(const struct unc_units *s, const struct unc_instance *u,
				  uint16_t reg, char *buf, size_t size)
{
	const struct unc_journal_entry *e = unc_units_held(s, u, reg, 0);
	char command[UNC_COMMAND_MAX];
	struct unc_journal_key key;
	uint32_t user;
	bool held;

	if (e && e->pid == getpid())
		snprintf(buf, size, "another session of this program");
	else if (e && unc_process_name(e->pid, e->start, e->space, command))
		snprintf(buf, size, "pid %d (%s)", (int)e->pid, command);
	else if (e)
		snprintf(buf, size, "a session whose first process has ended");
	else if (unc_units_key(s, u, reg, &key) &&
		 unc_journal_taken(s->platform->journal, &key, 0, &user, &held))
		snprintf(buf, size, "user %u", (unsigned)user);
	else
		snprintf(buf, size, "somebody else");
	return buf;
}

/* ---- noting */

/* What the register held before any session came: each has left the rest of it as it was. */
static uint64_t original(struct unc_journal *j, const struct unc_journal_key *key, uint64_t now)
{
	uint16_t i = UNC_JOURNAL_NONE;

	while ((i = unc_journal_find(j, key, i)) != UNC_JOURNAL_NONE)
		now = unc_units_as_found(unc_journal_at(j, i), now);
	return now;
}

/* The entry of these bits, joined, or a new one. One that a killed process has left, and that could not
 * be restored, is taken over. */
static int note(struct unc_units *s, const struct unc_instance *u, uint16_t reg,
		const struct unc_journal_entry *e, uint16_t *place, struct unc_error *err)
{
	struct unc_journal *j = s->platform->journal;
	struct unc_journal_entry new = *e;
	uint16_t i = UNC_JOURNAL_NONE;

	if (!unc_units_key(s, u, reg, &new.key))
		return 0;
	while ((i = unc_journal_find(j, &new.key, i)) != UNC_JOURNAL_NONE)
		if (unc_journal_at(j, i)->mask == e->mask)
			break;
	if (i == UNC_JOURNAL_NONE) {
		new.found = original(j, &new.key, e->found);
		*place = unc_journal_add(j, &new);
		return *place == UNC_JOURNAL_NONE
			       ? unc_fail(err, UNC_ERR_BUSY,
					  "the journal has no room for more registers")
			       : 0;
	}
	if (!unc_journal_held(j, i)) {
		unc_journal_at(j, i)->value = e->value;
		unc_journal_put(j, i);
	}
	unc_journal_join(j, i);
	*place = i;
	return 0;
}

static int note_setting(struct unc_units *s, const struct unc_claim *u, struct unc_setting *setting,
			struct unc_error *err)
{
	const struct unc_journal_entry e = {
		.found = setting->found, .value = setting->value, .mask = setting->mask};
	int rc = note(s, u->instance, setting->reg, &e, &setting->place, err);

	if (rc == 0 && setting->place != UNC_JOURNAL_NONE)
		setting->restore = unc_journal_at(s->platform->journal, setting->place)->found;
	return rc;
}

/* Unit control, where the start lets the unit go, or who did so is there still. */
static int note_unit(struct unc_units *s, struct unc_claim *u, struct unc_error *err)
{
	const struct unc_tbl_type *type = &s->platform->table->type[u->instance->type];
	const struct unc_journal_entry e = {.found = u->unit_ctl};
	int rc;

	if (!u->n_controls || u->n_staying || !type->steps_freeze.n ||
	    (u->company && !unc_units_held(s, u->instance, type->unit_ctl, 0)))
		return 0;
	rc = note(s, u->instance, type->unit_ctl, &e, &u->place, err);
	if (rc == 0 && u->place != UNC_JOURNAL_NONE)
		u->unit_ctl = unc_journal_at(s->platform->journal, u->place)->found;
	return rc;
}

/* The place of the entry that comes behind `last`; NULL: the first; NULL: there is none. *setting: NULL,
 * it is of unit control. What stays ends with nothing. */
static uint16_t *next_place(struct unc_claim *u, uint16_t *last, struct unc_setting **setting)
{
	if (!last)
		*setting = NULL;
	if (!last && !u->n_staying)
		return &u->place;
	*setting = unc_claim_next(u, *setting);
	return *setting ? &(*setting)->place : NULL;
}

static bool is_last(const struct unc_units *s, const uint16_t *place)
{
	return *place != UNC_JOURNAL_NONE && unc_journal_last(s->platform->journal, *place);
}

static void end_place(struct unc_units *s, uint16_t *place, bool stays)
{
	if (*place != UNC_JOURNAL_NONE)
		(stays ? unc_journal_drop : unc_journal_clear)(s->platform->journal, *place);
	*place = UNC_JOURNAL_NONE;
}

int unc_units_note(struct unc_units *s, size_t first, struct unc_error *err)
{
	struct unc_setting *one;
	int rc = 0;

	for (size_t i = first; i < s->n_claims && rc == 0; i++) {
		struct unc_claim *u = &s->claim[i];

		s->programs |= u->n_controls != 0;
		rc = note_unit(s, u, err);
		for (one = NULL; rc == 0 && (one = unc_claim_next(u, one)) != NULL;)
			rc = note_setting(s, u, one, err);
	}
	if (rc == 0)
		rc = unc_journal_write(s->platform->journal, err);
	for (size_t i = first; i < s->n_claims; i++)
		for (uint16_t *p = NULL; (p = next_place(&s->claim[i], p, &one));) {
			if (rc == 0 && one)
				one->state = UNC_NOTED;
			if (rc < 0)
				end_place(s, p, !is_last(s, p));
		}
	return rc;
}

int unc_units_note_idle(struct unc_units *s, const struct unc_claim *u, struct unc_error *err)
{
	if (u->place == UNC_JOURNAL_NONE)
		return 0;
	unc_journal_at(s->platform->journal, u->place)->value = UNC_STANDS;
	unc_journal_put(s->platform->journal, u->place);
	return unc_journal_write(s->platform->journal, err);
}

int unc_units_note_moment(struct unc_units *s, const struct unc_instance *u, uint16_t reg,
			  uint64_t found, uint64_t value, uint16_t *place, struct unc_error *err)
{
	const struct unc_journal_entry e = {.found = found, .value = value, .mask = UINT64_MAX};
	int rc = note(s, u, reg, &e, place, err);

	return rc < 0 ? rc : unc_journal_write(s->platform->journal, err);
}

/* ---- leaving */

uint64_t unc_units_as_found(const struct unc_journal_entry *e, uint64_t now)
{
	uint64_t others = (now ^ e->value) & ~e->mask;

	return (e->found & ~others) | (now & others);
}

/* What was found is restored, but for bits that other sessions look at by entries of their own: it is
 * theirs to restore then, also where these came when the file was lost. */
static void settle_setting(const struct unc_units *s, struct unc_setting *setting)
{
	uint64_t now = setting->state == UNC_NOTED ? setting->value : setting->shown, needed = 0;
	struct unc_journal *j = s->platform->journal;
	const struct unc_journal_entry *e = unc_journal_at(j, setting->place);
	uint16_t i = UNC_JOURNAL_NONE;

	while ((i = unc_journal_find(j, &e->key, i)) != UNC_JOURNAL_NONE) {
		struct unc_journal_entry *other = unc_journal_at(j, i);
		uint64_t both = other->mask & e->mask;

		if (other == e || !unc_journal_held(j, i))
			continue;
		needed |= other->mask;
		if ((other->found ^ e->found) & both)
			unc_journal_put(j, i);
		other->found = (other->found & ~both) | (e->found & both);
	}
	setting->restore = (unc_units_as_found(e, now) & ~needed) | (now & needed);
}

/* What others count by is theirs. Nothing is let go yet. */
void unc_units_settle(struct unc_units *s, size_t first)
{
	struct unc_setting *one;

	for (size_t i = first; i < s->n_claims; i++)
		for (uint16_t *p = NULL; (p = next_place(&s->claim[i], p, &one));) {
			bool last = is_last(s, p);

			*(one ? &one->shared : &s->claim[i].shared) = !last;
			if (!one || one->state == UNC_NOT_OURS)
				continue;
			if (!last || one->state == UNC_PLANNED)
				one->state = UNC_NOT_OURS;
			else
				settle_setting(s, one);
		}
}

/* What could not be restored stays as a killed process leaves it. */
static void mark_unrestored(struct unc_units *s, const struct unc_plan *restored)
{
	for (size_t i = 0; i < restored->n; i++) {
		struct unc_claim *u = restored->op[i].error
					      ? unc_units_claimed(s, restored->tag[i].instance)
					      : NULL;
		struct unc_setting *setting = u ? unc_claim_setting(u, restored->tag[i].reg) : NULL;

		if (setting)
			setting->state = UNC_UNRESTORED;
		else if (u)
			u->shared = true;
	}
}

void unc_units_release(struct unc_units *s, size_t first, const struct unc_plan *restored)
{
	struct unc_setting *one;

	if (restored)
		mark_unrestored(s, restored);
	for (size_t i = first; i < s->n_claims; i++)
		for (uint16_t *p = NULL; (p = next_place(&s->claim[i], p, &one));) {
			end_place(s, p,
				  !restored || s->claim[i].company == UNC_LEFT ||
					  (one ? one->shared || one->state == UNC_UNRESTORED
					       : s->claim[i].shared));
			if (one)
				one->state = UNC_PLANNED;
		}
}

void unc_units_drop(struct unc_units *s)
{
	struct unc_setting *one;

	for (size_t i = 0; i < s->n_claims; i++) {
		s->claim[i].n_staying = 0;
		for (uint16_t *p = NULL; (p = next_place(&s->claim[i], p, &one));)
			end_place(s, p, true);
	}
	(void)unc_journal_write(s->platform->journal, NULL);
}

void unc_units_abandon(struct unc_units *s)
{
	pthread_mutex_lock(&s->platform->program);
	unc_units_drop(s);
	pthread_mutex_unlock(&s->platform->program);
}
