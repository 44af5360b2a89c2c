/* SPDX-License-Identifier: BSD-3-Clause */
#include "columns_act.h"

#include <stdlib.h>

#include "columns_files.h"
#include "encode/kernel.h"
#include "session_kit.h"
#include "base/text.h"

enum { MAX_SESSIONS = 4, MAX_WORDS = 8 };

struct world {
	struct unc_platform *p;
	struct unc_session *session[MAX_SESSIONS]; /* the last one is worked with */
	size_t n_sessions, n_items;
	struct fake_root root; /* of a machine of files */
	bool failed;
	struct unc_buf out;
	char *word[MAX_WORDS]; /* of the command; "" beyond them */
};

struct verb {
	const char *name;
	void (*act)(struct world *);
	bool listing; /* needs no machine */
};

static void refuse(struct world *w, const char *sentence)
{
	unc_put(&w->out, "refused: %s", sentence);
	w->failed = true;
}

/* A blank, but at the beginning of what a command says. */
static void blank(struct world *w)
{
	if (w->out.n && w->out.n < w->out.size && w->out.text[w->out.n - 1] != ' ')
		unc_put(&w->out, " ");
}

static void say_word(struct world *w, const char *word)
{
	blank(w);
	unc_put(&w->out, "%s", word);
}

static void say_number(struct world *w, const char *name, uint64_t value)
{
	blank(w);
	unc_put(&w->out, "%s=%s%llx", name, value > 9 ? "0x" : "", (unsigned long long)value);
}

/* ---- what is listed */

static const char *aggregate_name(enum unc_aggregate a)
{
	static const char *const names[] = {"sum", "max", "one", "socket"};

	return names[a];
}

/* encode SPEC */
static void act_encode(struct world *w)
{
	struct unc_encoding e = {.size = sizeof(e)};

	if (unc_event_encode(w->p, w->word[1], &e) < 0) {
		refuse(w, unc_platform_error(w->p));
		return;
	}
	unc_put(&w->out, "%s", e.name);
	say_number(w, "ctl", e.ctl);
	if (e.counter)
		unc_put(&w->out, " counter=%s", e.counter);
	else
		say_number(w, "counters", e.counters);
	for (size_t i = 0; i < e.n_filters; i++)
		say_number(w, e.filters[i].reg, e.filters[i].value);
	unc_put(&w->out, " aggregate=%s", aggregate_name(e.aggregate));
}

/* kernel SPEC: what the kernel's driver is given */
static void act_kernel(struct world *w)
{
	const struct unc_table *t = w->p->table;
	struct unc_kernel_code k;
	struct unc_error err = {0};
	struct unc_spec spec;
	struct unc_code code;
	char name[UNC_KERNEL_NAME];

	if (unc_spec_parse(t, w->word[1], &spec, &err) < 0 ||
	    unc_spec_encode(t, &spec, 0, 2, &code, &err) < 0 ||
	    unc_kernel_encode(t, &code, &k, &err) < 0) {
		refuse(w, err.text);
		return;
	}
	bool found = unc_kernel_pmu(t, code.type, k.pmu, spec.index < 0 ? 0 : (unsigned)spec.index,
				    name, sizeof(name));
	unc_put(&w->out, "%s", found ? name : "no PMU");
	say_number(w, "config", k.config);
	say_number(w, "config1", k.config1);
	say_number(w, "config2", k.config2);
}

/* decode TYPE REG=VALUE... */
static void act_decode(struct world *w)
{
	struct unc_register_value value[MAX_WORDS];
	char text[UNC_SPEC_MAX];
	size_t n = 0;

	for (size_t i = 2; i < MAX_WORDS && *w->word[i]; i++) {
		char *equals = strchr(w->word[i], '=');

		CU_ASSERT_PTR_NOT_NULL_FATAL(equals);
		*equals = '\0';
		value[n++] = (struct unc_register_value){w->word[i], strtoull(equals + 1, NULL, 0)};
	}
	if (unc_event_decode(w->p, w->word[1], value, n, sizeof(*value), text, sizeof(text)) < 0)
		refuse(w, unc_platform_error(w->p));
	else
		unc_put(&w->out, "%s", text);
}

static int say_field(void *user, const struct unc_field *f, uint64_t value)
{
	say_number(user, f->name, value);
	return 0;
}

/* fields TYPE REG VALUE */
static void act_fields(struct world *w)
{
	if (unc_register_decode(w->p, w->word[1], w->word[2], strtoull(w->word[3], NULL, 0),
				say_field, w) < 0)
		refuse(w, unc_platform_error(w->p));
}

static int say_register(void *user, const struct unc_register *r)
{
	struct world *w = user;

	if (strcmp(r->unit, w->word[1]) != 0 || strcmp(r->name, w->word[3]) != 0 ||
	    (unsigned)r->index != strtoul(w->word[2], NULL, 10))
		return 0;
	unc_put(&w->out, "%s 0x%llx %d", r->space, (unsigned long long)r->address, r->width);
	if (r->device)
		unc_put(&w->out, " %s %04x", r->device, r->device_id);
	if (r->bar)
		unc_put(&w->out, " %s", r->bar);
	return 1;
}

/* register TYPE INDEX REG */
static void act_register(struct world *w)
{
	if (unc_register_walk(w->p, say_register, w) == 0)
		refuse(w, "no such register");
}

static const struct unc_type *type_of(struct world *w)
{
	const struct unc_type *t;

	for (size_t i = 0; (t = unc_type_get(w->p, i)) != NULL; i++)
		if (strcmp(t->name, w->word[1]) == 0)
			return t;
	refuse(w, "no such type");
	return NULL;
}

/* type TYPE */
static void act_type(struct world *w)
{
	const struct unc_type *t = type_of(w);

	if (t)
		unc_put(&w->out, "%s: %s; %d counters of %d bits of %s", t->title, t->desc,
			t->counters, t->counter_width, t->units_of);
}

/* event TYPE.EVENT: its text, what it takes, its umasks */
static void act_event(struct world *w)
{
	const struct unc_event *e;
	const struct unc_umask *u;
	const struct unc_field *f;
	size_t i = 0;

	while ((e = unc_event_get(w->p, i)) != NULL && strcmp(e->spec, w->word[1]) != 0)
		i++;
	if (!e) {
		refuse(w, "no such event");
		return;
	}
	unc_put(&w->out, "%s; takes", e->desc);
	for (size_t k = 0; (f = unc_field_get(w->p, i, k)) != NULL; k++)
		unc_put(&w->out, " %s (%s, %s%llu to %llu)", f->name, f->desc,
			f->needed ? "needed, " : "", (unsigned long long)f->min,
			(unsigned long long)f->max);
	for (size_t k = 0; (u = unc_umask_get(w->p, i, k)) != NULL; k++)
		unc_put(&w->out, "; %s (%s%s%s%s)", u->name, u->desc,
			u->combinable ? "" : ", alone", u->standalone ? "" : ", not alone",
			u->reason);
}

/* metric NAME */
static void act_metric(struct world *w)
{
	const struct unc_metric *m;
	const char *name;

	for (size_t i = 0; (m = unc_metric_get(w->p, i)) != NULL; i++) {
		if (strcmp(m->name, w->word[1]) != 0)
			continue;
		unc_put(&w->out, "%s, %s %s: %s", m->desc,
			m->kind == UNC_METRIC_TOTAL ? "total" : "gauge", m->unit, m->reason);
		for (size_t k = 0; (name = unc_metric_need(w->p, i, k)) != NULL; k++)
			unc_put(&w->out, " %s", name);
		return;
	}
	refuse(w, "no such metric");
}

/* eval METRIC EVENT=VALUE... */
static void act_eval(struct world *w)
{
	struct unc_count count[MAX_WORDS];
	size_t n = 0;
	double value;

	for (size_t i = 2; i < MAX_WORDS && *w->word[i]; i++) {
		char *equals = strrchr(w->word[i], '=');

		CU_ASSERT_PTR_NOT_NULL_FATAL(equals);
		*equals = '\0';
		count[n++] = (struct unc_count){w->word[i], strtod(equals + 1, NULL)};
	}
	if (unc_metric_eval(w->p, w->word[1], count, n, sizeof(*count), &value) < 0)
		refuse(w, unc_platform_error(w->p));
	else
		unc_put(&w->out, "%.10g", value);
}

/* cpu */
static void act_cpu(struct world *w)
{
	const struct unc_cpu *c = unc_platform_cpu(w->p);

	unc_put(&w->out, "%s, family %d, models", c->title, c->family);
	for (size_t i = 0; i < c->n_models; i++)
		unc_put(&w->out, " 0x%x", (unsigned)c->models[i]);
}

/* ---- the machine */

/* units TYPE: how many are there and can be read, where the last one is, why the first one cannot
 */
static void act_units(struct world *w)
{
	const struct unc_unit *u, *last = NULL, *lost = NULL;
	unsigned n = 0, readable = 0;

	for (size_t i = 0; (u = unc_unit_get(w->p, i)) != NULL; i++) {
		if (strcmp(u->type->name, w->word[1]) != 0)
			continue;
		n++;
		readable += u->available != 0;
		last = u;
		lost = u->available || lost ? lost : u;
	}
	unc_put(&w->out, "%u of %u", readable, n);
	if (last)
		unc_put(&w->out, ", the last %s%d of socket %d at %s", last->type->name,
			last->index, last->socket, last->location);
	if (lost)
		unc_put(&w->out, ", %s%d: %s", lost->type->name, lost->index, lost->reason);
}

/* "cbo0.CTL1": a register of socket 0, or "cbo0.CTL1.1" of another. */
static void *place(struct world *w, char *unit)
{
	char *reg = strchr(unit, '.'), *socket;

	CU_ASSERT_PTR_NOT_NULL_FATAL(reg);
	char *digits = reg;
	*reg++ = '\0';
	if ((socket = strchr(reg, '.')) != NULL)
		*socket++ = '\0';
	while (digits > unit && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	unsigned index = (unsigned)strtoul(digits, NULL, 10);
	*digits = '\0';
	void *found =
		reg_of(w->p, unit, index, socket ? (unsigned)strtoul(socket, NULL, 10) : 0, reg);
	if (!found)
		refuse(w, "no such register");
	return found;
}

/* set UNIT.REG[.SOCKET] VALUE: behind the library's back */
static void act_set(struct world *w)
{
	void *reg = place(w, w->word[1]);

	if (reg)
		unc_sim_write(unc_machine_sim(w->p->machine), reg, strtoull(w->word[2], NULL, 0));
}

/* get UNIT.REG[.SOCKET] */
static void act_get(struct world *w)
{
	void *reg = place(w, w->word[1]);

	if (reg)
		unc_put(&w->out, "0x%llx",
			(unsigned long long)unc_sim_read(unc_machine_sim(w->p->machine), reg));
}

/* violations: what the machine has seen that hardware forbids */
static void act_violations(struct world *w)
{
	char last[160] = "";
	unsigned n = unc_sim_violations(unc_machine_sim(w->p->machine), last, sizeof(last));

	unc_put(&w->out, "%u %s", n, last);
}

/* step SECONDS */
static void act_step(struct world *w)
{
	step(w->p, (uint64_t)(strtod(w->word[1], NULL) * 1e9));
}

/* ---- sessions */

static struct unc_session *new_session(struct world *w, unsigned flags)
{
	CU_ASSERT_FATAL(w->n_sessions < MAX_SESSIONS);
	w->session[w->n_sessions] = session(w->p, flags);
	w->n_items = 0;
	return w->session[w->n_sessions++];
}

/* session [rotate|freeze]: a new one; those before go on */
static void act_session(struct world *w)
{
	new_session(w, strcmp(w->word[1], "rotate") == 0   ? UNC_SESSION_ROTATE
		       : strcmp(w->word[1], "freeze") == 0 ? UNC_SESSION_FREEZE
							   : 0);
}

static struct unc_session *now(struct world *w)
{
	return w->n_sessions ? w->session[w->n_sessions - 1] : new_session(w, 0);
}

static bool done(struct world *w, int rc)
{
	if (rc < 0)
		refuse(w, unc_session_error(now(w)));
	return rc >= 0;
}

/* add SPEC... */
static void act_add(struct world *w)
{
	struct unc_session *s = now(w);
	int id;

	for (size_t i = 1; i < MAX_WORDS && *w->word[i]; i++, w->n_items++)
		if (!done(w, unc_session_add(s, w->word[i], &id)))
			return;
}

/* measure METRIC */
static void act_measure(struct world *w)
{
	int id;

	w->n_items += done(w, unc_session_add_metric(now(w), w->word[1], &id));
}

static void act_passes(struct world *w)
{
	unc_put(&w->out, "%d", unc_session_passes(now(w)));
}

static void act_start(struct world *w)
{
	done(w, unc_session_start(now(w)));
}

static void act_stop(struct world *w)
{
	done(w, unc_session_stop(now(w)));
}

/* Operations of the first unit of each type: "cbo.CTL0=0x400000". */
struct plan {
	struct world *w;
	char unit[32];
};

static int say_operation(void *user, const struct unc_operation *op)
{
	struct plan *plan = user;
	char unit[32];

	snprintf(unit, sizeof(unit), "%s%d.%d", op->unit, op->index, op->socket);
	if (!*plan->unit)
		strcpy(plan->unit, unit);
	if (strcmp(plan->unit, unit) != 0)
		return 0;
	if (op->write)
		say_number(plan->w, op->reg, op->value);
	else
		say_word(plan->w, op->reg);
	return 0;
}

/* plan start|read|stop: what that does to the first unit */
static void act_plan(struct world *w)
{
	struct plan plan = {.w = w};
	enum unc_phase phase = w->word[1][2] == 'a' && w->word[1][0] == 's' ? UNC_PHASE_START
			       : w->word[1][0] == 'r'                       ? UNC_PHASE_READ
									    : UNC_PHASE_STOP;

	done(w, unc_session_plan(now(w), phase, say_operation, &plan));
}

static void say_values(struct world *w, const struct unc_value *v)
{
	for (size_t i = 0; i < w->n_items; i++) {
		blank(w);
		if (!(v[i].flags & UNC_VALUE_VALID))
			unc_put(&w->out, "none: %s", unc_session_reason(now(w), (int)i));
		else
			unc_put(&w->out, "%.10g of %u", v[i].value, v[i].units);
		if (v[i].units != v[i].of)
			unc_put(&w->out, " of %u", v[i].of);
	}
}

static void act_read(struct world *w)
{
	struct unc_value v[MAX_ITEMS];

	CU_ASSERT_FATAL(w->n_items <= MAX_ITEMS);
	if (done(w, unc_session_read(now(w), v, w->n_items, sizeof(*v))))
		say_values(w, v);
}

/* sample EVERY: the first item ends intervals */
static void act_sample(struct world *w)
{
	done(w, unc_session_sample(now(w), 0, strtoull(w->word[1], NULL, 0)));
}

/* poll: whose counter has carried, what was counted until then */
static void act_poll(struct world *w)
{
	struct unc_value v[MAX_ITEMS];
	struct unc_overflow o = {.size = sizeof(o)};

	CU_ASSERT_FATAL(w->n_items <= MAX_ITEMS);
	if (!done(w, unc_session_poll(now(w), &o, v, w->n_items, sizeof(*v))))
		return;
	if (o.id < 0)
		unc_put(&w->out, "none");
	else
		unc_put(&w->out, "%s%d.%s of socket %d: %llu%s", o.unit, o.index, o.counter,
			o.socket, (unsigned long long)o.count, o.frozen ? ", frozen" : "");
}

/* ---- all verbs */

static const struct verb verbs[] = {
	{"encode", act_encode, true},
	{"decode", act_decode, true},
	{"kernel", act_kernel, true},
	{"fields", act_fields, true},
	{"register", act_register, true},
	{"type", act_type, true},
	{"event", act_event, true},
	{"metric", act_metric, true},
	{"eval", act_eval, true},
	{"cpu", act_cpu, true},
	{"units", act_units, false},
	{"set", act_set, false},
	{"get", act_get, false},
	{"step", act_step, false},
	{"violations", act_violations, false},
	{"session", act_session, false},
	{"add", act_add, false},
	{"measure", act_measure, false},
	{"passes", act_passes, false},
	{"start", act_start, false},
	{"stop", act_stop, false},
	{"plan", act_plan, false},
	{"read", act_read, false},
	{"sample", act_sample, false},
	{"poll", act_poll, false},
};

static const struct verb *verb_of(const char *command)
{
	size_t n = strcspn(command, " ");

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strlen(verbs[i].name) == n && strncmp(command, verbs[i].name, n) == 0)
			return &verbs[i];
	return NULL;
}

static void command(struct world *w, char *text)
{
	static char empty[] = "";
	const struct verb *verb = verb_of(text);
	char *rest = NULL, *word = strtok_r(text, " ", &rest);

	if (!verb) {
		refuse(w, "columns_act.c has no such verb");
		return;
	}
	for (size_t i = 0; i < MAX_WORDS; i++, word = word ? strtok_r(NULL, " ", &rest) : NULL)
		w->word[i] = word ? word : empty;
	CU_ASSERT_FATAL(!word);
	struct unc_buf before = w->out;
	if (before.n)
		unc_put(&w->out, " | ");
	size_t n = w->out.n;
	verb->act(w);
	if (w->out.n == n) { /* it has said nothing */
		w->out = before;
		w->out.text[before.n] = '\0';
	}
}

/* ---- machines */

static int open_files(struct world *w, const char *cpu, const char *tables)
{
	struct unc_options options = {.size = sizeof(options), .tables = tables, .sim = ""};
	const struct unc_cpu *c;
	size_t i = 0;

	while ((c = unc_cpu_get(NULL, i)) != NULL && strcmp(c->name, cpu) != 0)
		i++;
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	columns_files(&w->root, cpu, c->family, c->models[0]);
	options.sysroot = w->root.path;
	return unc_platform_open(&options, &w->p);
}

/* "NAME,files": a machine of files; "NAME[,option=value]..": the simulated one; or none, for
 * listing. */
static bool open_machine(struct world *w, const char *machine, const char *tables, bool listing)
{
	char text[128];
	struct unc_options options = {.size = sizeof(options), .tables = tables, .sysroot = ""};
	const char *comma = strstr(machine, ",files");
	int rc;

	if (comma) {
		snprintf(text, sizeof(text), "%.*s", (int)(comma - machine), machine);
		rc = open_files(w, text, tables);
	} else {
		snprintf(text, sizeof(text), "%s%s", machine,
			 listing || strstr(machine, "clock=") ? "" : ",clock=step");
		options.cpu = listing ? text : NULL;
		options.sim = listing ? "" : text;
		rc = unc_platform_open(&options, &w->p);
	}
	if (rc < 0)
		unc_put(&w->out, "tables: %s", unc_open_error());
	return rc == 0;
}

void columns_act(const char *machine, const char *tables, const char *action, char *buf,
		 size_t size)
{
	struct world w = {.out = unc_buf(buf, size)};
	char text[1024], *next;
	const struct verb *first = verb_of(action);

	snprintf(text, sizeof(text), "%s", action);
	if (!open_machine(&w, machine, tables, !first || first->listing))
		return;
	for (char *c = text; *action != '-' && c && !w.failed; c = next) {
		next = strstr(c, " & ");
		if (next) {
			*next = '\0';
			next += 3;
		}
		command(&w, c);
	}
	while (w.n_sessions)
		unc_session_free(w.session[--w.n_sessions]);
	unc_platform_close(w.p);
	if (*w.root.path)
		fake_free(&w.root);
}
