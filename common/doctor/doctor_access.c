/* SPDX-License-Identifier: BSD-3-Clause */
/* Doctor: access methods: the MSR driver, PCI functions, memory, counters of the kernel. */
#include "doctor/doctor.h"

#include <fcntl.h>
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

/* Notes how many units each access method serves, with the reason why the first such unit was not
 * reached by the methods before; and why a method is absent. */
static void check_access_methods(struct doctor *d)
{
	const struct unc_platform *p = d->platform;
	const struct unc_ways *ways = unc_access_ways(p->access);
	char text[UNC_ERROR_MAX];
	struct unc_buf buf = UNC_BUF(text);

	for (const struct unc_way *way = ways->way + 1; way <= ways->way + ways->n; way++) {
		const struct unc_instance *passed = NULL;
		const char *name = way->methods->name;
		unsigned n = 0;

		for (size_t i = 0; i < p->instances.n; i++) {
			if (strcmp(unc_platform_served(p, i), name) != 0)
				continue;
			n++;
			if (!passed && *p->instances.unit[i].reason)
				passed = &p->instances.unit[i];
		}
		if (n)
			unc_put(&buf, "%s%s serves %u unit%s", buf.n ? "; " : "", name, n,
				n == 1 ? "" : "s");
		if (passed)
			unc_put(&buf, " (%s: %s)", unc_doctor_unit(d, passed).text, passed->reason);
		if (way->absent.code)
			unc_put(&buf, "%s%s: %s", buf.n ? "; " : "", name, way->absent.text);
	}
	if (buf.n)
		unc_note(d, "access", "%s", text);
}

/* ---- MSRs and memory */

/* Whether registers of a space are needed. False: a note says so. */
static bool is_space_needed(struct doctor *d, enum unc_space space, const char *check)
{
	if (!(d->units.spaces >> space & 1))
		unc_note(d, check, "not needed on this CPU");
	else if (d->units.bypassed >> space & 1)
		unc_note(d, check, "not needed: see the check of access");
	else
		return true;
	return false;
}

static int probe_device(const struct doctor *d, const char *path)
{
	int fd = unc_fs_descriptor(d->fs, O_RDWR, "%s", path);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* Opens /dev/cpu/N/msr once for each socket that has a CPU for it. False: reported. */
static bool probe_msrs(struct doctor *d)
{
	static const char *const remedy[2][2] = {
		{"load the msr module: modprobe msr",
		 "make /dev the machine's devtmpfs; for a service, see PrivateDevices="},
		{"load the msr module on the machine (modprobe msr), and give the container the "
		 "devices: --device /dev/cpu",
		 "give the container the devices: --device /dev/cpu"}};
	const struct unc_topology *t = &d->platform->topology;
	char path[40];
	int rc = 0;

	for (int i = 0; i < t->n_sockets && rc == 0; i++) {
		if (t->socket[i].quiet || t->socket[i].cpu < 0)
			continue; /* the units of such a socket give the reason */
		snprintf(path, sizeof(path), "/dev/cpu/%d/msr", t->socket[i].cpu);
		rc = probe_device(d, path);
	}
	bool absent = rc == UNC_ERR_NOT_FOUND;
	bool loaded = absent && unc_fs_exists(d->fs, "/sys/module/msr");

	if (rc < 0)
		unc_report(d, "msr", false,
			   absent ? remedy[d->container][loaded]
				  : unc_or_kernel(d, "run as root, or with CAP_SYS_RAWIO"),
			   "%s: %s%s", path, absent ? "no such file" : unc_error_name(rc),
			   loaded ? ", but the msr module is loaded" : "");
	return rc == 0;
}

/*
 * A note. The module taints the kernel before each write of user space, whatever allow_writes is;
 * allow_writes=on only keeps the write out of the log (Linux, arch/x86/kernel/msr.c).
 */
static void note_taint(struct doctor *d, bool logs)
{
	char text[32] = "";
	bool marked;

	unc_fs_text(d->fs, text, sizeof(text), "/proc/sys/kernel/tainted");
	marked = strtoull(text, NULL, 10) & TAINT_OUT_OF_SPEC;
	unc_note(d, "taint",
		 "writing MSRs marks the kernel as tainted (S, CPU out of specification%s)%s; the "
		 "kernel's own monitors (perf) do not",
		 marked ? "; it is already" : "",
		 logs ? " and logs \"Write to unrecognized MSR\", which is kept from the log by "
			"echo on >/sys/module/msr/parameters/allow_writes"
		      : "");
}

static void check_msr_driver(struct doctor *d)
{
	char mode[32] = "";

	if (!is_space_needed(d, UNC_SPACE_MSR, "msr"))
		return;
	bool opens = probe_msrs(d), taints = unc_fs_of_hardware(d->fs) && d->units.available;
	bool told =
		(opens || taints) && unc_fs_text(d->fs, mode, sizeof(mode),
						 "/sys/module/msr/parameters/allow_writes") == 0;

	d->writes_told = opens && told;
	d->writes_off = d->writes_told && strcmp(mode, "off") == 0;
	if (d->writes_off)
		unc_report(d, "msr", false,
			   unc_or_kernel(d, "echo on >/sys/module/msr/parameters/allow_writes, or "
					    "boot with msr.allow_writes=on"),
			   "the msr module refuses all writes: "
			   "/sys/module/msr/parameters/allow_writes is off");
	else if (opens)
		unc_note(d, "msr", "/dev/cpu/N/msr can be opened for reading and writing");
	if (taints)
		note_taint(d, strcmp(mode, "on") != 0);
}

static void check_dev_mem(struct doctor *d)
{
	bool needs = d->units.spaces >> UNC_SPACE_MMIO & 1;
	int rc = needs ? probe_device(d, "/dev/mem") : UNC_ERR_NOT_FOUND;

	if (rc == 0)
		unc_note(d, "memory", "/dev/mem can be opened for reading and writing");
	else if (!is_space_needed(d, UNC_SPACE_MMIO, "memory"))
		return;
	else if (rc == UNC_ERR_NOT_FOUND)
		unc_report(d, "memory", false,
			   d->container ? "give the container the device: --device /dev/mem"
					: "use a kernel with CONFIG_DEVMEM",
			   "/dev/mem: no such file");
	else
		unc_report(d, "memory", false,
			   "run as root with CAP_SYS_RAWIO on a kernel that is not locked down",
			   "/dev/mem: %s", unc_error_name(rc));
}

/* ---- PCI functions */

/* PCI functions that the parts of a table need. A kind of function is found if each socket has it. */
struct pci_needs {
	unsigned kinds, found, seen;
	char text[200];
	struct unc_buf missing;                  /* in text */
	const struct unc_pci_function *extended; /* the first with registers in extended space */
};

static void count_functions_of_part(const struct doctor *d, const struct unc_bus *bus,
				    const struct unc_tbl_part *part, uint64_t extent,
				    struct pci_needs *needs)
{
	const int sockets = d->platform->topology.n_sockets;
	const struct unc_tbl_where *where = NULL;

	while (part->space == UNC_SPACE_PCI &&
	       (where = UNC_NEXT(d->table, where, part->where, where))) {
		const struct unc_pci_function *first = NULL;
		int n = 0;

		for (size_t i = 0; i < bus->n_functions; i++)
			if (bus->function[i].device == where->device_id &&
			    bus->function[i].devfn == where->devfn && n++ == 0)
				first = &bus->function[i];
		if (where->optional == UNC_WHERE_LISTED)
			continue; /* a function that only the discovery table lists is not missed */
		needs->kinds++;
		needs->seen += n > 0;
		needs->found += n >= sockets;
		if (!needs->extended && where->base + extent > UNC_PCI_EXTENDED)
			needs->extended = first;
		if (n >= sockets || needs->kinds - needs->found > MAX_MISSING)
			continue;
		unc_put(&needs->missing, "%s%02x.%x (8086:%04x)", needs->missing.n ? ", " : "",
			where->devfn >> 3, where->devfn & 7, where->device_id);
		if (n)
			unc_put(&needs->missing, " on %d of %d sockets", sockets - n, sockets);
	}
}

static void report_pci(struct doctor *d, struct unc_bus *bus, const struct pci_needs *needs)
{
	struct unc_error why = {0};
	uint32_t value;

	if (!needs->kinds)
		unc_note(d, "pci", "not needed on this CPU");
	else if (!needs->seen)
		unc_report(
			d, "pci", false,
			"switch the performance monitors on in the BIOS (often \"PMON devices\" or "
			"\"unhide uncore devices\"), and run on the machine itself",
			"none of the %u PCI functions of the monitors is visible", needs->kinds);
	else if (needs->extended && d->units.admin &&
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

static void check_pci_functions(struct doctor *d)
{
	const struct unc_table *t = d->table;
	struct pci_needs needs = {.kinds = 0};
	struct unc_bus *bus = NULL;
	struct unc_error err = {0};

	needs.missing = UNC_BUF(needs.text);
	if (unc_bus_open_system(d->fs, &bus, &err) < 0 || bus->methods->scan(bus, &err) < 0) {
		unc_report(d, "pci", false, "mount /sys, and run outside of a container", "%s",
			   err.text);
	} else {
		for (unsigned type = 0; type < t->n_type; type++)
			for (unsigned k = 0; k < t->type[type].parts.n; k++)
				count_functions_of_part(d, bus, unc_type_part(t, type, k),
							unc_part_extent(t, type, k), &needs);
		report_pci(d, bus, &needs);
	}
	if (bus)
		bus->methods->close(bus);
}

/* ---- */

/* Checks the counters of logical CPUs, which only the kernel gives. */
static void check_threads(struct doctor *d)
{
	const struct unc_survey *s = &d->units;

	if (!(s->spaces & (1u << UNC_SPACE_PERF | 1u << UNC_SPACE_PMU)))
		return;
	unc_report(d, "kernel", s->threads && !s->thread,
		   s->thread ? "give the program root or CAP_PERFMON, on a kernel and a machine "
			       "that have a core PMU; without it the metrics that need the cores "
			       "are left out"
			     : "see the checks above",
		   "%u of %u logical CPUs give counters%s%s", s->threads_available, s->threads,
		   s->thread ? "; " : "", s->thread ? s->thread->reason : "");
}

void unc_doctor_access(struct doctor *d)
{
	check_access_methods(d);
	check_msr_driver(d);
	check_pci_functions(d);
	check_dev_mem(d);
	unc_doctor_kernel(d);
	check_threads(d);
}
