/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPU on which MSRs are accessed: the caller's where it is of the same socket. Each CPU's file
 * holds its number in the register; which one was asked shows in the value.
 */
#include "access_files.h"
#include "fault_io.h"
#include "host/cpu.h"

enum { NUMBER = 0x2008, MANY = 40 }; /* CPUs 2 and 3 are of socket 1, the others of socket 0 */

static struct unc_topology top; /* large */
static struct unc_machine_methods methods;
static int caller;

static int cpu_of_caller(const struct unc_machine *machine)
{
	(void)machine;
	return caller;
}

static void open_machine(unsigned cpus)
{
	char text[64];

	open_root();
	fake_text(fake_path(&root, "/proc/cpuinfo"),
		  "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 207\n");
	snprintf(text, sizeof(text), "0-%u\n", cpus - 1);
	fake_text(fake_path(&root, "/sys/devices/system/cpu/online"), text);
	for (uint64_t cpu = 0; cpu < cpus; cpu++) {
		const char *msrs = fake_path(&root, "/dev/cpu/%d/msr", (int)cpu);

		fake_size(msrs, 0x3000);
		fake_bytes(msrs, NUMBER, &cpu, sizeof(cpu));
		snprintf(text, sizeof(text), "%d\n", cpu == 2 || cpu == 3);
		fake_text(fake_path(&root,
				    "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
				    (int)cpu),
			  text);
	}
	CHECK_NUMBER(unc_topology_read(fs, &top, &err), 0);
	methods = *hardware->methods;
	methods.cpu = cpu_of_caller;
	hardware->methods = &methods;
	hardware->top = &top;
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		allow(msr(NUMBER, cpu), UINT64_MAX);
}

/* The CPU that a prepared read asks while the caller runs on another one. */
static uint64_t asked(struct unc_reg_op *op, int from)
{
	caller = from;
	CHECK_NUMBER(unc_access_run(gate, op, 1), 0);
	return op->value;
}

static void test_near(void)
{
	struct unc_reg_op near = read_of(msr(NUMBER, 0)), far = read_of(msr(NUMBER, 2)), both[2];

	open_machine(5);
	caller = -1;
	CHECK_NUMBER(unc_access_prepare(gate, &near, 1, &err), 0);
	CHECK_NUMBER(unc_access_prepare(gate, &far, 1, &err), 0);
	CHECK_NUMBER(asked(&near, -1), 0);
	CHECK_NUMBER(asked(&near, 0), 0);
	CHECK_NUMBER(asked(&near, 4), 4);
	CHECK_NUMBER(asked(&near, 1), 1); /* it has moved */
	CHECK_NUMBER(asked(&near, 3), 0); /* the other socket */
	CHECK_NUMBER(asked(&far, 3), 3);
	CHECK_NUMBER(asked(&far, 1), 2);
	CHECK_NUMBER(asked(&near, 99), 0); /* one that was not online, or is none */
	CHECK_NUMBER(asked(&near, UNC_MAX_CPUS), 0);
	both[0] = near;
	both[1] = far;
	caller = 4;
	CHECK_NUMBER(unc_access_run(gate, both, 2), 0);
	CHECK_NUMBER(both[0].value, 4);
	CHECK_NUMBER(both[1].value, 2);
	close_root();
}

/* Where all CPUs are of one socket, one that was not online is no guess either. */
static void test_not_online(void)
{
	struct unc_reg_op near = read_of(msr(NUMBER, 0));

	open_machine(2);
	caller = -1;
	fake_size(fake_path(&root, "/dev/cpu/9/msr"), 0x3000);
	CHECK_NUMBER(unc_access_prepare(gate, &near, 1, &err), 0);
	CHECK_NUMBER(asked(&near, 1), 1);
	fake_bytes(fake_path(&root, "/dev/cpu/9/msr"), NUMBER, &(uint64_t){9}, 8);
	CHECK_NUMBER(asked(&near, 9), 0);
	close_root();
}

/* A thread that is moved about does not use up the descriptors of the program. */
static void test_moved_about(void)
{
	struct unc_reg_op op = read_of(msr(NUMBER, 0));
	unsigned own = 0;

	open_machine(MANY);
	caller = -1;
	CHECK_NUMBER(unc_access_prepare(gate, &op, 1, &err), 0);
	for (int round = 0; round < 2; round++, own = 0)
		for (int cpu = 4; cpu < MANY; cpu++) {
			uint64_t value = asked(&op, cpu);

			own += value == (unsigned)cpu;
			CU_ASSERT(value == (unsigned)cpu || value == 0);
			CU_ASSERT(cpu < MANY - 1 || own == 32);
		}
	close_root();
}

static void test_written(void)
{
	struct unc_reg_op op = write_of(msr(NUMBER, 0), 77);

	open_machine(5);
	caller = 4;
	CHECK_NUMBER(unc_access_prepare(gate, &op, 1, &err), 0);
	CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
	CHECK_NUMBER(fake_get(fake_path(&root, "/dev/cpu/4/msr"), NUMBER, 8), 77);
	CHECK_NUMBER(fake_get(fake_path(&root, "/dev/cpu/0/msr"), NUMBER, 8), 0);
	close_root();
}

/* A file that is not to be had, a CPU that went offline behind the caller: the socket's CPU. */
static void test_refused(void)
{
	struct unc_reg_op op = read_of(msr(NUMBER, 0));

	open_machine(5);
	caller = -1;
	CHECK_NUMBER(unc_access_prepare(gate, &op, 1, &err), 0);
	faults("fail open *cpu/4/msr - EMFILE times 1");
	CHECK_NUMBER(asked(&op, 4), 0);
	CHECK_NUMBER(struck, 1);
	CHECK_NUMBER(asked(&op, 4), 0); /* it is not asked for again */
	faults("fail read *cpu/1/msr %#x ENXIO", NUMBER);
	CHECK_NUMBER(asked(&op, 1), 0);
	no_faults();
	CHECK_NUMBER(asked(&op, 1), 1);
	/* What the CPU does not have is no matter of the file. */
	faults("fail read *cpu/1/msr %#x EIO", NUMBER);
	CHECK_NUMBER(unc_access_run(gate, &op, 1), UNC_ERR_IO);
	no_faults();
	close_root();
}

/* A CPU that is offline from the beginning: another one of its socket takes its place. */
static void test_offline(void)
{
	struct unc_reg_op near = read_of(msr(NUMBER, 0)), far = read_of(msr(NUMBER, 2));

	open_machine(5);
	caller = -1;
	faults("fail open *cpu/0/msr - ENXIO");
	CHECK_NUMBER(unc_access_prepare(gate, &near, 1, &err), 0);
	CHECK_NUMBER(asked(&near, -1), 1);
	faults("fail open *cpu/2/msr - ENXIO");
	CHECK_NUMBER(unc_access_prepare(gate, &far, 1, &err), 0);
	CHECK_NUMBER(asked(&far, -1), 3);
	no_faults();
	close_root();
}

/* One that went offline behind its open file: a sibling takes its place when the next register is tried, and
 * where there is none that is said. */
static void test_gone(void)
{
	struct unc_reg_op near = read_of(msr(NUMBER, 0)), far = read_of(msr(NUMBER, 2));
	struct unc_reg next_near = msr(NUMBER + 8, 0), next_far = msr(NUMBER + 8, 2);

	open_machine(3);
	allow(next_near, 0);
	allow(next_far, 0);
	caller = -1;
	CHECK_NUMBER(unc_access_prepare(gate, &near, 1, &err), 0);
	CHECK_NUMBER(unc_access_prepare(gate, &far, 1, &err), 0);
	faults("fail read *cpu/0/msr - ENXIO");
	REFUSED(read_of(next_near), 0, NULL);
	CHECK_NUMBER(asked(&near, -1), 1);
	faults("fail read *cpu/2/msr - ENXIO");
	REFUSED(read_of(next_far), UNC_ERR_UNAVAILABLE, "cpu 2 is offline");
	no_faults();
	close_root();
}

/* A dump is of another machine: where this process runs says nothing. */
static void test_dump(void)
{
	open_root();
	CHECK_NUMBER(hardware->methods->cpu(hardware), -1);
	close_root();
}

/* The machine that this is: the CPU that runs this. */
static void test_here(void)
{
	begin("/");
	int cpu = hardware->methods->cpu(hardware);

	CU_ASSERT(cpu >= 0 && cpu < UNC_MAX_CPUS);
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"the caller's CPU", test_near},
		{"a CPU that was not online", test_not_online},
		{"a thread that is moved about", test_moved_about},
		{"writes", test_written},
		{"a CPU that cannot be used", test_refused},
		{"a CPU that is offline from the beginning", test_offline},
		{"a CPU that goes offline", test_gone},
		{"a dump", test_dump},
		{"this machine", test_here},
		{NULL, NULL},
	};

	return suite_run("access_cpu", tests);
}
