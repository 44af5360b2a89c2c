/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions and threads: the one that looks in before a counter wraps twice, and those of the
 * program. With the wall clock, for there is no thread where the clock is stepped; but nothing here
 * depends on how fast the machine is.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session_kit.h"

#define SNB_WALL "sandybridge-ep"

static const double uclk = 2.7e9, dclk = 0.8e9; /* eventtables/sandybridge-ep/workload.tbl */

static pthread_t main_thread;

static void wait_ms(long n)
{
	struct timespec t = {n / 1000, n % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Locks that the calling thread has taken since they were forgotten. */
static pthread_mutex_t *taken[64];
static unsigned n_taken;
static pthread_mutex_t
	*ends_under; /* as in a signal handler that calls exit() while this thread has it */

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (mutex == ends_under) {
		REAL(pthread_mutex_lock)(mutex);
		ends_under = NULL;
		exit(0);
	}
	if (pthread_equal(pthread_self(), main_thread) && n_taken < 64)
		taken[n_taken++] = mutex;
	return REAL(pthread_mutex_lock)(mutex);
}

static uint64_t total_of(struct unc_session *s)
{
	pthread_mutex_lock(&s->run->lock);
	uint64_t total = s->run->counter[0].total;
	pthread_mutex_unlock(&s->run->lock);
	return total;
}

/* How much faster counters are said to count in a second than they do: they are looked at so much more
 * often. */
static double hurried = 1;

double unc_code_most(const struct unc_code *code, uint64_t ns)
{
	return REAL(unc_code_most)(code, ns) * (ns == 1000000000 ? hurried : 1);
}

/* Counters are looked at although nobody reads. */
static void test_watcher(void)
{
	struct unc_platform *p = machine(SNB_WALL);
	struct unc_session *s = session(p, 0);
	uint64_t first = 0, second = 0;

	int id = add(s, "cbo0.CLOCKTICKS:socket=0");
	hurried = 17592186044416.0 / 5e9 / 16 / 0.05; /* each 50 ms, for 44 bits */
	start(s);
	hurried = 1;
	for (int i = 0; i < 200 && !first; i++, wait_ms(20))
		first = total_of(s);
	for (int i = 0; i < 200 && second <= first; i++, wait_ms(20))
		second = total_of(s);
	CU_ASSERT(first > 0);
	CU_ASSERT(second > first);
	/* and the user's interval has not been ended by it */
	struct unc_value v = value_of(s, id);
	CHECK_NUMBER(v.delta, v.count);
	CU_ASSERT(v.count >= second);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Calls of a program, with what they change. */
static void call_read(struct unc_session *s)
{
	(void)value_of(s, 0);
}
static void call_reset(struct unc_session *s)
{
	CHECK_NUMBER(unc_session_reset(s), 0);
}
/* As the thread does it. */
static void call_turn(struct unc_session *s)
{
	CHECK_NUMBER(s->n_passes, 2);
	CHECK_NUMBER(turn_pass(s), 0);
}
static void call_reason(struct unc_session *s)
{
	CU_ASSERT_PTR_NOT_NULL(unc_session_reason(s, 0));
}
static void call_partial(struct unc_session *s)
{
	CHECK_TEXT(unc_session_partial(s, 0), "");
}
static void call_turns(struct unc_session *s)
{
	CHECK_NUMBER(unc_session_turns(s, 0), 0);
}
static void call_unprotected(struct unc_session *s)
{
	CHECK_TEXT(unc_session_unprotected(s), "");
}
static void call_stop(struct unc_session *s)
{
	CHECK_NUMBER(unc_session_stop(s), 0);
}

enum which_lock { RUN = 1, WATCH = 2, PROGRAM = 4 };

static void (*const call[])(struct unc_session *) = {call_read,        call_reset,   call_turn,
						     call_reason,      call_partial, call_turns,
						     call_unprotected, call_stop};
static const unsigned call_locks[] = {RUN, RUN,         RUN | PROGRAM, RUN,
				      RUN, RUN | WATCH, PROGRAM,       RUN | WATCH | PROGRAM};

/* Who looks in does so by a lock: what changes counts takes it, as a read does; so do others that
 * another thread may stand in the way of. Afterwards the call holds none: the watching thread may
 * for a moment, so a lock is waited for; one left behind never comes, and the wait fails. */
static void test_locked(void)
{
	struct timespec late;
	struct unc_platform *p = machine(SNB_WALL);
	struct unc_session *s = session(p, UNC_SESSION_ROTATE);

	add(s, "cbo0.CLOCKTICKS:socket=0");
	/* One filter for all four: two passes. */
	add(s, "cbo.TOR_INSERTS:OPCODE:opc=0x182");
	add(s, "cbo.TOR_INSERTS:OPCODE:opc=0x180");
	main_thread = pthread_self();
	start(s);
	pthread_mutex_t *lock[] = {&s->run->lock, &p->watch.lock, &p->program};

	clock_gettime(CLOCK_REALTIME, &late);
	late.tv_sec += 60;
	for (size_t i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
		unsigned locks = 0;

		n_taken = 0;
		call[i](s);
		for (unsigned k = 0; k < n_taken; k++)
			for (unsigned n = 0; n < 3; n++)
				locks |= (unsigned)(taken[k] == lock[n]) << n;
		CHECK_NUMBER(locks & call_locks[i], call_locks[i]);
		for (unsigned n = 0; n < 3; n++) {
			CHECK_NUMBER(pthread_mutex_timedlock(lock[n], &late), 0);
			pthread_mutex_unlock(lock[n]);
		}
	}
	unc_session_free(s);
	unc_platform_close(p);
}

/* By itself it looks in long before a wrap: 20 each clock (table 2-14), 44 bits. */
static void test_watch_interval(void)
{
	struct unc_platform *p = machine(SNB_WALL);
	struct unc_session *s = session(p, 0);

	add(s, "cbo0.TOR_OCCUPANCY:ALL:socket=0");
	start(s);
	CHECK_NEAR((double)s->run->look_ns * 1e-9, 17592186044416.0 / (5e9 * 20) / 16, 1e-9);
	CU_ASSERT(s->run->watch != UNC_UNWATCHED);
	CU_ASSERT_PTR_EQUAL(p->watch.first, s->run);
	CHECK_NUMBER(unc_session_stop(s), 0);
	CHECK_NUMBER(s->run->watch, UNC_UNWATCHED);
	CU_ASSERT_PTR_NULL(p->watch.first);
	unc_session_free(s);
	unc_platform_close(p);
}

/* Whether a thread can be made. */
static bool no_thread;

int unc_thread_new(pthread_t *thread, void *(*run)(void *), void *user)
{
	return no_thread ? EAGAIN : REAL(unc_thread_new)(thread, run, user);
}

/* Nobody would look in: it does not start, and leaves nothing behind. */
static void test_no_thread(void)
{
	struct unc_platform *p = machine(SNB_WALL);
	struct snapshot before = snapshot(p);
	struct unc_session *s = session(p, 0);
	struct unc_value v;

	add(s, "cbo0.TOR_OCCUPANCY:ALL:socket=0");
	no_thread = true;
	CHECK_NUMBER(unc_session_start(s), UNC_ERR_MEMORY);
	no_thread = false;
	CHECK_TEXT(unc_session_error(s), "no thread could be made to watch for wraps: Resource "
					 "temporarily unavailable");
	CHECK_NUMBER(unc_session_read(s, &v, 1, sizeof(v)), UNC_ERR_STATE);
	CHECK_TEXT(unc_session_error(s), "the session was not started, or its start failed");
	CHECK_RESTORED(p, before);
	CHECK_NUMBER(held_registers(p), 0);
	start(s);
	CHECK_NUMBER(unc_session_stop(s), 0);
	unc_session_free(s);
	unc_platform_close(p);
}

static int threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int n = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(tasks);
	while (readdir(tasks))
		n++;
	closedir(tasks);
	return n - 2; /* . and .. */
}

/* A thread that was waited for may be told of for a moment. */
static bool await_threads(int n)
{
	for (int i = 0; i < 60000 && threads() != n; i++)
		wait_ms(1);
	return threads() == n;
}

/* One thread for all sessions of a platform, whatever each of them counts, as long as one of them needs it.
 * What the kernel counts does not wrap. */
static void test_one_thread(void)
{
	enum { MANY = 64, UNITS = 16 };
	struct unc_platform *p = machine(SNB_WALL), *kernel = machine(SNB_WALL ",kernel=on");
	struct unc_session *s[MANY], *still = session(kernel, 0);
	int before = threads();

	for (int i = 0; i < MANY; i++) {
		char text[64];

		snprintf(text, sizeof(text), "cbo%d.TOR_OCCUPANCY:ALL:socket=%d", i % UNITS / 2,
			 i % 2);
		s[i] = session(p, 0);
		add(s[i], text);
		start(s[i]);
		CHECK_NUMBER(s[i]->run == s[i % UNITS]->run, 1);
		CHECK_NUMBER(i == 0 || i >= UNITS || s[i]->run != s[i - 1]->run, 1);
		CHECK_NUMBER(threads(), before + 1);
	}
	for (int i = 0; i < MANY; i++) {
		CHECK_NUMBER(threads(), before + 1);
		CHECK_NUMBER(unc_session_stop(s[i]), 0);
		unc_session_free(s[i]);
	}
	CU_ASSERT(await_threads(before));
	add(still, "imc.CAS_COUNT:RD");
	start(still);
	CHECK_NUMBER(threads(), before);
	unc_platform_close(p);
	unc_session_free(still);
	unc_platform_close(kernel);
}

/* Four events for the four counters of a channel. Accesses per second of a channel: 0.961e8. */
static const struct shared_event {
	const char *text;
	double rate;
} shared_events[] = {
	{"imc.CAS_COUNT:RD", 8 * (2.7e8 + 0.002e8) / 4},
	{"imc.CAS_COUNT:WR", 8 * 1.142e8 / 4},
	{"imc.ACT_COUNT", 8 * 0.35 * 0.961e8},
	{"imc.PRE_COUNT:PAGE_MISS", 8 * 0.22 * 0.961e8},
};

struct worker {
	struct unc_platform *p;
	const struct shared_event *event;
	pthread_barrier_t *together;
	unsigned failed;
};

/* Each unit in its own time, or told to be late: a thread may have had to wait in a look. */
static bool within(const struct unc_value *v, double seconds, double rate)
{
	double expected = rate * seconds;

	return v->flags & UNC_VALUE_LATE ||
	       (v->value > 0.99 * expected && v->value < 1.01 * expected);
}

/* Controls of a running session that are not as it set them. */
static unsigned lost_controls(struct unc_session *s)
{
	struct unc_platform *p = s->platform;
	unsigned lost = 0;

	for (size_t i = 0; i < s->run->n_sets; i++)
		for (size_t k = 0; k < unc_held(&s->run->set[i])->n_controls; k++) {
			const struct unc_setting *set = &unc_held(&s->run->set[i])->setting[k];
			struct unc_reg reg = {0};

			unc_instance_reg(p->table, s->run->set[i].unit, set->reg, &reg, NULL);
			lost += unc_sim_read(unc_machine_sim(p->machine),
					     unc_sim_find(unc_machine_sim(p->machine), &reg)) !=
				set->value;
		}
	return lost;
}

/* Starts and stops as fast as it can. */
static void hurry(struct worker *w, struct unc_session *s)
{
	for (int i = 0; i < 500; i++) {
		w->failed += unc_session_start(s) != 0;
		w->failed += lost_controls(s);
		w->failed += unc_session_stop(s) != 0;
	}
}

/* Its own sessions on units that the others use as well. */
static void *work(void *user)
{
	struct worker *w = user;

	for (int i = 0; i < 10; i++) {
		struct unc_session *s;
		struct unc_value v[3] = {{0}};
		int id[3] = {0};

		if (unc_session_new(w->p, 0, &s) < 0)
			abort(); /* the others wait for this one */
		w->failed += unc_session_add(s, "cbo.CLOCKTICKS", &id[0]) != 0;
		w->failed += unc_session_add(s, w->event->text, &id[1]) != 0;
		w->failed += unc_session_add(s, "imc.DCLK", &id[2]) != 0;
		pthread_barrier_wait(w->together);
		w->failed += unc_session_start(s) != 0;
		wait_ms(3);
		w->failed += unc_session_read(s, v, 3, sizeof(*v)) != 0;
		/* Nobody stopped it or took its counter in between. */
		double t = 0;
		w->failed += unc_session_time(s, &t, NULL) != 0 || !(t > 0);
		w->failed += unc_session_stop(s) != 0;
		w->failed += !within(&v[id[0]], t, uclk);
		w->failed += !within(&v[id[1]], t, w->event->rate);
		w->failed += !within(&v[id[2]], t, dclk);
		if (i == 0)
			hurry(w, s);
		unc_session_free(s);
	}
	return NULL;
}

static void test_threads(void)
{
	struct unc_platform *p = machine(SNB_WALL);
	struct snapshot before = snapshot(p);
	struct worker worker[4];
	pthread_t thread[4];
	pthread_barrier_t together;

	CU_ASSERT_FATAL(pthread_barrier_init(&together, NULL, 4) == 0);
	for (int i = 0; i < 4; i++) {
		worker[i] = (struct worker){p, &shared_events[i], &together, 0};
		CU_ASSERT_FATAL(pthread_create(&thread[i], NULL, work, &worker[i]) == 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		CHECK_NUMBER(worker[i].failed, 0);
	}
	pthread_barrier_destroy(&together);
	CHECK_RESTORED(p, before);
	check_quiet(p);
	unc_platform_close(p);
}

/* ---- the end of a program that counts */

/* How the child ends; one that hangs is killed. */
static int status_of(pid_t child)
{
	int status = -1;

	CHECK_NUMBER(waitpid(child, &status, 0), child);
	return status;
}

static pid_t child(void)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		alarm(60);
	return pid;
}

/* exit() in a signal handler, while the thread starts another session. */
static void test_exit_within(void)
{
	pid_t pid = child();

	if (pid == 0) {
		struct unc_platform *p = machine(SNB_WALL);
		struct unc_session *a = session(p, 0), *b = session(p, 0);

		add(a, "cbo0.CLOCKTICKS:socket=0");
		add(b, "imc0.DCLK:socket=0");
		if (unc_session_start(a) < 0)
			_exit(1);
		ends_under = &p->program;
		(void)unc_session_start(b);
		_exit(1);
	}
	CHECK_NUMBER(status_of(pid), 0);
}

/* Sessions one after the other, of which another thread does not wait for the end. */
static void *begin_anew(void *user)
{
	for (;;) {
		struct unc_session *s;
		int id;

		if (unc_session_new(user, 0, &s) < 0 ||
		    unc_session_add(s, "cbo.CLOCKTICKS", &id) < 0 || unc_session_start(s) < 0 ||
		    unc_session_stop(s) < 0 || unc_session_add(s, "imc.DCLK", &id) < 0 ||
		    unc_session_start(s) < 0)
			pause(); /* it was stopped: the process ends */
		unc_session_free(s);
	}
	return NULL;
}

static void test_exit_beside(void)
{
	for (long i = 0; i < 10; i++) {
		pid_t pid = child();

		if (pid == 0) {
			struct unc_platform *p = machine(SNB_WALL);
			pthread_t thread;

			if (pthread_create(&thread, NULL, begin_anew, p))
				_exit(1);
			wait_ms(5 + i);
			exit(0);
		}
		CHECK_NUMBER(status_of(pid), 0);
	}
}

/* A child that was forked beside a thread that makes sessions, and gives back what it has. */
static void test_exit_of_child(void)
{
	struct unc_platform *p = machine(SNB_WALL);
	struct unc_session *s = session(p, 0);

	add(s, "cbo0.CLOCKTICKS:socket=0");
	CHECK_NUMBER(unc_session_start(s), 0);
	pid_t pid = child();
	if (pid == 0) {
		unc_session_free(s);
		unc_platform_close(p);
		exit(0);
	}
	CHECK_NUMBER(status_of(pid), 0);
	unc_session_free(s);
	unc_platform_close(p);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"counters are looked at in between", test_watcher},
		{"one thread for all", test_one_thread},
		{"calls that change counts take the lock", test_locked},
		{"how often", test_watch_interval},
		{"no thread", test_no_thread},
		{"sessions in threads", test_threads},
		{"exit() while a thread programs", test_exit_within},
		{"exit() beside a thread that counts", test_exit_beside},
		{"exit() of a forked process", test_exit_of_child},
		{NULL, NULL},
	};

	return suite_run("session, threads", tests);
}
