/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tells how many units the machine has, or which (statements `present` of the tables): registers
 * of PCI functions, MSRs, and functions that are there because the unit is.
 */
#include "sim/sim_machine.h"

/*
 * Which of the places on the die work: as many as there are units, with holes, since the units
 * that are left are numbered without them. Hardly ever all ones: that stands for a hidden device.
 */
static uint64_t working_places(unsigned units, unsigned places)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < places && units; i++)
		if (i % 8 != 5) {
			mask |= (uint64_t)1 << i;
			units--;
		}
	for (unsigned i = 5; i < 32 && units; i += 8) /* both words in turn */
		for (unsigned word = 0; word + i < places && units; word += 32, units--)
			mask |= (uint64_t)1 << (word + i);
	return mask;
}

static unsigned units_of(const struct unc_sim *sim, size_t type)
{
	return unc_bits_count(&sim->type[type].present);
}

/* What the registers of a statement hold. */
static int shown(const struct unc_sim *sim, size_t type, const struct unc_tbl_present *row,
		 uint64_t *value, struct unc_error *err)
{
	const struct unc_tbl_type *t = &sim->table->type[type];
	unsigned places = unc_type_part(sim->table, (unsigned)type, 0)->where.n;
	unsigned units = units_of(sim, type);
	unsigned bits = (unsigned)__builtin_popcountll(row->mask);
	bool all = units && units == places, fits = units <= bits;

	*value = units;
	if (row->tells == UNC_TELLS_ONES)
		*value = working_places(units, bits);
	else if (row->tells == UNC_TELLS_NUMBER)
		fits = units <= unc_ones(bits);
	else {
		*value = all;
		fits = all || units == row->none;
	}
	*value <<= __builtin_ctzll(row->mask);
	return fits ? 0
		    : unc_fail(err, UNC_ERR_TABLE,
			       "%u units of %s cannot be what 'present' of its table tells", units,
			       unc_tbl_str(sim->table, t->name));
}

/* One function a unit, in two columns of the die, each a device; those that are left in the next two. */
static void add_range(struct unc_sim *sim, size_t type, const struct unc_tbl_present *row,
		      unsigned socket)
{
	unsigned bus = unc_sim_bus_number(sim, socket), n = units_of(sim, type);

	for (unsigned i = 0; i < n; i++)
		unc_sim_bus_function(sim, bus,
				     row->devfn[0] + UNC_DEVFN(i / 16 * 2 + i % 2, i % 16 / 2),
				     row->id + i, socket);
}

/* Whether a function is that of a unit which the firmware hides. */
static bool is_hidden(const struct unc_sim *sim, unsigned devfn, unsigned id, unsigned socket)
{
	const struct unc_table *t = sim->table;

	for (unsigned type = 0; type < t->n_type; type++) {
		const struct unc_tbl_part *part = unc_type_part(t, type, 0);
		const struct unc_tbl_where *w;

		for (unsigned i = 0; (w = unc_part_place(t, part, i)); i++)
			if (w->devfn == devfn && w->device_id == id &&
			    unc_sim_chosen(sim, SIM_HIDDEN, type, 0, (int)i, (int)socket))
				return true;
	}
	return false;
}

/* Whether one of the units exists that hang on a function. */
static bool is_used(const struct sim_type *type, const struct unc_tbl_present *row,
		    unsigned function)
{
	for (unsigned i = 0; i < row->per; i++)
		if (unc_bits_has(&type->present, function * row->per + i))
			return true;
	return false;
}

/* The functions that units hang on. */
static void add_functions(struct unc_sim *sim, size_t type, const struct unc_tbl_present *row,
			  unsigned socket)
{
	unsigned bus = unc_sim_bus_number(sim, socket);

	for (unsigned i = 0; i < row->n_devices; i++)
		if (is_used(&sim->type[type], row, i) &&
		    !is_hidden(sim, row->devfn[i], row->id, socket))
			unc_sim_bus_function(sim, bus, row->devfn[i], row->id, socket);
}

static int add_registers(struct unc_sim *sim, size_t type, const struct unc_tbl_present *row,
			 unsigned socket, struct unc_error *err)
{
	unsigned bus = unc_sim_bus_number(sim, socket), devfn = row->devfn[0];
	uint64_t value;
	int rc = shown(sim, type, row, &value, err);

	unc_sim_bus_function(sim, bus, devfn, row->id, socket);
	for (unsigned i = 0; i < row->n_offsets && rc == 0; i++)
		unc_sim_bus_config(sim, bus, devfn, row->offset[i], (uint32_t)(value >> 32 * i));
	return rc;
}

int unc_sim_present_bus(struct unc_sim *sim, size_t type, unsigned socket, struct unc_error *err)
{
	const struct unc_range *rows = &sim->table->type[type].presents;
	const struct unc_tbl_present *row = NULL;
	int rc = 0;

	while (rc == 0 && (row = UNC_NEXT(sim->table, present, *rows, row))) {
		if (row->n_offsets && (units_of(sim, type) || row->tells == UNC_TELLS_ALL))
			rc = add_registers(sim, type, row, socket, err);
		else if (row->last)
			add_range(sim, type, row, socket);
		else if (!row->msr && !row->n_offsets)
			add_functions(sim, type, row, socket);
	}
	return rc;
}

static const struct unc_tbl_reg plain = {.width = 64, .flags = UNC_REG_RO};

/* A 64-bit MSR of the socket of a block. */
static struct sim_reg *add_msr(struct unc_sim *sim, struct sim_block *block, uint32_t number)
{
	struct sim_reg *reg = &sim->reg[sim->n_regs++];

	*reg = (struct sim_reg){.row = &plain, .block = block, .exists = true};
	reg->reg = (struct unc_reg){
		.address = number, .target = block->socket, .space = UNC_SPACE_MSR, .width = 64};
	return reg;
}

void unc_sim_present_maps(struct unc_sim *sim)
{
	for (size_t i = 0; i < sim->n_blocks; i++)
		for (const struct unc_tbl_map *map = sim->table->map;
		     (i == 0 || sim->block[i - 1].socket != sim->block[i].socket) &&
		     map < sim->table->map + sim->table->n_map &&
		     sim->block[i].type == sim->block[0].type;
		     map++)
			if (map->msr)
				add_msr(sim, &sim->block[i], map->msr);
}

int unc_sim_present_msr(struct unc_sim *sim, struct sim_block *block, struct unc_error *err)
{
	const struct unc_tbl_present *row = NULL;
	int rc = 0;

	while (rc == 0 && (row = UNC_NEXT(sim->table, present, block->type->row->presents, row))) {
		struct sim_reg *reg;

		if (!row->msr)
			continue;
		reg = add_msr(sim, block, row->msr);
		rc = shown(sim, block->type->number, row, &reg->value, err);
	}
	return rc;
}
