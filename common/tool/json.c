/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "output.h"

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

static void put_string(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', f);
	while (*s) {
		size_t n = character(s);

		if (n == 0)
			fputs("\\ufffd", f);
		else if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", f);
		else if (*s == '\t')
			fputs("\\t", f);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(f, "\\u%04x", *s);
		else
			fwrite(s, 1, n, f);
		s += n ? n : 1;
	}
	putc('"', f);
}

/* What stands before a value: comma, line break, key. */
static void lead_in(struct json *j, const char *key)
{
	if (j->depth) {
		bool *filled = &j->filled[j->depth - 1];

		if (*filled)
			putc(',', j->file);
		if (j->depth == 1 && j->close[0] == ']')
			putc('\n', j->file);
		*filled = true;
	}
	if (key) {
		put_string(j->file, key);
		putc(':', j->file);
	}
}

static void open_level(struct json *j, const char *key, char open, char close)
{
	lead_in(j, key);
	putc(open, j->file);
	if (j->depth == JSON_DEPTH)
		abort();
	j->close[j->depth] = close;
	j->filled[j->depth++] = false;
}

void json_start(struct json *j, FILE *file)
{
	*j = (struct json){.file = file};
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[', ']');
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{', '}');
}

void json_end(struct json *j)
{
	char close = j->close[--j->depth];

	if (j->depth == 0 && close == ']' && j->filled[0])
		putc('\n', j->file);
	putc(close, j->file);
	if (j->depth == 0)
		putc('\n', j->file);
}

void json_text(struct json *j, const char *key, const char *text)
{
	lead_in(j, key);
	if (text)
		put_string(j->file, text);
	else
		fputs("null", j->file);
}

void json_text_or_null(struct json *j, const char *key, const char *text)
{
	json_text(j, key, text && text[0] ? text : NULL);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	lead_in(j, key);
	fprintf(j->file, "\"0x%" PRIx64 "\"", value);
}

void json_integer(struct json *j, const char *key, int64_t value)
{
	lead_in(j, key);
	fprintf(j->file, "%" PRId64, value);
}

void json_count(struct json *j, const char *key, uint64_t value)
{
	lead_in(j, key);
	fprintf(j->file, "%" PRIu64, value);
}

void json_number(struct json *j, const char *key, double value)
{
	char text[CELL_MAX];

	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	shortest(text, value);
	lead_in(j, key);
	fputs(text, j->file);
}

void json_bool(struct json *j, const char *key, bool value)
{
	lead_in(j, key);
	fputs(value ? "true" : "false", j->file);
}

void json_null(struct json *j, const char *key)
{
	lead_in(j, key);
	fputs("null", j->file);
}
