/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A unit type that stands as a whole, on one socket or on all: nothing drives its clock, or the
 * kernel's driver has failed to start it. No portable metric may be 0 then, or a smaller sum,
 * without a mark and a reason. For each CPU of the tables, by registers and by the kernel's driver.
 * What is right is told by the same machine with nothing wrong. Where a clock of the type moves, a 0
 * is true and has no mark.
 */
#include <math.h>

#include "built.h"
#include "session_kit.h"

enum { MAX_METRICS = 64 };

/* Who counts: options of the simulated machine. */
static const char *const ways[] = {"", ",kernel=on,rights=perf"};

/* A portable metric on a machine. */
struct metric {
	char name[UNC_SPEC_MAX];
	int kind, id;   /* id: in the session, -1: the machine does not have it */
	uint64_t types; /* that it needs, bits */
	struct unc_value value;
	char reason[UNC_ERROR_MAX];
};

struct metrics {
	size_t n;
	struct metric one[MAX_METRICS];
};

static struct {
	unsigned values, silent, excepted;
} seen;

/* NULL: there is no such machine. */
static struct unc_platform *open_with(const struct unc_table *t, const char *way, const char *more)
{
	struct unc_options options = {.size = sizeof(options)};
	struct unc_platform *p = NULL;
	char sim[320];

	snprintf(sim, sizeof(sim), "%s,clock=wait,cxl=on%s%s", unc_tbl_str(t, t->name), way, more);
	options.sim = sim;
	return unc_platform_open(&options, &p) < 0 ? NULL : p;
}

/* ---- metrics */

static uint64_t types_of(const struct unc_session *s, int id)
{
	const struct unc_session_item *item = &s->item[id];
	uint64_t types = 0;

	for (uint32_t k = 0; k < item->n_measures; k++) {
		const struct unc_measure *m = &s->measure[item->measure[k]];

		for (uint32_t i = 0; i < m->n_wants; i++) {
			uint32_t unit = s->want[m->want[i]].instance;

			types |= (uint64_t)1 << s->platform->instances.unit[unit].type;
		}
	}
	return types;
}

/* Lengths of a turn: a short one, that of a `-d .3`, and one after which controls were compared. */
static const unsigned lengths[] = {100, 300, 1000};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

/* The metrics that need one of these types, in one session, each pass in its turn. */
static void measure(struct unc_platform *p, struct metrics *m, uint64_t types, unsigned turn_ms)
{
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	static struct unc_value v[MAX_METRICS];
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		m->one[i].id = -1;
		if (m->one[i].types & types)
			n += unc_session_add(s, m->one[i].name, &m->one[i].id) == 0;
	}
	if (n > 0)
		start(s);
	for (int i = 0; n > 0 && i < unc_session_passes(s); i++) {
		CU_ASSERT(i == 0 || turn_pass(s) == 0);
		step(p, turn_ms * ms);
		CU_ASSERT(unc_session_read(s, v, n, sizeof(*v)) == 0);
	}
	for (size_t i = 0; i < m->n; i++) {
		struct metric *one = &m->one[i];

		if (one->id < 0)
			continue;
		one->value = v[one->id];
		snprintf(one->reason, sizeof(one->reason), "%s", unc_session_reason(s, one->id));
		one->types = types_of(s, one->id);
	}
	unc_session_free(s);
}

/* Those of a machine on which all is well: nothing is in doubt. The kernel's driver alone does not serve
 * all units of each CPU. */
static void learn(struct unc_platform *p, struct metrics *metrics)
{
	const struct unc_metric *m;

	metrics->n = 0;
	for (size_t i = 0; (m = unc_metric_get(p, i)) != NULL; i++) {
		struct metric *one = &metrics->one[metrics->n];

		if (strchr(m->name, '.') || !m->available)
			continue;
		CU_ASSERT_FATAL(++metrics->n < MAX_METRICS);
		*one = (struct metric){.kind = (int)m->kind, .types = UINT64_MAX};
		snprintf(one->name, sizeof(one->name), "%s", m->name);
	}
	measure(p, metrics, UINT64_MAX, lengths[0]);
	for (size_t i = 0; i < metrics->n; i++)
		if (metrics->one[i].id >= 0) {
			unsigned flags = metrics->one[i].value.flags;

			if (flags & (UNC_VALUE_LOST | UNC_VALUE_UNPROVEN))
				printf("# %s: %s: flags 0x%x: %s\n",
				       unc_tbl_str(p->table, p->table->name), metrics->one[i].name,
				       flags, metrics->one[i].reason);
			CHECK_NUMBER(flags & (UNC_VALUE_LOST | UNC_VALUE_UNPROVEN), 0);
			CU_ASSERT(flags & UNC_VALUE_VALID);
		}
}

/* What a value stands for, however long it was measured. */
static double per_second(const struct metric *m)
{
	return m->kind == UNC_METRIC_TOTAL ? m->value.value * m->value.share / m->value.seconds
					   : m->value.value;
}

/* Whether a metric is not what it was, and nothing says so. */
static bool is_silent(const struct metric *was, const struct metric *is)
{
	double right = per_second(was);

	if (!(is->value.flags & UNC_VALUE_VALID) || (is->value.flags & UNC_VALUE_UNPROVEN))
		return is->reason[0] == '\0';
	return !((is->value.flags & UNC_VALUE_PARTIAL) && is->value.units < was->value.units) &&
	       fabs(per_second(is) - right) > 1e-3 * fabs(right);
}

/* ---- what stands */

/* No 0 can be proven of a type without a clock (CXL units of some public lists), nor of a logical CPU: one that
 * is halted counts nothing, and rightly. */
static bool has_clock(const struct unc_table *t, unsigned type)
{
	const struct unc_range *events = &t->type[type].events;

	for (uint32_t i = events->first; i < events->first + events->n; i++)
		if (t->event[i].clock)
			return true;
	return false;
}

static bool is_excepted(const struct unc_table *t, uint64_t types)
{
	for (unsigned i = 0; i < t->n_type; i++)
		if ((types >> i & 1) &&
		    (t->part[t->type[i].parts.first].space == UNC_SPACE_PMU || !has_clock(t, i)))
			return true;
	return false;
}

static void count(const struct unc_table *t, const char *sim, uint64_t types,
		  const struct metric *was, const struct metric *is)
{
	seen.values++;
	if (!is_silent(was, is))
		return;
	if (is_excepted(t, was->types & types)) {
		seen.excepted++;
		return;
	}
	seen.silent++;
	printf("# %s%s: %s is %g, not %g, flags 0x%x, \"%s\"\n", unc_tbl_str(t, t->name), sim,
	       is->name, per_second(is), per_second(was), is->value.flags, is->reason);
}

/* All units of these types stand, on all sockets or (where) on one. */
static void check_types(const struct unc_table *t, const char *way, uint64_t types,
			const char *where, const struct metrics *right)
{
	struct metrics *now = malloc(sizeof(*now));
	struct unc_platform *p;
	char sim[256];
	size_t at = (size_t)snprintf(sim, sizeof(sim), "%s", way);

	CU_ASSERT_FATAL(now != NULL);
	for (unsigned i = 0; i < t->n_type; i++)
		if (types >> i & 1)
			at += (size_t)snprintf(sim + at, sizeof(sim) - at, ",idle=%s%s",
					       unc_tbl_str(t, t->type[i].name), where);
	p = open_with(t, "", sim);
	CU_ASSERT_FATAL(p != NULL);
	for (int k = 0; k < LENGTHS; k++) {
		*now = *right;
		measure(p, now, types, lengths[k]);
		for (size_t i = 0; i < now->n; i++)
			if (now->one[i].id >= 0)
				count(t, sim, types, &right->one[i], &now->one[i]);
	}
	unc_platform_close(p);
	free(now);
}

/*
 * With ALL=1 each type that is needed alone, on all sockets and on one. Else all of them (others go on:
 * no socket is frozen), in one of the two places: the other is for the other way to count.
 */
static void check_cpu(const struct unc_table *t, const char *way, bool on_one)
{
	struct unc_platform *p = open_with(t, way, "");
	struct metrics *metrics = malloc(sizeof(*metrics));
	uint64_t needed = 0;
	bool all = getenv("ALL") != NULL, several = p && p->topology.n_sockets > 1;

	CU_ASSERT_FATAL(metrics != NULL && t->n_type < 64);
	metrics->n = 0;
	if (p)
		learn(p, metrics);
	for (size_t i = 0; i < metrics->n; i++)
		needed |= metrics->one[i].id >= 0 ? metrics->one[i].types : 0;
	for (uint64_t left = needed; all && left; left &= left - 1) {
		check_types(t, way, left & -left, "", metrics);
		if (several)
			check_types(t, way, left & -left, "@1", metrics);
	}
	if (needed && !all)
		check_types(t, way, needed, on_one && several ? "@1" : "", metrics);
	unc_platform_close(p);
	free(metrics);
}

/* By the kernel every other CPU of the tables, which share its code: all with ALL=1. */
static void no_type_is_silent(void)
{
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	for (size_t i = 0; i < n; i++) {
		check_cpu(all[i], ways[0], i / 2 % 2);
		if (i % 2 || getenv("ALL"))
			check_cpu(all[i], ways[1], i / 2 % 2 == 0);
	}
	printf("# %u values, %u silent, %u more of types without a clock\n", seen.values,
	       seen.silent, seen.excepted);
	CU_ASSERT(seen.values > 300);
	CHECK_NUMBER(seen.silent, 0);
	CU_ASSERT(seen.excepted > 0); /* else a line of excepted[] has to go */
}

/* ---- what is 0 */

/* An event that is counted for some time. */
static struct unc_value of_event(const char *sim, const char *event, char *why, size_t size)
{
	struct unc_platform *p = machine(sim);
	struct unc_session *s = session(p, 0);
	struct unc_value v;
	int id = add(s, event);

	start(s);
	step(p, 100 * ms);
	v = value_of(s, id);
	snprintf(why, size, "%s", unc_session_reason(s, id));
	unc_session_free(s);
	unc_platform_close(p);
	return v;
}

/* A channel without modules, counted alone: the clocks of other channels move. */
static void test_empty_channel(void)
{
	char sim[128], why[UNC_ERROR_MAX];

	for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
		snprintf(sim, sizeof(sim), "skylake-sp,clock=wait,idle=imc2@0%s", ways[k]);
		struct unc_value v = of_event(sim, "imc2.CAS_COUNT:RD:socket=0", why, sizeof(why));

		CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
		CHECK_NUMBER(v.count, 0);
		CHECK_TEXT(why, "");
	}
}

/* No traffic at all, with all counters of a type in use (test_groups has the same by registers). */
static void test_no_traffic(void)
{
	static const char *const cpus[] = {"skylake-sp", "emerald-rapids"};
	struct unc_value v[MAX_ITEMS];
	char sim[128];

	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		snprintf(sim, sizeof(sim), "%s,clock=wait,load=0%s", cpus[i], ways[1]);
		struct unc_platform *p = machine(sim);
		const struct unc_group *g;

		for (size_t n = 0; (g = unc_group_get(p, n)) != NULL; n++) {
			struct unc_session *s = session(p, UNC_SESSION_ROTATE);
			size_t items = 0;
			int id;

			for (size_t k = 0; k < g->n_items; k++)
				items += unc_session_add(s, g->items[k], &id) == 0;
			if (items)
				start(s);
			for (int k = items ? unc_session_passes(s) : 0; k > 0; k--) {
				step(p, 100 * ms);
				CU_ASSERT(unc_session_read(s, v, items, sizeof(*v)) == 0);
				CU_ASSERT(turn_pass(s) == 0);
			}
			for (size_t k = 0; k < items; k++)
				CHECK_NUMBER(v[k].flags & (UNC_VALUE_LOST | UNC_VALUE_UNPROVEN), 0);
			unc_session_free(s);
		}
		unc_platform_close(p);
	}
}

/*
 * The clock of the M3UPI does not count beside events of the mesh stop, so that nothing but a count
 * shows that one counts: 0 is unproven, one count is enough.
 */
static void test_no_clock(void)
{
	static const char event[] = "m3upi.HORZ_RING_BL_IN_USE:LEFT_EVEN";
	char why[UNC_ERROR_MAX];
	struct unc_value v;

	v = of_event("emerald-rapids,clock=wait,load=0", event, why, sizeof(why));
	CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_UNPROVEN);
	CHECK_NUMBER(v.count, 0);
	CHECK_TEXT(why,
		   "no counter of m3upi0 (socket 0) has moved for a while, and no clock of its "
		   "type could be counted: nothing shows whether somebody has frozen it");
	v = of_event("emerald-rapids,clock=wait,load=0.00005", event, why, sizeof(why));
	CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	CU_ASSERT(v.count > 0);
	CHECK_TEXT(why, "");
}

/* The clock of a M2PCIe is 0 while P2P_CRD_OCCUPANCY counts (Intel's perfmon on GitHub, issue 332). */
static void test_stopped_clock(void)
{
	char sim[128], why[UNC_ERROR_MAX];

	for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
		snprintf(sim, sizeof(sim), "emerald-rapids,clock=wait,idle=m2pcie%s", ways[k]);
		struct unc_value v =
			of_event(sim, "m2pcie.P2P_CRD_OCCUPANCY:ALL", why, sizeof(why));

		CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_UNPROVEN);
		v = of_event(sim, "m2pcie.RxC_INSERTS:ALL", why, sizeof(why));
		CHECK_NUMBER(v.flags, UNC_VALUE_LOST);
	}
}

/* ---- counters that run freely */

/* If the clock of their block moves, counters without a control give a true 0. If it stands, or if the block
 * has none, the 0 is marked. */
static void test_free_running(void)
{
	static const struct {
		const char *sim, *event;
		bool proven;
	} cases[] = {
		{"emerald-rapids,clock=wait,load=0", "iio0.BANDWIDTH_IN.PART0_FREERUN:socket=0",
		 true},
		{"emerald-rapids,clock=wait,load=0", "mc0.RPQ_ACTIVE_CYCLES:socket=0", true},
		{"skylake-sp,clock=wait,load=0", "iio0.BANDWIDTH_IN.PART0_FREERUN:socket=0", true},
		{"emerald-rapids,clock=wait,idle=iio0@0",
		 "iio0.BANDWIDTH_IN.PART0_FREERUN:socket=0", false},
		{"sandybridge-ep,clock=wait,load=0,idle=pcu", "pcu.CORE_C3_CYCLES:socket=0", false},
	};
	char why[UNC_ERROR_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct unc_value v = of_event(cases[i].sim, cases[i].event, why, sizeof(why));

		if (cases[i].proven)
			CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
		else
			CU_ASSERT(v.flags & (UNC_VALUE_UNPROVEN | UNC_VALUE_LOST));
		CHECK_NUMBER(v.count, 0);
		CHECK_NUMBER(why[0] == '\0', cases[i].proven);
	}
}

/* The session counts the clock of the block itself. */
static void test_free_running_clock(void)
{
	static const char *const sims[] = {"emerald-rapids,clock=wait,load=0",
					   "emerald-rapids,clock=wait,idle=iio0@0"};

	for (int idle = 0; idle < 2; idle++) {
		struct unc_platform *p = machine(sims[idle]);
		struct unc_session *s = session(p, 0);
		struct unc_value v[2];

		add(s, "iio0.BANDWIDTH_IN.PART0_FREERUN:socket=0");
		add(s, "iio0.CLOCKTICKS_FREERUN:socket=0");
		start(s);
		step(p, 100 * ms);
		CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
		CHECK_NUMBER(v[0].count, 0);
		CHECK_NUMBER(v[1].count == 0, idle);
		for (int i = 0; i < 2; i++)
			CHECK_NUMBER((v[i].flags & (UNC_VALUE_UNPROVEN | UNC_VALUE_LOST)) != 0,
				     idle);
		unc_session_free(s);
		unc_platform_close(p);
	}
}

/* ---- a socket that is frozen later */

static const struct {
	const char *sim;
	uint64_t freeze;
} sockets[] = {
	{"ivybridge-ep,clock=wait", 0x80000000},
	{"skylake-sp,clock=wait", (uint64_t)1 << 63},
};
enum { SOCKETS = sizeof(sockets) / sizeof(sockets[0]) };

static const char *const far_events[] = {
	"cha0.CLOCKTICKS:socket=1",
	"imc.CAS_COUNT:RD:socket=1",
	"imc.CAS_COUNT:RD:socket=0",
};
enum { FAR = 2, EVENTS = 3 };

static void add_far(struct unc_session *s, const char *sim)
{
	add(s, sim[0] == 'i' ? "cbo0.CLOCKTICKS:socket=1" : far_events[0]);
	for (int i = 1; i < EVENTS; i++)
		add(s, far_events[i]);
}

/* Whether all of the frozen socket is lost. Until then no 0 of it is without a mark. */
static bool check_far(struct unc_session *s)
{
	const unsigned marks = UNC_VALUE_VALID | UNC_VALUE_LOST | UNC_VALUE_UNPROVEN;
	struct unc_value v[EVENTS];
	int lost = 0;

	CHECK_NUMBER(unc_session_read(s, v, EVENTS, sizeof(*v)), 0);
	for (int i = 0; i < EVENTS; i++) {
		const char *name = s->want[s->measure[i].want[0]].event->name;
		const char *reason = unc_session_reason(s, i);
		bool silent = (v[i].flags & marks) == UNC_VALUE_VALID && v[i].delta == 0;

		if (silent)
			printf("# %s of a frozen socket: 0 without a mark\n", name);
		CU_ASSERT(!silent);
		CHECK_NUMBER(*reason == '\0', (v[i].flags & marks) == UNC_VALUE_VALID);
		lost += (v[i].flags & marks) == UNC_VALUE_LOST;
		CU_ASSERT(i < FAR || (v[i].flags & marks) == UNC_VALUE_VALID);
	}
	return lost == FAR;
}

/* The socket is frozen. What had moved until then may have a value for less than a second. */
static void check_freeze(struct unc_platform *p, struct unc_session *const *s, unsigned n,
			 unsigned interval_ms)
{
	unsigned passed = 0;
	bool lost = false;

	while (passed < 1000) {
		step_alone(p, interval_ms * ms);
		passed += interval_ms;
		for (unsigned i = 0; i < n; i++)
			lost = check_far(s[i]);
	}
	if (!lost)
		printf("# intervals of %u ms: the frozen socket is not lost\n", interval_ms);
	CU_ASSERT(lost);
}

/* In the second hour of a session whose counters have all moved. */
static void test_frozen_in_hour_two(void)
{
	for (int i = 0; i < SOCKETS; i++)
		for (int k = 0; k < LENGTHS; k++) {
			struct unc_platform *p = machine(sockets[i].sim);
			struct unc_session *s = session(p, 0);

			add_far(s, sockets[i].sim);
			start(s);
			for (int minute = 1; minute <= 70; minute++) {
				step(p, (uint64_t)60000 * ms);
				CU_ASSERT(!check_far(s));
			}
			unc_sim_write(unc_machine_sim(p->machine),
				      reg_of(p, "ubox", 0, 1, "GLOBAL_CTL"), sockets[i].freeze);
			check_freeze(p, &s, 1, lengths[k]);
			unc_session_free(s);
			unc_platform_close(p);
		}
}

/* ---- sessions that share a run */

/* All counters have moved, but before the second session began: a socket frozen since then is lost for it,
 * and so it is for the first. */
static void test_moved_for_another(void)
{
	for (int i = 0; i < SOCKETS; i++)
		for (int k = 0; k < LENGTHS; k++) {
			struct unc_platform *p = machine(sockets[i].sim);
			struct unc_session *s[] = {session(p, 0), session(p, 0)};

			add_far(s[0], sockets[i].sim);
			add_far(s[1], sockets[i].sim);
			start(s[0]);
			step(p, 1000 * ms);
			CU_ASSERT(!check_far(s[0]));
			unc_sim_write(unc_machine_sim(p->machine),
				      reg_of(p, "ubox", 0, 1, "GLOBAL_CTL"), sockets[i].freeze);
			start(s[1]);
			CU_ASSERT(s[0]->run == s[1]->run);
			check_freeze(p, s, 2, lengths[k]);
			unc_session_free(s[0]);
			unc_session_free(s[1]);
			unc_platform_close(p);
		}
}

/* The same of one unit, which is frozen alone: it moved for the first session only, and a second passes since
 * the other began. Each has a mark, or a right value, where the unit was let go. */
static void check_marked(struct unc_session *s)
{
	const double clock = 2.7e9;
	struct unc_value v[2];
	double all;

	CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
	CHECK_NUMBER(unc_session_time(s, &all, NULL), 0);
	if (v[0].flags & (UNC_VALUE_UNPROVEN | UNC_VALUE_LOST)) {
		CU_ASSERT(*unc_session_reason(s, 0) != '\0');
	} else {
		CHECK_NEAR(v[0].value, clock * all, 1e-3);
	}
	CHECK_NUMBER(v[1].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	CHECK_NEAR(v[1].value, clock * all, 1e-3);
}

static void test_one_moved_for_another(void)
{
	static const char *const events[] = {"cbo0.CLOCKTICKS:socket=0",
					     "cbo1.CLOCKTICKS:socket=0"};
	struct unc_platform *p = machine("sandybridge-ep,clock=wait");
	struct unc_session *s[] = {session(p, 0), session(p, 0)};

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			add(s[i], events[k]);
	start(s[0]);
	step(p, 1000 * ms);
	CHECK_NUMBER(value_of(s[0], 0).flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "cbo", 0, 0, "BOX_CTL"), 0x10100);
	start(s[1]);
	CU_ASSERT(s[0]->run == s[1]->run);
	step(p, 1000 * ms);
	check_marked(s[1]);
	check_marked(s[0]);
	unc_session_free(s[0]);
	unc_session_free(s[1]);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"no type stands without a mark", no_type_is_silent},
		{"an empty channel alone", test_empty_channel},
		{"no traffic, by the kernel", test_no_traffic},
		{"without a clock", test_no_clock},
		{"an event that stops the clock", test_stopped_clock},
		{"counters that run freely", test_free_running},
		{"counters that run freely, and their clock", test_free_running_clock},
		{"a socket frozen in hour two", test_frozen_in_hour_two},
		{"moved for another session only", test_moved_for_another},
		{"one unit moved for another session only", test_one_moved_for_another},
		{NULL, NULL},
	};

	return suite_run("zero", tests);
}
