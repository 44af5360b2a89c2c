/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals are integers, gauges are doubles, each declared so; every metric listed can be read. */
#include <math.h>

#include "intel_uncore_test.h"

#define IN_TURN " passes: multiplexed)"

static double read_double(const long long *value)
{
	double number;

	memcpy(&number, value, sizeof(number));
	return number;
}

/* A gauge of several passes has no number yet. */
static int still_waits(const PAPI_event_info_t *info, const long long *value)
{
	return info->data_type == PAPI_DATATYPE_FP64 && isnan(read_double(value)) &&
	       strstr(info->long_descr, IN_TURN);
}

/* 0 if a CPU cannot give it. Of several passes each must have its turn, which takes long where
 * others have the machine: a total is an error until then, a gauge is no number. */
static int measure(int code, long long *value)
{
	enum { ENOUGH = 1000 };
	int set = PAPI_NULL, papi_errno, i = 0;
	PAPI_event_info_t info;

	CALL(PAPI_get_event_info(code, &info));
	CALL(PAPI_create_eventset(&set));
	papi_errno = PAPI_add_event(set, code);
	if (papi_errno != PAPI_ECMP) {
		CALL(papi_errno);
		CALL(PAPI_start(set));
		do {
			work();
			papi_errno = PAPI_read(set, value);
		} while (i++ < ENOUGH &&
			 (papi_errno == PAPI_EMULPASS || still_waits(&info, value)));
		CALL(papi_errno);
		CALL(PAPI_stop(set, value));
	}
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
	return papi_errno == PAPI_OK;
}

/* Measures the metric if it is one; 1 if its value means something. */
static int check_metric(const PAPI_event_info_t *info, int code, int quiet)
{
	int is_bytes = !strncmp(info->units, "bytes", 5) && info->units[5] != '_';
	int is_ratio = !strncmp(info->units, "ratio", 5), in_turn;
	long long value;
	double number;

	if (!is_bytes && info->data_type != PAPI_DATATYPE_FP64)
		return 0;
	in_turn = strstr(info->long_descr, IN_TURN) != NULL;
	CHECK("bytes are not integers",
	      !is_bytes ||
		      info->data_type == (in_turn ? PAPI_DATATYPE_INT64 : PAPI_DATATYPE_UINT64));
	CHECK("listed, but cannot be measured", measure(code, &value));
	number = is_bytes ? (double)value : read_double(&value);
	if (!quiet)
		printf("%s: %g %s\n", info->symbol, number, info->units);
	if (isnan(number))
		return 0;
	CHECK("infinite", isfinite(number));
	CHECK("negative", number >= 0 || in_turn);
	CHECK("not a ratio", !is_ratio || number < 1e6);
	return 1;
}

static void check_portable(const char *name, const char *units, int type, double low, double high)
{
	PAPI_event_info_t info;
	long long value;
	double number;
	int code;

	CALL(PAPI_event_name_to_code(name, &code));
	CALL(PAPI_get_event_info(code, &info));
	CHECK("units", !strncmp(info.units, units, strlen(units)));
	CHECK("data type", (int)info.data_type == type);
	if (!measure(code, &value)) {
		CHECK("bytes cannot be measured", type == PAPI_DATATYPE_FP64);
		return;
	}
	number = type == PAPI_DATATYPE_FP64 ? read_double(&value) : (double)value;
	if (!(number >= low && number <= high)) {
		printf("%s: %g is not within %g and %g\n", name, number, low, high);
		test_fail(__FILE__, __LINE__, "value", PAPI_EBUG);
	}
}

int main(int argc, char **argv)
{
	int quiet = tests_quiet(argc, argv), cid = find_component(), code = PAPI_NATIVE_MASK;
	PAPI_event_info_t info;
	int meaningful = 0;

	CALL(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid));
	do {
		CALL(PAPI_get_event_info(code, &info));
		meaningful += check_metric(&info, code, quiet);
	} while (PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, cid) == PAPI_OK);
	if (!quiet)
		printf("%d metrics have a value\n", meaningful);
	CHECK("hardly any metric", meaningful >= 4);

	check_portable(PREFIX "memory_read_bytes", "bytes", PAPI_DATATYPE_UINT64, 1, 1e15);
	check_portable(PREFIX "memory_write_bytes", "bytes", PAPI_DATATYPE_UINT64, 1, 1e15);
	check_portable(PREFIX "llc_miss_ratio", "ratio", PAPI_DATATYPE_FP64, 0, 1);
	check_portable(PREFIX "uncore_frequency_hz", "hz", PAPI_DATATYPE_FP64, 1e8, 1e10);
	PAPI_shutdown();
	test_pass(__FILE__);
	return 0;
}
