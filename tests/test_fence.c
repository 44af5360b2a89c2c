/* SPDX-License-Identifier: BSD-3-Clause */
/* The fence: what no table may have touched, whatever the allowlist says. */
#include "access_files.h"
#include "machine/discover.h"
#include "encode/event.h"
#include "access/fence.h"

/* What the allowlist would let pass, for a table from a folder said so. */
static void test_fence_msr(void)
{
	/* Intel's Software Developer's Manual, volume 4: TSC, FEATURE_CONTROL, APIC_BASE, microcode
	 * update, PMC0, PERF_GLOBAL_CTRL, x2APIC, HWP_REQUEST, EFER, STAR, LSTAR, FS_BASE, TSC_AUX
	 */
	static const uint32_t others[] = {
		0x10,  0x3a,  0x1b,       0x79,       0xc1,       0x38f,      0x800,
		0x774, 0x8ff, 0xc0000080, 0xc0000081, 0xc0000082, 0xc0000100, 0xc0000103,
	};
	/* Global control of Nehalem, CBo 0 of Sandy Bridge-EP, of Haswell-EP, CHA 0 of Emerald
	 * Rapids */
	static const uint32_t monitors[] = {0x391, 0xd10, 0xe01, 0x2002};
	char text[160];

	open_root();
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x100000000);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		allow(msr(others[i], 0), UINT64_MAX);
		snprintf(text, sizeof(text),
			 "msr 0x%x on cpu 0 can be no register of a monitor, whatever the tables "
			 "say",
			 others[i]);
		REFUSED(read_of(msr(others[i], 0)), UNC_ERR_DENIED, text);
		REFUSED(write_of(msr(others[i], 0), 1), UNC_ERR_DENIED, text);
	}
	for (size_t i = 0; i < sizeof(monitors) / sizeof(monitors[0]); i++) {
		allow(msr(monitors[i], 0), UINT64_MAX);
		REFUSED(write_of(msr(monitors[i], 0), 1), 0, NULL);
	}
	/* Beyond 32 bits is not the same as within them. */
	allow(msr(0x100002002, 0), 1);
	REFUSED(read_of(msr(0x100002002, 0)), UNC_ERR_DENIED,
		"msr 0x100002002 on cpu 0 can be no register of a monitor, whatever the tables "
		"say");
	close_root();
}

static void test_fence_pci(void)
{
	static const unsigned offsets[] = {0x04, 0x10, 0x3c, 0x9c, 0xfc, 0x228, 0xffc};
	char text[200];

	open_root();
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 4096);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		allow(pci(offsets[i], 32), UINT32_MAX);
		snprintf(text, sizeof(text),
			 "pci 0000:7f:10.0 offset 0x%x of device 8086:3cb0 can be no register of a "
			 "monitor, whatever the tables say",
			 offsets[i]);
		REFUSED(write_of(pci(offsets[i], 32), 1), UNC_ERR_DENIED, text);
	}
	/* Half inside. */
	allow(pci(0x9c, 64), UINT64_MAX);
	REFUSED(read_of(pci(0x9c, 64)), UNC_ERR_DENIED,
		"pci 0000:7f:10.0 offset 0x9c of device 8086:3cb0 can be no register of a monitor, "
		"whatever the tables say");
	/* A network card, and somebody else's device with the number of a monitor. */
	fake_function(&root, 0x7f, 8, 6, 0x1521, 4096);
	allow(match(0x228, 32), UINT32_MAX);
	REFUSED(write_of(match(0x228, 32), 1), UNC_ERR_DENIED,
		"pci 0000:7f:08.6 offset 0x228 of device 8086:1521 can be no register of a "
		"monitor, "
		"whatever the tables say");
	close_root();

	open_root();
	fake_function(&root, 0x7f, 8, 6, 0x3c86, 4096);
	fake_put(&root, 0x7f, 8, 6, 0, 0x3c8610de);
	allow(match(0x228, 32), UINT32_MAX);
	REFUSED(write_of(match(0x228, 32), 1), UNC_ERR_DENIED,
		"pci 0000:7f:08.6 offset 0x228 of device 10de:3c86 can be no register of a "
		"monitor, "
		"whatever the tables say");
	close_root();
}

static void test_fence_memory(void)
{
	open_root();
	fake_size(fake_path(&root, "/dev/mem"), 0x20000);
	CHECK_NUMBER(unc_access_window(gate, 0x1000, 0x1000, NULL), 0);
	for (uint64_t at = 0; at < 0x3000; at += 0xff8)
		allow(mmio(at, 64), 1);
	allow(mmio(0x1000, 64), 1);
	allow(mmio(0x1ffc, 64), 1);
	REFUSED(read_of(mmio(0, 64)), UNC_ERR_DENIED,
		"mmio 0x0 can be no register of a monitor, whatever the tables say");
	REFUSED(write_of(mmio(0xff8, 64), 1), UNC_ERR_DENIED,
		"mmio 0xff8 can be no register of a monitor, whatever the tables say");
	REFUSED(write_of(mmio(0x1000, 64), 1), 0, NULL);
	REFUSED(write_of(mmio(0x1ff0, 64), 1), 0, NULL);
	REFUSED(read_of(mmio(0x1ffc, 64)), UNC_ERR_DENIED,
		"mmio 0x1ffc can be no register of a monitor, whatever the tables say");
	REFUSED(read_of(mmio(0x2fe8, 64)), UNC_ERR_DENIED,
		"mmio 0x2fe8 can be no register of a monitor, whatever the tables say");
	close_root();
}

static const struct unc_table *table_named(const char *name)
{
	size_t n;
	const struct unc_table *const *tables = unc_tables(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(unc_tbl_str(tables[i], tables[i]->name), name) == 0)
			return tables[i];
	CU_FAIL_FATAL("no such table");
	return NULL;
}

/* Windows of a machine with one unit in memory, as discovery found it. */
static void windows(const struct unc_instance *unit)
{
	struct unc_instance copy = *unit;
	struct unc_instances units = {.unit = &copy, .n = 1};
	struct unc_bus *bus;

	CHECK_NUMBER(unc_bus_open_system(fs, &bus, NULL), 0);
	CHECK_NUMBER(unc_fence_windows(table_named("emerald-rapids"), &units, bus, gate, &err), 0);
	bus->methods->close(bus);
}

/*
 * Intel 817509-001, memory controllers: 51:23 of the address in 28:0 of 0xD0, 22:12 in 10:0 of
 * 0xD8 + 4n of device 8086:3251.
 */
static void test_windows(void)
{
	struct unc_instance unit = {.available = true, .status_position = -1};

	unit.part[0] =
		(struct unc_place){.base = 0xfb922800, .space = UNC_SPACE_MMIO, .present = true};
	open_root();
	fake_size(fake_path(&root, "/dev/mem"), 0x100000000);
	fake_function(&root, 0x7e, 0, 1, 0x3251, 256);
	fake_put(&root, 0x7e, 0, 1, 0xd0, 0x1f7);
	fake_put(&root, 0x7e, 0, 1, 0xd8, 0x100);
	allow(mmio(0xfb8ffff8, 64), 1);
	allow(mmio(0xfb900000, 64), 1);
	allow(mmio(0xfb93fff8, 64), 1);
	allow(mmio(0xfb940000, 64), 1);
	windows(&unit);
	REFUSED(write_of(mmio(0xfb8ffff8, 64), 1), UNC_ERR_DENIED,
		"mmio 0xfb8ffff8 can be no register of a monitor, whatever the tables say");
	REFUSED(write_of(mmio(0xfb900000, 64), 1), 0, NULL);
	REFUSED(write_of(mmio(0xfb93fff8, 64), 1), 0, NULL);
	REFUSED(write_of(mmio(0xfb940000, 64), 1), UNC_ERR_DENIED,
		"mmio 0xfb940000 can be no register of a monitor, whatever the tables say");
	close_root();

	/* No address in the register: nothing is behind it, above all not the memory from 0 on. */
	open_root();
	fake_size(fake_path(&root, "/dev/mem"), 0x1000000);
	fake_function(&root, 0x7e, 0, 1, 0x3251, 256);
	fake_put(&root, 0x7e, 0, 1, 0xd8, 0x100);
	allow(mmio(0x100000, 64), 1);
	windows(&unit);
	REFUSED(write_of(mmio(0x100000, 64), 1), UNC_ERR_DENIED,
		"mmio 0x100000 can be no register of a monitor, whatever the tables say");
	close_root();

	/* What the machine's own table lists (a memory device on CXL): its block, no more. */
	unit.status_position = 5;
	unit.part[0].base = 0x800000;
	open_root();
	fake_size(fake_path(&root, "/dev/mem"), 0x1000000);
	fake_function(&root, 0x7e, 0, 1, 0x3250, 256);
	allow(mmio(0x7ffff8, 64), 1);
	allow(mmio(0x800048, 64), 1);
	allow(mmio(0x801000, 64), 1);
	windows(&unit);
	REFUSED(read_of(mmio(0x7ffff8, 64)), UNC_ERR_DENIED,
		"mmio 0x7ffff8 can be no register of a monitor, whatever the tables say");
	REFUSED(read_of(mmio(0x800048, 64)), 0, NULL);
	REFUSED(read_of(mmio(0x801000, 64)), UNC_ERR_DENIED,
		"mmio 0x801000 can be no register of a monitor, whatever the tables say");
	close_root();
}

/* Probes of the kernel are no counters of hardware. */
static void test_fence_perf(void)
{
	struct unc_reg probe = {(uint64_t)PERF_TYPE_TRACEPOINT << 32, 0, UNC_SPACE_PERF, 64, 0};

	open_root();
	allow(probe, UINT64_MAX);
	REFUSED(write_of(probe, 1), UNC_ERR_DENIED,
		"perf 0x0 on cpu 0 can be no register of a monitor, whatever the tables say");
	close_root();
}

/* Registers of a type that the tables place; those outside of the fence in *outside. */
static size_t count_registers(const struct unc_table *t, unsigned type, size_t *outside)
{
	const struct unc_range *regs = &t->type[type].regs;
	struct unc_instance unit;
	struct unc_reg reg;
	size_t n = 0;

	for (unsigned k = 0; k < unc_type_instances(t, type); k++) {
		unc_instance_nominal(t, type, k, &unit);
		for (uint32_t i = regs->first; i < regs->first + regs->n; i++) {
			if (unc_instance_reg(t, &unit, i, &reg, NULL) < 0 ||
			    reg.space != UNC_SPACE_MSR)
				continue;
			n++;
			*outside += !unc_fence_msr(reg.address);
		}
	}
	return n;
}

/* A CPU is data: what its built-in table places is within the fence without a line of C. */
static void test_tables(void)
{
	size_t n, seen = 0, outside = 0;
	const struct unc_table *const *tables = unc_tables(&n);

	for (size_t i = 0; i < n; i++)
		for (unsigned type = 0; type < tables[i]->n_type; type++)
			seen += count_registers(tables[i], type, &outside);
	CU_ASSERT(seen > 1000);
	CHECK_NUMBER(outside, 0);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"msr", test_fence_msr},
		{"pci", test_fence_pci},
		{"memory", test_fence_memory},
		{"windows", test_windows},
		{"events of the kernel", test_fence_perf},
		{"the built-in tables", test_tables},
		{NULL, NULL},
	};

	return suite_run("fence", tests);
}
