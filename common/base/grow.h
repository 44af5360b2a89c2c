/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow by one element at a time. */
#ifndef UNC_GROW_H
#define UNC_GROW_H

#include <stdlib.h>
#include <string.h>

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

/* One element more behind the n of an array, all zeros; NULL likewise. */
#define UNC_ADD_TO(array, n) unc_add_to(&(array), &(n), sizeof(*(array)))
static inline void *unc_add_to(void *array, size_t *n, size_t size)
{
	char *old, *larger;

	memcpy(&old, array, sizeof(old)); /* a pointer to elements, of whatever kind */
	if (!(larger = (char *)unc_grow(old, *n, size)))
		return NULL;
	memcpy(array, &larger, sizeof(larger));
	return memset(larger + (*n)++ * size, 0, size);
}

#endif
