/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What discovery sees of the machine: PCI functions, configuration space, physical memory.
 * Registers that are no monitor's read as on a real function: header, what discovery needs, and 0.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "sim/sim_machine.h"

enum {
	VENDOR = 0x8086,
	CLASS_SYSTEM = 0x08800000,
	UNPRIVILEGED = 64, /* bytes of configuration space that everybody may read */
	MULTI_FUNCTION = 0x00800000
};

/* ---- what is there */

void unc_sim_bus_function(struct unc_sim *sim, unsigned number, unsigned devfn, unsigned id,
			  unsigned socket)
{
	struct unc_bus *bus = &sim->bus.bus;
	struct unc_pci_function *added;
	int clusters = sim->options.no_nodes ? 0 : (int)sim->options.clusters;
	int cpus = unc_sim_cpus(sim), first = (int)socket * cpus;

	/* Next to it is what is of its node, the first of its socket. */
	if (clusters) {
		cpus /= clusters;
	} else {
		first = 0;
		cpus *= (int)sim->options.sockets;
	}
	for (size_t i = 0; i < bus->n_functions; i++)
		if (bus->function[i].bus == number && bus->function[i].devfn == devfn)
			return;
	added = UNC_ADD_TO(bus->function, bus->n_functions);
	sim->bus.lacks |= !added;
	if (added)
		*added = (struct unc_pci_function){.bus = (uint8_t)number,
						   .devfn = (uint8_t)devfn,
						   .vendor = VENDOR,
						   .device = (uint16_t)id,
						   .kind = CLASS_SYSTEM >> 16,
						   .numa_node =
							   clusters ? (int)socket * clusters : -1,
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
	struct sim_config *config = config_at(bus, number, devfn, offset);

	if (!config && (config = UNC_ADD_TO(bus->config, bus->n_configs)))
		*config = (struct sim_config){.offset = (uint16_t)offset,
					      .bus = (uint8_t)number,
					      .devfn = (uint8_t)devfn};
	bus->lacks |= !config;
	if (config) /* several types have bits in a register that tells of them */
		config->value |= value;
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
	if (bus->sim->options.rights > SIM_RIGHTS_ALL && offset >= UNPRIVILEGED)
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
	for (unsigned s = 0; s < sim->options.sockets; s++)
		for (size_t b = 0; b < sim->table->n_bar; b++)
			for (unsigned i = 0; i < sim->table->bar[b].count; i++) {
				const struct unc_tbl_bar *bar = &sim->table->bar[b];
				uint64_t start = unc_sim_bar_address(bar, s, i);

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
		const struct sim_memory *memory = &bus->memory[i];

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

	if (of(base)->sim->options.rights > SIM_RIGHTS_ALL)
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

const struct unc_bus_methods unc_sim_bus_methods = {
	.scan = scan, .config = config, .memory = memory, .close = close_bus};

void unc_sim_bus_free(struct unc_sim *sim)
{
	for (int i = 0; i < SIM_MAX_SOCKETS * SIM_MAX_TABLES; i++)
		free(sim->bus.memory[i].word);
	free(sim->bus.bus.function);
	free(sim->bus.config);
}
