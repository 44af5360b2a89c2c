/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes that take turns by themselves. The clock of the machine is stepped, and step() does what is
 * due then, in place of the thread of the library. Rates: eventtables/sandybridge-ep/workload.tbl;
 * accesses per second of a channel: 0.961e8.
 */
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session_kit.h"

/* Four counters a channel: the last event is the second pass. */
static const struct counted {
	const char *text;
	double rate;
} events[] = {
	{"imc.CAS_COUNT:RD", 8 * (2.7e8 + 0.002e8) / 4},
	{"imc.CAS_COUNT:WR", 8 * 1.142e8 / 4},
	{"imc.ACT_COUNT", 8 * 0.35 * 0.961e8},
	{"imc.PRE_COUNT:PAGE_MISS", 8 * 0.22 * 0.961e8},
	{"imc.CAS_COUNT:ALL", 8 * (2.702e8 + 1.142e8) / 4},
};
enum { EVENTS = 5, FIRST = 0, SECOND = EVENTS - 1 };

static struct unc_session *turning(struct unc_platform *p, unsigned round_ms)
{
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);

	for (size_t i = 0; i < EVENTS; i++)
		add(s, events[i].text);
	CHECK_NUMBER(unc_session_passes(s), 2);
	CHECK_NUMBER(unc_session_turns(s, round_ms), 0);
	return s;
}

static unsigned pass_of(const struct unc_session *s)
{
	return s->run->pass;
}

/* The machine's time goes on by a turn of that length: the pass changes then, and not before. */
#define STEP_TURN(p, s, length) step_turn(__LINE__, (p), (s), (length))
static void step_turn(int line, struct unc_platform *p, const struct unc_session *s,
		      uint64_t length)
{
	unsigned pass = pass_of(s);

	step(p, length - 1);
	suite_number(line, pass_of(s), pass);
	step(p, 1);
	suite_number(line, pass_of(s), 1 - pass);
}

static void read_all(struct unc_session *s, struct unc_value *v)
{
	int rc = unc_session_read(s, v, EVENTS, sizeof(*v));

	if (rc < 0)
		printf("# read: %s\n", unc_session_error(s));
	CU_ASSERT_FATAL(rc == 0);
}

#define CHECK_RATES(v, seconds) check_rates(__LINE__, (v), (seconds))
static void check_rates(int line, const struct unc_value *v, double seconds)
{
	for (size_t i = 0; i < EVENTS; i++) {
		double expected = events[i].rate * seconds;
		bool valid = v[i].flags & UNC_VALUE_VALID &&
			     !(v[i].flags & (UNC_VALUE_LOST | UNC_VALUE_WAITS));

		if (!valid)
			printf("# line %d: %s: no value\n", line, events[i].text);
		CU_ASSERT(valid);
		/* A counter shows whole counts, which are scaled. */
		check_near(line, v[i].value, expected, 1e-3);
	}
}

/* Looks that have nobody to tell of a failure: one where a pass ends. Counters may wrap after minutes
 * here: no turn is a reason for more looks. */
static unsigned looks;

int unc_run_look(struct unc_run *run, struct unc_error *err)
{
	looks += !err;
	return REAL(unc_run_look)(run, err);
}

/* What a start and a change of the pass take of the machine's time, where nothing counts. */
static uint64_t start_ns, change_ns;

int unc_node_reclaim(struct unc_platform *p, const struct unc_run *run, bool all,
		     struct unc_error *err)
{
	step_alone(p, run->counting ? change_ns : start_ns);
	return REAL(unc_node_reclaim)(p, run, all, err);
}

/* 2 ms, then each round twice as long, up to what a round of 30 ms lets the turns of two passes. */
static void test_lengths(void)
{
	static const uint64_t lengths[] = {2, 2, 4, 4, 8, 8, 10, 10, 10, 10};
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = turning(p, 30);
	struct snapshot before = snapshot(p);
	struct unc_value v[EVENTS];
	uint64_t all = 0, second = 0;

	looks = 0;
	start(s);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		STEP_TURN(p, s, lengths[i] * ms);
		all += lengths[i];
		second += i % 2 ? lengths[i] : 0;
	}
	read_all(s, v);
	CHECK_RATES(v, (double)all * 1e-3);
	CHECK_NEAR(v[SECOND].share, (double)second / (double)all, 1e-9);
	CU_ASSERT(v[SECOND].flags & UNC_VALUE_ESTIMATED);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(looks, sizeof(lengths) / sizeof(lengths[0]));
	CHECK_RESTORED(p, before);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Programming has 5 % of the time at most, however short a round is to be: a turn is 20 times as
 * long as a change of the pass takes. One that was held up is not what it costs. */
static void test_cost(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = turning(p, 30);
	struct unc_value v[EVENTS];

	start_ns = 1 * ms;
	change_ns = 2 * ms;
	start(s);
	for (int i = 0; i < 4; i++) /* the first by the start, the others by the lesser round */
		STEP_TURN(p, s, 20 * ms);
	for (int i = 0; i < 3; i++)
		STEP_TURN(p, s, 40 * ms);
	change_ns = 100 * ms;
	STEP_TURN(p, s, 40 * ms);
	change_ns = 2 * ms;
	for (int i = 0; i < 4; i++)
		STEP_TURN(p, s, 40 * ms);
	/* A reset forgets what was counted, and not what a change costs. */
	CHECK_NUMBER(unc_session_reset(s), 0);
	for (int i = 0; i < 8; i++)
		STEP_TURN(p, s, 40 * ms);
	read_all(s, v);
	CU_ASSERT(v[SECOND].share >= 0.95 / 2);
	CHECK_RATES(v, 8 * 42e-3);
	change_ns = 0;
	STEP_TURN(p, s, 40 * ms);
	STEP_TURN(p, s, 40 * ms);
	STEP_TURN(p, s, 10 * ms); /* as long as a round of 30 ms lets it */
	start_ns = 0;
	unc_session_free(s);
	unc_platform_close(p);
}

/* Less than 5 % of the time that turns promise is not worth a value: 2 ms of 504, for the half. */
static void test_hardly(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = turning(p, 30);
	struct unc_value v[EVENTS];

	start(s);
	STEP_TURN(p, s, 2 * ms);
	STEP_TURN(p, s, 2 * ms);
	step_alone(p, 500 * ms);
	read_all(s, v);
	CU_ASSERT(v[FIRST].flags & UNC_VALUE_VALID);
	CHECK_NUMBER(v[SECOND].flags, UNC_VALUE_WAITS);
	CHECK_NUMBER(v[SECOND].count, 0);
	CHECK_TEXT(unc_session_reason(s, SECOND),
		   "measured in only 0.4 % of the time, instead of 50 %");
	step(p, 0); /* the turn ends, late */
	CHECK_NUMBER(pass_of(s), 1);
	/* 100 ms more are enough: 102 of 604. */
	step_alone(p, 100 * ms);
	read_all(s, v);
	CHECK_RATES(v, 604e-3);
	step(p, 0);
	CHECK_NUMBER(pass_of(s), 0);
	/* The same of an interval: 8 ms of 808. */
	STEP_TURN(p, s, 8 * ms);
	STEP_TURN(p, s, 8 * ms);
	step_alone(p, 792 * ms);
	read_all(s, v);
	CHECK_RATES(v, 1412e-3);
	CU_ASSERT(isnan(v[SECOND].interval));
	CHECK_NUMBER(v[SECOND].delta, 0);
	CHECK_NUMBER(v[SECOND].flags & (UNC_VALUE_WAITS | UNC_VALUE_LOST), 0);
	CHECK_TEXT(unc_session_reason(s, SECOND),
		   "measured in only 0.99 % of the interval, instead of 50 %");
	/* That of the first pass, which was not measured in the one before, began 100 ms earlier. */
	CHECK_NEAR(v[FIRST].interval, events[FIRST].rate * 908e-3, 1e-3);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Nothing is told of a pass before its first turn, nor of a moment of it. */
static void test_waits(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = turning(p, 30);
	struct unc_value v[EVENTS];

	start(s);
	read_all(s, v);
	CHECK_NUMBER(v[0].flags, UNC_VALUE_WAITS);
	CHECK_NUMBER(v[SECOND].flags, UNC_VALUE_WAITS);
	CHECK_NUMBER(v[0].units, 8);
	STEP_TURN(p, s, 2 * ms);
	read_all(s, v);
	CU_ASSERT(v[0].flags & UNC_VALUE_VALID);
	CHECK_NEAR(v[0].value, events[0].rate * 2e-3, 1e-3);
	CHECK_NUMBER(v[SECOND].flags, UNC_VALUE_WAITS);
	CHECK_NUMBER(v[SECOND].count, 0);
	CHECK_TEXT(unc_session_reason(s, SECOND),
		   "its pass, one of 2, was not measured yet; it has no value before");
	CHECK_TEXT(unc_session_reason(s, 0), "");
	step(p, ms / 2); /* of its turn of 2 ms */
	read_all(s, v);
	CHECK_NUMBER(v[SECOND].flags, UNC_VALUE_WAITS);
	step(p, ms);
	read_all(s, v);
	CHECK_RATES(v, 3.5e-3);
	/* A reset begins anew; what is stopped before its turn has no value either. */
	CHECK_NUMBER(unc_session_reset(s), 0);
	read_all(s, v);
	CHECK_NUMBER(v[0].flags, UNC_VALUE_WAITS);
	CHECK_NUMBER(unc_session_stop(s), 0);
	read_all(s, v);
	CHECK_NUMBER(v[0].flags, UNC_VALUE_WAITS);
	CHECK_NUMBER(v[SECOND].flags, UNC_VALUE_WAITS);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Turns are short again behind a reset: also that which goes on. */
static void test_reset(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = turning(p, 300);
	struct unc_value v[EVENTS];

	start(s);
	for (uint64_t length = 2; length < 64; length *= 2)
		for (int i = 0; i < 2; i++)
			STEP_TURN(p, s, length * ms);
	step(p, 10 * ms);
	CHECK_NUMBER(unc_session_reset(s), 0);
	STEP_TURN(p, s, 2 * ms);
	STEP_TURN(p, s, 2 * ms);
	read_all(s, v);
	CHECK_RATES(v, 4e-3);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Who reads as seldom as he has said finds every value fresh, and right, wherever turns end. */
static void test_intervals(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = turning(p, 30);
	struct unc_value v[EVENTS];

	start(s);
	for (int i = 0; i < 20; i++) {
		for (int t = 0; t < 62; t++) /* a turn ends between two reads, by and by */
			step(p, ms / 2);
		read_all(s, v);
		for (size_t k = 0; k < EVENTS; k++) {
			CU_ASSERT(v[k].flags & UNC_VALUE_FRESH);
			CHECK_NEAR(v[k].interval, events[k].rate * 31e-3, 1e-3);
			CU_ASSERT(v[k].interval_share >= 10. / 31 - 1e-9);
		}
	}
	/* No interval ends with a moment of a pass. */
	unsigned pass = pass_of(s), t = 0;

	for (; pass_of(s) == pass && t < 20; t++)
		step(p, ms / 2);
	CHECK_NUMBER(pass_of(s), 1 - pass);
	read_all(s, v);
	step(p, ms);
	read_all(s, v);
	CU_ASSERT(!(v[0].flags & UNC_VALUE_FRESH));
	CU_ASSERT(!(v[SECOND].flags & UNC_VALUE_FRESH));
	unc_session_free(s);
	unc_platform_close(p);
}

/* Sessions that want the same turn together, whenever they begin, and go on when others end. */
static void test_together(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s[3] = {turning(p, 30), turning(p, 300), turning(p, 30)};
	static const double seconds[] = {17e-3, 14e-3, 12e-3}; /* since each of them has begun */
	struct snapshot before = snapshot(p);
	struct unc_value v[EVENTS];

	start(s[0]);
	STEP_TURN(p, s[0], 2 * ms);
	step(p, ms);
	start(s[1]);
	CU_ASSERT_PTR_EQUAL(s[1]->run, s[0]->run);
	CHECK_NUMBER(pass_of(s[1]), 1);
	STEP_TURN(p, s[1], 2 * ms); /* short again, for the one that has begun */
	start(s[2]);
	CU_ASSERT_PTR_EQUAL(s[2]->run, s[0]->run);
	for (int i = 0; i < 4; i++)
		STEP_TURN(p, s[2], i < 2 ? 2 * ms : 4 * ms);
	for (int k = 0; k < 3; k++) {
		read_all(s[k], v);
		CHECK_RATES(v, seconds[k]);
	}
	/* Who has begun first ends first. */
	CHECK_NUMBER(unc_session_stop(s[0]), 0);
	STEP_TURN(p, s[1], 8 * ms);
	STEP_TURN(p, s[1], 8 * ms);
	CHECK_NUMBER(unc_session_stop(s[2]), 0);
	read_all(s[2], v);
	CHECK_RATES(v, 28e-3);
	read_all(s[0], v);
	CHECK_RATES(v, 17e-3);
	STEP_TURN(p, s[1], 10 * ms); /* as all three wanted */
	STEP_TURN(p, s[1], 10 * ms);
	STEP_TURN(p, s[1], 20 * ms); /* at its own pace, now that it is alone */
	read_all(s[1], v);
	CHECK_RATES(v, 70e-3);
	CHECK_NUMBER(unc_session_stop(s[1]), 0);
	CHECK_RESTORED(p, before);
	for (int k = 0; k < 3; k++)
		unc_session_free(s[k]);
	unc_platform_close(p);
}

/* One of them takes turns no more: the other does. */
static void test_one_by_hand(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s[2] = {turning(p, 30), turning(p, 30)};
	struct unc_value v[EVENTS];

	start(s[0]);
	start(s[1]);
	CU_ASSERT_PTR_EQUAL(s[1]->run, s[0]->run);
	CHECK_NUMBER(unc_session_turns(s[0], 0), 0);
	STEP_TURN(p, s[1], 2 * ms);
	STEP_TURN(p, s[1], 2 * ms);
	read_all(s[1], v);
	CHECK_RATES(v, 4e-3);
	for (int k = 0; k < 2; k++)
		unc_session_free(s[k]);
	unc_platform_close(p);
}

/* Each start begins with short turns, whatever was before. */
static void test_again(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = turning(p, 30);
	struct unc_value v[EVENTS];

	start(s);
	for (int i = 0; i < 6; i++)
		STEP_TURN(p, s, (2 * ms) << (i / 2));
	CHECK_NUMBER(unc_session_stop(s), 0);
	step(p, 100 * ms);
	start(s);
	STEP_TURN(p, s, 2 * ms);
	STEP_TURN(p, s, 2 * ms);
	STEP_TURN(p, s, 4 * ms);
	STEP_TURN(p, s, 4 * ms);
	read_all(s, v);
	CHECK_RATES(v, 12e-3);
	CHECK_NUMBER(unc_session_stop(s), 0);
	/* And there are none where it wants none. */
	CHECK_NUMBER(unc_session_turns(s, 0), 0);
	start(s);
	step(p, 50 * ms);
	CHECK_NUMBER(pass_of(s), 0);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Who wants other passes turns by himself. */
static void test_apart(void)
{
	struct unc_platform *p = machine("emerald-rapids,clock=step,sockets=1");
	struct unc_session *a = session(p, UNC_SESSION_ROTATE), *b = session(p, UNC_SESSION_ROTATE);
	static const char *const umasks[] = {"RD", "WR", "RD_REG", "RD_UNDERFILL", "ALL"};

	for (size_t i = 0; i < 5; i++) {
		char text[64];

		snprintf(text, sizeof(text), "imc0.CAS_COUNT:%s", umasks[i]);
		add(a, text);
		snprintf(text, sizeof(text), "imc1.CAS_COUNT:%s", umasks[i]);
		add(b, text);
	}
	CHECK_NUMBER(unc_session_turns(a, 30), 0);
	CHECK_NUMBER(unc_session_turns(b, 30), 0);
	start(a);
	step(p, ms);
	start(b);
	CU_ASSERT_PTR_NOT_EQUAL(a->run, b->run);
	step(p, ms);
	CHECK_NUMBER(pass_of(a), 1);
	CHECK_NUMBER(pass_of(b), 0);
	step(p, ms);
	CHECK_NUMBER(pass_of(b), 1);
	CHECK_NUMBER(pass_of(a), 1);
	unc_session_free(a);
	unc_session_free(b);
	unc_platform_close(p);
}

/* Two counters of a CBo have a TOR, and one filter for both: the last event is the second pass, and
 * leaves one of them to others. Workload: drd_hit, drd_miss, rfo_hit, rfo_miss of
 * two sockets. */
static const struct counted filtered[] = {
	{"cbo.TOR_INSERTS:OPCODE:opc=0x182", 2 * (2.4e8 + 1.6e8)},
	{"cbo.TOR_INSERTS:MISS_OPCODE:opc=0x182", 2 * 1.6e8},
	{"cbo.TOR_INSERTS:OPCODE:opc=0x180", 2 * (0.5e8 + 0.6e8)},
};
enum { FILTERED = 3, LAST = FILTERED - 1 };

static struct unc_session *turning_filtered(struct unc_platform *p)
{
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);

	for (size_t i = 0; i < FILTERED; i++)
		add(s, filtered[i].text);
	CHECK_NUMBER(unc_session_passes(s), 2);
	CHECK_NUMBER(unc_session_turns(s, 30), 0);
	return s;
}

/* A counter of the next pass is somebody else's: its set is lost, and the other pass goes on. */
static void test_taken(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s[2] = {turning_filtered(p), turning_filtered(p)},
			   *other = session(p, 0);
	struct snapshot before = snapshot(p);
	struct unc_value v[FILTERED];

	add(other, "cbo.LLC_VICTIMS:M_STATE");
	start(s[0]);
	start(s[1]);
	STEP_TURN(p, s[0], 2 * ms);
	start(other);
	STEP_TURN(p, s[0], 2 * ms);
	STEP_TURN(p, s[0], 4 * ms);
	for (int k = 0; k < 2; k++) {
		CHECK_NUMBER(unc_session_read(s[k], v, FILTERED, sizeof(*v)), 0);
		for (int i = 0; i < FILTERED; i++) {
			CHECK_NUMBER(v[i].flags & (UNC_VALUE_VALID | UNC_VALUE_LOST),
				     i == LAST ? UNC_VALUE_VALID : UNC_VALUE_LOST);
			CU_ASSERT(i == LAST || strstr(unc_session_reason(s[k], i),
						      "cbo0 (socket 0) is programmed by another "
						      "session of this program"));
		}
		CHECK_NUMBER(unc_session_stop(s[k]), 0);
	}
	CHECK_NEAR(value_of(other, 0).value, 2 * (0.6e8 + 0.06e8 + 0.28e8) * 6e-3, 1e-3);
	CHECK_NUMBER(unc_session_stop(other), 0);
	CHECK_RESTORED(p, before);
	for (int k = 0; k < 2; k++)
		start(s[k]);
	STEP_TURN(p, s[0], 2 * ms);
	STEP_TURN(p, s[0], 2 * ms);
	for (int k = 0; k < 2; k++) {
		CHECK_NUMBER(unc_session_read(s[k], v, FILTERED, sizeof(*v)), 0);
		for (size_t i = 0; i < FILTERED; i++) {
			CU_ASSERT(v[i].flags & UNC_VALUE_VALID);
			CHECK_NEAR(v[i].value, filtered[i].rate * 4e-3, 1e-3);
		}
		unc_session_free(s[k]);
	}
	unc_session_free(other);
	unc_platform_close(p);
}

/* By hand, by itself, and by hand again. */
static void test_by_hand(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = turning(p, 0), *one = session(p, 0);
	struct unc_value v[EVENTS];

	start(s);
	CHECK_NUMBER(unc_session_turns(s, 30), (unsigned long long)UNC_ERR_STATE);
	CHECK_TEXT(unc_session_error(s), "the session is running; stop it first");
	step(p, 50 * ms);
	CHECK_NUMBER(pass_of(s), 0);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(unc_session_turns(s, 3000), 0);
	start(s);
	CHECK_NUMBER(unc_session_turns(s, 30), 0); /* another pace */
	STEP_TURN(p, s, 2 * ms);
	CHECK_NUMBER(unc_session_turns(s, 0), 0);
	step(p, 50 * ms);
	CHECK_NUMBER(pass_of(s), 1);
	CHECK_NUMBER(turn_pass(s), 0);
	CHECK_NUMBER(pass_of(s), 0);
	read_all(s, v);
	CHECK_RATES(v, 52e-3);
	/* With one pass there is nothing to be done. */
	add(one, "cbo.CLOCKTICKS");
	CHECK_NUMBER(unc_session_turns(one, 30), 0);
	start(one);
	CU_ASSERT(unc_run_turn_left(one->run) == UINT64_MAX);
	unc_session_free(one);
	unc_session_free(s);
	unc_platform_close(p);
}

static void test_fork(void)
{
	struct unc_platform *p = machine(SNB);
	struct unc_session *s = turning(p, 30);
	struct unc_value v[EVENTS];
	int status = -1;

	start(s);
	STEP_TURN(p, s, 2 * ms);
	pthread_mutex_t *lock[] = {&p->runs.lock, &p->program, &s->run->lock, &p->watch.lock};

	for (int i = 0; i < 4; i++) /* as if a turn were going on */
		pthread_mutex_lock(lock[i]);
	pid_t child = fork();
	if (child == 0) {
		int wrong = unc_session_turns(s, 0) != UNC_ERR_STATE;

		wrong |= unc_session_read(s, v, EVENTS, sizeof(*v)) != UNC_ERR_STATE;
		wrong |= unc_session_stop(s) != UNC_ERR_STATE;
		unc_session_free(s);
		unc_platform_close(p);
		_exit(wrong);
	}
	for (int i = 4; i-- > 0;)
		pthread_mutex_unlock(lock[i]);
	CU_ASSERT_FATAL(child > 0);
	CHECK_NUMBER(waitpid(child, &status, 0), child);
	CHECK_NUMBER(status, 0);
	STEP_TURN(p, s, 2 * ms);
	read_all(s, v);
	CHECK_RATES(v, 4e-3);
	unc_session_free(s);
	unc_platform_close(p);
}

/* ---- threads, on the wall clock: whatever meets whatever */

enum { PATIENCE_MS = 60000 };

static void pause_ms(long n)
{
	nanosleep(&(struct timespec){n / 1000, n % 1000 * 1000000}, NULL);
}

struct worker {
	struct unc_platform *p;
	unsigned failed;
};

static void *work(void *user)
{
	struct worker *w = user;
	struct unc_value v[EVENTS];
	struct unc_session *s;

	for (int round = 0; round < 3; round++) {
		if (unc_session_new(w->p, UNC_SESSION_ROTATE, &s) < 0)
			abort();
		for (int i = 0, id; i < EVENTS; i++)
			w->failed += unc_session_add(s, events[i].text, &id) != 0;
		w->failed += unc_session_turns(s, 20) != 0;
		for (int again = 0; again < 4; again++) {
			w->failed += unc_session_start(s) != 0;
			for (long i = 0; i < PATIENCE_MS; i++, pause_ms(1)) {
				w->failed += unc_session_read(s, v, EVENTS, sizeof(*v)) != 0;
				if (v[0].flags & v[SECOND].flags & UNC_VALUE_VALID)
					break;
				w->failed += (v[SECOND].flags & UNC_VALUE_LOST) != 0;
				w->failed += i + 1 == PATIENCE_MS;
			}
			w->failed += again % 2 && unc_session_reset(s) != 0;
			w->failed += unc_session_stop(s) != 0;
		}
		unc_session_free(s);
	}
	return NULL;
}

static void test_threads(void)
{
	struct unc_platform *p = machine("sandybridge-ep");
	struct snapshot before = snapshot(p);
	struct worker worker[4];
	pthread_t thread[4];

	for (int i = 0; i < 4; i++) {
		worker[i] = (struct worker){p, 0};
		CU_ASSERT_FATAL(pthread_create(&thread[i], NULL, work, &worker[i]) == 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		CHECK_NUMBER(worker[i].failed, 0);
	}
	CU_ASSERT_PTR_NULL(p->watch.first);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"how long turns are, and what they tell", test_lengths},
		{"as long as programming asks for", test_cost},
		{"no value of what was hardly measured", test_hardly},
		{"no value before each pass has had its turn", test_waits},
		{"short again after a reset", test_reset},
		{"each interval has a turn of each pass", test_intervals},
		{"sessions that want the same turn together", test_together},
		{"one of them turns no more", test_one_by_hand},
		{"started again", test_again},
		{"others do not", test_apart},
		{"the counters of a turn are taken", test_taken},
		{"turns by hand", test_by_hand},
		{"fork", test_fork},
		{"threads", test_threads},
		{NULL, NULL},
	};

	return suite_run("turns", tests);
}
