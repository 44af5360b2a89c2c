/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its report as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stat.h"

/* ---- numbers */

/* What a number is measured in as a rate; "": it is none, nor can it be one. */
static const char *rate_measure(char buf[CELL_MAX], const struct stat_cell *c)
{
	const char *unit = c->metric ? c->metric->unit : "count";

	if (c->metric && c->metric->kind != UNC_METRIC_TOTAL)
		return "";
	if (strcmp(unit, "bytes") == 0)
		return "B/s";
	snprintf(buf, CELL_MAX, "%s/s", strcmp(unit, "count") == 0 ? "" : unit);
	return buf;
}

const char *stat_measure(char buf[CELL_MAX], const struct stat_cell *c)
{
	const char *rate = rate_measure(buf, c);

	return *rate ? rate : c->metric ? unit_text(c->metric->unit) : "";
}

const char *stat_short(char buf[CELL_MAX], const struct stat_cell *c, double seconds)
{
	char measure[CELL_MAX];
	bool rate = *rate_measure(measure, c);

	if (c->reason || (rate && !(seconds > 0)))
		return "-";
	if (!rate && strcmp(c->metric->unit, "ratio") == 0)
		return with_unit(buf, c->value, "ratio");
	scaled(buf, rate ? c->value / seconds : c->value, "");
	if (buf[strlen(buf) - 1] == ' ') /* neither prefix nor unit */
		buf[strlen(buf) - 1] = '\0';
	return buf;
}

/* A metric that is a rate itself. */
static bool is_rate(const struct stat_cell *c)
{
	return c->metric && strstr(c->metric->unit, "_per_second");
}

static const char *number_text(char buf[CELL_MAX], const struct stat_cell *c)
{
	if (c->reason)
		snprintf(buf, CELL_MAX, "-");
	else if (is_rate(c)) /* it stands among rates */
		return "";
	else if (!c->metric)
		grouped(buf, c->count);
	else
		with_unit(buf, c->value, c->metric->unit);
	return buf;
}

static const char *rate_text(char buf[CELL_MAX], const struct stat_cell *c, double seconds)
{
	char measure[CELL_MAX];
	const char *unit = rate_measure(measure, c);

	if (is_rate(c) && !c->reason)
		return with_unit(buf, c->value, c->metric->unit);
	return c->reason || !*unit || !(seconds > 0) ? "" : scaled(buf, c->value / seconds, unit);
}

bool stat_of_peak(const struct stat_cell *c, double seconds, double *share)
{
	if (c->reason || c->lacks || !(c->peak > 0 && seconds > 0))
		return false;
	*share = (c->metric->kind == UNC_METRIC_TOTAL ? c->value / seconds : c->value) / c->peak;
	return true;
}

/* "32.4 % of 307.20 GB/s" */
static const char *peak_text(char buf[CELL_MAX], const struct stat_cell *c, double seconds)
{
	char peak[CELL_MAX];
	double share;

	if (!stat_of_peak(c, seconds, &share))
		return "";
	snprintf(buf, CELL_MAX, "%.1f %% of %s", 100 * share, scaled(peak, c->peak, "B/s"));
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

const char *stat_mark(char buf[CELL_MAX], const struct stat_cell *c, bool brief)
{
	const char *between = brief ? " " : ", ";
	char share[CELL_MAX];
	int used = 0;

	buf[0] = '\0';
	if (c->lacks)
		used = snprintf(buf, CELL_MAX, brief ? "%u/%u" : "%u of %u units", c->units, c->of);
	if (!c->reason && c->share < 1)
		snprintf(buf + used, CELL_MAX - (size_t)used, brief ? "%s%s%%" : "%s%s %%",
			 used ? between : "", percent_text(share, c->share));
	return buf;
}

/* ---- time */

/* "2026-11-22 20:24:01 +0100" */
static const char *date_and_time(char buf[CELL_MAX], const struct timespec *clock)
{
	struct tm local;

	localtime_r(&clock->tv_sec, &local);
	strftime(buf, CELL_MAX, "%Y-%m-%d %H:%M:%S %z", &local);
	return buf;
}

const char *stat_time_of_day(char buf[CELL_MAX], const struct stat_job *job)
{
	struct tm local;
	size_t n;

	localtime_r(&job->clock.tv_sec, &local);
	n = strftime(buf, CELL_MAX, "%H:%M:%S", &local);
	if (job->every || fmod(job->interval, 1) != 0)
		snprintf(buf + n, CELL_MAX - n, ".%03ld", job->clock.tv_nsec / 1000000);
	return buf;
}

static int day_of(const struct timespec *clock)
{
	struct tm local;

	localtime_r(&clock->tv_sec, &local);
	return local.tm_year * 366 + local.tm_yday;
}

/* ---- a list: a line for each number, or for those of all sockets */

enum { CLOCK, TIME, FIRST }; /* columns; without intervals FIRST is the first */
enum { NUMBER, RATE, PEAK, SPREAD, MARK, SHARES }; /* of a number */

static size_t name_column(const struct stat_job *job)
{
	return job->interval > 0 ? FIRST : 0;
}

static struct table *new_list(const struct stat_job *job)
{
	char *columns = must_print("%s", job->interval > 0 ? ">clock|>time s|" : "");

	for (size_t i = 0; i < job->columns; i++)
		columns = job->per_socket ? must_add(columns, "|>socket %zu|>||>|", i)
					  : must_add(columns, "|>value|>||>|");
	struct table *t = table_new(columns);

	free(columns);
	return t;
}

static void list_line(struct stat_job *job, const char *label)
{
	char text[CELL_MAX];

	table_line(job->table);
	if (job->interval > 0 && label[0] != ' ') {
		table_put(job->table, CLOCK, stat_time_of_day(text, job));
		snprintf(text, sizeof(text), "%.3f", job->time);
		table_put(job->table, TIME, text);
	}
	table_put(job->table, name_column(job), label);
}

/* The number of a socket, or of all, and what belongs to it. */
static void list_number(struct stat_job *job, size_t i, const struct stat_cell *c)
{
	size_t column = name_column(job) + 1 + SHARES * i;
	/* How much of the interval a socket that was frozen has counted, nobody knows. */
	double seconds = job->every && job->overflow.frozen ? 0 : job->seconds;
	char text[CELL_MAX];

	table_put(job->table, column + NUMBER, number_text(text, c));
	table_put(job->table, column + RATE, rate_text(text, c, seconds));
	table_put(job->table, column + PEAK, peak_text(text, c, seconds));
	if (!c->reason)
		table_put(job->table, column + SPREAD, spread_text(text, job->runs, c->spread));
	table_put(job->table, column + MARK, stat_mark(text, c, false));
}

static void list_overflow(struct stat_job *job)
{
	const struct unc_overflow *o = &job->overflow;
	char *label = must_print("  ended by %s%d %s, socket %d%s", o->unit, o->index, o->counter,
				 o->socket, o->frozen ? ", frozen" : "");
	char number[CELL_MAX];

	list_line(job, label);
	table_put(job->table, name_column(job) + 1 + NUMBER, grouped(number, o->count));
	free(label);
}

static void list_report(struct stat_job *job)
{
	for (size_t i = 0; i < job->n_lines; i++) {
		list_line(job, job->label[i]);
		for (size_t k = 0; k < job->columns; k++)
			if (job->cell[i * job->columns + k].name)
				list_number(job, k, &job->cell[i * job->columns + k]);
	}
	if (job->every)
		list_overflow(job);
}

/* ---- intervals: titles again on each screen */

enum { SCREEN = 25, WIDTH = 80 }; /* reports below a title, and columns, where nothing tells */

static struct winsize terminal(void)
{
	struct winsize size = {0};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		size = (struct winsize){0};
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

static bool titles_due(const struct stat_job *job, const struct winsize *size)
{
	size_t lines = job->wide ? 1 : job->n_lines + (job->every > 0);

	if (job->reports == 0 || day_of(&job->clock) != job->day)
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
		printf("from %s\n\n", date_and_time(text, &job->began));
	else if (day_of(&job->clock) != job->day)
		printf("%.10s\n", date_and_time(text, &job->clock));
	job->day = day_of(&job->clock);
	if (width != job->width) {
		if (job->table)
			table_free(job->table);
		job->wide = !job->every && stat_columns(job, width);
		if (!job->wide)
			job->table = new_list(job);
	}
	job->width = width;
	if (job->wide)
		stat_columns_titles(job);
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
		stat_columns_row(job);
	else
		list_report(job);
	job->shown += table_lines(job->table);
}

/* ---- */

static void total_report(struct stat_job *job)
{
	job->table = new_list(job);
	if (job->per_socket)
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
	printf(", from %s\n", date_and_time(text, &job->began));
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
