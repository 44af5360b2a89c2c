/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the checks of the doctor share. The doctor looks up little itself: discovery, the access
 * ways, the kernel's driver and the look at controls have found the reasons, and a check is a
 * sentence about one of them. Files of this room call doctor_report.c and doctor_kernel.c;
 * doctor.c calls all.
 */
#ifndef UNC_DOCTOR_H
#define UNC_DOCTOR_H

#include "platform/platform.h"

/* The units of the machine, counted once. */
struct unc_survey {
	uint32_t spaces;    /* that hold registers which the tables need: bits 1 << UNC_SPACE_* */
	uint32_t bypassed;  /* those in which the space's own method serves no unit, others do */
	bool rawio, admin;  /* capabilities that the other spaces need */
	unsigned available; /* units */
	/* Units that are not of cores: all; those on which the kernel's driver counts, and of these
	 * those with registers that can be used; those that exist on the word of the driver alone;
	 * those that may exist. */
	unsigned n, kernel, both, told, unknown;
	unsigned threads, threads_available;
	const struct unc_instance *thread; /* the first that is not available */
};

struct doctor {
	struct unc_options options;
	bool raised; /* more rights than the user (trust.h) */
	unc_check_fn fn;
	void *user;
	struct unc_fs *fs;
	struct unc_platform *platform; /* NULL: not opened yet, or could not be */
	const struct unc_table *table; /* that of the platform */
	struct unc_survey units;
	bool locked;      /* the kernel is locked down */
	bool writes_off;  /* the msr driver refuses writes */
	bool writes_told; /* it is known whether it does */
	bool container;   /* this process is in one */
	int failed;
	bool stopped;
	char remedy[800]; /* unc_or_kernel() */
};

/* ---- doctor_report.c */

/* One result. The remedy is shown only if it is not ok. */
void unc_report(struct doctor *, const char *check, bool ok, const char *remedy, const char *format,
		...) __attribute__((format(printf, 5, 6)));
#define unc_note(d, check, ...) unc_report(d, check, true, "", __VA_ARGS__)
/* Takes the table of the platform, and counts its units. */
void unc_doctor_survey(struct doctor *);
/* "imc3 of socket 0" */
struct unc_doctor_unit {
	char text[80];
} unc_doctor_unit(const struct doctor *, const struct unc_instance *);

/* ---- doctor_kernel.c: the kernel's own driver */

void unc_doctor_kernel(struct doctor *);
/* A remedy, and that the kernel's own monitors work without it, where the kernel has some. Valid
 * until the next call. */
const char *unc_or_kernel(struct doctor *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What gives the least right that works at a level of perf_event_paranoid; last: the last capability
 * that the kernel has. Pure. */
void unc_doctor_grant(int level, int last, char *buf, size_t size);

/* ---- checks of one file each */

void unc_doctor_access(struct doctor *); /* the ways to the registers that the tables need */
void unc_doctor_units(struct doctor *);  /* units that are missing */
/* Counters that are taken and by what, frozen units, and whether a control takes its own value. */
void unc_doctor_counters(struct doctor *);
/* What the discovery tables of a CPU list that no table is for. */
void unc_doctor_listed(struct doctor *, struct unc_topology *);

/* ---- doctor.c */

/* Called at the end, with what was read; the machine may be NULL. fn may be NULL then. */
struct unc_dump;
typedef void unc_record_fn(struct doctor *, struct unc_dump *, struct unc_error *err);
int unc_doctor_record(const struct unc_options *, bool raised, unc_record_fn *record,
		      unc_check_fn fn, void *user);
/* unc_doctor() of a process whose rights are raised, or not. */
int unc_doctor_as(const struct unc_options *, bool raised, unc_check_fn fn, void *user);

#endif
