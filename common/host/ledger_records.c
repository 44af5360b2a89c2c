/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>

#include "host/fs.h"
#include "host/ledger_inside.h"

/* ---- who lives */

static uint64_t slot_at(unsigned holder)
{
	return SLOTS_AT + holder * sizeof(struct unc_ledger_holder);
}

static bool is_mine(const struct unc_ledger *l, const struct book *b, unsigned holder)
{
	return (b == &l->own || b == &l->each) && l->since[holder];
}

/* What is told of a holder of this process or another. 0, or the errno value. */
static int read_holder(struct unc_ledger *l, struct book *b, unsigned holder,
		       struct unc_ledger_holder *out)
{
	const int fd = b->file.fd;
	int error;

	if (is_mine(l, b, holder)) {
		*out = (struct unc_ledger_holder){.process = l->self, .since = l->since[holder]};
		return 0;
	}
	error = fd < 0 ? ENOENT : unc_read_at(fd, out, sizeof(*out), slot_at(holder));
	if (!error)
		unc_process_clean(out->process.command);
	return error;
}

/* A lock that is held does not say that its process lives: one that it has forked has the same open
 * file, and cannot use it. */
static enum life ask(struct unc_ledger *l, struct book *b, unsigned holder)
{
	struct unc_ledger_holder who;
	bool held = unc_ledger_file_held(b->file.fd, holder);

	if (held && read_holder(l, b, holder, &who) == 0 && who.process.pid)
		held = !unc_process_ended(&who.process, &l->self);
	return held ? ALIVE : ENDED;
}

/* What is known of a holder in this turn. Where it cannot be asked for, somebody may live. */
static enum life known(const struct unc_ledger *l, const struct book *b, unsigned holder)
{
	if (b == &l->each || is_mine(l, b, holder))
		return is_mine(l, b, holder) ? ALIVE : ENDED;
	if (l->node.fd < 0 || b->file.fd < 0)
		return l->node.fd >= 0 || l->lost ? ALIVE : ENDED;
	return b->life[holder];
}

/* The first of some holders of a book from number i on; UNC_LEDGER_HOLDERS: there is none. */
static unsigned next_of(const struct book *b, const uint64_t *holders, unsigned i)
{
	for (; i < b->end; i = (i | 63) + 1) {
		uint64_t rest = holders[i / 64] >> i % 64;

		if (rest)
			return i + (unsigned)__builtin_ctzll(rest);
	}
	return UNC_LEDGER_HOLDERS;
}

unsigned unc_book_living(struct unc_ledger *l, struct book *b, const uint64_t *holders, unsigned i,
			 bool asks)
{
	for (i = next_of(b, holders, i); i < UNC_LEDGER_HOLDERS; i = next_of(b, holders, i + 1)) {
		if (known(l, b, i) == UNKNOWN && asks)
			b->life[i] = ask(l, b, i);
		if (known(l, b, i) != ENDED)
			break;
	}
	return i;
}

/* ---- those of this user, and of others */

/* Where this user's sessions have records of this key. */
static struct book *own_book(struct unc_ledger *l, const struct unc_ledger_key *key)
{
	return unc_space_of_thread((int)key->space) ? &l->each : &l->own;
}

/* Book i of those that may have records of this key; NULL: there are no more. */
static struct book *nth_book(struct unc_ledger *l, const struct unc_ledger_key *key, size_t i)
{
	return i == 0 ? own_book(l, key) : i <= l->n_users ? l->user[i - 1] : NULL;
}

static struct book *book_of(struct unc_ledger *l, const struct unc_ledger_record *r)
{
	for (size_t i = 0; i < l->n_users; i++)
		if (r >= l->user[i]->record && r < l->user[i]->record + l->user[i]->n)
			return l->user[i];
	return own_book(l, &r->key);
}

uid_t unc_ledger_owner(struct unc_ledger *l, const struct unc_ledger_record *r)
{
	return (uid_t)book_of(l, r)->file.user;
}

bool unc_ledger_believed(struct unc_ledger *l, const struct unc_ledger_record *r)
{
	uid_t owner = unc_ledger_owner(l, r);

	return owner == 0 || owner == l->own.file.user;
}

static unsigned living_but(struct unc_ledger *l, const struct unc_ledger_record *r, unsigned first,
			   unsigned but, bool asks)
{
	struct book *b;

	for (size_t i = first / UNC_LEDGER_HOLDERS; (b = nth_book(l, &r->key, i)); i++) {
		const struct unc_ledger_record *one = unc_book_find(b, &r->key);
		unsigned base = (unsigned)i * UNC_LEDGER_HOLDERS;

		for (unsigned k = first > base ? first - base : 0; one; k++) {
			k = unc_book_living(l, b, one->holder, k, asks);
			if (k == UNC_LEDGER_HOLDERS)
				break;
			if (base + k != but)
				return base + k;
		}
	}
	return UNC_LEDGER_NOBODY;
}

unsigned unc_ledger_living(struct unc_ledger *l, const struct unc_ledger_record *r, unsigned first,
			   unsigned but)
{
	return living_but(l, r, first, but, true);
}

/* Who could not take away a record of another user has written a later one that says so. What is
 * not restored does no harm, so anybody may. */
static bool is_gone(struct unc_ledger *l, const struct unc_ledger_record *r)
{
	const struct unc_ledger_record *one;
	struct book *b;

	for (size_t i = 0; (b = nth_book(l, &r->key, i)); i++)
		if ((one = unc_book_find(b, &r->key)) && one->role == UNC_HELD_GONE &&
		    one->since >= r->since)
			return true;
	return false;
}

static bool is_held(struct unc_ledger *l, struct book *b, const struct unc_ledger_record *r,
		    bool asks)
{
	return unc_book_living(l, b, r->holder, 0, asks) < UNC_LEDGER_HOLDERS;
}

static struct unc_ledger_record *find(struct unc_ledger *l, const struct unc_ledger_key *key,
				      bool asks)
{
	struct unc_ledger_record *best = NULL, *r;
	struct book *b;
	int most = -1;

	for (size_t i = 0; (b = nth_book(l, key, i)); i++) {
		if (!(r = unc_book_find(b, key)))
			continue;
		bool held = is_held(l, b, r, asks);
		int weight = 2 * held + unc_ledger_believed(l, r);

		if (weight > most && (held || !is_gone(l, r))) {
			best = r;
			most = weight;
		}
	}
	return best;
}

struct unc_ledger_record *unc_ledger_find(struct unc_ledger *l, const struct unc_ledger_key *key)
{
	return find(l, key, true);
}

struct unc_ledger_record *unc_ledger_orphan(struct unc_ledger *l, const struct unc_ledger_key *key)
{
	struct unc_ledger_record *r = find(l, key, false);

	return r && r->role && r->role < UNC_HELD_GONE &&
			       living_but(l, r, 0, UNC_LEDGER_NOBODY, false) == UNC_LEDGER_NOBODY
		       ? r
		       : NULL;
}

/* Of those of one book; what others have left may stay, and is asked for each time. */
static bool ask_book(struct unc_ledger *l, struct book *b, unsigned most)
{
	const bool believed = b->file.user == 0 || b->file.user == l->own.file.user;
	unsigned first = b->end ? (unsigned)(l->turns * 0x9e3779b97f4a7c15u >> 32) % b->end : 0;

	for (int round = 0; round < 2; round++) /* from the first on, then those before */
		for (unsigned i = next_of(b, b->holders, round ? 0 : first); i < UNC_LEDGER_HOLDERS;
		     i = next_of(b, b->holders, i + 1)) {
			if (known(l, b, i) != UNKNOWN)
				continue;
			if (!most)
				return false;
			b->life[i] = ask(l, b, i);
			most -= b->life[i] == ALIVE || !believed;
		}
	return true;
}

/* Where so many records are left room is made of those that nobody holds: before, all holders are
 * asked for, and what ended processes have left is restored. */
static bool is_crowded(const struct unc_ledger *l)
{
	return l->own.n >= MAX_RECORDS / 2;
}

bool unc_ledger_ask(struct unc_ledger *l, unsigned most)
{
	bool all = ask_book(l, &l->own, is_crowded(l) ? UINT_MAX : most);

	for (size_t i = 0; i < l->n_users; i++)
		all &= ask_book(l, l->user[i], most);
	return all;
}

static bool any_ended(const struct unc_ledger *l, const struct book *b)
{
	for (unsigned i = next_of(b, b->holders, 0); i < UNC_LEDGER_HOLDERS;
	     i = next_of(b, b->holders, i + 1))
		if (known(l, b, i) == ENDED)
			return true;
	return b->unheld;
}

bool unc_ledger_any_ended(const struct unc_ledger *l)
{
	bool any = any_ended(l, &l->own) || any_ended(l, &l->each);

	for (size_t i = 0; i < l->n_users; i++)
		any = any || any_ended(l, l->user[i]);
	return any;
}

struct unc_ledger_record *unc_ledger_own(struct unc_ledger *l, const struct unc_ledger_key *key)
{
	struct book *b = own_book(l, key);
	struct unc_ledger_record *r = unc_book_find(b, key);

	return r && (is_held(l, b, r, true) || !is_gone(l, r)) ? r : NULL;
}

size_t unc_ledger_count(const struct unc_ledger *l)
{
	size_t n = l->own.n + l->each.n;

	for (size_t i = 0; i < l->n_users; i++)
		n += l->user[i]->n;
	return n;
}

struct unc_ledger_record *unc_ledger_at(struct unc_ledger *l, size_t i)
{
	struct book *b = &l->own;

	for (size_t k = 0; i >= b->n; k++) {
		i -= b->n;
		b = k ? l->user[k - 1] : &l->each;
	}
	return &b->record[i];
}

struct unc_ledger_key unc_ledger_key(const struct unc_reg *reg, int package)
{
	return (struct unc_ledger_key){.address = reg->address,
				       .place = reg->space == UNC_SPACE_MSR ? (uint32_t)package
						: unc_space_of_thread((int)reg->space) ? reg->target
										       : 0,
				       .space = reg->space};
}

/* ---- writing */

/* A file that has no place for it is not used any more. */
int unc_ledger_put(struct unc_ledger *l, const struct unc_ledger_record *record,
		   struct unc_error *err)
{
	struct book *b = own_book(l, &record->key);
	int rc = b == &l->own ? unc_ledger_own_file(l, err) : 0;

	if (rc < 0)
		return rc;
	if (!unc_book_find(b, &record->key) && !unc_book_has_place(b)) {
		if ((rc = unc_book_write(b, err)) < 0) /* those before are programmed */
			return rc;
		unc_fail(&l->reason, UNC_ERR_BUSY,
			 "%s has no room for more registers: %d are programmed", b->file.path,
			 MAX_RECORDS);
		unc_ledger_give_up(l);
	}
	return unc_book_put(b, record, err);
}

void unc_ledger_gather(struct unc_ledger *l)
{
	l->own.gathers = true;
}

int unc_ledger_write(struct unc_ledger *l, struct unc_error *err)
{
	return unc_book_write(&l->own, err);
}

static bool others_have(struct unc_ledger *l, const struct unc_ledger_key *key)
{
	for (size_t i = 0; i < l->n_users; i++)
		if (unc_book_find(l->user[i], key))
			return true;
	return false;
}

void unc_ledger_remove(struct unc_ledger *l, struct unc_ledger_record *r)
{
	const struct unc_ledger_record gone = {
		.key = r->key, .role = UNC_HELD_GONE, .since = unc_ledger_today()};
	struct book *b = own_book(l, &r->key);

	/* Where this cannot be written they tell the same as before. */
	if (book_of(l, r) != b || (r->found != r->value && others_have(l, &r->key)))
		(void)unc_ledger_put(l, &gone, NULL);
	else
		unc_book_erase(b, r);
}

void unc_ledger_release(struct unc_ledger *l, struct unc_ledger_record *r, unsigned holder,
			bool left)
{
	struct unc_ledger_record now = *r;

	if (!left && unc_ledger_living(l, r, 0, holder) == UNC_LEDGER_NOBODY) {
		unc_ledger_remove(l, r);
		return;
	}
	unc_ledger_set(&now, holder, false);
	/* Where this cannot be written its number tells that it is gone. */
	(void)unc_ledger_put(l, &now, NULL);
}

/* Orphaned records have been reclaimed before by who could: where many are left, they are of no
 * register that is known here, and make room. */
static bool is_useless(struct unc_ledger *l, const struct unc_ledger_record *r)
{
	const bool many = is_crowded(l);

	if (!r->role || is_held(l, &l->own, r, many))
		return false;
	if (r->role == UNC_HELD_GONE)
		return !others_have(l, &r->key);
	return many || is_gone(l, r);
}

/* ---- holders */

int unc_ledger_who(struct unc_ledger *l, unsigned holder, struct unc_ledger_holder *out)
{
	size_t i = holder / UNC_LEDGER_HOLDERS;
	int error = ENOENT;

	if (i <= l->n_users)
		error = read_holder(l, i ? l->user[i - 1] : &l->own, holder % UNC_LEDGER_HOLDERS,
				    out);
	return error ? unc_fs_error(error) : 0;
}

/* Takes a number out of all records: it is given to the next. */
static int forget_holder(struct unc_ledger *l, unsigned holder, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < l->own.n + l->each.n && rc == 0; i++) {
		const struct unc_ledger_record *r = unc_ledger_at(l, i);

		if (!r->role || !unc_ledger_holds(r, holder))
			continue;
		struct unc_ledger_record now = *r;

		unc_ledger_set(&now, holder, false);
		rc = unc_ledger_put(l, &now, err);
	}
	return rc;
}

/* Gives a free number to a session of ours. The lock comes first: nobody has a name without it. */
static int take_slot(struct unc_ledger *l, unsigned holder, struct unc_error *err)
{
	const struct unc_ledger_holder who = {.process = l->self, .since = unc_ledger_today()};
	int rc = forget_holder(l, holder, err);

	for (size_t i = 0; i < l->own.n; i++)
		if (is_useless(l, &l->own.record[i]))
			unc_book_erase(&l->own, &l->own.record[i]);
	if (rc == 0 && l->own.header.magic)
		rc = unc_ledger_file_put(&l->own.file, &who, sizeof(who), slot_at(holder), err);
	if (rc < 0)
		return rc;
	unc_ledger_file_lock(l->node.fd, LOCK_HOLDERS, F_RDLCK);
	l->since[holder] = who.since;
	l->n_mine++;
	return 0;
}

/* Whether a number can be had: it is locked then. */
static bool lock_number(struct unc_ledger *l, unsigned i)
{
	return !is_mine(l, &l->own, i) &&
	       (l->node.fd < 0 ||
		unc_ledger_file_lock(l->own.file.fd, LOCK_HOLDERS + i, F_WRLCK) == 0);
}

/* The first number that can be had, of those without a name; or of all: processes have ended
 * without a word. */
static unsigned find_number(struct unc_ledger *l, bool all)
{
	enum { AT_ONCE = 256 };
	struct unc_ledger_holder who[AT_ONCE] = {0};

	for (unsigned i = 0; i < UNC_LEDGER_HOLDERS; i++) {
		if (i % AT_ONCE == 0 && l->node.fd >= 0 && !all &&
		    unc_book_read_all(&l->own, who, AT_ONCE, sizeof(*who), slot_at(i)) != 0)
			return UNC_LEDGER_HOLDERS;
		if ((all || !who[i % AT_ONCE].process.pid || known(l, &l->own, i) == ENDED) &&
		    lock_number(l, i))
			return i;
	}
	return UNC_LEDGER_HOLDERS;
}

int unc_ledger_enter(struct unc_ledger *l, unsigned *holder, struct unc_error *err)
{
	unsigned i;

	if (unc_ledger_own_file(l, &l->reason) < 0)
		unc_ledger_give_up(l);
	i = find_number(l, false);
	if (i == UNC_LEDGER_HOLDERS)
		i = find_number(l, true);
	if (i < UNC_LEDGER_HOLDERS) {
		int rc = take_slot(l, i, err);

		if (rc < 0)
			unc_ledger_file_lock(l->own.file.fd, LOCK_HOLDERS + i, F_UNLCK);
		*holder = rc < 0 ? *holder : i;
		return rc;
	}
	bool full = l->node.fd < 0 || l->n_mine == UNC_LEDGER_HOLDERS;

	unc_fail(full ? err : &l->reason, UNC_ERR_BUSY,
		 "%d sessions run on this node, and no more can", UNC_LEDGER_HOLDERS);
	if (full)
		return UNC_ERR_BUSY;
	unc_ledger_give_up(l);
	return unc_ledger_enter(l, holder, err);
}

void unc_ledger_leave(struct unc_ledger *l, unsigned holder)
{
	static const struct unc_ledger_holder nobody;

	/* What fails is orphaned: its lock is not held any more. */
	(void)forget_holder(l, holder, NULL);
	if (l->own.header.magic)
		(void)unc_ledger_file_put(&l->own.file, &nobody, sizeof(nobody), slot_at(holder),
					  NULL);
	unc_ledger_abandon(l, holder);
}

void unc_ledger_abandon(struct unc_ledger *l, unsigned holder)
{
	l->since[holder] = 0;
	l->n_mine--;
	unc_ledger_file_lock(l->own.file.fd, LOCK_HOLDERS + holder, F_UNLCK);
	if (l->n_mine)
		return;
	unc_ledger_file_lock(l->node.fd, LOCK_HOLDERS, F_UNLCK);
	if (l->lost)
		unc_ledger_begin_anew(l);
	else if (l->turn < 0)
		unc_ledger_unlock(l); /* closes what is open */
}
