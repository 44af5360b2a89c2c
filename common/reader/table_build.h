/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the table reader share: a table under construction. */
#ifndef UNC_TABLE_BUILD_H
#define UNC_TABLE_BUILD_H

#include "base/text.h"
#include "reader/table_load.h"
#include "tables/table.h"

enum { UNC_MAX_LETS = 128, UNC_MAX_PORTABLE = 32 };

struct unc_table_file {
	char *name;
	char *text;
	size_t size;
};

/* What a number of workload.tbl is as the file has it, and with more of each flow. */
enum { UNC_N_VALUES = 1 + UNC_N_FLOWS };

/* a number named in workload.tbl */
struct unc_table_let {
	char name[48];
	double value[UNC_N_VALUES];
};

/* Files by their statements; ANY: columns that all of them have. */
enum unc_table_part {
	UNC_FILE_ANY,
	UNC_FILE_CPUS,
	UNC_FILE_UNITS,
	UNC_FILE_EVENTS,
	UNC_FILE_PORTABLE,
	UNC_FILE_METRICS,
	UNC_FILE_GROUPS, /* and statements of a site's file, which has its own, too */
	UNC_FILE_SITE,
	UNC_FILE_WORKLOAD
};

#define UNC_ROW_UNION(row) struct unc_tbl_##row row;

/* A statement while it is read, as its columns fill it in (table_columns.inc): the row that it
 * becomes, or what it makes rows of; and what goes with that. What stands there as text is
 * unc_given(). */
struct unc_words {
	union {
		UNC_TABLE_ARRAYS(UNC_ROW_UNION)
		UNC_WORKLOAD_ARRAYS(UNC_ROW_UNION)
		struct unc_tbl_topology topology;
		struct unc_tbl_machine machine;
		struct {
			uint64_t steppings;
			uint16_t family, discovery, unmapped;
		} cpu;
		struct unc_words_place {
			uint64_t base, step;
			unc_str name;
			uint8_t space, count, per, cpus, bar, optional, group;
		} place;
		double peak; /* bytes per second */
	};
	struct unc_tbl_fields does; /* of a umask */
	struct unc_range sets, when;
	uint16_t of;     /* a field */
	uint32_t stride; /* from one register of an array to the next */
	uint8_t from;
	int socket;
	double load; /* of a portable metric; only who makes workloads wants it */
};

/* A line of cpus.tbl. */
struct unc_table_cpu_line {
	struct unc_tbl_cpuid cpuid;
	unsigned number;
};

enum { UNC_POOL_CHAINS = 4096 };

struct unc_pool_text {
	unc_str at;
	uint32_t next; /* 1 + the one before it in the chain of its hash; 0: it is the first */
};

/* The texts of tables, each once. */
struct unc_pool {
	char *text;
	size_t cap;
	struct unc_pool_text *texts;
	size_t n;
	uint32_t chain[UNC_POOL_CHAINS]; /* 1 + the last of each */
};

struct unc_table_reader {
	char cpu[48];
	struct unc_table_file *file;
	size_t n_files;
	struct unc_table t; /* its arrays are on the heap and ours */
	const struct unc_table
		*names;           /* what groups are of: this table, of a site's file another */
	struct unc_workload work; /* likewise */
	struct unc_pool strings;
	struct unc_table_cpu_line *cpu_line;
	size_t n_cpu_lines;
	bool first;    /* the first of them is this CPU's */
	uint16_t type; /* the type being read, or UNC_NONE */
	bool skipping; /* an event or group of other CPUs: its umasks or items are skipped too */
	unsigned type_line;
	size_t first_fields; /* of the type, of which umasks can do the same */
	uint8_t space; /* of the part whose places are read; UNC_N_SPACES: access is missing */
	uint64_t seen, seen_in_type; /* statements, one bit each */
	struct unc_line *line;       /* that is being read ... */
	struct unc_words w;          /* ... and what its columns say */
	const char *use;             /* the file that it wants to be read; NULL: none */
	struct unc_error *err;
	const char *statement; /* on the line; NULL: none of this file's */
	char metric[128];      /* the metric that it describes, {x} replaced; "": none yet */
	bool checking;         /* metrics.tbl is read once more, for the formulas */
	struct unc_wrong
		*wrong; /* where the rest goes on without what is wrong; NULL: it does not */
	bool using;     /* inside of a file that another one uses */
	bool out_of_memory;
	struct unc_tbl_metric portable[UNC_MAX_PORTABLE];
	size_t n_portable;
	struct unc_table_let let[UNC_MAX_LETS];
	size_t n_lets;
	struct unc_site *site; /* where a site's file goes */
	union {
		UNC_TABLE_ARRAYS(UNC_ROW_UNION) UNC_WORKLOAD_ARRAYS(UNC_ROW_UNION)
	} scratch; /* where rows go when memory has run out */
};

/* Appends a zeroed row to an array of `t` or `work` and returns it; valid until the next row of its kind.
 * Where memory has run out it is the one that is thrown away. */
#define UNC_ADD(reader, of, row)                                                                   \
	((struct unc_tbl_##row *)unc_add_row(reader, &(reader)->of.row, &(reader)->of.n_##row,     \
					     sizeof(*(reader)->of.row)))
void *unc_add_row(struct unc_table_reader *, void *rows, size_t *n, size_t size);

/* The same, directly behind those of the range. */
#define UNC_APPEND(reader, range, row)                                                             \
	(unc_extend(range, (reader)->t.n_##row), UNC_ADD(reader, t, row))
static inline void unc_extend(struct unc_range *range, size_t rows)
{
	if (range->n++ == 0)
		range->first = (uint16_t)rows;
}

/* A row that exists, to be changed. */
#define UNC_ROW(reader, of, row, index)                                                            \
	(&((struct unc_tbl_##row *)(uintptr_t)(reader)->of.row)[index])

unc_str unc_add_string(struct unc_table_reader *, const char *text);
/* Takes over the strings of another table and adds to them: what both say is the same number. The
 * other one is told where they are when the last has been read. */
void unc_table_reader_share(struct unc_table_reader *, struct unc_table_reader *with);

/* Takes the next word of a kind from a line; NULL: there is none. What nobody takes is refused by
 * unc_words_done(). */
enum unc_word_kind {
	UNC_WORD_KEY,    /* KEY=VALUE with this key; NULL: with any */
	UNC_WORD_FLAG,   /* this plain word */
	UNC_WORD_PLAIN,  /* a plain word */
	UNC_WORD_ANY,    /* likewise, also with a "=" in it */
	UNC_WORD_QUOTED, /* a text in quotes */
};
struct unc_word *unc_take(struct unc_line *, enum unc_word_kind, const char *key);
int unc_words_done(struct unc_table_reader *);

/* The type whose block is being read. */
struct unc_tbl_type *unc_current_type(struct unc_table_reader *);
/* UNC_ERR_TABLE with this sentence. */
int unc_bad(struct unc_table_reader *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What the line gives a column, by the name of the column; NULL: nothing. Or the nth one of this
 * name. */
const char *unc_given(const struct unc_table_reader *, const char *column);
const char *unc_given_nth(const struct unc_table_reader *, const char *column, unsigned n);
/* "key= is missing", unless it is given. */
int unc_need(struct unc_table_reader *, const char *key);

/* Reads the line by the rows of table_columns.inc and does what its statement asks for. */
int unc_read_statement(struct unc_table_reader *, enum unc_table_part);

/* What each statement does when all its columns have been taken: what one column cannot know. */
#define S(file, name, flags, end, help) int end(struct unc_table_reader *);
#include "reader/table_columns.inc"

/* "0c.1" */
bool unc_parse_devfn(const char *text, uint64_t *devfn);
/* A list of what `parse` reads, each up to `limit`: how many, 0 without a list. -1: it is none, or
 * has more than `max`. */
int unc_read_list(const char *list, bool (*parse)(const char *, uint64_t *), uint64_t limit,
		  uint64_t *out, int max);
/* "NAME:NUMBER" */
bool unc_read_pair(const char *text, char name[64], uint64_t *number);
/* column=REG,..: registers of the type, `max` (one or two) at most; how many. */
int unc_read_regs(struct unc_table_reader *, const char *column, uint16_t *out, int max);
/* start, join, stop, leave, freeze, unfreeze: the rest of a line. */
int unc_read_steps(struct unc_table_reader *, struct unc_range *);
/* The bits that settings make in a control register (UNC_NONE: CTL). */
int unc_bits_of(struct unc_table_reader *, const struct unc_range *, uint16_t reg, uint64_t *bits);
/* Adds field = text (NULL: no value) of the current type to a range of sets. */
int unc_add_setting(struct unc_table_reader *, const char *field, const char *text,
		    struct unc_range *);
/* A range of sets that is whole, and last: where the same stand already it is those. */
void unc_share_sets(struct unc_table_reader *, struct unc_range *);
/* A list FIELD,.. (a name of `fields` stands for several) or, with_value, FIELD:VALUE,.. */
int unc_add_list(struct unc_table_reader *, const char *what, const char *list, bool with_value,
		 struct unc_range *);

/* A list of numbers up to `max`, one for each unit: `3-5,3,4`; each is stored as 1 + its value. */
int unc_read_positions(struct unc_table_reader *, const char *key, const char *list, unsigned max,
		       uint8_t *out, size_t size);
/* At the end of a type's block in units.tbl (table_type.c); what it says of the kernel
 * (table_kernel.c). */
int unc_units_end_type(struct unc_table_reader *);
int unc_check_kernel(struct unc_table_reader *, const struct unc_tbl_type *);
/* At the end of metrics.tbl: whether it has all portable metrics. */
int unc_check_portable(struct unc_table_reader *);
/* Where reading goes on the error is noted, and the result 0; else it stays. */
int unc_note_wrong(struct unc_table_reader *);
/* What the error is about cannot be had: a metric (false: that is known already), a group, what a site
 * tells of the memory. */
bool unc_lose_metric(struct unc_table_reader *);
void unc_lose_group(struct unc_table_reader *);
/* Portable ones before all others, in the order of portable.tbl. */
void unc_sort_metrics(struct unc_table_reader *);
/* Reads the one file it was given as that of a site, whose groups are of the table `names`. */
int unc_table_reader_site(struct unc_table_reader *, const struct unc_table *names,
			  struct unc_site *out, struct unc_error *err);
/* At the end of groups, and before the next: whether the last one has an item. */
int unc_check_group(struct unc_table_reader *);
/* Behind `use`, when the events of the file, from `first` on, have been read. */
int unc_end_used(struct unc_table_reader *, size_t first);
/* At the end of a type's .events; and when all events have been read (table_index.c). */
int unc_events_end_type(struct unc_table_reader *);
int unc_index(struct unc_table_reader *);
/* Marks the units of either kind of machine that are at the links between sockets. */
void unc_mark_links(struct unc_table_reader *);

#endif
