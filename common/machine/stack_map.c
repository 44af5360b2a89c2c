/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds root buses of PCIe stacks by registers. Writes nothing. */
#include "machine/stack_map.h"

#include <stdlib.h>

#include "machine/discover_walk.h"

enum { IDS = 32 };

/* Reads a dword; all ones are an error. */
static int read_word(const struct unc_walk *walk, const struct unc_pci_function *f, unsigned offset,
		     uint32_t *value, struct unc_error *err)
{
	int rc = unc_bus_config(walk->bus, f, offset, value, err);

	if (rc == 0 && *value == UINT32_MAX)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"pci %s offset 0x%x, which gives it, reads as all ones",
				unc_function_name(f).text, offset);
	return rc;
}

static int set_bus(struct unc_stack_bus *out, uint16_t domain, uint8_t bus,
		   const struct unc_tbl_map *map)
{
	*out = (struct unc_stack_bus){.domain = domain, .bus = bus, .map = map};
	return 0;
}

static int fail_none(const struct unc_walk *walk, const struct unc_tbl_map *map, int socket,
		     struct unc_error *err)
{
	if (walk->scan.code)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", walk->scan.text);
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"socket %d has no PCI function 8086:%04x, which gives it", socket, map->id);
}

/* ---- a byte for each id */

/* Takes the bus of a stack from its byte. There is no valid bit: bus 0 belongs to one stack only. */
static int bus_of_bytes(const struct unc_walk *walk, const struct unc_tbl_map *map,
			const struct unc_instance *unit, uint16_t domain, uint64_t bytes,
			struct unc_stack_bus *out, struct unc_error *err)
{
	uint8_t bus = (uint8_t)(bytes >> 8 * unc_map_id(map, unit->index));

	if (!bus && (unit->socket || unit->index != walk->table->type[unit->type].bus_zero))
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "the stack has no root bus");
	return set_bus(out, domain, bus, map);
}

static const struct unc_pci_function *ubox_of_socket(const struct unc_walk *walk, int socket)
{
	const struct unc_pci_function *f = walk->function;
	unsigned id = walk->table->topology.ubox_id;

	while (f < walk->end && (f->device != id || unc_walk_socket(walk, f) != socket))
		f++;
	return f < walk->end ? f : NULL;
}

static int by_msr(const struct unc_walk *walk, const struct unc_tbl_map *map,
		  const struct unc_instance *unit, struct unc_stack_bus *out, struct unc_error *err)
{
	/* The MSR does not have the segment, so that of the socket's UBox is used. */
	const struct unc_pci_function *f = ubox_of_socket(walk, unit->socket);
	uint64_t bytes;
	int rc = unc_walk_msr(walk, map->msr, unit->socket, false, &bytes, err);

	if (rc < 0)
		return rc;
	if (bytes == UINT64_MAX || !(bytes >> 63))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"msr 0x%x of socket %d, which gives it, %s", map->msr, unit->socket,
				bytes >> 63 ? "reads as all ones" : "says that it is not valid");
	return bus_of_bytes(walk, map, unit, f ? f->domain : 0, bytes, out, err);
}

static int by_bytes(const struct unc_walk *walk, const struct unc_tbl_map *map,
		    const struct unc_instance *unit, struct unc_stack_bus *out,
		    struct unc_error *err)
{
	const struct unc_pci_function *beside = NULL, *f = walk->function;
	uint32_t word[2] = {0};
	int rc = unc_walk_function(walk, unit->socket, map->id, UNC_ANY_DEVFN, &beside, err);

	while (rc == 0 && f < walk->end &&
	       (f->domain != beside->domain || f->bus != beside->bus || f->devfn != map->devfn))
		f++;
	if (rc < 0 || f == walk->end) {
		unc_error_clear(err);
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"socket %d has no PCI function %02x.%x beside 8086:%04x, which "
				"gives it",
				unit->socket, map->devfn >> 3u, map->devfn & 7u, map->id);
	}
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = read_word(walk, f, map->offset[i], &word[i], err);
	return rc < 0 ? rc
		      : bus_of_bytes(walk, map, unit, f->domain, (uint64_t)word[1] << 32 | word[0],
				     out, err);
}

/* ---- a function on each root bus */

static int by_own(const struct unc_walk *walk, const struct unc_tbl_map *map,
		  const struct unc_instance *unit, struct unc_stack_bus *out, struct unc_error *err)
{
	const struct unc_pci_function *is = NULL;
	unsigned id = unc_map_id(map, unit->index), n = 0;
	uint32_t value;
	int rc;

	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++) {
		if (f->device != map->id || unc_walk_socket(walk, f) != unit->socket)
			continue;
		if ((rc = read_word(walk, f, map->offset[0], &value, err)) < 0)
			return rc;
		n++;
		if ((value & map->mask) >> __builtin_ctz(map->mask) != id)
			continue;
		if (is)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"%s and %s both say that they are on its root bus",
					unc_function_name(is).text, unc_function_name(f).text);
		is = f;
	}
	if (!n)
		return fail_none(walk, map, unit->socket, err);
	return is ? set_bus(out, is->domain, is->bus, map)
		  : unc_fail(err, UNC_ERR_UNAVAILABLE, "the stack has no root bus");
}

/* ---- one function with the list of a socket */

/* The buses of the valid ids. */
struct list {
	const struct unc_pci_function *function;
	uint32_t valid;
	uint8_t bus[IDS];
};

static int read_bus_list(const struct unc_walk *walk, const struct unc_tbl_map *map, int socket,
			 struct list *list, struct unc_error *err)
{
	uint32_t word;
	int rc;

	/* A function without a valid id is ignored. */
	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++)
		if (f->device == map->id && unc_walk_socket(walk, f) == socket) {
			if ((rc = read_word(walk, f, map->valid, &word, err)) < 0)
				return rc;
			if (word && list->function)
				return unc_fail(err, UNC_ERR_UNAVAILABLE,
						"%s and %s both give the buses of socket %d",
						unc_function_name(list->function).text,
						unc_function_name(f).text, socket);
			if (word)
				*list = (struct list){.function = f, .valid = word};
		}
	if (!list->function)
		return fail_none(walk, map, socket, err);
	for (unsigned id = 0; id < IDS; id += 4) {
		unsigned offset = map->offset[id >= IDS / 2] + id % (IDS / 2);

		/* All ones are an error, so dwords without a valid id are not read. */
		if (!(list->valid >> id & 0xf))
			continue;
		if ((rc = read_word(walk, list->function, offset, &word, err)) < 0)
			return rc;
		for (unsigned i = 0; i < 4; i++)
			list->bus[id + i] = (uint8_t)(word >> 8 * i);
	}
	return 0;
}

static int by_list(const struct unc_walk *walk, const struct unc_tbl_map *map,
		   const struct unc_instance *unit, struct unc_stack_bus *out,
		   struct unc_error *err)
{
	struct list list = {.function = NULL};
	unsigned id = unc_map_id(map, unit->index);
	int rc = read_bus_list(walk, map, unit->socket, &list, err);

	if (rc < 0)
		return rc;
	if (!(list.valid >> id & 1))
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "the stack has no root bus");
	for (unsigned other = 0; other < IDS; other++)
		if (other != id && list.valid >> other & 1 && list.bus[other] == list.bus[id])
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"pci %s gives the bus %02x to two stacks",
					unc_function_name(list.function).text, list.bus[id]);
	if (!list.bus[id] && unit->socket)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"pci %s gives it the bus 0, which is of socket 0",
				unc_function_name(list.function).text);
	return set_bus(out, list.function->domain, list.bus[id], map);
}

/* ---- all maps */

/* Finds whether the map applies to this chip. */
static int is_of_chip(const struct unc_walk *walk, const struct unc_tbl_map *map, int socket,
		      bool *is, struct unc_error *err)
{
	const struct unc_pci_function *f;
	uint32_t value;
	int rc;

	*is = true;
	if (!map->chip)
		return 0;
	rc = unc_walk_function(walk, socket, map->chip_id, UNC_ANY_DEVFN, &f, err);
	if (rc == UNC_ERR_NOT_FOUND) {
		unc_error_clear(err);
		rc = unc_fail(
			err, UNC_ERR_UNAVAILABLE,
			"socket %d has no PCI function 8086:%04x, which tells the kind of CPU",
			socket, map->chip_id);
	}
	if (rc < 0 || (rc = read_word(walk, f, map->chip_offset, &value, err)) < 0)
		return rc;
	*is = (value & map->chip_mask) >> __builtin_ctz(map->chip_mask) == map->chip;
	return 0;
}

/* Checks that no other unit of the socket has the same id in the map: of two such units a socket should have
 * only one. */
static int check_twin(const struct unc_tbl_map *map, const struct unc_instances *units,
		      const struct unc_instance *unit, struct unc_error *err)
{
	for (size_t i = 0; i < units->n; i++) {
		const struct unc_instance *u = &units->unit[i];

		if (u != unit && u->type == unit->type && u->socket == unit->socket &&
		    unc_map_id(map, u->index) == unc_map_id(map, unit->index))
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"its root bus may also be that of unit %u: no source "
					"tells which of the two it is",
					u->index);
	}
	return 0;
}

static int by_map(const struct unc_walk *walk, const struct unc_tbl_map *map,
		  const struct unc_instances *units, const struct unc_instance *unit,
		  struct unc_stack_bus *out, struct unc_error *err)
{
	int rc;

	if (unc_map_id(map, unit->index) == UNC_NO_STACK)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"no source tells which root bus this unit has");
	if ((rc = check_twin(map, units, unit, err)) < 0)
		return rc;
	if (map->msr)
		return by_msr(walk, map, unit, out, err);
	return map->tells == UNC_MAP_OWN    ? by_own(walk, map, unit, out, err)
	       : map->tells == UNC_MAP_LIST ? by_list(walk, map, unit, out, err)
					    : by_bytes(walk, map, unit, out, err);
}

static int by_maps(const struct unc_walk *walk, const struct unc_instances *units,
		   const struct unc_instance *unit, struct unc_stack_bus *out,
		   struct unc_error *err)
{
	const struct unc_tbl_map *map = NULL;
	bool is, any = false;
	int rc = UNC_ERR_UNAVAILABLE;

	/* The first readable map decides; if none is, the error is that of the first. */
	while (rc < 0 &&
	       (map = UNC_NEXT(walk->table, map, walk->table->type[unit->type].maps, map))) {
		struct unc_error why = {0};

		if ((rc = is_of_chip(walk, map, unit->socket, &is, &why)) == 0) {
			rc = is ? by_map(walk, map, units, unit, out, &why) : UNC_ERR_UNAVAILABLE;
			any |= is;
		}
		if (why.code && !err->code)
			*err = why;
	}
	if (rc == 0)
		unc_error_clear(err);
	else if (!err->code && !any)
		unc_fail(err, UNC_ERR_UNAVAILABLE,
			 "no source tells which root buses the stacks of this kind of CPU have");
	return rc == 0 ? 0 : err->code;
}

int unc_stack_by_registers(const struct unc_table *table, const struct unc_topology *topo,
			   struct unc_bus *bus, const struct unc_instances *units,
			   const struct unc_instance *unit, struct unc_stack_bus *out,
			   struct unc_error *err)
{
	struct unc_topology *copy = malloc(sizeof(*copy)); /* the walk may add sockets */
	struct unc_walk walk = {.table = table, .topo = copy, .bus = bus};
	int rc = copy ? 0 : unc_no_memory(err);

	if (copy)
		*copy = *topo;
	if (copy && table->cpuid->unmapped && topo->model == table->cpuid->unmapped)
		rc = unc_fail(err, UNC_ERR_UNAVAILABLE,
			      "no source tells which root buses the stacks of this model have");
	if (rc == 0)
		rc = unc_walk_begin(&walk, err);
	if (rc == 0)
		rc = by_maps(&walk, units, unit, out, err);
	unc_walk_end(&walk);
	free(copy);
	return rc;
}

int unc_stack_allow(const struct unc_table *table, const struct unc_topology *topo,
		    struct unc_access *gate, struct unc_error *err)
{
	struct unc_walk walk = {.table = table, .topo = (struct unc_topology *)(uintptr_t)topo};
	struct unc_place cpu;
	int rc = 0;

	for (size_t i = 0; i < table->n_map; i++)
		for (int socket = 0; socket < topo->n_sockets && table->map[i].msr; socket++) {
			struct unc_allowed allowed = {.reg = {.address = table->map[i].msr,
							      .space = UNC_SPACE_MSR,
							      .width = 64},
						      .readable = true};

			/* Without a CPU the MSRs of a socket cannot be read. */
			if (unc_walk_cpu(&walk, socket, &cpu, NULL) < 0)
				continue;
			allowed.reg.target = cpu.target;
			if ((rc = unc_access_allow(gate, &allowed, 1, err)) < 0)
				return rc;
		}
	return 0;
}
