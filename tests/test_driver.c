/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of the kernel's driver. What the driver does was measured on a kernel 6.1 with these
 * CPUs (register writes traced, clock stopped); registers: Intel 329468-002 (Ivy Bridge-EP),
 * 323535-001 (Nehalem-EP), 817509-001 (Emerald Rapids).
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "built.h"
#include "access/kernel.h"
#include "host/cpu.h"
#include "machine/simulator.h"
#include "sim_units.h"
#include "suite.h"

static const uint64_t ms = 1000000;

static struct unc_machine *machine;
static struct unc_sim *sim;
static struct unc_access *gate;
static struct unc_error err;

/* Registers of CBo 0 of Ivy Bridge-EP, by number. */
enum { BOX = 0xd04, CTL = 0xd10, FILTER0 = 0xd14, CTR = 0xd16, FILTER1 = 0xd1a };
enum { EN = 0x400000, CPUS = 12 }; /* CPUs of a socket */

static void begin(const char *spec)
{
	size_t n;
	const struct unc_table *const *tables = built_tables(&n);

	memset(&err, 0, sizeof(err));
	CU_ASSERT_EQUAL_FATAL(unc_machine_simulated(spec, "node", tables, n, &machine, &err), 0);
	sim = unc_machine_sim(machine);
	CU_ASSERT_EQUAL_FATAL(sim_units(sim, &err), 0);
	CU_ASSERT_EQUAL_FATAL(unc_access_open(machine, NULL, &gate, &err), 0);
}

static void end(void)
{
	char last[160] = "";

	CHECK_NUMBER(unc_sim_violations(sim, last, sizeof(last)), 0);
	CHECK_TEXT(last, "");
	unc_access_close(gate);
	unc_machine_close(machine);
}

static void *reg(unsigned number, unsigned cpu)
{
	for (uint8_t width = 32; width <= 64; width += 32) {
		void *found =
			unc_sim_find(sim, &(struct unc_reg){number, cpu, UNC_SPACE_MSR, width, 0});

		if (found)
			return found;
	}
	CU_FAIL_FATAL("no such register");
	return NULL;
}

static uint64_t get(unsigned number)
{
	return unc_sim_read(sim, reg(number, 0));
}

static void put(unsigned number, uint64_t value)
{
	unc_sim_write(sim, reg(number, 0), value);
}

/* ---- the kernel's side */

static uint32_t type_of(const char *pmu)
{
	uint32_t type = 0;
	char mask[64];

	CHECK_NUMBER(machine->events->find(machine, pmu, &type, mask, sizeof(mask)), 0);
	return type;
}

static struct perf_event_attr attr_of(const char *pmu, uint64_t config)
{
	return (struct perf_event_attr){.type = type_of(pmu),
					.size = sizeof(struct perf_event_attr),
					.config = config,
					.read_format = PERF_FORMAT_GROUP |
						       PERF_FORMAT_TOTAL_TIME_ENABLED |
						       PERF_FORMAT_TOTAL_TIME_RUNNING};
}

/* The descriptor, or -errno. */
static int open_attr(struct perf_event_attr attr, int cpu, int group)
{
	int fd = machine->events->open(machine, &attr, cpu, group);

	return fd < 0 ? -errno : fd;
}

static int open_cbo(uint64_t config, int group)
{
	return open_attr(attr_of("uncore_cbox_0", config), 0, group);
}

static void shut(int fd)
{
	machine->events->close(machine, fd);
}

/* The count of a group's leader. */
static uint64_t count_of(int fd)
{
	uint64_t data[12];

	CU_ASSERT(machine->events->read(machine, fd, data, sizeof(data)) >= 32);
	return data[3];
}

/* ---- tests */

static void test_pmus(void)
{
	static const struct {
		const char *spec, *pmu, *mask;
	} rows[] = {
		{"ivybridge-ep,kernel=on", "uncore_cbox_11", "0,12"},
		{"ivybridge-ep,kernel=on", "uncore_ubox", "0,12"},
		{"ivybridge-ep,kernel=on", "uncore_cbox_12", NULL},
		{"ivybridge-ep,kernel=on", "uncore_irp", NULL},
		{"ivybridge-ep-no-ha1,kernel=on", "uncore_ha_1", NULL},
		{"ivybridge-ep-no-ha1@1,kernel=on", "uncore_ha_1", "0,12"},
		{"nehalem-ep,kernel=on", "uncore", "0,8"},
		{"emerald-rapids,kernel=on,sockets=1", "uncore_imc_free_running_3", "0"},
		{"emerald-rapids,kernel=on,sockets=1", "uncore_imc_free_running_4", NULL},
		{"montecito,kernel=on", "uncore", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t type = 0;
		char mask[64] = "";

		begin(rows[i].spec);
		CHECK_NUMBER(machine->events->find(machine, rows[i].pmu, &type, mask, sizeof(mask)),
			     rows[i].mask ? 0 : ENOENT);
		CHECK_TEXT(mask, rows[i].mask ? rows[i].mask : "");
		CU_ASSERT(!rows[i].mask == (type < PERF_TYPE_MAX));
		end();
	}
	begin("ivybridge-ep");
	CU_ASSERT(machine->events == NULL);
	CU_ASSERT(!unc_kernel_chosen(gate));
	end();
}

/* The lowest counter that fits; whoever counts there already is overwritten. */
static void test_counters(void)
{
	int a, b, c;

	begin("ivybridge-ep,clock=step,kernel=on");
	put(CTL, EN | 0x135);
	a = open_cbo(0x1134, -1); /* LLC_LOOKUP: counters 0, 1 */
	CHECK_NUMBER(get(CTL), EN | 0x1134);
	b = open_cbo(0, -1); /* clocks, on any */
	CHECK_NUMBER(get(CTL + 1), EN);
	c = open_cbo(0x3a, -1); /* RING_IV_USED is on 2 and 3: the next free is 2 */
	CHECK_NUMBER(c < 0, 0);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(count_of(b), get(CTR + 1));
	CU_ASSERT(count_of(b) > 0);
	/* Stopped: the control without enable, the counter as it is. */
	uint64_t left = get(CTR);
	CU_ASSERT(left > 0);
	shut(a);
	CHECK_NUMBER(get(CTL), 0x1134);
	CHECK_NUMBER(get(CTR), left);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(get(CTR), left);
	/* Another starts there, at 0 of its own. */
	a = open_cbo(0, -1);
	CHECK_NUMBER(get(CTL), EN);
	CHECK_NUMBER(count_of(a), 0);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(count_of(a), get(CTR) - left);
	shut(a);
	shut(b);
	shut(c);
	for (unsigned i = 0; i < 4; i++)
		CU_ASSERT(!(get(CTL + i) & EN));
	end();
}

/* The same event by both methods, on two counters of one unit; a unit left frozen is let go. */
static void test_beside(void)
{
	begin("ivybridge-ep,clock=step,kernel=on");
	put(BOX, 0x100);
	put(CTL + 3, EN | 0x40135);
	int fd = open_cbo(0x40135, -1);
	uint64_t before = get(CTR + 3);
	for (unsigned i = 1; i <= 5; i++) {
		unc_sim_step(sim, 7 * ms);
		CHECK_NUMBER(count_of(fd), get(CTR + 3) - before);
	}
	CU_ASSERT(count_of(fd) > 0);
	shut(fd);
	CHECK_NUMBER(get(CTL + 3), EN | 0x40135);
	end();
}

/* What does not arrive: bits of the control, filters of events that are not on the driver's list. */
static void test_carried(void)
{
	static const struct {
		uint64_t config, config1, ctl, filter0, filter1;
	} rows[] = {
		/* FILTER0 holds 0x1f, FILTER1 0xffff before. */
		{0x0080f034, 0, EN | 0xf034, 0x1f, 0xffff},        /* inv: dropped */
		{0xff00000000000334, 0, EN | 0x334, 0x1f, 0xffff}, /* state 0 is written */
		{0x334, 0xffffffffffffffff, EN | 0x334, 0x7e001f, 0xffff},
		{0x4134, 0x0000123400040000, EN | 0x4134, 0x04001f, 0x1234},
		{0x4135, 0x1820567800000000, EN | 0x4135, 0x1f, 0x18205678},
		{0x135, 0x1820567800000000, EN | 0x135, 0x1f, 0x1820ffff},
		{0x2034, 0xffffffffffffffff, EN | 0x2034, 0x1f, 0xffff},
		{0x80334, 0x60000, EN | 0x80334, 0x60000, 0xffff}, /* tid 0 */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perf_event_attr attr;

		begin("ivybridge-ep,clock=step,kernel=on");
		put(FILTER0, 0x1f);
		put(FILTER1, 0xffff);
		attr = attr_of("uncore_cbox_0", rows[i].config);
		attr.config1 = rows[i].config1;
		int fd = open_attr(attr, 0, -1);
		CHECK_NUMBER(get(CTL), rows[i].ctl);
		CHECK_NUMBER(get(FILTER0), rows[i].filter0);
		CHECK_NUMBER(get(FILTER1), rows[i].filter1);
		shut(fd);
		CHECK_NUMBER(get(FILTER1), rows[i].filter1);
		end();
	}
}

static void test_refused(void)
{
	struct perf_event_attr attr;
	int fd, more;

	begin("ivybridge-ep,clock=step,kernel=on");
	fd = open_cbo(0, -1);
	CHECK_NUMBER(-open_attr(attr_of("uncore_cbox_1", 0), 0, fd), EINVAL);
	CHECK_NUMBER(-open_attr(attr_of("uncore_cbox_0", 0), CPUS, fd), EINVAL);
	CHECK_NUMBER(open_cbo(0x1134, fd) >= 0, 1);
	CHECK_NUMBER(open_cbo(0x0334, fd) >= 0, 1);
	CHECK_NUMBER(-open_cbo(0x0934, fd), EINVAL); /* LLC_LOOKUP has two counters */
	CHECK_NUMBER(open_cbo(0, fd) >= 0, 1);
	CHECK_NUMBER(-open_cbo(0, fd), EINVAL); /* a fifth */
	CHECK_NUMBER(-open_cbo(0xff, -1), EINVAL);
	CHECK_NUMBER(-open_attr(attr_of("uncore_cbox_0", 0), -1, -1), EINVAL);
	CHECK_NUMBER(-open_attr(attr_of("uncore_cbox_0", 0), 2 * CPUS, -1), EINVAL);
	attr = attr_of("uncore_cbox_0", 0);
	attr.exclude_kernel = 1;
	CHECK_NUMBER(-open_attr(attr, 0, -1), EINVAL);
	attr = attr_of("uncore_cbox_0", 0);
	attr.type += 10000;
	CHECK_NUMBER(-open_attr(attr, 0, -1), ENOENT);
	/* Two values of one filter in one group. */
	attr = attr_of("uncore_cbox_1", 0x135);
	attr.config1 = 0x1820000000000000;
	fd = open_attr(attr, 0, -1);
	CHECK_NUMBER(open_attr(attr, 0, fd) >= 0, 1);
	attr.config1 = 0x1900000000000000;
	CHECK_NUMBER(-open_attr(attr, 0, fd), EINVAL);
	/* Four and the fixed one. */
	fd = open_attr(attr_of("uncore_imc_0", 0xff), 0, -1);
	for (unsigned i = 0; i < 4; i++)
		CHECK_NUMBER(open_attr(attr_of("uncore_imc_0", 0x304), 0, fd) >= 0, 1);
	CHECK_NUMBER(-open_attr(attr_of("uncore_imc_0", 0x304), 0, fd), EINVAL);
	CHECK_NUMBER(-open_attr(attr_of("uncore_imc_0", 0xff), 0, fd), EINVAL);
	end();
	/* Free-running ones: any number, those that there are. */
	begin("emerald-rapids,sockets=1,clock=step,kernel=on");
	fd = open_attr(attr_of("uncore_iio_free_running_0", 0x20ff), 0, -1);
	for (unsigned i = 0; i < 20; i++)
		CHECK_NUMBER(open_attr(attr_of("uncore_iio_free_running_0", 0x30ff), 0, fd) >= 0,
			     1);
	more = open_attr(attr_of("uncore_iio_free_running_0", 0x40ff), 0, fd);
	CHECK_NUMBER(-more, EINVAL);
	unc_sim_step(sim, ms);
	CU_ASSERT(count_of(fd) > 0);
	end();
}

static const struct unc_kernel_event clocks = {.config = 0};

static struct unc_kernel_group *open_group(const char *pmu, unsigned socket,
					   const struct unc_kernel_event *events, size_t n,
					   struct unc_reg_op *ops)
{
	struct unc_kernel_place place = {0};
	struct unc_kernel_group *group = NULL;

	CHECK_NUMBER(unc_kernel_find(gate, pmu, socket, 0, &place, &err), 0);
	CHECK_NUMBER(place.cpu, machine->top->socket[socket].cpu);
	CHECK_NUMBER(unc_kernel_open(gate, &place, events, n, &group, &err), 0);
	CHECK_TEXT(err.text, "");
	CU_ASSERT_FATAL(group != NULL);
	for (size_t i = 0; i < n; i++)
		unc_kernel_op(group, &events[i], &ops[i]);
	return group;
}

/* By the access method: sockets for themselves, and across the wrap of a counter (44 bits). */
static void test_method(void)
{
	static const struct unc_kernel_event two[] = {{.config = 0x40135}, {.config = 0}};
	struct unc_kernel_group *group[2];
	struct unc_reg_op ops[2][2];
	uint64_t first[2];

	begin("ivybridge-ep,clock=step,kernel=on,wrap=soon");
	for (unsigned s = 0; s < 2; s++) {
		group[s] = open_group("uncore_cbox_0", s, two, 2, ops[s]);
		unc_sim_step(sim, ms);
		CHECK_NUMBER(unc_sim_read(sim, reg(CTL + 1, s * CPUS)), EN);
	}
	for (unsigned s = 0; s < 2; s++) {
		CHECK_NUMBER(unc_access_run(gate, ops[s], 2), 0);
		CU_ASSERT(ops[s][0].value > 0);
		first[s] = ops[s][1].value;
	}
	CHECK_NUMBER(first[0], 2 * first[1]); /* began a step before */
	unc_sim_step(sim, 1000 * ms);
	CHECK_NUMBER(unc_access_run(gate, ops[0], 2), 0);
	CHECK_NUMBER(ops[0][1].value, 501 * first[0]);
	CHECK_NUMBER(unc_kernel_idle(&ops[0][1]), 0);
	CHECK_NUMBER(unc_kernel_ran(&ops[0][1]), 1002 * ms);
	unc_kernel_close(group[0]);
	unc_kernel_close(group[1]);
	end();
}

/* A unit that the socket lacks: opens, and counts nothing. */
static void test_missing(void)
{
	struct unc_kernel_group *group;
	struct unc_reg_op op;

	begin("ivybridge-ep-no-cbo3@1,clock=step,kernel=on");
	group = open_group("uncore_cbox_3", 1, &clocks, 1, &op);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(unc_access_run(gate, &op, 1), 0);
	CHECK_NUMBER(op.value, 0);
	CHECK_NUMBER(unc_kernel_ran(&op), ms);
	unc_kernel_close(group);
	end();
}

/* Others have pinned all counters but one: two groups that are not take turns at it. */
static void test_turns(void)
{
	static const struct unc_kernel_event other = {.config = 0x40000};
	struct unc_kernel_group *group[2];
	struct unc_reg_op op[2];
	struct perf_event_attr attr;
	uint64_t rate, ran = 0, data[4];
	int pinned[5];

	begin("ivybridge-ep,clock=step,kernel=on");
	attr = attr_of("uncore_cbox_0", 0);
	attr.pinned = 1;
	for (unsigned i = 0; i < 4; i++)
		pinned[i] = open_attr(attr, 0, -1);
	pinned[4] = open_attr(attr, 0, -1); /* none is left: end of file */
	CHECK_NUMBER(machine->events->read(machine, pinned[4], data, sizeof(data)), 0);
	unc_sim_step(sim, 10 * ms);
	rate = count_of(pinned[0]) / 10;
	CU_ASSERT(rate > 0);
	group[0] = open_group("uncore_cbox_0", 0, &clocks, 1, &op[0]);
	group[1] = open_group("uncore_cbox_0", 0, &other, 1, &op[1]);
	unc_sim_step(sim, 100 * ms);
	CHECK_NUMBER(unc_access_run(gate, op, 2), 0);
	CHECK_NUMBER(op[0].value, 0);
	CHECK_NUMBER(unc_kernel_idle(&op[0]), 100 * ms);
	CHECK_NUMBER(unc_kernel_ran(&op[0]), 0);
	shut(pinned[3]); /* the group in error does not get it */
	CHECK_NUMBER(machine->events->read(machine, pinned[4], data, sizeof(data)), 0);
	for (unsigned i = 0; i < 10; i++) {
		unc_sim_step(sim, 10 * ms);
		CHECK_NUMBER(unc_access_run(gate, op, 2), 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		CHECK_NUMBER(unc_kernel_idle(&op[i]) + unc_kernel_ran(&op[i]), 200 * ms);
		CU_ASSERT(unc_kernel_ran(&op[i]) >= 20 * ms);
		ran += unc_kernel_ran(&op[i]);
	}
	CHECK_NUMBER(ran, 100 * ms);
	CHECK_NUMBER(op[0].value, rate * (unc_kernel_ran(&op[0]) / ms));
	/* The pinned ones have counted all the time. */
	CHECK_NUMBER(count_of(pinned[0]), rate * 210);
	unc_kernel_close(group[0]);
	unc_kernel_close(group[1]);
	end();
}

/* The others: a socket's own enable bits (Nehalem-EP), none at all and a filter that is cleared
 * (Emerald Rapids). */
static void test_other_cpus(void)
{
	struct perf_event_attr attr;
	int fd, fixed;

	begin("nehalem-ep,clock=step,kernel=on");
	fd = open_attr(attr_of("uncore", 0x0103), 0, -1);
	fixed = open_attr(attr_of("uncore", 0xff), 0, fd);
	CHECK_NUMBER(get(0x391), 0x1000000ff);
	CHECK_NUMBER(get(0x3c0), EN | 0x0103);
	CHECK_NUMBER(get(0x395), 1);
	unc_sim_step(sim, ms);
	CHECK_NUMBER(count_of(fd), get(0x3b0));
	shut(fixed);
	shut(fd);
	CHECK_NUMBER(get(0x3c0), 0);
	CHECK_NUMBER(get(0x395), 0);
	end();
	begin("emerald-rapids,sockets=1,clock=step,kernel=on");
	attr = attr_of("uncore_cha_0", 0x10135); /* tid_en */
	attr.config1 = 0x3ff;
	fd = open_attr(attr, 0, -1);
	CHECK_NUMBER(get(0x2002), 0x10135); /* 817509-001: CHA 0 at 0x2000 */
	CHECK_NUMBER(get(0x200e), 0x3ff);
	shut(fd);
	CHECK_NUMBER(get(0x2002), 0);
	CHECK_NUMBER(get(0x200e), 0);
	end();
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"PMUs", test_pmus},
		{"counters", test_counters},
		{"beside direct access", test_beside},
		{"what arrives", test_carried},
		{"refused", test_refused},
		{"by the access method", test_method},
		{"a unit that is missing", test_missing},
		{"taking turns", test_turns},
		{"other CPUs", test_other_cpus},
		{NULL, NULL},
	};

	return suite_run("simulated kernel", tests);
}
