/* SPDX-License-Identifier: BSD-3-Clause */
/* The fence: what no table and no firmware may have touched, whatever the allowlist says. */
#include "built.h"
#include "access/fence.h"
#include "access_files.h"
#include "encode/event.h"
#include "machine/discover.h"

static const struct unc_table *table_named(const char *name)
{
	size_t n;
	const struct unc_table *const *tables = built_tables(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(unc_tbl_str(tables[i], tables[i]->name), name) == 0)
			return tables[i];
	CU_FAIL_FATAL("no such table");
	return NULL;
}

/* A root of files, for a CPU; NULL: one without a compiled table. */
static void open_cpu(const char *cpu)
{
	open_root();
	hardware->fenced = true;
	if (cpu)
		CHECK_NUMBER(unc_fence_begin(unc_access_fence(gate), table_named(cpu), NULL), 0);
}

#define NO_MONITOR " cannot be a register of a monitor, even if a table says so"

/* What the allowlist would let pass, for a table from a folder said so. */
static void msr_refused(uint32_t number)
{
	char text[160];

	allow(msr(number, 0), UINT64_MAX);
	snprintf(text, sizeof(text), "msr 0x%x on cpu 0" NO_MONITOR, number);
	REFUSED(read_of(msr(number, 0)), UNC_ERR_DENIED, text);
	REFUSED(write_of(msr(number, 0), 1), UNC_ERR_DENIED, text);
}

static void test_fence_msr(void)
{
	/* Intel's Software Developer's Manual, volume 4: TSC, FEATURE_CONTROL, APIC_BASE, microcode
	 * update, PMC0, PERF_GLOBAL_CTRL, x2APIC, HWP_REQUEST, EFER, STAR, LSTAR, FS_BASE, TSC_AUX
	 */
	static const uint32_t others[] = {
		0x10,  0x3a,  0x1b,       0x79,       0xc1,       0x38f,      0x800,
		0x774, 0x8ff, 0xc0000080, 0xc0000081, 0xc0000082, 0xc0000100, 0xc0000103,
	};
	/* A control of the first CBo or CHA, the unit control next to it, and what is no monitor's on this
	 * CPU, though it is on another: Intel 327043-001, table 2-8; 817509-001, table 1-7; Linux
	 * uncore_snbep.c (SKX_MSR). 0xD90 to 0xD99: cache masks and their like on Skylake-SP (SDM, volume
	 * 4, 0xD10 on: IA32_L2_QOS_MASK, 0xD50 on: IA32_L2_QOS_EXT_BW_THRTL). */
	static const struct {
		const char *cpu;
		uint32_t control, others[6];
	} cpus[] = {
		{"sandybridge-ep", 0xd10, {0x391, 0xe01, 0x2002, 0xd0f, 0xd1a, 0xd05}},
		{"skylake-sp", 0xe01, {0xd10, 0xd50, 0xd90, 0xd94, 0xd99, 0x2002}},
		{"emerald-rapids", 0x2002, {0xd10, 0xe01, 0x2006, 0x2007, 0x2400, 0x3ff0}},
	};

	for (size_t k = 0; k < sizeof(cpus) / sizeof(cpus[0]); k++) {
		open_cpu(cpus[k].cpu);
		fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x100000000);
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			msr_refused(others[i]);
		for (size_t i = 0; i < 6; i++)
			msr_refused(cpus[k].others[i]);
		allow(msr(cpus[k].control, 0), UINT64_MAX);
		REFUSED(write_of(msr(cpus[k].control, 0), 1), 0, NULL);
		/* Beyond 32 bits is not the same as within them. */
		allow(msr(0x100000000 + cpus[k].control, 0), 1);
		REFUSED(read_of(msr(0x100000000 + cpus[k].control, 0)), UNC_ERR_DENIED,
			k == 0   ? "msr 0x100000d10 on cpu 0" NO_MONITOR
			: k == 1 ? "msr 0x100000e01 on cpu 0" NO_MONITOR
				 : "msr 0x100002002 on cpu 0" NO_MONITOR);
		close_root();
	}
}

/* The bits of a register are the CPU's own, too. 327043-001, table 2-10: of a CBo's control 15:0, 19:17, 22,
 * 31:24; 817509-001, table 1-4: bits 0, 8 and 9 of a unit's control, which are the table's here. */
static void test_fence_bits(void)
{
	open_cpu("emerald-rapids");
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x100000000);
	allow(msr(0x2000, 0), UINT64_MAX);
	REFUSED(write_of(msr(0x2000, 0), 0x401), UNC_ERR_DENIED,
		"msr 0x2000 on cpu 0: value 0x401 has bits outside of 0x301");
	REFUSED(write_of(msr(0x2000, 0), 0x301), 0, NULL);
	REFUSED(write_of(msr(0x2000, 0), 0x401), UNC_ERR_DENIED,
		"msr 0x2000 on cpu 0: value 0x401 has bits outside of 0x301");
	/* What tells how many CHAs there are is read. */
	allow(msr(0x2ffe, 0), UINT64_MAX);
	REFUSED(read_of(msr(0x2ffe, 0)), 0, NULL);
	REFUSED(write_of(msr(0x2ffe, 0), 1), UNC_ERR_DENIED, "msr 0x2ffe on cpu 0 is read-only");
	close_root();
}

/* A folder has the only table of this CPU: what it names is not touched. */
static void test_no_table(void)
{
	open_cpu(NULL);
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x100000000);
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 4096);
	allow(msr(0xd10, 0), UINT64_MAX);
	allow(pci(0xd8, 32), UINT32_MAX);
	REFUSED(read_of(msr(0xd10, 0)), UNC_ERR_DENIED,
		"msr 0xd10 on cpu 0 is not accessed: no table of this CPU is compiled in");
	REFUSED(write_of(pci(0xd8, 32), 1), UNC_ERR_DENIED,
		"pci 0000:7f:10.0 offset 0xd8 is not accessed: no table of this CPU is compiled "
		"in");
	close_root();
}

static void test_fence_pci(void)
{
	/* Between the counters and the fixed one of a channel, between the controls and that of the
	 * fixed one, behind the unit's control: 327043-001, table 2-59. */
	static const unsigned offsets[] = {0x04, 0x10, 0x3c,  0x9c,  0xc0, 0xc8,
					   0xe8, 0xec, 0x228, 0xffc, 0xdc};
	char text[200];

	open_cpu("sandybridge-ep");
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 4096);
	for (size_t i = 0; i + 1 < sizeof(offsets) / sizeof(offsets[0]); i++) {
		allow(pci(offsets[i], 32), UINT32_MAX);
		snprintf(text, sizeof(text),
			 "pci 0000:7f:10.0 offset 0x%x of device 8086:3cb0" NO_MONITOR, offsets[i]);
		REFUSED(write_of(pci(offsets[i], 32), 1), UNC_ERR_DENIED, text);
	}
	allow(pci(0xdc, 32), UINT32_MAX); /* control 1 */
	REFUSED(write_of(pci(0xdc, 32), 1), 0, NULL);
	/* Half inside, and two registers as one. */
	allow(pci(0x9c, 64), UINT64_MAX);
	REFUSED(read_of(pci(0x9c, 64)), UNC_ERR_DENIED,
		"pci 0000:7f:10.0 offset 0x9c of device 8086:3cb0" NO_MONITOR);
	allow(pci(0xd8, 64), UINT64_MAX);
	REFUSED(read_of(pci(0xd8, 64)), UNC_ERR_DENIED,
		"pci 0000:7f:10.0 offset 0xd8 of device 8086:3cb0" NO_MONITOR);
	/* A network card, and somebody else's device with the number of a monitor. */
	fake_function(&root, 0x7f, 8, 6, 0x1521, 4096);
	allow(match(0x228, 32), UINT32_MAX);
	REFUSED(write_of(match(0x228, 32), 1), UNC_ERR_DENIED,
		"pci 0000:7f:08.6 offset 0x228 of device 8086:1521" NO_MONITOR);
	close_root();

	open_cpu("sandybridge-ep");
	fake_function(&root, 0x7f, 8, 6, 0x3c86, 4096);
	fake_put(&root, 0x7f, 8, 6, 0, 0x3c8610de);
	allow(match(0x228, 32), UINT32_MAX);
	REFUSED(write_of(match(0x228, 32), 1), UNC_ERR_DENIED,
		"pci 0000:7f:08.6 offset 0x228 of device 10de:3c86" NO_MONITOR);
	close_root();
}

/* ---- memory */

/* A unit of a type as discovery finds it, listed or not; its place 0 is at base. */
static struct unc_instance unit_at(const struct unc_table *t, const char *type, bool listed,
				   uint64_t base)
{
	struct unc_instance unit = {.type = unc_find_type(t, type),
				    .available = true,
				    .status_position = listed ? 5 : -1,
				    .reason = ""};

	unit.part[0].base = base;
	unit.part[0].space = t->part[t->type[unit.type].parts.first].space;
	unit.part[0].present = true;
	snprintf(unit.location, sizeof(unit.location), "%s 0x%llx",
		 unc_space_name(unit.part[0].space), (unsigned long long)base);
	return unit;
}

/* Opens the windows of a machine with this unit; why it cannot be used. */
static const char *windows(const struct unc_table *t, struct unc_instance *unit)
{
	static char reason[UNC_REASON_MAX];
	struct unc_instances units = {.unit = unit, .n = 1};
	struct unc_bus *bus;

	CHECK_NUMBER(unc_bus_open_system(fs, &bus, NULL), 0);
	CHECK_NUMBER(unc_fence_windows(t, &units, bus, fs, gate, &err), 0);
	bus->methods->close(bus);
	CU_ASSERT(unit->available == !unit->reason[0]);
	snprintf(reason, sizeof(reason), "%s", unit->reason);
	unc_instance_forget(unit);
	return reason;
}

static void memory_is(uint64_t address, unsigned width, bool open)
{
	char text[160];

	allow(mmio(address, width), 1);
	snprintf(text, sizeof(text), "mmio 0x%llx" NO_MONITOR, (unsigned long long)address);
	REFUSED(write_of(mmio(address, width), 1), open ? 0 : UNC_ERR_DENIED, open ? NULL : text);
}

/* The function that holds the addresses of controllers: base << 23, element 0 in units of 4096. */
static void controllers(unsigned id, uint32_t base, uint32_t element)
{
	fake_size(fake_path(&root, "/dev/mem"), 0x100000000);
	fake_function(&root, 0x7e, 0, 1, id, 256);
	fake_put(&root, 0x7e, 0, 1, 0xd0, base);
	fake_put(&root, 0x7e, 0, 1, 0xd8, element);
}

/*
 * Intel 817509-001, memory controllers: 51:23 of the address in 28:0 of 0xD0, 22:12 in 10:0 of
 * 0xD8 + 4n of device 8086:3251; channel 0 at + 0x22800, its controls from + 0x40 on, 4 bytes apart.
 * Ice Lake: 8086:3451 (Linux uncore_snbep.c). The first controller may be at the very base.
 */
static void test_controllers(void)
{
	static const struct {
		const char *cpu;
		unsigned id;
		uint32_t element;
		uint64_t at;
	} cases[] = {
		{"emerald-rapids", 0x3251, 0x100, 0xfb900000},
		{"emerald-rapids", 0x3251, 0, 0xfb800000},
		{"sapphire-rapids", 0x3251, 0, 0xfb800000},
		{"icelake-sp", 0x3451, 0, 0xfb800000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct unc_table *t = table_named(cases[i].cpu);
		uint64_t at = cases[i].at;
		struct unc_instance unit = unit_at(t, "imc", false, at + 0x22800);

		open_cpu(cases[i].cpu);
		controllers(cases[i].id, 0x1f7, cases[i].element);
		CHECK_TEXT(windows(t, &unit), "");
		memory_is(at + 0x22840, 32, true);
		memory_is(at + 0x22850, 32, false); /* behind control 3 */
		memory_is(at + 0x22840, 64, false); /* two controls */
		memory_is(at, 64, false);
		memory_is(at + 0x3fff8, 64, false);
		memory_is(at + 0x40000, 64, false);
		close_root();
	}

	/* No address in the register: nothing is behind it, above all not the memory from 0 on. */
	struct unc_instance unit = unit_at(table_named("emerald-rapids"), "imc", false, 0x122800);
	open_cpu("emerald-rapids");
	controllers(0x3251, 0, 0x100);
	CHECK_TEXT(windows(table_named("emerald-rapids"), &unit), "");
	memory_is(0x122840, 32, false);
	close_root();
}

/* What lies in System RAM or in a BAR of another device is nobody's monitor, whoever places it there. */
static void test_owners(void)
{
	static const struct {
		const char *type;
		uint64_t base;
		bool listed;
		const char *iomem, *resource; /* of a network card; NULL: no such file */
		const char *reason;           /* "": it is taken; NULL: not by name */
	} cases[] = {
#define CARD "0x00000000fb000000 0x00000000fb0fffff 0x0000000000140204\n"
#define MAP                                                                                        \
	"00001000-0009ffff : System RAM\ne0000000-ffffffff : PCI Bus 0000:00\n  "                  \
	"fb000000-fb0fffff : 0000:00:1f.0\n"
#define ZERO "00000000-00000000 : System RAM\n  00000000-00000000 : 0000:00:1f.0\n"
#define AT_0 "where discovery places it, mmio 0xf0000000, "
		{"cxlcm", 0xf0000000, true, MAP, CARD, ""},
		{"cxlcm", 0xf0000000, true, NULL, CARD,
		 AT_0 "may have another owner: /proc/iomem cannot be read"},
		{"cxlcm", 0xf0000000, true, ZERO, CARD,
		 AT_0 "may have another owner: /proc/iomem shows no addresses (CAP_SYS_ADMIN is "
		      "needed)"},
		{"cxlcm", 0xf0000000, true, MAP, NULL,
		 AT_0 "may have another owner: the BARs of 0000:00:1f.0 cannot be read"},
		{"cxlcm", 0x9ffc0, true, MAP, CARD,
		 "where discovery places it, mmio 0x9ffc0, belongs to System RAM"},
		{"cxlcm", 0xfafffff8, true, MAP "fafff000-fb000fff : Reserved\n", CARD,
		 "where discovery places it, mmio 0xfafffff8, belongs to 0000:00:1f.0"},
		{"cxlcm", 0xf0000000, true, MAP,
		 "0x00000000f0000080 0x00000000f0000fff 0x0000000000140204\n",
		 "where discovery places it, mmio 0xf0000000, belongs to a BAR of 0000:00:1f.0"},
		/* What begins far below may reach it; of two the first is told. */
		{"cxlcm", 0xf0000000, true,
		 "b0000000-f0ffffff : Outer\n  e8000000-e8000fff : Inner\n", CARD,
		 AT_0 "belongs to Outer"},
		{"cxlcm", 0xf0000000, true,
		 "b0000000-f0ffffff : Outer\n  f0000000-f0000fff : Inner\n", CARD,
		 AT_0 "belongs to Outer"},
		{"cxlcm", 0xf0000000, true,
		 "b0000000-efffffff : Outer\n  e8000000-e8000fff : Inner\n", CARD, ""},
		/* I/O ports, and a window that is not assigned */
		{"cxlcm", 0xf0000000, true, MAP,
		 "0x00000000f0000000 0x00000000f0000fff 0x0000000000040101\n"
		 "0x0000000000000000 0x00000000ffffffff 0x0000000000140204\n",
		 ""},
		/* By the CPU's own registers: what is known counts, what is not does not. */
		{"imc", 0xfb922800, false, NULL, NULL, ""},
		{"imc", 0xfb922800, true, ZERO, NULL, ""},
		{"imc", 0xfb922800, false, "fb900000-fbffffff : System RAM\n", CARD, NULL},
		{"imc", 0xfb922800, false, MAP,
		 "0x00000000fb900000 0x00000000fb9fffff 0x0000000000140204\n", NULL},
		/* Their own BARs are no obstacle. */
		{"imc", 0xfb922800, false, MAP "  fb900000-fb93ffff : 0000:7e:00.1\n", CARD, ""},
	};
	const struct unc_table *t = table_named("emerald-rapids");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool cxl = strcmp(cases[i].type, "cxlcm") == 0;
		struct unc_instance unit =
			unit_at(t, cases[i].type, cases[i].listed, cases[i].base);
		uint64_t control = cases[i].base + (cxl ? 0x48 : 0x40);
		bool open = cases[i].reason && !cases[i].reason[0];

		open_cpu("emerald-rapids");
		controllers(0x3251, 0x1f7, 0x100);
		fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:7e:00.1/resource"),
			  "0x00000000fb900000 0x00000000fb93ffff 0x0000000000140204\n");
		fake_function(&root, 0, 0x1f, 0, 0x1521, 256);
		if (cases[i].iomem)
			fake_text(fake_path(&root, "/proc/iomem"), cases[i].iomem);
		if (cases[i].resource)
			fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:00:1f.0/resource"),
				  cases[i].resource);
		CHECK_TEXT(windows(t, &unit), cases[i].reason ? cases[i].reason : "");
		memory_is(control, cxl ? 64 : 32, open);
		memory_is(cases[i].base - 8, 64, false);
		memory_is(cases[i].base + 0x90, 64, false); /* behind the last register of both */
		memory_is(cases[i].base + 0xff8, 64, false);
		close_root();
	}
}

/* The same by the kernel's list of all functions (Linux drivers/pci/proc.c), where it has one: no
 * file of the card is there. */
static void listed_owner(uint64_t base, const char *list, const char *reason)
{
	const struct unc_table *t = table_named("emerald-rapids");
	struct unc_instance unit = unit_at(t, "cxlcm", true, base);

	open_cpu("emerald-rapids");
	fake_function(&root, 0, 0x1f, 0, 0x1521, 256);
	fake_text(fake_path(&root, "/proc/iomem"), MAP);
	fake_text(fake_path(&root, "/proc/bus/pci/devices"), list);
	CHECK_TEXT(windows(t, &unit), reason);
	close_root();
}

static void test_listed_owners(void)
{
#define LINE(start, size)                                                                          \
	"00f8\t80861521\t1a\t" start "\t0\t0\t0\t0\t0\t0\t" size "\t0\t0\t0\t0\t0\t0\tigb\n"
#define UNREAD AT_0 "may have another owner: the BARs of 0000:00:1f.0 cannot be read"
	static const struct {
		const char *list, *reason;
	} cases[] = {
		{LINE("        f0000084", "80"), AT_0 "belongs to a BAR of 0000:00:1f.0"},
		{LINE("        fb000004", "100000"), ""},
		{LINE("        f0000001", "1000"), ""}, /* I/O ports */
		{LINE("        f0000004", "0"), ""},
		{LINE("               4", "100000000"), ""}, /* not assigned */
		/* Of another domain, but of which? Of another place, or not understood. */
		{LINE("fb000004", "1000") LINE("f0000004", "1000"), UNREAD},
		{"00f9\t80861521\t1a\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t\n", UNREAD},
		{LINE("fb000004", "1000") "00f9\t80861521\t1a\t0\n", UNREAD},
		{"", UNREAD},
	};
	/* A BAR above 4 GiB, which no map of memory tells. */
	static const char far[] = LINE("    382ff000000c", "1000");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		listed_owner(0xf0000000, cases[i].list, cases[i].reason);
	listed_owner(0x382ff0001000, far, "");
	listed_owner(
		0x382ff0000000, far,
		"where discovery places it, mmio 0x382ff0000000, belongs to a BAR of 0000:00:1f.0");
}

/* MDF of Sapphire Rapids: only discovery tells where they are, which is no other unit's place. */
static void test_listed_msr(void)
{
	static const struct {
		uint64_t base;
		const char *reason;
	} cases[] = {
		{0x2800, ""},
		{0x2008, "where discovery places it, msr 0x2008, is not among the monitors"},
		{0x1ff0, "where discovery places it, msr 0x1ff0, is not among the monitors"},
		{0x3ff0, "where discovery places it, msr 0x3ff0, is not among the monitors"},
		{0x2010,
		 "where discovery places it, msr 0x2010, belongs to another unit"}, /* CHA 1 */
		{0x3400,
		 "where discovery places it, msr 0x3400, belongs to another unit"}, /* IRP 0 */
		/* global control: Intel 817509-001, of no unit's block */
		{0x2ff0, "where discovery places it, msr 0x2ff0, belongs to another unit"},
	};
	const struct unc_table *t = table_named("sapphire-rapids");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct unc_instance unit = unit_at(t, "mdf", true, cases[i].base);

		open_cpu("sapphire-rapids");
		fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0x10000);
		CHECK_TEXT(windows(t, &unit), cases[i].reason);
		if (cases[i].base >= 0x3ff0) {
			msr_refused((uint32_t)cases[i].base + 2);
		} else if (!cases[i].reason[0]) {
			allow(msr(cases[i].base + 2, 0), 1);
			REFUSED(write_of(msr(cases[i].base + 2, 0), 1), 0, NULL);
			msr_refused((uint32_t)cases[i].base + 6); /* behind its controls */
		}
		close_root();
	}
}

/*
 * B2UPI of Granite Rapids: devices 24 to 29, function 0, control at 0x408 (PCM: BHS_M3UPI_PORT0_REGISTER_DEV_ADDR,
 * M3UPI_PCI_PMON_BOX_CTL_ADDR). No source has their id, so what it is there decides, once discovery lists it.
 */
static void test_listed_function(void)
{
	static const char nowhere[] = ", is not a place of such units";
	static const struct {
		unsigned device, offset, vendor;
		bool listed, open;
	} cases[] = {
		{0x18, 0x408, 0x8086, true, true},  {0x1d, 0x408, 0x8086, true, true},
		{0x17, 0x408, 0x8086, true, false}, {0x18, 0x400, 0x8086, true, false},
		{0x18, 0x408, 0x10de, true, false}, {0x18, 0x408, 0x8086, false, false},
	};
	const struct unc_table *t = table_named("granite-rapids");
	struct unc_reg reg = {0, 0, UNC_SPACE_PCI, 64, 0};
	char text[160];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t function = UNC_PCI(0, 0x7e, UNC_DEVFN(cases[i].device, 0), 0);
		struct unc_instance unit =
			unit_at(t, "b2upi", cases[i].listed, function + cases[i].offset);

		open_cpu("granite-rapids");
		fake_function(&root, 0x7e, cases[i].device, 0, 0x1234, 4096);
		fake_put(&root, 0x7e, cases[i].device, 0, 0, 0x12340000 | cases[i].vendor);
		CU_ASSERT(strstr(windows(t, &unit), nowhere) || !cases[i].listed || cases[i].open);
		/* Control 0, and what is before the unit's. */
		for (unsigned at = 0x430; at >= 0x400; at -= 0x30) {
			bool open = cases[i].open && at == 0x430;

			reg.address = function + at;
			allow(reg, 1);
			snprintf(text, sizeof(text),
				 "pci 0000:7e:%02x.0 offset 0x%x of device %04x:1234" NO_MONITOR,
				 cases[i].device, at, cases[i].vendor);
			REFUSED(write_of(reg, 1), open ? 0 : UNC_ERR_DENIED, open ? NULL : text);
		}
		close_root();
	}
}

/* Probes of the kernel are no counters of hardware, and only CPUs that count by events have any. */
static void test_fence_perf(void)
{
	struct unc_reg probe = {(uint64_t)PERF_TYPE_TRACEPOINT << 32, 0, UNC_SPACE_PERF, 64, 0};
	struct unc_reg raw = {(uint64_t)PERF_TYPE_RAW << 32, 0, UNC_SPACE_PERF, 64, 0};

	open_cpu("nehalem-ep");
	allow(probe, UINT64_MAX);
	REFUSED(write_of(probe, 1), UNC_ERR_DENIED, "perf 0x0 on cpu 0" NO_MONITOR);
	close_root();
	open_cpu("sandybridge-ep");
	allow(raw, UINT64_MAX);
	REFUSED(write_of(raw, 1), UNC_ERR_DENIED, "perf 0x0 on cpu 0" NO_MONITOR);
	close_root();
}

/* Registers of a type that the tables place; those outside of the fence in *outside. */
static size_t count_registers(struct unc_fence *fence, unsigned type, size_t *outside)
{
	const struct unc_table *t = fence->table;
	const struct unc_range *regs = &t->type[type].regs;
	struct unc_instance unit;
	struct unc_reg reg;
	uint64_t mask;
	size_t n = 0;

	for (unsigned k = 0; k < unc_type_instances(t, type); k++) {
		const struct unc_tbl_part *part = &t->part[t->type[type].parts.first];
		uint16_t device = t->where[part->where.first + k].device_id;

		unc_instance_nominal(t, type, k, &unit);
		for (uint32_t i = regs->first; i < regs->first + regs->n; i++) {
			if (t->reg[i].part || unc_instance_reg(t, &unit, i, &reg, NULL) < 0 ||
			    reg.space == UNC_SPACE_MMIO ||
			    (reg.space == UNC_SPACE_PCI && !device)) /* of the discovery table */
				continue;
			n++;
			*outside += !unc_fence_has(fence, &reg, device, &mask) ||
				    mask != t->reg[i].write_mask;
		}
	}
	return n;
}

/* A CPU is data: what its built-in table places is within the fence without a line of C. */
static void test_tables(void)
{
	size_t n, seen = 0, outside = 0;
	const struct unc_table *const *tables = built_tables(&n);

	for (size_t i = 0; i < n; i++) {
		struct unc_fence fence = {.table = NULL};

		CHECK_NUMBER(unc_fence_begin(&fence, tables[i], NULL), 0);
		for (unsigned type = 0; type < tables[i]->n_type; type++)
			seen += count_registers(&fence, type, &outside);
		unc_fence_end(&fence);
	}
	CU_ASSERT(seen > 1000);
	CHECK_NUMBER(outside, 0);
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"msr", test_fence_msr},
		{"bits", test_fence_bits},
		{"a CPU without a table", test_no_table},
		{"pci", test_fence_pci},
		{"controllers", test_controllers},
		{"other owners", test_owners},
		{"other owners, as listed", test_listed_owners},
		{"MSRs by discovery", test_listed_msr},
		{"functions by discovery", test_listed_function},
		{"events of the kernel", test_fence_perf},
		{"the built-in tables", test_tables},
		{NULL, NULL},
	};

	return suite_run("fence", tests);
}
