/* SPDX-License-Identifier: BSD-3-Clause */
/* Doctor: whether this process is in a container, and what that keeps from it. */
#include "doctor/doctor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "host/trust.h"

/* The machine's own namespaces have numbers that do not change (Linux, include/linux/proc_ns.h). */
static const unsigned long processes_of_machine = 0xeffffffc, users_of_machine = 0xeffffffd;

/* Whether this process sees another set of them than the machine's first process did. */
static bool set_apart(const struct doctor *d, const char *what, unsigned long of_machine)
{
	char text[64];

	if (!unc_fs_link(d->fs, text, sizeof(text), "/proc/self/ns/%s", what))
		return false;
	return strchr(text, '[') && strtoul(strchr(text, '[') + 1, NULL, 10) != of_machine;
}

/* Who made the container, by what it leaves there; "" if nobody says. */
static void find_manager(const struct doctor *d, char *buf, size_t size)
{
	if (unc_fs_exists(d->fs, "/run/.containerenv"))
		snprintf(buf, size, "podman");
	else if (unc_fs_exists(d->fs, "/.dockerenv"))
		snprintf(buf, size, "docker");
	else if (unc_fs_text(d->fs, buf, size, "/run/systemd/container") < 0)
		buf[0] = '\0';
}

static bool read_only(const struct doctor *d, const char *dir)
{
	char path[PATH_MAX];
	struct statvfs st;

	return unc_fs_path(d->fs, path, sizeof(path), "%s", dir) == 0 && statvfs(path, &st) == 0 &&
	       st.f_flag & ST_RDONLY;
}

void unc_doctor_container(struct doctor *d, uint64_t needed)
{
	const bool configures = needed >> UNC_CAP_ADMIN & 1;
	char manager[64];
	bool users;

	if (!unc_fs_of_hardware(d->fs))
		return;
	find_manager(d, manager, sizeof(manager));
	users = set_apart(d, "user", users_of_machine);
	d->container = *manager || set_apart(d, "pid", processes_of_machine);
	if (!d->container && !users)
		return;
	const char *by = *manager ? manager : "by its namespaces";
	char name[100] = "this process";

	if (d->container)
		snprintf(name, sizeof(name), "this container (%s)", by);
	if (users)
		unc_report(d, "container", unc_doctor_any_unit(d),
			   "start it as root of the machine, without a user namespace (docker: "
			   "--userns=host; podman: as root)",
			   "%s has a user namespace of its own: its capabilities do not reach "
			   "registers",
			   name);
	else if (configures && read_only(d, "/sys"))
		unc_report(d, "container", false, "mount the machine's: -v /sys:/sys",
			   "this is a container (%s) with a read-only /sys: configuration space of "
			   "PCI functions cannot be written",
			   by);
	else
		unc_note(d, "container", "this is a container (%s)", by);
}

const char *unc_doctor_no_msr(const struct doctor *d, bool *loaded)
{
	*loaded = unc_fs_exists(d->fs, "/sys/module/msr");
	if (d->container)
		return *loaded ? "give the container the devices: --device /dev/cpu"
			       : "load the msr module on the machine (modprobe msr), and give the "
				 "container the devices: --device /dev/cpu";
	return *loaded ? "see that /dev is the machine's devtmpfs, and PrivateDevices= of a service"
		       : "load the msr module: modprobe msr";
}
