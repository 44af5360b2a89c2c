/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command top: the items of a group as lines, one for each socket; for MEM one for each channel, for
 * PCIE one for each device. A bar is the share of the peak, or of the busiest line of the item in the
 * last minute, which follows the bar if there is room. One line counts the lines without traffic.
 */
#include "top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- what is counted */

char *top_open(struct top *top, struct unc_platform *platform, size_t group)
{
	unsigned per = UNC_EACH_LACKING;

	top->group = unc_group_get(platform, group);
	if (!top->group)
		return must_print("there is no group %zu", group + 1);
	if (!top->group->available)
		return must_print("group %s: %s", top->group->name, top->group->reason);
	top->series.platform = platform;
	top->series.quiet = true;
	if (unc_session_new(platform, UNC_SESSION_ROTATE, &top->series.session) < 0)
		return must_print("%s", unc_platform_error(platform));
	per |= strcmp(top->group->name, "MEM") == 0    ? UNC_EACH_UNIT
	       : strcmp(top->group->name, "PCIE") == 0 ? UNC_EACH_DEVICE
						       : UNC_EACH_SOCKET;
	for (size_t i = 0; i < top->group->n_items; i++)
		if (series_add(&top->series, top->group->items[i], per) < 0)
			return must_print("%s", unc_session_error(top->series.session));
	top->past = must_alloc(NULL, top->series.n, sizeof(*top->past));
	for (size_t i = 0; i < top->series.n * TOP_PAST; i++)
		top->past[i / TOP_PAST][i % TOP_PAST] = NAN;
	return NULL;
}

void top_close(struct top *top)
{
	series_close(&top->series);
	free(top->past);
}

/* The value of a number, per second if it adds up over time; NAN: not known. */
static double value_of(const struct number *n)
{
	double rate = number_rate(n, n->seconds);

	return !n->valid || !(n->seconds > 0) ? NAN : isnan(rate) ? n->value : rate;
}

int top_read(struct top *top)
{
	struct series *s = &top->series;
	const struct number *changed;
	int rc = series_read(s);

	if (rc < 0)
		return rc;
	series_devices(s, &changed); /* they come and go */
	bool next = s->time < top->told || s->time >= top->told + 0.99;

	top->told = next ? s->time : top->told;
	for (size_t i = 0; i < s->n; i++) {
		if (next)
			memmove(top->past[i], top->past[i] + 1, sizeof(float[TOP_PAST - 1]));
		top->past[i][TOP_PAST - 1] = (float)value_of(&s->number[i]);
	}
	return 0;
}

/* ---- bars */

/* The value of a full bar: the peak, or that of the busiest line of the item. */
static double full_of(const struct top *t, const struct number *n)
{
	double most = 0;

	if (n->peak > 0)
		return n->peak;
	if (n->item.metric && strcmp(n->item.metric->unit, "ratio") == 0)
		return 1;
	for (size_t i = 0; i < t->series.n; i++)
		for (size_t k = 0; t->series.number[i].text == n->text && k < TOP_PAST; k++)
			most = fmax(most, t->past[i][k]); /* of NAN the other one */
	return most;
}

/* A bar of `width` letters for a share of 0 to 1; a larger share fills it. */
static char *bar(double share, size_t width, bool unicode)
{
	static const char *const eighth[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
	double full = fmin(fmax(share, 0), 1) * (double)width * 8;
	char *text = must_print("[");

	for (size_t i = 0; i < width; i++) {
		double left = fmin(fmax(round(full) - 8 * (double)i, 0), 8);

		text = must_add(text, "%s", unicode ? eighth[(int)left] : left >= 4 ? "|" : " ");
	}
	return must_add(text, "]");
}

/* A letter a second, the last ones. */
static char *past_text(const float past[TOP_PAST], double full, size_t width, bool unicode)
{
	static const char *const level[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	char *text = must_print("%s", "");

	for (size_t i = TOP_PAST - width; i < TOP_PAST; i++) {
		double share = fmin(fmax(past[i] / full, 0), 1);

		if (isnan(past[i]) || !(full > 0))
			text = must_add(text, " ");
		else if (unicode)
			text = must_add(text, "%s", level[(int)fmin(floor(8 * share), 7)]);
		else
			text = must_add(text, "%d", (int)fmin(floor(10 * share), 9));
	}
	return text;
}

/* ---- lines */

static const struct column top_columns[] = {{CELL("name", "")}, {NUMBER("value", "")},
					    {CELL("bar", "")},  {CELL("past", "")},
					    {FOLD("more", "")}, {0}};

/* Whether a number shows a mark; without a value it shows only NO_VALUE. */
static bool is_marked(const struct number *n, enum mark k)
{
	return isnan(value_of(n)) ? k == NO_VALUE : number_marked(n, k);
}

static void put_top_line(struct record *r, const struct top *t, const struct number *n,
			 const size_t width[2], bool unicode, double *told)
{
	const char *unit = n->item.metric ? n->item.metric->unit : "count",
		   *below = series_below(n);
	double value = value_of(n), rate = number_rate(n, n->seconds), full = full_of(t, n);
	char buf[CELL_MAX], *text;

	record_row(r);
	record_text(r, "name", n->item.name);
	record_also(r, "value", "%s",
		    isnan(value)  ? "-"
		    : isnan(rate) ? with_unit(buf, value, unit)
				  : rate_text(buf, rate, unit));
	if (width[0] && !isnan(value)) {
		text = bar(full > 0 ? value / full : 0, width[0], unicode);
		record_text(r, "bar", text);
		free(text);
	}
	if (width[1]) {
		text = past_text(t->past[n - t->series.number], full, width[1], unicode);
		record_text(r, "past", text);
		free(text);
	}
	text = must_print("%s", share_text(buf, n, n->seconds, told));
	for (enum mark k = PARTIAL; k < MARKS; k++)
		if (mark_words(k) && is_marked(n, k))
			text = must_add(text, "%s%s", *text ? " " : "", mark_words(k)->letter);
	if (below)
		text = must_add(text, "%s(%s)", *text ? " " : "", below);
	record_text(r, "more", text);
	free(text);
}

/* Prints for each mark the first number that has it, and how many more do. */
static void put_marks(struct record *r, const struct top *t)
{
	for (enum mark k = 0; k < MARKS; k++) {
		const struct number *first = NULL, *end = t->series.number + t->series.n;
		char share[CELL_MAX], *what = must_print("%s", "");
		size_t n = 0;

		for (const struct number *c = t->series.number; c < end; c++)
			if (is_marked(c, k) && n++ == 0)
				first = c;
		if (n > 1)
			what = must_add(what, " (and %zu more)", n - 1);
		if (n && k == SCALED)
			what = must_add(what, ": measured %s %% of the time",
					percent_text(share, first->share));
		else if (n && k == PARTIAL)
			what = must_add(what, ": %u of %u units: %s", first->units, first->of,
					unc_session_partial(t->series.session, first->id));
		else if (n)
			what = must_add(what, ": %s", series_reason(&t->series, first));
		if (n)
			record_line(r, "%s %s: %s%s", mark_words(k)->letter, mark_words(k)->what,
				    first->item.name, what);
		free(what);
	}
}

/* Divides the room behind the longest name and value between the bar and the past. */
static void share_room(const struct number *const *line, size_t n, size_t width[2])
{
	size_t name = 0, room;

	for (size_t i = 0; i < n; i++)
		name = (size_t)fmax((double)name, (double)strlen(line[i]->item.name));
	room = terminal_width() > name + 24 ? terminal_width() - name - 24 : 0;
	width[0] = room < 8 ? 0 : room > 26 ? 24 : room - 2;
	room -= width[0] ? width[0] + 4 : 0;
	width[1] = width[0] < 24 || room < 10 ? 0 : room > TOP_PAST ? TOP_PAST : room;
}

static void put_top_lines(struct record *r, const struct top *t, bool unicode)
{
	bool sorted = t->series.n && t->series.number[0].per & UNC_EACH_DEVICE;
	const struct number **line = series_lines(&t->series, sorted);
	size_t n = 0, idle = 0, width[2];
	double told = 0;
	const struct number *first = NULL;

	for (size_t i = 0; i < t->series.n; i++) {
		bool none = value_of(line[i]) == 0;

		if (none && idle++ == 0)
			first = line[i];
		if (!none)
			line[n++] = line[i];
	}
	share_room(line, n, width);
	record_list(r, NULL, top_columns);
	for (size_t i = 0; i < n; i++)
		put_top_line(r, t, line[i], width, unicode, &told);
	record_end(r);
	if (idle)
		record_line(r,
			    idle > 1 ? "without traffic: %s (and %zu more)" : "without traffic: %s",
			    first->item.name, idle - 1);
	free(line);
}

/* ---- frames */

/* Which group is shown, and the keys. */
static void put_head(struct record *r, const struct top *t, const struct top_screen *screen)
{
	struct unc_platform *p = t->series.platform;
	int sockets = unc_platform_sockets(p);
	char clock[CELL_MAX], *keys = NULL;
	const struct unc_group *g;

	record_line(r, "uncore top  %s%s, %d socket%s, %s  %.3f s  %s",
		    unc_platform_simulated(p) ? "SIMULATED " : "", unc_platform_cpu(p)->name,
		    sockets, sockets == 1 ? "" : "s", t->group->name, t->series.seconds,
		    clock_text(clock, "%H:%M:%S", &t->series.clock));
	for (size_t i = 0; screen->terminal && i < 9 && (g = unc_group_get(p, i)) != NULL; i++)
		keys = must_add(keys, "%zu %s  ", i + 1, g->name);
	if (keys)
		record_line(r, "%sq quit", keys);
	record_line(r, "%s", screen->said);
	free(keys);
}

static char *compose(const struct top *t, const struct top_screen *screen)
{
	const struct args args = {.json = false};
	struct record r;
	char *text = NULL;
	size_t size;

	record_start(&r, &args, NULL);
	r.out = open_memstream(&text, &size);
	if (!r.out)
		return NULL;
	put_head(&r, t, screen);
	if (t->series.seconds > 0) {
		put_top_lines(&r, t, screen->unicode);
		put_marks(&r, t);
	}
	fclose(r.out);
	return text;
}

/* As many lines as the terminal has, over those of the frame before; those that are scrolled away
 * follow the head. */
static void print_frame(char *text, struct top_screen *screen)
{
	struct winsize size = {0};
	char *rest = text, *line;
	size_t lines = 0, head = 3, room;

	for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	room = size.ws_row ? size.ws_row : lines;
	if (lines <= room)
		screen->scrolled = 0;
	else if (screen->scrolled > lines - room)
		screen->scrolled = lines - room;
	fputs("\033[H", stdout);
	for (size_t i = 0, shown = 0; i < lines && shown < room && (line = strsep(&rest, "\n"));
	     i++) {
		size_t left = lines - i;

		if (i >= head && i < head + screen->scrolled)
			continue;
		printf("%s", shown++ ? "\033[K\n" : "");
		if (shown == room && left > 1)
			printf("... %zu more lines: arrow keys", left);
		else
			fputs(line, stdout);
	}
	fputs("\033[K\033[J", stdout);
}

bool top_draw(const struct top *top, struct top_screen *screen)
{
	char *text = compose(top, screen);

	if (!text)
		return false;
	if (screen->terminal)
		print_frame(text, screen);
	else
		printf("%s\n", text);
	free(text);
	return fflush(stdout) == 0 && !ferror(stdout);
}
