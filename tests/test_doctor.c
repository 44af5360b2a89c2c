/* SPDX-License-Identifier: BSD-3-Clause */
/* What the doctor says of machines made of files. The sentences are the contract with the user. */
#include "doctor_kit.h"

static const char *cpu_names(void)
{
	static char names[400];
	const struct unc_cpu *c;

	names[0] = '\0';
	for (size_t i = 0; (c = unc_cpu_get(NULL, i)) != NULL; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", c->name);
	return names;
}

static void test_other_cpu(void)
{
	char text[1024];

	fake_new(&root);
	cpu("AuthenticAMD", "AMD EPYC", 26, 2, "fpu hypervisor");
	CHECK_NUMBER(doctor(root.path, ""), 1);
	snprintf(text, sizeof(text),
		 "FAIL cpu: AMD EPYC is not supported: it is made by AuthenticAMD, and the tables "
		 "cover only Intel's uncore -> run it on one of: %s; or try a simulated one: "
		 "UNCORE_SIM=emerald-rapids\n",
		 cpu_names());
	CHECK_TEXT(said, text); /* and nothing else: the rest would be noise */
	cpu("GenuineIntel", "Pentium(R) M", 6, 9, "fpu");
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(said, "FAIL cpu: this CPU (Pentium(R) M, family 6 model 0x9"));
	CU_ASSERT_PTR_NULL(strchr(strchr(said, '\n') + 1, '\n'));
	fake_free(&root);
}

/* Cascade Lake-AP: a package has two dies of a Cascade Lake-SP, each with an uncore of its own (Linux,
 * uncore_snbep.c: skx_pmu_get_topology() counts dies). */
static void test_two_dies(void)
{
	char text[1024];

	for (int dies = 1; dies <= 2; dies++) {
		fake_new(&root);
		text[0] = '\0';
		for (int i = 0; i < 4; i++) {
			const char *folder = "/sys/devices/system/cpu/cpu%d/topology/%s";
			char path[128], number[8];

			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 "processor : %d\nvendor_id : GenuineIntel\ncpu family : 6\n"
				 "model : 85\nmodel name : Xeon\nstepping : 7\n"
				 "physical id : %d\ncore id : %d\n\n",
				 i, i / 2, i % 2);
			snprintf(path, sizeof(path), folder, i, "die_id");
			snprintf(number, sizeof(number), "%d\n", i % dies);
			fake_text(fake_path(&root, path), number);
		}
		fake_text(fake_path(&root, "/proc/cpuinfo"), text);
		doctor(root.path, "");
		CU_ASSERT_PTR_NOT_NULL(strstr(
			line_of("cpu"),
			dies == 1 ? ": 2 sockets, family 6"
				  : "FAIL cpu: package 0 of this Cascade Lake-SP has 2 dies: "
				    "packages of several dies, as Cascade Lake-AP (Xeon Platinum "
				    "9200), are not supported -> "));
		fake_free(&root);
	}
}

/* So many packages that there is no room for them: that no table is for the CPU is said first. */
static void test_many_sockets(void)
{
	static const struct {
		int model;
		const char *said;
	} rows[] = {{9, "FAIL cpu: this CPU (Xeon, family 6 model 0x9"},
		    {45, "FAIL cpu: more than 64 sockets -> "}};
	static char text[16384];

	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		size_t n = 0;

		fake_new(&root);
		for (int i = 0; i <= 64; i++)
			n += (size_t)snprintf(
				text + n, sizeof(text) - n,
				"processor : %d\nvendor_id : GenuineIntel\ncpu family : "
				"6\nmodel : %d\nmodel name : Xeon\nstepping : 1\n"
				"physical id : %d\ncore id : 0\n\n",
				i, rows[row].model, i);
		fake_text(fake_path(&root, "/proc/cpuinfo"), text);
		CHECK_NUMBER(doctor(root.path, ""), 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(line_of("cpu"), rows[row].said));
		fake_free(&root);
	}
}

/* Which units that are not there are a fault. One socket has no links (Xeon E5-1600). */
static void test_missed(void)
{
	static const struct {
		const char *sim, *said;
	} rows[] = {
		{"sandybridge-ep-1s-no-qpi", "ok units: 18 of 20 units available; 0 of 2 qpi"},
		{"sandybridge-ep-1s-no-qpi1", "ok units: 19 of 20 units available; 1 of 2 qpi"},
		{"ivybridge-ep-1s-no-qpi1", "ok units: 26 of 27 units available; 1 of 2 qpi"},
		{"sandybridge-ep-no-qpi", "FAIL units: 36 of 40 units available; 0 of 4 qpi"},
		{"sandybridge-ep-no-qpi1", "FAIL units: 38 of 40 units available; 2 of 4 qpi"},
		/* no portable metric is of it */
		{"sandybridge-ep-no-r2pcie", "ok units: 38 of 40 units available; 0 of 2 r2pcie"},
		{"sandybridge-ep-1s-no-imc1", "FAIL units: 19 of 20 units available; 3 of 4 imc"},
		{"sandybridge-ep-1s-no-imc", "FAIL units: 16 of 20 units available; 0 of 4 imc"},
		{"granite-rapids-garbage", "FAIL units: 354 of 392 units available; 0 of 24 imc"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		doctor("", rows[i].sim);
		if (strncmp(line_of("units"), rows[i].said, strlen(rows[i].said)) != 0)
			CHECK_TEXT(line_of("units"), rows[i].said);
	}
}

/* The kernel's driver that is loaded, and knows nothing of this CPU. */
static void test_old_driver(void)
{
	fake_new(&root);
	sandybridge();
	doctor(root.path, "");
	CHECK_TEXT(line_of("kernel driver"), "ok kernel driver: it is not loaded (modprobe "
					     "intel_uncore): registers are used for all");
	fake_text(fake_path(&root, "/sys/module/intel_uncore/initstate"), "live\n");
	doctor(root.path, "");
	CHECK_TEXT(line_of("kernel driver"),
		   "ok kernel driver: it is loaded (intel_uncore), but does not support this CPU: "
		   "the kernel is too old for it, or runs in a virtual machine: registers are used "
		   "for all");
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
		strstr(line_of("kernel"), "Linux has no interface to an Itanium's monitors"));
	fake_free(&root);
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
	CHECK_TEXT(line_of("lockdown"), "ok lockdown: lockdown is not known (no "
					"/sys/kernel/security/lockdown); writes are tried below");
	CHECK_TEXT(line_of("counters"), "ok counters: no programmable counter is in use");
	CHECK_TEXT(line_of("in use"), "");
	CHECK_TEXT(line_of("frozen"),
		   "ok frozen: nothing is, as far as the readable registers show");
	CHECK_TEXT(line_of("msr write"),
		   "ok msr write: a control that nobody uses accepted its own value on 1 socket");
	CHECK_TEXT(line_of("pci write"),
		   "ok pci write: a control that nobody uses accepted its own value on 1 socket");
	CHECK_TEXT(line_of("memory write"), "");
	CHECK_TEXT(line_of("taint"), ""); /* of a dump */
	snprintf(text, sizeof(text),
		 "ok journal: sessions of other programs are not known, no counter is shared with "
		 "them, and if this program is killed, its registers are not restored: "
		 "%s/run/libuncore: No such file or directory",
		 root.path);
	CHECK_TEXT(line_of("journal"), text);
	/* The machine is asked, not for what CPU it is to be taken. */
	struct unc_options options = {
		.size = sizeof(options), .sysroot = root.path, .sim = "", .cpu = "haswell-ep"};
	said[0] = '\0';
	CHECK_NUMBER(unc_doctor(&options, take_check, NULL), 0);
	CHECK_TEXT(line_of("units"), "ok units: 20 of 20 units available");
	fake_text(fake_path(&root, "/sys/kernel/security/lockdown"),
		  "[none] integrity confidentiality\n");
	CHECK_NUMBER(doctor(root.path, ""), 0);
	CHECK_TEXT(line_of("lockdown"), "ok lockdown: the kernel is not locked down");
	CHECK_TEXT(line_of("ledger"), "");
	fake_text(fake_path(&root, "/run/libuncore/ledger"), "of an older library\n");
	CHECK_NUMBER(doctor(root.path, ""), 0);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(line_of("ledger"), "/run/libuncore/ledger is of an older libuncore"));
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("ledger"), "run their uncore release"));
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("journal"), "share counters"));
	fake_free(&root);
}

/* A configuration file that can be read and not written, of a unit in the middle. */
static void test_read_only_files(void)
{
	if (getuid() != 0) {
		suite_skip("not root: rights cannot be dropped");
		return;
	}
	fake_new(&root);
	sandybridge();
	open_files();
	chmod(fake_config(&root, 0x7f, 0x10, 4), 0644);
	fake_drop();
	CHECK_NUMBER(doctor(root.path, ""), 1);
	fake_regain();
	CHECK_TEXT(line_of("units"),
		   "FAIL units: 19 of 20 units available; 3 of 4 imc units: imc2 of socket 0: pci "
		   "0000:7f:10.4 can be read but not written: root is needed -> sums over a type "
		   "that lacks some of its units are partial: see the reason and the checks above");
	CHECK_TEXT(line_of("pci write"),
		   "ok pci write: a control that nobody uses accepted its own value on 1 socket");
	fake_free(&root);
}

/* ---- raised rights */

static void test_raised(void)
{
	if (getuid() != 0) {
		suite_skip("not root: a root of somebody else's is refused");
		return;
	}
	fake_new(&root);
	sandybridge();
	setenv("UNCORE_ACCESS", "msr", 1);
	doctor_as(true, root.path);
	CHECK_TEXT(line_of("environment"),
		   "ok environment: UNCORE_ACCESS is ignored: the program runs with raised "
		   "privileges");
	unsetenv("UNCORE_ACCESS");
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
	CHECK_TEXT(line_of("privileges"),
		   "FAIL privileges: CAP_SYS_RAWIO (MSRs, /dev/mem): no; CAP_SYS_ADMIN (PCI "
		   "configuration): no -> the bounding set keeps them from this process: in a "
		   "container, start it with --cap-add SYS_RAWIO --cap-add SYS_ADMIN; for a "
		   "service, see CapabilityBoundingSet=; the kernel's own 2 monitors still work "
		   "(access method kernel), with CAP_SYS_ADMIN");
	fake_free(&root);
}

/* Levels: Linux, Documentation/admin-guide/sysctl/kernel.rst, and Debian's patch for 3; capability 38
 * is CAP_PERFMON (linux/capability.h, 5.8). */
static void test_least_right(void)
{
	static const struct {
		int level, last;
		const char *grant;
	} rows[] = {
		{4, 40,
		 "the least: CAP_SYS_ADMIN for the program (setcap cap_sys_admin+ep PROGRAM; a "
		 "service: AmbientCapabilities=CAP_SYS_ADMIN), or CAP_PERFMON with sysctl "
		 "kernel.perf_event_paranoid=2; or sysctl kernel.perf_event_paranoid=0 for "
		 "everybody"},
		{3, 37,
		 "the least: CAP_SYS_ADMIN for the program (setcap cap_sys_admin+ep PROGRAM; a "
		 "service: AmbientCapabilities=CAP_SYS_ADMIN); or sysctl "
		 "kernel.perf_event_paranoid=0 for everybody"},
		{2, 40,
		 "the least: CAP_PERFMON for the program (setcap cap_perfmon+ep PROGRAM; a "
		 "service: "
		 "AmbientCapabilities=CAP_PERFMON); or sysctl kernel.perf_event_paranoid=0 for "
		 "everybody"},
		{1, 37,
		 "the least: CAP_SYS_ADMIN for the program (setcap cap_sys_admin+ep PROGRAM; a "
		 "service: AmbientCapabilities=CAP_SYS_ADMIN); or sysctl "
		 "kernel.perf_event_paranoid=0 for everybody"},
		{0, 40,
		 "allow perf_event_open in the seccomp profile of the container, or in the "
		 "security module"},
		{-1, 40,
		 "allow perf_event_open in the seccomp profile of the container, or in the "
		 "security module"},
	};
	char text[400];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		unc_doctor_grant(rows[i].level, rows[i].last, text, sizeof(text));
		CHECK_TEXT(text, rows[i].grant);
	}
}

/* A simulated machine with the driver: what it serves, and that its units are not written. */
static void test_by_kernel(void)
{
	doctor("", "ivybridge-ep,kernel=on");
	CHECK_TEXT(line_of("kernel driver"),
		   "ok kernel driver: it counts on 50 of 54 units; events that it lacks need "
		   "registers, which can be used on 50 of these units");
	CHECK_TEXT(line_of("msr write"), "");
	CHECK_TEXT(line_of("kernel units"), "");
	CHECK_TEXT(line_of("kernel rights"), ""); /* those of this process, not of that machine */
	doctor("", "ivybridge-ep");
	CHECK_TEXT(line_of("kernel driver"), "");
}

/* Who may not read the discovery tables believes the driver, as far as that goes: 83 units a socket
 * (workload.tbl: 32 CHA, 8 + 4 of the controllers, 3 * 8 of stacks, 14 MDF, the PCU). */
static void test_unprivileged(void)
{
	doctor("", "emerald-rapids,kernel=on,rights=perf");
	CHECK_TEXT(line_of("kernel units"),
		   "ok kernel units: the discovery tables cannot be read: 166 units are known "
		   "from the kernel's driver only");
	doctor("", "emerald-rapids-no-cha0@1,kernel=on,rights=perf");
	CHECK_TEXT(
		line_of("kernel units"),
		"FAIL kernel units: the discovery tables cannot be read: 83 units are known from "
		"the kernel's driver only; whether 83 more exist is not known, and sums lack them "
		"-> "
		"give the program what it needs to read the discovery tables: CAP_SYS_ADMIN, and "
		"CAP_SYS_RAWIO with /dev/mem");
}

/* On Nehalem-EP all monitors are MSRs (SDM): CAP_SYS_ADMIN is for configuration space alone. */
static void test_rights_of_msrs(void)
{
	fake_new(&root);
	cpu("GenuineIntel", "Intel(R) Xeon(R) CPU X5570 @ 2.93GHz", 6, 26, "fpu");
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x10000);
	CHECK_NUMBER(symlink("/dev/null", fake_path(&root, "/dev/mem")), 0);
	fake_text(fake_path(&root, "/proc/self/status"),
		  "Name:\tx\nCapEff:\t0000000000020000\nCapBnd:\t000001ffffffffff\n");
	doctor(root.path, "");
	CHECK_TEXT(line_of("privileges"),
		   "ok privileges: CAP_SYS_RAWIO (MSRs, /dev/mem): yes; CAP_SYS_ADMIN (PCI "
		   "configuration): not needed on this CPU");
	fake_text(fake_path(&root, "/proc/self/status"),
		  "Name:\tx\nCapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n");
	doctor(root.path, "");
	CHECK_TEXT(line_of("privileges"),
		   "FAIL privileges: CAP_SYS_RAWIO (MSRs, /dev/mem): no; CAP_SYS_ADMIN (PCI "
		   "configuration): not needed on this CPU -> run as root, or give the program the "
		   "capabilities: setcap cap_sys_rawio+ep PROGRAM");
	fake_free(&root);
}

static void test_sick_machine(void)
{
	fake_new(&root);
	sandybridge();
	fake_text(fake_path(&root, "/sys/kernel/security/lockdown"),
		  "none [integrity] confidentiality\n");
	remove(fake_config(&root, 0x7f, 8, 2));
	rmdir(fake_path(&root, "/sys/bus/pci/devices/0000:7f:08.2"));
	open_files();
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
		   "FAIL units: 9 of 20 units available; 1 of 2 qpi units: qpi0 of socket 0: PCI "
		   "function 08.2 (8086:3c41) is not visible: hidden by the BIOS, or this machine "
		   "has none; 0 of 1 ubox units: ubox0 of socket 0: /dev/cpu/0/msr: permission "
		   "denied: root or CAP_SYS_RAWIO is needed; none of 2 more types -> sums over a "
		   "type that lacks some of its units are "
		   "partial: see the reason and the checks above");

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
	CHECK_TEXT(line_of("memory"),
		   "FAIL memory: /dev/mem: no such file -> use a kernel with CONFIG_DEVMEM");
	fake_free(&root);

	fake_new(&root);
	doctor(root.path, "");
	CHECK_TEXT(
		line_of("cpu"),
		"FAIL cpu: /proc/cpuinfo cannot be read: No such file or directory -> mount /proc "
		"and /sys, or check UNCORE_SYSROOT");
	CHECK_TEXT(line_of("hypervisor"), "");
	CHECK_NUMBER(doctor("/nowhere", ""), 1);
	CHECK_TEXT(said,
		   "FAIL root: root '/nowhere': No such file or directory -> correct or unset "
		   "UNCORE_SYSROOT\n");
	fake_free(&root);
}

/* Sockets of Nehalem-EP are told by their CPUs alone. */
static void test_offline(void)
{
	fake_new(&root);
	cpu("GenuineIntel", "Xeon X5570", 6, 26, "fpu");
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x10000);
	fake_text(fake_path(&root, "/sys/devices/system/cpu/present"), "0\n");
	doctor(root.path, "");
	CHECK_TEXT(line_of("offline"), "");
	fake_text(fake_path(&root, "/sys/devices/system/cpu/present"), "0-1\n");
	doctor(root.path, "");
	CHECK_TEXT(line_of("offline"),
		   "ok offline: CPUs that are offline: 1, as many as a socket has; a socket of "
		   "this CPU is seen by its CPUs only, so one is assumed to be there");
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("units"), "no CPU of the socket is online"));
	/* The other thread of a core that is online, switched off. */
	fake_text(fake_path(&root, "/sys/devices/system/cpu/smt/control"), "off\n");
	doctor(root.path, "");
	CHECK_TEXT(line_of("offline"), "");
	sandybridge();
	doctor(root.path, "");
	CHECK_TEXT(line_of("offline"), "");
	fake_free(&root);
}

static void test_simulated(void)
{
	CHECK_NUMBER(doctor(NULL, "sandybridge-ep,sockets=1"), 0);
	CHECK_TEXT(line_of("simulation"),
		   "ok simulation: SIMULATED: the machine is 'sandybridge-ep,sockets=1'; no number "
		   "is of this computer, which is not checked");
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("units"), "units available"));
	CHECK_TEXT(line_of("cpu"), "");
	setenv("UNCORE_SITE", "/nowhere/site.conf", 1); /* named, and not there */
	CHECK_NUMBER(doctor(NULL, "sandybridge-ep,sockets=1"), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("site"),
				      "FAIL site: /nowhere/site.conf: No such file or "
				      "directory: ignored, 1 in all"));
	unsetenv("UNCORE_SITE");
	CHECK_NUMBER(doctor(NULL, "no-such-cpu"), 1);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(line_of("simulation"),
		       "FAIL simulation: 'no-such-cpu' cannot be simulated: there is no "
		       "simulated machine 'no-such-cpu'; there are: "));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(line_of("simulation"), " -> correct what it names, or unset UNCORE_SIM"));
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
		{"two dies in a package", test_two_dies},
		{"more sockets than there may be", test_many_sockets},
		{"units that are missed", test_missed},
		{"a driver that is too old", test_old_driver},
		{"a virtual machine", test_virtual},
		{"counters of the kernel", test_kernel_counters},
		{"a sound machine", test_sound_machine},
		{"files that are read only", test_read_only_files},
		{"raised rights", test_raised},
		{"hardware", test_hardware},
		{"rights where all are MSRs", test_rights_of_msrs},
		{"the least right for the kernel's driver", test_least_right},
		{"the kernel's driver", test_by_kernel},
		{"without the right to read the tables", test_unprivileged},
		{"a sick machine", test_sick_machine},
		{"a bare tree", test_bare_tree},
		{"CPUs that are offline", test_offline},
		{"simulated", test_simulated},
		{"stopped by the caller", test_stop},
		{NULL, NULL},
	};

	return suite_run("doctor", tests);
}
