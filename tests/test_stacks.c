/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCIe stacks: buses as the kernel's driver tells them, or registers; devices by links of the shape that
 * Linux has.
 * Which root port is which port: PCM's rules (Skylake-SP: its device number, Ice Lake-SP: less 2,
 * Sapphire Rapids: less 1, Granite Rapids: less 2); 0000:00 of a unit that is nowhere: Linux 6.12
 * pmu_iio_mapping_visible(), skx_iio_mapping_show(). Registers: Linux skx_iio_topology_cb(),
 * sad_cfg_iio_topology(), PCM's get_cpu_bus() and its maps (eventtables/SOURCES.md). The buses of an
 * Emerald Rapids with its accelerators are those that PCM's issue 946 shows.
 */
#include <stdbool.h>
#include <unistd.h>

#include "discover_cpu.h"

enum {
	SKYLAKE = 0x55,
	ICELAKE = 0x6A,
	SAPPHIRE_RAPIDS = 0x8F,
	SNOW_RIDGE = 0x86,
	EMERALD_RAPIDS = 0xCF,
	GRANITE_RAPIDS = 0xAD,
	GRANITE_RAPIDS_D = 0xAE
};

static void die(int iio, int socket, const char *bus)
{
	fake_text(
		fake_path(&root, "/sys/bus/event_source/devices/uncore_iio_%d/die%d", iio, socket),
		bus);
}

/* A function, its link, and one name: "net/eth2", or NULL. way: "pci0000:16/.../0000:17:00.0" */
static void device(const char *way, const char *class, const char *name)
{
	const char *address = strrchr(way, '/') + 1;
	char link[512];

	fake_text(fake_path(&root, "/sys/devices/%s/vendor", way), "0x15b3\n");
	fake_text(fake_path(&root, "/sys/devices/%s/device", way), "0x101d\n");
	fake_text(fake_path(&root, "/sys/devices/%s/class", way), class);
	if (name)
		fake_text(fake_path(&root, "/sys/devices/%s/%s/uevent", way, name), "");
	fake_text(fake_path(&root, "/sys/bus/pci/devices/made"), "");
	snprintf(link, sizeof(link), "../../../devices/%s", way);
	if (symlink(link, fake_path(&root, "/sys/bus/pci/devices/%s", address)) < 0)
		fake_die("symlink");
	unlink(fake_path(&root, "/sys/bus/pci/devices/made"));
}

static void bridge(const char *way)
{
	device(way, "0x060400\n", NULL);
}

static void begin_sockets(unsigned model, unsigned sockets)
{
	fake_new(&root);
	fake_cpuinfo(model, 4, sockets);
	for (unsigned s = 0; s < sockets; s++)
		fake_size(fake_path(&root, "/dev/cpu/%u/msr", s), 0x10000);
	for (int iio = 0; iio < 6; iio++)
		fake_text(fake_path(&root, "/sys/bus/event_source/devices/uncore_iio_%d/type", iio),
			  "20\n");
}

static void begin(unsigned model)
{
	begin_sockets(model, 2);
}

static const char *bus_of(int socket, int iio)
{
	static struct unc_stack stack = {.size = sizeof(stack)};
	const struct unc_unit *u = unit("iio", socket, iio);

	CU_ASSERT_PTR_NOT_NULL_FATAL(u);
	return unc_unit_stack(platform, u, &stack) == 0 ? stack.bus : unc_platform_error(platform);
}

static char told[1024];

static int tell(void *user, const struct unc_device *device)
{
	(void)user;
	size_t n = strlen(told);

	snprintf(told + n, sizeof(told) - n, "%s%d %s %s", n ? "; " : "", device->port,
		 device->address, device->names);
	return 0;
}

static const char *devices_of(int socket, int iio)
{
	*told = '\0';
	CHECK_NUMBER(unc_unit_devices(platform, unit("iio", socket, iio), tell, NULL), 0);
	return told;
}

static void test_buses(void)
{
	struct unc_stack stack = {.size = sizeof(stack)};

	begin(SKYLAKE);
	die(0, 0, "0000:00\n");
	die(0, 1, "0000:00\n");
	die(1, 0, "0000:16\n");
	die(1, 1, "0001:97\n");
	die(2, 0, "0000:00\n");
	die(3, 0, "none\n");
	machine_open();
	CHECK_TEXT(bus_of(0, 0), "0000:00");
	CHECK_TEXT(bus_of(1, 0), "the kernel knows of no root bus of the stack");
	CHECK_TEXT(bus_of(0, 1), "0000:16");
	CHECK_TEXT(bus_of(1, 1), "0001:97");
	CHECK_TEXT(bus_of(0, 2), "the kernel knows of no root bus of the stack");
	CHECK_TEXT(bus_of(0, 3), "the kernel's uncore_iio_3/die0 is 'none', which is no bus");
	CHECK_TEXT(bus_of(0, 4),
		   "the kernel does not tell which root bus the stack has; msr 0x300 of socket 0, "
		   "which gives it, says that it is not valid");
	CHECK_NUMBER(unc_unit_stack(platform, unit("pcu", 0, 0), &stack), UNC_ERR_NOT_FOUND);
	CHECK_NUMBER(unc_unit_devices(platform, unit("iio", 0, 4), tell, NULL),
		     UNC_ERR_UNAVAILABLE);
	machine_close();
}

static void test_devices(void)
{
	begin(SKYLAKE);
	die(1, 0, "0000:16\n");
	die(2, 0, "0000:64\n");
	die(3, 0, "0000:b2\n");
	/* A card of two functions below port 0, one with a virtual function. */
	bridge("pci0000:16/0000:16:00.0");
	device("pci0000:16/0000:16:00.0/0000:17:00.0", "0x020000\n", "infiniband/mlx5_0");
	device("pci0000:16/0000:16:00.0/0000:17:00.1", "0x020000\n", "net/eth3");
	device("pci0000:16/0000:16:00.0/0000:17:00.2", "0x020000\n", NULL);
	/* A disk behind a VMD, whose ports keep their numbers in a domain of its own. */
	device("pci0000:16/0000:16:05.5", "0x010400\n", NULL);
	bridge("pci0000:16/0000:16:05.5/pci10000:00/10000:00:02.0");
	device("pci0000:16/0000:16:05.5/pci10000:00/10000:00:02.0/10000:01:00.0", "0x010802\n",
	       "nvme/nvme3");
	/* Two behind a switch, on port 1. */
	bridge("pci0000:64/0000:64:01.0");
	bridge("pci0000:64/0000:64:01.0/0000:65:00.0");
	bridge("pci0000:64/0000:64:01.0/0000:65:00.0/0000:66:04.0");
	device("pci0000:64/0000:64:01.0/0000:65:00.0/0000:66:04.0/0000:67:00.0", "0x030200\n",
	       "drm/card1");
	/* Below a function that is no root port of the stack. */
	bridge("pci0000:64/0000:64:08.0");
	device("pci0000:64/0000:64:08.0/0000:70:00.0", "0x010601\n", NULL);
	machine_open();
	CHECK_TEXT(devices_of(0, 1), "0 0000:17:00.0 mlx5_0; 0 0000:17:00.1 eth3; "
				     "0 0000:17:00.2 ; 2 10000:01:00.0 nvme3");
	CHECK_TEXT(devices_of(0, 2), "1 0000:67:00.0 card1; -1 0000:70:00.0 ");
	CHECK_TEXT(devices_of(0, 3), "");
	/* Unplugged, the port stays. */
	unlink(fake_path(&root, "/sys/bus/pci/devices/0000:67:00.0"));
	CHECK_TEXT(devices_of(0, 2), "-1 0000:70:00.0 ");
	machine_close();
}

/* ---- buses by registers */

/* A function of Intel's with its configuration space, which is empty. */
static void function(unsigned bus, unsigned device, unsigned function, unsigned id)
{
	fake_function(&root, bus, device, function, id, 4096);
}

static void put(unsigned bus, unsigned device, unsigned function, unsigned offset, uint32_t value)
{
	fake_put(&root, bus, device, function, offset, value);
}

/* 09a6 of a socket: ids 0-5 and 8-11 on these buses. */
static void list(unsigned bus, const uint8_t buses[10])
{
	uint32_t word[3] = {0};

	for (unsigned i = 0; i < 10; i++) {
		unsigned id = i < 6 ? i : i + 2;

		word[id / 4] |= (uint32_t)buses[i] << id % 4 * 8;
	}
	function(bus, 3, 0, 0x09a6);
	put(bus, 3, 0, 0x1A0, 0xF3F);
	for (unsigned i = 0; i < 3; i++)
		put(bus, 3, 0, 0x190 + 4 * i, word[i]);
}

static const uint8_t on_socket_0[] = {0x00, 0x15, 0x26, 0x37, 0x48, 0x59, 0x6a, 0x6f, 0x74, 0x79};
static const char untold[] = "the kernel does not tell which root bus the stack has; ";

static void check_untold(int socket, int iio, const char *why)
{
	char text[400];

	snprintf(text, sizeof(text), "%s%s", untold, why);
	CHECK_TEXT(bus_of(socket, iio), text);
}

static const char *from_of(int socket, int iio)
{
	struct unc_stack stack = {.size = sizeof(stack)};

	return unc_unit_stack(platform, unit("iio", socket, iio), &stack) == 0
		       ? stack.from
		       : unc_platform_error(platform);
}

/* MSR 0x300 of Skylake-SP: valid, stacks 0-3 on 00, 16, 64, b2; none in 4 and 5. */
static void test_msr(void)
{
	begin(SKYLAKE);
	fake_msr(0, 0x300, 0x80000000b2641600);
	fake_msr(1, 0x300, UINT64_MAX);
	machine_open();
	CHECK_TEXT(bus_of(0, 0), "0000:00");
	CHECK_TEXT(bus_of(0, 1), "0000:16");
	CHECK_TEXT(bus_of(0, 3), "0000:b2");
	CHECK_TEXT(from_of(0, 3), "by registers");
	check_untold(0, 4, "the stack has no root bus");
	check_untold(1, 1, "msr 0x300 of socket 1, which gives it, reads as all ones");
	/* A re-boot with other numbers. */
	fake_msr(0, 0x300, 0x80000000ae5d1a00);
	CHECK_TEXT(bus_of(0, 1), "0000:1a");
	/* The kernel's word is taken first. */
	die(1, 0, "0000:17\n");
	CHECK_TEXT(bus_of(0, 1), "0000:17");
	CHECK_TEXT(from_of(0, 1), "by the kernel");
	machine_close();
}

/* No MSRs: the same bytes beside the UBox. */
static void test_bytes(void)
{
	begin(SKYLAKE);
	unlink(fake_path(&root, "/dev/cpu/0/msr"));
	function(0x16, 8, 0, 0x2014);
	put(0x16, 8, 0, 0xC0, 0);
	put(0x16, 8, 0, 0xD4, 0x8);
	function(0x16, 8, 2, 0x2016);
	put(0x16, 8, 2, 0xCC, 0xb2641600);
	put(0x16, 8, 2, 0xD0, 0);
	machine_open();
	CHECK_TEXT(bus_of(0, 2), "0000:64");
	CHECK_TEXT(from_of(0, 2), "by registers, as one source alone reads them");
	put(0x16, 8, 2, 0xCC, UINT32_MAX);
	CU_ASSERT(strncmp(bus_of(0, 2), untold, strlen(untold)) == 0);
	machine_close();
}

static void test_list(void)
{
	struct unc_stack stack = {.size = sizeof(stack)};

	begin(EMERALD_RAPIDS);
	function(0x7e, 0, 0, 0x3250);
	list(0x00, on_socket_0);
	machine_open();
	/* PCM's map: DMI is unit 7, PCIe0 unit 1, IDX0 unit 0, IDX1 unit 4, IDX3 unit 9. */
	CHECK_TEXT(bus_of(0, 7), "0000:00");
	CHECK_TEXT(bus_of(0, 1), "0000:15");
	CHECK_TEXT(bus_of(0, 8), "0000:48");
	CHECK_TEXT(bus_of(0, 0), "0000:6a");
	CHECK_TEXT(bus_of(0, 4), "0000:6f");
	CHECK_TEXT(bus_of(0, 9), "0000:79");
	CHECK_TEXT(from_of(0, 9), "by registers, as one source alone reads them");
	put(0, 3, 0, 0x1A0, 0xF3D);
	check_untold(0, 1, "the stack has no root bus");
	put(0, 3, 0, 0x194, 0x5948);
	put(0, 3, 0, 0x1A0, 0xF3F);
	put(0, 3, 0, 0x190, 0x37261515);
	check_untold(0, 1, "pci 0000:00:03.0 gives the bus 15 to two stacks");
	put(0, 3, 0, 0x190, UINT32_MAX);
	check_untold(0, 1, "pci 0000:00:03.0 offset 0x190, which gives it, reads as all ones");
	put(0, 3, 0, 0x1A0, 0);
	check_untold(0, 1, "socket 0 has no PCI function 8086:09a6, which gives it");
	put(0, 3, 0, 0x1A0, UINT32_MAX);
	check_untold(0, 1, "pci 0000:00:03.0 offset 0x1a0, which gives it, reads as all ones");
	/* Without CAP_SYS_ADMIN it ends at 64 bytes. */
	if (truncate(fake_config(&root, 0, 3, 0), 64) < 0)
		fake_die("truncate");
	CHECK_NUMBER(unc_unit_stack(platform, unit("iio", 0, 1), &stack), UNC_ERR_PERMISSION);
	CU_ASSERT(strstr(unc_platform_error(platform), "CAP_SYS_ADMIN is needed") != NULL);
	machine_close();
}

/* CAPID4 of Sapphire Rapids, bits 7:6: 3 and 1 are the chops that maps are known of. */
static void test_chops(void)
{
	begin(SAPPHIRE_RAPIDS);
	function(0x7e, 0, 0, 0x3250);
	function(0x7e, 30, 3, 0x325b);
	put(0x7e, 30, 3, 0x94, 3 << 6);
	list(0x00, on_socket_0);
	machine_open();
	CHECK_TEXT(bus_of(0, 1), "0000:00");
	CHECK_TEXT(bus_of(0, 2), "0000:15");
	CHECK_TEXT(bus_of(0, 3), "0000:6f");
	check_untold(0, 10, "no source tells which root bus this unit has");
	put(0x7e, 30, 3, 0x94, 1 << 6);
	CHECK_TEXT(bus_of(0, 1), "0000:15");
	CHECK_TEXT(bus_of(0, 3), "0000:6a");
	CHECK_TEXT(bus_of(0, 10), "0000:37");
	put(0x7e, 30, 3, 0x94, 2 << 6);
	check_untold(0, 1, "no source tells which root buses the stacks of this kind of CPU have");
	machine_close();
}

/* All units of the tables are there: of two that have one bus it is not known which it is. */
static void test_flexible(void)
{
	begin_sockets(GRANITE_RAPIDS, 1);
	list(0x00, on_socket_0);
	machine_open();
	CHECK_TEXT(bus_of(0, 3), "0000:26");
	check_untold(0, 12,
		     "its root bus may also be that of unit 10: no source tells which of "
		     "the two it is");
	machine_close();
	begin_sockets(GRANITE_RAPIDS_D, 1);
	list(0x00, on_socket_0);
	machine_open();
	check_untold(0, 3, "no source tells which root buses the stacks of this model have");
	machine_close();
}

/* A device of the CPU itself, below no root port. */
static void endpoint(const char *way, const char *id, const char *name)
{
	const char *address = strrchr(way, '/') + 1;

	device(way, "0x088000\n", name);
	fake_text(fake_path(&root, "/sys/bus/pci/devices/%s/vendor", address), "0x8086\n");
	fake_text(fake_path(&root, "/sys/bus/pci/devices/%s/device", address), id);
}

static void test_endpoints(void)
{
	begin_sockets(EMERALD_RAPIDS, 1);
	list(0x00, on_socket_0);
	endpoint("pci0000:6f/0000:6f:00.0", "0x09a2\n", NULL);
	endpoint("pci0000:6f/0000:6f:01.0", "0x0b25\n", "dma/dma0chan0");
	endpoint("pci0000:70/0000:70:00.0", "0x4940\n", NULL);
	endpoint("pci0000:72/0000:72:00.0", "0x2710\n", NULL);
	/* x4x4x4x4: the ports of the Gen5 controllers. */
	for (unsigned i = 0; i < 4; i++) {
		char way[80];

		snprintf(way, sizeof(way), "pci0000:15/0000:15:%02x.0", 1 + 2 * i);
		bridge(way);
		snprintf(way + strlen(way), sizeof(way) - strlen(way), "/0000:%x:00.0", 0x16 + i);
		device(way, "0x010802\n", i ? NULL : "nvme/nvme0");
	}
	bridge("pci0000:00/0000:00:00.0");
	device("pci0000:00/0000:00:00.0/0000:01:00.0", "0x020000\n", "net/eno1");
	machine_open();
	CHECK_TEXT(devices_of(0, 4), "0 0000:6f:01.0 dma0chan0; 4 0000:70:00.0 ; 5 0000:72:00.0 ");
	CHECK_TEXT(devices_of(0, 1), "0 0000:16:00.0 nvme0; 2 0000:17:00.0 ; 4 0000:18:00.0 ; "
				     "6 0000:19:00.0 ");
	CHECK_TEXT(devices_of(0, 7), "7 0000:01:00.0 eno1");
	CHECK_TEXT(devices_of(0, 2), "");
	machine_close();
}

/* ---- the chipset, on bus 0000:00: below no bridge that Linux shows, but below DMI */

static void chipset(void)
{
	device("pci0000:00/0000:00:11.5", "0x010601\n", NULL);
	device("pci0000:00/0000:00:14.0", "0x0c0330\n", NULL);
	device("pci0000:00/0000:00:16.0", "0x078000\n", NULL);
	bridge("pci0000:00/0000:00:1c.0");
	device("pci0000:00/0000:00:1c.0/0000:01:00.0", "0x020000\n", "net/eno1");
	bridge("pci0000:00/0000:00:1c.5");
	bridge("pci0000:00/0000:00:1c.5/0000:02:00.0");
	device("pci0000:00/0000:00:1c.5/0000:02:00.0/0000:03:00.0", "0x030000\n", "drm/card0");
	device("pci0000:00/0000:00:1f.0", "0x060100\n", NULL);
}

/* Skylake-SP: 8086:2020 at 00:00.0 is a host bridge; CBDMA, 2021, is of no port that is known. */
static void test_chipset_skylake(void)
{
	begin(SKYLAKE);
	die(0, 0, "0000:00\n");
	die(1, 0, "0000:16\n");
	endpoint("pci0000:00/0000:00:00.0", "0x2020\n", NULL);
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:00:00.0/class"), "0x060000\n");
	endpoint("pci0000:00/0000:00:04.0", "0x2021\n", "dma/dma0chan0");
	device("pci0000:00/0000:00:05.5", "0x010400\n", NULL); /* a VMD */
	chipset();
	/* The same on another bus is not below DMI. */
	device("pci0000:16/0000:16:11.5", "0x010601\n", NULL);
	bridge("pci0000:16/0000:16:1c.0");
	device("pci0000:16/0000:16:1c.0/0000:17:00.0", "0x020000\n", "net/eth9");
	machine_open();
	CHECK_TEXT(devices_of(0, 0), "-1 0000:00:04.0 dma0chan0; 0 0000:00:11.5 ; 0 0000:00:14.0 ; "
				     "0 0000:01:00.0 eno1; 0 0000:03:00.0 card0");
	CHECK_TEXT(devices_of(0, 1), "-1 0000:17:00.0 eth9");
	machine_close();
}

/* What items of a stack of Skylake-SP are called: their ports are all four, once. */
static void test_rest(void)
{
	struct unc_item item = {.size = sizeof(item)}, named = {.size = sizeof(named)};
	struct unc_session *s;
	unsigned ports = 0;
	int first = -1;
	size_t n = 0;

	begin(SKYLAKE);
	die(0, 0, "0000:00\n");
	die(1, 0, "0000:16\n");
	endpoint("pci0000:00/0000:00:04.0", "0x2021\n", NULL);
	chipset();
	bridge("pci0000:16/0000:16:1c.0");
	device("pci0000:16/0000:16:1c.0/0000:17:00.0", "0x020000\n", "net/eth9");
	machine_open();
	CHECK_NUMBER(unc_session_new(platform, UNC_SESSION_ROTATE, &s), 0);
	CHECK_NUMBER(
		unc_session_add_each(s, "pcie_write_bytes:socket=0", UNC_EACH_DEVICE, &first, &n),
		0);
	/* Of stack 1 no device has a known port; of the others not even the bus is known: a row each. */
	CHECK_NUMBER(n, 2 + 1 + 4);
	for (int i = first; i < first + 2; i++) {
		CHECK_NUMBER(unc_session_item(s, i, &item), 0);
		CHECK_NUMBER(item.at.index, 0);
		CHECK_NUMBER(ports & item.ports, 0);
		ports |= item.ports;
	}
	CHECK_NUMBER(ports, 0xf);
	CHECK_TEXT(item.name, "pcie_write_bytes:ports=0xe:unit=0:socket=0");
	CHECK_NUMBER(unc_item_find(platform, item.name, &named), 0);
	CHECK_NUMBER(named.ports, 0xe);
	CHECK_TEXT(named.name, item.name);
	CHECK_NUMBER(unc_session_item(s, first + 2, &item), 0);
	CHECK_TEXT(item.name, "pcie_write_bytes:unit=1:socket=0");
	CHECK_NUMBER(item.ports, 0);
	CHECK_NUMBER(unc_item_find(platform, "pcie_write_bytes:ports=0:socket=0", &named),
		     UNC_ERR_INVALID);
	CHECK_NUMBER(unc_item_find(platform, "pcie_write_bytes:port=1:ports=2", &named),
		     UNC_ERR_INVALID);
	CHECK_NUMBER(unc_item_find(platform,
				   "iio0.DATA_REQ_OF_CPU:MEM_WRITE.ALL_PARTS:ports=0x6:socket=0",
				   &named),
		     0);
	unc_session_free(s);
	machine_close();
}

/* Ice Lake-SP: DMI is port 0 of stack 5, CBDMA port 3; Emerald Rapids: port 7 of stack 7 (PCM). */
static void test_chipset_later(void)
{
	begin(ICELAKE);
	die(5, 0, "0000:00\n");
	endpoint("pci0000:00/0000:00:01.0", "0x0b00\n", "dma/dma0chan0");
	chipset();
	machine_open();
	CHECK_TEXT(devices_of(0, 5), "3 0000:00:01.0 dma0chan0; 0 0000:00:11.5 ; 0 0000:00:14.0 ; "
				     "0 0000:01:00.0 eno1; 0 0000:03:00.0 card0");
	machine_close();
	begin_sockets(EMERALD_RAPIDS, 1);
	list(0x00, on_socket_0);
	chipset();
	machine_open();
	CHECK_TEXT(devices_of(0, 7), "7 0000:00:11.5 ; 7 0000:00:14.0 ; 7 0000:01:00.0 eno1; "
				     "7 0000:03:00.0 card0");
	machine_close();
}

/* ---- a simulated machine, by its registers */

static void open_simulated(const char *spec)
{
	struct unc_options options = {.size = sizeof(options), .sim = spec};

	if (unc_platform_open(&options, &platform) < 0)
		printf("# %s\n", unc_open_error());
	CU_ASSERT_PTR_NOT_NULL_FATAL(platform);
}

/* What machine emerald-rapids-devices has: in turns, in the order of stacks. */
static void test_simulated(void)
{
	open_simulated("emerald-rapids-devices");
	CHECK_TEXT(devices_of(0, 1), "0 0000:0d:00.0 mlx5_0,eth0; 0 0000:0d:00.1 mlx5_1,eth1; "
				     "0 0000:0d:00.2 ; 4 0000:0e:00.0 nvme0");
	CHECK_TEXT(devices_of(0, 2), "0 0000:1b:00.0 card1; 0 0000:1c:00.0 card2; "
				     "4 0000:1d:00.0 nvme1");
	CHECK_TEXT(devices_of(0, 3), "0 0000:25:00.0 nvme2; 2 0000:26:00.0 nvme3; "
				     "4 0000:27:00.0 nvme4; 6 0000:28:00.0 nvme5");
	CHECK_TEXT(devices_of(0, 6), "0 10000:01:00.0 nvme6; 4 10000:02:00.0 nvme7");
	CHECK_TEXT(devices_of(0, 0), "0 0000:48:01.0 ; 0 0000:48:02.0 ; 4 0000:49:00.0 ; "
				     "5 0000:4b:00.0 ");
	unc_platform_close(platform);
	open_simulated("skylake-sp-devices");
	CHECK_TEXT(bus_of(0, 0), "0000:00");
	CHECK_TEXT(from_of(0, 2), "by registers");
	unc_platform_close(platform);
	open_simulated("emerald-rapids-devices,rights=perf");
	check_untold(0, 1,
		     "pci 0000:00:03.0 offset 0x1a0: configuration space ends at 64 bytes: "
		     "CAP_SYS_ADMIN is needed for more");
	unc_platform_close(platform);
	open_simulated("granite-rapids");
	check_untold(0, 1, "socket 0 has no PCI function 8086:09a6, which gives it");
	unc_platform_close(platform);
}

static char models[512];

static int tell_model(void *user, const struct unc_device *device)
{
	(void)user;
	size_t n = strlen(models);

	snprintf(models + n, sizeof(models) - n, "%s%s %s", n ? "; " : "", device->model,
		 device->function_of);
	return 0;
}

/* Names by lines as pci.ids has them; the function without a number of its own there has none. */
static void test_names(void)
{
	begin(SKYLAKE);
	die(1, 0, "0000:16\n");
	fake_text(fake_path(&root, "/usr/share/misc/pci.ids"),
		  "# a comment\n15b2  Another\n\t101d  Wrong\n15b3  Mellanox Technologies\n"
		  "\t101b  MT28908 Family [ConnectX-6]\n\t\t15b3 101d  Subsystem\n"
		  "\t101d  MT2892 Family [ConnectX-6 Dx]\n15b4  Another\n\t101e  Wrong\n");
	bridge("pci0000:16/0000:16:00.0");
	device("pci0000:16/0000:16:00.0/0000:17:00.0", "0x020000\n", "infiniband/mlx5_0");
	device("pci0000:16/0000:16:00.0/0000:17:00.1", "0x020000\n", NULL);
	fake_text(fake_path(&root, "/sys/bus/pci/devices/0000:17:00.1/device"), "0x101e\n");
	if (symlink("../0000:17:00.0",
		    fake_path(&root, "/sys/bus/pci/devices/0000:17:00.1/physfn")) < 0)
		fake_die("symlink");
	machine_open();
	*models = '\0';
	CHECK_NUMBER(unc_unit_devices(platform, unit("iio", 0, 1), tell_model, NULL), 0);
	CHECK_TEXT(models, "Mellanox Technologies MT2892 Family [ConnectX-6 Dx] ;  0000:17:00.0");
	CHECK_TEXT(devices_of(0, 1), "0 0000:17:00.0 mlx5_0; 0 0000:17:00.1 ");
	machine_close();
}

/* libpci would end the process at such a file. */
static void test_broken_names(void)
{
	begin(SKYLAKE);
	die(1, 0, "0000:16\n");
	fake_text(fake_path(&root, "/usr/share/misc/pci.ids"), "15b3  Mellanox\n\t101d\nx\n");
	bridge("pci0000:16/0000:16:00.0");
	device("pci0000:16/0000:16:00.0/0000:17:00.0", "0x020000\n", "infiniband/mlx5_0");
	device("pci0000:16/0000:16:00.0/0000:17:00.1", "0x020000\n", NULL);
	machine_open();
	*models = '\0';
	CHECK_NUMBER(unc_unit_devices(platform, unit("iio", 0, 1), tell_model, NULL), 0);
	CHECK_TEXT(models, " ;  ");
	machine_close();
}

static char links[512];

static int tell_link(void *user, const struct unc_device *device)
{
	size_t n = strlen(links);

	(void)user;
	snprintf(links + n, sizeof(links) - n, "%s%s %s %.0f", n ? "; " : "", device->address,
		 device->link, device->link_bytes);
	return 0;
}

static void negotiated(const char *port, const char *speed, const char *width)
{
	fake_text(fake_path(&root, "/sys/bus/pci/devices/%s/current_link_speed", port), speed);
	fake_text(fake_path(&root, "/sys/bus/pci/devices/%s/current_link_width", port), width);
}

/* The link of the root port, not of the device behind a switch. Bytes: PCI Express Base Specification, 32 GT/s x
 * 16 lanes x 128/130 / 8; 5 GT/s x 4 lanes x 8/10 / 8. The forms of the files: Linux pci-sysfs.c,
 * pci_speed_string(). */
static void test_links(void)
{
	begin(ICELAKE);
	die(0, 0, "0000:16\n");
	bridge("pci0000:16/0000:16:02.0");
	negotiated("0000:16:02.0", "32.0 GT/s PCIe\n", "16\n");
	bridge("pci0000:16/0000:16:02.0/0000:17:00.0");
	negotiated("0000:17:00.0", "8.0 GT/s PCIe\n", "8\n");
	device("pci0000:16/0000:16:02.0/0000:17:00.0/0000:18:00.0", "0x030200\n", NULL);
	bridge("pci0000:16/0000:16:03.0");
	negotiated("0000:16:03.0", "5.0 GT/s PCIe\n", "4\n");
	device("pci0000:16/0000:16:03.0/0000:19:00.0", "0x010802\n", "nvme/nvme0");
	bridge("pci0000:16/0000:16:04.0");
	negotiated("0000:16:04.0", "Unknown\n", "0\n");
	device("pci0000:16/0000:16:04.0/0000:20:00.0", "0x010802\n", "nvme/nvme1");
	bridge("pci0000:16/0000:16:05.0");
	device("pci0000:16/0000:16:05.0/0000:21:00.0", "0x010802\n", "nvme/nvme2");
	die(5, 0, "0000:00\n"); /* the chipset: its own links are not that of the DMI port */
	bridge("pci0000:00/0000:00:1c.0");
	negotiated("0000:00:1c.0", "8.0 GT/s PCIe\n", "1\n");
	device("pci0000:00/0000:00:1c.0/0000:02:00.0", "0x010802\n", "nvme/nvme3");
	machine_open();
	*links = '\0';
	CHECK_NUMBER(unc_unit_devices(platform, unit("iio", 0, 5), tell_link, NULL), 0);
	CHECK_TEXT(links, "0000:02:00.0  0");
	*links = '\0';
	CHECK_NUMBER(unc_unit_devices(platform, unit("iio", 0, 0), tell_link, NULL), 0);
	CHECK_TEXT(links, "0000:18:00.0 gen5 x16 63015384615; 0000:19:00.0 gen2 x4 2000000000; "
			  "0000:20:00.0  0; 0000:21:00.0  0");
	machine_close();
}

static void test_icelake(void)
{
	begin(ICELAKE);
	die(0, 0, "0000:16\n");
	die(2, 0, "0000:00\n");
	die(5, 0, "0000:00\n");
	bridge("pci0000:16/0000:16:02.0");
	device("pci0000:16/0000:16:02.0/0000:17:00.0", "0x010802\n", "nvme/nvme0");
	bridge("pci0000:16/0000:16:05.0");
	device("pci0000:16/0000:16:05.0/0000:19:00.0", "0x010802\n", "nvme/nvme1");
	machine_open();
	CHECK_TEXT(devices_of(0, 0), "0 0000:17:00.0 nvme0; 3 0000:19:00.0 nvme1");
	CHECK_TEXT(bus_of(0, 2), "the kernel knows of no root bus of the stack");
	CHECK_TEXT(bus_of(0, 5), "0000:00");
	machine_close();
}

static void test_snow_ridge(void)
{
	begin(SNOW_RIDGE);
	die(0, 0, "0000:00\n");
	die(1, 0, "0000:00\n");
	die(4, 0, "0000:14\n");
	/* The chipset's ports, which are on bus 0, are below DMI (PCM: port 4). */
	bridge("pci0000:00/0000:00:1c.0");
	device("pci0000:00/0000:00:1c.0/0000:02:00.0", "0x010802\n", "nvme/nvme0");
	bridge("pci0000:14/0000:14:04.0");
	device("pci0000:14/0000:14:04.0/0000:15:00.0", "0x020000\n", "net/eth0");
	bridge("pci0000:14/0000:14:07.0");
	device("pci0000:14/0000:14:07.0/0000:18:00.0", "0x010802\n", "nvme/nvme1");
	machine_open();
	CHECK_TEXT(bus_of(0, 0), "the kernel knows of no root bus of the stack");
	CHECK_TEXT(bus_of(0, 1), "0000:00");
	CHECK_TEXT(devices_of(0, 1), "4 0000:02:00.0 nvme0");
	CHECK_TEXT(devices_of(0, 4), "4 0000:15:00.0 eth0; 7 0000:18:00.0 nvme1");
	machine_close();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"root buses of stacks", test_buses},
		{"devices, by the ports that they are below", test_devices},
		{"Ice Lake-SP", test_icelake},
		{"Snow Ridge", test_snow_ridge},
		{"names of models, virtual functions", test_names},
		{"a broken pci.ids", test_broken_names},
		{"links of root ports", test_links},
		{"a simulated machine", test_simulated},
		{"by an MSR", test_msr},
		{"by bytes beside the UBox", test_bytes},
		{"by a list", test_list},
		{"kinds of Sapphire Rapids", test_chops},
		{"two units of one bus; a model that no map is of", test_flexible},
		{"devices of the CPU itself, and bifurcation", test_endpoints},
		{"the chipset's devices: Skylake-SP", test_chipset_skylake},
		{"items of a stack have all of its ports", test_rest},
		{"the chipset's devices: Ice Lake-SP, Emerald Rapids", test_chipset_later},
		{0},
	};

	return suite_run("stacks", tests);
}
