/* SPDX-License-Identifier: BSD-3-Clause */
/* What the doctor says of machines made of files. The sentences are the contract with the user. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_root.h"
#include "suite.h"
#include "uncore.h"

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
	/* cpu, hypervisor, msr, pci, memory, units */
	CHECK_NUMBER(doctor(root.path, ""), 6);
	snprintf(text, sizeof(text),
		 "FAIL cpu: AMD EPYC is not supported: made by AuthenticAMD, and the tables are of "
		 "Intel's uncore -> run it on one of: %s; or try a simulated one: "
		 "UNCORE_SIM=emerald-rapids",
		 cpu_names());
	CHECK_TEXT(line_of("cpu"), text);
	CHECK_TEXT(line_of("hypervisor"),
		   "FAIL hypervisor: this is a virtual machine; hypervisors do not pass the uncore "
		   "monitors on -> run on the machine itself, not in a virtual one (in a cloud: "
		   "bare-metal instances)");
	CHECK_TEXT(line_of("lockdown"), "ok lockdown: the kernel is not locked down");
	CHECK_TEXT(line_of("msr"), "FAIL msr: /dev/cpu/0/msr: no such file -> load the msr module: "
				   "modprobe msr");
	CHECK_TEXT(line_of("pci"),
		   "FAIL pci: not checked: no table tells what to look for -> see cpu");
	CHECK_TEXT(
		line_of("memory"),
		"FAIL memory: /dev/mem: no such file -> use a kernel with CONFIG_DEVMEM, and run "
		"outside of a container");
	CHECK_TEXT(line_of("simulation"), "ok simulation: off: numbers are of this machine");
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("units"), "FAIL units: none: "));
	fake_free(&root);
}

/* Core companions: the kernel gives none for a dump. An Itanium needs nothing else. */
static void test_kernel_counters(void)
{
	fake_new(&root);
	cpu("GenuineIntel", "Xeon X5550", 6, 0x1a, "fpu");
	doctor(root.path, "");
	CHECK_TEXT(line_of("kernel"),
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
	CHECK_NUMBER(doctor(root.path, ""), 3);
	fake_regain();
	CHECK_TEXT(
		line_of("lockdown"),
		"FAIL lockdown: the kernel is locked down (integrity): no MSR writes, no /dev/mem "
		"-> switch Secure Boot off, or boot without lockdown= on the kernel's command "
		"line");
	CHECK_TEXT(line_of("msr"), "FAIL msr: /dev/cpu/0/msr: permission denied -> run as root, or "
				   "with CAP_SYS_RAWIO");
	CHECK_TEXT(line_of("pci"), "ok pci: 13 of 14 PCI functions of the monitors are visible; "
				   "hidden or absent: 08.2 (8086:3c41)");
	/* What can be read but not written cannot be started. */
	CHECK_TEXT(line_of("units"),
		   "FAIL units: 0 of 20 units available; first that is not: ubox0 of socket 0: "
		   "/dev/cpu/0/msr: permission denied: root or CAP_SYS_RAWIO is needed -> see the "
		   "reason and the checks above");

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
	CHECK_NUMBER(doctor(NULL, "no-such-cpu"), 2);
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
		{"counters of the kernel", test_kernel_counters},
		{"a sound machine", test_sound_machine},
		{"a sick machine", test_sick_machine},
		{"a bare tree", test_bare_tree},
		{"simulated", test_simulated},
		{"stopped by the caller", test_stop},
		{NULL, NULL},
	};

	return suite_run("doctor", tests);
}
