/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions that want the same: it is counted once, and each has its own base. Sessions of a platform
 * that want all the same share a run. Sessions that want some of it share counters by the journal, as
 * those of two processes do. Rates are those of eventtables/CPU/workload.tbl; register numbers and
 * freeze bits those of Intel 327043-001 (tables 1-2, 2-8) and 329468-002 (2.1.2).
 */
#include "session_kit.h"

#define SNB_WAIT "sandybridge-ep,clock=wait"
#define IVB_WAIT "ivybridge-ep,clock=wait"

static const double uclk = 2.7e9, dclk = 0.8e9, drd_miss = 1.6e8 / 8;
static const double reads = (2.7e8 + 0.002e8) / 4; /* a channel */

/* CBo 0 of socket 0 of Sandy Bridge-EP */
enum {
	BOX_CTL = 0xD04,
	CTL0 = 0xD10,
	FILTER = 0xD14,
	CTR0 = 0xD16,
	FROZEN = 0x10100,
	RUNNING = 0x10000
};

static unsigned counters_in_use(struct unc_platform *p, uint64_t ctl0)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 4; i++)
		n += unc_sim_read(unc_machine_sim(p->machine), msr(p, ctl0 + i, 32)) != 0;
	return n;
}

/* An event of the other socket. A session that wants it as well has a run of its own. */
static const char apart[] = "pcu.CLOCKTICKS:socket=1";

/* A session that counts it: who wants it later writes nothing. */
static struct unc_session *start_apart(struct unc_platform *p)
{
	struct unc_session *s = session(p, 0);

	add(s, apart);
	start(s);
	return s;
}

/* The second writes nothing; whoever leaves first, the other goes on, and the last restores. */
static void check_same(const char *event, double rate, bool first_leaves, bool journal)
{
	struct unc_platform *p = machine(SNB);
	struct snapshot before = snapshot(p);
	struct unc_session *a = session(p, 0), *b = session(p, 0),
			   *other = journal ? start_apart(p) : NULL;
	int in_a = add(a, event), in_b = add(b, event);

	if (journal)
		add(b, apart);
	start(a);
	struct snapshot alone = snapshot(p);
	step(p, 10 * ms);
	CHECK_TEXT(plan_of(b, UNC_PHASE_START, false).text, "");
	start(b);
	CHECK_NUMBER(a->run == b->run, !journal);
	CHECK_RESTORED(p, alone); /* nothing has changed */
	step(p, 20 * ms);
	CHECK_COUNT(count_of(a, in_a), rate * 0.03, 1);
	CHECK_COUNT(count_of(b, in_b), rate * 0.02, 1);
	CU_ASSERT(unc_session_stop(first_leaves ? a : b) == 0);
	step(p, 10 * ms);
	CHECK_COUNT(count_of(a, in_a), rate * (first_leaves ? 0.03 : 0.04), 1);
	CHECK_COUNT(count_of(b, in_b), rate * (first_leaves ? 0.03 : 0.02), 1);
	CU_ASSERT(unc_session_stop(first_leaves ? b : a) == 0);
	unc_session_free(other);
	CHECK_RESTORED(p, before);
	CHECK_NUMBER(held_registers(p), 0);
	unc_session_free(a);
	unc_session_free(b);
	check_quiet(p);
	unc_platform_close(p);
}

static void test_same(void)
{
	for (int i = 0; i < 4; i++) {
		bool first = i & 1, journal = i & 2;

		check_same("cbo0.CLOCKTICKS:socket=0", uclk, first, journal);
		check_same("imc0.DCLK:socket=0", dclk, first, journal); /* a fixed counter */
		check_same("cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0", drd_miss, first,
			   journal);
		check_same("imc0.CAS_COUNT:RD:socket=0", reads, first, journal);
	}
}

/* What is different has its own counter; what is the same under another name has not. */
static void test_partly_same(void)
{
	struct unc_platform *p = machine(SNB);
	struct snapshot before = snapshot(p);
	struct unc_session *a = session(p, 0), *b = session(p, 0), *c = session(p, 0);

	add(a, "cbo0.CLOCKTICKS:socket=0");
	int miss_a = add(a, "cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0");
	int miss_b = add(b, "cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0"),
	    sum = add(b, "cbo.CLOCKTICKS:socket=0"),
	    hits = add(b, "cbo0.LLC_VICTIMS:M_STATE:socket=0");
	int clock = add(c, "cbo::CLOCKTICKS:unit=0:socket=0");

	start(a);
	step(p, ms);
	start(b);
	start(c);
	CHECK_NUMBER(counters_in_use(p, CTL0), 3);
	CHECK_NUMBER(counters_in_use(p, CTL0 + 0x20), 1); /* of CBo 1 */
	step(p, 10 * ms);
	CHECK_COUNT(count_of(a, miss_a), drd_miss * 0.011, 1);
	CHECK_COUNT(count_of(b, miss_b), drd_miss * 0.01, 1);
	CHECK_COUNT(count_of(b, sum), uclk * 0.01, 1); /* of clocks the greatest */
	CHECK_COUNT(count_of(b, hits), 0.94e8 / 8 * 0.01, 1);
	CHECK_COUNT(count_of(c, clock), uclk * 0.01, 1);
	CU_ASSERT(unc_session_stop(b) == 0);
	CHECK_NUMBER(counters_in_use(p, CTL0), 2);
	CHECK_NUMBER(counters_in_use(p, CTL0 + 0x20), 0);
	unc_session_free(a);
	unc_session_free(b);
	unc_session_free(c);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

/* The filter holds something else: nothing is shared, and nothing changed. */
static void test_other_filter(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *a = session(p, 0), *b = session(p, 0);

	add(a, "cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0");
	add(b, "cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x180:socket=0");
	start(a);
	struct snapshot alone = snapshot(p);
	CU_ASSERT_EQUAL(unc_session_start(b), UNC_ERR_BUSY);
	CU_ASSERT(strstr(unc_session_error(b), "BOX_FILTER of cbo0 (socket 0) is in use by another "
					       "session of this program") != NULL);
	CHECK_RESTORED(p, alone);
	unc_session_free(a);
	unc_session_free(b);
	unc_platform_close(p);
}

/* Masks that overlap (327043-001, table 2-12: nid 17:10, state 22:18, opc 31:23): both count where the bits
 * that both look at agree, whoever leaves first, and what was found in any bit is back. */
static void test_masks(void)
{
	static const uint32_t found = 0x5u << 18 | 0x30u << 10;
	static const char *const event[] = {
		"cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0",
		"cbo0.TOR_INSERTS:NID_MISS_OPCODE:opc=0x182:nid=0x1:socket=0",
		"cbo0.LLC_LOOKUP:DATA_READ:state=0x1:socket=0"};

	static const uint32_t set[] = {0x182u << 23, 0x182u << 23 | 0x1u << 10, 0x1u << 18};

	for (unsigned k = 0; k < 6; k++) { /* two of them, in any order */
		const unsigned pair[] = {k % 3, (k + 1 + k / 3) % 3};
		struct unc_platform *p = machine(SNB);
		struct unc_session *s[2], *c = session(p, 0);
		uint64_t filter;

		unc_sim_write(unc_machine_sim(p->machine), msr(p, FILTER, 32), found);
		for (unsigned i = 0; i < 2; i++) {
			s[i] = session(p, 0);
			add(s[i], event[pair[i]]);
			start(s[i]);
		}
		filter = unc_sim_read(unc_machine_sim(p->machine), msr(p, FILTER, 32));
		CHECK_NUMBER(filter, set[pair[0]] | set[pair[1]]);
		add(c, "cbo0.TOR_INSERTS:NID_MISS_OPCODE:opc=0x180:nid=0x2:socket=0");
		CHECK_NUMBER(unc_session_start(c), UNC_ERR_BUSY);
		step(p, 10 * ms);
		CHECK_NUMBER(unc_session_stop(s[0]), 0);
		step(p, 10 * ms);
		for (unsigned i = 0; i < 2; i++)
			CU_ASSERT(count_of(s[i], 0) > 0);
		filter = unc_sim_read(unc_machine_sim(p->machine), msr(p, FILTER, 32));
		CHECK_NUMBER(filter & set[pair[1]], set[pair[1]]);
		for (unsigned i = 0; i < 2; i++)
			unc_session_free(s[i]);
		unc_session_free(c);
		CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), msr(p, FILTER, 32)), found);
		CHECK_NUMBER(held_registers(p), 0);
		unc_platform_close(p);
	}
}

/* What is not given has a default, all states, which is looked at as well. */
static void test_without_filter(void)
{
	static const char *const event[] = {"cbo0.LLC_LOOKUP:DATA_READ:socket=0",
					    "cbo0.LLC_LOOKUP:DATA_READ:state=0x1:socket=0"};

	for (int i = 0; i < 2; i++) {
		struct unc_platform *p = machine(SNB);
		struct unc_session *a = session(p, 0), *b = session(p, 0);

		add(a, event[i]);
		add(b, event[!i]);
		start(a);
		CHECK_NUMBER(unc_session_start(b), UNC_ERR_BUSY);
		CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(b), "BOX_FILTER of cbo0"));
		CHECK_NUMBER(unc_session_stop(a), 0);
		start(b);
		unc_session_free(a);
		unc_session_free(b);
		unc_platform_close(p);
	}
}

enum { RANKS = 40 };

/* Many with the same metric use as many counters as one. */
static void test_ranks(void)
{
	struct unc_platform *p = machine(EMR);
	struct snapshot before = snapshot(p);
	struct unc_session *rank[RANKS];
	int id[RANKS], other;

	for (int i = 0; i < RANKS; i++) {
		rank[i] = session(p, 0);
		id[i] = add(rank[i], "memory_read_bytes");
		start(rank[i]);
		if (i == 0)
			CU_ASSERT(held_registers(p) > 10);
		step(p, ms);
	}
	size_t held = held_registers(p);
	CU_ASSERT(unc_session_stop(rank[RANKS - 1]) == 0);
	CHECK_NUMBER(held_registers(p), held);
	double all = value_of(rank[0], id[0]).value;
	CU_ASSERT(all > 0);
	for (int i = 0; i < RANKS - 1; i++)
		CHECK_NEAR(value_of(rank[i], id[i]).value, all * (RANKS - i) / RANKS, 1e-3);
	struct unc_session *more = session(p, 0);
	other = add(more, "imc0.CAS_COUNT:WR:socket=0"); /* a counter is free for something else */
	start(more);
	step(p, ms);
	CU_ASSERT(count_of(more, other) > 0);
	unc_session_free(more);
	for (int i = 0; i < RANKS; i++)
		unc_session_free(rank[i]);
	CHECK_RESTORED(p, before);
	CHECK_NUMBER(held_registers(p), 0);
	check_quiet(p);
	unc_platform_close(p);
}

static const char *const two_passes[] = {"cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0",
					 "cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x180:socket=0"};

/* Passes of two runs: what others count stays theirs, whatever the turn. */
static void test_rotating(void)
{
	struct unc_platform *p = machine(SNB);
	struct snapshot before = snapshot(p);
	struct unc_session *a = session(p, UNC_SESSION_ROTATE), *b = session(p, UNC_SESSION_ROTATE);
	int id[2][2];

	for (int i = 0; i < 2; i++) {
		id[0][i] = add(a, two_passes[i]);
		id[1][i] = add(b, two_passes[i]);
	}
	add(b, apart);
	CHECK_NUMBER(unc_session_passes(a), 2);
	start(a);
	start(b); /* the same pass: it is shared */
	CU_ASSERT_PTR_NOT_EQUAL(a->run, b->run);
	step(p, 10 * ms);
	CHECK_COUNT(count_of(a, id[0][0]), drd_miss * 0.01, 1);
	CHECK_COUNT(count_of(b, id[1][0]), drd_miss * 0.01, 1);
	/* The filter of the next is held by the other: it is not measured, and the first is. */
	CHECK_NUMBER(turn_pass(a), 0);
	step(p, 10 * ms);
	CHECK_NUMBER(value_of(a, id[0][1]).flags, UNC_VALUE_LOST);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_reason(a, id[0][1]), "BOX_FILTER of cbo0"));
	CHECK_COUNT(value_of(a, id[0][0]).count, drd_miss * 0.02, 1);
	CHECK_COUNT(count_of(b, id[1][0]), drd_miss * 0.02, 1);
	CHECK_NUMBER(turn_pass(b), 0);
	step(p, 10 * ms);
	CU_ASSERT(count_of(b, id[1][1]) > 0);
	unc_session_free(a);
	unc_session_free(b);
	CHECK_RESTORED(p, before);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
}

/* Sessions of one run turn together. Who comes in the second pass has that one first, and each counts a
 * pass from where it began. */
static void test_turning_together(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *a = session(p, UNC_SESSION_ROTATE), *b = session(p, UNC_SESSION_ROTATE);
	struct unc_value v;

	for (int i = 0; i < 2; i++) {
		add(a, two_passes[i]);
		add(b, two_passes[i]);
	}
	start(a);
	step(p, 10 * ms);
	CHECK_NUMBER(turn_pass(a), 0);
	start(b);
	CU_ASSERT_PTR_EQUAL(a->run, b->run);
	step(p, 10 * ms);
	CHECK_NUMBER(value_of(b, 0).flags & (UNC_VALUE_VALID | UNC_VALUE_WAITS), UNC_VALUE_WAITS);
	CU_ASSERT(count_of(b, 1) > 0);
	/* Half of the time a has counted it: what it counted is doubled. */
	CHECK_COUNT(count_of(a, 0), drd_miss * 0.02, 2);
	CHECK_NUMBER(turn_pass(b), 0);
	step(p, 10 * ms);
	v = value_of(b, 0); /* 10 ms of 20 */
	CHECK_NEAR(v.share, 0.5, 1e-6);
	CHECK_COUNT(v.count, drd_miss * 0.02, 2);
	v = value_of(a, 0); /* 20 ms of 30 */
	CHECK_NEAR(v.share, 2.0 / 3, 1e-6);
	CHECK_COUNT(v.count, drd_miss * 0.03, 3);
	unc_session_free(a);
	unc_session_free(b);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
}

/* COUNTER0_OCCUPANCY shows what counter 0 counts (327043-001 2.3.5): a lane is joined as a whole. */
static void test_lane(void)
{
	struct unc_platform *p = machine(SNB);
	struct snapshot before = snapshot(p);
	struct unc_session *a = session(p, 0), *b = session(p, 0), *c = session(p, 0),
			   *other = start_apart(p);
	static const char lead[] = "cbo0.TOR_OCCUPANCY:ALL:socket=0",
			  follower[] = "cbo0.COUNTER0_OCCUPANCY:socket=0";

	add(a, lead);
	add(a, follower);
	add(b, lead);
	add(b, follower);
	add(b, apart);
	add(c, lead);
	start(a);
	unsigned alone = counters_in_use(p, CTL0); /* with a clock */
	CHECK_TEXT(plan_of(b, UNC_PHASE_START, false).text, "");
	start(b);
	/* The same counters of cbo0, and that of the other socket. */
	struct walked of_a = plan_of(a, UNC_PHASE_READ, true),
		      of_b = plan_of(b, UNC_PHASE_READ, true);
	CHECK_NUMBER(of_a.n, 2);
	CHECK_NUMBER(of_b.n, 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(of_b.text, of_a.text));
	CHECK_TEXT(plan_of(c, UNC_PHASE_START, false).text, "");
	start(c);
	CU_ASSERT(unc_session_stop(a) == 0);
	CHECK_NUMBER(alone, 3);
	CHECK_NUMBER(counters_in_use(p, CTL0), alone);
	unc_session_free(a);
	unc_session_free(b);
	unc_session_free(c);
	unc_session_free(other);
	CHECK_RESTORED(p, before);
	unc_platform_close(p);
}

/* ---- clocks */

/* An event that counts nothing: a clock shows whether its unit counts. Two runs have a clock each, on
 * one counter. */
static void test_frozen(void)
{
	struct unc_platform *p = machine(SNB_WAIT);
	struct snapshot before = snapshot(p);
	struct unc_session *a = session(p, 0), *b = session(p, 0);
	int in_a = add(a, "cbo0.LLC_VICTIMS:MISS:socket=0"),
	    in_b = add(b, "cbo0.LLC_VICTIMS:MISS:socket=0");

	add(b, apart);
	start(a);
	start(b);
	CHECK_NUMBER(counters_in_use(p, CTL0), 2);
	for (int i = 0; i < 3; i++) {
		step(p, 100 * ms);
		CHECK_NUMBER(count_of(a, in_a), 0);
		CHECK_NUMBER(count_of(b, in_b), 0);
		CHECK_NUMBER(counters_in_use(p, CTL0), 2);
	}
	unc_sim_write(unc_machine_sim(p->machine), msr(p, BOX_CTL, 32), FROZEN);
	step(p, 100 * ms);
	CHECK_NUMBER(value_of(a, in_a).flags, UNC_VALUE_LOST);
	CHECK_NUMBER(value_of(b, in_b).flags, UNC_VALUE_LOST);
	unc_session_free(a);
	unc_session_free(b);
	CHECK_RESTORED(p, before);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
}

/* All counters of CBo 0 count: the clock is on CBo 1. */
static void start_full(struct unc_platform *p, struct unc_session *s)
{
	static const char *const event[] = {
		"cbo0.LLC_VICTIMS:MISS:socket=0", "cbo0.RING_BOUNCES:AK_CORE:socket=0",
		"cbo0.RING_AD_USED:UP_EVEN:socket=0", "cbo0.RING_AK_USED:UP_EVEN:socket=0"};

	for (int i = 0; i < 4; i++)
		add(s, event[i]);
	start(s);
	CHECK_NUMBER(counters_in_use(p, CTL0), 4);
	CHECK_NUMBER(counters_in_use(p, CTL0 + 0x20), 1);
}

/* It was let go by the start, and nobody else counts there: its 0 is true, and stays so. */
static void test_idle_full(void)
{
	struct unc_platform *p = machine(SNB_WAIT ",load=0");
	struct unc_session *s = session(p, 0);

	start_full(p, s);
	for (int i = 0; i < 3; i++) {
		step(p, 500 * ms);
		CHECK_NUMBER(value_of(s, 2).flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
		CHECK_NUMBER(value_of(s, 2).count, 0);
	}
	unc_session_free(s);
	unc_platform_close(p);
}

/* It has counted, and a clock on another unit does not show whether it does: once it has stood for a
 * second its values are marked, until they begin anew. */
static void test_frozen_full(void)
{
	struct unc_platform *p = machine(SNB_WAIT);
	struct unc_session *s = session(p, 0);

	start_full(p, s);
	step(p, 100 * ms);
	CHECK_NUMBER(value_of(s, 2).flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	unc_sim_write(unc_machine_sim(p->machine), msr(p, BOX_CTL, 32), FROZEN);
	for (int i = 0; i < 2; i++) {
		step(p, 1000 * ms);
		CHECK_NUMBER(value_of(s, 2).flags,
			     UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_UNPROVEN);
		CHECK_TEXT(unc_session_reason(s, 2),
			   "no counter of cbo0 (socket 0) has moved for a while, and those of "
			   "other units have: somebody may have frozen it");
		unc_sim_write(unc_machine_sim(p->machine), msr(p, BOX_CTL, 32), RUNNING);
	}
	CHECK_NUMBER(unc_session_reset(s), 0);
	step(p, 100 * ms);
	CHECK_NUMBER(value_of(s, 2).flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	CHECK_TEXT(unc_session_reason(s, 2), "");
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- a foreign program in between */

/* He clears what two share: both say so, and until they have gone nobody takes the counter, whose
 * values would look like theirs. */
static void test_cleared(void)
{
	struct unc_platform *p = machine(SNB_WAIT);
	struct unc_session *a = session(p, 0), *b = session(p, 0), *c = session(p, 0);
	static const char event[] = "cbo0.CLOCKTICKS:socket=0";
	int in_a = add(a, event), in_b = add(b, event), in_c = add(c, event);

	add(b, apart);
	add(c, "pcu.CLOCKTICKS:socket=0");
	start(a);
	struct walked counter = plan_of(a, UNC_PHASE_READ, true);
	start(b);
	CU_ASSERT_PTR_NOT_NULL(strstr(plan_of(b, UNC_PHASE_READ, true).text, counter.text));
	step(p, 10 * ms);
	for (unsigned i = 0; i < 4; i++)
		unc_sim_write(unc_machine_sim(p->machine), msr(p, CTL0 + i, 32), 0);
	start(c);
	CU_ASSERT_PTR_NULL(strstr(plan_of(c, UNC_PHASE_READ, true).text, counter.text));
	step(p, 1000 * ms);
	CHECK_NUMBER(value_of(a, in_a).flags, UNC_VALUE_LOST);
	CHECK_NUMBER(value_of(b, in_b).flags, UNC_VALUE_LOST);
	struct unc_value v = value_of(c, in_c);
	CHECK_COUNT(v.count, uclk * v.seconds, 1);
	unc_session_free(a);
	unc_session_free(b);
	unc_session_free(c);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
}

/* He clears what sessions of one run count: the start of one more finds that, and it is counted again for
 * it at once. The first has lost what was counted since the last comparison, which was its start. */
static void test_cleared_before(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *a = session(p, 0), *b = session(p, 0);
	static const char event[] = "cbo0.CLOCKTICKS:socket=0";
	int in_a = add(a, event), in_b = add(b, event);
	struct unc_value v;

	start(a);
	step(p, 100 * ms);
	for (unsigned i = 0; i < 4; i++)
		unc_sim_write(unc_machine_sim(p->machine), msr(p, CTL0 + i, 32), 0);
	start(b);
	CU_ASSERT_PTR_EQUAL(a->run, b->run);
	step(p, 100 * ms);
	v = value_of(b, in_b);
	CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	CHECK_COUNT(v.count, uclk * 0.1, 1);
	v = value_of(a, in_a); /* 100 ms of 200 */
	CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_ESTIMATED);
	CHECK_NEAR(v.share, 0.5, 1e-6);
	CHECK_NEAR((double)v.count, uclk * 0.2, 1e-6);
	unc_session_free(a);
	unc_session_free(b);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
}

/* The same of a fixed counter, of which there is one. */
static void test_cleared_fixed(void)
{
	struct unc_platform *p = machine(SNB_WAIT);
	struct unc_session *a = session(p, 0), *b = session(p, 0);

	add(a, "imc0.DCLK:socket=0");
	add(a, apart);
	add(b, "imc0.DCLK:socket=0");
	start(a);
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, "FIXED_CTL"), 0);
	CHECK_NUMBER(unc_session_start(b), UNC_ERR_BUSY);
	CHECK_TEXT(unc_session_error(b),
		   "imc0.DCLK:socket=0: FIXED_CTL of imc0 (socket 0) is used by another session of "
		   "this program, and somebody has cleared it: it is free when that one stops");
	CHECK_NUMBER(unc_session_stop(a), 0);
	start(b);
	unc_session_free(a);
	unc_session_free(b);
	unc_platform_close(p);
}

/* He sets bits of a shared filter that nobody looks at: they stay when the last has left, and what was
 * found in the others is back. */
static void test_other_bits(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *a = session(p, 0), *b = session(p, 0);
	static const char event[] = "cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0";
	const uint32_t state = 0x1f << 18, opc = 0x180u << 23;

	unc_sim_write(unc_machine_sim(p->machine), msr(p, FILTER, 32), opc);
	add(a, event);
	add(a, apart);
	add(b, event);
	start(a);
	start(b);
	step(p, 10 * ms);
	unc_sim_write(unc_machine_sim(p->machine), msr(p, FILTER, 32), 0x182u << 23 | state);
	CHECK_NUMBER(unc_session_stop(a), 0);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), msr(p, FILTER, 32)),
		     0x182u << 23 | state);
	CHECK_NUMBER(unc_session_stop(b), 0);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), msr(p, FILTER, 32)), opc | state);
	unc_session_free(a);
	unc_session_free(b);
	unc_platform_close(p);
}

/* Somebody freezes a unit where the first counts: for the second, which begins there then, 0 is no value
 * without a mark, though all who count are known and clocks of other units move. */
static void test_frozen_meanwhile(void)
{
	struct unc_platform *p = machine(SNB_WAIT);
	struct unc_session *a = session(p, 0), *b = session(p, 0);

	add(a, "cbo0.CLOCKTICKS:socket=0");
	int id = add(b, "cbo0.LLC_VICTIMS:M_STATE:socket=0");
	start(a);
	unc_sim_write(unc_machine_sim(p->machine), msr(p, BOX_CTL, 32), FROZEN);
	start(b);
	for (int i = 0; i < 2; i++) {
		step(p, 1000 * ms);
		CU_ASSERT(value_of(b, id).flags & (UNC_VALUE_LOST | UNC_VALUE_UNPROVEN));
	}
	unc_session_free(a);
	unc_session_free(b);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"the same event", test_same},
		{"some of it the same", test_partly_same},
		{"the same event with another filter", test_other_filter},
		{"bits of a filter that two look at", test_masks},
		{"no filter beside one", test_without_filter},
		{"many that want the same metric", test_ranks},
		{"passes", test_rotating},
		{"sessions that turn together", test_turning_together},
		{"a lane", test_lane},
		{"frozen, and nothing moves before", test_frozen},
		{"idle, and no counter for a clock", test_idle_full},
		{"frozen, and no counter for a clock", test_frozen_full},
		{"somebody else clears what is shared", test_cleared},
		{"and one more comes to those who have lost it", test_cleared_before},
		{"and a fixed counter", test_cleared_fixed},
		{"bits of a filter that nobody looks at", test_other_bits},
		{"frozen before the second comes", test_frozen_meanwhile},
		{NULL, NULL},
	};

	return suite_run("session, shared", tests);
}
