/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs of programs that were compiled with another uncore.h, shorter or longer than ours. */
#ifndef UNC_ABI_H
#define UNC_ABI_H

#include <stddef.h>

#include "base/error.h"

/* Whether a size can be that of a struct at all: UNC_ERR_INVALID with a sentence on `name`. */
int unc_struct_check(size_t size, const char *name, struct unc_error *err);
/* What a program gives: members that its struct lacks stay what they are in *own. UNC_ERR_INVALID: it
 * has members that are not known here, and they are not 0. */
int unc_struct_in(void *own, size_t own_size, const void *theirs, size_t size, const char *name,
		  struct unc_error *err);
/* The same for an array of n, where they are 0: a new one, to be freed; NULL: an error. */
void *unc_structs_in(size_t own_size, const void *theirs, size_t n, size_t size, const char *name,
		     struct unc_error *err);
/* What a program gets, in a size that has been checked: as much as fits; members not known here
 * are 0. */
void unc_struct_out(void *theirs, size_t size, const void *own, size_t own_size);

#endif
