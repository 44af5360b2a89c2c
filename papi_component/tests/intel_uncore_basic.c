/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists every event twice, then counts: start, read, reset, stop, start again. */
#include "intel_uncore_test.h"

/* Checks what PAPI says of an event; returns 1. A listing tells units of the base event; what a
 * program names has them always. */
static int check_event(int code, int listed_qualifier, int quiet)
{
	char name[PAPI_HUGE_STR_LEN];
	PAPI_event_info_t info;

	CALL(PAPI_event_code_to_name(code, name));
	CALL(PAPI_get_event_info(code, &info));
	CHECK("name has no prefix", !strncmp(name, PREFIX, strlen(PREFIX)));
	CHECK("symbol differs from name", !strcmp(info.symbol, name));
	CHECK("no description", info.long_descr[0] && info.short_descr[0]);
	CHECK("units", listed_qualifier ? !info.units[0] : info.units[0]);
	CHECK("data type", info.data_type == PAPI_DATATYPE_UINT64 ||
				   info.data_type == PAPI_DATATYPE_FP64 ||
				   info.data_type == PAPI_DATATYPE_INT64);
	if (!quiet)
		printf("%s: %s [%s]\n", name, info.long_descr, info.units);
	return 1;
}

static int list_events(int cid, int *last, int quiet)
{
	char name[PAPI_HUGE_STR_LEN];
	int code = PAPI_NATIVE_MASK, again, qualifier, count = 0;

	CALL(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid));
	do {
		count += check_event(code, 0, quiet);
		CALL(PAPI_event_code_to_name(code, name));
		CALL(PAPI_event_name_to_code(name, &again));
		CHECK("name leads to another code", again == code);
		qualifier = code;
		while (PAPI_enum_cmp_event(&qualifier, PAPI_NTV_ENUM_UMASKS, cid) == PAPI_OK)
			check_event(qualifier, 1, quiet);
		*last = code > qualifier ? code : qualifier;
	} while (PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, cid) == PAPI_OK);
	return count;
}

int main(int argc, char **argv)
{
	int quiet = tests_quiet(argc, argv), cid = find_component(), set = PAPI_NULL;
	int first, second, last, last_again, named, named_again;
	long long values[2], again[2];

	first = list_events(cid, &last, quiet);
	second = list_events(cid, &last_again, 1);
	CHECK("the second listing differs", first == second && last == last_again);
	CHECK("num_native_events", first == PAPI_get_component_info(cid)->num_native_events);

	CALL(PAPI_event_name_to_code(PREFIX "memory_read_bytes:socket=0", &named));
	check_event(named, 0, quiet);
	CALL(PAPI_event_name_to_code(PREFIX "memory_read_bytes:socket=0", &named_again));
	CHECK("the same name leads to another code", named == named_again);

	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes"));
	CALL(PAPI_add_named_event(set, PREFIX "memory_write_bytes"));
	CALL(PAPI_start(set));
	work();
	CALL(PAPI_read(set, values));
	if (!quiet)
		printf("%lld bytes read, %lld written\n", values[0], values[1]);
	CHECK("nothing counted", values[0] > 0 && values[1] > 0);
	work();
	CALL(PAPI_read(set, again));
	CHECK("a count did not grow", again[0] > values[0] && again[1] > values[1]);
	CALL(PAPI_reset(set));
	CALL(PAPI_read(set, values));
	CHECK("reset did not reset", values[0] < again[0] && values[1] < again[1]);
	work();
	CALL(PAPI_stop(set, values));
	CHECK("nothing counted after reset", values[0] > 0 && values[1] > 0);
	CALL(PAPI_read(set, again));
	CHECK("a stopped EventSet counts", again[0] == values[0] && again[1] == values[1]);

	CALL(PAPI_remove_named_event(set, PREFIX "memory_read_bytes"));
	CALL(PAPI_start(set));
	work();
	CALL(PAPI_stop(set, values));
	CHECK("nothing counted after remove", values[0] > 0);
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
	PAPI_shutdown();

	/* The component comes up again after PAPI went down. */
	find_component();
	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes"));
	CALL(PAPI_start(set));
	PAPI_shutdown();

	test_pass(__FILE__);
	return 0;
}
