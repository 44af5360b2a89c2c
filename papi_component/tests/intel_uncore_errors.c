/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a name or a set of events has the right error code, and does no harm. */
#include "intel_uncore_test.h"

/* A name made of FORMAT, where %s is the first event of the listing. */
static const struct {
	const char *format;
	int papi_errno;
} names[] = {
	{ PREFIX "no_such_metric", PAPI_ENOEVNT },
	{ PREFIX "nosuchunit.EVENT", PAPI_ENOEVNT },
	{ "%s_NO_SUCH_EVENT", PAPI_ENOEVNT },
	{ "%s:NO_SUCH_UMASK", PAPI_ENOEVNT },
	{ "%s:nosuchfield=1", PAPI_ENOEVNT },
	{ "%s:socket=99", PAPI_EINVAL },
	{ "%s:socket=x", PAPI_EINVAL },
	{ "%s:unit=9999", PAPI_EINVAL },
	{ "%s:socket=0:socket=1", PAPI_EINVAL },
	{ "%s:", PAPI_EINVAL },
	{ PREFIX "memory_read_bytes:socket=99", PAPI_EINVAL },
	{ PREFIX "memory_read_bytes:socket=", PAPI_EINVAL },
	{ PREFIX, PAPI_EINVAL },
};

static void check_names(const char *event, int quiet)
{
	char name[PAPI_HUGE_STR_LEN];
	int code, papi_errno;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), names[i].format, event);
		papi_errno = PAPI_event_name_to_code(name, &code);
		if (!quiet || papi_errno != names[i].papi_errno)
			printf("%s: %s\n", name, PAPI_strerror(papi_errno));
		if (papi_errno != names[i].papi_errno)
			test_fail(__FILE__, __LINE__, "error code", papi_errno);
	}
	papi_errno = PAPI_event_name_to_code("intel_uncor:::memory_read_bytes", &code);
	CHECK("another component", papi_errno == PAPI_ENOEVNT || papi_errno == PAPI_ENOCMP);
}

/* A value too large for a field; the listing says how large it may be. */
static void check_field(int cid, int quiet)
{
	int code = PAPI_NATIVE_MASK, qualifier, papi_errno;
	char name[PAPI_HUGE_STR_LEN + 32], *equals;
	PAPI_event_info_t info;

	CALL(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid));
	do {
		qualifier = code;
		while (PAPI_enum_cmp_event(&qualifier, PAPI_NTV_ENUM_UMASKS, cid) == PAPI_OK) {
			CALL(PAPI_get_event_info(qualifier, &info));
			equals = strstr(info.symbol, ":thresh=0");
			if (!equals)
				continue;
			snprintf(name, sizeof(name), "%.*s:thresh=0x100000000",
				 (int)(equals - info.symbol), info.symbol);
			papi_errno = PAPI_event_name_to_code(name, &code);
			if (!quiet)
				printf("%s: %s\n", name, PAPI_strerror(papi_errno));
			CHECK("value too large", papi_errno == PAPI_EINVAL);
			return;
		}
	} while (PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, cid) == PAPI_OK);
	test_fail(__FILE__, __LINE__, "no event takes thresh", PAPI_ENOEVNT);
}

/* Adds events until no counter is left; what was added before must still count. */
static void check_full(int cid, int quiet)
{
	int code = PAPI_NATIVE_MASK, set = PAPI_NULL, papi_errno, conflicts = 0, before;
	long long *values;

	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid));
	do {
		before = PAPI_num_events(set);
		papi_errno = add_somehow(set, code, cid);
		conflicts += papi_errno == PAPI_ECNFLCT;
		CHECK("error of a full set", papi_errno == PAPI_OK || papi_errno == PAPI_ECNFLCT ||
		      papi_errno == PAPI_EINVAL || papi_errno == PAPI_ECOUNT);
		if (papi_errno != PAPI_OK)
			CHECK("failure changed the set", PAPI_num_events(set) == before ||
			      (before < 0 && PAPI_num_events(set) <= 0));
	} while (conflicts < 50 && PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, cid) == PAPI_OK);
	if (!quiet)
		printf("%d events fit, %d did not\n", PAPI_num_events(set), conflicts);
	CHECK("all events fit", conflicts > 0);
	CHECK("no event fits", PAPI_num_events(set) > 0);
	values = calloc((size_t)PAPI_num_events(set), sizeof(*values));
	CHECK("no memory", values);
	CALL(PAPI_start(set));
	CALL(PAPI_stop(set, values));
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
	free(values);
}

int main(int argc, char **argv)
{
	int quiet = tests_quiet(argc, argv), cid = find_component(), code = PAPI_NATIVE_MASK;
	int set = PAPI_NULL;
	PAPI_event_info_t info;
	PAPI_option_t option;

	CALL(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid));
	CALL(PAPI_get_event_info(code, &info));
	check_names(info.symbol, quiet);
	check_field(cid, quiet);
	check_full(cid, quiet);

	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_assign_eventset_component(set, cid));
	memset(&option, 0, sizeof(option));
	option.domain.eventset = set;
	option.domain.domain = PAPI_DOM_USER;
	CHECK("user domain", PAPI_set_opt(PAPI_DOMAIN, &option) == PAPI_EINVAL);
	option.domain.domain = PAPI_DOM_ALL;
	CALL(PAPI_set_opt(PAPI_DOMAIN, &option));
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
	PAPI_shutdown();
	test_pass(__FILE__);
	return 0;
}
