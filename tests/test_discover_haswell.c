/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units of Haswell-EP and Broadwell-EP. Functions, ids and CAPID4: Linux uncore_snbep.c; which of them
 * show, and what stands beside them: boot logs (two E5 v3 of 18 cores, E5-2699 v4, E5-2620 v4, an E7 v3).
 */
#include <stdbool.h>
#include <unistd.h>

#include "discover_cpu.h"

/* Ids of Broadwell-EP are those of Haswell-EP and 0x4000. */
enum { HASWELL = 0x3F, BROADWELL = 0x4F, BROADWELL_DE = 0x56, CAPID4 = 0x94 };

static unsigned more; /* on the ids */

static unsigned ubox_bus(unsigned socket)
{
	return socket ? 0xff : 0x7f;
}

static void function(unsigned bus, unsigned device, unsigned number, unsigned id)
{
	fake_function(&root, bus, device, number, id + more, 4096);
}

static void begin(unsigned model, unsigned sockets)
{
	more = model == HASWELL ? 0 : 0x4000;
	fake_new(&root);
	fake_cpus(model, sockets);
}

/* What every socket has; slices, one function each; CAPID4 with bits 7:6. */
static void socket_of(unsigned socket, unsigned slices, uint32_t capid4)
{
	unsigned bus = ubox_bus(socket);

	function(bus, 0x10, 5, 0x2f1e);
	fake_put(&root, bus, 0x10, 5, 0x40, socket);
	fake_put(&root, bus, 0x10, 5, 0x54, 010); /* nodes 0, 1 */
	/* The rest of the UBox, whose registers would say the other socket. */
	function(bus, 0x10, 6, 0x2f7d);
	fake_put(&root, bus, 0x10, 6, 0x40, !socket);
	fake_put(&root, bus, 0x10, 6, 0x54, 010);
	for (unsigned i = 0; i < slices; i++)
		function(bus, 0x0c + i / 8, i % 8, 0x2fe0 + i);
	function(bus, 0x0f, 0, 0x2ff8); /* of the ring, none */
	function(bus, 0x1e, 3, 0x2fc0);
	fake_put(&root, bus, 0x1e, 3, CAPID4, capid4);
	function(bus, 0x12, 1, 0x2f30);
	function(bus, 0x14, 0, 0x2fb0);
	function(bus, 0x14, 1, 0x2fb1);
	function(bus, 0x10, 1, 0x2f34);
	function(socket ? 0x80 : 0, 5, 6, 0x2f39);
}

static void links(unsigned socket)
{
	unsigned bus = ubox_bus(socket);

	for (unsigned i = 0; i < 2; i++) {
		function(bus, 8 + i, 0, i ? 0x2f90 : 0x2f80);
		function(bus, 8 + i, 2, i ? 0x2f33 : 0x2f32);
		function(bus, 8 + i, 6, i ? 0x2f96 : 0x2f86);
		function(bus, 0x0b, 1 + i, 0x2f36 + i);
	}
}

/* A third link; 0b.6 looks like one more stop. */
static void third_link(unsigned socket)
{
	unsigned bus = ubox_bus(socket);

	function(bus, 0x0a, 0, 0x2f40);
	function(bus, 0x0a, 2, 0x2f3a);
	function(bus, 0x0a, 6, 0x2f46);
	function(bus, 0x0b, 5, 0x2f3e);
	function(bus, 0x0b, 6, 0x2f3f);
}

/* Two home agents have two channels each. */
static void two_agents(unsigned socket)
{
	function(ubox_bus(socket), 0x12, 5, 0x2f38);
	function(ubox_bus(socket), 0x17, 0, 0x2fd0);
	function(ubox_bus(socket), 0x17, 1, 0x2fd1);
}

static void check_two_agents(const char *cpu, unsigned slices)
{
	CHECK_TEXT(unc_platform_cpu(platform)->name, cpu);
	for (int s = 0; s < 2; s++) {
		CHECK_NUMBER(count("cbo", s, true), slices);
		CHECK_NUMBER(count("cbo", s, false), slices);
		CHECK_NUMBER(count("sbo", s, true), 4);
		CHECK_NUMBER(count("ha", s, true), 2);
		CHECK_NUMBER(count("imc", s, false), 4);
		CHECK_NUMBER(count("qpi", s, false), 2);
		CHECK_NUMBER(count("r3qpi", s, false), 2);
		CHECK_NUMBER(count("irp", s, true), 1);
	}
	CHECK_TEXT(place("ha", 0, 1), "pci 0000:7f:12.5");
	CHECK_TEXT(place("imc", 0, 1), "pci 0000:7f:14.1");
	CHECK_TEXT(place("imc", 0, 2), "none");
	CHECK_TEXT(place("imc", 1, 4), "pci 0000:ff:17.0");
	CHECK_TEXT(place("imc", 1, 5), "pci 0000:ff:17.1");
	CHECK_TEXT(place("imc", 1, 6), "none");
	CHECK_TEXT(place("qpi", 1, 1), "pci 0000:ff:09.2");
	CHECK_TEXT(place("r2pcie", 1, 0), "pci 0000:ff:10.1");
	CHECK_TEXT(place("r3qpi", 0, 1), "pci 0000:7f:0b.2");
	/* On buses without a UBox: that of the next higher bus. */
	CHECK_TEXT(place("irp", 0, 0), "pci 0000:00:05.6");
	CHECK_TEXT(place("irp", 1, 0), "pci 0000:80:05.6");
	CHECK_TEXT(place("pcu", 1, 0), "msr 0x710 on cpu 1");
	CHECK_TEXT(place("sbo", 1, 3), "msr 0x73e on cpu 1");
}

static void test_haswell(void)
{
	begin(HASWELL, 2);
	for (unsigned s = 0; s < 2; s++) {
		socket_of(s, 18, 0x80);
		links(s);
		two_agents(s);
	}
	machine_open();
	check_two_agents("haswell-ep", 18);
	CHECK_TEXT(place("cbo", 1, 17), "msr 0xf10 on cpu 1");
	machine_close();
}

static void test_broadwell(void)
{
	begin(BROADWELL, 2);
	for (unsigned s = 0; s < 2; s++) {
		socket_of(s, 22, 0xffffff7f);
		links(s);
		two_agents(s);
	}
	machine_open();
	check_two_agents("broadwell-ep", 22);
	CHECK_TEXT(place("cbo", 1, 21), "msr 0xf50 on cpu 1");
	machine_close();
}

/* One home agent has four channels, on the first controller; such a part has few SBos, or none. */
static void one_agent(unsigned model, unsigned sbos)
{
	begin(model, 1);
	socket_of(0, 8, 0xffffff3f);
	function(ubox_bus(0), 0x15, 0, 0x2fb4);
	function(ubox_bus(0), 0x15, 1, 0x2fb5);
	machine_open();
	CHECK_NUMBER(count("cbo", 0, true), 8);
	CHECK_NUMBER(count("ha", 0, false), 1);
	CHECK_NUMBER(count("imc", 0, false), 4);
	CHECK_TEXT(place("imc", 0, 3), "pci 0000:7f:15.1");
	CHECK_TEXT(place("imc", 0, 4), "none");
	CHECK_NUMBER(count("sbo", 0, false), sbos);
	machine_close();
}

static void test_one_agent(void)
{
	one_agent(HASWELL, 2);
	one_agent(BROADWELL, 0);
}

/* A Xeon D of eight cores as lspci lists them (SOURCES.md): functions of R3QPI, no SBo and no link. */
static void test_system_on_chip(void)
{
	begin(BROADWELL_DE, 1);
	socket_of(0, 8, 0xffffff7f);
	function(ubox_bus(0), 0x0b, 1, 0x2f36);
	function(ubox_bus(0), 0x0b, 2, 0x2f37);
	machine_open();
	CHECK_TEXT(unc_platform_cpu(platform)->name, "broadwell-de");
	CHECK_NUMBER(count("cbo", 0, true), 8);
	CHECK_NUMBER(count("ha", 0, false), 1);
	CHECK_NUMBER(count("imc", 0, false), 2);
	CHECK_TEXT(place("imc", 0, 1), "pci 0000:7f:14.1");
	CHECK_TEXT(place("r2pcie", 0, 0), "pci 0000:7f:10.1");
	CHECK_NUMBER(count("ubox", 0, true) + count("pcu", 0, true) + count("irp", 0, true), 3);
	CHECK_NUMBER(unc_platform_cpu(platform)->n_units, 7);
	machine_close();
}

/* Without the function that tells, there are none rather than one too many: 0x734 may fault. */
static void test_no_capid(void)
{
	begin(HASWELL, 1);
	socket_of(0, 12, 0x80);
	remove(fake_config(&root, 0x7f, 0x1e, 3));
	rmdir(fake_path(&root, "/sys/bus/pci/devices/0000:7f:1e.3"));
	machine_open();
	CHECK_NUMBER(count("cbo", 0, true), 12);
	CHECK_NUMBER(count("sbo", 0, true), 0);
	CHECK_TEXT(unit("sbo", 0, 0)->reason,
		   "their number is not known: PCI device 8086:2fc0 is not visible");
	machine_close();
}

/* The match function of the third port is known on Broadwell-EP only. */
static void three_links(unsigned model)
{
	begin(model, 1);
	socket_of(0, 18, 0x40);
	links(0);
	third_link(0);
	two_agents(0);
	machine_open();
	CHECK_NUMBER(count("qpi", 0, true), 3);
	CHECK_TEXT(place("qpi", 0, 2), "pci 0000:7f:0a.2");
	CHECK_TEXT(unit("qpi", 0, 2)->reason,
		   model == BROADWELL ? "" : "part match: its place is not known");
	CHECK_NUMBER(count("r3qpi", 0, true), 3);
	CHECK_TEXT(place("r3qpi", 0, 2), "pci 0000:7f:0b.5");
	machine_close();
}

static void test_three_links(void)
{
	three_links(HASWELL);
	three_links(BROADWELL);
}

static void take_away(unsigned bus, unsigned device, unsigned number)
{
	remove(fake_config(&root, bus, device, number));
	rmdir(fake_path(&root, "/sys/bus/pci/devices/0000:%02x:%02x.%x", bus, device, number));
}

/* What the other socket has, or what comes with what is there, is missing where it does not show. */
static void test_hidden(void)
{
	begin(HASWELL, 2);
	for (unsigned s = 0; s < 2; s++) {
		socket_of(s, 18, 0x80);
		links(s);
		two_agents(s);
	}
	third_link(0);
	take_away(0x7f, 0x17, 1);
	machine_open();
	CHECK_NUMBER(count("imc", 0, true), 3);
	CHECK_NUMBER(count("imc", 0, false), 4);
	CHECK_TEXT(unit("imc", 0, 5)->reason,
		   "cannot tell whether it is hidden or does not exist: ha1 of socket 0 is there");
	CHECK_NUMBER(count("imc", 1, false), 4);
	CHECK_NUMBER(count("qpi", 1, false), 3);
	CHECK_NUMBER(count("r3qpi", 1, true), 2);
	CHECK_TEXT(unit("r3qpi", 1, 2)->reason,
		   "cannot tell whether it is hidden or does not exist: r3qpi2 of socket 0 is "
		   "there");
	/* Fewer by a register is no less than there is: SBos. */
	unc_platform_close(platform);
	fake_put(&root, 0xff, 0x1e, 3, CAPID4, 0);
	machine_open();
	CHECK_NUMBER(count("sbo", 0, false), 4);
	CHECK_NUMBER(count("sbo", 1, false), 2);
	machine_close();

	begin(BROADWELL, 1);
	socket_of(0, 22, 0x80);
	two_agents(0);
	take_away(0x7f, 0x12, 5);
	machine_open();
	CHECK_NUMBER(count("ha", 0, false), 2);
	CHECK_NUMBER(count("ha", 0, true), 1);
	machine_close();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"Haswell-EP, two home agents", test_haswell},
		{"Broadwell-EP, two home agents", test_broadwell},
		{"one home agent", test_one_agent},
		{"a system on a chip", test_system_on_chip},
		{"no CAPID4", test_no_capid},
		{"three links", test_three_links},
		{"hidden units", test_hidden},
		{NULL, NULL},
	};

	return suite_run("discover_haswell", tests);
}
