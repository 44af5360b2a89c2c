/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCIe stacks: buses as the kernel's driver tells them, devices by links of the shape that Linux has.
 * Which root port is which port: PCM's rules (Skylake-SP: its device number, Ice Lake-SP: less 2);
 * Snow Ridge: root port A, 8086:334a, is device 4 (Linux snr_uncore_pci_sub_ids) and port 4 (PCM).
 * 0000:00 of a unit that is nowhere: Linux 6.12 pmu_iio_mapping_visible(), skx_iio_mapping_show().
 */
#include <stdbool.h>
#include <unistd.h>

#include "discover_cpu.h"

enum { SKYLAKE = 0x55, ICELAKE = 0x6A, SNOW_RIDGE = 0x86 };

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

static void begin(unsigned model)
{
	fake_new(&root);
	fake_cpuinfo(model, 4, 2);
	for (unsigned s = 0; s < 2; s++)
		fake_size(fake_path(&root, "/dev/cpu/%u/msr", s), 0x10000);
	for (int iio = 0; iio < 6; iio++)
		fake_text(fake_path(&root, "/sys/bus/event_source/devices/uncore_iio_%d/type", iio),
			  "20\n");
}

static const char *bus_of(int socket, int iio)
{
	static char bus[UNC_BUS_MAX];
	const struct unc_unit *u = unit("iio", socket, iio);

	CU_ASSERT_PTR_NOT_NULL_FATAL(u);
	return unc_unit_bus(platform, u, bus) == 0 ? bus : unc_platform_error(platform);
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
	char bus[UNC_BUS_MAX];

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
	CHECK_TEXT(bus_of(0, 4), "the kernel does not tell which root bus the stack has");
	CHECK_NUMBER(unc_unit_bus(platform, unit("pcu", 0, 0), bus), UNC_ERR_NOT_FOUND);
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
	/* Of the chipset's ports, which are on bus 0, none is one of the stack. */
	bridge("pci0000:00/0000:00:1c.0");
	device("pci0000:00/0000:00:1c.0/0000:02:00.0", "0x010802\n", "nvme/nvme0");
	bridge("pci0000:14/0000:14:04.0");
	device("pci0000:14/0000:14:04.0/0000:15:00.0", "0x020000\n", "net/eth0");
	bridge("pci0000:14/0000:14:07.0");
	device("pci0000:14/0000:14:07.0/0000:18:00.0", "0x010802\n", "nvme/nvme1");
	machine_open();
	CHECK_TEXT(bus_of(0, 0), "the kernel knows of no root bus of the stack");
	CHECK_TEXT(bus_of(0, 1), "0000:00");
	CHECK_TEXT(devices_of(0, 1), "-1 0000:02:00.0 nvme0");
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
		{0},
	};

	return suite_run("stacks", tests);
}
