/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel's driver counts is what registers show, for each shape of event (kinds.h; ALL=1:
 * each event) that it carries and each metric; and what it gives where others use it, its socket is frozen or offline.
 */
#include "kernel_session_kit.h"
#include "kinds.h"

/* ---- the same by both */

struct both {
	struct unc_platform *kernel, *direct;
	unsigned same, not_carried, like_others;
	uint64_t seen[512]; /* shapes */
	size_t n_seen;
};

/* What is counted in a ms by how many counters; 0: it cannot be added. */
static size_t count_for(struct unc_platform *p, const char *text, uint64_t *count, bool *by_kernel)
{
	struct unc_session *s = session(p, 0);
	struct unc_value v = {0};
	int id, rc = unc_session_add(s, text, &id);
	size_t n = rc == 0 ? s->n_wants : 0;

	if (rc == 0) {
		start(s);
		*by_kernel = s->run->set[0].by == &unc_kernel;
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

/* Its shape, of its type. */
static uint64_t shape_of(struct unc_platform *p, const char *text)
{
	struct unc_encoding e = {.size = sizeof(e)};

	return unc_event_encode(p, text, &e) < 0
		       ? 0
		       : kinds_mixed(kinds_shape(p->table, &e), e.type, strlen(e.type));
}

/* Whether an event of this shape has counted the same. */
static bool is_like_another(const struct both *both, uint64_t shape)
{
	for (size_t i = 0; i < both->n_seen && !kinds_all(); i++)
		if (both->seen[i] == shape)
			return true;
	return false;
}

static void compare(struct both *both, const char *text)
{
	uint64_t kernel = 0, direct = 0;
	uint64_t shape = shape_of(both->direct, text);
	bool by_kernel, by_direct;
	size_t n;

	if (is_like_another(both, shape)) {
		both->like_others++;
		return;
	}
	n = count_for(both->kernel, text, &kernel, &by_kernel);

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
	if (kinds_all())
		return;
	CU_ASSERT_FATAL(both->n_seen < sizeof(both->seen) / sizeof(*both->seen));
	both->seen[both->n_seen++] = shape;
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
	printf("# %s: %u names count the same, %u are not carried, %u are like others\n", sim,
	       both.same, both.not_carried, both.like_others);
	CU_ASSERT(both.same + both.like_others > 50 && both.same > 1);
	check_quiet(both.kernel);
	unc_platform_close(both.kernel);
	unc_platform_close(both.direct);
}

/* A metric's value after each pass had a ms. */
static struct unc_value metric_for(struct unc_platform *p, const char *name, bool *kernel)
{
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);
	struct unc_value v = {0};

	add(s, name);
	start(s);
	for (int pass = 0; pass < unc_session_passes(s); pass++) {
		step(p, 100 * ms);
		CU_ASSERT(unc_session_read(s, &v, 1, sizeof(v)) == 0);
		CHECK_NUMBER(turn_pass(s), 0);
	}
	for (size_t i = 0; i < s->run->n_sets; i++)
		*kernel |= s->run->set[i].by == &unc_kernel;
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
	CHECK_NEAR(v.interval_share, 0.25, 1e-6);
	/* The next interval has its own time, twice as long. */
	step(p, 20 * ms);
	v = value_of(s, id);
	CHECK_NEAR(v.share, 0.25, 1e-6);
	CHECK_NEAR(v.value, 3 * full, 1e-6);
	CHECK_NEAR(v.interval, 2 * full, 1e-6);
	CHECK_NEAR(v.interval_share, 0.25, 1e-6);
	CHECK_NEAR(v.interval_seconds, 0.005, 1e-6);
	CHECK_NUMBER(unc_session_stop(s), 0);
	/* Never. */
	between.keep = 0;
	start(s);
	step(p, 10 * ms);
	v = value_of(s, id);
	CHECK_NUMBER(v.flags & UNC_VALUE_VALID, 0);
	CHECK_TEXT(unc_session_reason(s, id),
		   "cbo0.CLOCKTICKS:socket=0: not measured: other users of the kernel had the "
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
	const struct unc_machine_events *events = p->machine->events;
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
static void test_offline(void)
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
	between.offline = true;
	step(p, 200 * ms);
	v = value_of(s, id);
	CHECK_NUMBER(v.flags & (UNC_VALUE_VALID | UNC_VALUE_LOST), UNC_VALUE_LOST);
	CHECK_TEXT(unc_session_reason(s, id),
		   "cbo0.CLOCKTICKS:socket=0: what the kernel counts on cbo0 (socket 0) could not "
		   "be read: all CPUs of its socket went offline, or another process of this user "
		   "has stopped it");
	between.offline = false; /* they are back, the event is not */
	step(p, 200 * ms);
	CHECK_NUMBER(value_of(s, id).flags & UNC_VALUE_VALID, 0);
	CHECK_NUMBER(unc_session_stop(s), 0);
	start(s);
	step(p, 200 * ms);
	CU_ASSERT(count_of(s, id) > 0);
	unc_session_free(s);
	unc_platform_close(p);
}

/* What is left of a group is another one. It is the CPUs that have gone if the time stands still (Linux,
 * kernel/events/core.c: __perf_event_exit_context() detaches each event from its group). */
static void test_apart(void)
{
	for (int offline = 0; offline <= 1; offline++) {
		struct unc_platform *p = by(IVB, NULL);
		struct unc_session *s = session(p, 0);
		int id = add(s, "cbo0.CLOCKTICKS:socket=0");
		char text[300];

		add(s, "cbo0.LLC_LOOKUP:DATA_READ:socket=0");
		add(s, "irp0.CLOCKTICKS:socket=0"); /* or all reads would fail, and the call */
		stand_between(p);
		start(s);
		step(p, 200 * ms);
		CU_ASSERT(count_of(s, id) > 0);
		between.offline = offline;
		between.apart = true;
		step(p, 200 * ms);
		CHECK_NUMBER(value_of(s, id).flags & (UNC_VALUE_VALID | UNC_VALUE_LOST),
			     UNC_VALUE_LOST);
		snprintf(
			text, sizeof(text),
			"cbo0.CLOCKTICKS:socket=0: what the kernel counts on cbo0 (socket 0) could "
			"not be read: %s",
			offline ? "all CPUs of its socket went offline, or another process of "
				  "this user has stopped it"
				: "another process of this user has ended a part of it");
		CHECK_TEXT(unc_session_reason(s, id), text);
		between.offline = between.apart = false;
		unc_session_free(s);
		unc_platform_close(p);
	}
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
	/* Not what somebody freezes later: he is at work. */
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "ubox", 0, 1, "GLOBAL_CTL"),
		      0x80000000);
	for (int i = 0; i < 3; i++) {
		step(p, 100 * ms);
		(void)value_of(s, far);
	}
	CHECK_NUMBER(value_of(s, far).flags, UNC_VALUE_LOST);
	CHECK_NUMBER(
		unc_sim_read(unc_machine_sim(p->machine), reg_of(p, "ubox", 0, 1, "GLOBAL_CTL")),
		0x80000000);
	unc_session_free(s);
	unc_platform_close(p);
}

/* The kernel adds up: nobody has to look in; a counter of ours brings that back. */
int main(void)
{
	static const struct suite_test tests[] = {
		{"others have the counter", test_neighbour},
		{"perf on the same unit", test_perf},
		{"an event that stands still", test_offline},
		{"a group that fell apart", test_apart},
		{"a frozen socket", test_frozen_socket},
		{NULL, NULL},
	};
	static const char *const cpus[] = {"nehalem-ep", "sandybridge-ep", "ivybridge-ep",
					   "emerald-rapids"};

	for (size_t i = 0; i < sizeof(cpus) / sizeof(*cpus); i++) {
		suite_add(events_of, cpus[i], "events of %s by both", cpus[i]);
		suite_add(metrics_of, cpus[i], "metrics of %s by both", cpus[i]);
	}
	return suite_run("the kernel's driver and registers", tests);
}
