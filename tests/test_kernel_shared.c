/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of the kernel's events among processes of one user: who takes which, and when not. */
#include <sys/mman.h>

#include "kernel_crowd.h"

static void test_taken(void)
{
	begin_test();
	struct child *first = begin_child(), *second = begin_child(), *third = begin_child();
	unsigned before = ask(second, '-', 0).descriptors;
	struct answer a = ask(first, 'o', 0), b = ask(second, 'o', 0);

	CHECK_OPENED(a, 2, 0);
	CHECK_OPENED(b, 0, 2);
	CHECK_SAME(a, b);
	/* The file of the node, and that of this user as long as it has something open. */
	CHECK_NUMBER(b.descriptors, before + 4);
	/* Who wants one of them takes all: an event that nobody has open is none. */
	struct answer c = ask(third, 'o', 2);
	CHECK_OPENED(c, 0, 2);
	CHECK_SAME(a, c);
	CHECK_NUMBER(ask(second, 'c', 0).descriptors, before + 1);
	end_test();
}

static void test_killed(void)
{
	begin_test();
	struct child *first = begin_child(), *second = begin_child(), *third = begin_child();
	struct answer a = ask(first, 'o', 0), b = ask(second, 'o', 0);

	CHECK_SAME(a, b);
	kill_child(first);
	struct answer before = ask(second, 'r', 0), after = ask(second, 'r', 0);
	CHECK_NUMBER(before.code, 0);
	CHECK_NUMBER(after.code, 0);
	CU_ASSERT(after.value[1] > before.value[1]);
	struct answer c = ask(third, 'o', 0);
	CHECK_OPENED(c, 0, 2);
	CHECK_SAME(a, c);
	/* The last two at once: nobody is left to take it from, though there is one that was forked. */
	ask(second, 's', 0);
	kill_child(second);
	kill_child(third);
	struct child *fourth = begin_child();
	struct answer d = ask(fourth, 'o', 0);
	CHECK_OPENED(d, 2, 0);
	CHECK_OTHER(a, d);
	CHECK_NUMBER(count_notes(), 1); /* what has ended is forgotten */
	end_test();
}

/* Who has closed its own is not asked, and one that goes leaves it to the others. */
static void test_closed(void)
{
	begin_test();
	struct child *first = begin_child(), *second = begin_child(), *third = begin_child();
	struct answer a = ask(first, 'o', 0);

	CHECK_SAME(a, ask(second, 'o', 0));
	CHECK_NUMBER(ask(first, 'c', 0).code, 0);
	struct answer c = ask(third, 'o', 0);
	CHECK_OPENED(c, 0, 2);
	CHECK_SAME(a, c);
	ask(second, 'c', 0);
	ask(third, 'c', 0);
	struct answer again = ask(first, 'o', 0);
	CHECK_OPENED(again, 2, 0);
	CHECK_OTHER(a, again);
	CHECK_SAME(again, ask(second, 'o', 0));
	CHECK_NUMBER(count_notes(), 1);
	ask(first, 'c', 0);
	ask(second, 'c', 0);
	CHECK_NUMBER(count_notes(), 0);
	end_test();
}

enum { N_FAULTS = 5000 };

/* So many page faults on the CPU of the events. */
static void fault_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = N_FAULTS * page;
	char *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_FATAL(all != MAP_FAILED);
	madvise(all, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += page)
		*(volatile char *)(all + i) = 1;
	munmap(all, size);
}

/* The same interval, read while nothing counts, is the same number for all. */
static void test_equal(void)
{
	enum { SHARERS = 4 };
	struct child *all[SHARERS];
	struct answer base[SHARERS], end[SHARERS];
	cpu_set_t before, one;

	begin_test();
	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&one);
	CPU_SET(place.cpu, &one);
	CU_ASSERT_EQUAL_FATAL(sched_setaffinity(0, sizeof(one), &one), 0);
	for (unsigned i = 0; i < SHARERS; i++) {
		all[i] = begin_child();
		CHECK_NUMBER(ask(all[i], 'o', 0).code, 0);
		fault_pages(); /* each finds another count */
	}
	ask(all[0], 'e', 0);
	for (unsigned i = 0; i < SHARERS; i++)
		base[i] = ask(all[i], 'r', 0);
	ask(all[1], 'e', 1);
	fault_pages();
	ask(all[0], 'e', 0);
	for (unsigned i = 0; i < SHARERS; i++) {
		end[i] = ask(all[i], 'r', 0);
		CHECK_NUMBER(end[i].code, 0);
		CU_ASSERT(end[i].value[0] - base[i].value[0] >= N_FAULTS);
		for (unsigned k = 0; k < 2; k++)
			CHECK_NUMBER(end[i].value[k] - base[i].value[k],
				     end[0].value[k] - base[0].value[k]);
	}
	sched_setaffinity(0, sizeof(before), &before);
	end_test();
}

static void test_other_user(void)
{
	struct stat st;

	if (geteuid() != 0) {
		suite_skip("only root can become another user");
		return;
	}
	begin_test();
	struct child *first = begin_child(), *second = begin_child(), *third = begin_child();
	struct answer a = ask(first, 'o', 0);
	CHECK_OPENED(a, 2, 0);
	CHECK_NUMBER(stat(file(), &st), 0);
	CHECK_NUMBER(st.st_mode, S_IFREG | 0640);
	/* Root may trace it, and does not ask it. */
	CHECK_NUMBER(ask(first, 'u', 0).code, 0);
	struct answer b = ask(second, 'o', 0);
	CHECK_OPENED(b, 2, 0);
	CHECK_OTHER(a, b);
	/* Nor does it believe a file that somebody else can have written. */
	CHECK_NUMBER(chown(file(), 65534, (gid_t)-1), 0);
	CHECK_OPENED(ask(third, 'o', 0), 2, 0);
	CHECK_NUMBER(chown(file(), 0, (gid_t)-1) | chmod(file(), 0660), 0);
	ask(third, 'c', 0);
	CHECK_OPENED(ask(third, 'o', 0), 2, 0);
	CHECK_NUMBER(chmod(file(), 0640), 0);
	ask(third, 'c', 0);
	struct answer c = ask(third, 'o', 0);
	CHECK_OPENED(c, 0, 2);
	CHECK_SAME(b, c);
	end_test();
}

/* Numbers of descriptors that stand for something else now. */
static void test_reused(void)
{
	begin_test();
	for (unsigned event = 0; event < 2; event++) {
		struct child *first = begin_child(), *second = begin_child(),
			     *third = begin_child();
		struct answer a = ask(first, 'o', 0);

		CHECK_OPENED(a, 2, 0);
		CHECK_NUMBER(ask(first, 'f', event).code, 0);
		struct answer b = ask(second, 'o', 0);
		CHECK_OPENED(b, 2, event ? 2 : 0); /* what is no event is not even kept */
		CHECK_OTHER(a, b);
		struct answer c = ask(third, 'o', 0);
		CHECK_OPENED(c, 0, 2);
		CHECK_SAME(b, c);
		kill_child(first);
		kill_child(second);
		kill_child(third);
	}
	/* One of two is not there: what is left is another group. */
	for (unsigned gone = 0; gone < 2; gone++) {
		struct child *first = begin_child(), *second = begin_child();
		struct answer a = ask(first, 'o', 0);

		CHECK_OPENED(a, 2, 0);
		unsigned before = ask(second, '-', 0).descriptors;
		ask(first, 'd', gone);
		struct answer b = ask(second, 'o', 0);
		CHECK_OPENED(b, 2, 0);
		CHECK_OTHER(a, b);
		CHECK_NUMBER(b.descriptors, before + 4);
		kill_child(first);
		kill_child(second);
	}
	end_test();
}

/* Of a socket that went offline: the old counts, and a time that stands still. */
static void test_offline(void)
{
	begin_test();
	struct child *first = begin_child(), *second = begin_child(), *third = begin_child();
	struct answer a = ask(first, 'o', 0);

	CHECK_NUMBER(ask(first, 'e', 0).code, 0);
	struct answer b = ask(second, 'o', 0);
	CHECK_NUMBER(b.code, 0);
	CHECK_NUMBER(b.opened, 2);
	CHECK_OTHER(a, b);
	struct answer c = ask(third, 'o', 0);
	CHECK_OPENED(c, 0, 2);
	CHECK_SAME(b, c);
	end_test();
}

/* Where tracing is forbidden, each has its own, and says nothing. */
static void test_refused(void)
{
	begin_test();
	for (unsigned i = 0; i < 20; i++) { /* more than are noted of a place */
		struct child *one = begin_child();

		ask(one, 'y', 0);
		CHECK_OPENED(ask(one, 'o', 0), 2, 0);
	}
	end_test();
}

/* ---- many */

static void test_many(void)
{
	enum { FIRST = 64 };
	struct answer a[MOST];
	unsigned opened = 0, taken = 0;

	begin_test();
	for (unsigned i = 0; i < FIRST; i++)
		begin_child();
	for (unsigned i = 0; i < FIRST; i++)
		tell(&child[i], 'o', 0);
	for (unsigned i = 0; i < FIRST; i++)
		a[i] = hear(&child[i]);
	for (unsigned i = 0; i < FIRST; i += 3)
		kill_child(&child[i]);
	for (unsigned i = FIRST; i < MOST; i++)
		tell(begin_child(), 'o', 0);
	for (unsigned i = FIRST; i < MOST; i++)
		a[i] = hear(&child[i]);
	for (unsigned i = 0; i < MOST; i++) {
		CHECK_NUMBER(a[i].code, 0);
		CHECK_SAME(a[i], a[0]);
		opened += a[i].opened;
		taken += a[i].taken;
	}
	CHECK_NUMBER(opened, 2);
	CHECK_NUMBER(taken, 2 * (MOST - 1));
	end_test();
}

/* ---- in one process */

static void test_fork(void)
{
	struct unc_kernel_group *group = NULL;

	begin_test();
	unsigned before = descriptors();
	open_gate();
	do_open(&group, 0);
	struct answer a = self;
	CHECK_OPENED(a, 2, 0);
	/* A forked process ends what it has inherited; that is its parent's still. */
	fflush(stdout);
	pid_t forked = fork();
	if (forked == 0) {
		unc_kernel_forget(group);
		close_gate();
		_exit(0);
	}
	CHECK_NUMBER(waitpid(forked, NULL, 0), forked);
	struct answer b = ask(begin_child(), 'o', 0);
	CHECK_OPENED(b, 0, 2);
	CHECK_SAME(a, b);
	do_close(group);
	close_gate();
	end_test();
	CHECK_NUMBER(descriptors(), before);
}

/* The limit of open files is raised to take, as it is to open. */
static void test_limit(void)
{
	begin_test();
	struct answer a = ask(begin_child(), 'o', 0);

	for (unsigned more = 1; more < 7; more++)
		for (unsigned before = 0; before < 2; before++) {
			struct child *one = begin_child();

			if (before) {
				CHECK_OPENED(ask(one, 'o', 0), 0, 2);
				ask(one, 'c', 0);
			}
			/* One is for the test itself, to count them. */
			ask(one, 'l', more);
			struct answer b = ask(one, 'o', 0);
			CHECK_OPENED(b, 0, 2);
			CHECK_SAME(a, b);
		}
	end_test();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"what one has, another takes", test_taken},
		{"the first is killed, the others go on", test_killed},
		{"closing", test_closed},
		{"all sharers count the same", test_equal},
		{"another user", test_other_user},
		{"descriptors that are something else now", test_reused},
		{"a group that does not count any more", test_offline},
		{"tracing is forbidden", test_refused},
		{"limit of open files", test_limit},
		{"many at once", test_many},
		{"a forked process", test_fork},
		{NULL, NULL},
	};

	return run_crowd("kernel shared", tests);
}
