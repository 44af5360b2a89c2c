/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiled-in tables, for a test that wants them to its end. */
#ifndef UNC_TEST_BUILT_H
#define UNC_TEST_BUILT_H

#include "platform/platform.h"

static inline const struct unc_table *const *built_tables(size_t *n)
{
	static const struct unc_table **all;
	static size_t count;

	if (!all)
		all = unc_tables(&count);
	*n = count;
	return all;
}

#endif
