/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The journal: those who have its files open know of each other; what a killed process has left is
 * known by its entries alone; and whatever is done to the files is a sentence, or as if nobody had
 * written them. Registers are words of memory that processes share.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "fake_root.h"
#include "journal/journal.h"
#include "suite.h"

/* ---- time does not pass by waiting; a process dies at a write of its choice */

static uint64_t waited; /* ns */
static void (*meanwhile)(void);
static unsigned writes, die_at; /* 0: at none */
static bool real_time;

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	if (real_time)
		return REAL(ppoll)(fds, n, t, mask);
	waited += (uint64_t)t->tv_nsec;
	if (meanwhile)
		meanwhile();
	return 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = REAL(clock_gettime)(clock, t);

	if (clock == CLOCK_MONOTONIC_COARSE && !real_time)
		*t = (struct timespec){.tv_sec = (time_t)(waited / 1000000000),
				       .tv_nsec = (long)(waited % 1000000000)};
	return rc;
}

static bool full; /* there is no room */

ssize_t pwrite(int fd, const void *buf, size_t size, off_t at)
{
	if (full) {
		errno = ENOSPC;
		return -1;
	}
	if (++writes == die_at)
		raise(SIGKILL);
	return REAL(pwrite)(fd, buf, size, at);
}

/* ---- journals */

static struct fake_root root;

static struct unc_journal *in_memory(void)
{
	struct unc_journal *j = unc_journal_new();

	CU_ASSERT_FATAL(j != NULL);
	return j;
}

static struct unc_journal *opened(void)
{
	struct unc_journal *j = in_memory();

	if (unc_journal_open(j, root.path, false) < 0)
		printf("# %s\n", unc_journal_reason(j));
	CHECK_TEXT(unc_journal_reason(j), "");
	return j;
}

static void lock(struct unc_journal *j)
{
	struct unc_error err = {0};

	if (unc_journal_lock(j, 1, &err) < 0)
		CU_FAIL_FATAL(err.text);
}

static struct unc_journal_entry entry_of(uint64_t address, uint64_t value)
{
	return (struct unc_journal_entry){.key = {.address = address, .package = 1, .space = 2},
					  .found = 100 + address,
					  .value = value,
					  .mask = UINT64_MAX};
}

static uint16_t put_in(struct unc_journal *j, uint64_t address, uint64_t value)
{
	struct unc_journal_entry e = entry_of(address, value);
	uint16_t number = unc_journal_add(j, &e);

	CHECK_NUMBER(unc_journal_write(j, NULL), 0);
	return number;
}

static uint16_t find(struct unc_journal *j, uint64_t address)
{
	struct unc_journal_entry e = entry_of(address, 0);

	return unc_journal_find(j, &e.key, UNC_JOURNAL_NONE);
}

/* What one leaves, alone. */
static void take_out(struct unc_journal *j, uint16_t number, bool last)
{
	CHECK_NUMBER(unc_journal_last(j, number), last);
	(last ? unc_journal_clear : unc_journal_drop)(j, number);
}

static void one_after_the_other(struct unc_journal *a, struct unc_journal *b)
{
	lock(a);
	CHECK_NUMBER(find(a, 7), UNC_JOURNAL_NONE);
	uint16_t n = put_in(a, 7, 42);
	CU_ASSERT(unc_journal_held(a, n));
	CHECK_NUMBER(unc_journal_at(a, n)->pid, getpid());
	unc_journal_unlock(a);

	lock(b);
	CHECK_NUMBER(find(b, 7), n);
	CHECK_NUMBER(find(b, 8), UNC_JOURNAL_NONE);
	CHECK_NUMBER(unc_journal_at(b, n)->value, 42);
	CHECK_NUMBER(unc_journal_at(b, n)->found, 107);
	CU_ASSERT(unc_journal_held(b, n));
	unc_journal_join(b, n);
	unc_journal_unlock(b);

	lock(a);
	take_out(a, n, false);
	unc_journal_unlock(a);
	lock(b);
	take_out(b, n, true);
	CHECK_NUMBER(find(b, 7), UNC_JOURNAL_NONE);
	unc_journal_unlock(b);
	lock(a);
	CHECK_NUMBER(find(a, 7), UNC_JOURNAL_NONE);
	unc_journal_unlock(a);
}

static void test_two(void)
{
	struct unc_journal *a, *b;

	fake_new(&root);
	a = opened();
	b = opened();
	one_after_the_other(a, b); /* two platforms of a process */
	one_after_the_other(a, a); /* two sessions of a platform */
	unc_journal_free(a);
	unc_journal_free(b);
	a = in_memory();
	one_after_the_other(a, a);
	unc_journal_free(a);
	unc_journal_free(NULL);
	fake_free(&root);
}

/* Several of one register: bits of a filter. */
static void test_bits(void)
{
	struct unc_journal *j = in_memory();
	uint16_t first = put_in(j, 7, 1), second = put_in(j, 7, 2), other = put_in(j, 8, 3);
	struct unc_journal_key key = unc_journal_at(j, first)->key;
	uint16_t a = unc_journal_find(j, &key, UNC_JOURNAL_NONE), b = unc_journal_find(j, &key, a);

	CU_ASSERT((a == first && b == second) || (a == second && b == first));
	CHECK_NUMBER(unc_journal_find(j, &key, b), UNC_JOURNAL_NONE);
	key.package++;
	CHECK_NUMBER(unc_journal_find(j, &key, UNC_JOURNAL_NONE), UNC_JOURNAL_NONE);
	unc_journal_clear(j, first);
	unc_journal_clear(j, other);
	CHECK_NUMBER(find(j, 7), second);
	CHECK_NUMBER(find(j, 8), UNC_JOURNAL_NONE);
	unc_journal_free(j);
}

static void name_own(char *name, size_t size, const char *rest)
{
	snprintf(name, size, "/journal.%u%s", (unsigned)geteuid(), rest);
}

/* ---- processes that are killed */

static void end(pid_t pid)
{
	int status;

	CHECK_NUMBER(waitpid(pid, &status, 0), pid);
	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* At each write of what follows: its entries are all there, or none is; nobody holds them, and the
 * lock is free. */
static void test_any_write(void)
{
	unsigned total = 0;

	for (unsigned at = 1; total == 0 || at <= total; at++) {
		struct unc_journal_entry e[] = {entry_of(1, 5), entry_of(2, 6), entry_of(3, 7)};
		uint16_t all[3];

		fake_new(&root);
		pid_t pid = fork();
		if (pid == 0) {
			struct unc_journal *j = opened();

			writes = 0;
			die_at = total ? at : 0;
			lock(j);
			for (int i = 0; i < 3; i++)
				all[i] = unc_journal_add(j, &e[i]);
			if (unc_journal_write(j, NULL) < 0)
				_exit(1);
			for (int i = 0; i < 3; i++)
				unc_journal_clear(j, all[i]);
			unc_journal_unlock(j);
			_exit((int)writes);
		}
		if (total) {
			end(pid);
		} else {
			int status;

			waitpid(pid, &status, 0);
			total = (unsigned)WEXITSTATUS(status);
			at = 0;
			CU_ASSERT(total > 3);
		}
		struct unc_journal *j = opened();
		lock(j);
		unsigned there = 0;
		for (uint64_t i = 1; i <= 3; i++) {
			uint16_t n = find(j, i);

			if (n == UNC_JOURNAL_NONE)
				continue;
			there++;
			CU_ASSERT(!unc_journal_held(j, n));
			CHECK_NUMBER(unc_journal_at(j, n)->found, 100 + i);
			unc_journal_clear(j, n);
		}
		CU_ASSERT(there == 0 || there == 3);
		unc_journal_unlock(j);
		unc_journal_free(j);
		fake_free(&root);
	}
}

static pid_t *child; /* of that process, in memory that is shared */

/* It holds the lock of the node and an entry, and its child sleeps. */
static bool fork_within(const void *unused)
{
	struct unc_journal *j = opened();

	(void)unused;
	lock(j);
	put_in(j, 7, 42);
	pid_t pid = fork();
	while (pid == 0)
		pause();
	*child = pid;
	return true;
}

static void test_killed_within(void)
{
	fake_new(&root);
	child = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = suite_process(fork_within, NULL);
	struct unc_journal *j = opened();
	struct unc_error err;
	char want[100];

	CHECK_NUMBER(unc_journal_lock(j, 1, &err), UNC_ERR_BUSY);
	snprintf(want, sizeof(want),
		 "/lock is held by pid %d (test_journal), which has had it for more than a minute",
		 (int)pid);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, want));
	CHECK_NUMBER(unc_journal_lock(j, 0, &err), UNC_ERR_BUSY);
	kill(pid, SIGSTOP);
	CHECK_NUMBER(waitpid(pid, NULL, WUNTRACED), pid);
	for (unsigned patience = 1; patience <= 5; patience += 4) {
		waited = 0;
		CHECK_NUMBER(unc_journal_lock(j, patience, &err), UNC_ERR_BUSY);
		CU_ASSERT(waited / 1000000000 == patience);
		snprintf(want, sizeof(want), "pid %d (test_journal), which is stopped", (int)pid);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, want));
	}
	kill(pid, SIGKILL);
	end(pid);
	lock(j);
	CU_ASSERT(!unc_journal_held(j, find(j, 7)));
	unc_journal_unlock(j);
	kill(*child, SIGKILL);
	munmap(child, 4096);
	unc_journal_free(j);
	fake_free(&root);
}

/* Where the lock is not to be had a session gives up: what it counts by is let go, and no entry is written,
 * for others have written theirs since. */
static void test_given_up(void)
{
	fake_new(&root);
	struct unc_journal *a = opened(), *b = opened();
	lock(a);
	uint16_t first = put_in(a, 1, 0xa), last;
	unc_journal_unlock(a);
	lock(b);
	uint16_t between = put_in(b, 2, 0xb1);
	unc_journal_unlock(b);
	lock(a);
	last = put_in(a, 3, 0xa);
	unc_journal_unlock(a);
	lock(b);
	take_out(b, between, true);
	CHECK_NUMBER(put_in(b, 4, 0xbb), between);
	unc_journal_drop(a, first);
	unc_journal_drop(a, last);
	CHECK_NUMBER(unc_journal_write(a, NULL), 0);
	unc_journal_unlock(b);
	lock(a);
	CHECK_NUMBER(unc_journal_at(a, between)->value, 0xbb);
	CU_ASSERT(unc_journal_held(a, between));
	CHECK_NUMBER(find(a, 1), first);
	CU_ASSERT(!unc_journal_held(a, first) && !unc_journal_held(a, last));
	unc_journal_unlock(a);
	unc_journal_free(a);
	unc_journal_free(b);
	fake_free(&root);
}

/* A turn that has failed knows nothing of others: they are not what killed processes left. */
static void test_failed_turn(void)
{
	char name[64], file[300], away[310];

	fake_new(&root);
	struct unc_journal *a = opened(), *b = opened();
	name_own(name, sizeof(name), "");
	snprintf(file, sizeof(file), "%s", fake_path(&root, name));
	snprintf(away, sizeof(away), "%s.away", file);
	lock(a);
	put_in(a, 7, 42);
	unc_journal_unlock(a);
	for (int in_use = 0; in_use < 2; in_use++) {
		lock(b);
		CHECK_NUMBER(find(b, 7) != UNC_JOURNAL_NONE, 1);
		uint16_t n = in_use ? put_in(b, 8, 42) : UNC_JOURNAL_NONE;
		unc_journal_unlock(b);
		CHECK_NUMBER(rename(file, away), 0);
		full = true;
		lock(b);
		full = false;
		CU_ASSERT(*unc_journal_reason(b) != '\0');
		CHECK_NUMBER(find(b, 7), UNC_JOURNAL_NONE);
		CHECK_NUMBER(find(b, 8), n);
		unc_journal_unlock(b);
		CHECK_NUMBER(rename(away, file), 0);
		if (!in_use)
			CHECK_NUMBER(unc_journal_open(b, root.path, false), 0);
	}
	unc_journal_free(a);
	unc_journal_free(b);
	fake_free(&root);
}

/* ---- whose turn it is */

static struct unc_journal *turns;

/* Somebody else has had it, and has it again. */
static void take_turn(void)
{
	unc_journal_unlock(turns);
	lock(turns);
	if (waited > 20000000000u)
		unc_journal_unlock(turns);
}

/* Who takes turns is waited for, however long that takes. */
static void test_turns(void)
{
	fake_new(&root);
	struct unc_journal *j = opened();
	turns = opened();
	waited = 0;
	lock(turns);
	meanwhile = take_turn;
	lock(j);
	meanwhile = NULL;
	CU_ASSERT(waited >= 20000000000u);
	unc_journal_unlock(j);
	unc_journal_free(turns);
	unc_journal_free(j);
	fake_free(&root);
}

static void go_on_for_ever(void)
{
	unc_journal_unlock(turns);
	lock(turns);
}

/* But not for ever: whoever can write that file could keep it so. */
static void test_endless(void)
{
	struct unc_error err;

	fake_new(&root);
	struct unc_journal *j = opened();
	turns = opened();
	waited = 0;
	lock(turns);
	meanwhile = go_on_for_ever;
	CHECK_NUMBER(unc_journal_lock(j, 1, &err), UNC_ERR_BUSY);
	meanwhile = NULL;
	CU_ASSERT(waited / 1000000000 >= 119 && waited / 1000000000 < 125);
	unc_journal_unlock(turns);
	unc_journal_free(turns);
	unc_journal_free(j);
	fake_free(&root);
}

/* Users that there are not, as many as there is room for, by whoever can write that file. */
static void test_many_users(void)
{
	enum { USERS_AT = 84, USERS = 64 };
	uint32_t users[USERS + 1] = {USERS};

	fake_new(&root);
	struct unc_journal *j = opened();
	for (int in_use = 0; in_use < 2; in_use++) {
		lock(j);
		uint16_t n = put_in(j, 7, 42);
		if (!in_use)
			take_out(j, n, true);
		unc_journal_unlock(j);
		for (uint32_t i = 1; i <= USERS; i++)
			users[i] = 100000 + i;
		for (int again = 0; again < 3; again++) {
			char name[64];

			snprintf(name, sizeof(name), "/journal.%u", users[1 + again]);
			fake_text(fake_path(&root, name), "");
			if (geteuid() == 0)
				CHECK_NUMBER(chown(fake_path(&root, name), users[1 + again], 0), 0);
			fake_bytes(fake_path(&root, "/lock"), USERS_AT, users, sizeof(users));
			lock(j);
			CHECK_TEXT(unc_journal_reason(j), "");
			CHECK_NUMBER(find(j, 7), in_use ? n : UNC_JOURNAL_NONE);
			unc_journal_unlock(j);
		}
	}
	unc_journal_free(j);
	fake_free(&root);
}

/* ---- threads */

static volatile bool forks;

static void *take_turns(void *user)
{
	while (forks) {
		if (unc_journal_lock(user, 1, NULL) == 0)
			unc_journal_unlock(user);
	}
	return NULL;
}

/* A child that is forked while another thread is in a turn gives back what it has, and lives. */
static void test_threads(void)
{
	unsigned died = 0;
	pthread_t thread;

	fake_new(&root);
	struct unc_journal *j = opened(), *other = opened();
	lock(j);
	unc_journal_unlock(j);
	forks = true;
	CU_ASSERT_FATAL(pthread_create(&thread, NULL, take_turns, j) == 0);
	for (int i = 0; i < 300; i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0) {
			unc_journal_free(j);
			unc_journal_free(other);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		died += status != 0;
	}
	forks = false;
	pthread_join(thread, NULL);
	CHECK_NUMBER(died, 0);
	unc_journal_free(j);
	unc_journal_free(other);
	fake_free(&root);
}

/* ---- the files */

static void check_refused(int code, const char *why)
{
	struct unc_journal *j = in_memory();

	CHECK_NUMBER(unc_journal_open(j, root.path, false), code);
	if (!strstr(unc_journal_reason(j), why))
		CHECK_TEXT(unc_journal_reason(j), why);
	lock(j); /* in memory */
	take_out(j, put_in(j, 7, 42), true);
	unc_journal_unlock(j);
	unc_journal_free(j);
}

static void test_refused(void)
{
	char name[64], at[300], other[300];

	fake_new(&root);
	name_own(name, sizeof(name), "");
	snprintf(at, sizeof(at), "%s", fake_path(&root, name));
	snprintf(other, sizeof(other), "%s", fake_path(&root, "/other"));
	CHECK_NUMBER(symlink("/etc/passwd", at), 0);
	check_refused(UNC_ERR_DENIED, "a link is not followed");
	unlink(at);
	CHECK_NUMBER(mkfifo(at, 0600), 0);
	check_refused(UNC_ERR_DENIED, "not a file that has one name");
	unlink(at);
	unc_journal_free(opened());
	CHECK_NUMBER(link(at, other), 0);
	check_refused(UNC_ERR_DENIED, "not a file that has one name");
	unlink(other);
	CHECK_NUMBER(chmod(at, 0664), 0);
	check_refused(UNC_ERR_DENIED, "only its user may write");
	CHECK_NUMBER(chmod(at, 0644), 0);
	CHECK_NUMBER(chmod(root.path, 0777), 0);
	check_refused(UNC_ERR_DENIED, "needs a folder of root or of yours");
	CHECK_NUMBER(chmod(root.path, 0770), 0);
	check_refused(UNC_ERR_DENIED, "needs a folder of root or of yours");
	CHECK_NUMBER(chmod(root.path, 01770), 0);
	unc_journal_free(opened());
	fake_free(&root);
	check_refused(UNC_ERR_NOT_FOUND, "No such file or directory");
}

static void test_made(void)
{
	struct stat st;
	char name[64];

	fake_new(&root);
	struct unc_journal *j = in_memory();
	char dir[300];
	snprintf(dir, sizeof(dir), "%s", fake_path(&root, "/made"));
	CHECK_NUMBER(unc_journal_open(j, dir, true), 0);
	CHECK_NUMBER(stat(dir, &st), 0);
	CHECK_NUMBER(st.st_mode & 07777, 0755);
	static const struct {
		const char *rest;
		mode_t mode;
	} files[] = {{"", 0644}, {".locks", 0600}};
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "/made/journal.%u%s", (unsigned)geteuid(),
			 files[i].rest);
		CHECK_NUMBER(stat(fake_path(&root, name), &st), 0);
		CHECK_NUMBER(st.st_mode & 07777, files[i].mode);
	}
	CHECK_NUMBER(stat(fake_path(&root, "/made/lock"), &st), 0);
	CHECK_NUMBER(st.st_mode & 07777, 0660);
	unc_journal_free(j);
	fake_free(&root);
}

/* Spoils the file of the entries. */
static void spoil(off_t at, const void *bytes, size_t size, off_t length)
{
	char name[64];

	name_own(name, sizeof(name), "");
	if (length >= 0)
		CHECK_NUMBER(truncate(fake_path(&root, name), length), 0);
	fake_bytes(fake_path(&root, name), (uint64_t)at, bytes, size);
}

/* While a session runs and after it: cut, of another layout, forged, of another boot. */
static void test_spoilt(void)
{
	static const char noise[8] = {3, 1, 4, 1, 5, 9, 2, 6};
	static const struct {
		off_t at;
		size_t size;
		off_t length;
		bool anew; /* its entries are none */
	} ways[] = {{0, 0, 0, true},
		    {0, 0, 100, false},
		    {0, 8, -1, false},
		    {8, 8, -1, true},
		    {48, 8, -1, false}};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		fake_new(&root);
		struct unc_journal *a = opened(), *b = opened();
		lock(a);
		uint16_t n = put_in(a, 7, 42);
		unc_journal_unlock(a);
		spoil(ways[i].at, noise, ways[i].size, ways[i].length);
		lock(b);
		CHECK_NUMBER(*unc_journal_reason(b) == '\0', ways[i].anew);
		CHECK_NUMBER(find(b, 7), UNC_JOURNAL_NONE);
		uint16_t m = put_in(b, 8, 43);
		CU_ASSERT(!ways[i].anew || m != n); /* the place is locked */
		unc_journal_unlock(b);
		/* The first knows still what it has programmed, and that it is alone. */
		lock(a);
		CHECK_NUMBER(unc_journal_at(a, n)->found, 107);
		take_out(a, n, true);
		unc_journal_unlock(a);
		lock(b);
		take_out(b, m, true);
		unc_journal_unlock(b);
		/* Where nobody uses it any more it is made anew. */
		CHECK_NUMBER(unc_journal_open(b, root.path, false), 0);
		lock(b);
		CHECK_TEXT(unc_journal_reason(b), "");
		take_out(b, put_in(b, 7, 44), true);
		unc_journal_unlock(b);
		unc_journal_free(a);
		unc_journal_free(b);
		fake_free(&root);
	}
}

/* Noise in the file of the node is nobody's turn. */
static void test_node(void)
{
	fake_new(&root);
	struct unc_journal *a = opened();
	lock(a);
	uint16_t n = put_in(a, 7, 42);
	unc_journal_unlock(a);
	fake_bytes(fake_path(&root, "/lock"), 0, "noisenoisenoise", 15);
	lock(a);
	take_out(a, n, true);
	unc_journal_unlock(a);
	unlink(fake_path(&root, "/lock"));
	lock(a);
	n = put_in(a, 7, 42);
	CU_ASSERT_PTR_NOT_NULL(strstr(unc_journal_reason(a), "was removed while sessions ran"));
	unc_journal_unlock(a);
	lock(a);
	take_out(a, n, true);
	unc_journal_unlock(a);
	CHECK_NUMBER(unc_journal_open(a, root.path, false), 0);
	lock(a);
	CHECK_TEXT(unc_journal_reason(a), "");
	unc_journal_unlock(a);
	unc_journal_free(a);
	fake_free(&root);
}

static void test_full(void)
{
	enum { MANY = 16384 };
	struct unc_journal_entry e = entry_of(0, 42);

	fake_new(&root);
	struct unc_journal *j = opened();
	lock(j);
	for (unsigned i = 0; i < MANY; i++) {
		e.key.address = i;
		CHECK_NUMBER(unc_journal_add(j, &e), i);
	}
	CHECK_NUMBER(unc_journal_write(j, NULL), 0);
	CHECK_NUMBER(unc_journal_add(j, &e), UNC_JOURNAL_NONE);
	unc_journal_clear(j, 100);
	CHECK_NUMBER(put_in(j, 7, 1), 100);
	for (unsigned i = 0; i < MANY; i++)
		unc_journal_clear(j, (uint16_t)i);
	unc_journal_unlock(j);
	lock(j);
	CHECK_NUMBER(find(j, 7), UNC_JOURNAL_NONE);
	unc_journal_unlock(j);
	unc_journal_free(j);
	fake_free(&root);
}

/* ---- users */

static void become(unsigned user)
{
	const gid_t group = 65533;

	if (setgroups(1, &group) < 0 || setresgid(group, group, group) < 0 ||
	    setresuid(user, user, user) < 0)
		_exit(1);
}

static bool hold_as_user(const void *unused)
{
	struct unc_journal *j = opened();

	(void)unused;
	unc_journal_free(j); /* it was root's */
	become(65534);
	j = opened();
	lock(j);
	put_in(j, 7, 42);
	struct unc_journal_entry bits = entry_of(8, 0);
	for (bits.mask = 0xf; bits.mask < 0x1000; bits.mask <<= 4)
		unc_journal_add(j, &bits);
	unc_journal_unlock(j);
	return true;
}

/* Another user's entry is taken; root can tell whether somebody counts by it; nobody else can open the
 * locks, and who has none on the file of entries has one that tells nothing. */
static void test_users(void)
{
	struct unc_journal_entry e = entry_of(7, 0);
	uint32_t user = 0;
	bool held = false;

	if (geteuid() != 0) {
		suite_skip("only root can become another user");
		return;
	}
	fake_new(&root);
	CHECK_NUMBER(chown(root.path, 0, 65533), 0);
	CHECK_NUMBER(chmod(root.path, 03770), 0);
	pid_t pid = suite_process(hold_as_user, NULL);
	for (int lives = 1; lives >= 0; lives--) {
		struct unc_journal *j = opened();
		lock(j);
		CHECK_NUMBER(find(j, 7), UNC_JOURNAL_NONE);
		CU_ASSERT_PTR_NOT_NULL(unc_journal_taken(j, &e.key, 0, &user, &held));
		CHECK_NUMBER(user, 65534);
		CHECK_NUMBER(held, lives);
		for (uint64_t mask = 0xf; mask < 0x10000; mask <<= 4) {
			struct unc_journal_entry bits = entry_of(8, 0);
			CHECK_NUMBER(unc_journal_taken(j, &bits.key, mask, &user, &held) != NULL,
				     mask < 0x1000);
		}
		unc_journal_unlock(j);
		unc_journal_free(j);
		fflush(stdout);
		pid_t third = fork();
		if (third == 0) {
			become(65532);
			j = opened();
			lock(j);
			if (!unc_journal_taken(j, &e.key, 0, &user, &held) || !held)
				_exit(1);
			_exit(open(fake_path(&root, "/journal.65534.locks"), O_RDONLY) >= 0 ||
			      open(fake_path(&root, "/journal.65534"), O_RDWR) >= 0);
		}
		int status;
		waitpid(third, &status, 0);
		CHECK_NUMBER(status, 0);
		if (lives) {
			kill(pid, SIGKILL);
			end(pid);
		}
	}
	fake_free(&root);
}

/* ---- many, some of which are killed */

enum { REGS = 24, VALUES = 3, MINE = 4, WORKERS = 64 };
struct shared {
	volatile uint64_t reg[REGS];
	volatile uint64_t wrong, joins, news, left, errors, ends;
};
static struct shared *world;
static uint64_t seed;

static unsigned any(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void count(volatile uint64_t *what)
{
	__atomic_fetch_add(what, 1, __ATOMIC_SEQ_CST);
}

static void nap(unsigned us)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)us * 1000}, NULL);
}

/* What was left is restored; an entry of a register is joined, or is new, or is in the way. */
static uint16_t begin_one(struct unc_journal *j, uint64_t address, uint64_t want)
{
	struct unc_journal_entry e = entry_of(address, want);
	volatile uint64_t *reg = &world->reg[address];
	uint16_t n = find(j, address);

	if (n != UNC_JOURNAL_NONE && !unc_journal_held(j, n)) {
		count(&world->left);
		if (*reg == unc_journal_at(j, n)->value)
			*reg = unc_journal_at(j, n)->found;
		if (any(8) == 0)
			nap(any(200)); /* a good time to be killed */
		unc_journal_clear(j, n);
		n = UNC_JOURNAL_NONE;
	}
	if (n != UNC_JOURNAL_NONE) {
		if (unc_journal_at(j, n)->value != want)
			return UNC_JOURNAL_NONE;
		if (*reg != want)
			count(&world->wrong);
		count(&world->joins);
		unc_journal_join(j, n);
		return n;
	}
	e.found = *reg;
	if (e.found != 100 + address)
		count(&world->wrong);
	n = unc_journal_add(j, &e);
	if (n == UNC_JOURNAL_NONE || unc_journal_write(j, NULL) < 0)
		count(&world->errors);
	if (any(8) == 0)
		nap(any(200));
	*reg = want;
	count(&world->news);
	return n;
}

static void once(struct unc_journal *j)
{
	uint64_t want[MINE], first = any(REGS - MINE);
	uint16_t n[MINE];
	struct unc_error err;

	if (unc_journal_lock(j, 60, &err) < 0) {
		count(&world->errors);
		return;
	}
	for (unsigned i = 0; i < MINE; i++) {
		want[i] = 1 + any(VALUES);
		n[i] = begin_one(j, first + i, want[i]);
	}
	unc_journal_unlock(j);
	for (unsigned k = any(10); k-- > 0; nap(any(300)))
		for (unsigned i = 0; i < MINE; i++)
			if (n[i] != UNC_JOURNAL_NONE && world->reg[first + i] != want[i])
				count(&world->wrong);
	if (unc_journal_lock(j, 60, &err) < 0) {
		count(&world->errors);
		_exit(1);
	}
	for (unsigned i = 0; i < MINE; i++) {
		if (n[i] == UNC_JOURNAL_NONE)
			continue;
		if (!unc_journal_last(j, n[i])) {
			unc_journal_drop(j, n[i]);
			continue;
		}
		world->reg[first + i] = unc_journal_at(j, n[i])->found;
		if (any(8) == 0)
			nap(any(200));
		unc_journal_clear(j, n[i]);
	}
	unc_journal_unlock(j);
}

/* 64 processes join and leave the same registers, and are killed at random; ALL=1: for ten minutes. */
static void test_many(void)
{
	const bool all = getenv("ALL") != NULL;
	const time_t until = time(NULL) + 600;
	unsigned started = 0;
	pid_t pid[WORKERS] = {0};

	fake_new(&root);
	world = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(world != MAP_FAILED);
	for (unsigned i = 0; i < REGS; i++)
		world->reg[i] = 100 + i;
	seed = all ? (uint64_t)time(NULL) : 1;
	real_time = true;
	printf("# seed %llu\n", (unsigned long long)seed);
	for (unsigned i = 0; i < WORKERS || (all ? time(NULL) < until : started < 600); i++) {
		const unsigned at = i < WORKERS ? i : any(WORKERS);
		const uint64_t his = any(1u << 30), done = world->joins + any(40);

		while (i >= WORKERS && world->joins < done)
			nap(any(200));
		if (i >= WORKERS) {
			kill(pid[at], SIGKILL);
			waitpid(pid[at], NULL, 0);
		}
		fflush(stdout);
		if ((pid[at] = fork()) == 0) {
			struct unc_journal *j = opened();

			seed = his;
			while (!world->ends)
				once(j);
			_exit(0);
		}
		started++;
	}
	world->ends = 1;
	while (wait(NULL) > 0)
		continue;
	real_time = false;
	struct unc_journal *j = opened();
	lock(j);
	for (unsigned i = 0; i < REGS; i++) {
		uint16_t n = find(j, i);

		if (n == UNC_JOURNAL_NONE)
			continue;
		CU_ASSERT(!unc_journal_held(j, n));
		if (world->reg[i] == unc_journal_at(j, n)->value)
			world->reg[i] = unc_journal_at(j, n)->found;
		unc_journal_clear(j, n);
	}
	unc_journal_unlock(j);
	for (unsigned i = 0; i < REGS; i++)
		CHECK_NUMBER(world->reg[i], 100 + i);
	CHECK_NUMBER(world->wrong, 0);
	CHECK_NUMBER(world->errors, 0);
	CU_ASSERT(started > 500 && world->joins > started && world->left > 0);
	printf("# %u processes; %llu joins, %llu new, %llu left by killed ones\n", started,
	       (unsigned long long)world->joins, (unsigned long long)world->news,
	       (unsigned long long)world->left);
	munmap(world, 4096);
	unc_journal_free(j);
	fake_free(&root);
}

/* Standard input, output and error are not its files, which a program may have closed. */
static void test_stdio(void)
{
	fake_new(&root);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 3; i++)
			close(i);
		struct unc_journal *j = opened();
		lock(j);
		_exit(fcntl(0, F_GETFD) != -1 || fcntl(1, F_GETFD) != -1 ||
		      fcntl(2, F_GETFD) != -1);
	}
	int status;
	waitpid(pid, &status, 0);
	CHECK_NUMBER(status, 0);
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"two that have it open", test_two},
		{"entries of one register", test_bits},
		{"killed at any write", test_any_write},
		{"killed in its turn, while a child sleeps", test_killed_within},
		{"one that gives up", test_given_up},
		{"a turn that fails", test_failed_turn},
		{"who takes turns is waited for", test_turns},
		{"but not for ever", test_endless},
		{"more users than there are", test_many_users},
		{"a fork while a thread is in its turn", test_threads},
		{"files that are refused", test_refused},
		{"files that are made", test_made},
		{"a file that is spoilt", test_spoilt},
		{"the file of the node", test_node},
		{"full", test_full},
		{"users", test_users},
		{"many, some of which are killed", test_many},
		{"standard input, output and error", test_stdio},
		{NULL, NULL},
	};

	return suite_run("journal", tests);
}
