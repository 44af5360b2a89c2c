/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a command prints: rows of values as text, JSON, JSON lines or separated values. A value is
 * put once, by its key: the calls are in the order of JSON, the columns in that of text. Text folds
 * to the terminal.
 */
#ifndef UNC_TOOL_RECORD_H
#define UNC_TOOL_RECORD_H

#include <stdio.h>
#include <time.h>

#include "search.h"
#include "tool.h"

enum { RECORD_DEPTH = 8 };
enum { CELL_MAX = 128 }; /* enough for any number and counter list made here */

/* FOLDED: text for the rest of the line, or below the row; the last one. BENEATH: a line below the row. */
enum align { TO_LEFT, TO_RIGHT, FOLDED, BENEATH };

/* Where text has a value. Columns of one title that follow one another share their cells; one in
 * which nothing stands is not seen. */
struct column {
	const char *key;   /* NULL: end of the columns */
	const char *title; /* above the cells, or before the line below */
	enum align align;
};

#define CELL(k, t) .key = k, .title = t
#define NUMBER(k, t) CELL(k, t), .align = TO_RIGHT
#define FOLD(k, t) CELL(k, t), .align = FOLDED
#define BELOW(k, t) CELL(k, t), .align = BENEATH

struct table {
	const struct column *column; /* NULL: there is no table */
	size_t columns;
	bool turned;      /* an object: a line for each value behind its title */
	bool titled;      /* the titles have been shown */
	size_t *width;    /* of each column, the widest so far; 0: nothing stands there */
	size_t fits, end; /* columns that the terminal has room for; where they end */
	char **cell;      /* of all rows, and behind each the lines below it; NULL: none */
	size_t cells;
};

struct record {
	FILE *out;
	const struct unc_platform *platform; /* may be NULL */
	enum { TEXT, JSON, SEPARATED } form;
	const char *separator;
	bool keys; /* in place of separated values */
	/* of JSON: the brackets that are open, and whether anything is in them */
	unsigned depth;
	char close[RECORD_DEPTH];
	bool filled[RECORD_DEPTH];
	bool in_row;
	/* of text: the list that is open and the object around it; the array whose elements follow */
	struct table table, outer;
	const char *array;
	bool in_array;
};

/* Starts a report on stdout. JSON lines are rows without a list. */
void record_start(struct record *, const struct args *, const struct unc_platform *);

/* Begins a list of rows; key NULL: the list is the whole report. Columns end with {NULL}. */
void record_list(struct record *, const char *key, const struct column *);
/* Begins a row; ends the one before. */
void record_row(struct record *);
/* Begins an object, which is the whole report: as text, a line for each value. */
void record_object(struct record *, const struct column *);
/* Ends the rows, and their list or object if there is one. */
void record_end(struct record *);
/* Prints the rows so far as text. Later ones stay aligned with them, without titles. */
void record_flush(struct record *);

/* Values. Text shows only those with a column. */
void record_text(struct record *, const char *key, const char *text);  /* NULL: null */
void record_known(struct record *, const char *key, const char *text); /* null where it is empty */
void record_hex(struct record *, const char *key, uint64_t value);
void record_integer(struct record *, const char *key, int64_t value);
void record_count(struct record *, const char *key, uint64_t value);
void record_bool(struct record *, const char *key, bool value);
void record_number(struct record *, const char *key, double value); /* not finite: null */
void record_null(struct record *, const char *key);
void record_bits(struct record *, const char *key, uint64_t mask); /* an array of their numbers */
/* An array of the words between separators, which are one letter. */
void record_words(struct record *, const char *key, const char *list, const char *separator);
/* Begins an array '[' or an object '{'; elements of arrays have key NULL. */
void record_open(struct record *, const char *key, char bracket);
void record_close(struct record *);

/* Only in text: an addition to a cell, or another line below the row; a line outside of tables. */
void record_also(struct record *, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void record_line(struct record *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Columns of text: COLUMNS, else those of the terminal, else 80. */
size_t terminal_width(void);
/* Prints words from column `at` on, folded; further lines begin at `indent`. */
void fold(FILE *, const char *text, size_t at, size_t indent);

/* ---- what several commands print */

/* Prints the line SIMULATED or REPLAYED; nothing on real hardware. */
void print_label(const struct unc_platform *);

/* "counters" and "counter" (the fixed or free-running one) */
void record_counters(struct record *, const struct unc_encoding *);
/* Puts the metrics that the search finds as `wanted`, with formulas if verbose. Returns their number. */
extern const struct column metric_columns[];
size_t record_metrics(struct record *, struct search *, enum found wanted, bool verbose);
/* verified.c: whether a report of `uncore verify` on this CPU found a metric right. */
bool metric_verified(const char *cpu, const char *metric);

/* ---- number_text.c: numbers for people */

/* "1,234,567" */
const char *grouped(char buf[CELL_MAX], uint64_t value);
/* "12.35 GB/s": with the decimal prefix that gives 1 to 999 before the point. */
const char *scaled(char buf[CELL_MAX], double value, const char *unit);
/* A value of a metric whose unit is `unit` ("bytes", "ratio", "ns", ...). */
const char *with_unit(char buf[CELL_MAX], double value, const char *unit);
/* The text of a rate: of a unit per second, or of a unit that is a rate itself. */
const char *rate_text(char buf[CELL_MAX], double rate, const char *unit);
/* "33", 99 at most: a part is never shown as the whole; "<1" for less than 1. */
const char *percent_text(char buf[CELL_MAX], double share);
/* A time of the day, local, as strftime() has it. */
const char *clock_text(char buf[CELL_MAX], const char *format, const struct timespec *clock);
/* "0-3" from a mask, "-" if it is empty. */
const char *bit_list(char buf[CELL_MAX], uint64_t mask);

#endif
