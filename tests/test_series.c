/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A text at all its places, and what an item of a session is. Units of the simulated machines:
 * eventtables. Sandy Bridge-EP: two sockets, imc0 to imc3 of each.
 */
#include "session_kit.h"

static unsigned parsed;

int unc_spec_parse(const struct unc_table *t, const char *text, struct unc_spec *out,
		   struct unc_error *err)
{
	parsed++;
	return REAL(unc_spec_parse)(t, text, out, err);
}

#define HIDDEN                                                                                     \
	"PCI function 10.5 (8086:3cb5) is not visible: hidden by the BIOS, or this machine "       \
	"has none"

static struct unc_item item_of(struct unc_session *s, int id)
{
	struct unc_item item = {.size = sizeof(item)};

	CHECK_NUMBER(unc_session_item(s, id, &item), 0);
	return item;
}

static const struct each_row {
	const char *text;
	unsigned per;
	size_t n;
	const char *first, *last;
} each_rows[] = {
	{"imc.cas_count.rd", 0, 1, "imc.CAS_COUNT:RD", NULL},
	{"imc3.CAS_COUNT:RD", 0, 1, "imc3.CAS_COUNT:RD", NULL},
	{"imc.CAS_COUNT:RD", UNC_EACH_SOCKET, 2, "imc.CAS_COUNT:RD:socket=0",
	 "imc.CAS_COUNT:RD:socket=1"},
	{"imc.CAS_COUNT:RD", UNC_EACH_UNIT, 8, "imc0.CAS_COUNT:RD:socket=0",
	 "imc3.CAS_COUNT:RD:socket=1"},
	{"imc.CAS_COUNT:RD", UNC_EACH_UNIT | UNC_EACH_SOCKET, 8, "imc0.CAS_COUNT:RD:socket=0",
	 "imc3.CAS_COUNT:RD:socket=1"},
	{"imc3.CAS_COUNT:RD", UNC_EACH_SOCKET, 2, "imc3.CAS_COUNT:RD:socket=0",
	 "imc3.CAS_COUNT:RD:socket=1"},
	{"imc3.CAS_COUNT:RD", UNC_EACH_UNIT, 2, "imc3.CAS_COUNT:RD:socket=0",
	 "imc3.CAS_COUNT:RD:socket=1"},
	{"imc.CAS_COUNT:RD:socket=1", UNC_EACH_SOCKET, 1, "imc.CAS_COUNT:RD:socket=1", NULL},
	{"imc.CAS_COUNT:RD:socket=1", UNC_EACH_UNIT, 4, "imc0.CAS_COUNT:RD:socket=1",
	 "imc3.CAS_COUNT:RD:socket=1"},
	{"imc3.CAS_COUNT:RD:socket=1", UNC_EACH_UNIT, 1, "imc3.CAS_COUNT:RD:socket=1", NULL},
	{"Memory_Read_Bytes", UNC_EACH_UNIT, 8, "memory_read_bytes:unit=0:socket=0",
	 "memory_read_bytes:unit=3:socket=1"},
	{"memory_read_bytes:socket=1", UNC_EACH_UNIT, 4, "memory_read_bytes:unit=0:socket=1",
	 "memory_read_bytes:unit=3:socket=1"},
	{"imc.MEM_BW_READS", UNC_EACH_UNIT, 8, "imc0.MEM_BW_READS:socket=0",
	 "imc3.MEM_BW_READS:socket=1"},
};

/* Ids go on behind what is there, by socket and unit. */
static void test_places(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	int before = add(s, "cbo.CLOCKTICKS"), next = before + 1;

	for (size_t i = 0; i < sizeof(each_rows) / sizeof(each_rows[0]); i++) {
		const struct each_row *row = &each_rows[i];
		size_t n = 0;
		int first = -1;

		CHECK_NUMBER(unc_session_add_each(s, row->text, row->per, &first, &n), 0);
		CHECK_TEXT(unc_session_error(s), "");
		CHECK_NUMBER(first, next);
		CHECK_NUMBER(n, row->n);
		CHECK_TEXT(item_of(s, first).name, row->first);
		CHECK_TEXT(item_of(s, first + (int)n - 1).name, row->last ? row->last : row->first);
		next = first + (int)n;
	}
	unc_session_free(s);
	unc_platform_close(p);
}

/* Of text and place nothing is made twice. */
static void test_parsed_once(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	size_t n;
	int id;

	parsed = 0;
	CHECK_NUMBER(unc_session_add(s, "imc.CAS_COUNT:RD", &id), 0);
	CHECK_NUMBER(parsed, 1);
	CHECK_NUMBER(unc_session_add_each(s, "imc.CAS_COUNT:WR", UNC_EACH_UNIT, &id, &n), 0);
	item_of(s, id);
	CHECK_NUMBER(parsed, 2);
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_item(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	struct {
		size_t size;
		const struct unc_metric *metric;
		uint64_t guard;
	} early = {.size = offsetof(struct unc_item, event), .guard = 7};
	struct unc_item item, none = {0};
	int event = add(s, "imc3.CAS_COUNT:RD:socket=1:thresh=1"),
	    metric = add(s, "memory_read_bytes:socket=0"), own = add(s, "imc2.MEM_BW_READS");

	item = item_of(s, event);
	CHECK_TEXT(item.event->spec, "imc.CAS_COUNT");
	CHECK_TEXT(unc_event_get(p, item.index)->spec, "imc.CAS_COUNT");
	CU_ASSERT_PTR_NULL(item.metric);
	CHECK_TEXT(item.units_of, "imc");
	CHECK_NUMBER(item.at.socket, 1);
	CHECK_NUMBER(item.at.index, 3);
	CHECK_NUMBER(item.error, 0);
	CHECK_TEXT(item.name, "imc3.CAS_COUNT:RD:thresh=1:socket=1");
	CHECK_TEXT(item.base, "imc.CAS_COUNT:RD:thresh=1");
	item = item_of(s, metric);
	CHECK_TEXT(item.metric->name, "memory_read_bytes");
	CHECK_TEXT(unc_metric_get(p, item.index)->name, "memory_read_bytes");
	CU_ASSERT_PTR_NULL(item.event);
	CU_ASSERT_PTR_NULL(item.units_of);
	CHECK_NUMBER(item.at.socket, 0);
	CHECK_NUMBER(item.at.index, (unsigned long long)-1);
	CHECK_TEXT(item.name, "memory_read_bytes:socket=0");
	CHECK_TEXT(item.base, "memory_read_bytes");
	item = item_of(s, own);
	CHECK_TEXT(item.units_of, "imc");
	CHECK_NUMBER(item.at.index, 2);
	CHECK_NUMBER(unc_session_item(s, 3, &item), UNC_ERR_NOT_FOUND);
	CHECK_TEXT(unc_session_error(s), "the session has no item 3");
	CHECK_NUMBER(unc_session_item(s, -1, &item), UNC_ERR_NOT_FOUND);
	CHECK_NUMBER(unc_session_item(s, 0, &none), UNC_ERR_INVALID);
	CHECK_NUMBER(unc_session_item(s, metric, (struct unc_item *)&early), 0);
	CHECK_TEXT(early.metric->name, "memory_read_bytes");
	CHECK_NUMBER(early.guard, 7);
	start(s);
	CHECK_TEXT(item_of(s, own).name, "imc2.MEM_BW_READS");
	unc_session_free(s);
	unc_platform_close(p);
}

/* A unit that cannot be read has its item: without a value, with why. */
static void test_lacking(void)
{
	struct unc_platform *p = machine("sandybridge-ep-no-imc3@1,clock=step");
	struct unc_session *s = session(p, 0);
	struct unc_value v[10];
	struct unc_item item;
	int first, sums;
	size_t n;

	CHECK_NUMBER(unc_session_add_each(s, "imc.CAS_COUNT:RD", UNC_EACH_UNIT, &first, &n), 0);
	CHECK_NUMBER(n, 8);
	CHECK_NUMBER(unc_session_add_each(s, "imc.CAS_COUNT:RD", UNC_EACH_SOCKET, &sums, &n), 0);
	CHECK_NUMBER(n, 2);
	for (int i = 0; i < 7; i++)
		CHECK_NUMBER(item_of(s, i).error, 0);
	item = item_of(s, 7);
	CHECK_NUMBER(item.error, (unsigned long long)UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(item.name, "imc3.CAS_COUNT:RD:socket=1");
	CHECK_TEXT(unc_session_reason(s, 7),
		   "imc3.CAS_COUNT:RD:socket=1: no such unit can be read: " HIDDEN);
	CHECK_NUMBER(unc_session_passes(s), 1);
	start(s);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 10, sizeof(v[0])), 0);
	for (int i = 0; i < 7; i++)
		CU_ASSERT(v[i].flags == (UNC_VALUE_VALID | UNC_VALUE_FRESH) && v[i].count > 0);
	CHECK_NUMBER(v[7].flags, 0);
	CHECK_NUMBER(v[7].count + v[7].units + v[7].of, 0);
	CHECK_TEXT(unc_session_partial(s, 7), "");
	CHECK_TEXT(unc_session_reason(s, 0), "");
	CHECK_NUMBER(v[9].count, v[4].count + v[5].count + v[6].count);
	CHECK_NUMBER(v[9].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_PARTIAL);
	CHECK_NUMBER(v[9].units, 3);
	CHECK_NUMBER(v[9].of, 4);
	unc_session_free(s);
	unc_platform_close(p);
}

/* What can be counted nowhere is an error, unless it is wanted all the same. */
static void test_none(void)
{
	struct unc_platform *p = machine("sandybridge-ep-no-imc3,clock=step");
	struct unc_session *s = session(p, 0);
	int first = 4711, id;
	size_t n = 4712;

	CHECK_NUMBER(unc_session_add_each(s, "imc3.CAS_COUNT:RD", UNC_EACH_SOCKET, &first, &n),
		     (unsigned long long)UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(unc_session_error(s),
		   "imc3.CAS_COUNT:RD:socket=0: no such unit can be read: " HIDDEN);
	CHECK_NUMBER(unc_session_add_each(s, "imc7.CAS_COUNT:RD", UNC_EACH_UNIT, &first, &n),
		     (unsigned long long)UNC_ERR_RANGE);
	CHECK_NUMBER(first, 4711);
	CHECK_NUMBER(n, 4712);
	CHECK_NUMBER(s->n_items, 0);
	CHECK_NUMBER(unc_session_add_each(s, "imc3.CAS_COUNT:RD",
					  UNC_EACH_SOCKET | UNC_EACH_LACKING, &first, &n),
		     0);
	CHECK_NUMBER(first, 0);
	CHECK_NUMBER(n, 2);
	CHECK_NUMBER(item_of(s, 1).error, (unsigned long long)UNC_ERR_UNAVAILABLE);
	CHECK_NUMBER(unc_session_start(s), (unsigned long long)UNC_ERR_STATE);
	CHECK_TEXT(unc_session_error(s), "the session has no events");
	CHECK_NUMBER(unc_session_add(s, "cbo.CLOCKTICKS", &id), 0);
	CHECK_NUMBER(id, 2);
	start(s);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Portable metrics by unit. By eventtables memory_read_bytes is of imc alone on Emerald Rapids, of imc and m2hbm on
 * Sapphire Rapids with memory on the package; what the memory can move is known of a socket. */
static const struct by_unit {
	const char *machine, *text, *sentence; /* "": each unit */
} by_units[] = {
	{"emerald-rapids,memory=4400", "memory_read_bytes", ""},
	{"emerald-rapids,memory=4400", "imc.CAS_COUNT:RD", ""},
	{"emerald-rapids,memory=4400", "link_utilization", ""},
	{"emerald-rapids,memory=4400", "memory_utilization",
	 "memory_utilization:unit=0:socket=0: it is computed for sockets, not for units or ports; "
	 "each socket has a value"},
	{"sapphire-rapids", "memory_read_bytes",
	 "memory_read_bytes: it is of no single unit type; each socket has a value"},
};

/* What is added at other places than were asked for says so; the units of a socket make its value. */
static void test_by_unit(void)
{
	for (size_t i = 0; i < sizeof(by_units) / sizeof(by_units[0]); i++) {
		const struct by_unit *row = &by_units[i];
		struct unc_platform *p = machine(row->machine);
		struct unc_session *s = session(p, UNC_SESSION_ROTATE);
		size_t n = 0;
		int first;

		CHECK_NUMBER(unc_session_add_each(s, row->text, UNC_EACH_UNIT, &first, &n), 0);
		CHECK_TEXT(unc_session_error(s), row->sentence);
		CHECK_NUMBER(item_of(s, first).at.socket, 0);
		CHECK_NUMBER(item_of(s, first).at.index >= 0, !*row->sentence);
		CU_ASSERT(*row->sentence ? n == 2 : n > 2);
		CHECK_NUMBER(unc_session_add_each(s, row->text, UNC_EACH_SOCKET, &first, &n), 0);
		CHECK_TEXT(unc_session_error(s), "");
		unc_session_free(s);
		unc_platform_close(p);
	}
}

static void test_units_sum(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	struct unc_value v[10];
	int first, sums;
	size_t n;

	CHECK_NUMBER(unc_session_add_each(s, "memory_read_bytes", UNC_EACH_UNIT, &first, &n), 0);
	CHECK_NUMBER(n, 8);
	CHECK_NUMBER(unc_session_add_each(s, "memory_read_bytes", UNC_EACH_SOCKET, &sums, &n), 0);
	CHECK_NUMBER(unc_session_passes(s), 1);
	start(s);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 10, sizeof(v[0])), 0);
	CU_ASSERT(v[0].value > 0 && v[7].value > 0);
	CHECK_NUMBER(v[8].value, v[0].value + v[1].value + v[2].value + v[3].value);
	CHECK_NUMBER(v[9].value, v[4].value + v[5].value + v[6].value + v[7].value);
	unc_session_free(s);
	unc_platform_close(p);
}

/* A metric that a CPU cannot give is told once, however many units there are. */
static void test_unavailable(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	const struct unc_metric *m;
	size_t n, i = 0;
	int first;

	while ((m = unc_metric_get(p, i)) != NULL && m->available)
		i++;
	CU_ASSERT_FATAL(m != NULL);
	CHECK_NUMBER(unc_session_add_each(s, m->name, UNC_EACH_UNIT, &first, &n),
		     (unsigned long long)UNC_ERR_UNAVAILABLE);
	CHECK_NUMBER(unc_session_add_each(s, m->name, UNC_EACH_UNIT | UNC_EACH_LACKING, &first, &n),
		     0);
	CHECK_NUMBER(n, 1);
	CHECK_TEXT(item_of(s, first).name, m->name);
	unc_session_free(s);
	unc_platform_close(p);
}

#define CHECK_EACH(s, text, per, code, sentence)                                                   \
	check_each(__LINE__, (s), (text), (per), (code), (sentence))
static void check_each(int line, struct unc_session *s, const char *text, unsigned per, int code,
		       const char *sentence)
{
	size_t items = s->n_items, measures = s->n_measures, slots = s->n_wants, n = 4712;
	int first = 4711, passes = unc_session_passes(s);
	int state = (int)s->state;
	int rc = unc_session_add_each(s, text, per, &first, &n);

	suite_text(line, unc_error_name(rc), unc_error_name(code));
	suite_text(line, unc_session_error(s), sentence);
	suite_number(line, (unsigned long long)first, 4711);
	suite_number(line, n, 4712);
	suite_number(line, s->n_items, items);
	suite_number(line, s->n_measures, measures);
	suite_number(line, s->n_wants, slots);
	suite_number(line, (unsigned long long)unc_session_passes(s), (unsigned long long)passes);
	suite_number(line, s->state, (unsigned)state);
}

/* All places, or none. */
static void test_atomic(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	struct unc_value v;
	uint64_t counted;

	add(s, "cbo.TOR_OCCUPANCY:MISS_ALL:socket=1"); /* counter 0 only */
	start(s);
	step(p, ms);
	CHECK_EACH(s, "cbo.CLOCKTICKS", UNC_EACH_SOCKET, UNC_ERR_STATE,
		   "the session is running; stop it first");
	CHECK_NUMBER(unc_session_stop(s), 0);
	counted = count_of(s, 0);
	CHECK_EACH(s, "cbo.TOR_OCCUPANCY:ALL", UNC_EACH_SOCKET, UNC_ERR_CONFLICT,
		   "cbo.TOR_OCCUPANCY:MISS_ALL:socket=1 and cbo.TOR_OCCUPANCY:ALL:socket=1 both "
		   "need counter 0 of cbo");
	CHECK_EACH(s, "cbo.CLOCKTOCKS", UNC_EACH_UNIT, UNC_ERR_NOT_FOUND,
		   "no metric or event cbo.CLOCKTOCKS in sandybridge-ep; nearest is "
		   "cbo.CLOCKTICKS");
	CHECK_EACH(s, "cbo.CLOCKTICKS", 32, UNC_ERR_INVALID, "unknown places 0x20 of a series");
	CHECK_EACH(s, "cbo.CLOCKTICKS:socket=2", UNC_EACH_SOCKET, UNC_ERR_RANGE,
		   "cbo.CLOCKTICKS:socket=2: this machine has sockets 0 to 1");
	/* What was measured before is told still. */
	CHECK_NUMBER(unc_session_read(s, &v, 1, sizeof(v)), 0);
	CHECK_NUMBER(v.count, counted);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Stacks 1 to 3 of a simulated Emerald Rapids: test_stacks.c has their devices, by port. */
static const struct device_row {
	const char *name;
	int index, port;
} device_rows[] = {
	{"pcie_write_bytes:device=0000_0d_00_0", 1, 0}, /* a card of three functions */
	{"pcie_write_bytes:device=0000_0e_00_0", 1, 4},
	{"pcie_write_bytes:device=0000_1b_00_0", 2, 0}, /* and another, behind one switch */
	{"pcie_write_bytes:device=0000_1d_00_0", 2, 4},
	{"pcie_write_bytes:device=0000_25_00_0", 3, 0},
	{"pcie_write_bytes:device=0000_26_00_0", 3, 2},
	{"pcie_write_bytes:device=0000_27_00_0", 3, 4},
	{"pcie_write_bytes:device=0000_28_00_0", 3, 6},
};

/* A port that has devices has one item, by the name of the first of them; one without has none. */
static void test_devices(void)
{
	struct unc_platform *p = machine("emerald-rapids-devices,clock=step");
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	const struct device_row *row = device_rows;
	size_t n = 0;
	int first = -1;

	CHECK_NUMBER(
		unc_session_add_each(s, "pcie_write_bytes:socket=0", UNC_EACH_DEVICE, &first, &n),
		0);
	for (int i = first; i < first + (int)n; i++) {
		struct unc_item item = item_of(s, i);

		if (item.at.index < 1 || item.at.index > 3)
			continue;
		CU_ASSERT_FATAL(row < device_rows + sizeof(device_rows) / sizeof(*row));
		CHECK_TEXT(item.name, row->name);
		CHECK_NUMBER(item.at.index, (unsigned)row->index);
		CHECK_NUMBER(item.port, (unsigned)row->port);
		CHECK_NUMBER(item.ports, 1u << row->port);
		row++;
	}
	CHECK_NUMBER((size_t)(row - device_rows), sizeof(device_rows) / sizeof(*row));
	unc_session_free(s);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"places: the machine, sockets, units", test_places},
		{"a text is parsed once", test_parsed_once},
		{"what an item is", test_item},
		{"a unit that cannot be read", test_lacking},
		{"what can be counted nowhere", test_none},
		{"a portable metric at each unit", test_by_unit},
		{"their values are the socket's", test_units_sum},
		{"a metric that the CPU cannot give", test_unavailable},
		{"all places or none", test_atomic},
		{"a port that has devices", test_devices},
		{NULL, NULL},
	};

	return suite_run("series", tests);
}
