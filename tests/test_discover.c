/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units by the places of the tables. Device ids, functions, offsets and MSRs: Intel 327043-001
 * (E5-2600), PCI ids; UBox registers: Linux uncore_snbep.c.
 */
#include <dirent.h>
#include <errno.h>

#include "discover_machine.h"

static void qpi_port(unsigned on_bus, unsigned port)
{
	fake_function(&root, on_bus, 8 + port, 2, 0x3c41 + port, 256);
	fake_function(&root, on_bus, 8 + port, 6, port ? 0x3c96 : 0x3c86, 4096);
}

/* Two sockets of E5-2600: node 0 is socket 1, as some BIOSes have it. */
static void fixed_machine(void)
{
	static const unsigned imc_id[] = {0x3cb0, 0x3cb1, 0x3cb4, 0x3cb5};
	static const unsigned imc_function[] = {0, 1, 4, 5};

	for (int s = 0; s < SOCKETS; s++) {
		unsigned on_bus = s ? 0xff : 0x7f;

		fake_function(&root, on_bus, 0x0b, 0, 0x3ce0, 256);
		fake_put(&root, on_bus, 0x0b, 0, 0x40, s ? 0xf8 : 0xf9);
		fake_put(&root, on_bus, 0x0b, 0, 0x54, 1); /* groups 1, 0, 0 .. */
		for (int i = 0; i < 4; i++)
			fake_function(&root, on_bus, 0x10, imc_function[i], imc_id[i], 256);
		qpi_port(on_bus, 0);
		qpi_port(on_bus, 1);
	}
}

static void test_fixed(void)
{
	struct unc_reg reg;

	begin("fixed");
	fixed_machine();
	discover();
	CHECK_TEXT(notes, "");
	CHECK_NUMBER(found.n, 2 * (8 + 4 + 2));
	CHECK_NUMBER(count("cbo", true), 16);
	CHECK_TEXT(unit("cbo", 0, 5)->location, "msr 0xda0 on cpu 0");
	CHECK_TEXT(unit("cbo", 1, 0)->location, "msr 0xd00 on cpu 32");
	CHECK_TEXT(unit("imc", 0, 2)->location, "pci 0000:7f:10.4");
	CHECK_TEXT(unit("imc", 1, 2)->location, "pci 0000:ff:10.4");
	CHECK_NUMBER(count("imc", true), 8);
	CHECK_NUMBER(count("qpi", true), 4);

	reg = reg_of(unit("cbo", 1, 1), "CTR3");
	CHECK_NUMBER(reg.address, 0xd39);
	CHECK_NUMBER(reg.target, 32);
	CHECK_NUMBER(reg.space, UNC_SPACE_MSR);
	CHECK_NUMBER(reg.width, 64);
	CHECK_NUMBER(reg_of(unit("cbo", 1, 1), "CORE_C3").address, 0x3fc);
	reg = reg_of(unit("imc", 0, 1), "CTL2");
	CHECK_NUMBER(reg.address, UNC_PCI(0, 0x7f, UNC_DEVFN(0x10, 1), 0xe0));
	CHECK_NUMBER(reg.width, 32);
	CHECK_NUMBER(reg_of(unit("qpi", 1, 1), "PKT_MATCH0").address,
		     UNC_PCI(0, 0xff, UNC_DEVFN(9, 6), 0x228));
	/* Sorted by type, socket and index. */
	for (size_t i = 1; i < found.n; i++) {
		const struct unc_instance *a = &found.unit[i - 1], *b = &found.unit[i];

		CU_ASSERT(a->type < b->type || (a->type == b->type &&
						(a->socket < b->socket ||
						 (a->socket == b->socket && a->index < b->index))));
	}
	forget();
	end();
}

/* What the BIOS hides is listed, with the function that is missing. */
static void test_hidden(void)
{
	begin("fixed");
	fixed_machine();
	hide(0x7f, 0x10, 1);
	fake_put(&root, 0x7f, 0x10, 4, 0, 0xffffffff);
	hide(0xff, 8, 6);
	fake_size(fake_config(&root, 0xff, 9, 6), 256);
	discover();
	CHECK_NUMBER(count("imc", false), 8);
	CHECK_NUMBER(count("imc", true), 6);
	CU_ASSERT(!unit("imc", 0, 1)->available);
	CHECK_TEXT(unit("imc", 0, 1)->reason,
		   "PCI function 10.1 (8086:3cb1) is not visible: hidden by the BIOS, or this "
		   "machine has none");
	CHECK_TEXT(unit("imc", 0, 1)->location, "");
	CHECK_TEXT(unit("imc", 0, 2)->reason,
		   "PCI function 10.4 (8086:3cb4) is not visible: hidden by the BIOS, or this "
		   "machine has none");
	/* The counters work without the match registers; these do not. */
	CU_ASSERT(unit("qpi", 1, 0)->available);
	CHECK_TEXT(unit("qpi", 1, 0)->reason,
		   "part match: PCI function 08.6 (8086:3c86) is not visible: hidden by the BIOS, "
		   "or this machine has none");
	reg_of(unit("qpi", 1, 0), "PKT_MATCH0");
	CHECK_NUMBER(err.code, UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text,
		   "qpi0: register PKT_MATCH0: part match: PCI function 08.6 (8086:3c86) is not "
		   "visible: hidden by the BIOS, or this machine has none");
	CU_ASSERT(unit("qpi", 1, 1)->available);
	CHECK_TEXT(unit("qpi", 1, 1)->reason,
		   "part match: PCI function 09.6 (8086:3c96): registers beyond 0xff are not "
		   "reachable");
	reg_of(unit("imc", 0, 1), "CTL0");
	CHECK_NUMBER(err.code, UNC_ERR_UNAVAILABLE);
	forget();
	end();
}

/* A bus without a UBox belongs to the next higher bus that has one, else to the last. */
static void test_bus_map(void)
{
	begin("fixed");
	fake_function(&root, 0x3f, 0x0b, 0, 0x3ce0, 256);
	fake_put(&root, 0x3f, 0x0b, 0, 0x40, 0);
	fake_put(&root, 0x3f, 0x0b, 0, 0x54, 010);
	fake_function(&root, 0x7f, 0x0b, 0, 0x3ce0, 256);
	fake_put(&root, 0x7f, 0x0b, 0, 0x40, 1);
	fake_put(&root, 0x7f, 0x0b, 0, 0x54, 010);
	fake_function(&root, 0x3e, 0x10, 0, 0x3cb0, 256);
	fake_function(&root, 0x40, 0x10, 0, 0x3cb0, 256);
	fake_function(&root, 0x80, 0x10, 1, 0x3cb1, 256);
	discover();
	CHECK_TEXT(unit("imc", 0, 0)->location, "pci 0000:3e:10.0");
	CHECK_TEXT(unit("imc", 1, 0)->location, "pci 0000:40:10.0");
	CHECK_TEXT(unit("imc", 1, 1)->location, "pci 0000:80:10.1");
	CU_ASSERT(!unit("imc", 0, 1)->available);
	forget();
	end();
}

/* Skylake-SP: the next lower bus, else the first (Linux uncore_snbep.c, skx_uncore_pci_init: ids,
 * registers, direction). */
static void lower_ubox(unsigned on_bus, unsigned node)
{
	fake_function(&root, on_bus, 8, 0, 0x2014, 256);
	fake_put(&root, on_bus, 8, 0, 0xc0, node);
	fake_put(&root, on_bus, 8, 0, 0xd4, 010);
}

static void test_bus_map_lower(void)
{
	begin("lower");
	lower_ubox(0x10, 0);
	lower_ubox(0x80, 1);
	fake_function(&root, 0x3a, 0x0a, 2, 0x2042, 256);
	fake_function(&root, 0x7f, 0x0a, 6, 0x2046, 256);
	fake_function(&root, 0x08, 0x0b, 2, 0x204a, 256);
	fake_function(&root, 0x80, 0x0a, 2, 0x2042, 256);
	fake_function(&root, 0xff, 0x0a, 6, 0x2046, 256);
	discover();
	CHECK_TEXT(notes, "");
	CHECK_TEXT(unit("imc", 0, 0)->location, "pci 0000:3a:0a.2");
	CHECK_TEXT(unit("imc", 0, 1)->location, "pci 0000:7f:0a.6");
	CHECK_TEXT(unit("imc", 0, 2)->location, "pci 0000:08:0b.2");
	CHECK_TEXT(unit("imc", 1, 0)->location, "pci 0000:80:0a.2");
	CHECK_TEXT(unit("imc", 1, 1)->location, "pci 0000:ff:0a.6");
	CU_ASSERT(!unit("imc", 1, 2)->available);
	forget();
	end();
}

#define CUT                                                                                        \
	"pci 0000:7f:0b.0 offset 0x40: configuration space ends at 64 bytes: CAP_SYS_ADMIN is "    \
	"needed for more"

/* Without readable UBox registers the kernel is asked for the CPUs next to the function. */
static void test_local_cpus(void)
{
	begin("fixed");
	fake_text(fake_path(&root, "/sys/devices/system/cpu/online"), "0-63\n");
	/* 64 bytes: what the kernel shows to others than root. */
	fake_function(&root, 0x7f, 0x0b, 0, 0x3ce0, 64);
	fake_function(&root, 0x7f, 0x10, 0, 0x3cb0, 64);
	locality(0x7f, 0x0b, 0, "2\n", "48-63\n");
	locality(0x7f, 0x10, 0, "2\n", "48-63\n");
	discover();
	CHECK_TEXT(notes, "bus 0000:7f: " CUT "; socket taken from the kernel: local CPUs\n");
	CHECK_TEXT(unit("imc", 1, 0)->location, "pci 0000:7f:10.0");
	forget();

	/* A kernel that does not know says "all": that is no answer. */
	locality(0x7f, 0x0b, 0, "-1\n", "0-63\n");
	locality(0x7f, 0x10, 0, "-1\n", "0-63\n");
	discover();
	CHECK_TEXT(notes, "bus 0000:7f: " CUT "; socket taken from the kernel: unknown\n");
	for (int s = 0; s < SOCKETS; s++) {
		CU_ASSERT(!unit("imc", s, 0)->available);
		CHECK_TEXT(unit("imc", s, 0)->reason,
			   "PCI function 0000:7f:10.0: the socket of its bus is not known: " CUT);
	}
	forget();

	/* The list of the node stands in for a missing local_cpulist. */
	remove(fake_path(&root, "/sys/bus/pci/devices/0000:7f:0b.0/local_cpulist"));
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:7f:0b.0/numa_node"), "3\n");
	fake_text(fake_path(&root, "/sys/devices/system/node/node3/cpulist"), "40-47\n");
	discover();
	CHECK_TEXT(unit("imc", 1, 0)->location, "pci 0000:7f:10.0");
	forget();

	/* With one socket there is no question. */
	topo.n_sockets = 1;
	remove(fake_path(&root, "/sys/bus/pci/devices/0000:7f:0b.0/numa_node"));
	discover();
	CHECK_TEXT(unit("imc", 0, 0)->location, "pci 0000:7f:10.0");
	forget();
	end();
}

/* Without nodes and the right to read a UBox: if all sockets have the same functions they may be in
 * any order, which is enough for the kernel's PMUs. */
static void test_no_nodes(void)
{
	begin("fixed");
	for (unsigned s = 0; s < SOCKETS; s++)
		for (unsigned i = 0; i < 2; i++) {
			unsigned on_bus = s ? 0xff : 0x7f, device = i ? 0x10 : 0x0b;

			fake_function(&root, on_bus, device, 0, i ? 0x3cb0 : 0x3ce0, 64);
			locality(on_bus, device, 0, "-1\n", "0-63\n");
		}
	discover();
	for (int s = 0; s < SOCKETS; s++) {
		CU_ASSERT(unit("imc", s, 0)->part[0].exists);
		CU_ASSERT(!unit("imc", s, 1)->part[0].exists);
	}
	forget();
	fake_function(&root, 0xff, 0x10, 1, 0x3cb1, 64);
	locality(0xff, 0x10, 1, "-1\n", "0-63\n");
	discover();
	for (int s = 0; s < SOCKETS; s++)
		CU_ASSERT(!unit("imc", s, 0)->part[0].exists);
	forget();
	end();
}

/* Three bits cannot tell more than eight nodes apart. */
static void test_many_nodes(void)
{
	begin("fixed");
	fixed_machine();
	for (int s = 0; s < SOCKETS; s++) {
		locality(s ? 0xff : 0x7f, 0x0b, 0, s ? "8\n" : "0\n", s ? "32-39\n" : "0-7\n");
		locality(s ? 0xff : 0x7f, 0x10, 0, s ? "8\n" : "0\n", s ? "32-39\n" : "0-7\n");
	}
	/* The registers would say the opposite. */
	fake_put(&root, 0x7f, 0x0b, 0, 0x40, 0);
	fake_put(&root, 0xff, 0x0b, 0, 0x40, 1);
	discover();
	CHECK_TEXT(unit("imc", 0, 0)->location, "pci 0000:7f:10.0");
	CHECK_TEXT(unit("imc", 1, 0)->location, "pci 0000:ff:10.0");
	forget();
	end();
}

/* Some functions of a type are there, and what tells how many there are is not: they are not guessed. */
static void test_uncounted(void)
{
	for (unsigned gone = 0; gone < 2; gone++) {
		begin("uncounted");
		fixed_machine();
		hide(0x7f, 0x10, gone);
		hide(0xff, 0x10, 0);
		hide(0xff, 0x10, 1);
		discover();
		CHECK_NUMBER(count("imc", false), 1);
		CHECK_TEXT(unit("imc", 0, 0)->reason,
			   "their number is not known: PCI device 8086:325b is not visible");
		forget();
		end();
	}
}

/* The folder of PCI functions ends in an error: what was read of it is not the machine's. */
static unsigned entries_left; /* 0: all */

struct dirent *readdir(DIR *dir)
{
	if (entries_left && --entries_left == 0) {
		errno = EIO;
		return NULL;
	}
	return REAL(readdir)(dir);
}

static void test_not_listed(void)
{
	begin("fixed");
	fixed_machine();
	CHECK_NUMBER(unc_bus_open_system(fs, &bus, &err), 0);
	for (int times = 0; times < 2; times++) {
		entries_left = 9;
		CHECK_NUMBER(bus->methods->scan(bus, &err), UNC_ERR_IO);
		CHECK_TEXT(err.text, "/sys/bus/pci/devices cannot be listed: Input/output error");
		CHECK_NUMBER(bus->n_functions, 0);
	}
	entries_left = 0;
	CHECK_NUMBER(bus->methods->scan(bus, &err), 0);
	CHECK_NUMBER(bus->n_functions, 2 * (1 + 4 + 4));
	bus->methods->close(bus);
	end();
}

static void test_nothing_there(void)
{
	begin("fixed");
	discover();
	CHECK_TEXT(notes, "no PCI functions: /sys/bus/pci/devices cannot be opened: no PCI bus is "
			  "visible here\n");
	CHECK_NUMBER(count("cbo", true), 16);
	CHECK_NUMBER(count("imc", false), 8);
	CHECK_NUMBER(count("imc", true), 0);
	CHECK_TEXT(unit("imc", 1, 3)->reason,
		   "/sys/bus/pci/devices cannot be opened: no PCI bus is "
		   "visible here");
	forget();

	topo.hypervisor = true;
	discover();
	CHECK_NUMBER(count("cbo", false), 16);
	CHECK_NUMBER(count("cbo", true), 0);
	CHECK_TEXT(unit("cbo", 0, 0)->reason,
		   "virtual machine: the hypervisor does not pass the uncore monitors on");
	CHECK_TEXT(unit("cbo", 0, 0)->location, "msr 0xd00 on cpu 0");
	forget();

	/* An entry that is no PCI function costs itself only. */
	mkdir(fake_path(&root, "/sys/bus/pci/devices/nonsense"), 0755);
	mkdir(fake_path(&root, "/sys/bus/pci/devices/80000000:7f:0b.0"), 0755);
	fixed_machine();
	discover();
	CHECK_TEXT(notes, "/sys/bus/pci/devices: 'nonsense' is no PCI function; ignored\n");
	CHECK_NUMBER(count("imc", true), 8);
	forget();

	/* No bus at all. */
	notes[0] = '\0';
	CHECK_NUMBER(unc_discover(table, &topo, NULL, take_note, NULL, &found, &err), 0);
	CHECK_NUMBER(count("imc", true), 0);
	CHECK_TEXT(notes, "");
	unc_instances_free(&found);
	end();
}

/* Units that are found but do not answer. */
static void test_probe(void)
{
	struct unc_access *access;

	begin("fixed");
	fixed_machine();
	topo.n_sockets = 1;
	fake_size(fake_path(&root, "/dev/cpu/0/msr"), 0xdf8); /* up to control 0 of CBo 7 */
	fake_put(&root, 0x7f, 0x10, 4, 0xd8, 0xffffffff);
	discover(); /* no CPU of the other socket is online: its PCI functions are there */
	CHECK_NUMBER(count("cbo", true), 8);
	CHECK_NUMBER(count("imc", true), 8);
	open_gate(&access);
	CHECK_NUMBER(unc_instances_probe(table, &found, access, NULL), 0);
	CHECK_NUMBER(count("cbo", true), 8);
	CHECK_NUMBER(count("imc", true), 7);
	CHECK_TEXT(unit("imc", 0, 2)->reason,
		   "pci 0000:7f:10.4 reads as all ones: hidden by the BIOS, or switched off");
	close_gate(access);
	CHECK_NUMBER(truncate(fake_path(&root, "/dev/cpu/0/msr"), 0xdf7), 0);
	open_gate(&access);
	CHECK_NUMBER(unc_instances_probe(table, &found, access, NULL), 0);
	CHECK_NUMBER(count("cbo", true), 7);
	CHECK_TEXT(unit("cbo", 0, 7)->reason, "msr 0xdf0 on cpu 0 is not in this dump");
	close_gate(access);
	forget();
	end();
}

static void test_nominal(void)
{
	struct unc_instance inst;

	begin("fixed");
	unc_instance_nominal(table, type_number("cbo"), 7, &inst);
	CU_ASSERT(inst.available);
	CHECK_TEXT(inst.location, "msr 0xde0");
	CHECK_NUMBER(reg_of(&inst, "CTL0").address, 0xdf0);
	unc_instance_nominal(table, type_number("qpi"), 1, &inst);
	CHECK_TEXT(inst.location, "pci 09.2");
	CHECK_NUMBER(reg_of(&inst, "PKT_MATCH0").address, UNC_PCI(0, 0, UNC_DEVFN(9, 6), 0x228));
	unc_instance_nominal(table, type_number("qpi"), 2, &inst);
	CU_ASSERT(!inst.available);
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"fixed places", test_fixed},
		{"hidden functions", test_hidden},
		{"bus to socket", test_bus_map},
		{"bus to the socket below", test_bus_map_lower},
		{"units that are not counted", test_uncounted},
		{"functions that are not listed", test_not_listed},
		{"local CPUs", test_local_cpus},
		{"many nodes", test_many_nodes},
		{"without nodes and rights", test_no_nodes},
		{"nothing there", test_nothing_there},
		{"units that do not answer", test_probe},
		{"nominal places", test_nominal},
		{NULL, NULL},
	};

	return suite_run("discover", tests);
}
