/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: the lines of its report, of the items that its options ask for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

/* Who wants an item. Of a group it need not be there; what cannot be counted here is told with the
 * group. */
enum stat_origin { OF_USER, OF_GROUP, OF_GROUP_LACKING };

static bool is_given(const struct stat_job *job, const char *name)
{
	size_t i = 0;

	while (i < job->n_given && strcmp(job->given[i], name) != 0)
		i++;
	return i < job->n_given;
}

static void note_given(struct stat_job *job, const char *name)
{
	job->given = must_grow(job->given, job->n_given, sizeof(*job->given));
	job->given[job->n_given++] = must_print("%s", name);
}

/* What is neither event nor metric: a group's name belongs to -g. */
static int no_item(const struct stat_job *job, const char *text, int error)
{
	struct unc_item item = {.size = sizeof(item)};
	size_t index;

	if (error == UNC_ERR_NOT_FOUND && unc_group_find(job->platform, text, &index) == 0)
		return bad_input("stat: %s is a group, no event or metric: -g %s", text, text);
	unc_item_find(job->platform, text, &item); /* once more, for its sentence */
	return library_error(error, unc_platform_error(job->platform));
}

/* What a group has for other CPUs, or cannot be counted here: that has been told. */
static int add_unknown(struct stat_job *job, const char *text, const char *reason)
{
	size_t n = job->series.n;

	if (is_given(job, text))
		return 0;
	series_add_unknown(&job->series, text, reason);
	job->series.number[n].told = true;
	job->series.number[n].text = n;
	note_given(job, text);
	return 0;
}

/* Places of which each has a line of its own; those that are asked for. */
static unsigned stat_places(const struct args *args)
{
	return args->per_unit     ? UNC_EACH_UNIT
	       : args->per_node   ? UNC_EACH_NODE
	       : args->per_device ? UNC_EACH_DEVICE
				  : 0;
}

/* A device that the user names keeps that name. What shares its port is counted with it. */
static void name_device(struct number *c, const char *text)
{
	snprintf(c->item.name, sizeof(c->item.name), "%s", text);
	snprintf(c->item.base, sizeof(c->item.base), "%s", text);
	if (c->below > 1)
		remark("note: %s: %u devices share the port, and the value is of all of them: %s",
		       text, c->below, c->device);
}

/* An event or a metric, whichever the text names. 0, or the exit status. */
static int add_text(struct stat_job *job, const char *text, enum stat_origin origin)
{
	struct unc_item item = {.size = sizeof(item)};
	size_t first = job->series.n, n = first;
	/* Of several, what a node does not tell is left out alone. */
	unsigned per = origin == OF_USER && !job->args->per_node ? 0 : UNC_EACH_LACKING;
	int rc = unc_item_find(job->platform, text, &item);

	if (rc < 0)
		return origin == OF_GROUP_LACKING
			       ? add_unknown(job, text, unc_platform_error(job->platform))
			       : no_item(job, text, rc);
	unsigned places = item.node >= 0 || item.port >= 0 ? 0 : stat_places(job->args);
	bool each_line = places && item.at.index < 0; /* a line for each place */
	const char *name = item.device[0] ? text : item.name;

	if (!each_line && is_given(job, name))
		return 0;
	per |= each_line ? places : job->args->per_socket ? UNC_EACH_SOCKET : 0;
	rc = series_add(&job->series, text, per);
	if (rc < 0)
		return origin == OF_GROUP_LACKING
			       ? add_unknown(job, text, unc_session_error(job->series.session))
			       : series_error(&job->series, rc);
	if (!each_line)
		note_given(job, name);
	for (size_t i = first; i < job->series.n; i++) {
		struct number *c = &job->series.number[i];

		if (each_line && is_given(job, c->item.name)) {
			free(c->device); /* the report has it already */
			continue;
		}
		if (each_line)
			note_given(job, c->item.name);
		if (item.device[0])
			name_device(c, text);
		c->told = origin == OF_GROUP_LACKING;
		job->series.number[n++] = *c;
	}
	job->series.n = n;
	return 0;
}

/* What can be counted of a group; for programs the rest has its rows as well, with why. */
static int add_group(struct stat_job *job, const char *name)
{
	const struct args *args = job->args;
	bool all = args->json || args->json_lines || args->separator;
	const struct unc_group *group;
	int rc = open_group(job->platform, name, args->verbose, &group);

	for (size_t i = 0; rc == 0 && group->items[i] && (all || i < group->n_items); i++)
		rc = add_text(job, group->items[i],
			      i < group->n_items ? OF_GROUP : OF_GROUP_LACKING);
	return rc;
}

/* The next part of a list; a comma between slashes is of perf's names. */
static char *next_part(char **rest)
{
	char *part = *rest, *end = part;
	bool inside = false;

	if (!part)
		return NULL;
	for (; *end && (inside || *end != ','); end++)
		inside ^= *end == '/';
	*rest = *end ? end + 1 : NULL;
	*end = '\0';
	return part;
}

int stat_add(struct stat_job *job, const struct wish *wish)
{
	char *copy = must_print("%s", wish->list), *rest = copy, *part;
	int rc = 0;

	while (rc == 0 && (part = next_part(&rest)) != NULL)
		if (!part[0])
			rc = bad_input("stat: an empty name in '%s'", wish->list);
		else
			rc = wish->group ? add_group(job, part) : add_text(job, part, OF_USER);
	free(copy);
	return rc;
}
