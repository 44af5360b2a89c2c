/* SPDX-License-Identifier: BSD-3-Clause */
/* What the doctor says of machines made of files. The sentences are the contract with the user. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "doctor.h"
#include "fake_root.h"
#include "suite.h"

static struct fake_root root;
static char said[8192];

static int take_check(void *user, const struct unc_check *check)
{
	size_t n = strlen(said);

	(void)user;
	snprintf(said + n, sizeof(said) - n, "%s %s: %s%s%s\n", check->ok ? "ok" : "FAIL",
		 check->check, check->detail, *check->remedy ? " -> " : "", check->remedy);
	return 0;
}

static int doctor(const char *sysroot, const char *sim)
{
	struct unc_options options = {.size = sizeof(options), .sysroot = sysroot, .sim = sim};

	said[0] = '\0';
	return unc_doctor(&options, take_check, NULL);
}

/* With the MSRs of a process whose rights are raised, or not; tables NULL: built-in. */
static int doctor_as(bool raised, const char *sysroot, const char *tables)
{
	struct unc_options options = {
		.size = sizeof(options), .sysroot = sysroot, .sim = "", .tables = tables};

	said[0] = '\0';
	return unc_doctor_as(&options, raised, take_check, NULL);
}

/* The line of a check; "" if it was not made. Static storage. */
static const char *line_of(const char *check)
{
	static char line[2048];
	const char *p = said;

	for (; *p; p += strcspn(p, "\n") + 1) {
		const char *name = strchr(p, ' ') + 1;

		if (strncmp(name, check, strlen(check)) != 0 || name[strlen(check)] != ':')
			continue;
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "\n"), p);
		return line;
	}
	return "";
}

static void cpu(const char *vendor, const char *name, int family, int model, const char *flags)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "processor : 0\nvendor_id : %s\ncpu family : %d\nmodel : %d\nmodel name : %s\n"
		 "flags : %s\nphysical id : 0\ncore id : 0\n",
		 vendor, family, model, name, flags);
	fake_text(fake_path(&root, "/proc/cpuinfo"), text);
}

static const char *cpu_names(void)
{
	static char names[400];
	struct unc_cpu c;
	int models[8];

	names[0] = '\0';
	for (size_t i = 0; unc_cpu_get(i, &c, models) == 0; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", c.name);
	return names;
}

static void test_other_cpu(void)
{
	char text[1024];

	fake_new(&root);
	cpu("AuthenticAMD", "AMD EPYC", 26, 2, "fpu hypervisor");
	CHECK_NUMBER(doctor(root.path, ""), 1);
	snprintf(text, sizeof(text),
		 "FAIL cpu: AMD EPYC is not supported: made by AuthenticAMD, and the tables are of "
		 "Intel's uncore -> run it on one of: %s; or try a simulated one: "
		 "UNCORE_SIM=emerald-rapids\n",
		 cpu_names());
	CHECK_TEXT(said, text); /* and nothing else: the rest would be noise */
	cpu("GenuineIntel", "Pentium(R) M", 6, 9, "fpu");
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "FAIL cpu: Pentium(R) M (family 6, model 0x09): "));
	CU_ASSERT_PTR_NULL(strchr(strchr(said, '\n') + 1, '\n'));
	fake_free(&root);
}

/* A supported CPU, in a virtual machine that passes nothing on. */
static void test_virtual(void)
{
	fake_new(&root);
	cpu("GenuineIntel", "Xeon E5-2680", 6, 45, "fpu hypervisor");
	/* hypervisor, msr, pci, units */
	CHECK_NUMBER(doctor(root.path, ""), 4);
	CHECK_TEXT(line_of("hypervisor"),
		   "FAIL hypervisor: this is a virtual machine; hypervisors do not pass the uncore "
		   "monitors on -> run on the machine itself, not in a virtual one (in a cloud: "
		   "bare-metal instances)");
	CHECK_TEXT(line_of("msr"), "FAIL msr: /dev/cpu/0/msr: no such file -> load the msr module: "
				   "modprobe msr");
	CHECK_TEXT(line_of("pci"), "FAIL pci: /sys/bus/pci/devices cannot be opened: no PCI bus is "
				   "visible here -> mount /sys, and run outside of a container");
	CHECK_TEXT(line_of("simulation"), "ok simulation: off: numbers are of this machine");
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("units"), "FAIL units: 0 of "));
	CHECK_TEXT(line_of("msr write"), "");
	fake_free(&root);
}

/* Core companions: the kernel gives none for a dump. An Itanium needs nothing else. */
static void test_kernel_counters(void)
{
	fake_new(&root);
	cpu("GenuineIntel", "Xeon X5550", 6, 0x1a, "fpu");
	doctor(root.path, "");
	CHECK_TEXT(
		line_of("kernel"),
		"FAIL kernel: 0 of 1 logical CPUs give counters; a dump of a machine has no "
		"counters of the kernel -> give the program root or CAP_PERFMON, on a kernel and "
		"a machine that have a core PMU; without it the metrics that need the cores are "
		"left out");
	fake_text(fake_path(&root, "/proc/cpuinfo"),
		  "processor  : 0\nvendor     : GenuineIntel\narch       : IA-64\nfamily     : 32\n"
		  "model      : 0\nphysical id: 0\ncore id    : 0\nthread id  : 0\n");
	doctor(root.path, "");
	CHECK_TEXT(line_of("msr"), "ok msr: not needed on this CPU");
	CHECK_TEXT(line_of("memory"), "ok memory: not needed on this CPU");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(line_of("kernel"), "a dump of a machine has no performance monitor"));
	fake_free(&root);
}

/* All functions of the guide's table of boxes, on bus 7f. */
static void sandybridge(void)
{
	static const struct {
		unsigned device, function, id, size;
	} functions[] = {
		{0x0b, 0, 0x3ce0, 256}, {0x0e, 1, 0x3c46, 256}, {0x10, 0, 0x3cb0, 256},
		{0x10, 1, 0x3cb1, 256}, {0x10, 4, 0x3cb4, 256}, {0x10, 5, 0x3cb5, 256},
		{8, 2, 0x3c41, 256},    {9, 2, 0x3c42, 256},    {8, 6, 0x3c86, 4096},
		{9, 6, 0x3c96, 4096},   {8, 0, 0x3c80, 256},    {9, 0, 0x3c90, 256},
		{0x13, 1, 0x3c43, 256}, {0x13, 5, 0x3c44, 256}, {0x13, 6, 0x3c45, 256},
	};

	cpu("GenuineIntel", "Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz", 6, 45, "fpu");
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		fake_function(&root, 0x7f, functions[i].device, functions[i].function,
			      functions[i].id, functions[i].size);
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x10000);
}

static void test_sound_machine(void)
{
	char text[600];

	fake_new(&root);
	sandybridge();
	CHECK_NUMBER(doctor(root.path, ""), 0);
	CHECK_TEXT(line_of("cpu"), "ok cpu: Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz (Sandy "
				   "Bridge-EP): 1 socket, family 6, model 0x2d");
	CHECK_TEXT(line_of("hypervisor"), "ok hypervisor: none: this is the machine itself");
	snprintf(text, sizeof(text), "ok privileges: none needed: the machine is the dump in %s",
		 root.path);
	CHECK_TEXT(line_of("privileges"), text);
	CHECK_TEXT(line_of("msr"), "ok msr: /dev/cpu/N/msr can be opened for reading and writing");
	CHECK_TEXT(line_of("pci"), "ok pci: all 14 PCI functions of the monitors are visible");
	CHECK_TEXT(line_of("memory"), "ok memory: not needed on this CPU");
	/* UBox, 8 CBos, HA, 4 iMCs, PCU, 2 QPIs, R2PCIe, 2 R3QPIs */
	CHECK_TEXT(line_of("units"), "ok units: 20 of 20 units available");
	CHECK_TEXT(line_of("lockdown"),
		   "ok lockdown: the kernel does not say (no /sys/kernel/security/lockdown); what "
		   "it lets us write is tried below");
	CHECK_TEXT(line_of("counters"), "ok counters: no programmable counter is in use");
	CHECK_TEXT(line_of("in use"), "");
	CHECK_TEXT(line_of("frozen"),
		   "ok frozen: nothing is, as far as registers that can be read tell");
	CHECK_TEXT(line_of("msr write"),
		   "ok msr write: a control that nobody uses took its own value on 1 socket");
	CHECK_TEXT(line_of("pci write"),
		   "ok pci write: a control that nobody uses took its own value on 1 socket");
	CHECK_TEXT(line_of("memory write"), "");
	CHECK_TEXT(line_of("taint"), ""); /* of a dump */
	fake_text(fake_path(&root, "/sys/kernel/security/lockdown"),
		  "[none] integrity confidentiality\n");
	CHECK_NUMBER(doctor(root.path, ""), 0);
	CHECK_TEXT(line_of("lockdown"), "ok lockdown: the kernel is not locked down");
	fake_free(&root);
}

/* ---- what a start would stumble over */

/* A file that can be opened for writing, and is not written: as under lockdown. */
static int sealed(void)
{
	int fd = memfd_create("msr", MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, 0x10000) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0)
		fake_die("memfd");
	return fd;
}

static void monitors_of_kernel(void)
{
	fake_text(fake_path(&root, "/sys/bus/event_source/devices/uncore_imc_1/type"), "20\n");
	fake_text(fake_path(&root, "/sys/bus/event_source/devices/uncore_imc_0/type"), "19\n");
	fake_text(fake_path(&root, "/sys/bus/event_source/devices/cpu/type"), "4\n");
}

#define PERF                                                                                       \
	"; the kernel's own 2 monitors work all the same, with CAP_PERFMON: perf stat -a -e "      \
	"uncore_imc_0/event=0x0/"

static void test_writes(void)
{
	char link[64];
	int fd = sealed();

	fake_new(&root);
	sandybridge();
	monitors_of_kernel();
	fake_text(fake_path(&root, "/sys/module/msr/parameters/allow_writes"), "off\n");
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CHECK_TEXT(line_of("msr"), "FAIL msr: the msr module refuses all writes: "
				   "/sys/module/msr/parameters/allow_writes is off -> echo on "
				   ">/sys/module/msr/parameters/allow_writes, or boot with "
				   "msr.allow_writes=on" PERF);
	CHECK_TEXT(line_of("msr write"), "");
	CHECK_TEXT(line_of("pci write"),
		   "ok pci write: a control that nobody uses took its own value on 1 socket");

	/* Locked down, and nothing tells: the write does. */
	fake_text(fake_path(&root, "/sys/module/msr/parameters/allow_writes"), "default\n");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	remove(fake_path(&root, "/dev/cpu/0/msr"));
	CHECK_NUMBER(symlink(link, fake_path(&root, "/dev/cpu/0/msr")), 0);
	fake_text(fake_path(&root, "/proc/cmdline"), "quiet lockdown=integrity\n");
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CHECK_TEXT(
		line_of("lockdown"),
		"ok lockdown: the kernel does not say (no /sys/kernel/security/lockdown); it was "
		"booted with lockdown=; what it lets us write is tried below");
	CHECK_TEXT(
		line_of("msr write"),
		"FAIL msr write: CTL1 of ubox0 of socket 0 (msr 0xc00 on cpu 0) does not take its "
		"own value: permission denied -> the kernel is locked down: switch Secure Boot "
		"off, or boot without lockdown= on the kernel's command line" PERF);
	close(fd);
	fake_text(fake_path(&root, "/proc/cmdline"), "quiet\n");
	fake_bytes(fake_path(&root, "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-"
				    "00e098032b8c"),
		   0, "\6\0\0\0\1", 5);
	doctor(root.path, "");
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("lockdown"), "; Secure Boot is on; what it lets us"));
	fake_free(&root);
}

/* A configuration file that can be read and not written, of a unit in the middle. */
static void test_read_only_files(void)
{
	char path[400];

	if (getuid() != 0) {
		suite_skip("not root: rights cannot be dropped");
		return;
	}
	fake_new(&root);
	sandybridge();
	for (unsigned f = 0; f < 256; f++) {
		snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/0000:7f:%02x.%x/config",
			 root.path, f >> 3, f & 7);
		chmod(path, 0666);
	}
	chmod(fake_config(&root, 0x7f, 0x10, 4), 0644);
	chmod(fake_path(&root, "/dev/cpu/0/msr"), 0666);
	fake_drop();
	CHECK_NUMBER(doctor(root.path, ""), 1);
	fake_regain();
	CHECK_TEXT(line_of("units"),
		   "FAIL units: 19 of 20 units available; 3 of 4 imc units: imc2 of socket 0: pci "
		   "0000:7f:10.4 can be read but not written: root is needed -> sums over a type that "
		   "lacks some of its units are partial: see the reason and the checks above");
	CHECK_TEXT(line_of("msr write"),
		   "ok msr write: a control that nobody uses took its own value on 1 socket");
	CHECK_TEXT(line_of("pci write"),
		   "ok pci write: a control that nobody uses took its own value on 1 socket");
	fake_free(&root);
}

/* Controls of iMC 0 to 3, functions 10.0, 10.1, 10.4, 10.5: CTL0 at 0xD8, 4 bytes apart. */
static void program(unsigned channel, unsigned counter, uint32_t control)
{
	static const unsigned function[] = {0, 1, 4, 5};

	fake_put(&root, 0x7f, 0x10, function[channel], 0xd8 + 4 * counter, control);
}

/*
 * Intel 327043-001: CAS_COUNT has code 4 and RD is umask 3; ACT_COUNT has code 1, no umask; en is
 * bit 22.
 */
static void test_counters(void)
{
	fake_new(&root);
	sandybridge();
	for (unsigned i = 0; i < 4; i++)
		program(i, 0, 0x400304);
	program(2, 3, 0x400001);
	program(3, 1, 0x4000ee);
	CHECK_NUMBER(doctor(root.path, ""), 0);
	CHECK_TEXT(line_of("counters"),
		   "ok counters: 6 programmable counters of 4 units are in use; each unit has free "
		   "ones");
	CHECK_TEXT(line_of("in use"),
		   "ok in use: counter 0 of imc0 of socket 0, and of 3 more units, counts "
		   "imc.CAS_COUNT:RD (control 0x400304); who programmed it is not known; it stands "
		   "still: nothing to count, or frozen");
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "ok in use: counter 3 of imc2 of socket 0 counts "
					    "imc.ACT_COUNT (control 0x400001); who programmed it "
					    "is not known; it stands still: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "ok in use: counter 1 of imc3 of socket 0 counts what "
					    "is no event of the tables (control 0x4000ee); who "
					    "programmed it is not known; it stands still: "));
	/* The write was tried where nobody counts; what others have set is as it was. */
	CHECK_TEXT(line_of("pci write"),
		   "ok pci write: a control that nobody uses took its own value on 1 socket");
	CHECK_NUMBER(fake_get(fake_config(&root, 0x7f, 0x10, 4), 0xd8 + 12, 4), 0x400001);

	for (unsigned i = 0; i < 8; i++)
		program(i / 4, i % 4, 0x400304);
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CHECK_TEXT(
		line_of("counters"),
		"FAIL counters: all 4 counters of imc0 of socket 0 are in use, as are those of 1 "
		"more units -> end what counts there (perf, PCM, LIKWID, another program of "
		"this library), or events of these units cannot be counted");
	fake_free(&root);
}

/* Where somebody counts on each unit, nothing is written, not even to a counter that is free. */
static void test_all_in_use(void)
{
	uint32_t enable = 0x400000;

	fake_new(&root);
	sandybridge();
	fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), 0xc10, &enable, 4); /* UBox */
	fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), 0xc30, &enable, 4); /* PCU */
	for (unsigned i = 0; i < 8; i++)
		fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), 0xd10 + 0x20 * i, &enable, 4);
	CHECK_NUMBER(doctor(root.path, ""), 0);
	CHECK_TEXT(line_of("msr write"), "ok msr write: not tried: somebody counts on each unit");
	CHECK_TEXT(line_of("pci write"),
		   "ok pci write: a control that nobody uses took its own value on 1 socket");
	fake_free(&root);
}

static void test_frozen(void)
{
	uint32_t freeze = 0x80000000, enable = 0x400000;

	/* Linux's and our table: bit 31 of 0xC00 freezes all boxes of an Ivy Bridge-EP. */
	fake_new(&root);
	cpu("GenuineIntel", "Xeon E5-2697 v2", 6, 62, "fpu");
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x10000);
	fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), 0xc00, &freeze, 4);
	doctor(root.path, "");
	CHECK_TEXT(
		line_of("frozen"),
		"FAIL frozen: counters stand still: frz_all of GLOBAL_CTL of ubox0 of socket 0 "
		"is set (0x80000000) -> a program that froze it was killed, or is at work (perf, "
		"PCM, LIKWID, uncore stat --freeze): end what counts there; a count on the idle "
		"unit lets it go on, else a reboot does");
	fake_free(&root);

	/* A clock that is switched on (0xC08, bit 22) and does not move. */
	fake_new(&root);
	sandybridge();
	fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), 0xc08, &enable, 4);
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("frozen"),
				      "FAIL frozen: counters stand still: the clock of ubox0 of "
				      "socket 0 is switched on and stands still -> "));
	CHECK_TEXT(line_of("in use"), "ok in use: the fixed counter of ubox0 of socket 0 is "
				      "switched on; by whom is not known");
	fake_free(&root);
}

/* ---- tables of a folder, raised rights */

static void test_tables(void)
{
	const char *source = getenv("SRCDIR");
	char tables[400];

	snprintf(tables, sizeof(tables), "%s/eventtables", source ? source : ".");
	fake_new(&root);
	sandybridge();
	CHECK_NUMBER(doctor_as(false, root.path, tables), 0);
	CHECK_TEXT(line_of("tables"), "ok tables: of a folder; a fence keeps them from what is no "
				      "monitor's register");
	CHECK_TEXT(line_of("units"), "ok units: 20 of 20 units available");
	setenv("UNCORE_TABLES", tables, 1);
	CHECK_NUMBER(doctor_as(false, root.path, NULL), 0);
	CHECK_TEXT(line_of("pci"), "ok pci: all 14 PCI functions of the monitors are visible");
	/* The variable is not enough where there is hardware. */
	CHECK_NUMBER(symlink("/dev/null", fake_path(&root, "/dev/mem")), 0);
	CHECK_NUMBER(doctor_as(false, root.path, NULL), 1);
	CHECK_TEXT(line_of("tables"),
		   "FAIL tables: tables of the variable UNCORE_TABLES do not reach hardware: a "
		   "program has to name them itself (uncore --tables DIR, options.tables) -> name "
		   "them: uncore doctor --tables \"$UNCORE_TABLES\" (every command takes it), or "
		   "unset UNCORE_TABLES");
	CHECK_TEXT(line_of("units"), "");
	doctor_as(false, root.path, tables);
	CHECK_TEXT(line_of("units"), "ok units: 20 of 20 units available");
	setenv("UNCORE_TABLES", "/nowhere", 1);
	CHECK_NUMBER(doctor_as(false, root.path, NULL), 1);
	CHECK_TEXT(line_of("tables"),
		   "FAIL tables: /nowhere/cpus.tbl: No such file or directory -> "
		   "correct the folder, or unset UNCORE_TABLES");
	if (getuid() == 0) {
		doctor_as(true, root.path, "");
		CHECK_TEXT(line_of("environment"),
			   "ok environment: UNCORE_TABLES is ignored: the program runs with raised "
			   "privileges");
	}
	unsetenv("UNCORE_TABLES");
	fake_free(&root);
}

/* A root with a device in it is hardware: writing MSRs there is noted by the kernel. */
static void test_hardware(void)
{
	fake_new(&root);
	sandybridge();
	CHECK_NUMBER(symlink("/dev/null", fake_path(&root, "/dev/mem")), 0);
	fake_text(fake_path(&root, "/proc/sys/kernel/tainted"), "4096\n");
	doctor(root.path, "");
	CHECK_TEXT(
		line_of("taint"),
		"ok taint: writing MSRs marks the kernel as tainted (S, CPU out of specification) "
		"and logs \"Write to unrecognized MSR\", which is kept from the log by echo on "
		">/sys/module/msr/parameters/allow_writes; the kernel's own monitors (perf) do "
		"not");
	fake_text(fake_path(&root, "/proc/sys/kernel/tainted"), "4100\n");
	fake_text(fake_path(&root, "/sys/module/msr/parameters/allow_writes"), "on\n");
	monitors_of_kernel();
	doctor(root.path, "");
	CHECK_TEXT(line_of("taint"),
		   "ok taint: writing MSRs marks the kernel as tainted (S, CPU out "
		   "of specification; it is already); the kernel's own monitors "
		   "(perf) do not");
	/* Which rights are there is of this process, not of the root. */
	fake_text(fake_path(&root, "/proc/self/status"),
		  "Name:\tx\nCapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n");
	doctor(root.path, "");
	CHECK_TEXT(
		line_of("privileges"),
		"FAIL privileges: CAP_SYS_RAWIO (MSRs, /dev/mem): no; CAP_SYS_ADMIN (PCI "
		"configuration): no -> run as root, or give the program the capabilities: setcap "
		"cap_sys_rawio,cap_sys_admin+ep PROGRAM" PERF);
	fake_text(fake_path(&root, "/proc/self/status"),
		  "Name:\tx\nCapEff:\t0000000000000000\nCapBnd:\t00000000a80425fb\n");
	fake_text(fake_path(&root, "/proc/sys/kernel/perf_event_paranoid"), "3\n");
	doctor(root.path, "");
	CHECK_TEXT(
		line_of("privileges"),
		"FAIL privileges: CAP_SYS_RAWIO (MSRs, /dev/mem): no; CAP_SYS_ADMIN (PCI "
		"configuration): no -> the bounding set keeps them from this process: in a "
		"container, start it with --cap-add SYS_RAWIO --cap-add SYS_ADMIN; of a service, "
		"see CapabilityBoundingSet=; the kernel's own 2 monitors work all the same, with "
		"CAP_SYS_ADMIN: perf stat -a -e uncore_imc_0/event=0x0/");
	fake_free(&root);
}

static void test_sick_machine(void)
{
	fake_new(&root);
	sandybridge();
	fake_text(fake_path(&root, "/sys/kernel/security/lockdown"),
		  "none [integrity] confidentiality\n");
	remove(fake_config(&root, 0x7f, 8, 2));
	chmod(fake_path(&root, "/dev/cpu/0/msr"), 0);
	fake_drop();
	/* lockdown, msr, units */
	CHECK_NUMBER(doctor(root.path, ""), 3);
	fake_regain();
	CHECK_TEXT(
		line_of("lockdown"),
		"FAIL lockdown: the kernel is locked down (integrity): no MSR writes, no /dev/mem, "
		"no writes of PCI configuration -> switch Secure Boot off, or boot without "
		"lockdown= on the kernel's command "
		"line");
	CHECK_TEXT(line_of("msr"), "FAIL msr: /dev/cpu/0/msr: permission denied -> run as root, or "
				   "with CAP_SYS_RAWIO");
	CHECK_TEXT(line_of("pci"), "ok pci: 13 of 14 PCI functions of the monitors are visible; "
				   "hidden or absent: 08.2 (8086:3c41)");
	/* What can be read but not written cannot be started. */
	CHECK_TEXT(line_of("units"),
		   "FAIL units: 0 of 20 units available; 0 of 1 ubox units: ubox0 of socket 0: "
		   "/dev/cpu/0/msr: permission denied: root or CAP_SYS_RAWIO is needed; none of 7 "
		   "more types -> see the reason and the checks above");

	/* The match registers lie beyond 0xff. */
	fake_size(fake_config(&root, 0x7f, 8, 6), 256);
	doctor(root.path, "");
	CHECK_TEXT(
		line_of("pci"),
		"FAIL pci: pci 0000:7f:08.6 offset 0x100 is not reachable: the configuration space "
		"that the kernel shows ends at 0x100 -> run as root on a kernel with PCI Express "
		"configuration (MMCONFIG)");
	fake_free(&root);
}

static void test_bare_tree(void)
{
	fake_new(&root);
	cpu("GenuineIntel", "INTEL(R) XEON(R) PLATINUM 8592+", 6, 0xcf, "fpu");
	mkdir(fake_path(&root, "/sys/bus/pci/devices/x") /* makes the folders */, 0755);
	remove(fake_path(&root, "/sys/bus/pci/devices/x"));
	doctor(root.path, "");
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("pci"), "PCI functions of the monitors is visible -> "
						      "switch the performance monitors on in the "
						      "BIOS"));
	CHECK_TEXT(
		line_of("memory"),
		"FAIL memory: /dev/mem: no such file -> use a kernel with CONFIG_DEVMEM, and run "
		"outside of a container");
	fake_free(&root);

	fake_new(&root);
	doctor(root.path, "");
	CHECK_TEXT(line_of("cpu"),
		   "FAIL cpu: /proc/cpuinfo cannot be read: No such file or directory -> mount /proc "
		   "and /sys, or check UNCORE_SYSROOT");
	CHECK_TEXT(line_of("hypervisor"), "");
	CHECK_NUMBER(doctor("/nowhere", ""), 1);
	CHECK_TEXT(said,
		   "FAIL root: root '/nowhere': No such file or directory -> correct or unset "
		   "UNCORE_SYSROOT\n");
	fake_free(&root);
}

static void test_simulated(void)
{
	CHECK_NUMBER(doctor(NULL, "sandybridge-ep,sockets=1"), 0);
	CHECK_TEXT(
		line_of("simulation"),
		"ok simulation: SIMULATED: the machine is 'sandybridge-ep,sockets=1'; no number is "
		"of this one, which is not checked");
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("units"), "units available"));
	CHECK_TEXT(line_of("cpu"), "");
	CHECK_NUMBER(doctor(NULL, "no-such-cpu"), 1);
	CHECK_TEXT(line_of("simulation"), "FAIL simulation: 'no-such-cpu' cannot be simulated -> "
					  "correct or unset UNCORE_SIM");
}

static int stop_at_once(void *user, const struct unc_check *check)
{
	(void)check;
	++*(int *)user;
	return 1;
}

static void test_stop(void)
{
	struct unc_options options = {.size = sizeof(options), .sysroot = "/nowhere", .sim = ""};
	int calls = 0;

	fake_new(&root);
	options.sysroot = root.path;
	unc_doctor(&options, stop_at_once, &calls);
	CHECK_NUMBER(calls, 1);
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"another maker's CPU", test_other_cpu},
		{"a virtual machine", test_virtual},
		{"counters of the kernel", test_kernel_counters},
		{"a sound machine", test_sound_machine},
		{"writes that are refused", test_writes},
		{"files that are read only", test_read_only_files},
		{"counters in use", test_counters},
		{"all units in use", test_all_in_use},
		{"frozen", test_frozen},
		{"tables of a folder", test_tables},
		{"hardware", test_hardware},
		{"a sick machine", test_sick_machine},
		{"a bare tree", test_bare_tree},
		{"simulated", test_simulated},
		{"stopped by the caller", test_stop},
		{NULL, NULL},
	};

	return suite_run("doctor", tests);
}
