/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: from the session to the numbers of the report, and what is said about them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

struct number *stat_end(const struct stat_job *job)
{
	return job->series.number + job->series.n;
}

const char *stat_reason(const struct stat_job *job, const struct number *c)
{
	return c->valid ? NULL : job->repeat ? c->said[NO_VALUE] : series_reason(&job->series, c);
}

/* ---- sentences: each is printed once, with all names that it is true of */

typedef char *(*sentence_fn)(const struct stat_job *, const struct number *, enum mark);

/* "NAME, NAME: sentence" for each that differs; a number without a sentence (NULL) is skipped.
 * mark: what it is about. */
static void print_by_sentence(const struct stat_job *job, sentence_fn sentence, enum mark mark)
{
	const struct number *number = job->series.number;
	size_t n = job->series.n;
	char **text = must_alloc(NULL, n, sizeof(*text));

	for (size_t i = 0; i < n; i++)
		text[i] = sentence(job, &number[i], mark);
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

/* Whether a number has no value of its own in any report. */
static bool cannot_count(const struct number *c)
{
	return c->id < 0 || c->item.error;
}

/* The sentence of a number that the next report will show with a mark, or not at all. */
static char *mark_sentence(const struct stat_job *job, const struct number *c, enum mark k)
{
	if (c->told)
		return NULL;
	if (cannot_count(c))
		return must_print("%s", series_reason(&job->series, c));
	return c->said[k] ? must_print("%u of %u units: %s", c->units, c->of, c->said[k]) : NULL;
}

static void announce_marks(struct stat_job *job)
{
	print_by_sentence(job, mark_sentence, PARTIAL);
	for (struct number *c = job->series.number; c < stat_end(job); c++)
		c->told = cannot_count(c) || c->said[PARTIAL];
}

/* Units are lost, and come back. */
static void note_lacks(const struct stat_job *job, struct number *c)
{
	const char *lacks = c->units < c->of ? unc_session_partial(job->series.session, c->id) : "";

	if (strcmp(lacks, c->said[PARTIAL] ? c->said[PARTIAL] : "") == 0)
		return;
	number_say(&c->said[PARTIAL], *lacks ? lacks : NULL);
	c->told = false;
}

int stat_announce(struct stat_job *job)
{
	for (struct number *c = job->series.number; c < stat_end(job); c++)
		if (c->id >= 0 && *unc_session_partial(job->series.session, c->id))
			return stat_collect(job); /* a value knows the number of its units */
	announce_marks(job);
	return 0;
}

/* ---- reading */

/* Keeps the first reason of a loss: later ones say less. */
static void remember_loss(struct stat_job *job, struct number *c)
{
	job->harmed = true;
	if (c->was_lost)
		return;
	c->was_lost = true;
	number_say(&c->said[NO_VALUE], series_reason(&job->series, c));
}

/* Notes devices that changed. The number stays that of the port. */
static void update_devices(struct stat_job *job)
{
	const struct number *other;

	if (!series_devices(&job->series, &other))
		remark("note: the devices below port %d of stack %d (socket %d) have changed: now "
		       "%s",
		       other->item.port, other->item.at.index, other->item.at.socket,
		       other->device ? other->device : "nothing");
}

int stat_collect(struct stat_job *job)
{
	int rc = series_read(&job->series);

	if (rc < 0)
		return series_error(&job->series, rc);
	update_devices(job);
	job->time = job->started + job->series.time;
	job->seconds = job->series.seconds;
	for (struct number *c = job->series.number; c < stat_end(job); c++) {
		note_lacks(job, c);
		if (c->lost)
			remember_loss(job, c);
	}
	announce_marks(job);
	return 0;
}

/* The sentence of a doubt, printed once, with the first report that shows the mark. */
static char *doubt_sentence(const struct stat_job *job, const struct number *c, enum mark k)
{
	(void)job;
	if (!c->mark[k] || c->reports[k] > 1)
		return NULL;
	return must_print("%s: %s", mark_words(k)->what, c->said[k]);
}

void stat_remember(struct stat_job *job)
{
	for (struct number *c = job->series.number; c < stat_end(job); c++) {
		for (enum mark k = 0; k < MARKS; k++) {
			if (k == PARTIAL || k == SCALED || !number_marked(c, k))
				continue; /* their numbers tell all */
			c->reports[k]++;
			if (k != NO_VALUE || !c->said[k])
				number_say(&c->said[k], series_reason(&job->series, c));
		}
	}
	for (enum mark k = DOUBTS; mark_words(k) && k < SCALED; k++)
		print_by_sentence(job, doubt_sentence, k);
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

static unsigned long number_of_all(const struct stat_job *job)
{
	return job->repeat ? (unsigned long)job->runs : job->reports;
}

static char *end_sentence(const struct stat_job *job, const struct number *c, enum mark k)
{
	const unsigned long without = c->reports[k];

	if (!c->said[k] || cannot_count(c))
		return NULL;
	if (without == number_of_all(job))
		return must_print("no value: %s", c->said[k]);
	if (without == 0 && !job->repeat)
		return must_print("no value after the last report: %s", c->said[k]);
	return must_print("no %s in %lu of %lu %s: %s",
			  job->repeat ? "mean, for it has no value" : "value", without,
			  number_of_all(job), job->repeat ? "runs" : "reports", c->said[k]);
}

/* How many reports had a mark of which the first was announced. */
static char *often_sentence(const struct stat_job *job, const struct number *c, enum mark k)
{
	if (c->reports[k] < 2)
		return NULL;
	return must_print("%s in %lu of %lu %s", mark_words(k)->what, c->reports[k],
			  number_of_all(job), job->repeat ? "runs" : "reports");
}

void stat_lament(const struct stat_job *job)
{
	const struct number *c = series_lost(&job->series);

	remark("%s: %s; lost counters are retried until they can be claimed again", c->item.name,
	       series_reason(&job->series, c));
}

void stat_close(const struct stat_job *job)
{
	if (job->reports == 0)
		remark("note: no interval is reported, because none was long enough for %s",
		       job->passes > 1 ? "all passes" : "a count");
	print_by_sentence(job, end_sentence, NO_VALUE);
	for (enum mark k = DOUBTS; mark_words(k) && k < SCALED; k++)
		print_by_sentence(job, often_sentence, k);
	/* The numbers are right nevertheless. JSON has a member for this. */
	if ((job->args->verbose || !job->args->json) &&
	    *unc_session_unprotected(job->series.session))
		remark("note: sessions of this program and of others do not know of each other: %s",
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

/* A number that was missing in any run has no mean. */
static void compute_mean(struct number *c)
{
	c->spread = NAN;
	c->valid = !c->said[NO_VALUE];
	for (enum mark k = DOUBTS; mark_words(k) && k < SCALED; k++)
		c->mark[k] = c->valid && c->reports[k];
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
		compute_mean(c);
}
