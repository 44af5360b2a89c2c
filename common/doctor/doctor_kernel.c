/* SPDX-License-Identifier: BSD-3-Clause */
/* Doctor: the kernel's own driver, and the least right that it requires. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "host/perf_users.h"

enum { CAP_PERFMON = 38 }; /* linux/capability.h, since 5.8 */

/* The number of PMUs whose names begin with "uncore". */
static unsigned count_pmus(const struct doctor *d)
{
	char **list = unc_fs_list(d->fs, "/sys/bus/event_source/devices");
	unsigned n = 0;

	for (size_t i = 0; list && list[i]; i++)
		n += strncmp(list[i], "uncore", strlen("uncore")) == 0;
	free(list);
	return n;
}

/* The least right that suffices at a level. last: the last capability that the kernel knows. */
static const char *least_right(int level, int last)
{
	enum unc_perf_right right = unc_perf_right(level);

	return right == UNC_PERF_EVERYBODY                        ? "no right at all"
	       : right == UNC_PERF_PERFMON && last >= CAP_PERFMON ? "CAP_PERFMON"
								  : "CAP_SYS_ADMIN";
}

static const char *right_here(const struct doctor *d, int *level, int *last)
{
	char text[16] = "";

	*level = 2; /* Linux's default */
	unc_perf_level(d->fs, level);
	unc_fs_text(d->fs, text, sizeof(text), "/proc/sys/kernel/cap_last_cap");
	*last = *text ? atoi(text) : CAP_PERFMON;
	return least_right(*level, *last);
}

void unc_doctor_grant(int level, int last, char *buf, size_t size)
{
	const char *right = least_right(level, last);

	if (unc_perf_right(level) == UNC_PERF_EVERYBODY)
		snprintf(buf, size,
			 "allow perf_event_open in the seccomp profile of the container, or in the "
			 "security module");
	else
		snprintf(buf, size,
			 "the least: %s for the program (setcap %s+ep PROGRAM; a service: "
			 "AmbientCapabilities=%s)%s; or sysctl kernel.perf_event_paranoid=0 for "
			 "everybody",
			 right, strcmp(right, "CAP_PERFMON") == 0 ? "cap_perfmon" : "cap_sys_admin",
			 right,
			 level > 2 && last >= CAP_PERFMON
				 ? ", or CAP_PERFMON with sysctl kernel.perf_event_paranoid=2"
				 : "");
}

const char *unc_or_kernel(struct doctor *d, const char *format, ...)
{
	unsigned n = count_pmus(d);
	int level, last;

	UNC_FORMAT(d->remedy, format);
	if (n)
		unc_put(&(struct unc_buf){d->remedy, sizeof(d->remedy), strlen(d->remedy), 0},
			"; the kernel's own %u monitors still work (access method kernel), with %s",
			n, right_here(d, &level, &last));
	return d->remedy;
}

/* Whether the right to use the driver is missing; err: why. *passed: the site's broker opens events. */
static bool is_driver_refused(const struct unc_platform *p, bool *passed, struct unc_error *err)
{
	struct unc_kernel_place place;
	struct unc_error why = {0};

	for (const struct unc_instance *u = p->instances.unit;
	     u < p->instances.unit + p->instances.n; u++) {
		int rc = unc_platform_pmu(p, u, 0, &place, &why);

		if (rc == 0) { /* one unit answers for all */
			*passed = place.passed;
			return false;
		}
		if (rc == UNC_ERR_PERMISSION || rc == UNC_ERR_BUSY || rc == UNC_ERR_IO)
			*err = why; /* BUSY and IO come from the broker */
	}
	return err->code;
}

static void report_rights(struct doctor *d)
{
	struct unc_error why = {0};
	char remedy[600], told[UNC_ERROR_MAX] = "";
	int level, last;
	const char *right = right_here(d, &level, &last);
	bool passed = false, refused = is_driver_refused(d->platform, &passed, &why);

	if (passed) {
		unc_kernel_told(d->platform->access, told, sizeof(told));
		unc_note(d, "kernel rights",
			 "you may not open the kernel's events (paranoid %d); the broker of this "
			 "site is used, and allows %s",
			 level, told);
	} else if (!refused) {
		unc_note(d, "kernel rights", "kernel.perf_event_paranoid is %d: %s is needed%s",
			 level, right,
			 unc_perf_right(level) == UNC_PERF_EVERYBODY ? ""
								     : ", and the program has it");
	} else {
		unc_doctor_grant(level, last, remedy, sizeof(remedy));
		/* A reason that mentions the broker means that the site has one already. */
		if (!strstr(why.text, "broker"))
			unc_put(&(struct unc_buf){remedy, sizeof(remedy), strlen(remedy), 0},
				"; or for all users of the node: systemctl enable --now "
				"uncored.socket%s",
				level > 2 ? ", with its drop-in for CAP_SYS_ADMIN (uncored(8))"
					  : "");
		/* No failure if units can be counted by registers. */
		unc_report(d, "kernel rights", d->units.available, remedy, "%s", why.text);
	}
}

/* PMUs that the kernel names and no table knows. */
static void report_named(struct doctor *d)
{
	const struct unc_named *named = &d->platform->named;
	const struct unc_table *t = d->table;

	for (size_t i = 0; named->table && i < t->n_type; i++) {
		const struct unc_tbl_type *type = &t->type[i];
		unsigned units = 0, events = type->events.n - 1u; /* without RAW */

		for (size_t k = 0; k < named->n_units; k++)
			units += named->unit[k].type == i;
		if (type->by_kernel)
			unc_note(d, "kernel PMU", "%s: %s, %u unit%s, %u named event%s",
				 unc_tbl_str(t, type->name), unc_tbl_str(t, type->title), units,
				 units == 1 ? "" : "s", events, events == 1 ? "" : "s");
	}
	for (size_t i = 0; i < named->n_left; i++)
		unc_note(d, "kernel PMU", "left out: %s", named->left[i]);
	if (named->table)
		unc_note(d, "kernel PMU",
			 "these PMUs are known from the kernel only, and take any event as "
			 "TYPE.RAW; a table would add the names and meaning of events, the "
			 "counters for each, and metrics");
}

void unc_doctor_kernel(struct doctor *d)
{
	const struct unc_survey *s = &d->units;
	bool simulated = d->platform->machine->simulated;
	char more[80] = "";

	report_named(d);
	if (!d->table->n_kernel || (simulated && !s->kernel))
		return;
	bool there = s->kernel || count_pmus(d), chosen = unc_kernel_chosen(d->platform->access);

	if (!there)
		unc_note(d, "kernel driver", "%s: registers are used for all",
			 unc_fs_exists(d->fs, "/sys/module/intel_uncore")
				 ? "it is loaded (intel_uncore), but does not support this CPU: "
				   "the kernel is too old for it, or runs in a virtual machine"
				 : "it is not loaded (modprobe intel_uncore)");
	else if (!chosen)
		unc_note(d, "kernel driver",
			 "it is loaded, but access method kernel is not among the chosen ones");
	if (!there || !chosen)
		return;
	unc_note(d, "kernel driver",
		 "it counts on %u of %u units; events that it lacks need registers, which can be "
		 "used on %u of these units",
		 s->kernel, s->n, s->both);
	if (s->unknown)
		snprintf(more, sizeof(more),
			 "; whether %u more exist is not known, and sums lack them", s->unknown);
	if (s->told || s->unknown)
		unc_report(d, "kernel units", !s->unknown,
			   "give the program what it needs to read the discovery tables: "
			   "CAP_SYS_ADMIN, and CAP_SYS_RAWIO with /dev/mem",
			   "the discovery tables cannot be read: %u units are known from the "
			   "kernel's driver only%s",
			   s->told, more);
	if (!simulated)
		report_rights(d);
}
