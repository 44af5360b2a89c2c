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

/* a number named in workload.tbl */
struct unc_table_let {
	char name[48];
	double value;
};

/* a metric that means the same on every CPU; its texts are of the table's */
struct unc_table_portable {
	unc_str name, unit, definition;
	uint8_t kind;
	double load; /* 0: other metrics tell it */
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

/* A statement while it is read: members are filled by its columns (table_columns.inc). */
union unc_words {
	struct {
		const char *name, *title, *models, *folder;
		uint64_t steppings;
		uint16_t family, discovery;
	} cpu;
	struct unc_tbl_topology topology;
	struct unc_tbl_bar bar;
	struct unc_tbl_type type;
	struct {
		struct unc_tbl_type type;
		const char *of, *partner;
	} view;
	struct unc_words_where {
		const char *bases, *devices, *ids;
		uint64_t base, step;
		unc_str name;
		uint8_t space, count, per, cpus, bar, optional, group;
	} where;
	struct unc_words_present {
		struct unc_tbl_present row;
		const char *ids, *devices, *offsets;
	} present;
	struct {
		struct unc_tbl_reg row;
		const char *name;
		uint32_t step;
		uint8_t from;
	} reg;
	struct {
		struct unc_tbl_lane row;
		struct unc_range same;
	} lane;
	struct {
		struct unc_tbl_overflow row;
		struct unc_range set;
		const char *global;
	} overflow;
	struct {
		struct unc_tbl_type type;
		const char *status, *unfreeze;
	} global;
	struct {
		const char *list, *text;
		uint16_t field;
	} list;
	struct {
		struct unc_tbl_kernel row;
		const char *numbers, *config[2];
	} kernel;
	struct {
		struct unc_range fields, when;
		const char *codes, *umasks;
	} kernel_filter;
	struct {
		const char *codes;
		uint32_t counters;
	} kernel_counters;
	struct {
		struct unc_tbl_counter row;
		struct unc_range set;
		const char *name, *ctr;
	} counter;
	struct {
		struct unc_tbl_field row;
		const char *reg[2], *bits[2];
	} field;
	struct {
		struct unc_tbl_value row;
		uint16_t field;
	} value;
	struct {
		struct unc_tbl_event row;
		const char *code, *lane;
	} event;
	struct {
		struct unc_tbl_umask row;
		const char *value;
	} umask;
	struct unc_tbl_machine machine;
	struct unc_tbl_sim_unit sim_unit;
	struct {
		const char *event, *expression;
		uint16_t type;
		uint8_t steady;
	} rate;
	struct {
		const char *name, *unit;
		unc_str definition;
		uint8_t kind;
		double load;
	} portable;
	struct unc_words_metric {
		const char *name, *x, *unit, *formula, *unavailable, *desc;
		uint8_t kind;
	} metric;
	struct {
		const char *name, *desc, *text;
	} group;
	struct {
		const char *socket;
		double bytes_per_second;
	} peak;
	struct {
		const char *unit;
		int socket;
	} absent;
};

/* A line of cpus.tbl. */
struct unc_table_cpu_line {
	struct unc_tbl_cpuid cpuid;
	unsigned number;
};

#define UNC_ROW_UNION(row) struct unc_tbl_##row row;

struct unc_table_reader {
	char cpu[48];
	struct unc_table_file *file;
	size_t n_files;
	struct unc_table t; /* its arrays are on the heap and ours */
	const struct unc_table
		*names;           /* what groups are of: this table, of a site's file another */
	struct unc_workload work; /* likewise */
	char *strings;
	size_t cap_strings;
	uint32_t *hash; /* offsets into strings, 0: free */
	size_t n_hash, used_hash;
	struct unc_table_cpu_line *cpu_line;
	size_t n_cpu_lines;
	bool first;    /* the first of them is this CPU's */
	uint16_t type; /* the type being read, or UNC_NONE */
	bool skipping; /* an event or group of other CPUs: its umasks or items are skipped too */
	unsigned type_line;
	uint8_t space; /* of the part whose places are read; UNC_N_SPACES: access is missing */
	uint64_t seen, seen_in_type; /* statements, one bit each */
	struct unc_line *line;       /* that is being read ... */
	union unc_words w;           /* ... and what its columns say */
	struct unc_error *err;
	const char *statement; /* on the line; NULL: none of this file's */
	char metric[128];      /* the metric that it describes, {x} replaced; "": none yet */
	bool checking;         /* metrics.tbl is read once more, for the formulas */
	struct unc_wrong
		*wrong; /* where the rest goes on without what is wrong; NULL: it does not */
	bool using;     /* inside of a file that another one uses */
	bool out_of_memory;
	struct unc_table_portable portable[UNC_MAX_PORTABLE];
	size_t n_portable;
	struct unc_table_let let[UNC_MAX_LETS];
	size_t n_lets;
	struct unc_site_peaks peaks; /* of a site's file */
	struct unc_site_absent absent[UNC_SITE_SOCKETS];
	unsigned n_absent;
	union {
		UNC_TABLE_ARRAYS(UNC_ROW_UNION) UNC_WORKLOAD_ARRAYS(UNC_ROW_UNION)
	} scratch; /* where rows go when memory has run out */
};

/* Appends a zeroed row and returns it; valid until the next row of its kind. */
#define UNC_ADD_DECLARE(row) struct unc_tbl_##row *unc_add_##row(struct unc_table_reader *);
UNC_TABLE_ARRAYS(UNC_ADD_DECLARE)
UNC_WORKLOAD_ARRAYS(UNC_ADD_DECLARE)

/* A row that exists, to be changed. */
#define UNC_ROW(reader, row, index) (&((struct unc_tbl_##row *)(uintptr_t)(reader)->t.row)[index])
#define UNC_WORK_ROW(reader, row, index)                                                           \
	(&((struct unc_tbl_##row *)(uintptr_t)(reader)->work.row)[index])

unc_str unc_add_string(struct unc_table_reader *, const char *text);
/* Begins with the strings of another table, at the same places: what both say is the same number. */
int unc_table_reader_share(struct unc_table_reader *, const struct unc_table_reader *with,
			   struct unc_error *err);

/* The words of a line. Each marks what it takes; unc_words_done() refuses what is left. */
const char *unc_take(struct unc_line *, const char *key); /* value of key=value, or NULL */
bool unc_take_flag(struct unc_line *, const char *word);  /* a plain word */
const char *unc_take_plain(struct unc_line *);            /* the next plain word, or NULL */
const char *unc_take_word(struct unc_line *);             /* the next, also one with a "=" in it */
const char *unc_take_quoted(struct unc_line *);           /* the quoted text, or NULL */
int unc_words_done(struct unc_table_reader *);

/* The type whose block is being read. */
struct unc_tbl_type *unc_current_type(struct unc_table_reader *);
/* UNC_ERR_TABLE with this sentence. */
int unc_bad(struct unc_table_reader *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What is behind key= on the line; NULL: it is not given. */
const char *unc_given(const struct unc_table_reader *, const char *key);
/* "key= is missing", unless it is given. */
int unc_need(struct unc_table_reader *, const char *key);

/* Reads the line by the rows of table_columns.inc and does what its statement asks for. */
int unc_read_statement(struct unc_table_reader *, enum unc_table_part);
/* The columns of `where`, on the line of another statement. */
int unc_read_where(struct unc_table_reader *);

/* What each statement does when all its columns have been taken: what one column cannot know. */
#define W(...)
#define C(...)
#define S(file, name, flags, end, help) int end(struct unc_table_reader *);
#include "reader/table_columns.inc"
#undef S
#undef C
#undef W

/* "0c.1" */
bool unc_parse_devfn(const char *text, uint64_t *devfn);
/* start, join, stop, leave, freeze, unfreeze: the rest of a line. */
int unc_read_steps(struct unc_table_reader *, struct unc_range *);
/* The bits that settings make in a control register (UNC_NONE: CTL). */
int unc_bits_of(struct unc_table_reader *, const struct unc_range *, uint16_t reg, uint64_t *bits);
/* Adds field = text (NULL: no value) of the current type to a range of sets. */
int unc_add_setting(struct unc_table_reader *, const char *field, const char *text,
		    struct unc_range *);
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
/* At the end of a type's .events. */
int unc_events_end_type(struct unc_table_reader *);
/* Marks the units of either kind of machine that are at the links between sockets. */
void unc_mark_links(struct unc_table_reader *);
/* Reads all statements of a stored file. */
int unc_read_file(struct unc_table_reader *, const struct unc_table_file *, enum unc_table_part);
const struct unc_table_file *unc_table_find_file(const struct unc_table_reader *, const char *name);

#endif
