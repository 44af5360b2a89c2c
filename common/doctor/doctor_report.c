/* SPDX-License-Identifier: BSD-3-Clause */
/* What all checks of the doctor use. */
#include "doctor/doctor.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void unc_report(struct doctor *d, const char *check, bool ok, const char *remedy,
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

/* Monitors of the kernel: PMUs whose name begins with "uncore_"; the first one's name in *first. */
static unsigned kernel_monitors(const struct doctor *d, char first[64])
{
	char path[PATH_MAX];
	struct dirent *entry;
	unsigned n = 0;
	DIR *dir;

	first[0] = '\0';
	if (unc_fs_path(d->fs, path, sizeof(path), "/sys/bus/event_source/devices") < 0 ||
	    !(dir = opendir(path)))
		return 0;
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, "uncore_", strlen("uncore_")) == 0) {
			n++;
			if (!*first || strcmp(entry->d_name, first) < 0)
				snprintf(first, 64, "%.63s", entry->d_name);
		}
	closedir(dir);
	return n;
}

const char *unc_doctor_perf(const struct doctor *d, char *buf, size_t size)
{
	char first[64], text[32] = "2";
	unsigned n = kernel_monitors(d, first);

	buf[0] = '\0';
	unc_fs_text(d->fs, text, sizeof(text), "/proc/sys/kernel/perf_event_paranoid");
	if (n)
		snprintf(buf, size,
			 "; the kernel's own %u monitors work all the same, with %s: "
			 "perf stat -a -e %s/event=0x0/",
			 n,
			 atoi(text) > 2   ? "CAP_SYS_ADMIN"
			 : atoi(text) > 0 ? "CAP_PERFMON"
					  : "no right at all",
			 first);
	return buf;
}

bool unc_doctor_any_unit(const struct doctor *d)
{
	for (size_t i = 0; i < d->platform->instances.n; i++)
		if (d->platform->instances.unit[i].available)
			return true;
	return false;
}
