/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The qualifiers that may follow a name: umasks, places, fields. A place is a row of `places`: its function writes a
 * description and an example, if the machine has such places and the name can be counted there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/text.h"
#include "session/session.h"

struct asked {
	struct unc_platform *p;
	const char *text; /* the name without qualifiers */
	struct unc_name name;
	const struct unc_type *type; /* the only type whose units count it; NULL: there is none */
};

__attribute__((format(printf, 3, 4))) static bool put(struct unc_qualifier *out,
						      const char *example, const char *format, ...)
{
	snprintf(out->text, sizeof(out->text), "%s=%s", out->key, example);
	UNC_FORMAT(out->desc, format);
	return true;
}

static const struct unc_type *find_type(const struct unc_platform *p, const char *name)
{
	const struct unc_type *type;

	for (size_t i = 0; (type = unc_type_get(p, i)) && strcmp(type->name, name) != 0; i++)
		;
	return type;
}

/* ---- places */

static bool put_socket(const struct asked *a, struct unc_qualifier *out)
{
	int n = unc_platform_sockets(a->p);

	return put(out, "0", a->p->access ? "Socket [0-%d]; without it all" : "Socket", n - 1);
}

static bool put_unit(const struct asked *a, struct unc_qualifier *out)
{
	static const char *const all[] = {
		[UNC_AGGREGATE_SUM] = "the sum of all",
		[UNC_AGGREGATE_MAX] = "the largest of all",
		[UNC_AGGREGATE_ONE] = "one of them",
		[UNC_AGGREGATE_SOCKET] = "one of each socket",
	};
	const struct unc_event *event =
		a->name.metric < 0 ? unc_event_get(a->p, a->name.spec.event) : NULL;
	const struct unc_unit *unit;
	int first = 0, last = -1;
	char number[12];

	if (!a->type)
		return false;
	for (size_t i = 0; (unit = unc_unit_get(a->p, i)) != NULL; i++)
		if ((unit->available || !a->p->access) &&
		    strcmp(unit->type->name, a->type->units_of) == 0) {
			first = last < 0 || unit->index < first ? unit->index : first;
			last = unit->index > last ? unit->index : last;
		}
	snprintf(number, sizeof(number), "%d", first);
	if (last < 0)
		return put(out, number, "Unit of the socket: none can be read");
	return put(out, number, "Unit of the socket [%d-%d]; without it %s", first, last,
		   event ? all[event->aggregate] : "all");
}

/* Whether a session accepts the name on a node, with one of its umasks if it needs one. If it also
 * needs a field, the error for that comes later. */
static bool takes_node(struct unc_session *session, const struct asked *a, int node)
{
	const struct unc_umask *umask = NULL;
	char spec[2 * UNC_SPEC_MAX];
	int id, error;
	size_t i = 0;

	do {
		snprintf(spec, sizeof(spec), "%s%s%s:node=%d", a->text, umask ? ":" : "",
			 umask ? umask->name : "", node);
		error = unc_session_add(session, spec, &id);
		umask = error && error != UNC_ERR_UNAVAILABLE && a->name.metric < 0
				? unc_umask_get(a->p, a->name.spec.event, i++)
				: NULL;
	} while (umask);
	return error != UNC_ERR_UNAVAILABLE;
}

/* Without sub-NUMA clusters nodes are sockets. */
static bool put_node(const struct asked *a, struct unc_qualifier *out)
{
	const struct unc_node *node;
	struct unc_session *session;
	char list[128], number[12], first[12] = "";
	struct unc_buf has = UNC_BUF(list);
	unsigned n = 0;
	size_t nodes = 0;

	if (!a->p->access || !unc_numa_clustered(a->p) ||
	    unc_session_new(a->p, UNC_SESSION_ROTATE, &session) < 0)
		return false;
	for (; (node = unc_node_get(a->p, nodes)) != NULL; nodes++) {
		if (!takes_node(session, a, node->number))
			continue;
		snprintf(number, sizeof(number), "%d", node->number);
		unc_put_word(&has, number);
		if (n++ == 0)
			memcpy(first, number, sizeof(first));
	}
	unc_session_free(session);
	return n == 0      ? false
	       : n < nodes ? put(out, first, "NUMA node (%s); without it all", list)
			   : put(out, first, "NUMA node, of %u; without it all", n);
}

static bool takes_ports(const struct asked *a)
{
	struct unc_spec spec = a->name.spec;

	return a->type && a->type->ports &&
	       (a->name.metric >= 0 || unc_spec_set_ports(a->p->table, &spec, 1, NULL) == 0);
}

static bool put_port(const struct asked *a, struct unc_qualifier *out)
{
	return takes_ports(a) &&
	       put(out, "0", "Port of the PCIe stacks [0-%d]; without it all", a->type->ports - 1);
}

/* Devices below stacks, by name or address: "mlx5_0 + mlx5_1, nvme0", with '+' if one shares the port of the one
 * before. */
struct devices {
	struct unc_buf list;
	unsigned ports;
};

static int list_device(void *user, const struct unc_device *device)
{
	struct devices *devices = user;
	char name[UNC_DEVICE_MAX];

	if (!device->ports)
		return 0;
	if (*device->names)
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(device->names, ","),
			 device->names);
	else if (!unc_name_address(device->address, name))
		return 0;
	if (devices->list.n)
		unc_put(&devices->list, "%s", device->ports & devices->ports ? " + " : ", ");
	unc_put(&devices->list, "%s", name);
	devices->ports = device->ports;
	return 0;
}

/* The devices of all stacks, looked up once; "": none is known. */
static const char *devices_of(struct unc_platform *p)
{
	char text[4096];
	struct devices devices = {.list = UNC_BUF(text)};
	const struct unc_unit *unit;
	char *found;

	pthread_mutex_lock(&p->lock);
	found = p->devices;
	pthread_mutex_unlock(&p->lock);
	if (found || !p->access)
		return found ? found : "";
	for (size_t i = 0; (unit = unc_unit_get(p, i)) != NULL; i++) {
		devices.ports = 0;
		if (unit->type->ports && unit->available)
			(void)unc_unit_devices(p, unit, list_device, &devices);
	}
	pthread_mutex_lock(&p->lock);
	p->devices = p->devices ? p->devices : strdup(text);
	found = p->devices;
	pthread_mutex_unlock(&p->lock);
	return found ? found : "";
}

static bool put_device(const struct asked *a, struct unc_qualifier *out)
{
	const char *all = takes_ports(a) ? devices_of(a->p) : "";
	char first[UNC_DEVICE_MAX];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(all, " ,"), all);
	return *all && put(out, first,
			   "PCIe device, by name or address; without it all. With + they share a "
			   "port and its number. There are %.400s%s",
			   all, strlen(all) > 400 ? "..." : "");
}

static const struct {
	const char *key;
	bool (*put)(const struct asked *,
		    struct unc_qualifier *); /* false: there is no such place */
} places[] = {{"socket", put_socket},
	      {"unit", put_unit},
	      {"node", put_node},
	      {"port", put_port},
	      {"device", put_device}};

/* ---- others */

static bool put_umask(const struct asked *a, size_t i, struct unc_qualifier *out)
{
	const struct unc_umask *umask =
		a->name.metric < 0 ? unc_umask_get(a->p, a->name.spec.event, i) : NULL;

	if (!umask)
		return false;
	out->kind = UNC_QUALIFIER_UMASK;
	out->key = umask->name;
	out->unavailable = *umask->reason != '\0';
	snprintf(out->text, sizeof(out->text), "%s", umask->name);
	snprintf(out->desc, sizeof(out->desc), "%s%s%s%s", umask->desc,
		 umask->standalone ? "" : " (only with another umask)",
		 *umask->reason ? " - not available: " : "", umask->reason);
	return true;
}

static bool put_field(const struct asked *a, size_t i, struct unc_qualifier *out)
{
	const struct unc_field *field =
		a->name.metric < 0 ? unc_field_get(a->p, a->name.spec.event, i) : NULL;
	char least[24], range[64];

	if (!field)
		return false;
	out->kind = UNC_QUALIFIER_FIELD;
	out->key = field->name;
	snprintf(least, sizeof(least), "%" PRIu64, field->min);
	snprintf(range, sizeof(range),
		 field->max < 1024 ? "%" PRIu64 "-%" PRIu64 : "%#" PRIx64 "-%#" PRIx64, field->min,
		 field->max);
	return put(out, least, "%s%.160s [%s]", field->needed ? "Mandatory: " : "", field->desc,
		   range);
}

static int find_qualifier(const struct asked *a, size_t i, struct unc_qualifier *out,
			  struct unc_error *err)
{
	const struct unc_event *event =
		a->name.metric < 0 ? unc_event_get(a->p, a->name.spec.event) : NULL;
	size_t n_umasks = event ? event->n_umasks : 0;

	if (i < n_umasks)
		return put_umask(a, i, out) ? 0 : unc_no_memory(err);
	i -= n_umasks;
	out->kind = UNC_QUALIFIER_PLACE;
	for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
		out->key = places[k].key;
		if (places[k].put(a, out) && i-- == 0)
			return 0;
	}
	return put_field(a, i, out)
		       ? 0
		       : unc_fail(err, UNC_ERR_NOT_FOUND, "%s has no more qualifiers", a->text);
}

int unc_item_qualifier(struct unc_platform *p, const char *text, size_t i,
		       struct unc_qualifier *out)
{
	struct unc_qualifier found = {.size = out->size};
	struct asked asked = {.p = p, .text = text};
	struct unc_error err = {0};
	uint16_t type;
	int rc;

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;
	rc = unc_struct_check(out->size, "unc_qualifier", &err);
	if (rc == 0)
		rc = unc_name_parse(p->table, text, &asked.name, &err);
	if (rc < 0)
		return unc_platform_keep(p, &err);
	type = unc_describe_type(p, &asked.name);
	if (type != UNC_NONE)
		asked.type = find_type(p, unc_type_name(p->table, type));
	if (find_qualifier(&asked, i, &found, &err) == 0)
		unc_struct_out(out, out->size, &found, sizeof(found));
	return unc_platform_keep(p, &err);
}
