/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated machine: registers and counting, with the stepped clock. The guides say what registers do: Intel
 * 327043-001 chapter 2 (Sandy Bridge-EP, SNB), Intel 817509-001 section 1.4 (Emerald Rapids, EMR). Expected counts
 * follow from lines of workload.tbl, here "line N", or from the rule at the head of common/sim/sim_rate.c.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim_kit.h"

/* TOR_INSERTS:EVICTION, SNB line 299: victims / 8, with victims = 2.88e8. */
enum { EVICTION = 0x435, EVICTIONS = 36000 /* in 1 ms */ };
/* CLOCKTICKS of the CBo, SNB lines 13 and 92: 2.7e9. Of channels, line 15: 0.8e9. */
enum { CLOCKS = 2700000, DCLKS = 800000 /* in 1 ms */ };
/* TOR_OCCUPANCY:MISS_OPCODE of DRd, SNB line 134: 1.6e8 * 105e-9 / 8 = 2.1 a clock. */
enum { TOR = 0x336, TOR_ENTRIES = 5670000 /* 2.1 * 2.7e6 in 1 ms */ };
/* MSRs of CHA 0 of EMR. Its clock is 2.2e9: lines 20 and 170. */
enum { UNIT_CTL = 0x2000, UNIT_STATUS, CHA_CTL, CHA_CTR = 0x2008 };
enum { GLOBAL_CTL = 0x2FF0, CHA_CLOCKS = 2200000 /* in 1 ms */ };
/* Counters of IIO 0 of EMR that always run. */
enum { BW_IN0 = 0x3800, IOCLK = 0x340E };
/* A channel and a QPI port of SNB. */
enum { CHANNEL = UNC_DEVFN(0x10, 1), QPI = UNC_DEVFN(8, 2), QPI_MATCH = UNC_DEVFN(8, 6) };

/* Sets the filter of CBo 0 and starts its counter 0, from 0. */
static void start(struct unc_sim *sim, uint64_t ctl, uint64_t filter)
{
	unc_sim_write(sim, msr32(sim, CTL), 0);
	unc_sim_write(sim, msr32(sim, FILTER), filter);
	unc_sim_write(sim, msr32(sim, CTL), ctl | EN | RST);
}

/* What a control value of a CBo counts in 1 ms. */
static uint64_t count(struct unc_sim *sim, uint64_t ctl, uint64_t filter)
{
	start(sim, ctl, filter);
	return counted(sim, msr64(sim, CTR), ms);
}

/* ---- registers */

#define AT(devfn, offset) UNC_PCI(0, 0x7f, devfn, offset)
#define RUN (EVICTION | EN)

/* Registers of a unit. */
enum { C /* control */, U /* unit control */, N /* counter */ };
struct unit {
	int space;
	unsigned width;
	uint64_t at[3];
};
static const struct unit cbo = {UNC_SPACE_MSR, 32, {CTL, BOX, CTR}},
			 cha = {UNC_SPACE_MSR, 64, {CHA_CTL, UNIT_CTL, CHA_CTR}},
			 all = {UNC_SPACE_MSR, 64, {CHA_CTL, GLOBAL_CTL, CHA_CTR}},
			 imc = {UNC_SPACE_PCI,
				32,
				{AT(CHANNEL, 0xF0), AT(CHANNEL, 0xF4), AT(CHANNEL, 0xD0)}};

/* Unit and machine of the row before. */
#define SAME NULL, NULL

static const struct {
	const struct unit *unit;
	const char *spec;
	unsigned to; /* C, U or N, which is written */
	uint64_t value;
	uint64_t ctl, count; /* what control and counter hold 1 ms later */
} steps[] = {
	{&cbo, SNB, C, EVICTION, EVICTION, 0}, /* not enabled */
	{SAME, C, RUN, RUN, 1 * EVICTIONS},
	{SAME, U, FRZ, RUN, 2 * EVICTIONS}, /* no frz_en: no effect (327043-001, table 2-9) */
	{SAME, U, FRZ_EN | FRZ, RUN, 2 * EVICTIONS},
	{SAME, U, FRZ_EN, RUN, 3 * EVICTIONS},
	{SAME, C, EVICTION, EVICTION, 3 * EVICTIONS},
	{SAME, C, RUN | RST, RUN, EVICTIONS}, /* the counter's own reset is not stored */
	{SAME, C, RUN | RST, RUN, EVICTIONS},
	{SAME, U, FRZ_EN | FRZ | RST_CTRS, RUN, 0},
	{SAME, U, RST_CTRL, 0, 0}, /* clears frz as well */
	{SAME, C, RUN, RUN, EVICTIONS},
	{SAME, U, FRZ_EN | RST_CTRL, 0, EVICTIONS},
	{SAME, N, ONES(44) - 9999, 0, ONES(44) - 9999},
	{SAME, C, RUN, RUN, EVICTIONS - 10000}, /* 44 bits */
	/* No enable bit, freeze without an enable, resets at bits 8 and 9. */
	{&cha, EMR, C, 0x0100, 0x0100, 0}, /* a umask without a code */
	{SAME, C, 0x01, 0x01, CHA_CLOCKS},
	{SAME, U, 0x001, 0x01, CHA_CLOCKS},
	{SAME, U, 0x301, 0, 0},
	{SAME, C, 0x01, 0x01, 0},
	{SAME, U, 0x000, 0x01, CHA_CLOCKS},
	{SAME, U, 0x300, 0, 0},
	/* A fixed counter is a clock, at any load. */
	{&imc, SNB ",load=0", C, 0, 0, 0},
	{SAME, C, EN, EN, DCLKS},
	{SAME, C, EN | 0x80000, EN, DCLKS}, /* rst is bit 19 (327043-001, table 2-62) */
	{SAME, U, FRZ_EN | FRZ, EN, DCLKS},
	/* Frozen until the register is written that freezes the socket. */
	{&all, EMR ",frozen=0", C, 0x01, 0x01, 0},
	{SAME, U, 0, 0x01, CHA_CLOCKS},
	{SAME, U, 1, 0x01, CHA_CLOCKS},
	{SAME, U, 0, 0x01, 2 * CHA_CLOCKS},
	/* SNB has none. */
	{&cbo, SNB ",frozen=0", C, RUN, RUN, 0},
	{SAME, U, FRZ_EN, RUN, 0},
};

static void test_steps(void)
{
	const struct unit *unit = NULL;
	struct unc_sim *sim = NULL;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (steps[i].unit) {
			CHECK_NUMBER(sim ? violations(sim) : 0, 0);
			unc_sim_close(sim);
			sim = machine(steps[i].spec);
			unit = steps[i].unit;
		}
		void *reg[3];
		for (unsigned k = 0; k < 3; k++)
			reg[k] = need(sim, unit->space, 0, unit->at[k], k == N ? 64 : unit->width);
		unc_sim_write(sim, reg[steps[i].to], steps[i].value);
		unc_sim_step(sim, ms);
		CHECK_NUMBER(unc_sim_read(sim, reg[C]), steps[i].ctl);
		CHECK_NUMBER(unc_sim_read(sim, reg[N]), steps[i].count);
	}
	CHECK_NUMBER(violations(sim), 0);
	unc_sim_close(sim);
}

/* Reads and stops lose no fraction: RxL_CREDITS_CONSUMED_VN0:NCS of a QPI port, SNB line 630, 2000/s. */
static void test_fractions(void)
{
	struct unc_sim *sim = machine(SNB);
	void *box = pci(sim, 0, QPI, 0xF4, 32);
	void *ctr[2] = {pci(sim, 0, QPI, 0xA0, 64), pci(sim, 0, QPI, 0xA8, 64)};

	for (unsigned i = 0; i < 2; i++)
		unc_sim_write(sim, pci(sim, 0, QPI, 0xD8 + 4 * i, 32), 0x41E | EXT | EN);
	for (unsigned i = 0; i < 100000; i++) {
		unc_sim_step(sim, 7000); /* 0.014 counts */
		unc_sim_read(sim, ctr[0]);
		if (i % 1000 == 0)
			unc_sim_write(sim, box, FRZ_EN | FRZ);
		unc_sim_write(sim, box, FRZ_EN);
	}
	CU_ASSERT(unc_sim_read(sim, ctr[0]) >= 1399 && unc_sim_read(sim, ctr[0]) <= 1400);
	CHECK_NUMBER(unc_sim_read(sim, ctr[1]), unc_sim_read(sim, ctr[0]));
	unc_sim_close(sim);
}

static void check_violation(const struct unc_sim *sim, unsigned n, const char *text)
{
	char last[160];

	CHECK_NUMBER(unc_sim_violations(sim, last, sizeof(last)), n);
	CHECK_TEXT(last, text);
}

static void test_violations(void)
{
	struct unc_sim *sim = machine(SNB);
	void *c3 = msr64(sim, 0x3FC), *ctl1 = msr32(sim, CTL + 1), *ctr = msr64(sim, CTR);

	CHECK_NUMBER(unc_sim_read(sim, msr32(sim, BOX)), 0);
	check_violation(sim, 1, "socket 0 cbo0 BOX_CTL: is write-only and was read");
	unc_sim_write(sim, ctl1, 0x300042);
	CHECK_NUMBER(unc_sim_read(sim, ctl1), 0x42);
	check_violation(sim, 2, "socket 0 cbo0 CTL1: reserved bits 0x300000 were written as 1");
	/* The iMC has no reset bits (327043-001, table 2-60). */
	unc_sim_write(sim, pci(sim, 0, UNC_DEVFN(0x10, 0), 0xF4, 32), 0x10103);
	check_violation(sim, 3, "socket 0 imc0 BOX_CTL: reserved bits 0x3 were written as 1");
	unc_sim_write(sim, c3, 1);
	CHECK_NUMBER(unc_sim_read(sim, c3), 0);
	check_violation(sim, 4, "socket 0 pcu0 CORE_C3_CTR: is read-only, 0x1 was written");
	unc_sim_write(sim, ctr, (uint64_t)1 << 44);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	check_violation(sim, 5,
			"socket 0 cbo0 CTR0: reserved bits 0x100000000000 were written as 1");
	unc_sim_close(sim);
}

/* A machine by the path of its file, whose status register of CHA 0 has two bits set: 1 clears one. */
static void test_status(void)
{
	static const char text[] =
		"uncore machine 2\nlike emerald-rapids\ndevice dev/cpu/0/msr 0\n 0x2001 0x5\nend\n";
	char path[] = "/tmp/uncore-sim-XXXXXX";
	const int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT(write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
	close(fd);
	struct unc_sim *sim = machine(path);
	unlink(path);
	void *status = msr64(sim, UNIT_STATUS);
	CHECK_NUMBER(unc_sim_read(sim, status), 0x5);
	unc_sim_write(sim, status, 0x2);
	CHECK_NUMBER(unc_sim_read(sim, status), 0x5);
	unc_sim_write(sim, status, 0x4);
	CHECK_NUMBER(unc_sim_read(sim, status), 0x1);
	CHECK_NUMBER(violations(sim), 0);
	unc_sim_close(sim);
}

/* ---- rates */

static void test_rates(void)
{
	static const struct {
		uint64_t ctl, filter, count;
	} rows[] = {
		{0x00, 0, CLOCKS},
		{TOR, DRD, TOR_ENTRIES},
		{0x135, DRD, 50000},            /* line 131: 4e8 / 8 */
		{0x135, DRD | 1 << 10, 50000},  /* a field that the line does not name */
		{0x335, DRD, 20000},            /* line 132: 1.6e8 / 8 */
		{0x4135, DRD | 1 << 10, 25000}, /* line 137: nid=0x1, half of line 131 */
		{0x334, 0x1F << 18, 78250},     /* line 93: (3.56e8 + 2.7e8) / 8 */
		{0x334, 0x01 << 18, 33750},     /* line 94: 2.7e8 / 8 */
		{0x112, 0, 10800},              /* line 372: 0.004 * clock */
		{0x212, 0, 5400},               /* line 373: 0.002 */
		{0x412, 0, 16200},              /* line 374: 0.006 */
		{0x312, 0, 16200},              /* umasks add up */
		{0x712, 0, 32400},
		{0x806, 0, 0},   /* line 384: a rate of 0 is a rate */
		{0xA06, 0, 270}, /* and line 382: 1e-4 * clock */
		/* A clock is 1 in every clock. */
		{THRESH(1), 0, CLOCKS},
		{THRESH(2), 0, 0},
		{THRESH(1) | INV, 0, 0},
		{THRESH(2) | INV, 0, CLOCKS},
		{THRESH(1) | EDGE, 0, 0},
		/* Without a threshold both do nothing (327043-001, table 2-10). */
		{TOR | EDGE, DRD, TOR_ENTRIES},
		{TOR | INV, DRD, TOR_ENTRIES},
	};
	struct unc_sim *sim = machine(SNB);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_NUMBER(count(sim, rows[i].ctl, rows[i].filter), rows[i].count);
	/* Filters keep what they hold. */
	unc_sim_write(sim, msr32(sim, BOX), RST_CTRL | RST_CTRS);
	CHECK_NUMBER(unc_sim_read(sim, msr32(sim, FILTER)), DRD);
	CHECK_NUMBER(violations(sim), 0);
	unc_sim_close(sim);
}

/* An event without a line counts 0.01 % to 1 % of the clock, always the same. */
static uint64_t own_rate(struct unc_sim *sim, uint64_t ctl, uint64_t filter)
{
	uint64_t n = count(sim, ctl, filter);

	CU_ASSERT(n >= CLOCKS / 10000 && n <= CLOCKS / 100);
	CHECK_NUMBER(count(sim, ctl, filter), n);
	return n;
}

static void test_own_rates(void)
{
	struct unc_sim *sim = machine(SNB);
	uint64_t before = 0, sum;

	for (unsigned code = 0x40; code < 0x60; code++) {
		uint64_t n = own_rate(sim, code, 0);

		CU_ASSERT(n != before);
		before = n;
	}
	own_rate(sim, 0xFF50, 0);
	own_rate(sim, 0x135, (uint64_t)0x183 << 23); /* no line has this opc */
	CHECK_NUMBER(count(sim, 0x50 | EDGE, 0),
		     count(sim, 0x50, 0)); /* modifiers choose nothing */
	/* Umask bits without a line add up, beside lines (372 to 374) and without any. */
	sum = 32400 + own_rate(sim, 0x1012, 0);
	CU_ASSERT(labs((long)(count(sim, 0x1712, 0) - sum)) <= 1);
	sum = own_rate(sim, 0x144, 0) + own_rate(sim, 0x244, 0) + own_rate(sim, 0x1044, 0);
	CU_ASSERT(labs((long)(count(sim, 0x1344, 0) - sum)) <= 3);
	unc_sim_close(sim);
}

/* P(X >= t) = q^t up to the largest increment, 20: the histogram adds up to the plain count. */
static void test_threshold(void)
{
	struct unc_sim *sim = machine(SNB);
	double n[22] = {CLOCKS}, sum = 0;

	for (unsigned t = 1; t <= 21; t++)
		sum += n[t] = (double)count(sim, TOR | THRESH(t), DRD);
	const double q = n[1] / CLOCKS, rises = q * (CLOCKS - n[1]);
	CU_ASSERT_DOUBLE_EQUAL(sum, TOR_ENTRIES, 20); /* each is cut to a whole number */
	for (unsigned t = 2; t <= 5; t++)
		CU_ASSERT_DOUBLE_EQUAL(n[t] / n[t - 1], q, 1e-5);
	CU_ASSERT(n[20] > 0 && n[21] <= 0);
	/* Invert: the other clocks. Edge: rises, and as many falls. */
	const uint64_t any = TOR | THRESH(1);
	CU_ASSERT_DOUBLE_EQUAL((double)count(sim, any | INV, DRD), CLOCKS - n[1], 1);
	CU_ASSERT_DOUBLE_EQUAL((double)count(sim, any | EDGE, DRD), rises, 2);
	CU_ASSERT_DOUBLE_EQUAL((double)count(sim, any | EDGE | INV, DRD), rises, 2);
	/* An event of at most 1 a clock: RxR_INSERTS:IRQ, line 349, 7.942e8 / 8. */
	CU_ASSERT_DOUBLE_EQUAL((double)count(sim, 0x113 | THRESH(1), 0), 99275, 1);
	CHECK_NUMBER(count(sim, 0x113 | THRESH(2), 0), 0);
	unc_sim_close(sim);
}

/* COUNTER0_OCCUPANCY: other counters show what counter 0 holds, which must be an occupancy. */
static void test_lane(void)
{
	struct unc_sim *sim = machine(SNB);
	void *ctr[] = {msr64(sim, CTR + 1), msr64(sim, CTR + 2)};

	unc_sim_write(sim, msr32(sim, CTL + 1), 0x1F | EN);
	check_violation(sim, 1, "socket 0 cbo0 CTL1: its lane is led by no event of its set");
	start(sim, EVICTION, DRD);
	CU_ASSERT(violations(sim) > 1);
	CHECK_NUMBER(counted(sim, ctr[0], ms), 0);
	const uint64_t busy = count(sim, TOR | THRESH(1), DRD);
	start(sim, TOR, DRD);
	const unsigned before = violations(sim);
	unc_sim_write(sim, msr32(sim, CTL + 2), 0x1F | EN | THRESH(1));
	unc_sim_write(sim, ctr[0], 0);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr[0]), TOR_ENTRIES);
	CHECK_NUMBER(unc_sim_read(sim, ctr[1]), busy);
	CHECK_NUMBER(violations(sim), before);
	unc_sim_close(sim);
}

/* The filter of a QPI port is in another function: CTO_COUNT, by the message class. */
static void test_filter_in_other_function(void)
{
	struct unc_sim *sim = machine(SNB);
	void *match = pci(sim, 0, QPI_MATCH, 0x228, 32);
	void *ctr = pci(sim, 0, QPI, 0xA0, 64);

	unc_sim_write(sim, pci(sim, 0, QPI_MATCH, 0x238, 32), 0xF << 9);
	unc_sim_write(sim, match, 0x4 << 9);
	unc_sim_write(sim, pci(sim, 0, QPI, 0xD8, 32), 0x38 | EXT | EN);
	CHECK_NUMBER(counted(sim, ctr, ms), 100);    /* line 664: NCS, 1e5 */
	unc_sim_write(sim, match, 0x1 << 9);         /* while it counts */
	CHECK_NUMBER(counted(sim, ctr, ms), 135000); /* line 661: HOM1, 2.7e8 / 2 */
	unc_sim_close(sim);
}

/* ---- options */

/* What a counter of CPU 0 holds, or of another one, some ms after an MSR of CPU 0 was written. */
static void test_values(void)
{
	static const char slow[] = EMR ",base=1000,load=0.5", soon[] = EMR ",wrap=soon";
	static const struct {
		const char *spec;
		uint64_t ctl, value, ctr, time, held;
		unsigned cpu;
	} rows[] = {
		/* Line 1271: 0.6 * 2 * 0.8e8 / 8 = 1.2e7 at load 1. */
		{slow, CHA_CTL, 0x01, BW_IN0, 0, 6000000000, 0},
		{slow, CHA_CTL, 0x01, BW_IN0, 1, 6000006000, 0},
		/* Lines 26 and 1115: 1e9 at any load. */
		{slow, CHA_CTL, 0x01, IOCLK, 1, 1000001000000, 0},
		{soon, CHA_CTL, 0x01, BW_IN0, 100, 1200000 - 1000000, 0},
		{soon, CHA_CTL, 0x01, CHA_CTR, 100, 100 * CHA_CLOCKS - 1000000, 0},
		{SNB ",wrap=soon", CTL, RUN, CTR, 0, ONES(44) - 999999, 0},
		{SNB ",wrap=soon", CTL, RUN, CTR, 100, 100 * EVICTIONS - 1000000, 0},
		{SNB ",load=0.25", CTL, RUN, CTR, 1, EVICTIONS / 4, 0},
		{SNB ",load=0.25", CTL, EN, CTR, 1, CLOCKS, 0},
		/* The UBox has no unit control: line 12. */
		{SNB, 0xC08, EN, 0xC09, 1, 2700000, 0},
		/* Extension bits: IA_HIT_RFO, line 193, 1.6e8 / 32; IA_MISS_DRD, line 207, 4e8 / 32. */
		{EMR, CHA_CTL, 0xC807FD00000135, CHA_CTR, 1, 5000, 0},
		{EMR, CHA_CTL, 0xC817FE00000135, CHA_CTR, 1, 12500, 0},
		/* CPU 7 is of socket 0, CPU 8 of socket 1. */
		{SNB, CTL, RUN, CTR, 1, EVICTIONS, 7},
		{SNB, CTL, RUN, CTR, 1, 0, 8},
		{SNB ",sockets=1", CTL, RUN, CTR, 1, EVICTIONS, 7},
		{SNB ",frozen=1", CTL, RUN, CTR, 1, EVICTIONS, 0},
		{EMR ",frozen=0", CHA_CTL, 0x01, IOCLK, 1, 1000000, 0},
		{SNB ",idle=cbo", CTL, RUN, CTR, 1, 0, 0},
		{SNB ",idle=cbo@0", CTL, RUN, CTR, 1, 0, 0},
		{SNB ",idle=cbo1,idle=cbo0@0", CTL, RUN, CTR, 1, 0, 0},
		{SNB ",idle=cbo1,idle=cbo@1,idle=imc", CTL, RUN, CTR, 1, EVICTIONS, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_sim *sim = machine(rows[i].spec);
		const unsigned width = rows[i].ctl < CHA_CTL ? 32 : 64;

		unc_sim_write(sim, need(sim, UNC_SPACE_MSR, 0, rows[i].ctl, width), rows[i].value);
		unc_sim_step(sim, rows[i].time * ms);
		void *ctr = need(sim, UNC_SPACE_MSR, rows[i].cpu, rows[i].ctr, 64);
		CHECK_NUMBER(unc_sim_read(sim, ctr), rows[i].held);
		unc_sim_close(sim);
	}
}

/* clock=step does not wait, clock=wait moves its time on. SNB line 10: tsc_hz=2.7e9. */
static void test_clock(void)
{
	struct unc_machine *step = &machine(SNB)->machine;
	struct unc_machine *wait =
		&machine("sandybridge-ep,clock=wait,base=10,memory=1600")->machine;

	CU_ASSERT(!step->methods->pause(step, ms) && wait->methods->pause(wait, ms));
	CHECK_NUMBER(unc_machine_now(step), 0);
	CHECK_NUMBER(unc_machine_now(wait), ms);
	CHECK_NUMBER(unc_sim_tsc(unc_machine_sim(wait)), 27000000000 + 2700000);
	CHECK_NUMBER(wait->memory_speed, 1600);
	unc_machine_close(step);
	unc_machine_close(wait);
}

static void test_bad_options(void)
{
	static const struct {
		int code;
		const char *spec, *text;
	} rows[] = {
		{UNC_ERR_INVALID, SNB ",foo=1", "unknown option 'foo=1'; options are "},
		{UNC_ERR_INVALID, SNB ",load", "unknown option 'load'"},
		{UNC_ERR_INVALID, SNB ",sockets=9", "sockets=9: possible is 1 to 8"},
		{UNC_ERR_INVALID, SNB ",sockets=3", "there is no machine sandybridge-ep-3s"},
		{UNC_ERR_INVALID, SNB ",load=2", "load=2: possible is 0 to 1"},
		{UNC_ERR_INVALID, SNB ",idle=foo", "idle=foo: no such unit type; there are: "},
		{UNC_ERR_INVALID, SNB ",idle=imc0@",
		 "idle=imc0@: want TYPE[INDEX][@SOCKET] of imc"},
		{UNC_ERR_INVALID, SNB ",frozen=99", "possible is the number of a socket"},
		{UNC_ERR_INVALID, SNB ",frozen=2", "frozen=2: there are sockets 0 to 1"},
		{UNC_ERR_INVALID, SNB ",idle=imc9@1", "idle=imc9@1: it has no such unit"},
		{UNC_ERR_INVALID, SNB ",seed=1", "seed= is for load=live"},
		{UNC_ERR_NOT_FOUND, "sandybridge-epp", "no simulated machine 'sandybridge-epp'"},
		{UNC_ERR_NOT_FOUND, "/nowhere/machine", "/nowhere/machine"},
		{UNC_ERR_INVALID, "/tmp", "/tmp is a folder, no file of 'uncore gather'"},
	};
	size_t n;
	const struct unc_table *const *tables = built_tables(&n);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_sim *sim = NULL;
		struct unc_error err = {0};
		int rc = unc_sim_open(rows[i].spec, "node", tables, n, &sim, &err);

		if (rc == 0) {
			rc = sim_units(sim, &err);
			unc_sim_close(sim);
		}
		CHECK_NUMBER(rc, rows[i].code);
		if (!strstr(err.text, rows[i].text))
			CHECK_TEXT(err.text, rows[i].text);
	}
}

/* ---- the wall clock */

/* Reads or writes two registers at one time; whether it was done. */
static bool run_two(struct unc_sim *sim, int kind, void *const reg[2], uint64_t value[2])
{
	struct unc_reg_op op[2];

	for (unsigned i = 0; i < 2; i++) {
		op[i] = (struct unc_reg_op){.kind = (uint8_t)kind, .value = value[i], .error = 1};
		op[i].handle.sim = reg[i];
	}
	unc_sim_run(sim, op, 2);
	for (unsigned i = 0; i < 2; i++)
		value[i] = op[i].value;
	return op[0].error == 0 && op[1].error == 0;
}

static void *pair[2]; /* counters 0 and 1 of CBo 0 */

/* NULL: two counters that were started at one time always held the same, and never went back. */
static void *read_often(void *user)
{
	struct unc_sim *sim = user;
	uint64_t last = 0, value[2] = {0};

	for (unsigned i = 0; i < 20000; i++, last = value[0])
		if (!run_two(sim, UNC_OP_READ, pair, value) || value[0] < last ||
		    value[0] != value[1])
			return sim;
	return last ? NULL : sim;
}

/* Batches of two threads while a third freezes their unit. */
static void test_threads(void)
{
	struct unc_sim *sim = machine("sandybridge-ep");
	void *ctl[] = {msr32(sim, CTL), msr32(sim, CTL + 1)}, *wrong;
	pthread_t thread[2];

	for (unsigned i = 0; i < 2; i++)
		pair[i] = msr64(sim, CTR + i);
	CU_ASSERT(run_two(sim, UNC_OP_WRITE, ctl, (uint64_t[]){EN, EN}));
	for (unsigned i = 0; i < 2; i++)
		CU_ASSERT_FATAL(pthread_create(&thread[i], NULL, read_often, sim) == 0);
	for (unsigned i = 0; i < 5000; i++) {
		unc_sim_write(sim, msr32(sim, BOX), i % 2 ? FRZ_EN : FRZ_EN | FRZ);
		unc_sim_write(sim, msr32(sim, CTL + 2), i % 2 ? EN : 0);
	}
	for (unsigned i = 0; i < 2; i++)
		CU_ASSERT(pthread_join(thread[i], &wrong) == 0 && wrong == NULL);
	unc_sim_close(sim);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"control, freeze, resets, wrap", test_steps},
		{"no fraction of a count is lost", test_fractions},
		{"write-only, read-only and reserved bits", test_violations},
		{"status of a machine by its path: written 1 to clear", test_status},
		{"rates, filters, umasks", test_rates},
		{"events without a line", test_own_rates},
		{"histogram, invert, edge", test_threshold},
		{"COUNTER0_OCCUPANCY", test_lane},
		{"filter in another PCI function", test_filter_in_other_function},
		{"values, by options", test_values},
		{"clock=, memory=", test_clock},
		{"bad options", test_bad_options},
		{"batches of several threads", test_threads},
		{NULL, NULL},
	};

	return suite_run("sim", tests);
}
