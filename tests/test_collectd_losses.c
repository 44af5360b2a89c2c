/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectd plugin on a machine of which somebody takes one unit, and gives it back: no other
 * series has a gap, or another rate; a sum that lost it stops, unless partial sums are wanted; its own
 * series stops, and begins anew.
 */
#include "collectd_kit.h"
#include "platform/platform.h"
#include "sim/sim.h"
#include "units/set.h"

enum { MAX_RATES = 128, INTERVAL_MS = 10000, MAX_BACK = 12, FOREIGN = 0x401 };

/* What an interval of the sound machine adds to each series. */
static struct {
	char name[MAX_RATES][2 * DATA_MAX_NAME_LEN];
	derive_t last[MAX_RATES];
	double rate[MAX_RATES]; /* for an interval */
	bool fresh[MAX_RATES];  /* it was not sent in the last interval */
	size_t n;
} series;

static void name_of(const value_list_t *vl, char *name, size_t size)
{
	snprintf(name, size, "%s/%s", vl->plugin_instance, vl->type_instance);
}

static size_t find_series(const value_list_t *vl)
{
	char name[2 * DATA_MAX_NAME_LEN];
	size_t i = 0;

	name_of(vl, name, sizeof(name));
	while (i < series.n && strcmp(series.name[i], name) != 0)
		i++;
	CU_ASSERT_FATAL(i < MAX_RATES);
	if (i == series.n) {
		snprintf(series.name[series.n], sizeof(series.name[0]), "%s", name);
		series.fresh[series.n++] = true;
	}
	return i;
}

static void interval(void)
{
	unc_sim_step(unc_machine_sim(self.platform->machine), INTERVAL_MS * 1000000ull);
	for (struct unc_run *run = self.platform->runs.first; run; run = run->next)
		unc_run_see_to(run); /* as the thread does it where time passes by itself */
	CHECK_NUMBER(read_once(), 0);
}

/* Two intervals tell all rates. */
static void learn(void)
{
	memset(&series, 0, sizeof(series));
	for (int k = 0; k < 2; k++) {
		interval();
		for (size_t i = 0; i < host.n_sent; i++) {
			size_t s = find_series(&host.sent[i]);

			series.rate[s] = (double)(host.value[i].derive - series.last[s]);
			series.last[s] = host.value[i].derive;
			series.fresh[s] = false;
		}
	}
	CU_ASSERT_FATAL(series.n > 0 && series.n == host.n_sent);
}

/* Proofs that units count take a moment of an interval: 1.3 ms that a clock stands. */
static bool is(double rate, double ought)
{
	return fabs(rate - ought) <= 10 + 2e-4 * ought;
}

/* What an interval has added to a series. */
static double added(size_t s, size_t sent)
{
	double rate = (double)(host.value[sent].derive - series.last[s]);

	series.last[s] = host.value[sent].derive;
	return rate;
}

/* The sum over units of a socket, beside their own series: test_sums has it. */
static bool is_beside(size_t s, const char *lost)
{
	return strstr(lost, "-irp0") && strstr(series.name[s], "socket0/");
}

/*
 * An interval. Series of other names are all there, with their rates. Those in whose names `lost`
 * is have this part of theirs (0: they are not sent), or all of it, which is returned.
 */
static bool check(const char *lost, double part)
{
	bool sent[MAX_RATES] = {false}, whole = false;

	interval();
	for (size_t i = 0; i < host.n_sent; i++) {
		size_t s = find_series(&host.sent[i]);
		double rate = added(s, i), full = series.rate[s];
		bool its = strstr(series.name[s], lost) != NULL;

		sent[s] = true;
		whole |= its && is(rate, full);
		if (!series.fresh[s] && !is(rate, full) && !is_beside(s, lost) &&
		    !(its && part > 0 && is(rate, part * full))) {
			printf("# %s: %.0f for %.0f\n", series.name[s], rate, full);
			CU_FAIL("a wrong rate");
		}
	}
	for (size_t s = 0; s < series.n; s++) {
		bool may = strstr(series.name[s], lost) != NULL && part == 0;

		if (!sent[s] && !may)
			printf("# no value of %s\n", series.name[s]);
		CU_ASSERT(sent[s] || may || is_beside(s, lost));
		series.fresh[s] = !sent[s];
	}
	return whole;
}

/* Both counters of irp0 of socket 0 (Emerald Rapids: MSRs 0x3402, 0x3403) hold this. */
static void irp(uint64_t control)
{
	struct unc_sim *sim = unc_machine_sim(self.platform->machine);

	for (uint64_t address = 0x3402; address <= 0x3403; address++) {
		struct unc_reg reg = {.address = address, .space = UNC_SPACE_MSR, .width = 64};
		void *found = unc_sim_find(sim, &reg);

		CU_ASSERT_FATAL(found != NULL);
		unc_sim_write(sim, found, control);
	}
}

static void begin_losses(const char *option)
{
	begin();
	configure("Simulate emerald-rapids,clock=wait", option,
		  "Event irp.TRANSACTIONS:WRITES imc.CAS_COUNT:RD", "Metric memory_read_bytes",
		  NULL);
	CHECK_NUMBER(host.init(), 0);
	learn();
	host.log[0] = '\0';
}

/* After a read that has failed counting begins anew. */
static void start_anew(uint64_t control)
{
	script.error = UNC_ERR_IO;
	CHECK_NUMBER(read_once(), 0);
	script.error = 0;
	irp(control);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 0);
	for (size_t s = 0; s < series.n; s++)
		series.fresh[s] = true;
}

/* Taken in a run, or where counting begins, and given back. */
static void lose(const char *option, const char *lost, double part, bool at_start)
{
	bool whole = false;

	begin_losses(option);
	if (at_start)
		start_anew(FOREIGN);
	else
		irp(FOREIGN);
	for (int i = 0; i < 4; i++)
		CU_ASSERT(!check(lost, part));
	CU_ASSERT(logged("irp0 (socket 0)"));
	CHECK_NUMBER(strstr(host.log, "; not sent until it is whole again\n") != NULL,
		     (strncmp(option, "NodeSums", 8) == 0 || strncmp(option, "PerUnit", 7) == 0) &&
			     !at_start);
	CU_ASSERT(!strstr(host.log, "[error]") || at_start);
	irp(0);
	for (int i = 0; i < MAX_BACK && !whole; i++)
		whole = check(lost, part);
	CU_ASSERT(whole);
	CU_ASSERT(check(lost, 1));
	CHECK_NUMBER(errors(), at_start);
	end();
}

/* The sum of a socket is over 7 of 8 units, which all count the same. */
static void test_sums(void)
{
	lose("PartialSums true", "socket0/irp", 7. / 8, false);
	lose("PartialSums true", "socket0/irp", 7. / 8, true);
}

/* A sum that lacked the unit from the start is sent, one that has lost it since is not. */
static void test_lost_sums(void)
{
	lose("NodeSums false", "socket0/irp", 0, false);
	lose("NodeSums false", "socket0/irp", 7. / 8, true);
}

static void test_whole_sums(void)
{
	lose("PartialSums false", "socket0/irp", 0, false);
	lose("PartialSums false", "socket0/irp", 0, true);
}

static void test_units(void)
{
	lose("PerUnit true", "socket0-irp0/", 0, false);
	lose("PerUnit true", "socket0-irp0/", 0, true);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a unit of a sum is taken", test_sums},
		{"a unit is taken, and partial sums are not wanted", test_whole_sums},
		{"a unit of a sum is taken, and nothing is configured", test_lost_sums},
		{"a unit that has a series is taken", test_units},
		{NULL, NULL},
	};

	return suite_run("collectd, a unit is lost", tests);
}
