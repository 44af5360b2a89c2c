/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the table reader share: a table under construction. */
#ifndef UNC_TABLE_BUILD_H
#define UNC_TABLE_BUILD_H

#include "table.h"
#include "text.h"

enum { UNC_MAX_LETS = 128, UNC_MAX_PLACES = 64 };

struct unc_table_file {
	char *name;
	char *text;
	size_t size;
};

struct unc_table_let { /* a number named in workload.tbl */
	char name[48];
	double value;
};

#define UNC_ROW_UNION(row) struct unc_tbl_##row row;

struct unc_table_reader {
	char cpu[48];
	struct unc_table_file *file;
	size_t n_files;
	struct unc_table t; /* its arrays are on the heap and ours */
	char *strings;
	size_t cap_strings;
	uint32_t *hash; /* offsets into strings, 0: free */
	size_t n_hash, used_hash;
	uint16_t type;  /* the type being read, or UNC_NONE */
	bool skipping;  /* an event of other CPUs: its umasks are skipped too */
	unsigned type_line;
	bool using;     /* inside of a file that another one uses */
	bool have_machine;
	bool out_of_memory;
	struct unc_table_let let[UNC_MAX_LETS];
	size_t n_lets;
	union {
		UNC_TABLE_ARRAYS(UNC_ROW_UNION)
	} scratch; /* where rows go when memory has run out */
};

/* Appends a zeroed row and returns it; valid until the next row of its kind. */
#define UNC_ADD_DECLARE(row) struct unc_tbl_##row *unc_add_##row(struct unc_table_reader *);
UNC_TABLE_ARRAYS(UNC_ADD_DECLARE)

/* A row that exists, to be changed. */
#define UNC_ROW(reader, row, index) (&((struct unc_tbl_##row *)(uintptr_t)(reader)->t.row)[index])

unc_str unc_add_string(struct unc_table_reader *, const char *text);

/* The words of a line. Each marks what it takes; unc_words_done() refuses what is left. */
const char *unc_take(struct unc_line *, const char *key);          /* value of key=value, or NULL */
bool unc_take_flag(struct unc_line *, const char *word);          /* a plain word */
const char *unc_take_plain(struct unc_line *);                    /* the next plain word, or NULL */
const char *unc_take_quoted(struct unc_line *);                   /* the quoted text, or NULL */
int unc_words_done(const struct unc_line *, struct unc_error *err);

/* key=NUMBER. Missing: error if `needed`, else *value is left alone. Larger than max: error. */
int unc_take_number(struct unc_line *, const char *key, bool needed, uint64_t max, uint64_t *value,
		    struct unc_error *err);
/* aggregate=sum|max|one|socket */
int unc_take_aggregate(struct unc_line *, uint8_t *value, struct unc_error *err);

/* The type whose block is being read. */
struct unc_tbl_type *unc_current_type(struct unc_table_reader *);
/* "what 'value' is not want" */
int unc_bad(struct unc_error *, const char *what, const char *value, const char *want);

/* Statements of units.tbl that tell where units are (table_where.c). */
int unc_read_topology(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_bar(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_access(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_main_where(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_part(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_discovery(struct unc_table_reader *, struct unc_line *, struct unc_error *);

/* Statements of units.tbl about the control of counters, and settings of fields
 * (table_control.c). */
int unc_read_control(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_steps(struct unc_table_reader *, struct unc_line *, struct unc_range *,
		   struct unc_error *);
int unc_read_lane(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_forbid(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_needs(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_mask(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_bundle(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_overflow(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_global(struct unc_table_reader *, struct unc_line *, struct unc_error *);
/* like=FIELD, if given. */
int unc_take_like(struct unc_table_reader *, struct unc_line *, struct unc_tbl_field *,
		  struct unc_error *);
/* The bits that set=FIELD:VALUE sets in control register `reg` (UNC_NONE: CTL). */
int unc_take_bits(struct unc_table_reader *, struct unc_line *, uint16_t reg, uint64_t *bits,
		  struct unc_error *);
/* Adds field = text (NULL: no value) of the current type to a range of sets. */
int unc_add_setting(struct unc_table_reader *, const char *field, const char *text,
		    struct unc_range *, struct unc_error *);
/* key=FIELD,.. (a name of `fields` stands for several) or, with_value, key=FIELD:VALUE,.. */
int unc_take_fields(struct unc_table_reader *, struct unc_line *, const char *key, bool with_value,
		    struct unc_range *, struct unc_error *);

/* One statement of a file. */
int unc_read_cpus(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_units(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_events(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_metrics(struct unc_table_reader *, struct unc_line *, struct unc_error *);
int unc_read_workload(struct unc_table_reader *, struct unc_line *, struct unc_error *);
/* At the end of a type's block in units.tbl (table_type.c). */
int unc_units_end_type(struct unc_table_reader *, struct unc_error *);
/* At the end of a type's .events. */
int unc_events_end_type(const struct unc_table_reader *, struct unc_error *);
/* Reads all statements of a stored file with one of the functions above. */
int unc_read_file(struct unc_table_reader *, const struct unc_table_file *,
		  int (*read)(struct unc_table_reader *, struct unc_line *, struct unc_error *),
		  struct unc_error *);
const struct unc_table_file *unc_table_find_file(const struct unc_table_reader *, const char *name);

#endif
