/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of virtual_clock.so: processes that share the time of a machine.
 *
 *   VIRTUAL_CROWD=FILE   they meet in this file, which the first of them makes
 *
 * The clock stands still while one of them runs. When all wait it moves to the first deadline, so
 * what a process does between two waits takes no time, however many others do something as well:
 * counts are rate times time to the last one. Who is killed or stopped is not waited for; who stood
 * still (`stall` of the room) is again when it goes on. A lock (fcntl) that another one holds, and
 * a ppoll() of no files, is a wait without a deadline. A process waits with one thread at a time.
 */
#include "virtual_crowd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_BYTE = 1 << 20, LOOK_MS = 5, TURNS = 16 };

static struct crowd *crowd;
static struct crowd_member *me;
static int crowd_file = -1;
static pthread_mutex_t one_waits = PTHREAD_MUTEX_INITIALIZER;

static void __attribute__((noreturn)) give_up(const char *what)
{
	dprintf(STDERR_FILENO, "virtual_crowd: %s: %s\n", what, strerror(errno));
	_exit(125);
}

/* ---- who is there */

static int byte_lock(int command, off_t byte, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

	if (syscall(SYS_fcntl, crowd_file, command, &lock) < 0)
		return -1;
	return lock.l_type;
}

static void enter(void)
{
	if (pthread_mutex_lock(&crowd->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&crowd->lock);
}

static void leave(void)
{
	pthread_mutex_unlock(&crowd->lock);
}

/* Stopped by a signal, and nobody knows when it goes on. */
static bool stopped(const struct crowd_member *m)
{
	char path[40], text[512];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)m->pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return true;
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *end = strrchr(text, ')');

	return !end || strchr("TtZX", end[2]);
}

static bool alive(const struct crowd_member *m)
{
	return byte_lock(F_OFD_GETLK, m - crowd->member, F_WRLCK) != F_UNLCK;
}

/* Whether all wait. `check`: it has taken long, so they may have ended. */
static bool all_wait(bool check)
{
	for (size_t i = 0; i < CROWD_MEMBERS; i++) {
		struct crowd_member *m = &crowd->member[i];

		if (m->state != CROWD_RUNS)
			continue;
		if (!check)
			return false;
		if (!alive(m))
			m->state = CROWD_GONE;
		else if (!stopped(m))
			return false;
		crowd->turn++;
	}
	return true;
}

/* ---- who goes on */

static void wake(struct crowd_member *m)
{
	m->state = CROWD_RUNS;
	m->woken++;
	syscall(SYS_futex, &m->woken, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Those whose deadline is not after `now`. */
static bool wake_until(uint64_t now)
{
	bool any = false;

	for (size_t i = 0; i < CROWD_MEMBERS; i++) {
		struct crowd_member *m = &crowd->member[i];

		if (m->state == CROWD_WAITS && (m->until <= now || m->look)) {
			any = true;
			wake(m);
		}
	}
	return any;
}

/* Two of those who want a lock: all of them would be in each other's way. */
static bool wake_some(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < CROWD_MEMBERS && n < 2; i++) {
		struct crowd_member *m = &crowd->member[i];

		if (m->state == CROWD_TRIES && m->until != crowd->turn) {
			m->until = crowd->turn;
			wake(m);
			n++;
		}
	}
	return n > 0;
}

static uint64_t first_deadline(void)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < CROWD_MEMBERS; i++)
		if (crowd->member[i].state == CROWD_WAITS && crowd->member[i].until < first)
			first = crowd->member[i].until;
	return first;
}

/* All wait: first the locks are tried again, then time goes on. Where nothing else is to come they
 * are tried now and then: somebody outside may have them. */
static void go_on(bool late)
{
	uint64_t first = first_deadline();

	if (late && first == UINT64_MAX) {
		machine_jump(); /* who stands still may have the lock */
		crowd->turn++;
	}
	if (wake_some())
		return;
	while (first != UINT64_MAX) {
		machine_move(first);
		if (wake_until(machine_time()) || !all_wait(true))
			break;
	}
	crowd->turn++;
}

/* Until woken. True: it takes long. Not all look at the same time whether somebody has ended; who
 * tries does not sleep longer than those that poll do. */
static bool sleep_on(uint32_t seen, bool look)
{
	long turn = look ? 0 : (me - crowd->member) % TURNS;
	struct timespec ms = {.tv_nsec = (turn + 1) * LOOK_MS * 1000000L};

	if (me->state == CROWD_TRIES)
		ms.tv_nsec = 2000000;

	return syscall(SYS_futex, &me->woken, FUTEX_WAIT, seen, &ms, NULL, 0) < 0 &&
	       errno == ETIMEDOUT;
}

static void wait_as(enum crowd_state state, uint64_t until, bool look)
{
	bool late = false;

	pthread_mutex_lock(&one_waits);
	enter();
	me->state = state;
	if (state == CROWD_WAITS)
		me->until = until;
	me->look = look;
	crowd->turn += state == CROWD_WAITS;
	while (me->state != CROWD_RUNS) {
		if (all_wait(late))
			go_on(late);
		if (me->state == CROWD_RUNS)
			break;
		uint32_t seen = me->woken;

		leave();
		late = sleep_on(seen, look);
		enter();
		if (late && look)
			me->state = CROWD_RUNS;
	}
	leave();
	pthread_mutex_unlock(&one_waits);
}

void crowd_wait(uint64_t until, bool look)
{
	wait_as(CROWD_WAITS, until, look);
}

static bool idles;

/* A thread of a program that is idle has slept for a while, and waits for others again. */
void crowd_rest(void)
{
	if (idles)
		virtual_clock_idle(1);
}

/* For a program that waits for something else than time. */
void virtual_clock_idle(int idle)
{
	if (!me)
		return;
	enter();
	idles = idle;
	me->state = idle ? CROWD_WAITS : CROWD_RUNS;
	me->until = UINT64_MAX;
	me->look = false;
	crowd->turn++;
	leave();
}

/* ---- locks */

static int lock_file(int fd, int command, void *lock)
{
	int once = command == F_SETLKW ? F_SETLK : F_OFD_SETLK;
	bool waited = false;
	long rc;

	while ((rc = syscall(SYS_fcntl, fd, once, lock)) < 0 &&
	       (errno == EAGAIN || errno == EACCES)) {
		waited = true;
		wait_as(CROWD_TRIES, 0, false);
	}
	if (waited) {
		enter();
		crowd->turn++;
		leave();
	}
	return (int)rc;
}

static int any_fcntl(int fd, int command, void *argument)
{
	if (me && (command == F_SETLKW || command == F_OFD_SETLKW))
		return lock_file(fd, command, argument);
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

int fcntl(int fd, int command, ...)
{
	va_list args;

	va_start(args, command);
	void *argument = va_arg(args, void *);
	va_end(args);
	return any_fcntl(fd, command, argument);
}

int fcntl64(int fd, int command, ...)
{
	va_list args;

	va_start(args, command);
	void *argument = va_arg(args, void *);
	va_end(args);
	return any_fcntl(fd, command, argument);
}

/* Who polls for nothing waits for somebody else. */
int ppoll(struct pollfd *files, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	struct timespec left = timeout ? *timeout : (struct timespec){0};

	if (me && n == 0 && timeout) {
		wait_as(CROWD_TRIES, 0, false);
		return 0;
	}
	return (int)syscall(SYS_ppoll, files, n, timeout ? &left : NULL, mask, (size_t)(_NSIG / 8));
}

/* ---- joining */

static void make_crowd(void)
{
	pthread_mutexattr_t shared;

	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&crowd->lock, &shared);
	pthread_mutexattr_destroy(&shared);
}

static void take_place(void)
{
	for (off_t i = 0; i < CROWD_MEMBERS; i++)
		if (byte_lock(F_OFD_SETLK, i, F_WRLCK) >= 0) {
			enter();
			me = &crowd->member[i];
			me->pid = getpid();
			me->state = CROWD_RUNS;
			leave();
			return;
		}
	give_up("too many processes");
}

static void __attribute__((destructor)) leave_crowd(void)
{
	if (!me)
		return;
	enter();
	me->state = CROWD_GONE;
	crowd->turn++; /* what it had is free */
	leave();
}

/* Of a process that was forked off the lock is its parent's as well. */
static void join_anew(void)
{
	munmap(crowd, sizeof(*crowd));
	close(crowd_file);
	crowd = NULL;
	me = NULL;
	pthread_mutex_init(&one_waits, NULL);
	crowd_join();
}

bool crowd_joined(void)
{
	return me != NULL;
}

void crowd_join(void)
{
	const char *path = getenv("VIRTUAL_CROWD");
	static bool follows;
	struct stat st;

	if (!path || !*path)
		return;
	crowd_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (crowd_file < 0 || byte_lock(F_OFD_SETLKW, FIRST_BYTE, F_WRLCK) < 0 ||
	    fstat(crowd_file, &st) < 0 || ftruncate(crowd_file, sizeof(*crowd)) < 0)
		give_up(path);
	crowd = mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE, MAP_SHARED, crowd_file, 0);
	if (crowd == MAP_FAILED)
		give_up(path);
	if (st.st_size == 0)
		make_crowd();
	byte_lock(F_OFD_SETLK, FIRST_BYTE, F_UNLCK);
	take_place();
	if (!follows)
		pthread_atfork(NULL, NULL, join_anew);
	follows = true;
}
