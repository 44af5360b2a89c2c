/* SPDX-License-Identifier: BSD-3-Clause */
/* From register values back to events and fields. Pure. */
#ifndef UNC_DECODE_H
#define UNC_DECODE_H

#include "encode/event.h"

/*
 * Finds the event that a control value makes a counter of `type` (or of a view of it) count, with the umasks and
 * fields that encode to this value. Filters that are not given are unknown. Errors: UNC_ERR_NOT_FOUND no event of
 * the type has such a control; UNC_ERR_INVALID a filter register must be known (the sentence names it).
 */
int unc_code_decode(const struct unc_table *, unsigned type, uint64_t ctl,
		    const struct unc_code_filter *filters, size_t n, struct unc_spec *out,
		    struct unc_error *err);

#endif
