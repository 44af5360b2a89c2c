/* SPDX-License-Identifier: BSD-3-Clause */
/* The command top: the lines of a frame, and what stands in them. */
#ifndef UNC_TOP_FRAME_H
#define UNC_TOP_FRAME_H

#include <stddef.h>

#include "top.h"

enum { LINE = 1024, LINES = 512 };

struct frame {
	const struct top_view *view;
	const struct top_screen *screen;
	int lines, at; /* `at`: letters in the last line */
	bool tight;    /* no empty lines */
	size_t used;
	char line[LINES][LINE];
};

/* How values are shown. */
struct unit {
	const char *unit, *title;
	double scale;
	int digits;
};

void begin_line(struct frame *f);
void empty_line(struct frame *f);
/* As many letters as the line still takes. */
void put(struct frame *f, const char *text);
void putf(struct frame *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Blanks up to a column. */
void tab(struct frame *f, int column);
/* Words in the line and as many more as they need, which begin at a column. */
void put_wrapped(struct frame *f, int indent, const char *text);
/* What a number is, or does in a second if it adds up over time; NAN: that is not known. */
double value_of(const struct number *n);
/* How values of a unit are shown: "GB/s". */
struct unit unit_of(const struct number *n, char title[16]);
/* Right-aligned, its mark included. */
void put_number(struct frame *f, const struct number *n, const struct unit *unit, int width);
/* A bar of `width` letters for 0 to 1; what is more fills it. */
void put_bar(struct frame *f, double share, int width);
/* One letter for 0 to 1. */
void put_level(struct frame *f, double share);

#endif
