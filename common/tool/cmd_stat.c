/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its options, and the items that they ask for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "stat.h"

/* ---- items */

/* The cells of a new line, without anything to count yet; NULL if the report has it already. */
static struct stat_cell *new_line(struct stat_job *job, const char *label)
{
	size_t n = job->n_lines * job->columns;

	for (size_t i = 0; i < job->n_lines; i++)
		if (strcmp(job->label[i], label) == 0)
			return NULL;
	job->label = must_grow(job->label, job->n_lines, sizeof(*job->label));
	job->label[job->n_lines++] = must_print("%s", label);
	job->cell = must_alloc(job->cell, n + job->columns, sizeof(*job->cell));
	memset(&job->cell[n], 0, job->columns * sizeof(*job->cell));
	return &job->cell[n];
}

/* The sentence, without the name that it may begin with. */
static const char *behind_name(const char *sentence, const char *name)
{
	size_t n = strlen(name);

	return strncmp(sentence, name, n) == 0 && strncmp(sentence + n, ": ", 2) == 0
		       ? sentence + n + 2
		       : sentence;
}

/* What an option names. */
struct item {
	const char *base;                /* without its place */
	const struct unc_metric *metric; /* NULL: an event */
	const char *type;                /* of its units; NULL: of several types */
	struct unc_target at;
};

/* The name of an item at a place, for the report. 0, or the exit status. */
static int name_at(const struct stat_job *job, const struct item *item, const struct unc_target *at,
		   char name[UNC_SPEC_MAX])
{
	int rc = unc_name_at(job->platform, item->base, at, name, UNC_SPEC_MAX);

	return rc < 0 ? library_error(rc, unc_platform_error(job->platform)) : 0;
}

/* A socket or a unit may be without what others have: the cell tells. */
static int add_cell(struct stat_job *job, struct stat_cell *cell, const struct item *item,
		    const struct unc_target *at, bool one_of_many)
{
	char name[UNC_SPEC_MAX];
	int rc = name_at(job, item, at, name);

	if (rc)
		return rc;
	cell->name = must_print("%s", name);
	cell->metric = item->metric;
	rc = unc_session_add_at(job->session, item->base, at, &cell->id);
	if (rc == 0) {
		job->n_values++;
		return 0;
	}
	const char *sentence = unc_session_error(job->session);

	if (!one_of_many || (rc != UNC_ERR_UNAVAILABLE && rc != UNC_ERR_RANGE))
		return library_error(rc, sentence);
	cell->id = rc;
	cell->reason = must_print("%s", behind_name(sentence, name));
	return 0;
}

/* An error if nothing can be counted in any cell of the lines from `line` on. */
static int check_lines(const struct stat_job *job, size_t line)
{
	const struct stat_cell *first = NULL;

	for (size_t i = line * job->columns; i < job->n_lines * job->columns; i++) {
		if (job->cell[i].name && job->cell[i].id >= 0)
			return 0;
		if (job->cell[i].name && !first)
			first = &job->cell[i];
	}
	if (!first)
		return 0;
	char *sentence = must_print("%s: %s", first->name, first->reason);
	int rc = library_error(first->id, sentence);

	free(sentence);
	return rc;
}

/* One line: a single number, or one for each socket if none is chosen. */
static int add_line(struct stat_job *job, const struct item *item, const struct unc_target *at)
{
	struct unc_target there = *at;
	char label[UNC_SPEC_MAX];
	struct stat_cell *cell;
	int rc = name_at(job, item, at, label);

	if (rc || !(cell = new_line(job, label)))
		return rc;
	if (!job->per_socket)
		return add_cell(job, cell, item, at, job->per_unit);
	for (there.socket = 0; rc == 0 && there.socket < (int)job->columns; there.socket++)
		if (at->socket < 0 || at->socket == there.socket)
			rc = add_cell(job, &cell[there.socket], item, &there, at->socket < 0);
	return rc;
}

/* The type whose units a type uses. */
static const char *units_of(const struct stat_job *job, const char *type)
{
	size_t index;

	if (unc_type_find(job->platform, type, &index) < 0)
		return type;
	return unc_type_get(job->platform, index)->units_of;
}

/* A line for each unit, or each socket where the item is of no single type of unit. */
static int add_units(struct stat_job *job, const struct item *item)
{
	const char *of = item->type ? units_of(job, item->type) : NULL;
	struct unc_target at = item->at;
	const struct unc_unit *unit;
	size_t found = 0;
	int rc = 0, sockets = unc_platform_sockets(job->platform);

	for (at.socket = 0; !of && rc == 0 && at.socket < sockets; at.socket++)
		if (item->at.socket < 0 || item->at.socket == at.socket)
			rc = add_line(job, item, &at);
	for (size_t i = 0; of && rc == 0 && (unit = unc_unit_get(job->platform, i)) != NULL; i++) {
		if (strcmp(unit->type->name, of) != 0 ||
		    (item->at.socket >= 0 && unit->socket != item->at.socket))
			continue;
		at.socket = unit->socket;
		at.index = unit->index;
		rc = add_line(job, item, &at);
		found++;
	}
	if (of && rc == 0 && found == 0)
		return failure("%s: this machine has no %s units%s", item->base, item->type,
			       item->at.socket >= 0 ? " on that socket" : "");
	return rc;
}

static int add_item(struct stat_job *job, const struct item *item)
{
	char name[UNC_SPEC_MAX];
	int rc = name_at(job, item, &item->at, name); /* is there such a place? */

	if (rc)
		return rc;
	if (!job->per_unit || item->at.index >= 0 || (item->metric && !item->metric->available))
		return add_line(job, item, &item->at);
	return add_units(job, item);
}

static int add_event(struct stat_job *job, const char *text)
{
	struct unc_encoding e = {.size = sizeof(e)};
	int rc = unc_event_encode(job->platform, text, &e);

	if (rc < 0)
		return library_error(rc, unc_platform_error(job->platform));
	return add_item(job, &(struct item){.base = e.base,
					    .type = e.type,
					    .at = {sizeof(struct unc_target), e.socket, e.index}});
}

static int add_metric(struct stat_job *job, const char *text)
{
	struct item item = {.at = {.size = sizeof(item.at)}};
	size_t index;
	int rc = unc_metric_find(job->platform, text, &index, &item.at);

	if (rc < 0)
		return library_error(rc, unc_platform_error(job->platform));
	item.metric = unc_metric_get(job->platform, index);
	item.base = item.metric->name;
	item.type = strcmp(item.metric->of, "portable") == 0 ? NULL : item.metric->of;
	return add_item(job, &item);
}

/* Each part of a list with commas. */
static int add_list(struct stat_job *job, const char *list,
		    int (*add)(struct stat_job *, const char *))
{
	char *copy = must_print("%s", list), *rest = copy, *part;
	int rc = 0;

	while (rc == 0 && (part = strsep(&rest, ",")) != NULL) {
		size_t line = job->n_lines;

		rc = part[0] ? add(job, part) : bad_input("stat: an empty name in '%s'", list);
		rc = rc ? rc : check_lines(job, line);
	}
	free(copy);
	return rc;
}

/* ---- options */

static const double look = 0.001; /* seconds between looks whether an interval has ended */

/* A number of at least `least`. ARGS_OK, or the exit status. */
static int parse_time(const char *option, const char *text, double least, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(text, &end);
	if (end == text || *end || errno || !(*out >= least && *out <= 1e9))
		return bad_input("stat: option '%s' needs a number from %g to 1e9, not '%s'",
				 option, least, text);
	return ARGS_OK;
}

static int parse_every(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	if (end == text || *end || errno || *out == 0 || text[0] == '-')
		return bad_input("stat: option '--every' needs a number of counts from 1, not '%s'",
				 text);
	return ARGS_OK;
}

static int parse_options(struct stat_job *job, const struct args *args)
{
	int rc = ARGS_OK;

	job->args = args;
	job->per_socket = args->per_socket;
	job->per_unit = args->per_unit;
	if (args->interval)
		rc = parse_time("-I", args->interval, 1, &job->interval);
	job->interval /= 1000;
	if (rc == ARGS_OK && args->duration)
		rc = parse_time("-d", args->duration, 0.001, &job->duration);
	if (rc == ARGS_OK && args->every)
		rc = parse_every(args->every, &job->every);
	if (rc != ARGS_OK)
		return rc;
	if (args->separator && !args->separator[0])
		return bad_input("stat: option '-x' needs a separator");
	if (args->json && args->separator)
		return bad_input("stat: either -j or -x, not both");
	if (job->per_socket && job->per_unit)
		return bad_input("stat: either --per-socket or --per-unit, not both");
	if (job->every && (job->interval > 0 || job->per_socket || job->per_unit))
		return bad_input("stat: --every ends intervals by an event: no -I, --per-socket or "
				 "--per-unit with it");
	if (args->freeze && !job->every)
		return bad_input("stat: --freeze goes with --every");
	if (job->every)
		job->interval = look;
	return ARGS_OK;
}

/* The first event ends the intervals. */
static int prepare_every(struct stat_job *job)
{
	const struct stat_cell *first = stat_next(job, NULL);

	if (!first || first->metric)
		return bad_input("stat: --every needs an event: -e EVENT first, then what is to be "
				 "counted beside it");
	int rc = unc_session_sample(job->session, first->id, job->every);
	return rc < 0 ? library_error(rc, unc_session_error(job->session)) : 0;
}

static int prepare(struct stat_job *job)
{
	static const struct wish traffic = {true, "memory_read_bytes,memory_write_bytes"};
	const struct args *args = job->args;
	const struct wish *wish = args->wishes ? args->wish : &traffic;
	unsigned flags = !job->every ? UNC_SESSION_ROTATE : args->freeze ? UNC_SESSION_FREEZE : 0;
	int rc = unc_session_new(job->platform, flags, &job->session);

	if (rc < 0)
		return library_error(rc, unc_platform_error(job->platform));
	job->columns = 1;
	if (job->per_socket && unc_platform_sockets(job->platform) > 0)
		job->columns = (size_t)unc_platform_sockets(job->platform);
	for (size_t i = 0; i == 0 || i < args->wishes; i++) {
		rc = add_list(job, wish[i].list, wish[i].metric ? add_metric : add_event);
		if (rc)
			return rc;
	}
	job->passes = unc_session_passes(job->session);
	if (job->passes > 1)
		remark("note: needs %d passes: what does not fit at once is measured in turn, 1/%d "
		       "of the time each, and scaled to all of it",
		       job->passes, job->passes);
	job->value = must_alloc(NULL, job->n_values, sizeof(*job->value));
	return job->every ? prepare_every(job) : 0;
}

static void clean_up(struct stat_job *job)
{
	unc_session_free(job->session);
	unc_platform_close(job->platform);
	for (struct stat_cell *c = NULL; (c = stat_next(job, c)) != NULL;) {
		free(c->name);
		free(c->lacks);
		free(c->reason);
		free(c->why);
	}
	for (size_t i = 0; i < job->n_lines; i++)
		free(job->label[i]);
	free(job->label);
	free(job->cell);
	free(job->value);
	if (job->table)
		table_free(job->table);
}

int cmd_stat(struct unc_platform *none, const struct args *args)
{
	struct stat_job job = {.platform = none};
	int rc = parse_options(&job, args);

	if (rc == ARGS_OK)
		rc = open_machine(args, &job.platform);
	if (rc == ARGS_OK)
		rc = prepare(&job);
	if (rc == 0 && job.platform)
		rc = stat_run(&job);
	clean_up(&job);
	return rc;
}
