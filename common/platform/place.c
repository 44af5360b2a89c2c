/* SPDX-License-Identifier: BSD-3-Clause */
/* Places that are looked up on the machine: NUMA nodes, and devices by the ports above them. */
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "encode/name.h"
#include "platform/platform.h"

/* The search for a device among those of all stacks. */
struct search {
	const struct unc_instance *stack;
	const char *address; /* NULL: search by name */
	const char *name;
	struct unc_nearest nearest;
	unsigned found;
	struct unc_name *out;
};

/* Whether the names "mlx5_0,eth2" contain the one that is searched for. */
static bool has_name(struct search *s, const char *names)
{
	char name[UNC_DEVICE_MAX];
	bool has = false;

	while (names && unc_list_next(&names, name, sizeof(name))) {
		has |= strcmp(name, s->name) == 0;
		unc_nearest_try(&s->nearest, name);
	}
	return has;
}

static int search_stacks(void *user, const struct unc_device *device)
{
	struct search *s = user;
	char address[UNC_DEVICE_MAX];

	if (!unc_name_address(device->address, address) ||
	    (s->address ? strcmp(address, s->address) != 0
			: !device->names[0] || !has_name(s, device->names)))
		return 0;
	s->found++;
	snprintf(s->out->device, sizeof(s->out->device), "%s", address);
	s->out->at.socket = s->stack->socket;
	s->out->at.index = (int)s->stack->index;
	s->out->at.ports = device->ports;
	return 0;
}

static int fail_device(struct unc_platform *p, struct search *s, const char *text,
		       const char *unknown, struct unc_error *err)
{
	char buf[100];

	if (s->found > 1)
		return unc_fail(err, UNC_ERR_INVALID,
				"%s: %u devices are called %s; their bus address names one", text,
				s->found, s->name);
	if (s->found)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%s: the port of the stack above the device is not known", text);
	if (unknown[0])
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%s: the device is below no stack whose root bus is known; of "
				"others: %s",
				text, unknown);
	if (!p->instances.n)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s: this machine has no units", text);
	return unc_fail(err, UNC_ERR_NOT_FOUND,
			"%s: no PCIe stack has such a device%s; 'uncore units -v' lists them", text,
			s->address ? "" : unc_nearest_text(&s->nearest, buf, sizeof(buf)));
}

static int find_device(struct unc_platform *p, struct unc_name *name, const char *text,
		       struct unc_error *err)
{
	char wanted[UNC_DEVICE_MAX], address[UNC_DEVICE_MAX], unknown[UNC_ERROR_MAX] = "";
	struct search s = {.name = wanted, .out = name};

	memcpy(wanted, name->device, sizeof(wanted));
	s.address = unc_name_address(wanted, address) ? address : NULL;
	unc_nearest_start(&s.nearest, wanted);
	for (size_t i = 0; i < p->instances.n; i++) {
		s.stack = &p->instances.unit[i];
		if (!p->table->type[s.stack->type].ports)
			continue;
		if (unc_unit_devices(p, unc_unit_get(p, i), search_stacks, &s) < 0 && !unknown[0])
			snprintf(unknown, sizeof(unknown), "%s", unc_platform_error(p));
	}
	if (s.found == 1 && name->at.ports)
		return 0;
	return fail_device(p, &s, text, unknown, err);
}

/* Checks that other places in the name agree with the device's. */
static int check_agreement(struct unc_name *name, const char *text, struct unc_error *err)
{
	struct unc_spec *spec = &name->spec;

	if (name->node >= 0 || (spec->socket >= 0 && spec->socket != name->at.socket) ||
	    (spec->index >= 0 && spec->index != name->at.index) ||
	    (name->port >= 0 && 1u << name->port != name->at.ports))
		return unc_fail(err, UNC_ERR_INVALID,
				"%s: device= is a place already: port %d of unit %d, socket %d",
				text, __builtin_ctz(name->at.ports), name->at.index,
				name->at.socket);
	spec->socket = spec->index = name->port = -1;
	return 0;
}

int unc_place_find(struct unc_platform *p, struct unc_name *name, const char *text,
		   struct unc_error *err)
{
	int rc = 0;

	if (name->node < 0 && !name->device[0])
		return 0;
	if (!p->access)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%s: node= and device= name places of a machine, and the platform "
				"was opened for listing only",
				text);
	if (name->device[0])
		return (rc = find_device(p, name, text, err)) < 0
			       ? rc
			       : check_agreement(name, text, err);
	rc = unc_numa_socket(p, name->node, err);
	if (rc < 0) {
		unc_error_prefix(err, "%s", text);
		return rc;
	}
	if (name->spec.socket >= 0 && name->spec.socket != rc)
		return unc_fail(err, UNC_ERR_INVALID, "%s: node %d is of socket %d", text,
				name->node, rc);
	name->at.socket = rc;
	return 0;
}

int unc_place_put(const struct unc_platform *p, const struct unc_name *name, struct unc_spec *spec,
		  struct unc_error *err)
{
	unsigned ports = unc_name_ports(name);

	if (name->at.socket >= 0)
		spec->socket = name->at.socket;
	if (name->at.index >= 0)
		spec->index = name->at.index;
	return ports ? unc_spec_set_ports(p->table, spec, ports, err) : 0;
}
