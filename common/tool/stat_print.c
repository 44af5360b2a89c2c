/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: prints a report, in whatever form. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

double stat_rounded(double seconds)
{
	return round(seconds * 1e6) / 1e6;
}

void stat_value(struct printer *p, const char *key, const struct stat_cell *c)
{
	if (c->reason)
		print_null(p, key);
	else if (c->metric || c->mean.n)
		print_number(p, key, c->value);
	else
		print_count(p, key, NULL, c->count);
}

const char *stat_clock(char buf[CELL_MAX], const struct timespec *clock)
{
	char zone[16];
	struct tm local;
	size_t n;

	localtime_r(&clock->tv_sec, &local);
	n = strftime(buf, CELL_MAX, "%Y-%m-%dT%H:%M:%S", &local);
	strftime(zone, sizeof(zone), "%z", &local);
	snprintf(buf + n, CELL_MAX - n, ".%06ld%.3s:%s", clock->tv_nsec / 1000, zone, zone + 3);
	return buf;
}

void stat_remember(struct stat_cell *c)
{
	if (!c->reason)
		return;
	c->without++;
	if (!c->why)
		c->why = must_print("%s", c->reason);
}

/* Whether all of it is where it should be. Who reads no more has seen enough: that is no error to tell. */
static int end_report(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return errno == EPIPE ? BY_SIGNAL + SIGPIPE
			      : failure("cannot write the report: %s", strerror(errno));
}

int stat_report(struct stat_job *job)
{
	struct printer p;

	print_start(&p, job->args, job->platform);
	if (job->args->json_lines)
		p.form = JSON;
	errno = 0; /* that of a write is to be seen, wherever it was */
	if (job->args->json_lines || p.form == SEPARATED)
		stat_rows(job, &p);
	else if (p.form == JSON)
		stat_object(job, &p);
	else
		stat_text(job);
	for (struct stat_cell *c = NULL; !job->repeat && (c = stat_next(job, c)) != NULL;)
		stat_remember(c);
	job->reports++;
	return end_report();
}
