/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH = 80, INDENT = 4, ROOM = 30 /* for text beside a row, of several lines */ };

void record_start(struct record *r, const struct args *args, const struct unc_platform *platform)
{
	*r = (struct record){
		.out = stdout,
		.platform = platform,
		.form = args->json || args->json_lines ? JSON
			: args->separator              ? SEPARATED
						       : TEXT,
		/* a tab is not easily typed */
		.separator = args->separator && strcmp(args->separator, "\\t") == 0
				     ? "\t"
				     : args->separator,
	};
}

/* ---- JSON, written at once: each element of the outermost array is on its own line */

/* Length of the UTF-8 character at s; 0 if it is none. */
static size_t utf8_length(const unsigned char *s)
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

static void json_string(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (*s) {
		size_t n = utf8_length(s);

		if (n == 0)
			fputs("\\ufffd", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '\t')
			fputs("\\t", out);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else
			fwrite(s, 1, n, out);
		s += n ? n : 1;
	}
	putc('"', out);
}

/* Writes what precedes a value: comma, line break, key. */
static void json_key(struct record *r, const char *key)
{
	if (r->depth) {
		bool *filled = &r->filled[r->depth - 1];

		if (*filled)
			putc(',', r->out);
		if (r->depth == 1 && r->close[0] == ']')
			putc('\n', r->out);
		*filled = true;
	}
	if (key) {
		json_string(r->out, key);
		putc(':', r->out);
	}
}

void record_open(struct record *r, const char *key, char bracket)
{
	if (r->form == TEXT && key) {
		r->array = bracket == '[' ? key : NULL;
		r->in_array = false;
	}
	if (r->form != JSON)
		return;
	json_key(r, key);
	putc(bracket, r->out);
	if (r->depth == RECORD_DEPTH)
		abort();
	r->close[r->depth] = bracket == '[' ? ']' : '}';
	r->filled[r->depth++] = false;
}

void record_close(struct record *r)
{
	if (r->form != JSON)
		return;
	char close = r->close[--r->depth];

	if (r->depth == 0 && close == ']' && r->filled[0])
		putc('\n', r->out);
	putc(close, r->out);
	if (r->depth == 0)
		putc('\n', r->out);
}

/* ---- separated values */

/*
 * Whether a reader that searches the separator from the left finds it only after the text: with "aa"
 * after "xa" the first match begins inside.
 */
static bool ends_where_it_ends(const char *text, const char *separator)
{
	char *both = must_print("%s%s", text, separator);
	bool good = strstr(both, separator) == both + strlen(text);

	free(both);
	return good;
}

/* Writes a separated value, in quotes (RFC 4180) if it could be read as more than one. */
static void put_separated(struct record *r, const char *text)
{
	bool quoted = !ends_where_it_ends(text, r->separator) || strpbrk(text, "\"\r\n");

	if (r->in_row)
		fputs(r->separator, r->out);
	r->in_row = true;
	if (quoted)
		putc('"', r->out);
	for (; *text; text++)
		fprintf(r->out, quoted && *text == '"' ? "\"%c" : "%c", *text);
	if (quoted)
		putc('"', r->out);
}

/* ---- text */

size_t terminal_width(void)
{
	struct winsize size = {0};
	const char *text = getenv("COLUMNS");
	char *end = NULL;
	long n = text ? strtol(text, &end, 10) : 0;

	if (text && end != text && !*end && n > 0 && n < 100000)
		return (size_t)n;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size); /* what is no terminal has no size */
	return size.ws_col ? size.ws_col : WIDTH;
}

/* Letters of UTF-8, of n bytes at most. */
static size_t letters(const char *text, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; text && i < n && text[i]; i++)
		found += (text[i] & 0xc0) != 0x80;
	return found;
}

/* Bytes of so many letters. */
static size_t bytes_of(const char *text, size_t letters_)
{
	size_t n = 0;

	for (; text[n] && letters_ > 0; letters_--)
		for (n++; (text[n] & 0xc0) == 0x80;)
			n++;
	return n;
}

/* Texts come from foreign files: control characters for a terminal become question marks. */
static void put_plain(FILE *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n && text[i]; i++) {
		unsigned char c = (unsigned char)text[i], next = (unsigned char)text[i + 1];
		bool c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;

		putc(c < ' ' || c == 0x7f || c1 ? '?' : c, out);
		i += c1;
	}
}

void fold(FILE *out, const char *text, size_t at, size_t indent)
{
	const size_t width = terminal_width();

	for (size_t n; *text; text += n + (text[n] == ' ')) {
		n = strcspn(text, " \n");
		if (*text == '\n' || (at > indent && at + 1 + letters(text, n) > width)) {
			putc('\n', out);
			at = 0;
		}
		if (*text == '\n') {
			n = 1;
			continue;
		}
		size_t blanks = at < indent ? indent - at : at > indent;

		at += blanks;
		if (at + letters(text, n) > width) /* a word that is longer than a line */
			n = bytes_of(text, at < width ? width - at : 1);
		fprintf(out, "%*s", (int)blanks, "");
		put_plain(out, text, n);
		at += letters(text, n);
	}
	putc('\n', out);
}

void print_label(const struct unc_platform *platform)
{
	const char *dump = unc_platform_replayed(platform);
	struct record r = {.out = stdout};

	if (unc_platform_simulated(platform))
		record_line(&r, "SIMULATED %s: nothing here comes from hardware\n",
			    unc_platform_cpu(platform)->name);
	if (*dump)
		record_line(&r, "REPLAYED from a dump of %s\n", dump);
}

static void new_row(struct table *t)
{
	for (size_t i = 0; i <= t->columns; i++) {
		t->cell = must_grow(t->cell, t->cells, sizeof(*t->cell));
		t->cell[t->cells++] = NULL;
	}
}

/* Elements of an array have commas between them, other values of a cell nothing. */
static void put_cell(struct record *r, const char *key, const char *text)
{
	struct table *t = &r->table;
	bool more = !key && r->in_array;
	size_t i = 0;

	r->in_array |= !key;
	key = key ? key : r->array;
	while (key && i < t->columns && strcmp(t->column[i].key, key) != 0)
		i++;
	if (!key || i >= t->columns || !text[0])
		return;
	const char *title = t->column[i].title;

	if (t->turned) {
		int n = title[0] ? fprintf(r->out, "  %-9s ", title) : 0;

		fold(r->out, text, (size_t)n, (size_t)n);
		return;
	}
	bool below = t->column[i].align == BENEATH;

	while (i > 0 && title[0] && strcmp(t->column[i - 1].title, title) == 0)
		i--;
	char **cell = &t->cell[t->cells - 1 - (below ? 0 : t->columns - i)];

	if (below && !more) /* another line */
		*cell = must_add(*cell, "%s%s", *cell ? "\n" : "", title);
	*cell = must_add(*cell, "%s%s", more ? ", " : "", text);
}

/* ---- text: a table as wide as the terminal */

/* Cells from the first column on that does not fit are printed below their rows. */
static void lay_out(struct table *t)
{
	const size_t width = terminal_width();
	bool fits = true;

	t->fits = t->end = 0;
	for (size_t i = 0; i < t->columns; i++) {
		for (size_t k = i; k < t->cells; k += t->columns + 1)
			t->width[i] = fmax(t->width[i], letters(t->cell[k], SIZE_MAX));
		if (t->width[i])
			t->width[i] = fmax(t->width[i], letters(t->column[i].title, SIZE_MAX));
		fits &= t->column[i].align < FOLDED && (!t->end || t->end + t->width[i] <= width);
		t->fits += fits;
		t->end += fits && t->width[i] ? t->width[i] + 2 : 0;
	}
}

/* "owner libuncore", behind others with blanks between them. */
static char *add_below(char *line, const struct column *c, const char *text)
{
	line = must_add(line, "%s", line ? "  " : "");
	for (const char *title = c->title; *title; title++)
		line = must_add(line, "%c%s", tolower((unsigned char)*title), title[1] ? "" : " ");
	return must_add(line, "%s", text);
}

/* A row; NULL: the titles. */
static void print_row(const struct table *t, char *const *cell, FILE *out)
{
	size_t at = 0, pad = 0, width = terminal_width(),
	       beside = width > t->end ? width - t->end : 0;
	const char *text, *last = "";
	char *below = NULL;

	for (size_t i = 0; i < t->columns; i++) {
		enum align align = t->column[i].align;

		if (!t->width[i] || align == BENEATH)
			continue;
		text = !cell ? t->column[i].title : cell[i] ? cell[i] : "";
		size_t n = letters(text, SIZE_MAX), fill = t->width[i] - n;

		if (align == FOLDED) {
			last = text;
		} else if (i < t->fits) {
			size_t before = n ? pad + (align == TO_RIGHT ? fill : 0) : 0;

			fprintf(out, "%*s", (int)before, "");
			put_plain(out, text, SIZE_MAX);
			at += before + n;
			pad = n ? 2 + (align == TO_RIGHT ? 0 : fill) : pad + fill + 2;
		} else if (n && cell) {
			below = add_below(below, &t->column[i], text);
		}
	}
	if (!below && *last && letters(last, SIZE_MAX) <= beside) {
		fprintf(out, "%*s", (int)(t->end - at), "");
		put_plain(out, last, SIZE_MAX);
		putc('\n', out);
	} else if (!below && *last && beside >= ROOM) {
		fprintf(out, "%*s", (int)(t->end - at), "");
		fold(out, last, t->end, t->end);
	} else {
		putc('\n', out);
		if (below)
			fold(out, below, 0, INDENT);
		if (*last && cell)
			fold(out, last, 0, INDENT);
	}
	free(below);
}

static bool has_titles(const struct table *t)
{
	for (size_t i = 0; i < t->columns; i++)
		if (t->width[i] && t->column[i].title[0] &&
		    (i < t->fits || t->column[i].align == FOLDED))
			return true;
	return false;
}

void record_flush(struct record *r)
{
	struct table *t = &r->table;
	char *line;

	if (t->cells)
		lay_out(t);
	if (t->cells && !t->titled && has_titles(t))
		print_row(t, NULL, r->out);
	t->titled |= t->cells > 0;
	for (size_t i = 0; i < t->cells; i += t->columns + 1) {
		print_row(t, t->cell + i, r->out);
		for (char *rest = t->cell[i + t->columns]; (line = strsep(&rest, "\n"));)
			fold(r->out, line, 0, INDENT);
	}
	for (size_t i = 0; i < t->cells; i++)
		free(t->cell[i]);
	t->cells = 0;
}

/* ---- lists and objects */

static void open_table(struct record *r, const struct column *c, bool turned)
{
	struct table *t = &r->table;

	r->outer = *t;
	*t = (struct table){.column = c, .turned = turned};
	while (c[t->columns].key)
		t->columns++;
	t->width = must_alloc(NULL, t->columns, sizeof(*t->width));
}

void record_list(struct record *r, const char *key, const struct column *columns)
{
	record_open(r, key, '[');
	if (r->form != TEXT)
		return;
	if (!key && r->platform)
		print_label(r->platform);
	open_table(r, columns, false);
}

void record_object(struct record *r, const struct column *columns)
{
	record_open(r, NULL, '{');
	if (r->form == TEXT)
		open_table(r, columns, true);
}

static void end_row(struct record *r)
{
	if (r->in_row)
		record_close(r);
	if (r->in_row && r->form == SEPARATED)
		putc('\n', r->out);
	r->in_row = false;
}

void record_row(struct record *r)
{
	end_row(r);
	record_open(r, NULL, '{');
	if (r->form == TEXT && r->table.column)
		new_row(&r->table);
	r->in_row = r->form == JSON;
}

void record_end(struct record *r)
{
	end_row(r);
	if (r->depth)
		record_close(r);
	if (r->form != TEXT)
		return;
	struct table *t = &r->table;

	record_flush(r);
	free(t->cell);
	free(t->width);
	*t = r->outer;
	r->outer = (struct table){.column = NULL};
}

/* ---- values */

/* Puts a value: `value` for programs, without quotes; `text` for people. */
static void put(struct record *r, const char *key, bool quoted, const char *value, const char *text)
{
	if (r->form == TEXT) {
		put_cell(r, key, text);
	} else if (r->form == SEPARATED) {
		put_separated(r, r->keys ? key : value);
	} else {
		json_key(r, key);
		if (quoted)
			json_string(r->out, value);
		else
			fputs(value, r->out);
	}
}

void record_text(struct record *r, const char *key, const char *text)
{
	put(r, key, text != NULL, text ? text : r->form == JSON ? "null" : "", text ? text : "");
}

void record_known(struct record *r, const char *key, const char *text)
{
	record_text(r, key, text[0] ? text : NULL);
}

void record_hex(struct record *r, const char *key, uint64_t value)
{
	char buf[CELL_MAX];

	snprintf(buf, sizeof(buf), "0x%" PRIx64, value);
	put(r, key, true, buf, buf);
}

void record_integer(struct record *r, const char *key, int64_t value)
{
	char buf[CELL_MAX];

	snprintf(buf, sizeof(buf), "%" PRId64, value);
	put(r, key, false, buf, buf);
}

void record_count(struct record *r, const char *key, uint64_t value)
{
	char buf[CELL_MAX], text[CELL_MAX];

	snprintf(buf, sizeof(buf), "%" PRIu64, value);
	put(r, key, false, buf, grouped(text, value));
}

void record_bits(struct record *r, const char *key, uint64_t mask)
{
	record_open(r, key, '[');
	for (unsigned i = 0; i < 64 && r->form == JSON; i++)
		if (mask >> i & 1)
			record_integer(r, NULL, i);
	record_close(r);
}

void record_words(struct record *r, const char *key, const char *list, const char *separator)
{
	char *copy = must_print("%s", list), *rest = copy, *word;

	record_open(r, key, '[');
	while (*list && (word = strsep(&rest, separator)) != NULL)
		record_text(r, NULL, word);
	record_close(r);
	free(copy);
}

void record_bool(struct record *r, const char *key, bool value)
{
	put(r, key, false, value ? "true" : "false", "");
}

void record_number(struct record *r, const char *key, double value)
{
	char buf[CELL_MAX];

	if (!isfinite(value)) {
		record_null(r, key);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) { /* as few as give the same number again */
		snprintf(buf, sizeof(buf), "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	put(r, key, false, buf, "");
}

void record_null(struct record *r, const char *key)
{
	put(r, key, false, r->form == JSON ? "null" : "-", "");
}

void record_also(struct record *r, const char *key, const char *format, ...)
{
	va_list args;

	if (r->form != TEXT)
		return;
	va_start(args, format);
	char *text = must_format(format, args);
	va_end(args);
	put_cell(r, key, text);
	free(text);
}

void record_line(struct record *r, const char *format, ...)
{
	va_list args;

	if (r->form != TEXT)
		return;
	va_start(args, format);
	char *text = must_format(format, args);
	va_end(args);
	fold(r->out, text, 0, 0);
	free(text);
}
