/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that are lost and taken up again: at the start, in a run, and where passes change. All
 * other values are exact, and a sum says of how many units it is. What is counted: workload.tbl.
 */
#include "kernel_session_kit.h"

static const double reads = 2.702e8 / 4, writes = 1.142e8 / 4; /* of a memory channel, a second */
enum { CHANNELS = 8, FOREIGN = 0x400305, INTERVAL_MS = 500 };

/* Controls of imc0 on socket 0 are somebody else's, or nobody's. */
static void take(struct unc_platform *p, unsigned from, uint64_t value)
{
	for (unsigned i = from; i < 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "CTL%u", i);
		unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, name), value);
	}
}

/* When imc0 was taken up last, in seconds since the start; how many channels the last interval had. */
static double taken_up;
static unsigned last_units = CHANNELS;

/* The next interval: sums of so many channels, scaled to all of it. Of a total there is no value until
 * imc0 has counted for 5 % of the time. */
static void check_interval(struct unc_platform *p, struct unc_session *s, unsigned units_of_reads,
			   unsigned units_of_writes)
{
	const unsigned units[] = {units_of_reads, units_of_writes};
	const double rates[] = {reads, writes};
	struct unc_value v[3];
	double seconds, all; /* where units have to show that they count, some time goes by */

	step(p, INTERVAL_MS * ms);
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	CHECK_NUMBER(unc_session_time(s, &all, &seconds), 0);
	if (last_units < units_of_reads)
		taken_up = all - seconds;
	else if (all <= seconds)
		taken_up = 0;
	last_units = units_of_reads;
	for (int i = 0; i < 2; i++) {
		bool partial = units[i] < CHANNELS;
		bool scarce = !partial && all - taken_up < 0.05 * all;

		CHECK_NUMBER(v[i].units, units[i]);
		CHECK_NUMBER(v[i].of, CHANNELS);
		CHECK_NUMBER(v[i].flags & (UNC_VALUE_VALID | UNC_VALUE_PARTIAL | UNC_VALUE_LATE),
			     (scarce ? 0 : UNC_VALUE_VALID) | (partial ? UNC_VALUE_PARTIAL : 0));
		CHECK_NUMBER(v[i].count == 0 && v[i].seconds == 0, scarce);
		CHECK_NEAR(v[i].interval, units[i] * rates[i] * seconds, 1e-6);
		CHECK_NEAR(v[i].interval_share, 1, 1e-9);
		CHECK_NUMBER(strncmp(unc_session_partial(s, i), "imc0 (socket 0): imc.", 21) == 0,
			     partial);
	}
	/* Of another unit, whatever comes. */
	CHECK_NUMBER(v[2].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	CHECK_NEAR(v[2].interval, reads * seconds, 1e-6);
	CHECK_NEAR(v[2].share, 1, 1e-9);
}

/* A unit that is taken up again waits for 0.4 ms before it is looked at. */
static bool pause_at_start;

int unc_units_claim_again(struct unc_units *s, struct unc_error *err)
{
	if (pause_at_start)
		unc_sim_step(unc_machine_sim(s->platform->machine), ms * 2 / 5);
	pause_at_start = false;
	return REAL(unc_units_claim_again)(s, err);
}

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

/* Somebody else has all counters of a unit at the start: it is tried a second after. */
static void test_start(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = three(p);
	struct snapshot before = snapshot(p);
	struct unc_value v[3];

	take(p, 0, FOREIGN);
	start(s);
	check_interval(p, s, CHANNELS - 1, CHANNELS - 1);
	take(p, 0, 0);
	check_interval(p, s, CHANNELS - 1, CHANNELS - 1); /* at its end it is taken up */
	CU_ASSERT(*unc_session_partial(s, 0)); /* and the value that was read is partial still */
	for (int i = 0; i < 3; i++)
		check_interval(p, s, CHANNELS, CHANNELS);
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

/* One counter of a unit is taken in a run: what another counts there has all of it. */
static void test_one_counter(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = three(p);
	struct snapshot before = snapshot(p);

	start(s);
	check_interval(p, s, CHANNELS, CHANNELS);
	take(p, 3, FOREIGN);
	for (int i = 0; i < 3; i++)
		check_interval(p, s, CHANNELS - 1, CHANNELS);
	/* There are others that are free. */
	check_interval(p, s, CHANNELS, CHANNELS);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, "CTL3")),
		     FOREIGN);
	take(p, 3, 0);
	end(p, s, before);
}

/* All counters are taken, for long: tried after 1, 2, 4 .. 64 s. One that counts for longer than
 * was waited for it is tried after a second again. */
static void test_distance(void)
{
	static const unsigned waited[] = {2, 4, 8, 16, 32, 64, 64};
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = three(p);
	struct snapshot before = snapshot(p);
	const struct unc_wanted *imc0;
	uint64_t tried, second = 1000 * ms;

	start(s);
	imc0 = &s->units.wanted[s->units.slot[s->measure[0].slot[0]].instance];
	check_interval(p, s, CHANNELS, CHANNELS);
	take(p, 0, FOREIGN);
	check_interval(p, s, CHANNELS - 1, CHANNELS - 1);
	CHECK_NUMBER(imc0->wait_ns, second);
	for (size_t i = 0; i < sizeof(waited) / sizeof(waited[0]); i++) {
		tried = imc0->again_ns;
		while (imc0->again_ns == tried)
			check_interval(p, s, CHANNELS - 1, CHANNELS - 1);
		CHECK_NUMBER(imc0->again_ns - tried, waited[i] * second);
		CHECK_NUMBER(imc0->wait_ns, waited[i] * second);
	}
	take(p, 0, 0);
	for (int i = 0; i < 128; i++)
		check_interval(p, s, CHANNELS - 1, CHANNELS - 1);
	check_interval(p, s, CHANNELS, CHANNELS);
	take(p, 0, FOREIGN); /* it comes and goes */
	check_interval(p, s, CHANNELS - 1, CHANNELS - 1);
	CHECK_NUMBER(imc0->wait_ns, 64 * second);
	take(p, 0, 0);
	for (int i = 0; i < 128; i++)
		check_interval(p, s, CHANNELS - 1, CHANNELS - 1);
	for (int i = 0; i < 130; i++)
		check_interval(p, s, CHANNELS, CHANNELS);
	take(p, 0, FOREIGN);
	check_interval(p, s, CHANNELS - 1, CHANNELS - 1);
	CHECK_NUMBER(imc0->wait_ns, second);
	take(p, 0, 0);
	end(p, s, before);
}

/* A control is cleared at 0.5 s, and what it counts is taken up by the read at 4.0 s: the total of
 * its unit is no value before that was measured for 5 % of the time, whatever the interval is. */
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

/* What shares a unit with a counter that is taken up again stops for a moment: 0.4 ms of 2 s, less than
 * a thousandth, and its value is of all of the time all the same. */
static void test_beside(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = three(p);
	struct unc_value v[3];

	step(p, ms);
	start(s);
	step(p, 500 * ms);
	take(p, 3, FOREIGN);
	step(p, 500 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	step(p, 1000 * ms);
	pause_at_start = true;
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	CHECK_NUMBER(pause_at_start, false);
	step(p, 100 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	CHECK_NUMBER(v[1].flags & (UNC_VALUE_VALID | UNC_VALUE_ESTIMATED | UNC_VALUE_PARTIAL),
		     UNC_VALUE_VALID);
	CHECK_NEAR(v[1].value, CHANNELS * writes * 2.1004, 1e-6);
	CHECK_NEAR(v[1].interval, CHANNELS * writes * 0.1004, 1e-6);
	unc_session_free(s);
	unc_platform_close(p);
}

/* A unit is frozen, and let go. */
static void test_frozen(void)
{
	struct unc_platform *p = machine("sandybridge-ep,clock=wait");
	struct unc_session *s = three(p);
	struct snapshot before = snapshot(p);
	void *unit = reg_of(p, "imc", 0, 0, "BOX_CTL");

	start(s);
	check_interval(p, s, CHANNELS, CHANNELS);
	unc_sim_write(unc_machine_sim(p->machine), unit, 0x10100);
	check_interval(p, s, CHANNELS - 1, CHANNELS - 1);
	unc_sim_write(unc_machine_sim(p->machine), unit, 0x10000);
	check_interval(p, s, CHANNELS - 1, CHANNELS - 1);
	check_interval(p, s, CHANNELS - 1, CHANNELS - 1);
	check_interval(p, s, CHANNELS, CHANNELS);
	end(p, s, before);
}

/* Five events on four counters; in the second turn of the first pass its counters are taken. */
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
		step(p, INTERVAL_MS * ms);
		if (turn == 1)
			take(p, 0, FOREIGN);
		if (turn == 7)
			take(p, 0, 0);
		CHECK_NUMBER(unc_session_rotate(s), 0);
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
	CHECK_NEAR(v[0].value, reads * 20 * INTERVAL_MS * 1e-3, 1e-3);
	CHECK_NEAR(v[1].value, writes * 20 * INTERVAL_MS * 1e-3, 1e-3);
	CHECK_NEAR(v[LAST].value, CHANNELS * (reads + writes) * 20 * INTERVAL_MS * 1e-3, 1e-3);
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
	units = between.opened;
	CHECK_NUMBER(unc_session_stop(s), 0);
	between.fail_at = units; /* the last */
	start(s);
	for (int i = 1; i <= 5; i++) {
		step(p, INTERVAL_MS * ms);
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

int main(void)
{
	static const struct suite_test tests[] = {
		{"taken at the start", test_start},
		{"one counter of a unit", test_one_counter},
		{"how often it is tried", test_distance},
		{"counted for too short a time since", test_scarce},
		{"what is beside it on its unit", test_beside},
		{"frozen, and let go", test_frozen},
		{"where passes change", test_turns},
		{"by the kernel's driver", test_kernel},
		{NULL, NULL},
	};

	return suite_run("lost, and taken up again", tests);
}
