/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allocator of Montecito's twelve counters against what the document says (Intel 308065-001;
 * sections and tables below are its own). The rules are written down here a second time, from the
 * document, and searched exhaustively.
 */
#include "kinds.h"
#include "montecito_kit.h"
#include "encode/schedule.h"

/* ---- the rules of sections 3.2, 4.8 and 4.10, on the values of PMC4 to 15 (0: not in use) */

struct span {
	uint8_t first, last, set;
};

static int lane_set_of(const struct span *spans, size_t n, uint64_t control)
{
	unsigned es = control >> 8 & 0xff;

	for (size_t i = 0; control && i < n; i++)
		if (es >= spans[i].first && es <= spans[i].last)
			return spans[i].set;
	return -1;
}

/* Tables 4-11 to 4-16. */
static int l1d_set(uint64_t control)
{
	static const struct span spans[] = {{0xc0, 0xc3, 0}, {0xc4, 0xc5, 1}, {0xc7, 0xc7, 1},
					    {0xca, 0xca, 2}, {0xcd, 0xcf, 3}, {0xd0, 0xd2, 4},
					    {0xd8, 0xd9, 6}};

	return lane_set_of(spans, sizeof(spans) / sizeof(spans[0]), control);
}

/* Tables 4-21 to 4-29. */
static int l2d_set(uint64_t control)
{
	static const struct span spans[] = {{0xe0, 0xe3, 0}, {0xe4, 0xe5, 1}, {0xe6, 0xe6, 2},
					    {0xe8, 0xe9, 3}, {0xea, 0xeb, 4}, {0xec, 0xed, 5},
					    {0xef, 0xef, 6}, {0xf0, 0xf1, 7}, {0xf2, 0xf3, 8}};

	return lane_set_of(spans, sizeof(spans) / sizeof(spans[0]), control);
}

/* Only on counters 4 to 9: codes of 8x, 9x, ax, bx, ex, fx; and what may happen in the background
 * of a thread (types F, C and S of libpfm4's montecito_events.h: L1I_FILLS, the L2I, L2D_MISSES,
 * the L3), the clock excepted; and whatever counts both threads. */
static bool needs_duplicated(uint64_t control)
{
	unsigned es = control >> 8 & 0xff, group = es >> 4;

	return (control & ALL) || (group >= 8 && group <= 0xb) || group >= 0xe || es == 0x41 ||
	       (es >= 0x78 && es <= 0x7f) || es == 0xcb || (es >= 0xda && es <= 0xdf);
}

static bool right_counter(uint64_t control, unsigned counter)
{
	if ((control >> 8 & 0xff) == 0x18) /* CYCLES_HALTED */
		return counter == 10;
	return counter <= 9 || !needs_duplicated(control);
}

/* Events of the L2D in one lane are of the set of the lead's, with its unit mask and threads. */
static bool right_lane(const uint64_t *pmc, unsigned lead, unsigned one, unsigned two)
{
	const unsigned others[] = {one, two};
	const uint64_t same = 0xf0000 | ALL;

	for (unsigned i = 0; i < 2; i++)
		if (l2d_set(pmc[others[i]]) >= 0 &&
		    (l2d_set(pmc[others[i]]) != l2d_set(pmc[lead]) ||
		     ((pmc[others[i]] ^ pmc[lead]) & same)))
			return false;
	return true;
}

static bool right_together(const uint64_t *pmc)
{
	for (unsigned n = 4; n < 16; n++)
		if (l1d_set(pmc[n]) >= 0 && l1d_set(pmc[n]) != l1d_set(pmc[5]))
			return false;
	return right_lane(pmc, 4, 5, 8) && right_lane(pmc, 6, 7, 9);
}

/* Tries every way to put the controls on the counters that are not busy. */
static bool search(uint64_t *pmc, const uint64_t *control, size_t n, uint32_t busy)
{
	if (n == 0)
		return right_together(pmc);
	for (unsigned c = 4; c < 16; c++) {
		if (pmc[c] || (busy >> c & 1) || !right_counter(control[0], c))
			continue;
		pmc[c] = control[0];
		bool found = search(pmc, control + 1, n - 1, busy);
		pmc[c] = 0;
		if (found)
			return true;
	}
	return false;
}

/* Ways that a control has: the fewest first, which does not change the answer. */
static unsigned ways(uint64_t control)
{
	unsigned n = 0;

	for (unsigned c = 4; c < 16; c++)
		n += right_counter(control, c);
	return n + (l1d_set(control) < 0); /* L1D before what goes anywhere */
}

static int compare_ways(const void *a, const void *b)
{
	return (int)ways(*(const uint64_t *)a) - (int)ways(*(const uint64_t *)b);
}

/* ---- sets of events on the simulated machine */

static int note_pmc(void *user, const struct unc_operation *op)
{
	uint64_t *pmc = user;
	unsigned n;

	if (op->write && op->socket == 0 && op->index == 0 && sscanf(op->reg, "PMC%u", &n) == 1 &&
	    n >= 4 && n < 16)
		pmc[n] = op->value;
	return 0;
}

/* Counts a set of events (up to a NULL) and checks that it went by the rules. 0, or why not. */
static int count_set(struct unc_platform *p, const char *const *events, uint64_t pmc[16])
{
	struct unc_session *s = session(p, 0);
	unsigned used = 0;
	int n = 0, id, rc = 0;

	memset(pmc, 0, 16 * sizeof(*pmc));
	while (events[n] && (rc = unc_session_add(s, events[n], &id)) == 0)
		n++;
	if (rc == 0) {
		start(s);
		CU_ASSERT_EQUAL(unc_session_plan(s, UNC_PHASE_START, note_pmc, pmc), 0);
		step(p, 100 * ms);
		for (int i = 0; i < n; i++)
			if (count_of(s, i) == 0) {
				printf("# %s counts nothing\n", events[i]);
				CU_FAIL("an event counts nothing");
			}
		for (unsigned c = 4; c < 16; c++) {
			used += pmc[c] != 0;
			CU_ASSERT(!pmc[c] || right_counter(pmc[c], c));
		}
		CHECK_NUMBER(used, n);
		CU_ASSERT(right_together(pmc));
		check_quiet(p);
		CU_ASSERT_EQUAL(unc_session_stop(s), 0);
	}
	unc_session_free(s);
	return rc;
}

#define SIX_OUTSIDE                                                                                \
	"l3.L3_MISSES", "er0.ER_BRQ_REQ_INSERTED", "si0.SI_CYCLES", "bus0.BUS_ALL:ANY",            \
		"bus0.BUS_ALL:SELF", "core0.L2I_READS:ALL_ALL"
#define SIX_ANYWHERE                                                                               \
	"core0.IA64_INST_RETIRED", "core0.IA64_INST_RETIRED:thresh=1",                             \
		"core0.IA64_INST_RETIRED:thresh=2", "core0.NOPS_RETIRED", "core0.DISP_STALLED",    \
		"core0.CPU_OP_CYCLES"
#define READS "core0.L2D_REFERENCES:READS"
#define WRITES "core0.L2D_REFERENCES:WRITES"
#define CANCELS "core0.L2D_OZQ_CANCELS0:RECIRC" /* set 0, unit mask 0, and so are the next two */
#define CANCELS_ANY "core0.L2D_OZQ_CANCELS1:ANY"
#define OZQ_FULL "core0.L2D_OZQ_FULL"
#define INT_LOAD "core0.L2D_OPS_ISSUED:INT_LOAD" /* set 7, unit mask 0 */
#define FILLB_FULL "core0.L2D_FILLB_FULL"
#define BANK_CONF "core0.L2D_OZQ_CANCELS0:BANK_CONF" /* set 0, unit mask 8 */
#define OZDB_FULL "core0.L2D_OZDB_FULL"              /* set 3 */
#define CYCLES_HALTED "core0.CYCLES_HALTED"
#define L1D_SET0 "core0.L1D_READS_SET0"
#define L1D_SET1 "core0.L1D_READS_SET1"

static const struct {
	bool fits;
	const char *event[16];
} sets[] = {
	/* 3.2: six at most of what counts on 4 to 9 only, in whatever view; six others beside */
	{true, {SIX_OUTSIDE}},
	{true, {SIX_OUTSIDE, SIX_ANYWHERE}},
	{true, {SIX_ANYWHERE, SIX_OUTSIDE}},
	{false, {SIX_OUTSIDE, "si0.SI_RQ_INSERTS:SELF"}},
	{false, {SIX_OUTSIDE, "l3.L3_REFERENCES"}},
	{false, {SIX_OUTSIDE, "core0.L2D_MISSES"}},
	{false, {SIX_OUTSIDE, READS}},
	{false, {SIX_OUTSIDE, L1D_SET0}},                              /* PMC5 is taken */
	{false, {SIX_OUTSIDE, SIX_ANYWHERE, "core0.BE_FLUSH_BUBBLE"}}, /* thirteen */
	/* `all` on 4 to 9 only; CYCLES_HALTED on 10 */
	{true, {"core0.CPU_OP_CYCLES:all=1", "core0.CPU_OP_CYCLES"}},
	{false, {SIX_OUTSIDE, "core0.CPU_OP_CYCLES:all=1"}},
	{true, {SIX_OUTSIDE, "core0.IA64_INST_RETIRED", CYCLES_HALTED}},
	{false, {CYCLES_HALTED, CYCLES_HALTED ":plm=8"}},
	/* 4.8: the L1D, one set at a time, on any counter beside PMC5 */
	{true, {L1D_SET0}},
	{true, {"core0.IA64_INST_RETIRED", "bus0.BUS_ALL:ANY", L1D_SET0}},
	{true,
	 {L1D_SET0, "core0.DATA_REFERENCES_SET0", "core0.L2DTLB_MISSES", "core0.L1DTLB_TRANSFER"}},
	{true, {"core0.LOADS_RETIRED", "core0.UC_LOADS_RETIRED", "core0.LOADS_RETIRED:thresh=1"}},
	{false, {L1D_SET0, L1D_SET1}},
	{false, {"core0.LOADS_RETIRED", "core0.STORES_RETIRED"}},             /* 3 and 4 */
	{false, {"core0.BE_L1D_FPU_BUBBLE:L1D", "core0.LOADS_RETIRED_INTG"}}, /* 2 and 6 */
	/* 4.10: the L2D in two lanes, one set and one unit mask in each */
	{true, {READS}},
	{true, {READS, WRITES}},
	{true, {READS, WRITES, READS ":thresh=1"}},
	{false, {READS, WRITES, "core0.L2D_REFERENCES:ALL"}},
	{true, {READS, READS ":all=1"}},
	{false, {READS, READS ":all=1", WRITES}},
	{true, {CANCELS, CANCELS_ANY, OZQ_FULL}},
	{true, {"core0.L2D_OZQ_FULL:CODE_E3", CANCELS, CANCELS_ANY}},
	{true,
	 {CANCELS, INT_LOAD, CANCELS_ANY, FILLB_FULL, OZQ_FULL, INT_LOAD ":thresh=1"}}, /* 3 + 3 */
	{true,
	 {CANCELS, CANCELS_ANY, OZQ_FULL, CANCELS ":thresh=1", CANCELS_ANY ":thresh=1",
	  OZQ_FULL ":plm=8"}}, /* one set in both */
	{false, {CANCELS, CANCELS_ANY, OZQ_FULL, CANCELS ":thresh=1", INT_LOAD}},
	{true, {CANCELS, BANK_CONF}},
	{false, {CANCELS, BANK_CONF, INT_LOAD}}, /* two sets, but three of set and mask */
	{false, {CANCELS, INT_LOAD, OZDB_FULL}}, /* three sets */
	{false, {"core0.L2D_FILL_MESI_STATE:M", CANCELS, "core0.L2D_OZQ_ACQUIRE"}}, /* 8, 0 and 6 */
	/* The L2D's events without a set, and others, share the lanes. */
	{true,
	 {READS, WRITES, "core0.L2D_MISSES", "core0.L2D_INSERT_HITS", "core0.L2D_INSERT_MISSES",
	  "l3.L3_MISSES"}},
	/* The L1D on PMC5 in the lane of 4: two of the L2D beside it */
	{true, {L1D_SET0, READS, WRITES}},
	{true, {L1D_SET0, CANCELS, CANCELS_ANY, INT_LOAD, FILLB_FULL, INT_LOAD ":thresh=1"}},
	{false,
	 {L1D_SET0, CANCELS, CANCELS_ANY, OZQ_FULL, INT_LOAD, FILLB_FULL, INT_LOAD ":thresh=1"}},
};

static void sets_of_events(void)
{
	struct unc_platform *p = machine(MONT);
	uint64_t pmc[16];

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		int rc = count_set(p, sets[i].event, pmc);
		int want = sets[i].fits ? 0 : UNC_ERR_CONFLICT;

		if (rc != want)
			printf("# set %zu, %s: %s\n", i, sets[i].event[0], unc_error_name(rc));
		CU_ASSERT_EQUAL(rc, want);
	}
	unc_platform_close(p);
}

static void counters_of_leads(void)
{
	struct unc_platform *p = machine(MONT);
	uint64_t pmc[16];

	CHECK_NUMBER(count_set(p, (const char *[]){READS, WRITES, NULL}, pmc), 0);
	CHECK_NUMBER(pmc[4] >> 8 & 0xff, 0xe6);
	CHECK_NUMBER(pmc[6] >> 8 & 0xff, 0xe6);
	CHECK_NUMBER((pmc[4] ^ pmc[6]) >> 16 & 0xf, 3); /* one has 1, the other 2 */
	CHECK_NUMBER(count_set(p, (const char *[]){SIX_OUTSIDE, CYCLES_HALTED, NULL}, pmc), 0);
	CHECK_NUMBER(pmc[10], CONTROL(0x18, 0));
	CHECK_NUMBER(count_set(p, (const char *[]){L1D_SET0, NULL}, pmc), 0);
	CHECK_NUMBER(pmc[5], CONTROL(0xc2, 0));
	/* Table 3-6: without a filter all states of a line count. */
	CHECK_NUMBER(count_set(p, (const char *[]){"l3.L3_LINES_REPLACED", NULL}, pmc), 0);
	CHECK_NUMBER(pmc[9], CONTROL(0xdf, 0) | 0xf << 27);
	unc_platform_close(p);
}

/* Who counts beside on the thread sees no follower without its lead, at no moment. */
static void lanes_with_a_neighbour(void)
{
	static const char *const beside[][4] = {
		{L1D_SET0, "core0.L2DTLB_MISSES"}, {OZQ_FULL, CANCELS_ANY, CANCELS}, {READS}};
	struct unc_platform *p = machine(MONT);
	struct unc_session *s = session(p, 0);
	uint64_t pmc[16];

	for (unsigned socket = 0; socket < 2; socket++) /* one lane is left */
		unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "core", 0, socket, "PMC4"),
			      CONTROL(CYCLES, 0));
	for (unsigned i = 0; i < 3; i++)
		CHECK_NUMBER(count_set(p, beside[i], pmc), 0);
	CHECK_COUNT(get(p, 0, "PMD4"), 300e-3 * cycles_per_second, 1);
	/* Two lanes are not left. */
	add(s, READS);
	add(s, WRITES);
	CHECK_NUMBER(unc_session_start(s), UNC_ERR_BUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(s), "counter 4 of core0"));
	for (unsigned socket = 0; socket < 2; socket++)
		unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "core", 0, socket, "PMC4"), 0);
	CHECK_NUMBER(unc_session_start(s), 0);
	check_quiet(p);
	unc_session_free(s);
	unc_platform_close(p);
}

/* What does not fit at once is counted in turn: three sets of the L2D, two of the L1D. */
static void passes(void)
{
	static const char *const events[] = {CANCELS, INT_LOAD, OZDB_FULL, L1D_SET0, L1D_SET1};
	struct unc_platform *p = machine(MONT);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);

	for (int i = 0; i < 5; i++)
		add(s, events[i]);
	CHECK_NUMBER(unc_session_passes(s), 2);
	start(s);
	for (int i = 0; i < 4; i++) {
		step(p, 100 * ms);
		count_of(s, 0);
		CU_ASSERT_EQUAL(turn_pass(s), 0);
	}
	for (int i = 0; i < 5; i++) {
		struct unc_value v = value_of(s, i);

		CU_ASSERT((v.flags & UNC_VALUE_VALID) && v.count > 0);
		CHECK_NEAR(v.seconds, 0.2, 1e-9);
		CHECK_NEAR(v.share, 0.5, 1e-9);
	}
	/* OzQ issues of integer loads: 20e6 a second and thread (workload.tbl), two sockets; half
	 * of the time measured, scaled to all of it. */
	CHECK_COUNT(count_of(s, 1), 2 * 0.4 * 20e6, 8);
	check_quiet(p);
	unc_session_free(s);
	unc_platform_close(p);
}

/* 3.3.1: a counter whose control has no privilege level does not keep its value. So where others
 * count on, too, the last look comes before the control is restored. */
static void last_look(void)
{
	struct unc_platform *p = machine(MONT);
	struct unc_session *s = session(p, 0);
	int id = add(s, "core0.NOPS_RETIRED:socket=0");
	double rate;

	start(s);
	step(p, 100 * ms);
	rate = (double)count_of(s, id) * 10;
	step(p, 100 * ms);
	CU_ASSERT(unc_session_stop(s) == 0);
	CU_ASSERT(rate > 0);
	CHECK_COUNT(count_of(s, id), 0.2 * rate + 1, 2);
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- the allocator against an exhaustive search */

static const char *const pool[] = {
	"core.L2D_OZQ_CANCELS0:RECIRC",
	"core.L2D_OZQ_CANCELS0:ACQ",
	"core.L2D_OZQ_CANCELS1:ANY",
	"core.L2D_OZQ_FULL",
	"core.L2D_OZQ_FULL:CODE_E3",
	"core.L2D_BYPASS:L2_DATA1",
	"core.L2D_OZQ_RELEASE",
	"core.L2D_REFERENCES:READS",
	"core.L2D_REFERENCES:WRITES",
	"core.L2D_REFERENCES:READS:all=1",
	"core.L2D_REFERENCES:READS:thresh=1",
	"core.L2D_OPS_ISSUED:INT_LOAD",
	"core.L2D_FILLB_FULL",
	"core.L2D_FILL_MESI_STATE:M",
	"core.L2D_VICTIMB_FULL",
	"core.L2D_MISSES",
	"core.L2D_INSERT_HITS",
	"core.L1D_READS_SET0",
	"core.DATA_REFERENCES_SET0",
	"core.L2DTLB_MISSES",
	"core.L1DTLB_TRANSFER",
	"core.L1D_READS_SET0:thresh=1",
	"core.DATA_REFERENCES_SET0:thresh=2",
	"core.L1D_READS_SET1",
	"core.L1D_READ_MISSES:ALL",
	"core.LOADS_RETIRED",
	"core.STORES_RETIRED",
	"core.BE_L1D_FPU_BUBBLE:L1D",
	"core.SPEC_LOADS_NATTED:ALL",
	"l3.L3_MISSES",
	"l3.L3_READS:ALL_ALL",
	"er.ER_BRQ_REQ_INSERTED",
	"si.SI_CYCLES",
	"bus.BUS_ALL:ANY",
	"core.L1I_FILLS",
	"core.L2I_READS:ALL_ALL",
	"core.CPU_OP_CYCLES",
	"core.CPU_OP_CYCLES:all=1",
	"core.IA64_INST_RETIRED",
	"core.NOPS_RETIRED",
	"core.DATA_DEBUG_REGISTER_MATCHES",
	"core.CYCLES_HALTED",
	"core.CYCLES_HALTED:plm=8",
};
enum { POOL = sizeof(pool) / sizeof(pool[0]), MOST = 8, SETS = 300, ALL_SETS = 1500 };

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Half of the sets are of a stretch of the pool, whose events are of a kind. */
static size_t random_set(const struct unc_code *all, const struct unc_code **code, uint32_t *state)
{
	size_t n = 2 + next_random(state) % (MOST - 1), first = next_random(state) % POOL;
	size_t span = next_random(state) & 1 ? POOL : 12;
	bool taken[POOL] = {false};

	for (size_t i = 0; i < n;) {
		size_t k = (first + next_random(state) % span) % POOL;

		if (!taken[k])
			code[i++] = &all[k];
		taken[k] = true;
	}
	return n;
}

/* Compares the answers for one set; true if it fits. */
static bool compare_set(const struct unc_table *t, const struct unc_code *const *code, size_t n,
			uint32_t busy)
{
	uint64_t control[MOST], pmc[16] = {0};
	struct unc_conflict conflict;
	uint8_t counter[MOST];
	bool fits, want;

	fits = unc_schedule(t, code, n, busy, counter, &conflict) == 0;
	for (size_t i = 0; i < n; i++)
		control[i] = code[i]->ctl;
	qsort(control, n, sizeof(control[0]), compare_ways);
	want = search(pmc, control, n, busy);
	if (fits != want)
		for (size_t i = 0; i < n; i++)
			printf("# %s: 0x%llx, busy 0x%x\n", fits ? "fits" : "does not fit",
			       (unsigned long long)code[i]->ctl, busy);
	CU_ASSERT_EQUAL(fits, want);
	for (size_t i = 0; fits && i < n; i++) {
		CU_ASSERT_FATAL(counter[i] >= 4 && counter[i] < 16);
		CU_ASSERT(right_counter(code[i]->ctl, counter[i]));
		CU_ASSERT(!pmc[counter[i]] && !(busy >> counter[i] & 1));
		pmc[counter[i]] = code[i]->ctl;
	}
	CU_ASSERT(right_together(pmc));
	return want;
}

static void exhaustive(void)
{
	struct unc_code all[POOL];
	const struct unc_code *code[MOST];
	struct unc_platform *p = machine(MONT);
	unsigned fit = 0, most = kinds_all() ? ALL_SETS : SETS;
	uint32_t state = 308065;

	for (size_t i = 0; i < POOL; i++) {
		struct unc_error err = {0};
		struct unc_spec spec;

		CHECK_NUMBER(unc_spec_parse(p->table, pool[i], &spec, &err), 0);
		CHECK_NUMBER(unc_spec_encode(p->table, &spec, 0, 2, &all[i], &err), 0);
		CHECK_TEXT(err.text, "");
	}
	for (unsigned i = 0; i < most; i++) {
		size_t n = random_set(all, code, &state);
		/* A third of the sets find two counters in use. */
		uint32_t busy = i % 3 ? 0
				      : 1u << (4 + next_random(&state) % 12) |
						1u << (4 + next_random(&state) % 12);

		fit += compare_set(p->table, code, n, busy);
	}
	printf("# %u of %u sets fit\n", fit, most);
	CU_ASSERT(fit > most / 10 && fit < most * 9 / 10);
	unc_platform_close(p);
}

/* Each thread has counters of its own, and both threads of a core count what the other does too, if
 * they are asked to: that is told by one of them. */
static void threads(void)
{
	struct unc_platform *p = machine(MONT);
	struct unc_session *s = session(p, 0);
	int own = add(s, "core.L2D_MISSES"), both = add(s, "core.L2D_REFERENCES:READS:all=1"),
	    named = add(s, "core1.L2D_REFERENCES:READS:all=1:socket=0");
	unsigned units = 0;

	for (size_t i = 0; i < p->instances.n; i++)
		units += strcmp(unc_tbl_str(p->table,
					    p->table->type[p->instances.unit[i].type].name),
				"core") == 0;
	CU_ASSERT(units > 0 && units % 2 == 0);
	start(s);
	step(p, ms);
	CHECK_NUMBER(value_of(s, own).units, units);
	CHECK_NUMBER(value_of(s, own).of, units);
	CHECK_NUMBER(value_of(s, both).units, units / 2);
	CHECK_NUMBER(value_of(s, both).of, units / 2);
	CHECK_NUMBER(value_of(s, named).units, 1);
	unc_session_free(s);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"sets of events that fit and that do not", sets_of_events},
		{"what counts on one counter only", counters_of_leads},
		{"lanes beside a neighbour", lanes_with_a_neighbour},
		{"in turn", passes},
		{"what each thread counts, and what both do", threads},
		{"the last look of who leaves", last_look},
		{"the allocator against an exhaustive search", exhaustive},
		{NULL, NULL},
	};

	return suite_run("montecito", tests);
}
