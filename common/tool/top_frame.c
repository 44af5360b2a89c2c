/* SPDX-License-Identifier: BSD-3-Clause */
#include "top_frame.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- lines */

void begin_line(struct frame *f)
{
	if (f->lines + 1 < LINES)
		f->lines++;
	f->at = 0;
	f->used = 0;
	f->line[f->lines - 1][0] = '\0';
}

void empty_line(struct frame *f)
{
	if (!f->tight)
		begin_line(f);
}

void put(struct frame *f, const char *text)
{
	char *line = f->line[f->lines - 1];

	while (*text && f->at < f->screen->width) {
		size_t n = 1;

		while ((text[n] & 0xc0) == 0x80)
			n++;
		if (f->used + n + 1 > LINE) { /* full, however wide the screen is */
			f->at = f->screen->width;
			return;
		}
		memcpy(line + f->used, text, n);
		f->used += n;
		line[f->used] = '\0';
		f->at++;
		text += n;
	}
}

void putf(struct frame *f, const char *format, ...)
{
	char text[LINE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put(f, text);
}

void tab(struct frame *f, int column)
{
	while (f->at < column && f->at < f->screen->width)
		put(f, " ");
}

void put_wrapped(struct frame *f, int indent, const char *text)
{
	bool first = true;

	while (*text) {
		int n = (int)strcspn(text, " ");

		if (!first && f->at + 1 + n > f->screen->width) {
			begin_line(f);
			tab(f, indent);
		} else if (!first) {
			put(f, " ");
		}
		first = false;
		putf(f, "%.*s", n, text);
		text += n + (text[n] == ' ');
	}
}

/* ---- numbers and bars */

static const struct unit units[] = {
	{"bytes", "GB", 1e9, 2},    {"bytes_per_second", "GB/s", 1e9, 2},
	{"ratio", "%", 0.01, 1},    {"hz", "GHz", 1e9, 2},
	{"count", "M", 1e6, 2},     {"count_per_second", "M/s", 1e6, 2},
	{"clocks", "clocks", 1, 1}, {"ns", "ns", 1, 1},
};

static bool adds_up(const struct number *n)
{
	return !n->item.metric || n->item.metric->kind == UNC_METRIC_TOTAL;
}

double value_of(const struct number *n)
{
	if (!n->valid || !(n->seconds > 0))
		return NAN;
	return adds_up(n) ? n->value / n->seconds : n->value;
}

struct unit unit_of(const struct number *n, char title[16])
{
	const char *name = n->item.metric ? n->item.metric->unit : "count";
	struct unit unit = {name, name, 1, 2};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].unit, name) == 0)
			unit = units[i];
	snprintf(title, 16, "%s%s", unit.title, adds_up(n) ? "/s" : "");
	return unit;
}

/* The gravest that it has. */
static const char *mark_of(const struct number *n)
{
	for (enum mark k = 0; k < MARKS; k++)
		if (number_marked(n, k))
			return mark_words[k].letter;
	return " ";
}

void put_number(struct frame *f, const struct number *n, const struct unit *unit, int width)
{
	double value = value_of(n);

	if (isnan(value))
		putf(f, "%*s ", width - 1, "-");
	else
		putf(f, "%*.*f%s", width - 1, unit->digits, value / unit->scale, mark_of(n));
}

void put_bar(struct frame *f, double share, int width)
{
	static const char *const eighth[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	bool unicode = f->screen->unicode;
	int full = (int)round(fmin(fmax(share, 0), 1) * width * (unicode ? 8 : 1));

	for (int i = 0; i < width; i++) {
		int left = unicode ? full - 8 * i : 8 * (full - i);

		put(f, left >= 8 ? unicode ? "█" : "|" : left > 0 ? eighth[left] : " ");
	}
}

void put_level(struct frame *f, double share)
{
	static const char *const level[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	double s = fmin(fmax(share, 0), 1);

	if (f->screen->unicode)
		put(f, level[(int)fmin(floor(8 * s), 7)]);
	else
		putf(f, "%d", (int)fmin(floor(10 * s), 9));
}
