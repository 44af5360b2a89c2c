/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions beside others: counters that are taken over, cleared, frozen in the middle, units that a
 * killed program left behind, processes that are forked. Every number is right, or is no value and
 * says why. Rates are those of eventtables/CPU/workload.tbl; register numbers and freeze bits those of
 * Intel 327043-001 (tables 1-2, 2-8), 329468-002 (2.1.2) and 323535-001 (2.1).
 */
#include <sys/wait.h>
#include <unistd.h>

#include "session_kit.h"

/* Time passes while the library waits, too. */
#define SNB_WAIT "sandybridge-ep,clock=wait"
#define IVB_WAIT "ivybridge-ep,clock=wait"
#define NHM_WAIT "nehalem-ep,clock=wait"

static const double uclk = 2.7e9, drd = 4.0e8 / 8;

/* CBo 0 of socket 0 of Sandy Bridge-EP */
enum { BOX_CTL = 0xD04, CTL3 = 0xD13, FILTER = 0xD14, CTR3 = 0xD19 };
enum { FROZEN = 0x10100, RUNNING = 0x10000 };

static const char frozen_cbo0[] =
	"cbo0.CLOCKTICKS:socket=0: cbo0 (socket 0) does not count: it is frozen, by a program that "
	"was "
	"killed or one that froze the socket (LIKWID, PCM, an old kernel's perf), or "
	"nothing drives its clock";

/* Clocks are counted for all of the time, which passes while the library waits, too. */
static void check_clocks(const struct unc_value *v)
{
	CHECK_NUMBER(v->flags & (UNC_VALUE_VALID | UNC_VALUE_LOST | UNC_VALUE_UNPROVEN),
		     UNC_VALUE_VALID);
	CHECK_NEAR((double)v->count, uclk * v->seconds, 1e-7);
}

/* A session that counts clocks on CBo 0 and on CBo 1 of socket 0, for 100 ms. */
struct pair {
	struct unc_platform *p;
	struct unc_session *s;
	int zero, one;
};

static struct pair count_clocks(const char *sim)
{
	struct pair pair = {.p = machine(sim)};

	pair.s = session(pair.p, 0);
	pair.zero = add(pair.s, "cbo0.CLOCKTICKS:socket=0");
	pair.one = add(pair.s, "cbo1.CLOCKTICKS:socket=0");
	start(pair.s);
	step(pair.p, 100 * ms);
	struct unc_value v = value_of(pair.s, pair.zero);
	check_clocks(&v);
	return pair;
}

/* A second later CBo 0 is lost for the reason; CBo 1 goes on. */
static void check_lost(struct pair *pair, const char *reason)
{
	struct unc_value v[2];

	step(pair->p, 1000 * ms);
	CHECK_NUMBER(unc_session_read(pair->s, v, 2, sizeof(*v)), 0);
	CHECK_NUMBER(v[pair->zero].flags, UNC_VALUE_LOST);
	CHECK_NUMBER(v[pair->zero].count, 0);
	CHECK_TEXT(unc_session_reason(pair->s, pair->zero), reason);
	CHECK_NUMBER(v[pair->one].flags & UNC_VALUE_VALID, UNC_VALUE_VALID);
	CHECK_NEAR((double)v[pair->one].count, uclk * v[pair->one].seconds, 1e-8);
	CHECK_TEXT(unc_session_reason(pair->s, pair->one), "");
}

static void end(struct pair *pair)
{
	check_quiet(pair->p);
	unc_session_free(pair->s);
	unc_platform_close(pair->p);
}

/* ---- taken over */

static void test_reprogrammed(void)
{
	struct pair pair = count_clocks(SNB_WAIT);

	unc_sim_write(unc_machine_sim(pair.p->machine), msr(pair.p, CTL3, 32), 0x40011d);
	check_lost(&pair, "cbo0.CLOCKTICKS:socket=0: somebody else has programmed CTL3 of cbo0 "
			  "(socket 0) while "
			  "it was counting: it holds 0x40011d = cbo.RING_BL_USED:UP_EVEN");
	/* What is no longer ours is not restored. */
	CHECK_NUMBER(unc_session_stop(pair.s), 0);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(pair.p->machine), msr(pair.p, CTL3, 32)),
		     0x40011d);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(pair.p->machine), msr(pair.p, CTL3 + 0x20, 32)),
		     0);
	/* Started anew it has another counter. */
	start(pair.s);
	step(pair.p, 10 * ms);
	struct unc_value v = value_of(pair.s, pair.zero);
	check_clocks(&v);
	CU_ASSERT(v.seconds >= 0.01);
	end(&pair);
}

static void test_control_cleared(void)
{
	struct pair pair = count_clocks(SNB_WAIT);

	unc_sim_write(unc_machine_sim(pair.p->machine), msr(pair.p, CTL3, 32), 0);
	check_lost(&pair,
		   "cbo0.CLOCKTICKS:socket=0: somebody else has cleared CTL3 of cbo0 (socket 0) "
		   "while it was counting");
	end(&pair);
}

static void test_counter_cleared(void)
{
	struct pair pair = count_clocks(SNB_WAIT);

	unc_sim_write(unc_machine_sim(pair.p->machine), msr(pair.p, CTR3, 64), 0);
	check_lost(&pair,
		   "cbo0.CLOCKTICKS:socket=0: somebody else has written to CTR3 of cbo0 (socket "
		   "0) while it was counting");
	end(&pair);
}

/* Another event that counts as fast, as FREQ_BAND0_CYCLES does with no filter: the controls are compared
 * within a second. */
static void test_as_fast(void)
{
	struct unc_platform *p = machine(SNB_WAIT);
	struct unc_session *s = session(p, 0);
	void *ctl = reg_of(p, "pcu", 0, 0, "CTL3");
	unsigned reads = 0;
	struct unc_value v;

	add(s, "pcu.CLOCKTICKS:socket=0");
	start(s);
	for (int i = 0; i < 3; i++) {
		step(p, 100 * ms);
		CHECK_NUMBER(value_of(s, 0).flags & UNC_VALUE_VALID, UNC_VALUE_VALID);
	}
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), ctl), 0x400000);
	unc_sim_write(unc_machine_sim(p->machine), ctl, 0x40000b);
	do {
		step(p, 100 * ms);
		v = value_of(s, 0);
		reads++;
	} while (v.flags & UNC_VALUE_VALID && reads < 20);
	CHECK_NUMBER(v.flags, UNC_VALUE_LOST);
	CU_ASSERT(reads <= 10);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Any bit of a control that can be written, whatever it means. */
static void test_each_bit(void)
{
	static const struct {
		const char *sim, *event, *type;
	} cases[] = {
		{SNB_WAIT, "cbo0.CLOCKTICKS:edge:inv:thresh=5:socket=0", "cbo"},
		{SNB_WAIT, "imc0.CAS_COUNT:RD:socket=0", "imc"},
		{"emerald-rapids,clock=wait", "cha0.TOR_INSERTS:IA_MISS_DRD:thresh=3:socket=0",
		 "cha"},
		{NHM_WAIT, "unc.LLC_HITS:READ:thresh=2:socket=0", "unc"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct unc_platform *p = machine(cases[i].sim);
		unsigned bits = 0;

		for (unsigned bit = 0; bit < 64; bit++) {
			struct unc_session *s = session(p, 0);
			int id = add(s, cases[i].event);
			uint64_t was;
			void *ctl;

			start(s);
			uint16_t reg = unc_counter_control(p, &s->run->counter[0]);
			ctl = reg_of(p, cases[i].type, 0, 0,
				     unc_tbl_str(p->table, p->table->reg[reg].name));
			was = unc_sim_read(unc_machine_sim(p->machine), ctl);
			CU_ASSERT(was != 0);
			/* The overflow bit of what was written is the machine's. */
			if (p->table->reg[reg].write_mask >> bit & 1) {
				step(p, 10 * ms);
				unc_sim_write(unc_machine_sim(p->machine), ctl,
					      was ^ (uint64_t)1 << bit);
				if (unc_sim_read(unc_machine_sim(p->machine), ctl) != was) {
					step(p, 1000 * ms);
					CHECK_NUMBER(value_of(s, id).flags, UNC_VALUE_LOST);
					bits++;
				}
				unc_sim_write(unc_machine_sim(p->machine), ctl, 0);
			}
			unc_session_free(s);
		}
		CU_ASSERT(bits >= 24);
		unc_platform_close(p);
	}
}

/* Registers that were read and written; which of the looks at the counters of a unit fails, the first is 1. */
static size_t accesses;
static unsigned failing;
static bool looking;

int unc_run_look(struct unc_run *run, struct unc_error *err)
{
	looking = true;
	int rc = REAL(unc_run_look)(run, err);
	looking = false;
	return rc;
}

/* A counter of another box that goes on in a frozen socket; 0: there is none. */
static uint64_t goes_on, goes_on_cpu, goes_on_value;

int unc_access_run(struct unc_access *access, struct unc_reg_op *ops, size_t n)
{
	accesses += n;
	if (looking && failing && --failing == 0) {
		for (size_t i = 0; i < n; i++)
			unc_op_done(&ops[i], EIO);
		return -1;
	}
	int rc = REAL(unc_access_run)(access, ops, n);

	for (size_t i = 0; i < n && goes_on; i++)
		if (ops[i].kind == UNC_OP_READ && ops[i].reg.space == UNC_SPACE_MSR &&
		    ops[i].reg.address == goes_on && ops[i].reg.target == goes_on_cpu)
			ops[i].value = goes_on_value += 1000;
	return rc;
}

/*
 * Units that count on as before need no other proof: a read is an access for each counter. In the first
 * read that is a second after the start one more follows for each control, and two at most for each clock.
 */
static void test_steady(void)
{
	enum { READS = 20, STEP_MS = 60, FIRST = 14, COUNTERS = 2, CLOCKS = 2 };
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	unsigned compared = 0;

	add(s, "cbo0.CLOCKTICKS:socket=0");
	add(s, "imc0.CAS_COUNT:RD:socket=0");
	start(s);
	CHECK_NUMBER(s->run->n_clocks, CLOCKS);
	for (int i = 1; i <= READS; i++) {
		step(p, STEP_MS * ms);
		accesses = 0;
		CHECK_NUMBER(value_of(s, 0).flags & UNC_VALUE_VALID, UNC_VALUE_VALID);
		if (accesses == COUNTERS)
			continue;
		CU_ASSERT(accesses <= COUNTERS + COUNTERS + 2 * CLOCKS);
		CU_ASSERT(i > FIRST); /* 0.9 s */
		compared++;
	}
	CHECK_NUMBER(compared, 1);
	unc_session_free(s);
	unc_platform_close(p);
}

/*
 * What a counter held when counting began could not be read: from where on it counts nobody knows. The unit has
 * no value and says so, whichever of the two it is, and has one again after a while; the other is right.
 */
static void test_no_base(void)
{
	for (unsigned which = 1; which <= 2; which++) {
		struct unc_platform *p = machine(SNB);
		struct unc_session *s = session(p, 0);
		struct unc_value v[2];
		char reason[160];

		add(s, "cbo0.CLOCKTICKS:socket=0");
		add(s, "cbo1.CLOCKTICKS:socket=0");
		failing = which;
		start(s);
		CHECK_NUMBER(failing, 0);
		step(p, 100 * ms);
		CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
		CHECK_NUMBER(v[which - 1].flags, UNC_VALUE_LOST);
		snprintf(reason, sizeof(reason),
			 "CTR3 of cbo%u (socket 0) at msr 0x%x on cpu 0 could not be "
			 "read: Input/output error",
			 which - 1, 0xd00 + 0x20 * (which - 1));
		CHECK_TEXT(unc_session_reason(s, (int)which - 1), reason);
		CHECK_NUMBER(v[2 - which].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
		CHECK_COUNT(v[2 - which].count, uclk * 0.1, 1);
		for (int i = 0; i < 4; i++) {
			step(p, 1000 * ms);
			CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
		}
		CU_ASSERT(v[which - 1].flags & UNC_VALUE_VALID);
		CHECK_NEAR((double)v[which - 1].count,
			   uclk * v[which - 1].seconds / v[which - 1].share, 1e-6);
		unc_session_free(s);
		unc_platform_close(p);
	}
}

/* Found at the stop, where no read came before. */
static void test_taken_before_stop(void)
{
	struct pair pair = count_clocks(SNB_WAIT);

	unc_sim_write(unc_machine_sim(pair.p->machine), msr(pair.p, BOX_CTL, 32),
		      RUNNING | 0x3); /* resets all of the unit */
	step(pair.p, ms);
	CHECK_NUMBER(unc_session_stop(pair.s), 0);
	struct unc_value v = value_of(pair.s, pair.zero);
	CHECK_NUMBER(v.flags, UNC_VALUE_LOST);
	v = value_of(pair.s, pair.one);
	CHECK_NEAR((double)v.count, uclk * v.seconds, 1e-8);
	end(&pair);
}

/* The unit is lost with all of its events, by the name of the one that needs the filter. */
static void test_filter_changed(void)
{
	static const char reason[] = "cbo0.TOR_INSERTS:OPCODE:opc=0x182:socket=0: somebody else "
				     "has changed BOX_FILTER of "
				     "cbo0 (socket 0) while it was counting: it holds 0xc0000000";
	struct unc_platform *p = machine(SNB_WAIT);
	struct unc_session *s = session(p, 0);
	int clock = add(s, "cbo0.CLOCKTICKS:socket=0"),
	    tor = add(s, "cbo0.TOR_INSERTS:OPCODE:opc=0x182:socket=0"),
	    other = add(s, "cbo1.CLOCKTICKS:socket=0");
	struct unc_value v[3];

	start(s);
	step(p, 100 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	CHECK_NEAR((double)v[tor].count, drd * v[tor].seconds, 1e-6);
	unc_sim_write(unc_machine_sim(p->machine), msr(p, FILTER, 32), 0xc0000000);
	step(p, 1000 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	CHECK_NUMBER(v[tor].flags, UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_reason(s, tor), reason);
	CHECK_NUMBER(v[clock].flags, UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_reason(s, clock), reason);
	check_clocks(&v[other]);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), msr(p, FILTER, 32)), 0xc0000000);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Nehalem's unit control can be read: the enable of our counter is gone. */
static void test_unit_control(void)
{
	struct unc_platform *p = machine(NHM_WAIT);
	struct unc_session *s = session(p, 0);
	void *global = reg_of(p, "unc", 0, 0, "GLOBAL_CTL");
	int id = add(s, "unc.LLC_HITS:READ:socket=0");

	start(s);
	step(p, 100 * ms);
	CU_ASSERT(count_of(s, id) > 0);
	unc_sim_write(unc_machine_sim(p->machine), global, 0x2);
	step(p, 1000 * ms);
	CHECK_NUMBER(value_of(s, id).flags, UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_reason(s, id), "unc.LLC_HITS:READ:socket=0: somebody else has "
					      "changed GLOBAL_CTL of unc0 (socket 0) "
					      "while it was counting: it holds 0x2");
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), global), 0x2);
	unc_session_free(s);
	unc_platform_close(p);
}

/* With passes, a unit of one item is lost and the others go on. */
static void test_rotating(void)
{
	struct unc_platform *p = machine(SNB_WAIT);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	int reads = add(s, "imc.CAS_COUNT:RD"), hits = add(s, "llc_miss_ratio"),
	    stalls = add(s, "cbo.LLC_DRD_MISS_PCT");
	struct unc_value v[3];

	CU_ASSERT_FATAL(unc_session_passes(s) > 1);
	start(s);
	for (int i = 0; i < 6; i++) {
		step(p, 100 * ms);
		if (i == 3)
			unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, "CTL3"),
				      0x400305);
		CHECK_NUMBER(turn_pass(s), 0);
	}
	CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
	CHECK_NUMBER(v[reads].flags & ~(unsigned)UNC_VALUE_ESTIMATED,
		     UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_PARTIAL);
	CHECK_NUMBER(v[reads].units, v[reads].of - 1);
	CHECK_TEXT(unc_session_partial(s, reads),
		   "imc0 (socket 0): imc.CAS_COUNT:RD: somebody else has programmed CTL3 of imc0 "
		   "(socket 0) while it was counting: it holds 0x400305");
	CHECK_NUMBER(v[hits].flags & UNC_VALUE_VALID, UNC_VALUE_VALID);
	CHECK_NUMBER(v[stalls].flags & UNC_VALUE_VALID, UNC_VALUE_VALID);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, "CTL3")),
		     0x400305);
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- frozen */

static const char unproven_cbo0[] =
	"no counter of cbo0 (socket 0) has moved for a while, and those of other units have: "
	"somebody may have frozen it";

/* A frozen unit is lost where its own counter shows that; else its value is unproven. Another one goes on. */
static void check_frozen(struct pair *pair)
{
	struct unc_value v[2];
	bool lost;

	CHECK_NUMBER(unc_session_read(pair->s, v, 2, sizeof(*v)), 0);
	lost = v[pair->zero].flags & UNC_VALUE_LOST;
	CHECK_NUMBER(v[pair->zero].flags & (UNC_VALUE_VALID | UNC_VALUE_UNPROVEN),
		     lost ? 0 : UNC_VALUE_VALID | UNC_VALUE_UNPROVEN);
	CHECK_TEXT(unc_session_reason(pair->s, pair->zero), lost ? frozen_cbo0 : unproven_cbo0);
	check_clocks(&v[pair->one]);
	CHECK_TEXT(unc_session_reason(pair->s, pair->one), "");
}

/* One unit of a type, whose control cannot be read: it stood for a second and others move. */
static void test_frozen_in_the_middle(void)
{
	struct pair pair = count_clocks(SNB_WAIT);

	unc_sim_write(unc_machine_sim(pair.p->machine), msr(pair.p, BOX_CTL, 32), FROZEN);
	step(pair.p, 1000 * ms);
	check_frozen(&pair);
	end(&pair);
}

/* All units of the type that are counted: no clock of it moves. */
static void test_all_frozen(void)
{
	struct pair pair = count_clocks(SNB_WAIT);
	struct unc_value v[2];

	for (unsigned i = 0; i < 2; i++)
		unc_sim_write(unc_machine_sim(pair.p->machine), msr(pair.p, BOX_CTL + 0x20 * i, 32),
			      FROZEN);
	step(pair.p, 1000 * ms);
	CHECK_NUMBER(unc_session_read(pair.s, v, 2, sizeof(*v)), 0);
	CHECK_NUMBER(v[pair.zero].flags, UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_reason(pair.s, pair.zero), frozen_cbo0);
	CHECK_NUMBER(v[pair.one].flags, UNC_VALUE_LOST);
	end(&pair);
}

/*
 * A counter that runs freely goes on in a frozen unit, and shows nothing of those with a control that count
 * beside it: for their 0, or for what they had counted before, there is no silence.
 */
static void check_frozen_beside_free(const char *load, const char *sim, const char *event,
				     uint64_t frozen)
{
	char text[128];

	snprintf(text, sizeof(text), "%s,clock=wait,load=%s", sim, load);
	struct unc_platform *p = machine(text);
	struct unc_session *s = session(p, 0);
	int id = add(s, event), clock = add(s, "iio0.CLOCKTICKS_FREERUN:socket=0");
	struct unc_value v[2];

	start(s);
	step(p, 100 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
	CHECK_NUMBER(v[id].flags & (UNC_VALUE_VALID | UNC_VALUE_UNPROVEN), UNC_VALUE_VALID);
	CHECK_NUMBER(v[clock].flags & UNC_VALUE_VALID, UNC_VALUE_VALID);
	CHECK_NUMBER(v[id].count == 0, load[0] == '0');
	for (unsigned i = 0; reg_of(p, "iio", i, 0, "UNIT_CTL"); i++)
		unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "iio", i, 0, "UNIT_CTL"),
			      frozen);
	for (int i = 0; i < 2; i++) {
		step(p, 1000 * ms);
		CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
	}
	printf("# %s, load %s: frozen beside a counter that runs freely: flags 0x%x\n", sim, load,
	       v[id].flags);
	CU_ASSERT(v[id].flags & (UNC_VALUE_LOST | UNC_VALUE_UNPROVEN));
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_frozen_beside_free(void)
{
	static const char *const loads[] = {"0", "1"};

	for (int i = 0; i < 2; i++) {
		check_frozen_beside_free(loads[i], "emerald-rapids",
					 "iio0.DATA_REQ_OF_CPU:MEM_READ.PART0:socket=0", 1);
		check_frozen_beside_free(loads[i], "skylake-sp",
					 "iio0.DATA_REQ_OF_CPU:MEM_READ.PART0:socket=0", 0x30100);
	}
}

/* Right before the stop: it is found there, or what was counted up to then is right. */
static void test_frozen_before_stop(void)
{
	struct pair pair = count_clocks(SNB_WAIT);
	struct unc_value v[2];

	step(pair.p, 10 * ms);
	unc_sim_write(unc_machine_sim(pair.p->machine), msr(pair.p, BOX_CTL, 32), FROZEN);
	CHECK_NUMBER(unc_session_stop(pair.s), 0);
	CHECK_NUMBER(unc_session_read(pair.s, v, 2, sizeof(*v)), 0);
	if (v[pair.zero].flags & UNC_VALUE_LOST)
		CHECK_TEXT(unc_session_reason(pair.s, pair.zero), frozen_cbo0);
	else
		check_clocks(&v[pair.zero]);
	check_clocks(&v[pair.one]);
	end(&pair);
}

/* A second before the stop, without a read in between: it is found there. */
static void test_frozen_until_stop(void)
{
	struct pair pair = count_clocks(SNB_WAIT);

	unc_sim_write(unc_machine_sim(pair.p->machine), msr(pair.p, BOX_CTL, 32), FROZEN);
	step(pair.p, 1000 * ms);
	CHECK_NUMBER(unc_session_stop(pair.s), 0);
	check_frozen(&pair);
	end(&pair);
}

static void test_left_frozen(void)
{
	struct unc_platform *p = machine(SNB_WAIT);
	struct unc_session *s = session(p, 0);
	int id = add(s, "cbo0.CLOCKTICKS:socket=0");

	/* Nobody counts there: it is let go. */
	unc_sim_write(unc_machine_sim(p->machine), msr(p, BOX_CTL, 32), FROZEN);
	start(s);
	step(p, 100 * ms);
	struct unc_value v = value_of(s, id);
	check_clocks(&v);
	CHECK_NUMBER(unc_session_stop(s), 0);
	/* Somebody does, with counter 3: it is his to freeze. */
	unc_sim_write(unc_machine_sim(p->machine), msr(p, CTL3, 32), 0x400135);
	unc_sim_write(unc_machine_sim(p->machine), msr(p, BOX_CTL, 32), FROZEN);
	start(s);
	step(p, 100 * ms);
	v = value_of(s, id);
	bool lost = v.flags & UNC_VALUE_LOST; /* by a clock on the unit itself */
	CHECK_NUMBER(v.flags, lost ? UNC_VALUE_LOST
				   : UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_UNPROVEN);
	CHECK_NUMBER(v.count, 0);
	CHECK_TEXT(unc_session_reason(s, id),
		   lost ? frozen_cbo0
			: "no counter of cbo0 (socket 0) has moved for a while: somebody else "
			  "counts there, and may have frozen it");
	unc_session_free(s);
	unc_platform_close(p);
}

/* An event that happens to count 0 on a unit that runs is a value. */
static void test_true_zero(void)
{
	struct unc_platform *p = machine(SNB_WAIT ",load=0");
	struct unc_session *s = session(p, 0);
	int id = add(s, "imc.CAS_COUNT:RD");

	start(s);
	for (int i = 0; i < 3; i++) {
		step(p, 100 * ms);
		struct unc_value v = value_of(s, id);
		CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
		CHECK_NUMBER(v.count, 0);
	}
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);
}

/*
 * An empty memory channel has no clock: its 0 is true where nobody can have frozen it, for the clocks of
 * other channels move. Where others count there, one may have frozen it: the sum is unproven.
 */
static void test_empty_channel(void)
{
	struct unc_platform *p = machine(SNB_WAIT ",idle=imc3@1");
	struct unc_session *s = session(p, 0), *beside = session(p, 0);
	int sum = add(s, "imc.CAS_COUNT:RD"), one = add(s, "imc3.CAS_COUNT:RD:socket=1"),
	    other = add(beside, "imc.CAS_COUNT:RD");
	const double reads = (2.7e8 + 0.002e8) / 4; /* of a channel */
	struct unc_value v;

	start(s);
	step(p, 100 * ms);
	v = value_of(s, sum);
	CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	CHECK_COUNT(v.count, 7 * reads * v.seconds, 7);
	v = value_of(s, one);
	CHECK_NUMBER(v.flags & ~(unsigned)UNC_VALUE_FRESH, UNC_VALUE_VALID);
	CHECK_NUMBER(v.count, 0);
	/* A second session, with counters of its own. */
	add(beside, "ha.REQUESTS:READS");
	start(beside);
	CU_ASSERT(beside->run != s->run);
	step(p, 100 * ms);
	v = value_of(beside, other);
	CHECK_NUMBER(v.flags & ~(unsigned)UNC_VALUE_FRESH, UNC_VALUE_VALID);
	CHECK_COUNT(v.count, 7 * reads * v.seconds, 7);
	CHECK_NUMBER(unc_session_stop(beside), 0);
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "imc", 3, 1, "CTL0"), 0x400304);
	start(beside);
	step(p, 100 * ms);
	v = value_of(beside, other);
	CHECK_NUMBER(v.flags & ~(unsigned)UNC_VALUE_FRESH, UNC_VALUE_VALID | UNC_VALUE_UNPROVEN);
	CHECK_TEXT(unc_session_reason(beside, other),
		   "no counter of imc3 (socket 1) has moved for a while: somebody else counts "
		   "there, and may have frozen it");
	unc_session_free(s);
	unc_session_free(beside);
	check_quiet(p);
	unc_platform_close(p);
}

struct heard {
	char text[256];
	int n;
};

static void hear(void *user, enum unc_log_level level, const char *text)
{
	struct heard *heard = user;

	if (level != UNC_LOG_WARNING)
		return;
	snprintf(heard->text, sizeof(heard->text), "%s", text);
	heard->n++;
}

/* Units that have counted nothing yet are known to count by a clock of their type: frozen later they are
 * lost. That of a channel is a fixed counter, that of others an event on a free counter. */
static void test_idle_frozen(void)
{
	static const struct {
		const char *event, *type, *control;
	} cases[] = {
		{"imc0.CAS_COUNT:RD:socket=0", "imc", "BOX_CTL"},
		{"ha.REQUESTS:READS:socket=0", "ha", "BOX_CTL"},
		{"cbo0.TOR_INSERTS:EVICTION:socket=0", "cbo", "BOX_CTL"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct unc_platform *p = machine(SNB_WAIT ",load=0");
		struct unc_session *s = session(p, 0);
		int id = add(s, cases[i].event);

		start(s);
		step(p, 100 * ms);
		CHECK_NUMBER(value_of(s, id).flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
		CHECK_NUMBER(value_of(s, id).count, 0);
		for (unsigned k = 0; reg_of(p, cases[i].type, k, 0, cases[i].control); k++)
			unc_sim_write(unc_machine_sim(p->machine),
				      reg_of(p, cases[i].type, k, 0, cases[i].control), FROZEN);
		step(p, 1000 * ms);
		CHECK_NUMBER(value_of(s, id).flags, UNC_VALUE_LOST);
		unc_session_free(s);
		unc_platform_close(p);
	}
}

/* Bit 31 of GLOBAL_CTL freezes the socket, bit 29 lets it go. */
static void test_frozen_socket(void)
{
	struct heard heard = {.n = 0};
	struct unc_options options = {
		.size = sizeof(options), .sim = IVB_WAIT, .log = hear, .log_user = &heard};
	struct unc_platform *p = NULL;

	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	void *global = reg_of(p, "ubox", 0, 1, "GLOBAL_CTL");
	struct unc_session *s = session(p, 0);
	int near = add(s, "cbo0.CLOCKTICKS:socket=0"), far = add(s, "cbo0.CLOCKTICKS:socket=1");

	unc_sim_write(unc_machine_sim(p->machine), global, 0x80000000);
	heard.n = 0;
	start(s);
	CHECK_NUMBER(heard.n, 1);
	CHECK_TEXT(heard.text, "socket 1 was frozen, and nobody counts there: unfrozen");
	step(p, 100 * ms);
	struct unc_value v[2];
	CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
	check_clocks(&v[near]);
	check_clocks(&v[far]); /* since it was let go */
	/* Frozen once more it is found at once: nothing of the type has moved since the last read. */
	unc_sim_write(unc_machine_sim(p->machine), global, 0x80000000);
	step(p, 100 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
	check_clocks(&v[near]);
	CHECK_NUMBER(v[far].flags, UNC_VALUE_LOST);
	unc_sim_write(unc_machine_sim(p->machine), global, 0x20000000);
	CHECK_NUMBER(unc_session_stop(s), 0);
	/* Somebody counts on another unit of the socket. */
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "cbo", 5, 1, "CTL0"), 0x400135);
	unc_sim_write(unc_machine_sim(p->machine), global, 0x80000000);
	start(s);
	step(p, 100 * ms);
	CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
	check_clocks(&v[near]);
	CHECK_NUMBER(v[far].flags, UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_reason(s, far), "cbo0.CLOCKTICKS:socket=1: cbo0 (socket 1) does not "
					       "count: it is frozen, by a program "
					       "that was killed or one that froze the socket "
					       "(LIKWID, PCM, an old kernel's perf), or "
					       "nothing drives its clock");
	unc_session_free(s);
	unc_platform_close(p);
}

/* A link that nothing drives is no frozen socket, whether another link is counted there or not. */
static void check_idle_link(const char *beside)
{
	struct heard heard = {.n = 0};
	struct unc_options options = {.size = sizeof(options),
				      .sim = IVB_WAIT ",idle=qpi1@1",
				      .log = hear,
				      .log_user = &heard};
	struct unc_platform *p = NULL;
	struct unc_value v;

	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	struct unc_session *s = session(p, 0);
	int id = add(s, "qpi1.CLOCKTICKS:socket=1");

	if (beside)
		add(s, beside);
	heard.n = 0;
	start(s);
	step(p, 100 * ms);
	CHECK_NUMBER(heard.n, 0);
	v = value_of(s, id);
	CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	CHECK_NUMBER(v.count, 0);
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_idle_link(void)
{
	check_idle_link("qpi0.CLOCKTICKS:socket=1");
	check_idle_link(NULL);
}

/* A clock of the UBox that goes on in a frozen socket is no proof that the socket counts: nobody counts
 * there, so it is let go. (The simulated one stops: what is read of it is the test's.) */
static void test_no_proof_by_ubox(void)
{
	struct heard heard = {.n = 0};
	struct unc_options options = {
		.size = sizeof(options), .sim = IVB_WAIT, .log = hear, .log_user = &heard};
	struct unc_platform *p = NULL;
	struct unc_reg clock;

	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	struct unc_session *s = session(p, 0);
	int box = add(s, "cbo0.CLOCKTICKS:socket=1"), ubox = add(s, "ubox.UCLK:socket=1");
	const struct unc_want *want = &s->want[s->measure[ubox].want[0]];
	const struct unc_code *code = &want->event->code;

	CU_ASSERT_FATAL(code->counter != UNC_NONE);
	CU_ASSERT_FATAL(unc_instance_reg(p->table, &p->instances.unit[want->instance],
					 p->table->counter[code->counter].ctr, &clock, NULL) == 0);
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "ubox", 0, 1, "GLOBAL_CTL"),
		      0x80000000);
	heard.n = 0;
	goes_on = clock.address;
	goes_on_cpu = clock.target;
	start(s);
	CHECK_NUMBER(heard.n, 1);
	CHECK_TEXT(heard.text, "socket 1 was frozen, and nobody counts there: unfrozen");
	step(p, 100 * ms);
	struct unc_value v = value_of(s, box);
	check_clocks(&v);
	unc_session_free(s);
	goes_on = 0;
	unc_platform_close(p);
}

/* ---- what others have left */

static void test_nothing_reset(void)
{
	static const char *const cpu[] = {SNB_WAIT, IVB_WAIT, "emerald-rapids,clock=wait"};
	static const char *const type[] = {"cbo", "cbo", "cha"};
	static const char *const event[] = {"cbo0.CLOCKTICKS:socket=0", "cbo0.CLOCKTICKS:socket=0",
					    "cha0.CLOCKTICKS:socket=0"};

	for (int i = 0; i < 3; i++) {
		struct unc_platform *p = machine(cpu[i]);
		struct unc_session *s = session(p, 0);
		/* Stopped by whoever counted, and not read yet. */
		uint64_t stopped = i == 2 ? 0 : 0x135;
		void *ctl = reg_of(p, type[i], 0, 0, "CTL0"),
		     *ctr = reg_of(p, type[i], 0, 0, "CTR0");

		unc_sim_write(unc_machine_sim(p->machine), ctl, stopped);
		unc_sim_write(unc_machine_sim(p->machine), ctr, 123456789);
		add(s, event[i]);
		start(s);
		step(p, 10 * ms);
		CHECK_NUMBER(unc_session_stop(s), 0);
		CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), ctl), stopped);
		CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), ctr), 123456789);
		unc_session_free(s);
		unc_platform_close(p);
	}
}

/* ---- time */

/* 2^48 counts of at most 5e9 a second and 1 a clock: 15.6 hours. */
static void test_late_look(void)
{
	struct unc_platform *p = machine(SNB_WAIT);
	struct unc_session *s = session(p, 0);
	int id = add(s, "imc0.CAS_COUNT:RD:socket=0");

	start(s);
	step_alone(p,
		   (uint64_t)60000 * 1000 * ms); /* the process was stopped, its watcher with it */
	CHECK_NUMBER(value_of(s, id).flags, UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_reason(s, id), "imc0.CAS_COUNT:RD:socket=0: CTR3 of imc0 (socket 0) "
					      "was not read for 60000 s and may "
					      "have wrapped meanwhile");
	unc_session_free(s);
	unc_platform_close(p);
}

/*
 * From a quarter of that time on, 3.9 hours, what leaps may have wrapped as well as been set by
 * somebody, and is not taken for counted; what does not leap is counted.
 */
static void test_nearly_late_look(void)
{
	static const double writes =
		2.855e7; /* a second: eventtables/sandybridge-ep/workload.tbl */
	static const uint64_t s_ns = 1000000000, quarter = (uint64_t)1 << 46;
	struct unc_platform *p = machine(SNB_WAIT);
	struct unc_session *s = session(p, 0);
	int id = add(s, "imc0.CAS_COUNT:WR:socket=0");
	void *ctr = reg_of(p, "imc", 0, 0, "CTR3");

	start(s);
	step_alone(p, 15000 * s_ns);
	CHECK_NEAR((double)count_of(s, id), writes * 15000, 1e-6);
	unc_sim_write(unc_machine_sim(p->machine), ctr,
		      (unc_sim_read(unc_machine_sim(p->machine), ctr) + quarter) &
			      (4 * quarter - 1));
	step_alone(p, 15000 * s_ns);
	CHECK_NUMBER(value_of(s, id).flags, UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_reason(s, id), "imc0.CAS_COUNT:WR:socket=0: CTR3 of imc0 (socket 0) "
					      "was not read for 15000 s and may "
					      "have wrapped meanwhile");
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- fork */

static const char forked[] =
	"the session belongs to the process that this one was forked from; open a "
	"platform of its own";

static int in_the_child(struct pair *pair)
{
	struct unc_session *fresh;
	struct unc_value v;
	int id, wrong = 0;

	wrong |= unc_session_read(pair->s, &v, 1, sizeof(v)) != UNC_ERR_STATE;
	wrong |= strcmp(unc_session_error(pair->s), forked) != 0;
	wrong |= unc_session_stop(pair->s) != UNC_ERR_STATE;
	wrong |= unc_session_start(pair->s) != UNC_ERR_STATE;
	wrong |= unc_session_reset(pair->s) != UNC_ERR_STATE;
	wrong |= unc_session_turns(pair->s, 100) != UNC_ERR_STATE;
	wrong |= unc_session_add(pair->s, "cbo0.CLOCKTICKS", &id) != UNC_ERR_STATE;
	wrong |= unc_session_add(pair->s, "memory_read_bytes", &id) != UNC_ERR_STATE;
	wrong |= unc_session_plan(pair->s, UNC_PHASE_START, walk_one, NULL) != UNC_ERR_STATE;
	wrong |= unc_session_new(pair->p, 0, &fresh) != UNC_ERR_STATE;
	unc_session_free(pair->s);
	unc_platform_close(pair->p);
	return wrong;
}

static void test_fork(void)
{
	struct pair pair = count_clocks(SNB_WAIT);
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		alarm(10); /* rather than hang */
		_exit(in_the_child(&pair));
	}
	CU_ASSERT_FATAL(child > 0 && waitpid(child, &status, 0) == child);
	CHECK_NUMBER(status, 0);
	step(pair.p, 100 * ms);
	struct unc_value v = value_of(pair.s, pair.zero);
	CHECK_NUMBER(v.flags & UNC_VALUE_VALID, UNC_VALUE_VALID);
	CHECK_NEAR((double)v.count, uclk * v.seconds, 1e-8);
	end(&pair);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a counter is programmed by somebody else", test_reprogrammed},
		{"a control is cleared", test_control_cleared},
		{"a counter is cleared", test_counter_cleared},
		{"a counter is taken for what counts as fast", test_as_fast},
		{"any bit of a control", test_each_bit},
		{"accesses of what counts on", test_steady},
		{"the first read of a counter fails", test_no_base},
		{"a unit is reset right before the stop", test_taken_before_stop},
		{"a filter is changed", test_filter_changed},
		{"unit control is changed", test_unit_control},
		{"a counter is taken while passes rotate", test_rotating},
		{"frozen in the middle", test_frozen_in_the_middle},
		{"all of a type frozen in the middle", test_all_frozen},
		{"frozen beside a counter that runs freely", test_frozen_beside_free},
		{"frozen right before the stop", test_frozen_before_stop},
		{"frozen a second before the stop", test_frozen_until_stop},
		{"left frozen by a killed program", test_left_frozen},
		{"a true 0", test_true_zero},
		{"an empty memory channel", test_empty_channel},
		{"idle units that are frozen later", test_idle_frozen},
		{"a frozen socket", test_frozen_socket},
		{"an idle link is no frozen socket", test_idle_link},
		{"a counter of the UBox is no proof", test_no_proof_by_ubox},
		{"what others have counted is not reset", test_nothing_reset},
		{"a look that comes too late", test_late_look},
		{"a look that is nearly too late", test_nearly_late_look},
		{"fork", test_fork},
		{NULL, NULL},
	};

	return suite_run("session, verified", tests);
}
