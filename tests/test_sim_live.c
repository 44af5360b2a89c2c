/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load=live, on the small CPUs of sim_tables.h with the stepped clock. What has to come out is what the
 * manual page says: of each 100 seconds so many at each level of a node's own share, all sockets at
 * the same time; of the rates of the tables, 0.6 to 1 of 75 % on average of the sockets.
 */
#include <math.h>
#include <stdio.h>

#include "sim/sim.h"
#include "sim_tables.h"
#include "suite.h"

static const uint64_t ms = 1000000, second = 1000000000;

/* alpha's CBo 0 and its second counter; the event that happens 1e6 times a second. */
enum { BOX = 0xD04, CTL = 0xD10, CTR = 0xD16, NEXT_BOX = 0x20 };
enum { EN = 0x400000, FRZ_EN = 0x10000, FRZ = 0x100, INSERTS = 0x135, CLOCK = 0 };

static const struct {
	double level;
	unsigned seconds, pieces;
} phases[] = {{0.03, 15, 2}, {0.36, 25, 5}, {0.44, 20, 4}, {0.66, 10, 2},
	      {0.74, 10, 2}, {0.85, 10, 3}, {0.95, 10, 3}}; /* lowest first */
enum { PHASES = sizeof(phases) / sizeof(phases[0]) };

/* A counter of CBo `box` of a socket, which counts an event from now on. */
static void *counter(struct unc_sim *sim, unsigned socket, unsigned box, unsigned n, uint64_t event)
{
	uint64_t at = NEXT_BOX * box + n;

	unc_sim_write(sim, need(sim, UNC_SPACE_MSR, 4 * socket, CTL + at, 32), event | EN);
	return need(sim, UNC_SPACE_MSR, 4 * socket, CTR + at, 64);
}

/* What a counter counts in the next ns. */
static uint64_t counted(struct unc_sim *sim, void *ctr, uint64_t ns)
{
	uint64_t before = unc_sim_read(sim, ctr);

	unc_sim_step(sim, ns);
	return unc_sim_read(sim, ctr) - before;
}

/* What an event of CBo 0 counts in the first 100 s, both sockets together. */
static uint64_t total(const char *spec, uint64_t event)
{
	struct unc_sim *sim = machine(spec);
	void *ctr = counter(sim, 0, 0, 0, event), *other = counter(sim, 1, 0, 0, event);
	uint64_t n = counted(sim, ctr, 100 * second) + unc_sim_read(sim, other);

	unc_sim_close(sim);
	return n;
}

/* ---- phases */

struct level {
	uint64_t count[2]; /* of each socket, in 100 ms */
	unsigned steps;
};

static bool same(const struct level *a, const struct level *b)
{
	return a->count[0] + 1 >= b->count[0] && b->count[0] + 1 >= a->count[0] &&
	       a->count[1] + 1 >= b->count[1] && b->count[1] + 1 >= a->count[1];
}

/* Those that last longest, lowest first; the others are steps with a change in them. */
static void levels_of(struct unc_sim *sim, struct level out[PHASES])
{
	struct level all[1000] = {{{0}, 0}}, *end = all;
	void *ctr[2] = {counter(sim, 0, 0, 0, INSERTS), counter(sim, 1, 0, 0, INSERTS)};

	for (unsigned i = 0; i < 1000; i++) {
		uint64_t before = unc_sim_read(sim, ctr[1]);
		struct level now = {{counted(sim, ctr[0], 100 * ms)}, 1}, *l = all;

		now.count[1] = unc_sim_read(sim, ctr[1]) - before;
		while (l < end && !same(l, &now))
			l++;
		if (l == end)
			*end++ = now;
		else
			l->steps++;
	}
	for (unsigned i = 0; i < PHASES; i++) {
		struct level *lowest = NULL;

		for (struct level *l = all; l < end; l++)
			if (l->steps > 20 &&
			    (!lowest ||
			     l->count[0] + l->count[1] < lowest->count[0] + lowest->count[1]))
				lowest = l;
		CU_ASSERT_PTR_NOT_NULL_FATAL(lowest);
		out[i] = *lowest;
		lowest->steps = 0;
	}
}

static void check_phases(const char *spec)
{
	struct unc_sim *sim = machine(spec);
	struct level level[PHASES];
	double one;

	levels_of(sim, level);
	one = (double)(level[PHASES - 1].count[0] + level[PHASES - 1].count[1]) / 0.95;
	/* 1e5 in 100 ms at the constant load of each socket, 75 % of 0.6 to 1; a unit may differ by 4 %. */
	CU_ASSERT(one >= 2e5 * 0.75 * 0.6 * 0.96 && one <= 2e5 * 0.75 * 1.04);
	for (unsigned i = 0; i < PHASES; i++) {
		double n = (double)(level[i].count[0] + level[i].count[1]);
		unsigned most = 10 * phases[i].seconds;

		CU_ASSERT_DOUBLE_EQUAL(n / one, phases[i].level, 1e-4);
		/* Each end of a piece may fall into a step. */
		CU_ASSERT(level[i].steps <= most && level[i].steps + 2 * phases[i].pieces >= most);
		/* Sockets differ by 30 % of their mean at least. */
		CU_ASSERT(fabs((double)level[i].count[0] - (double)level[i].count[1]) > 0.15 * n);
	}
	unc_sim_close(sim);
}

static void test_phases(void)
{
	check_phases("alpha,clock=step,sockets=2,load=live,seed=1");
	check_phases("alpha,clock=step,sockets=2,load=live,seed=2");
	check_phases("alpha,clock=step,sockets=2,load=live,base=1000000000");
}

/* Whatever the order of the phases, each 100 seconds come to the same. */
static void test_average(void)
{
	struct unc_sim *sim = machine("alpha,clock=step,load=live,seed=3");
	void *ctr = counter(sim, 0, 0, 0, INSERTS);
	uint64_t first = counted(sim, ctr, 100 * second), quarter[5];
	bool differ = false;

	for (unsigned i = 0; i < 5; i++) {
		uint64_t n = 0;

		quarter[i] = counted(sim, ctr, 25 * second);
		n = quarter[i] + counted(sim, ctr, 75 * second);
		CU_ASSERT(n + 1 >= first && n <= first + 1);
		differ = differ || quarter[i] != quarter[0];
	}
	CU_ASSERT(differ);
	unc_sim_close(sim);
}

/* ---- what it depends on */

/* Reads change nothing: neither do 1000 of them, nor stopping and going on. */
static void test_reads(void)
{
	struct unc_sim *once = machine("alpha,clock=step,load=live,seed=4");
	struct unc_sim *often = machine("alpha,clock=step,load=live,seed=4");
	void *a = counter(once, 0, 0, 0, INSERTS), *b = counter(often, 0, 0, 0, INSERTS);
	void *c = counter(often, 0, 1, 0, INSERTS), *d = counter(once, 0, 1, 0, INSERTS);
	uint64_t last = 0;

	for (unsigned i = 0; i < 1000; i++) {
		uint64_t ns = 1 + i * 7919 % 401 * ms, now;

		unc_sim_step(once, ns);
		unc_sim_step(often, ns);
		now = unc_sim_read(often, b);
		CU_ASSERT(now >= last);
		last = now;
		unc_sim_write(often, msr32(often, BOX + NEXT_BOX), FRZ_EN | FRZ);
		unc_sim_write(often, msr32(often, BOX + NEXT_BOX), FRZ_EN);
	}
	CHECK_NUMBER(unc_sim_time(once), unc_sim_time(often));
	CU_ASSERT(unc_sim_time(once) > 150 * second);
	CHECK_NUMBER(unc_sim_read(once, a), last);
	CU_ASSERT(fabs((double)unc_sim_read(often, c) - (double)unc_sim_read(once, d)) <= 1);
	CHECK_NUMBER(violations(often), 0);
	unc_sim_close(once);
	unc_sim_close(often);
}

static struct unc_sim *on_node(const char *spec, const char *node)
{
	struct unc_sim *sim = NULL;

	CU_ASSERT_FATAL(unc_sim_open(spec, node, sim_tables, 2, &sim, NULL) == 0);
	return sim;
}

static uint64_t of_node(const char *spec, const char *node, uint64_t ns)
{
	struct unc_sim *sim = on_node(spec, node);
	uint64_t n = counted(sim, counter(sim, 0, 0, 0, INSERTS), ns);

	unc_sim_close(sim);
	return n;
}

static void test_seeds(void)
{
	static const char seeded[] = "alpha,clock=step,load=live,seed=5";
	static const char named[] = "alpha,clock=step,load=live";
	uint64_t ns = 17 * second;

	CHECK_NUMBER(of_node(seeded, "one", ns), of_node(seeded, "two", ns));
	CHECK_NUMBER(of_node(named, "one", ns), of_node(named, "one", ns));
	CU_ASSERT(of_node(named, "one", 100 * second) != of_node(named, "two", 100 * second));
	CU_ASSERT(of_node(seeded, "one", 100 * second) !=
		  of_node("alpha,clock=step,load=live,seed=6", "one", 100 * second));
	/* A node without a name is one, too. */
	CU_ASSERT(of_node(named, "", ns) > 0);
}

/* ---- what stays */

static void test_clocks(void)
{
	struct unc_sim *sim = machine("alpha,clock=step,load=live");
	void *ctr = counter(sim, 0, 0, 0, CLOCK);

	for (unsigned i = 0; i < 100; i++)
		CHECK_NUMBER(counted(sim, ctr, second), 2000000000);
	CHECK_NUMBER(unc_sim_tsc(sim), 250000000000); /* 2.5 GHz */
	unc_sim_close(sim);
}

/* What sockets do together is what as many alike would do. */
static void test_sum(void)
{
	struct unc_sim *one = machine("alpha,clock=step,load=live,seed=7,sockets=1");
	double alone = (double)counted(one, counter(one, 0, 0, 0, INSERTS), 100 * second), sum = 0;
	struct unc_sim *many = machine("alpha,clock=step,load=live,seed=7,sockets=8");
	void *ctr[8];

	for (unsigned s = 0; s < 8; s++)
		ctr[s] = counter(many, s, 0, 0, INSERTS);
	unc_sim_step(many, 100 * second);
	for (unsigned s = 0; s < 8; s++) {
		sum += (double)unc_sim_read(many, ctr[s]);
		for (unsigned other = 0; other < s; other++)
			CU_ASSERT(unc_sim_read(many, ctr[s]) != unc_sim_read(many, ctr[other]));
	}
	CU_ASSERT_DOUBLE_EQUAL(sum, 8 * alone, 8);
	/* A sum that takes one socket for all is wrong by far. */
	CU_ASSERT(fabs(8 * (double)unc_sim_read(many, ctr[0]) - sum) > 0.01 * sum);
	unc_sim_close(one);
	unc_sim_close(many);
}

/* The units of a socket differ, but not much. Links have no sides: both ends count the same, as much as
 * the sockets do on average. */
static void test_units(void)
{
	struct unc_sim *sim = machine("alpha,clock=step,load=live,seed=8,sockets=2");
	void *box[4], *link[2];
	double sum = 0;

	for (unsigned i = 0; i < 4; i++)
		box[i] = counter(sim, i / 2, i % 2, 0, INSERTS);
	for (unsigned s = 0; s < 2; s++) {
		uint64_t qpi = UNC_PCI(0, s ? 0xff : 0x7f, UNC_DEVFN(8, 2), 0);

		unc_sim_write(sim, need(sim, UNC_SPACE_PCI, 0, qpi + 0xD8, 32), 0x38 | EN);
		link[s] = need(sim, UNC_SPACE_PCI, 0, qpi + 0xA0, 64);
	}
	unc_sim_step(sim, 100 * second);
	for (unsigned i = 0; i < 4; i++)
		sum += (double)unc_sim_read(sim, box[i]);
	for (unsigned s = 0; s < 2; s++) {
		double n[2] = {(double)unc_sim_read(sim, box[2 * s]),
			       (double)unc_sim_read(sim, box[2 * s + 1])};

		CU_ASSERT(fabs(n[0] - n[1]) > 1e-3 * n[0]);
		CU_ASSERT(fabs(n[0] - n[1]) < 0.09 * n[0]);
		/* 1e5 a second at the constant load, where a CBo has 1e6. */
		CU_ASSERT_DOUBLE_EQUAL((double)unc_sim_read(sim, link[s]), sum / 4 / 10, 1);
	}
	unc_sim_close(sim);
}

/* Thresholds follow: clocks with an insert, and the others, are all clocks, in each phase. */
static void test_thresholds(void)
{
	uint64_t burst = 0x13, at_1 = burst | 1u << 24, invert = 0x800000;
	static const char spec[] = "alpha,clock=step,load=live,seed=9";

	CU_ASSERT_DOUBLE_EQUAL((double)total(spec, at_1) + (double)total(spec, at_1 | invert),
			       2 * 2e11, 4);
	CU_ASSERT(total(spec, at_1) > 0 && total(spec, at_1) < total(spec, burst));
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"phases, as long and as high as the manual page says", test_phases},
		{"the same average in each 100 seconds", test_average},
		{"what is counted does not depend on reads", test_reads},
		{"seeds and names of nodes", test_seeds},
		{"clocks do not slow down", test_clocks},
		{"sockets differ, and add up", test_sum},
		{"units differ", test_units},
		{"thresholds", test_thresholds},
		{NULL, NULL},
	};

	return suite_run("sim_live", tests);
}
