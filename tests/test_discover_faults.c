/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Discovery where something cannot be read, contradicts itself or is odd: a unit that may exist is
 * listed with the reason, and none is counted for a socket that it may not belong to. Sources:
 * discover_faulty.h.
 */
#include <sys/resource.h>

#include "discover_faulty.h"
#include "discover_listed.h"

static void test_sound(void)
{
	machine();
	discover();
	CHECK_TEXT(notes, "");
	CHECK_NUMBER(count("cbo", true), 12);
	CHECK_NUMBER(count("imc", false), 4);    /* the optional one is not missed */
	CHECK_NUMBER(count("cha", true), 8 + 4); /* each by 1e.3 of its own socket */
	CHECK_NUMBER(count("mc", true), 8);
	CHECK_NUMBER(unit("mc", 0, 0)->part[0].base, 0xf2002290);
	CHECK_TEXT(unit("imc", 1, 1)->location, "pci 0000:fe:10.1");
	leave();
}

/* Functions of others, on buses of their own; the kernel's list of all functions has those. */
static void others(unsigned n, char *list, size_t size)
{
	size_t used = strlen(list);

	for (unsigned i = 0; i < n; i++) {
		unsigned on_bus = 0x20 + i / 256, vendor = i % 2 ? 0x15b3 : 0x8086;

		fake_path(&root, "/sys/bus/pci/devices/0000:%02x:%02x.%x/", on_bus, i / 8 % 32,
			  i % 8);
		used += (size_t)snprintf(list + used, size - used,
					 "%02x%02x\t%04x1017\t0"
					 "\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t\n",
					 on_bus, i % 256, vendor);
	}
	fake_text(fake_path(&root, "/proc/bus/pci/devices"), list);
}

/* What is no monitor, and tells of none, is not asked one by one. */
static void test_others(void)
{
	static const char other_line[] =
		"7e81\t80861017\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t\n";
	static char list[1 << 17];
	unsigned few, many;

	for (int noted = 0; noted < 2; noted++) {
		list[0] = '\0';
		if (noted) /* of the second iMC, too: it is as listed */
			strcpy(list, "7e81\t80863cb1\t0"
				     "\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t\n");
		machine();
		many = io_calls;
		discover();
		few = io_calls - many;
		forget();
		others(700, list, sizeof(list));
		many = io_calls;
		discover();
		many = io_calls - many;
		CHECK_TEXT(notes, "");
		CHECK_NUMBER(count("cbo", true), 12);
		CHECK_NUMBER(count("imc", true), 4);
		CHECK_NUMBER(count("cha", true), 8 + 4);
		CHECK_NUMBER(count("mc", true), 8);
		if (many >= few + 10)
			printf("# %u calls, without the others %u\n", many, few);
		CHECK_NUMBER(few > 20 && many < few + 10, true);
		leave();
	}
	/* Two functions of this bus and number, of two domains: each is asked. */
	snprintf(list, sizeof(list), "%s%s", other_line, other_line);
	machine();
	others(0, list, sizeof(list));
	discover();
	CHECK_NUMBER(count("imc", true), 4);
	leave();
}

/* One function that cannot be looked at. */
static void test_function(void)
{
	static const struct {
		const char *call;
		int error;
		const char *why;
	} rows[] = {
		{"read", EIO, "Input/output error"},
		{"read", ENODEV, "No such device"},
		{"open", EMFILE, "Too many open files"},
		{"open", ENFILE, "Too many open files in system"},
		{"open", EACCES, "Permission denied"},
		{"open", ENOENT, "No such file or directory"},
	};
	char text[200];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		machine();
		with_faults("fail %s *7e:10.1/config - %d", rows[i].call, rows[i].error);
		CHECK_NUMBER(count("imc", false), 4);
		CHECK_NUMBER(count("imc", true), 3);
		snprintf(text, sizeof(text),
			 "PCI function 0000:7e:10.1 does not tell what it is: %s", rows[i].why);
		CHECK_TEXT(unit("imc", 0, 1)->reason, text);
		forget();
		/* The kernel knows what it is. */
		fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:7e:10.1/vendor"), "0x8086\n");
		fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:7e:10.1/device"), "0x3cb1\n");
		with_faults("fail %s *7e:10.1/config - %d", rows[i].call, rows[i].error);
		snprintf(text, sizeof(text), "pci 0000:7e:10.1 offset 0x0: %s",
			 rows[i].error == EACCES ? "permission denied: root is needed"
						 : rows[i].why);
		CHECK_TEXT(unit("imc", 0, 1)->reason, text);
		CHECK_TEXT(unit("imc", 0, 1)->location, "pci 0000:7e:10.1");
		CHECK_NUMBER(count("imc", true), 3);
		leave();
	}
}

/* A socket whose CPUs are all to be left alone: what needs none of them is read. */
static void test_quiet_socket(void)
{
	machine();
	topo.socket[1].quiet = true;
	discover();
	CHECK_NUMBER(count("cbo", false), 12);
	CHECK_NUMBER(count("cbo", true), 6);
	CHECK_TEXT(
		unit("cbo", 1, 0)->reason,
		"all CPUs of the socket are isolated or nohz_full, and reading an MSR interrupts "
		"one: bind the program to CPUs with one of them (taskset -c) to read there");
	CHECK_NUMBER(count("imc", true), 4);
	leave();
}

/* What only disturbs is overcome. */
static void test_disturbed(void)
{
	static const char *const lines[] = {"fail read */config - EINTR times 60",
					    "fail read */config - EAGAIN times 60",
					    "short */config - 2 times 60"};

	machine();
	for (size_t i = 0; i < 3; i++) {
		faults("%s", lines[i]);
		discover();
		CHECK_NUMBER(struck, 60);
		no_faults();
		CHECK_TEXT(notes, "");
		CHECK_NUMBER(count("imc", true), 4);
		CHECK_NUMBER(count("cha", true), 12);
		forget();
	}
	end();
}

/* An optional unit that cannot be looked at may be there. */
static void test_optional(void)
{
	machine();
	fake_function(&root, 0xfe, 0x11, 0, 0x3cb8, 256);
	with_faults("fail read *fe:11.0/config 0 EIO");
	CHECK_NUMBER(count("imc", false), 5);
	CHECK_NUMBER(count("imc", true), 4);
	CHECK_TEXT(unit("imc", 1, 2)->reason,
		   "PCI function 0000:fe:11.0 does not tell what it is: Input/output error");
	leave();
}

/* A file that ends early, one that is none. */
static void test_odd_files(void)
{
	machine();
	CHECK_NUMBER(truncate(fake_config(&root, 0x7e, 0x10, 0), 3), 0);
	remove(fake_config(&root, 0x7e, 0x10, 1));
	CHECK_NUMBER(mkfifo(fake_config(&root, 0x7e, 0x10, 1), 0644), 0);
	CHECK_NUMBER(truncate(fake_config(&root, 0x7f, 0x1e, 3), 64), 0);
	discover();
	CHECK_TEXT(unit("imc", 0, 0)->reason,
		   "PCI function 0000:7e:10.0 does not tell what it is: No data available");
	CHECK_TEXT(unit("imc", 0, 1)->reason,
		   "PCI function 0000:7e:10.1 does not tell what it is: not a regular file");
	CHECK_NUMBER(count("cha", false), 4 + 4); /* as many as the other socket */
	CHECK_TEXT(unit("cha", 0, 0)->reason,
		   "their number is not known: pci 0000:7f:1e.3 offset 0x9c: "
		   "configuration space ends at 64 bytes: CAP_SYS_ADMIN is needed for more");
	leave();
}

/* All descriptors are taken: nothing is hidden by a BIOS. */
static void test_no_descriptors(void)
{
	struct rlimit old, none;

	machine();
	CHECK_NUMBER(unc_bus_open_system(fs, &bus, &err), 0);
	getrlimit(RLIMIT_NOFILE, &old);
	none = (struct rlimit){0, old.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	notes[0] = '\0';
	CHECK_NUMBER(unc_discover(table, &topo, bus, take_note, NULL, &found, &err), 0);
	setrlimit(RLIMIT_NOFILE, &old);
	CHECK_NUMBER(count("imc", false), 6);
	CHECK_NUMBER(count("imc", true), 0);
	CHECK_TEXT(unit("imc", 1, 1)->reason,
		   "/sys/bus/pci/devices cannot be opened: Too many open files");
	CHECK_TEXT(unit("mc", 0, 3)->reason,
		   "/sys/bus/pci/devices cannot be opened: Too many open files");
	leave();
}

/* The bus of a UBox that cannot be read is nobody's, unless the kernel knows. */
static void test_ubox(void)
{
	static const off_t at[] = {0x40, 0x54};
	char text[200];

	for (size_t i = 0; i < 2; i++) {
		machine();
		with_faults("fail read *7e:0b.0/config %#x EIO", (unsigned)at[i]);
		snprintf(text, sizeof(text),
			 "PCI function 0000:7e:10.0: the socket of its bus is not known: pci "
			 "0000:7e:0b.0 offset 0x%x: Input/output error",
			 (unsigned)at[i]);
		CHECK_TEXT(unit("imc", 0, 0)->reason, text);
		CHECK_NUMBER(count("imc", false), 4); /* no function may be the optional one */
		CHECK_NUMBER(count("imc", true), 2);
		CHECK_TEXT(unit("imc", 1, 0)->location, "pci 0000:fe:10.0");
		CU_ASSERT(!unit("cha", 0, 0)->available);
		CU_ASSERT(!unit("mc", 0, 0)->available);
		CHECK_NUMBER(count("cha", true), 4);
		forget();
		/* Of any function of the bus; by a node that is not the number of the socket. */
		locality(0x7e, 0x10, 1, "1\n", "8-15\n");
		with_faults("fail read *7e:0b.0/config %#x EIO", (unsigned)at[i]);
		CHECK_NUMBER(count("imc", true), 4);
		CHECK_TEXT(unit("imc", 0, 0)->location, "pci 0000:7e:10.0");
		CHECK_NUMBER(count("cha", true), 12);
		forget();
		/* CPUs of both sockets say nothing. */
		locality(0x7e, 0x10, 1, "0\n", "0-60\n");
		with_faults("fail read *7e:0b.0/config %#x EIO", (unsigned)at[i]);
		CHECK_NUMBER(count("imc", true), 2);
		leave();
	}
	/* One that does not even tell that it is a UBox. */
	machine();
	with_faults("fail read *7e:0b.0/config - EIO");
	CHECK_TEXT(unit("imc", 0, 0)->reason,
		   "PCI function 0000:7e:10.0: the socket of its bus is not known: pci "
		   "0000:7e:0b.0: Input/output error");
	CHECK_TEXT(unit("imc", 1, 0)->location, "pci 0000:fe:10.0");
	CHECK_NUMBER(count("imc", true), 2);
	leave();
}

/* A node that is in no group. */
static void test_odd_nodes(void)
{
	machine();
	fake_put(&root, 0x7e, 0x0b, 0, 0x54, 01);
	fake_put(&root, 0x7e, 0x0b, 0, 0x40, 5);
	discover();
	CHECK_TEXT(unit("imc", 0, 0)->reason,
		   "PCI function 0000:7e:10.0: the socket of its bus is not known: pci "
		   "0000:7e:0b.0: node 0x5 is not in the map 0x1 of its UBox");
	leave();
}

/* The machine, but no CPU of a package is online. */
static void machine_without(int package)
{
	machine();
	topo.n_sockets = 1;
	topo.socket[0] = (struct unc_socket){
		.package = !package, .cpu = 32 * !package, .cores = 6, .cpus = 32};
	for (int cpu = 0; cpu < 64; cpu++)
		topo.cpu_socket[cpu] = cpu / 32 == !package;
}

/* It is a socket all the same, with its own number: what needs none of its CPUs is read. */
static void test_offline(void)
{
	for (int package = 0; package < 2; package++) {
		machine_without(package);
		discover();
		CHECK_NUMBER(topo.n_sockets, 2);
		CHECK_NUMBER(topo.socket[package].package, package);
		CHECK_NUMBER(topo.socket[package].cpu, -1);
		CHECK_NUMBER(topo.socket[!package].package, !package);
		CHECK_NUMBER(topo.socket[!package].cpu, 32 * !package);
		CHECK_NUMBER(unc_topology_socket(&topo, 32 * !package), !package);
		CHECK_NUMBER(unc_topology_socket(&topo, 32 * package), -1);
		CHECK_NUMBER(unc_topology_cpu(&topo, package, 0), -1);
		CHECK_TEXT(notes, package ? "socket 1: no CPU of the socket is online, its MSRs "
					    "cannot be read\n"
					  : "socket 0: no CPU of the socket is online, its MSRs "
					    "cannot be read\n");
		CHECK_NUMBER(count("imc", true), 4);
		CHECK_TEXT(unit("imc", package, 0)->location,
			   package ? "pci 0000:fe:10.0" : "pci 0000:7e:10.0");
		CHECK_NUMBER(count("mc", true), 8);
		CHECK_NUMBER(count("cbo", false), 12);
		CHECK_NUMBER(count("cbo", true), 6);
		CHECK_TEXT(unit("cbo", package, 5)->reason, "no CPU of the socket is online");
		CHECK_TEXT(unit("cbo", package, 5)->location, "msr 0xda0");
		CHECK_TEXT(unit("cbo", !package, 5)->location,
			   package ? "msr 0xda0 on cpu 0" : "msr 0xda0 on cpu 32");
		CHECK_NUMBER(count("cha", false), 12);
		CHECK_NUMBER(count("cha", true), package ? 8 : 4);
		leave();
	}
	/* What the other package has, this one may have. */
	machine_without(1);
	fake_function(&root, 0xfe, 0x11, 0, 0x3cb8, 256);
	hide(0x7e, 0x10, 1);
	discover();
	CHECK_NUMBER(count("imc", false), 3 + 3);
	CHECK_TEXT(unit("imc", 0, 2)->reason,
		   "cannot tell whether it is hidden or does not exist: imc2 of socket 1 is there");
	CHECK_TEXT(unit("imc", 0, 1)->reason,
		   "PCI function 10.1 (8086:3cb1) is not visible: hidden by the BIOS, or this "
		   "machine has none");
	leave();
}

/* Where a function has no node, "all CPUs" are those of one socket, and say nothing. */
static void test_offline_without_nodes(void)
{
	machine_without(1);
	for (unsigned i = 0; i < 2; i++) {
		locality(0xfe, 0x10, i, "-1\n", "0-31\n");
		locality(0x7e, 0x10, i, "-1\n", "0-31\n");
	}
	locality(0xfe, 0x0b, 0, "-1\n", "0-31\n");
	with_faults("fail read *7e:0b.0/config 0x40 EIO");
	CHECK_NUMBER(topo.n_sockets, 2);
	CHECK_NUMBER(count("imc", true), 2);
	CHECK_TEXT(unit("imc", 1, 0)->location, "pci 0000:fe:10.0");
	CU_ASSERT(!unit("imc", 0, 0)->available);
	leave();
}

static void test_two_in_one_place(void)
{
	machine();
	fake_put(&root, 0xfe, 0x0b, 0, 0x40, 0); /* says what the other says */
	discover();
	CHECK_NUMBER(count("imc", true), 0);
	CHECK_TEXT(unit("imc", 0, 1)->reason,
		   "two PCI functions in one place of socket 0: 0000:7e:10.1 and 0000:fe:10.1 are "
		   "both 8086:3cb1");
	CHECK_TEXT(unit("cha", 0, 0)->reason,
		   "their number is not known: two PCI functions in one place of socket 0: "
		   "0000:7f:1e.3 and 0000:ff:1e.3 are both 8086:325b");
	CHECK_TEXT(unit("mc", 0, 2)->reason,
		   "two PCI functions in one place of socket 0: 0000:7e:00.1 and 0000:fe:00.1 are "
		   "both 8086:3251");
	leave();
}

/* Eight sockets, two nodes each: a node is no socket, and three bits are too few. */
static void test_eight_sockets(void)
{
	char node[8], list[16];

	for (unsigned nodes = 1; nodes <= 2; nodes++) {
		begin("faulty");
		topo.n_sockets = 8;
		for (int s = 0; s < 8; s++)
			topo.socket[s] =
				(struct unc_socket){.package = s, .cpu = 8 * s, .cores = 8};
		for (int cpu = 0; cpu < 64; cpu++)
			topo.cpu_socket[cpu] = (uint8_t)(1 + cpu / 8);
		for (unsigned s = 0; s < 8; s++) {
			unsigned on_bus = 0x20 * s + 0x1e;

			/* Two nodes a socket: what the registers say is not asked. */
			ubox(on_bus, nodes == 1 ? 7 - s : s);
			fake_function(&root, on_bus, 0x10, 0, 0x3cb0, 256);
			if (nodes == 1)
				continue;
			snprintf(node, sizeof(node), "%u\n", 15 - 2 * s);
			snprintf(list, sizeof(list), "%u-%u\n", 8 * (7 - s), 8 * (7 - s) + 3);
			locality(on_bus, 0x0b, 0, node, list);
			locality(on_bus, 0x10, 0, node, list);
		}
		discover();
		CHECK_NUMBER(count("imc", true), 8);
		for (int s = 0; s < 8; s++)
			CHECK_NUMBER(UNC_PCI_BUS(unit("imc", s, 0)->part[0].base),
				     0x20u * (unsigned)(7 - s) + 0x1e);
		leave();
	}
}

/* A memory controller that is fused off is no unit; one that cannot be told is. */
static void test_empty_addresses(void)
{
	static const uint32_t empty[] = {0, UINT32_MAX};

	for (size_t i = 0; i < 2; i++) {
		machine();
		fake_put(&root, 0x7e, 0, 1, 0xe0, empty[i]);
		discover();
		CHECK_TEXT(notes, "socket 0: 1 of 4 mc do not exist: PCI function 00.1 (8086:3251) "
				  "holds no address at 0xe0\n");
		CHECK_NUMBER(count("mc", false), 7);
		CHECK_NUMBER(count("mc", true), 7);
		CHECK_TEXT(unit("mc", 0, 2)->reason, "none");
		leave();
	}
	machine();
	with_faults("fail read *7e:00.1/config 0xe0 EIO");
	CHECK_NUMBER(count("mc", false), 8);
	CHECK_NUMBER(count("mc", true), 7);
	CHECK_TEXT(unit("mc", 0, 2)->reason, "pci 0000:7e:00.1 offset 0xe0: Input/output error");
	forget();

	fake_put(&root, 0xfe, 0, 1, 0xe4, 0x40); /* as 0xdc */
	discover();
	CHECK_NUMBER(count("mc", false), 8);
	CHECK_TEXT(unit("mc", 1, 3)->reason, "it is at mmio 0xf4042290, where mc1 of socket 1 is: "
					     "one of the two does not exist");
	CHECK_NUMBER(count("mc", true), 7);
	leave();
}

/* --------------------------------------------------------------------- discovery tables */

/* Functions of the kind that has a table, without one: their lists of capabilities are empty. */
static void test_no_capabilities(void)
{
	listed_machine();
	fake_function(&root, 0, 0, 3, 0x09a7, 4096);
	fake_function(&root, 0, 0, 4, 0x09a7, 4096);
	fake_put(&root, 0, 0, 4, 0x100, UINT32_MAX);
	discover();
	CHECK_TEXT(notes, "");
	CHECK_NUMBER(unit("cha", 0, 1)->status_position, 3);
	leave();
}

/* Capabilities that cannot be read may be those of a table. */
static void test_unreadable(void)
{
	listed_machine();
	faults("fail read *80:00.1/config 0x100 EIO");
	discover();
	CHECK_TEXT(notes, "1 PCI functions may have discovery tables that cannot be read, the "
			  "first: pci 0000:80:00.1 offset 0x100: Input/output error\n"
			  "socket 1: no usable discovery table; the places of the guide are "
			  "used\n");
	CHECK_NUMBER(unit("cha", 0, 1)->status_position, 3);
	CHECK_NUMBER(unit("cha", 1, 1)->status_position, -1);
	CHECK_NUMBER(count("imc", true), 16);
	forget();
	/* A second table of a socket: the first is not all there is. */
	fake_function(&root, 0, 0, 2, 0x09a7, 4096);
	faults("fail read *00:00.2/config 0x100 EIO");
	discover();
	CU_ASSERT_PTR_NOT_NULL(strstr(notes, "socket 0: no usable discovery table"));
	CHECK_NUMBER(unit("cha", 1, 1)->status_position, 3);
	forget();
	hide(0, 0, 2);
	/* One that does not tell who it is: it is said, and the table is used. */
	fake_function(&root, 0x17, 0, 0, 0, 4096);
	faults("fail read *17:00.0/config - EIO");
	discover();
	CHECK_TEXT(notes, "1 PCI functions may have discovery tables that cannot be read, the "
			  "first: pci 0000:17:00.0 offset 0x100: Input/output error\n");
	CHECK_NUMBER(unit("cha", 0, 1)->status_position, 3);
	no_faults();
	forget();
	end();
}

/* What the kernel notes of a function. */
static void note(unsigned on_bus, unsigned device, unsigned function, unsigned vendor, unsigned id)
{
	const char *path = "/sys/bus/pci/devices/0000:%02x:%02x.%x/%s";
	char text[16];

	snprintf(text, sizeof(text), "0x%04x\n", vendor);
	fake_text(fake_path(&root, path, on_bus, device, function, "vendor"), text);
	snprintf(text, sizeof(text), "0x%04x\n", id);
	fake_text(fake_path(&root, path, on_bus, device, function, "device"), text);
}

/* Times that the configuration space of a function was opened while units were searched. */
static int opened(const char *config)
{
	faults("fail open *%s - EIO", config);
	discover();
	int times = (int)struck;

	no_faults();
	forget();
	return times;
}

/* To look at a function is to wake it: only those that tell something of units are opened. */
static void test_sleepers(void)
{
	listed_machine();
	for (int s = 0; s < SOCKETS; s++) {
		unsigned on_bus = ubox_bus[s];

		note(s ? 0x80 : 0, 0, 1, 0x8086, 0x09a7);
		note(on_bus, 0, 0, 0x8086, 0x3250);
		note(on_bus, 0, 1, 0x8086, 0x3251);
		for (unsigned i = 0; i < 4; i++)
			note(on_bus, 0x0c + i, 0, 0x8086, 0x324a);
		for (unsigned i = 0; i < 3; i++)
			note(on_bus, 1 + i, 1, 0x8086, 0x3241);
		note(on_bus, 0x1e, 3, 0x8086, 0x325b);
	}
	fake_function(&root, 0x17, 0, 0, 0x1572, 4096); /* an Ethernet controller */
	note(0x17, 0, 0, 0x8086, 0x1572);
	fake_size(fake_config(&root, 0x18, 0, 0), 4096);
	note(0x18, 0, 0, 0x10de, 0x2330); /* a GPU */
	CHECK_NUMBER(opened("17:00.0/config"), 0);
	CHECK_NUMBER(opened("18:00.0/config"), 0);
	CU_ASSERT(opened("00:00.1/config") > 0);
	CU_ASSERT(opened("7e:00.0/config") > 0);
	discover();
	CHECK_TEXT(notes, "");
	CHECK_NUMBER(count("m2m", true), 8);
	forget();
	end();
}

/* A UBox that cannot be read: what the table of its socket names is found all the same, because the
 * table's own function is near to known CPUs. */
static void test_table_knows(void)
{
	listed_machine();
	fake_text(fake_path(&root, "/sys/devices/system/cpu/online"), "0-63\n");
	locality(0, 0, 1, "0\n", "0-31\n");
	faults("fail read *7e:00.0/config 0xc0 EIO");
	discover();
	no_faults();
	CHECK_TEXT(unit("upi", 0, 2)->location, "pci 0000:7e:03.1");
	CHECK_NUMBER(count("upi", true), 6);
	CHECK_NUMBER(count("m2m", true), 8);
	CHECK_NUMBER(count("cha", true), 6);
	/* It says nothing of controllers whose addresses are in registers. */
	CHECK_TEXT(
		unit("mc", 0, 0)->reason,
		"PCI function 0000:7e:00.1: the socket of its bus is not known: pci 0000:7e:00.0 "
		"offset 0xc0: Input/output error");
	CHECK_NUMBER(count("mc", true), 4);
	forget();
	end();
}

/* A controller that is fused off, in the list of a careless firmware. */
static void test_fused_off(void)
{
	listed_machine();
	fake_put(&root, 0x7e, 0, 1, 0xe0, 0);
	put_record(0, 14, IMC_WORD, mem_base(0, 0) + 0x22800, ident(6, 4, 14));
	put_record(0, 15, IMC_WORD, 0, ident(6, 5, 15));
	discover();
	CHECK_NUMBER(count("imc", false), 14);
	CHECK_NUMBER(count("imc", true), 14);
	CHECK_TEXT(unit("imc", 0, 4)->reason, "none");
	CHECK_NUMBER(count("mc", false), 7);
	CHECK_NUMBER(count("mc", true), 7);
	forget();
	/* Without a table. */
	hide(0, 0, 1);
	hide(0x80, 0, 1);
	discover();
	CHECK_NUMBER(count("imc", false), 14);
	CHECK_NUMBER(count("imc", true), 14);
	forget();
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a sound machine", test_sound},
		{"functions of others", test_others},
		{"a function", test_function},
		{"a quiet socket", test_quiet_socket},
		{"disturbed reads", test_disturbed},
		{"an optional unit", test_optional},
		{"odd files", test_odd_files},
		{"no descriptors", test_no_descriptors},
		{"a UBox", test_ubox},
		{"odd nodes", test_odd_nodes},
		{"a socket without online CPUs", test_offline},
		{"the same without NUMA nodes", test_offline_without_nodes},
		{"two functions in one place", test_two_in_one_place},
		{"eight sockets", test_eight_sockets},
		{"empty addresses", test_empty_addresses},
		{"no capabilities", test_no_capabilities},
		{"unreadable capabilities", test_unreadable},
		{"functions that sleep", test_sleepers},
		{"the table knows", test_table_knows},
		{"fused off", test_fused_off},
		{NULL, NULL},
	};

	return suite_run("discover_faults", tests);
}
