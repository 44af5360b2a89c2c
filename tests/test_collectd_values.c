/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectd plugin: values, with a session that says what the test wants, and rotation. */
#include "collectd_kit.h"

static struct unc_value counted(double since_start, double interval)
{
	return (struct unc_value){.count = isnan(since_start) ? 0 : (uint64_t)since_start,
				  .delta = isnan(interval) ? 0 : (uint64_t)interval,
				  .value = since_start,
				  .interval = interval,
				  .interval_seconds = 10,
				  .flags = UNC_VALUE_VALID | UNC_VALUE_FRESH};
}

/* A session of one socket whose values are those of the script. */
static void begin_script(const char *items, int passes)
{
	begin();
	configure("Simulate emerald-rapids,sockets=1", items, NULL);
	script.on = true;
	script.passes = passes;
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(script.starts, 1);
	script.starts = 0;
}

static void test_scales(void)
{
	begin_script("Metric memory_read_bytes llc_miss_ratio uncore_frequency_hz", 1);
	script.value[0] = counted(640, 64);
	script.value[1] = counted(0.5, 0.25);
	script.value[2] = counted(1.5e9, 2e9);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 3);
	CHECK_NUMBER(value_of("simulated-socket0/total_bytes-memory_read_bytes").derive, 0);
	CU_ASSERT_DOUBLE_EQUAL(value_of("simulated-socket0/percent-llc_miss_ratio").gauge, 25, 0);
	CU_ASSERT_DOUBLE_EQUAL(value_of("simulated-socket0/frequency-uncore_frequency_hz").gauge,
			       2e9, 0);
	CHECK_NUMBER(host.sent[0].time, host.now);
	CHECK_NUMBER(host.sent[2].time, host.now);
	CHECK_NUMBER(host.sent[0].interval, TIME_T_TO_CDTIME_T(10));
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of("simulated-socket0/total_bytes-memory_read_bytes").derive, 64);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of("simulated-socket0/total_bytes-memory_read_bytes").derive, 128);
	CHECK_NUMBER(script.round, 10000); /* the session knows that there is nothing to do */
	end();
}

/* Every unit of a metric has a type, and a DERIVE is never a fraction or a rate. */
static void test_types(void)
{
	static const struct {
		const char *name, *series;
	} rows[] = {
		{"memory_read_latency_ns", "simulated-socket0/latency-memory_read_latency_ns"},
		{"llc_misses", "simulated-socket0/total_events-llc_misses"},
		{"imc.MEM_BW_READS", "simulated-socket0/total_bytes-imc-MEM_BW_READS"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[128];

		snprintf(line, sizeof(line), "Metric %s", rows[i].name);
		begin_script(line, 1);
		script.value[0] = counted(1, 1);
		CHECK_NUMBER(read_once(), 0);
		value_of(rows[i].series);
		end();
	}
}

/* 2^63 does not fit a DERIVE: it begins again; and what is negative does not make it shrink. */
static void test_large_total(void)
{
	begin_script("Metric memory_read_bytes", 1);
	script.value[0] = counted(0x1p62, 0x1p62);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.value[0].derive, 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.value[0].derive, (uint64_t)1 << 62);
	script.value[0].interval = -1;
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.value[0].derive, (uint64_t)1 << 62);
	script.value[0].interval = 0x1p62;
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.value[0].derive, 0);
	end();
}

static void test_not_valid(void)
{
	begin_script("Metric memory_read_bytes llc_miss_ratio", 1);
	script.value[0] = counted(640, 64);
	script.value[1] = (struct unc_value){.flags = UNC_VALUE_FRESH};
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 1);
	value_of("simulated-socket0/total_bytes-memory_read_bytes");
	script.value[1] = counted(0.5, NAN); /* since the start there was something to divide by */
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 1);
	value_of("simulated-socket0/total_bytes-memory_read_bytes");
	CU_ASSERT(strstr(host.log, "[warning]") == NULL); /* an idle cache is not worth a line */
	end();
}

/* A count that means nothing is not sent; why is said once. Then its total begins anew. */
static void test_no_count(void)
{
	const char *name = "simulated-socket0/total_bytes-memory_read_bytes";
	const char *line =
		"[warning] intel_uncore plugin: simulated-socket0/memory_read_bytes: no value: "
		"the reason of item 0\n";

	begin_script("Metric memory_read_bytes llc_miss_ratio", 1);
	script.value[0] = counted(1000, 1000);
	script.value[1] = counted(0.5, 0.5);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of(name).derive, 1000);
	script.value[0] = (struct unc_value){0}; /* neither since the start nor of the interval */
	for (int i = 0; i < 2; i++) {
		CHECK_NUMBER(read_once(), 0);
		CHECK_NUMBER(host.n_sent, 1);
		value_of("simulated-socket0/percent-llc_miss_ratio");
	}
	CU_ASSERT(logged(line));
	CU_ASSERT_PTR_NULL(strstr(strstr(host.log, line) + 1, line));
	CHECK_NUMBER(script.starts + script.stops, 0); /* it comes back by itself, or not at all */
	script.value[0] = counted(5000, 700);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of(name).derive, 0);
	CU_ASSERT(logged(
		"[info] intel_uncore plugin: simulated-socket0/memory_read_bytes: values again\n"));
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of(name).derive, 700);
	end();
}

/* A value that is late is sent. The log has one line for all that are late together. */
static void test_late_values(void)
{
	const unsigned good = UNC_VALUE_VALID | UNC_VALUE_FRESH;

	begin_script("Metric memory_read_bytes memory_write_bytes llc_miss_ratio", 1);
	script.value[0] = script.value[1] = counted(1000, 1000);
	script.value[2] = counted(0.5, 0.5);
	CHECK_NUMBER(read_once(), 0);
	script.value[0].flags = script.value[1].flags = good | UNC_VALUE_INTERVAL_LATE;
	for (int i = 0; i < 10; i++) {
		CHECK_NUMBER(read_once(), 0);
		CHECK_NUMBER(host.n_sent, 3);
	}
	CHECK_NUMBER(value_of("simulated-socket0/total_bytes-memory_read_bytes").derive, 10000);
	CU_ASSERT(logged("[warning] intel_uncore plugin: simulated-socket0/memory_read_bytes and 1 "
			 "more: late: the reason of item 0\n"));
	CU_ASSERT_PTR_NULL(strstr(strstr(host.log, ": late") + 1, ": late"));
	end();
}

/* A lost counter comes back by itself. The totals of the others go on. */
static void test_lost(void)
{
	const char *reads = "simulated-socket0/total_bytes-memory_read_bytes";
	const char *writes = "simulated-socket0/total_bytes-memory_write_bytes";

	begin_script("Metric memory_read_bytes memory_write_bytes llc_miss_ratio", 1);
	script.value[0] = script.value[1] = counted(1000, 1000);
	script.value[2] = counted(0.5, 0.5);
	for (int i = 0; i < 2; i++)
		CHECK_NUMBER(read_once(), 0);
	script.value[0] = script.value[2] = (struct unc_value){.flags = UNC_VALUE_LOST};
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 1);
	CHECK_NUMBER(value_of(writes).derive, 2000);
	CU_ASSERT(logged(
		"[warning] intel_uncore plugin: simulated-socket0/memory_read_bytes: no value: the "
		"reason of item 0\n"));
	CU_ASSERT(logged(
		"[warning] intel_uncore plugin: simulated-socket0/llc_miss_ratio: no value: the "
		"reason of item 2\n"));
	script.value[0] = counted(300, 300);
	script.value[2] = counted(0.5, 0.5);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 3);
	CHECK_NUMBER(value_of(reads).derive, 0); /* below the 1000 before: a gap */
	CHECK_NUMBER(value_of(writes).derive, 3000);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of(reads).derive, 300);
	CHECK_NUMBER(value_of(writes).derive, 4000);
	CHECK_NUMBER(script.stops, 0);
	CHECK_NUMBER(script.starts, 0);
	CHECK_NUMBER(errors(), 0);
	end();
}

/* Nothing can be read, and counting cannot begin anew: the plugin goes on trying. */
static void test_fails_for_good(void)
{
	begin_script("Metric memory_read_bytes memory_write_bytes", 1);
	script.value[0] = script.value[1] = counted(1000, 1000);
	CHECK_NUMBER(read_once(), 0);
	script.error = UNC_ERR_IO;
	script.start_error = UNC_ERR_BUSY;
	for (int i = 0; i < 3; i++)
		CHECK_NUMBER(read_once(), 0); /* else collectd would call less and less often */
	CHECK_NUMBER(host.n_sent, 0);
	CHECK_NUMBER(script.starts, 2);
	CHECK_NUMBER(errors(), 1);
	script.error = script.start_error = 0;
	CHECK_NUMBER(read_once(), 0); /* starts */
	CHECK_NUMBER(host.n_sent, 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 2);
	CU_ASSERT(host.value[0].derive == -1); /* below the 0 that was sent last */
	CU_ASSERT(host.value[1].derive == -1);
	CU_ASSERT(logged("[info] intel_uncore plugin: counting again\n"));
	end();
}

/* What keeps it from counting when collectd starts may be gone later: one line, no values, then all. */
static void begins_later(int error)
{
	begin();
	configure("Simulate emerald-rapids,sockets=1", "Metric memory_read_bytes", NULL);
	script.start_error = error;
	CHECK_NUMBER(host.init(), 0);
	CU_ASSERT(logged("; retried in each interval\n"));
	for (int i = 0; i < 3; i++) {
		CHECK_NUMBER(read_once(), 0); /* else collectd would call less and less often */
		CHECK_NUMBER(host.n_sent, 0);
	}
	CU_ASSERT(script.starts >= 4);
	CHECK_NUMBER(errors(), 1);
	script.start_error = 0;
	CHECK_NUMBER(read_once(), 0); /* starts */
	CHECK_NUMBER(host.n_sent, 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 1);
	CU_ASSERT(logged("[info] intel_uncore plugin: counting again\n"));
	CHECK_NUMBER(errors(), 1);
	end();
}

static void test_busy_at_first(void)
{
	begins_later(UNC_ERR_BUSY);
	begins_later(UNC_ERR_PERMISSION);
	begins_later(UNC_ERR_IO);
}

/* No unit can be read yet, as before a module is loaded. */
static void test_no_unit_at_first(void)
{
	const char *events = "Event imc.CAS_COUNT:RD imc.CAS_COUNT:WR imc.ACT_COUNT";

	begin();
	configure("Simulate sandybridge-ep,sockets=1,clock=step", events,
		  "Event imc.PRE_COUNT:PAGE_MISS imc.PRE_COUNT:PAGE_CLOSE", NULL);
	script.machine = "sandybridge-ep-1s-no-units";
	script.opens = 0;
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(host.step, TIME_T_TO_CDTIME_T(10));
	for (int i = 0; i < 3; i++)
		CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(script.opens, 5); /* and collectd's first call */
	CHECK_NUMBER(errors(), 1);
	CU_ASSERT(logged("[error] intel_uncore plugin: no counter can be read"));
	CU_ASSERT_PTR_NULL(strstr(host.log, "left out")); /* where none is that says nothing */
	script.machine = NULL;
	host.now += host.step;
	CHECK_NUMBER(host.read(NULL), 0);
	CU_ASSERT(logged("5 series, passes: 2\n"));
	read_slowly();
	CHECK_NUMBER(host.n_sent, 5);
	CU_ASSERT(logged("[info] intel_uncore plugin: counting again\n"));
	CHECK_NUMBER(errors(), 1);
	end();
}

/* Opening fails for a reason that may pass. That nothing can be measured may show only then. */
static void test_opened_late(void)
{
	begin();
	configure("Simulate emerald-rapids,sockets=1", "Metric memory_read_bytes", NULL);
	script.open_error = UNC_ERR_IO;
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(errors(), 1);
	script.open_error = 0;
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 1);
	CHECK_NUMBER(errors(), 1);
	end();
	begin();
	configure("Simulate emerald-rapids,sockets=1", "Metric memory_read_byte", NULL);
	script.open_error = UNC_ERR_IO;
	CHECK_NUMBER(host.init(), 0);
	script.open_error = 0;
	CHECK_NUMBER(host.read(NULL), 0);
	CU_ASSERT_PTR_NULL(host.read);
	CU_ASSERT(logged("nearest is memory_read_bytes; it is ignored\n"));
	CHECK_NUMBER(errors(), 3);
	end();
}

/* Without a unit that can be read names are checked all the same, once. */
static void test_wrong_name_blind(void)
{
	begin();
	configure("Simulate sandybridge-ep,sockets=1", "Event imc.CAS_CONT:RD", NULL);
	script.machine = "sandybridge-ep-1s-no-units";
	check_refused(2, "nearest is imc.CAS_COUNT");
	begin();
	configure("Simulate sandybridge-ep,sockets=1", "Event imc.CAS_CONT:RD imc.CAS_COUNT:RD",
		  "<Cpu sandybridg", "Event imc.CAS_COUNT:WR", NULL);
	script.machine = "sandybridge-ep-1s-no-units";
	CHECK_NUMBER(host.init(), 0);
	for (int i = 0; i < 3; i++)
		CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(errors(), 3); /* two names, and that it cannot count */
	script.machine = NULL;
	for (int i = 0; i < 3; i++)
		CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 1);
	CHECK_NUMBER(errors(), 3);
	end();
}

/* A back end that has the last value yet must not take two beginnings for a rate of 0. */
static void test_lost_again(void)
{
	const derive_t begins[] = {0, -1, -2};

	begin_script("Metric memory_read_bytes", 1);
	for (size_t i = 0; i < 3; i++) {
		script.value[0] = counted(640, 64);
		CHECK_NUMBER(read_once(), 0);
		CU_ASSERT(value_of("simulated-socket0/total_bytes-memory_read_bytes").derive ==
			  begins[i]);
		script.value[0].flags = UNC_VALUE_LOST;
		CHECK_NUMBER(read_once(), 0);
		CHECK_NUMBER(host.n_sent, 0);
	}
	end();
}

/* collectd was held up, and calls for the time that it has missed. */
static void test_late_calls(void)
{
	begin_script("Metric memory_read_bytes llc_miss_ratio", 2);
	script.value[0] = counted(1000, 1000);
	script.value[1] = counted(0.5, 0.5);
	CHECK_NUMBER(read_once(), 0);
	host.now += TIME_T_TO_CDTIME_T(60);
	host.n_sent = 0;
	for (int i = 0; i < 6; i++)
		CHECK_NUMBER(host.read(NULL), 0);
	CHECK_NUMBER(host.n_sent, 2); /* of the first */
	host.n_sent = 0;
	host.now += host.step;
	CHECK_NUMBER(host.read(NULL), 0);
	CHECK_NUMBER(host.n_sent, 2);
	end();
}

/* A daemon that is late calls again when the next interval is due. With one pass no interval of the
 * store, ten seconds each here, goes without a value for it. */
static void test_late_and_early(void)
{
	static const int due[] = {10, 26, 30, 49, 50, 68, 70, 80, 99, 100, 110};
	const cdtime_t begun = TIME_T_TO_CDTIME_T(1000);
	unsigned late = 0;

	begin_script("Metric memory_read_bytes", 1);
	for (size_t i = 0; i < sizeof(due) / sizeof(due[0]); i++) {
		script.value[0] = counted(1000, 1000);
		host.now = begun + TIME_T_TO_CDTIME_T(due[i]);
		host.n_sent = 0;
		CHECK_NUMBER(host.read(NULL), 0);
		CHECK_NUMBER(host.n_sent, 1);
		CHECK_NUMBER(due[i] / 10, i + 1); /* an interval of its own */
		late += due[i] % 10 != 0;
	}
	CHECK_NUMBER(late, 4);
	end();
}

/* One of four channels of socket 1 is hidden: told once for an item; sent, unless told otherwise.
 */
static void test_partial(void)
{
	const char *line =
		"[warning] intel_uncore plugin: simulated-socket1/memory_read_bytes: partial sum, "
		"without "
		"imc3 (socket 1): "
		"PCI function 10.5 (8086:3cb5) is not visible: hidden by the BIOS, or this machine "
		"has none";
	const char *simulate = "Simulate sandybridge-ep-no-imc3@1,clock=step";

	begin();
	configure(simulate, "Metric memory_read_bytes", NULL);
	CHECK_NUMBER(host.init(), 0);
	for (int i = 0; i < 2; i++) {
		read_slowly();
		CHECK_NUMBER(host.n_sent, 2);
	}
	CU_ASSERT_FATAL(logged(line));
	CU_ASSERT_PTR_NULL(strstr(strstr(host.log, line) + 1, "[warning]"));
	end();
	begin();
	configure(simulate, "PartialSums false", "Metric memory_read_bytes", "Event cbo.CLOCKTICKS",
		  NULL);
	CHECK_NUMBER(host.init(), 0);
	read_slowly();
	CHECK_NUMBER(host.n_sent, 3);
	value_of("simulated-socket0/total_bytes-memory_read_bytes");
	value_of("simulated-socket1/total_events-cbo-CLOCKTICKS");
	CU_ASSERT(logged("has none; not sent (PartialSums false)\n"));
	end();
	begin();
	configure(simulate, "PartialSums true", "PerUnit true", "Event imc.CAS_COUNT:RD", NULL);
	CHECK_NUMBER(host.init(), 0);
	read_slowly();
	CHECK_NUMBER(host.n_sent, 7 + 2); /* the sums of the sockets stay */
	CU_ASSERT_PTR_NOT_NULL(strstr(host.log, "partial sum"));
	CU_ASSERT(logged("[warning] intel_uncore plugin: ignored: imc3.CAS_COUNT:RD:socket=1"));
	end();
}

/* Two passes: each has its turns in an interval, then all values are sent. */
static void test_rotation(void)
{
	const char *name = "simulated-socket0/total_bytes-memory_read_bytes";

	begin_script("Metric memory_read_bytes llc_miss_ratio", 2);
	CHECK_NUMBER(host.step, TIME_T_TO_CDTIME_T(10));
	CHECK_NUMBER(script.round, 10000);
	script.value[0] = counted(1000, 1000);
	script.value[1] = counted(0.5, 0.5);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 2);
	CHECK_NUMBER(value_of(name).derive, 0);
	CHECK_NUMBER(host.sent[0].interval, TIME_T_TO_CDTIME_T(10));

	/* The library scales to the interval. Its total since start may shrink when a pass that
	 * was quiet corrects it; the DERIVE does not. */
	script.value[0] = counted(800, 300);
	script.value[0].flags |= UNC_VALUE_ESTIMATED;
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 2);
	CHECK_NUMBER(value_of(name).derive, 300);

	script.value[0].flags = UNC_VALUE_VALID; /* not measured in this interval */
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 1);
	script.value[0] = counted(9000, 500);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of(name).derive, 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of(name).derive, 500);
	end();
}

/* The real thing: five events of a unit with four counters, all sent in each interval. */
static void test_real_rotation(void)
{
	begin();
	configure("Simulate emerald-rapids,sockets=1,clock=step",
		  "Event imc.CAS_COUNT:RD imc.CAS_COUNT:WR imc.CAS_COUNT:ALL",
		  "Event imc.ACT_COUNT:ALL imc.PRE_COUNT:ALL", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(unc_session_passes(self.session), 2);
	CU_ASSERT(logged("5 series, passes: 2\n"));
	for (int i = 0; i < 3; i++) {
		read_slowly();
		CHECK_NUMBER(host.n_sent, 5);
		for (size_t k = 0; k < host.n_sent; k++)
			CU_ASSERT(i == 0 ? host.value[k].derive == 0 : host.value[k].derive > 0);
	}
	end();
}

/* A total that needs two passes by itself has a value in each interval, too. */
static void test_total_of_two_passes(void)
{
	begin();
	configure("Simulate sandybridge-ep,sockets=1,clock=step", "Metric pcie_write_bytes", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(unc_session_passes(self.session), 2);
	for (int i = 0; i < 2; i++) {
		read_slowly();
		CHECK_NUMBER(host.n_sent, 1);
	}
	CU_ASSERT(value_of("simulated-socket0/total_bytes-pcie_write_bytes").derive > 0);
	end();
}

static void test_read_error(void)
{
	begin_script("Metric memory_read_bytes", 1);
	script.value[0] = counted(640, 64);
	CHECK_NUMBER(read_once(), 0);
	script.error = UNC_ERR_IO;
	for (int i = 0; i < 4; i++) {
		read_once();
		CHECK_NUMBER(host.n_sent, 0);
	}
	CHECK_NUMBER(errors(), 1); /* not one an interval */
	script.error = 0;
	CHECK_NUMBER(read_once(), 0); /* the fourth has started it anew */
	CHECK_NUMBER(host.n_sent, 1);
	CU_ASSERT(host.value[0].derive == -1);
	CHECK_NUMBER(script.starts, 2);
	CU_ASSERT(logged("[info] intel_uncore plugin: counting again\n"));
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"types and scales", test_scales},
		{"types of the other units", test_types},
		{"totals beyond 2^63", test_large_total},
		{"a ratio with denominator 0", test_not_valid},
		{"a count that means nothing", test_no_count},
		{"values that are late", test_late_values},
		{"a lost counter: the others go on", test_lost},
		{"no counter can be read, and none started", test_fails_for_good},
		{"what may pass keeps it from starting at first", test_busy_at_first},
		{"no unit can be read at first", test_no_unit_at_first},
		{"a machine that cannot be opened at first", test_opened_late},
		{"a wrong name where no unit can be read", test_wrong_name_blind},
		{"a counter lost again and again", test_lost_again},
		{"calls that come late, all at once", test_late_calls},
		{"one late call costs no interval", test_late_and_early},
		{"partial sums are told once, and sent unless told otherwise", test_partial},
		{"rotation: all passes in an interval, true rates", test_rotation},
		{"rotation of the real session", test_real_rotation},
		{"a total that needs two passes", test_total_of_two_passes},
		{"read errors: one message, a new start", test_read_error},
		{NULL, NULL},
	};

	return suite_run("collectd_values", tests);
}
