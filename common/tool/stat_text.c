/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command stat: its report as text, a list with a line for each number, or for those of all
 * sockets.
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

/* Of what the memory or the link can move: "32.4 % of 307.20 GB/s", "4.2 % of gen5 x16" */
static const char *peak_text(char buf[CELL_MAX], const struct number *c, double seconds)
{
	char peak[CELL_MAX];

	if (!c->valid || c->said[PARTIAL] || !(c->peak > 0 && seconds > 0))
		return "";
	double rate = c->item.metric->kind == UNC_METRIC_TOTAL ? c->value / seconds : c->value;

	snprintf(buf, CELL_MAX, "%.1f %% of %s", 100 * rate / c->peak,
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

/* What the number is less than it should be: "7 of 8 units, 33 %" */
static const char *mark_text(char buf[CELL_MAX], const struct number *c)
{
	char share[CELL_MAX];
	int used = 0;

	buf[0] = '\0';
	if (c->said[PARTIAL])
		used = snprintf(buf, CELL_MAX, "%u of %u units", c->units, c->of);
	if (c->valid && c->share < 1)
		used += snprintf(buf + used, CELL_MAX - (size_t)used, "%s%s %%", used ? ", " : "",
				 percent_text(share, c->share));
	for (enum mark k = UNPROVEN; k <= LATE; k++)
		if (c->mark[k])
			used += snprintf(buf + used, CELL_MAX - (size_t)used, "%s%s",
					 used ? ", " : "", mark_words[k].key);
	return buf;
}

/* ---- time */

#define DATE_AND_TIME "%Y-%m-%d %H:%M:%S %z"

static const char *time_of_day(char buf[CELL_MAX], const struct stat_job *job)
{
	const struct timespec *clock = &job->series.clock;
	size_t n = strlen(clock_text(buf, "%H:%M:%S", clock));

	if (fmod(job->interval, 1) != 0)
		snprintf(buf + n, CELL_MAX - n, ".%03ld", clock->tv_nsec / 1000000);
	return buf;
}

/* ---- */

enum { CLOCK, TIME, NAME, FIRST };                 /* columns */
enum { NUMBER, RATE, PEAK, SPREAD, MARK, SHARES }; /* ... from FIRST on, of each number */

/* Columns in which nothing stands are not seen. */
static struct table *new_table(const struct stat_job *job)
{
	char *columns = must_print("%s", job->interval > 0 ? ">clock|>time s|" : ">|>|");

	for (size_t i = 0; i < job->columns; i++)
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
	char text[CELL_MAX];

	table_put(job->table, column + NUMBER, number_text(text, c));
	table_put(job->table, column + RATE, rate_text(text, c, job->seconds));
	table_put(job->table, column + PEAK, peak_text(text, c, job->seconds));
	if (c->valid)
		table_put(job->table, column + SPREAD, spread_text(text, job->runs, c->spread));
	table_put(job->table, column + MARK, mark_text(text, c));
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
}

/* ---- intervals: titles again on each screen */

enum { SCREEN = 25 }; /* reports below a title, where the output is no terminal */

/* Lines of the terminal; 0: it is none. */
static size_t screen_lines(void)
{
	struct winsize size = {0};

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	return size.ws_row;
}

/* Not the day on which the titles were shown. */
static bool is_new_day(const struct stat_job *job)
{
	char day[CELL_MAX];

	return strcmp(clock_text(day, "%F", &job->series.clock), job->day) != 0;
}

static bool titles_due(const struct stat_job *job)
{
	size_t screen = screen_lines();

	if (job->reports == 0 || is_new_day(job))
		return true;
	return screen ? job->shown + job->n_lines >= screen : job->reports % SCREEN == 0;
}

/* And the date if it is another. */
static void put_titles(struct stat_job *job)
{
	char text[CELL_MAX];

	if (job->reports == 0)
		printf("from %s\n\n", clock_text(text, DATE_AND_TIME, &job->began));
	else if (is_new_day(job))
		puts(clock_text(text, "%F", &job->series.clock));
	clock_text(job->day, "%F", &job->series.clock);
	table_titles(job->table);
	job->shown = 0;
}

static void interval_report(struct stat_job *job)
{
	if (!job->table)
		job->table = new_table(job);
	if (titles_due(job))
		put_titles(job);
	list_report(job);
	job->shown += table_lines(job->table);
}

/* ---- */

static void total_report(struct stat_job *job)
{
	job->table = new_table(job);
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
