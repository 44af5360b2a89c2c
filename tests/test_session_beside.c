/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions beside what others count on the same unit. Either both counts are what they are alone, or
 * the session is refused by a sentence that names who is in the way; nothing of theirs changes.
 *
 * Controls and filters are those of the documents:
 * Intel 327043-001 (E5-2600): tables 2-10 (en 22, tid_en 19), 2-12 (BOX_FILTER: tid 4:0, nid 17:10,
 * state 22:18, opc 31:23), 2-14 (0x00, 0x34, 0x35, 0x36, 0x1F), 2-79 to 2-82 (PCU: bands of 8 bits,
 * 0x0B, 0x0C, 0x1E), 2-88 to 2-92 (QPI). SDM and 323535-001 (Nehalem): 0x0C
 * GQ_SNOOP, MSR_GQ_SNOOP_MESF. Intel 817509-001 (Emerald Rapids): tid_en 16, FILTER0 tid 9:0;
 * M3UPI: events of the mesh stop (bit 7 of the code) and its own not at the same time. Intel 308065-001
 * (Montecito), sections 4.8 and 4.10: PMC5 leads the L1D, PMC4 and PMC6 the L2D.
 */
#include "fake_root.h"
#include "session_kit.h"

/* A register of the unit that somebody else has written. */
struct held {
	const char *reg;
	uint64_t value;
};

struct row {
	const char *sim, *type;
	struct held held[3];
	const char *ours;
	const char *refused; /* a part of the sentence; NULL: it counts */
};

#define IVB "ivybridge-ep,clock=step"
#define NHM "nehalem-ep,clock=step"
#define MONT "montecito,clock=step"
#define BY(counter, unit)                                                                          \
	"counter " counter " of " unit " (socket 0) is programmed by somebody else "

static const struct row rows[] = {
	/* ---- filters: the same value, other bits, other values */
	{SNB,
	 "cbo",
	 {{"CTL0", 0x400335}, {"BOX_FILTER", 0xc1000000}},
	 "cbo0.TOR_INSERTS:OPCODE:opc=0x182",
	 NULL},
	{SNB,
	 "cbo",
	 {{"CTL0", 0x400335}, {"BOX_FILTER", 0xc1000000}},
	 "cbo0.LLC_LOOKUP:DATA_READ:state=1",
	 BY("0", "cbo0")},
	{SNB,
	 "cbo",
	 {{"CTL0", 0x400335}, {"BOX_FILTER", 0xc1000000}},
	 "cbo0.TOR_INSERTS:OPCODE:opc=0x180",
	 BY("0", "cbo0") "(control 0x400335 = cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182)"},
	/* a field that is not given has a default: all states */
	{SNB,
	 "cbo",
	 {{"CTL0", 0x400334}, {"BOX_FILTER", 0x7c0000}},
	 "cbo0.LLC_LOOKUP:DATA_READ:state=1",
	 BY("0", "cbo0") "(control 0x400334 = cbo.LLC_LOOKUP:DATA_READ)"},
	{SNB,
	 "cbo",
	 {{"CTL0", 0x400334}, {"BOX_FILTER", 0x7c0000}},
	 "cbo0.TOR_INSERTS:OPCODE:opc=0x182",
	 BY("0", "cbo0")},
	/* who does not look at the filter */
	{SNB, "cbo", {{"CTL0", 0x400000}}, "cbo0.TOR_INSERTS:OPCODE:opc=0x182", BY("0", "cbo0")},
	{SNB, "cbo", {{"CTL0", 0x400000}}, "cbo0.CLOCKTICKS:tid=5", BY("0", "cbo0")},
	/* thread: where tid_en is set */
	{SNB,
	 "cbo",
	 {{"CTL0", 0x480000}, {"BOX_FILTER", 0x3}},
	 "cbo0.CLOCKTICKS:tid=5",
	 BY("0", "cbo0") "(control 0x480000 = cbo.CLOCKTICKS:tid=3)"},
	{SNB,
	 "cbo",
	 {{"CTL0", 0x480000}, {"BOX_FILTER", 0x3}},
	 "cbo0.TOR_INSERTS:OPCODE:opc=0x182",
	 BY("0", "cbo0")},
	/* no event of the tables: it may look at anything */
	{SNB,
	 "cbo",
	 {{"CTL0", 0x4000ff}},
	 "cbo0.TOR_INSERTS:OPCODE:opc=0x182",
	 BY("0", "cbo0") "(control 0x4000ff)"},
	{SNB,
	 "cbo",
	 {{"CTL0", 0x408135}},
	 "cbo0.LLC_LOOKUP:DATA_READ:state=1",
	 BY("0", "cbo0") "(control 0x408135)"},
	{SNB, "cbo", {{"CTL0", 0x4000ff}}, "cbo0.LLC_VICTIMS:M_STATE", NULL},
	{SNB,
	 "pcu",
	 {{"CTL0", 0x40000b}, {"BOX_FILTER", 0xc}},
	 "pcu.FREQ_BAND1_CYCLES:band1=31",
	 BY("0", "pcu0")},
	{SNB,
	 "pcu",
	 {{"CTL0", 0x40000b}, {"BOX_FILTER", 0xc}},
	 "pcu.FREQ_BAND0_CYCLES:band0=20",
	 BY("0", "pcu0") "(control 0x40000b = pcu.FREQ_BAND0_CYCLES:band0=0xc)"},
	{SNB,
	 "pcu",
	 {{"CTL1", 0x40001e}},
	 "pcu.FREQ_BAND0_CYCLES:band0=20",
	 BY("1", "pcu0") "(control 0x40001e = pcu.DEMOTIONS_CORE0)"},
	{SNB,
	 "qpi",
	 {{"CTL0", 0x600038}, {"PKT_MATCH0", 0x1c80}, {"PKT_MASK0", 0x1fe0}},
	 "qpi0.CTO_COUNT:mc=SNP",
	 BY("0", "qpi0") "(control 0x600038 = qpi.MESSAGE:DRS.WbIData)"},
	{SNB, "qpi", {{"CTL0", 0x400014}}, "qpi0.CTO_COUNT:mc=DRS:opc=4", BY("0", "qpi0")},
	{IVB,
	 "pcu",
	 {{"CTL0", 0x40000b}, {"BOX_FILTER", 0xc}},
	 "pcu.FREQ_BAND1_CYCLES:band1=31",
	 BY("0", "pcu0")},
	/* Linux: 0x31 with bit 4 of the umask looks at link, FILTER0 8:5 */
	{IVB,
	 "cbo",
	 {{"CTL0", 0x401031}, {"FILTER0", 0x60}},
	 "cbo0.RxR_IPQ_RETRY:QPI_CREDITS",
	 BY("0", "cbo0") "(control 0x401031)"},
	{IVB,
	 "cbo",
	 {{"CTL0", 0x400231}, {"FILTER0", 0x60}},
	 "cbo0.RxR_IPQ_RETRY:QPI_CREDITS",
	 BY("0", "cbo0")},
	{NHM,
	 "unc",
	 {{"CTL0", 0x400108}, {"GLOBAL_CTL", 0x1}},
	 "unc.GQ_SNOOP:GOTO_S_HIT_M",
	 BY("0", "unc0")},
	{NHM,
	 "unc",
	 {{"CTL0", 0x40080c}, {"GLOBAL_CTL", 0x1}, {"GQ_SNOOP_MESF", 0x20}},
	 "unc.GQ_SNOOP:GOTO_S_HIT_M",
	 BY("0", "unc0") "(control 0x40080c = unc.GQ_SNOOP:GOTO_I_HIT_E)"},
	{EMR, "cha", {{"CTL0", 0x10001}, {"FILTER0", 0x5}}, "cha0.CLOCKTICKS:tid=5", NULL},
	{EMR,
	 "cha",
	 {{"CTL0", 0x10001}, {"FILTER0", 0x5}},
	 "cha0.CLOCKTICKS:tid=6",
	 BY("0", "cha0") "(control 0x10001 = cha.CLOCKTICKS:tid=5)"},
	{EMR, "cha", {{"CTL0", 0x1}}, "cha0.CLOCKTICKS:tid=6", BY("0", "cha0")},
	/* ranges: an event that may be qualified by one is by all that is in effect */
	{MONT,
	 "core",
	 {{"PMC4", 0x200124f}},
	 "core0.LOADS_RETIRED:dar=0x6000000000002000:dar_mask=0xfffff000",
	 BY("4", "core0")},
	{MONT,
	 "core",
	 {{"PMC4", 0x200084f}},
	 "core0.LOADS_RETIRED:dar=0x6000000000002000:dar_mask=0xfffff000",
	 BY("4", "core0") "(control 0x200084f = core.IA64_INST_RETIRED:THIS)"},

	/* ---- kinds that exclude each other */
	{EMR,
	 "m3upi",
	 {{"CTL0", 0x1}},
	 "m3upi0.CMS_CLOCKTICKS",
	 BY("0", "m3upi0") "(control 0x1 = m3upi.CLOCKTICKS) with an event of another kind"},
	{EMR,
	 "m3upi",
	 {{"CTL2", 0xc0}},
	 "m3upi0.CLOCKTICKS",
	 BY("2", "m3upi0") "(control 0xc0 = m3upi.CMS_CLOCKTICKS) with an event of another kind"},
	{EMR, "m3upi", {{"CTL0", 0x1}}, "m3upi0.RxC_INSERTS_VN0:AD_REQ", NULL},
	{EMR, "m3upi", {{"CTL2", 0xc0}}, "m3upi0.CMS_CLOCKTICKS", NULL},
	/* as bits, where no event of the tables is counted */
	{EMR,
	 "m3upi",
	 {{"CTL0", 0x7f}},
	 "m3upi0.CMS_CLOCKTICKS",
	 BY("0", "m3upi0") "(control 0x7f) with an event of another kind"},

	/* ---- lanes */
	{SNB, "cbo", {{"CTL0", 0x400836}}, "cbo0.TOR_OCCUPANCY:MISS_ALL", BY("0", "cbo0")},
	{SNB, "cbo", {{"CTL1", 0x40001f}, {"CTL0", 0x400836}}, "cbo0.CLOCKTICKS", NULL},
	{SNB, "cbo", {{"CTL1", 0x40001f}}, "cbo0.CLOCKTICKS", NULL},
	{SNB,
	 "cbo",
	 {{"CTL1", 0x40001f}},
	 "cbo0.TOR_OCCUPANCY:ALL",
	 BY("1", "cbo0") "(control 0x40001f = cbo.COUNTER0_OCCUPANCY) and may depend on the only "
			 "one left"},
	{MONT,
	 "core",
	 {{"PMC5", 0x200c34f}},
	 "core0.L1D_READS_SET0",
	 BY("5", "core0") "(control 0x200c34f = core.DATA_REFERENCES_SET0)"},
	{MONT, "core", {{"PMC5", 0x200c34f}}, "core0.CPU_OP_CYCLES", NULL},
	{MONT, "core", {{"PMC7", 0x200c34f}, {"PMC5", 0x200c24f}}, "core0.L2D_MISSES", NULL},
	{MONT, "core", {{"PMC6", 0x200e34f}}, "core0.L2D_REFERENCES:READS", NULL},
};

static void hold(struct unc_platform *p, const struct row *row)
{
	for (size_t i = 0; i < 3 && row->held[i].reg; i++) {
		void *reg = reg_of(p, row->type, 0, 0, row->held[i].reg);

		CU_ASSERT_FATAL(reg != NULL);
		unc_sim_write(unc_machine_sim(p->machine), reg, row->held[i].value);
	}
}

/* What the counter of his first control shows. */
static uint64_t his_counter(struct unc_platform *p, const struct row *row)
{
	char name[16];

	snprintf(name, sizeof(name), "%s", row->held[0].reg);
	*(strstr(name, "TL") ? strstr(name, "TL") + 1 : name + 2) = strstr(name, "TL") ? 'R' : 'D';
	return unc_sim_read(unc_machine_sim(p->machine), reg_of(p, row->type, 0, 0, name));
}

/* What we count in 10 ms where nobody else does. */
static uint64_t alone(const struct row *row)
{
	struct unc_platform *p = machine(row->sim);
	struct unc_session *s = session(p, 0);
	char text[200];
	int id;

	snprintf(text, sizeof(text), "%s:socket=0", row->ours);
	id = add(s, text);
	start(s);
	step(p, 10 * ms);
	uint64_t count = count_of(s, id);
	unc_session_free(s);
	unc_platform_close(p);
	return count;
}

static void try_row(const struct row *row)
{
	struct unc_platform *p = machine(row->sim);
	uint64_t theirs, before, want = row->refused ? 0 : alone(row);
	struct unc_session *s;
	char text[200];
	int id, rc;

	hold(p, row);
	before = his_counter(p, row);
	step(p, 10 * ms);
	theirs = his_counter(p, row) - before;
	struct snapshot found = snapshot(p);

	s = session(p, 0);
	snprintf(text, sizeof(text), "%s:socket=0", row->ours);
	id = add(s, text);
	rc = unc_session_start(s);
	if ((rc == UNC_ERR_BUSY) != (row->refused != NULL) ||
	    (row->refused && !strstr(unc_session_error(s), row->refused))) {
		printf("# %s beside %s=0x%llx of %s: %s\n", row->ours, row->held[0].reg,
		       (unsigned long long)row->held[0].value, row->sim, unc_session_error(s));
		CU_FAIL("the start");
	}
	before = his_counter(p, row);
	step(p, 10 * ms);
	CHECK_COUNT(his_counter(p, row) - before + 1, (double)theirs + 2, 2);
	if (rc == 0)
		CHECK_NUMBER(count_of(s, id), want);
	unc_session_free(s);
	CHECK_RESTORED(p, found);
	unc_platform_close(p);
}

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try_row(&rows[i]);
}

/*
 * A bit of the filter that we could not write back (29 of FILTER1, which no document names):
 * whoever counts there may rely on it, be it clocks. The opcode is bits 28:20
 * (tests/encode/ivybridge-ep.cases).
 */
static void test_unknown_bits(void)
{
	static const uint32_t clockticks = 0x400000, filter = 0x20000000;
	struct unc_options options = {.size = sizeof(options), .sim = ""};
	struct unc_platform *p = NULL;
	struct walked w = {.units = false};
	struct fake_root root;

	fake_new(&root);
	fake_text(fake_path(&root, "/proc/cpuinfo"),
		  "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 62\n"
		  "model name : x\nstepping : 4\nphysical id : 0\ncore id : 0\n");
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x2000);
	options.sysroot = root.path;
	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	struct unc_session *s = session(p, 0);

	add(s, "cbo0.TOR_INSERTS:OPCODE:opc=0x182");
	for (int counts = 1; counts >= 0; counts--) {
		const uint32_t control = counts ? clockticks : 0;

		fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), 0xD10, &control, sizeof(control));
		fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), 0xD1A, &filter, sizeof(filter));
		CHECK_NUMBER(unc_session_plan(s, UNC_PHASE_START, walk_one, &w),
			     counts ? UNC_ERR_BUSY : 0);
		if (counts)
			CHECK_TEXT(unc_session_error(s),
				   "cbo0.TOR_INSERTS:OPCODE:opc=0x182: " BY(
					   "0", "cbo0") "(control 0x400000 = cbo.CLOCKTICKS), and "
							"no filter is set beside it");
	}
	CU_ASSERT(strstr(w.text, "FILTER1=0x18200000") != NULL);
	unc_session_free(s);
	unc_platform_close(p);
	fake_free(&root);
}

/* ---- who comes later: the first read a second after that finds him */

static void check_all_lost(struct unc_platform *p, struct unc_session *s, const char *type,
			   const char *reg, uint64_t value, const char *reason)
{
	struct unc_value v[4];

	start(s);
	step(p, ms);
	CHECK_NUMBER(unc_session_read(s, v, s->n_items, sizeof(*v)), 0);
	for (size_t i = 0; i < s->n_items; i++)
		CHECK_NUMBER(v[i].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, type, 0, 0, reg), value);
	step(p, 1000 * ms);
	CHECK_NUMBER(unc_session_read(s, v, s->n_items, sizeof(*v)), 0);
	for (size_t i = 0; i < s->n_items; i++)
		CHECK_NUMBER(v[i].flags, UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_reason(s, 0), reason);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), reg_of(p, type, 0, 0, reg)), value);
	unc_session_free(s);
	unc_platform_close(p);
}

/* The kernel gives the lowest counter to an event of the other kind. */
static void test_other_kind_later(void)
{
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0);

	add(s, "m3upi0.CMS_CLOCKTICKS:socket=0");
	check_all_lost(
		p, s, "m3upi", "CTL0", 0x1,
		"m3upi0.CMS_CLOCKTICKS:socket=0: somebody else has programmed CTL0 of m3upi0 "
		"(socket 0) with an event of another kind (0x1 = m3upi.CLOCKTICKS), and the "
		"unit counts one kind at a time");
}

/* He takes the counter that ours shows. */
static void test_lead_taken_later(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);

	add(s, "cbo0.TOR_OCCUPANCY:ALL:socket=0");
	add(s, "cbo0.COUNTER0_OCCUPANCY:thresh=1:socket=0");
	check_all_lost(
		p, s, "cbo", "CTL0", 0x400137,
		"cbo0.TOR_OCCUPANCY:ALL:socket=0: somebody else has programmed CTL0 of cbo0 "
		"(socket 0) while it was counting: it holds 0x400137 = cbo.LLC_VICTIMS:M_STATE");
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"both are right, or it is refused", test_rows},
		{"bits of a filter that nobody knows", test_unknown_bits},
		{"an event of another kind comes later", test_other_kind_later},
		{"a lead is taken later", test_lead_taken_later},
		{NULL, NULL},
	};

	return suite_run("session, beside others", tests);
}
