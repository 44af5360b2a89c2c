/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a command prints: as JSON, as text, or as separated values. Each value is told once: the key
 * of its JSON member and the title of its column. Values of one column stand behind one another.
 * Without a title a value is not shown in the text. Outside of a list the text has a line for each
 * value, behind its title.
 */
#ifndef UNC_TOOL_PRINT_H
#define UNC_TOOL_PRINT_H

#include "output.h"
#include "search.h"
#include "tool.h"

enum { PRINT_DEPTH = 8 };

struct printer {
	const struct unc_platform *platform; /* may be NULL */
	enum { TEXT, JSON, SEPARATED } form;
	const char *separator;
	bool keys; /* in place of separated values: titles */
	/* of JSON: the brackets that are open, and whether anything is in them */
	unsigned depth;
	char close[PRINT_DEPTH];
	bool filled[PRINT_DEPTH];
	struct table *table; /* of the list that is open; NULL: none */
	bool titles_due;     /* with the first row */
	bool in_row;
};

void print_start(struct printer *, const struct args *, const struct unc_platform *);

/* A list of rows. columns: as for table_new(); key NULL: it is all that is printed. */
enum titles { NO_TITLES, TITLES, TITLES_OF_ROWS /* with the first row */ };
void print_list(struct printer *, const char *key, enum titles, const char *columns);
void print_row(struct printer *); /* the one before ends */
void print_end(struct printer *); /* of the rows, and of their list if there is one */

void print_text(struct printer *, const char *key, const char *title, const char *text);
/* null where it is empty */
void print_known(struct printer *, const char *key, const char *title, const char *text);
void print_hex(struct printer *, const char *key, const char *title, uint64_t value);
void print_integer(struct printer *, const char *key, const char *title, int64_t value);
void print_count(struct printer *, const char *key, const char *title, uint64_t value);
/* "counters" and "counter" (the fixed or free-running one) */
void print_counters(struct printer *, const char *title, const struct unc_encoding *);
/* Metrics that are found as `wanted`: columns METRIC, UNIT and WHAT, more in the last one if
 * verbose. Returns their number. */
size_t print_metrics(struct printer *, struct search *, enum found wanted, bool verbose);
/* verified.c: whether somebody has measured a metric on hardware with this CPU, and found it
 * right. */
bool metric_verified(const char *cpu, const char *metric);
/* Not of text. */
void print_bool(struct printer *, const char *key, bool value);
void print_number(struct printer *, const char *key, double value); /* not finite: null */
void print_null(struct printer *, const char *key);
void print_bits(struct printer *, const char *key, uint64_t mask); /* their numbers, of JSON only */

/* Of JSON: what follows is in an array '[' or an object '{', until print_close(); a newline follows
 * the outermost. Keys are NULL for the elements of arrays. */
void print_open(struct printer *, const char *key, char bracket);
void print_close(struct printer *);

/* Of text: more in a column; another line of the row. */
void print_also(struct printer *, const char *title, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void print_line(struct printer *);

#endif
