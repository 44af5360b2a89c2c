/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>

/* Length of the UTF-8 character at s; 0 if it is none. */
static size_t character(const unsigned char *s)
{
	size_t n = s[0] < 0x80                   ? 1
		   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		   : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0; /* overlong, surrogate, beyond Unicode */
	return n;
}

void json_string(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putchar('"');
	while (*s) {
		size_t n = character(s);

		if (n == 0)
			fputs("\\ufffd", stdout);
		else if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", stdout);
		else if (*s == '\t')
			fputs("\\t", stdout);
		else if (*s < 0x20 || *s == 0x7f)
			printf("\\u%04x", *s);
		else
			fwrite(s, 1, n, stdout);
		s += n ? n : 1;
	}
	putchar('"');
}

void json_key(struct json *j, const char *key)
{
	if (j->depth) {
		bool *filled = &j->filled[j->depth - 1];

		if (*filled)
			putchar(',');
		if (j->depth == 1 && j->close[0] == ']')
			putchar('\n');
		*filled = true;
	}
	if (key) {
		json_string(key);
		putchar(':');
	}
}

void json_open(struct json *j, const char *key, char bracket)
{
	json_key(j, key);
	putchar(bracket);
	if (j->depth == JSON_DEPTH)
		abort();
	j->close[j->depth] = bracket == '[' ? ']' : '}';
	j->filled[j->depth++] = false;
}

void json_close(struct json *j)
{
	char close = j->close[--j->depth];

	if (j->depth == 0 && close == ']' && j->filled[0])
		putchar('\n');
	putchar(close);
	if (j->depth == 0)
		putchar('\n');
}
