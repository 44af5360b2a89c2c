/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: mean and spread of several runs. */
#include <math.h>
#include <stdlib.h>

#include "stat.h"

/* Sums of squares lose digits where the spread is small: mean and deviations are kept instead
 * (Welford). */
static void mean_add(struct stat_mean *m, double value)
{
	double off = value - m->mean;

	m->mean += off / (double)++m->n;
	m->squares += off * (value - m->mean);
}

/* The standard deviation of the mean, as a share of it: NAN where it has none. */
static double mean_spread(const struct stat_mean *m)
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
	for (struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;) {
		stat_remember(c);
		if (c->reason)
			continue;
		mean_add(&c->mean, c->value);
		c->shares += c->share;
	}
}

/* Of a number that was missing once there is no mean. */
static void sum_up(struct stat_cell *c)
{
	c->spread = NAN;
	free(c->reason);
	c->reason = c->why ? must_print("%s", c->why) : NULL;
	if (c->reason)
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
	for (struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;)
		sum_up(c);
}
