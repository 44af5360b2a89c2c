/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCI functions and physical memory of the machine under a root: the kernel's data on functions,
 * their configuration space in sysfs, and /dev/mem.
 */
#include "machine/discover.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/access_pci.h"
#include "base/grow.h"
#include "host/cpu.h"
#include "host/fs.h"

enum { VENDOR_INTEL = 0x8086 };

static const char functions[] = "/sys/bus/pci/devices";

struct system_bus {
	struct unc_bus bus;
	struct unc_fs *fs;
	uint64_t function; /* the function read last, UNC_PCI(), and its file */
	int fd;            /* -1: none */
	char online[4096]; /* online CPUs, after the first use */
};

/* ------------------------------------------------------------ configuration space */

static uint64_t address_of(const struct unc_pci_function *f, unsigned offset)
{
	return UNC_PCI(f->domain, f->bus, f->devfn, offset);
}

/* Reads a dword; returns 0 or an errno value. */
static int config_dword(struct system_bus *system, uint64_t address, uint32_t *value)
{
	uint64_t function = UNC_PCI_FUNCTION(address);
	uint32_t word; /* little-endian, as configuration space is */
	int rc;

	if (system->fd < 0 || system->function != function) {
		if (system->fd >= 0)
			close(system->fd);
		system->function = function;
		system->fd = unc_fs_regular(system->fs, UNC_PCI_CONFIG_PATH,
					    unc_pci_name(function).text);
	}
	if (system->fd < 0)
		return errno;
	rc = unc_fs_read_at(system->fs, system->fd, &word, sizeof(word), UNC_PCI_OFFSET(address));
	if (rc == 0)
		*value = le32toh(word);
	return rc;
}

static int system_config(struct unc_bus *bus, const struct unc_pci_function *f, unsigned offset,
			 uint32_t *value, struct unc_error *err)
{
	struct system_bus *system = (struct system_bus *)bus;
	int rc;

	if (offset & 3 || offset > 0xffc)
		return unc_fail(err, UNC_ERR_INVALID, "pci %s offset 0x%x: no place for a dword",
				unc_pci_name(address_of(f, 0)).text, offset);
	rc = config_dword(system, address_of(f, offset), value);
	return rc ? unc_pci_fail(system->fs, address_of(f, offset), rc, err) : 0;
}

/* -------------------------------------------------------------------- the functions */

/* Finds the first and last CPU of a list like "16-31,48-63"; without one they are unchanged. */
static void ends_of_list(const char *text, int *first, int *last)
{
	bool cpu[UNC_MAX_CPUS] = {false};

	if (!unc_cpu_list(text, cpu))
		return;
	for (int i = 0; i < UNC_MAX_CPUS; i++)
		if (cpu[i]) {
			*first = *first < 0 ? i : *first;
			*last = i;
		}
}

/* Returns the kernel's list of online CPUs; "": not available. */
static const char *online(struct system_bus *system)
{
	if (!*system->online)
		unc_fs_text(system->fs, system->online, sizeof(system->online),
			    "/sys/devices/system/cpu/online");
	return system->online;
}

/* Reads a number from a file of a function. */
static bool read_noted(const struct unc_fs *fs, const char *name, const char *file, unsigned most,
		       unsigned *value)
{
	char text[32];

	return unc_fs_text(fs, text, sizeof(text), "/sys/bus/pci/devices/%s/%s", name, file) == 0 &&
	       sscanf(text, "%x", value) == 1 && *value <= most;
}

/*
 * Reads the class of a function, and its node and local CPUs. A kernel that does not know the node
 * gives all CPUs as local, which is ignored.
 */
static void system_tell(struct unc_bus *bus, struct unc_pci_function *f)
{
	struct system_bus *system = (struct system_bus *)bus;
	const struct unc_pci_name function = unc_function_name(f);
	const char *name = function.text;
	char text[4096], path[] = "/sys/bus/pci/devices/%s/%s";
	unsigned kind;

	if (read_noted(system->fs, name, "class", 0xffffff, &kind))
		f->kind = (uint16_t)(kind >> 8); /* base class and sub-class only */
	f->numa_node = f->local_cpu = f->local_last = -1;
	if (unc_fs_text(system->fs, text, sizeof(text), path, name, "numa_node") == 0)
		f->numa_node = atoi(text);
	if (unc_fs_text(system->fs, text, sizeof(text), path, name, "local_cpulist") == 0 &&
	    *text && strcmp(text, online(system)) != 0)
		ends_of_list(text, &f->local_cpu, &f->local_last);
	if (f->local_cpu < 0 && f->numa_node >= 0 &&
	    unc_fs_text(system->fs, text, sizeof(text), "/sys/devices/system/node/node%d/cpulist",
			f->numa_node) == 0)
		ends_of_list(text, &f->local_cpu, &f->local_last);
}

/*
 * Finds vendor and device from the kernel's data. Configuration space is not read for that, because the
 * kernel would wake a sleeping function; it is read only if the kernel's data is missing (a dump without
 * these files). False: another vendor. A function that cannot be read may be Intel's.
 */
static bool identify_function(const struct system_bus *system, const char *name,
			      struct unc_pci_function *f)
{
	const struct unc_pci_noted *row = unc_pci_list_find(&system->bus.noted, name);
	unsigned vendor = 0, device = 0;
	uint32_t identity = 0;

	if (row)
		identity = (uint32_t)row->device << 16 | row->vendor;
	else if (read_noted(system->fs, name, "vendor", 0xffff, &vendor) &&
		 (vendor != VENDOR_INTEL ||
		  read_noted(system->fs, name, "device", 0xffff, &device)))
		identity = device << 16 | vendor;
	else
		f->errno_value = (int16_t)unc_pci_dword(system->fs, address_of(f, 0), &identity);
	f->vendor = (uint16_t)identity;
	f->device = (uint16_t)(identity >> 16);
	return f->errno_value || f->vendor == VENDOR_INTEL;
}

/* Parses DOMAIN:BUS:DEVICE.FUNCTION, as the kernel writes it. */
static bool parse_pci_name(const char *name, struct unc_pci_function *f)
{
	unsigned domain, bus, device, function;

	if (sscanf(name, "%8x:%2x:%2x.%1o", &domain, &bus, &device, &function) != 4 ||
	    domain > 0xffff || device > 31)
		return false;
	*f = (struct unc_pci_function){.domain = (uint16_t)domain,
				       .bus = (uint8_t)bus,
				       .devfn = (uint8_t)UNC_DEVFN(device, function)};
	return strcmp(name, unc_pci_name(address_of(f, 0)).text) == 0;
}

/* Whether the domain is above 0xffff: the kernel invents such domains (VMD), and they have no monitors. */
static bool other_domain(const char *name)
{
	return strspn(name, "0123456789abcdef") > 4 &&
	       name[strspn(name, "0123456789abcdef")] == ':';
}

static void note_bad_name(const struct unc_bus *bus, const char *name)
{
	char text[200];

	snprintf(text, sizeof(text), "%s: '%.80s' is no PCI function; ignored", functions, name);
	if (bus->note)
		bus->note(bus->user, text);
}

static int list_functions(struct system_bus *system, char *const *list, struct unc_error *err)
{
	struct unc_bus *bus = &system->bus;

	bus->n_functions = 0;
	for (; *list; list++) {
		const char *name = *list;
		struct unc_pci_function f, *added;

		if (name[0] == '.' || other_domain(name))
			continue;
		if (!parse_pci_name(name, &f)) {
			note_bad_name(bus, name);
			continue;
		}
		if (!identify_function(system, name, &f))
			continue;
		if (!(added = UNC_ADD_TO(bus->function, bus->n_functions)))
			return unc_no_memory(err);
		*added = f;
	}
	return 0;
}

static int system_scan(struct unc_bus *bus, struct unc_error *err)
{
	struct system_bus *system = (struct system_bus *)bus;
	char **list;
	int rc;

	if (bus->function)
		return 0;
	list = unc_fs_list(system->fs, "%s", functions);
	if (!list && errno == EIO)
		return unc_fail(err, UNC_ERR_IO, "%s cannot be listed: %s", functions,
				strerror(errno));
	if (!list)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s cannot be opened: %s", functions,
				errno == ENOENT ? "no PCI bus is visible here" : strerror(errno));
	rc = unc_pci_list_read(system->fs, &bus->noted) ? list_functions(system, list, err)
							: unc_no_memory(err);
	free(list);
	if (rc < 0) {
		free(bus->function);
		bus->function = NULL;
		bus->n_functions = 0;
	}
	return rc;
}

/* --------------------------------------------------------------------------- memory */

static int open_mem(const struct unc_fs *fs, uint64_t address, size_t size, int *out,
		    struct unc_error *err)
{
	int fd = unc_fs_descriptor(fs, O_RDONLY | O_SYNC, "/dev/mem");
	struct stat st;

	if (fd == UNC_ERR_NOT_FOUND)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "/dev/mem: no such file");
	if (fd < 0)
		return unc_fail(err, fd, "/dev/mem: %s", unc_fs_reason(errno));
	/* Access to a mapping past the end of a plain file would kill the process. */
	if (!unc_fs_replayed(fs) && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (address > (uint64_t)st.st_size || (uint64_t)st.st_size - address < size)) {
		close(fd);
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"/dev/mem: 0x%" PRIx64 " to 0x%" PRIx64 " is not in this dump",
				address, address + size - 1);
	}
	*out = fd;
	return 0;
}

static int fail_memory(uint64_t address, int rc, struct unc_error *err)
{
	if (rc == EPERM || rc == EACCES)
		return unc_fail(err, UNC_ERR_PERMISSION,
				"/dev/mem: the kernel refuses 0x%" PRIx64 ": it is locked down, or "
				"built with STRICT_DEVMEM (boot with iomem=relaxed)",
				address);
	if (rc == ENODATA)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"/dev/mem: 0x%" PRIx64 " is not in this dump", address);
	return unc_fail(err, UNC_ERR_UNAVAILABLE, "/dev/mem: 0x%" PRIx64 ": %s", address,
			strerror(rc));
}

static int system_memory(struct unc_bus *bus, uint64_t address, void *buf, size_t size,
			 struct unc_error *err)
{
	struct system_bus *system = (struct system_bus *)bus;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), inside = address & (page - 1);
	size_t length = (size_t)inside + size;
	int fd = -1, rc;
	char *map;

	if (address & 7 || size & 7 || !size || address + size < address)
		return unc_fail(err, UNC_ERR_INVALID, "memory at 0x%" PRIx64 " is not aligned to 8",
				address);
	rc = open_mem(system->fs, address, size, &fd, err);
	if (rc < 0)
		return rc;
	if (unc_fs_replayed(system->fs)) {
		rc = unc_fs_read_at(system->fs, fd, buf, size, address);
		close(fd);
		return rc ? fail_memory(address, rc, err) : 0;
	}
	map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)(address - inside));
	rc = map == MAP_FAILED ? errno : 0;
	for (size_t i = 0; rc == 0 && i < size; i += 8) {
		uint64_t word = *(volatile uint64_t *)(map + inside + i);

		memcpy((char *)buf + i, &word, sizeof(word));
	}
	unc_fs_note(system->fs, fd, false, buf, size, address, rc);
	close(fd);
	if (rc)
		return fail_memory(address, rc, err);
	munmap(map, length);
	return 0;
}

static void system_close(struct unc_bus *bus)
{
	struct system_bus *system = (struct system_bus *)bus;

	if (system->fd >= 0)
		close(system->fd);
	free(bus->function);
	unc_pci_list_free(&bus->noted);
	free(system);
}

static const struct unc_bus_methods system_methods = {
	.scan = system_scan,
	.tell = system_tell,
	.config = system_config,
	.memory = system_memory,
	.close = system_close,
};

int unc_bus_open_system(struct unc_fs *fs, struct unc_bus **out, struct unc_error *err)
{
	struct system_bus *system = calloc(1, sizeof(*system));

	if (!system)
		return unc_no_memory(err);
	system->bus.methods = &system_methods;
	system->fs = fs;
	system->fd = -1;
	*out = &system->bus;
	return 0;
}
