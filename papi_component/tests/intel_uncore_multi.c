/* SPDX-License-Identifier: BSD-3-Clause */
/* Every socket in one EventSet; EventSets one after the other and side by side. */
#include "intel_uncore_test.h"

#define METRIC PREFIX "memory_read_bytes"

/* The number of sockets, from the qualifier's description "Socket [0-N]". */
static int count_sockets(int cid)
{
	PAPI_event_info_t info;
	const char *range;
	int code;

	CALL(PAPI_event_name_to_code(METRIC, &code));
	while (PAPI_enum_cmp_event(&code, PAPI_NTV_ENUM_UMASKS, cid) == PAPI_OK) {
		CALL(PAPI_get_event_info(code, &info));
		range = strstr(info.long_descr, "masks:Socket [0-");
		if (range && strstr(info.symbol, ":socket=0"))
			return atoi(range + strlen("masks:Socket [0-")) + 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int quiet = tests_quiet(argc, argv), cid = find_component(), sockets = count_sockets(cid);
	int set = PAPI_NULL, other = PAPI_NULL, i, papi_errno;
	long long values[65], sum = 0, difference;
	char name[PAPI_MAX_STR_LEN];

	CHECK("sockets", sockets >= 1 && sockets <= 64);
	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_add_named_event(set, METRIC));
	for (i = 0; i < sockets; i++) {
		snprintf(name, sizeof(name), METRIC ":socket=%d", i);
		CALL(PAPI_add_named_event(set, name));
	}
	CALL(PAPI_start(set));
	work();
	CALL(PAPI_stop(set, values));
	for (i = 1; i <= sockets; i++) {
		if (!quiet)
			printf("socket %d: %lld of %lld\n", i - 1, values[i], values[0]);
		CHECK("a socket has more than all", values[i] >= 0 && values[i] <= values[0]);
		sum += values[i];
	}
	difference = values[0] > sum ? values[0] - sum : sum - values[0];
	CHECK("sockets do not add up", values[0] > 0 && difference <= values[0] / 100);

	/* A second EventSet of the thread waits for the first, and then counts. */
	CALL(PAPI_create_eventset(&other));
	CALL(PAPI_add_named_event(other, PREFIX "memory_write_bytes"));
	CALL(PAPI_start(set));
	papi_errno = PAPI_start(other);
	CHECK("two EventSets of a component ran in a thread", papi_errno == PAPI_EISRUN);
	CALL(PAPI_stop(set, values));
	CALL(PAPI_start(other));
	work();
	CALL(PAPI_stop(other, values));
	CHECK("the second EventSet counts nothing", values[0] > 0);

	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_cleanup_eventset(other));
	CALL(PAPI_destroy_eventset(&set));
	CALL(PAPI_destroy_eventset(&other));
	PAPI_shutdown();
	test_pass(__FILE__);
	return 0;
}
