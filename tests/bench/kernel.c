/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel counts: a group of real events of its clock for each slice of two sockets. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit.h"

#ifdef UNC_API_VERSION
enum { GROUPS = 2 * CHAS, READS = 10 };

static struct unc_session *session;
static uint64_t apart; /* ns that a read waits before */
static int bare[GROUPS];

static void read_session(void *unused)
{
	struct unc_value v;

	(void)unused;
	if (apart) /* the kernel's own clock cannot be skipped */
		syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = (long)apart}, NULL);
	if (unc_session_read(session, &v, 1, sizeof(v)) < 0)
		die("read", unc_session_error(session));
	if (!(v.flags & UNC_VALUE_VALID))
		die("read", unc_session_reason(session, 0));
}

static void read_bare(void *unused)
{
	uint64_t data[4];

	(void)unused;
	for (unsigned i = 0; i < GROUPS; i++)
		if (read(bare[i], data, sizeof(data)) != sizeof(data))
			die("an event of the kernel", "cannot be read");
}

static struct unc_platform *begin(void)
{
	struct unc_options options = {
		.size = sizeof(options), .sysroot = "/", .sim = "", .access = "kernel"};
	struct unc_platform *p;

	if (!machine_enter())
		die("chroot", "needs root");
	if (unc_platform_open(&options, &p) < 0)
		die("open", unc_open_error());
	session = session_with(p, slice_events, 1);
	start(session);
	return p;
}

static void end(struct unc_platform *p)
{
	unc_session_free(session);
	unc_platform_close(p);
}

static void read_by_kernel(unsigned times)
{
	struct unc_platform *p = begin();

	for (unsigned i = 0; i < times; i++) {
		read_session(NULL);
		if (changes)
			machine_change();
	}
	end(p);
}

/* Of the same kind, one for each group. */
static void open_bare(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .read_format = PERF_FORMAT_GROUP |
						      PERF_FORMAT_TOTAL_TIME_ENABLED |
						      PERF_FORMAT_TOTAL_TIME_RUNNING};

	for (unsigned i = 0; i < GROUPS; i++)
		if ((bare[i] = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0)) < 0)
			die("an event of the kernel", "cannot be opened");
}

static void compare_steady(double ratio[RUNS])
{
	unsigned session_calls = enough(read_session, NULL), bare_calls = enough(read_bare, NULL);

	for (unsigned i = 0; i < RUNS; i++)
		ratio[i] = ns_of(read_session, NULL, session_calls) /
			   ns_of(read_bare, NULL, bare_calls);
}

/* As reads.c measures in the changing world: none with the wait. */
static void compare_changing(double ratio[RUNS])
{
	const uint64_t half = apart / 2;
	const unsigned calls = apart >= 60000000 ? 5 : apart ? 20 : 50;

	apart = 0;
	for (unsigned i = 0; i < RUNS; i++) {
		double floor = 0, whole = 0;

		for (unsigned k = 0; k < calls; k++) {
			pass(half);
			floor += ns_alone(read_bare, NULL);
			pass(half);
			whole += ns_alone(read_session, NULL);
			machine_change();
		}
		ratio[i] = whole / floor;
	}
}

static void compare(const char *row, const char *what)
{
	double ratio[RUNS];

	(changes ? compare_changing : compare_steady)(ratio);
	put(row, what, median(ratio));
}

/* In a process of its own, which cannot leave that root again. */
static void compare_all(const char *row)
{
	if (fork() != 0) {
		wait(NULL);
		return;
	}
	struct unc_platform *p = begin();

	open_bare();
	compare(row, "tight");
	apart = 2000000;
	compare(row, "2ms");
	apart = 60000000;
	compare(row, "60ms");
	end(p);
	exit(0);
}

void row_kernel(const char *row)
{
	machine_begin(2);
	if (changes)
		machine_begin_changing();
	machine_pmus(2);
	compare_all(row);
	for (apart = 0; apart <= 60000000; apart += 60000000) {
		struct calls none = system_calls(read_by_kernel, 0),
			     some = system_calls(read_by_kernel, READS);

		put(row, apart ? "calls_60ms" : "calls", (some.all - none.all) / READS / GROUPS);
	}
	machine_end();
}
#else
void row_kernel(const char *row)
{
	(void)row; /* this version did not leave it to the kernel */
}
#endif
