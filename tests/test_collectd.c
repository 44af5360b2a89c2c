/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectd plugin, with a daemon of our own around it and simulated hardware below. */
#include "suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "uncore.h"

/* What the session answers where a test says so; else the library does. */
static struct {
	bool on;
	int passes;
	int error, start_error;
	int starts, stops, rotations; /* since the test asked last */
	struct unc_value value[4];
} script;

static int script_passes(const struct unc_session *session)
{
	return script.on ? script.passes : unc_session_passes(session);
}

static int script_read(struct unc_session *session, struct unc_value *values, size_t n)
{
	if (script.error)
		return script.error;
	if (!script.on)
		return unc_session_read(session, values, n);
	memcpy(values, script.value, n * sizeof(*values));
	return 0;
}

static int script_start(struct unc_session *session)
{
	script.starts++;
	return script.start_error ? script.start_error : unc_session_start(session);
}

static int script_stop(struct unc_session *session)
{
	script.stops++;
	return unc_session_stop(session);
}

static int script_rotate(struct unc_session *session)
{
	script.rotations++;
	return unc_session_rotate(session);
}

static const char *script_reason(struct unc_session *session, int id)
{
	static char text[32];

	if (!script.on)
		return unc_session_reason(session, id);
	snprintf(text, sizeof(text), "the reason of item %d", id);
	return text;
}

#define unc_session_passes script_passes
#define unc_session_read script_read
#define unc_session_start script_start
#define unc_session_stop script_stop
#define unc_session_rotate script_rotate
#define unc_session_reason script_reason
#include "../collectd_plugin/intel_uncore.c"
#include "../collectd_plugin/intel_uncore_read.c"
#include "collectd_host.h"

static void begin(void)
{
	memset(&host, 0, sizeof(host));
	memset(&script, 0, sizeof(script));
	script.passes = 1;
	host.now = TIME_T_TO_CDTIME_T(1000);
	unsetenv("UNCORE_SIM");
	module_register();
	CU_ASSERT_PTR_NOT_NULL_FATAL(host.config);
	CU_ASSERT_PTR_NOT_NULL_FATAL(host.init);
	CU_ASSERT_PTR_NOT_NULL_FATAL(host.shutdown);
	CU_ASSERT_PTR_NULL(host.read);
}

/* Shutdown, which must leave nothing behind. */
static void end(void)
{
	static const unsigned char nothing[sizeof(self)];

	CHECK_NUMBER(host.shutdown(), 0);
	CU_ASSERT(memcmp(&self, nothing, sizeof(self)) == 0);
}

/* The configuration was refused: these errors, no read callback, nothing left behind. */
static void check_refused(unsigned n, const char *sentence)
{
	CU_ASSERT(host.init() != 0);
	CU_ASSERT_PTR_NULL(host.read);
	CHECK_NUMBER(errors(), n);
	CU_ASSERT(logged(sentence));
	end();
}

/* ---- tests: configuration */

static void test_unknown_option(void)
{
	begin();
	CHECK_NUMBER(configure("Simulate emerald-rapids", "Metrics memory_read_bytes", NULL), 0);
	check_refused(2, "[error] intel_uncore plugin: no option Metrics; options are Simulate, "
			 "Metric, Event, PerUnit, PartialSums\n");
}

static void test_wrong_values(void)
{
	static const char *const lines[][2] = {
		{"Metric 5", "intel_uncore plugin: Metric takes names in quotes\n"},
		{"Metric", "intel_uncore plugin: Metric takes names in quotes\n"},
		{"Event imc.CAS_COUNT:RD true",
		 "intel_uncore plugin: Event takes names in quotes\n"},
		{"PerUnit both", "cf_util_get_boolean: PerUnit\n"},
		{"PartialSums 1", "cf_util_get_boolean: PartialSums\n"},
		{"Simulate 1", "cf_util_get_string: Simulate\n"},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		begin();
		CHECK_NUMBER(configure(lines[i][0], NULL), 0);
		check_refused(2, lines[i][1]);
	}
}

static void test_every_wrong_name(void)
{
	begin();
	configure("Simulate emerald-rapids", "Metric memory_read_byte memory_write_bytes",
		  "Event imc.CAS_CONT:RD", "Metric memory_read_bytes:socket=0", NULL);
	CU_ASSERT(host.init() != 0);
	CHECK_NUMBER(errors(), 3);
	CU_ASSERT(logged("[error] intel_uncore plugin: no metric memory_read_byte in "
			 "emerald-rapids; nearest is memory_read_bytes\n"));
	CU_ASSERT(logged("[error] intel_uncore plugin: imc.CAS_CONT: no event CAS_CONT in imc; "
			 "nearest is CAS_COUNT\n"));
	CU_ASSERT(logged("[error] intel_uncore plugin: memory_read_bytes:socket=0: give the name "
			 "of the metric alone; each socket gets a series\n"));
	end();
}

static void test_twice(void)
{
	begin();
	configure("Simulate emerald-rapids,sockets=1", "Event imc.CAS_COUNT:RD",
		  "Event imc.cas_count.rd", NULL);
	check_refused(1, "[error] intel_uncore plugin: imc.CAS_COUNT:RD:socket=0 is configured "
			 "twice\n");
}

static void test_socket_beyond(void)
{
	begin();
	configure("Simulate emerald-rapids,sockets=2", "Event imc.CAS_COUNT:RD:socket=2", NULL);
	check_refused(1, "imc.CAS_COUNT:RD:socket=2");
}

/* ---- tests: series */

static void test_simulated(void)
{
	begin();
	configure("Simulate emerald-rapids", "Metric memory_read_bytes", NULL);
	CHECK_NUMBER(host.init(), 0);
	CU_ASSERT_PTR_NOT_NULL(host.read);
	CHECK_NUMBER(errors(), 0);
	CU_ASSERT(logged("[notice] intel_uncore plugin: SIMULATED Emerald Rapids: the values are "
			 "not of this machine\n"));
	CU_ASSERT(logged("[info] intel_uncore plugin: Emerald Rapids, 2 sockets: 2 series, "
			 "passes: 1\n"));
	end();
}

/* Without Metric and Event: each portable metric that there is, on each socket. */
static void test_default_set(void)
{
	const struct unc_metric *metric;
	size_t wanted = 0;

	begin();
	configure("Simulate emerald-rapids", NULL);
	CHECK_NUMBER(host.init(), 0);
	for (size_t i = 0; (metric = unc_metric_get(self.platform, i)); i++)
		wanted += strcmp(metric->of, "portable") == 0 && metric->available;
	CU_ASSERT(wanted >= 8);
	CHECK_NUMBER(self.n_items, 2 * wanted);
	end();
}

/* The portable set of each CPU, and an event on each of its units: all is sent. */
static void test_every_cpu(void)
{
	static const char *const events[] = {"montecito",      "bus.BUS_MEMORY:ALL_SELF",
					     "nehalem-ep",     "core.MEM_LOAD_RETIRED:LLC_MISS",
					     "westmere-ep",    "core.MEM_LOAD_RETIRED:LLC_MISS",
					     "sandybridge-ep", "cbo.CLOCKTICKS",
					     "ivybridge-ep",   "irp.TRANSACTIONS:READS",
					     "emerald-rapids", "m2m.CLOCKTICKS"};
	struct unc_cpu cpu;
	int models[8];
	size_t n = 0;

	while (unc_cpu_get(n, &cpu, models) == 0)
		n++;
	CHECK_NUMBER(n, sizeof(events) / sizeof(events[0]) / 2); /* none is forgotten */
	for (size_t i = 0; i < n; i++) {
		char simulate[64], event[64];

		snprintf(simulate, sizeof(simulate), "Simulate %s", events[2 * i]);
		snprintf(event, sizeof(event), "Event %s", events[2 * i + 1]);
		begin();
		configure(simulate, NULL);
		CHECK_NUMBER(host.init(), 0);
		CU_ASSERT(self.n_items >= 6);
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
		CHECK_NUMBER(read_once(), 0);
		CU_ASSERT(host.n_sent > 0);
		end();
		begin();
		configure(simulate, "PerUnit true", event, NULL);
		CHECK_NUMBER(host.init(), 0);
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
		CHECK_NUMBER(read_once(), 0);
		CU_ASSERT(self.n_items > 2); /* more than one unit of each socket */
		CHECK_NUMBER(host.n_sent, self.n_items);
		end();
	}
}

/* The read values grow, as a DERIVE must, by what was counted. */
static void test_totals_grow(void)
{
	const char *name = "socket1/total_bytes-memory_read_bytes";
	derive_t last = -1;

	begin();
	configure("Simulate emerald-rapids", "Metric memory_read_bytes", NULL);
	CHECK_NUMBER(host.init(), 0);
	for (int i = 0; i < 3; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		CHECK_NUMBER(read_once(), 0);
		CHECK_NUMBER(host.n_sent, 2);
		CU_ASSERT(value_of(name).derive > last);
		if (i == 0)
			CHECK_NUMBER(value_of(name).derive, 0);
		else
			CHECK_NUMBER(value_of(name).derive - last, self.values[1].interval);
		last = value_of(name).derive;
	}
	end();
}

static void test_event_names(void)
{
	begin();
	configure("Simulate emerald-rapids", "Event imc.CAS_COUNT:RD",
		  "Event imc3.CAS_COUNT:WR:thresh=1:socket=1", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 3);
	value_of("socket0/total_events-imc-CAS_COUNT-RD");
	value_of("socket1/total_events-imc-CAS_COUNT-RD");
	value_of("socket1-imc3/total_events-imc-CAS_COUNT-WR-thresh_1");
	end();
}

static void test_per_unit(void)
{
	const struct unc_unit *unit;
	size_t n = 0;

	begin();
	configure("Simulate emerald-rapids", "PerUnit true", "Event imc.CAS_COUNT:RD",
		  "Metric memory_read_bytes", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(read_once(), 0);
	for (size_t i = 0; (unit = unc_unit_get(self.platform, i)); i++) {
		char name[128];

		if (strcmp(unit->type->name, "imc") != 0 || !unit->available)
			continue;
		snprintf(name, sizeof(name), "socket%d-imc%d/total_events-imc-CAS_COUNT-RD",
			 unit->socket, unit->index);
		value_of(name);
		n++;
	}
	CU_ASSERT(n >= 8);
	CHECK_NUMBER(host.n_sent, n + 2);
	end();
}

/* A name of 128 characters and more does not fit collectd's field. */
static void test_long_name(void)
{
	struct item item = {0};
	char name[DATA_MAX_NAME_LEN + 1];

	begin();
	memset(name, 'x', DATA_MAX_NAME_LEN);
	name[DATA_MAX_NAME_LEN] = '\0';
	CU_ASSERT(set_names(&item, "total_events", name) != 0);
	CU_ASSERT(logged("xxx: the name is too long for collectd\n"));
	name[DATA_MAX_NAME_LEN - 1] = '\0';
	CHECK_NUMBER(set_names(&item, "total_events", name), 0);
	CHECK_TEXT(item.vl.type_instance, name);
}

/* ---- tests: values, with a session that says what the test wants */

static struct unc_value counted(double since_start, double interval)
{
	return (struct unc_value){.count = (uint64_t)since_start,
				  .delta = (uint64_t)interval,
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
	CHECK_NUMBER(value_of("socket0/total_bytes-memory_read_bytes").derive, 0);
	CU_ASSERT_DOUBLE_EQUAL(value_of("socket0/percent-llc_miss_ratio").gauge, 25, 0);
	CU_ASSERT_DOUBLE_EQUAL(value_of("socket0/frequency-uncore_frequency_hz").gauge, 2e9, 0);
	CHECK_NUMBER(host.sent[0].time, host.now);
	CHECK_NUMBER(host.sent[2].time, host.now);
	CHECK_NUMBER(host.sent[0].interval, TIME_T_TO_CDTIME_T(10));
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of("socket0/total_bytes-memory_read_bytes").derive, 64);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of("socket0/total_bytes-memory_read_bytes").derive, 128);
	CHECK_NUMBER(script.rotations, 3); /* the session knows that there is nothing to do */
	end();
}

/* Every unit of a metric has a type, and a DERIVE is never a fraction or a rate. */
static void test_types(void)
{
	static const struct {
		const char *name, *series;
	} rows[] = {
		{"memory_read_latency_ns", "socket0/latency-memory_read_latency_ns"},
		{"llc_misses", "socket0/total_events-llc_misses"},
		{"imc.MEM_BW_READS", "socket0/total_bytes-imc-MEM_BW_READS"},
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
	value_of("socket0/total_bytes-memory_read_bytes");
	script.value[1] = counted(0.5, NAN); /* since the start there was something to divide by */
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 1);
	value_of("socket0/total_bytes-memory_read_bytes");
	CU_ASSERT(strstr(host.log, "[warning]") == NULL); /* an idle cache is not worth a line */
	end();
}

/* A count that means nothing is not sent; why is said once. Then its total begins anew. */
static void test_no_count(void)
{
	const char *name = "socket0/total_bytes-memory_read_bytes";
	const char *line = "[warning] intel_uncore plugin: socket0/memory_read_bytes: no value: "
			   "the reason of item 0\n";

	begin_script("Metric memory_read_bytes llc_miss_ratio", 1);
	script.value[0] = counted(1000, 1000);
	script.value[1] = counted(0.5, 0.5);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of(name).derive, 1000);
	script.value[0].flags = 0;
	for (int i = 0; i < 2; i++) {
		CHECK_NUMBER(read_once(), 0);
		CHECK_NUMBER(host.n_sent, 1);
		value_of("socket0/percent-llc_miss_ratio");
	}
	CU_ASSERT(logged(line));
	CU_ASSERT_PTR_NULL(strstr(strstr(host.log, line) + 1, line));
	CHECK_NUMBER(script.starts + script.stops, 0); /* it comes back by itself, or not at all */
	script.value[0] = counted(5000, 700);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of(name).derive, 0);
	CU_ASSERT(logged("[info] intel_uncore plugin: socket0/memory_read_bytes: values again\n"));
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(value_of(name).derive, 700);
	end();
}

/* A lost counter comes back with a new start. The totals of the others go on. */
static void test_lost(void)
{
	const char *reads = "socket0/total_bytes-memory_read_bytes";
	const char *writes = "socket0/total_bytes-memory_write_bytes";

	begin_script("Metric memory_read_bytes memory_write_bytes llc_miss_ratio", 1);
	script.value[0] = script.value[1] = counted(1000, 1000);
	script.value[2] = counted(0.5, 0.5);
	for (int i = 0; i < 2; i++)
		CHECK_NUMBER(read_once(), 0);
	script.value[0].flags = UNC_VALUE_LOST;
	script.value[2].flags = UNC_VALUE_LOST;
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 1);
	CHECK_NUMBER(value_of(writes).derive, 2000);
	CHECK_NUMBER(script.stops, 1);
	CHECK_NUMBER(script.starts, 1);
	CU_ASSERT(logged("[warning] intel_uncore plugin: socket0/memory_read_bytes: no value: the "
			 "reason of item 0\n"));
	CU_ASSERT(logged("[warning] intel_uncore plugin: socket0/llc_miss_ratio: no value: the "
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
	CHECK_NUMBER(script.starts, 1);
	CHECK_NUMBER(errors(), 0);
	end();
}

/* Who has taken the counter keeps it, and there is no other: the plugin goes on trying. */
static void test_lost_for_good(void)
{
	begin_script("Metric memory_read_bytes memory_write_bytes", 1);
	script.value[0] = script.value[1] = counted(1000, 1000);
	CHECK_NUMBER(read_once(), 0);
	script.value[0].flags = UNC_VALUE_LOST;
	script.start_error = UNC_ERR_BUSY;
	for (int i = 0; i < 3; i++)
		CHECK_NUMBER(read_once(), 0); /* else collectd would call less and less often */
	CHECK_NUMBER(host.n_sent, 0);
	CHECK_NUMBER(script.starts, 3);
	CHECK_NUMBER(errors(), 1);
	script.start_error = 0;
	script.value[0].flags = UNC_VALUE_VALID | UNC_VALUE_FRESH;
	CHECK_NUMBER(read_once(), 0); /* starts */
	CHECK_NUMBER(host.n_sent, 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 2);
	CU_ASSERT(host.value[0].derive == -1); /* below the 0 that was sent last */
	CHECK_NUMBER(host.value[1].derive, 0);
	CU_ASSERT(logged("[info] intel_uncore plugin: counting again\n"));
	end();
}

/* Counters that are taken when collectd starts may be free later. What is no such matter disables. */
static void test_busy_at_first(void)
{
	begin();
	configure("Simulate emerald-rapids,sockets=1", "Metric memory_read_bytes", NULL);
	script.start_error = UNC_ERR_PERMISSION;
	CU_ASSERT(host.init() != 0);
	CU_ASSERT_PTR_NULL(host.read);
	end();
	begin();
	configure("Simulate emerald-rapids,sockets=1", "Metric memory_read_bytes", NULL);
	script.start_error = UNC_ERR_BUSY;
	CHECK_NUMBER(host.init(), 0);
	CU_ASSERT(logged("; tried again in each interval\n"));
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(errors(), 1);
	script.start_error = 0;
	CHECK_NUMBER(read_once(), 0); /* starts */
	CHECK_NUMBER(host.n_sent, 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 1);
	CU_ASSERT(logged("[info] intel_uncore plugin: counting again\n"));
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
		CU_ASSERT(value_of("socket0/total_bytes-memory_read_bytes").derive == begins[i]);
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
	script.rotations = 0;
	host.n_sent = 0;
	for (int i = 0; i < 6; i++)
		CHECK_NUMBER(host.read(NULL), 0);
	CHECK_NUMBER(script.rotations, 1);
	CHECK_NUMBER(host.n_sent, 0);
	host.now += host.step;
	CHECK_NUMBER(host.read(NULL), 0);
	CHECK_NUMBER(host.n_sent, 2);
	end();
}

/* One of four channels of socket 1 is hidden: told once for an item; sent, unless told otherwise.
 */
static void test_partial(void)
{
	const char *line =
		"[warning] intel_uncore plugin: socket1/memory_read_bytes: partial sum, without "
		"imc3: "
		"PCI function 10.5 (8086:3cb5) is not visible: hidden by the BIOS, or this machine "
		"has none";
	const char *simulate = "Simulate sandybridge-ep,hide=imc3@1";

	begin();
	configure(simulate, "Metric memory_read_bytes", NULL);
	CHECK_NUMBER(host.init(), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_NUMBER(read_once(), 0);
		CHECK_NUMBER(host.n_sent, 2);
	}
	CU_ASSERT_FATAL(logged(line));
	CU_ASSERT_PTR_NULL(strstr(strstr(host.log, line) + 1, "[warning]"));
	end();
	begin();
	configure(simulate, "PartialSums false", "Metric memory_read_bytes", "Event cbo.CLOCKTICKS",
		  NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 3);
	value_of("socket0/total_bytes-memory_read_bytes");
	value_of("socket1/total_events-cbo-CLOCKTICKS");
	CU_ASSERT(logged("has none; not sent (PartialSums false)\n"));
	end();
	begin();
	configure(simulate, "PartialSums true", "PerUnit true", "Event imc.CAS_COUNT:RD", NULL);
	CHECK_NUMBER(host.init(), 0); /* a unit that is not there has no sum */
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 7);
	CU_ASSERT_PTR_NULL(strstr(host.log, "partial sum"));
	CU_ASSERT(logged("[warning] intel_uncore plugin: left out: imc3.CAS_COUNT:RD:socket=1"));
	end();
}

/* Two passes: both have a half of the interval, then all values are sent. */
static void test_rotation(void)
{
	const char *name = "socket0/total_bytes-memory_read_bytes";

	begin_script("Metric memory_read_bytes llc_miss_ratio", 2);
	CHECK_NUMBER(host.step, TIME_T_TO_CDTIME_T(10) / 2);
	script.value[0] = counted(1000, 1000);
	script.value[1] = counted(0.5, 0.5);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(script.rotations, 2);
	CHECK_NUMBER(host.n_sent, 2);
	CHECK_NUMBER(value_of(name).derive, 0);
	CHECK_NUMBER(host.sent[0].interval, TIME_T_TO_CDTIME_T(10));

	/* The library scales to the interval. Its total since start may shrink when a pass that
	 * was quiet corrects it; the DERIVE does not. */
	script.value[0] = counted(800, 300);
	script.value[0].flags |= UNC_VALUE_ESTIMATED;
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(script.rotations, 4);
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
	configure("Simulate emerald-rapids,sockets=1",
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
	configure("Simulate sandybridge-ep,sockets=1", "Metric pcie_write_bytes", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(unc_session_passes(self.session), 2);
	for (int i = 0; i < 2; i++) {
		read_slowly();
		CHECK_NUMBER(host.n_sent, 1);
	}
	CU_ASSERT(value_of("socket0/total_bytes-pcie_write_bytes").derive > 0);
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

/* ---- tests: machines without counters */

static void test_no_counters(void)
{
	begin();
	setenv("UNCORE_SYSROOT", "/nonexistent", 1);
	configure(NULL);
	CU_ASSERT(host.init() != 0);
	unsetenv("UNCORE_SYSROOT");
	CHECK_NUMBER(errors(), 1);
	CU_ASSERT(logged("; uncore doctor says more\n"));
	end();
}

static void test_no_such_machine(void)
{
	begin();
	configure("Simulate emerald-rapid", NULL);
	check_refused(1, "emerald-rapids");
}

/* What one failed start leaves behind must not be in the way of the next. */
static void test_again(void)
{
	begin();
	configure("Metric nonsense", "Simulate emerald-rapids", NULL);
	CU_ASSERT(host.init() != 0);
	configure("Metric memory_read_bytes", "Simulate emerald-rapids", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 2);
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"an unknown option", test_unknown_option},
		{"wrong values of options", test_wrong_values},
		{"every wrong name is reported", test_every_wrong_name},
		{"an event twice, spelt differently", test_twice},
		{"a socket that is not there", test_socket_beyond},
		{"the log says SIMULATED", test_simulated},
		{"the portable set by default", test_default_set},
		{"every CPU", test_every_cpu},
		{"totals grow", test_totals_grow},
		{"names of events", test_event_names},
		{"PerUnit", test_per_unit},
		{"a name too long", test_long_name},
		{"types and scales", test_scales},
		{"types of the other units", test_types},
		{"totals beyond 2^63", test_large_total},
		{"a ratio with denominator 0", test_not_valid},
		{"a count that means nothing", test_no_count},
		{"a lost counter: a new start, the others go on", test_lost},
		{"a counter lost for good", test_lost_for_good},
		{"counters that are taken at first", test_busy_at_first},
		{"a counter lost again and again", test_lost_again},
		{"calls that come late, all at once", test_late_calls},
		{"partial sums are told once, and sent unless told otherwise", test_partial},
		{"rotation: all passes in an interval, true rates", test_rotation},
		{"rotation of the real session", test_real_rotation},
		{"a total that needs two passes", test_total_of_two_passes},
		{"read errors: one message, a new start", test_read_error},
		{"no counters: why", test_no_counters},
		{"no such simulated machine", test_no_such_machine},
		{"a good start after a bad one", test_again},
		{NULL, NULL},
	};

	return suite_run("collectd", tests);
}
