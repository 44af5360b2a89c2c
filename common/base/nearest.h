/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the name that is nearest to a misspelt one; an error message offers it. */
#ifndef UNC_NEAREST_H
#define UNC_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

enum { UNC_NEAR_MAX = 256 };

struct unc_nearest {
	const char *wanted;
	char best[UNC_NEAR_MAX]; /* "": no candidate is near */
	size_t distance;
};
void unc_nearest_start(struct unc_nearest *, const char *wanted);
/* Returns true if a candidate is nearer than all before. A name with too many other letters never is. */
bool unc_nearest_try(struct unc_nearest *, const char *candidate);
/* Also accepts a shorter form of a name (its beginning, or a few of its letters), or a longer one. */
bool unc_nearest_try_short(struct unc_nearest *, const char *candidate);
/* "; nearest is X", or "" if nothing is near. */
const char *unc_nearest_text(const struct unc_nearest *, char *buf, size_t size);

#endif
