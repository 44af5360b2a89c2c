/* SPDX-License-Identifier: BSD-3-Clause */
/* The command top: what is measured, and the frames that show it. */
#ifndef UNC_TOOL_TOP_H
#define UNC_TOOL_TOP_H

#include "record.h"
#include "series.h"

enum { TOP_PAST = 60 }; /* seconds that are shown */

struct top {
	struct series series; /* what is counted */
	const struct unc_group *group;
	/* of each number what it was in a second, the last one at the end; NAN: not known */
	float (*past)[TOP_PAST];
	double told; /* when `past` was extended last */
};

/* The state of the screen. */
struct top_screen {
	bool terminal; /* with escape codes, in place of the frame before */
	bool unicode;
	size_t scrolled; /* lines below the head that are not shown */
	char said[256];  /* why the last key had no effect; "": it had one */
};

/* Opens the session and what is counted in it, a group by its number: NULL, or why it cannot be shown;
 * free() it. */
char *top_open(struct top *, struct unc_platform *, size_t group);
/* Ends the interval. 0, or an error of the session. */
int top_read(struct top *);
void top_close(struct top *);
/* Writes a frame to stdout. False: it could not be written. */
bool top_draw(const struct top *, struct top_screen *);

#endif
