/* SPDX-License-Identifier: BSD-3-Clause */
/* What the doctor finds out by registers. The sentences are the contract with the user. */
#include <sys/mman.h>

#include "doctor_kit.h"

/* A file that can be opened for writing, and is not written: as under lockdown. */
static int sealed(void)
{
	int fd = memfd_create("msr", MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, 0x10000) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0)
		fake_die("memfd");
	return fd;
}

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
		   "ok pci write: a control that nobody uses accepted its own value on 1 socket");

	/* Locked down, and nothing tells: the write does. */
	fake_text(fake_path(&root, "/sys/module/msr/parameters/allow_writes"), "default\n");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	remove(fake_path(&root, "/dev/cpu/0/msr"));
	CHECK_NUMBER(symlink(link, fake_path(&root, "/dev/cpu/0/msr")), 0);
	fake_text(fake_path(&root, "/proc/cmdline"), "quiet lockdown=integrity\n");
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CHECK_TEXT(line_of("lockdown"),
		   "ok lockdown: lockdown is not known (no /sys/kernel/security/lockdown); it was "
		   "booted with lockdown=; writes are tried below");
	CHECK_TEXT(line_of("msr write"),
		   "FAIL msr write: CTL1 of ubox0 of socket 0 (msr 0xc00 on cpu 0) does not accept "
		   "its own value: permission denied -> the kernel is locked down: switch Secure "
		   "Boot off, or boot without lockdown= on the kernel's command line" PERF);
	/* Nor does the module: it may be the one that refuses. */
	remove(fake_path(&root, "/sys/module/msr/parameters/allow_writes"));
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CHECK_TEXT(line_of("msr write"),
		   "FAIL msr write: CTL1 of ubox0 of socket 0 (msr 0xc00 on cpu 0) does not accept "
		   "its own value: permission denied -> if PCI functions or memory can be written, "
		   "the msr module refuses the writes: echo on "
		   ">/sys/module/msr/parameters/allow_writes, or boot with msr.allow_writes=on; "
		   "else the kernel is locked down: switch Secure Boot off, or boot without "
		   "lockdown= on the kernel's command line" PERF);
	close(fd);
	fake_text(fake_path(&root, "/proc/cmdline"), "quiet\n");
	fake_bytes(fake_path(&root, "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-"
				    "00e098032b8c"),
		   0, "\6\0\0\0\1", 5);
	doctor(root.path, "");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(line_of("lockdown"), "; Secure Boot is on; writes are tried"));
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
		   "imc.CAS_COUNT:RD (control 0x400304); the program that uses it is not known; it "
		   "does not move: nothing to count, or frozen");
	CU_ASSERT_PTR_NOT_NULL(strstr(
		said, "ok in use: counter 3 of imc2 of socket 0 counts imc.ACT_COUNT (control "
		      "0x400001); the program that uses it is not known; it does not move: "));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(said, "ok in use: counter 1 of imc3 of socket 0 counts an event that is not "
			     "in the tables (control 0x4000ee); the program that uses it is not "
			     "known; it does not move: "));
	/* The write was tried where nobody counts; what others have set is as it was. */
	CHECK_TEXT(line_of("pci write"),
		   "ok pci write: a control that nobody uses accepted its own value on 1 socket");
	CHECK_NUMBER(fake_get(fake_config(&root, 0x7f, 0x10, 4), 0xd8 + 12, 4), 0x400001);

	for (unsigned i = 0; i < 4; i++)
		program(0, i, 0x400304);
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(said,
				      "FAIL counters: all 4 counters of imc0 of socket 0 are in "
				      "use -> end the programs that count there"));
	for (unsigned i = 4; i < 8; i++)
		program(i / 4, i % 4, 0x400304);
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CHECK_TEXT(line_of("counters"),
		   "FAIL counters: all 4 counters of imc0 of socket 0 are in use, as are those of "
		   "1 more unit -> end the programs that count there (perf, PCM, LIKWID, others of "
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
	CHECK_TEXT(line_of("msr write"), "ok msr write: not tried: every unit is in use");
	CHECK_TEXT(line_of("pci write"),
		   "ok pci write: a control that nobody uses accepted its own value on 1 socket");
	fake_free(&root);
}

/* Nor where no control can be given its own value: bit 16 is reserved in all of them, and set (327043-001, tables
 * 2-4, 2-10 and 2-79). */
static void test_none_as_it_is(void)
{
	const uint64_t reserved = 0x0101010101010101;
	const char *msrs;

	fake_new(&root);
	sandybridge();
	msrs = fake_path(&root, "/dev/cpu/0/msr");
	for (uint64_t number = 0xc00; number < 0xe20; number += 8)
		fake_bytes(msrs, number, &reserved, 8);
	doctor(root.path, "");
	CHECK_TEXT(line_of("msr write"), "ok msr write: not tried: every unit is in use");
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
	CHECK_TEXT(line_of("frozen"),
		   "FAIL frozen: counters are stopped: frz_all of GLOBAL_CTL of ubox0 of socket 0 "
		   "is set (0x80000000) -> a program that froze it was killed, or still runs "
		   "(perf, PCM, LIKWID): end the programs that count there; a count on the idle "
		   "unit then unfreezes it, else a reboot does");
	fake_free(&root);

	/* A clock that is switched on (0xC08, bit 22) and does not move. */
	fake_new(&root);
	sandybridge();
	fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), 0xc08, &enable, 4);
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("frozen"),
				      "FAIL frozen: counters are stopped: the clock of ubox0 "
				      "of socket 0 is switched on, but does not move -> "));
	CHECK_TEXT(line_of("in use"), "ok in use: the fixed counter of ubox0 of socket 0 is "
				      "switched on; the program that uses it is not known");
	fake_free(&root);
}

/* GLOBAL_CTL (0x391) of a Nehalem-EP enables its counters; the first control is 0x3C0 (SDM). */
static void test_switched_off(void)
{
	uint32_t enable = 0x400103;
	uint8_t first = 1;

	fake_new(&root);
	cpu("GenuineIntel", "Xeon X5550", 6, 26, "fpu");
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x10000);
	doctor(root.path, "");
	CHECK_TEXT(line_of("frozen"),
		   "ok frozen: nothing is, as far as the readable registers show");
	fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), 0x3c0, &enable, 4);
	doctor(root.path, "");
	CU_ASSERT_PTR_NOT_NULL(strstr(line_of("frozen"),
				      "FAIL frozen: counters are stopped: GLOBAL_CTL of unc0 "
				      "of socket 0 stops all counters (0x0) -> "));
	fake_bytes(fake_path(&root, "/dev/cpu/0/msr"), 0x391, &first, 1);
	doctor(root.path, "");
	CHECK_TEXT(line_of("frozen"),
		   "ok frozen: nothing is, as far as the readable registers show");
	fake_free(&root);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"writes that are refused", test_writes},
		{"counters in use", test_counters},
		{"all units in use", test_all_in_use},
		{"no control that can be written as it is", test_none_as_it_is},
		{"frozen", test_frozen},
		{"a unit control that lets nothing run", test_switched_off},
		{NULL, NULL},
	};

	return suite_run("doctor_units", tests);
}
