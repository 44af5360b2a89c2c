/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The children of a process that counts do what they like with what they inherit: its counters go
 * on. A child that initializes PAPI counts by itself. Each child has its own copy of a simulated
 * machine, so it is one with real counters, or with files for registers, that can fail here.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "intel_uncore_test.h"

enum {
	DONE = 42,     /* a test that fails or skips has another status */
	PATIENCE = 600 /* seconds; whoever takes longer hangs */
};

static int set = PAPI_NULL, text_code;
static char text[PAPI_HUGE_STR_LEN], other_text[PAPI_HUGE_STR_LEN];

static void just_exits(void)
{
}

static void uses_the_parents(void)
{
	long long values[1];
	int code;

	CHECK("a child reads its parent's counters", PAPI_read(set, values) == PAPI_ENOINIT);
	CHECK("a child resets its parent's counters", PAPI_reset(set) == PAPI_ENOINIT);
	CHECK("a child stops its parent's counters", PAPI_stop(set, values) == PAPI_ENOINIT);
	CHECK("a child names events",
	      PAPI_event_name_to_code(PREFIX "memory_write_bytes:socket=0", &code) == PAPI_ENOINIT);
}

static void shuts_down(void)
{
	PAPI_shutdown();
}

static void counts(void)
{
	char name[PAPI_HUGE_STR_LEN];
	int own = PAPI_NULL, code;
	long long values[2];

	find_component();
	CALL(PAPI_event_name_to_code(other_text, &code));
	CALL(PAPI_event_code_to_name(text_code, name));
	CHECK("a code of the parent stands for another event", !strcmp(name, text));
	CALL(PAPI_create_eventset(&own));
	CALL(PAPI_add_named_event(own, PREFIX "memory_read_bytes"));
	CALL(PAPI_add_event(own, text_code));
	CALL(PAPI_start(own));
	work();
	CALL(PAPI_read(own, values));
	CHECK("a child counts nothing", values[0] > 0);
	CALL(PAPI_stop(own, values));
	CALL(PAPI_cleanup_eventset(own));
	CALL(PAPI_destroy_eventset(&own));
}

static void counts_and_shuts_down(void)
{
	counts();
	PAPI_shutdown();
}

static void leaves_its_own_running(void)
{
	int own = PAPI_NULL;

	find_component();
	CALL(PAPI_create_eventset(&own));
	CALL(PAPI_add_named_event(own, PREFIX "memory_read_bytes"));
	CALL(PAPI_start(own));
}

static const struct {
	const char *what;
	void (*run)(void);
} children[] = {
	{"just exits", just_exits},
	{"uses the parent's EventSet", uses_the_parents},
	{"calls PAPI_shutdown()", shuts_down},
	{"counts by itself", counts},
	{"counts and calls PAPI_shutdown()", counts_and_shuts_down},
	{"leaves its own EventSet running", leaves_its_own_running},
};

int main(int argc, char **argv)
{
	int quiet = tests_quiet(argc, argv), cid = find_component(), status;
	long long before, after;
	pid_t child;
	size_t i;

	name_with_threshold(cid, 1, text);
	name_with_threshold(cid, 0, other_text);
	CALL(PAPI_event_name_to_code(text, &text_code));
	CALL(PAPI_create_eventset(&set));
	CALL(PAPI_add_named_event(set, PREFIX "memory_read_bytes"));
	CALL(PAPI_start(set));
	work();
	for (i = 0; i < sizeof(children) / sizeof(children[0]); i++) {
		CALL(PAPI_read(set, &before));
		fflush(NULL);
		child = fork();
		CHECK("fork", child >= 0);
		if (child == 0) {
			alarm(PATIENCE);
			children[i].run();
			exit(DONE);
		}
		CHECK("waitpid", waitpid(child, &status, 0) == child);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != DONE)
			printf("the child that %s: status %#x\n", children[i].what,
			       (unsigned int)status);
		CHECK("a child failed", WIFEXITED(status) && WEXITSTATUS(status) == DONE);
		work();
		CALL(PAPI_read(set, &after));
		if (!quiet || after <= before)
			printf("a child that %s: %lld, then %lld\n", children[i].what, before,
			       after);
		CHECK("a child has stopped the counters", after > before);
	}
	CALL(PAPI_stop(set, &after));
	CALL(PAPI_cleanup_eventset(set));
	CALL(PAPI_destroy_eventset(&set));
	PAPI_shutdown();
	test_pass(__FILE__);
	return 0;
}
