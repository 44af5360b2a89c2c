/* SPDX-License-Identifier: BSD-3-Clause */
/* An event while it is encoded: encode.c makes its registers, rules.c says what may not be.
 * Private to the two. */
#ifndef UNC_ENCODE_H
#define UNC_ENCODE_H

#include "encode/event.h"

/* A value that a field was asked to have: by the user, or because it comes with
 * one that the user gave. */
struct unc_wish {
	uint16_t field;
	uint16_t by; /* the field of the user */
	uint64_t value;
};

enum { UNC_MAX_WISHES = 64 };

struct unc_work {
	const struct unc_table *t;
	const struct unc_tbl_type *type;
	const struct unc_tbl_event *e;
	const struct unc_spec *spec;
	struct unc_code *code;
	struct unc_error *err;
	int rc;                             /* of the first error */
	const struct unc_tbl_umask **umask; /* UNC_SPEC_UMASKS; those given, or the default one */
	unsigned n_umasks;
	struct unc_wish *wish; /* UNC_MAX_WISHES */
	unsigned n_wishes;
};

/* What the event does with fields, and each of its umasks: 0 to n_umasks. */
static inline const struct unc_tbl_fields *unc_part(const struct unc_work *w, unsigned i)
{
	return i ? unc_umask_fields(w->t, w->umask[i - 1]) : &w->e->fields;
}

/* Fails with "type.EVENT: sentence". The first error stands, whatever comes after it. */
void unc_refuse(struct unc_work *, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether the user gives a field, or a umask does; or the event. */
bool unc_is_chosen(const struct unc_work *, uint16_t field);
bool unc_is_given(const struct unc_work *, uint16_t field);

/* The umasks that were given may stand alone, or together. */
void unc_check_umasks(struct unc_work *);
/* Whether the event, or one of the umasks, takes a field. */
bool unc_may_give(const struct unc_work *, uint16_t field);
/* It takes the fields that the user gives. */
void unc_check_uses(struct unc_work *);
/* What came out is what was asked for, and is allowed. */
void unc_check_result(struct unc_work *);

#endif
