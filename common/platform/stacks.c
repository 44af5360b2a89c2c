/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCIe stacks: the root bus that the kernel's driver tells of a unit (Linux, ABI
 * sysfs-devices-mapping), and what is below it, by the links of /sys/bus/pci/devices alone. Nothing of
 * a device is read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode/kernel.h"
#include "host/fs.h"
#include "platform/platform.h"

static const char functions[] = "/sys/bus/pci/devices";

/* What a driver makes of a function, in the order in which people look for it. */
static const char *const kinds[] = {"infiniband", "net", "nvme", "drm", "dma", "accel"};

struct walk {
	struct unc_platform *p;
	const struct unc_tbl_type *type;
	const char *bus;
	unc_device_fn fn;
	void *user;
};

static const struct unc_instance *instance_of(const struct unc_platform *p,
					      const struct unc_unit *unit)
{
	for (size_t i = 0; i < p->instances.n; i++)
		if (&p->unit[i] == unit)
			return &p->instances.unit[i];
	return NULL;
}

/*
 * The file of a unit that is nowhere reads 0000:00 on Ice Lake and Snow Ridge, as if it were on bus
 * 0: that is believed of the one unit that can be there, on the first socket.
 */
static int read_bus(struct unc_platform *p, const struct unc_instance *unit, char *bus, size_t size)
{
	const struct unc_tbl_type *type = &p->table->type[unit->type];
	char pmu[UNC_KERNEL_NAME], text[32];
	unsigned domain, number;
	int used = 0;

	if (!unc_kernel_pmu(p->table, unit->type, 0, unit->index, pmu, sizeof(pmu)) ||
	    !p->machine->tree ||
	    unc_fs_text(p->machine->tree, text, sizeof(text),
			"/sys/bus/event_source/devices/%s/die%d", pmu, unit->socket) < 0)
		return unc_platform_fail(p, UNC_ERR_UNAVAILABLE,
					 "the kernel does not tell which root bus the stack has");
	if (sscanf(text, "%4x:%2x%n", &domain, &number, &used) != 2 || text[used])
		return unc_platform_fail(p, UNC_ERR_UNAVAILABLE,
					 "the kernel's %s/die%d is '%s', which is no bus", pmu,
					 unit->socket, text);
	if (!domain && !number && (unit->index != type->bus_zero || unit->socket))
		return unc_platform_fail(p, UNC_ERR_UNAVAILABLE,
					 "the kernel knows of no root bus of the stack");
	snprintf(bus, size, "%04x:%02x", domain, number);
	return 0;
}

int unc_unit_bus(struct unc_platform *p, const struct unc_unit *unit, char bus[UNC_BUS_MAX])
{
	const struct unc_instance *of = instance_of(p, unit);

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;
	unc_platform_fail(p, UNC_OK, "%s", "");
	if (!of || !p->table->type[of->type].ports)
		return unc_platform_fail(p, UNC_ERR_NOT_FOUND, "the unit is no PCIe stack");
	return read_bus(p, of, bus, UNC_BUS_MAX);
}

/* ---- devices */

static bool is_bridge(const struct unc_fs *fs, const char *address)
{
	char text[16];

	return unc_fs_text(fs, text, sizeof(text), "%s/%s/class", functions, address) < 0 ||
	       strncmp(text, "0x0604", 6) == 0;
}

static void add_names(const struct unc_fs *fs, const char *address, const char *kind, char *names,
		      size_t size)
{
	char **list = unc_fs_list(fs, "%s/%s/%s", functions, address, kind);

	for (char **name = list; name && *name; name++) {
		size_t n = strlen(names);

		/* Of a card of drm the other nodes are the same once more. */
		if (strcmp(kind, "drm") == 0 && strncmp(*name, "card", 4) != 0)
			continue;
		snprintf(names + n, size - n, "%s%s", n ? "," : "", *name);
	}
	free(list);
}

/* "0000:16:02.0": its device number, -1 if it is no function. */
static int device_of(const char *address)
{
	unsigned domain, bus, device, function;

	return sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4 ? (int)device
										      : -1;
}

/*
 * "../../../devices/pci0000:16/0000:16:02.0/0000:17:00.0": behind the bus stands the root port, at
 * the end the function. Behind a VMD there is another root bus, whose ports keep their numbers.
 */
static int port_of(const struct unc_tbl_type *type, const char *way)
{
	const char *vmd = strstr(way, "/pci");
	int device;

	way = vmd ? strchr(vmd + 1, '/') : strchr(way, '/');
	device = way ? device_of(way + 1) : -1;
	return device >= type->port_zero && device < type->port_zero + type->ports
		       ? device - type->port_zero
		       : -1;
}

static int tell(const struct walk *w, const char *address)
{
	struct unc_device device = {.size = sizeof(device), .address = address};
	char link[4096], names[256] = "", root[32];
	const char *way;

	if (!unc_fs_link(w->p->machine->tree, link, sizeof(link), "%s/%s", functions, address))
		return 0;
	snprintf(root, sizeof(root), "/pci%s/", w->bus);
	way = strstr(link, root);
	if (!way || is_bridge(w->p->machine->tree, address))
		return 0;
	way += strlen(root) - 1;
	/* Functions of the stack itself are below no port. */
	if (!strchr(way + 1, '/'))
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		add_names(w->p->machine->tree, address, kinds[i], names, sizeof(names));
	device.port = port_of(w->type, way);
	device.names = names;
	return w->fn(w->user, &device);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int unc_unit_devices(struct unc_platform *p, const struct unc_unit *unit, unc_device_fn fn,
		     void *user)
{
	char bus[UNC_BUS_MAX], **list;
	size_t n = 0;
	struct walk w = {.p = p, .bus = bus, .fn = fn, .user = user};
	const struct unc_instance *of = instance_of(p, unit);
	int rc = unc_unit_bus(p, unit, bus);

	if (rc < 0 || !of)
		return rc;
	w.type = &p->table->type[of->type];
	list = unc_fs_list(p->machine->tree, "%s", functions);
	if (!list)
		return unc_platform_fail(p, unc_fs_error(errno), "%s: %s", functions,
					 unc_fs_reason(errno));
	while (list[n])
		n++;
	qsort(list, n, sizeof(*list), compare_names);
	for (char **name = list; *name && rc == 0; name++)
		rc = tell(&w, *name);
	free(list);
	return rc;
}
