/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies structs from and to programs that were compiled with an older or newer uncore.h. */
#ifndef UNC_ABI_H
#define UNC_ABI_H

#include <stddef.h>

#include "base/error.h"

/* Checks that `size` is possible for a struct. UNC_ERR_INVALID: it is not; the sentence has `name`. */
int unc_struct_check(size_t size, const char *name, struct unc_error *err);
/* Copies the program's struct into *own; members that it lacks keep their value in *own. UNC_ERR_INVALID:
 * the struct has members that this library does not know, and they are not 0. */
int unc_struct_in(void *own, size_t own_size, const void *theirs, size_t size, const char *name,
		  struct unc_error *err);
/* Copies an array of n structs; members that they lack are 0. The caller frees it; NULL: an error. */
void *unc_structs_in(size_t own_size, const void *theirs, size_t n, size_t size, const char *name,
		     struct unc_error *err);
/* Copies a struct to the program, as much as fits; members that this library does not know become 0.
 * The caller has checked `size`. */
void unc_struct_out(void *theirs, size_t size, const void *own, size_t own_size);

#endif
