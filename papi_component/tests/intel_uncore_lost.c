/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters are taken away while they count: the read of what they counted fails, alone or in a sum, a
 * reset takes others. Needs shim.c, of which all is lost, or a
 * command that takes what counts the reads and the frequency of socket 0, in INTEL_UNCORE_LOSE. */
#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

#include "intel_uncore_test.h"

/* Controls that were compared a second ago are compared again. */
static void run_command(void)
{
	CHECK("the command fails", system(getenv("INTEL_UNCORE_LOSE")) == 0);
	usleep(1000000);
}

static void (*find_lose(void))(void)
{
	const char *root = getenv("PAPI_UNCORE_ROOT");
	char path[PAPI_HUGE_STR_LEN];
	void (*lose)(void) = NULL;
	void *library;

	if (getenv("INTEL_UNCORE_LOSE"))
		return run_command;
	snprintf(path, sizeof(path), "%s/lib/libuncore.so.0", root ? root : "");
	library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	if (library)
		*(void **)&lose = dlsym(library, "shim_lose");
	if (!lose)
		test_skip(__FILE__, __LINE__, "this libuncore loses no counters", PAPI_ENOSUPP);
	return lose;
}

/* An integer has no value for this. */
static void check_count(void (*lose)(void))
{
	int set = PAPI_NULL;
	long long value;

	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes:socket=0"));
	CALL(PAPI_start(set));
	work();
	CALL(PAPI_read(set, &value));
	lose();
	CHECK("a lost counter is read", PAPI_read(set, &value) == PAPI_ECLOST);
	CHECK("a lost counter is read by stop", PAPI_stop(set, &value) == PAPI_ECLOST);
	CHECK("and is not lost any more", PAPI_read(set, &value) == PAPI_ECLOST);
	CALL(PAPI_reset(set));
	work();
	CALL(PAPI_read(set, &value));
	CHECK("nothing counted after a reset", value > 0);
	CALL(PAPI_reset(set));
	CALL(PAPI_stop(set, &value));

	CALL(PAPI_start(set));
	work();
	CALL(PAPI_stop(set, &value));
	CHECK("nothing counted after another start", value > 0);
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
}

/* A double does: NaN. */
static void check_gauge(void (*lose)(void))
{
	int set = PAPI_NULL;
	long long value;
	double number;

	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_add_named_event(set, PREFIX "uncore_frequency_hz:socket=0"));
	CALL(PAPI_start(set));
	work();
	lose();
	CALL(PAPI_stop(set, &value));
	memcpy(&number, &value, sizeof(number));
	CHECK("a lost rate has a value", isnan(number));
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
}

/* A sum that loses units has no value either, though the others count on, and though what was lost is
 * taken up again: what was read before is of more units. After a reset it is whole. */
static void check_sum(void (*lose)(void))
{
	enum { SUM, OTHER, BOTH };
	int set = PAPI_NULL, i;
	long long value[BOTH];

	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes"));
	CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes:socket=1"));
	CALL(PAPI_start(set));
	work();
	CALL(PAPI_read(set, value));
	CHECK("a sum is less than a part of it", value[SUM] > value[OTHER]);
	lose();
	for (i = 0; i < 3; i++) { /* they are tried again a second after */
		CHECK("a sum that lost units is read", PAPI_read(set, value) == PAPI_ECLOST);
		usleep(1100000);
	}
	CHECK("it is read by stop", PAPI_stop(set, value) == PAPI_ECLOST);
	CALL(PAPI_reset(set));
	work();
	CALL(PAPI_stop(set, value));
	CHECK("a sum is not whole after a reset", value[SUM] > value[OTHER]);
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
}

/* What is about other units goes on. */
static void check_other(void (*lose)(void))
{
	int set = PAPI_NULL;
	long long before, value;

	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes:socket=1"));
	CALL(PAPI_start(set));
	work();
	CALL(PAPI_read(set, &before));
	lose();
	work();
	CALL(PAPI_stop(set, &value));
	CHECK("nothing counted on another unit", value > before);
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
}

int main(int argc, char **argv)
{
	void (*lose)(void);
	int set = PAPI_NULL;

	tests_quiet(argc, argv);
	find_component();
	lose = find_lose();
	check_count(lose);
	check_gauge(lose);
	if (getenv("INTEL_UNCORE_LOSE")) {
		check_sum(lose);
		check_other(lose);
	}

	/* It is no obstacle to the end. */
	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes"));
	CALL(PAPI_start(set));
	lose();
	PAPI_shutdown();
	test_pass(__FILE__);
	return 0;
}
