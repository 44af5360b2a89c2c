/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_event_open: software events of the real kernel, which every machine has (man
 * perf_event_open(2)). What a kernel that we run on does not do is in test_access_perf.c.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "access_kit.h"
#include "fake_root.h"
#include "made.h"
#include "tables/table.h"

/* ------------------------------------------------------------------ the machine we run on */

static cpu_set_t everywhere; /* where we may run */

static void run_on(unsigned cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CU_ASSERT_EQUAL_FATAL(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* CPU number i of those where we may run; -1 past the last. */
static int cpu_of_ours(int i)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((unsigned)cpu, &everywhere) && i-- == 0)
			return cpu;
	return -1;
}

/* So many page faults on this CPU: each page is new, and no larger one takes its place. */
static void fault_pages(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *all =
		mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_FATAL(all != MAP_FAILED);
	madvise(all, n * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		*(volatile char *)(all + i * page) = 1;
	munmap(all, n * page);
}

static void nap(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* Whether the kernel hands out events of a CPU; else the test is skipped. */
static bool permitted(uint32_t type, uint64_t config, int cpu)
{
	struct perf_event_attr attr = {.type = type, .size = sizeof(attr), .config = config};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
	static char why[160];

	snprintf(why, sizeof(why), "perf_event_open on cpu %d: %s", cpu, strerror(errno));
	if (fd < 0)
		suite_skip(why);
	else
		close(fd);
	return fd >= 0;
}

/* ------------------------------------------------------------------------------ perf */

enum { N_FAULTS = 20000 };

static const char *on_cpu(const char *before, int cpu, const char *after)
{
	static char text[200];

	snprintf(text, sizeof(text), "%scpu %d%s", before, cpu, after);
	return text;
}

static void leave(void)
{
	end();
	sched_setaffinity(0, sizeof(everywhere), &everywhere);
}

static void perf_counts(void)
{
	int cpu = cpu_of_ours(0);
	unsigned before = descriptors();

	if (!permitted(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, cpu))
		return;
	begin("/");
	run_on((unsigned)cpu);
	allow_events(cpu);
	unsigned idle = descriptors();
	CHECK_NUMBER(value_of(count(0, cpu)), 0);
	CHECK_NUMBER(value_of(config(0, cpu)), 0);
	CHECK_NUMBER(descriptors(), idle); /* to try is not to keep */

	CHECK_NUMBER(set(config(0, cpu), PERF_COUNT_SW_PAGE_FAULTS), 0);
	CHECK_NUMBER(descriptors(), idle + 1);
	CHECK_NUMBER(value_of(config(0, cpu)), PERF_COUNT_SW_PAGE_FAULTS);
	fault_pages(N_FAULTS);
	uint64_t first = value_of(count(0, cpu));
	CU_ASSERT(first >= N_FAULTS);
	fault_pages(N_FAULTS);
	CU_ASSERT(value_of(count(0, cpu)) >= first + N_FAULTS);

	CHECK_NUMBER(set(config(0, cpu), 0), 0);
	CHECK_NUMBER(descriptors(), idle);
	CHECK_NUMBER(value_of(config(0, cpu)), 0);
	CHECK_NUMBER(value_of(count(0, cpu)), 0);
	fault_pages(N_FAULTS);
	CHECK_NUMBER(value_of(count(0, cpu)), 0);
	/* What came before is not counted, be it closed in between or not. */
	CHECK_NUMBER(set(config(0, cpu), PERF_COUNT_SW_PAGE_FAULTS), 0);
	CU_ASSERT(value_of(count(0, cpu)) < N_FAULTS);
	fault_pages(N_FAULTS);
	CHECK_NUMBER(set(config(0, cpu), PERF_COUNT_SW_PAGE_FAULTS), 0);
	CU_ASSERT(value_of(count(0, cpu)) < N_FAULTS);
	CHECK_NUMBER(descriptors(), idle + 1);
	leave(); /* closes what is open */
	CHECK_NUMBER(descriptors(), before);
}

/* The same events by calls of our own, around those that are tried and within: others count on this
 * CPU, too, and nobody knows how much. */
static int reference(uint64_t number, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = number};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);

	CU_ASSERT_FATAL(fd >= 0);
	return fd;
}

static uint64_t ended(int fd)
{
	uint64_t value = 0;

	CU_ASSERT_FATAL(read(fd, &value, sizeof(value)) == sizeof(value));
	close(fd);
	return value;
}

/* Several events of a CPU, in one list; each counts its own thing. */
static void perf_several(void)
{
	enum { NAPS = 50, N = 4 };
	static const uint64_t number[N] = {
		PERF_COUNT_SW_DUMMY, /* counts nothing */
		PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_TASK_CLOCK, /* ns: of a CPU, all of them */
	};
	int cpu = cpu_of_ours(0), outer[N], inner[N];
	uint64_t least[N];
	struct unc_reg_op ops[2 * N];

	if (!permitted(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, cpu))
		return;
	begin("/");
	run_on((unsigned)cpu);
	allow_events(cpu);
	for (uint32_t i = 0; i < N; i++) {
		ops[i] = write_of(config(i, cpu), number[i]);
		ops[N + i] = read_of(count(i, cpu));
	}
	CHECK_NUMBER(unc_access_prepare(gate, ops, 2 * N, &err), 0);
	for (unsigned i = 0; i < N; i++)
		outer[i] = reference(number[i], cpu);
	CHECK_NUMBER(unc_access_run(gate, ops, N), 0);
	for (unsigned i = 0; i < N; i++)
		inner[i] = reference(number[i], cpu);
	fault_pages(N_FAULTS);
	for (unsigned i = 0; i < NAPS; i++)
		nap(200000); /* each is a switch to whatever comes next */
	for (unsigned i = 0; i < N; i++)
		least[i] = ended(inner[i]);
	CHECK_NUMBER(unc_access_run(gate, ops + N, N), 0);
	for (unsigned i = 0; i < N; i++)
		CU_ASSERT(least[i] <= ops[N + i].value && ops[N + i].value <= ended(outer[i]));
	CHECK_NUMBER(ops[N].value, 0);
	CU_ASSERT(least[1] >= NAPS);
	CU_ASSERT(least[2] >= N_FAULTS);
	CU_ASSERT(least[3] > 0);
	for (uint32_t i = 0; i < N; i++)
		CHECK_NUMBER(value_of(config(i, cpu)), number[i]);
	leave();
}

/* Our faults are on one CPU; what the other counts is what it counts itself. */
static void perf_cpus(void)
{
	int ours = cpu_of_ours(1), other = cpu_of_ours(0);

	if (ours < 0) {
		suite_skip("needs two CPUs");
		return;
	}
	if (!permitted(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, other))
		return;
	begin("/");
	run_on((unsigned)ours);
	allow_events(ours);
	allow_events(other);
	int outer = reference(PERF_COUNT_SW_PAGE_FAULTS, other);
	CHECK_NUMBER(set(config(0, ours), PERF_COUNT_SW_PAGE_FAULTS), 0);
	CHECK_NUMBER(set(config(0, other), PERF_COUNT_SW_PAGE_FAULTS), 0);
	int inner = reference(PERF_COUNT_SW_PAGE_FAULTS, other);
	fault_pages(N_FAULTS);
	uint64_t least = ended(inner), value = value_of(count(0, other));
	CU_ASSERT(least <= value && value <= ended(outer));
	CU_ASSERT(value_of(count(0, ours)) >= N_FAULTS);
	/* Closing one leaves the other. */
	CHECK_NUMBER(set(config(0, other), 0), 0);
	CHECK_NUMBER(value_of(config(0, ours)), PERF_COUNT_SW_PAGE_FAULTS);
	CU_ASSERT(value_of(count(0, ours)) >= N_FAULTS);
	leave();
}

/* There is no software event 0xFFF: ENOENT of the kernel. */
static void perf_invalid(void)
{
	int cpu = cpu_of_ours(0);
	struct unc_reg_op ops[4];

	if (!permitted(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, cpu))
		return;
	begin("/");
	run_on((unsigned)cpu);
	allow_events(cpu);
	unsigned idle = descriptors();
	CHECK_NUMBER(set(config(0, cpu), 0xfff), UNC_ERR_IO);
	CHECK_NUMBER(value_of(config(0, cpu)), 0);
	CHECK_NUMBER(value_of(count(0, cpu)), 0);
	CHECK_NUMBER(descriptors(), idle);
	/* Over one that counts: that is gone. Its neighbours in the list are run. */
	CHECK_NUMBER(set(config(0, cpu), PERF_COUNT_SW_PAGE_FAULTS), 0);
	ops[0] = write_of(config(0, cpu), 0xfff);
	ops[1] = write_of(config(1, cpu), PERF_COUNT_SW_PAGE_FAULTS);
	ops[2] = read_of(config(1, cpu));
	ops[3] = read_of(config(0, cpu));
	CHECK_NUMBER(unc_access_prepare(gate, ops, 4, &err), 0);
	CHECK_NUMBER(unc_access_run(gate, ops, 4), UNC_ERR_IO);
	CHECK_NUMBER(ops[0].error, UNC_ERR_IO);
	CHECK_NUMBER(ops[0].errno_value, ENOENT);
	CHECK_NUMBER(ops[1].error, 0);
	CHECK_NUMBER(ops[2].value, PERF_COUNT_SW_PAGE_FAULTS);
	CHECK_NUMBER(ops[3].error, 0);
	CHECK_NUMBER(ops[3].value, 0);
	CHECK_NUMBER(descriptors(), idle + 1);
	leave();
}

/* Raw events where there is no core PMU, as in most virtual machines. */
static void perf_no_core_pmu(void)
{
	int cpu = cpu_of_ours(0);
	struct perf_event_attr clocks = {.type = PERF_TYPE_HARDWARE, .size = sizeof(clocks)};
	int fd = (int)syscall(SYS_perf_event_open, &clocks, -1, cpu, -1, 0), why = errno;

	if (fd >= 0)
		close(fd);
	if (fd >= 0 || why != ENOENT) {
		suite_skip(fd >= 0 ? "there is a core PMU" : strerror(why));
		return;
	}
	begin("/");
	allow(event(PERF_TYPE_RAW, UNC_PERF_CONFIG, cpu), UINT64_MAX);
	allow(event(PERF_TYPE_RAW, UNC_PERF_COUNT, cpu), 0);
	REFUSED(read_of(event(PERF_TYPE_RAW, UNC_PERF_CONFIG, cpu)), UNC_ERR_UNAVAILABLE,
		on_cpu("the kernel has no core PMU for ", cpu,
		       ": a virtual machine without one, or it is switched off"));
	REFUSED(read_of(event(PERF_TYPE_RAW, UNC_PERF_COUNT, cpu)), UNC_ERR_UNAVAILABLE,
		on_cpu("the kernel has no core PMU for ", cpu,
		       ": a virtual machine without one, or it is switched off"));
	/* A write asks the kernel itself (INST_RETIRED). */
	CHECK_NUMBER(set(event(PERF_TYPE_RAW, UNC_PERF_CONFIG, cpu), 0xc0), UNC_ERR_IO);
	end();
}

/* The real kernel refuses a CPU's events to a user. */
static void perf_user(void)
{
	char text[16] = "";
	int cpu = cpu_of_ours(0);

	begin("/");
	unc_fs_text(fs, text, sizeof(text), "/proc/sys/kernel/perf_event_paranoid");
	if (getuid() != 0 || atoi(text) < 1) {
		suite_skip("needs root, and kernel.perf_event_paranoid of at least 1");
		end();
		return;
	}
	allow_events(cpu);
	fake_drop();
	REFUSED(read_of(config(0, cpu)), UNC_ERR_PERMISSION,
		on_cpu("perf_event_open on ", cpu,
		       ": permission denied: root, CAP_PERFMON or kernel.perf_event_paranoid below "
		       "1 is needed"));
	CHECK_NUMBER(set(config(1, cpu), PERF_COUNT_SW_PAGE_FAULTS), UNC_ERR_PERMISSION);
	fake_regain();
	CHECK_NUMBER(value_of(config(1, cpu)), 0);
	CHECK_NUMBER(value_of(count(1, cpu)), 0);
	end();
}

/* ------------------------------------------------------------------------ a session */

/* Software events of the kernel as units, before the tables of the library: tests/tables/ours, as of the CPU at
 * hand. */
static struct unc_tbl_cpuid ours;

bool unc_table_built(size_t index, struct unc_table *out)
{
	if (!ours.n_models)
		return REAL(unc_table_built)(index, out);
	if (index > 0)
		return REAL(unc_table_built)(index - 1, out);
	*out = *made_table("ours");
	out->cpuid = &ours;
	return true;
}

/* False, and skipped, where /proc/cpuinfo has no CPU of Intel's. */
static bool take_ours(void)
{
	char text[4096] = "";
	int family = -1, model = -1;

	CHECK_NUMBER(unc_fs_open("/", &fs, NULL), 0);
	unc_fs_text(fs, text, sizeof(text), "/proc/cpuinfo");
	unc_fs_close(fs);
	for (char *p = text; p && *p; p = strchr(p, '\n'), p += p != NULL) {
		sscanf(p, "cpu family : %d", &family);
		sscanf(p, "model : %d", &model);
	}
	if (!strstr(text, "GenuineIntel") || family < 0 || model < 0) {
		suite_skip("not a CPU of Intel's: a platform does not open on it");
		return false;
	}
	ours = (struct unc_tbl_cpuid){
		.family = (uint16_t)family, .n_models = 1, .models = {(uint16_t)model}};
	return true;
}

/* A unit whose CPU we may run on; the CPU in *cpu. */
static const struct unc_unit *unit_of_ours(const struct unc_platform *p, unsigned *cpu)
{
	const struct unc_unit *u;

	for (size_t i = 0; (u = unc_unit_get(p, i)); i++)
		if (sscanf(u->location, "perf of cpu %u", cpu) == 1 && u->available &&
		    *cpu < CPU_SETSIZE && CPU_ISSET(*cpu, &everywhere))
			return u;
	return NULL;
}

static struct unc_session *session(struct unc_platform *p, const char *const *events)
{
	struct unc_session *s = NULL;
	int id;

	CU_ASSERT_EQUAL_FATAL(unc_session_new(p, 0, &s), 0);
	for (int i = 0; events[i]; i++) {
		int rc = unc_session_add(s, events[i], &id);

		CHECK_TEXT(unc_session_error(s), "");
		CU_ASSERT_EQUAL_FATAL(rc, 0);
		CHECK_NUMBER(id, i);
	}
	return s;
}

static uint64_t count_of(struct unc_session *s, size_t id)
{
	struct unc_value v[3];

	CU_ASSERT_EQUAL_FATAL(unc_session_read(s, v, 3, sizeof(*v)), 0);
	CU_ASSERT(v[id].flags & UNC_VALUE_VALID);
	return v[id].count;
}

static void measure(struct unc_platform *p)
{
	unsigned cpu = 0, idle, one_more;
	const struct unc_unit *u = unit_of_ours(p, &cpu);
	char own[64] = "";

	CU_ASSERT_FATAL(u != NULL);
	CU_ASSERT(u->socket >= 0 && unc_type_get(p, 0)->units > 0);
	run_on(cpu);
	snprintf(own, sizeof(own), "core%d.PAGE_FAULTS:socket=%d", u->index, u->socket);
	struct unc_session *s =
		session(p, (const char *[]){"core.PAGE_FAULTS", "core.DUMMY", own, NULL});
	struct unc_session *other = session(p, (const char *[]){"core.DUMMY", NULL});
	struct unc_session *none = session(p, (const char *[]){"core.NONE", NULL});

	idle = descriptors();
	CU_ASSERT_EQUAL_FATAL(unc_session_start(s), 0);
	CU_ASSERT(descriptors() >= idle + 2);
	fault_pages(N_FAULTS);
	CU_ASSERT(count_of(s, 0) >= N_FAULTS);
	CU_ASSERT(count_of(s, 2) >= N_FAULTS);
	CHECK_NUMBER(count_of(s, 1), 0);
	/* Stopped: the last look holds, nothing is left open. */
	fault_pages(N_FAULTS);
	CU_ASSERT_EQUAL(unc_session_stop(s), 0);
	uint64_t last = count_of(s, 2);
	CU_ASSERT(last >= 2 * N_FAULTS);
	fault_pages(N_FAULTS);
	CHECK_NUMBER(count_of(s, 2), last);
	CHECK_NUMBER(descriptors(), idle);
	/* Again, from 0, with another session that comes and goes. */
	CU_ASSERT_EQUAL_FATAL(unc_session_start(s), 0);
	CU_ASSERT(count_of(s, 2) < N_FAULTS);
	one_more = descriptors();
	CU_ASSERT_EQUAL_FATAL(unc_session_start(other), 0);
	CU_ASSERT(descriptors() > one_more);
	fault_pages(N_FAULTS);
	CHECK_NUMBER(count_of(other, 0), 0);
	CU_ASSERT_EQUAL(unc_session_stop(other), 0);
	CHECK_NUMBER(descriptors(), one_more);
	CU_ASSERT(count_of(s, 2) >= N_FAULTS);
	/* What the kernel does not have cannot be started, and leaves nothing. */
	CU_ASSERT(unc_session_start(none) < 0);
	CHECK_NUMBER(descriptors(), one_more);
	unc_session_free(s); /* stops it */
	CHECK_NUMBER(descriptors(), idle);
	unc_session_free(other);
	unc_session_free(none);
}

static void perf_session(void)
{
	struct unc_options o = {.size = sizeof(o), .sysroot = "/", .sim = ""};
	unsigned before = descriptors();
	struct unc_platform *p = NULL;

	if (!permitted(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, cpu_of_ours(0)))
		return;
	if (take_ours()) {
		int rc = unc_platform_open(&o, &p);

		CHECK_TEXT(unc_open_error(), "");
		CU_ASSERT_EQUAL_FATAL(rc, 0);
		measure(p);
		unc_platform_close(p);
		sched_setaffinity(0, sizeof(everywhere), &everywhere);
	}
	ours.n_models = 0;
	CHECK_NUMBER(descriptors(), before);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"an event counts", perf_counts},   {"several events", perf_several},
		{"each CPU for itself", perf_cpus}, {"no such event", perf_invalid},
		{"no core PMU", perf_no_core_pmu},  {"as a user", perf_user},
		{"a session", perf_session},        {NULL, NULL},
	};

	CPU_ZERO(&everywhere);
	sched_getaffinity(0, sizeof(everywhere), &everywhere);
	return suite_run("access kernel", tests);
}
