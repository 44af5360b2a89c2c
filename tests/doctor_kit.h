/* SPDX-License-Identifier: BSD-3-Clause */
/* The doctor's answers on machines made of files, for tests: test_doctor.c, test_doctor_units.c. */
#ifndef UNC_TEST_DOCTOR_KIT_H
#define UNC_TEST_DOCTOR_KIT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"
#include "fake_root.h"
#include "suite.h"

static struct fake_root root;
static char said[8192];

static inline int take_check(void *user, const struct unc_check *check)
{
	size_t n = strlen(said);

	(void)user;
	snprintf(said + n, sizeof(said) - n, "%s %s: %s%s%s\n", check->ok ? "ok" : "FAIL",
		 check->check, check->detail, *check->remedy ? " -> " : "", check->remedy);
	return 0;
}

static inline int doctor(const char *sysroot, const char *sim)
{
	struct unc_options options = {.size = sizeof(options), .sysroot = sysroot, .sim = sim};

	said[0] = '\0';
	return unc_doctor(&options, take_check, NULL);
}

/* With the MSRs of a process whose rights are raised, or not. */
static inline int doctor_as(bool raised, const char *sysroot)
{
	struct unc_options options = {.size = sizeof(options), .sysroot = sysroot, .sim = ""};

	said[0] = '\0';
	return unc_doctor_as(&options, raised, take_check, NULL);
}

/* The line of a check; "" if it was not made. Static storage. */
static inline const char *line_of(const char *check)
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

static inline void cpu(const char *vendor, const char *name, int family, int model,
		       const char *flags)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "processor : 0\nvendor_id : %s\ncpu family : %d\nmodel : %d\nmodel name : %s\n"
		 "flags : %s\nphysical id : 0\ncore id : 0\n",
		 vendor, family, model, name, flags);
	fake_text(fake_path(&root, "/proc/cpuinfo"), text);
}

/* All functions of the guide's table of boxes, on bus 7f. */
static inline void sandybridge(void)
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

static inline void monitors_of_kernel(void)
{
	fake_text(fake_path(&root, "/sys/bus/event_source/devices/uncore_imc_1/type"), "20\n");
	fake_text(fake_path(&root, "/sys/bus/event_source/devices/uncore_imc_0/type"), "19\n");
	fake_text(fake_path(&root, "/sys/bus/event_source/devices/cpu/type"), "4\n");
}

#define PERF "; the kernel's own 2 monitors still work (access method kernel), with CAP_PERFMON"

/* Lets everybody write what is there. */
static inline void open_files(void)
{
	char path[400];

	for (unsigned f = 0; f < 256; f++) {
		snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/0000:7f:%02x.%x/config",
			 root.path, f >> 3, f & 7);
		chmod(path, 0666);
	}
	chmod(fake_path(&root, "/dev/cpu/0/msr"), 0666);
}

#endif
