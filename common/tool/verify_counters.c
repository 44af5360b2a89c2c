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
static double apart(struct verify *v, struct probe pair[2])
{
	struct flow flow = verify_some(v);
	double worst = NAN;

	pair[1].beside = true;
	if (!verify_count(v, &flow, pair, 2))
		return NAN;
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

/* Whether the register that began `at` holds the sum, in as many bits as the table says, the others
 * alike: what it counts until it is read is far less than a bit that is missing, or too many. */
static bool holds(const struct probe *p, int width)
{
	uint64_t mask = width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX,
		 above = p->held.value & ~mask;
	uint64_t expected = (p->at + (uint64_t)p->place[0].total) & mask;

	return !p->held.known ||
	       ((above == 0 || above == ~mask) && ((p->held.value & mask) - expected) < UINT32_MAX);
}

/* An event on the first and the last counter that can count it; the first begins at `at`. */
static void check_ends(struct verify *v, const struct unc_encoding *code, uint64_t at, int width,
		       const char *how)
{
	struct probe pair[2] = {{.text = code->base,
				 .per = UNC_EACH_UNIT,
				 .chosen = true,
				 .counter = __builtin_ctzll(code->counters),
				 .at = at}};

	pair[1] = pair[0];
	pair[1].counter = 63 - __builtin_clzll(code->counters);
	pair[1].at = 0;
	char *check = must_print("%s on counters %d and %d%s", code->base, pair[0].counter,
				 pair[1].counter, how);
	double off = apart(v, pair);

	if (!isnan(off) && !pair[0].place[0].why && !holds(&pair[0], width))
		off = 1;
	verify_judge(
		v, check, off, 0, 0.01, "%",
		must_print("a counter counts another event than the table says, has more or fewer "
			   "than %d bits (%s holds 0x%" PRIx64
			   "), or somebody has set it; in doubt: "
			   "%s (units.tbl)",
			   width, pair[0].held.reg, pair[0].held.value, code->units_of));
	verify_free(pair, 2);
}

/* Both ends of the counters of an event's type. false: it has not two that may count it. */
static bool check_event(struct verify *v, const char *event)
{
	struct unc_encoding code = {.size = sizeof(code)};
	const struct unc_type *t = NULL;

	if (unc_event_encode(v->platform, event, &code) < 0 ||
	    !(code.counters & (code.counters - 1)))
		return false;
	for (size_t i = 0; (t = unc_type_get(v->platform, i)); i++)
		if (strcmp(t->name, code.units_of) == 0)
			break;
	if (!t)
		return false;
	uint64_t end = (uint64_t)1 << (t->counter_width - 1) << 1;

	check_ends(v, &code, end / 4 * 3, t->counter_width, "");
	check_ends(v, &code, end - 1000, t->counter_width, ", past the end of its range");
	return true;
}

/* memory_read_bytes of two sessions, of these platforms. */
static void check_same(struct verify *v, struct unc_platform *one, struct unc_platform *two,
		       const char *how, const char *means)
{
	struct probe pair[2] = {
		{.text = "memory_read_bytes", .per = UNC_EACH_SOCKET, .platform = one},
		{.text = "memory_read_bytes", .per = UNC_EACH_SOCKET, .platform = two}};

	verify_judge(v, must_print("memory_read_bytes %s", how), one && two ? apart(v, pair) : NAN,
		     0, 0.02, "%", must_print("%s", means));
	verify_free(pair, 2);
}

/* A platform like ours, by other methods; NULL, with v->why. */
static struct unc_platform *open_by(struct verify *v, const char *access)
{
	struct unc_options o = {.size = sizeof(o), .tables = v->args->tables, .access = access};
	struct unc_platform *p = NULL;

	if (unc_platform_open(&o, &p) < 0)
		verify_fail(v, "%s", unc_open_error());
	return p;
}

void verify_counters(struct verify *v)
{
	struct unc_platform *kernel = open_by(v, "kernel"),
			    *direct = kernel ? open_by(v, "direct") : NULL;
	const struct unc_event *e;
	const char *done = "", *need;

	check_same(v, kernel, direct, "by the kernel's driver and by registers",
		   "the kernel's driver programs another event, or registers are of another unit; "
		   "in doubt: rows kernel (units.tbl)");
	unc_platform_close(kernel);
	unc_platform_close(direct);
	check_same(v, v->platform, v->platform, "of two sessions at once",
		   "sessions disturb each other");
	/* The clock of each type, and what reads of memory are made of. */
	for (size_t i = 0; (e = verify_clock(v, &i)) && !verify_stopped(); i++)
		if (strcmp(e->type, done) != 0 && check_event(v, e->spec))
			done = e->type;
	for (size_t i = 0; (need = verify_need(v, "memory_read_bytes", i)); i++)
		check_event(v, need);
}

/* ---- what a stop leaves */

struct registers {
	struct verify *verify;
	struct held *one;
	size_t n;
};

/* Counters go on: what is read is not compared. It is among the registers by its name, without a unit. */
static int note(void *user, const struct unc_operation *o)
{
	struct registers *r = user;

	for (size_t i = 0; i < r->n; i++)
		if (!r->one[i].unit && strcmp(r->one[i].reg, o->reg) == 0)
			return 0;
	if (strcmp(o->space, "kernel") == 0)
		return 0;
	r->one = must_grow(r->one, r->n, sizeof(*r->one));
	r->one[r->n] = (struct held){.unit = NULL};
	snprintf(r->one[r->n].reg, sizeof(r->one->reg), "%s", o->reg);
	if (o->write)
		r->one[r->n].unit = verify_unit(r->verify->platform, o);
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
		if (unc_session_add(s, p.text, &id) == 0 &&
		    unc_session_plan(s, UNC_PHASE_READ, note, &r) == 0)
			unc_session_plan(s, UNC_PHASE_START, note, &r);
		verify_fail(v, "it programs no register that can be read");
		unc_session_free(s);
	}
	verify_count(v, &(struct flow){IDLE, 0, 0, 0}, &p, 1);
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
