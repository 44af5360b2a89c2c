/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command stat: its report as text. A list has a line for each number, or for those of all
 * sockets. With intervals it is a row for each, with a column for each number, where these fit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stat.h"

/* ---- numbers: "" where there is none to tell */

/* What a number is measured in as a rate; "": it is none, nor can it be one. */
static const char *rate_measure(char buf[CELL_MAX], const struct number *c)
{
	const char *unit = c->item.metric ? c->item.metric->unit : "count";

	if (c->item.metric && c->item.metric->kind != UNC_METRIC_TOTAL)
		return "";
	if (strcmp(unit, "bytes") == 0)
		return "B/s";
	snprintf(buf, CELL_MAX, "%s/s", strcmp(unit, "count") == 0 ? "" : unit);
	return buf;
}

static const char *measure_text(char buf[CELL_MAX], const struct number *c)
{
	const char *rate = rate_measure(buf, c);

	return *rate ? rate : c->item.metric ? unit_text(c->item.metric->unit) : "";
}

/* "99.43 G": as a rate, if it can be one. */
static const char *short_text(char buf[CELL_MAX], const struct number *c, double seconds)
{
	char measure[CELL_MAX];
	bool rate = *rate_measure(measure, c);

	if (!c->valid || (rate && !(seconds > 0)))
		return "-";
	if (!rate && strcmp(c->item.metric->unit, "ratio") == 0)
		return with_unit(buf, c->value, "ratio");
	scaled(buf, rate ? c->value / seconds : c->value, "");
	if (buf[strlen(buf) - 1] == ' ') /* neither prefix nor unit */
		buf[strlen(buf) - 1] = '\0';
	return buf;
}

/* A metric that is a rate itself. */
static bool is_rate(const struct number *c)
{
	return c->item.metric && strstr(c->item.metric->unit, "_per_second");
}

static const char *number_text(char buf[CELL_MAX], const struct number *c)
{
	if (!c->valid)
		snprintf(buf, CELL_MAX, "-");
	else if (is_rate(c)) /* it stands among rates */
		return "";
	else if (!c->item.metric)
		grouped(buf, c->count);
	else
		with_unit(buf, c->value, c->item.metric->unit);
	return buf;
}

static const char *rate_text(char buf[CELL_MAX], const struct number *c, double seconds)
{
	char measure[CELL_MAX];
	const char *unit = rate_measure(measure, c);

	if (is_rate(c) && c->valid)
		return with_unit(buf, c->value, c->item.metric->unit);
	return !c->valid || !*unit || !(seconds > 0) ? "" : scaled(buf, c->value / seconds, unit);
}

/* Of what the memory can move: "32.4 %" */
static const char *percent_of_peak(char buf[CELL_MAX], const struct number *c, double seconds)
{
	if (!c->valid || c->said[PARTIAL] || !(c->peak > 0 && seconds > 0))
		return "";
	double rate = c->item.metric->kind == UNC_METRIC_TOTAL ? c->value / seconds : c->value;

	snprintf(buf, CELL_MAX, "%.1f %%", 100 * rate / c->peak);
	return buf;
}

/* "32.4 % of 307.20 GB/s", "4.2 % of gen5 x16" */
static const char *peak_text(char buf[CELL_MAX], const struct number *c, double seconds)
{
	char peak[CELL_MAX];
	size_t n = strlen(percent_of_peak(buf, c, seconds));

	if (n == 0)
		return "";
	snprintf(buf + n, CELL_MAX - n, " of %s",
		 c->link[0] ? c->link : scaled(peak, c->peak, "B/s"));
	return buf;
}

/* How sure a mean is. */
static const char *spread_text(char buf[CELL_MAX], uint64_t runs, double spread)
{
	if (runs < 2)
		return "";
	snprintf(buf, CELL_MAX, isfinite(spread) ? "+- %.2f %%" : "+- -", 100 * spread);
	return buf;
}

/* What the number is less than it should be: "7 of 8 units, 33 %"; brief: "7/8 33%". */
static const char *mark_text(char buf[CELL_MAX], const struct number *c, bool brief)
{
	const char *between = brief ? " " : ", ";
	char share[CELL_MAX];
	int used = 0;

	buf[0] = '\0';
	if (c->said[PARTIAL])
		used = snprintf(buf, CELL_MAX, brief ? "%u/%u" : "%u of %u units", c->units, c->of);
	if (c->valid && c->share < 1)
		used += snprintf(buf + used, CELL_MAX - (size_t)used, brief ? "%s%s%%" : "%s%s %%",
				 used ? between : "", percent_text(share, c->share));
	for (enum mark k = UNPROVEN; k <= LATE; k++)
		if (c->mark[k])
			used += snprintf(buf + used, CELL_MAX - (size_t)used, "%s%s",
					 used ? between : "",
					 brief ? mark_words[k].letter : mark_words[k].key);
	return buf;
}

/* ---- time */

#define DATE_AND_TIME "%Y-%m-%d %H:%M:%S %z"

static const char *time_of_day(char buf[CELL_MAX], const struct stat_job *job)
{
	const struct timespec *clock = &job->series.clock;
	size_t n = strlen(clock_text(buf, "%H:%M:%S", clock));

	if (job->every || fmod(job->interval, 1) != 0)
		snprintf(buf + n, CELL_MAX - n, ".%03ld", clock->tv_nsec / 1000000);
	return buf;
}

/* ---- */

enum { CLOCK, TIME, NAME, FIRST };                 /* columns */
enum { NUMBER, RATE, PEAK, SPREAD, MARK, SHARES }; /* ... from FIRST on, of each number */
enum { PERCENT = RATE };                           /* in a row: of the peak */

/* Columns in which nothing stands are not seen. */
static struct table *new_table(const struct stat_job *job, size_t numbers)
{
	char *columns = must_print("%s", job->interval > 0 ? ">clock|>time s|" : ">|>|");

	for (size_t i = 0; i < numbers; i++)
		columns = job->args->per_socket ? must_add(columns, "|>socket %zu|>||>|", i)
						: must_add(columns, "|>value|>||>|");
	struct table *t = table_new(columns);

	free(columns);
	return t;
}

static void put_times(struct stat_job *job)
{
	char text[CELL_MAX];

	table_put(job->table, CLOCK, time_of_day(text, job));
	snprintf(text, sizeof(text), "%.3f", job->time);
	table_put(job->table, TIME, text);
}

/* ---- a list */

static void list_line(struct stat_job *job, const char *label)
{
	table_line(job->table);
	if (job->interval > 0 && label[0] != ' ')
		put_times(job);
	table_put(job->table, NAME, label);
}

/* The number of a socket, or of all, and what belongs to it. */
static void list_number(struct stat_job *job, size_t i, const struct number *c)
{
	size_t column = FIRST + SHARES * i;
	/* How much of the interval a socket that was frozen has counted, nobody knows. */
	double seconds = job->every && job->overflow.frozen ? 0 : job->seconds;
	char text[CELL_MAX];

	table_put(job->table, column + NUMBER, number_text(text, c));
	table_put(job->table, column + RATE, rate_text(text, c, seconds));
	table_put(job->table, column + PEAK, peak_text(text, c, seconds));
	if (c->valid)
		table_put(job->table, column + SPREAD, spread_text(text, job->runs, c->spread));
	table_put(job->table, column + MARK, mark_text(text, c, false));
}

static void list_overflow(struct stat_job *job)
{
	const struct unc_overflow *o = &job->overflow;
	char *label = must_print("  ended by %s%d %s, socket %d%s", o->unit, o->index, o->counter,
				 o->socket, o->frozen ? ", frozen" : "");
	char number[CELL_MAX];

	list_line(job, label);
	table_put(job->table, FIRST + NUMBER, grouped(number, o->count));
	free(label);
}

/* Ports by what they move, within each metric. */
static void sort_ports(struct stat_job *job)
{
	for (size_t i = 1; i < job->n_lines; i++)
		for (size_t k = i; k > 0; k--) {
			const struct number *above = &job->series.number[job->line[k - 1].first],
					    *one = &job->series.number[job->line[k].first];
			struct stat_line line = job->line[k];

			if (job->line[k - 1].text != line.text ||
			    (above->valid && (!one->valid || above->value >= one->value)))
				break;
			job->line[k] = job->line[k - 1];
			job->line[k - 1] = line;
		}
}

static void list_report(struct stat_job *job)
{
	if (job->args->per_device)
		sort_ports(job);
	for (size_t i = 0; i < job->n_lines; i++) {
		list_line(job, job->line[i].label);
		for (size_t k = 0; k < job->columns; k++)
			if (stat_at(job, i, k))
				list_number(job, k, stat_at(job, i, k));
	}
	if (job->every)
		list_overflow(job);
}

/* ---- a row */

/* Letters of the next part of a name: up to a ':', or with the '.' or '_' behind it. */
static size_t part_length(const char *name)
{
	size_t n = 1 + strcspn(name + 1, ":._");

	return n + (name[n] == '.' || name[n] == '_');
}

/* The name in lines of at most `most` letters, where its parts are not longer than that. */
static char *wrapped(const char *name, size_t most)
{
	size_t n = part_length(name), used = n;
	char *text = must_print("%.*s", (int)n, name);

	while (*(name += n)) {
		n = part_length(name);
		bool fits = used + n <= most;

		text = must_add(text, "%s%.*s", fits ? "" : "\n", (int)n, name);
		used = fits ? used + n : n;
	}
	return text;
}

/* A name, the socket, and what the number is, as wide as any of them. */
static void put_title(struct stat_job *job, size_t line, size_t socket)
{
	size_t column = FIRST + SHARES * (line * job->columns + socket);
	const struct number *c = stat_at(job, line, socket);
	char *title = wrapped(job->line[line].label, job->title_width), measure[CELL_MAX] = "";

	if (job->args->per_socket)
		title = must_add(title, "\nsocket %zu", socket);
	title = must_add(title, "\n%8s", c ? measure_text(measure, c) : "");
	table_put(job->table, column + NUMBER, title);
	if (c && c->peak > 0 && !c->said[PARTIAL])
		table_put(job->table, column + PERCENT, "of peak");
	free(title);
}

static void row_titles(struct stat_job *job)
{
	const char *sockets = job->args->per_socket ? "\n" : "";
	char text[CELL_MAX];

	table_line(job->table);
	snprintf(text, sizeof(text), "clock%s\n", sockets);
	table_put(job->table, CLOCK, text);
	snprintf(text, sizeof(text), "time%s\n       s", sockets); /* a quarter of an hour */
	table_put(job->table, TIME, text);
	for (size_t i = 0; i < job->n_lines; i++)
		for (size_t k = 0; k < job->columns; k++)
			put_title(job, i, k);
}

static void row_report(struct stat_job *job)
{
	size_t column = FIRST;
	char text[CELL_MAX];

	table_line(job->table);
	put_times(job);
	for (size_t i = 0; i < job->n_lines; i++)
		for (size_t k = 0; k < job->columns; k++, column += SHARES) {
			const struct number *c = stat_at(job, i, k);

			if (!c)
				continue;
			table_put(job->table, column + NUMBER, short_text(text, c, job->seconds));
			table_put(job->table, column + PERCENT,
				  percent_of_peak(text, c, job->seconds));
			table_put(job->table, column + MARK, mark_text(text, c, true));
		}
}

/* Whether a row fits, its names in fewer letters and more lines if need be. */
static bool row_fits(struct stat_job *job, size_t width)
{
	static const size_t widths[] = {11, 8}; /* of names */
	bool fits = false;

	for (size_t i = 0; !fits && i < sizeof(widths) / sizeof(widths[0]); i++) {
		job->title_width = widths[i];
		job->table = new_table(job, job->n_lines * job->columns);
		row_titles(job);
		row_report(job);
		fits = table_width(job->table) <= width;
		table_free(job->table);
	}
	return fits;
}

/* ---- intervals: titles again on each screen */

enum { SCREEN = 25, WIDTH = 80 }; /* reports below a title, and columns, where nothing tells */

static struct winsize terminal(void)
{
	struct winsize size = {0};

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size); /* what is no terminal has no size */
	return size;
}

/* COLUMNS, or that of the terminal. */
static size_t width_of(const struct winsize *size)
{
	const char *text = getenv("COLUMNS");
	char *end = NULL;
	long n = text ? strtol(text, &end, 10) : 0;

	if (text && end != text && !*end && n > 0 && n < 100000)
		return (size_t)n;
	return size->ws_col ? size->ws_col : WIDTH;
}

/* Not the day on which the titles were shown. */
static bool is_new_day(const struct stat_job *job)
{
	char day[CELL_MAX];

	return strcmp(clock_text(day, "%F", &job->series.clock), job->day) != 0;
}

static bool titles_due(const struct stat_job *job, const struct winsize *size)
{
	size_t lines = job->wide ? 1 : job->n_lines + (job->every > 0);

	if (job->reports == 0 || is_new_day(job))
		return true;
	if (size->ws_row)
		return job->shown + lines >= size->ws_row;
	return job->reports % SCREEN == 0;
}

/* The form that fits, and the date if it is another. */
static void put_titles(struct stat_job *job, const struct winsize *size)
{
	size_t width = width_of(size);
	char text[CELL_MAX];

	if (job->reports == 0)
		printf("from %s\n\n", clock_text(text, DATE_AND_TIME, &job->began));
	else if (is_new_day(job))
		puts(clock_text(text, "%F", &job->series.clock));
	clock_text(job->day, "%F", &job->series.clock);
	if (width != job->width) {
		if (job->table)
			table_free(job->table);
		job->wide = !job->every && row_fits(job, width);
		job->table = new_table(job, job->wide ? job->n_lines * job->columns : job->columns);
	}
	job->width = width;
	if (job->wide)
		row_titles(job);
	else
		table_titles(job->table);
	job->shown = 0;
}

static void interval_report(struct stat_job *job)
{
	struct winsize size = terminal();

	if (titles_due(job, &size))
		put_titles(job, &size);
	if (job->wide)
		row_report(job);
	else
		list_report(job);
	job->shown += table_lines(job->table);
}

/* ---- */

static void total_report(struct stat_job *job)
{
	job->table = new_table(job, job->columns);
	if (job->args->per_socket)
		table_titles(job->table);
	list_report(job);
}

static void print_footer(const struct stat_job *job)
{
	char spread[CELL_MAX], text[CELL_MAX];
	const char *sure = spread_text(spread, job->runs, job->length_spread);

	if (job->repeat)
		printf("\n%llu run%s of %.3f s%s%s", (unsigned long long)job->runs,
		       job->runs == 1 ? "" : "s", job->seconds, *sure ? " " : "", sure);
	else
		printf("\n%.3f s measured", job->time);
	printf(", from %s\n", clock_text(text, DATE_AND_TIME, &job->began));
}

void stat_text(struct stat_job *job)
{
	if (job->reports == 0)
		print_label(job->platform);
	if (job->interval > 0)
		interval_report(job);
	else
		total_report(job);
	table_print(job->table);
	if (job->interval == 0)
		print_footer(job);
}
