/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes JSON to stdout, as it comes. Keys are NULL for the elements of arrays. Elements of the
 * outermost array stand on lines of their own.
 */
#ifndef UNC_JSON_H
#define UNC_JSON_H

#include <stdbool.h>

enum { JSON_DEPTH = 8 };

struct json {
	unsigned depth;
	char close[JSON_DEPTH];
	bool filled[JSON_DEPTH];
};

/* What stands before a value: comma, line break, key. */
void json_key(struct json *, const char *key);
void json_string(const char *text);
/* An array '[' or object '{', until json_close(); a newline follows the outermost. */
void json_open(struct json *, const char *key, char bracket);
void json_close(struct json *);

#endif
