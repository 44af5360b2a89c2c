/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A counter and a start value of the program's choice. What has to come out is the rate of the
 * event, wherever it is counted and from whatever value on: the clock of a DDR5-4800 channel is
 * 2.4 GHz, that of its controller half of it (emerald-rapids/workload.tbl).
 */
#include <inttypes.h>
#include <string.h>

#include "session_kit.h"

#define CLOCK "imc0.CLOCKTICKS:socket=0"
#define HALF "imc0.HCLOCKTICKS:socket=0"

struct written {
	const char *reg; /* begins so */
	char seen[16];
	uint64_t value;
};

static int note(void *user, const struct unc_operation *o)
{
	struct written *w = user;

	if (o->write && strncmp(o->reg, w->reg, strlen(w->reg)) == 0) {
		snprintf(w->seen, sizeof(w->seen), "%s", o->reg);
		w->value = o->value;
	}
	return 0;
}

/* The last register of a kind that a start half. */
static struct written planned(struct unc_session *s, const char *kind)
{
	struct written w = {.reg = kind};

	CHECK_NUMBER(unc_session_plan(s, UNC_PHASE_START, note, &w), 0);
	return w;
}

static void test_counter(void)
{
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0), *t = session(p, 0);
	int id = add(s, CLOCK), other = add(t, CLOCK), metric = add(t, "memory_write_bytes");

	for (int c = 0; c < 4; c++) {
		char name[16];

		snprintf(name, sizeof(name), "CTR%d", c);
		CHECK_NUMBER(unc_session_counter(s, id, c), 0);
		CHECK_TEXT(planned(s, "CTR").seen, name);
	}
	CHECK_NUMBER(unc_session_counter(s, id, 4), UNC_ERR_RANGE);
	CHECK_TEXT(unc_session_error(s), "imc0.CLOCKTICKS:socket=0: no counter 4 can count it");
	CHECK_NUMBER(unc_session_counter(s, id, -2), UNC_ERR_RANGE);
	CHECK_NUMBER(unc_session_counter(s, 7, 0), UNC_ERR_NOT_FOUND);
	CHECK_NUMBER(unc_session_counter(t, metric, 0), UNC_ERR_INVALID);
	CHECK_TEXT(planned(s, "CTR").seen, "CTR3"); /* as it was */

	/* The same on two counters at once, from the same moment on: the same number. */
	CHECK_NUMBER(unc_session_counter(t, other, 0), 0);
	start(s);
	start(t);
	CHECK_NUMBER(unc_session_counter(s, id, 1), UNC_ERR_STATE);
	step(p, 100 * ms);
	CHECK_COUNT(count_of(s, id), 0.1 * 2.4e9, 1);
	CHECK_NUMBER(count_of(t, other), count_of(s, id));
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_stop(t), 0);

	CHECK_NUMBER(unc_session_counter(s, id, -1), 0);
	CHECK_NUMBER(unc_session_counter(s, id, 2), 0);
	unc_session_free(s);
	unc_session_free(t);
	check_quiet(p);
	unc_platform_close(p);
}

static void test_conflict(void)
{
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0);
	int clock = add(s, CLOCK), half = add(s, HALF);

	CHECK_NUMBER(unc_session_counter(s, clock, 2), 0);
	CHECK_NUMBER(unc_session_counter(s, half, 2), UNC_ERR_CONFLICT);
	CHECK_TEXT(unc_session_error(s), "imc0.CLOCKTICKS:socket=0 and imc0.HCLOCKTICKS:socket=0"
					 " both need counter 2 of imc");
	CHECK_NUMBER(unc_session_counter(s, half, 1), 0);
	start(s); /* what was refused has left nothing */
	step(p, 100 * ms);
	CHECK_COUNT(count_of(s, half), 0.1 * 1.2e9, 1);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Whoever counts there already keeps the counter: it is not had, and not read for another's. */
static void test_taken(void)
{
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0), *t = session(p, 0);
	int mine = add(s, HALF), id = add(t, CLOCK);

	CHECK_NUMBER(unc_session_counter(s, mine, 2), 0);
	start(s);
	CHECK_NUMBER(unc_session_counter(t, id, 2), 0);
	CHECK_NUMBER(unc_session_start(t), UNC_ERR_BUSY);
	CHECK_NUMBER(unc_session_counter(t, id, 1), 0);
	start(t);
	step(p, 100 * ms);
	CHECK_COUNT(count_of(t, id), 0.1 * 2.4e9, 1);
	CHECK_COUNT(count_of(s, mine), 0.1 * 1.2e9, 1);
	unc_session_free(s);
	unc_session_free(t);
	unc_platform_close(p);
}

static void test_begin(void)
{
	const uint64_t end = (uint64_t)1 << 48;
	struct unc_platform *p = machine(EMR);
	struct unc_session *s = session(p, 0), *t = session(p, 0);
	int id = add(s, CLOCK), other = add(t, CLOCK), freely = add(t, "mc0.DCLK:socket=0");

	CHECK_NUMBER(unc_session_begin_at(s, id, end), UNC_ERR_RANGE);
	CHECK_NUMBER(unc_session_begin_at(s, 9, 1), UNC_ERR_NOT_FOUND);
	CHECK_NUMBER(unc_session_begin_at(t, freely, 1), UNC_ERR_UNAVAILABLE);
	CHECK_NUMBER(unc_session_begin_at(s, id, end - 1000), 0);
	CU_ASSERT(planned(s, "CTR").value == end - 1000);
	start(t);
	start(s); /* with a counter of its own */
	step(p, 100 * ms);
	CHECK_COUNT(count_of(s, id), 0.1 * 2.4e9, 1);
	CHECK_NUMBER(count_of(t, other), count_of(s, id));
	CHECK_NUMBER(unc_session_begin_at(s, id, 0), UNC_ERR_STATE);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_begin_at(s, id, 0), 0);
	CHECK_TEXT(planned(s, "CTR").seen, ""); /* now it may join */
	CHECK_NUMBER(unc_session_stop(t), 0);
	CU_ASSERT(planned(s, "CTR").value == end / 2);
	unc_session_free(s);
	unc_session_free(t);
	check_quiet(p);
	unc_platform_close(p);
}

/* The kernel's driver lets nobody choose: registers count, or it is refused. */
static void test_kernel(void)
{
	struct unc_platform *p = machine(EMR ",kernel=on");
	struct unc_session *s = session(p, 0);
	int id = add(s, CLOCK);

	CHECK_TEXT(planned(s, "CTR").seen, "");
	CHECK_NUMBER(unc_session_counter(s, id, 1), 0);
	CHECK_TEXT(planned(s, "CTR").seen, "CTR1");
	unc_session_free(s);
	unc_platform_close(p);

	p = machine(EMR ",kernel=on,rights=perf");
	s = session(p, 0);
	id = add(s, CLOCK);
	CHECK_NUMBER(unc_session_counter(s, id, 1), UNC_ERR_UNAVAILABLE);
	CHECK_NUMBER(unc_session_begin_at(s, id, 1), UNC_ERR_UNAVAILABLE);
	unc_session_free(s);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a counter is chosen", test_counter},
		{"two items on one counter", test_conflict},
		{"a counter that somebody uses", test_taken},
		{"a start value, past the end of the range", test_begin},
		{"where the kernel counts", test_kernel},
		{NULL, NULL},
	};

	return suite_run("session_choose", tests);
}
