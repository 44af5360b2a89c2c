/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes JSON to a stream. Keys are NULL for the elements of arrays. Elements of the
 * outermost array stand on lines of their own.
 */
#ifndef UNC_JSON_H
#define UNC_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 8 };

struct json {
	FILE *file;
	unsigned depth;
	char close[JSON_DEPTH];
	bool filled[JSON_DEPTH];
};

void json_start(struct json *, FILE *);
void json_array(struct json *, const char *key);
void json_object(struct json *, const char *key);
/* Closes the innermost array or object; a newline follows the outermost. */
void json_end(struct json *);

void json_text(struct json *, const char *key, const char *text);         /* NULL: null */
void json_text_or_null(struct json *, const char *key, const char *text); /* "": null too */
void json_hex(struct json *, const char *key, uint64_t value);            /* "0x.." */
void json_integer(struct json *, const char *key, int64_t value);
void json_count(struct json *, const char *key, uint64_t value);
void json_number(struct json *, const char *key, double value); /* not finite: null */
void json_bool(struct json *, const char *key, bool value);
void json_null(struct json *, const char *key);

#endif
