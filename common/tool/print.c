/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void print_start(struct printer *p, const struct args *args, const struct unc_platform *platform)
{
	*p = (struct printer){
		.platform = platform,
		.form = args->json        ? JSON
			: args->separator ? SEPARATED
					  : TEXT,
		/* a tab is not easily typed */
		.separator = args->separator && strcmp(args->separator, "\\t") == 0
				     ? "\t"
				     : args->separator,
	};
}

/* ---- JSON, as it comes: elements of the outermost array stand on lines of their own */

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

static void json_string(const char *text)
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

/* What stands before a value: comma, line break, key. */
static void json_key(struct printer *p, const char *key)
{
	if (p->depth) {
		bool *filled = &p->filled[p->depth - 1];

		if (*filled)
			putchar(',');
		if (p->depth == 1 && p->close[0] == ']')
			putchar('\n');
		*filled = true;
	}
	if (key) {
		json_string(key);
		putchar(':');
	}
}

void print_open(struct printer *p, const char *key, char bracket)
{
	if (p->form != JSON)
		return;
	json_key(p, key);
	putchar(bracket);
	if (p->depth == PRINT_DEPTH)
		abort();
	p->close[p->depth] = bracket == '[' ? ']' : '}';
	p->filled[p->depth++] = false;
}

void print_close(struct printer *p)
{
	if (p->form != JSON)
		return;
	char close = p->close[--p->depth];

	if (p->depth == 0 && close == ']' && p->filled[0])
		putchar('\n');
	putchar(close);
	if (p->depth == 0)
		putchar('\n');
}

/* ---- lists */

void print_list(struct printer *p, const char *key, enum titles titles, const char *columns)
{
	print_open(p, key, '[');
	if (p->form != TEXT)
		return;
	if (!key && p->platform)
		print_label(p->platform);
	p->table = table_new(columns);
	if (titles == TITLES)
		table_titles(p->table);
	p->titles_due = titles == TITLES_OF_ROWS;
}

static void end_row(struct printer *p)
{
	if (p->in_row)
		print_close(p);
	if (p->in_row && p->form == SEPARATED)
		putchar('\n');
	p->in_row = false;
}

void print_row(struct printer *p)
{
	end_row(p);
	print_open(p, NULL, '{');
	if (p->titles_due)
		table_titles(p->table);
	p->titles_due = false;
	print_line(p);
	p->in_row = p->form == JSON;
}

void print_end(struct printer *p)
{
	end_row(p);
	if (p->depth)
		print_close(p);
	if (p->form == TEXT) {
		table_print(p->table);
		table_free(p->table);
		p->table = NULL;
	}
}

/* ---- values */

/*
 * Whether who looks for the separator from the left finds it only behind the text: of "aa" behind
 * "xa" the first is within.
 */
static bool ends_where_it_ends(const char *text, const char *separator)
{
	char *both = must_print("%s%s", text, separator);
	bool good = strstr(both, separator) == both + strlen(text);

	free(both);
	return good;
}

/* In quotes, as RFC 4180 has it, if it could be taken for more than one. */
static void put_field(struct printer *p, const char *text)
{
	bool quoted = !ends_where_it_ends(text, p->separator) || strpbrk(text, "\"\r\n");

	if (p->in_row)
		fputs(p->separator, stdout);
	p->in_row = true;
	if (quoted)
		putchar('"');
	for (; *text; text++)
		printf(quoted && *text == '"' ? "\"%c" : "%c", *text);
	if (quoted)
		putchar('"');
}

static void put_text(const struct printer *p, const char *title, const char *text)
{
	if (!title || !text[0])
		return;
	if (p->table)
		table_put(p->table, table_column(p->table, title), text);
	else if (title[0])
		printf("  %-9s %s\n", title, text);
	else
		puts(text);
}

/* A value as programs want it, without its quotes, and as people do. */
static void put(struct printer *p, const char *key, const char *title, bool quoted,
		const char *value, const char *text)
{
	if (p->form == TEXT) {
		put_text(p, title, text);
	} else if (p->form == SEPARATED) {
		put_field(p, p->keys ? key : value);
	} else {
		json_key(p, key);
		if (quoted)
			json_string(value);
		else
			fputs(value, stdout);
	}
}

void print_text(struct printer *p, const char *key, const char *title, const char *text)
{
	put(p, key, title, text != NULL,
	    text              ? text
	    : p->form == JSON ? "null"
			      : "",
	    text ? text : "");
}

void print_known(struct printer *p, const char *key, const char *title, const char *text)
{
	print_text(p, key, title, text[0] ? text : NULL);
}

void print_hex(struct printer *p, const char *key, const char *title, uint64_t value)
{
	char buf[CELL_MAX];

	snprintf(buf, sizeof(buf), "0x%" PRIx64, value);
	put(p, key, title, true, buf, buf);
}

void print_integer(struct printer *p, const char *key, const char *title, int64_t value)
{
	char buf[CELL_MAX];

	snprintf(buf, sizeof(buf), "%" PRId64, value);
	put(p, key, title, false, buf, buf);
}

void print_count(struct printer *p, const char *key, const char *title, uint64_t value)
{
	char buf[CELL_MAX], text[CELL_MAX];

	snprintf(buf, sizeof(buf), "%" PRIu64, value);
	put(p, key, title, false, buf, grouped(text, value));
}

void print_bits(struct printer *p, const char *key, uint64_t mask)
{
	print_open(p, key, '[');
	for (unsigned i = 0; i < 64 && p->form == JSON; i++)
		if (mask >> i & 1)
			print_integer(p, NULL, NULL, i);
	print_close(p);
}

void print_counters(struct printer *p, const char *title, const struct unc_encoding *e)
{
	char buf[CELL_MAX];

	print_bits(p, "counters", e->counters);
	print_text(p, "counter", title, e->counter);
	if (!e->counter)
		print_also(p, title, "%s", bit_list(buf, e->counters));
}

void print_bool(struct printer *p, const char *key, bool value)
{
	put(p, key, NULL, false, value ? "true" : "false", "");
}

void print_number(struct printer *p, const char *key, double value)
{
	char buf[CELL_MAX];

	if (!isfinite(value)) {
		print_null(p, key);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) { /* as few as give the same number again */
		snprintf(buf, sizeof(buf), "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	put(p, key, NULL, false, buf, "");
}

void print_null(struct printer *p, const char *key)
{
	put(p, key, NULL, false, p->form == JSON ? "null" : "-", "");
}

/* ---- more of a row of text */

void print_also(struct printer *p, const char *title, const char *format, ...)
{
	va_list args;
	char *text;

	if (p->form != TEXT)
		return;
	va_start(args, format);
	text = must_format(format, args);
	va_end(args);
	put_text(p, title, text);
	free(text);
}

void print_line(struct printer *p)
{
	if (p->form == TEXT)
		table_line(p->table);
}
