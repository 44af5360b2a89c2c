/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of named.h: rows of a table that grows. */
#ifndef UNC_NAMED_ROWS_H
#define UNC_NAMED_ROWS_H

#include "machine/named.h"

/* A PMU as it was found. */
struct unc_named_pmu {
	char name[UNC_KERNEL_NAME];
	char stem[UNC_KERNEL_NAME];    /* the name of its type */
	char pattern[UNC_KERNEL_NAME]; /* its name, with {n} for the number */
	int number;                    /* -1: none */
	uint16_t *socket;              /* of each CPU of its mask */
	size_t n_cpus;
	unsigned per; /* most of them on one socket */
	char *format; /* all of format/, as a text */
	bool done;    /* it has a type, or is left out */
};

struct unc_naming {
	const struct unc_fs *fs;
	const struct unc_topology *top;
	struct unc_table *t;
	struct unc_named *out;
	struct unc_named_pmu *pmu;
	size_t n_pmus;
	struct unc_named_other {
		const char *name;
		uint64_t type;
	} * other; /* the PMUs that are not used */
	size_t n_others;
	struct unc_error *err;
	int rc;             /* error: no memory, or too many rows */
	uint64_t scrap[64]; /* replaces a row for which there was no room */
};

#define UNC_NAMED_FOLDER "/sys/bus/event_source/devices"

/* Adds a row of zeros; never NULL. */
#define UNC_NAMED_ROW(m, row)                                                                      \
	((struct unc_tbl_##row *)unc_named_row(m, &(m)->t->row, &(m)->t->n_##row,                  \
					       sizeof(*(m)->t->row)))
void *unc_named_row(struct unc_naming *, void *array, size_t *n, size_t size);
/* Adds a text. */
unc_str unc_named_text(struct unc_naming *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void unc_named_no_memory(struct unc_naming *);
/* Lists the names in a folder of a PMU, sorted; NULL: none. */
char **unc_named_list(const struct unc_fs *, const char *pmu, const char *folder);
/* Leaves a PMU out, or (event not NULL) one of its files. */
void unc_named_leave(struct unc_naming *, const char *pmu, const char *file, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));

/* In named_type.c. Makes the type of all PMUs with the stem of `first`: fields, events, metrics, units. */
void unc_named_type(struct unc_naming *, size_t first);
/* Frees the table, if there is one. */
void unc_named_drop(struct unc_named *);

#endif
