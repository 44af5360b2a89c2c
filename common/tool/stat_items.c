/* SPDX-License-Identifier: BSD-3-Clause */
/* The command stat: the items that its options ask for. */
#include <stdlib.h>
#include <string.h>

#include "stat.h"

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

/* The name of an item at a place, for the report. 0, or the exit status. */
static int name_at(const struct stat_job *job, const struct unc_item *item,
		   const struct unc_target *at, char name[UNC_SPEC_MAX])
{
	int rc = unc_name_at(job->platform, item->base, at, name, UNC_SPEC_MAX);

	return rc < 0 ? library_error(rc, unc_platform_error(job->platform)) : 0;
}

/* What the memory that a metric is about can move in a second; 0: not known, or it is about no such thing. */
static double peak_of(const struct stat_job *job, const struct unc_item *item, int socket)
{
	static const char *const traffic[] = {"memory_read_bytes", "memory_write_bytes",
					      "memory_bandwidth"};
	double peak;

	for (size_t i = 0; item->metric && i < sizeof(traffic) / sizeof(traffic[0]); i++)
		if (strcmp(item->metric->name, traffic[i]) == 0 &&
		    unc_memory_peak(job->platform, socket, &peak) == 0)
			return peak;
	return 0;
}

/* A socket or a unit may be without what others have: the cell tells. */
static int add_cell(struct stat_job *job, struct stat_cell *cell, const struct unc_item *item,
		    const struct unc_target *at, bool one_of_many)
{
	char name[UNC_SPEC_MAX];
	int rc = name_at(job, item, at, name);

	if (rc)
		return rc;
	cell->name = must_print("%s", name);
	cell->base = must_print("%s", item->base);
	cell->socket = at->socket;
	if (at->index >= 0 && item->units_of)
		cell->unit = must_print("%s%d", item->units_of, at->index);
	cell->metric = item->metric;
	cell->peak = peak_of(job, item, at->socket);
	cell->told = job->lacking;
	rc = unc_session_add_at(job->session, item->base, at, &cell->id);
	if (rc == 0) {
		job->n_values++;
		return 0;
	}
	const char *sentence = unc_session_error(job->session);

	if (!job->lacking && (!one_of_many || (rc != UNC_ERR_UNAVAILABLE && rc != UNC_ERR_RANGE)))
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
static int add_line(struct stat_job *job, const struct unc_item *item, const struct unc_target *at)
{
	struct unc_target there = *at;
	char label[UNC_SPEC_MAX];
	struct stat_cell *cell;
	int rc = name_at(job, item, at, label);

	if (rc || !(cell = new_line(job, label)))
		return rc;
	if (!job->per_socket)
		return add_cell(job, cell, item, at, job->per_unit || job->of_group);
	for (there.socket = 0; rc == 0 && there.socket < (int)job->columns; there.socket++)
		if (at->socket < 0 || at->socket == there.socket)
			rc = add_cell(job, &cell[there.socket], item, &there,
				      at->socket < 0 || job->of_group);
	return rc;
}

/* A line for each unit, or each socket where the item is of no single type of unit. */
static int add_units(struct stat_job *job, const struct unc_item *item)
{
	const char *of = item->units_of;
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
	if (of && rc == 0 && found == 0 && job->of_group)
		return add_line(job, item, &item->at);
	if (of && rc == 0 && found == 0)
		return failure("%s: this machine has no %s units%s", item->base, of,
			       item->at.socket >= 0 ? " on that socket" : "");
	return rc;
}

/* What is neither event nor metric: a group's name belongs to -g. */
static int no_item(const struct stat_job *job, const char *text, int error)
{
	char *sentence = must_print("%s", unc_platform_error(job->platform));
	size_t index;
	int rc;

	if (error == UNC_ERR_NOT_FOUND && unc_group_find(job->platform, text, &index) == 0)
		rc = bad_input("stat: %s is a group, no event or metric: -g %s", text, text);
	else
		rc = library_error(error, sentence);
	free(sentence);
	return rc;
}

/* What a group has for other CPUs. */
static int add_unknown(struct stat_job *job, const char *text, int error)
{
	struct stat_cell *cell = new_line(job, text);

	if (cell)
		*cell = (struct stat_cell){
			.name = must_print("%s", text),
			.base = must_print("%s", text),
			.socket = -1,
			.id = error,
			.reason = must_print("%s", unc_platform_error(job->platform)),
			.told = true};
	return 0;
}

/* An event or a metric, whichever the text names. */
static int add_item(struct stat_job *job, const char *text)
{
	struct unc_item item = {.size = sizeof(item)};
	char name[UNC_SPEC_MAX];
	int rc = unc_item_find(job->platform, text, &item);

	if (rc < 0)
		return job->lacking ? add_unknown(job, text, rc) : no_item(job, text, rc);
	rc = name_at(job, &item, &item.at, name); /* is there such a place? */
	if (rc)
		return rc;
	if (!job->per_unit || item.at.index >= 0 || (item.metric && !item.metric->available))
		return add_line(job, &item, &item.at);
	return add_units(job, &item);
}

/* What can be counted of a group; for programs the rest has its rows as well, with why. */
static int add_group(struct stat_job *job, const char *name)
{
	const struct args *args = job->args;
	bool all = args->json || args->json_lines || args->separator;
	const struct unc_group *group;
	int rc = open_group(job->platform, name, args->verbose, &group);

	job->of_group = true;
	for (size_t i = 0; rc == 0 && group->items[i] && (all || i < group->n_items); i++) {
		job->lacking = i >= group->n_items;
		rc = add_item(job, group->items[i]);
	}
	job->of_group = job->lacking = false;
	return rc;
}

int stat_add(struct stat_job *job, const struct wish *wish)
{
	char *copy = must_print("%s", wish->list), *rest = copy, *part;
	int rc = 0;

	while (rc == 0 && (part = strsep(&rest, ",")) != NULL) {
		size_t line = job->n_lines;

		if (!part[0])
			rc = bad_input("stat: an empty name in '%s'", wish->list);
		else
			rc = wish->group ? add_group(job, part) : add_item(job, part);
		rc = rc ? rc : check_lines(job, line);
	}
	free(copy);
	return rc;
}
