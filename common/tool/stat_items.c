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

/* The type whose units a type uses. */
static const char *units_of(const struct stat_job *job, const char *type)
{
	size_t index;

	if (unc_type_find(job->platform, type, &index) < 0)
		return type;
	return unc_type_get(job->platform, index)->units_of;
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
	cell->base = must_print("%s", item->base);
	cell->socket = at->socket;
	if (at->index >= 0 && item->type)
		cell->unit = must_print("%s%d", units_of(job, item->type), at->index);
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

int stat_add(struct stat_job *job, const struct wish *wish)
{
	int (*add)(struct stat_job *, const char *) = wish->metric ? add_metric : add_event;
	char *copy = must_print("%s", wish->list), *rest = copy, *part;
	int rc = 0;

	while (rc == 0 && (part = strsep(&rest, ",")) != NULL) {
		size_t line = job->n_lines;

		rc = part[0] ? add(job, part)
			     : bad_input("stat: an empty name in '%s'", wish->list);
		rc = rc ? rc : check_lines(job, line);
	}
	free(copy);
	return rc;
}
