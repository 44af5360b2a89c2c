/* SPDX-License-Identifier: BSD-3-Clause */
/* Why counters can or cannot be read here, one check after the other. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "discover.h"
#include "fs.h"
#include "table.h"

enum { CAP_RAWIO = 17, CAP_ADMIN = 21, EXTENDED = 0x100, MAX_MISSING = 4 };

struct doctor {
	struct unc_options options;
	unc_check_fn fn;
	void *user;
	struct unc_fs *fs;
	struct unc_platform *platform; /* NULL: could not be opened */
	char why[UNC_ERROR_MAX];       /* it could not */
	const struct unc_table *table; /* NULL: the CPU is not supported */
	struct unc_topology topo;
	bool have_topo;
	int failed;
	bool stopped;
};

static void report(struct doctor *d, const char *check, bool ok, const char *remedy,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));

static void report(struct doctor *d, const char *check, bool ok, const char *remedy,
		   const char *format, ...)
{
	char detail[2 * UNC_ERROR_MAX];
	struct unc_check result = {.check = check, .ok = ok, .detail = detail};
	va_list args;

	if (d->stopped)
		return;
	va_start(args, format);
	vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	result.remedy = ok ? "" : remedy;
	d->failed += !ok;
	d->stopped = d->fn(d->user, &result) != 0;
}

/* "sandybridge-ep, emerald-rapids" */
static void supported_names(char *buf, size_t size)
{
	size_t n, used = 0;
	const struct unc_table *const *tables = unc_tables(&n);

	buf[0] = '\0';
	for (size_t i = 0; i < n && used < size; i++) {
		int m = snprintf(buf + used, size - used, "%s%s", i ? ", " : "",
				 unc_tbl_str(tables[i], tables[i]->name));

		used += m > 0 ? (size_t)m : 0;
	}
}

static const struct unc_table *table_named(const char *name)
{
	size_t n;
	const struct unc_table *const *tables = unc_tables(&n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(unc_tbl_str(tables[i], tables[i]->name), name))
			return tables[i];
	return NULL;
}

static void check_cpu(struct doctor *d)
{
	const struct unc_topology *t = &d->topo;
	struct unc_error err = {0};
	char names[200], remedy[400];

	supported_names(names, sizeof(names));
	d->have_topo = unc_topology_read(d->fs, &d->topo, &err) == 0;
	if (!d->have_topo) {
		report(d, "cpu", false, "mount /proc and /sys, or check UNCORE_SYSROOT", "%s",
		       err.text);
		return;
	}
	if (d->platform) {
		const struct unc_cpu *cpu = unc_platform_cpu(d->platform);

		d->table = table_named(cpu->name);
		report(d, "cpu", true, "", "%s (%s): %d socket%s, family %d, model 0x%02x",
		       t->model_name, cpu->title, t->n_sockets, t->n_sockets == 1 ? "" : "s",
		       t->family, (unsigned)t->model);
		return;
	}
	snprintf(remedy, sizeof(remedy),
		 "run it on one of: %s; or try a simulated one: "
		 "UNCORE_SIM=emerald-rapids",
		 names);
	if (strcmp(t->vendor, "GenuineIntel") != 0)
		report(d, "cpu", false, remedy,
		       "%s is not supported: made by %s, and the tables are of Intel's uncore",
		       t->model_name, t->vendor);
	else
		report(d, "cpu", false, remedy, "%s (family %d, model 0x%02x): %s", t->model_name,
		       t->family, (unsigned)t->model, d->why);
}

static void check_hypervisor(struct doctor *d)
{
	if (!d->have_topo)
		return;
	report(d, "hypervisor", !d->topo.hypervisor,
	       "run on the machine itself, not in a virtual one (in a cloud: bare-metal instances)",
	       d->topo.hypervisor
		       ? "this is a virtual machine; hypervisors do not pass the uncore monitors on"
		       : "none: this is the machine itself");
}

static void check_lockdown(struct doctor *d)
{
	char mode[32];
	bool ok;

	unc_lockdown_read(d->fs, mode);
	ok = !*mode || !strcmp(mode, "none");
	report(d, "lockdown", ok,
	       "switch Secure Boot off, or boot without lockdown= on the kernel's command line",
	       ok ? "the kernel is not locked down"
		  : "the kernel is locked down (%s): no MSR writes, no /dev/mem",
	       mode);
}

static void check_privileges(struct doctor *d)
{
	char text[8192], *line;
	uint64_t caps;
	bool rawio, admin;

	if (!unc_fs_is_real(d->fs)) {
		report(d, "privileges", true, "", "none needed: the machine is the dump in %s",
		       unc_fs_root(d->fs));
		return;
	}
	if (unc_fs_text(d->fs, text, sizeof(text), "/proc/self/status") < 0 ||
	    !(line = strstr(text, "\nCapEff:"))) {
		report(d, "privileges", false, "mount /proc", "/proc/self/status cannot be read");
		return;
	}
	caps = strtoull(line + strlen("\nCapEff:"), NULL, 16);
	rawio = caps >> CAP_RAWIO & 1;
	admin = caps >> CAP_ADMIN & 1;
	report(d, "privileges", rawio && admin,
	       "run as root, or give the program the capabilities: "
	       "setcap cap_sys_rawio,cap_sys_admin+ep PROGRAM",
	       "CAP_SYS_RAWIO (MSRs, /dev/mem): %s; CAP_SYS_ADMIN (PCI configuration): %s",
	       rawio ? "yes" : "no", admin ? "yes" : "no");
}

static bool needs_space(const struct unc_table *table, int space)
{
	for (size_t i = 0; i < table->n_part; i++)
		if (table->part[i].space == space)
			return true;
	return false;
}

static void check_msr(struct doctor *d)
{
	int n = d->have_topo ? d->topo.n_sockets : 1;

	if (d->table && !needs_space(d->table, UNC_SPACE_MSR)) {
		report(d, "msr", true, "", "not needed on this CPU");
		return;
	}
	for (int i = 0; i < n; i++) {
		int cpu = d->have_topo ? d->topo.socket[i].cpu : 0;
		int fd = unc_fs_descriptor(d->fs, O_RDWR, "/dev/cpu/%d/msr", cpu);

		if (fd >= 0) {
			close(fd);
			continue;
		}
		if (fd == UNC_ERR_NOT_FOUND)
			report(d, "msr", false, "load the msr module: modprobe msr",
			       "/dev/cpu/%d/msr: no such file", cpu);
		else
			report(d, "msr", false, "run as root, or with CAP_SYS_RAWIO",
			       "/dev/cpu/%d/msr: %s", cpu, unc_error_name(fd));
		return;
	}
	report(d, "msr", true, "", "/dev/cpu/N/msr can be opened for reading and writing");
}

/* What the PCI parts of a table need. */
struct pci_needs {
	unsigned kinds, found;
	char missing[120];
	const struct unc_pci_function *extended; /* needs the extended space */
};

static const struct unc_pci_function *find_device(const struct unc_pci_function *list, size_t n,
						  const struct unc_tbl_where *where)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].device == where->device_id && list[i].devfn == where->devfn)
			return &list[i];
	return NULL;
}

static bool is_extended(const struct unc_table *t, const struct unc_tbl_type *type, uint32_t part,
			uint64_t base)
{
	for (uint32_t i = 0; i < type->regs.n; i++) {
		const struct unc_tbl_reg *reg = &t->reg[type->regs.first + i];

		if (reg->part == part && reg->offset + (int64_t)base >= EXTENDED)
			return true;
	}
	return false;
}

static void need_part(const struct unc_table *t, const struct unc_tbl_type *type, uint32_t number,
		      const struct unc_pci_function *list, size_t n, struct pci_needs *needs)
{
	const struct unc_tbl_part *part = &t->part[type->parts.first + number];

	for (uint32_t i = 0; part->space == UNC_SPACE_PCI && i < part->where.n; i++) {
		const struct unc_tbl_where *where = &t->where[part->where.first + i];
		const struct unc_pci_function *f = find_device(list, n, where);
		size_t used = strlen(needs->missing);

		needs->kinds++;
		needs->found += f != NULL;
		if (!f && needs->kinds - needs->found <= MAX_MISSING)
			snprintf(needs->missing + used, sizeof(needs->missing) - used,
				 "%s%02x.%x (8086:%04x)", used ? ", " : "", where->devfn >> 3,
				 where->devfn & 7, where->device_id);
		if (f && !needs->extended && is_extended(t, type, number, where->base))
			needs->extended = f;
	}
}

static void report_pci(struct doctor *d, struct unc_bus *bus, const struct pci_needs *needs)
{
	struct unc_error why = {0};
	uint32_t value;

	if (!needs->found)
		report(d, "pci", false,
		       "switch the performance monitors on in the BIOS (often \"PMON devices\" or "
		       "\"unhide uncore devices\"), and run on the machine itself",
		       "none of the %u PCI functions of the monitors is visible", needs->kinds);
	else if (needs->extended &&
		 bus->methods->config(bus, needs->extended, EXTENDED, &value, &why) < 0)
		report(d, "pci", false,
		       "run as root on a kernel with PCI Express configuration (MMCONFIG)", "%s",
		       why.text);
	else if (needs->found < needs->kinds)
		report(d, "pci", true, "",
		       "%u of %u PCI functions of the monitors are visible; hidden or absent: %s%s",
		       needs->found, needs->kinds, needs->missing,
		       needs->kinds - needs->found > MAX_MISSING ? ", ..." : "");
	else
		report(d, "pci", true, "", "all %u PCI functions of the monitors are visible",
		       needs->kinds);
}

static void check_pci(struct doctor *d)
{
	struct unc_pci_function *list = NULL;
	struct pci_needs needs = {0};
	struct unc_bus *bus = NULL;
	struct unc_error err = {0};
	size_t n = 0;

	if (!d->table) {
		report(d, "pci", false, "see cpu", "not checked: no table tells what to look for");
		return;
	}
	if (unc_bus_open_system(d->fs, &bus, &err) < 0 ||
	    bus->methods->scan(bus, &list, &n, &err) < 0) {
		report(d, "pci", false, "mount /sys, and run outside of a container", "%s",
		       err.text);
	} else {
		for (size_t i = 0; i < d->table->n_type; i++)
			for (uint32_t k = 0; k < d->table->type[i].parts.n; k++)
				need_part(d->table, &d->table->type[i], k, list, n, &needs);
		if (needs.kinds)
			report_pci(d, bus, &needs);
		else
			report(d, "pci", true, "", "not needed on this CPU");
	}
	free(list);
	if (bus)
		bus->methods->close(bus);
}

static bool needs_memory(const struct unc_table *table)
{
	return needs_space(table, UNC_SPACE_MMIO) || table->discovery == UNC_DISCOVERY_TABLE;
}

static bool of_kernel(const struct unc_table *table, const char *type)
{
	for (size_t i = 0; i < table->n_type; i++)
		if (strcmp(unc_tbl_str(table, table->type[i].name), type) == 0)
			return unc_space_of_thread(table->part[table->type[i].parts.first].space);
	return false;
}

/* Counters that the kernel hands out: perf_event_open, or perfmonctl. */
static void check_kernel(struct doctor *d)
{
	const struct unc_unit *unit, *first = NULL;
	size_t n = 0, available = 0;

	if (!d->table ||
	    !(needs_space(d->table, UNC_SPACE_PERF) || needs_space(d->table, UNC_SPACE_PMU)))
		return;
	for (size_t i = 0; d->platform && (unit = unc_unit_get(d->platform, i)); i++) {
		if (!of_kernel(d->table, unit->type->name))
			continue;
		n++;
		available += unit->available != 0;
		if (!unit->available && !first)
			first = unit;
	}
	if (first)
		report(d, "kernel", false,
		       "give the program root or CAP_PERFMON, on a kernel and a machine that have "
		       "a core PMU; without it the metrics that need the cores are left out",
		       "%zu of %zu logical CPUs give counters; %s", available, n, first->reason);
	else
		report(d, "kernel", n > 0, "see the checks above",
		       "%zu of %zu logical CPUs give counters", available, n);
}

static void check_memory(struct doctor *d)
{
	int fd;

	if (d->table && !needs_memory(d->table)) {
		report(d, "memory", true, "", "not needed on this CPU");
		return;
	}
	fd = unc_fs_descriptor(d->fs, O_RDWR, "/dev/mem");
	if (fd >= 0) {
		close(fd);
		report(d, "memory", true, "", "/dev/mem can be opened for reading and writing");
	} else if (fd == UNC_ERR_NOT_FOUND) {
		report(d, "memory", false,
		       "use a kernel with CONFIG_DEVMEM, and run outside of a container",
		       "/dev/mem: no such file");
	} else {
		report(d, "memory", false,
		       "run as root with CAP_SYS_RAWIO on a kernel that is not locked down",
		       "/dev/mem: %s", unc_error_name(fd));
	}
}

static void check_units(struct doctor *d)
{
	const struct unc_unit *unit, *first = NULL;
	size_t n = 0, available = 0;

	if (!d->platform) {
		report(d, "units", false, "see the checks above", "none: %s", d->why);
		return;
	}
	for (; (unit = unc_unit_get(d->platform, n)); n++) {
		available += unit->available != 0;
		if (!unit->available && !first)
			first = unit;
	}
	if (first)
		report(d, "units", available > 0, "see the reason and the checks above",
		       "%zu of %zu units available; first that is not: %s%d of socket %d: %s",
		       available, n, first->type->name, first->index, first->socket, first->reason);
	else
		report(d, "units", n > 0, "see the checks above", "%zu of %zu units available",
		       available, n);
}

static void open_platform(struct doctor *d)
{
	if (unc_platform_open(&d->options, &d->platform) < 0) {
		d->platform = NULL;
		snprintf(d->why, sizeof(d->why), "%s", unc_open_error());
	}
}

static void check_simulated(struct doctor *d)
{
	report(d, "simulation", d->platform != NULL, "correct or unset UNCORE_SIM",
	       d->platform ? "SIMULATED: the machine is '%s'; no number is of this one, which is "
			     "not checked"
			   : "'%s' cannot be simulated",
	       d->options.sim);
	check_units(d);
}

static void check_machine(struct doctor *d)
{
	check_cpu(d);
	check_hypervisor(d);
	check_lockdown(d);
	check_privileges(d);
	check_msr(d);
	check_pci(d);
	check_memory(d);
	check_kernel(d);
	check_units(d);
	report(d, "simulation", true, "", "off: numbers are of this machine");
}

int unc_doctor(const struct unc_options *options, unc_check_fn fn, void *user)
{
	struct doctor *d = calloc(1, sizeof(*d));
	struct unc_error err = {0};
	struct unc_options *o;
	int failed;

	if (!d)
		return UNC_ERR_MEMORY;
	o = &d->options;
	d->fn = fn;
	d->user = user;
	o->size = sizeof(*o);
	if (options)
		memcpy(o, options, options->size < sizeof(*o) ? options->size : sizeof(*o));
	o->size = sizeof(*o);
	o->cpu = NULL; /* what this machine is, not what was asked for */
	if (!o->sysroot)
		o->sysroot = getenv("UNCORE_SYSROOT");
	if (!o->sim)
		o->sim = getenv("UNCORE_SIM");
	if (unc_fs_open(o->sysroot, &d->fs, &err) < 0) {
		report(d, "root", false, "correct or unset UNCORE_SYSROOT", "%s", err.text);
	} else {
		open_platform(d);
		if (o->sim && *o->sim)
			check_simulated(d);
		else
			check_machine(d);
	}
	failed = d->failed;
	unc_platform_close(d->platform);
	unc_fs_close(d->fs);
	free(d);
	return failed;
}
