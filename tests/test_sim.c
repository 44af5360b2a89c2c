/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated machine: registers and counting, on the small CPUs of sim_tables.h with the
 * stepped clock. What registers must do is in the guides: Intel 327043-001 chapter 2 (alpha),
 * Intel 817509-001 section 1.4 (beta). What is counted follows from the rates in sim_tables.h.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "access/access.h"
#include "machine/simulator.h"
#include "sim/sim.h"
#include "sim_tables.h"
#include "suite.h"

static const uint64_t ms = 1000000;

/* Registers of alpha's CBo 0, and control values. */
enum { BOX = 0xD04, CTL = 0xD10, FILTER = 0xD14, CTR = 0xD16 };
enum { EN = 0x400000, RST = 0x20000, EDGE = 0x40000, INV = 0x800000 };
enum { FRZ_EN = 0x10000, FRZ = 0x100, RST_CTRS = 2, RST_CTRL = 1 };
#define THRESH(t) ((uint64_t)(t) << 24)

/* What a control value of alpha's CBo counts in a millisecond. */
static uint64_t count(uint64_t ctl, uint64_t filter)
{
	struct unc_sim *sim = machine("alpha,clock=step");

	unc_sim_write(sim, msr32(sim, FILTER), filter);
	unc_sim_write(sim, msr32(sim, CTL), ctl | EN);
	unc_sim_step(sim, ms);
	uint64_t n = unc_sim_read(sim, msr64(sim, CTR));
	CHECK_NUMBER(violations(sim), 0);
	unc_sim_close(sim);
	return n;
}

static void test_counts(void)
{
	struct unc_sim *sim = machine("alpha,clock=step");
	void *ctl = msr32(sim, CTL), *ctr = msr64(sim, CTR);

	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	unc_sim_write(sim, ctl, 0x135); /* not enabled */
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	unc_sim_write(sim, ctl, 0x135 | EN);
	CHECK_NUMBER(unc_sim_read(sim, ctl), 0x135 | EN);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 1000);
	unc_sim_write(sim, ctl, 0x135);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 1000);
	CHECK_NUMBER(unc_sim_time(sim), 4 * ms);
	CHECK_NUMBER(unc_sim_tsc(sim), 10000000);
	CHECK_NUMBER(violations(sim), 0);
	unc_sim_close(sim);
}

/* Counts do not depend on how often, or on whether, anybody looks. */
static void test_fractions(void)
{
	struct unc_sim *sim = machine("alpha,clock=step");
	void *ctr[2] = {msr64(sim, CTR), msr64(sim, CTR + 1)};

	unc_sim_write(sim, msr32(sim, CTL), 0x137 | EN); /* 1000 a second: 0.007 each step */
	unc_sim_write(sim, msr32(sim, CTL + 1), 0x137 | EN);
	for (unsigned i = 0; i < 100000; i++) {
		unc_sim_step(sim, 7000);
		unc_sim_read(sim, ctr[0]);
		if (i % 1000 == 0) /* stops and goes: all counters are brought up to date */
			unc_sim_write(sim, msr32(sim, BOX), FRZ_EN | FRZ);
		unc_sim_write(sim, msr32(sim, BOX), FRZ_EN);
	}
	CU_ASSERT(unc_sim_read(sim, ctr[0]) >= 699 && unc_sim_read(sim, ctr[0]) <= 700);
	CHECK_NUMBER(unc_sim_read(sim, ctr[1]), unc_sim_read(sim, ctr[0]));
	unc_sim_close(sim);
}

static void test_freeze(void)
{
	struct unc_sim *sim = machine("alpha,clock=step");
	void *box = msr32(sim, BOX), *ctr = msr64(sim, CTR);

	unc_sim_write(sim, msr32(sim, CTL), 0x135 | EN);
	unc_sim_write(sim, box, FRZ); /* without frz_en: no effect (327043-001, table 2-9) */
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 1000);
	unc_sim_write(sim, box, FRZ_EN | FRZ);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 1000);
	unc_sim_write(sim, box, FRZ_EN);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 2000);
	unc_sim_write(sim, box, FRZ_EN | FRZ);
	unc_sim_write(sim, box, RST_CTRL); /* drops frz: the trap of the guide's 0x2 and 0x1 */
	unc_sim_write(sim, msr32(sim, CTL), 0x135 | EN);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 3000);
	CHECK_NUMBER(violations(sim), 0);
	unc_sim_close(sim);
}

/* A machine whose time is stepped does not wait; one that is to wait moves its time on. */
static void test_pause(void)
{
	static const struct {
		const char *spec;
		bool waits;
	} rows[] = {{"alpha,clock=step", false}, {"alpha,clock=wait", true}};
	static const struct unc_table *const tables[] = {&alpha_table};

	for (size_t i = 0; i < 2; i++) {
		struct unc_machine *m = NULL;

		CU_ASSERT_FATAL(unc_machine_simulated(rows[i].spec, "node", tables, 1, &m, NULL) ==
				0);
		CU_ASSERT(m->methods->pause(m, ms) == rows[i].waits);
		CHECK_NUMBER(unc_machine_now(m), rows[i].waits ? ms : 0);
		unc_machine_close(m);
	}
}

static void test_no_unit_control(void)
{
	struct unc_sim *sim = machine("alpha,clock=step");

	unc_sim_write(sim, msr32(sim, 0xC08), EN);
	unc_sim_write(sim, msr32(sim, 0xC10), 0x42 | EN);
	for (unsigned cbo = 0; cbo < 2; cbo++)
		unc_sim_write(sim, msr32(sim, BOX + 0x20 * cbo), FRZ_EN | FRZ);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, 0xC09)), 2000000); /* uclk */
	CU_ASSERT(unc_sim_read(sim, msr64(sim, 0xC16)) > 0);
	unc_sim_close(sim);
}

static void test_resets(void)
{
	struct unc_sim *sim = machine("alpha,clock=step");
	void *box = msr32(sim, BOX), *ctl = msr32(sim, CTL), *ctr = msr64(sim, CTR);

	unc_sim_write(sim, msr32(sim, FILTER), 0x182u << 23);
	unc_sim_write(sim, ctl, 0x135 | EN);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 3000);
	unc_sim_write(sim, box, FRZ_EN | FRZ | RST_CTRS);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	CHECK_NUMBER(unc_sim_read(sim, ctl), 0x135 | EN);
	unc_sim_write(sim, box, FRZ_EN);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 3000);
	unc_sim_write(sim, box, FRZ_EN | RST_CTRL); /* after programming: erases it */
	CHECK_NUMBER(unc_sim_read(sim, ctl), 0);
	CHECK_NUMBER(unc_sim_read(sim, msr32(sim, FILTER)), 0x182u << 23);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 3000);
	unc_sim_write(sim, ctl, 0x135 | EN | RST); /* the counter's own reset, not stored */
	CHECK_NUMBER(unc_sim_read(sim, ctl), 0x135 | EN);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	unc_sim_step(sim, ms);
	unc_sim_write(sim, ctl, 0x135 | EN | RST);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	CHECK_NUMBER(violations(sim), 0);
	unc_sim_close(sim);
}

static void test_violations(void)
{
	struct unc_sim *sim = machine("alpha,clock=step");
	void *imc = pci(sim, UNC_DEVFN(0x10, 0), 0xF4, 32);
	char last[160];

	CHECK_NUMBER(unc_sim_read(sim, msr32(sim, BOX)), 0);
	CHECK_NUMBER(unc_sim_violations(sim, last, sizeof(last)), 1);
	CHECK_TEXT(last, "socket 0 cbo0 BOX_CTL: is write-only and was read");
	unc_sim_write(sim, msr32(sim, CTL + 1), 0x300042);
	CHECK_NUMBER(unc_sim_read(sim, msr32(sim, CTL + 1)), 0x42);
	CHECK_NUMBER(unc_sim_violations(sim, last, sizeof(last)), 2);
	CHECK_TEXT(last, "socket 0 cbo0 CTL1: reserved bits 0x300000 were written as 1");
	unc_sim_write(sim, imc, 0x10103); /* the iMC has no reset bits (table 2-60) */
	CHECK_NUMBER(unc_sim_violations(sim, last, sizeof(last)), 3);
	CHECK_TEXT(last, "socket 0 imc0 BOX_CTL: reserved bits 0x3 were written as 1");
	unc_sim_write(sim, msr64(sim, 0x3FC), 1);
	CHECK_NUMBER(unc_sim_violations(sim, last, sizeof(last)), 4);
	CHECK_TEXT(last, "socket 0 pcu0 CORE_C3: is read-only, 0x1 was written");
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, 0x3FC)), 0);
	unc_sim_write(sim, msr64(sim, CTR), (uint64_t)1 << 44);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, CTR)), 0);
	CHECK_NUMBER(violations(sim), 5);
	unc_sim_close(sim);
}

static void test_fixed(void)
{
	struct unc_sim *sim = machine("alpha,clock=step,load=0");
	unsigned devfn = UNC_DEVFN(0x10, 1);
	void *ctl = pci(sim, devfn, 0xF0, 32), *ctr = pci(sim, devfn, 0xD0, 64);
	void *box = pci(sim, devfn, 0xF4, 32);

	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	unc_sim_write(sim, ctl, EN);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 800000); /* dclk, at any load */
	unc_sim_write(sim, box, FRZ_EN | FRZ);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 800000);
	unc_sim_write(sim, ctl, EN | 0x80000); /* rst is bit 19 here (table 2-62) */
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	CHECK_NUMBER(unc_sim_read(sim, ctl), EN);
	CHECK_NUMBER(violations(sim), 0);
	unc_sim_close(sim);
}

static void test_free_running(void)
{
	struct unc_sim *sim = machine("beta,clock=step,base=1000,load=0.5");

	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, 0x3800)), 500000000);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, 0x3801)), 45000000000); /* a clock: any load */
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, 0x3800)), 500000500);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, 0x3801)), 45000045000);
	CHECK_NUMBER(unc_sim_time(sim), ms);
	CHECK_NUMBER(unc_sim_tsc(sim), 2000002000000);
	unc_sim_close(sim);
}

/* A counter that starts 300 before its wrap, counting `value` about a million times a second. */
static void check_wrap(struct unc_sim *sim, void *ctl, void *ctr, uint64_t value, unsigned width)
{
	unc_sim_write(sim, ctr, ONES(width) - 299);
	CHECK_NUMBER(unc_sim_read(sim, ctr), ONES(width) - 299);
	unc_sim_write(sim, ctl, value);
	unc_sim_step(sim, 200000);
	uint64_t before = unc_sim_read(sim, ctr);
	CU_ASSERT(before > ONES(width) - 299);
	unc_sim_step(sim, 300000);
	uint64_t after = unc_sim_read(sim, ctr);
	CU_ASSERT(after > 0 && after < 300);
	unc_sim_write(sim, ctl, value & ~(uint64_t)EN);
	unc_sim_write(sim, ctr, 1000);
	unc_sim_write(sim, ctl, value);
	unc_sim_step(sim, 500000); /* the same without a wrap */
	CHECK_NUMBER((after + 300) & ONES(width), unc_sim_read(sim, ctr) - 1000);
	CHECK_NUMBER(violations(sim), 0);
}

static void test_wrap(void)
{
	struct unc_sim *sim = machine("alpha,clock=step");
	unsigned qpi = UNC_DEVFN(0x08, 2);

	unc_sim_write(sim, msr32(sim, FILTER), 0);
	check_wrap(sim, msr32(sim, CTL), msr64(sim, CTR), 0x135 | EN, 44);
	unc_sim_write(sim, pci(sim, UNC_DEVFN(0x08, 6), 0x228, 32), 0x1C00);
	check_wrap(sim, pci(sim, qpi, 0xD8, 32), pci(sim, qpi, 0xA0, 64), 0x38 | EN, 48);
	unc_sim_close(sim);
	sim = machine("beta,clock=step,wrap=soon"); /* all counters start 1000000 before it */
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, 0x3800)), ONES(48) - 999999);
	unc_sim_step(sim, 2000 * ms);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, 0x3800)), 1000000);
	unc_sim_close(sim);
}

/* Emerald Rapids: no enable bit, freeze without enable, resets at bits 8 and 9. */
static void test_beta_control(void)
{
	struct unc_sim *sim = machine("beta,clock=step");
	void *unit = msr64(sim, 0x2000), *ctl = msr64(sim, 0x2002), *ctr = msr64(sim, 0x2008);

	unc_sim_write(sim, ctl, 0x0100); /* a umask without a code: not counting */
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	unc_sim_write(sim, ctl, 0x01);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 2000000);
	unc_sim_write(sim, unit, 0x1);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 2000000);
	unc_sim_write(sim, unit, 0x301);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	CHECK_NUMBER(unc_sim_read(sim, ctl), 0);
	unc_sim_write(sim, ctl, 0x01);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	unc_sim_write(sim, unit, 0);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 2000000);
	unc_sim_write(sim, unit, 0x300); /* the guide's own order: erases what is programmed */
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 0);
	CHECK_NUMBER(violations(sim), 0);
	unc_sim_write(sim, ctl, 0x01 | EN); /* bit 22 is reserved here */
	CHECK_NUMBER(violations(sim), 1);
	CHECK_NUMBER(unc_sim_read(sim, ctl), 0x01);
	unc_sim_close(sim);
}

static void test_rates(void)
{
	CHECK_NUMBER(count(0x00, 0), 2000000); /* clock */
	CHECK_NUMBER(count(0x11, 0), 5000000); /* occupancy: 2.5 per clock */
	CHECK_NUMBER(count(0x135, 0), 1000);   /* filter matches nothing */
	CHECK_NUMBER(count(0x135, 0x182u << 23), 3000);
	CHECK_NUMBER(count(0x135, 0x182u << 23 | 1 << 10), 3000); /* other fields do not matter */
	CHECK_NUMBER(count(0x135, 0x183u << 23), 1000);
	CHECK_NUMBER(count(0x138, 0), 55); /* the row that says more */
	CHECK_NUMBER(count(0x238, 0), 77);
	CHECK_NUMBER(count(0x038, 0), 77);
}

static void test_umasks_add_up(void)
{
	uint64_t one = count(0x137, 0), two = count(0x237, 0), four = count(0x437, 0);

	CHECK_NUMBER(one, 1);
	CHECK_NUMBER(two, 20);
	CHECK_NUMBER(four, 400);
	CHECK_NUMBER(count(0x337, 0), 21);
	CHECK_NUMBER(count(0x537, 0), 401);
	CHECK_NUMBER(count(0x737, 0), 421);
	CHECK_NUMBER(count(0x8037, 0), 0); /* a rate of 0 is a rate */
	CHECK_NUMBER(count(0xC037, 0), 0);
	CHECK_NUMBER(count(0xC137, 0), 1);
	/* A bit without a row adds its own small rate. */
	uint64_t own = count(0x837, 0);
	CU_ASSERT(own >= 200 && own <= 2500);
	uint64_t all = count(0xF37, 0);
	CU_ASSERT(all >= own + 420 && all <= own + 422);
	/* So do umasks of an event without any row. */
	uint64_t sum = count(0x144, 0) + count(0x244, 0) + count(0x1044, 0);
	uint64_t both = count(0x1344, 0);
	CU_ASSERT(both >= sum && both <= sum + 3);
	/* What is known of a combination goes before the row that fits any umask. */
	CU_ASSERT(count(0x338, 0) >= 55 + 200);
	/* Extension bits are no umask: rows must agree with all of them. */
	struct unc_sim *sim = machine("beta,clock=step");
	for (unsigned i = 0; i < 3; i++)
		unc_sim_write(sim, msr64(sim, 0x2002 + i), (uint64_t)(i + 1) << 37 | 0xFF34);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, 0x2008)), 50000);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, 0x2009)), 60000);
	CU_ASSERT(unc_sim_read(sim, msr64(sim, 0x200A)) <= 20000);
	unc_sim_close(sim);
}

/* Any other event: 0.01 % to 1 % of the clock, each its own, always the same. */
static void test_own_rates(void)
{
	unsigned distinct = 0;
	uint64_t before = 0;

	for (unsigned code = 0x40; code < 0x60; code++) {
		uint64_t n = count(code, 0);

		CU_ASSERT(n >= 200 && n <= 20000);
		CHECK_NUMBER(count(code, 0), n);
		distinct += n != before;
		before = n;
	}
	CHECK_NUMBER(distinct, 0x20);
	uint64_t all = count(0xFF50, 0);
	CU_ASSERT(all >= 200 && all <= 20000);
	CU_ASSERT(count(0x50 | EDGE, 0) == count(0x50, 0)); /* modifiers choose nothing */
}

static void test_threshold(void)
{
	uint64_t clocks = count(0x00, 0), busy = count(0x11 | THRESH(1), 0), sum = 0, last = clocks;

	/* The histogram of an occupancy adds up to it, and never rises. */
	for (unsigned t = 1; t <= 21; t++) {
		uint64_t n = count(0x11 | THRESH(t), 0);

		CU_ASSERT(n <= last);
		CU_ASSERT((t <= 20) == (n > 0)); /* 20 is the most it can hold */
		sum += n;
		last = n;
	}
	CU_ASSERT(labs((long)sum - 5000000) <= 21);
	CU_ASSERT(busy > 1000000 && busy < clocks);
	/* Invert: the other clocks. */
	CU_ASSERT(labs((long)(busy + count(0x11 | INV | THRESH(1), 0)) - 2000000) <= 1);
	/* Edge: fewer rises than clocks, as many falls, and none for a clock. */
	uint64_t rises = count(0x11 | EDGE | THRESH(1), 0);
	CU_ASSERT(rises > 0 && rises < busy && rises < clocks - busy);
	CHECK_NUMBER(count(0x11 | EDGE | INV | THRESH(1), 0), rises);
	CHECK_NUMBER(count(0x00 | EDGE | THRESH(1), 0), 0);
	/* A clock is one in each clock. */
	CHECK_NUMBER(count(0x00 | THRESH(1), 0), clocks);
	CHECK_NUMBER(count(0x00 | THRESH(2), 0), 0);
	CHECK_NUMBER(count(0x00 | INV | THRESH(1), 0), 0);
	CHECK_NUMBER(count(0x00 | INV | THRESH(2), 0), clocks);
	/* Without a threshold both do nothing: they come after it (327043-001, table 2-10). */
	CHECK_NUMBER(count(0x11 | EDGE, 0), 5000000);
	CHECK_NUMBER(count(0x11 | INV, 0), 5000000);
	/* At most 4 per clock. */
	CU_ASSERT(count(0x13 | THRESH(4), 0) > 0);
	CHECK_NUMBER(count(0x13 | THRESH(5), 0), 0);
}

/* COUNTER0_OCCUPANCY: other counters see what counter 0 holds. */
static void test_counter0_occupancy(void)
{
	struct unc_sim *sim = machine("alpha,clock=step");

	unc_sim_write(sim, msr32(sim, CTL + 1), 0x1F | EN);
	unc_sim_write(sim, msr32(sim, CTL + 2), 0x1F | EN | THRESH(1));
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, CTR + 1)), 0); /* counter 0 is off */
	unc_sim_write(sim, msr32(sim, CTL), 0x11 | EN);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, CTR + 1)), 5000000);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, CTR + 2)), count(0x11 | THRESH(1), 0));
	unc_sim_write(sim, msr32(sim, CTL), 0x11);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, CTR + 1)), 5000000);
	unc_sim_close(sim);
}

static void test_filter_in_other_function(void)
{
	struct unc_sim *sim = machine("alpha,clock=step");
	void *ctr = pci(sim, UNC_DEVFN(0x08, 2), 0xA0, 64);

	unc_sim_write(sim, pci(sim, UNC_DEVFN(0x08, 2), 0xD8, 32), 0x38 | EN);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr), 100);
	unc_sim_write(sim, pci(sim, UNC_DEVFN(0x08, 6), 0x228, 32), 0x1C00);
	unc_sim_step(sim, ms); /* while it counts: from now on at the new rate */
	CHECK_NUMBER(unc_sim_read(sim, ctr), 1000);
	unc_sim_close(sim);
	sim = machine("alpha,hide=qpi.match");
	CU_ASSERT_PTR_NULL(
		find(sim, UNC_SPACE_PCI, 0, UNC_PCI(0, 0x7f, UNC_DEVFN(8, 6), 0x228), 32));
	CU_ASSERT_PTR_NOT_NULL(
		find(sim, UNC_SPACE_PCI, 0, UNC_PCI(0, 0x7f, UNC_DEVFN(8, 2), 0xD8), 32));
	unc_sim_close(sim);
}

/* One socket's monitors are its own; any CPU of the socket reaches its MSRs. */
static void test_sockets(void)
{
	struct unc_sim *sim = machine("alpha,clock=step,sockets=2");
	void *ctl[2], *ctr[2];

	for (unsigned s = 0; s < 2; s++) {
		ctl[s] = need(sim, UNC_SPACE_MSR, 4 * s, CTL, 32);
		ctr[s] = need(sim, UNC_SPACE_MSR, 4 * s, CTR, 64);
	}
	CU_ASSERT_PTR_EQUAL(find(sim, UNC_SPACE_MSR, 3, CTR, 64), ctr[0]);
	CU_ASSERT_PTR_EQUAL(find(sim, UNC_SPACE_MSR, 7, CTR, 64), ctr[1]);
	CU_ASSERT_PTR_NOT_EQUAL(ctr[0], ctr[1]);
	unc_sim_write(sim, ctl[1], 0x135 | EN);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, ctr[0]), 0);
	CHECK_NUMBER(unc_sim_read(sim, ctr[1]), 1000);
	unc_sim_close(sim);
}

/* A batch of operations happens at one time, with the wall clock too. */
static void test_batch(void)
{
	const struct unc_access_methods *access;
	struct unc_machine *simulated = NULL;
	struct unc_backend *backend = NULL;
	struct unc_error err = {0};
	struct unc_reg_op ops[8];

	CU_ASSERT_FATAL(unc_machine_simulated("alpha", "node", sim_tables, 2, &simulated, &err) ==
			0);
	struct unc_sim *sim = unc_machine_sim(simulated);
	access = simulated->methods->access[0];
	CU_ASSERT_FATAL(unc_backend_new(access, simulated, &backend, &err) == 0);
	for (unsigned i = 0; i < 8; i++) {
		bool write = i < 4;

		ops[i] = (struct unc_reg_op){.reg = {.address = (write ? CTL : CTR) + i % 4,
						     .space = UNC_SPACE_MSR,
						     .width = write ? 32 : 64},
					     .kind = write ? UNC_OP_WRITE : UNC_OP_READ,
					     .value = EN,
					     .error = 1};
		CHECK_NUMBER(access->prepare(backend, &ops[i], &err), 0);
	}
	CHECK_NUMBER(access->run(backend, ops, 8), 0);
	uint64_t time = unc_sim_time(sim), before = 0;
	while (unc_sim_time(sim) < time + ms)
		continue;
	for (unsigned round = 0; round < 100; round++) {
		CHECK_NUMBER(access->run(backend, ops + 4, 4), 0);
		for (unsigned i = 5; i < 8; i++)
			CHECK_NUMBER(ops[i].value, ops[4].value);
		CU_ASSERT(ops[4].value >= before && ops[4].value >= 2000000);
		CHECK_NUMBER(ops[7].error, 0);
		before = ops[4].value;
	}
	unc_backend_free(access, backend);
	simulated->methods->close(simulated);
}

struct reader {
	struct unc_sim *sim;
	void *ctr;
	unsigned backwards;
};

static void *read_often(void *user)
{
	struct reader *reader = user;
	uint64_t last = 0;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t value = unc_sim_read(reader->sim, reader->ctr);

		reader->backwards += value < last;
		last = value;
	}
	return NULL;
}

/* Readers in other threads never see a counter go back, whoever stops and starts it. */
static void test_threads(void)
{
	struct unc_sim *sim = machine("alpha");
	struct reader reader[2] = {{sim, msr64(sim, CTR), 0}, {sim, msr64(sim, CTR), 0}};
	pthread_t thread[2];

	unc_sim_write(sim, msr32(sim, CTL), EN);
	for (unsigned i = 0; i < 2; i++)
		CU_ASSERT_FATAL(pthread_create(&thread[i], NULL, read_often, &reader[i]) == 0);
	for (unsigned i = 0; i < 5000; i++) {
		unc_sim_write(sim, msr32(sim, BOX), i % 2 ? FRZ_EN : FRZ_EN | FRZ);
		unc_sim_write(sim, msr32(sim, CTL + 1), i % 2 ? EN : 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		CHECK_NUMBER(reader[i].backwards, 0);
	}
	CU_ASSERT(unc_sim_read(sim, reader[0].ctr) > 0);
	unc_sim_close(sim);
}

static void test_load(void)
{
	struct unc_sim *sim = machine("alpha,clock=step,load=0.25");

	unc_sim_write(sim, msr32(sim, CTL), 0x11 | EN);
	unc_sim_write(sim, msr32(sim, CTL + 1), 0x135 | EN);
	unc_sim_write(sim, msr32(sim, CTL + 2), 0x00 | EN);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, CTR)), 1250000);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, CTR + 1)), 250);
	CHECK_NUMBER(unc_sim_read(sim, msr64(sim, CTR + 2)), 2000000); /* a clock */
	unc_sim_close(sim);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a counter counts while it is enabled", test_counts},
		{"no fraction of a count is lost", test_fractions},
		{"freeze, with and without frz_en", test_freeze},
		{"waiting", test_pause},
		{"units without unit control never freeze", test_no_unit_control},
		{"reset bits, and programming before a reset", test_resets},
		{"write-only, read-only and reserved bits", test_violations},
		{"fixed counter", test_fixed},
		{"free-running counters", test_free_running},
		{"wrap at 44 and 48 bits", test_wrap},
		{"control without enable bits", test_beta_control},
		{"rates and filters", test_rates},
		{"combined umasks add up", test_umasks_add_up},
		{"events without a row", test_own_rates},
		{"threshold, invert, edge", test_threshold},
		{"COUNTER0_OCCUPANCY", test_counter0_occupancy},
		{"filter in another PCI function", test_filter_in_other_function},
		{"sockets are independent", test_sockets},
		{"a batch is taken at one time", test_batch},
		{"reads from several threads", test_threads},
		{"load scales traffic, not clocks", test_load},
		{NULL, NULL},
	};

	return suite_run("sim", tests);
}
