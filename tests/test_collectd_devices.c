/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectd plugin by the ports of PCIe stacks: a series is of the port, and the devices below are
 * its label. Devices and ports are those of machine emerald-rapids-devices, shares of them workload.tbl's.
 */
#include "collectd_kit.h"

#define MACHINE "Simulate emerald-rapids-devices,clock=step"
#define CARD "simulated-socket0-iio1-port0/" /* a card of two functions, and a virtual one */
#define DRIVES "simulated-socket0-iio3-port"
#define STACK "simulated-socket0-iio3"
#define WRITTEN "/total_bytes-pcie_write_bytes"

static void begin_with(const char *first, const char *second)
{
	begin();
	configure(MACHINE, first, second, NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(errors(), 0);
	read_slowly();
}

/* ---- tests: series */

static void test_ports(void)
{
	begin_with("PerDevice true", "Metric pcie_write_bytes llc_misses");
	value_of(DRIVES "0" WRITTEN);
	value_of(DRIVES "6" WRITTEN);
	value_of(
		"simulated-socket0-iio0-port0-1-2" WRITTEN); /* an accelerator's traffic is in three */
	CU_ASSERT_PTR_NULL(find(DRIVES "1" WRITTEN));        /* nothing is below */
	value_of("simulated-socket0" WRITTEN);               /* the sum stays */
	value_of("simulated-socket0/total_events-llc_misses");
	value_of("simulated-socket1/total_events-llc_misses");
	end();
}

/* By workload.tbl the first port has six tenths of a stack's bytes, and the third has the rest. */
static void test_shares(void)
{
	double stack;

	begin();
	configure(MACHINE, "Metric pcie_write_bytes", "PerDevice true", "<Cpu emerald-rapids",
		  "Metric pcie_write_bytes:unit=3", "PerDevice false", NULL);
	CHECK_NUMBER(host.init(), 0);
	for (int i = 0; i < 2; i++)
		read_slowly();
	stack = (double)value_of("simulated-socket0-iio3" WRITTEN).derive;
	CU_ASSERT(stack > 0);
	CU_ASSERT(fabs((double)value_of(DRIVES "0" WRITTEN).derive / stack - 0.6) < 0.001);
	CU_ASSERT(fabs((double)value_of(DRIVES "4" WRITTEN).derive / stack - 0.4) < 0.001);
	CHECK_NUMBER(value_of(DRIVES "2" WRITTEN).derive, 0);
	CHECK_NUMBER(value_of(DRIVES "6" WRITTEN).derive, 0);
	end();
}

/* A device or a port that the configuration names is that place, and no part of the name. */
static void test_named(void)
{
	begin_with("Metric pcie_write_bytes:device=nvme4 pcie_write_bytes:port=2:unit=3",
		   "Event iio.DATA_REQ_OF_CPU:MEM_READ.ALL_PARTS:device=mlx5_1");
	value_of(DRIVES "4" WRITTEN);
	value_of(DRIVES "2" WRITTEN);
	value_of("simulated-socket1-iio3-port2" WRITTEN);
	value_of(CARD "total_events-iio-DATA_REQ_OF_CPU-MEM_READ-ALL_PARTS");
	CHECK_NUMBER(self.n_items, 4);
	end();
}

static void test_node_sums(void)
{
	begin_with("PerDevice true", "Metric pcie_write_bytes pcie_read_bytes:port=0");
	CU_ASSERT_PTR_NULL(find("simulated-node" WRITTEN));
	end();
	begin();
	configure(MACHINE, "PerDevice true", "NodeSums true",
		  "Metric pcie_write_bytes pcie_read_bytes:port=0", NULL);
	CHECK_NUMBER(host.init(), 0);
	read_slowly();
	value_of("simulated-node" WRITTEN);
	value_of("simulated-socket1-port0/total_bytes-pcie_read_bytes"); /* of all its stacks */
	CU_ASSERT_PTR_NULL(find("simulated-node-port0/total_bytes-pcie_read_bytes"));
	end();
}

/* What does not tell ports apart is as without the option; that of a block is as outside. */
static void test_places(void)
{
	begin();
	configure(MACHINE, "PerDevice true", "PerUnit true", "<Cpu emerald-rapids",
		  "Event iio.CLOCKTICKS", "PerUnit false", "Metric pcie_write_bytes", "/",
		  "Event upi.CLOCKTICKS", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(errors(), 0);
	read_slowly();
	value_of("simulated-socket0/total_events-iio-CLOCKTICKS");
	value_of("simulated-socket0-upi1/total_events-upi-CLOCKTICKS");
	value_of(DRIVES "0" WRITTEN);
	end();
	begin();
	configure(MACHINE, "PerDevice true", "<Cpu emerald-rapids", "PerDevice false",
		  "Metric pcie_write_bytes", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(self.n_items, 2);
	CU_ASSERT_PTR_NULL(self.items[0].label);
	end();
}

/* Without a root bus: one series a stack, and a line that says why there are no labels. */
static void test_unknown(void)
{
	const char *said;

	begin();
	configure("Simulate emerald-rapids,sockets=1,clock=step", "PerDevice true",
		  "Metric pcie_write_bytes", NULL);
	CHECK_NUMBER(host.init(), 0);
	CHECK_NUMBER(errors(), 0);
	CU_ASSERT(
		logged("[info] intel_uncore plugin: it is not known what is below iio0 (socket 0): "
		       "the kernel does not tell which root bus the stack has"));
	for (int i = 0; i < 8; i++)
		read_slowly();
	said = strstr(host.log, "it is not known");
	CU_ASSERT_PTR_NOT_NULL_FATAL(said);
	CU_ASSERT_PTR_NULL(strstr(said + 1, "it is not known"));
	value_of(STACK WRITTEN);
	CU_ASSERT_PTR_NULL(find(STACK WRITTEN)->meta);
	CU_ASSERT_PTR_NULL(find(DRIVES "0" WRITTEN));
	CHECK_NUMBER(host.n_sent, self.n_items);
	end();
}

/* ---- tests: labels */

static void test_labels(void)
{
	const value_list_t *vl;

	begin_with("PerDevice true", "Metric pcie_write_bytes pcie_read_bytes");
	vl = find(CARD "total_bytes-pcie_write_bytes");
	CU_ASSERT_PTR_NOT_NULL_FATAL(vl);
	CU_ASSERT_PTR_NOT_NULL_FATAL(vl->meta);
	CHECK_TEXT(vl->meta->key, "device");
	CHECK_TEXT(vl->meta->value, "mlx5_0 eth0 mlx5_1 eth1 0000:0d:00.2");
	CHECK_TEXT(find(CARD "total_bytes-pcie_read_bytes")->meta->value, vl->meta->value);
	CU_ASSERT_PTR_NULL(find("simulated-socket0" WRITTEN)->meta);
	end();
}

/* One line for all of the same time; the series stay. */
static void test_change(void)
{
	begin_with("PerDevice true", "Metric pcie_write_bytes:device=nvme0");
	CHECK_TEXT(find("simulated-socket0-iio1-port4" WRITTEN)->meta->value, "nvme0");
	script.devices = "nvme9";
	read_slowly();
	CU_ASSERT(logged("[notice] intel_uncore plugin: simulated-socket0-iio1-port4: the devices "
			 "below it have changed: now nvme9\n"));
	CHECK_TEXT(find("simulated-socket0-iio1-port4" WRITTEN)->meta->value, "nvme9");
	script.devices = "";
	read_slowly();
	CU_ASSERT(logged("port4: the devices below it have changed: now none\n"));
	CU_ASSERT_PTR_NULL(find("simulated-socket0-iio1-port4" WRITTEN)->meta);
	end();
	begin_with("Metric pcie_write_bytes:port=1:unit=3:socket=0", NULL);
	CU_ASSERT_PTR_NULL(self.items[0].vl.meta);
	script.devices = "nvme9"; /* where nothing was */
	read_slowly();
	CU_ASSERT(logged("iio3-port1: the devices below it have changed: now nvme9\n"));
	end();
}

static void test_changes(void)
{
	const char *said;

	begin_with("PerDevice true", "Metric pcie_write_bytes pcie_read_bytes");
	script.devices = "gone";
	read_slowly();
	said = strstr(host.log, "devices below it have changed");
	CU_ASSERT(logged(" more): the devices below it have changed: now gone\n"));
	CU_ASSERT(said && !strstr(said + 1, "devices below it have changed"));
	end();
}

/* A file for who draws them: each place once, written anew where something has changed. */
static void test_map(void)
{
	char folder[] = "/tmp/collectd-map-XXXXXX", path[64], line[96], text[4096] = "";
	FILE *f;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/map", folder);
	snprintf(line, sizeof(line), "DeviceMap %s", path);
	begin();
	configure(MACHINE, "PerDevice true", "Metric pcie_write_bytes pcie_read_bytes", line, NULL);
	CHECK_NUMBER(host.init(), 0);
	f = fopen(path, "r");
	CU_ASSERT_FATAL(f && fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	CU_ASSERT_PTR_NOT_NULL_FATAL(
		strstr(text, "\"simulated-socket0-iio1-port0\": \"mlx5_0 eth0 mlx5_1 eth1 "
			     "0000:0d:00.2\",\n"));
	CU_ASSERT(text[0] == '{' && strcmp(text + strlen(text) - 2, "}\n") == 0);
	CU_ASSERT_PTR_NULL(
		strstr(strstr(text, "socket0-iio1-port0\"") + 1, "socket0-iio1-port0\""));
	script.devices = "nvme9\"\\";
	read_slowly();
	f = fopen(path, "r");
	CU_ASSERT_FATAL(f && fgets(text, sizeof(text), f) && fgets(text, sizeof(text), f));
	fclose(f);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\": \"nvme9\\u0022\\u005c\""));
	CHECK_NUMBER(remove(path), 0);
	CHECK_NUMBER(rmdir(folder), 0);
	script.devices = "nvme8";
	read_slowly();
	CU_ASSERT(logged("map cannot be written: No such file or directory\n"));
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"a series for each port with a device", test_ports},
		{"the shares of the ports", test_shares},
		{"a device, a port that is named", test_named},
		{"sums over the node", test_node_sums},
		{"what has no ports; blocks of CPUs", test_places},
		{"stacks whose bus is not known", test_unknown},
		{"labels: metadata", test_labels},
		{"another device: a line", test_change},
		{"many at once: one line", test_changes},
		{"a file of places and devices", test_map},
		{NULL, NULL},
	};

	return suite_run("collectd by device", tests);
}
