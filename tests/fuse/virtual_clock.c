/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD: a process lives in the time of a simulated machine (fuse_machine).
 *
 *   VIRTUAL_CLOCK=FILE   the machine's /clock; without it nothing changes
 *   VIRTUAL_CROWD=FILE   the clock is shared with other processes: virtual_crowd.c
 *   VIRTUAL_DELAYS="SEED ONE_IN LONGEST"
 *                        one of so many looks at the clock takes 0 to LONGEST ns, half of them
 *                        before it, half behind it: of a machine simulated in the process each
 *                        access, and what its time is taken for, is such a look
 *   VIRTUAL_WAKES=FILE   two words of 64 bits that are counted up: how often a thread that waited
 *                        went on because its time had come, and because another one woke it
 *
 * Who waits moves the clock to the end of the wait at once, or to what happens at the machine
 * before it. Who waits for a child does not: the child lives in the same time, and moves it. A
 * thread that waits for a condition never moves the clock, but is not left behind: whoever does
 * stops at its deadline until the thread waits again, does not go on before one that another has
 * woken waits again, and does not start before a new thread has come to its first wait. One that
 * cannot go on, for a sleeper has its lock, is not waited for. A wait of no time takes 1 ns, so
 * that who polls gets on. poll() and its kind are not known here; they wait for real.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "delays.h"
#include "virtual_crowd.h"

enum { MAX_WAITERS = 256, PATIENCE_MS = 5000, MOST_MS = 64 };

static const uint64_t second = 1000000000;
/* What the clocks of a process show when the machine is switched on. */
static const uint64_t monotonic_base = 3600, realtime_base = 1700000000;

static int file = -1;
static struct delays delays;

/* Threads that wait, and how many work: were woken, and do not wait for a time again yet. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiter {
	bool used, woken;
	uint64_t deadline;
	pthread_cond_t *cond;   /* NULL: it sleeps, or is to go on as soon as it has the mutex */
	pthread_mutex_t *mutex; /* NULL: it sleeps */
	pid_t thread;
} waiter[MAX_WAITERS];
static unsigned awake;
static pthread_key_t awake_key;    /* not NULL: the thread is one of them */
static _Atomic uint64_t *woken_by; /* NULL: nobody asks */
enum { BY_TIME, BY_THREAD };

/* ---- the machine's time */

static void asleep(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	awake -= awake > 0;
	pthread_mutex_unlock(&lock);
}

static void count_wakes(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *at = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, 2 * sizeof(*woken_by)) == 0)
		at = mmap(NULL, 2 * sizeof(*woken_by), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		fprintf(stderr, "virtual_clock: %s: %s\n", path, strerror(errno));
		_exit(125);
	}
	woken_by = at;
	close(fd);
}

static void woke(int by)
{
	if (woken_by)
		woken_by[by]++;
}

static void __attribute__((constructor)) begin(void)
{
	const char *path = getenv("VIRTUAL_CLOCK"), *text;

	if (!path || !*path)
		return;
	pthread_key_create(&awake_key, asleep);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0) {
		fprintf(stderr, "virtual_clock: %s: %s\n", path, strerror(errno));
		_exit(125);
	}
	crowd_join();
	if ((text = getenv("VIRTUAL_WAKES")) && *text)
		count_wakes(text);
	if ((text = getenv("VIRTUAL_DELAYS")) && *text &&
	    sscanf(text, "%" SCNu64 "%" SCNu64 "%" SCNu64, &delays.state, &delays.one_in,
		   &delays.longest) != 3) {
		fprintf(stderr, "virtual_clock: VIRTUAL_DELAYS=\"SEED ONE_IN LONGEST\"\n");
		_exit(125);
	}
}

uint64_t machine_time(void)
{
	char text[40];
	unsigned long long whole, part;
	ssize_t n = pread(file, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (n <= 0 || sscanf(text, "%llu.%9llu", &whole, &part) != 2) {
		dprintf(STDERR_FILENO, "virtual_clock: the machine is gone\n");
		_exit(125);
	}
	return whole * second + part;
}

static void real_pause(void)
{
	struct timespec ms = {.tv_nsec = 1000000};

	syscall(SYS_nanosleep, &ms, NULL);
}

void machine_move(uint64_t until)
{
	char text[48];
	int n = snprintf(text, sizeof(text), "=%llu.%09llu", (unsigned long long)(until / second),
			 (unsigned long long)(until % second));

	if (pwrite(file, text, (size_t)n, 0) < 0)
		real_pause();
}

void machine_jump(void)
{
	if (pwrite(file, "-", 1, 0) < 0)
		real_pause();
}

/* Who waits for a condition or a mutex goes on with the mutex only. One that sleeps may hold that,
 * or one that is held up itself, or the one that moves the clock: then it is over for the waiter
 * when they let go. */
static bool held_up(size_t which)
{
	pid_t owner = waiter[which].mutex ? waiter[which].mutex->__data.__owner : 0;

	for (size_t i = 0; i < MAX_WAITERS && owner; i++)
		if (i != which && waiter[i].used && !waiter[i].cond && waiter[i].thread == owner)
			return !waiter[i].mutex || held_up(i);
	return owner && owner == gettid();
}

/* How many work. The lock is held. */
static unsigned working(void)
{
	unsigned held = 0; /* they were told to go on, and cannot */

	for (size_t i = 0; i < MAX_WAITERS; i++)
		held += waiter[i].used && waiter[i].woken && held_up(i);
	return awake > held ? awake - held : 0;
}

/* The earliest deadline up to `until` of a thread that waits, once none is awake. */
static uint64_t next_deadline(uint64_t until, size_t *which)
{
	for (int ms = 0;; ms++, pthread_mutex_unlock(&lock), real_pause()) {
		pthread_mutex_lock(&lock);
		unsigned left = working();

		if (left && ms < PATIENCE_MS)
			continue;
		if (left)
			dprintf(STDERR_FILENO, "virtual_clock: a thread does not wait for time: "
					       "the clock goes on without it\n");
		awake -= left;
		*which = MAX_WAITERS;
		for (size_t i = 0; i < MAX_WAITERS; i++)
			if (waiter[i].used && !waiter[i].woken && waiter[i].deadline <= until &&
			    !held_up(i)) {
				*which = i;
				until = waiter[i].deadline;
			}
		pthread_mutex_unlock(&lock);
		return until;
	}
}

/* The condition as it is now: in the GNU C library these two have an older version as well. */
static int real_wake(pthread_cond_t *cond, const char *name)
{
	union {
		void *found;
		int (*call)(pthread_cond_t *);
	} real = {.found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2")};

	if (!real.found)
		real.found = dlsym(RTLD_NEXT, name);
	return real.call(cond);
}

/* Whether a thread still waits for that time; then it looks at the clock. */
static bool still_waits(size_t which, uint64_t deadline)
{
	pthread_cond_t *cond = NULL;

	pthread_mutex_lock(&lock);
	bool waits = waiter[which].used && waiter[which].deadline == deadline && !held_up(which);

	if (waits && (cond = waiter[which].cond) != NULL)
		real_wake(cond, "pthread_cond_broadcast");
	pthread_mutex_unlock(&lock);
	return waits;
}

/* Moves the clock towards `target`, up to what happens at the machine or in a thread before.
 * `look`: whoever waits looks for something else as well. */
static void drive(uint64_t target, bool look)
{
	size_t which = MAX_WAITERS;
	uint64_t until = next_deadline(target, &which);

	if (crowd_joined())
		crowd_wait(until, look);
	else
		machine_move(until);
	while (which < MAX_WAITERS && machine_time() >= until && still_waits(which, until))
		real_pause();
}

static uint64_t of_timespec(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * second + (uint64_t)t->tv_nsec;
}

/* A new thread is awake. */
struct beginning {
	void *(*run)(void *);
	void *arg;
};

static void *begin_thread(void *user)
{
	struct beginning beginning = *(struct beginning *)user;

	free(user);
	pthread_setspecific(awake_key, &awake_key);
	return beginning.run(beginning.arg);
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
		   void *(*run)(void *), void *restrict arg)
{
	union {
		void *found;
		int (*call)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	} real = {.found = dlsym(RTLD_NEXT, "pthread_create")};
	struct beginning *beginning = file < 0 ? NULL : malloc(sizeof(*beginning));

	if (!beginning)
		return real.call(thread, attributes, run, arg);
	*beginning = (struct beginning){run, arg};
	pthread_mutex_lock(&lock);
	awake++;
	pthread_mutex_unlock(&lock);
	int rc = real.call(thread, attributes, begin_thread, beginning);

	if (rc) {
		free(beginning);
		asleep(NULL);
	}
	return rc;
}

static void waits_again(void)
{
	if (pthread_getspecific(awake_key)) {
		pthread_setspecific(awake_key, NULL);
		asleep(NULL);
	}
}

/* It works again: the clock does not move until it waits. */
static void wakes(void)
{
	pthread_mutex_lock(&lock);
	awake++;
	pthread_mutex_unlock(&lock);
	pthread_setspecific(awake_key, &awake_key);
}

static size_t list(struct waiter one)
{
	size_t i = 0;

	one.used = true;
	one.thread = gettid();
	pthread_mutex_lock(&lock);
	while (i < MAX_WAITERS && waiter[i].used)
		i++;
	if (i == MAX_WAITERS)
		abort();
	waiter[i] = one;
	pthread_mutex_unlock(&lock);
	return i;
}

static size_t enter(uint64_t deadline, pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	size_t i = list((struct waiter){.deadline = deadline, .cond = cond, .mutex = mutex});

	waits_again();
	return i;
}

/* Who waits for a mutex waits for another thread, which may be the one that moves the clock. It
 * goes on as soon as that lets go, not only when it runs again. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static const struct timespec never = {.tv_sec = (time_t)1 << 36};
	int rc = pthread_mutex_trylock(mutex);

	if (rc != EBUSY)
		return rc;
	bool counts = file >= 0 && mutex != &lock && pthread_getspecific(awake_key);
	size_t i = counts ? list((struct waiter){.woken = true, .mutex = mutex}) : 0;

	rc = pthread_mutex_timedlock(mutex, &never);
	if (!counts)
		return rc;
	pthread_mutex_lock(&lock);
	waiter[i].used = false;
	pthread_mutex_unlock(&lock);
	return rc;
}

static bool woken(size_t i)
{
	pthread_mutex_lock(&lock);
	bool is = waiter[i].woken;
	pthread_mutex_unlock(&lock);
	return is;
}

/* `works`: the clock does not move until it waits again. Who was woken by another thread is counted
 * since then. */
static void leave(size_t i, bool works)
{
	pthread_mutex_lock(&lock);
	waiter[i].used = false;
	awake += works && !waiter[i].woken;
	works |= waiter[i].woken;
	pthread_mutex_unlock(&lock);
	if (works)
		pthread_setspecific(awake_key, &awake_key);
}

/* One thread moves the clock. Others that sleep meanwhile are to it as those that wait. */
static atomic_bool at_wheel;

static bool take_wheel(void)
{
	return !atomic_exchange(&at_wheel, true);
}

/* Who was woken by the clock works until it waits again, before the one that moved it goes on. */
static void let_work(void)
{
	for (int ms = 0; ms < PATIENCE_MS; ms++, real_pause()) {
		pthread_mutex_lock(&lock);
		unsigned left = working();
		pthread_mutex_unlock(&lock);
		if (!left)
			return;
	}
}

static void sleep_until(uint64_t target)
{
	bool counts = pthread_getspecific(awake_key) != NULL, wheel = take_wheel();

	if (machine_time() < target)
		woke(BY_TIME);
	if (!wheel) {
		size_t i = enter(target, NULL, NULL);

		/* Who has the wheel may leave it, to wait for this thread. */
		while (machine_time() < target && !(wheel = take_wheel()))
			real_pause();
		leave(i, !wheel);
	}
	if (!wheel)
		return;
	waits_again();
	while (machine_time() < target)
		drive(target, false);
	if (counts)
		wakes();
	at_wheel = false;
	if (!counts)
		let_work();
}

/* ---- clocks */

/* What a clock shows at time 0 of the machine; false: it is none of these. */
static bool base_of(clockid_t clock, uint64_t *base)
{
	switch (clock) {
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_BOOTTIME:
		*base = monotonic_base * second;
		return true;
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		*base = realtime_base * second;
		return true;
	default:
		return false;
	}
}

/* Whoever looks at the clock is held up by the schedule, if there is one. */
static uint64_t delayed_time(void)
{
	uint64_t before, behind, now;

	pthread_mutex_lock(&lock);
	bool late = delays_next(&delays, &before, &behind);
	pthread_mutex_unlock(&lock);
	if (late && before)
		sleep_until(machine_time() + before);
	now = machine_time();
	if (late && behind)
		sleep_until(now + behind);
	return now;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	uint64_t base;

	if (file < 0 || !base_of(clock, &base))
		return (int)syscall(SYS_clock_gettime, clock, out);
	base += delayed_time();
	*out = (struct timespec){.tv_sec = (time_t)(base / second),
				 .tv_nsec = (long)(base % second)};
	return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

/* ---- sleeping */

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
		    struct timespec *left)
{
	uint64_t base, target = of_timespec(wanted);

	if (file < 0 || !base_of(clock, &base))
		return syscall(SYS_clock_nanosleep, clock, flags, wanted, left) < 0 ? errno : 0;
	if (flags & TIMER_ABSTIME)
		target = target > base ? target - base : 0;
	else
		target += machine_time();
	sleep_until(target);
	return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	int rc = clock_nanosleep(CLOCK_MONOTONIC, 0, wanted, left);

	if (rc)
		errno = rc;
	return rc ? -1 : 0;
}

int usleep(useconds_t us)
{
	return nanosleep(
		&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L}, NULL);
}

unsigned sleep(unsigned s)
{
	nanosleep(&(struct timespec){.tv_sec = s}, NULL);
	return 0;
}

/* ---- waiting for signals */

static int real_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	return (int)syscall(SYS_rt_sigtimedwait, set, info, timeout, (size_t)(_NSIG / 8));
}

/* Does the wait end by a child, which moves the clock itself? */
static bool child_moves(const sigset_t *set)
{
	siginfo_t info;

	return sigismember(set, SIGCHLD) == 1 &&
	       waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
		 const struct timespec *restrict timeout)
{
	if (file < 0 || !timeout)
		return real_sigtimedwait(set, info, timeout);
	uint64_t length = of_timespec(timeout), target = machine_time() + (length ? length : 1);

	waits_again();
	for (;;) {
		bool other = child_moves(set), over = machine_time() >= target;
		struct timespec look = {.tv_nsec = other && !over ? 1000000 : 0};
		int number = real_sigtimedwait(set, info, &look);

		if (number >= 0 || errno != EAGAIN || over)
			return number;
		if (!other && take_wheel()) {
			drive(target, true);
			at_wheel = false;
		} else if (!other) { /* a thread sleeps, not beyond this moment */
			size_t i = enter(target, NULL, NULL);

			real_pause();
			leave(i, false);
		}
	}
}

/* ---- waiting for a condition */

/* The clock of the condition is not told; a deadline tells, for the two are years apart. */
static uint64_t machine_deadline(const struct timespec *until)
{
	uint64_t base = (uint64_t)until->tv_sec >= realtime_base ? realtime_base : monotonic_base;
	uint64_t at = of_timespec(until);

	return at > base * second ? at - base * second : 0;
}

static void real_deadline(struct timespec *t, long ms)
{
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, t);
	t->tv_nsec += ms * 1000000;
	if (t->tv_nsec >= (long)second) {
		t->tv_nsec -= (long)second;
		t->tv_sec++;
	}
}

static const uint64_t no_deadline = UINT64_MAX;

static bool is_over(uint64_t deadline)
{
	return deadline != no_deadline && machine_time() >= deadline;
}

/* Each looks now and then whether it was told to go on: one that is told is as good as another. */
static int wait_for(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t deadline)
{
	size_t i = enter(deadline, cond, mutex);
	struct timespec look;
	bool over = is_over(deadline);
	int rc = ETIMEDOUT;

	crowd_rest();
	for (long ms = 1; rc == ETIMEDOUT && !is_over(deadline); ms += ms < MOST_MS ? ms : 0) {
		real_deadline(&look, ms);
		rc = pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &look);
		if (rc == 0 || rc == ETIMEDOUT) /* nobody has told it, but to look at the clock */
			rc = woken(i) ? 0 : ETIMEDOUT;
	}
	leave(i, rc == ETIMEDOUT);
	if (!over)
		woke(rc == ETIMEDOUT ? BY_TIME : BY_THREAD);
	return rc;
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
			   const struct timespec *restrict until)
{
	if (file >= 0)
		return wait_for(cond, mutex, machine_deadline(until));
	return pthread_cond_clockwait(
		cond, mutex,
		(uint64_t)until->tv_sec > 1000000000 ? CLOCK_REALTIME : CLOCK_MONOTONIC, until);
}

/* Without a deadline it is no wait for time; who is told to go on is waited for all the same. */
int pthread_cond_wait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex)
{
	static const struct timespec never = {.tv_sec = (time_t)1 << 36};

	if (file >= 0)
		return wait_for(cond, mutex, no_deadline);
	return pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &never);
}

static int wake(pthread_cond_t *cond, const char *name)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAX_WAITERS; i++)
		if (waiter[i].used && waiter[i].cond == cond && !waiter[i].woken) {
			waiter[i].woken = true;
			awake++;
		}
	pthread_mutex_unlock(&lock);
	return real_wake(cond, name);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	return wake(cond, "pthread_cond_signal");
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	return wake(cond, "pthread_cond_broadcast");
}
