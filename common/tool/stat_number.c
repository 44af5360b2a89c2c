/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its numbers and times as text. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stat.h"

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

const char *stat_measure(char buf[CELL_MAX], const struct number *c)
{
	const char *rate = rate_measure(buf, c);

	return *rate ? rate : c->item.metric ? unit_text(c->item.metric->unit) : "";
}

const char *stat_short(char buf[CELL_MAX], const struct number *c, double seconds)
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

const char *stat_number(char buf[CELL_MAX], const struct number *c)
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

const char *stat_rate(char buf[CELL_MAX], const struct number *c, double seconds)
{
	char measure[CELL_MAX];
	const char *unit = rate_measure(measure, c);

	if (is_rate(c) && c->valid)
		return with_unit(buf, c->value, c->item.metric->unit);
	return !c->valid || !*unit || !(seconds > 0) ? "" : scaled(buf, c->value / seconds, unit);
}

const char *stat_percent(char buf[CELL_MAX], const struct number *c, double seconds)
{
	if (!c->valid || c->lacks || !(c->peak > 0 && seconds > 0))
		return "";
	double rate = c->item.metric->kind == UNC_METRIC_TOTAL ? c->value / seconds : c->value;

	snprintf(buf, CELL_MAX, "%.1f %%", 100 * rate / c->peak);
	return buf;
}

const char *stat_peak(char buf[CELL_MAX], const struct number *c, double seconds)
{
	char peak[CELL_MAX];
	size_t n = strlen(stat_percent(buf, c, seconds));

	if (n == 0)
		return "";
	snprintf(buf + n, CELL_MAX - n, " of %s", scaled(peak, c->peak, "B/s"));
	return buf;
}

const char *stat_spread(char buf[CELL_MAX], uint64_t runs, double spread)
{
	if (runs < 2)
		return "";
	snprintf(buf, CELL_MAX, isfinite(spread) ? "+- %.2f %%" : "+- -", 100 * spread);
	return buf;
}

const char *stat_mark(char buf[CELL_MAX], const struct number *c, bool brief)
{
	const char *between = brief ? " " : ", ";
	char share[CELL_MAX];
	int used = 0;

	buf[0] = '\0';
	if (c->lacks)
		used = snprintf(buf, CELL_MAX, brief ? "%u/%u" : "%u of %u units", c->units, c->of);
	if (c->valid && c->share < 1)
		snprintf(buf + used, CELL_MAX - (size_t)used, brief ? "%s%s%%" : "%s%s %%",
			 used ? between : "", percent_text(share, c->share));
	return buf;
}

/* ---- time */

const char *stat_date(char buf[CELL_MAX], const struct timespec *clock)
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

	localtime_r(&job->series.clock.tv_sec, &local);
	n = strftime(buf, CELL_MAX, "%H:%M:%S", &local);
	if (job->every || fmod(job->interval, 1) != 0)
		snprintf(buf + n, CELL_MAX - n, ".%03ld", job->series.clock.tv_nsec / 1000000);
	return buf;
}
