/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: from the session to the numbers of the report, and what is said about them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

struct stat_cell *stat_next(const struct stat_job *job, const struct stat_cell *cell)
{
	size_t n = cell ? (size_t)(cell - job->cell) + 1 : 0;

	while (n < job->n_lines * job->columns && !job->cell[n].name)
		n++;
	return n < job->n_lines * job->columns ? &job->cell[n] : NULL;
}

const struct stat_cell *stat_at(const struct stat_job *job, size_t line, size_t column)
{
	const struct stat_cell *cell = &job->cell[line * job->columns + column];

	return cell->name ? cell : NULL;
}

/* ---- sentences: one for all that it is true of */

typedef char *(*sentence_fn)(const struct stat_job *, const struct stat_cell *);

/* "NAME, NAME: sentence" for each that differs; a cell without a sentence (NULL) is skipped. */
static void say_of_cells(const struct stat_job *job, sentence_fn sentence)
{
	size_t n = job->n_lines * job->columns;
	char **text = must_alloc(NULL, n, sizeof(*text));

	for (size_t i = 0; i < n; i++)
		text[i] = job->cell[i].name ? sentence(job, &job->cell[i]) : NULL;
	for (size_t i = 0; i < n; i++) {
		if (!text[i])
			continue;
		char *names = must_list(NULL, job->cell[i].name);

		for (size_t k = i + 1; k < n; k++) {
			if (!text[k] || strcmp(text[k], text[i]) != 0)
				continue;
			names = must_list(names, job->cell[k].name);
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

static char *what_lacks(const struct stat_job *job, int id)
{
	const char *text = unc_session_partial(job->session, id);

	return *text ? must_print("%s", text) : NULL;
}

/* What the first report will show with a mark, or not at all. */
static char *mark_sentence(const struct stat_job *job, const struct stat_cell *c)
{
	(void)job;
	if (c->told)
		return NULL;
	if (c->id < 0)
		return must_print("%s", c->reason);
	return c->lacks ? must_print("%u of %u units: %s", c->units, c->of, c->lacks) : NULL;
}

int stat_announce(struct stat_job *job)
{
	bool any = false;
	int rc = 0;

	for (struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;) {
		if (!c->lacks)
			c->lacks = what_lacks(job, c->id);
		any |= c->lacks && !c->told;
	}
	if (any) /* a value knows the number of its units */
		rc = stat_collect(job);
	if (rc == 0)
		say_of_cells(job, mark_sentence);
	for (struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;)
		c->told = c->id < 0 || c->lacks;
	return rc;
}

/* ---- reading */

static void keep_reason(struct stat_job *job, struct stat_cell *c, const char *reason, bool lost)
{
	c->reason = must_print("%s", reason);
	job->lost |= lost;
	job->harmed |= lost;
	if (!lost || c->lost)
		return;
	c->lost = true; /* nothing that comes later tells more */
	free(c->why);
	c->why = must_print("%s", reason);
}

static void take_value(struct stat_job *job, struct stat_cell *c, const struct unc_value *v)
{
	bool all = job->interval == 0;

	free(c->reason);
	c->reason = NULL;
	c->units = v->units;
	c->of = v->of;
	c->share = all ? v->share : v->interval_share;
	c->count = all ? v->count : v->delta;
	c->value = all ? v->value : v->interval;
	if (!(v->flags & UNC_VALUE_VALID))
		keep_reason(job, c, unc_session_reason(job->session, c->id),
			    v->flags & UNC_VALUE_LOST);
	else if (!isfinite(c->value)) {
		/* of a denominator it tells for the time since start only */
		const char *why = unc_session_reason(job->session, c->id);

		keep_reason(job, c, *why ? why : "the denominator is 0 in the interval", false);
	}
}

/* Takes over what a read has given, of all items. */
static int take_values(struct stat_job *job)
{
	double total = 0, interval = 0;
	int rc = unc_session_time(job->session, &total, &interval);

	if (rc < 0)
		return library_error(rc, unc_session_error(job->session));
	clock_gettime(CLOCK_REALTIME, &job->clock);
	job->time = job->started + total;
	job->seconds = job->interval == 0 ? total : interval;
	job->lost = false;
	for (struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;)
		if (c->id >= 0)
			take_value(job, c, &job->value[c->id]);
	return 0;
}

int stat_collect(struct stat_job *job)
{
	int rc = unc_session_read(job->session, job->value, job->n_values, sizeof(*job->value));

	if (rc < 0)
		return library_error(rc, unc_session_error(job->session));
	return take_values(job);
}

int stat_poll(struct stat_job *job)
{
	job->overflow.size = sizeof(job->overflow);
	int rc = unc_session_poll(job->session, &job->overflow, job->value, job->n_values,
				  sizeof(*job->value));

	if (rc < 0)
		return library_error(rc, unc_session_error(job->session));
	return job->overflow.id >= 0 ? take_values(job) : 0;
}

void stat_remember(struct stat_cell *c)
{
	if (!c->reason)
		return;
	c->without++;
	if (!c->why)
		c->why = must_print("%s", c->reason);
}

bool stat_complete(const struct stat_job *job)
{
	for (size_t i = 0; i < job->n_values; i++)
		if ((job->value[i].flags & UNC_VALUE_VALID) &&
		    !(job->value[i].flags & UNC_VALUE_FRESH))
			return false;
	return true;
}

/* ---- the end */

static char *end_sentence(const struct stat_job *job, const struct stat_cell *c)
{
	if (!c->why || c->id < 0)
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
	const struct stat_cell *c = NULL;

	while ((c = stat_next(job, c)) != NULL && !(c->reason && c->lost))
		continue;
	if (c)
		remark("%s: %s; counting starts anew at %.3f s, and whenever a counter is lost",
		       c->name, c->reason, job->time);
}

void stat_close(const struct stat_job *job)
{
	if (job->every && job->reports == 0)
		remark("note: no interval has ended: %s counted less than %llu on every unit",
		       job->label[0], (unsigned long long)job->every);
	else if (job->reports == 0)
		remark("note: no interval is reported: none was long enough for %s",
		       job->passes > 1 ? "all passes" : "a count");
	say_of_cells(job, end_sentence);
	/* Its numbers are right all the same. JSON has a member for it. */
	if ((job->args->verbose || !job->args->json) && *unc_session_unprotected(job->session))
		remark("note: sessions of other programs are not known to this one, nor it to "
		       "them: %s",
		       unc_session_unprotected(job->session));
}
