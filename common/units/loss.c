/* SPDX-License-Identifier: BSD-3-Clause */
/* Units: sets that are lost, the reasons, and when they are retried. */
#include <stdio.h>
#include <stdlib.h>

#include "encode/decode.h"
#include "units/inside.h"

/* ---- names */

struct unc_unit_name unc_unit_name(const struct unc_platform *p, const struct unc_instance *u)
{
	struct unc_unit_name name;

	snprintf(name.text, sizeof(name.text), "%s%u (socket %u)", unc_type_name(p->table, u->type),
		 u->index, u->socket);
	return name;
}

const char *unc_unit_event_text(const struct unc_platform *p, const struct unc_instance *u,
				uint64_t ctl, const struct unc_code_filter *filters, size_t n,
				char *buf, size_t size)
{
	struct unc_spec spec;

	snprintf(buf, size, " = ");
	if (unc_code_decode(p->table, u->type, ctl, filters, n, &spec, NULL) < 0 ||
	    unc_spec_format(p->table, &spec, buf + 3, size - 3) < 0)
		buf[0] = '\0';
	return buf;
}

uint16_t unc_counter_control(const struct unc_platform *p, const struct unc_set_counter *c)
{
	const struct unc_table *t = p->table;
	const struct unc_code *code = &c->event->code;

	if (code->counter != UNC_NONE)
		return t->counter[code->counter].ctl;
	return unc_type_ctl(&t->type[unc_type_pool(t, code->type)], t->reg[c->ctr].number);
}

unsigned unc_code_width(const struct unc_table *t, const struct unc_code *code)
{
	return code->counter != UNC_NONE ? t->counter[code->counter].width
					 : t->type[code->type].width;
}

double unc_code_most(const struct unc_code *code, uint64_t ns)
{
	/* in double: the result may exceed 64 bits */
	return (double)ns * (double)(UNC_FASTEST_PER_NS * (code->max_inc ? code->max_inc : 1));
}

bool unc_set_is_programmed(const struct unc_platform *p, const struct unc_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		uint16_t counter = set->counter[i].event->code.counter;

		if (counter == UNC_NONE || p->table->counter[counter].ctl != UNC_NONE)
			return true;
	}
	return false;
}

/* ---- losses */

/* The pause is a second after a loss, then twice the pause before; if the set has counted for
 * longer than that pause, a second again. */
static void back_off(struct unc_set *set, uint64_t ns)
{
	const uint64_t first = 1000000000, most = 64 * first;

	if (ns > set->retry_ns && ns - set->retry_ns > set->wait_ns)
		set->wait_ns = 0;
	set->wait_ns = set->wait_ns ? 2 * set->wait_ns : first;
	if (set->wait_ns > most)
		set->wait_ns = most;
	set->retry_ns = ns + set->wait_ns;
}

static struct unc_left *left_of(struct unc_run *run, struct unc_set *set)
{
	size_t instance = (size_t)(set->unit - run->platform->instances.unit);

	if (!set->left && (set->left = calloc(1, sizeof(*set->left))) != NULL)
		set->left->told = *unc_unit_get(run->platform, instance);
	return set->left;
}

void unc_run_keep(struct unc_run *run, struct unc_stamps *s)
{
	s->next = run->stamps;
	run->stamps = s;
}

void unc_run_keep_no_more(struct unc_run *run, struct unc_stamps *s)
{
	struct unc_stamps **link = &run->stamps;

	while (*link && *link != s)
		link = &(*link)->next;
	if (*link)
		*link = s->next;
}

/* Counts since the last good comparison belong to no time: totals and time go back to it. */
static void go_back(struct unc_run *run, struct unc_set *set)
{
	size_t i = unc_set_number(run, set), first = (size_t)(set->counter - run->counter);

	set->time = set->good;
	for (size_t k = 0; k < set->n; k++)
		set->counter[k].total = set->counter[k].good;
	for (struct unc_stamps *s = set->clock ? NULL : run->stamps; s; s = s->next)
		for (struct unc_totals *t = s->of; t < s->of + 4; t++) {
			if (t->point[i].time.ran > set->good.ran)
				t->point[i].time = set->good;
			for (size_t k = 0; k < set->n; k++)
				if (t->count[first + k] > set->counter[k].good)
					t->count[first + k] = set->counter[k].good;
		}
}

void unc_set_lose(struct unc_run *run, struct unc_set *set, const struct unc_error *why)
{
	struct unc_left *left = left_of(run, set);

	if (set->state == UNC_SET_LOST)
		return;
	if (left)
		left->why = *why;
	set->state = UNC_SET_LOST;
	set->lapse = true;
	go_back(run, set);
	back_off(set, unc_machine_now(run->platform->machine));
	run->flawed = run->regroup = true;
}

int unc_set_leave(struct unc_run *run, struct unc_set *set, const struct unc_error *why,
		  struct unc_error *err)
{
	if (why->code == UNC_ERR_MEMORY || why->code == UNC_ERR_STATE)
		return unc_fail(err, why->code, "%s", why->text);
	if (!run->failed.code && !set->clock)
		run->failed = *why;
	unc_set_lose(run, set, why);
	return 0;
}

void unc_set_unread(struct unc_run *run, struct unc_set *set, uint16_t reg,
		    const struct unc_reg_op *op)
{
	struct unc_error why;

	set->unread = (int16_t)unc_op_errno(op);
	set->unread_reg = reg;
	run->flawed = true;
	if (set->by->gone && set->by->gone(op->errno_value)) {
		set->by->fail_unread(run, set, &why);
		unc_set_lose(run, set, &why);
	}
}

void unc_set_lose_frozen(struct unc_run *run, struct unc_set *set)
{
	struct unc_error why;

	unc_fail(&why, UNC_ERR_BUSY,
		 "%s: %s does not count: it is frozen, by a program that was killed or one that "
		 "froze "
		 "the socket (LIKWID, PCM, an old kernel's perf), or nothing drives its clock",
		 set->counter[0].event->name, unc_unit_name(run->platform, set->unit).text);
	unc_set_lose(run, set, &why);
}

void unc_set_lose_slept(struct unc_run *run, struct unc_set *set)
{
	struct unc_error why;

	unc_fail(&why, UNC_ERR_IO, "%s: the machine was suspended, and %s has lost what it held",
		 set->counter[0].event->name, unc_unit_name(run->platform, set->unit).text);
	unc_set_lose(run, set, &why);
}

/* ---- reasons */

void unc_set_reason(const struct unc_run *run, const struct unc_set *set, struct unc_error *err)
{
	if (set->unread && set->state != UNC_SET_LOST)
		set->by->fail_unread(run, set, err);
	else if (set->left)
		*err = set->left->why;
	else
		(void)unc_no_memory(err);
}

void unc_set_idle(const struct unc_run *run, const struct unc_set *set, struct unc_error *err)
{
	unc_fail(err, UNC_ERR_BUSY,
		 "%s: not measured: other users of the kernel had the counters of %s all the "
		 "time",
		 set->counter[0].event->name, unc_unit_name(run->platform, set->unit).text);
}

void unc_set_late(const struct unc_run *run, const struct unc_set *set, struct unc_error *err)
{
	unc_fail(err, UNC_ERR_IO, "%s of %s could not be read where the interval began",
		 set->by->subject(run, set), unc_unit_name(run->platform, set->unit).text);
}

void unc_set_unproven(const struct unc_run *run, const struct unc_set *set, struct unc_error *err)
{
	const struct unc_unit_name unit = unc_unit_name(run->platform, set->unit);

	if (set->shared)
		unc_fail(err, UNC_ERR_BUSY,
			 "no counter of %s has moved for a while: somebody else counts there, "
			 "and may have frozen it",
			 unit.text);
	else if (set->stood)
		unc_fail(err, UNC_ERR_BUSY,
			 "no counter of %s has moved for a while, and those of other units have: "
			 "somebody may have frozen it",
			 unit.text);
	else
		unc_fail(
			err, UNC_ERR_BUSY,
			"no counter of %s has moved for a while, and no clock of its type could be "
			"counted: nothing shows whether somebody has frozen it",
			unit.text);
}

void unc_set_scarce(const struct unc_run *run, const struct unc_set *set, double percent,
		    const char *of, struct unc_error *err)
{
	unc_fail(err, UNC_ERR_BUSY, "%s was lost, and has counted again for only %.2g %% of the %s",
		 unc_unit_name(run->platform, set->unit).text, percent, of);
}

const struct unc_unit *unc_set_tell(struct unc_run *run, struct unc_set *set)
{
	struct unc_left *left = left_of(run, set);

	if (!left)
		return NULL;
	if (set->time.idle && !set->lapse && !set->unread)
		unc_set_idle(run, set, &left->reason);
	else
		unc_set_reason(run, set, &left->reason);
	left->told.reason = left->reason.text;
	return &left->told;
}
