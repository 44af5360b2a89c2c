/* SPDX-License-Identifier: BSD-3-Clause */
/* Event tables from a folder: for the build-time compiler and for UNCORE_TABLES. */
#ifndef UNC_TABLE_LOAD_H
#define UNC_TABLE_LOAD_H

#include "tables/table.h"

enum { UNC_TABLE_CPUS = 32 };

struct unc_table_set {
	struct unc_table_reader *reader[UNC_TABLE_CPUS];
	const struct unc_table *table[UNC_TABLE_CPUS];
	size_t n;
};

/* Whether a file or folder that has been opened may be read: 0, or an error with its sentence. */
typedef int (*unc_trust_fn)(int fd, const char *path, struct unc_error *err);

/* Reads and checks every CPU that dir/cpus.tbl names. `trust` is asked for the folders and each
 * file; NULL: none is refused. Free with unc_table_set_free(), also after an error. UNC_ERR_TABLE
 * with file:line; UNC_ERR_IO; the errors of `trust`. */
int unc_table_set_load_trusted(const char *dir, unc_trust_fn trust, struct unc_table_set *out,
			       struct unc_error *err);
int unc_table_set_load(const char *dir, struct unc_table_set *out, struct unc_error *err);
void unc_table_set_free(struct unc_table_set *);

#endif
