/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices of a machine (devices=on): each PCIe stack has a root bus, registers that tell which, and
 * something on its ports, in files as Linux has them.
 *
 * Firmware numbers root buses in the order of the stacks' ids, from the first of the socket on. Traffic is
 * in port 0 and the one in the middle (workload.tbl), where stacks have devices in turns: a card of two
 * functions and a virtual one, and a disk; a switch with two GPUs, and a disk; four disks on one slot
 * (bifurcation); disks behind a VMD. So devices have all of the traffic.
 */
#include <stdio.h>
#include <string.h>

#include "host/dump.h"
#include "sim/sim_machine.h"

enum {
	STEP = 6,     /* buses of a stack, at least */
	RESERVED = 17 /* of a socket, for monitors and the like (sim_socket.c) */
};

/* Names that were given. */
struct counts {
	unsigned disks, cards, gpus, domains;
};

/* A stack, and where its files go. */
struct stack {
	struct unc_sim *sim;
	struct unc_dump *files;
	const struct unc_tbl_type *type;
	unsigned socket, bus, below; /* the next bus below it */
	unsigned turn;               /* of the stacks of the machine that have ports */
	struct counts *counts;
};

static const char *const classes[] = {"0x060400", "0x020000", "0x010802",
				      "0x030200", "0x010400", "0x088000"};
enum kind { BRIDGE, NETWORK, DISK, GPU, VMD, OTHER };

/* ---- files */

static void put(const struct stack *s, const char *address, const char *file, const char *format,
		unsigned value)
{
	char path[160], text[32];

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/%s", address, file);
	snprintf(text, sizeof(text), format, value);
	unc_dump_put(s->files, UNC_DUMP_FILE, path, text);
}

/* A function; way: its place behind the root bus, "0000:16:01.0/0000:17:00.0". */
static void add(const struct stack *s, const char *way, enum kind kind, unsigned vendor,
		unsigned device)
{
	const char *address = strrchr(way, '/') ? strrchr(way, '/') + 1 : way;
	char path[96], link[256], text[16];

	snprintf(link, sizeof(link), "../../../devices/pci0000:%02x/%s", s->bus, way);
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", address);
	unc_dump_put(s->files, UNC_DUMP_LINK, path, link);
	put(s, address, "vendor", "0x%04x\n", vendor);
	put(s, address, "device", "0x%04x\n", device);
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/class", address);
	snprintf(text, sizeof(text), "%s\n", classes[kind]);
	unc_dump_put(s->files, UNC_DUMP_FILE, path, text);
	put(s, address, "numa_node", "%u\n", s->socket);
}

/* What a driver makes of it, "net/eth2". */
static void name(const struct stack *s, const char *way, const char *class, const char *format,
		 unsigned number)
{
	const char *address = strrchr(way, '/') ? strrchr(way, '/') + 1 : way;
	char path[128], called[32];

	snprintf(called, sizeof(called), format, number);
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/%s/%s/uevent", address, class, called);
	unc_dump_put(s->files, UNC_DUMP_FILE, path, "");
}

/* ---- ports */

static bool has_ports(const struct unc_tbl_type *type)
{
	return type->ports && type->port_zero != UINT8_MAX;
}

/* The ports that have devices are from here on: of a CPU whose device 0 leads to the chipset, and is no
 * port by its number, those of the second half. */
static unsigned first_of(const struct unc_tbl_type *type)
{
	return type->port_dmi > 1 && !type->port_zero ? type->ports / 2u : 0;
}

/* How far it is from the first to the one in the middle. */
static unsigned half_of(const struct unc_tbl_type *type)
{
	return (type->ports - first_of(type)) / 2;
}

/* "0000:16:02.0/": the root port, and a slash. */
static void port(struct stack *s, unsigned number, char *way, size_t size)
{
	snprintf(way, size, "0000:%02x:%02x.0", s->bus,
		 s->type->port_zero + first_of(s->type) + number);
	add(s, way, BRIDGE, 0x8086, 0x352a);
	put(s, way, "current_link_speed", "%u.0 GT/s PCIe\n", 32);
	put(s, way, "current_link_width", "%u\n", number ? 4 : 16);
	strncat(way, "/", size - strlen(way) - 1);
	s->below++;
}

static void disk(struct stack *s, const char *way)
{
	char at[128];

	snprintf(at, sizeof(at), "%s0000:%02x:00.0", way, s->below);
	add(s, at, DISK, 0x144d, 0xa80a);
	name(s, at, "nvme", "nvme%u", s->counts->disks++);
}

static void card(struct stack *s, const char *way)
{
	char at[128], path[96];

	for (unsigned f = 0; f < 3; f++) {
		snprintf(at, sizeof(at), "%s0000:%02x:00.%u", way, s->below, f);
		add(s, at, NETWORK, 0x15b3, f < 2 ? 0x101b : 0x101c);
		if (f == 2)
			break;
		name(s, at, "infiniband", "mlx5_%u", s->counts->cards);
		name(s, at, "net", "eth%u", s->counts->cards++);
	}
	snprintf(path, sizeof(path), "sys/bus/pci/devices/0000:%02x:00.2/physfn", s->below);
	snprintf(at, sizeof(at), "../0000:%02x:00.0", s->below);
	unc_dump_put(s->files, UNC_DUMP_LINK, path, at);
}

static void fabric(struct stack *s, const char *way)
{
	char up[128], down[160], at[192];
	unsigned bus = s->below;

	snprintf(up, sizeof(up), "%s0000:%02x:00.0", way, bus);
	add(s, up, BRIDGE, 0x1000, 0xc030);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(down, sizeof(down), "%s/0000:%02x:%02x.0", up, bus + 1, 4 * i);
		add(s, down, BRIDGE, 0x1000, 0xc030);
		snprintf(at, sizeof(at), "%s/0000:%02x:00.0", down, bus + 2 + i);
		add(s, at, GPU, 0x10de, 0x2330);
		name(s, at, "drm", "card%u", 1 + s->counts->gpus++);
	}
	s->below += 3;
}

/* Disks behind root ports in a domain of the VMD's own, from 0x10000 on. */
static void vmd(struct stack *s)
{
	char way[64], at[160];

	snprintf(way, sizeof(way), "0000:%02x:00.5", s->bus);
	add(s, way, VMD, 0x8086, 0x28c0);
	for (unsigned i = 0; i < 2; i++) {
		unsigned device = s->type->port_zero + first_of(s->type) + i * half_of(s->type),
			 domain = 0x10000 + s->counts->domains;

		snprintf(at, sizeof(at), "%s/pci%x:00/%x:00:%02x.0", way, domain, domain, device);
		add(s, at, BRIDGE, 0x8086, 0x352a);
		snprintf(at + strlen(at), sizeof(at) - strlen(at), "/%x:%02x:00.0", domain, 1 + i);
		add(s, at, DISK, 0x144d, 0xa80a);
		name(s, at, "nvme", "nvme%u", s->counts->disks++);
	}
	s->counts->domains++;
}

static void fill(struct stack *s)
{
	unsigned turn = s->turn % 4;
	char way[96];

	if (turn == 3)
		vmd(s);
	for (unsigned i = 0; i < 4 && turn < 3; i++) {
		/* The first and the one in the middle; or all. */
		if (turn < 2 && i % 2)
			continue;
		port(s, i * half_of(s->type) / 2, way, sizeof(way));
		if (turn == 0 && i == 0)
			card(s, way);
		else if (turn == 1 && i == 0)
			fabric(s, way);
		else
			disk(s, way);
	}
}

/* Devices of the CPU itself: those of stacks that have no root ports. */
static void add_endpoints(const struct stack *s, const struct unc_tbl_map *map)
{
	const struct unc_tbl_endpoint *row = NULL;
	char at[32];
	unsigned device = 1;

	while ((row = UNC_NEXT(s->sim->table, endpoint, s->type->endpoints, row))) {
		struct stack behind = *s;

		if (row->chip && row->chip != map->chip)
			continue;
		behind.bus += row->bus;
		snprintf(at, sizeof(at), "0000:%02x:%02x.0", behind.bus, row->bus ? 0 : device++);
		add(&behind, at, OTHER, 0x8086, row->id);
	}
}

/* ---- buses */

/* The map that holds: the first. */
static const struct unc_tbl_map *map_of(const struct unc_sim *sim, const struct unc_tbl_type *type)
{
	const struct unc_tbl_map *map = NULL;

	map = UNC_NEXT(sim->table, map, type->maps, map);
	return map;
}

/* How many stacks of a socket come before, by id. */
static unsigned rank_of(const struct sim_type *type, const struct unc_tbl_map *map, unsigned id)
{
	unsigned n = 0;

	for (unsigned i = 0; i < UNC_MAX_STACKS; i++)
		n += unc_bits_has(&type->present, i) && unc_map_id(map, i) < id;
	return n;
}

/* The registers of one stack. */
static void tell(struct unc_sim *sim, const struct unc_tbl_type *type, unsigned socket, unsigned id,
		 unsigned bus)
{
	const struct unc_tbl_map *map = NULL, *holds = map_of(sim, type);
	unsigned first = socket * unc_sim_bus_range(sim),
		 monitors = unc_sim_bus_number(sim, socket);

	while ((map = UNC_NEXT(sim->table, map, type->maps, map))) {
		unsigned byte = bus << 8 * (id % 4);

		if (map->tells == UNC_MAP_OWN) {
			unc_sim_bus_function(sim, bus, 0, map->id, socket);
			unc_sim_bus_config(sim, bus, 0, map->offset[0],
					   id << __builtin_ctz(map->mask) | socket);
		} else if (map->tells == UNC_MAP_LIST) {
			unsigned word = map->offset[id / 16] + id % 16 / 4 * 4;

			if (map->chip && holds && map->chip != holds->chip)
				continue;
			unc_sim_bus_function(sim, first, UNC_DEVFN(3, 0), map->id, socket);
			unc_sim_bus_config(sim, first, UNC_DEVFN(3, 0), map->valid, 1u << id);
			unc_sim_bus_config(sim, first, UNC_DEVFN(3, 0), word, byte);
		} else if (map->msr) {
			struct unc_reg reg = {.address = map->msr,
					      .target = socket,
					      .space = UNC_SPACE_MSR,
					      .width = 64};
			struct sim_reg *at = unc_sim_at(sim, &reg);

			if (at)
				at->value |= (uint64_t)1 << 63 | (uint64_t)bus << 8 * id;
		} else {
			unc_sim_bus_function(sim, monitors, map->devfn, 0x2016, socket);
			unc_sim_bus_config(sim, monitors, map->devfn, map->offset[id / 4], byte);
		}
		if (map->chip) {
			unc_sim_bus_function(sim, monitors, UNC_DEVFN(0x1e, 3), map->chip_id,
					     socket);
			unc_sim_bus_config(sim, monitors, UNC_DEVFN(0x1e, 3), map->chip_offset,
					   (uint32_t)map->chip << __builtin_ctz(map->chip_mask));
		}
	}
}

static int add_stacks(struct unc_sim *sim, struct sim_type *type, struct unc_dump *files,
		      struct unc_error *err)
{
	const struct unc_tbl_map *map = map_of(sim, type->row);
	unsigned range = unc_sim_bus_range(sim), step, turn = 0;
	struct counts counts = {0};

	if (!map)
		return 0;
	step = (range - RESERVED) / (unc_bits_count(&type->present) + 1);
	if (step < STEP)
		return unc_fail(
			err, UNC_ERR_INVALID,
			"simulated machine: devices=on: so many sockets leave too few buses");
	for (unsigned socket = 0; socket < sim->options.sockets; socket++)
		for (unsigned i = 0; i < UNC_MAX_STACKS; i++) {
			unsigned id = unc_map_id(map, i);
			struct stack s = {.sim = sim,
					  .files = files,
					  .type = type->row,
					  .socket = socket,
					  .counts = &counts};

			if (id == UNC_NO_STACK || !unc_bits_has(&type->present, i))
				continue;
			/* Behind the UBox of the socket before a bus may be its own. */
			s.bus = socket * range + (socket > 0) + rank_of(type, map, id) * step;
			s.below = s.bus;
			tell(sim, type->row, socket, id, s.bus);
			s.turn = turn;
			if (id >= 8 && id < 24 && type->row->endpoints.n)
				add_endpoints(&s, map);
			else if (has_ports(type->row) && ++turn)
				fill(&s);
		}
	return 0;
}

int unc_sim_devices(struct unc_sim *sim, struct unc_dump *files, struct unc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < sim->table->n_type && rc == 0 && sim->options.devices; i++)
		if (sim->table->type[i].ports && unc_bits_count(&sim->type[i].present))
			rc = add_stacks(sim, &sim->type[i], files, err);
	return rc;
}
