/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of one unit have their time in common: one of them that cannot be read now and then has
 * its own from there on, whichever it is, and the other is measured as before. What is counted:
 * eventtables/sandybridge-ep/workload.tbl.
 */
#include "losing_kit.h"
#include "units/inside.h"

static const double rate[] = {2.702e8 / 4, 1.142e8 / 4}; /* of a memory channel, a second */
enum { STEP_MS = 500, LOOKS = 6 };

/* The counter of a slot cannot be read, or can be again. */
static void fail(struct unc_session *s, size_t slot, bool fails)
{
	losing.reg[0] = s->units.read[slot].reg;
	losing.role[0] = UNC_ROLE_CTR;
	losing.n = 1;
	no_faults();
	if (fails)
		faults("fail read reg/counter - EIO");
}

/* Item i in a look: whether its counter can be read now, and could in the last one. */
static void check(const struct unc_value *v, unsigned i, unsigned look, bool now, bool before)
{
	const double interval = STEP_MS * 1e-3, all = interval * (look + 1);

	CHECK_NUMBER(v->flags & (UNC_VALUE_VALID | UNC_VALUE_LATE | UNC_VALUE_INTERVAL_LATE |
				 UNC_VALUE_ESTIMATED),
		     now ? UNC_VALUE_VALID : 0);
	if (!now)
		return;
	CHECK_NEAR(v->value, rate[i] * all, 1e-6);
	CHECK_NEAR(v->seconds, all, 1e-9);
	if (before)
		CHECK_NEAR(v->interval, rate[i] * interval, 1e-6);
	else
		CU_ASSERT(isnan(v->interval));
}

/* Slot `failing` of two is not read in looks 2 and, of `n` looks, behind it. */
static void run(size_t failing, unsigned n)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	struct unc_value v[2];
	bool could[2] = {true, true};

	add(s, "imc0.CAS_COUNT:RD:socket=0");
	add(s, "imc0.CAS_COUNT:WR:socket=0");
	start(s);
	CHECK_NUMBER(s->units.n_reads, 2);
	CHECK_NUMBER(s->units.slot[0].leader, s->units.slot[1].leader);
	for (unsigned look = 0; look < LOOKS; look++) {
		bool fails = look >= 2 && look < 2 + n;

		step(p, STEP_MS * ms);
		fail(s, failing, fails);
		CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
		for (unsigned i = 0; i < 2; i++) {
			bool can = !fails || s->units.read_slot[failing] != i;

			check(&v[i], i, look, can, could[i]);
			could[i] = can;
		}
		CHECK_NUMBER(s->units.slot[0].leader == s->units.slot[1].leader, look < 2);
	}
	fail(s, failing, false);
	CHECK_NUMBER(unc_session_stop(s), 0);
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_unread(void)
{
	for (size_t failing = 0; failing < 2; failing++)
		for (unsigned n = 1; n <= 3; n++)
			run(failing, n);
}

/* Units whose registers are in memory are read between the same two stamps. That which comes first
 * is left out when it cannot be had for long: the time of the other goes on. */
static void test_left_out(void)
{
	enum { SECONDS = 9, LOST = 3 };
	const double clock = 2.4e9;
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0);
	struct unc_value v[2];

	add(s, "imc0.CLOCKTICKS:socket=0");
	add(s, "imc1.CLOCKTICKS:socket=0");
	start(s);
	CHECK_NUMBER(s->units.n_reads, 2);
	CHECK_NUMBER(s->units.slot[0].leader, s->units.slot[1].leader);
	CHECK_NUMBER(s->units.stamp[1].first, 2);
	size_t first = s->units.read_slot[0];

	losing_unit(p, &p->instances.unit[s->units.slot[first].instance]);
	for (int second = 1; second <= SECONDS; second++) {
		if (second == LOST)
			unc_units_lose_unit(&s->units, s->units.slot[first].instance, UNC_TURN,
					    &(struct unc_loss){.why = UNC_LOST_CONTROL});
		step(p, 1000 * ms);
		if (second == LOST) { /* it is taken up again, and cannot be looked at */
			faults("fail read reg/* - EIO");
			unc_units_take_again(&s->units);
		}
		CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
		CHECK_NUMBER(s->units.n_reads, second < LOST ? 2 : 1);
		CHECK_NUMBER(unc_slot_span(&s->units, &s->units.slot[1 - first])->total.to.ns,
			     s->units.read_ns);
		CU_ASSERT(!(v[first].flags & UNC_VALUE_VALID) == (second >= LOST));
		CHECK_NUMBER(v[1 - first].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
		CHECK_NEAR(v[1 - first].value, clock * second, 1e-6);
		CHECK_NEAR(v[1 - first].interval, clock, 1e-6);
		CHECK_NEAR(v[1 - first].seconds, second, 1e-9);
	}
	no_faults();
	losing.n = 0;
	unc_session_stop(s);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Each look at the clock of the machine takes time: no two stamps are the same. */
static const struct unc_machine_methods *still;

static void ticking_now(const struct unc_machine *machine, uint64_t *ns, uint64_t *tsc)
{
	unc_sim_step(unc_machine_sim(machine), 100);
	still->now(machine, ns, tsc);
}

static void tick_looks(struct unc_platform *p)
{
	static struct unc_machine_methods methods;

	still = p->machine->methods;
	methods = *still;
	methods.now = ticking_now;
	p->machine->methods = &methods;
}

/* Whether each counter has the time of the stamps between which it was read last. */
static void check_stamps(const struct unc_session *s)
{
	const struct unc_stamp *stamp = s->units.stamp;

	for (size_t i = 0; i < s->units.n_reads; i++) {
		const struct unc_slot *slot = &s->units.slot[s->units.read_slot[i]];
		const struct unc_seen to = unc_slot_span(&s->units, slot)->total.to;

		if (i == stamp[1].first)
			stamp++;
		CHECK_NUMBER(to.ns, stamp->ns);
		CHECK_NUMBER(to.width, stamp[1].ns - stamp->ns);
	}
}

/* Where a unit is left out others are read together than those that were from the start: each has
 * the time of those with which it is read now. */
static void test_other_company(void)
{
	enum { UNITS = 8, EACH = 3, SECONDS = 6, LOST = 2 };
	static const char *const event[EACH] = {"CLOCKTICKS", "CAS_COUNT:RD", "CAS_COUNT:WR"};
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0);
	struct unc_value v[UNITS * EACH];
	char text[UNC_SPEC_MAX];

	for (unsigned i = 0; i < UNITS * EACH; i++) {
		snprintf(text, sizeof(text), "imc%u.%s:socket=0", i / EACH, event[i % EACH]);
		add(s, text);
	}
	start(s);
	tick_looks(p);
	CHECK_NUMBER(s->units.stamp[1].first, 5 * EACH);
	losing_unit(p, &p->instances.unit[s->units.slot[s->units.read_slot[0]].instance]);
	for (int second = 1; second <= SECONDS; second++) {
		if (second == LOST)
			unc_units_lose_unit(&s->units,
					    s->units.slot[s->units.read_slot[0]].instance, UNC_TURN,
					    &(struct unc_loss){.why = UNC_LOST_CONTROL});
		if (second == LOST)
			faults("fail read reg/* - EIO");
		if (second == LOST + 2)
			no_faults();
		step(p, 1000 * ms);
		CHECK_NUMBER(unc_session_read(s, v, UNITS * EACH, sizeof(*v)), 0);
		CHECK_NUMBER(unc_session_look(s, UNC_ALL, NULL), 0);
		check_stamps(s);
	}
	no_faults();
	losing.n = 0;
	unc_session_stop(s);
	unc_session_free(s);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"one of two counters is not read now and then", test_unread},
		{"a unit is left out that was read together with another", test_left_out},
		{"units are read together with others than before", test_other_company},
		{NULL, NULL},
	};

	return suite_run("session, spans", tests);
}
