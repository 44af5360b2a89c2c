/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load=live, with the stepped clock. The manual page says what must come out: of each 100 seconds so many at each level
 * of a node's own share, all sockets at the same time; of the rates of workload.tbl, 0.6 to 1 of 75 % on average of the
 * sockets.
 */
#include <math.h>

#include "sim_kit.h"

#define LIVE SNB ",load=live"

static const uint64_t second = 1000000000;

/* TOR_INSERTS:EVICTION of Sandy Bridge-EP, line 299 of its workload.tbl: 2.88e8 / 8. */
static const uint64_t eviction = 0x435;
static const double evictions = 3.6e7; /* in 1 s at the constant load */

static const struct {
	double level;
	unsigned seconds, pieces;
} phases[] = {{0.03, 15, 2}, {0.36, 25, 5}, {0.44, 20, 4}, {0.66, 10, 2},
	      {0.74, 10, 2}, {0.85, 10, 3}, {0.95, 10, 3}}; /* lowest first */
enum { PHASES = sizeof(phases) / sizeof(phases[0]) };

/* Counter n of CBo 0, or NEXT_BOX * box + n, started with an event. */
static void *counter(struct unc_sim *sim, unsigned socket, unsigned at, uint64_t event)
{
	unc_sim_write(sim, need(sim, UNC_SPACE_MSR, 8 * socket, CTL + at, 32), event | EN);
	return need(sim, UNC_SPACE_MSR, 8 * socket, CTR + at, 64);
}

/* ---- phases */

/* What both sockets count in each of 1000 steps of 100 ms; returns the most that both count in one. */
static double read_steps(struct unc_sim *sim, double n[1000][2])
{
	void *ctr[2] = {counter(sim, 0, 0, eviction), counter(sim, 1, 0, eviction)};
	double most = 0;

	for (unsigned i = 0; i < 1000; i++) {
		uint64_t before = unc_sim_read(sim, ctr[1]);

		n[i][0] = (double)counted(sim, ctr[0], 100 * ms);
		n[i][1] = (double)(unc_sim_read(sim, ctr[1]) - before);
		most = fmax(most, n[i][0] + n[i][1]);
	}
	return most;
}

static void check_phases(const char *spec)
{
	struct unc_sim *sim = machine(spec);
	const double constant = 2 * evictions / 10; /* of two sockets in 100 ms */
	double n[1000][2], one = read_steps(sim, n) / 0.95;

	/* 75 % of 0.6 to 1; a unit may differ by 4 %. */
	CU_ASSERT(one >= constant * 0.75 * 0.6 * 0.96 && one <= constant * 0.75 * 1.04);
	for (unsigned k = 0; k < PHASES; k++) {
		const unsigned most = 10 * phases[k].seconds;
		unsigned steps = 0;

		for (unsigned i = 0; i < 1000; i++) {
			if (fabs((n[i][0] + n[i][1]) / one - phases[k].level) > 1e-4)
				continue;
			steps++; /* sockets differ by 30 % of their mean at least */
			CU_ASSERT(fabs(n[i][0] - n[i][1]) > 0.15 * (n[i][0] + n[i][1]));
		}
		/* Each end of a piece may fall into a step. */
		CU_ASSERT(steps <= most && steps + 2 * phases[k].pieces >= most);
	}
	unc_sim_close(sim);
}

static void test_phases(void)
{
	check_phases(LIVE ",seed=1");
	check_phases(LIVE ",seed=2");
	check_phases(LIVE ",base=1000000000");
}

/* Whatever the order of the phases, each 100 seconds come to the same. Clocks (CLOCKTICKS, lines 13 and 92; the TSC, line
 * 10) do not slow down. */
static void test_average(void)
{
	struct unc_sim *sim = machine(LIVE ",seed=3");
	void *ctr = counter(sim, 0, 0, eviction), *clocks = counter(sim, 0, 1, 0);
	double first = (double)counted(sim, ctr, 100 * second), quarter[5];

	for (unsigned i = 0; i < 5; i++) {
		quarter[i] = (double)counted(sim, ctr, 25 * second);
		CHECK_NUMBER(unc_sim_read(sim, clocks), 270000000000 * (i + 1) + 67500000000);
		CHECK_NUMBER(unc_sim_read(sim, clocks), unc_sim_tsc(sim));
		CU_ASSERT_DOUBLE_EQUAL(quarter[i] + (double)counted(sim, ctr, 75 * second), first,
				       1);
		CU_ASSERT(i == 0 || fabs(quarter[i] - quarter[0]) > 1);
	}
	unc_sim_close(sim);
}

/* ---- what it depends on */

/* Neither reads nor stops change what is counted. */
static void test_reads(void)
{
	struct unc_sim *once = machine(LIVE ",seed=4"), *often = machine(LIVE ",seed=4");
	void *a = counter(once, 0, 0, eviction), *b = counter(often, 0, 0, eviction);
	uint64_t last = 0;

	for (unsigned i = 0; i < 1000; i++) {
		uint64_t ns = 1 + i * 7919 % 401 * ms, before = last;

		unc_sim_step(once, ns);
		unc_sim_step(often, ns);
		last = unc_sim_read(often, b);
		CU_ASSERT(last >= before);
		unc_sim_write(often, msr32(often, BOX), FRZ_EN | FRZ);
		unc_sim_write(often, msr32(often, BOX), FRZ_EN);
	}
	CU_ASSERT(unc_sim_time(once) > 150 * second);
	CU_ASSERT_DOUBLE_EQUAL((double)unc_sim_read(once, a), (double)last, 1);
	unc_sim_close(once);
	unc_sim_close(often);
}

/* What the first 100 s of a node count. */
static uint64_t of_node(const char *spec, const char *node)
{
	struct unc_sim *sim = machine_of(spec, node);
	uint64_t n = counted(sim, counter(sim, 0, 0, eviction), 100 * second);

	unc_sim_close(sim);
	return n;
}

static void test_seeds(void)
{
	CHECK_NUMBER(of_node(LIVE ",seed=5", "one"), of_node(LIVE ",seed=5", "two"));
	CU_ASSERT(of_node(LIVE ",seed=5", "one") != of_node(LIVE ",seed=6", "one"));
	CHECK_NUMBER(of_node(LIVE, "one"), of_node(LIVE, "one"));
	CU_ASSERT(of_node(LIVE, "one") != of_node(LIVE, "two"));
	CU_ASSERT(of_node(LIVE, "") > 0);
}

/* ---- sockets and units */

/* FREQ_TRANS_CYCLES of the PCU of a socket of Emerald Rapids, started. */
static void *transitions(struct unc_sim *sim, unsigned socket)
{
	unc_sim_write(sim, need(sim, UNC_SPACE_MSR, 32 * socket, 0x2FC2, 64), 0x74);
	return need(sim, UNC_SPACE_MSR, 32 * socket, 0x2FC8, 64);
}

/* Eight sockets together do what eight alike would do. */
static void test_sum(void)
{
	struct unc_sim *one = machine(EMR ",load=live,seed=7,sockets=1");
	struct unc_sim *many = machine(EMR ",load=live,seed=7,sockets=8");
	double alone = (double)counted(one, transitions(one, 0), 100 * second), sum = 0, n[8];
	void *ctr[8];

	for (unsigned s = 0; s < 8; s++)
		ctr[s] = transitions(many, s);
	unc_sim_step(many, 100 * second);
	for (unsigned s = 0; s < 8; s++) {
		sum += n[s] = (double)unc_sim_read(many, ctr[s]);
		for (unsigned other = 0; other < s; other++)
			CU_ASSERT(n[s] != n[other]);
	}
	CU_ASSERT_DOUBLE_EQUAL(sum, 8 * alone, 8);
	/* A sum that takes one socket for all is wrong by far. */
	CU_ASSERT(fabs(8 * n[0] - sum) > 0.01 * sum);
	unc_sim_close(one);
	unc_sim_close(many);
}

/* A unit of each kind, of both sockets, for 100 s. Links have no sides: both ends of a port count the same, in step with
 * the mean of the sockets. The CBos of a socket differ, by at most 8 %. */
static void test_units(void)
{
	struct unc_sim *sim = machine(LIVE ",seed=8");
	void *box[16], *port[4];
	double mean = 0, n[16], end[4];

	for (unsigned i = 0; i < 16; i++)
		box[i] = counter(sim, i / 8, NEXT_BOX * (i % 8), eviction);
	for (unsigned i = 0; i < 4; i++) { /* TxL_FLITS_G2:NCS, line 592: 1e5 */
		const unsigned devfn = UNC_DEVFN(8 + i % 2, 2);

		unc_sim_write(sim, pci(sim, i / 2, devfn, 0xD8, 32), 0x1001 | EXT | EN);
		port[i] = pci(sim, i / 2, devfn, 0xA0, 64);
	}
	unc_sim_step(sim, 100 * second);
	for (unsigned i = 0; i < 16; i++) {
		mean += (n[i] = (double)unc_sim_read(sim, box[i])) / 16;
		for (unsigned k = i & 8; k < i; k++)
			CU_ASSERT(n[i] != n[k] && fabs(n[i] - n[k]) < 0.09 * n[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		end[i] = (double)unc_sim_read(sim, port[i]);
	CHECK_NUMBER(end[0], end[2]);
	CHECK_NUMBER(end[1], end[3]);
	CU_ASSERT_DOUBLE_EQUAL((end[0] + end[1]) / 2 / 1e5, mean / evictions, 1e-4);
	unc_sim_close(sim);
}

/* Clocks with an insert (RxR_INSERTS:IRQ, line 349, at most 1 a clock) and those without are all clocks. */
static void test_thresholds(void)
{
	const uint64_t inserts = 0x113, any = inserts | THRESH(1);
	struct unc_sim *sim = machine(LIVE ",seed=9");
	void *with = counter(sim, 0, 0, any), *without = counter(sim, 0, 1, any | INV);
	void *plain = counter(sim, 0, 2, inserts);

	for (unsigned i = 1; i <= 100; i++) {
		unc_sim_step(sim, second);
		const double n = (double)unc_sim_read(sim, with);
		CU_ASSERT_DOUBLE_EQUAL(n + (double)unc_sim_read(sim, without), 2.7e9 * i, 2);
		CU_ASSERT_DOUBLE_EQUAL(n, (double)unc_sim_read(sim, plain), 2);
	}
	unc_sim_close(sim);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"phases, as long and as high as the manual page says", test_phases},
		{"the same average in each 100 seconds, clocks", test_average},
		{"what is counted does not depend on reads", test_reads},
		{"seeds and names of nodes", test_seeds},
		{"sockets differ, and add up", test_sum},
		{"units differ", test_units},
		{"thresholds", test_thresholds},
		{NULL, NULL},
	};

	return suite_run("sim_live", tests);
}
