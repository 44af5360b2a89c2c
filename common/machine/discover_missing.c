/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds units that a socket should have but lacks: another socket has them, or they come with a unit that
 * exists. A hidden unit looks like one that does not exist. So, unless a fact proves that it does not exist
 * (the hardware's list, a register that counts units, an address that is not filled in), it is listed as
 * unusable, and each sum over it is marked.
 */
#include <stdio.h>
#include <stdlib.h>

#include "machine/discover_walk.h"

/* Whether the hardware numbers the units of a type freely: their numbers then prove nothing. */
static bool has_free_numbers(const struct unc_table *t, unsigned type)
{
	return t->type[type].discovery >= 0 && unc_main_part(t, type)->space != UNC_SPACE_PCI;
}

/* Returns the count of a type's units on a socket so far. */
static unsigned *count_of(const struct unc_walk *walk, unsigned type, int socket)
{
	return &walk->count[(unsigned)socket * walk->table->n_type + type];
}

/* Whether a socket has at least as many units of a type as the socket of unit i has of unit i's type; only
 * for types that the hardware numbers freely, where numbers cannot be compared. */
static bool has_as_many(const struct unc_walk *walk, size_t i, unsigned type, int socket)
{
	const struct unc_instance *unit = &walk->unit[i];

	return (has_free_numbers(walk->table, type) || has_free_numbers(walk->table, unit->type)) &&
	       *count_of(walk, type, socket) >= *count_of(walk, unit->type, unit->socket);
}

/* Whether a fact proves that a socket has no such unit. */
static bool is_known_absent(const struct unc_walk *walk, unsigned type, int socket, unsigned index)
{
	struct unc_walk quiet = *walk; /* contradictions were noted before */
	unsigned n = UNC_MAX_PLACES;
	const struct unc_tbl_present *by;
	struct unc_error why = {0};

	quiet.note = NULL;
	return walk->table->type[type].cpus ||
	       (unc_present_count(&quiet, type, socket, &n, &by, &why) == 0 && index >= n) ||
	       unc_fixed_unfilled(walk, type, index, socket, NULL);
}

/* Adds a missing unit, because unit `because` exists. */
static void add_missing(struct unc_walk *walk, unsigned type, int socket, unsigned index,
			size_t because)
{
	const struct unc_instance *other = &walk->unit[because];

	if (unc_walk_count(walk, type, socket, (int)index) ||
	    is_known_absent(walk, type, socket, index))
		return;
	unc_walk_lack(
		walk, type, socket, index,
		"cannot tell whether it is hidden or does not exist: %s%u of socket %u is there",
		unc_type_name(walk->table, other->type), other->index, other->socket);
	++*count_of(walk, type, socket);
}

/* Adds the missing units of the group of unit i, and its missing partners. A socket may have no unit at all
 * of a type (links). */
static void add_missing_partners(struct unc_walk *walk, size_t i)
{
	unsigned own = walk->unit[i].type, index = walk->unit[i].index;
	const struct unc_tbl_where *w, *place = unc_where(walk->table, own, index);
	int socket = walk->unit[i].socket;

	for (unsigned type = 0; type < walk->table->n_type; type++) {
		bool partner = unc_type_partners(walk->table, own, type);
		bool group = place && place->group;

		if ((!partner && !group) || !*count_of(walk, type, socket))
			continue;
		if (partner && !has_as_many(walk, i, type, socket))
			add_missing(walk, type, socket, index, i);
		for (unsigned k = 0; group && (w = unc_where(walk->table, type, k)); k++)
			if (w->group == place->group)
				add_missing(walk, type, socket, k, i);
	}
}

void unc_walk_missing(struct unc_walk *walk)
{
	walk->count = calloc((size_t)walk->topo->n_sockets * walk->table->n_type + 1,
			     sizeof(*walk->count));
	walk->no_memory |= !walk->count;
	for (size_t i = 0; i < walk->n && walk->count; i++)
		++*count_of(walk, walk->unit[i].type, walk->unit[i].socket);
	for (size_t i = 0; i < walk->n && walk->count; i++) {
		unsigned type = walk->unit[i].type, index = walk->unit[i].index;

		if (!walk->unit[i].part[0].exists)
			continue;
		add_missing_partners(walk, i);
		for (int socket = 0; socket < walk->topo->n_sockets; socket++)
			if (!unc_bits_has(&walk->listed[socket], type) &&
			    socket != walk->unit[i].socket && !has_as_many(walk, i, type, socket))
				add_missing(walk, type, socket, index, i);
	}
	free(walk->count);
	walk->count = NULL;
}
