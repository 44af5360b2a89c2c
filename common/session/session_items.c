/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: what is measured, and whether it fits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "encode/schedule.h"
#include "session/session.h"

/* ---- undoing */

struct unc_checkpoint unc_session_checkpoint(const struct unc_session *s)
{
	return (struct unc_checkpoint){s->n_items, s->n_measures, s->n_wants, s->n_passes};
}

void unc_session_roll_back(struct unc_session *s, struct unc_checkpoint c)
{
	while (s->n_items > c.items) {
		struct unc_session_item *item = &s->item[--s->n_items];

		unc_expr_free(item->expr);
		free(item->measure);
		free(item->what);
		free(item->lacks);
	}
	while (s->n_measures > c.measures) {
		struct unc_measure *m = &s->measure[--s->n_measures];

		free(m->want);
		for (uint32_t i = 0; i < m->n_missing; i++)
			free(m->missing[i].told);
		free(m->missing);
	}
	while (s->n_wants > c.wants) {
		const struct unc_want *want = &s->want[--s->n_wants];

		s->newest[want->instance] = want->next;
	}
	s->n_passes = c.passes;
}

/* ---- growing */

static struct unc_measure *new_measure(struct unc_session *s)
{
	void *larger = unc_grow(s->measure, s->n_measures, sizeof(*s->measure));

	if (!larger)
		return NULL;
	s->measure = larger;
	s->measure[s->n_measures] = (struct unc_measure){0};
	return &s->measure[s->n_measures++];
}

struct unc_session_item *unc_session_new_item(struct unc_session *s)
{
	void *larger = unc_grow(s->item, s->n_items, sizeof(*s->item));

	if (!larger)
		return NULL;
	s->item = larger;
	s->item[s->n_items] = (struct unc_session_item){0};
	return &s->item[s->n_items++];
}

/* ---- selection of units */

static bool is_selected(const struct unc_session *s, const struct unc_spec *spec,
			const struct unc_instance *u)
{
	return u->type == unc_type_pool(s->platform->table, spec->type) &&
	       (spec->index < 0 || spec->index == u->index) &&
	       /* Tables without a machine have one socket, which stands for all. */
	       (spec->socket < 0 || spec->socket == u->socket || !s->platform->access);
}

/* The description of a unit that counts other events, but not this one. */
static struct unc_unit *describe_unreached(const struct unc_unit *unit, const struct unc_error *why)
{
	size_t size = strlen(why->text) + 1;
	struct unc_unit *told = malloc(sizeof(*told) + size);

	if (!told)
		return NULL;
	*told = *unit;
	told->reason = memcpy(told + 1, why->text, size);
	return told;
}

/* The methods by which the unit counts the event; 0: the unit is missing. Or an error. */
static int methods_or_missing(struct unc_session *s, struct unc_measure *m,
			      const struct unc_coded *event, size_t instance)
{
	const struct unc_platform *p = s->platform;
	struct unc_kernel_code kernel = event->kernel;
	struct unc_missing missing = {.instance = (uint32_t)instance};
	struct unc_error why = {0};
	int methods = (int)unc_platform_methods(p, instance, &event->code, &kernel, &why);
	void *larger;

	if (methods)
		return methods;
	larger = unc_grow(m->missing, m->n_missing, sizeof(*m->missing));
	if (!larger)
		return unc_no_memory(&s->error);
	m->missing = larger;
	if (p->instances.unit[instance].available &&
	    !(missing.told = describe_unreached(unc_unit_get(p, instance), &why)))
		return unc_no_memory(&s->error);
	m->missing[m->n_missing++] = missing;
	return 0;
}

static const struct unc_unit *unit_of(const struct unc_session *s,
				      const struct unc_missing *missing)
{
	return missing->told ? missing->told : unc_unit_get(s->platform, missing->instance);
}

static int no_units(struct unc_session *s, const char *name, const struct unc_spec *spec,
		    const char *reason)
{
	if (reason)
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "%s: no such unit can be read: %s",
				name, reason);
	if (spec->index >= 0)
		return unc_fail(&s->error, UNC_ERR_RANGE, "%s: this machine has no %s%d", name,
				unc_type_name(s->platform->table, spec->type), spec->index);
	return unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "%s: this machine has no %s units", name,
			unc_type_name(s->platform->table, spec->type));
}

/* ---- fitting */

static int fail_conflict(struct unc_session *s, const struct unc_conflict *c, const int *wants)
{
	const struct unc_coded *a = s->want[wants[c->a]].event, *b = s->want[wants[c->b]].event;
	const struct unc_table *t = s->platform->table;
	const char *type = unc_type_name(t, b->code.type);
	const char *one = a->name, *two = b->name;
	char bits[64];
	struct unc_buf list = UNC_BUF(bits);

	if (c->kind == UNC_CONFLICT_FILTER)
		return unc_fail(&s->error, UNC_ERR_CONFLICT,
				"%s and %s need different values in %s of %s", one, two,
				unc_reg_name(t, c->reg), type);
	if (c->kind == UNC_CONFLICT_SET)
		return unc_fail(
			&s->error, UNC_ERR_CONFLICT,
			"%s and %s (and others) do not fit: counters of %s that go together "
			"count events of one set, with one umask",
			one, two, type);
	if (c->kind == UNC_CONFLICT_LEAD)
		return unc_fail(
			&s->error, UNC_ERR_CONFLICT,
			"%s does not fit: the counter of %s that leads those for its events "
			"is taken",
			two, type);
	if (c->kind == UNC_CONFLICT_FOLLOWS) {
		char leads[200];

		unc_schedule_leads(t, &b->code, leads, sizeof(leads));
		return unc_fail(&s->error, UNC_ERR_CONFLICT,
				"%s needs %s of %s, added before it: it shows what that one counts",
				two, leads, type);
	}
	if (c->kind == UNC_CONFLICT_KIND)
		return unc_fail(&s->error, UNC_ERR_CONFLICT,
				"%s and %s are of two kinds, and %s counts one kind at a time", one,
				two, type);
	unc_put_bits(&list, b->code.counters);
	if (!(b->code.counters & (b->code.counters - 1)))
		return unc_fail(&s->error, UNC_ERR_CONFLICT, "%s and %s both need counter %s of %s",
				one, two, bits, type);
	return unc_fail(&s->error, UNC_ERR_CONFLICT,
			"%s and %s (and others) need counters %s of %s, which are all taken", two,
			one, bits, type);
}

/* Whether all wants of a unit in a pass fit together; else the session's error says why not. */
static int check_unit(struct unc_session *s, uint32_t instance, unsigned pass)
{
	const struct unc_code *code[UNC_MAX_CODES];
	int wants[UNC_MAX_CODES];
	uint8_t counter[UNC_MAX_CODES];
	struct unc_conflict conflict;
	size_t n = 0;

	for (int i = s->newest[instance]; i >= 0 && n < UNC_MAX_CODES; i = s->want[i].next)
		if (s->want[i].pass == pass)
			wants[n++] = i;
	/* The first added comes first in a sentence. */
	for (size_t i = 0; i < n / 2; i++) {
		int swap = wants[i];

		wants[i] = wants[n - 1 - i];
		wants[n - 1 - i] = swap;
	}
	for (size_t i = 0; i < n; i++)
		code[i] = &s->want[wants[i]].event->code;
	if (unc_schedule(s->platform->table, code, n, 0, counter, &conflict) == 0)
		return 0;
	return fail_conflict(s, &conflict, wants);
}

/* The want of an event on a unit in a pass: an existing or a new one. */
static int add_want(struct unc_session *s, uint32_t instance, unsigned pass,
		    const struct unc_coded *event, uint32_t *out)
{
	void *larger;

	for (int i = s->newest[instance]; i >= 0; i = s->want[i].next)
		if (s->want[i].pass == pass &&
		    unc_code_same(&s->want[i].event->code, &event->code)) {
			*out = (uint32_t)i;
			return 0;
		}
	if (!(larger = unc_grow(s->want, s->n_wants, sizeof(*s->want))))
		return unc_no_memory(&s->error);
	s->want = larger;
	*out = (uint32_t)s->n_wants++;
	s->want[*out] = (struct unc_want){
		.event = event, .instance = instance, .pass = pass, .next = s->newest[instance]};
	s->newest[instance] = (int)*out;
	return check_unit(s, instance, pass);
}

/* The number of neighbouring units that count parts of one thing: the threads of a core. */
static unsigned units_of_group(const struct unc_session *s, const struct unc_instance *u)
{
	const struct unc_tbl_type *type = &s->platform->table->type[u->type];
	const struct unc_socket *socket = &s->platform->topology.socket[u->socket];

	if (!type->cpus || type->share <= 1 || socket->cores <= 0 || socket->cpus < socket->cores)
		return type->share ? type->share : 1;
	return (unsigned)(socket->cpus / socket->cores);
}

/* The group of units that see the same. */
static int group_of(const struct unc_session *s, const struct unc_instance *u)
{
	return u->socket << 16 | (int)(u->index / units_of_group(s, u));
}

/* The range in which only one of the groups that see the same counts: the machine, or each socket. */
static size_t scope_of(const struct unc_measure *m, const struct unc_instance *u)
{
	return m->aggregate == UNC_AGGREGATE_SOCKET ? u->socket : 0;
}

/* group: the one chosen in each scope, -1: none yet. whole: each unit sees what all of its group see. */
static bool is_needless(const struct unc_session *s, const struct unc_measure *m, bool whole,
			const struct unc_instance *u, const int *group)
{
	bool same = m->aggregate == UNC_AGGREGATE_ONE || m->aggregate == UNC_AGGREGATE_SOCKET;
	int chosen = group[scope_of(m, u)];

	if (whole && u->index % units_of_group(s, u))
		return true;
	return same && chosen >= 0 && chosen != group_of(s, u);
}

/* A missing unit is not missed if another unit counts the same. */
static void drop_needless(const struct unc_session *s, struct unc_measure *m, bool whole,
			  const int *group)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_missing; i++)
		if (is_needless(s, m, whole, &s->platform->instances.unit[m->missing[i].instance],
				group))
			free(m->missing[i].told);
		else
			m->missing[n++] = m->missing[i];
	m->n_missing = n;
}

/* Whether a unit belongs to the node (-1: every unit does), or the error why that is unknown. */
static int is_of_node(struct unc_session *s, size_t instance, int node, const char *name)
{
	int owner = node < 0 ? node : unc_numa_owner(s->platform, instance, &s->error);

	if (node >= 0 && owner < 0) {
		unc_error_prefix(&s->error, "%s of node %d", name, node);
		return owner;
	}
	return owner == node;
}

static uint8_t aggregate_of(int asked, const struct unc_code *code)
{
	return asked == UNC_EXPR_SUM    ? UNC_AGGREGATE_SUM
	       : asked == UNC_EXPR_MEAN ? UNC_MEASURE_MEAN
					: code->aggregate;
}

int unc_session_add_measure(struct unc_session *s, const struct unc_spec *spec, int node,
			    unsigned pass, int aggregate)
{
	const struct unc_platform *p = s->platform;
	const struct unc_coded *event = unc_platform_code(s->platform, spec, 0, &s->error);
	struct unc_measure *m = new_measure(s);
	int rc, group[UNC_MAX_SOCKETS];
	bool whole; /* one unit counts for its group, but a unit that the user names counts always */

	if (!event)
		return s->error.code;
	if (!m || !(m->want = malloc((p->instances.n + 1) * sizeof(*m->want))))
		return unc_no_memory(&s->error);
	m->event = event;
	m->pass = (uint16_t)pass;
	whole = spec->index < 0 && event->code.whole;
	memset(group, -1, sizeof(group));
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];

		if (!is_selected(s, spec, u))
			continue;
		if ((rc = is_of_node(s, i, node, event->name)) <= 0) {
			if (rc < 0)
				return rc;
			continue;
		}
		if (event->code.by_socket && event->socket != u->socket &&
		    !(event = unc_platform_code(s->platform, spec, u->socket, &s->error)))
			return s->error.code;
		m->aggregate = aggregate_of(aggregate, &event->code);
		rc = p->access ? methods_or_missing(s, m, event, i) : UNC_BY_REGISTERS;
		if (rc < 0)
			return rc;
		if (!rc || is_needless(s, m, whole, u, group))
			continue;
		group[scope_of(m, u)] = group_of(s, u);
		rc = add_want(s, (uint32_t)i, pass, event, &m->want[m->n_wants]);
		if (rc < 0)
			return rc;
		m->n_wants++;
	}
	if (m->n_wants == 0)
		return no_units(s, event->name, spec,
				m->n_missing ? unit_of(s, &m->missing[0])->reason : NULL);
	drop_needless(s, m, whole, group);
	return 0;
}

/* ---- units of an item */

/* Whether an earlier measure of the item has the instance as well. */
static bool is_in_earlier(const struct unc_session *s, const struct unc_session_item *item,
			  uint32_t until, uint32_t instance, bool missing)
{
	for (uint32_t k = 0; k < until; k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];

		for (uint32_t i = 0; missing && i < m->n_missing; i++)
			if (m->missing[i].instance == instance)
				return true;
		for (uint32_t i = 0; !missing && i < m->n_wants; i++)
			if (s->want[m->want[i]].instance == instance)
				return true;
	}
	return false;
}

bool unc_session_next_unit(const struct unc_session *s, const struct unc_session_item *item,
			   struct unc_item_unit *unit)
{
	for (; unit->measure < item->n_measures; unit->measure++, unit->at = 0) {
		const struct unc_measure *m = &s->measure[item->measure[unit->measure]];

		while (unit->at < m->n_wants + m->n_missing) {
			uint32_t i = unit->at++;
			const struct unc_missing *missing =
				i < m->n_wants ? NULL : &m->missing[i - m->n_wants];

			unit->instance = missing ? missing->instance : s->want[m->want[i]].instance;
			unit->missing = missing ? unit_of(s, missing) : NULL;
			if (!is_in_earlier(s, item, unit->measure, unit->instance, missing != NULL))
				return true;
		}
	}
	return false;
}
