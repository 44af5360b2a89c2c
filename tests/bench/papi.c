/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI_read() over bare reads of the same counters, in both worlds (machine.h), and
 * PAPI_add_named_event(). tests/bench/bench builds it against a PAPI with component intel_uncore.
 * Accesses take no time.
 */
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

static struct machine_counter counter[MOST];
static long long count[MOST];
static unsigned items;
static int set;

static void check(const char *what, int rc)
{
	if (rc != PAPI_OK)
		die(what, PAPI_strerror(rc));
}

static void read_bare(void *unused)
{
	uint64_t value;

	(void)unused;
	for (unsigned i = 0; i < items; i++)
		if (pread(counter[i].fd, &value, 8, counter[i].at) != 8)
			die("pread", "failed");
}

static void read_papi(void *unused)
{
	(void)unused;
	check("PAPI_read", PAPI_read(set, count));
}

static void add_all(void *unused)
{
	char text[UNC_SPEC_MAX + 20], name[UNC_SPEC_MAX];

	(void)unused;
	for (unsigned i = 0; i < items; i++) {
		slice_text(2, i, name, sizeof(name));
		snprintf(text, sizeof(text), "intel_uncore:::%s", name);
		check(text, PAPI_add_named_event(set, text));
	}
}

/* ns of a PAPI_read() beyond the bare reads. */
static double read_over(void)
{
	enum { CALLS = 50 };
	double run[RUNS] = {0};

	if (!changes)
		return time_of(read_papi, NULL) - time_of(read_bare, NULL);
	for (unsigned i = 0; i < RUNS; i++)
		for (unsigned k = 0; k < CALLS; k++) {
			double bare = ns_alone(read_bare, NULL);

			run[i] += (ns_alone(read_papi, NULL) - bare) / CALLS;
			machine_change();
		}
	return median(run);
}

static void measure(unsigned n)
{
	struct unc_platform *p = open_platform(machine_root(), "", NULL);
	char row[32];

	items = n;
	snprintf(row, sizeof(row), "papi/%u", n);
	struct unc_session *s = session_of(p, 2, 0, n);

	if (machine_counters(s, counter, MOST) != n)
		die("plan", "other counters than expected");
	unc_session_free(s);
	unc_platform_close(p);
	set = PAPI_NULL;
	check("PAPI_create_eventset", PAPI_create_eventset(&set));
	double add_ns = ns_of(add_all, NULL, 1);

	if (!changes)
		put(row, "add_ms", add_ns / 1e6);
	check("PAPI_start", PAPI_start(set));
	put(row, "read_over_ns", read_over());
	check("PAPI_stop", PAPI_stop(set, count));
	check("PAPI_cleanup_eventset", PAPI_cleanup_eventset(set));
	check("PAPI_destroy_eventset", PAPI_destroy_eventset(&set));
}

int main(void)
{
	pid_t pid = fork(); /* the other world */
	int status = 0;

	changes = pid == 0;
	machine_begin(2);
	if (changes)
		machine_begin_changing();
	machine_delay(0);
	setenv("UNCORE_SYSROOT", machine_root(), 1);
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		die("PAPI", "another version than that of its header");
	measure(1);
	measure(120);
	measure(480);
	PAPI_shutdown();
	machine_end();
	if (pid > 0)
		waitpid(pid, &status, 0);
	return status != 0;
}
