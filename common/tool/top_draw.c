/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command top: a frame. Of each socket the memory's traffic with a bar, then all else; of each
 * channel of the memory a bar, in a section of its own where there is room, else behind its socket.
 * What does not fit is cut at the right, or told in the last line.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top_frame.h"

/* Letters. */
enum { NUMBER = 9, BAR = 24, BEHIND = 10, CHANNEL = 38, LEFT = 4, DEVICE = 36 };

static const struct unit gb = {"bytes", "GB/s", 1e9, 2};

/* ---- channels */

static const struct unc_target *place_of(const struct top_view *v, const struct top_channel *c)
{
	return &v->number[c->read].item.at;
}

/* Channel `n` of a socket, from 0; NULL past the end. */
static const struct top_channel *channel_at(const struct top_view *v, size_t socket, int n)
{
	for (size_t i = 0; i < v->channels; i++)
		if ((size_t)place_of(v, &v->channel[i])->socket == socket && n-- == 0)
			return &v->channel[i];
	return NULL;
}

static int channels_of(const struct top_view *v, size_t socket)
{
	int n = 0;

	while (channel_at(v, socket, n))
		n++;
	return n;
}

/* Of `n` sockets from `first` on, as many as there are: those of the one that has most. */
static int most_channels(const struct top_view *v, size_t first, size_t n)
{
	int most = 0;

	for (size_t i = first; i < v->sockets && i < first + n; i++)
		most = (int)fmax(most, channels_of(v, i));
	return most;
}

static double channel_total(const struct top_view *v, const struct top_channel *c)
{
	return value_of(&v->number[c->read]) + value_of(&v->number[c->write]);
}

/* A column in a row. */
static const struct number *number_at(const struct top_view *v, int column, size_t row)
{
	return &v->number[v->column[column] + (v->order ? v->order[row] : row)];
}

/* What the memory of a row can move in a second; 0: that is not known. */
static double peak_of(const struct top_view *v, size_t row)
{
	return number_at(v, v->read, row)->peak;
}

/* What a full bar of a channel stands for: its part of the peak, or what the busiest one does. */
static double channel_full(const struct top_view *v, size_t socket)
{
	double most = 0;

	if (peak_of(v, socket) > 0 && channels_of(v, socket) > 0)
		return peak_of(v, socket) / channels_of(v, socket);
	for (size_t i = 0; i < v->channels; i++)
		most = fmax(most, channel_total(v, &v->channel[i])); /* of NAN the other one */
	return most;
}

static double share_of(double value, double full)
{
	return full > 0 ? value / full : 0;
}

static void put_channels(struct frame *f, size_t socket)
{
	double full = channel_full(f->view, socket);
	const struct top_channel *c;

	for (int n = 0; (c = channel_at(f->view, socket, n)) != NULL; n++)
		if (f->at + 1 == f->screen->width && channel_at(f->view, socket, n + 1))
			put(f, "+"); /* and more, for which there is no room */
		else if (isfinite(channel_total(f->view, c)))
			put_level(f, share_of(channel_total(f->view, c), full));
		else
			put(f, "-");
}

/* One channel in a column of the section: "imc3  12.43  4.10 [||||     ]" */
static void put_channel(struct frame *f, const struct top_channel *c, int column)
{
	const struct top_view *v = f->view;
	const struct unc_item *item = &v->number[c->read].item;
	char name[32];

	tab(f, column);
	snprintf(name, sizeof(name), "%s%d", item->units_of, item->at.index);
	putf(f, "%-7.7s", name);
	put_number(f, &v->number[c->read], &gb, 8);
	put_number(f, &v->number[c->write], &gb, 8);
	if (!isfinite(channel_total(v, c)))
		return;
	put(f, "[");
	put_bar(f, share_of(channel_total(v, c), channel_full(v, (size_t)item->at.socket)),
		CHANNEL - 28);
	put(f, "]");
}

/* Sockets that stand side by side in the section of channels. */
static size_t abreast(const struct top_screen *s)
{
	return s->width >= 2 * CHANNEL ? (size_t)(s->width / CHANNEL) : 1;
}

/* A line of some sockets side by side: their titles (-1), or a channel of each. */
static void draw_abreast(struct frame *f, size_t first, int row)
{
	const struct top_channel *c;

	begin_line(f);
	for (size_t i = 0; i < abreast(f->screen) && first + i < f->view->sockets; i++) {
		int column = (int)i * CHANNEL;

		if (row < 0) {
			tab(f, column);
			putf(f, "socket %-4zu   read   write GB/s", first + i);
		} else if ((c = channel_at(f->view, first + i, row)) != NULL) {
			put_channel(f, c, column);
		}
	}
}

static void draw_channels(struct frame *f)
{
	size_t n = abreast(f->screen);

	for (size_t first = 0; first < f->view->sockets; first += n) {
		begin_line(f);
		for (int row = -1; row < most_channels(f->view, first, n); row++)
			draw_abreast(f, first, row);
	}
}

/* ---- sections of sockets */

/* Where the columns of all else begin. */
static int left_of(const struct frame *f)
{
	return f->view->devices ? DEVICE : LEFT;
}

/* "0 iio4 port 2  mlx5_0 eth2": a device is a label, what is counted is the port. */
static void put_device(struct frame *f, size_t row)
{
	const struct number *n = number_at(f->view, 0, row);
	char text[DEVICE], port[16] = "";

	if (n->device)
		snprintf(port, sizeof(port), "port %d  ", n->item.port);
	snprintf(text, sizeof(text), "%d %s%d %s%s", n->item.at.socket,
		 n->item.units_of ? n->item.units_of : "", n->item.at.index, port, series_below(n));
	put(f, text);
}

static void put_place(struct frame *f, size_t row)
{
	begin_line(f);
	if (f->view->devices)
		put_device(f, row);
	else if (row < f->view->sockets)
		putf(f, "%zu", row);
	else
		put(f, "all");
	tab(f, left_of(f));
}

/* Bytes per second of a row; NAN if they are not known. */
static double traffic(const struct top_view *v, size_t row)
{
	return value_of(number_at(v, v->all, row));
}

/* What a full bar of a row stands for; 0: there is no bar. */
static double row_full(const struct top_view *v, size_t row)
{
	double most = 0;

	if (peak_of(v, row) > 0)
		return peak_of(v, row);
	for (size_t i = 0; i < v->sockets; i++)
		most = peak_of(v, i) > 0 || !(traffic(v, i) > most) ? most : traffic(v, i);
	return row < v->sockets ? most : 0;
}

/* Letters of a bar, so that the channels have room behind it; 0: no bar. */
static int bar_width(const struct frame *f, bool with_channels)
{
	int channels = with_channels ? most_channels(f->view, 0, f->view->sockets) : 0;
	int left = f->screen->width - LEFT - 3 * NUMBER - BEHIND - channels;
	return left < BAR / 3 ? 0 : left > BAR ? BAR : left;
}

/* What the bars, and the shares behind them, are of: of each socket its own peak. */
static void memory_measure(struct frame *f, int bar)
{
	const struct top_view *v = f->view;
	bool known = false, alike = true;

	for (size_t i = 0; i < v->sockets; i++) {
		known |= peak_of(v, i) > 0;
		alike &= peak_of(v, i) == peak_of(v, 0);
	}
	if (known && alike)
		putf(f, "  of %.1f GB/s%s", peak_of(v, 0) / 1e9, v->sockets > 1 ? " each" : "");
	else if (known || bar)
		put(f, known ? "  of the peak" : "  of the busiest");
}

static void memory_titles(struct frame *f, bool with_channels)
{
	int bar = bar_width(f, with_channels);

	empty_line(f);
	begin_line(f);
	putf(f, "memory%*s%*s%*s ", LEFT + NUMBER - 7, "read", NUMBER, "write", NUMBER, "GB/s");
	memory_measure(f, bar);
	if (with_channels) {
		tab(f, LEFT + 3 * NUMBER + bar + BEHIND);
		put(f, "channels");
	}
}

static void put_traffic(struct frame *f, size_t row, int bar)
{
	const struct top_view *v = f->view;
	const int columns[] = {v->read, v->write, v->all};
	double all = traffic(v, row), full = row_full(v, row);

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		put_number(f, number_at(v, columns[i], row), &gb, NUMBER);
	if (!isfinite(all) || full <= 0)
		return;
	put(f, bar ? " [" : " ");
	put_bar(f, share_of(all, full), bar);
	put(f, bar ? "]" : "");
	if (peak_of(v, row) > 0)
		putf(f, "%4.0f %%", 100 * share_of(all, full));
}

static void draw_memory(struct frame *f, bool with_channels)
{
	int bar = bar_width(f, with_channels);

	memory_titles(f, with_channels);
	for (size_t row = 0; row < f->view->rows; row++) {
		put_place(f, row);
		put_traffic(f, row, bar);
		if (with_channels && row < f->view->sockets) {
			tab(f, LEFT + 3 * NUMBER + bar + BEHIND);
			put_channels(f, row);
		}
	}
}

/* The section of the memory has it. */
static bool is_memory(const struct top_view *v, int i)
{
	return v->memory && (i == v->read || i == v->write || i == v->all ||
			     (i == v->share && peak_of(v, 0) > 0));
}

/* A word of a name in the titles. */
static const char *short_word(const char *word)
{
	static const char *const shorter[][2] = {{"utilization", "in use"}, {"frequency", "clock"}};

	for (size_t i = 0; i < sizeof(shorter) / sizeof(shorter[0]); i++)
		if (strcmp(word, shorter[i][0]) == 0)
			return shorter[i][1];
	return word;
}

/* Three lines of a column's title: what stands before the first . or _, the rest without its
 * unit, the unit. Returns the width of the column. */
static int titles_of(const struct number *c, char title[3][16])
{
	static const char *const endings[] = {"_bytes", "_ratio", "_hz", "_ns"};
	const char *name = c->item.base;
	size_t n = strcspn(name, "._"), end = c->item.ports ? strcspn(name, ":") : strlen(name);
	size_t width = NUMBER - 2;
	char rest[UNC_SPEC_MAX];

	unit_of(c, title[2]);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t m = strlen(endings[i]);

		if (end > m && strcmp(name + end - m, endings[i]) == 0)
			end -= m;
	}
	snprintf(rest, sizeof(rest), "%.*s", n < end ? (int)(end - n - 1) : 0,
		 name + n + (name[n] != '\0'));
	for (char *p = rest; (p = strchr(p, '_')) != NULL;)
		*p = ' ';
	snprintf(title[0], 16, "%.*s", (int)n, name);
	snprintf(title[1], 16, "%.15s", short_word(rest));
	for (size_t i = 0; i < 3; i++)
		if (strlen(title[i]) > width)
			width = strlen(title[i]);
	return (int)width + 2; /* a blank and a mark */
}

/* One line of titles, 0 to 2, or of a row, 3 and more. Returns how many columns are left out. */
static size_t other_line(struct frame *f, size_t line)
{
	const struct top_view *v = f->view;
	char title[3][16];
	size_t left_out = 0;

	tab(f, left_of(f));
	for (int i = 0; i < (int)v->columns; i++) {
		int width = titles_of(number_at(v, i, 0), title);
		struct unit unit = unit_of(number_at(v, i, 0), title[2]);

		if (is_memory(v, i))
			continue;
		if (left_out || f->at + width > f->screen->width)
			left_out++;
		else if (line < 3)
			putf(f, "%*s ", width - 1, title[line]);
		else
			put_number(f, number_at(v, i, line - 3), &unit, width);
	}
	return left_out;
}

/* All else, as many columns as there is room for. Returns how many are left out. */
static size_t draw_others(struct frame *f)
{
	size_t left_out = 0;

	empty_line(f);
	for (size_t line = 0; line < 3 + f->view->rows; line++) {
		if (line < 3)
			begin_line(f);
		else
			put_place(f, line - 3);
		left_out = other_line(f, line);
	}
	return left_out;
}

/* ---- frames */

static void draw_head(struct frame *f)
{
	const struct top_view *v = f->view;
	char right[64], passes[32] = "";
	int length = snprintf(right, sizeof(right), "  %.3f s  %s", v->seconds, v->clock);

	if (v->passes > 1)
		snprintf(passes, sizeof(passes), ", %d passes", v->passes);
	begin_line(f);
	putf(f, "uncore top  %s%s, %zu socket%s%s%s%s", v->simulated ? "SIMULATED " : "",
	     v->machine, v->sockets, v->sockets == 1 ? "" : "s", passes, v->page ? "  " : "",
	     v->page ? v->page : "");
	tab(f, f->screen->width - length);
	put(f, right);
}

static void draw_help(struct frame *f)
{
	static const char *const lines[] = {
		"",
		"q  quit        c  channels of the memory on or off        ?  this on or off",
		"o  overview    d  PCIe devices    e  energy    x  CXL memory",
		"",
		"-   no value   *  of fewer units than there are   ?  not proven to count   !  "
		"late: its counters were not read at one time   ~  scaled: not measured all the "
		"time",
		"A bar of memory is the share of what it could move; where that is not known, of "
		"what the busiest socket or channel does, and no share is told. One letter behind "
		"a socket is a channel.",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		begin_line(f);
		put_wrapped(f, 0, lines[i]);
	}
	begin_line(f);
}

/* The notes that there are, each in lines of its own, as far as `most` lines go. */
static void draw_notes(struct frame *f, size_t left_out, int most)
{
	int first = f->lines;
	char more[64];

	for (size_t i = 0; i <= MARKS; i++) {
		const char *note = i < MARKS ? f->view->note[i] : f->screen->said;

		if (!note[0])
			continue;
		begin_line(f);
		put_wrapped(f, 2, note);
	}
	if (left_out) {
		begin_line(f);
		putf(f, "%zu column%s more where a line has more than %d letters", left_out,
		     left_out > 1 ? "s" : "", f->screen->width);
	}
	if (f->lines - first > most) {
		snprintf(more, sizeof(more), " ... %d more line%s: key ?", f->lines - first - most,
			 f->lines - first - most > 1 ? "s" : "");
		f->lines = first + most;
		if (most == 0)
			return;
		char *last = f->line[f->lines - 1];
		int room = f->screen->width - (int)strlen(more);

		f->at = (int)fmin((int)strlen(last), room > 0 ? room : 0);
		last[f->at] = '\0';
		f->used = (size_t)f->at;
		put(f, more);
	}
}

/* All but the notes, channels in a section of their own (apart) or behind their sockets. Returns
 * how many columns are left out. */
static size_t draw_sections(struct frame *f, bool apart)
{
	const struct top_view *v = f->view;
	bool channels = v->channels && !f->screen->no_channels;

	f->lines = 0;
	draw_head(f);
	if (v->memory)
		draw_memory(f, channels && !apart);
	size_t left_out = draw_others(f);

	if (channels && apart)
		draw_channels(f);
	return left_out;
}

static void compose(struct frame *f)
{
	int height = f->screen->height ? f->screen->height : LINES;
	size_t left_out = 0;

	draw_head(f);
	if (f->screen->help) {
		draw_help(f);
		draw_notes(f, 0, LINES);
		return;
	}
	if (f->view->seconds <= 0) {
		draw_notes(f, 0, LINES);
		return;
	}
	/* The first form that leaves a line for a note; the last has no empty lines. */
	for (int form = 0; form < 3; form++) {
		f->tight = form == 2;
		left_out = draw_sections(f, form == 0);
		if (f->lines < height)
			break;
	}
	draw_notes(f, left_out, height > f->lines ? height - f->lines : 1);
}

/* On a terminal as many lines as it has; the frame before is overwritten. */
static void print_frame(const struct frame *f)
{
	const struct top_screen *s = f->screen;
	int shown = s->height && f->lines > s->height ? s->height - 1 : f->lines;
	const char *end = s->terminal ? "\033[K\n" : "\n";
	char more[64];

	snprintf(more, sizeof(more), "... %d more lines", f->lines - shown);
	fputs(s->terminal ? "\033[H" : "", stdout);
	for (int i = 0; i < shown; i++) {
		const char *line = f->line[i];
		size_t n = strlen(line);

		while (n > 0 && line[n - 1] == ' ')
			n--;
		printf("%s%.*s", i ? end : "", (int)n, line);
	}
	if (shown < f->lines)
		printf("%s%.*s", shown ? end : "", s->width, more);
	fputs(s->terminal ? "\033[K\033[J" : "\n\n", stdout);
}

bool top_draw(const struct top_view *view, const struct top_screen *screen)
{
	struct frame *f = malloc(sizeof(*f));

	if (!f)
		return false;
	f->view = view;
	f->screen = screen;
	f->lines = 0;
	f->tight = false;
	compose(f);
	print_frame(f);
	free(f);
	return fflush(stdout) == 0 && !ferror(stdout);
}
