/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units of Ice Lake-SP and Ice Lake-D. Functions, ids, registers and MSRs: Linux uncore_snbep.c and
 * i10nm_base.c; buses 7e, fe and 7f, ff, links 02.1 and 04.1: boot logs of machines with two links.
 */
#include <stdbool.h>

#include "discover_cpu.h"

enum { SP = 0x6A, D = 0x6C, BASE = 0x1C0 /* << 23 */ };

static unsigned ubox_bus(unsigned socket)
{
	return socket ? 0xfe : 0x7e;
}

static void function(unsigned bus, unsigned device, unsigned number, unsigned id)
{
	fake_function(&root, bus, device, number, id, 4096);
}

/* Memory controllers of a socket: where they are, and an M2M for each that exists. */
static void controllers(unsigned socket, unsigned exist)
{
	unsigned bus = ubox_bus(socket);

	function(bus, 0, 1, 0x3451);
	fake_put(&root, bus, 0, 1, 0xD0, BASE);
	for (unsigned i = 0; i < 4; i++) {
		fake_put(&root, bus, 0, 1, 0xD8 + 4 * i, 0x80 + 0x100 * socket + 0x40 * i);
		if (exist >> i & 1)
			function(bus, 0x0c + i, 0, 0x344a);
	}
}

/* A socket with slices for the bits of these two registers. */
static void socket_of(unsigned socket, uint32_t capid6, uint32_t capid7, unsigned mcs)
{
	unsigned bus = ubox_bus(socket);

	function(bus, 0, 0, 0x3450);
	fake_put(&root, bus, 0, 0, 0xC0, socket);
	fake_put(&root, bus, 0, 0, 0xD4, 010); /* nodes 0, 1 */
	function(bus + 1, 0x1e, 3, 0x345b);
	fake_put(&root, bus + 1, 0x1e, 3, 0x9C, capid6);
	fake_put(&root, bus + 1, 0x1e, 3, 0xA0, capid7);
	controllers(socket, mcs);
}

static void links(unsigned socket, unsigned exist)
{
	for (unsigned i = 0; i < 3; i++) {
		if (exist >> i & 1)
			function(ubox_bus(socket), 2 + i, 1, 0x3441);
		function(ubox_bus(socket), 5 + i, 1, 0x3446);
	}
}

static void begin(unsigned model, unsigned sockets)
{
	fake_new(&root);
	fake_cpus(model, sockets);
	fake_size(fake_path(&root, "/dev/mem"), (uint64_t)BASE << 24);
}

/* Two sockets with two links; the second has fewer slices. */
static void test_sp(void)
{
	begin(SP, 2);
	for (unsigned s = 0; s < 2; s++) {
		socket_of(s, 0xffffffff, s ? 0x0f : 0xff, 0xf);
		fake_msr(s, 0x702, s ? 36 : 40);
		links(s, 5);
	}
	machine_open();
	CHECK_TEXT(unc_platform_cpu(platform)->name, "icelake-sp");
	CHECK_NUMBER(count("cha", 0, true), 40);
	CHECK_NUMBER(count("cha", 1, false), 36);
	CHECK_TEXT(place("cha", 0, 17), "msr 0xeee on cpu 0");
	CHECK_TEXT(place("cha", 0, 18), "msr 0xf0a on cpu 0");
	CHECK_TEXT(place("cha", 0, 39), "msr 0xba6 on cpu 0");
	CHECK_TEXT(place("cha", 1, 35), "msr 0xb6e on cpu 1");
	CHECK_TEXT(place("cha", 1, 36), "none");

	/* Each link has its number, whichever others there are. */
	CHECK_NUMBER(count("upi", 0, false), 2);
	CHECK_TEXT(place("upi", 0, 0), "pci 0000:7e:02.1");
	CHECK_TEXT(place("upi", 0, 1), "none");
	CHECK_TEXT(place("upi", 1, 2), "pci 0000:fe:04.1");
	CHECK_NUMBER(count("m3upi", 1, true), 3);
	CHECK_TEXT(place("m3upi", 1, 1), "pci 0000:fe:06.1");

	CHECK_NUMBER(count("imc", 0, true), 8);
	CHECK_TEXT(place("imc", 0, 0), "mmio 0xe00a2800");
	CHECK_TEXT(place("imc", 0, 1), "mmio 0xe00a6800");
	CHECK_TEXT(place("imc", 0, 2), "mmio 0xe00e2800");
	CHECK_TEXT(place("imc", 1, 7), "mmio 0xe0266800");
	CHECK_TEXT(place("mc", 1, 3), "mmio 0xe0240000");
	CHECK_TEXT(place("m2m", 0, 3), "pci 0000:7e:0f.0");
	CHECK_TEXT(place("iio", 1, 3), "msr 0xae0 on cpu 1");
	CHECK_TEXT(place("irp", 0, 5), "msr 0xb1a on cpu 0");
	CHECK_TEXT(place("m2pcie", 0, 2), "msr 0xa80 on cpu 0");
	CHECK_TEXT(place("pcu", 1, 0), "msr 0x710 on cpu 1");
	machine_close();
}

/* Two of four memory controllers, though all have an address. */
static void test_half_the_memory(void)
{
	begin(SP, 1);
	socket_of(0, 0xff, 0, 0x5);
	fake_msr(0, 0x702, 8);
	machine_open();
	CHECK_NUMBER(count("cha", 0, true), 8);
	CHECK_NUMBER(count("m2m", 0, true), 2);
	CHECK_NUMBER(count("imc", 0, true), 4);
	CHECK_NUMBER(count("imc", 0, false), 4);
	CHECK_TEXT(place("imc", 0, 1), "mmio 0xe00a6800");
	CHECK_TEXT(place("imc", 0, 2), "none");
	CHECK_TEXT(place("imc", 0, 5), "mmio 0xe0126800");
	CHECK_NUMBER(count("mc", 0, true), 2);
	CHECK_TEXT(place("mc", 0, 2), "mmio 0xe0100000");
	CHECK_NUMBER(count("upi", 0, false), 0);
	machine_close();
}

/* An M2M that is hidden: the first controller exists all the same, another one where the other socket
 * has it. */
static void test_hidden_m2m(void)
{
	begin(SP, 2);
	for (unsigned s = 0; s < 2; s++) {
		socket_of(s, 0xff, 0, s ? 0xd : 0xe);
		fake_msr(s, 0x702, 8);
	}
	machine_open();
	CHECK_NUMBER(count("m2m", 0, true), 3);
	CHECK_NUMBER(count("m2m", 0, false), 4);
	CHECK_NUMBER(count("imc", 0, true), 8);
	CHECK_NUMBER(count("mc", 0, true), 4);
	CHECK_NUMBER(count("m2m", 1, false), 4);
	CHECK_NUMBER(count("imc", 1, true), 6);
	CHECK_NUMBER(count("imc", 1, false), 8);
	CHECK_NUMBER(count("mc", 1, false), 4);
	CHECK_TEXT(unit("imc", 1, 3)->reason,
		   "cannot tell whether it is hidden or does not exist: imc3 of socket 0 is there");
	machine_close();
	/* Where none shows, that of the first controller neither, the BIOS hides them. */
	begin(SP, 1);
	socket_of(0, 0xff, 0, 0);
	fake_msr(0, 0x702, 8);
	machine_open();
	CHECK_NUMBER(count("m2m", 0, true), 0);
	CHECK_NUMBER(count("imc", 0, true), 8);
	CHECK_NUMBER(count("mc", 0, true), 4);
	machine_close();
}

/* Of the two that tell how many slices there are, the lower is right; one that cannot be read tells
 * nothing. */
static void test_slices(void)
{
	begin(SP, 1);
	socket_of(0, 0xffff, 0, 0xf);
	fake_msr(0, 0x702, 14);
	machine_open();
	CHECK_NUMBER(count("cha", 0, false), 14);
	unc_platform_close(platform);
	fake_msr(0, 0x702, 0);
	machine_open();
	CHECK_NUMBER(count("cha", 0, false), 16);
	machine_close();
}

/* Three channels a controller, no links. */
static void test_d(void)
{
	begin(D, 1);
	socket_of(0, 0xfffff, 0, 0x3);
	fake_msr(0, 0x702, 20);
	machine_open();
	CHECK_TEXT(unc_platform_cpu(platform)->name, "icelake-d");
	CHECK_NUMBER(count("cha", 0, true), 20);
	CHECK_NUMBER(count("imc", 0, true), 6);
	CHECK_NUMBER(count("imc", 0, false), 6);
	CHECK_TEXT(place("imc", 0, 2), "mmio 0xe00aa800");
	CHECK_TEXT(place("imc", 0, 3), "mmio 0xe00e2800");
	CHECK_TEXT(place("imc", 0, 5), "mmio 0xe00ea800");
	CHECK_NUMBER(count("mc", 0, false), 2);
	CHECK_NUMBER(count("m2m", 0, false), 2);
	CHECK_NUMBER(count("upi", 0, false), 0);
	CHECK_NUMBER(count("m3upi", 0, false), 0);
	machine_close();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"two sockets", test_sp},
		{"two of four memory controllers", test_half_the_memory},
		{"a hidden M2M", test_hidden_m2m},
		{"slices", test_slices},
		{"Ice Lake-D", test_d},
		{NULL, NULL},
	};

	return suite_run("discover, Ice Lake", tests);
}
