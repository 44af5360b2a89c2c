/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Replaces control characters: a sentence may quote a name that contains some. */
static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int unc_fail(struct unc_error *err, int code, const char *format, ...)
{
	if (err) {
		err->code = code;
		UNC_FORMAT(err->text, format);
		make_one_line(err->text);
	}
	return code;
}

int unc_no_memory(struct unc_error *err)
{
	return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
}

void unc_error_prefix(struct unc_error *err, const char *format, ...)
{
	char head[UNC_ERROR_MAX], whole[2 * UNC_ERROR_MAX + 2];

	if (!err)
		return;
	UNC_FORMAT(head, format);
	snprintf(whole, sizeof(whole), "%s: %s", head, err->text);
	memcpy(err->text, whole, sizeof(err->text) - 1);
	err->text[sizeof(err->text) - 1] = '\0';
	make_one_line(err->text);
}

void unc_error_clear(struct unc_error *err)
{
	if (err) {
		err->code = UNC_OK;
		err->text[0] = '\0';
	}
}

const char *unc_error_name(int error)
{
	static const char *const names[] = {
		"success",
		"malformed input",
		"not found",
		"value out of range",
		"conflict",
		"counter in use",
		"permission denied",
		"not available",
		"access failed",
		"broken table",
		"out of memory",
		"wrong state",
		"register not allowed",
		"needs several passes",
	};
	size_t n = sizeof(names) / sizeof(names[0]);

	if (error > 0 || (size_t)-error >= n)
		return "unknown error";
	return names[-error];
}
