/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: which counters a set gets beside those of others, and the settings that it needs. An event joins a counter
 * with which another session of this user counts the same; other events get free counters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units/inside.h"
#include "units/look.h"

/* A set that is claimed, and what was found on its unit. */
struct claim {
	struct unc_run *run;
	struct unc_set *set;
	const struct unc_table *t;
	const struct unc_tbl_type *type;
	struct unc_plan found;
	struct unc_occupancy o;
	uint8_t counter[UNC_MAX_CODES]; /* of each event */
	bool joined[UNC_MAX_CODES];     /* the counter is another session's */
	size_t failed;                  /* the event that found no counter */
	int beside;                     /* the counter of another program that is in its way; -1 */
	struct unc_error *err;
};

static const struct unc_code *event_code(const struct claim *c, size_t i)
{
	return &c->set->counter[i].event->code;
}

/* The value found in a register of the unit. */
static uint64_t found_value(const struct claim *c, uint16_t reg)
{
	const uint64_t *value = unc_plan_value(&c->found, c->set->unit, reg);

	return value ? *value : 0;
}

/* ---- choice of counters */

/* Whether an event that is led may have its counter: the counter that leads it is joined as well, and so stays. */
static bool is_led(const struct claim *c, size_t i)
{
	const struct unc_code *code = event_code(c, i);
	const struct unc_range *lanes = &c->t->type[unc_type_pool(c->t, code->type)].lanes;

	for (uint32_t k = 0; k < lanes->n; k++) {
		const struct unc_tbl_lane *lane = &c->t->lane[lanes->first + k];
		bool led = c->counter[i] == lane->lead || !(lane->counters >> c->counter[i] & 1);

		for (size_t j = 0; j < c->set->n && !led; j++)
			led = c->counter[j] == lane->lead && event_code(c, j)->set == code->set &&
			      event_code(c, j)->lane &&
			      !((event_code(c, j)->ctl ^ code->ctl) & lane->same);
		if (!led)
			return false;
	}
	return true;
}

/* Joins counters with which other sessions count the same. Events of lanes join all together, or none. */
static void join_counters(struct claim *c)
{
	uint32_t taken = c->o.taken;
	bool all = true;

	for (size_t i = 0; i < c->set->n; i++) {
		c->counter[i] = unc_look_for(c->run->platform, c->set->unit, event_code(c, i),
					     taken, &c->found);
		if (c->counter[i] != UNC_NOT_JOINED)
			taken &= ~((uint32_t)1 << c->counter[i]);
	}
	for (size_t i = 0; i < c->set->n; i++)
		if (event_code(c, i)->lane)
			all &= c->counter[i] != UNC_NOT_JOINED && is_led(c, i);
	for (size_t i = 0; i < c->set->n; i++)
		c->joined[i] = c->counter[i] != UNC_NOT_JOINED && (all || !event_code(c, i)->lane);
}

/* Whether filters must be written for an event. */
static bool sets_filter(const struct claim *c, const struct unc_code *code)
{
	for (unsigned i = 0; i < code->n_filters; i++) {
		const uint64_t *now = unc_plan_value(&c->found, c->set->unit, code->filter[i].reg);

		if (!now || ((*now ^ code->filter[i].value) & code->filter[i].mask))
			return true;
	}
	return false;
}

/* The counter of another program that excludes the event: the event needs a filter beside it, or is
 * of another kind than its event; -1: none. */
static int in_the_way(const struct claim *c, const struct unc_code *code)
{
	bool filters = c->o.foreign && sets_filter(c, code);

	for (unsigned i = 0; i < 32 && code->counter == UNC_NONE; i++)
		if (c->o.taken >> i & 1 && c->o.ctl[i] &&
		    (((code->ctl ^ c->o.ctl[i]) & code->exclusive) ||
		     (filters && c->o.foreign >> i & 1)))
			return (int)i;
	return -1;
}

/* UNC_ERR_CONFLICT: the events do not fit beside those of others. */
static int find_counters(struct claim *c)
{
	const struct unc_code *code[UNC_MAX_CODES];
	struct unc_conflict conflict;
	uint8_t counter[UNC_MAX_CODES];
	size_t of[UNC_MAX_CODES] = {0}, n = 0;
	int rc;

	join_counters(c);
	for (size_t i = 0; i < c->set->n; i++) {
		if (c->joined[i])
			continue;
		code[n] = event_code(c, i);
		of[n++] = i;
	}
	c->beside = -1;
	rc = unc_schedule(c->t, code, n, c->o.taken, counter, &conflict);
	if (rc < 0)
		c->failed = of[conflict.b];
	for (size_t i = 0; i < n && rc == 0; i++) {
		c->counter[of[i]] = counter[i];
		c->failed = of[i];
		if ((c->beside = in_the_way(c, code[i])) >= 0)
			rc = UNC_ERR_CONFLICT;
	}
	return rc;
}

/* ---- why none is free */

/* "counter 2 of cbo0 (socket 0) is programmed by somebody else (control 0x400135 = cbo.TOR_INSERTS)" */
static void other_text(const struct claim *c, unsigned counter, char *buf, size_t size)
{
	const struct unc_platform *p = c->run->platform;
	struct unc_code_filter filter[UNC_MAX_FILTERS];
	char who[64], event[UNC_SPEC_MAX];
	size_t n = 0;

	for (size_t i = 0; i < c->found.n && n < UNC_MAX_FILTERS; i++)
		if (c->t->reg[c->found.tag[i].reg].role == UNC_ROLE_OTHER && !c->found.op[i].error)
			filter[n++] = (struct unc_code_filter){.reg = c->found.tag[i].reg,
							       .value = c->found.op[i].value};
	snprintf(
		buf, size, "counter %u of %s is programmed by %s (control 0x%llx%s)", counter,
		unc_unit_name(p, c->set->unit).text,
		unc_entry_holder(p, c->set->unit, unc_type_ctl(c->type, counter), who, sizeof(who)),
		(unsigned long long)c->o.ctl[counter],
		unc_unit_event_text(p, c->set->unit, c->o.ctl[counter], filter, n, event,
				    sizeof(event)));
}

static int fail_busy(const struct claim *c)
{
	const struct unc_code *code = event_code(c, c->failed);
	const char *name = c->set->counter[c->failed].event->name;
	uint32_t in_use = 0, way;
	char other[UNC_ERROR_MAX];
	int i = c->beside;

	for (unsigned k = 0; k < c->type->n_counters; k++)
		in_use |= (uint32_t)(c->o.ctl[k] != 0) << k;
	way = code->counters & c->o.taken & in_use;
	if (i < 0)
		i = __builtin_ffs((int)(way ? way : c->o.foreign)) - 1;
	if (i < 0 || !(code->counters & c->o.taken))
		return unc_fail(c->err, UNC_ERR_BUSY, "%s: no counter of %s is free", name,
				unc_unit_name(c->run->platform, c->set->unit).text);
	other_text(c, (unsigned)i, other, sizeof(other));
	if (c->beside < 0)
		return unc_fail(c->err, UNC_ERR_BUSY, "%s: %s and %s", name, other,
				way ? "no other counter is free for it"
				    : "may depend on the only one left for it");
	if ((code->ctl ^ c->o.ctl[i]) & code->exclusive)
		return unc_fail(c->err, UNC_ERR_BUSY,
				"%s: %s with an event of another kind, and the unit counts one "
				"kind at a time",
				name, other);
	return unc_fail(c->err, UNC_ERR_BUSY, "%s: %s, and no filter is set beside it", name,
			other);
}

/* Unit control is not written beside a foreign counter, but its value stops counters of this set. */
static int fail_stopped(const struct claim *c)
{
	const struct unc_platform *p = c->run->platform;
	uint16_t reg = c->o.foreigner;
	char event[UNC_SPEC_MAX];

	return unc_fail(c->err, UNC_ERR_BUSY,
			"%s of %s holds 0x%llx, which stops counters of it, and stays so while %s "
			"counts for somebody else (0x%llx%s)",
			unc_reg_name(c->t, c->type->unit_ctl), unc_unit_name(p, c->set->unit).text,
			(unsigned long long)found_value(c, c->type->unit_ctl),
			unc_reg_name(c->t, reg), (unsigned long long)found_value(c, reg),
			unc_unit_event_text(p, c->set->unit, found_value(c, reg), NULL, 0, event,
					    sizeof(event)));
}

/* ---- settings */

static struct unc_setting *new_setting(struct claim *c, uint16_t reg, uint64_t value)
{
	struct unc_held *h = unc_held(c->set);
	struct unc_setting *s = &h->setting[h->n_controls + h->n_filters];
	uint64_t found = found_value(c, reg);

	*s = (struct unc_setting){.reg = reg,
				  .place = UNC_JOURNAL_NONE,
				  .value = value,
				  .mask = UINT64_MAX,
				  .shown = value,
				  .found = found,
				  .restore = found};
	return s;
}

/* Whether bits of a filter may get this value: entries for them agree, and the register holds it;
 * otherwise no foreign program uses the filter, and no other user has bits of it. */
static bool may_set(const struct claim *c, const struct unc_code_filter *f, uint64_t was)
{
	const struct unc_platform *p = c->run->platform;
	const struct unc_journal_entry *e;
	uint64_t rest = f->mask;

	if (unc_entry_taken(p, c->set->unit, f->reg, rest))
		return false;
	while (rest && (e = unc_entry_held(p, c->set->unit, f->reg, rest)) != NULL) {
		if (((e->value ^ f->value) | (e->value ^ was)) & e->mask & rest)
			return false;
		rest &= ~e->mask;
	}
	return rest != f->mask || !(was & c->t->reg[f->reg].busy);
}

static int fail_filter(const struct claim *c, const char *name, uint16_t reg)
{
	const struct unc_platform *p = c->run->platform;
	char who[64];

	return unc_fail(c->err, UNC_ERR_BUSY, "%s: %s of %s is in use by %s (0x%llx)", name,
			unc_reg_name(c->t, reg), unc_unit_name(p, c->set->unit).text,
			unc_entry_holder(p, c->set->unit, reg, who, sizeof(who)),
			(unsigned long long)found_value(c, reg));
}

/* Combines the filters of all events; the scheduler has checked that they agree. */
static int set_filters(struct claim *c, const struct unc_set_counter *counter)
{
	struct unc_held *h = unc_held(c->set);

	for (unsigned i = 0; i < counter->event->code.n_filters; i++) {
		const struct unc_code_filter *f = &counter->event->code.filter[i];
		uint64_t was = found_value(c, f->reg);
		struct unc_setting *s = unc_held_find(c->set, f->reg);

		if (!may_set(c, f, was))
			return fail_filter(c, counter->event->name, f->reg);
		if (!s) {
			const struct unc_tbl_reg *reg = &c->t->reg[f->reg];

			s = new_setting(c, f->reg,
					c->set->shared ? was & reg->write_mask : reg->base);
			s->mask = 0;
			h->n_filters++;
		}
		s->value = (s->value & ~f->mask) | f->value;
		s->mask |= f->mask;
		s->shown = s->value;
	}
	return 0;
}

/* A control without the bits that act once: if another counter counts a queue by the same event, it
 * has emptied the queue, which must not be emptied again under that count. */
static uint64_t control_value(const struct claim *c, uint64_t ctl)
{
	const struct unc_tbl_field *code = &c->t->field[c->type->f_event];
	uint64_t code_bits = unc_ones(code->width[0]) << code->lo[0];
	bool counted = false;

	for (size_t i = 0; i < c->found.n; i++)
		counted |= c->t->reg[c->found.tag[i].reg].role == UNC_ROLE_CTL &&
			   unc_counter_in_use(c->t, &c->found, i) != UNC_NONE &&
			   !((c->found.op[i].value ^ ctl) & code_bits);
	return counted ? ctl & ~unc_self_clearing_bits(c->t, c->type) : ctl;
}

/*
 * A counter starts far from both ends of its range, so that it goes back when a program clears it. If programs
 * without entries may count, each session starts at a random value between 1/16 and 11/16 of the range: if two
 * sessions set the same counter, it leaps. One bit is always set, to show the width of a counter that is narrower
 * than the table says; the next bit is clear, so that such a counter also starts far from its end. The low half is
 * 0, which saves a write. A counter that another session counts with is left as it is.
 */
static void set_start(const struct claim *c, struct unc_set_counter *counter, bool running)
{
	uint64_t half = (counter->mask >> 1) + 1, place = c->run->place;
	bool writable = (c->t->reg[counter->ctr].write_mask & half) != 0;

	counter->start = !writable || running ? 0
			 : place ? ((half / 8 + place % (half + half / 4)) | half >> 4) &
					   ~(half >> 5 | UINT32_MAX)
				 : half;
}

/* Another session counts with a fixed counter whose control was cleared. Programmed again, it would
 * look to that session as if it had counted on. */
static int fail_cleared(const struct claim *c, const char *name, uint16_t control)
{
	const struct unc_platform *p = c->run->platform;
	char who[64];

	return unc_fail(c->err, UNC_ERR_BUSY,
			"%s: %s of %s is used by %s, and somebody has cleared it: it is free when "
			"that one stops",
			name, unc_reg_name(c->t, control), unc_unit_name(p, c->set->unit).text,
			unc_entry_holder(p, c->set->unit, control, who, sizeof(who)));
}

static int set_counter(struct claim *c, size_t i)
{
	struct unc_set_counter *counter = &c->set->counter[i];
	const struct unc_code *code = &counter->event->code;
	const struct unc_tbl_counter *fixed =
		code->counter == UNC_NONE ? NULL : &c->t->counter[code->counter];
	bool running = c->joined[i];
	struct unc_setting *s = NULL;
	uint16_t control;

	counter->ctr = fixed ? fixed->ctr : unc_type_ctr(&c->t->type[code->type], c->counter[i]);
	counter->mask = unc_ones(unc_code_width(c->t, code));
	control = unc_counter_control(c->run->platform, counter);
	if (fixed && control != UNC_NONE) {
		running = (found_value(c, control) & fixed->enable) != 0;
		if (!running && unc_entry_any(c->run->platform, c->set->unit, control))
			return fail_cleared(c, counter->event->name, control);
	}
	if (control != UNC_NONE) {
		s = new_setting(c, control, fixed ? fixed->enable : control_value(c, code->ctl));
		s->joined = running && (!fixed || s->value == s->found);
		unc_held(c->set)->n_controls++;
	}
	set_start(c, counter, running);
	return 0;
}

/* Whether an event has the leading counter of its lane. */
static bool leads_lane(const struct claim *c, size_t i)
{
	const struct unc_code *code = event_code(c, i);

	for (uint32_t k = 0; k < c->type->lanes.n && code->lane; k++) {
		const struct unc_tbl_lane *lane = &c->t->lane[c->type->lanes.first + k];

		if (lane->lead == c->counter[i] && lane->name == c->t->lane[code->lane - 1].name)
			return true;
	}
	return false;
}

/* Allocates the settings of all events. */
static int allocate_settings(struct claim *c)
{
	struct unc_held *h = unc_held(c->set);
	size_t n = c->set->n;

	for (size_t i = 0; i < c->set->n; i++)
		n += event_code(c, i)->n_filters;
	if (!h && !(h = calloc(1, sizeof(*h) + n * sizeof(*h->setting))))
		return unc_no_memory(c->err);
	*h = (struct unc_held){
		.setting = (struct unc_setting *)(h + 1),
		.check = {.op = h->check.op, .tag = h->check.tag, .cap = h->check.cap}};
	c->set->held = h;
	return 0;
}

/* The leader of a lane is set first, and restored last. */
static int make_settings(struct claim *c)
{
	struct unc_held *h = unc_held(c->set);
	uint64_t control = found_value(c, c->type->unit_ctl);
	int rc = 0;

	c->set->shared = c->o.n != 0;
	c->set->foreign = c->o.foreigner != UNC_NONE;
	h->unit = (struct unc_setting){.reg = c->type->unit_ctl,
				       .place = UNC_JOURNAL_NONE,
				       .found = control,
				       .restore = control};
	if (c->o.foreigner != UNC_NONE && unc_unit_frozen(c->t, c->set->unit, &control) > 0)
		return fail_stopped(c);
	for (int leads = 1; leads >= 0; leads--)
		for (size_t i = 0; i < c->set->n && rc == 0; i++)
			if (leads_lane(c, i) == leads)
				rc = set_counter(c, i);
	for (size_t i = 0; i < c->set->n && rc == 0; i++)
		rc = set_filters(c, &c->set->counter[i]);
	return rc;
}

int unc_claim_registers(struct unc_run *run, struct unc_set *set, struct unc_error *err)
{
	const struct unc_table *t = run->platform->table;
	struct claim c = {
		.run = run, .set = set, .t = t, .type = &t->type[set->unit->type], .err = err};
	int rc = allocate_settings(&c);

	if (rc == 0 && run->platform->access) /* else the platform is for listing only */
		rc = unc_look_at(t, set->unit, UNC_LOOK_STATE, set, &c.found, err);
	if (rc == 0)
		rc = unc_plan_run(run->platform, &c.found, "looking at the controls", err);
	if (rc == 0) {
		c.o = unc_occupancy(run->platform, &c.found, set->unit, NULL);
		rc = set->n && find_counters(&c) < 0 ? fail_busy(&c) : make_settings(&c);
	}
	unc_plan_free(&c.found);
	return rc;
}
