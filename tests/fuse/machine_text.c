/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine's files say, without the CPUs that are offline. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fs.h"

static const char cpus[] = "/sys/devices/system/cpu/cpu";

unsigned machine_cpus(const struct machine *m)
{
	return m->cpus * (unsigned)m->sim->top.n_sockets;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* A block of /proc/cpuinfo, and whose it is; what all CPUs are may stand in the first one alone. */
static void cpuinfo(const struct machine *m, const char *text, struct node *node)
{
	char identity[1024] = "", *out = node->text;
	const size_t size = sizeof(node->text);
	bool shown = true, whole = false;
	size_t n = 0, known = 0;

	for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
		unsigned cpu;
		int length;

		end = strchr(line, '\n') ? strchr(line, '\n') : line + strlen(line);
		length = (int)(end - line);
		if (begins(line, "processor") && sscanf(line, "processor : %u", &cpu) == 1)
			shown = !room_offline(m->room, cpu);
		else if (!whole && !begins(line, "physical id") && !begins(line, "core id") &&
			 length)
			known += (size_t)snprintf(identity + known, sizeof(identity) - known,
						  "%.*s\n", length, line);
		whole |= !length;
		if (!shown)
			continue;
		n += (size_t)snprintf(out + n, size - n, "%.*s\n", length, line);
		/* Behind the line "processor" of the first one that is left. */
		if (whole && known && !strstr(out, "model"))
			n += (size_t)snprintf(out + n, size - n, "%s", identity);
	}
}

/* A list like "0-3,5", without those that are offline. */
static void cpu_list(const struct machine *m, struct node *node)
{
	bool named[UNC_MAX_CPUS] = {false};
	char text[4096];
	size_t n = 0;

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(node->text, "\n"), node->text);
	if (!unc_cpu_list(text, named))
		return;
	for (unsigned cpu = 0; cpu < UNC_MAX_CPUS; cpu++)
		named[cpu] &= !room_offline(m->room, cpu);
	text[0] = '\0';
	for (unsigned cpu = 0; cpu < UNC_MAX_CPUS; cpu++) {
		unsigned last = cpu;

		if (!named[cpu])
			continue;
		while (last + 1 < UNC_MAX_CPUS && named[last + 1])
			last++;
		n += (size_t)snprintf(text + n, sizeof(text) - n, last > cpu ? "%s%u-%u" : "%s%u",
				      n ? "," : "", cpu, last);
		cpu = last;
	}
	snprintf(node->text, sizeof(node->text), "%s\n", text);
}

static bool is_list(const char *path)
{
	const char *name = strrchr(path, '/');

	return strstr(name, "cpulist") || strstr(name, "cpu_list") ||
	       strcmp(path, "/sys/devices/system/cpu/online") == 0;
}

/* Files of a PCI function are below its name in /sys/bus/pci/devices, which is a link to where the kernel has
 * them: below /sys/devices/pci*. *folder: it is one on the way there. */
static const char *place_of(const char *path, char buf[512], bool *folder)
{
	const char *last = NULL;
	unsigned domain, bus, device, function;
	int used = 0;

	*folder = false;
	if (!begins(path, "/sys/devices/pci"))
		return path;
	for (const char *slash = strchr(path + 16, '/'); slash; slash = strchr(slash + 1, '/'))
		if (sscanf(slash + 1, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &used) ==
			    4 &&
		    (!slash[1 + used] || slash[1 + used] == '/'))
			last = slash + 1;
	*folder = !last || !strchr(last, '/') || begins(strchr(last, '/'), "/pci");
	snprintf(buf, 512, "/sys/bus/pci/devices/%s", last ? last : "");
	return buf;
}

/* NUMA node and CPUs of a PCI function, as another function of its bus has them: who gathered has asked one. */
static const struct unc_dump_entry *of_bus(const struct machine *m, const char *path)
{
	enum { BUS = sizeof("/sys/bus/pci/devices/0000:00:") - 1, NAME = BUS + 4 };
	char folder[NAME + 1];
	size_t i = 0, n;

	snprintf(folder, sizeof(folder), "%s", path);
	if (!begins(path, "/sys/bus/pci/devices/") || strlen(path) <= NAME ||
	    (strcmp(path + NAME, "/numa_node") != 0 &&
	     strcmp(path + NAME, "/local_cpulist") != 0) ||
	    !unc_dump_child(m->sim->dump, folder, &i, &n))
		return NULL;
	for (i = 0; i < m->sim->dump->n; i++) {
		const struct unc_dump_entry *entry = m->sim->dump->entry[i];

		if (strncmp(entry->path, path + 1, BUS - 1) == 0 && strlen(entry->path) > NAME &&
		    strcmp(entry->path + NAME - 1, path + NAME) == 0)
			return entry;
	}
	return NULL;
}

static const struct unc_dump_entry *entry_of(const struct machine *m, const char *path)
{
	const struct unc_dump_entry *entry = unc_dump_find(m->sim->dump, path);
	char other[512];
	unsigned cpu;
	int used = 0;

	if (entry || sscanf(path, "/sys/devices/system/cpu/cpu%u/cache/%n", &cpu, &used) != 1 ||
	    !used)
		return entry ? entry : of_bus(m, path);
	for (unsigned i = 0; !entry && i < m->cpus && cpu < machine_cpus(m); i++) {
		snprintf(other, sizeof(other), "%s%u/cache/%s", cpus, cpu / m->cpus * m->cpus + i,
			 path + used);
		entry = unc_dump_find(m->sim->dump, other);
	}
	return entry;
}

bool machine_file(const struct machine *m, const char *path, struct node *node)
{
	const struct unc_dump_entry *entry;
	char buf[512];
	bool folder;
	size_t i = 0, n;
	unsigned cpu;

	path = place_of(path, buf, &folder);
	if (begins(path, cpus) && sscanf(path + sizeof(cpus) - 1, "%u", &cpu) == 1 &&
	    room_offline(m->room, cpu))
		return false;
	entry = folder ? NULL : entry_of(m, path);
	node->kind = DIRECTORY;
	if (entry && (entry->kind == UNC_DUMP_FILE || entry->kind == UNC_DUMP_LINK)) {
		node->kind = entry->kind == UNC_DUMP_FILE ? TEXT : LINK;
		if (strcmp(path, "/proc/cpuinfo") == 0)
			cpuinfo(m, entry->data, node);
		else
			snprintf(node->text, sizeof(node->text), "%s",
				 entry->data ? entry->data : "");
		if (is_list(path))
			cpu_list(m, node);
	} else if (entry && entry->kind == UNC_DUMP_DEVICE) {
		node->kind = strcmp(path, "/dev/mem") == 0 ? MEMORY : CONFIG;
		node->entry = entry;
	} else if (!folder && !entry && !unc_dump_child(m->sim->dump, path, &i, &n)) {
		node->kind = NONE;
	}
	return node->kind != NONE;
}

char **machine_names(const struct machine *m, const char *path)
{
	char buf[512];
	bool folder;

	return unc_fs_list(m->sim->fs, "%s", place_of(path, buf, &folder));
}
