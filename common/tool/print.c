/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

void print_start(struct printer *p, const struct args *args, const struct unc_platform *platform)
{
	*p = (struct printer){.platform = platform, .as_json = args->json};
	json_start(&p->json, stdout);
}

/* ---- lists */

void print_list(struct printer *p, const char *key, enum titles titles, const char *columns)
{
	if (p->as_json) {
		json_array(&p->json, key);
		return;
	}
	if (!key && p->platform)
		print_label(p->platform);
	p->table = table_new(columns);
	if (titles == TITLES)
		table_titles(p->table);
}

void print_row(struct printer *p)
{
	if (!p->as_json) {
		table_line(p->table);
		return;
	}
	if (p->in_row)
		json_end(&p->json);
	json_object(&p->json, NULL);
	p->in_row = true;
}

void print_end(struct printer *p)
{
	if (!p->as_json) {
		table_print(p->table);
		table_free(p->table);
		p->table = NULL;
		return;
	}
	if (p->in_row)
		json_end(&p->json);
	p->in_row = false;
	json_end(&p->json);
}

/* ---- values */

static void show(const struct printer *p, const char *title, const char *text)
{
	if (!title || !text || !text[0])
		return;
	if (p->table)
		table_put(p->table, table_column(p->table, title), text);
	else if (title[0])
		printf("  %-9s %s\n", title, text);
	else
		puts(text);
}

void print_also(struct printer *p, const char *title, const char *format, ...)
{
	va_list args;
	char *text;

	if (p->as_json)
		return;
	va_start(args, format);
	text = must_format(format, args);
	va_end(args);
	show(p, title, text);
	free(text);
}

void print_text(struct printer *p, const char *key, const char *title, const char *text)
{
	if (p->as_json)
		json_text(&p->json, key, text);
	else
		show(p, title, text);
}

void print_known(struct printer *p, const char *key, const char *title, const char *text)
{
	print_text(p, key, title, text[0] ? text : NULL);
}

void print_hex(struct printer *p, const char *key, const char *title, uint64_t value)
{
	char buf[CELL_MAX];

	if (p->as_json)
		json_hex(&p->json, key, value);
	else
		show(p, title, hex(buf, value));
}

void print_integer(struct printer *p, const char *key, const char *title, int64_t value)
{
	if (p->as_json)
		json_integer(&p->json, key, value);
	else
		print_also(p, title, "%" PRId64, value);
}

void print_count(struct printer *p, const char *key, const char *title, uint64_t value)
{
	char buf[CELL_MAX];

	if (p->as_json)
		json_count(&p->json, key, value);
	else
		show(p, title, grouped(buf, value));
}

void print_bool(struct printer *p, const char *key, bool value)
{
	if (p->as_json)
		json_bool(&p->json, key, value);
}

void print_number(struct printer *p, const char *key, double value)
{
	if (p->as_json)
		json_number(&p->json, key, value);
}

void print_counters(struct printer *p, const char *title, const struct unc_encoding *e)
{
	char buf[CELL_MAX];

	print_array(p, "counters");
	for (unsigned i = 0; i < 64; i++)
		if (e->counters >> i & 1)
			print_integer(p, NULL, NULL, i);
	print_close(p);
	print_text(p, "counter", title, e->counter);
	if (!e->counter)
		print_also(p, title, "%s", bit_list(buf, e->counters));
}

/* ---- of JSON, of text */

void print_array(struct printer *p, const char *key)
{
	if (p->as_json)
		json_array(&p->json, key);
}

void print_object(struct printer *p, const char *key)
{
	if (p->as_json)
		json_object(&p->json, key);
}

void print_close(struct printer *p)
{
	if (p->as_json)
		json_end(&p->json);
}

void print_line(struct printer *p)
{
	if (!p->as_json)
		table_line(p->table);
}
