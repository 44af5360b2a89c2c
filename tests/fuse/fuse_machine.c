/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated machine as files: what the kernel shows of its CPUs, MSRs, PCI functions and
 * memory, so that the real back ends run with real system calls.
 *
 *   fuse_machine "CPU[,option=value]..." MOUNTPOINT      serves until it is unmounted
 *
 * MSRs and configuration space go to the registers of the machine. /dev/mem can be read and
 * mapped, but a mapping is a copy of the moment: counters in MMIO do not move there.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

struct machine {
	struct unc_sim *sim;
	struct unc_bus *bus;
	struct unc_topology top;
	struct unc_pci_function *function;
	size_t n_functions;
	unsigned cpus; /* of a socket */
};

enum kind { NONE, DIRECTORY, TEXT, MSR, CONFIG, MEMORY };

struct node {
	enum kind kind;
	unsigned cpu;
	const struct unc_pci_function *function;
	char text[4096];
};

static struct machine *machine(void)
{
	return fuse_get_context()->private_data;
}

/* ---- texts */

static unsigned all_cpus(const struct machine *m)
{
	return m->cpus * (unsigned)m->top.n_sockets;
}

static void cpuinfo(const struct machine *m, char *buf, size_t size)
{
	size_t n = 0;

	/* The first CPU of each socket is enough: all are alike, and topology is in sysfs. */
	for (unsigned i = 0; i < all_cpus(m) && n < size; i += m->cpus)
		n += (size_t)snprintf(buf + n, size - n,
				      "processor\t: %u\nvendor_id\t: %s\ncpu family\t: %d\n"
				      "model\t\t: %d\nmodel name\t: %s\nstepping\t: %d\n"
				      "physical id\t: %u\nflags\t\t: fpu msr\n\n",
				      i, m->top.vendor, m->top.family, m->top.model,
				      m->top.model_name, m->top.stepping, i / m->cpus);
}

static bool cpu_text(const struct machine *m, const char *path, struct node *node)
{
	char name[32];
	unsigned cpu;
	int used = 0;

	if (strcmp(path, "/sys/devices/system/cpu/online") == 0) {
		snprintf(node->text, sizeof(node->text), "0-%u\n", all_cpus(m) - 1);
		return true;
	}
	if (sscanf(path, "/sys/devices/system/cpu/cpu%u/topology/%31s%n", &cpu, name, &used) != 2 ||
	    path[used] || cpu >= all_cpus(m))
		return false;
	unsigned value = strcmp(name, "physical_package_id") == 0 ? cpu / m->cpus :
			 strcmp(name, "core_id") == 0		  ? cpu % m->cpus :
			 strcmp(name, "die_id") == 0		  ? 0 :
								    ~0u;
	snprintf(node->text, sizeof(node->text), "%u\n", value);
	return value != ~0u;
}

static int socket_of(const struct machine *m, const struct unc_pci_function *f)
{
	return f->local_cpu >= 0 ? f->local_cpu / (int)m->cpus : 0;
}

static bool pci_file(const struct machine *m, const char *path, struct node *node)
{
	unsigned domain, bus, device, function;
	char name[32];

	if (sscanf(path, "/sys/bus/pci/devices/%x:%x:%x.%x/%31s", &domain, &bus, &device, &function,
		   name) != 5)
		return false;
	for (size_t i = 0; i < m->n_functions; i++) {
		const struct unc_pci_function *f = &m->function[i];
		int socket = socket_of(m, f);

		if (f->domain != domain || f->bus != bus || f->devfn != UNC_DEVFN(device, function))
			continue;
		node->function = f;
		node->kind = TEXT;
		if (strcmp(name, "config") == 0)
			node->kind = CONFIG;
		else if (strcmp(name, "vendor") == 0)
			snprintf(node->text, sizeof(node->text), "0x%04x\n", f->vendor);
		else if (strcmp(name, "device") == 0)
			snprintf(node->text, sizeof(node->text), "0x%04x\n", f->device);
		else if (strcmp(name, "class") == 0)
			snprintf(node->text, sizeof(node->text), "0x088000\n");
		else if (strcmp(name, "numa_node") == 0)
			snprintf(node->text, sizeof(node->text), "%d\n", socket);
		else if (strcmp(name, "local_cpulist") == 0)
			snprintf(node->text, sizeof(node->text), "%u-%u\n",
				 (unsigned)socket * m->cpus, (unsigned)(socket + 1) * m->cpus - 1);
		else
			node->kind = NONE;
		return node->kind != NONE;
	}
	return false;
}

/* ---- paths */

static const char *const directories[] = {
	"/", "/proc", "/sys", "/sys/devices", "/sys/devices/system", "/sys/devices/system/cpu",
	"/sys/bus", "/sys/bus/pci", "/sys/bus/pci/devices", "/dev", "/dev/cpu", NULL,
};

static bool is_directory(const struct machine *m, const char *path)
{
	char probe[512];
	struct node node = {0};
	unsigned cpu;
	int used = 0;

	for (size_t i = 0; directories[i]; i++)
		if (strcmp(path, directories[i]) == 0)
			return true;
	if ((sscanf(path, "/dev/cpu/%u%n", &cpu, &used) == 1 && !path[used]) ||
	    (sscanf(path, "/sys/devices/system/cpu/cpu%u%n", &cpu, &used) == 1 && !path[used]) ||
	    (sscanf(path, "/sys/devices/system/cpu/cpu%u/topology%n", &cpu, &used) == 1 && used &&
	     !path[used]))
		return cpu < all_cpus(m);
	snprintf(probe, sizeof(probe), "%s/config", path);
	return pci_file(m, probe, &node);
}

static int find_node(const char *path, struct node *node)
{
	const struct machine *m = machine();
	int used = 0;

	*node = (struct node){.kind = TEXT};
	if (is_directory(m, path))
		node->kind = DIRECTORY;
	else if (strcmp(path, "/proc/cpuinfo") == 0)
		cpuinfo(m, node->text, sizeof(node->text));
	else if (strcmp(path, "/dev/mem") == 0)
		node->kind = MEMORY;
	else if (sscanf(path, "/dev/cpu/%u/msr%n", &node->cpu, &used) == 1 && used && !path[used])
		node->kind = node->cpu < all_cpus(m) ? MSR : NONE;
	else if (!cpu_text(m, path, node) && !pci_file(m, path, node))
		node->kind = NONE;
	return node->kind == NONE ? -ENOENT : 0;
}

/* ---- files */

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	struct node node;
	int rc = find_node(path, &node);

	(void)fi;
	memset(st, 0, sizeof(*st));
	if (rc < 0)
		return rc;
	st->st_nlink = 1;
	st->st_mode = node.kind == DIRECTORY ? S_IFDIR | 0755 : S_IFREG | 0600;
	/* Devices have no size; a mapping needs one, beyond any address of the machine. */
	st->st_size = node.kind == TEXT	  ? (off_t)strlen(node.text) :
		      node.kind == CONFIG ? 4096 :
		      node.kind == MEMORY ? (off_t)1 << 52 :
					    0;
	return 0;
}

static int list(const char *path, void *buf, fuse_fill_dir_t fill, off_t offset,
		struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	const struct machine *m = machine();
	char name[32];

	(void)offset;
	(void)fi;
	(void)flags;
	if (strcmp(path, "/sys/bus/pci/devices") != 0)
		return 0; /* the others are reached by name */
	for (size_t i = 0; i < m->n_functions; i++) {
		const struct unc_pci_function *f = &m->function[i];

		snprintf(name, sizeof(name), "%04x:%02x:%02x.%x", f->domain, f->bus, f->devfn >> 3,
			 f->devfn & 7u);
		fill(buf, name, NULL, 0, (enum fuse_fill_dir_flags)0);
	}
	return 0;
}

static int open_file(const char *path, struct fuse_file_info *fi)
{
	struct node node;
	int rc = find_node(path, &node);

	fi->direct_io = rc == 0 && (node.kind == MSR || node.kind == CONFIG);
	return rc;
}

/* As the kernel's driver: 8 bytes at the MSR's number; no such MSR is an I/O error. */
static void *msr(const struct node *node, size_t size, off_t number)
{
	struct unc_reg reg = {.address = (uint64_t)number, .target = node->cpu,
			      .space = UNC_SPACE_MSR, .width = 64};

	if (size != 8)
		return NULL;
	void *found = unc_sim_find(machine()->sim, &reg);
	reg.width = 32; /* an MSR of which the tables use the low half */
	return found ? found : unc_sim_find(machine()->sim, &reg);
}

static int read_config(const struct node *node, char *buf, size_t size, off_t offset)
{
	const struct machine *m = machine();

	for (size_t n = 0; n < size; n++) {
		unsigned at = (unsigned)offset + (unsigned)n;
		uint32_t value;

		if (at >= 4096)
			return (int)n;
		if (m->bus->methods->config(m->bus, node->function, at & ~3u, &value, NULL) < 0)
			value = 0;
		buf[n] = (char)(value >> 8 * (at & 3));
	}
	return (int)size;
}

static int read_file(const char *path, char *buf, size_t size, off_t offset,
		     struct fuse_file_info *fi)
{
	struct machine *m = machine();
	struct node node;
	int rc = find_node(path, &node);

	(void)fi;
	if (rc < 0)
		return rc;
	if (node.kind == MSR) {
		void *reg = msr(&node, size, offset);
		uint64_t value;

		if (!reg)
			return -EIO;
		value = unc_sim_read(m->sim, reg);
		memcpy(buf, &value, 8);
		return 8;
	}
	if (node.kind == CONFIG)
		return read_config(&node, buf, size, offset);
	if (node.kind == MEMORY) {
		memset(buf, 0xff, size); /* what nobody answers */
		for (size_t n = 0; n + 8 <= size; n += 8)
			(void)m->bus->methods->memory(m->bus, (uint64_t)offset + n, buf + n, 8, NULL);
		return (int)size;
	}
	size_t length = strlen(node.text);
	if ((size_t)offset >= length)
		return 0;
	size = size < length - (size_t)offset ? size : length - (size_t)offset;
	memcpy(buf, node.text + offset, size);
	return (int)size;
}

/* A dword of configuration space: a register of that width, or half of a wider one. */
static int write_config(struct machine *m, const struct node *node, uint32_t value, unsigned offset)
{
	const struct unc_pci_function *f = node->function;
	struct unc_reg reg = {.address = UNC_PCI(f->domain, f->bus, f->devfn, offset),
			      .space = UNC_SPACE_PCI, .width = 32};
	void *found = unc_sim_find(m->sim, &reg);
	unsigned shift = 0;

	if (found) {
		unc_sim_write(m->sim, found, value);
		return 0;
	}
	reg.width = 64;
	if (!(found = unc_sim_find(m->sim, &reg))) {
		reg.address -= 4;
		shift = 32;
		found = unc_sim_find(m->sim, &reg);
	}
	if (!found)
		return -EIO;
	uint64_t keep = unc_sim_read(m->sim, found) & ~((uint64_t)UINT32_MAX << shift);
	unc_sim_write(m->sim, found, keep | (uint64_t)value << shift);
	return 0;
}

static int write_file(const char *path, const char *buf, size_t size, off_t offset,
		      struct fuse_file_info *fi)
{
	struct machine *m = machine();
	struct node node;
	int rc = find_node(path, &node);
	uint64_t value = 0;

	(void)fi;
	if (rc < 0)
		return rc;
	memcpy(&value, buf, size < 8 ? size : 8);
	if (node.kind == MSR) {
		void *reg = msr(&node, size, offset);

		if (!reg)
			return -EIO;
		unc_sim_write(m->sim, reg, value);
		return 8;
	}
	if (node.kind != CONFIG || size != 4)
		return -EINVAL;
	rc = write_config(m, &node, (uint32_t)value, (unsigned)offset);
	return rc < 0 ? rc : 4;
}

static const struct fuse_operations operations = {
	.getattr = get_attributes,
	.readdir = list,
	.open = open_file,
	.read = read_file,
	.write = write_file,
};

int main(int argc, char **argv)
{
	char *arguments[] = {argv[0], "-f", "-s", argc == 3 ? argv[2] : NULL, NULL};
	struct machine m = {0};
	struct unc_error err = {0};
	size_t n;
	const struct unc_table *const *all = unc_tables(&n);

	if (argc != 3) {
		fprintf(stderr, "usage: fuse_machine CPU[,option=value]... MOUNTPOINT\n");
		return 2;
	}
	if (unc_sim_open(argv[1], all, n, &m.sim, &err) < 0) {
		fprintf(stderr, "fuse_machine: %s\n", err.text);
		return 1;
	}
	unc_sim_topology(m.sim, &m.top);
	m.bus = unc_sim_bus(m.sim);
	m.cpus = (unsigned)m.top.socket[0].cpus;
	if (m.bus->methods->scan(m.bus, &m.function, &m.n_functions, &err) < 0) {
		fprintf(stderr, "fuse_machine: %s\n", err.text);
		return 1;
	}
	int status = fuse_main(4, arguments, &operations, &m);
	free(m.function);
	unc_sim_close(m.sim);
	return status;
}
