/* SPDX-License-Identifier: BSD-3-Clause */
/* A dump of the machine: what the doctor and the discovery before it have read, and the registers. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "doctor/doctor.h"
#include "host/dump.h"
#include "host/trust.h"

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

static int no_device(void *user, const struct unc_device *device)
{
	(void)user;
	(void)device;
	return 0;
}

/* Whoever reads of them later, the dump has it. What fails is in the dump too. */
static void read_registers(struct doctor *d)
{
	const struct unc_unit *unit;

	unc_node_get(d->platform, 0);
	unc_counters_walk(d->platform, no_counter, NULL);
	for (size_t i = 0; (unit = unc_unit_get(d->platform, i)); i++) {
		unc_register_read(d->platform, unit, no_register, NULL);
		unc_unit_devices(d->platform, unit, no_device, NULL);
	}
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

/* ---- what is left out: names of persons and machines */

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
}

/* ---- */

static void save(struct doctor *d, struct unc_dump *dump, struct unc_error *err)
{
	const char *file = d->user;

	if (d->platform)
		read_registers(d);
	for (size_t i = 0; i < dump->n; i++)
		mask(dump->entry[i]);
	if (label(d, dump, err) == 0)
		unc_dump_save(dump, file, err);
}

int unc_gather(const struct unc_options *options, const char *file)
{
	int rc = unc_doctor_record(options, unc_raised(), save, no_check, (void *)(uintptr_t)file);

	return rc < 0 ? rc : 0; /* not how many checks have failed */
}
