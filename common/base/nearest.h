/* SPDX-License-Identifier: BSD-3-Clause */
/* The nearest of several names to a misspelt one, to be offered in an error. */
#ifndef UNC_NEAREST_H
#define UNC_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

enum { UNC_NEAR_MAX = 256 };

struct unc_nearest {
	const char *wanted;
	char best[UNC_NEAR_MAX]; /* "": none is near */
	size_t distance;
};
void unc_nearest_start(struct unc_nearest *, const char *wanted);
/* Whether a candidate is nearer than all before. Too many letters to change are another word. */
bool unc_nearest_try(struct unc_nearest *, const char *candidate);
/* The same of names that people write shorter (their beginning, a few of their letters) or longer. */
bool unc_nearest_try_short(struct unc_nearest *, const char *candidate);
/* "; nearest is X", or "" if nothing is near. */
const char *unc_nearest_text(const struct unc_nearest *, char *buf, size_t size);

#endif
