/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that nobody would miss: what another socket has, or what comes with a unit that is there, and
 * this socket lacks. One that is hidden looks like one that does not exist, so until a fact says
 * that there is none (the hardware's list, a register that counts them, an address that is not filled
 * in) it is listed as one that cannot be used, and each sum over it is marked.
 */
#include <stdio.h>
#include <stdlib.h>

#include "machine/discover_walk.h"

static int compare_units(const void *pa, const void *pb)
{
	const struct unc_instance *a = pa, *b = pb;

	if (a->type != b->type)
		return a->type - b->type;
	if (a->socket != b->socket)
		return a->socket - b->socket;
	return a->index - b->index;
}

static void sort(struct unc_walk *walk)
{
	if (walk->n)
		qsort(walk->unit, walk->n, sizeof(*walk->unit), compare_units);
}

/* Whether a unit is listed; the first `sorted` units are. */
static bool is_listed(const struct unc_walk *walk, const struct unc_instance *key, size_t sorted)
{
	for (size_t i = sorted; i < walk->n; i++)
		if (compare_units(key, &walk->unit[i]) == 0)
			return true;
	return bsearch(key, walk->unit, sorted, sizeof(*key), compare_units) != NULL;
}

/* Whether a fact says that a socket has no such unit. */
static bool is_told(const struct unc_walk *walk, const struct unc_instance *key)
{
	struct unc_walk quiet = *walk; /* what does not agree has been noted */
	unsigned n = UNC_MAX_PLACES;
	const struct unc_tbl_present *by;

	quiet.note = NULL;
	return walk->table->type[key->type].cpus ||
	       unc_bits_has(&walk->listed[key->socket], key->type) ||
	       (unc_present_count(&quiet, key->type, key->socket, &n, &by,
				  &(struct unc_error){0}) == 0 &&
		key->index >= n) ||
	       unc_fixed_unfilled(walk, key->type, key->index, key->socket, NULL);
}

/* Lists a unit that is not listed, for one that is. */
static int miss(struct unc_walk *walk, unsigned type, int socket, unsigned index, size_t because,
		size_t sorted, struct unc_error *err)
{
	const struct unc_instance *other, key = {.type = (uint16_t)type,
						 .socket = (uint16_t)socket,
						 .index = (uint16_t)index};
	struct unc_instance *unit;

	if (is_listed(walk, &key, sorted) || is_told(walk, &key))
		return 0;
	unit = unc_walk_add(walk, type, socket, index, err);
	if (!unit)
		return UNC_ERR_MEMORY;
	other = &walk->unit[because];
	snprintf(
		unit->reason, sizeof(unit->reason),
		"cannot tell whether it is hidden or does not exist: %.40s%u of socket %u is there",
		unc_type_name(walk->table, other->type), other->index, other->socket);
	return 0;
}

static bool has_any(const struct unc_walk *walk, unsigned type, int socket)
{
	for (size_t i = 0; i < walk->n; i++)
		if (walk->unit[i].type == type && walk->unit[i].socket == socket)
			return true;
	return false;
}

/* The units of the group of unit i. A socket may well have none at all of a type (links). */
static int miss_partners(struct unc_walk *walk, size_t i, size_t sorted, struct unc_error *err)
{
	const struct unc_tbl_where *own =
		unc_where(walk->table, walk->unit[i].type, walk->unit[i].index);
	int socket = walk->unit[i].socket, rc = 0;

	for (unsigned type = 0; own && own->group && type < walk->table->n_type; type++) {
		const struct unc_tbl_where *w;

		for (unsigned k = 0; rc == 0 && (w = unc_where(walk->table, type, k)); k++)
			if (w->group == own->group && has_any(walk, type, socket))
				rc = miss(walk, type, socket, k, i, sorted, err);
	}
	return rc;
}

int unc_walk_missing(struct unc_walk *walk, struct unc_error *err)
{
	size_t sorted = walk->n;
	int rc = 0;

	sort(walk);
	for (size_t i = 0; i < walk->n && rc == 0; i++) {
		unsigned type = walk->unit[i].type, index = walk->unit[i].index;

		if (!walk->unit[i].part[0].exists)
			continue;
		rc = miss_partners(walk, i, sorted, err);
		for (int socket = 0; socket < walk->topo->n_sockets && rc == 0; socket++)
			rc = miss(walk, type, socket, index, i, sorted, err);
	}
	sort(walk);
	return rc;
}
