/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of small numbers, and a comparison of two numbers. */
#ifndef UNC_BITS_H
#define UNC_BITS_H

#include <stdbool.h>
#include <stdint.h>

enum { UNC_BITS_WORDS = 2, UNC_BITS_MAX = 64 * UNC_BITS_WORDS };

struct unc_bits {
	uint64_t word[UNC_BITS_WORDS];
};

static inline bool unc_bits_has(const struct unc_bits *bits, unsigned i)
{
	return i < UNC_BITS_MAX && (bits->word[i / 64] >> i % 64 & 1);
}

static inline void unc_bits_add(struct unc_bits *bits, unsigned i)
{
	bits->word[i / 64] |= (uint64_t)1 << i % 64;
}

/* Compares for qsort(): the result is below 0 if a < b, 0 if they are equal, else above 0. */
static inline int unc_order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif
