/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/abi.h"

#include <stdlib.h>
#include <string.h>

#ifndef UNC_VERSION
#define UNC_VERSION "0.0.0"
#endif

enum { LARGEST = 4096 }; /* far more than any struct of uncore.h will ever have */

const char *unc_version(void)
{
	return UNC_VERSION;
}

unsigned unc_api_version(void)
{
	return UNC_API_VERSION;
}

static int check_size(size_t size, size_t step, const char *name, struct unc_error *err)
{
	if (size >= sizeof(size_t) && size <= LARGEST && size % step == 0)
		return 0;
	return unc_fail(err, UNC_ERR_INVALID, "size is %zu; it has to be sizeof(struct %s)", size,
			name);
}

int unc_struct_check(size_t size, const char *name, struct unc_error *err)
{
	return check_size(size, 1, name, err);
}

int unc_struct_in(void *own, size_t own_size, const void *theirs, size_t size, const char *name,
		  struct unc_error *err)
{
	const unsigned char *byte = theirs;
	/* A struct with pointers never ends inside a pointer. */
	int rc = check_size(size, sizeof(void *), name, err);

	if (rc < 0)
		return rc;
	for (size_t i = own_size; i < size; i++)
		if (byte[i])
			return unc_fail(
				err, UNC_ERR_INVALID,
				"struct %s: a member is set that this libuncore does not know (%zu "
				"bytes, here %zu): the program was compiled with a later one",
				name, size, own_size);
	memcpy(own, theirs, size < own_size ? size : own_size);
	return 0;
}

void *unc_structs_in(size_t own_size, const void *theirs, size_t n, size_t size, const char *name,
		     struct unc_error *err)
{
	char *all = calloc(n + 1, own_size);

	if (!all)
		unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	for (size_t i = 0; all && i < n; i++)
		if (unc_struct_in(all + i * own_size, own_size, (const char *)theirs + i * size,
				  size, name, err) < 0) {
			free(all);
			all = NULL;
		}
	return all;
}

void unc_struct_out(void *theirs, size_t size, const void *own, size_t own_size)
{
	memcpy(theirs, own, size < own_size ? size : own_size);
	if (size > own_size)
		memset((char *)theirs + own_size, 0, size - own_size);
}
