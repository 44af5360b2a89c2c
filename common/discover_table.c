/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units by the PMON discovery tables, which firmware leaves in memory, one or more a socket.
 * Layout: Intel 817509-001, section 1.9, tables 1-13 and 1-14, with the access type in bits
 * 63:62 as its code has it; unit type numbers and the encoding of PCI addresses: Linux
 * uncore_discovery.h.
 *
 * What a table says is believed only as far as it agrees with units.tbl: MSR numbers within the
 * monitors' range, memory within the BARs of the guide, PCI functions that exist and have the
 * right device id, registers at the distances known. A table that is broken as a whole is not
 * used at all: the places of units.tbl are, and a note says so.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover_walk.h"

enum {
	CAP_FIRST = 0x100, /* extended capabilities of PCI Express */
	CAP_DVSEC = 0x23,  /* designated vendor-specific */
	DVSEC_PMON = 1,
	VENDOR_INTEL = 0x8086,
	BAR_0 = 0x10,
	MAX_BIR = 5,
	MAP_SIZE = 0x80000, /* bytes that the guide maps */
	RECORD_WORDS = 3,
	ACCESS_MSR = 0,
	ACCESS_MMIO = 1,
	ACCESS_PCI = 2,
	MSR_SLACK = 0x100, /* units behind the last that units.tbl knows */
	PHYSICAL_BITS = 52
};

struct record {
	uint16_t type; /* index into table->type */
	uint16_t id;
	uint16_t position; /* in the global status */
	uint8_t n_controls, ctl, ctr, width, access;
	uint64_t address; /* of unit control */
	bool used;
};

/* What the tables of a socket say. */
struct listing {
	struct record *record;
	size_t n, size;
	unsigned tables; /* read */
	bool broken;
};

struct search {
	struct unc_walk *walk;
	struct listing socket[UNC_MAX_SOCKETS];
	uint64_t unknown[2]; /* unit type numbers below 128 that have been noted */
};

static unsigned bits(uint64_t word, unsigned high, unsigned low)
{
	return (unsigned)(word >> low & ((1ull << (high - low + 1)) - 1));
}

/* ------------------------------------------------------------- where tables are */

/*
 * The next PMON capability of a function behind *offset (0: the first). Returns false if there
 * is none. `seen`: the capabilities visited, because a broken list may turn round for ever.
 */
static bool next_dvsec(const struct unc_walk *walk, const struct unc_pci_function *f,
		       unsigned *offset, uint64_t seen[16])
{
	unsigned at = *offset ? *offset : CAP_FIRST;
	bool skip = *offset != 0;
	uint32_t head, vendor, id;

	while (at >= CAP_FIRST && unc_walk_config(walk, f, at, &head, NULL) == 0 && head &&
	       head != UINT32_MAX) {
		unsigned slot = at / 4;

		if (!skip && seen[slot / 64] >> slot % 64 & 1) {
			unc_walk_note(walk,
				      "pci %04x:%02x:%02x.%x: the list of capabilities is "
				      "endless",
				      f->domain, f->bus, f->devfn >> 3, f->devfn & 7);
			return false;
		}
		seen[slot / 64] |= 1ull << slot % 64;
		/* Capability numbers of DVSECs belong to their vendor; 0: not filled in. */
		if (!skip && bits(head, 15, 0) == CAP_DVSEC &&
		    unc_walk_config(walk, f, at + 4, &vendor, NULL) == 0 &&
		    unc_walk_config(walk, f, at + 8, &id, NULL) == 0 &&
		    (bits(vendor, 15, 0) == VENDOR_INTEL || bits(vendor, 15, 0) == 0) &&
		    bits(id, 15, 0) == DVSEC_PMON) {
			*offset = at;
			return true;
		}
		skip = false;
		at = bits(head, 31, 20) & ~3u;
	}
	return false;
}

/* The address in the BAR that a PMON capability names. */
static int table_address(const struct unc_walk *walk, const struct unc_pci_function *f,
			 unsigned cap, uint64_t *address, struct unc_error *err)
{
	uint32_t bir, low, high = 0;

	if (unc_walk_config(walk, f, cap + 12, &bir, err) < 0)
		return UNC_ERR_TABLE;
	bir = bits(bir, 2, 0);
	if (bir > MAX_BIR)
		return unc_fail(err, UNC_ERR_TABLE, "it names BAR %u, which does not exist", bir);
	if (unc_walk_config(walk, f, BAR_0 + 4 * bir, &low, err) < 0)
		return UNC_ERR_TABLE;
	if (low & 1 || low == UINT32_MAX)
		return unc_fail(err, UNC_ERR_TABLE, "BAR %u (0x%x) is no memory", bir, low);
	if (bits(low, 2, 1) == 2) {
		if (bir == MAX_BIR)
			return unc_fail(err, UNC_ERR_TABLE, "BAR %u cannot have 64 bits", bir);
		if (unc_walk_config(walk, f, BAR_0 + 4 * (bir + 1), &high, err) < 0)
			return UNC_ERR_TABLE;
	}
	*address = (uint64_t)high << 32 | (low & ~0xfu);
	if (!*address)
		return unc_fail(err, UNC_ERR_TABLE, "BAR %u has no address", bir);
	return 0;
}

/* ------------------------------------------------------------------- one table */

static int check_global(const uint64_t word[RECORD_WORDS], unsigned *stride, unsigned *max,
			struct unc_error *err)
{
	size_t size;

	*stride = bits(word[0], 15, 8);
	*max = bits(word[0], 25, 16);
	size = (size_t)(*max + 1) * *stride * 8;
	if ((word[0] == 0 && word[1] == 0) || word[0] == UINT64_MAX)
		return unc_fail(err, UNC_ERR_TABLE, "there is no table in its BAR");
	if (*stride < RECORD_WORDS)
		return unc_fail(err, UNC_ERR_TABLE,
				"broken: records %u words apart, where one has %d", *stride,
				RECORD_WORDS);
	if (bits(word[0], 63, 62) > ACCESS_PCI)
		return unc_fail(err, UNC_ERR_TABLE, "broken: access type 3 of global control");
	if (bits(word[0], 63, 62) == ACCESS_MSR && word[1] >> 32)
		return unc_fail(err, UNC_ERR_TABLE,
				"broken: global control 0x%" PRIx64 " is no MSR", word[1]);
	if (*max == 0)
		return unc_fail(err, UNC_ERR_TABLE, "broken: it has no unit records");
	if (size > MAP_SIZE)
		return unc_fail(err, UNC_ERR_TABLE,
				"truncated: %u records of %u bytes do not fit into 0x%x bytes",
				*max, *stride * 8, MAP_SIZE);
	return 0;
}

static int find_type(const struct unc_table *table, unsigned number)
{
	for (size_t i = 0; i < table->n_type; i++)
		if (table->type[i].discovery >= 0 && (unsigned)table->type[i].discovery == number)
			return (int)i;
	return -1;
}

static int add_record(struct listing *list, const struct record *record, struct unc_error *err)
{
	if (list->n == list->size) {
		size_t size = list->size ? 2 * list->size : 128;
		void *more = realloc(list->record, size * sizeof(*record));

		if (!more)
			return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
		list->record = more;
		list->size = size;
	}
	list->record[list->n++] = *record;
	return 0;
}

/* Word 2 may be 0: CHA 0 at status position 0. */
static bool is_hole(const uint64_t word[RECORD_WORDS])
{
	return word[0] == 0 || word[1] == 0 || word[0] == UINT64_MAX || word[1] == UINT64_MAX ||
	       word[2] == UINT64_MAX;
}

static void note_unknown(struct search *search, int socket, unsigned number)
{
	if (number < 128) {
		if (search->unknown[number / 64] >> number % 64 & 1)
			return;
		search->unknown[number / 64] |= 1ull << number % 64;
	}
	unc_walk_note(search->walk,
		      "socket %d: discovery lists units of type %u, which is not known", socket,
		      number);
}

/* Takes the unit records of a table that is in memory as a whole. */
static int take_records(struct search *search, int socket, const uint64_t *word, unsigned stride,
			unsigned max, struct unc_error *err)
{
	struct listing *list = &search->socket[socket];
	size_t before = list->n;

	for (unsigned i = 1; i <= max; i++) {
		const uint64_t *w = word + (size_t)i * stride;
		struct record record = {
			.n_controls = (uint8_t)bits(w[0], 7, 0),
			.ctl = (uint8_t)bits(w[0], 15, 8),
			.width = (uint8_t)bits(w[0], 23, 16),
			.ctr = (uint8_t)bits(w[0], 31, 24),
			.access = (uint8_t)bits(w[0], 63, 62),
			.address = w[1],
			.id = (uint16_t)bits(w[2], 31, 16),
			.position = (uint16_t)bits(w[2], 47, 32),
		};
		int type = find_type(search->walk->table, bits(w[2], 15, 0));

		if (is_hole(w))
			continue;
		if (type < 0) {
			note_unknown(search, socket, bits(w[2], 15, 0));
			continue;
		}
		record.type = (uint16_t)type;
		if (add_record(list, &record, err) < 0)
			return UNC_ERR_MEMORY;
	}
	if (list->n == before)
		return unc_fail(err, UNC_ERR_TABLE,
				"broken: none of its %u records is of a known unit", max);
	return 0;
}

static int read_table(struct search *search, const struct unc_pci_function *f, unsigned cap,
		      int socket, struct unc_error *err)
{
	struct unc_bus *bus = search->walk->bus;
	uint64_t address, global[RECORD_WORDS], *word;
	struct unc_error why = {0};
	unsigned stride = 0, max = 0;
	size_t size;
	int rc = table_address(search->walk, f, cap, &address, err);

	if (rc == 0)
		rc = bus->methods->memory(bus, address, global, sizeof(global), err);
	if (rc == 0)
		rc = check_global(global, &stride, &max, err);
	if (rc < 0)
		return rc;
	size = (size_t)(max + 1) * stride * 8;
	word = malloc(size);
	if (!word)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	rc = bus->methods->memory(bus, address, word, size, &why);
	if (rc < 0)
		rc = unc_fail(err, UNC_ERR_TABLE, "truncated: %s", why.text);
	else
		rc = take_records(search, socket, word, stride, max, err);
	free(word);
	return rc;
}

/* Reads all tables. What is wrong with one is a note; only memory can run out. */
static int read_tables(struct search *search, struct unc_error *err)
{
	struct unc_walk *walk = search->walk;

	for (size_t i = 0; i < walk->n_functions; i++) {
		const struct unc_pci_function *f = &walk->function[i];
		int socket = walk->socket[i];
		uint64_t seen[16] = {0};
		unsigned cap = 0;

		while (next_dvsec(walk, f, &cap, seen)) {
			struct unc_error why = {0};
			int rc = socket < 0 ? unc_fail(&why, UNC_ERR_TABLE,
						       "its socket cannot be told")
					    : read_table(search, f, cap, socket, &why);

			if (rc == UNC_ERR_MEMORY)
				return unc_fail(err, rc, "%s", why.text);
			if (rc < 0)
				unc_walk_note(walk, "discovery table of pci %04x:%02x:%02x.%x: %s",
					      f->domain, f->bus, f->devfn >> 3, f->devfn & 7,
					      why.text);
			if (socket >= 0) {
				search->socket[socket].tables++;
				search->socket[socket].broken |= rc < 0;
			}
		}
	}
	return 0;
}

/* ----------------------------------------------------------------- one record */

static const struct unc_tbl_part *main_part(const struct unc_walk *walk, unsigned type)
{
	return &walk->table->part[walk->table->type[type].parts.first];
}

static const char *type_name(const struct unc_walk *walk, unsigned type)
{
	return unc_tbl_str(walk->table, walk->table->type[type].name);
}

/* Offset of unit control in its part. */
static int64_t control_offset(const struct unc_walk *walk, unsigned type)
{
	uint16_t reg = walk->table->type[type].unit_ctl;

	return reg == UNC_NONE ? 0 : walk->table->reg[reg].offset;
}

/* MSRs: a broken table must not make us write any register of the CPU. */
static int check_msr(const struct unc_walk *walk, uint64_t address, struct unc_error *err)
{
	const struct unc_table *t = walk->table;
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < t->n_part; i++) {
		for (uint32_t k = 0; t->part[i].space == UNC_SPACE_MSR && k < t->part[i].where.n;
		     k++) {
			uint64_t base = t->where[t->part[i].where.first + k].base;

			low = base < low ? base : low;
			high = base > high ? base : high;
		}
	}
	if (address >= low && address < high + MSR_SLACK)
		return 0;
	return unc_fail(err, UNC_ERR_TABLE, "MSR 0x%" PRIx64 " is outside of the monitors' range",
			address);
}

/* Memory: within the BARs of the guide, where these can be read. */
static int check_mmio(const struct unc_walk *walk, unsigned type, int socket, uint64_t address,
		      struct unc_error *err)
{
	const struct unc_tbl_part *part = main_part(walk, type);
	unsigned readable = 0;

	if (address & 7 || address >> PHYSICAL_BITS)
		return unc_fail(err, UNC_ERR_TABLE, "0x%" PRIx64 " is no address of a unit",
				address);
	for (uint32_t i = 0; i < part->where.n; i++) {
		const struct unc_tbl_where *where = &walk->table->where[part->where.first + i];
		const struct unc_tbl_bar *bar = &walk->table->bar[where->bar];
		uint64_t base;

		if (unc_fixed_bar(walk, bar, where->bar_index, socket, &base, NULL) < 0)
			continue;
		readable++;
		if (address >= base && address - base < bar->size)
			return 0;
	}
	if (!readable)
		return 0;
	return unc_fail(err, UNC_ERR_TABLE, "memory 0x%" PRIx64 " is outside of its BARs", address);
}

/* PCI: the function exists, on this socket, and is what units.tbl expects there. */
static int check_pci(const struct unc_walk *walk, const struct record *record, int socket,
		     struct unc_error *err)
{
	const struct unc_tbl_part *part = main_part(walk, record->type);
	uint64_t address = record->address & ~(1ull << 31);
	const struct unc_tbl_where *where;
	const struct unc_pci_function *f;
	int64_t offset;
	int found;

	if (!(record->address >> 31 & 1))
		return unc_fail(err, UNC_ERR_TABLE, "its PCI address is not enabled (bit 31)");
	if (record->address >> 32)
		return unc_fail(err, UNC_ERR_TABLE, "0x%" PRIx64 " is no PCI address",
				record->address);
	if (record->id >= part->where.n)
		return unc_fail(err, UNC_ERR_TABLE, "its number is beyond the %u there are",
				part->where.n);
	where = &walk->table->where[part->where.first + record->id];
	f = unc_walk_address(walk, address, &found);
	if (!f || f->device != where->device_id || f->devfn != where->devfn || found != socket)
		return unc_fail(err, UNC_ERR_TABLE,
				"no 8086:%04x of this socket is at %04x:%02x:%02x.%x",
				where->device_id, UNC_PCI_DOMAIN(address), UNC_PCI_BUS(address),
				UNC_PCI_DEVFN(address) >> 3, UNC_PCI_DEVFN(address) & 7);
	offset = (int64_t)where->base + control_offset(walk, record->type);
	if (UNC_PCI_OFFSET(address) != offset)
		return unc_fail(err, UNC_ERR_TABLE, "unit control at 0x%x, not at 0x%llx",
				UNC_PCI_OFFSET(address), (long long)offset);
	return 0;
}

static int check_place(const struct unc_walk *walk, const struct record *record, int socket,
		       struct unc_error *err)
{
	static const uint8_t access[UNC_N_SPACES] = {
		[UNC_SPACE_MSR] = ACCESS_MSR,
		[UNC_SPACE_PCI] = ACCESS_PCI,
		[UNC_SPACE_MMIO] = ACCESS_MMIO,
	};
	uint8_t space = main_part(walk, record->type)->space;

	if (record->access != access[space])
		return unc_fail(err, UNC_ERR_TABLE, "access type %u, but %s registers are %s",
				record->access, type_name(walk, record->type),
				unc_space_name(space));
	if (space == UNC_SPACE_MSR)
		return check_msr(walk, record->address, err);
	if (space == UNC_SPACE_MMIO)
		return check_mmio(walk, record->type, socket, record->address, err);
	return check_pci(walk, record, socket, err);
}

static uint8_t distance(const struct unc_table *t, const struct unc_tbl_type *row, uint16_t reg)
{
	int32_t from = row->unit_ctl == UNC_NONE ? 0 : t->reg[row->unit_ctl].offset;

	return (uint8_t)(t->reg[reg].offset - from);
}

/* Does the unit look as units.tbl says? Fewer or narrower counters would be misread. */
static int check_layout(const struct unc_walk *walk, const struct record *record,
			struct unc_error *err)
{
	const struct unc_tbl_type *row = &walk->table->type[record->type];

	if (!row->n_counters)
		return 0;
	if (record->n_controls < row->n_counters)
		return unc_fail(err, UNC_ERR_TABLE, "discovery says %u counters, the guide %u",
				record->n_controls, row->n_counters);
	if (record->width < row->width)
		return unc_fail(err, UNC_ERR_TABLE,
				"discovery says counters of %u bits, the guide %u", record->width,
				row->width);
	if (record->ctl != distance(walk->table, row, row->first_ctl) ||
	    record->ctr != distance(walk->table, row, row->first_ctr))
		return unc_fail(err, UNC_ERR_TABLE,
				"discovery says controls at +0x%x and counters at +0x%x, the guide "
				"+0x%x and +0x%x",
				record->ctl, record->ctr,
				distance(walk->table, row, row->first_ctl),
				distance(walk->table, row, row->first_ctr));
	return 0;
}

/* ------------------------------------------------------- one type on a socket */

/* An earlier record of the same unit, or another unit at the same place. */
static const struct unc_instance *twin(const struct unc_walk *walk, size_t from,
				       const struct record *record, uint64_t base)
{
	for (size_t i = from; i < walk->n; i++)
		if (walk->unit[i].index == record->id || walk->unit[i].part[0].base == base)
			return &walk->unit[i];
	return NULL;
}

static uint64_t base_of(const struct unc_walk *walk, const struct record *record)
{
	uint64_t address = record->address;

	if (main_part(walk, record->type)->space == UNC_SPACE_PCI)
		address &= ~(1ull << 31);
	return address - (uint64_t)control_offset(walk, record->type);
}

static int add_unit(struct unc_walk *walk, const struct record *record, int socket, size_t from,
		    struct unc_error *err)
{
	const struct unc_tbl_type *row = &walk->table->type[record->type];
	const char *name = type_name(walk, record->type);
	uint64_t base = base_of(walk, record);
	const struct unc_instance *other = twin(walk, from, record, base);
	struct unc_error why = {0};
	struct unc_instance *unit;

	if (other) {
		unc_walk_note(walk,
			      "socket %d: discovery lists %s%u at 0x%" PRIx64
			      " a second time (%s%u at 0x%" PRIx64 "); ignored",
			      socket, name, record->id, base, name, other->index,
			      other->part[0].base);
		return 0;
	}
	if (walk->n == from && (record->n_controls > row->n_counters || record->width > row->width))
		unc_walk_note(walk,
			      "socket %d: discovery gives %s%u %u counters of %u bits; %u of "
			      "%u bits are used",
			      socket, name, record->id, record->n_controls, record->width,
			      row->n_counters, row->width);
	unit = unc_walk_add(walk, record->type, socket, record->id, err);
	if (!unit)
		return UNC_ERR_MEMORY;
	unit->status_position = (int16_t)record->position;
	unit->part[0] = (struct unc_place){
		.base = base,
		.space = main_part(walk, record->type)->space,
		.present = true,
	};
	if (unit->part[0].space == UNC_SPACE_MSR)
		unit->part[0].target = (uint32_t)walk->topo->socket[socket].cpu;
	unc_fixed_parts(walk, unit, 1);
	if (check_layout(walk, record, &why) < 0) {
		unit->available = unit->part[0].present = false;
		snprintf(unit->reason, sizeof(unit->reason), "%.159s", why.text);
		if (walk->n == from + 1) /* the rest of the type is no better */
			unc_walk_note(walk, "socket %d: %s%u: %s", socket, name, record->id,
				      why.text);
	}
	return 0;
}

static int type_of_socket(struct search *search, unsigned type, int socket, struct unc_error *err)
{
	struct unc_walk *walk = search->walk;
	const struct listing *list = &search->socket[socket];
	bool pci = main_part(walk, type)->space == UNC_SPACE_PCI;
	bool fixed = pci && main_part(walk, type)->where.n;
	size_t from = walk->n, n = 0;
	bool broken = false;
	int rc = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct record *record = &list->record[i];
		struct unc_error why = {0};

		if (record->type != type)
			continue;
		n++;
		record->used = check_place(walk, record, socket, &why) == 0;
		if (record->used || (broken && fixed))
			continue;
		broken = true;
		unc_walk_note(walk, "socket %d: discovery of %s%u is broken: %s%s", socket,
			      type_name(walk, type), record->id, why.text,
			      fixed ? "; all are taken from their device ids" : "; ignored");
	}
	/* What the guide gives no place for (CXL) may well be absent. */
	if (!n && main_part(walk, type)->where.n)
		unc_walk_note(walk, "socket %d: discovery lists no %s%s", socket,
			      type_name(walk, type), fixed ? "; taken from their device ids" : "");
	/* A PCI function proves by its device id that it is there; an MSR does not. */
	if (fixed && (broken || !n))
		return unc_fixed_type(walk, type, socket, err);
	for (size_t i = 0; i < list->n && rc == 0; i++)
		if (list->record[i].type == type && list->record[i].used)
			rc = add_unit(walk, &list->record[i], socket, from, err);
	return rc;
}

static int units_of_socket(struct search *search, int socket, struct unc_error *err)
{
	struct unc_walk *walk = search->walk;
	struct listing *list = &search->socket[socket];
	bool trusted = list->tables && !list->broken;
	int rc = 0;

	if (!trusted)
		unc_walk_note(walk,
			      "socket %d: %s discovery table; the places of the guide are used",
			      socket, list->tables ? "no usable" : "no");
	for (unsigned type = 0; type < walk->table->n_type && rc == 0; type++) {
		if (!walk->table->type[type].parts.n)
			continue;
		if (trusted && walk->table->type[type].discovery >= 0)
			rc = type_of_socket(search, type, socket, err);
		else
			rc = unc_fixed_type(walk, type, socket, err);
	}
	return rc;
}

int unc_discover_table(struct unc_walk *walk, struct unc_error *err)
{
	struct search *search = calloc(1, sizeof(*search));
	int rc;

	if (!search)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	search->walk = walk;
	rc = read_tables(search, err);
	for (int socket = 0; socket < walk->topo->n_sockets && rc == 0; socket++)
		rc = units_of_socket(search, socket, err);
	for (int socket = 0; socket < UNC_MAX_SOCKETS; socket++)
		free(search->socket[socket].record);
	free(search);
	return rc;
}
