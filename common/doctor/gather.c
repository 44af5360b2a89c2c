/* SPDX-License-Identifier: BSD-3-Clause */
/* A dump of the machine: what the doctor and the discovery before it have read, and the registers. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "doctor/doctor.h"
#include "host/dump.h"
#include "host/smbios.h"
#include "host/trust.h"

struct gather {
	const char *file;
	unc_gathered_fn fn;
	void *user;
	int stop;
};

static int no_counter(void *user, const struct unc_counter *counter)
{
	(void)user;
	(void)counter;
	return 0;
}

static int no_register(void *user, const struct unc_register *reg)
{
	(void)user;
	(void)reg;
	return 0;
}

static int no_check(void *user, const struct unc_check *check)
{
	(void)user;
	(void)check;
	return 0;
}

/* Whoever reads of them later, the dump has it. What fails is in the dump too. */
static void read_registers(struct doctor *d)
{
	const struct unc_unit *unit;

	unc_node_get(d->platform, 0);
	unc_counters_walk(d->platform, no_counter, NULL);
	for (size_t i = 0; (unit = unc_unit_get(d->platform, i)); i++)
		unc_register_read(d->platform, unit, no_register, NULL);
}

static int label(struct doctor *d, struct unc_dump *dump, struct unc_error *err)
{
	char kernel[80] = "unknown", day[16] = "";
	time_t now = time(NULL);
	struct tm tm;

	unc_fs_text(d->fs, kernel, sizeof(kernel), "/proc/sys/kernel/osrelease");
	if (gmtime_r(&now, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	snprintf(dump->from, sizeof(dump->from), "%s, Linux %s", day, kernel);
	dump->hardware = unc_fs_is_hardware(d->fs);
	if (d->options.sim && strlen(d->options.sim) >= sizeof(dump->sim))
		return unc_fail(err, UNC_ERR_RANGE,
				"the text of the simulated machine is too long");
	if (d->options.sim)
		snprintf(dump->sim, sizeof(dump->sim), "%s", d->options.sim);
	return 0;
}

/* ---- what is not told: names of persons and machines, serial numbers */

/* Keeps the lines, or the words, that begin with `begin`, or those that do not. */
static void keep(struct unc_dump_entry *entry, const char *ends, const char *begin, bool these)
{
	char *from = entry->data, *to = entry->data;

	while (*from) {
		size_t n = strcspn(from, ends);

		n += from[n] != '\0';
		if ((strncmp(from, begin, strlen(begin)) == 0) == these) {
			memmove(to, from, n);
			to += n;
		} else if (these && to == entry->data) {
			*to++ = *ends; /* the first line is one that is left out */
		}
		from += n;
	}
	*to = '\0';
	entry->size = (size_t)(to - entry->data);
}

static void mask(struct unc_dump_entry *entry)
{
	if (entry->kind != UNC_DUMP_FILE || !entry->data)
		return;
	if (strcmp(entry->path, "proc/cpuinfo") == 0)
		keep(entry, "\n", "serial", false);
	else if (strcmp(entry->path, "proc/cmdline") == 0)
		keep(entry, " \n", "lockdown=", true);
	else if (strcmp(entry->path, "proc/self/status") == 0)
		keep(entry, "\n", "Cap", true);
	else if (strcmp(entry->path, "sys/firmware/dmi/tables/DMI") == 0)
		unc_smbios_mask((uint8_t *)entry->data, entry->size);
}

/* ---- what was taken */

static void tell(struct gather *g, const char *what, size_t n)
{
	if (g->fn && n && !g->stop)
		g->stop = g->fn(g->user, what, n);
}

/* What was taken, by what it is of. */
static void tell_all(struct gather *g, const struct unc_dump *dump)
{
	static const struct {
		const char *begin, *what;
	} group[] = {{"proc/cpuinfo", "files of CPUs"},
		     {"sys/devices/system", "files of CPUs"},
		     {"sys/bus/pci", "files of PCI functions"},
		     {"proc/bus/pci", "files of PCI functions"},
		     {"sys/bus/event_source", "files of the kernel's monitors"},
		     {"sys/firmware/dmi", "files of SMBIOS, serial numbers masked"},
		     {"", "other files of the kernel"}};
	enum { GROUPS = sizeof(group) / sizeof(group[0]), SPACES = 3 };
	static const char *const space[] = {"MSRs", "places of memory",
					    "places of configuration space"};
	size_t files[GROUPS] = {0}, values[SPACES] = {0}, failed = 0;

	for (size_t i = 0; i < dump->n; i++) {
		const struct unc_dump_entry *e = dump->entry[i];
		unsigned k = 0;

		failed += e->error[0] || e->error[1];
		if (e->kind == UNC_DUMP_DEVICE)
			values[strcmp(e->path, "dev/mem") == 0    ? 1
			       : strncmp(e->path, "dev/", 4) == 0 ? 0
								  : 2] += e->n;
		while (strncmp(e->path, group[k].begin, strlen(group[k].begin)) != 0)
			k++;
		files[k] += e->kind == UNC_DUMP_FILE && !e->error[0];
	}
	files[1] += files[0];
	files[3] += files[2];
	for (unsigned k = 1; k < GROUPS; k++)
		tell(g, group[k].what, k == 2 ? 0 : files[k]);
	for (unsigned k = 0; k < SPACES; k++)
		tell(g, space[k], values[k]);
	tell(g, "files that could not be opened, with the reason", failed);
	if (*dump->sim)
		tell(g, "description of a simulated machine", 1);
}

static void save(struct doctor *d, struct unc_dump *dump, struct unc_error *err)
{
	struct gather *g = d->user;

	if (d->platform)
		read_registers(d);
	for (size_t i = 0; i < dump->n; i++)
		mask(dump->entry[i]);
	if (label(d, dump, err) == 0 && unc_dump_save(dump, g->file, err) == 0)
		tell_all(g, dump);
}

int unc_gather(const struct unc_options *options, const char *file, unc_gathered_fn fn, void *user)
{
	struct gather g = {.file = file, .fn = fn, .user = user};
	int rc = unc_doctor_record(options, unc_raised(), save, no_check, &g);

	return rc < 0 ? rc : g.stop;
}
