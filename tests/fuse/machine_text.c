/* SPDX-License-Identifier: BSD-3-Clause */
/* What a kernel writes of the machine into /proc and /sys. */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

unsigned machine_cpus(const struct machine *m)
{
	return m->cpus * (unsigned)m->top.n_sockets;
}

/* The first tells of all what they are: they are alike. */
void machine_cpuinfo(const struct machine *m, char *buf, size_t size)
{
	size_t n = 0;

	for (unsigned cpu = 0; cpu < machine_cpus(m) && n < size; cpu++) {
		bool first = !n;

		if (room_offline(m->room, cpu))
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%sprocessor\t: %u\n", first ? "" : "\n",
				      cpu);
		if (first)
			n += (size_t)snprintf(buf + n, size - n,
					      "vendor_id\t: %s\ncpu family\t: %d\n"
					      "model\t\t: %d\nmodel name\t: %s\n"
					      "stepping\t: %d\nflags\t\t: fpu msr\n",
					      m->top.vendor, m->top.family, m->top.model,
					      m->top.model_name, m->top.stepping);
		n += (size_t)snprintf(buf + n, n < size ? size - n : 0,
				      "physical id\t: %u\ncore id\t\t: %u\n", cpu / m->cpus,
				      cpu % m->cpus);
	}
}

/* The CPUs from `first` to before `end` that are online, like "0-3,5". */
static void cpu_list(const struct machine *m, unsigned first, unsigned end, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned cpu = first; cpu < end && n < size; cpu++) {
		unsigned last = cpu;

		if (room_offline(m->room, cpu))
			continue;
		while (last + 1 < end && !room_offline(m->room, last + 1))
			last++;
		n += (size_t)snprintf(buf + n, size - n, last > cpu ? "%s%u-%u" : "%s%u",
				      n ? "," : "", cpu, last);
		cpu = last;
	}
	if (n < size)
		snprintf(buf + n, size - n, "\n");
}

/* What it tells of NUMA nodes, of which a socket has some. */
static bool node_text(const struct machine *m, const char *path, struct node *node)
{
	static const char system[] = "/sys/devices/system/";
	unsigned nodes = m->sim->machine.clusters, n;
	int used = 0;

	if (!nodes || strncmp(path, system, sizeof(system) - 1) != 0)
		return false;
	path += sizeof(system) - 1;
	if (strcmp(path, "node/online") == 0) {
		snprintf(node->text, sizeof(node->text), "0-%u\n",
			 nodes * (unsigned)m->top.n_sockets - 1);
		return true;
	}
	if (sscanf(path, "node/node%u/cpulist%n", &n, &used) == 1 && used && !path[used] &&
	    n < nodes * (unsigned)m->top.n_sockets) {
		unsigned first = n / nodes * m->cpus, i = n % nodes;

		cpu_list(m, first + i * m->cpus / nodes, first + (i + 1) * m->cpus / nodes,
			 node->text, sizeof(node->text));
		return true;
	}
	if (sscanf(path, "cpu/cpu%u/cache/index3/shared_cpu_list%n", &n, &used) == 1 && used &&
	    !path[used] && n < machine_cpus(m) && !room_offline(m->room, n)) {
		n = n / m->cpus * m->cpus;
		cpu_list(m, n, n + m->cpus, node->text, sizeof(node->text));
		return true;
	}
	return false;
}

bool machine_cpu_text(const struct machine *m, const char *path, struct node *node)
{
	char name[32];
	unsigned cpu;
	int used = 0;

	if (strcmp(path, "/sys/devices/system/cpu/online") == 0) {
		cpu_list(m, 0, machine_cpus(m), node->text, sizeof(node->text));
		return true;
	}
	if (node_text(m, path, node))
		return true;
	if (strcmp(path, "/sys/devices/system/cpu/present") == 0) {
		snprintf(node->text, sizeof(node->text), "0-%u\n", machine_cpus(m) - 1);
		return true;
	}
	if (sscanf(path, "/sys/devices/system/cpu/cpu%u/cache/index3/size%n", &cpu, &used) == 1 &&
	    used && !path[used] && cpu < machine_cpus(m) && !room_offline(m->room, cpu)) {
		snprintf(node->text, sizeof(node->text), "%dK\n",
			 m->top.socket[cpu / m->cpus].cache);
		return true;
	}
	if (sscanf(path, "/sys/devices/system/cpu/cpu%u/topology/%31s%n", &cpu, name, &used) != 2 ||
	    path[used] || cpu >= machine_cpus(m) || room_offline(m->room, cpu))
		return false;
	unsigned value = strcmp(name, "physical_package_id") == 0 ? cpu / m->cpus
			 : strcmp(name, "core_id") == 0           ? cpu % m->cpus
			 : strcmp(name, "die_id") == 0            ? 0
								  : ~0u;
	snprintf(node->text, sizeof(node->text), "%u\n", value);
	return value != ~0u;
}

static int socket_of(const struct machine *m, const struct unc_pci_function *f)
{
	return f->local_cpu >= 0 ? f->local_cpu / (int)m->cpus : 0;
}

/* A dword of configuration space. */
static uint32_t dword(const struct machine *m, const struct unc_pci_function *f, unsigned offset)
{
	uint32_t value = 0;

	(void)m->bus->methods->config(m->bus, f, offset, &value, NULL);
	return value;
}

enum { BAR_SIZE = 0x80000 }; /* that of a discovery table; the others are given no less */

/* Address of BAR `bar`, of 64 bits; 0: it is none. */
static uint64_t bar_of(const struct machine *m, const struct unc_pci_function *f, unsigned bar)
{
	uint32_t low = dword(m, f, 0x10 + 4 * bar);

	if (bar % 2 || (low & 0xf) != 4)
		return 0;
	return (low & ~0xfu) | (uint64_t)dword(m, f, 0x14 + 4 * bar) << 32;
}

void machine_iomem(const struct machine *m, char *buf, size_t size)
{
	int n = snprintf(buf, size,
			 "00001000-0009ffff : System RAM\n000a0000-000fffff : Reserved\n"
			 "00100000-7fffffff : System RAM\n80000000-ffffffff : PCI Bus 0000:00\n"
			 "100000000-207fffffff : System RAM\n"
			 "200000000000-ffffffffffff : PCI Bus 0000:7e\n");

	for (size_t i = 0; i < m->n_functions; i++)
		for (unsigned bar = 0; bar < 6 && n < (int)size; bar++) {
			const struct unc_pci_function *f = &m->function[i];
			uint64_t at = bar_of(m, f, bar);

			if (at)
				n += snprintf(buf + n, size - (size_t)n,
					      "  %" PRIx64 "-%" PRIx64 " : %s\n", at,
					      at + BAR_SIZE - 1, unc_function_name(f).text);
		}
}

/* What the kernel has noted of the BARs, and the ROM. */
static void resources(const struct machine *m, const struct unc_pci_function *f, char *buf,
		      size_t size)
{
	int n = 0;

	for (unsigned bar = 0; bar < 7; bar++) {
		uint64_t at = bar < 6 ? bar_of(m, f, bar) : 0;

		n += snprintf(buf + n, size - (size_t)n,
			      "0x%016" PRIx64 " 0x%016" PRIx64 " 0x%016x\n", at,
			      at ? at + BAR_SIZE - 1 : 0, at ? 0x140204u : 0);
	}
}

bool machine_pci_file(const struct machine *m, const char *path, struct node *node)
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
		else if (strcmp(name, "resource") == 0)
			resources(m, f, node->text, sizeof(node->text));
		else if (strcmp(name, "class") == 0)
			snprintf(node->text, sizeof(node->text), "0x088000\n");
		else if (strcmp(name, "numa_node") == 0)
			snprintf(node->text, sizeof(node->text), "%d\n", socket);
		else if (strcmp(name, "local_cpulist") == 0)
			cpu_list(m, (unsigned)socket * m->cpus, (unsigned)(socket + 1) * m->cpus,
				 node->text, sizeof(node->text));
		else
			node->kind = NONE;
		return node->kind != NONE;
	}
	return false;
}
