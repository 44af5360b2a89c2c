/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that are lost and count again later: at the start, in a run, and where passes change. A unit
 * is lost with all of its events. Values of other units are exact, and a sum says of how many units
 * it is. What is counted: workload.tbl.
 */
#include "kernel_session_kit.h"

static const double reads = 2.702e8 / 4, writes = 1.142e8 / 4; /* of a memory channel, a second */
/* Controls are compared in a read if that was a second ago. */
enum { CHANNELS = 8, FOREIGN = 0x400305, SECOND_MS = 1000, HALF_MS = 500 };

/* Controls of imc0 on socket 0 are somebody else's, or nobody's. */
static void take(struct unc_platform *p, unsigned from, uint64_t value)
{
	for (unsigned i = from; i < 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "CTL%u", i);
		unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, name), value);
	}
}

/* Seconds in which all channels have counted, since the start; whether imc0 was lost since. */
static double counted;
static bool lapsed;

/* The next interval, of so many ms: sums of so many channels, scaled to all of it. After a loss the
 * total has no value until imc0 has counted for 5 % of the time. */
static void check_interval_of(int line, struct unc_platform *p, struct unc_session *s,
			      unsigned interval_ms, unsigned units)
{
	const double rates[] = {reads, writes};
	const bool partial = units < CHANNELS;
	struct unc_value v[3];
	double seconds, all; /* some time passes while the library waits */
	bool scarce;

	step(p, interval_ms * ms);
	suite_number(line, (unsigned long long)unc_session_read(s, v, 3, sizeof(*v)), 0);
	CHECK_NUMBER(unc_session_time(s, &all, &seconds), 0);
	if (all <= seconds) {
		counted = 0;
		lapsed = false;
	}
	lapsed |= partial;
	counted += partial ? 0 : seconds;
	scarce = !partial && lapsed && counted < 0.05 * all;
	for (int i = 0; i < 2; i++) {
		suite_number(line, v[i].units, units);
		suite_number(line, v[i].of, CHANNELS);
		suite_number(line,
			     v[i].flags & (UNC_VALUE_VALID | UNC_VALUE_PARTIAL | UNC_VALUE_LATE),
			     (scarce ? 0 : UNC_VALUE_VALID) | (partial ? UNC_VALUE_PARTIAL : 0));
		suite_number(line, v[i].count == 0 && v[i].seconds == 0, scarce);
		check_near(line, v[i].interval, units * rates[i] * seconds, 1e-6);
		check_near(line, v[i].interval_share, 1, 1e-9);
		suite_number(line,
			     strncmp(unc_session_partial(s, i), "imc0 (socket 0): imc.", 21) == 0,
			     partial);
	}
	/* Another unit, whatever comes. */
	suite_number(line, v[2].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	check_near(line, v[2].interval, reads * seconds, 1e-6);
	check_near(line, v[2].share, 1, 1e-9);
}

#define CHECK_INTERVAL(p, s, units) check_interval_of(__LINE__, (p), (s), SECOND_MS, (units))

static struct unc_session *three(struct unc_platform *p)
{
	struct unc_session *s = session(p, 0);

	add(s, "imc.CAS_COUNT:RD");
	add(s, "imc.CAS_COUNT:WR");
	add(s, "imc1.CAS_COUNT:RD:socket=0");
	return s;
}

static void end(struct unc_platform *p, struct unc_session *s, struct snapshot before)
{
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_RESTORED(p, before);
	unc_session_free(s);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
}

/* Somebody else has all counters of a unit at the start: it is tried a second later. */
static void test_start(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = three(p);
	struct snapshot before = snapshot(p);
	struct unc_value v[3];

	take(p, 0, FOREIGN);
	start(s);
	check_interval_of(__LINE__, p, s, HALF_MS, CHANNELS - 1);
	take(p, 0, 0);
	check_interval_of(__LINE__, p, s, HALF_MS, CHANNELS - 1); /* at its end it counts again, */
	CU_ASSERT(*unc_session_partial(s, 0)); /* and the value that was read is partial still */
	for (int i = 0; i < 3; i++)
		check_interval_of(__LINE__, p, s, HALF_MS, CHANNELS);
	/* The total of that unit is scaled: 1.5 of 2.5 s were measured. */
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_NEAR(v[i].value, CHANNELS * (i ? writes : reads) * 2.5, 1e-4);
		CHECK_NEAR(v[i].share, 0.6, 1e-4);
		CHECK_NUMBER(v[i].flags & (UNC_VALUE_ESTIMATED | UNC_VALUE_PARTIAL),
			     UNC_VALUE_ESTIMATED);
	}
	CHECK_RESTORED(p, before);
	unc_session_free(s);
	unc_platform_close(p);
}

/*
 * One counter of a unit is taken in the middle of an interval: both events of the unit are lost, with
 * the name of the one at fault. Their totals go back to the read before, where the controls were
 * compared, and go on from there: 2 of 4.4 s were measured.
 */
static void test_one_counter(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = three(p);
	struct snapshot before = snapshot(p);
	struct unc_value v[3];

	start(s);
	CHECK_INTERVAL(p, s, CHANNELS);
	step(p, 400 * ms);
	take(p, 3, FOREIGN);
	CHECK_INTERVAL(p, s, CHANNELS - 1); /* at 2.4 s */
	for (int i = 0; i < 2; i++)
		CHECK_TEXT(
			unc_session_partial(s, i),
			"imc0 (socket 0): imc.CAS_COUNT:RD: somebody else has programmed CTL3 of "
			"imc0 (socket 0) while it was counting: it holds 0x400305");
	CHECK_INTERVAL(p, s, CHANNELS - 1);
	/* Other counters are free. */
	CHECK_INTERVAL(p, s, CHANNELS);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, "CTL3")),
		     FOREIGN);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_NEAR(v[i].value, CHANNELS * (i ? writes : reads) * 4.4, 1e-6);
		CHECK_NEAR(v[i].share, 2 / 4.4, 1e-6);
		CHECK_NUMBER(v[i].flags & (UNC_VALUE_ESTIMATED | UNC_VALUE_PARTIAL),
			     UNC_VALUE_ESTIMATED);
	}
	take(p, 3, 0);
	CHECK_RESTORED(p, before);
	unc_session_free(s);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
}

/* All counters are taken, for long: tried after 1, 2, 4 .. 64 s. If the unit then counts for longer
 * than it waited, it is tried after a second again. */
static void test_distance(void)
{
	static const unsigned waited[] = {2, 4, 8, 16, 32, 64, 64};
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = three(p);
	struct snapshot before = snapshot(p);
	const struct unc_set *imc0;
	uint64_t tried, lost, second = SECOND_MS * ms;

	start(s);
	imc0 = set_of(s, &p->instances.unit[s->want[s->measure[0].want[0]].instance]);
	CU_ASSERT_FATAL(imc0 != NULL && imc0->unit->index == 0 && imc0->unit->socket == 0);
	CHECK_INTERVAL(p, s, CHANNELS);
	take(p, 0, FOREIGN);
	CHECK_INTERVAL(p, s, CHANNELS - 1);
	lost = unc_machine_now(p->machine);
	CHECK_NUMBER(imc0->wait_ns, second);
	CHECK_NUMBER(imc0->retry_ns - lost, second);
	for (size_t i = 0; i < sizeof(waited) / sizeof(waited[0]); i++) {
		tried = imc0->retry_ns;
		while (imc0->retry_ns == tried)
			CHECK_INTERVAL(p, s, CHANNELS - 1);
		CHECK_NUMBER(imc0->retry_ns - tried, waited[i] * second);
		CHECK_NUMBER(imc0->wait_ns, waited[i] * second);
	}
	take(p, 0, 0);
	for (int i = 0; i < 64; i++)
		CHECK_INTERVAL(p, s, CHANNELS - 1);
	CHECK_INTERVAL(p, s, CHANNELS);
	take(p, 0, FOREIGN); /* he comes and goes */
	CHECK_INTERVAL(p, s, CHANNELS - 1);
	CHECK_NUMBER(imc0->wait_ns, 64 * second);
	take(p, 0, 0);
	for (int i = 0; i < 64; i++)
		CHECK_INTERVAL(p, s, CHANNELS - 1);
	for (int i = 0; i < 65; i++)
		CHECK_INTERVAL(p, s, CHANNELS);
	take(p, 0, FOREIGN);
	CHECK_INTERVAL(p, s, CHANNELS - 1);
	CHECK_NUMBER(imc0->wait_ns, second);
	take(p, 0, 0);
	end(p, s, before);
}

/* A control is cleared at 0.5 s, and the unit counts again from 4.0 s on: its total goes back to the start,
 * and has no value until it was measured for 5 % of the time, whatever the interval is. */
static void test_scarce(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = three(p);
	struct snapshot before = snapshot(p);
	struct unc_value v[3];

	start(s);
	step(p, 500 * ms);
	take(p, 0, 0);
	step(p, 500 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	step(p, 3000 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	CHECK_NUMBER(v[0].flags & (UNC_VALUE_VALID | UNC_VALUE_PARTIAL),
		     UNC_VALUE_VALID | UNC_VALUE_PARTIAL);
	step(p, ms / 2); /* 0.012 % of the time */
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_NUMBER(v[i].flags, UNC_VALUE_FRESH | UNC_VALUE_ESTIMATED);
		CHECK_NUMBER(v[i].units, CHANNELS);
		CHECK_NUMBER(v[i].count, 0);
		CHECK_NEAR(v[i].value, 0, 0);
		CHECK_NEAR(v[i].interval, CHANNELS * (i ? writes : reads) * 0.5e-3, 1e-3);
		CHECK_TEXT(unc_session_reason(s, i),
			   "imc0 (socket 0) was lost, and has counted again for only 0.012 % of "
			   "the time");
	}
	CHECK_NUMBER(v[2].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	step(p, 300 * ms); /* 7 % */
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	CHECK_NUMBER(v[0].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_ESTIMATED);
	CHECK_NEAR(v[0].value, CHANNELS * reads * 4.3005, 1e-4);
	CHECK_TEXT(unc_session_reason(s, 0), "");
	CHECK_RESTORED(p, before);
	unc_session_free(s);
	unc_platform_close(p);
}

/* The units of a type on a socket are frozen, and let go a second later. */
static void freeze(struct unc_platform *p, uint64_t value)
{
	for (unsigned i = 0; i < 4; i++)
		unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "imc", i, 0, "BOX_CTL"),
			      value);
}

static void test_frozen(void)
{
	enum { FROZEN = 0x10100, RUNNING = 0x10000, OTHERS = CHANNELS / 2 };
	struct unc_platform *p = machine("sandybridge-ep,clock=wait");
	struct unc_session *s = session(p, 0);
	struct snapshot before = snapshot(p);
	struct unc_value v;
	double seconds;

	add(s, "imc.CAS_COUNT:RD");
	start(s);
	for (int i = 0; i < 4; i++) {
		static const unsigned units[] = {CHANNELS, OTHERS, OTHERS, CHANNELS};

		step(p, SECOND_MS * ms);
		v = value_of(s, 0);
		CHECK_NUMBER(unc_session_time(s, NULL, &seconds), 0);
		CHECK_NUMBER(v.units, units[i]);
		CHECK_NUMBER(v.flags & (UNC_VALUE_VALID | UNC_VALUE_PARTIAL | UNC_VALUE_UNPROVEN),
			     UNC_VALUE_VALID |
				     (units[i] < CHANNELS ? (unsigned)UNC_VALUE_PARTIAL : 0));
		CHECK_NEAR(v.interval, units[i] * reads * seconds, 1e-6);
		if (i == 0)
			freeze(p, FROZEN);
		if (i == 1)
			freeze(p, RUNNING);
	}
	CHECK_NEAR(v.value, CHANNELS * reads * 4, 1e-3);
	CHECK_NEAR(v.share, 0.5, 1e-3);
	end(p, s, before);
}

/* Five events on four counters, which are taken in the first turn of the second pass. */
static void test_turns(void)
{
	static const char *const events[] = {
		"imc0.CAS_COUNT:RD:socket=0", "imc0.CAS_COUNT:WR:socket=0",
		"imc0.ACT_COUNT:socket=0", "imc0.PRE_COUNT:PAGE_MISS:socket=0",
		"imc.CAS_COUNT:ALL"};
	enum { EVENTS = sizeof(events) / sizeof(events[0]), LAST = EVENTS - 1 };
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	struct snapshot before = snapshot(p);
	struct unc_value v[EVENTS];

	for (int i = 0; i < EVENTS; i++)
		add(s, events[i]);
	CHECK_NUMBER(unc_session_passes(s), 2);
	start(s);
	for (int turn = 0; turn < 20; turn++) {
		step(p, HALF_MS * ms);
		if (turn == 1)
			take(p, 0, FOREIGN);
		if (turn == 7)
			take(p, 0, 0);
		CHECK_NUMBER(turn_pass(s), 0);
		if (turn == 5) {
			CHECK_NUMBER(unc_session_read(s, v, EVENTS, sizeof(*v)), 0);
			CHECK_NUMBER(v[0].flags & (UNC_VALUE_VALID | UNC_VALUE_LOST),
				     UNC_VALUE_LOST);
			CHECK_NUMBER(v[LAST].units, CHANNELS - 1);
			CHECK_NUMBER(v[LAST].flags & UNC_VALUE_VALID, UNC_VALUE_VALID);
		}
	}
	CHECK_NUMBER(unc_session_read(s, v, EVENTS, sizeof(*v)), 0);
	for (int i = 0; i < EVENTS; i++)
		CHECK_NUMBER(v[i].flags & (UNC_VALUE_VALID | UNC_VALUE_PARTIAL | UNC_VALUE_LOST),
			     UNC_VALUE_VALID);
	CHECK_NEAR(v[0].value, reads * 20 * HALF_MS * 1e-3, 1e-3);
	CHECK_NEAR(v[1].value, writes * 20 * HALF_MS * 1e-3, 1e-3);
	CHECK_NEAR(v[LAST].value, CHANNELS * (reads + writes) * 20 * HALF_MS * 1e-3, 1e-3);
	end(p, s, before);
}

/* The kernel refuses one unit, and has room later. */
static void test_kernel(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);
	struct unc_value v[2];
	unsigned units;

	stand_between(p);
	add(s, "imc.CAS_COUNT:RD");
	add(s, "imc0.CAS_COUNT:RD:socket=0");
	start(s);
	units = (unsigned)s->run->n_sets;
	CU_ASSERT(between.opened > units); /* the clocks come behind them */
	CHECK_NUMBER(unc_session_stop(s), 0);
	between.fail_at = units; /* the last */
	start(s);
	for (int i = 1; i <= 5; i++) {
		step(p, HALF_MS * ms);
		CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
		CHECK_NUMBER(v[0].units, i > 2 ? units : units - 1);
		CHECK_NUMBER(v[0].of, units);
		CHECK_NEAR(v[0].interval, v[1].interval * v[0].units, 1e-4);
		CHECK_NEAR(v[0].interval_share, 1, 1e-9);
		CHECK_NEAR(v[1].share, 1, 1e-9);
		CHECK_NUMBER(strstr(unc_session_partial(s, 0), "imc") != NULL, i <= 2);
		between.fail_at = 0;
	}
	unc_session_free(s);
	CHECK_NUMBER(between.opened, between.closed);
	unc_platform_close(p);
}

/* The machine was suspended: a real one shows it by its clocks (test_session_orphaned.c). */
static bool suspended;

static bool slept(const struct unc_machine *machine, uint64_t *since)
{
	bool was = suspended;

	(void)machine, (void)since;
	suspended = false;
	return was;
}

static void test_suspended(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_machine_methods methods = *p->machine->methods;
	struct unc_session *s = session(p, 0);
	struct unc_value v;

	methods.slept = slept;
	p->machine->methods = &methods;
	add(s, "imc.CAS_COUNT:RD");
	start(s);
	step(p, 500 * ms);
	CHECK_NUMBER(value_of(s, 0).flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	suspended = true;
	step(p, 1000 * ms);
	v = value_of(s, 0);
	CHECK_NUMBER(v.flags & (UNC_VALUE_VALID | UNC_VALUE_LOST), UNC_VALUE_LOST);
	CHECK_TEXT(
		unc_session_reason(s, 0),
		"imc.CAS_COUNT:RD: the machine was suspended, and imc0 (socket 0) has lost what it "
		"held");
	step(p, 1000 * ms);
	step(p, 1000 * ms);
	CHECK_NUMBER(value_of(s, 0).flags & UNC_VALUE_VALID, UNC_VALUE_VALID);
	step(p, 500 * ms);
	v = value_of(s, 0);
	CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_ESTIMATED);
	CHECK_NEAR(v.interval, CHANNELS * reads * 0.5, 1e-4);
	unc_session_free(s);
	unc_platform_close(p);
}

/* A loss goes back behind the last read, which nothing had compared: the interval has none of that. */
static void test_behind_a_read(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	struct unc_value v;
	uint64_t count;

	add(s, "imc0.CAS_COUNT:RD:socket=0");
	start(s);
	step(p, 1000 * ms);
	value_of(s, 0);
	step(p, 800 * ms);
	CHECK_NEAR(value_of(s, 0).value, reads * 1.8, 1e-6);
	take(p, 0, FOREIGN);
	step(p, 200 * ms);
	CHECK_NUMBER(unc_session_counts(s, &count, 1), 1); /* compares, and loses it */
	take(p, 0, 0);
	step(p, 1000 * ms);
	step(p, 100 * ms);
	v = value_of(s, 0);
	CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_ESTIMATED);
	CHECK_NEAR(v.interval, reads * 1.3, 1e-3);
	CHECK_NEAR(v.value, reads * 3.1, 1e-3);
	unc_session_free(s);
	unc_platform_close(p);
}

/* A stopped session keeps its marks, whatever an equal one does by the same run. */
static void test_stopped(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0), *t = session(p, 0);

	for (int i = 0; i < 2; i++) {
		add(i ? t : s, "imc0.CAS_COUNT:RD:socket=0");
		add(i ? t : s, "imc.CAS_COUNT:RD");
	}
	start(s);
	step(p, 1000 * ms);
	take(p, 0, FOREIGN);
	step(p, 1000 * ms);
	CHECK_NUMBER(unc_session_stop(s), 0);
	take(p, 0, 0);
	start(t);
	step(p, 1000 * ms);
	CHECK_NUMBER(value_of(t, 1).units, CHANNELS);
	CHECK_NUMBER(value_of(s, 0).flags & (UNC_VALUE_VALID | UNC_VALUE_LOST), UNC_VALUE_LOST);
	CHECK_NUMBER(value_of(s, 1).units, CHANNELS - 1);
	unc_session_free(t);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Two equal sessions that read each second, half a second apart: what happens behind the comparison of the one is
 * in no interval of the other. */
static void test_half_a_second_apart(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s[2] = {session(p, 0), session(p, 0)};

	for (int i = 0; i < 2; i++) {
		add(s[i], "imc0.CAS_COUNT:RD:socket=0");
		start(s[i]);
	}
	for (int i = 0; i < 4; i++) {
		step(p, HALF_MS * ms);
		CHECK_NUMBER(value_of(s[i % 2], 0).flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	}
	take(p, 0, FOREIGN);
	step(p, HALF_MS * ms);
	CHECK_NUMBER(value_of(s[0], 0).flags & (UNC_VALUE_VALID | UNC_VALUE_LOST), UNC_VALUE_LOST);
	for (int i = 0; i < 2; i++)
		unc_session_free(s[i]);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"taken at the start", test_start},
		{"one counter of a unit", test_one_counter},
		{"how often it is tried", test_distance},
		{"counted for too short a time since", test_scarce},
		{"frozen, and let go", test_frozen},
		{"where passes change", test_turns},
		{"by the kernel's driver", test_kernel},
		{"by a suspend of the machine", test_suspended},
		{"behind a read", test_behind_a_read},
		{"marks of a session that has stopped", test_stopped},
		{"equal sessions, half a second apart", test_half_a_second_apart},
		{NULL, NULL},
	};

	return suite_run("lost, and taken up again", tests);
}
