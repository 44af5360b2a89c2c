/* SPDX-License-Identifier: BSD-3-Clause */
/* What a site knows of its machines: groups of its own, the peak of their memory, nodes, what they lack. */
#ifndef UNC_SITE_H
#define UNC_SITE_H

#include "tables/table.h"

/* Lines that are wrong, and were left out. */
struct unc_wrong {
	struct unc_error first; /* file:line: sentence */
	unsigned n;
};

enum { UNC_SITE_SOCKETS = 64, UNC_SITE_NODES = 32, UNC_SITE_NAME = 32 };

struct unc_site_group {
	char name[UNC_SITE_NAME];
	char *about; /* "": it does not say; NULL likewise */
	char **item;
	size_t n_items;
	char *why; /* NULL; else a line of it is wrong, and it has no items */
};

/* Bytes per second, 0 if nothing is said. */
struct unc_site_peaks {
	double of[UNC_SITE_SOCKETS], each;
	struct unc_error
		why; /* a line of them is wrong, or none can be read: code; not to be used */
};

/* "upi2", or a type for all of its units; socket -1: each. */
struct unc_site_absent {
	char unit[UNC_SITE_NAME];
	int socket;
};

/* Which units of a type belong to which NUMA node; socket -1: each. */
struct unc_site_nodes {
	char unit[UNC_SITE_NAME];
	int socket;
	struct unc_tbl_nodes map;
};

struct unc_site {
	struct unc_site_group *group;
	size_t n_groups;
	struct unc_site_peaks peaks;
	struct unc_site_absent absent[UNC_SITE_SOCKETS];
	unsigned n_absent;
	struct unc_site_nodes nodes[UNC_SITE_NODES];
	unsigned n_nodes;
	struct unc_wrong wrong;
};

/* Reads a site's file for the CPU of a table. `needed`: one that is not there is wrong; `raised`: it must be
 * root's. What is wrong is left out and noted, a group or the peaks as a whole; of a file that cannot be
 * read, or is not to be trusted, all. UNC_ERR_MEMORY alone is an error. unc_site_free() in any case. */
int unc_site_load(const char *path, bool needed, bool raised, const struct unc_table *,
		  struct unc_site *out, struct unc_error *err);
void unc_site_free(struct unc_site *);

#endif
