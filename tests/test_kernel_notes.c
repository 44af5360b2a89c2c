/* SPDX-License-Identifier: BSD-3-Clause */
/* The file by which processes find each other's groups of events: what it says is not believed. */
#include <poll.h>
#include <time.h>

#include "kernel_crowd.h"

static uint64_t waited; /* ns, where time does not pass by waiting */

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	naps++;
	waited += (uint64_t)t->tv_nsec;
	return hurried ? 0 : REAL(ppoll)(fds, n, t, mask);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!hurried || clock != CLOCK_MONOTONIC_COARSE)
		return REAL(clock_gettime)(clock, t);
	t->tv_sec = (time_t)(waited / 1000000000);
	t->tv_nsec = (long)(waited % 1000000000);
	return 0;
}

/* No more are noted than leave room for registers; what processes have left that ended makes room.
 * */
static void test_full(void)
{
	struct unc_ledger_record r;
	struct unc_note note;

	begin_test();
	struct child *first = begin_child(), *before = begin_child(), *second = begin_child(),
		     *third = begin_child();
	struct answer a = ask(first, 'o', 1);
	CHECK_OPENED(a, 1, 0);
	CU_ASSERT_FATAL(find_note(0, &r, &note) == 0);
	for (uint32_t i = 1; i < N_RECORDS / 2; i++) {
		r.key.place++;
		fake_bytes(file(), RECORDS_AT + i * sizeof(r), &r, sizeof(r));
	}
	fake_bytes(file(), 40, &(uint32_t){N_RECORDS / 2}, 4);
	CHECK_NUMBER(count_notes(), N_RECORDS / 2);
	CHECK_OPENED(ask(before, 'o', 0), 2, 0);
	CHECK_NUMBER(count_notes(), N_RECORDS / 2);
	kill_child(first);
	struct answer b = ask(second, 'o', 0), c = ask(third, 'o', 0);
	CHECK_OPENED(b, 2, 0);
	CHECK_OPENED(c, 0, 2);
	CHECK_SAME(b, c);
	CHECK_NUMBER(count_notes(), 1);
	end_test();
}

/* In a container that has numbers of processes of its own: nobody can be asked, but those that have
 * ended are known. */
static void test_namespace(void)
{
	begin_test();
	struct child *first = begin_child(), *second = begin_child(), *third = begin_child();
	struct answer a = ask(first, 'o', 0);
	uint64_t other = 4242;

	fake_bytes(file(), SLOTS_AT + 16, &other, sizeof(other));
	struct answer b = ask(second, 'o', 0);
	CHECK_OPENED(b, 2, 0);
	CHECK_OTHER(a, b);
	CHECK_NUMBER(count_notes(), 2);
	kill_child(first);
	struct answer c = ask(third, 'o', 0);
	CHECK_OPENED(c, 0, 2);
	CHECK_SAME(b, c);
	CHECK_NUMBER(count_notes(), 1);
	end_test();
}

/* ---- what is read from the file */

static void fill_garbage(int fd, uint64_t from, uint64_t size, unsigned char byte)
{
	unsigned char page[4096];

	memset(page, byte, sizeof(page));
	for (uint64_t at = from; at < from + size; at += sizeof(page))
		if (pwrite(fd, page, sizeof(page), (off_t)at) != sizeof(page))
			fake_die("pwrite");
}

/* The file from a place on, with as many records as there can be where its header is left. */
static void spoil(off_t from, int byte, off_t size)
{
	const uint64_t changes = fake_get(file(), 24, 8) + 1;
	const uint32_t most = N_RECORDS;
	int fd = open(file(), O_RDWR | O_CLOEXEC);

	CU_ASSERT_FATAL(fd >= 0);
	if (byte >= 0)
		fill_garbage(fd, (uint64_t)from, 2 << 20, (unsigned char)byte);
	for (uint32_t at = (uint32_t)from, x = 1; byte < 0 && at < 2 << 20; at += 4) {
		x = x * 1664525 + 1013904223;
		CU_ASSERT(pwrite(fd, &x, 4, at) == 4);
	}
	CU_ASSERT(!from || (pwrite(fd, &changes, 8, 24) == 8 && pwrite(fd, &most, 4, 40) == 4));
	CHECK_NUMBER(ftruncate(fd, size), 0);
	close(fd);
}

static void test_broken(void)
{
	static const struct {
		int byte; /* < 0: pseudo-random */
		off_t size;
	} rows[] = {{0xff, 2 << 20}, {0, 2 << 20},    {0x01, 2 << 20},
		    {0x07, 2 << 20}, {0x80, 2 << 20}, {-1, 2 << 20},
		    {0xff, 100},     {0xff, 70000},   {0, 0}};

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		begin_test();
		struct child *first = begin_child(), *second = begin_child(),
			     *third = begin_child();
		struct answer a = ask(first, 'o', 0);

		CHECK_OPENED(a, 2, 0);
		spoil(i % 2 ? SLOTS_AT : 0, rows[i / 2].byte, rows[i / 2].size);
		struct answer b = ask(second, 'o', 0);
		CHECK_OPENED(b, 2, 0);
		CHECK_OTHER(a, b);
		/* Each goes on, whether or not there is room for a note. */
		struct answer c = ask(third, 'o', 0);
		CHECK_NUMBER(c.code, 0);
		CHECK_NUMBER(c.opened + c.taken, 2);
		CHECK_NUMBER(ask(first, 'r', 0).code, 0);
		CHECK_NUMBER(ask(first, 'c', 0).code, 0);
		end_test();
	}
}

/* A note that is wrong in one thing alone: after `set` nobody may be asked, or believed. */
static void test_lies(void)
{
	enum { N, TYPE, CPU, CONFIG, ID, LAST_ID, HOLDERS, PID, ROW };
	static const struct {
		int what;
		int64_t value;
	} rows[] = {{N, 0xffffffff},  {N, 12},          {N, 3},       {N, 1},
		    {N, 0},           {TYPE, 12},       {CPU, 4000},  {CONFIG, 5},
		    {ID, 0},          {ID, -1},         {LAST_ID, 0}, {HOLDERS, -1},
		    {PID, 0},         {PID, -1},        {PID, 1},     {PID, INT64_MIN},
		    {PID, INT32_MAX}, {PID, 1LL << 32}, {ROW, -1},    {ROW, INT32_MAX},
		    {ROW, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_test();
		struct child *first = begin_child(), *second = begin_child(),
			     *third = begin_child();
		struct answer a = ask(first, 'o', 0);
		struct unc_ledger_record r;
		struct unc_note note;
		int64_t value = rows[i].value;

		CU_ASSERT_FATAL(find_note(0, &r, &note) == 0 && note.n == 2);
		if (rows[i].what == N)
			note.n = (uint32_t)value;
		if (rows[i].what == TYPE)
			note.type = (uint32_t)value;
		if (rows[i].what == CPU)
			note.cpu = (uint32_t)value;
		if (rows[i].what == CONFIG)
			note.event[1].config2 = (uint64_t)value;
		if (rows[i].what == ID)
			note.event[0].id = (uint64_t)value;
		if (rows[i].what == LAST_ID)
			note.event[1].id = (uint64_t)value;
		if (rows[i].what == HOLDERS)
			memset(r.holder, 0xff, sizeof(r.holder));
		fake_bytes(file(), RECORDS_AT, &r, sizeof(r));
		fake_bytes(file(), BLOCKS_AT, &note, sizeof(note));
		if (rows[i].what == PID)
			fake_bytes(file(), SLOTS_AT, &value, sizeof(value));
		if (rows[i].what == ROW)
			fake_bytes(file(), BLOCKS_AT + 512, &value, 4);
		struct answer b = ask(second, 'o', 0);
		/* Bits of holders that are not there do no harm. */
		bool found = rows[i].what == HOLDERS;
		CHECK_NUMBER(b.code, 0);
		CHECK_NUMBER(b.opened, found ? 0 : 2);
		CHECK_NUMBER(b.id[0] == a.id[0], found);
		struct answer c = ask(third, 'o', 0);
		CHECK_OPENED(c, 0, 2);
		CHECK_SAME(b, c);
		end_test();
	}
}

static void test_no_file(void)
{
	char other[300];

	for (unsigned kind = 0; kind < 5; kind++) {
		begin_test();
		struct child *first = begin_child(), *second = begin_child();

		snprintf(other, sizeof(other), "%s/other", root.path);
		if (kind == 0)
			CHECK_NUMBER(mkdir(file(), 0700), 0);
		if (kind == 1)
			CHECK_NUMBER(symlink("other", file()), 0);
		if (kind == 2)
			CHECK_NUMBER(mkfifo(file(), 0600), 0);
		if (kind == 3) {
			fake_text(other, "x");
			CHECK_NUMBER(link(other, file()), 0);
		}
		if (kind == 4)
			CHECK_NUMBER(chmod(root.path, 0777), 0);
		CHECK_OPENED(ask(first, 'o', 0), 2, 0);
		CHECK_OPENED(ask(second, 'o', 0), 2, 0);
		CHECK_NUMBER(access(other, F_OK), kind == 3 ? 0 : -1);
		end_test();
	}
}

/* Nobody has made the folder yet: the first who notes an event does. */
static void test_no_folder(void)
{
	char folder[300];
	struct stat st;

	makes_folder = true;
	begin_test();
	struct child *first = begin_child(), *second = begin_child();
	struct answer a = ask(first, 'o', 0);
	struct answer b = ask(second, 'o', 0);

	CHECK_OPENED(a, 2, 0);
	CHECK_OPENED(b, 0, 2);
	CHECK_SAME(a, b);
	snprintf(folder, sizeof(folder), "%s/new", root.path);
	CU_ASSERT(stat(folder, &st) == 0 && S_ISDIR(st.st_mode));
	end_test();
	makes_folder = false;
}

/* Taken away while it is in use: a new one is made, and who holds a lock in the old one is not in it. */
static void test_removed(void)
{
	begin_test();
	struct child *first = begin_child(), *second = begin_child(), *third = begin_child();
	struct answer a = ask(first, 'o', 0);

	CHECK_NUMBER(unlink(file()), 0);
	struct answer b = ask(second, 'o', 0), c = ask(third, 'o', 0);
	CHECK_OTHER(a, b);
	CHECK_SAME(b, c);
	CHECK_NUMBER(ask(first, 'c', 0).code, 0);
	struct answer again = ask(first, 'o', 0);
	CHECK_OPENED(again, 0, 2);
	CHECK_SAME(again, b);
	end_test();
}

/* One that is stopped while it has the lock is waited for, once by each who wants it. */
static void test_stopped(void)
{
	begin_test();
	struct child *first = begin_child(), *second = begin_child();
	struct answer a = ask(first, 'o', 0);
	int fd = open(fake_path(&root, "/ledger"), O_RDWR | O_CLOEXEC);
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 40, .l_len = 1};

	CHECK_NUMBER(fcntl(fd, F_OFD_SETLK, &lock), 0);
	ask(second, 'h', 0);
	struct answer b = ask(second, 'o', 0);
	CHECK_OPENED(b, 2, 0);
	CHECK_OTHER(a, b);
	/* 10 to 11 s, 2 ms each but the first few */
	CU_ASSERT(b.naps >= 5000 && b.naps < 5600);
	unsigned before = ask(second, 'c', 0).naps;
	b = ask(second, 'o', 0);
	CHECK_OPENED(b, 2, 0);
	CU_ASSERT(b.naps - before < 5600);
	close(fd);
	end_test();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"no room for a note", test_full},
		{"another namespace", test_namespace},
		{"notes of garbage", test_broken},
		{"notes that are wrong in one thing", test_lies},
		{"no file of ours", test_no_file},
		{"no folder", test_no_folder},
		{"the file is removed", test_removed},
		{"the lock is not given back", test_stopped},
		{NULL, NULL},
	};

	return run_crowd("event notes", tests);
}
