/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCIe stacks: the root bus of a unit, from the kernel's driver (Linux, ABI sysfs-devices-mapping)
 * or from registers; and the devices on it and below, from the links of /sys/bus/pci/devices alone.
 * Nothing of a device is read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode/kernel.h"
#include "host/fs.h"
#include "machine/stack_map.h"
#include "platform/platform.h"

static const char functions[] = "/sys/bus/pci/devices";

/* Classes of a function's driver, in the order in which people look for them. */
static const char *const kinds[] = {"infiniband", "net", "nvme", "drm", "dma", "accel"};

struct walk {
	struct unc_platform *p;
	const struct unc_fs *fs;
	const struct unc_tbl_type *type;
	struct unc_stack_bus bus;
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
 * Reads the kernel's file. On Ice Lake and Snow Ridge the file of a unit without a bus reads
 * 0000:00, as if it were on bus 0: that is believed only of the one unit that can be there, on the
 * first socket. UNC_ERR_NOT_FOUND: no file.
 */
static int by_kernel(const struct unc_platform *p, const struct unc_instance *unit,
		     struct unc_stack_bus *out, struct unc_error *err)
{
	const struct unc_tbl_type *type = &p->table->type[unit->type];
	char pmu[UNC_KERNEL_NAME], text[32];
	unsigned domain, number;
	int used = 0;

	if (!p->machine->fs ||
	    !unc_kernel_pmu(p->table, unit->type, 0, unit->index, pmu, sizeof(pmu)) ||
	    unc_fs_text(p->machine->fs, text, sizeof(text),
			"/sys/bus/event_source/devices/%s/die%d", pmu, unit->socket) < 0)
		return UNC_ERR_NOT_FOUND;
	if (sscanf(text, "%4x:%2x%n", &domain, &number, &used) != 2 || text[used])
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the kernel's %s/die%d is '%s', which is no bus", pmu, unit->socket,
				text);
	if (!domain && !number && (unit->index != type->bus_zero || unit->socket))
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"the kernel knows of no root bus of the stack");
	*out = (struct unc_stack_bus){.domain = (uint16_t)domain, .bus = (uint8_t)number};
	return 0;
}

static int by_registers(const struct unc_platform *p, const struct unc_instance *unit,
			struct unc_stack_bus *out, struct unc_error *err)
{
	struct unc_error why = {0};
	struct unc_bus *bus;
	int rc;

	if (!p->access)
		return unc_fail(
			err, UNC_ERR_UNAVAILABLE,
			"the root bus of the stack is not known: the platform is for listing "
			"only");
	if ((rc = unc_bus_open_system(p->machine->fs, &bus, err)) < 0)
		return rc;
	bus->gate = p->access;
	rc = unc_stack_by_registers(p->table, &p->topology, bus, &p->instances, unit, out, &why);
	bus->methods->close(bus);
	return rc < 0 ? unc_fail(err, rc,
				 "the kernel does not tell which root bus the stack has; %s",
				 why.text)
		      : 0;
}

static int find_bus(struct unc_platform *p, const struct unc_unit *unit, struct unc_stack_bus *out,
		    const struct unc_instance **of)
{
	struct unc_error err = {0};
	int rc;

	if (!unc_platform_here(p))
		return UNC_ERR_STATE;
	*of = instance_of(p, unit);
	unc_platform_fail(p, UNC_OK, "%s", "");
	if (!*of || !p->table->type[(*of)->type].ports)
		return unc_platform_fail(p, UNC_ERR_NOT_FOUND, "the unit is no PCIe stack");
	rc = by_kernel(p, *of, out, &err);
	if (rc == UNC_ERR_NOT_FOUND)
		rc = by_registers(p, *of, out, &err);
	return rc < 0 ? unc_platform_keep(p, &err) : 0;
}

int unc_unit_stack(struct unc_platform *p, const struct unc_unit *unit, struct unc_stack *out)
{
	const struct unc_instance *of;
	struct unc_stack_bus bus;
	struct unc_stack full = {.size = out->size};
	int rc = find_bus(p, unit, &bus, &of);

	if (rc < 0)
		return rc;
	snprintf(full.bus, sizeof(full.bus), "%04x:%02x", bus.domain, bus.bus);
	full.from = !bus.map       ? "by the kernel"
		    : bus.map->one ? "by registers, as one source alone reads them"
				   : "by registers";
	memcpy(out, &full, out->size < sizeof(full) ? out->size : sizeof(full));
	return 0;
}

/* ---- devices */

static bool is_bridge(const struct unc_fs *fs, const char *address)
{
	char text[16];

	return unc_fs_text(fs, text, sizeof(text), "%s/%s/class", functions, address) < 0 ||
	       strncmp(text, "0x0604", 6) == 0;
}

/* The chipset is on bus 0000:00, below the DMI port, which is no bridge (8086:2020 is a host bridge). */
static bool has_chipset(const struct walk *w)
{
	return w->type->port_dmi && !w->bus.domain && !w->bus.bus;
}

/* The chipset's devices on its root bus: disks (not a VMD, which is the CPU's), network, display and USB. */
static bool is_of_chipset(const struct walk *w, const char *address)
{
	char text[16] = "";

	return has_chipset(w) &&
	       unc_fs_text(w->fs, text, sizeof(text), "%s/%s/class", functions, address) == 0 &&
	       (strncmp(text, "0x0106", 6) == 0 || strncmp(text, "0x0107", 6) == 0 ||
		strncmp(text, "0x02", 4) == 0 || strncmp(text, "0x03", 4) == 0 ||
		strncmp(text, "0x0c03", 6) == 0);
}

static void add_names(const struct unc_fs *fs, const char *address, const char *kind, char *names,
		      size_t size)
{
	char **list = unc_fs_list(fs, "%s/%s/%s", functions, address, kind);

	for (char **name = list; name && *name; name++) {
		size_t n = strlen(names);

		/* Other nodes of a drm card repeat the card. */
		if (strcmp(kind, "drm") == 0 && strncmp(*name, "card", 4) != 0)
			continue;
		snprintf(names + n, size - n, "%s%s", n ? "," : "", *name);
	}
	free(list);
}

/* A function on a root bus, by its name. */
struct place {
	unsigned domain, bus, device, function;
};

static bool parse_name(const char *name, struct place *out)
{
	return sscanf(name, "%x:%x:%x.%x", &out->domain, &out->bus, &out->device, &out->function) ==
	       4;
}

static unsigned number_in(const struct unc_fs *fs, const char *address, const char *file)
{
	char text[16];

	return unc_fs_text(fs, text, sizeof(text), "%s/%s/%s", functions, address, file) == 0
		       ? (unsigned)strtoul(text, NULL, 16)
		       : 0;
}

/* The physical function of a virtual one: "../0000:17:00.0". False: it is not virtual. */
static bool find_physical(const struct unc_fs *fs, const char *address, char out[32])
{
	char link[4096];
	const char *name;

	if (!unc_fs_link(fs, link, sizeof(link), "%s/%s/physfn", functions, address))
		return false;
	name = strrchr(link, '/');
	snprintf(out, 32, "%.31s", name ? name + 1 : link);
	return true;
}

/* The row of the tables for a function on the stack's root bus, or `behind` buses after it. */
static const struct unc_tbl_endpoint *endpoint_of(const struct walk *w, const char *address,
						  unsigned behind)
{
	const struct unc_tbl_endpoint *row = NULL;
	char physical[32];
	unsigned id;

	if (find_physical(w->fs, address, physical))
		address = physical;
	if (number_in(w->fs, address, "vendor") != 0x8086)
		return NULL;
	id = number_in(w->fs, address, "device");
	while ((row = UNC_NEXT(w->p->table, endpoint, w->type->endpoints, row)))
		if (row->id == id && row->bus == behind &&
		    (!row->chip || (w->bus.map && w->bus.map->chip == row->chip)))
			break;
	return row;
}

/* Behind a VMD there is another root bus, whose ports keep their numbers. */
static unsigned ports_of(const struct walk *w, const char *way)
{
	const char *vmd = strstr(way, "/pci");
	const struct unc_tbl_type *type = w->type;
	struct place port;
	unsigned first = type->port_zero;

	if (vmd)
		way = strchr(vmd + 1, '/') + 1;
	if (!parse_name(way, &port))
		return 0;
	if (!port.device && type->port_dmi)
		return 1u << (type->port_dmi - 1);
	if (port.device >= first && port.device - first < type->ports)
		return 1u << (port.device - first);
	return !vmd && has_chipset(w) ? 1u << (type->port_dmi - 1) : 0;
}

/*
 * "../../../devices/pci0000:16/0000:16:02.0/0000:17:00.0": the root port follows the bus, the
 * function is last. False: the function is not of this stack, or is no user's device.
 */
static bool find_ports(const struct walk *w, const char *link, unsigned *ports)
{
	const char *way = strstr(link, "/pci"), *below;
	const struct unc_tbl_endpoint *row;
	unsigned domain, bus;
	char address[32];
	int used = 0;

	if (!way || sscanf(way, "/pci%x:%x/%n", &domain, &bus, &used) != 2 || !used ||
	    domain != w->bus.domain || bus < w->bus.bus)
		return false;
	way += used;
	below = strchr(way, '/');
	snprintf(address, sizeof(address), "%.*s", (int)strcspn(way, "/"), way);
	row = endpoint_of(w, address, bus - w->bus.bus);
	*ports = row ? row->ports : 0;
	if (row || bus != w->bus.bus)
		return row != NULL;
	/* Other functions of the stack itself are below no port. */
	if (!below && !is_of_chipset(w, address))
		return false;
	*ports = ports_of(w, way);
	return true;
}

/* The root port of a function, by its link: the last function on a root bus ("/pci10000:00/..." of a VMD). */
static void find_root_port(const char *link, char port[32])
{
	const char *root = link;

	for (const char *next = link; (next = strstr(next, "/pci")) != NULL; next++)
		root = next;
	root = strchr(root + 1, '/');
	snprintf(port, 32, "%.*s", root ? (int)strcspn(root + 1, "/") : 0, root ? root + 1 : "");
}

/* The bandwidth of a link: its transfers carry 8 of 10 bits up to 5 GT/s, 128 of 130 up to 32 GT/s,
 * and above that 242 of 256 bytes (PCI Express Base Specification). */
static void find_link(const struct walk *w, const char *way, struct unc_device *out, char text[32])
{
	static const struct {
		double transfers, share; /* 10^9 per second and lane */
	} generation[] = {{2.5, 0.8},        {5, 0.8},          {8, 128 / 130.0},
			  {16, 128 / 130.0}, {32, 128 / 130.0}, {64, 242 / 256.0}};
	char port[32], speed[32], width[16];
	double transfers;
	unsigned lanes;

	find_root_port(way, port);
	if (unc_fs_text(w->fs, speed, sizeof(speed), "%s/%s/current_link_speed", functions, port) <
		    0 ||
	    unc_fs_text(w->fs, width, sizeof(width), "%s/%s/current_link_width", functions, port) <
		    0)
		return;
	transfers = strtod(speed, NULL); /* "32.0 GT/s PCIe" */
	lanes = (unsigned)strtoul(width, NULL, 10);
	for (unsigned i = 0; i < sizeof(generation) / sizeof(generation[0]) && lanes; i++)
		if (transfers == generation[i].transfers) {
			snprintf(text, 32, "gen%u x%u", i + 1, lanes);
			out->link_bytes = transfers * 1e9 / 8 * generation[i].share * lanes;
		}
}

static int describe_bus(const struct walk *w, const char *address)
{
	struct unc_device device = {.size = sizeof(device), .address = address};
	char link[4096], names[256] = "", model[160], physical[32] = "", lanes[32] = "";

	if (!unc_fs_link(w->fs, link, sizeof(link), "%s/%s", functions, address) ||
	    !find_ports(w, link, &device.ports) || is_bridge(w->fs, address))
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		add_names(w->fs, address, kinds[i], names, sizeof(names));
	/* A dump has no names: those of this system are used. */
	pthread_mutex_lock(&w->p->lock);
	unc_pci_name_of(&w->p->pci_names, unc_fs_replayed(w->fs) ? NULL : w->fs,
			number_in(w->fs, address, "vendor"), number_in(w->fs, address, "device"),
			model, sizeof(model));
	pthread_mutex_unlock(&w->p->lock);
	find_physical(w->fs, address, physical);
	device.port = device.ports ? __builtin_ctz(device.ports) : -1;
	device.names = names;
	device.model = model;
	device.function_of = physical;
	device.link = lanes;
	/* The chipset's root ports are behind the DMI port; their links are not its links. */
	if (!has_chipset(w) || device.port != w->type->port_dmi - 1)
		find_link(w, link, &device, lanes);
	return w->fn(w->user, &device);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int unc_unit_devices(struct unc_platform *p, const struct unc_unit *unit, unc_device_fn fn,
		     void *user)
{
	struct walk w = {.p = p, .fs = p->machine->fs, .fn = fn, .user = user};
	const struct unc_instance *of = NULL;
	char **list;
	size_t n = 0;
	int rc = find_bus(p, unit, &w.bus, &of);

	if (rc < 0 || !of)
		return rc;
	w.type = &p->table->type[of->type];
	list = w.fs ? unc_fs_list(w.fs, "%s", functions) : NULL;
	if (!list)
		return unc_platform_fail(p, unc_fs_error(errno), "%s: %s", functions,
					 unc_fs_reason(errno));
	while (list[n])
		n++;
	if (n)
		qsort(list, n, sizeof(*list), compare_names);
	for (char **name = list; *name && rc == 0; name++)
		rc = describe_bus(&w, *name);
	free(list);
	return rc;
}
