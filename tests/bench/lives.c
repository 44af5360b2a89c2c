/* SPDX-License-Identifier: BSD-3-Clause */
/* From open to stop: what it costs, and what a process has and does meanwhile. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

/* ---- starts */

void row_start(const char *row)
{
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_of(p, 2, 0, MOST);
	double begin[RUNS], end[RUNS];
	struct machine_counts before, between, after;

	for (unsigned i = 0; i < RUNS; i++) {
		before = machine_counts();
		begin[i] = ns_of(start, s, 1) / 1e3;
		between = machine_counts();
		end[i] = ns_of(stop, s, 1) / 1e3;
		after = machine_counts();
	}
	put(row, "start_us", median(begin));
	put(row, "stop_us", median(end));
	put(row, "start_reads", (double)(between.reads - before.reads) / MOST);
	put(row, "start_writes", (double)(between.writes - before.writes) / MOST);
	put(row, "stop_reads", (double)(after.reads - between.reads) / MOST);
	put(row, "stop_writes", (double)(after.writes - between.writes) / MOST);
	unc_session_free(s);
	close_machine(p);
}

/* A process that counts with n sessions of one counter each until `end` is closed; it says on `ready`
 * that it does. */
static void count_beside(unsigned first, unsigned n, int ready, const int end[2])
{
	char byte = 0;
	pid_t pid = fork();

	if (pid < 0)
		die("fork", "failed");
	if (pid > 0)
		return;
	close(end[1]);
	struct unc_platform *p = open_platform(machine_root(), "", NULL);

	for (unsigned i = 0; i < n; i++)
		start(session_of(p, MAX_SOCKETS, first + i, 1));
	if (write(ready, &byte, 1) != 1)
		die("pipe", "broken");
	while (read(end[0], &byte, 1) > 0)
		continue;
	_exit(0);
}

/* A start beside others, on the last of all counters. */
static double start_beside(void)
{
	struct unc_platform *p = open_platform(machine_root(), "", NULL);
	struct unc_session *s =
		session_of(p, MAX_SOCKETS, SLICE_EVENTS * MAX_SOCKETS * CHAS - 1, 1);
	double run[RUNS];

	for (unsigned i = 0; i < RUNS; i++) {
		run[i] = ns_of(start, s, 1) / 1e3;
		stop(s);
	}
	unc_session_free(s);
	unc_platform_close(p);
	return median(run);
}

/* At most a hundred a process: to open a platform takes long. */
void row_beside(const char *row)
{
	static const unsigned sizes[] = {0, 1, 10, 100, 1000};
	int ready[2], end[2];
	char byte, name[32];
	unsigned running = 0, more;

	machine_begin(MAX_SOCKETS);
	machine_delay(0);
	if (pipe(ready) < 0 || pipe(end) < 0)
		die("pipe", "failed");
	for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		for (; running < sizes[k]; running += more) {
			more = sizes[k] - running < 100 ? sizes[k] - running : 100;
			count_beside(running, more, ready[1], end);
			if (read(ready[0], &byte, 1) != 1)
				die("pipe", "broken");
		}
		snprintf(name, sizeof(name), "%u", sizes[k]);
		put(row, name, start_beside());
	}
	close(end[0]);
	close(end[1]);
	while (wait(NULL) > 0)
		continue;
	machine_end();
}

/* ---- what the other socket and the process have of it */

/* What a start and a stop take of 16 counters of another socket, over those of the own one. */
static void compare_starts(const char *row, struct unc_session *far, struct unc_session *near)
{
	double starts[RUNS], stops[RUNS];

	for (unsigned i = 0; i < RUNS; i++) {
		double begin = ns_of(start, near, 1), end = ns_of(stop, near, 1);

		starts[i] = ns_of(start, far, 1) / begin;
		stops[i] = ns_of(stop, far, 1) / end;
	}
	put(row, "start_ratio", median(starts));
	put(row, "stop_ratio", median(stops));
}

static void count_remote(const char *row, struct unc_session *s)
{
	struct machine_counts count[4];
	struct unc_value v[16];

	count[0] = machine_counts();
	start(s);
	count[1] = machine_counts();
	if (unc_session_read(s, v, 16, sizeof(*v)) < 0)
		die("read", unc_session_error(s));
	count[2] = machine_counts();
	pass(60000000);
	if (changes)
		machine_change();
	if (unc_session_read(s, v, 16, sizeof(*v)) < 0)
		die("read", unc_session_error(s));
	count[3] = machine_counts();
	put(row, "start", (double)(count[1].remote - count[0].remote));
	put(row, "read", (double)(count[2].remote - count[1].remote));
	put(row, "read_60ms", (double)(count[3].remote - count[2].remote));
	stop(s);
}

void row_remote(const char *row)
{
	struct unc_platform *p = open_machine(2);
	struct unc_session *near = session_of(p, 2, 0, 16),
			   *far = session_of(p, 2, CHAS, 16); /* of the second one */

	count_remote(row, far);
	if (!changes)
		compare_starts(row, far, near);
	report_reads(row, far, 16);
	unc_session_free(near);
	unc_session_free(far);
	close_machine(p);
}

/* KiB that are this process' own; of a library, or of all that is mapped. */
static double private_kb(const char *library)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long sum = 0, kb, from, to;
	char line[4096];
	bool inside = true;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = !library || strstr(line, library);
		else if (inside && sscanf(line, "Private_Dirty: %lu kB", &kb) == 1)
			sum += kb;
	}
	if (f)
		fclose(f);
	return (double)sum;
}

void row_memory(const char *row)
{
	machine_begin(2);
	double before = private_kb(NULL);
	struct unc_platform *p = open_platform(machine_root(), "", NULL);
	double opened = private_kb(NULL);
	static const char *const event = "cha.TOR_INSERTS:IA_MISS_DRD";
	struct unc_session *s = session_with(p, &event, 1);

	start(s);
	put(row, "open_kb", opened - before);
	put(row, "counting_kb", private_kb(NULL) - before);
	put(row, "library_kb", private_kb("/libuncore.so"));
	unc_session_free(s);
	close_machine(p);
}

static double threads(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Threads: %d", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

void row_threads(const char *row)
{
	enum { SESSIONS = 64 };
	struct unc_platform *p = open_machine(2);
	struct unc_session *s[SESSIONS];
	double before = threads();

	for (unsigned i = 0; i < SESSIONS; i++) {
		s[i] = session_of(p, 2, i, 1);
		start(s[i]);
		if (i == 0)
			put(row, "1", threads() - before);
	}
	put(row, "64", threads() - before);
	for (unsigned i = 0; i < SESSIONS; i++)
		unc_session_free(s[i]);
	close_machine(p);
}

/* ---- system calls */

struct calls system_calls(void (*work)(unsigned), unsigned how_often)
{
	struct __ptrace_syscall_info info;
	struct calls calls = {0};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		work(how_often);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	while (ptrace(PTRACE_SYSCALL, pid, NULL, 0L) == 0 && waitpid(pid, &status, 0) == pid &&
	       !WIFEXITED(status)) {
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0 ||
		    info.op != PTRACE_SYSCALL_INFO_ENTRY)
			continue;
		calls.all++;
		calls.opens += info.entry.nr == SYS_openat;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		die("system calls", "the process that they are counted of has failed");
	return calls;
}

static void open_and_close(unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		unc_platform_close(open_platform(machine_root(), "", NULL));
}

static void open_once(void *unused)
{
	(void)unused;
	open_and_close(1);
}

void row_open(const char *row)
{
	machine_begin(2);
	for (unsigned others = 0; others <= 700; others += 700) {
		char name[64];

		machine_others(others);
		struct calls none = system_calls(open_and_close, 0),
			     one = system_calls(open_and_close, 1);

		snprintf(name, sizeof(name), "%s/%u", row, others);
		put(name, "opens", one.opens - none.opens);
		put(name, "calls", one.all - none.all);
		put(name, "ms", ns_of(open_once, NULL, 5) / 1e6);
		struct machine_counts before = machine_counts();

		open_once(NULL);
		put(name, "remote", (double)(machine_counts().remote - before.remote));
	}
	machine_end();
}
