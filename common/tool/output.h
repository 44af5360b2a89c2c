/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for people: aligned columns, and numbers with their units. */
#ifndef UNC_OUTPUT_H
#define UNC_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { CELL_MAX = 128 }; /* enough for any number and counter list made here */

struct table;

/* columns: their titles with '|' between them; one that begins with '>' is aligned to the right. */
struct table *table_new(const char *columns);
/* A line of the titles. */
void table_titles(struct table *);
/* A new, empty line. */
void table_line(struct table *);
/* Adds text to a cell of the last line. */
void table_put(struct table *, size_t column, const char *text);
/* The column of a title, of which there must be one. */
size_t table_column(const struct table *, const char *title);
/* Prints the lines and forgets them; the widths only grow, so that later ones stay aligned. */
void table_print(struct table *);
void table_free(struct table *);
/* Lines since they were printed. */
size_t table_lines(const struct table *);

/* "1,234,567" */
const char *grouped(char buf[CELL_MAX], uint64_t value);
/* "12.35 GB/s": with the decimal prefix that gives 1 to 999 before the point. */
const char *scaled(char buf[CELL_MAX], double value, const char *unit);
/* A value of a metric whose unit is `unit` ("bytes", "ratio", "ns", ...). */
const char *with_unit(char buf[CELL_MAX], double value, const char *unit);
/* "33", "99" at most: what is not whole is never shown as if it were; "<1" of what is less. */
const char *percent_text(char buf[CELL_MAX], double share);
/* A time of the day, local, as strftime() has it. */
const char *clock_text(char buf[CELL_MAX], const char *format, const struct timespec *clock);
/* "0-3" from a mask, "-" if it is empty. */
const char *bit_list(char buf[CELL_MAX], uint64_t mask);

#endif
