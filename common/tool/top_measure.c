/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command top: one series with the items of a group, of each socket and of all, and with the
 * traffic of the memory on each of its channels. What that needs is counted for the sockets anyway:
 * it takes no counters of its own.
 */
#include "top.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening */

/* The exit status, with a sentence. */
__attribute__((format(printf, 2, 3))) static int fail(struct top *top, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(top->why, sizeof(top->why), format, args);
	va_end(args);
	return EXIT_FAILURE;
}

static int fail_session(struct top *top, int rc)
{
	return rc < 0 ? fail(top, "%s", unc_session_error(top->series.session)) : 0;
}

/* The column of an item; -1: the group has no such item. */
static int column_of(const struct unc_group *g, const char *name)
{
	for (size_t i = 0; i < g->n_items; i++)
		if (strcmp(g->items[i], name) == 0)
			return (int)i;
	return -1;
}

/* What each socket and all of them do of an item, which some may be without; or each device. */
static int add_column(struct top *top, size_t i, const char *text)
{
	struct series *s = &top->series;
	struct top_view *v = &top->view;
	size_t first = s->n;
	unsigned per = v->devices ? UNC_EACH_DEVICE : UNC_EACH_SOCKET;
	int rc = series_add(s, text, per | UNC_EACH_LACKING);

	if (rc == 0 && !v->devices && v->rows > v->sockets)
		rc = series_add(s, text, UNC_EACH_LACKING);
	if (rc < 0)
		return fail_session(top, rc);
	if (v->devices && i == 0)
		v->rows = s->n - first;
	if (s->n - first != v->rows)
		return fail(top, "%s is of %s only", text,
			    v->devices ? "other devices" : "one place");
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
	return fail_session(top, rc);
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

static int open_view(struct top *top, const struct top_page *page, const struct unc_group *g)
{
	const struct unc_platform *platform = top->series.platform;
	struct top_view *v = &top->view;
	const struct unc_metric *metric;
	int rc = 0;

	v->machine = unc_platform_cpu(platform)->name;
	v->page = page->title;
	v->devices = page->per & UNC_EACH_DEVICE;
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
	if (rc == 0 && v->devices)
		v->order = must_alloc(NULL, v->rows, sizeof(*v->order));
	for (size_t row = 0; v->order && row < v->rows; row++)
		v->order[row] = row;
	return rc;
}

int top_open(struct top *top, struct unc_platform *platform, const struct top_page *page)
{
	const struct unc_group *g = NULL;
	size_t index;

	if (unc_group_find(platform, page->group, &index) == 0)
		g = unc_group_get(platform, index);
	if (!g)
		return fail(top, "%s", unc_platform_error(platform));
	if (!g->available)
		return fail(top, "group %s: %s", g->name, g->reason);
	top->series.platform = platform;
	if (unc_session_new(platform, UNC_SESSION_ROTATE, &top->series.session) < 0)
		return fail(top, "%s", unc_platform_error(platform));
	return open_view(top, page, g);
}

void top_close(struct top *top)
{
	series_close(&top->series);
	free(top->view.column);
	free(top->view.order);
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

/* What a row counts in all columns; what has no value counts for nothing. */
static double busy(const struct top_view *v, size_t row)
{
	double sum = 0;

	for (size_t i = 0; i < v->columns; i++) {
		const struct number *n = &v->number[v->column[i] + row];

		sum += n->valid && n->seconds > 0 ? n->value / n->seconds : 0;
	}
	return sum;
}

/* Rows that are as busy stay where they were: a frame is to be read. */
static void sort_rows(struct top_view *v)
{
	for (size_t i = 1; i < v->rows; i++) {
		size_t row = v->order[i], at = i;

		for (; at > 0 && busy(v, v->order[at - 1]) < 0.9 * busy(v, row); at--)
			v->order[at] = v->order[at - 1];
		v->order[at] = row;
	}
}

int top_read(struct top *top)
{
	struct top_view *v = &top->view;
	const struct number *changed;
	int rc = series_read(&top->series);

	if (rc < 0)
		return rc;
	v->seconds = top->series.seconds;
	if (v->devices) { /* they come and go */
		series_devices(&top->series, &changed);
		sort_rows(v);
	}
	clock_text(v->clock, "%H:%M:%S", &top->series.clock);
	for (size_t i = 0; i < MARKS; i++)
		v->note[i][0] = '\0';
	take_notes(top);
	return 0;
}
