/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger of the node: two that open its file know of each other, those that have ended are
 * known wherever they were, and what is wrong with the file is said in a sentence.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_root.h"
#include "host/ledger.h"
#include "suite.h"

/* ---- time does not pass by waiting, and a process dies at a write of its choice */

static unsigned naps;
static uint64_t waited;      /* ns */
static bool others_turns;    /* somebody else has the lock in turn with us */
static unsigned writes_left; /* 0: all pass */
static unsigned writes;

static void take_turn(void);

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	(void)fds, (void)n, (void)mask;
	naps++;
	/* A busy machine: it takes longer than was asked for. */
	waited += (uint64_t)t->tv_nsec + 10000000;
	if (others_turns)
		take_turn();
	return 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock != CLOCK_MONOTONIC_COARSE)
		return REAL(clock_gettime)(clock, t);
	t->tv_sec = (time_t)(waited / 1000000000);
	t->tv_nsec = (long)(waited % 1000000000);
	return 0;
}

static unsigned calls, asked; /* of the system; whether a process lives */

ssize_t pread(int fd, void *buf, size_t size, off_t at)
{
	calls++;
	return REAL(pread)(fd, buf, size, at);
}

int fcntl(int fd, int command, ...)
{
	va_list args;

	va_start(args, command);
	void *argument = va_arg(args, void *);
	va_end(args);
	calls++;
	return REAL(fcntl)(fd, command, argument);
}

int kill(pid_t pid, int number)
{
	calls++;
	asked += number == 0;
	return REAL(kill)(pid, number);
}

ssize_t pwrite(int fd, const void *buf, size_t size, off_t at)
{
	ssize_t n = REAL(pwrite)(fd, buf, size, at);

	calls++;
	writes++;
	if (writes_left && --writes_left == 0)
		raise(SIGKILL);
	return n;
}

/* ---- a folder, and ledgers in it */

static struct fake_root root;

static struct unc_ledger *in_memory(void)
{
	struct unc_ledger *l = unc_ledger_new();

	CU_ASSERT_FATAL(l != NULL);
	return l;
}

static struct unc_ledger *open_ledger(void)
{
	struct unc_ledger *l = in_memory();
	struct unc_error err;

	if (unc_ledger_open(l, root.path, false, &err) < 0)
		printf("# %s\n", err.text);
	CHECK_TEXT(unc_ledger_reason(l), "");
	return l;
}

static void lock(struct unc_ledger *l)
{
	CU_ASSERT_FATAL(unc_ledger_lock(l, true, NULL) == 0);
}

static unsigned enter(struct unc_ledger *l)
{
	unsigned holder = UNC_LEDGER_NOBODY;

	CHECK_NUMBER(unc_ledger_enter(l, &holder, NULL), 0);
	return holder;
}

static struct unc_ledger_key key_of(uint64_t address)
{
	return (struct unc_ledger_key){.address = address, .place = 1, .space = UNC_SPACE_MSR};
}

static int put(struct unc_ledger *l, uint64_t address, uint64_t value, unsigned holder)
{
	struct unc_ledger_record r = {.key = key_of(address),
				      .role = UNC_HELD_CONTROL,
				      .found = 0x12,
				      .value = value,
				      .mask = UINT64_MAX};

	if (holder != UNC_LEDGER_NOBODY)
		unc_ledger_set(&r, holder, true);
	return unc_ledger_put(l, &r, NULL);
}

static struct unc_ledger_record *find(struct unc_ledger *l, uint64_t address)
{
	struct unc_ledger_key key = key_of(address);

	return unc_ledger_find(l, &key);
}

static unsigned living(struct unc_ledger *l, uint64_t address)
{
	struct unc_ledger_record *r = find(l, address);

	CU_ASSERT_FATAL(r != NULL);
	return unc_ledger_living(l, r, 0, UNC_LEDGER_NOBODY);
}

/* That of the node, and that of this user. */
static const char *node(void)
{
	return fake_path(&root, "/ledger");
}

static const char *file(void)
{
	return fake_path(&root, "/ledger.%u", (unsigned)geteuid());
}

static void begin(void)
{
	fake_new(&root);
	naps = 0;
	waited = 0;
}

/* The header's number of turns: ledger_inside.h. */
static void take_turn(void)
{
	uint64_t turn = fake_get(node(), 32, 8) + 1;

	fake_bytes(node(), 32, &turn, sizeof(turn));
}

/* ---- records */

static void check_records(struct unc_ledger *l)
{
	lock(l);
	unsigned a = enter(l), b = enter(l);
	CU_ASSERT(a != b);
	CU_ASSERT_PTR_NULL(find(l, 0xD10));
	for (uint64_t i = 0; i < 3000; i++)
		CHECK_NUMBER(put(l, 0x1000 + i, i, a), 0);
	CHECK_NUMBER(unc_ledger_count(l), 3000);
	for (uint64_t i = 0; i < 3000; i++)
		CHECK_NUMBER(find(l, 0x1000 + i)->value, i);
	CHECK_NUMBER(put(l, 0x1001, 77, b), 0); /* changed */
	CHECK_NUMBER(unc_ledger_count(l), 3000);
	CHECK_NUMBER(find(l, 0x1001)->value, 77);
	CHECK_NUMBER(find(l, 0x1001)->found, 0x12);
	CHECK_NUMBER(living(l, 0x1001), b);
	CHECK_NUMBER(unc_ledger_living(l, find(l, 0x1001), 0, b), UNC_LEDGER_NOBODY);
	unc_ledger_remove(l, find(l, 0x1002));
	CU_ASSERT_PTR_NULL(find(l, 0x1002));
	CHECK_NUMBER(put(l, 0x9000, 1, a), 0); /* its place is taken again */
	CHECK_NUMBER(unc_ledger_count(l), 3000);
	unc_ledger_leave(l, a);
	CHECK_NUMBER(living(l, 0x1003), UNC_LEDGER_NOBODY); /* what it has left is orphaned */
	CHECK_NUMBER(living(l, 0x1001), b);
	unc_ledger_leave(l, b);
	unc_ledger_unlock(l);
	unc_ledger_free(l);
}

static void test_memory(void)
{
	check_records(in_memory());
}

static void test_file(void)
{
	begin();
	check_records(open_ledger());
	fake_free(&root);
}

/* The same address in another package, another space, on another CPU is another register. */
static void test_keys(void)
{
	struct unc_reg reg = {.address = 0xD10, .target = 5, .space = UNC_SPACE_MSR, .width = 32};
	struct unc_ledger_key key = unc_ledger_key(&reg, 3);

	CHECK_NUMBER(key.place, 3); /* whichever CPU of it is asked */
	reg.space = UNC_SPACE_PCI;
	key = unc_ledger_key(&reg, 3);
	CHECK_NUMBER(key.place, 0);
	CHECK_NUMBER(key.space, UNC_SPACE_PCI);
	reg.space = UNC_SPACE_PERF;
	key = unc_ledger_key(&reg, 3);
	CHECK_NUMBER(key.place, 5);
}

/* Each process has its own: they do not come into the file. */
static void test_own(void)
{
	begin();
	struct unc_ledger *a = open_ledger(), *b = open_ledger();
	struct unc_ledger_record r = {.key = {.address = 1, .space = UNC_SPACE_PERF},
				      .role = UNC_HELD_CONTROL};

	lock(a);
	unsigned holder = enter(a);
	unc_ledger_set(&r, holder, true);
	CHECK_NUMBER(unc_ledger_put(a, &r, NULL), 0);
	CU_ASSERT_FATAL(unc_ledger_find(a, &r.key) != NULL);
	unc_ledger_unlock(a);
	lock(b);
	CU_ASSERT_PTR_NULL(unc_ledger_find(b, &r.key));
	unc_ledger_unlock(b);
	lock(a);
	CHECK_NUMBER(unc_ledger_living(a, unc_ledger_find(a, &r.key), 0, UNC_LEDGER_NOBODY),
		     holder);
	unc_ledger_unlock(a);
	unc_ledger_free(a);
	unc_ledger_free(b);
	fake_free(&root);
}

/* ---- two that have the file open */

static void test_two(void)
{
	begin();
	struct unc_ledger *a = open_ledger(), *b = open_ledger();
	struct unc_ledger_holder who;

	lock(a);
	unsigned mine = enter(a);
	CHECK_NUMBER(put(a, 0xD10, 0x400000, mine), 0);
	CHECK_NUMBER(unc_ledger_lock(b, false, NULL), UNC_ERR_BUSY);
	unc_ledger_unlock(a);
	lock(b);
	CHECK_NUMBER(find(b, 0xD10)->value, 0x400000);
	CHECK_NUMBER(living(b, 0xD10), mine);
	CHECK_NUMBER(unc_ledger_who(b, mine, &who), 0);
	CHECK_NUMBER(who.process.pid, getpid());
	CHECK_TEXT(who.process.command, "test_ledger");
	CU_ASSERT(who.since > 1600000000000000000u);
	CU_ASSERT(enter(b) != mine);
	unc_ledger_unlock(b);
	/* A turn that writes one record and no more is seen by who has read all before. */
	lock(a);
	CHECK_NUMBER(put(a, 0xD10, 0x400035, mine), 0);
	unc_ledger_unlock(a);
	lock(b);
	CHECK_NUMBER(find(b, 0xD10)->value, 0x400035);
	unc_ledger_unlock(b);
	lock(a);
	/* That there are changes is written once a turn, and each record. */
	writes = 0;
	CHECK_NUMBER(put(a, 0xD10, 0x400036, mine), 0);
	CHECK_NUMBER(put(a, 0xD10, 0x400037, mine), 0);
	CHECK_NUMBER(writes, 3);
	unc_ledger_leave(a, mine);
	unc_ledger_unlock(a);
	lock(b);
	CHECK_NUMBER(living(b, 0xD10), UNC_LEDGER_NOBODY);
	unc_ledger_unlock(b);
	unc_ledger_free(a); /* whose holder had left before */
	unc_ledger_free(b);
	fake_free(&root);
}

/* Why somebody goes on alone: "%s" is the folder, "%d" this process, which has the lock. */
static void check_alone(struct unc_ledger *l, const char *sentence)
{
	char want[512];

	snprintf(want, sizeof(want), sentence, root.path, (int)getpid());
	CHECK_TEXT(unc_ledger_reason(l), want);
}

#define HANGS                                                                                      \
	"%s/ledger is locked, last by pid %d (test_ledger), for more than 10 s: it is stopped or " \
	"hangs; let it go on or end it"

/* One that does not end its turn is named; the others go on alone after a while, be there turns or
 * not, and one that opens the file as well. */
static void test_stopped(void)
{
	begin();
	struct unc_ledger *a = open_ledger(), *b = open_ledger(), *c = in_memory();

	lock(a);
	lock(b);
	check_alone(b, HANGS);
	CU_ASSERT(waited >= 10000000000 && waited < 12000000000);
	unc_ledger_unlock(b);
	waited = 0;
	others_turns = true;
	CHECK_NUMBER(unc_ledger_open(c, root.path, false, NULL), UNC_ERR_BUSY);
	others_turns = false;
	check_alone(c, HANGS);
	CU_ASSERT(waited >= 60000000000 && waited < 62000000000);
	unc_ledger_unlock(a);
	CHECK_NUMBER(unc_ledger_open(b, root.path, false, NULL), 0);
	CHECK_TEXT(unc_ledger_reason(b), "");
	lock(b);
	CHECK_NUMBER(put(b, 0xD10, 1, enter(b)), 0);
	unc_ledger_unlock(b);
	lock(a);
	CU_ASSERT(living(a, 0xD10) < UNC_LEDGER_NOBODY);
	unc_ledger_unlock(a);
	unc_ledger_free(a);
	unc_ledger_free(b);
	unc_ledger_free(c);
	fake_free(&root);
}

/* It is not waited for by a process that is asked to end. Others mean something else. */
static void test_signals(void)
{
	static const struct {
		int number;
		bool ignored, ends;
	} cases[] = {
		{SIGTERM, false, true}, {SIGINT, false, true},   {SIGHUP, false, true},
		{SIGHUP, true, false},  {SIGPROF, false, false}, {SIGALRM, false, false},
	};
	sigset_t set, before;
	int number;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin();
		struct unc_ledger *a = open_ledger(), *b = open_ledger();

		lock(a);
		sigemptyset(&set);
		sigaddset(&set, cases[i].number);
		sigprocmask(SIG_BLOCK, &set, &before);
		/* Whoever runs the test may have it ignored. */
		signal(cases[i].number, cases[i].ignored ? SIG_IGN : SIG_DFL);
		raise(cases[i].number);
		lock(b);
		check_alone(b, cases[i].ends ? "%s/ledger is locked, last by pid %d (test_ledger), "
					       "and a signal ended the wait for it"
					     : HANGS);
		CU_ASSERT_EQUAL(naps == 0, cases[i].ends);
		unc_ledger_unlock(b);
		CHECK_NUMBER(sigwait(&set, &number), 0); /* it is still to be taken */
		CHECK_NUMBER(number, cases[i].number);
		signal(cases[i].number, SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		unc_ledger_unlock(a);
		unc_ledger_free(a);
		unc_ledger_free(b);
		fake_free(&root);
	}
}

/* Who gives up waiting while it counts knows what others hold together with it, and lives for them
 * until it leaves. */
static void test_alone_later(void)
{
	begin();
	struct unc_ledger *a = open_ledger(), *b = open_ledger();

	lock(b);
	unsigned ours = enter(b);
	CHECK_NUMBER(put(b, 0xD10, 1, ours), 0);
	unc_ledger_unlock(b);
	lock(a);
	unsigned theirs = enter(a);
	struct unc_ledger_record r = *find(a, 0xD10);
	unc_ledger_set(&r, theirs, true);
	CHECK_NUMBER(unc_ledger_put(a, &r, NULL), 0);
	lock(b);
	check_alone(b, HANGS);
	CHECK_NUMBER(unc_ledger_living(b, find(b, 0xD10), 0, ours), theirs);
	CHECK_NUMBER(put(b, 0xD11, 1, ours), 0); /* in memory */
	unc_ledger_unlock(b);
	unc_ledger_unlock(a);
	lock(a);
	CHECK_NUMBER(unc_ledger_living(a, find(a, 0xD10), 0, theirs), ours);
	CU_ASSERT_PTR_NULL(find(a, 0xD11));
	unc_ledger_unlock(a);
	lock(b); /* without a wait */
	unc_ledger_leave(b, ours);
	unc_ledger_unlock(b);
	lock(a);
	CHECK_NUMBER(unc_ledger_living(a, find(a, 0xD10), 0, theirs), UNC_LEDGER_NOBODY);
	unc_ledger_unlock(a);
	CHECK_NUMBER(unc_ledger_open(b, root.path, false, NULL), 0);
	unc_ledger_free(a);
	unc_ledger_free(b);
	fake_free(&root);
}

/* ---- many */

/* What one start costs beside n sessions of others with a register each: calls of the system, and
 * holders that are asked for. */
static unsigned calls_beside(unsigned n, unsigned *asks)
{
	begin();
	struct unc_ledger *others = open_ledger();
	unsigned made;

	lock(others);
	for (unsigned i = 0; i < n; i++)
		CHECK_NUMBER(put(others, 0x1000 + i, 1, enter(others)), 0);
	unc_ledger_unlock(others);
	struct unc_ledger *l = open_ledger();
	calls = asked = 0;
	lock(l);
	CHECK_NUMBER(unc_ledger_ask(l, 4), n <= 4);
	CU_ASSERT(!unc_ledger_any_ended(l));
	CU_ASSERT(living(l, 0x1000) < UNC_LEDGER_NOBODY); /* whose record is in the way */
	put(l, 0xD10, 1, enter(l));
	unc_ledger_unlock(l);
	made = calls;
	*asks = asked;
	unc_ledger_free(l);
	unc_ledger_free(others);
	fake_free(&root);
	return made;
}

/* The names of all sessions are four blocks, and who is in the way may be asked for already. */
static void test_beside_many(void)
{
	unsigned asks, few = calls_beside(10, &asks);

	CU_ASSERT(asks <= 5);
	for (unsigned n = 100; n <= 1000; n *= 10) {
		CU_ASSERT(calls_beside(n, &asks) <= few + 6);
		CU_ASSERT(asks <= 5);
	}
}

/* Each is asked for soon by those who start, and then all are found that have ended. */
static void test_all_are_asked(void)
{
	enum { N = 100, ENDED = 57 };
	unsigned holder[N], turns = 0;

	begin();
	struct unc_ledger *others = open_ledger();

	lock(others);
	for (unsigned i = 0; i < N; i++)
		CHECK_NUMBER(put(others, 0x1000 + i, 1, holder[i] = enter(others)), 0);
	unc_ledger_unlock(others);
	unc_ledger_abandon(others, holder[ENDED]);
	struct unc_ledger *l = open_ledger();
	struct unc_ledger_key key = key_of(0x1000 + ENDED);
	bool any = false;

	for (; !any && turns < 100 * N; turns++) {
		lock(l);
		CU_ASSERT(!unc_ledger_ask(l, 4));
		any = unc_ledger_any_ended(l);
		CU_ASSERT_EQUAL(unc_ledger_orphan(l, &key) != NULL, any);
		unc_ledger_unlock(l);
	}
	CU_ASSERT(any && turns < 10 * N);
	lock(l);
	CU_ASSERT(unc_ledger_ask(l, UINT_MAX));
	CU_ASSERT_PTR_NOT_NULL(unc_ledger_orphan(l, &key));
	key = key_of(0x1000);
	CU_ASSERT_PTR_NULL(unc_ledger_orphan(l, &key));
	unc_ledger_unlock(l);
	unc_ledger_free(l);
	unc_ledger_free(others);
	fake_free(&root);
}

/* Where so many records are left that room is made of them, all are asked for first: what ended
 * processes have left is known, and restored, before it is forgotten. */
static void test_all_are_asked_where_it_is_crowded(void)
{
	enum { N = 100, ENDED = 57, HALF = 16384 / 2 };
	unsigned holder[N];

	begin();
	struct unc_ledger *others = open_ledger();

	lock(others);
	for (unsigned i = 0; i < N; i++)
		CHECK_NUMBER(put(others, 0x1000 + i, 1, holder[i] = enter(others)), 0);
	for (unsigned i = N; i < HALF; i++)
		if (put(others, 0x1000 + i, 1, holder[0]) < 0)
			CU_FAIL("a record too few");
	unc_ledger_unlock(others);
	unc_ledger_abandon(others, holder[ENDED]);
	struct unc_ledger *l = open_ledger();
	struct unc_ledger_key key = key_of(0x1000 + ENDED);

	lock(l);
	CU_ASSERT(unc_ledger_ask(l, 4));
	CU_ASSERT(unc_ledger_any_ended(l));
	CU_ASSERT_PTR_NOT_NULL(unc_ledger_orphan(l, &key));
	unc_ledger_unlock(l);
	unc_ledger_free(l);
	unc_ledger_free(others);
	fake_free(&root);
}

/* What is gathered is written page by page, sixteen records each; so is what is taken away. */
static void test_gathered(void)
{
	enum { N = 1600 };

	begin();
	struct unc_ledger *a = open_ledger(), *b = open_ledger();

	lock(a);
	unsigned holder = enter(a);
	writes = 0;
	unc_ledger_gather(a);
	for (uint64_t i = 0; i < N; i++)
		CHECK_NUMBER(put(a, i, i, holder), 0);
	CHECK_NUMBER(writes, 0);
	CHECK_NUMBER(find(a, N - 1)->value, N - 1);
	CHECK_NUMBER(unc_ledger_write(a, NULL), 0);
	CHECK_NUMBER(writes, N / 16 + 2); /* that there are changes, and how many there are */
	unc_ledger_unlock(a);
	lock(b);
	CHECK_NUMBER(unc_ledger_count(b), N);
	for (uint64_t i = 0; i < N; i++)
		CHECK_NUMBER(find(b, i)->value, i);
	unc_ledger_unlock(b);
	lock(a);
	writes = 0;
	unc_ledger_gather(a);
	for (uint64_t i = 0; i < N; i++)
		unc_ledger_release(a, find(a, i), holder, false);
	CHECK_NUMBER(unc_ledger_write(a, NULL), 0);
	CHECK_NUMBER(writes, N / 16 + 1);
	unc_ledger_gather(a);
	CHECK_NUMBER(unc_ledger_write(a, NULL), 0); /* nothing */
	CHECK_NUMBER(writes, N / 16 + 1);
	unc_ledger_unlock(a);
	lock(b);
	for (uint64_t i = 0; i < N; i++)
		CU_ASSERT_PTR_NULL(find(b, i));
	unc_ledger_unlock(b);
	unc_ledger_free(a);
	unc_ledger_free(b);
	fake_free(&root);
}

/* ---- processes that end */

/* The children of this process are in another time namespace: their clocks are an hour ahead. */
static bool far_clock(void)
{
	static const char offset[] = "boottime 3600 0\n";
	bool done;
	int fd;

	if (unshare(CLONE_NEWTIME) < 0)
		return false;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && write(fd, offset, sizeof(offset) - 1) > 0;
	close(fd);
	return done;
}

/* Goes on as such a child. */
static void go_far(void)
{
	int status = 0;
	pid_t pid = far_clock() ? fork() : -1;

	if (pid < 0)
		_exit(1);
	if (pid == 0)
		return;
	waitpid(pid, &status, 0);
	_exit(1);
}

/* A process that enters, writes a record and waits to be killed; that has a child which outlives it;
 * that has the lock then. */
enum { FORKS = 1, LOCKS = 2, FAR = 4 };
static pid_t hold(uint64_t address, int does, pid_t *grandchild)
{
	int ready[2];
	pid_t pid = -1, other = 0;

	CU_ASSERT_FATAL(pipe(ready) == 0 && (pid = fork()) >= 0);
	if (pid == 0) {
		if (does & FAR)
			go_far();
		struct unc_ledger *l = unc_ledger_new();
		unsigned holder;

		if (unc_ledger_open(l, root.path, false, NULL) < 0 ||
		    unc_ledger_lock(l, true, NULL) < 0 || unc_ledger_enter(l, &holder, NULL) < 0 ||
		    put(l, address, address, holder) < 0)
			_exit(1);
		unc_ledger_unlock(l);
		if (does & FORKS && (other = fork()) == 0)
			for (;;)
				pause();
		if (does & LOCKS && unc_ledger_lock(l, true, NULL) < 0)
			_exit(1);
		if (write(ready[1], &other, sizeof(other)) != sizeof(other))
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	CU_ASSERT_FATAL(read(ready[0], &other, sizeof(other)) == sizeof(other));
	close(ready[0]);
	if (grandchild)
		*grandchild = other;
	return pid;
}

static void test_killed(void)
{
	struct unc_ledger_holder who;

	begin();
	struct unc_ledger *l = open_ledger();
	pid_t pid = hold(0xD10, 0, NULL);
	lock(l);
	unsigned holder = living(l, 0xD10);
	CU_ASSERT_FATAL(holder < UNC_LEDGER_NOBODY);
	CHECK_NUMBER(unc_ledger_who(l, holder, &who), 0);
	CHECK_NUMBER(who.process.pid, pid);
	unc_ledger_unlock(l);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	lock(l);
	CHECK_NUMBER(living(l, 0xD10), UNC_LEDGER_NOBODY);
	CHECK_NUMBER(find(l, 0xD10)->found, 0x12);
	/* Its number goes to the next, who holds nothing of what it held. */
	CHECK_NUMBER(enter(l), holder);
	CHECK_NUMBER(living(l, 0xD10), UNC_LEDGER_NOBODY);
	unc_ledger_unlock(l);
	unc_ledger_free(l);
	fake_free(&root);
}

/* A child has the open file of its parent, and the lock with it. */
static void test_killed_parent(void)
{
	pid_t child;

	begin();
	struct unc_ledger *l = open_ledger();
	pid_t pid = hold(0xD10, FORKS, &child);
	siginfo_t info;

	lock(l);
	CU_ASSERT(living(l, 0xD10) < UNC_LEDGER_NOBODY);
	unc_ledger_unlock(l);
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	lock(l); /* nobody has waited for it yet */
	CHECK_NUMBER(living(l, 0xD10), UNC_LEDGER_NOBODY);
	unc_ledger_unlock(l);
	waitpid(pid, NULL, 0);
	lock(l);
	CHECK_NUMBER(living(l, 0xD10), UNC_LEDGER_NOBODY);
	CHECK_NUMBER(put(l, 0xD11, 1, enter(l)), 0); /* a number of its own */
	CHECK_NUMBER(living(l, 0xD10), UNC_LEDGER_NOBODY);
	CU_ASSERT(living(l, 0xD11) < UNC_LEDGER_NOBODY);
	unc_ledger_unlock(l);
	kill(child, SIGKILL);
	unc_ledger_free(l);
	fake_free(&root);
}

/* Its start is another time there: it lives as long as its lock. */
static void test_time_namespace(void)
{
	struct unc_ledger_holder who;
	pid_t able = fork(), child;
	int status = 1;

	if (able == 0)
		_exit(!far_clock());
	waitpid(able, &status, 0);
	if (status) {
		suite_skip("no time namespace can be made");
		return;
	}
	begin();
	struct unc_ledger *l = open_ledger();
	pid_t pid = hold(0xD10, FAR | FORKS, &child);
	lock(l);
	unsigned holder = living(l, 0xD10);
	CU_ASSERT_FATAL(holder < UNC_LEDGER_NOBODY);
	CHECK_NUMBER(unc_ledger_who(l, holder, &who), 0);
	CU_ASSERT(who.process.pid != pid && who.process.start > 3600);
	unc_ledger_unlock(l);
	kill((pid_t)who.process.pid, SIGKILL); /* whose child has the lock still */
	waitpid(pid, NULL, 0);
	lock(l);
	CHECK_NUMBER(living(l, 0xD10), UNC_LEDGER_NOBODY);
	unc_ledger_unlock(l);
	kill(child, SIGKILL);
	unc_ledger_free(l);
	fake_free(&root);
}

/* Nor does the child keep the lock of a turn that its parent did not end. */
static void test_killed_in_turn(void)
{
	struct unc_error err;
	pid_t child;

	begin();
	struct unc_ledger *l = open_ledger();
	pid_t pid = hold(0xD10, FORKS | LOCKS, &child);
	CHECK_NUMBER(unc_ledger_lock(l, false, &err), UNC_ERR_BUSY);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK_NUMBER(unc_ledger_lock(l, false, &err), 0);
	CHECK_NUMBER(living(l, 0xD10), UNC_LEDGER_NOBODY);
	unc_ledger_unlock(l);
	kill(child, SIGKILL);
	unc_ledger_free(l);
	fake_free(&root);
}

/* Removed while no session of ours runs: the next one has a new file. */
static void test_removed_idle(void)
{
	begin();
	struct unc_ledger *l = open_ledger(), *other;
	CHECK_NUMBER(remove(node()), 0);
	CHECK_NUMBER(unc_ledger_open(l, root.path, false, NULL), 0);
	other = open_ledger();
	lock(l);
	CHECK_NUMBER(put(l, 0xD10, 1, enter(l)), 0);
	unc_ledger_unlock(l);
	lock(other);
	CU_ASSERT(living(other, 0xD10) < UNC_LEDGER_NOBODY);
	unc_ledger_unlock(other);
	unc_ledger_free(l);
	unc_ledger_free(other);
	fake_free(&root);
}

/* The place of a holder's members in the file: ledger.c, struct slot. */
static uint64_t member(unsigned holder, unsigned word)
{
	return 4096 + holder * 64u + word * 8u;
}

/* A number that was given to another process; one of another namespace says nothing. */
static void test_number_again(void)
{
	begin();
	struct unc_ledger *a = open_ledger(), *b = open_ledger();
	lock(a);
	unsigned holder = enter(a);
	put(a, 0xD10, 1, holder);
	unc_ledger_unlock(a);
	uint64_t start = fake_get(file(), member(holder, 1), 8) + 1,
		 space = fake_get(file(), member(holder, 2), 8) + 1;

	fake_bytes(file(), member(holder, 1), &start, sizeof(start));
	lock(b);
	CHECK_NUMBER(living(b, 0xD10), UNC_LEDGER_NOBODY);
	unc_ledger_unlock(b);
	fake_bytes(file(), member(holder, 2), &space, sizeof(space));
	lock(b);
	CHECK_NUMBER(living(b, 0xD10), holder);
	unc_ledger_unlock(b);
	unc_ledger_free(a);
	lock(b); /* its lock is gone */
	CHECK_NUMBER(living(b, 0xD10), UNC_LEDGER_NOBODY);
	unc_ledger_unlock(b);
	unc_ledger_free(b);
	fake_free(&root);
}

/* The child of test_any_write(): some of each. */
static void work(void)
{
	struct unc_ledger *l = unc_ledger_new();
	unsigned a, b;

	if (unc_ledger_open(l, root.path, false, NULL) < 0 || unc_ledger_lock(l, true, NULL) < 0 ||
	    unc_ledger_enter(l, &a, NULL) < 0)
		_exit(1);
	put(l, 0xD10, 1, a);
	put(l, 0xD11, 2, a);
	unc_ledger_unlock(l);
	if (unc_ledger_lock(l, true, NULL) < 0 || unc_ledger_enter(l, &b, NULL) < 0)
		_exit(1);
	unc_ledger_gather(l);
	put(l, 0xD10, 3, b);
	for (uint64_t i = 0; i < 20; i++)
		put(l, 0xE00 + i, 2, b);
	if (unc_ledger_write(l, NULL) < 0)
		_exit(1);
	unc_ledger_remove(l, find(l, 0xD11));
	unc_ledger_leave(l, a);
	unc_ledger_unlock(l);
	_exit(0);
}

/* Killed behind any write, it leaves a ledger that says what was said before or after it. */
static void test_any_write(void)
{
	int status = SIGKILL;
	unsigned n = 0;

	while (WIFSIGNALED(status)) {
		begin();
		pid_t pid = fork();

		CU_ASSERT_FATAL(pid >= 0);
		if (pid == 0) {
			writes_left = ++n;
			work();
		}
		n++;
		waitpid(pid, &status, 0);
		struct unc_ledger *l = open_ledger();
		lock(l);
		for (size_t i = 0; i < unc_ledger_count(l); i++) {
			struct unc_ledger_record *r = unc_ledger_at(l, i);

			CU_ASSERT(!r->role || (r->role == UNC_HELD_CONTROL && r->found == 0x12));
			CHECK_NUMBER(unc_ledger_living(l, r, 0, UNC_LEDGER_NOBODY),
				     UNC_LEDGER_NOBODY);
		}
		CHECK_NUMBER(put(l, 0xD10, 9, enter(l)), 0);
		CHECK_NUMBER(find(l, 0xD10)->value, 9);
		unc_ledger_unlock(l);
		unc_ledger_free(l);
		fake_free(&root);
	}
	CHECK_NUMBER(WEXITSTATUS(status), 0);
	CU_ASSERT(n > 15);
}

/* ---- files that are not as they should be */

/* Opening fails so: "%s" is the path. It works in memory then. */
static void check_refused_at(const char *path, int code, const char *sentence)
{
	struct unc_ledger *l = in_memory();
	struct unc_error err = {0};
	char want[512];

	CHECK_NUMBER(unc_ledger_open(l, root.path, false, &err), code);
	snprintf(want, sizeof(want), sentence, path);
	CHECK_TEXT(err.text, want);
	CHECK_TEXT(unc_ledger_reason(l), want);
	lock(l);
	CHECK_NUMBER(put(l, 1, 1, enter(l)), 0);
	unc_ledger_unlock(l);
	unc_ledger_free(l);
}

static void check_refused(int code, const char *sentence)
{
	check_refused_at(root.path, code, sentence);
}

/* The file of the node, or that of this user, is another thing. */
static void check_files(const char *path)
{
	char file[300], other[300];

	snprintf(file, sizeof(file), "%s", path);
	CHECK_NUMBER(symlink("/etc/passwd", file), 0);
	check_refused_at(file, UNC_ERR_DENIED, "%s: a link is not followed: remove it");
	remove(file);
	snprintf(other, sizeof(other), "%s", fake_path(&root, "/other"));
	fake_text(other, "mine");
	CHECK_NUMBER(link(other, file), 0);
	check_refused_at(file, UNC_ERR_DENIED, "%s is not a regular file with one name: remove it");
	CHECK_NUMBER(fake_get(other, 0, 4), 0x656e696d); /* "mine" */
	remove(file);
	CHECK_NUMBER(mkfifo(file, 0600), 0);
	check_refused_at(file, UNC_ERR_DENIED, "%s is not a regular file with one name: remove it");
	remove(file);
	CHECK_NUMBER(mkdir(file, 0700), 0);
	check_refused_at(file, UNC_ERR_IO, "%s: Is a directory");
	remove(file);
}

static void test_refused(void)
{
	begin();
	int before = fake_descriptors();
	CHECK_NUMBER(chmod(root.path, 01777), 0);
	check_refused(UNC_ERR_DENIED, "%s may be written by everybody: the ledger needs a folder "
				      "that only root or a group may write");
	chmod(root.path, 0755);
	if (geteuid() == 0) {
		CHECK_NUMBER(chown(root.path, 4242, 0), 0);
		check_refused(UNC_ERR_DENIED,
			      "%s belongs to user 4242: the ledger needs a folder of "
			      "root's, or of one's own");
		CHECK_NUMBER(chown(root.path, 0, 0), 0);
	}
	CHECK_NUMBER(chmod(root.path, 0770), 0);
	check_refused(UNC_ERR_DENIED, "%s is not sticky: its group might replace the files of "
				      "others there (chmod +t)");
	chmod(root.path, 01770);
	check_files(node());
	check_files(file());
	fake_text(file(), "");
	CHECK_NUMBER(chmod(file(), 0660), 0);
	char who[400];
	snprintf(who, sizeof(who), "%%s may be written by others than user %u: remove it",
		 (unsigned)geteuid());
	check_refused_at(file(), UNC_ERR_DENIED, who);
	if (geteuid() == 0) {
		CHECK_NUMBER(chmod(file(), 0640), 0);
		CHECK_NUMBER(chown(file(), 4242, 0), 0);
		check_refused_at(file(), UNC_ERR_DENIED, who);
	}
	fake_free(&root);
	check_refused(UNC_ERR_NOT_FOUND, "%s: No such file or directory");
	CHECK_NUMBER(fake_descriptors(), before);
}

static void test_link_to_folder(void)
{
	char real[300];

	begin();
	snprintf(real, sizeof(real), "%s-real", root.path);
	CHECK_NUMBER(rename(root.path, real), 0);
	CHECK_NUMBER(symlink(real, root.path), 0);
	check_refused(UNC_ERR_DENIED, "%s is not a folder (a link is not followed)");
	remove(root.path);
	CHECK_NUMBER(rename(real, root.path), 0);
	fake_free(&root);
}

static void test_rights(void)
{
	struct stat st;

	if (getuid() != 0) {
		suite_skip("rights over files: needs root");
		return;
	}
	begin();
	fake_drop();
	check_refused(UNC_ERR_PERMISSION, "%s/ledger: Permission denied");
	fake_regain();
	/* Whoever comes first makes it for the group of the folder. */
	CHECK_NUMBER(chown(root.path, 0, 65533), 0);
	mode_t mask = umask(077);
	struct unc_ledger *l = open_ledger();
	lock(l);
	enter(l);
	unc_ledger_unlock(l);
	unc_ledger_free(l);
	umask(mask);
	CHECK_NUMBER(stat(node(), &st), 0);
	CHECK_NUMBER(st.st_mode & 07777, 0660);
	CHECK_NUMBER(st.st_gid, 65533);
	/* And what it says for the group to read. */
	CHECK_NUMBER(stat(file(), &st), 0);
	CHECK_NUMBER(st.st_mode & 07777, 0640);
	CHECK_NUMBER(st.st_gid, 65533);
	fake_drop();
	check_refused(UNC_ERR_PERMISSION, "%s/ledger: Permission denied");
	fake_regain();
	fake_free(&root);
}

/* The folder is made where that was asked for, and only the last part of its path. */
static void test_made(void)
{
	struct unc_ledger *l = in_memory();
	struct unc_error err;
	char dir[300];

	begin();
	snprintf(dir, sizeof(dir), "%s", fake_path(&root, "/run/libuncore"));
	CHECK_NUMBER(unc_ledger_open(l, dir, false, &err), UNC_ERR_NOT_FOUND);
	CHECK_NUMBER(unc_ledger_open(l, dir, true, &err), 0);
	unc_ledger_free(l);
	l = in_memory();
	strcat(dir, "/a/b");
	CHECK_NUMBER(unc_ledger_open(l, dir, true, &err), UNC_ERR_NOT_FOUND);
	unc_ledger_free(l);
	fake_free(&root);
}

/* What is broken is made anew where nobody uses it, and told where somebody does. */
static void check_broken(const char *(*path)(void), uint64_t at, uint64_t value, size_t size)
{
	begin();
	struct unc_ledger *a = open_ledger();
	lock(a);
	unsigned holder = enter(a);
	unc_ledger_unlock(a);
	fake_bytes(path(), at, &value, size);
	check_refused_at(path(), UNC_ERR_INVALID,
			 "%s is not a ledger of this version: remove it when nobody measures");
	lock(a); /* a session that runs goes on by itself */
	CU_ASSERT(strstr(unc_ledger_reason(a), "not a ledger of this version") != NULL);
	unc_ledger_leave(a, holder);
	unc_ledger_unlock(a);
	unc_ledger_free(a);
	a = open_ledger();
	lock(a);
	CHECK_NUMBER(put(a, 0xD10, 1, enter(a)), 0);
	unc_ledger_unlock(a);
	unc_ledger_free(a);
	fake_free(&root);
}

static void test_broken(void)
{
	static const struct {
		uint64_t at, value;
		size_t size;
	} cases[] = {{0, 0x4711, 8}, {8, 1, 4},    {8, 3, 4},
		     {12, 128, 4},   {16, 128, 4}, {40, 1000000, 4}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		check_broken(node, cases[i].at, cases[i].value, cases[i].size);
		check_broken(file, cases[i].at, cases[i].value, cases[i].size);
	}
}

/* Records and names that nobody can have written. */
static void test_untrusted(void)
{
	const uint64_t records = 4096 + 1024 * 64;
	const uint32_t role = 99, space = UNC_SPACE_PERF, far = 1000;
	const uint64_t none = 0, other = 1;
	struct unc_ledger_holder who;

	begin();
	struct unc_ledger *a = open_ledger(), *b = open_ledger();
	lock(a);
	unsigned holder = enter(a);
	for (uint64_t i = 0; i < 5; i++)
		put(a, 0xD0E + i, 1, holder);
	unc_ledger_unlock(a);
	fake_bytes(file(), records + 16, &role, sizeof(role));
	fake_bytes(file(), records + 256 + 12, &space, sizeof(space));
	fake_bytes(file(), records + 2 * 256 + 40, &none, sizeof(none));    /* no bit was chosen */
	fake_bytes(file(), records + 3 * 256 + 120, &other, sizeof(other)); /* of another layout */
	fake_bytes(file(), member(holder, 4), "\033[2Jabcdefghijklmnop", 16);
	lock(b);
	for (uint64_t i = 0; i < 4; i++)
		CU_ASSERT_PTR_NULL(find(b, 0xD0E + i));
	CU_ASSERT_PTR_NOT_NULL(find(b, 0xD12));
	CHECK_NUMBER(unc_ledger_who(b, holder, &who), 0);
	CHECK_TEXT(who.process.command, "?[2Jabcdefghijk");
	unc_ledger_unlock(b);
	fake_bytes(file(), 40, &far,
		   sizeof(far)); /* more records than the file has: they are none */
	for (unsigned i = 0; i < 2; i++) {
		unsigned n = 0;

		uint64_t changes = fake_get(file(), 24, 8) + 1;
		fake_bytes(file(), 24, &changes, sizeof(changes));
		lock(b);
		CHECK_TEXT(unc_ledger_reason(b), "");
		CHECK_NUMBER(unc_ledger_count(b), 1000);
		for (size_t k = 0; k < 1000; k++)
			n += unc_ledger_at(b, k)->role != 0;
		CHECK_NUMBER(n, !i);
		unc_ledger_unlock(b);
		/* And cut off, in the middle of one that would be orphaned without its end. */
		CHECK_NUMBER(truncate(file(), (off_t)records + 4 * 256 + 120), 0);
	}
	unc_ledger_free(a);
	unc_ledger_free(b);
	fake_free(&root);
}

static void check_gone(void (*spoil)(void), const char *(*path)(void), const char *sentence)
{
	begin();
	struct unc_ledger *l = open_ledger();
	char want[512];

	lock(l);
	unsigned holder = enter(l);
	put(l, 0xD10, 1, holder);
	unc_ledger_unlock(l);
	snprintf(want, sizeof(want), sentence, path());
	spoil();
	lock(l);
	CHECK_TEXT(unc_ledger_reason(l), want);
	CHECK_NUMBER(living(l, 0xD10), holder); /* what is ours is known still */
	unc_ledger_remove(l, find(l, 0xD10));
	unc_ledger_leave(l, holder);
	unc_ledger_unlock(l);
	/* And the next one may have a file again. */
	CHECK_NUMBER(unc_ledger_open(l, root.path, false, NULL), 0);
	CHECK_TEXT(unc_ledger_reason(l), "");
	unc_ledger_free(l);
	fake_free(&root);
}

static void truncate_it(void)
{
	CHECK_NUMBER(truncate(file(), 0), 0);
}

static void remove_it(void)
{
	CHECK_NUMBER(remove(file()), 0);
}

static void remove_node(void)
{
	CHECK_NUMBER(remove(node()), 0);
}

static void test_gone(void)
{
	static const char removed[] =
		"%s was removed while sessions ran: who came since is not known";

	check_gone(truncate_it, file, "%s could not be read: it ends too early");
	check_gone(remove_it, file, removed);
	check_gone(remove_node, node, removed);
}

/* ---- limits */

static void test_full(void)
{
	begin();
	struct unc_ledger *l = open_ledger();
	struct unc_error err;
	unsigned holder;

	lock(l);
	for (unsigned i = 0; i < UNC_LEDGER_HOLDERS; i++)
		enter(l);
	CHECK_NUMBER(unc_ledger_enter(l, &holder, &err), UNC_ERR_BUSY);
	CHECK_TEXT(err.text, "1024 sessions run on this node, and no more can");
	unc_ledger_unlock(l);
	/* One of another process counts all the same, and is told that it is alone. */
	struct unc_ledger *other = open_ledger();
	lock(other);
	CHECK_NUMBER(put(other, 1, 1, enter(other)), 0);
	CU_ASSERT(strstr(unc_ledger_reason(other),
			 "1024 sessions run on this node, and no more can") != NULL);
	unc_ledger_unlock(other);
	unc_ledger_free(other);
	lock(l);
	unc_ledger_leave(l, 700);
	CHECK_NUMBER(enter(l), 700);
	for (unsigned i = 700; i < UNC_LEDGER_HOLDERS; i += 323) {
		CHECK_NUMBER(put(l, 99999, 7, i), 0);
		CHECK_NUMBER(living(l, 99999), i);
	}
	unc_ledger_remove(l, find(l, 99999));
	for (uint64_t i = 0; i < 16384; i++)
		if (put(l, i, i, 5) < 0)
			CU_FAIL("a record too few");
	CHECK_TEXT(unc_ledger_reason(l), "");
	CHECK_NUMBER(put(l, 99999, 7, 5), 0);
	CU_ASSERT(strstr(unc_ledger_reason(l),
			 "no room for more registers: 16384 are programmed") != NULL);
	CHECK_NUMBER(find(l, 16383)->value, 16383);
	CHECK_NUMBER(find(l, 99999)->value, 7);
	unc_ledger_unlock(l);
	unc_ledger_free(l);
	fake_free(&root);
}

/* What is orphaned and nobody restores, as no register is known for it, makes room. */
static void test_full_of_orphans(void)
{
	begin();
	struct unc_ledger *l = open_ledger();

	lock(l);
	unsigned alive = enter(l), ended = enter(l);
	put(l, 0, 4711, alive);
	for (uint64_t i = 1; i < 16384; i++)
		if (put(l, i, i, i % 2 ? ended : UNC_LEDGER_NOBODY) < 0)
			CU_FAIL("a record too few");
	unc_ledger_abandon(l, ended);
	unc_ledger_unlock(l);
	lock(l);
	unsigned next = enter(l);
	for (uint64_t i = 0; i < 16383; i++)
		if (put(l, 100000 + i, i, next) < 0)
			CU_FAIL("a record too few");
	CHECK_TEXT(unc_ledger_reason(l), "");
	CHECK_NUMBER(find(l, 0)->value, 4711);
	CU_ASSERT_PTR_NULL(find(l, 1));
	CU_ASSERT_PTR_NULL(find(l, 16383));
	unc_ledger_unlock(l);
	unc_ledger_free(l);
	fake_free(&root);
}

/* A limit of file sizes does not kill the process, and nothing counts as written. */
static void test_file_limit(void)
{
	struct rlimit before, limit;

	begin();
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 100;
	CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	check_refused(UNC_ERR_IO, "%s/ledger could not be written: File too large");
	setrlimit(RLIMIT_FSIZE, &before);
	limit.rlim_cur = 1000;
	struct unc_ledger *l = open_ledger();
	lock(l);
	unsigned holder = enter(l);
	setrlimit(RLIMIT_FSIZE, &limit);
	CHECK_NUMBER(put(l, 0xD10, 1, holder), UNC_ERR_IO);
	CU_ASSERT_PTR_NULL(find(l, 0xD10));
	setrlimit(RLIMIT_FSIZE, &before);
	unc_ledger_unlock(l);
	unc_ledger_free(l);
	fake_free(&root);
}

/* A program that has closed its standard output does not print into it. */
static void test_stdio(void)
{
	struct stat st, of_user, in;

	begin();
	int kept = dup(STDIN_FILENO);
	close(STDIN_FILENO);
	struct unc_ledger *l = open_ledger();
	lock(l);
	enter(l);
	CHECK_NUMBER(stat(node(), &st), 0);
	CHECK_NUMBER(stat(file(), &of_user), 0);
	CU_ASSERT(fstat(STDIN_FILENO, &in) < 0 ||
		  (in.st_ino != st.st_ino && in.st_ino != of_user.st_ino));
	unc_ledger_unlock(l);
	unc_ledger_free(l);
	if (kept >= 0) {
		dup2(kept, STDIN_FILENO);
		close(kept);
	}
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"records, in memory", test_memory},
		{"records, in a file", test_file},
		{"names of registers", test_keys},
		{"registers that each process has for itself", test_own},
		{"two that have the file open", test_two},
		{"one that does not end its turn", test_stopped},
		{"signals while it is waited for", test_signals},
		{"alone from then on", test_alone_later},
		{"many beside one", test_beside_many},
		{"each of many is asked for", test_all_are_asked},
		{"each is asked for where it is crowded", test_all_are_asked_where_it_is_crowded},
		{"records that are written together", test_gathered},
		{"one of another time", test_time_namespace},
		{"a process that is killed", test_killed},
		{"one that is killed, and has forked", test_killed_parent},
		{"one that is killed in its turn, and has forked", test_killed_in_turn},
		{"a file that is removed while nobody runs", test_removed_idle},
		{"its number, given again, and elsewhere", test_number_again},
		{"killed behind any write", test_any_write},
		{"files that are refused", test_refused},
		{"a link in place of the folder", test_link_to_folder},
		{"rights", test_rights},
		{"a folder that is made", test_made},
		{"a broken file", test_broken},
		{"records that nobody can have written", test_untrusted},
		{"a file that is gone", test_gone},
		{"full", test_full},
		{"full of what is orphaned", test_full_of_orphans},
		{"a limit of file sizes", test_file_limit},
		{"standard input, output and error", test_stdio},
		{NULL, NULL},
	};

	return suite_run("ledger", tests);
}
