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
 * others of its socket tell.
 */
#include <stdlib.h>
#include <string.h>

#include "units/inside.h"

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
	bool stands;
	bool silent; /* its clock has told nothing */
};

struct suspects {
	struct witness *one;
	size_t n;
};

static struct unc_wanted *wanted_of(const struct unc_units *s, const struct unc_instance *u)
{
	return &s->wanted[unc_units_number(s, u)];
}

/* ---- which clock */

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
	else if (!unc_units_record(s, w->unit, c->ctl))
		w->kind = SPARE;
}

/* One of the session's own counters counts the clock. */
static void own_witness(struct unc_units *s, const struct unc_code *code, struct witness *w)
{
	int k = w->claim ? wanted_of(s, w->unit)->head : UNC_END;

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
		    unc_units_record(s, w->unit, ctl) ||
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

/* Reads of all counters; for those that are spare the control gets the clock, is looked at, and is
 * as it was found again. */
enum { COUNTERS, ON, LOOK, OFF, PLANS };

static int plan_witnesses(const struct unc_units *s, const struct witness *w, size_t n, int what,
			  struct unc_plan *plan, struct unc_error *err)
{
	enum unc_op_kind kind = what == ON || what == OFF ? UNC_OP_WRITE : UNC_OP_READ;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		if (w[i].kind == SPARE || (w[i].kind == RUNS && what == COUNTERS))
			rc = unc_plan_add(s->platform->table, plan, w[i].unit,
					  what == COUNTERS ? w[i].ctr : w[i].ctl, kind,
					  what == OFF ? w[i].found : w[i].value, err);
	return rc == 0 && plan->n ? unc_access_prepare(s->platform->access, plan->op, plan->n, err)
				  : rc;
}

/* Who has come to a counter meanwhile keeps it, and its clock has told nothing. */
static void drop_taken(struct unc_units *s, struct witness *w, size_t n, struct unc_plan *look,
		       struct unc_plan *off)
{
	size_t k = 0, kept = 0;

	unc_access_run(s->platform->access, look->op, look->n);
	for (size_t i = 0; i < n; i++) {
		const struct unc_reg_op *op = &look->op[k];

		if (w[i].kind != SPARE)
			continue;
		if (!op->error &&
		    ((op->value ^ w[i].value) &
		     unc_telling_bits(s->platform->table, w[i].unit, w[i].ctl, w[i].value))) {
			w[i].stands = false;
			w[i].silent = true;
		} else {
			off->tag[kept] = off->tag[k];
			off->op[kept++] = off->op[k];
		}
		k++;
	}
	off->n = kept;
}

/* Reads the witnesses: whether any has not moved yet. */
static bool look(const struct unc_units *s, struct unc_plan *read, struct witness *w, size_t n,
		 bool first)
{
	bool any = false;
	size_t k = 0;

	unc_access_run(s->platform->access, read->op, read->n);
	for (size_t i = 0; i < n; i++) {
		const struct unc_reg_op *op;

		if (w[i].kind == NO_WITNESS)
			continue;
		op = &read->op[k++];
		if (first)
			w[i].first = op->value;
		w[i].stands = (first || w[i].stands) && !op->error && op->value == w[i].first;
		any |= w[i].stands;
	}
	return any;
}

/* What was not read, or while no time passed, is no proof of anything. */
static void watch(const struct unc_units *s, struct unc_plan *read, struct witness *w, size_t n)
{
	bool any = look(s, read, w, n, true), passes = true;

	for (int k = 0; any && passes && k < PROOF_TRIES; k++) {
		passes = unc_platform_pause(s->platform, (uint64_t)UNC_PROOF_NS << k);
		any = look(s, read, w, n, false);
	}
	for (size_t i = 0; i < n; i++)
		w[i].stands &= passes;
}

/* Lets the witnesses run for a moment: which of them stand still. */
static int ask(struct unc_units *s, struct witness *w, size_t n, struct unc_error *err)
{
	struct unc_plan plan[PLANS] = {{0}};
	size_t noted = 0;
	int rc = 0;

	for (int i = 0; i < PLANS && rc == 0; i++)
		rc = plan_witnesses(s, w, n, i, &plan[i], err);
	for (; noted < n && rc == 0; noted++)
		if (w[noted].kind == SPARE)
			rc = unc_units_note_moment(s, w[noted].unit, w[noted].ctl, w[noted].found,
						   w[noted].value, err);
	if (rc == 0) {
		/* What fails here is no proof of anything: the next read tells why. */
		unc_access_run(s->platform->access, plan[ON].op, plan[ON].n);
		watch(s, &plan[COUNTERS], w, n);
		drop_taken(s, w, n, &plan[LOOK], &plan[OFF]);
		unc_units_restore(s, &plan[OFF], NULL);
	}
	while (noted-- > 0)
		if (w[noted].kind == SPARE)
			unc_units_drop_moment(s, w[noted].unit, w[noted].ctl);
	for (int i = 0; i < PLANS; i++)
		unc_plan_free(&plan[i]);
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

/* ---- suspects */

static void set_unshown(struct unc_units *s, const struct witness *w)
{
	wanted_of(s, w->unit)->proof = UNC_UNSHOWN;
	wanted_of(s, w->unit)->slow = -1;
	s->flawed = true;
}

/* Reads the counters, from read[first] on; leaves those suspects of which none has moved since the
 * last look. One that was not read in it holds what it held in an earlier one. */
static void drop_moving(struct unc_units *s, size_t first, struct suspects *suspects)
{
	size_t kept = 0;

	unc_access_run(s->platform->access, s->read + first, s->n_reads - first);
	s->proofs++;
	for (size_t k = first; k < s->n_reads; k++) {
		const struct unc_slot *slot = &s->slot[s->read_slot[k]];

		if (!s->read[k].error && !slot->unread && s->read[k].value != slot->last &&
		    unc_units_control(s, slot) != UNC_NONE)
			s->wanted[slot->instance].moved = s->proofs;
	}
	for (size_t i = 0; i < suspects->n; i++)
		if (wanted_of(s, suspects->one[i].unit)->moved != s->proofs)
			suspects->one[kept++] = suspects->one[i];
	suspects->n = kept;
}

/* Units from claim[first] on, read from read[reads] on, of which one of these is known (bits):
 * those that do not count now. Free suspects->one. */
static int find_still(struct unc_units *s, size_t first, size_t reads, unsigned known,
		      struct suspects *suspects, struct unc_error *err)
{
	*suspects = (struct suspects){.one = calloc(s->n_claims + 1, sizeof(*suspects->one))};
	if (!suspects->one)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	/* Where the hardware freezes at overflows, nobody may have looked for one yet. */
	if (s->guest && s->guest->freezes(s->host, NULL, 0))
		return 0;
	for (size_t i = first; i < s->n_claims; i++)
		if (s->claim[i].n_controls &&
		    (known >> wanted_of(s, s->claim[i].instance)->proof & 1))
			suspects->one[suspects->n++] = (struct witness){
				.unit = s->claim[i].instance, .claim = &s->claim[i]};
	if (suspects->n)
		drop_moving(s, reads, suspects);
	if (suspects->n && unc_platform_pause(s->platform, UNC_PROOF_NS))
		drop_moving(s, reads, suspects);
	for (size_t i = 0; i < suspects->n; i++)
		find_witness(s, &suspects->one[i]);
	return suspects->n ? ask(s, suspects->one, suspects->n, err) : 0;
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
		wanted_of(s, still->one[i].unit)->proof =
			still->one[i].stands || still->one[i].kind == NO_WITNESS ? UNC_STANDS
										 : UNC_COUNTS;
	for (size_t i = first; i < s->n_claims; i++)
		if (wanted_of(s, s->claim[i].instance)->proof == UNC_UNPROVEN)
			wanted_of(s, s->claim[i].instance)->proof = UNC_COUNTS;
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

/* What a unit is that stands still: with its socket frozen; of another, who may have frozen it; or
 * idle. Who comes to one later is not to take it for frozen. */
static int judge(struct unc_units *s, const struct witness *w, struct unc_error *err)
{
	const struct unc_claim *u = w->claim;
	int frozen = socket_frozen(s, w, err);

	if (frozen < 0)
		return frozen;
	if (frozen)
		unc_units_lose_frozen(s, unc_units_number(s, w->unit), UNC_ALL);
	else if (u->company && u->found != UNC_FOUND_IDLE && w->kind != NO_WITNESS)
		unc_units_lose_unit(s, unc_units_number(s, w->unit), UNC_ALL,
				    &(struct unc_loss){.why = UNC_LOST_DOUBTFUL});
	else if (u->company && u->found != UNC_FOUND_IDLE)
		set_unshown(s, w);
	return u->company || wanted_of(s, w->unit)->proof != UNC_STANDS
		       ? 0
		       : unc_units_note_idle(s, u, err);
}

static bool any_unproven(const struct unc_units *s, size_t first)
{
	for (size_t i = first; i < s->n_claims; i++)
		if (s->claim[i].n_controls &&
		    wanted_of(s, s->claim[i].instance)->proof == UNC_UNPROVEN)
			return true;
	return false;
}

int unc_units_prove(struct unc_units *s, size_t first, struct unc_error *err)
{
	size_t reads = 0;
	struct suspects still;
	int rc;

	if (!any_unproven(s, first))
		return 0;
	while (reads < s->n_reads && !s->slot[s->read_slot[reads]].begin)
		reads++; /* others count already */
	/* What the counters held before the proof. */
	unc_access_run(s->platform->access, s->read + reads, s->n_reads - reads);
	for (size_t i = reads; i < s->n_reads; i++) {
		struct unc_slot *slot = &s->slot[s->read_slot[i]];

		if (!slot->begin) /* what goes on keeps what it held when it was read */
			continue;
		if (s->read[i].error)
			unc_units_unread(s, slot, slot->ctr, &s->read[i]);
		slot->last = s->read[i].value;
	}
	rc = find_still(s, first, reads, 1 << UNC_UNPROVEN, &still, err);
	if (rc == 0) {
		sort_out(s, first, &still);
		rc = unfreeze_sockets(s, first, &still, err);
	}
	for (size_t i = 0; rc == 0 && i < still.n; i++)
		if (wanted_of(s, still.one[i].unit)->proof == UNC_STANDS)
			rc = judge(s, &still.one[i], err);
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

int unc_units_prove_again(struct unc_units *s, size_t first, struct unc_error *err)
{
	struct suspects still;
	int rc = find_still(s, first, first ? s->n_always : 0, 1 << UNC_COUNTS | 1 << UNC_UNSHOWN,
			    &still, err);

	for (size_t i = 0; rc == 0 && i < still.n; i++)
		if (still.one[i].stands)
			unc_units_lose_frozen(s, unc_units_number(s, still.one[i].unit), UNC_TURN);
		else if (is_unshown(s, &still.one[i]))
			set_unshown(s, &still.one[i]);
	free(still.one);
	return rc;
}
