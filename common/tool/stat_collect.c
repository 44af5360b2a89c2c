/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: from the session to the numbers of the report, and what is said about them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

struct number *stat_end(const struct stat_job *job)
{
	return job->series.number + job->series.n;
}

const struct number *stat_at(const struct stat_job *job, size_t line, size_t column)
{
	const struct number *c = &job->series.number[job->line[line].first];

	for (size_t i = 0; i < job->line[line].n; i++)
		if (!job->args->per_socket || c[i].item.at.socket == (int)column)
			return &c[i];
	return NULL;
}

const char *stat_reason(const struct stat_job *job, const struct number *c)
{
	return c->valid ? NULL : job->repeat ? c->why : series_reason(&job->series, c);
}

/* ---- sentences: one for all that it is true of */

typedef char *(*sentence_fn)(const struct stat_job *, const struct number *);

/* "NAME, NAME: sentence" for each that differs; a number without a sentence (NULL) is skipped. */
static void say_of_numbers(const struct stat_job *job, sentence_fn sentence)
{
	const struct number *number = job->series.number;
	size_t n = job->series.n;
	char **text = must_alloc(NULL, n, sizeof(*text));

	for (size_t i = 0; i < n; i++)
		text[i] = sentence(job, &number[i]);
	for (size_t i = 0; i < n; i++) {
		if (!text[i])
			continue;
		char *names = must_list(NULL, number[i].item.name);

		for (size_t k = i + 1; k < n; k++) {
			if (!text[k] || strcmp(text[k], text[i]) != 0)
				continue;
			names = must_list(names, number[k].item.name);
			free(text[k]);
			text[k] = NULL;
		}
		remark("%s: %s", names, text[i]);
		free(names);
		free(text[i]);
	}
	free(text);
}

/* ---- what a sum goes without */

/* Not a value of its own in any report. */
static bool cannot_count(const struct number *c)
{
	return c->id < 0 || c->item.error;
}

/* What the first report will show with a mark, or not at all. */
static char *mark_sentence(const struct stat_job *job, const struct number *c)
{
	if (c->told)
		return NULL;
	if (cannot_count(c))
		return must_print("%s", series_reason(&job->series, c));
	return c->lacks ? must_print("%u of %u units: %s", c->units, c->of, c->lacks) : NULL;
}

int stat_announce(struct stat_job *job)
{
	bool any = false;
	int rc = 0;

	for (struct number *c = job->series.number; c < stat_end(job); c++) {
		const char *lacks =
			c->id < 0 ? "" : unc_session_partial(job->series.session, c->id);

		if (!c->lacks && *lacks)
			c->lacks = must_print("%s", lacks);
		any |= c->lacks && !c->told;
	}
	if (any) /* a value knows the number of its units */
		rc = stat_collect(job);
	if (rc == 0)
		say_of_numbers(job, mark_sentence);
	for (struct number *c = job->series.number; c < stat_end(job); c++)
		c->told = cannot_count(c) || c->lacks;
	return rc;
}

/* ---- reading */

/* Nothing that comes later tells more of a counter that was lost. */
static void note_lost(struct stat_job *job, struct number *c)
{
	job->harmed = true;
	if (c->was_lost)
		return;
	c->was_lost = true;
	free(c->why);
	c->why = must_print("%s", series_reason(&job->series, c));
}

/* Told once, when the first report shows the mark. */
static char *doubt_sentence(const struct stat_job *job, const struct number *c)
{
	return c->unproven && !c->doubt
		       ? must_print("not proven to count: %s", series_reason(&job->series, c))
		       : NULL;
}

static void note_unproven(struct stat_job *job)
{
	bool any = false;

	for (const struct number *c = job->series.number; c < stat_end(job); c++)
		any |= c->unproven && !c->doubt;
	if (any)
		say_of_numbers(job, doubt_sentence);
	for (struct number *c = job->series.number; any && c < stat_end(job); c++)
		if (c->unproven && !c->doubt)
			c->doubt = must_print("%s", series_reason(&job->series, c));
}

/* Takes over what a read has given, of all items; rc: of the read. */
static int take_numbers(struct stat_job *job, int rc)
{
	if (rc < 0)
		return library_error(rc, unc_session_error(job->series.session));
	job->time = job->started + job->series.time;
	job->seconds = job->series.seconds;
	for (struct number *c = job->series.number; c < stat_end(job); c++)
		if (c->lost)
			note_lost(job, c);
	note_unproven(job);
	return 0;
}

int stat_collect(struct stat_job *job)
{
	return take_numbers(job, series_read(&job->series, NULL));
}

int stat_poll(struct stat_job *job)
{
	job->overflow.size = sizeof(job->overflow);
	int rc = series_read(&job->series, &job->overflow);

	return rc == 0 && job->overflow.id < 0 ? 0 : take_numbers(job, rc);
}

void stat_remember(struct stat_job *job)
{
	for (struct number *c = job->series.number; c < stat_end(job); c++) {
		if (c->valid)
			continue;
		c->without++;
		if (!c->why)
			c->why = must_print("%s", series_reason(&job->series, c));
	}
}

bool stat_complete(const struct stat_job *job)
{
	const unsigned seen = UNC_VALUE_VALID | UNC_VALUE_FRESH | UNC_VALUE_WAITS;

	for (size_t i = 0; i < job->series.n_values; i++) {
		unsigned flags = job->series.value[i].flags & seen;

		if (flags == UNC_VALUE_VALID || flags & UNC_VALUE_WAITS)
			return false;
	}
	return true;
}

/* ---- the end */

static char *end_sentence(const struct stat_job *job, const struct number *c)
{
	if (!c->why || cannot_count(c))
		return NULL;
	if (c->without == (job->repeat ? job->runs : job->reports))
		return must_print("no value: %s", c->why);
	if (job->repeat)
		return must_print("no mean, for it has no value in %lu of %llu runs: %s",
				  c->without, (unsigned long long)job->runs, c->why);
	if (c->without == 0)
		return must_print("no value after the last report: %s", c->why);
	return must_print("no value in %lu of %lu reports: %s", c->without, job->reports, c->why);
}

void stat_lament(const struct stat_job *job)
{
	const struct number *c = series_lost(&job->series);

	remark("%s: %s; counting starts anew at %.3f s, and whenever a counter is lost",
	       c->item.name, series_reason(&job->series, c), job->time);
}

void stat_close(const struct stat_job *job)
{
	if (job->every && job->reports == 0)
		remark("note: no interval has ended: %s counted less than %llu on every unit",
		       job->line[0].label, (unsigned long long)job->every);
	else if (job->reports == 0)
		remark("note: no interval is reported: none was long enough for %s",
		       job->passes > 1 ? "all passes" : "a count");
	say_of_numbers(job, end_sentence);
	/* Its numbers are right all the same. JSON has a member for it. */
	if ((job->args->verbose || !job->args->json) &&
	    *unc_session_unprotected(job->series.session))
		remark("note: sessions of other programs are not known to this one, nor it to "
		       "them: %s",
		       unc_session_unprotected(job->series.session));
}

/* ---- several runs */

/* Sums of squares lose digits where the spread is small: mean and deviations are kept instead
 * (Welford). */
static void mean_add(struct mean *m, double value)
{
	double off = value - m->mean;

	m->mean += off / (double)++m->n;
	m->squares += off * (value - m->mean);
}

/* The standard deviation of the mean, as a share of it: NAN where it has none. */
static double mean_spread(const struct mean *m)
{
	double n = (double)m->n;

	if (m->n < 2 || m->mean == 0)
		return NAN;
	return sqrt(m->squares / (n - 1) / n) / fabs(m->mean);
}

void stat_gather(struct stat_job *job)
{
	job->runs++;
	mean_add(&job->length, job->seconds);
	stat_remember(job);
	for (struct number *c = job->series.number; c < stat_end(job); c++) {
		if (!c->valid)
			continue;
		mean_add(&c->mean, c->value);
		c->shares += c->share;
	}
}

/* Of a number that was missing once there is no mean. */
static void sum_up(struct number *c)
{
	c->spread = NAN;
	c->valid = !c->why;
	if (!c->valid)
		return;
	c->value = c->mean.mean;
	c->count = (uint64_t)llround(c->value);
	c->share = c->shares / (double)c->mean.n;
	c->spread = mean_spread(&c->mean);
}

void stat_sum_up(struct stat_job *job)
{
	job->seconds = job->length.mean;
	job->length_spread = mean_spread(&job->length);
	for (struct number *c = job->series.number; c < stat_end(job); c++)
		sum_up(c);
}
