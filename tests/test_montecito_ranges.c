/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Montecito: address ranges and opcodes that qualify events, what is refused, and how a machine is
 * recognised. Sections and tables are those of Intel 308065-001.
 */
#include "fake_root.h"
#include "montecito_kit.h"

/* ---- ranges and opcodes (table 3-3) */

/* Writes of a start that are neither controls, counters nor the freeze; reserved bits are right. */
static int note_filter(void *user, const struct unc_operation *op)
{
	struct walked *w = user;
	unsigned n = 0;
	bool pmc = sscanf(op->reg, "PMC%u", &n) == 1;

	if (!op->write || (pmc && n < 32) || strncmp(op->reg, "PMD", 3) == 0)
		return 0;
	if (n == 36)
		CHECK_NUMBER(op->value & ~0xfull, 0xfffffff0);
	if (n == 38)
		CHECK_NUMBER(op->value & ~0x2492ull, 0x924);
	if (n == 41)
		CHECK_NUMBER(op->value & ~0x1e00018181818ull, 0x78e6e6e6e6);
	return walk_one(w, op);
}

static const struct {
	const char *event, *writes;
} ranges[] = {
	/* Nothing is constrained, whatever was left there: reset values, table 3-3 (2298-2305) */
	{"core0.LOADS_RETIRED", "PMC32=0x30f01ffffffffff PMC41=0x2078fefefefe"},
	{"core0.INST_DISPERSED", "PMC32=0x30f01ffffffffff"}, /* Y N N: no data range */
	{"bus0.BUS_ALL:ANY", ""},                            /* N N N */
	/* IAR: ig_ad and inv 0, ig_ibrp0 0, Ch0_ig_OPC 1, tag 0 [1,01] */
	{"core0.LOADS_RETIRED:iar=0x4000000000001000:iar_mask=0xfffffffffff000",
	 "PMC32=0xf01ffffffffff PMC36=0xfffffff1 PMC38=0xdb4 PMC41=0x2078fefefeee "
	 "IBR0=0x4000000000001000 IBR1=0xffffffffffff000"},
	/* the same at one privilege level, and what lies outside (inv) */
	{"core0.LOADS_RETIRED:iar=0x1000:iar_mask=0xfffffffffff000:iar_plm=8:inv=1",
	 "PMC32=0x10f01ffffffffff PMC36=0xfffffff1 PMC38=0xdb4 PMC41=0x2078fefefeee IBR0=0x1000 "
	 "IBR1=0x8fffffffffff000"},
	/* OPC: ig_ad and inv 0, ig_ibrp0 1, Ch0_ig_OPC 0, [1,01]; all slots, all bits compared */
	{"core0.LOADS_RETIRED:opc=0x1234567",
	 "PMC32=0xf000000000000 PMC33=0x1234567 PMC36=0xfffffff0 PMC38=0xdb6 PMC41=0x2078fefefeee"},
	{"core0.NOPS_RETIRED:opc=0:opc_mask=0x1ffffffffff:opc_slots=1",
	 "PMC32=0x101ffffffffff PMC33=0x0 PMC36=0xfffffff0 PMC38=0xdb6 PMC41=0x2078fefefeee"},
	/* DAR: ig_ad 1, [1,10] */
	{"core0.L2D_REFERENCES:ALL:dar=0x6000000000002000:dar_mask=0xfffffffffff000",
	 "PMC32=0x30f01ffffffffff PMC41=0x2078fefefef6 DBR0=0x6000000000002000 "
	 "DBR1=0xfffffffffff000"},
	/* IAR and OPC, IAR and DAR, OPC and DAR: what differs from each alone is given */
	{"core0.LOADS_RETIRED:iar=0x1000:iar_mask=0xff000:opc=7:ig_ibrp0=0:ch0_ig_opc=0",
	 "PMC32=0xf000000000000 PMC33=0x7 PMC36=0xfffffff0 PMC38=0xdb4 PMC41=0x2078fefefeee "
	 "IBR0=0x1000 IBR1=0xf000000000ff000"},
	{"core0.LOADS_RETIRED:iar=0x1000:iar_mask=0xff000:dar=0x2000:dar_mask=0xfff000:ig_ad=0:"
	 "cfgdtag0=0",
	 "PMC32=0xf01ffffffffff PMC36=0xfffffff1 PMC38=0xdb4 PMC41=0x2078fefefee6 IBR0=0x1000 "
	 "IBR1=0xf000000000ff000 DBR0=0x2000 DBR1=0xfff000"},
	{"core0.LOADS_RETIRED:opc=7:dar=0x2000:dar_mask=0xfff000:ig_ad=0:cfgdtag0=0",
	 "PMC32=0xf000000000000 PMC33=0x7 PMC36=0xfffffff0 PMC38=0xdb6 PMC41=0x2078fefefee6 "
	 "DBR0=0x2000 DBR1=0xfff000"},
	/* fine: 0 and 2 are the limits of one range; what is more is as in IAR */
	{"core0.LOADS_RETIRED:iar=0x12340100:iar_mask=0xffffffffff0000:iar2=0x1234ff00:"
	 "iar2_mask=0xffffffffff0000:fine=1",
	 "PMC32=0xf01ffffffffff PMC36=0xfffffff5 PMC38=0x2d34 PMC41=0x2078fefefeee "
	 "IBR0=0x12340100 IBR1=0xfffffffffff0000 IBR4=0x1234ff00 IBR5=0xfffffffffff0000"},
	/* Prefetches: range 1. Tagged instructions: each of the four ranges and its matcher. */
	{"core0.L2I_PREFETCHES:iar1=0x1000:iar1_mask=0xff000",
	 "PMC32=0xf01ffffffffff PMC36=0xfffffff2 PMC38=0xda6 PMC41=0x2078fefefeee IBR2=0x1000 "
	 "IBR3=0xf000000000ff000"},
	{"core0.IA64_TAGGED_INST_RETIRED:01:opc1=7",
	 "PMC32=0xf01ffffffffff PMC34=0xf000000000000 PMC35=0x7 PMC36=0xfffffff0 PMC38=0xdb6 "
	 "PMC41=0x2078fefefeee"},
	{"core0.IA64_TAGGED_INST_RETIRED:10:iar2=0x1000:iar2_mask=0xff000",
	 "PMC32=0xf01ffffffffff PMC36=0xfffffff4 PMC38=0xd36 IBR4=0x1000 IBR5=0xf000000000ff000"},
	{"core0.IA64_TAGGED_INST_RETIRED:11:iar3=0x1000:iar3_mask=0xff000",
	 "PMC32=0xf01ffffffffff PMC36=0xfffffff8 PMC38=0x9b6 IBR6=0x1000 IBR7=0xf000000000ff000"},
};

static void range_registers(void)
{
	struct unc_platform *p = machine(MONT);

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		struct unc_session *s = session(p, 0);
		struct snapshot before = snapshot(p);
		struct walked w = {.units = false};
		char word[64], *next = NULL, wanted[512];
		unsigned n = 0;

		add(s, ranges[i].event);
		start(s);
		CU_ASSERT_EQUAL(unc_session_plan(s, UNC_PHASE_START, note_filter, &w), 0);
		snprintf(wanted, sizeof(wanted), "%s", ranges[i].writes);
		strcat(w.text, " ");
		for (char *t = strtok_r(wanted, " ", &next); t; t = strtok_r(NULL, " ", &next)) {
			snprintf(word, sizeof(word), "%s ", t);
			if (!strstr(w.text, word))
				printf("# %s: no %s in %s\n", ranges[i].event, t, w.text);
			CU_ASSERT_PTR_NOT_NULL(strstr(w.text, word));
			n += 2; /* on each socket */
		}
		CHECK_NUMBER(w.n, n);
		CU_ASSERT_EQUAL(unc_session_stop(s), 0);
		CHECK_RESTORED(p, before);
		unc_session_free(s);
	}
	check_quiet(p);
	unc_platform_close(p);
}

/* What somebody has left in PMC32 and PMC41 constrains nothing of ours, and is restored. */
static void leftovers(void)
{
	struct unc_platform *p = machine(MONT);
	struct unc_session *s = session(p, 0);

	add(s, "core0.LOADS_RETIRED");
	put(p, 0, "PMC32", 0xf000000000000);
	put(p, 0, "PMC41", 0x2078fefefeee);
	start(s);
	CHECK_NUMBER(get(p, 0, "PMC32"), 0x30f01ffffffffff);
	CHECK_NUMBER(get(p, 0, "PMC41"), 0x2078fefefefe);
	CU_ASSERT_EQUAL(unc_session_stop(s), 0);
	CHECK_NUMBER(get(p, 0, "PMC32"), 0xf000000000000);
	CHECK_NUMBER(get(p, 0, "PMC41"), 0x2078fefefeee);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

static const struct {
	const char *event;
	int code;
	const char *says;
} refused[] = {
	/* thresholds: table 3-6, and less than the largest increment */
	{"core.IA64_INST_RETIRED:thresh=6", UNC_ERR_RANGE, "thresh=6: the event never exceeds 6"},
	{"l3.L3_MISSES:thresh=1", UNC_ERR_RANGE, "thresh=1: the event never exceeds 1"},
	{"core.IA64_INST_RETIRED:thresh=8", UNC_ERR_RANGE, "thresh"},
	/* plm 0 disables, mesi 0 counts nothing; only four events of the L3 have mesi */
	{"core.CPU_OP_CYCLES:plm=0", UNC_ERR_RANGE, "plm=0"},
	{"l3.L3_READS:mesi=0", UNC_ERR_RANGE, "mesi=0"},
	{"l3.L3_MISSES:mesi=M", UNC_ERR_NOT_FOUND, "no field mesi"},
	/* `all` where table 4-19 says no, and where the event is of the foreground */
	{"core.L2D_OZQ_FULL:all=1", UNC_ERR_NOT_FOUND, "no field all"},
	{"core.L2D_OZQ_RELEASE:all=1", UNC_ERR_NOT_FOUND, "no field all"},
	{"core.L2D_OPS_ISSUED:INT_LOAD:all=1", UNC_ERR_NOT_FOUND, "no field all"},
	{"core.L2D_BYPASS:L2_DATA2:all=1", UNC_ERR_INVALID, "all has no effect"},
	{"core.LOADS_RETIRED:all=1", UNC_ERR_NOT_FOUND, "no field all"},
	/* columns IAR, DAR, OPC of the event tables; 3.3.5: prefetches have range 1 only */
	{"bus.BUS_ALL:ANY:iar=0x1000:iar_mask=1", UNC_ERR_NOT_FOUND, "no field iar"},
	{"core.L2D_OZQ_RELEASE:dar=0x1000:dar_mask=1", UNC_ERR_NOT_FOUND, "no field dar"},
	{"core.L2I_READS:ALL_ALL:dar=0x1000:dar_mask=1", UNC_ERR_NOT_FOUND, "no field dar"},
	{"core.INST_DISPERSED:opc=7", UNC_ERR_NOT_FOUND, "no field opc"},
	{"core.L2I_PREFETCHES:iar=0x1000:iar_mask=1", UNC_ERR_NOT_FOUND, "no field iar"},
	{"core.LOADS_RETIRED:iar1=0x1000:iar1_mask=1", UNC_ERR_NOT_FOUND, "no field iar1"},
	{"core.LOADS_RETIRED:iar=0x1000", UNC_ERR_INVALID, "needs iar_mask"},
	{"core.LOADS_RETIRED:dar=0x1000", UNC_ERR_INVALID, "needs dar_mask"},
	{"core.LOADS_RETIRED:opc=0x20000000000", UNC_ERR_RANGE, "opc"}, /* 41 bits */
	/* the illegal combination of PMC32, 38 and 41 */
	{"core.LOADS_RETIRED:iar=0x1000:iar_mask=1:en_dbrp=0", UNC_ERR_INVALID,
	 "needs a data range enabled"},
	/* ptm and ppm both 1 capture nothing */
	{"core.BRANCH_EVENT:tm=3:ptm=1:ppm=1:brt=0", UNC_ERR_INVALID, "captures nothing"},
};

static void refusals(void)
{
	struct unc_platform *p = machine(MONT);
	struct unc_session *s = session(p, 0);
	int id;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		int rc = unc_session_add(s, refused[i].event, &id);
		bool says = rc < 0 && strstr(unc_session_error(s), refused[i].says);

		if (rc != refused[i].code || !says)
			printf("# %s: %d %s\n", refused[i].event, rc, unc_session_error(s));
		CU_ASSERT_EQUAL(rc, refused[i].code);
		CU_ASSERT(says);
	}
	unc_session_free(s);
	unc_platform_close(p);
}

/* A debugger has set a breakpoint: x of an IBR pair, r or w of a DBR pair. */
static void breakpoints(void)
{
	static const struct {
		const char *reg;
		uint64_t value;
		const char *event;
	} rows[] = {
		{"IBR1", (uint64_t)1 << 63, "core0.LOADS_RETIRED:iar=0x1000:iar_mask=0xfff000"},
		{"IBR3", (uint64_t)1 << 63, "core0.L2I_PREFETCHES:iar1=0x1000:iar1_mask=0xfff000"},
		{"DBR1", (uint64_t)1 << 63, "core0.LOADS_RETIRED:dar=0x1000:dar_mask=0xfff000"},
		{"DBR1", (uint64_t)1 << 62, "core0.LOADS_RETIRED:dar=0x1000:dar_mask=0xfff000"},
	};
	struct unc_platform *p = machine(MONT);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_session *s = session(p, 0), *without = session(p, 0);
		char event[128];

		snprintf(event, sizeof(event), "%s:socket=0", rows[i].event);
		add(s, event);
		add(without, "core0.LOADS_RETIRED");
		put(p, 0, rows[i].reg, rows[i].value);
		struct snapshot before = snapshot(p);
		CHECK_NUMBER(unc_session_start(s), UNC_ERR_BUSY);
		CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(s), rows[i].reg));
		CHECK_RESTORED(p, before);
		CHECK_NUMBER(unc_session_start(without), 0);
		CHECK_NUMBER(unc_session_stop(without), 0);
		put(p, 0, rows[i].reg, 0xfff000); /* the same address, and no breakpoint */
		CHECK_NUMBER(unc_session_start(s), 0);
		unc_session_free(s);
		unc_session_free(without);
		put(p, 0, rows[i].reg, 0);
	}
	check_quiet(p);
	unc_platform_close(p);
}

/* Bit 63 or 62 of an address (IBR0, DBR0) is no breakpoint: kernels live there. */
static void addresses_found(void)
{
	struct unc_platform *p = machine(MONT);
	struct unc_session *s = session(p, 0);

	add(s, "core0.LOADS_RETIRED:iar=0x1000:iar_mask=0xfff000");
	put(p, 0, "IBR0", 0xe000000000001000);
	CHECK_NUMBER(unc_session_start(s), 0);
	CHECK_NUMBER(get(p, 0, "IBR0"), 0x1000);
	unc_session_free(s);
	CHECK_NUMBER(get(p, 0, "IBR0"), 0xe000000000001000);
	s = session(p, 0);
	add(s, "core0.LOADS_RETIRED:dar=0x1000:dar_mask=0xfff000");
	put(p, 0, "DBR0", 0xe000000000002000);
	CHECK_NUMBER(unc_session_start(s), 0);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

/* ---- identification */

/* /proc/cpuinfo as arch/ia64/kernel/setup.c (show_cpuinfo) prints it; first the first threads. */
static void fake_itanium(struct fake_root *root, int family, int model)
{
	char text[8192] = "";

	for (int cpu = 0; cpu < 8; cpu++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "processor  : %d\nvendor     : GenuineIntel\narch       : IA-64\n"
			 "family     : %d\nmodel      : %d\nmodel name : Itanium under test\n"
			 "revision   : 7\narchrev    : 0\nfeatures   : branchlong\n"
			 "cpu number : 0\ncpu regs   : 4\ncpu MHz    : 1595.670\n"
			 "itc MHz    : 399.165000\nBogoMIPS   : 3186.68\nsiblings   : 4\n"
			 "physical id: %d\ncore id    : %d\nthread id  : %d\n\n",
			 cpu, family, model, cpu >> 1 & 1, cpu & 1, cpu >> 2);
	fake_text(fake_path(root, "/proc/cpuinfo"), text);
}

static void identified(void)
{
	struct unc_options o = {.size = sizeof(o), .sim = ""};
	/* Unit i is thread i % 2 of core i / 2. */
	static const int cpus[] = {0, 4, 1, 5, 2, 6, 3, 7};
	struct unc_platform *p = NULL;
	struct fake_root root;
	char location[40], reason[120];
	size_t n = 0;

	fake_new(&root);
	fake_itanium(&root, 32, 0);
	o.sysroot = root.path;
	CHECK_NUMBER(unc_platform_open(&o, &p), 0);
	CHECK_TEXT(unc_open_error(), "");
	CU_ASSERT_FATAL(p != NULL);
	CHECK_TEXT(unc_platform_cpu(p)->name, "montecito");
	CHECK_NUMBER(unc_platform_sockets(p), 2);
	for (const struct unc_unit *u; (u = unc_unit_get(p, n)); n++) {
		CU_ASSERT_FATAL(n < 8);
		CHECK_TEXT(u->type->name, "core");
		CHECK_NUMBER(u->socket, n / 4);
		CHECK_NUMBER(u->index, n % 4);
		snprintf(location, sizeof(location), "pmu of cpu %d", cpus[n]);
		CHECK_TEXT(u->location, location);
		CHECK_NUMBER(u->available, 0);
		snprintf(
			reason, sizeof(reason),
			"cpu %d: Linux has no interface to an Itanium's monitors (perfmonctl() was "
			"removed in 5.10)",
			cpus[n]);
		CHECK_TEXT(u->reason, reason);
	}
	CHECK_NUMBER(n, 8);
	struct unc_session *s = session(p, 0);
	int id;
	CHECK_NUMBER(unc_session_add(s, "bus.BUS_ALL:ANY", &id), UNC_ERR_UNAVAILABLE);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(s), "Linux has no interface"));
	unc_session_free(s);
	unc_platform_close(p);
	fake_free(&root);
}

/* Table 2-1: Itanium 2 is family 0x1f, models 0 to 2, with another monitor. */
static void other_itaniums(void)
{
	struct unc_options o = {.size = sizeof(o), .sim = ""};
	struct unc_platform *p = NULL;
	struct fake_root root;
	char sentence[160];

	fake_new(&root);
	o.sysroot = root.path;
	for (int model = 0; model < 3; model++) {
		fake_itanium(&root, 31, model);
		CHECK_NUMBER(unc_platform_open(&o, &p), UNC_ERR_UNAVAILABLE);
		snprintf(sentence, sizeof(sentence),
			 "this CPU (Itanium under test, family 31 model 0x%x) has no uncore "
			 "monitors that are known here; there are tables for montecito",
			 model);
		if (!strstr(unc_open_error(), sentence))
			CHECK_TEXT(unc_open_error(), sentence);
		CU_ASSERT_PTR_NULL(p);
	}
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"ranges and opcodes", range_registers},
		{"what others have left", leftovers},
		{"what is refused", refusals},
		{"breakpoints of a debugger", breakpoints},
		{"addresses found in range registers", addresses_found},
		{"a dump of a Montecito", identified},
		{"other Itaniums", other_itaniums},
		{NULL, NULL},
	};

	return suite_run("montecito_ranges", tests);
}
