/* SPDX-License-Identifier: BSD-3-Clause */
/* Why counters can or cannot be read here, one check after the other. */
#include "doctor/doctor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/abi.h"
#include "host/trust.h"
#include "journal/journal.h"
#include "units/set.h"

/* Capabilities that registers need: bits of /proc/self/status. */
enum { CAP_RAWIO = 17, CAP_ADMIN = 21 };

static void check_environment(struct doctor *d)
{
	for (const char *const *name = unc_variables; d->raised && *name; name++)
		if (getenv(*name))
			unc_note(d, "environment",
				 "%s is ignored: the program runs with raised privileges", *name);
}

/* ---- the machine */

static void report_unsupported(struct doctor *d, struct unc_topology *t)
{
	char names[400], remedy[600];

	unc_cpu_names(names, sizeof(names));
	snprintf(remedy, sizeof(remedy),
		 "run it on one of: %s; or try a simulated one: UNCORE_SIM=" UNC_EXAMPLE_CPU,
		 names);
	if (strcmp(t->vendor, "GenuineIntel") != 0) {
		unc_report(d, "cpu", false, remedy,
			   "%s is not supported: it is made by %s, and the tables cover only "
			   "Intel's uncore",
			   t->model_name, t->vendor);
		return;
	}
	unc_report(d, "cpu", false, remedy, "%s", unc_open_error());
	unc_doctor_listed(d, t);
}

/* Checks the CPU and opens its platform. False: no further check is possible. */
static bool check_cpu(struct doctor *d)
{
	struct unc_topology own = {.n_sockets = 0};
	const struct unc_topology *t;
	struct unc_error err = {0};
	bool unread = unc_topology_read(d->fs, &own, &err) < 0 && !own.n_sockets;
	int rc = unread ? UNC_ERR_IO
			: unc_platform_open_under(d->fs, &d->options, d->raised, &d->platform);

	if (rc == UNC_ERR_INVALID) /* the root is open already: only the access list can be wrong */
		unc_report(d, "access", false,
			   "correct the list of methods (--access, or UNCORE_ACCESS)", "%s",
			   unc_open_error());
	else if (rc == UNC_ERR_UNAVAILABLE)
		report_unsupported(d, &own);
	else if (rc < 0)
		unc_report(d, "cpu", false, "mount /proc and /sys, or check UNCORE_SYSROOT", "%s",
			   unread ? err.text : unc_open_error());
	if (rc < 0)
		return false;
	unc_doctor_survey(d);
	t = &d->platform->topology; /* includes sockets known only by their PCI functions */
	unc_note(d, "cpu", "%s (%s): %d socket%s, family %d, model 0x%02x", t->model_name,
		 unc_platform_cpu(d->platform)->title, t->n_sockets, t->n_sockets == 1 ? "" : "s",
		 t->family, (unsigned)t->model);
	if (!d->table->topology.map_offset && unc_topology_unseen(t)) /* see unc_walk_sockets() */
		unc_note(d, "offline",
			 "CPUs that are offline: %d, as many as a socket has; a socket of this CPU "
			 "is seen by its CPUs only, so one is assumed to be there",
			 t->hidden);
	return true;
}

static void check_hypervisor(struct doctor *d)
{
	if (!d->platform->topology.hypervisor)
		unc_note(d, "hypervisor", "none: this is the machine itself");
	else if (d->units.available)
		unc_note(d, "hypervisor",
			 "this is a virtual machine, and monitors are passed on to it");
	else
		unc_report(d, "hypervisor", false,
			   "run on the machine itself, not in a virtual one (in a cloud: "
			   "bare-metal instances)",
			   "this is a virtual machine; hypervisors do not pass the uncore monitors "
			   "on");
}

/* ---- what keeps this process from registers */

/* Whether this process has left the initial namespace, whose number is fixed (include/linux/proc_ns.h). */
static bool in_own_namespace(const struct doctor *d, const char *what, unsigned long of_machine)
{
	char text[64];

	return unc_fs_link(d->fs, text, sizeof(text), "/proc/self/ns/%s", what) &&
	       strchr(text, '[') && strtoul(strchr(text, '[') + 1, NULL, 10) != of_machine;
}

/* The container manager, recognized by the files that it creates; "": none is recognized. */
static void find_container_manager(const struct doctor *d, char *buf, size_t size)
{
	if (unc_fs_exists(d->fs, "/run/.containerenv"))
		snprintf(buf, size, "podman");
	else if (unc_fs_exists(d->fs, "/.dockerenv"))
		snprintf(buf, size, "docker");
	else if (unc_fs_text(d->fs, buf, size, "/run/systemd/container") < 0)
		buf[0] = '\0';
}

static bool is_read_only(const struct doctor *d, const char *dir)
{
	char path[PATH_MAX];
	struct statvfs st;

	return unc_fs_path(d->fs, path, sizeof(path), "%s", dir) == 0 && statvfs(path, &st) == 0 &&
	       st.f_flag & ST_RDONLY;
}

static void check_container(struct doctor *d)
{
	char manager[64], name[100] = "this process";
	bool users;

	if (!unc_fs_of_hardware(d->fs))
		return;
	find_container_manager(d, manager, sizeof(manager));
	users = in_own_namespace(d, "user", 0xeffffffd);
	d->container = *manager || in_own_namespace(d, "pid", 0xeffffffc);
	if (!*manager)
		snprintf(manager, sizeof(manager), "by its namespaces");
	if (d->container)
		snprintf(name, sizeof(name), "this container (%s)", manager);
	if (users)
		unc_report(d, "container", d->units.available,
			   "start it as root of the machine, without a user namespace (docker: "
			   "--userns=host; podman: as root)",
			   "%s has a user namespace of its own: its capabilities do not reach "
			   "registers",
			   name);
	else if (d->container && d->units.admin && is_read_only(d, "/sys"))
		unc_report(d, "container", false, "mount the machine's: -v /sys:/sys",
			   "this is a container (%s) with a read-only /sys: configuration space of "
			   "PCI functions cannot be written",
			   manager);
	else if (d->container)
		unc_note(d, "container", "this is a container (%s)", manager);
}

/* Hints of a lockdown if securityfs is not mounted; "": none. */
static const char *lockdown_signs(const struct doctor *d)
{
	char text[4096] = "", byte[16] = "";

	if (unc_fs_text(d->fs, text, sizeof(text), "/proc/cmdline") == 0 &&
	    (strstr(text, "lockdown=integrity") || strstr(text, "lockdown=confidentiality")))
		return "; it was booted with lockdown=";
	int fd = unc_fs_descriptor(d->fs, O_RDONLY,
				   "/sys/firmware/efi/efivars/"
				   "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
	if (fd < 0)
		return "";
	/* Four bytes of attributes, and the value. */
	ssize_t n = read(fd, byte, sizeof(byte));
	close(fd);
	return n == 5 && byte[4] == 1 ? "; Secure Boot is on" : "";
}

static void check_lockdown(struct doctor *d)
{
	char mode[32];

	unc_lockdown_read(d->fs, mode);
	d->locked = *mode && strcmp(mode, "none") != 0;
	if (d->locked)
		unc_report(d, "lockdown", d->units.kernel,
			   unc_or_kernel(d, "switch Secure Boot off, or boot without lockdown= on "
					    "the kernel's command line"),
			   "the kernel is locked down (%s): no MSR writes, no /dev/mem, no writes "
			   "of PCI configuration%s",
			   mode, d->units.kernel ? "; its own driver still counts" : "");
	else if (*mode)
		unc_note(d, "lockdown", "the kernel is not locked down");
	else
		unc_note(d, "lockdown",
			 "lockdown is not known (no /sys/kernel/security/lockdown)%s; writes are "
			 "tried below",
			 lockdown_signs(d));
}

static void check_privileges(struct doctor *d)
{
	static const char effective[] = "\nCapEff:", bounding[] = "\nCapBnd:";
	const struct unc_survey *s = &d->units;
	const uint64_t needed = (uint64_t)s->rawio << CAP_RAWIO | (uint64_t)s->admin << CAP_ADMIN;
	const char *unneeded = s->kernel ? "not needed" : "not needed on this CPU", *at, *most;
	char text[8192], setcap[160];

	if (!unc_fs_of_hardware(d->fs)) {
		unc_note(d, "privileges", "none needed: the machine is the dump in %s",
			 unc_fs_root(d->fs));
		return;
	}
	if (unc_fs_text(d->fs, text, sizeof(text), "/proc/self/status") < 0 ||
	    !(at = strstr(text, effective)) || !(most = strstr(text, bounding))) {
		unc_report(d, "privileges", false, "mount /proc",
			   "/proc/self/status cannot be read");
		return;
	}
	uint64_t has = strtoull(at + strlen(effective), NULL, 16);
	uint64_t limit = strtoull(most + strlen(bounding), NULL, 16);

	snprintf(setcap, sizeof(setcap),
		 "run as root, or give the program the capabilities: setcap %s%s%s+ep PROGRAM",
		 s->rawio ? "cap_sys_rawio" : "", s->rawio && s->admin ? "," : "",
		 s->admin ? "cap_sys_admin" : "");
	/* Neither setcap nor root can give a capability outside the bounding set. */
	unc_report(d, "privileges", (has & needed) == needed,
		   unc_or_kernel(d, "%s",
				 (limit & needed) == needed
					 ? setcap
					 : "the bounding set keeps them from this process: in a "
					   "container, start it with --cap-add SYS_RAWIO --cap-add "
					   "SYS_ADMIN; for a service, see CapabilityBoundingSet="),
		   "CAP_SYS_RAWIO (MSRs, /dev/mem): %s; CAP_SYS_ADMIN (PCI configuration): %s",
		   has >> CAP_RAWIO & 1 ? "yes"
		   : s->rawio           ? "no"
					: unneeded,
		   has >> CAP_ADMIN & 1 ? "yes"
		   : s->admin           ? "no"
					: unneeded);
}

/* ---- other programs, and the site */

/* A missing journal is only a note: numbers are right without one. */
static void check_journal(struct doctor *d)
{
	struct unc_error err = {0};
	char old[PATH_MAX + sizeof("/ledger")];
	bool make;

	if (!d->units.available)
		return;
	if (unc_node_lock(d->platform, UNC_START_PATIENCE, &err) == 0) {
		unc_node_unlock(d->platform);
		unc_fail(&err, UNC_OK, "%s", unc_journal_reason(d->platform->journal));
	}
	if (*err.text)
		unc_note(d, "journal",
			 "sessions of other programs are not known, no counter is shared with "
			 "them, and if this program is killed, its registers are not restored: %s",
			 err.text);
	else
		unc_note(d, "journal",
			 "programs of this node share counters, and restore the registers of "
			 "programs that have ended");
	if (unc_node_folder(d->platform, old, &make) && access(strcat(old, "/ledger"), F_OK) == 0)
		unc_note(d, "ledger",
			 "%.300s is of an older libuncore, whose programs do not use the journal: "
			 "end them, run their uncore release, which restores the registers, and "
			 "remove this file and %.300s.*",
			 old, old);
}

/* Runs last: a line of the site file that is ignored keeps no counter from being read. */
static void check_site_file(struct doctor *d)
{
	const struct unc_wrong *wrong = &d->platform->site.wrong;

	if (wrong->n)
		unc_report(d, "site", false,
			   "correct it, and let everybody read the file (chmod 0644)",
			   "%s: ignored, %u in all", wrong->first.text, wrong->n);
}

/* ---- all checks. False: there is no machine to look at. */

static bool check_simulated(struct doctor *d)
{
	if (unc_platform_open_under(d->fs, &d->options, d->raised, &d->platform) < 0) {
		unc_report(d, "simulation", false, "correct what it names, or unset UNCORE_SIM",
			   "'%s' cannot be simulated: %s", d->options.sim, unc_open_error());
		return false;
	}
	unc_note(d, "simulation",
		 "SIMULATED: the machine is '%s'; no number is of this computer, which is not "
		 "checked",
		 d->options.sim);
	unc_doctor_survey(d);
	unc_doctor_kernel(d);
	return true;
}

static bool check_machine(struct doctor *d)
{
	if (!check_cpu(d))
		return false;
	check_hypervisor(d);
	check_container(d);
	check_lockdown(d);
	check_privileges(d);
	unc_doctor_access(d);
	check_journal(d);
	return true;
}

/* record: NULL, or called at the end with all that the checks have read (doctor.h). */
static void check_all(struct doctor *d, unc_record_fn *record, struct unc_error *err)
{
	struct unc_dump *dump = NULL;

	d->options.sim = unc_platform_sim(&d->options, d->raised, d->fs);
	if (record && unc_fs_replayed(d->fs))
		unc_fail(err, UNC_ERR_INVALID, "%.200s is a dump already", unc_fs_root(d->fs));
	else if (record && !(dump = unc_fs_record(d->fs)))
		unc_no_memory(err);
	if (err->code)
		return;
	if (d->options.sim ? check_simulated(d) : check_machine(d)) {
		unc_doctor_units(d);
		unc_doctor_counters(d);
		check_site_file(d);
		if (!d->options.sim)
			unc_note(d, "simulation", "off: numbers are of this machine");
	}
	if (record)
		record(d, dump, err);
}

int unc_doctor_record(const struct unc_options *options, bool raised, unc_record_fn *record,
		      unc_check_fn fn, void *user)
{
	struct doctor d = {.fn = fn, .user = user, .raised = raised};
	struct unc_error err = {0};

	if (!fn && !record)
		unc_fail(&err, UNC_ERR_INVALID, "nobody listens: fn is NULL");
	else if (options)
		unc_struct_in(&d.options, sizeof(d.options), options, options->size, "unc_options",
			      &err);
	if (err.code < 0)
		return unc_open_fail(&err);
	d.options.size = sizeof(d.options);
	d.options.cpu = NULL; /* the doctor checks this machine, whatever CPU was chosen */
	check_environment(&d);
	if (unc_platform_root(&d.options, raised, &d.fs, &err) < 0)
		unc_report(&d, "root", false, "correct or unset UNCORE_SYSROOT", "%s", err.text);
	else
		check_all(&d, record, &err);
	unc_platform_close(d.platform);
	unc_fs_close(d.fs);
	return record && err.code ? unc_open_fail(&err) : d.failed;
}

int unc_doctor_as(const struct unc_options *options, bool raised, unc_check_fn fn, void *user)
{
	return unc_doctor_record(options, raised, NULL, fn, user);
}

int unc_doctor(const struct unc_options *options, unc_check_fn fn, void *user)
{
	return unc_doctor_as(options, unc_raised(), fn, user);
}
