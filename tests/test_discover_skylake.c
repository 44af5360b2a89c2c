/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units of Skylake-SP, Cascade Lake-SP and Cooper Lake. Functions, ids, registers and MSRs: Linux
 * uncore_snbep.c; the links of Cooper Lake: PCM; buses, the functions 12.0 and 12.4 and machines with
 * two links or none: boot logs.
 */
#include <stdbool.h>

#include "discover_cpu.h"

enum { MODEL = 0x55, SKYLAKE = 4, CASCADE = 7, COOPER = 11 };

/* Of a socket: UBox, PCU, memory and mesh, links. All but the first have none of their own. */
enum { UBOX = 0x00, PCU = 0x17, MESH = 0x3a, LINKS = 0x5d, NEXT = 0x80 };

static void function(unsigned socket, unsigned bus, unsigned device, unsigned number, unsigned id)
{
	fake_function(&root, socket * NEXT + bus, device, number, id, 4096);
}

static void put(unsigned socket, unsigned bus, unsigned device, unsigned number, unsigned offset,
		uint32_t value)
{
	fake_put(&root, socket * NEXT + bus, device, number, offset, value);
}

/* A socket with slices for these bits of CAPID6, whose upper four tell something else. */
static void socket_of(unsigned socket, uint32_t slices)
{
	static const unsigned char channel[][2] = {{0x0a, 2}, {0x0a, 6}, {0x0b, 2},
						   {0x0c, 2}, {0x0c, 6}, {0x0d, 2}};
	static const unsigned id[] = {0x2042, 0x2046, 0x204a};

	function(socket, UBOX, 8, 0, 0x2014);
	put(socket, UBOX, 8, 0, 0xC0, socket);
	put(socket, UBOX, 8, 0, 0xD4, 010); /* nodes 0, 1 */
	function(socket, PCU, 0x1e, 3, 0x2083);
	put(socket, PCU, 0x1e, 3, 0x9C, 0xf0000000 | slices);
	for (unsigned i = 0; i < 6; i++)
		function(socket, MESH, channel[i][0], channel[i][1], id[i % 3]);
	function(socket, MESH, 8, 0, 0x2066);
	function(socket, MESH, 9, 0, 0x2066);
}

/* The links that exist; what looks like an M3UPI at 12.0 and 12.4 has no counters. */
static void links(unsigned socket, unsigned upi, unsigned m3upi)
{
	static const unsigned char number[] = {1, 2, 5};

	for (unsigned i = 0; i < 3; i++) {
		if (upi >> i & 1)
			function(socket, LINKS, 0x0e + i, 0, 0x2058);
		if (m3upi >> i & 1)
			function(socket, LINKS, 0x12, number[i], i == 1 ? 0x204e : 0x204d);
	}
	function(socket, LINKS, 0x12, 0, 0x204c);
	function(socket, LINKS, 0x12, 4, 0x204c);
}

static void begin(unsigned value, unsigned sockets)
{
	fake_new(&root);
	fake_cpus(MODEL, sockets);
	fake_cpuinfo(MODEL, value, sockets);
}

/* The buses of a socket's units are above that of its UBox. */
static void test_two_sockets(void)
{
	begin(SKYLAKE, 2);
	for (unsigned s = 0; s < 2; s++) {
		socket_of(s, s ? 0x3ffff : 0xfffffff);
		links(s, 7, 7);
	}
	machine_open();
	CHECK_TEXT(unc_platform_cpu(platform)->name, "skylake-sp");
	CHECK_NUMBER(count("cha", 0, true), 28);
	CHECK_NUMBER(count("cha", 1, false), 18);
	CHECK_TEXT(place("cha", 0, 27), "msr 0xfb0 on cpu 0");
	CHECK_TEXT(place("cha", 1, 17), "msr 0xf10 on cpu 1");
	CHECK_TEXT(place("cha", 1, 18), "none");

	CHECK_NUMBER(count("imc", 0, true), 6);
	CHECK_NUMBER(count("imc", 1, true), 6);
	CHECK_TEXT(place("imc", 0, 0), "pci 0000:3a:0a.2");
	CHECK_TEXT(place("imc", 0, 3), "pci 0000:3a:0c.2");
	CHECK_TEXT(place("imc", 1, 5), "pci 0000:ba:0d.2");
	CHECK_TEXT(place("m2m", 0, 1), "pci 0000:3a:09.0");
	CHECK_TEXT(place("m2m", 1, 0), "pci 0000:ba:08.0");
	CHECK_NUMBER(count("upi", 0, true), 3);
	CHECK_TEXT(place("upi", 1, 2), "pci 0000:dd:10.0");
	CHECK_NUMBER(count("m3upi", 0, true), 3);
	CHECK_TEXT(place("m3upi", 0, 0), "pci 0000:5d:12.1");
	CHECK_TEXT(place("m3upi", 1, 1), "pci 0000:dd:12.2");
	CHECK_TEXT(place("m3upi", 1, 2), "pci 0000:dd:12.5");

	CHECK_NUMBER(count("iio", 1, true), 6);
	CHECK_TEXT(place("iio", 0, 5), "msr 0xae0 on cpu 0");
	CHECK_TEXT(place("irp", 1, 1), "msr 0xa78 on cpu 1");
	CHECK_TEXT(place("pcu", 1, 0), "msr 0x710 on cpu 1");
	machine_close();
}

/* Two links, or none for a workstation that has the stops of the mesh for them. */
static void test_fewer_links(void)
{
	begin(CASCADE, 1);
	socket_of(0, 0xff);
	links(0, 3, 3);
	machine_open();
	CHECK_TEXT(unc_platform_cpu(platform)->name, "cascadelake-sp");
	CHECK_NUMBER(count("upi", 0, false), 2);
	CHECK_TEXT(place("upi", 0, 1), "pci 0000:5d:0f.0");
	CHECK_TEXT(place("upi", 0, 2), "none");
	CHECK_NUMBER(count("m3upi", 0, false), 2);
	CHECK_TEXT(place("m3upi", 0, 2), "none");
	machine_close();

	begin(SKYLAKE, 1);
	socket_of(0, 0xff);
	links(0, 0, 7);
	machine_open();
	CHECK_NUMBER(count("upi", 0, false), 0);
	CHECK_NUMBER(count("m3upi", 0, true), 3);
	machine_close();
}

/* Of the two that tell how many slices there are, the lower is right; an MSR of 0 tells nothing. */
static void test_slices(void)
{
	begin(SKYLAKE, 1);
	socket_of(0, 0x3fffff);
	fake_msr(0, 0x702, 0xffc0 | 20);
	machine_open();
	CHECK_NUMBER(count("cha", 0, false), 20);
	unc_platform_close(platform);
	fake_msr(0, 0x702, 0xffc0);
	machine_open();
	CHECK_NUMBER(count("cha", 0, false), 22);
	machine_close();
}

/* Six links, the stops of the mesh for them at other places. */
static void test_cooper_lake(void)
{
	begin(COOPER, 1);
	socket_of(0, 0xfffffff);
	links(0, 7, 7);
	for (unsigned i = 0; i < 3; i++) {
		function(0, LINKS, 0x0e + i, 4, 0x2058);
		function(0, LINKS, 0x12 + i, 1, 0x204d);
		function(0, LINKS, 0x12 + i, 2, 0x204e);
	}
	machine_open();
	CHECK_TEXT(unc_platform_cpu(platform)->name, "cooperlake-sp");
	CHECK_NUMBER(count("upi", 0, true), 6);
	CHECK_TEXT(place("upi", 0, 2), "pci 0000:5d:10.0");
	CHECK_TEXT(place("upi", 0, 3), "pci 0000:5d:0e.4");
	CHECK_NUMBER(count("m3upi", 0, true), 6);
	CHECK_TEXT(place("m3upi", 0, 2), "pci 0000:5d:13.1");
	CHECK_TEXT(place("m3upi", 0, 5), "pci 0000:5d:14.2");
	CHECK_NUMBER(count("imc", 0, true), 6);
	machine_close();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"two sockets, buses above the UBox", test_two_sockets},
		{"two links, and none", test_fewer_links},
		{"slices", test_slices},
		{"Cooper Lake", test_cooper_lake},
		{NULL, NULL},
	};

	return suite_run("discover, Skylake", tests);
}
