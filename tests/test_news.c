/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host tells of the values, each once: unc_session_news(). And what may follow a name: unc_item_qualifier(). */
#include "session_kit.h"

enum { FOREIGN = 0x401 };

/* What was told since it was forgotten: "0+partial: WITHOUT\n". */
static struct {
	char text[4096];
	size_t n;
	int stop; /* what the next one returns */
} told;

static int take(void *user, const struct unc_news *news)
{
	static const char *const kinds[] = {"no value", "partial", "mark", "devices"};

	CU_ASSERT_PTR_EQUAL(user, &told);
	told.n +=
		(size_t)snprintf(told.text + told.n, sizeof(told.text) - told.n, "%d%c%s: %s\n",
				 news->id, news->begins ? '+' : '-', kinds[news->kind], news->text);
	return told.stop;
}

static const char *news_of(struct unc_session *s)
{
	memset(&told, 0, sizeof(told));
	CHECK_NUMBER(unc_session_news(s, take, &told), 0);
	return told.text;
}

static void read_all(struct unc_session *s)
{
	struct unc_value v;

	CHECK_NUMBER(unc_session_read(s, &v, 1, sizeof(v)), 0);
}

/* One of four channels of socket 1 is hidden. */
static void test_from_start(void)
{
	struct unc_platform *p = machine("sandybridge-ep-no-imc3@1,clock=step");
	struct unc_session *s = session(p, 0);
	const char *without = "1+partial: imc3 (socket 1): PCI function 10.5 (8086:3cb5) is not "
			      "visible: ";

	add(s, "memory_read_bytes:socket=0");
	add(s, "memory_read_bytes:socket=1");
	CU_ASSERT(strncmp(news_of(s), without, strlen(without)) == 0);
	CHECK_TEXT(news_of(s), "");
	start(s);
	CHECK_TEXT(news_of(s), ""); /* that nothing is measured yet is none */
	step(p, 100 * ms);
	CHECK_NUMBER(value_of(s, 0).lacked, 0);
	CHECK_NUMBER(value_of(s, 1).lacked, 1);
	CHECK_TEXT(news_of(s), "");
	CHECK_NUMBER(unc_session_stop(s), 0);
	start(s);
	CHECK_TEXT(news_of(s), "");
	unc_session_free(s);
	unc_platform_close(p);
}

/* Both counters of irp0 of socket 0 (Emerald Rapids: MSRs 0x3402, 0x3403) hold this. */
static void irp(struct unc_platform *p, uint64_t control)
{
	for (uint64_t address = 0x3402; address <= 0x3403; address++) {
		struct unc_reg reg = {.address = address, .space = UNC_SPACE_MSR, .width = 64};

		unc_sim_write(unc_machine_sim(p->machine),
			      unc_sim_find(unc_machine_sim(p->machine), &reg), control);
	}
}

/* A unit is taken, and given back. */
static void test_lost(void)
{
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0);
	const char *text;

	add(s, "irp0.TRANSACTIONS:WRITES:socket=0");
	add(s, "irp.TRANSACTIONS:WRITES:socket=0");
	add(s, "irp.TRANSACTIONS:WRITES:socket=1");
	start(s);
	step(p, 2000 * ms);
	read_all(s);
	CHECK_TEXT(news_of(s), "");
	irp(p, FOREIGN);
	step(p, 2000 * ms);
	CHECK_NUMBER(value_of(s, 1).lacked, 0);
	text = news_of(s);
	CU_ASSERT(strncmp(text, "0+no value: ", 12) == 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n1+partial: irp0 (socket 0): "));
	CU_ASSERT_PTR_NULL(strstr(text, "\n2"));
	step(p, 2000 * ms);
	read_all(s);
	CHECK_TEXT(news_of(s), "");
	irp(p, 0);
	for (int i = 0; i < 20 && !*text; i++) {
		step(p, 10000 * ms);
		read_all(s);
		text = news_of(s);
	}
	CHECK_TEXT(text, "0-no value: \n1-partial: \n");
	unc_session_free(s);
	unc_platform_close(p);
}

/* A ratio of nothing to nothing is nothing to tell. */
static void test_ratio(void)
{
	struct unc_platform *p = machine(EMR ",load=0");
	struct unc_session *s = session(p, 0);

	add(s, "llc_miss_ratio");
	start(s);
	step(p, 1000 * ms);
	CU_ASSERT(!(value_of(s, 0).flags & UNC_VALUE_VALID));
	CHECK_TEXT(news_of(s), "");
	unc_session_free(s);
	unc_platform_close(p);
}

/* Nor is a pass whose turn comes. */
static void test_passes(void)
{
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	const char *events[] = {"llc_miss_ratio", "cha.TOR_INSERTS:IA_MISS", "cha.LLC_LOOKUP:ALL",
				"cha.TOR_OCCUPANCY:IA_MISS"};
	struct unc_value v[4];

	for (int i = 0; i < 4; i++)
		add(s, events[i]);
	CU_ASSERT(unc_session_passes(s) > 1);
	start(s);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 4, sizeof(*v)), 0);
	CHECK_TEXT(news_of(s), "");
	CU_ASSERT((v[0].flags | v[1].flags | v[2].flags | v[3].flags) & UNC_VALUE_WAITS);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Whoever stops it is told the rest with the next call. */
static void test_stopped(void)
{
	struct unc_platform *p = machine("sandybridge-ep-no-imc3@1,clock=step");
	struct unc_session *s = session(p, 0);

	add(s, "imc.CAS_COUNT:RD:socket=1");
	add(s, "imc.CAS_COUNT:WR:socket=1");
	told.n = 0;
	told.stop = 7;
	CHECK_NUMBER(unc_session_news(s, take, &told), 7);
	CU_ASSERT(strncmp(told.text, "0+partial: ", 11) == 0 && !strstr(told.text, "\n1"));
	CU_ASSERT(strncmp(news_of(s), "1+partial: ", 11) == 0);
	CHECK_TEXT(news_of(s), "");
	unc_session_free(s);
	unc_platform_close(p);
}

/* What is below a port: found once, and looked for once a minute. */
static void test_devices(void)
{
	struct unc_platform *p = machine("emerald-rapids-devices,clock=step");
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	struct unc_item item = {.size = sizeof(item)};
	const char *card = "mlx5_0 eth0 mlx5_1 eth1 0000:0d:00.2";

	add(s, "pcie_write_bytes:device=mlx5_1");
	add(s, "pcie_read_bytes:device=mlx5_1");
	add(s, "pcie_read_bytes:socket=0");
	CHECK_TEXT(news_of(s), "0+devices: mlx5_0 eth0 mlx5_1 eth1 0000:0d:00.2\n"
			       "1+devices: mlx5_0 eth0 mlx5_1 eth1 0000:0d:00.2\n");
	CHECK_NUMBER(unc_session_item(s, 0, &item), 0);
	CHECK_TEXT(item.label, card);
	CHECK_NUMBER(unc_session_item(s, 2, &item), 0);
	CHECK_TEXT(item.label, "");
	strcpy(s->item[1].what->label, "eth7"); /* as it was before */
	step_alone(p, 59000 * ms);
	CHECK_TEXT(news_of(s), "");
	step_alone(p, 1000 * ms);
	CHECK_TEXT(news_of(s), "1+devices: mlx5_0 eth0 mlx5_1 eth1 0000:0d:00.2\n");
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- qualifiers */

/* Their keys, and what is said of the last. */
static const char *qualifiers(struct unc_platform *p, const char *name)
{
	static char text[2048];
	struct unc_qualifier q = {.size = sizeof(q)};
	size_t n = 0;

	for (size_t i = 0; unc_item_qualifier(p, name, i, &q) == 0; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s ", q.key,
				      q.kind == UNC_QUALIFIER_UMASK ? "" : "=");
	CU_ASSERT(n > 0);
	snprintf(text + n, sizeof(text) - n, "(%s: %s)", q.text, q.desc);
	return text;
}

/* Umasks of Intel 327043-001, table 2-63; fields of its control as in test_fields of test_abi.c. */
static void test_qualifiers(void)
{
	struct unc_qualifier q = {.size = sizeof(q)};
	struct unc_platform *p = machine(SNB);
	const char *text;

	CHECK_TEXT(
		qualifiers(p, "imc.CAS_COUNT"),
		"RD_REG RD_UNDERFILL RD WR_WMM WR_RMM WR ALL socket= unit= edge= inv= thresh= "
		"(thresh=0: count clocks in which the increment is at least this value [0-255])");
	CHECK_TEXT(qualifiers(p, "memory_read_bytes"),
		   "socket= unit= (unit=0: Unit of the socket [0-3]; "
		   "without it all)");
	CHECK_NUMBER(unc_item_qualifier(p, "imc.CAS_COUNT", 7, &q), 0);
	CHECK_TEXT(q.text, "socket=0");
	CHECK_TEXT(q.desc, "Socket [0-1]; without it all");
	CHECK_NUMBER(unc_item_qualifier(p, "imc.CAS_COUNT", 8, &q), 0);
	CHECK_TEXT(q.desc, "Unit of the socket [0-3]; without it the sum of all");
	CHECK_NUMBER(unc_item_qualifier(p, "imc.CAS_COUNT", 12, &q), UNC_ERR_NOT_FOUND);
	CHECK_TEXT(unc_platform_error(p), "imc.CAS_COUNT has no more qualifiers");
	CHECK_NUMBER(unc_item_qualifier(p, "imc.CAS_CONT", 0, &q), UNC_ERR_NOT_FOUND);
	unc_platform_close(p);
	p = machine("granite-rapids-snc3,clock=step");
	CHECK_NUMBER(unc_item_qualifier(p, "memory_read_bytes", 2, &q), 0);
	CHECK_TEXT(q.text, "node=0");
	CHECK_TEXT(q.desc, "NUMA node, of 6; without it all");
	unc_platform_close(p);
	p = machine("emerald-rapids-devices-1s,clock=step");
	text = qualifiers(p, "pcie_write_bytes");
	CU_ASSERT(strncmp(text, "socket= unit= port= device= (device=", 36) == 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " mlx5_0 + mlx5_1 + 0000_0d_00_2, nvme0, "));
	text = qualifiers(p, "iio.NOTHING"); /* without a mask of ports */
	CU_ASSERT(strncmp(text, "socket= unit= ", 14) == 0 && !strstr(text, "port=") &&
		  !strstr(text, "device="));
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a sum that lacks a unit from the start", test_from_start},
		{"a unit is taken, and given back", test_lost},
		{"a ratio of nothing to nothing", test_ratio},
		{"a pass that waits", test_passes},
		{"whoever stops it", test_stopped},
		{"devices below ports", test_devices},
		{"what may follow a name", test_qualifiers},
		{NULL, NULL},
	};

	return suite_run("news", tests);
}
