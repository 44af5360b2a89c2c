/* SPDX-License-Identifier: BSD-3-Clause */
/* Files under a root, and the topology read from them. Expected values are those written. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/cpu.h"
#include "fake_root.h"
#include "fault_io.h"
#include "host/fs.h"
#include "suite.h"

static struct fake_root root;
static struct unc_fs *fs;

static void begin(void)
{
	fake_new(&root);
	CHECK_NUMBER(unc_fs_open(root.path, &fs, NULL), 0);
}

static void end(void)
{
	unc_fs_close(fs);
	fake_free(&root);
}

/* ---------------------------------------------------------------------------- fs */

static void test_roots(void)
{
	struct unc_error err;
	struct unc_fs *other;
	char path[64];

	CHECK_NUMBER(unc_fs_open(NULL, &other, NULL), 0);
	CHECK_TEXT(unc_fs_root(other), "/");
	CU_ASSERT(unc_fs_is_real(other));
	CHECK_NUMBER(unc_fs_path(other, path, sizeof(path), "/proc/%s", "cpuinfo"), 0);
	CHECK_TEXT(path, "/proc/cpuinfo");
	unc_fs_close(other);

	CHECK_NUMBER(unc_fs_open("//", &other, NULL), 0);
	CU_ASSERT(unc_fs_is_real(other));
	unc_fs_close(other);

	CHECK_NUMBER(unc_fs_open("/proc/", &other, NULL), 0);
	CHECK_TEXT(unc_fs_root(other), "/proc");
	CU_ASSERT(!unc_fs_is_real(other));
	CHECK_NUMBER(unc_fs_path(other, path, sizeof(path), "self"), 0);
	CHECK_TEXT(path, "/proc/self");
	CHECK_NUMBER(unc_fs_path(other, path, 6, "self"), UNC_ERR_RANGE);
	unc_fs_close(other);

	CHECK_NUMBER(unc_fs_open("/nowhere", &other, &err), UNC_ERR_NOT_FOUND);
	CHECK_TEXT(err.text, "root '/nowhere': No such file or directory");
	CHECK_NUMBER(unc_fs_open("/proc/cpuinfo", &other, &err), UNC_ERR_NOT_FOUND);
	CHECK_TEXT(err.text,
		   "root '/proc/cpuinfo' is neither a directory nor a file of 'uncore gather'");
}

static void test_files(void)
{
	char text[8];

	begin();
	fake_text(fake_path(&root, "/a/b"), "one\n");
	CHECK_NUMBER(unc_fs_text(fs, text, sizeof(text), "/a/%c", 'b'), 0);
	CHECK_TEXT(text, "one");
	fake_text(fake_path(&root, "/a/long"), "0123456789");
	CHECK_NUMBER(unc_fs_text(fs, text, sizeof(text), "/a/long"), 0);
	CHECK_TEXT(text, "0123456");
	CHECK_NUMBER(unc_fs_text(fs, text, sizeof(text), "/a/none"), UNC_ERR_NOT_FOUND);
	CHECK_NUMBER(unc_fs_text(fs, text, sizeof(text), "/a"), UNC_ERR_IO);
	CU_ASSERT(unc_fs_exists(fs, "/a/b"));
	CU_ASSERT(!unc_fs_exists(fs, "/a/none"));
	chmod(fake_path(&root, "/a/b"), 0);
	fake_drop();
	CHECK_NUMBER(unc_fs_text(fs, text, sizeof(text), "/a/b"), UNC_ERR_PERMISSION);
	CHECK_NUMBER(unc_fs_descriptor(fs, O_RDWR, "/a/b"), UNC_ERR_PERMISSION);
	fake_regain();
	end();
}

/* --------------------------------------------------------------------------- cpu */

#define IDENTITY                                                                                   \
	"vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n"                             \
	"model name\t: INTEL(R) XEON(R) PLATINUM 8592+\nstepping\t: 2\n"
#define FLAGS "flags\t\t: fpu vme hypervisor_like\n\n"

static void cpuinfo(const char *text)
{
	fake_text(fake_path(&root, "/proc/cpuinfo"), text);
}

static void online(const char *text)
{
	fake_text(fake_path(&root, "/sys/devices/system/cpu/online"), text);
}

static void topology(int cpu, int package, int die, int core)
{
	const struct {
		const char *name;
		int value;
	} file[] = {{"physical_package_id", package}, {"die_id", die}, {"core_id", core}};

	for (int i = 0; i < 3; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%d\n", file[i].value);
		fake_text(fake_path(&root, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu,
				    file[i].name),
			  text);
	}
}

/* A program without stdout: no file of ours becomes it. */
static void test_closed_stdio(void)
{
	int saved = dup(STDIN_FILENO), fd;

	begin();
	fake_text(fake_path(&root, "/a"), "one");
	close(STDIN_FILENO);
	fd = unc_fs_descriptor(fs, O_RDWR, "/a");
	CU_ASSERT(fd > STDERR_FILENO);
	CU_ASSERT(fcntl(STDIN_FILENO, F_GETFD) < 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	close(fd);
	if (saved >= 0) {
		CHECK_NUMBER(dup2(saved, STDIN_FILENO), STDIN_FILENO);
		close(saved);
	}
	end();
}

static struct unc_topology t; /* large */
static struct unc_error err;

/* Two packages numbered 0 and 3, two dies in the second, hyperthreads 4 and 5, CPU 0 offline. */
static void test_two_sockets(void)
{
	begin();
	cpuinfo("processor\t: 1\n" IDENTITY FLAGS "processor : 2\n\nprocessor : 3\n\n"
		"processor : 4\n\nprocessor : 5\n");
	online("1-5\n");
	topology(0, 0, 0, 0);
	topology(1, 0, 0, 4);
	topology(4, 0, 0, 4);
	topology(2, 3, 0, 0);
	topology(3, 3, 1, 0);
	topology(5, 3, 1, 9);
	CHECK_NUMBER(unc_topology_read(fs, &t, &err), 0);
	CHECK_TEXT(t.vendor, "GenuineIntel");
	CHECK_TEXT(t.model_name, "INTEL(R) XEON(R) PLATINUM 8592+");
	CHECK_NUMBER(t.family, 6);
	CHECK_NUMBER(t.model, 207);
	CHECK_NUMBER(t.stepping, 2);
	CU_ASSERT(!t.hypervisor);
	CHECK_NUMBER(t.n_sockets, 2);
	CHECK_NUMBER(t.socket[0].package, 0);
	CHECK_NUMBER(t.socket[0].cpu, 1);
	CHECK_NUMBER(t.socket[0].cpus, 2);
	CHECK_NUMBER(t.socket[0].cores, 1);
	CHECK_NUMBER(t.socket[0].dies, 1);
	CHECK_NUMBER(t.socket[1].package, 3);
	CHECK_NUMBER(t.socket[1].cpu, 2);
	CHECK_NUMBER(t.socket[1].cpus, 3);
	CHECK_NUMBER(t.socket[1].cores, 3);
	CHECK_NUMBER(t.socket[1].dies, 2);
	CHECK_NUMBER(unc_topology_socket(&t, 4), 0);
	CHECK_NUMBER(unc_topology_socket(&t, 5), 1);
	CHECK_NUMBER(unc_topology_socket(&t, 0), -1);
	CHECK_NUMBER(unc_topology_socket(&t, -1), -1);
	CHECK_NUMBER(unc_topology_socket(&t, UNC_MAX_CPUS), -1);
	end();
}

static void cache(int cpu, const char *text)
{
	fake_text(fake_path(&root, "/sys/devices/system/cpu/cpu%d/cache/index3/size", cpu), text);
}

/* Linux, drivers/base/cacheinfo.c: size_show() writes KiB. It is that of the CPU that stands for the
 * socket; what is not so is not known. */
static void test_caches(void)
{
	static const char *const not_told[] = {"", "K", "163840", "160M", "-1K"};

	begin();
	cpuinfo("processor\t: 0\n" IDENTITY FLAGS);
	online("0-3\n");
	for (int cpu = 0; cpu < 4; cpu++)
		topology(cpu, cpu / 2, 0, cpu);
	cache(0, "163840K\n");
	cache(1, "1K\n");
	CHECK_NUMBER(unc_topology_read(fs, &t, &err), 0);
	CHECK_NUMBER(t.socket[0].cache, 163840);
	CHECK_NUMBER(t.socket[1].cache, 0);
	for (size_t i = 0; i < sizeof(not_told) / sizeof(*not_told); i++) {
		cache(0, not_told[i]);
		CHECK_NUMBER(unc_topology_read(fs, &t, &err), 0);
		CHECK_NUMBER(t.socket[0].cache, 0);
	}
	end();
}

static void left_alone(const char *isolated, const char *nohz_full)
{
	fake_text(fake_path(&root, "/sys/devices/system/cpu/isolated"), isolated);
	fake_text(fake_path(&root, "/sys/devices/system/cpu/nohz_full"), nohz_full);
	CHECK_NUMBER(unc_topology_read(fs, &t, &err), 0);
}

/* Linux, Documentation/ABI/testing/sysfs-devices-system-cpu: isolated, nohz_full. The CPUs are those
 * that no machine has on which this may run. */
static void test_quiet(void)
{
	cpu_set_t before, one;
	int mine = sched_getcpu();

	begin();
	cpuinfo("processor\t: 4001\n" IDENTITY FLAGS);
	online("4001-4005\n");
	for (int cpu = 4001; cpu <= 4005; cpu++)
		topology(cpu, cpu >= 4004, 0, cpu);
	left_alone("\n", "(null)\n");
	CHECK_NUMBER(t.socket[0].cpu, 4001);
	CHECK_NUMBER(t.socket[1].cpu, 4004);
	left_alone("4001\n", "4002,4004\n");
	CHECK_NUMBER(t.socket[0].cpu, 4003);
	CHECK_NUMBER(t.socket[1].cpu, 4005);
	CU_ASSERT(t.cpu_quiet[4001] && t.cpu_quiet[4002] && !t.cpu_quiet[4003]);
	CU_ASSERT(!t.socket[0].quiet && !t.socket[1].quiet);
	left_alone("4001\n", "4004-4005\n");
	CHECK_NUMBER(t.socket[0].cpu, 4002);
	CU_ASSERT(!t.socket[0].quiet && t.socket[1].quiet);
	end();

	/* Who is bound to such a CPU wants it; if there is another, that one is read on. */
	begin();
	CHECK_NUMBER(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(mine, &one);
	CHECK_NUMBER(sched_setaffinity(0, sizeof(one), &one), 0);
	cpuinfo("processor\t: 4001\n" IDENTITY FLAGS);
	char text[64];

	snprintf(text, sizeof(text), "%d,4001\n", mine);
	online(text);
	topology(mine, 0, 0, 0);
	topology(4001, 0, 0, 1);
	left_alone(text, "");
	CHECK_NUMBER(t.socket[0].cpu, mine);
	CU_ASSERT(!t.socket[0].quiet && !t.cpu_quiet[mine] && t.cpu_quiet[4001]);
	snprintf(text, sizeof(text), "%d\n", mine);
	left_alone(text, "");
	CHECK_NUMBER(t.socket[0].cpu, 4001);
	CHECK_NUMBER(sched_setaffinity(0, sizeof(before), &before), 0);
	end();
}

/* Virtual machines may lack the topology folder. */
static void test_cpuinfo_only(void)
{
	begin();
	cpuinfo("processor : 0\n" IDENTITY
		"flags : fpu hypervisor\nphysical id : 0\ncore id : 0\n\n"
		"processor : 1\nphysical id : 1\ncore id : 0\n");
	CHECK_NUMBER(unc_topology_read(fs, &t, &err), 0);
	CU_ASSERT(t.hypervisor);
	CHECK_NUMBER(t.n_sockets, 2);
	CHECK_NUMBER(t.socket[1].cpu, 1);
	CHECK_NUMBER(t.socket[1].cores, 1);

	/* A kernel for one processor says nothing at all: one socket. */
	cpuinfo("processor : 0\n" IDENTITY);
	CHECK_NUMBER(unc_topology_read(fs, &t, &err), 0);
	CHECK_NUMBER(t.n_sockets, 1);
	CHECK_NUMBER(t.socket[0].cores, 1);
	CHECK_NUMBER(unc_topology_socket(&t, 3), 0);

	/* -1 in sysfs: not known there. */
	topology(0, -1, -1, -1);
	cpuinfo("processor : 0\n" IDENTITY "physical id : 5\n");
	CHECK_NUMBER(unc_topology_read(fs, &t, &err), 0);
	CHECK_NUMBER(t.socket[0].package, 5);
	end();
}

/* Families by name, as old kernels of Itanium have them: CPUID of 308065-001, table 2-1. */
static void test_family_names(void)
{
	static const struct {
		const char *name;
		int family;
	} rows[] = {{"Itanium", 0x07}, {"Itanium 2", 0x1f}, {"32", 0x20}};
	char text[200];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		snprintf(text, sizeof(text),
			 "processor  : 0\nvendor     : GenuineIntel\narch       : IA-64\n"
			 "family     : %s\nmodel      : 2\n",
			 rows[i].name);
		cpuinfo(text);
		CHECK_NUMBER(unc_topology_read(fs, &t, &err), 0);
		CHECK_NUMBER(t.family, rows[i].family);
		end();
	}
}

static void test_topology_errors(void)
{
	static const struct {
		const char *cpuinfo, *online, *package, *text;
	} rows[] = {
		{NULL, NULL, NULL, "/proc/cpuinfo cannot be read: No such file or directory"},
		{"", NULL, NULL, "/proc/cpuinfo: no line 'vendor_id'"},
		{"vendor_id : x\n", NULL, NULL, "/proc/cpuinfo: no line 'cpu family'"},
		{"vendor_id : x\ncpu family : 6\n", NULL, NULL, "/proc/cpuinfo: no line 'model'"},
		{IDENTITY, NULL, NULL, "/proc/cpuinfo: no line 'processor'"},
		{"vendor_id : x\ncpu family : six\n", NULL, NULL,
		 "/proc/cpuinfo: 'cpu family' is not a number: 'six'"},
		{"processor : -1\n" IDENTITY, NULL, NULL,
		 "/proc/cpuinfo: 'processor' is not a number: '-1'"},
		{"processor : 99999\n" IDENTITY, NULL, NULL,
		 "/proc/cpuinfo: 'processor' is not a number: '99999'"},
		{"processor : 0\n" IDENTITY, "0-\n", NULL,
		 "/sys/devices/system/cpu/online: '0-' is not a list of CPUs like 0-3,8"},
		{"processor : 0\n" IDENTITY, "3-1", NULL,
		 "/sys/devices/system/cpu/online: '3-1' is not a list of CPUs like 0-3,8"},
		{"processor : 0\n" IDENTITY, "0 1", NULL,
		 "/sys/devices/system/cpu/online: '0 1' is not a list of CPUs like 0-3,8"},
		{"processor : 0\n" IDENTITY, "0", "zero",
		 "/sys/devices/system/cpu/cpu0/topology/physical_package_id: not a number"},
		{"processor : 0\n" IDENTITY, "0-1", "0",
		 "cpu 1: neither sysfs (physical_package_id) nor /proc/cpuinfo (physical id) tells "
		 "its socket"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		if (rows[i].cpuinfo)
			cpuinfo(rows[i].cpuinfo);
		if (rows[i].online)
			online(rows[i].online);
		if (rows[i].package)
			fake_text(fake_path(&root, "/sys/devices/system/cpu/cpu0/topology/"
						   "physical_package_id"),
				  rows[i].package);
		CHECK_NUMBER(unc_topology_read(fs, &t, &err), UNC_ERR_UNAVAILABLE);
		CHECK_NUMBER(err.code, UNC_ERR_UNAVAILABLE);
		CHECK_TEXT(err.text, rows[i].text);
		end();
	}
}

static void test_too_many_sockets(void)
{
	char text[8192];
	size_t n = 0;

	begin();
	for (int i = 0; i <= UNC_MAX_SOCKETS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "processor : %d\n%sphysical id : %d\n\n", i,
				      i ? "" : IDENTITY, i);
	cpuinfo(text);
	CHECK_NUMBER(unc_topology_read(fs, &t, &err), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text, "more than 64 sockets");
	end();
}

/* Eight hidden CPUs fill two sockets of four, which is the largest that is seen. */
static void test_unseen(void)
{
	memset(&t, 0, sizeof(t));
	t.n_sockets = 2;
	t.socket[0].cpus = 2;
	t.socket[1].cpus = 4;
	t.hidden = 8;
	CHECK_NUMBER(unc_topology_unseen(&t), 2);
	t.hidden = 3;
	CHECK_NUMBER(unc_topology_unseen(&t), 0);
}

/* What is no regular file is not waited for: a FIFO would stop us for ever. */
static void test_irregular(void)
{
	static const char *const path[] = {"/proc/cpuinfo", "/sys/devices/system/cpu/online",
					   "/sys/devices/system/cpu/cpu0/topology/die_id"};
	char text[200];

	for (size_t i = 0; i < 3; i++) {
		begin();
		if (i)
			cpuinfo("processor : 0\n" IDENTITY "physical id : 0\n");
		CHECK_NUMBER(mkfifo(fake_path(&root, "%s", path[i]), 0644), 0);
		int before = fake_descriptors();
		CHECK_NUMBER(unc_topology_read(fs, &t, &err), UNC_ERR_UNAVAILABLE);
		snprintf(text, sizeof(text), "%s%s: not a regular file", path[i],
			 i < 2 ? " cannot be read" : "");
		CHECK_TEXT(err.text, text);
		CHECK_NUMBER(unc_fs_text(fs, text, sizeof(text), "%s", path[i]), UNC_ERR_IO);
		CHECK_NUMBER(errno, UNC_FS_IRREGULAR);
		CHECK_NUMBER(unc_fs_regular(fs, "%s", path[i]), UNC_ERR_IO);
		CHECK_NUMBER(fake_descriptors(), before);
		end();
	}
	begin();
	CHECK_NUMBER(symlink("/dev/zero", fake_path(&root, "/proc/cpuinfo")), 0);
	CHECK_NUMBER(unc_topology_read(fs, &t, &err), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text, "/proc/cpuinfo cannot be read: not a regular file");
	end();
}

/* Interrupted, put off and short reads go on, failures have their words; nothing goes on for ever.
 */
static void test_faulty_files(void)
{
	static const struct {
		const char *fault;
		const char *text;
	} rows[] = {
		{"fail read *cpuinfo - EINTR times 3", ""},
		{"fail read *cpuinfo - EAGAIN times 3", ""},
		{"short *cpuinfo - 7", ""},
		{"fail open *cpuinfo - EINTR times 3", ""},
		{"fail read *cpuinfo - EIO times 1",
		 "/proc/cpuinfo cannot be read: Input/output error"},
		{"fail open *cpuinfo - EMFILE times 1",
		 "/proc/cpuinfo cannot be read: Too many open files"},
		{"fail open *cpuinfo - ENFILE times 1",
		 "/proc/cpuinfo cannot be read: Too many open files in system"},
		{"fail open *cpuinfo - EACCES times 1",
		 "/proc/cpuinfo cannot be read: Permission denied"},
		{"fail read *cpuinfo - EAGAIN",
		 "/proc/cpuinfo cannot be read: Resource temporarily unavailable"},
	};

	begin();
	cpuinfo("processor : 0\n" IDENTITY "physical id : 0\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool ok = !*rows[i].text;

		unc_error_clear(&err);
		faults("%s", rows[i].fault);
		CHECK_NUMBER(unc_topology_read(fs, &t, &err), ok ? 0 : UNC_ERR_UNAVAILABLE);
		no_faults();
		CHECK_TEXT(err.text, rows[i].text);
		if (ok)
			CHECK_NUMBER(t.n_sockets, 1);
	}
	end();
}

/* A file that never ends is given up, and given up once. */
static void test_endless_cpuinfo(void)
{
	begin();
	fake_size(fake_path(&root, "/proc/cpuinfo"), (64 << 20) + 1);
	CHECK_NUMBER(unc_topology_read(fs, &t, &err), UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text, "/proc/cpuinfo is larger than 64 MiB");
	end();
}

/* /proc/cpuinfo of a large machine has megabytes. */
static void test_large_cpuinfo(void)
{
	size_t n = 0, size = 4u << 20;
	char *text = malloc(size);

	begin();
	for (int i = 0; i < 512; i++)
		n += (size_t)snprintf(text + n, size - n,
				      "processor : %d\n%sphysical id : %d\ncore id : %d\n"
				      "flags : %4000s\n\n",
				      i, i ? "" : IDENTITY, i / 256, i % 128, "fpu");
	cpuinfo(text);
	CHECK_NUMBER(unc_topology_read(fs, &t, &err), 0);
	CHECK_NUMBER(t.n_sockets, 2);
	CHECK_NUMBER(t.socket[1].cpu, 256);
	CHECK_NUMBER(t.socket[1].cpus, 256);
	CHECK_NUMBER(t.socket[1].cores, 128);
	free(text);
	end();
}

static void test_lockdown(void)
{
	static const struct {
		const char *text, *mode;
	} rows[] = {
		{"[none] integrity confidentiality\n", "none"},
		{"none [integrity] confidentiality\n", "integrity"},
		{"none integrity [confidentiality]\n", "confidentiality"},
		{"none\n", ""},
		{"[none", ""},
	};
	char mode[32] = "?";

	begin();
	unc_lockdown_read(fs, mode);
	CHECK_TEXT(mode, "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_text(fake_path(&root, "/sys/kernel/security/lockdown"), rows[i].text);
		unc_lockdown_read(fs, mode);
		CHECK_TEXT(mode, rows[i].mode);
	}
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"roots", test_roots},
		{"files", test_files},
		{"files are not stdin, stdout, stderr", test_closed_stdio},
		{"two sockets", test_two_sockets},
		{"CPUs to be left alone", test_quiet},
		{"sizes of caches", test_caches},
		{"only /proc/cpuinfo", test_cpuinfo_only},
		{"names of families", test_family_names},
		{"broken files", test_topology_errors},
		{"too many sockets", test_too_many_sockets},
		{"large /proc/cpuinfo", test_large_cpuinfo},
		{"endless /proc/cpuinfo", test_endless_cpuinfo},
		{"sockets that are not seen", test_unseen},
		{"no regular file", test_irregular},
		{"faulty files", test_faulty_files},
		{"lockdown", test_lockdown},
		{NULL, NULL},
	};

	return suite_run("fs_cpu", tests);
}
