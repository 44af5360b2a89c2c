/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Counts the letters to change, insert, delete, or swap with the next one. n, m: below UNC_NEAR_MAX. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][UNC_NEAR_MAX], *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t k = 0; k <= m; k++)
		last[k] = k;
	for (size_t i = 1; i <= n; i++) {
		size_t *free_row = before;

		row[0] = i;
		for (size_t k = 1; k <= m; k++) {
			row[k] = least(last[k - 1] + !same(a[i - 1], b[k - 1]),
				       1 + least(last[k], row[k - 1]));
			if (i > 1 && k > 1 && same(a[i - 1], b[k - 2]) && same(a[i - 2], b[k - 1]))
				row[k] = least(row[k], before[k - 2] + 1);
		}
		before = last;
		last = row;
		row = free_row;
	}
	return last[m];
}

void unc_nearest_start(struct unc_nearest *nearest, const char *wanted)
{
	*nearest = (struct unc_nearest){.wanted = wanted};
}

static bool keep_if_nearer(struct unc_nearest *nearest, const char *candidate, size_t distance)
{
	if (nearest->best[0] && distance >= nearest->distance)
		return false;
	snprintf(nearest->best, sizeof(nearest->best), "%s", candidate);
	nearest->distance = distance;
	return true;
}

bool unc_nearest_try(struct unc_nearest *nearest, const char *candidate)
{
	size_t n = strlen(nearest->wanted), m = strlen(candidate), distance;

	if (!n || !m || n >= UNC_NEAR_MAX || m >= UNC_NEAR_MAX)
		return false;
	distance = edit_distance(nearest->wanted, n, candidate, m);
	/* If more than half of the letters differ, the name is not a misspelling. */
	return distance <= m / 2 + 1 && keep_if_nearer(nearest, candidate, distance);
}

/* Whether a name contains the letters of a word in order and begins with the first of them. */
static bool is_short_for(const char *word, const char *name)
{
	if (!same(*word, *name))
		return false;
	for (; *word && *name; name++)
		word += same(*word, *name);
	return *word == '\0';
}

bool unc_nearest_try_short(struct unc_nearest *nearest, const char *candidate)
{
	enum { FEW = 4, ENOUGH = 2 };
	size_t length = strlen(nearest->wanted), common = least(length, strlen(candidate));

	if (common >= ENOUGH && strncasecmp(candidate, nearest->wanted, common) == 0)
		return keep_if_nearer(nearest, candidate, 0);
	if (length >= ENOUGH && length <= FEW && is_short_for(nearest->wanted, candidate))
		return keep_if_nearer(nearest, candidate, 1);
	return unc_nearest_try(nearest, candidate);
}

const char *unc_nearest_text(const struct unc_nearest *nearest, char *buf, size_t size)
{
	if (!nearest->best[0])
		return "";
	snprintf(buf, size, "; nearest is %s", nearest->best);
	return buf;
}
