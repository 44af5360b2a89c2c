/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that can be counted starts, counts and stops, each by itself: every event, with each
 * of its umasks, and every metric of the listing. A name that counts nothing without a field gets
 * those that the listing shows for its event, one that shows what another counts that one. A real machine may well have nothing to count; of a
 * simulated one two thirds must count.
 */
#include <math.h>
#include <unistd.h>

#include "intel_uncore_test.h"

enum { MAX_FIELDS = 64, PATIENCE = 1000 };

/* One of them fits: the value of the listing, which is the least; 1; or, where the field takes an
 * address, whose low bits must be 0, a larger one. */
enum { VALUES = 3 };

/* A base event of the listing. */
struct base {
	char name[PAPI_HUGE_STR_LEN];
	char fields[MAX_FIELDS][PAPI_MIN_STR_LEN];
	char least[MAX_FIELDS][PAPI_MIN_STR_LEN];
	char lead[PAPI_HUGE_STR_LEN]; /* an event that must be counted beside it, or "" */
	int n_fields;
	int turns; /* it is measured in several passes, which must have had their turn */
};

struct tally {
	int started, counted, silent, failed;
	int quiet;
};

static const char *value_of(const struct base *base, int setting)
{
	const char *values[VALUES] = {"1", "0x1000", base->least[setting / VALUES]};

	return values[setting % VALUES];
}

/* Adds text, with settings a and b behind it if they fit (a field each, with a value; -1: none). */
static int add_with(int set, const struct base *base, char *text, int a, int b)
{
	const int settings[] = {a, b};
	size_t length = strlen(text), used = length;
	int i, papi_errno;

	for (i = 0; i < 2; i++)
		if (settings[i] >= 0 && used < PAPI_HUGE_STR_LEN)
			used += (size_t)snprintf(text + used, PAPI_HUGE_STR_LEN - used, ":%s=%s",
						 base->fields[settings[i] / VALUES],
						 value_of(base, settings[i]));
	papi_errno = used < PAPI_HUGE_STR_LEN ? PAPI_add_named_event(set, text) : PAPI_EBUF;
	if (papi_errno != PAPI_OK)
		text[length] = '\0';
	return papi_errno;
}

/* Adds the name, with the one or two fields that it cannot do without: text becomes what fits. */
static int add_name(int set, const struct base *base, char *text)
{
	int a, b, papi_errno, n = base->n_fields * VALUES;

	PAPI_set_debug(PAPI_QUIET); /* refusals are expected */
	papi_errno = base->lead[0] ? PAPI_add_named_event(set, base->lead) : PAPI_OK;
	if (papi_errno == PAPI_OK)
		papi_errno = add_with(set, base, text, -1, -1);
	for (a = 0; papi_errno == PAPI_EINVAL && a < n; a++)
		papi_errno = add_with(set, base, text, a, -1);
	for (a = 0; papi_errno == PAPI_EINVAL && a < n; a++)
		for (b = a + 1; papi_errno == PAPI_EINVAL && b < n; b++)
			papi_errno = add_with(set, base, text, a, b);
	PAPI_set_debug(PAPI_VERB_ECONT);
	return papi_errno == PAPI_OK ? PAPI_OK : add_with(set, base, text, -1, -1);
}

/* A rate or ratio travels as the bits of a double. */
static int has_counted(const char *text, long long value)
{
	PAPI_event_info_t info;
	double number;
	int code;

	CALL(PAPI_event_name_to_code(text, &code));
	CALL(PAPI_get_event_info(code, &info));
	memcpy(&number, &value, sizeof(number));
	return info.data_type == PAPI_DATATYPE_FP64 ? isfinite(number) && number > 0 : value > 0;
}

/* Counts for a moment. text: the name; becomes what was added. */
static int measure(const struct base *base, char *text, int cid, long long *value)
{
	const char *step = "add";
	int set = PAPI_NULL, papi_errno, looks = 0, turns = base->turns;
	long long values[2] = {-1, -1};

	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_assign_eventset_component(set, cid));
	papi_errno = add_name(set, base, text);
	if (papi_errno == PAPI_OK) {
		step = "start";
		papi_errno = PAPI_start(set);
	}
	if (papi_errno == PAPI_OK) {
		step = "stop";
		do {
			usleep(turns ? 10000 : 1000);
			papi_errno = PAPI_stop(set, values);
		} while (turns && papi_errno == PAPI_EMULPASS && ++looks < PATIENCE);
		*value = values[base->lead[0] != '\0'];
	}
	if (papi_errno != PAPI_OK)
		printf("# %s: %s: %s\n", text, step, PAPI_strerror(papi_errno));
	CALL(PAPI_cleanup_eventset(set)); /* ends the test if it could not be stopped */
	CALL(PAPI_destroy_eventset(&set));
	return papi_errno;
}

static void check_name(const struct base *base, const char *name, int cid, struct tally *tally)
{
	char text[PAPI_HUGE_STR_LEN];
	long long value = -1;

	snprintf(text, sizeof(text), "%s", name);
	if (measure(base, text, cid, &value) != PAPI_OK) {
		tally->failed++;
		return;
	}
	tally->started++;
	if (has_counted(text, value)) {
		tally->counted++;
		return;
	}
	tally->silent++;
	if (!tally->quiet)
		printf("# %s counts nothing\n", text);
}

/* Fills in what the listing says of a base event. */
static void describe(int code, int cid, struct base *base)
{
	PAPI_event_info_t info;
	const char *equals;
	size_t length;

	CALL(PAPI_event_code_to_name(code, base->name));
	base->n_fields = 0;
	length = strlen(base->name) + 1;
	while (PAPI_enum_cmp_event(&code, PAPI_NTV_ENUM_UMASKS, cid) == PAPI_OK) {
		CALL(PAPI_get_event_info(code, &info));
		equals = strchr(info.symbol, '=');
		if (!equals || strstr(info.symbol, ":socket=") || strstr(info.symbol, ":unit="))
			continue;
		CHECK("too many fields", base->n_fields < MAX_FIELDS);
		snprintf(base->least[base->n_fields], PAPI_MIN_STR_LEN, "%.100s", equals + 1);
		snprintf(base->fields[base->n_fields++], PAPI_MIN_STR_LEN, "%.*s",
			 (int)(equals - info.symbol - (long)length), info.symbol + length);
	}
}

/* "... and NAME before it in the set", of the same unit type. */
static void find_lead(const char *description, struct base *base)
{
	const char *end = strstr(description, " before it in the set"), *start = end;
	const char *dot = strrchr(base->name, '.');

	base->lead[0] = '\0';
	while (start && start > description && start[-1] != ' ')
		start--;
	if (end && dot)
		snprintf(base->lead, sizeof(base->lead), "%.*s.%.*s", (int)(dot - base->name),
			 base->name, (int)(end - start), start);
}

static void check_event(int code, int cid, struct tally *tally)
{
	static struct base base;
	PAPI_event_info_t info;
	char name[PAPI_HUGE_STR_LEN];

	describe(code, cid, &base);
	CALL(PAPI_get_event_info(code, &info));
	find_lead(info.long_descr, &base);
	base.turns = strstr(info.long_descr, " passes: multiplexed)") != NULL;
	if (!strstr(info.long_descr, " (needs a umask)"))
		check_name(&base, base.name, cid, tally);
	while (PAPI_enum_cmp_event(&code, PAPI_NTV_ENUM_UMASKS, cid) == PAPI_OK) {
		CALL(PAPI_get_event_info(code, &info));
		CALL(PAPI_event_code_to_name(code, name));
		CHECK("a name does not fit", !strcmp(name, info.symbol));
		if (!strchr(name, '=') && !strstr(info.long_descr, "(only with another umask)") &&
		    !strstr(info.long_descr, " - not available: "))
			check_name(&base, name, cid, tally);
	}
}

int main(int argc, char **argv)
{
	struct tally tally = {.quiet = tests_quiet(argc, argv)};
	int cid = find_component(), code = PAPI_NATIVE_MASK;
	const PAPI_component_info_t *info = PAPI_get_component_info(cid);

	CALL(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid));
	do {
		check_event(code, cid, &tally);
	} while (PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, cid) == PAPI_OK);
	printf("# %s: %d names started, %d counted, %d silent, %d failed\n", info->description,
	       tally.started, tally.counted, tally.silent, tally.failed);
	CHECK("some names failed", tally.failed == 0);
	CHECK("no name", tally.started > 0);
	CHECK("too few names counted",
	      tally.counted * 3 >= tally.started * 2 || !strstr(info->description, "SIMULATED"));
	PAPI_shutdown();
	test_pass(__FILE__);
	return 0;
}
