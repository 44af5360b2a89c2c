/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated machine from outside: options, what is not there, and what discovery sees: PCI
 * functions, configuration space, the PMON discovery table; on the small CPUs of sim_tables.h,
 * at the end on those of eventtables/. Layouts: Intel 817509-001, tables 1-13 and 1-14 and the
 * code of section 1.9; access type in bits 63:62, PCI addresses and the DVSEC as in Linux
 * uncore_discovery.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "built.h"
#include "access/access.h"
#include "machine/discover.h"
#include "machine/simulator.h"
#include "sim/sim_machine.h"
#include "sim_tables.h"
#include "suite.h"

static uint32_t config(struct unc_sim *sim, unsigned bus, unsigned devfn, unsigned offset)
{
	struct unc_pci_function f = {.bus = (uint8_t)bus, .devfn = (uint8_t)devfn};
	struct unc_bus *b = &sim->bus.bus;
	uint32_t value = 0x5a5a5a5a;

	CHECK_NUMBER(b->methods->config(b, &f, offset, &value, NULL), 0);
	return value;
}

/* "BUS:DEVICE.FUNCTION=ID ..." of all functions. */
static void check_functions(const char *spec, const char *expected)
{
	struct unc_sim *sim = machine(spec);
	struct unc_bus *bus = &sim->bus.bus;
	const struct unc_pci_function *list;
	char text[1024] = "";

	CHECK_NUMBER(bus->methods->scan(bus, NULL), 0);
	list = bus->function;
	for (size_t i = 0; i < bus->n_functions; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%02x:%02x.%x=%04x",
			 i ? " " : "", list[i].bus, list[i].devfn >> 3, list[i].devfn & 7,
			 list[i].device);
		CHECK_NUMBER(list[i].vendor, 0x8086);
		CHECK_NUMBER(config(sim, list[i].bus, list[i].devfn, 0),
			     (uint32_t)list[i].device << 16 | 0x8086);
	}
	CHECK_TEXT(text, expected);
	unc_sim_close(sim);
}

static void test_functions(void)
{
	check_functions("alpha",
			"7f:08.2=3c41 7f:08.6=3c86 7f:0b.0=3ce0 7f:10.0=3cb0 7f:10.1=3cb1 "
			"ff:08.2=3c41 ff:08.6=3c86 ff:0b.0=3ce0 ff:10.0=3cb0 ff:10.1=3cb1");
	check_functions("alpha,sockets=1,hide=imc,hide=qpi.match", "7f:08.2=3c41 7f:0b.0=3ce0");
	check_functions("beta,sockets=1",
			"6a:03.0=09a7 7e:00.0=3250 7e:00.1=3251 7e:01.1=3241 7e:02.1=3241 "
			"7e:1e.3=325b");
	check_functions("beta,sockets=1,discovery=none,hide=upi",
			"7e:00.0=3250 7e:00.1=3251 7e:1e.3=325b");
}

/* Functions are local to the CPUs of their socket, and where the kernel knows no nodes to all of them. Alpha
 * has four CPUs a socket. */
static void test_locality(void)
{
	for (int nodes = 0; nodes < 2; nodes++) {
		struct unc_sim *sim = machine(nodes ? "alpha" : "alpha,numa=off");
		struct unc_bus *bus = &sim->bus.bus;

		CHECK_NUMBER(bus->methods->scan(bus, NULL), 0);
		CU_ASSERT(bus->n_functions > 0);
		for (size_t i = 0; i < bus->n_functions; i++) {
			const struct unc_pci_function *f = &bus->function[i];
			int socket = f->bus == 0xff;

			CHECK_NUMBER(f->numa_node, nodes ? socket : -1);
			CHECK_NUMBER(f->local_cpu, nodes ? 4 * socket : 0);
			CHECK_NUMBER(f->local_last, nodes ? 4 * socket + 3 : 7);
		}
		unc_sim_close(sim);
	}
}

static void test_topology(void)
{
	struct unc_sim *sim = machine("alpha,sockets=8");
	struct unc_topology topology;

	unc_sim_topology(sim, &topology);
	CHECK_TEXT(topology.vendor, "GenuineIntel");
	CHECK_TEXT(topology.model_name, "alpha");
	CHECK_NUMBER(topology.family, 6);
	CHECK_NUMBER(topology.model, 45);
	CHECK_NUMBER(topology.hypervisor, 0);
	CHECK_NUMBER(topology.n_sockets, 8);
	for (int s = 0; s < 8; s++) {
		unsigned bus = (unsigned)s * 32 + 31;
		uint32_t map = config(sim, bus, UNC_DEVFN(0x0b, 0), 0x54);

		CHECK_NUMBER(topology.socket[s].package, s);
		CHECK_NUMBER(topology.socket[s].cpu, 4 * s);
		CHECK_NUMBER(topology.socket[s].cores, 4);
		CHECK_NUMBER(topology.socket[s].cpus, 4);
		/* The index of the 3-bit group that holds the node id is the socket. */
		CHECK_NUMBER(config(sim, bus, UNC_DEVFN(0x0b, 0), 0x40) & 7, s);
		CHECK_NUMBER(map >> (3 * s) & 7, s);
	}
	CU_ASSERT_PTR_EQUAL(sim->table->type, alpha_table.type);
	unc_sim_close(sim);
}

static void test_config(void)
{
	struct unc_sim *sim = machine("alpha,clock=step");
	unsigned imc = UNC_DEVFN(0x10, 0);
	struct unc_reg ctr = {
		.address = UNC_PCI(0, 0x7f, imc, 0xA8), .space = UNC_SPACE_PCI, .width = 64};
	struct unc_pci_function f = {.bus = 0x7f, .devfn = (uint8_t)imc};
	struct unc_bus *bus = &sim->bus.bus;
	struct unc_error err = {0};
	uint32_t value;

	unc_sim_write(sim, unc_sim_find(sim, &ctr), 0x123456789abc);
	CHECK_NUMBER(config(sim, 0x7f, imc, 0xA8), 0x56789abc);
	CHECK_NUMBER(config(sim, 0x7f, imc, 0xAC), 0x1234);
	CHECK_NUMBER(config(sim, 0xff, imc, 0xA8), 0);
	CHECK_NUMBER(config(sim, 0xff, UNC_DEVFN(0x0b, 0), 0x40), 1);
	CHECK_NUMBER(config(sim, 0xff, imc, 0x40), 0);                 /* that is the UBox's */
	CHECK_NUMBER(config(sim, 0x7f, imc, 0x0c) >> 16 & 0x80, 0x80); /* several functions */
	CHECK_NUMBER(config(sim, 0x7f, UNC_DEVFN(0x10, 4), 0), 0xffffffff);
	CHECK_NUMBER(config(sim, 0x7f, UNC_DEVFN(0x10, 4), 0xA8), 0xffffffff);
	CHECK_NUMBER(-bus->methods->config(bus, &f, 0x1000, &value, &err), -UNC_ERR_RANGE);
	CHECK_NUMBER(-bus->methods->config(bus, &f, 0x42, &value, &err), -UNC_ERR_RANGE);
	CHECK_TEXT(err.text, "configuration offset 0x42 is not a dword's");
	unc_sim_close(sim);
}

/* MMIO units: (base & mask) << 23 plus (element & mask) << 12 (817509-001, 1.10.3). */
static void test_bar(void)
{
	struct unc_sim *sim = machine("beta,clock=step");
	uint64_t seen[4] = {0};

	for (unsigned i = 0; i < 4; i++) {
		unsigned bus = i < 2 ? 0x7e : 0xfe;
		uint32_t base = config(sim, bus, UNC_DEVFN(0, 1), 0xD0);
		uint32_t element = config(sim, bus, UNC_DEVFN(0, 1), 0xD8 + 4 * (i % 2));
		uint64_t address =
			((uint64_t)(base & 0x1FFFFFFF) << 23) + ((uint64_t)(element & 0x7FF) << 12);
		struct unc_reg ctl = {
			.address = address + 0x2A800 + 0x44, .space = UNC_SPACE_MMIO, .width = 32};
		uint64_t word = 0;
		struct unc_bus *b = &sim->bus.bus;

		CU_ASSERT(address >> 32 != 0);         /* 32-bit arithmetic loses it */
		CU_ASSERT((base & ~0x1FFFFFFFu) != 0); /* and without the mask it is wrong */
		for (unsigned k = 0; k < i; k++)
			CU_ASSERT(address >= seen[k] + 0x40000 || address + 0x40000 <= seen[k]);
		seen[i] = address;
		CU_ASSERT_PTR_NOT_NULL_FATAL(unc_sim_find(sim, &ctl));
		unc_sim_write(sim, unc_sim_find(sim, &ctl), 0xFF05);
		CHECK_NUMBER(b->methods->memory(b, ctl.address - 4, &word, 8, NULL), 0);
		CHECK_NUMBER(word, 0x0000FF0500000000);
		CHECK_NUMBER(b->methods->memory(b, address, &word, 8, NULL), 0);
		CHECK_NUMBER(word, 0);
	}
	unc_sim_close(sim);
}

/* Bits set in the registers of the device count the units; all ones would mean "hidden". */
static void check_present(uint64_t mask, uint64_t present, int units)
{
	struct unc_tbl_present shown = beta_present[0];
	struct unc_tbl_sim_unit row = {B_CHA, {{present}}, 2e9, false};
	struct unc_workload work = beta_workload;
	struct unc_table table = beta_table;
	const struct unc_table *one = &table;
	struct unc_sim *sim = NULL;

	shown.mask = mask;
	table.present = &shown;
	work.sim_unit = &row;
	work.n_sim_unit = 1;
	sim_workloads[1] = &work;
	CU_ASSERT_FATAL(unc_sim_open("beta", "node", &one, 1, &sim, NULL) == 0);
	sim_workloads[1] = &beta_workload;
	uint32_t low = config(sim, 0x7e, UNC_DEVFN(0x1e, 3), 0x9C);
	uint32_t high = config(sim, 0x7e, UNC_DEVFN(0x1e, 3), 0xA0);
	uint64_t all = (uint64_t)high << 32 | low;
	CHECK_NUMBER(__builtin_popcountll(all), units);
	CHECK_NUMBER(all & ~mask, 0);
	CU_ASSERT(all == mask || (low != 0xffffffff && high != 0xffffffff));
	unc_sim_close(sim);
}

static void test_present(void)
{
	const uint64_t all = ~(uint64_t)0;

	check_present(all, 0xB, 3);
	check_present(all, 0xFFFFFFFF, 32);
	check_present(all, all >> 2, 62);
	check_present(all, all, 64);
	/* All of 33 to 63 places, where the second word has fewer than the first. */
	for (int places = 33; places < 64; places++)
		check_present(all >> (64 - places), all >> (64 - places), places);
}

/* ---- the discovery table */

/* Walks the capabilities as the guide says; 0: no PMON DVSEC. */
static uint64_t table_address(struct unc_sim *sim, unsigned bus, unsigned *dvsecs)
{
	unsigned devfn = UNC_DEVFN(3, 0), offset = 0x100;

	*dvsecs = 0;
	while (offset) {
		uint32_t header = config(sim, bus, devfn, offset);

		if ((header & 0xffff) == 0x23) {
			unsigned bir = config(sim, bus, devfn, offset + 0xC) & 7;

			++*dvsecs;
			if ((config(sim, bus, devfn, offset + 8) & 0xffff) == 1) {
				uint32_t low = config(sim, bus, devfn, 0x10 + 4 * bir);

				CHECK_NUMBER(low & 0xf, 4); /* 64-bit memory BAR */
				return (low & ~0xfffu) |
				       (uint64_t)config(sim, bus, devfn, 0x14 + 4 * bir) << 32;
			}
		}
		offset = header >> 20;
	}
	return 0;
}

struct table {
	struct unc_sim *sim;
	uint64_t address;
	unsigned stride, units;
	uint64_t global[3];
};

static struct table open_table(const char *spec, unsigned bus)
{
	struct table t = {.sim = machine(spec)};
	struct unc_bus *b = &t.sim->bus.bus;
	unsigned dvsecs;

	t.address = table_address(t.sim, bus, &dvsecs);
	CHECK_NUMBER(dvsecs, 2); /* one that is not for PMON comes first */
	CU_ASSERT(t.address >> 32 != 0);
	CHECK_NUMBER(b->methods->memory(b, t.address, t.global, sizeof(t.global), NULL), 0);
	t.stride = t.global[0] >> 8 & 0xff;
	t.units = t.global[0] >> 16 & 0x3ff;
	return t;
}

static int record(const struct table *t, unsigned i, uint64_t word[3])
{
	struct unc_bus *b = &t->sim->bus.bus;

	return b->methods->memory(b, t->address + (uint64_t)(i + 1) * t->stride * 8, word, 24,
				  NULL);
}

static void test_global_record(void)
{
	struct table t = open_table("beta", 0x6a);

	CHECK_NUMBER(t.global[0] >> 62, 0); /* MSR */
	CHECK_NUMBER(t.global[1], 0x2FF0);
	CHECK_NUMBER(t.global[2] & 0xff, 2); /* 0x2FF2 */
	CU_ASSERT(t.stride >= 3);
	CHECK_NUMBER(t.units, 3 + 4 + 2 + 1 /* and a hole */);
	CU_ASSERT((t.global[2] >> 8 & 0xffff) > 10);
	unc_sim_close(t.sim);
	struct table other = open_table("beta,sockets=2", 0xea);
	CU_ASSERT(other.address >= t.address + 0x80000);
	unc_sim_close(other.sim);
}

/* Word 0 of the records: the values that follow from the guide's address tables 1-9 and 1-12. */
static void test_unit_records(void)
{
	static const struct {
		uint64_t layout;
		unsigned type, units;
		uint64_t first;
	} expected[] = {
		{0x0000000108300204, 0, 3, 0x2000},
		{0x4000005C08304004, 6, 4, 0},
		{0x8000007408303804, 8, 2, 0x80000000 | 0x7e << 20 | 1 << 15 | 1 << 12 | 0x318},
		{0x4000004850301004, 12, 1, 0},
	};
	struct table t = open_table("beta", 0x6a);
	unsigned holes = 0, at = 0;
	uint64_t word[3], positions = 0;

	for (size_t e = 0; e < sizeof(expected) / sizeof(expected[0]); e++)
		for (unsigned unit = 0; unit < expected[e].units; at++) {
			CHECK_NUMBER(record(&t, at, word), 0);
			if (word[0] == 0 || word[0] == ~(uint64_t)0) {
				holes++;
				continue;
			}
			CHECK_NUMBER(word[0], expected[e].layout);
			CHECK_NUMBER(word[2] & 0xffff, expected[e].type);
			if (unit == 0 && expected[e].first)
				CHECK_NUMBER(word[1], expected[e].first);
			/* CHA 2 is missing: ids may have gaps. */
			CHECK_NUMBER(word[2] >> 16 & 0xffff,
				     expected[e].type == 0 && unit == 2 ? 3 : unit);
			CU_ASSERT(!(positions >> (word[2] >> 32 & 0x3f) & 1));
			positions |= (uint64_t)1 << (word[2] >> 32 & 0x3f);
			unit++;
		}
	CHECK_NUMBER(holes + 10, at);
	CHECK_NUMBER(at, t.units);
	unc_sim_close(t.sim);
}

/* The addresses of the records are those of registers that exist. */
static void test_record_addresses(void)
{
	static const uint8_t spaces[] = {UNC_SPACE_MSR, UNC_SPACE_MMIO, UNC_SPACE_PCI};

	for (unsigned socket = 0; socket < 2; socket++) {
		struct table t = open_table("beta", socket ? 0xea : 0x6a);
		uint64_t word[3];
		unsigned found = 0;

		for (unsigned i = 0; i < t.units; i++) {
			CHECK_NUMBER(record(&t, i, word), 0);
			if (word[0] == 0 || word[0] == ~(uint64_t)0)
				continue;
			struct unc_reg reg = {.address = word[1],
					      .target = 8 * socket,
					      .space = spaces[word[0] >> 62],
					      .width = (word[2] & 0xffff) == 0 ? 64 : 32};
			if (reg.space == UNC_SPACE_PCI) {
				CHECK_NUMBER(reg.address >> 31, 1);
				reg.address &= 0x7fffffff;
				CHECK_NUMBER(UNC_PCI_BUS(reg.address), socket ? 0xfe : 0x7e);
			}
			CU_ASSERT_PTR_NOT_NULL(unc_sim_find(t.sim, &reg));
			found++;
		}
		CHECK_NUMBER(found, 10);
		unc_sim_close(t.sim);
	}
}

static void test_broken_discovery(void)
{
	struct unc_error err = {0};
	uint64_t word[3];
	unsigned dvsecs, i = 0, types = 0;
	struct unc_sim *sim = machine("beta,discovery=none");

	CHECK_NUMBER(config(sim, 0x6a, UNC_DEVFN(3, 0), 0), 0xffffffff);
	unc_sim_close(sim);

	struct table t = open_table("beta,discovery=truncated", 0x6a);
	struct unc_bus *b = &t.sim->bus.bus;
	CHECK_NUMBER(t.units, 10);
	while (i < t.units && record(&t, i, word) == 0)
		i++;
	CU_ASSERT(i > 0 && i < t.units); /* memory ends among the records */
	CHECK_NUMBER(-b->methods->memory(b, t.address + 0x70000, word, 8, &err),
		     -UNC_ERR_UNAVAILABLE);
	unc_sim_close(t.sim);

	t = open_table("beta,discovery=noupi", 0x6a);
	for (i = 0; i < t.units; i++) {
		CHECK_NUMBER(record(&t, i, word), 0);
		if (word[0] && word[0] != ~(uint64_t)0)
			types |= 1u << (word[2] & 31);
	}
	CHECK_NUMBER(types, 1 << 0 | 1 << 6 | 1 << 12);
	unc_sim_close(t.sim);

	sim = machine("beta,discovery=garbage");
	b = &sim->bus.bus;
	CHECK_NUMBER(b->methods->memory(b, table_address(sim, 0x6a, &dvsecs), word, 24, NULL), 0);
	CU_ASSERT(word[0] != 0 && (word[0] >> 26 & 0xfffffffff) != 0); /* reserved bits set */
	unc_sim_close(sim);
}

/* Hidden by firmware: PCI functions vanish but stay in the table, other units vanish from both. */
static void test_hidden(void)
{
	struct table t = open_table("beta,hide=upi,hide=cha", 0x6a);
	struct unc_reg reg = {.address = 0x2000, .space = UNC_SPACE_MSR, .width = 64};
	unsigned types = 0;
	uint64_t word[3];

	for (unsigned i = 0; i < t.units; i++) {
		CHECK_NUMBER(record(&t, i, word), 0);
		if (word[0] && word[0] != ~(uint64_t)0)
			types |= 1u << (word[2] & 31);
	}
	CHECK_NUMBER(types, 1 << 6 | 1 << 8 | 1 << 12);
	CU_ASSERT_PTR_NULL(unc_sim_find(t.sim, &reg));
	CHECK_NUMBER(config(t.sim, 0x7e, UNC_DEVFN(1, 1), 0x318), 0xffffffff);
	unc_sim_close(t.sim);
}

static void test_memory(void)
{
	struct table t = open_table("beta", 0x6a);
	struct unc_bus *b = &t.sim->bus.bus;
	struct unc_error err = {0};
	unsigned char bytes[11];
	uint64_t word = 1;

	CHECK_NUMBER(b->methods->memory(b, t.address + 5, bytes, sizeof(bytes), NULL), 0);
	CHECK_NUMBER(bytes[3], t.global[1] & 0xff);
	CHECK_NUMBER(bytes[4], t.global[1] >> 8 & 0xff);
	CHECK_NUMBER(b->methods->memory(b, t.address + 0x7fff8, &word, 8, NULL), 0);
	CHECK_NUMBER(word, 0);
	CHECK_NUMBER(-b->methods->memory(b, 0x1000, &word, 8, &err), -UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text, "there is nothing at physical address 0x1000");
	b->methods->close(b);
	unc_sim_close(t.sim);
}

/* ---- access and options */

static void test_absent(void)
{
	struct unc_sim *sim = machine("alpha,sockets=1");
	const struct unc_access_methods *access;
	struct unc_machine *simulated = NULL;
	struct unc_backend *backend = NULL;
	struct unc_error err = {0};
	struct unc_reg_op op = {.reg = {.address = 0xD44, .space = UNC_SPACE_MSR, .width = 32}};

	CU_ASSERT_PTR_NULL(find(sim, UNC_SPACE_MSR, 4, 0xD16, 64)); /* no socket 1 */
	CU_ASSERT_PTR_NULL(find(sim, UNC_SPACE_MSR, 0, 0xD16, 32)); /* wrong width */
	CU_ASSERT_PTR_NULL(find(sim, UNC_SPACE_MSR, 0, 0xD44, 32)); /* CBo 2 */
	CU_ASSERT_PTR_NULL(find(sim, UNC_SPACE_PCI, 0, 0xD16, 64));
	CU_ASSERT_PTR_NULL(find(sim, UNC_SPACE_PCI, 0, UNC_PCI(0, 0x7e, 0x80, 0xF4), 32));
	CU_ASSERT_FATAL(unc_machine_simulated("alpha,sockets=1", "node", sim_tables, 2, &simulated,
					      &err) == 0);
	access = simulated->methods->access[0];
	CU_ASSERT_FATAL(unc_backend_new(access, simulated, &backend, &err) == 0);
	CHECK_NUMBER(-access->prepare(backend, &op, &err), -UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text, "the simulated machine has no 32-bit msr 0xd44 on cpu 0");
	op.reg = (struct unc_reg){.address = UNC_PCI(0, 0x7f, UNC_DEVFN(0x10, 4), 0xF4),
				  .space = UNC_SPACE_PCI,
				  .width = 32};
	CHECK_NUMBER(-access->prepare(backend, &op, &err), -UNC_ERR_UNAVAILABLE);
	CHECK_TEXT(err.text,
		   "the simulated machine has no 32-bit register 0xf4 in pci 0000:7f:10.4");
	unc_backend_free(access, backend);
	simulated->methods->close(simulated);
	unc_sim_close(sim);
}

static void test_options(void)
{
	static const struct {
		const char *spec;
		int code;
		const char *text;
	} bad[] = {
		{"gamma", UNC_ERR_NOT_FOUND,
		 "there is no simulated machine 'gamma'; there are: alpha, beta"},
		{"", UNC_ERR_NOT_FOUND, "there is no simulated machine ''; there are: alpha, beta"},
		{"alpha,speed=9", UNC_ERR_INVALID,
		 "simulated machine: unknown option 'speed=9'; options are sockets=1..8, "
		 "load=0..1|live, seed=N, memory=MT/s, clock=wall|step|wait, "
		 "discovery=ok|none|truncated|garbage|noupi, tables=1..8, hide=TYPE, idle=TYPE, "
		 "unlisted=TYPE, mislisted=TYPE:ADDRESS, frozen=SOCKET, wrap=soon, base=SECONDS, "
		 "clusters=1..4, cxl=on, devices=on, numa=off, kernel=on|off, "
		 "rights=all|perf|none"},
		{"alpha,clock", UNC_ERR_INVALID,
		 "simulated machine: unknown option 'clock'; options are sockets=1..8, "
		 "load=0..1|live, seed=N, memory=MT/s, clock=wall|step|wait, "
		 "discovery=ok|none|truncated|garbage|noupi, tables=1..8, hide=TYPE, idle=TYPE, "
		 "unlisted=TYPE, mislisted=TYPE:ADDRESS, frozen=SOCKET, wrap=soon, base=SECONDS, "
		 "clusters=1..4, cxl=on, devices=on, numa=off, kernel=on|off, "
		 "rights=all|perf|none"},
		{"alpha,sockets=0", UNC_ERR_INVALID,
		 "simulated machine: sockets=0: possible is 1 to 8"},
		{"alpha,sockets=9", UNC_ERR_INVALID,
		 "simulated machine: sockets=9: possible is 1 to 8"},
		{"alpha,rights=root", UNC_ERR_INVALID,
		 "simulated machine: rights=root: possible is all, perf or none"},
		{"alpha,load=1.5", UNC_ERR_INVALID,
		 "simulated machine: load=1.5: possible is 0 to 1, like 0.5, or live"},
		{"alpha,load=much", UNC_ERR_INVALID,
		 "simulated machine: load=much: possible is 0 to 1, like 0.5, or live"},
		{"alpha,load=live,seed=x", UNC_ERR_INVALID,
		 "simulated machine: seed=x: possible is a whole number"},
		{"alpha,seed=1", UNC_ERR_INVALID,
		 "simulated machine: seed= is for load=live, which is not given"},
		{"alpha,memory=0", UNC_ERR_INVALID,
		 "simulated machine: memory=0: possible is 1 to 100000 MT/s, like 4800"},
		{"alpha,memory=fast", UNC_ERR_INVALID,
		 "simulated machine: memory=fast: possible is 1 to 100000 MT/s, like 4800"},
		{"alpha,clock=sun", UNC_ERR_INVALID,
		 "simulated machine: clock=sun: possible is wall, step or wait"},
		{"beta,discovery=odd", UNC_ERR_INVALID,
		 "simulated machine: discovery=odd: possible is ok, none, truncated, garbage or "
		 "noupi"},
		{"alpha,discovery=none", UNC_ERR_INVALID,
		 "simulated machine: discovery=none: alpha has no discovery tables"},
		{"alpha,tables=2", UNC_ERR_INVALID,
		 "simulated machine: tables=2: alpha has no discovery tables"},
		{"alpha,unlisted=box", UNC_ERR_INVALID,
		 "simulated machine: unlisted=box: alpha has no discovery tables"},
		{"alpha,mislisted=box:0", UNC_ERR_INVALID,
		 "simulated machine: mislisted=box:0: alpha has no discovery tables"},
		{"alpha,hide=cha", UNC_ERR_INVALID,
		 "simulated machine: hide=cha: no such unit type; there are: cbo, imc, ubox, qpi, "
		 "pcu"},
		{"alpha,hide=qpi.mask", UNC_ERR_INVALID,
		 "simulated machine: hide=qpi.mask: want qpi[INDEX][@SOCKET][.PART] with a part "
		 "that the type has"},
		{"beta,tables=9", UNC_ERR_INVALID,
		 "simulated machine: tables=9: possible is 1 to 8"},
		{"beta,frozen=8", UNC_ERR_INVALID,
		 "simulated machine: frozen=8: possible is the number of a socket"},
		{"beta,mislisted=upi1", UNC_ERR_INVALID,
		 "simulated machine: mislisted=upi1: want upi[INDEX][@SOCKET]:ADDRESS"},
		{"alpha,wrap=late", UNC_ERR_INVALID,
		 "simulated machine: wrap=late: possible is soon"},
		{"alpha,base=-1", UNC_ERR_INVALID,
		 "simulated machine: base=-1: possible is 0 to 1000000000 seconds"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct unc_error err = {0};
		struct unc_sim *sim = (struct unc_sim *)(void *)err.text;

		CHECK_NUMBER(-unc_sim_open(bad[i].spec, "node", sim_tables, 2, &sim, &err),
			     -bad[i].code);
		CHECK_TEXT(err.text, bad[i].text);
		CU_ASSERT_PTR_EQUAL(sim, err.text); /* untouched */
	}
	unc_sim_close(NULL);
}

/* ---- the CPUs of eventtables/ */

static void count_note(void *user, const char *text)
{
	printf("# %s\n", text);
	++*(unsigned *)user;
}

/* A part of the unit that the tables place for others of the type only; NULL: none. */
static const struct unc_tbl_part *unplaced(const struct unc_table *table,
					   const struct unc_instance *unit)
{
	const struct unc_tbl_type *type = &table->type[unit->type];

	for (uint32_t i = 1; i < type->parts.n; i++)
		if (unit->index >= table->part[type->parts.first + i].where.n)
			return &table->part[type->parts.first + i];
	return NULL;
}

/* Every register of a unit is where discovery puts it; the start sequence breaks no rule. */
static void check_unit(struct unc_sim *sim, const struct unc_instance *unit)
{
	const struct unc_table *table = sim->table;
	const struct unc_tbl_type *type = &table->type[unit->type];
	const struct unc_tbl_part *without = unplaced(table, unit);
	struct unc_error err = {0};
	char want[64] = "";
	struct unc_reg reg;

	if (without)
		snprintf(want, sizeof(want), "part %s: its place is not known",
			 unc_tbl_str(table, without->name));
	CHECK_TEXT(unit->reason, want);
	for (uint32_t i = 0; i < type->regs.n; i++) {
		if (without &&
		    &table->part[type->parts.first + table->reg[type->regs.first + i].part] ==
			    without)
			continue;
		CHECK_NUMBER(unc_instance_reg(table, unit, type->regs.first + i, &reg, &err), 0);
		if (!unc_sim_find(sim, &reg))
			printf("# %s%u: no %s\n", unc_tbl_str(table, type->name), unit->index,
			       unc_tbl_str(table, table->reg[type->regs.first + i].name));
		CU_ASSERT_PTR_NOT_NULL(unc_sim_find(sim, &reg));
	}
	for (uint32_t i = 0; i < type->steps_start.n; i++) {
		const struct unc_tbl_step *step = &table->step[type->steps_start.first + i];

		if (step->kind == UNC_STEP_WRITE &&
		    unc_instance_reg(table, unit, step->reg, &reg, &err) == 0 &&
		    unc_sim_find(sim, &reg))
			unc_sim_write(sim, unc_sim_find(sim, &reg), step->value);
	}
}

/* Does the workload's machine have this unit? */
static bool is_present(const struct unc_table *table, const struct unc_instance *unit)
{
	struct unc_workload built;
	const struct unc_workload *work = unc_sim_workload(table, &built);

	for (size_t i = 0; i < work->n_sim_unit; i++)
		if (work->sim_unit[i].type == unit->type)
			return unc_bits_has(&work->sim_unit[i].present, unit->index);
	return false;
}

static void check_cpu(const struct unc_table *table, int sockets)
{
	struct unc_instances units = {0};
	struct unc_topology topology;
	struct unc_sim *sim = NULL;
	struct unc_error err = {0};
	unsigned notes = 0, expected = 0, available = 0;
	char spec[96], last[160] = "";

	snprintf(spec, sizeof(spec), "%s,clock=step,sockets=%d", unc_tbl_str(table, table->name),
		 sockets);
	if (unc_sim_open(spec, "node", &table, 1, &sim, &err) < 0)
		printf("# %s: %s\n", spec, err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
	unc_sim_topology(sim, &topology);
	CHECK_NUMBER(topology.n_sockets, sockets);
	CHECK_NUMBER(
		unc_discover(table, &topology, &sim->bus.bus, count_note, &notes, &units, &err), 0);
	struct unc_workload built;
	const struct unc_workload *work = unc_sim_workload(table, &built);
	for (size_t i = 0; i < work->n_sim_unit; i++)
		expected += unc_bits_count(&work->sim_unit[i].present) * (unsigned)sockets;
	CHECK_NUMBER(notes, 0);
	/* Places of the table that the simulated part leaves empty are found so, with the reason. */
	for (size_t i = 0; i < units.n; i++) {
		if (!is_present(table, &units.unit[i])) {
			CU_ASSERT(!units.unit[i].available && *units.unit[i].reason);
			continue;
		}
		available += units.unit[i].available;
		check_unit(sim, &units.unit[i]);
	}
	CHECK_NUMBER(available, expected);
	CHECK_NUMBER(unc_sim_violations(sim, last, sizeof(last)), 0);
	CHECK_TEXT(last, "");
	unc_instances_free(&units);
	unc_sim_close(sim);
}

static void test_cpus(void)
{
	const struct unc_table *const *table;
	size_t n;

	table = built_tables(&n);
	CU_ASSERT(n > 0);
	for (size_t i = 0; i < n; i++)
		for (int sockets = 1; sockets <= 8; sockets++)
			check_cpu(table[i], sockets);
}

/* The last level cache has 2.5 MB for each slice that is there: 45 MB of 18 (Xeon E5-2699 v3), 30 MB of 12
 * (E5-2697 v2). */
static void test_cache(void)
{
	static const struct {
		const char *spec;
		int cache[2]; /* KiB */
	} rows[] = {
		{"haswell-ep", {45 * 1024, 45 * 1024}},
		{"haswell-ep,hide=cbo2@1", {45 * 1024, 45 * 1024 - 2560}},
		{"ivybridge-ep", {30 * 1024, 30 * 1024}},
	};
	const struct unc_table *const *tables;
	struct unc_topology topology;
	size_t n;

	tables = built_tables(&n);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unc_error err = {0};
		struct unc_sim *sim = NULL;

		CU_ASSERT_FATAL(unc_sim_open(rows[i].spec, "node", tables, n, &sim, &err) == 0);
		unc_sim_topology(sim, &topology);
		CHECK_NUMBER(topology.socket[0].cache, rows[i].cache[0]);
		CHECK_NUMBER(topology.socket[1].cache, rows[i].cache[1]);
		unc_sim_close(sim);
	}
}

int main(void)
{
	static const struct suite_test tests[] = {
		{"PCI functions", test_functions},
		{"topology and UBox", test_topology},
		{"CPUs that are local", test_locality},
		{"configuration space", test_config},
		{"addresses in BARs", test_bar},
		{"presence bits", test_present},
		{"global discovery record", test_global_record},
		{"unit discovery records", test_unit_records},
		{"addresses of unit records", test_record_addresses},
		{"broken discovery", test_broken_discovery},
		{"hidden units", test_hidden},
		{"physical memory", test_memory},
		{"registers that are not there", test_absent},
		{"bad options", test_options},
		{"the cache by its slices", test_cache},
		{"every CPU of the tables", test_cpus},
		{NULL, NULL},
	};

	return suite_run("sim_bus", tests);
}
