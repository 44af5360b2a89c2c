/* SPDX-License-Identifier: BSD-3-Clause */
/* A dump of the machine: all that the doctor and discovery have read, and the registers. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "doctor/doctor.h"
#include "host/dump.h"
#include "host/trust.h"

static int no_register(void *user, const struct unc_register *reg)
{
	(void)user;
	(void)reg;
	return 0;
}

static int no_device(void *user, const struct unc_device *device)
{
	(void)user;
	(void)device;
	return 0;
}

static int label_dump(struct doctor *d, struct unc_dump *dump, struct unc_error *err)
{
	const char *sim = d->options.sim ? d->options.sim : "";
	char kernel[80] = "unknown", day[16] = "";
	time_t now = time(NULL);
	struct tm tm;

	unc_fs_text(d->fs, kernel, sizeof(kernel), "/proc/sys/kernel/osrelease");
	if (gmtime_r(&now, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	snprintf(dump->from, sizeof(dump->from), "%s, Linux %s", day, kernel);
	dump->hardware = unc_fs_is_hardware(d->fs);
	if ((size_t)snprintf(dump->sim, sizeof(dump->sim), "%s", sim) >= sizeof(dump->sim))
		return unc_fail(err, UNC_ERR_RANGE,
				"the text of the simulated machine is too long");
	return 0;
}

/* ---- privacy: names of persons and machines are removed */

/* Keeps the lines or words (ends: what ends one) that begin with `begin`; these false: the others. */
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
			*to++ = *ends; /* the first line was removed */
		}
		from += n;
	}
	*to = '\0';
	entry->size = (size_t)(to - entry->data);
}

static void mask_private(struct unc_dump_entry *entry)
{
	static const struct {
		const char *path, *ends, *begin;
		bool these;
	} files[] = {
		{"proc/cpuinfo", "\n", "serial", false},
		{"proc/cmdline", " \n", "lockdown=", true},
		{"proc/self/status", "\n", "Cap", true},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (entry->kind == UNC_DUMP_FILE && entry->data &&
		    strcmp(entry->path, files[i].path) == 0)
			keep(entry, files[i].ends, files[i].begin, files[i].these);
}

/* ---- */

/* Reads all registers and devices, so that the dump has them for every later reader; it records failed reads, too. */
static void save_dump(struct doctor *d, struct unc_dump *dump, struct unc_error *err)
{
	const struct unc_unit *unit;

	if (d->platform)
		unc_node_get(d->platform, 0);
	for (size_t i = 0; d->platform && (unit = unc_unit_get(d->platform, i)); i++) {
		unc_register_read(d->platform, unit, no_register, NULL);
		unc_unit_devices(d->platform, unit, no_device, NULL);
	}
	for (size_t i = 0; i < dump->n; i++)
		mask_private(dump->entry[i]);
	if (label_dump(d, dump, err) == 0)
		unc_dump_save(dump, d->user, err);
}

int unc_gather(const struct unc_options *options, const char *file)
{
	int rc = unc_doctor_record(options, unc_raised(), save_dump, NULL, (void *)(uintptr_t)file);

	return rc < 0 ? rc : 0; /* drops the number of failed checks */
}
