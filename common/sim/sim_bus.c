/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What discovery sees of the machine: PCI functions, configuration space, physical memory.
 *
 * Every socket has a range of buses (half of the 256 with one or two sockets, an eighth with
 * more than four). Monitors and the UBox are on the last bus of the range, the one before the
 * last where there are discovery tables; the discovery device is alone on a lower one, so that
 * its socket follows from its NUMA node only. Where buses belong to the UBox below them, that is on
 * the first bus of the range. Registers that are no monitor's read as on a real
 * function: header, what discovery needs, and 0.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "sim/sim_machine.h"

enum {
	VENDOR = 0x8086,
	DISCOVERY_ID = 0x09a7, /* out-of-band management device (Linux uncore_discovery.h) */
	DISCOVERY_BACK = 0x15, /* buses below the last one */
	CAP_DVSEC = 0x23,
	CAP_AER = 0x01,
	DVSEC_TELEMETRY = 2,
	DVSEC_PMON = 1,
	CLASS_SYSTEM = 0x08800000,
	UNPRIVILEGED = 64, /* bytes of configuration space that everybody may read */
	MULTI_FUNCTION = 0x00800000
};
static const uint64_t discovery_memory = 0x201ffc000000, discovery_socket = 0x10000000,
		      discovery_table = 0x2000000;

/* Buses of a socket. */
static unsigned bus_range(const struct unc_sim *sim)
{
	return sim->options.sockets <= 2 ? 128 : sim->options.sockets <= 4 ? 64 : 32;
}

unsigned unc_sim_bus_number(const struct unc_sim *sim, unsigned socket)
{
	unsigned last = (socket + 1) * bus_range(sim) - 1;

	return sim->table->discovery == UNC_DISCOVERY_TABLE ? last - 1 : last;
}

/* ---- BARs */

/* Far above 4 GB: an implementation that shifts 32-bit values loses it. */
uint32_t unc_sim_bar_base(const struct unc_tbl_bar *bar, unsigned socket)
{
	uint32_t unit = bar->base_mask & -bar->base_mask;
	uint32_t high = (bar->base_mask >> 5) + unit;

	return (high + socket * 2 * unit) & bar->base_mask;
}

uint32_t unc_sim_bar_element(const struct unc_tbl_bar *bar, unsigned element)
{
	uint32_t unit = bar->mask & -bar->mask;
	uint32_t pages = bar->size >> bar->shift;

	return ((element + 1) * 2 * (pages > unit ? pages : unit)) & bar->mask;
}

uint64_t unc_sim_bar_address(const struct unc_tbl_bar *bar, unsigned socket, unsigned element)
{
	return ((uint64_t)unc_sim_bar_base(bar, socket) << bar->base_shift) +
	       ((uint64_t)unc_sim_bar_element(bar, element) << bar->shift);
}

/* ---- building */

void unc_sim_bus_function(struct unc_sim *sim, unsigned number, unsigned devfn, unsigned id,
			  unsigned socket)
{
	struct unc_bus *bus = &sim->bus.bus;
	struct unc_pci_function *larger;
	int cpus = unc_sim_cpus(sim), first = (int)socket * cpus;

	if (sim->options.no_nodes) {
		first = 0;
		cpus *= sim->options.sockets;
	}
	for (size_t i = 0; i < bus->n_functions; i++)
		if (bus->function[i].bus == number && bus->function[i].devfn == devfn)
			return;
	larger = unc_grow(bus->function, bus->n_functions, sizeof(*larger));
	sim->bus.lacks |= !larger;
	if (!larger)
		return;
	bus->function = larger;
	bus->function[bus->n_functions++] =
		(struct unc_pci_function){.bus = (uint8_t)number,
					  .devfn = (uint8_t)devfn,
					  .vendor = VENDOR,
					  .device = (uint16_t)id,
					  .kind = CLASS_SYSTEM >> 16,
					  .numa_node = sim->options.no_nodes ? -1 : (int)socket,
					  .local_cpu = first,
					  .local_last = first + cpus - 1};
}

static struct sim_config *config_at(struct sim_bus *bus, unsigned number, unsigned devfn,
				    unsigned offset)
{
	for (size_t i = 0; i < bus->n_configs; i++)
		if (bus->config[i].bus == number && bus->config[i].devfn == devfn &&
		    bus->config[i].offset == offset)
			return &bus->config[i];
	return NULL;
}

void unc_sim_bus_config(struct unc_sim *sim, unsigned number, unsigned devfn, unsigned offset,
			uint32_t value)
{
	struct sim_bus *bus = &sim->bus;
	struct sim_config *old = config_at(bus, number, devfn, offset), *larger;

	if (old) { /* several types have bits in a register that tells of them */
		old->value |= value;
		return;
	}
	larger = unc_grow(bus->config, bus->n_configs, sizeof(*larger));
	bus->lacks |= !larger;
	if (!larger)
		return;
	bus->config = larger;
	bus->config[bus->n_configs++] = (struct sim_config){.value = value,
							    .offset = (uint16_t)offset,
							    .bus = (uint8_t)number,
							    .devfn = (uint8_t)devfn};
}

/* The functions that units live in. */
static void add_units(struct unc_sim *sim, const struct sim_type *type, unsigned socket)
{
	const struct unc_table *table = sim->table;

	for (unsigned p = 0; p < type->row->parts.n; p++) {
		const struct unc_tbl_part *part = &table->part[type->row->parts.first + p];

		if (part->space != UNC_SPACE_PCI)
			continue;
		for (uint32_t i = 0; i < part->where.n; i++)
			if (unc_bits_has(&type->present, i) &&
			    !unc_sim_hidden(sim, type->number, p, (int)i, (int)socket))
				unc_sim_bus_function(sim, unc_sim_bus_number(sim, socket),
						     table->where[part->where.first + i].devfn,
						     table->where[part->where.first + i].device_id,
						     socket);
	}
}

/* The UBox: which node this bus belongs to, and which socket has which node. */
static void add_ubox(struct unc_sim *sim, unsigned socket)
{
	const struct unc_tbl_topology *topology = &sim->table->topology;
	unsigned bus = topology->inherit == UNC_INHERIT_LOWER ? socket * bus_range(sim)
							      : unc_sim_bus_number(sim, socket);
	unsigned devfn = topology->devfn;
	uint32_t map = 0;

	if (!topology->ubox_id)
		return;
	for (unsigned i = 0; i < (unsigned)sim->options.sockets; i++)
		map |= i << (3 * i);
	unc_sim_bus_function(sim, bus, devfn, topology->ubox_id, socket);
	if (!topology->map_offset)
		return;
	unc_sim_bus_config(sim, bus, devfn, topology->nodeid_offset, socket);
	unc_sim_bus_config(sim, bus, devfn, topology->map_offset, map);
}

/* The registers that hold physical addresses; a bit beside the mask is set to be masked off. */
static void add_bar(struct unc_sim *sim, const struct unc_tbl_bar *bar, unsigned socket)
{
	unsigned number = unc_sim_bus_number(sim, socket);

	unc_sim_bus_function(sim, number, bar->devfn, bar->device_id, socket);
	unc_sim_bus_config(sim, number, bar->devfn, bar->base_offset,
			   unc_sim_bar_base(bar, socket) | (0x80000000 & ~bar->base_mask));
	for (unsigned i = 0; i < bar->count; i++)
		unc_sim_bus_config(sim, number, bar->devfn, bar->offset + i * (unsigned)bar->step,
				   unc_sim_bar_element(bar, i) | (0x80000000 & ~bar->mask));
}

/* Capabilities: an ordinary one, a DVSEC of others with a BAR of its own, then the PMON DVSEC. */
static int add_discovery(struct unc_sim *sim, unsigned socket, unsigned number,
			 struct unc_error *err)
{
	struct sim_memory *memory = &sim->bus.memory[socket][number];
	unsigned bus = unc_sim_bus_number(sim, socket) + 1 - DISCOVERY_BACK;
	unsigned devfn = UNC_DEVFN(3, number); /* anywhere: software looks for it on all buses */
	int rc;

	memory->address = discovery_memory + socket * discovery_socket + number * discovery_table;
	if (sim->table->discovery != UNC_DISCOVERY_TABLE ||
	    sim->options.discovery == SIM_DISCOVERY_NONE)
		return 0;
	if ((rc = unc_sim_discovery_build(sim, socket, number, memory, err)) < 0)
		return rc;
	const struct {
		unsigned offset;
		uint32_t value;
	} dwords[] = {
		{0x10, (uint32_t)(memory->address + 0x1000000) | 4}, /* 64-bit BAR 0: telemetry */
		{0x14, (uint32_t)((memory->address + 0x1000000) >> 32)},
		{0x18, (uint32_t)memory->address | 4}, /* 64-bit BAR 2: PMON */
		{0x1c, (uint32_t)(memory->address >> 32)},
		{0x100, CAP_AER | 1 << 16 | 0x150u << 20},
		{0x150, CAP_DVSEC | 1 << 16 | 0x160u << 20},
		{0x154, VENDOR | 1 << 16 | 0x10u << 20},
		{0x158, DVSEC_TELEMETRY},
		{0x15c, 0},
		{0x160, CAP_DVSEC | 1 << 16},
		{0x164, VENDOR | 1 << 16 | 0x10u << 20},
		{0x168, DVSEC_PMON},
		{0x16c, 2},
	};
	unc_sim_bus_function(sim, bus, devfn, DISCOVERY_ID, socket);
	for (size_t i = 0; i < sizeof(dwords) / sizeof(dwords[0]); i++)
		unc_sim_bus_config(sim, bus, devfn, dwords[i].offset, dwords[i].value);
	return 0;
}

static int add_socket(struct unc_sim *sim, unsigned socket, struct unc_error *err)
{
	int rc = 0;

	add_ubox(sim, socket);
	for (size_t i = 0; i < sim->table->n_bar; i++)
		add_bar(sim, &sim->table->bar[i], socket);
	for (size_t i = 0; i < sim->table->n_type && rc == 0; i++) {
		if (unc_bits_count(&sim->type[i].present))
			add_units(sim, &sim->type[i], socket);
		rc = unc_sim_present_bus(sim, i, socket, err);
	}
	for (unsigned i = 0; rc == 0 && (i == 0 || i < sim->options.tables); i++)
		rc = add_discovery(sim, socket, i, err);
	return rc;
}

static int compare_function(const void *a, const void *b)
{
	const struct unc_pci_function *x = a, *y = b;

	return x->bus != y->bus ? x->bus - y->bus : x->devfn - y->devfn;
}

/* ---- the methods */

static struct sim_bus *of(struct unc_bus *bus)
{
	return (struct sim_bus *)bus;
}

/* They are there from the beginning. */
static int scan(struct unc_bus *base, struct unc_error *err)
{
	(void)base;
	(void)err;
	return 0;
}

/* A dword of a monitor's register, if there is one at this place. */
static bool monitor_dword(struct unc_sim *sim, uint8_t space, uint64_t address, uint32_t *value)
{
	struct unc_reg whole = {.address = address, .space = space, .width = 64}, half = whole,
		       above = whole;
	struct sim_reg *reg;

	half.width = 32;
	above.address -= 4;
	if ((reg = unc_sim_at(sim, &whole)) || (reg = unc_sim_at(sim, &half)))
		*value = (uint32_t)unc_sim_read(sim, reg);
	else if ((reg = unc_sim_at(sim, &above)))
		*value = (uint32_t)(unc_sim_read(sim, reg) >> 32);
	return reg != NULL;
}

static int config(struct unc_bus *base, const struct unc_pci_function *function, unsigned offset,
		  uint32_t *value, struct unc_error *err)
{
	struct sim_bus *bus = of(base);
	const struct sim_config *fixed = config_at(bus, function->bus, function->devfn, offset);
	uint32_t id = 0;

	if (offset > 0xffc || offset & 3)
		return unc_fail(err, UNC_ERR_RANGE, "configuration offset 0x%x is not a dword's",
				offset);
	if (!bus->sim->options.registers && offset >= UNPRIVILEGED)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"pci %s offset 0x%x: configuration space ends at 64 bytes: "
				"CAP_SYS_ADMIN is needed for more",
				unc_function_name(function).text, offset);
	for (size_t i = 0; i < base->n_functions; i++)
		if (base->function[i].bus == function->bus && function->domain == 0 &&
		    base->function[i].devfn == function->devfn)
			id = (uint32_t)base->function[i].device << 16 | VENDOR;
	*value = id ? 0 : 0xffffffff;
	if (!id)
		return 0;
	if (fixed)
		*value = fixed->value;
	else if (offset == 0)
		*value = id;
	else if (offset == 0x08)
		*value = CLASS_SYSTEM;
	else if (offset == 0x0c)
		*value = MULTI_FUNCTION;
	else
		monitor_dword(bus->sim, UNC_SPACE_PCI,
			      UNC_PCI(0, function->bus, function->devfn, offset), value);
	return 0;
}

/* Is the address within a BAR or a discovery-only unit? Unused places there read as 0. */
static bool in_window(const struct unc_sim *sim, uint64_t address)
{
	for (int s = 0; s < sim->options.sockets; s++)
		for (size_t b = 0; b < sim->table->n_bar; b++)
			for (unsigned i = 0; i < sim->table->bar[b].count; i++) {
				const struct unc_tbl_bar *bar = &sim->table->bar[b];
				uint64_t start = unc_sim_bar_address(bar, (unsigned)s, i);

				if (address >= start && address - start < bar->size)
					return true;
			}
	return false;
}

static int word_at(const struct sim_bus *bus, uint64_t address, uint64_t *value,
		   struct unc_error *err)
{
	uint32_t low = 0, high = 0;

	for (int i = 0; i < SIM_MAX_SOCKETS * SIM_MAX_TABLES; i++) {
		const struct sim_memory *memory =
			&bus->memory[i / SIM_MAX_TABLES][i % SIM_MAX_TABLES];

		if (!memory->word || address < memory->address ||
		    address - memory->address + 8 > memory->backed)
			continue;
		uint64_t at = address - memory->address;
		*value = at < memory->size ? memory->word[at / 8] : 0;
		return 0;
	}
	bool found = monitor_dword(bus->sim, UNC_SPACE_MMIO, address, &low);
	found |= monitor_dword(bus->sim, UNC_SPACE_MMIO, address + 4, &high);
	if (!found && !in_window(bus->sim, address))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"there is nothing at physical address 0x%llx",
				(unsigned long long)address);
	*value = low | (uint64_t)high << 32;
	return 0;
}

static int memory(struct unc_bus *base, uint64_t address, void *buf, size_t size,
		  struct unc_error *err)
{
	unsigned char *to = buf;
	int rc;

	if (!of(base)->sim->options.registers)
		return unc_fail(err, UNC_ERR_PERMISSION, "physical memory: permission denied");

	while (size) {
		uint64_t value = 0;
		size_t skip = address & 7, part = 8 - skip < size ? 8 - skip : size;

		if ((rc = word_at(of(base), address & ~(uint64_t)7, &value, err)) < 0)
			return rc;
		value >>= 8 * skip;
		for (size_t i = 0; i < part; i++, value >>= 8)
			*to++ = (unsigned char)value;
		address += part;
		size -= part;
	}
	return 0;
}

/* The machine owns the bus. */
static void close_bus(struct unc_bus *base)
{
	(void)base;
}

static const struct unc_bus_methods sim_bus_methods = {
	.name = "simulated", .scan = scan, .config = config, .memory = memory, .close = close_bus};

/* Do the addresses that the machine chooses fit the BAR registers? */
static int check_bars(const struct unc_table *table, struct unc_error *err)
{
	for (size_t i = 0; i < table->n_bar; i++) {
		const struct unc_tbl_bar *bar = &table->bar[i];

		for (unsigned e = 1; e < bar->count; e++)
			if (unc_sim_bar_element(bar, e) <= unc_sim_bar_element(bar, e - 1))
				return unc_fail(err, UNC_ERR_TABLE,
						"bar %s: its bits cannot tell %u windows of 0x%x "
						"apart",
						unc_tbl_str(table, bar->name), bar->count,
						bar->size);
	}
	return 0;
}

int unc_sim_bus_build(struct unc_sim *sim, struct unc_error *err)
{
	int rc = check_bars(sim->table, err);

	if (rc < 0)
		return rc;
	sim->bus.bus.methods = &sim_bus_methods;
	sim->bus.sim = sim;
	for (unsigned socket = 0; socket < (unsigned)sim->options.sockets && rc == 0; socket++)
		rc = add_socket(sim, socket, err);
	if (rc < 0)
		return rc;
	if (sim->bus.lacks)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	if (sim->bus.bus.n_functions)
		qsort(sim->bus.bus.function, sim->bus.bus.n_functions,
		      sizeof(*sim->bus.bus.function), compare_function);
	return 0;
}

void unc_sim_bus_free(struct unc_sim *sim)
{
	for (int i = 0; i < SIM_MAX_SOCKETS * SIM_MAX_TABLES; i++)
		free(sim->bus.memory[i / SIM_MAX_TABLES][i % SIM_MAX_TABLES].word);
	free(sim->bus.bus.function);
	free(sim->bus.config);
}
