/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: PCIe stacks, where registers tell their buses (map), and what is on these (endpoint). */
#include "reader/table_build.h"

#include <string.h>

static bool parse_id(const char *text, uint64_t *id)
{
	if (strcmp(text, "-") == 0)
		*id = UNC_NO_STACK;
	return *text == '-' ? !text[1] : unc_parse_number(text, id) && *id < 32;
}

static int read_ids(struct unc_table_reader *r, struct unc_tbl_map *map)
{
	const char *list = unc_given(r, "ids");
	uint64_t id[UNC_MAX_STACKS];
	int n = unc_read_list(list, parse_id, UNC_NO_STACK, id, UNC_MAX_STACKS);

	if (n < 0)
		return unc_bad(r, "ids=%s is not a list of at most %d ids up to 31, or '-'", list,
			       UNC_MAX_STACKS);
	for (int i = 0; i < UNC_MAX_STACKS; i++)
		map->ids[i] = i < n ? (uint8_t)id[i] : UNC_NO_STACK;
	return 0;
}

static int read_offsets(struct unc_table_reader *r, struct unc_tbl_map *map)
{
	const char *list = unc_given(r, "offsets");
	uint64_t offset[2] = {0};
	int n = unc_read_list(list, unc_parse_number, 0xffc, offset, 2);

	if (n < 0 || ((offset[0] | offset[1]) & 3))
		return unc_bad(r, "offsets=%s is not one or two configuration offsets", list);
	if (n != (map->msr ? 0 : map->tells == UNC_MAP_OWN ? 1 : 2))
		return unc_bad(r, "map wants msr=, or offsets=: one with tells=own, else two");
	map->offset[0] = (uint16_t)offset[0];
	map->offset[1] = (uint16_t)offset[1];
	return 0;
}

int unc_end_map(struct unc_table_reader *r)
{
	struct unc_tbl_map *map = &r->w.map;
	struct unc_range *rows = &unc_current_type(r)->maps;
	bool own = map->tells == UNC_MAP_OWN && !map->msr, list = map->tells == UNC_MAP_LIST;
	int rc;

	if (map->msr && map->tells == UNC_MAP_OWN)
		map->tells = UNC_MAP_BYTES;
	if ((rc = read_ids(r, map)) < 0 || (rc = read_offsets(r, map)) < 0)
		return rc;
	if (!map->msr == !map->id || (map->msr && map->tells != UNC_MAP_BYTES))
		return unc_bad(r, "map wants msr= or id=, an MSR tells bytes");
	if (own != !!map->mask || list != !!map->valid ||
	    (!map->msr && map->tells == UNC_MAP_BYTES) != !!map->devfn)
		return unc_bad(r, "bits= goes with tells=own, valid= with tells=list, device= with "
				  "tells=bytes of a function");
	if (!map->chip != !map->chip_id || !map->chip != !map->chip_mask ||
	    !map->chip != !map->chip_offset)
		return unc_bad(r, "chip=, chip_id=, chip_offset= and chip_bits= go together");
	*UNC_APPEND(r, rows, map) = *map;
	return 0;
}

int unc_end_endpoint(struct unc_table_reader *r)
{
	*UNC_APPEND(r, &unc_current_type(r)->endpoints, endpoint) = r->w.endpoint;
	return 0;
}
