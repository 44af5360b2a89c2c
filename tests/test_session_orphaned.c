/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sessions leave that end without stopping, and sessions of other processes: on a machine of
 * files, where nothing counts, registers alone are looked at. Register numbers and freeze bits are
 * those of Intel 327043-001 (tables 1-2, 2-8), 329468-002 (2.1.2) and 323535-001 (2.1).
 */
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session_files.h"

static const double uclk = 2.7e9;

/* CBo 0 of socket 0 of Sandy Bridge-EP */
enum { BOX_CTL = 0xD04, CTL0 = 0xD10, CTL1, FILTER = 0xD14, CTR0 = 0xD16 };
enum { FROZEN = 0x10100, CLOCKTICKS = 0x400000 };

/* Who waits for the lock does not wait for real. */
int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	(void)fds, (void)n, (void)t, (void)mask;
	return 0;
}

static struct unc_platform *hearing(const char *sim, struct heard *heard)
{
	struct unc_options options = {
		.size = sizeof(options), .sim = sim, .log = hear, .log_user = heard};
	struct unc_platform *p = NULL;

	CU_ASSERT_FATAL(unc_platform_open(&options, &p) == 0);
	*heard = (struct heard){.n = 0};
	return p;
}

/* The session ends as if its process had ended. */
static void die(struct unc_session *s)
{
	unc_session_unwatch(s);
	unc_units_abandon(&s->units);
	s->state = UNC_STOPPED;
	unc_session_free(s);
}

static uint64_t get(struct unc_platform *p, uint64_t address)
{
	return unc_sim_read(unc_machine_sim(p->machine), msr(p, address, 32));
}

static void set(struct unc_platform *p, uint64_t address, uint64_t value)
{
	unc_sim_write(unc_machine_sim(p->machine), msr(p, address, 32), value);
}

static struct unc_session *running(struct unc_platform *p, const char *event)
{
	struct unc_session *s = session(p, 0);

	add(s, event);
	start(s);
	return s;
}

/* ---- what is orphaned */

static void test_restored(void)
{
	struct heard heard;
	struct unc_platform *p = hearing(SNB, &heard);
	char want[256];

	set(p, CTL1, 0x12); /* not enabled: nobody counts */
	set(p, FILTER, 0x1f << 18);
	struct snapshot before = snapshot(p);
	die(running(p, "cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0"));
	CHECK_NUMBER(get(p, FILTER), 0xc1000000);
	CHECK_NUMBER(held_registers(p), 3); /* and unit control */
	/* Whatever the next one wants, wherever. */
	struct unc_session *s = running(p, "imc0.CAS_COUNT:RD:socket=1");
	CHECK_NUMBER(heard.n, 1);
	snprintf(want, sizeof(want),
		 "cbo0 (socket 0): CTL1 and 1 more were left behind by pid %d (test_session_or), "
		 "whose session has ended: restored",
		 (int)getpid());
	CHECK_TEXT(heard.text, want);
	unc_session_free(s);
	CHECK_NUMBER(heard.n, 1);
	CHECK_NUMBER(held_registers(p), 0);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

/* A register that cannot be read or written, while there is one. */
static struct {
	uint64_t address;
	int kind;
} failing;

static int fail(struct unc_reg_op *ops, size_t n, int rc)
{
	for (size_t i = 0; i < n && failing.address; i++)
		if (ops[i].reg.address == failing.address && ops[i].kind == failing.kind &&
		    unc_op_done(&ops[i], EIO))
			rc = UNC_ERR_IO;
	return rc;
}

int unc_access_run(struct unc_access *access, struct unc_reg_op *ops, size_t n)
{
	return fail(ops, n, REAL(unc_access_run)(access, ops, n));
}

int unc_access_read(struct unc_access *access, struct unc_reg_op *ops, size_t n,
		    struct unc_error *err)
{
	return fail(ops, n, REAL(unc_access_read)(access, ops, n, err));
}

/* What cannot be restored is told, and is left to the next one. */
static void test_unreachable(void)
{
	struct heard heard;
	struct unc_platform *p = hearing(SNB, &heard);
	static const char *const said[] = {
		[UNC_OP_READ] = "looking at what ended processes have left failed: CTL3 of cbo0 "
				"(socket 0) at msr 0xd00 on cpu 0: Input/output error",
		[UNC_OP_WRITE] = "putting back what was found failed: CTL3 of cbo0 (socket 0) at "
				 "msr 0xd00 on cpu 0: Input/output error"};

	for (int kind = UNC_OP_READ; kind <= UNC_OP_WRITE; kind++) {
		struct snapshot before = snapshot(p);

		die(running(p, "cbo0.CLOCKTICKS:socket=0"));
		heard.n = 0;
		failing.address = CTL3;
		failing.kind = kind;
		unc_session_free(running(p, "imc0.DCLK:socket=0"));
		failing.address = 0;
		CHECK_TEXT(heard.text, said[kind]);
		CU_ASSERT(held_registers(p) > 0);
		unc_session_free(running(p, "imc0.DCLK:socket=0"));
		CHECK_NUMBER(held_registers(p), 0);
		CHECK_RESTORED(p, before);
	}
	unc_platform_close(p);
}

/* What somebody has programmed since is his. */
static void test_taken_since(void)
{
	struct heard heard;
	struct unc_platform *p = hearing(SNB, &heard);

	die(running(p, "cbo0.CLOCKTICKS:socket=0"));
	CHECK_NUMBER(get(p, CTL3), CLOCKTICKS);
	set(p, CTL3, 0x400135);
	struct unc_session *s = running(p, "cbo0.CLOCKTICKS:socket=0");
	CHECK_NUMBER(heard.n, 0);
	CHECK_NUMBER(get(p, CTL3), 0x400135);
	unc_session_free(s);
	CHECK_NUMBER(get(p, CTL3), 0x400135);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
}

/* Bits of a filter that a foreign program has set since stay. */
static void test_filter_bits(void)
{
	struct heard heard;
	struct unc_platform *p = hearing(SNB, &heard);

	set(p, FILTER, 0x180u << 23);
	die(running(p, "cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0"));
	set(p, FILTER, 0x182u << 23 | 0x4 << 18);
	unc_session_free(running(p, "imc0.DCLK:socket=0"));
	CHECK_NUMBER(get(p, FILTER), 0x180u << 23 | 0x4 << 18);
	unc_platform_close(p);
}

/* One of two that share ends: the other has the counter still, and restores it. */
static void test_one_of_two(void)
{
	struct heard heard;
	struct unc_platform *p = hearing(SNB, &heard);
	struct snapshot before = snapshot(p);
	struct unc_session *a = running(p, "cbo0.CLOCKTICKS:socket=0"), *b = session(p, 0);
	int id = add(b, "cbo0.CLOCKTICKS:socket=0");

	start(b);
	step(p, 10 * ms);
	die(a);
	unc_session_free(running(p, "imc0.DCLK:socket=0"));
	unc_session_free(running(p, "cbo0.CLOCKTICKS:socket=0"));
	CHECK_NUMBER(heard.n, 0);
	step(p, 10 * ms);
	CHECK_COUNT(count_of(b, id), uclk * 0.02, 1);
	CHECK_NUMBER(unc_session_stop(b), 0);
	unc_session_free(b);
	CHECK_RESTORED(p, before);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
}

/* It died while a counter that nobody used was a clock, before the control was written or after. */
static void test_witness(void)
{
	struct unc_platform *p = machine("sandybridge-ep,clock=wait");

	for (int written = 0; written < 2; written++) {
		struct snapshot before = snapshot(p);
		struct unc_session *a = running(p, "cbo0.LLC_VICTIMS:MISS:socket=0");
		const struct unc_instance *u = a->units.claim[0].instance;
		uint16_t ctl0 = p->table->type[u->type].first_ctl;

		unc_units_lock(&a->units);
		CHECK_NUMBER(unc_units_note_moment(&a->units, u, ctl0, 0, CLOCKTICKS, NULL), 0);
		unc_units_unlock(&a->units);
		if (written)
			set(p, CTL0, CLOCKTICKS);
		die(a);
		CHECK_NUMBER(held_registers(p), 3); /* and unit control */
		unc_session_free(running(p, "imc0.DCLK:socket=0"));
		CHECK_RESTORED(p, before);
		CHECK_NUMBER(held_registers(p), 0);
	}
	unc_platform_close(p);
}

/* GLOBAL_CTL of Nehalem-EP can be read: it holds again what was found. */
static void test_unit_control(void)
{
	struct heard heard;
	struct unc_platform *p = hearing("nehalem-ep,clock=step", &heard);
	void *global = reg_of(p, "unc", 0, 0, "GLOBAL_CTL");

	die(running(p, "unc.LLC_MISS:READ:socket=0"));
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), global), 0x1000000FF);
	unc_session_free(running(p, "unc.LLC_MISS:READ:socket=1"));
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), global), 0);
	/* Where a foreign program counts it is let go, and stays. */
	die(running(p, "unc.LLC_MISS:READ:socket=0"));
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "unc", 0, 0, "CTL0"), 0x400103);
	unc_sim_write(unc_machine_sim(p->machine), global, 0);
	unc_session_free(running(p, "unc.LLC_MISS:READ:socket=1"));
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), global), 0x1000000FF);
	unc_platform_close(p);
}

/* A unit that it has frozen goes on, though a foreign program counts there by now. */
static void test_frozen_unit(void)
{
	struct heard heard;
	struct unc_platform *p = hearing("sandybridge-ep,clock=wait", &heard);
	struct unc_session *s = session(p, 0);
	int id = add(s, "cbo0.CLOCKTICKS:socket=0");

	die(running(p, "cbo0.CLOCKTICKS:socket=0"));
	set(p, BOX_CTL, FROZEN);
	set(p, CTL0, 0x400135);
	start(s);
	step(p, 10 * ms);
	struct unc_value v = value_of(s, id);
	CHECK_COUNT(v.count, uclk * v.seconds, 1);
	unc_session_free(s);
	unc_platform_close(p);
}

/* A record leads to no write that a session could not have made for itself. */
static void test_untrusted(void)
{
	static const struct {
		uint64_t address;
		uint32_t role;
	} cases[] = {{CTR0, UNC_HELD_CONTROL},    {CTR0, UNC_HELD_FILTER},
		     {BOX_CTL, UNC_HELD_CONTROL}, {FILTER, UNC_HELD_CONTROL},
		     {CTL0, UNC_HELD_UNIT},       {CTL0, UNC_HELD_FILTER},
		     {0x1A0, UNC_HELD_CONTROL}};
	struct heard heard;
	struct unc_platform *p = hearing(SNB, &heard);
	struct snapshot before = snapshot(p);

	unc_sim_write(unc_machine_sim(p->machine), msr(p, CTR0, 64), 4711);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct unc_reg reg = {.address = cases[i].address, .space = UNC_SPACE_MSR};
		struct unc_ledger_record r = {
			.key = unc_ledger_key(&reg, p->topology.socket[0].package),
			.role = cases[i].role,
			.found = 0x1ff,
			.value = i == 0 ? 4711 : 0,
			.mask = UINT64_MAX};

		CHECK_NUMBER(unc_ledger_put(p->ledger, &r, NULL), 0);
		unc_session_free(running(p, "imc0.DCLK:socket=1"));
		CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), msr(p, CTR0, 64)), 4711);
		unc_ledger_remove(p->ledger, unc_ledger_find(p->ledger, &r.key));
	}
	CHECK_NUMBER(heard.n, 0);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

/* ---- other processes, on a machine of files */

/* A process that counts until it is killed. */
static pid_t other_process(const char *event)
{
	int ready[2];
	pid_t pid = -1;
	char byte = 0;

	CU_ASSERT_FATAL(pipe(ready) == 0 && (pid = fork()) >= 0);
	if (pid == 0) {
		struct heard heard;
		struct unc_platform *p = of_files(&heard);
		struct unc_session *s = session(p, 0);
		int id;

		if (unc_session_add(s, event, &id) < 0 || unc_session_start(s) < 0 ||
		    write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	CU_ASSERT_FATAL(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* It shares what another process counts, and takes over when that one ends. */
static void test_processes(void)
{
	struct heard heard;

	begin(true);
	pid_t pid = other_process(ticks);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = session(p, 0);
	add(s, ticks);
	CHECK_TEXT(plan_of(s, UNC_PHASE_START, false).text, "");
	start(s);
	CHECK_TEXT(unc_session_unprotected(s), "");
	CU_ASSERT(s->units.claim[0].control[0].by == UNC_JOINED);
	uint64_t holds = file_at(CTL3 + 2);
	CU_ASSERT(holds != 0);
	end(pid);
	CHECK_NUMBER(file_at(CTL3 + 2), holds);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(file_at(CTL3 + 2), 0);
	CHECK_NUMBER(heard.n, 0);
	unc_session_free(s);
	unc_platform_close(p);
	fake_free(&root);
}

static void test_killed_process(void)
{
	struct heard heard;
	char want[256];

	begin(true);
	pid_t pid = other_process(ticks);
	CU_ASSERT(file_at(CTL3 + 2) != 0);
	end(pid);
	struct unc_platform *p = of_files(&heard);
	unc_session_free(running(p, "pcu.CLOCKTICKS:socket=0"));
	CHECK_NUMBER(file_at(CTL3 + 2), 0);
	CHECK_NUMBER(heard.n, 1);
	snprintf(want, sizeof(want),
		 "cbo0 (socket 0): CTL3 was left behind by pid %d (test_session_or), whose session "
		 "has ended: restored",
		 (int)pid);
	CHECK_TEXT(heard.text, want);
	unc_platform_close(p);
	fake_free(&root);
}

/* Beside many what is in the way is restored at once, and the rest soon. */
static void test_beside_many(void)
{
	enum { N = 100 };
	struct heard heard;
	unsigned holder, starts = 0;

	begin(true);
	struct unc_ledger *others = unc_ledger_new();
	CU_ASSERT_FATAL(others != NULL);
	CHECK_NUMBER(unc_ledger_open(others, fake_path(&root, "/run/libuncore"), false, NULL), 0);
	CHECK_NUMBER(unc_ledger_lock(others, true, NULL), 0);
	for (unsigned i = 0; i < N; i++) {
		struct unc_ledger_record r = {.key = {.address = 0x5000 + i},
					      .role = UNC_HELD_CONTROL,
					      .mask = UINT64_MAX};

		CHECK_NUMBER(unc_ledger_enter(others, &holder, NULL), 0);
		unc_ledger_set(&r, holder, true);
		CHECK_NUMBER(unc_ledger_put(others, &r, NULL), 0);
	}
	unc_ledger_unlock(others);
	end(other_process(ticks));
	CU_ASSERT(file_at(CTL3 + 2) != 0);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = running(p, ticks);
	CU_ASSERT(s->units.claim[0].control[0].by == UNC_WRITTEN);
	CHECK_NUMBER(heard.n, 1);
	unc_session_free(s);
	CHECK_NUMBER(file_at(CTL3 + 2), 0);
	end(other_process(ticks));
	for (; file_at(CTL3 + 2) != 0 && starts < 10 * N; starts++)
		unc_session_free(running(p, "pcu.CLOCKTICKS:socket=0"));
	CHECK_NUMBER(heard.n, 2);
	CU_ASSERT(starts > 0 && starts < 10 * N);
	unc_platform_close(p);
	unc_ledger_free(others);
	fake_free(&root);
}

/* A process that was forked, and has the open file of one that has ended, is nobody. */
static void test_forked(void)
{
	struct heard heard;

	begin(true);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = running(p, ticks);
	pid_t pid = fork();
	if (pid == 0) { /* gives back memory alone */
		unc_session_free(s);
		unc_platform_close(p);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	struct unc_platform *other = of_files(&heard);
	struct unc_session *same = session(other, 0);
	add(same, ticks);
	start(same);
	CU_ASSERT(same->units.claim[0].control[0].by == UNC_JOINED);
	unc_session_free(same);
	CU_ASSERT(file_at(CTL3 + 2) != 0);
	unc_session_free(s);
	CHECK_NUMBER(file_at(CTL3 + 2), 0);
	unc_platform_close(other);
	unc_platform_close(p);
	fake_free(&root);
}

static void test_unprotected(void)
{
	struct heard heard;
	char want[512];

	begin(false);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = running(p, ticks);
	snprintf(want, sizeof(want), "%s/run/libuncore: No such file or directory", root.path);
	CHECK_TEXT(unc_session_unprotected(s), want);
	/* Tried again when nobody runs. */
	CHECK_NUMBER(mkdir(fake_path(&root, "/run/libuncore"), 0755), 0);
	CHECK_NUMBER(unc_session_stop(s), 0);
	start(s);
	CHECK_TEXT(unc_session_unprotected(s), "");
	unc_session_free(s);
	unc_platform_close(p);
	fake_free(&root);
	p = machine(SNB);
	s = running(p, ticks);
	CHECK_TEXT(unc_session_unprotected(s), ""); /* nobody is beside a simulated machine */
	unc_session_free(s);
	unc_platform_close(p);
}

/* What cannot be noted is not programmed. */
static void test_not_noted(void)
{
	struct heard heard;
	struct rlimit before, limit;
	char want[100];

	begin(true);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = session(p, 0);
	add(s, ticks);
	start(s);
	CHECK_NUMBER(unc_session_stop(s), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 8192; /* the header, and the first holders */
	CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	int rc = unc_session_start(s);
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK_NUMBER(rc, UNC_ERR_IO);
	snprintf(want, sizeof(want), "ledger.%u could not be written: File too large",
		 (unsigned)geteuid());
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(s), want));
	CHECK_NUMBER(file_at(CTL3 + 2), 0);
	start(s);
	unc_session_free(s);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
	fake_free(&root);
}

/* Somebody who does not give the lock back: reads go on, and a stop does without it. Here because
 * it is told to end; after a while else (test_ledger). */
static void test_locked(void)
{
	struct heard heard;

	begin(true);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = running(p, ticks);
	struct unc_ledger *other = unc_ledger_new();
	char dir[300];
	snprintf(dir, sizeof(dir), "%s/run/libuncore", root.path);
	CU_ASSERT_FATAL(other != NULL);
	CHECK_NUMBER(unc_ledger_open(other, dir, false, NULL), 0);
	CHECK_NUMBER(unc_ledger_lock(other, true, NULL), 0);
	for (int i = 0; i < 3; i++) {
		s->units.verified_ns = s->units.proven_ns =
			0; /* it would have to be proven again */
		CHECK_NUMBER(unc_session_read(s, NULL, 0, sizeof(struct unc_value)), 0);
	}
	CHECK_TEXT(unc_session_unprotected(s), "");
	sigset_t set, before;
	int number;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	raise(SIGTERM);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(file_at(CTL3 + 2), 0);
	CU_ASSERT(strstr(unc_session_unprotected(s), "a signal ended the wait for it") != NULL);
	CHECK_NUMBER(sigwait(&set, &number), 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	unc_ledger_unlock(other);
	start(s);
	CHECK_TEXT(unc_session_unprotected(s), "");
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(file_at(CTL3 + 2), 0);
	unc_ledger_free(other);
	unc_session_free(s);
	unc_platform_close(p);
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"what is orphaned is restored", test_restored},
		{"what cannot be restored now", test_unreachable},
		{"but what somebody has taken since", test_taken_since},
		{"bits of a filter", test_filter_bits},
		{"one of two that share", test_one_of_two},
		{"a counter that was a clock for a moment", test_witness},
		{"unit control", test_unit_control},
		{"a unit that was frozen", test_frozen_unit},
		{"records that no session has made", test_untrusted},
		{"two processes", test_processes},
		{"one that was killed", test_killed_process},
		{"one that was forked", test_forked},
		{"no ledger", test_unprotected},
		{"beside many", test_beside_many},
		{"what cannot be noted", test_not_noted},
		{"a lock that is not given back", test_locked},
		{NULL, NULL},
	};

	return suite_run("session, orphaned", tests);
}
