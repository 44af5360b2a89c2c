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

/* Takes over `name`. A socket or a unit may be without what others have: the cell tells. */
static int add_cell(struct stat_job *job, struct stat_cell *cell, const struct unc_metric *metric,
		    char *name, bool one_of_many)
{
	int rc;

	cell->name = name;
	cell->metric = metric;
	if (metric)
		rc = unc_session_add_metric(job->session, name, &cell->id);
	else
		rc = unc_session_add(job->session, name, &cell->id);
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

/* One line: a single number, or one for each socket if none is chosen (socket < 0). */
static int add_line(struct stat_job *job, const char *name, const struct unc_metric *metric,
		    int socket)
{
	struct stat_cell *cell = new_line(job, name);
	int rc = 0;

	if (!cell)
		return 0;
	if (!job->per_socket)
		return add_cell(job, cell, metric, must_print("%s", name), job->per_unit);
	if (socket >= (int)job->columns)
		return bad_input("stat: %s: there are %zu sockets", name, job->columns);
	if (socket >= 0)
		return add_cell(job, &cell[socket], metric, must_print("%s", name), false);
	for (size_t s = 0; rc == 0 && s < job->columns; s++)
		rc = add_cell(job, &cell[s], metric, must_print("%s:socket=%zu", name, s), true);
	return rc;
}

/* The type whose units a type uses. */
static const char *units_of(const struct unc_platform *platform, const char *type)
{
	const struct unc_type *t;

	for (size_t i = 0; (t = unc_type_get(platform, i)) != NULL; i++)
		if (strcmp(t->name, type) == 0)
			return t->units_of;
	return type;
}

/* A line for each unit of a type; `rest` is the name behind type and index. */
static int add_units(struct stat_job *job, const char *type, int socket, const char *rest,
		     const struct unc_metric *metric)
{
	const struct unc_unit *unit;
	const char *of = units_of(job->platform, type);
	size_t found = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && (unit = unc_unit_get(job->platform, i)) != NULL; i++) {
		if (strcmp(unit->type->name, of) != 0 || (socket >= 0 && unit->socket != socket))
			continue;
		char *name = must_print("%s%d%s:socket=%d", type, unit->index, rest, unit->socket);

		found++;
		rc = add_line(job, name, metric, unit->socket);
		free(name);
	}
	if (rc == 0 && found == 0)
		return failure("%s%s: this machine has no %s units%s", type, rest, type,
			       socket >= 0 ? " on that socket" : "");
	return rc;
}

static int add_event(struct stat_job *job, const char *spec)
{
	struct unc_encoding e = {.size = sizeof(e)};
	int rc = unc_event_encode(job->platform, spec, &e);

	if (rc < 0)
		return library_error(rc, unc_platform_error(job->platform));
	const char *rest = strchr(e.name, '.');

	if (!job->per_unit || e.index >= 0 || !rest ||
	    e.socket >=
		    unc_platform_sockets(job->platform)) /* the library knows what is possible */
		return add_line(job, e.name, NULL, e.socket);
	/* The canonical text ends in the socket; the name of each unit has its own. */
	const char *socket = strstr(rest, ":socket=");
	char *name = must_print("%.*s", (int)(socket ? socket - rest : (long)strlen(rest)), rest);

	rc = add_units(job, e.type, e.socket, name, NULL);
	free(name);
	return rc;
}

/* The metric that NAME or TYPE<index>.NAME is, without its socket. *unit: an index is given. */
static const struct unc_metric *metric_of(const struct unc_platform *platform, const char *text,
					  size_t length, bool *unit)
{
	char *name = must_print("%.*s", (int)length, text), *dot, *digits;
	size_t index;
	int rc = find_metric(platform, name, &index);

	*unit = false;
	dot = strchr(name, '.');
	if (rc < 0 && dot) {
		for (digits = dot; digits > name && strchr("0123456789", digits[-1]);)
			digits--;
		memmove(digits, dot, strlen(dot) + 1);
		rc = find_metric(platform, name, &index);
		*unit = true;
	}
	free(name);
	return rc < 0 ? NULL : unc_metric_get(platform, index);
}

/* What stands behind a metric's name: nothing (*socket is -1), or ":socket=N" of this machine. */
static bool parse_socket(const struct unc_platform *platform, const char *text, int *socket)
{
	static const char key[] = ":socket=";
	const char *digits = text + sizeof(key) - 1;
	char *end;

	*socket = -1;
	if (text[0] == '\0')
		return true;
	if (strncmp(text, key, sizeof(key) - 1) != 0 || !strchr("0123456789", digits[0]))
		return false;
	bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	unsigned long value = strtoul(digits, &end, hex ? 16 : 10);

	if (end == digits || *end || value >= (unsigned long)unc_platform_sockets(platform))
		return false;
	*socket = (int)value;
	return true;
}

/* A line for each unit, or each socket where the metric is of no single type of unit. */
static int add_metric_units(struct stat_job *job, const struct unc_metric *m, int socket)
{
	const char *rest = strchr(m->name, '.');
	int rc = 0, sockets = unc_platform_sockets(job->platform);

	if (rest && strcmp(m->of, "portable") != 0)
		return add_units(job, m->of, socket, rest, m);
	for (int s = 0; rc == 0 && s < sockets; s++) {
		if (socket >= 0 && s != socket)
			continue;
		char *name = must_print("%s:socket=%d", m->name, s);

		rc = add_line(job, name, m, s);
		free(name);
	}
	return rc;
}

static int add_metric(struct stat_job *job, const char *text)
{
	size_t length = strcspn(text, ":");
	int id, rc, socket;
	bool unit;
	const struct unc_metric *m = metric_of(job->platform, text, length, &unit);

	if (!m || !parse_socket(job->platform, text + length, &socket)) {
		/* the library knows the nearest name, and what is possible */
		rc = unc_session_add_metric(job->session, text, &id);
		return rc < 0 ? library_error(rc, unc_session_error(job->session))
			      : bad_input("stat: no metric '%s'", text);
	}
	if (job->per_unit && !unit && m->available)
		return add_metric_units(job, m, socket);
	char *name = unit ? must_print("%s", text) : must_print("%s%s", m->name, text + length);

	rc = add_line(job, name, m, socket);
	free(name);
	return rc;
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
