/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sampling on the simulated machines: intervals that a counter ends. What has to come out follows
 * from the rates of workload.tbl by hand: an event of R per second and unit carries N counts after
 * N / R seconds.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "platform/platform.h"
#include "session/session.h"
#include "sim/sim.h"
#include "suite.h"

static struct unc_platform *machine(const char *sim)
{
	struct unc_options o = {.size = sizeof(o), .sim = sim};
	struct unc_platform *p = NULL;

	CU_ASSERT_EQUAL_FATAL(unc_platform_open(&o, &p), 0);
	return p;
}

static struct unc_session *session(struct unc_platform *p, const char *event, const char *beside,
				   unsigned flags)
{
	struct unc_session *s = NULL;
	int id;

	CU_ASSERT_EQUAL_FATAL(unc_session_new(p, flags, &s), 0);
	CU_ASSERT_EQUAL_FATAL(unc_session_add(s, event, &id), 0);
	if (beside)
		CU_ASSERT_EQUAL_FATAL(unc_session_add(s, beside, &id), 0);
	return s;
}

static void quiet(struct unc_platform *p)
{
	char last[160];

	if (unc_sim_violations(unc_machine_sim(p->machine), last, sizeof(last))) {
		printf("# %s\n", last);
		CU_FAIL("the machine was used against its rules");
	}
}

/* Steps until a counter has carried. Returns the steps, or 0 after `most`. */
static unsigned steps_until(struct unc_platform *p, struct unc_session *s, uint64_t ns,
			    unsigned most, struct unc_overflow *o, struct unc_value *values,
			    size_t n)
{
	for (unsigned i = 1; i <= most; i++) {
		unc_sim_step(unc_machine_sim(p->machine), ns);
		*o = (struct unc_overflow){.size = sizeof(*o)};
		int rc = unc_session_poll(s, o, values, n, sizeof(*values));
		if (rc < 0)
			printf("# %s\n", unc_session_error(s));
		CU_ASSERT_EQUAL_FATAL(rc, 0);
		if (o->id >= 0)
			return i;
	}
	return 0;
}

/*
 * A clock of f Hz, in intervals of `every`: ends every / f seconds after the begin. With a freeze
 * the count is exact up to the clock in which it froze; without, up to the look.
 */
static void intervals(const char *sim, const char *event, double hz, unsigned flags, bool freezes)
{
	struct unc_platform *p = machine(sim);
	struct unc_session *s = session(p, event, NULL, flags);
	struct unc_overflow o;
	struct unc_value v;
	const uint64_t every = 1000000, step = 100000;

	CU_ASSERT_EQUAL_FATAL(unc_session_sample(s, 0, every), 0);
	CU_ASSERT_EQUAL_FATAL(unc_session_start(s), 0);
	for (unsigned round = 0; round < 5; round++) {
		unsigned due = (unsigned)ceil((double)every / hz * 1e9 / (double)step);
		unsigned steps = steps_until(p, s, step, 100, &o, &v, 1);

		CHECK_NUMBER(steps, due);
		CHECK_NUMBER(o.frozen, freezes);
		CU_ASSERT(o.count >= every);
		CU_ASSERT(o.count <= every + (freezes ? 2 : (uint64_t)(hz * step * 1e-9) + 1));
		CU_ASSERT(v.delta >= o.count);
	}
	CU_ASSERT_EQUAL(unc_session_stop(s), 0);
	quiet(p);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Both ways: a freeze only on demand. */
static void clock_intervals(const char *sim, const char *event, double hz, bool freezes)
{
	intervals(sim, event, hz, UNC_SESSION_FREEZE, freezes);
	intervals(sim, event, hz, 0, false);
}

static void emerald_rapids(void)
{
	clock_intervals("emerald-rapids,clock=step", "cha.CLOCKTICKS", 2.2e9, true);
}

static void ivybridge(void)
{
	clock_intervals("ivybridge-ep,clock=step", "ha.CLOCKTICKS", 2.7e9, true);
	clock_intervals("ivybridge-ep,clock=step", "ubox.CLOCKTICKS", 2.7e9, true);
	clock_intervals("ivybridge-ep,clock=step", "imc.DCLK", 0.9333e9, true);
	clock_intervals("ivybridge-ep,clock=step", "imc5.DCLK", 0.9333e9, true);
	clock_intervals("ivybridge-ep,clock=step", "qpi1.CLOCKTICKS", 1.0e9, true);
	clock_intervals("ivybridge-ep,clock=step", "r2pcie.CLOCKTICKS", 2.7e9, true);
}

/* The status of the socket only, and nothing freezes: its control must not have bit 20. */
static void ivybridge_cbo(void)
{
	clock_intervals("ivybridge-ep,clock=step", "cbo.CLOCKTICKS", 2.7e9, false);
}

static void nehalem(void)
{
	clock_intervals("nehalem-ep,clock=step", "unc.CLK_UNHALTED", 2.66e9, false);
}

/* What counts beside is frozen at the same moment: both are clocks, so both have the same count. */
static void beside(void)
{
	struct unc_platform *p = machine("emerald-rapids,sockets=1,clock=step");
	struct unc_session *s =
		session(p, "cha0.CLOCKTICKS", "cha5.CLOCKTICKS", UNC_SESSION_FREEZE);
	struct unc_overflow o;
	struct unc_value v[2];

	CU_ASSERT_EQUAL_FATAL(unc_session_sample(s, 0, 5000000), 0);
	CU_ASSERT_EQUAL_FATAL(unc_session_start(s), 0);
	for (unsigned round = 0; round < 3; round++) {
		CU_ASSERT(steps_until(p, s, 3700000, 100, &o, v, 2) > 0);
		CU_ASSERT(v[0].delta >= 5000000 && v[0].delta <= 5000002);
		CU_ASSERT(v[1].delta + 2 >= v[0].delta && v[1].delta <= v[0].delta + 2);
		CHECK_TEXT(o.unit, "cha");
		CHECK_NUMBER(o.index, 0);
		CHECK_TEXT(o.counter, "CTR3");
	}
	quiet(p);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Another session counts on the socket: it is not frozen, and loses nothing. */
static void beside_another(const char *event, const char *beside)
{
	struct unc_platform *p = machine("emerald-rapids,sockets=1,clock=step");
	struct unc_session *other = session(p, event, NULL, 0);
	struct unc_session *s = session(p, "cha0.CLOCKTICKS", beside, UNC_SESSION_FREEZE);
	struct unc_overflow o;
	struct unc_value v;

	CU_ASSERT_EQUAL_FATAL(unc_session_start(other), 0);
	CU_ASSERT_EQUAL_FATAL(unc_session_sample(s, 0, 1000000), 0);
	CU_ASSERT_EQUAL_FATAL(unc_session_start(s), 0);
	CU_ASSERT(steps_until(p, s, 1000000, 10, &o, &v, 1) > 0);
	CHECK_NUMBER(o.frozen, 0);
	CU_ASSERT_EQUAL(unc_session_stop(s), 0);
	CU_ASSERT_EQUAL(unc_session_read(other, &v, 1, sizeof(v)), 0);
	CU_ASSERT_DOUBLE_EQUAL(v.count, v.seconds * 2.2e9, 10); /* all units run at 2.2 GHz */
	CU_ASSERT_EQUAL(unc_session_stop(other), 0);

	/* The other way round: who freezes the socket is alone on it. */
	CU_ASSERT_EQUAL_FATAL(unc_session_start(s), 0);
	CU_ASSERT_EQUAL(unc_session_start(other), UNC_ERR_BUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(other), "samples on socket 0"));
	CU_ASSERT_EQUAL(unc_session_stop(s), 0);
	CU_ASSERT_EQUAL(unc_session_start(other), 0);
	quiet(p);
	unc_session_free(s);
	unc_session_free(other);
	unc_platform_close(p);
}

/* On a unit where we do not count, on the one that is sampled, and on another of ours. */
static void with_neighbour(void)
{
	beside_another("m2m.CLOCKTICKS", NULL);
	beside_another("cha0.CLOCKTICKS", NULL);
	beside_another("cha5.CLOCKTICKS", "cha5.CLOCKTICKS");
}

/* The counter starts at 2^48 - N (Intel 817509-001, setting up a sample interval, step d), after
 * each interval too, and its control has the bit that freezes (20, frz_ovf) only on demand. */
static void preloads(void)
{
	struct unc_platform *p = machine("emerald-rapids,sockets=1,clock=step");
	struct unc_reg ctr = {.address = 0x200B, .space = UNC_SPACE_MSR, .width = 64},
		       ctl = {.address = 0x2005, .space = UNC_SPACE_MSR, .width = 64};
	struct unc_overflow o;
	struct unc_value v;

	for (unsigned flags = 0; flags <= UNC_SESSION_FREEZE; flags += UNC_SESSION_FREEZE) {
		struct unc_session *s = session(p, "cha0.CLOCKTICKS", NULL, flags);

		CU_ASSERT_EQUAL_FATAL(unc_session_sample(s, 0, 1000000), 0);
		CU_ASSERT_EQUAL_FATAL(unc_session_start(s), 0);
		CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine),
					  unc_sim_find(unc_machine_sim(p->machine), &ctr)),
			     0xFFFFFFF0BDC0);
		CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine),
					  unc_sim_find(unc_machine_sim(p->machine), &ctl)) >>
					     20 &
				     1,
			     flags != 0);
		CU_ASSERT(steps_until(p, s, 1000000, 10, &o, &v, 1) > 0);
		CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine),
					  unc_sim_find(unc_machine_sim(p->machine), &ctr)),
			     0xFFFFFFF0BDC0);
		CU_ASSERT_EQUAL(unc_session_stop(s), 0);
		CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine),
					  unc_sim_find(unc_machine_sim(p->machine), &ctl)),
			     0);
		unc_session_free(s);
	}
	quiet(p);
	unc_platform_close(p);
}

/* The writes of a plan to a register; *value: what the last one writes. */
struct writes {
	uint64_t address, value;
	unsigned n;
};

static int note_write(void *user, const struct unc_operation *op)
{
	struct writes *w = user;

	if (!op->write || op->address != w->address)
		return 0;
	w->value = op->value;
	w->n++;
	return 0;
}

static void check_write(struct unc_session *s, enum unc_phase phase, uint64_t address, unsigned n,
			uint64_t value)
{
	struct writes w = {.address = address};

	CHECK_NUMBER(unc_session_plan(s, phase, note_write, &w), 0);
	CHECK_NUMBER(w.n, n);
	CHECK_NUMBER(w.value, value);
}

/* What a start writes is in its plan: 2^48 - N in counter 3 of CHA 0 (MSR 0x200B, as above), its bit of the
 * unit's status (0x2001), and with a freeze the socket's control (0x2FF0), which lets it go on; the places
 * are those of eventtables/emerald-rapids/units.tbl. */
static void plans(void)
{
	struct unc_platform *p = machine("emerald-rapids,sockets=1,clock=step");

	for (unsigned flags = 0; flags <= UNC_SESSION_FREEZE; flags += UNC_SESSION_FREEZE) {
		struct unc_session *s = session(p, "cha0.CLOCKTICKS", NULL, flags);

		check_write(s, UNC_PHASE_START, 0x200B, 1, 1ull << 47); /* not sampled */
		check_write(s, UNC_PHASE_START, 0x2001, 0, 0);
		CU_ASSERT_EQUAL_FATAL(unc_session_sample(s, 0, 1000000), 0);
		check_write(s, UNC_PHASE_START, 0x200B, 2, 0xFFFFFFF0BDC0);
		check_write(s, UNC_PHASE_START, 0x2001, 1, 8);
		check_write(s, UNC_PHASE_STOP, 0x2001, 1, 8);
		check_write(s, UNC_PHASE_START, 0x2FF0, flags != 0, 0);
		check_write(s, UNC_PHASE_STOP, 0x2FF0, flags != 0, 0);
		unc_session_free(s);
	}
	quiet(p);
	unc_platform_close(p);
}

/* Only a counter that is told to freezes its socket when it carries (bit 20, frz_ovf): not one beside it. Clocks
 * of 2.2 GHz in counters 0 and 1 of CHA 0. */
static void unarmed(void)
{
	static const struct {
		uint64_t address, value;
	} writes[] = {{0x2002, 0x100001}, {0x2003, 1}, {0x2008, 0}, {0x2009, 0xFFFFFFFFFF00}};
	struct unc_platform *p = machine("emerald-rapids,sockets=1,clock=step");
	struct unc_sim *sim = unc_machine_sim(p->machine);
	struct unc_reg reg = {.space = UNC_SPACE_MSR, .width = 64};

	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		reg.address = writes[i].address;
		unc_sim_write(sim, unc_sim_find(sim, &reg), writes[i].value);
	}
	unc_sim_step(sim, 1000000);
	reg.address = 0x2009;
	CHECK_NUMBER(unc_sim_read(sim, unc_sim_find(sim, &reg)), 2200000 - 0x100);
	reg.address = 0x2008;
	CHECK_NUMBER(unc_sim_read(sim, unc_sim_find(sim, &reg)), 2200000);
	quiet(p);
	unc_platform_close(p);
}

/* Stopped while the socket is frozen: it goes on, for whoever comes next. */
static void stopped_frozen(void)
{
	static const char *const sims[] = {"emerald-rapids,sockets=1,clock=step",
					   "ivybridge-ep,sockets=1,clock=step"};
	static const char *const events[] = {"cha0.CLOCKTICKS", "ha0.CLOCKTICKS"};
	static const double hz[] = {2.2e9, 2.7e9};

	for (unsigned i = 0; i < 2; i++) {
		struct unc_platform *p = machine(sims[i]);
		struct unc_session *s = session(p, events[i], NULL, UNC_SESSION_FREEZE),
				   *next = session(p, events[i], NULL, 0);
		struct unc_value v;

		CU_ASSERT_EQUAL_FATAL(unc_session_sample(s, 0, 1000), 0);
		CU_ASSERT_EQUAL_FATAL(unc_session_start(s), 0);
		unc_sim_step(unc_machine_sim(p->machine),
			     1000000); /* has carried, nobody has looked */
		CU_ASSERT_EQUAL(unc_session_stop(s), 0);
		CU_ASSERT_EQUAL_FATAL(unc_session_start(next), 0);
		unc_sim_step(unc_machine_sim(p->machine), 1000000);
		CU_ASSERT_EQUAL(unc_session_read(next, &v, 1, sizeof(v)), 0);
		CU_ASSERT_DOUBLE_EQUAL(v.count, hz[i] * 1e-3, 2);
		unc_session_free(s);
		unc_session_free(next);
		quiet(p);
		unc_platform_close(p);
	}
}

/* A counter that has carried before the start ends no interval: at 2.2 GHz one that begins at 2^47 carries
 * after 63970 s. */
static void carried_before(void)
{
	struct unc_platform *p = machine("emerald-rapids,sockets=1,clock=step");
	struct unc_session *before = session(p, "cha0.CLOCKTICKS", NULL, 0),
			   *s = session(p, "cha0.CLOCKTICKS", NULL, 0);
	struct unc_overflow o = {.size = sizeof(o)};
	struct unc_value v;

	CU_ASSERT_EQUAL_FATAL(unc_session_start(before), 0);
	unc_sim_step(unc_machine_sim(p->machine), 63971000000000);
	CU_ASSERT_EQUAL(unc_session_stop(before), 0);
	CU_ASSERT_EQUAL_FATAL(unc_session_sample(s, 0, 1000000), 0);
	CU_ASSERT_EQUAL_FATAL(unc_session_start(s), 0);
	CU_ASSERT_EQUAL(unc_session_poll(s, &o, &v, 1, sizeof(v)), 0);
	CHECK_NUMBER(o.id, -1);
	unc_session_free(before);
	unc_session_free(s);
	quiet(p);
	unc_platform_close(p);
}

/* Another one than the first of the session's items. */
static void second(void)
{
	struct unc_platform *p = machine("emerald-rapids,sockets=1,clock=step");
	struct unc_session *s = session(p, "imc0.DCLK", "cha0.CLOCKTICKS", 0);
	struct unc_overflow o;
	struct unc_value v[2];

	CU_ASSERT_EQUAL_FATAL(unc_session_sample(s, 1, 2200000), 0);
	CU_ASSERT_EQUAL_FATAL(unc_session_start(s), 0);
	CHECK_NUMBER(steps_until(p, s, 100000, 100, &o, v, 2), 10); /* of 2.2e9 a second */
	CHECK_NUMBER(o.id, 1);
	CU_ASSERT(o.count >= 2200000 && o.count < 2420000);
	unc_session_free(s);
	quiet(p);
	unc_platform_close(p);
}

static void refused(const char *sim, const char *event, uint64_t every, int code, const char *text)
{
	struct unc_platform *p = machine(sim);
	struct unc_session *s = session(p, event, NULL, 0);

	CHECK_NUMBER(unc_session_sample(s, 0, every), code);
	if (!strstr(unc_session_error(s), text))
		printf("# %s\n", unc_session_error(s));
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(s), text));
	unc_session_free(s);
	unc_platform_close(p);
}

static void refusals(void)
{
	refused("sandybridge-ep", "cbo.CLOCKTICKS", 1000, UNC_ERR_UNAVAILABLE,
		"has no overflow status");
	refused("emerald-rapids", "imc.CAS_COUNT:RD", (uint64_t)1 << 49, UNC_ERR_RANGE, "48 bits");
	refused("nehalem-ep", "core.INST_RETIRED:ANY", 1000, UNC_ERR_UNAVAILABLE, "");
}

/* Frozen from the carry to the look, counters have no share of that time: bytes are right, bytes a second
 * are not. Without a freeze both are (2.2e9 clocks end each 1e6 / 2.2e9 s). */
static void times(void)
{
	static const char *const about[] = {"memory_bandwidth", "uncore_frequency_hz",
					    "memory_read_latency_ns"};
	struct unc_platform *p = machine("emerald-rapids,clock=step");
	int id;

	for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++) {
		struct unc_session *s = session(p, "cha.CLOCKTICKS", NULL, UNC_SESSION_FREEZE);

		CU_ASSERT_EQUAL(unc_session_add(s, "memory_read_bytes", &id), 0);
		CHECK_NUMBER(unc_session_sample(s, 0, 1000000), 0);
		CU_ASSERT_EQUAL(unc_session_add(s, about[i], &id), 0);
		CHECK_NUMBER(unc_session_sample(s, 0, 1000000), UNC_ERR_INVALID);
		CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(s), "is about time"));
		CU_ASSERT_EQUAL(strncmp(unc_session_error(s), about[i], strlen(about[i])), 0);
		CHECK_NUMBER(unc_session_start(s), UNC_ERR_INVALID); /* added behind it */
		unc_session_free(s);
		s = session(p, "cha.CLOCKTICKS", NULL, 0);
		CU_ASSERT_EQUAL(unc_session_add(s, about[i], &id), 0);
		CHECK_NUMBER(unc_session_sample(s, 0, 1000000), 0);
		CHECK_NUMBER(unc_session_start(s), 0);
		unc_session_free(s);
	}
	quiet(p);
	unc_platform_close(p);
}

/* Between two overflows somebody takes a counter that counts beside, on the last unit: polls see it.
 */
static void taken(void)
{
	struct unc_platform *p = machine("emerald-rapids,clock=step");
	struct unc_session *s = session(p, "cha.CLOCKTICKS", "imc7.CAS_COUNT:RD:socket=1", 0);
	struct unc_overflow o;
	struct unc_value v[2];
	const struct unc_slot *slot;
	struct unc_reg reg;

	CU_ASSERT_EQUAL_FATAL(unc_session_sample(s, 0, (uint64_t)1 << 40), 0);
	CU_ASSERT_EQUAL_FATAL(unc_session_start(s), 0);
	slot = &s->units.slot[s->measure[s->item[1].measure[0]].slot[0]];
	CHECK_NUMBER(steps_until(p, s, 3000000, 3, &o, v, 2), 0);
	CHECK_NUMBER(slot->lost.why, 0);
	CU_ASSERT_EQUAL_FATAL(unc_instance_reg(p->table, &p->instances.unit[slot->instance],
					       unc_units_control(&s->units, slot), &reg, NULL),
			      0);
	unc_sim_write(unc_machine_sim(p->machine), unc_sim_find(unc_machine_sim(p->machine), &reg),
		      0x400305);
	CHECK_NUMBER(steps_until(p, s, 100000000, 11, &o, v, 2), 0);
	CU_ASSERT(slot->lost.why != 0);
	unc_session_free(s);
	unc_platform_close(p);
}

static void states(void)
{
	struct unc_platform *p = machine("emerald-rapids,clock=step");
	struct unc_session *s = session(p, "cha0.CLOCKTICKS", NULL, UNC_SESSION_FREEZE);
	struct unc_overflow o = {.size = sizeof(o)}, small = {.size = 7};
	struct unc_value v;
	int id;

	CHECK_NUMBER(unc_session_poll(s, &o, &v, 1, sizeof(v)), UNC_ERR_STATE);
	CHECK_NUMBER(unc_session_sample(s, 7, 1000), UNC_ERR_NOT_FOUND);
	CU_ASSERT_EQUAL(unc_session_add(s, "memory_read_bytes", &id), 0);
	CHECK_NUMBER(unc_session_sample(s, id, 1000), UNC_ERR_INVALID);
	CU_ASSERT_EQUAL(unc_session_start(s), 0);
	CHECK_NUMBER(unc_session_sample(s, 0, 1000), UNC_ERR_STATE);
	CHECK_NUMBER(unc_session_poll(s, &o, &v, 1, sizeof(v)), UNC_ERR_STATE);
	CU_ASSERT_EQUAL(unc_session_stop(s), 0);
	CU_ASSERT_EQUAL(unc_session_sample(s, 0, 1000), 0);
	CU_ASSERT_EQUAL(unc_session_start(s), 0);
	CHECK_NUMBER(unc_session_poll(s, &small, &v, 1, sizeof(v)), UNC_ERR_INVALID);
	CU_ASSERT_EQUAL(unc_session_poll(s, &o, &v, 1, sizeof(v)), 0);
	CHECK_NUMBER(o.id, -1); /* no time has passed */
	unc_session_free(s);
	quiet(p);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"Emerald Rapids freezes the socket", emerald_rapids},
		{"Ivy Bridge-EP freezes the socket", ivybridge},
		{"Ivy Bridge-EP, CBo: noted for the socket only", ivybridge_cbo},
		{"Nehalem-EP notes, nothing freezes", nehalem},
		{"what counts beside is frozen at the same moment", beside},
		{"a neighbour on the socket is not frozen", with_neighbour},
		{"counters start at 2^48 - N", preloads},
		{"the plan has what sampling writes", plans},
		{"stopped while the socket is frozen", stopped_frozen},
		{"a counter that has carried before", carried_before},
		{"a counter that is not to freeze", unarmed},
		{"another item than the first", second},
		{"refusals", refusals},
		{"with a freeze, nothing that is about time", times},
		{"a counter that is taken between overflows", taken},
		{"states", states},
		{NULL, NULL},
	};

	return suite_run("sample", tests);
}
