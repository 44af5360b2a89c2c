/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfmonctl with a mock of the kernel. It knows the layout of the arguments as offsets and sizes
 * (Linux arch/ia64/include/uapi/asm/perfmon.h, and perfmon_compat.h of libpfm-3), and that a
 * system-wide context is used on its own CPU only (Linux arch/ia64/kernel/perfmon.c).
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "access_kit.h"
#include "access_pmu.h"
#include "fake_root.h"

/* linux/arch/ia64: commands, sizes of one argument, offsets in them. */
enum { WRITE_PMCS = 1, WRITE_PMDS = 2, READ_PMDS = 3, STOP = 4, START = 5, CREATE = 8 };
enum { LOAD = 0x10, UNLOAD = 0x11, WRITE_IBRS = 0x20, WRITE_DBRS = 0x21 };
enum { CONTEXT_SIZE = 128, REG_SIZE = 160, LOAD_SIZE = 32, DBREG_SIZE = 32 };
enum { CONTEXT_FLAGS = 16, CONTEXT_FD = 28, LOAD_PID = 0 };
enum { NUMBER = 0, SET = 4, VALUE = 8, FLAGS = 16 }; /* of registers and breakpoints */
enum { SYSTEM_WIDE = 2, MOST = 16 };

static const struct {
	int command;
	const char *name;
	size_t size;
} commands[] = {
	{WRITE_PMCS, "pmcs", REG_SIZE},
	{WRITE_PMDS, "pmds", REG_SIZE},
	{READ_PMDS, "read", REG_SIZE},
	{STOP, "stop", 0},
	{START, "start", 0},
	{CREATE, "create", CONTEXT_SIZE},
	{LOAD, "load", LOAD_SIZE},
	{UNLOAD, "unload", 0},
	{WRITE_IBRS, "ibrs", DBREG_SIZE},
	{WRITE_DBRS, "dbrs", DBREG_SIZE},
};

struct call {
	int command, n;
	int on; /* the CPU it was made on */
	size_t size;
	unsigned char bytes[MOST * REG_SIZE]; /* of the arguments, as they came */
};

static struct {
	struct unc_backend *backend;
	char log[1024]; /* "[4 create*1 load*1 ]": the calls on CPU 4 */
	struct call call[64];
	unsigned n;
	int on; /* where the thread is held; -1: nowhere */
	struct {
		int fd, cpu;
	} context[64];
	unsigned n_contexts;
	int fail, error; /* this command fails so */
	int fail_pin;    /* this CPU cannot be had */
} k;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	size_t n = strlen(k.log);
	va_list args;

	va_start(args, format);
	vsnprintf(k.log + n, sizeof(k.log) - n, format, args);
	va_end(args);
}

static uint64_t get(const struct call *c, int i, size_t at, size_t size)
{
	uint64_t value = 0;

	/* Low byte first, as Linux on Itanium and where we run. */
	memcpy(&value, c->bytes + (size_t)i * c->size + at, size);
	return value;
}

static int mock_pin(void *user, int cpu)
{
	CU_ASSERT(user == &k);
	CU_ASSERT((cpu < 0) == (k.on >= 0)); /* once, and back */
	if (cpu >= 0 && cpu == k.fail_pin) {
		errno = EINVAL;
		return -1;
	}
	k.on = cpu;
	if (cpu >= 0)
		say("[%d ", cpu);
	else
		say("]");
	return 0;
}

/* What the kernel does for a call that it accepts. */
static void serve(const struct call *c, int fd, unsigned char *arguments)
{
	if (c->command == CREATE) {
		int new = open("/dev/null", O_RDONLY | O_CLOEXEC);

		memcpy(arguments + CONTEXT_FD, &new, sizeof(new));
		k.context[k.n_contexts].cpu = -1; /* until it is loaded */
		k.context[k.n_contexts++].fd = new;
	}
	for (unsigned i = 0; i < k.n_contexts; i++)
		if (c->command == LOAD && k.context[i].fd == fd)
			k.context[i].cpu = c->on;
	/* A PMD holds what its CPU and number tell. */
	for (int i = 0; c->command == READ_PMDS && i < c->n; i++) {
		uint64_t value = 0x700000000000 + (uint64_t)c->on * 0x1000 + get(c, i, NUMBER, 4);

		memcpy(arguments + (size_t)i * c->size + VALUE, &value, sizeof(value));
	}
}

/* A context is there, and used where it is loaded. The newest of a descriptor is meant. */
static bool in_place(int fd, int command)
{
	for (unsigned i = k.n_contexts; i-- > 0;)
		if (k.context[i].fd == fd)
			return fcntl(fd, F_GETFD) >= 0 &&
			       k.context[i].cpu == (command == LOAD ? -1 : k.on);
	return false;
}

static int mock_call(void *user, int fd, int command, void *arguments, int n)
{
	struct call *c = &k.call[k.n++ % 64];
	size_t i = 0;

	CU_ASSERT(user == &k);
	CU_ASSERT(k.on >= 0);
	while (commands[i].command != command)
		if (++i == sizeof(commands) / sizeof(commands[0])) {
			CU_FAIL_FATAL("no such command");
			return -1;
		}
	*c = (struct call){.command = command, .n = n, .on = k.on, .size = commands[i].size};
	say("%s*%d ", commands[i].name, n);
	CU_ASSERT_FATAL(n <= MOST && (n > 0) == (c->size > 0));
	CU_ASSERT((arguments != NULL) == (n > 0));
	if (n)
		memcpy(c->bytes, arguments, (size_t)n * c->size);
	if (command == k.fail) {
		errno = k.error;
		return -1;
	}
	CU_ASSERT(command == CREATE || in_place(fd, command));
	serve(c, fd, arguments);
	return 0;
}

static const struct unc_pfm_kernel mock = {.call = mock_call, .pin = mock_pin, .user = &k};

static void pmu_begin(const char *root)
{
	memset(&k, 0, sizeof(k));
	k.on = k.fail_pin = -1;
	CHECK_NUMBER(unc_fs_open(root, &fs, NULL), 0);
	CHECK_NUMBER(unc_access_pmu.open(fs, NULL, &k.backend, &err), 0);
	unc_pmu_use(k.backend, &mock);
}

static void pmu_end(void)
{
	unc_access_pmu.close(k.backend);
	unc_fs_close(fs);
	CHECK_NUMBER(k.on, -1);
}

static struct unc_reg pmu(unsigned address, unsigned cpu)
{
	return (struct unc_reg){address, cpu, UNC_SPACE_PMU, 64};
}

/* Prepares all, and forgets the calls that this took. */
static void pmu_prepare(struct unc_reg_op *ops, size_t n)
{
	memset(&err, 0, sizeof(err));
	for (size_t i = 0; i < n; i++)
		CHECK_NUMBER(unc_access_pmu.prepare(k.backend, &ops[i], &err), 0);
	CHECK_TEXT(err.text, "");
	k.log[0] = '\0';
	k.n = 0;
}

static int pmu_run(struct unc_reg_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ops[i].error = 77; /* has to be replaced */
	return unc_access_pmu.run(k.backend, ops, n);
}

/* Entry i of a call: its number and value; all else is 0. */
static void entry(int line, unsigned call, int i, unsigned number, uint64_t value)
{
	struct call c = k.call[call];
	unsigned char *from = c.bytes + (size_t)i * c.size;

	suite_number(line, get(&c, i, NUMBER, 4), number);
	suite_number(line, get(&c, i, VALUE, 8), value);
	suite_number(line, get(&c, i, SET, 2), 0);
	suite_number(line, get(&c, i, FLAGS, 8), 0);
	memset(from + NUMBER, 0, 4);
	memset(from + VALUE, 0, 8);
	for (size_t b = 1; b < c.size; b++)
		from[0] |= from[b];
	suite_number(line, from[0], 0);
}
#define ENTRY(call, i, number, value) entry(__LINE__, call, i, number, value)

/* ---- contexts */

static void pmu_context(void)
{
	unsigned before = descriptors();
	struct unc_reg_op ops[4] = {read_of(pmu(UNC_PMU_PMD + 4, 4)), write_of(pmu(8, 4), 1),
				    read_of(pmu(UNC_PMU_PMD + 4, 6)), read_of(pmu(9, 4))};

	pmu_begin("/");
	CHECK_TEXT(k.log, ""); /* nothing before it is needed */
	for (unsigned i = 0; i < 4; i++)
		CHECK_NUMBER(unc_access_pmu.prepare(k.backend, &ops[i], &err), 0);
	CHECK_TEXT(k.log, "[4 create*1 load*1 ][6 create*1 load*1 ]");
	CHECK_NUMBER(descriptors(), before + 2);
	for (unsigned i = 0; i < 2; i++) {
		struct call *create = &k.call[2 * i], *load = &k.call[2 * i + 1];

		CHECK_NUMBER(get(create, 0, CONTEXT_FLAGS, 8), SYSTEM_WIDE);
		create->bytes[CONTEXT_FLAGS] = 0;
		CHECK_NUMBER(get(load, 0, LOAD_PID, 4), getpid());
		memset(load->bytes + LOAD_PID, 0, 4);
		for (size_t b = 0; b < CONTEXT_SIZE; b++)
			CU_ASSERT(create->bytes[b] == 0 && (b >= LOAD_SIZE || load->bytes[b] == 0));
	}
	k.log[0] = '\0';
	pmu_end();
	CHECK_TEXT(k.log, "[4 unload*0 ][6 unload*0 ]");
	CHECK_NUMBER(descriptors(), before);

	/* Where a CPU cannot be had any more its context is closed all the same. */
	pmu_begin("/");
	pmu_prepare(ops, 4);
	k.fail_pin = 4;
	pmu_end();
	CHECK_TEXT(k.log, "[6 unload*0 ]");
	CHECK_NUMBER(descriptors(), before);
}

/* Linux loads a system-wide context for its caller only: a thread is named, not its process. */
static void *in_thread(void *unused)
{
	struct unc_reg_op op = read_of(pmu(UNC_PMU_PMD + 4, 0));

	CHECK_NUMBER(unc_access_pmu.prepare(k.backend, &op, &err), 0);
	CHECK_NUMBER(get(&k.call[1], 0, LOAD_PID, 4), syscall(SYS_gettid));
	return unused;
}

static void pmu_thread(void)
{
	pthread_t thread;

	pmu_begin("/");
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, in_thread, NULL), 0);
	pthread_join(thread, NULL);
	CHECK_NUMBER(k.n, 2);
	pmu_end();
}

static void pmu_refused(int line, struct unc_reg_op op, int code, const char *text)
{
	memset(&err, 0, sizeof(err));
	suite_number(line, (unsigned long long)unc_access_pmu.prepare(k.backend, &op, &err),
		     (unsigned long long)code);
	suite_text(line, err.text, text);
}
#define PMU_REFUSED(op, code, text) pmu_refused(__LINE__, op, code, text)

static void pmu_no_context(void)
{
	static const struct {
		int fail, error, code;
		const char *text;
	} rows[] = {
		{CREATE, ENOSYS, UNC_ERR_UNAVAILABLE,
		 "this kernel has no perfmonctl: only Linux on Itanium before 5.10 has it"},
		{CREATE, EPERM, UNC_ERR_PERMISSION,
		 "perfmonctl on cpu 4: permission denied: system-wide monitoring needs root"},
		{CREATE, EACCES, UNC_ERR_PERMISSION,
		 "perfmonctl on cpu 4: permission denied: system-wide monitoring needs root"},
		{CREATE, EBUSY, UNC_ERR_BUSY,
		 "perfmonctl on cpu 4: somebody else is monitoring this CPU"},
		{CREATE, ENOMEM, UNC_ERR_UNAVAILABLE,
		 "perfmonctl on cpu 4: Cannot allocate memory"},
		{LOAD, EBUSY, UNC_ERR_BUSY,
		 "perfmonctl on cpu 4: somebody else is monitoring this CPU"},
		{LOAD, EINVAL, UNC_ERR_UNAVAILABLE, "perfmonctl on cpu 4: Invalid argument"},
	};
	struct unc_reg_op op = read_of(pmu(UNC_PMU_PMD + 4, 4));
	unsigned before;

	pmu_begin("/");
	before = descriptors();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		k.fail = rows[i].fail;
		k.error = rows[i].error;
		k.log[0] = '\0';
		PMU_REFUSED(op, rows[i].code, rows[i].text);
		CHECK_NUMBER(unc_access_pmu.prepare(k.backend, &op, NULL) < 0, 1);
		CHECK_TEXT(k.log, k.fail == CREATE ? "[4 create*1 ][4 create*1 ]"
						   : "[4 create*1 load*1 ][4 create*1 load*1 ]");
		CHECK_NUMBER(descriptors(), before);
	}
	k.fail = 0;
	k.fail_pin = 4;
	PMU_REFUSED(op, UNC_ERR_UNAVAILABLE, "cpu 4: Invalid argument");
	/* Behind the last DBR (7) there is nothing. */
	PMU_REFUSED(read_of(pmu(UNC_PMU_DBR + 8, 5)), UNC_ERR_DENIED,
		    "there is no PMU register 0x308");
	/* None of this is remembered. */
	k.fail_pin = -1;
	k.log[0] = '\0';
	CHECK_NUMBER(unc_access_pmu.prepare(k.backend, &op, NULL), 0);
	CHECK_TEXT(k.log, "[4 create*1 load*1 ]");
	pmu_end();
}

/* Without a mock: no kernel but that of an Itanium has the call, and we run where we ran before. */
static void pmu_this_kernel(void)
{
#if defined(__ia64__)
	suite_skip("this is an Itanium");
#else
	struct unc_reg_op op = read_of(pmu(UNC_PMU_PMD + 4, CPU_SETSIZE));
	cpu_set_t before, held, after;
	struct fake_root root;

	pmu_begin("/");
	unc_pmu_use(k.backend, NULL);
	sched_getaffinity(0, sizeof(before), &before);
	PMU_REFUSED(op, UNC_ERR_UNAVAILABLE, "cpu 1024: Invalid argument");
	for (op.reg.target = 0; !CPU_ISSET(op.reg.target, &before);)
		op.reg.target++;
	CPU_ZERO(&held);
	CPU_SET(op.reg.target, &held);
	for (unsigned round = 0; round < 2; round++) {
		PMU_REFUSED(op, UNC_ERR_UNAVAILABLE,
			    "this kernel has no perfmonctl: only Linux on Itanium before 5.10 has "
			    "it");
		sched_getaffinity(0, sizeof(after), &after);
		CU_ASSERT(CPU_EQUAL(&after, round ? &held : &before));
		sched_setaffinity(0, sizeof(held), &held);
	}
	sched_setaffinity(0, sizeof(before), &before);
	pmu_end();

	fake_new(&root);
	pmu_begin(root.path);
	PMU_REFUSED(op, UNC_ERR_UNAVAILABLE, "a dump of a machine has no performance monitor");
	CHECK_TEXT(k.log, "");
	pmu_end();
	fake_free(&root);
#endif
}

/* ---- operations */

static void pmu_writes(void)
{
	enum { N = 40 };
	struct unc_reg_op ops[N + 2];

	pmu_begin("/");
	for (unsigned i = 0; i < N; i++)
		ops[i] = write_of(pmu(UNC_PMU_PMC + 4 + i, 4), 0x8000000000000000 + i);
	ops[N] = write_of(pmu(UNC_PMU_PMD + 4, 4), 0x7fffffffff00);
	ops[N + 1] = write_of(pmu(UNC_PMU_PMD + 15, 4), 0x1234);
	pmu_prepare(ops, N + 2);
	CHECK_NUMBER(pmu_run(ops, N + 2), 0);
	/* All in order, 16 at a time. */
	CHECK_TEXT(k.log, "[4 pmcs*16 pmcs*16 pmcs*8 pmds*2 ]");
	for (unsigned i = 0; i < N; i++) {
		ENTRY(i / 16, (int)(i % 16), 4 + i, 0x8000000000000000 + i);
		CHECK_NUMBER(ops[i].error, 0);
	}
	ENTRY(3, 0, 4, 0x7fffffffff00);
	ENTRY(3, 1, 15, 0x1234);
	pmu_end();
}

static void pmu_reads(void)
{
	enum { N = 20 };
	struct unc_reg_op ops[N];

	pmu_begin("/");
	for (unsigned i = 0; i < N; i++) {
		ops[i] = read_of(pmu(UNC_PMU_PMD + 32 + i, i < 17 ? 4 : 2));
		ops[i].value = 0x9999;
	}
	pmu_prepare(ops, N);
	CHECK_NUMBER(pmu_run(ops, N), 0);
	CHECK_TEXT(k.log, "[4 read*16 read*1 ][2 read*3 ]");
	for (unsigned i = 0; i < N; i++) {
		CHECK_NUMBER(ops[i].error, 0);
		CHECK_NUMBER(ops[i].value, 0x700000000000 + (i < 17 ? 0x4000u : 0x2000u) + 32 + i);
	}
	ENTRY(0, 15, 47, 0);
	ENTRY(1, 0, 48, 0);
	ENTRY(2, 2, 51, 0);
	pmu_end();
}

static void pmu_breakpoints(void)
{
	struct unc_reg_op ops[5] = {write_of(pmu(UNC_PMU_IBR + 0, 4), 0xa000000000010000),
				    write_of(pmu(UNC_PMU_IBR + 7, 4), 0x0f00ffffffffffff),
				    write_of(pmu(UNC_PMU_DBR + 0, 4), 0x1000),
				    write_of(pmu(UNC_PMU_DBR + 1, 4), 0x00ffffffffffff00),
				    read_of(pmu(UNC_PMU_IBR + 7, 4))};

	pmu_begin("/");
	pmu_prepare(ops, 5);
	CHECK_NUMBER(pmu_run(ops, 5), 0);
	CHECK_TEXT(k.log, "[4 ibrs*2 dbrs*2 ]");
	ENTRY(0, 0, 0, 0xa000000000010000);
	ENTRY(0, 1, 7, 0x0f00ffffffffffff);
	ENTRY(1, 0, 0, 0x1000);
	ENTRY(1, 1, 1, 0x00ffffffffffff00);
	CHECK_NUMBER(ops[4].value, 0x0f00ffffffffffff);
	pmu_end();
}

/* PMC0 is the kernel's: its bit 0 freezes. What was written is what is read, CPU by CPU. */
static void pmu_freeze(void)
{
	struct unc_reg_op ops[9] = {
		write_of(pmu(0, 4), 1),	     write_of(pmu(4, 4), 0x2000f40),
		read_of(pmu(0, 4)),	     write_of(pmu(0, 4), 0),
		write_of(pmu(0, 4), 0xfff0), write_of(pmu(0, 4), 0xfff1),
		read_of(pmu(0, 4)),	     read_of(pmu(4, 4)),
		write_of(pmu(4, 6), 0x66)};
	struct unc_reg_op again[2] = {read_of(pmu(4, 4)), read_of(pmu(4, 6))};

	pmu_begin("/");
	pmu_prepare(ops, 9);
	CHECK_NUMBER(pmu_run(ops, 9), 0);
	CHECK_TEXT(k.log, "[4 stop*0 pmcs*1 start*0 start*0 stop*0 ][6 pmcs*1 ]");
	CHECK_NUMBER(ops[2].value, 1);
	CHECK_NUMBER(ops[6].value, 0xfff1);
	CHECK_NUMBER(ops[7].value, 0x2000f40);
	pmu_prepare(again, 2);
	again[0].value = again[1].value = 0x9999;
	CHECK_NUMBER(pmu_run(again, 2), 0);
	CHECK_NUMBER(again[0].value, 0x2000f40);
	CHECK_NUMBER(again[1].value, 0x66);
	CHECK_TEXT(k.log, "[4 ][6 ]"); /* no calls */
	pmu_end();
}

/* In the order of the list, whatever CPU each is on. */
static void pmu_interleaved(void)
{
	struct unc_reg_op ops[8] = {
		write_of(pmu(4, 4), 0x44), write_of(pmu(4, 6), 0x64),
		write_of(pmu(5, 6), 0x65), write_of(pmu(5, 4), 0x45),
		write_of(pmu(UNC_PMU_PMD + 4, 4), 0), write_of(pmu(6, 4), 0x46),
		read_of(pmu(UNC_PMU_PMD + 5, 6)), read_of(pmu(UNC_PMU_PMD + 5, 4))};

	pmu_begin("/");
	pmu_prepare(ops, 8);
	CHECK_NUMBER(pmu_run(ops, 8), 0);
	CHECK_TEXT(k.log, "[4 pmcs*1 ][6 pmcs*2 ][4 pmcs*1 pmds*1 pmcs*1 ][6 read*1 ][4 read*1 ]");
	ENTRY(0, 0, 4, 0x44);
	ENTRY(1, 0, 4, 0x64);
	ENTRY(1, 1, 5, 0x65);
	ENTRY(2, 0, 5, 0x45);
	ENTRY(3, 0, 4, 0);
	ENTRY(4, 0, 6, 0x46);
	CHECK_NUMBER(ops[6].value, 0x700000006005);
	CHECK_NUMBER(ops[7].value, 0x700000004005);
	pmu_end();
}

static void pmu_errors(void)
{
	struct unc_reg_op ops[6] = {
		write_of(pmu(4, 4), 0x44), write_of(pmu(5, 4), 0x45),
		write_of(pmu(0, 4), 0),	   read_of(pmu(UNC_PMU_PMD + 4, 4)),
		read_of(pmu(4, 4)),	   read_of(pmu(UNC_PMU_PMD + 4, 6))};

	pmu_begin("/");
	pmu_prepare(ops, 6);
	CHECK_NUMBER(pmu_run(ops, 6), 0);
	/* EINVAL: the whole call has failed, and no more. What was there before is still told. */
	k.fail = WRITE_PMCS;
	k.error = EINVAL;
	ops[0].value = 0x99;
	CHECK_NUMBER(pmu_run(ops, 6), 2);
	for (unsigned i = 0; i < 6; i++) {
		CHECK_NUMBER(ops[i].error, i < 2 ? UNC_ERR_IO : 0);
		CHECK_NUMBER(ops[i].errno_value, i < 2 ? EINVAL : 0);
	}
	CHECK_NUMBER(ops[4].value, 0x44);
	CHECK_NUMBER(ops[3].value, 0x700000004004);
	k.error = EPERM;
	CHECK_NUMBER(pmu_run(ops, 6), 2);
	CHECK_NUMBER(ops[0].error, UNC_ERR_PERMISSION);
	CHECK_NUMBER(ops[0].errno_value, EPERM);
	CHECK_NUMBER(ops[1].error, UNC_ERR_PERMISSION);
	k.fail = START;
	CHECK_NUMBER(pmu_run(ops, 6), 1);
	CHECK_NUMBER(ops[2].error, UNC_ERR_PERMISSION);
	k.fail = READ_PMDS;
	k.error = EINVAL;
	CHECK_NUMBER(pmu_run(ops, 6), 2);
	CHECK_NUMBER(ops[3].error, UNC_ERR_IO);
	CHECK_NUMBER(ops[5].error, UNC_ERR_IO);
	/* A CPU that cannot be had: nothing is called for it; the other is served. */
	k.fail = 0;
	k.fail_pin = 4;
	k.log[0] = '\0';
	CHECK_NUMBER(pmu_run(ops, 6), 5);
	CHECK_TEXT(k.log, "[6 read*1 ]");
	for (unsigned i = 0; i < 6; i++)
		CHECK_NUMBER(ops[i].error, i < 5 ? UNC_ERR_IO : 0);
	/* Between two operations of another one. */
	struct unc_reg_op between[3] = {ops[5], ops[3], ops[5]};
	k.log[0] = '\0';
	CHECK_NUMBER(pmu_run(between, 3), 1);
	CHECK_TEXT(k.log, "[6 read*1 ][6 read*1 ]");
	CHECK_NUMBER(between[1].error, UNC_ERR_IO);
	CHECK_NUMBER(between[2].error, 0);
	k.fail_pin = -1;
	pmu_end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"contexts", pmu_context},
		{"the thread", pmu_thread},
		{"no context", pmu_no_context},
		{"this kernel", pmu_this_kernel},
		{"writes", pmu_writes},
		{"reads", pmu_reads},
		{"breakpoints", pmu_breakpoints},
		{"freeze and shadow", pmu_freeze},
		{"two CPUs in one list", pmu_interleaved},
		{"failed calls", pmu_errors},
		{NULL, NULL},
	};

	return suite_run("access pmu", tests);
}
