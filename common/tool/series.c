/* SPDX-License-Identifier: BSD-3-Clause */
#include "series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct unc_mark *mark_words(enum mark mark)
{
	static const struct unc_mark own[] = {
		[NO_VALUE] = {.key = "invalid", .letter = "-", .what = "no value"},
		[PARTIAL] = {.key = "partial", .letter = "*", .what = "of fewer units"},
		[SCALED] = {.key = "share", .letter = "~", .what = "scaled"},
	};

	return own[mark].key ? &own[mark] : unc_mark_get(mark - DOUBTS);
}

bool number_marked(const struct number *n, enum mark mark)
{
	return mark == NO_VALUE ? !n->valid : n->mark[mark];
}

void number_say(char **text, const char *sentence)
{
	free(*text);
	*text = sentence ? must_print("%s", sentence) : NULL;
}

int series_error(const struct series *s, int rc)
{
	return library_error(rc, unc_session_error(s->session));
}

int series_open(struct series *s, struct unc_platform *platform, unsigned flags)
{
	int rc = unc_session_new(platform, flags, &s->session);

	s->platform = platform;
	return library_error(rc, unc_platform_error(platform));
}

static struct number *new_number(struct series *s, int id)
{
	s->number = must_grow(s->number, s->n, sizeof(*s->number));
	s->number[s->n] = (struct number){.item.size = sizeof(struct unc_item), .id = id};
	return &s->number[s->n++];
}

/* The peak of the memory that an item is about, bytes/s; 0: not known, or the item is not about memory. */
static double peak_of(struct unc_platform *platform, const struct unc_item *item)
{
	static const char *const traffic[] = {"memory_read_bytes", "memory_write_bytes",
					      "memory_bandwidth"};
	bool whole = item->node < 0 && item->at.index < 0; /* a node may be a part of a socket */
	double peak;

	for (size_t i = 0; item->metric && whole && i < sizeof(traffic) / sizeof(traffic[0]); i++)
		if (strcmp(item->metric->name, traffic[i]) == 0 &&
		    unc_memory_peak(platform, item->at.socket, &peak) == 0)
			return peak;
	return 0;
}

/* A stack, and the numbers that are of its ports. */
struct stack {
	const struct unc_unit *unit;
	struct number *first, *end;
};

/* The common name of a model: "H100 SXM5 80GB" of "NVIDIA Corporation GH100 [H100 SXM5 80GB]". */
static char *product(const char *model)
{
	const char *open = strrchr(model, '['), *end = open ? strchr(open, ']') : NULL;

	return end ? must_print("%.*s", (int)(end - open - 1), open + 1) : must_print("%s", model);
}

/* Adds a device without a driver's name by its model; several of one model in a row are counted. */
static void add_model(struct number *n, const char *model)
{
	char *name = product(model);
	const char *last = n->device ? n->device + n->last : "";
	bool again = n->alike && strlen(last) >= strlen(name) &&
		     strcmp(last + strlen(last) - strlen(name), name) == 0;

	n->alike = again ? n->alike + 1 : 1;
	if (again)
		n->device[n->last] = '\0';
	else if (n->device)
		n->device = must_add(n->device, ", ");
	if (!again)
		n->last = n->device ? strlen(n->device) : 0;
	n->device = n->device ? n->device : must_print("%s", "");
	n->device = again ? must_add(n->device, "%u x %s", n->alike, name)
			  : must_add(n->device, "%s", name);
	free(name);
}

/* Whether bytes of the port go over its link: both count payload in one direction. */
static void set_link(struct number *n, const struct unc_device *device)
{
	const struct unc_metric *metric = n->item.metric;

	if (!device->link[0] || !metric || strcmp(metric->unit, "bytes") != 0)
		return;
	snprintf(n->link, sizeof(n->link), "%s", device->link);
	n->peak = device->link_bytes;
}

/* Virtual functions without a driver's name, and unknown models, are named by their address. */
static int add_label(void *user, const struct unc_device *device)
{
	const struct stack *stack = user;
	const char *names = device->names[0] ? device->names : device->address;

	for (struct number *n = stack->first; n < stack->end; n++) {
		const struct unc_item *item = &n->item;
		const char *name = names;

		if (!item->device[0] || !(item->ports & device->ports) ||
		    item->at.socket != stack->unit->socket || item->at.index != stack->unit->index)
			continue;
		n->below++;
		set_link(n, device);
		if (!device->names[0] && device->model[0] && !device->function_of[0]) {
			add_model(n, device->model);
			continue;
		}
		n->alike = 0;
		for (size_t length; *name; name += length + (name[length] != '\0')) {
			length = strcspn(name, ",");
			n->device = must_add(n->device, "%s%.*s", n->device ? " " : "", (int)length,
					     name);
		}
	}
	return 0;
}

/* What is below the ports of the numbers from `first` on, "mlx5_0 mlx5_1": each stack is looked at once. */
static void label_devices(struct series *s, size_t first)
{
	struct stack stack = {.first = s->number + first, .end = s->number + s->n};
	const char *type = NULL;

	for (const struct number *n = stack.first; n < stack.end; n++)
		type = n->item.device[0] ? n->item.units_of : type;
	for (size_t i = 0; type && (stack.unit = unc_unit_get(s->platform, i)) != NULL; i++)
		if (strcmp(stack.unit->type->name, type) == 0)
			unc_unit_devices(s->platform, stack.unit, add_label, &stack);
}

const char *series_below(const struct number *n)
{
	if (n->device || !(n->per & UNC_EACH_DEVICE) || n->item.at.index < 0)
		return n->device;
	return n->item.ports ? "rest of the stack" : "devices not known";
}

bool series_devices(struct series *s, const struct number **which)
{
	const double every = 5; /* seconds: all PCI functions are walked for each stack */
	char **before;

	*which = NULL;
	if (s->time >= s->looked && s->time < s->looked + every) /* a second run begins at 0 */
		return true;
	s->looked = s->time;
	before = must_alloc(NULL, s->n, sizeof(*before));
	for (size_t i = 0; i < s->n; i++) {
		before[i] = s->number[i].device;
		s->number[i].device = NULL;
		s->number[i].below = s->number[i].alike = 0;
	}
	label_devices(s, 0);
	for (size_t i = 0; i < s->n; i++) {
		const char *now = s->number[i].device;

		if (!*which && strcmp(now ? now : "", before[i] ? before[i] : "") != 0)
			*which = &s->number[i];
		free(before[i]);
	}
	free(before);
	return !*which;
}

int series_add(struct series *s, const char *text, unsigned per)
{
	size_t n = 0;
	int first = 0, rc = unc_session_add_each(s->session, text, per, &first, &n);

	if (rc == 0 && *unc_session_error(s->session) && !s->quiet)
		remark("note: %s", unc_session_error(s->session));
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct number *number = new_number(s, first + (int)i);

		number->per = per;
		number->text = s->n - 1 - i;
		rc = unc_session_item(s->session, number->id, &number->item);
		number->peak = peak_of(s->platform, &number->item);
	}
	if (rc < 0)
		return rc;
	label_devices(s, s->n - n);
	s->n_values += n;
	s->value = must_alloc(s->value, s->n_values, sizeof(*s->value));
	return 0;
}

void series_add_unknown(struct series *s, const char *name, const char *reason)
{
	struct number *number = new_number(s, -1);

	number->item.at = (struct unc_target){-1, -1};
	number->item.node = number->item.port = -1;
	number_say(&number->said[NO_VALUE], reason);
	for (size_t i = 0; i + 1 < UNC_SPEC_MAX && name[i]; i++)
		number->item.name[i] = number->item.base[i] = name[i];
}

static void take_value(const struct series *s, struct number *n, const struct unc_value *v)
{
	const struct unc_mark *mark;

	n->mark[PARTIAL] = v->flags & UNC_VALUE_PARTIAL;
	n->mark[SCALED] = v->flags & UNC_VALUE_ESTIMATED;
	n->lost = v->flags & UNC_VALUE_LOST;
	n->units = v->units;
	n->of = v->of;
	n->share = s->whole ? v->share : v->interval_share;
	n->seconds = n->share > 0 ? (s->whole ? v->seconds : v->interval_seconds) / n->share : 0;
	n->count = s->whole ? v->count : v->delta;
	n->value = s->whole ? v->value : v->interval;
	n->valid = (v->flags & UNC_VALUE_VALID || (!s->whole && v->interval_seconds > 0)) &&
		   isfinite(n->value);
	for (size_t i = 0; (mark = unc_mark_get(i)) != NULL; i++)
		n->mark[DOUBTS + i] =
			n->valid && v->flags & (s->whole ? mark->flag : mark->interval);
}

int series_read(struct series *s)
{
	double interval = 0;
	int rc = unc_session_read(s->session, s->value, s->n_values, sizeof(*s->value));

	if (rc < 0)
		return rc;
	rc = unc_session_time(s->session, &s->time, &interval);
	s->seconds = s->whole ? s->time : interval;
	clock_gettime(CLOCK_REALTIME, &s->clock);
	for (size_t i = 0; rc == 0 && i < s->n; i++)
		if (s->number[i].id >= 0)
			take_value(s, &s->number[i], &s->value[s->number[i].id]);
	return rc;
}

double number_rate(const struct number *n, double seconds)
{
	if (!n->item.metric || n->item.metric->kind == UNC_METRIC_TOTAL)
		return seconds > 0 ? n->value / seconds : NAN;
	return strstr(n->item.metric->unit, "_per_second") ? n->value : NAN;
}

const char *share_text(char buf[CELL_MAX], const struct number *n, double seconds, double *told)
{
	double rate = number_rate(n, seconds);
	char of[CELL_MAX] = "";

	if (!n->valid || isnan(rate) || !(n->peak > 0) || n->mark[PARTIAL] || n->said[PARTIAL])
		return "";
	if (n->link[0])
		snprintf(of, sizeof(of), " of %s", n->link);
	else if (n->peak != *told)
		snprintf(of, sizeof(of), " of %.1f GB/s", n->peak * 1e-9);
	*told = n->peak;
	snprintf(buf, CELL_MAX, "%4.1f %%%.64s", 100 * rate / n->peak, of);
	return buf;
}

const struct number **series_lines(const struct series *s, bool sorted)
{
	const struct number **line = must_alloc(NULL, s->n, sizeof(*line));

	for (size_t i = 0; i < s->n; i++) {
		line[i] = &s->number[i];
		for (size_t k = i; sorted && k > 0; k--) {
			const struct number *above = line[k - 1], *one = line[k];

			if (above->text != one->text ||
			    (above->valid && (!one->valid || above->value >= one->value)))
				break;
			line[k] = above;
			line[k - 1] = one;
		}
	}
	return line;
}

const char *series_reason(const struct series *s, const struct number *number)
{
	const char *reason, *name = number->item.name;
	size_t n = strlen(name);

	if (number->id < 0)
		return number->said[NO_VALUE];
	reason = unc_session_reason(s->session, number->id);
	if (!*reason) /* of a denominator it tells for the time since the start only */
		return "the denominator is 0 in the interval";
	if (number->item.error && strncmp(reason, name, n) == 0 &&
	    strncmp(reason + n, ": ", 2) == 0)
		return reason + n + 2; /* that is told with the name */
	return reason;
}

const struct number *series_lost(const struct series *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->number[i].lost)
			return &s->number[i];
	return NULL;
}

void series_close(struct series *s)
{
	unc_session_free(s->session);
	for (size_t i = 0; i < s->n; i++) {
		free(s->number[i].device);
		for (enum mark k = 0; k < MARKS; k++)
			free(s->number[i].said[k]);
	}
	free(s->number);
	free(s->value);
}
