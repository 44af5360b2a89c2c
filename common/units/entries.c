/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: registers in the journal of the node, from before they are programmed until they are restored. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "host/trust.h"
#include "units/look.h"
#include "units/inside.h"

/* ---- the lock */

bool unc_node_folder(const struct unc_platform *p, char dir[PATH_MAX], bool *make)
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

int unc_node_lock(struct unc_platform *p, unsigned patience, struct unc_error *err)
{
	char dir[PATH_MAX];
	bool make;
	int rc;

	if (patience)
		pthread_mutex_lock(&p->program);
	else if (pthread_mutex_trylock(&p->program) != 0)
		return UNC_ERR_BUSY;
	if (unc_node_folder(p, dir, &make)) /* retried whenever no session of ours runs */
		(void)unc_journal_open(p->journal, dir, make);
	if ((rc = unc_journal_lock(p->journal, patience, err)) < 0)
		pthread_mutex_unlock(&p->program);
	return rc;
}

void unc_node_unlock(struct unc_platform *p)
{
	unc_journal_unlock(p->journal);
	pthread_mutex_unlock(&p->program);
}

/* ---- entries */

bool unc_entry_key(const struct unc_platform *p, const struct unc_instance *u, uint16_t reg,
		   struct unc_journal_key *key)
{
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

const struct unc_journal_entry *unc_entry_held(const struct unc_platform *p,
					       const struct unc_instance *u, uint16_t reg,
					       uint64_t mask)
{
	struct unc_journal *j = p->journal;
	struct unc_journal_key key;
	uint16_t i = UNC_JOURNAL_NONE;

	if (!unc_entry_key(p, u, reg, &key))
		return NULL;
	while ((i = unc_journal_find(j, &key, i)) != UNC_JOURNAL_NONE)
		if ((unc_journal_at(j, i)->mask & mask || !mask) && unc_journal_held(j, i))
			return unc_journal_at(j, i);
	return NULL;
}

const struct unc_journal_entry *unc_entry_taken(const struct unc_platform *p,
						const struct unc_instance *u, uint16_t reg,
						uint64_t mask)
{
	const struct unc_journal_entry *e = NULL;
	struct unc_journal_key key;
	bool held = false;
	uint32_t user;

	if (unc_entry_key(p, u, reg, &key))
		e = unc_journal_taken(p->journal, &key, mask, &user, &held);
	return held ? e : NULL;
}

const struct unc_journal_entry *unc_entry_any(const struct unc_platform *p,
					      const struct unc_instance *u, uint16_t reg)
{
	struct unc_journal *j = p->journal;
	struct unc_journal_key key;
	uint16_t i;

	if (!unc_entry_key(p, u, reg, &key))
		return NULL;
	i = unc_journal_find(j, &key, UNC_JOURNAL_NONE);
	return i == UNC_JOURNAL_NONE ? unc_entry_taken(p, u, reg, 0) : unc_journal_at(j, i);
}

/* Whether a 64-bit PCI register holds the high half of one value and the low half of another: the
 * high half is written first (unc_halves_write()), and the writer was killed in between. */
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

bool unc_entry_stands(const struct unc_platform *p, const struct unc_instance *u, uint16_t reg,
		      const struct unc_journal_entry *e, uint64_t now)
{
	const struct unc_table *t = p->table;

	return !((now ^ e->value) & e->mask & unc_readback_mask(t, u, reg, e->value)) ||
	       is_torn(&t->reg[reg], e, now);
}

const char *unc_entry_holder(const struct unc_platform *p, const struct unc_instance *u,
			     uint16_t reg, char *buf, size_t size)
{
	const struct unc_journal_entry *e = unc_entry_held(p, u, reg, 0);
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
	else if (unc_entry_key(p, u, reg, &key) &&
		 unc_journal_taken(p->journal, &key, 0, &user, &held))
		snprintf(buf, size, "user %u", (unsigned)user);
	else
		snprintf(buf, size, "somebody else");
	return buf;
}

/* ---- before registers are programmed */

/* The value of a register before any session: each session has left the other bits as they were. */
static uint64_t value_before_sessions(struct unc_journal *j, const struct unc_journal_key *key,
				      uint64_t now)
{
	uint16_t i = UNC_JOURNAL_NONE;

	while ((i = unc_journal_find(j, key, i)) != UNC_JOURNAL_NONE)
		now = unc_entry_found(unc_journal_at(j, i), now);
	return now;
}

/* Joins the entry of these bits, or adds one. An entry that a killed process left, and that could
 * not be restored, is taken over. */
static int add_entry(struct unc_platform *p, const struct unc_set *set, struct unc_setting *s,
		     struct unc_error *err)
{
	struct unc_journal *j = p->journal;
	struct unc_journal_entry e = {.value = s->value, .mask = s->mask};
	uint16_t i = UNC_JOURNAL_NONE;

	if (!unc_entry_key(p, set->unit, s->reg, &e.key))
		return 0;
	while ((i = unc_journal_find(j, &e.key, i)) != UNC_JOURNAL_NONE)
		if (unc_journal_at(j, i)->mask == e.mask)
			break;
	if (i == UNC_JOURNAL_NONE) {
		e.found = value_before_sessions(j, &e.key, s->found);
		i = unc_journal_add(j, &e);
	} else {
		if (!unc_journal_held(j, i)) {
			unc_journal_at(j, i)->value = e.value;
			unc_journal_put(j, i);
		}
		unc_journal_join(j, i);
	}
	if (i == UNC_JOURNAL_NONE)
		return unc_fail(err, UNC_ERR_BUSY, "the journal has no room for more registers");
	s->place = i;
	s->restore = unc_journal_at(j, i)->found;
	return 0;
}

/* Whether unit control gets an entry: the start unfreezes the unit, or a session that did so still runs. */
static bool unfreezes_unit(const struct unc_platform *p, const struct unc_set *set)
{
	const struct unc_tbl_type *type = &p->table->type[set->unit->type];

	return unc_held(set)->n_controls && type->steps_freeze.n &&
	       (!set->shared || unc_entry_held(p, set->unit, type->unit_ctl, 0));
}

/* The settings of a set, one after the other: pass NULL for the first; NULL: there is no more. Unit
 * control is first. */
static struct unc_setting *next_setting(const struct unc_set *set, struct unc_setting *last)
{
	struct unc_held *h = unc_held(set);
	size_t next = !last || last == &h->unit ? 0 : (size_t)(last - h->setting) + 1;

	if (!last)
		return &h->unit;
	return next < h->n_controls + h->n_filters ? &h->setting[next] : NULL;
}

static bool is_last(const struct unc_platform *p, const struct unc_setting *s)
{
	return s->place != UNC_JOURNAL_NONE && unc_journal_last(p->journal, s->place);
}

static void end_entry(struct unc_platform *p, struct unc_setting *s, bool stays)
{
	if (s->place != UNC_JOURNAL_NONE)
		(stays ? unc_journal_drop : unc_journal_clear)(p->journal, s->place);
	s->place = UNC_JOURNAL_NONE;
}

int unc_entries_add(struct unc_run *run, const struct unc_batch *b, struct unc_error *err)
{
	struct unc_platform *p = run->platform;
	struct unc_setting *s;
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i++) {
		run->programs |= unc_held(b->set[i])->n_controls != 0;
		for (s = NULL; rc == 0 && (s = next_setting(b->set[i], s)) != NULL;)
			if (s != &unc_held(b->set[i])->unit || unfreezes_unit(p, b->set[i]))
				rc = add_entry(p, b->set[i], s, err);
	}
	if (rc == 0)
		rc = unc_journal_write(p->journal, err);
	for (size_t i = 0; i < b->n; i++)
		for (s = NULL; (s = next_setting(b->set[i], s)) != NULL;) {
			if (rc == 0)
				s->state = UNC_NOTED;
			else
				end_entry(p, s, !is_last(p, s));
		}
	return rc;
}

/* ---- at the end */

uint64_t unc_entry_found(const struct unc_journal_entry *e, uint64_t now)
{
	uint64_t others = (now ^ e->value) & ~e->mask;

	return (e->found & ~others) | (now & others);
}

/* Restores what was found, except bits for which other sessions have entries of their own: those
 * sessions restore them later, even if their entries were made after the file was lost. */
static void settle_setting(const struct unc_platform *p, struct unc_setting *s)
{
	uint64_t now = s->state == UNC_NOTED ? s->value : s->shown, needed = 0;
	struct unc_journal *j = p->journal;
	const struct unc_journal_entry *e = unc_journal_at(j, s->place);
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
	s->restore = (unc_entry_found(e, now) & ~needed) | (now & needed);
}

/* Registers that other sessions need are theirs. No entry is released yet. */
void unc_entries_settle(struct unc_run *run, const struct unc_batch *b)
{
	struct unc_setting *s;

	for (size_t i = 0; i < b->n; i++)
		for (s = NULL; (s = next_setting(b->set[i], s)) != NULL;) {
			bool last = is_last(run->platform, s);

			s->stays = !last;
			if (s == &unc_held(b->set[i])->unit || s->state == UNC_NOT_OURS)
				continue;
			if (!last || s->state == UNC_PLANNED)
				s->state = UNC_NOT_OURS;
			else
				settle_setting(run->platform, s);
		}
}

static struct unc_set *find_set(const struct unc_batch *b, const struct unc_instance *unit)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->set[i]->unit == unit)
			return b->set[i];
	return NULL;
}

/* The entry of a failed write stays, as after a killed process. */
static void mark_unrestored(const struct unc_batch *b, const struct unc_plan *restored)
{
	for (size_t i = 0; i < restored->n; i++) {
		struct unc_set *set =
			restored->op[i].error ? find_set(b, restored->tag[i].instance) : NULL;
		struct unc_setting *s = set ? unc_held_find(set, restored->tag[i].reg) : NULL;

		if (set)
			(s ? s : &unc_held(set)->unit)->stays = true;
	}
}

void unc_entries_end(struct unc_run *run, const struct unc_batch *b,
		     const struct unc_plan *restored)
{
	struct unc_setting *s;

	if (restored)
		mark_unrestored(b, restored);
	for (size_t i = 0; i < b->n; i++)
		for (s = NULL; (s = next_setting(b->set[i], s)) != NULL;) {
			end_entry(run->platform, s,
				  !restored || s->stays || unc_held(b->set[i])->left);
			s->state = UNC_PLANNED;
		}
}

void unc_entries_drop(struct unc_run *run, const struct unc_batch *b)
{
	struct unc_setting *s;

	for (size_t i = 0; i < b->n; i++)
		for (s = NULL; (s = next_setting(b->set[i], s)) != NULL;)
			end_entry(run->platform, s, true);
	(void)unc_journal_write(run->platform->journal, NULL);
}
