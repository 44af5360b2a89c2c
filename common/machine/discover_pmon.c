/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the PMON discovery tables, which firmware leaves in memory, one or more a socket.
 * Layout: Intel 817509-001, section 1.9, tables 1-13 and 1-14, with the access type in bits
 * 63:62 as its code has it; unit type numbers: Linux uncore_discovery.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "machine/discover_walk.h"

enum {
	CAP_FIRST = 0x100, /* extended capabilities of PCI Express */
	CAP_DVSEC = 0x23,  /* designated vendor-specific */
	DVSEC_PMON = 1,
	VENDOR_INTEL = 0x8086,
	BAR_0 = 0x10,
	MAX_BIR = 5,
	MAP_SIZE = 0x80000, /* bytes that the guide maps */
	RECORD_WORDS = 3,
	MAX_RECORDS = 1023 /* per socket: as many as one table can have */
};

/* The bits of the first word for number, distances and width of the registers, and access. */
static const uint64_t SHAPE = 0xc00000ffffffffff;

static unsigned word_bits(uint64_t word, unsigned high, unsigned low)
{
	return (unsigned)(word >> low & ((1ull << (high - low + 1)) - 1));
}

/* ------------------------------------------------------------- where tables are */

/* Returns 1 if the capability at an offset is a PMON one, else 0; UNC_ERR_*: it cannot be read. */
static int is_pmon_capability(const struct unc_walk *walk, const struct unc_pci_function *f,
			      unsigned at, uint32_t head, struct unc_error *err)
{
	uint32_t vendor, id;

	if (word_bits(head, 15, 0) != CAP_DVSEC)
		return 0;
	if (unc_bus_config(walk->bus, f, at + 4, &vendor, err) < 0 ||
	    unc_bus_config(walk->bus, f, at + 8, &id, err) < 0)
		return err->code;
	/* Capability numbers of DVSECs belong to their vendor; 0: not filled in. */
	return (word_bits(vendor, 15, 0) == VENDOR_INTEL || word_bits(vendor, 15, 0) == 0) &&
	       word_bits(id, 15, 0) == DVSEC_PMON;
}

/*
 * Finds the next PMON capability of a function after *offset (0: the first). Returns 1; 0: no more;
 * UNC_ERR_*: it cannot be read. `seen`: the capabilities visited, because a broken list may have
 * a loop.
 */
static int next_dvsec(const struct unc_walk *walk, const struct unc_pci_function *f,
		      unsigned *offset, uint64_t seen[16], struct unc_error *err)
{
	unsigned at = *offset ? *offset : CAP_FIRST;
	bool skip = *offset != 0;
	uint32_t head;
	int rc;

	for (; at >= CAP_FIRST; at = word_bits(head, 31, 20) & ~3u, skip = false) {
		unsigned slot = at / 4;

		rc = unc_bus_config(walk->bus, f, at, &head, err);
		if (rc < 0) /* there is nothing to read without an extended space */
			return at == CAP_FIRST && rc == UNC_ERR_RANGE ? 0 : rc;
		if (!head || head == UINT32_MAX)
			return 0;
		if (!skip && seen[slot / 64] >> slot % 64 & 1) {
			unc_walk_note(walk, "pci %s: the list of capabilities has a loop",
				      unc_function_name(f).text);
			return 0;
		}
		seen[slot / 64] |= 1ull << slot % 64;
		rc = skip ? 0 : is_pmon_capability(walk, f, at, head, err);
		if (rc) {
			*offset = at;
			return rc;
		}
	}
	return 0;
}

/* Reads the address in the BAR that a PMON capability names. */
static int table_address(const struct unc_walk *walk, const struct unc_pci_function *f,
			 unsigned cap, uint64_t *address, struct unc_error *err)
{
	uint32_t bir, low, high = 0;

	if (unc_bus_config(walk->bus, f, cap + 12, &bir, err) < 0)
		return UNC_ERR_TABLE;
	bir = word_bits(bir, 2, 0);
	if (bir > MAX_BIR)
		return unc_fail(err, UNC_ERR_TABLE, "it names BAR %u, which does not exist", bir);
	if (unc_bus_config(walk->bus, f, BAR_0 + 4 * bir, &low, err) < 0)
		return UNC_ERR_TABLE;
	if (low & 1 || low == UINT32_MAX)
		return unc_fail(err, UNC_ERR_TABLE, "BAR %u (0x%x) is no memory", bir, low);
	if (word_bits(low, 2, 1) == 2) {
		if (bir == MAX_BIR)
			return unc_fail(err, UNC_ERR_TABLE, "BAR %u cannot have 64 bits", bir);
		if (unc_bus_config(walk->bus, f, BAR_0 + 4 * (bir + 1), &high, err) < 0)
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

	*stride = word_bits(word[0], 15, 8);
	*max = word_bits(word[0], 25, 16);
	size = (size_t)(*max + 1) * *stride * 8;
	if ((word[0] == 0 && word[1] == 0) || word[0] == UINT64_MAX)
		return unc_fail(err, UNC_ERR_TABLE, "there is no table in its BAR");
	if (*stride < RECORD_WORDS)
		return unc_fail(err, UNC_ERR_TABLE,
				"broken: records %u words apart, where one has %d", *stride,
				RECORD_WORDS);
	if (word_bits(word[0], 63, 62) > UNC_PMON_PCI)
		return unc_fail(err, UNC_ERR_TABLE, "broken: access type 3 of global control");
	if (word_bits(word[0], 63, 62) == UNC_PMON_MSR && word[1] >> 32)
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

int unc_pmon_type(const struct unc_table *table, unsigned number,
		  const struct unc_pmon_record *record, bool *known)
{
	unsigned function = UNC_PCI_DEVFN(record->address) & 7u;

	*known = false;
	for (size_t i = 0; i < table->n_type; i++) {
		const struct unc_tbl_type *type = &table->type[i];

		if (type->pool || type->discovery < 0 || (unsigned)type->discovery != number)
			continue;
		if (!type->functions ||
		    (record->access == UNC_PMON_PCI && type->functions >> function & 1))
			return (int)i;
		*known = true;
	}
	return -1;
}

/* Returns the type of a record, encoded as in unc_pmon.any; -1: none. */
static int type_of_record(const struct unc_pmon *pmon, unsigned number,
			  const struct unc_pmon_record *record, bool *known)
{
	int type = -1;

	if (!pmon->n_any)
		return unc_pmon_type(pmon->walk->table, number, record, known);
	for (size_t i = 0; i < pmon->n_any; i++)
		if ((type = unc_pmon_type(pmon->any[i], number, record, known)) >= 0)
			return (int)i << UNC_PMON_ANY_SHIFT | type;
	return -1;
}

/* Adds a record, unless the table of another die has listed the same unit. */
static int add_record(struct unc_pmon *pmon, int socket, const struct unc_pmon_record *record,
		      struct unc_error *err)
{
	struct unc_pmon_list *list = &pmon->socket[socket];
	struct unc_pmon_record *added;

	for (const struct unc_pmon_record *r = list->record; r < list->record + list->n; r++)
		if (r->type == record->type && r->id == record->id &&
		    r->address == record->address && r->shape == record->shape)
			return 0;
	if (list->n == MAX_RECORDS)
		return unc_fail(err, UNC_ERR_TABLE,
				"broken: with it the socket has more than %d units", MAX_RECORDS);
	added = UNC_ADD_TO(list->record, list->n);
	pmon->walk->no_memory |= !added;
	if (added)
		*added = *record;
	return 0;
}

/* Whether a record is empty. Word 2 may be 0: CHA 0 at status position 0. */
static bool is_hole(const uint64_t word[RECORD_WORDS])
{
	return word[0] == 0 || word[1] == 0 || word[0] == UINT64_MAX || word[1] == UINT64_MAX ||
	       word[2] == UINT64_MAX;
}

/* Adds the unit records of a table that has been copied to memory. */
static int add_records(struct unc_pmon *pmon, int socket, const uint64_t *word, unsigned stride,
		       unsigned max, struct unc_error *err)
{
	size_t n = 0;
	unsigned unknown = 0;
	char first[48] = "";

	for (unsigned i = 1; i <= max; i++) {
		const uint64_t *w = word + (size_t)i * stride;
		struct unc_pmon_record record = {
			.n_controls = (uint8_t)word_bits(w[0], 7, 0),
			.ctl = (uint8_t)word_bits(w[0], 15, 8),
			.width = (uint8_t)word_bits(w[0], 23, 16),
			.ctr = (uint8_t)word_bits(w[0], 31, 24),
			.access = (uint8_t)word_bits(w[0], 63, 62),
			.address = w[1],
			.id = (uint16_t)word_bits(w[2], 31, 16),
			.position = (uint16_t)word_bits(w[2], 47, 32),
			.shape = w[0] & SHAPE,
		};
		bool known;
		int type = type_of_record(pmon, word_bits(w[2], 15, 0), &record, &known);

		if (is_hole(w))
			continue;
		if (type < 0) {
			if (!unknown++)
				snprintf(first, sizeof(first),
					 known ? "%u at PCI function %u" : "%u",
					 word_bits(w[2], 15, 0),
					 UNC_PCI_DEVFN(record.address) & 7u);
			continue;
		}
		n++;
		record.type = (uint16_t)type;
		if (add_record(pmon, socket, &record, err) < 0)
			return err->code;
	}
	/* A newer table may have a few new types; a table with more unknown than known ones is noise. */
	if (n == 0 || unknown > n)
		return unc_fail(err, UNC_ERR_TABLE,
				"broken: %zu of its %u records are of known units, %u are not", n,
				max, unknown);
	if (unknown)
		unc_walk_note(
			pmon->walk,
			"socket %d: discovery lists %u units of types that are not known, the "
			"first of type %s",
			socket, unknown, first);
	return 0;
}

/* Records the address of a table. Returns 1 if it was read before. */
static int note_table(struct unc_pmon *pmon, int socket, uint64_t address, struct unc_error *err)
{
	struct unc_pmon_list *list = &pmon->socket[socket];

	for (int s = 0; s < UNC_MAX_SOCKETS; s++)
		for (unsigned i = 0; i < pmon->socket[s].n_tables; i++)
			if (pmon->socket[s].table[i] == address)
				return s == socket ? 1
						   : unc_fail(err, UNC_ERR_TABLE,
							      "it is the table of socket %d", s);
	if (list->n_tables == UNC_PMON_TABLES)
		return unc_fail(err, UNC_ERR_TABLE, "socket %d has more than %d", socket,
				UNC_PMON_TABLES);
	list->table[list->n_tables++] = address;
	return 0;
}

static int read_table(struct unc_pmon *pmon, const struct unc_pci_function *f, unsigned cap,
		      int socket, struct unc_error *err)
{
	struct unc_bus *bus = pmon->walk->bus;
	uint64_t address, global[RECORD_WORDS], *word;
	struct unc_error why = {0};
	unsigned stride = 0, max = 0;
	size_t size;
	int rc = table_address(pmon->walk, f, cap, &address, err);

	if (rc == 0 && (rc = note_table(pmon, socket, address, err)) > 0)
		return 0;
	if (rc == 0)
		rc = bus->methods->memory(bus, address, global, sizeof(global), err);
	if (rc == 0)
		rc = check_global(global, &stride, &max, err);
	if (rc < 0)
		return rc;
	size = (size_t)(max + 1) * stride * 8;
	word = malloc(size);
	pmon->walk->no_memory |= !word;
	if (!word)
		return 0;
	rc = bus->methods->memory(bus, address, word, size, &why);
	if (rc < 0)
		rc = unc_fail(err, UNC_ERR_TABLE, "truncated: %s", why.text);
	else
		rc = add_records(pmon, socket, word, stride, max, err);
	free(word);
	return rc;
}

/* Keeps the first reason why an intact table cannot be read: configuration space and /dev/mem need rights,
 * and a container may lack /dev/mem. */
static void note_denied(struct unc_pmon *pmon, const struct unc_pci_function *f, int rc,
			const struct unc_error *why)
{
	bool denied = rc == UNC_ERR_PERMISSION || rc == UNC_ERR_UNAVAILABLE;

	if (denied && f->device == UNC_PMON_DEVICE && !pmon->denied.code)
		pmon->denied = *why;
}

/* Reads the tables of a function. Returns the error that made its capabilities unreadable, or 0. */
static int read_function(struct unc_pmon *pmon, const struct unc_pci_function *f, int socket,
			 struct unc_error *err)
{
	const struct unc_walk *walk = pmon->walk;
	uint64_t seen[16] = {0};
	unsigned cap = 0, failed = 0;
	int more;

	while ((more = next_dvsec(walk, f, &cap, seen, err)) > 0) {
		struct unc_error why = {0};
		int rc = socket < 0 ? unc_fail(&why, UNC_ERR_TABLE, "its socket is not known")
				    : read_table(pmon, f, cap, socket, &why);

		if (rc < 0 && !failed++)
			unc_walk_note(walk, "discovery table of pci %s: %s",
				      unc_function_name(f).text, why.text);
		note_denied(pmon, f, rc, &why);
		if (socket >= 0)
			pmon->socket[socket].broken |= rc < 0;
	}
	return more;
}

/* Whether a function may have a table. Other functions are not opened: that would wake them. */
static bool may_have_table(const struct unc_pci_function *f)
{
	return f->device == UNC_PMON_DEVICE || !f->device;
}

void unc_pmon_read(struct unc_pmon *pmon)
{
	struct unc_walk *walk = pmon->walk;
	struct unc_error first = {0};
	size_t n = 0;

	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++) {
		struct unc_error why = {0};
		int socket, rc;

		if (!may_have_table(f))
			continue;
		socket = unc_walk_socket(walk, f);
		if ((rc = read_function(pmon, f, socket, &why)) == 0)
			continue;
		note_denied(pmon, f, rc, &why);
		if (n++ == 0)
			first = why;
		/* A function with this device id has a table: the list of its socket is not
		 * complete. */
		if (f->device == UNC_PMON_DEVICE && socket >= 0)
			pmon->socket[socket].broken = true;
	}
	if (n)
		unc_walk_note(walk,
			      "%zu PCI functions may have discovery tables that cannot be read, "
			      "the first: %s",
			      n, first.text);
}

void unc_pmon_free(struct unc_pmon *pmon)
{
	if (!pmon)
		return;
	for (int socket = 0; socket < UNC_MAX_SOCKETS; socket++)
		free(pmon->socket[socket].record);
	free(pmon);
}
