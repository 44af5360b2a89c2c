/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectd plugin intel_uncore: what is below the ports of PCIe stacks. A series is of the port, which
 * stays where it is; the devices below, which come and go, are its label.
 */
#include "intel_uncore.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_EVERY TIME_T_TO_CDTIME_T(60) /* all PCI functions of the machine are walked */

static struct label *find_label(const struct intel_uncore *of, const char *place)
{
	for (size_t i = 0; i < of->n_labels; i++)
		if (strcmp(of->labels[i].place, place) == 0)
			return &of->labels[i];
	return NULL;
}

int intel_uncore_add_label(const struct item *item, const struct unc_item *what)
{
	const char *place = item->vl.plugin_instance;
	struct label *more;

	/* A portable metric of one unit is of a stack whose devices are not known: that is logged. */
	bool is_stack = what->metric && strcmp(what->metric->of, "portable") == 0;

	if (!(what->ports || is_stack) || !what->units_of || what->at.socket < 0 ||
	    what->at.index < 0 || find_label(&self, place))
		return 0;
	more = realloc(self.labels, (self.n_labels + 1) * sizeof(*more));
	if (!more)
		return FAIL("out of memory");
	self.labels = more;
	more[self.n_labels] = (struct label){.units_of = what->units_of,
					     .socket = what->at.socket,
					     .index = what->at.index,
					     .ports = what->ports};
	snprintf(more[self.n_labels++].place, DATA_MAX_NAME_LEN, "%s", place);
	return 0;
}

void intel_uncore_keep_labels(const struct intel_uncore *old)
{
	for (size_t i = 0; i < self.n_labels; i++) {
		struct label *label = &self.labels[i];
		const struct label *was = find_label(old, label->place);

		if (!was || !was->known)
			continue;
		label->names = was->names ? strdup(was->names) : NULL;
		label->known = !was->names == !label->names;
	}
}

/* ---- looking up */

/* The next of the names that ',' or ' ' are between, its length in *n; NULL: there is none. */
static const char *next_name(const char *names, size_t *n)
{
	names += strspn(names, ", ");
	*n = strcspn(names, ", ");
	return *n ? names : NULL;
}

static bool has_name(const char *names, const char *name, size_t n)
{
	size_t length;

	for (; (names = next_name(names, &length)); names += length)
		if (length == n && strncmp(names, name, n) == 0)
			return true;
	return false;
}

/* Each name once: two series must not have one. */
static int add_names(char **to, const char *names)
{
	size_t n, length = *to ? strlen(*to) : 0;
	char *more = realloc(*to, length + strlen(names) + 2);

	if (!more)
		return -1;
	*to = more;
	more[length] = '\0';
	for (; (names = next_name(names, &n)); names += n)
		if (!has_name(more, names, n))
			length += (size_t)sprintf(more + length, "%s%.*s", length ? " " : "",
						  (int)n, names);
	return 0;
}

static bool is_of(const struct label *label, const struct unc_unit *unit)
{
	return label->socket == unit->socket && label->index == unit->index &&
	       strcmp(label->units_of, unit->type->name) == 0;
}

/* Functions that no driver has a name for are called by their addresses. */
static int take_device(void *user, const struct unc_device *device)
{
	const struct unc_unit *const *unit = user;
	const char *names = device->names[0] ? device->names : device->address;

	for (struct label *label = self.labels; label < self.labels + self.n_labels; label++)
		if (is_of(label, *unit) && label->ports & device->ports &&
		    add_names(&label->found, names) != 0)
			return -1;
	return 0;
}

static void tell_unknown(const struct unc_unit *unit)
{
	if (!self.told_unknown)
		INFO(LOG "it is not known what is below %s%d (socket %d): %s; such a stack is one "
			 "series without a label",
		     unit->type->name, unit->index, unit->socket,
		     unc_platform_error(self.platform));
	self.told_unknown = true;
}

static void set_meta(struct label *label)
{
	meta_data_destroy(label->meta);
	label->meta = label->names ? meta_data_create() : NULL;
	if (label->meta)
		meta_data_add_string(label->meta, "device", label->names);
}

/* Whether it has changed. */
static bool replace(struct label *label)
{
	bool changed = label->known && strcmp(label->names ? label->names : "",
					      label->found ? label->found : "") != 0;

	free(label->names);
	label->names = label->found;
	label->found = NULL;
	label->known = true;
	set_meta(label);
	return changed;
}

/* What cannot be looked up stays as it was. */
static void look_below(const struct unc_unit *unit, const struct label **changed, size_t *n)
{
	int status = unc_unit_devices(self.platform, unit, take_device, &unit);

	if (status)
		tell_unknown(unit);
	for (struct label *label = self.labels; label < self.labels + self.n_labels; label++) {
		if (!is_of(label, unit))
			continue;
		if (status) {
			free(label->found);
			label->found = NULL;
		} else if (replace(label) && (*n)++ == 0) {
			*changed = label;
		}
	}
}

static bool is_labelled(const struct unc_unit *unit)
{
	for (size_t i = 0; i < self.n_labels; i++)
		if (is_of(&self.labels[i], unit))
			return true;
	return false;
}

static void label_items(void)
{
	for (size_t i = 0; i < self.n_items; i++) {
		value_list_t *vl = &self.items[i].vl;
		const struct label *label = find_label(&self, vl->plugin_instance);

		vl->meta = label ? label->meta : NULL;
	}
}

void intel_uncore_look_up(cdtime_t now)
{
	const struct label *changed = NULL;
	const struct unc_unit *unit;
	size_t n = 0;
	char more[48] = "";

	if (!self.n_labels || (self.looked && now - self.looked < LOOK_EVERY))
		return;
	self.looked = now;
	for (size_t i = 0; (unit = unc_unit_get(self.platform, i)); i++)
		if (is_labelled(unit))
			look_below(unit, &changed, &n);
	label_items();
	if (n > 1)
		snprintf(more, sizeof(more), " (and %zu more)", n - 1);
	if (n)
		NOTICE(LOG "%s%s: other devices are below it: now %s", changed->place, more,
		       changed->names ? changed->names : "none");
}

/* ---- what is sent */

/* A series of value 1 whose name is that of the device, as dashboards can show it beside the place. */
static void send_name(const char *place, const char *name, size_t n, cdtime_t now)
{
	value_t one = {.gauge = 1};
	value_list_t vl = {.values = &one, .values_len = 1, .time = now, .interval = self.interval};
	char text[DATA_MAX_NAME_LEN + 1];

	snprintf(text, sizeof(text), "device_%.*s", (int)n, name);
	if (intel_uncore_set_names(&vl, "gauge", text) != 0)
		return;
	snprintf(vl.plugin_instance, sizeof(vl.plugin_instance), "%s", place);
	plugin_dispatch_values(&vl);
}

void intel_uncore_send_labels(cdtime_t now)
{
	for (size_t i = 0; i < self.n_labels; i++) {
		const char *name = self.labels[i].names;
		size_t n;

		for (; name && (name = next_name(name, &n)); name += n)
			send_name(self.labels[i].place, name, n, now);
	}
}

void intel_uncore_free_labels(void)
{
	for (size_t i = 0; i < self.n_labels; i++) {
		free(self.labels[i].names);
		meta_data_destroy(self.labels[i].meta);
	}
	free(self.labels);
}
