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
	int id;
};

struct top {
	struct unc_platform *platform;
	struct unc_session *session;
	struct top_view view;
	struct top_column *column;
	char **name; /* of each number: as the library calls it */
	char **why;  /* of each number that cannot be had; NULL: it can */
	struct part *part;
	size_t parts;
	size_t metric[2]; /* memory_read_bytes, memory_write_bytes: what unc_metric_get() takes */
	struct unc_count *count[2]; /* what they need */
	size_t needs[2];
	struct unc_value *value; /* of each item of the session */
	size_t values;
};

static const char *const traffic_metrics[] = {"memory_read_bytes", "memory_write_bytes"};

struct unc_session *top_session(struct top *top)
{
	return top->session;
}

const struct top_view *top_view(const struct top *top)
{
	return &top->view;
}

/* ---- opening */

static int add_column(struct top *top, const char *text)
{
	struct unc_item item = {.size = sizeof(item)};
	struct top_view *v = &top->view;
	int rc = unc_item_find(top->platform, text, &item);

	if (rc < 0)
		return library_error(rc, unc_platform_error(top->platform));
	top->column = must_grow(top->column, v->columns, sizeof(*top->column));
	top->column[v->columns] = (struct top_column){
		.name = must_print("%s", text),
		.unit = item.metric ? item.metric->unit : "count",
		.total = !item.metric || item.metric->kind == UNC_METRIC_TOTAL,
	};
	if (strcmp(text, traffic_metrics[0]) == 0)
		v->read = (int)v->columns;
	if (strcmp(text, traffic_metrics[1]) == 0)
		v->write = (int)v->columns;
	if (strcmp(text, "memory_bandwidth") == 0)
		v->all = (int)v->columns;
	if (strcmp(text, "memory_utilization") == 0)
		v->share = (int)v->columns;
	v->columns++;
	return 0;
}

/* Counts an item at a place; *id: -1 where that lacks what others have. 0, or the exit status. */
static int add_at(struct top *top, const char *text, const struct unc_target *at, int *id)
{
	int rc = unc_session_add_at(top->session, text, at, id);

	top->values += rc == 0;
	if (rc < 0)
		*id = -1;
	return rc == 0 || rc == UNC_ERR_UNAVAILABLE || rc == UNC_ERR_RANGE
		       ? 0
		       : library_error(rc, unc_session_error(top->session));
}

/* Its number tells why a socket is without it. */
static int add_number(struct top *top, size_t row, size_t column)
{
	const char *text = top->column[column].name;
	size_t i = row * top->view.columns + column;
	struct unc_target at = {sizeof(at), row < top->view.sockets ? (int)row : -1, -1};
	char name[UNC_SPEC_MAX];
	int rc = unc_name_at(top->platform, text, &at, name, sizeof(name));

	if (rc < 0)
		return library_error(rc, unc_platform_error(top->platform));
	top->name[i] = must_print("%s", name);
	rc = add_at(top, text, &at, &top->view.number[i].id);
	if (rc == 0 && top->view.number[i].id < 0)
		top->why[i] = must_print("%s", unc_session_error(top->session));
	return rc;
}

static int add_numbers(struct top *top, const char *group)
{
	struct top_view *v = &top->view;
	size_t n = v->rows * v->columns;
	int rc = 0;

	v->column = top->column;
	v->number = must_alloc(NULL, n, sizeof(*v->number));
	top->name = must_alloc(NULL, n, sizeof(*top->name));
	top->why = must_alloc(NULL, n, sizeof(*top->why));
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = add_number(top, i / v->columns, i % v->columns);
	if (rc == 0 && top->values == 0)
		return failure("nothing of group %s can be counted: %s", group, top->why[0]);
	return rc;
}

/* The channel that a unit is; a new one if `add`, -1 if there is none. */
static int channel_of(struct top *top, const struct unc_unit *unit, bool add)
{
	struct top_view *v = &top->view;

	for (size_t i = 0; i < v->channels; i++)
		if (v->channel[i].unit == unit)
			return (int)i;
	if (!add)
		return -1;
	v->channel = must_grow(v->channel, v->channels, sizeof(*v->channel));
	v->channel[v->channels] = (struct top_channel){.unit = unit};
	return (int)v->channels++;
}

/* Units of a type on the socket with most of them. */
static int units_abreast(const struct top *top, const char *type)
{
	const struct unc_unit *unit;
	int most = 0;

	for (int socket = 0; socket < (int)top->view.sockets; socket++) {
		int n = 0;

		for (size_t i = 0; (unit = unc_unit_get(top->platform, i)) != NULL; i++)
			n += unit->socket == socket && strcmp(unit->type->name, type) == 0;
		most = n > most ? n : most;
	}
	return most;
}

/* Counts a needed event on each unit, if units are channels: each counts its own share. */
static int add_parts(struct top *top, bool write, size_t need, const char *event)
{
	struct unc_encoding e = {.size = sizeof(e)};
	const struct unc_unit *unit;
	int rc = unc_event_encode(top->platform, event, &e);

	if (rc < 0)
		return library_error(rc, unc_platform_error(top->platform));
	if (e.aggregate != UNC_AGGREGATE_SUM || units_abreast(top, e.units_of) < 2)
		return 0;
	for (size_t i = 0; (unit = unc_unit_get(top->platform, i)) != NULL; i++) {
		struct unc_target at = {sizeof(at), unit->socket, unit->index};
		struct part part = {.write = write, .need = need};

		if (strcmp(unit->type->name, e.units_of) != 0)
			continue;
		part.channel = (size_t)channel_of(top, unit, true);
		if ((rc = add_at(top, event, &at, &part.id)))
			return rc;
		top->part = must_grow(top->part, top->parts, sizeof(*top->part));
		top->part[top->parts++] = part;
	}
	return 0;
}

/* Which metrics the traffic of a channel is, and what they need. */
static int add_channels(struct top *top)
{
	const char *need;

	if (top->view.read < 0 || top->view.write < 0)
		return 0;
	for (size_t k = 0; k < 2; k++) {
		int rc = unc_metric_find(top->platform, traffic_metrics[k], &top->metric[k], NULL);

		if (rc < 0)
			return library_error(rc, unc_platform_error(top->platform));
		for (size_t i = 0; (need = unc_metric_need(top->platform, top->metric[k], i));
		     i++) {
			top->count[k] = must_grow(top->count[k], i, sizeof(*top->count[k]));
			top->count[k][top->needs[k]++] = (struct unc_count){.event = need};
			rc = add_parts(top, k == 1, i, need);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static void find_peaks(struct top *top)
{
	struct top_view *v = &top->view;

	v->peak = must_alloc(NULL, v->rows, sizeof(*v->peak));
	for (size_t i = 0; i < v->rows; i++)
		if (unc_memory_peak(top->platform, i < v->sockets ? (int)i : -1, &v->peak[i]) < 0)
			v->peak[i] = 0;
}

static int open_view(struct top *top, const char *group)
{
	struct top_view *v = &top->view;
	const struct unc_group *g;
	int rc = open_group(top->platform, group, false, &g);

	if (rc)
		return rc;
	v->machine = unc_platform_cpu(top->platform)->name;
	v->simulated = unc_platform_simulated(top->platform);
	v->sockets = (size_t)unc_platform_sockets(top->platform);
	v->rows = v->sockets + (v->sockets > 1);
	v->read = v->write = v->all = v->share = -1;
	v->note = must_alloc(NULL, TOP_NOTES, sizeof(*v->note));
	for (size_t i = 0; i < g->n_items; i++) {
		rc = add_column(top, g->items[i]);
		if (rc)
			return rc;
	}
	return 0;
}

int top_open(struct unc_platform *platform, const char *group, struct top **out)
{
	struct top *top = must_alloc(NULL, 1, sizeof(*top));
	int rc;

	*top = (struct top){.platform = platform};
	*out = top;
	rc = open_view(top, group);
	if (rc)
		return rc;
	rc = unc_session_new(platform, UNC_SESSION_ROTATE, &top->session);
	if (rc < 0)
		return library_error(rc, unc_platform_error(platform));
	rc = add_numbers(top, group);
	if (rc == 0)
		rc = add_channels(top);
	if (rc)
		return rc;
	find_peaks(top);
	top->view.passes = unc_session_passes(top->session);
	top->value = must_alloc(NULL, top->values, sizeof(*top->value));
	return 0;
}

void top_close(struct top *top)
{
	size_t n;

	if (!top)
		return;
	unc_session_free(top->session);
	n = top->name ? top->view.rows * top->view.columns : 0;
	for (size_t i = 0; i < n; i++) {
		free(top->name[i]);
		free(top->why[i]);
	}
	for (size_t i = 0; i < top->view.columns; i++)
		free((char *)top->column[i].name);
	for (size_t k = 0; k < 2; k++)
		free(top->count[k]);
	free(top->name);
	free(top->why);
	free(top->column);
	free(top->part);
	free(top->value);
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

static void take_number(struct top_number *n, const struct unc_value *v, bool total, double seconds)
{
	n->valid = v->flags & UNC_VALUE_VALID && isfinite(v->interval) && seconds > 0;
	n->partial = v->flags & UNC_VALUE_PARTIAL;
	n->scaled = v->flags & UNC_VALUE_ESTIMATED;
	n->value = total ? v->interval / seconds : v->interval;
}

static const char *reason_of(const struct top *top, size_t i)
{
	int id = top->view.number[i].id;
	const char *reason = id < 0 ? top->why[i] : unc_session_reason(top->session, id);

	/* of a denominator the library tells for the time since the start only */
	return *reason ? reason : "the denominator is 0 in the interval";
}

static void take_numbers(struct top *top, bool *lost)
{
	struct top_view *v = &top->view;
	struct note none = {.text = v->note[NOTE_NO_VALUE]},
		    partial = {.text = v->note[NOTE_PARTIAL]};
	size_t n = v->rows * v->columns;
	char text[CELL_MAX];
	double share = 1;

	for (size_t i = 0; i < n; i++) {
		struct top_number *number = &v->number[i];
		const struct unc_value *value = number->id < 0 ? NULL : &top->value[number->id];

		if (value)
			take_number(number, value, v->column[i % v->columns].total, v->seconds);
		if (!number->valid)
			add_note(&none, "- no value: %s: %s", top->name[i], reason_of(top, i));
		else if (value && number->partial)
			add_note(&partial, "* of fewer units: %s: %u of %u units: %s", top->name[i],
				 value->units, value->of,
				 unc_session_partial(top->session, number->id));
		if (value && number->valid && number->scaled)
			share = fmin(share, value->interval_share);
		*lost |= value && value->flags & UNC_VALUE_LOST;
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
	bool valid = top->view.seconds > 0;
	double value = 0;
	size_t parts = 0;

	*out = (struct top_number){.id = -1};
	for (size_t i = 0; i < top->needs[write]; i++)
		count[i].value = 0;
	for (size_t i = 0; i < top->parts; i++) {
		const struct part *part = &top->part[i];
		struct top_number n = {.id = part->id};

		if (part->channel != channel || part->write != write)
			continue;
		if (part->id >= 0)
			take_number(&n, &top->value[part->id], true, top->view.seconds);
		valid &= n.valid;
		out->scaled |= n.scaled;
		count[part->need].value = n.value;
		parts++;
	}
	if (!valid || parts == 0 ||
	    unc_metric_eval(top->platform, traffic_metrics[write], count, top->needs[write],
			    sizeof(*count), &value) < 0)
		return;
	out->valid = true;
	out->value = value;
}

int top_read(struct top *top, bool *lost)
{
	struct top_view *v = &top->view;
	double total = 0;
	time_t now = time(NULL);
	struct tm tm;
	int rc = unc_session_read(top->session, top->value, top->values, sizeof(*top->value));

	if (rc == 0)
		rc = unc_session_time(top->session, &total, &v->seconds);
	if (rc < 0)
		return rc;
	strftime(v->clock, sizeof(v->clock), "%H:%M:%S", localtime_r(&now, &tm));
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
