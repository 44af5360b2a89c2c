/* SPDX-License-Identifier: BSD-3-Clause */
#include "discover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover_walk.h"
#include "grow.h"

enum { MAX_OFFSET = 4096 }; /* of PCI configuration space */

void unc_walk_note(const struct unc_walk *walk, const char *format, ...)
{
	char text[UNC_ERROR_MAX];
	va_list args;

	if (!walk->note)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	walk->note(walk->user, text);
}

struct unc_instance *unc_walk_add(struct unc_walk *walk, unsigned type, int socket, unsigned index,
				  struct unc_error *err)
{
	struct unc_instance *unit;

	void *more = unc_grow(walk->unit, walk->n, sizeof(*walk->unit));

	if (!more) {
		unc_fail(err, UNC_ERR_MEMORY, "out of memory");
		return NULL;
	}
	walk->unit = more;
	unit = &walk->unit[walk->n++];
	*unit = (struct unc_instance){
		.type = (uint16_t)type,
		.socket = (uint16_t)socket,
		.index = (uint16_t)index,
		.status_position = -1,
	};
	return unit;
}

static bool at_place(const struct unc_pci_function *f, unsigned device, unsigned devfn)
{
	return f->device == device && (devfn == UNC_ANY_DEVFN || f->devfn == devfn);
}

/* A function that may be the one that is looked for, though it is not known to be. */
static int fail_doubtful(const struct unc_walk *walk, size_t i, int socket, struct unc_error *err)
{
	const struct unc_pci_function *f = &walk->function[i];
	struct unc_error why = {0};

	if (walk->socket[i] == socket)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"PCI function %04x:%02x:%02x.%x does not tell what it is: %s",
				f->domain, f->bus, f->devfn >> 3, f->devfn & 7,
				unc_fs_reason(f->errno_value));
	unc_walk_why(walk, f, &why);
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"PCI function %04x:%02x:%02x.%x: the socket of its bus is not known: %s",
			f->domain, f->bus, f->devfn >> 3, f->devfn & 7, why.text);
}

int unc_walk_function(const struct unc_walk *walk, int socket, unsigned device, unsigned devfn,
		      const struct unc_pci_function **out, struct unc_error *err)
{
	const struct unc_pci_function *found = NULL;
	size_t doubtful = walk->n_functions;

	for (size_t i = 0; i < walk->n_functions; i++) {
		const struct unc_pci_function *f = &walk->function[i];
		bool here = walk->socket[i] == socket, is = at_place(f, device, devfn);

		if (here && is && found)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"two PCI functions in one place of socket %d: "
					"%04x:%02x:%02x.%x and %04x:%02x:%02x.%x are both "
					"8086:%04x",
					socket, found->domain, found->bus, found->devfn >> 3,
					found->devfn & 7, f->domain, f->bus, f->devfn >> 3,
					f->devfn & 7, device);
		if (here && is)
			found = f;
		else if ((here || walk->socket[i] == UNC_SOCKET_UNKNOWN) &&
			 (is || at_place(f, 0, devfn)))
			doubtful = i;
	}
	*out = found;
	if (found)
		return 0;
	if (walk->scan.code)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", walk->scan.text);
	if (doubtful < walk->n_functions)
		return fail_doubtful(walk, doubtful, socket, err);
	return unc_fail(err, UNC_ERR_NOT_FOUND, "there is no such PCI function");
}

const struct unc_pci_function *unc_walk_address(const struct unc_walk *walk, uint64_t address,
						int *socket)
{
	for (size_t i = 0; i < walk->n_functions; i++) {
		const struct unc_pci_function *f = &walk->function[i];

		if (UNC_PCI(f->domain, f->bus, f->devfn, 0) == UNC_PCI_FUNCTION(address)) {
			*socket = walk->socket[i];
			return f;
		}
	}
	return NULL;
}

int unc_walk_config(const struct unc_walk *walk, const struct unc_pci_function *f, unsigned offset,
		    uint32_t *value, struct unc_error *err)
{
	return walk->bus->methods->config(walk->bus, f, offset, value, err);
}

static int compare_functions(const void *pa, const void *pb)
{
	const struct unc_pci_function *a = pa, *b = pb;

	if (a->domain != b->domain)
		return a->domain - b->domain;
	if (a->bus != b->bus)
		return a->bus - b->bus;
	return a->devfn - b->devfn;
}

static int scan(struct unc_walk *walk, struct unc_error *err)
{
	if (walk->bus) {
		walk->bus->note = walk->note;
		walk->bus->user = walk->user;
		walk->bus->methods->scan(walk->bus, &walk->function, &walk->n_functions,
					 &walk->scan);
		if (walk->scan.code == UNC_ERR_MEMORY)
			return unc_fail(err, UNC_ERR_MEMORY, "%s", walk->scan.text);
		if (walk->scan.code)
			unc_walk_note(walk, "no PCI functions: %s", walk->scan.text);
	}
	if (walk->n_functions)
		qsort(walk->function, walk->n_functions, sizeof(*walk->function),
		      compare_functions);
	return unc_walk_sockets(walk, err);
}

/* ------------------------------------------------------------------ the whole */

/* In a virtual machine the monitors' MSRs are not there: reading them faults. */
static void refuse_virtual(struct unc_walk *walk)
{
	if (!walk->topo->hypervisor || walk->n_ubox)
		return;
	for (size_t i = 0; i < walk->n; i++) {
		struct unc_instance *unit = &walk->unit[i];

		/* Counters of the kernel may be passed on: it will tell. */
		if (!unit->available || unit->part[0].space == UNC_SPACE_PERF)
			continue;
		unit->available = false;
		snprintf(unit->reason, sizeof(unit->reason),
			 "virtual machine: the hypervisor does not pass the uncore monitors on");
	}
}

static int compare_units(const void *pa, const void *pb)
{
	const struct unc_instance *a = pa, *b = pb;

	if (a->type != b->type)
		return a->type - b->type;
	if (a->socket != b->socket)
		return a->socket - b->socket;
	return a->index - b->index;
}

/* Units of a type that share their registers' place: each has some of its own there. */
static bool shares_place(const struct unc_table *table, const struct unc_tbl_type *type)
{
	for (uint32_t i = 0; i < type->regs.n; i++)
		if (table->reg[type->regs.first + i].per_unit)
			return true;
	return false;
}

/* Two units at one address are one unit, and count once. */
static void refuse_twins(struct unc_walk *walk)
{
	for (size_t i = 0; i < walk->n; i++) {
		struct unc_instance *unit = &walk->unit[i];
		const struct unc_place *place = &unit->part[0];
		const char *name = unc_tbl_str(walk->table, walk->table->type[unit->type].name);

		if (shares_place(walk->table, &walk->table->type[unit->type]))
			continue;
		for (size_t k = i; unit->available && k-- > 0;) {
			const struct unc_instance *other = &walk->unit[k];

			if (other->type != unit->type)
				break;
			if (!other->available || other->part[0].space != place->space ||
			    other->part[0].base != place->base ||
			    other->part[0].target != place->target)
				continue;
			unit->available = false;
			snprintf(unit->reason, sizeof(unit->reason),
				 "it is at %s, where %s%u of socket %u is: one of the two does "
				 "not exist",
				 unit->location, name, other->index, other->socket);
		}
	}
}

static int find_units(struct unc_walk *walk, struct unc_error *err)
{
	int rc = 0;

	if (walk->table->discovery == UNC_DISCOVERY_TABLE)
		return unc_discover_table(walk, err);
	for (unsigned type = 0; type < walk->table->n_type && rc == 0; type++)
		for (int socket = 0; socket < walk->topo->n_sockets && rc == 0; socket++)
			rc = walk->table->type[type].pool ? 0
							  : unc_fixed_type(walk, type, socket, err);
	return rc;
}

int unc_discover(const struct unc_table *table, struct unc_topology *topo, struct unc_bus *bus,
		 unc_note_fn note, void *user, struct unc_instances *out, struct unc_error *err)
{
	struct unc_walk walk = {
		.table = table, .topo = topo, .bus = bus, .note = note, .user = user};
	int rc = scan(&walk, err);

	if (rc == 0)
		rc = find_units(&walk, err);
	if (rc == 0) {
		refuse_virtual(&walk);
		if (walk.n)
			qsort(walk.unit, walk.n, sizeof(*walk.unit), compare_units);
		refuse_twins(&walk);
		*out = (struct unc_instances){.unit = walk.unit, .n = walk.n};
	} else {
		free(walk.unit);
	}
	free(walk.ubox);
	free(walk.socket);
	free(walk.function);
	return rc;
}

void unc_instances_free(struct unc_instances *instances)
{
	free(instances->unit);
	*instances = (struct unc_instances){0};
}

/* A register of part 0 to try a unit by: a control, else the first that can be read. */
static int probe_register(const struct unc_table *table, const struct unc_tbl_type *type)
{
	if (type->n_counters)
		return type->first_ctl;
	for (uint32_t i = 0; i < type->regs.n; i++) {
		const struct unc_tbl_reg *reg = &table->reg[type->regs.first + i];

		if (!reg->part && !(reg->flags & UNC_REG_WO))
			return (int)(type->regs.first + i);
	}
	return -1;
}

/* Whether a unit can be read and, where it has counters to be programmed, may be written: nothing
 * is. */
static int probe(const struct unc_table *table, const struct unc_instance *unit,
		 struct unc_access *access, struct unc_error *err)
{
	const struct unc_tbl_type *type = &table->type[unit->type];
	struct unc_reg_op op = {.kind = UNC_OP_READ};
	int reg = probe_register(table, type), rc;

	if (reg < 0)
		return 0;
	rc = unc_instance_reg(table, unit, (unsigned)reg, &op.reg, err);
	if (rc == 0)
		rc = unc_access_prepare(access, &op, 1, err);
	if (rc < 0)
		return rc;
	if (unc_access_run(access, &op, 1) < 0)
		return unc_fail(err, op.error, "%s: %s", unit->location,
				unc_fs_reason(op.errno_value));
	/* A control has reserved bits that are 0, a counter fewer than 64: nobody answers with all
	 * ones. */
	if ((type->n_counters || op.reg.width == 64) && !unc_space_of_thread(op.reg.space) &&
	    op.value == (op.reg.width == 64 ? UINT64_MAX : UINT32_MAX))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%s reads as all ones: hidden by the BIOS, or switched off",
				unit->location);
	if (!type->n_counters)
		return 0;
	op = (struct unc_reg_op){.reg = op.reg, .kind = UNC_OP_WRITE};
	return unc_access_prepare(access, &op, 1, err);
}

/* Whether the CPU knows no register of a unit: reading faults, on each of them. */
static bool is_nowhere(const struct unc_table *table, const struct unc_instance *unit,
		       struct unc_access *access)
{
	const struct unc_range *regs = &table->type[unit->type].regs;

	for (uint32_t i = 0; i < regs->n; i++) {
		const struct unc_tbl_reg *reg = &table->reg[regs->first + i];
		struct unc_reg_op op = {.kind = UNC_OP_READ};

		if (reg->part || reg->flags & (UNC_REG_WO | UNC_REG_ABS))
			continue;
		if (unc_instance_reg(table, unit, regs->first + i, &op.reg, NULL) < 0 ||
		    unc_access_prepare(access, &op, 1, NULL) == 0 || op.errno_value != EIO)
			return false;
	}
	return true;
}

/* Takes the doubtful units that are nowhere off the end of their type and socket. One before
 * another that answers stays: it should be there. */
static void drop_nowhere(const struct unc_table *table, struct unc_instances *instances,
			 struct unc_access *access)
{
	const struct unc_instance *next = NULL; /* the one behind, if it stays */
	size_t n = instances->n;

	for (size_t i = n; i-- > 0;) {
		struct unc_instance *unit = &instances->unit[i];
		bool last = !next || next->type != unit->type || next->socket != unit->socket;

		if (last && unit->doubtful && !unit->available && is_nowhere(table, unit, access)) {
			memmove(unit, unit + 1, (--n - i) * sizeof(*unit));
			continue;
		}
		next = unit;
	}
	instances->n = n;
}

void unc_instances_probe(const struct unc_table *table, struct unc_instances *instances,
			 struct unc_access *access)
{
	for (size_t i = 0; i < instances->n; i++) {
		struct unc_instance *unit = &instances->unit[i];
		struct unc_error why = {0};

		if (!unit->available || probe(table, unit, access, &why) == 0)
			continue;
		unit->available = false;
		snprintf(unit->reason, sizeof(unit->reason), "%.*s", UNC_REASON_MAX - 1, why.text);
	}
	drop_nowhere(table, instances, access);
}

/* --------------------------------------------------------------- one instance */

void unc_instance_locate(struct unc_instance *unit)
{
	const struct unc_place *place = &unit->part[0];
	uint64_t base = place->base;

	if (place->space == UNC_SPACE_MSR && !place->present)
		snprintf(unit->location, sizeof(unit->location), "msr 0x%" PRIx64, base);
	else if (place->space == UNC_SPACE_MSR)
		snprintf(unit->location, sizeof(unit->location), "msr 0x%" PRIx64 " on cpu %u",
			 base, place->target);
	else if (unc_space_of_thread(place->space))
		snprintf(unit->location, sizeof(unit->location), "%s of cpu %u",
			 unc_space_name(place->space), place->target);
	else if (place->space == UNC_SPACE_PCI)
		snprintf(unit->location, sizeof(unit->location), "pci %04x:%02x:%02x.%x",
			 UNC_PCI_DOMAIN(base), UNC_PCI_BUS(base), UNC_PCI_DEVFN(base) >> 3,
			 UNC_PCI_DEVFN(base) & 7);
	else
		snprintf(unit->location, sizeof(unit->location), "mmio 0x%" PRIx64, base);
}

static void locate_nominal(const struct unc_table *table, const struct unc_tbl_where *where,
			   struct unc_instance *unit)
{
	char *text = unit->location;

	if (unc_space_of_thread(unit->part[0].space))
		snprintf(text, sizeof(unit->location), "%s", unc_space_name(unit->part[0].space));
	else if (unit->part[0].space == UNC_SPACE_MSR)
		snprintf(text, sizeof(unit->location), "msr 0x%" PRIx64, where->base);
	else if (unit->part[0].space == UNC_SPACE_PCI)
		snprintf(text, sizeof(unit->location), "pci %02x.%x", where->devfn >> 3,
			 where->devfn & 7);
	else
		snprintf(text, sizeof(unit->location), "mmio %.20s%u+0x%" PRIx64,
			 unc_tbl_str(table, table->bar[where->bar].name), where->bar_index,
			 where->base);
}

void unc_instance_nominal(const struct unc_table *table, unsigned type, unsigned index,
			  struct unc_instance *out)
{
	const struct unc_tbl_type *row = &table->type[type];
	struct unc_instance unit = {
		.type = (uint16_t)type, .index = (uint16_t)index, .status_position = -1};

	for (unsigned i = 0; i < row->parts.n && i < UNC_MAX_PARTS; i++) {
		const struct unc_tbl_part *part = &table->part[row->parts.first + i];
		const struct unc_tbl_where *where = &table->where[part->where.first + index];
		struct unc_place *place = &unit.part[i];

		place->space = part->space;
		if (index >= part->where.n)
			continue;
		place->present = true;
		place->base = where->base;
		if (part->space == UNC_SPACE_PCI)
			place->base = UNC_PCI(0, 0, where->devfn, where->base);
		if (i == 0)
			locate_nominal(table, where, &unit);
	}
	unit.available = unit.part[0].present;
	if (!unit.available)
		snprintf(unit.reason, sizeof(unit.reason),
			 "only the machine's discovery table tells the place");
	*out = unit;
}

int unc_instance_reg(const struct unc_table *table, const struct unc_instance *unit, unsigned reg,
		     struct unc_reg *out, struct unc_error *err)
{
	const struct unc_tbl_reg *row = &table->reg[reg];
	const struct unc_place *place = &unit->part[row->part];
	int64_t offset = row->offset + (int64_t)row->per_unit * unit->index;
	uint64_t address;

	if (!place->present)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s%u: register %s: %s",
				unc_tbl_str(table, table->type[unit->type].name), unit->index,
				unc_tbl_str(table, row->name),
				*unit->reason ? unit->reason : "its place is not known");
	if (place->space == UNC_SPACE_PCI) {
		if (!(row->flags & UNC_REG_ABS))
			offset += UNC_PCI_OFFSET(place->base);
		if (offset < 0 || offset + row->width / 8 > MAX_OFFSET)
			return unc_fail(err, UNC_ERR_TABLE, "%s%u: register %s: offset %lld",
					unc_tbl_str(table, table->type[unit->type].name),
					unit->index, unc_tbl_str(table, row->name),
					(long long)offset);
		address = UNC_PCI_FUNCTION(place->base) | (uint64_t)offset;
	} else {
		address = row->flags & UNC_REG_ABS ? (uint64_t)(uint32_t)row->offset
						   : place->base + (uint64_t)offset;
	}
	*out = (struct unc_reg){
		.address = address,
		.target = place->target,
		.space = place->space,
		.width = row->width,
	};
	return 0;
}
