/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that share groups of the kernel's events: each has a gate of its own and does as it is
 * told. Events are software events of the kernel that runs, which go the same way as those of uncore
 * PMUs; that they are the same ones is told by their ids (perf_event_open(2): PERF_EVENT_IOC_ID),
 * which the kernel never gives twice.
 */
#ifndef UNC_TEST_KERNEL_CROWD_H
#define UNC_TEST_KERNEL_CROWD_H

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "fake_root.h"
#include "host/events.h"
#include "host/ledger_events.h"
#include "kernel_kit.h"

static struct fake_root root;
static struct unc_machine_events events;
static struct unc_ledger *ledger;

/* ---- a process */

enum { MOST = 96, ANSWER = 10000 };

struct order {
	char what;
	uint64_t number;
};

struct answer {
	int code;
	unsigned opened, taken, descriptors, naps;
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

static bool hurried;
static unsigned naps; /* of who waits for a lock */

static inline int open_counted(struct unc_machine *machine, const struct perf_event_attr *attr,
			       int cpu, int group_fd)
{
	int fd = unc_events_system.open(machine, attr, cpu, group_fd);

	/* Longer than others need to come in between. */
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	if (fd >= 0)
		self.fd[self.opened++ % 2] = fd;
	return fd;
}

static inline int take_counted(struct unc_machine *machine, int64_t pid, const int *theirs,
			       size_t n, int *fd)
{
	int rc = unc_events_system.take(machine, pid, theirs, n, fd);

	for (size_t i = 0; rc == 0 && i < n; i++)
		self.fd[self.taken++ % 2] = fd[i];
	return rc;
}

static inline int take_refused(struct unc_machine *machine, int64_t pid, const int *theirs,
			       size_t n, int *fd)
{
	(void)machine, (void)pid, (void)theirs, (void)n, (void)fd;
	errno = EPERM; /* as Yama says */
	return -1;
}

/* Time stands still, so that a group that a test has stopped is not taken for one of a socket that
 * went. */
static inline void stopped_clock(const struct unc_machine *machine, uint64_t *ns, uint64_t *tsc)
{
	(void)machine;
	*ns = 1000000000;
	if (tsc)
		*tsc = *ns;
}

static struct unc_kernel_place place = {.type = PERF_TYPE_SOFTWARE}; /* a CPU that we may use */
static const struct unc_kernel_event pair[] = {{.config = PERF_COUNT_SW_PAGE_FAULTS},
					       {.config = PERF_COUNT_SW_CPU_CLOCK}};

/* The folder of the ledger is below the root, for the library to make. */
static bool makes_folder;

static inline void open_gate(void)
{
	events = unc_events_system;
	events.open = open_counted;
	events.take = take_counted;
	kernel_begin("/", &events, "kernel");
	kernel_methods.now = stopped_clock;
	hardware->fenced = false; /* a type that no driver has */
	kernel_topology = (struct unc_topology){.n_sockets = 1};
	ledger = unc_ledger_new();
	CU_ASSERT_FATAL(ledger != NULL);
	unc_kernel_share(gate, ledger);
}

static inline void close_gate(void)
{
	kernel_end();
	unc_ledger_free(ledger);
}

/* As a session does before it opens or closes. */
static inline void lock_ledger(void)
{
	char folder[300];

	snprintf(folder, sizeof(folder), "%s%s", root.path, makes_folder ? "/new" : "");
	(void)unc_ledger_open(ledger, folder, makes_folder, NULL);
	(void)unc_ledger_lock(ledger, true, NULL);
}

static inline void do_close(struct unc_kernel_group *group)
{
	lock_ledger();
	unc_kernel_close(group);
	unc_ledger_unlock(ledger);
}

/* What of the pair: 1, 2: that alone; 0: both. */
static inline void do_open(struct unc_kernel_group **group, uint64_t which)
{
	self = (struct answer){0};
	lock_ledger();
	self.code = unc_kernel_open(gate, &place, which == 2 ? &pair[1] : pair, which ? 1 : 2,
				    group, &err);
	unc_ledger_unlock(ledger);
	for (unsigned i = 0; i < self.opened + self.taken && i < 2 && self.code == 0; i++)
		if (ioctl(self.fd[i], PERF_EVENT_IOC_ID, &self.id[i]) < 0)
			self.code = -errno;
}

static inline void do_read(struct unc_kernel_group *group)
{
	struct unc_reg_op op[2];

	for (unsigned i = 0; i < 2; i++)
		unc_kernel_op(group, i, &op[i]);
	self.code = unc_access_run(gate, op, 2);
	for (unsigned i = 0; i < 2; i++)
		self.value[i] = op[i].value;
}

/* Other files under the numbers of its events, behind the back of the library. */
static inline void do_reuse(bool event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};

	for (unsigned i = 0; i < 2; i++) {
		int fd = event ? (int)syscall(SYS_perf_event_open, &attr, -1, (int)place.cpu, -1, 0)
			       : open("/dev/null", O_RDONLY);

		self.code |= fd < 0 || dup2(fd, self.fd[i]) < 0 ? -1 : 0;
		close(fd);
	}
}

static inline void limit_files(unsigned more)
{
	struct rlimit limit;
	int fd[8];

	for (unsigned i = 0; i < more; i++)
		fd[i] = dup(STDOUT_FILENO); /* each is the lowest number that is free */
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)fd[more - 1] + 1;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (unsigned i = 0; i < more; i++)
		close(fd[i]);
}

static inline void obey(const struct order *order, struct unc_kernel_group **group)
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
		do_close(*group);
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
	case 'h': /* waits for nobody (test_kernel_notes.c) */
		hurried = true;
		break;
	case 'l': /* so many more open files, but it may have all */
		limit_files((unsigned)order->number);
		break;
	case 'd':
		close(self.fd[order->number]);
		break;
	}
	self.descriptors = descriptors();
	self.naps = naps;
}

static inline void __attribute__((noreturn)) live(int orders, int answers)
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
	do_close(group);
	close_gate();
	_exit(0);
}

static inline struct child *begin_child(void)
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

static inline void tell(const struct child *c, char what, uint64_t number)
{
	struct order order = {what, number};

	CU_ASSERT_FATAL(write(c->orders, &order, sizeof(order)) == sizeof(order));
}

static inline struct answer hear(const struct child *c)
{
	struct answer a = {.code = -ANSWER};

	CHECK_NUMBER(read(c->answers, &a, sizeof(a)), sizeof(a));
	return a;
}

static inline struct answer ask(const struct child *c, char what, uint64_t number)
{
	tell(c, what, number);
	return hear(c);
}

static inline void kill_child(struct child *c)
{
	kill(c->pid, SIGKILL);
	CHECK_NUMBER(waitpid(c->pid, NULL, 0), c->pid);
	c->pid = 0;
}

static inline void begin_test(void)
{
	fake_new(&root);
	children = 0;
}

static inline void end_test(void)
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
static inline void check_opened(int line, struct answer a, unsigned opened, unsigned taken)
{
	suite_number(line, (unsigned long long)a.code, 0);
	suite_number(line, a.opened, opened);
	suite_number(line, a.taken, taken);
}
#define CHECK_OPENED(a, opened, taken) check_opened(__LINE__, a, opened, taken)

static inline void check_same(int line, struct answer a, struct answer b, bool same)
{
	for (unsigned i = 0; i < 2; i++)
		suite_number(line, a.id[i] == b.id[i], same);
}
#define CHECK_SAME(a, b) check_same(__LINE__, a, b, true)
#define CHECK_OTHER(a, b) check_same(__LINE__, a, b, false)

/* ---- the file of this user (ledger_inside.h) */

static inline const char *file(void)
{
	return fake_path(&root, "/ledger.%u", (unsigned)geteuid());
}

enum {
	SLOTS_AT = 4096,
	RECORDS_AT = SLOTS_AT + UNC_LEDGER_HOLDERS * 64,
	N_RECORDS = 16384,
	BLOCKS_AT = RECORDS_AT + N_RECORDS * 256,
	BLOCK = 512 + UNC_LEDGER_HOLDERS * 64
};

/* The first note of events from number i on, its record and what it leads to; -1: there is none. */
static inline int find_note(unsigned i, struct unc_ledger_record *r, struct unc_note *note)
{
	int fd = open(file(), O_RDONLY | O_CLOEXEC), found = -1;

	CU_ASSERT_FATAL(fd >= 0);
	for (; found < 0 && pread(fd, r, sizeof(*r), RECORDS_AT + (off_t)i * 256) == sizeof(*r) &&
	       i < N_RECORDS;
	     i++)
		if (r->role == UNC_HELD_EVENTS)
			found = (int)i;
	*note = (struct unc_note){.n = 0};
	if (found >= 0 &&
	    pread(fd, note, sizeof(*note), BLOCKS_AT + (off_t)found * BLOCK) != sizeof(*note))
		note->n = 0;
	close(fd);
	return found;
}

static inline unsigned count_notes(void)
{
	struct unc_ledger_record r;
	struct unc_note note;
	unsigned n = 0;

	for (int i = -1; (i = find_note((unsigned)(i + 1), &r, &note)) >= 0;)
		n++;
	return n;
}

/* ---- */

/* NULL: one process can take descriptors of another here. */
static inline const char *why_not(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)place.cpu, -1, 0), mine, pid;
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

static inline int run_crowd(const char *suite, const struct suite_test *tests)
{
	static const struct suite_test none[] = {{"groups of other processes", test_skipped},
						 {NULL, NULL}};

	cpu_set_t ours;

	sched_getaffinity(0, sizeof(ours), &ours);
	while (!CPU_ISSET(place.cpu, &ours))
		place.cpu++;
	return suite_run(suite, why_not() ? none : tests);
}

#endif
