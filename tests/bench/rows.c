/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What work costs: CPU time and accesses, with uncore.h alone, so that other versions of the library
 * can be measured by the same program (tests/bench/bench builds it for each). Lines "NAME VALUE".
 *
 *   rows NAME...      rows of this list; without a name all of them
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"

#ifndef UNC_API_VERSION /* before there were versions */
#define unc_session_read(s, v, n, size) unc_session_read(s, v, n)
#define unc_session_reason(s, id) "not valid"
#endif

enum { RUNS = 15, MOST = 480 };

static void die(const char *what, const char *why)
{
	fprintf(stderr, "rows: %s: %s\n", what, why);
	exit(1);
}

static void put(const char *row, const char *what, double value)
{
	printf("%s/%s %.6g\n", row, what, value);
	fflush(stdout);
}

/* ---- CPU time of this process */

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double run[RUNS])
{
	qsort(run, RUNS, sizeof(run[0]), by_size);
	return run[RUNS / 2];
}

static double ns_of(void (*call)(void *), void *user, unsigned calls)
{
	double begin = cpu_ns();

	for (unsigned k = 0; k < calls; k++)
		call(user);
	return (cpu_ns() - begin) / calls;
}

/* Calls that take 1 ms. */
static unsigned enough(void (*call)(void *), void *user)
{
	unsigned calls = 1;

	while (ns_of(call, user, calls) * calls < 1e6)
		calls *= 2;
	return calls;
}

/* ---- sessions */

static struct unc_platform *open_platform(const char *root, const char *sim, const char *cpu)
{
	struct unc_options options = {
		.size = sizeof(options), .sysroot = root, .sim = sim, .cpu = cpu};
	struct unc_platform *p;

	if (unc_platform_open(&options, &p) < 0)
		die("open", unc_open_error());
	return p;
}

static struct unc_platform *open_machine(unsigned sockets)
{
	machine_begin(sockets);
	return open_platform(machine_root(), "", NULL);
}

static void close_machine(struct unc_platform *p)
{
	unc_platform_close(p);
	machine_end();
}

static void add(struct unc_session *s, const char *text)
{
	int id;

	if (unc_session_add(s, text, &id) < 0)
		die(text, unc_session_error(s));
}

static const char *const slice_events[] = {"TOR_INSERTS:IA_MISS_DRD", "DIR_LOOKUP:SNP",
					   "REQUESTS:READS", "IMC_READS_COUNT:NORMAL"};

/* So many counters, each an item of its own: the slices of both sockets with the first event, then
 * with the next one. */
static struct unc_session *session_of(struct unc_platform *p, unsigned counters)
{
	struct unc_session *s;
	char text[UNC_SPEC_MAX];

	if (unc_session_new(p, 0, &s) < 0)
		die("session", "out of memory");
	for (unsigned i = 0; i < counters; i++) {
		snprintf(text, sizeof(text), "cha%u.%s:socket=%u", i % CHAS,
			 slice_events[i / (2 * CHAS)], i / CHAS % 2);
		add(s, text);
	}
	return s;
}

static struct unc_session *session_with(struct unc_platform *p, const char *const *events,
					unsigned n)
{
	struct unc_session *s;

	if (unc_session_new(p, 0, &s) < 0)
		die("session", "out of memory");
	for (unsigned i = 0; i < n; i++)
		add(s, events[i]);
	return s;
}

static void start(void *user)
{
	if (unc_session_start(user) < 0)
		die("start", unc_session_error(user));
}

static void stop(void *user)
{
	if (unc_session_stop(user) < 0)
		die("stop", unc_session_error(user));
}

/* ---- reads, beside those of the same counters without a library */

struct reading {
	struct unc_session *session;
	unsigned items;
	uint64_t apart; /* ns between two */
	struct machine_counter counter[MOST];
	unsigned counters;
	bool stamps;
	volatile uint64_t sum; /* so that none is left out */
};

static void read_session(void *user)
{
	struct reading *r = user;
	static struct unc_value v[MOST];

	if (r->apart)
		machine_skip(r->apart);
	if (unc_session_read(r->session, v, r->items, sizeof(*v)) < 0)
		die("read", unc_session_error(r->session));
	for (unsigned i = 0; i < r->items; i++)
		if (!(v[i].flags & UNC_VALUE_VALID))
			die("read", unc_session_reason(r->session, (int)i));
}

/* The floor: each counter once, and one look at the clock a unit. */
static void read_bare(void *user)
{
	struct reading *r = user;
	struct timespec t;
	uint64_t value, sum = 0;

	for (unsigned i = 0; i < r->counters; i++) {
		const struct machine_counter *c = &r->counter[i];

		if (c->word)
			value = *c->word;
		else if (pread(c->fd, &value, 8, c->at) != 8)
			die("pread", "failed");
		sum += value;
		if (r->stamps && (i == 0 || c->unit != c[-1].unit)) {
			clock_gettime(CLOCK_MONOTONIC, &t);
			sum += (uint64_t)t.tv_nsec;
		}
	}
	r->sum += sum;
}

/* They take turns, so that what else this computer does meets both alike. */
static void report(const char *row, struct reading *r)
{
	double session[RUNS], bare[RUNS], ratio[RUNS];
	unsigned session_calls = enough(read_session, r), bare_calls = enough(read_bare, r);
	struct machine_counts before = machine_counts(), after;

	for (unsigned i = 0; i < 100; i++)
		read_session(r);
	after = machine_counts();
	for (unsigned i = 0; i < RUNS; i++) {
		session[i] = ns_of(read_session, r, session_calls);
		bare[i] = ns_of(read_bare, r, bare_calls);
		ratio[i] = session[i] / bare[i];
	}
	put(row, "ratio", median(ratio));
	put(row, "session_ns", median(session));
	put(row, "floor_ns", median(bare));
	if (after.reads != before.reads) /* loads cannot be seen */
		put(row, "accesses", (double)(after.reads - before.reads) / 100 / r->counters);
}

/* Of a session that runs. */
static struct reading *reading_again(struct unc_session *s, unsigned items)
{
	static struct reading r;

	r = (struct reading){.session = s, .items = items, .stamps = true};
	r.counters = machine_counters(s, r.counter, MOST);
	if (!r.counters)
		die("plan", "no counter is read");
	machine_skip(60000000);
	return &r;
}

static struct reading *reading_of(struct unc_session *s, unsigned items)
{
	start(s);
	return reading_again(s, items);
}

static void report_all(const char *row, struct unc_session *s, unsigned items)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} apart[] = {{"tight", 0}, {"2ms", 2000000}, {"60ms", 60000000}};
	struct reading *r = reading_of(s, items);
	char name[64];

	for (unsigned k = 0; k < sizeof(apart) / sizeof(apart[0]); k++) {
		snprintf(name, sizeof(name), "%s/%s", row, apart[k].name);
		r->apart = apart[k].ns;
		report(name, r);
	}
}

static void row_read(const char *row)
{
	static const unsigned sizes[] = {10, 120, 480, 0};
	struct unc_platform *p = open_machine(2);
	char name[64];

	for (unsigned i = 0; sizes[i]; i++) {
		struct unc_session *s = session_of(p, sizes[i]);

		snprintf(name, sizeof(name), "%s/%u", row, sizes[i]);
		report_all(name, s, sizes[i]);
		unc_session_free(s);
	}
	close_machine(p);
}

/* Configuration space: three links of each socket, four counters of each. */
static void row_pci(const char *row)
{
	static const char *const events[] = {"upi.CLOCKTICKS", "upi.TxL_FLITS:ALL_DATA",
					     "upi.RxL_FLITS:ALL_DATA", "upi.L1_POWER_CYCLES"};
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_with(p, events, 4);

	report_all(row, s, 4);
	unc_session_free(s);
	close_machine(p);
}

/* Memory: eight channels of each socket. A load takes as long as one of the cache here. */
static void row_mmio(const char *row)
{
	static const char *const events[] = {"imc.CAS_COUNT:RD", "imc.CAS_COUNT:WR",
					     "imc.ACT_COUNT:ALL", "imc.CLOCKTICKS"};
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_with(p, events, 4);
	char name[64];

	machine_memory_counts();
	report_all(row, s, 4);
	snprintf(name, sizeof(name), "%s/loads", row);
	struct reading *r = reading_again(s, 4);
	r->stamps = false;
	report(name, r);
	unc_session_free(s);
	close_machine(p);
}

/* What a value costs beside the reads: accesses take no time. */
static void row_software(const char *row)
{
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_of(p, 120);
	struct reading *r = reading_of(s, 120);
	double more[RUNS];

	machine_delay(0);
	r->stamps = false;
	unsigned session_calls = enough(read_session, r), bare_calls = enough(read_bare, r);

	for (unsigned i = 0; i < RUNS; i++)
		more[i] =
			(ns_of(read_session, r, session_calls) - ns_of(read_bare, r, bare_calls)) /
			120;
	put(row, "ns", median(more));
	unc_session_free(s);
	close_machine(p);
}

/* ---- starts */

static void row_start(const char *row)
{
	struct unc_platform *p = open_machine(2);
	struct unc_session *s = session_of(p, MOST);
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

/* Counter i of a machine of eight sockets, in a session of its own. */
static struct unc_session *session_alone(struct unc_platform *p, unsigned i)
{
	struct unc_session *s;
	char text[UNC_SPEC_MAX];

	if (unc_session_new(p, 0, &s) < 0)
		die("session", "out of memory");
	snprintf(text, sizeof(text), "cha%u.%s:socket=%u", i % CHAS,
		 slice_events[i / (MAX_SOCKETS * CHAS)], i / CHAS % MAX_SOCKETS);
	add(s, text);
	return s;
}

/* A process that counts until `end` is closed; it says on `ready` that it does. */
static void count_beside(unsigned i, int ready, const int end[2])
{
	char byte = 0;

	if (fork() != 0)
		return;
	close(end[1]);
	struct unc_platform *p = open_platform(machine_root(), "", NULL);

	start(session_alone(p, i));
	if (write(ready, &byte, 1) != 1)
		die("pipe", "broken");
	while (read(end[0], &byte, 1) > 0)
		continue;
	_exit(0);
}

static void row_beside(const char *row)
{
	static const unsigned sizes[] = {0, 1, 10, 100};
	int ready[2], end[2];
	char byte, name[32];
	unsigned running = 0;

	machine_begin(MAX_SOCKETS);
	if (pipe(ready) < 0 || pipe(end) < 0)
		die("pipe", "failed");
	for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		double run[RUNS];

		for (; running < sizes[k]; running++) {
			fflush(stdout);
			count_beside(running, ready[1], end);
			if (read(ready[0], &byte, 1) != 1)
				die("pipe", "broken");
		}
		struct unc_platform *p = open_platform(machine_root(), "", NULL);
		struct unc_session *s = session_alone(p, 4 * MAX_SOCKETS * CHAS - 1);

		for (unsigned i = 0; i < RUNS; i++) {
			run[i] = ns_of(start, s, 1) / 1e3;
			stop(s);
		}
		snprintf(name, sizeof(name), "us/%u", sizes[k]);
		put(row, name, median(run));
		unc_session_free(s);
		unc_platform_close(p);
	}
	close(end[0]);
	close(end[1]);
	while (wait(NULL) > 0)
		continue;
	machine_end();
}

/* ---- what the other socket and the process have of it */

static void row_remote(const char *row)
{
	struct unc_platform *p = open_machine(2);
	struct unc_session *s;
	struct machine_counts count[4];
	struct unc_value v[16];
	char text[UNC_SPEC_MAX];

	if (unc_session_new(p, 0, &s) < 0)
		die("session", "out of memory");
	for (unsigned i = 0; i < 16; i++) {
		snprintf(text, sizeof(text), "cha%u.%s:socket=1", i, slice_events[0]);
		add(s, text);
	}
	count[0] = machine_counts();
	start(s);
	count[1] = machine_counts();
	if (unc_session_read(s, v, 16, sizeof(*v)) < 0)
		die("read", unc_session_error(s));
	count[2] = machine_counts();
	machine_skip(60000000);
	if (unc_session_read(s, v, 16, sizeof(*v)) < 0)
		die("read", unc_session_error(s));
	count[3] = machine_counts();
	put(row, "start", (double)(count[1].remote - count[0].remote));
	put(row, "read", (double)(count[2].remote - count[1].remote));
	put(row, "read_60ms", (double)(count[3].remote - count[2].remote));
	put(row, "moves", (double)(count[3].moves - count[2].moves));
	unc_session_free(s);
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

static void row_memory(const char *row)
{
	machine_begin(2);
	double before = private_kb(NULL);
	struct unc_platform *p = open_platform(machine_root(), "", NULL);
	double opened = private_kb(NULL);
	struct unc_session *s;

	if (unc_session_new(p, 0, &s) < 0)
		die("session", "out of memory");
	add(s, "cha.TOR_INSERTS:IA_MISS_DRD");
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

static void row_threads(const char *row)
{
	enum { SESSIONS = 64 };
	struct unc_platform *p = open_machine(2);
	struct unc_session *s[SESSIONS];
	double before = threads();

	for (unsigned i = 0; i < SESSIONS; i++) {
		s[i] = session_alone(p, i % CHAS + (i / CHAS) * MAX_SOCKETS * CHAS);
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

struct calls {
	double all, opens;
};

/* Of this work in a process of its own. */
static struct calls system_calls(void (*work)(unsigned), unsigned how_often)
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

static void row_open(const char *row)
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
	}
	machine_end();
}

/* ---- the kernel counts: real events, a group a slice */

#ifdef UNC_API_VERSION
static struct unc_session *kernel_session;
static uint64_t kernel_apart;

static void read_kernel(void *unused)
{
	struct unc_value v;

	(void)unused;
	if (kernel_apart)
		machine_skip(kernel_apart);
	if (unc_session_read(kernel_session, &v, 1, sizeof(v)) < 0)
		die("read", unc_session_error(kernel_session));
	if (!(v.flags & UNC_VALUE_VALID))
		die("read", unc_session_reason(kernel_session, 0));
}

static void read_by_kernel(unsigned times)
{
	struct unc_options options = {
		.size = sizeof(options), .sysroot = "/", .sim = "", .access = "kernel"};
	struct unc_platform *p;

	if (!machine_enter())
		die("chroot", "needs root");
	if (unc_platform_open(&options, &p) < 0)
		die("open", unc_open_error());
	kernel_session = session_with(p, slice_events, 1);
	start(kernel_session);
	for (unsigned i = 0; i < times; i++)
		read_kernel(NULL);
	unc_session_free(kernel_session);
	unc_platform_close(p);
}

static void row_kernel(const char *row)
{
	enum { READS = 10 };

	machine_begin(2);
	machine_pmus(2);
	for (kernel_apart = 0; kernel_apart <= 60000000; kernel_apart += 60000000) {
		struct calls none = system_calls(read_by_kernel, 0),
			     some = system_calls(read_by_kernel, READS);

		put(row, kernel_apart ? "calls_60ms" : "calls",
		    (some.all - none.all) / READS / (2 * CHAS));
	}
	machine_end();
}
#else
static void row_kernel(const char *row)
{
	(void)row; /* this version did not leave it to the kernel */
}
#endif

/* ---- the list */

static const struct row {
	const char *name;
	void (*run)(const char *name);
} rows[] = {
	{"memory", row_memory}, {"read", row_read},         {"pci", row_pci},
	{"mmio", row_mmio},     {"software", row_software}, {"start", row_start},
	{"beside", row_beside}, {"remote", row_remote},     {"threads", row_threads},
	{"open", row_open},     {"kernel", row_kernel},     {NULL, NULL},
};

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc == 1;
}

/* Each in a process of its own, which has opened nothing before. */
int main(int argc, char **argv)
{
	int status, failed = 0;

	for (const struct row *row = rows; row->name; row++) {
		if (!wanted(row->name, argc, argv))
			continue;
		if (fork() == 0) {
			row->run(row->name);
			exit(0);
		}
		wait(&status);
		failed |= status != 0;
	}
	return failed;
}
