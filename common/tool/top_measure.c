/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command top: one session with the items of a group, of each socket and of all, and with the
 * events that make up the traffic of the memory on each of its channels. These are counted for the
 * sockets anyway: they take no counters of their own. Once it is open nothing here needs memory.
 */
#include "top.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output.h"

/* What a metric needs of one channel. */
struct part {
	size_t channel;
	bool write;  /* of memory_write_bytes */
	size_t need; /* which one */
	size_t at;   /* in the series */
};

struct top {
	struct series series;
	struct top_view view;
	struct top_column *column;
	struct part *part;
	size_t parts;
	struct unc_count *count[2]; /* what memory_read_bytes and memory_write_bytes need */
	size_t needs[2];
};

static const char *const traffic_metrics[] = {"memory_read_bytes", "memory_write_bytes"};

struct series *top_series(struct top *top)
{
	return &top->series;
}

const struct top_view *top_view(const struct top *top)
{
	return &top->view;
}

/* ---- opening */

/* Column `i` of the view, of the numbers from `first` on. */
static void make_column(struct top *top, size_t i, const char *name, size_t first)
{
	const struct number *n = &top->series.number[first];
	const struct unc_metric *metric = n->item.metric;
	struct top_view *v = &top->view;
	const struct {
		const char *name;
		int *column;
	} known[] = {{traffic_metrics[0], &v->read},
		     {traffic_metrics[1], &v->write},
		     {"memory_bandwidth", &v->all},
		     {"memory_utilization", &v->share}};

	top->column[i] = (struct top_column){
		.name = name,
		.unit = metric ? metric->unit : "count",
		.total = !metric || metric->kind == UNC_METRIC_TOTAL,
	};
	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
		if (strcmp(name, known[k].name) == 0)
			*known[k].column = (int)i;
	for (size_t row = 0; row < v->rows; row++) {
		v->number[row * v->columns + i].at = first + row;
		if (v->read == (int)i)
			v->peak[row] = n[row].peak;
	}
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
		return library_error(rc, unc_session_error(s->session));
	if (s->n - first != top->view.rows)
		return failure("%s is of one place only", text);
	make_column(top, i, text, first);
	return 0;
}

/* The channel that a unit is, perhaps a new one. */
static size_t channel_of(struct top *top, const struct unc_item *item)
{
	const struct unc_target *at = &item->at;
	struct top_view *v = &top->view;
	size_t i = 0;

	while (i < v->channels &&
	       (v->channel[i].socket != at->socket || v->channel[i].index != at->index ||
		strcmp(v->channel[i].type, item->units_of) != 0))
		i++;
	if (i < v->channels)
		return i;
	v->channel = must_grow(v->channel, i, sizeof(*v->channel));
	v->channel[v->channels++] = (struct top_channel){
		.type = item->units_of, .socket = at->socket, .index = at->index};
	return i;
}

/* Counts a needed event on each unit, if units are channels: each counts its own share, and a
 * socket has several. */
static int add_parts(struct top *top, bool write, size_t need, const char *event)
{
	struct unc_encoding e = {.size = sizeof(e)};
	struct series *s = &top->series;
	size_t first = s->n;
	bool several = false;
	int rc = unc_event_encode(s->platform, event, &e);

	if (rc < 0)
		return library_error(rc, unc_platform_error(s->platform));
	if (e.aggregate != UNC_AGGREGATE_SUM)
		return 0;
	rc = series_add(s, event, UNC_EACH_UNIT | UNC_EACH_LACKING);
	if (rc < 0)
		return library_error(rc, unc_session_error(s->session));
	for (size_t i = first; i + 1 < s->n; i++)
		several |= s->number[i].item.at.socket == s->number[i + 1].item.at.socket;
	for (size_t i = first; several && i < s->n; i++) {
		top->part = must_grow(top->part, top->parts, sizeof(*top->part));
		top->part[top->parts++] =
			(struct part){channel_of(top, &s->number[i].item), write, need, i};
	}
	return 0;
}

/* What the traffic of a channel is made of. */
static int add_channels(struct top *top, bool write)
{
	const struct unc_platform *platform = top->series.platform;
	const char *need;
	size_t metric;
	int rc = unc_metric_find(top->series.platform, traffic_metrics[write], &metric, NULL);

	if (rc < 0)
		return library_error(rc, unc_platform_error(platform));
	for (size_t i = 0; rc == 0 && (need = unc_metric_need(platform, metric, i)); i++) {
		top->count[write] = must_grow(top->count[write], i, sizeof(struct unc_count));
		top->count[write][top->needs[write]++] = (struct unc_count){.event = need};
		rc = add_parts(top, write, i, need);
	}
	return rc;
}

static int open_view(struct top *top, const struct unc_group *g)
{
	const struct unc_platform *platform = top->series.platform;
	struct top_view *v = &top->view;
	int rc = 0;

	v->machine = unc_platform_cpu(platform)->name;
	v->simulated = unc_platform_simulated(platform);
	v->sockets = (size_t)unc_platform_sockets(platform);
	v->rows = v->sockets + (v->sockets > 1);
	v->columns = g->n_items;
	v->column = top->column = must_alloc(NULL, v->columns, sizeof(*v->column));
	v->number = must_alloc(NULL, v->rows * v->columns, sizeof(*v->number));
	v->peak = must_alloc(NULL, v->rows, sizeof(*v->peak));
	v->note = must_alloc(NULL, TOP_NOTES, sizeof(*v->note));
	v->read = v->write = v->all = v->share = -1;
	for (size_t i = 0; rc == 0 && i < v->columns; i++)
		rc = add_column(top, i, g->items[i]);
	for (int write = 0; rc == 0 && v->read >= 0 && v->write >= 0 && write < 2; write++)
		rc = add_channels(top, write);
	v->passes = unc_session_passes(top->series.session);
	return rc;
}

int top_open(struct unc_platform *platform, const char *group, struct top **out)
{
	const struct unc_group *g;
	int rc = open_group(platform, group, false, &g);

	if (rc)
		return rc;
	*out = must_alloc(NULL, 1, sizeof(**out));
	rc = series_open(&(*out)->series, platform, UNC_SESSION_ROTATE);
	return rc ? rc : open_view(*out, g);
}

void top_close(struct top *top)
{
	if (!top)
		return;
	series_close(&top->series);
	for (size_t k = 0; k < 2; k++)
		free(top->count[k]);
	free(top->column);
	free(top->part);
	free(top->view.number);
	free(top->view.peak);
	free(top->view.channel);
	free(top->view.note);
	free(top);
}

/* ---- reading */

/* Numbers of which the same is to be said. */
struct found {
	const struct number *first;
	size_t n;
};

static void find(struct found *found, const struct number *n)
{
	if (found->n++ == 0)
		found->first = n;
}

static const char *and_more(char buf[CELL_MAX], const struct found *found)
{
	snprintf(buf, CELL_MAX, found->n > 1 ? " (and %zu more)" : "", found->n - 1);
	return buf;
}

static void take_number(const struct top *top, struct top_number *out, bool total)
{
	const struct number *n = &top->series.number[out->at];
	double seconds = top->view.seconds;

	out->valid = n->valid && seconds > 0;
	out->partial = n->partial;
	out->scaled = n->scaled;
	out->value = total ? n->value / seconds : n->value;
}

static void take_numbers(struct top *top, bool *lost)
{
	const struct series *s = &top->series;
	struct found none = {.n = 0}, partial = {.n = 0};
	struct top_view *v = &top->view;
	char text[CELL_MAX];
	double share = 1;

	for (size_t i = 0; i < v->rows * v->columns; i++) {
		const struct number *n = &s->number[v->number[i].at];

		take_number(top, &v->number[i], v->column[i % v->columns].total);
		if (!v->number[i].valid)
			find(&none, n);
		else if (n->partial)
			find(&partial, n);
		if (n->valid && n->scaled)
			share = fmin(share, n->share);
		*lost |= n->lost;
	}
	if (none.n)
		snprintf(v->note[NOTE_NO_VALUE], TOP_NOTE, "- no value: %s: %s%s",
			 none.first->item.name, series_reason(s, none.first),
			 and_more(text, &none));
	if (partial.n)
		snprintf(v->note[NOTE_PARTIAL], TOP_NOTE,
			 "* of fewer units: %s: %u of %u units: %s%s", partial.first->item.name,
			 partial.first->units, partial.first->of,
			 unc_session_partial(s->session, partial.first->id),
			 and_more(text, &partial));
	if (share < 1)
		snprintf(v->note[NOTE_SCALED], TOP_NOTE, "~ scaled: measured %s %% of the time%s",
			 percent_text(text, share),
			 v->passes > 1 ? ", in turn with what does not fit at once" : "");
}

/* The metric of one channel: of what it needs, that which this unit counted. */
static void take_channel(struct top *top, size_t channel, bool write)
{
	struct top_channel *c = &top->view.channel[channel];
	struct top_number *out = write ? &c->write : &c->read;
	struct unc_count *count = top->count[write];
	bool valid = true;
	double value = 0;
	size_t parts = 0;

	*out = (struct top_number){.at = 0};
	for (size_t i = 0; i < top->needs[write]; i++)
		count[i].value = 0;
	for (size_t i = 0; i < top->parts; i++) {
		const struct part *part = &top->part[i];
		struct top_number n = {.at = part->at};

		if (part->channel != channel || part->write != write)
			continue;
		take_number(top, &n, true);
		valid &= n.valid;
		out->scaled |= n.scaled;
		count[part->need].value = n.value;
		parts++;
	}
	if (!valid || parts == 0 ||
	    unc_metric_eval(top->series.platform, traffic_metrics[write], count, top->needs[write],
			    sizeof(*count), &value) < 0)
		return;
	out->valid = true;
	out->value = value;
}

int top_read(struct top *top, bool *lost)
{
	struct top_view *v = &top->view;
	struct tm tm;
	int rc = series_read(&top->series, NULL);

	if (rc < 0)
		return rc;
	v->seconds = top->series.seconds;
	strftime(v->clock, sizeof(v->clock), "%H:%M:%S",
		 localtime_r(&top->series.clock.tv_sec, &tm));
	for (size_t i = 0; i < TOP_NOTES; i++)
		v->note[i][0] = '\0';
	*lost = false;
	take_numbers(top, lost);
	for (size_t i = 0; i < v->channels; i++)
		for (int write = 0; write < 2; write++)
			take_channel(top, i, write);
	if (*lost)
		snprintf(v->note[NOTE_LOST], TOP_NOTE, "A counter was lost; counting starts anew");
	return 0;
}
