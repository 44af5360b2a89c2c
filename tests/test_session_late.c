/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks in which accesses wait: each unit is measured in its own time, a look that takes long is
 * repeated once, and a value whose counters were not read together says so. The rate is that of
 * eventtables/sandybridge-ep/workload.tbl: 0.35 of the accesses of a channel, 0.961e8 a second.
 */
#include "session_kit.h"

static const double rate = 0.35 * 0.961e8;

/* Looks at the clock of the machine before which time passes: of the test's own thread, for a
 * session has one that looks as well, when it likes. */
static struct {
	struct unc_machine_methods methods;
	const struct unc_machine_methods *own;
	pthread_t thread;
	unsigned looks;
	unsigned at[2];
	uint64_t ns, each; /* each: at every stamp */
} slow;

static void slow_now(const struct unc_machine *machine, uint64_t *ns, uint64_t *tsc)
{
	bool counts = pthread_equal(pthread_self(), slow.thread);

	slow.looks += counts;
	if (counts)
		unc_sim_step(unc_machine_sim(machine), slow.each);
	if (counts && (slow.looks == slow.at[0] || slow.looks == slow.at[1]))
		unc_sim_step(unc_machine_sim(machine), slow.ns);
	slow.own->now(machine, ns, tsc);
}

static void delay(uint64_t ns, unsigned first, unsigned second)
{
	slow.looks = 0;
	slow.at[0] = first;
	slow.at[1] = second;
	slow.ns = ns;
}

/* Four channels, one by one and together. */
enum { CHANNELS = 4, SUM = CHANNELS, ITEMS };
/* A look has a stamp before each and one behind the last; the third is before channel 2. */
enum { STAMPS = CHANNELS + 1, BEFORE_2 = 3 };

static struct unc_session *channels(struct unc_platform *p)
{
	struct unc_session *s = session(p, 0);
	char name[] = "imc0.ACT_COUNT:socket=0";

	for (int i = 0; i < CHANNELS; i++, name[3]++)
		CHECK_NUMBER(add(s, name), i);
	CHECK_NUMBER(add(s, "imc.ACT_COUNT:socket=0"), SUM);
	return s;
}

static struct unc_platform *slow_machine(void)
{
	struct unc_platform *p = machine(SNB);

	step(p, 100 * ms);
	slow.thread = pthread_self();
	slow.own = p->machine->methods;
	slow.methods = *slow.own;
	slow.methods.now = slow_now;
	p->machine->methods = &slow.methods;
	delay(0, 0, 0);
	return p;
}

static void close_slow(struct unc_platform *p, struct unc_session *s)
{
	unc_session_free(s);
	p->machine->methods = slow.own;
	unc_platform_close(p);
}

static void read_all(struct unc_session *s, struct unc_value *v)
{
	CHECK_NUMBER(unc_session_read(s, v, ITEMS, sizeof(*v)), 0);
}

/* After 100 ms, channels 2 and 3 are read 40 ms later than 0, in the look and when it is repeated. */
static void read_late(struct unc_platform *p, struct unc_session *s, struct unc_value *v)
{
	start(s);
	step(p, 100 * ms);
	delay(40 * ms, BEFORE_2, STAMPS + BEFORE_2);
	read_all(s, v);
	delay(0, 0, 0);
}

enum { LATE = UNC_VALUE_LATE | UNC_VALUE_INTERVAL_LATE };

static void check_exact(const struct unc_value *v, double seconds, unsigned n)
{
	CHECK_NUMBER(v->flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	CHECK_NEAR(v->interval, n * rate * seconds, 1e-6);
	CHECK_NEAR(v->late + v->interval_late, 0, 0);
}

/* A look of which an access waits for 40 ms is repeated, and then all was read at once. */
static void test_repeated(void)
{
	struct unc_platform *p = slow_machine();
	struct unc_session *s = channels(p);
	struct unc_value v[ITEMS];
	unsigned looks;

	start(s);
	step(p, 100 * ms);
	delay(0, 0, 0);
	read_all(s, v);
	looks = slow.looks;
	step(p, 100 * ms);
	delay(40 * ms, BEFORE_2, 0);
	read_all(s, v);
	CHECK_NUMBER(slow.looks, looks + STAMPS);
	for (int i = 0; i < CHANNELS; i++)
		check_exact(&v[i], 0.14, 1);
	check_exact(&v[SUM], 0.14, CHANNELS);
	/* 1 % of the interval is not too long; how much longer than others it took does not matter. */
	step(p, 100 * ms);
	delay(ms, BEFORE_2, 0);
	read_all(s, v);
	CHECK_NUMBER(slow.looks, looks);
	CHECK_NUMBER(v[SUM].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
	close_slow(p, s);
}

/* Reads that are fast have stamps together; of a look that took long each is read again between its own. */
static void test_together(void)
{
	struct unc_platform *p = slow_machine();
	struct unc_session *s = channels(p);
	struct unc_value v[ITEMS];
	unsigned looks[5];

	slow.each = 100;
	start(s);
	for (int i = 0; i < 5; i++) {
		step(p, 100 * ms);
		delay(i == 1 ? 40 * ms : 0, 2, 0); /* behind all that is read together */
		read_all(s, v);
		looks[i] = slow.looks;
		CHECK_NUMBER(v[SUM].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH);
		CHECK_NEAR(v[SUM].interval, CHANNELS * rate * (i == 1 ? 0.14 : 0.1), 1e-4);
	}
	slow.each = 0;
	CHECK_NUMBER(looks[1], looks[0] + STAMPS); /* together, then each */
	CHECK_NUMBER(looks[2], looks[0] + STAMPS - 2);
	CHECK_NUMBER(looks[3], looks[0]);
	CHECK_NUMBER(looks[4], looks[0]);
	close_slow(p, s);
}

/* The second look is as slow: each channel has its own time, and what was not read at once says so. */
static void test_late(void)
{
	struct unc_platform *p = slow_machine();
	struct unc_session *s = channels(p);
	struct unc_value v[ITEMS];

	read_late(p, s, v);
	/* Channels 0, and 2 and 3, which have counted for 40 ms more: as many as in the 140 ms. */
	check_exact(&v[0], 0.14, 1);
	check_exact(&v[2], 0.14, 1);
	check_exact(&v[3], 0.14, 1);
	CHECK_NEAR(v[3].value, rate * 0.14, 1e-6);
	/* When channel 1 was read is not known better than to 40 ms. */
	CHECK_NUMBER(v[1].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH | LATE);
	CHECK_NUMBER(v[SUM].flags, UNC_VALUE_VALID | UNC_VALUE_FRESH | LATE);
	CHECK_NEAR(v[SUM].late, 0.04, 1e-9);
	CHECK_NEAR(v[SUM].interval_late, 0.04, 1e-9);
	CHECK_TEXT(unc_session_reason(s, SUM), "read over 40 ms of an interval of 140 ms");
	CHECK_TEXT(unc_session_reason(s, 0), "");
	/* The next interval begins late for the sum, and ends in time. */
	delay(0, 0, 0);
	step(p, 160 * ms);
	read_all(s, v);
	check_exact(&v[0], 0.2, 1);
	check_exact(&v[3], 0.2, 1);
	CHECK_NUMBER(v[SUM].flags & LATE, UNC_VALUE_INTERVAL_LATE);
	CHECK_TEXT(unc_session_reason(s, SUM), "read over 40 ms of an interval of 200 ms");
	step(p, 100 * ms);
	read_all(s, v);
	check_exact(&v[SUM], 0.1, CHANNELS);
	close_slow(p, s);
}

/* Where counting began is not known better than to 40 ms: a total is late until that is 1 % of it:
 * 4 s, and 40 ms. */
static void test_late_start(void)
{
	struct unc_platform *p = slow_machine();
	struct unc_session *s = channels(p);
	struct unc_value v[ITEMS];
	const unsigned first = 2; /* before that: when it began, and when counters were set */

	delay(40 * ms, first + BEFORE_2, first + STAMPS + BEFORE_2);
	start(s);
	delay(0, 0, 0);
	for (int i = 1; i <= 4; i++) {
		step(p, 1000 * ms);
		read_all(s, v);
		CHECK_NUMBER(v[SUM].flags & UNC_VALUE_LATE, i < 4 ? UNC_VALUE_LATE : 0);
		CHECK_NUMBER(v[SUM].flags & UNC_VALUE_INTERVAL_LATE,
			     i == 1 ? UNC_VALUE_INTERVAL_LATE : 0);
		CHECK_NEAR(v[3].value, rate * (i + 0.04), 1e-3);
	}
	/* A reset begins anew. */
	step(p, 100 * ms);
	CHECK_NUMBER(unc_session_reset(s), 0);
	step(p, 100 * ms);
	read_all(s, v);
	check_exact(&v[SUM], 0.1, CHANNELS);
	close_slow(p, s);
}

/* What has had no time of its own is late, though it was read in no time. */
static void test_no_time(void)
{
	struct unc_platform *p = slow_machine();
	struct unc_session *s = channels(p);
	struct unc_value v[ITEMS];

	read_late(p, s, v);
	delay(0, 0, 0);
	read_all(s, v); /* 40 ms later than the last, which has read channel 3 just now */
	CHECK_NEAR(v[3].interval, 0, 0);
	CHECK_NUMBER(v[3].flags & LATE, UNC_VALUE_INTERVAL_LATE);
	CHECK_NEAR(v[3].interval_late, 0.04, 1e-9);
	close_slow(p, s);
}

/* The reason is that of the last value, whatever the thread of the library has read since. */
static void test_reason_stays(void)
{
	struct unc_platform *p = slow_machine();
	struct unc_session *s = channels(p);
	struct unc_value v[ITEMS];

	read_late(p, s, v);
	step(p, 1000 * ms);
	pthread_mutex_lock(&s->run->lock);
	CHECK_NUMBER(unc_run_look(s->run, NULL), 0);
	pthread_mutex_unlock(&s->run->lock);
	CHECK_TEXT(unc_session_reason(s, SUM), "read over 40 ms of an interval of 140 ms");
	step(p, 9000 * ms);
	read_all(s, v);
	CHECK_NUMBER(v[SUM].flags & LATE, 0);
	CHECK_TEXT(unc_session_reason(s, SUM), "");
	close_slow(p, s);
}

/* A unit that was lost has a shorter time: a look that takes less than 1 % of all the time may take more
 * than 1 % of that. */
static void test_late_again(void)
{
	struct unc_platform *p = slow_machine();
	struct unc_session *s = channels(p);
	struct unc_value v[ITEMS];
	size_t first = 0;

	start(s);
	step(p, 500 * ms);
	unc_sim_write(unc_machine_sim(p->machine), reg_of(p, "imc", 0, 0, "CTL3"), 0);
	step(p, 500 * ms);
	read_all(s, v); /* finds that */
	step(p, 3000 * ms);
	read_all(s, v); /* channel 0 counts again */
	CHECK_NUMBER(v[0].flags & (UNC_VALUE_LOST | UNC_VALUE_VALID), UNC_VALUE_LOST);
	step(p, 500 * ms);
	while (s->run->group[first].first != 0)
		first++;
	CHECK_NUMBER(s->run->set[s->run->of[0]].unit->index, 0);
	delay(10 * ms, (unsigned)first + 2, STAMPS + (unsigned)first + 2); /* behind channel 0 */
	read_all(s, v);
	/* 10 ms of 4.5 s; but channel 0 has counted for 0.5 s. */
	CHECK_NUMBER(v[0].flags & ~(unsigned)UNC_VALUE_INTERVAL_LATE,
		     UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_ESTIMATED | UNC_VALUE_LATE);
	CHECK_NUMBER(v[SUM].flags & UNC_VALUE_LATE, UNC_VALUE_LATE);
	CHECK_NUMBER(v[3].flags & UNC_VALUE_LATE, 0);
	CU_ASSERT(v[0].late > 0.045);
	close_slow(p, s);
}

static int count_late(void *user, const struct unc_news *news)
{
	CHECK_NUMBER(news->kind, UNC_NEWS_MARK);
	CHECK_TEXT(news->mark->key, "late");
	CU_ASSERT(strncmp(news->text, "read over 40 ms of an interval of 140 ms", 40) == 0);
	++*(unsigned *)user;
	return 0;
}

/* It is news once, and again where no interval was late for an hour. */
static void test_news(void)
{
	static const unsigned minutes[] = {0, 59, 1, 59, 60};
	const unsigned news[] = {1, 0, 0, 0, 1}; /* of the sum of the channels */
	struct unc_platform *p = slow_machine();
	struct unc_session *s = session(p, 0);
	struct unc_value v;

	add(s, "imc.ACT_COUNT:socket=0");
	start(s);
	for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
		unsigned n = 0;

		step(p, minutes[i] * 60000 * ms);
		CHECK_NUMBER(unc_session_read(s, &v, 1, sizeof(v)), 0);
		CHECK_NUMBER(unc_session_news(s, count_late, &n), 0);
		CHECK_NUMBER(n, 0);
		step(p, 100 * ms);
		delay(40 * ms, BEFORE_2, STAMPS + BEFORE_2);
		CHECK_NUMBER(unc_session_read(s, &v, 1, sizeof(v)), 0);
		delay(0, 0, 0);
		CU_ASSERT(v.flags & UNC_VALUE_INTERVAL_LATE);
		CHECK_NUMBER(unc_session_news(s, count_late, &n), 0);
		CHECK_NUMBER(n, news[i]);
	}
	close_slow(p, s);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a look that took long is repeated", test_repeated},
		{"counters that are read together", test_together},
		{"counters that were not read at once", test_late},
		{"a start that was not at once", test_late_start},
		{"what has had no time", test_no_time},
		{"the reason of the last value", test_reason_stays},
		{"a unit that counts again", test_late_again},
		{"told once, and in an hour", test_news},
		{NULL, NULL},
	};

	return suite_run("session, late", tests);
}
