/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access method kernel with answers in place of the kernel: what it is asked, and what becomes of
 * each answer. Fields and errors: perf_event_open(2) and the kernel's uncore driver (Linux 6.1,
 * arch/x86/events/intel/uncore.c). Against the kernel that runs: test_access_kernel_system.c.
 */
#include <errno.h>
#include <pthread.h>

#include "kernel_kit.h"

/* ---- a kernel that does as it is told */

enum { FIRST_FD = 1000, MAX_FDS = 64 };

static struct {
	int refuse, refuse_at; /* errno of the open of this number, from 0; -1: of all */
	int offline;           /* this CPU is: ENODEV; -1: none */
	bool crowded;          /* a pinned group gets no counters */
	int read_error;
	bool asleep;   /* all CPUs of the socket are offline: time does not pass for events */
	uint64_t idle; /* ns in which other events had the counters */
	unsigned opened, closed, reads;
	bool pinned;
	uint64_t lost; /* ns in which nothing was enabled */
	uint64_t began, stopped;
	int cpu;
	uint64_t value;
	char log[1024];
} kernel;

static uint64_t clock_ns;

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	size_t n = strlen(kernel.log);
	va_list args;

	va_start(args, format);
	vsnprintf(kernel.log + n, sizeof(kernel.log) - n, format, args);
	va_end(args);
}

static void forget(void)
{
	kernel.log[0] = '\0';
}

static int find_fake(struct unc_machine *machine, const char *pmu, uint32_t *type, char *mask,
		     size_t size)
{
	(void)machine;
	*type = (uint32_t)strlen(pmu) * 10;
	snprintf(mask, size, "0,8");
	return strcmp(pmu, "uncore_none") == 0 ? ENOENT : 0;
}

static int open_fake(struct unc_machine *machine, const struct perf_event_attr *attr, int cpu,
		     int group_fd)
{
	struct perf_event_attr rest = *attr;
	static const struct perf_event_attr nothing;

	(void)machine;
	note("open %u 0x%llx", attr->type, (unsigned long long)attr->config);
	if (attr->config1 || attr->config2)
		note(" 0x%llx 0x%llx", (unsigned long long)attr->config1,
		     (unsigned long long)attr->config2);
	note(" cpu %d%s%s", cpu, attr->pinned ? " pinned" : "", attr->disabled ? " stopped" : "");
	if (group_fd >= 0)
		note(" behind %d", group_fd);
	note("\n");
	/* Counts and both times, in a group; nothing else is set, no exclude bit first of all. */
	CHECK_NUMBER(attr->size, sizeof(*attr));
	CHECK_NUMBER(attr->read_format, PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
						PERF_FORMAT_TOTAL_TIME_RUNNING);
	rest.type = rest.size = 0;
	rest.config = rest.config1 = rest.config2 = rest.read_format = 0;
	rest.disabled = rest.pinned = 0;
	CU_ASSERT(memcmp(&rest, &nothing, sizeof(rest)) == 0);
	errno = cpu == kernel.offline                                            ? ENODEV
		: kernel.refuse_at < 0 || kernel.refuse_at == (int)kernel.opened ? kernel.refuse
										 : 0;
	if (errno)
		return -1;
	if (group_fd < 0)
		kernel.pinned = attr->pinned;
	kernel.cpu = cpu;
	return FIRST_FD + (int)kernel.opened++;
}

static int enable_fake(struct unc_machine *machine, int fd)
{
	(void)machine;
	note("enable %d\n", fd);
	kernel.began = clock_ns;
	return 0;
}

/* Event i of a group has counted i more than the first. */
static long read_fake(struct unc_machine *machine, int fd, void *buf, size_t size)
{
	uint64_t *data = buf, n = size / 8 - 3;
	uint64_t now = kernel.asleep ? kernel.stopped : clock_ns;

	(void)machine;
	kernel.reads++;
	note("read %d\n", fd);
	errno = kernel.read_error;
	if (errno)
		return -1;
	if (kernel.crowded && kernel.pinned)
		return 0;
	data[0] = n;
	data[1] = now - kernel.began - kernel.lost;
	data[2] = data[1] - kernel.idle;
	for (uint64_t i = 0; i < n; i++)
		data[3 + i] = kernel.value + i;
	clock_ns += kernel.asleep ? 0 : 10; /* the call takes time */
	return (long)size;
}

static void close_fake(struct unc_machine *machine, int fd)
{
	(void)machine;
	note("close %d\n", fd);
	kernel.closed++;
}

static void now_fake(const struct unc_machine *machine, uint64_t *ns, uint64_t *tsc)
{
	(void)machine;
	*ns = clock_ns;
	if (tsc)
		*tsc = *ns;
}

static const struct unc_machine_events fake_events = {
	.find = find_fake,
	.open = open_fake,
	.enable = enable_fake,
	.read = read_fake,
	.close = close_fake,
};

static void begin_fake(const char *order)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.refuse_at = 0;
	kernel.offline = -1;
	clock_ns = 5000000000;
	kernel_begin("/", &fake_events, order);
	kernel_methods.now = now_fake;
}

/* The fake's descriptors are all closed. */
static void end_fake(void)
{
	CHECK_NUMBER(kernel.closed, kernel.opened);
	kernel_end();
}

static const struct unc_kernel_place place = {.type = 40, .cpu = 8};
static const struct unc_kernel_event three[] = {
	{.config = 0x304}, {.config = 0xff}, {.config = 0x135, .config1 = 0x20, .config2 = 0x3}};

static struct unc_kernel_group *open_group(const struct unc_kernel_event *events, size_t n)
{
	struct unc_kernel_group *group = NULL;

	memset(&err, 0, sizeof(err));
	CHECK_NUMBER(unc_kernel_open(gate, &place, events, n, &group, &err), 0);
	CHECK_TEXT(err.text, "");
	CU_ASSERT_FATAL(group != NULL);
	return group;
}

/* ---- tests */

static void test_open(void)
{
	struct unc_kernel_group *group;
	struct unc_reg_op ops[3];

	begin_fake(NULL);
	group = open_group(three, 3);
	CHECK_TEXT(kernel.log, "open 40 0x304 cpu 8 pinned stopped\n"
			       "open 40 0xff cpu 8 behind 1000\n"
			       "open 40 0x135 0x20 0x3 cpu 8 behind 1000\n"
			       "enable 1000\n"
			       "read 1000\n");
	forget();
	for (size_t i = 0; i < 3; i++)
		unc_kernel_op(group, &three[i], &ops[i]);
	kernel.value = 0x123456789abcdef0;
	CHECK_NUMBER(unc_access_run(gate, ops, 3), 0);
	CHECK_TEXT(kernel.log, "read 1000\n");
	for (size_t i = 0; i < 3; i++) {
		CHECK_NUMBER(ops[i].value, 0x123456789abcdef0 + i);
		CHECK_NUMBER(ops[i].error, 0);
	}
	forget();
	unc_kernel_close(group);
	CHECK_TEXT(kernel.log, "close 1002\nclose 1001\nclose 1000\n");
	unc_kernel_close(NULL);
	end_fake();
}

/* Two groups in one list: a read each, in any order of their events. */
static void test_two_groups(void)
{
	static const struct unc_kernel_event other = {.config = 0x1};
	struct unc_kernel_group *a, *b;
	struct unc_reg_op ops[5];

	begin_fake(NULL);
	a = open_group(three, 3);
	b = open_group(&other, 1);
	unc_kernel_op(a, &three[2], &ops[0]);
	unc_kernel_op(a, &three[0], &ops[1]);
	unc_kernel_op(b, &other, &ops[2]);
	unc_kernel_op(a, &three[1], &ops[3]);
	unc_kernel_op(a, &three[1], &ops[4]);
	forget();
	kernel.value = 70;
	CHECK_NUMBER(unc_access_run(gate, ops, 5), 0);
	CHECK_TEXT(kernel.log, "read 1000\nread 1003\nread 1000\n");
	CHECK_NUMBER(ops[0].value, 72);
	CHECK_NUMBER(ops[1].value, 70);
	CHECK_NUMBER(ops[2].value, 70);
	CHECK_NUMBER(ops[3].value, 71);
	CHECK_NUMBER(ops[4].value, 71);
	unc_kernel_close(a);
	unc_kernel_close(b);
	end_fake();
}

/* A pinned group without counters: opened again, to take turns. */
static void test_turns(void)
{
	struct unc_kernel_group *group;
	struct unc_reg_op op;

	begin_fake(NULL);
	kernel.crowded = true;
	group = open_group(three, 2);
	CHECK_TEXT(kernel.log, "open 40 0x304 cpu 8 pinned stopped\n"
			       "open 40 0xff cpu 8 behind 1000\n"
			       "enable 1000\n"
			       "read 1000\n"
			       "close 1001\nclose 1000\n"
			       "open 40 0x304 cpu 8 stopped\n"
			       "open 40 0xff cpu 8 behind 1002\n"
			       "enable 1002\n"
			       "read 1002\n");
	unc_kernel_op(group, &three[0], &op);
	clock_ns += 1000000000;
	kernel.idle = 600000000;
	CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
	CHECK_NUMBER(unc_kernel_idle(&op), 600000000);
	clock_ns += 1000000000;
	kernel.idle = 700000000;
	CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
	CHECK_NUMBER(unc_kernel_idle(&op), 700000000);
	unc_kernel_close(group);
	end_fake();
}

/* A pinned group that loses its counters later is never a number again, and nobody joins it. */
static void test_lost(void)
{
	struct unc_kernel_group *group, *other;
	struct unc_reg_op op;

	begin_fake(NULL);
	group = open_group(three, 1);
	unc_kernel_op(group, &three[0], &op);
	kernel.crowded = true;
	CHECK_NUMBER(unc_access_run(gate, &op, 1), UNC_ERR_IO);
	CHECK_NUMBER(op.error, UNC_ERR_BUSY);
	CHECK_NUMBER(op.errno_value, EBUSY);
	other = open_group(three, 1);
	CHECK_NUMBER(kernel.opened,
		     3); /* the pinned one that gets none, and one that takes turns */
	kernel.read_error = ENXIO;
	CHECK_NUMBER(unc_access_run(gate, &op, 1), UNC_ERR_IO);
	CHECK_NUMBER(op.errno_value, ENXIO);
	unc_kernel_close(group);
	unc_kernel_close(other);
	end_fake();
}

/* All CPUs of the socket go offline: reads go on to give the old count. */
static void test_socket_offline(void)
{
	static const uint64_t step[] = {1000000, 50000000, 1000000000, 3600000000000};

	for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		struct unc_kernel_group *group, *other;
		struct unc_reg_op op;
		unsigned reads = 0;

		begin_fake(NULL);
		group = open_group(three, 1);
		unc_kernel_op(group, &three[0], &op);
		for (unsigned k = 0; k < 1000; k++) {
			clock_ns += step[i];
			CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
		}
		CHECK_NUMBER(unc_kernel_idle(&op), 0);
		kernel.asleep = true;
		kernel.stopped = clock_ns;
		for (; unc_access_run(gate, &op, 1) == 0 && reads < 1000; reads++)
			clock_ns += step[i];
		/* 1 ms and 0.2 % of the time since it was seen in time, 100 ms at most, are allowed. */
		CU_ASSERT(reads * step[i] <= step[i] + 1200000);
		CHECK_NUMBER(op.errno_value, ENODEV);
		CHECK_NUMBER(op.error, UNC_ERR_IO);
		/* It does not come back, and nobody joins it. */
		kernel.asleep = false;
		CHECK_NUMBER(unc_access_run(gate, &op, 1), UNC_ERR_IO);
		CHECK_NUMBER(op.errno_value, ENODEV);
		other = open_group(three, 1);
		CHECK_NUMBER(kernel.opened, 2);
		unc_kernel_close(group);
		unc_kernel_close(other);
		end_fake();
	}
}

/* The kernel takes events to another CPU: they count again, and the gap is known. */
static void test_gap(void)
{
	struct unc_kernel_group *group;
	struct unc_reg_op op;

	begin_fake(NULL);
	group = open_group(three, 1);
	unc_kernel_op(group, &three[0], &op);
	clock_ns += 1000000000;
	kernel.lost = 30000000;
	CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
	CU_ASSERT(unc_kernel_idle(&op) >= 30000000 - 100 && unc_kernel_idle(&op) <= 30000000);
	for (unsigned i = 0; i < 10; i++) {
		clock_ns += 1000000000;
		CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
	}
	CU_ASSERT(unc_kernel_idle(&op) <= 30000000);
	unc_kernel_close(group);
	end_fake();
}

/* Whoever wants what a group has joins it; each finds its own events. */
static void test_sharing(void)
{
	const struct unc_kernel_event turned[] = {three[2], three[0]};
	const struct unc_kernel_event more[] = {three[0], {.config = 0x305}};
	struct unc_kernel_event near = three[2];
	struct unc_kernel_group *group[5];
	struct unc_kernel_place elsewhere = {.type = 40, .cpu = 0};
	struct unc_reg_op ops[2];

	begin_fake(NULL);
	group[0] = open_group(three, 3);
	group[1] = open_group(turned, 2);
	CHECK_NUMBER(kernel.opened, 3);
	group[2] = open_group(more, 2);
	CHECK_NUMBER(kernel.opened, 5);
	near.config2 = 4;
	group[3] = open_group(&near, 1);
	CHECK_NUMBER(kernel.opened, 6);
	CHECK_NUMBER(unc_kernel_open(gate, &elsewhere, three, 1, &group[4], &err), 0);
	CHECK_NUMBER(kernel.opened, 7);
	unc_kernel_op(group[1], &turned[0], &ops[0]);
	unc_kernel_op(group[1], &turned[1], &ops[1]);
	unc_kernel_close(group[0]);
	CHECK_NUMBER(kernel.closed, 0);
	kernel.value = 10;
	CHECK_NUMBER(unc_access_run(gate, ops, 2), 0);
	CHECK_NUMBER(ops[0].value, 12);
	CHECK_NUMBER(ops[1].value, 10);
	unc_kernel_close(group[1]);
	CHECK_NUMBER(kernel.closed, 3);
	for (unsigned i = 2; i < 5; i++)
		unc_kernel_close(group[i]);
	end_fake();
}

/* Two threads read one group: what each gets is from one read. */
static void *read_often(void *arg)
{
	struct unc_kernel_group *group = arg;
	struct unc_reg_op ops[2];
	uintptr_t wrong = 0;
	uint64_t last = 0;

	unc_kernel_op(group, &three[0], &ops[0]);
	unc_kernel_op(group, &three[1], &ops[1]);
	for (unsigned i = 0; i < 20000; i++) {
		wrong += unc_access_run(gate, ops, 2) != 0;
		wrong += ops[1].value != ops[0].value + 1 || ops[0].value < last;
		last = ops[0].value;
	}
	return (void *)wrong;
}

static long read_moving(struct unc_machine *machine, int fd, void *buf, size_t size)
{
	static uint64_t value; /* whoever reads holds the lock of the group */
	uint64_t *data = buf;

	(void)machine;
	(void)fd;
	data[0] = 2;
	data[1] = data[2] = clock_ns - kernel.began;
	data[3] = ++value;
	if (value % 512 == 0) /* on a busy machine each takes long */
		sched_yield();
	data[4] = value + 1;
	return (long)size;
}

static void test_threads(void)
{
	struct unc_machine_events events = fake_events;
	struct unc_kernel_group *a, *b;
	pthread_t thread;
	void *wrong;

	begin_fake(NULL);
	events.read = read_moving;
	hardware->events = &events;
	a = open_group(three, 2);
	b = open_group(three, 2);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, read_often, a), 0);
	CHECK_NUMBER((uintptr_t)read_often(b), 0);
	pthread_join(thread, &wrong);
	CHECK_NUMBER((uintptr_t)wrong, 0);
	unc_kernel_close(a);
	unc_kernel_close(b);
	end_fake();
}

/* The CPU of the cpumask went offline after it was found. */
static void test_offline(void)
{
	struct unc_kernel_group *group = NULL, *same;

	begin_fake(NULL);
	kernel.offline = 8;
	group = open_group(three, 1);
	CHECK_NUMBER(kernel.cpu, 9);
	same = open_group(three, 1); /* who asks for the place of that CPU finds it */
	CHECK_NUMBER(kernel.opened, 1);
	unc_kernel_close(group);
	unc_kernel_close(same);
	/* All of the socket: the driver says EINVAL, the kernel itself ENODEV. */
	kernel.refuse = ENODEV;
	kernel.refuse_at = -1;
	CHECK_NUMBER(unc_kernel_open(gate, &place, three, 1, &group, &err), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text, "no CPU of the socket is online");
	/* Those of the other are (CPU 0 of this machine is): then it means something else. */
	const struct unc_kernel_place first = {.type = 40, .cpu = 0};
	CHECK_NUMBER(unc_kernel_open(gate, &first, three, 1, &group, &err), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text,
		   "perf_event_open: no such device, though cpu 0 of the socket is online: "
		   "the kernel's driver is being unloaded");
	end_fake();
}

/* Each errno has its sentence, and leaves nothing open. */
static void test_errors(void)
{
	static const struct {
		int at, error, code;
		const char *text;
	} rows[] = {
		{0, EINVAL, UNC_ERR_UNAVAILABLE,
		 "the kernel refuses config=0x304 on cpu 8: the unit is not there, or has no such "
		 "event, or its socket is offline"},
		{1, EINVAL, UNC_ERR_CONFLICT,
		 "the kernel does not count config=0xff together with 1 other event: too few "
		 "counters, or one filter for two values"},
		{2, EINVAL, UNC_ERR_CONFLICT,
		 "the kernel does not count config=0x135 together with 2 other events: too few "
		 "counters, or one filter for two values"},
		{0, ENOENT, UNC_ERR_UNAVAILABLE,
		 "the kernel has no PMU of type 40: its driver was unloaded"},
		{0, EBUSY, UNC_ERR_BUSY,
		 "another event of the kernel has exclusive use of these counters"},
		{1, ENOMEM, UNC_ERR_MEMORY, "out of memory"},
		{1, ENFILE, UNC_ERR_UNAVAILABLE,
		 "perf_event_open on cpu 8: Too many open files in system"},
		{0, EPERM, UNC_ERR_PERMISSION,
		 "perf_event_open: Operation not permitted: a security module or a container's "
		 "seccomp profile forbids what kernel.perf_event_paranoid would allow"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_kernel_group *group = NULL;

		begin_fake(NULL);
		kernel.refuse_at = rows[i].at;
		kernel.refuse = rows[i].error;
		CHECK_NUMBER(-unc_kernel_open(gate, &place, three, 3, &group, &err), -rows[i].code);
		CHECK_TEXT(err.text, rows[i].text);
		CU_ASSERT(group == NULL);
		CHECK_NUMBER(kernel.opened, rows[i].at);
		end_fake();
	}
	begin_fake(NULL);
	kernel.read_error = EIO;
	struct unc_kernel_group *group = NULL;
	CHECK_NUMBER(unc_kernel_open(gate, &place, three, 3, &group, &err), UNC_ERR_IO);
	CHECK_TEXT(err.text, "events of the kernel on cpu 8 cannot be read: Input/output error");
	end_fake();
}

/* No descriptor is left, and the limit cannot be raised: how many there are, of all groups. */
static void test_descriptors(void)
{
	struct unc_kernel_group *have, *group = NULL;
	unsigned open, more;

	begin_fake(NULL);
	have = open_group(three, 2);
	kernel.refuse = EMFILE;
	kernel.refuse_at = 3;
	CHECK_NUMBER(unc_kernel_open(gate, &place, three, 3, &group, &err), UNC_ERR_UNAVAILABLE);
	CHECK_NUMBER(sscanf(err.text,
			    "each event of the kernel needs a file descriptor: %u are open and %u "
			    "more are needed for this unit alone",
			    &open, &more),
		     2);
	CHECK_NUMBER(open, 3);
	CHECK_NUMBER(more, 2);
	unc_kernel_close(have);
	end_fake();
}

/* Who is asked for first, by the order of the methods. */
static void test_order(void)
{
	static const struct {
		const char *order;
		bool chosen, before;
	} rows[] = {
		{NULL, true, true},
		{"", true, true},
		{"kernel", true, true},
		{"kernel,direct", true, true},
		{"direct", false, false},
		{"direct,kernel", true, false},
		{"pci,kernel,msr", true, true},
		{"msr", false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_kernel_place found;

		begin_fake(rows[i].order);
		CHECK_NUMBER(unc_kernel_chosen(gate), rows[i].chosen);
		CHECK_NUMBER(unc_kernel_before(gate, UNC_SPACE_MSR), rows[i].before);
		if (!rows[i].chosen) {
			CHECK_NUMBER(unc_kernel_find(gate, "uncore_ha", 0, 0, &found, &err),
				     UNC_ERR_UNAVAILABLE);
			CHECK_TEXT(err.text, "access method kernel was not chosen");
		}
		end_fake();
	}
	/* It reaches no register. */
	begin_fake("kernel");
	hardware->fenced = false; /* any register will do */
	allow((struct unc_reg){0x700, 0, UNC_SPACE_MSR, 64, 0}, 0);
	REFUSED(read_of((struct unc_reg){0x700, 0, UNC_SPACE_MSR, 64, 0}), UNC_ERR_UNAVAILABLE,
		"no chosen access method reaches msr registers; others do: msr, msr-safe");
	REFUSED(read_of((struct unc_reg){0x700, 0, UNC_SPACE_MSR, 64, 1}), UNC_ERR_DENIED,
		"access method 1 does not reach msr registers");
	end_fake();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"what the kernel is asked", test_open},
		{"two groups", test_two_groups},
		{"taking turns", test_turns},
		{"counters are lost", test_lost},
		{"a socket that goes offline", test_socket_offline},
		{"a gap", test_gap},
		{"sharing", test_sharing},
		{"threads", test_threads},
		{"a CPU went offline", test_offline},
		{"errors", test_errors},
		{"descriptors", test_descriptors},
		{"order", test_order},
		{NULL, NULL},
	};

	return suite_run("access kernel", tests);
}
