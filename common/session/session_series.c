/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: adds a name at all its places, and describes items. */
#include <string.h>

#include "base/abi.h"
#include "session/session.h"

/* The series that is being added, and its result. */
struct series {
	struct unc_name name;
	struct unc_item what;
	size_t n, counted;
	struct unc_error lacks; /* why it cannot be counted at the first such place */
	struct unc_error note;  /* it was added, but at other places than requested */
};

/* Adds the name at a place. A unit or socket may lack what others have: it becomes an item as well.
 * rc: the result of finding the place; its sentence is the session's. */
static int add_there(struct unc_session *s, struct series *series, const struct unc_name *there,
		     int rc)
{
	struct unc_error lacks;

	if (rc == 0)
		rc = unc_session_add_name(s, there, series->what.base, NULL);
	series->counted += rc == 0;
	if (rc == UNC_ERR_UNAVAILABLE || rc == UNC_ERR_RANGE) {
		lacks = s->error;
		if (!series->lacks.code)
			series->lacks = lacks;
		rc = unc_session_add_name(s, there, series->what.base, &lacks);
	}
	series->n += rc == 0;
	return rc;
}

static int add_place(struct unc_session *s, struct series *series, int socket, int index)
{
	struct unc_name there = series->name;

	there.spec.socket = socket;
	there.spec.index = index;
	return add_there(s, series, &there, 0);
}

static int add_at_sockets(struct unc_session *s, struct series *series)
{
	int rc = 0, only = series->name.spec.socket;

	for (int socket = 0; rc == 0 && socket < s->platform->topology.n_sockets; socket++)
		if (only < 0 || only == socket)
			rc = add_place(s, series, socket, series->name.spec.index);
	return rc;
}

/* Whether the text leaves a unit of a type to be added. */
static bool is_chosen(const struct series *series, const char *type, const struct unc_unit *unit)
{
	const struct unc_spec *only = &series->name.spec;

	return strcmp(unit->type->name, type) == 0 &&
	       (only->socket < 0 || only->socket == unit->socket) &&
	       (only->index < 0 || only->index == unit->index);
}

static int add_at_units(struct unc_session *s, struct series *series, const char *units_of)
{
	const struct unc_unit *unit;
	int rc = 0;

	for (size_t i = 0; rc == 0 && (unit = unc_unit_get(s->platform, i)) != NULL; i++)
		if (is_chosen(series, units_of, unit))
			rc = add_place(s, series, unit->socket, unit->index);
	return rc;
}

/* Adds each unit, if the name has one unit type; else each socket, with a sentence that says so. */
static int add_units_or_sockets(struct unc_session *s, struct series *series, uint16_t type)
{
	const struct unc_table *t = s->platform->table;
	int rc = UNC_ERR_INVALID;

	if (type == UNC_NONE)
		unc_fail(&s->error, rc, "%s: it is of no single unit type", series->what.base);
	else
		rc = add_at_units(s, series, unc_type_name(t, unc_type_pool(t, type)));
	if (rc != UNC_ERR_INVALID || !series->what.metric || series->n)
		return rc;
	unc_fail(&series->note, UNC_OK, "%.400s; each socket has a value", s->error.text);
	return add_at_sockets(s, series);
}

static int add_nodes(struct unc_session *s, struct series *series)
{
	int rc = 0, only = series->name.spec.socket;
	const struct unc_node *node;

	for (size_t i = 0; rc == 0 && (node = unc_node_get(s->platform, i)) != NULL; i++) {
		struct unc_name there = series->name;

		if (only >= 0 && only != node->socket)
			continue;
		there.node = node->number;
		rc = unc_place_find(s->platform, &there, series->what.base, &s->error);
		rc = add_there(s, series, &there, rc);
	}
	return rc;
}

/* ---- devices: an item for each port of a stack that has some below it */

/* Ports of a stack that cannot be told apart, stored at the lowest of them, and the first device below. */
struct ports {
	unsigned mask[UNC_MAX_PORTS];
	char device[UNC_MAX_PORTS][UNC_DEVICE_MAX];
	bool unknown; /* the port of a device is not known */
};

/* Devices with a common port are counted together, under the name of a device that is below all of these ports. */
static int add_ports_of_device(void *user, const struct unc_device *device)
{
	struct ports *ports = user;
	unsigned own = device->ports, mask = own;
	char first[UNC_DEVICE_MAX];

	if (!mask || mask >> UNC_MAX_PORTS || !unc_name_address(device->address, first)) {
		ports->unknown = true;
		return 0;
	}
	for (int i = 0; i < UNC_MAX_PORTS; i++)
		if (ports->mask[i] & own) {
			if (!(own & ~ports->mask[i]))
				memcpy(first, ports->device[i], sizeof(first));
			mask |= ports->mask[i];
			ports->mask[i] = 0;
		}
	ports->mask[__builtin_ctz(mask)] = mask;
	memcpy(ports->device[__builtin_ctz(mask)], first, sizeof(first));
	return 0;
}

/* Adds the items of a stack. If the port of a device is unknown, the ports of no item become one more item, so that
 * the items of a stack add up to its total. A stack with unknown devices is one item. */
static int add_stack(struct unc_session *s, struct series *series, const struct unc_unit *unit,
		     int n)
{
	struct ports ports = {.mask = {0}};
	bool known = unc_unit_devices(s->platform, unit, add_ports_of_device, &ports) == 0;
	unsigned all = (1u << n) - 1, rest = all;
	struct unc_name there;
	int rc = 0;

	for (int port = 0; rc == 0 && known && port < n; port++) {
		if (!ports.mask[port])
			continue;
		there = series->name; /* the device implies socket, unit and ports */
		memcpy(there.device, ports.device[port], sizeof(there.device));
		there.at.socket = unit->socket;
		there.at.index = unit->index;
		there.at.ports = ports.mask[port];
		there.spec.socket = there.spec.index = -1;
		rest &= ~ports.mask[port];
		rc = add_there(s, series, &there, 0);
	}
	if (rc < 0 || !rest || (known && !ports.unknown))
		return rc;
	there = series->name;
	there.spec.socket = unit->socket;
	there.spec.index = unit->index;
	if (rest != all) {
		there.port = __builtin_ctz(rest);
		there.at.ports = rest;
	}
	return add_there(s, series, &there, 0);
}

static int add_devices(struct unc_session *s, struct series *series, const char *stacks, int ports)
{
	const struct unc_unit *unit;
	int rc = 0;

	for (size_t i = 0; rc == 0 && (unit = unc_unit_get(s->platform, i)) != NULL; i++)
		if (is_chosen(series, stacks, unit))
			rc = add_stack(s, series, unit, ports);
	if (rc == 0 && !series->n)
		rc = unc_fail(&s->error, UNC_ERR_UNAVAILABLE,
			      "%s: no device is below a port of a PCIe stack", series->what.base);
	return rc;
}

/* Whether the name already has a place, so that there is only one. */
static bool has_place(const struct unc_name *name)
{
	return name->node >= 0 || name->device[0] || name->port >= 0;
}

/* Adds all places that `per` requests; if there are none, the place of the text itself. */
static int add_places(struct unc_session *s, struct series *series, unsigned per)
{
	const struct unc_table *t = s->platform->table;
	uint16_t type = per & (UNC_EACH_DEVICE | UNC_EACH_UNIT)
				? unc_describe_type(s->platform, &series->name)
				: UNC_NONE;
	const struct unc_spec *at = &series->name.spec;
	int rc = 0;

	if (series->what.metric && !series->what.metric->available)
		per &= ~(unsigned)UNC_EACH_UNIT;
	if (has_place(&series->name))
		return add_there(s, series, &series->name, 0);
	if (per & UNC_EACH_NODE)
		rc = add_nodes(s, series);
	else if (per & UNC_EACH_DEVICE && type != UNC_NONE && t->type[type].ports)
		return add_devices(s, series, unc_type_name(t, type), t->type[type].ports);
	else if (per & UNC_EACH_UNIT)
		rc = add_units_or_sockets(s, series, type);
	else if (per & (UNC_EACH_SOCKET | UNC_EACH_DEVICE))
		rc = add_at_sockets(s, series);
	return rc || series->n ? rc : add_place(s, series, at->socket, at->index);
}

/* Adds a text at its own place, or at each requested place. */
static int add_series(struct unc_session *s, const char *text, unsigned per, struct series *series)
{
	int rc = unc_platform_parse(s->platform, text, false, &series->name, &s->error);

	if (rc == 0)
		rc = unc_place_find(s->platform, &series->name, text, &s->error);
	if (rc == 0)
		rc = unc_describe_item(s->platform, &series->name, text, &series->what, &s->error);
	if (rc == 0)
		rc = add_places(s, series, per);
	if (rc == 0 && series->counted == 0 && !(per & UNC_EACH_LACKING)) {
		s->error = series->lacks;
		rc = s->error.code;
	}
	return rc;
}

/* Adds all of it, or nothing. */
static int add_all_or_nothing(struct unc_session *s, const char *text, unsigned per, int *first,
			      size_t *n)
{
	struct unc_checkpoint before = unc_session_checkpoint(s);
	struct series series = {.n = 0};
	int rc = add_series(s, text, per, &series);

	if (rc < 0) {
		unc_session_roll_back(s, before);
		return rc;
	}
	s->error = series.note;
	unc_session_unmeasure(s);
	*first = (int)before.items;
	*n = series.n;
	return 0;
}

int unc_session_add_each(struct unc_session *s, const char *text, unsigned per, int *first,
			 size_t *n)
{
	const unsigned known = UNC_EACH_SOCKET | UNC_EACH_UNIT | UNC_EACH_LACKING | UNC_EACH_NODE |
			       UNC_EACH_DEVICE;
	int rc = unc_session_enter_idle(s);

	if (rc == 0 && per & ~known)
		rc = unc_fail(&s->error, UNC_ERR_INVALID, "unknown places 0x%x of a series",
			      per & ~known);
	return rc < 0 ? rc : add_all_or_nothing(s, text, per, first, n);
}

int unc_session_add(struct unc_session *s, const char *text, int *id)
{
	size_t n;

	return unc_session_add_each(s, text, 0, id, &n);
}

/* ---- descriptions */

int unc_session_item(struct unc_session *s, int id, struct unc_item *out)
{
	const struct unc_session_item *item;
	struct unc_item told;
	int rc = unc_session_enter(s);

	if (rc < 0 || (rc = unc_struct_check(out->size, "unc_item", &s->error)) < 0)
		return rc;
	if (!(item = unc_session_find_item(s, id)))
		return s->error.code;
	told = *item->what;
	told.size = out->size;
	unc_struct_out(out, out->size, &told, sizeof(told));
	return 0;
}
