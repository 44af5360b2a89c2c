/* SPDX-License-Identifier: BSD-3-Clause */
/* An error code and its sentence. The codes are in uncore.h. */
#ifndef UNC_ERROR_H
#define UNC_ERROR_H

#include <stdarg.h>
#include <stdio.h>

#include "uncore.h"

enum { UNC_ERROR_MAX = 512 };

struct unc_error {
	int code;
	char text[UNC_ERROR_MAX];
};

/* Stores code and formatted sentence; returns code, so that a caller can say
 * `return unc_fail(err, UNC_ERR_RANGE, "...", ...)`. err may be NULL. */
int unc_fail(struct unc_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Stores and returns UNC_ERR_MEMORY, "out of memory". */
int unc_no_memory(struct unc_error *err);

/* Puts "prefix: " before the sentence (used to add file:line or a unit). */
void unc_error_prefix(struct unc_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void unc_error_clear(struct unc_error *err);

/* Formats the last arguments of a function, `format, ...`, into an array. */
#define UNC_FORMAT(text, format)                                                                   \
	do {                                                                                       \
		va_list unc_args;                                                                  \
                                                                                                   \
		va_start(unc_args, format);                                                        \
		vsnprintf(text, sizeof(text), format, unc_args);                                   \
		va_end(unc_args);                                                                  \
	} while (0)

#endif
