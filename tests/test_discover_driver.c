/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Discovery where the discovery tables cannot be read for want of a right, on a machine of files as a
 * user without CAP_SYS_ADMIN finds them: configuration space of 64 bytes. What the driver's list of
 * PMUs is worth: measurements on Linux 6.1 (it is that of the first socket, and has PMUs of
 * free-running counters without a unit). Ids: units.tbl of Emerald Rapids; 09a2 stands for a
 * function of the CPU that the tables do not name, one a stack.
 */
#include <errno.h>

#include "built.h"
#include "fake_root.h"
#include "kernel_kit.h"
#include "machine/discover.h"

enum { CONFIG = 64, SYSTEM = 0x088000, NETWORK = 0x020000, BRIDGE = 0x060400 };

static struct fake_root root;
static const struct unc_table *table;
static struct unc_instances found;
static char notes[4096];

/* ---- a driver */

static const char *pmus; /* names, each between blanks */
static int refuse;       /* errno of opening events */

static int find_listed(struct unc_machine *machine, const char *pmu, uint32_t *type, char *mask,
		       size_t size)
{
	char word[UNC_KERNEL_NAME + 2];

	(void)machine;
	snprintf(word, sizeof(word), " %s ", pmu);
	*type = 40;
	snprintf(mask, size, "0,8");
	return strstr(pmus, word) ? 0 : ENOENT;
}

static int open_listed(struct unc_machine *machine, const struct perf_event_attr *attr, int cpu,
		       int group_fd)
{
	(void)machine;
	(void)attr;
	(void)cpu;
	(void)group_fd;
	errno = refuse;
	return refuse ? -1 : 1000;
}

static void close_listed(struct unc_machine *machine, int fd)
{
	(void)machine;
	CHECK_NUMBER(fd, 1000);
}

static const struct unc_machine_events driver = {
	.find = find_listed, .open = open_listed, .close = close_listed};

/* ---- the machine */

static void add_function(unsigned socket, unsigned bus, unsigned device, unsigned function,
			 unsigned id, unsigned class)
{
	char text[32], folder[64];

	fake_function(&root, bus, device, function, id, CONFIG);
	snprintf(folder, sizeof(folder), "/sys/bus/pci/devices/0000:%02x:%02x.%x", bus, device,
		 function);
	snprintf(text, sizeof(text), "0x%06x\n", class);
	fake_text(fake_path(&root, "%s/class", folder), text);
	snprintf(text, sizeof(text), "%u\n", socket);
	fake_text(fake_path(&root, "%s/numa_node", folder), text);
	fake_text(fake_path(&root, "%s/local_cpulist", folder), socket ? "8-15\n" : "0-7\n");
}

static const char all_pmus[] =
	" uncore_cha_0 uncore_cha_1 uncore_cha_2 uncore_imc_0 uncore_imc_1 uncore_imc_4 "
	"uncore_imc_free_running_0 uncore_imc_free_running_1 uncore_imc_free_running_2 "
	"uncore_iio_0 uncore_iio_2 uncore_iio_free_running_0 uncore_iio_free_running_1 "
	"uncore_iio_free_running_2 uncore_m2m_0 uncore_m2m_1 uncore_pcu ";

static void begin_machine(void)
{
	size_t n;
	const struct unc_table *const *all = built_tables(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(unc_tbl_str(all[i], all[i]->name), "emerald-rapids") == 0)
			table = all[i];
	CU_ASSERT_FATAL(table != NULL);
	fake_new(&root);
	fake_text(fake_path(&root, "/sys/devices/system/cpu/online"), "0-15\n");
	for (unsigned socket = 0; socket < 2; socket++) {
		unsigned bus = socket * 0x80;

		add_function(socket, bus + 0x7e, 0, 0, 0x3250, SYSTEM);   /* UBox */
		add_function(socket, bus + 0x7e, 0, 1, 0x3251, SYSTEM);   /* addresses */
		add_function(socket, bus + 0x7e, 0xc, 0, 0x324a, SYSTEM); /* M2M */
		add_function(socket, bus + 0x7e, 0xd, 0, 0x324a, SYSTEM);
		add_function(socket, bus + 0x6a, 3, 0, 0x09a7, SYSTEM); /* tables */
		add_function(socket, bus + 0x16, 0, 0, 0x09a2, SYSTEM); /* stacks */
		add_function(socket, bus + 0x30, 0, 0, 0x09a2, SYSTEM);
	}
	/* The chipset, and what is plugged in. */
	add_function(0, 0, 0x11, 0, 0x1bcd, SYSTEM);
	add_function(0, 0, 0x1f, 0, 0x1b81, 0x060100);
	add_function(0, 0x16, 2, 0, 0x352a, BRIDGE);
	add_function(1, 0x96, 2, 0, 0x352a, BRIDGE);
	add_function(1, 0x96, 4, 0, 0x352a, BRIDGE);
	add_function(1, 0x97, 0, 0, 0x1592, NETWORK);
	kernel_begin(root.path, &driver, NULL);
	kernel_topology.socket[0].cache = kernel_topology.socket[1].cache = 163840;
	pmus = all_pmus;
	refuse = 0;
}

static void take_note(void *user, const char *text)
{
	size_t n = strlen(notes);

	(void)user;
	snprintf(notes + n, sizeof(notes) - n, "%s\n", text);
}

static void discover(bool asked)
{
	struct unc_bus *bus = NULL;

	notes[0] = '\0';
	unc_instances_free(&found);
	CU_ASSERT_FATAL(unc_bus_open_system(fs, &bus, &err) == 0);
	bus->gate = asked ? gate : NULL;
	CHECK_NUMBER(unc_discover(table, &kernel_topology, bus, take_note, NULL, &found, &err), 0);
	bus->methods->close(bus);
}

static void end_machine(void)
{
	unc_instances_free(&found);
	kernel_end();
	fake_free(&root);
}

static const struct unc_instance *unit(const char *type, unsigned socket, unsigned index)
{
	for (size_t i = 0; i < found.n; i++)
		if (found.unit[i].socket == socket && found.unit[i].index == index &&
		    strcmp(unc_type_name(table, found.unit[i].type), type) == 0)
			return &found.unit[i];
	return NULL;
}

/* "0 1 4": the units of a type on a socket that exist. Static storage. */
static const char *existing(const char *type, unsigned socket)
{
	static char text[256];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < found.n; i++)
		if (found.unit[i].socket == socket && found.unit[i].part[0].exists &&
		    strcmp(unc_type_name(table, found.unit[i].type), type) == 0)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u", n ? " " : "",
					      found.unit[i].index);
	return text;
}

/* ---- */

static const struct {
	const char *type, *units;
} listed[] = {
	{"cha", "0 1 2"}, {"imc", "0 1 4"},
	{"mc", "0 2"},  /* controller 1 has counters that run, and no channels */
	{"iio", "0 2"}, /* so has stack 1 */
	{"irp", ""},    /* a type that this driver does not know */
	{"pcu", "0"},     {"m2m", "0 1"},
};

static void test_listed(void)
{
	begin_machine();
	discover(true);
	for (unsigned socket = 0; socket < 2; socket++)
		for (size_t i = 0; i < sizeof(listed) / sizeof(*listed); i++)
			CHECK_TEXT(existing(listed[i].type, socket), listed[i].units);
	CU_ASSERT(strstr(notes,
			 "socket 1: the discovery tables are not read (pci 0000:6a:03.0 offset "
			 "0x100: configuration space ends at 64 bytes: CAP_SYS_ADMIN is needed "
			 "for more); which units exist is what the kernel's driver says\n") !=
		  NULL);
	CHECK_TEXT(unit("imc", 1, 4)->location, "uncore_imc_4");
	CU_ASSERT(!unit("imc", 1, 4)->part[0].present);
	CU_ASSERT(unit("imc", 1, 4)->by_driver && !unit("m2m", 1, 1)->by_driver);
	/* Functions that nobody lists and nobody sees are no units; one of the list is missed. */
	CU_ASSERT(!unit("m2m", 0, 2) && !unit("m2m", 1, 3));
	pmus = " uncore_cha_0 uncore_m2m_0 uncore_m2m_1 uncore_m2m_2 ";
	discover(true);
	CU_ASSERT_FATAL(unit("m2m", 1, 2) != NULL);
	CU_ASSERT(strstr(unit("m2m", 1, 2)->reason, "0e.0 (8086:324a) is not visible") != NULL);
	CU_ASSERT(!unit("m2m", 1, 3));
	/* Who must not open events is told the same. */
	refuse = EACCES;
	discover(true);
	CHECK_TEXT(existing("cha", 1), "0");
	end_machine();
}

/* By the guide's places, as before. */
static void check_not_asked(void)
{
	CHECK_TEXT(existing("cha", 0), "");
	CHECK_TEXT(existing("iio", 1), "0 1 2 3 4 5 6 7 8 9");
	for (size_t i = 0; i < found.n; i++)
		CU_ASSERT(!found.unit[i].by_driver && !found.unit[i].unknown);
}

static void test_not_asked(void)
{
	begin_machine();
	discover(false);
	check_not_asked();
	pmus = " uncore_iio_free_running_0 uncore_type_99_0 ";
	discover(true);
	check_not_asked();
	/* Before 6.8 it may know the CHAs by the number of their type alone. */
	pmus = " uncore_type_0_0 ";
	discover(true);
	CHECK_TEXT(existing("cha", 0), "0");
	end_machine();
	/* The method was not chosen. */
	begin_machine();
	unc_access_close(gate);
	CU_ASSERT_FATAL(unc_access_open(hardware, "direct", &gate, &err) == 0);
	discover(true);
	check_not_asked();
	end_machine();
}

/* ---- sockets that differ, or may */

static void another_stack(void)
{
	add_function(0, 0x44, 0, 0, 0x09a2, SYSTEM);
}

static void another_stack_classless(void)
{
	another_stack();
	remove(fake_path(&root, "/sys/bus/pci/devices/0000:44:00.0/class"));
}

static void no_tables(void)
{
	const char *folder = fake_path(&root, "/sys/bus/pci/devices/0000:ea:03.0");
	char command[400];

	snprintf(command, sizeof(command), "%s", folder);
	nftw(command, fake_unlink, 4, FTW_DEPTH | FTW_PHYS);
}

static void no_place(void)
{
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:b0:00.0/numa_node"), "-1\n");
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:b0:00.0/local_cpulist"), "0-15\n");
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:fe:00.0/numa_node"), "-1\n");
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:fe:00.0/local_cpulist"), "0-15\n");
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:fe:00.1/local_cpulist"), "0-15\n");
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:fe:0c.0/local_cpulist"), "0-15\n");
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:fe:0d.0/local_cpulist"), "0-15\n");
}

static void smaller(void)
{
	kernel_topology.socket[1].cache = 158720;
}

static void unknown_here(void)
{
	kernel_topology.socket[1].cache = 0;
}

static void unknown_there(void)
{
	kernel_topology.socket[0].cache = 0;
}

static const struct {
	const char *name, *reason;
	void (*change)(void);
} differences[] = {
	{"a stack", "PCI functions 8086:09a2: it has 2, socket 0 3; ", another_stack},
	{"a stack, no classes", "PCI functions 8086:09a2: it has 2, socket 0 3; ",
	 another_stack_classless},
	{"no tables of its own", "PCI functions 8086:09a7: it has 0, socket 0 1; ", no_tables},
	{"a bus of no socket", "PCI function 0000:b0:00.0 has no known socket or device; ",
	 no_place},
	{"a smaller L3", "its L3 has 158720 KiB, that of socket 0 163840; ", smaller},
	{"an unknown L3", "the size of the L3 of socket 1 is not known; ", unknown_here},
	{"an unknown L3 of the first", "the size of the L3 of socket 0 is not known; ",
	 unknown_there},
};

static void test_differ(const void *user)
{
	size_t i = (size_t)((const char *const *)user - &differences[0].name) /
		   (sizeof(differences[0]) / sizeof(char *));
	char reason[300];

	begin_machine();
	differences[i].change();
	discover(true);
	snprintf(reason, sizeof(reason),
		 "whether socket 1 has it is not known: the kernel's driver tells of socket 0, and "
		 "%s",
		 differences[i].reason);
	CHECK_TEXT(existing("cha", 0), "0 1 2");
	for (unsigned k = 0; k < 3; k++) {
		const struct unc_instance *u = unit("cha", 1, k);

		CU_ASSERT_FATAL(u != NULL);
		CU_ASSERT(u->unknown && !u->available && !u->part[0].exists && !u->part[0].present);
		if (strncmp(u->reason, reason, strlen(reason)) != 0) {
			printf("# %s\n", u->reason);
			CU_FAIL("the reason");
		}
	}
	CHECK_TEXT(existing("mc", 1), "");
	end_machine();
}

/* All CPUs of socket 1 are offline: its UBox is there, and cannot be asked which package it is of. */
static void test_no_cpus(void)
{
	begin_machine();
	kernel_topology.n_sockets = 1;
	for (unsigned i = 8; i < 16; i++)
		kernel_topology.cpu_socket[i] = 0;
	fake_text(fake_path(&root, "/sys/devices/system/cpu/online"), "0-7\n");
	for (unsigned i = 0; i < 2; i++)
		fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:fe:00.%u/local_cpulist", i),
			  "\n");
	discover(true);
	CHECK_NUMBER(kernel_topology.n_sockets, 2);
	CHECK_TEXT(existing("cha", 0), "0 1 2");
	CU_ASSERT_FATAL(unit("cha", 1, 2) != NULL);
	CU_ASSERT(unit("cha", 1, 2)->unknown);
	end_machine();
}

/* With the right to read configuration space but not memory (CAP_SYS_ADMIN without CAP_SYS_RAWIO, a
 * kernel that is locked down, no /dev/mem): what can be counted without the tables is. */
static void grow(unsigned bus, unsigned device, unsigned function)
{
	fake_size(fake_config(&root, bus, device, function), 4096);
}

static void test_no_memory(void)
{
	begin_machine();
	for (unsigned socket = 0; socket < 2; socket++) {
		unsigned bus = socket * 0x80;

		grow(bus + 0x6a, 3, 0);
		grow(bus + 0x7e, 0, 1);
		fake_put(&root, bus + 0x6a, 3, 0, 0x100, 0x23 | 1 << 16);
		fake_put(&root, bus + 0x6a, 3, 0, 0x104, 0x8086);
		fake_put(&root, bus + 0x6a, 3, 0, 0x108, 1);
		fake_put(&root, bus + 0x6a, 3, 0, 0x10c, 0);
		fake_put(&root, bus + 0x6a, 3, 0, 0x10, 0x80000000);
		fake_put(&root, bus + 0x7e, 0, 1, 0xd0, 0x2000 + socket * 0x100);
		fake_put(&root, bus + 0x7e, 0, 1, 0xd8, 0x80); /* controller 0 only */
	}
	add_function(0, 0x7f, 0x1e, 3, 0x325b, SYSTEM); /* which CHAs there are */
	add_function(1, 0xff, 0x1e, 3, 0x325b, SYSTEM);
	grow(0xff, 0x1e, 3);
	fake_put(&root, 0xff, 0x1e, 3, 0x9c, 0x2d);
	kernel_topology.socket[1].cache = 1; /* two sockets that differ */
	discover(true);
	CU_ASSERT(strstr(notes, "/dev/mem: no such file") != NULL);
	CHECK_TEXT(existing("imc", 1), "0 1");
	CHECK_TEXT(existing("mc", 1), "0");
	CU_ASSERT(unit("imc", 1, 1)->available && !unit("imc", 1, 1)->by_driver);
	CHECK_TEXT(existing("cha", 0), "0 1 2"); /* in the list */
	CHECK_TEXT(existing("cha", 1), "0 1 2 3");
	CU_ASSERT_FATAL(unit("cha", 0, 2) && unit("cha", 1, 3));
	CU_ASSERT(unit("cha", 0, 2)->by_driver && !unit("cha", 1, 3)->by_driver);
	CHECK_TEXT(existing("iio", 0), "0 2");
	CHECK_TEXT(existing("iio", 1), "");
	CU_ASSERT(unit("iio", 1, 2)->unknown);
	end_machine();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"the driver's list", test_listed},
		{"no list", test_not_asked},
		{"memory that cannot be read", test_no_memory},
		{"a socket without CPUs", test_no_cpus},
		{NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(differences) / sizeof(*differences); i++)
		suite_add(test_differ, &differences[i].name, "sockets that differ: %s",
			  differences[i].name);
	return suite_run("discover_driver", tests);
}
