/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated Montecito against what the document says of the monitor (Intel 308065-001; sections
 * and tables below are its own): 47 bits, who sees what, freeze, overflow, modifiers, masks.
 */
#include <errno.h>

#include "access/access.h"
#include "machine/simulator.h"
#include "montecito_kit.h"

/* ---- a machine of which one thread may be lost */

static const struct unc_access_methods *model;
static bool lost; /* the monitor of the thread of CPU 0 cannot be used */

static int prepare(struct unc_backend *backend, struct unc_reg_op *op, struct unc_error *err)
{
	if (!lost || op->reg.space != UNC_SPACE_PMU || op->reg.target != 0)
		return model->prepare(backend, op, err);
	op->errno_value = EIO;
	return unc_fail(err, UNC_ERR_UNAVAILABLE, "the monitor of cpu 0 is lost");
}

/* Stands between the gate and the model. */
int unc_machine_simulated(const char *spec, const char *node, const struct unc_table *const *tables,
			  size_t n, struct unc_machine **out, struct unc_error *err)
{
	static struct unc_access_methods registers;
	static const struct unc_access_methods *const ways[] = {&registers, NULL};
	static struct unc_machine_methods methods;
	int rc = REAL(unc_machine_simulated)(spec, node, tables, n, out, err);

	if (rc < 0)
		return rc;
	model = (*out)->methods->access[0];
	registers = *model;
	registers.prepare = prepare;
	methods = *(*out)->methods;
	methods.access = ways;
	(*out)->methods = &methods;
	return 0;
}

/* ---- 47 bits (table 3-7) */

static void over_the_carry(void)
{
	struct unc_platform *p = machine(MONT);
	struct unc_session *s = session(p, 0);
	double seconds = 0;

	add(s, "core0.CPU_OP_CYCLES:socket=0");
	start(s);
	CHECK_NUMBER(get(p, 0, "PMC15"), CONTROL(CYCLES, 0));
	CHECK_NUMBER(get(p, 0, "PMD15"), (uint64_t)-1 << 46); /* bit 46 in bits 63:47 */
	/* From the upper half, where reads are negative, through the carry into the lower, and
	 * back. */
	for (int half = 0; half < 2; half++) {
		uint64_t top = get(p, 0, "PMD15") >> 46;

		while (get(p, 0, "PMD15") >> 46 == top && seconds < 1e6) {
			step(p, 1000000 * ms);
			seconds += 1000;
			CHECK_COUNT(count_of(s, 0), seconds * cycles_per_second, 1);
		}
		CHECK_NUMBER(get(p, 0, "PMD15") >> 46, half ? 0x3ffff : 0);
	}
	CU_ASSERT_EQUAL(unc_session_stop(s), 0);
	check_quiet(p);
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- who sees what: threads, cores, sockets */

static int note_unit(void *user, const struct unc_operation *op)
{
	*(unsigned *)user |= 1u << (op->socket * 4 + op->index);
	return 0;
}

/* Counts an event for a second; the threads that it is read on, as bits: socket * 4 + unit. */
static double count_second(struct unc_platform *p, const char *event, const char *rest,
			   const char *more, unsigned threads)
{
	struct unc_session *s = session(p, 0);
	char text[UNC_SPEC_MAX];
	unsigned read = 0;

	snprintf(text, sizeof(text), "%s%s%s", event, rest, more);
	add(s, text);
	start(s);
	CU_ASSERT_EQUAL(unc_session_plan(s, UNC_PHASE_READ, note_unit, &read), 0);
	if (read != threads)
		printf("# %s\n", text);
	CHECK_NUMBER(read, threads);
	step(p, 1000 * ms);
	double count = (double)count_of(s, 0);
	CU_ASSERT(count > 0);
	unc_session_free(s);
	return count;
}

/*
 * A core sees what it does itself (SELF), what both cores of its socket do (EITHER), what the I/O
 * agents do (IO) and all of the bus (ANY). What belongs to no thread is charged to the active one,
 * so both threads of a core are counted. All sockets are on one bus: SELF over all cores is EITHER
 * over the sockets, and with IO it is ANY.
 */
static void scopes(void)
{
	static const char *const events[] = {
		"bus.BUS_ALL:", "bus.BUS_RD_DATA:", "bus.BUS_MEMORY:ALL_", "bus.BUS_MEM_READ:BRL_",
		"bus.BUS_DATA_CYCLE:"};
	struct unc_platform *p = machine(MONT);
	const double error = 1e-6; /* counters show whole counts */

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		const char *e = events[i];
		double self = count_second(p, e, "SELF", "", 0xff);
		double io = count_second(p, e, "IO", "", 0x03);
		double any = self + io;

		CHECK_NEAR(count_second(p, e, "EITHER", "", 0x33), self, error);
		CHECK_NEAR(count_second(p, e, "ANY", "", 0x03), any, error);
		/* The second socket sees the same bus, and half of what the CPUs do is its own. */
		CHECK_NEAR(count_second(p, e, "ANY", ":socket=1", 0x30), any, error);
		CHECK_NEAR(count_second(p, e, "IO", ":socket=1", 0x30), io, error);
		CHECK_NEAR(count_second(p, e, "SELF", ":socket=1", 0xf0), self / 2, error);
		CHECK_NEAR(count_second(p, e, "EITHER", ":socket=1", 0x30), self / 2, error);
	}
	/* One thread of a core: half of what the core sees, an eighth of what eight threads do. */
	double self = count_second(p, "bus.BUS_ALL:SELF", "", "", 0xff);
	double io = count_second(p, "bus.BUS_ALL:IO", "", "", 0x03);
	CHECK_NEAR(count_second(p, "bus1.BUS_ALL:SELF:socket=0", "", "", 0x02), self / 8, error);
	CHECK_NEAR(count_second(p, "bus1.BUS_ALL:EITHER:socket=0", "", "", 0x02), self / 4, error);
	CHECK_NEAR(count_second(p, "bus3.BUS_ALL:ANY:socket=1", "", "", 0x80), (self + io) / 2,
		   error);
	/* The system interface of a socket, and its clock, which one core tells. */
	self = count_second(p, "si.SI_RQ_INSERTS:SELF", "", "", 0xff);
	CHECK_NEAR(count_second(p, "si.SI_RQ_INSERTS:EITHER", "", "", 0x33), self, error);
	CHECK_NEAR(count_second(p, "si.SI_CYCLES", "", "", 0x03), 533e6, error);
	/* The L3 of a core: each thread its own part, or one of them for both. */
	double l3 = count_second(p, "l3.L3_REFERENCES", "", "", 0xff);
	CHECK_NEAR(count_second(p, "l30.L3_REFERENCES:socket=0", "", "", 0x01), l3 / 8, error);
	CHECK_NEAR(count_second(p, "l30.L3_REFERENCES:socket=0", ":all=1", "", 0x01), l3 / 4,
		   error);
	/* `all`: one thread of each core counts for both. */
	CHECK_NEAR(count_second(p, "l3.L3_REFERENCES", ":all=1", "", 0x55), l3, error);
	self = count_second(p, "bus.BUS_ALL:SELF", "", "", 0xff);
	CHECK_NEAR(count_second(p, "bus.BUS_ALL:SELF", ":all=1", "", 0x55), self, error);
	CHECK_NEAR(count_second(p, "bus.BUS_ALL:EITHER", ":all=1", "", 0x11), self, error);
	CHECK_NEAR(count_second(p, "bus.BUS_ALL:ANY", ":all=1", "", 0x01), self + io, error);
	check_quiet(p);
	unc_platform_close(p);
}

/* A thread whose monitor cannot be read: what the other one of its core sees is a part. Where one
 * thread counts for all, another core tells. */
static void lost_thread(void)
{
	lost = true;
	struct unc_platform *p = machine(MONT);
	struct unc_session *s = session(p, 0);

	add(s, "si.SI_CYCLES");
	add(s, "bus.BUS_ALL:EITHER:socket=0");
	add(s, "bus.BUS_ALL:ANY:all=1");
	CHECK_NUMBER(strncmp(unc_session_partial(s, 0), "core0 (socket 0): ", 18), 0);
	CHECK_NUMBER(strncmp(unc_session_partial(s, 1), "core0 (socket 0): ", 18), 0);
	CHECK_TEXT(unc_session_partial(s, 2), "");
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
	lost = false;
}

/* ---- the model of the monitor, by its registers */

static void freeze_stops_all(void)
{
	struct unc_platform *p = machine(MONT);
	const uint64_t per_ms = 800000;

	for (unsigned n = 4; n < 16; n++)
		put(p, 0, numbered("PMC", n), CONTROL(CYCLES, 0));
	for (unsigned round = 1; round <= 2; round++) {
		put(p, 0, "PMC0", 0);
		step(p, ms);
		put(p, 0, "PMC0", 1); /* fr */
		step(p, ms);
		for (unsigned n = 4; n < 16; n++)
			CHECK_NUMBER(get(p, 0, numbered("PMD", n)), round * per_ms);
	}
	/* The other thread of the core has a monitor of its own. */
	put(p, 1, "PMC4", CONTROL(CYCLES, 0));
	step(p, ms);
	CHECK_NUMBER(get(p, 1, "PMD4"), per_ms);
	CHECK_NUMBER(get(p, 0, "PMD4"), 2 * per_ms);
	check_quiet(p);
	unc_platform_close(p);
}

static void privilege_levels(void)
{
	struct unc_platform *p = machine(MONT);

	put(p, 0, "PMC4", CONTROL(CYCLES, 0) & ~(uint64_t)LEVELS);
	put(p, 0, "PMC5", (CONTROL(CYCLES, 0) & ~(uint64_t)LEVELS) | 8);
	step(p, ms);
	CHECK_NUMBER(get(p, 0, "PMD4"), 0);
	CU_ASSERT(get(p, 0, "PMD5") > 0);
	unc_platform_close(p);
}

/*
 * Table 3-6: with a threshold n the counter counts clocks in which the event's value exceeds n. So
 * the counts for n = 0 to 5 add up to the plain count of an event of 6 a clock, and fall with n.
 * The simulated increments are geometric: each is the one before times the same q.
 */
static void thresholds(void)
{
	struct unc_platform *p = machine(MONT);
	struct unc_session *s = session(p, 0);
	double n[6], sum = 0;

	add(s, "core0.IA64_INST_RETIRED:socket=0");
	add(s, "core0.IA64_INST_RETIRED:thresh=1:socket=0");
	add(s, "core0.IA64_INST_RETIRED:thresh=2:socket=0");
	add(s, "core0.IA64_INST_RETIRED:thresh=3:socket=0");
	add(s, "core0.IA64_INST_RETIRED:thresh=4:socket=0");
	add(s, "core0.IA64_INST_RETIRED:thresh=5:socket=0");
	start(s);
	step(p, 1000 * ms);
	for (int i = 5; i > 0; i--)
		sum += n[i] = (double)count_of(s, i);
	n[0] = (double)count_of(s, 0) - sum; /* clocks with any */
	for (int i = 1; i < 6; i++)
		CU_ASSERT(n[i] > 0 && n[i] < n[i - 1]);
	CU_ASSERT(n[0] < 1.6e9);
	for (int i = 1; i < 6; i++)
		CHECK_NEAR(n[i] / n[i - 1], n[0] / 1.6e9, 1e-6);
	unc_session_free(s);

	/* Of two a clock at most: one more than 1 is two. */
	s = session(p, 0);
	add(s, "core0.L1D_READ_MISSES:ALL");
	add(s, "core0.L1D_READ_MISSES:ALL:thresh=1");
	start(s);
	step(p, 1000 * ms);
	CU_ASSERT(count_of(s, 1) > 0 && 2 * count_of(s, 1) <= count_of(s, 0));
	check_quiet(p);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Table 3-6, bits 30:27: lines in one of the states. The four add up to all lines. */
static void line_states(void)
{
	struct unc_platform *p = machine(MONT);
	struct unc_session *s = session(p, 0);

	add(s, "l3.L3_LINES_REPLACED");
	add(s, "l3.L3_LINES_REPLACED:mesi=M");
	add(s, "l3.L3_LINES_REPLACED:mesi=E");
	add(s, "l3.L3_LINES_REPLACED:mesi=S");
	add(s, "l3.L3_LINES_REPLACED:mesi=I");
	add(s, "l3.L3_LINES_REPLACED:mesi=0xc"); /* M and E */
	start(s);
	step(p, 1000 * ms);
	double m = (double)count_of(s, 1), e = (double)count_of(s, 2), all = (double)count_of(s, 0);
	CU_ASSERT(m > 0 && e > 0 && count_of(s, 3) > 0 && count_of(s, 4) > 0);
	CHECK_NEAR(m + e + (double)(count_of(s, 3) + count_of(s, 4)), all, 1e-6);
	CHECK_NEAR((double)count_of(s, 5), m + e, 1e-6);
	check_quiet(p);
	unc_session_free(s);
	unc_platform_close(p);
}

/* 3.3: what was captured is defined only while the monitor is frozen. */
static void captured_addresses(void)
{
	static const unsigned numbers[] = {32, 33, 34, 35, 36, 38, 39, 48, 55, 63};
	struct unc_platform *p = machine(MONT);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const char *name = numbered("PMD", numbers[i]);

		put(p, 0, "PMC0", 0);
		CHECK_NUMBER(get(p, 0, name), 0xdeaddeaddeaddead);
		CHECK_NUMBER(get(p, 1, name), 0xdeaddeaddeaddead);
		put(p, 0, "PMC0", 1);
		CU_ASSERT(get(p, 0, name) != 0xdeaddeaddeaddead);
		CHECK_NUMBER(get(p, 1, name), 0xdeaddeaddeaddead);
	}
	check_quiet(p);
	unc_platform_close(p);
}

/*
 * What software may write, with the ones that it must (tables 3-4 to 3-32; the masks of Linux,
 * arch/ia64/kernel/perfmon_montecito.h), and what a register holds after reset (section 3.5).
 */
static void masks(void)
{
	static const struct {
		const char *name;
		uint64_t may, must, reset;
	} rows[] = {
		{"PMC0", 0xfff1, 0, 0},
		{"PMC4", 0x7f7fff7f, 0, 0},
		{"PMC15", 0x7f7fff7f, 0, 0},
		{"PMC32", 0x030f01ffffffffff, 0, 0x030f01ffffffffff},
		{"PMC33", 0x1ffffffffff, 0, 0x1ffffffffff},
		{"PMC34", 0x000f01ffffffffff, 0, 0x000f01ffffffffff},
		{"PMC35", 0x1ffffffffff, 0, 0x1ffffffffff},
		{"PMC36", 0xf, 0xfffffff0, 0xfffffff0},
		{"PMC37", 0x3fff, 0, 0},
		{"PMC38", 0x2492, 0x924, 0xdb6},
		{"PMC39", 0xffcf, 0, 0},
		{"PMC40", 0x030f01cf, 0, 0},
		{"PMC41", 0x1e00018181818, 0x78e6e6e6e6, 0x2078fefefefe},
		{"PMC42", 0x7ff4f, 0, 0},
	};
	struct unc_platform *p = machine(MONT);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t legal = rows[i].may | rows[i].must;
		unsigned before = unc_sim_violations(unc_machine_sim(p->machine), NULL, 0);

		CHECK_NUMBER(get(p, 2, rows[i].name), rows[i].reset);
		put(p, 2, rows[i].name, legal);
		CHECK_NUMBER(get(p, 2, rows[i].name), legal);
		CHECK_NUMBER(unc_sim_violations(unc_machine_sim(p->machine), NULL, 0), before);
		put(p, 2, rows[i].name, UINT64_MAX);
		CHECK_NUMBER(get(p, 2, rows[i].name), legal);
		CHECK_NUMBER(unc_sim_violations(unc_machine_sim(p->machine), NULL, 0), before + 1);
	}
	unc_platform_close(p);
}

/* With hyper-threading off a core is one logical CPU: of what a socket's cores all see, one counts.
 */
static void one_thread_a_core(void)
{
	static const struct {
		const char *event;
		unsigned with, without; /* counters on two sockets of 4 logical CPUs */
	} rows[] = {{"bus.BUS_ALL:SELF", 8, 8},
		    {"bus.BUS_ALL:EITHER", 4, 2},
		    {"bus.BUS_ALL:ANY", 2, 1}};

	for (unsigned threads = 2; threads >= 1; threads--) {
		struct unc_platform *p = machine(MONT);
		struct unc_session *s = session(p, 0);

		for (unsigned i = 0; i < 2; i++) /* the machine has 2 cores of 2 threads */
			p->topology.socket[i].cores = (int)(4 / threads);
		for (unsigned i = 0; i < 3; i++) {
			add(s, rows[i].event);
			CHECK_NUMBER(s->measure[i].n_wants,
				     threads == 2 ? rows[i].with : rows[i].without);
		}
		unc_session_free(s);
		unc_platform_close(p);
	}
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"47 bits", over_the_carry},
		{"scopes: threads, cores, sockets", scopes},
		{"a thread that cannot be read", lost_thread},
		{"PMC0.fr stops all twelve counters", freeze_stops_all},
		{"no privilege level: nothing is counted", privilege_levels},
		{"thresholds are to be exceeded", thresholds},
		{"line states", line_states},
		{"captured addresses while frozen only", captured_addresses},
		{"masks and reset values", masks},
		{"hyper-threading off", one_thread_a_core},
		{NULL, NULL},
	};

	return suite_run("montecito_model", tests);
}
