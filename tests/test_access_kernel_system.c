/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access method kernel against sysfs, and against the kernel that runs: its software events, which
 * every machine has, go the same way as those of uncore PMUs. Layout of sysfs: Linux,
 * Documentation/ABI/testing/sysfs-bus-event_source-devices; names and masks: a kernel 6.1 on a
 * machine of two sockets.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "fake_root.h"
#include "host/events.h"
#include "host/perf_users.h"
#include "kernel_kit.h"

/* ---- sysfs */

static struct fake_root root;
static struct unc_machine_events events;
static struct {
	int error;
	unsigned calls;
	uint32_t type;
	int cpu;
} asked;

static int open_none(struct unc_machine *machine, const struct perf_event_attr *attr, int cpu,
		     int group_fd)
{
	(void)machine;
	CHECK_NUMBER(group_fd, -1);
	CHECK_NUMBER(attr->disabled, 1);
	CHECK_NUMBER(attr->config, 0);
	asked.calls++;
	asked.type = attr->type;
	asked.cpu = cpu;
	errno = asked.error;
	return asked.error ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void add_pmu(const char *name, const char *type, const char *mask)
{
	if (type)
		fake_text(fake_path(&root, "/sys/bus/event_source/devices/%s/type", name), type);
	if (mask)
		fake_text(fake_path(&root, "/sys/bus/event_source/devices/%s/cpumask", name), mask);
}

static void begin_tree(int error)
{
	fake_new(&root);
	memset(&asked, 0, sizeof(asked));
	asked.error = error;
	events = unc_events_system;
	events.open = open_none;
	kernel_begin(root.path, &events, NULL);
}

static void end_tree(void)
{
	kernel_end();
	fake_free(&root);
}

static void test_find(void)
{
	static const struct {
		const char *pmu, *type, *mask;
		unsigned socket;
		int code;
		unsigned want_type, want_cpu;
		const char *text;
	} rows[] = {
		{"uncore_cbox_3", "18\n", "0,8\n", 0, 0, 18, 0, ""},
		{"uncore_cbox_3", "18\n", "0,8\n", 1, 0, 18, 8, ""},
		{"uncore", "9", "3,12", 1, 0, 9, 12, ""},
		{"uncore_imc_free_running_0", "4294967295\n", "7-8", 1, 0, 4294967295, 8, ""},
		{"uncore_ha_0", "12", "0\n", 1, UNC_ERR_UNAVAILABLE, 0, 0,
		 "cpumask of the kernel's PMU uncore_ha_0, '0', has no CPU of socket 1"},
		{"uncore_ha_0", "12", "\n", 0, UNC_ERR_UNAVAILABLE, 0, 0,
		 "cpumask of the kernel's PMU uncore_ha_0: '' is not a list of CPUs like 0,8"},
		{"uncore_ha_0", "12", "0x3", 0, UNC_ERR_UNAVAILABLE, 0, 0,
		 "cpumask of the kernel's PMU uncore_ha_0: '0x3' is not a list of CPUs like 0,8"},
		{"uncore_ha_0", "twelve", "0", 0, UNC_ERR_UNAVAILABLE, 0, 0,
		 "the kernel's PMU uncore_ha_0: Bad message"},
		{"uncore_ha_0", "4294967296", "0", 0, UNC_ERR_UNAVAILABLE, 0, 0,
		 "the kernel's PMU uncore_ha_0: Bad message"},
		{"uncore_ha_0", NULL, NULL, 0, UNC_ERR_UNAVAILABLE, 0, 0,
		 "the kernel has no PMU uncore_ha_0: its driver is not loaded (modprobe "
		 "intel_uncore) or does not know the unit"},
		{"uncore_ha_0", "12", NULL, 0, UNC_ERR_UNAVAILABLE, 0, 0,
		 "the kernel has no PMU uncore_ha_0: its driver is not loaded (modprobe "
		 "intel_uncore) or does not know the unit"},
		/* PERF_TYPE_RAW: never a driver's */
		{"uncore_ha_0", "4", "0", 0, UNC_ERR_DENIED, 0, 0,
		 "the kernel's PMU uncore_ha_0: type 4 is not one of a driver"},
		{"cpu", "4", "0", 0, UNC_ERR_DENIED, 0, 0,
		 "the kernel's PMU 'cpu' is not one of its uncore driver"},
		{"power", "20", "0", 0, UNC_ERR_DENIED, 0, 0,
		 "the kernel's PMU 'power' is not one of its uncore driver"},
		{"uncore/../power", "20", "0", 0, UNC_ERR_DENIED, 0, 0,
		 "the kernel's PMU 'uncore/../power' is not one of its uncore driver"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_kernel_place place = {.type = 0, .cpu = 0};
		unsigned before = descriptors();

		begin_tree(0);
		add_pmu(rows[i].pmu, rows[i].type, rows[i].mask);
		CHECK_NUMBER(-unc_kernel_find(gate, rows[i].pmu, rows[i].socket, 0, &place, &err),
			     -rows[i].code);
		CHECK_TEXT(err.text, rows[i].text);
		CHECK_NUMBER(place.type, rows[i].want_type);
		CHECK_NUMBER(place.cpu, rows[i].want_cpu);
		CHECK_NUMBER(asked.calls, rows[i].code == 0);
		if (rows[i].code == 0) {
			CHECK_NUMBER(asked.type, rows[i].want_type);
			CHECK_NUMBER(asked.cpu, rows[i].want_cpu);
		}
		end_tree();
		CHECK_NUMBER(descriptors(), before);
	}
}

/* Nothing to load where the module is there. */
static void test_find_loaded(void)
{
	struct unc_kernel_place place;

	begin_tree(0);
	fake_text(fake_path(&root, "/sys/module/intel_uncore/initstate"), "live\n");
	CHECK_NUMBER(-unc_kernel_find(gate, "uncore_ha_0", 0, 0, &place, &err),
		     -UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text, "the kernel has no PMU uncore_ha_0: its driver is loaded "
			     "(intel_uncore) and does not know the unit");
	end_tree();
}

/* Files of a machine are no machine: there is no such method. */
static void test_umask(void)
{
	static const struct {
		const char *text;
		uint64_t bits;
	} rows[] = {
		{"config:8-15,32-63\n", 0xFFFFFFFF0000FF00}, /* Linux 6.1.192, uncore_cha_0 */
		{"config:8-15,32-55\n", 0x00FFFFFF0000FF00}, /* the same before July 2024 */
		{"config:8-15", 0xFF00},
		{"config1:8-15", 0},
		{"8-15", 0},
		{"config:15-8", 0},
		{NULL, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_tree(0);
		if (rows[i].text)
			fake_text(fake_path(&root,
					    "/sys/bus/event_source/devices/uncore_cha_0/format/"
					    "umask"),
				  rows[i].text);
		CHECK_NUMBER(events.umask(hardware, "uncore_cha_0"), rows[i].bits);
		end_tree();
	}
}

static void test_dump(void)
{
	fake_new(&root);
	add_pmu("uncore_ha", "12", "0");
	begin(root.path);
	CU_ASSERT(!unc_kernel_chosen(gate));
	CU_ASSERT(!unc_kernel_before(gate, UNC_SPACE_MSR));
	end();
	CHECK_NUMBER(unc_fs_open(root.path, &fs, NULL), 0);
	CHECK_NUMBER(unc_machine_hardware(fs, &hardware, NULL), 0);
	CHECK_NUMBER(unc_access_open(hardware, "kernel", &gate, &err), UNC_ERR_INVALID);
	CHECK_TEXT(err.text,
		   "access 'kernel': this machine is reached by msr, msr-safe, pci, mmio, "
		   "pmu, perf only");
	hardware->methods->close(hardware);
	unc_fs_close(fs);
	fake_free(&root);
}

/*
 * Levels: Linux, Documentation/admin-guide/sysctl/kernel.rst (perf_event_paranoid); 3 and 4: Debian's
 * and Ubuntu's patches, measured: EACCES with CAP_PERFMON, only CAP_SYS_ADMIN passes.
 */
static void test_rights(void)
{
	static const struct {
		const char *level;
		int error;
		const char *text;
	} rows[] = {
		{"4\n", EACCES, "4 asks for CAP_SYS_ADMIN; 0 asks for nothing"},
		{"3\n", EACCES, "3 asks for CAP_SYS_ADMIN; 0 asks for nothing"},
		{"2\n", EACCES, "2 asks for CAP_PERFMON or CAP_SYS_ADMIN; 0 asks for nothing"},
		{"1\n", EACCES, "1 asks for CAP_PERFMON or CAP_SYS_ADMIN; 0 asks for nothing"},
		{"0\n", EACCES, NULL},
		{"-1\n", EACCES, NULL},
		{"high\n", EACCES, NULL},
		{NULL, EACCES, NULL},
		{"2\n", EPERM, NULL}, /* the kernel itself says EACCES */
	};
	char text[300];

	CHECK_NUMBER(unc_perf_right(-1), UNC_PERF_EVERYBODY);
	CHECK_NUMBER(unc_perf_right(0), UNC_PERF_EVERYBODY);
	CHECK_NUMBER(unc_perf_right(1), UNC_PERF_PERFMON);
	CHECK_NUMBER(unc_perf_right(2), UNC_PERF_PERFMON);
	CHECK_NUMBER(unc_perf_right(3), UNC_PERF_ADMIN);
	CHECK_NUMBER(unc_perf_right(4), UNC_PERF_ADMIN);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_kernel_place place;

		begin_tree(rows[i].error);
		add_pmu("uncore_ha", "12", "0,8");
		add_pmu("uncore_pcu", "13", "0,8");
		if (rows[i].level)
			fake_text(fake_path(&root, "/proc/sys/kernel/perf_event_paranoid"),
				  rows[i].level);
		if (rows[i].text)
			snprintf(text, sizeof(text),
				 "perf_event_open: permission denied: "
				 "kernel.perf_event_paranoid=%s",
				 rows[i].text);
		else
			snprintf(text, sizeof(text),
				 "perf_event_open: %s: a security module or a container's seccomp "
				 "profile forbids what kernel.perf_event_paranoid would allow",
				 strerror(rows[i].error));
		/* Asked once, remembered for all. */
		for (unsigned k = 0; k < 3; k++) {
			memset(&err, 0, sizeof(err));
			CHECK_NUMBER(unc_kernel_find(gate, k ? "uncore_pcu" : "uncore_ha", 0, 0,
						     &place, &err),
				     UNC_ERR_PERMISSION);
			CHECK_TEXT(err.text, text);
			CHECK_NUMBER(asked.calls, 1);
		}
		end_tree();
	}
}

/* What says nothing of rights is asked again. */
static void test_right_later(void)
{
	struct unc_kernel_place place;

	begin_tree(EINVAL);
	add_pmu("uncore_ha", "12", "0,8");
	CHECK_NUMBER(unc_kernel_find(gate, "uncore_ha", 0, 0, &place, &err), 0);
	asked.error = EACCES;
	CHECK_NUMBER(unc_kernel_find(gate, "uncore_ha", 0, 0, &place, &err), UNC_ERR_PERMISSION);
	CHECK_NUMBER(asked.calls, 2);
	end_tree();
	begin_tree(0);
	add_pmu("uncore_ha", "12", "0,8");
	CHECK_NUMBER(unc_kernel_find(gate, "uncore_ha", 0, 0, &place, &err), 0);
	CHECK_NUMBER(unc_kernel_find(gate, "uncore_ha", 1, 0, &place, &err), 0);
	CHECK_NUMBER(asked.calls, 1);
	end_tree();
}

/* ---- the kernel that runs */

static cpu_set_t everywhere;
static unsigned reads;

static int our_cpu(void)
{
	unsigned cpu = 0;

	while (!CPU_ISSET(cpu, &everywhere))
		cpu++;
	return (int)cpu;
}

/* "uncore_software" stands for the kernel's own events. */
static int find_software(struct unc_machine *machine, const char *pmu, uint32_t *type, char *mask,
			 size_t size)
{
	(void)machine;
	*type = strcmp(pmu, "uncore_software") == 0 ? PERF_TYPE_SOFTWARE : UINT32_MAX;
	snprintf(mask, size, "%d", our_cpu());
	return 0;
}

static long read_counted(struct unc_machine *machine, int fd, void *buf, size_t size)
{
	reads++;
	return unc_events_system.read(machine, fd, buf, size);
}

/* False, and skipped: not permitted. */
static bool begin_real(const char *pmu, struct unc_kernel_place *place)
{
	cpu_set_t one;

	events = unc_events_system;
	events.find = find_software;
	events.read = read_counted;
	kernel_begin("/", &events, "kernel");
	hardware->fenced = false; /* a type that no driver has */
	kernel_topology = (struct unc_topology){.n_sockets = 1};
	CPU_ZERO(&one);
	CPU_SET((unsigned)our_cpu(), &one);
	CU_ASSERT_EQUAL_FATAL(sched_setaffinity(0, sizeof(one), &one), 0);
	int rc = unc_kernel_find(gate, pmu, 0, 0, place, &err);
	if (rc == UNC_ERR_PERMISSION) {
		suite_skip(err.text);
		kernel_end();
		return false;
	}
	CHECK_NUMBER(rc, 0);
	CHECK_NUMBER(place->cpu, our_cpu());
	return true;
}

static void end_real(void)
{
	kernel_end();
	sched_setaffinity(0, sizeof(everywhere), &everywhere);
}

enum { N_FAULTS = 10000 };

/* So many page faults: each page is new, and no larger one takes its place. */
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

static uint64_t now_ns(void)
{
	uint64_t ns, tsc;

	hardware->methods->now(hardware, &ns, &tsc);
	return ns;
}

static const struct unc_kernel_event pair[] = {{.config = PERF_COUNT_SW_CPU_CLOCK},
					       {.config = PERF_COUNT_SW_PAGE_FAULTS}};

static void test_real(void)
{
	struct unc_kernel_place place;
	struct unc_kernel_group *group = NULL;
	struct unc_reg_op ops[2];
	unsigned before = descriptors();
	uint64_t faults, clock;

	if (!begin_real("uncore_software", &place))
		return;
	unsigned idle = descriptors();
	uint64_t outer = now_ns();
	CU_ASSERT_EQUAL_FATAL(unc_kernel_open(gate, &place, pair, 2, &group, &err), 0);
	uint64_t inner = now_ns();
	CHECK_NUMBER(descriptors(), idle + 2);
	unc_kernel_op(group, &pair[0], &ops[0]);
	unc_kernel_op(group, &pair[1], &ops[1]);
	fault_pages();
	reads = 0;
	inner = now_ns() - inner;
	CHECK_NUMBER(unc_access_run(gate, ops, 2), 0);
	outer = now_ns() - outer;
	CHECK_NUMBER(reads, 1);
	clock = ops[0].value;
	faults = ops[1].value;
	CU_ASSERT(faults >= N_FAULTS);
	/* The two clocks differ by what time is adjusted by. */
	CU_ASSERT((double)clock >= (double)inner * 0.99 && (double)clock <= (double)outer * 1.01);
	CHECK_NUMBER(unc_kernel_idle(&ops[0]), 0);
	fault_pages();
	CHECK_NUMBER(unc_access_run(gate, ops, 2), 0);
	CU_ASSERT(ops[1].value >= faults + N_FAULTS);
	CU_ASSERT(ops[0].value > clock);
	/* Alive, however often and seldom it is read. */
	for (unsigned i = 0; i < 300; i++) {
		nanosleep(&(struct timespec){.tv_nsec = i == 150 ? 300000000 : 1000 * i}, NULL);
		CHECK_NUMBER(unc_access_run(gate, ops, 2), 0);
	}
	CHECK_NUMBER(unc_kernel_idle(&ops[1]), 0);
	unc_kernel_close(group);
	CHECK_NUMBER(descriptors(), idle);
	end_real();
	CHECK_NUMBER(descriptors(), before);
}

static void test_real_unknown(void)
{
	static const struct unc_kernel_event none = {.config = 0xfff};
	struct unc_kernel_place place;
	struct unc_kernel_group *group = NULL;

	if (!begin_real("uncore_unknown", &place)) /* the kernel does not say who may: no right is
						      known */
		return;
	unsigned idle = descriptors();
	CHECK_NUMBER(unc_kernel_open(gate, &place, pair, 2, &group, &err), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text, "the kernel has no PMU of type 4294967295: its driver was unloaded");
	place.type = PERF_TYPE_SOFTWARE;
	struct unc_kernel_event second[] = {pair[0], none};
	CHECK_NUMBER(unc_kernel_open(gate, &place, second, 2, &group, &err), UNC_ERR_UNAVAILABLE);
	CHECK_NUMBER(descriptors(), idle);
	end_real();
}

enum { MANY = 40 };

/* In a process of its own, whose limits stay lowered. */
static int open_many(const struct unc_kernel_place *place, rlim_t soft, rlim_t hard)
{
	struct unc_kernel_event event[MANY] = {{0}};
	struct unc_kernel_group *group = NULL;
	struct rlimit limit = {soft, hard};
	int rc;

	for (size_t i = 0; i < MANY; i++)
		event[i].config = PERF_COUNT_SW_DUMMY;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 99;
	rc = unc_kernel_open(gate, place, event, MANY, &group, &err);
	if (rc == 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != hard)
		return 98;
	return -rc;
}

static void test_real_limit(void)
{
	static const struct {
		rlim_t soft, hard;
		int code;
	} rows[] = {{30, 200, 0}, {30, 30, UNC_ERR_UNAVAILABLE}, {20, 35, UNC_ERR_UNAVAILABLE}};
	struct unc_kernel_place place;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned have, need, may, idle;
		int status = 0;

		if (!begin_real("uncore_software", &place))
			return;
		fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			idle = descriptors();
			int code = open_many(&place, rows[i].soft, rows[i].hard);
			if (code == -UNC_ERR_UNAVAILABLE &&
			    (sscanf(err.text,
				    "each event of the kernel needs a file descriptor: %u are open "
				    "and %u more are needed for this unit alone, but the process "
				    "may have %u in all: raise the hard limit of open files",
				    &have, &need, &may) != 3 ||
			     have + need != MANY || may != rows[i].hard || descriptors() != idle))
				code = 97;
			_exit(code);
		}
		CU_ASSERT_FATAL(child > 0);
		CHECK_NUMBER(waitpid(child, &status, 0), child);
		CHECK_NUMBER(WEXITSTATUS(status), -rows[i].code);
		end_real();
	}
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"PMUs in sysfs", test_find},
		{"a PMU that a loaded driver has not", test_find_loaded},
		{"bits that a format names", test_umask},
		{"a dump", test_dump},
		{"rights", test_rights},
		{"rights, asked again", test_right_later},
		{"counts of the kernel that runs", test_real},
		{"what it does not have", test_real_unknown},
		{"limit of open files", test_real_limit},
		{NULL, NULL},
	};

	sched_getaffinity(0, sizeof(everywhere), &everywhere);
	return suite_run("access kernel, system", tests);
}
