/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of component intel_uncore share. They name no CPU: events are taken from the
 * listing, metrics are those that mean the same everywhere. Without counters they skip; a
 * simulated machine (UNCORE_SIM) makes them run anywhere. */
#ifndef INTEL_UNCORE_TEST_H
#define INTEL_UNCORE_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "papi.h"
#include "papi_test.h"

#define PREFIX "intel_uncore:::"

#define CHECK(what, condition)                                                                     \
	do {                                                                                       \
		if (!(condition))                                                                  \
			test_fail(__FILE__, __LINE__, what, PAPI_EBUG);                            \
	} while (0)

#define CALL(call)                                                                                 \
	do {                                                                                       \
		int papi_errno_ = (call);                                                          \
		if (papi_errno_ != PAPI_OK)                                                        \
			test_fail(__FILE__, __LINE__, #call, papi_errno_);                         \
	} while (0)

/* Initializes PAPI and the component; skips the test if it is missing or disabled. */
static inline int find_component(void)
{
	const PAPI_component_info_t *info;
	int code = PAPI_NATIVE_MASK, cid, version;

	version = PAPI_library_init(PAPI_VER_CURRENT);
	if (version != PAPI_VER_CURRENT)
		test_fail(__FILE__, __LINE__, "PAPI_library_init", version);
	cid = PAPI_get_component_index("intel_uncore");
	if (cid < 0)
		test_skip(__FILE__, __LINE__, "component intel_uncore not found", cid);
	PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid);
	info = PAPI_get_component_info(cid);
	if (info->disabled)
		test_skip(__FILE__, __LINE__, (char *)info->disabled_reason, info->disabled);
	return cid;
}

/* Memory traffic of some milliseconds; a simulated machine has its own, and needs the time alone. */
static inline double work(void)
{
	enum { SIZE = 4 << 20, ROUNDS = 4 };
	static double *array;
	double sum = 0;
	int i, round;

	if (getenv("UNCORE_SIM")) {
		usleep(20000);
		return 0;
	}
	if (!array)
		array = calloc(SIZE, sizeof(*array));
	CHECK("no memory", array);
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < SIZE; i++)
			sum += array[i] += round;
	return sum;
}

/* The name, PAPI_HUGE_STR_LEN long, of the first event that takes a threshold, with that one. */
static inline void name_with_threshold(int cid, unsigned long long threshold, char *name)
{
	int code = PAPI_NATIVE_MASK, qualifier;
	PAPI_event_info_t info;
	const char *equals;

	CALL(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid));
	do {
		qualifier = code;
		while (PAPI_enum_cmp_event(&qualifier, PAPI_NTV_ENUM_UMASKS, cid) == PAPI_OK) {
			CALL(PAPI_get_event_info(qualifier, &info));
			equals = strstr(info.symbol, ":thresh=0");
			if (!equals || strstr(info.long_descr, "(needs a umask)"))
				continue;
			snprintf(name, PAPI_HUGE_STR_LEN, "%.*s:thresh=%llu",
				 (int)(equals - info.symbol), info.symbol, threshold);
			return;
		}
	} while (PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, cid) == PAPI_OK);
	test_fail(__FILE__, __LINE__, "no event takes thresh", PAPI_ENOEVNT);
}

/* Adds the event or, if it cannot be counted alone, with one of its qualifiers. */
static inline int add_somehow(int set, int code, int cid)
{
	int papi_errno = PAPI_add_event(set, code);

	while (papi_errno == PAPI_EINVAL &&
	       PAPI_enum_cmp_event(&code, PAPI_NTV_ENUM_UMASKS, cid) == PAPI_OK)
		papi_errno = PAPI_add_event(set, code);
	return papi_errno;
}

#endif
