/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions on units that the kernel's driver counts: by what a unit counts, and the work of sessions
 * there. What the driver carries and what not: eventtables/CPU/units.tbl, from measurements on Linux
 * 6.1. That its counts are those of registers, and others who use it: test_session_both.c.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "fake_root.h"
#include "kernel_session_kit.h"

static unsigned encoded;

/* A kernel before 6.8: it has the CHAs of Emerald Rapids as what the discovery tables call type 0, and
 * its format for these has neither the upper bits of the umask nor a filter. */
static bool typed, denied;

int unc_kernel_find(struct unc_access *access, const char *pmu, unsigned socket, unsigned nth,
		    struct unc_kernel_place *out, struct unc_error *e)
{
	char named[UNC_KERNEL_NAME];
	int number, rc;

	if (!typed ||
	    (strncmp(pmu, "uncore_cha_", 11) != 0 && sscanf(pmu, "uncore_type_0_%d", &number) != 1))
		return REAL(unc_kernel_find)(access, pmu, socket, nth, out, e);
	if (pmu[7] == 'c')
		return unc_fail(e, UNC_ERR_UNAVAILABLE, "no %s", pmu);
	if (denied)
		return unc_fail(e, UNC_ERR_PERMISSION, "a right is missing");
	snprintf(named, sizeof(named), "uncore_cha_%d", number);
	rc = REAL(unc_kernel_find)(access, named, socket, nth, out, e);
	if (rc == 0)
		snprintf(out->pmu, sizeof(out->pmu), "%s", pmu);
	return rc;
}

int unc_events_format(const struct unc_fs *fs_, const char *pmu, struct unc_kernel_event *bits)
{
	(void)fs_;
	(void)pmu;
	*bits = (struct unc_kernel_event){.config = 0xff84ffff};
	return 0;
}

int unc_kernel_encode(const struct unc_table *t, const struct unc_code *code,
		      struct unc_kernel_code *out, struct unc_error *e)
{
	encoded++;
	return REAL(unc_kernel_encode)(t, code, out, e);
}

/* ---- which method */

static const char *access_of(struct unc_platform *p, const char *type, unsigned index,
			     unsigned socket)
{
	return unc_unit_get(p, (size_t)(unit_of(p, type, index, socket) - p->instances.unit))
		->access;
}

static void test_order(void)
{
	static const struct {
		const char *access, *method;
	} rows[] = {{NULL, "kernel"},
		    {"kernel", "kernel"},
		    {"kernel,direct", "kernel"},
		    {"direct,kernel", "simulated"},
		    {"direct", "simulated"},
		    {"simulated", "simulated"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct unc_platform *p = by(IVB, rows[i].access);

		CHECK_TEXT(access_of(p, "imc", 1, 1), rows[i].method);
		unc_platform_close(p);
	}
	/* The driver's IRP is not ours (facts of Linux 6.1): the registers serve it, and why. */
	struct unc_platform *p = by(IVB, NULL);
	const struct unc_unit *irp =
		unc_unit_get(p, (size_t)(unit_of(p, "irp", 0, 0) - p->instances.unit));
	CHECK_TEXT(irp->access, "simulated");
	CU_ASSERT(strncmp(irp->reason, "kernel: ", 8) == 0 && strlen(irp->reason) > 20);
	unc_platform_close(p);
	/* Linux before "Support extra IMC channel on Ice Lake server" has two PMUs a memory controller, not three: its
	 * uncore_imc_3 is our imc3, not imc2, and there is no uncore_imc_10. */
	p = by("icelake-sp-no-imc7,clock=step,kernel=on", NULL);
	CHECK_TEXT(access_of(p, "imc", 2, 0), "simulated");
	CU_ASSERT(strstr(unc_unit_get(p, (size_t)(unit_of(p, "imc", 2, 0) - p->instances.unit))
				 ->reason,
			 "without a PMU 'uncore_imc_10'") != NULL);
	unc_platform_close(p);
	p = by("icelake-sp,clock=step,kernel=on", NULL);
	CHECK_TEXT(access_of(p, "imc", 2, 0), "kernel");
	unc_platform_close(p);
	/* Without the driver nothing is said of it. */
	p = by("ivybridge-ep,clock=step", NULL);
	CHECK_TEXT(access_of(p, "imc", 1, 1), "simulated");
	CHECK_TEXT(unc_unit_get(p, (size_t)(unit_of(p, "irp", 0, 0) - p->instances.unit))->reason,
		   "");
	unc_platform_close(p);
}

static const char *why_not(struct unc_platform *p, const char *text)
{
	struct unc_session *s = session(p, 0);
	static char why[UNC_ERROR_MAX];
	int id, rc = unc_session_add(s, text, &id);

	if (rc == 0)
		rc = unc_session_start(s);
	snprintf(why, sizeof(why), "%s", rc < 0 ? unc_session_error(s) : "");
	unc_session_free(s);
	return why;
}

static void test_typed(void)
{
	struct unc_platform *p;
	struct unc_item item = {.size = sizeof(item)};

	typed = true;
	p = by("emerald-rapids,clock=step,kernel=on", "kernel");
	CHECK_TEXT(access_of(p, "cha", 3, 0), "kernel");
	CHECK_TEXT(p->kernel[unit_of(p, "cha", 3, 0) - p->instances.unit].place[0].pmu,
		   "uncore_type_0_3");
	CHECK_TEXT(why_not(p, "cha3.CLOCKTICKS"), "");
	CU_ASSERT(
		strstr(why_not(p, "cha3.TOR_INSERTS:IA_MISS_DRD"),
		       "the kernel's driver knows the unit as uncore_type_0_3 only, and drops bits "
		       "0xc817fe00000000 of the control: a kernel that has uncore_cha_3 is needed "
		       "(Linux 6.8)") != NULL);
	CHECK_NUMBER(unc_item_find(p, "uncore_type_0_3/event=1/", &item), 0);
	CHECK_TEXT(item.name, "cha3.CLOCKTICKS");
	unc_platform_close(p);
	/* It is there, though not for everybody: what is missing is the right, not the driver. */
	denied = true;
	p = by("emerald-rapids,clock=step,kernel=on", "kernel");
	CU_ASSERT(strncmp(unit_of(p, "cha", 3, 0)->reason, "kernel: a right is missing; ", 28) ==
		  0);
	unc_platform_close(p);
	typed = denied = false;
}

/* All that is told of an event of the kernel: its CPU is the first of the second socket's, of 12. */
static int tell_event(void *user, const struct unc_operation *op)
{
	char *text = user;

	if (strcmp(op->space, "kernel") == 0)
		snprintf(text, 200, "%s %d socket %d: %s at %s, %u bits, %s 0x%llx", op->unit,
			 op->index, op->socket, op->reg, op->location, op->width,
			 op->write ? "write" : "read", (unsigned long long)op->value);
	return 0;
}

static void test_plan_of_kernel(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);
	char text[200] = "";

	add(s, "imc5.CAS_COUNT:RD:socket=1");
	CHECK_NUMBER(unc_session_plan(s, UNC_PHASE_START, tell_event, text), 0);
	CHECK_TEXT(text, "imc 5 socket 1: uncore_imc_5/config at cpu 12, 64 bits, write 0x304");
	CHECK_NUMBER(unc_session_plan(s, UNC_PHASE_READ, tell_event, text), 0);
	CHECK_TEXT(text, "imc 5 socket 1: uncore_imc_5/count at cpu 12, 64 bits, read 0x0");
	unc_session_free(s);
	unc_platform_close(p);
}

/* What is opened, read and programmed, told by the plan. config: control without enable bits; imc
 * CAS_COUNT:RD is 0x4/0x3 (Linux, ivb_uncore imc events). */
static void test_plan(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);

	add(s, "imc0.CAS_COUNT:RD:socket=0");
	add(s, "irp0.CLOCKTICKS:socket=0");
	struct walked w = plan_of(s, UNC_PHASE_START, false);
	CU_ASSERT(strstr(w.text, "CTL") != NULL);
	const char *opened = strstr(w.text, "uncore_imc_0/config=");
	CU_ASSERT_FATAL(opened != NULL);
	CHECK_TEXT(opened, "uncore_imc_0/config=0x304");
	w = plan_of(s, UNC_PHASE_READ, false);
	CHECK_NUMBER(w.n, 2);
	CU_ASSERT(strstr(w.text, "uncore_imc_0/count") != NULL);
	w = plan_of(s, UNC_PHASE_STOP, false);
	CU_ASSERT(strstr(w.text, "uncore") == NULL);
	unc_session_free(s);
	unc_platform_close(p);
}

/* DEMOTIONS_COREn look at a filter that the driver does not write. */
static void test_not_carried(void)
{
	struct unc_platform *p = by("sandybridge-ep,clock=step,kernel=on", NULL);
	struct unc_session *s = session(p, 0);
	int off = add(s, "pcu.DEMOTIONS_CORE0:socket=0"), on = add(s, "imc0.CAS_COUNT:RD:socket=0"),
	    beside = add(s, "pcu.CLOCKTICKS:socket=0");

	start(s);
	step(p, 10 * ms);
	CU_ASSERT(set_of(s, unit_of(p, "pcu", 0, 0))->by != &unc_kernel);
	CU_ASSERT(set_of(s, unit_of(p, "imc", 0, 0))->by == &unc_kernel);
	CU_ASSERT(value_of(s, off).flags &
		  UNC_VALUE_VALID); /* idle states: none on a busy machine */
	CU_ASSERT(count_of(s, on) > 0 && count_of(s, beside) > 0);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(counting(p), 0);
	unc_session_free(s);
	check_quiet(p);
	unc_platform_close(p);

	p = by("sandybridge-ep,clock=step,kernel=on", "kernel");
	s = session(p, 0);
	int id;
	CHECK_NUMBER(unc_session_add(s, "pcu.DEMOTIONS_CORE0", &id), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(
		unc_session_error(s),
		"pcu.DEMOTIONS_CORE0: no such unit can be read: kernel: pcu.DEMOTIONS_CORE0: the "
		"kernel's driver does not set band0 of BOX_FILTER for it, and what an earlier "
		"event left there would count; registers: no chosen access method "
		"reaches msr registers; others do: simulated");
	CU_ASSERT(unc_session_add(s, "pcu.CLOCKTICKS", &id) == 0);
	unc_session_free(s);
	unc_platform_close(p);
}

/* A filter in a part of the unit that was not found: the driver would leave it out. */
static void test_filter_missing(void)
{
	struct unc_platform *p = by("ivybridge-ep-no-qpi1.match,clock=step,kernel=on", NULL);
	struct unc_session *s = session(p, 0);
	int id = add(s, "qpi.MESSAGE:DRS.AnyDataC"), alone;

	CHECK_TEXT(unc_session_partial(s, id),
		   "qpi1 (socket 0) and 1 more: kernel: its filter is in a part of the unit that "
		   "was not found, and the driver leaves it out without an error; registers: part "
		   "match: PCI function 09.6 (8086:0e96) is not visible: hidden by the BIOS, or "
		   "this machine has none");
	CHECK_NUMBER(unc_session_add(s, "qpi1.MESSAGE:DRS.AnyDataC", &alone), UNC_ERR_UNAVAILABLE);
	start(s);
	step(p, 10 * ms);
	CU_ASSERT(value_of(s, id).flags & UNC_VALUE_PARTIAL);
	CHECK_NUMBER(unc_session_stop(s), 0);
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- at work */

/* Groups are read whole: one read a unit. */
static void test_one_read(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);

	stand_between(p);
	add(s, "imc.CAS_COUNT:RD:socket=0");
	add(s, "imc.CAS_COUNT:WR:socket=0");
	add(s, "imc.CLOCKTICKS:socket=0");
	int ticks = add(s, "imc0.CAS_COUNT:RD:socket=0");
	start(s);
	step(p, ms);
	unsigned units = 0, before = between.reads;
	for (size_t i = 0; i < s->run->n_sets; i++)
		units += s->run->set[i].by == &unc_kernel;
	CU_ASSERT(count_of(s, ticks) > 0);
	CHECK_NUMBER(between.reads - before, units);
	CHECK_NUMBER(between.opened - between.closed, 3 * units);
	/* Nor is one read twice, where it is time to see whether it counts. */
	step(p, 60 * ms);
	before = between.reads;
	CU_ASSERT(count_of(s, ticks) > 0);
	CHECK_NUMBER(between.reads - before, units);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(between.opened, between.closed);
	/* Read again after the stop: nothing is asked of the kernel. */
	before = between.reads;
	CU_ASSERT(count_of(s, ticks) > 0);
	CHECK_NUMBER(between.reads, before);
	unc_session_free(s);
	unc_platform_close(p);
}

static int count_unit(void *user, const struct unc_unit *unit)
{
	++*(unsigned *)user;
	CU_ASSERT_PTR_NOT_NULL(strstr(unit->reason, unit->type->name));
	return 0;
}

/* It has all of its units, or tells which not. */
static void check_refused(struct unc_session *s, int id, const struct unc_value *v)
{
	unsigned missing = 0;

	CHECK_NUMBER(unc_session_missing(s, id, count_unit, &missing), 0);
	CHECK_NUMBER(v->units + missing, v->of);
	if (v->flags & UNC_VALUE_VALID)
		CHECK_NUMBER((v->flags & UNC_VALUE_PARTIAL) != 0, v->units < v->of);
	else
		CU_ASSERT(*unc_session_reason(s, id) && v->flags & UNC_VALUE_LOST);
}

/* Nothing is left open, and nothing programmed, whichever open fails: the kernel has no room for
 * more. Units that have found none are told. */
static void test_open_fails(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);
	struct unc_value v[3];
	unsigned opens;

	stand_between(p);
	add(s, "imc.CAS_COUNT:RD");
	add(s, "imc.CAS_COUNT:WR");
	add(s, "irp.CLOCKTICKS");
	start(s);
	opens = between.opened - between.closed;
	CHECK_NUMBER(unc_session_stop(s), 0);
	for (unsigned i = 1; i <= opens; i++) {
		between.fail_at = i;
		if (unc_session_start(s) == 0) {
			CU_ASSERT(between.opened - between.closed < i);
			step(p, ms);
			CHECK_NUMBER(unc_session_read(s, v, 3, sizeof(*v)), 0);
			for (int k = 0; k < 3; k++)
				check_refused(s, k, &v[k]);
			CHECK_NUMBER(unc_session_stop(s), 0);
		} else {
			CHECK_NUMBER(i, 1);
			CU_ASSERT(strncmp(unc_session_error(s), "imc", 3) == 0);
		}
		CHECK_NUMBER(between.opened, between.closed);
	}
	between.fail_at = 0;
	CHECK_NUMBER(counting(p), 0);
	start(s);
	CHECK_NUMBER(between.opened - between.closed, opens);
	unc_session_free(s);
	CHECK_NUMBER(between.opened, between.closed);
	check_quiet(p);
	unc_platform_close(p);
}

static unsigned said;
static void say_unloaded(void *user, enum unc_log_level level, const char *text)
{
	(void)user;
	said += level == UNC_LOG_WARNING &&
		strcmp(text, "the kernel's driver was unloaded: registers count instead") == 0;
}

/* The kernel's driver is unloaded while the platform stays open, and loaded again: registers count, if
 * they may, and say so; not the PMU that has its number now. */
static void test_unloaded(void)
{
	struct unc_options options = {.size = sizeof(options), .sim = IVB, .log = say_unloaded};
	struct unc_platform *p = NULL;

	said = 0;
	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	struct unc_session *s = session(p, 0);

	stand_between(p);
	add(s, "imc0.CAS_COUNT:RD:socket=0");
	start(s);
	step(p, 1000000000);
	uint64_t count = count_of(s, 0);
	CHECK_NUMBER(unc_session_stop(s), 0);
	between.gone = true;
	start(s);
	CHECK_NUMBER(said, 1);
	CHECK_NUMBER(counting(p), 2); /* and a clock */
	step(p, 1000000000);
	CHECK_NUMBER(count_of(s, 0), count);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(between.opened, between.closed);
	CHECK_NUMBER(counting(p), 0);
	between.gone = false;
	between.moved = 3;
	start(s);
	step(p, 1000000000);
	CHECK_NUMBER(count_of(s, 0), count);
	unc_session_free(s);
	CHECK_NUMBER(between.opened, between.closed);
	unc_platform_close(p);
}

/* The same without registers. */
static void test_only_kernel(void)
{
	struct unc_platform *p = by(IVB, "kernel");
	struct unc_session *s = session(p, 0);

	stand_between(p);
	add(s, "imc0.CAS_COUNT:RD:socket=0");
	between.gone = true;
	CHECK_NUMBER(unc_session_start(s), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(unc_session_error(s),
		   "imc0 (socket 0): the kernel has no PMU uncore_imc_0: its driver is not loaded "
		   "(modprobe intel_uncore) or does not know the unit");
	CHECK_NUMBER(between.opened, between.closed);
	CHECK_NUMBER(counting(p), 0);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Without NUMA nodes and rights to registers the kernel counts as much as with nodes. */
static void test_no_nodes(void)
{
	static const char *const event[] = {"imc.CAS_COUNT:RD", "cbo.LLC_LOOKUP:DATA_READ",
					    "qpi.CLOCKTICKS"};
	static const char *const cpu[] = {"sandybridge-ep", "ivybridge-ep"};

	for (size_t i = 0; i < 6; i++) {
		uint64_t count[2];

		for (unsigned off = 0; off < 2; off++) {
			char sim[100];

			snprintf(sim, sizeof(sim), "%s%s,clock=step,kernel=on,rights=perf",
				 cpu[i / 3], off ? "-no-nodes" : "");
			struct unc_platform *p = by(sim, NULL);
			struct unc_session *s = session(p, 0);

			add(s, event[i % 3]);
			start(s);
			step(p, 1000000000);
			CHECK_NUMBER(value_of(s, 0).flags & (UNC_VALUE_VALID | UNC_VALUE_PARTIAL),
				     UNC_VALUE_VALID);
			count[off] = count_of(s, 0);
			unc_session_free(s);
			unc_platform_close(p);
		}
		CU_ASSERT(count[0] > 0);
		CHECK_NUMBER(count[1], count[0]);
	}
}

/* The CHA's extension of events of CXL devices: where format/umask names it. */
static uint64_t umask_before(struct unc_machine *m, const char *pmu)
{
	(void)m, (void)pmu;
	return 0x00FFFFFF0000FF00;
}

static uint64_t umask_since(struct unc_machine *m, const char *pmu)
{
	(void)m, (void)pmu;
	return 0xFFFFFFFF0000FF00;
}

static void test_umask(void)
{
	static const char event[] = "cha.TOR_INSERTS:IA_MISS_DRD_CXL_ACC";
	int id;

	for (unsigned since = 0; since < 2; since++) {
		struct unc_platform *p =
			by("emerald-rapids,clock=step,kernel=on,rights=perf", NULL);
		struct unc_session *s = session(p, 0);
		struct unc_machine_events events = *p->machine->events;

		events.umask = since ? umask_since : umask_before;
		p->machine->events = &events;
		CHECK_NUMBER(unc_session_add(s, event, &id), since ? 0 : UNC_ERR_UNAVAILABLE);
		CU_ASSERT(since ||
			  strstr(unc_session_error(s),
				 "the kernel's driver drops bits 0x1000000000000000 of the "
				 "control: format/umask of uncore_cha_0 does not name them"));
		unc_session_free(s);
		unc_platform_close(p);
	}
}

/* Six events on four counters: two passes, scaled; what fits beside them counts always. Counters that the
 * second pass leaves free count nothing of the first, by registers as by the kernel. */
static void test_passes(void)
{
	struct unc_platform *kernel = by(IVB, NULL), *direct = by(IVB, "direct");
	struct unc_value v[2][MANY];

	for (int k = 0; k < 2; k++) {
		struct unc_platform *p = k ? direct : kernel;
		struct unc_session *s = session(p, UNC_SESSION_ROTATE);

		if (!k)
			stand_between(p);
		for (size_t i = 0; i < MANY; i++)
			add(s, many[i]);
		CHECK_NUMBER(unc_session_passes(s), 2);
		start(s);
		for (int turn = 0; turn < 6; turn++) {
			step(p, 10 * ms);
			CHECK_NUMBER(turn_pass(s), 0);
		}
		CHECK_NUMBER(unc_session_stop(s), 0);
		CHECK_NUMBER(unc_session_read(s, v[k], MANY, sizeof(v[k][0])), 0);
		unc_session_free(s);
		if (!k)
			CHECK_NUMBER(between.opened, between.closed);
	}
	for (size_t i = 0; i < MANY; i++) {
		CHECK_NUMBER(v[0][i].flags, v[1][i].flags);
		CHECK_NEAR(v[0][i].value, v[1][i].value, 1e-4);
		for (int k = 0; k < 2; k++)
			CHECK_NEAR(v[k][i].share, i < MANY - 1 ? 0.5 : 1, 1e-9);
	}
	unc_platform_close(kernel);
	unc_platform_close(direct);
}

/* What the kernel refuses at a rotation is lost alone, with nothing left open. */
static void test_rotation_fails(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	struct unc_value v[MANY];

	stand_between(p);
	for (size_t i = 0; i < MANY; i++)
		add(s, many[i]);
	start(s);
	step(p, ms);
	between.fail_at = 4; /* the second of the group of imc0 */
	CHECK_NUMBER(turn_pass(s), 0);
	CHECK_NUMBER(between.opened, between.closed + 2); /* of imc1, which goes on, and a clock */
	step(p, ms);
	CHECK_NUMBER(unc_session_read(s, v, MANY, sizeof(*v)), 0);
	for (size_t i = 0; i < MANY; i++) {
		bool lost = i < MANY - 1 && s->measure[i].pass == 1;

		CHECK_NUMBER(!(v[i].flags & UNC_VALUE_VALID), lost);
		CHECK_NUMBER(!*unc_session_reason(s, (int)i), !lost);
	}
	between.fail_at = 0;
	unc_session_free(s);
	CHECK_NUMBER(between.opened, between.closed);
	unc_platform_close(p);
}

/* Each its own base; events that both want are opened once, though the second wants one more. */
static void test_two_sessions(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *one = session(p, 0), *two = session(p, 0), *off = session(p, 0);

	stand_between(p);
	int a = add(one, "cbo0.CLOCKTICKS:socket=0"), b = add(two, "cbo0.CLOCKTICKS:socket=0"),
	    c = add(off, "irp0.CLOCKTICKS:socket=0");
	add(two, "cbo1.CLOCKTICKS:socket=0");
	start(one);
	step(p, 10 * ms);
	start(two);
	start(off);
	step(p, 10 * ms);
	uint64_t both = count_of(one, a), last = count_of(two, b);
	CHECK_NEAR((double)both, 2.0 * (double)last, 1e-6);
	CU_ASSERT(count_of(off, c) > 0);
	CU_ASSERT_PTR_NOT_EQUAL(one->run, two->run);
	CHECK_NUMBER(between.opened - between.closed, 2);
	CHECK_NUMBER(unc_session_stop(one), 0);
	CHECK_NUMBER(between.opened - between.closed, 2);
	step(p, 10 * ms);
	CHECK_NEAR((double)count_of(two, b), (double)both, 1e-6);
	unc_session_free(one);
	unc_session_free(two);
	unc_session_free(off);
	CHECK_NUMBER(between.opened, between.closed);
	unc_platform_close(p);
}

/* Where a session of ours has a unit by its registers, the kernel is kept from it. */
static void test_registers_first(void)
{
	struct unc_platform *p = by("sandybridge-ep,clock=step,kernel=on", NULL);
	struct unc_session *one = session(p, 0), *two = session(p, 0);
	int a = add(one, "pcu.DEMOTIONS_CORE0:socket=0"), b = add(two, "pcu.CLOCKTICKS:socket=0");

	start(one);
	start(two);
	CU_ASSERT(two->run->set[0].by != &unc_kernel);
	step(p, 10 * ms);
	CU_ASSERT(value_of(one, a).flags & UNC_VALUE_VALID);
	CU_ASSERT(count_of(two, b) > 0);
	CHECK_NUMBER(unc_session_stop(one), 0);
	CHECK_NUMBER(unc_session_stop(two), 0);
	start(two);
	CU_ASSERT(two->run->set[0].by == &unc_kernel);
	unc_session_free(one);
	unc_session_free(two);
	check_quiet(p);
	unc_platform_close(p);
}

struct worker {
	struct unc_platform *p;
	const char *event;
	pthread_t thread;
	unsigned failed;
};

static void *work(void *user)
{
	struct worker *w = user;
	struct unc_value v;
	int id;

	for (int i = 0; i < 30; i++) {
		struct unc_session *s = NULL;

		w->failed += unc_session_new(w->p, 0, &s) < 0 ||
			     unc_session_add(s, w->event, &id) < 0 || unc_session_start(s) < 0 ||
			     unc_session_read(s, &v, 1, sizeof(v)) < 0 || unc_session_stop(s) < 0 ||
			     unc_session_read(s, &v, 1, sizeof(v)) < 0 ||
			     !(v.flags & UNC_VALUE_VALID) || v.count == 0;
		unc_session_free(s);
	}
	return NULL;
}

/* Two of them want the same. */
static void test_threads(void)
{
	struct unc_platform *p = by("ivybridge-ep,kernel=on", NULL);
	struct worker w[] = {{p, "cbo.CLOCKTICKS:socket=0", 0, 0},
			     {p, "cbo.CLOCKTICKS:socket=0", 0, 0},
			     {p, "imc.CAS_COUNT:RD:socket=0", 0, 0},
			     {p, "irp.CLOCKTICKS:socket=0", 0, 0}};

	for (size_t i = 0; i < sizeof(w) / sizeof(*w); i++)
		CU_ASSERT_FATAL(pthread_create(&w[i].thread, NULL, work, &w[i]) == 0);
	for (size_t i = 0; i < sizeof(w) / sizeof(*w); i++) {
		pthread_join(w[i].thread, NULL);
		CHECK_NUMBER(w[i].failed, 0);
	}
	CHECK_NUMBER(counting(p), 0);
	check_quiet(p);
	unc_platform_close(p);
}

/* A forked process gives back its memory, and leaves the counting alone. */
static void test_fork(void)
{
	struct unc_platform *p = by("ivybridge-ep,kernel=on", NULL);
	struct unc_session *s = session(p, 0);
	int id = add(s, "cbo.CLOCKTICKS:socket=0"), status = -1;
	struct unc_value v;

	start(s);
	pid_t child = fork();
	if (child == 0) {
		bool refused = unc_session_read(s, &v, 1, sizeof(v)) == UNC_ERR_STATE;

		unc_session_free(s);
		unc_platform_close(p);
		_exit(refused ? 0 : 1);
	}
	CU_ASSERT(waitpid(child, &status, 0) == child);
	CHECK_NUMBER(status, 0);
	CU_ASSERT(count_of(s, id) > 0);
	CHECK_NUMBER(unc_session_stop(s), 0);
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_watch(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);

	add(s, "cbo0.TOR_INSERTS:ALL:socket=0");
	start(s);
	CU_ASSERT(s->run->look_ns == UINT64_MAX);
	CHECK_NUMBER(unc_session_stop(s), 0);
	add(s, "irp0.CLOCKTICKS:socket=0");
	start(s);
	CU_ASSERT(s->run->look_ns < UINT64_MAX);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Units of a type are alike, and so are starts. The clock of the type is one event more. */
static void test_encoded_once(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);

	encoded = 0;
	add(s, "imc.CAS_COUNT:RD");
	add(s, "imc.CAS_COUNT:WR");
	CU_ASSERT(s->n_wants >= 2 * 8);
	for (unsigned i = 0; i < 2; i++) {
		start(s);
		CHECK_NUMBER(unc_session_stop(s), 0);
	}
	CHECK_NUMBER(encoded, 2 + 1);
	unc_session_free(s);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"order of methods", test_order},
		{"PMUs that have only a number", test_typed},
		{"what is opened and read", test_plan},
		{"what the plan tells of an event", test_plan_of_kernel},
		{"encoded once", test_encoded_once},
		{"what the driver does not carry", test_not_carried},
		{"a filter in a part that is missing", test_filter_missing},
		{"one read a unit", test_one_read},
		{"an open fails", test_open_fails},
		{"the driver is unloaded", test_unloaded},
		{"the driver is unloaded, and no registers", test_only_kernel},
		{"without NUMA nodes", test_no_nodes},
		{"bits that its format names", test_umask},
		{"several passes", test_passes},
		{"a rotation fails", test_rotation_fails},
		{"two sessions", test_two_sessions},
		{"registers first", test_registers_first},
		{"threads", test_threads},
		{"a forked process", test_fork},
		{"looking in", test_watch},
		{NULL, NULL},
	};

	return suite_run("sessions by the kernel's driver", tests);
}
