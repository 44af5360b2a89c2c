/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several access methods of one space: which one serves a unit, in which order, and why not the
 * ones before. The second method of MSRs is that of msr-safe, with a module made here (msr_safe.h).
 */
#include <stdio.h>
#include <stdlib.h>

#include "built.h"
#include "access_files.h"
#include "access/access_ways.h"
#include "access/fence.h"
#include "host/cpu.h"
#include "doctor_kit.h"
#include "msr_safe.h"
#include "platform/platform.h"

/* Numbers: Intel 327043-001, table 2-9 (CBo): base 0xd00, step 0x20. */
enum { CBO = 0xd00, STEP = 0x20, CTL0 = 0x10, CTL3 = 0x13, FILTER = 0x14, CTR0 = 0x16 };

static char logged[1024];

static void take_log(void *user, enum unc_log_level level, const char *text)
{
	size_t n = strlen(logged);

	(void)user;
	(void)level;
	snprintf(logged + n, sizeof(logged) - n, "%s\n", text);
}

/* A machine of files, msr-safe loaded; `msrs`: how many the plain file has. */
static void make_machine(uint64_t msrs)
{
	fake_new(&root);
	sandybridge();
	if (truncate(fake_path(&root, "/dev/cpu/0/msr"), (off_t)msrs) < 0)
		fake_die("msr");
	fake_text(fake_path(&root, "/dev/cpu/msr_batch"), "");
	module_load();
}

static struct unc_platform *open_with(const char *access)
{
	struct unc_options o = {
		.size = sizeof(o), .sysroot = root.path, .sim = "", .access = access};
	struct unc_platform *p = NULL;

	if (unc_platform_open(&o, &p) < 0)
		printf("# %s\n", unc_open_error());
	CU_ASSERT_FATAL(p != NULL);
	return p;
}

static const struct unc_unit *unit_of(const struct unc_platform *p, const char *type, int index)
{
	const struct unc_unit *u;

	for (size_t i = 0; (u = unc_unit_get(p, i)); i++)
		if (strcmp(u->type->name, type) == 0 && u->index == index)
			return u;
	CU_FAIL_FATAL("no such unit");
	return NULL;
}

#define CHECK_UNIT(p, type, index, by, why)                                                        \
	do {                                                                                       \
		CHECK_TEXT(unit_of(p, type, index)->access, by);                                   \
		CHECK_TEXT(unit_of(p, type, index)->reason, why);                                  \
	} while (0)

/* Each method reaches some units: none is lost, and each tells who serves it. */
static void test_each_reaches_some(void)
{
	struct unc_platform *p;

	make_machine(CBO + 4 * STEP); /* the plain file ends before CBo 4 */
	module.denied[CBO + 5 * STEP + FILTER] = true;
	p = open_with(NULL);
	CHECK_UNIT(p, "cbo", 3, "msr", "");
	CHECK_UNIT(p, "cbo", 4, "msr-safe", "msr: msr 0xd90 on cpu 0 is not in this dump");
	CHECK_UNIT(p, "cbo", 5, "",
		   "msr: msr 0xdb0 on cpu 0 is not in this dump; "
		   "msr-safe: msr 0xdb4 is not on the allowlist of msr-safe");
	CHECK_NUMBER(unit_of(p, "cbo", 5)->available, 0);
	CHECK_UNIT(p, "imc", 0, "pci", "");
	CHECK_NUMBER(p->instances.n, 20);
	unc_platform_close(p);
	CHECK_NUMBER(doctor(root.path, ""), 1); /* a unit is missing */
	CHECK_TEXT(line_of("access"),
		   "ok access: msr serves 6 units; msr-safe serves 3 units (cbo4 of socket 0: msr: "
		   "msr 0xd90 on cpu 0 is not in this dump); pci serves 10 units");
	fake_free(&root);
}

/* The other order; a register that msr-safe refuses, or lets be written in part. */
static void test_order(void)
{
	struct unc_platform *p;

	make_machine(0x10000);
	module.denied[CBO + 5 * STEP + FILTER] = true;
	/* Reserved in a control: 21:20, 16 (table 2-10). */
	module.locked[CBO + 6 * STEP + CTL0] = 0xff;
	module.locked[CBO + 7 * STEP + CTR0] = UINT64_MAX; /* read only */
	p = open_with("msr-safe,direct");
	CHECK_UNIT(p, "cbo", 0, "msr-safe", "");
	CHECK_UNIT(p, "cbo", 5, "msr", "msr-safe: msr 0xdb4 is not on the allowlist of msr-safe");
	CHECK_UNIT(p, "cbo", 6, "msr",
		   "msr-safe: the allowlist of msr-safe lets 0xffffffffffffff00 be written to msr "
		   "0xdd0; 0xffceffff is needed");
	CHECK_UNIT(p, "cbo", 7, "msr",
		   "msr-safe: the allowlist of msr-safe lets 0x0 be written to msr 0xdf6; "
		   "0xfffffffffff is needed");
	CHECK_UNIT(p, "imc", 0, "pci", "");
	CHECK_NUMBER(module.n_written, 0);
	unc_platform_close(p);
	p = open_with("direct,msr-safe");
	CHECK_UNIT(p, "cbo", 0, "msr", "");
	unc_platform_close(p);
	/* Only it: other spaces are not reached, and the sentence tells by what they would be. */
	p = open_with("msr-safe");
	CHECK_UNIT(p, "cbo", 0, "msr-safe", "");
	CHECK_UNIT(p, "cbo", 5, "", "msr 0xdb4 is not on the allowlist of msr-safe");
	CHECK_UNIT(p, "imc", 0, "",
		   "no chosen access method reaches pci registers; others do: pci");
	unc_platform_close(p);
	fake_free(&root);
}

static uint64_t msr_in_file(unsigned number)
{
	return fake_get(fake_path(&root, "/dev/cpu/0/msr"), number, 8);
}

/* A session: all registers of a unit go one way, and nothing of it the other. */
static void test_one_way_a_unit(void)
{
	struct unc_session *s = NULL;
	struct unc_platform *p;
	int id;

	make_machine(0x10000);
	module.denied[CBO + 5 * STEP + FILTER] = true;
	p = open_with("msr-safe,direct");
	CHECK_NUMBER(unc_session_new(p, 0, &s), 0);
	CHECK_NUMBER(unc_session_add(s, "cbo.CLOCKTICKS", &id), 0);
	module.ops = 0;
	CHECK_NUMBER(unc_session_start(s), 0);
	for (unsigned i = 0; i < 8; i++) {
		unsigned ctl = CBO + i * STEP + CTL3;
		bool plain = i == 5;

		/* Event 0x00, enabled: bit 22 (table 2-10). */
		CHECK_NUMBER(module.value[ctl] & 0x4000ff, plain ? 0 : 0x400000);
		CHECK_NUMBER(msr_in_file(ctl) & 0x4000ff, plain ? 0x400000 : 0);
	}
	CU_ASSERT(module.ops > 0);
	CHECK_NUMBER(unc_session_stop(s), 0);
	unc_session_free(s);
	unc_platform_close(p);
	fake_free(&root);
}

/* What is asked for and cannot be; and what is not asked for is not told. */
static void test_choice(void)
{
	static const struct {
		const char *access;
		const char *sentence;
	} rows[] = {
		{"nonsense", "no access method 'nonsense'; there are kernel, broker, msr, "
			     "msr-safe, pci, mmio, pmu, "
			     "perf, and direct for msr, pci, mmio, pmu, perf"},
		{"direct,", "no access method ''; there are kernel, broker, msr, msr-safe, pci, "
			    "mmio, pmu, perf, "
			    "and direct for msr, pci, mmio, pmu, perf"},
		{"simulated", "no access method 'simulated'; there are kernel, broker, msr, "
			      "msr-safe, pci, mmio, "
			      "pmu, perf, and direct for msr, pci, mmio, pmu, perf"},
	};
	struct unc_platform *p = NULL;

	make_machine(CBO);
	if (unlink(fake_path(&root, "/dev/cpu/msr_batch")) < 0)
		fake_die("msr_batch");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_options o = {.size = sizeof(o),
					.sysroot = root.path,
					.sim = "",
					.access = rows[i].access};

		CHECK_NUMBER(-unc_platform_open(&o, &p), -UNC_ERR_INVALID);
		CHECK_TEXT(unc_open_error(), rows[i].sentence);
	}
	p = open_with(NULL);
	CHECK_UNIT(p, "cbo", 0, "", "msr 0xd10 on cpu 0 is not in this dump");
	unc_platform_close(p);
	p = open_with("MSR,msr-safe,msr");
	CHECK_UNIT(p, "cbo", 0, "",
		   "msr: msr 0xd10 on cpu 0 is not in this dump; msr-safe: /dev/cpu/msr_batch: no "
		   "such file: the module msr-safe is not loaded");
	unc_platform_close(p);
	CHECK_NUMBER(module.calls, 0);
	doctor(root.path, "");
	CHECK_TEXT(line_of("access"),
		   "ok access: msr serves 2 units; msr-safe: /dev/cpu/msr_batch: no such file: the "
		   "module msr-safe is not loaded; pci serves 10 units");
	setenv("UNCORE_ACCESS", "nonsense", 1);
	CHECK_NUMBER(doctor(root.path, ""), 1);
	CHECK_TEXT(line_of("access"),
		   "FAIL access: no access method 'nonsense'; there are kernel, broker, msr, "
		   "msr-safe, "
		   "pci, mmio, "
		   "pmu, perf, and direct for msr, pci, mmio, pmu, perf -> correct the list "
		   "of methods (--access, or UNCORE_ACCESS)");
	unsetenv("UNCORE_ACCESS");
	fake_free(&root);
}

/* A simulated machine has one method; names of hardware's are no error beside it. */
static void test_simulated(void)
{
	struct unc_options o = {.size = sizeof(o), .sim = "sandybridge-ep"};
	struct unc_platform *p = NULL;

	o.access = "msr-safe,direct";
	CHECK_NUMBER(unc_platform_open(&o, &p), 0);
	CHECK_UNIT(p, "cbo", 0, "simulated", "");
	unc_platform_close(p);
	o.access = "msr-safe";
	CHECK_NUMBER(-unc_platform_open(&o, &p), -UNC_ERR_INVALID);
	CHECK_TEXT(unc_open_error(),
		   "access 'msr-safe': this machine is reached by simulated only");
}

/* The variable, and a process whose rights are raised. */
static void test_variable(void)
{
	struct unc_options o = {.size = sizeof(o), .sim = "sandybridge-ep", .log = take_log};
	struct unc_platform *p = NULL;

	setenv("UNCORE_ACCESS", "nonsense", 1);
	CHECK_NUMBER(-unc_platform_open_as(&o, false, &p), -UNC_ERR_INVALID);
	logged[0] = '\0';
	CHECK_NUMBER(unc_platform_open_as(&o, true, &p), 0);
	CHECK_TEXT(logged, "UNCORE_ACCESS is ignored: the program runs with raised privileges\n");
	unc_platform_close(p);
	o.access = ""; /* the default, whatever the variable says */
	CHECK_NUMBER(unc_platform_open_as(&o, false, &p), 0);
	unc_platform_close(p);
	o.access = "direct";
	CHECK_NUMBER(unc_platform_open_as(&o, false, &p), 0);
	unc_platform_close(p);
	unsetenv("UNCORE_ACCESS");
}

/* ---- the method itself, through the gate */

enum { MSR = 0xe00 }; /* any: back ends serve what they are given */

static void open_gate(const char *order)
{
	fake_new(&root);
	fake_text(fake_path(&root, "/dev/cpu/msr_batch"), "");
	module_load();
	CHECK_NUMBER(unc_fs_open(root.path, &fs, NULL), 0);
	CHECK_NUMBER(unc_machine_hardware(fs, &hardware, NULL), 0);
	hardware->fenced = false;
	CHECK_NUMBER(unc_access_open(hardware, order, &gate, NULL), 0);
	for (unsigned i = 0; i < 100; i++)
		allow(msr(MSR + i, 0), UINT64_MAX);
	allow(msr(MSR, 3), UINT64_MAX);
}

static void test_lists(void)
{
	struct unc_reg_op ops[72];
	unsigned before = descriptors();

	open_gate("msr-safe");
	for (unsigned i = 0; i < 72; i++) {
		module.value[MSR + i] = i * 0x100000001u;
		ops[i] = i == 70 ? write_of(msr(MSR + 99, 0), 0x1234) : read_of(msr(MSR + i, 0));
	}
	CU_ASSERT_FATAL(unc_access_prepare(gate, ops, 72, &err) == 0);
	CHECK_NUMBER(module.calls, 71); /* each is tried once; what is to be written is not read */
	CHECK_NUMBER(module.request, 0xc01063a2); /* _IOWR('c', 0xa2, 16 bytes) */
	CHECK_NUMBER(module.version, 0x20000);
	CHECK_NUMBER(module.n_written, 0);
	module.calls = 0;
	CHECK_NUMBER(unc_access_run(gate, ops, 72), 0);
	CHECK_NUMBER(module.calls, 4); /* 64 reads, 6 reads, a write, a read */
	for (unsigned i = 0; i < 72; i++)
		if (i != 70)
			CHECK_NUMBER(ops[i].value, i * 0x100000001u);
	CHECK_NUMBER(module.value[MSR + 99], 0x1234);
	/* Prepared again: what could be read before is not tried again. */
	module.calls = 0;
	CHECK_NUMBER(unc_access_prepare(gate, ops, 72, &err), 0);
	CHECK_NUMBER(module.calls, 0);
	/* One that fails keeps a list from being run: then each by itself. */
	module.denied[MSR + 1] = module.absent[MSR + 2] = true;
	CHECK_NUMBER(unc_access_run(gate, ops, 4), UNC_ERR_IO);
	CHECK_NUMBER(ops[0].error, 0);
	CHECK_NUMBER(ops[1].error, UNC_ERR_PERMISSION);
	CHECK_NUMBER(ops[2].error, UNC_ERR_IO);
	CHECK_NUMBER(ops[2].errno_value, EIO);
	CHECK_NUMBER(ops[3].error, 0);
	CHECK_NUMBER(ops[3].value, 3 * 0x100000001u);
	/* A write that the module would cut is an error, and so is one that it refuses. */
	module.locked[MSR + 99] = 0xf;
	CHECK_NUMBER(unc_access_run(gate, &ops[70], 1), UNC_ERR_IO);
	CHECK_NUMBER(ops[70].error, UNC_ERR_PERMISSION);
	module.locked[MSR + 99] = UINT64_MAX;
	CHECK_NUMBER(unc_access_run(gate, &ops[70], 1), UNC_ERR_IO);
	CHECK_NUMBER(ops[70].error, UNC_ERR_PERMISSION);
	close_root();
	CHECK_NUMBER(descriptors(), before);
}

/* A CPU goes offline: another one of its socket takes its place. */
static void test_offline(void)
{
	static struct unc_topology top;
	struct unc_reg_op op = read_of(msr(MSR, 3));

	open_gate("msr-safe");
	cpu("GenuineIntel", "two of a socket", 6, 45, "fpu");
	fake_text(fake_path(&root, "/proc/cpuinfo"),
		  "processor : 3\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 45\n"
		  "model name : x\nphysical id : 0\ncore id : 0\n\n"
		  "processor : 5\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 45\n"
		  "model name : x\nphysical id : 0\ncore id : 1\n");
	CHECK_NUMBER(unc_topology_read(fs, &top, NULL), 0);
	module.value[MSR] = 77;
	CHECK_NUMBER(unc_access_prepare(gate, &op, 1, NULL), 0);
	module.offline[3] = true;
	CHECK_NUMBER(unc_access_run(gate, &op, 1), UNC_ERR_IO); /* it knows of no other */
	CHECK_NUMBER(op.errno_value, ENXIO);
	hardware->top = &top;
	CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
	CHECK_NUMBER(op.value, 77);
	module.calls = 0;
	CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
	CHECK_NUMBER(module.calls, 1); /* it stays there */
	close_root();
}

static void test_reasons(void)
{
	struct unc_reg_op op = read_of(msr(MSR, 0));

	open_gate("msr-safe");
	module.error = ENOTTY;
	REFUSED(op, UNC_ERR_UNAVAILABLE, "/dev/cpu/msr_batch is no device of msr-safe");
	module.error = ENOPROTOOPT;
	REFUSED(op, UNC_ERR_UNAVAILABLE,
		"/dev/cpu/msr_batch: msr-safe wants another version of its interface than 2");
	module.error = E2BIG;
	REFUSED(op, UNC_ERR_IO, "/dev/cpu/msr_batch: Argument list too long");
	module.error = 0;
	module.absent[MSR] = true;
	REFUSED(op, UNC_ERR_UNAVAILABLE,
		"msr 0xe00 on cpu 0 cannot be read: the CPU, or the hypervisor of a virtual "
		"machine, does not know it");
	module.denied[MSR] = true;
	REFUSED(op, UNC_ERR_PERMISSION, "msr 0xe00 is not on the allowlist of msr-safe");
	module.offline[0] = true;
	REFUSED(op, UNC_ERR_UNAVAILABLE, "cpu 0 is offline");
	close_root();
}

/* The gate and the fence stand before each method: nothing that they refuse is asked of it. */
static void test_gate_first(void)
{
	struct unc_allowed out = {msr(0x1a0, 0), UINT64_MAX, true};
	struct unc_reg_op op = read_of(msr(MSR, 0));
	size_t n;
	const struct unc_table *const *tables = built_tables(&n);

	while (n && strcmp(unc_tbl_str((*tables), (*tables)->name), "skylake-sp") != 0)
		tables++, n--;
	open_gate("msr-safe,direct");
	hardware->fenced = true;
	CHECK_NUMBER(unc_access_allow(gate, &out, 1, NULL), 0);
	REFUSED(read_of(out.reg), UNC_ERR_DENIED,
		"msr 0x1a0 on cpu 0 is not accessed: no table of this CPU is compiled in");
	CHECK_NUMBER(unc_fence_begin(unc_access_fence(gate), *tables, NULL), 0);
	CHECK_NUMBER(unc_access_serves(gate, 1, &out, 1, &err), UNC_ERR_DENIED);
	CHECK_TEXT(err.text, "msr 0x1a0 on cpu 0 cannot be a register of a monitor, even if a "
			     "table says so");
	REFUSED(read_of(out.reg), UNC_ERR_DENIED,
		"msr 0x1a0 on cpu 0 cannot be a register of a monitor, even if a table says so");
	REFUSED(read_of(msr(0x1a1, 0)), UNC_ERR_DENIED,
		"msr 0x1a1 on cpu 0 is not a register of this machine's monitors");
	op.reg.way = 3; /* pci */
	CHECK_TEXT(unc_access_name(gate, 3), "pci");
	REFUSED(op, UNC_ERR_DENIED, "access method 3 does not reach msr registers");
	op.reg.way = 200;
	REFUSED(op, UNC_ERR_DENIED, "access method 200 does not reach msr registers");
	CHECK_NUMBER(module.calls, 0);
	close_root();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"each of two methods reaches some units", test_each_reaches_some},
		{"their order, and what msr-safe refuses", test_order},
		{"registers of a unit go one way", test_one_way_a_unit},
		{"names and sentences", test_choice},
		{"the simulated machine", test_simulated},
		{"the variable, and raised privileges", test_variable},
		{"lists of operations", test_lists},
		{"a CPU that goes offline", test_offline},
		{"why msr-safe cannot be used", test_reasons},
		{"gate and fence come first", test_gate_first},
		{NULL, NULL},
	};

	return suite_run("access ways", tests);
}
