/* SPDX-License-Identifier: BSD-3-Clause */
/* How many units of a type a socket has, or which: the statements `present` of the tables. */
#include <stdio.h>

#include "access/access_ways.h"
#include "machine/discover_walk.h"

static const struct unc_tbl_present *first_row(const struct unc_walk *walk, unsigned type)
{
	static const struct unc_tbl_present none; /* of a table without any */

	return walk->table->n_present
		       ? walk->table->present + walk->table->type[type].presents.first
		       : &none;
}

/* Whether a statement counts by registers, not by the existence of functions. */
static bool reads_register(const struct unc_tbl_present *row)
{
	return row->msr || row->n_offsets;
}

/* ---- one statement */

int unc_walk_msr(const struct unc_walk *walk, uint32_t number, int socket, bool allow,
		 uint64_t *value, struct unc_error *err)
{
	struct unc_access *gate = walk->bus ? walk->bus->gate : NULL;
	struct unc_allowed allowed = {
		.reg = {.address = number, .space = UNC_SPACE_MSR, .width = 64}, .readable = true};
	struct unc_place cpu;
	int rc;

	/* A virtual machine lacks the MSR, and reading it faults. */
	if (!gate || (walk->topo->hypervisor && !walk->n_ubox))
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "msr 0x%x is not read", number);
	if ((rc = unc_walk_cpu(walk, socket, &cpu, err)) < 0)
		return rc;
	allowed.reg.target = cpu.target;
	if (allow && (rc = unc_access_allow(gate, &allowed, 1, err)) < 0)
		return rc;
	rc = unc_fail(err, UNC_ERR_UNAVAILABLE, "msr 0x%x: no access method reads MSRs", number);
	for (unsigned way = 0; (way = unc_ways_next(unc_access_ways(gate), UNC_SPACE_MSR, way));) {
		struct unc_reg_op op = {.reg = allowed.reg, .kind = UNC_OP_READ};

		op.reg.way = (uint8_t)way;
		unc_error_clear(err);
		if ((rc = unc_access_read(gate, &op, 1, err)) == 0) {
			*value = op.value;
			return 0;
		}
	}
	return rc;
}

static int read_pci(const struct unc_walk *walk, const struct unc_tbl_present *row, int socket,
		    uint64_t *value, struct unc_error *err)
{
	const struct unc_pci_function *f;
	uint32_t bits;
	int rc = unc_walk_function(walk, socket, row->id, UNC_ANY_DEVFN, &f, err);

	if (rc == UNC_ERR_NOT_FOUND) {
		unc_error_clear(err);
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "PCI device 8086:%04x is not visible",
				row->id);
	}
	if (rc < 0 || (rc = unc_bus_config(walk->bus, f, 0, &bits, err)) < 0)
		return rc;
	/* A register of all ones may be a full socket: only the identity shows that a device is switched off. */
	if (bits == UINT32_MAX)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "PCI device 8086:%04x reads as all ones",
				row->id);
	*value = 0;
	for (unsigned i = 0; i < row->n_offsets; i++) {
		if ((rc = unc_bus_config(walk->bus, f, row->offset[i], &bits, err)) < 0)
			return rc;
		*value |= (uint64_t)bits << 32 * i;
	}
	return 0;
}

static int read_present_bits(const struct unc_walk *walk, const struct unc_tbl_present *row,
			     int socket, uint64_t *value, struct unc_error *err)
{
	int rc;

	if (row->msr)
		rc = unc_walk_msr(walk, row->msr, socket, true, value, err);
	else
		rc = read_pci(walk, row, socket, value, err);
	if (rc < 0)
		return rc;
	*value = (*value & row->mask) >> __builtin_ctzll(row->mask);
	if (*value || row->tells == UNC_TELLS_ALL)
		return 0;
	return row->msr ? unc_fail(err, UNC_ERR_UNAVAILABLE, "msr 0x%x says none", row->msr)
			: unc_fail(err, UNC_ERR_UNAVAILABLE, "PCI device 8086:%04x says none",
				   row->id);
}

static unsigned count_of_value(const struct unc_tbl_present *row, uint64_t value, unsigned places)
{
	uint64_t n = value;

	if (row->tells == UNC_TELLS_ONES)
		n = (uint64_t)__builtin_popcountll(value);
	else if (row->tells == UNC_TELLS_ALL)
		n = value ? places : row->none;
	return n < places ? (unsigned)n : places;
}

/* ---- all statements of a type */

int unc_present_count(const struct unc_walk *walk, unsigned type, int socket, unsigned *n,
		      const struct unc_tbl_present **by, struct unc_error *err)
{
	const struct unc_tbl_present *row = first_row(walk, type);
	const struct unc_tbl_present *end = row + walk->table->type[type].presents.n;
	unsigned places = *n;
	bool asked = false, told = false;

	*by = NULL;
	for (; row < end; row++) {
		struct unc_error why = {0};
		uint64_t value = 0;
		unsigned count;

		if (!reads_register(row))
			continue;
		if (read_present_bits(walk, row, socket, &value, &why) < 0) {
			if (!asked)
				*err = why;
		} else {
			count = count_of_value(row, value, places);
			if (told && count != *n)
				unc_walk_note(walk,
					      "socket %d: sources disagree on the number of %s, %u "
					      "and %u: "
					      "the smaller number is used",
					      socket, unc_type_name(walk->table, type), *n, count);
			told = true;
			*by = count < *n ? row : *by;
			*n = count < *n ? count : *n;
		}
		asked = true;
	}
	if (told)
		unc_error_clear(err);
	return asked && !told ? err->code : 0;
}

bool unc_present_all(const struct unc_walk *walk, unsigned type, int socket)
{
	const struct unc_tbl_present *row = first_row(walk, type);
	uint64_t value;

	for (uint32_t i = 0; i < walk->table->type[type].presents.n; i++)
		if (reads_register(&row[i]) && row[i].tells == UNC_TELLS_ALL &&
		    read_present_bits(walk, &row[i], socket, &value, NULL) == 0 && value)
			return true;
	return false;
}

const struct unc_tbl_present *unc_present_range(const struct unc_walk *walk, unsigned type)
{
	const struct unc_tbl_present *row = first_row(walk, type);

	for (uint32_t i = 0; i < walk->table->type[type].presents.n; i++)
		if (row[i].last)
			return &row[i];
	return NULL;
}

/* Whether each socket has a PCI function, because a unit that is not optional is at it. */
static bool is_always_there(const struct unc_table *t, unsigned id, unsigned devfn)
{
	for (size_t i = 0; i < t->n_where; i++)
		if (t->where[i].device_id == id && t->where[i].devfn == devfn &&
		    !t->where[i].optional)
			return true;
	return false;
}

/* Whether a function that always exists is invisible: then an invisible function proves nothing. */
static bool is_hidden(const struct unc_walk *walk, const struct unc_tbl_present *row, int socket)
{
	for (unsigned i = 0; i < row->n_devices; i++)
		if (is_always_there(walk->table, row->id, row->devfn[i]) &&
		    unc_walk_lacks(walk, socket, row->id, row->devfn[i]))
			return true;
	return false;
}

bool unc_present_absent(const struct unc_walk *walk, unsigned type, unsigned index, int socket,
			struct unc_error *why)
{
	const struct unc_tbl_present *row = first_row(walk, type);
	const struct unc_tbl_present *end = row + walk->table->type[type].presents.n;

	for (; walk->bus && row < end; row++) {
		unsigned device = row->per ? index / row->per : 0;

		if (reads_register(row) || row->last || device >= row->n_devices ||
		    is_hidden(walk, row, socket) ||
		    is_always_there(walk->table, row->id, row->devfn[device]) ||
		    !unc_walk_lacks(walk, socket, row->id, row->devfn[device]))
			continue;
		unc_fail(why, UNC_ERR_NOT_FOUND, "there is no PCI function %02x.%x (8086:%04x)",
			 row->devfn[device] >> 3u, row->devfn[device] & 7u, row->id);
		return true;
	}
	return false;
}
