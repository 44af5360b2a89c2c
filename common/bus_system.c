/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCI functions and physical memory of the machine under a root: libpci for the configuration
 * space, /dev/mem for the memory.
 *
 * libpci prints and exits by itself unless its three callbacks are replaced. Its error callback
 * must not return and gets no argument to find its way by, so it jumps to where a thread-local
 * pointer says. What could fail is tested beforehand (the folder and its entries, the length of
 * names), so that the jump, which leaks what libpci holds, is taken only when memory runs out.
 */
#include "discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pci/pci.h>

#include "fs.h"

enum { VENDOR_INTEL = 0x8086, NAME_MAX_LIBPCI = 900 };

struct system_bus {
	struct unc_bus bus;
	struct unc_fs *fs;
	struct pci_access *pci;
	bool ready; /* the functions have been scanned */
};

struct escape {
	jmp_buf env;
	char text[200];
};

/* Where the error callback of this thread jumps to. */
static struct escape **escape_slot(void)
{
	static _Thread_local struct escape *slot;

	return &slot;
}

static void __attribute__((noreturn, format(printf, 1, 2))) on_error(char *format, ...)
{
	struct escape *escape = *escape_slot();
	va_list args;

	va_start(args, format);
	vsnprintf(escape->text, sizeof(escape->text), format, args);
	va_end(args);
	longjmp(escape->env, 1);
}

static void __attribute__((format(printf, 1, 2))) be_quiet(char *format, ...)
{
	(void)format;
}

/* Runs a call of libpci. False if it gave up; the reason is in *escape. */
static bool guarded(void (*run)(void *), void *arg, struct escape *escape)
{
	*escape_slot() = escape;
	if (setjmp(escape->env) == 0) {
		run(arg);
		*escape_slot() = NULL;
		return true;
	}
	*escape_slot() = NULL;
	return false;
}

static void start_libpci(void *arg)
{
	struct pci_access *pci = arg;

	pci_init(pci);
	pci_scan_bus(pci);
}

/* libpci gives up at the first entry that is not DOMAIN:BUS:DEVICE.FUNCTION. */
static int check_entries(const struct unc_fs *fs, struct unc_error *err)
{
	static const char where[] = "/sys/bus/pci/devices";
	unsigned domain, bus, device, function;
	struct dirent *entry;
	char path[PATH_MAX];
	DIR *dir = NULL;
	int rc = 0;

	if (unc_fs_path(fs, path, sizeof(path), "%s", where) == 0)
		dir = opendir(path);
	if (!dir)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"%s cannot be opened: no PCI bus is visible here", where);
	while (rc == 0 && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    sscanf(entry->d_name, "%x:%x:%x.%u", &domain, &bus, &device, &function) != 4)
			rc = unc_fail(err, UNC_ERR_IO, "%s: '%s' is no PCI function", where,
				      entry->d_name);
	closedir(dir);
	return rc;
}

static int scan_libpci(struct system_bus *system, struct unc_error *err)
{
	char path[PATH_MAX], method[] = "linux-sysfs", param[] = "sysfs.path";
	struct pci_access *pci = system->pci;
	struct escape escape;
	int rc;

	if (unc_fs_path(system->fs, path, sizeof(path), "/sys/bus/pci") < 0 ||
	    strlen(path) > NAME_MAX_LIBPCI)
		return unc_fail(err, UNC_ERR_RANGE, "the path of the root is too long for libpci");
	rc = check_entries(system->fs, err);
	if (rc < 0)
		return rc;
	if (pci_lookup_method(method) < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "libpci has no method '%s'", method);
	pci->method = (unsigned)pci_lookup_method(method);
	pci->error = on_error;
	pci->warning = be_quiet;
	pci->debug = be_quiet;
	pci->buscentric = 1; /* identity as the device itself tells it: a hidden one does not */
	if (pci_set_param(pci, param, path) < 0)
		return unc_fail(err, UNC_ERR_MEMORY, "libpci does not take '%s'", param);
	if (!guarded(start_libpci, pci, &escape))
		return unc_fail(err, UNC_ERR_IO, "libpci: %s", escape.text);
	system->ready = true;
	return 0;
}

/* A read of configuration space, to be run guarded. */
struct config_read {
	struct pci_dev *dev;
	unsigned offset;
	uint8_t byte[4];
	bool ok;
};

static void run_config_read(void *arg)
{
	struct config_read *read = arg;

	read->ok = pci_read_block(read->dev, (int)read->offset, read->byte, 4);
}

static bool config_dword(struct pci_dev *dev, unsigned offset, uint32_t *value)
{
	struct config_read read = {.dev = dev, .offset = offset};
	struct escape escape;
	uint8_t *b = read.byte;

	if (!guarded(run_config_read, &read, &escape) || !read.ok)
		return false;
	/* Configuration space is little-endian, whatever the machine is. */
	*value = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	return true;
}

/* First CPU of a list like "16-31,48-63"; -1 if there is none. */
static int first_cpu(const char *text)
{
	char *end;
	long cpu = strtol(text, &end, 10);

	return end == text || cpu < 0 || cpu > INT_MAX ? -1 : (int)cpu;
}

/*
 * Where the function is near to. A kernel that does not know its node gives all CPUs as local,
 * which says nothing.
 */
static void read_locality(const struct unc_fs *fs, struct unc_pci_function *f)
{
	char name[24], text[4096], online[4096], path[] = "/sys/bus/pci/devices/%s/%s";

	snprintf(name, sizeof(name), "%04x:%02x:%02x.%x", f->domain, f->bus, f->devfn >> 3,
		 f->devfn & 7);
	f->numa_node = -1;
	f->local_cpu = -1;
	if (unc_fs_text(fs, text, sizeof(text), path, name, "numa_node") == 0)
		f->numa_node = atoi(text);
	if (unc_fs_text(fs, text, sizeof(text), path, name, "local_cpulist") == 0 && *text &&
	    (unc_fs_text(fs, online, sizeof(online), "/sys/devices/system/cpu/online") < 0 ||
	     strcmp(text, online) != 0))
		f->local_cpu = first_cpu(text);
	if (f->local_cpu < 0 && f->numa_node >= 0 &&
	    unc_fs_text(fs, text, sizeof(text), "/sys/devices/system/node/node%d/cpulist",
			f->numa_node) == 0)
		f->local_cpu = first_cpu(text);
}

static int system_scan(struct unc_bus *bus, struct unc_pci_function **list, size_t *n,
		       struct unc_error *err)
{
	struct system_bus *system = (struct system_bus *)bus;
	struct unc_pci_function *found;
	size_t count = 0;
	int rc = system->ready ? 0 : scan_libpci(system, err);

	if (rc < 0)
		return rc;
	for (struct pci_dev *dev = system->pci->devices; dev; dev = dev->next)
		count++;
	found = calloc(count + 1, sizeof(*found));
	if (!found)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	count = 0;
	for (struct pci_dev *dev = system->pci->devices; dev; dev = dev->next) {
		uint32_t identity;

		if (dev->domain < 0 || dev->domain > 0xffff ||
		    !config_dword(dev, PCI_VENDOR_ID, &identity) ||
		    (identity & 0xffff) != VENDOR_INTEL)
			continue;
		found[count] = (struct unc_pci_function){
			.domain = (uint16_t)dev->domain,
			.bus = dev->bus,
			.devfn = (uint8_t)UNC_DEVFN(dev->dev, dev->func),
			.vendor = VENDOR_INTEL,
			.device = (uint16_t)(identity >> 16),
		};
		read_locality(system->fs, &found[count]);
		count++;
	}
	*list = found;
	*n = count;
	return 0;
}

static struct pci_dev *find_device(const struct system_bus *system,
				   const struct unc_pci_function *f)
{
	for (struct pci_dev *dev = system->ready ? system->pci->devices : NULL; dev;
	     dev = dev->next)
		if (dev->domain == f->domain && dev->bus == f->bus &&
		    UNC_DEVFN(dev->dev, dev->func) == f->devfn)
			return dev;
	return NULL;
}

static int system_config(struct unc_bus *bus, const struct unc_pci_function *f, unsigned offset,
			 uint32_t *value, struct unc_error *err)
{
	struct pci_dev *dev = find_device((struct system_bus *)bus, f);
	char name[24];

	snprintf(name, sizeof(name), "%04x:%02x:%02x.%x", f->domain, f->bus, f->devfn >> 3,
		 f->devfn & 7);
	if (!dev)
		return unc_fail(err, UNC_ERR_NOT_FOUND, "pci %s: no such function", name);
	if (offset & 3 || offset > 0xffc)
		return unc_fail(err, UNC_ERR_INVALID, "pci %s offset 0x%x: no place for a dword",
				name, offset);
	if (config_dword(dev, offset, value))
		return 0;
	if (offset > 0xff)
		return unc_fail(err, UNC_ERR_RANGE,
				"pci %s offset 0x%x: the extended configuration space is not "
				"reachable",
				name, offset);
	return unc_fail(err, UNC_ERR_PERMISSION,
			"pci %s offset 0x%x cannot be read: root is needed beyond offset 0x3f",
			name, offset);
}

static int open_memory(const struct unc_fs *fs, uint64_t address, size_t size, int *out,
		       struct unc_error *err)
{
	int fd = unc_fs_descriptor(fs, O_RDONLY | O_SYNC, "/dev/mem");
	struct stat st;

	if (fd == UNC_ERR_NOT_FOUND)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "/dev/mem: no such file");
	if (fd < 0)
		return unc_fail(err, fd, "/dev/mem: %s", unc_error_name(fd));
	/* Touching a mapping beyond the end of a plain file would kill the process. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (address > (uint64_t)st.st_size || (uint64_t)st.st_size - address < size)) {
		close(fd);
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"/dev/mem: 0x%" PRIx64 " to 0x%" PRIx64 " is not in this dump",
				address, address + size - 1);
	}
	*out = fd;
	return 0;
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
	rc = open_memory(system->fs, address, size, &fd, err);
	if (rc < 0)
		return rc;
	map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)(address - inside));
	rc = errno;
	close(fd);
	if (map == MAP_FAILED && (rc == EPERM || rc == EACCES))
		return unc_fail(err, UNC_ERR_PERMISSION,
				"/dev/mem: the kernel refuses 0x%" PRIx64 ": it is locked down, or "
				"built with STRICT_DEVMEM (boot with iomem=relaxed)",
				address);
	if (map == MAP_FAILED)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "/dev/mem: 0x%" PRIx64 ": %s", address,
				strerror(rc));
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = *(volatile uint64_t *)(map + inside + i);

		memcpy((char *)buf + i, &word, sizeof(word));
	}
	munmap(map, length);
	return 0;
}

static void system_close(struct unc_bus *bus)
{
	struct system_bus *system = (struct system_bus *)bus;

	pci_cleanup(system->pci);
	free(system);
}

static const struct unc_bus_methods system_methods = {
	.name = "libpci",
	.scan = system_scan,
	.config = system_config,
	.memory = system_memory,
	.close = system_close,
};

int unc_bus_open_system(struct unc_fs *fs, struct unc_bus **out, struct unc_error *err)
{
	struct system_bus *system = calloc(1, sizeof(*system));

	if (!system)
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	system->pci = pci_alloc();
	if (!system->pci) {
		free(system);
		return unc_fail(err, UNC_ERR_MEMORY, "out of memory");
	}
	system->bus.methods = &system_methods;
	system->fs = fs;
	*out = &system->bus;
	return 0;
}
