/* SPDX-License-Identifier: BSD-3-Clause */
/* Event tables from a folder: for the build-time compiler and for UNCORE_TABLES. */
#ifndef UNC_TABLE_LOAD_H
#define UNC_TABLE_LOAD_H

#include <stdbool.h>

#include "tables/table.h"

/* Statements that are wrong, and were left out. */
struct unc_wrong {
	struct unc_error first; /* file:line: sentence */
	unsigned n;
};

struct unc_table_set {
	struct unc_table_reader *reader[UNC_TABLE_CPUS];
	const struct unc_table *table[UNC_TABLE_CPUS];
	size_t n;
	struct unc_wrong wrong;
};

/* Whether a file or folder that has been opened may be read: 0, or an error with its sentence. */
typedef int (*unc_trust_fn)(int fd, const char *path, struct unc_error *err);

/* What the file of a site tells of the memory of its sockets: bytes per second, 0 if nothing. */
enum { UNC_SITE_SOCKETS = 64 };
struct unc_site_peaks {
	double of[UNC_SITE_SOCKETS], each;
	struct unc_error
		why; /* a line of them is wrong, or none can be read: code; not to be used */
};

/* What its machines do not have: "upi2", or a type for all of its units; socket -1: each. */
struct unc_site_absent {
	unc_str unit;
	int socket;
};

/* Which of its units belong to which NUMA node; socket -1: each. */
enum { UNC_SITE_NODES = 32 };
struct unc_site_nodes {
	unc_str unit; /* a type */
	int socket;
	struct unc_tbl_nodes map;
};

/* A site's file: groups; peaks, gaps and nodes of its machines. */
struct unc_site {
	struct unc_table_reader *reader; /* NULL: there is no file */
	const struct unc_table *groups;  /* only these of it; NULL likewise */
	struct unc_site_peaks peaks;
	struct unc_site_absent absent[UNC_SITE_SOCKETS];
	unsigned n_absent;
	struct unc_site_nodes nodes[UNC_SITE_NODES];
	unsigned n_nodes;
};

/* Reads a site's file for the CPU of a table. `needed`: one that is not there is wrong. What is wrong is
 * left out and noted, a group or the peaks as a whole; of a file that cannot be read, or that `trust`
 * refuses, all. Free with unc_site_free(), also after an error, which is UNC_ERR_MEMORY. */
int unc_site_load(const char *path, bool needed, unc_trust_fn trust, const struct unc_table *table,
		  struct unc_site *out, struct unc_wrong *wrong, struct unc_error *err);
void unc_site_free(struct unc_site *);

/* Reads and checks every CPU that dir/cpus.tbl names. Free with unc_table_set_free(), also after an
 * error. UNC_ERR_TABLE with file:line; UNC_ERR_IO. */
int unc_table_set_load(const char *dir, struct unc_table_set *out, struct unc_error *err);
/* The same for a program that needs what is right: a metric or a group that is wrong cannot be had, says
 * why, and is noted in out->wrong. `trust` is asked for the folders and each file, and its errors are ours; NULL: none is
 * refused. */
int unc_table_set_load_trusted(const char *dir, unc_trust_fn trust, struct unc_table_set *out,
			       struct unc_error *err);
void unc_table_set_free(struct unc_table_set *);

#endif
