/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler on made-up events: which sets fit, what a conflict names; what a plan restores. */
#include "built.h"
#include "units/held.h"
#include "units/held.h"
#include "suite.h"
#include "tables/table.h"

static struct unc_code on(uint32_t counters)
{
	return (struct unc_code){.counter = UNC_NONE, .counters = counters};
}

static struct unc_code filtered(uint32_t counters, uint16_t reg, uint64_t value, uint64_t mask)
{
	struct unc_code c = on(counters);

	c.filter[0] = (struct unc_code_filter){reg, value, mask};
	c.n_filters = 1;
	return c;
}

/* Codes of type 0 to 3 without lanes. */
static const struct unc_tbl_type types[4] = {{0}};
static const struct unc_tbl_reg regs[64] = {{0}};
static const struct unc_table table = {.type = types, .n_type = 4, .reg = regs, .n_reg = 64};

static const struct unc_table *table_of(const char *cpu)
{
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(unc_tbl_str(all[i], all[i]->name), cpu) == 0)
			return all[i];
	return NULL;
}

static const struct unc_table *snb(void)
{
	return table_of("sandybridge-ep");
}

static int schedule(const struct unc_code *codes, size_t n, uint32_t busy, uint8_t *counter,
		    struct unc_conflict *conflict)
{
	const struct unc_code *list[UNC_MAX_CODES];

	for (size_t i = 0; i < n; i++)
		list[i] = &codes[i];
	return unc_schedule(&table, list, n, busy, counter, conflict);
}

/* The counters of an event are the highest that all together can have, in whatever order they come;
 * the first of several that may have one gets it, as long as none has to make room. */
static void from_the_top(void)
{
	static const struct {
		const char *what;
		uint32_t allowed[4];
		uint32_t busy;
		uint8_t counter[4];
		uint32_t doubtful[4];
	} rows[] = {
		{"one goes to the top", {0xf}, 0, {3}, {0}},
		{"the first is highest", {0xf, 0xf, 0xf}, 0, {3, 2, 1}, {0}},
		{"and where it is busy below it", {0xf, 0xf}, 0x8, {2, 1}, {0}},
		{"the first makes room for the last", {0xf, 0xf, 0x8}, 0, {1, 2, 3}, {0}},
		{"who may have little, first", {0x8, 0xf, 0xf}, 0, {3, 2, 1}, {0}},
		{"makes room for two", {0xf, 0x3, 0x1, 0xc}, 0, {3, 1, 0, 2}, {0}},
		{"no lower one than needed", {0xc, 0x9}, 0, {2, 3}, {0}},
		{"a chain of three", {0xc, 0x6, 0x8}, 0, {2, 1, 3}, {0}},
		{"the lowest is left out", {0x7, 0x7, 0x3}, 0, {2, 1, 0}, {0}},
		{"counters from 4 on", {0xfff0, 0x3f0, 0x10}, 0, {15, 9, 4}, {0}},
		{"up to 31", {0xc0000000, 0x80000000}, 0, {30, 31}, {0}},
		{"what all sources allow, first", {0xf, 0xf}, 0, {0, 3}, {0xe}},
		{"but no event is left out for it", {0xf, 0xf}, 0, {0, 3}, {0xe, 0xe}},
		{"and it makes room where it must", {0xf, 0x1}, 0, {3, 0}, {0xe}},
		{"and goes on where that is busy", {0xf}, 0x1, {3}, {0xe}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_conflict conflict;
		struct unc_code codes[4];
		uint8_t counter[4];
		size_t n = 0;

		for (; n < 4 && rows[i].allowed[n]; n++) {
			codes[n] = on(rows[i].allowed[n]);
			codes[n].doubtful = rows[i].doubtful[n];
		}
		CHECK_NUMBER(schedule(codes, n, rows[i].busy, counter, &conflict), 0);
		for (size_t k = 0; k < n; k++) {
			if (counter[k] != rows[i].counter[k])
				printf("# %s: event %zu\n", rows[i].what, k);
			CHECK_NUMBER(counter[k], rows[i].counter[k]);
		}
	}
}

/* The highest set of counters that events i and further can have beside those taken; 0: none. */
static uint32_t highest(const uint32_t *allowed, size_t i, size_t n, uint32_t taken)
{
	uint32_t best = 0;

	if (i == n)
		return taken;
	for (unsigned c = 0; c < 6; c++) {
		uint32_t bit = (uint32_t)1 << c, with = 0;

		if (allowed[i] & ~taken & bit)
			with = highest(allowed, i + 1, n, taken | bit);
		best = with > best ? with : best;
	}
	return best;
}

/* The same, against every assignment there is: four events on six counters. */
static void every_assignment(void)
{
	uint32_t state = 327043;
	unsigned fit = 0;

	for (unsigned round = 0; round < 2000; round++) {
		struct unc_conflict conflict;
		struct unc_code codes[4];
		uint32_t allowed[4], taken = 0;
		uint8_t counter[4];

		for (unsigned i = 0; i < 4; i++) {
			state = state * 1664525 + 1013904223;
			allowed[i] = (state >> 8 & state >> 14 & state >> 20 & 0x3f) |
				     1u << (state >> 27) % 4;
			codes[i] = on(allowed[i]);
		}
		if (schedule(codes, 4, 0, counter, &conflict) == 0)
			for (unsigned i = 0; i < 4; i++) {
				CU_ASSERT(allowed[i] & ~taken & 1u << counter[i]);
				taken |= 1u << counter[i];
			}
		CHECK_NUMBER(taken, highest(allowed, 0, 4, 0));
		for (unsigned i = 0; i < 4; i++)
			codes[i].doubtful = allowed[i] & state >> (i + 3);
		CHECK_NUMBER(schedule(codes, 4, 0, counter, &conflict) == 0, taken != 0);
		fit += taken != 0;
	}
	printf("# %u of 2000 fit\n", fit);
	CU_ASSERT(fit > 200 && fit < 1800);
}

static void same_counter(void)
{
	struct unc_code codes[] = {on(0xf), on(0x1), on(0x1)};
	struct unc_conflict conflict;
	uint8_t counter[3];

	CU_ASSERT_EQUAL(schedule(codes, 3, 0, counter, &conflict), UNC_ERR_CONFLICT);
	CHECK_NUMBER(conflict.kind, UNC_CONFLICT_COUNTER);
	CHECK_NUMBER(conflict.a, 1);
	CHECK_NUMBER(conflict.b, 2);
}

static void too_many(void)
{
	struct unc_code codes[] = {on(0xf), on(0xf), on(0xf), on(0xf), on(0xf)};
	struct unc_conflict conflict;
	uint8_t counter[5];

	CHECK_NUMBER(schedule(codes, 4, 0, counter, &conflict), 0);
	CU_ASSERT_EQUAL(schedule(codes, 5, 0, counter, &conflict), UNC_ERR_CONFLICT);
	CHECK_NUMBER(conflict.b, 4);
}

static void busy_counters(void)
{
	struct unc_code codes[] = {on(0xf), on(0x1)};
	struct unc_conflict conflict;
	uint8_t counter[2];

	CHECK_NUMBER(schedule(codes, 1, 0x7, counter, &conflict), 0);
	CHECK_NUMBER(counter[0], 3);
	CU_ASSERT_EQUAL(schedule(codes, 2, 0x1, counter, &conflict), UNC_ERR_CONFLICT);
	CHECK_NUMBER(conflict.a, 1);
	CHECK_NUMBER(conflict.b, 1);
}

static void fixed_needs_none(void)
{
	struct unc_code codes[] = {on(0x1), on(0)};
	struct unc_conflict conflict;
	uint8_t counter[2];

	codes[1].counter = 0;
	CHECK_NUMBER(schedule(codes, 2, 0, counter, &conflict), 0);
	CHECK_NUMBER(schedule(codes, 2, 0xe, counter, &conflict), 0);
}

static void filters(void)
{
	/* Different bits of one register agree, the same bits with the same value agree. */
	struct unc_code good[] = {filtered(0xf, 7, 0x182ull << 23, 0x1ffull << 23),
				  filtered(0xf, 7, 0x2ull << 10, 0xffull << 10),
				  filtered(0xf, 7, 0x182ull << 23, 0x1ffull << 23)};
	struct unc_code bad[] = {on(0xf), filtered(0xf, 7, 0x180ull << 23, 0x1ffull << 23),
				 good[0]};
	struct unc_conflict conflict;
	uint8_t counter[3];

	CHECK_NUMBER(schedule(good, 3, 0, counter, &conflict), 0);
	CU_ASSERT_EQUAL(schedule(bad, 3, 0, counter, &conflict), UNC_ERR_CONFLICT);
	CHECK_NUMBER(conflict.kind, UNC_CONFLICT_FILTER);
	CHECK_NUMBER(conflict.a, 1);
	CHECK_NUMBER(conflict.b, 2);
	CHECK_NUMBER(conflict.reg, 7);
}

/* As M3UPI: mesh events (codes from 0x80) and its own are not counted together. */
static void kinds(void)
{
	struct unc_code codes[] = {on(0xf), on(0xf), on(0xf)};
	struct unc_conflict conflict;
	uint8_t counter[3];

	for (unsigned i = 0; i < 3; i++)
		codes[i].exclusive = 0x80;
	codes[0].ctl = 0x40;
	codes[1].ctl = 0x5e;
	codes[2].ctl = 0xa6;
	CHECK_NUMBER(schedule(codes, 2, 0, counter, &conflict), 0);
	CU_ASSERT_EQUAL(schedule(codes, 3, 0, counter, &conflict), UNC_ERR_CONFLICT);
	CHECK_NUMBER(conflict.kind, UNC_CONFLICT_KIND);
	CHECK_NUMBER(conflict.b, 2);
	CHECK_NUMBER(unc_schedule_passes(&table, codes, 3), 2);
}

static void passes(void)
{
	struct unc_code codes[] = {on(0x1), on(0x1), on(0x2), on(0xf)};

	codes[1].ctl = 1; /* a different event on the same counter */
	codes[2].ctl = 2;
	codes[3].ctl = 3;
	CHECK_NUMBER(unc_schedule_passes(&table, codes, 1), 1);
	CHECK_NUMBER(unc_schedule_passes(&table, codes, 4), 2);
	codes[1].type = 1; /* another unit type has counters of its own */
	CHECK_NUMBER(unc_schedule_passes(&table, codes, 4), 1);
	codes[1] = codes[0]; /* the same event twice is one */
	CHECK_NUMBER(unc_schedule_passes(&table, codes, 4), 1);
}

/*
 * A control found with reserved bits set (of a foreign program, or read-only ones) must not make
 * the gate refuse the whole stop: only the bits that software may write are restored. iMC PMON_CTL,
 * Intel 327043-001: thresh 31:24, inv 23, en 22, edge 18, umask 15:8, ev_sel 7:0.
 */
static void restores_ours_only(void)
{
	const struct unc_table *t = snb();
	struct unc_error err = {0};
	struct unc_instance imc;
	struct unc_plan plan = {0};
	size_t n = 0;

	unc_instance_nominal(t, unc_find_type(t, "imc"), 0, &imc);
	struct unc_setting control = {
		.reg = t->type[imc.type].first_ctl, .value = 0x400304, .restore = 0xffbfffff};
	struct unc_held held = {.setting = &control, .n_controls = 1};
	struct unc_set set = {.unit = &imc, .held = &held};

	CHECK_NUMBER(unc_plan_steps(t, &set, UNC_STOP, &plan, &err), 0);
	for (size_t i = 0; i < plan.n; i++)
		if (plan.tag[i].reg == control.reg) {
			CHECK_NUMBER(plan.op[i].value, 0xff84ffff);
			n++;
		}
	CHECK_NUMBER(n, 1);
	unc_plan_free(&plan);
}

/* A unit on which somebody else counts is not let go. 327043-001, table 2-8: frz_en 16. */
static void lets_ours_go(void)
{
	const struct unc_table *t = snb();
	struct unc_error err = {0};
	struct unc_instance cbo[2];
	struct unc_plan plan = {0};

	unc_instance_nominal(t, unc_find_type(t, "cbo"), 0, &cbo[0]);
	unc_instance_nominal(t, unc_find_type(t, "cbo"), 1, &cbo[1]);
	struct unc_held held = {.n_controls = 1};
	const struct unc_set set[] = {{.unit = &cbo[0], .held = &held, .shared = true},
				      {.unit = &cbo[1], .held = &held}};

	for (int i = 0; i < 2; i++)
		CHECK_NUMBER(unc_plan_steps(t, &set[i], UNC_LET_GO, &plan, &err), 0);
	CU_ASSERT_EQUAL_FATAL(plan.n, 1);
	CU_ASSERT(plan.tag[0].instance == &cbo[1]);
	CHECK_NUMBER(plan.op[0].value, 0x10000);
	unc_plan_free(&plan);
}

/* COUNTER0_OCCUPANCY shows the occupancy in counter 0 (327043-001, table 2-14: 0x1F). */
static void follows(void)
{
	static const char *const names[] = {"cbo.COUNTER0_OCCUPANCY:thresh=1", "cbo.TOR_OCCUPANCY",
					    "cbo.CLOCKTICKS", "cbo.LLC_VICTIMS:M_STATE"};
	const struct unc_table *t = snb();
	const struct unc_code *list[4];
	struct unc_conflict conflict;
	struct unc_code code[4];
	uint8_t counter[4];
	char text[200];

	for (size_t i = 0; i < 4; i++) {
		struct unc_error err = {0};
		struct unc_spec spec;

		CU_ASSERT_EQUAL_FATAL(unc_spec_parse(t, names[i], &spec, &err), 0);
		CU_ASSERT_EQUAL_FATAL(unc_spec_encode(t, &spec, 0, 2, &code[i], &err), 0);
		list[i] = &code[i];
	}
	CU_ASSERT(unc_schedule_follows(t, &code[0], NULL));
	CU_ASSERT(unc_schedule_follows(t, &code[0], &code[1]));
	CU_ASSERT(!unc_schedule_follows(t, &code[0], &code[2]));
	CU_ASSERT(!unc_schedule_follows(t, &code[1], NULL));
	/* In whatever order: with the occupancy on counter 0 it fits, without it not. */
	CHECK_NUMBER(unc_schedule(t, list, 4, 0, counter, &conflict), 0);
	CHECK_NUMBER(counter[1], 0);
	CU_ASSERT(counter[0] >= 1);
	CHECK_NUMBER(unc_schedule(t, list, 1, 0, counter, &conflict), UNC_ERR_CONFLICT);
	CHECK_NUMBER(conflict.kind, UNC_CONFLICT_FOLLOWS);
	CHECK_NUMBER(conflict.a, 0);
	list[1] = &code[2];
	CHECK_NUMBER(unc_schedule(t, list, 2, 0, counter, &conflict), UNC_ERR_CONFLICT);
	CHECK_NUMBER(conflict.kind, UNC_CONFLICT_FOLLOWS);
	/* Counter 0 taken by somebody else: what is counted there may change. */
	list[1] = &code[1];
	CHECK_NUMBER(unc_schedule(t, list, 2, 0x1, counter, &conflict), UNC_ERR_CONFLICT);
	unc_schedule_leads(t, &code[0], text, sizeof(text));
	CHECK_TEXT(text, "one of RxR_OCCUPANCY, TOR_OCCUPANCY on counter 0");
}

/* The neutral value of a filter and a band of another event do not go together. */
static void neutral(void)
{
	static const char *const names[] = {"pcu.DEMOTIONS_CORE0", "pcu.FREQ_BAND0_CYCLES:band0=20",
					    "pcu.FREQ_BAND1_CYCLES:band1=20"};
	const struct unc_table *t = snb();
	struct unc_conflict conflict;
	struct unc_code code[3];
	uint8_t counter[3];

	for (size_t i = 0; i < 3; i++) {
		struct unc_error err = {0};
		struct unc_spec spec;

		CU_ASSERT_EQUAL_FATAL(unc_spec_parse(t, names[i], &spec, &err), 0);
		CU_ASSERT_EQUAL_FATAL(unc_spec_encode(t, &spec, 0, 2, &code[i], &err), 0);
	}
	const struct unc_code *both[] = {&code[0], &code[1]}, *other[] = {&code[0], &code[2]};

	CHECK_NUMBER(unc_schedule(t, both, 2, 0, counter, &conflict), UNC_ERR_CONFLICT);
	CHECK_NUMBER(conflict.kind, UNC_CONFLICT_FILTER);
	CHECK_TEXT(unc_tbl_str(t, t->reg[conflict.reg].name), "BOX_FILTER");
	CHECK_NUMBER(unc_schedule(t, other, 2, 0, counter, &conflict), 0);
	CHECK_NUMBER(unc_schedule_passes(t, code, 2), 2);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"counters from the top", from_the_top},
		{"no higher ones are left", every_assignment},
		{"two events of one counter conflict, and are named", same_counter},
		{"more events than counters conflict", too_many},
		{"busy counters are not used", busy_counters},
		{"fixed counters need no programmable one", fixed_needs_none},
		{"filters agree or conflict by their bits", filters},
		{"two kinds of events exclude each other", kinds},
		{"passes are counted per unit type", passes},
		{"reserved bits found are not restored", restores_ours_only},
		{"a shared unit is not let go", lets_ours_go},
		{"an event that shows what another one counts", follows},
		{"what is left neutral is not free for others", neutral},
		{NULL, NULL},
	};

	return suite_run("schedule", tests);
}
