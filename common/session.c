/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: what is to be measured, and whether it fits. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formula.h"
#include "grow.h"
#include "schedule.h"
#include "text.h"

/* ---- creation */

int unc_session_new(struct unc_platform *p, unsigned flags, struct unc_session **out)
{
	struct unc_session *s;
	pthread_condattr_t monotonic;

	const unsigned known = UNC_SESSION_ROTATE | UNC_SESSION_FREEZE;

	if (flags & ~known)
		return unc_platform_fail(p, UNC_ERR_INVALID, "unknown flags 0x%x for a session",
					 flags & ~known);
	s = calloc(1, sizeof(*s));
	if (!s || !(s->head = malloc((p->instances.n + 1) * sizeof(*s->head)))) {
		free(s);
		return unc_platform_fail(p, UNC_ERR_MEMORY, "out of memory");
	}
	for (size_t i = 0; i < p->instances.n; i++)
		s->head[i] = UNC_END;
	s->platform = p;
	s->flags = flags;
	s->sampled = -1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	*out = s;
	return 0;
}

const char *unc_session_error(const struct unc_session *s)
{
	return s->error.text;
}

/* ---- undoing */

struct checkpoint {
	size_t items, measures, slots;
	unsigned passes;
};

static struct checkpoint checkpoint(const struct unc_session *s)
{
	return (struct checkpoint){s->n_items, s->n_measures, s->n_slots, s->n_passes};
}

static void roll_back(struct unc_session *s, struct checkpoint c)
{
	while (s->n_items > c.items) {
		struct unc_item *item = &s->item[--s->n_items];

		unc_expr_free(item->expr);
		free(item->measure);
	}
	while (s->n_measures > c.measures) {
		struct unc_measure *m = &s->measure[--s->n_measures];

		free(m->name);
		free(m->slot);
	}
	/* Slots were pushed on the lists of their instances: they come off in reverse order. */
	while (s->n_slots > c.slots) {
		struct unc_slot *slot = &s->slot[--s->n_slots];

		s->head[slot->instance] = slot->next;
	}
	s->n_passes = c.passes;
}

int unc_session_clear(struct unc_session *s)
{
	unc_error_clear(&s->error);
	if (s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is running; stop it first");
	roll_back(s, (struct checkpoint){0});
	s->started = false;
	s->sampled = -1;
	return 0;
}

void unc_session_free(struct unc_session *s)
{
	if (!s)
		return;
	if (s->running)
		unc_session_stop(s);
	roll_back(s, (struct checkpoint){0});
	free(s->item);
	free(s->measure);
	free(s->slot);
	free(s->head);
	free(s->scratch);
	free(s->unit);
	free(s->read);
	free(s->read_slot);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ---- growing */

static int no_memory(struct unc_session *s)
{
	return unc_fail(&s->error, UNC_ERR_MEMORY, "out of memory");
}

static struct unc_slot *new_slot(struct unc_session *s)
{
	void *larger = unc_grow(s->slot, s->n_slots, sizeof(*s->slot));

	if (!larger)
		return NULL;
	s->slot = larger;
	return &s->slot[s->n_slots++];
}

static struct unc_measure *new_measure(struct unc_session *s)
{
	void *larger = unc_grow(s->measure, s->n_measures, sizeof(*s->measure));

	if (!larger)
		return NULL;
	s->measure = larger;
	s->measure[s->n_measures] = (struct unc_measure){0};
	return &s->measure[s->n_measures++];
}

static struct unc_item *new_item(struct unc_session *s)
{
	void *larger = unc_grow(s->item, s->n_items, sizeof(*s->item));

	if (!larger)
		return NULL;
	s->item = larger;
	s->item[s->n_items] = (struct unc_item){.metric = -1};
	return &s->item[s->n_items++];
}

/* ---- which units */

static const char *type_name(const struct unc_session *s, unsigned type)
{
	return unc_tbl_str(s->platform->table, s->platform->table->type[type].name);
}

static bool selected(const struct unc_session *s, const struct unc_spec *spec,
		     const struct unc_instance *u)
{
	return u->type == unc_type_pool(s->platform->table, spec->type) &&
	       (spec->index < 0 || spec->index == u->index) &&
	       /* The tables alone know one socket, which stands for all. */
	       (spec->socket < 0 || spec->socket == u->socket || !s->platform->access);
}

/* Whether all registers of the event can be reached on this unit. */
static bool reachable(const struct unc_session *s, const struct unc_code *code,
		      const struct unc_instance *u)
{
	if (!u->available)
		return false;
	for (unsigned i = 0; i < code->n_filters; i++)
		if (!u->part[s->platform->table->reg[code->filter[i].reg].part].present)
			return false;
	return true;
}

static int no_units(struct unc_session *s, const char *name, const struct unc_spec *spec,
		    const char *reason)
{
	const struct unc_platform *p = s->platform;

	if (p->access && spec->socket >= p->topology.n_sockets)
		return unc_fail(&s->error, UNC_ERR_RANGE, "%s: this machine has sockets 0 to %d",
				name, p->topology.n_sockets - 1);
	if (reason)
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "%s: no such unit can be read: %s",
				name, reason);
	if (spec->index >= 0)
		return unc_fail(&s->error, UNC_ERR_RANGE, "%s: this machine has no %s%d", name,
				type_name(s, spec->type), spec->index);
	return unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "%s: this machine has no %s units", name,
			type_name(s, spec->type));
}

/* ---- fitting */

static const char *bits_text(uint32_t mask, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < 32 && n < size; i++) {
		unsigned last = i;

		if (!(mask >> i & 1))
			continue;
		while (last < 31 && (mask >> (last + 1) & 1))
			last++;
		n += (size_t)snprintf(buf + n, size - n, last > i ? "%s%u-%u" : "%s%u",
				      n ? "," : "", i, last);
		i = last;
	}
	return buf;
}

static int fail_conflict(struct unc_session *s, const struct unc_conflict *c, const int *slots)
{
	const struct unc_slot *a = &s->slot[slots[c->a]], *b = &s->slot[slots[c->b]];
	const struct unc_table *t = s->platform->table;
	const char *type = type_name(s, b->code.type);
	const char *one = s->measure[a->name].name, *two = s->measure[b->name].name;
	char bits[64];

	if (c->kind == UNC_CONFLICT_FILTER)
		return unc_fail(&s->error, UNC_ERR_CONFLICT,
				"%s and %s need different values in %s of %s", one, two,
				unc_tbl_str(t, t->reg[c->reg].name), type);
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
	if (c->kind == UNC_CONFLICT_KIND)
		return unc_fail(&s->error, UNC_ERR_CONFLICT,
				"%s and %s are of two kinds of which %s counts one at a time", one,
				two, type);
	bits_text(b->code.counters, bits, sizeof(bits));
	if (!(b->code.counters & (b->code.counters - 1)))
		return unc_fail(&s->error, UNC_ERR_CONFLICT, "%s and %s both need counter %s of %s",
				one, two, bits, type);
	return unc_fail(&s->error, UNC_ERR_CONFLICT,
			"%s and %s (and others) need counters %s of %s, which are all taken", two,
			one, bits, type);
}

/* Whether the slots of an instance in a pass fit together. */
static int check_instance(struct unc_session *s, uint32_t instance, unsigned pass)
{
	const struct unc_code *code[UNC_MAX_CODES];
	int slots[UNC_MAX_CODES];
	uint8_t counter[UNC_MAX_CODES];
	struct unc_conflict conflict;
	size_t n = 0;

	for (int i = s->head[instance]; i != UNC_END; i = s->slot[i].next)
		if (s->slot[i].pass == pass && n < UNC_MAX_CODES)
			slots[n++] = i;
	/* The list has the newest first; who came first keeps his place in a sentence. */
	for (size_t i = 0; i < n / 2; i++) {
		int swap = slots[i];

		slots[i] = slots[n - 1 - i];
		slots[n - 1 - i] = swap;
	}
	for (size_t i = 0; i < n; i++)
		code[i] = &s->slot[slots[i]].code;
	if (unc_schedule(s->platform->table, code, n, 0, counter, &conflict) == 0)
		return 0;
	return fail_conflict(s, &conflict, slots);
}

/* The slot for a code on an instance in a pass: one that is there, or a new one. */
static int add_slot(struct unc_session *s, uint32_t instance, unsigned pass,
		    const struct unc_code *code, uint32_t name, uint32_t *out)
{
	struct unc_slot *slot;

	for (int i = s->head[instance]; i != UNC_END; i = s->slot[i].next)
		if (s->slot[i].pass == pass && unc_code_same(&s->slot[i].code, code)) {
			*out = (uint32_t)i;
			return 0;
		}
	slot = new_slot(s);
	if (!slot)
		return no_memory(s);
	*slot = (struct unc_slot){.code = *code,
				  .instance = instance,
				  .name = name,
				  .next = s->head[instance],
				  .pass = (uint16_t)pass};
	*out = (uint32_t)(s->n_slots - 1);
	s->head[instance] = (int)*out;
	return check_instance(s, instance, pass);
}

/*
 * Of units that see the same, one counts: one of the machine, or of each socket (with the units
 * that share it). *group tells the one that was chosen, -1 before. A unit that the user names
 * counts.
 */
static bool needless(const struct unc_session *s, const struct unc_spec *spec, bool whole,
		     int aggregate, const struct unc_instance *u, int *group)
{
	unsigned given = s->platform->table->type[u->type].share, share = given ? given : 1;
	int socket = *group < 0 ? -1 : *group >> 16;
	int own = u->socket << 16 | (int)(u->index / share);

	if (spec->index < 0 && whole && u->index % share)
		return true;
	if ((spec->index >= 0 && aggregate != UNC_AGGREGATE_ONE) ||
	    (aggregate != UNC_AGGREGATE_ONE && aggregate != UNC_AGGREGATE_SOCKET))
		return false;
	if (*group < 0 || (aggregate == UNC_AGGREGATE_SOCKET && socket != u->socket))
		*group = own;
	return *group != own;
}

/* An event on its units in one pass. On error the caller rolls back. */
static int add_measure(struct unc_session *s, const struct unc_spec *spec, unsigned pass,
		       int aggregate, uint32_t *out)
{
	const struct unc_platform *p = s->platform;
	char name[UNC_SPEC_MAX];
	const char *reason = NULL;
	unsigned left_out = 0;
	struct unc_code code;
	int rc, encoded_for = -1, group = -1;

	if (unc_spec_format(p->table, spec, name, sizeof(name)) < 0)
		return unc_fail(&s->error, UNC_ERR_INVALID, "the canonical text is too long");
	struct unc_measure *m = new_measure(s);
	if (!m || !(m->name = strdup(name)) ||
	    !(m->slot = malloc((p->instances.n + 1) * sizeof(*m->slot))))
		return no_memory(s);
	m->pass = (uint16_t)pass;
	*out = (uint32_t)(s->n_measures - 1);
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];

		if (!selected(s, spec, u))
			continue;
		if (encoded_for < 0 || (code.by_socket && encoded_for != u->socket)) {
			rc = unc_spec_encode(p->table, spec, u->socket, unc_platform_nodes(p),
					     &code, &s->error);
			if (rc < 0)
				return rc;
			encoded_for = u->socket;
		}
		m->aggregate = aggregate == UNC_EXPR_SUM    ? UNC_AGGREGATE_SUM
			       : aggregate == UNC_EXPR_MEAN ? UNC_MEASURE_MEAN
							    : code.aggregate;
		if (p->access && !reachable(s, &code, u)) {
			reason = reason ? reason : u->reason;
			left_out++;
			continue;
		}
		if (needless(s, spec, code.whole, m->aggregate, u, &group))
			continue;
		rc = add_slot(s, (uint32_t)i, pass, &code, *out, &m->slot[m->n_slots]);
		if (rc < 0)
			return rc;
		m->n_slots++;
	}
	if (m->n_slots == 0)
		return no_units(s, name, spec, reason);
	if (left_out)
		unc_platform_log(p, UNC_LOG_WARNING, "%s: %u units are left out: %s", name,
				 left_out, reason);
	return 0;
}

/* ---- passes */

static unsigned last_pass(const struct unc_session *s)
{
	if (s->n_passes == 0)
		return 0;
	return s->flags & UNC_SESSION_ROTATE ? s->n_passes : s->n_passes - 1;
}

static void use_pass(struct unc_session *s, struct unc_item *item, unsigned pass)
{
	item->passes |= (uint64_t)1 << pass;
	item->last_pass = pass > item->last_pass ? pass : item->last_pass;
	if (pass + 1 > s->n_passes)
		s->n_passes = pass + 1;
}

struct want { /* a measure to be added */
	struct unc_spec spec;
	int aggregate;
};

/* All of an item's measures in one pass. On error nothing is left behind. */
static int fit_together(struct unc_session *s, const struct want *want, size_t n, unsigned pass,
			uint32_t *measure)
{
	struct checkpoint before = checkpoint(s);

	for (size_t i = 0; i < n; i++) {
		int rc = add_measure(s, &want[i].spec, pass, want[i].aggregate, &measure[i]);

		if (rc < 0) {
			roll_back(s, before);
			return rc;
		}
	}
	return 0;
}

/* First fit of each measure by itself. */
static int fit_apart(struct unc_session *s, const struct want *want, size_t n,
		     struct unc_item *item, uint32_t *measure)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		for (unsigned pass = 0; pass <= last_pass(s); pass++) {
			if (pass == UNC_MAX_PASSES)
				return unc_fail(&s->error, UNC_ERR_CONFLICT,
						"the set needs more than %d passes",
						UNC_MAX_PASSES);
			rc = fit_together(s, &want[i], 1, pass, &measure[i]);
			if (rc == 0) {
				use_pass(s, item, pass);
				break;
			}
			if (rc != UNC_ERR_CONFLICT)
				return rc;
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int fit(struct unc_session *s, const struct want *want, size_t n, struct unc_item *item,
	       uint32_t *measure)
{
	int rc = 0;

	for (unsigned pass = 0; pass <= last_pass(s) && pass < UNC_MAX_PASSES; pass++) {
		rc = fit_together(s, want, n, pass, measure);
		if (rc == 0)
			use_pass(s, item, pass);
		if (rc != UNC_ERR_CONFLICT)
			return rc;
	}
	if (s->flags & UNC_SESSION_ROTATE)
		return fit_apart(s, want, n, item, measure);
	/* Is it too much by itself, or only together with what is there? */
	struct unc_error first = s->error;
	struct checkpoint before = checkpoint(s);
	if (n > 1 && fit_together(s, want, n, UNC_MAX_PASSES, measure) == UNC_ERR_CONFLICT) {
		rc = UNC_ERR_PASSES;
		unc_error_prefix(&s->error, "needs several passes");
	} else {
		s->error = first;
	}
	roll_back(s, before);
	return rc;
}

static int add_item(struct unc_session *s, const struct want *want, size_t n, int metric,
		    struct unc_expr *expr, int *id)
{
	struct checkpoint before = checkpoint(s);
	struct unc_item *item = new_item(s);

	if (!item || !(item->measure = calloc(n + 1, sizeof(*item->measure)))) {
		roll_back(s, before);
		return no_memory(s);
	}
	item->metric = metric;
	item->n_measures = (uint32_t)n;
	int rc = n ? fit(s, want, n, item, item->measure) : 0;
	if (rc < 0) {
		roll_back(s, before);
		return rc;
	}
	if (n == 0)
		use_pass(s, item, 0);
	item->expr = expr;
	s->started = false; /* what was measured before is not of this set */
	*id = (int)(s->n_items - 1);
	return 0;
}

static int check_idle(struct unc_session *s)
{
	unc_error_clear(&s->error);
	if (s->running)
		return unc_fail(&s->error, UNC_ERR_STATE, "the session is running; stop it first");
	return 0;
}

int unc_session_add(struct unc_session *s, const char *text, int *id)
{
	struct want want = {.aggregate = UNC_EXPR_AS_EVENT};
	struct unc_code code;
	int rc = check_idle(s);

	if (rc < 0 || (rc = unc_spec_parse(s->platform->table, text, &want.spec, &s->error)) < 0 ||
	    (rc = unc_spec_encode(s->platform->table, &want.spec, 0,
				  unc_platform_nodes(s->platform), &code, &s->error)) < 0)
		return rc;
	return add_item(s, &want, 1, -1, NULL, id);
}

/* ---- metrics */

/* "NAME[:socket=N]" or "type3.NAME": the name without them, and what they say. */
static int split_metric(struct unc_session *s, const char *text, char *name, size_t size,
			int *index, int *socket)
{
	const struct unc_table *t = s->platform->table;
	char *colon, *dot, *digit;
	uint64_t value;

	*index = *socket = -1;
	if (strlen(text) >= size || text[0] == '\0')
		return unc_fail(&s->error, UNC_ERR_INVALID,
				"'%.60s' is not a metric; want "
				"NAME[:socket=N]",
				text);
	strcpy(name, text);
	colon = strchr(name, ':');
	if (colon) {
		*colon = '\0';
		if (strncmp(colon + 1, "socket=", 7) != 0 || !unc_parse_number(colon + 8, &value) ||
		    value > 63)
			return unc_fail(&s->error, UNC_ERR_INVALID,
					"%s: '%s' is not socket=N with N up to 63", name,
					colon + 1);
		*socket = (int)value;
	}
	if (unc_metric_find(t, name) >= 0)
		return 0;
	/* imc3.MEM_BW_READS: one unit */
	dot = strchr(name, '.');
	for (digit = dot; digit && digit > name && digit[-1] >= '0' && digit[-1] <= '9';)
		digit--;
	if (!dot || digit == dot || digit == name)
		return 0;
	*dot = '\0';
	bool number = unc_parse_number(digit, &value) && value <= 63;
	*dot = '.';
	if (number) {
		*index = (int)value;
		memmove(digit, dot, strlen(dot) + 1);
	}
	return 0;
}

static int wants_of(struct unc_session *s, const struct unc_expr *expr, unsigned metric, int index,
		    int socket, struct want *want)
{
	const struct unc_table *t = s->platform->table;

	for (size_t i = 0; i < unc_expr_refs(expr); i++) {
		const struct unc_expr_ref *ref = unc_expr_ref(expr, i);
		int rc = unc_spec_parse(t, ref->event, &want[i].spec, &s->error);

		if (rc < 0)
			return rc;
		want[i].aggregate = ref->aggregate;
		if (socket >= 0)
			want[i].spec.socket = socket;
		if (index >= 0 && want[i].spec.type == t->metric[metric].type)
			want[i].spec.index = index;
	}
	return 0;
}

/* Room for the values of a formula's references, so that reading allocates nothing. */
static bool enough_scratch(struct unc_session *s, size_t n)
{
	if (n <= s->n_scratch)
		return true;
	double *larger = realloc(s->scratch, n * sizeof(*larger));
	if (!larger)
		return false;
	s->scratch = larger;
	s->n_scratch = n;
	return true;
}

static int add_metric(struct unc_session *s, unsigned metric, const char *text, int index,
		      int socket, int *id)
{
	struct unc_expr *expr;
	int rc = unc_formula_parse(s->platform->table, metric, &expr, &s->error);

	if (rc < 0)
		return rc;
	size_t n = unc_expr_refs(expr);
	struct want *want = calloc(n + 1, sizeof(*want));
	if (!want || !enough_scratch(s, n))
		rc = no_memory(s);
	if (rc == 0)
		rc = wants_of(s, expr, metric, index, socket, want);
	if (rc == 0)
		rc = add_item(s, want, n, (int)metric, expr, id);
	free(want);
	if (rc < 0) {
		unc_error_prefix(&s->error, "%s", text);
		unc_expr_free(expr);
	}
	return rc;
}

int unc_session_add_metric(struct unc_session *s, const char *text, int *id)
{
	const struct unc_table *t = s->platform->table;
	char name[UNC_SPEC_MAX];
	int index, socket, metric, rc = check_idle(s);

	if (rc < 0 || (rc = split_metric(s, text, name, sizeof(name), &index, &socket)) < 0)
		return rc;
	metric = unc_metric_find(t, name);
	if (metric < 0)
		return unc_metric_unknown(t, name, &s->error);
	if (s->platform->access && socket >= s->platform->topology.n_sockets)
		return unc_fail(&s->error, UNC_ERR_RANGE, "%s: this machine has sockets 0 to %d",
				text, s->platform->topology.n_sockets - 1);
	if (t->metric[metric].unavailable)
		return unc_fail(&s->error, UNC_ERR_UNAVAILABLE, "%s cannot be computed: %s", name,
				unc_tbl_str(t, t->metric[metric].unavailable));
	return add_metric(s, (unsigned)metric, text, index, socket, id);
}

int unc_session_passes(const struct unc_session *s)
{
	return s->n_passes ? (int)s->n_passes : 1;
}
