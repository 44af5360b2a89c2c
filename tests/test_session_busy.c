/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions on a machine that is busy, in its own time. Each event of the memory channels of a
 * simulated machine is the real kernel's clock of a CPU (PERF_COUNT_SW_CPU_CLOCK, in ns: man
 * perf_event_open(2)): so each counts 1e9 in a second, whenever the kernel lets the process look.
 */
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel_session_kit.h"
#include "host/events.h"

enum { BUSY = 8, INTERVALS = 24, INTERVAL_MS = 15, UNITS = 8 };

static cpu_set_t everywhere; /* where we may run */

/* The CPU that a socket has its clock of: not the same for both, if there are two. */
static int cpu_of(int socket)
{
	int first = -1, nth = socket % 2;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((unsigned)cpu, &everywhere)) {
			first = first < 0 ? cpu : first;
			if (nth-- == 0)
				return cpu;
		}
	return first;
}

static int open_clock(struct unc_machine *m, const struct perf_event_attr *attr, int cpu,
		      int group_fd)
{
	struct perf_event_attr clock = *attr;

	clock.type = PERF_TYPE_SOFTWARE;
	clock.config = PERF_COUNT_SW_CPU_CLOCK;
	clock.config1 = clock.config2 = 0;
	return unc_events_system.open(m, &clock, cpu_of(cpu > 0), group_fd);
}

/* Others get the CPU before some of the reads and behind others, as may happen to each. */
static long read_clock(struct unc_machine *m, int fd, void *buf, size_t size)
{
	static unsigned reads;
	unsigned n = reads++ % 7;

	if (n == 2 || n == 5)
		sched_yield();
	long got = unc_events_system.read(m, fd, buf, size);
	if (n == 5 || n == 6)
		sched_yield();
	return got;
}

/* A machine whose driver opens these. */
static struct unc_platform *real_machine(struct unc_machine_events *events)
{
	struct unc_platform *p = by("ivybridge-ep,kernel=on", NULL);

	*events = unc_events_system;
	events->find = p->machine->events->find;
	events->umask = p->machine->events->umask;
	events->open = open_clock;
	events->read = read_clock;
	p->machine->events = events;
	return p;
}

/* Whether the kernel hands out events of its CPUs; else the test is skipped. */
static bool permitted(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK};
	static char why[160];

	for (int socket = 0; socket < 2; socket++) {
		int fd = unc_events_system.open(NULL, &attr, cpu_of(socket), -1);

		snprintf(why, sizeof(why), "perf_event_open on cpu %d: %s", cpu_of(socket),
			 strerror(errno));
		if (fd < 0) {
			suite_skip(why);
			return false;
		}
		close(fd);
	}
	return true;
}

static void begin_busy(pid_t busy[BUSY])
{
	fflush(stdout);
	for (size_t i = 0; i < BUSY; i++) {
		busy[i] = fork();
		CU_ASSERT_FATAL(busy[i] >= 0);
		if (busy[i] > 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned n = 0;; n++)
			;
	}
}

static void end_busy(const pid_t busy[BUSY])
{
	for (size_t i = 0; i < BUSY; i++) {
		kill(busy[i], SIGKILL);
		waitpid(busy[i], NULL, 0);
	}
}

static struct {
	unsigned values, marked, wrong;
} seen;

/* A value of so many clocks, in a time. The clocks of the kernel differ by what time is adjusted
 * by: 0.05 % (adjtimex(2)). */
static void judge(const char *name, const char *what, double value, bool late, double seconds,
		  double clocks)
{
	double off = value / (clocks * 1e9 * seconds) - 1;

	seen.values++;
	seen.marked += late;
	if (late || fabs(off) <= 0.0105)
		return;
	seen.wrong++;
	printf("# %s, %s of %.6f s: off by %.2f %%\n", name, what, seconds, 100 * off);
}

/* Sums of the channels of both sockets, and each channel of one. */
static size_t want(struct unc_session *s, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		CHECK_NUMBER(add(s, names[i]), i);
	start(s);
	return n;
}

static void read_and_judge(struct unc_session *s, const char *const *names, size_t n)
{
	struct unc_value v[MAX_ITEMS];
	double all, interval;

	CHECK_NUMBER(unc_session_read(s, v, n, sizeof(*v)), 0);
	CHECK_NUMBER(unc_session_time(s, &all, &interval), 0);
	for (size_t i = 0; i < n; i++) {
		double clocks = strchr(names[i], '=') ? 1 : UNITS;

		if (!(v[i].flags & UNC_VALUE_VALID) || isnan(v[i].interval))
			continue;
		if (v[i].flags & UNC_VALUE_FRESH && unc_session_passes(s) == 1)
			judge(names[i], "the interval", v[i].interval,
			      v[i].flags & UNC_VALUE_INTERVAL_LATE, interval, clocks);
		judge(names[i], "all", v[i].value, v[i].flags & UNC_VALUE_LATE, all, clocks);
	}
}

static void try(const char *const *names, size_t n, unsigned turns_ms)
{
	struct unc_machine_events events;
	struct unc_platform *p = real_machine(&events);
	struct unc_session *s = session(p, turns_ms ? UNC_SESSION_ROTATE : 0);
	pid_t busy[BUSY];

	memset(&seen, 0, sizeof(seen));
	if (turns_ms)
		CHECK_NUMBER(unc_session_turns(s, turns_ms), 0);
	begin_busy(busy);
	want(s, names, n);
	for (unsigned i = 0; i < INTERVALS; i++) {
		nanosleep(&(struct timespec){.tv_nsec = INTERVAL_MS * 1000000}, NULL);
		read_and_judge(s, names, n);
	}
	end_busy(busy);
	printf("# %u values, %u marked, %u silently wrong\n", seen.values, seen.marked, seen.wrong);
	CHECK_NUMBER(seen.wrong, 0);
	CU_ASSERT(seen.values > 0);
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_one_pass(void)
{
	static const char *const names[] = {
		"imc.CAS_COUNT:RD",           "imc.CAS_COUNT:WR",
		"imc0.CAS_COUNT:RD:socket=0", "imc1.CAS_COUNT:RD:socket=0",
		"imc4.CAS_COUNT:RD:socket=1", "imc5.CAS_COUNT:RD:socket=1"};

	if (permitted())
		try(names, sizeof(names) / sizeof(*names), 0);
}

static void test_turns(void)
{
	if (permitted())
		try(many, MANY, 20);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"clocks of the kernel beside busy processes", test_one_pass},
		{"in turns", test_turns},
		{NULL, NULL},
	};

	CPU_ZERO(&everywhere);
	sched_getaffinity(0, sizeof(everywhere), &everywhere);
	return suite_run("session busy", tests);
}
