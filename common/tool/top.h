/* SPDX-License-Identifier: BSD-3-Clause */
/* The command top: what is measured, and the frames that show it. */
#ifndef UNC_TOOL_TOP_H
#define UNC_TOOL_TOP_H

#include "record.h"
#include "series.h"

enum { TOP_NOTE = 512 };

/* A unit of memory of which a socket has several: its numbers. */
struct top_channel {
	size_t read, write;
};

/* What is shown at a time. */
struct top_page {
	char key;
	const char *group, *title; /* title NULL: the first one */
	unsigned per; /* UNC_EACH_DEVICE: a row for each, in place of the sockets; else 0 */
};

/* What a frame shows. */
struct top_view {
	const char *machine, *page; /* page NULL: the first one */
	bool simulated;
	char clock[CELL_MAX];
	double seconds; /* of the interval; 0: nothing was measured yet */
	int passes;

	const struct number *number; /* of the series */
	size_t sockets, rows;    /* rows: of each socket, then of all where there are several; */
	bool devices;            /* or of each device, the busiest first: */
	size_t *order;           /* where its numbers are behind the first; NULL: as they come */
	size_t columns, *column; /* items of the group: the number of the first row */
	bool memory;             /* the group has the memory's traffic: */
	int read, write, all, share; /* its columns; share -1: not that one */
	size_t channels;
	struct top_channel *channel; /* those of a socket behind one another */
	char note[MARKS][TOP_NOTE];  /* at the foot, of each mark; "" if there is none */
};

/* How it is shown. */
struct top_screen {
	int width, height; /* height 0: no end */
	bool terminal;     /* with escape codes, in place of the frame before */
	bool unicode;
	bool no_channels, help;
	char said[TOP_NOTE]; /* why the last key did nothing; "": it did */
};

/* top_draw.c: writes a frame to stdout. False: it could not be written. */
bool top_draw(const struct top_view *, const struct top_screen *);

/* top_measure.c */
struct top {
	struct series series; /* what is counted */
	struct top_view view; /* what the last top_read() gave */
	char why[TOP_NOTE];   /* why it could not be opened */
};
/* Opens the session and what is counted in it. 0, or the exit status, with `why`. */
int top_open(struct top *, struct unc_platform *, const struct top_page *);
/* Ends the interval. 0, or an error of the session. */
int top_read(struct top *);
void top_close(struct top *);

#endif
