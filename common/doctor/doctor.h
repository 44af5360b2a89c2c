/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State shared by the checks of the doctor. The doctor reads little itself: discovery, the access
 * methods, the kernel's driver and units/counters.c have found the reasons, and a check reports one
 * of them as a sentence. Files of this room call doctor_report.c and doctor_kernel.c; doctor.c
 * calls all.
 */
#ifndef UNC_DOCTOR_H
#define UNC_DOCTOR_H

#include "platform/platform.h"

/* Numbers of units, counted once by unc_doctor_survey(). */
struct unc_survey {
	uint32_t spaces;    /* spaces with registers that the tables need: 1 << UNC_SPACE_* */
	uint32_t bypassed;  /* of these: only other methods than the space's own serve its units */
	bool rawio, admin;  /* capabilities that the spaces not bypassed need */
	unsigned available; /* units */
	/* Units outside of cores: all; counted by the kernel's driver; of these, with registers
	 * that can be used, too; known from the driver alone; existence not known. */
	unsigned n, kernel, both, told, unknown;
	unsigned threads, threads_available; /* logical CPUs with counters of their own */
	const struct unc_instance *thread;   /* the first that is not available */
};

struct doctor {
	struct unc_options options;
	bool raised; /* the process has more rights than its user (trust.h) */
	unc_check_fn fn;
	void *user;
	struct unc_fs *fs;
	struct unc_platform *platform; /* NULL: not opened yet, or opening failed */
	const struct unc_table *table; /* of the platform */
	struct unc_survey units;
	bool locked;      /* the kernel is locked down */
	bool writes_off;  /* the msr driver refuses writes */
	bool writes_told; /* writes_off is known */
	bool container;   /* the process runs in a container */
	int failed;
	bool stopped;
	char remedy[800]; /* result of unc_or_kernel() */
};

/* ---- doctor_report.c */

/* Passes one result to fn. The remedy is dropped if the result is ok. */
void unc_report(struct doctor *, const char *check, bool ok, const char *remedy, const char *format,
		...) __attribute__((format(printf, 5, 6)));
#define unc_note(d, check, ...) unc_report(d, check, true, "", __VA_ARGS__)
/* Sets d->table to the platform's, and counts its units. */
void unc_doctor_survey(struct doctor *);
/* Text of a unit: "imc3 of socket 0" */
struct unc_doctor_unit {
	char text[80];
} unc_doctor_unit(const struct doctor *, const struct unc_instance *);

/* ---- doctor_kernel.c: the kernel's own driver */

void unc_doctor_kernel(struct doctor *);
/* The remedy, and, if the kernel has PMUs of the uncore, that these work without it. Valid until the next call. */
const char *unc_or_kernel(struct doctor *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The remedy that grants the least right sufficient at a level of perf_event_paranoid; last: the
 * last capability that the kernel knows. Pure. */
void unc_doctor_grant(int level, int last, char *buf, size_t size);

/* ---- checks of one file each */

void unc_doctor_access(struct doctor *); /* access methods that the tables need */
void unc_doctor_units(struct doctor *);  /* missing units */
/* Counters in use and their owners, frozen units, and whether controls can be written. */
void unc_doctor_counters(struct doctor *);
/* On an unsupported CPU: the unit types that its discovery tables list. */
void unc_doctor_listed(struct doctor *, struct unc_topology *);

/* ---- doctor.c */

/* Called at the end with all that was read; d->platform may be NULL. With a record, fn may be NULL. */
struct unc_dump;
typedef void unc_record_fn(struct doctor *, struct unc_dump *, struct unc_error *err);
int unc_doctor_record(const struct unc_options *, bool raised, unc_record_fn *record,
		      unc_check_fn fn, void *user);
/* unc_doctor(); raised: as in a process with more rights than its user. */
int unc_doctor_as(const struct unc_options *, bool raised, unc_check_fn fn, void *user);

#endif
