/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: what is planned, scheduled and counted. Sequences are those of Intel 327043-001
 * section 2.1.1 (E5-2600) and Intel 817509-001 section 1.10.4 (Emerald Rapids), the latter with
 * the resets before the programming. Rates are the `let` lines of eventtables/CPU/workload.tbl.
 */
#include "session_kit.h"

/* Of a socket of the simulated Sandy Bridge-EP, lines per second (workload.tbl). */
static const double snb_read_hit = 3.56e8, snb_read_miss = 2.7e8, snb_stream_part = 0.002e8,
		    snb_mem_writes = 1.142e8, snb_drd = 4.0e8;
static const double snb_uclk = 2.7e9, snb_dclk = 0.8e9;

/*
 * ---- start sequences: half of its range to each counter, filters, controls, and where nobody else
 * counts the unit is let go. Field values and addresses are the guides', of the highest counter that
 * their tables allow the event; nothing is frozen or reset, for a program killed in between would
 * leave it so.
 */
#define HALF44 "0x80000000000"
#define HALF48 "0x800000000000"

static void check_start(struct unc_platform *p, const char *one, const char *two,
			const char *expected)
{
	CHECK_TEXT(plan_for(p, UNC_PHASE_START, one, two).text, expected);
}

static void test_start_snb(void)
{
	struct unc_platform *p = machine(SNB);

	check_start(p, "cbo0.TOR_INSERTS:OPCODE:opc=0x182:socket=0",
		    "cbo0.RING_BL_USED:UP_EVEN:socket=0",
		    "CTR1=" HALF44 " CTR3=" HALF44 " BOX_FILTER=0xc1000000 CTL1=0x400135 "
		    "CTL3=0x40011d BOX_CTL=0x10000");
	check_start(p, "ha.REQUESTS:READS:socket=0", NULL,
		    "CTR3=" HALF48 " CTL3=0x400301 BOX_CTL=0x10000");
	check_start(p, "imc0.CAS_COUNT:RD:socket=1", "imc0.DCLK:socket=1",
		    "CTR3=" HALF48 " FIXED_CTR=" HALF48
		    " CTL3=0x400304 FIXED_CTL=0x400000 BOX_CTL=0x10000");
	/* the UBox has no box control */
	check_start(p, "ubox.LOCK_CYCLES:socket=0", "ubox.UCLK:socket=0",
		    "CTR1=" HALF44 " FIXED_CTR=" HALF44 " CTL1=0x400044 FIXED_CTL=0x400000");
	check_start(p, "pcu.FREQ_BAND0_CYCLES:band0=20:socket=0", NULL,
		    "CTR3=" HALF48 " BOX_FILTER=0x14 CTL3=0x40000b BOX_CTL=0x10000");
	/* DRS.WbIData of table 2-92: match 0x1C80, mask 0x1FE0; extra select bit 21 */
	check_start(p, "qpi0.CTO_COUNT:mc=DRS:opc=4:socket=0", NULL,
		    "CTR3=" HALF48 " PKT_MATCH0=0x1c80 PKT_MASK0=0x1fe0 PKT_MATCH1=0x0 "
		    "PKT_MASK1=0x0 CTL3=0x600038 BOX_CTL=0x10000");
	check_quiet(p);
	unc_platform_close(p);
}

static void test_start_emr(void)
{
	struct unc_platform *p = machine(EMR);

	/* values: public event files */
	check_start(p, "cha0.TOR_INSERTS:IA_MISS_DRD:socket=0", NULL,
		    "CTR3=" HALF48 " CTL3=0xc817fe00000135 UNIT_CTL=0x0");
	check_start(p, "imc0.CAS_COUNT:RD:socket=0", "imc0.DCLK:socket=0",
		    "CTR3=" HALF48 " FIXED_CTR=" HALF48
		    " CTL3=0xcf05 FIXED_CTL=0x400000 UNIT_CTL=0x0");
	check_start(p, "upi0.TxL_FLITS:ALL_DATA:socket=0", NULL,
		    "CTR3=" HALF48 " CTL3=0xf02 UNIT_CTL=0x0");
	check_start(p, "iio0.DATA_REQ_OF_CPU:MEM_READ.ALL_PARTS:socket=0", NULL,
		    "CTR1=" HALF48 " CTL1=0x70ff000000483 UNIT_CTL=0x0");
	check_start(p, "pcu.FREQ_MAX_POWER_CYCLES:socket=0", NULL,
		    "CTR3=" HALF48 " CTL3=0x5 UNIT_CTL=0x0");
	/* free-running: nothing to program */
	check_start(p, "mc0.DCLK:socket=0", NULL, "");
	check_quiet(p);
	unc_platform_close(p);
}

static void test_start_together(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);

	add(s, "imc0.CAS_COUNT:RD:socket=0");
	add(s, "ubox.LOCK_CYCLES:socket=0");
	add(s, "cbo0.CLOCKTICKS:socket=0");
	add(s, "cbo1.CLOCKTICKS:socket=0");
	/* In the order of the tables, whatever the order of the events. */
	CHECK_TEXT(plan_of(s, UNC_PHASE_START, true).text,
		   "ubox0.0:CTR1=" HALF44 " ubox0.0:CTL1=0x400044 "
		   "cbo0.0:CTR3=" HALF44 " cbo0.0:CTL3=0x400000 cbo0.0:BOX_CTL=0x10000 "
		   "cbo1.0:CTR3=" HALF44 " cbo1.0:CTL3=0x400000 cbo1.0:BOX_CTL=0x10000 "
		   "imc0.0:CTR3=" HALF48 " imc0.0:CTL3=0x400304 imc0.0:BOX_CTL=0x10000");
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_read_and_stop_plans(void)
{
	struct unc_platform *p = machine(SNB);

	CHECK_TEXT(plan_for(p, UNC_PHASE_READ, "imc1.CAS_COUNT:RD:socket=0", "imc1.DCLK:socket=0")
			   .text,
		   "CTR3 FIXED_CTR");
	CHECK_TEXT(plan_for(p, UNC_PHASE_STOP, "cbo0.TOR_INSERTS:OPCODE:opc=0x182:socket=0", NULL)
			   .text,
		   "CTL1=0x0 BOX_FILTER=0x0");
	unc_platform_close(p);
	p = machine(EMR);
	CHECK_TEXT(plan_for(p, UNC_PHASE_STOP, "imc0.CAS_COUNT:RD:socket=0", "imc0.DCLK:socket=0")
			   .text,
		   "FIXED_CTL=0x0 CTL3=0x0");
	CHECK_TEXT(plan_for(p, UNC_PHASE_READ, "mc3.DCLK:socket=1", NULL).text, "FRCTR_DCLK");
	unc_platform_close(p);
}

static int stop_at_third(void *user, const struct unc_operation *op)
{
	unsigned *n = user;

	CHECK_TEXT(op->unit, "cbo");
	CHECK_TEXT(op->space, "msr");
	return ++*n == 3 ? 42 : 0;
}

static void test_plan_without_access(void)
{
	struct unc_options options = {.size = sizeof(options), .cpu = "sandybridge-ep", .sim = ""};
	struct unc_platform *p = NULL;
	unsigned n = 0;

	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	CHECK_NUMBER(unc_platform_sockets(p), 0);
	struct unc_session *s = session(p, 0);
	add(s, "cbo0.CLOCKTICKS");
	CHECK_TEXT(plan_of(s, UNC_PHASE_START, false).text,
		   "CTR3=" HALF44 " CTL3=0x400000 BOX_CTL=0x10000");
	CHECK_NUMBER(unc_session_plan(s, UNC_PHASE_START, stop_at_third, &n), 42);
	CHECK_NUMBER(n, 3);
	CU_ASSERT(unc_session_start(s) == UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(unc_session_error(s), "the platform was opened for listing only (option cpu)");
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- counts */

static void test_counts_snb(void)
{
	struct unc_platform *p = machine(SNB);
	struct snapshot before = snapshot(p);
	struct unc_session *s = session(p, 0);
	int reads = add(s, "imc.CAS_COUNT:RD"), writes = add(s, "imc.CAS_COUNT:WR"),
	    dclk = add(s, "imc.DCLK"), one = add(s, "imc2.CAS_COUNT:RD:socket=1"),
	    socket = add(s, "imc.CAS_COUNT:RD:socket=0"), all_of = add(s, "imc3.CAS_COUNT:RD"),
	    drd = add(s, "cbo.TOR_INSERTS:OPCODE:opc=0x182"), uclk = add(s, "cbo.CLOCKTICKS"),
	    fixed = add(s, "ubox.UCLK"), c6 = add(s, "pcu.CORE_C6_CYCLES:socket=0");
	struct unc_value v[10];
	const double t = 0.01, channel = (snb_read_miss + snb_stream_part) / 4;

	start(s);
	step(p, 10 * ms);
	CU_ASSERT_FATAL(unc_session_read(s, v, 10, sizeof(*v)) == 0);
	CHECK_COUNT(v[reads].count, 8 * channel * t, 8);
	CHECK_COUNT(v[writes].count, 2 * snb_mem_writes * t, 8);
	CHECK_COUNT(v[dclk].count, snb_dclk * t, 1); /* max: the same clock everywhere */
	CHECK_COUNT(v[one].count, channel * t, 1);
	CHECK_COUNT(v[socket].count, 4 * channel * t, 4);
	CHECK_COUNT(v[all_of].count, 2 * channel * t, 2); /* channel 3 of both sockets */
	CHECK_COUNT(v[drd].count, 2 * snb_drd * t, 16);
	CHECK_COUNT(v[uclk].count, snb_uclk * t, 1);
	CHECK_COUNT(v[fixed].count, snb_uclk * t, 1);
	CHECK_COUNT(v[c6].count, 0.4 * 2.7e9 * t, 1); /* free-running */
	for (int i = 0; i < 10; i++) {
		CHECK_NUMBER(v[i].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
		CHECK_NUMBER(v[i].delta, v[i].count);
		CHECK_NEAR(v[i].seconds, t, 1e-9);
		CHECK_NEAR(v[i].interval_seconds, t, 1e-9);
		CHECK_NUMBER((uint64_t)v[i].value, v[i].count);
	}
	unc_session_free(s);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

static void test_counts_emr(void)
{
	struct unc_platform *p = machine(EMR);
	struct snapshot before = snapshot(p);
	struct unc_session *s = session(p, 0);
	/* workload.tbl: clocks of the units; demand data reads that miss: drd_l + drd_r */
	int clock = add(s, "cha.CLOCKTICKS"), miss = add(s, "cha.TOR_INSERTS:IA_MISS_DRD"),
	    dclk = add(s, "imc.DCLK"), mc = add(s, "mc.DCLK"), upi = add(s, "upi0.CLOCKTICKS"),
	    last = add(s, "cha33.CLOCKTICKS:socket=1"), iio = add(s, "iio.CLOCKTICKS");
	struct unc_value v[7];

	start(s);
	step(p, 10 * ms);
	CU_ASSERT_FATAL(unc_session_read(s, v, 7, sizeof(*v)) == 0);
	CHECK_COUNT(v[clock].count, 2.2e7, 1);
	CHECK_COUNT(v[miss].count, 2 * (3.2e8 + 0.8e8) * 0.01, 64);
	CHECK_COUNT(v[dclk].count, 2.4e7, 1);
	CHECK_COUNT(v[mc].count, 2.4e7, 1);
	CHECK_COUNT(v[upi].count, 2.5e7, 1);
	CHECK_COUNT(v[last].count, 2.2e7, 1);
	CHECK_COUNT(v[iio].count, 1e7, 1);
	unc_session_free(s);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

/* Counts alone: no interval ends, and what has a mark is for a whole read. */
static void test_counts_alone(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	int reads = add(s, "imc.CAS_COUNT:RD"), one = add(s, "cbo1.CLOCKTICKS:socket=1");
	const double t = 0.01, channel = (snb_read_miss + snb_stream_part) / 4;
	uint64_t count[3] = {0, 0, 4711};

	CHECK_NUMBER(unc_session_counts(s, count, 2), UNC_ERR_STATE);
	start(s);
	CHECK_NUMBER(unc_session_counts(s, count, 2), 1); /* of no time */
	for (int i = 1; i < 4; i++) {
		step(p, 10 * ms);
		CHECK_NUMBER(unc_session_counts(s, count, 3), 0);
		CHECK_COUNT(count[reads], 8 * channel * t * i, 8);
		CHECK_COUNT(count[one], snb_uclk * t * i, 1);
	}
	CHECK_NUMBER(count[2], 4711);
	CHECK_NUMBER(value_of(s, one).delta, count[one]);
	step(p, 1000 * ms);
	for (const char *const *ctl = (const char *[]){"CTL0", "CTL1", "CTL2", "CTL3", NULL}; *ctl;
	     ctl++)
		unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "imc", 2, 0, *ctl), 0);
	CHECK_NUMBER(unc_session_counts(s, count, 2), 1);
	CU_ASSERT(value_of(s, reads).flags & UNC_VALUE_PARTIAL);
	unc_session_free(s);

	s = session(p, 0);
	one = add(s, "cbo1.CLOCKTICKS:socket=1");
	start(s);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_session_stop(s), 0);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_session_counts(s, count, 1), 0);
	CHECK_COUNT(count[0], snb_uclk * t, 1);
	add(s, "memory_read_bytes");
	start(s);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_session_counts(s, count, 1), 1);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

/* ---- which counter */

static void test_sharing(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	int one = add(s, "imc0.CAS_COUNT:RD:socket=0"), two = add(s, "imc0.CAS_COUNT:RD:socket=0"),
	    wide = add(s, "imc.CAS_COUNT:RD"), metric = add(s, "memory_read_bytes");

	CHECK_NUMBER(s->n_wants, 8); /* four channels, two sockets: one counter each */
	start(s);
	step(p, ms);
	struct unc_value v[4];
	CU_ASSERT_FATAL(unc_session_read(s, v, 4, sizeof(*v)) == 0);
	CHECK_NUMBER(v[one].count, v[two].count);
	CHECK_NUMBER((uint64_t)v[metric].value, 64 * v[wide].count);
	unc_session_free(s);
	unc_platform_close(p);
}

#define CHECK_ADD(s, text, code, sentence) check_add(__LINE__, (s), (text), (code), (sentence))
static void check_add(int line, struct unc_session *s, const char *text, int code,
		      const char *sentence)
{
	int id = 4711;
	size_t items = s->n_items, measures = s->n_measures, slots = s->n_wants;
	int rc = unc_session_add(s, text, &id);

	suite_text(line, unc_error_name(rc), unc_error_name(code));
	suite_text(line, unc_session_error(s), sentence);
	suite_number(line, (unsigned long long)id, 4711);
	suite_number(line, s->n_items, items);
	suite_number(line, s->n_measures, measures);
	suite_number(line, s->n_wants, slots);
}

static void test_counter_conflicts(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);

	/* Ring events: counters 2 and 3 (table 2-14) */
	add(s, "cbo0.RING_BL_USED:UP_EVEN:socket=0");
	add(s, "cbo0.RING_BL_USED:UP_ODD:socket=0");
	CHECK_ADD(s, "cbo0.RING_BL_USED:DOWN_EVEN:socket=0", UNC_ERR_CONFLICT,
		  "cbo0.RING_BL_USED:DOWN_EVEN:socket=0 and cbo0.RING_BL_USED:UP_ODD:socket=0 (and "
		  "others) need counters 2-3 of cbo, which are all taken");
	add(s, "cbo1.RING_BL_USED:DOWN_EVEN:socket=0"); /* another unit has room */
	add(s, "cbo0.LLC_VICTIMS:M_STATE:socket=0");    /* counters 0 and 1 are free */
	CHECK_TEXT(plan_of(s, UNC_PHASE_READ, true).text,
		   "cbo0.0:CTR3 cbo0.0:CTR2 cbo0.0:CTR1 cbo1.0:CTR3");
	unc_session_free(s);
	s = session(p, 0);

	/* Occupancies: counter 0 only */
	add(s, "cbo.TOR_OCCUPANCY:MISS_ALL");
	CHECK_ADD(
		s, "cbo.TOR_OCCUPANCY:ALL", UNC_ERR_CONFLICT,
		"cbo.TOR_OCCUPANCY:MISS_ALL and cbo.TOR_OCCUPANCY:ALL both need counter 0 of cbo");
	/* The highest counter that an event may have */
	unc_session_free(s);
	s = session(p, 0);
	add(s, "cbo0.CLOCKTICKS:socket=0");
	add(s, "cbo0.TOR_OCCUPANCY:ALL:socket=0");
	CHECK_TEXT(plan_of(s, UNC_PHASE_READ, false).text, "CTR3 CTR0");
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_filter_conflicts(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);

	add(s, "cbo.TOR_INSERTS:OPCODE:opc=0x182");
	CHECK_ADD(s, "cbo.TOR_INSERTS:OPCODE:opc=0x180", UNC_ERR_CONFLICT,
		  "cbo.TOR_INSERTS:OPCODE:opc=0x182 and cbo.TOR_INSERTS:OPCODE:opc=0x180 need "
		  "different values in BOX_FILTER of cbo");
	add(s, "cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182"); /* the same opcode */
	add(s, "cbo.CLOCKTICKS");
	CHECK_NUMBER(unc_session_passes(s), 1);
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_too_many(void)
{
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0);

	add(s, "imc.CAS_COUNT:RD");
	add(s, "imc.CAS_COUNT:WR");
	add(s, "imc.ACT_COUNT:ALL");
	add(s, "imc.CLOCKTICKS");
	CHECK_ADD(s, "imc.CAS_COUNT:ALL", UNC_ERR_CONFLICT,
		  "imc.CAS_COUNT:ALL and imc.CLOCKTICKS (and others) need counters 0-3 of imc, "
		  "which are all taken");
	add(s, "imc.DCLK"); /* has a counter of its own */
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- errors */

static void test_errors(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	struct unc_value v;

	CHECK_ADD(s, "memory_red_bytes", UNC_ERR_NOT_FOUND,
		  "no metric or event memory_red_bytes in sandybridge-ep; nearest is "
		  "memory_read_bytes");
	CHECK_ADD(s, "cbo.LLC_MPI", UNC_ERR_UNAVAILABLE,
		  "cbo.LLC_MPI cannot be computed: needs a core counter: retired instructions");
	CHECK_ADD(s, "memory_read_bytes:socket=2", UNC_ERR_RANGE,
		  "memory_read_bytes:socket=2: this machine has sockets 0 to 1");
	CHECK_ADD(s, "memory_read_bytes:sock=1", UNC_ERR_INVALID,
		  "memory_read_bytes: 'sock=1' is no place of a metric: socket=N, node=N, port=N, "
		  "unit=N or device=NAME");
	CHECK_ADD(s, "imc.CAS_COUNTS:RD", UNC_ERR_NOT_FOUND,
		  "no metric or event imc.CAS_COUNTS in sandybridge-ep; nearest is imc.CAS_COUNT");
	CHECK_ADD(s, "imc.CAS_COUNT:RDD", UNC_ERR_NOT_FOUND,
		  "imc.CAS_COUNT: no umask RDD; nearest is RD");
	CHECK_ADD(s, "imc7.CAS_COUNT:RD", UNC_ERR_RANGE,
		  "imc7.CAS_COUNT:RD: no such unit; a socket has at most imc0 to imc3");
	CHECK_ADD(s, "imc.CAS_COUNT:RD:socket=5", UNC_ERR_RANGE,
		  "imc.CAS_COUNT:RD:socket=5: this machine has sockets 0 to 1");
	CU_ASSERT(unc_session_start(s) == UNC_ERR_STATE);
	CHECK_TEXT(unc_session_error(s), "the session has no events");
	add(s, "imc.CAS_COUNT:RD");
	CU_ASSERT(unc_session_read(s, &v, 1, sizeof(v)) == UNC_ERR_STATE);
	CHECK_TEXT(unc_session_error(s), "the session was not started, or its start failed");
	CU_ASSERT(unc_session_stop(s) == UNC_ERR_STATE);
	CHECK_TEXT(unc_session_error(s), "the session is not running");
	start(s);
	CHECK_ADD(s, "imc.CAS_COUNT:WR", UNC_ERR_STATE, "the session is running; stop it first");
	CU_ASSERT(unc_session_start(s) == UNC_ERR_STATE);
	CHECK_TEXT(unc_session_error(s), "the session is running already");
	unc_session_free(s);
	unc_session_free(NULL);
	check_quiet(p);
	unc_platform_close(p);
}

static void test_hidden(void)
{
	struct unc_platform *p = machine("sandybridge-ep-no-qpi.match-r2pcie,clock=step");
	struct unc_session *s = session(p, 0);
	int id;

	add(s, "qpi.CLOCKTICKS"); /* the match registers are elsewhere */
	CU_ASSERT(unc_session_add(s, "qpi.CTO_COUNT:mc=DRS:opc=4", &id) == UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(unc_session_error(s),
		   "qpi.CTO_COUNT:opc=4:mc=0xe: no such unit can be read: part match: PCI function "
		   "08.6 (8086:3c86) is not visible: hidden by the BIOS, or this machine has none");
	CU_ASSERT(unc_session_add(s, "r2pcie.CLOCKTICKS", &id) == UNC_ERR_UNAVAILABLE);
	CU_ASSERT(unc_session_add(s, "qpi.DRS_WbI_FROM_QPI", &id) == UNC_ERR_UNAVAILABLE);
	for (size_t i = 0; unc_metric_get(p, i); i++) {
		const struct unc_metric *m = unc_metric_get(p, i);

		if (strcmp(m->name, "r2pcie.CYC_USED_DNEVEN") != 0)
			continue;
		CHECK_NUMBER(m->available, 0);
		CHECK_NUMBER(m->passes, 0);
		CU_ASSERT(strncmp(m->reason, "no r2pcie unit can be read: ", 28) == 0);
	}
	start(s);
	step(p, ms);
	CHECK_COUNT(count_of(s, 0), 1e6, 1);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

/* One type is hidden, the others count; the numbers of what is there are not those of all. */
static void test_hidden_emr(void)
{
	struct unc_platform *p = machine("emerald-rapids-no-upi,clock=step");
	struct unc_session *s = session(p, 0);
	int id;

	CU_ASSERT(unc_session_add(s, "upi.CLOCKTICKS", &id) == UNC_ERR_UNAVAILABLE);
	CU_ASSERT(strncmp(unc_session_error(s), "upi.CLOCKTICKS: no such unit can be read: ", 42) ==
		  0);
	CU_ASSERT(unc_session_add(s, "link_tx_bytes", &id) == UNC_ERR_UNAVAILABLE);
	for (size_t i = 0; unc_unit_get(p, i); i++) {
		const struct unc_unit *u = unc_unit_get(p, i);

		if (strcmp(u->type->name, "upi") == 0)
			CU_ASSERT(!u->available && u->reason[0]);
	}
	id = add(s, "imc.DCLK");
	start(s);
	step(p, ms);
	CHECK_COUNT(count_of(s, id), 2.4e6, 1);
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- passes */

static void test_passes(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0), *r = session(p, UNC_SESSION_ROTATE);

	CHECK_ADD(s, "cbo.LLC_DRD_MISS_PCT", UNC_ERR_PASSES,
		  "cbo.LLC_DRD_MISS_PCT: needs several passes: cbo.LLC_LOOKUP:DATA_READ:state=1 "
		  "and cbo.LLC_LOOKUP:DATA_READ:state=0x1f need different values in BOX_FILTER of "
		  "cbo");
	/* It fits alone, but not together with what is there: a conflict */
	add(s, "cbo.TOR_INSERTS:OPCODE:opc=0x182");
	CHECK_ADD(
		s, "cbo.LLC_RFO_MISS_PCT", UNC_ERR_CONFLICT,
		"cbo.LLC_RFO_MISS_PCT: cbo.TOR_INSERTS:OPCODE:opc=0x182 and "
		"cbo.TOR_INSERTS:MISS_OPCODE:opc=0x180 need different values in BOX_FILTER of cbo");
	CHECK_NUMBER(unc_session_passes(s), 1);
	CHECK_NUMBER(unc_session_passes(r), 1);
	add(r, "memory_read_bytes");
	CHECK_NUMBER(unc_session_passes(r), 1);
	add(r, "cbo.LLC_DRD_MISS_PCT");
	CHECK_NUMBER(unc_session_passes(r), 2);
	add(r, "qpi.DRS_F_OR_E_FROM_QPI"); /* six values of one match register */
	CHECK_NUMBER(unc_session_passes(r), 6);
	unc_session_free(s);
	unc_session_free(r);
	unc_platform_close(p);
}

static void test_rotation(void)
{
	struct unc_platform *p = machine(SNB);
	struct snapshot before = snapshot(p);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	enum { VALID = UNC_VALUE_VALID, FRESH = UNC_VALUE_FRESH, ESTIMATED = UNC_VALUE_ESTIMATED };
	int reads = add(s, "imc.CAS_COUNT:RD"), pct = add(s, "cbo.LLC_DRD_MISS_PCT"),
	    ratio = add(s, "llc_miss_ratio");
	const double rate = 2 * (snb_read_miss + snb_stream_part);
	struct unc_value v[3];
	double total, interval;

	CHECK_NUMBER(unc_session_passes(s), 2);
	start(s);
	step(p, 10 * ms);
	CU_ASSERT(unc_session_read(s, v, 3, sizeof(*v)) == 0);
	CHECK_NUMBER(v[reads].flags, VALID | FRESH);
	CHECK_COUNT(v[reads].count, rate * 0.01, 8);
	CHECK_NUMBER(v[pct].flags & VALID, 0); /* its turn is still to come */
	CHECK_NUMBER(v[pct].count, 0);
	CU_ASSERT(turn_pass(s) == 0);
	step(p, 30 * ms); /* passes of different length */
	CU_ASSERT(unc_session_read(s, v, 3, sizeof(*v)) == 0);
	CHECK_NUMBER(v[reads].flags, VALID | FRESH); /* alone on its units it is counted always */
	CHECK_COUNT(v[reads].count, rate * 0.04, 8);
	CHECK_NEAR(v[reads].seconds, 0.04, 1e-9);
	CHECK_NEAR(v[reads].share, 1, 1e-9);
	CHECK_NUMBER(v[pct].flags, VALID | FRESH | ESTIMATED);
	CHECK_NEAR(v[pct].value, snb_read_miss / (snb_read_hit + snb_read_miss), 1e-5);
	CHECK_NEAR(v[pct].interval, snb_read_miss / (snb_read_hit + snb_read_miss), 1e-5);
	CHECK_NEAR(v[pct].seconds, 0.01, 1e-9); /* as long as the half that was measured least */
	CHECK_NEAR(v[pct].share, 0.25, 1e-9);
	CHECK_NEAR(v[pct].interval_share, 0.25, 1e-9);
	CHECK_NEAR(v[ratio].value, v[pct].value, 1e-5); /* by the same events */
	CU_ASSERT(unc_session_time(s, &total, &interval) == 0);
	CHECK_NEAR(total, 0.04, 1e-9);
	CHECK_NEAR(interval, 0.03, 1e-9);
	CU_ASSERT(turn_pass(s) == 0);
	step(p, 10 * ms);
	CU_ASSERT(unc_session_read(s, v, 3, sizeof(*v)) == 0);
	CHECK_NUMBER(v[reads].flags, VALID | FRESH);
	CHECK_COUNT(v[reads].count, rate * 0.05, 8);
	CHECK_COUNT(v[reads].delta, rate * 0.01, 8);
	CHECK_NUMBER(v[pct].flags, VALID | ESTIMATED); /* complete again after the next pass */
	CU_ASSERT(unc_session_stop(s) == 0);
	CU_ASSERT(unc_session_read(s, v, 3, sizeof(*v)) == 0);
	CHECK_NEAR(v[pct].value, snb_read_miss / (snb_read_hit + snb_read_miss), 1e-5);
	unc_session_free(s);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

/*
 * An event that two passes want, on a unit where all fits at once: it is one counter, and counts
 * for both all the time. Filters of CBos differ; memory_read_latency_ns needs the clock of the UBox
 * in the pass of its own filter. miss_time of eventtables/sandybridge-ep/workload.tbl is 105 ns.
 */
static void test_wanted_twice(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	int clock, latency;
	struct unc_value v[3];

	add(s, "cbo.TOR_INSERTS:MISS_OPCODE:opc=0x180");
	clock = add(s, "ubox.UCLK:socket=0");
	latency = add(s, "memory_read_latency_ns");
	CHECK_NUMBER(unc_session_passes(s), 2);
	start(s);
	for (int i = 0; i < 4; i++) {
		step(p, 10 * ms);
		CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
		CHECK_NUMBER(v[clock].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
		CHECK_COUNT(v[clock].count, 2.7e9 * 0.01 * (i + 1), 1);
		CHECK_NEAR(v[clock].share, 1, 1e-9);
		CHECK_NUMBER(turn_pass(s), 0);
	}
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	CU_ASSERT(v[latency].flags & UNC_VALUE_VALID);
	CHECK_NEAR(v[latency].value, 105, 1e-5);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

static void test_rotation_of_one(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	int id = add(s, "imc.CAS_COUNT:RD");

	start(s);
	step(p, 10 * ms);
	CU_ASSERT(turn_pass(s) == 0); /* nothing happens */
	step(p, 10 * ms);
	CHECK_COUNT(count_of(s, id), 2 * (snb_read_miss + snb_stream_part) * 0.02, 8);
	unc_session_free(s);
	unc_platform_close(p);
}

/* The plan may be asked for at any time; it changes nothing. */
static void test_plan_after_stop(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	int id = add(s, "cbo.LLC_DRD_MISS_PCT");
	struct walked before = plan_of(s, UNC_PHASE_START, false);

	start(s);
	step(p, 10 * ms);
	CU_ASSERT(turn_pass(s) == 0);
	step(p, 10 * ms);
	CU_ASSERT(unc_session_stop(s) == 0);
	CHECK_TEXT(plan_of(s, UNC_PHASE_START, false).text, before.text);
	struct unc_value v = value_of(s, id);
	CHECK_NUMBER(v.units, 16); /* two sockets of eight, each counted once for both events */
	CHECK_NUMBER(v.of, 16);
	CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_ESTIMATED);
	CHECK_NEAR(v.value, snb_read_miss / (snb_read_hit + snb_read_miss), 1e-5);
	unc_session_free(s);
	unc_platform_close(p);
}

/* What a start writes of a session that has never run: the first pass, and on units where all passes fit
 * together what counts all the time. */
static void test_plan_of_passes(void)
{
	static const char *const first[] = {"imc0.CAS_COUNT:RD:socket=0",
					    "imc0.CAS_COUNT:WR:socket=0", "imc0.ACT_COUNT:socket=0",
					    "imc0.PRE_COUNT:PAGE_MISS:socket=0"};
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);

	for (size_t i = 0; i < 4; i++)
		add(s, first[i]);
	add(s, "imc.CAS_COUNT:ALL:socket=0");
	CHECK_NUMBER(unc_session_passes(s), 2);
	struct walked w = plan_of(s, UNC_PHASE_START, true);
	CU_ASSERT_PTR_NOT_NULL(strstr(w.text, "imc0.0:CTL3=0x"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(w.text, "imc1.0:CTL3=0x400f04")); /* CAS_COUNT, all: 327043-001 */
	unc_session_free(s);
	unc_platform_close(p);
}

/* Time begins anew with each start; that of a stop counts for nothing. */
static void test_second_start(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	int id = add(s, "cbo.LLC_DRD_MISS_PCT"), ticks = add(s, "ha0.CLOCKTICKS:socket=0");

	CU_ASSERT(unc_session_passes(s) > 1);
	for (int i = 0; i < 2; i++) {
		double seconds = -1;

		start(s);
		CU_ASSERT(unc_session_time(s, &seconds, NULL) == 0);
		CU_ASSERT(seconds == 0); /* up to the last read: there was none */
		step(p, 10 * ms);
		CU_ASSERT(turn_pass(s) == 0);
		step(p, 10 * ms);
		CHECK_NEAR(value_of(s, id).share, 0.5, 1e-9);
		CU_ASSERT(unc_session_time(s, &seconds, NULL) == 0);
		CHECK_NEAR(seconds, 0.02, 1e-9);
		CHECK_COUNT(count_of(s, ticks), snb_uclk * 0.02, 1);
		CU_ASSERT(unc_session_stop(s) == 0);
		step(p, 30 * ms);
	}
	unc_session_free(s);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"start sequences of Sandy Bridge-EP", test_start_snb},
		{"start sequences of Emerald Rapids", test_start_emr},
		{"units in the order of the tables", test_start_together},
		{"plans of reading and stopping", test_read_and_stop_plans},
		{"listing only: plans, no start", test_plan_without_access},
		{"counts of Sandy Bridge-EP", test_counts_snb},
		{"counts of Emerald Rapids", test_counts_emr},
		{"counts alone", test_counts_alone},
		{"equal items share a counter", test_sharing},
		{"conflicts of counters", test_counter_conflicts},
		{"conflicts of filters", test_filter_conflicts},
		{"too many events", test_too_many},
		{"errors", test_errors},
		{"units that the firmware hides", test_hidden},
		{"the same on Emerald Rapids", test_hidden_emr},
		{"passes", test_passes},
		{"rotation", test_rotation},
		{"an event that two passes want", test_wanted_twice},
		{"rotation with one pass", test_rotation_of_one},
		{"a plan after the stop changes nothing", test_plan_after_stop},
		{"a plan of several passes", test_plan_of_passes},
		{"a second start", test_second_start},
		{NULL, NULL},
	};

	return suite_run("session", tests);
}
