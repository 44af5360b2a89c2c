/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions of names, behind the public interface. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/nearest.h"
#include "base/text.h"
#include "encode/metric.h"
#include "encode/name.h"
#include "platform/platform.h"

/* The unit type of all events of a metric; UNC_NONE: there are several. */
static uint16_t type_of_needs(const struct unc_platform *p, size_t metric)
{
	uint16_t type = UNC_NONE;
	struct unc_spec spec;
	const char *event;

	for (size_t i = 0; (event = unc_metric_need(p, metric, i)) != NULL; i++) {
		if (unc_spec_parse(p->table, event, &spec, NULL) < 0 || (i && spec.type != type))
			return UNC_NONE;
		type = spec.type;
	}
	return type;
}

uint16_t unc_describe_type(const struct unc_platform *p, const struct unc_name *name)
{
	uint16_t type = name->metric < 0 ? name->spec.type : p->table->metric[name->metric].type;

	return type == UNC_NONE ? type_of_needs(p, (size_t)name->metric) : type;
}

int unc_describe_item(struct unc_platform *p, const struct unc_name *name, const char *text,
		      struct unc_item *out, struct unc_error *err)
{
	const struct unc_table *t = p->table;
	struct unc_name all = *name;
	bool is_event = name->metric < 0;
	uint16_t type = is_event ? t->event[name->spec.event].type : t->metric[name->metric].type;

	out->at = (struct unc_target){name->spec.socket, name->spec.index};
	if (name->at.socket >= 0)
		out->at.socket = name->at.socket;
	if (name->at.index >= 0)
		out->at.index = name->at.index;
	out->node = name->node;
	out->ports = unc_name_ports(name);
	out->port = out->ports ? __builtin_ctz(out->ports) : -1;
	snprintf(out->device, sizeof(out->device), "%s", name->device);
	out->index = is_event ? name->spec.event : (size_t)name->metric;
	if (is_event)
		out->event = unc_event_get(p, out->index);
	else
		out->metric = unc_metric_get(p, out->index);
	if (!out->event && !out->metric)
		return unc_no_memory(err);
	if (out->at.index >= 0) /* a portable metric on one unit has a type */
		type = unc_describe_type(p, name);
	if (type != UNC_NONE)
		out->units_of = unc_type_name(t, unc_type_pool(t, type));
	all.spec.socket = all.spec.index = -1;
	if (unc_name_format(t, name, out->name, sizeof(out->name)) < 0 ||
	    unc_name_format(t, &all, out->base, sizeof(out->base)) < 0)
		return unc_fail(err, UNC_ERR_INVALID, "%s: the canonical text is too long", text);
	return 0;
}

static int find_item(struct unc_platform *p, const char *text, struct unc_item *out,
		     struct unc_error *err)
{
	struct unc_item found = {.size = out->size};
	struct unc_name name;
	int rc = unc_struct_check(out->size, "unc_item", err);

	if (rc < 0 || (rc = unc_platform_parse(p, text, false, &name, err)) < 0 ||
	    (rc = unc_place_find(p, &name, text, err)) < 0 ||
	    (p->access && (rc = unc_name_check(&name, text, p->topology.n_sockets, err)) < 0) ||
	    (rc = unc_describe_item(p, &name, text, &found, err)) < 0)
		return rc;
	unc_struct_out(out, out->size, &found, sizeof(found));
	return 0;
}

int unc_group_find(struct unc_platform *p, const char *name, size_t *index)
{
	char buf[100], names[200];
	struct unc_buf list = UNC_BUF(names);
	struct unc_nearest nearest;
	const char *known;

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;
	unc_nearest_start(&nearest, name);
	for (size_t i = 0; (known = unc_describe_group(p, i)) != NULL; i++) {
		if (unc_same(known, name)) {
			*index = i;
			return unc_platform_fail(p, UNC_OK, "%s", "");
		}
		unc_nearest_try_short(&nearest, known);
		unc_put_word(&list, known);
	}
	return unc_platform_fail(p, UNC_ERR_NOT_FOUND, "no group %.80s%s; there are %s", name,
				 unc_nearest_text(&nearest, buf, sizeof(buf)),
				 list.words ? names : "none in these tables");
}

int unc_item_find(struct unc_platform *p, const char *text, struct unc_item *out)
{
	struct unc_error err = {0};

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;
	find_item(p, text, out, &err);
	return unc_platform_keep(p, &err);
}
