/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: its options, and the items that they ask for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "stat.h"

/* ---- items */

/* A line for the report, without anything to count yet; NULL if there is one already. */
static struct stat_item *new_item(struct stat_job *job, const char *label)
{
	struct stat_item *item;

	for (size_t i = 0; i < job->n_items; i++)
		if (strcmp(job->item[i].label, label) == 0)
			return NULL;
	job->item = must_alloc(job->item, job->n_items + 1, sizeof(*job->item));
	item = &job->item[job->n_items++];
	*item = (struct stat_item){.label = must_print("%s", label)};
	item->id = must_alloc(NULL, job->columns, sizeof(*item->id));
	item->name = must_alloc(NULL, job->columns, sizeof(*item->name));
	item->number = must_alloc(NULL, job->columns, sizeof(*item->number));
	for (size_t i = 0; i < job->columns; i++) {
		item->id[i] = -1;
		item->name[i] = NULL;
		item->number[i] = (struct stat_number){0};
	}
	return item;
}

/* Takes over `name`. */
static int add_cell(struct stat_job *job, struct stat_item *item, size_t column, char *name)
{
	int rc;

	item->name[column] = name;
	if (item->metric)
		rc = unc_session_add_metric(job->session, name, &item->id[column]);
	else
		rc = unc_session_add(job->session, name, &item->id[column]);
	if (rc < 0)
		return library_error(rc, unc_session_error(job->session));
	job->n_values++;
	return 0;
}

/* One line: a single number, or one for each socket if none is chosen (socket < 0). */
static int add_line(struct stat_job *job, const char *name, const struct unc_metric *metric,
		    int socket)
{
	struct stat_item *item = new_item(job, name);
	int rc = 0;

	if (!item)
		return 0;
	item->metric = metric;
	if (!job->per_socket)
		return add_cell(job, item, 0, must_print("%s", name));
	if (socket >= (int)job->columns)
		return bad_input("stat: %s: there are %zu sockets", name, job->columns);
	if (socket >= 0)
		return add_cell(job, item, (size_t)socket, must_print("%s", name));
	for (size_t s = 0; rc == 0 && s < job->columns; s++)
		rc = add_cell(job, item, s, must_print("%s:socket=%zu", name, s));
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

/* A line for each unit of a type that can be read; `rest` is the name behind type and index. */
static int add_units(struct stat_job *job, const char *type, int socket, const char *rest,
		     const struct unc_metric *metric)
{
	const struct unc_unit *unit;
	const char *reason = NULL, *of = units_of(job->platform, type);
	size_t hidden = 0, found = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && (unit = unc_unit_get(job->platform, i)) != NULL; i++) {
		if (strcmp(unit->type->name, of) != 0 || (socket >= 0 && unit->socket != socket))
			continue;
		found++;
		if (!unit->available) {
			hidden++;
			reason = unit->reason;
			continue;
		}
		char *name = must_print("%s%d%s:socket=%d", type, unit->index, rest, unit->socket);

		rc = add_line(job, name, metric, unit->socket);
		free(name);
	}
	if (rc == 0 && found == hidden)
		return failure("%s: no unit can be read%s%s", type, reason ? ": " : "",
			       reason ? reason : "");
	if (rc == 0 && hidden)
		fprintf(stderr, "uncore: note: %zu of %zu %s units cannot be read: %s\n", hidden,
			found, type, reason);
	return rc;
}

static int add_event(struct stat_job *job, const char *spec)
{
	struct unc_encoding e = {.size = sizeof(e)};
	int rc = unc_event_encode(job->platform, spec, &e);

	if (rc < 0)
		return library_error(rc, unc_platform_error(job->platform));
	const char *rest = strchr(e.name, '.');

	if (!job->per_unit || e.index >= 0 || !rest)
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
	const char *at = strstr(text + length, ":socket=");
	int id, rc, socket = at ? (int)strtol(at + strlen(":socket="), NULL, 0) : -1;
	bool unit;
	const struct unc_metric *m = metric_of(job->platform, text, length, &unit);

	if (!m) { /* the library knows the nearest name */
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

	while (rc == 0 && (part = strsep(&rest, ",")) != NULL)
		rc = part[0] ? add(job, part) : bad_input("stat: an empty name in '%s'", list);
	free(copy);
	return rc;
}

/* ---- options */

enum { OPT_PER_SOCKET = 256, OPT_PER_UNIT, OPT_EVERY, OPT_FREEZE };

static const double look = 0.001; /* seconds between looks whether an interval has ended */

/* What -e and -m ask for, in the order given. */
struct wish {
	bool metric;
	const char *list;
};

struct wishes {
	struct wish *wish;
	size_t n;
};

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

static void add_wish(struct wishes *wishes, bool metric, const char *list)
{
	wishes->wish = must_alloc(wishes->wish, wishes->n + 1, sizeof(*wishes->wish));
	wishes->wish[wishes->n++] = (struct wish){metric, list};
}

static int take_option(struct stat_job *job, struct wishes *wishes, int opt, char **argv)
{
	int rc = ARGS_OK;

	switch (opt) {
	case 'e':
	case 'm':
		add_wish(wishes, opt == 'm', optarg);
		break;
	case 'I':
		rc = parse_time("-I", optarg, 1, &job->interval);
		job->interval /= 1000;
		break;
	case 'd':
		rc = parse_time("-d", optarg, 0.001, &job->duration);
		break;
	case 'x':
		job->separator = optarg;
		if (!optarg[0])
			rc = bad_input("stat: option '-x' needs a separator");
		break;
	case 'o':
		job->output = optarg;
		break;
	case OPT_PER_SOCKET:
		job->per_socket = true;
		break;
	case OPT_PER_UNIT:
		job->per_unit = true;
		break;
	case OPT_FREEZE:
		job->freeze = true;
		break;
	case OPT_EVERY:
		rc = parse_every(optarg, &job->every);
		break;
	default:
		rc = args_option(&job->args, opt, argv);
	}
	return rc;
}

static int parse_options(struct stat_job *job, struct wishes *wishes, int argc, char **argv)
{
	static const struct option options[] = {
		ARGS_LONG,
		{"event", required_argument, NULL, 'e'},
		{"metric", required_argument, NULL, 'm'},
		{"interval", required_argument, NULL, 'I'},
		{"duration", required_argument, NULL, 'd'},
		{"separator", required_argument, NULL, 'x'},
		{"output", required_argument, NULL, 'o'},
		{"per-socket", no_argument, NULL, OPT_PER_SOCKET},
		{"per-unit", no_argument, NULL, OPT_PER_UNIT},
		{"every", required_argument, NULL, OPT_EVERY},
		{"freeze", no_argument, NULL, OPT_FREEZE},
		{NULL, 0, NULL, 0},
	};
	int opt, rc;

	while ((opt = getopt_long(argc, argv, "+" ARGS_SHORT "e:m:I:d:x:o:", options, NULL)) !=
	       -1) {
		rc = take_option(job, wishes, opt, argv);
		if (rc != ARGS_OK)
			return rc;
	}
	if (job->args.cpu)
		return bad_input("stat takes no option '-c': it counts on this machine, or on the "
				 "simulated one that UNCORE_SIM=CPU names");
	if (job->args.json && job->separator)
		return bad_input("stat: either -j or -x, not both");
	if (job->per_socket && job->per_unit)
		return bad_input("stat: either --per-socket or --per-unit, not both");
	if (job->every && (job->interval > 0 || job->per_socket || job->per_unit))
		return bad_input("stat: --every ends intervals by an event: no -I, --per-socket or "
				 "--per-unit with it");
	if (job->freeze && !job->every)
		return bad_input("stat: --freeze goes with --every");
	if (job->every)
		job->interval = look;
	job->command = argv[optind] ? argv + optind : NULL;
	return ARGS_OK;
}

/* The first event ends the intervals. */
static int prepare_every(struct stat_job *job)
{
	const struct stat_item *first = job->n_items ? &job->item[0] : NULL;

	if (!first || first->metric)
		return bad_input("stat: --every needs an event: -e EVENT first, then what is to be "
				 "counted beside it");
	int rc = unc_session_sample(job->session, first->id[0], job->every);
	return rc < 0 ? library_error(rc, unc_session_error(job->session)) : 0;
}

static int prepare(struct stat_job *job, struct wishes *wishes)
{
	unsigned flags = !job->every ? UNC_SESSION_ROTATE : job->freeze ? UNC_SESSION_FREEZE : 0;
	int rc = unc_session_new(job->platform, flags, &job->session);

	if (rc < 0)
		return library_error(rc, unc_platform_error(job->platform));
	job->columns = 1;
	if (job->per_socket && unc_platform_sockets(job->platform) > 0)
		job->columns = (size_t)unc_platform_sockets(job->platform);
	if (wishes->n == 0)
		add_wish(wishes, true, "memory_read_bytes,memory_write_bytes");
	for (size_t i = 0; i < wishes->n; i++) {
		rc = add_list(job, wishes->wish[i].list,
			      wishes->wish[i].metric ? add_metric : add_event);
		if (rc)
			return rc;
	}
	job->passes = unc_session_passes(job->session);
	if (job->passes > 1)
		fprintf(stderr,
			"uncore: note: needs %d passes: each is measured 1/%d of the time, "
			"counts are scaled to all of it\n",
			job->passes, job->passes);
	job->value = must_alloc(NULL, job->n_values, sizeof(*job->value));
	return job->every ? prepare_every(job) : 0;
}

static void clean_up(struct stat_job *job, struct wishes *wishes)
{
	unc_session_free(job->session);
	unc_platform_close(job->platform);
	for (size_t i = 0; i < job->n_items; i++) {
		for (size_t k = 0; k < job->columns; k++)
			free(job->item[i].name[k]);
		free(job->item[i].name);
		free(job->item[i].number);
		free(job->item[i].id);
		free(job->item[i].label);
	}
	free(job->item);
	free(job->value);
	free(wishes->wish);
	if (job->table)
		table_free(job->table);
}

int cmd_stat(int argc, char **argv)
{
	struct stat_job job = {0};
	struct wishes wishes = {0};
	int rc = parse_options(&job, &wishes, argc, argv);

	if (rc == ARGS_OK)
		rc = open_machine(&job.args, &job.platform);
	if (rc == ARGS_OK)
		rc = prepare(&job, &wishes);
	if (rc == 0 && job.platform)
		rc = stat_run(&job);
	clean_up(&job, &wishes);
	return rc;
}
