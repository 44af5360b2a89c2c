/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes on when the pass changes: an event counts in each pass that has a counter left for it,
 * and stays on that counter; only what ends and what begins is written. The passes are changed by
 * hand, and each change takes its time of the machine's clock. Rates: eventtables/CPU/workload.tbl.
 */
#include <math.h>

#include "session_kit.h"

/* Six events on the four counters of a channel, and its fixed clock: two passes. */
static const struct set {
	const char *sim, *unit_ctl;
	struct {
		const char *text;
		double rate;
	} event[7];
} sets[] = {
	{"sandybridge-ep,clock=step",
	 "BOX_CTL",
	 {{"imc0.CAS_COUNT:RD:socket=0", (2.7e8 + 0.002e8) / 4},
	  {"imc0.CAS_COUNT:WR:socket=0", 1.142e8 / 4},
	  {"imc0.ACT_COUNT:socket=0", 0.35 * 0.961e8},
	  {"imc0.PRE_COUNT:PAGE_MISS:socket=0", 0.22 * 0.961e8},
	  {"imc0.CAS_COUNT:ALL:socket=0", (2.702e8 + 1.142e8) / 4},
	  {"imc0.PRE_COUNT:PAGE_CLOSE:socket=0", 0.13 * 0.961e8},
	  {"imc0.DCLK:socket=0", 0.8e9}}},
	{"icelake-sp,clock=step",
	 "UNIT_CTL",
	 {{"imc0.CAS_COUNT:RD:socket=0", 117187500},
	  {"imc0.CAS_COUNT:WR:socket=0", 39062500},
	  {"imc0.ACT_COUNT:ALL:socket=0", 62500000},
	  {"imc0.CLOCKTICKS:socket=0", 2e9},
	  {"imc0.CAS_COUNT:ALL:socket=0", 156250000},
	  {"imc0.CLOCKTICKS:thresh=1:socket=0", 2e9},
	  {"imc0.HCLOCKTICKS:socket=0", 2e9}}},
};
enum { SETS = sizeof(sets) / sizeof(sets[0]), EVENTS = 7, FIXED = EVENTS - 1, COUNTERS = 4 };

/* ---- what is written, and how long a change takes */

static struct {
	uint64_t address[256];
	size_t n;
} written;
static uint64_t change_ns;

int unc_access_run(struct unc_access *a, struct unc_reg_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ops[i].kind == UNC_OP_WRITE && written.n < 256)
			written.address[written.n++] = ops[i].reg.address;
	return REAL(unc_access_run)(a, ops, n);
}

int unc_session_end_pass(struct unc_session *s, struct unc_error *err)
{
	int rc = REAL(unc_session_end_pass)(s, err);

	step(s->platform, change_ns);
	return rc;
}

/* How often a register of imc0 was written. */
static unsigned writes_of(struct unc_platform *p, const char *name)
{
	const struct unc_table *t = p->table;
	unsigned n = 0;

	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		const struct unc_range *regs = &t->type[u->type].regs;
		struct unc_reg place;

		if (u->index || u->socket || strcmp(unc_tbl_str(t, t->type[u->type].name), "imc"))
			continue;
		for (uint32_t k = regs->first; k < regs->first + regs->n; k++)
			if (strcmp(unc_tbl_str(t, t->reg[k].name), name) == 0 &&
			    unc_instance_reg(t, u, (uint16_t)k, &place, NULL) == 0)
				for (size_t w = 0; w < written.n; w++)
					n += written.address[w] == place.address;
	}
	return n;
}

/* ---- */

static struct unc_session *passes_of(struct unc_platform *p, const struct set *set)
{
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);

	for (size_t i = 0; i < EVENTS; i++)
		add(s, set->event[i].text);
	CHECK_NUMBER(unc_session_passes(s), 2);
	return s;
}

static void rotate(struct unc_session *s)
{
	int rc = unc_session_rotate(s);

	if (rc < 0)
		printf("# rotate: %s\n", unc_session_error(s));
	CU_ASSERT_FATAL(rc == 0);
}

static uint64_t control(struct unc_platform *p, unsigned i)
{
	char name[16];

	snprintf(name, sizeof(name), "CTL%u", i);
	return unc_sim_read(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, name));
}

/* All four counters are used in each pass, by turns. The fixed one goes on through every change,
 * and loses nothing; of the others at least two do. */
static void test_shares(void)
{
	for (size_t k = 0; k < SETS; k++) {
		struct unc_platform *p = machine(sets[k].sim);
		struct unc_session *s = passes_of(p, &sets[k]);
		struct snapshot before = snapshot(p);
		struct unc_value v[EVENTS];
		double shares = 0;

		change_ns = 1 * ms;
		start(s);
		for (int turn = 0; turn < 10; turn++) {
			step(p, 9 * ms);
			CHECK_NUMBER(counting(p), COUNTERS + 1);
			rotate(s);
		}
		CHECK_NUMBER(unc_session_stop(s), 0);
		CHECK_NUMBER(unc_session_read(s, v, EVENTS, sizeof(*v)), 0);
		for (size_t i = 0; i < EVENTS; i++) {
			CU_ASSERT(v[i].flags & UNC_VALUE_VALID);
			CHECK_NEAR(v[i].value, sets[k].event[i].rate * 100e-3, 1e-4);
			CHECK_NUMBER((v[i].flags & UNC_VALUE_ESTIMATED) != 0, i != FIXED);
			shares += i == FIXED ? 0 : v[i].share;
			/* A part of each turn of 10 ms is the change to the next, but for what goes
			 * on: two of four of the first pass, in each second turn. */
			CU_ASSERT(v[i].share >= 0.45 - 1e-9);
		}
		CHECK_NEAR(shares, 4 * 0.9 + 2 * 0.1, 1e-9);
		CU_ASSERT(v[FIXED].share >= 1);
		CHECK_COUNT(v[FIXED].count, sets[k].event[FIXED].rate * 100e-3, 1);
		CHECK_RESTORED(p, before);
		CHECK_NUMBER(held_registers(p), 0);
		check_quiet(p);
		unc_session_free(s);
		unc_platform_close(p);
	}
}

/* At a change two controls are restored and two written, with their counters; what goes on, and the
 * unit, is left alone. */
static void test_writes(void)
{
	for (size_t k = 0; k < SETS; k++) {
		struct unc_platform *p = machine(sets[k].sim);
		struct unc_session *s = passes_of(p, &sets[k]);

		change_ns = 0;
		start(s);
		for (int turn = 0; turn < 4; turn++) {
			uint64_t was[COUNTERS];
			unsigned changed = 0;

			step(p, 10 * ms);
			for (unsigned i = 0; i < COUNTERS; i++)
				was[i] = control(p, i);
			written.n = 0;
			rotate(s);
			for (unsigned i = 0; i < COUNTERS; i++) {
				char ctl[16], ctr[16];
				bool same = control(p, i) == was[i];

				snprintf(ctl, sizeof(ctl), "CTL%u", i);
				snprintf(ctr, sizeof(ctr), "CTR%u", i);
				CHECK_NUMBER(writes_of(p, ctl), same ? 0 : 2);
				CHECK_NUMBER(writes_of(p, ctr), same ? 0 : 1);
				changed += !same;
			}
			CHECK_NUMBER(changed, 2);
			CHECK_NUMBER(writes_of(p, sets[k].unit_ctl), 0);
			CHECK_NUMBER(writes_of(p, "FIXED_CTL"), 0);
			CHECK_NUMBER(writes_of(p, "FIXED_CTR"), 0);
			CHECK_NUMBER(written.n, 6);
		}
		check_quiet(p);
		unc_session_free(s);
		unc_platform_close(p);
	}
}

/* Two sessions with the same passes, one behind the other: each goes on with what it shares, and
 * with it when the other one has stopped. */
static void test_shared(void)
{
	struct unc_platform *p = machine(sets[0].sim);
	struct unc_session *s[2] = {passes_of(p, &sets[0]), passes_of(p, &sets[0])};
	struct snapshot before = snapshot(p);
	struct unc_value v[EVENTS];

	change_ns = 0;
	start(s[0]);
	start(s[1]);
	for (int turn = 0; turn < 4; turn++) {
		step(p, 10 * ms);
		CHECK_NUMBER(counting(p), COUNTERS + 1);
		for (int k = 0; k < 2; k++) /* as turns do: all end before any begins */
			CHECK_NUMBER(unc_session_end_pass(s[k], NULL), 0);
		for (int k = 0; k < 2; k++)
			CHECK_NUMBER(unc_session_begin_pass(s[k], NULL), 0);
	}
	CHECK_NUMBER(unc_session_stop(s[0]), 0);
	step(p, 10 * ms);
	rotate(s[1]);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_session_stop(s[1]), 0);
	for (int k = 0; k < 2; k++) {
		CHECK_NUMBER(unc_session_read(s[k], v, EVENTS, sizeof(*v)), 0);
		for (size_t i = 0; i < EVENTS; i++) {
			CU_ASSERT(v[i].flags & UNC_VALUE_VALID);
			CHECK_NEAR(v[i].value, sets[0].event[i].rate * (k ? 60e-3 : 40e-3), 1e-4);
		}
		CU_ASSERT(v[FIXED].share >= 1);
	}
	CHECK_RESTORED(p, before);
	CHECK_NUMBER(held_registers(p), 0);
	for (int k = 0; k < 2; k++)
		unc_session_free(s[k]);
	check_quiet(p);
	unc_platform_close(p);
}

/* Beside another session nothing goes on: what it counts is counted with it in each pass, and so is
 * as much of the rest as finds a counter. */
static void test_spare(void)
{
	enum { FEW = 5, TURNS = 10 };
	struct unc_platform *p = machine(sets[0].sim);
	struct unc_session *one = session(p, 0), *s = session(p, UNC_SESSION_ROTATE);
	struct unc_value v[FEW];
	double shares = 0;

	change_ns = 0;
	add(one, sets[0].event[0].text);
	for (int i = 0; i < FEW; i++)
		add(s, sets[0].event[i].text);
	CHECK_NUMBER(unc_session_passes(s), 2);
	start(one);
	start(s);
	for (int turn = 0; turn < TURNS; turn++) {
		/* One may be kept for what is counted together as it is. */
		CU_ASSERT(counting(p) >= COUNTERS - 1);
		step(p, 10 * ms);
		rotate(s);
	}
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_read(s, v, FEW, sizeof(*v)), 0);
	for (int i = 0; i < FEW; i++) {
		CU_ASSERT(v[i].flags & UNC_VALUE_VALID);
		CHECK_NEAR(v[i].value, sets[0].event[i].rate * TURNS * 10e-3, 1e-4);
		shares += v[i].share;
	}
	CU_ASSERT(shares > COUNTERS - 1);
	unc_session_free(s);
	unc_session_free(one);
	check_quiet(p);
	unc_platform_close(p);
}

/* Somebody takes a counter that goes on: what it counts is lost, and all else of the unit begins
 * anew with the next pass. */
static void test_taken(void)
{
	struct unc_platform *p = machine(sets[0].sim);
	struct unc_session *s = passes_of(p, &sets[0]);
	enum { TAKEN = 2 };
	struct unc_value v[EVENTS];
	unsigned taken = COUNTERS;
	char name[16];

	change_ns = 0;
	start(s);
	step(p, 10 * ms);
	rotate(s);
	step(p, 10 * ms);
	for (unsigned i = 0; i < COUNTERS; i++)
		if (control(p, i) == 0x400001) /* ACT_COUNT, which goes on */
			taken = i;
	CU_ASSERT_FATAL(taken < COUNTERS);
	snprintf(name, sizeof(name), "CTL%u", taken);
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, name), 0);
	rotate(s);
	step(p, 10 * ms);
	rotate(s);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_read(s, v, EVENTS, sizeof(*v)), 0);
	for (size_t i = 0; i < EVENTS; i++) {
		CHECK_NUMBER((v[i].flags & UNC_VALUE_LOST) != 0, i == TAKEN);
		CHECK_NUMBER((v[i].flags & UNC_VALUE_VALID) != 0, i != TAKEN);
		if (i != TAKEN)
			CHECK_NEAR(v[i].value, sets[0].event[i].rate * 40e-3, 1e-4);
	}
	CHECK_NUMBER(held_registers(p), 0);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

/* What goes on is lost, and taken up again when it is free: it is told for how long it was measured
 * since, and goes on again. */
static void test_back(void)
{
	struct unc_platform *p = machine(sets[0].sim);
	struct unc_session *s = passes_of(p, &sets[0]);
	struct snapshot before = snapshot(p);
	struct unc_value v[EVENTS];

	change_ns = 0;
	start(s);
	step(p, 10 * ms);
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, "FIXED_CTL"), 0);
	rotate(s);
	CU_ASSERT(value_of(s, FIXED).flags & UNC_VALUE_LOST);
	step(p, 2000 * ms);
	for (int turn = 0; turn < 4; turn++) {
		rotate(s);
		step(p, 500 * ms);
	}
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_read(s, v, EVENTS, sizeof(*v)), 0);
	for (size_t i = 0; i < EVENTS; i++) {
		CU_ASSERT(v[i].flags & UNC_VALUE_VALID && v[i].flags & UNC_VALUE_ESTIMATED);
		CHECK_NEAR(v[i].value, sets[0].event[i].rate * 4.01, 1e-4);
	}
	CHECK_NEAR(v[FIXED].share, 2 / 4.01, 1e-4);
	CHECK_RESTORED(p, before);
	CHECK_NUMBER(held_registers(p), 0);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

/* ---- whatever comes together */

static uint64_t seed;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(seed >> 33) % n;
}

enum { DRAWN = 12, ROUNDS = 10 };

/* Any event of a type with any of its umasks, and what it counts in a second when it is alone;
 * false: it wants more, or nothing was found. */
static bool draw_event(struct unc_platform *p, const char *type, char *text, size_t size,
		       double *rate)
{
	size_t event = draw((unsigned)p->table->n_event), umasks = 0;
	const struct unc_event *e = unc_event_get(p, event);
	struct unc_session *s;
	struct unc_value v;
	int id;

	while (e && unc_umask_get(p, event, umasks))
		umasks++;
	if (!e || strcmp(e->type, type) != 0)
		return false;
	snprintf(text, size, "%s%s%s:socket=0", e->spec, umasks ? ":" : "",
		 umasks ? unc_umask_get(p, event, draw((unsigned)umasks))->name : "");
	s = session(p, 0);
	bool counts = unc_session_add(s, text, &id) == 0 && unc_session_start(s) == 0;

	if (counts) {
		step(p, 1000 * ms);
		v = value_of(s, id);
		counts = (v.flags & UNC_VALUE_VALID) != 0;
		*rate = v.value;
	}
	unc_session_free(s);
	return counts;
}

/* Rounds of any events beside nobody, or beside another session, which may come and go: what has a
 * value has the right one, alone all have, and nothing is left behind. */
static void rounds(struct unc_platform *p, bool beside)
{
	struct unc_session *s = session(p, UNC_SESSION_ROTATE), *other = session(p, 0);
	struct snapshot before = snapshot(p);
	struct unc_value v[DRAWN];
	double rate[DRAWN], all = 0, none;
	char text[UNC_SPEC_MAX];
	const char *type = unc_event_get(p, draw((unsigned)p->table->n_event))->type;
	size_t n = 0;
	int id, rc = 0;

	for (int tries = 0; n < DRAWN && tries < 2000; tries++)
		n += draw_event(p, type, text, sizeof(text), &rate[n]) &&
		     unc_session_add(s, text, &id) == 0;
	for (int tries = 0; beside && tries < 100; tries++)
		if (draw_event(p, type, text, sizeof(text), &none) &&
		    unc_session_add(other, text, &id) == 0)
			break;
	change_ns = draw(2) * ms;
	if (beside && draw(2))
		(void)unc_session_start(other);
	rc = unc_session_start(s);
	for (int turn = 0; turn < 3 * unc_session_passes(s) && rc == 0; turn++) {
		step(p, 10 * ms);
		all += 10e-3;
		if (beside && draw(3) == 0 && unc_session_start(other) < 0)
			(void)unc_session_stop(other);
		rc = unc_session_rotate(s);
		all += unc_session_passes(s) > 1 ? (double)change_ns * 1e-9 : 0;
	}
	if (rc < 0 && !beside)
		printf("# %s\n", unc_session_error(s));
	CU_ASSERT(rc == 0 || beside);
	if (rc == 0 && unc_session_stop(s) == 0 && unc_session_read(s, v, n, sizeof(*v)) == 0)
		for (size_t i = 0; i < n; i++) {
			double most =
				rate[i] * all * 1e-3 + 200 / (v[i].share > 0 ? v[i].share : 1);

			CU_ASSERT((v[i].flags & UNC_VALUE_VALID) || beside);
			if (!(v[i].flags & UNC_VALUE_VALID) ||
			    fabs(v[i].value - rate[i] * all) <= most)
				continue;
			printf("# item %zu: %.1f for %.1f, share %.3f\n", i, v[i].value,
			       rate[i] * all, v[i].share);
			CU_FAIL("a wrong value");
		}
	unc_session_free(s);
	unc_session_free(other);
	CHECK_RESTORED(p, before);
	CHECK_NUMBER(held_registers(p), 0);
	check_quiet(p);
}

static void test_any(void)
{
	static const char *const sims[] = {"nehalem-ep,clock=step", "sandybridge-ep,clock=step",
					   "ivybridge-ep,clock=step", "icelake-sp,clock=step"};

	for (size_t k = 0; k < sizeof(sims) / sizeof(sims[0]); k++) {
		struct unc_platform *p = machine(sims[k]);

		for (int i = 0; i < ROUNDS; i++) {
			seed = k * 1000 + (unsigned)i;
			rounds(p, i % 2);
		}
		unc_platform_close(p);
	}
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"all counters in each pass, and what goes on has all of the time", test_shares},
		{"only what changes is written", test_writes},
		{"sessions with the same passes share what goes on", test_shared},
		{"counters that are left, beside another session", test_spare},
		{"somebody takes what goes on", test_taken},
		{"what goes on is lost, and taken up again", test_back},
		{"any events, alone and beside others", test_any},
		{NULL, NULL},
	};

	return suite_run("passes", tests);
}
