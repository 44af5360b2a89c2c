/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectd plugin on simulated hardware: configuration, series, machines without counters. */
#include "cases.h"
#include "collectd_kit.h"

/* ---- tests: configuration */

static void test_unknown_option(void)
{
	begin();
	CHECK_NUMBER(configure("Simulate emerald-rapids", "Metrics memory_read_bytes", NULL), 0);
	check_refused(2,
		      "[error] intel_uncore plugin: no option Metrics; options are Metric, Event, "
		      "Group, PerUnit, PerDevice, Cpu, NodeSums, PartialSums, DeviceMap, Access, "
		      "Simulate\n");
	begin();
	CHECK_NUMBER(
		configure("Simulate emerald-rapids", "<Cpu emerald-rapids", "Access msr", NULL), 0);
	check_refused(2,
		      "[error] intel_uncore plugin: no option Access in <Cpu>; options are Metric, "
		      "Event, Group, PerUnit, PerDevice\n");
}

static void test_wrong_values(void)
{
	static const char *const lines[][2] = {
		{"Metric 5", "intel_uncore plugin: Metric takes names in quotes\n"},
		{"Metric", "intel_uncore plugin: Metric takes names in quotes\n"},
		{"Event imc.CAS_COUNT:RD true",
		 "intel_uncore plugin: Event takes names in quotes\n"},
		{"Group 1", "intel_uncore plugin: Group takes names in quotes\n"},
		{"PerUnit both", "cf_util_get_boolean: PerUnit\n"},
		{"PerDevice 3", "cf_util_get_boolean: PerDevice\n"},
		{"NodeSums 1", "cf_util_get_boolean: NodeSums\n"},
		{"PartialSums 1", "cf_util_get_boolean: PartialSums\n"},
		{"Simulate 1", "cf_util_get_string: Simulate\n"},
		{"Access 1", "cf_util_get_string: Access\n"},
		{"<Cpu", "cf_util_get_string: Cpu\n"},
		{"<Cpu emerald-rapids montecito", "cf_util_get_string: Cpu\n"},
		{"<Event imc.CAS_COUNT:RD",
		 "intel_uncore plugin: <Event> is no block; the only one is <Cpu>\n"},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		begin();
		CHECK_NUMBER(configure(lines[i][0], "PerUnit true", NULL), 0);
		check_refused(2, lines[i][1]);
	}
}

/* A name that is wrong costs what it names, and a line. */
static void test_wrong_names(void)
{
	begin();
	configure("Simulate emerald-rapids", "Metric memory_read_byte memory_write_bytes",
		  "Event imc.CAS_COUNT:RDD", "Group MEMM", "<Cpu emerald-rapid",
		  "Metric memory_read_bytes", "/", "<Cpu emerald-rapids", "Event imc.CAS_CONT:RD",
		  NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(errors(), 5);
	CU_ASSERT(logged("[error] intel_uncore plugin: no metric or event memory_read_byte in "
			 "emerald-rapids; nearest is memory_read_bytes; it is ignored\n"));
	CU_ASSERT(logged("[error] intel_uncore plugin: imc.CAS_COUNT: no umask RDD; nearest is RD; "
			 "it is ignored\n"));
	CU_ASSERT(logged("[error] intel_uncore plugin: no group MEMM; nearest is MEM"));
	CU_ASSERT(logged("[error] intel_uncore plugin: <Cpu>: no CPU emerald-rapid; nearest is "
			 "emerald-rapids"));
	CU_ASSERT(logged("nearest is imc.CAS_COUNT"));
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 2);
	value_of("simulated-socket0/total_bytes-memory_write_bytes");
	value_of("simulated-socket1/total_bytes-memory_write_bytes");
	end();
}

static void test_nothing_left(void)
{
	begin();
	configure("Simulate emerald-rapids", "Metric memory_read_byte", "Group MEMM", NULL);
	check_refused(3, "[error] intel_uncore plugin: nothing is left to measure\n");
}

static void test_twice(void)
{
	begin();
	configure("Simulate emerald-rapids,sockets=1", "Event imc.CAS_COUNT:RD",
		  "Event imc.cas_count.rd", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(errors(), 0);
	CHECK_NUMBER(self.n_items, 1);
	CU_ASSERT(logged("[warning] intel_uncore plugin: simulated-socket0/imc-CAS_COUNT-RD is "
			 "configured twice; it is sent once\n"));
	end();
}

/* One node of a cluster has fewer sockets. */
static void test_socket_beyond(void)
{
	begin();
	configure("Simulate emerald-rapids,sockets=2", "Event imc.CAS_COUNT:RD:socket=2",
		  "Event imc.CAS_COUNT:RD:socket=1", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(errors(), 1);
	CU_ASSERT(logged("imc.CAS_COUNT:RD:socket=2"));
	CHECK_NUMBER(self.n_items, 1);
	end();
}

/* The blocks of other CPUs are for them; that of this one comes on top of what stands outside. */
static void test_cpu_blocks(void)
{
	begin();
	configure("Simulate emerald-rapids,sockets=1", "<Cpu montecito", "Metric nonsense", "/",
		  "<Cpu Emerald-Rapids", "Event imc.CAS_COUNT:RD", "PerUnit true", "/", "<Cpu spr",
		  "Metric nonsense", "/", "<Cpu EMR", "Event imc.CLOCKTICKS", "/",
		  "Event imc.CAS_COUNT:WR", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(errors(), 0);
	CHECK_NUMBER(read_once(), 0);
	value_of("simulated-socket0/total_events-imc-CAS_COUNT-WR"); /* PerUnit is of the block */
	value_of("simulated-socket0-imc3/total_events-imc-CAS_COUNT-RD");
	value_of("simulated-socket0/total_events-imc-CLOCKTICKS");
	CU_ASSERT_PTR_NULL(find("simulated-socket0-imc3/total_events-imc-CAS_COUNT-WR"));
	end();
	begin();
	configure("Simulate emerald-rapids,sockets=1", "<Cpu emerald-rapids",
		  "Event imc.CAS_COUNT:RD", "/", "PerUnit true", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(read_once(), 0);
	value_of("simulated-socket0-imc3/total_events-imc-CAS_COUNT-RD"); /* as outside */
	end();
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

static const struct unc_group *group_of(const char *name)
{
	size_t index = 0;

	CHECK_NUMBER(unc_group_find(self.platform, name, &index), 0);
	return unc_group_get(self.platform, index);
}

/* Where nothing is configured for this CPU: the group OVERVIEW. */
static void test_default_set(void)
{
	for (int i = 0; i < 3; i++) {
		begin();
		if (i == 2)
			configure("Simulate emerald-rapids", "<Cpu montecito", "Event er.ALL",
				  NULL);
		else
			configure("Simulate emerald-rapids", i ? "Group overview" : NULL, NULL);
		CHECK_NUMBER(host.init(), 0);
		CHECK_NUMBER(self.n_items, 2 * group_of("OVERVIEW")->n_items);
		CU_ASSERT(self.n_items >= 2 * 8);
		end();
	}
}

/* What a group and the configuration both name is sent once, and nothing is wrong with that. */
static void test_group(void)
{
	begin();
	configure("Simulate emerald-rapids,sockets=1", "Metric llc_misses", "Group L3",
		  "Metric llc_lookups", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(errors(), 0);
	CU_ASSERT_PTR_NULL(strstr(host.log, "[warning]"));
	CHECK_NUMBER(self.n_items, group_of("L3")->n_items);
	CU_ASSERT(self.n_items >= 2);
	end();
}

/* Metric takes events and Event metrics; both take a place. */
static void test_either_kind(void)
{
	begin();
	configure("Simulate emerald-rapids", "Metric imc.CAS_COUNT:RD:socket=1",
		  "Event llc_miss_ratio:socket=0 imc3.MEM_BW_READS", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(errors(), 0);
	nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 4);
	value_of("simulated-socket1/total_events-imc-CAS_COUNT-RD");
	value_of("simulated-socket0/percent-llc_miss_ratio");
	value_of("simulated-socket0-imc3/total_bytes-imc-MEM_BW_READS");
	value_of("simulated-socket1-imc3/total_bytes-imc-MEM_BW_READS");
	end();
}

/* One interval after a configuration that is right. */
static void send_once(const char *simulate, const char *event)
{
	begin();
	if (event)
		configure(simulate, "PerUnit true", event, NULL);
	else
		configure(simulate, NULL);
	CHECK_NUMBER(host.init(), 0);
	nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	CHECK_NUMBER(read_once(), 0);
}

/* The first event of a unit type that is complete without more words; false if it has none. */
static bool event_of(struct unc_platform *p, const struct unc_type *type, char *item, size_t size)
{
	struct unc_encoding e = {.size = sizeof(e)};
	const struct unc_event *event;

	for (size_t i = 0; (event = unc_event_get(p, i)) != NULL; i++)
		if (strcmp(event->type, type->name) == 0 &&
		    unc_event_encode(p, event->spec, &e) == 0) {
			snprintf(item, size, "Event %s", event->spec);
			return true;
		}
	return false;
}

/* Whether the log has a warning but of values that are late: by the time of the wall there may be
 * some on any busy machine. */
static bool warned(void)
{
	bool other = false;

	for (const char *line = strstr(host.log, "[warning]"); line && !other;
	     line = strstr(line + 1, "[warning]")) {
		const char *late = strstr(line, ": late: ");

		other = !late || late > line + strcspn(line, "\n");
	}
	return other;
}

/* The default set of a CPU: one pass, and all of it in each interval. */
static void default_is_complete(const char *simulate)
{
	send_once(simulate, NULL);
	CHECK_NUMBER(unc_session_passes(self.session), 1);
	CHECK_NUMBER(host.step, TIME_T_TO_CDTIME_T(10));
	CU_ASSERT(self.n_items >= 2);
	for (int i = 0; i < 3; i++) {
		CHECK_NUMBER(host.n_sent, self.n_items);
		if (host.n_sent != self.n_items)
			printf("# %s: %zu of %zu\n", simulate, host.n_sent, self.n_items);
		for (size_t k = 0; k < self.n_items; k++)
			CU_ASSERT((self.values[k].flags & UNC_VALUE_ESTIMATED) == 0);
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
		CHECK_NUMBER(read_once(), 0);
	}
	CU_ASSERT(!warned());
	if (warned())
		printf("# %s: %s\n", simulate, host.log);
	CHECK_NUMBER(errors(), 0);
	end();
}

/* The default set of a CPU, and an event of each unit type, by unit and by socket: all is sent. */
static void all_is_sent(const char *cpu)
{
	struct unc_options options = {.size = sizeof(options), .sim = cpu};
	struct unc_platform *p = NULL;
	const struct unc_type *type;
	char simulate[64], item[256];
	int most = 0, sockets;

	snprintf(simulate, sizeof(simulate), "Simulate %s", cpu);
	default_is_complete(simulate);
	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	sockets = unc_platform_sockets(p);
	for (size_t i = 0; (type = unc_type_get(p, i)) != NULL; i++) {
		if (type->units == 0 || !event_of(p, type, item, sizeof(item)))
			continue;
		send_once(simulate, item);
		CHECK_NUMBER(self.n_items, type->units + sockets);
		CHECK_NUMBER(host.n_sent, self.n_items);
		if (host.n_sent != (size_t)(type->units + sockets))
			printf("# %s: %s\n", cpu, item);
		most = type->units > most ? type->units : most;
		end();
	}
	CU_ASSERT(most > 2); /* more than one unit of each socket */
	unc_platform_close(p);
}

static void test_every_cpu(void)
{
	const struct unc_cpu *cpu;
	size_t n = 0;

	for (; (cpu = unc_cpu_get(NULL, n)) != NULL; n++)
		all_is_sent(cpu->name);
	CU_ASSERT(n > 0);
}

/* The read values grow, as a DERIVE must, by what was counted. */
static void test_totals_grow(void)
{
	const char *name = "simulated-socket1/total_bytes-memory_read_bytes";
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
	value_of("simulated-socket0/total_events-imc-CAS_COUNT-RD");
	value_of("simulated-socket1/total_events-imc-CAS_COUNT-RD");
	value_of("simulated-socket1-imc3/total_events-imc-CAS_COUNT-WR-thresh_1");
	end();
}

/* Units, also of a portable metric, beside the sums that the dashboards show. */
static void test_per_unit(void)
{
	static const char *const series[] = {"events-imc-CAS_COUNT-RD", "bytes-memory_read_bytes",
					     "bytes-imc-MEM_BW_READS"};
	const struct unc_unit *unit;
	size_t n = 0;

	begin();
	configure("Simulate emerald-rapids", "PerUnit true", "Event imc.CAS_COUNT:RD",
		  "Metric memory_read_bytes imc.MEM_BW_READS", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(read_once(), 0);
	for (size_t i = 0; (unit = unc_unit_get(self.platform, i)); i++) {
		char name[128];

		if (strcmp(unit->type->name, "imc") != 0 || !unit->available)
			continue;
		for (size_t k = 0; k < 3; k++) {
			snprintf(name, sizeof(name), "simulated-socket%d-imc%d/total_%s",
				 unit->socket, unit->index, series[k]);
			value_of(name);
			snprintf(name, sizeof(name), "simulated-socket%d/total_%s", unit->socket,
				 series[k]);
			value_of(name);
		}
		n++;
	}
	CU_ASSERT(n >= 8);
	CHECK_NUMBER(host.n_sent, 3 * n + 3 * 2);
	CU_ASSERT_PTR_NULL(strstr(host.log, "configured twice"));
	end();
}

/* What has no value of a unit is its sum, and the log says so once. */
static void test_per_unit_sentence(void)
{
	const char *sentence =
		"memory_read_bytes: it is of no single unit type; each socket has a value\n";
	const char *said;

	begin();
	configure("Simulate sapphire-rapids", "PerUnit true", "Metric memory_read_bytes", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 2);
	value_of("simulated-socket0/total_bytes-memory_read_bytes");
	said = strstr(host.log, sentence);
	CU_ASSERT_PTR_NOT_NULL(said);
	CU_ASSERT(!said || !strstr(said + 1, sentence));
	CU_ASSERT_PTR_NULL(strstr(host.log, "configured twice"));
	end();
}

static bool has_series(const char *instance, const char *name)
{
	for (size_t i = 0; i < self.n_items; i++)
		if (strcmp(self.items[i].vl.plugin_instance, instance) == 0 &&
		    strcmp(self.items[i].vl.type_instance, name) == 0)
			return true;
	return false;
}

/* The sum of the socket stays, and its ports come beside it. */
static void test_per_device(void)
{
	begin();
	configure("Simulate emerald-rapids-devices,sockets=1", "PerDevice true",
		  "Metric pcie_write_bytes memory_read_bytes", NULL);
	CHECK_NUMBER(host.init(), 0);
	CU_ASSERT(has_series("simulated-socket0", "pcie_write_bytes"));
	CU_ASSERT(has_series("simulated-socket0-iio3-port0", "pcie_write_bytes"));
	CU_ASSERT(has_series("simulated-socket0", "memory_read_bytes"));
	CU_ASSERT_PTR_NULL(strstr(host.log, "configured twice"));
	end();
}

/* The sum of a node is that of its sockets, read at once; a ratio is that of the sums. */
static void test_node_sums(void)
{
	derive_t sockets;

	begin();
	configure("Simulate emerald-rapids", "NodeSums true", "PerUnit true",
		  "Metric memory_read_bytes llc_miss_ratio", "Event imc.CAS_COUNT:RD",
		  "Event imc3.CAS_COUNT:WR imc.CAS_COUNT:WR:socket=0", NULL);
	CHECK_NUMBER(host.init(), 0);
	for (int i = 0; i < 2; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		CHECK_NUMBER(read_once(), 0);
	}
	sockets = value_of("simulated-socket0/total_bytes-memory_read_bytes").derive +
		  value_of("simulated-socket1/total_bytes-memory_read_bytes").derive;
	CU_ASSERT(sockets > 0);
	CHECK_NUMBER(value_of("simulated-node/total_bytes-memory_read_bytes").derive, sockets);
	CHECK_NUMBER(value_of("simulated-node/total_events-imc-CAS_COUNT-RD").derive * 64, sockets);
	value_of("simulated-node/percent-llc_miss_ratio");
	CU_ASSERT_PTR_NULL(find("simulated-node/total_events-imc-CAS_COUNT-WR"));
	end();
}

/* A name of 128 characters and more does not fit collectd's field. */
static void test_long_name(void)
{
	value_list_t vl = {0};
	char name[DATA_MAX_NAME_LEN + 1];

	begin();
	memset(name, 'x', DATA_MAX_NAME_LEN);
	name[DATA_MAX_NAME_LEN] = '\0';
	CU_ASSERT(set_names(&vl, "total_events", name) != 0);
	name[DATA_MAX_NAME_LEN - 1] = '\0';
	CHECK_NUMBER(set_names(&vl, "total_events", name), 0);
	CHECK_TEXT(vl.type_instance, name);
}

/* ---- tests: machines without counters */

static void test_no_counters(void)
{
	begin();
	setenv("UNCORE_SYSROOT", "/nonexistent", 1);
	configure(NULL);
	check_refused(1, "/nonexistent");
	unsetenv("UNCORE_SYSROOT");
}

static void test_access(void)
{
	begin();
	configure("Simulate emerald-rapids,sockets=1", "Metric memory_read_bytes", "Access direct",
		  NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(read_once(), 0);
	CHECK_NUMBER(host.n_sent, 1);
	end();
	begin();
	configure("Simulate emerald-rapids", "Access msr,nonsense", NULL);
	check_refused(1, "nonsense");
}

static void test_no_such_machine(void)
{
	begin();
	configure("Simulate emerald-rapid", NULL);
	check_refused(1, "emerald-rapids");
}

/* Another library than that of the header it was compiled with. */
static void test_other_library(void)
{
	const unsigned major = UNC_API_VERSION >> 16, minor = UNC_API_VERSION & 0xffff;
	char want[160];

	begin();
	script.version = UNC_API_VERSION + 0x10000;
	configure("Simulate emerald-rapids", NULL);
	snprintf(want, sizeof(want),
		 " has interface %u.%u, the plugin was compiled for %u.%u: install those that "
		 "belong together\n",
		 major + 1, minor, major, minor);
	check_refused(1, want);
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

/* What other tools call it is stored under our name: tests/names.cases. */
static void test_spellings(void)
{
	begin();
	configure("Simulate emerald-rapids,sockets=1", "Event uncore_imc/event=0x05,umask=0xcf/",
		  "Event spr_unc_imc0::UNC_M_CAS_COUNT:WR", "Metric memory_bandwidth_read", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(errors(), 0);
	CHECK_NUMBER(read_once(), 0);
	value_of("simulated-socket0/total_events-imc-CAS_COUNT-RD");
	value_of("simulated-socket0-imc0/total_events-imc-CAS_COUNT-WR");
	value_of("simulated-socket0/total_bytes-memory_read_bytes");
	end();
}

/* Each row that is not refused, as a metric or an event by what it is here. */
static void configure_row(void *user, const struct cases_row *row)
{
	const char *theirs = row->field[1], *ours = row->field[2];
	char simulate[64], option[300];
	bool metric = !strchr(ours, '.');

	(void)user;
	if (*ours == '!')
		return;
	snprintf(simulate, sizeof(simulate), "Simulate %s", row->field[0]);
	snprintf(option, sizeof(option), "%s %s", metric ? "Metric" : "Event", theirs);
	begin();
	configure(simulate, option, NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(errors(), 0);
	end();
}

static void test_all_spellings(void)
{
	CU_ASSERT(cases_read("names.cases", configure_row, NULL) > 60);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"an unknown option", test_unknown_option},
		{"each name of another tool", test_all_spellings},
		{"wrong values of options", test_wrong_values},
		{"wrong names: a line each, the rest goes on", test_wrong_names},
		{"nothing but wrong names", test_nothing_left},
		{"an event twice, spelt differently", test_twice},
		{"a socket that is not there", test_socket_beyond},
		{"blocks of CPUs", test_cpu_blocks},
		{"the log says SIMULATED", test_simulated},
		{"OVERVIEW by default", test_default_set},
		{"a group", test_group},
		{"events and metrics, at places", test_either_kind},
		{"every CPU", test_every_cpu},
		{"totals grow", test_totals_grow},
		{"names of events", test_event_names},
		{"PerUnit", test_per_unit},
		{"PerUnit: what has no value of a unit", test_per_unit_sentence},
		{"PerDevice", test_per_device},
		{"NodeSums", test_node_sums},
		{"a name too long", test_long_name},
		{"no counters: why", test_no_counters},
		{"Access", test_access},
		{"no such simulated machine", test_no_such_machine},
		{"a library of another version", test_other_library},
		{"a good start after a bad one", test_again},
		{"names as other tools spell them", test_spellings},
		{NULL, NULL},
	};

	return suite_run("collectd", tests);
}
