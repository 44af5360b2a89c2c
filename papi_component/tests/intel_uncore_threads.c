/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads name, add and count at the same time; some of them leave without cleaning up. */
#include <pthread.h>

#include "intel_uncore_test.h"

enum { THREADS = 4, ROUNDS = 5 };

static void *count(void *argument)
{
	int number = *(int *)argument, set, round;
	long long values[2];

	CALL(PAPI_register_thread());
	for (round = 0; round < ROUNDS; round++) {
		set = PAPI_NULL;
		CALL(PAPI_create_eventset(&set));
		CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes"));
		CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes:socket=0"));
		CALL(PAPI_start(set));
		work();
		CALL(PAPI_stop(set, values));
		CHECK("nothing counted", values[0] > 0 && values[1] > 0);
		CHECK("a socket has more than all", values[1] <= values[0]);
		if (number == 0 && round == ROUNDS - 1)
			break; /* forgets to clean up */
		CALL(PAPI_cleanup_eventset(set));
		CALL(PAPI_destroy_eventset(&set));
	}
	CALL(PAPI_unregister_thread());
	return NULL;
}

int main(int argc, char **argv)
{
	int numbers[THREADS], i;
	pthread_t threads[THREADS];

	tests_quiet(argc, argv);
	find_component();
	CALL(PAPI_thread_init((unsigned long (*)(void))pthread_self));
	work(); /* its array is made before there are threads */
	for (i = 0; i < THREADS; i++) {
		numbers[i] = i;
		CHECK("pthread_create", !pthread_create(&threads[i], NULL, count, &numbers[i]));
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	PAPI_shutdown();
	test_pass(__FILE__);
	return 0;
}
