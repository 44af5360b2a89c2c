/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: does a unit count at all? A frozen one gives values like any other, that stand still. What
 * moves counts. Where nothing of a unit moves a clock is its witness: a fixed counter, one that the
 * session counts anyway, else a counter that nobody uses, which counts clocks for a moment. What
 * counts for somebody is never written for that.
 *
 * Units that nothing drives (an empty memory channel, an unused link) stand still as well, and
 * their 0 is true: a unit that is ours alone, and was let go by the start, cannot be frozen by
 * itself, and its socket is not where another unit counts. Of a unit that has no witness clocks of
 * others of its socket tell. Where all of its type stand on its socket, no 0 is true.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "units/registers.h"

enum { PROOF_TRIES = 6, MAX_ASKED = 8 };

/* A unit that has not shown that it counts, and its clock. */
struct witness {
	const struct unc_instance *unit;
	struct unc_claim *claim; /* NULL: it is not ours */
	enum {
		NO_WITNESS,
		RUNS, /* by itself, or for somebody */
		SPARE /* its control is written for a moment */
	} kind;
	uint16_t ctl, ctr;
	uint64_t value; /* of ctl, to count clocks */
	uint64_t found; /* there */
	uint64_t first; /* of ctr */
	struct unc_plan plan;
	uint16_t place; /* of its control in the journal, for that moment */
	bool kept;      /* its control could not be put back */
	bool stands;
	bool silent; /* its clock has told nothing */
};

struct suspects {
	struct witness *one;
	size_t n;
};

/* ---- what moves */

/* Whether a counter has counted much more or less in ns than it did before, if that is known. What
 * the kernel adds up nobody can take. */
static bool is_odd(struct unc_slot *slot, double ns)
{
	const double few = 64;
	double count = (double)((slot->last - slot->shown) & slot->mask), was = slot->pace * ns;

	slot->shown = slot->last;
	slot->pace = count / ns;
	return slot->mask != UINT64_MAX && !(fabs(count - was) <= few + was / 8);
}

/* One that is not read keeps what it held; what counts always, without a control, shows nothing. */
static bool is_suspect(struct unc_units *s, size_t first, size_t end, double ns, bool still)
{
	bool asked = false, moved = false, odd = false;

	for (size_t i = first; i < end; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];
		bool told = still && !moved && unc_units_control(s, slot) != UNC_NONE;

		moved |= told && slot->last != slot->shown;
		odd |= is_odd(slot, ns);
		asked |= told;
	}
	return odd || (asked && !moved);
}

size_t unc_units_suspect(struct unc_units *s, uint64_t ns, enum unc_check_kind kind)
{
	size_t n = 0;

	for (size_t i = 0, end; i < s->n_reads; i = end) {
		struct unc_wanted *wanted = &s->wanted[s->slot[s->read_slot[i]].instance];

		end = unc_units_reads_end(s, i);
		wanted->suspect = is_suspect(s, i, end, (double)(ns - s->shown_ns),
					     kind == UNC_PROVE && wanted->proof != UNC_STANDS);
		n += wanted->suspect;
	}
	s->shown_ns = ns;
	return n;
}

/* Whether a counter has moved since it was read, or set. One that was set and holds something far
 * from that may be narrower than the table says, or have been set by somebody else: no proof. */
static bool has_moved(struct unc_slot *slot, const struct unc_reg_op *op)
{
	uint64_t delta = (op->value - slot->last) & slot->mask;

	if (op->error || slot->unread)
		return false;
	if (slot->begin)
		slot->last = op->value;
	return slot->begin && slot->start ? delta - 1 < UINT32_MAX : delta;
}

/* Reads a unit again. */
static bool stands(struct unc_units *s, size_t first, size_t end)
{
	bool moved = false;

	unc_access_run(s->platform->access, s->read + first, end - first);
	for (size_t i = first; i < end; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		moved |= has_moved(slot, &s->read[i]) && unc_units_control(s, slot) != UNC_NONE;
	}
	return !moved;
}

size_t unc_units_stand(struct unc_units *s, const struct unc_unit_methods *by, size_t first,
		       unsigned known, enum unc_check_kind kind)
{
	size_t n = 0;

	for (size_t i = first, end; i < s->n_reads; i = end) {
		struct unc_wanted *wanted = &s->wanted[s->slot[s->read_slot[i]].instance];

		end = unc_units_reads_end(s, i);
		if (wanted->by != by || !(known >> wanted->proof & 1))
			continue;
		if (kind >= UNC_LAST || wanted->suspect)
			wanted->suspect = stands(s, i, end);
		n += wanted->suspect;
	}
	return n;
}

void unc_units_stand_first(struct unc_units *s, const struct unc_unit_methods *by)
{
	for (size_t i = 0; i < s->n_reads; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		/* What goes on keeps what it held when it was read. */
		if (s->wanted[slot->instance].by != by || !slot->begin)
			continue;
		s->read[i].value = slot->start;
		if (!slot->start && unc_access_run(s->platform->access, &s->read[i], 1) < 0)
			unc_units_unread(s, slot, slot->ctr, &s->read[i]);
		slot->last = slot->shown = s->read[i].value;
	}
}

/* ---- which clock */

bool unc_units_stops_clock(const struct unc_units *s, const struct unc_instance *unit)
{
	int k = unc_units_wanted(s, unit)->head;

	while (k != UNC_END && !(s->platform->table->event[s->slot[k].code.event].stops &&
				 unc_units_active(s, &s->slot[k])))
		k = s->slot[k].next;
	return k != UNC_END;
}

const struct unc_code *unc_clock_code(struct unc_units *s, const struct unc_tbl_event *event)
{
	const struct unc_table *t = s->platform->table;
	struct unc_spec spec = {.type = event->type,
				.event = (uint16_t)(event - t->event),
				.index = -1,
				.socket = -1};

	/* Units come type by type. */
	if (s->clock.event != event)
		s->clock.failed = unc_spec_encode(t, &spec, 0, 1, &s->clock.code, NULL);
	s->clock.event = event;
	return s->clock.failed ? NULL : &s->clock.code;
}

/* Whether nobody else has programmed a control of ours meanwhile. */
static bool is_ours(struct unc_claim *u, uint16_t ctl)
{
	const struct unc_setting *setting = u ? unc_claim_setting(u, ctl) : NULL;

	return setting && setting->state != UNC_NOT_OURS;
}

/* A fixed counter that runs, or that nobody has running. */
static void fixed_witness(struct unc_units *s, const struct unc_tbl_event *event, struct witness *w)
{
	const struct unc_tbl_counter *c = &s->platform->table->counter[event->counter];

	w->ctl = c->ctl;
	w->ctr = c->ctr;
	w->value = c->enable;
	if (c->ctl == UNC_NONE || is_ours(w->claim, c->ctl))
		w->kind = RUNS;
	else if (unc_units_read_one(s, w->unit, c->ctl, "looking at a clock", &w->found, NULL) < 0)
		return;
	else if (w->found & c->enable)
		w->kind = RUNS;
	else if (!unc_units_entry(s, w->unit, c->ctl))
		w->kind = SPARE;
}

/* One of the session's own counters counts the clock. */
static void own_witness(struct unc_units *s, const struct unc_code *code, struct witness *w)
{
	int k = w->claim ? unc_units_wanted(s, w->unit)->head : UNC_END;

	for (; k != UNC_END && !w->kind; k = s->slot[k].next) {
		const struct unc_slot *slot = &s->slot[k];

		if (!unc_units_active(s, slot) || !unc_code_same(&slot->code, code) ||
		    !is_ours(w->claim, unc_units_control(s, slot)))
			continue;
		w->kind = RUNS;
		w->ctr = slot->ctr;
	}
}

/* Whether a counter may run for a moment without changing what others count. */
static bool leads_none(const struct unc_table *t, const struct unc_tbl_type *type, unsigned counter)
{
	for (uint32_t i = 0; i < type->lanes.n; i++)
		if (t->lane[type->lanes.first + i].lead == counter)
			return false;
	return true;
}

/* Whether what the session counts on a unit goes with the clock. */
static bool fits_beside(const struct unc_table *t, const struct unc_claim *u,
			const struct unc_code *code)
{
	for (size_t i = 0; u && i < u->n_controls; i++)
		if (t->reg[u->control[i].reg].role == UNC_ROLE_CTL &&
		    ((u->control[i].value ^ code->ctl) & t->type[u->instance->type].exclusive))
			return false;
	return true;
}

/* A counter that nobody uses, nor has used and may read yet: its control is 0. */
static void spare_witness(struct unc_units *s, const struct unc_code *code, struct witness *w)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[w->unit->type];

	if (!fits_beside(t, w->claim, code))
		return;
	for (unsigned c = 32; c-- > 0 && !w->kind;) {
		uint16_t ctl = (code->counters >> c & 1) ? unc_type_ctl(type, c) : UNC_NONE;

		if (ctl == UNC_NONE || !leads_none(t, type, c) ||
		    unc_units_entry(s, w->unit, ctl) ||
		    unc_units_read_one(s, w->unit, ctl, "looking for a clock", &w->found, NULL) <
			    0 ||
		    w->found)
			continue;
		w->kind = SPARE;
		w->ctl = ctl;
		w->ctr = unc_type_ctr(type, c);
		w->value = code->ctl;
	}
}

/* The first clock of the table that can be had: a fixed counter or our own before one that nobody
 * uses. */
static void find_witness(struct unc_units *s, struct witness *w)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_range *events = &t->type[w->unit->type].events;

	if (w->claim && unc_units_stops_clock(s, w->unit))
		return;
	for (int spare = 0; spare < 2; spare++)
		for (uint32_t i = events->first; i < events->first + events->n && !w->kind; i++) {
			const struct unc_tbl_event *event = &t->event[i];
			const struct unc_code *code;

			if (!event->clock)
				continue;
			if (event->counter != UNC_NONE && !spare)
				fixed_witness(s, event, w);
			else if (event->counter == UNC_NONE && (code = unc_clock_code(s, event)))
				(spare ? spare_witness : own_witness)(s, code, w);
		}
}

/* ---- watching it */

/* The operations of a witness: its counter; the control of one that is spare gets the clock, is
 * looked at, and is as it was found again. */
enum { COUNTER, ON, LOOK, OFF };

static int plan_witness(const struct unc_units *s, struct witness *w, struct unc_error *err)
{
	static const enum unc_op_kind kind[] = {UNC_OP_READ, UNC_OP_WRITE, UNC_OP_READ,
						UNC_OP_WRITE};
	int n = w->kind == SPARE ? OFF + 1 : COUNTER + 1, rc = 0;

	for (int i = 0; i < n && rc == 0; i++)
		rc = unc_plan_add(s->platform->table, &w->plan, w->unit,
				  i == COUNTER ? w->ctr : w->ctl, kind[i],
				  i == OFF ? w->found : w->value, err);
	return rc < 0 ? rc : unc_access_prepare(s->platform->access, w->plan.op, w->plan.n, err);
}

/* Of one that cannot be had nothing is known. */
static int prepare(struct unc_units *s, struct witness *w, struct unc_error *err)
{
	struct unc_error why;
	int rc = w->kind ? plan_witness(s, w, &why) : 0;

	w->place = UNC_JOURNAL_NONE;
	if (rc == 0)
		return w->kind == SPARE ? unc_units_note_moment(s, w->unit, w->ctl, w->found,
								w->value, &w->place, err)
					: 0;
	unc_plan_free(&w->plan);
	w->silent = true;
	return rc == UNC_ERR_MEMORY ? unc_fail(err, rc, "%s", why.text) : 0;
}

static struct unc_reg_op *run(const struct unc_units *s, struct witness *w, int what)
{
	unc_access_run(s->platform->access, &w->plan.op[what], 1);
	return &w->plan.op[what];
}

/* Who has come to a counter meanwhile keeps it, and its clock has told nothing. */
static void end_spare(struct unc_units *s, struct witness *w)
{
	struct unc_plan off = {.op = w->plan.op + OFF, .tag = w->plan.tag + OFF, .n = 1};
	const struct unc_reg_op *op = run(s, w, LOOK);

	if (op->error || !((op->value ^ w->value) &
			   unc_telling_bits(s->platform->table, w->unit, w->ctl, w->value))) {
		w->kept = unc_units_restore(s, &off, NULL) < 0;
		return;
	}
	w->stands = false;
	w->silent = true;
}

/* Reads the witnesses: whether any has not moved yet. */
static bool look(const struct unc_units *s, struct witness *w, size_t n, bool first)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const struct unc_reg_op *op;

		if (!w[i].plan.n)
			continue;
		op = run(s, &w[i], COUNTER);
		if (first)
			w[i].first = op->value;
		w[i].stands = (first || w[i].stands) && !op->error && op->value == w[i].first;
		any |= w[i].stands;
	}
	return any;
}

/* What was not read, or while no time passed, is no proof of anything. */
static void watch(const struct unc_units *s, struct witness *w, size_t n)
{
	bool any = look(s, w, n, true), passes = true;

	for (int k = 0; any && passes && k < PROOF_TRIES; k++) {
		passes = unc_platform_pause(s->platform, (uint64_t)UNC_PROOF_NS << k);
		any = look(s, w, n, false);
	}
	for (size_t i = 0; i < n; i++)
		w[i].stands &= passes;
}

/* Lets the witnesses run for a moment: which of them stand still. */
static int ask(struct unc_units *s, struct witness *w, size_t n, struct unc_error *err)
{
	size_t ready = 0;
	int rc = 0;

	for (; ready < n && rc == 0; ready++)
		rc = prepare(s, &w[ready], err);
	/* What fails here is no proof of anything: the next read tells why. */
	for (size_t i = 0; i < n && rc == 0; i++)
		if (w[i].plan.n > ON)
			run(s, &w[i], ON);
	if (rc == 0)
		watch(s, w, n);
	for (size_t i = 0; i < n && rc == 0; i++)
		if (w[i].plan.n > OFF)
			end_spare(s, &w[i]);
	while (ready-- > 0) {
		if (w[ready].plan.n > OFF && w[ready].place != UNC_JOURNAL_NONE)
			(w[ready].kept ? unc_journal_drop : unc_journal_clear)(s->platform->journal,
									       w[ready].place);
		unc_plan_free(&w[ready].plan);
	}
	return rc;
}

/* Whether clocks of other units of a socket, one a type, stand still, and so it is frozen: 1 or 0;
 * `none` where none can be asked; or an error. */
static int socket_stands(struct unc_units *s, unsigned socket, int none, struct unc_error *err)
{
	const struct unc_platform *p = s->platform;
	unsigned last = UNC_NONE, asked = 0;
	int rc = 0;

	for (size_t i = 0; i < p->instances.n && asked < MAX_ASKED; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		struct witness w = {.unit = u};

		if (u->socket != socket || !u->direct || u->type == last ||
		    !p->table->type[u->type].steps_freeze.n || unc_units_claimed(s, u))
			continue;
		find_witness(s, &w);
		if (w.kind != SPARE)
			continue;
		last = u->type;
		rc = ask(s, &w, 1, err);
		if (rc < 0 || (!w.stands && !w.silent))
			return rc;
		asked += !w.silent;
	}
	return asked ? 1 : none;
}

/* ---- types */

bool unc_units_are_kin(const struct unc_instance *a, const struct unc_instance *b)
{
	return a->type == b->type && a->socket == b->socket;
}

bool unc_type_has_clock(const struct unc_table *t, unsigned type)
{
	const struct unc_tbl_event *event = t->event + t->type[type].events.first;

	for (uint32_t i = 0; i < t->type[type].events.n; i++)
		if (event[i].clock)
			return true;
	return false;
}

/* What is shown by units of the type and the socket of this one: UNC_COUNTS, one counts, or the type has
 * no clock; UNC_STANDS, no clock of them moves, and each has one; else UNC_DARK. */
static int ask_type(struct unc_units *s, const struct suspects *still,
		    const struct unc_instance *unit, enum unc_proof *proof, struct unc_error *err)
{
	const struct unc_instances *all = &s->platform->instances;

	*proof = unc_type_has_clock(s->platform->table, unit->type) ? UNC_STANDS : UNC_COUNTS;
	for (size_t i = 0; i < still->n; i++)
		if (unc_units_are_kin(still->one[i].unit, unit) && !still->one[i].stands)
			*proof = *proof == UNC_STANDS ? UNC_DARK : *proof;
	for (size_t i = 0; i < all->n; i++)
		if (unc_units_are_kin(&all->unit[i], unit) &&
		    (s->wanted[i].proof == UNC_COUNTS || s->wanted[i].ran))
			*proof = UNC_COUNTS;
	for (size_t i = 0; i < all->n && *proof != UNC_COUNTS; i++) {
		struct witness w = {.unit = &all->unit[i]};

		if (!unc_units_are_kin(w.unit, unit) || !w.unit->direct ||
		    unc_units_claimed(s, w.unit))
			continue;
		find_witness(s, &w);
		if (w.kind && ask(s, &w, 1, err) < 0)
			return err->code;
		if (!w.stands)
			*proof = w.kind && !w.silent ? UNC_COUNTS : UNC_DARK;
	}
	return 0;
}

/* As what stood where it began among others that count, such a unit is not asked again. */
void unc_units_light_up(struct unc_units *s)
{
	for (size_t i = 0; i < s->platform->instances.n && s->flawed; i++)
		for (size_t k = 0; k < s->n_slots && s->wanted[i].proof == UNC_DARK; k++)
			if (s->slot[k].total && unc_units_are_kin(unc_slot_unit(s, &s->slot[k]),
								  &s->platform->instances.unit[i]))
				s->wanted[i].proof = UNC_STANDS;
}

/* ---- suspects */

void unc_units_set_unshown(struct unc_units *s, const struct unc_instance *unit,
			   enum unc_proof proof)
{
	unc_units_wanted(s, unit)->proof = proof;
	unc_units_wanted(s, unit)->slow = -1;
	s->flawed = true;
}

/* Units from claim[first] on, which have not shown yet that they count (UNC_FIRST), or which have:
 * those that stand still, and whether their clocks do. Free suspects->one. */
static int find_still(struct unc_units *s, const struct unc_unit_methods *self, size_t first,
		      enum unc_check_kind kind, struct suspects *suspects, struct unc_error *err)
{
	size_t reads = first && kind != UNC_FIRST ? s->n_always : 0;
	unsigned known = kind == UNC_FIRST ? 1 << UNC_UNPROVEN : 1 << UNC_COUNTS | 1 << UNC_UNSHOWN;

	*suspects = (struct suspects){0};
	if (!unc_units_stand(s, self, reads, known, kind) ||
	    (unc_platform_pause(s->platform, UNC_PROOF_NS) &&
	     !unc_units_stand(s, self, reads, known, UNC_SUSPECTS)))
		return 0;
	suspects->one = calloc(s->n_claims + 1, sizeof(*suspects->one));
	if (!suspects->one)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	for (size_t i = first; i < s->n_claims; i++) {
		const struct unc_wanted *wanted = unc_units_wanted(s, s->claim[i].instance);

		if (!s->claim[i].n_controls || !wanted->suspect || !(known >> wanted->proof & 1))
			continue;
		suspects->one[suspects->n] =
			(struct witness){.unit = s->claim[i].instance, .claim = &s->claim[i]};
		find_witness(s, &suspects->one[suspects->n++]);
	}
	return ask(s, suspects->one, suspects->n, err);
}

/* ---- where counting begins */

/* Whether a unit of the socket is known to count: then nobody has frozen the socket. One that has
 * no freeze proves nothing: that of the socket may not stop it either. */
static bool socket_counts(const struct unc_units *s, unsigned socket)
{
	const struct unc_table *t = s->platform->table;

	for (size_t i = 0; i < s->platform->instances.n; i++) {
		const struct unc_instance *u = &s->platform->instances.unit[i];

		if (u->socket == socket && s->wanted[i].proof == UNC_COUNTS &&
		    t->type[u->type].steps_freeze.n)
			return true;
	}
	return false;
}

/* Whether the socket of a unit that stands still is frozen: 1 or 0; or an error. */
static int socket_frozen(struct unc_units *s, const struct witness *w, struct unc_error *err)
{
	const struct unc_tbl_type *type = &s->platform->table->type[w->unit->type];

	if (socket_counts(s, w->unit->socket))
		return 0;
	if (!type->steps_freeze.n)
		return w->stands;
	return socket_stands(s, w->unit->socket, w->stands, err);
}

/* What has moved counts. */
static void sort_out(struct unc_units *s, size_t first, const struct suspects *still)
{
	for (size_t i = 0; i < still->n; i++)
		unc_units_wanted(s, still->one[i].unit)->proof =
			still->one[i].stands || still->one[i].kind == NO_WITNESS ? UNC_STANDS
										 : UNC_COUNTS;
	for (size_t i = first; i < s->n_claims; i++)
		if (unc_units_wanted(s, s->claim[i].instance)->proof == UNC_UNPROVEN)
			unc_units_wanted(s, s->claim[i].instance)->proof = UNC_COUNTS;
}

/* Lets sockets go on where all that was asked stands, and nobody else counts; asks again. */
static int unfreeze_sockets(struct unc_units *s, size_t first, const struct suspects *still,
			    struct unc_error *err)
{
	uint64_t sockets = 0;
	int rc = 0;

	for (size_t i = 0; i < still->n && rc >= 0; i++) {
		const struct witness *w = &still->one[i];

		if (w->stands && !(sockets >> w->unit->socket & 1) &&
		    (rc = socket_frozen(s, w, err)) > 0)
			sockets |= (uint64_t)1 << w->unit->socket;
	}
	if (rc >= 0 && sockets && (rc = unc_units_unfreeze(s, sockets, err)) > 0 &&
	    (rc = ask(s, still->one, still->n, err)) == 0)
		sort_out(s, first, still);
	return rc < 0 ? rc : 0;
}

/* What a unit is that stands still: with its socket frozen, or with all of its type; of another, who
 * may have frozen it; or idle. Who comes to one later is not to take it for frozen. */
static int judge(struct unc_units *s, const struct witness *w, enum unc_proof type,
		 struct unc_error *err)
{
	const struct unc_claim *u = w->claim;
	int frozen = socket_frozen(s, w, err);

	if (frozen < 0)
		return frozen;
	if (frozen || type == UNC_STANDS)
		unc_units_lose_frozen(s, unc_units_number(s, w->unit), UNC_ALL);
	else if (u->company && u->found != UNC_FOUND_IDLE && w->kind != NO_WITNESS)
		unc_units_lose_unit(s, unc_units_number(s, w->unit), UNC_ALL,
				    &(struct unc_loss){.why = UNC_LOST_DOUBTFUL});
	else if (u->company && u->found != UNC_FOUND_IDLE)
		unc_units_set_unshown(s, w->unit, UNC_UNSHOWN);
	else if (type == UNC_DARK)
		unc_units_set_unshown(s, w->unit, UNC_DARK);
	return u->company ? 0 : unc_units_note_idle(s, u, err);
}

static bool any_unproven(const struct unc_units *s, size_t first)
{
	for (size_t i = first; i < s->n_claims; i++)
		if (s->claim[i].n_controls &&
		    unc_units_wanted(s, s->claim[i].instance)->proof == UNC_UNPROVEN)
			return true;
	return false;
}

int unc_units_prove_full(struct unc_units *s, size_t first, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = first; i < s->n_claims && rc == 0; i++) {
		const struct unc_claim *u = &s->claim[i];
		struct witness w = {.unit = u->instance};
		bool *ran = &unc_units_wanted(s, w.unit)->ran;

		if (i > first && unc_units_are_kin(u[-1].instance, w.unit))
			*ran |= unc_units_wanted(s, u[-1].instance)->ran;
		if (*ran || !u->n_controls ||
		    u->n_counters < s->platform->table->type[w.unit->type].n_counters)
			continue;
		find_witness(s, &w);
		if (w.kind == SPARE && (rc = ask(s, &w, 1, err)) == 0)
			*ran = !w.stands && !w.silent;
	}
	return rc;
}

int unc_units_prove(struct unc_units *s, const struct unc_unit_methods *self, size_t first,
		    struct unc_error *err)
{
	enum unc_proof type = UNC_COUNTS;
	struct suspects still;
	int rc;

	if (!any_unproven(s, first))
		return 0;
	unc_units_stand_first(s, self);
	rc = find_still(s, self, first, UNC_FIRST, &still, err);
	if (rc == 0) {
		sort_out(s, first, &still);
		rc = unfreeze_sockets(s, first, &still, err);
	}
	for (size_t i = 0; rc == 0 && i < still.n; i++) {
		struct witness *w = &still.one[i];

		if (i == 0 || !unc_units_are_kin(w[-1].unit, w->unit))
			rc = ask_type(s, &still, w->unit, &type, err);
		if (rc == 0 && unc_units_wanted(s, w->unit)->proof == UNC_STANDS)
			rc = judge(s, w, type, err);
	}
	free(still.one);
	return rc;
}

/* ---- later */

/* Nothing shows whether a unit counts: it could be frozen behind our back. */
static bool is_unshown(const struct unc_units *s, const struct witness *w)
{
	const struct unc_table *t = s->platform->table;
	const struct unc_tbl_type *type = &t->type[w->unit->type];

	return w->kind == NO_WITNESS && type->steps_freeze.n && !unc_reg_shows(t, type->unit_ctl);
}

int unc_units_prove_again(struct unc_units *s, const struct unc_unit_methods *self, size_t first,
			  enum unc_check_kind kind, struct unc_error *err)
{
	struct suspects still;
	int rc = find_still(s, self, first, kind, &still, err);

	for (size_t i = 0; rc == 0 && i < still.n; i++)
		if (still.one[i].stands)
			unc_units_lose_frozen(s, unc_units_number(s, still.one[i].unit), UNC_TURN);
		else if (is_unshown(s, &still.one[i]))
			unc_units_set_unshown(s, still.one[i].unit, UNC_UNSHOWN);
	free(still.one);
	return rc;
}
