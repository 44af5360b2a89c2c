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

static size_t sent_of(const char *type, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < host.n_sent; i++)
		n += strcmp(host.sent[i].type, type) == 0 &&
		     strcmp(host.sent[i].type_instance, name) == 0;
	return n;
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
	CHECK_NUMBER(self.n_labels, 0);
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
	static const char *const names[] = {"mlx5_0", "eth0", "mlx5_1", "eth1", "0000-0d-00-2"};
	const value_list_t *vl;
	char text[128];

	begin_with("PerDevice true", "Metric pcie_write_bytes pcie_read_bytes");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), CARD "gauge-device_%s", names[i]);
		CU_ASSERT(value_of(text).gauge == 1);
		snprintf(text, sizeof(text), "device_%s", names[i]);
		CHECK_NUMBER(sent_of("gauge", text), 1); /* not for each metric */
	}
	vl = find(CARD "total_bytes-pcie_write_bytes");
	CU_ASSERT_PTR_NOT_NULL_FATAL(vl);
	CU_ASSERT_PTR_NOT_NULL_FATAL(vl->meta);
	CHECK_TEXT(vl->meta->key, "device");
	CHECK_TEXT(vl->meta->value, "mlx5_0 eth0 mlx5_1 eth1 0000:0d:00.2");
	end();
}

/* Looked up once a minute; a device that is another one is a line, and the series stays. */
static void test_change(void)
{
	unsigned stacks;

	begin_with("PerDevice true", "Metric pcie_write_bytes:device=nvme0");
	stacks = script.looks;
	CHECK_NUMBER(stacks, 1); /* it is the only stack with a series */
	script.devices = "nvme9,nvme9";
	for (int i = 0; i < 4; i++)
		read_slowly();
	CHECK_NUMBER(script.looks, stacks);
	value_of("simulated-socket0-iio1-port4/gauge-device_nvme0");
	read_slowly();
	CHECK_NUMBER(script.looks, 2 * stacks);
	CU_ASSERT(
		logged("[notice] intel_uncore plugin: simulated-socket0-iio1-port4: other devices "
		       "are below it: now nvme9\n"));
	CU_ASSERT_PTR_NULL(find("simulated-socket0-iio1-port4/gauge-device_nvme0"));
	CHECK_NUMBER(sent_of("gauge", "device_nvme9"), 1);
	CHECK_TEXT(find("simulated-socket0-iio1-port4" WRITTEN)->meta->value, "nvme9");
	end();
}

/* One line for all of them. A look that fails changes nothing. */
static void test_changes(void)
{
	const char *said;

	begin_with("PerDevice true", "Metric pcie_write_bytes");
	script.devices = "gone";
	script.devices_error = UNC_ERR_IO;
	for (int i = 0; i < 6; i++)
		read_slowly();
	value_of(CARD "gauge-device_eth1");
	CU_ASSERT_PTR_NULL(strstr(host.log, "other devices"));
	script.devices_error = 0;
	for (int i = 0; i < 6; i++)
		read_slowly();
	said = strstr(host.log, "other devices");
	CU_ASSERT(logged(" more): other devices are below it: now gone\n"));
	CU_ASSERT(said && !strstr(said + 1, "other devices"));
	end();
}

/* The machine is looked at anew: what has changed since is told. */
static void test_reopened(void)
{
	begin_with("PerDevice true", "Metric pcie_write_bytes:device=nvme0");
	intel_uncore_reopen();
	CU_ASSERT_PTR_NULL(strstr(host.log, "other devices"));
	script.devices = "other";
	intel_uncore_reopen();
	CU_ASSERT(logged("simulated-socket0-iio1-port4: other devices are below it: now other\n"));
	CHECK_NUMBER(intel_uncore_start(), 0);
	read_slowly();
	CHECK_TEXT(find("simulated-socket0-iio1-port4" WRITTEN)->meta->value, "other");
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
		{"labels: a gauge for each name, metadata", test_labels},
		{"another device: one line, in a minute", test_change},
		{"many at once; a look that fails", test_changes},
		{"another device after a look at all units", test_reopened},
		{NULL, NULL},
	};

	return suite_run("collectd by device", tests);
}
