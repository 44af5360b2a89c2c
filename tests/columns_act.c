/* SPDX-License-Identifier: BSD-3-Clause */
#include "columns_act.h"

#include <stdlib.h>

#include "columns_world.h"
#include "session_kit.h"

struct verb {
	const char *name;
	void (*act)(struct world *);
	bool listing; /* needs no machine */
};

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

static int put_device(void *user, const struct unc_device *device)
{
	struct world *w = user;

	unc_put(&w->out, "; %d %s", device->port, device->address);
	return 0;
}

/* stack TYPE INDEX [MODEL]: the bus of a stack of socket 0 and its devices, of a CPU of that model */
static void act_stack(struct world *w)
{
	struct unc_stack stack = {.size = sizeof(stack)};
	const struct unc_unit *u = NULL;

	if (w->word[3] && *w->word[3])
		w->p->topology.model = (int)strtol(w->word[3], NULL, 0);
	for (size_t i = 0; (u = unc_unit_get(w->p, i)) != NULL; i++)
		if (strcmp(u->type->name, w->word[1]) == 0 && u->index == atoi(w->word[2]))
			break;
	CU_ASSERT_PTR_NOT_NULL_FATAL(u);
	if (unc_unit_stack(w->p, u, &stack) < 0) {
		world_refuse(w, unc_platform_error(w->p));
		return;
	}
	unc_put(&w->out, "%s %s", stack.bus, stack.from);
	unc_unit_devices(w->p, u, put_device, w);
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
		world_refuse(w, "no such register");
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

/* session [rotate]: a new one; those before go on */
static void act_session(struct world *w)
{
	new_session(w, strcmp(w->word[1], "rotate") == 0 ? UNC_SESSION_ROTATE : 0);
}

static struct unc_session *now(struct world *w)
{
	return w->n_sessions ? w->session[w->n_sessions - 1] : new_session(w, 0);
}

static bool done(struct world *w, int rc)
{
	if (rc < 0)
		world_refuse(w, unc_session_error(now(w)));
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

	w->n_items += done(w, unc_session_add(now(w), w->word[1], &id));
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
		world_say_number(plan->w, op->reg, op->value);
	else
		world_say_word(plan->w, op->reg);
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
		world_blank(w);
		if (!(v[i].flags & UNC_VALUE_VALID))
			unc_put(&w->out, "none: %s", unc_session_reason(now(w), (int)i));
		else
			unc_put(&w->out, "%.10g of %u", v[i].value, v[i].units);
		if (v[i].flags & UNC_VALUE_UNPROVEN)
			unc_put(&w->out, ", unproven");
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

/* note: what discovery has noticed, the last of it */
static void act_note(struct world *w)
{
	unc_put(&w->out, "%s", *w->note ? w->note : "none");
}

/* peak SOCKET: what its memory can move */
static void act_peak(struct world *w)
{
	double peak;

	if (unc_memory_peak(w->p, atoi(w->word[1]), &peak) < 0)
		world_refuse(w, unc_platform_error(w->p));
	else
		unc_put(&w->out, "%.12g", peak);
}

/* ---- all verbs */

static const struct verb verbs[] = {
	{"encode", world_encode, true},
	{"decode", world_decode, true},
	{"kernel", world_kernel, true},
	{"fields", world_fields, true},
	{"register", world_register, true},
	{"type", world_type, true},
	{"event", world_event, true},
	{"metric", world_metric, true},
	{"eval", world_eval, true},
	{"cpu", world_cpu, true},
	{"open", world_open, true},
	{"name", world_name, true},
	{"units", act_units, false},
	{"stack", act_stack, false},
	{"note", act_note, false},
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
	{"peak", act_peak, false},
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
		world_refuse(w, "columns_act.c has no such verb");
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

	CU_ASSERT_FATAL(columns_files(&w->root, cpu));
	options.sysroot = w->root.path;
	return unc_platform_open(&options, &w->p);
}

static void keep_note(void *user, enum unc_log_level level, const char *text)
{
	struct world *w = user;

	if (level == UNC_LOG_WARNING)
		snprintf(w->note, sizeof(w->note), "%s", text);
}

/* "NAME,files": a machine of files; "NAME[,option=value]..": the simulated one; or none, for
 * listing. */
static bool open_machine(struct world *w, const char *machine, const char *tables, bool listing)
{
	char text[128];
	struct unc_options options = {.size = sizeof(options),
				      .tables = tables,
				      .sysroot = "",
				      .log = keep_note,
				      .log_user = w};
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
	/* What the reader refuses, the metric alone or all of the tables. */
	if (rc < 0 || *unc_open_error())
		unc_put(&w->out, "tables: %s", unc_open_error());
	return rc == 0 && !*unc_open_error();
}

void columns_act(const char *machine, const char *tables, const char *action, char *buf,
		 size_t size)
{
	struct world w = {.out = unc_buf(buf, size), .tables = tables};
	char text[1024], *next;
	const struct verb *first = verb_of(action);

	snprintf(text, sizeof(text), "%s", action);
	bool open = open_machine(&w, machine, tables, !first || first->listing);

	for (char *c = text; open && *action != '-' && c && !w.failed; c = next) {
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
