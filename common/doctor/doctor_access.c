/* SPDX-License-Identifier: BSD-3-Clause */
/* Doctor: the ways to the registers, MSR driver, PCI functions, memory, counters of the kernel. */
#include "doctor/doctor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access/access_ways.h"
#include "base/text.h"
#include "host/trust.h"

enum {
	MAX_MISSING = 4,
	TAINT_OUT_OF_SPEC = 4 /* of /proc/sys/kernel/tainted */
};

static bool needs_space(const struct unc_table *table, int space)
{
	for (size_t i = 0; i < table->n_part; i++)
		if (table->part[i].space == space)
			return true;
	return false;
}

/* Whether units of a method's space can be used, and none of them by it. */
static bool bypassed(const struct doctor *d, const struct unc_access_methods *method)
{
	const struct unc_unit *unit;
	bool any = false;

	for (size_t i = 0; (unit = unc_unit_get(d->platform, i)); i++) {
		if (!(method->spaces >> d->platform->instances.unit[i].part[0].space & 1) ||
		    !unit->available)
			continue;
		if (strcmp(unit->access, method->name) == 0)
			return false;
		any = true;
	}
	return any;
}

/* How many units a method serves; *passed is the first of them that one before it did not reach. */
static unsigned served(const struct doctor *d, const char *method, const struct unc_unit **passed)
{
	const struct unc_unit *unit;
	unsigned n = 0;

	*passed = NULL;
	for (size_t i = 0; (unit = unc_unit_get(d->platform, i)); i++) {
		if (!unit->available || strcmp(unit->access, method) != 0)
			continue;
		n++;
		if (!*passed && *unit->reason)
			*passed = unit;
	}
	return n;
}

/* Which access method serves what, and why others do not. */
static void check_ways(struct doctor *d)
{
	const struct unc_ways *ways = unc_access_ways(d->platform->access);
	char text[UNC_ERROR_MAX];
	struct unc_buf buf = UNC_BUF(text);

	for (unsigned i = 1; i <= ways->n; i++) {
		const struct unc_way *way = &ways->way[i];
		const struct unc_unit *passed;
		unsigned n = served(d, way->methods->name, &passed);

		if (n)
			unc_put(&buf, "%s%s serves %u unit%s", buf.n ? "; " : "",
				way->methods->name, n, n == 1 ? "" : "s");
		if (passed)
			unc_put(&buf, " (%s%d of socket %d: %s)", passed->type->name, passed->index,
				passed->socket, passed->reason);
		if (way->absent.code)
			unc_put(&buf, "%s%s: %s", buf.n ? "; " : "", way->methods->name,
				way->absent.text);
	}
	if (buf.n)
		unc_note(d, "access", "%s", text);
}

/* Opens the file of each socket. False: reported. */
static bool open_msrs(struct doctor *d)
{
	bool loaded;

	for (int i = 0; i < d->topo.n_sockets; i++) {
		int cpu = d->topo.socket[i].quiet ? -1 : d->topo.socket[i].cpu;
		int fd = cpu < 0 ? -1 : unc_fs_descriptor(d->fs, O_RDWR, "/dev/cpu/%d/msr", cpu);

		if (cpu < 0) /* said with the units that lack it */
			continue;
		if (fd >= 0) {
			close(fd);
			continue;
		}
		if (fd == UNC_ERR_NOT_FOUND) {
			const char *what = unc_doctor_no_msr(d, &loaded);

			unc_report(d, "msr", false, what, "/dev/cpu/%d/msr: no such file%s", cpu,
				   loaded ? ", but the msr module is loaded" : "");
		} else {
			unc_report(d, "msr", false,
				   unc_or_kernel(d, "run as root, or with CAP_SYS_RAWIO"),
				   "/dev/cpu/%d/msr: %s", cpu, unc_error_name(fd));
		}
		return false;
	}
	return true;
}

static void check_msr(struct doctor *d)
{
	char mode[32];

	if (!needs_space(d->table, UNC_SPACE_MSR)) {
		unc_note(d, "msr", "not needed on this CPU");
		return;
	}
	if (bypassed(d, &unc_access_msr)) {
		unc_note(d, "msr", "not needed: see the check of access");
		return;
	}
	if (!open_msrs(d))
		return;
	d->writes_told = unc_fs_text(d->fs, mode, sizeof(mode),
				     "/sys/module/msr/parameters/allow_writes") == 0;
	d->writes_off = d->writes_told && strcmp(mode, "off") == 0;
	if (d->writes_off)
		unc_report(d, "msr", false,
			   unc_or_kernel(
				   d, "echo on >/sys/module/msr/parameters/allow_writes, or boot "
				      "with msr.allow_writes=on"),
			   "the msr module refuses all writes: "
			   "/sys/module/msr/parameters/allow_writes is off");
	else
		unc_note(d, "msr", "/dev/cpu/N/msr can be opened for reading and writing");
}

/*
 * A note. The module marks the kernel before each write of user space, whatever allow_writes is;
 * that only keeps it from writing to the log (Linux, arch/x86/kernel/msr.c).
 */
static void check_taint(struct doctor *d)
{
	char text[32] = "", mode[32] = "";
	bool marked;

	if (!needs_space(d->table, UNC_SPACE_MSR) || !unc_fs_of_hardware(d->fs) ||
	    !unc_doctor_any_unit(d) || bypassed(d, &unc_access_msr))
		return;
	unc_fs_text(d->fs, text, sizeof(text), "/proc/sys/kernel/tainted");
	unc_fs_text(d->fs, mode, sizeof(mode), "/sys/module/msr/parameters/allow_writes");
	marked = strtoull(text, NULL, 10) & TAINT_OUT_OF_SPEC;
	unc_note(d, "taint",
		 "writing MSRs marks the kernel as tainted (S, CPU out of specification%s)%s; the "
		 "kernel's own monitors (perf) do not",
		 marked ? "; it is already" : "",
		 strcmp(mode, "on") == 0
			 ? ""
			 : " and logs \"Write to unrecognized MSR\", which is kept from the log by "
			   "echo on >/sys/module/msr/parameters/allow_writes");
}

/* What the PCI parts of a table need. A kind is found if each socket has it. */
struct pci_needs {
	unsigned kinds, found, seen;
	char text[200];
	struct unc_buf missing;                  /* in text */
	const struct unc_pci_function *extended; /* needs the extended space */
};

/* The first function of a kind, and how many there are. */
static const struct unc_pci_function *find_device(const struct unc_bus *bus,
						  const struct unc_tbl_where *where, int *count)
{
	const struct unc_pci_function *first = NULL;

	*count = 0;
	for (size_t i = 0; i < bus->n_functions; i++)
		if (bus->function[i].device == where->device_id &&
		    bus->function[i].devfn == where->devfn && (*count)++ == 0)
			first = &bus->function[i];
	return first;
}

static void need_part(const struct doctor *d, unsigned type, unsigned number,
		      const struct unc_bus *bus, struct pci_needs *needs)
{
	const struct unc_table *t = d->table;
	const struct unc_tbl_part *part = &t->part[t->type[type].parts.first + number];

	for (uint32_t i = 0; part->space == UNC_SPACE_PCI && i < part->where.n; i++) {
		const struct unc_tbl_where *where = &t->where[part->where.first + i];
		int count, sockets = d->topo.n_sockets;
		const struct unc_pci_function *f = find_device(bus, where, &count);

		/* What only the discovery table lists is not missed. */
		if (where->optional == UNC_WHERE_LISTED)
			continue;
		needs->kinds++;
		needs->seen += count > 0;
		needs->found += count >= sockets;
		if (count < sockets && needs->kinds - needs->found <= MAX_MISSING) {
			unc_put(&needs->missing, "%s%02x.%x (8086:%04x)",
				needs->missing.n ? ", " : "", where->devfn >> 3, where->devfn & 7,
				where->device_id);
			if (count)
				unc_put(&needs->missing, " on %d of %d sockets", sockets - count,
					sockets);
		}
		if (f && !needs->extended &&
		    where->base + unc_part_extent(t, type, number) > UNC_PCI_EXTENDED)
			needs->extended = f;
	}
}

static void report_pci(struct doctor *d, struct unc_bus *bus, const struct pci_needs *needs)
{
	struct unc_error why = {0};
	uint32_t value;

	if (!needs->seen)
		unc_report(
			d, "pci", false,
			"switch the performance monitors on in the BIOS (often \"PMON devices\" or "
			"\"unhide uncore devices\"), and run on the machine itself",
			"none of the %u PCI functions of the monitors is visible", needs->kinds);
	else if (needs->extended && !bypassed(d, &unc_access_pci) &&
		 bus->methods->config(bus, needs->extended, UNC_PCI_EXTENDED, &value, &why) < 0)
		unc_report(d, "pci", false,
			   "run as root on a kernel with PCI Express configuration (MMCONFIG)",
			   "%s", why.text);
	else if (needs->found < needs->kinds)
		unc_note(d, "pci",
			 "%u of %u PCI functions of the monitors are visible; hidden or absent: "
			 "%s%s",
			 needs->found, needs->kinds, needs->text,
			 needs->kinds - needs->found > MAX_MISSING ? ", ..." : "");
	else
		unc_note(d, "pci", "all %u PCI functions of the monitors are visible",
			 needs->kinds);
}

static void check_pci(struct doctor *d)
{
	struct unc_machine *machine = d->platform->machine;
	struct pci_needs needs = {.kinds = 0};
	struct unc_bus *bus = NULL;
	struct unc_error err = {0};

	needs.missing = UNC_BUF(needs.text);
	if (unc_bus_open_system(machine->fs, &bus, &err) < 0 || bus->methods->scan(bus, &err) < 0) {
		unc_report(d, "pci", false, "mount /sys, and run outside of a container", "%s",
			   err.text);
	} else {
		for (unsigned i = 0; i < d->table->n_type; i++)
			for (unsigned k = 0; k < d->table->type[i].parts.n; k++)
				need_part(d, i, k, bus, &needs);
		if (needs.kinds)
			report_pci(d, bus, &needs);
		else
			unc_note(d, "pci", "not needed on this CPU");
	}
	if (bus)
		bus->methods->close(bus);
}

static bool needs_memory(const struct unc_table *table)
{
	return needs_space(table, UNC_SPACE_MMIO) || table->discovery == UNC_DISCOVERY_TABLE;
}

uint64_t unc_doctor_capabilities(const struct doctor *d)
{
	uint64_t needed = 0;

	if ((needs_space(d->table, UNC_SPACE_MSR) && !bypassed(d, &unc_access_msr)) ||
	    (needs_memory(d->table) && !bypassed(d, &unc_access_mmio)))
		needed |= (uint64_t)1 << UNC_CAP_RAWIO;
	if (needs_space(d->table, UNC_SPACE_PCI) && !bypassed(d, &unc_access_pci))
		needed |= (uint64_t)1 << UNC_CAP_ADMIN;
	return needed;
}

/* Counters that the kernel hands out. */
static void check_kernel(struct doctor *d)
{
	const struct unc_unit *unit, *first = NULL;
	size_t n = 0, available = 0;

	if (!needs_space(d->table, UNC_SPACE_PERF) && !needs_space(d->table, UNC_SPACE_PMU))
		return;
	for (size_t i = 0; (unit = unc_unit_get(d->platform, i)); i++) {
		if (!unc_space_of_thread(d->platform->instances.unit[i].part[0].space))
			continue;
		n++;
		available += unit->available != 0;
		if (!unit->available && !first)
			first = unit;
	}
	if (first)
		unc_report(
			d, "kernel", false,
			"give the program root or CAP_PERFMON, on a kernel and a machine that have "
			"a core PMU; without it the metrics that need the cores are left out",
			"%zu of %zu logical CPUs give counters; %s", available, n, first->reason);
	else
		unc_report(d, "kernel", n > 0, "see the checks above",
			   "%zu of %zu logical CPUs give counters", available, n);
}

static void check_memory(struct doctor *d)
{
	int fd;

	if (!needs_memory(d->table)) {
		unc_note(d, "memory", "not needed on this CPU");
		return;
	}
	fd = unc_fs_descriptor(d->fs, O_RDWR, "/dev/mem");
	if (fd >= 0) {
		close(fd);
		unc_note(d, "memory", "/dev/mem can be opened for reading and writing");
	} else if (bypassed(d, &unc_access_mmio)) {
		unc_note(d, "memory", "not needed: see the check of access");
	} else if (fd == UNC_ERR_NOT_FOUND) {
		unc_report(d, "memory", false,
			   d->container ? "give the container the device: --device /dev/mem"
					: "use a kernel with CONFIG_DEVMEM",
			   "/dev/mem: no such file");
	} else {
		unc_report(d, "memory", false,
			   "run as root with CAP_SYS_RAWIO on a kernel that is not locked down",
			   "/dev/mem: %s", unc_error_name(fd));
	}
}

void unc_doctor_access(struct doctor *d)
{
	check_ways(d);
	check_msr(d);
	check_taint(d);
	check_pci(d);
	check_memory(d);
	unc_doctor_kernel(d);
	check_kernel(d);
}
