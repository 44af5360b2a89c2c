/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speed (make bench). What counts are the ratios within one run, which mean the same on every
 * machine: how much a session's read costs over the bare system calls or loads that it cannot do
 * without. The raw reads go to regular files, where a real machine has the msr driver and
 * configuration space: these are slower, so that the true ratios are nearer to 1 than the ones
 * printed. Nothing passes or fails here.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../fake_root.h"
#include "platform/platform.h"
#include "session/session.h"

enum { RUNS = 51 };

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench: %s: %s\n", what, why);
	exit(1);
}

/* ---- time */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *run)
{
	qsort(run, RUNS, sizeof(run[0]), by_size);
	return run[RUNS / 2];
}

static double seconds(void (*call)(void *), void *user, unsigned calls)
{
	double begin = now();

	for (unsigned k = 0; k < calls; k++)
		call(user);
	return (now() - begin) / calls;
}

/* Calls that take 1 ms. */
static unsigned enough(void (*call)(void *), void *user)
{
	unsigned calls = 1;

	while (seconds(call, user, calls) * calls < 0.001)
		calls *= 2;
	return calls;
}

/* Seconds of one call: the median of several runs. */
static double time_of(void (*call)(void *), void *user)
{
	unsigned calls = enough(call, user);
	double run[RUNS];

	for (unsigned i = 0; i < RUNS; i++)
		run[i] = seconds(call, user, calls);
	return median(run);
}

/* ---- registers made of files: they hold what is written, and counters count */

/* Descriptors of MSRs: the position in such a file is a number of 8 bytes. */
static bool msrs[4096];

int open(const char *path, int flags, ...)
{
	size_t n = strlen(path);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);

	if (fd >= 0 && fd < 4096)
		msrs[fd] = n > 4 && strcmp(path + n - 4, "/msr") == 0;
	return fd;
}

/* MSRs of a CBo's counters; in configuration space, those of a channel. */
static bool counts(bool msr, off_t at)
{
	return msr ? (at & 0x1f) >= 0x16 && (at & 0x1f) <= 0x19 && at >= 0xD00
		   : at >= 0xA0 && at < 0xC0 && !(at & 7);
}

ssize_t pread(int fd, void *buf, size_t size, off_t at)
{
	static uint32_t moved;
	bool msr = fd < 4096 && msrs[fd];
	ssize_t n = syscall(SYS_pread64, fd, buf, size, msr ? 8 * at : at);
	uint32_t low;

	if (n >= 4 && counts(msr, at)) {
		memcpy(&low, buf, sizeof(low));
		low += moved++;
		memcpy(buf, &low, sizeof(low));
	}
	return n;
}

ssize_t pwrite(int fd, const void *buf, size_t size, off_t at)
{
	return syscall(SYS_pwrite64, fd, buf, size, fd < 4096 && msrs[fd] ? 8 * at : at);
}

/* Counters in mapped memory move when the library looks at the clock, while there is a session
 * here. */
static struct unc_session *mapped;

int clock_gettime(clockid_t id, struct timespec *t)
{
	static int (*next)(clockid_t, struct timespec *);

	for (size_t i = 0; mapped && i < mapped->units.n_reads; i++)
		++*(volatile uint64_t *)mapped->units.read[i].handle.ptr;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
	return next(id, t);
}

/* ---- machines made of files */

static void add_cpus(struct fake_root *root, int model, int cpus)
{
	char text[4096] = "";

	for (int i = 0; i < cpus; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "processor\t: %d\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
			 "model\t\t: %d\nmodel name\t: made of files\nstepping\t: 0\n"
			 "physical id\t: 0\ncore id\t\t: %d\n\n",
			 i, model, i);
	fake_text(fake_path(root, "/proc/cpuinfo"), text);
	fake_size(fake_path(root, "/dev/cpu/0/msr"), 8 * 0x10000);
}

/* The MSRs of a Sandy Bridge-EP and the four channels of its memory controller. */
static void make_snb(struct fake_root *root)
{
	static const unsigned function[] = {0, 1, 4, 5}, id[] = {0x3cb0, 0x3cb1, 0x3cb4, 0x3cb5};

	fake_new(root);
	add_cpus(root, 0x2D, 8);
	fake_function(root, 0x7f, 0x0b, 0, 0x3ce0, 4096);
	for (unsigned i = 0; i < 4; i++)
		fake_function(root, 0x7f, 0x10, function[i], id[i], 4096);
}

/* An Emerald Rapids whose memory controllers are at 8 MB of /dev/mem. */
static void make_emr(struct fake_root *root)
{
	fake_new(root);
	add_cpus(root, 0xCF, 8);
	fake_function(root, 0xfe, 0, 0, 0x3250, 4096);
	fake_function(root, 0xfe, 0, 1, 0x3251, 4096);
	fake_put(root, 0xfe, 0, 1, 0xD0, 1); /* 8 MB */
	for (unsigned i = 0; i < 4; i++)
		fake_put(root, 0xfe, 0, 1, 0xD8 + 4 * i, 0x80 * (i + 1));
	fake_size(fake_path(root, "/dev/mem"), 0xA40000);
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

static struct unc_session *session_of(struct unc_platform *p, const char *const *events)
{
	struct unc_session *s;
	int id;

	if (unc_session_new(p, 0, &s) < 0)
		die("session", "out of memory");
	for (; *events; events++)
		if (unc_session_add(s, *events, &id) < 0)
			die("add", unc_session_error(s));
	return s;
}

static void read_session(void *user)
{
	struct unc_value v[8];

	if (unc_session_read(user, v, 8, sizeof(*v)) < 0)
		die("read", unc_session_error(user));
	if (!(v[0].flags & UNC_VALUE_VALID))
		die("read", unc_session_reason(user, 0));
}

/* A read that finds the last verification long ago. */
static void verified_read(void *user)
{
	struct unc_session *s = user;

	s->units.verified_ns -= 1000000000;
	read_session(s);
}

static void run_access(void *user)
{
	struct unc_session *s = user;

	if (unc_access_run(s->platform->access, s->units.read, s->units.n_reads) < 0)
		die("run", "a register could not be read");
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

/* ---- raw reads of as many counters */

struct raw {
	int fd;
	size_t n;
	volatile uint64_t *map;
	volatile uint64_t sum; /* so that no read is left out */
};

static void raw_msr(void *user)
{
	struct raw *r = user;
	uint64_t value;

	for (size_t i = 0; i < r->n; i++) {
		if (pread(r->fd, &value, 8, (off_t)(0xD00 + i)) != 8)
			die("pread", "failed");
		r->sum += value;
	}
}

/* Both halves of a 64-bit counter in configuration space. */
static void raw_pci(void *user)
{
	struct raw *r = user;
	uint64_t value;

	for (size_t i = 0; i < r->n; i++) {
		if (pread(r->fd, &value, 8, (off_t)(0xA0 + 8 * (i & 3))) != 8)
			die("pread", "failed");
		r->sum += value;
	}
}

static void raw_mmio(void *user)
{
	struct raw *r = user;
	uint64_t sum = 0;

	for (size_t i = 0; i < r->n; i++)
		sum += r->map[i];
	r->sum += sum;
}

/* They take turns, so that what else the machine does meets all of them alike. */
static void report_reads(const char *what, struct unc_session *s, void (*raw_call)(void *),
			 struct raw *raw)
{
	double session[RUNS], access[RUNS], bare[RUNS], ratio[RUNS], verified[RUNS];
	double n = (double)s->units.n_reads;
	unsigned session_calls = enough(read_session, s), access_calls = enough(run_access, s);
	unsigned verified_calls = enough(verified_read, s);

	raw->n = s->units.n_reads;
	unsigned raw_calls = raw_call ? enough(raw_call, raw) : 0;
	for (unsigned i = 0; i < RUNS; i++) {
		session[i] = seconds(read_session, s, session_calls) / n * 1e9;
		access[i] = seconds(run_access, s, access_calls) / n * 1e9;
		bare[i] = raw_call ? seconds(raw_call, raw, raw_calls) / n * 1e9 : 0;
		ratio[i] = raw_call ? session[i] / bare[i] : 0;
		verified[i] = seconds(verified_read, s, verified_calls) / n * 1e9 / session[i];
	}
	printf("%-20s %8.0f %10.1f %10.1f", what, n, median(session), median(access));
	if (raw_call)
		printf(" %8.1f %12.2f", median(bare), median(ratio));
	else
		printf(" %8s %12s", "-", "-");
	printf(" %17.2f\n", median(verified));
}

/* What start and stop cost, in reads of all counters of the session. */
static void report_start(const char *what, struct unc_session *s)
{
	double begin[RUNS], end[RUNS], look[RUNS], begin_ratio[RUNS], end_ratio[RUNS];

	for (unsigned i = 0; i < RUNS; i++) {
		begin[i] = seconds(start, s, 1);
		look[i] = seconds(run_access, s, 16);
		end[i] = seconds(stop, s, 1);
		begin_ratio[i] = begin[i] / look[i];
		end_ratio[i] = end[i] / look[i];
	}
	printf("%-20s %8zu %10.3f %10.3f %20.1f %17.1f\n", what, s->units.n_reads,
	       median(begin) * 1e3, median(end) * 1e3, median(begin_ratio), median(end_ratio));
}

static void bench_files(const char *what, struct fake_root *root, const char *const *events,
			const char *file, void (*raw_call)(void *))
{
	struct unc_platform *p = open_platform(root->path, "", NULL);
	struct unc_session *s = session_of(p, events);
	struct raw raw = {.fd = open(fake_path(root, "%s", file), O_RDONLY | O_CLOEXEC)};

	if (raw.fd < 0)
		die(file, "cannot be opened");
	raw.map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, raw.fd, 0);
	if (raw.map == MAP_FAILED)
		die(file, "cannot be mapped");
	mapped = raw_call == raw_mmio ? s : NULL;
	start(s);
	report_reads(what, s, raw_call, &raw);
	mapped = NULL;
	munmap((void *)(uintptr_t)raw.map, 4096);
	close(raw.fd);
	unc_session_free(s);
	unc_platform_close(p);
}

static const char *const cbo_events[] = {"cbo.CLOCKTICKS", "cbo.TOR_INSERTS:OPCODE:opc=0x182",
					 "cbo.RING_BL_USED:UP_EVEN", "cbo.RING_BL_USED:UP_ODD",
					 NULL};
static const char *const snb_imc_events[] = {"imc.CAS_COUNT:RD", "imc.CAS_COUNT:WR",
					     "imc.ACT_COUNT", "imc.PRE_COUNT:PAGE_MISS", NULL};
static const char *const emr_imc_events[] = {"imc.CAS_COUNT:RD", "imc.CAS_COUNT:WR",
					     "imc.ACT_COUNT:ALL", "imc.CLOCKTICKS", NULL};
static const char *const emr_events[] = {"cha.CLOCKTICKS",   "cha.TOR_INSERTS:IA_MISS_DRD",
					 "imc.CAS_COUNT:RD", "imc.CAS_COUNT:WR",
					 "upi.CLOCKTICKS",   NULL};

static void bench_reads(void)
{
	struct fake_root snb, emr;
	struct raw none = {0};

	printf("reading              counters session ns  access ns   raw ns  session/raw  "
	       "verified/session\n");
	make_snb(&snb);
	make_emr(&emr);
	bench_files("MSR (one pread)", &snb, cbo_events, "/dev/cpu/0/msr", raw_msr);
	bench_files("PCI (one pread)", &snb, snb_imc_events,
		    "/sys/bus/pci/devices/0000:7f:10.0/config", raw_pci);
	bench_files("MMIO (one load)", &emr, emr_imc_events, "/dev/mem", raw_mmio);
	fake_free(&snb);
	fake_free(&emr);

	struct unc_platform *p = open_platform(NULL, "emerald-rapids", NULL);
	struct unc_session *s = session_of(p, emr_events);
	start(s);
	report_reads("simulated", s, NULL, &none);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Where the caller runs, which is asked once for all MSRs that are accessed together. */
static void ask_cpu(void *user)
{
	((struct raw *)user)->sum += (uint64_t)sched_getcpu();
}

static void bench_cpu(void)
{
	struct fake_root snb;

	make_snb(&snb);
	struct raw raw = {.n = 1,
			  .fd = open(fake_path(&snb, "/dev/cpu/0/msr"), O_RDONLY | O_CLOEXEC)};

	if (raw.fd < 0)
		die("msr", "cannot be opened");
	printf("\nasking where the caller runs: %.3f raw reads of an MSR\n",
	       time_of(ask_cpu, &raw) / time_of(raw_msr, &raw));
	close(raw.fd);
	fake_free(&snb);
}

/* ---- names */

struct names {
	struct unc_platform *p;
	char (*text)[UNC_SPEC_MAX];
	size_t n, listed;
};

/* All events of the CPU with each of their umasks, as far as they need no more than that. */
static void collect(struct names *names)
{
	struct unc_encoding e = {.size = sizeof(e)};
	const struct unc_umask *umask;
	size_t room = 8192;

	names->text = malloc(room * sizeof(*names->text));
	if (!names->text)
		die("names", "out of memory");
	for (size_t i = 0; unc_event_get(names->p, i); i++) {
		const struct unc_event *event = unc_event_get(names->p, i);

		for (size_t k = 0; k == 0 || (umask = unc_umask_get(names->p, i, k)); k++) {
			bool has = (umask = unc_umask_get(names->p, i, k)) != NULL;

			if (names->n == room)
				die("names", "more than expected");
			snprintf(names->text[names->n], UNC_SPEC_MAX, "%s%s%s", event->spec,
				 has ? ":" : "", has ? umask->name : "");
			names->n += unc_event_encode(names->p, names->text[names->n], &e) == 0;
		}
	}
}

static void encode_all(void *user)
{
	struct names *names = user;
	struct unc_encoding e = {.size = sizeof(e)};

	for (size_t i = 0; i < names->n; i++)
		if (unc_event_encode(names->p, names->text[i], &e) < 0)
			die(names->text[i], unc_platform_error(names->p));
}

/* What a listing asks for. */
static void list_all(void *user)
{
	struct names *names = user;
	struct unc_platform *p = open_platform(NULL, "", "emerald-rapids");
	const struct unc_umask *umask;
	const struct unc_field *field;

	names->listed = 0;
	for (size_t i = 0; unc_event_get(p, i); i++) {
		names->listed++;
		for (size_t k = 0; (umask = unc_umask_get(p, i, k)); k++)
			names->listed++;
		for (size_t k = 0; (field = unc_field_get(p, i, k)); k++)
			continue;
	}
	unc_platform_close(p);
}

static void open_listing(void *user)
{
	(void)user;
	unc_platform_close(open_platform(NULL, "", "emerald-rapids"));
}

static void open_simulated(void *user)
{
	(void)user;
	unc_platform_close(open_platform(NULL, "emerald-rapids", NULL));
}

static void bench_names(void)
{
	struct names names = {.p = open_platform(NULL, "", "emerald-rapids")};

	collect(&names);
	double encode = time_of(encode_all, &names), list = time_of(list_all, &names);

	printf("\nEmerald Rapids\n");
	printf("  encode                  %10.0f events/s (%zu names)\n", (double)names.n / encode,
	       names.n);
	printf("  open and list everything%10.3f ms (%zu events and umasks)\n", list * 1e3,
	       names.listed);
	printf("  open for listing        %10.3f ms\n", time_of(open_listing, NULL) * 1e3);
	printf("  open, simulated         %10.3f ms, two sockets found\n",
	       time_of(open_simulated, NULL) * 1e3);
	free(names.text);
	unc_platform_close(names.p);
}

static void start_files(const char *what, struct fake_root *root, const char *const *events)
{
	struct unc_platform *p =
		open_platform(root ? root->path : NULL, root ? "" : "emerald-rapids", NULL);
	struct unc_session *s = session_of(p, events);

	report_start(what, s);
	unc_session_free(s);
	unc_platform_close(p);
}

static void bench_start(void)
{
	struct fake_root snb;

	printf("\nstarting and stopping counters   start ms    stop ms  start/reading them  "
	       "stop/reading them\n");
	make_snb(&snb);
	start_files("MSR", &snb, cbo_events);
	start_files("PCI", &snb, snb_imc_events);
	start_files("simulated", NULL, emr_events);
	fake_free(&snb);
}

int main(void)
{
	bench_reads();
	bench_cpu();
	bench_names();
	bench_start();
	printf("\nns are per counter, the median of %d runs.\n"
	       "session: unc_session_read() with totals and values; access: its operations alone;\n"
	       "raw: a plain loop over files or memory; verified: a read that compares the "
	       "controls\n"
	       "and proves that the units count, every 50 ms at most. Compare ratios between\n"
	       "machines, not the times.\n",
	       RUNS);
	return 0;
}
