/* SPDX-License-Identifier: BSD-3-Clause */
/* Verify: what counters do, and what a session leaves behind. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify.h"

/* ---- two sessions count the same at once */

/* By how much the one and the other disagree where it is most, in the counts of a second. Places
 * without a number are passed over; NAN, with v->why: there is none with one. */
static double apart(struct verify *v, const struct probe pair[2])
{
	double worst = NAN;

	for (int i = 0; i < 2; i++)
		if (pair[i].why)
			verify_fail(v, "%s", pair[i].why);
	for (size_t i = 0; i < pair[0].n && !pair[0].why && !pair[1].why; i++) {
		const struct place *x = &pair[0].place[i], *y = &pair[1].place[i];
		double a = x->value / x->seconds, b = y->value / y->seconds;

		if (x->why || y->why)
			verify_fail(v, "%s", x->why ? x->why : y->why);
		else
			worst = fmax(isnan(worst) ? 0 : worst,
				     a == b ? 0 : fabs(a - b) / fmax(a, b));
	}
	return worst;
}

/* Whether the register that began `at` holds the sum, in as many bits as the table says: what it counts
 * until it is read is far less than a bit that is missing, or too many. */
static bool holds(const struct probe *p, int width)
{
	uint64_t expected = p->at + (uint64_t)p->place[0].total;

	if (width < 64)
		expected &= ((uint64_t)1 << width) - 1;
	return !p->held.known || p->held.value - expected < UINT32_MAX;
}

/* The clock of a type on its first and its last counter; the first begins at `at`. */
static void check_type(struct verify *v, const struct unc_event *e, uint64_t counters, uint64_t at,
		       const struct unc_type *type, const char *how)
{
	struct probe pair[2] = {{.text = e->spec,
				 .per = UNC_EACH_UNIT,
				 .chosen = true,
				 .counter = __builtin_ctzll(counters),
				 .at = at}};
	char *check = must_print("%s on counters %d and %d%s", e->spec, pair[0].counter,
				 63 - __builtin_clzll(counters), how);

	pair[1] = pair[0];
	pair[1].counter = 63 - __builtin_clzll(counters);
	pair[1].at = 0;
	pair[1].beside = true;
	double off = verify_count(v, &(struct flow){IDLE, 0, 0}, pair, 2) ? apart(v, pair) : NAN;

	if (!isnan(off) && !pair[0].place[0].why && !holds(&pair[0], type->counter_width))
		off = 1;
	verify_judge(
		v, check, off, 0, 0.01, "%",
		must_print("a counter counts another event than the table says, has more or fewer "
			   "than %d bits (%s holds 0x%" PRIx64
			   "), or somebody has set it; in doubt: "
			   "%s (units.tbl)",
			   type->counter_width, pair[0].held.reg, pair[0].held.value, e->type));
	verify_free(pair, 2);
}

static const struct unc_type *type_of(const struct verify *v, const char *name)
{
	const struct unc_type *t;

	for (size_t i = 0; (t = unc_type_get(v->platform, i)); i++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

void verify_counters(struct verify *v)
{
	struct probe pair[2] = {{.text = "memory_read_bytes", .per = UNC_EACH_SOCKET}};
	const struct unc_type *done = NULL;
	const struct unc_event *e;
	struct flow flow = verify_some(v);

	pair[1] = pair[0];
	pair[1].beside = true;
	verify_judge(v, must_print("memory_read_bytes of two sessions at once"),
		     verify_count(v, &flow, pair, 2) ? apart(v, pair) : NAN, 0, 0.02, "%",
		     must_print("sessions disturb each other"));
	verify_free(pair, 2);
	for (size_t i = 0; (e = verify_clock(v, &i)) && !verify_stopped(); i++) {
		struct unc_encoding code = {.size = sizeof(code)};
		const struct unc_type *type = type_of(v, e->type);

		if (type == done || unc_event_encode(v->platform, e->spec, &code) < 0 ||
		    !(code.counters & (code.counters - 1)))
			continue;
		uint64_t end = (uint64_t)1 << (type->counter_width - 1) << 1;

		done = type;
		check_type(v, e, code.counters, end / 4 * 3, type, "");
		check_type(v, e, code.counters, end - 1000, type, ", past the end of its range");
	}
}

/* ---- the kernel's driver and registers */

/* A platform like ours, by other methods; NULL, with v->why. */
static struct unc_platform *open_by(struct verify *v, const char *access)
{
	struct unc_options o = {.size = sizeof(o), .tables = v->args->tables, .access = access};
	struct unc_platform *p = NULL;

	if (unc_platform_open(&o, &p) < 0)
		verify_fail(v, "%s", unc_open_error());
	return p;
}

void verify_methods(struct verify *v)
{
	struct unc_platform *kernel = open_by(v, "kernel"),
			    *direct = kernel ? open_by(v, "direct") : NULL;
	struct probe pair[2] = {
		{.text = "memory_read_bytes", .per = UNC_EACH_SOCKET, .platform = kernel},
		{.text = "memory_read_bytes",
		 .per = UNC_EACH_SOCKET,
		 .platform = direct,
		 .beside = true}};
	struct flow flow = verify_some(v);
	double off = direct && verify_count(v, &flow, pair, 2) ? apart(v, pair) : NAN;

	verify_judge(
		v, must_print("memory_read_bytes by the kernel's driver and by registers"), off, 0,
		0.02, "%",
		must_print(
			"the kernel's driver programs another event, or registers are of another "
			"unit; in doubt: rows kernel (units.tbl)"));
	verify_free(pair, 2);
	unc_platform_close(kernel);
	unc_platform_close(direct);
}

/* ---- what a stop leaves */

struct registers {
	struct verify *verify;
	struct held *one;
	size_t n;
};

static int note_write(void *user, const struct unc_operation *o)
{
	struct registers *r = user;
	const struct unc_unit *u;

	if (!o->write || strcmp(o->space, "kernel") == 0 || strncmp(o->reg, "CTR", 3) == 0)
		return 0;
	r->one = must_grow(r->one, r->n, sizeof(*r->one));
	r->one[r->n] = (struct held){.unit = NULL};
	snprintf(r->one[r->n].reg, sizeof(r->one->reg), "%s", o->reg);
	for (size_t i = 0; (u = unc_unit_get(r->verify->platform, i)); i++)
		if (strcmp(u->type->name, o->unit) == 0 && u->socket == o->socket &&
		    u->index == o->index)
			r->one[r->n].unit = u;
	verify_register(r->verify, &r->one[r->n++]);
	return 0;
}

/* Controls that memory_read_bytes needs, before a session and after it. */
void verify_restored(struct verify *v)
{
	struct registers r = {.verify = v};
	struct probe p = {.text = "memory_read_bytes"};
	struct unc_session *s;
	double changed = 0, compared = 0;
	int id;

	if (unc_session_new(v->platform, 0, &s) == 0) {
		if (unc_session_add(s, p.text, &id) == 0)
			unc_session_plan(s, UNC_PHASE_START, note_write, &r);
		verify_fail(v, "it programs no register that can be read");
		unc_session_free(s);
	}
	verify_count(v, &(struct flow){IDLE, 0, 0}, &p, 1);
	for (size_t i = 0; i < r.n; i++) {
		struct held before = r.one[i];

		verify_register(v, &r.one[i]);
		compared += before.known && r.one[i].known;
		changed += before.known && r.one[i].known && before.value != r.one[i].value;
	}
	verify_judge(
		v, must_print("registers that a stop has not restored, of %.0f", compared),
		compared > 0 ? changed : NAN, 0, 0, "",
		must_print(
			"a stop does not restore, or somebody else programs the same monitors; in "
			"doubt: the steps of the unit (units.tbl)"));
	verify_free(&p, 1);
	free(r.one);
}

/* ---- a process that is killed */

struct left {
	int pid;
	size_t n;
};

static int count_left(void *user, const struct unc_counter *c)
{
	struct left *left = user;

	left->n += c->owner == UNC_OWNER_ORPHANED && c->pid == left->pid;
	return 0;
}

/* Counts until it is killed, and tells before whether it does. */
static _Noreturn void child(struct verify *v, int tell)
{
	struct unc_platform *p = open_by(v, v->args->access);
	struct unc_session *s;
	int id;

	if (p && unc_session_new(p, 0, &s) == 0 &&
	    unc_session_add(s, "memory_read_bytes", &id) == 0 && unc_session_start(s) == 0 &&
	    write(tell, "+", 1) == 1)
		pause();
	_exit(0);
}

void verify_killed(struct verify *v)
{
	struct left left = {0, 0};
	double value = NAN;
	char told;
	int ends[2];

	verify_fail(v, "a second process could not count");
	if (unc_platform_simulated(v->platform))
		verify_fail(v, "the registers of a simulated machine are one process's");
	else if (pipe(ends) == 0 && (left.pid = fork()) == 0)
		child(v, ends[1]);
	if (left.pid > 0) {
		close(ends[1]);
		bool counts = read(ends[0], &told, 1) == 1;

		close(ends[0]);
		kill(left.pid, SIGKILL);
		waitpid(left.pid, NULL, 0);
		int rc = unc_counters_release(v->platform, 0, count_left, &left);

		left.n = 0; /* of those that were found before */
		if (rc == 0 && counts && unc_counters_walk(v->platform, count_left, &left) == 0)
			value = (double)left.n;
	}
	verify_judge(
		v, must_print("counters that a killed process leaves"), value, 0, 0, "",
		must_print(
			"what ended processes leave is not restored: 'uncore counters' shows it"));
}
