/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Energy by a made-up PMU power. Scale: 2^-32 joules, as Linux arch/x86/events/rapl.c writes it; codes: pkg 2,
 * ram 3. Its cpumask has one CPU a package, or since Linux 7.2 all of them, which give the same: drivers/powercap/
 * intel_rapl_common.c.
 */
#include <errno.h>
#include <math.h>

#include "fake_root.h"
#include "host/cpu.h"
#include "host/energy.h"
#include "host/events.h"
#include "host/fs.h"
#include "suite.h"

#define JOULE ((uint64_t)1 << 32)

static struct fake_root root;
static struct unc_topology top;
static const char *mask = "0,2";
static uint64_t count, enabled;
static int opened_cpu, refused;
static uint64_t opened_config;

static int find(struct unc_machine *machine, const char *pmu, uint32_t *type, char *text,
		size_t size)
{
	(void)machine;
	CHECK_TEXT(pmu, "power");
	*type = 30;
	snprintf(text, size, "%s", mask);
	return 0;
}

static int open_event(struct unc_machine *machine, const struct perf_event_attr *attr, int cpu,
		      int group)
{
	(void)machine;
	CHECK_NUMBER(group, -1);
	opened_cpu = cpu;
	opened_config = attr->config;
	errno = refused;
	return refused ? -1 : 7;
}

static int enable(struct unc_machine *machine, int fd)
{
	(void)machine;
	return fd == 7 ? 0 : -1;
}

static long read_event(struct unc_machine *machine, int fd, void *buf, size_t size)
{
	uint64_t r[4] = {1, ++enabled, enabled, count};

	(void)machine;
	CHECK_NUMBER(fd, 7);
	CHECK_NUMBER(size, sizeof(r));
	memcpy(buf, r, sizeof(r));
	return (long)sizeof(r);
}

static void close_event(struct unc_machine *machine, int fd)
{
	(void)machine;
	CHECK_NUMBER(fd, 7);
}

static void now(const struct unc_machine *machine, uint64_t *ns, uint64_t *tsc)
{
	(void)machine;
	(void)tsc;
	*ns = enabled * 1000;
}

static const struct unc_machine_events events = {.find = find,
						 .open = open_event,
						 .enable = enable,
						 .read = read_event,
						 .close = close_event};
static const struct unc_machine_methods methods = {.now = now};
static struct unc_machine machine = {.methods = &methods, .events = &events};

static void domain(const char *name, const char *config)
{
	static const char folder[] = "/sys/bus/event_source/devices/power/events";

	fake_text(fake_path(&root, "%s/energy-%s", folder, name), config);
	fake_text(fake_path(&root, "%s/energy-%s.scale", folder, name),
		  "2.3283064365386962890625e-10\n");
	fake_text(fake_path(&root, "%s/energy-%s.unit", folder, name), "Joules\n");
}

/* Two sockets of two CPUs: 0 and 1, 2 and 3. */
static void begin(void)
{
	struct unc_error err;

	fake_new(&root);
	CU_ASSERT_FATAL(unc_fs_open(root.path, &machine.fs, &err) == 0);
	top = (struct unc_topology){.n_sockets = 2};
	for (int cpu = 0; cpu < 4; cpu++)
		top.cpu_socket[cpu] = (uint8_t)(1 + cpu / 2);
	domain("pkg", "event=0x02\n");
	count = enabled = 0;
	refused = 0;
}

static void end(void)
{
	unc_fs_close(machine.fs);
	fake_free(&root);
}

static struct unc_energy opened(int socket, enum unc_energy_domain of, int rc)
{
	struct unc_energy energy = {.fd = -1};
	struct unc_error err;

	CHECK_NUMBER(unc_energy_open(&machine, &top, socket, of, &energy, &err), rc);
	return energy;
}

/* One CPU of each package is asked, whatever the mask has. */
static void test_masks(void)
{
	static const struct {
		const char *mask;
		int cpu[2];
	} rows[] = {{"0,2", {0, 2}}, {"1,3", {1, 3}}, {"0-3", {0, 2}}, {"3,0", {0, 3}}};

	begin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int socket = 0; socket < 2; socket++) {
			mask = rows[i].mask;
			struct unc_energy energy = opened(socket, UNC_ENERGY_PACKAGE, 0);

			CHECK_NUMBER(opened_cpu, rows[i].cpu[socket]);
			CHECK_NUMBER(opened_config, 2);
			unc_energy_close(&machine, &energy);
		}
	mask = "0";
	opened(1, UNC_ENERGY_PACKAGE, UNC_ERR_UNAVAILABLE);
	mask = "0,2";
	end();
}

static void test_missing(void)
{
	begin();
	opened(0, UNC_ENERGY_DRAM, UNC_ERR_UNAVAILABLE);
	domain("ram", "event=0x03\n");
	struct unc_energy energy = opened(0, UNC_ENERGY_DRAM, 0);

	CHECK_NUMBER(opened_config, 3);
	unc_energy_close(&machine, &energy);
	refused = EACCES;
	opened(0, UNC_ENERGY_DRAM, UNC_ERR_PERMISSION);
	end();
}

/* Its 64 bits of 2^-32 J are full after 4.3e9 J: 50 days at 1 kW. */
static void test_wrap(void)
{
	begin();
	struct unc_energy energy = opened(0, UNC_ENERGY_PACKAGE, 0);

	count = 5 * JOULE;
	unc_energy_read(&machine, &energy);
	CHECK_NUMBER(energy.joules, 5);
	count = UINT64_MAX - 2 * JOULE + 1;
	unc_energy_read(&machine, &energy);
	double before = energy.joules;
	count = 3 * JOULE;
	unc_energy_read(&machine, &energy);
	CHECK_NUMBER(energy.error, 0);
	CU_ASSERT(fabs(energy.joules - before - 5) < 1e-5);
	unc_energy_close(&machine, &energy);
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"one CPU of each package", test_masks},
		{"a domain that is missing, a right that is", test_missing},
		{"a count that goes round", test_wrap},
		{NULL, NULL},
	};

	return suite_run("energy", tests);
}
