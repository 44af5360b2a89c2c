/* SPDX-License-Identifier: BSD-3-Clause */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void die(const char *what, const char *why)
{
	fprintf(stderr, "rows: %s: %s\n", what, why);
	exit(1);
}

bool changes;

void put(const char *row, const char *what, double value)
{
	printf("%s%s/%s %.6g\n", changes ? "changing/" : "", row, what, value);
	fflush(stdout);
}

/* ---- CPU time of this process */

double cpu_ns(void)
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

double median(double run[RUNS])
{
	qsort(run, RUNS, sizeof(run[0]), by_size);
	return run[RUNS / 2];
}

double ns_of(void (*call)(void *), void *user, unsigned calls)
{
	double begin = cpu_ns();

	for (unsigned k = 0; k < calls; k++)
		call(user);
	return (cpu_ns() - begin) / calls;
}

/* Calls that take 1 ms. */
unsigned enough(void (*call)(void *), void *user)
{
	unsigned calls = 1;

	while (ns_of(call, user, calls) * calls < 1e6)
		calls *= 2;
	return calls;
}

static void nothing(void *unused)
{
	(void)unused;
}

/* The least of a thousand looks at the time. */
static double ns_of_looking(void)
{
	double least = ns_of(nothing, NULL, 1), ns;

	for (unsigned i = 1; i < 1000; i++)
		least = (ns = ns_of(nothing, NULL, 1)) < least ? ns : least;
	return least;
}

double ns_alone(void (*call)(void *), void *user)
{
	static double looking;

	if (looking == 0)
		looking = ns_of_looking();
	return ns_of(call, user, 1) - looking;
}

void pass(uint64_t ns)
{
	if (ns)
		(changes ? machine_sleep : machine_skip)(ns);
}

double time_of(void (*call)(void *), void *user)
{
	unsigned calls = enough(call, user);
	double run[RUNS];

	for (unsigned i = 0; i < RUNS; i++)
		run[i] = ns_of(call, user, calls);
	return median(run);
}

/* ---- sessions */

struct unc_platform *open_platform(const char *root, const char *sim, const char *cpu)
{
	struct unc_options options = {
		.size = sizeof(options), .sysroot = root, .sim = sim, .cpu = cpu};
	struct unc_platform *p;

	if (unc_platform_open(&options, &p) < 0)
		die("open", unc_open_error());
	return p;
}

struct unc_platform *open_machine(unsigned sockets)
{
	machine_begin(sockets);
	if (changes)
		machine_begin_changing();
	return open_platform(machine_root(), "", NULL);
}

void close_machine(struct unc_platform *p)
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

const char *const slice_events[SLICE_EVENTS] = {"TOR_INSERTS:IA_MISS_DRD", "DIR_LOOKUP:SNP",
						"REQUESTS:READS", "IMC_READS_COUNT:NORMAL"};

struct unc_session *session_with(struct unc_platform *p, const char *const *events, unsigned n)
{
	struct unc_session *s;

	if (unc_session_new(p, 0, &s) < 0)
		die("session", "out of memory");
	for (unsigned i = 0; i < n; i++)
		add(s, events[i]);
	return s;
}

void slice_text(unsigned sockets, unsigned i, char *text, size_t size)
{
	snprintf(text, size, "cha%u.%s:socket=%u", i % CHAS,
		 slice_events[i / (sockets * CHAS) % SLICE_EVENTS], i / CHAS % sockets);
}

struct unc_session *session_of(struct unc_platform *p, unsigned sockets, unsigned first, unsigned n)
{
	struct unc_session *s = session_with(p, NULL, 0);
	char text[UNC_SPEC_MAX];

	for (unsigned i = first; i < first + n; i++) {
		slice_text(sockets, i, text, sizeof(text));
		add(s, text);
	}
	return s;
}

void start(void *user)
{
	if (unc_session_start(user) < 0)
		die("start", unc_session_error(user));
}

void stop(void *user)
{
	if (unc_session_stop(user) < 0)
		die("stop", unc_session_error(user));
}
