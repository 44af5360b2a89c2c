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

static int add_column(struct top *top, const char *text)
{
	struct top_view *v = &top->view;
	const struct {
		const char *name;
		int *column;
	} known[] = {{traffic_metrics[0], &v->read},
		     {traffic_metrics[1], &v->write},
		     {"memory_bandwidth", &v->all},
		     {"memory_utilization", &v->share}};
	struct unc_item item = {.size = sizeof(item)};
	int rc = unc_item_find(top->series.platform, text, &item);

	if (rc < 0)
		return library_error(rc, unc_platform_error(top->series.platform));
	top->column = must_grow(top->column, v->columns, sizeof(*top->column));
	top->column[v->columns] = (struct top_column){
		.name = must_print("%s", text),
		.unit = item.metric ? item.metric->unit : "count",
		.total = !item.metric || item.metric->kind == UNC_METRIC_TOTAL,
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(text, known[i].name) == 0)
			*known[i].column = (int)v->columns;
	v->columns++;
	return 0;
}

/* The numbers of a column, some of which a socket may be without. */
static int add_numbers(struct top *top, size_t column)
{
	struct series *s = &top->series;
	struct top_view *v = &top->view;
	size_t n = s->n;
	int rc = series_add(s, v->column[column].name, UNC_EACH_SOCKET | UNC_EACH_LACKING);

	if (rc == 0 && v->rows > v->sockets)
		rc = series_add(s, v->column[column].name, UNC_EACH_LACKING);
	for (; rc == 0 && n < s->n; n++) {
		int socket = s->number[n].item.at.socket;
		size_t row = socket < 0 ? v->sockets : (size_t)socket;

		v->number[row * v->columns + column].at = n;
		if (column == (size_t)v->read)
			v->peak[row] = s->number[n].peak;
	}
	return rc < 0 ? library_error(rc, unc_session_error(s->session)) : 0;
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

/* The rows and columns of the view, without numbers. */
static int open_view(struct top *top, const char *group)
{
	const struct unc_platform *platform = top->series.platform;
	struct top_view *v = &top->view;
	const struct unc_group *g;
	int rc = open_group(top->series.platform, group, false, &g);

	if (rc)
		return rc;
	v->machine = unc_platform_cpu(platform)->name;
	v->simulated = unc_platform_simulated(platform);
	v->sockets = (size_t)unc_platform_sockets(platform);
	v->rows = v->sockets + (v->sockets > 1);
	v->read = v->write = v->all = v->share = -1;
	for (size_t i = 0; rc == 0 && i < g->n_items; i++)
		rc = add_column(top, g->items[i]);
	v->column = top->column;
	v->number = must_alloc(NULL, v->rows * v->columns, sizeof(*v->number));
	v->peak = must_alloc(NULL, v->rows, sizeof(*v->peak));
	v->note = must_alloc(NULL, TOP_NOTES, sizeof(*v->note));
	return rc;
}

int top_open(struct unc_platform *platform, const char *group, struct top **out)
{
	struct top *top = must_alloc(NULL, 1, sizeof(*top));
	struct top_view *v = &top->view;
	int rc;

	*out = top;
	rc = series_open(&top->series, platform, UNC_SESSION_ROTATE);
	if (rc == 0)
		rc = open_view(top, group);
	for (size_t i = 0; rc == 0 && i < v->columns; i++)
		rc = add_numbers(top, i);
	for (int write = 0; rc == 0 && v->read >= 0 && v->write >= 0 && write < 2; write++)
		rc = add_channels(top, write);
	if (rc == 0)
		v->passes = unc_session_passes(top->series.session);
	return rc;
}

void top_close(struct top *top)
{
	if (!top)
		return;
	series_close(&top->series);
	for (size_t i = 0; i < top->view.columns; i++)
		free((char *)top->column[i].name);
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

/* The first of its kind, and how many more there are. */
struct note {
	char *text; /* of TOP_NOTE letters */
	size_t more;
};

__attribute__((format(printf, 2, 3))) static void add_note(struct note *note, const char *format,
							   ...)
{
	va_list args;

	if (note->text[0]) {
		note->more++;
		return;
	}
	va_start(args, format);
	vsnprintf(note->text, TOP_NOTE, format, args);
	va_end(args);
}

static void end_note(const struct note *note)
{
	size_t n = strlen(note->text);

	if (note->more)
		snprintf(note->text + n, TOP_NOTE - n, " (and %zu more)", note->more);
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
	struct top_view *v = &top->view;
	struct note none = {.text = v->note[NOTE_NO_VALUE]},
		    partial = {.text = v->note[NOTE_PARTIAL]};
	char text[CELL_MAX];
	double share = 1;

	for (size_t i = 0; i < v->rows * v->columns; i++) {
		const struct number *n = &top->series.number[v->number[i].at];

		take_number(top, &v->number[i], v->column[i % v->columns].total);
		if (!v->number[i].valid)
			add_note(&none, "- no value: %s: %s", n->item.name,
				 series_reason(&top->series, n));
		else if (n->partial)
			add_note(&partial, "* of fewer units: %s: %u of %u units: %s", n->item.name,
				 n->units, n->of, unc_session_partial(top->series.session, n->id));
		if (n->valid && n->scaled)
			share = fmin(share, n->share);
		*lost |= n->lost;
	}
	end_note(&none);
	end_note(&partial);
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
