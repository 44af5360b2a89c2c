/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a change of the pass does: the sets of a unit on which all events fit at once count in every
 * pass, and are left alone; those of other units end, and the sets of the next pass begin. The passes
 * are changed by hand, and each change takes its time of the machine's clock. Rates:
 * eventtables/CPU/workload.tbl.
 */
#include <math.h>

#include "session_kit.h"

/* Six events on the four counters of a channel, and its fixed clock: two passes, 0 and 1. An event of
 * the next channel, which counts in both. */
static const struct set {
	const char *sim, *unit_ctl;
	struct {
		const char *text;
		double rate;
	} event[8];
} sets[] = {
	{"sandybridge-ep,clock=step",
	 "BOX_CTL",
	 {{"imc0.CAS_COUNT:RD:socket=0", (2.7e8 + 0.002e8) / 4},
	  {"imc0.CAS_COUNT:WR:socket=0", 1.142e8 / 4},
	  {"imc0.ACT_COUNT:socket=0", 0.35 * 0.961e8},
	  {"imc0.PRE_COUNT:PAGE_MISS:socket=0", 0.22 * 0.961e8},
	  {"imc0.CAS_COUNT:ALL:socket=0", (2.702e8 + 1.142e8) / 4},
	  {"imc0.PRE_COUNT:PAGE_CLOSE:socket=0", 0.13 * 0.961e8},
	  {"imc0.DCLK:socket=0", 0.8e9},
	  {"imc1.CAS_COUNT:RD:socket=0", (2.7e8 + 0.002e8) / 4}}},
	{"icelake-sp,clock=step",
	 "UNIT_CTL",
	 {{"imc0.CAS_COUNT:RD:socket=0", 117187500},
	  {"imc0.CAS_COUNT:WR:socket=0", 39062500},
	  {"imc0.ACT_COUNT:ALL:socket=0", 62500000},
	  {"imc0.CLOCKTICKS:socket=0", 2e9},
	  {"imc0.CAS_COUNT:ALL:socket=0", 156250000},
	  {"imc0.CLOCKTICKS:thresh=1:socket=0", 2e9},
	  {"imc0.HCLOCKTICKS:socket=0", 2e9},
	  {"imc1.CAS_COUNT:RD:socket=0", 117187500}}},
};
enum {
	SETS = sizeof(sets) / sizeof(sets[0]),
	EVENTS = 8,
	COUNTERS = 4,
	SECOND = 4, /* the first event of the second pass, */
	FIXED = 6,  /* of the first one again, */
	ALWAYS = 7, /* of both */
	IN_SECOND = FIXED - SECOND,
};

static bool is_second(size_t event)
{
	return event >= SECOND && event < FIXED;
}

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

/* Between the end of a pass and the beginning of the next. */
int unc_node_reclaim(struct unc_platform *p, const struct unc_run *run, bool all,
		     struct unc_error *err)
{
	if (run->counting)
		step_alone(p, change_ns);
	return REAL(unc_node_reclaim)(p, run, all, err);
}

/* How often a register of a channel was written; NULL: any of its registers. */
static unsigned writes_of(struct unc_platform *p, unsigned channel, const char *name)
{
	const struct unc_table *t = p->table;
	unsigned n = 0;

	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];
		const struct unc_range *regs = &t->type[u->type].regs;
		struct unc_reg place;

		if (u->index != channel || u->socket ||
		    strcmp(unc_tbl_str(t, t->type[u->type].name), "imc"))
			continue;
		for (uint32_t k = regs->first; k < regs->first + regs->n; k++)
			if ((!name || strcmp(unc_tbl_str(t, t->reg[k].name), name) == 0) &&
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
	int rc = turn_pass(s);

	if (rc < 0)
		printf("# rotate: %s\n", unc_session_error(s));
	CU_ASSERT_FATAL(rc == 0);
}

static void *control(struct unc_platform *p, unsigned channel, unsigned i)
{
	char name[16];

	snprintf(name, sizeof(name), "CTL%u", i);
	return reg_of(p, "imc", channel, 0, name);
}

static uint64_t control_of(struct unc_platform *p, unsigned channel, unsigned i)
{
	return unc_sim_read(unc_machine_sim(p->machine), control(p, channel, i));
}

/* Counters of a channel that are in use. */
static unsigned in_use(struct unc_platform *p, unsigned channel)
{
	unsigned n = 0;

	for (unsigned i = 0; i < COUNTERS; i++)
		n += control_of(p, channel, i) != 0;
	return n;
}

static bool fixed_counts(struct unc_platform *p)
{
	return unc_sim_read(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, "FIXED_CTL")) != 0;
}

/* Somebody clears the control of a channel that holds a value. Which it is. */
static unsigned clear_control(struct unc_platform *p, unsigned channel, uint64_t value)
{
	for (unsigned i = 0; i < COUNTERS; i++)
		if (control_of(p, channel, i) == value) {
			unc_sim_write(unc_machine_sim(p->machine), control(p, channel, i), 0);
			return i;
		}
	CU_FAIL("no such control");
	return COUNTERS;
}

/* A pass has the counters of its own events. What fits at once goes on through every change, and loses
 * nothing; all else counts in its turns, but for what changes take. */
static void test_shares(void)
{
	for (size_t k = 0; k < SETS; k++) {
		struct unc_platform *p = machine(sets[k].sim);
		struct unc_session *s = passes_of(p, &sets[k]);
		struct snapshot before = snapshot(p);
		struct unc_value v[EVENTS];

		change_ns = 1 * ms;
		start(s);
		for (int turn = 0; turn < 10; turn++) {
			step(p, 9 * ms);
			CHECK_NUMBER(in_use(p, 0), turn % 2 ? IN_SECOND : COUNTERS);
			rotate(s);
		}
		CHECK_NUMBER(unc_session_stop(s), 0);
		CHECK_NUMBER(unc_session_read(s, v, EVENTS, sizeof(*v)), 0);
		for (size_t i = 0; i < EVENTS; i++) {
			CU_ASSERT(v[i].flags & UNC_VALUE_VALID);
			CHECK_NEAR(v[i].value, sets[k].event[i].rate * 100e-3, 1e-4);
			CHECK_NUMBER((v[i].flags & UNC_VALUE_ESTIMATED) != 0, i != ALWAYS);
			/* Five turns of 9 ms each. */
			CHECK_NEAR(v[i].share, i == ALWAYS ? 1 : 0.45, 1e-9);
		}
		CHECK_COUNT(v[ALWAYS].count, sets[k].event[ALWAYS].rate * 100e-3, 1);
		CHECK_RESTORED(p, before);
		CHECK_NUMBER(held_registers(p), 0);
		check_quiet(p);
		unc_session_free(s);
		unc_platform_close(p);
	}
}

/* At a change each control of the pass is restored, and each of the next is written, with its counter.
 * What goes on is left alone: what counts in every pass, and the fixed counter and the unit, if the clock of
 * the type is there. Else the unit is let go once more. */
static void test_writes(void)
{
	for (size_t k = 0; k < SETS; k++) {
		struct unc_platform *p = machine(sets[k].sim);
		struct unc_session *s = passes_of(p, &sets[k]);

		change_ns = 0;
		start(s);
		for (int turn = 0; turn < 4; turn++) {
			bool was[COUNTERS], fixed = fixed_counts(p), goes_on;
			unsigned known = 0;

			step(p, 10 * ms);
			CHECK_NUMBER(in_use(p, 0), turn % 2 ? IN_SECOND : COUNTERS);
			for (unsigned i = 0; i < COUNTERS; i++)
				was[i] = control_of(p, 0, i) != 0;
			written.n = 0;
			rotate(s);
			for (unsigned i = 0; i < COUNTERS; i++) {
				bool is = control_of(p, 0, i) != 0;
				char ctl[16], ctr[16];

				snprintf(ctl, sizeof(ctl), "CTL%u", i);
				snprintf(ctr, sizeof(ctr), "CTR%u", i);
				CHECK_NUMBER(writes_of(p, 0, ctl), was[i] + is);
				CHECK_NUMBER(writes_of(p, 0, ctr), is);
				known += was[i] + 2 * is;
			}
			goes_on = fixed && fixed_counts(p);
			CHECK_NUMBER(writes_of(p, 0, sets[k].unit_ctl), !goes_on);
			CHECK_NUMBER(writes_of(p, 0, "FIXED_CTL"), fixed != fixed_counts(p));
			CHECK_NUMBER(writes_of(p, 0, "FIXED_CTR"), !fixed && fixed_counts(p));
			known +=
				!goes_on + (fixed != fixed_counts(p)) + (!fixed && fixed_counts(p));
			CHECK_NUMBER(writes_of(p, 1, NULL), 0);
			CHECK_NUMBER(written.n, known);
		}
		check_quiet(p);
		unc_session_free(s);
		unc_platform_close(p);
	}
}

/* A 0 of a pass is one, for a clock of the type counts in each of them: also where an event of the other
 * pass is that clock. */
static void test_zeros(void)
{
	for (int own = 0; own < 2; own++) {
		struct unc_platform *p = machine(sets[0].sim);
		struct unc_session *s = session(p, UNC_SESSION_ROTATE);
		struct unc_value v[EVENTS];

		change_ns = 0;
		for (size_t i = 0; i < SECOND; i++)
			add(s, sets[0].event[i].text);
		int zero = add(s, "imc0.DRAM_REFRESH:PANIC:socket=0");
		int always = add(s, sets[0].event[ALWAYS].text);
		if (own)
			add(s, sets[0].event[FIXED].text);
		CHECK_NUMBER(unc_session_passes(s), 2);
		start(s);
		for (int turn = 0; turn < 3; turn++) {
			step(p, 10 * ms);
			rotate(s);
		}
		step(p, 10 * ms);
		CHECK_NUMBER(unc_session_stop(s), 0);
		CHECK_NUMBER(unc_session_read(s, v, EVENTS, sizeof(*v)), 0);
		CHECK_NUMBER(v[zero].flags & (UNC_VALUE_VALID | UNC_VALUE_UNPROVEN),
			     UNC_VALUE_VALID);
		CHECK_NUMBER(v[zero].count, 0);
		CHECK_TEXT(unc_session_reason(s, zero), "");
		CHECK_NEAR(v[always].value, sets[0].event[ALWAYS].rate * 40e-3, 1e-4);
		unc_session_free(s);
		check_quiet(p);
		unc_platform_close(p);
	}
}

/* Two sessions with the same passes change them together: each has what was counted since it began, and
 * the other goes on when one has stopped. */
static void test_shared(void)
{
	struct unc_platform *p = machine(sets[0].sim);
	struct unc_session *s[2] = {passes_of(p, &sets[0]), passes_of(p, &sets[0])};
	struct snapshot before = snapshot(p);
	struct unc_value v[EVENTS];
	static const double seconds[] = {60e-3, 60e-3};

	change_ns = 0;
	start(s[0]);
	for (int turn = 0; turn < 2; turn++) {
		step(p, 10 * ms);
		rotate(s[0]);
	}
	start(s[1]);
	CU_ASSERT_PTR_EQUAL(s[1]->run, s[0]->run);
	for (int turn = 0; turn < 4; turn++) {
		step(p, 10 * ms);
		CHECK_NUMBER(in_use(p, 0), turn % 2 ? IN_SECOND : COUNTERS);
		rotate(s[turn % 2]);
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
			CHECK_NEAR(v[i].value, sets[0].event[i].rate * seconds[k], 1e-4);
			CHECK_NEAR(v[i].share, i == ALWAYS ? 1 : 0.5, 1e-9);
		}
	}
	CHECK_RESTORED(p, before);
	CHECK_NUMBER(held_registers(p), 0);
	for (int k = 0; k < 2; k++)
		unc_session_free(s[k]);
	check_quiet(p);
	unc_platform_close(p);
}

/* Another session counts one of the events: a pass counts it with that session, which goes on through
 * every change. */
static void test_beside(void)
{
	enum { FEW = 5, TURNS = 10 };
	struct unc_platform *p = machine(sets[0].sim);
	struct unc_session *one = session(p, 0), *s = session(p, UNC_SESSION_ROTATE);
	struct unc_value v[FEW];

	change_ns = 0;
	add(one, sets[0].event[0].text);
	for (int i = 0; i < FEW; i++)
		add(s, sets[0].event[i].text);
	CHECK_NUMBER(unc_session_passes(s), 2);
	start(one);
	start(s);
	for (int turn = 0; turn < TURNS; turn++) {
		/* The second pass has one event, and that of the other session is there as well. */
		CHECK_NUMBER(in_use(p, 0), turn % 2 ? 2 : COUNTERS);
		step(p, 10 * ms);
		rotate(s);
	}
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_read(s, v, FEW, sizeof(*v)), 0);
	for (int i = 0; i < FEW; i++) {
		CU_ASSERT(v[i].flags & UNC_VALUE_VALID);
		CHECK_NEAR(v[i].value, sets[0].event[i].rate * TURNS * 10e-3, 1e-4);
		CHECK_NEAR(v[i].share, 0.5, 1e-9);
	}
	CHECK_COUNT(count_of(one, 0), sets[0].event[0].rate * TURNS * 10e-3, 1);
	unc_session_free(s);
	unc_session_free(one);
	check_quiet(p);
	unc_platform_close(p);
}

/* Somebody takes a counter of a pass: the change of the pass finds it, and all that the pass counts on
 * that unit is lost. The other pass goes on, and so do other units. */
static void test_taken(void)
{
	struct unc_platform *p = machine(sets[0].sim);
	struct unc_session *s = passes_of(p, &sets[0]);
	struct unc_value v[EVENTS];
	char why[160];

	change_ns = 0;
	start(s);
	step(p, 10 * ms);
	snprintf(why, sizeof(why),
		 "imc0.ACT_COUNT:socket=0: somebody else has cleared CTL%u of imc0 (socket 0) "
		 "while it "
		 "was counting",
		 clear_control(p, 0, 0x400001)); /* ACT_COUNT */
	for (int turn = 0; turn < 3; turn++) {
		rotate(s);
		step(p, 10 * ms);
	}
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_read(s, v, EVENTS, sizeof(*v)), 0);
	for (size_t i = 0; i < EVENTS; i++) {
		bool lost = i != ALWAYS && !is_second(i);

		CHECK_NUMBER((v[i].flags & UNC_VALUE_LOST) != 0, lost);
		CHECK_NUMBER((v[i].flags & UNC_VALUE_VALID) != 0, !lost);
		CHECK_TEXT(unc_session_reason(s, (int)i), lost ? why : "");
		if (!lost)
			CHECK_NEAR(v[i].value, sets[0].event[i].rate * 40e-3, 1e-4);
	}
	CHECK_NUMBER(held_registers(p), 0);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

/* What was lost is tried again: what counts always a second later, what is of a pass when that begins.
 * What was counted before it was found is not in it, and values tell for how long it was measured. */
static void test_back(void)
{
	struct unc_platform *p = machine(sets[0].sim);
	struct unc_session *s = passes_of(p, &sets[0]);
	struct snapshot before = snapshot(p);
	struct unc_value v[EVENTS];

	change_ns = 0;
	start(s);
	step(p, 10 * ms);
	clear_control(p, 0, 0x400001); /* ACT_COUNT */
	clear_control(p, 1, 0x400304); /* CAS_COUNT:RD */
	rotate(s);
	CHECK_NUMBER(unc_session_read(s, v, EVENTS, sizeof(*v)), 0);
	for (size_t i = 0; i < EVENTS; i++)
		CHECK_NUMBER((v[i].flags & UNC_VALUE_LOST) != 0, !is_second(i));
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
		CHECK_NEAR(v[i].share, (is_second(i) ? 3 : i == ALWAYS ? 2 : 1) / 4.01, 1e-4);
	}
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
 * value has the right one, of the units that are left (all count the same), alone all have one of all
 * units, and nothing is left behind. */
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
		rc = turn_pass(s);
		all += unc_session_passes(s) > 1 ? (double)change_ns * 1e-9 : 0;
	}
	if (rc < 0 && !beside)
		printf("# %s\n", unc_session_error(s));
	CU_ASSERT(rc == 0 || beside);
	if (rc == 0 && unc_session_stop(s) == 0 && unc_session_read(s, v, n, sizeof(*v)) == 0)
		for (size_t i = 0; i < n; i++) {
			double whole = rate[i] * all, expected = whole * v[i].units / v[i].of;
			double most = whole * 1e-3 + 200 / (v[i].share > 0 ? v[i].share : 1);

			CU_ASSERT((v[i].flags & UNC_VALUE_VALID) || beside);
			CU_ASSERT(!(v[i].flags & UNC_VALUE_PARTIAL) || beside);
			if (!(v[i].flags & UNC_VALUE_VALID) || fabs(v[i].value - expected) <= most)
				continue;
			printf("# item %zu: %.1f for %.1f, share %.3f\n", i, v[i].value, expected,
			       v[i].share);
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
		{"what fits at once has all of the time, all else its turns", test_shares},
		{"only what changes is written", test_writes},
		{"a 0 of a pass", test_zeros},
		{"sessions with the same passes share them", test_shared},
		{"beside another session, which goes on", test_beside},
		{"somebody takes a counter of a pass", test_taken},
		{"what is lost is tried again", test_back},
		{"any events, alone and beside others", test_any},
		{NULL, NULL},
	};

	return suite_run("passes", tests);
}
