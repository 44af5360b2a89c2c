/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units of Granite Rapids, whose sockets are several dies. Functions, MSRs: Intel pcm types.h and
 * cpucounters.cpp; numbers of types: Linux uncore_snbep.c (gnr_uncores); tables in memory: Intel
 * 817509-001, section 1.9. How many tables a socket has no source says: here it has two.
 */
#define _XOPEN_SOURCE 700 /* nftw() */
#include <ftw.h>
#include <stdbool.h>
#include <unistd.h>

#include "discover_cpu.h"

enum { MODEL = 0xAD, DIES = 2, STRIDE = 4, RECORDS = 24, TABLE = 0x10000 };

/* First words of records: access 63:62, status 39:32, counters 31:24, width 23:16, controls 15:8,
 * number 7:0; numbers of types. */
#define MSR_UNIT 0x0000000108300204
#define UBOX_UNIT 0x0000000108300202
#define IMC_UNIT 0x4000005c08304004
#define UPI_UNIT 0x8000007408303804
#define B2CMI_UNIT 0x8000007008303004
#define CXLCM_UNIT 0x4000000008304808

enum {
	CHA = 0,
	IIO = 1,
	IRP = 2,
	PCU = 4,
	UBOX = 5,
	IMC = 6,
	UPI = 8,
	CXLCM = 12,
	B2CMI = 16,
	MDF = 20
};

static unsigned next[2][DIES]; /* records that a table has */

static unsigned bus_of(unsigned socket)
{
	return socket ? 0x9e : 0x1e;
}

static uint64_t table_of(unsigned socket, unsigned die)
{
	return 0xfb000000 + (socket * DIES + die) * TABLE;
}

/* A function next to these CPUs, as the kernel says. */
static void function(unsigned bus, unsigned device, unsigned number, unsigned id, const char *cpus)
{
	fake_function(&root, bus, device, number, id, 4096);
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:%02x:%02x.%x/numa_node", bus, device,
			    number),
		  strlen(cpus) > 1 ? "-1" : cpus);
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:%02x:%02x.%x/local_cpulist", bus,
			    device, number),
		  cpus);
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:%02x:%02x.%x/resource", bus, device,
			    number),
		  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
}

static void words(unsigned socket, unsigned die, unsigned record, const uint64_t word[3])
{
	fake_bytes(fake_path(&root, "/dev/mem"), table_of(socket, die) + record * STRIDE * 8ull,
		   word, 3 * sizeof(word[0]));
}

static void record(unsigned socket, unsigned die, uint64_t layout, uint64_t address, unsigned type,
		   unsigned id)
{
	unsigned n = ++next[socket][die];
	uint64_t word[3] = {layout, address,
			    type | (uint64_t)id << 16 | (uint64_t)(die * 40 + n) << 32};

	words(socket, die, n, word);
}

static void pci_record(unsigned socket, uint64_t layout, unsigned device, unsigned number,
		       unsigned offset, unsigned type, unsigned id)
{
	uint64_t address = bus_of(socket) << 20 | device << 15 | number << 12 | offset;

	record(socket, 0, layout, 0x80000000 | address, type, id);
}

/* As a BIOS hides it. */
static void hide(unsigned bus, unsigned device, unsigned number)
{
	char folder[300];

	snprintf(folder, sizeof(folder), "%s",
		 fake_path(&root, "/sys/bus/pci/devices/0000:%02x:%02x.%x", bus, device, number));
	nftw(folder, fake_unlink, 4, FTW_DEPTH | FTW_PHYS);
}

/* The device of a table: an Intel-defined capability 1 that names BAR 0. */
static void device_of(unsigned socket, unsigned die, const char *cpus)
{
	unsigned bus = (socket ? 0x80 : 0) + die;
	uint64_t global[3] = {1 | STRIDE << 8 | RECORDS << 16, 0x3ff8, 2 | 64 << 8};

	function(bus, 0, 1, 0x09a7, cpus);
	fake_put(&root, bus, 0, 1, 0x100, 0x00010023);
	fake_put(&root, bus, 0, 1, 0x104, 0x01008086);
	fake_put(&root, bus, 0, 1, 0x108, 1);
	fake_put(&root, bus, 0, 1, 0x10c, 0);
	fake_put(&root, bus, 0, 1, 0x10, (uint32_t)table_of(socket, die));
	words(socket, die, 0, global);
	next[socket][die] = 0;
}

static void msr_units(unsigned socket, unsigned die, unsigned type, uint64_t base, unsigned first,
		      unsigned n)
{
	for (unsigned i = first; i < first + n; i++)
		record(socket, die, MSR_UNIT, base + 0x10ull * i, type, i);
}

/* Of the first channel: 0x202 or 0x222 << 23, 0x400 << 12, 0x24E800 (PCM types.h). */
static uint64_t memory_of(unsigned socket)
{
	return ((socket ? 0x222ull : 0x202ull) << 23) + (0x400ull << 12) + 0x24E800;
}

/* Numbers with gaps, and no die begins anew. */
static void records_of(unsigned socket)
{
	uint64_t memory = memory_of(socket);

	msr_units(socket, 0, CHA, 0x2000, 0, 3);
	msr_units(socket, 0, CHA, 0x2000, 7, 1);
	msr_units(socket, 1, CHA, 0x2000, 44, 2);
	msr_units(socket, 1, CHA, 0x2000, 125, 1);
	msr_units(socket, 0, IIO, 0x2900, 3, 1);
	msr_units(socket, 0, IRP, 0x2a00, 3, 1);
	msr_units(socket, 1, IIO, 0x2900, 8, 1);
	msr_units(socket, 1, IRP, 0x2a00, 8, 1);
	for (unsigned die = 0; die < DIES; die++) {
		msr_units(socket, die, PCU, 0x2b00, die, 1);
		msr_units(socket, die, MDF, 0x2c00, 40 * die, 1);
		record(socket, die, IMC_UNIT, memory + 0x8000 * die, IMC, 4 * die);
		record(socket, die, IMC_UNIT, memory + 0x8000 * die + 0x4000, IMC, 4 * die + 1);
	}
	record(socket, 0, UBOX_UNIT, 0x3ff0, UBOX, 0);
	for (unsigned i = 0; i < 3; i++)
		pci_record(socket, UPI_UNIT, 0x10 + i, 1, 0x318, UPI, i);
	for (unsigned i = 0; i < 4; i++)
		pci_record(socket, B2CMI_UNIT, 5, 1 + i, 0x438, B2CMI, i);
}

/* cpus: what the kernel calls next to the functions of a socket; NULL: its own. */
static void begin(bool tables, const char *cpus)
{
	fake_new(&root);
	fake_cpus(MODEL, 2);
	fake_size(fake_path(&root, "/dev/mem"), 0x180000000);
	fake_text(fake_path(&root, "/proc/iomem"), "00001000-7fffffff : System RAM\n");
	for (unsigned s = 0; s < 2; s++) {
		const char *near = cpus ? cpus : s ? "1" : "0";

		fake_msr(s, 0x3FED, 7);
		for (unsigned die = 0; tables && die < DIES; die++)
			device_of(s, die, near);
		for (unsigned i = 0; i < 3; i++)
			function(bus_of(s), 0x10 + i, 1, 0x3241, near);
		for (unsigned i = 0; i < 4; i++)
			function(bus_of(s), 5, 1 + i, 0x324a, near);
		function(bus_of(s), 0, 1, 0x3251, near);
		fake_put(&root, bus_of(s), 0, 1, 0xd0, s ? 0x222 : 0x202);
		fake_put(&root, bus_of(s), 0, 1, 0xd4, 0x400);
		if (tables)
			records_of(s);
	}
}

static void test_dies(void)
{
	begin(true, NULL);
	machine_open();
	CHECK_TEXT(unc_platform_cpu(platform)->name, "granite-rapids");
	for (int s = 0; s < 2; s++) {
		CHECK_NUMBER(count("cha", s, true), 7);
		CHECK_NUMBER(count("cha", s, false), 7);
		CHECK_NUMBER(count("iio", s, true), 2);
		CHECK_NUMBER(count("irp", s, true), 2);
		CHECK_NUMBER(count("pcu", s, true), 2);
		CHECK_NUMBER(count("ubox", s, true), 1);
		CHECK_NUMBER(count("imc", s, true), 4);
		CHECK_NUMBER(count("upi", s, true), 3);
		CHECK_NUMBER(count("b2cmi", s, true), 4);
		CHECK_NUMBER(count("mdf", s, true), 2);
		CHECK_NUMBER(count("cxlcm", s, false), 0);
	}
	CHECK_TEXT(place("cha", 0, 7), "msr 0x2070 on cpu 0");
	CHECK_TEXT(place("cha", 1, 125), "msr 0x27d0 on cpu 1");
	CHECK_TEXT(place("cha", 0, 3), "none");
	CHECK_TEXT(place("iio", 1, 8), "msr 0x2980 on cpu 1");
	CHECK_TEXT(place("mdf", 1, 40), "msr 0x2e80 on cpu 1");
	CHECK_TEXT(place("imc", 0, 1), "mmio 0x101652800");
	CHECK_TEXT(place("imc", 1, 5), "mmio 0x11165a800");
	CHECK_TEXT(place("upi", 1, 2), "pci 0000:9e:12.1");
	CHECK_TEXT(place("b2cmi", 0, 3), "pci 0000:1e:05.4");
	machine_close();
}

/* Two dies that number alike: a sum would lack one of the units, so it is listed as one that cannot be
 * used. The same unit in both tables is one. */
static void test_taken(void)
{
	begin(true, NULL);
	record(0, 1, MSR_UNIT, 0x2500, CHA, 0);
	record(0, 1, MSR_UNIT, 0x2010, CHA, 1);
	record(1, 1, IMC_UNIT, memory_of(1) + 0x10000, IMC, 0);
	fake_msr(0, 0x3FED, 8);
	machine_open();
	CHECK_NUMBER(count("cha", 0, true), 7);
	CHECK_NUMBER(count("cha", 0, false), 8);
	CU_ASSERT_PTR_NOT_NULL_FATAL(unit("cha", 0, 126));
	CHECK_TEXT(unit("cha", 0, 126)->reason,
		   "discovery lists it, but it is listed at 0x2500, and cha0 at 0x2000");
	CHECK_NUMBER(count("imc", 1, true), 4);
	CHECK_NUMBER(count("imc", 1, false), 5);
	CHECK_NUMBER(count("imc", 0, false), 4);
	machine_close();
}

/* What the table lists and the BIOS hides is missing; what it does not list is taken by its device id. */
static void test_hidden(void)
{
	static const uint64_t ones[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};

	begin(true, NULL);
	hide(bus_of(0), 0x11, 1);
	hide(bus_of(1), 5, 3);
	words(0, 0, next[0][0], ones);     /* B2CMI 3 */
	words(1, 0, next[1][0] - 5, ones); /* UPI 1 */
	machine_open();
	CHECK_NUMBER(count("upi", 0, true), 2);
	CHECK_NUMBER(count("upi", 0, false), 3);
	CHECK_TEXT(unit("upi", 0, 1)->reason,
		   "discovery lists it, but no 8086:3241 of this socket is at 0000:1e:11.1");
	CHECK_NUMBER(count("b2cmi", 1, true), 3);
	CHECK_TEXT(unit("b2cmi", 1, 2)->reason,
		   "discovery lists it, but no 8086:324a of this socket is at 0000:9e:05.3");
	CHECK_NUMBER(count("b2cmi", 0, true), 4);
	CHECK_NUMBER(count("b2cmi", 0, false), 4);
	CHECK_TEXT(place("b2cmi", 0, 3), "pci 0000:1e:05.4");
	CHECK_NUMBER(count("upi", 1, true), 3);
	CHECK_TEXT(place("upi", 1, 1), "pci 0000:9e:11.1");
	machine_close();
}

/* One of two dies' tables is hidden: what counts slices and channels tells, and nothing that only tables
 * list is known to be whole; what has a device id is. */
static void test_hidden_table(void)
{
	static const char *const lack[] = {"iio", "irp", "pcu", "mdf", "cxlcm", "cxldp"};
	static const char said[] =
		"cannot tell whether it exists: discovery lists 4 cha, by msr 0x3fed "
		"there are 7";

	begin(true, NULL);
	hide(1, 0, 1);
	machine_open();
	CHECK_NUMBER(count("cha", 0, true), 4);
	CHECK_NUMBER(count("cha", 0, false), 7);
	CHECK_TEXT(unit("cha", 0, 8)->reason, said);
	CHECK_NUMBER(count("imc", 0, true), 2);
	CHECK_NUMBER(count("imc", 0, false), 4);
	CHECK_TEXT(unit("imc", 0, 2)->reason,
		   "cannot tell whether it exists: discovery lists 2 imc, by PCI functions "
		   "8086:324a there are 4");
	CHECK_NUMBER(count("b2cmi", 0, false), 4);
	CHECK_NUMBER(count("upi", 0, false), 3);
	CHECK_NUMBER(count("ubox", 0, false), 1);
	for (size_t i = 0; i < sizeof(lack) / sizeof(lack[0]); i++) {
		CHECK_NUMBER(count(lack[i], 0, false) - count(lack[i], 0, true), 1);
		CHECK_NUMBER(count(lack[i], 1, false) - count(lack[i], 1, true), 0);
	}
	CHECK_TEXT(unit("mdf", 0, 1)->reason, said);
	machine_close();
}

/* None of a type that the other socket has: its records read as ones. A socket may have no CXL. */
static void test_none_listed(void)
{
	static const uint64_t ones[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};

	begin(true, NULL);
	record(0, 0, CXLCM_UNIT, 0x1f00000000, CXLCM, 0);
	words(1, 0, 5, ones); /* the IIOs, behind the CHAs of their die */
	words(1, 1, 4, ones);
	machine_open();
	CHECK_NUMBER(count("cha", 1, true), 7);
	CHECK_NUMBER(count("iio", 1, true), 0);
	CHECK_NUMBER(count("iio", 1, false), 2);
	CHECK_TEXT(unit("iio", 1, 3)->reason,
		   "cannot tell whether it is hidden or does not exist: iio3 of socket 0 is there");
	CHECK_NUMBER(count("irp", 1, false), 2);
	CHECK_NUMBER(count("cxlcm", 1, false), 0);
	machine_close();
}

/* Registers that no source gives a place: none of other units, whether these exist here or not. */
static void test_elsewhere(void)
{
	static const struct {
		const char *type;
		uint64_t layout, address;
		unsigned number;
		const char *reason; /* of the next unit; "": it is right */
	} rows[] = {
		{"mdf", MSR_UNIT, 0x2d00, MDF, ""},
		{"mdf", MSR_UNIT, 0x29f0, MDF, "MSR 0x29f0 is of iio"},
		{"mdf", MSR_UNIT, 0x29f3, MDF,
		 "MSR 0x29f3 is no multiple of 16 in the monitors' range"},
		{"mdf", MSR_UNIT, 0x360, MDF,
		 "MSR 0x360 is no multiple of 16 in the monitors' range"},
		{"mdf", MSR_UNIT, 0x2b10, MDF,
		 "its registers would be those of pcu1 of socket 0 at msr 0x2b10 on cpu 0"},
		{"iio", MSR_UNIT, 0x2a00, IIO, "MSR 0x2a00 is no place of iio"},
		{"imc", IMC_UNIT, 0xfee00000, IMC, "memory 0xfee00000 is no place of imc"},
		{"imc", IMC_UNIT, 0x101652880, IMC, "memory 0x101652880 is no place of imc"},
		{"cxlcm", CXLCM_UNIT, 0x1f00000000, CXLCM, ""},
		{"cxlcm", CXLCM_UNIT, 0x1f00000004, CXLCM, "0x1f00000004 is no address of a unit"},
		{"cxlcm", CXLCM_UNIT, 0x10164e820, CXLCM,
		 "its registers would be those of imc0 of socket 0 at mmio 0x10164e800"},
	};
	char reason[200];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct unc_unit *u;

		begin(true, NULL);
		record(0, 1, rows[i].layout, rows[i].address, rows[i].number, 100);
		machine_open();
		u = unit(rows[i].type, 0, 100);
		CU_ASSERT_PTR_NOT_NULL_FATAL(u);
		snprintf(reason, sizeof(reason), "discovery lists it, but %s", rows[i].reason);
		if (*rows[i].reason)
			CHECK_TEXT(u->reason, reason);
		CHECK_NUMBER(*rows[i].reason || u->location[0], 1);
		machine_close();
	}
}

/* Of units that no source places each that has registers of another one is refused: 1 begins in
 * what 0 has, 2 in what 1 has, 3 in what 2 has, 4 behind all of them. MSRs of the other socket are other
 * registers. */
static void test_among_themselves(void)
{
	static const uint64_t at[] = {0x100000000, 0x100000010, 0x100000060, 0x1000000c0,
				      0x100000150};
	static const unsigned with[] = {1, 0, 1, 2};
	char reason[200];

	begin(true, NULL);
	for (unsigned i = 0; i < 5; i++)
		record(0, 1, CXLCM_UNIT, at[i], CXLCM, i);
	record(1, 1, MSR_UNIT, 0x2d00, MDF, 7);
	record(0, 1, MSR_UNIT, 0x2d00, MDF, 7);
	machine_open();
	for (unsigned i = 0; i < 4; i++) {
		snprintf(reason, sizeof(reason),
			 "discovery lists it, but its registers would be those of cxlcm%u of "
			 "socket 0 at mmio 0x%llx",
			 with[i], (unsigned long long)at[with[i]]);
		CHECK_TEXT(unit("cxlcm", 0, (int)i)->reason, reason);
	}
	CHECK_TEXT(unit("cxlcm", 0, 4)->reason, "");
	CHECK_TEXT(unit("mdf", 0, 7)->reason, "");
	CHECK_TEXT(unit("mdf", 1, 7)->reason, "");
	machine_close();
}

/* Registers that say where the channels are, 0 or away: what cannot be checked is not used. */
static void test_no_address(void)
{
	for (int gone = 0; gone < 2; gone++) {
		begin(true, NULL);
		if (gone)
			hide(bus_of(0), 0, 1);
		else
			fake_put(&root, bus_of(0), 0, 1, 0xd0, 0);
		machine_open();
		CHECK_NUMBER(count("imc", 0, true), 0);
		CHECK_NUMBER(count("imc", 0, false), 4);
		CHECK_NUMBER(count("imc", 1, true), 4);
		CHECK_TEXT(
			unit("imc", 0, 0)->reason,
			gone ? "discovery lists it, but memory 0x10164e800 cannot be checked: PCI "
			       "function 00.1 (8086:3251), which holds the address, is not visible"
			     : "discovery lists it, but memory 0x10164e800 cannot be checked: PCI "
			       "function 00.1 (8086:3251) holds no address at 0xd0");
		machine_close();
	}
}

static void test_surplus(void)
{
	begin(true, NULL);
	fake_msr(0, 0x3FED, 0x206); /* bits 8:0 */
	fake_msr(1, 0x3FED, 0);
	machine_open();
	CHECK_NUMBER(count("cha", 0, false), 6);
	CHECK_TEXT(place("cha", 0, 45), "msr 0x22d0 on cpu 0");
	CHECK_TEXT(place("cha", 0, 125), "none");
	CHECK_NUMBER(count("cha", 1, true), 7);
	machine_close();
}

/* Without a table there are the places that are known; where the memory controllers are is not, but
 * there is one for each B2CMI. */
static void test_no_tables(void)
{
	begin(false, NULL);
	machine_open();
	CHECK_NUMBER(count("cha", 1, true), 7);
	CHECK_TEXT(place("cha", 1, 6), "msr 0x2060 on cpu 1");
	CHECK_NUMBER(count("upi", 0, true), 3);
	CHECK_NUMBER(count("b2cmi", 1, true), 4);
	CHECK_NUMBER(count("imc", 0, false), 4);
	CHECK_NUMBER(count("imc", 0, true), 0);
	CHECK_TEXT(unit("imc", 0, 0)->reason,
		   "only the discovery tables, which cannot be used, show whether there is one");
	machine_close();
}

/* NUMA off: nothing tells which bus is of which socket, so nothing behind a bus is used. */
static void test_no_nodes(void)
{
	begin(true, "0-1");
	machine_open();
	for (int s = 0; s < 2; s++) {
		CHECK_NUMBER(count("upi", s, true), 0);
		CHECK_NUMBER(count("b2cmi", s, true), 0);
		CHECK_NUMBER(count("imc", s, true), 0);
		CHECK_NUMBER(count("imc", s, false), 1);
		CU_ASSERT(count("upi", s, false) > 0);
	}
	machine_close();
}

/* There they are in the order of the UBoxes (Linux numbers dies in the order of what it finds). */
static void test_order(void)
{
	begin(true, "0-1");
	for (unsigned s = 0; s < 2; s++)
		function(bus_of(s), 0, 0, 0x3250, "0-1");
	machine_open();
	for (int s = 0; s < 2; s++) {
		CHECK_NUMBER(count("upi", s, true), 3);
		CHECK_NUMBER(count("b2cmi", s, true), 4);
		CHECK_NUMBER(count("imc", s, true), 4);
		CHECK_NUMBER(count("mdf", s, false), 2);
	}
	CHECK_TEXT(place("upi", 0, 0), "pci 0000:1e:10.1");
	CHECK_TEXT(place("imc", 1, 5), "mmio 0x11165a800");
	machine_close();
	/* With one UBox of two, nobody knows whose it is. */
	begin(true, "0-1");
	function(bus_of(1), 0, 0, 0x3250, "0-1");
	machine_open();
	CHECK_NUMBER(count("upi", 0, true) + count("upi", 1, true), 0);
	machine_close();
}

/* One table that cannot be read: none of the socket is believed, and it lacks what the other has. */
static void test_lost_die(void)
{
	begin(true, NULL);
	CHECK_NUMBER(truncate(fake_config(&root, 0x81, 0, 1), 64), 0);
	machine_open();
	CHECK_NUMBER(count("imc", 0, true), 4);
	CHECK_NUMBER(count("imc", 1, true), 0);
	CHECK_NUMBER(count("imc", 1, false), 4);
	CHECK_TEXT(unit("imc", 1, 5)->reason,
		   "cannot tell whether it is hidden or does not exist: imc5 of socket 0 is there");
	CHECK_NUMBER(count("mdf", 1, false), 2);
	CHECK_NUMBER(count("pcu", 1, false), 2);
	CHECK_NUMBER(count("cha", 1, false), 7); /* a register counts them */
	machine_close();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"two dies a socket", test_dies},
		{"dies that number alike", test_taken},
		{"hidden functions", test_hidden},
		{"a hidden table", test_hidden_table},
		{"none of a type", test_none_listed},
		{"registers of others", test_elsewhere},
		{"among themselves", test_among_themselves},
		{"no address", test_no_address},
		{"fewer slices than listed", test_surplus},
		{"no tables", test_no_tables},
		{"no NUMA nodes", test_no_nodes},
		{"UBoxes in order", test_order},
		{"a lost die", test_lost_die},
		{NULL, NULL},
	};

	return suite_run("discover, Granite Rapids", tests);
}
