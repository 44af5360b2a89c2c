/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each socket has on its buses.
 *
 * Every socket has a range of buses (half of the 256 with one or two sockets, an eighth with
 * more than four). Monitors and the UBox are on the last bus of the range, the one before the
 * last where there are discovery tables; the discovery device is alone on a lower one, so that
 * its socket follows from its NUMA node only. Where buses belong to the UBox below them, that is on
 * the first bus of the range.
 */
#include <stdlib.h>

#include "sim/sim_machine.h"

enum {
	VENDOR = 0x8086,
	DISCOVERY_ID = 0x09a7, /* out-of-band management device (Linux uncore_discovery.h) */
	DISCOVERY_BACK = 0x15, /* buses below the last one */
	CAP_DVSEC = 0x23,
	UNKNOWN_ID = 0x0001, /* of functions of which the tables have none */
	CAP_AER = 0x01,
	DVSEC_TELEMETRY = 2,
	DVSEC_PMON = 1
};
static const uint64_t discovery_memory = 0x201ffc000000, discovery_socket = 0x10000000,
		      discovery_table = 0x2000000;

/* The functions that units live in. */
static void add_units(struct unc_sim *sim, const struct sim_type *type, unsigned socket)
{
	const struct unc_table *table = sim->table;

	for (unsigned p = 0; p < type->row->parts.n; p++) {
		const struct unc_tbl_part *part = unc_type_part(table, type->number, p);
		const struct unc_tbl_where *w;

		for (unsigned i = 0; (w = unc_part_place(table, part, i)); i++)
			if (part->space == UNC_SPACE_PCI && unc_bits_has(&type->present, i) &&
			    !unc_sim_chosen(sim, SIM_HIDDEN, type->number, p, (int)i, (int)socket))
				unc_sim_bus_function(sim, unc_sim_bus_number(sim, socket), w->devfn,
						     w->device_id ? w->device_id : UNKNOWN_ID,
						     socket);
	}
}

/* The UBox: which node this bus belongs to, and which socket has which node. */
static void add_ubox(struct unc_sim *sim, unsigned socket)
{
	const struct unc_tbl_topology *topology = &sim->table->topology;
	unsigned bus = topology->inherit == UNC_INHERIT_LOWER ? socket * unc_sim_bus_range(sim)
							      : unc_sim_bus_number(sim, socket);
	unsigned devfn = topology->devfn;
	uint32_t map = 0;

	if (!topology->ubox_id)
		return;
	for (unsigned i = 0; i < sim->options.sockets; i++)
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
	struct sim_memory *memory = &sim->bus.memory[socket * SIM_MAX_TABLES + number];
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

/* Do the addresses that the machine chooses fit the BAR registers? */
static int check_bars(const struct unc_table *table, struct unc_error *err)
{
	for (const struct unc_tbl_bar *bar = table->bar; bar < table->bar + table->n_bar; bar++)
		for (unsigned e = 1; e < bar->count; e++)
			if (unc_sim_bar_element(bar, e) <= unc_sim_bar_element(bar, e - 1))
				return unc_fail(err, UNC_ERR_TABLE,
						"bar %s: its bits cannot tell %u windows of 0x%x "
						"apart",
						unc_tbl_str(table, bar->name), bar->count,
						bar->size);
	return 0;
}

int unc_sim_bus_build(struct unc_sim *sim, struct unc_error *err)
{
	int rc = check_bars(sim->table, err);

	if (rc < 0)
		return rc;
	sim->bus.bus.methods = &unc_sim_bus_methods;
	sim->bus.sim = sim;
	for (unsigned socket = 0; socket < sim->options.sockets && rc == 0; socket++)
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
