/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of one unit have their time in common: one of them that cannot be read now and then has
 * its own from there on, whichever it is, and the other is measured as before. What is counted:
 * eventtables/sandybridge-ep/workload.tbl.
 */
#include "losing_kit.h"

static const double rate[] = {2.702e8 / 4, 1.142e8 / 4}; /* of a memory channel, a second */
enum { STEP_MS = 500, LOOKS = 6 };

/* The counter of a slot cannot be read, or can be again. */
static void fail(struct unc_session *s, size_t slot, bool fails)
{
	losing.reg[0] = s->units.read[slot].reg;
	losing.role[0] = UNC_ROLE_CTR;
	losing.reads = (uint32_t)fails << UNC_ROLE_CTR;
	losing.n = fails;
}

/* Item i in a look: whether its counter can be read now, and could in the last one. */
static void check(const struct unc_value *v, unsigned i, unsigned look, bool now, bool before)
{
	const double interval = STEP_MS * 1e-3, all = interval * (look + 1);

	CHECK_NUMBER(v->flags & (UNC_VALUE_VALID | UNC_VALUE_LATE | UNC_VALUE_INTERVAL_LATE |
				 UNC_VALUE_ESTIMATED),
		     now ? UNC_VALUE_VALID : 0);
	if (!now)
		return;
	CHECK_NEAR(v->value, rate[i] * all, 1e-6);
	CHECK_NEAR(v->seconds, all, 1e-9);
	if (before)
		CHECK_NEAR(v->interval, rate[i] * interval, 1e-6);
	else
		CU_ASSERT(isnan(v->interval));
}

/* Slot `failing` of two is not read in looks 2 and, of `n` looks, behind it. */
static void run(size_t failing, unsigned n)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = session(p, 0);
	struct unc_value v[2];
	bool could[2] = {true, true};

	add(s, "imc0.CAS_COUNT:RD:socket=0");
	add(s, "imc0.CAS_COUNT:WR:socket=0");
	start(s);
	CHECK_NUMBER(s->units.n_reads, 2);
	CHECK_NUMBER(s->units.slot[0].leader, s->units.slot[1].leader);
	for (unsigned look = 0; look < LOOKS; look++) {
		bool fails = look >= 2 && look < 2 + n;

		step(p, STEP_MS * ms);
		fail(s, failing, fails);
		CHECK_NUMBER(unc_session_read(s, v, 2, sizeof(*v)), 0);
		for (unsigned i = 0; i < 2; i++) {
			bool can = !fails || s->units.read_slot[failing] != i;

			check(&v[i], i, look, can, could[i]);
			could[i] = can;
		}
		CHECK_NUMBER(s->units.slot[0].leader == s->units.slot[1].leader, look < 2);
	}
	fail(s, failing, false);
	CHECK_NUMBER(unc_session_stop(s), 0);
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_unread(void)
{
	for (size_t failing = 0; failing < 2; failing++)
		for (unsigned n = 1; n <= 3; n++)
			run(failing, n);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"one of two counters is not read now and then", test_unread},
		{NULL, NULL},
	};

	return suite_run("session, spans", tests);
}
