/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads count at the same time on the same units, one after the other has begun. Where a unit
 * of the machine stands still (UNCORE_SIM=sandybridge-ep,idle=imc3@1) its 0 is true for both. */
#include <pthread.h>

#include "intel_uncore_test.h"

static pthread_barrier_t begun, done;

static void count(const char *name, int first)
{
	int set = PAPI_NULL;
	long long value;

	CALL(PAPI_register_thread());
	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_add_named_event(set, name));
	if (!first)
		pthread_barrier_wait(&begun);
	CALL(PAPI_start(set));
	if (first)
		pthread_barrier_wait(&begun);
	work();
	pthread_barrier_wait(&done);
	CALL(PAPI_stop(set, &value));
	CHECK("nothing counted", value > 0);
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
	CALL(PAPI_unregister_thread());
}

static void *neighbour(void *argument)
{
	(void)argument;
	count(PREFIX "memory_read_bytes", 1);
	return NULL;
}

static void *other(void *argument)
{
	(void)argument;
	count(PREFIX "memory_write_bytes", 0);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	tests_quiet(argc, argv);
	find_component();
	CALL(PAPI_thread_init((unsigned long (*)(void))pthread_self));
	work(); /* its array is made before there are threads */
	pthread_barrier_init(&begun, NULL, 2);
	pthread_barrier_init(&done, NULL, 2);
	CHECK("pthread_create", !pthread_create(&threads[0], NULL, neighbour, NULL));
	CHECK("pthread_create", !pthread_create(&threads[1], NULL, other, NULL));
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	PAPI_shutdown();
	test_pass(__FILE__);
	return 0;
}
