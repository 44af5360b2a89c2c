/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions on units that the kernel's driver counts (kernel=on: its model). What it carries and what
 * not: eventtables/CPU/units.tbl, from measurements on Linux 6.1. That both ways give the same
 * count is asked for each event; rates are those of eventtables/CPU/workload.tbl.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session_kit.h"

#define IVB "ivybridge-ep,clock=step,kernel=on"
#define IVB_WAIT "ivybridge-ep,clock=wait,kernel=on"

static struct unc_platform *by(const char *sim, const char *access)
{
	struct unc_options options = {.size = sizeof(options), .sim = sim, .access = access};
	struct unc_platform *p = NULL;

	if (unc_platform_open(&options, &p) < 0)
		printf("# %s by %s: %s\n", sim, access, unc_open_error());
	CU_ASSERT_FATAL(p != NULL);
	return p;
}

static const struct unc_instance *unit_of(struct unc_platform *p, const char *type, unsigned index,
					  unsigned socket)
{
	for (size_t i = 0; i < p->instances.n; i++) {
		const struct unc_instance *u = &p->instances.unit[i];

		if (u->index == index && u->socket == socket &&
		    strcmp(unc_tbl_str(p->table, p->table->type[u->type].name), type) == 0)
			return u;
	}
	CU_FAIL_FATAL("no such unit");
	return NULL;
}

/* ---- a kernel between us and the model: it can fail, be short of counters, or have a dead event */

static struct {
	const struct unc_machine_events *model;
	struct unc_machine_methods methods;
	unsigned opened, closed, reads;
	unsigned fail_at; /* this open fails, from 1 on; 0: none */
	unsigned keep;    /* of 4 parts of the time, those that are ours; 4: all */
	bool dead;        /* time stands still for events */
	uint64_t enabled; /* where it does */
} between;

static int find_between(struct unc_machine *m, const char *pmu, uint32_t *type, char *mask,
			size_t size)
{
	return between.model->find(m, pmu, type, mask, size);
}

static int open_between(struct unc_machine *m, const struct perf_event_attr *attr, int cpu,
			int group_fd)
{
	if (between.fail_at && between.opened - between.closed + 1 == between.fail_at) {
		errno = EINVAL;
		return -1;
	}
	int fd = between.model->open(m, attr, cpu, group_fd);
	between.opened += fd >= 0;
	return fd;
}

static int enable_between(struct unc_machine *m, int fd)
{
	return between.model->enable(m, fd);
}

static long read_between(struct unc_machine *m, int fd, void *buf, size_t size)
{
	uint64_t *data = buf;
	long got = between.model->read(m, fd, buf, size);

	between.reads++;
	if (got <= 0)
		return got;
	if (between.dead) {
		data[1] = data[2] = between.enabled;
		return got;
	}
	between.enabled = data[1];
	data[2] = data[1] / 4 * between.keep;
	for (uint64_t i = 0; i < data[0]; i++)
		data[3 + i] = data[3 + i] / 4 * between.keep;
	return got;
}

static void close_between(struct unc_machine *m, int fd)
{
	between.closed++;
	between.model->close(m, fd);
}

static void stand_between(struct unc_platform *p)
{
	static const struct unc_machine_events events = {find_between, open_between, enable_between,
							 read_between, close_between};

	memset(&between, 0, sizeof(between));
	between.keep = 4;
	between.model = p->machine->methods->events;
	between.methods = *p->machine->methods;
	between.methods.events = &events;
	p->machine->methods = &between.methods;
}

/* ---- the same by both */

struct both {
	struct unc_platform *kernel, *direct;
	unsigned same, not_carried;
};

/* What is counted in a ms by how many counters; 0: it cannot be added. */
static size_t count_for(struct unc_platform *p, const char *text, uint64_t *count, bool *by_kernel)
{
	struct unc_session *s = session(p, 0);
	struct unc_value v = {0};
	int id, rc = unc_session_add(s, text, &id);
	size_t n = rc == 0 ? s->n_slots : 0;

	if (rc == 0) {
		start(s);
		*by_kernel = s->by_kernel[s->slot[0].instance];
		step(p, ms);
		v = value_of(s, id);
		if (!(v.flags & UNC_VALUE_VALID) || (v.flags & UNC_VALUE_ESTIMATED))
			printf("# %s: %s\n", text, unc_session_reason(s, id));
		CU_ASSERT(v.flags & UNC_VALUE_VALID);
		CU_ASSERT(!(v.flags & UNC_VALUE_ESTIMATED));
		CHECK_NUMBER(unc_session_stop(s), 0);
		*count = v.count;
	}
	unc_session_free(s);
	return n;
}

static void compare(struct both *both, const char *text)
{
	uint64_t kernel = 0, direct = 0;
	bool by_kernel, by_direct;
	size_t n = count_for(both->kernel, text, &kernel, &by_kernel);

	if (!n) {
		both->not_carried++;
		return;
	}
	CU_ASSERT(by_kernel);
	CHECK_NUMBER(count_for(both->direct, text, &direct, &by_direct), n);
	CU_ASSERT(!by_direct);
	/* Each counter shows whole counts only, and did not begin at the same fraction. */
	if (kernel > direct + n || direct > kernel + n) {
		printf("# %s: %llu by the kernel, %llu by registers\n", text,
		       (unsigned long long)kernel, (unsigned long long)direct);
		CU_FAIL("not the same count");
	}
	both->same++;
}

static void events_of(const void *cpu)
{
	char sim[80], text[UNC_SPEC_MAX];
	const struct unc_event *e;
	const struct unc_umask *u;
	struct both both = {0};

	snprintf(sim, sizeof(sim), "%s,clock=step,kernel=on", (const char *)cpu);
	both.kernel = by(sim, "kernel");
	both.direct = by(sim, "direct");
	for (size_t i = 0; (e = unc_event_get(both.kernel, i)) != NULL; i++) {
		if (!e->needs_umask)
			compare(&both, e->spec);
		/* That each umask gets there: test_kernel_encode.c. */
		for (size_t k = 0; k < 2 && (u = unc_umask_get(both.kernel, i, k)); k++) {
			snprintf(text, sizeof(text), "%s:%s", e->spec, u->name);
			if (u->standalone && !u->reason[0])
				compare(&both, text);
		}
	}
	printf("# %s: %u names count the same, %u are not carried\n", sim, both.same,
	       both.not_carried);
	CU_ASSERT(both.same > 50);
	check_quiet(both.kernel);
	unc_platform_close(both.kernel);
	unc_platform_close(both.direct);
}

/* A metric's value after each pass had a ms. */
static struct unc_value metric_for(struct unc_platform *p, const char *name, bool *kernel)
{
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	struct unc_value v = {0};

	add_metric(s, name);
	start(s);
	for (int pass = 0; pass < unc_session_passes(s); pass++) {
		step(p, 100 * ms);
		CU_ASSERT(unc_session_read(s, &v, 1, sizeof(v)) == 0);
		CHECK_NUMBER(unc_session_rotate(s), 0);
	}
	for (size_t i = 0; i < s->n_slots; i++)
		*kernel |= s->by_kernel[s->slot[i].instance];
	CHECK_NUMBER(unc_session_stop(s), 0);
	unc_session_free(s);
	return v;
}

static void metrics_of(const void *cpu)
{
	struct unc_platform *kernel, *direct;
	const struct unc_metric *m;
	unsigned n = 0;
	char sim[80];

	snprintf(sim, sizeof(sim), "%s,clock=step,kernel=on", (const char *)cpu);
	kernel = by(sim, "kernel,direct");
	direct = by(sim, "direct");
	for (size_t i = 0; (m = unc_metric_get(direct, i)) != NULL; i++) {
		bool by_kernel = false, none = false;

		CHECK_NUMBER(unc_metric_get(kernel, i)->available, m->available);
		if (!m->available)
			continue;
		struct unc_value a = metric_for(kernel, m->name, &by_kernel),
				 b = metric_for(direct, m->name, &none);
		if (a.flags != b.flags)
			printf("# %s: flags %x, %x\n", m->name, a.flags, b.flags);
		CHECK_NUMBER(a.flags, b.flags);
		if (a.flags & UNC_VALUE_VALID)
			CHECK_NEAR(a.value, b.value, 5e-3); /* whole counts of some */
		CU_ASSERT(!none);
		n += by_kernel;
	}
	printf("# %s: %u metrics by the kernel\n", sim, n);
	CU_ASSERT(n > 0);
	check_quiet(kernel);
	unc_platform_close(kernel);
	unc_platform_close(direct);
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
	/* Without the driver nothing is said of it. */
	p = by("ivybridge-ep,clock=step", NULL);
	CHECK_TEXT(access_of(p, "imc", 1, 1), "simulated");
	CHECK_TEXT(unc_unit_get(p, (size_t)(unit_of(p, "irp", 0, 0) - p->instances.unit))->reason,
		   "");
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
	CU_ASSERT(!s->by_kernel[unit_of(p, "pcu", 0, 0) - p->instances.unit]);
	CU_ASSERT(s->by_kernel[unit_of(p, "imc", 0, 0) - p->instances.unit]);
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
		"event left there would count; registers: no access method that was chosen "
		"reaches msr registers; others do: simulated");
	CU_ASSERT(unc_session_add(s, "pcu.CLOCKTICKS", &id) == 0);
	CHECK_NUMBER(unc_session_sample(s, id, 1000), UNC_ERR_UNAVAILABLE);
	CU_ASSERT(strstr(unc_session_error(s), "needs the registers of its units") != NULL);
	unc_session_free(s);
	unc_platform_close(p);
}

/* A filter that one event needs by registers, and a unit without them for another. */
static void test_mixed(void)
{
	struct unc_platform *p = by("sandybridge-ep,clock=step,kernel=on", NULL);
	struct unc_session *s = session(p, 0);

	add(s, "qpi0.CLOCKTICKS:socket=0");
	struct unc_instance *qpi = (struct unc_instance *)(uintptr_t)unit_of(p, "qpi", 0, 0);
	int by_filter = add(s, "qpi0.CTO_COUNT:match0=0x10:mask0=0x10:socket=0");
	(void)by_filter;
	/* The match registers are out of reach, and the others needed for what is not carried. */
	qpi->part[1].present = false;
	int off = -1, rc = unc_session_add(s, "qpi0.RxL_FLITS_G1:DRS:socket=0", &off);
	CHECK_NUMBER(rc, 0);
	s->slot[s->n_slots - 1].code.ctl |= 1u << 16; /* no driver carries that */
	CHECK_NUMBER(unc_session_start(s), UNC_ERR_UNAVAILABLE);
	CU_ASSERT(strstr(unc_session_error(s), "a unit counts by one method at a time, and on qpi0 "
					       "(socket 0)") != NULL);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Events that end intervals take the registers, and the whole session with them. */
static void test_sampling(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);
	int clock = add(s, "cbo0.CLOCKTICKS:socket=0"),
	    other = add(s, "imc0.CAS_COUNT:RD:socket=0");
	struct unc_overflow overflow = {.size = sizeof(overflow)};
	struct unc_value v[2];

	CHECK_NUMBER(unc_session_sample(s, clock, 1000000), 0);
	start(s);
	CU_ASSERT(!s->by_kernel[s->slot[0].instance] && !s->by_kernel[s->slot[1].instance]);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_session_poll(s, &overflow, v, 2, sizeof(*v)), 0);
	CHECK_NUMBER(overflow.id, clock);
	CU_ASSERT(v[other].count > 0);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_sample(s, 0, 0), 0);
	start(s);
	CU_ASSERT(s->by_kernel[s->slot[0].instance]);
	unc_session_free(s);
	check_quiet(p);
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
	for (size_t i = 0; i < s->n_units; i++)
		units += s->unit[i].by_kernel;
	CU_ASSERT(count_of(s, ticks) > 0);
	CHECK_NUMBER(between.reads - before, units);
	CHECK_NUMBER(between.opened - between.closed, 3 * units);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(between.opened, between.closed);
	/* Read again after the stop: nothing is asked of the kernel. */
	before = between.reads;
	CU_ASSERT(count_of(s, ticks) > 0);
	CHECK_NUMBER(between.reads, before);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Nothing is left open, and nothing programmed, whichever open fails. */
static void test_open_fails(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);
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
		CU_ASSERT(unc_session_start(s) < 0);
		CHECK_NUMBER(between.opened, between.closed);
		CU_ASSERT(strncmp(unc_session_error(s), "imc", 3) == 0);
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

static const char *const many[] = {
	"imc0.CAS_COUNT:RD:socket=0", "imc0.CAS_COUNT:WR:socket=0",
	"imc0.ACT_COUNT:RD:socket=0", "imc0.PRE_COUNT:RD:socket=0",
	"imc0.PRE_COUNT:WR:socket=0", "imc0.PRE_COUNT:PAGE_MISS:socket=0",
	"imc1.CAS_COUNT:RD:socket=0",
};
enum { MANY = sizeof(many) / sizeof(*many) };

/* Six events on four counters: two passes, scaled; what fits beside them counts always. */
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
			CHECK_NUMBER(unc_session_rotate(s), 0);
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
		CHECK_NEAR(v[0][i].share, i < MANY - 1 ? 0.5 : 1, 1e-9);
	}
	unc_platform_close(kernel);
	unc_platform_close(direct);
}

/* A rotation of which the kernel refuses a part ends the session, with nothing left open. */
static void test_rotation_fails(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);

	stand_between(p);
	for (size_t i = 0; i < MANY; i++)
		add(s, many[i]);
	start(s);
	step(p, ms);
	between.fail_at = 3;
	CU_ASSERT(unc_session_rotate(s) < 0);
	CU_ASSERT(!s->running);
	CHECK_NUMBER(between.opened, between.closed);
	between.fail_at = 0;
	start(s);
	step(p, ms);
	CU_ASSERT(value_of(s, 0).flags & UNC_VALUE_VALID);
	unc_session_free(s);
	CHECK_NUMBER(between.opened, between.closed);
	unc_platform_close(p);
}

/* Each its own base; events that both want are opened once. */
static void test_two_sessions(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *one = session(p, 0), *two = session(p, 0), *off = session(p, 0);

	stand_between(p);
	int a = add(one, "cbo0.CLOCKTICKS:socket=0"), b = add(two, "cbo0.CLOCKTICKS:socket=0"),
	    c = add(off, "irp0.CLOCKTICKS:socket=0");
	start(one);
	step(p, 10 * ms);
	start(two);
	start(off);
	step(p, 10 * ms);
	uint64_t both = count_of(one, a), last = count_of(two, b);
	CHECK_NEAR((double)both, 2.0 * (double)last, 1e-6);
	CU_ASSERT(count_of(off, c) > 0);
	CHECK_NUMBER(between.opened - between.closed, 1);
	CHECK_NUMBER(unc_session_stop(one), 0);
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
	CU_ASSERT(!two->by_kernel[two->slot[0].instance]);
	step(p, 10 * ms);
	CU_ASSERT(value_of(one, a).flags & UNC_VALUE_VALID);
	CU_ASSERT(count_of(two, b) > 0);
	CHECK_NUMBER(unc_session_stop(one), 0);
	CHECK_NUMBER(unc_session_stop(two), 0);
	start(two);
	CU_ASSERT(two->by_kernel[two->slot[0].instance]);
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

/* ---- others */

/* A quarter of the time, and the count of it scaled to all; none of the time is no number. */
static void test_neighbour(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);
	int id = add(s, "cbo0.CLOCKTICKS:socket=0"), all = add(s, "cbo1.CLOCKTICKS:socket=0");

	start(s);
	step(p, 10 * ms);
	double full = value_of(s, all).value;
	CHECK_NUMBER(unc_session_stop(s), 0);
	stand_between(p);
	between.keep = 1;
	start(s);
	step(p, 10 * ms);
	struct unc_value v = value_of(s, id);
	CHECK_NUMBER(v.flags & (UNC_VALUE_VALID | UNC_VALUE_ESTIMATED),
		     UNC_VALUE_VALID | UNC_VALUE_ESTIMATED);
	CHECK_NEAR(v.share, 0.25, 1e-6);
	CHECK_NEAR(v.seconds, 0.0025, 1e-6);
	CHECK_NEAR(v.value, full, 1e-6);
	CHECK_NEAR(v.interval, full, 1e-6);
	CHECK_NUMBER(unc_session_stop(s), 0);
	/* Never. */
	between.keep = 0;
	start(s);
	step(p, 10 * ms);
	v = value_of(s, id);
	CHECK_NUMBER(v.flags & UNC_VALUE_VALID, 0);
	CHECK_TEXT(unc_session_reason(s, id),
		   "cbo0.CLOCKTICKS:socket=0: not measured: others of the kernel's users had the "
		   "counters of cbo0 (socket 0) all the time");
	/* A reset forgets it. */
	between.keep = 4;
	CHECK_NUMBER(unc_session_stop(s), 0);
	start(s);
	step(p, ms);
	v = value_of(s, id);
	CHECK_NUMBER(v.flags & (UNC_VALUE_VALID | UNC_VALUE_ESTIMATED), UNC_VALUE_VALID);
	unc_session_free(s);
	unc_platform_close(p);
}

/* perf on the same box, of the model: five of its events and four of ours take turns. */
static void test_perf(void)
{
	struct unc_platform *p = by(IVB, NULL);
	const struct unc_machine_events *events = p->machine->methods->events;
	const struct unc_kernel_unit *imc = &p->kernel[unit_of(p, "imc", 0, 0) - p->instances.unit];
	struct unc_session *s = session(p, 0);
	int fd[4], id[4];

	for (unsigned i = 0; i < 4; i++) {
		/* pinned, as perf stat -e EVENT:D opens them */
		struct perf_event_attr attr = {.type = imc->place[0].type,
					       .size = sizeof(attr),
					       .config = 0x304,
					       .pinned = i < 2,
					       .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
							      PERF_FORMAT_TOTAL_TIME_RUNNING |
							      PERF_FORMAT_GROUP};

		fd[i] = events->open(p->machine, &attr, (int)imc->place[0].cpu, -1);
		CU_ASSERT(fd[i] >= 0);
	}
	for (int i = 0; i < 4; i++)
		id[i] = add(s, many[i]);
	CHECK_NUMBER(unc_session_start(s), 0);
	for (int i = 0; i < 20; i++) {
		step(p, 5 * ms);
		(void)value_of(s, id[0]);
	}
	struct unc_value v = value_of(s, id[0]);
	/* Two counters are left for four events in one group: it never has them. */
	CHECK_NUMBER(v.flags & UNC_VALUE_VALID, 0);
	printf("# %s\n", unc_session_reason(s, id[0]));
	CHECK_NUMBER(unc_session_stop(s), 0);
	for (int i = 0; i < 2; i++) /* the pinned ones go, two others remain */
		events->close(p->machine, fd[i]);
	CHECK_NUMBER(unc_session_start(s), 0);
	for (int i = 0; i < 20; i++) {
		step(p, 5 * ms);
		(void)value_of(s, id[0]);
	}
	v = value_of(s, id[0]);
	CU_ASSERT(v.flags & UNC_VALUE_VALID);
	CHECK_COUNT(v.count, v.value, 1);
	for (int i = 2; i < 4; i++)
		events->close(p->machine, fd[i]);
	unc_session_free(s);
	unc_platform_close(p);
}

/* All CPUs of the socket went offline: the old count never comes as a new one. */
static void test_dead(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);
	int id = add(s, "cbo0.CLOCKTICKS:socket=0");
	struct unc_value v;

	add(s, "irp0.CLOCKTICKS:socket=0"); /* or all reads would fail, and the call */
	stand_between(p);
	start(s);
	step(p, 200 * ms);
	CU_ASSERT(count_of(s, id) > 0);
	between.dead = true;
	step(p, 200 * ms);
	v = value_of(s, id);
	CHECK_NUMBER(v.flags & (UNC_VALUE_VALID | UNC_VALUE_LOST), UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_reason(s, id),
		   "cbo0.CLOCKTICKS:socket=0: what the kernel counts on cbo0 (socket 0) could not "
		   "be read: all CPUs of its socket went offline");
	between.dead = false; /* they are back, the event is not */
	step(p, 200 * ms);
	CHECK_NUMBER(value_of(s, id).flags & UNC_VALUE_VALID, 0);
	CHECK_NUMBER(unc_session_stop(s), 0);
	start(s);
	step(p, 200 * ms);
	CU_ASSERT(count_of(s, id) > 0);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Bit 31 of GLOBAL_CTL freezes the socket (Ivy Bridge-EP guide): the driver does not look at it. */
static void test_frozen_socket(void)
{
	struct unc_platform *p = by(IVB_WAIT, "kernel");
	void *global = reg_of(p, "ubox", 0, 1, "GLOBAL_CTL");
	struct unc_session *s = session(p, 0);
	int near = add(s, "cbo0.LLC_VICTIMS:M_STATE:socket=0"),
	    far = add(s, "cbo0.LLC_VICTIMS:M_STATE:socket=1");

	CU_ASSERT_FATAL(global != NULL);
	unc_sim_write(unc_machine_sim(p->machine), global, 0x80000000);
	start(s);
	step(p, 100 * ms);
	CU_ASSERT(count_of(s, near) > 0);
	CHECK_NUMBER(value_of(s, far).flags, UNC_VALUE_LOST);
	CU_ASSERT(strstr(unc_session_reason(s, far),
			 "cbo0 (socket 1) does not count: it is frozen") != NULL);
	CHECK_NUMBER(unc_session_stop(s), 0);
	/* Somebody freezes it while it counts. */
	unc_sim_write(unc_machine_sim(p->machine), global, 0x20000000);
	start(s);
	step(p, 100 * ms);
	CU_ASSERT(count_of(s, far) > 0);
	unc_sim_write(unc_machine_sim(p->machine), global, 0x80000000);
	for (int i = 0; i < 3; i++) {
		step(p, 100 * ms);
		(void)value_of(s, far);
	}
	CHECK_NUMBER(value_of(s, far).flags, UNC_VALUE_LOST);
	unc_session_free(s);
	unc_platform_close(p);

	/* With the right to write, it goes on. */
	p = by(IVB_WAIT, NULL);
	s = session(p, 0);
	far = add(s, "cbo0.LLC_VICTIMS:M_STATE:socket=1");
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "ubox", 0, 1, "GLOBAL_CTL"),
		      0x80000000);
	start(s);
	step(p, 100 * ms);
	CU_ASSERT(count_of(s, far) > 0);
	unc_session_free(s);
	unc_platform_close(p);
}

/* The kernel adds up: nobody has to look in; a counter of ours brings that back. */
static void test_watch(void)
{
	struct unc_platform *p = by(IVB, NULL);
	struct unc_session *s = session(p, 0);

	add(s, "cbo0.CLOCKTICKS:socket=0");
	start(s);
	CU_ASSERT(s->watch_seconds > 1e6);
	CHECK_NUMBER(unc_session_stop(s), 0);
	add(s, "irp0.CLOCKTICKS:socket=0");
	start(s);
	CU_ASSERT(s->watch_seconds < 1e6);
	unc_session_free(s);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"order of methods", test_order},
		{"what is opened and read", test_plan},
		{"what the driver does not carry", test_not_carried},
		{"two methods on one unit", test_mixed},
		{"sampling takes the registers", test_sampling},
		{"one read a unit", test_one_read},
		{"an open fails", test_open_fails},
		{"several passes", test_passes},
		{"a rotation fails", test_rotation_fails},
		{"two sessions", test_two_sessions},
		{"registers first", test_registers_first},
		{"threads", test_threads},
		{"a forked process", test_fork},
		{"others have the counter", test_neighbour},
		{"perf on the same unit", test_perf},
		{"a dead event", test_dead},
		{"a frozen socket", test_frozen_socket},
		{"looking in", test_watch},
		{NULL, NULL},
	};
	static const char *const cpus[] = {"nehalem-ep", "sandybridge-ep", "ivybridge-ep",
					   "emerald-rapids"};

	for (size_t i = 0; i < sizeof(cpus) / sizeof(*cpus); i++) {
		suite_add(events_of, cpus[i], "events of %s by both", cpus[i]);
		suite_add(metrics_of, cpus[i], "metrics of %s by both", cpus[i]);
	}
	return suite_run("sessions by the kernel's driver", tests);
}
