/* SPDX-License-Identifier: BSD-3-Clause */
/* An event while it is encoded: encode.c makes its register values, rules.c checks them. Private to the two. */
#ifndef UNC_ENCODE_H
#define UNC_ENCODE_H

#include "encode/event.h"

/* A value that a field must have: the user gives it, or it comes with a field that the user gives. */
struct unc_wish {
	uint16_t field;
	uint16_t by; /* the field that the user gives */
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

/* The fields of the event (0), or of one of its umasks (1 to n_umasks). */
static inline const struct unc_tbl_fields *unc_part(const struct unc_work *w, unsigned i)
{
	return i ? unc_umask_fields(w->t, w->umask[i - 1]) : &w->e->fields;
}

/* Fails with "type.EVENT: sentence". The first error is kept. */
void unc_refuse(struct unc_work *, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether the user or a umask gives a field; or they or the event. */
bool unc_is_chosen(const struct unc_work *, uint16_t field);
bool unc_is_given(const struct unc_work *, uint16_t field);

/* Checks that the umasks may be used, alone or together. */
void unc_check_umasks(struct unc_work *);
/* Whether the event, or one of the umasks, takes a field. */
bool unc_may_give(const struct unc_work *, uint16_t field);
/* Checks that the event takes the fields that the user gives. */
void unc_check_uses(struct unc_work *);
/* Checks that the result is what was asked for, and is allowed. */
void unc_check_result(struct unc_work *);

#endif
