/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions that run: intervals, wraps, neighbours, what is restored. Rates are those of
 * eventtables/CPU/workload.tbl; register numbers those of Intel 327043-001 table 1-2.
 */
#include <signal.h>
#include <sys/resource.h>

#include "fake_root.h"
#include "session_kit.h"

static const double uclk = 2.7e9, dclk = 0.8e9, drd = 4.0e8 / 8, drd_miss = 1.6e8 / 8;
static const double reads = (2.7e8 + 0.002e8) / 4; /* a channel */

/* CBo 0 of socket 0 */
enum { CTL1 = 0xD11, CTL3 = 0xD13, FILTER, CTR3 = 0xD19 };

/* ---- intervals */

static void test_intervals(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	int id = add(s, "cbo0.CLOCKTICKS:socket=0"), hz = add(s, "uncore_frequency_hz:socket=0");
	struct unc_value v[2];
	double total, interval;

	start(s);
	step(p, 10 * ms);
	CU_ASSERT(unc_session_read(s, v, 2, sizeof(*v)) == 0);
	step(p, 5 * ms);
	CU_ASSERT(unc_session_read(s, v, 2, sizeof(*v)) == 0);
	CHECK_COUNT(v[id].count, uclk * 0.015, 1);
	CHECK_COUNT(v[id].delta, uclk * 0.005, 1);
	CHECK_NEAR(v[id].interval, uclk * 0.005, 1e-6);
	CHECK_NEAR(v[id].seconds, 0.015, 1e-9);
	CHECK_NEAR(v[id].interval_seconds, 0.005, 1e-9);
	CHECK_NEAR(v[hz].value, uclk, 1e-6);
	CHECK_NEAR(v[hz].interval, uclk, 1e-6);
	CU_ASSERT(unc_session_time(s, &total, &interval) == 0);
	CHECK_NEAR(total, 0.015, 1e-9);
	CHECK_NEAR(interval, 0.005, 1e-9);
	CU_ASSERT(unc_session_time(s, NULL, NULL) == 0);
	/* A read of fewer items ends the interval all the same. */
	step(p, ms);
	CU_ASSERT(unc_session_read(s, v, 0, sizeof(*v)) == 0);
	step(p, ms);
	CU_ASSERT(unc_session_read(s, v, 1, sizeof(*v)) == 0);
	CHECK_COUNT(v[id].delta, uclk * 0.001, 1);
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_stop_and_reset(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	int id = add(s, "imc0.CAS_COUNT:RD:socket=0");

	start(s);
	step(p, 10 * ms);
	CHECK_COUNT(count_of(s, id), reads * 0.01, 1);
	CU_ASSERT(unc_session_reset(s) == 0);
	step(p, 2 * ms);
	struct unc_value v = value_of(s, id);
	CHECK_COUNT(v.count, reads * 0.002, 1);
	CHECK_COUNT(v.delta, reads * 0.002, 1);
	CHECK_NEAR(v.seconds, 0.002, 1e-9);
	step(p, 3 * ms);
	CU_ASSERT(unc_session_stop(s) == 0);
	step(p, 100 * ms); /* nobody counts any more */
	v = value_of(s, id);
	CHECK_COUNT(v.count, reads * 0.005, 1);
	CHECK_COUNT(v.delta, reads * 0.003, 1); /* between the last read and the stop */
	CHECK_NEAR(v.seconds, 0.005, 1e-9);
	v = value_of(s, id); /* the final values again */
	CHECK_COUNT(v.count, reads * 0.005, 1);
	CHECK_COUNT(v.delta, reads * 0.003, 1);
	start(s); /* once more, from 0 */
	step(p, ms);
	CHECK_COUNT(count_of(s, id), reads * 0.001, 1);
	unc_session_free(s); /* stops it */
	check_quiet(p);
	unc_platform_close(p);
}

/* A ratio whose denominator is 0 is not a value. */
static void test_no_ratio(void)
{
	struct unc_platform *p = machine(SNB ",load=0");
	struct unc_session *s = session(p, 0);
	int ratio = add(s, "imc.PCT_RD_REQUESTS"), bytes = add(s, "memory_read_bytes");

	start(s);
	step(p, ms);
	struct unc_value v = value_of(s, ratio);
	CHECK_NUMBER(v.flags & UNC_VALUE_VALID, 0);
	CU_ASSERT(v.value == 0 && v.interval == 0 && v.count == 0);
	CHECK_TEXT(unc_session_reason(s, ratio), "the denominator is 0");
	v = value_of(s, bytes);
	CHECK_NUMBER(v.flags & UNC_VALUE_VALID, UNC_VALUE_VALID);
	CU_ASSERT(v.value == 0);
	unc_session_free(s);
	unc_platform_close(p);
}

/* What is asked for while a pass after the other has its turn of 10 ms: two passes for a ratio, the
 * third one for a latency, all for what fits beside. */
static void test_reasons(void)
{
	enum { BYTES, RATIO, LATENCY, ITEMS };
	static const char *const name[ITEMS] = {
		[BYTES] = "memory_read_bytes", "cbo.LLC_DRD_MISS_PCT", "memory_read_latency_ns"};
	static const char waits[] =
		"measured in %d of %d passes so far; it has no value before all "
		"were measured";
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	struct unc_value v[ITEMS];
	static const char none[] =
		"its pass, one of 3, was not measured yet; it has no value before";
	char half[160];
	/* Where a turn begins, and at its end. */
	const char *const expected[4][2][ITEMS] = {
		{{"not measured: the time was too short", half, none}, {"", half, none}},
		{{"", half, none}, {"", "", none}},
		{{"", "", none}, {"", "", ""}},
		{{"", "", ""}, {"", "", ""}}, /* no interval has ended in no time */
	};

	snprintf(half, sizeof(half), waits, 1, 2);
	for (int i = 0; i < ITEMS; i++)
		CHECK_NUMBER(add(s, name[i]), i);
	CHECK_NUMBER(unc_session_passes(s), 3);
	start(s);
	for (int turn = 0; turn < 4; turn++) {
		for (int end = 0; end < 2; end++) {
			step(p, end ? 10 * ms : 0);
			CHECK_NUMBER(unc_session_read(s, v, ITEMS, sizeof(*v)), 0);
			for (int i = 0; i < ITEMS; i++) {
				const char *why = expected[turn][end][i];
				CHECK_TEXT(unc_session_reason(s, i), why);
				CHECK_NUMBER((v[i].flags & UNC_VALUE_VALID) != 0, !*why);
			}
		}
		CHECK_NUMBER(turn_pass(s), 0);
	}
	CHECK_TEXT(unc_session_reason(s, ITEMS), "");
	CHECK_TEXT(unc_session_reason(s, -1), "");
	CHECK_NUMBER(unc_session_stop(s), 0);
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- wraps */

/* Counters start in the middle of their range; a read comes before they could wrap twice. */
static void check_wrap(const char *cpu, const char *type, const char *other_ctl, uint64_t other,
		       const char *event, double rate, unsigned width)
{
	struct unc_platform *p = machine(cpu);
	const uint64_t half = (uint64_t)1 << (width - 1);
	double seconds = 0;
	void *foreign = reg_of(p, type, 0, 0, other_ctl), *ctr = reg_of(p, type, 0, 0, "CTR3");
	CU_ASSERT_FATAL(foreign && ctr);
	unc_sim_write(unc_machine_sim(p->machine), foreign, other);
	struct unc_session *s = session(p, 0);
	int id = add(s, event);
	start(s);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), ctr), half);
	while (unc_sim_read(unc_machine_sim(p->machine), ctr) >= half && seconds < 1e6) {
		step(p, 100000 * ms);
		seconds += 100;
		CHECK_COUNT(count_of(s, id), rate * seconds, 1);
	}
	CU_ASSERT(unc_sim_read(unc_machine_sim(p->machine), ctr) < half); /* it did wrap */
	step(p, 10 * ms);
	CHECK_COUNT(count_of(s, id), rate * (seconds + 0.01), 1);
	unc_session_free(s);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), foreign), other);
	unc_sim_write(unc_machine_sim(p->machine), foreign, 0);
	check_quiet(p);
	unc_platform_close(p);
}

static void test_wraps(void)
{
	check_wrap(SNB, "cbo", "CTL0", 0x400000, "cbo0.CLOCKTICKS:socket=0", uclk, 44);
	check_wrap(SNB, "imc", "CTL0", 0x400001, "imc0.RPQ_CYCLES_NE:socket=0", 0.62 * dclk, 48);
	check_wrap(EMR, "cha", "CTL0", 0x1, "cha0.CLOCKTICKS:socket=0", 2.2e9, 48);
}

static void test_free_running_wrap(void)
{
	struct unc_platform *p = machine(EMR ",wrap=soon");
	struct unc_session *s = session(p, 0);
	int id = add(s, "mc0.DCLK:socket=0");

	start(s);
	step(p, 10 * ms);
	CHECK_COUNT(count_of(s, id), 2.4e7, 1); /* past 2^48 */
	unc_session_free(s);
	/* and what was counted before the session is none of it */
	unc_platform_close(p);
	p = machine(EMR ",base=1000");
	s = session(p, 0);
	id = add(s, "mc0.DCLK:socket=0");
	start(s);
	step(p, 10 * ms);
	CHECK_COUNT(count_of(s, id), 2.4e7, 1);
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- two sessions on one unit */

static void test_join(void)
{
	struct unc_platform *p = machine(SNB);
	struct snapshot before = snapshot(p);
	struct unc_session *a = session(p, 0), *b = session(p, 0);
	int clock = add(a, "cbo0.CLOCKTICKS:socket=0"),
	    miss = add(b, "cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0");

	start(a);
	step(p, 10 * ms);
	start(b);
	/* joined: unit control is left alone */
	CHECK_TEXT(plan_of(b, UNC_PHASE_START, false).text,
		   "CTR1=0x80000000000 BOX_FILTER=0xc1000000 CTL1=0x400335");
	step(p, 10 * ms);
	CHECK_COUNT(count_of(a, clock), uclk * 0.02, 1);
	CHECK_COUNT(count_of(b, miss), drd_miss * 0.01, 1);
	CU_ASSERT(unc_session_stop(a) == 0); /* the first leaves: no freeze either */
	step(p, 10 * ms);
	CHECK_COUNT(count_of(b, miss), drd_miss * 0.02, 1);
	start(a); /* and comes back */
	step(p, 10 * ms);
	CHECK_COUNT(count_of(a, clock), uclk * 0.01, 1);
	CU_ASSERT(unc_session_stop(b) == 0);
	step(p, 10 * ms);
	CHECK_COUNT(count_of(a, clock), uclk * 0.02, 1);
	CHECK_COUNT(count_of(b, miss), drd_miss * 0.03, 1);
	unc_session_free(a);
	unc_session_free(b);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

/* A filter or fixed counter that two sessions need outlives the one that set it. */
static void test_shared_settings(void)
{
	struct unc_platform *p = machine(SNB);
	struct snapshot before = snapshot(p);
	struct unc_session *a = session(p, 0), *b = session(p, 0), *c = session(p, 0);
	int id;

	add(a, "cbo0.TOR_INSERTS:OPCODE:opc=0x182:socket=0");
	add(a, "imc0.DCLK:socket=0");
	int miss = add(b, "cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0"),
	    clock = add(b, "imc0.DCLK:socket=0");
	start(a);
	step(p, ms);
	start(b);
	step(p, ms);
	CU_ASSERT(unc_session_stop(a) == 0);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), msr(p, FILTER, 32)), 0xc1000000);
	step(p, 8 * ms);
	CHECK_COUNT(count_of(b, miss), drd_miss * 0.009, 1);
	CHECK_COUNT(count_of(b, clock), dclk * 0.009, 1);
	/* another value of the filter would spoil it */
	id = add(c, "cbo0.TOR_INSERTS:OPCODE:opc=0x180:socket=0");
	CU_ASSERT(unc_session_start(c) == UNC_ERR_BUSY);
	CHECK_TEXT(unc_session_error(c), "cbo0.TOR_INSERTS:OPCODE:opc=0x180:socket=0: BOX_FILTER "
					 "of cbo0 (socket 0) is in use "
					 "by another session of this program (0xc1000000)");
	step(p, ms);
	CHECK_COUNT(count_of(b, miss), drd_miss * 0.01, 1);
	CU_ASSERT(unc_session_stop(b) == 0);
	start(c); /* now it can */
	step(p, ms);
	CHECK_COUNT(count_of(c, id), (0.5e8 + 0.6e8) / 8 * 0.001, 1);
	unc_session_free(a);
	unc_session_free(b);
	unc_session_free(c);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

/* ---- foreign counters */

static void test_foreign(void)
{
	struct unc_platform *p = machine(SNB);
	void *ctl = msr(p, CTL3, 32), *ctr = msr(p, CTR3, 64);

	unc_sim_write(unc_machine_sim(p->machine), ctl, 0x400135);
	step(p, 10 * ms);
	struct snapshot before = snapshot(p);
	uint64_t counted = unc_sim_read(unc_machine_sim(p->machine), ctr);
	CU_ASSERT(counted > 0);
	struct unc_session *s = session(p, 0);
	int id = add(s, "cbo0.CLOCKTICKS:socket=0");
	start(s);
	CHECK_TEXT(plan_of(s, UNC_PHASE_READ, false).text, "CTR2");
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), ctr),
		     counted); /* neither reset ... */
	step(p, 10 * ms);
	CHECK_COUNT(count_of(s, id), uclk * 0.01, 1);
	CU_ASSERT(unc_session_stop(s) == 0);
	CHECK_NEAR((double)unc_sim_read(unc_machine_sim(p->machine), ctr), 2.0 * (double)counted,
		   1e-4); /* ... nor frozen */
	step(p, 10 * ms);
	CHECK_NEAR((double)unc_sim_read(unc_machine_sim(p->machine), ctr), 3.0 * (double)counted,
		   1e-4);
	/* A filter may matter to it: it stays. */
	unc_session_free(s);
	s = session(p, 0);
	id = add(s, "cbo0.TOR_INSERTS:OPCODE:opc=0x182:socket=0");
	CU_ASSERT(unc_session_start(s) == UNC_ERR_BUSY);
	CHECK_TEXT(unc_session_error(s),
		   "cbo0.TOR_INSERTS:OPCODE:opc=0x182:socket=0: counter 3 of cbo0 (socket 0) is "
		   "programmed "
		   "by somebody else (control 0x400135), and no filter is set beside it");
	unc_session_free(s);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

/*
 * A queue that somebody counts is not emptied: OCC_CTR_RST (bit 17) is left out beside a counter of
 * the same event, 0x23 QHL_OCCUPANCY, and written beside one of another, 0x03 GQ_ALLOC (SDM and guide
 * as in tests/encode/nehalem-ep.cases).
 */
static void test_counted_queue(void)
{
	static const struct {
		uint64_t found;
		const char *control;
	} cases[] = {{0, "CTL7=0x420423"},
		     {0x400103, "CTL6=0x420423"},
		     {0x400823, "CTL6=0x400423"},
		     {0x000823, "CTL7=0x420423"}}; /* not enabled: nobody counts */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct unc_platform *p = machine("nehalem-ep,clock=step");
		struct unc_session *s = session(p, 0);

		unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "unc", 0, 0, "CTL7"),
			      cases[i].found);
		if (cases[i].found) /* he counts */
			unc_sim_write(unc_machine_sim(p->machine),
				      reg_of(p, "unc", 0, 0, "GLOBAL_CTL"), 0x1000000FF);
		add(s, "unc.QHL_OCCUPANCY:LOCAL:socket=0");
		if (!strstr(plan_of(s, UNC_PHASE_START, false).text, cases[i].control)) {
			printf("# %s\n", plan_of(s, UNC_PHASE_START, false).text);
			CU_FAIL("the control");
		}
		unc_session_free(s);
		unc_platform_close(p);
	}
}

/*
 * GLOBAL_CTL of Nehalem-EP switches all counters of the socket: it is restored as found if nobody
 * has come meanwhile, on a counter that was free or on ours.
 */
static void test_common_control(void)
{
	static const struct {
		const char *comes; /* control that somebody writes while we count */
		uint64_t left;
	} cases[] = {{NULL, 0}, {"CTL1", 0x1000000FF}, {"CTL7", 0x1000000FF}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct unc_platform *p = machine("nehalem-ep,clock=step");
		struct unc_session *s = session(p, 0);
		void *global = reg_of(p, "unc", 0, 0, "GLOBAL_CTL");

		add(s, "unc.LLC_MISS:READ:socket=0");
		start(s);
		CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), global), 0x1000000FF);
		step(p, 10 * ms);
		if (cases[i].comes)
			unc_sim_write(unc_machine_sim(p->machine),
				      reg_of(p, "unc", 0, 0, cases[i].comes), 0x400103);
		CHECK_NUMBER(unc_session_stop(s), 0);
		CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), global), cases[i].left);
		unc_session_free(s);
		check_quiet(p);
		unc_platform_close(p);
	}
}

/* One unit of sixteen is taken whole: nothing is changed there, and the others are measured. */
static void test_all_taken(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);

	for (unsigned i = 0; i < 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "CTL%u", i);
		unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "cbo", 7, 1, name),
			      0x400037 + i);
	}
	void *ctr = reg_of(p, "cbo", 7, 1, "CTR0");
	step(p, ms);
	uint64_t counted = unc_sim_read(unc_machine_sim(p->machine), ctr);
	struct snapshot before = snapshot(p);
	struct unc_session *one = session(p, 0);
	int id = add(s, "cbo.CLOCKTICKS"), all = add(s, "cbo.TOR_INSERTS:OPCODE:opc=0x182"),
	    taken = add(s, "cbo7.CLOCKTICKS:socket=1");
	struct unc_value v[3];
	static const char *const why =
		"counter 0 of cbo7 (socket 1) is programmed by somebody else (control 0x400037) "
		"and no other counter is free for it";
	char text[400];

	start(s);
	step(p, ms); /* it goes on */
	CHECK_COUNT(unc_sim_read(unc_machine_sim(p->machine), ctr), 2.0 * (double)counted, 1);
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	CHECK_COUNT(v[id].count, uclk * 0.001, 1);
	CHECK_COUNT(v[all].count, 15 * drd * 0.001, 15);
	for (int i = 0; i < 2; i++) {
		CHECK_NUMBER(v[i].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_PARTIAL);
		CHECK_NUMBER(v[i].units, 15);
		CHECK_NUMBER(v[i].of, 16);
		CHECK_TEXT(unc_session_reason(s, i), "");
		CU_ASSERT(strncmp(unc_session_partial(s, i), "cbo7 (socket 1): cbo.", 21) == 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_partial(s, i), why));
	}
	CHECK_NUMBER(v[taken].flags, UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_partial(s, taken), "");
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_reason(s, taken), why));
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_RESTORED(p, before);
	before = snapshot(p);
	/* where no other unit is left nothing is started */
	add(one, "cbo7.CLOCKTICKS:socket=1");
	CU_ASSERT(unc_session_start(one) == UNC_ERR_BUSY);
	snprintf(text, sizeof(text), "cbo7.CLOCKTICKS:socket=1: %s", why);
	CHECK_TEXT(unc_session_error(one), text);
	CHECK_RESTORED(p, before);
	CU_ASSERT(unc_session_read(one, v, 1, sizeof(*v)) == UNC_ERR_STATE);
	/* when one is given back it starts */
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "cbo", 7, 1, "CTL2"), 0);
	start(one);
	step(p, ms);
	CHECK_COUNT(count_of(one, 0), uclk * 0.001, 1);
	unc_session_free(one);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

/* What was in the registers without counting is restored. */
static void test_restored(void)
{
	struct unc_platform *p = machine(SNB);

	unc_sim_write(unc_machine_sim(p->machine), msr(p, CTL1, 32),
		      0x12); /* not enabled: nobody counts */
	unc_sim_write(unc_machine_sim(p->machine), msr(p, FILTER, 32), 0x1f << 18);
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "qpi", 1, 1, "PKT_MASK0"), 0x1fe0);
	struct snapshot before = snapshot(p);
	struct unc_session *s = session(p, 0);
	int id = add(s, "cbo0.TOR_INSERTS:OPCODE:opc=0x182:socket=0");
	add(s, "qpi.CTO_COUNT:mc=DRS:opc=4");
	add(s, "imc.DCLK");
	add(s, "ubox.UCLK");
	add(s, "pcu.FREQ_BAND0_CYCLES:band0=20");
	start(s);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), msr(p, CTL1, 32)), 0x400135);
	step(p, ms);
	CHECK_COUNT(count_of(s, id), drd * 0.001, 1);
	CU_ASSERT(unc_session_stop(s) == 0);
	CHECK_RESTORED(p, before);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

/* A machine made of files, on which MSRs from 0xD30 on cannot be written. */
static struct unc_platform *half_writable(struct fake_root *root, struct rlimit *before)
{
	struct unc_options options = {.size = sizeof(options), .sim = ""};
	struct unc_platform *p = NULL;
	struct rlimit limit;

	fake_new(root);
	fake_text(fake_path(root, "/proc/cpuinfo"),
		  "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 45\n"
		  "model name : x\nstepping : 7\nphysical id : 0\ncore id : 0\n");
	fake_size(fake_path(root, "/dev/cpu/0/msr"), 0x2000);
	options.sysroot = root->path;
	if (unc_platform_open(&options, &p) < 0)
		printf("# %s\n", unc_open_error());
	CU_ASSERT_FATAL(p != NULL);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, before);
	limit = *before;
	limit.rlim_cur = 0xD30;
	CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	return p;
}

/* A write fails in the middle of the programming: what was written is restored. */
static void test_failing_start(void)
{
	struct fake_root root;
	struct rlimit before;
	struct unc_platform *p = half_writable(&root, &before);
	struct unc_session *s = session(p, 0);
	char sentence[200];
	int rc, id = add(s, "cbo.CLOCKTICKS");

	rc = unc_session_start(s);
	snprintf(sentence, sizeof(sentence), "%s", unc_session_error(s));
	setrlimit(RLIMIT_FSIZE, &before);
	CU_ASSERT(rc == UNC_ERR_IO);
	CHECK_TEXT(
		sentence,
		"programming the counters failed: CTR3 of cbo1 (socket 0) at msr 0xd20 on cpu 0: "
		"File too large");
	const char *file = fake_path(&root, "/dev/cpu/0/msr");
	/* nothing is left frozen or counting: CBo 0 was let go, the others were not reached */
	CHECK_NUMBER(fake_get(file, 0xD04, 4), 0x10000);
	CHECK_NUMBER(fake_get(file, 0xD13, 4), 0);
	CHECK_NUMBER(held_registers(p), 0);
	struct unc_value v;
	CU_ASSERT(unc_session_read(s, &v, 1, sizeof(v)) == UNC_ERR_STATE);
	start(s); /* the same session, when it is possible */
	CHECK_NUMBER(fake_get(file, 0xD13, 4), 0x400000);
	v = value_of(s, id); /* files count nothing */
	CHECK_NUMBER(v.flags, UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_reason(s, id),
		   "cbo.CLOCKTICKS: cbo0 (socket 0) does not count: it is frozen, by a program "
		   "that was "
		   "killed or one that froze the socket (LIKWID, PCM, an old kernel's perf), or "
		   "nothing drives its clock");
	CU_ASSERT(unc_session_stop(s) == 0);
	CHECK_NUMBER(fake_get(file, 0xD13, 4), 0);
	unc_session_free(s);
	unc_platform_close(p);
	fake_free(&root);
}

/* A refused add leaves what was measured; a good one begins anew. */
static void test_refused_add(void)
{
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0), *none = NULL;
	int id = add(s, "pcu.CLOCKTICKS"), other;

	start(s);
	step(p, ms);
	CU_ASSERT(unc_session_stop(s) == 0);
	uint64_t count = count_of(s, id);
	CU_ASSERT(count > 0);
	CU_ASSERT_EQUAL(unc_session_add(s, "pcu.CLOCKTOCKS", &other), UNC_ERR_NOT_FOUND);
	CHECK_NUMBER(count_of(s, id), count);
	add(s, "pcu.DEMOTIONS");
	CU_ASSERT_EQUAL(unc_session_read(s, NULL, 0, sizeof(struct unc_value)), UNC_ERR_STATE);
	unc_session_free(s);
	CU_ASSERT_EQUAL(unc_session_new(p, 12, &none), UNC_ERR_INVALID);
	CHECK_TEXT(unc_platform_error(p), "unknown flags 0xc for a session");
	CU_ASSERT_PTR_NULL(none);
	unc_platform_close(p);
}

/* A machine with a session over events from all its units, more than fit at once. */
static void test_everything(void)
{
	const struct unc_cpu *cpu;
	char sim[64];

	for (size_t c = 0; (cpu = unc_cpu_get(NULL, c)) != NULL; c++) {
		snprintf(sim, sizeof(sim), "%s,clock=step", cpu->name);
		struct unc_platform *p = machine(sim);
		struct snapshot before = snapshot(p);
		struct unc_session *s = session(p, UNC_SESSION_ROTATE);
		size_t every = unc_platform_cpu(p)->n_events > 200 ? 7 : 1;
		unsigned added = 0;
		int id;

		for (size_t i = 0; unc_event_get(p, i); i++) {
			const struct unc_event *e = unc_event_get(p, i);

			if (!e->needs_umask && i % every == 0 &&
			    unc_session_add(s, e->spec, &id) == 0)
				added++;
		}
		CU_ASSERT(added > (every == 1 ? 2 : 10));
		start(s);
		for (int i = 0; i < unc_session_passes(s); i++) {
			struct unc_value v;

			step(p, ms);
			CU_ASSERT(unc_session_read(s, &v, 1, sizeof(v)) == 0);
			CU_ASSERT(turn_pass(s) == 0);
		}
		unc_session_free(s);
		CHECK_RESTORED(p, before);
		check_quiet(p);
		unc_platform_close(p);
	}
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"intervals", test_intervals},
		{"stop, read again, reset, start again", test_stop_and_reset},
		{"no ratio without a denominator", test_no_ratio},
		{"why there is no value yet", test_reasons},
		{"wraps of programmable counters", test_wraps},
		{"free-running counters", test_free_running_wrap},
		{"two sessions on one unit", test_join},
		{"filters and fixed counters that two sessions need", test_shared_settings},
		{"a foreign counter", test_foreign},
		{"a queue that somebody counts is not emptied", test_counted_queue},
		{"a control of all counters is left to whoever came", test_common_control},
		{"all counters taken", test_all_taken},
		{"registers are restored", test_restored},
		{"a start that fails half way", test_failing_start},
		{"a refused add leaves what was measured", test_refused_add},
		{"many events, in turn", test_everything},
		{NULL, NULL},
	};

	return suite_run("session, running", tests);
}
