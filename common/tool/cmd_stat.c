/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its options. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

static const double round_of_passes = 0.2; /* seconds, when nothing else says how long */

/* A separator cannot contain a line end or a quote: these have a meaning of their own in a row. */
static int check_separator(const char *text)
{
	if (text[0] && !strpbrk(text, "\"\r\n"))
		return ARGS_OK;
	return bad_input("stat: option '-x' needs a separator without quotes and line ends, such "
			 "as a comma or '\\t'");
}

static int parse_stat_options(struct stat_job *job, const struct args *args)
{
	int rc = ARGS_OK;

	job->args = args;
	if (args->interval)
		rc = time_between("stat", "-I", 1000, args->interval, 1, &job->interval);
	if (rc == ARGS_OK && args->duration)
		rc = time_between("stat", "-d", 1, args->duration, 0.001, &job->duration);
	if (rc == ARGS_OK && args->repeat)
		rc = whole_number("stat", "-r", "runs", args->repeat, &job->repeat);
	if (rc != ARGS_OK)
		return rc;
	if (args->separator && (rc = check_separator(args->separator)) != ARGS_OK)
		return rc;
	if (args->json + args->json_lines + (args->separator != NULL) > 1)
		return bad_input("stat: one of -j, --json-lines and -x, not several");
	if (args->per_socket + args->per_unit + args->per_node + args->per_device > 1)
		return bad_input("stat: one of --per-socket, --per-unit, --per-node and "
				 "--per-device, not several");
	if (job->repeat && job->interval > 0)
		return bad_input("stat: -r gives one report of all runs: omit -I");
	if (job->repeat && !args->words && !args->duration)
		return bad_input("stat: -r needs the length of a run: give a COMMAND, or -d");
	return ARGS_OK;
}

/* More events than counters: rotates the passes so that each counts in each interval. */
static int prepare_passes(struct stat_job *job)
{
	double seconds = job->interval > 0 ? job->interval : round_of_passes;

	job->passes = unc_session_passes(job->series.session);
	if (job->passes == 1)
		return 0;
	remark("note: needs %d passes: the counters are too few for all events at once, so each "
	       "pass counts for 1/%d of the time, and values are scaled up to all of it",
	       job->passes, job->passes);
	int rc = unc_session_turns(job->series.session, (unsigned)fmax(1, floor(1000 * seconds)));

	return series_error(&job->series, rc);
}

/* Notes stacks that have one row only, because their root bus is not known. */
static void tell_unknown_devices(const struct stat_job *job)
{
	const struct unc_unit *unit;
	struct unc_stack stack = {.size = sizeof(stack)};

	for (size_t i = 0; (unit = unc_unit_get(job->platform, i)) != NULL; i++)
		if (unc_unit_stack(job->platform, unit, &stack) == UNC_ERR_UNAVAILABLE) {
			remark("note: some stacks have only one row each, because the devices "
			       "below them are not known: %s%d of socket %d: %s; see 'uncore units "
			       "-v'",
			       unit->type->name, unit->index, unit->socket,
			       unc_platform_error(job->platform));
			return;
		}
}

/* If nothing that was asked for can be counted: the first reason. */
static int refuse_empty(const struct stat_job *job)
{
	const struct number *c = job->series.number;

	while (c < stat_end(job) && c->item.error)
		c++;
	if (c < stat_end(job) || c == job->series.number)
		return 0;
	c = job->series.number;
	return library_error(c->item.error, unc_session_reason(job->series.session, c->id));
}

static int prepare_stat(struct stat_job *job)
{
	static const struct wish traffic = {false, "memory_read_bytes,memory_write_bytes"};
	const struct args *args = job->args;
	const struct wish *wish = args->wishes ? args->wish : &traffic;
	int rc = series_open(&job->series, job->platform, UNC_SESSION_ROTATE);

	if (rc)
		return rc;
	job->series.whole = job->interval == 0;
	for (size_t i = 0; i == 0 || i < args->wishes; i++) {
		rc = stat_add(job, &wish[i]);
		if (rc)
			return rc;
	}
	if ((rc = refuse_empty(job)) != 0)
		return rc;
	if (args->per_device)
		tell_unknown_devices(job);
	return prepare_passes(job);
}

static void clean_up(struct stat_job *job)
{
	series_close(&job->series);
	unc_platform_close(job->platform);
	for (size_t i = 0; i < job->n_given; i++)
		free(job->given[i]);
	free(job->given);
	record_end(&job->record);
}

int cmd_stat(struct unc_platform *none, const struct args *args)
{
	struct stat_job job = {.platform = none};
	int rc = parse_stat_options(&job, args);

	if (rc == ARGS_OK)
		rc = open_platform(args, OPEN_MACHINE, &job.platform);
	if (rc == ARGS_OK)
		rc = prepare_stat(&job);
	if (rc == 0 && job.platform)
		rc = stat_run(&job);
	clean_up(&job);
	return rc;
}
