/* SPDX-License-Identifier: BSD-3-Clause */
/* The table reader: which units belong to which sub-NUMA cluster of their socket. */
#include <string.h>

#include "base/text.h"
#include "reader/table_build.h"

enum { MAX_CLUSTERS = 8 };

/* clusters=0,0,-,1 */
static int read_clusters(struct unc_table_reader *r, struct unc_tbl_nodes *map)
{
	const char *list = unc_given(r, "clusters"), *rest = list;
	uint64_t value, seen = 0;
	char word[8];

	for (unsigned i = 0; rest; i++) {
		if (i == UNC_MAX_PLACES)
			return unc_bad(r, "clusters= has more than %d units", UNC_MAX_PLACES);
		if (!unc_list_next(&rest, word, sizeof(word)) ||
		    (strcmp(word, "-") != 0 &&
		     (!unc_parse_number(word, &value) || value >= MAX_CLUSTERS)))
			return unc_bad(r, "clusters=%s is not a list of clusters 0 to %d, or -",
				       list, MAX_CLUSTERS - 1);
		if (strcmp(word, "-") == 0)
			continue;
		map->cluster[i] = (uint8_t)(value + 1);
		map->clusters = value >= map->clusters ? (uint8_t)(value + 1) : map->clusters;
		seen |= (uint64_t)1 << value;
	}
	if (map->clusters < 2 || seen != unc_ones(map->clusters))
		return unc_bad(r, "clusters=%s: a map has two clusters or more, and units of each",
			       list);
	return 0;
}

int unc_end_nodes(struct unc_table_reader *r)
{
	struct unc_tbl_type *type = unc_current_type(r);
	struct unc_tbl_nodes map = {0};
	int rc = strcmp(unc_given(r, "clusters"), "in_order") == 0 ? 0 : read_clusters(r, &map);

	if (rc < 0)
		return rc;
	for (const struct unc_tbl_nodes *row = NULL;
	     (row = UNC_NEXT(&r->t, nodes, type->nodes, row));)
		if (row->clusters == map.clusters || !row->clusters || !map.clusters)
			return unc_bad(r, "nodes is given twice for as many clusters");
	*UNC_APPEND(r, &type->nodes, nodes) = map;
	return 0;
}

int unc_end_site_nodes(struct unc_table_reader *r)
{
	struct unc_site *site = r->site;
	struct unc_site_nodes *line = &site->nodes[site->n_nodes];
	int rc;

	if (site->n_nodes == UNC_SITE_NODES)
		return unc_bad(r, "more than %d lines nodes", UNC_SITE_NODES);
	*line = (struct unc_site_nodes){.unit = unc_add_string(r, unc_given(r, "unit")),
					.socket = r->w.socket};
	if ((rc = read_clusters(r, &line->map)) < 0)
		return rc;
	for (unsigned i = 0; i < site->n_nodes; i++)
		if (site->nodes[i].unit == line->unit && site->nodes[i].socket == line->socket &&
		    site->nodes[i].map.clusters == line->map.clusters)
			return unc_bad(r, "nodes unit=%s is given twice", unc_given(r, "unit"));
	site->n_nodes++;
	return 0;
}
