/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow by one element at a time. */
#ifndef UNC_GROW_H
#define UNC_GROW_H

#include <stdlib.h>

/*
 * Room for one more element behind n of them; NULL if memory has run out, and the array is as
 * before. The room is always the power of two that holds the n elements, so that nobody has to
 * remember it: an array that is grown with this is grown with nothing else.
 */
static inline void *unc_grow(void *array, size_t n, size_t size)
{
	if ((n & (n - 1)) != 0)
		return array;
	return realloc(array, (n ? 2 * n : 1) * size);
}

#endif
