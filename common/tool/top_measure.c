/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command top: one series with the items of a group, of each socket and of all, and with the
 * traffic of the memory on each of its channels. What that needs is counted for the sockets anyway:
 * it takes no counters of its own. Once it is open nothing here needs memory.
 */
#include "top.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening */

/* The column of an item; -1: the group has no such item. */
static int column_of(const struct unc_group *g, const char *name)
{
	for (size_t i = 0; i < g->n_items; i++)
		if (strcmp(g->items[i], name) == 0)
			return (int)i;
	return -1;
}

/* What each socket and all of them do of an item, which some may be without. */
static int add_column(struct top *top, size_t i, const char *text)
{
	struct series *s = &top->series;
	size_t first = s->n;
	int rc = series_add(s, text, UNC_EACH_SOCKET | UNC_EACH_LACKING);

	if (rc == 0 && top->view.rows > top->view.sockets)
		rc = series_add(s, text, UNC_EACH_LACKING);
	if (rc < 0)
		return series_error(s, rc);
	if (s->n - first != top->view.rows)
		return failure("%s is of one place only", text);
	top->view.column[i] = first;
	return 0;
}

/* A metric of a unit type on each of its units. */
static int add_units(struct top *top, const char *type, const char *metric)
{
	struct series *s = &top->series;
	char *name = must_print("%s.%s", type, metric);
	int rc = series_add(s, name, UNC_EACH_UNIT | UNC_EACH_LACKING);

	free(name);
	return series_error(s, rc);
}

/* Whether a metric is what units of a type read, in bytes. */
static bool is_read(const struct unc_metric *metric)
{
	const char *dot = strchr(metric->name, '.');

	return dot && strcmp(dot, ".MEM_BW_READS") == 0 && metric->available &&
	       metric->kind == UNC_METRIC_TOTAL;
}

/* Of each unit of a type the bytes read and written, if units are channels: a socket has
 * several. */
static int add_channels(struct top *top, const char *type)
{
	struct series *s = &top->series;
	struct top_view *v = &top->view;
	size_t first = s->n;
	bool several = false;
	int rc = add_units(top, type, "MEM_BW_READS");
	size_t n = s->n - first;

	if (rc == 0)
		rc = add_units(top, type, "MEM_BW_WRITES");
	for (size_t i = first; rc == 0 && i + 1 < first + n; i++)
		several |= s->number[i].item.at.socket == s->number[i + 1].item.at.socket;
	for (size_t i = first; several && i < first + n; i++) {
		v->channel = must_grow(v->channel, v->channels, sizeof(*v->channel));
		v->channel[v->channels++] = (struct top_channel){i, i + n};
	}
	return rc;
}

static int open_view(struct top *top, const struct unc_group *g)
{
	const struct unc_platform *platform = top->series.platform;
	struct top_view *v = &top->view;
	const struct unc_metric *metric;
	int rc = 0;

	v->machine = unc_platform_cpu(platform)->name;
	v->simulated = unc_platform_simulated(platform);
	v->sockets = (size_t)unc_platform_sockets(platform);
	v->rows = v->sockets + (v->sockets > 1);
	v->columns = g->n_items;
	v->column = must_alloc(NULL, v->columns, sizeof(*v->column));
	v->read = column_of(g, "memory_read_bytes");
	v->write = column_of(g, "memory_write_bytes");
	v->all = column_of(g, "memory_bandwidth");
	v->share = column_of(g, "memory_utilization");
	v->memory = v->read >= 0 && v->write >= 0 && v->all >= 0;
	for (size_t i = 0; rc == 0 && i < v->columns; i++)
		rc = add_column(top, i, g->items[i]);
	for (size_t i = 0; rc == 0 && v->memory && (metric = unc_metric_get(platform, i)); i++)
		if (is_read(metric))
			rc = add_channels(top, metric->of);
	v->passes = unc_session_passes(top->series.session);
	v->number = top->series.number;
	return rc;
}

int top_open(struct top *top, struct unc_platform *platform, const char *group)
{
	const struct unc_group *g;
	int rc = open_group(platform, group, false, &g);

	if (rc == 0)
		rc = series_open(&top->series, platform, UNC_SESSION_ROTATE);
	return rc ? rc : open_view(top, g);
}

void top_close(struct top *top)
{
	series_close(&top->series);
	free(top->view.column);
	free(top->view.channel);
}

/* ---- reading */

/* A note of the first number that has a mark, and how many more have it. */
static void take_note(struct top *top, enum mark k, const struct number *first, size_t n)
{
	const struct series *s = &top->series;
	const char *sentence =
		k == PARTIAL ? unc_session_partial(s->session, first->id) : series_reason(s, first);
	char units[40] = "", more[40] = ""; /* room for the largest numbers */

	if (k == PARTIAL)
		snprintf(units, sizeof(units), "%u of %u units: ", first->units, first->of);
	if (n > 1)
		snprintf(more, sizeof(more), " (and %zu more)", n - 1);
	snprintf(top->view.note[k], TOP_NOTE, "%s %s: %s: %s%s%s", mark_words[k].letter,
		 mark_words[k].what, first->item.name, units, sentence, more);
}

static void take_notes(struct top *top)
{
	const struct number *first[MARKS] = {NULL};
	struct top_view *v = &top->view;
	size_t n[MARKS] = {0};
	char text[CELL_MAX];
	double share = 1;

	for (size_t i = 0; i < v->rows * v->columns; i++) {
		const struct number *c = &v->number[v->column[i % v->columns] + i / v->columns];
		const bool none = !c->valid || !(c->seconds > 0); /* it has no value */

		for (enum mark k = 0; k < MARKS; k++)
			if ((none ? k == NO_VALUE : number_marked(c, k)) && n[k]++ == 0)
				first[k] = c;
		if (c->valid && c->mark[SCALED])
			share = fmin(share, c->share);
	}
	for (enum mark k = 0; k < SCALED; k++)
		if (n[k])
			take_note(top, k, first[k], n[k]);
	if (share < 1)
		snprintf(v->note[SCALED], TOP_NOTE, "%s %s: measured %s %% of the time%s",
			 mark_words[SCALED].letter, mark_words[SCALED].what,
			 percent_text(text, share),
			 v->passes > 1 ? ", in turn with what does not fit at once" : "");
}

int top_read(struct top *top)
{
	struct top_view *v = &top->view;
	int rc = series_read(&top->series, NULL);

	if (rc < 0)
		return rc;
	v->seconds = top->series.seconds;
	clock_text(v->clock, "%H:%M:%S", &top->series.clock);
	for (size_t i = 0; i < MARKS; i++)
		v->note[i][0] = '\0';
	take_notes(top);
	return 0;
}
