/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCI functions and physical memory of the machine under a root: libpci for the configuration
 * space, /dev/mem for the memory.
 *
 * libpci gives up a whole scan at the first name that it does not like, tells no reasons, and
 * prints and exits by itself unless its three callbacks are replaced. So the folder is listed here,
 * each function is given to libpci by its address, and where libpci fails the file is asked why.
 * Its error callback must not return and gets no argument to find its way by: it jumps to where a
 * thread-local pointer says. All that it can still fail of is memory.
 */
#include "machine/discover.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pci/pci.h>

#include "access/access_pci.h"
#include "base/grow.h"
#include "host/cpu.h"
#include "host/fs.h"

enum {
	VENDOR_INTEL = 0x8086,
	NAME_MAX_LIBPCI = 900,
	/* More than pci_alloc() takes, which crashes without memory before it has callbacks. */
	ALLOC_ROOM = 1 << 16
};

static const char functions[] = "/sys/bus/pci/devices";

struct system_bus {
	struct unc_bus bus;
	struct unc_fs *fs;
	struct pci_access *pci;
	struct pci_dev *dev; /* the function that was read last: its file is open */
	bool ready;          /* libpci knows where to look */
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

	UNC_FORMAT(escape->text, format);
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

/* ------------------------------------------------------------ configuration space */

static void start_libpci(void *arg)
{
	struct system_bus *system = arg;
	char path[PATH_MAX], param[] = "sysfs.path";

	unc_fs_path(system->fs, path, sizeof(path), "/sys/bus/pci");
	system->ready = pci_set_param(system->pci, param, path) == 0;
	pci_init(system->pci);
}

static int open_libpci(struct system_bus *system, struct unc_error *err)
{
	struct pci_access *pci = system->pci;
	char path[PATH_MAX], method[] = "linux-sysfs";
	struct escape escape;

	if (system->ready)
		return 0;
	if (!pci)
		return unc_fail(err, UNC_ERR_MEMORY, "libpci has given up");
	if (unc_fs_path(system->fs, path, sizeof(path), "/sys/bus/pci") < 0 ||
	    strlen(path) > NAME_MAX_LIBPCI)
		return unc_fail(err, UNC_ERR_RANGE, "the path of the root is too long for libpci");
	if (pci_lookup_method(method) < 0)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "libpci has no method '%s'", method);
	pci->method = (unsigned)pci_lookup_method(method);
	pci->error = on_error;
	pci->warning = be_quiet;
	pci->debug = be_quiet;
	if (!guarded(start_libpci, system, &escape)) {
		system->ready = false;
		system->pci = NULL; /* it keeps what it has freed: closing it would free it again */
		return unc_fail(err, UNC_ERR_MEMORY, "libpci: %s", escape.text);
	}
	if (!system->ready)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "libpci does not take 'sysfs.path'");
	return 0;
}

static uint64_t address_of(const struct unc_pci_function *f, unsigned offset)
{
	return UNC_PCI(f->domain, f->bus, f->devfn, offset);
}

/* A read of configuration space, to be run guarded. */
struct config_read {
	struct system_bus *system;
	const struct unc_pci_function *function;
	unsigned offset;
	uint32_t word; /* little-endian, as configuration space is */
	bool ok;
};

/* Whether it is the function that was read last. */
static bool is_open(const struct system_bus *system, const struct unc_pci_function *f)
{
	const struct pci_dev *dev = system->dev;

	return dev && dev->domain == f->domain && dev->bus == f->bus &&
	       UNC_DEVFN(dev->dev, dev->func) == f->devfn;
}

static void run_config_read(void *arg)
{
	struct config_read *read = arg;
	const struct unc_pci_function *f = read->function;
	struct system_bus *system = read->system;

	if (!is_open(system, f)) {
		if (system->dev)
			pci_free_dev(system->dev);
		system->dev = NULL;
		system->dev =
			pci_get_dev(system->pci, f->domain, f->bus, f->devfn >> 3, f->devfn & 7);
	}
	read->ok = pci_read_block(system->dev, (int)read->offset, (u8 *)&read->word, 4);
}

/* 0 or an errno value. Where libpci fails the file is read without it, which tries again where that
 * helps, and tells why it fails. */
static int config_dword(struct system_bus *system, const struct unc_pci_function *f,
			unsigned offset, uint32_t *value)
{
	struct config_read read = {.system = system, .function = f, .offset = offset};
	struct escape escape;
	int rc = 0;

	if (!is_open(system, f)) /* libpci would wait for a FIFO */
		rc = unc_pci_dword(system->fs, address_of(f, offset), NULL);
	if (rc)
		return rc;
	if (!guarded(run_config_read, &read, &escape) || !read.ok)
		return unc_pci_dword(system->fs, address_of(f, offset), value);
	*value = le32toh(read.word);
	return 0;
}

static int system_config(struct unc_bus *bus, const struct unc_pci_function *f, unsigned offset,
			 uint32_t *value, struct unc_error *err)
{
	struct system_bus *system = (struct system_bus *)bus;
	int rc;

	if (offset & 3 || offset > 0xffc)
		return unc_fail(err, UNC_ERR_INVALID, "pci %s offset 0x%x: no place for a dword",
				unc_pci_name(address_of(f, 0)).text, offset);
	rc = open_libpci(system, err);
	if (rc < 0)
		return rc;
	rc = config_dword(system, f, offset, value);
	return rc ? unc_pci_fail(system->fs, address_of(f, offset), rc, err) : 0;
}

/* -------------------------------------------------------------------- the functions */

/* First and last CPU of a list like "16-31,48-63"; -1 if there is none. */
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

/*
 * Where the function is near to. A kernel that does not know its node gives all CPUs as local,
 * which says nothing.
 */
static void read_locality(const struct unc_fs *fs, const char *name, struct unc_pci_function *f)
{
	char text[4096], online[4096], path[] = "/sys/bus/pci/devices/%s/%s";

	f->numa_node = f->local_cpu = f->local_last = -1;
	if (unc_fs_text(fs, text, sizeof(text), path, name, "numa_node") == 0)
		f->numa_node = atoi(text);
	if (unc_fs_text(fs, text, sizeof(text), path, name, "local_cpulist") == 0 && *text &&
	    (unc_fs_text(fs, online, sizeof(online), "/sys/devices/system/cpu/online") < 0 ||
	     strcmp(text, online) != 0))
		ends_of_list(text, &f->local_cpu, &f->local_last);
	if (f->local_cpu < 0 && f->numa_node >= 0 &&
	    unc_fs_text(fs, text, sizeof(text), "/sys/devices/system/node/node%d/cpulist",
			f->numa_node) == 0)
		ends_of_list(text, &f->local_cpu, &f->local_last);
}

/* A number that the kernel has noted. */
static bool noted(const struct unc_fs *fs, const char *name, const char *file, unsigned most,
		  unsigned *value)
{
	char text[32];

	return unc_fs_text(fs, text, sizeof(text), "/sys/bus/pci/devices/%s/%s", name, file) == 0 &&
	       sscanf(text, "%x", value) == 1 && *value <= most;
}

/*
 * Who it is: as the kernel has noted. Configuration space is not touched for that, because the
 * kernel wakes a function that sleeps before it reads there; only where nothing is noted (a dump
 * without these files) the function is asked. False if it is another vendor's. One that cannot be
 * read may be of Intel's.
 */
static bool identify(const struct unc_fs *fs, const char *name, struct unc_pci_function *f)
{
	unsigned vendor, device, kind;
	bool is_noted = noted(fs, name, "vendor", 0xffff, &vendor);
	uint32_t identity = 0;

	if (is_noted && vendor != VENDOR_INTEL)
		return false;
	if (noted(fs, name, "class", 0xffffff, &kind))
		f->kind = (uint16_t)(kind >> 8); /* base class and sub-class, of three bytes */
	if (is_noted && noted(fs, name, "device", 0xffff, &device))
		identity = device << 16 | vendor;
	else
		f->errno_value = (int16_t)unc_pci_dword(fs, address_of(f, 0), &identity);
	f->vendor = (uint16_t)identity;
	f->device = (uint16_t)(identity >> 16);
	return f->errno_value || f->vendor == VENDOR_INTEL;
}

/* DOMAIN:BUS:DEVICE.FUNCTION, as the kernel writes it. */
static bool parse_name(const char *name, struct unc_pci_function *f)
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

/* Domains above 0xffff are made up by the kernel (VMD): no monitor is there. */
static bool other_domain(const char *name)
{
	return strspn(name, "0123456789abcdef") > 4 &&
	       name[strspn(name, "0123456789abcdef")] == ':';
}

static void note_ignored(const struct unc_bus *bus, const char *name)
{
	char text[200];

	snprintf(text, sizeof(text), "%s: '%.80s' is no PCI function; ignored", functions, name);
	if (bus->note)
		bus->note(bus->user, text);
}

static int list_functions(struct system_bus *system, DIR *dir, struct unc_error *err)
{
	struct unc_bus *bus = &system->bus;
	struct dirent *entry;

	bus->n_functions = 0;
	while (errno = 0, (entry = readdir(dir))) {
		const char *name = entry->d_name;
		struct unc_pci_function f, *more;

		if (name[0] == '.' || other_domain(name))
			continue;
		if (!parse_name(name, &f)) {
			note_ignored(bus, name);
			continue;
		}
		if (!identify(system->fs, name, &f))
			continue;
		read_locality(system->fs, name, &f);
		more = unc_grow(bus->function, bus->n_functions, sizeof(f));
		if (!more)
			return unc_no_memory(err);
		bus->function = more;
		more[bus->n_functions++] = f;
	}
	if (errno)
		return unc_fail(err, UNC_ERR_IO, "%s cannot be listed: %s", functions,
				strerror(errno));
	return 0;
}

static int system_scan(struct unc_bus *bus, struct unc_error *err)
{
	struct system_bus *system = (struct system_bus *)bus;
	char path[PATH_MAX];
	DIR *dir = NULL;
	int rc;

	if (bus->function)
		return 0;
	if (unc_fs_path(system->fs, path, sizeof(path), "%s", functions) == 0)
		dir = opendir(path);
	if (!dir)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s cannot be opened: %s", functions,
				errno == ENOENT ? "no PCI bus is visible here" : strerror(errno));
	rc = open_libpci(system, err);
	if (rc == 0)
		rc = list_functions(system, dir, err);
	closedir(dir);
	if (rc < 0) {
		free(bus->function);
		bus->function = NULL;
		bus->n_functions = 0;
	}
	return rc;
}

/* --------------------------------------------------------------------------- memory */

static int open_memory(const struct unc_fs *fs, uint64_t address, size_t size, int *out,
		       struct unc_error *err)
{
	int fd = unc_fs_descriptor(fs, O_RDONLY | O_SYNC, "/dev/mem");
	struct stat st;

	if (fd == UNC_ERR_NOT_FOUND)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "/dev/mem: no such file");
	if (fd < 0)
		return unc_fail(err, fd, "/dev/mem: %s", unc_fs_reason(errno));
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

	if (system->dev)
		pci_free_dev(system->dev);
	if (system->pci)
		pci_cleanup(system->pci);
	free(bus->function);
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
	void *room = malloc(ALLOC_ROOM);

	free(room);
	if (!system || !room) {
		free(system);
		return unc_no_memory(err);
	}
	system->pci = pci_alloc();
	if (!system->pci) {
		free(system);
		return unc_no_memory(err);
	}
	system->bus.methods = &system_methods;
	system->fs = fs;
	*out = &system->bus;
	return 0;
}
