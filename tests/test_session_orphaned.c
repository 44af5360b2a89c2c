/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sessions leave that end without stopping, and sessions of other processes: on a machine of
 * files, where nothing counts, registers alone are looked at. Register numbers and freeze bits are
 * those of Intel 327043-001 (tables 1-2, 2-8), 329468-002 (2.1.2) and 323535-001 (2.1).
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session_files.h"

static const double uclk = 2.7e9;

/* CBo 0 of socket 0 of Sandy Bridge-EP */
enum { BOX_CTL = 0xD04, CTL0 = 0xD10, CTL1, FILTER = 0xD14, CTR0 = 0xD16 };
enum { FROZEN = 0x10100, CLOCKTICKS = 0x400000 };

/* Who waits for the lock does not wait for real. */
static uint64_t waited; /* ns */

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	(void)fds, (void)n, (void)mask;
	waited += (uint64_t)t->tv_nsec;
	return 0;
}

/* Seconds that the machine was suspended for. */
static time_t suspended;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = REAL(clock_gettime)(clock, t);

	t->tv_sec += clock == CLOCK_BOOTTIME ? suspended : 0;
	if (clock == CLOCK_MONOTONIC_COARSE)
		*t = (struct timespec){.tv_sec = (time_t)(waited / 1000000000),
				       .tv_nsec = (long)(waited % 1000000000)};
	return rc;
}

/* The file of this user's entries is full. */
static bool full;

ssize_t pwrite(int fd, const void *buf, size_t size, off_t at)
{
	char path[40], to[300] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (full && readlink(path, to, sizeof(to) - 1) > 0 && strstr(to, "/journal.")) {
		errno = ENOSPC;
		return -1;
	}
	return REAL(pwrite)(fd, buf, size, at);
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
	unc_run_unwatch(s->run);
	pthread_mutex_lock(&s->run->lock);
	unc_run_keep_no_more(s->run, &s->stamps);
	CHECK_NUMBER(unc_run_end(s->run, UNC_GIVES_UP, NULL), 0);
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

/* On files nothing moves, and what begins to count is lost. It is not tried again after a second, which
 * would program it anew. */
static void start_once(struct unc_session *s)
{
	start(s);
	unc_run_unwatch(s->run);
}

static struct unc_session *running(struct unc_platform *p, const char *event)
{
	struct unc_session *s = session(p, 0);

	add(s, event);
	start_once(s);
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
	CHECK_NUMBER(held_registers(p), 4); /* and unit control, and a clock */
	/* Whatever the next one wants, wherever. */
	struct unc_session *s = running(p, "imc0.CAS_COUNT:RD:socket=1");
	CHECK_NUMBER(heard.n, 1);
	snprintf(want, sizeof(want),
		 "cbo0 (socket 0): CTL1 and 2 more were left behind by pid %d, "
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

/* Somebody who programs a register right after it was read. */
static struct {
	struct unc_platform *p;
	uint64_t address, value;
} meddler;

static void meddle(const struct unc_reg_op *ops, size_t n)
{
	for (size_t i = 0; i < n && meddler.p; i++)
		if (ops[i].reg.address == meddler.address && ops[i].kind == UNC_OP_READ) {
			set(meddler.p, meddler.address, meddler.value);
			meddler.p = NULL;
		}
}

static int fail(struct unc_reg_op *ops, size_t n, int rc)
{
	meddle(ops, n);
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
		[UNC_OP_WRITE] = "restoring what was found failed: CTL3 of cbo0 (socket 0) at "
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

/* Who comes after the look, and before the control is written, keeps his counter: another one is taken. */
static void test_came_between(void)
{
	struct heard heard;
	struct unc_platform *p = hearing("sandybridge-ep,clock=wait", &heard);
	struct unc_session *s = session(p, 0);
	int id = add(s, "cbo0.CLOCKTICKS:socket=0");

	meddler.address = CTL3;
	meddler.value = 0x400135;
	meddler.p = p;
	start(s);
	CU_ASSERT_PTR_NULL(meddler.p);
	CHECK_TEXT(plan_of(s, UNC_PHASE_READ, false).text, "CTR2");
	step(p, 10 * ms);
	struct unc_value v = value_of(s, id);
	CHECK_NUMBER(v.flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	CHECK_COUNT(v.count, uclk * v.seconds, 1);
	unc_session_free(s);
	CHECK_NUMBER(get(p, CTL3), 0x400135);
	CHECK_NUMBER(get(p, CTL1 + 1), 0);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
}

/* Unit control that could not be restored: its entry stays for the next one. */
static void test_unit_unrestored(void)
{
	struct heard heard;
	struct unc_platform *p = hearing("nehalem-ep,clock=step", &heard);
	void *global = reg_of(p, "unc", 0, 0, "GLOBAL_CTL");
	struct unc_session *s = running(p, "unc.LLC_MISS:READ:socket=0");

	failing.address = 0x391;
	failing.kind = UNC_OP_WRITE;
	CHECK_NUMBER(unc_session_stop(s), UNC_ERR_IO);
	failing.address = 0;
	CHECK_NUMBER(held_registers(p), 1);
	unc_sim_write(unc_machine_sim(p->machine), global, 0x1000000FF); /* as it would hold */
	unc_session_free(running(p, "unc.LLC_MISS:READ:socket=1"));
	CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), global), 0);
	CHECK_NUMBER(held_registers(p), 0);
	unc_session_free(s);
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

/* One of two that share by the journal ends: the other has the counter still, and restores it. */
static void test_one_of_two(void)
{
	struct heard heard;
	struct unc_platform *p = hearing(SNB, &heard);
	struct snapshot before = snapshot(p);
	struct unc_session *a = running(p, "cbo0.CLOCKTICKS:socket=0"), *b = session(p, 0);
	int id = add(b, "cbo0.CLOCKTICKS:socket=0");

	add(b, "pcu.CLOCKTICKS:socket=1"); /* it has a run of its own */
	start(b);
	CU_ASSERT_PTR_NOT_EQUAL(a->run, b->run);
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

/* It died after it had noted a control, before that was written or after. */
static void test_noted(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_journal_entry e = {.key = {.address = CTL0,
					      .package = (uint32_t)p->topology.socket[0].package,
					      .space = UNC_SPACE_MSR},
				      .found = 0x12,
				      .value = CLOCKTICKS,
				      .mask = UINT64_MAX};

	set(p, CTL0, 0x12); /* not enabled: nobody counts */
	for (int written = 0; written < 2; written++) {
		struct snapshot before = snapshot(p);

		CHECK_NUMBER(unc_node_lock(p, 1, NULL), 0);
		uint16_t number = unc_journal_add(p->journal, &e);
		CHECK_NUMBER(unc_journal_write(p->journal, NULL), 0);
		unc_journal_drop(p->journal, number);
		unc_node_unlock(p);
		CHECK_NUMBER(held_registers(p), 1);
		if (written)
			set(p, CTL0, CLOCKTICKS);
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

/* An entry leads to no write that a session could not have made for itself. */
static void test_untrusted(void)
{
	static const uint64_t cases[] = {CTR0, 0x1A0, BOX_CTL + 1};
	struct heard heard;
	struct unc_platform *p = hearing(SNB, &heard);
	struct snapshot before = snapshot(p);
	uint16_t number;

	unc_sim_write(unc_machine_sim(p->machine), msr(p, CTR0, 64), 4711);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct unc_journal_entry e = {
			.key = {.address = cases[i],
				.package = (uint32_t)p->topology.socket[0].package,
				.space = UNC_SPACE_MSR},
			.found = 0x1ff,
			.value = i == 0 ? 4711 : 0,
			.mask = UINT64_MAX};

		number = unc_journal_add(p->journal, &e);
		unc_journal_drop(p->journal, number);
		unc_session_free(running(p, "imc0.DCLK:socket=1"));
		CHECK_NUMBER(unc_sim_read(unc_machine_sim(p->machine), msr(p, CTR0, 64)), 4711);
		unc_journal_clear(p->journal, number);
	}
	CHECK_NUMBER(heard.n, 0);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

/* ---- other processes, on a machine of files */

/* Whether the control of its one event is another session's. */
static bool is_joined(const struct unc_session *s)
{
	return unc_held(&s->run->set[0])->setting[0].joined;
}

static bool counts(const void *event)
{
	static struct heard heard; /* as long as the process lives */
	struct unc_session *s = session(of_files(&heard), 0);
	int id;

	if (unc_session_add(s, event, &id) < 0 || unc_session_start(s) < 0)
		return false;
	unc_run_unwatch(s->run);
	return true;
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
	pid_t pid = suite_process(counts, ticks);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = session(p, 0);
	add(s, ticks);
	CHECK_TEXT(plan_of(s, UNC_PHASE_START, false).text, "");
	start_once(s);
	CHECK_TEXT(unc_session_unprotected(s), "");
	CU_ASSERT(is_joined(s));
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
	pid_t pid = suite_process(counts, ticks);
	CU_ASSERT(file_at(CTL3 + 2) != 0);
	end(pid);
	struct unc_platform *p = of_files(&heard);
	unc_session_free(running(p, "pcu.CLOCKTICKS:socket=0"));
	CHECK_NUMBER(file_at(CTL3 + 2), 0);
	CHECK_NUMBER(heard.n, 1);
	snprintf(want, sizeof(want),
		 "cbo0 (socket 0): CTL3 was left behind by pid %d, whose session has ended: "
		 "restored",
		 (int)pid);
	CHECK_TEXT(heard.text, want);
	unc_platform_close(p);
	fake_free(&root);
}

static void test_suspended(void)
{
	struct heard heard;
	uint64_t since = 0;

	begin(true);
	struct unc_platform *p = of_files(&heard);
	(void)unc_machine_slept(p->machine, &since);
	uint64_t before = unc_machine_now(p->machine);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT(!unc_machine_slept(p->machine, &since));
		suspended++;
		CU_ASSERT(unc_machine_slept(p->machine, &since));
	}
	CU_ASSERT(unc_machine_now(p->machine) - before > 3000 * ms);
	suspended = 0;
	unc_platform_close(p);
	fake_free(&root);
}

/* A register is the package's: what was programmed by a CPU that is offline by now is restored by another. */
static void test_offline(void)
{
	static const char cpu[] =
		"processor : %d\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 45\n"
		"model name : x\nstepping : 7\nphysical id : 0\ncore id : %d\n\n";
	struct heard heard;
	char text[1024];
	uint32_t control;
	int n;

	begin(true);
	n = snprintf(text, sizeof(text), cpu, 0, 0);
	snprintf(text + n, sizeof(text) - (size_t)n, cpu, 1, 1);
	fake_text(fake_path(&root, "/proc/cpuinfo"), text);
	fake_size(fake_path(&root, "/dev/cpu/1/msr"), 0x2000);
	end(suite_process(counts, ticks));
	control = (uint32_t)fake_get(fake_path(&root, "/dev/cpu/0/msr"), CTL3, 4);
	CU_ASSERT(control != 0);
	fake_bytes(fake_path(&root, "/dev/cpu/1/msr"), CTL3, &control, 4);
	CHECK_NUMBER(unlink(fake_path(&root, "/dev/cpu/0/msr")), 0);
	snprintf(text, sizeof(text), cpu, 1, 1);
	fake_text(fake_path(&root, "/proc/cpuinfo"), text);
	struct unc_platform *p = of_files(&heard);
	unc_session_free(running(p, "pcu.CLOCKTICKS:socket=0"));
	CHECK_NUMBER(heard.n, 1);
	CHECK_NUMBER(fake_get(fake_path(&root, "/dev/cpu/1/msr"), CTL3, 4), 0);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
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
	start_once(same);
	CU_ASSERT(is_joined(same));
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
	start_once(s);
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

/* Where the journal cannot be written a session counts without; beside one that is in it none begins. */
static void test_not_noted(void)
{
	struct heard heard;
	char want[100];

	begin(true);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = session(p, 0), *other = session(p, 0);
	add(s, ticks);
	add(other, "cbo0.LLC_VICTIMS:MISS:socket=0");
	for (int running = 0; running < 2; running++) {
		CHECK_NUMBER(running ? unc_session_start(other) : 0, 0);
		full = true;
		int rc = unc_session_start(s);
		full = false;
		CHECK_NUMBER(rc, running ? UNC_ERR_IO : 0);
		snprintf(want, sizeof(want), "journal.%u: No space left on device",
			 (unsigned)geteuid());
		CU_ASSERT_PTR_NOT_NULL(
			strstr(running ? unc_session_error(s) : unc_session_unprotected(s), want));
		CHECK_NUMBER(file_at(CTL3 + 2) != 0, !running);
		if (!running)
			CHECK_NUMBER(unc_session_stop(s), 0);
	}
	CHECK_NUMBER(unc_session_stop(other), 0);
	start_once(s);
	CHECK_TEXT(unc_session_unprotected(s), "");
	unc_session_free(s);
	unc_session_free(other);
	CHECK_NUMBER(held_registers(p), 0);
	unc_platform_close(p);
	fake_free(&root);
}

/* Where the journal has no room nothing is programmed, and nothing of the start stays in it. Where it has
 * none for a clock alone, nothing shows that a 0 is one. */
static void test_no_room(void)
{
	struct heard heard;
	struct unc_platform *p = hearing("sandybridge-ep,clock=wait,load=0", &heard);
	struct unc_journal_entry e = {.key = {.space = UNC_SPACE_MMIO}};
	struct unc_session *s = session(p, 0);
	struct snapshot before = snapshot(p);
	uint16_t last = 0;

	add(s, "cbo0.TOR_INSERTS:MISS_OPCODE:opc=0x182:socket=0");
	for (uint16_t n = 0; n != UNC_JOURNAL_NONE; n = unc_journal_add(p->journal, &e)) {
		last = n;
		e.key.address++;
	}
	/* It needs a place each for unit control, a control, a filter; then for the control of a clock. */
	for (int places = 0; places <= 4; places++) {
		struct snapshot now = snapshot(p);
		const unsigned proven = UNC_VALUE_VALID | UNC_VALUE_FRESH;

		CHECK_NUMBER(unc_session_start(s), places < 3 ? UNC_ERR_BUSY : 0);
		if (places < 3) {
			CHECK_TEXT(unc_session_error(s),
				   "the journal has no room for more registers");
		} else {
			CHECK_NUMBER(held_registers(p), last + 1);
			step(p, 10 * ms);
			CHECK_NUMBER(value_of(s, 0).flags,
				     places < 4 ? proven | UNC_VALUE_UNPROVEN : proven);
			CHECK_NUMBER(unc_session_stop(s), 0);
		}
		CHECK_RESTORED(p, now);
		CHECK_NUMBER(held_registers(p), last + 1 - places);
		unc_journal_clear(p->journal, (uint16_t)(last - places));
	}
	unc_session_free(s);
	CHECK_RESTORED(p, before);
	unc_platform_close(p);
}

/* Nor does one that goes on without take what others count by for what is left. */
static void test_full_beside(void)
{
	struct heard heard;

	begin(true);
	pid_t pid = suite_process(counts, ticks);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = session(p, 0);
	add(s, "pcu.CLOCKTICKS:socket=0");
	full = true;
	for (int i = 0; i < 3; i++) {
		start_once(s);
		CU_ASSERT(*unc_session_unprotected(s) != '\0');
		CHECK_NUMBER(unc_session_stop(s), 0);
		CU_ASSERT(file_at(CTL3 + 2) != 0);
	}
	full = false;
	CHECK_NUMBER(heard.n, 0);
	end(pid);
	start_once(s);
	CHECK_NUMBER(file_at(CTL3 + 2), 0);
	unc_session_free(s);
	unc_platform_close(p);
	fake_free(&root);
}

/* Somebody who does not give the lock back: reads go on, a start names him, and a stop leaves what it
 * has programmed to the next one. */
static void test_locked(void)
{
	struct heard heard;
	char want[300];

	begin(true);
	struct unc_platform *p = of_files(&heard);
	struct unc_session *s = running(p, ticks), *late = session(p, 0);
	struct unc_journal *other = unc_journal_new();
	CU_ASSERT_FATAL(other != NULL);
	add(late, ticks);
	CHECK_NUMBER(unc_journal_open(other, fake_path(&root, "/run/libuncore"), false), 0);
	CHECK_NUMBER(unc_journal_lock(other, 1, NULL), 0);
	for (int i = 0; i < 3; i++) {
		s->run->compared_ns = 0; /* it has to be compared again */
		CHECK_NUMBER(unc_session_read(s, NULL, 0, sizeof(struct unc_value)), 0);
	}
	snprintf(want, sizeof(want),
		 "/run/libuncore/lock is held by pid %d (test_session_or), which has",
		 (int)getpid());
	CHECK_NUMBER(unc_session_start(late), UNC_ERR_BUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(late), want));
	CHECK_NUMBER(unc_session_stop(s), UNC_ERR_BUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_session_error(s), want));
	CU_ASSERT(file_at(CTL3 + 2) != 0);
	unc_journal_unlock(other);
	start_once(s);
	CHECK_NUMBER(heard.n, 1);
	CHECK_TEXT(unc_session_unprotected(s), "");
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(file_at(CTL3 + 2), 0);
	unc_journal_free(other);
	unc_session_free(late);
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
		{"a control that was noted", test_noted},
		{"unit control", test_unit_control},
		{"a unit that was frozen", test_frozen_unit},
		{"entries that no session has made", test_untrusted},
		{"two processes", test_processes},
		{"one that was killed", test_killed_process},
		{"a machine that was suspended", test_suspended},
		{"one whose CPU is offline by now", test_offline},
		{"one that was forked", test_forked},
		{"no journal", test_unprotected},
		{"what cannot be noted", test_not_noted},
		{"a journal without room", test_no_room},
		{"the same beside one that runs", test_full_beside},
		{"unit control that cannot be restored", test_unit_unrestored},
		{"somebody who comes between look and write", test_came_between},
		{"a lock that is not given back", test_locked},
		{NULL, NULL},
	};

	return suite_run("session, orphaned", tests);
}
