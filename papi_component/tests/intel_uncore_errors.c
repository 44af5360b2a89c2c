/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a name or a set of events has the right error code, and does no harm. */
#include "intel_uncore_test.h"

/* A name made of FORMAT, where %s is the first event of the listing. */
static const struct {
	const char *format;
	int papi_errno;
} names[] = {
	{PREFIX "no_such_metric", PAPI_ENOEVNT},
	{PREFIX "nosuchunit.EVENT", PAPI_ENOEVNT},
	{"%s_NO_SUCH_EVENT", PAPI_ENOEVNT},
	{"%s:NO_SUCH_UMASK", PAPI_ENOEVNT},
	{"%s:nosuchfield=1", PAPI_ENOEVNT},
	{"%s:socket=99", PAPI_EINVAL},
	{"%s:socket=x", PAPI_EINVAL},
	{"%s:unit=9999", PAPI_EINVAL},
	{"%s:socket=0:socket=1", PAPI_EINVAL},
	{"%s:", PAPI_EINVAL},
	{PREFIX "memory_read_bytes:socket=99", PAPI_EINVAL},
	{PREFIX "memory_read_bytes:socket=", PAPI_EINVAL},
	{PREFIX, PAPI_EINVAL},
};

/* The name, PAPI_HUGE_STR_LEN long, of the first of the listing that has units. */
static void find_event(int cid, char *name)
{
	int code = PAPI_NATIVE_MASK, qualifier;
	PAPI_event_info_t info;

	CALL(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid));
	do {
		CALL(PAPI_event_code_to_name(code, name));
		qualifier = code;
		while (PAPI_enum_cmp_event(&qualifier, PAPI_NTV_ENUM_UMASKS, cid) == PAPI_OK) {
			CALL(PAPI_get_event_info(qualifier, &info));
			if (strstr(info.symbol, ":thresh="))
				return;
		}
	} while (PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, cid) == PAPI_OK);
	test_fail(__FILE__, __LINE__, "no event is listed", PAPI_ENOEVNT);
}

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

static void check_field(int cid, int quiet)
{
	char name[PAPI_HUGE_STR_LEN];
	int code, papi_errno;

	name_with_threshold(cid, 0x100000000, name);
	papi_errno = PAPI_event_name_to_code(name, &code);
	if (!quiet)
		printf("%s: %s\n", name, PAPI_strerror(papi_errno));
	CHECK("value too large", papi_errno == PAPI_EINVAL);
}

static void never(int event_set, void *address, long long vector, void *context)
{
	(void)event_set;
	(void)address;
	(void)vector;
	(void)context;
	test_fail(__FILE__, __LINE__, "an overflow handler was called", PAPI_EBUG);
}

static int make_set(int code)
{
	int set = PAPI_NULL;

	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_add_event(set, code));
	return set;
}

static void check_counts(int set)
{
	long long value;

	CALL(PAPI_start(set));
	work();
	CALL(PAPI_stop(set, &value));
	CHECK("nothing counted", value > 0);
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
}

/* There are no interrupts, and the component claims none. PAPI then looks by a timer, and asks when it
 * starts: refused, and the EventSet counts as before. */
static void check_overflow(void)
{
	static const int profil[] = {PAPI_PROFIL_POSIX, PAPI_PROFIL_FORCE_SW},
			 overflow[] = {0, PAPI_OVERFLOW_FORCE_SW};
	static unsigned short buckets[64];
	const PAPI_component_info_t *info =
		PAPI_get_component_info(PAPI_get_component_index("intel_uncore"));
	int set, code;
	size_t i;

	CHECK("no interrupts", info && !info->hardware_intr && !info->kernel_profile);
	CALL(PAPI_event_name_to_code(PREFIX "memory_read_bytes", &code));
	for (i = 0; i < 2; i++) {
		set = make_set(code);
		CALL(PAPI_profil(buckets, sizeof(buckets), NULL, 65536, set, code, 1000,
				 profil[i]));
		CHECK("profil", PAPI_start(set) == PAPI_ENOSUPP);
		CALL(PAPI_profil(buckets, sizeof(buckets), NULL, 65536, set, code, 0, profil[i]));
		check_counts(set);
		set = make_set(code);
		CALL(PAPI_overflow(set, code, 1000, overflow[i], never));
		CHECK("overflow", PAPI_start(set) == PAPI_ENOSUPP);
		CALL(PAPI_overflow(set, code, 0, overflow[i], never));
		check_counts(set);
	}
}

/* Adds events until no counter is left; what was added before must still count. */
static void check_full(int cid, int quiet)
{
	int code = PAPI_NATIVE_MASK, set = PAPI_NULL, papi_errno, conflicts = 0, before;
	PAPI_event_info_t info;
	long long *values;

	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid));
	do {
		before = PAPI_num_events(set);
		CALL(PAPI_get_event_info(code, &info));
		if (strstr(info.long_descr, " passes: multiplexed)"))
			continue; /* intel_uncore_turns adds these */
		papi_errno = add_somehow(set, code, cid);
		conflicts += papi_errno == PAPI_ECNFLCT;
		CHECK("error of a full set", papi_errno == PAPI_OK || papi_errno == PAPI_ECNFLCT ||
						     papi_errno == PAPI_EINVAL ||
						     papi_errno == PAPI_ECOUNT);
		if (papi_errno != PAPI_OK)
			CHECK("failure changed the set",
			      PAPI_num_events(set) == before ||
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
	int quiet = tests_quiet(argc, argv), cid = find_component();
	char event[PAPI_HUGE_STR_LEN];
	int set = PAPI_NULL;
	PAPI_option_t option;

	find_event(cid, event);
	check_names(event, quiet);
	check_field(cid, quiet);
	check_full(cid, quiet);
	check_overflow();

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
