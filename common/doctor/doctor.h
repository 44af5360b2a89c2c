/* SPDX-License-Identifier: BSD-3-Clause */
/* What the checks of the doctor share. */
#ifndef UNC_DOCTOR_H
#define UNC_DOCTOR_H

#include "platform/platform.h"
#include "units/plan.h"

struct doctor {
	struct unc_options options;
	bool raised; /* more rights than the user (trust.h) */
	unc_check_fn fn;
	void *user;
	struct unc_fs *fs;
	struct unc_platform *platform; /* NULL: not opened yet, or could not be */
	const struct unc_table *table; /* that of the platform */
	struct unc_topology topo;
	char lockdown[32]; /* as unc_lockdown_read() */
	bool writes_off;   /* the msr driver refuses writes */
	bool writes_told;  /* it is known whether it does */
	bool container;    /* this process is in one */
	int failed;
	bool stopped;
	char remedy[800]; /* unc_or_kernel() */
};

/* doctor_report.c. One result. The remedy is shown only if it is not ok. */
void unc_report(struct doctor *, const char *check, bool ok, const char *remedy, const char *format,
		...) __attribute__((format(printf, 5, 6)));
#define unc_note(d, check, ...) unc_report(d, check, true, "", __VA_ARGS__)

/* doctor_kernel.c: the kernel's own driver. */
void unc_doctor_kernel(struct doctor *);
/* A remedy, and that the kernel's own monitors work without it where it has some. Valid until the
 * next. */
const char *unc_or_kernel(struct doctor *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What gives the least right that works at a level of perf_event_paranoid; last: the last capability
 * that the kernel has. Pure. */
void unc_doctor_grant(int level, int last, char *buf, size_t size);
/* Whether it counts on any unit. */
bool unc_doctor_by_kernel(const struct doctor *);

/* Capabilities that the registers of the tables need: bits of /proc/self/status. */
enum { UNC_CAP_RAWIO = 17, UNC_CAP_ADMIN = 21 };
uint64_t unc_doctor_capabilities(const struct doctor *);

/* Whether any unit of the machine is available. */
bool unc_doctor_any_unit(const struct doctor *);

/* doctor_container.c. First of the checks of what can be reached. needed: capabilities. */
void unc_doctor_container(struct doctor *, uint64_t needed);
/* What to do where /dev/cpu/N/msr is not there; *loaded: the module is. */
const char *unc_doctor_no_msr(const struct doctor *, bool *loaded);

/* doctor_listed.c: what the discovery tables of a CPU list that no table is for. */
void unc_doctor_listed(struct doctor *);

/* doctor_access.c: the ways to the registers that the tables need. */
void unc_doctor_access(struct doctor *);

/*
 * doctor_units.c: units that are missing, counters that are taken and by what, frozen units, and
 * whether a control takes its own value.
 */
void unc_doctor_units(struct doctor *);
void unc_doctor_counters(struct doctor *);

/* Called at the end, with what was read; the machine may be NULL. */
struct unc_dump;
typedef void unc_record_fn(struct doctor *, struct unc_dump *, struct unc_error *err);
int unc_doctor_record(const struct unc_options *, bool raised, unc_record_fn *record,
		      unc_check_fn fn, void *user);
/* unc_doctor() of a process whose rights are raised, or not. */
int unc_doctor_as(const struct unc_options *, bool raised, unc_check_fn fn, void *user);

#endif
