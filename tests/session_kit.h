/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions on simulated machines, for tests. The clock is stepped unless the text says otherwise.
 */
#ifndef UNC_TEST_SESSION_KIT_H
#define UNC_TEST_SESSION_KIT_H

#include <stdio.h>
#include <stdlib.h>

#include "platform/platform.h"
#include "session/session.h"
#include "sim/sim.h"
#include "suite.h"
#include "units/inside.h"
#include "units/look.h"

#define SNB "sandybridge-ep,clock=step"
#define EMR "emerald-rapids,clock=step"

static const uint64_t ms = 1000000; /* ns */

static inline struct unc_platform *machine(const char *sim)
{
	struct unc_options options = {.size = sizeof(options), .sim = sim};
	struct unc_platform *p = NULL;

	if (unc_platform_open(&options, &p) < 0)
		printf("# %s: %s\n", sim, unc_open_error());
	CU_ASSERT_FATAL(p != NULL);
	return p;
}

static inline struct unc_session *session(struct unc_platform *p, unsigned flags)
{
	struct unc_session *s = NULL;

	CU_ASSERT_FATAL(unc_session_new(p, flags, &s) == 0);
	return s;
}

static inline int add(struct unc_session *s, const char *text)
{
	int id = -1, rc = unc_session_add(s, text, &id);

	if (rc < 0)
		printf("# %s: %s\n", text, unc_session_error(s));
	CU_ASSERT_FATAL(rc == 0);
	return id;
}

static inline void start(struct unc_session *s)
{
	int rc = unc_session_start(s);

	if (rc < 0)
		printf("# start: %s\n", unc_session_error(s));
	CU_ASSERT_FATAL(rc == 0);
}

/* The running pass ends, and the next begins. */
static inline int turn_pass(struct unc_session *s)
{
	return s->n_passes > 1 ? unc_run_turn(s->run, &s->error) : 0;
}

enum { MAX_ITEMS = 32 };

static inline struct unc_value value_of(struct unc_session *s, int id)
{
	struct unc_value v[MAX_ITEMS];
	int rc = unc_session_read(s, v, MAX_ITEMS, sizeof(*v));

	if (rc < 0)
		printf("# read: %s\n", unc_session_error(s));
	CU_ASSERT_FATAL(rc == 0);
	return v[id];
}

static inline uint64_t count_of(struct unc_session *s, int id)
{
	struct unc_value v = value_of(s, id);

	CU_ASSERT(v.flags & UNC_VALUE_VALID);
	return v.count;
}

static inline void step_alone(struct unc_platform *p, uint64_t ns)
{
	unc_sim_step(unc_machine_sim(p->machine), ns);
}

/* And what is due then is done, as the thread of the library does it where time passes by itself. */
static inline void step(struct unc_platform *p, uint64_t ns)
{
	step_alone(p, ns);
	for (struct unc_run *run = p->runs.first; run; run = run->next)
		unc_run_see_to(run);
}

/* The set of a unit that counts now; else the first that is wanted there; NULL: there is none. */
static inline struct unc_set *set_of(struct unc_session *s, const struct unc_instance *u)
{
	struct unc_set *found = NULL;

	for (size_t i = s->run->n_sets; i-- > 0;)
		if (s->run->set[i].unit == u && (!found || unc_set_is_due(s->run, &s->run->set[i])))
			found = &s->run->set[i];
	return found;
}

/* A counter shows whole counts only: n counters together may be up to n short. */
#define CHECK_COUNT(actual, expected, n) check_count(__LINE__, (actual), (expected), (n))
static inline void check_count(int line, uint64_t actual, double expected, unsigned n)
{
	double least = expected - n - 0.001, most = expected + 0.001;
	CU_BOOL ok = (double)actual >= least && (double)actual <= most;

	if (!ok)
		printf("# line %d: got %llu, want %.1f\n", line, (unsigned long long)actual,
		       expected);
	CU_assertImplementation(ok, (unsigned)line, "count", "", "", CU_FALSE);
}

/* Within a relative error. */
#define CHECK_NEAR(actual, expected, error) check_near(__LINE__, (actual), (expected), (error))
static inline void check_near(int line, double actual, double expected, double error)
{
	double off = actual - expected, most = (expected < 0 ? -expected : expected) * error;
	CU_BOOL ok = off <= most && -off <= most;

	if (!ok)
		printf("# line %d: got %.12g, want %.12g\n", line, actual, expected);
	CU_assertImplementation(ok, (unsigned)line, "near", "", "", CU_FALSE);
}

static inline void check_quiet(struct unc_platform *p)
{
	char last[160] = "";
	unsigned n = unc_sim_violations(unc_machine_sim(p->machine), last, sizeof(last));

	if (n)
		printf("# %u violations, the last: %s\n", n, last);
	CHECK_NUMBER(n, 0);
}

/* Registers that the journal has entries of. */
static inline size_t held_registers(struct unc_platform *p)
{
	size_t n = 0;

	for (uint16_t i = 0; i < unc_journal_end(p->journal); i++)
		n += unc_journal_at(p->journal, i)->space != 0;
	return n;
}

/* ---- walking a plan: "REG=0x1 REG=0x2", units named when there are several */

struct walked {
	char text[4096];
	bool units;
	unsigned n;
};

static inline int walk_one(void *user, const struct unc_operation *op)
{
	struct walked *w = user;
	size_t at = strlen(w->text);

	if (at)
		at += (size_t)snprintf(w->text + at, sizeof(w->text) - at, " ");
	if (w->units)
		at += (size_t)snprintf(w->text + at, sizeof(w->text) - at, "%s%d.%d:", op->unit,
				       op->index, op->socket);
	if (op->write)
		snprintf(w->text + at, sizeof(w->text) - at, "%s=0x%llx", op->reg,
			 (unsigned long long)op->value);
	else
		snprintf(w->text + at, sizeof(w->text) - at, "%s", op->reg);
	w->n++;
	return 0;
}

static inline struct walked plan_of(struct unc_session *s, enum unc_phase phase, bool units)
{
	struct walked w = {.units = units};
	int rc = unc_session_plan(s, phase, walk_one, &w);

	if (rc < 0)
		printf("# plan: %s\n", unc_session_error(s));
	CU_ASSERT_FATAL(rc == 0);
	return w;
}

/* The operations of a phase for one or two events. */
static inline struct walked plan_for(struct unc_platform *p, enum unc_phase phase, const char *one,
				     const char *two)
{
	struct unc_session *s = session(p, 0);

	add(s, one);
	if (two)
		add(s, two);
	struct walked w = plan_of(s, phase, false);
	unc_session_free(s);
	return w;
}

/* ---- registers behind the session's back */

static inline void *msr(struct unc_platform *p, uint64_t address, unsigned width)
{
	struct unc_reg reg = {.address = address, .space = UNC_SPACE_MSR, .width = (uint8_t)width};
	void *found = unc_sim_find(unc_machine_sim(p->machine), &reg);

	CU_ASSERT_FATAL(found != NULL);
	return found;
}

/* Register `name` of a unit. */
static inline void *reg_of(struct unc_platform *p, const char *type, unsigned index,
			   unsigned socket, const char *name)
{
	const struct unc_table *t = p->table;
	struct unc_reg place;

	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		const struct unc_range *regs = &t->type[u->type].regs;

		if (u->index != index || u->socket != socket ||
		    strcmp(unc_tbl_str(t, t->type[u->type].name), type) != 0)
			continue;
		for (uint32_t k = regs->first; k < regs->first + regs->n; k++)
			if (strcmp(unc_tbl_str(t, t->reg[k].name), name) == 0 &&
			    unc_instance_reg(t, u, k, &place, NULL) == 0)
				return unc_sim_find(unc_machine_sim(p->machine), &place);
	}
	return NULL;
}

/* All controls and filters of the machine. Free with free(). */
struct snapshot {
	uint64_t *value;
	size_t n;
};

static inline struct snapshot snapshot(struct unc_platform *p)
{
	const struct unc_table *t = p->table;
	struct snapshot s = {.value = malloc(p->instances.n * 64 * sizeof(*s.value))};

	CU_ASSERT_FATAL(s.value != NULL);
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		const struct unc_range *regs = &t->type[u->type].regs;

		for (uint32_t k = regs->first; k < regs->first + regs->n; k++) {
			uint8_t role = t->reg[k].role;
			struct unc_reg place;
			void *reg;

			if (!u->available || (t->reg[k].flags & UNC_REG_WO) ||
			    (role != UNC_ROLE_CTL && role != UNC_ROLE_FIXED_CTL &&
			     role != UNC_ROLE_OTHER) ||
			    unc_instance_reg(t, u, k, &place, NULL) < 0 ||
			    !(reg = unc_sim_find(unc_machine_sim(p->machine), &place)))
				continue;
			s.value[s.n++] = unc_sim_read(unc_machine_sim(p->machine), reg);
		}
	}
	return s;
}

/* Compares with how it was, and frees that. */
#define CHECK_RESTORED(p, before) check_restored(__LINE__, (p), (before))
static inline void check_restored(int line, struct unc_platform *p, struct snapshot before)
{
	struct snapshot now = snapshot(p);
	size_t differ = now.n != before.n;

	for (size_t i = 0; i < now.n && i < before.n; i++)
		differ += now.value[i] != before.value[i];
	suite_number(line, differ, 0);
	CU_ASSERT(now.n > 0);
	free(now.value);
	free(before.value);
}

/* How many counters are enabled. (The kernel's driver leaves the event of one that is not.) */
static inline unsigned counting(struct unc_platform *p)
{
	const struct unc_table *t = p->table;
	unsigned n = 0;

	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		struct unc_plan plan = {0};

		if (!u->direct || unc_look_at(t, u, UNC_LOOK_CONTROLS, NULL, &plan, NULL) < 0 ||
		    unc_access_prepare(p->access, plan.op, plan.n, NULL) < 0)
			continue;
		unc_access_run(p->access, plan.op, plan.n);
		for (size_t k = 0; k < plan.n; k++)
			n += (plan.op[k].value & t->type[u->type].enable) != 0;
		unc_plan_free(&plan);
	}
	return n;
}

#endif
