/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow by one element at a time. */
#ifndef UNC_GROW_H
#define UNC_GROW_H

#include <stdlib.h>
#include <string.h>

/*
 * Makes room for one more element after n of them. NULL: out of memory, and the array is unchanged.
 * The size is always the smallest power of two that holds n elements, so no capacity is stored:
 * grow such an array with this function only.
 */
static inline void *unc_grow(void *array, size_t n, size_t size)
{
	if ((n & (n - 1)) != 0)
		return array;
	return realloc(array, (n ? 2 * n : 1) * size);
}

/* Appends an element of zeros to an array of n elements and counts it. NULL: out of memory. */
#define UNC_ADD_TO(array, n) unc_add_to(&(array), &(n), sizeof(*(array)))
static inline void *unc_add_to(void *array, size_t *n, size_t size)
{
	char *old, *larger;

	memcpy(&old, array, sizeof(old)); /* array: a pointer to a pointer of any type */
	if (!(larger = (char *)unc_grow(old, *n, size)))
		return NULL;
	memcpy(array, &larger, sizeof(larger));
	return memset(larger + (*n)++ * size, 0, size);
}

#endif
