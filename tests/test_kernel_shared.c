/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of the kernel's events among processes: each process of a test has a gate of its own and does
 * as it is told. Events are software events of the kernel that runs, which go the same way as those of
 * uncore PMUs; that they are the same ones is told by their ids (perf_event_open(2):
 * PERF_EVENT_IOC_ID), which the kernel never gives twice.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fake_root.h"
#include "host/event_notes.h"
#include "kernel_kit.h"

static struct fake_root root;
static struct unc_machine_events events;

/* ---- a process */

enum { MOST = 96, ANSWER = 10000 };

struct order {
	char what;
	uint64_t number;
};

struct answer {
	int code;
	unsigned opened, taken, descriptors;
	int fd[2]; /* of the events, as they were opened or taken */
	uint64_t id[2], value[2];
};

struct child {
	pid_t pid;
	int orders, answers;
};

static struct child child[MOST];
static unsigned children;
static struct answer self; /* in a child: what it has done since it was asked last */

static int open_counted(struct unc_machine *machine, const struct perf_event_attr *attr, int cpu,
			int group_fd)
{
	int fd = unc_events_system.open(machine, attr, cpu, group_fd);

	/* Longer than others need to come in between. */
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	if (fd >= 0)
		self.fd[self.opened++ % 2] = fd;
	return fd;
}

static int take_counted(struct unc_machine *machine, int64_t pid, const int *theirs, size_t n,
			int *fd)
{
	int rc = unc_events_system.take(machine, pid, theirs, n, fd);

	for (size_t i = 0; rc == 0 && i < n; i++)
		self.fd[self.taken++ % 2] = fd[i];
	return rc;
}

static int take_refused(struct unc_machine *machine, int64_t pid, const int *theirs, size_t n,
			int *fd)
{
	(void)machine, (void)pid, (void)theirs, (void)n, (void)fd;
	errno = EPERM; /* as Yama says */
	return -1;
}

/* Time stands still, so that a group that a test has stopped is not taken for one of a socket that
 * went. */
static void stopped_clock(const struct unc_machine *machine, uint64_t *ns, uint64_t *tsc)
{
	(void)machine;
	*ns = *tsc = 1000000000;
}

static const struct unc_kernel_place place = {PERF_TYPE_SOFTWARE, 0};
static const struct unc_kernel_event pair[] = {{.config = PERF_COUNT_SW_PAGE_FAULTS},
					       {.config = PERF_COUNT_SW_CPU_CLOCK}};

static void open_gate(void)
{
	events = unc_events_system;
	events.open = open_counted;
	events.take = take_counted;
	kernel_begin("/", &events, "kernel");
	kernel_methods.now = stopped_clock;
	hardware->fenced = false; /* a type that no driver has */
	kernel_topology = (struct unc_topology){.n_sockets = 1};
	unc_kernel_share(gate, root.path, false);
}

/* What of the pair: 1, 2: that alone; 0: both. */
static void do_open(struct unc_kernel_group **group, uint64_t which)
{
	self = (struct answer){0};
	self.code = unc_kernel_open(gate, &place, which == 2 ? &pair[1] : pair, which ? 1 : 2,
				    group, &err);
	for (unsigned i = 0; i < self.opened + self.taken && i < 2 && self.code == 0; i++)
		if (ioctl(self.fd[i], PERF_EVENT_IOC_ID, &self.id[i]) < 0)
			self.code = -errno;
}

static void do_read(struct unc_kernel_group *group)
{
	struct unc_reg_op op[2];

	for (unsigned i = 0; i < 2; i++)
		unc_kernel_op(group, i, &op[i]);
	self.code = unc_access_run(gate, op, 2);
	for (unsigned i = 0; i < 2; i++)
		self.value[i] = op[i].value;
}

/* Other files under the numbers of its events, behind the back of the library. */
static void do_reuse(bool event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};

	for (unsigned i = 0; i < 2; i++) {
		int fd = event ? (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0)
			       : open("/dev/null", O_RDONLY);

		self.code |= fd < 0 || dup2(fd, self.fd[i]) < 0 ? -1 : 0;
		close(fd);
	}
}

static void obey(const struct order *order, struct unc_kernel_group **group)
{
	self.code = 0;
	switch (order->what) {
	case 'o':
		do_open(group, order->number);
		break;
	case 'r':
		do_read(*group);
		break;
	case 'c':
		unc_kernel_close(*group);
		*group = NULL;
		break;
	case 'e': /* the group counts, or not */
		self.code = ioctl(self.fd[0],
				  order->number ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
				  PERF_IOC_FLAG_GROUP);
		break;
	case 'u':
		self.code = setresuid(65534, 65534, 65534);
		break;
	case 'y':
		events.take = take_refused;
		break;
	case 'f':
		do_reuse(order->number);
		break;
	case 'd':
		close(self.fd[order->number]);
		break;
	}
	self.descriptors = descriptors();
}

static void __attribute__((noreturn)) live(int orders, int answers)
{
	struct unc_kernel_group *group = NULL;
	struct order order;

	open_gate();
	while (read(orders, &order, sizeof(order)) == sizeof(order)) {
		/* Keeps all that is open, its parent's locks too, until the test ends. */
		if (order.what == 's' && fork() == 0) {
			while (read(orders, &order, sizeof(order)) > 0)
				continue;
			_exit(0);
		}
		obey(&order, &group);
		if (write(answers, &self, sizeof(self)) != sizeof(self))
			break;
	}
	unc_kernel_close(group);
	kernel_end();
	_exit(0);
}

static struct child *begin_child(void)
{
	struct child *c = &child[children++];
	int to[2], from[2];

	CU_ASSERT_FATAL(children <= MOST && pipe2(to, O_CLOEXEC) == 0 &&
			pipe2(from, O_CLOEXEC) == 0);
	fflush(stdout);
	c->pid = fork();
	CU_ASSERT_FATAL(c->pid >= 0);
	if (c->pid == 0) {
		for (unsigned i = 0; i + 1 < children; i++) {
			close(child[i].orders);
			close(child[i].answers);
		}
		close(to[1]);
		close(from[0]);
		live(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	c->orders = to[1];
	c->answers = from[0];
	return c;
}

static void tell(const struct child *c, char what, uint64_t number)
{
	struct order order = {what, number};

	CU_ASSERT_FATAL(write(c->orders, &order, sizeof(order)) == sizeof(order));
}

static struct answer hear(const struct child *c)
{
	struct answer a = {.code = -ANSWER};

	CHECK_NUMBER(read(c->answers, &a, sizeof(a)), sizeof(a));
	return a;
}

static struct answer ask(const struct child *c, char what, uint64_t number)
{
	tell(c, what, number);
	return hear(c);
}

static void kill_child(struct child *c)
{
	kill(c->pid, SIGKILL);
	CHECK_NUMBER(waitpid(c->pid, NULL, 0), c->pid);
	c->pid = 0;
}

static void begin_test(void)
{
	fake_new(&root);
	children = 0;
}

static void end_test(void)
{
	for (unsigned i = 0; i < children; i++) {
		int status = -1;

		close(child[i].orders);
		close(child[i].answers);
		if (child[i].pid && waitpid(child[i].pid, &status, 0) == child[i].pid)
			CHECK_NUMBER(status, 0);
	}
	fake_free(&root);
}

/* What every one must say of an opening. */
static void check_opened(int line, struct answer a, unsigned opened, unsigned taken)
{
	suite_number(line, (unsigned long long)a.code, 0);
	suite_number(line, a.opened, opened);
	suite_number(line, a.taken, taken);
}
#define CHECK_OPENED(a, opened, taken) check_opened(__LINE__, a, opened, taken)

static void check_same(int line, struct answer a, struct answer b, bool same)
{
	for (unsigned i = 0; i < 2; i++)
		suite_number(line, a.id[i] == b.id[i], same);
}
#define CHECK_SAME(a, b) check_same(__LINE__, a, b, true)
#define CHECK_OTHER(a, b) check_same(__LINE__, a, b, false)

/* ---- the file */

static const char *file(void)
{
	return fake_path(&root, "/events-1.%u", (unsigned)geteuid());
}

/* Notes lie behind what is told of holders, 64 bytes of each. */
enum { NOTES_AT = UNC_LEDGER_HOLDERS * 64, N_NOTES = 2048 };

/* Where the first note is in the file, and what it says; 0: there is none. */
static off_t find_note(struct unc_note *note)
{
	int fd = open(file(), O_RDONLY | O_CLOEXEC);
	off_t at = NOTES_AT;

	CU_ASSERT_FATAL(fd >= 0);
	for (unsigned i = 0; i < N_NOTES; i++, at += (off_t)sizeof(*note))
		if (pread(fd, note, sizeof(*note), at) == sizeof(*note) && note->n)
			break;
	close(fd);
	return note->n ? at : 0;
}

static unsigned count_notes(void)
{
	struct unc_note note;
	int fd = open(file(), O_RDONLY | O_CLOEXEC);
	unsigned n = 0;

	for (off_t at = NOTES_AT; pread(fd, &note, sizeof(note), at) == sizeof(note) &&
				  at < NOTES_AT + N_NOTES * (off_t)sizeof(note);
	     at += (off_t)sizeof(note))
		n += note.n != 0;
	close(fd);
	return n;
}

/* ---- tests */

static void test_taken(void)
{
	begin_test();
	struct child *first = begin_child(), *second = begin_child(), *third = begin_child();
	unsigned before = ask(second, '-', 0).descriptors;
	struct answer a = ask(first, 'o', 0), b = ask(second, 'o', 0);

	CHECK_OPENED(a, 2, 0);
	CHECK_OPENED(b, 0, 2);
	CHECK_SAME(a, b);
	CHECK_NUMBER(b.descriptors, before + 3); /* the file of notes is one */
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
	CHECK_NUMBER(count_notes(), 1); /* the dead are forgotten */
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
	CPU_SET(0, &one);
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
	CHECK_NUMBER(st.st_mode, S_IFREG | 0600);
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
	CHECK_NUMBER(chmod(file(), 0600), 0);
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
		CHECK_NUMBER(b.descriptors, before + 3);
		kill_child(first);
		kill_child(second);
	}
	end_test();
}

/* Of a socket that went offline: the old counts, and a time that stands still. */
static void test_dead(void)
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

/* More than are noted of a place: what the dead have left makes room, whatever it counted. */
static void test_full(void)
{
	begin_test();
	for (unsigned i = 0; i < 20; i++) {
		struct child *one = begin_child();

		ask(one, 'y', 0);
		CHECK_OPENED(ask(one, 'o', 1), 1, 0);
	}
	CHECK_NUMBER(count_notes(), UNC_NOTES_OF_PLACE);
	struct child *before = begin_child(), *second = begin_child(), *third = begin_child();
	CHECK_OPENED(ask(before, 'o', 0), 2, 0);
	for (unsigned i = 0; i < 20; i++)
		kill_child(&child[i]);
	struct answer b = ask(second, 'o', 0), c = ask(third, 'o', 0);
	CHECK_OPENED(b, 2, 0);
	CHECK_OPENED(c, 0, 2);
	CHECK_SAME(b, c);
	end_test();
}

/* In a container that has numbers of processes of its own: nobody can be asked, but the dead are
 * known. */
static void test_namespace(void)
{
	begin_test();
	struct child *first = begin_child(), *second = begin_child(), *third = begin_child();
	struct answer a = ask(first, 'o', 0);
	uint64_t other = 4242;

	fake_bytes(file(), 8, &other, sizeof(other));
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

static void test_broken(void)
{
	static const struct {
		int byte; /* < 0: pseudo-random */
		off_t size;
	} rows[] = {{0xff, 2 << 20}, {0, 2 << 20},    {0x01, 2 << 20},
		    {0x07, 2 << 20}, {0x80, 2 << 20}, {-1, 2 << 20},
		    {0xff, 100},     {0xff, 70000},   {0, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_test();
		struct child *first = begin_child(), *second = begin_child(),
			     *third = begin_child();
		struct answer a = ask(first, 'o', 0);
		int fd = open(file(), O_RDWR | O_CLOEXEC);

		CHECK_OPENED(a, 2, 0);
		CU_ASSERT_FATAL(fd >= 0);
		if (rows[i].byte >= 0)
			fill_garbage(fd, 0, 2 << 20, (unsigned char)rows[i].byte);
		for (uint32_t at = 0, x = 1; rows[i].byte < 0 && at < 2 << 20; at += 4) {
			x = x * 1664525 + 1013904223;
			CU_ASSERT(pwrite(fd, &x, 4, at) == 4);
		}
		CHECK_NUMBER(ftruncate(fd, rows[i].size), 0);
		close(fd);
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
		    {N, 0},           {TYPE, 12},       {CPU, 1},     {CONFIG, 5},
		    {ID, 0},          {ID, -1},         {LAST_ID, 0}, {HOLDERS, -1},
		    {PID, 0},         {PID, -1},        {PID, 1},     {PID, INT64_MIN},
		    {PID, INT32_MAX}, {PID, 1LL << 32}, {ROW, -1},    {ROW, INT32_MAX},
		    {ROW, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_test();
		struct child *first = begin_child(), *second = begin_child(),
			     *third = begin_child();
		struct answer a = ask(first, 'o', 0);
		struct unc_note note;
		off_t at = find_note(&note);
		int64_t value = rows[i].value;

		CU_ASSERT_FATAL(at > 0 && note.n == 2);
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
			memset(note.holder, 0xff, sizeof(note.holder));
		fake_bytes(file(), (uint64_t)at, &note, sizeof(note));
		if (rows[i].what == PID)
			fake_bytes(file(), 0, &value, sizeof(value));
		if (rows[i].what == ROW)
			fake_bytes(file(),
				   (uint64_t)(NOTES_AT + (N_NOTES + UNC_NOTES_OF_PLACE) * 512 +
					      (at - NOTES_AT) / 512 * UNC_LEDGER_HOLDERS * 64),
				   &value, 4);
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
		kernel_end();
		_exit(0);
	}
	CHECK_NUMBER(waitpid(forked, NULL, 0), forked);
	struct answer b = ask(begin_child(), 'o', 0);
	CHECK_OPENED(b, 0, 2);
	CHECK_SAME(a, b);
	unc_kernel_close(group);
	kernel_end();
	end_test();
	CHECK_NUMBER(descriptors(), before);
}

/* ---- */

/* NULL: one process can take descriptors of another here. */
static const char *why_not(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0), mine, pid;
	static char text[100];
	FILE *yama = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	unsigned scope = 0;

	if (yama && fscanf(yama, "%u", &scope) != 1)
		scope = 3;
	if (yama)
		fclose(yama);
	snprintf(text, sizeof(text), "kernel.yama.ptrace_scope=%u forbids to take descriptors",
		 scope);
	if (scope > (geteuid() ? 0 : 2))
		return text;
	if (fd < 0)
		return "no right to open events of a CPU (kernel.perf_event_paranoid)";
	close(fd);
	pid = (int)syscall(SYS_pidfd_open, getpid(), 0);
	mine = pid < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pid, 0, 0);
	close(pid);
	close(mine);
	return mine < 0 ? "pidfd_getfd() is not there or forbidden" : NULL;
}

static void test_skipped(void)
{
	suite_skip(why_not());
}

int main(void)
{
	static const struct suite_test none[] = {{"groups of other processes", test_skipped},
						 {NULL, NULL}};
	static const struct suite_test tests[] = {
		{"what one has, another takes", test_taken},
		{"the first is killed, the others go on", test_killed},
		{"closing", test_closed},
		{"all sharers count the same", test_equal},
		{"another user", test_other_user},
		{"descriptors that are something else now", test_reused},
		{"a group that does not count any more", test_dead},
		{"tracing is forbidden", test_refused},
		{"no room for a note", test_full},
		{"another namespace", test_namespace},
		{"notes of garbage", test_broken},
		{"notes that are wrong in one thing", test_lies},
		{"no file of ours", test_no_file},
		{"the file is removed", test_removed},
		{"many at once", test_many},
		{"a forked process", test_fork},
		{NULL, NULL},
	};

	return suite_run("kernel shared", why_not() ? none : tests);
}
